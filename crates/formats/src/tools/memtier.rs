//! `memtier_benchmark`: the table of its results, and the distribution of latencies.
//!
//! ```text
//! 4         Threads
//! 50        Connections per thread
//! 10000     Requests per client
//!
//! ALL STATS
//! Type         Ops/sec     Hits/sec   Misses/sec    Avg. Latency     p50 Latency     p99 Latency       KB/sec
//! Sets         9000.00          ---          ---         1.20000         1.10300         3.96700       693.12
//! Totals      99000.00     40000.00     50000.00         1.21000         1.10300         4.01500      4200.50
//! ```
//!
//! Latencies are milliseconds, KB 1,024 bytes. How long it took is told by its requests, by
//! `Seconds` of a test of a time, or by the progress that it prints.

use crate::list::Format;
use crate::number::{decimal, whole};
use crate::out::Out;
use crate::recognise::Head;
use crate::workload::{Done, UNKNOWN, Work, instance};
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "memtier",
    tool: "memtier_benchmark",
    systems: "all that Redis and Memcached run on",
    help: "operations of memtier_benchmark by command, their bytes, time and its distribution",
    recognised: "a header `Type Ops/sec Hits/sec Misses/sec … KB/sec`; of other commands without hits and misses",
    yields: &["workload", "workload_latency"],
    example: "\
4         Threads
50        Connections per thread
10000     Requests per client

ALL STATS
==========================================================================
Type         Ops/sec     Hits/sec   Misses/sec    Avg. Latency       KB/sec
--------------------------------------------------------------------------
Sets         1000.00          ---          ---         1.20000        77.00
Gets         9000.00      4000.00      5000.00         1.10000       350.50
Waits           0.00          ---          ---             ---          ---
Totals      10000.00      4000.00      5000.00         1.11000       427.50
",
    recognise: |head: &Head| {
        // With --command only there are no hits and misses.
        let next: [&[&str]; 4] = [
            &["Hits/sec", "Misses/sec"],
            &["MOVED/sec", "ASK/sec"],
            &["Avg.", "Latency"],
            &["Latency", "KB/sec"],
        ];
        let is_header =
            |next: &&[&str]| head.any_fields(&[&["Type", "Ops/sec"][..], next].concat());
        if next.iter().any(is_header) { 92 } else { 0 }
    },
    parser: || Box::new(Memtier::new()),
};

/// A row of the table.
struct Row {
    op: String,
    values: Vec<f64>,
}

struct Memtier {
    columns: Vec<String>,
    rows: Vec<Row>,
    /// Ends of buckets and shares of the operations up to there, by command.
    shares: Vec<(String, f64, f64)>,
    /// The present section is one run of several, beside their mean.
    of_several: bool,
    /// Threads, connections, requests.
    load: [Option<f64>; 3],
    /// Seconds that the test was to take, or that the progress told last.
    seconds: Option<f64>,
    /// What follows is a distribution.
    in_shares: bool,
    work: Work,
}

impl Memtier {
    fn new() -> Memtier {
        Memtier {
            columns: Vec::new(),
            rows: Vec::new(),
            shares: Vec::new(),
            of_several: false,
            load: [None; 3],
            seconds: None,
            in_shares: false,
            work: Work::new("memtier_benchmark"),
        }
    }

    /// The columns of a header; latencies have names of two words.
    fn header(&mut self, words: &[&str]) {
        self.columns.clear();
        for word in &words[1..] {
            match self.columns.last_mut() {
                Some(last) if *word == "Latency" && !last.ends_with("/sec") => {
                    last.push_str(" Latency");
                }
                _ => self.columns.push((*word).to_owned()),
            }
        }
    }

    fn row(&mut self, words: &[&str]) -> Option<()> {
        let (op, texts) = words.split_first()?;
        let value = |text: &&str| match *text {
            "---" | "nan" | "-nan" => Some(f64::NAN),
            text => decimal(text.as_bytes()),
        };
        let values: Vec<f64> = texts.iter().map(value).collect::<Option<_>>()?;
        let whole = !self.columns.is_empty() && values.len() == self.columns.len();
        whole.then(|| {
            self.rows.push(Row {
                op: (*op).to_owned(),
                values,
            });
        })
    }

    fn of(&self, row: &Row, column: &str) -> f64 {
        let at = self.columns.iter().position(|c| c == column);
        at.map_or(f64::NAN, |at| row.values[at])
    }

    /// How long the run took.
    fn length(&self) -> Option<f64> {
        let total = self.rows.iter().find(|r| r.op == "Totals");
        let rate = total.map_or(f64::NAN, |row| self.of(row, "Ops/sec"));
        match self.load {
            [Some(threads), Some(connections), Some(requests)] if rate > 0.0 => {
                Some(threads * connections * requests / rate)
            }
            _ => self.seconds,
        }
    }

    /// A section is over.
    fn put(&mut self, out: &mut Out) {
        let length = self.length();
        let rows = std::mem::take(&mut self.rows);
        let shares = std::mem::take(&mut self.shares);
        if rows.is_empty() {
            return;
        }
        if self.of_several {
            out.note("of several runs their mean is taken, not the best and the worst");
            return;
        }
        out.sample();
        if let Some(length) = length {
            out.spans(length);
        }
        let only_total = rows.iter().all(|r| r.op == "Totals");
        for row in &rows {
            // A command's name and an `s`: `Smemberss`.
            let op = row.op.strip_suffix('s').unwrap_or(&row.op);
            let op = op.to_ascii_lowercase();
            let of = [&b""[..], op.as_bytes(), b""];
            let ops = self.of(row, "Ops/sec");
            let mean = self.of(row, "Avg. Latency");
            let mean = if mean.is_nan() {
                self.of(row, "Latency")
            } else {
                mean
            };
            // All of them once more.
            if (row.op != "Totals" || only_total) && ops > 0.0 {
                let done = Done {
                    ops,
                    bytes: self.of(row, "KB/sec") * 1024.0,
                    time: mean / 1000.0 * ops,
                    ..UNKNOWN
                };
                self.work.rates(out, of, done);
                if let Some(length) = length {
                    self.distribution(&op, &shares, ops * length, out);
                }
            }
            let instance = instance(out, of);
            for (column, value) in self.columns.iter().zip(&row.values) {
                match column.as_str() {
                    "Ops/sec" | "KB/sec" => {}
                    name if name.ends_with("/sec") => out.other(name, "/s", instance, *value),
                    name => {
                        let name = name.strip_suffix(" Latency").unwrap_or(name);
                        out.other(&format!("latency.{name}"), "ms", instance, *value);
                    }
                }
            }
        }
    }

    /// Operations between two ends of buckets, of `all`: shares are told with two decimals.
    fn distribution(&self, op: &str, shares: &[(String, f64, f64)], all: f64, out: &mut Out) {
        let of = [&b""[..], op.as_bytes(), b""];
        let (mut from, mut before) = (0.0, 0.0);
        for (_, to, share) in shares.iter().filter(|(name, _, _)| name == op) {
            let count = (share - before) / 100.0 * all;
            if *to > from && count > 0.0 {
                self.work.latency(out, of, from / 1e3, to / 1e3, count);
            }
            (from, before) = (*to, *share);
        }
    }

    /// `SET       0.079        12.50` of a distribution.
    fn share(&mut self, words: &[&str]) -> Option<()> {
        let &[op, to, share] = words else { return None };
        let (to, share) = (decimal(to.as_bytes())?, decimal(share.as_bytes())?);
        let sound = op.bytes().all(|b| b.is_ascii_alphabetic()) && (0.0..=100.0).contains(&share);
        sound.then(|| self.shares.push((op.to_ascii_lowercase(), to, share)))
    }

    /// `4         Threads` and the like; what the progress says, several times on a line:
    /// `[RUN #1 10%,   2 secs]  4 threads: …`.
    fn setting(&mut self, text: &str) -> bool {
        if let Some((_, rest)) = text.rsplit_once("[RUN #") {
            let passed = rest.split_once(" secs]").and_then(|(before, _)| {
                let last = before.rsplit([',', ' ']).next()?;
                decimal(last.as_bytes())
            });
            self.seconds = passed.or(self.seconds);
            return true;
        }
        let Some((count, what)) = text.split_once(' ') else {
            return false;
        };
        let Some(count) = whole(count.as_bytes()) else {
            return false;
        };
        match what.trim() {
            "Threads" => self.load = [Some(count as f64), None, None],
            "Connections per thread" => self.load[1] = Some(count as f64),
            "Requests per client" => self.load[2] = Some(count as f64),
            "Seconds" => self.seconds = Some(count as f64),
            _ => return false,
        }
        true
    }
}

impl Parser for Memtier {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        let words: Vec<&str> = text.split_whitespace().collect();
        let ruled = text.bytes().all(|b| matches!(b, b'=' | b'-'));
        if ruled || self.setting(text) {
            return Line::Noise;
        }
        match words[..] {
            ["ALL", "STATS"] | ["AGGREGATED", "AVERAGE", "RESULTS", ..] => {
                self.put(out);
                self.of_several = false;
                Line::Noise
            }
            ["BEST" | "WORST", "RUN", "RESULTS"] => {
                self.put(out);
                self.of_several = true;
                Line::Noise
            }
            ["Type", "<=", "msec", "Percent"] => {
                self.in_shares = true;
                Line::Noise
            }
            ["Type", ..] => {
                self.put(out);
                self.in_shares = false;
                self.header(&words);
                Line::Noise
            }
            _ if self.in_shares && self.share(&words).is_some() => Line::Data,
            _ if !self.in_shares && self.row(&words).is_some() => Line::Data,
            _ => {
                let known = [
                    "Request Latency Distribution",
                    "Writing results to stdout",
                    "[RUN #",
                    "Json file",
                    "Preparing benchmark client",
                    "Launching threads",
                ];
                if known.iter().any(|k| text.contains(k)) {
                    Line::Noise
                } else {
                    Line::Unknown
                }
            }
        }
    }

    fn run_ends(&mut self, out: &mut Out) -> bool {
        self.put(out);
        self.of_several = false;
        self.in_shares = false;
        true
    }

    fn end(&mut self, out: &mut Out) {
        self.put(out);
    }
}
