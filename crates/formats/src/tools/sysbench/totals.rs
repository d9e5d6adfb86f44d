//! What sysbench prints at the end of a run, or of a part of it.

use super::{MIB, of};
use crate::number::{decimal, number, seconds};
use crate::out::Out;
use crate::workload::{Done, UNKNOWN, Work};

/// Milliseconds, as 2^64 ns are.
const NO_EVENT: f64 = 18_446_744_073_709.0;

/// What the totals say.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) seconds: Option<f64>,
    /// Events and how many there were a second: together the time, where `seconds` are those since
    /// the run began.
    counted: Option<[f64; 2]>,
    events: Option<f64>,
    /// Of all events, seconds.
    sum: Option<f64>,
    transactions: Option<f64>,
    errors: Option<f64>,
    /// Of fileio, per second: read, written, synced.
    ops: [Option<f64>; 3],
    /// Bytes per second: read, written.
    bytes: [Option<f64>; 2],
    /// Of fileio of 0.4 and 0.5, in the whole run: read, written, others, which are syncs.
    performed: Option<[f64; 3]>,
    /// Bytes of those: read, written.
    transferred: Option<[f64; 2]>,
    /// Of the memory test: operations and bytes.
    memory: Option<f64>,
    moved: Option<f64>,
    pub(super) operation: String,
    /// Middle of a bucket in seconds, and its count.
    buckets: Vec<(f64, f64)>,
    others: Vec<(String, &'static str, f64)>,
    section: String,
    /// Sections that came.
    sections: Vec<String>,
}

impl Totals {
    /// Puts them beside the rows of intermediate reports.
    pub(super) fn beside(&self, out: &mut Out) {
        let empty = out.word(b"");
        let [reads, writes, syncs] = self.ops;
        let [read, written] = self.bytes.map(|bytes| bytes.map(|b| b / MIB));
        for (column, unit, value) in [
            ("events", "", self.events),
            ("transactions", "", self.transactions),
            ("errors", "", self.errors),
            ("total time", "s", self.seconds),
            ("event time", "s", self.sum),
            ("file operations.reads", "1/s", reads),
            ("file operations.writes", "1/s", writes),
            ("file operations.fsyncs", "1/s", syncs),
            ("throughput.read", "MiB/s", read),
            ("throughput.written", "MiB/s", written),
            ("operations", "", self.memory),
            ("transferred", "MiB", self.moved.map(|b| b / MIB)),
        ] {
            out.other(column, unit, empty, value.unwrap_or(f64::NAN));
        }
        let performed = self.performed.unwrap_or([f64::NAN; 3]);
        for (op, count) in ["read", "write", "other"].into_iter().zip(performed) {
            out.other(&format!("operations performed.{op}"), "", empty, count);
        }
        let transferred = self.transferred.unwrap_or([f64::NAN; 2]);
        for (op, bytes) in ["read", "written"].into_iter().zip(transferred) {
            out.other(&format!("transferred.{op}"), "MiB", empty, bytes / MIB);
        }
    }

    /// `0.214 |*****   69`.
    pub(super) fn bucket(&mut self, text: &str) -> Option<()> {
        let (value, rest) = text.split_once('|')?;
        let value = decimal(value.trim().as_bytes())? / 1000.0;
        let count = number(rest.trim_start_matches('*').trim().as_bytes())?;
        self.buckets.push((value, count));
        Some(())
    }

    /// Whether a line is of the next run's totals, of which `grep` left no beginning.
    pub(super) fn is_of_next(&self, name: &str) -> bool {
        match name {
            "total time" | "time elapsed" => self.seconds.is_some(),
            "total number of events" => self.events.is_some(),
            _ => false,
        }
    }

    /// `name: value`, in the totals.
    pub(super) fn total(&mut self, name: &str, value: &str) -> Option<()> {
        let first = value.split_whitespace().next()?;
        let plain = || number(first.as_bytes());
        let totals = self;
        match name {
            // The second since 1.1.
            "total time" | "time elapsed" => totals.seconds = Some(seconds(first.as_bytes())?),
            "total number of events" => totals.events = Some(plain()?),
            "total time taken by event execution" => {
                totals.sum = Some(number(first.trim_end_matches('s').as_bytes())?);
            }
            "sum" => totals.sum = Some(plain()? / 1000.0),
            "transactions" => {
                totals.transactions = Some(plain()?);
                totals.counted = counted(value);
            }
            "ignored errors" => totals.errors = Some(plain()?),
            "reads/s" => totals.ops[0] = Some(plain()?),
            "writes/s" => totals.ops[1] = Some(plain()?),
            "fsyncs/s" => totals.ops[2] = Some(plain()?),
            "read, MiB/s" => totals.bytes[0] = Some(plain()? * MIB),
            "written, MiB/s" => totals.bytes[1] = Some(plain()? * MIB),
            "Total operations" => {
                totals.memory = Some(plain()?);
                totals.counted = counted(value);
            }
            // `IOPS=3233.17 50.52 MiB/s (52.97 MB/s)` of 1.1.
            "read" | "write" | "fsync" if first.starts_with("IOPS=") => {
                let place = ["read", "write", "fsync"]
                    .iter()
                    .position(|op| *op == name)?;
                let iops = first.strip_prefix("IOPS=")?;
                totals.ops[place] = Some(number(iops.as_bytes())?);
                if let [_, rate, "MiB/s", ..] = value.split_whitespace().collect::<Vec<_>>()[..] {
                    *totals.bytes.get_mut(place)? = Some(number(rate.as_bytes())? * MIB);
                }
            }
            "operation" => first.clone_into(&mut totals.operation),
            // A heading of who kept it.
            _ if totals.section.is_empty() && name != "Operations performed" => return None,
            _ => {
                let (digits, unit) = match first.strip_suffix("ms") {
                    Some(digits) => (digits, "ms"),
                    None if totals.section.starts_with("Latency") => (first, "ms"),
                    None => (first, ""),
                };
                let section = totals.section.split(['(', ':']).next().unwrap_or_default();
                let column = format!("{}.{name}", section.trim().to_lowercase());
                // `events (avg/stddev):  1803.5000/12.50`.
                if let Some(column) = column.strip_suffix(" (avg/stddev)") {
                    let (mean, stdev) = digits.split_once('/')?;
                    let both = [("avg", mean), ("stddev", stdev)]
                        .map(|(of, v)| Some((format!("{column}.{of}"), number(v.as_bytes())?)));
                    let [Some(mean), Some(stdev)] = both else {
                        return None;
                    };
                    for (column, value) in [mean, stdev] {
                        totals.others.push((column, unit, value));
                    }
                    return Some(());
                }
                let value = number(digits.as_bytes())?;
                // What it begins with, and no event took less.
                if name == "min" && value >= NO_EVENT {
                    return Some(());
                }
                totals.others.push((column, unit, value));
            }
        }
        Some(())
    }

    /// How long the run was, or the part of it that begins `after` so many seconds of it. 1.0 and
    /// 1.1 print the time since the run began there; where counts and their rates tell that it is
    /// the part's own, it is that.
    pub(super) fn length(&self, after: f64) -> Option<f64> {
        let total = self.seconds.filter(|s| *s > 0.0)?;
        let rest = total - after;
        let told = self.counted.map(|[count, rate]| count / rate);
        let is_rest = told.map_or(rest > 0.0, |told| {
            (rest - told).abs() <= (total - told).abs()
        });
        Some(if is_rest { rest } else { total })
    }

    /// How many transactions or events there were, where it has one of these alone.
    pub(super) fn count(&self) -> Option<(&'static str, f64)> {
        let is_of_others = self.performed.is_some() || self.memory.is_some() || self.is_rates();
        match (self.transactions, self.events) {
            _ if is_of_others => None,
            (Some(count), _) => Some(("transaction", count)),
            (None, count) => Some(("event", count?)),
        }
    }

    /// Whether it has rates of I/O and no counts, as of fileio since 1.0.
    pub(super) fn is_rates(&self) -> bool {
        self.ops.iter().any(Option::is_some)
    }

    /// A section begins; whether it came already, so that it is of other totals.
    pub(super) fn comes_again(&self, section: &str) -> bool {
        self.sections.iter().any(|s| s == section)
    }

    pub(super) fn section(&mut self, name: &str) {
        name.clone_into(&mut self.section);
        self.sections.push(name.to_owned());
    }

    /// Puts what there was beside the intervals, or in them.
    pub(super) fn put_others(&self, work: &Work, out: &mut Out) {
        // Buckets are 18.42 / 1023 wide in the logarithm; the middle is printed.
        let half = (1e8_f64.ln() / 1023.0 / 2.0).exp();
        let op = if self.transactions.is_some() {
            "transaction"
        } else {
            "event"
        };
        for (middle, count) in &self.buckets {
            work.latency(out, of(op), middle / half, middle * half, *count);
        }
        let empty = out.word(b"");
        for (column, unit, value) in &self.others {
            out.other(column, unit, empty, *value);
        }
    }

    /// The time of events: where these are all that was done, which may be told so nearly, it is the latency's.
    /// Old files' syncs were no events, and took none of it.
    fn put_time(&self, all: f64, near: f64, work: &Work, out: &mut Out) {
        let is_other = |events: f64| (events - all).abs() >= near;
        let is_of_all = !self.events.is_some_and(is_other);
        let time = self.sum.unwrap_or(f64::NAN);
        if is_of_all {
            work.amounts(out, of("(all)"), Done { time, ..UNKNOWN });
        } else {
            let empty = out.word(b"");
            out.other("event time", "s", empty, time);
        }
    }

    /// Puts them as what was done in the present sample, which is so long if that is known.
    pub(super) fn put(&self, work: &Work, length: Option<f64>, out: &mut Out) {
        let nan = f64::NAN;
        let time = self.sum.unwrap_or(nan);
        if let Some(performed) = self.performed {
            let bytes = self.transferred.unwrap_or([nan; 2]);
            for (place, op) in ["read", "write", "other"].into_iter().enumerate() {
                let done = Done {
                    ops: performed[place],
                    bytes: bytes.get(place).copied().unwrap_or(nan),
                    ..UNKNOWN
                };
                work.amounts(out, of(op), done);
            }
            // Of 0.4 and 0.5 reads and writes are events, and have their time; what else was done is none.
            self.put_time(performed.iter().sum(), 0.5, work, out);
            return;
        }
        if self.is_rates() {
            for (place, op) in ["read", "write", "fsync"].into_iter().enumerate() {
                let bytes = self.bytes.get(place).copied().flatten().unwrap_or(nan);
                let done = Done {
                    ops: self.ops[place].unwrap_or(nan),
                    bytes,
                    ..UNKNOWN
                };
                work.rates(out, of(op), done);
            }
            let rate: f64 = self.ops.iter().flatten().sum();
            let all = rate * length.unwrap_or(nan);
            // Rates have two decimals.
            self.put_time(all, (0.01 * all).max(1.0), work, out);
            return;
        }
        let (op, ops) = match (self.transactions, self.memory) {
            (Some(ops), _) => ("transaction", Some(ops)),
            (_, Some(ops)) => (&*self.operation, Some(ops)),
            _ => ("event", self.events),
        };
        let done = Done {
            ops: ops.unwrap_or(nan),
            bytes: self.moved.unwrap_or(nan),
            time,
            errors: self.errors.unwrap_or(nan),
        };
        work.amounts(out, of(op), done);
    }

    /// Lines of 0.4's and 0.5's fileio: `Operations performed:  6000 Read, 4000 Write, 128 Other
    /// = 10128 Total`, `Read 93.75Mb  Written 62.5Mb  Total transferred …`; and
    /// `11761.27 MiB transferred (5878.65 MiB/sec)` of the memory test.
    pub(super) fn moved(&mut self, text: &str) -> Option<()> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if let [
            "Operations",
            "performed:",
            read,
            _,
            write,
            _,
            other,
            _,
            "=",
            ..,
        ] = words[..]
        {
            let count = |text: &str| number(text.as_bytes());
            self.performed = Some([count(read)?, count(write)?, count(other)?]);
            return Some(());
        }
        if let ["Read", read, "Written", written, "Total", "transferred", ..] = words[..] {
            self.transferred = Some([printed_size(read)?, printed_size(written)?]);
            return Some(());
        }
        let [value, "MiB" | "MB", "transferred", ..] = words[..] else {
            return None;
        };
        self.moved = Some(number(value.as_bytes())? * MIB);
        Some(())
    }
}

/// A count and how many there were a second: `2000   (199.98 per sec.)`.
fn counted(text: &str) -> Option<[f64; 2]> {
    let (count, rate) = text.split_once('(')?;
    let rate = number(rate.split_whitespace().next()?.as_bytes())?;
    let count = number(count.trim().as_bytes())?;
    (count > 0.0 && rate > 0.0).then_some([count, rate])
}

/// A size of 0.4 and 0.5: `93.75Mb`, `512b`; steps are of 1,024.
fn printed_size(text: &str) -> Option<f64> {
    let text = text.strip_suffix('b')?;
    let digits = text.trim_end_matches(['K', 'M', 'G', 'T']);
    let step = match &text[digits.len()..] {
        "" => 1.0,
        "K" => 1024.0,
        "M" => MIB,
        "G" => MIB * 1024.0,
        "T" => MIB * MIB,
        _ => return None,
    };
    Some(number(digits.as_bytes())? * step)
}
