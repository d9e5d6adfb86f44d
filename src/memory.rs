//! Giving memory back to the system, or keeping it.

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

/// Keeps what is free, up to 64 MiB a thread: decoding a table allocates and frees the same
/// buffers for each piece of it, and giving them back in between took up to a third of the
/// processor time of a question over a day (page faults of 170 million rows: 388,000; kept: 3,300).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(
    unsafe_code,
    reason = "declares a function of the C library that takes and answers with plain numbers"
)]
pub(crate) fn keep() {
    /// Parameters of `mallopt(3)`: how much may be free at the end of a heap, and from which
    /// size on a buffer is mapped by itself.
    const TRIM_THRESHOLD: i32 = -1;
    const MMAP_THRESHOLD: i32 = -3;
    unsafe extern "C" {
        /// `mallopt(3)`.
        safe fn mallopt(parameter: i32, value: i32) -> i32;
    }
    mallopt(TRIM_THRESHOLD, 64 << 20);
    mallopt(MMAP_THRESHOLD, 32 << 20);
}

/// Other allocators decide by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep() {}
