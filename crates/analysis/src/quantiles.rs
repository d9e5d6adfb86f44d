//! Quantiles of a number dimension, from the buckets of an answer.
//!
//! The quantile `q` of `n` events is the greatest value that fits the bucket of the
//! `ceil(q * n)`-th smallest of them (the inverse of the empirical distribution; type 1 of
//! R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", 1996). It is never
//! below that event's own value and at most 1/64 above it, the width of a bucket; values
//! below 128 of the grid's unit are exact, and so are numbers of sectors up to 64 KiB, of which
//! a bucket has one only. Of bytes or seconds by a number, amounts take the
//! place of events: half of the bytes had at most that latency.

mod spread;

use run::grid;
use run::unit::Unit;

pub(crate) use spread::spreads;
pub use spread::{Spread, Spreads, heaviest, of};

/// The quantiles that are shown.
pub const SHOWN: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// A quantile is told only if at least so many events lie beyond it: with fewer, the next run
/// gives another number.
pub const LEAST_BEYOND: f64 = 10.0;

/// What an answer says of a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Its key (see [`crate::scan::KeyValue::Number`]).
    pub key: f64,
    /// How much is in it.
    pub amount: f64,
    /// How many events that is; `None` where events are not counted.
    pub events: Option<f64>,
    /// The events' numbers added up, where the table keeps that: the bytes of I/Os by size.
    pub sum: Option<f64>,
}

/// A bucket that is not empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// The least value that fits it.
    pub least: f64,
    /// The greatest value that fits it.
    pub most: f64,
    /// What is in it.
    pub cell: Cell,
}

/// What values a number dimension can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values {
    /// Their unit.
    pub unit: Unit,
    /// They are whole multiples of this.
    pub step: Option<f64>,
}

impl Bucket {
    /// The grid is over whole numbers, so that a bucket's upper bound belongs to the next.
    fn new(cell: Cell, Values { unit, step }: Values) -> Bucket {
        let whole = if unit == Unit::Seconds { 1e9 } else { 1.0 };
        // Zero has no sign here.
        let (from, to) = grid::bounds(cell.key + 0.0, unit);
        let (mut least, mut most) = if cell.key < 0.0 {
            (((from * whole).round() + 1.0) / whole, to)
        } else {
            (from, ((to * whole).round() - 1.0) / whole)
        };
        if let Some(step) = step {
            let (first, last) = ((least / step).ceil(), (most / step).floor());
            // Another tool's wide bucket may have been spread over some that have no value.
            if first <= last {
                // Zero has no sign here either.
                (least, most) = (first * step + 0.0, last * step + 0.0);
            }
        }
        if let (Some(events), Some(sum)) = (cell.events, cell.sum)
            && (sum - events * least).abs() <= sum * 1e-9
        {
            // None lies below the least, so where the mean does, all do: I/Os of 64 KiB are
            // not said to be as large as the largest that shares their bucket.
            most = least;
        }
        Bucket { least, most, cell }
    }
}

/// How an amount is spread over a number dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// From the lowest to the highest.
    pub buckets: Vec<Bucket>,
    /// All of it.
    pub total: f64,
    /// What has no known number, and is not in `total`.
    pub unknown: f64,
    /// How many events one that was kept may stand for.
    heaviest: f64,
}

impl Distribution {
    /// From its buckets. `heaviest` is 1 unless events were sampled.
    pub fn new(cells: impl Iterator<Item = Cell>, values: Values, heaviest: f64) -> Distribution {
        let mut out = Distribution {
            heaviest: heaviest.max(1.0),
            ..Distribution::default()
        };
        for cell in cells.filter(|c| c.amount > 0.0 && c.amount.is_finite()) {
            if cell.key.is_finite() {
                out.total += cell.amount;
                out.buckets.push(Bucket::new(cell, values));
            } else {
                out.unknown += cell.amount;
            }
        }
        out.buckets.sort_by(|a, b| a.least.total_cmp(&b.least));
        out
    }

    /// How many events there are, where they are counted.
    pub fn events(&self) -> Option<f64> {
        let all: Option<f64> = self.buckets.iter().map(|b| b.cell.events).sum();
        // The sum of nothing is -0.
        all.map(|events| events + 0.0)
    }

    /// The quantile `q`; `None` if too few events lie beyond it.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        // The product may be a rounding error above a whole number.
        let rank = q * self.total * (1.0 - 1e-14);
        let mut reached = 0.0;
        let mut buckets = self.buckets.iter();
        let found = buckets.find(|b| {
            reached += b.cell.amount;
            reached >= rank
        })?;
        let above: Option<f64> = buckets.map(|b| b.cell.events).sum();
        let (Some(above), Some(here)) = (above, found.cell.events) else {
            // What has no events is measured all the time, as the time at a depth.
            return Some(found.most);
        };
        let part = ((reached - rank) / found.cell.amount).clamp(0.0, 1.0);
        let beyond = (above + here * part) / self.heaviest;
        (beyond >= LEAST_BEYOND * (1.0 - 1e-9)).then_some(found.most)
    }

    /// The mean: exact where the table keeps the sums, else with each event in the middle of
    /// its bucket, within 0.8 %.
    pub fn mean(&self) -> Option<f64> {
        let value = |b: &Bucket| {
            let mean = match (b.cell.sum, b.cell.events) {
                (Some(sum), Some(events)) if events > 0.0 => sum / events,
                _ => f64::NAN,
            };
            // A mean beside the bucket is not that of its events: discards have a size, and
            // their bytes are not among those that were moved.
            let slack = b.least.abs().max(b.most.abs()) * 1e-9;
            if (b.least - slack..=b.most + slack).contains(&mean) {
                mean
            } else {
                b.least.midpoint(b.most)
            }
        };
        let sum: f64 = self.buckets.iter().map(|b| b.cell.amount * value(b)).sum();
        (self.total > 0.0).then(|| sum / self.total)
    }

    /// The least value that fits the lowest bucket.
    pub fn min(&self) -> Option<f64> {
        self.buckets.first().map(|b| b.least)
    }

    /// The greatest value that fits the highest bucket.
    pub fn max(&self) -> Option<f64> {
        self.buckets.last().map(|b| b.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear congruential generator (Knuth, MMIX).
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            self.0 >> 11
        }
    }

    fn any(unit: Unit) -> Values {
        Values { unit, step: None }
    }

    fn of_values(values: &[i64], unit: Unit, heaviest: f64) -> Distribution {
        let base = if unit == Unit::Seconds { 1e9 } else { 1.0 };
        let mut counts: Vec<(f64, f64)> = vec![];
        for value in values {
            let key = grid::floor(*value as f64 / base, unit);
            match counts.iter_mut().find(|c| c.0 == key) {
                Some(count) => count.1 += 1.0,
                None => counts.push((key, 1.0)),
            }
        }
        let cells = counts.into_iter().map(|(key, n)| cell(key, n, Some(n)));
        Distribution::new(cells, any(unit), heaviest)
    }

    fn cell(key: f64, amount: f64, events: Option<f64>) -> Cell {
        Cell {
            key,
            amount,
            events,
            sum: None,
        }
    }

    #[test]
    fn quantiles_are_those_of_the_values_within_a_bucket() {
        let mut random = Random(5);
        for round in 0..400 {
            let n = 20 + random.next() as usize % 30_000 / (1 + round % 40);
            let signed = round % 3 == 0;
            let widest = 1 + random.next() % 40;
            let mut values: Vec<i64> = (0..n)
                .map(|_| {
                    let bits = random.next() % widest;
                    let value = (random.next() & ((1 << bits) - 1)) as i64;
                    if signed && random.next().is_multiple_of(2) {
                        -value
                    } else {
                        value
                    }
                })
                .collect();
            values.sort_unstable();
            let (unit, base) = [(Unit::Seconds, 1e9), (Unit::Bytes, 1.0)][round % 2];
            let spread = of_values(&values, unit, 1.0);
            assert_eq!(spread.events(), Some(n as f64));
            for q in [0.01, 0.5, 0.9, 0.99, 0.999] {
                let exact = values[((q * n as f64 - 1e-6).ceil() as usize).max(1) - 1] as f64;
                let Some(found) = spread.quantile(q) else {
                    assert!(n as f64 * (1.0 - q) < 10.0 + 1e-6, "{n} {q}");
                    continue;
                };
                assert!(n as f64 * (1.0 - q) > 10.0 - 1e-6, "{n} {q}");
                let found = (found * base).round();
                let above = found - exact;
                assert!(
                    (0.0..=exact.abs() / 64.0).contains(&above),
                    "{q}: {found} {exact}"
                );
            }
            let (least, most) = (values[0] as f64, values[n - 1] as f64);
            let slack = |v: f64| v.abs() / 64.0 + 1e-6;
            let (min, max) = (spread.min().unwrap() * base, spread.max().unwrap() * base);
            assert!(
                min <= least + 1e-6 && least - min <= slack(least),
                "{min} {least}"
            );
            assert!(
                max >= most - 1e-6 && max - most <= slack(most),
                "{max} {most}"
            );
            let mean = values.iter().sum::<i64>() as f64 / n as f64;
            let size = values.iter().map(|v| v.unsigned_abs()).sum::<u64>() as f64 / n as f64;
            let error = (spread.mean().unwrap() * base - mean).abs();
            assert!(error <= size / 128.0 + 1e-6, "{error} {mean}");
        }
    }

    #[test]
    fn ten_events_must_lie_beyond() {
        let values = |n: i64| (1..=n).collect::<Vec<_>>();
        for (q, least) in [(0.5, 20), (0.9, 100), (0.99, 1000), (0.999, 10_000)] {
            let told = |n| of_values(&values(n), Unit::Bytes, 1.0).quantile(q);
            assert!(told(least).is_some(), "{q} of {least}");
            assert_eq!(told(least - 1), None, "{q} of {}", least - 1);
            // One row in ten was kept: 10 events beyond are one that was seen.
            let sampled = |n| of_values(&values(n), Unit::Bytes, 10.0).quantile(q);
            assert!(sampled(least * 10).is_some());
            assert_eq!(sampled(least * 10 - 1), None);
        }
        assert_eq!(Distribution::default().quantile(0.5), None);
        assert_eq!(Distribution::default().mean(), None);
    }

    #[test]
    fn whole_numbers_are_exact_and_negative_ones_mirror_them() {
        let depths = of_values(&[vec![32; 900], vec![1; 100]].concat(), Unit::Count, 1.0);
        assert_eq!(depths.quantile(0.5), Some(32.0));
        assert_eq!((depths.min(), depths.max()), (Some(1.0), Some(32.0)));
        assert_eq!(depths.mean(), Some(28.9));
        let back = of_values(&[vec![-4096; 500], vec![0; 500]].concat(), Unit::Bytes, 1.0);
        assert_eq!(back.quantile(0.5), Some(-4096.0));
        assert_eq!(back.quantile(0.9), Some(0.0));
        assert_eq!((back.min(), back.max()), (Some(-4159.0), Some(0.0)));
        assert_eq!(of_values(&[0; 30], Unit::Bytes, 1.0).buckets[0].least, 0.0);
        let zero = Distribution::new([cell(-0.0, 30.0, None)].into_iter(), any(Unit::Bytes), 1.0);
        assert_eq!((zero.min(), zero.max()), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn odd_amounts_harm_nothing() {
        let cells = [
            (f64::NAN, 3.0, Some(3.0)),
            (1.0, f64::NAN, Some(1.0)),
            (2.0, -5.0, Some(1.0)),
            (f64::INFINITY, 2.0, None),
            (1e300, f64::INFINITY, Some(1.0)),
            (f64::MAX, 100.0, Some(100.0)),
            (f64::MIN, 100.0, Some(100.0)),
        ];
        let odd = Distribution::new(
            cells.into_iter().map(|(k, a, e)| cell(k, a, e)),
            any(Unit::Seconds),
            f64::NAN,
        );
        assert_eq!((odd.total, odd.unknown), (200.0, 5.0));
        assert!(odd.quantile(0.5).is_some_and(|v| v <= 0.0));
    }

    /// 64 KiB begins a bucket of 1 KiB: the bytes tell whether all are of that size.
    #[test]
    fn known_sums_make_sizes_and_means_exact() {
        let of = |extra: f64| {
            let one = Cell {
                sum: Some(65536.0 * 100.0 + extra),
                ..cell(65536.0, 100.0, Some(100.0))
            };
            Distribution::new([one].into_iter(), any(Unit::Bytes), 1.0)
        };
        assert_eq!(
            (of(0.0).quantile(0.5), of(0.0).max()),
            (Some(65536.0), Some(65536.0))
        );
        assert_eq!(of(0.0).mean(), Some(65536.0));
        assert_eq!(of(512.0).max(), Some(66559.0));
        assert_eq!(of(512.0).mean(), Some(65536.0 + 5.12));
    }

    /// Some of what has 4 KiB moved nothing: the bytes do not tell that all are of that size.
    #[test]
    fn what_comes_in_sectors_is_told_in_sectors() {
        let of = |key: f64, sum: f64| {
            let one = Cell {
                sum: Some(sum),
                ..cell(key, 100.0, Some(100.0))
            };
            let sectors = Values {
                unit: Unit::Bytes,
                step: Some(512.0),
            };
            let all = Distribution::new([one].into_iter(), sectors, 1.0);
            (all.min().unwrap(), all.max().unwrap(), all.mean().unwrap())
        };
        assert_eq!(of(4096.0, 4096.0 * 60.0), (4096.0, 4096.0, 4096.0));
        assert_eq!(of(-512.0, f64::NAN), (-512.0, -512.0, -512.0));
        assert_eq!(of(0.0, 0.0), (0.0, 0.0, 0.0));
        // Two sizes share a bucket: the mean is told as far as it can be of them.
        assert_eq!(of(65536.0, 0.0), (65536.0, 66048.0, 65792.0));
        assert_eq!(of(65536.0, 65700.0 * 100.0), (65536.0, 66048.0, 65700.0));
        // No whole number of sectors is in it.
        assert_eq!(of(4160.0, 0.0), (4160.0, 4223.0, 4191.5));
    }
}
