//! The tables of `-D`: a disk's transfers, reads, writes and queue, below each other or, with `-l`, on
//! a line.
//!
//! ```text
//! hdisk6          xfer:  %tm_act      bps      tps      bread      bwrtn
//!                           9.6     16.4K     4.0       16.4K       0.0
//!                 read:      rps  avgserv  minserv  maxserv   timeouts      fails
//!                           4.0      4.9      0.3      9.9           0          0
//! ```
//!
//! A K of bytes is 1,000: 4 reads of 4,096 bytes a second are printed as `16.4K`. Times are in
//! milliseconds, with an `S` in seconds. A read's and a write's is from issue to completion, that of
//! the queue is before. The least and the longest may be those since boot (`-R` sets them back), and
//! are left out. Adapters (`-a`, `-p`) pass what their disks do, and are kept as printed.

use super::layout::layer_of;
use crate::fields;
use crate::number::{number, scaled};
use crate::out::{Out, Shape};

/// The columns below `xfers`, `read`, `write` and `queue` of `-l`, and what each is of.
const DISK: [&str; 23] = [
    "%tm", "bps", "tps", "bread", "bwrtn", "rps", "avg", "min", "max", "time", "fail", "wps",
    "avg", "min", "max", "time", "fail", "avg", "min", "max", "avg", "avg", "serv",
];

/// The same of an adapter of a partition that has none itself, and of one that has.
const VADAPTER: [&str; 19] = [
    "Kbps",
    "tps",
    "bkread",
    "bkwrtn",
    "partition-id",
    "rps",
    "avg",
    "min",
    "max",
    "wps",
    "avg",
    "min",
    "max",
    "avg",
    "min",
    "max",
    "avg",
    "avg",
    "serv",
];
const ADAPTER: [&str; 4] = ["Kbps", "tps", "bkread", "bkwrtn"];

/// What the rows of `-l` below a header are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    Unknown,
    Disks,
    Adapters(usize),
}

impl Rows {
    /// Numbers in a row.
    pub(super) fn count(self) -> Option<usize> {
        match self {
            Rows::Unknown => None,
            Rows::Disks => Some(DISK.len()),
            Rows::Adapters(count) => Some(count),
        }
    }
}

/// The line of names of `-l`: what its rows are of.
pub(super) fn long_names(line: &[u8]) -> Option<Rows> {
    let is = |names: &[&str]| fields(line).eq(names.iter().map(|n| n.as_bytes()));
    match () {
        () if is(&DISK) => Some(Rows::Disks),
        () if is(&VADAPTER) => Some(Rows::Adapters(VADAPTER.len())),
        () if is(&ADAPTER) => Some(Rows::Adapters(ADAPTER.len())),
        () => None,
    }
}

/// The four groups of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Transfers,
    Reads,
    Writes,
    Queue,
}

/// `hdisk6 xfer: %tm_act …`, `read: rps …`: the device that begins there, and the group.
pub(super) fn group(line: &[u8]) -> Option<(Option<&[u8]>, Group)> {
    let words: Vec<&[u8]> = fields(line).take(8).collect();
    let (device, words) = match &words[..] {
        [device, words @ ..] if words.first() == Some(&&b"xfer:"[..]) => (Some(*device), words),
        words => (None, words),
    };
    let (name, columns) = words.split_first()?;
    let is = |names: &[&str]| {
        let known = columns.iter().zip(names).all(|(a, b)| *a == b.as_bytes());
        known && columns.len() >= names.len()
    };
    let group = match *name {
        b"xfer:" if is(&["%tm_act", "bps", "tps", "bread", "bwrtn"]) || is(&ADAPTER) => {
            Group::Transfers
        }
        b"read:" if is(&["rps", "avgserv", "minserv", "maxserv"]) => Group::Reads,
        b"write:" if is(&["wps", "avgserv", "minserv", "maxserv"]) => Group::Writes,
        b"queue:"
            if is(&[
                "avgtime", "mintime", "maxtime", "avgwqsz", "avgsqsz", "sqfull",
            ]) =>
        {
            Group::Queue
        }
        _ => return None,
    };
    Some((device, group))
}

/// A time in seconds.
fn time(text: &[u8]) -> Option<f64> {
    match text.strip_suffix(b"S") {
        Some(seconds) => number(seconds),
        None => number(text).map(|ms| ms / 1e3),
    }
}

fn bytes(text: &[u8]) -> Option<f64> {
    scaled(text, 1000.0)
}

/// What groups of a disk told; NaN: nothing.
#[derive(Clone, Copy)]
struct Told {
    busy: f64,
    transfers: f64,
    /// Bytes, I/Os and seconds of the I/Os, per second: of reads and of writes.
    ops: [[f64; 3]; 2],
    /// How long an I/O waits before it is issued.
    queued: f64,
    depth: f64,
    full: f64,
}

const NOTHING: Told = Told {
    busy: f64::NAN,
    transfers: f64::NAN,
    ops: [[f64::NAN; 3]; 2],
    queued: f64::NAN,
    depth: f64::NAN,
    full: f64::NAN,
};

impl Told {
    /// Whether that group came.
    fn has(&self, group: Group) -> bool {
        let first = match group {
            Group::Transfers => self.busy,
            Group::Reads => self.ops[0][1],
            Group::Writes => self.ops[1][1],
            Group::Queue => self.queued,
        };
        !first.is_nan()
    }

    /// Takes the numbers of a group.
    fn take(&mut self, group: Group, all: &[&[u8]]) -> Option<()> {
        match (group, all) {
            (Group::Transfers, [busy, all_bytes, transfers, read, written]) => {
                bytes(all_bytes)?;
                self.busy = number(busy)? / 100.0;
                self.transfers = bytes(transfers)?;
                (self.ops[0][0], self.ops[1][0]) = (bytes(read)?, bytes(written)?);
            }
            (Group::Reads | Group::Writes, [ios, average, least, longest, timeouts, fails]) => {
                for text in [least, longest] {
                    time(text)?;
                }
                for text in [timeouts, fails] {
                    bytes(text)?;
                }
                let op = &mut self.ops[usize::from(group == Group::Writes)];
                op[1] = bytes(ios)?;
                op[2] = op[1] * time(average)?;
            }
            (Group::Queue, [average, least, longest, waiting, served, full]) => {
                for text in [least, longest] {
                    time(text)?;
                }
                self.queued = time(average)?;
                self.depth = bytes(waiting)? + bytes(served)?;
                self.full = bytes(full)?;
            }
            _ => return None,
        }
        Some(())
    }
}

/// Disks of which a report tells reads, writes and the queue.
pub(super) struct Disks {
    disk: Shape,
    device: Shape,
    io: Shape,
    /// The disk of which some groups came, below each other.
    present: Option<(Vec<u8>, Told)>,
}

impl Disks {
    pub(super) fn new() -> Disks {
        Disks {
            disk: Shape::of("disk", &["ios", "bytes"]),
            device: Shape::of("disk_device", &["busy", "depth_time"]),
            io: Shape::of("disk_io", &["queue", "service"]),
            present: None,
        }
    }

    /// A row of `-l`: a device and all its groups.
    pub(super) fn row(&self, rows: Rows, name: &[u8], all: &[&[u8]], out: &mut Out) -> Option<()> {
        if let Rows::Adapters(count) = rows {
            return adapter(name, all, count, out);
        }
        if rows != Rows::Disks || all.len() != DISK.len() {
            return None;
        }
        let mut told = NOTHING;
        told.take(Group::Transfers, &all[..5])?;
        told.take(Group::Reads, &all[5..11])?;
        told.take(Group::Writes, &all[11..17])?;
        told.take(Group::Queue, &all[17..])?;
        self.put(name, &told, out);
        Some(())
    }

    /// The numbers of a group of `device`, which may have more.
    pub(super) fn group(&mut self, group: Group, device: &[u8], all: &[&[u8]]) -> Option<()> {
        let (_, told) = self.present.get_or_insert((device.to_vec(), NOTHING));
        if told.has(group) {
            // The line that names another device is lost.
            return None;
        }
        told.take(group, all)
    }

    /// The groups of the present disk are over.
    pub(super) fn flush(&mut self, out: &mut Out) {
        if let Some((name, told)) = self.present.take() {
            self.put(&name, &told, out);
        }
    }

    fn put(&self, name: &[u8], told: &Told, out: &mut Out) {
        let layer = out.word(layer_of(name).as_bytes());
        let device = out.word(name);
        for (op, [bytes, ios, service]) in ["read", "write"].iter().zip(told.ops) {
            let words = [device, layer, out.word(op.as_bytes())];
            if !(bytes.is_nan() && ios.is_nan()) {
                out.put(&self.disk, &words, &[ios, bytes]);
            }
            if !service.is_nan() {
                out.put(&self.io, &words, &[f64::NAN, service]);
            }
        }
        let queued = told.transfers * told.queued;
        if !queued.is_nan() {
            let words = [device, layer, out.word(b"(all)")];
            out.put(&self.io, &words, &[queued, f64::NAN]);
        }
        if !(told.busy.is_nan() && told.depth.is_nan()) {
            out.put(&self.device, &[device, layer], &[told.busy, told.depth]);
        }
        out.other("sqfull", "times/s", device, told.full);
    }
}

/// What an adapter passed. Its other numbers are of what its disks did, too.
pub(super) fn adapter(name: &[u8], all: &[&[u8]], count: usize, out: &mut Out) -> Option<()> {
    if all.len() != count || !all.iter().all(|f| time(f).or_else(|| bytes(f)).is_some()) {
        return None;
    }
    let [kilobytes, transfers, ..] = all else {
        return None;
    };
    let adapter = out.word(name);
    out.other("adapter Kbps", "KB/s", adapter, bytes(kilobytes)?);
    out.other("adapter tps", "I/Os/s", adapter, bytes(transfers)?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_numbers() {
        let of = |line: &str| {
            let found = group(line.as_bytes());
            found.map(|(d, g)| (d.map(|d| String::from_utf8_lossy(d).into_owned()), g))
        };
        let begins = "hdisk6  xfer:  %tm_act  bps  tps  bread  bwrtn";
        assert_eq!(of(begins), Some((Some("hdisk6".into()), Group::Transfers)));
        let reads = "   read:  rps  avgserv  minserv  maxserv  timeouts  fails";
        assert_eq!(of(reads), Some((None, Group::Reads)));
        assert_eq!(of("   read:  rps  what"), None);
        assert_eq!(bytes(b"16.4K"), Some(16400.0));
        assert_eq!(time(b"1.5S"), Some(1.5));
        assert_eq!(time(b"2.5"), Some(0.0025));
        assert_eq!(time(b"2.5x"), None);
    }
}
