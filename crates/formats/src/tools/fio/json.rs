//! fio's JSON and JSON+ output.
//!
//! `jobs` or, of a client, `client_stats`; each with `read`, `write`, `trim` (or `mixed`) and
//! `sync`. fio before 2.99 gives bytes in KiB and latencies in microseconds. With
//! `--status-interval` documents follow one another, each with all since the start.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::beside::Beside;
use super::totals::{OPS, Total, totals};
use crate::documents::{Documents, Piece, leaves, number, text};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::workload::{Done, UNKNOWN, Work, instance, trimmed};
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "fio-json",
    tool: "fio",
    systems: "all that fio runs on",
    help: "fio's results as JSON or JSON+: I/Os, bytes, latencies with all their buckets",
    recognised: "a JSON document with `fio version`, also after other lines",
    yields: &["workload", "workload_latency"],
    example: r#"{
  "fio version" : "fio-3.33",
  "timestamp_ms" : 1795315792201,
  "jobs" : [
    {
      "jobname" : "rr", "groupid" : 0, "error" : 0, "elapsed" : 4,
      "read" : {
        "io_bytes" : 8192, "io_kbytes" : 8, "bw_bytes" : 2731, "bw" : 2, "iops" : 0.67,
        "runtime" : 3000, "total_ios" : 2,
        "clat_ns" : { "mean" : 81000.0, "N" : 2, "bins" : { "36096" : 1, "125440" : 1 } },
        "lat_ns" : { "mean" : 82000.0, "N" : 2 }
      }
    }
  ]
}
"#,
    recognise,
    parser: || Box::new(FioJson::new()),
};

/// Fields of a direction that are stored as such.
const STORED: [&str; 8] = [
    "io_bytes",
    "io_kbytes",
    "bw",
    "bw_bytes",
    "iops",
    "runtime",
    "total_ios",
    "N",
];

fn recognise(head: &Head) -> u8 {
    let json = head
        .lines()
        .any(|l| matches!(l.trim_ascii_start().first(), Some(b'{' | b'[')));
    if json && head.contains("\"fio version\"") {
        95
    } else if head.contains(IN_TEXT) || head.contains(IN_PAGE) {
        // For the reason why it is not read.
        60
    } else {
        0
    }
}

/// fio's JSON as a text of another document's, as Ansible keeps a command's output, and in a page.
const IN_TEXT: &str = "\\\"fio version\\\"";
const IN_PAGE: &str = "&quot;fio version&quot;";

/// Whether any text in it is fio's JSON.
fn keeps_output(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("\"fio version\""),
        Value::Array(values) => values.iter().any(keeps_output),
        Value::Object(fields) => fields.values().any(keeps_output),
        _ => false,
    }
}

/// Which job: client, name (made unique), direction.
type Key = (String, String, &'static str);

/// An entry of `jobs`.
struct Entry<'a> {
    value: &'a Value,
    client: &'a str,
    name: String,
    group: i64,
    totals: Vec<(&'static str, Total)>,
    /// Seconds that it ran.
    runtime: f64,
}

struct FioJson {
    work: Work,
    documents: Documents,
    /// Totals of the document before.
    before: HashMap<Key, Total>,
    /// When that document was printed, in seconds since 1970.
    printed: Option<f64>,
    /// End of what has no time, in seconds since the beginning.
    elapsed: f64,
    beside: Beside,
}

impl FioJson {
    fn new() -> FioJson {
        FioJson {
            work: Work::new("fio"),
            documents: Documents::default(),
            before: HashMap::new(),
            printed: None,
            elapsed: 0.0,
            beside: Beside::default(),
        }
    }

    fn document(&mut self, document: &Value, out: &mut Out) {
        let entries = entries(document, out);
        if entries.is_empty() {
            if keeps_output(document) {
                out.refuse(Refused(
                    "fio's JSON is a text inside of another document here, as Ansible keeps what a \
                     command printed\nhint: take it out, as with jq -r .stdout"
                        .into(),
                ));
            }
            let why = "a JSON document without `jobs`: nothing of fio's";
            out.not_understood(self.documents.began(), why);
            return;
        }
        for entry in &entries {
            let moved = entry.totals.iter().filter(|(op, _)| *op != "sync");
            let name = text(entry.value, "jobname");
            self.beside
                .told(name, moved.map(|(_, total)| (total.ops, total.bytes)));
        }
        let milliseconds = number(document, "timestamp_ms") / 1000.0;
        let printed = [milliseconds, number(document, "timestamp")];
        let printed = printed.into_iter().find(|t| *t > 0.0);
        let longest = entries.iter().map(|e| e.runtime).fold(0.0, f64::max);
        // A run of its own started after the document before was printed. `elapsed` are the
        // seconds since fio started, rounded up: jobs that ran one after the other may each
        // have run for less than passed between two documents.
        let elapsed = entries.iter().map(|e| number(e.value, "elapsed") - 1.0);
        let longest = elapsed.fold(longest, f64::max);
        let goes_on = match (self.printed, printed) {
            (Some(before), Some(now)) => now - longest < before - 0.001,
            _ => false,
        };
        if !goes_on {
            self.before.clear();
        }
        let ends = self.ends(&entries, printed, goes_on, out);
        for (entry, end) in entries.iter().zip(ends) {
            self.entry(entry, end, out);
        }
        self.printed = printed;
        disks(document, out);
    }

    /// When each entry ended. Groups that ran one after the other lie so; the jobs of one began together.
    fn ends(
        &mut self,
        entries: &[Entry],
        printed: Option<f64>,
        goes_on: bool,
        out: &mut Out,
    ) -> Vec<Stamp> {
        let mut groups: BTreeMap<i64, f64> = BTreeMap::new();
        for entry in entries {
            let longest = groups.entry(entry.group).or_default();
            *longest = longest.max(entry.runtime);
        }
        let total: f64 = groups.values().sum();
        let elapsed = entries.iter().map(|e| number(e.value, "elapsed"));
        // Whole seconds, rounded up. Groups that ran beside one another took less than their sum.
        let in_turn =
            !goes_on && groups.len() > 1 && elapsed.fold(f64::NAN, f64::max) + 1.0 > total;
        let unsaid =
            groups.len() > 1 && entries.iter().all(|e| number(e.value, "elapsed").is_nan());
        let in_turn = in_turn || unsaid;
        let told = |e: &Entry| number(e.value, "job_start") > 0.0;
        if in_turn {
            out.note(super::IN_TURN);
        } else if !goes_on && groups.len() > 1 && !entries.iter().all(told) {
            out.note(super::BESIDE);
        }
        let whole = if in_turn {
            total
        } else {
            groups.values().copied().fold(0.0, f64::max)
        };
        let base = self.elapsed;
        if printed.is_none() {
            self.elapsed += whole;
        }
        let end = |entry: &Entry| {
            let started = number(entry.value, "job_start") / 1000.0;
            if started > 0.0 {
                return epoch(started + entry.runtime);
            }
            let later = groups.range(entry.group + 1..).map(|(_, longest)| longest);
            let later = if in_turn { later.sum() } else { 0.0 };
            let together = in_turn || groups.len() == 1 && !goes_on;
            let longest = groups.get(&entry.group).filter(|_| together);
            let before_end = later + longest.map_or(0.0, |longest| longest - entry.runtime);
            match printed {
                Some(printed) => epoch(printed - before_end),
                None => Stamp::Elapsed(base + whole - before_end),
            }
        };
        entries.iter().map(end).collect()
    }

    fn entry(&mut self, entry: &Entry, end: Stamp, out: &mut Out) {
        let mut parts = Vec::new();
        for (op, total) in &entry.totals {
            let key = (entry.client.to_owned(), entry.name.clone(), *op);
            let part = match self.before.get(&key) {
                Some(before) => total.since(before),
                None => total.clone(),
            };
            if part.ops < 0.0 || part.bytes < 0.0 {
                out.note("a counter of fio's went back between two documents; left out");
                continue;
            }
            self.before.insert(key, total.clone());
            parts.push((*op, part));
        }
        // The time of syncs is not told; they are of the same run.
        let mut spans = parts.iter().map(|(_, p)| p.runtime).fold(0.0, f64::max);
        if parts.iter().all(|(op, _)| *op == "sync") {
            spans = (number(entry.value, "job_runtime") / 1000.0).max(0.0);
        }
        let ran = |(_, p): &(&str, Total)| p.ops > 0.0 || p.bytes > 0.0;
        if spans <= 0.0 && !parts.iter().any(ran) {
            return;
        }
        out.sample_beside(end);
        out.spans(spans.max(0.001));
        let job = entry.name.as_bytes();
        let client = entry.client.as_bytes();
        let mut current = spans.max(0.001);
        for (op, part) in &parts {
            super::ran_for(part.runtime, &mut current, end, out);
            let of = [job, op.as_bytes(), client];
            let done = Done {
                ops: part.ops,
                bytes: part.bytes,
                time: part.time,
                ..UNKNOWN
            };
            self.work.amounts(out, of, done);
            for ((low, high), count) in &part.bins {
                let (low, high) = (*low as f64 / 1e9, *high as f64 / 1e9);
                self.work.latency(out, of, low, high, *count);
            }
        }
        let errors = number(entry.value, "total_err");
        if errors > 0.0 {
            let done = Done { errors, ..UNKNOWN };
            self.work.amounts(out, [job, b"(all)", client], done);
        }
        if number(entry.value, "error") > 0.0 {
            out.note(&format!(
                "fio's job {} ended with error {}",
                entry.name, entry.value["error"]
            ));
        }
        others(entry, out);
    }
}

/// What has no place elsewhere.
fn others(entry: &Entry, out: &mut Out) {
    let active = |op: &str| entry.totals.iter().any(|(o, _)| *o == op);
    let old = entry.value["read"]["slat_ns"].is_null() && entry.value["read"]["lat_ns"].is_null();
    let mut found = Vec::new();
    leaves(entry.value, &mut Vec::new(), &mut |path, value| {
        let (op, rest) = match path {
            [op, rest @ ..] if OPS.contains(op) && !rest.is_empty() => (*op, rest),
            _ => ("", path),
        };
        let stored = rest.last().is_some_and(|name| STORED.contains(name));
        let kept = if op.is_empty() {
            !matches!(
                rest,
                ["groupid" | "error" | "total_err" | "job_start" | "port"]
            )
        } else {
            active(op) && !stored && !rest.contains(&"bins")
        };
        if kept {
            let column = rest.iter().map(|name| trimmed(name)).collect::<Vec<_>>();
            let unit = match rest {
                // Some versions print the mean in place of the share.
                ["bw_agg"] if value > 100.0 => "KiB/s",
                _ => unit_of(rest, old),
            };
            found.push((op.to_owned(), column.join("."), unit, value));
        }
    });
    for (op, column, unit, value) in found {
        let of = [
            entry.name.as_bytes(),
            op.as_bytes(),
            entry.client.as_bytes(),
        ];
        let instance = instance(out, of);
        out.other(&column, unit, instance, value);
    }
}

fn epoch(seconds: f64) -> Stamp {
    Stamp::epoch(seconds * 1000.0, 1_000_000)
}

/// The unit of a field, by the names that lead to it.
fn unit_of(path: &[&str], old: bool) -> &'static str {
    let last = path.last().copied().unwrap_or_default();
    let first = path.first().copied().unwrap_or_default();
    match first {
        "slat_ns" | "clat_ns" | "lat_ns" | "clat_prio" => "ns",
        "slat" | "clat" | "lat" if old => "us",
        _ if last.starts_with("iops") && last != "iops_samples" => "1/s",
        "bw_agg" => "%",
        _ if last.starts_with("bw_") && last != "bw_samples" => "KiB/s",
        "usr_cpu" | "sys_cpu" | "iodepth_level" | "iodepth_submit" | "iodepth_complete"
        | "latency_ns" | "latency_us" | "latency_ms" | "latency_percentile" | "util" => "%",
        "elapsed" | "eta" => "s",
        "job_runtime" | "read_ticks" | "write_ticks" | "in_queue" => "ms",
        "latency_target" | "latency_window" => "us",
        _ => "",
    }
}

/// The entries that did something; the row that only repeats their sum is left out.
fn entries<'a>(document: &'a Value, out: &mut Out) -> Vec<Entry<'a>> {
    let list = |name: &str| document.get(name).and_then(Value::as_array);
    let mut values: Vec<&Value> = list("jobs").into_iter().flatten().collect();
    values.extend(list("client_stats").into_iter().flatten());
    let is_sum = |v: &Value| text(v, "jobname") == "All clients";
    if values.iter().any(|v| !is_sum(v)) && values.iter().any(|v| is_sum(v)) {
        values.retain(|v| !is_sum(v));
        out.note(super::ALL_CLIENTS);
    }
    let mut names: HashMap<(&str, &str), u32> = HashMap::new();
    let entry = |value: &'a Value| {
        let (name, client) = (text(value, "jobname"), text(value, "hostname"));
        let times = names.entry((client, name)).or_default();
        *times += 1;
        let name = match times {
            1 => name.to_owned(),
            n => format!("{name}#{n}"),
        };
        let totals = totals(value, out);
        let runtime = totals.iter().map(|(_, t)| t.runtime).fold(0.0, f64::max);
        Entry {
            value,
            client,
            name,
            group: value["groupid"]
                .as_i64()
                .unwrap_or(0)
                .clamp(-1, i64::MAX - 1),
            totals,
            runtime,
        }
    };
    values
        .into_iter()
        .filter(|v| v.is_object())
        .map(entry)
        .collect()
}

/// `disk_util`: what the kernel counted of the devices meanwhile.
fn disks(document: &Value, out: &mut Out) {
    let all = document.get("disk_util").and_then(Value::as_array);
    for disk in all
        .into_iter()
        .flatten()
        .filter(|_| out.has_sample())
        .collect::<Vec<_>>()
    {
        let name = out.word(text(disk, "name").as_bytes());
        let mut found = Vec::new();
        leaves(disk, &mut Vec::new(), &mut |path, value| {
            found.push((
                format!("disk_util.{}", path.join(".")),
                unit_of(path, false),
                value,
            ));
        });
        for (column, unit, value) in found {
            out.other(&column, unit, name, value);
        }
    }
}

impl Parser for FioJson {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        match self.documents.line(line, out) {
            Piece::Outside if memchr::memmem::find(line, IN_PAGE.as_bytes()).is_some() => {
                out.refuse(Refused(
                    "fio's JSON is in a web page here, with `&quot;` for its quotes\n\
                     hint: save what fio printed, or the page as text"
                        .into(),
                ));
                Line::Unknown
            }
            Piece::Outside if self.beside.line(&String::from_utf8_lossy(line), out) => Line::Noise,
            Piece::Outside if super::is_chatter(line) => Line::Noise,
            Piece::Outside => Line::Unknown,
            Piece::Inside => Line::Data,
            Piece::Whole(documents) => {
                // Several are kept as a list, too, as `jq -s` makes it.
                let parts = documents.iter().flat_map(|document| {
                    let list = document.as_array().filter(|list| !list.is_empty());
                    list.map_or(std::slice::from_ref(document), Vec::as_slice)
                });
                for document in parts {
                    self.document(document, out);
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
        self.beside.end(out);
    }
}
