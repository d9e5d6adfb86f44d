//! What may be said of all metrics together: of two sides, and of an arm of an experiment.

use super::Compared;
use crate::stats::{Aim, Margin, Verdict};

/// What may be said of all metrics together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// Better in at least one, and surely not inferior in all others.
    Better,
    /// Worse in at least one, and found better in none.
    Worse,
    /// Better in one and worse in another.
    Mixed,
    /// Equivalent in all.
    Equivalent,
    /// Something is undecided that matters.
    Undecided,
    /// Too few runs to conclude anything.
    Descriptive,
}

/// What may be said of all of them together: better takes superiority in one and non-inferiority
/// in every other, so that a gain of throughput is none while the tail may have paid for it.
pub fn joint<'c>(all: impl Iterator<Item = &'c Compared>) -> Joint {
    let all: Vec<&Compared> = all.collect();
    let any = |wanted: fn(&Verdict) -> bool| all.iter().any(|c| wanted(&c.verdict));
    let better = any(|v| *v == Verdict::Better);
    let worse = any(|v| *v == Verdict::Worse);
    let holds = |c: &&Compared| {
        matches!(c.verdict, Verdict::Better | Verdict::Equivalent) || not_inferior(c)
    };
    match (better, worse) {
        (true, true) => Joint::Mixed,
        (false, true) => Joint::Worse,
        (true, false) if all.iter().all(holds) => Joint::Better,
        _ if any(|v| matches!(v, Verdict::Undecided(_))) => Joint::Undecided,
        _ if any(|v| *v == Verdict::Descriptive) || all.is_empty() => Joint::Descriptive,
        _ => Joint::Equivalent,
    }
}

/// Whether it is surely no worse than the margin allows (one-sided, 5 %). What only a few runs
/// describe is sure of nothing.
fn not_inferior(compared: &Compared) -> bool {
    let Margin(margin) = compared.metric.margin;
    let inner = &compared.estimate.inner;
    let low_enough = match compared.metric.aim {
        Aim::Higher => inner.low >= 1.0 / (1.0 + margin),
        Aim::Lower => inner.high <= 1.0 + margin,
    };
    low_enough && inner.is_bounded() && compared.verdict != Verdict::Descriptive
}

#[cfg(test)]
mod tests {
    use super::super::{Metric, estimate};
    use super::*;
    use crate::stats::Interval;

    fn compared(metric: &str, verdict: Verdict, inner: [f64; 2]) -> Compared {
        let mut estimate = estimate(&[], &[], Margin::THROUGHPUT);
        estimate.inner = Interval {
            low: inner[0],
            high: inner[1],
        };
        Compared {
            metric: Metric::parse(metric).unwrap(),
            unit: None,
            a: vec![],
            b: vec![],
            estimate,
            adjusted: 1.0,
            verdict,
            missing: None,
        }
    }

    #[test]
    fn together_they_are_as_sure_as_the_least_sure() {
        for (verdicts, wanted) in [
            (vec![Verdict::Better, Verdict::Equivalent], Joint::Better),
            (vec![Verdict::Better, Verdict::Worse], Joint::Mixed),
            (
                vec![Verdict::Better, Verdict::Undecided(None)],
                Joint::Undecided,
            ),
            (
                vec![Verdict::Better, Verdict::Descriptive],
                Joint::Descriptive,
            ),
            (vec![Verdict::Worse], Joint::Worse),
            (vec![Verdict::Worse, Verdict::Undecided(None)], Joint::Worse),
            (vec![Verdict::Equivalent], Joint::Equivalent),
            (vec![Verdict::Descriptive], Joint::Descriptive),
            (vec![], Joint::Descriptive),
        ] {
            let all: Vec<Compared> = verdicts
                .into_iter()
                .map(|v| compared("disk.bytes", v, [f64::NAN; 2]))
                .collect();
            assert_eq!(joint(all.iter()), wanted, "{all:?}");
        }
    }

    /// Throughput is better; the tail is undecided, and its interval of 90 % says how bad it can
    /// be.
    #[test]
    fn better_in_one_takes_the_other_to_be_not_inferior() {
        let tail = |inner| {
            let all = [
                compared("disk.bytes", Verdict::Better, [1.2, 1.3]),
                compared("p99 disk.ios by latency", Verdict::Undecided(None), inner),
            ];
            joint(all.iter())
        };
        assert_eq!(tail([0.8, 1.04]), Joint::Better);
        assert_eq!(tail([0.8, 1.06]), Joint::Undecided);
        assert_eq!(tail([f64::NEG_INFINITY, 1.0]), Joint::Undecided);
        // More is better of this one: its lower end counts.
        let other = |inner| {
            let all = [
                compared("disk.bytes", Verdict::Better, [1.2, 1.3]),
                compared("net.bytes", Verdict::Undecided(None), inner),
            ];
            joint(all.iter())
        };
        assert_eq!(other([0.99, 1.5]), Joint::Better);
        assert_eq!(other([0.97, 1.0]), Joint::Undecided);
    }
}
