//! What names in `zpool iostat -v` are of.

use crate::disk::layer;

/// Whether a name is that of devices put together by ZFS, as `mirror-0` or `raidz2`.
pub(super) fn is_group(name: &[u8]) -> bool {
    const GROUPS: [&[u8]; 8] = [
        b"mirror",
        b"raidz1",
        b"raidz2",
        b"raidz3",
        b"raidz",
        b"replacing",
        b"spare",
        b"indirect",
    ];
    let kind = name.split(|b| *b == b'-').next().unwrap_or(name);
    let numbered = match name.get(kind.len()..) {
        Some([]) | None => true,
        Some(rest) => rest.len() > 1 && rest[1..].iter().all(u8::is_ascii_digit),
    };
    (numbered && GROUPS.contains(&kind)) || (name.starts_with(b"draid") && name.contains(&b':'))
}

/// Headings of devices of a class: they have no numbers.
pub(super) fn is_class(name: &[u8]) -> bool {
    matches!(
        name,
        b"logs" | b"log" | b"cache" | b"spares" | b"spare" | b"special" | b"dedup"
    )
}

/// The catalog's layer of a device that ZFS puts data on. A partition is one of layer `disk`: the
/// tool has no row of the disk that it is on, and its I/Os would be in no sum.
pub(super) fn leaf_layer(name: &[u8]) -> &'static str {
    let last = name.rsplit(|b| *b == b'/').next().unwrap_or(name);
    if name.starts_with(b"/") && !name.starts_with(b"/dev/") {
        // A file.
        return "stacked";
    }
    if name.windows(7).any(|w| w == b"mapper/") || name.windows(5).any(|w| w == b"zvol/") {
        return "stacked";
    }
    let made = ["dm-", "md", "loop", "lofi", "drbd", "bcache", "zd"]
        .iter()
        .any(|p| {
            last.strip_prefix(p.as_bytes())
                .is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
        });
    match layer(last) {
        "memory" => "memory",
        "stacked" if made => "stacked",
        // By its path, serial number or place.
        _ => "disk",
    }
}

/// A device's name without its folder, if that is where the system keeps all of them.
pub(super) fn short(name: &[u8]) -> &[u8] {
    let folders: [&[u8]; 3] = [b"/dev/dsk/", b"/dev/rdsk/", b"/dev/"];
    folders
        .iter()
        .find_map(|f| name.strip_prefix(*f).filter(|rest| !rest.contains(&b'/')))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_devices() {
        for name in [
            "mirror-0",
            "mirror",
            "raidz1",
            "raidz2-10",
            "spare-3",
            "draid1:4d:6c:0s-0",
        ] {
            assert!(is_group(name.as_bytes()), "{name}");
        }
        for name in ["mirrored", "tank", "raidz-x", "sda", "draid"] {
            assert!(!is_group(name.as_bytes()), "{name}");
        }
        for (name, wanted) in [
            ("c0t0d0", "disk"),
            ("c0t0d0s0", "disk"),
            ("sda1", "disk"),
            ("ata-WDC_WD40-X_WD-1", "disk"),
            ("ata-WDC_WD40-X_WD-1-part2", "disk"),
            ("ST3500418AS-5VMSTSSX:5", "disk"),
            ("gptid/0a-1", "disk"),
            ("/dev/mapper/x", "stacked"),
            ("/tmp/file", "stacked"),
            ("md0", "stacked"),
            ("slot3", "disk"),
            ("/dev/nvme0n1p3", "disk"),
            ("ada0p3", "disk"),
        ] {
            assert_eq!(leaf_layer(name.as_bytes()), wanted, "{name}");
        }
        assert_eq!(short(b"/dev/dsk/c0d0"), b"c0d0");
        assert_eq!(short(b"/dev/disk/by-id/x"), b"/dev/disk/by-id/x");
    }
}
