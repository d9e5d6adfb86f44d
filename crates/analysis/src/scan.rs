//! Reading a table into cells: an amount for each group and interval.
//!
//! Several threads read parts of a table side by side; rows come in order of time, so each
//! thread's cells are in order too and are joined end to end.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use run::read::{Batch, Opened, Part, ReadError, Texts, Values};
use run::{Manifest, Nanos, Run};

use crate::gather::{At, Gather, Points, Rules, Totals};
use crate::plan::{Check, Key, ScanPlan, TimeCheck, holds, holds_number};

/// An interval in which the table was sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// Its end.
    pub time: Nanos,
    /// Its true length in seconds.
    pub interval: f64,
    /// Its phase, by place in the manifest; `None` before the first mark.
    pub phase: Option<u32>,
}

/// A value of a group's dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyValue {
    /// A word.
    Word(String),
    /// A number: the lower bound of its bucket, in the base unit.
    Number(f64),
}

/// Amounts by group: of each interval, or what they add up to.
#[derive(Clone, Debug)]
pub struct Cells<G = Points> {
    /// The sampled intervals, in order of time; those whose time fails the tests are absent.
    pub slots: Vec<Slot>,
    /// The groups, in order of appearance.
    pub groups: Vec<GroupCells<G>>,
}

/// Amounts of a group. Intervals without a row are absent.
#[derive(Clone, Debug, Default)]
pub struct GroupCells<G = Points> {
    /// A value for each of the scan's `by`.
    pub key: Vec<KeyValue>,
    /// What was gathered.
    pub amounts: G,
}

impl<G> Default for Cells<G> {
    fn default() -> Self {
        Cells {
            slots: vec![],
            groups: vec![],
        }
    }
}

/// Name shown for the time before the first mark.
pub const NO_PHASE: &str = "(none)";

/// What to divide the amounts by: a column of the same table, or the interval's length.
#[derive(Clone, Copy, Debug)]
pub enum Under {
    /// A column.
    Column(&'static str),
    /// The interval's length.
    Interval,
}

impl Under {
    /// As a [`ScanPlan`] has it.
    pub(crate) fn of(column: Option<&'static str>) -> Under {
        column.map_or(Under::Interval, Under::Column)
    }
}

/// Where amounts are among the columns that are read.
#[derive(Clone, Copy, Debug)]
enum Amount {
    Column(usize),
    Interval,
}

/// Reads what `plan` asks for, interval by interval.
pub fn scan(run: &Run, plan: &ScanPlan) -> Result<Cells, ReadError> {
    let rules = Rules {
        kind: plan.kind,
        ratio: None,
        shortest: 0.0,
    };
    gather(run, plan, None, &rules)
}

/// Reads what `plan` asks for, and keeps only what the intervals add up to.
pub fn totals(
    run: &Run,
    plan: &ScanPlan,
    under: Option<Under>,
    rules: &Rules,
) -> Result<Cells<Totals>, ReadError> {
    let mut cells: Cells<Totals> = gather(run, plan, under, rules)?;
    for group in &mut cells.groups {
        group.amounts.close(rules);
    }
    Ok(cells)
}

fn gather<G: Gather>(
    run: &Run,
    plan: &ScanPlan,
    under: Option<Under>,
    rules: &Rules,
) -> Result<Cells<G>, ReadError> {
    let Some(table) = run.table(plan.table.name)? else {
        return Ok(Cells::default());
    };
    let (first, last) = time_bounds(plan);
    let parts: Vec<Part> = table
        .parts
        .iter()
        .filter(|p| {
            p.range
                .is_none_or(|(low, high)| high > first && low <= last)
        })
        .copied()
        .collect();
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(parts.len());
    if threads <= 1 {
        return scan_parts(&table, &parts, plan, under, rules, &run.manifest);
    }
    let share = parts.len().div_ceil(threads);
    let (table, manifest) = (&table, &run.manifest);
    let results: Vec<Result<Cells<G>, ReadError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = parts
            .chunks(share)
            .map(|chunk| {
                scope.spawn(move || scan_parts(table, chunk, plan, under, rules, manifest))
            })
            .collect();
        workers
            .into_iter()
            .map(|w| w.join().expect("scanning does not panic"))
            .collect()
    });
    let mut joined = Cells::<G>::default();
    for cells in results {
        join(&mut joined, cells?, rules);
    }
    Ok(joined)
}

/// The times that all tests of `plan` allow: after the first, not after the second.
fn time_bounds(plan: &ScanPlan) -> (Nanos, Nanos) {
    plan.times.iter().fold(
        (Nanos::MIN, Nanos::MAX),
        |(first, last), check| match check {
            TimeCheck::Within(from, to) => (first.max(*from), last.min(*to)),
            TimeCheck::Phase(_) => (first, last),
            TimeCheck::Never => (Nanos::MAX, Nanos::MIN),
        },
    )
}

/// Appends `more`, which is later, to `cells`.
fn join<G: Gather>(cells: &mut Cells<G>, more: Cells<G>, rules: &Rules) {
    // A sample may be split between two parts.
    let shared = match (cells.slots.last(), more.slots.first()) {
        (Some(a), Some(b)) => a.time == b.time,
        _ => false,
    };
    let offset = cells.slots.len() as u32 - u32::from(shared);
    cells
        .slots
        .extend(more.slots.into_iter().skip(usize::from(shared)));
    let mut places: HashMap<String, usize> = cells
        .groups
        .iter()
        .enumerate()
        .map(|(i, g)| (format!("{:?}", g.key), i))
        .collect();
    for group in more.groups {
        let place = *places.entry(format!("{:?}", group.key)).or_insert_with(|| {
            cells.groups.push(GroupCells {
                key: group.key.clone(),
                ..GroupCells::default()
            });
            cells.groups.len() - 1
        });
        let target = &mut cells.groups[place].amounts;
        target.join(group.amounts, offset, rules);
    }
}

/// The columns a scan reads, and what each is for.
struct Columns {
    names: Vec<&'static str>,
    /// The amounts.
    value: Amount,
    /// The same of what to divide by, if there is such.
    under: Option<Amount>,
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
    let mut amount = |under: Under| match under {
        Under::Column(name) => Amount::Column(want(name)),
        Under::Interval => Amount::Interval,
    };
    let value = amount(Under::of(plan.column));
    let under = under.map(&mut amount);
    Columns {
        names,
        value,
        under,
    }
}

fn scan_parts<G: Gather>(
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
        table.read(part, &columns.names, |batch| state.batch(batch))?;
    }
    Ok(state.finish())
}

/// What one thread keeps while scanning.
struct Scanner<'p, G> {
    plan: &'p ScanPlan,
    rules: &'p Rules,
    manifest: &'p Manifest,
    value: Amount,
    under: Option<Amount>,
    /// By column: what is known of its words.
    words: Vec<WordColumn>,
    /// By column: places of number values seen.
    numbers: Vec<HashMap<u64, u32>>,
    /// The values behind the places of each `by`.
    key_values: Vec<Vec<KeyValue>>,
    /// By level of `by`, by group of the level above: group by place of the value.
    tree: Vec<Vec<Vec<u32>>>,
    /// How many groups each level has.
    level_groups: Vec<u32>,
    /// For each last-level group, its key as places.
    keys: Vec<Vec<Vec<u32>>>,
    by_columns: Vec<ByColumn>,
    test_columns: Vec<(usize, &'p Check)>,
    cells: Cells<G>,
    current: Nanos,
    current_passes: bool,
    current_phase: u32,
    /// Of the rows of a batch: group, and whether the tests hold.
    row_groups: Vec<u32>,
    row_passes: Vec<bool>,
}

enum ByColumn {
    Word(usize),
    Number(usize),
    Phase,
    Host,
}

/// Words of a column: for each code of the present dictionary, its place among the distinct
/// words of the column and whether it passes the tests.
#[derive(Default)]
struct WordColumn {
    places: HashMap<String, u32>,
    passing: Vec<bool>,
    texts: Vec<String>,
    codes: Vec<u32>,
}

const UNKNOWN: u32 = u32::MAX;

impl WordColumn {
    /// Prepares `codes` for a batch whose dictionary is `texts`.
    fn prepare(&mut self, texts: Texts<'_>, checks: &[&Check]) {
        if !texts.are_lasting() {
            self.codes.clear();
        }
        for code in self.codes.len()..texts.len() {
            let text = texts.get(code as i32);
            let place = match self.places.get(text) {
                Some(&place) => place,
                None => {
                    let place = self.texts.len() as u32;
                    self.places.insert(text.to_owned(), place);
                    self.texts.push(text.to_owned());
                    self.passing.push(checks.iter().all(|check| match check {
                        Check::Word(test) => holds(test, text),
                        Check::Number(..) => false,
                    }));
                    place
                }
            };
            self.codes.push(place);
        }
    }

    fn passes(&self, code: i32) -> bool {
        let place = self.place(code) as usize;
        self.passing.get(place).copied().unwrap_or(false)
    }

    fn place(&self, code: i32) -> u32 {
        usize::try_from(code)
            .ok()
            .and_then(|c| self.codes.get(c))
            .copied()
            .unwrap_or(UNKNOWN)
    }
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
            tree: vec![vec![Vec::new()]; levels],
            level_groups: vec![0; levels],
            keys: vec![Vec::new(); levels],
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
        }
    }

    fn batch(&mut self, batch: &Batch<'_>) {
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
                    *group = self.descend(level, *group, place);
                }
            } else {
                for (group, row) in groups.iter_mut().zip(rows.clone()) {
                    let place = self.place(level, batch, row);
                    *group = self.descend(level, *group, place);
                }
            }
        }
        if self.by_columns.is_empty() && self.cells.groups.is_empty() {
            self.cells.groups.push(GroupCells::default());
        }
        self.row_groups = groups;
    }

    /// A new interval begins.
    fn enter(&mut self, time: Nanos, interval: f64) {
        if time == self.current && self.current_passes {
            return;
        }
        self.current = time;
        let phase = phase_at(self.manifest, time);
        self.current_passes = self.plan.times.iter().all(|check| match check {
            TimeCheck::Within(from, to) => *from < time && time <= *to,
            TimeCheck::Phase(test) => holds(test, phase_name(self.manifest, phase)),
            TimeCheck::Never => false,
        });
        if self.current_passes {
            self.cells.slots.push(Slot {
                time,
                interval,
                phase,
            });
            self.current_phase = phase.map_or(0, |p| p + 1);
        }
    }

    /// Gathers the rows of an interval.
    fn take(&mut self, batch: &Batch<'_>, rows: Range<usize>, tested: bool) {
        let (values, unders) = (
            amounts(self.value, batch),
            self.under.map(|u| amounts(u, batch)),
        );
        let at = At {
            slot: self.cells.slots.len() as u32 - 1,
            seconds: self.cells.slots.last().map_or(0.0, |s| s.interval),
        };
        let passes = &self.row_passes[rows.clone()];
        for ((row, group), passes) in rows.zip(&self.row_groups).zip(passes) {
            if tested && !passes {
                continue;
            }
            let value = values[row];
            let under = unders.as_ref().map_or(f64::NAN, |u| u[row]);
            if value.is_nan() && under.is_nan() {
                continue;
            }
            let amounts = &mut self.cells.groups[*group as usize].amounts;
            amounts.add(at, value, under, self.rules);
        }
    }

    /// The place of the row's value among those of a `by`.
    fn place(&mut self, level: usize, batch: &Batch<'_>, row: usize) -> u32 {
        match self.by_columns[level] {
            ByColumn::Word(column) => match &batch.columns[column] {
                Values::Words { codes, .. } => self.words[column].place(codes[row]),
                Values::Numbers(_) => UNKNOWN,
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
                Values::Words { .. } => UNKNOWN,
            },
            ByColumn::Phase => self.current_phase,
            ByColumn::Host => 0,
        }
    }

    /// The group of value `place` below `group`, made if it is new.
    #[inline]
    fn descend(&mut self, level: usize, group: u32, place: u32) -> u32 {
        // No word (a column of another version): the place after all others.
        let at = if place == UNKNOWN {
            0
        } else {
            place as usize + 1
        };
        match self.tree[level][group as usize].get(at) {
            Some(&known) if known != UNKNOWN => known,
            _ => self.new_group(level, group, place, at),
        }
    }

    fn new_group(&mut self, level: usize, group: u32, place: u32, at: usize) -> u32 {
        let children = &mut self.tree[level][group as usize];
        if children.len() <= at {
            children.resize(at + 1, UNKNOWN);
        }
        let new = self.level_groups[level];
        self.level_groups[level] += 1;
        children[at] = new;
        let mut key = if level == 0 {
            vec![]
        } else {
            self.keys[level - 1][group as usize].clone()
        };
        key.push(place);
        self.keys[level].push(key);
        match self.tree.get_mut(level + 1) {
            Some(below) if below.len() <= new as usize => below.push(Vec::new()),
            Some(_) => {}
            None => self.cells.groups.push(GroupCells::default()),
        }
        new
    }

    fn finish(mut self) -> Cells<G> {
        if let Some(last) = self.by_columns.len().checked_sub(1) {
            for (group, places) in self.cells.groups.iter_mut().zip(&self.keys[last]) {
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
        }
        // Groups of rows that a test or an unknown amount left out.
        self.cells.groups.retain(|g| !g.amounts.is_empty());
        self.cells
    }
}

/// The numbers to gather.
fn amounts<'b>(amount: Amount, batch: &'b Batch<'_>) -> Cow<'b, [f64]> {
    let Amount::Column(column) = amount else {
        return Cow::Borrowed(batch.intervals);
    };
    match &batch.columns[column] {
        Values::Numbers(values) => Cow::Borrowed(values),
        Values::Words { .. } => Cow::Owned(vec![f64::NAN; batch.times.len()]),
    }
}

/// The phase of an interval that ends at `time`.
///
/// A mark takes a sample at its moment, so an interval that ends at the mark is still the
/// phase before, and no interval is in two.
pub fn phase_at(manifest: &Manifest, time: Nanos) -> Option<u32> {
    let after = manifest.phases.partition_point(|p| p.from < time);
    let name = &manifest.phases[after.checked_sub(1)?].name;
    // A phase that is entered again is the same phase.
    manifest
        .phases
        .iter()
        .position(|p| p.name == *name)
        .map(|p| p as u32)
}

/// The name of a phase.
pub fn phase_name(manifest: &Manifest, phase: Option<u32>) -> &str {
    phase
        .and_then(|p| manifest.phases.get(p as usize))
        .map_or(NO_PHASE, |p| &p.name)
}
