//! sysbench: fileio, cpu, memory, threads, mutex, OLTP; of 1.0 and, mostly, 0.4 and 0.5.
//!
//! With intermediate reports these are the intervals; the totals at the end are kept beside
//! them, as printed. Sizes are in MiB, also where old versions print Mb.

mod row;
mod totals;

use crate::lines::ends_in_number;
use crate::list::Format;
use crate::number::{decimal, number, seconds_decimal};
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Stamp;
use crate::workload::{Done, UNKNOWN, Work};
use crate::{Line, Parser, fields};
use row::{CUT, plain, without_cut};
use totals::Totals;

pub(crate) const FORMAT: Format = Format {
    name: "sysbench",
    tool: "sysbench",
    systems: "Linux, BSD, macOS",
    help: "sysbench's events, transactions or I/Os: intermediate reports, totals, histogram",
    recognised: "a line that begins with `sysbench` and a version, `General statistics:`, or \
                 reports as `[ 10s ] thds: 4 tps: …`",
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
    if named || summary || head.lines().any(is_report) {
        92
    } else {
        0
    }
}

/// `[ 93s ] thds: 56 tps: 43.01 …`: what `grep` or `tail` leaves of a run.
fn is_report(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    report_of(text.trim()).is_some_and(|(_, rest)| rates(&plain(rest), "").is_some())
}

/// When a report came, in seconds since the run began, and what it says.
fn report_of(text: &str) -> Option<(f64, &str)> {
    let (time, rest) = text.strip_prefix('[')?.split_once(']')?;
    let time = time.trim().strip_suffix('s')?.trim();
    Some((number(time.as_bytes())?, rest))
}

/// Said of totals below reports.
const BESIDE: &str = "intervals are those of sysbench's reports; what it did after the last one is in its totals \
                      only (other.sysbench.events and those beside it)";

/// The same where those tell how much that was.
const REST: &str =
    "intervals are those of sysbench's reports, and what its totals have beyond them up to the end";

/// A shorter time at the end, as a share of a report's, is none: reports come some milliseconds late, and what
/// that makes of their rates would be all of it.
const SHORTEST: f64 = 0.05;

/// Reports may count as much more than the totals as this share of them, as they are rounded.
const ROUNDED: f64 = 1e-3;

const MIB: f64 = 1_048_576.0;

struct Sysbench {
    work: Work,
    totals: Totals,
    /// End of the report before, in seconds since the run began.
    reported: f64,
    reports: u64,
    /// Events or transactions that they tell of; NaN where one tells nothing of that.
    counted: f64,
    /// Where this run began, and after how much of it the totals that come.
    began: f64,
    part_began: f64,
    /// Totals are printed while it runs, too.
    has_checkpoints: bool,
    /// The run's beginning is in the text.
    is_whole: bool,
    first: Option<First>,
}

/// A report at the top of a text, where nothing says that the run began there: of what `tail` left,
/// the first interval did not begin at zero. It waits for the next one.
struct First {
    time: f64,
    text: String,
    line: u64,
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
            counted: 0.0,
            began: 0.0,
            part_began: 0.0,
            has_checkpoints: false,
            is_whole: false,
            first: None,
        }
    }

    /// `[ 10s ] …`. One that is not understood is the end of an interval, too.
    fn report(&mut self, text: &str, out: &mut Out) -> Option<Line> {
        let (time, rest) = report_of(text)?;
        let is_checkpoint = rest.trim() == "Checkpoint report:";
        self.has_checkpoints |= is_checkpoint;
        // Of what `tail` left the first checkpoint's line may be lost.
        let may_go_on = |seconds: f64| !self.is_whole && time > seconds;
        match self.totals.seconds {
            Some(seconds) if self.has_checkpoints || may_go_on(seconds) => self.part_is_over(out),
            Some(_) => self.run_is_over(out),
            None => {}
        }
        if is_checkpoint {
            return Some(Line::Noise);
        }
        let rest = plain(rest);
        let words: Vec<&str> = rest.split_whitespace().collect();
        // The second line of a report, with --rate.
        if let ["queue", "length:", queue, "concurrency:", threads] = words[..] {
            let values = [
                ("queue_length", number(queue.as_bytes())?),
                ("concurrency", number(threads.as_bytes())?),
            ];
            // Where the report itself still waits, nothing is beside it.
            if !out.has_sample() {
                return Some(Line::Noise);
            }
            let empty = out.word(b"");
            for (column, value) in values {
                out.other(column, "", empty, value);
            }
            return Some(Line::Data);
        }
        if self.reported > 0.0 && time <= self.reported {
            self.run_is_over(out);
        }
        let (rest, is_cut) = without_cut(&rest);
        let understood = rates(rest, &self.totals.operation).map(|_| Line::Data);
        if is_cut && understood.is_some() {
            out.lacks(CUT);
        }
        if self.is_whole {
            self.put(time, rest, out);
        } else if let Some(first) = self.first.take() {
            self.is_whole = true;
            self.counted = f64::NAN;
            // As long as the next one.
            self.reported = (2.0 * first.time - time).max(0.0);
            self.put(first.time, &first.text, out);
            self.put(time, rest, out);
        } else {
            self.reported = time;
            self.first = Some(First {
                time,
                text: rest.to_owned(),
                line: out.line_number(),
            });
        }
        understood
    }

    /// The first report was the only one: what nobody tells of its length is not guessed.
    fn put_first(&mut self, out: &mut Out) {
        let Some(first) = self.first.take() else {
            return;
        };
        if let Some(every) = out.options().every {
            self.reported = (first.time - every).max(0.0);
            self.put(first.time, &first.text, out);
        } else if rates(&first.text, &self.totals.operation).is_some() {
            out.not_understood(
                first.line,
                "a report that is neither the run's first nor has another behind it: where its \
                 interval began is not told (--every says it)",
            );
        }
    }

    fn put(&mut self, time: f64, text: &str, out: &mut Out) {
        let before = std::mem::replace(&mut self.reported, time);
        let Some(rows) = rates(text, &self.totals.operation) else {
            self.counted = f64::NAN;
            return;
        };
        self.reports += 1;
        self.counted += match rows[..] {
            [("event" | "transaction", done)] => done.ops * (time - before),
            _ => f64::NAN,
        };
        out.sample_at(Stamp::Elapsed(self.began + time));
        out.spans(time - before);
        for (op, done) in rows {
            self.work.rates(out, of(op), done);
        }
        beside(text, out);
    }

    /// Totals are over; a run has several where they were printed at checkpoints.
    fn part_is_over(&mut self, out: &mut Out) {
        let totals = std::mem::take(&mut self.totals);
        // What the parts have in common.
        totals.operation.clone_into(&mut self.totals.operation);
        let Some(length) = totals.length(self.part_began) else {
            if totals.is_rates() && self.reports == 0 {
                // 1.1 does not tell how long fileio ran.
                out.sample();
                totals.put(&self.work, None, out);
                totals.put_others(&self.work, out);
            } else if totals.is_rates() && self.reported > self.part_began {
                // Up to the last report at least.
                out.sample_at(Stamp::Elapsed(self.began + self.reported));
                out.spans(self.reported - self.part_began);
                self.part_began = self.reported;
                out.note(BESIDE);
                totals.beside(out);
                totals.put_others(&self.work, out);
            }
            return;
        };
        let has_rest = self.reports > 0 && self.put_rest(&totals, length, out);
        self.part_began += length;
        out.sample_beside(Stamp::Elapsed(self.began + self.part_began));
        out.spans(length);
        if self.reports == 0 {
            totals.put(&self.work, Some(length), out);
        } else {
            out.note(if has_rest { REST } else { BESIDE });
            totals.beside(out);
        }
        totals.put_others(&self.work, out);
    }

    /// What was done after the last report of a run without checkpoints; whether the totals tell.
    fn put_rest(&self, totals: &Totals, length: f64, out: &mut Out) -> bool {
        let Some((op, count)) = totals.count() else {
            return false;
        };
        let (rest, seconds) = (count - self.counted, length - self.reported);
        // A report of which nothing is known has made it no number.
        let is_known = self.part_began == 0.0 && rest >= -ROUNDED * count - 1.0;
        if !is_known || seconds < SHORTEST * self.reported / self.reports as f64 {
            return false;
        }
        out.sample_at(Stamp::Elapsed(self.began + length));
        out.spans(seconds);
        let ops = rest.max(0.0);
        self.work.amounts(out, of(op), Done { ops, ..UNKNOWN });
        true
    }

    fn run_is_over(&mut self, out: &mut Out) {
        self.put_first(out);
        self.part_is_over(out);
        self.totals = Totals::default();
        let reported = std::mem::take(&mut self.reported);
        let told = std::mem::take(&mut self.part_began);
        self.began += if told > 0.0 { told } else { reported };
        (self.reports, self.counted) = (0, 0.0);
        self.has_checkpoints = false;
        // What follows in the same text is whole.
        self.is_whole = true;
    }
}

/// What a report of [`plain`] words says of the interval, by operation: `thds: 4 tps: 12.3 qps: … lat (ms,95%): 12.3
/// err/s: 0.0`, or of 0.5 `threads: 4, tps: 12.3, reads: 17.2, …, response time: 12.30ms (95%)`, or
/// of the memory test `5248.45 MiB/sec`.
fn rates<'a>(text: &str, operation: &'a str) -> Option<Vec<(&'a str, Done)>> {
    let words: Vec<&str> = text.split_whitespace().collect();
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
        Some(decimal(value.as_bytes())? * step)
    };
    let bytes = |bytes| Done { bytes, ..UNKNOWN };
    // What scripts and other programs print as it does may have no colon there.
    let errors = ["err/s:", "err/s", "errors:"].into_iter().find_map(after);
    let errors = errors.unwrap_or(f64::NAN);
    Some(if let [rate, "MiB/sec"] = words[..] {
        let rate = decimal(rate.as_bytes())?;
        vec![(operation, bytes(rate * MIB))]
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
    })
}

/// What a report says beside its rates.
fn beside(text: &str, out: &mut Out) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let empty = out.word(b"");
    let of_queries = words.contains(&"tps:");
    for (place, word) in words.iter().enumerate() {
        let Some(value) = words.get(place + 1) else {
            continue;
        };
        let plain = decimal(value.as_bytes());
        match (*word, plain) {
            ("thds:" | "threads:", Some(value)) => out.other("threads", "", empty, value),
            ("qps:", Some(value)) => out.other("queries", "1/s", empty, value),
            ("reconn/s:" | "reconnects:", Some(value)) => {
                out.other("reconnects", "1/s", empty, value);
            }
            ("(r/w/o:", _) => {
                let parts = value.trim_end_matches(')').split('/');
                for (part, name) in parts.zip(["read", "write", "other"]) {
                    let value = decimal(part.as_bytes()).unwrap_or(f64::NAN);
                    out.other(&format!("queries.{name}"), "1/s", empty, value);
                }
            }
            // 0.5, whose reports tell queries so; files' are `MiB/s`, and no `tps:` is beside them.
            ("reads:" | "reads/s:" | "writes:" | "writes/s:", Some(value)) if of_queries => {
                let (name, _) = word.split_once('s').unwrap_or_default();
                out.other(&format!("queries.{name}"), "1/s", empty, value);
            }
            // `lat (ms,95%): 12.3`
            (share, Some(value)) if share.ends_with("%):") => {
                let share = share.trim_end_matches("%):");
                out.other(&format!("latency.percentile.{share}"), "ms", empty, value);
            }
            ("time:", _) => {
                let value = seconds_decimal(value.as_bytes()).map_or(f64::NAN, |s| s * 1000.0);
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
        if trimmed.starts_with("sysbench ") || trimmed.starts_with("Running the test ") {
            self.run_is_over(out);
            return Line::Noise;
        }
        if trimmed.starts_with('[') {
            if ends_in_number(line, 2, out) {
                return Line::Unknown;
            }
            return self.report(trimmed, out).unwrap_or(Line::Unknown);
        }
        // It failed, or of a report that was wrapped that is the rest.
        let has_failed = trimmed.starts_with("FATAL: ");
        if has_failed || trimmed.contains("err/s: ") || trimmed.contains("reconn/s: ") {
            return Line::Unknown;
        }
        let begins = ["Number of threads", "Threads started!"];
        self.is_whole |= begins.iter().any(|b| trimmed.starts_with(b));
        if self.totals.bucket(trimmed).is_some() || self.totals.moved(trimmed).is_some() {
            return Line::Data;
        }
        let Some((name, value)) = trimmed.split_once(':') else {
            // Prose about what will be done.
            return Line::Noise;
        };
        if value.trim().is_empty() {
            if self.totals.comes_again(name) {
                if self.has_checkpoints {
                    self.part_is_over(out);
                } else {
                    self.run_is_over(out);
                }
            }
            self.totals.section(name);
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
        if self.totals.is_of_next(name.trim()) {
            self.run_is_over(out);
        }
        match self.totals.total(name.trim(), value.trim()) {
            Some(()) => Line::Data,
            None if is_total && value.contains(|c: char| c.is_ascii_digit()) => Line::Unknown,
            None => Line::Noise,
        }
    }

    fn run_ends(&mut self, out: &mut Out) -> bool {
        let begun = self.reports > 0 || self.first.is_some();
        let is_told = self.totals.seconds.is_some() || !begun;
        if is_told {
            self.run_is_over(out);
            self.began = 0.0;
        }
        is_told
    }

    fn end(&mut self, out: &mut Out) {
        self.run_is_over(out);
    }
}
