//! filebench: the breakdown by operation, and its summary of I/O. Its mb are MiB.

use crate::list::Format;
use crate::number::{decimal, seconds_decimal};
use crate::out::Out;
use crate::recognise::Head;
use crate::workload::{Done, UNKNOWN, Work};
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "filebench",
    tool: "filebench",
    systems: "Linux, Solaris, illumos, BSD",
    help: "filebench's operations: how many, their bytes and their time, for each flowop",
    recognised: "`IO Summary:` and rows `NAME 5543ops 554ops/s 69.2mb/s 0.1ms/op`",
    yields: &["workload"],
    example: "\
12.345: Running...
22.350: Run took 10 seconds...
22.351: Per-Operation Breakdown
readfile1            5543ops      554ops/s  69.2mb/s      0.1ms/op [0.00ms -  5.51ms]
closefile1           5543ops      554ops/s   0.0mb/s      0.0ms/op [0.00ms -  0.03ms]
22.351: IO Summary: 11086 ops 1108.563 ops/s 554/0 rd/wr  69.2mb/s 0.1ms/op
",
    recognise,
    parser: || Box::new(Filebench::new()),
};

fn recognise(head: &Head) -> u8 {
    let rows = head.contains("ops/s") && head.contains("mb/s");
    if rows && (head.contains("IO Summary:") || head.contains("Per-Operation Breakdown")) {
        91
    } else {
        0
    }
}

struct Filebench {
    work: Work,
    /// Seconds that the run took.
    took: Option<f64>,
    begun: bool,
    /// Rows that wait for the summary, which tells how long it ran and what is no operation, with the
    /// numbers of their lines.
    waiting: Vec<(u64, Row)>,
}

/// The note on a length that is told by nothing else.
const BY_RATE: &str = "how long filebench ran is told by its operations and their rate only, as \
                       precisely as that";

impl Filebench {
    fn new() -> Filebench {
        Filebench {
            work: Work::new("filebench"),
            took: None,
            begun: false,
            waiting: Vec::new(),
        }
    }

    /// Rows that no summary follows.
    fn give_up(&mut self, out: &mut Out) {
        let rows = std::mem::take(&mut self.waiting);
        self.put(rows, None, out);
    }

    /// The rows of a run, and what its summary says of them.
    fn put(&mut self, rows: Vec<(u64, Row)>, summary: Option<&Summary>, out: &mut Out) {
        let told = summary.and_then(|s| s.value("ops"));
        let others = others(&rows, told);
        // Where most took no time that can be told, the mean of the rest would be that of all.
        let total = |short: bool| -> f64 {
            let rows = rows.iter().filter(|(_, r)| !short || r.each == Some(0.0));
            rows.filter_map(|(_, r)| r.counted).sum()
        };
        let untold = 2.0 * total(true) > total(false);
        for ((line, row), is_other) in rows.into_iter().zip(others) {
            if is_other {
                out.note(
                    "what moves nothing (finish, limit, wait) is no operation: filebench's IO Summary \
                     leaves it out",
                );
            } else if self.row(&row, untold, out).is_none() {
                out.not_understood(line, &row.text);
            }
        }
    }

    fn row(&mut self, row: &Row, untold: bool, out: &mut Out) -> Option<()> {
        let each = not_rounded_away(row.each, out).filter(|_| !untold);
        let took = match (self.took, row.counted) {
            (Some(took), _) => took,
            (None, Some(ops)) if row.per_second > 0.0 => {
                out.note(BY_RATE);
                ops / row.per_second
            }
            (None, _) => return None,
        };
        let ops = row.counted.unwrap_or_else(|| {
            out.note("this filebench counts no operations: they are as precise as their rate");
            row.per_second * took
        });
        if !self.begun {
            out.sample();
            out.spans(took);
            self.begun = true;
        }
        let done = Done {
            ops,
            bytes: row.mib * 1_048_576.0 * took,
            time: each.unwrap_or(f64::NAN) * ops,
            ..UNKNOWN
        };
        let name = row.name().as_bytes();
        self.work.amounts(out, [b"", name, b""], done);
        let instance = out.word(name);
        let range = row.text.split_once('[');
        if let Some(range) = range.and_then(|(_, range)| range.strip_suffix(']')) {
            let ends = range
                .split(" - ")
                .map(|e| seconds_decimal(e.trim().as_bytes()));
            for (column, value) in ["latency.min", "latency.max"].iter().zip(ends) {
                out.other(column, "s", instance, value.unwrap_or(f64::NAN));
            }
        }
        if let Some(cpu) = row.cpu {
            out.other("cpu", "us/op", instance, cpu);
        }
        Some(())
    }

    /// What follows `IO Summary:`, kept as it is: it sums the rows up. Without rows it is all
    /// that was told of the work.
    fn summary(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let summary = Summary::of(text)?;
        let told = summary.value("ops").zip(summary.value("ops/s"));
        let told = told.filter(|(_, rate)| *rate > 0.0).map(|(n, r)| n / r);
        let rows = std::mem::take(&mut self.waiting);
        if self.took.is_none() && told.is_some() && rows.iter().any(|(_, r)| r.counted.is_none()) {
            out.note(BY_RATE);
            self.took = told;
        }
        self.put(rows, Some(&summary), out);
        if !self.begun {
            let took = self.took.or(told)?;
            out.sample();
            out.spans(took);
            let ops = summary.value("ops").unwrap_or(f64::NAN);
            let each = not_rounded_away(summary.latency, out).unwrap_or(f64::NAN);
            let rate = summary.value("bandwidth").unwrap_or(f64::NAN);
            let done = Done {
                ops,
                bytes: rate * 1_048_576.0 * took,
                time: each * ops,
                ..UNKNOWN
            };
            self.work.amounts(out, [b"", b"(all)", b""], done);
        }
        let empty = out.word(b"");
        for (column, unit, value) in &summary.values {
            out.other(&format!("io_summary.{column}"), unit, empty, *value);
        }
        Some(())
    }
}

/// `readfile1  5543ops  554ops/s  69.2mb/s  0.1ms/op [0.00ms - 5.51ms]`; before 1.4.9 without the first
/// number.
#[derive(Debug)]
struct Row {
    text: String,
    counted: Option<f64>,
    per_second: f64,
    mib: f64,
    /// Seconds an operation.
    each: Option<f64>,
    /// Microseconds of a processor an operation.
    cpu: Option<f64>,
}

impl Row {
    fn of(text: &str) -> Option<Row> {
        let mut words = text.split_whitespace();
        let _name = words.next()?;
        let rest: Vec<&str> = words.collect();
        let counted = match rest.first()?.strip_suffix("ops") {
            Some(ops) => Some(decimal(ops.as_bytes())?),
            None => None,
        };
        let with = |unit: &str| {
            rest.iter()
                .find_map(|w| decimal(w.strip_suffix(unit)?.as_bytes()))
        };
        let each = rest
            .iter()
            .find_map(|w| seconds_decimal(w.strip_suffix("/op")?.as_bytes()));
        Some(Row {
            text: text.to_owned(),
            counted,
            per_second: with("ops/s")?,
            mib: with("mb/s")?,
            each,
            cpu: with("us/op-cpu"),
        })
    }

    fn name(&self) -> &str {
        self.text.split_whitespace().next().unwrap_or_default()
    }

    /// Whether it is named as filebench's personalities name what waits, limits or ends a run, and no I/O.
    fn is_named_so(&self) -> bool {
        let name = self.name().to_ascii_lowercase();
        let parts = [
            "finish", "limit", "wait", "block", "sem", "hog", "delay", "think", "post", "event",
        ];
        parts.iter().any(|part| name.contains(part))
    }
}

/// More rows that move nothing are not tried in all ways.
const MOST_TRIED: usize = 12;

/// Which of the rows are no operations: without those that move nothing, and best without such as are
/// named so, their sum is the `told` one.
fn others(rows: &[(u64, Row)], told: Option<f64>) -> Vec<bool> {
    let none = vec![false; rows.len()];
    let counts: Option<Vec<f64>> = rows.iter().map(|(_, r)| r.counted).collect();
    let (Some(counts), Some(told)) = (counts, told) else {
        return none;
    };
    let more = counts.iter().sum::<f64>() - told;
    let still = |i: &usize| rows[*i].1.mib == 0.0 && counts[*i] > 0.0;
    let still: Vec<usize> = (0..rows.len()).filter(still).collect();
    if more < 0.5 || still.len() > MOST_TRIED {
        return none;
    }
    let chosen = |set: u32| {
        still
            .iter()
            .enumerate()
            .filter(move |(n, _)| set >> n & 1 > 0)
    };
    let fits = |set: &u32| {
        let sum: f64 = chosen(*set).map(|(_, i)| counts[*i]).sum();
        (sum - more).abs() < 0.5
    };
    let named = |set: &u32| {
        chosen(*set)
            .filter(|(_, i)| rows[**i].1.is_named_so())
            .count()
    };
    let fitting = (1..1_u32 << still.len()).filter(fits);
    let Some(best) = fitting.max_by_key(|set| (named(set), std::cmp::Reverse(set.count_ones())))
    else {
        return none;
    };
    let mut others = none;
    chosen(best).for_each(|(_, i)| others[*i] = true);
    others
}

/// The time of an operation, unless it is printed as `0.0ms`: then it is less than half of a tenth.
fn not_rounded_away(each: Option<f64>, out: &mut Out) -> Option<f64> {
    if each == Some(0.0) {
        out.note("operations of 0.0 ms took less than 0.05 ms: how long is not known");
    }
    each.filter(|each| *each > 0.0)
}

/// What the summary of I/O says.
#[derive(Debug, Default)]
struct Summary {
    /// Column, unit, value.
    values: Vec<(&'static str, &'static str, f64)>,
    /// Seconds an operation.
    latency: Option<f64>,
}

impl Summary {
    /// `2047 ops, 204.7 ops/s, (102/0 r/w), 13.4mb/s, 45us cpu/op, 1.2ms latency`, or
    /// `11086 ops 1108.563 ops/s 554/0 rd/wr 69.2mb/s 0.1ms/op`; `None` if anything in it is not
    /// known.
    fn of(text: &str) -> Option<Summary> {
        let mut summary = Summary::default();
        let mut words = text
            .split([' ', '\t', ',', '(', ')'])
            .filter(|w| !w.is_empty());
        let value = |text: &str| decimal(text.as_bytes());
        while let Some(word) = words.next() {
            if let Some(rate) = word.strip_suffix("mb/s") {
                summary.values.push(("bandwidth", "MiB/s", value(rate)?));
                continue;
            }
            if let Some(each) = word.strip_suffix("/op") {
                summary.takes(each)?;
                continue;
            }
            match words.next()? {
                "ops" => summary.values.push(("ops", "", value(word)?)),
                "ops/s" => summary.values.push(("ops/s", "1/s", value(word)?)),
                "r/w" | "rd/wr" => {
                    let (reads, writes) = word.split_once('/')?;
                    summary.values.push(("reads", "1/s", value(reads)?));
                    summary.values.push(("writes", "1/s", value(writes)?));
                }
                "cpu/op" => {
                    let each = value(word.strip_suffix("us")?)?;
                    summary.values.push(("cpu", "us/op", each));
                }
                "latency" => summary.takes(word)?,
                _ => return None,
            }
        }
        Some(summary)
    }

    /// How long an operation takes: `1.2ms`.
    fn takes(&mut self, text: &str) -> Option<()> {
        let each = decimal(text.strip_suffix("ms")?.as_bytes())?;
        self.latency = Some(each / 1000.0);
        self.values.push(("latency", "ms", each));
        Some(())
    }

    fn value(&self, column: &str) -> Option<f64> {
        let found = self.values.iter().find(|(name, _, _)| *name == column);
        found.map(|(_, _, value)| *value)
    }
}

impl Parser for Filebench {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        let text = text.trim();
        // Of a quoted mail: the mark would be the name of all.
        if text.starts_with(['>', '|']) {
            return Line::Unknown;
        }
        if let Some((_, took)) = text.split_once("Run took ") {
            let first = took.split_whitespace().next().unwrap_or_default();
            self.give_up(out);
            self.took = decimal(first.as_bytes()).filter(|s| *s > 0.0);
            self.begun = false;
            return Line::Noise;
        }
        if let Some((_, summary)) = text.split_once("IO Summary:") {
            let seen = self.summary(summary, out);
            self.give_up(out);
            (self.took, self.begun) = (None, false);
            return seen.map_or(Line::Unknown, |()| Line::Data);
        }
        if let Some(row) = Row::of(text) {
            self.waiting.push((out.line_number(), row));
            return Line::Data;
        }
        // Its log: `12.345: Running...`, of old ones `1234: 5.678: Running...`.
        let stamp = text.split(':').next().unwrap_or_default();
        let logged = decimal(stamp.as_bytes()).is_some();
        let known = text.is_empty()
            || logged
            || ["Filebench", "FileBench", "filebench"]
                .iter()
                .any(|name| text.starts_with(name));
        if known { Line::Noise } else { Line::Unknown }
    }

    fn run_ends(&mut self, _out: &mut Out) -> bool {
        !self.begun && self.took.is_none() && self.waiting.is_empty()
    }

    fn end(&mut self, out: &mut Out) {
        self.give_up(out);
    }
}
