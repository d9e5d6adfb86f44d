//! Runs of A and runs of B without blocks.

use std::sync::Arc;

use super::distributions::{Sums, normal, normal_above};
use super::planning::{enough, least_runs};
use super::{Interval, deviation, doubled_ranks, median_sorted};

/// Two samples, A and B, of one number a run.
///
/// Location: the Hodges-Lehmann shift, the median of all differences of a B and an A. Chance:
/// the test of Mann and Whitney, exact also with ties. Intervals: the differences, cut where
/// the test would reject.
#[derive(Clone, Debug)]
pub struct Unpaired {
    a: Vec<f64>,
    b: Vec<f64>,
    /// All differences, in order.
    shifts: Vec<f64>,
    /// Distribution of the rank sum without ties, for intervals.
    sums: Option<Arc<Sums>>,
}

impl Unpaired {
    /// Of those runs; NaN are left out.
    pub fn new(a: &[f64], b: &[f64]) -> Unpaired {
        let known = |values: &[f64]| -> Vec<f64> {
            values.iter().copied().filter(|v| !v.is_nan()).collect()
        };
        let (a, b) = (known(a), known(b));
        let mut shifts: Vec<f64> = b
            .iter()
            .flat_map(|b| a.iter().map(move |a| b - a))
            .collect();
        shifts.sort_by(f64::total_cmp);
        let ranks: Vec<u64> = (1..=(a.len() + b.len()) as u64).map(|r| 2 * r).collect();
        let sums = Sums::of_size(&ranks, b.len()).map(Arc::new);
        Unpaired { a, b, shifts, sums }
    }

    /// How many runs of A and of B there are.
    pub fn runs(&self) -> [usize; 2] {
        [self.a.len(), self.b.len()]
    }

    /// The Hodges-Lehmann shift from A to B; NaN without runs of both.
    pub fn estimate(&self) -> f64 {
        median_sorted(&self.shifts)
    }

    /// Two-sided chance of such a difference if there were none; 1 without runs of both.
    pub fn chance(&self) -> f64 {
        if self.shifts.is_empty() {
            return 1.0;
        }
        let all: Vec<f64> = self.a.iter().chain(&self.b).copied().collect();
        let ranks = doubled_ranks(&all);
        let sum: u64 = ranks[self.a.len()..].iter().sum();
        if let Some(sums) = Sums::of_size(&ranks, self.b.len()) {
            return sums.two_sided(sum);
        }
        let (m, n) = (self.a.len() as f64, self.b.len() as f64);
        let whole = m + n;
        let expected = n * (whole + 1.0);
        let squares: f64 = ranks
            .iter()
            .map(|r| (*r as f64 - whole - 1.0).powi(2))
            .sum();
        let variance = m * n * squares / (whole * (whole - 1.0));
        let off = ((sum as f64 - expected).abs() - 1.0).max(0.0);
        (2.0 * normal_above(off / variance.sqrt())).min(1.0)
    }

    /// The interval that holds the true shift with at least this confidence. Open where there
    /// are too few runs for that.
    pub fn interval(&self, confidence: f64) -> Interval {
        let tail = (1.0 - confidence) / 2.0;
        let least: u64 = (1..=self.b.len() as u64).map(|r| 2 * r).sum();
        let cut = match &self.sums {
            Some(sums) => (0..self.shifts.len())
                .take_while(|k| sums.at_most(least + 2 * *k as u64) <= tail)
                .count(),
            None => {
                let (m, n) = (self.a.len() as f64, self.b.len() as f64);
                let spread = (m * n * (m + n + 1.0) / 12.0).sqrt();
                (m * n / 2.0 - normal(tail) * spread).floor().max(0.0) as usize
            }
        };
        if cut == 0 || self.shifts.is_empty() {
            return Interval {
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
            };
        }
        Interval {
            low: self.shifts[cut - 1],
            high: self.shifts[self.shifts.len() - cut],
        }
    }

    /// Runs of each after which a difference of that size would likely (80 %) be decided, as
    /// far as the spread of these tells.
    pub fn runs_for(&self, difference: f64) -> Option<usize> {
        let pooled = (f64::midpoint(deviation(&self.a).powi(2), deviation(&self.b).powi(2))).sqrt();
        enough(
            difference,
            pooled * std::f64::consts::SQRT_2,
            least_runs(1),
            1,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted by hand: of the ways to choose who is B.
    #[test]
    fn rank_sums_are_exact() {
        let apart = Unpaired::new(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]);
        assert!((apart.chance() - 2.0 / 70.0).abs() < 1e-12);
        assert_eq!(apart.estimate(), 4.0);
        let mixed = Unpaired::new(&[1.0, 3.0, 5.0, 7.0], &[2.0, 4.0, 6.0, 8.0, 10.0]);
        // B wins 14 of 20 pairs; 26 of the 126 ways have at least as many.
        assert!(
            (mixed.chance() - 52.0 / 126.0).abs() < 1e-12,
            "{}",
            mixed.chance()
        );
    }

    #[test]
    fn intervals_need_runs() {
        let three = Unpaired::new(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        assert!(!three.interval(0.95).is_bounded());
        let four = Unpaired::new(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]);
        let found = four.interval(0.95);
        assert_eq!((found.low, found.high), (1.0, 7.0));
        assert_eq!(three.runs(), [3, 3]);
    }

    #[test]
    fn more_runs_for_smaller_differences() {
        let runs = Unpaired::new(&[1.0, 2.0, 3.0], &[1.5, 2.5, 3.5]);
        let (small, large) = (runs.runs_for(0.5).unwrap(), runs.runs_for(2.0).unwrap());
        assert!(small > 30 && large < small, "{small}, {large}");
        assert_eq!(Unpaired::new(&[1.0], &[2.0]).runs_for(1.0), None);
        for odd in [(&[][..], &[][..]), (&[1.0], &[]), (&[2.0; 5], &[2.0; 5])] {
            let odd = Unpaired::new(odd.0, odd.1);
            assert!((0.0..=1.0).contains(&odd.chance()));
            let _ = (odd.estimate(), odd.interval(0.9));
        }
    }
}
