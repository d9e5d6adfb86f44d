//! Giving memory back to the system.

/// Gives back what is free: opening the sources takes 40 MB for a moment, on several threads,
/// and the allocator would keep that for later.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(
    unsafe_code,
    reason = "declares a function of the C library that takes and answers with plain numbers"
)]
pub(crate) fn trim() {
    unsafe extern "C" {
        /// `malloc_trim(3)`.
        safe fn malloc_trim(pad: usize) -> i32;
    }
    malloc_trim(0);
}

/// Other allocators do so by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn trim() {}
