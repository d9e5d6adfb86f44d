//! What the last report of a text no longer tells.
//!
//! Tables that leave out what is nothing, as `process`, have no row for it: where a file ends within a
//! report, in a line or, of a tool that always lists all, behind one, what would have followed had nothing,
//! too. Of what the report before tells and this one does not, nobody knows.

use std::collections::HashSet;

use run::catalog::{self, Detail};
use run::rows::{TableId, Word};

use super::Out;
use crate::Line;

/// Rows of such a table: their words, one after the other.
#[derive(Default)]
struct Rows {
    /// How many words a row has; 0: of no such table.
    width: usize,
    before: Vec<Word>,
    now: Vec<Word>,
}

/// Of all tables.
pub(super) struct Listed(Vec<Rows>);

impl Listed {
    pub(super) fn new() -> Listed {
        let tables = catalog::tables().map(|(_, table)| {
            let is_such = table.sparse && table.detail == Detail::Sample;
            Rows {
                width: if is_such { table.dimensions.len() } else { 0 },
                ..Rows::default()
            }
        });
        Listed(tables.collect())
    }

    /// A row of the present report.
    pub(super) fn row(&mut self, table: TableId, words: &[Word]) {
        let rows = &mut self.0[usize::from(table.0)];
        if rows.width == words.len() {
            rows.now.extend_from_slice(words);
        }
    }

    /// The report is over.
    pub(super) fn next(&mut self) {
        for rows in self.0.iter_mut().filter(|rows| !rows.now.is_empty()) {
            std::mem::swap(&mut rows.before, &mut rows.now);
            rows.now.clear();
        }
    }

    /// Rows of the report before which are not in the present one, of tables that have some.
    fn missing(&self) -> Vec<(TableId, Vec<Word>)> {
        let tables = self.0.iter().enumerate();
        let begun = tables.filter(|(_, rows)| !rows.now.is_empty());
        let of = |(id, rows): (usize, &Rows)| {
            let now: HashSet<&[Word]> = rows.now.chunks_exact(rows.width).collect();
            let before = rows.before.chunks_exact(rows.width);
            let gone = before.filter(|row| !now.contains(row));
            let gone = gone.map(|row| (TableId(id as u16), row.to_vec()));
            gone.collect::<Vec<_>>()
        };
        begun.flat_map(of).collect()
    }
}

impl Out {
    /// Whether nothing stood below the rows that came last: where the text is over, others may have followed.
    pub(crate) fn ends_in_rows(&self) -> bool {
        self.last == Line::Data
    }

    /// The text is over and its last report may not be whole: what it did not tell any more is unknown.
    pub(crate) fn ended_within(&mut self) {
        if self.sample.is_none() || self.is_since_boot() {
            return;
        }
        for (table, words) in self.listed.missing() {
            let values = vec![f64::NAN; self.sums[usize::from(table.0)].len()];
            self.row(table, &words, &values);
        }
    }
}
