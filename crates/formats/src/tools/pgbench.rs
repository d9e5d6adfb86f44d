//! `pgbench`: progress, summary, statements (`-r`), and its log of transactions (`-l`).
//!
//! With progress the intervals are those; otherwise the summary is one.

use run::rows::TableId;

use crate::list::Format;
use crate::number::{decimal, whole};
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Stamp;
use crate::workload::{Done, UNKNOWN, Work};
use crate::{Line, Parser, fields};

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

/// Seconds and what follows of `progress: 5.0 s, 1234.5 tps, lat 0.8 ms stddev 0.1, 0 failed`.
fn progress(line: &[u8]) -> Option<(f64, Vec<Vec<&str>>)> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let mut parts = text.strip_prefix("progress: ")?.split(", ");
    let seconds = decimal(parts.next()?.strip_suffix(" s")?.as_bytes())?;
    Some((seconds, parts.map(|p| p.split(' ').collect()).collect()))
}

#[derive(Debug, Default)]
struct Summary {
    script: String,
    seconds: Option<f64>,
    transactions: Option<f64>,
    failed: Option<f64>,
    /// Seconds.
    mean: Option<f64>,
    /// Of the connections' own time or not: the last told is without it.
    rate: Option<f64>,
    others: Vec<(String, &'static str, String, f64)>,
}

struct Pgbench {
    work: Work,
    summary: Summary,
    /// Time of the report before.
    reported: f64,
    reports: u64,
    /// Where the present run began.
    began: f64,
    in_statements: bool,
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
            in_statements: false,
        }
    }

    fn report(&mut self, seconds: f64, parts: &[Vec<&str>], out: &mut Out) -> Option<()> {
        let value = |text: &&str| decimal(text.as_bytes());
        let mut done = UNKNOWN;
        let mut others = Vec::new();
        for part in parts {
            match &part[..] {
                [tps, "tps"] => done.ops = value(tps)?,
                ["lat", mean, "ms", rest @ ..] => {
                    done.time = value(mean)? / 1000.0;
                    if let ["stddev", stdev] = rest {
                        others.push(("latency.stddev", "ms", value(stdev)?));
                    }
                }
                [failed, "failed"] => done.errors = value(failed)?,
                ["lag", lag, "ms"] => others.push(("lag", "ms", value(lag)?)),
                [skipped, "skipped"] => others.push(("skipped", "", value(skipped)?)),
                [retried, "retried"] => others.push(("retried", "", value(retried)?)),
                [retries, "retries"] => others.push(("retries", "", value(retries)?)),
                _ => return None,
            }
        }
        if self.reports > 0 && seconds <= self.reported && seconds < EPOCH {
            self.run_is_over(out);
        }
        let passed = seconds - self.reported;
        if seconds >= EPOCH {
            out.sample_at(Stamp::epoch(seconds * 1000.0, 1_000_000));
        } else {
            out.sample_at(Stamp::Elapsed(self.began + seconds));
        }
        // The first of those with the clock's time is as long as the next.
        if seconds < EPOCH || self.reported >= EPOCH {
            out.spans(passed);
        }
        self.reported = seconds;
        self.reports += 1;
        done.time *= done.ops;
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
        Some(())
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
            "latency average" => summary.mean = Some(plain()? / 1000.0),
            "tps" => summary.rate = Some(plain()?),
            "latency stddev" | "initial connection time" | "average connection time" => {
                let column = name.replace(' ', "_");
                summary.others.push((column, "ms", String::new(), plain()?));
            }
            _ if name.starts_with("number of transactions ")
                || name.starts_with("total number of") =>
            {
                let column = name.replace(' ', "_");
                summary.others.push((column, "", String::new(), plain()?));
            }
            _ => return Some(Line::Noise),
        }
        Some(Line::Data)
    }

    /// `0.123  0  UPDATE pgbench_accounts …`: milliseconds, of newer versions failures.
    fn statement(&mut self, text: &str) -> Option<()> {
        let (time, rest) = text.split_once(char::is_whitespace)?;
        let time = decimal(time.as_bytes())?;
        let mut sql = rest.trim_start();
        let is_count = |w: &&str| whole(w.as_bytes()).is_some();
        while let Some((count, after)) = sql
            .split_once(char::is_whitespace)
            .filter(|(w, _)| is_count(w))
        {
            let column = "statement.failures".to_owned();
            let value = decimal(count.as_bytes())?;
            sql = after.trim_start();
            self.summary
                .others
                .push((column, "", sql.to_owned(), value));
        }
        let column = "statement.latency".to_owned();
        self.summary
            .others
            .push((column, "ms", sql.to_owned(), time));
        Some(())
    }

    fn run_is_over(&mut self, out: &mut Out) {
        let summary = std::mem::take(&mut self.summary);
        let reports = std::mem::take(&mut self.reports);
        let reported = std::mem::take(&mut self.reported);
        self.in_statements = false;
        let exact = match (summary.transactions, summary.rate) {
            (Some(n), Some(rate)) if rate > 0.0 => Some(n / rate),
            _ => None,
        };
        let seconds = exact.or(summary.seconds);
        if reports == 0 {
            let (Some(ops), Some(seconds)) = (summary.transactions, seconds) else {
                return;
            };
            out.sample_at(Stamp::Elapsed(self.began + seconds));
            out.spans(seconds);
            let done = Done {
                ops,
                time: summary.mean.unwrap_or(f64::NAN) * ops,
                errors: summary.failed.unwrap_or(f64::NAN),
                ..UNKNOWN
            };
            let of = [summary.script.as_bytes(), b"transaction", b""];
            self.work.amounts(out, of, done);
        } else if out.has_sample() {
            out.note(
                "intervals are those of pgbench's progress; its totals are in \
                 other.pgbench.transactions",
            );
            let empty = out.word(b"");
            let transactions = summary.transactions.unwrap_or(f64::NAN);
            out.other("transactions", "", empty, transactions);
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
        if let Some((seconds, parts)) = progress(line) {
            let seen = self.report(seconds, &parts, out);
            return seen.map_or(Line::Unknown, |()| Line::Data);
        }
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        let text = text.trim();
        if text.starts_with("transaction type:") && self.summary.transactions.is_some() {
            self.run_is_over(out);
        }
        if text.starts_with("statement latencies") || text.starts_with("SQL script") {
            self.in_statements = true;
            return Line::Noise;
        }
        if self.in_statements && self.statement(text).is_some() {
            return Line::Data;
        }
        let starts = ["pgbench", "starting vacuum", "scaling factor", "end."];
        if text.is_empty() || starts.iter().any(|s| text.starts_with(s)) || text.starts_with("- ") {
            return Line::Noise;
        }
        self.of_summary(text).unwrap_or(Line::Unknown)
    }

    fn end(&mut self, out: &mut Out) {
        self.run_is_over(out);
    }
}

pub(crate) const LOG: Format = Format {
    name: "pgbench-log",
    tool: "pgbench",
    systems: "all that PostgreSQL runs on",
    help: "pgbench's log of transactions: when each ended and how long it took",
    recognised: "rows of client, transaction, microseconds, script, and a time since 1970",
    yields: &["workload_event"],
    example: "\
0 199 2241 0 1175850568 995598
0 200 2465 0 1175850568 998079
",
    recognise: |head| {
        let mut lines = head.lines().filter(|l| !l.is_empty()).peekable();
        let any = lines.peek().is_some();
        if any && lines.take(20).all(|l| transaction(l).is_some()) {
            80
        } else {
            0
        }
    },
    parser: || Box::new(Log::new()),
};

/// When it ended, in nanoseconds, and microseconds that it took, if it did.
fn transaction(line: &[u8]) -> Option<(i64, Option<u64>)> {
    let all: Vec<&[u8]> = fields(line).collect();
    let [client, number, time, script, seconds, micros, rest @ ..] = &all[..] else {
        return None;
    };
    whole(client).and(whole(number)).and(whole(script))?;
    let micros = whole(micros).filter(|m| *m < 1_000_000)?;
    let seconds = whole(seconds).filter(|s| (1_000_000_000..10_000_000_000).contains(s))?;
    let time = match *time {
        b"skipped" | b"failed" | b"serialization" | b"deadlock" => None,
        time => Some(whole(time)?),
    };
    let at = i64::try_from(seconds * 1_000_000 + micros).ok()?;
    (rest.len() <= 2).then_some((at.checked_mul(1000)?, time))
}

struct Log {
    event: TableId,
}

impl Log {
    fn new() -> Log {
        Log {
            event: TableId::of("workload_event"),
        }
    }
}

impl Parser for Log {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Some((at, time)) = transaction(line) else {
            return Line::Unknown;
        };
        let Some(time) = time else {
            out.note("transactions that pgbench skipped or that failed are not among its events");
            return Line::Noise;
        };
        let words = [&b"pgbench"[..], b"", b"transaction", b""].map(|w| out.word(w));
        let values = [time as f64 / 1e6, f64::NAN, f64::NAN, 1.0];
        out.event(self.event, Stamp::Epoch(at), &words, &values);
        Line::Data
    }
}
