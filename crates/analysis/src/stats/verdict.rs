//! What may be said: better, worse, equivalent, or undecided and what would decide.

use super::{Blocked, Interval, Paired, Unpaired};

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// More is better: throughput.
    Higher,
    /// Less is better: latency, cost.
    Lower,
}

/// A difference too small to matter, as a share: within it, two arms are equivalent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin(pub f64);

impl Margin {
    /// A difference of throughput or cost that is too small to matter.
    pub const THROUGHPUT: Margin = Margin(0.02);
    /// The same of a quantile beyond the middle.
    pub const TAIL: Margin = Margin(0.05);
}

/// What may be said of B against A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// B is better.
    Better,
    /// B is worse.
    Worse,
    /// They differ by less than the margin, whichever way.
    Equivalent,
    /// Neither can be said yet. With that many runs of each (or blocks) it likely could, as far
    /// as the spread tells.
    Undecided(Option<usize>),
    /// Too few runs to say anything but the numbers.
    Descriptive,
}

impl Verdict {
    /// The same where so many questions are asked that `least` runs are needed to decide any:
    /// an undecided one does not ask for fewer.
    #[must_use]
    pub fn with_least(self, least: usize, estimate: &Estimate) -> Verdict {
        match self {
            Verdict::Undecided(more) => {
                let needed = more.or(estimate.to_find).map(|n| n.max(least));
                Verdict::Undecided(needed.filter(|n| *n > estimate.runs))
            }
            other => other,
        }
    }
}

/// A difference with its doubt, as ratios of B to A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The ratio; NaN where there is none.
    pub ratio: f64,
    /// The interval of 95 %.
    pub interval: Interval,
    /// The interval of 90 %: it lies inside the margins where two one-sided tests at 5 % both
    /// reject (TOST).
    pub inner: Interval,
    /// Two-sided chance of such a difference if there were none.
    pub chance: f64,
    /// Runs of each arm, or blocks.
    pub runs: usize,
    /// Runs that would likely decide a difference of this size.
    pub to_find: Option<usize>,
    /// Runs that would likely show that it is within the margin.
    pub to_exclude: Option<usize>,
}

fn ratios(interval: Interval) -> Interval {
    Interval {
        low: interval.low.exp(),
        high: interval.high.exp(),
    }
}

impl Estimate {
    /// Of differences of logarithms, block by block.
    pub fn paired(logs: &Paired, margin: Margin) -> Estimate {
        Estimate::blocked(&Blocked::Pairs(logs.clone()), margin)
    }

    /// Of blocks of logarithms, by the test that fits them.
    pub fn blocked(logs: &Blocked, margin: Margin) -> Estimate {
        Estimate::with(logs, logs.interval(0.95), logs.interval(0.90), margin)
    }

    /// The same with intervals (of logarithms) that were found otherwise.
    pub fn with(logs: &Blocked, interval: Interval, inner: Interval, margin: Margin) -> Estimate {
        let difference = logs.estimate();
        Estimate {
            ratio: difference.exp(),
            interval: ratios(interval),
            inner: ratios(inner),
            chance: logs.chance(),
            runs: logs.blocks(),
            to_find: logs.blocks_for(difference),
            to_exclude: logs.blocks_for(room(difference, margin)),
        }
    }

    /// Of logarithms of runs without blocks.
    pub fn unpaired(logs: &Unpaired, margin: Margin) -> Estimate {
        let [a, b] = logs.runs();
        Estimate {
            ratio: logs.estimate().exp(),
            interval: ratios(logs.interval(0.95)),
            inner: ratios(logs.interval(0.90)),
            chance: logs.chance(),
            runs: a.min(b),
            to_find: logs.runs_for(logs.estimate()),
            to_exclude: logs.runs_for(room(logs.estimate(), margin)),
        }
    }
}

/// How far an estimate is from the nearer margin, in logarithms; 0 outside.
fn room(estimate: f64, margin: Margin) -> f64 {
    (margin.0.ln_1p() - estimate.abs()).max(0.0)
}

/// The verdict on an estimate; `adjusted` is its chance after all that was asked (Holm).
///
/// Equivalence comes first: a difference that is sure and too small to matter is none worth
/// having.
pub fn judge(estimate: &Estimate, adjusted: f64, aim: Aim, margin: Margin) -> Verdict {
    let Estimate {
        interval, inner, ..
    } = estimate;
    if estimate.ratio.is_nan() || estimate.runs < 2 {
        return Verdict::Descriptive;
    }
    let within = |i: &Interval| i.low >= 1.0 / (1.0 + margin.0) && i.high <= 1.0 + margin.0;
    if inner.is_bounded() && within(inner) {
        return Verdict::Equivalent;
    }
    if adjusted <= 0.05 && interval.is_bounded() && !interval.holds(1.0) {
        let up = estimate.ratio > 1.0;
        return if up == (aim == Aim::Higher) {
            Verdict::Better
        } else {
            Verdict::Worse
        };
    }
    let more = [estimate.to_find, estimate.to_exclude];
    let more = more
        .into_iter()
        .flatten()
        .filter(|n| *n > estimate.runs)
        .min();
    Verdict::Undecided(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Margin = Margin(0.02);

    fn verdict(logs: &[f64], aim: Aim) -> Verdict {
        let estimate = Estimate::paired(&Paired::new(logs), TWO);
        judge(&estimate, estimate.chance, aim, TWO)
    }

    #[test]
    fn what_is_sure_and_large_has_a_side() {
        let up = [0.05, 0.06, 0.055, 0.07, 0.045, 0.052, 0.061];
        assert_eq!(verdict(&up, Aim::Higher), Verdict::Better);
        assert_eq!(verdict(&up, Aim::Lower), Verdict::Worse);
        let down = up.map(|v| -v);
        assert_eq!(verdict(&down, Aim::Lower), Verdict::Better);
    }

    #[test]
    fn what_is_sure_and_small_is_equivalent() {
        let small = [0.001, -0.002, 0.003, 0.001, 0.0, 0.002, -0.001, 0.001];
        assert_eq!(verdict(&small, Aim::Higher), Verdict::Equivalent);
        assert_eq!(verdict(&[0.0; 8], Aim::Higher), Verdict::Equivalent);
    }

    #[test]
    fn what_is_not_sure_says_how_many_would_decide() {
        let few = [0.05, 0.06, 0.055];
        let Verdict::Undecided(Some(n)) = verdict(&few, Aim::Higher) else {
            panic!("three blocks can never decide");
        };
        assert!(n >= 6);
        let noisy = [0.1, -0.08, 0.05, -0.11, 0.09, -0.02];
        assert!(matches!(verdict(&noisy, Aim::Higher), Verdict::Undecided(Some(n)) if n > 6));
        assert_eq!(verdict(&[0.1], Aim::Higher), Verdict::Descriptive);
        assert_eq!(verdict(&[], Aim::Higher), Verdict::Descriptive);
        // Asked among many, it is no longer sure.
        let estimate =
            Estimate::paired(&Paired::new(&[0.05, 0.06, 0.055, 0.07, 0.045, 0.052]), TWO);
        let unsure = judge(&estimate, 0.09, Aim::Higher, TWO);
        assert_eq!(unsure, Verdict::Undecided(None));
        // More blocks of the same would not be asked for, had it been asked alone.
        assert_eq!(unsure.with_least(8, &estimate), Verdict::Undecided(Some(8)));
        assert_eq!(unsure.with_least(6, &estimate), Verdict::Undecided(None));
        assert_eq!(Verdict::Better.with_least(8, &estimate), Verdict::Better);
    }
}
