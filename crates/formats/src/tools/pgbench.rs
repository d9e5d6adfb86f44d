//! `pgbench`: progress, summary, statements (`-r`), and its log of transactions (`-l`).
//!
//! With progress the intervals are those, and the summary is kept beside them; otherwise it is
//! one. Of several scripts each has its own block below the summary, whose values are kept by
//! script.

mod above;
mod log;
mod progress;

use std::collections::HashMap;

use crate::lines::ends_in_number;
use crate::list::Format;
use crate::number::{decimal, whole};
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Stamp;
use crate::workload::{Done, UNKNOWN, Work};
use crate::{Line, Parser};
use above::Above;
pub(crate) use log::LOG;
use progress::{BROKEN_OFF, First, Report, is_broken_off, progress};

pub(crate) const FORMAT: Format = Format {
    name: "pgbench",
    tool: "pgbench",
    systems: "all that PostgreSQL runs on",
    help: "transactions of pgbench, their time, failures, and the latency of each statement",
    recognised: "`number of transactions actually processed:` or lines `progress: 5.0 s, … tps`",
    yields: &["workload"],
    example: "\
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
number of clients: 4
duration: 10 s
number of transactions actually processed: 12345
number of failed transactions: 0 (0.000%)
latency average = 3.240 ms
initial connection time = 5.678 ms
tps = 1234.567890 (without initial connection time)
",
    recognise,
    parser: || Box::new(Pgbench::new()),
};

fn recognise(head: &Head) -> u8 {
    let progress = head.lines().any(|l| progress(l).is_some());
    let summary = head.any_starts("number of transactions actually processed");
    if progress || summary { 92 } else { 0 }
}

#[derive(Debug, Default)]
struct Summary {
    script: String,
    seconds: Option<f64>,
    transactions: Option<f64>,
    failed: Option<f64>,
    /// Milliseconds.
    mean: Option<f64>,
    /// Without the time to connect, up to version 13 both.
    rate: Option<f64>,
    including: Option<f64>,
    /// The rate leaves out time in which connections were made, with -C of each transaction.
    is_excluding: bool,
    /// Column, unit, instance, value.
    others: Vec<(String, &'static str, String, f64)>,
    /// The script whose block is being read.
    block: String,
    /// Statements so far, by instance: the same one may come again in a script.
    statements: HashMap<String, u32>,
}

impl Summary {
    /// How long the run took, with the time to connect where that is told.
    fn length(&self) -> Option<f64> {
        let plain = self.rate.filter(|_| !self.is_excluding);
        let rate = self.including.or(plain).filter(|rate| *rate > 0.0);
        let exact = self.transactions.zip(rate).map(|(n, rate)| n / rate);
        if self.is_excluding || self.including.is_some() {
            self.seconds.or(exact)
        } else {
            exact.or(self.seconds)
        }
    }
}

/// What stands in a summary up to the transactions that were processed: below them, it is of the next
/// one, of which `tail` or `grep` may have left no more.
const ABOVE: [&str; 9] = [
    "transaction type",
    "scaling factor",
    "query mode",
    "number of clients",
    "number of threads",
    "maximum number of tries",
    "duration",
    "number of transactions per client",
    "number of transactions actually processed",
];

/// What stands between a statement's latency and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// Up to version 14.
    None,
    Failures,
    /// With `--max-tries`.
    FailuresAndRetries,
}

impl Counts {
    /// Of the line above the statements.
    fn of(heading: &str) -> Option<Counts> {
        let text = heading.trim_start_matches("- ").trim_end_matches(':');
        match text.strip_prefix("statement latencies in milliseconds")? {
            "" => Some(Counts::None),
            " and failures" => Some(Counts::Failures),
            ", failures and retries" => Some(Counts::FailuresAndRetries),
            _ => None,
        }
    }

    fn columns(self) -> &'static [&'static str] {
        match self {
            Counts::None => &[],
            Counts::Failures => &["statement.failures"],
            Counts::FailuresAndRetries => &["statement.failures", "statement.retries"],
        }
    }
}

struct Pgbench {
    work: Work,
    summary: Summary,
    /// Time of the report before.
    reported: f64,
    reports: u64,
    /// Where the present run began.
    began: f64,
    /// Its beginning is in the text.
    is_whole: bool,
    first: Option<First>,
    /// A summary whose reports may be those that come.
    above: Option<Above>,
    /// The rows of statements that are being read.
    statements: Option<Counts>,
}

/// Lines of the summary that say how it was run.
const SETTINGS: &[&str] = &[
    "scaling factor",
    "partition method",
    "partitions",
    "query mode",
    "number of clients",
    "number of threads",
    "maximum number of tries",
];

/// Whether a line of that name counts something.
fn is_count(name: &str) -> bool {
    let counted = ["number of transactions ", "total number of "];
    counted.iter().any(|c| name.starts_with(c))
        || matches!(
            name,
            "number of failed transactions"
                | "number of serialization failures"
                | "number of deadlock failures"
        )
}

/// Seconds above are of the clock.
const EPOCH: f64 = 1e9;

impl Pgbench {
    fn new() -> Pgbench {
        Pgbench {
            work: Work::new("pgbench"),
            summary: Summary::default(),
            reported: 0.0,
            reports: 0,
            began: 0.0,
            is_whole: false,
            first: None,
            above: None,
            statements: None,
        }
    }

    /// A line of progress; one that is not understood is the end of an interval, too.
    fn report(&mut self, seconds: f64, report: Option<Report>, out: &mut Out) -> Option<()> {
        let understood = report.as_ref().map(|_| ());
        if self.waits(seconds, report.as_ref(), out) {
            return understood;
        }
        if self.reported > 0.0 && seconds <= self.reported && seconds < EPOCH {
            self.run_is_over(out);
        }
        if self.is_whole || seconds >= EPOCH {
            self.put(seconds, report, out);
        } else if let Some(first) = self.first.take() {
            self.is_whole = true;
            // As long as the next one.
            self.reported = (2.0 * first.seconds - seconds).max(0.0);
            self.put(first.seconds, first.report, out);
            self.put(seconds, report, out);
        } else {
            self.reported = seconds;
            let line = out.line_number();
            self.first = Some(First {
                seconds,
                report,
                line,
            });
        }
        understood
    }

    /// The first report was the only one: what nobody tells of its length is not guessed.
    fn put_first(&mut self, out: &mut Out) {
        let Some(first) = self.first.take() else {
            return;
        };
        match (out.options().every, &first.report) {
            (Some(every), _) => {
                self.reported = (first.seconds - every).max(0.0);
                self.put(first.seconds, first.report, out);
            }
            (None, Some(_)) => out.not_understood(
                first.line,
                "a report that is neither the run's first nor has another behind it: where its \
                 interval began is not told (--every says it)",
            ),
            (None, None) => {}
        }
    }

    fn put(&mut self, seconds: f64, report: Option<Report>, out: &mut Out) {
        let before = std::mem::replace(&mut self.reported, seconds);
        let Some(Report { mut done, others }) = report else {
            return;
        };
        let passed = seconds - before;
        if seconds >= EPOCH {
            out.sample_at(Stamp::epoch(seconds * 1000.0, 1_000_000));
        } else {
            out.sample_at(Stamp::Elapsed(self.began + seconds));
        }
        // The first of those with the clock's time is as long as the next.
        if seconds < EPOCH || before >= EPOCH {
            out.spans(passed);
        }
        self.reports += 1;
        // Failures are counts, not rates: without their time they go beside.
        let failed = done.errors;
        done.errors = if seconds < EPOCH {
            failed / passed
        } else {
            f64::NAN
        };
        self.work.rates(out, [b"", b"transaction", b""], done);
        let empty = out.word(b"");
        for (column, unit, value) in others {
            out.other(column, unit, empty, value);
        }
        if seconds >= EPOCH {
            out.other("failed", "", empty, failed);
        }
    }

    /// A line of the summary.
    fn of_summary(&mut self, text: &str) -> Option<Line> {
        let summary = &mut self.summary;
        let (name, value) = text.split_once(" = ").or_else(|| text.split_once(": "))?;
        let first = value.split_whitespace().next()?;
        let plain = || decimal(first.split('/').next().unwrap_or_default().as_bytes());
        match name {
            "transaction type" => value.clone_into(&mut summary.script),
            "duration" => summary.seconds = Some(plain()?),
            "number of transactions actually processed" => summary.transactions = Some(plain()?),
            "number of failed transactions" => summary.failed = Some(plain()?),
            "latency average" => summary.mean = Some(plain()?),
            // Old ones tell both, first that with the time to connect.
            "tps" if value.contains("(including connections") => {
                let column = "tps.including_connections".to_owned();
                let rate = plain()?;
                summary.including = Some(rate);
                summary.others.push((column, "1/s", String::new(), rate));
            }
            "tps" => {
                summary.is_excluding = value.contains("(excluding connections");
                summary.rate = Some(plain()?);
            }
            "latency stddev" | "initial connection time" | "average connection time" => {
                let column = name.replace(' ', "_");
                summary.others.push((column, "ms", String::new(), plain()?));
            }
            "rate limit schedule lag" => {
                // `avg 0.123 (max 4.567) ms`.
                let words: Vec<&str> = value.split([' ', '(', ')']).collect();
                let ["avg", mean, "", "max", most, "", "ms"] = words[..] else {
                    return None;
                };
                for (column, value) in [("avg", mean), ("max", most)] {
                    let column = format!("rate_limit_schedule_lag.{column}");
                    let value = decimal(value.as_bytes())?;
                    summary.others.push((column, "ms", String::new(), value));
                }
            }
            _ if is_count(name) => {
                let column = name.replace(' ', "_");
                summary.others.push((column, "", String::new(), plain()?));
            }
            _ if SETTINGS.contains(&name) => return Some(Line::Noise),
            _ => return None,
        }
        Some(Line::Data)
    }

    /// `SQL script 1: a.sql`, which begins the script's block.
    fn block(&mut self, text: &str) -> Option<()> {
        let (number, name) = text.strip_prefix("SQL script ")?.split_once(':')?;
        whole(number.as_bytes())?;
        self.summary.block = format!("script {number} {}", name.trim());
        self.statements = None;
        Some(())
    }

    /// A line of a script's block, after its dash: `weight: 1 (targets 50.0% of total)`,
    /// `5000 transactions (50.0% of total, tps = 500.000000)`, `latency average = 7.500 ms`.
    fn of_block(&mut self, text: &str) -> Option<()> {
        let of = &self.summary.block;
        let mut put = |column: &str, unit, value: &str| {
            let value = decimal(value.as_bytes())?;
            let column = format!("script.{}", column.replace(' ', "_"));
            self.summary.others.push((column, unit, of.clone(), value));
            Some(())
        };
        if let Some((count, rest)) = text.split_once(" transactions (") {
            put("transactions", "", count)?;
            // Since version 18 the rate stands at those that were processed.
            return match rest.trim_end_matches(')').split_once("tps = ") {
                Some((_, rate)) => put("tps", "1/s", rate),
                None => Some(()),
            };
        }
        let (name, value) = text.split_once(": ").or_else(|| text.split_once(" = "))?;
        let first = value.split_whitespace().next()?;
        let first = first.split('/').next()?;
        match name {
            "latency average" | "latency stddev" => put(name, "ms", first),
            "weight" => put(name, "", first),
            _ if is_count(name) => {
                put(name, "", first)?;
                match value.trim_end_matches(')').split_once("(tps = ") {
                    Some((_, rate)) => put("tps", "1/s", rate),
                    None => Some(()),
                }
            }
            _ => None,
        }
    }

    /// `0.123  0  2  UPDATE pgbench_accounts …`: milliseconds, of newer versions failures, and
    /// retries where there may be any.
    fn statement(&mut self, counts: Counts, text: &str) -> Option<()> {
        let word = |text: &'_ str| -> Option<(f64, String)> {
            let (value, rest) = text.split_once(char::is_whitespace)?;
            Some((decimal(value.as_bytes())?, rest.trim_start().to_owned()))
        };
        let (time, mut sql) = word(text)?;
        let mut values = vec![("statement.latency", "ms", time)];
        for column in counts.columns() {
            let (count, rest) = word(&sql).filter(|(count, _)| count.fract() == 0.0)?;
            values.push((column, "", count));
            sql = rest;
        }
        let summary = &mut self.summary;
        let mut of = match summary.block.as_str() {
            "" => sql,
            script => format!("{script}: {sql}"),
        };
        let times = summary.statements.entry(of.clone()).or_default();
        *times += 1;
        if *times > 1 {
            of = format!("{of} ({times})");
        }
        for (column, unit, value) in values {
            summary
                .others
                .push((column.to_owned(), unit, of.clone(), value));
        }
        Some(())
    }

    fn run_is_over(&mut self, out: &mut Out) {
        self.above_is_over(out);
        self.put_first(out);
        // What follows in the same text is whole.
        self.is_whole = true;
        let summary = std::mem::take(&mut self.summary);
        let reports = std::mem::take(&mut self.reports);
        let reported = std::mem::take(&mut self.reported);
        self.statements = None;
        let seconds = summary.length();
        if reports == 0 {
            let (Some(ops), Some(seconds)) = (summary.transactions, seconds) else {
                if summary.transactions.is_some() || !summary.others.is_empty() {
                    out.note(
                        "nothing is taken of a run of which pgbench tells no duration, and no rate that \
                         counts all of its time",
                    );
                }
                return;
            };
            out.sample_at(Stamp::Elapsed(self.began + seconds));
            out.spans(seconds);
            let done = Done {
                ops,
                time: summary.mean.unwrap_or(f64::NAN) / 1000.0 * ops,
                errors: summary.failed.unwrap_or(f64::NAN),
                ..UNKNOWN
            };
            let of = [summary.script.as_bytes(), b"transaction", b""];
            self.work.amounts(out, of, done);
        } else if out.has_sample() {
            out.note(
                "intervals are those of pgbench's progress; its totals are in \
                 other.pgbench.transactions, latency_average, tps and \
                 number_of_failed_transactions",
            );
            let empty = out.word(b"");
            for (column, unit, value) in [
                ("transactions", "", summary.transactions),
                ("latency_average", "ms", summary.mean),
                ("tps", "1/s", summary.rate),
                ("number_of_failed_transactions", "", summary.failed),
            ] {
                out.other(column, unit, empty, value.unwrap_or(f64::NAN));
            }
        }
        let relative = if reported < EPOCH { reported } else { 0.0 };
        self.began += seconds.unwrap_or(0.0).max(relative);
        for (column, unit, of, value) in summary.others {
            let of = out.word(of.as_bytes());
            out.other(&column, unit, of, value);
        }
    }
}

impl Parser for Pgbench {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let decimals = if line.starts_with(b"progress") { 3 } else { 6 };
        if ends_in_number(line, decimals, out) {
            return Line::Unknown;
        }
        if let Some((seconds, parts)) = progress(line) {
            let seen = self.report(seconds, Report::of(&parts), out);
            return seen.map_or(Line::Unknown, |()| Line::Data);
        }
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        let text = text.trim();
        let name = text.split_once(':').map_or("", |(name, _)| name);
        if ABOVE.contains(&name) && self.summary.transactions.is_some() {
            self.run_is_over(out);
        }
        if let Some(counts) = Counts::of(text) {
            self.statements = Some(counts);
            return Line::Noise;
        }
        if self.block(text).is_some() {
            return Line::Noise;
        }
        let is_row = text.split_whitespace().next().map(str::as_bytes);
        if let Some(counts) = self.statements
            && is_row.and_then(decimal).is_some()
        {
            let seen = self.statement(counts, text);
            return seen.map_or(Line::Unknown, |()| Line::Data);
        }
        if let Some(of_block) = text.strip_prefix("- ")
            && !self.summary.block.is_empty()
        {
            let seen = self.of_block(of_block);
            return seen.map_or(Line::Unknown, |()| Line::Data);
        }
        if is_broken_off(text) {
            out.lacks(BROKEN_OFF);
            return Line::Noise;
        }
        self.is_whole |= text.starts_with("pgbench") || text.starts_with("starting vacuum");
        let starts = [
            "pgbench",
            "pghost: ",
            "starting vacuum",
            "end.",
            "script statistics:",
        ];
        if text.is_empty() || starts.iter().any(|s| text.starts_with(s)) {
            return Line::Noise;
        }
        self.of_summary(text).unwrap_or(Line::Unknown)
    }

    fn run_ends(&mut self, out: &mut Out) -> bool {
        let begun = self.reports > 0 || self.first.is_some() || self.above.is_some();
        let is_told = self.summary.transactions.is_some() || !begun;
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
