//! `ab` (`ApacheBench`): one test after another.
//!
//! `Time per request` is the time of the test divided by the requests (times those that ran at
//! once), not a measured latency, and the measured ones are whole milliseconds: both are kept
//! beside. `Kbytes` are of 1,024 (`support/ab.c` of httpd).

use crate::lines::{ENDED, ends_in_number};
use crate::list::Format;
use crate::number::{decimal, number};
use crate::out::Out;
use crate::recognise::Head;
use crate::workload::{Done, UNKNOWN, Work, instance};
use crate::{Line, Parser, prompt};

pub(crate) const FORMAT: Format = Format {
    name: "ab",
    tool: "ab",
    systems: "all that httpd runs on",
    help: "what ApacheBench requested, how long the test took, and which requests failed",
    recognised: "`This is ApacheBench`, or `Complete requests:` with `Time taken for tests:` or \
                 `Requests per second:`",
    yields: &["workload"],
    example: "\
This is ApacheBench, Version 2.3 <$Revision: 1903618 $>

Server Hostname:        10.0.0.5
Server Port:            80
Document Path:          /index.html

Concurrency Level:      2
Time taken for tests:   0.219 seconds
Complete requests:      200
Failed requests:        0
Total transferred:      74400 bytes
HTML transferred:       34200 bytes
Requests per second:    912.28 [#/sec] (mean)
",
    recognise: |head: &Head| {
        let summary = head.any_starts("Complete requests:");
        let said = head.any_starts("This is ApacheBench, Version ");
        let time = ["Time taken for tests:", "Requests per second:"];
        if said || summary && time.iter().any(|line| head.any_starts(line)) {
            91
        } else {
            0
        }
    },
    parser: || Box::new(Ab::new()),
};

#[derive(Debug, Default)]
struct Test {
    host: String,
    port: String,
    path: String,
    secure: bool,
    seconds: Option<f64>,
    done: Option<f64>,
    failed: Option<f64>,
    bytes: Option<f64>,
    /// Column, unit, value.
    others: Vec<(String, &'static str, f64)>,
}

impl Test {
    /// How long it took by its mean rate or the mean time of its requests, whichever has more digits:
    /// `done / timetaken` with two decimals, `timetaken * 1000 / done` with three.
    fn by_rate(&self, ops: f64) -> Option<f64> {
        let of = |column: &str| {
            let found = self.others.iter().find(|(name, ..)| name == column);
            found.map(|(.., value)| *value).filter(|value| *value > 0.0)
        };
        let rate = of("requests").map(|rate| (0.005 / rate, ops / rate));
        let each = of("time_per_request.all").map(|ms| (0.0005 / ms, ops * ms / 1000.0));
        let found = [rate, each].into_iter().flatten();
        let best = found.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, seconds)| seconds)
    }
}

struct Ab {
    work: Work,
    test: Test,
}

impl Ab {
    fn new() -> Ab {
        Ab {
            work: Work::new("ab"),
            test: Test::default(),
        }
    }

    fn test_is_over(&mut self, out: &mut Out) {
        let test = std::mem::take(&mut self.test);
        let Some(ops) = test.done else { return };
        let Some(seconds) = test.seconds.or_else(|| test.by_rate(ops)) else {
            return;
        };
        if test.seconds.is_none() {
            out.note("the line that tells how long a test took is missing: it is told by its rate");
        }
        if seconds <= 0.0 {
            out.note("a test that took less than half a millisecond is left out");
            return;
        }
        let scheme = if test.secure { "https" } else { "http" };
        let url = if test.host.is_empty() {
            String::new()
        } else {
            format!("{scheme}://{}:{}{}", test.host, test.port, test.path)
        };
        out.sample();
        out.spans(seconds);
        let of = [url.as_bytes(), b"request", b""];
        let done = Done {
            ops,
            bytes: test.bytes.unwrap_or(f64::NAN),
            errors: test.failed.unwrap_or(f64::NAN),
            ..UNKNOWN
        };
        self.work.amounts(out, of, done);
        let instance = instance(out, [of[0], b"", b""]);
        for (column, unit, value) in test.others {
            out.other(&column, unit, instance, value);
        }
    }

    /// Whether a line is of the next test, of which `grep` left no beginning.
    fn comes_again(&self, name: &str) -> bool {
        match name {
            "Concurrency Level" => self.test.others.iter().any(|(c, ..)| c == "concurrency"),
            "Time taken for tests" => self.test.seconds.is_some(),
            "Complete requests" => self.test.done.is_some(),
            _ => false,
        }
    }

    fn keep(&mut self, column: &str, unit: &'static str, value: f64) {
        self.test.others.push((column.to_owned(), unit, value));
    }

    /// `Name:   value …`.
    fn named(&mut self, name: &str, value: &str) -> Option<Line> {
        let first = value.split_whitespace().next().unwrap_or_default();
        // Times have three decimals.
        let is_time = value.contains("[ms]");
        let plain = || {
            let number = if is_time { decimal } else { number };
            number(first.as_bytes())
        };
        match name {
            "Server Hostname" => value.clone_into(&mut self.test.host),
            "Server Port" => value.clone_into(&mut self.test.port),
            "Document Path" => value.clone_into(&mut self.test.path),
            "SSL/TLS Protocol" => self.test.secure = true,
            "Server Software" | "Server Temp Key" | "TLS Server Name" => {}
            "Document Length" => {
                // `Variable` with -l.
                if let Some(length) = plain() {
                    self.keep("document_length", "bytes", length);
                }
            }
            "Concurrency Level" => {
                let level = plain()?;
                self.keep("concurrency", "", level);
                return Some(Line::Data);
            }
            "Time taken for tests" => {
                let seconds = value.strip_suffix(" seconds")?;
                self.test.seconds = Some(decimal(seconds.as_bytes())?);
                return Some(Line::Data);
            }
            "Complete requests" => {
                self.test.done = Some(plain()?);
                return Some(Line::Data);
            }
            "Failed requests" => {
                self.test.failed = Some(plain()?);
                return Some(Line::Data);
            }
            "Total transferred" => {
                self.test.bytes = Some(value.strip_suffix(" bytes").and(plain())?);
                return Some(Line::Data);
            }
            "Write errors"
            | "Non-2xx responses"
            | "Keep-Alive requests"
            | "HTML transferred"
            | "Total body sent"
            | "Total POSTed"
            | "Total PUT" => {
                if name == "HTML transferred" && !value.ends_with(" bytes") {
                    return None;
                }
                let unit = if value.ends_with(" bytes") {
                    "bytes"
                } else {
                    ""
                };
                let value = plain()?;
                let column = name.to_lowercase().replace([' ', '-'], "_");
                self.keep(&column, unit, value);
                return Some(Line::Data);
            }
            "Requests per second" => {
                let rate = value.contains("[#/sec]").then(plain)??;
                self.keep("requests", "1/s", rate);
                return Some(Line::Data);
            }
            "Time per request" => {
                let time = value.contains("[ms]").then(plain)??;
                let column = match value.split_once('(')?.1 {
                    "mean)" => "time_per_request",
                    "mean, across all concurrent requests)" => "time_per_request.all",
                    _ => return None,
                };
                self.keep(column, "ms", time);
                return Some(Line::Data);
            }
            "Transfer rate" => {
                let rate = value.contains("[Kbytes/sec]").then(plain)??;
                self.keep("transfer", "KiB/s", rate);
                return Some(Line::Data);
            }
            "Connect" | "Processing" | "Waiting" | "Total" => {
                let columns = ["min", "mean", "stdev", "median", "max"];
                let numbers: Option<Vec<f64>> = value
                    .split_whitespace()
                    .map(|v| number(v.as_bytes()))
                    .collect();
                // Without deviations where nothing deviates, or with -S: three.
                let numbers = numbers?;
                let columns: &[&str] = match numbers.len() {
                    5 => &columns,
                    3 => &["min", "mean", "max"],
                    _ => return None,
                };
                for (column, value) in columns.iter().zip(numbers) {
                    let column = format!("{}.{column}", name.to_lowercase());
                    self.keep(&column, "ms", value);
                }
                return Some(Line::Data);
            }
            _ => return None,
        }
        Some(Line::Noise)
    }

    /// `(Connect: 0, Receive: 0, Length: 5, Exceptions: 0)`, below the failed requests.
    fn failures(&mut self, text: &str) -> Option<()> {
        let inner = text.strip_prefix('(')?.strip_suffix(')')?;
        for part in inner.split(", ") {
            let (name, value) = part.split_once(": ")?;
            let value = number(value.as_bytes())?;
            self.keep(&format!("failed.{}", name.to_lowercase()), "", value);
        }
        Some(())
    }

    /// `50%      1`, ` 100%     24 (longest request)`.
    fn percentile(&mut self, text: &str) -> Option<()> {
        let mut words = text.split_whitespace();
        let share = words.next()?.strip_suffix('%')?;
        let value = number(words.next()?.as_bytes())?;
        number(share.as_bytes())?;
        self.keep(&format!("total.percentile.{share}"), "ms", value);
        Some(())
    }
}

impl Parser for Ab {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        let text = text.trim();
        if text.starts_with("This is ApacheBench") || text.starts_with("Server Software:") {
            self.test_is_over(out);
            return Line::Noise;
        }
        if ends_in_number(line, ENDED, out) {
            return Line::Unknown;
        }
        let starts = [
            "Copyright ",
            "Licensed to ",
            "Benchmarking ",
            "Finished ",
            "Connection Times (ms)",
            "min ",
            "Percentage of the requests served",
            "WARNING:",
            "ERROR:",
            "There is a deviation",
            "between the mean",
            "These results are",
            "LOG:",
            "..done",
        ];
        let progress = text.starts_with("Completed ") && text.ends_with(" requests");
        if text.is_empty() || progress || starts.iter().any(|s| text.starts_with(s)) {
            return Line::Noise;
        }
        if self.failures(text).is_some() || self.percentile(text).is_some() {
            return Line::Data;
        }
        let seen = text.split_once(':').and_then(|(name, value)| {
            if self.comes_again(name) {
                self.test_is_over(out);
            }
            self.named(name.trim(), value.trim())
        });
        match seen {
            Some(seen) => seen,
            None if prompt::is_chatter(line) => Line::Noise,
            None => Line::Unknown,
        }
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    fn run_ends(&mut self, out: &mut Out) -> bool {
        let is_told = self.test.done.is_some() || self.test.host.is_empty();
        if is_told {
            self.test_is_over(out);
        }
        is_told
    }

    fn end(&mut self, out: &mut Out) {
        self.test_is_over(out);
    }
}
