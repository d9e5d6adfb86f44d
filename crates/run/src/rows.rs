//! Rows on their way from a source to the run: words interned, columns reused.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::catalog::{self, Column, Detail};
use crate::{Nanos, Table};

pub use crate::alike::Alike;

/// A text that rows refer to by number: a device's name, a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Word(pub u32);

/// All words of a recording; a word keeps its number until the end.
#[derive(Clone, Debug, Default)]
pub struct Words {
    numbers: HashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
}

impl Words {
    /// The number of `text`, which is made if it is new.
    ///
    /// A source calls this once when an instance appears and keeps the answer.
    pub fn word(&mut self, text: &str) -> Word {
        if let Some(&number) = self.numbers.get(text) {
            return Word(number);
        }
        let number = self.texts.len() as u32;
        let shared: Arc<str> = text.into();
        self.texts.push(shared.clone());
        self.numbers.insert(shared, number);
        Word(number)
    }

    /// The text of `word`, if there is such a word.
    pub fn text(&self, word: Word) -> Option<&str> {
        self.texts.get(word.0 as usize).map(|t| &**t)
    }

    /// Every text, by number.
    pub fn texts(&self) -> &[Arc<str>] {
        &self.texts
    }
}

/// A table's place in the catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableId(pub u16);

impl TableId {
    /// The table of that name.
    ///
    /// # Panics
    /// If the catalog has none: a source's own table names are part of the program.
    pub fn of(name: &str) -> TableId {
        let place = catalog::tables().position(|(_, t)| t.name == name);
        TableId(place.unwrap_or_else(|| panic!("no table `{name}` in the catalog")) as u16)
    }
}

/// Rows of one table, by column. Lengths of all columns are equal, but for `intervals` of
/// events.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Which table.
    pub table: &'static Table,
    /// End of the interval, or when the event happened, one a row.
    pub times: Vec<Nanos>,
    /// True length of the interval in seconds, one a row; empty in a table of events.
    pub intervals: Vec<f64>,
    /// Word dimensions, in the table's order.
    pub words: Vec<Vec<Word>>,
    /// Number dimensions, then measures, in the table's order; NaN: not known.
    pub values: Vec<Vec<f64>>,
}

impl Rows {
    pub(crate) fn new(subject: &'static crate::Subject, table: &'static Table) -> Rows {
        let words = catalog::columns(subject, table)
            .filter(Column::is_word)
            .count();
        Rows {
            table,
            times: Vec::new(),
            intervals: Vec::new(),
            words: vec![Vec::new(); words],
            values: vec![Vec::new(); catalog::numbers(subject, table).count()],
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Appends an event: its words in the table's order, then its numbers.
    #[inline]
    pub fn event(
        &mut self,
        time: Nanos,
        words: impl IntoIterator<Item = Word>,
        numbers: impl IntoIterator<Item = f64>,
    ) {
        self.times.push(time);
        for (column, word) in self.words.iter_mut().zip(words) {
            column.push(word);
        }
        for (column, number) in self.values.iter_mut().zip(numbers) {
            column.push(number);
        }
    }

    /// Appends the rows of that range of another's of the same table.
    pub(crate) fn extend(&mut self, from: &Rows, range: Range<usize>) {
        self.times.extend_from_slice(&from.times[range.clone()]);
        // Events have none.
        if let Some(intervals) = from.intervals.get(range.clone()) {
            self.intervals.extend_from_slice(intervals);
        }
        for (to, from) in self.words.iter_mut().zip(&from.words) {
            to.extend_from_slice(&from[range.clone()]);
        }
        for (to, from) in self.values.iter_mut().zip(&from.values) {
            to.extend_from_slice(&from[range.clone()]);
        }
    }

    /// Removes the rows of which `keep` says no, by their place; how many those were.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) -> usize {
        fn only<T>(column: &mut Vec<T>, kept: &[bool]) {
            let mut kept = kept.iter();
            column.retain(|_| kept.next() != Some(&false));
        }
        let kept: Vec<bool> = (0..self.len()).map(keep).collect();
        let before = self.len();
        only(&mut self.times, &kept);
        only(&mut self.intervals, &kept);
        self.words.iter_mut().for_each(|column| only(column, &kept));
        self.values
            .iter_mut()
            .for_each(|column| only(column, &kept));
        before - self.len()
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.times.clear();
        self.intervals.clear();
        self.words.iter_mut().for_each(Vec::clear);
        self.values.iter_mut().for_each(Vec::clear);
    }
}

/// Where sources put their rows. Its buffers are reused from sample to sample.
#[derive(Clone, Debug)]
pub struct Sink {
    /// All words so far.
    pub words: Words,
    tables: Vec<Rows>,
    /// Rows of each table that come before those of `tables`.
    alike: Vec<Vec<Alike>>,
    time: Nanos,
    interval: f64,
}

impl Default for Sink {
    fn default() -> Self {
        Sink::new()
    }
}

impl Sink {
    /// An empty sink, with a buffer for every table of the catalog.
    pub fn new() -> Sink {
        let tables = catalog::tables().map(|(s, t)| Rows::new(s, t));
        let alike = catalog::tables().map(|_| Vec::new());
        Sink {
            words: Words::default(),
            tables: tables.collect(),
            alike: alike.collect(),
            time: 0,
            interval: 0.0,
        }
    }

    /// Time and true interval (seconds) of the rows that follow.
    pub fn at(&mut self, time: Nanos, interval: f64) {
        self.time = time;
        self.interval = interval;
    }

    /// The number of `text`; see [`Words::word`].
    pub fn word(&mut self, text: &str) -> Word {
        self.words.word(text)
    }

    /// Adds a row: its words in the table's order, then its number dimensions and measures
    /// in the table's order. NaN is "not known".
    pub fn row(&mut self, table: TableId, words: &[Word], values: &[f64]) {
        let rows = &mut self.tables[table.0 as usize];
        debug_assert_eq!(
            words.len(),
            rows.words.len(),
            "words of {}",
            rows.table.name
        );
        debug_assert_eq!(
            values.len(),
            rows.values.len(),
            "values of {}",
            rows.table.name
        );
        rows.times.push(self.time);
        if rows.table.detail != Detail::Event {
            rows.intervals.push(self.interval);
        }
        for (column, word) in rows.words.iter_mut().zip(words) {
            column.push(*word);
        }
        for (column, value) in rows.values.iter_mut().zip(values) {
            column.push(*value);
        }
    }

    /// The columns of a table of events, to push to. All of them must grow alike, but for
    /// `intervals`, which stays empty: an event has a time and no length. Times in seconds are
    /// kept to the nanosecond, other numbers as whole ones. A buffered event takes over 100
    /// bytes, so who has many appends several times a second.
    pub fn events(&mut self, table: TableId) -> &mut Rows {
        let rows = &mut self.tables[table.0 as usize];
        debug_assert_eq!(rows.table.detail, Detail::Event, "{}", rows.table.name);
        rows
    }

    /// The tables that have rows, with their places in the catalog.
    pub fn filled(&self) -> impl Iterator<Item = (TableId, &Rows)> {
        let all = self.tables.iter().enumerate();
        all.filter(|(_, r)| !r.is_empty())
            .map(|(i, r)| (TableId(i as u16), r))
    }

    /// The rows of one table.
    pub fn rows(&self, table: TableId) -> &Rows {
        &self.tables[table.0 as usize]
    }

    /// The columns of one table, to change what is in them.
    pub fn rows_mut(&mut self, table: TableId) -> &mut Rows {
        &mut self.tables[table.0 as usize]
    }

    /// Rows of samples that are alike, one block after the other. Who fills them says so to who
    /// reads: they are not among [`Sink::rows`] before [`Sink::spread`].
    pub fn alike(&self, table: TableId) -> &[Alike] {
        &self.alike[table.0 as usize]
    }

    /// The same, to add to. They come before other rows of the table, so there must be none.
    pub fn alike_mut(&mut self, table: TableId) -> &mut Vec<Alike> {
        &mut self.alike[table.0 as usize]
    }

    /// Number of rows of a table, of both kinds.
    pub fn count(&self, table: TableId) -> usize {
        let alike: usize = self.alike(table).iter().map(Alike::len).sum();
        alike + self.rows(table).len()
    }

    /// Makes rows of samples that are alike rows like others.
    pub fn spread(&mut self) {
        for (rows, alike) in self.tables.iter_mut().zip(&mut self.alike) {
            if !alike.is_empty() {
                let after = rows.clone();
                rows.clear();
                alike.iter().for_each(|block| block.spread(rows));
                rows.extend(&after, 0..after.len());
                empty(alike);
            }
        }
    }

    /// Exchanges all rows of a table, of both kinds, for empty ones, which may have room already.
    pub fn exchange(&mut self, table: TableId, with: &mut (Vec<Alike>, Rows)) {
        std::mem::swap(&mut self.alike[table.0 as usize], &mut with.0);
        std::mem::swap(&mut self.tables[table.0 as usize], &mut with.1);
    }

    /// Moves the first `count` rows of a table here from `from`, whose words are these.
    pub fn take_rows(&mut self, from: &mut Sink, table: TableId, count: usize) {
        let (to, from) = (
            &mut self.tables[table.0 as usize],
            &mut from.tables[table.0 as usize],
        );
        to.times.extend(from.times.drain(..count));
        let intervals = count.min(from.intervals.len());
        to.intervals.extend(from.intervals.drain(..intervals));
        for (to, from) in to.words.iter_mut().zip(&mut from.words) {
            to.extend(from.drain(..count));
        }
        for (to, from) in to.values.iter_mut().zip(&mut from.values) {
            to.extend(from.drain(..count));
        }
    }

    /// Takes all rows of another sink, whose words are its own, and empties it.
    pub fn absorb(&mut self, other: &mut Sink) {
        other.spread();
        let texts = other.words.texts().to_vec();
        let words: Vec<Word> = texts.iter().map(|t| self.word(t)).collect();
        for (to, from) in self.tables.iter_mut().zip(&mut other.tables) {
            to.times.append(&mut from.times);
            to.intervals.append(&mut from.intervals);
            for (to, from) in to.words.iter_mut().zip(&mut from.words) {
                to.extend(from.drain(..).map(|w| words[w.0 as usize]));
            }
            for (to, from) in to.values.iter_mut().zip(&mut from.values) {
                to.append(from);
            }
        }
    }

    /// Adds `by` to the numbers of the words in all rows.
    pub(crate) fn shift_words(&mut self, by: u32) {
        if by > 0 {
            let rows = self.tables.iter_mut().filter(|rows| !rows.is_empty());
            let words = rows.flat_map(|rows| rows.words.iter_mut().flatten());
            words.for_each(|word| word.0 += by);
        }
    }

    /// Empties all tables; words stay.
    pub fn clear(&mut self) {
        // Most are empty, and their columns are more memory than the rows of a sample.
        let filled = self.tables.iter_mut().filter(|t| !t.is_empty());
        filled.for_each(Rows::clear);
        self.alike.iter_mut().for_each(empty);
    }
}

/// Removes all rows; one block stays for its room.
pub(crate) fn empty(alike: &mut Vec<Alike>) {
    alike.truncate(1);
    alike.iter_mut().for_each(Alike::clear);
}
