//! Grouping events.
//!
//! A batch of them is taken column by column: which interval, which pass the tests, which
//! group, how much. Amounts are added up in the groups of the interval that is under way, and
//! put away when another comes. Whole numbers add without error, so that the order of events
//! does not matter.

use run::catalog::{self, Stored, Subject, Table, WEIGHT};
use run::read::{Batch, Values};
use run::whole::Step;
use run::{Manifest, Nanos};

use super::frame::Frame;
use super::numbers::{Exact, Number, bucket, bucket_key};
use super::tree::{Tree, UNKNOWN};
use super::words::WordColumn;
use super::{GroupCells, KeyValue, phase_name};
use crate::bounds::Bounds;
use crate::gather::Points;
use crate::plan::{Check, Key, ScanPlan};

/// What one thread found: groups with amounts by place in the frame, in any order.
pub(super) struct Tally {
    /// Of each amount asked for.
    pub(super) groups: Vec<Vec<GroupCells>>,
    /// Which intervals had events, whatever the tests say.
    pub(super) seen: Vec<bool>,
    /// When the last event was.
    pub(super) last: Nanos,
}

/// The columns to be read, and the numbers made of them.
struct Columns {
    subject: Option<&'static Subject>,
    table: &'static Table,
    names: Vec<&'static str>,
    numbers: Vec<(&'static str, Number)>,
}

impl Columns {
    fn column(&mut self, name: &'static str) -> usize {
        let known = self.names.iter().position(|n| *n == name);
        known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    fn number(&mut self, name: &'static str) -> usize {
        if let Some(known) = self.numbers.iter().position(|(n, _)| *n == name) {
            return known;
        }
        let sum = self.table.sums.iter().find(|(sum, _)| *sum == name);
        let parts = sum.map_or(vec![name], |(_, parts)| parts.to_vec());
        let columns = parts.into_iter().map(|part| self.column(part)).collect();
        let unit = self.subject.and_then(|s| s.dimension(name)?.number);
        let number = Number::new(unit.map_or(Step::One, Step::of), columns);
        self.numbers.push((name, number));
        self.numbers.len() - 1
    }
}

/// Where the value of a level of groups comes from.
enum Level {
    Word(usize),
    Number(usize),
    Phase,
    Host,
}

/// What an event adds, before its weight.
#[derive(Clone, Copy)]
struct Amount {
    /// This number; else one.
    number: Option<usize>,
    /// Nothing, unless the word of that column is this one, or with `false` if it is.
    choice: Option<(usize, &'static str, bool)>,
}

/// What one thread keeps while scanning.
pub(super) struct Scanner<'p> {
    bounds: &'p Bounds,
    frame: &'p Frame,
    columns: Columns,
    words: Vec<WordColumn>,
    word_tests: Vec<(usize, &'p Check)>,
    number_tests: Vec<(usize, Exact<'p>)>,
    levels: Vec<Level>,
    /// What is added up, and the sums of it.
    wanted: Vec<(Amount, Sums)>,
    weight: usize,
    tree: Tree,
    /// Of each row of a batch: its interval, and whether it is wanted.
    places: Vec<u32>,
    keep: Vec<bool>,
    /// The rows that are wanted, and group and amount of each of them.
    rows: Vec<u32>,
    groups: Vec<u32>,
    amounts: Vec<f64>,
    seen: Vec<bool>,
    last: Nanos,
}

impl<'p> Scanner<'p> {
    /// Adds up each of `made`, of the events that `plan` wants and of which those before are known.
    pub(super) fn new(
        plan: &'p ScanPlan,
        made: &[Option<Stored>],
        frame: &'p Frame,
    ) -> Scanner<'p> {
        let mut columns = Columns {
            subject: catalog::table(plan.table.name).map(|(subject, _)| subject),
            table: plan.table,
            names: Vec::new(),
            numbers: Vec::new(),
        };
        let (mut word_tests, mut number_tests) = (Vec::new(), Vec::new());
        for (name, check) in &plan.tests {
            match check {
                Check::Word(_) => word_tests.push((columns.column(name), check)),
                Check::Number(test, listed) => {
                    let at = columns.number(name);
                    let step = columns.numbers[at].1.step;
                    number_tests.push((at, Exact::new(test, listed, step)));
                }
            }
        }
        let level = |(_, key): &(usize, Key)| match key {
            Key::Word(name) => Level::Word(columns.column(name)),
            Key::Number(name) => Level::Number(columns.number(name)),
            Key::Phase => Level::Phase,
            Key::Host => Level::Host,
        };
        let levels: Vec<Level> = plan.by.iter().map(level).collect();
        let amount = |made: &Option<Stored>| {
            let made = made.unwrap_or(Stored::One);
            let number = made.number().map(|name| columns.number(name));
            let choice = made.choice();
            let choice = choice.map(|(name, word, wanted)| (columns.column(name), word, wanted));
            Amount { number, choice }
        };
        let amounts: Vec<Amount> = made.iter().map(amount).collect();
        let wanted = amounts.into_iter().map(|a| (a, Sums::default())).collect();
        let weight = columns.column(WEIGHT.name);
        Scanner {
            bounds: &plan.bounds,
            frame,
            words: columns
                .names
                .iter()
                .map(|_| WordColumn::default())
                .collect(),
            columns,
            word_tests,
            number_tests,
            tree: Tree::new(levels.len()),
            levels,
            wanted,
            weight,
            places: Vec::new(),
            keep: Vec::new(),
            rows: Vec::new(),
            groups: Vec::new(),
            amounts: Vec::new(),
            seen: vec![false; frame.len()],
            last: Nanos::MIN,
        }
    }

    /// The columns to be read.
    pub(super) fn columns(&self) -> Vec<&'static str> {
        self.columns.names.clone()
    }

    /// Reads a word column too; answers with its place among the columns of a batch.
    pub(super) fn want_word(&mut self, name: &'static str) -> usize {
        let at = self.columns.column(name);
        self.words
            .resize_with(self.columns.names.len(), WordColumn::default);
        at
    }

    /// Reads a number too; answers with its place for [`Scanner::number`].
    pub(super) fn want_number(&mut self, name: &'static str) -> usize {
        let at = self.columns.number(name);
        self.words
            .resize_with(self.columns.names.len(), WordColumn::default);
        at
    }

    /// The rows of the batch that were selected.
    pub(super) fn rows(&mut self) -> &mut Vec<u32> {
        &mut self.rows
    }

    /// A number of a row of the batch, in the base unit.
    pub(super) fn number(&self, at: usize, row: usize) -> f64 {
        let number = &self.columns.numbers[at].1;
        number.steps[row] / number.step.per_unit()
    }

    /// Takes a batch of events.
    pub(super) fn batch(&mut self, batch: &Batch<'_>) {
        if self.bounds.is_over() || !self.select(batch) {
            return;
        }
        self.group(batch);
        let mut unknown = Vec::new();
        for which in 0..self.wanted.len() {
            self.weigh(batch, which);
            // What is below the line belongs to what is above it: of a trace that begins under load
            // the first I/Os have an end and no time.
            for at in unknown.drain(..) {
                if let Some(amount) = self.amounts.get_mut(at) {
                    *amount = f64::NAN;
                }
            }
            if which + 1 < self.wanted.len() {
                let amounts = self.amounts.iter().enumerate();
                unknown.extend(amounts.filter(|(_, a)| a.is_nan()).map(|(at, _)| at));
            }
            self.add(which);
        }
        let sums = self.wanted.iter_mut().map(|(_, sums)| sums);
        let grown = sums.map(|sums| std::mem::take(&mut sums.grown)).sum();
        self.bounds.found(self.tree.groups(), grown);
    }

    /// Fills `rows` with those that are wanted, and the numbers of the batch; answers whether
    /// there are any.
    pub(super) fn select(&mut self, batch: &Batch<'_>) -> bool {
        self.find_intervals(batch.times);
        self.test_words(batch);
        if !self.keep.contains(&true) {
            return false;
        }
        for (_, number) in &mut self.columns.numbers {
            number.load(batch);
        }
        for (at, test) in &self.number_tests {
            test.test(&self.columns.numbers[*at].1, &mut self.keep);
        }
        self.rows.clear();
        let all = 0..self.keep.len() as u32;
        if self.keep.contains(&false) {
            self.rows.extend(all.filter(|row| self.keep[*row as usize]));
        } else {
            self.rows.extend(all);
        }
        !self.rows.is_empty()
    }

    fn find_intervals(&mut self, times: &[Nanos]) {
        self.places.clear();
        self.keep.clear();
        let (least, most) = times
            .iter()
            .fold((Nanos::MAX, Nanos::MIN), |(least, most), time| {
                (least.min(*time), most.max(*time))
            });
        self.last = self.last.max(most);
        let (mut place, mut after, mut to) = self.frame.at(least);
        let mut wanted = self.frame.wants(place);
        // Most batches are shorter than an interval.
        if most <= to {
            self.seen[place as usize] |= !times.is_empty();
            self.places.resize(times.len(), place);
            self.keep.resize(times.len(), wanted);
            return;
        }
        for &time in times {
            if time <= after || time > to {
                (place, after, to) = self.frame.at(time);
                wanted = self.frame.wants(place);
            }
            self.seen[place as usize] = true;
            self.places.push(place);
            self.keep.push(wanted);
        }
    }

    fn test_words(&mut self, batch: &Batch<'_>) {
        for (column, values) in batch.columns.iter().enumerate() {
            if let Values::Words { texts, .. } = values {
                let tests = self.word_tests.iter().filter(|(c, _)| *c == column);
                let checks: Vec<&Check> = tests.map(|(_, check)| *check).collect();
                self.words[column].prepare(*texts, &checks);
            }
        }
        for (column, _) in &self.word_tests {
            let words = &self.words[*column];
            match &batch.columns[*column] {
                Values::Words { codes, .. } => words.test(codes, &mut self.keep),
                // A column of another version.
                Values::Numbers(_) | Values::Whole(..) => self.keep.fill(false),
            }
        }
    }

    /// Finds the group of each row that is wanted.
    fn group(&mut self, batch: &Batch<'_>) {
        self.groups.clear();
        self.groups.resize(self.rows.len(), 0);
        for (level, of) in self.levels.iter().enumerate() {
            let (rows, groups) = (&self.rows, &mut self.groups);
            match of {
                Level::Word(column) => match &batch.columns[*column] {
                    Values::Words { codes, .. } => {
                        let words = &self.words[*column];
                        self.tree
                            .descend_all(level, rows, groups, |row| words.place(codes[row]));
                    }
                    Values::Numbers(_) | Values::Whole(..) => {
                        self.tree.descend_all(level, rows, groups, |_| UNKNOWN);
                    }
                },
                Level::Number(at) => {
                    let steps = &self.columns.numbers[*at].1.steps;
                    self.tree
                        .descend_all(level, rows, groups, |row| bucket(steps[row]));
                }
                Level::Phase => {
                    let phase = |row: usize| self.frame.phase(self.places[row]);
                    self.tree
                        .descend_all(level, rows, groups, |row| phase(row).map_or(0, |p| p + 1));
                }
                Level::Host => self.tree.descend_all(level, rows, groups, |_| 0),
            }
        }
        let groups = self.tree.groups();
        self.wanted
            .iter_mut()
            .for_each(|(_, sums)| sums.grow(groups));
    }

    /// Fills `amounts`: what each row that is wanted adds, times its weight.
    fn weigh(&mut self, batch: &Batch<'_>, which: usize) {
        let rows = || self.rows.iter().map(|row| *row as usize);
        let amounts = &mut self.amounts;
        amounts.clear();
        match &batch.columns[self.weight] {
            Values::Whole(weights, _) => amounts.extend(rows().map(|row| weights[row] as f64)),
            Values::Numbers(weights) => amounts.extend(rows().map(|row| weights[row])),
            Values::Words { .. } => return,
        }
        let Amount { number, choice } = self.wanted[which].0;
        if let Some(at) = number {
            let steps = &self.columns.numbers[at].1.steps;
            let each = amounts.iter_mut().zip(rows());
            each.for_each(|(amount, row)| *amount *= steps[row]);
        }
        let Some((column, word, wanted)) = choice else {
            return;
        };
        let Values::Words { codes, .. } = &batch.columns[column] else {
            amounts.clear();
            return;
        };
        let words = &self.words[column];
        let place = words.place_of(word);
        if place.is_none() && !wanted {
            // No event so far had the word: hardly a run has discards.
            return;
        }
        let is = |row: usize, place: Option<u32>| Some(words.place(codes[row])) == place;
        for (amount, row) in amounts.iter_mut().zip(rows()) {
            if is(row, place) != wanted {
                *amount = 0.0;
            }
        }
        // Of some events it is not known: what other tools print does not tell which I/Os were random.
        let unknown = words.place_of("").filter(|_| wanted);
        if unknown.is_some() {
            let of_unknown = amounts
                .iter_mut()
                .zip(rows())
                .filter(|(_, row)| is(*row, unknown));
            of_unknown.for_each(|(amount, _)| *amount = f64::NAN);
        }
    }

    fn add(&mut self, which: usize) {
        let sums = &mut self.wanted[which].1;
        let rows = self.groups.iter().zip(&self.rows);
        for (amount, (group, row)) in self.amounts.iter().zip(rows) {
            // What is not known is not counted.
            if !amount.is_nan() {
                sums.add(self.places[*row as usize], *group, *amount);
            }
        }
    }

    /// What was found, in base units.
    pub(super) fn finish(mut self, manifest: &Manifest) -> Tally {
        let wanted = std::mem::take(&mut self.wanted);
        let groups = wanted
            .into_iter()
            .map(|(amount, sums)| self.groups_of(amount, sums, manifest))
            .collect();
        Tally {
            groups,
            seen: self.seen,
            last: self.last,
        }
    }

    fn groups_of(&self, amount: Amount, mut sums: Sums, manifest: &Manifest) -> Vec<GroupCells> {
        sums.put_away();
        let step = amount.number.map(|at| self.columns.numbers[at].1.step);
        let per_unit = step.map_or(1.0, Step::per_unit);
        let key = |group: usize| match self.tree.key(group) {
            Some(places) => self.key(places, manifest),
            None => Vec::new(),
        };
        let points = sums.points.into_iter().enumerate();
        let filled = points.filter(|(_, points)| !points.slots.is_empty());
        filled
            .map(|(group, mut amounts)| {
                amounts.values.iter_mut().for_each(|v| *v /= per_unit);
                let key = key(group);
                GroupCells { key, amounts }
            })
            .collect()
    }

    fn key(&self, places: &[u32], manifest: &Manifest) -> Vec<KeyValue> {
        let value = |(place, level): (&u32, &Level)| match level {
            Level::Word(column) => {
                let texts = &self.words[*column].texts;
                KeyValue::Word(texts.get(*place as usize).cloned().unwrap_or_default())
            }
            Level::Number(at) => bucket_key(*place, self.columns.numbers[*at].1.step),
            Level::Phase => {
                let name = phase_name(manifest, place.checked_sub(1));
                KeyValue::Word(name.to_owned())
            }
            Level::Host => KeyValue::Word(manifest.host.clone()),
        };
        places.iter().zip(&self.levels).map(value).collect()
    }
}

/// Amounts by group: of the interval under way, and of those before.
#[derive(Default)]
struct Sums {
    place: u32,
    open: Vec<f64>,
    /// Which groups have an amount in the interval under way.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    points: Vec<Points>,
    /// Amounts put away since last asked.
    grown: usize,
}

impl Sums {
    fn grow(&mut self, groups: usize) {
        self.open.resize(groups, 0.0);
        self.is_touched.resize(groups, false);
        self.points.resize_with(groups, Points::default);
    }

    #[inline]
    fn add(&mut self, place: u32, group: u32, amount: f64) {
        if place != self.place {
            self.put_away();
            self.place = place;
        }
        let at = group as usize;
        if !self.is_touched[at] {
            self.is_touched[at] = true;
            self.touched.push(group);
        }
        self.open[at] += amount;
    }

    fn put_away(&mut self) {
        self.grown += self.touched.len();
        for group in self.touched.drain(..) {
            let at = group as usize;
            self.is_touched[at] = false;
            let points = &mut self.points[at];
            points.slots.push(self.place);
            points.values.push(std::mem::take(&mut self.open[at]));
        }
    }
}
