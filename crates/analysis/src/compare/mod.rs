//! Runs of A against runs of B: for each metric an estimate with its doubt, and a verdict.
//!
//! A run is one number a metric. Numbers are compared as logarithms, so that a difference is a
//! ratio; medians of differences, rank tests and their intervals are used ([`crate::stats`]),
//! which outliers do not move. Chances are adjusted for all metrics that were asked (Holm).

mod doubts;
mod joint;
mod metric;
mod shift;

use run::Run;

use crate::error::Error;
use crate::experiment::differences;
use crate::stats::planning::{least_blocks, least_runs};
use crate::stats::{Aim, Estimate, Margin, Paired, Unpaired, Verdict, holm, judge};

pub use doubts::{Drift, Inside, drifts, far_off, inside};
pub use joint::{Joint, joint};
pub use metric::{ELAPSED, MACHINE, Metric, Value, WORKLOAD};
pub use shift::{Drawing, Shift, shifts};

/// A metric of both.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The metric.
    pub metric: Metric,
    /// Its unit, where a run told; and whether it is per second.
    pub unit: Option<(run::Unit, bool)>,
    /// A number a run of A; NaN where it could not tell.
    pub a: Vec<f64>,
    /// The same of B.
    pub b: Vec<f64>,
    /// The difference.
    pub estimate: Estimate,
    /// Its chance among all that was asked; NaN where nothing can be concluded.
    pub adjusted: f64,
    /// What may be said.
    pub verdict: Verdict,
    /// Why runs could not tell, if some could not.
    pub missing: Option<String>,
}

/// Compares `a` and `b` by those metrics. One that no run can tell is in the answer, with the
/// reason.
pub fn compare(a: &[Run], b: &[Run], metrics: &[Metric]) -> Vec<Compared> {
    compared(a, b, metrics, least_runs, estimate)
}

/// The same where run i of A and run i of B ran in one block: what both met alike (drift,
/// neighbours) cancels.
pub fn compare_in_blocks(a: &[Run], b: &[Run], metrics: &[Metric]) -> Vec<Compared> {
    compared(a, b, metrics, least_blocks, |a, b, margin| {
        Estimate::paired(&Paired::new(&differences(a, b)), margin)
    })
}

fn compared(
    a: &[Run],
    b: &[Run],
    metrics: &[Metric],
    least: fn(usize) -> usize,
    estimate: impl Fn(&[f64], &[f64], Margin) -> Estimate,
) -> Vec<Compared> {
    let values = metrics.iter().map(|m| Values::of(a, b, m));
    let mut all: Vec<Compared> = values.map(|v| v.compared(&estimate)).collect();
    let chances: Vec<f64> = all
        .iter()
        .map(|c| match c.estimate.runs {
            0 | 1 => f64::NAN,
            _ => c.estimate.chance,
        })
        .collect();
    let asked = chances.iter().filter(|c| !c.is_nan()).count();
    let least = least(asked);
    for (compared, adjusted) in all.iter_mut().zip(holm(&chances)) {
        compared.adjusted = adjusted;
        let Compared {
            metric, estimate, ..
        } = &*compared;
        let verdict = judge(estimate, adjusted, metric.aim, metric.margin);
        compared.verdict = verdict.with_least(least, estimate);
    }
    all
}

struct Values {
    metric: Metric,
    unit: Option<(run::Unit, bool)>,
    a: Vec<f64>,
    b: Vec<f64>,
    missing: Option<String>,
}

impl Values {
    fn of(a: &[Run], b: &[Run], metric: &Metric) -> Values {
        let mut values = Values {
            metric: metric.clone(),
            unit: None,
            a: Vec::new(),
            b: Vec::new(),
            missing: None,
        };
        let mut side = |runs: &[Run]| -> Vec<f64> {
            let value = |run: &Run| match metric.of(run) {
                Ok(found) => {
                    values.unit = Some((found.unit, found.per_second));
                    found.value
                }
                Err(why) => {
                    values.missing = Some(one_line(&why));
                    f64::NAN
                }
            };
            runs.iter().map(value).collect()
        };
        let (a, b) = (side(a), side(b));
        (values.a, values.b) = (a, b);
        values
    }

    fn compared(self, estimate: impl Fn(&[f64], &[f64], Margin) -> Estimate) -> Compared {
        let estimate = estimate(&self.a, &self.b, self.metric.margin);
        Compared {
            metric: self.metric,
            unit: self.unit,
            a: self.a,
            b: self.b,
            estimate,
            adjusted: f64::NAN,
            verdict: Verdict::Descriptive,
            missing: self.missing,
        }
    }
}

fn one_line(why: &Error) -> String {
    let text = why.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// The difference of two sets of runs, as a ratio.
///
/// Numbers have to be above zero to have a ratio. Where all are zero on both sides there is no
/// difference: their ratio is 1. Where only some are, there is none that could be told.
pub fn estimate(a: &[f64], b: &[f64], margin: Margin) -> Estimate {
    let logs = |values: &[f64]| -> Vec<f64> { values.iter().map(|v| v.ln()).collect() };
    let known = |values: &[f64]| values.iter().filter(|v| !v.is_nan()).count();
    let zero = |values: &[f64]| values.iter().all(|v| *v == 0.0 || v.is_nan());
    if known(a) > 0 && known(b) > 0 && zero(a) && zero(b) {
        let none = |values: &[f64]| vec![0.0; known(values)];
        return Estimate::unpaired(&Unpaired::new(&none(a), &none(b)), margin);
    }
    let positive = |values: &[f64]| values.iter().all(|v| *v > 0.0 || v.is_nan());
    if !positive(a) || !positive(b) {
        return Estimate::unpaired(&Unpaired::new(&[], &[]), margin);
    }
    Estimate::unpaired(&Unpaired::new(&logs(a), &logs(b)), margin)
}

/// `better` or `worse`, of a ratio that is only described.
pub fn side(ratio: f64, aim: Aim) -> Option<bool> {
    match ratio {
        r if r.is_nan() || r == 1.0 => None,
        r => Some((r > 1.0) == (aim == Aim::Higher)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Margin = Margin(0.02);

    #[test]
    fn runs_of_zero_and_runs_that_could_not_tell() {
        let none = estimate(&[0.0; 4], &[0.0; 4], TWO);
        assert_eq!(none.ratio, 1.0);
        assert!(estimate(&[0.0, 1.0], &[1.0, 2.0], TWO).ratio.is_nan());
        assert!(estimate(&[], &[], TWO).ratio.is_nan());
        let partly = estimate(&[1.0, f64::NAN, 1.0], &[2.0, 2.0], TWO);
        assert_eq!((partly.ratio, partly.runs), (2.0, 2));
    }
}
