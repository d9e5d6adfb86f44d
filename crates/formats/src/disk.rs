//! What a name of a device says of it.

/// The catalog's `layer` of a block device, as far as its name tells: `disk`, `partition`,
/// `stacked` (made of other devices), `memory`, `path` (one of several to a disk), `remote` (a
/// mounted directory of a server).
/// Names of Linux, Solaris, BSD, macOS, AIX and HP-UX.
pub(crate) fn layer(name: &[u8]) -> &'static str {
    if name.contains(&b':') || numbered(name, "nfs") {
        return "remote";
    }
    let name = name.strip_prefix(b"/dev/").unwrap_or(name);
    // sd1.mpt0 and c0t0d0.c3 are paths to one disk.
    if let Some(dot) = name.iter().position(|b| *b == b'.')
        && layer(&name[..dot]) == "disk"
    {
        return "path";
    }
    let any = |prefixes: &[&str]| prefixes.iter().any(|p| numbered(name, p));
    if any(&["ram", "zram", "ramdisk", "swap"]) {
        return "memory";
    }
    if any(&[
        "dm-", "md", "loop", "lofi", "d", "drbd", "bcache", "raid", "mirror", "stripe",
    ]) {
        return "stacked";
    }
    // cXtYdZ and cXdZ, with sN or pN for a part of it.
    if name.first() == Some(&b'c') && name.contains(&b'd') && has_digit(name) && name != b"cd0" {
        let unit = name.iter().rposition(|b| *b == b'd').unwrap_or(0);
        let part = name[unit..].iter().any(|b| matches!(b, b's' | b'p'));
        return if part { "partition" } else { "disk" };
    }
    if let Some(layer) = by_id(name) {
        return layer;
    }
    if partition_of_linux(name) || partition_of_bsd(name) || name.contains(&b',') {
        return "partition";
    }
    let known = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "sr", "scd", "fd", "cd", "st", "ssd", "cmdk",
        "dad", "blkdev", "ada", "da", "nvd", "nda", "vtbd", "disk", "hdisk", "mfid", "aacd",
        "rssd", "pass", "wd", "ld", "xbd", "vdc", "nbd", "rbd", "dasd", "ub", "md_",
    ];
    let is_disk = known.iter().any(|p| {
        name.strip_prefix(p.as_bytes())
            .is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_alphanumeric))
    });
    // What else has a name was given it: a pool, a volume.
    let bsd = any(&["ad", "mmcsd", "amrd", "twed"]);
    if is_disk || bsd { "disk" } else { "stacked" }
}

/// Lasting names, as in `/dev/disk/by-id`: `ata-MODEL_SERIAL`, `wwn-0x5000c500-part1`.
fn by_id(name: &[u8]) -> Option<&'static str> {
    let kinds = ["ata-", "scsi-", "wwn-", "nvme-", "usb-", "virtio-", "mmc-"];
    if !kinds.iter().any(|k| name.starts_with(k.as_bytes())) {
        return None;
    }
    let part = name.iter().rposition(|b| *b == b'-').is_some_and(|at| {
        let last = &name[at + 1..];
        numbered(last, "part")
    });
    Some(if part { "partition" } else { "disk" })
}

fn has_digit(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_digit)
}

/// Whether the name is that prefix and a number.
fn numbered(name: &[u8], prefix: &str) -> bool {
    name.strip_prefix(prefix.as_bytes())
        .is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
}

/// `sda1`, `vdb12`, `nvme0n1p2`, `mmcblk0p1`.
fn partition_of_linux(name: &[u8]) -> bool {
    let lettered = ["sd", "hd", "vd", "xvd"].iter().any(|p| {
        name.strip_prefix(p.as_bytes()).is_some_and(|rest| {
            let letters = rest.iter().take_while(|b| b.is_ascii_lowercase()).count();
            (1..=2).contains(&letters)
                && letters < rest.len()
                && rest[letters..].iter().all(u8::is_ascii_digit)
        })
    });
    let with_p = ["nvme", "mmcblk", "nbd"].iter().any(|p| {
        name.starts_with(p.as_bytes())
            && name.iter().rposition(|b| *b == b'p').is_some_and(|at| {
                at > p.len() && at + 1 < name.len() && name[at + 1..].iter().all(u8::is_ascii_digit)
            })
    });
    lettered || with_p
}

/// `ada0p2`, `da0s1a`, `disk0s2`.
fn partition_of_bsd(name: &[u8]) -> bool {
    let disks = ["ada", "ad", "da", "nvd", "nda", "vtbd", "mmcsd", "disk"];
    disks.iter().any(|p| {
        name.strip_prefix(p.as_bytes()).is_some_and(|rest| {
            let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            digits > 0 && matches!(rest.get(digits), Some(b'p' | b's'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::layer;

    #[test]
    fn names_of_many_systems() {
        for (layer_wanted, names) in [
            (
                "disk",
                &[
                    "sda",
                    "sdaa",
                    "vda",
                    "nvme0n1",
                    "xvdb",
                    "mmcblk0",
                    "sr0",
                    "fd0",
                    "sd0",
                    "ssd12",
                    "c0t0d0",
                    "c0t5000C500ABCDEF01d0",
                    "c1d0",
                    "ada0",
                    "da12",
                    "disk0",
                    "hdisk3",
                    "cmdk0",
                    "cd0",
                    "blkdev0",
                    "vtbd0",
                    "nvd0",
                    "scd1",
                    "ata-ST4000_Z1",
                    "wwn-0x5000c500",
                    "ad0",
                    "mmcsd0",
                ][..],
            ),
            (
                "partition",
                &[
                    "sda1",
                    "vdb12",
                    "nvme0n1p2",
                    "mmcblk0p1",
                    "c0t0d0s0",
                    "c0t0d0p1",
                    "sd0,a",
                    "ada0p2",
                    "da0s1a",
                    "disk0s2",
                    "wwn-0x5000c500-part12",
                    "ad0s1a",
                ],
            ),
            (
                "stacked",
                &[
                    "dm-0", "md0", "md127", "loop3", "d10", "vg-root", "zones", "rpool",
                ],
            ),
            ("memory", &["ram0", "zram1", "ramdisk1"]),
            ("path", &["sd1.mpt0", "c0t0d0.c3"]),
            ("remote", &["server:/export/home", "nfs1"]),
        ] {
            for name in names {
                assert_eq!(layer(name.as_bytes()), layer_wanted, "{name}");
            }
        }
    }
}
