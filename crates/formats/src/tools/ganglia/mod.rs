//! The XML that Ganglia's `gmond` and `gmetad` write to who connects to them, once or again and
//! again.
//!
//! ```text
//! <GANGLIA_XML VERSION="3.1.2" SOURCE="gmetad">
//! <CLUSTER NAME="web" LOCALTIME="1337745300" OWNER="x">
//! <HOST NAME="a" REPORTED="1337745294" TN="8" TMAX="20">
//! <METRIC NAME="load_one" VAL="0.10" TYPE="float" UNITS=" " TN="8" TMAX="70" SLOPE="both"/>
//! ```
//!
//! A value is as old as its TN, in seconds; one whose host did not report for four times its
//! TMAX is taken for gone, as Ganglia's own pages do. Rates are means over times of their own,
//! so they stay as printed. Memory is in KB of 1,024 bytes (the kernel's).

mod xml;

use std::collections::BTreeMap;

use crate::list::Format;
use crate::number::number;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::Stamp;
use crate::{Line, Parser};
use xml::{Cutter, Piece, Tag};

pub(crate) const FORMAT: Format = Format {
    name: "ganglia",
    tool: "ganglia",
    systems: "any",
    help: "metrics of a host, a cluster or a grid, as gmond or gmetad reports them",
    recognised: "an element GANGLIA_XML",
    yields: &["system", "memory", "memory_state"],
    example: "\
<GANGLIA_XML VERSION=\"3.7.2\" SOURCE=\"gmond\">
<CLUSTER NAME=\"web\" LOCALTIME=\"1700000000\" OWNER=\"me\">
<HOST NAME=\"a\" IP=\"10.0.0.1\" REPORTED=\"1699999995\" TN=\"5\" TMAX=\"20\" DMAX=\"0\">
<METRIC NAME=\"load_one\" VAL=\"0.10\" TYPE=\"float\" UNITS=\" \" TN=\"8\" TMAX=\"70\" DMAX=\"0\"/>
</HOST>
</CLUSTER>
</GANGLIA_XML>
",
    recognise: |head: &Head| {
        let element = head.contains("<GANGLIA_XML ") || head.contains("<!DOCTYPE GANGLIA_XML");
        if element { 95 } else { 0 }
    },
    parser: || Box::new(Ganglia::new()),
};

/// A number of a report.
struct Metric {
    host: String,
    name: String,
    unit: String,
    value: f64,
}

/// Bytes of the KB that the kernel counts memory in.
const KB: f64 = 1024.0;

struct Ganglia {
    cutter: Cutter,
    /// Names of the grids and the cluster around, and the host.
    around: Vec<String>,
    host: Option<String>,
    host_is_gone: bool,
    metrics: Vec<Metric>,
    /// Hosts of the report, whether or not they have numbers.
    hosts: Vec<String>,
    time: Option<i64>,
    reports: u64,
    /// The one host of the first report; its main numbers go to tables.
    only: Option<String>,
    system: Shape,
    memory: Shape,
    state: Shape,
}

impl Ganglia {
    fn new() -> Ganglia {
        Ganglia {
            cutter: Cutter::default(),
            around: Vec::new(),
            host: None,
            host_is_gone: false,
            metrics: Vec::new(),
            hosts: Vec::new(),
            time: None,
            reports: 0,
            only: None,
            system: Shape::of("system", &["load1", "load5", "load15", "runnable"]),
            memory: Shape::of("memory", &["bytes"]),
            state: Shape::of("memory_state", &["swap_total", "swap_used"]),
        }
    }

    fn open(&mut self, tag: &Tag, out: &mut Out) -> Line {
        match tag.name.as_str() {
            "GANGLIA_XML" => {
                self.flush(out);
                self.around.clear();
                self.host = None;
            }
            "GRID" | "CLUSTER" => {
                self.around
                    .push(tag.get("NAME").unwrap_or_default().to_owned());
                let time = tag.get("LOCALTIME").and_then(|t| t.parse().ok());
                self.time = self.time.max(time);
            }
            "HOST" => {
                let name = tag.get("NAME").unwrap_or_default().to_owned();
                self.host_is_gone = is_stale(tag);
                if self.host_is_gone {
                    out.note("hosts that did not report for four times their TMAX are left out");
                }
                self.hosts.push(name.clone());
                self.host = Some(name);
            }
            "METRIC" => return self.metric(tag, out),
            "METRICS" => return self.summary(tag),
            "HOSTS" => {
                let of = self.around.last().cloned().unwrap_or_default();
                let mut seen = Line::Noise;
                for (attribute, name) in [("UP", "hosts_up"), ("DOWN", "hosts_down")] {
                    if let Some(value) = tag.get(attribute).and_then(|v| number(v.as_bytes())) {
                        self.keep(&of, name, "count", value);
                        seen = Line::Data;
                    }
                }
                return seen;
            }
            "EXTRA_DATA" | "EXTRA_ELEMENT" => {}
            _ => return Line::Unknown,
        }
        Line::Noise
    }

    fn keep(&mut self, host: &str, name: &str, unit: &str, value: f64) {
        self.metrics.push(Metric {
            host: host.to_owned(),
            name: name.to_owned(),
            unit: unit.trim().to_owned(),
            value,
        });
    }

    fn metric(&mut self, tag: &Tag, out: &mut Out) -> Line {
        let (Some(name), Some(value)) = (tag.get("NAME"), tag.get("VAL")) else {
            return Line::Unknown;
        };
        if matches!(tag.get("TYPE"), Some("string" | "timestamp")) {
            return Line::Noise;
        }
        let Some(value) = number(value.as_bytes()) else {
            return Line::Unknown;
        };
        let Some(host) = self.host.clone() else {
            return Line::Unknown;
        };
        let is_constant = tag.get("SLOPE") == Some("zero");
        if self.host_is_gone {
            return Line::Noise;
        }
        if is_stale(tag) && !is_constant {
            out.note("metrics that were not reported for four times their TMAX are left out");
            return Line::Noise;
        }
        self.keep(&host, name, tag.get("UNITS").unwrap_or_default(), value);
        Line::Data
    }

    /// `gmetad`'s sum over the hosts of a cluster or a grid, and how many they are.
    fn summary(&mut self, tag: &Tag) -> Line {
        let of = self.around.last().cloned().unwrap_or_default();
        let value = |name: &str| tag.get(name).and_then(|v| number(v.as_bytes()));
        let (Some(name), Some(sum), Some(hosts)) = (tag.get("NAME"), value("SUM"), value("NUM"))
        else {
            return Line::Unknown;
        };
        if matches!(tag.get("TYPE"), Some("string" | "timestamp")) {
            return Line::Noise;
        }
        let unit = tag.get("UNITS").unwrap_or_default();
        self.keep(&of, &format!("{name}.sum"), unit, sum);
        self.keep(&of, &format!("{name}.hosts"), "count", hosts);
        Line::Data
    }

    /// The report is whole.
    fn flush(&mut self, out: &mut Out) {
        let metrics = std::mem::take(&mut self.metrics);
        let hosts = std::mem::take(&mut self.hosts);
        let time = self.time.take();
        if metrics.is_empty() {
            return;
        }
        self.reports += 1;
        match time.and_then(|t| t.checked_mul(1_000_000_000)) {
            Some(time) => out.sample_at(Stamp::Epoch(time)),
            None => out.sample(),
        }
        if let ([host], 1) = (&hosts[..], self.reports) {
            out.host(host.as_bytes());
            self.only = Some(host.clone());
        }
        let mut main: BTreeMap<&str, f64> = BTreeMap::new();
        for metric in &metrics {
            let is_main = MAIN.contains(&metric.name.as_str());
            if is_main && self.only.as_deref() == Some(&*metric.host) && hosts.len() == 1 {
                main.insert(&metric.name, metric.value);
                continue;
            }
            let host = out.word(metric.host.as_bytes());
            out.other(&metric.name, &metric.unit, host, metric.value);
        }
        self.put_main(&main, out);
    }

    fn put_main(&self, main: &BTreeMap<&str, f64>, out: &mut Out) {
        let of = |name: &str| main.get(name).copied().unwrap_or(f64::NAN);
        let loads = ["load_one", "load_five", "load_fifteen", "proc_run"].map(of);
        if loads.iter().any(|v| !v.is_nan()) {
            out.put(&self.system, &[], &loads);
        }
        for (name, kind) in [
            ("mem_free", "free"),
            ("mem_buffers", "buffers"),
            ("mem_cached", "cache"),
        ] {
            if !of(name).is_nan() {
                let kind = out.word(kind.as_bytes());
                out.put(&self.memory, &[kind], &[of(name) * KB]);
            }
        }
        let (total, free) = (of("swap_total") * KB, of("swap_free") * KB);
        if !total.is_nan() || !free.is_nan() {
            out.put(&self.state, &[], &[total, total - free]);
        }
    }
}

/// Those that have a place in the catalog.
const MAIN: [&str; 9] = [
    "load_one",
    "load_five",
    "load_fifteen",
    "proc_run",
    "mem_free",
    "mem_buffers",
    "mem_cached",
    "swap_total",
    "swap_free",
];

/// Nothing came for four times as long as it may take.
fn is_stale(tag: &Tag) -> bool {
    let of = |name: &str| tag.get(name).and_then(|v| number(v.as_bytes()));
    match (of("TN"), of("TMAX")) {
        (Some(age), Some(longest)) => longest > 0.0 && age > 4.0 * longest,
        _ => false,
    }
}

impl Parser for Ganglia {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let mut seen = Line::Noise;
        for piece in self.cutter.line(line) {
            let one = match piece {
                Piece::Open(tag) => self.open(&tag, out),
                Piece::Close(name) => {
                    match name.as_str() {
                        "GANGLIA_XML" => self.flush(out),
                        "GRID" | "CLUSTER" => drop(self.around.pop()),
                        "HOST" => self.host = None,
                        _ => {}
                    }
                    Line::Noise
                }
                Piece::Aside => Line::Noise,
                Piece::Text => Line::Unknown,
            };
            // What is not understood is told, also beside what is.
            seen = match (seen, one) {
                (Line::Unknown, _) | (_, Line::Unknown) => Line::Unknown,
                (Line::Data, _) | (_, Line::Data) => Line::Data,
                _ => Line::Noise,
            };
        }
        seen
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        if self.cutter.is_open() {
            out.lacks("it ends within an element: it was cut off");
        }
        self.flush(out);
        if self.reports == 1 && out.options().every.is_none() {
            // Levels of one moment: nothing in it is of an interval.
            out.spans(1.0);
            out.note("there is one report only: values as they were");
        }
    }
}
