//! Why a difference may be another than it seems: drift, runs that never settled, runs far off.

use run::Run;

use super::{Compared, Metric};
use crate::answer::{Answer, evaluate};
use crate::stats::steady::{Steady, batched, steadiness};
use crate::stats::{Trend, holm, median, outliers, trend};

/// Fewer runs than this do not tell a drift.
const LEAST: usize = 6;

/// A drift of runs is told below this chance, among all metrics (Holm).
const SURE: f64 = 0.05;

/// Levels inside a run that differ by less than this share are one.
const SMALL: f64 = 0.02;

/// A drift over the time of the runs, beside the difference of A and B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The metric's place among those compared.
    pub metric: usize,
    /// By what factor it changed from the first run to the last.
    pub factor: f64,
    /// Chance of such an order without any drift, among all metrics.
    pub chance: f64,
}

/// The metrics that drift. Each run is taken relative to the middle of its own side, so that
/// the difference of the sides is no drift. `times` are the starts of A's and of B's runs in
/// any unit.
pub fn drifts(all: &[Compared], times: [&[f64]; 2]) -> Vec<Drift> {
    let trends: Vec<Option<Trend>> = all.iter().map(|c| of_runs(c, times)).collect();
    let chances: Vec<f64> = trends
        .iter()
        .map(|t| t.map_or(f64::NAN, |t| t.chance))
        .collect();
    let starts = times.iter().flat_map(|t| t.iter()).copied();
    let (first, last) = starts.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), t| {
        (low.min(t), high.max(t))
    });
    let sure = holm(&chances);
    let found = trends.into_iter().zip(sure).enumerate();
    found
        .filter_map(|(metric, (trend, chance))| {
            let factor = (trend?.slope * (last - first)).exp();
            (chance <= SURE).then_some(Drift {
                metric,
                factor,
                chance,
            })
        })
        .collect()
}

fn of_runs(compared: &Compared, times: [&[f64]; 2]) -> Option<Trend> {
    let mut points = Vec::new();
    for (values, times) in [&compared.a, &compared.b].into_iter().zip(times) {
        let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
        let known: Vec<f64> = logs.iter().copied().filter(|v| v.is_finite()).collect();
        let middle = median(&known);
        points.extend(times.iter().zip(&logs).map(|(t, v)| (*t, v - middle)));
    }
    let known = points.iter().filter(|p| p.1.is_finite()).count();
    if known < LEAST {
        return None;
    }
    trend(&points)
}

/// Runs whose number is far from the others of their side: their places among the runs of A,
/// and of B. Nothing is dropped for it: the ranks that are compared do not mind how far.
pub fn far_off(compared: &Compared) -> [Vec<usize>; 2] {
    [&compared.a, &compared.b].map(|values| {
        let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
        outliers(&logs)
    })
}

/// What the inside of a run says of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside {
    /// Whether it settled.
    pub steady: Steady,
    /// Seconds from the run's start until it had, if it did not begin so.
    pub settled: Option<f64>,
    /// Seconds of a batch that is nearly independent of the next; `None` where the run is too
    /// short for that.
    pub batch: Option<f64>,
}

/// The inside of a run by a metric; `None` for a quantile, for what has not exactly one series,
/// and where the run cannot tell.
pub fn inside(run: &Run, metric: &Metric, seed: u64) -> Option<Inside> {
    if metric.quantile.is_some() {
        return None;
    }
    let answer = evaluate(run, &metric.expression).ok()?;
    let [group] = &answer.groups[..] else {
        return None;
    };
    // Short intervals at the ends and at marks are no measure of a rate.
    let shortest = run.manifest.every_seconds / 2.0;
    let whole = |slot: &u32| {
        let slot = answer.slots.get(*slot as usize);
        slot.is_some_and(|s| s.interval >= shortest)
    };
    let series: Vec<(u32, f64)> = group
        .series
        .iter()
        .copied()
        .filter(|p| whole(&p.0))
        .collect();
    let values: Vec<f64> = series.iter().map(|p| p.1).collect();
    let steady = steadiness(&values, SMALL, seed);
    let settled = match steady {
        Steady::From(at) => series.get(at).map(|p| from_start(run, &answer, p.0)),
        _ => None,
    };
    let interval = run.manifest.every_seconds;
    let batch = batched(&values).filter(|b| b.independent);
    Some(Inside {
        steady,
        settled,
        batch: batch.map(|b| b.size as f64 * interval),
    })
}

fn from_start(run: &Run, answer: &Answer, slot: u32) -> f64 {
    let slot = &answer.slots[slot as usize];
    (slot.from() - run.manifest.started) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Margin, Verdict};

    fn compared(a: &[f64], b: &[f64]) -> Compared {
        Compared {
            metric: Metric::parse("disk.bytes").unwrap(),
            unit: None,
            a: a.to_vec(),
            b: b.to_vec(),
            estimate: super::super::estimate(a, b, Margin(0.02)),
            adjusted: 1.0,
            verdict: Verdict::Undecided(None),
            missing: None,
        }
    }

    #[test]
    fn a_drift_of_both_sides_is_told_and_their_difference_is_none() {
        // In turns, each 2 % below the one before; B is twice A.
        let run = |i: i32| 0.98_f64.powi(i);
        let a: Vec<f64> = (0..6).map(|i| run(2 * i)).collect();
        let b: Vec<f64> = (0..6).map(|i| 2.0 * run(2 * i + 1)).collect();
        let times: Vec<f64> = (0..12).map(f64::from).collect();
        let (ta, tb): (Vec<f64>, Vec<f64>) = times.chunks(2).map(|t| (t[0], t[1])).unzip();
        let found = drifts(&[compared(&a, &b)], [&ta, &tb]);
        let [drift] = found[..] else {
            panic!("{found:?}");
        };
        assert!((drift.factor - 0.98_f64.powi(11)).abs() < 0.05, "{drift:?}");
        let flat = compared(&[1.0, 1.01, 0.99, 1.0, 1.02, 0.98], &[2.0; 6]);
        assert_eq!(drifts(&[flat], [&ta, &tb]), []);
        assert_eq!(drifts(&[compared(&[1.0], &[2.0])], [&[0.0], &[1.0]]), []);
        let none = compared(&[f64::NAN; 6], &[0.0; 6]);
        assert_eq!(drifts(&[none], [&ta, &tb]), []);
    }

    #[test]
    fn runs_far_off_are_named_by_side() {
        let one = compared(&[1.0, 1.01, 0.99, 1.0, 1.02, 5.0], &[2.0, 2.1, f64::NAN]);
        assert_eq!(far_off(&one), [vec![5], vec![]]);
    }
}
