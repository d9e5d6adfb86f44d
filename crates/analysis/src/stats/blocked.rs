//! An arm against the baseline, block by block, by the test that fits what ran in each block.

use super::planning::{blocks_to_find, doubled_to_find};
use super::{Aligned, Interval, Paired, deviation};

/// With this many times the variance of the baseline's runs (one and a half times the spread), an
/// arm's are not taken to be spread alike. Runs that are exceed it in 8 blocks in one of seven
/// cases, which costs little: of 5 % at 3 %, 90 in 100 are found instead of 92. With a lower bound
/// it would be fewer; with a higher one, arms that are spread more would be told to differ too
/// often (cells `alarms.try.unlike` of the calibration).
const UNLIKE: f64 = 2.25;

/// The blocks of which that is so. More tell a spread more surely, so that less is taken for
/// chance.
const BLOCKS: f64 = 8.0;

fn unlike(blocks: usize) -> f64 {
    let surer = (BLOCKS / blocks as f64).sqrt();
    UNLIKE.min(1.0 + (UNLIKE - 1.0) * surer)
}

/// Blocks of logarithms, and how they are judged.
#[derive(Clone, Debug)]
pub enum Blocked {
    /// The baseline ran once: signed ranks of differences ([`Paired`]).
    Pairs(Paired),
    /// It ran twice, and arm and baseline are spread alike: aligned ranks of all runs.
    Alike(Aligned),
    /// It ran twice, and the arm's runs are spread more: signed ranks of the arm less the mean
    /// of its baselines. They need no more than that such a difference is as likely above the
    /// true one as below it.
    Unlike(Paired),
}

/// By which test blocks were judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Signed ranks of differences from the one run of the baseline.
    Signed,
    /// Aligned ranks of the arm and both runs of the baseline.
    Aligned,
    /// Signed ranks of differences from the mean of both.
    SignedMeans,
}

impl Blocked {
    /// Of blocks: runs of the baseline, and the run of the arm; logarithms. NaN are left out; so
    /// are blocks without the arm or any baseline.
    pub fn new(blocks: &[(Vec<f64>, f64)]) -> Blocked {
        let aligned = Aligned::new(blocks);
        match aligned.spreads() {
            pairs if pairs.is_nan() => Blocked::Pairs(Paired::new(&aligned.differences())),
            ratio if ratio > unlike(aligned.blocks()) => {
                Blocked::Unlike(Paired::new(&aligned.differences()).in_middles())
            }
            _ => Blocked::Alike(aligned),
        }
    }

    /// By which test they are judged.
    pub fn test(&self) -> Test {
        match self {
            Blocked::Pairs(_) => Test::Signed,
            Blocked::Alike(_) => Test::Aligned,
            Blocked::Unlike(_) => Test::SignedMeans,
        }
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        match self {
            Blocked::Pairs(p) | Blocked::Unlike(p) => p.blocks(),
            Blocked::Alike(a) => a.blocks(),
        }
    }

    /// The difference, arm less baseline; NaN of no blocks.
    pub fn estimate(&self) -> f64 {
        match self {
            Blocked::Pairs(p) | Blocked::Unlike(p) => p.estimate(),
            Blocked::Alike(a) => a.estimate(),
        }
    }

    /// Two-sided chance of such a difference if there were none; 1 of no blocks.
    pub fn chance(&self) -> f64 {
        match self {
            Blocked::Pairs(p) | Blocked::Unlike(p) => p.chance(),
            Blocked::Alike(a) => a.chance(),
        }
    }

    /// The smallest two-sided chance that these blocks could give.
    pub fn smallest(&self) -> f64 {
        match self {
            Blocked::Pairs(p) | Blocked::Unlike(p) => p.smallest(),
            Blocked::Alike(a) => a.smallest(),
        }
    }

    /// The interval that holds the true difference with this confidence: where the test would
    /// not reject. Open where there are too few blocks for that.
    pub fn interval(&self, confidence: f64) -> Interval {
        match self {
            Blocked::Pairs(p) | Blocked::Unlike(p) => p.interval(confidence),
            Blocked::Alike(a) => a.interval(confidence),
        }
    }

    /// The interval of Student's t, which takes runs for normal.
    pub fn t_interval(&self, confidence: f64) -> Interval {
        match self {
            Blocked::Pairs(p) | Blocked::Unlike(p) => p.t_interval(confidence),
            Blocked::Alike(a) => a.t_interval(confidence),
        }
    }

    /// Two-sided chance of Student's t, which takes runs for normal.
    pub fn t_chance(&self) -> f64 {
        match self {
            Blocked::Pairs(p) | Blocked::Unlike(p) => p.t_chance(),
            Blocked::Alike(a) => a.t_chance(),
        }
    }

    /// Blocks after which a difference of that size would likely (80 %) be decided, as far as
    /// the spread of these tells.
    pub fn blocks_for(&self, difference: f64) -> Option<usize> {
        match self {
            Blocked::Pairs(p) => p.blocks_for(difference),
            // Should the spread come out alike, fewer would do; never fewer than pairs need.
            Blocked::Unlike(p) => blocks_to_find(difference, deviation(p.differences()), 1),
            Blocked::Alike(a) => doubled_to_find(difference, a.spread(), 1),
        }
    }
}

impl From<Paired> for Blocked {
    fn from(pairs: Paired) -> Blocked {
        Blocked::Pairs(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;

    fn blocks(seed: u64, n: usize, arm: f64, baselines: usize) -> Vec<(Vec<f64>, f64)> {
        let mut random = Random::new(seed);
        (0..n)
            .map(|_| {
                let own = (0..baselines).map(|_| 0.03 * random.normal()).collect();
                (own, 0.2 + 0.03 * arm * random.normal())
            })
            .collect()
    }

    /// Sizes and counts are the same each time: their logarithms differ in the last digits.
    #[test]
    fn what_is_the_same_each_time_is_not_spread_by_rounding() {
        let blocks: Vec<(Vec<f64>, f64)> = (0..6)
            .map(|i| {
                (
                    vec![8.317_766_166_719_343; 2],
                    13.817_234_1 + f64::from(i) * 2e-15,
                )
            })
            .collect();
        assert_eq!(Blocked::new(&blocks).test(), Test::Aligned);
    }

    #[test]
    fn the_test_is_chosen_by_what_ran_and_how_it_is_spread() {
        assert!(matches!(
            Blocked::new(&blocks(1, 8, 1.0, 1)),
            Blocked::Pairs(_)
        ));
        assert!(matches!(
            Blocked::new(&blocks(1, 12, 1.0, 2)),
            Blocked::Alike(_)
        ));
        assert!(matches!(
            Blocked::new(&blocks(1, 12, 0.1, 2)),
            Blocked::Alike(_)
        ));
        assert!(matches!(
            Blocked::new(&blocks(1, 12, 6.0, 2)),
            Blocked::Unlike(_)
        ));
        assert!(matches!(Blocked::new(&[]), Blocked::Pairs(_)));
        // The baselines never differ, the arm's runs do.
        let still: Vec<_> = (0..8).map(|i| (vec![1.0, 1.0], f64::from(i))).collect();
        assert!(matches!(Blocked::new(&still), Blocked::Unlike(_)));
        let none = vec![(vec![1.0, 1.0], 1.0); 8];
        assert!(matches!(Blocked::new(&none), Blocked::Alike(_)));
        assert_eq!(Blocked::new(&none).chance(), 1.0);
    }

    /// How spread an arm is does not depend on how far off it is.
    #[test]
    fn each_test_holds_its_own_estimate_and_moves_with_it() {
        for (arm, baselines) in [(1.0, 1), (1.0, 2), (6.0, 2)] {
            let all = blocks(5, 10, arm, baselines);
            let further: Vec<_> = all.iter().map(|(b, a)| (b.clone(), a + 3.0)).collect();
            let (one, other) = (Blocked::new(&all), Blocked::new(&further));
            assert!(one.interval(0.95).holds(one.estimate()));
            assert!(one.t_interval(0.95).holds(one.estimate()));
            assert!((other.estimate() - one.estimate() - 3.0).abs() < 1e-6);
            assert!(one.chance() >= one.smallest() * (1.0 - 1e-9) && other.t_chance() < 0.05);
            assert_eq!(one.blocks(), 10);
            assert!(one.blocks_for(0.01) > one.blocks_for(0.1));
        }
    }
}
