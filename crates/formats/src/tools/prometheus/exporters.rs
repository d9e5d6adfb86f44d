//! Whose scrapes these are, where those of several exporters stand below one another.
//!
//! A file to which each round appends the answer of `node_exporter` and that of `mysqld_exporter`
//! has `process_cpu_seconds_total` of two processes: one is not what the other grew to.

use std::collections::{BTreeMap, HashMap, HashSet};

use run::Nanos;

use super::scrape::Known;
use super::text::Sample;
use crate::out::Out;

/// What the libraries by which exporters are made tell of themselves: it does not tell them apart.
const OF_LIBRARIES: [&str; 6] = ["go_", "process_", "promhttp_", "python_", "jvm_", "nodejs_"];

/// One exporter.
#[derive(Default)]
pub(super) struct Exporter {
    names: HashSet<String>,
    /// When its process was started.
    started: Option<f64>,
    /// What it is called where others have metrics of the same name.
    word: String,
    pub(super) known: Known,
    /// When each series was read last, where their times are apart.
    pub(super) last: HashMap<Vec<u8>, Nanos>,
    /// The time of its last scrape.
    pub(super) scraped: Option<Nanos>,
}

/// All whose scrapes came, in the order of their first.
#[derive(Default)]
pub(super) struct Exporters {
    pub(super) all: Vec<Exporter>,
}

impl Exporters {
    /// Whose scrape this is, by its place. What others before it have, too, gets a label more.
    pub(super) fn of(&mut self, samples: &mut [Sample]) -> usize {
        let names: HashSet<&str> = samples.iter().map(|s| s.name.as_str()).collect();
        let start = samples
            .iter()
            .find(|s| s.name == "process_start_time_seconds");
        let started = start.map(|s| s.value);
        let place = self.all.iter().position(|e| e.is_of(&names, started));
        let place = place.unwrap_or_else(|| {
            let word = word(&names);
            let is_taken = word.is_empty() || self.all.iter().any(|e| e.word == word);
            let count = self.all.len() + 1;
            let word = if is_taken {
                format!("{word}{count}")
            } else {
                word
            };
            self.all.push(Exporter {
                word,
                ..Exporter::default()
            });
            self.all.len() - 1
        });
        let exporter = &mut self.all[place];
        exporter.started = started.or(exporter.started);
        for name in names {
            if !exporter.names.contains(name) {
                exporter.names.insert(name.to_owned());
            }
        }
        let (before, from) = self.all.split_at(place);
        for sample in samples {
            if before.iter().any(|e| e.names.contains(&sample.name)) {
                let label = ("exporter".to_owned(), from[0].word.clone());
                sample.labels.push(label);
            }
        }
        place
    }

    /// Says that there are several.
    pub(super) fn tell(&self, out: &mut Out) {
        let words: Vec<&str> = self.all.iter().map(|e| e.word.as_str()).collect();
        if let [_, second, ..] = words[..] {
            out.note(&format!(
                "it has scrapes of {} exporters ({}): each grew since its own scrape before, and \
                 what an earlier one has, too, is kept apart, as exporter={second}",
                words.len(),
                words.join(", "),
            ));
        }
    }
}

impl Exporter {
    /// Whether a scrape with these names is its.
    fn is_of(&self, names: &HashSet<&str>, started: Option<f64>) -> bool {
        let own = names.iter().filter(|n| is_own(n)).count();
        let of_its = self.names.iter().filter(|n| is_own(n)).count();
        let fewer = own.min(of_its);
        if fewer > 0 {
            // Some names come and go.
            let both = names
                .iter()
                .filter(|n| is_own(n) && self.names.contains(**n));
            return both.count() * 2 >= fewer;
        }
        match (started, self.started) {
            (Some(now), Some(before)) => (now - before).abs() < 0.005,
            _ => {
                // Many metrics appear once there is something to count.
                names.iter().all(|n| self.names.contains(*n))
                    || self.names.iter().all(|n| names.contains(n.as_str()))
            }
        }
    }
}

fn is_own(name: &str) -> bool {
    !OF_LIBRARIES.iter().any(|l| name.starts_with(l))
}

/// The word by which most of its own metrics begin; empty if it has none.
fn word(names: &HashSet<&str>) -> String {
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names.iter().filter(|n| is_own(n)) {
        *words
            .entry(name.split('_').next().unwrap_or(name))
            .or_default() += 1;
    }
    // Of several the first.
    let most = words.into_iter().rev().max_by_key(|(_, count)| *count);
    most.map_or(String::new(), |(word, _)| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::text::sample;
    use super::*;

    fn places(scrapes: &[&[&str]]) -> Vec<usize> {
        let mut exporters = Exporters::default();
        let place = |lines: &&[&str]| {
            let samples = lines.iter().filter_map(|l| sample(l.as_bytes()));
            exporters.of(&mut samples.collect::<Vec<_>>())
        };
        scrapes.iter().map(place).collect()
    }

    #[test]
    fn exporters_are_told_by_their_names() {
        let node = ["go_a 1", "node_load1 1", "node_load5 1"];
        let mysql = ["go_a 1", "mysql_up 1"];
        assert_eq!(places(&[&node, &mysql, &node[..2], &mysql]), [0, 1, 0, 1]);
        // More to count, and less.
        let more = ["go_a 1", "requests_total 1"];
        assert_eq!(places(&[&more[..1], &more, &more[..1]]), [0, 0, 0]);
        let (old, new) = [
            "process_start_time_seconds 1",
            "process_start_time_seconds 2",
        ]
        .into();
        let (plain, other) = (["go_a 1", old], ["go_a 1", new]);
        assert_eq!(places(&[&plain, &other, &plain, &other]), [0, 1, 0, 1]);
    }
}
