//! Looking several times at an experiment that goes on: when may it stop?
//!
//! Who looks after every block and stops at the first p below 5 % is wrong far more often than
//! 5 %. Here each look may spend a part of the 5 %, and all looks together spend no more (Lan
//! and `DeMets` 1983): first very little, as O'Brien and Fleming did (1979), so that at the last
//! look nearly all of it is left.

use super::distributions::{normal, normal_above};
use super::planning::LEVEL;
use super::verdict::{Aim, Estimate, Margin, Verdict, judge};
use super::{Blocked, Interval};

/// After how many blocks an experiment of unknown length is looked at.
pub const LOOKS: [usize; 4] = [6, 10, 16, 24];

/// Steps of the grid on which chances are integrated; errors of the bounds are below 1e-4.
const POINTS: usize = 160;

/// The looks of an experiment.
///
/// The test of a look is that of [`Blocked`]: signed ranks, or aligned ones. Where even its
/// smallest chance is above what may be spent (of signed ranks at 6 and 10 blocks of 24, of
/// aligned ones at 6), a look stops only if all blocks point the same way and Student's t is
/// below it: it takes the differences for normal, which so far out in the tail
/// is a belief. Differences of blocks are symmetric where there is no effect, and tails that
/// are longer than the normal's make t rarer, not more frequent.
#[derive(Clone, Debug, PartialEq)]
pub struct Looks {
    at: Vec<usize>,
    /// Blocks at the last planned look.
    planned: usize,
    /// Levels of one question, for differences and for equivalence.
    alone: [Vec<f64>; 2],
}

/// What is asked of the blocks: a metric of an arm against the baseline.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'p> {
    /// Logarithms, block by block.
    pub logs: &'p Blocked,
    /// Which way is better.
    pub aim: Aim,
    /// What is too small to matter.
    pub margin: Margin,
}

/// What a look says to one question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Looked {
    /// The verdict; an undecided one says how many blocks in all would likely decide.
    pub verdict: Verdict,
    /// The estimate. Its intervals are wider than those of an experiment of fixed length, so
    /// that those of all looks hold the truth together (repeated intervals: Jennison and
    /// Turnbull 1989).
    pub estimate: Estimate,
}

impl Looks {
    /// At those numbers of blocks, rising, of which the last is the end. `None` unless they
    /// rise, or below two blocks.
    pub fn new(at: &[usize]) -> Option<Looks> {
        let planned = *at.last()?;
        Looks::until(at, planned)
    }

    /// An experiment that was to end after `planned` blocks, and was looked at `at` those: the
    /// last of them may be any number, as where somebody ended it early.
    pub fn until(at: &[usize], planned: usize) -> Option<Looks> {
        let rising = at.windows(2).all(|w| w[0] < w[1]);
        let sound = rising && *at.first()? >= 2 && *at.last()? <= planned;
        sound.then(|| {
            let mut looks = Looks {
                at: at.to_vec(),
                planned,
                alone: Default::default(),
            };
            looks.alone = [LEVEL, 2.0 * LEVEL].map(|level| looks.levels(level));
            looks
        })
    }

    /// The numbers of blocks.
    pub fn at(&self) -> &[usize] {
        &self.at
    }

    /// For each look the two-sided chance at or below which one question is decided, where all
    /// looks together may be wrong with the chance `level`.
    pub fn levels(&self, level: f64) -> Vec<f64> {
        let share = |n: usize| n as f64 / self.planned as f64;
        let times: Vec<f64> = self.at.iter().map(|n| share(*n)).collect();
        bounds(&times, level)
            .into_iter()
            .map(|z| (2.0 * normal_above(z)).min(1.0))
            .collect()
    }

    /// What look number `look` (from 0) says to all questions; stop when none is undecided, or
    /// there is no further look. Empty for a look that is not planned.
    ///
    /// Several questions are asked as Holm did, look by look: the surest first, at the level
    /// that is left for as many as are open (Ye and others 2013).
    pub fn judge(&self, look: usize, asked: &[Asked<'_>]) -> Vec<Looked> {
        if look >= self.at.len() {
            return Vec::new();
        }
        let sure = self.sure(look, asked);
        let levels = [self.alone[0][look], self.alone[1][look]];
        let looked = asked.iter().zip(sure).map(|(a, sure)| {
            let [outer, inner] = levels.map(|level| interval(a.logs, level));
            let estimate = Estimate::with(a.logs, outer, inner, a.margin);
            let adjusted = if sure { 0.0 } else { 1.0 };
            Looked {
                verdict: judge(&estimate, adjusted, a.aim, a.margin),
                estimate,
            }
        });
        looked.collect()
    }

    /// Which of the differences are sure at this look.
    fn sure(&self, look: usize, asked: &[Asked<'_>]) -> Vec<bool> {
        let mut order: Vec<usize> = (0..asked.len()).collect();
        // The least that either test says, so that of what ranks cannot tell apart the clearest
        // comes first.
        let least = |i: &usize| asked[*i].logs.chance().min(asked[*i].logs.t_chance());
        order.sort_by(|a, b| least(a).total_cmp(&least(b)));
        let mut sure = vec![false; asked.len()];
        for (rank, place) in order.into_iter().enumerate() {
            let level = match asked.len() - rank {
                1 => self.alone[0][look],
                open => self.levels(LEVEL / open as f64)[look],
            };
            if !reaches(asked[place].logs, level) {
                break;
            }
            sure[place] = true;
        }
        sure
    }
}

/// Whether a difference is as sure as `level` asks.
fn reaches(logs: &Blocked, level: f64) -> bool {
    // Products of thirds do not come out as their power does, to the last digit.
    let (ranks, least) = (logs.chance(), logs.smallest() * (1.0 + 1e-9));
    ranks <= level || (level < least && ranks <= least && logs.t_chance() <= level)
}

/// The interval at confidence 1 - `level`: by ranks, and where there are too few blocks for
/// that, by Student's t.
fn interval(logs: &Blocked, level: f64) -> Interval {
    let ranks = logs.interval(1.0 - level);
    if ranks.is_bounded() {
        ranks
    } else {
        logs.t_interval(1.0 - level)
    }
}

/// What of `level` may be spent until the share `time` of the blocks: on each side half of it,
/// as 2 − 2Φ(z / √time), with the z that spends all at the end.
fn spent(level: f64, time: f64) -> f64 {
    4.0 * normal_above(normal(level / 4.0) / time.sqrt())
}

/// Bounds of a standard normal statistic at each of the times (shares of the blocks), so that
/// it leaves them first at each with the chance that is to be spent there.
///
/// The sum of the blocks so far is a Brownian motion at those times. Its density among those
/// that have not left is carried from look to look (Armitage, `McPherson` and Rowe 1969).
fn bounds(times: &[f64], level: f64) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::with_capacity(times.len());
    let mut staying: Vec<(f64, f64)> = vec![(0.0, 1.0)];
    let (mut before, mut used) = (0.0, 0.0);
    for &time in times {
        let step = (time - before).sqrt();
        let spend = (spent(level, time) - used).max(0.0);
        // Both sides are alike: half of it above.
        let above = |bound: f64| -> f64 {
            let part = |(at, weight): &(f64, f64)| weight * normal_above((bound - at) / step);
            staying.iter().map(part).sum()
        };
        let (mut low, mut high) = (0.0, 40.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if above(middle) > spend / 2.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        found.push(high / time.sqrt());
        staying = carried(&staying, high, step);
        used = spent(level, time);
        before = time;
    }
    found
}

/// The density at the next look within ± `bound`, as points with weights (Simpson's rule).
fn carried(from: &[(f64, f64)], bound: f64, step: f64) -> Vec<(f64, f64)> {
    let width = 2.0 * bound / POINTS as f64;
    let scale = 1.0 / (step * std::f64::consts::TAU.sqrt());
    let point = |i: usize| {
        let at = -bound + i as f64 * width;
        let density =
            |(x, weight): &(f64, f64)| weight * scale * (-0.5 * ((at - x) / step).powi(2)).exp();
        let rule = match i {
            0 | POINTS => 1.0,
            _ if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let sum: f64 = from.iter().map(density).sum();
        (at, sum * rule * width / 3.0)
    };
    (0..=POINTS).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published bounds for O'Brien-Fleming spending at 5 %, five and two even looks.
    #[test]
    fn bounds_are_the_published_ones() {
        let even = |n: usize| -> Vec<f64> { (1..=n).map(|i| i as f64 / n as f64).collect() };
        let five = bounds(&even(5), 0.05);
        for (found, wanted) in five.iter().zip([4.8769, 3.3569, 2.6803, 2.2898, 2.0310]) {
            assert!((found - wanted).abs() < 2e-4, "{five:?}");
        }
        let two = bounds(&even(2), 0.05);
        for (found, wanted) in two.iter().zip([2.9626, 1.9686]) {
            assert!((found - wanted).abs() < 2e-4, "{two:?}");
        }
        let one = bounds(&[1.0], 0.05);
        assert!((one[0] - 1.959_964).abs() < 1e-5, "{one:?}");
    }

    #[test]
    fn looks_rise_and_end_as_planned() {
        assert!(Looks::new(&[]).is_none());
        assert!(Looks::new(&[6, 6]).is_none());
        assert!(Looks::new(&[1, 6]).is_none());
        assert!(Looks::until(&[6, 30], 24).is_none());
        let standard = Looks::new(&LOOKS).unwrap();
        let levels = standard.levels(LEVEL);
        assert!(levels.windows(2).all(|w| w[0] < w[1]), "{levels:?}");
        assert!(levels[0] < 1e-4 && levels[3] > 0.04, "{levels:?}");
        // Ended by hand after 13 blocks: that look spends what it may, not the rest.
        let early = Looks::until(&[6, 10, 13], 24).unwrap().levels(LEVEL);
        assert_eq!(early[..2], levels[..2]);
        assert!(early[2] < levels[2]);
    }

    fn pairs(differences: &[f64]) -> Blocked {
        crate::stats::Paired::new(differences).into()
    }

    fn asked(logs: &Blocked) -> Asked<'_> {
        Asked {
            logs,
            aim: Aim::Higher,
            margin: Margin(0.02),
        }
    }

    #[test]
    fn a_clear_difference_stops_early_and_a_doubtful_one_goes_on() {
        let looks = Looks::new(&LOOKS).unwrap();
        let clear = pairs(&[0.50, 0.51, 0.49, 0.505, 0.495, 0.50]);
        let doubtful = pairs(&[0.05, 0.09, 0.01, 0.02, 0.14, 0.03]);
        let same = pairs(&[0.0003, -0.0002, 0.0001, -0.0003, 0.0002, 0.0]);
        let found = looks.judge(0, &[asked(&doubtful), asked(&clear), asked(&same)]);
        assert!(
            matches!(found[0].verdict, Verdict::Undecided(_)),
            "{found:?}"
        );
        assert_eq!(found[1].verdict, Verdict::Better);
        assert_eq!(found[2].verdict, Verdict::Equivalent);
        // One block the other way, and ranks no longer say the least they can.
        let mut against = vec![0.5; 5];
        against.push(-1e-6);
        let found = looks.judge(0, &[asked(&pairs(&against))]);
        assert!(
            matches!(found[0].verdict, Verdict::Undecided(_)),
            "{found:?}"
        );
        assert!(looks.judge(4, &[asked(&clear)]).is_empty());
        assert!(looks.judge(0, &[]).is_empty());
    }

    #[test]
    fn odd_numbers_do_no_harm() {
        let looks = Looks::new(&[2, 3]).unwrap();
        for odd in [&[][..], &[0.0; 6], &[f64::NAN; 6], &[1.0], &[1.0; 6]] {
            let odd = pairs(odd);
            for look in 0..2 {
                assert_eq!(looks.judge(look, &[asked(&odd)]).len(), 1);
            }
        }
    }
}
