//! `memtier_benchmark --json-out-file`: operations by command, second by second where the version
//! tells them so, else of the whole run.
//!
//! Latencies are milliseconds, KB 1,024 bytes, times of `Runtime` milliseconds since 1970. Of
//! several runs their mean is taken, as in the text.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::documents::{Documents, Piece, number};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Stamp;
use crate::workload::{Done, UNKNOWN, Work, instance, trimmed};
use crate::{Line, Parser};

const MILLISECOND: run::Nanos = 1_000_000;

pub(crate) const FORMAT: Format = Format {
    name: "memtier-json",
    tool: "memtier_benchmark",
    systems: "all that Redis and Memcached run on",
    help: "operations of memtier_benchmark by command, second by second, as JSON",
    recognised: "a JSON document with `ALL STATS` or `AGGREGATED AVERAGE RESULTS`, and `Totals`",
    yields: &["workload", "workload_latency"],
    example: r#"{
  "configuration": {"server": "localhost", "threads": 4, "clients": 50},
  "ALL STATS": {
    "Runtime": {"Start time": 1700000000000, "Finish time": 1700000010000,
                "Total duration": 10000, "Time unit": "MILLISECONDS"},
    "Sets": {"Count": 10000, "Ops/sec": 1000.00, "Average Latency": 1.2, "KB/sec": 77.00},
    "Totals": {"Count": 10000, "Ops/sec": 1000.00, "Average Latency": 1.2, "KB/sec": 77.00}
  }
}
"#,
    recognise: |head: &Head| {
        let named = SECTIONS.iter().any(|s| head.contains(&format!("\"{s}")));
        let memtier = head.contains("\"memtier") || head.contains("\"Ops/sec\"");
        let settings = head.contains("\"configuration\"");
        if head.is_json() && named && (memtier || settings) {
            95
        } else {
            0
        }
    },
    parser: || Box::new(Memtier::new()),
};

/// What holds the results: of one run, or the mean of several.
const SECTIONS: [&str; 2] = ["ALL STATS", "AGGREGATED AVERAGE RESULTS"];

struct Memtier {
    documents: Documents,
    work: Work,
}

/// A command's results.
struct Command<'a> {
    op: String,
    told: &'a Value,
}

impl Memtier {
    fn new() -> Memtier {
        Memtier {
            documents: Documents::default(),
            work: Work::new("memtier_benchmark"),
        }
    }

    fn document(&mut self, document: &Value, out: &mut Out) {
        let sections = document.as_object().into_iter().flatten();
        let mut found = sections.filter(|(name, _)| SECTIONS.iter().any(|s| name.starts_with(s)));
        let Some((name, results)) = found.next() else {
            let why = "a JSON document that is none of memtier_benchmark's";
            out.not_understood(self.documents.began(), why);
            return;
        };
        if name.starts_with(SECTIONS[1]) {
            out.note("of several runs their mean is taken, not the best and the worst");
        }
        let commands = commands(results);
        let series = commands.iter().any(|c| series(c.told).next().is_some());
        let length = length(document, results);
        let start = number(&results["Runtime"], "Start time");
        if series {
            self.seconds(&commands, start, length, out);
        } else {
            self.whole(&commands, results, start, length, out);
        }
        for command in &commands {
            beside(command, series, out);
        }
    }

    /// Each second by itself.
    fn seconds(&self, commands: &[Command], start: f64, length: Option<f64>, out: &mut Out) {
        let mut all: BTreeMap<u32, Vec<(&Command, &Value)>> = BTreeMap::new();
        for command in commands {
            for (second, told) in series(command.told) {
                all.entry(second).or_default().push((command, told));
            }
        }
        for (second, all) in all {
            let from = f64::from(second);
            // The last one is as long as the run still was.
            let spans = length.map_or(1.0, |l| l - from).clamp(0.001, 1.0);
            out.sample_at(moment(start, from + spans));
            out.spans(spans);
            for (command, told) in all {
                let of = [&b""[..], command.op.as_bytes(), b""];
                let ops = number(told, "Count");
                let time = match told.get("Accumulated Latency") {
                    Some(_) => number(told, "Accumulated Latency") / 1e3,
                    None => mean(told) * ops,
                };
                let done = Done {
                    ops,
                    time,
                    ..UNKNOWN
                };
                self.work.amounts(out, of, done);
            }
        }
    }

    fn whole(
        &self,
        commands: &[Command],
        results: &Value,
        start: f64,
        length: Option<f64>,
        out: &mut Out,
    ) {
        match length {
            Some(length) if start > 0.0 => out.sample_at(moment(start, length)),
            _ => out.sample(),
        }
        if let Some(length) = length {
            out.spans(length);
        }
        for command in commands {
            let ops = number(command.told, "Ops/sec");
            let of = [&b""[..], command.op.as_bytes(), b""];
            let done = Done {
                ops,
                bytes: number(command.told, "KB/sec") * 1024.0,
                time: mean(command.told) * ops,
                ..UNKNOWN
            };
            self.work.rates(out, of, done);
            if let Some(length) = length {
                let shares = &results[command.op.to_ascii_uppercase()];
                self.distribution(of[1], shares, ops * length, out);
            }
        }
    }

    /// `[{"<=msec": 0.1, "percent": 12.50}, …]` of old versions: shares of `all` up to there.
    fn distribution(&self, op: &[u8], shares: &Value, all: f64, out: &mut Out) {
        let (mut from, mut before) = (0.0, 0.0);
        for entry in shares.as_array().into_iter().flatten() {
            let (to, share) = (number(entry, "<=msec"), number(entry, "percent"));
            let count = (share - before) / 100.0 * all;
            if to > from && count > 0.0 {
                let of = [&b""[..], op, b""];
                self.work.latency(out, of, from / 1e3, to / 1e3, count);
            }
            if to >= from && share >= before {
                (from, before) = (to, share);
            }
        }
    }
}

/// `start` milliseconds since 1970, if that is told, and so many seconds later.
fn moment(start: f64, passed: f64) -> Stamp {
    if start > 0.0 {
        Stamp::epoch(start + passed * 1e3, MILLISECOND)
    } else {
        Stamp::Elapsed(passed)
    }
}

/// Seconds that the run took: as it tells, as its requests and its rate have it, or as it was
/// told to take.
fn length(document: &Value, results: &Value) -> Option<f64> {
    let runtime = number(&results["Runtime"], "Total duration") / 1e3;
    let settings = &document["run information"];
    let requests = number(settings, "Threads")
        * number(settings, "Connections per thread")
        * number(settings, "Requests per client");
    let rate = number(&results["Totals"], "Ops/sec");
    let told = number(settings, "Seconds");
    [runtime, requests / rate, told]
        .into_iter()
        .find(|length| length.is_finite() && *length > 0.0)
}

/// Commands that did something; `Totals` are all of them once more.
fn commands(results: &Value) -> Vec<Command<'_>> {
    let all = results.as_object().into_iter().flatten();
    let mut found: Vec<Command> = all
        .filter(|(_, told)| number(told, "Ops/sec") > 0.0)
        .map(|(name, told)| Command {
            op: name.trim_end_matches('s').to_ascii_lowercase(),
            told,
        })
        .collect();
    if found.iter().any(|c| c.op != "total") {
        found.retain(|c| c.op != "total");
    }
    found
}

/// Seconds since the start, and what was done in them.
fn series(told: &Value) -> impl Iterator<Item = (u32, &Value)> {
    let all = told["Time-Serie"].as_object().into_iter().flatten();
    all.filter_map(|(second, value)| Some((second.parse().ok()?, value)))
}

/// The mean latency, in seconds.
fn mean(told: &Value) -> f64 {
    let new = number(told, "Average Latency");
    let mean = if new.is_nan() {
        number(told, "Latency")
    } else {
        new
    };
    mean / 1e3
}

/// What has no place in the catalog, or is only told of the whole run.
fn beside(command: &Command, series: bool, out: &mut Out) {
    let instance = instance(out, [b"", command.op.as_bytes(), b""]);
    for column in ["Hits/sec", "Misses/sec", "MOVED/sec", "ASK/sec"] {
        out.other(column, "/s", instance, number(command.told, column));
    }
    if series {
        let bytes = number(command.told, "KB/sec") * 1024.0;
        out.other("bytes", "B/s", instance, bytes);
    }
    for (column, name) in [
        ("latency.Avg.", "Average Latency"),
        ("latency.min", "Min Latency"),
        ("latency.max", "Max Latency"),
    ] {
        out.other(column, "ms", instance, number(command.told, name));
    }
    let shares = command.told["Percentile Latencies"].as_object();
    for (share, value) in shares.into_iter().flatten() {
        if let (Some(value), Some(share)) = (value.as_f64(), share.strip_prefix('p')) {
            let column = format!("latency.p{}", trimmed(share));
            out.other(&column, "ms", instance, value);
        }
    }
}

impl Parser for Memtier {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        match self.documents.line(line, out) {
            Piece::Outside if line.trim_ascii().is_empty() => Line::Noise,
            Piece::Outside => Line::Unknown,
            Piece::Inside => Line::Data,
            Piece::Whole(documents) => {
                for document in documents {
                    self.document(&document, out);
                }
                Line::Data
            }
        }
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        self.documents.end(out);
    }
}
