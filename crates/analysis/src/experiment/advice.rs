//! What to do: one arm, none, or a choice.

use super::{Measured, Outcome, Places, differences, level};
use crate::compare::{Joint, joint};
use crate::stats::{Aim, Paired, Verdict};

/// What the experiment recommends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Take this arm; those beside it are better than the baseline too, and cannot be told from
    /// it.
    Take {
        /// Place of the arm.
        arm: usize,
        /// Arms that may be as good.
        close: Vec<usize>,
    },
    /// Keep what there is: no arm has a difference worth having, or all are worse.
    Keep,
    /// Better by one metric and worse by another: these arms are on the front.
    Choice(Vec<usize>),
    /// Not decided; so many blocks likely would.
    Undecided(Option<usize>),
    /// The baseline differs from itself: nothing may be claimed.
    Unsound,
    /// Too few trials to conclude anything.
    TooFew,
}

impl Outcome {
    /// What may be said of an arm by all declared metrics together.
    pub fn joint(&self, arm: usize) -> Joint {
        joint(self.of(arm).map(|c| &c.compared))
    }

    /// Arms that were compared, in order.
    pub fn arms(&self) -> Vec<usize> {
        let mut arms: Vec<usize> = self.declared.iter().map(|c| c.arm).collect();
        arms.dedup();
        arms
    }
}

/// What to do.
pub fn advise(outcome: &Outcome, all: &[Measured], places: Places) -> Advice {
    if outcome.unsound().next().is_some() {
        return Advice::Unsound;
    }
    let joints: Vec<(usize, Joint)> = outcome
        .arms()
        .into_iter()
        .map(|arm| (arm, outcome.joint(arm)))
        .collect();
    let with = |joint: Joint| joints.iter().filter(move |j| j.1 == joint).map(|j| j.0);
    if let Some(arm) = with(Joint::Better).max_by(|a, b| {
        let gain = |arm: &usize| gain(outcome, *arm);
        gain(a).total_cmp(&gain(b))
    }) {
        let close = with(Joint::Better).filter(|other| *other != arm);
        let close = close.filter(|other| cannot_be_told(all, arm, *other));
        return Advice::Take {
            arm,
            close: close.collect(),
        };
    }
    if with(Joint::Mixed).next().is_some() {
        return Advice::Choice(front(all, places));
    }
    if joints.iter().all(|j| j.1 == Joint::Descriptive) {
        return Advice::TooFew;
    }
    if with(Joint::Undecided)
        .chain(with(Joint::Descriptive))
        .next()
        .is_some()
    {
        return Advice::Undecided(needed(outcome));
    }
    Advice::Keep
}

/// How much better an arm is by the first declared metric, as a logarithm.
fn gain(outcome: &Outcome, arm: usize) -> f64 {
    let first = outcome.of(arm).next();
    first.map_or(f64::NEG_INFINITY, |c| {
        let log = c.compared.estimate.ratio.ln();
        match c.compared.metric.aim {
            _ if log.is_nan() => f64::NEG_INFINITY,
            Aim::Higher => log,
            Aim::Lower => -log,
        }
    })
}

/// Whether two arms may be the same by the first metric.
fn cannot_be_told(all: &[Measured], one: usize, other: usize) -> bool {
    let Some(first) = all.iter().find(|m| m.declared) else {
        return true;
    };
    let logs = Paired::new(&differences(&first.values[one], &first.values[other]));
    !logs.interval(0.95).is_bounded() || logs.interval(0.95).holds(0.0)
}

/// Blocks that would likely decide what is open; `None` where one cannot be told.
fn needed(outcome: &Outcome) -> Option<usize> {
    let open = outcome
        .declared
        .iter()
        .filter_map(|c| match c.compared.verdict {
            Verdict::Undecided(blocks) => Some(blocks),
            _ => None,
        });
    open.collect::<Option<Vec<usize>>>()?.into_iter().max()
}

/// Arms that no other arm beats by every declared metric (Pareto), by the middle of their
/// trials; the baseline is one of the arms, and stands for itself once more too.
pub fn front(all: &[Measured], places: Places) -> Vec<usize> {
    let declared: Vec<&Measured> = all.iter().filter(|m| m.declared).collect();
    let arms = declared.first().map_or(0, |m| m.values.len());
    let merits = |arm: usize| -> Vec<f64> {
        let merit = |m: &&Measured| {
            let value = level(&m.values[arm]).value;
            match m.metric.aim {
                _ if value.is_nan() => f64::NEG_INFINITY,
                Aim::Higher => value,
                Aim::Lower => -value,
            }
        };
        declared.iter().map(merit).collect()
    };
    let all: Vec<(usize, Vec<f64>)> = (0..arms)
        .filter(|arm| places.again != Some(*arm))
        .map(|arm| (arm, merits(arm)))
        .collect();
    let beats = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).all(|(a, b)| a >= b) && a.iter().zip(b).any(|(a, b)| a > b)
    };
    all.iter()
        .filter(|(_, mine)| !all.iter().any(|(_, other)| beats(other, mine)))
        .map(|(arm, _)| *arm)
        .collect()
}
