//! What is in one scrape, put into tables.

use std::collections::{HashMap, HashSet};

use run::Word;
use run::catalog::{self, Kind};

use super::back::WentBack;
use super::histogram::{Buckets, put_histogram};
use super::node::{self, ENTRIES, Entry, Origin, Source};
use super::text::Sample;
use crate::net;
use crate::out::{Out, Shape};

/// What a family of metrics is said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Counter,
    Gauge,
    Histogram,
    /// Of `OpenMetrics`: what is there now, by value.
    GaugeHistogram,
    Summary,
}

/// What is known of metrics before a scrape.
#[derive(Default)]
pub(super) struct Known {
    pub(super) types: HashMap<String, Type>,
    pub(super) units: HashMap<String, String>,
    /// Number of this scrape, from 1.
    scrape: u64,
    /// Counters: the scrape in which they were read last, and what they were.
    counters: HashMap<Vec<u8>, (u64, f64)>,
    /// When those of each name and labels were created, as `OpenMetrics` tells, and which were so
    /// anew since the scrape before.
    created: HashMap<(String, String), f64>,
    anew: HashSet<(String, String)>,
    /// Counts of histograms and summaries that went back in this scrape.
    counts_back: HashSet<Vec<u8>>,
    pub(super) back: WentBack,
    shapes: HashMap<&'static str, Shape>,
}

/// A counter in a scrape.
#[derive(Clone, Copy, Debug)]
pub(super) enum Growth {
    /// It is new: all it counted.
    Total(f64),
    /// Since the scrape before; NaN where it was missing there, or went back otherwise than to
    /// zero.
    Grown(f64),
    /// It was set to zero since the scrape before, and counted that from there on.
    Restarted(f64),
}

/// What became of a sample where the catalog's rows were put.
#[derive(Clone, Copy, Debug)]
enum Mapped {
    Put,
    /// Not put for want of others; it was read as a counter.
    Read(Growth),
    Not,
}

/// A row in the making: what is known of each measure.
#[derive(Default)]
struct Cells {
    of: HashMap<&'static str, Cell>,
}

#[derive(Default)]
struct Cell {
    level: f64,
    grown: f64,
    total: f64,
    has_total: bool,
    musts: usize,
    origin: Origin,
    /// The samples it is made of.
    from: Vec<usize>,
}

impl Known {
    /// The family of a name, and what it is.
    fn kind(&self, sample: &Sample) -> (String, Option<Type>) {
        let name = sample.name.as_str();
        for suffix in [
            "_bucket", "_sum", "_count", "_gsum", "_gcount", "_total", "",
        ] {
            let Some(family) = name.strip_suffix(suffix) else {
                continue;
            };
            match (self.types.get(family), suffix) {
                (Some(Type::Counter), "_total" | "")
                | (Some(Type::Histogram | Type::Summary), "_sum" | "_count") => {
                    return (family.to_owned(), Some(Type::Counter));
                }
                (Some(Type::Histogram), "_bucket") => {
                    return (family.to_owned(), Some(Type::Histogram));
                }
                (Some(Type::GaugeHistogram), "_bucket" | "_gsum" | "_gcount") => {
                    return (family.to_owned(), Some(Type::Gauge));
                }
                (Some(_), "") => return (family.to_owned(), Some(Type::Gauge)),
                _ => {}
            }
        }
        // No type was told: names say it by custom.
        let kind = match name {
            _ if name.ends_with("_total") => Some(Type::Counter),
            _ if name.ends_with("_bucket") && sample.label("le").is_some() => Some(Type::Histogram),
            _ => None,
        };
        let family = match kind {
            Some(Type::Histogram) => name.strip_suffix("_bucket").unwrap_or(name),
            _ => name,
        };
        (family.to_owned(), kind)
    }

    fn unit(&self, name: &str, family: &str) -> String {
        // Buckets and counts are numbers of what was measured in the family's unit.
        let counts = ["_bucket", "_count", "_gcount"];
        if counts.iter().any(|c| name.strip_suffix(c) == Some(family)) {
            return "count".to_owned();
        }
        if let Some(unit) = self.units.get(family) {
            return unit.clone();
        }
        let base = name.strip_suffix("_total").unwrap_or(name);
        let base = base.strip_suffix("_sum").unwrap_or(base);
        let units = [
            "seconds", "bytes", "ratio", "celsius", "joules", "volts", "amperes", "meters",
            "grams", "percent", "hertz", "watts", "rpm",
        ];
        let found = units.iter().find(|u| base.ends_with(&format!("_{u}")));
        let is_count = name.ends_with("_total") || name.ends_with("_count");
        found
            .map_or(if is_count { "count" } else { "" }, |u| u)
            .to_owned()
    }

    fn growth(&mut self, sample: &Sample) -> Growth {
        let now = sample.value;
        let before = self.counters.insert(sample.key.clone(), (self.scrape, now));
        match before {
            None => Growth::Total(now),
            Some((scrape, _)) if scrape + 1 != self.scrape => Growth::Grown(f64::NAN),
            Some(_) if self.is_anew(sample) => {
                self.back.restarted(&sample.name, self.scrape);
                Growth::Restarted(now)
            }
            Some((_, before)) if now >= before => Growth::Grown(now - before),
            Some((_, before)) if self.is_restart(sample, before) => {
                self.back.restarted(&sample.name, self.scrape);
                Growth::Restarted(now)
            }
            Some(_) => {
                self.back.left_out(&sample.name, self.scrape);
                Growth::Grown(f64::NAN)
            }
        }
    }

    /// Takes when counters were created; a time that is later by more than a second is that of new
    /// ones. (Those made of how long something runs are not always the same.)
    fn look_at_created(&mut self, samples: &[Sample]) {
        self.anew.clear();
        for sample in samples {
            let Some(family) = sample.name.strip_suffix("_created") else {
                continue;
            };
            let total = format!("{family}_total");
            let counts = [Type::Counter, Type::Histogram, Type::Summary].map(Some);
            let told = [family, &total].map(|name| self.types.get(name).copied());
            if !told.iter().any(|kind| counts.contains(kind)) {
                continue;
            }
            let key = (family.to_owned(), sample.labels_without(""));
            let before = self.created.insert(key.clone(), sample.value);
            if before.is_some_and(|before| sample.value > before + 1.0) {
                self.anew.insert(key);
            }
        }
    }

    /// Whether a counter was created since the scrape before.
    fn is_anew(&self, sample: &Sample) -> bool {
        if self.anew.is_empty() {
            return false;
        }
        let is_of = |suffix: &str| {
            let family = sample.name.strip_suffix(suffix)?;
            let without = if suffix == "_bucket" { "le" } else { "" };
            let key = (family.to_owned(), sample.labels_without(without));
            self.anew.contains(&key).then_some(())
        };
        let suffixes = ["_total", "_count", "_sum", "_bucket"];
        suffixes.iter().any(|suffix| is_of(suffix).is_some())
    }

    /// Whether a counter that went back was set to zero.
    fn is_restart(&self, sample: &Sample, before: f64) -> bool {
        let name = sample.name.as_str();
        if node::present_name(name).starts_with("node_cpu_") {
            // The kernel corrects its idle and waiting times backwards (proc(5)); node_exporter
            // takes more than 3 s for a restart. After one little is left.
            return before - sample.value > 3.0 && sample.value < before / 2.0;
        }
        if let Some(family) = name.strip_suffix("_sum")
            && matches!(
                self.types.get(family),
                Some(Type::Histogram | Type::Summary)
            )
        {
            // Values below zero also take it back; their count they do not.
            let labels = &sample.key[name.len().min(sample.key.len())..];
            let count = [family.as_bytes(), b"_count", labels].concat();
            return sample.value >= 0.0 && self.counts_back.contains(&count);
        }
        sample.value >= 0.0
    }

    /// Counts of histograms and summaries that are below those of the scrape before.
    fn counts_back(&self, samples: &[Sample]) -> HashSet<Vec<u8>> {
        let is_back = |s: &&Sample| {
            let before = self.counters.get(&s.key);
            s.name.ends_with("_count") && before.is_some_and(|(_, before)| s.value < *before)
        };
        let back = samples.iter().filter(is_back);
        back.map(|s| s.key.clone()).collect()
    }

    /// What is put next is of the scrape of that number.
    pub(super) fn is_scrape(&mut self, number: u64) {
        self.scrape = number;
    }

    /// The series was not read anew in this scrape: it goes on in the next.
    pub(super) fn stays(&mut self, sample: &Sample) {
        if let Some((scrape, _)) = self.counters.get_mut(&sample.key) {
            *scrape = self.scrape;
        }
    }

    /// Puts samples of a scrape into the present sample.
    pub(super) fn put(&mut self, samples: &[Sample], out: &mut Out) {
        self.look_at_created(samples);
        self.counts_back = self.counts_back(samples);
        if let Some(host) = samples.iter().find(|s| s.name == "node_uname_info")
            && let Some(name) = host.label("nodename")
        {
            out.host(name.as_bytes());
        }
        let mapped = self.put_mapped(samples, out);
        let mut histograms: HashMap<(String, String), Buckets> = HashMap::new();
        let mut order = Vec::new();
        for (sample, mapped) in samples.iter().zip(mapped) {
            let read = match mapped {
                Mapped::Put => continue,
                Mapped::Read(growth) => Some(growth),
                Mapped::Not => None,
            };
            let (family, kind) = self.kind(sample);
            if kind == Some(Type::Histogram)
                && let Some(bound) = sample.label("le").and_then(super::text::number)
            {
                let growth = read.unwrap_or_else(|| self.growth(sample));
                if let Growth::Total(total) = growth {
                    let instance = out.word(sample.labels_without("").as_bytes());
                    out.other_total(&sample.name, "count", instance, total);
                }
                let key = (family, sample.labels_without("le"));
                let buckets = histograms.entry(key.clone()).or_insert_with(|| {
                    order.push(key);
                    Vec::new()
                });
                buckets.push((bound, growth, sample.value));
                continue;
            }
            let unit = self.unit(&sample.name, &family);
            let instance = out.word(sample.labels_without("").as_bytes());
            if !sample.value.is_finite() {
                if !sample.value.is_nan() {
                    out.note("infinite values are left out");
                }
            } else if kind == Some(Type::Counter) {
                match read.unwrap_or_else(|| self.growth(sample)) {
                    Growth::Total(total) => out.other_total(&sample.name, &unit, instance, total),
                    Growth::Grown(grown) | Growth::Restarted(grown) => {
                        out.other_grown(&sample.name, &unit, instance, grown);
                    }
                }
            } else {
                out.other(&sample.name, &unit, instance, sample.value);
            }
        }
        for key in order {
            if let Some(buckets) = histograms.remove(&key) {
                put_histogram(&key.0, &key.1, buckets, out);
            }
        }
    }

    /// Puts what the catalog has; what became of each sample.
    fn put_mapped(&mut self, samples: &[Sample], out: &mut Out) -> Vec<Mapped> {
        let mut rows: HashMap<(&'static str, Vec<Word>), Cells> = HashMap::new();
        let mut order: Vec<(&'static str, Vec<Word>)> = Vec::new();
        let mut growths: Vec<Option<Growth>> = vec![None; samples.len()];
        for (at, sample) in samples.iter().enumerate() {
            let is_known = ["node_", "windows_"]
                .iter()
                .any(|p| sample.name.starts_with(p));
            if !is_known || !sample.value.is_finite() {
                continue;
            }
            let name = node::present_name(&sample.name);
            for entry in ENTRIES.iter().filter(|e| e.metric == name) {
                let Some(words) = words(entry, sample, out) else {
                    continue;
                };
                if is_sum(entry) && growths[at].is_none() {
                    growths[at] = Some(self.growth(sample));
                }
                let key = (entry.table, words);
                let cells = rows.entry(key.clone()).or_insert_with(|| {
                    order.push(key);
                    Cells::default()
                });
                let cell = cells.of.entry(entry.measure).or_default();
                match growths[at] {
                    Some(Growth::Total(total)) => {
                        cell.total += total * entry.factor;
                        cell.has_total = true;
                    }
                    Some(Growth::Grown(grown) | Growth::Restarted(grown)) => {
                        cell.grown += grown * entry.factor;
                    }
                    None => cell.level += sample.value * entry.factor,
                }
                cell.musts += usize::from(entry.must);
                cell.origin = entry.origin;
                cell.from.push(at);
            }
        }
        let mut mapped = vec![false; samples.len()];
        for key in order {
            if let Some(cells) = rows.remove(&key) {
                self.put_row(key.0, &key.1, &cells, &mut mapped, out);
            }
        }
        let became = mapped.into_iter().zip(growths);
        became
            .map(|(put, growth)| match growth {
                _ if put => Mapped::Put,
                Some(growth) => Mapped::Read(growth),
                None => Mapped::Not,
            })
            .collect()
    }

    fn put_row(
        &mut self,
        table: &'static str,
        words: &[Word],
        cells: &Cells,
        mapped: &mut [bool],
        out: &mut Out,
    ) {
        let Some((_, found)) = catalog::table(table) else {
            return;
        };
        let shape = self
            .shapes
            .entry(table)
            .or_insert_with(|| Shape::of(table, found.measures));
        let unknown = vec![f64::NAN; found.measures.len()];
        let (mut now, mut totals) = (unknown.clone(), unknown);
        for (i, measure) in found.measures.iter().enumerate() {
            let Some(cell) = cells.of.get(measure) else {
                continue;
            };
            let texts: Vec<&str> = words.iter().filter_map(|w| out.words().text(*w)).collect();
            if cell.musts < musts(table, measure, &texts, cell.origin) {
                continue;
            }
            for at in &cell.from {
                mapped[*at] = true;
            }
            if cell.has_total {
                // Where a part is new, the whole is not known.
                totals[i] = cell.total.max(0.0);
            } else {
                now[i] = (cell.grown + cell.level).max(0.0);
            }
            // Taking the larger would make nothing of what is not known.
            if cell.grown.is_nan() {
                now[i] = f64::NAN;
            }
        }
        if totals.iter().any(|v| !v.is_nan()) {
            out.put_since_boot(shape, words, &totals);
        }
        if now.iter().any(|v| !v.is_nan()) {
            out.put_amounts(shape, words, &now);
        }
        if table == "vm" && (now[2] > 0.0 || now[3] > 0.0) {
            out.note("node_vmstat_pswpin and pswpout are in pages, taken as 4,096 bytes each");
        }
    }
}

fn is_sum(entry: &Entry) -> bool {
    let found = catalog::table(entry.table);
    let measure = found.and_then(|(subject, _)| subject.measure(entry.measure));
    measure.is_some_and(|m| m.kind == Kind::Sum)
}

/// How many metrics of that origin a measure needs, with those fixed words.
fn musts(table: &str, measure: &str, words: &[&str], origin: Origin) -> usize {
    let fits = |e: &&Entry| {
        let fixed = e.words.iter().zip(words);
        let same = fixed
            .filter_map(|(from, word)| match from {
                Source::Fixed(text) => Some(text == word),
                _ => None,
            })
            .all(|same| same);
        e.must && e.origin == origin && e.table == table && e.measure == measure && same
    };
    ENTRIES.iter().filter(fits).count()
}

/// The words of a sample's row; `None` if the entry is not of it.
fn words(entry: &Entry, sample: &Sample, out: &mut Out) -> Option<Vec<Word>> {
    if let Some((label, value)) = entry.only
        && sample.label(label) != Some(value)
    {
        return None;
    }
    let word = |from: &Source| -> Option<Word> {
        let text = match from {
            Source::Fixed(text) => text,
            Source::Label(label) => sample.label(label)?,
            Source::Cpu => {
                let name = sample.label("cpu")?;
                name.strip_prefix("cpu").unwrap_or(name)
            }
            Source::DiskLayer => return Some(out.disk_layer(sample.label("device")?.as_bytes())),
            Source::NetLayer => {
                let name = sample.label("device").or(sample.label("nic"))?;
                net::layer(name.as_bytes())
            }
        };
        Some(out.word(text.as_bytes()))
    };
    entry.words.iter().map(word).collect()
}
