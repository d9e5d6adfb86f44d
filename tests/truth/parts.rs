//! Whether the parts of a statistic sum to the whole.

use std::collections::BTreeMap;

use analysis::scan::KeyValue;
use analysis::{Answer, evaluate};
use run::{Kind, Nanos, Run, Subject, Table, Unit};

/// Two amounts of that kind in one.
fn together(kind: Kind, one: f64, other: f64) -> f64 {
    match kind {
        Kind::Peak => one.max(other),
        Kind::Sum | Kind::Level => one + other,
    }
}

/// Amounts by interval, groups taken together.
fn cells(answer: &Answer, kind: Kind) -> BTreeMap<Nanos, f64> {
    let mut cells = BTreeMap::new();
    for group in &answer.groups {
        for (place, value) in &group.series {
            let slot = answer.slots[*place as usize];
            let amount = if answer.is_rate() {
                value * slot.interval
            } else {
                *value
            };
            let cell = cells.entry(slot.time).or_insert(0.0);
            *cell = together(kind, *cell, amount);
        }
    }
    cells
}

/// One statistic of one run.
pub(crate) struct Asked<'r> {
    pub(crate) run: &'r Run,
    pub(crate) subject: &'static Subject,
    pub(crate) measure: &'static str,
}

impl Asked<'_> {
    pub(crate) fn answer(&self, rest: &str) -> Answer {
        let text = format!("{}.{} {rest}", self.subject.name, self.measure);
        evaluate(self.run, &text).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    fn kind(&self) -> Kind {
        self.subject.measure(self.measure).expect("a measure").kind
    }

    /// The sum over all intervals and, for each interval, over all groups of `parts` is that
    /// of `whole`; of a maximum, the greatest.
    fn sums(&self, parts: &[&str], whole: &str) {
        let answers: Vec<Answer> = parts.iter().map(|p| self.answer(p)).collect();
        let whole_answer = self.answer(whole);
        let what = format!(
            "{}.{} {parts:?} and {whole:?}",
            self.subject.name, self.measure
        );
        let mut added = BTreeMap::new();
        let kind = self.kind();
        for (time, amount) in answers.iter().flat_map(|a| cells(a, kind)) {
            let sum = added.entry(time).or_insert(0.0);
            *sum = together(kind, *sum, amount);
        }
        let expected = cells(&whole_answer, kind);
        let size = |m: &BTreeMap<Nanos, f64>| m.values().fold(0.0_f64, |a, b| a.max(b.abs()));
        let grain = 1e-9 * size(&expected).max(1e-9);
        assert_eq!(
            added.keys().collect::<Vec<_>>(),
            expected.keys().collect::<Vec<_>>(),
            "{what}: intervals"
        );
        for (time, amount) in &expected {
            let sum = added[time];
            assert!(
                (sum - amount).abs() <= grain,
                "{what}: {sum} and {amount} at {time}"
            );
        }
        if !whole_answer.is_rate() {
            return;
        }
        let total = |a: &Answer| a.groups.iter().filter_map(|g| g.total).sum::<f64>();
        let (sum, expected) = (answers.iter().map(total).sum::<f64>(), total(&whole_answer));
        let grain = 1e-9 * expected.abs().max(1e-9);
        assert!(
            (sum - expected).abs() <= grain,
            "{what}: {sum} and {expected}"
        );
    }

    /// The whole with which a breakdown by these dimensions is to be compared. A breakdown by
    /// a dimension that is restricted unless named lifts the restriction; so does a
    /// predicate that every word passes.
    fn whole(&self, by: &[&str]) -> String {
        let lifted = |d: &&&str| self.subject.unless_named.iter().any(|u| u.dimension == **d);
        let tests: Vec<String> = by
            .iter()
            .filter(lifted)
            .map(|d| format!("{d} ~ \"\""))
            .collect();
        if tests.is_empty() {
            String::new()
        } else {
            format!("where {}", tests.join(" and "))
        }
    }

    /// By each dimension of the table, each two, all of them, phase and host.
    pub(crate) fn breakdowns_sum(&self, table: &Table) {
        let dimensions = dimensions(table);
        for (i, first) in dimensions.iter().enumerate() {
            self.sums(&[&format!("by {first}")], &self.whole(&[first]));
            for second in &dimensions[i + 1..] {
                let by = format!("by {second}, {first}");
                self.sums(&[&by], &self.whole(&[first, second]));
            }
        }
        let all = dimensions.join(", ");
        if !all.is_empty() {
            self.sums(&[&format!("by {all}")], &self.whole(&dimensions));
        }
        self.sums(&["by phase"], "");
        self.sums(&["by host"], "");
    }

    /// For each kind of predicate.
    pub(crate) fn what_passes_and_what_does_not_sum(&self, table: &Table) {
        for dimension in dimensions(table) {
            match self
                .subject
                .dimension(dimension)
                .expect("a dimension")
                .number
            {
                None => self.words_sum(dimension),
                Some(unit) => self.numbers_sum(dimension, unit),
            }
        }
        self.sums(&["where phase = steady", "where phase != steady"], "");
        self.sums(
            &["where phase = steady", "where phase in (none), warm-up"],
            "",
        );
        let times = [
            "where time < 800ms",
            "where time in 800ms..2.1s",
            "where time > 2.1s",
        ];
        self.sums(&times, "");
    }

    fn words_sum(&self, dimension: &str) {
        // Named in the whole as well, so that the same restrictions are lifted in both.
        let whole = format!("where {dimension} ~ \"\"");
        let groups = self.answer(&format!("by {dimension} {whole}")).groups;
        let words = groups.iter().filter_map(|g| match &g.key[0] {
            KeyValue::Word(word) if !word.contains('"') => Some(word.clone()),
            _ => None,
        });
        let words: Vec<String> = words.collect();
        for word in words.first().into_iter().chain(words.last()) {
            let is = format!("where {dimension} = \"{word}\"");
            let is_not = format!("where {dimension} != \"{word}\"");
            self.sums(&[&is, &is_not], &whole);
        }
        let half = format!("where {dimension} ~ \"^[a-m0/]\"");
        let other = format!("where {dimension} !~ \"^[a-m0/]\"");
        self.sums(&[&half, &other], &whole);
    }

    fn numbers_sum(&self, dimension: &str, unit: Unit) {
        let (all, middle) = match unit {
            Unit::Seconds => ("-1000000s", "1ms"),
            Unit::Bytes => ("-1000000000000000", "4096"),
            _ => ("-1000000000000000", "2"),
        };
        let whole = format!("where {dimension} >= {all}");
        let below = format!("where {dimension} < {middle}");
        let rest = format!("where {dimension} >= {middle}");
        self.sums(&[&below, &rest], &whole);
    }
}

/// What a table can be split by: its columns, and sums of them.
fn dimensions(table: &Table) -> Vec<&'static str> {
    let columns = table.dimensions.iter().copied();
    columns
        .chain(table.sums.iter().map(|(name, _)| *name))
        .collect()
}
