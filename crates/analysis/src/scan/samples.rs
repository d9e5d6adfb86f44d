//! Grouping the rows of a table of samples or buckets, interval by interval.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use run::read::{Batch, Opened, Part, ReadError, Values};
use run::{Manifest, Nanos};

use super::tree::{Tree, UNKNOWN};
use super::words::WordColumn;
use super::{Cells, GroupCells, KeyValue, Slot, Under, passes, phase_at, phase_name};
use crate::gather::{At, Gather, Rules};
use crate::plan::{Check, Key, ScanPlan, holds_number};

/// The columns a scan reads, and what each is for.
struct Columns {
    names: Vec<&'static str>,
    /// Place in `names` of the amounts; none: the interval's length.
    value: Option<usize>,
    /// The same of what to divide by, if it is divided.
    under: Option<Under<usize>>,
}

fn columns(plan: &ScanPlan, under: Option<Under>) -> Columns {
    let mut names: Vec<&'static str> = Vec::new();
    let mut want = |name: &'static str| {
        names.iter().position(|n| *n == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        })
    };
    for (_, key) in &plan.by {
        if let Key::Word(name) | Key::Number(name) = key {
            want(name);
        }
    }
    for (name, _) in &plan.tests {
        want(name);
    }
    let value = plan.column.map(&mut want);
    let under = under.map(|u| match u {
        Under::Seconds => Under::Seconds,
        Under::Column(name) => Under::Column(want(name)),
    });
    Columns {
        names,
        value,
        under,
    }
}

/// Reads parts of a table, one after the other.
pub(super) fn scan_parts<G: Gather>(
    table: &Opened<'_>,
    parts: &[Part],
    plan: &ScanPlan,
    under: Option<Under>,
    rules: &Rules,
    manifest: &Manifest,
) -> Result<Cells<G>, ReadError> {
    let columns = columns(plan, under);
    let mut state = Scanner::new(plan, rules, manifest, &columns);
    for part in parts {
        if plan.bounds.is_over() {
            break;
        }
        table.read(part, &columns.names, |batch| state.batch(batch))?;
    }
    Ok(state.finish())
}

/// What one thread keeps while scanning.
struct Scanner<'p, G> {
    plan: &'p ScanPlan,
    rules: &'p Rules,
    manifest: &'p Manifest,
    value: Option<usize>,
    under: Option<Under<usize>>,
    /// By column: what is known of its words.
    words: Vec<WordColumn>,
    /// By column: places of number values seen.
    numbers: Vec<HashMap<u64, u32>>,
    /// The values behind the places of each `by`.
    key_values: Vec<Vec<KeyValue>>,
    tree: Tree,
    by_columns: Vec<ByColumn>,
    test_columns: Vec<(usize, &'p Check)>,
    cells: Cells<G>,
    current: Nanos,
    current_passes: bool,
    current_phase: u32,
    /// Of the rows of a batch: group, and whether the tests hold.
    row_groups: Vec<u32>,
    row_passes: Vec<bool>,
    /// Cells since the bounds were last told.
    grown: usize,
}

enum ByColumn {
    Word(usize),
    Number(usize),
    Phase,
    Host,
}

impl<'p, G: Gather> Scanner<'p, G> {
    fn new(
        plan: &'p ScanPlan,
        rules: &'p Rules,
        manifest: &'p Manifest,
        columns: &Columns,
    ) -> Scanner<'p, G> {
        let place = |name: &str| {
            columns
                .names
                .iter()
                .position(|n| *n == name)
                .expect("columns() listed it")
        };
        let by_columns = plan
            .by
            .iter()
            .map(|(_, key)| match key {
                Key::Word(name) => ByColumn::Word(place(name)),
                Key::Number(name) => ByColumn::Number(place(name)),
                Key::Phase => ByColumn::Phase,
                Key::Host => ByColumn::Host,
            })
            .collect::<Vec<_>>();
        let levels = by_columns.len();
        Scanner {
            plan,
            rules,
            manifest,
            value: columns.value,
            under: columns.under,
            words: columns
                .names
                .iter()
                .map(|_| WordColumn::default())
                .collect(),
            numbers: columns.names.iter().map(|_| HashMap::new()).collect(),
            key_values: vec![Vec::new(); levels],
            tree: Tree::new(levels),
            by_columns,
            test_columns: plan
                .tests
                .iter()
                .map(|(name, check)| (place(name), check))
                .collect(),
            cells: Cells::default(),
            current: Nanos::MIN,
            current_passes: false,
            current_phase: 0,
            row_groups: Vec::new(),
            row_passes: Vec::new(),
            grown: 0,
        }
    }

    fn batch(&mut self, batch: &Batch<'_>) {
        if self.plan.bounds.is_over() {
            return;
        }
        for (i, column) in batch.columns.iter().enumerate() {
            if let Values::Words { texts, .. } = column {
                let checks: Vec<&Check> = self
                    .test_columns
                    .iter()
                    .filter(|t| t.0 == i)
                    .map(|t| t.1)
                    .collect();
                self.words[i].prepare(*texts, &checks);
            }
        }
        // Column by column, because deciding anew for each row what kind its columns are
        // would take most of the time.
        let tested = self.test(batch);
        let mut row = 0;
        let mut grouped: Option<(Range<usize>, u32)> = None;
        while row < batch.times.len() {
            let time = batch.times[row];
            let same = batch.times[row..].iter().position(|t| *t != time);
            let end = same.map_or(batch.times.len(), |n| row + n);
            if time != self.current || self.cells.slots.is_empty() {
                self.enter(time, batch.intervals[row]);
            }
            if self.current_passes {
                // Most samples have the same instances in the same order as the one before.
                let same = grouped.take().is_some_and(|(rows, phase)| {
                    phase == self.current_phase && self.same_keys(batch, rows, row..end)
                });
                if !same {
                    self.group(batch, row..end);
                }
                grouped = Some((row..end, self.current_phase));
                self.take(batch, row..end, tested);
            }
            row = end;
        }
        let grown = std::mem::take(&mut self.grown);
        self.plan.bounds.found(self.tree.groups(), grown);
    }

    /// Fills `row_passes`; answers whether any test is to be looked at.
    fn test(&mut self, batch: &Batch<'_>) -> bool {
        let passes = &mut self.row_passes;
        passes.clear();
        passes.resize(batch.times.len(), true);
        for (column, check) in &self.test_columns {
            let rows = passes.iter_mut();
            match (&batch.columns[*column], check) {
                (Values::Words { codes, .. }, Check::Word(_)) => {
                    let words = &self.words[*column];
                    for (passes, code) in rows.zip(*codes) {
                        *passes &= words.passes(*code);
                    }
                }
                (Values::Numbers(values), Check::Number(test, listed)) => {
                    for (passes, value) in rows.zip(values.iter()) {
                        *passes &= holds_number(test, listed, *value);
                    }
                }
                _ => passes.fill(false),
            }
        }
        !self.test_columns.is_empty()
    }

    /// Whether two intervals of a batch have the same groups, row by row (but for the phase).
    fn same_keys(&self, batch: &Batch<'_>, a: Range<usize>, b: Range<usize>) -> bool {
        a.len() == b.len()
            && self.by_columns.iter().all(|by| match by {
                ByColumn::Word(column) | ByColumn::Number(column) => {
                    match &batch.columns[*column] {
                        Values::Words { codes, .. } => codes[a.clone()] == codes[b.clone()],
                        Values::Numbers(values) => values[a.clone()] == values[b.clone()],
                        Values::Whole(..) => false,
                    }
                }
                ByColumn::Phase | ByColumn::Host => true,
            })
    }

    /// Fills `row_groups` for the rows of an interval.
    fn group(&mut self, batch: &Batch<'_>, rows: Range<usize>) {
        let mut groups = std::mem::take(&mut self.row_groups);
        groups.clear();
        groups.resize(rows.len(), 0);
        for level in 0..self.by_columns.len() {
            if let ByColumn::Word(column) = self.by_columns[level]
                && let Values::Words { codes, .. } = &batch.columns[column]
            {
                for (group, code) in groups.iter_mut().zip(&codes[rows.clone()]) {
                    let place = self.words[column].place(*code);
                    *group = self.tree.descend(level, *group, place);
                }
            } else {
                for (group, row) in groups.iter_mut().zip(rows.clone()) {
                    let place = self.place(level, batch, row);
                    *group = self.tree.descend(level, *group, place);
                }
            }
        }
        let known = self.tree.groups();
        self.cells.groups.resize_with(known, GroupCells::default);
        self.row_groups = groups;
    }

    /// A new interval begins.
    fn enter(&mut self, time: Nanos, interval: f64) {
        if time == self.current && self.current_passes {
            return;
        }
        self.current = time;
        let slot = Slot {
            time,
            interval,
            phase: phase_at(self.manifest, time),
        };
        self.current_passes = passes(self.plan, self.manifest, &slot);
        if self.current_passes {
            self.cells.slots.push(slot);
            self.current_phase = slot.phase.map_or(0, |p| p + 1);
        }
    }

    /// Gathers the rows of an interval.
    fn take(&mut self, batch: &Batch<'_>, rows: Range<usize>, tested: bool) {
        let (values, unders) = (
            amounts(self.value, batch),
            self.under.map(|under| match under {
                Under::Seconds => amounts(None, batch),
                Under::Column(column) => amounts(Some(column), batch),
            }),
        );
        let slot = self.cells.slots.len() as u32 - 1;
        let seconds = self.cells.slots.last().map_or(0.0, |s| s.interval);
        let at = At::new(slot, self.current, seconds, self.rules);
        let passes = &self.row_passes[rows.clone()];
        for ((row, group), passes) in rows.zip(&self.row_groups).zip(passes) {
            if tested && !passes {
                continue;
            }
            let mut value = values[row];
            let mut under = unders.as_ref().map_or(f64::NAN, |u| u[row]);
            if value.is_nan() && self.under == Some(Under::Seconds) {
                // What is not known was not observed.
                under = f64::NAN;
            }
            if value.is_nan() && under.is_nan() {
                continue;
            }
            if self.plan.seconds {
                value = batch.intervals[row];
            }
            let amounts = &mut self.cells.groups[*group as usize].amounts;
            self.grown += amounts.add(at, value, under, self.rules);
        }
    }

    /// The place of the row's value among those of a `by`.
    fn place(&mut self, level: usize, batch: &Batch<'_>, row: usize) -> u32 {
        match self.by_columns[level] {
            ByColumn::Word(column) => match &batch.columns[column] {
                Values::Words { codes, .. } => self.words[column].place(codes[row]),
                Values::Numbers(_) | Values::Whole(..) => UNKNOWN,
            },
            ByColumn::Number(column) => match &batch.columns[column] {
                Values::Numbers(values) => {
                    let value = values[row];
                    let known = &mut self.numbers[column];
                    let next = known.len() as u32;
                    let place = *known.entry(value.to_bits()).or_insert(next);
                    if place == next {
                        self.key_values[level].push(KeyValue::Number(value));
                    }
                    place
                }
                Values::Words { .. } | Values::Whole(..) => UNKNOWN,
            },
            ByColumn::Phase => self.current_phase,
            ByColumn::Host => 0,
        }
    }

    fn finish(mut self) -> Cells<G> {
        for (group, places) in self.cells.groups.iter_mut().zip(self.tree.keys()) {
            group.key = places
                .iter()
                .enumerate()
                .map(|(level, &place)| match &self.by_columns[level] {
                    ByColumn::Word(column) => {
                        let texts = &self.words[*column].texts;
                        let text = texts.get(place as usize).cloned().unwrap_or_default();
                        KeyValue::Word(text)
                    }
                    ByColumn::Number(_) => self.key_values[level]
                        .get(place as usize)
                        .cloned()
                        .unwrap_or(KeyValue::Number(f64::NAN)),
                    ByColumn::Phase => {
                        let name = phase_name(self.manifest, place.checked_sub(1));
                        KeyValue::Word(name.to_owned())
                    }
                    ByColumn::Host => KeyValue::Word(self.manifest.host.clone()),
                })
                .collect();
        }
        // Groups of rows that a test or an unknown amount left out.
        self.cells.groups.retain(|g| !g.amounts.is_empty());
        self.cells
    }
}

/// The numbers to gather: a column, or without one the intervals' lengths.
fn amounts<'b>(column: Option<usize>, batch: &'b Batch<'_>) -> Cow<'b, [f64]> {
    match column.map(|c| &batch.columns[c]) {
        Some(Values::Numbers(values)) => Cow::Borrowed(values),
        // Whole numbers are of events, which are scanned elsewhere.
        Some(Values::Words { .. } | Values::Whole(..)) => {
            Cow::Owned(vec![f64::NAN; batch.times.len()])
        }
        None => Cow::Borrowed(batch.intervals),
    }
}
