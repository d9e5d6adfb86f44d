//! fio's logs of bandwidth, IOPS and latencies, one file each.
//!
//! Nothing in a row says which of them it is: that is in the file's name, or asked for. Rows
//! that are means (`log_avg_msec`) have size 0; others are of one I/O each.

use std::collections::HashMap;

use run::rows::TableId;

use super::log_rows::{Row, Rows, Taken};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::workload::{Done, UNKNOWN, Work};
use crate::{Line, Parser};

/// A format of one kind of log.
macro_rules! log {
    ($name:literal, $kind:expr, $what:literal, $yields:expr, $row:literal) => {
        Format {
            name: concat!("fio-", $name, "-log"),
            tool: "fio",
            systems: "all that fio runs on",
            help: $what,
            recognised: concat!(
                "rows of a fio log in a file named `…_",
                $name,
                ".N.log`, or after the line \
                 `==> …_",
                $name,
                ".1.log <==` of `tail`"
            ),
            yields: $yields,
            example: concat!("==> job_", $name, ".1.log <==\n", $row),
            recognise: |head| recognise(head, $name),
            parser: || Box::new(Log::new($kind)),
        }
    };
}

pub(crate) const BW: Format = log!(
    "bw",
    Kind::Bandwidth,
    "fio's log of bandwidth: bytes per interval and direction",
    &["workload"],
    "500, 38016, 0, 0, 0\n1000, 43879, 0, 0, 0\n"
);
pub(crate) const IOPS: Format = log!(
    "iops",
    Kind::Iops,
    "fio's log of IOPS: I/Os per interval and direction",
    &["workload"],
    "500, 9504, 0, 0, 0\n1000, 10969, 0, 0, 0\n"
);
pub(crate) const LAT: Format = log!(
    "lat",
    Kind::Latency("lat"),
    "fio's log of latencies: each I/O with size and offset, or means per interval",
    &["workload_event"],
    "3, 156483, 0, 4096, 61440, 0\n4, 89363, 1, 4096, 774144, 0\n"
);
pub(crate) const CLAT: Format = log!(
    "clat",
    Kind::Latency("clat"),
    "fio's log of latencies from submission to completion",
    &["distribution"],
    "3, 155993, 0, 4096, 61440, 0\n4, 89172, 1, 4096, 774144, 0\n"
);
pub(crate) const SLAT: Format = log!(
    "slat",
    Kind::Latency("slat"),
    "fio's log of latencies up to submission",
    &["distribution"],
    "3, 490, 0, 4096, 61440, 0\n4, 191, 1, 4096, 774144, 0\n"
);

/// What a log's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// KiB/s.
    Bandwidth,
    Iops,
    /// Nanoseconds.
    Latency(&'static str),
    /// Nobody said.
    Unknown,
}

/// `lat` of `job_lat.1.log` and `job_lat.log`, also with a host behind.
fn kind_in(name: &str) -> Option<&str> {
    let (stem, _) = name
        .split_once(".log")
        .or_else(|| name.split_once(".csv"))?;
    let stem = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let stem = stem.strip_suffix('.').unwrap_or(stem);
    stem.rsplit('_').next()
}

/// Whether these are rows of a fio log.
fn are_rows(head: &Head) -> bool {
    let mut lines = head
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with(b"==> "))
        .peekable();
    let mut rows = Rows::default();
    lines.peek().is_some() && {
        // The last may be cut.
        let lines: Vec<_> = lines.take(20).collect();
        let whole = &lines[..lines.len().saturating_sub(1).max(1)];
        whole.iter().all(|l| !matches!(rows.take(l), Taken::None))
    }
}

fn recognise(head: &Head, kind: &str) -> u8 {
    if kind_in(head.name()) == Some(kind) && are_rows(head) {
        85
    } else {
        0
    }
}

/// Rows of a log whose name does not say what they are.
pub(crate) fn is_unnamed(head: &Head) -> bool {
    let known = ["bw", "iops", "lat", "clat", "slat"];
    are_rows(head) && !kind_in(head.name()).is_some_and(|kind| known.contains(&kind))
}

struct Log {
    kind: Kind,
    work: Work,
    rows: Rows,
    /// End of the row before of each direction, in milliseconds, and the usual time between.
    before: HashMap<&'static str, u64>,
    usual: HashMap<&'static str, u64>,
    /// First rows, whose interval is not known: their times are of the clock.
    waiting: Vec<Row>,
    /// What is added up until a second is over: second, direction; I/Os and bytes.
    sums: Vec<(&'static str, f64, f64)>,
    second: u64,
    event: TableId,
    distribution: TableId,
}

/// Times above are milliseconds since 1970, below since the job started.
const EPOCH: u64 = 1_000_000_000_000;

impl Log {
    fn new(kind: Kind) -> Log {
        Log {
            kind,
            work: Work::new("fio"),
            rows: Rows::default(),
            before: HashMap::new(),
            usual: HashMap::new(),
            waiting: Vec::new(),
            sums: Vec::new(),
            second: 0,
            event: TableId::of("workload_event"),
            distribution: TableId::of("distribution"),
        }
    }

    fn row(&mut self, row: Row, out: &mut Out) {
        match (self.kind, row.size) {
            (Kind::Unknown, _) => out.refuse(Refused(
                "nothing in a log of fio says whether its values are bandwidth, IOPS or \
                 latencies\nhint: keep fio's file name (…_bw.1.log), or say --as fio-bw-log, \
                 fio-iops-log, fio-lat-log, fio-clat-log or fio-slat-log"
                    .into(),
            )),
            (_, 0) => self.mean(row, out),
            (Kind::Latency("lat"), size) => self.event(row, size, out),
            (Kind::Latency(_), _) => self.one(row, row.value, out),
            (Kind::Iops, _) if row.value != 1 => out.refuse(Refused(
                "rows with a size and more than one I/O: how long they are means over is told by \
                 fio's version and log_avg_msec only\nhint: import fio's JSON or its latency log"
                    .into(),
            )),
            (Kind::Bandwidth, _) if !row.is_new => out.refuse(Refused(
                "rows with a size in a bandwidth log of an old fio: whether they are of one I/O \
                 each or of half a second depends on fio's version\nhint: import fio's JSON or \
                 its latency log"
                    .into(),
            )),
            _ => self.one(row, 1, out),
        }
    }

    /// A row that is the mean of what came since the one before of its direction.
    fn mean(&mut self, row: Row, out: &mut Out) {
        let passed = match self.before.insert(row.op, row.time) {
            Some(before) => row.time.saturating_sub(before),
            None if row.time < EPOCH => row.time,
            None => {
                self.waiting.push(row);
                return;
            }
        };
        // Idle intervals have no row: what is longer than usual began with them.
        let usual = self.usual.entry(row.op).or_insert(passed);
        *usual = (*usual).min(passed.max(1));
        let told = out.options().every.map(|every| (every * 1000.0) as u64);
        let usual = told.unwrap_or(*usual);
        let passed = if passed.saturating_mul(2) > usual.saturating_mul(3) {
            usual
        } else {
            passed
        };
        if let Some(place) = self.waiting.iter().position(|w| w.op == row.op) {
            let first = self.waiting.swap_remove(place);
            self.put(first, passed, out);
        }
        self.put(row, passed, out);
    }

    fn put(&self, row: Row, milliseconds: u64, out: &mut Out) {
        out.sample_at(stamp(row.time));
        out.spans(milliseconds.max(1) as f64 / 1000.0);
        let value = row.value as f64;
        let of = [&b""[..], row.op.as_bytes(), b""];
        match self.kind {
            Kind::Bandwidth => {
                let bytes = value * 1024.0;
                self.work.rates(out, of, Done { bytes, ..UNKNOWN });
            }
            Kind::Iops => self.work.rates(
                out,
                of,
                Done {
                    ops: value,
                    ..UNKNOWN
                },
            ),
            Kind::Latency(name) => {
                let instance = out.word(row.op.as_bytes());
                out.other(&format!("{name}.mean"), "ns", instance, value);
            }
            Kind::Unknown => {}
        }
    }

    /// One I/O as an event.
    fn event(&mut self, row: Row, size: u64, out: &mut Out) {
        let words = [&b"fio"[..], b"", row.op.as_bytes(), b""].map(|w| out.word(w));
        let offset = row.offset.map_or(f64::NAN, |o| o as f64);
        let values = [row.value as f64 / 1e9, size as f64, offset, 1.0];
        out.event(self.event, stamp(row.time), &words, &values);
    }

    /// One I/O that is counted with the others of its second.
    fn one(&mut self, row: Row, value: u64, out: &mut Out) {
        let second = row.time / 1000;
        if second != self.second || !out.has_sample() {
            self.second_is_over(out);
            self.second = second;
            out.sample_at(stamp(second.saturating_add(1).saturating_mul(1000)));
            out.spans(1.0);
        }
        if let Kind::Latency(name) = self.kind {
            let words = ["fio", name, row.op].map(|w| out.word(w.as_bytes()));
            let value = value as f64;
            out.bucket(self.distribution, &words, value, value, 1.0);
            return;
        }
        let place = self.sums.iter().position(|s| s.0 == row.op);
        let place = place.unwrap_or_else(|| {
            self.sums.push((row.op, 0.0, 0.0));
            self.sums.len() - 1
        });
        self.sums[place].1 += 1.0;
        self.sums[place].2 += row.size as f64;
    }

    fn second_is_over(&mut self, out: &mut Out) {
        for (op, ops, bytes) in std::mem::take(&mut self.sums) {
            let done = match self.kind {
                Kind::Iops => Done { ops, ..UNKNOWN },
                _ => Done { bytes, ..UNKNOWN },
            };
            self.work.amounts(out, [b"", op.as_bytes(), b""], done);
        }
    }
}

fn stamp(milliseconds: u64) -> Stamp {
    if milliseconds < EPOCH {
        Stamp::Elapsed(milliseconds as f64 / 1000.0)
    } else {
        let milliseconds = i64::try_from(milliseconds).unwrap_or(i64::MAX);
        Stamp::Epoch(milliseconds.saturating_mul(1_000_000))
    }
}

impl Parser for Log {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.is_empty() || line.starts_with(b"==> ") {
            return Line::Noise;
        }
        match self.rows.take(line) {
            Taken::None => return Line::Unknown,
            Taken::Held => {}
            Taken::Rows(rows) => rows.into_iter().for_each(|row| self.row(row, out)),
        }
        Line::Data
    }

    fn end(&mut self, out: &mut Out) {
        self.second_is_over(out);
        if self.rows.undecided() {
            out.refuse(Refused(
                "its columns can be read in more than one way: fio's options log_offset, \
                 log_window_value and log_issue_time say which, and they are not in the log\n\
                 hint: import the run's JSON beside it, or log without them"
                    .into(),
            ));
        }
        if !self.waiting.is_empty() {
            match out.options().every {
                Some(every) => {
                    for row in std::mem::take(&mut self.waiting) {
                        self.put(row, (every * 1000.0) as u64, out);
                    }
                }
                None => out.refuse(Refused(
                    "one row does not tell how long its interval is\nhint: say it, as --every 1s"
                        .into(),
                )),
            }
        }
    }
}

pub(crate) const UNNAMED: Format = Format {
    name: "fio-log",
    tool: "fio",
    systems: "all that fio runs on",
    help: "a log of fio whose name does not tell; refused: what its values are is asked for",
    recognised: "rows of three to seven numbers and a direction, without a telling file name",
    yields: &[],
    example: "500, 38016, 0, 0, 0\n1000, 43879, 0, 0, 0\n",
    recognise: |head| if is_unnamed(head) { 60 } else { 0 },
    parser: || Box::new(Log::new(Kind::Unknown)),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// An interval that no tool has.
    #[test]
    fn times_without_bounds_are_no_fault() {
        let text = b"500, 1, 0, 4096, 0\n18446744073709551615, 1, 0, 4096, 0\n";
        let head = Head::new(text);
        for every in [None, Some(1e300)] {
            let options = crate::Options {
                every,
                ..crate::Options::default()
            };
            let mut import = crate::Import::new(&BW, &head, options);
            // Refused or not.
            if import.feed(text).is_ok() {
                let _ = import.finish();
            }
        }
    }
}
