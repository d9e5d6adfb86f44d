//! What makes a difference doubtful, as notes: drift, runs that never settled, runs far off.

use analysis::compare::{Compared, Drift, Inside, drifts, far_off, inside};
use analysis::stats::median;
use analysis::stats::steady::Steady;
use run::Run;
use run::unit::digits;

use super::{SEED, Side};
use crate::output::{counted, one_line};

/// Factors by which runs drifted closer to 1 than this are not worth a note.
const SMALL: f64 = 0.02;

/// What was looked at.
pub(super) struct Doubts {
    /// Metrics that drift with time.
    pub(super) drifts: Vec<Drift>,
    /// For each side and run, the inside of each metric, in the order of the metrics.
    pub(super) inside: [Vec<Vec<Option<Inside>>>; 2],
}

impl Doubts {
    /// Looks at all runs.
    pub(super) fn of(a: &Side, b: &Side, all: &[Compared]) -> Doubts {
        let times = [a, b].map(|side| -> Vec<f64> {
            let start = |run: &Run| run.manifest.started as f64 / 1e9;
            side.runs.iter().map(start).collect()
        });
        let of = |run: &Run| -> Vec<Option<Inside>> {
            all.iter().map(|c| inside(run, &c.metric, SEED)).collect()
        };
        Doubts {
            drifts: drifts(all, [&times[0], &times[1]]),
            inside: [a, b].map(|side| side.runs.iter().map(of).collect()),
        }
    }

    /// As notes.
    pub(super) fn notes(&self, a: &Side, b: &Side, all: &[Compared]) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for drift in self
            .drifts
            .iter()
            .filter(|d| (d.factor - 1.0).abs() > SMALL)
        {
            let Some(c) = all.get(drift.metric) else {
                continue;
            };
            let way = if drift.factor > 1.0 { "rose" } else { "fell" };
            notes.push(format!(
                "{} {way} by {} % from the first run to the last, beside the difference of A and \
                 B: something drifts with time",
                one_line(&c.metric.text),
                digits(((drift.factor - 1.0) * 100.0).abs()),
            ));
        }
        for (place, c) in all.iter().enumerate() {
            notes.extend(self.inside_note(place, c));
            notes.extend(far_note(a, b, c));
        }
        notes
    }

    /// What the insides of all runs say of a metric.
    fn inside_note(&self, place: usize, c: &Compared) -> Option<String> {
        let runs = self.inside.iter().flatten();
        let known: Vec<&Inside> = runs.filter_map(|run| run.get(place)?.as_ref()).collect();
        let metric = one_line(&c.metric.text);
        let all = known.len();
        let count = |of: fn(&Inside) -> bool| known.iter().filter(|i| of(i)).count();
        let never = count(|i| matches!(i.steady, Steady::Never(_)));
        // One in a hundred steady runs is taken for another by chance.
        if never > 0 && never * 20 >= all {
            return Some(format!(
                "{metric}: {never} of {} never settled: a mean over what changes depends on how \
                 long the run was",
                counted(all as u64, "run"),
            ));
        }
        let late: Vec<f64> = known.iter().filter_map(|i| i.settled).collect();
        if !late.is_empty() && late.len() * 20 >= all {
            return Some(format!(
                "{metric}: {} of {} settled only after about {} s: compare what comes after, as \
                 `where time in {}s..1h`, or mark a phase",
                late.len(),
                counted(all as u64, "run"),
                digits(median(&late)),
                median(&late).ceil(),
            ));
        }
        let short = count(|i| i.batch.is_none() && i.steady != Steady::TooShort);
        (short * 2 > all).then(|| {
            format!(
                "{metric}: intervals hang together over the whole run: longer runs would differ \
                 less from each other"
            )
        })
    }
}

/// Runs whose number is far from the others of their side.
fn far_note(a: &Side, b: &Side, c: &Compared) -> Option<String> {
    let far = far_off(c);
    let runs = [a, b].into_iter().zip(far).flat_map(|(side, places)| {
        let path = |place: usize| {
            side.runs
                .get(place)
                .map(|run| run.path().display().to_string())
        };
        places.into_iter().filter_map(path)
    });
    let names: Vec<String> = runs.map(|p| one_line(&p)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{}: far from the others of their side: {} (they count all the same)",
            one_line(&c.metric.text),
            names.join(", ")
        )
    })
}
