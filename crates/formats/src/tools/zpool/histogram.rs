//! `zpool iostat -w` (waits) and `-r` (sizes of requests): histograms of powers of two.
//!
//! ```text
//! tank         total_wait     disk_wait    syncq_wait    asyncq_wait
//! latency      read  write   read  write   read  write   read  write  scrub   trim
//! ----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
//! 1ns             0      0      0      0      0      0      0      0      0      0
//! 3ns             0      0      0      0      0      0      0      0      0      0
//! ```
//!
//! Of waits a row's name is the longest that fits it, `2^n - 1` ns, rounded down; of sizes the
//! smallest. The first report holds all since the pool was imported; the later ones are per
//! second (`print_vdev_stats` of `OpenZFS`).

use run::rows::TableId;

use super::{Zpool, vdev};
use crate::number::{scaled, whole};
use crate::out::Out;
use crate::prompt::is_chatter;
use crate::recognise::Head;
use crate::{Line, fields};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Waits,
    Sizes,
}

/// The histogram of one pool or device.
pub(super) struct Histogram {
    pub(super) kind: Kind,
    device: Vec<u8>,
    columns: Vec<(&'static str, &'static str)>,
    /// Where the bucket above ends: one below that is of another, whose name is lost.
    reached: f64,
}

/// Columns of -w and -r: what was measured, and of which I/Os.
const WAITS: [(&str, &str); 11] = [
    ("total_wait", "read"),
    ("total_wait", "write"),
    ("disk_wait", "read"),
    ("disk_wait", "write"),
    ("syncq_wait", "read"),
    ("syncq_wait", "write"),
    ("asyncq_wait", "read"),
    ("asyncq_wait", "write"),
    ("scrub", "read"),
    ("trim", "discard"),
    ("rebuild", "write"),
];
const SIZES: [(&str, &str); 14] = [
    ("sync_read ind", "read"),
    ("sync_read agg", "read"),
    ("sync_write ind", "write"),
    ("sync_write agg", "write"),
    ("async_read ind", "read"),
    ("async_read agg", "read"),
    ("async_write ind", "write"),
    ("async_write agg", "write"),
    ("scrub ind", "read"),
    ("scrub agg", "read"),
    ("trim ind", "discard"),
    ("trim agg", "discard"),
    ("rebuild ind", "write"),
    ("rebuild agg", "write"),
];

/// Whether a file has such histograms.
pub(super) fn is_in(head: &Head) -> bool {
    head.any_fields(&["latency", "read", "write", "read", "write"])
        || head.any_fields(&["req_size", "ind", "agg"])
}

/// The name before a heading of that kind; `None` if the line is none.
fn heading(line: &[u8]) -> Option<(Kind, &[u8])> {
    for (mark, next, kind) in [
        (&b"total_wait"[..], &b"disk_wait"[..], Kind::Waits),
        (b"sync_read", b"sync_write", Kind::Sizes),
    ] {
        let words: Vec<&[u8]> = fields(line).collect();
        if words.windows(2).any(|w| w == [mark, next]) {
            let at = line.windows(mark.len()).position(|w| w == mark)?;
            return Some((kind, line[..at].trim_ascii()));
        }
    }
    None
}

impl Histogram {
    /// The columns that a lower header of `words` names; `None` where it does not fit.
    fn columns(kind: Kind, words: &[&[u8]]) -> Option<Vec<(&'static str, &'static str)>> {
        let all: &[(&'static str, &'static str)] = match kind {
            Kind::Waits => &WAITS,
            Kind::Sizes => &SIZES,
        };
        let named = |(i, column): (usize, &(&'static str, &'static str))| {
            let wanted = match kind {
                Kind::Waits if i < 8 => column.1,
                Kind::Waits => column.0,
                Kind::Sizes => column.0.rsplit(' ').next().unwrap_or_default(),
            };
            words.get(i).is_none_or(|w| *w == wanted.as_bytes())
        };
        let fits = (8..=all.len()).contains(&words.len()) && all.iter().enumerate().all(named);
        fits.then(|| all[..words.len()].to_vec())
    }
}

impl Histogram {
    /// The columns of a histogram without a header, by its first row.
    fn of_first_row(&mut self, name: &[u8], count: usize) {
        (self.kind, self.columns) = match name {
            b"1" => (Kind::Waits, WAITS.iter().take(count).copied().collect()),
            b"512" => (Kind::Sizes, SIZES.iter().take(count).copied().collect()),
            _ => return,
        };
    }
}

/// The bucket that a row's name stands for, in base units.
pub(super) fn bucket(kind: Kind, name: &[u8]) -> Option<(f64, f64)> {
    let power = |n: u32| 2_f64.powi(n as i32);
    match kind {
        Kind::Sizes => {
            let floor = scaled(name, 1024.0)?;
            let n = (0..63).find(|n| power(*n) == floor)?;
            Some((floor, power(n + 1)))
        }
        Kind::Waits => {
            let n = (1..63)
                .find(|n| longest(*n).as_bytes() == name || whole(name) == Some((1 << n) - 1))?;
            let from = if n == 1 { 0.0 } else { power(n - 1) };
            Some((from / 1e9, power(n) / 1e9))
        }
    }
}

/// How `2^n - 1` ns are printed.
fn longest(n: u32) -> String {
    let ns = (1_u64 << n) - 1;
    match ns {
        0..1_000 => format!("{ns}ns"),
        1_000..1_000_000 => format!("{}us", ns / 1_000),
        1_000_000..1_000_000_000 => format!("{}ms", ns / 1_000_000),
        _ => format!("{}s", ns / 1_000_000_000),
    }
}

impl Zpool {
    /// Takes a line of a histogram; `None` if it is none.
    pub(super) fn histogram_line(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        if let Some((kind, name)) = heading(line)
            && (!name.is_empty() || self.histogram.is_some())
        {
            self.open(kind, name, out);
            return Some(Line::Noise);
        }
        let words: Vec<&[u8]> = fields(line).collect();
        let (first, rest) = words.split_first()?;
        self.name_above(line, first, out);
        let kind = match *first {
            b"latency" => Some(Kind::Waits),
            b"req_size" => Some(Kind::Sizes),
            _ => None,
        };
        if let Some(kind) = kind
            && let Some(histogram) = &mut self.histogram
            && histogram.kind == kind
        {
            let found = Histogram::columns(kind, rest);
            let seen = if found.is_some() {
                Line::Noise
            } else {
                Line::Unknown
            };
            histogram.columns = found.unwrap_or_default();
            return Some(seen);
        }
        if let Some(histogram) = &mut self.histogram {
            if histogram.columns.is_empty() && line.contains(&b'\t') {
                histogram.of_first_row(first, rest.len());
            }
            let Some(bucket) = bucket(histogram.kind, first) else {
                return self.scripted(line, &words, out);
            };
            if rest.len() != histogram.columns.len() || rest.is_empty() {
                return Some(Line::Unknown);
            }
            let counts: Option<Vec<f64>> = rest
                .iter()
                .map(|w| match *w {
                    b"-" => Some(0.0),
                    w => scaled(w, 1024.0).filter(|v| *v >= 0.0),
                })
                .collect();
            let Some(counts) = counts else {
                return Some(Line::Unknown);
            };
            if bucket.0 < 0.999 * histogram.reached {
                histogram.reached = f64::INFINITY;
                return Some(Line::Unknown);
            }
            histogram.reached = bucket.1;
            self.counts(bucket, &counts, out);
            return Some(Line::Data);
        }
        self.scripted(line, &words, out)
    }

    /// Histograms of -H: a line with the name, then rows divided by tabs.
    fn scripted(&mut self, line: &[u8], words: &[&[u8]], out: &mut Out) -> Option<Line> {
        if let &[name] = words
            && self.columns.is_none()
            && !line.starts_with(b"-")
            && !is_chatter(line)
        {
            self.perhaps = Some((name.to_vec(), out.line_number()));
            return Some(Line::Data);
        }
        None
    }

    /// Whether the word above, alone on its line, is the name of what comes now: its first row tells
    /// that, and what kind of histogram it is.
    pub(super) fn name_above(&mut self, line: &[u8], first: &[u8], out: &mut Out) {
        let Some((name, number)) = self.perhaps.take() else {
            return;
        };
        if line.contains(&b'\t') && matches!(first, b"1" | b"512") {
            self.open(Kind::Waits, &name, out);
        } else {
            out.not_understood(number, &String::from_utf8_lossy(&name));
        }
    }

    fn open(&mut self, kind: Kind, name: &[u8], out: &mut Out) {
        self.flush(None, out);
        if self.fresh || self.place.is_titled(name) {
            self.begin(out);
        }
        self.place.title(name);
        self.columns = None;
        self.histogram = Some(Histogram {
            kind,
            device: name.to_vec(),
            columns: Vec::new(),
            reached: 0.0,
        });
    }

    fn counts(&mut self, (from, to): (f64, f64), counts: &[f64], out: &mut Out) {
        let Some(histogram) = &self.histogram else {
            return;
        };
        let name = &histogram.device;
        let layer = match vdev::leaf_layer(name) {
            "disk" if crate::disk::layer(vdev::short(name)) != "disk" && !by_path(name) => {
                "stacked"
            }
            layer => layer,
        };
        let layer = if vdev::is_group(name) {
            "stacked"
        } else {
            layer
        };
        let device = out.word(vdev::short(name));
        let layer = out.word(layer.as_bytes());
        for ((what, op), count) in histogram.columns.iter().zip(counts) {
            if *count == 0.0 {
                continue;
            }
            let table = match (histogram.kind, *what) {
                (Kind::Waits, "total_wait") => "disk_latency",
                (Kind::Waits, "disk_wait") => "disk_service_time",
                (Kind::Waits, _) => "disk_queue_time",
                (Kind::Sizes, _) => "disk_size",
            };
            let words = [device, layer, out.word(op.as_bytes())];
            out.bucket_rate(TableId::of(table), &words, from, to, *count);
            if matches!(table, "disk_queue_time" | "disk_size") {
                out.note(
                    "`disk.queue_time` and `disk.size` hold the I/Os of all of ZFS's queues \
                     together; `distribution` tells them apart, in ns and bytes",
                );
                let words = [
                    out.word(b"zpool"),
                    out.word(format!("{what} {op}").as_bytes()),
                    device,
                ];
                let unit = if histogram.kind == Kind::Waits {
                    1e9
                } else {
                    1.0
                };
                let table = TableId::of("distribution");
                out.bucket_rate(table, &words, from * unit, to * unit, *count);
            }
        }
    }
}

/// Names of disks by what is printed on them or where they are.
fn by_path(name: &[u8]) -> bool {
    let last = name.rsplit(|b| *b == b'/').next().unwrap_or(name);
    name.starts_with(b"/dev/")
        || ["ata-", "scsi-", "wwn-", "nvme-", "virtio-", "usb-", "pci-"]
            .iter()
            .any(|p| last.starts_with(p.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_buckets() {
        for (name, from, to) in [
            ("1ns", 0.0, 2.0),
            ("3ns", 2.0, 4.0),
            ("511ns", 256.0, 512.0),
            ("1us", 512.0, 1024.0),
            ("65us", 32_768.0, 65_536.0),
            ("33ms", 16_777_216.0, 33_554_432.0),
            ("137s", 68_719_476_736.0, 137_438_953_472.0),
            ("32767", 16_384.0, 32_768.0),
        ] {
            assert_eq!(
                bucket(Kind::Waits, name.as_bytes()),
                Some((from / 1e9, to / 1e9)),
                "{name}"
            );
        }
        assert_eq!(bucket(Kind::Waits, b"2ns"), None);
        assert_eq!(bucket(Kind::Sizes, b"4K"), Some((4096.0, 8192.0)));
        assert_eq!(bucket(Kind::Sizes, b"512"), Some((512.0, 1024.0)));
        assert_eq!(bucket(Kind::Sizes, b"3K"), None);
    }
}
