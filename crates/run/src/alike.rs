//! Rows of samples that are alike, without what each sample has again.

use std::sync::Arc;

use crate::rows::Rows;
use crate::{Nanos, Word};

/// Rows of one table in samples that each have a row for the same words, in the same order: a
/// report that is printed again and again. Words are kept once, times and lengths once a sample.
#[derive(Clone, Debug, Default)]
pub struct Alike {
    /// Words of the rows of one sample, a column each.
    pub words: Arc<Vec<Vec<Word>>>,
    /// End of each sample.
    pub times: Vec<Nanos>,
    /// True length of each sample in seconds.
    pub intervals: Vec<f64>,
    /// Numbers of all rows, sample after sample, a column each; NaN: not known. A column in
    /// which none is known is empty.
    pub values: Vec<Vec<f64>>,
}

impl Alike {
    /// Rows of one sample.
    pub fn each(&self) -> usize {
        self.words.first().map_or(0, Vec::len)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.each() * self.times.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.times.clear();
        self.intervals.clear();
        self.values.iter_mut().for_each(Vec::clear);
    }

    /// Appends all rows to `rows`, which are of the same table.
    pub fn spread(&self, rows: &mut Rows) {
        let each = self.each();
        let samples = self.times.len();
        for (time, interval) in self.times.iter().zip(&self.intervals) {
            rows.times.extend(std::iter::repeat_n(*time, each));
            rows.intervals.extend(std::iter::repeat_n(*interval, each));
        }
        for (to, from) in rows.words.iter_mut().zip(&*self.words) {
            for _ in 0..samples {
                to.extend_from_slice(from);
            }
        }
        for (to, from) in rows.values.iter_mut().zip(&self.values) {
            to.extend_from_slice(from);
            to.resize(rows.times.len(), f64::NAN);
        }
    }
}
