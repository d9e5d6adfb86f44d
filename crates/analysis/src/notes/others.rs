//! What was asked for by name may be among what has no name.

use std::collections::BTreeSet;

use run::catalog::Detail;

use super::{Asked, OTHER};
use crate::answer::Group;
use crate::error::Error;
use crate::plan::holds;
use crate::scan::KeyValue;
use crate::syntax::{Predicate, Test};

/// The dimension of which events, too, have others: of all else an event has its own name.
const OF_EVENTS: &str = "interface";

/// Sources that have others. Only of their tables all is read once more: a day of disks takes a
/// second to read.
const SOURCES: [&str; 7] = [
    "process",
    "bpf-cpu",
    "bpf-file",
    "bpf-net",
    "bpf-nfs",
    "bpf-nfs-client",
    "bpf-tcp",
];

impl Asked<'_> {
    /// That rows which have no name by what the predicates test may be what was asked for, or what
    /// was not.
    pub(super) fn others(&self) -> Result<Vec<String>, Error> {
        let tested: Vec<&Predicate> = self
            .expression
            .predicates
            .iter()
            .filter(|p| self.may_have_others(p))
            .collect();
        if tested.is_empty() {
            return Ok(vec![]);
        }
        let found = Found::new(&tested, &self.with_others(&tested)?.groups);
        let table = self.plan.over.table.name;
        let note = |dimensions: BTreeSet<&str>, what: &str| {
            let named: Vec<&str> = dimensions.into_iter().collect();
            (!named.is_empty()).then(|| {
                format!(
                    "beyond the room of `{table}`, rows are added up as `(other)` by {}: {what} may \
                     be in it",
                    named.join(" and "),
                )
            })
        };
        let missed = note(found.missed, "what was asked for");
        let counted = note(found.counted, "what was not to be counted");
        Ok(missed.into_iter().chain(counted).collect())
    }

    /// Whether it tests a word that rows may lack.
    fn may_have_others(&self, predicate: &Predicate) -> bool {
        let name = predicate.dimension.text.as_str();
        let is_word = self
            .subject()
            .and_then(|s| s.dimension(name))
            .is_some_and(|d| d.number.is_none());
        let table = self.plan.over.table;
        let is_told =
            SOURCES.contains(&table.source) && (table.detail != Detail::Event || name == OF_EVENTS);
        // `other.tool.column` is short for two predicates, which stand nowhere.
        let is_written = predicate.dimension.span != predicate.span;
        is_word && is_told && is_written
    }

    /// The same by what `tested` test, whatever they say.
    fn with_others(&self, tested: &[&Predicate]) -> Result<crate::Answer, Error> {
        let is_tested = |name: &str| tested.iter().any(|p| p.dimension.text == name);
        let mut by: Vec<&str> = tested.iter().map(|p| p.dimension.text.as_str()).collect();
        // A predicate that all pass: what is implied where nothing is said of it stays away.
        let any: Vec<String> = by.iter().map(|name| format!("{name} ~ \"\"")).collect();
        by.extend(self.expression.by.iter().map(|d| d.text.as_str()));
        let mut seen = BTreeSet::new();
        let mut unique = by.clone();
        unique.retain(|name| seen.insert(*name));
        let keep = |p: &Predicate| !is_tested(&p.dimension.text);
        let mut answer = self.instead(&self.expression.measure.text, &unique, &keep, &any)?;
        // Places as those of `tested`, which may name a dimension twice.
        let places: Vec<usize> = by[..tested.len()]
            .iter()
            .filter_map(|name| unique.iter().position(|u| u == name))
            .collect();
        for group in &mut answer.groups {
            group.key = places.iter().map(|p| group.key[*p].clone()).collect();
        }
        Ok(answer)
    }
}

/// Dimensions by which rows have no name.
#[derive(Default)]
struct Found<'p> {
    /// They may have been asked for, and were not counted.
    missed: BTreeSet<&'p str>,
    /// They may not have been asked for, and were counted.
    counted: BTreeSet<&'p str>,
}

impl<'p> Found<'p> {
    /// In `groups`, whose keys are what `tested` test.
    fn new(tested: &[&'p Predicate], groups: &[Group]) -> Found<'p> {
        let mut found = Found::default();
        for group in groups {
            if group.total.unwrap_or(group.mean) > 0.0 {
                found.take(tested, group);
            }
        }
        found
    }

    fn take(&mut self, tested: &[&'p Predicate], group: &Group) {
        let words = group.key.iter().map(|key| match key {
            KeyValue::Word(word) => word.as_str(),
            KeyValue::Number(_) => "",
        });
        let (mut missed, mut counted) = (BTreeSet::new(), BTreeSet::new());
        for (predicate, word) in tested.iter().zip(words) {
            let passes = holds(&predicate.test, word);
            let is_other = word.starts_with(OTHER);
            let name = predicate.dimension.text.as_str();
            if !passes && !is_other {
                return;
            }
            if !passes {
                missed.insert(name);
            } else if is_other && leaves_out(&predicate.test) {
                counted.insert(name);
            }
        }
        if missed.is_empty() {
            self.counted.extend(counted);
        } else {
            self.missed.extend(missed);
        }
    }
}

/// Whether it says what not to count.
fn leaves_out(test: &Test) -> bool {
    matches!(test, Test::NotIn(_) | Test::Matches(_, false))
}
