//! iperf3's JSON (`-J`), also as a stream of events (`--json-stream`).
//!
//! Each interval has bytes of each stream; the sums of all are left out. What was omitted at
//! the start (`-O`) is left out as in iperf3's own results.

use serde_json::Value;

use crate::documents::{Documents, Piece, leaves, number, text};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::workload::{Done, UNKNOWN, Work, instance};
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "iperf3-json",
    tool: "iperf3",
    systems: "all that iperf3 runs on",
    help: "what each stream of iperf3 sent or received, interval by interval",
    recognised: "a JSON document with `intervals` and `iperf 3`, or events of them",
    yields: &["workload"],
    example: r#"{
  "start": {"version": "iperf 3.12", "timestamp": {"timesecs": 1795315800},
    "test_start": {"protocol": "TCP", "omit": 0, "reverse": 0}},
  "intervals": [
    {"streams": [{"socket": 5, "start": 0, "end": 1, "seconds": 1, "bytes": 118766408,
                  "retransmits": 2, "snd_cwnd": 573408, "omitted": false, "sender": true}],
     "sum": {"start": 0, "end": 1, "seconds": 1, "bytes": 118766408, "omitted": false}}
  ],
  "end": {}
}
"#,
    recognise,
    parser: || Box::new(Iperf3::new()),
};

fn recognise(head: &Head) -> u8 {
    let json = head.lines().any(|l| l.trim_ascii_start().starts_with(b"{"));
    // A test that never began tells of neither.
    let names = ["\"test_start\"", "\"connecting_to\"", "\"intervals\""]
        .iter()
        .any(|name| head.contains(name));
    let version = head.contains("\"iperf 3") || head.contains("\"cookie\"");
    if json && names && version { 95 } else { 0 }
}

struct Iperf3 {
    work: Work,
    documents: Documents,
    /// `start` of the test.
    start: Value,
    /// The document before, against one printed twice.
    before: Value,
    /// What the tool says went wrong.
    error: String,
    /// End of what has no time.
    elapsed: f64,
    /// Intervals of this test so far.
    intervals: u64,
}

impl Iperf3 {
    fn new() -> Iperf3 {
        Iperf3 {
            work: Work::new("iperf3"),
            documents: Documents::default(),
            start: Value::Null,
            before: Value::Null,
            error: String::new(),
            elapsed: 0.0,
            intervals: 0,
        }
    }

    fn document(&mut self, document: &Value, out: &mut Out) {
        if let Some(event) = document.get("event").and_then(Value::as_str) {
            let data = &document["data"];
            match event {
                "start" => self.start(data, out),
                "interval" => self.interval(data, out),
                "end" => self.end_of_test(data, out),
                "error" => data
                    .as_str()
                    .unwrap_or_default()
                    .clone_into(&mut self.error),
                _ => {}
            }
            return;
        }
        if document.get("start").is_none() && document.get("error").is_none() {
            let why = "a JSON document that is none of iperf3's";
            out.not_understood(self.documents.began(), why);
            return;
        }
        if *document == self.before {
            out.note("iperf3 printed the same results twice: they are taken once");
            return;
        }
        self.before = document.clone();
        if let Some(error) = document.get("error").and_then(Value::as_str) {
            error.clone_into(&mut self.error);
            out.note(&format!("iperf3 says: {error}"));
        }
        self.start(&document["start"], out);
        let intervals = document["intervals"].as_array();
        for interval in intervals.into_iter().flatten() {
            self.interval(interval, out);
        }
        self.end_of_test(&document["end"], out);
        if document.get("server_output_json").is_some() {
            out.note(
                "the server's own results in iperf3's JSON were left out: they are the same bytes",
            );
        }
    }

    fn start(&mut self, start: &Value, out: &mut Out) {
        self.start = start.clone();
        self.intervals = 0;
        let system = text(start, "system_info");
        if let Some(host) = system.split_whitespace().nth(1) {
            out.host(host.as_bytes());
        }
        if self.omit() > 0.0 {
            out.note("what iperf3 omitted at the start (-O) is left out here too");
        }
    }

    fn test(&self, field: &str) -> f64 {
        let value = &self.start["test_start"][field];
        value
            .as_f64()
            .or(value.as_bool().map(f64::from))
            .unwrap_or(0.0)
    }

    fn omit(&self) -> f64 {
        self.test("omit").max(0.0)
    }

    /// Whether this side sends, where a stream does not tell.
    fn sends(&self) -> bool {
        let is_server = self.start.get("accepted_connection").is_some();
        (self.test("reverse") > 0.0) == is_server
    }

    fn op(&self, stream: &Value) -> &'static [u8] {
        let sends = stream.get("sender").and_then(Value::as_bool);
        if sends.unwrap_or_else(|| self.sends()) {
            b"send"
        } else {
            b"receive"
        }
    }

    /// A moment of the test, in seconds since it began.
    fn stamp(&self, seconds: f64) -> Stamp {
        let timestamp = &self.start["timestamp"];
        let milliseconds = number(timestamp, "timemillisecs");
        let began = if milliseconds > 0.0 {
            milliseconds / 1000.0
        } else {
            number(timestamp, "timesecs")
        };
        let after = self.omit() + seconds;
        if began > 0.0 {
            let began = ((began * 1e3).round() as i64).saturating_mul(1_000_000);
            Stamp::Epoch(began.saturating_add((after * 1e9).round() as i64))
        } else {
            Stamp::Elapsed(self.elapsed + after)
        }
    }

    fn interval(&mut self, interval: &Value, out: &mut Out) {
        let streams = interval["streams"].as_array();
        let mut streams: Vec<&Value> = streams.into_iter().flatten().collect();
        if streams.is_empty() {
            let sums = ["sum", "sum_bidir_reverse"].iter();
            streams.extend(sums.filter_map(|name| interval.get(*name)));
        }
        let whole = interval.get("sum").or(streams.first().copied());
        let Some(whole) = whole else { return };
        let omitted = |v: &Value| v["omitted"].as_bool().unwrap_or(false);
        if omitted(whole) || streams.iter().any(|s| omitted(s)) {
            return;
        }
        let (end, seconds) = (number(whole, "end"), number(whole, "seconds"));
        if !(end > 0.0 && seconds > 0.0) {
            return;
        }
        self.intervals += 1;
        out.sample_at(self.stamp(end));
        out.spans(seconds);
        for stream in streams {
            self.stream(stream, out);
        }
    }

    fn stream(&self, stream: &Value, out: &mut Out) {
        let job = stream["socket"]
            .as_i64()
            .map(|n| n.to_string())
            .unwrap_or_default();
        let of = [job.as_bytes(), self.op(stream), b""];
        let lost = number(stream, "lost_packets");
        let packets = number(stream, "packets");
        let done = Done {
            ops: if lost.is_nan() {
                packets
            } else {
                packets - lost
            },
            bytes: number(stream, "bytes"),
            errors: lost,
            ..UNKNOWN
        };
        self.work.amounts(out, of, done);
        let instance = instance(out, of);
        let mut found = Vec::new();
        leaves(stream, &mut Vec::new(), &mut |path, value| {
            let name = path.join(".");
            let stored = [
                "socket",
                "start",
                "end",
                "seconds",
                "bytes",
                "packets",
                "lost_packets",
            ];
            if !stored.contains(&&*name) {
                found.push((name, value));
            }
        });
        for (name, value) in found {
            out.other(&name, unit_of(&name), instance, value);
        }
    }

    fn end_of_test(&mut self, end: &Value, out: &mut Out) {
        if self.intervals == 0 {
            self.only_the_end(end, out);
        }
        let mut found = Vec::new();
        for (name, part) in end.as_object().into_iter().flatten() {
            if name != "streams" {
                leaves(part, &mut vec![name], &mut |path, value| {
                    found.push((path.join("."), value));
                });
            }
        }
        let empty = out.word(b"");
        for (name, value) in found
            .iter()
            .filter(|_| out.has_sample())
            .collect::<Vec<_>>()
        {
            let last = name.rsplit('.').next().unwrap_or_default();
            out.other(name, unit_of(last), empty, *value);
        }
        streams_at_the_end(end, out);
        let took = ["sum_sent", "sum_received", "sum"].map(|sum| number(&end[sum], "seconds"));
        self.elapsed += self.omit() + took.into_iter().fold(0.0, f64::max);
        self.start = Value::Null;
    }

    /// With `-i 0` there are no intervals but the whole.
    fn only_the_end(&mut self, end: &Value, out: &mut Out) {
        self.direction_at_the_end(end, self.sends(), ["sum_sent", "sum_received"], out);
        // With `--bidir` the other direction has sums of its own.
        let reverse = ["sum_sent_bidir_reverse", "sum_received_bidir_reverse"];
        self.direction_at_the_end(end, !self.sends(), reverse, out);
    }

    /// What this side sent or received in the whole test, of the sums of both sides. Datagrams that were
    /// lost are known to who received them only.
    fn direction_at_the_end(
        &mut self,
        end: &Value,
        sends: bool,
        [sent, received]: [&str; 2],
        out: &mut Out,
    ) {
        let told = |name: &str| end.get(name).filter(|sum| number(sum, "seconds") > 0.0);
        let own = if sends { sent } else { received };
        // Before 3.7 there is one sum of UDP, of what was sent.
        let old = told("sum").filter(|_| sent == "sum_sent");
        let Some(sum) = told(own).or(old) else {
            return;
        };
        let seconds = number(sum, "seconds");
        // Of a receiver that saw none it is not known what it lost.
        let lost = [told(received), old].into_iter().flatten();
        let lost = lost.filter(|sum| number(sum, "packets") > 0.0);
        let lost = lost.map(|sum| number(sum, "lost_packets"));
        let lost = lost.into_iter().find(|n| !n.is_nan()).unwrap_or(f64::NAN);
        let packets = number(sum, "packets");
        self.intervals += 1;
        out.sample_at(self.stamp(number(sum, "end").max(seconds)));
        out.spans(seconds);
        let (op, ops): (&[u8], f64) = match (sends, lost.is_nan()) {
            (false, false) => (b"receive", packets - lost),
            (false, true) => (b"receive", packets),
            (true, _) => (b"send", packets),
        };
        let done = Done {
            ops,
            bytes: number(sum, "bytes"),
            errors: lost,
            ..UNKNOWN
        };
        self.work.amounts(out, [b"", op, b""], done);
    }
}

/// What both sides say of each stream of the whole test.
fn streams_at_the_end(end: &Value, out: &mut Out) {
    let streams = end["streams"].as_array();
    let mut found = Vec::new();
    for stream in streams.into_iter().flatten() {
        for (side, part) in stream.as_object().into_iter().flatten() {
            let socket = part["socket"]
                .as_i64()
                .map(|n| n.to_string())
                .unwrap_or_default();
            leaves(part, &mut Vec::new(), &mut |path, value| {
                let name = path.join(".");
                if name != "socket" {
                    found.push((socket.clone(), format!("end.{side}.{name}"), value));
                }
            });
        }
    }
    for (socket, name, value) in found
        .iter()
        .filter(|_| out.has_sample())
        .collect::<Vec<_>>()
    {
        let socket = out.word(socket.as_bytes());
        let last = name.rsplit('.').next().unwrap_or_default();
        out.other(name, unit_of(last), socket, *value);
    }
}

/// The unit of a field.
fn unit_of(name: &str) -> &'static str {
    match name {
        "bits_per_second" => "bit/s",
        "bytes" | "snd_cwnd" | "max_snd_cwnd" | "snd_wnd" | "max_snd_wnd" | "pmtu" => "bytes",
        "rtt" | "rttvar" | "max_rtt" | "min_rtt" | "mean_rtt" => "us",
        "jitter_ms" => "ms",
        "start" | "end" | "seconds" => "s",
        "lost_percent" | "host_total" | "host_user" | "host_system" | "remote_total"
        | "remote_user" | "remote_system" => "%",
        _ => "",
    }
}

impl Parser for Iperf3 {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        match self.documents.line(line, out) {
            Piece::Outside => {
                let line = line.trim_ascii();
                let known = line.is_empty() || line.starts_with(b"iperf");
                if known || line.starts_with(b"warning") {
                    Line::Noise
                } else {
                    Line::Unknown
                }
            }
            Piece::Inside => Line::Data,
            Piece::Whole(documents) => {
                for document in &documents {
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
        if out.samples() == 0 && !self.error.is_empty() {
            out.refuse(Refused(format!(
                "iperf3 measured nothing; it says: {}",
                self.error
            )));
        }
    }
}
