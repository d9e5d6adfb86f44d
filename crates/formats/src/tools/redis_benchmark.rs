//! `redis-benchmark`: text of Redis 6.2 and newer with its distribution, of older ones, `-q`
//! and `--csv`.

use std::collections::BTreeMap;

use crate::list::Format;
use crate::number::{decimal, number};
use crate::out::Out;
use crate::recognise::Head;
use crate::workload::{Done, UNKNOWN, Work, instance, trimmed};
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "redis-benchmark",
    tool: "redis-benchmark",
    systems: "all that Redis runs on",
    help: "requests of each test of redis-benchmark, their time and its distribution",
    recognised: "`====== SET ======` and `requests completed in`, `requests per second`, or CSV",
    yields: &["workload", "workload_latency"],
    example: "\
====== SET ======
  20000 requests completed in 0.41 seconds
  50 parallel clients
  3 bytes payload
  keep alive: 1

Latency by percentile distribution:
0.000% <= 0.095 milliseconds (cumulative count 27)
100.000% <= 7.231 milliseconds (cumulative count 20000)

Summary:
  throughput summary: 48309.18 requests per second
  latency summary (msec):
          avg       min       p50       p95       p99       max
        0.671     0.088     0.383     3.343     4.503     7.231
",
    recognise,
    parser: || Box::new(Redis::new()),
};

const CSV: &str = "\"test\",\"rps\"";

fn recognise(head: &Head) -> u8 {
    let text = head.contains("requests completed in") && head.contains("parallel clients");
    let quiet = head.contains(" requests per second") && head.contains(": ");
    // Before 6.2 without a header: `"SET","97087.38"`.
    let old = |line: &[u8]| {
        let tests: [&[u8]; 4] = [b"PING_INLINE", b"PING_BULK", b"SET", b"GET"];
        let fields: Vec<&[u8]> = line.trim_ascii().split(|b| *b == b'"').collect();
        matches!(fields[..], [b"", name, b",", rate, b""]
            if tests.contains(&name) && number(rate).is_some())
    };
    match (text || head.any_starts(CSV) || head.lines().any(old), quiet) {
        (true, _) => 92,
        (_, true) => 70,
        _ => 0,
    }
}

#[derive(Debug, Default)]
struct Test {
    name: String,
    /// Requests and seconds.
    done: Option<(f64, f64)>,
    /// Per second.
    rate: Option<f64>,
    mean: Option<f64>,
    /// The least, in seconds.
    least: Option<f64>,
    /// How many took up to so many microseconds.
    counts: BTreeMap<u64, f64>,
    others: Vec<(String, &'static str, f64)>,
}

struct Redis {
    work: Work,
    test: Option<Test>,
    /// Names of the columns that come, of the summary or of CSV.
    columns: Vec<String>,
}

impl Redis {
    fn new() -> Redis {
        Redis {
            work: Work::new("redis-benchmark"),
            test: None,
            columns: Vec::new(),
        }
    }

    fn test_is_over(&mut self, out: &mut Out) {
        let Some(test) = self.test.take() else { return };
        let of = [test.name.as_bytes(), b"request", b""];
        if test.done.is_none() && test.rate.is_none() {
            return;
        }
        out.sample();
        let mean = test.mean.unwrap_or(f64::NAN);
        match (test.done, test.rate) {
            (Some((ops, seconds)), rate) => {
                // The rate has more digits than the time.
                let exact = rate.filter(|r| *r > 0.0).map(|r| ops / r);
                out.spans(exact.unwrap_or(seconds));
                let time = mean * ops;
                self.work.amounts(
                    out,
                    of,
                    Done {
                        ops,
                        time,
                        ..UNKNOWN
                    },
                );
            }
            (None, Some(ops)) => {
                let time = mean * ops;
                self.work.rates(
                    out,
                    of,
                    Done {
                        ops,
                        time,
                        ..UNKNOWN
                    },
                );
            }
            (None, None) => {}
        }
        let (mut from, mut counted) = (test.least, 0.0);
        for (upto, count) in test.counts {
            let upto = upto as f64 / 1e6;
            if count > counted {
                self.work
                    .latency(out, of, from.unwrap_or(upto), upto, count - counted);
                counted = count;
            }
            from = Some(upto);
        }
        let instance = instance(out, [of[0], b"", b""]);
        for (column, unit, value) in test.others {
            out.other(&column, unit, instance, value);
        }
    }

    /// `"SET","48192.77","0.671",…`: a test a row.
    fn csv(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let fields = text.split("\",\"").map(|f| f.trim_matches('"'));
        let fields: Vec<&str> = fields.collect();
        let [name, rate, rest @ ..] = &fields[..] else {
            return None;
        };
        let mut test = Test {
            name: (*name).to_owned(),
            rate: Some(number(rate.as_bytes())?),
            ..Test::default()
        };
        if !rest.is_empty() && self.columns.len() != fields.len() {
            return None;
        }
        for (value, column) in rest.iter().zip(self.columns.iter().skip(2)) {
            let value = decimal(value.as_bytes())?;
            let column = column.strip_suffix("_latency_ms").unwrap_or(column);
            if column == "avg" {
                test.mean = Some(value / 1000.0);
            }
            test.others.push((format!("latency.{column}"), "ms", value));
        }
        self.test_is_over(out);
        self.test = Some(test);
        Some(())
    }

    /// `50.000% <= 0.383 milliseconds (cumulative count 10083)`, or an old one without count.
    fn share(&mut self, text: &str) -> Option<()> {
        let (share, rest) = text.split_once("% <= ")?;
        let test = self.test.as_mut()?;
        let share_value = number(share.as_bytes())?;
        let upto = rest.split_whitespace().next()?;
        let milliseconds = decimal(upto.as_bytes())?;
        if let Some((_, count)) = rest.split_once("(cumulative count ") {
            let count = number(count.trim_end_matches(')').as_bytes())?;
            let upto = (milliseconds * 1000.0).round() as u64;
            let known = test.counts.entry(upto).or_insert(count);
            *known = known.max(count);
        } else {
            // Old versions print whole milliseconds, so that several shares are up to the same:
            // the last counts.
            let column = format!("latency.up_to_{}ms", trimmed(upto));
            test.others.retain(|(name, ..)| *name != column);
            test.others.push((column, "%", share_value));
        }
        Some(())
    }

    /// `SET: 47619.05 requests per second, p50=0.311 msec`, after progress on the same line.
    fn quiet(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let (before, after) = text.split_once(" requests per second")?;
        let mut words = before.rsplitn(2, ": ");
        let rate = number(words.next()?.trim().as_bytes())?;
        let name = words.next()?;
        // Progress that a terminal wrote over: `SET: rps=… (overall: 0.4)SET: 47619.05 requests`.
        // Names of tests have brackets, too: `MSET (10 keys)`.
        let name = match name.rsplit_once("(overall: ") {
            Some((_, rest)) => rest.split_once(')')?.1,
            None => name,
        };
        let name = name.trim();
        self.test_is_over(out);
        let mut test = Test {
            name: name.to_owned(),
            rate: Some(rate),
            ..Test::default()
        };
        if let Some((_, p50)) = after.split_once("p50=") {
            let value = p50.trim().strip_suffix(" msec")?;
            let value = decimal(value.as_bytes())?;
            test.others.push(("latency.p50".into(), "ms", value));
        }
        self.test = Some(test);
        Some(())
    }

    fn of_test(&mut self, text: &str) -> Option<Line> {
        let columns = std::mem::take(&mut self.columns);
        let test = self.test.as_mut()?;
        let words: Vec<&str> = text.split_whitespace().collect();
        match &words[..] {
            [count, "requests", "completed", "in", seconds, "seconds"] => {
                test.done = Some((number(count.as_bytes())?, decimal(seconds.as_bytes())?));
            }
            ["throughput", "summary:", rate, ..] | [rate, "requests", "per", "second"] => {
                test.rate = Some(number(rate.as_bytes())?);
            }
            ["avg", "min", ..] => {
                self.columns = words.iter().map(|w| (*w).to_owned()).collect();
                return Some(Line::Noise);
            }
            _ if !columns.is_empty() && words.len() == columns.len() => {
                for (column, word) in columns.iter().zip(&words) {
                    let value = decimal(word.as_bytes())?;
                    if column == "avg" {
                        test.mean = Some(value / 1000.0);
                    } else if column == "min" {
                        test.least = Some(value / 1000.0);
                    }
                    test.others.push((format!("latency.{column}"), "ms", value));
                }
            }
            _ => {
                let known = [
                    "parallel clients",
                    "bytes payload",
                    "keep alive",
                    "host configuration",
                    "multi-thread",
                    "Latency by percentile",
                    "Cumulative distribution",
                    "Summary:",
                    "latency summary",
                    "threads:",
                ];
                return known
                    .iter()
                    .any(|k| text.contains(k))
                    .then_some(Line::Noise);
            }
        }
        Some(Line::Data)
    }
}

impl Parser for Redis {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        // Progress goes before, on the same line.
        let last = text.rsplit('\r').find(|p| !p.trim().is_empty());
        let text = last.unwrap_or_default().trim();
        if text.is_empty() {
            return Line::Noise;
        }
        if let Some((_, name)) = text.split_once("====== ")
            && let Some(name) = name.strip_suffix(" ======")
        {
            self.test_is_over(out);
            self.test = Some(Test {
                name: name.to_owned(),
                ..Test::default()
            });
            return Line::Noise;
        }
        if text.starts_with(CSV) {
            self.columns = text
                .split(',')
                .map(|c| c.trim_matches('"').to_owned())
                .collect();
            return Line::Noise;
        }
        let data = (text.starts_with('"') && self.csv(text, out).is_some())
            || self.share(text).is_some()
            || (text.contains(": ")
                && !text.starts_with("throughput")
                && self.quiet(text, out).is_some());
        if data {
            return Line::Data;
        }
        if text.contains("rps=") {
            return Line::Noise;
        }
        self.of_test(text).unwrap_or(Line::Unknown)
    }

    fn run_ends(&mut self, out: &mut Out) -> bool {
        let is_told = |test: &Test| test.done.is_some() || test.rate.is_some();
        let is_told = self.test.as_ref().is_none_or(is_told);
        if is_told {
            self.test_is_over(out);
        }
        is_told
    }

    fn end(&mut self, out: &mut Out) {
        self.test_is_over(out);
    }
}
