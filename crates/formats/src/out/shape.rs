//! A row of some of a table's values.

use run::catalog::{self, numbers};
use run::rows::TableId;

use super::WIDEST;

/// A table's row with some of its values; the others are not known.
#[derive(Clone, Debug)]
pub struct Shape {
    pub(super) table: TableId,
    pub(super) width: usize,
    pub(super) places: Vec<usize>,
}

impl Shape {
    /// Of the table of that name, its number dimensions and measures of those names.
    ///
    /// # Panics
    /// Where the catalog has none: a format's own names are part of the program.
    pub fn of(table: &str, values: &[&str]) -> Shape {
        let (subject, found) = catalog::table(table).unwrap_or_else(|| panic!("no table {table}"));
        let all: Vec<_> = numbers(subject, found).collect();
        let place = |name: &&str| {
            let place = all.iter().position(|c| c.name() == *name);
            place.unwrap_or_else(|| panic!("no {name} in {table}"))
        };
        Shape {
            table: TableId::of(table),
            width: all.len(),
            places: values.iter().map(place).collect(),
        }
    }

    /// The values in their places.
    pub(super) fn all(&self, values: &[f64]) -> [f64; WIDEST] {
        let mut all = [f64::NAN; WIDEST];
        for (place, value) in self.places.iter().zip(values) {
            all[*place] = *value;
        }
        all
    }

    /// The table.
    pub fn table(&self) -> TableId {
        self.table
    }
}
