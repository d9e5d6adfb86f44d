//! Statistics of a block device, as `iostat` and `sar` name them.

use super::place::layer_in_iostat;
use super::{KIB, SECTOR};
use crate::number::{is_undefined, number, scaled};
use crate::out::{Out, Shape};

const READ: usize = 0;
const WRITE: usize = 1;
const DISCARD: usize = 2;
const FLUSH: usize = 3;
const ALL: usize = 4;

const OPS: [&str; 5] = ["read", "write", "discard", "flush", "(all)"];

/// What a column tells.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// Of an operation: how many a second.
    Ios(usize),
    /// How many bytes a second.
    Bytes(usize),
    Merges(usize),
    /// Mean time, in milliseconds.
    Await(usize),
    Depth,
    /// Share of the time that it was busy, in percent.
    Busy,
    /// Nothing that the catalog has, or what follows from the others; its unit.
    Other(&'static str),
}

use What::{Await, Busy, Bytes, Depth, Ios, Merges, Other};

/// All columns: name, what it is, and the factor to base units.
const COLUMNS: &[(&str, What, f64)] = &[
    ("tps", Ios(ALL), 1.0),
    ("r/s", Ios(READ), 1.0),
    ("w/s", Ios(WRITE), 1.0),
    ("d/s", Ios(DISCARD), 1.0),
    ("f/s", Ios(FLUSH), 1.0),
    ("r+w/s", Ios(ALL), 1.0),
    ("rsec/s", Bytes(READ), SECTOR),
    ("wsec/s", Bytes(WRITE), SECTOR),
    ("dsec/s", Bytes(DISCARD), SECTOR),
    ("rd_sec/s", Bytes(READ), SECTOR),
    ("wr_sec/s", Bytes(WRITE), SECTOR),
    ("dc_sec/s", Bytes(DISCARD), SECTOR),
    ("Blk_read/s", Bytes(READ), SECTOR),
    ("Blk_wrtn/s", Bytes(WRITE), SECTOR),
    ("Blk_dscd/s", Bytes(DISCARD), SECTOR),
    ("blks/s", Bytes(ALL), SECTOR),
    ("sect/s", Bytes(ALL), SECTOR),
    ("rkB/s", Bytes(READ), KIB),
    ("wkB/s", Bytes(WRITE), KIB),
    ("dkB/s", Bytes(DISCARD), KIB),
    ("kB_read/s", Bytes(READ), KIB),
    ("kB_wrtn/s", Bytes(WRITE), KIB),
    ("kB_dscd/s", Bytes(DISCARD), KIB),
    ("kB/s", Bytes(ALL), KIB),
    ("Kbs/s", Bytes(ALL), KIB),
    ("rMB/s", Bytes(READ), KIB * KIB),
    ("wMB/s", Bytes(WRITE), KIB * KIB),
    ("dMB/s", Bytes(DISCARD), KIB * KIB),
    ("MB_read/s", Bytes(READ), KIB * KIB),
    ("MB_wrtn/s", Bytes(WRITE), KIB * KIB),
    ("MB_dscd/s", Bytes(DISCARD), KIB * KIB),
    ("MB/s", Bytes(ALL), KIB * KIB),
    ("rrqm/s", Merges(READ), 1.0),
    ("wrqm/s", Merges(WRITE), 1.0),
    ("drqm/s", Merges(DISCARD), 1.0),
    ("rqm/s", Merges(ALL), 1.0),
    ("await", Await(ALL), 1.0),
    ("r_await", Await(READ), 1.0),
    ("w_await", Await(WRITE), 1.0),
    ("d_await", Await(DISCARD), 1.0),
    ("f_await", Await(FLUSH), 1.0),
    ("avgqu-sz", Depth, 1.0),
    ("aqu-sz", Depth, 1.0),
    ("%util", Busy, 1.0),
    ("%busy", Busy, 1.0),
    ("svctm", Other("ms"), 1.0),
    ("avgrq-sz", Other("sectors"), 1.0),
    ("areq-sz", Other("KiB"), 1.0),
    ("rareq-sz", Other("KiB"), 1.0),
    ("wareq-sz", Other("KiB"), 1.0),
    ("dareq-sz", Other("KiB"), 1.0),
    ("%rrqm", Other("%"), 1.0),
    ("%wrqm", Other("%"), 1.0),
    ("%drqm", Other("%"), 1.0),
    ("Blk_read", Other("sectors"), 1.0),
    ("Blk_wrtn", Other("sectors"), 1.0),
    ("Blk_dscd", Other("sectors"), 1.0),
    ("kB_read", Other("KiB"), 1.0),
    ("kB_wrtn", Other("KiB"), 1.0),
    ("kB_dscd", Other("KiB"), 1.0),
    ("MB_read", Other("MiB"), 1.0),
    ("MB_wrtn", Other("MiB"), 1.0),
    ("MB_dscd", Other("MiB"), 1.0),
    ("kB_w+d/s", Other("KiB/s"), 1.0),
    ("kB_w+d", Other("KiB"), 1.0),
    ("MB_w+d/s", Other("MiB/s"), 1.0),
    ("MB_w+d", Other("MiB"), 1.0),
    ("Blk_w+d/s", Other("sectors/s"), 1.0),
    ("Blk_w+d", Other("sectors"), 1.0),
];

/// Names of all columns.
pub(super) fn names() -> impl Iterator<Item = &'static str> + Clone {
    COLUMNS.iter().map(|(name, ..)| *name)
}

/// A column of a header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    what: What,
    factor: f64,
}

impl Column {
    /// Of that name; what is not known is kept as it is.
    pub(crate) fn of(name: &str) -> Column {
        let found = COLUMNS.iter().find(|(n, ..)| *n == name);
        let (what, factor) = found.map_or((Other(super::unit_of(name)), 1.0), |(_, w, f)| (*w, *f));
        Column {
            name: name.to_owned(),
            what,
            factor,
        }
    }

    /// Its unit, where it has no place in the catalog.
    pub(crate) fn unit(&self) -> &'static str {
        match self.what {
            Other(unit) => unit,
            _ => "",
        }
    }

    /// A number of it, in base units where it has a place in the catalog.
    pub(crate) fn amount(&self, printed: f64) -> f64 {
        printed * self.factor
    }

    /// Its value, in base units where it has a place in the catalog. Values for people end in
    /// a letter (`25.3M`: of 1,024 bytes a step) or in `%`.
    pub(crate) fn value(&self, text: &[u8]) -> Option<f64> {
        if let Some(value) = number(text) {
            return Some(self.amount(value));
        }
        if is_undefined(text) {
            return Some(f64::NAN);
        }
        if let Some(share) = text.strip_suffix(b"%") {
            return number(share);
        }
        let bytes = scaled(text, 1024.0)?;
        match self.what {
            Bytes(_) => Some(bytes),
            Other(unit) if unit.starts_with("KiB") => Some(bytes / KIB),
            Other(unit) if unit.starts_with("MiB") => Some(bytes / (KIB * KIB)),
            Other(unit) if unit.starts_with("sectors") => Some(bytes / SECTOR),
            _ => None,
        }
    }
}

/// What a row tells of a device.
#[derive(Debug)]
pub(crate) struct Device {
    ios: [f64; 5],
    bytes: [f64; 5],
    merges: [f64; 5],
    wait: [f64; 5],
    depth: f64,
    busy: f64,
}

impl Device {
    /// Of the values of those columns. What has no place is handed to `other`.
    pub(crate) fn of<'a>(
        values: impl Iterator<Item = (&'a Column, f64)>,
        mut other: impl FnMut(&'a str, &'static str, f64),
    ) -> Device {
        let unknown = [f64::NAN; 5];
        let mut device = Device {
            ios: unknown,
            bytes: unknown,
            merges: unknown,
            wait: unknown,
            depth: f64::NAN,
            busy: f64::NAN,
        };
        for (column, value) in values {
            match column.what {
                Ios(op) => device.ios[op] = value,
                Bytes(op) => device.bytes[op] = value,
                Merges(op) => device.merges[op] = value,
                Await(op) => device.wait[op] = value,
                Depth => device.depth = value,
                Busy => device.busy = value,
                Other(unit) => other(&column.name, unit, value),
            }
        }
        device
    }

    /// The operations of which anything is known: ios, bytes, merges, time, discarded.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&'static str, [f64; 5])> {
        let split = self.wait[..ALL].iter().any(|w| !w.is_nan());
        OPS.iter().enumerate().filter_map(move |(op, name)| {
            let ios = self.ios[op];
            // A mean over all of them goes with how many there were, where they are told
            // apart too.
            let counted = match op {
                ALL if ios.is_nan() => self.ios[READ] + self.ios[WRITE],
                _ => ios,
            };
            let time = match op {
                ALL if split => f64::NAN,
                // Nothing took no time.
                _ if counted == 0.0 && !self.wait[op].is_nan() => 0.0,
                _ => self.wait[op] / 1000.0 * counted,
            };
            let (bytes, discarded) = match op {
                DISCARD => (0.0, self.bytes[op]),
                FLUSH => (0.0, f64::NAN),
                _ => (self.bytes[op], f64::NAN),
            };
            let row = [ios, bytes, self.merges[op], time, discarded];
            let told = [ios, self.bytes[op], self.merges[op], time];
            told.iter().any(|v| !v.is_nan()).then_some((*name, row))
        })
    }

    /// Busy and depth, if any is known.
    pub(crate) fn state(&self) -> Option<[f64; 2]> {
        let state = [self.busy / 100.0, self.depth];
        state.iter().any(|v| !v.is_nan()).then_some(state)
    }
}

/// Puts devices into `disk` and `disk_device`.
pub(crate) struct Disks {
    disk: Shape,
    device: Shape,
}

impl Disks {
    pub(crate) fn new() -> Disks {
        Disks {
            disk: Shape::of("disk", &["ios", "bytes", "merges", "time", "discarded"]),
            device: Shape::of("disk_device", &["busy", "depth_time"]),
        }
    }

    /// The rows of one device.
    pub(crate) fn put<'a>(
        &mut self,
        out: &mut Out,
        name: &[u8],
        values: impl Iterator<Item = (&'a Column, f64)>,
    ) {
        let instance = out.word(name);
        let layer = out.disk_layer_of(name, layer_in_iostat(name));
        let layer = out.word(layer.as_bytes());
        let device = Device::of(values, |column, unit, value| {
            out.other(column, unit, instance, value);
        });
        for (op, row) in device.rows() {
            let op = out.word(op.as_bytes());
            out.put(&self.disk, &[instance, layer, op], &row);
        }
        if let Some(state) = device.state() {
            out.put(&self.device, &[instance, layer], &state);
        }
    }

    /// The rows of one that did nothing.
    pub(crate) fn put_idle(&mut self, out: &mut Out, name: &[u8], columns: &[Column]) {
        let idle = columns.iter().filter(|c| !matches!(c.what, Other(_)));
        self.put(out, name, idle.map(|c| (c, 0.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_for_people_and_for_programs() {
        let of = |name: &str, text: &str| Column::of(name).value(text.as_bytes());
        assert_eq!(of("rkB/s", "2.5"), Some(2560.0));
        assert_eq!(of("rkB/s", "2.5M"), Some(2.5 * KIB * KIB));
        assert_eq!(of("rMB/s", "2.5k"), Some(2560.0));
        assert_eq!(of("rareq-sz", "11.5M"), Some(11.5 * KIB));
        assert_eq!(of("%util", "3.5%"), Some(3.5));
        for undefined in ["nan", "-nan", "inf", "-inf"] {
            assert!(of("await", undefined).unwrap().is_nan());
        }
        assert_eq!(of("r/s", "3.5k"), None);
        assert_eq!(of("r/s", "1.50.25"), None);
        assert_eq!(of("rsec/s", "8,00"), Some(4096.0));
    }
}
