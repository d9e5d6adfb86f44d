//! Grouping the rows of a table of samples or buckets, interval by interval.

use std::collections::HashMap;
use std::ops::Range;

use run::read::{Batch, Opened, Part, ReadError, Values};
use run::{Manifest, Nanos};

use super::amounts::Amounts;
use super::tree::{Tree, UNKNOWN};
use super::words::WordColumn;
use super::{Cells, GroupCells, KeyValue, Slot, Split, Under, passes, phase_at, phase_name};
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
    split: Split,
) -> Result<Cells<G>, ReadError> {
    let columns = columns(plan, under);
    let mut state = Scanner::new(plan, rules, manifest, &columns);
    state.split = split;
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
    split: Split,
    is_imported: bool,
    current: Nanos,
    current_passes: bool,
    current_phase: u32,
    /// Of the rows of a batch: whether the tests hold.
    row_passes: Vec<bool>,
    /// Of the rows of the interval that was grouped last: their groups.
    row_groups: Vec<u32>,
    /// The same, as groups and how many rows of each come one after the other.
    runs: Vec<(u32, u32)>,
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
            split: Split::ByTime,
            is_imported: !manifest.imported.is_empty(),
            current: Nanos::MIN,
            current_passes: false,
            current_phase: 0,
            row_passes: Vec::new(),
            row_groups: Vec::new(),
            runs: Vec::new(),
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
        let passes = std::mem::take(&mut self.row_passes);
        let amounts = Amounts::new(
            batch,
            self.value,
            self.under,
            self.plan.seconds,
            tested.then_some(&passes[..]),
        );
        let mut row = 0;
        let mut grouped: Option<(Range<usize>, u32)> = None;
        while row < batch.times.len() {
            let time = batch.times[row];
            let mut end = row + equal(&batch.times[row..], time);
            let interval = batch.intervals[row];
            // What is recorded has the same for all.
            let mut intervals = batch.intervals[row..end].iter();
            if self.is_imported
                && let Some(others) = intervals.position(|i| differ(*i, interval))
            {
                self.cells.uneven = true;
                if self.split == Split::ByInterval {
                    end = row + others;
                }
            }
            let last = self.cells.slots.last();
            let is_new = self.split == Split::ByInterval
                && last.is_some_and(|last| differ(last.interval, interval));
            if time != self.current || last.is_none() || is_new {
                self.enter(time, interval, is_new);
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
                if let Some(amounts) = &amounts {
                    self.take(amounts, row..end);
                }
            }
            row = end;
        }
        self.row_passes = passes;
        let grown = std::mem::take(&mut self.grown);
        self.plan.bounds.found(self.tree.groups(), grown);
    }

    /// Fills `row_passes`; answers whether any row does not pass.
    fn test(&mut self, batch: &Batch<'_>) -> bool {
        let passes = &mut self.row_passes;
        passes.clear();
        passes.resize(batch.times.len(), true);
        for (column, check) in &self.test_columns {
            match (&batch.columns[*column], check) {
                (Values::Words { codes, .. }, Check::Word(_)) => {
                    self.words[*column].test(codes, passes);
                }
                (Values::Numbers(values), Check::Number(test, listed)) => {
                    for (passes, value) in passes.iter_mut().zip(values.iter()) {
                        *passes &= holds_number(test, listed, *value);
                    }
                }
                _ => passes.fill(false),
            }
        }
        passes.contains(&false)
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

    /// Fills `runs` for the rows of an interval.
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
        let runs = groups.chunk_by(|a, b| a == b);
        self.runs.clear();
        self.runs.extend(runs.map(|run| (run[0], run.len() as u32)));
        self.row_groups = groups;
    }

    /// A new interval begins.
    fn enter(&mut self, time: Nanos, interval: f64, is_new: bool) {
        if time == self.current && self.current_passes && !is_new {
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

    /// Gathers the rows of an interval, which are as grouped last.
    fn take(&mut self, amounts: &Amounts<'_>, rows: Range<usize>) {
        let slot = self.cells.slots.len() as u32 - 1;
        let seconds = self.cells.slots.last().map_or(0.0, |s| s.interval);
        let at = At::new(slot, self.current, seconds, self.rules);
        let mut from = rows.start;
        for (group, count) in &self.runs {
            let end = from + *count as usize;
            let cells = &mut self.cells.groups[*group as usize].amounts;
            if let Some([amount, under]) = amounts.of(from..end, self.rules) {
                self.grown += cells.add(&at, amount, under, self.rules);
            } else if self.rules.unknown && amounts.are_unknown(from..end) {
                self.grown += cells.add(&at, f64::NAN, f64::NAN, self.rules);
            }
            from = end;
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

/// Whether two lengths of intervals are not the same.
fn differ(a: f64, b: f64) -> bool {
    (a - b).abs() > 1e-6 * b.abs()
}

/// How many of `times`, from the first, are `time`.
fn equal(times: &[Nanos], time: Nanos) -> usize {
    // Compared several at once, which one after the other are not.
    const AT_ONCE: usize = 64;
    let differ = |some: &&[Nanos]| some.iter().fold(0, |bits, t| bits | (t ^ time)) != 0;
    let pieces = times.chunks(AT_ONCE).position(|p| differ(&p));
    let from = pieces.map_or(times.len(), |n| n * AT_ONCE);
    let more = times[from..].iter().position(|t| *t != time);
    more.map_or(times.len(), |n| from + n)
}
