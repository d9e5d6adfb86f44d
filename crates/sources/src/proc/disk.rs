//! Block devices, from `/proc/diskstats`.
//!
//! ```text
//!  254       0 vda 25906 4832 1532314 5460 5085 6151 508600 1881 0 3328 7509 3154 39 140256 159 238 8
//! ```
//! major minor name, then reads, reads merged, sectors read, ms reading; the same for
//! writes; I/Os under way, ms busy, ms × I/Os under way; since 4.18 discards, merged, sectors,
//! ms; since 5.5 flushes, ms. A sector here is 512 bytes whatever the device says. The ms
//! fields are 32 bits wide and wrap.
//!
//! <https://docs.kernel.org/admin-guide/iostats.html>

use std::collections::HashMap;
use std::io;

use run::rows::TableId;
use run::{Sink, Word};

use crate::read::{Kept, advance, fields, lines, number, text};
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "disk",
    help: "block devices: I/Os, bytes, time, by operation",
    reads: "/proc/diskstats",
    link: "https://docs.kernel.org/admin-guide/iostats.html",
    detail: Detail::Samples,
    open,
};

const SECTOR: f64 = 512.0;
const OPS: [&str; 4] = ["read", "write", "discard", "flush"];
/// The place of discards among them.
const DISCARD: usize = 2;

/// One device's counters, as the kernel prints them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// I/Os completed: read, write, discard, flush.
    pub ios: [u64; 4],
    /// I/Os merged; flushes are not merged.
    pub merges: [u64; 4],
    /// 512-byte sectors; flushes have none.
    pub sectors: [u64; 4],
    /// Milliseconds of the I/Os added up (32 bits).
    pub milliseconds: [u64; 4],
    /// I/Os under way now.
    pub inflight: u64,
    /// Milliseconds with an I/O under way (32 bits).
    pub busy: u64,
    /// Milliseconds times I/Os under way (32 bits).
    pub weighted: u64,
    /// How many operations this kernel counts: 2, 3 or 4.
    pub ops: usize,
}

impl Counters {
    /// Whether it never did anything.
    fn is_idle_since_boot(&self) -> bool {
        self.ios == [0; 4] && self.inflight == 0
    }
}

/// Major number, minor number, name and counters of a line; `None` if it is not one.
pub fn parse_line(line: &[u8]) -> Option<(u32, u32, &[u8], Counters)> {
    let mut fields = fields(line);
    let major = number(fields.next()?)? as u32;
    let minor = number(fields.next()?)? as u32;
    let name = fields.next()?;
    let mut values = [0_u64; 17];
    let mut found = 0;
    for field in fields.take(17) {
        values[found] = number(field)?;
        found += 1;
    }
    // Before 2.6.25 partitions had four fields; nothing that old runs this.
    if found < 11 {
        return None;
    }
    let v = values;
    let ops = match found {
        0..15 => 2,
        15..17 => 3,
        _ => 4,
    };
    Some((
        major,
        minor,
        name,
        Counters {
            ios: [v[0], v[4], v[11], v[15]],
            merges: [v[1], v[5], v[12], 0],
            sectors: [v[2], v[6], v[13], 0],
            milliseconds: [v[3], v[7], v[14], v[16]],
            inflight: v[8],
            busy: v[9],
            weighted: v[10],
            ops,
        },
    ))
}

/// Which layer a device is in, so that sums count a byte once.
///
/// From `/sys/class/block/<name>`: a `partition` file, a name that says it (dm, md, loop;
/// zram and ram live in memory; nvme paths like `nvme0c1n1` belong to a multipath disk), or
/// entries in `slaves`.
pub fn layer(host: &Host, name: &str) -> &'static str {
    let sys = host.sys("class/block").join(name.replace('/', "!"));
    let starts = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if sys.join("partition").exists() {
        "partition"
    } else if starts("zram") || starts("ram") {
        "memory"
    } else if name.starts_with("dm-") || starts("md") || starts("loop") || name.starts_with("md_") {
        "stacked"
    } else if nvme_path(name) {
        "path"
    } else if std::fs::read_dir(sys.join("slaves")).is_ok_and(|mut d| d.next().is_some()) {
        "stacked"
    } else {
        "disk"
    }
}

/// `nvme0c1n1`: one path of a multipath namespace.
fn nvme_path(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("nvme") else {
        return false;
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix('c')
        .is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
}

struct Device {
    name: Vec<u8>,
    words: [Word; 2],
    before: Counters,
    /// Whether it did something since boot; until then it has no rows.
    awake: bool,
    seen: bool,
}

struct Disk {
    host: Host,
    file: Kept,
    buffer: Vec<u8>,
    devices: HashMap<(u32, u32), Device>,
    ops: Option<[Word; 4]>,
    by_op: TableId,
    by_device: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let path = host.proc("diskstats");
    let file = Kept::open(&path)
        .map_err(|e| Availability::of(&path, &e, "a mounted /proc", "mount -t proc proc /proc"))?;
    Ok(Box::new(Disk {
        host: host.clone(),
        file,
        buffer: Vec::new(),
        devices: HashMap::new(),
        ops: None,
        by_op: TableId::of("disk"),
        by_device: TableId::of("disk_device"),
    }))
}

impl Source for Disk {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let ops = *self.ops.get_or_insert_with(|| OPS.map(|op| out.word(op)));
        let bytes = self.file.read(&mut self.buffer)?;
        for (major, minor, name, now) in lines(bytes).filter_map(parse_line) {
            let known = self
                .devices
                .get_mut(&(major, minor))
                .filter(|d| d.name == name);
            let device = if let Some(device) = known {
                device
            } else {
                let shown = text(name);
                let words = [out.word(&shown), out.word(layer(&self.host, &shown))];
                // A device that appears between two samples started from zero.
                let before = if interval.is_some() {
                    Counters::default()
                } else {
                    now
                };
                let awake = !before.is_idle_since_boot();
                let device = Device {
                    name: name.to_vec(),
                    words,
                    before,
                    awake,
                    seen: true,
                };
                self.devices.insert((major, minor), device);
                self.devices
                    .get_mut(&(major, minor))
                    .expect("inserted above")
            };
            device.seen = true;
            device.awake |= !now.is_idle_since_boot();
            let before = std::mem::replace(&mut device.before, now);
            if interval.is_none() || !device.awake {
                continue;
            }
            let [name, layer] = device.words;
            for (i, &op) in ops.iter().enumerate().take(now.ops) {
                let bytes = advance(before.sectors[i], now.sectors[i]) * SECTOR;
                // A discard moves nothing; its sectors are those it frees.
                let (moved, discarded) = if i == DISCARD {
                    (0.0, bytes)
                } else {
                    (bytes, 0.0)
                };
                let values = [
                    advance(before.ios[i], now.ios[i]),
                    moved,
                    advance(before.merges[i], now.merges[i]),
                    advance(before.milliseconds[i], now.milliseconds[i]) / 1e3,
                    discarded,
                ];
                out.row(self.by_op, &[name, layer, op], &values);
            }
            let values = [
                advance(before.busy, now.busy) / 1e3,
                advance(before.weighted, now.weighted) / 1e3,
                now.inflight as f64,
            ];
            out.row(self.by_device, &[name, layer], &values);
        }
        self.devices.retain(|_, d| std::mem::take(&mut d.seen));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_each_age() {
        let old = b"   8       0 sda 11 12 13 14 21 22 23 24 5 6 7";
        let (major, minor, name, c) = parse_line(old).unwrap();
        assert_eq!((major, minor, name, c.ops), (8, 0, &b"sda"[..], 2));
        assert_eq!(
            (c.ios, c.inflight, c.busy, c.weighted),
            ([11, 21, 0, 0], 5, 6, 7)
        );
        let new = b" 254 0 vda 11 12 13 14 21 22 23 24 5 6 7 31 32 33 34 41 44";
        let (.., c) = parse_line(new).unwrap();
        assert_eq!(c.ops, 4);
        assert_eq!(c.ios, [11, 21, 31, 41]);
        assert_eq!(c.merges, [12, 22, 32, 0]);
        assert_eq!(c.sectors, [13, 23, 33, 0]);
        assert_eq!(c.milliseconds, [14, 24, 34, 44]);
        assert!(parse_line(b"8 0 sda 1 2 3 4").is_none());
        assert!(parse_line(b"8 0 sda 1 2 x 4 5 6 7 8 9 10 11").is_none());
    }

    #[test]
    fn names_tell_layers_apart() {
        let host = Host::at("/nonexistent");
        for (name, expected) in [
            ("sda", "disk"),
            ("dm-3", "stacked"),
            ("md127", "stacked"),
            ("loop0", "stacked"),
            ("zram0", "memory"),
            ("ram1", "memory"),
            ("nvme0n1", "disk"),
            ("nvme0c1n1", "path"),
            ("mdadm", "disk"),
        ] {
            assert_eq!(layer(&host, name), expected, "{name}");
        }
    }
}
