//! Prometheus' text exposition format and `OpenMetrics`: one scrape, or several one after the
//! other.
//!
//! ```text
//! # HELP node_load1 1m load average.
//! # TYPE node_load1 gauge
//! node_load1 0.21
//! # TYPE http_requests_total counter
//! http_requests_total{code="200"} 1027 1395066363000
//! ```
//!
//! A scrape ends where a series comes again, or `# EOF`. Its time is that of its samples, of a
//! line before it with nothing but a time, or `node_time_seconds`. Counters become what they
//! grew by since the scrape before; in the first they are totals, and go to `since_boot`. One
//! that was set to zero meanwhile counts from there, as does one whose `_created` is another.
//! Scrapes of several exporters may take turns: those of one round are of one time, unless each has
//! its own.
//! What `node_exporter` says of processors, memory, disks and networks goes to their tables.

mod back;
mod exporters;
mod histogram;
mod node;
mod scrape;
mod targets;
mod text;

use std::collections::{BTreeMap, HashMap, HashSet};

use run::Nanos;

use crate::lines::{ENDED, ends_in_number};
use crate::list::Format;
use crate::out::{Out, Start};
use crate::own::when;
use crate::recognise::Head;
use crate::stamp_line::told;
use crate::time::Stamp;
use crate::{Line, Parser, fields};
use exporters::Exporters;
use scrape::Type;
use targets::Targets;
use text::Sample;

pub(crate) const FORMAT: Format = Format {
    name: "prometheus",
    tool: "prometheus",
    systems: "any",
    help: "metrics as exporters show them, one scrape or several: counters, gauges, histograms",
    recognised: "`# TYPE name counter` lines, or lines `name{label=\"value\"} number`",
    yields: &[
        "cpu",
        "cpu_idle",
        "system",
        "interrupt",
        "pressure",
        "memory",
        "memory_state",
        "vm",
        "disk",
        "disk_device",
        "net",
        "filesystem",
        "softnet",
        "distribution",
    ],
    example: "\
# HELP node_load1 1m load average.
# TYPE node_load1 gauge
node_load1 0.21
# TYPE node_disk_read_bytes_total counter
node_disk_read_bytes_total{device=\"sda\"} 4096
# HELP node_load1 1m load average.
# TYPE node_load1 gauge
node_load1 0.25
# TYPE node_disk_read_bytes_total counter
node_disk_read_bytes_total{device=\"sda\"} 12288
",
    recognise,
    parser: || Box::new(Prometheus::default()),
};

fn recognise(head: &Head) -> u8 {
    if head.lines().any(|l| declared(l).is_some()) {
        return 90;
    }
    let (mut all, mut samples, mut told) = (0, 0, 0);
    let is_other = |l: &&[u8]| !l.is_empty() && !l.starts_with(b"#") && time_line(l).is_none();
    for line in head.lines().filter(is_other) {
        all += 1;
        let Some(sample) = text::sample(line) else {
            continue;
        };
        samples += 1;
        let known = ["node_", "process_", "go_"];
        let labelled = !sample.labels.is_empty();
        told += u32::from(labelled || known.iter().any(|k| sample.name.starts_with(k)));
    }
    let is_this = told > 0 && samples * 10 >= all * 8;
    if is_this { 70 } else { 0 }
}

/// Name and type of a `# TYPE` line.
fn declared(line: &[u8]) -> Option<(String, Type)> {
    let mut words = fields(line);
    if (words.next(), words.next()) != (Some(b"#"), Some(b"TYPE")) {
        return None;
    }
    let name = std::str::from_utf8(words.next()?).ok()?.trim_matches('"');
    let kind = match words.next()? {
        b"counter" => Type::Counter,
        b"histogram" => Type::Histogram,
        b"summary" => Type::Summary,
        b"gaugehistogram" => Type::GaugeHistogram,
        b"gauge" | b"untyped" | b"unknown" | b"info" | b"stateset" => Type::Gauge,
        _ => return None,
    };
    words.next().is_none().then(|| (name.to_owned(), kind))
}

/// Times that are no further apart are of one scrape.
const TOGETHER: Nanos = 1_000_000_000;

#[derive(Default)]
struct Prometheus {
    exporters: Exporters,
    targets: Targets,
    /// What comments said of the scrape that is being read.
    types: HashMap<String, Type>,
    units: HashMap<String, String>,
    /// That scrape.
    samples: Vec<Sample>,
    /// Its series, and where among the samples each is.
    seen: HashMap<Vec<u8>, usize>,
    /// What `# HELP` and `# TYPE` said in it.
    declared: HashSet<Vec<u8>>,
    /// Each scrape says it anew, so that nothing else begins one.
    is_declared: bool,
    /// How many samples there were when a family was declared last.
    family: usize,
    /// A line before it said when it was.
    stamp: Option<Stamp>,
    /// All times of a series stand below one another: what there was at each time.
    by_series: Option<BTreeMap<Nanos, Vec<Sample>>>,
    /// Exporters of the present round, and how many rounds there were.
    round: Vec<usize>,
    rounds: u64,
}

impl Prometheus {
    /// The scrape is whole.
    fn flush(&mut self, out: &mut Out) {
        let samples = std::mem::take(&mut self.samples);
        self.seen.clear();
        self.declared.clear();
        self.family = 0;
        if samples.is_empty() {
            return;
        }
        let stamp = self.stamp.take();
        let stamps = || samples.iter().filter_map(|s| s.stamp);
        let apart = match (stamps().min(), stamps().max()) {
            (Some(first), Some(last)) => last.saturating_sub(first) > TOGETHER,
            _ => false,
        };
        if apart && stamp.is_none() {
            return self.put_apart(samples, out);
        }
        let stamp = stamp.or_else(|| time_of(&samples));
        self.put(samples, stamp, out);
    }

    /// Whose scrape it is, and whether it begins a round.
    fn exporter(&mut self, samples: &mut [Sample]) -> (usize, bool) {
        let place = self.exporters.of(samples);
        let begins = self.round.is_empty() || self.round.contains(&place);
        if begins {
            self.round.clear();
            self.rounds += 1;
        }
        self.round.push(place);
        let known = &mut self.exporters.all[place].known;
        known.types.extend(self.types.drain());
        known.units.extend(self.units.drain());
        known.is_scrape(self.rounds);
        (place, begins)
    }

    /// Each series has a time of its own, as cAdvisor tells: what it grew by is of the time since
    /// its own sample before. What has no time is of the last.
    fn put_apart(&mut self, mut samples: Vec<Sample>, out: &mut Out) {
        let (place, _) = self.exporter(&mut samples);
        let exporter = &mut self.exporters.all[place];
        let last = samples.iter().filter_map(|s| s.stamp).max();
        let mut all: BTreeMap<(Nanos, Option<Nanos>), Vec<Sample>> = BTreeMap::new();
        for sample in samples {
            let at = sample.stamp.or(last).unwrap_or_default();
            let before = exporter.last.get(&sample.key).copied();
            if before.is_some_and(|before| at <= before) {
                out.note("series whose own time did not go on since the scrape above are left out");
                exporter.known.stays(&sample);
                continue;
            }
            exporter.last.insert(sample.key.clone(), at);
            all.entry((at, before)).or_default().push(sample);
        }
        out.counts();
        for ((at, before), samples) in all {
            out.sample_at(Stamp::Epoch(at));
            if let Some(before) = before {
                out.spans(at.saturating_sub(before) as f64 / 1e9);
            }
            exporter.known.put(&samples, out);
        }
    }

    fn put(&mut self, mut samples: Vec<Sample>, stamp: Option<Stamp>, out: &mut Out) {
        let (place, begins) = self.exporter(&mut samples);
        let several = self.exporters.all.len() > 1;
        let exporter = &mut self.exporters.all[place];
        out.counts();
        let above = out.sample_time();
        let joins = !begins && out.has_sample();
        match stamp {
            None if joins => {}
            Some(stamp) if joins && above.is_none() => out.sample_is_at(stamp),
            Some(stamp) if joins => out.sample_once_or_same(stamp),
            stamp => out.sample_once(stamp),
        }
        let now = out.sample_time();
        let is_apart = now != above && !(joins && above.is_none());
        if several && is_apart && now.is_some() {
            out.starts(exporter.scraped.map_or(Start::Unknown, Start::At));
        }
        exporter.scraped = now;
        exporter.known.put(&samples, out);
    }

    fn sample(&mut self, sample: Sample, out: &mut Out) -> Line {
        if let Err(why) = self.targets.look(&sample, out.line_number()) {
            out.refuse(why);
        }
        if let (Some(all), Some(at)) = (&mut self.by_series, sample.stamp) {
            all.entry(at).or_default().push(sample);
            return Line::Data;
        }
        if let Some(&earlier) = self.seen.get(&sample.key) {
            let before = self.samples.last();
            let same = before.filter(|b| b.key == sample.key);
            match (same.and_then(|b| b.stamp), sample.stamp) {
                (Some(before), Some(now)) if before == now => return Line::Unknown,
                (Some(_), Some(now)) => {
                    let mut all: BTreeMap<Nanos, Vec<Sample>> = BTreeMap::new();
                    for held in self.samples.drain(..) {
                        let at = held.stamp.unwrap_or(now);
                        all.entry(at).or_default().push(held);
                    }
                    all.entry(now).or_default().push(sample);
                    self.by_series = Some(all);
                    return Line::Data;
                }
                _ if self.is_twice(earlier, &sample) => {
                    out.note("a series that a scrape has twice counts as it is there first");
                    return Line::Data;
                }
                _ => self.flush(out),
            }
        }
        self.seen.insert(sample.key.clone(), self.samples.len());
        self.samples.push(sample);
        Line::Data
    }

    /// Whether the series that stood there is the same sample: the family that both are of was declared
    /// once.
    fn is_twice(&self, earlier: usize, sample: &Sample) -> bool {
        let before = self.samples.get(earlier);
        let is_same = before.is_some_and(|b| b.stamp == sample.stamp);
        self.is_declared && earlier >= self.family && is_same
    }

    fn comment(&mut self, line: &[u8], out: &mut Out) -> Line {
        let mut words = fields(line);
        words.next();
        let what = words.next().unwrap_or_default();
        match what {
            b"EOF" => self.flush(out),
            b"HELP" | b"TYPE" | b"UNIT" => {
                let name = words.next().unwrap_or_default();
                let key = [what, name].join(&b' ');
                if self.declared.contains(&key) && self.by_series.is_none() {
                    self.flush(out);
                }
                self.declared.insert(key);
                self.family = self.samples.len();
                if let Some((name, kind)) = declared(line) {
                    self.types.insert(name, kind);
                } else if let (b"UNIT", Some(unit)) = (what, words.next()) {
                    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
                    self.units.insert(text(name), text(unit));
                }
            }
            _ => {
                let rest = line.trim_ascii_start().get(1..).unwrap_or_default();
                self.maybe_time(rest, out);
            }
        }
        Line::Noise
    }

    /// A line with nothing but a time belongs to the scrape after it.
    fn maybe_time(&mut self, line: &[u8], out: &mut Out) -> bool {
        let text = line.trim_ascii();
        // Of curl's headers (`-i`) one tells the time.
        let text = text.strip_prefix(b"Date: ").unwrap_or(text);
        let Some(stamp) = time_line(text).or_else(|| told(text, out)) else {
            return false;
        };
        self.flush(out);
        self.stamp = Some(stamp);
        true
    }
}

/// `2024-03-01T12:00:00Z`, or seconds since 1970.
fn time_line(text: &[u8]) -> Option<Stamp> {
    if let Some(stamp) = std::str::from_utf8(text).ok().and_then(when::iso) {
        return Some(stamp);
    }
    let whole = text.iter().take_while(|b| b.is_ascii_digit()).count();
    // From 2001 to 2286.
    if whole == 10 {
        return when::epoch(text, 1_000_000_000).map(Stamp::Epoch);
    }
    None
}

/// A header of an answer, as `curl -i` prints it.
fn is_of_http(line: &[u8]) -> bool {
    let names = [&b"content-"[..], b"transfer-encoding:"];
    let lower = line.to_ascii_lowercase();
    line.starts_with(b"HTTP/") || names.iter().any(|n| lower.starts_with(n))
}

/// The time that the samples of a scrape tell.
fn time_of(samples: &[Sample]) -> Option<Stamp> {
    if let Some(last) = samples.iter().filter_map(|s| s.stamp).max() {
        return Some(Stamp::Epoch(last));
    }
    let clock = samples
        .iter()
        .find(|s| matches!(s.name.as_str(), "node_time_seconds" | "node_time"))?;
    let nanos = (clock.value * 1e9).round();
    (nanos > 0.0 && nanos < 9e18).then_some(Stamp::Epoch(nanos as Nanos))
}

impl Parser for Prometheus {
    fn look(&mut self, head: &Head) {
        // Of one alone nobody knows whether its next scrape would say it again.
        self.is_declared = head.lines().filter(|l| declared(l).is_some()).count() > 1;
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if ends_in_number(line, ENDED, out) {
            return Line::Unknown;
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            return Line::Noise;
        }
        if line.starts_with(b"#") {
            return self.comment(line, out);
        }
        match text::sample(line) {
            Some(sample) => self.sample(sample, out),
            None if self.maybe_time(line, out) || is_of_http(line) => Line::Noise,
            None => Line::Unknown,
        }
    }

    /// A comment, as the mark of the end.
    fn sees_cut(&self, line: &[u8]) -> bool {
        line.starts_with(b"#")
    }

    fn end(&mut self, out: &mut Out) {
        for (at, samples) in self.by_series.take().unwrap_or_default() {
            self.put(samples, Some(Stamp::Epoch(at)), out);
        }
        self.flush(out);
        for exporter in &self.exporters.all {
            exporter.known.back.tell(out);
        }
        self.exporters.tell(out);
        if self.rounds == 1 && out.options().every.is_none() {
            // Levels of one moment, and totals: nothing in it is of an interval.
            out.spans(1.0);
            out.note("there is one scrape only: levels as they were, counters in since_boot");
        }
    }
}
