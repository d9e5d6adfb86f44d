//! What the trials of an experiment say: each arm against the baseline, block by block.
//!
//! A trial is one number a metric. Inside a block the difference of two arms' logarithms is free
//! of what both met alike (drift, temperature, neighbours); all blocks give the estimate, its
//! interval and its chance ([`Blocked`]). Chances are adjusted for every declared metric of every
//! arm at once (Holm 1979). The baseline ran twice in each block: arms are compared with both of
//! its runs, and if it differs from itself ([`Paired`]: each run of it counts once), nothing is
//! claimed.

mod advice;

pub use advice::{Advice, advise, front};

use crate::compare::{Compared, Metric};
use crate::stats::looks::{Asked, LOOKS, Looks};
use crate::stats::planning::{least_blocks, least_doubled};
use crate::stats::{Blocked, Estimate, Interval, Paired, Test, Verdict, holm, judge, median};

/// One metric of every trial.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The metric.
    pub metric: Metric,
    /// Its unit where a trial told, and whether it is per second.
    pub unit: Option<(run::Unit, bool)>,
    /// Whether a verdict was asked of it before the first trial.
    pub declared: bool,
    /// By arm and block; NaN where a trial failed or cannot tell.
    pub values: Vec<Vec<f64>>,
    /// Why trials could not tell, if some could not.
    pub missing: Option<String>,
}

/// Which arms are what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// What all are compared with.
    pub baseline: usize,
    /// The same once more, if it ran.
    pub again: Option<usize>,
}

/// When it was to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// After a number of blocks that was fixed before.
    Fixed,
    /// As soon as a planned look decides.
    Looks,
}

/// An arm against the baseline by one metric.
#[derive(Clone, Debug)]
pub struct Contrast {
    /// Place of the arm.
    pub arm: usize,
    /// Place of the metric.
    pub metric: usize,
    /// Baseline (A) and arm (B), a number a block, and what may be said.
    pub compared: Compared,
    /// By which test.
    pub test: Test,
    /// The interval of Student's t at 95 %, as a ratio: of few blocks the narrower one to look
    /// at beside. It takes differences of logarithms for normal.
    pub by_t: Interval,
}

/// All contrasts.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Of declared metrics: by arm, then by metric. Verdicts are theirs.
    pub declared: Vec<Contrast>,
    /// Of the others: described, and nothing concluded.
    pub exploratory: Vec<Contrast>,
    /// The baseline against itself, by declared metric.
    pub again: Vec<Contrast>,
}

impl Outcome {
    /// The contrasts of an arm by declared metrics.
    pub fn of(&self, arm: usize) -> impl Iterator<Item = &Contrast> {
        self.declared.iter().filter(move |c| c.arm == arm)
    }

    /// Metrics by which the baseline differs from itself.
    pub fn unsound(&self) -> impl Iterator<Item = &Contrast> {
        let differs =
            |c: &&Contrast| matches!(c.compared.verdict, Verdict::Better | Verdict::Worse);
        self.again.iter().filter(differs)
    }

    /// Whether every declared contrast of arms has a verdict.
    pub fn is_decided(&self) -> bool {
        let open = |c: &Contrast| {
            matches!(
                c.compared.verdict,
                Verdict::Undecided(_) | Verdict::Descriptive
            )
        };
        !self.declared.iter().any(open)
    }
}

/// What `blocks` blocks say of all arms.
pub fn outcome(all: &[Measured], places: Places, plan: Plan) -> Outcome {
    let mut outcome = Outcome::default();
    for (metric, measured) in all.iter().enumerate() {
        for arm in 0..measured.values.len() {
            if arm == places.baseline {
                continue;
            }
            let contrast = contrast(measured, metric, arm, places);
            if places.again == Some(arm) {
                if measured.declared {
                    outcome.again.push(contrast);
                }
            } else if measured.declared {
                outcome.declared.push(contrast);
            } else {
                outcome.exploratory.push(contrast);
            }
        }
    }
    outcome.declared.sort_by_key(|c| (c.arm, c.metric));
    let enough = least(outcome.declared.len(), places);
    match plan {
        Plan::Fixed => fixed(&mut outcome.declared, enough),
        Plan::Looks => looked(&mut outcome.declared, all, places),
    }
    if places.again.is_some() {
        silent_guard(&mut outcome.declared);
    }
    let questions = outcome.again.len();
    fixed(&mut outcome.again, least_blocks(questions));
    outcome
}

/// The least blocks that can decide so many questions.
pub fn least(questions: usize, places: Places) -> usize {
    match places.again {
        Some(_) => least_doubled(questions),
        None => least_blocks(questions),
    }
}

/// Takes back what so few blocks say that the baseline could not be seen to differ from itself.
fn silent_guard(contrasts: &mut [Contrast]) {
    let least = least_blocks(1);
    let few = |c: &&mut Contrast| (2..least).contains(&c.compared.estimate.runs);
    for c in contrasts.iter_mut().filter(few) {
        if !matches!(c.compared.verdict, Verdict::Undecided(_)) {
            c.compared.verdict = Verdict::Undecided(Some(least));
        }
    }
}

fn contrast(measured: &Measured, metric: usize, arm: usize, places: Places) -> Contrast {
    let logs = logs(measured, arm, places);
    let t = logs.t_interval(0.95);
    Contrast {
        arm,
        metric,
        compared: Compared {
            metric: measured.metric.clone(),
            unit: measured.unit,
            a: measured.values[places.baseline].clone(),
            b: measured.values[arm].clone(),
            estimate: Estimate::blocked(&logs, measured.metric.margin),
            adjusted: f64::NAN,
            verdict: Verdict::Descriptive,
            missing: measured.missing.clone(),
        },
        test: logs.test(),
        by_t: Interval {
            low: t.low.exp(),
            high: t.high.exp(),
        },
    }
}

/// An arm against all runs of the baseline; the second baseline against the first.
fn logs(measured: &Measured, arm: usize, places: Places) -> Blocked {
    let again = places.again.filter(|again| *again != arm);
    let baselines: Vec<&[f64]> = [Some(places.baseline), again]
        .into_iter()
        .flatten()
        .filter_map(|place| measured.values.get(place).map(Vec::as_slice))
        .collect();
    Blocked::new(&in_blocks(&baselines, &measured.values[arm]))
}

/// Logarithms of the runs of each block: those of the baseline and that of the arm. What is not
/// known is left out, and so are blocks that lack the arm or any baseline.
///
/// Numbers have to be above zero to have a ratio. Zeros do not differ from each other; zero and
/// something else have no ratio, and then no block may be told: to leave those blocks out would
/// be to choose.
pub fn in_blocks(baselines: &[&[f64]], arm: &[f64]) -> Vec<(Vec<f64>, f64)> {
    let mut blocks = Vec::with_capacity(arm.len());
    for (place, value) in arm.iter().enumerate() {
        let of = |b: &&[f64]| b.get(place).copied().filter(|v| v.is_finite());
        let known: Vec<f64> = baselines.iter().filter_map(of).collect();
        if known.is_empty() || !value.is_finite() {
            continue;
        }
        let zero = *value == 0.0;
        if *value < 0.0 || known.iter().any(|v| *v < 0.0 || (*v == 0.0) != zero) {
            return vec![];
        }
        let log = |v: f64| if zero { 0.0 } else { v.ln() };
        blocks.push((known.into_iter().map(log).collect(), log(*value)));
    }
    blocks
}

/// Differences of logarithms, block by block, B less A, as [`in_blocks`] has them.
pub fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    let blocks = in_blocks(&[a], b);
    blocks.iter().map(|(a, b)| b - a[0]).collect()
}

/// Verdicts after a number of blocks that was fixed before.
fn fixed(contrasts: &mut [Contrast], least: usize) {
    let chance = |c: &Contrast| match c.compared.estimate.runs {
        0 | 1 => f64::NAN,
        _ => c.compared.estimate.chance,
    };
    let chances: Vec<f64> = contrasts.iter().map(chance).collect();
    for (c, adjusted) in contrasts.iter_mut().zip(holm(&chances)) {
        let Compared {
            metric, estimate, ..
        } = &c.compared;
        let verdict = judge(estimate, adjusted, metric.aim, metric.margin);
        c.compared.verdict = match verdict {
            // For one question they may be enough; all of them need more.
            Verdict::Undecided(blocks) if estimate.runs < least => {
                Verdict::Undecided(Some(blocks.map_or(least, |n| n.max(least))))
            }
            verdict => verdict,
        };
        c.compared.adjusted = adjusted;
    }
}

/// Verdicts of the last look that these blocks allow.
fn looked(contrasts: &mut [Contrast], all: &[Measured], places: Places) {
    let of = |c: &Contrast| logs(&all[c.metric], c.arm, places);
    let blocked: Vec<Blocked> = contrasts.iter().map(of).collect();
    let blocks = blocked.iter().map(Blocked::blocks).max().unwrap_or(0);
    // Ended early by somebody: a look at any other number of blocks.
    let mut at: Vec<usize> = LOOKS.iter().copied().filter(|n| *n < blocks).collect();
    at.push(blocks);
    let Some(looks) = Looks::until(&at, LOOKS[LOOKS.len() - 1]) else {
        return;
    };
    let asked: Vec<Asked<'_>> = contrasts
        .iter()
        .zip(&blocked)
        .map(|(c, logs)| Asked {
            logs,
            aim: c.compared.metric.aim,
            margin: c.compared.metric.margin,
        })
        .collect();
    let found = looks.judge(at.len() - 1, &asked);
    for (c, looked) in contrasts.iter_mut().zip(found) {
        c.compared.verdict = looked.verdict;
        c.compared.estimate = looked.estimate;
    }
}

/// What an arm has of a metric: the middle of its trials with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The Hodges-Lehmann estimate of the logarithms, back; zero where all trials are zero; NaN
    /// where there are none.
    pub value: f64,
    /// The interval of 95 %; that of Student's t where there are too few blocks for ranks, and
    /// none of fewer than three.
    pub interval: Interval,
    /// Trials that tell.
    pub trials: usize,
}

/// What these trials have.
pub fn level(values: &[f64]) -> Level {
    let known: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    if known.iter().any(|v| *v <= 0.0) {
        let value = median(&known);
        return Level {
            value,
            interval: Interval {
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
            },
            trials: known.len(),
        };
    }
    let logs: Vec<f64> = known.iter().map(|v| v.ln()).collect();
    let logs = Paired::new(&logs);
    let ranks = logs.interval(0.95);
    let interval = match logs.blocks() {
        _ if ranks.is_bounded() => ranks,
        // Of two, it would be wider than anything else in a picture, and say as little.
        0..3 => ranks,
        _ => logs.t_interval(0.95),
    };
    Level {
        value: logs.estimate().exp(),
        interval: Interval {
            low: interval.low.exp(),
            high: interval.high.exp(),
        },
        trials: logs.blocks(),
    }
}

#[cfg(test)]
mod tests;
