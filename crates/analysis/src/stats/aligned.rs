//! Differences inside blocks whose baseline ran several times, as with a duplicate baseline.

use super::distributions::{Sums, normal_above, student, student_above};
use super::{Interval, deviation, doubled_ranks, mean};

/// An end of an interval is found to this, as a logarithm: a ratio to seven digits.
const NEAR: f64 = 1e-7;

/// No end takes more steps than this; each halves what is left.
const STEPS: usize = 60;

/// Blocks up to which chances are counted; beyond, the sum of so many ranks is as good as normal.
const COUNTED: usize = 28;

/// A variance of logarithms that is none: equal numbers differ in their last digits.
const ROUNDING: f64 = 1e-24;

/// Blocks, each with the runs of the baseline and one run of the arm: logarithms.
///
/// Location: where the arm, moved by it, is no longer seen to differ. Chance: aligned ranks
/// (Hodges and Lehmann 1962): each block is taken relative to its own mean, all are ranked
/// together, and the arm's ranks are added; without a difference each run of a block might have
/// been the arm's. Exact, also with ties. Intervals: where that test would not reject.
///
/// It knows of the noise from all runs, so it finds in 8 blocks what differences of pairs find
/// in 12. What it takes for granted: the arm's runs differ among themselves as the baseline's do.
/// Where they differ twice as much, it is wrong in 9 of 100 cases instead of 5
/// ([`Aligned::spreads`] tells, and [`super::Blocked`] goes by it).
#[derive(Clone, Debug)]
pub struct Aligned {
    /// Runs of a block, the arm's last.
    blocks: Vec<Vec<f64>>,
}

impl Aligned {
    /// Of blocks: runs of the baseline, and the run of the arm. NaN are left out; so are blocks
    /// without the arm or any baseline.
    pub fn new(blocks: &[(Vec<f64>, f64)]) -> Aligned {
        let known = |(baselines, arm): &(Vec<f64>, f64)| {
            let mut runs: Vec<f64> = baselines
                .iter()
                .copied()
                .filter(|v| v.is_finite())
                .collect();
            runs.push(*arm);
            (runs.len() > 1 && arm.is_finite()).then_some(runs)
        };
        Aligned {
            blocks: blocks.iter().filter_map(known).collect(),
        }
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Two-sided chance of such a difference if there were none; 1 of no blocks.
    pub fn chance(&self) -> f64 {
        self.tails(0.0)
            .map_or(1.0, |[below, above]| (2.0 * below.min(above)).min(1.0))
    }

    /// The smallest two-sided chance that these blocks could give.
    pub fn smallest(&self) -> f64 {
        let ways: f64 = self.blocks.iter().map(|b| b.len() as f64).product();
        (2.0 / ways).min(1.0)
    }

    /// The chances of as low a sum of the arm's ranks, and of as high a one, if the arm differed
    /// by `shift`.
    fn tails(&self, shift: f64) -> Option<[f64; 2]> {
        let mut aligned = Vec::new();
        for block in &self.blocks {
            let (arm, baselines) = block.split_last()?;
            let mut moved = baselines.to_vec();
            moved.push(arm - shift);
            let middle = mean(&moved);
            aligned.extend(moved.into_iter().map(|v| rounded(v - middle)));
        }
        let ranks = doubled_ranks(&aligned);
        let mut places = Vec::with_capacity(self.blocks.len());
        let (mut from, mut sum) = (0, 0);
        for block in &self.blocks {
            let to = from + block.len();
            sum += ranks[to - 1];
            places.push(ranks[from..to].to_vec());
            from = to;
        }
        if places.is_empty() {
            return None;
        }
        match Sums::of_choices(&places).filter(|_| places.len() <= COUNTED) {
            Some(sums) => Some([sums.at_most(sum), sums.at_least(sum)]),
            None => Some(normal_tails(&places, sum)),
        }
    }

    /// The difference, arm less baseline; NaN of no blocks.
    pub fn estimate(&self) -> f64 {
        // As likely too high as too low.
        let lower = |shift: f64| {
            self.tails(shift)
                .is_some_and(|[below, above]| above >= below)
        };
        self.crossing(lower).unwrap_or(f64::NAN)
    }

    /// The interval that holds the true difference with at least this confidence. Open where
    /// there are too few blocks for that.
    pub fn interval(&self, confidence: f64) -> Interval {
        let tail = (1.0 - confidence) / 2.0;
        let open = Interval {
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        };
        if self.blocks.is_empty() || self.smallest() / 2.0 > tail {
            return open;
        }
        // The arm's ranks fall as it is moved down: first too high, at last too low.
        let not_too_high = |shift: f64| self.tails(shift).is_some_and(|[_, above]| above > tail);
        let too_low = |shift: f64| self.tails(shift).is_some_and(|[below, _]| below <= tail);
        match (self.crossing(not_too_high), self.crossing(too_low)) {
            (Some(low), Some(high)) => Interval { low, high },
            _ => open,
        }
    }

    /// The shift from which on `beyond` holds.
    fn crossing(&self, beyond: impl Fn(f64) -> bool) -> Option<f64> {
        let differences = self.blocks.iter().flat_map(|block| {
            let (arm, baselines) = block.split_last().unwrap_or((&0.0, &[]));
            baselines.iter().map(move |b| arm - b)
        });
        let (least, most) = differences.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), d| {
            (l.min(d), h.max(d))
        });
        // Further out than any two runs of a block are apart, nothing changes any more.
        let room = (most - least).max(least.abs().max(most.abs()) * 1e-9);
        let spread = self.blocks.iter().map(|b| range(b)).fold(room, f64::max);
        let (mut low, mut high) = (least - 2.0 * spread, most + 2.0 * spread);
        if !(low.is_finite() && high.is_finite()) {
            return None;
        }
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            if high - low <= NEAR {
                break;
            }
            if beyond(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(f64::midpoint(low, high))
    }

    /// What an arm differs by from the mean of its baselines, block by block.
    pub fn differences(&self) -> Vec<f64> {
        let difference = |block: &Vec<f64>| {
            let (arm, baselines) = block.split_last()?;
            Some(arm - mean(baselines))
        };
        self.blocks.iter().filter_map(difference).collect()
    }

    /// How many times the variance that the baseline's own runs have inside blocks the arm's
    /// have, if those of the baseline are the share of it that they should be; 1 where both
    /// have none, NaN where fewer than two blocks have several baselines.
    pub fn spreads(&self) -> f64 {
        let (mut squares, mut freedom, mut inverses) = (0.0, 0.0, 0.0);
        for block in &self.blocks {
            let baselines = &block[..block.len() - 1];
            let middle = mean(baselines);
            squares += baselines.iter().map(|v| (v - middle).powi(2)).sum::<f64>();
            freedom += baselines.len() as f64 - 1.0;
            inverses += 1.0 / baselines.len() as f64;
        }
        if freedom < 2.0 {
            return f64::NAN;
        }
        let of_baseline = squares / freedom;
        let each = 1.0 + inverses / self.blocks.len() as f64;
        match deviation(&self.differences()).powi(2) / each {
            none if none <= ROUNDING && of_baseline <= ROUNDING => 1.0,
            of_arm => of_arm / of_baseline,
        }
    }

    /// Degrees of freedom of [`Aligned::spread`].
    fn freedom(&self) -> f64 {
        let runs: usize = self.blocks.iter().map(Vec::len).sum();
        runs as f64 - self.blocks.len() as f64 - 1.0
    }

    /// Standard deviation of the difference of an arm and the mean of its baselines, from the
    /// spread of runs inside blocks (the arm moved by the mean difference); NaN of fewer than
    /// two blocks.
    pub fn spread(&self) -> f64 {
        let shift = mean(&self.differences());
        let (mut squares, mut inverses) = (0.0, 0.0);
        for block in &self.blocks {
            let mut moved = block.clone();
            if let Some(arm) = moved.last_mut() {
                *arm -= shift;
            }
            let middle = mean(&moved);
            squares += moved.iter().map(|v| (v - middle).powi(2)).sum::<f64>();
            inverses += 1.0 / (moved.len() as f64 - 1.0);
        }
        let each = 1.0 + inverses / self.blocks.len() as f64;
        match self.freedom() {
            free if free > 0.0 && self.blocks.len() > 1 => (squares / free * each).sqrt(),
            _ => f64::NAN,
        }
    }

    /// The interval of Student's t, which takes all runs for normal and of the same spread;
    /// open of fewer than two blocks.
    pub fn t_interval(&self, confidence: f64) -> Interval {
        let error = self.spread() / (self.blocks.len() as f64).sqrt();
        if error.is_nan() {
            return Interval {
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
            };
        }
        let half = student(self.freedom(), (1.0 - confidence) / 2.0) * error;
        let middle = mean(&self.differences());
        Interval {
            low: middle - half,
            high: middle + half,
        }
    }

    /// Two-sided chance of Student's t, which takes all runs for normal and of the same spread;
    /// 1 of fewer than two blocks, or where there is no difference.
    pub fn t_chance(&self) -> f64 {
        let error = self.spread() / (self.blocks.len() as f64).sqrt();
        let middle = mean(&self.differences());
        if error.is_nan() || middle == 0.0 {
            return 1.0;
        }
        // Without any spread t is infinite.
        (2.0 * student_above(self.freedom(), middle.abs() / error)).min(1.0)
    }
}

/// The chances of as low a sum, and of as high a one, of one rank a block, where there are too
/// many blocks to count: the normal distribution, half a step (of doubled ranks) on.
fn normal_tails(places: &[Vec<u64>], sum: u64) -> [f64; 2] {
    let (mut expected, mut variance) = (0.0, 0.0);
    for ranks in places {
        let ranks: Vec<f64> = ranks.iter().map(|r| *r as f64).collect();
        let middle = mean(&ranks);
        expected += middle;
        variance += mean(
            &ranks
                .iter()
                .map(|r| (r - middle).powi(2))
                .collect::<Vec<_>>(),
        );
    }
    let off = sum as f64 - expected;
    if variance == 0.0 {
        return [1.0; 2];
    }
    [-off, off].map(|off| normal_above((off - 1.0) / variance.sqrt()))
}

/// Numbers that are equal but for rounding tie.
fn rounded(value: f64) -> f64 {
    (value * 1e12).round() / 1e12
}

fn range(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Paired, Random};

    fn blocks(random: &mut Random, n: usize, shift: f64) -> Vec<(Vec<f64>, f64)> {
        (0..n)
            .map(|_| {
                let block = random.normal();
                let mut run = || block + 0.03 * random.normal();
                (vec![run(), run()], shift + run())
            })
            .collect()
    }

    /// Of three runs a block and four blocks, one of 81 ways has the arm highest in all.
    #[test]
    fn chances_are_counted() {
        let clear: Vec<_> = (0..4)
            .map(|i| (vec![f64::from(i), f64::from(i) + 0.1], 9.0))
            .collect();
        let found = Aligned::new(&clear);
        assert!(
            (found.chance() - 2.0 / 81.0).abs() < 1e-12,
            "{}",
            found.chance()
        );
        assert_eq!(found.smallest(), 2.0 / 81.0);
        assert!(found.interval(0.95).is_bounded());
        assert!(!Aligned::new(&clear[..3]).interval(0.95).is_bounded());
    }

    /// With one baseline a block, aligned ranks are nearly the signed ranks of differences: rank
    /// r weighs 2r - 1 instead of r.
    #[test]
    fn pairs_are_nearly_as_wilcoxon_has_them() {
        let mut random = Random::new(2);
        for _ in 0..20 {
            let pairs: Vec<_> = (0..9)
                .map(|_| (vec![random.normal()], random.normal()))
                .collect();
            let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a[0]).collect();
            let (one, other) = (Aligned::new(&pairs), Paired::new(&differences));
            assert!((one.chance() - other.chance()).abs() < 0.1);
            assert_eq!(one.smallest(), 2.0 / 512.0);
            assert!((one.estimate() - other.estimate()).abs() < 0.3);
            let (a, b) = (one.interval(0.95), other.interval(0.95));
            let width = b.high - b.low;
            assert!((a.low - b.low).abs() < 0.3 * width, "{a:?} {b:?}");
            assert!((a.high - b.high).abs() < 0.3 * width, "{a:?} {b:?}");
        }
    }

    #[test]
    fn the_difference_is_found_and_held() {
        let mut random = Random::new(4);
        let found = Aligned::new(&blocks(&mut random, 20, 0.5));
        assert!(
            (found.estimate() - 0.5).abs() < 0.03,
            "{}",
            found.estimate()
        );
        let interval = found.interval(0.95);
        assert!(
            interval.holds(0.5) && interval.high - interval.low < 0.06,
            "{interval:?}"
        );
        assert!(
            (found.spread() / (0.03 * 1.5_f64.sqrt()) - 1.0).abs() < 0.4,
            "{}",
            found.spread()
        );
    }

    #[test]
    fn odd_numbers_do_no_harm() {
        for odd in [
            vec![],
            vec![(vec![], 1.0)],
            vec![(vec![1.0], f64::NAN); 9],
            vec![(vec![f64::NAN], 1.0); 9],
            vec![(vec![0.0, 0.0], 0.0); 9],
            vec![(vec![1e300, -1e300], 1e300); 9],
        ] {
            let odd = Aligned::new(&odd);
            assert!((0.0..=1.0).contains(&odd.chance()));
            let _ = (odd.estimate(), odd.interval(0.95), odd.spread());
        }
        let same = Aligned::new(&vec![(vec![2.0, 2.0], 2.0); 8]);
        assert_eq!(same.chance(), 1.0);
        let interval = same.interval(0.9);
        assert!(
            interval.holds(0.0) && interval.high - interval.low < 1e-6,
            "{interval:?}"
        );
    }
}
