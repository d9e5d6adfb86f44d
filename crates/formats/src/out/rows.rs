//! Rows of the present sample: as they are read, before their times are known.

use std::sync::Arc;

use run::catalog::{self, Column, numbers};
use run::rows::{Alike, TableId, Words};
use run::{Nanos, Word};

use super::possible::{are_possible, are_possible_in};
use super::spread::spread;
use super::{HandingOut, Out, Shape, count_place, number_unit};
use crate::time::Stamp;

/// Blocks of samples that are alike among the rows of a table that wait to be taken.
const MOST_BLOCKS: usize = 32;

impl Out {
    /// The word of a name. Bytes that are no UTF-8 are replaced, as are control characters.
    pub fn word(&mut self, name: &[u8]) -> Word {
        match std::str::from_utf8(name) {
            Ok(text) if !text.contains(char::is_control) => self.done.word(text),
            _ => {
                let text = String::from_utf8_lossy(name).replace(char::is_control, "\u{fffd}");
                self.done.word(&text)
            }
        }
    }

    /// All words.
    pub fn words(&self) -> &Words {
        &self.done.words
    }

    /// Adds a row; sums are per second. NaN is "not known". Words and values are in the
    /// table's order.
    pub fn row(&mut self, table: TableId, words: &[Word], values: &[f64]) {
        self.own_rows += 1;
        if self.leaves_out(1) {
            return;
        }
        if self.is_since_boot() {
            self.keep_since_boot(table, words, values);
        } else {
            self.fills(table);
            self.listed.row(table, words);
            self.now.row(table, words, values);
        }
    }

    /// The table gets a row of the present sample.
    pub(super) fn fills(&mut self, table: TableId) {
        if self.now.rows(table).is_empty() {
            self.filled.push(table);
        }
    }

    /// Adds a row whose sums are amounts in the sample's interval.
    pub fn amounts(&mut self, table: TableId, words: &[Word], values: &[f64]) {
        self.own_rows += 1;
        if self.leaves_out(1) {
            return;
        }
        if self.is_since_boot() {
            self.keep_since_boot(table, words, values);
        } else {
            self.fills(table);
            self.amounts[usize::from(table.0)].push_back(self.now.rows(table).len());
            self.listed.row(table, words);
            self.now.row(table, words, values);
        }
    }

    /// Adds a row of some of a table's values, in the shape's order; sums are per second.
    pub fn put(&mut self, shape: &Shape, words: &[Word], values: &[f64]) {
        let all = self.possible_of(shape, values);
        self.row(shape.table, words, &all[..shape.width]);
    }

    /// Adds rows of some of a table's values by column, of equal length; sums are per second.
    /// What the sample's time and length are told by has to come before. Words that are the
    /// same as those of the sample before are best the same `Arc`.
    pub(crate) fn put_columns(
        &mut self,
        shape: &Shape,
        words: &Arc<Vec<Vec<Word>>>,
        values: &[&[f64]],
    ) {
        let count = values.first().map_or(0, |column| column.len());
        self.own_rows += count;
        if self.leaves_out(count as u64) {
            return;
        }
        let plain = words.iter().all(|c| c.len() == count)
            && values.iter().all(|c| c.len() == count)
            && self.done.rows(shape.table).words.len() == words.len()
            && are_possible(shape, values);
        let direct = self.sample.and_then(|sample| {
            let known = !sample.since_boot && self.held.is_empty() && plain;
            let interval = self.interval_of(&sample).filter(|_| known)?;
            Some((interval, self.end_of(&sample, interval)))
        });
        match direct {
            Some((interval, end)) if self.are_alike(shape.table, words) => {
                self.put_alike(shape, words, values, end, interval);
            }
            Some((interval, end)) => self.put_direct(shape, words, values, end, interval),
            None => {
                // Each counts itself.
                self.own_rows -= count;
                for i in 0..count {
                    let words: Vec<Word> = words.iter().filter_map(|c| c.get(i).copied()).collect();
                    let values: Vec<f64> =
                        values.iter().filter_map(|c| c.get(i).copied()).collect();
                    self.put(shape, &words, &values);
                }
            }
        }
    }

    /// Whether rows of these words can go to those that are alike.
    fn are_alike(&self, table: TableId, words: &Arc<Vec<Vec<Word>>>) -> bool {
        let few = || match self.done.alike(table) {
            [] => true,
            [.., last] if Arc::ptr_eq(&last.words, words) => true,
            // Where each sample is another one, blocks of them take longer than rows.
            blocks => blocks.len() < MOST_BLOCKS,
        };
        self.handed == HandingOut::Alike
            && !words.is_empty()
            && self.done.rows(table).is_empty()
            && few()
    }

    fn put_alike(
        &mut self,
        shape: &Shape,
        words: &Arc<Vec<Vec<Word>>>,
        values: &[&[f64]],
        end: Nanos,
        interval: f64,
    ) {
        let sums = &self.sums[usize::from(shape.table.0)];
        let blocks = self.done.alike_mut(shape.table);
        let same = |b: &Alike| b.is_empty() || Arc::ptr_eq(&b.words, words);
        if !blocks.last().is_some_and(same) {
            blocks.push(Alike::default());
        }
        let Some(to) = blocks.last_mut() else { return };
        if to.is_empty() {
            to.words = Arc::clone(words);
            to.values.resize(shape.width, Vec::new());
        }
        let before = to.len();
        to.times.push(end);
        to.intervals.push(interval);
        for (place, from) in shape.places.iter().zip(values) {
            let column = &mut to.values[*place];
            column.resize(before, f64::NAN);
            add(column, from, sums[*place], interval);
        }
        let whole = to.len();
        for column in to.values.iter_mut().filter(|column| !column.is_empty()) {
            // Those not told in this one.
            column.resize(whole, f64::NAN);
        }
    }

    fn put_direct(
        &mut self,
        shape: &Shape,
        words: &[Vec<Word>],
        values: &[&[f64]],
        end: Nanos,
        interval: f64,
    ) {
        let sums = &self.sums[usize::from(shape.table.0)];
        let to = self.done.rows_mut(shape.table);
        let whole = to.times.len() + values.first().map_or(0, |column| column.len());
        to.times.resize(whole, end);
        to.intervals.resize(whole, interval);
        for (to, from) in to.words.iter_mut().zip(words) {
            to.extend_from_slice(from);
        }
        for (place, from) in shape.places.iter().zip(values) {
            add(&mut to.values[*place], from, sums[*place], interval);
        }
        for column in &mut to.values {
            // Those not told.
            column.resize(whole, f64::NAN);
        }
    }

    /// The same with sums that are amounts in the sample's interval.
    pub fn put_amounts(&mut self, shape: &Shape, words: &[Word], values: &[f64]) {
        let all = self.possible_of(shape, values);
        self.amounts(shape.table, words, &all[..shape.width]);
    }

    /// Adds a row of the present sample that is since boot, whatever the sample is.
    pub fn put_since_boot(&mut self, shape: &Shape, words: &[Word], values: &[f64]) {
        let all = shape.all(values);
        self.keep_since_boot(shape.table, words, &all[..shape.width]);
    }

    /// Adds a value that has no place in the catalog: `other.<tool>.<column>`.
    pub fn other(&mut self, column: &str, unit: &str, instance: Word, value: f64) {
        if value.is_nan() || self.is_too_much(value) {
            return;
        }
        let words = self.other_words(column, unit, instance);
        self.row(self.other, &words, &[value]);
    }

    /// The same of a counter that grew by `value` in the interval: it is kept per second.
    pub fn other_grown(&mut self, column: &str, unit: &str, instance: Word, value: f64) {
        if value.is_nan() || self.is_too_much(value) {
            return;
        }
        let words = self.other_words(column, &format!("{unit}/s"), instance);
        self.amounts(self.other, &words, &[value]);
    }

    /// The same of a counter that is read for the first time: it goes to `since_boot`.
    pub fn other_total(&mut self, column: &str, unit: &str, instance: Word, value: f64) {
        if value.is_nan() {
            return;
        }
        let words = self.other_words(column, unit, instance);
        self.keep_since_boot(self.other, &words, &[value]);
    }

    pub(super) fn other_words(&mut self, column: &str, unit: &str, instance: Word) -> [Word; 4] {
        let tool = self.done.word(&self.tool);
        [tool, self.done.word(column), self.done.word(unit), instance]
    }

    /// Adds a bucket of a histogram, `count` things with values from `from` to below `to` in
    /// base units, as amounts. The table's number dimension is its first value; the count goes
    /// to its first measure that is one, the others are not known.
    ///
    /// A bucket wider than those of the grid is spread over them, in proportion to their width:
    /// what was counted in it stays, and quantiles inside it are those of a straight line.
    pub fn bucket(&mut self, table: TableId, words: &[Word], from: f64, to: f64, count: f64) {
        self.buckets(table, words, [from, to], count, Out::amounts);
    }

    /// The same with a count that is per second.
    pub fn bucket_rate(&mut self, table: TableId, words: &[Word], from: f64, to: f64, rate: f64) {
        self.buckets(table, words, [from, to], rate, Out::row);
    }

    pub(super) fn buckets(
        &mut self,
        table: TableId,
        words: &[Word],
        [from, to]: [f64; 2],
        count: f64,
        add: fn(&mut Out, TableId, &[Word], &[f64]),
    ) {
        let unit = catalog::tables()
            .nth(usize::from(table.0))
            .and_then(|(s, t)| numbers(s, t).find_map(number_unit));
        let Some(unit) = unit else { return };
        let measures = self.sums[usize::from(table.0)].len() - 1;
        let count_at = count_place(table);
        let mut values = vec![f64::NAN; measures + 1];
        // What is kept by itself keeps the bucket as it was printed.
        let cells = if self.is_since_boot() {
            vec![(from, 1.0)]
        } else {
            spread(from, to, unit)
        };
        for (value, share) in cells {
            values[0] = value;
            values[count_at] = count * share;
            add(self, table, words, &values);
        }
    }

    /// Adds an event that happened at `stamp`; it belongs to no sample. `values` are its number
    /// dimensions and its weight.
    pub fn event(&mut self, table: TableId, stamp: Stamp, words: &[Word], values: &[f64]) {
        self.event_within(0, table, stamp, words, values);
    }

    /// The same of an event whose time is told in whole seconds: it was at some time of that one.
    pub(crate) fn event_in_second(
        &mut self,
        table: TableId,
        stamp: Stamp,
        words: &[Word],
        values: &[f64],
    ) {
        self.event_within(1_000_000_000, table, stamp, words, values);
    }

    fn event_within(
        &mut self,
        length: Nanos,
        table: TableId,
        stamp: Stamp,
        words: &[Word],
        values: &[f64],
    ) {
        match self.clock.moment(stamp, &self.options) {
            Ok(at) => {
                self.done.at(at, 0.0);
                if are_possible_in(table, values) {
                    self.done.row(table, words, values);
                } else {
                    let mut values = values.to_vec();
                    self.possible(table, &mut values);
                    self.done.row(table, words, &values);
                }
                self.extend(at, at.saturating_add(length));
            }
            Err(why) => self.refuse(why),
        }
    }

    /// The text is of all that was between these times, also before the first event.
    pub(crate) fn covers(&mut self, from: Stamp, to: Stamp) {
        let moments = [from, to].map(|stamp| self.clock.moment(stamp, &self.options));
        if let [Ok(from), Ok(to)] = moments {
            self.extend(from, to);
        }
    }

    /// A first report is kept by itself: nobody knows over how long it is a mean.
    pub(super) fn keep_since_boot(&mut self, table: TableId, words: &[Word], values: &[f64]) {
        if self.leaves_out(1) {
            return;
        }
        self.listed.row(table, words);
        let Some((subject, table)) = catalog::tables().nth(usize::from(table.0)) else {
            return;
        };
        let text = |w: &Word| self.done.words.text(*w).unwrap_or_default();
        let mut instance: Vec<&str> = words.iter().map(text).collect();
        let other = table.name == "other";
        let mut statistic = subject.name.to_owned();
        if other {
            statistic = format!("other.{}.{}", instance[0], instance[1]);
            instance.drain(..3);
        }
        let mut instance = instance.join(" ");
        let mut kept = Vec::new();
        let values = numbers(subject, table).zip(values);
        for (column, value) in values.filter(|(_, v)| !v.is_nan()) {
            // The place of a bucket.
            if let Column::Dimension(d) = column {
                instance.push_str(&format!(" {}={value}", d.name));
                continue;
            }
            let name = if other {
                statistic.clone()
            } else {
                format!("{statistic}.{}", column.name())
            };
            kept.push((name, *value));
        }
        for (name, value) in kept {
            let words = [self.done.word(&name), self.done.word(&instance)];
            self.fills(self.since_boot);
            self.now.row(self.since_boot, &words, &[value]);
        }
    }
}

/// Appends numbers, which are amounts of `interval` seconds then if they are sums.
fn add(to: &mut Vec<f64>, from: &[f64], sum: bool, interval: f64) {
    if sum && interval != 1.0 {
        to.extend(from.iter().map(|v| v * interval));
    } else {
        to.extend_from_slice(from);
    }
}
