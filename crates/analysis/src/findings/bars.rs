//! A distribution over the whole run: amounts by bucket of the histogram grid.

use std::collections::BTreeMap;

use run::{Unit, grid};

use super::look::word;
use crate::scan::KeyValue;

/// Amounts by bucket, lowest first.
pub(super) struct Bars {
    /// The words that it is of.
    pub(super) key: Vec<String>,
    unit: Unit,
    /// Lower bound of the bucket, and the amount in it, above zero.
    list: Vec<(f64, f64)>,
}

impl Bars {
    /// A distribution for each combination of words; the last of each key is the number.
    pub(super) fn split(amounts: Vec<(Vec<KeyValue>, f64)>, unit: Unit) -> Vec<Bars> {
        let mut found: BTreeMap<Vec<String>, Vec<(f64, f64)>> = BTreeMap::new();
        for (key, amount) in amounts {
            let Some((KeyValue::Number(lower), words)) = key.split_last() else {
                continue;
            };
            if lower.is_finite() && amount > 0.0 {
                let words = words.iter().map(word).collect();
                found.entry(words).or_default().push((*lower, amount));
            }
        }
        let sorted = found.into_iter().map(|(key, mut list)| {
            list.sort_by(|a, b| a.0.total_cmp(&b.0));
            Bars { key, unit, list }
        });
        sorted.collect()
    }

    /// Without regard to sign: distances forwards and backwards together.
    pub(super) fn folded(mut self) -> Bars {
        for (lower, _) in &mut self.list {
            *lower = lower.abs();
        }
        self.list.sort_by(|a, b| a.0.total_cmp(&b.0));
        self
    }

    /// The n-th word that it is of.
    pub(super) fn word(&self, place: usize) -> &str {
        self.key.get(place).map_or("", String::as_str)
    }

    /// Everything.
    pub(super) fn total(&self) -> f64 {
        self.from(f64::NEG_INFINITY)
    }

    /// What lies in buckets that start at `bound` or above.
    pub(super) fn from(&self, bound: f64) -> f64 {
        let above = self.list.iter().filter(|b| b.0 >= bound);
        // Not `sum`, which makes -0 of nothing.
        above.fold(0.0, |sum, b| sum + b.1)
    }

    /// The bucket that holds the given share, counted from the lowest: lower and upper bound.
    pub(super) fn quantile(&self, share: f64) -> Option<(f64, f64)> {
        let wanted = share * self.total();
        let mut sum = 0.0;
        let last = self.list.last()?;
        let found = self.list.iter().find(|(_, amount)| {
            sum += amount;
            sum >= wanted
        });
        Some(grid::bounds(found.unwrap_or(last).0, self.unit))
    }

    /// The highest bucket: lower and upper bound.
    pub(super) fn highest(&self) -> Option<(f64, f64)> {
        Some(grid::bounds(self.list.last()?.0, self.unit))
    }

    /// Only the buckets that start at `bound` or above.
    pub(super) fn above(&self, bound: f64) -> Bars {
        let above = self.list.iter().copied().filter(|b| b.0 >= bound);
        Bars {
            key: self.key.clone(),
            unit: self.unit,
            list: above.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(amounts: &[(f64, f64)], unit: Unit) -> Bars {
        let keyed = amounts.iter().map(|(lower, amount)| {
            let key = vec![KeyValue::Word("a".into()), KeyValue::Number(*lower)];
            (key, *amount)
        });
        Bars::split(keyed.collect(), unit).remove(0)
    }

    #[test]
    fn quantiles_are_buckets() {
        let b = bars(&[(100.0, 1.0), (1.0, 90.0), (10.0, 9.0)], Unit::Count);
        assert_eq!(b.total(), 100.0);
        assert_eq!(b.quantile(0.5), Some((1.0, 2.0)));
        assert_eq!(b.quantile(0.99), Some((10.0, 11.0)));
        assert_eq!(b.quantile(1.0), Some((100.0, 101.0)));
        assert_eq!(b.highest(), Some((100.0, 101.0)));
        assert_eq!(b.from(10.0), 10.0);
        assert_eq!(b.above(10.0).total(), 10.0);
    }

    #[test]
    fn distances_fold() {
        let b = bars(&[(-64.0, 3.0), (0.0, 1.0), (64.0, 2.0)], Unit::Bytes).folded();
        assert_eq!(b.from(64.0), 5.0);
        assert_eq!(b.quantile(0.1), Some((0.0, 1.0)));
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert!(Bars::split(vec![], Unit::Count).is_empty());
        let empty = bars(&[(1.0, 1.0)], Unit::Count).above(2.0);
        assert_eq!(empty.quantile(0.5), None);
        assert_eq!(empty.highest(), None);
    }
}
