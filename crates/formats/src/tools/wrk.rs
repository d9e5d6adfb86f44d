//! wrk and wrk2.
//!
//! Sizes are in steps of 1,024. wrk2's spectrum has counts of all requests up to a latency:
//! their differences are a histogram.

use crate::lines::ends_in_number;
use crate::list::Format;
use crate::number::{number, scaled, seconds};
use crate::out::Out;
use crate::recognise::Head;
use crate::workload::{Done, Work, instance, trimmed};
use crate::{Line, Parser, fields};

pub(crate) const FORMAT: Format = Format {
    name: "wrk",
    tool: "wrk",
    systems: "Linux, BSD, macOS",
    help: "what wrk or wrk2 requested, how long that took, and wrk2's histogram of it",
    recognised: "`Running 30s test @ URL`, `Making 1000 requests to URL`, or `… requests in 30.00s, … read`",
    yields: &["workload", "workload_latency"],
    example: "\
Running 3s test @ http://127.0.0.1:8099/x.html
  2 threads and 4 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     3.08ms    2.08ms  15.56ms   79.62%
    Req/Sec   681.61    145.82     1.23k    80.33%
  4137 requests in 3.10s, 755.85KB read
Requests/sec:   1334.48
Transfer/sec:    243.81KB
",
    recognise,
    parser: || Box::new(Wrk::new()),
};

fn recognise(head: &Head) -> u8 {
    let lines = || head.lines().map(String::from_utf8_lossy);
    // Of what was pasted that line is lost at times.
    let is_result = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        matches!(words[..], [_, "requests", "in", _, _, "read"])
    };
    match () {
        () if lines().any(|line| url_of(line.trim()).is_some()) => 92,
        () if lines().any(|line| is_result(&line)) => 85,
        () => 0,
    }
}

/// `Running 30s test @ URL`, of version 1 `Making 100000 requests to URL`: where a run begins.
fn url_of(text: &str) -> Option<&str> {
    if text.starts_with("Running ") {
        return text.rsplit_once(" test @ ").map(|(_, url)| url);
    }
    let (count, url) = text.strip_prefix("Making ")?.split_once(" requests to ")?;
    number(count.as_bytes()).map(|_| url)
}

#[derive(Debug, Default)]
struct Run {
    url: String,
    /// Seconds, mean.
    mean: Option<f64>,
    /// Requests, seconds, bytes.
    done: Option<(f64, f64, f64)>,
    /// How many seconds the printed time may be off, of minutes and hours with two decimals.
    coarse: f64,
    /// A second.
    rate: Option<f64>,
    errors: f64,
    /// Latency in seconds, and how many took up to that.
    spectrum: Vec<(f64, f64)>,
    others: Vec<(String, &'static str, f64)>,
}

impl Run {
    fn keep(&mut self, column: String, unit: &'static str, value: f64) {
        self.others.push((column, unit, value));
    }

    /// How long it took: a time in minutes is rounded to half a second, and the rate tells it better.
    fn seconds(&self, ops: f64, printed: f64) -> f64 {
        let told = self.rate.filter(|rate| *rate >= 10.0).map(|r| ops / r);
        told.filter(|told| (told - printed).abs() <= self.coarse)
            .unwrap_or(printed)
    }

    /// `Latency  3.08ms  2.08ms  15.56ms  79.62%`, or `Req/Sec` with numbers.
    fn thread_stats(&mut self, words: &[&str]) -> Option<()> {
        let &[name, avg, stdev, max, within] = words else {
            return None;
        };
        let is_latency = name == "Latency";
        let (column, unit) = if is_latency {
            ("latency", "s")
        } else {
            ("thread_rate", "1/s")
        };
        for (name, text) in [("mean", avg), ("stdev", stdev), ("max", max)] {
            let value = if is_latency {
                seconds(text.as_bytes())?
            } else {
                scaled(text.as_bytes(), 1000.0)?
            };
            if is_latency && name == "mean" {
                self.mean = Some(value);
            }
            self.others.push((format!("{column}.{name}"), unit, value));
        }
        let within = number(within.strip_suffix('%')?.as_bytes())?;
        self.others
            .push((format!("{column}.within_stdev"), "%", within));
        Some(())
    }
}

struct Wrk {
    work: Work,
    run: Option<Run>,
    /// In how many tables of percentiles and spectra we were; only the first counts.
    tables: u32,
    in_spectrum: bool,
}

impl Wrk {
    fn new() -> Wrk {
        Wrk {
            work: Work::new("wrk"),
            run: None,
            tables: 0,
            in_spectrum: false,
        }
    }

    fn run_begins(&mut self, url: &str, out: &mut Out) {
        self.run_is_over(out);
        self.run = Some(Run {
            url: url.to_owned(),
            ..Run::default()
        });
        (self.tables, self.in_spectrum) = (0, false);
    }

    /// A line that stands above results comes: of another run, if there are some.
    fn above_results(&mut self, out: &mut Out) {
        let is_empty = |run: &Run| run.done.is_none() && run.others.is_empty();
        if !self.run.as_ref().is_some_and(is_empty) {
            self.run_begins("", out);
        }
    }

    fn run_is_over(&mut self, out: &mut Out) {
        let Some(run) = self.run.take() else { return };
        let Some((ops, seconds, bytes)) = run.done else {
            return;
        };
        out.sample();
        out.spans(run.seconds(ops, seconds));
        let of = [run.url.as_bytes(), b"request", b""];
        let done = Done {
            ops,
            bytes,
            time: run.mean.unwrap_or(f64::NAN) * ops,
            // Told above the rate, if there were any.
            errors: run.rate.map_or(f64::NAN, |_| run.errors),
        };
        self.work.amounts(out, of, done);
        let (mut from, mut counted) = (None, 0.0);
        for (latency, count) in run.spectrum {
            if count > counted {
                self.work
                    .latency(out, of, from.unwrap_or(latency), latency, count - counted);
            }
            (from, counted) = (Some(latency), count);
        }
        let instance = instance(out, [of[0], b"", b""]);
        for (column, unit, value) in run.others {
            out.other(&column, unit, instance, value);
        }
    }

    fn row(&mut self, words: &[&str], out: &mut Out) -> Option<Line> {
        if let [_, "requests", "in", ..] = words
            && self.run.as_ref().is_none_or(|run| run.done.is_some())
        {
            self.run_begins("", out);
        }
        let tables = self.tables;
        let in_spectrum = self.in_spectrum;
        let run = self.run.as_mut()?;
        let time = |text: &str| seconds(text.as_bytes());
        let plain = |text: &str| number(text.as_bytes());

        match words {
            ["Latency" | "Req/Sec", ..] => run.thread_stats(words)?,
            [requests, "requests", "in", length, bytes, "read"] => {
                let length = length.strip_suffix(',')?;
                run.coarse = match length.bytes().last() {
                    Some(b'm') => 0.31,
                    Some(b'h') => 18.1,
                    _ => 0.0,
                };
                let length = time(length)?;
                run.done = Some((plain(requests)?, length, scaled(bytes.as_bytes(), 1024.0)?));
            }
            ["Requests/sec:", value] => {
                run.rate = plain(value);
                run.keep("requests".into(), "1/s", run.rate?);
            }
            ["Transfer/sec:", value] => {
                run.keep("transfer".into(), "B/s", scaled(value.as_bytes(), 1024.0)?);
            }
            ["Non-2xx", .., value] => run.errors += plain(value)?,
            ["Socket", "errors:", rest @ ..] => {
                for pair in rest.chunks(2) {
                    let [_, value] = pair else { return None };
                    run.errors += plain(value.trim_end_matches(','))?;
                }
            }
            [latency, share, count, _] | [latency, share, count] if in_spectrum => {
                let row = (plain(latency)? / 1000.0, plain(count)?);
                plain(share)?;
                if tables == 1 {
                    run.spectrum.push(row);
                } else {
                    out.note("only the first of wrk2's histograms is taken: that of true latency");
                }
            }
            [share, value] if share.ends_with('%') => {
                let share = trimmed(share.strip_suffix('%')?);
                let table = if tables > 1 { ".uncorrected" } else { "" };
                run.keep(
                    format!("latency{table}.percentile.{share}"),
                    "s",
                    time(value)?,
                );
            }
            _ => return None,
        }
        Some(Line::Data)
    }
}

impl Parser for Wrk {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if ends_in_number(line, 2, out) {
            return Line::Unknown;
        }
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        let text = text.trim();
        if let Some(url) = url_of(text) {
            self.run_begins(url, out);
            return Line::Noise;
        }
        if text.starts_with("Latency Distribution") {
            self.tables += 1;
            self.in_spectrum = false;
            return Line::Noise;
        }
        if text.starts_with("Detailed Percentile") {
            self.in_spectrum = true;
            return Line::Noise;
        }
        let banner = ["Thread ", "#[", "Value ", "Initialised", "-----"];
        let first = fields(line).next().unwrap_or_default();
        let threads = text.contains(" threads and ") && number(first).is_some();
        if threads || text.starts_with("Thread Stats") {
            self.above_results(out);
        }
        if text.is_empty() || threads || banner.iter().any(|b| text.starts_with(b)) {
            self.in_spectrum &= !text.starts_with("#[");
            return Line::Noise;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        self.row(&words, out).unwrap_or(Line::Unknown)
    }

    fn run_ends(&mut self, out: &mut Out) -> bool {
        let is_told = self.run.as_ref().is_none_or(|run| run.done.is_some());
        if is_told {
            self.run_is_over(out);
        }
        is_told
    }

    fn end(&mut self, out: &mut Out) {
        self.run_is_over(out);
    }
}
