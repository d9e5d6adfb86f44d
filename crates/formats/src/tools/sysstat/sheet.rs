//! The rows of one moment, put together from several tables of a text: what two of them tell of
//! the same thing is one row.

use std::collections::{HashMap, HashSet};

use run::Word;
use run::catalog::{self, numbers};
use run::rows::TableId;

use crate::out::Out;

/// A table of the catalog: its place, and the names of its numbers.
type Table = (TableId, Vec<&'static str>);

/// Rows being put together.
#[derive(Default)]
pub(crate) struct Sheet {
    rows: Vec<(TableId, Vec<Word>, Vec<f64>)>,
    places: HashMap<(TableId, Vec<Word>), usize>,
    tables: HashMap<&'static str, Table>,
    others: Vec<(String, &'static str, Word, f64)>,
    told: HashSet<(String, Word)>,
    /// A row of the moment is not understood: it may be of anything.
    pub(crate) lacks_row: bool,
    /// What rows handed out were of, where gaps may have to be told.
    known: HashSet<(TableId, Vec<Word>)>,
}

impl Sheet {
    fn value(
        &mut self,
        out: &mut Out,
        table: &'static str,
        words: &[&[u8]],
        name: &str,
    ) -> Option<&mut f64> {
        let words: Vec<Word> = words.iter().map(|w| out.word(w)).collect();
        let (id, names) = self.tables.entry(table).or_insert_with(|| of(table));
        let place = names.iter().position(|n| *n == name)?;
        let (id, width) = (*id, names.len());
        let row = *self
            .places
            .entry((id, words))
            .or_insert_with_key(|(_, words)| {
                self.rows.push((id, words.clone(), vec![f64::NAN; width]));
                self.rows.len() - 1
            });
        self.rows.get_mut(row)?.2.get_mut(place)
    }

    /// Sets a value, unless it is known already: texts tell some things twice.
    pub(crate) fn set(
        &mut self,
        out: &mut Out,
        table: &'static str,
        words: &[&[u8]],
        name: &str,
        value: f64,
    ) {
        if !value.is_nan()
            && let Some(place) = self.value(out, table, words, name)
            && place.is_nan()
        {
            *place = value;
        }
    }

    /// Adds to a value.
    pub(crate) fn add(
        &mut self,
        out: &mut Out,
        table: &'static str,
        words: &[&[u8]],
        name: &str,
        value: f64,
    ) {
        if !value.is_nan()
            && let Some(place) = self.value(out, table, words, name)
        {
            *place = if place.is_nan() {
                value
            } else {
                *place + value
            };
        }
    }

    /// Keeps what has no place in the catalog.
    pub(crate) fn other(
        &mut self,
        out: &mut Out,
        column: &str,
        unit: &'static str,
        instance: &[u8],
        value: f64,
    ) {
        let instance = out.word(instance);
        if !value.is_nan() && self.told.insert((column.to_owned(), instance)) {
            self.others.push((column.to_owned(), unit, instance, value));
        }
    }

    /// Hands all rows out, and for what earlier sheets had and this one has not such of which
    /// nothing is known.
    pub(crate) fn hand_out_with_gaps(&mut self, out: &mut Out) {
        let told = !out.is_since_boot();
        let is_missing = |key: &&(TableId, Vec<Word>)| told && !self.places.contains_key(*key);
        let mut missing: Vec<_> = self.known.iter().filter(is_missing).collect();
        // The set has no order.
        missing.sort_unstable_by(|a, b| (a.0.0, &a.1).cmp(&(b.0.0, &b.1)));
        for (table, words) in missing {
            let width = self.tables.values().find(|(id, _)| id == table);
            let values = vec![f64::NAN; width.map_or(0, |(_, names)| names.len())];
            out.row(*table, words, &values);
        }
        self.hand_out_known(out);
    }

    /// Hands all rows out and remembers what they were of.
    pub(crate) fn hand_out_known(&mut self, out: &mut Out) {
        for key in self.places.keys() {
            if !self.known.contains(key) {
                self.known.insert(key.clone());
            }
        }
        self.hand_out(out);
    }

    /// Hands all rows out; the sheet is empty then.
    pub(crate) fn hand_out(&mut self, out: &mut Out) {
        for (table, words, values) in self.rows.drain(..) {
            out.row(table, &words, &values);
        }
        for (column, unit, instance, value) in self.others.drain(..) {
            out.other(&column, unit, instance, value);
        }
        self.places.clear();
        self.told.clear();
    }
}

/// A table's place and the names of its numbers; none where the catalog does not have it.
fn of(name: &'static str) -> Table {
    let Some((subject, table)) = catalog::table(name) else {
        return (TableId(0), Vec::new());
    };
    let names = numbers(subject, table);
    (TableId::of(name), names.map(|c| c.name()).collect())
}
