//! What a name of a device says of it.

/// The catalog's `layer` of a block device, as far as its name tells: `disk`, `partition`,
/// `stacked` (made of other devices), `memory`, `path` (one of several to a disk), `remote` (a
/// mounted directory of a server).
/// Names of Linux, Solaris, BSD, macOS, AIX and HP-UX.
pub(crate) fn layer(name: &[u8]) -> &'static str {
    if name.contains(&b':') || numbered(name, "nfs") {
        return "remote";
    }
    if name == b"?" {
        // Of an I/O whose disk its tool does not know.
        return "unknown";
    }
    let name = name.strip_prefix(b"/dev/").unwrap_or(name);
    // Controllers whose disks old kernels of Linux keep in a folder of their own; `sysfs` has a
    // `!` for the `/`.
    let folder = name.iter().position(|b| matches!(b, b'/' | b'!'));
    let name = match folder.map(|at| name.split_at(at)) {
        Some((b"cciss" | b"ida" | b"rd" | b"i2o", rest)) => &rest[1..],
        _ => name,
    };
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
    if is_made_of_others(name) {
        return "stacked";
    }
    if let Some(layer) = by_place(name).or_else(|| by_id(name)) {
        return layer;
    }
    if disk_of_partition(name).is_some() || partition_of_bsd(name) || name.contains(&b',') {
        return "partition";
    }
    // What else has a name was given it: a pool, a volume.
    if is_disk(name) { "disk" } else { "stacked" }
}

/// The same on Solaris, where `vdc1` is a disk of a logical domain, and not a part of `vdc`.
pub(crate) fn layer_on_solaris(name: &[u8]) -> &'static str {
    if numbered(name, "vdc") || is_beginning(name) {
        return "disk";
    }
    layer(name)
}

/// Whether nothing tells what a name is of: somebody gave it, or it is a driver's that is not known.
pub(crate) fn is_unknown(name: &[u8]) -> bool {
    layer_on_solaris(name) == "stacked" && !is_made_of_others(name)
}

/// Whether a name is what a width left of a disk's of Solaris: `c0t600144F0F8A2F700` of one that ends with
/// `d0`.
pub(crate) fn is_beginning(name: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let Some(rest) = name.strip_prefix(b"c") else {
        return false;
    };
    let (number, target) = rest.split_at(digits(rest));
    let world_wide = target.strip_prefix(b"t").unwrap_or_default();
    !number.is_empty() && world_wide.len() > 8 && world_wide.iter().all(u8::is_ascii_hexdigit)
        // `d0` may be the end of a number, too: whole ones are of 16 or 32 digits and that.
        && !matches!(world_wide, [.., b'd', _] | [.., b'd', _, _])
}

/// The same of a name in somebody's own table, where disks may be called anything: what no system
/// names so is a disk. `C:` is one of Windows, `server:/export` a server's.
pub(crate) fn layer_of_own(name: &[u8]) -> &'static str {
    match layer(name) {
        "stacked" if !is_made_of_others(name) => "disk",
        "remote" if name.contains(&b':') && !name.windows(2).any(|w| w == b":/") => "disk",
        known => known,
    }
}

/// The same of a name of which BSD's tools print the beginning only, or of its driver's: `nv0` is
/// `nvd0`, `w0` of NetBSD `wd0`, and `mfisys` what is left of `mfisyspd12`.
pub(crate) fn layer_of_cut(name: &[u8]) -> &'static str {
    let known = layer(name);
    let letters = name.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let (driver, number) = name.split_at(letters);
    let is_beginning = match number {
        [] => letters >= 6,
        _ => letters > 1 || matches!(driver, [b'w' | b's' | b'c' | b'l' | b'f' | b'x']),
    };
    let of_disk = |d: &&str| d.as_bytes().starts_with(driver);
    let is_disk = is_beginning
        && number.iter().all(u8::is_ascii_digit)
        && !is_made_of_others(name)
        && NUMBERED.iter().any(of_disk);
    if known == "stacked" && is_disk {
        return "disk";
    }
    known
}

/// Whether a driver of that name puts devices together.
fn is_made_of_others(name: &[u8]) -> bool {
    let drivers = [
        "dm-", "md", "loop", "lofi", "d", "drbd", "bcache", "raid", "mirror", "stripe",
    ];
    let name = name.strip_prefix(b"/dev/").unwrap_or(name);
    drivers.iter().any(|driver| numbered(name, driver))
}

/// Drivers that number their disks.
const NUMBERED: [&str; 46] = [
    "sd", "ssd", "hd", "vdc", "nbd", "rbd", "sr", "scd", "fd", "cd", "st", "cmdk", "dad", "blkdev",
    "xdf", "skd", "ada", "ad", "acd", "da", "nvd", "nda", "vtbd", "disk", "hdisk", "mfid",
    "mfisyspd", "aacd", "amrd", "twed", "mlxd", "mlx", "idad", "ipsd", "mmcsd", "rssd", "pass",
    "wd", "ld", "xbd", "dk", "vd", "pmem", "nvme", "sdmmc", "vioblk",
];

/// The driver of Fusion-io on Solaris, which numbers them, too.
const FUSION_IO: &str = "iomemory-vsl";

/// Drivers of Linux that letter them.
const LETTERED: [&str; 8] = ["sd", "hd", "vd", "xvd", "ub", "dasd", "rssd", "fio"];

fn is_disk(name: &[u8]) -> bool {
    let lettered = |prefix: &&str| {
        name.strip_prefix(prefix.as_bytes()).is_some_and(|rest| {
            (1..=3).contains(&rest.len()) && rest.iter().all(u8::is_ascii_lowercase)
        })
    };
    // `nvme0n1`, `nvme0c1n1`, `mmcblk0boot1`: a number and what it is of.
    let part_of_number = ["nvme", "mmcblk"].iter().any(|p| {
        name.strip_prefix(p.as_bytes()).is_some_and(|rest| {
            rest.first().is_some_and(u8::is_ascii_digit)
                && rest.iter().all(u8::is_ascii_alphanumeric)
        })
    });
    let is_numbered = NUMBERED.iter().any(|p| numbered(name, p)) || numbered(name, FUSION_IO);
    is_numbered || LETTERED.iter().any(lettered) || part_of_number
}

/// cXtYdZ and cXdZ of Solaris and HP-UX, with sN or pN for a part of it. Only the target may be a
/// name, in capitals: a pool may be named `cloud1`.
fn by_place(name: &[u8]) -> Option<&'static str> {
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut rest = name.strip_prefix(b"c")?;
    let controller = digits(rest);
    rest = &rest[controller..];
    if let Some(target) = rest.strip_prefix(b"t") {
        let is_target = |b: &u8| b.is_ascii_digit() || b.is_ascii_uppercase();
        let long = target.iter().take_while(|b| is_target(b)).count();
        rest = &target[long..];
        if long == 0 {
            return None;
        }
    }
    let unit = rest.strip_prefix(b"d")?;
    let long = digits(unit);
    let part = &unit[long..];
    let is_part = matches!(part.first(), Some(b's' | b'p')) && part.len() == 1 + digits(&part[1..]);
    match (controller, long) {
        (0, _) | (_, 0) => None,
        _ if part.is_empty() => Some("disk"),
        _ if is_part && part.len() > 1 => Some("partition"),
        _ => None,
    }
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

/// Whether the name is that prefix and a number.
fn numbered(name: &[u8], prefix: &str) -> bool {
    name.strip_prefix(prefix.as_bytes())
        .is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
}

/// The disk of which Linux names a partition so: `sda1`, `vdb12`, `nvme0n1p2`, `mmcblk0p1`.
pub(crate) fn disk_of_partition(name: &[u8]) -> Option<&[u8]> {
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    // With how many letters at most: `hdisk3` is a disk of AIX.
    let drivers = [("sd", 3), ("hd", 2), ("vd", 2), ("xvd", 2), ("dasd", 3)];
    let lettered = drivers.iter().find_map(|(driver, most)| {
        let rest = name.strip_prefix(driver.as_bytes())?;
        let letters = rest.iter().take_while(|b| b.is_ascii_lowercase()).count();
        let is_one = (1..=*most).contains(&letters) && is_number(&rest[letters..]);
        is_one.then(|| &name[..driver.len() + letters])
    });
    let with_p = || {
        let at = name.iter().rposition(|b| *b == b'p')?;
        let has_one = |p: &&str| name.starts_with(p.as_bytes()) && at > p.len();
        let is_one = ["nvme", "mmcblk", "nbd"].iter().any(has_one) && is_number(&name[at + 1..]);
        is_one.then(|| &name[..at])
    };
    lettered.or_else(with_p)
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
    use super::{layer, layer_of_cut, layer_of_own};

    #[test]
    fn disks_of_own_tables_have_any_name() {
        for (name, wanted) in [
            ("data01", "disk"),
            ("LUN 01", "disk"),
            ("C:", "disk"),
            ("sda1", "partition"),
            ("dm-0", "stacked"),
            ("server:/export", "remote"),
        ] {
            assert_eq!(layer_of_own(name.as_bytes()), wanted, "{name}");
        }
    }

    #[test]
    fn beginnings_of_names() {
        for (name, wanted) in [
            ("nv0", "disk"),
            ("vtb0", "disk"),
            ("mf10", "disk"),
            ("w0", "disk"),
            ("mfisys", "disk"),
            ("mfisyspd", "disk"),
            ("ada0", "disk"),
            ("md0", "stacked"),
            ("d0", "stacked"),
            ("store1", "stacked"),
            ("nv", "stacked"),
            ("data", "stacked"),
        ] {
            assert_eq!(layer_of_cut(name.as_bytes()), wanted, "{name}");
        }
    }

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
                    "vioblk0",
                    "iomemory-vsl0",
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
                    "mfisyspd0",
                    "mlxd0",
                    "xdf0",
                    "nvme0c1n1",
                    "dasda",
                ][..],
            ),
            (
                "partition",
                &[
                    "sda1",
                    "dasda1",
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
                    "dm-0",
                    "md0",
                    "md127",
                    "loop3",
                    "d10",
                    "vg-root",
                    "zones",
                    "rpool",
                    "data",
                    "storage",
                    "store1",
                    "cloud1",
                    "cl-lv_data1",
                    "crypt_sda2",
                    "data2",
                    "stage",
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
