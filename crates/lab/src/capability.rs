//! What this process may do, where no file's mode tells.

use crate::KnobError;

/// Settings of networks.
pub(crate) const NET_ADMIN: u32 = 12;
/// Mounts, and much else.
pub(crate) const SYS_ADMIN: u32 = 21;

/// An error for `doing` something to `place` without the capability of that number.
pub(crate) fn need(capability: u32, doing: &str, place: &str) -> Result<(), KnobError> {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    // Where it cannot be told, the kernel will.
    if effective(&status).is_none_or(|set| set >> capability & 1 == 1) {
        return Ok(());
    }
    let denied = rustix::io::Errno::PERM.into();
    Err(KnobError::refused(doing, place, &denied))
}

/// The line `CapEff: 000001ffffffffff` of `/proc/self/status`.
fn effective(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_a_mask() {
        let status = "Name:\tx\nCapEff:\t0000000000001000\n";
        assert_eq!(effective(status), Some(1 << NET_ADMIN));
        assert_eq!(effective("Name:\tx\n"), None);
    }
}
