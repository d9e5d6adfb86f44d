//! Inside one run: how its intervals hang together, and whether it ever settled.
//!
//! Intervals of a run are correlated, so they are gathered into batches that are nearly
//! independent (batch means: Glynn and Whitt 1991). Steps in the level of the batches are found
//! by splitting where the levels differ most, as long as that is more than chance does. "Never
//! steady" is a legal answer: under half of all benchmarks settle (Barrett and others 2017).

use super::random::Random;
use super::{mean, median};

/// Fewer batches than this say too little.
pub const LEAST_BATCHES: usize = 20;

/// More batches than this tell no more.
const MOST_BATCHES: usize = 120;

/// Neighbouring batches are nearly independent below this.
const INDEPENDENT: f64 = 0.1;

/// A step is one if chance makes such a split in fewer than this share of shuffles.
const LEVEL: f64 = 0.01;

/// Shuffles of each test.
const SHUFFLES: usize = 400;

/// A level lasts at least this share of the batches.
const LEAST_SHARE: f64 = 0.05;

/// The steady part is at least this share of the run.
const ENOUGH: f64 = 0.5;

/// Correlation of neighbours (lag 1); NaN of fewer than three, 0 where all are the same.
pub fn correlation(values: &[f64]) -> f64 {
    if values.len() < 3 {
        return f64::NAN;
    }
    let middle = mean(values);
    let squares: f64 = values.iter().map(|v| (v - middle).powi(2)).sum();
    let pairs = values.windows(2).map(|w| (w[0] - middle) * (w[1] - middle));
    if squares > 0.0 {
        pairs.sum::<f64>() / squares
    } else {
        0.0
    }
}

/// A run's intervals, gathered.
#[derive(Clone, Debug, PartialEq)]
pub struct Batched {
    /// Intervals a batch.
    pub size: usize,
    /// The mean of each batch; the last may be of more intervals, up to twice as many.
    pub means: Vec<f64>,
    /// Correlation of neighbouring batches that is left.
    pub correlation: f64,
    /// Whether that is little enough; else the run is too short for its correlation.
    pub independent: bool,
}

/// The smallest batches whose neighbours correlate by at most 0.1, of which there are at least
/// twenty. Where none are, the largest batches there can be, which are not independent unless
/// what is left may be chance. `None` with fewer than twenty intervals. A step in the level is
/// no correlation: the largest one is taken out before.
pub fn batched(values: &[f64]) -> Option<Batched> {
    let values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let largest = values.len() / LEAST_BATCHES;
    if largest == 0 {
        return None;
    }
    let flat = without_step(&values);
    let first = values.len().div_ceil(MOST_BATCHES).min(largest);
    let found = (first..=largest).find(|size| {
        let left = correlation(&gathered(&flat, *size));
        left.abs() <= INDEPENDENT
    });
    let size = found.unwrap_or(largest);
    let left = correlation(&gathered(&flat, size));
    let means = gathered(&values, size);
    // One in twenty independent series has more than 1.64 standard errors.
    let chance = 1.64 / (means.len() as f64).sqrt();
    Some(Batched {
        size,
        means,
        correlation: left,
        independent: left <= INDEPENDENT.max(chance),
    })
}

fn gathered(values: &[f64], size: usize) -> Vec<f64> {
    let batches = values.len() / size;
    (0..batches)
        .map(|b| {
            let end = if b + 1 == batches {
                values.len()
            } else {
                (b + 1) * size
            };
            mean(&values[b * size..end])
        })
        .collect()
}

/// The values less the level of their side of the largest step.
fn without_step(values: &[f64]) -> Vec<f64> {
    let (at, _) = largest_step(values, 1);
    let (before, after) = values.split_at(at);
    let levels = [mean(before), mean(after)];
    let less = |part: &[f64], level: f64| -> Vec<f64> { part.iter().map(|v| v - level).collect() };
    let mut flat = less(before, if at == 0 { 0.0 } else { levels[0] });
    flat.extend(less(after, levels[1]));
    flat
}

/// Where the means of both sides differ most, and how much: the squares that the split explains.
/// Each side has at least `least` values.
fn largest_step(values: &[f64], least: usize) -> (usize, f64) {
    let n = values.len();
    let middle = mean(values);
    let mut best = (0, 0.0);
    let mut sum = 0.0;
    for (i, value) in values.iter().enumerate() {
        sum += value - middle;
        let (left, right) = (i + 1, n - i - 1);
        if left >= least && right >= least && right > 0 {
            // The sums of both sides are opposite.
            let explained = sum * sum * n as f64 / (left as f64 * right as f64);
            if explained > best.1 {
                best = (i + 1, explained);
            }
        }
    }
    best
}

/// A stretch of a run at one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Place of its first value.
    pub from: usize,
    /// Place after its last.
    pub to: usize,
    /// Median of its values.
    pub middle: f64,
}

/// Whether a run settled.
#[derive(Clone, Debug, PartialEq)]
pub enum Steady {
    /// One level from the beginning to the end.
    Always,
    /// It settled at that place of the series, before its half.
    From(usize),
    /// It changed its level in its second half too: there is no steady state to measure.
    Never(Vec<Level>),
    /// Fewer than twenty values: nothing can be told.
    TooShort,
}

/// Whether a series settled. Levels that differ by less than the share `small` (0.02) count as
/// one. Values that are not known are left out. Shuffles are by `seed`; of a thousand steady
/// runs about ten are taken for unsteady.
pub fn steadiness(series: &[f64], small: f64, seed: u64) -> Steady {
    let known: Vec<(usize, f64)> = (0..series.len())
        .zip(series.iter().copied())
        .filter(|v| v.1.is_finite())
        .collect();
    let values: Vec<f64> = known.iter().map(|v| v.1).collect();
    let Some(batched) = batched(&values) else {
        return Steady::TooShort;
    };
    let mut edges = vec![0, batched.means.len()];
    let least = ((batched.means.len() as f64 * LEAST_SHARE) as usize).max(1);
    let mut random = Random::new(seed);
    split(&batched.means, 0, least, &mut random, &mut edges);
    edges.sort_unstable();
    let place = |batch: usize| {
        let at = (batch * batched.size).min(values.len());
        if batch >= batched.means.len() {
            values.len()
        } else {
            at
        }
    };
    let level = |from: usize, to: usize| Level {
        from,
        to,
        middle: median(&values[from..to]),
    };
    let mut levels: Vec<Level> = Vec::new();
    for pair in edges.windows(2) {
        let next = level(place(pair[0]), place(pair[1]));
        match levels.last_mut() {
            Some(last) if near(last.middle, next.middle, small) => {
                *last = level(last.from, next.to);
            }
            _ => levels.push(next),
        }
    }
    verdict(levels, &known)
}

fn verdict(mut levels: Vec<Level>, known: &[(usize, f64)]) -> Steady {
    // Back to places in the whole series, with what is not known.
    let back = |at: usize| {
        known
            .get(at)
            .map_or(known.last().map_or(0, |k| k.0 + 1), |k| k.0)
    };
    let all = known.len() as f64;
    let last = match levels.as_slice() {
        [] | [_] => return Steady::Always,
        [.., last] => *last,
    };
    if (last.to - last.from) as f64 >= ENOUGH * all {
        return Steady::From(back(last.from));
    }
    for level in &mut levels {
        (level.from, level.to) = (back(level.from), back(level.to));
    }
    Steady::Never(levels)
}

/// Whether two levels are the same for all that matters.
fn near(a: f64, b: f64, small: f64) -> bool {
    (a - b).abs() <= small * a.abs().max(b.abs())
}

/// Splits where the step is larger than chance makes it, and then each side.
fn split(means: &[f64], from: usize, least: usize, random: &mut Random, edges: &mut Vec<usize>) {
    // Fewer cannot be told from chance by any shuffle.
    if means.len() < 8 {
        return;
    }
    let (at, explained) = largest_step(means, least);
    if at == 0 || explained <= 0.0 {
        return;
    }
    let mut shuffled = means.to_vec();
    let mut as_large = 1;
    for _ in 0..SHUFFLES {
        random.shuffle(&mut shuffled);
        as_large += usize::from(largest_step(&shuffled, least).1 >= explained * (1.0 - 1e-12));
    }
    if as_large as f64 / (SHUFFLES + 1) as f64 > LEVEL {
        return;
    }
    edges.push(from + at);
    split(&means[..at], from, least, random, edges);
    split(&means[at..], from + at, least, random, edges);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise of 3 % whose neighbours correlate by `rho`, around a level a value.
    fn series(seed: u64, rho: f64, levels: &[f64]) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut noise = random.normal();
        let mut next = || {
            noise = rho * noise + (1.0 - rho * rho).sqrt() * random.normal();
            noise
        };
        levels.iter().map(|l| l * (1.0 + 0.03 * next())).collect()
    }

    fn steps(parts: &[(usize, f64)]) -> Vec<f64> {
        let part = |(n, level): &(usize, f64)| vec![*level; *n];
        parts.iter().flat_map(part).collect()
    }

    #[test]
    fn correlation_is_told_and_batches_remove_it() {
        let white = series(1, 0.0, &[100.0; 2000]);
        assert!(correlation(&white).abs() < 0.06);
        let red = series(1, 0.8, &[100.0; 2000]);
        assert!((correlation(&red) - 0.8).abs() < 0.06);
        let found = batched(&red).unwrap();
        assert!(found.independent && found.size >= 16, "{found:?}");
        assert!(found.means.len() >= LEAST_BATCHES && found.means.len() <= MOST_BATCHES);
        let wandering = series(1, 0.999, &[100.0; 200]);
        assert!(!batched(&wandering).unwrap().independent);
        assert_eq!(batched(&[1.0; 19]), None);
        assert_eq!(correlation(&[2.0; 9]), 0.0);
    }

    #[test]
    fn steady_runs_are_seldom_called_unsteady() {
        for rho in [0.0, 0.5] {
            let alarms = (0..300)
                .filter(|seed| {
                    let run = series(*seed, rho, &[100.0; 200]);
                    steadiness(&run, 0.0, *seed) != Steady::Always
                })
                .count();
            // 1 % of 300 are 3; correlation that batches leave adds some.
            assert!(alarms <= 12, "{alarms} of 300 at {rho}");
        }
    }

    #[test]
    fn a_warm_up_ends_where_it_does() {
        let run = series(3, 0.3, &steps(&[(30, 60.0), (170, 100.0)]));
        let Steady::From(at) = steadiness(&run, 0.02, 1) else {
            panic!("{:?}", steadiness(&run, 0.02, 1));
        };
        assert!((27..=36).contains(&at), "{at}");
        // A gap is no value.
        let mut gap = run.clone();
        gap.splice(0..0, [f64::NAN; 50]);
        let Steady::From(later) = steadiness(&gap, 0.02, 1) else {
            panic!("{:?}", steadiness(&gap, 0.02, 1));
        };
        assert_eq!(later, at + 50);
    }

    #[test]
    fn what_never_settles_is_told() {
        let late = series(4, 0.0, &steps(&[(140, 100.0), (60, 80.0)]));
        assert!(matches!(steadiness(&late, 0.02, 1), Steady::Never(l) if l.len() == 2));
        let falling: Vec<f64> = (0..200).map(|i| 100.0 - 0.2 * f64::from(i)).collect();
        let falling = series(5, 0.0, &falling);
        assert!(matches!(steadiness(&falling, 0.02, 1), Steady::Never(l) if l.len() > 2));
        // A step of 1 % is sure here, and too small to matter.
        let small = series(6, 0.0, &steps(&[(1000, 100.0), (1000, 101.0)]));
        assert_eq!(steadiness(&small, 0.02, 1), Steady::Always);
    }

    #[test]
    fn odd_numbers_do_no_harm() {
        assert_eq!(steadiness(&[], 0.02, 1), Steady::TooShort);
        assert_eq!(steadiness(&[f64::NAN; 90], 0.02, 1), Steady::TooShort);
        assert_eq!(steadiness(&[0.0; 90], 0.02, 1), Steady::Always);
        let mut one = vec![0.0; 90];
        one[40] = 1e300;
        let _ = steadiness(&one, 0.02, 1);
        let long = vec![1.0; 90_000];
        assert_eq!(steadiness(&long, 0.02, 1), Steady::Always);
    }
}
