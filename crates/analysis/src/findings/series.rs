//! Amounts of groups, interval by interval, as they were read.

use crate::gather::Points;
use crate::scan::{KeyValue, Slot};

/// Amounts by interval of each group.
#[derive(Default)]
pub(super) struct Series {
    /// The sampled intervals, in order of time.
    pub(super) slots: Vec<Slot>,
    /// Key and amounts.
    pub(super) groups: Vec<(Vec<KeyValue>, Points)>,
    /// Whether an interval without an amount had none, by definition.
    pub(super) sparse: bool,
}

impl Series {
    /// The amounts of the groups whose keys begin with `words`, added. Intervals that are not
    /// known are absent.
    pub(super) fn of(&self, words: &[&str]) -> Vec<(Slot, f64)> {
        self.from(words, f64::NEG_INFINITY)
    }

    /// The same, of those whose last key is a number from `bound` on.
    pub(super) fn from(&self, words: &[&str], bound: f64) -> Vec<(Slot, f64)> {
        let unknown = if self.sparse { 0.0 } else { f64::NAN };
        let mut sums = vec![unknown; self.slots.len()];
        let fits = |key: &[KeyValue]| {
            let begins = key.len() >= words.len()
                && key
                    .iter()
                    .zip(words)
                    .all(|(k, w)| matches!(k, KeyValue::Word(k) if k == w));
            begins && !matches!(key.last(), Some(KeyValue::Number(n)) if *n < bound)
        };
        for (_, points) in self.groups.iter().filter(|(key, _)| fits(key)) {
            for (slot, value) in points.slots.iter().zip(&points.values) {
                if let Some(sum) = sums.get_mut(*slot as usize) {
                    *sum = if sum.is_nan() { *value } else { *sum + value };
                }
            }
        }
        let pairs = self.slots.iter().copied().zip(sums);
        pairs
            .filter(|(slot, sum)| sum.is_finite() && slot.interval > 0.0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(sparse: bool) -> Series {
        let slot = |n: i64| Slot {
            time: n,
            interval: 1.0,
            phase: None,
        };
        let group = |word: &str, number: f64, slots: &[u32], values: &[f64]| {
            let key = vec![KeyValue::Word(word.into()), KeyValue::Number(number)];
            let points = Points {
                slots: slots.to_vec(),
                values: values.to_vec(),
            };
            (key, points)
        };
        Series {
            slots: (1..=3).map(slot).collect(),
            groups: vec![
                group("a", 1.0, &[0], &[2.0]),
                group("a", 5.0, &[0, 2], &[3.0, 4.0]),
                group("b", 5.0, &[1], &[9.0]),
            ],
            sparse,
        }
    }

    #[test]
    fn groups_add_and_absent_is_zero_only_where_it_is() {
        let values = |found: Vec<(Slot, f64)>| -> Vec<(i64, f64)> {
            found.into_iter().map(|(s, v)| (s.time, v)).collect()
        };
        let (sparse, dense) = (series(true), series(false));
        assert_eq!(values(sparse.of(&["a"])), [(1, 5.0), (2, 0.0), (3, 4.0)]);
        assert_eq!(values(dense.of(&["a"])), [(1, 5.0), (3, 4.0)]);
        assert_eq!(values(dense.from(&["a"], 5.0)), [(1, 3.0), (3, 4.0)]);
        assert_eq!(values(dense.of(&[])), [(1, 5.0), (2, 9.0), (3, 4.0)]);
        assert_eq!(values(dense.of(&["c"])), []);
    }
}
