//! Rows of `-x`: which report each is of, and those that `-z` leaves out.

use super::layout::numbered;
use crate::disk::layer_of_cut;
use crate::lines::rows_in;
use crate::numbers;
use crate::out::{Out, Shape};

const KIB: f64 = 1024.0;

/// So many bytes of a name are printed.
const NAME: usize = 8;

/// The header of NetBSD, in words, and the columns below it. The time is that in which the device
/// was busy, with reads or writes, and stands there twice.
const OF_NETBSD: [&str; 10] = [
    "read", "KB/t", "r/s", "time", "MB/s", "write", "KB/t", "w/s", "time", "MB/s",
];
const READ_AS: [&str; 8] = [
    "read KB/t",
    "r/s",
    "busy",
    "rMB/s",
    "write KB/t",
    "w/s",
    "busy too",
    "wMB/s",
];

/// The columns of a header.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Of a device.
    names: Vec<String>,
    /// Of the machine: terminals and processors, which follow the first device.
    pub(super) machine: Vec<String>,
    /// With `-z` NetBSD prints the name alone of a device that did nothing.
    pub(super) name_if_idle: bool,
}

/// What a line below it holds.
pub(super) struct Row<'a> {
    /// The device and its values, but where only the machine has some.
    pub(super) device: Option<(&'a [u8], Vec<f64>)>,
    pub(super) machine: Vec<f64>,
}

impl Columns {
    /// Of a header; that of Solaris has `actv`, that of Linux other names.
    pub(super) fn of(all: &[&[u8]]) -> Option<Columns> {
        let (_, names) = all
            .split_first()
            .filter(|(first, _)| **first == b"device")?;
        if names == OF_NETBSD.map(str::as_bytes) {
            return Some(Columns {
                names: READ_AS.map(str::to_owned).to_vec(),
                machine: Vec::new(),
                name_if_idle: true,
            });
        }
        let has = |name: &str| names.contains(&name.as_bytes());
        let rates = has("r/s") && has("w/s") && has("kr/s") && has("kw/s");
        let amounts = has("r/i") && has("w/i") && has("kr/i") && has("kw/i");
        // `mgr/s` is of an `iostat` for Linux from before sysstat's had the name.
        if !(rates || amounts) || has("actv") || has("%w") || has("mgr/s") {
            return None;
        }
        let machine = names.iter().position(|n| matches!(*n, b"tin" | b"us"));
        let (names, machine) = names.split_at(machine.unwrap_or(names.len()));
        let text = |names: &[&[u8]]| -> Vec<String> {
            let text = |n: &&[u8]| String::from_utf8_lossy(n).into_owned();
            names.iter().map(text).collect()
        };
        Some(Columns {
            names: text(names),
            machine: text(machine),
            name_if_idle: false,
        })
    }

    /// The values of a line; `None` if it is no row.
    pub(super) fn row<'a>(&self, all: &[&'a [u8]]) -> Option<Row<'a>> {
        // Where no device did anything, `-z` prints the machine's alone.
        if let Some(machine) = numbers(all.iter().copied()) {
            let (own, more) = machine.split_at_checked(self.machine.len())?;
            // Of 14 with -C also the processors, which a table above told.
            let told = more.len() == 5 && (more.iter().sum::<f64>() - 100.0).abs() < 3.0;
            return (told || more.is_empty() && !own.is_empty()).then(|| Row {
                device: None,
                machine: own.to_vec(),
            });
        }
        let (name, values) = all.split_first()?;
        let mut values = numbers(values.iter().copied())?;
        // `wd0`; other words stand below it alone, too.
        let is_device = name.first().is_some_and(u8::is_ascii_lowercase)
            && name.last().is_some_and(u8::is_ascii_digit)
            && name
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || b"._-:/".contains(b));
        if values.is_empty() && self.name_if_idle && is_device {
            values.resize(self.names.len(), 0.0);
        }
        let machine = match values.len().checked_sub(self.names.len())? {
            0 => Vec::new(),
            n if n == self.machine.len() => values.split_off(self.names.len()),
            _ => return None,
        };
        Some(Row {
            device: Some((*name, values)),
            machine,
        })
    }

    /// Whether a line may be a row.
    pub(super) fn are_in(&self, line: &[u8]) -> bool {
        rows_in(line, self.names.len() + 1) > 0
    }

    fn value(&self, values: &[f64], names: [&str; 2]) -> f64 {
        let place = self.names.iter().position(|n| names.contains(&n.as_str()));
        place
            .and_then(|p| values.get(p))
            .copied()
            .unwrap_or(f64::NAN)
    }
}

/// The devices that reports tell of.
pub(super) struct Devices {
    /// In the order that they came, and whether the present report has them.
    known: Vec<(Vec<u8>, bool)>,
    columns: Columns,
    /// `-z`, where a command line tells.
    pub(super) leaves_out: Option<bool>,
    /// An idle device was printed: `-z` leaves it out.
    idle_seen: bool,
    /// A row of the present report is not understood: it may be of any device.
    pub(super) garbled: bool,
    /// The present report has a table of them.
    open: bool,
    disk: Shape,
    device: Shape,
}

impl Devices {
    pub(super) fn new() -> Devices {
        Devices {
            known: Vec::new(),
            columns: Columns::default(),
            leaves_out: None,
            idle_seen: false,
            garbled: false,
            open: false,
            disk: Shape::of("disk", &["ios", "bytes", "time"]),
            device: Shape::of("disk_device", &["busy", "inflight"]),
        }
    }

    /// A header came.
    pub(super) fn open(&mut self, columns: &Columns) {
        self.columns.clone_from(columns);
        self.open = true;
    }

    /// Whether a row of that name begins another report, of which the header is missing: a name
    /// that is not cut is in a report once.
    pub(super) fn is_next(&self, name: &[u8]) -> bool {
        name.len() < NAME && self.known.iter().any(|(n, there)| *there && n == name)
    }

    /// A row of the present report.
    pub(super) fn row(&mut self, name: &[u8], values: &[f64], out: &mut Out) {
        let full = numbered(name, |n| {
            self.known.iter().any(|(k, there)| *there && k == n)
        });
        if full != name {
            out.note(
                "names of devices are cut, and those that are alike then are told apart by their \
                 order: where one of them is left out, as -z does, the others are taken for it",
            );
        }
        match self.known.iter_mut().find(|(n, _)| *n == full) {
            Some((_, there)) => *there = true,
            None => self.known.push((full.clone(), true)),
        }
        let nothing = values.iter().all(|v| *v == 0.0);
        self.idle_seen |= nothing && !out.is_since_boot();
        self.put(&full, values, out);
    }

    /// The report is over: devices that it leaves out did nothing.
    pub(super) fn close(&mut self, out: &mut Out) {
        let garbled = std::mem::take(&mut self.garbled);
        let open = std::mem::take(&mut self.open);
        let idle = self.leaves_out.unwrap_or(!self.idle_seen);
        let missing = self.known.iter().any(|(_, there)| !there);
        if open && idle && missing && !garbled && out.has_sample() && !out.is_since_boot() {
            out.note(
                "devices that a report leaves out did nothing in it, as `iostat -z` says: they \
                 are zero there",
            );
            let zeros = vec![0.0; self.columns.names.len()];
            let idle = self.known.iter().filter(|(_, there)| !there);
            for name in idle.map(|(n, _)| n.clone()).collect::<Vec<_>>() {
                self.put(&name, &zeros, out);
            }
        }
        for (_, there) in &mut self.known {
            *there = false;
        }
    }

    fn put(&self, name: &[u8], values: &[f64], out: &mut Out) {
        let printed = name.split(|b| *b == b'#').next().unwrap_or(name);
        let columns = &self.columns;
        let of = |a: &str, b: &str| columns.value(values, [a, b]);
        let amounts = columns.names.iter().any(|n| n == "r/i");
        let device = out.word(name);
        let layer = out.word(layer_of_cut(printed).as_bytes());
        let (reads, writes) = (of("r/s", "r/i"), of("w/s", "w/i"));
        for (op, ios, kib, mib, ms) in [
            (
                "read",
                reads,
                of("kr/s", "kr/i"),
                of("rMB/s", ""),
                of("ms/r", ""),
            ),
            (
                "write",
                writes,
                of("kw/s", "kw/i"),
                of("wMB/s", ""),
                of("ms/w", ""),
            ),
        ] {
            let words = [device, layer, out.word(op.as_bytes())];
            let kib = if kib.is_nan() { mib * KIB } else { kib };
            let values = [ios, kib * KIB, ms / 1000.0 * ios];
            put(out, &self.disk, &words, &values, amounts);
        }
        let service = of("svc_t", "");
        if !service.is_nan() {
            let words = [device, layer, out.word(b"(all)")];
            let time = service / 1000.0 * (reads + writes);
            let values = [f64::NAN, f64::NAN, time];
            put(out, &self.disk, &words, &values, amounts);
        }
        // A share is one with `-I`, too.
        let percent = of("%b", "");
        let (busy, amounts) = if percent.is_nan() {
            (of("sb/i", "busy"), amounts)
        } else {
            (percent / 100.0, false)
        };
        let values = [busy, of("qlen", "wait")];
        put(out, &self.device, &[device, layer], &values, amounts);
        for (column, unit) in [("ms/o", "ms"), ("ms/t", "ms"), ("tsvc_t/i", "")] {
            out.other(column, unit, device, of(column, ""));
        }
    }
}

/// A row of amounts or of rates.
pub(super) fn put(
    out: &mut Out,
    shape: &Shape,
    words: &[run::Word],
    values: &[f64],
    amounts: bool,
) {
    if amounts {
        out.put_amounts(shape, words, values);
    } else {
        out.put(shape, words, values);
    }
}
