//! Statistics of few runs: what can be said of a difference, and with how much doubt.
//!
//! The unit is one run: what is measured inside a run is correlated, and counting it would find
//! differences that are not there. Pure functions of numbers; nothing here knows what they are.

mod aligned;
mod blocked;
pub mod bootstrap;
mod distributions;
mod holm;
pub mod looks;
mod outliers;
mod paired;
pub mod planning;
mod random;
pub mod scaling;
pub mod search;
pub mod shift;
pub mod steady;
mod trend;
mod unpaired;
mod verdict;

pub use aligned::Aligned;
pub use blocked::{Blocked, Test};
pub use holm::holm;
pub use outliers::outliers;
pub use paired::Paired;
pub use random::Random;
pub use trend::{Trend, trend};
pub use unpaired::Unpaired;
pub use verdict::{Aim, Estimate, Margin, Verdict, judge};

/// Middle of the numbers, the mean of the two middle ones of an even count; NaN of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_sorted(&sorted)
}

fn median_sorted(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    match n {
        0 => f64::NAN,
        _ if n % 2 == 1 => sorted[n / 2],
        _ => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// The number that the share `q` of sorted numbers does not exceed: the least of which at least
/// that share lies at or below; NaN of none.
fn quantile_of_sorted(sorted: &[f64], q: f64) -> f64 {
    let rank = (q * sorted.len() as f64).ceil().max(1.0) as usize;
    match sorted.get(rank.min(sorted.len()).wrapping_sub(1)) {
        Some(value) => *value,
        None => f64::NAN,
    }
}

/// Arithmetic mean; NaN of none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation of a sample (divided by n - 1); NaN of fewer than two.
pub fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// An interval; it may be open at an end (infinite) where there are too few runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Whether the number lies in it.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether both ends are known.
    pub fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }
}

/// Ranks from 1 on, ties sharing their mean rank, each doubled so that it is whole.
fn doubled_ranks(values: &[f64]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let value = values[order[from]];
        let same = order[from..]
            .iter()
            .take_while(|i| values[**i] == value)
            .count();
        // The ranks from + 1 to from + same have the mean from + (same + 1) / 2.
        for place in &order[from..from + same] {
            ranks[*place] = (2 * from + same + 1) as u64;
        }
        from += same;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_ranks() {
        assert_eq!(doubled_ranks(&[3.0, 1.0, 2.0]), [6, 2, 4]);
        assert_eq!(doubled_ranks(&[1.0, 1.0, 5.0, 1.0]), [4, 4, 8, 4]);
        assert!(doubled_ranks(&[]).is_empty());
    }

    #[test]
    fn middles_and_spreads() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        assert_eq!(deviation(&[1.0, 3.0]), 2_f64.sqrt());
        assert!(deviation(&[1.0]).is_nan());
    }
}
