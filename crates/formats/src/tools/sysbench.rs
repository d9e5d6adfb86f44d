//! sysbench: fileio, cpu, memory, threads, mutex, OLTP; of 1.0 and, mostly, 0.4 and 0.5.
//!
//! With intermediate reports these are the intervals; the totals at the end are kept beside
//! them, as printed. Sizes are in MiB, also where old versions print Mb.

use crate::lines::ends_in_number;
use crate::list::Format;
use crate::number::{number, seconds};
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Stamp;
use crate::workload::{Done, UNKNOWN, Work};
use crate::{Line, Parser, fields};

pub(crate) const FORMAT: Format = Format {
    name: "sysbench",
    tool: "sysbench",
    systems: "Linux, BSD, macOS",
    help: "sysbench's events, transactions or I/Os: intermediate reports, totals, histogram",
    recognised: "a line that begins with `sysbench` and a version, or `General statistics:`",
    yields: &["workload", "workload_latency"],
    example: "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Number of threads: 2
Threads started!

[ 1s ] thds: 2 eps: 2532.93 lat (ms,95%): 4.25
[ 2s ] thds: 2 eps: 4610.77 lat (ms,95%): 0.34

General statistics:
    total time:                          2.0020s
    total number of events:              7150

Latency (ms):
         avg:                                    0.52
         sum:                                 3989.23
",
    recognise,
    parser: || Box::new(Sysbench::new()),
};

fn recognise(head: &Head) -> u8 {
    let named = head.lines().any(|l| {
        let mut words = fields(l);
        words.next() == Some(b"sysbench")
            && words
                .next()
                .is_some_and(|v| v.first().is_some_and(u8::is_ascii_digit))
    });
    let summary = head.any_starts("total number of events:");
    if named || summary { 92 } else { 0 }
}

const MIB: f64 = 1_048_576.0;

/// What the totals say.
#[derive(Debug, Default)]
struct Totals {
    seconds: Option<f64>,
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
    operation: String,
    /// Middle of a bucket in seconds, and its count.
    buckets: Vec<(f64, f64)>,
    others: Vec<(String, &'static str, f64)>,
}

impl Totals {
    /// Puts them beside the rows of intermediate reports.
    fn beside(&self, out: &mut Out) {
        let empty = out.word(b"");
        let [reads, writes, syncs] = self.ops;
        let [read, written] = self.bytes.map(|bytes| bytes.map(|b| b / MIB));
        for (column, unit, value) in [
            ("events", "", self.events),
            ("transactions", "", self.transactions),
            ("errors", "", self.errors),
            ("time", "s", self.sum),
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
}

struct Sysbench {
    work: Work,
    totals: Totals,
    /// End of the report before, in seconds since the run began.
    reported: f64,
    reports: u64,
    /// Where this run began.
    began: f64,
    section: String,
}

const OF: [&[u8]; 3] = [b"", b"", b""];

fn of(op: &str) -> [&[u8]; 3] {
    [OF[0], op.as_bytes(), OF[2]]
}

impl Sysbench {
    fn new() -> Sysbench {
        Sysbench {
            work: Work::new("sysbench"),
            totals: Totals::default(),
            reported: 0.0,
            reports: 0,
            began: 0.0,
            section: String::new(),
        }
    }

    /// `[ 10s ] thds: 4 tps: 12.3 qps: … lat (ms,95%): 12.3 err/s: 0.0`, or of 0.5
    /// `[  10s] threads: 4, tps: 12.3, reads: 17.2, …, response time: 12.30ms (95%)`, or of the
    /// memory test `[ 1s ] 5248.45 MiB/sec`.
    fn report(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let (time, rest) = text.strip_prefix('[')?.split_once(']')?;
        let time = number(time.trim().strip_suffix('s')?.trim().as_bytes())?;
        let passed = time - self.reported;
        if passed <= 0.0 {
            return None;
        }
        let rest = rest.replace(',', " ");
        let words: Vec<&str> = rest.split_whitespace().collect();
        let after = |name: &str| {
            let place = words.iter().position(|w| *w == name)?;
            let value = words.get(place + 1)?;
            let (value, unit) = match value.strip_suffix("/s") {
                Some(value) => (value, ""),
                None => (*value, words.get(place + 2).copied().unwrap_or_default()),
            };
            let step = match unit {
                "MiB/s" | "Mb/s" | "MB/s" => MIB,
                _ => 1.0,
            };
            Some(number(value.as_bytes())? * step)
        };
        let bytes = |bytes| Done { bytes, ..UNKNOWN };
        let errors = after("err/s:").or(after("errors:")).unwrap_or(f64::NAN);
        let rows: Vec<(&str, Done)> = if let [rate, "MiB/sec"] = words[..] {
            let rate = number(rate.as_bytes())?;
            vec![(&self.totals.operation, bytes(rate * MIB))]
        } else if let Some(ops) = after("tps:") {
            vec![(
                "transaction",
                Done {
                    ops,
                    errors,
                    ..UNKNOWN
                },
            )]
        } else if let Some(ops) = after("eps:") {
            vec![("event", Done { ops, ..UNKNOWN })]
        } else {
            let ops = after("fsyncs:")?;
            vec![
                ("read", bytes(after("reads:")?)),
                ("write", bytes(after("writes:")?)),
                ("fsync", Done { ops, ..UNKNOWN }),
            ]
        };
        self.reported = time;
        self.reports += 1;
        out.sample_at(Stamp::Elapsed(self.began + time));
        out.spans(passed);
        for (op, done) in rows {
            self.work.rates(out, of(op), done);
        }
        beside(&words, out);
        Some(())
    }

    /// `0.214 |*****   69`.
    fn bucket(&mut self, text: &str) -> Option<()> {
        let (value, rest) = text.split_once('|')?;
        let value = number(value.trim().as_bytes())? / 1000.0;
        let count = number(rest.trim_start_matches('*').trim().as_bytes())?;
        self.totals.buckets.push((value, count));
        Some(())
    }

    /// `name: value`, in the totals.
    fn total(&mut self, name: &str, value: &str) -> Option<()> {
        let first = value.split_whitespace().next()?;
        let plain = || number(first.as_bytes());
        let totals = &mut self.totals;
        match name {
            "total time" => totals.seconds = Some(seconds(first.as_bytes())?),
            "total number of events" => totals.events = Some(plain()?),
            "total time taken by event execution" => {
                totals.sum = Some(number(first.trim_end_matches('s').as_bytes())?);
            }
            "sum" => totals.sum = Some(plain()? / 1000.0),
            "transactions" => totals.transactions = Some(plain()?),
            "ignored errors" => totals.errors = Some(plain()?),
            "reads/s" => totals.ops[0] = Some(plain()?),
            "writes/s" => totals.ops[1] = Some(plain()?),
            "fsyncs/s" => totals.ops[2] = Some(plain()?),
            "read, MiB/s" => totals.bytes[0] = Some(plain()? * MIB),
            "written, MiB/s" => totals.bytes[1] = Some(plain()? * MIB),
            "Total operations" => totals.memory = Some(plain()?),
            "operation" => first.clone_into(&mut totals.operation),
            _ => {
                let (digits, unit) = match first.strip_suffix("ms") {
                    Some(digits) => (digits, "ms"),
                    None if self.section.starts_with("Latency") => (first, "ms"),
                    None => (first, ""),
                };
                let section = self.section.split(['(', ':']).next().unwrap_or_default();
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
                totals.others.push((column, unit, value));
            }
        }
        Some(())
    }

    /// A run is over.
    fn run_is_over(&mut self, out: &mut Out) {
        let totals = std::mem::take(&mut self.totals);
        let reports = std::mem::take(&mut self.reports);
        self.reported = 0.0;
        let Some(seconds) = totals.seconds.filter(|s| *s > 0.0) else {
            return;
        };
        out.sample_at(Stamp::Elapsed(self.began + seconds));
        out.spans(seconds);
        self.began += seconds;
        if reports == 0 {
            self.put(&totals, seconds, out);
        } else {
            out.note(
                "intervals are those of sysbench's reports; what it did after the last one is in \
                 its totals only (other.sysbench.events and those beside it)",
            );
            totals.beside(out);
        }
        // Buckets are 18.42 / 1023 wide in the logarithm; the middle is printed.
        let half = (1e8_f64.ln() / 1023.0 / 2.0).exp();
        let op = if totals.transactions.is_some() {
            "transaction"
        } else {
            "event"
        };
        for (middle, count) in totals.buckets {
            self.work
                .latency(out, of(op), middle / half, middle * half, count);
        }
        let empty = out.word(b"");
        for (column, unit, value) in totals.others {
            out.other(&column, unit, empty, value);
        }
    }

    fn put(&self, totals: &Totals, seconds: f64, out: &mut Out) {
        let nan = f64::NAN;
        let time = totals.sum.unwrap_or(nan);
        if let Some(performed) = totals.performed {
            let bytes = totals.transferred.unwrap_or([nan; 2]);
            for (place, op) in ["read", "write", "other"].into_iter().enumerate() {
                let done = Done {
                    ops: performed[place],
                    bytes: bytes.get(place).copied().unwrap_or(nan),
                    ..UNKNOWN
                };
                self.work.amounts(out, of(op), done);
            }
            self.work
                .amounts(out, of("(all)"), Done { time, ..UNKNOWN });
            return;
        }
        let is_files = totals.ops.iter().any(Option::is_some);
        if is_files {
            for (place, op) in ["read", "write", "fsync"].into_iter().enumerate() {
                let bytes = totals.bytes.get(place).copied().flatten().unwrap_or(nan);
                let done = Done {
                    ops: totals.ops[place].unwrap_or(nan) * seconds,
                    bytes: bytes * seconds,
                    ..UNKNOWN
                };
                self.work.amounts(out, of(op), done);
            }
            self.work
                .amounts(out, of("(all)"), Done { time, ..UNKNOWN });
            return;
        }
        let (op, ops) = match (totals.transactions, totals.memory) {
            (Some(ops), _) => ("transaction", Some(ops)),
            (_, Some(ops)) => (&*totals.operation, Some(ops)),
            _ => ("event", totals.events),
        };
        let done = Done {
            ops: ops.unwrap_or(nan),
            bytes: totals.moved.unwrap_or(nan),
            time,
            errors: totals.errors.unwrap_or(nan),
        };
        self.work.amounts(out, of(op), done);
    }

    /// Lines of 0.4's and 0.5's fileio: `Operations performed:  6000 Read, 4000 Write, 128 Other
    /// = 10128 Total`, `Read 93.75Mb  Written 62.5Mb  Total transferred …`; and
    /// `11761.27 MiB transferred (5878.65 MiB/sec)` of the memory test.
    fn moved(&mut self, text: &str) -> Option<()> {
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
            self.totals.performed = Some([count(read)?, count(write)?, count(other)?]);
            return Some(());
        }
        if let ["Read", read, "Written", written, "Total", "transferred", ..] = words[..] {
            self.totals.transferred = Some([printed_size(read)?, printed_size(written)?]);
            return Some(());
        }
        let [value, "MiB" | "MB", "transferred", ..] = words[..] else {
            return None;
        };
        self.totals.moved = Some(number(value.as_bytes())? * MIB);
        Some(())
    }
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

/// What a report says beside its rates.
fn beside(words: &[&str], out: &mut Out) {
    let empty = out.word(b"");
    for (place, word) in words.iter().enumerate() {
        let Some(value) = words.get(place + 1) else {
            continue;
        };
        let plain = number(value.as_bytes());
        match (*word, plain) {
            ("thds:" | "threads:", Some(value)) => out.other("threads", "", empty, value),
            ("qps:", Some(value)) => out.other("queries", "1/s", empty, value),
            ("reconn/s:" | "reconnects:", Some(value)) => {
                out.other("reconnects", "1/s", empty, value);
            }
            ("(r/w/o:", _) => {
                let parts = value.trim_end_matches(')').split('/');
                for (part, name) in parts.zip(["read", "write", "other"]) {
                    let value = number(part.as_bytes()).unwrap_or(f64::NAN);
                    out.other(&format!("queries.{name}"), "1/s", empty, value);
                }
            }
            // `lat (ms,95%): 12.3`
            (share, Some(value)) if share.ends_with("%):") => {
                let share = share.trim_end_matches("%):");
                out.other(&format!("latency.percentile.{share}"), "ms", empty, value);
            }
            ("time:", _) => {
                let value = seconds(value.as_bytes()).map_or(f64::NAN, |s| s * 1000.0);
                out.other("latency.percentile", "ms", empty, value);
            }
            _ => {}
        }
    }
}

impl Parser for Sysbench {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        let trimmed = text.trim();
        if trimmed.starts_with("sysbench ") {
            self.run_is_over(out);
            return Line::Noise;
        }
        if trimmed.starts_with('[') {
            if ends_in_number(line, 2, out) {
                return Line::Unknown;
            }
            let seen = self.report(trimmed, out);
            return seen.map_or(Line::Unknown, |()| Line::Data);
        }
        if self.bucket(trimmed).is_some() || self.moved(trimmed).is_some() {
            return Line::Data;
        }
        let Some((name, value)) = trimmed.split_once(':') else {
            // Prose about what will be done.
            return Line::Noise;
        };
        if value.trim().is_empty() {
            name.clone_into(&mut self.section);
            return Line::Noise;
        }
        let settings = [
            "Block size",
            "Prime numbers limit",
            "block size",
            "total size",
            "scope",
            "Extra file open flags",
            "Read/Write ratio for combined random IO test",
        ];
        if settings.contains(&name) || name.starts_with("Number of") {
            return Line::Noise;
        }
        // One in a section tells a number.
        let is_total = line.starts_with(b"  ") || line.starts_with(b"\t");
        match self.total(name.trim(), value.trim()) {
            Some(()) => Line::Data,
            None if is_total && value.contains(|c: char| c.is_ascii_digit()) => Line::Unknown,
            None => Line::Noise,
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.run_is_over(out);
    }
}
