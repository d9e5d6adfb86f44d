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
    /// Rows that wait for the summary to tell how long it ran, with their numbers.
    waiting: Vec<(u64, String)>,
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

    /// A row that tells neither how many operations there were nor, without `Run took`, how long they
    /// took: of old versions the summary does.
    fn has_to_wait(&self, text: &str) -> bool {
        let words: Vec<&str> = text.split_whitespace().collect();
        let has = |unit: &str| {
            let mut units = words.iter().filter_map(|w| w.strip_suffix(unit));
            units.any(|n| decimal(n.as_bytes()).is_some())
        };
        self.took.is_none() && words.len() > 2 && has("ops/s") && has("mb/s") && !has("ops")
    }

    /// Rows that no summary follows.
    fn give_up(&mut self, out: &mut Out) {
        for (line, text) in self.waiting.drain(..) {
            out.not_understood(line, &text);
        }
    }

    /// `readfile1  5543ops  554ops/s  69.2mb/s  0.1ms/op [0.00ms - 5.51ms]`; before 1.4.9
    /// without the first number.
    fn row(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [name, rest @ ..] = &words[..] else {
            return None;
        };
        let counted = match rest.first()?.strip_suffix("ops") {
            Some(ops) => Some(decimal(ops.as_bytes())?),
            None => None,
        };
        let with = |unit: &str| {
            rest.iter()
                .find_map(|w| decimal(w.strip_suffix(unit)?.as_bytes()))
        };
        let per_second = with("ops/s")?;
        let mib = with("mb/s")?;
        let each = rest
            .iter()
            .find_map(|w| seconds_decimal(w.strip_suffix("/op")?.as_bytes()));
        let each = not_rounded_away(each, out);
        let took = match (self.took, counted) {
            (Some(took), _) => took,
            (None, Some(ops)) if per_second > 0.0 => {
                out.note(BY_RATE);
                ops / per_second
            }
            (None, _) => return None,
        };
        let ops = counted.unwrap_or_else(|| {
            out.note("this filebench counts no operations: they are as precise as their rate");
            per_second * took
        });
        if !self.begun {
            out.sample();
            out.spans(took);
            self.begun = true;
        }
        let done = Done {
            ops,
            bytes: mib * 1_048_576.0 * took,
            time: each.unwrap_or(f64::NAN) * ops,
            ..UNKNOWN
        };
        self.work.amounts(out, [b"", name.as_bytes(), b""], done);
        let instance = out.word(name.as_bytes());
        if let Some((_, range)) = text.split_once('[') {
            let ends = range
                .trim_end_matches(']')
                .split(" - ")
                .map(|e| seconds_decimal(e.trim().as_bytes()));
            for (column, value) in ["latency.min", "latency.max"].iter().zip(ends) {
                out.other(column, "s", instance, value.unwrap_or(f64::NAN));
            }
        }
        if let Some(cpu) = rest
            .iter()
            .find_map(|w| decimal(w.strip_suffix("us/op-cpu")?.as_bytes()))
        {
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
        if told.is_some() && !self.waiting.is_empty() {
            out.note(BY_RATE);
            self.took = told;
            for (line, text) in std::mem::take(&mut self.waiting) {
                if self.row(&text, out).is_none() {
                    out.not_understood(line, &text);
                }
            }
        }
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
        if self.has_to_wait(text) {
            self.waiting.push((out.line_number(), text.to_owned()));
            return Line::Data;
        }
        if self.row(text, out).is_some() {
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
