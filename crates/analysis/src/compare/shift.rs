//! How the whole of a distribution moved: for each expression that is compared by a quantile.

use run::{Run, Unit};

use super::Metric;
use crate::answer::{Answer, evaluate, summarise};
use crate::quantiles::{self, Distribution, SHOWN, Spread};
use crate::stats::bootstrap::{self, Batches, Draws, LEAST_BLOCKS, Runs, Spreads};
use crate::stats::shift::{At, Told, shift};
use crate::stats::steady;

/// The shift of one distribution.
#[derive(Clone, Debug)]
pub struct Shift {
    /// What is compared: `disk.ios by latency where op = read`.
    pub expression: String,
    /// The unit of its numbers.
    pub unit: Unit,
    /// Names of the quantiles, in the order of [`At::place`].
    pub names: Vec<&'static str>,
    /// Each quantile that runs of both sides tell.
    pub at: Vec<At>,
    /// Whether the band is of a bootstrap of runs and their batches, else of ranks.
    pub drawn: bool,
}

/// How bootstraps are done.
#[derive(Clone, Copy, Debug)]
pub struct Drawing {
    /// Makes the same draws again.
    pub seed: u64,
    /// How many draws.
    pub draws: usize,
    /// Threads that share them.
    pub threads: usize,
}

/// The shifts of all distributions whose quantiles are among the metrics, one an expression.
/// With `blocks`, run i of A and run i of B belong together. Expressions that the runs cannot
/// answer have none.
pub fn shifts(
    a: &[Run],
    b: &[Run],
    blocks: bool,
    metrics: &[Metric],
    drawing: Drawing,
) -> Vec<Shift> {
    let mut expressions: Vec<&str> = Vec::new();
    for metric in metrics.iter().filter(|m| m.quantile.is_some()) {
        if !expressions.contains(&metric.expression.as_str()) {
            expressions.push(&metric.expression);
        }
    }
    let of = |text: &&str| one(a, b, blocks, text, drawing);
    expressions.iter().filter_map(of).collect()
}

fn one(a: &[Run], b: &[Run], blocks: bool, text: &str, drawing: Drawing) -> Option<Shift> {
    let enough = a.len().min(b.len()) >= LEAST_BLOCKS;
    let sides = [a, b]
        .map(|runs| -> Vec<Seen> { runs.iter().map(|run| Seen::of(run, text, enough)).collect() });
    let unit = sides.iter().flatten().find_map(|s| s.unit)?;
    let told = Told {
        a: sides[0].iter().map(Seen::quantiles).collect(),
        b: sides[1].iter().map(Seen::quantiles).collect(),
        blocks,
    };
    let known = |run: &Vec<f64>, place: usize| run.get(place).is_some_and(|v| v.is_finite());
    let both = |place: &usize| {
        let any = |side: &[Vec<f64>]| side.iter().any(|run| known(run, *place));
        any(&told.a) && any(&told.b)
    };
    let places: Vec<usize> = (0..SHOWN.len()).filter(both).collect();
    let kept = |side: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let of = |run: &Vec<f64>| places.iter().map(|p| run[*p]).collect();
        side.iter().map(of).collect()
    };
    let told = Told {
        a: kept(&told.a),
        b: kept(&told.b),
        blocks,
    };
    let draws = if enough {
        let quantiles: Vec<f64> = places.iter().map(|p| SHOWN[*p].1).collect();
        draws(&sides, &told, &quantiles, drawing)
    } else {
        None
    };
    let at = shift(&told, draws.as_ref());
    (!at.is_empty()).then(|| Shift {
        expression: text.to_owned(),
        unit,
        names: places.iter().map(|p| SHOWN[*p].0).collect(),
        drawn: draws.is_some(),
        at,
    })
}

/// More batches of a run than this make the bootstrap slower and no better.
const MOST_BATCHES: usize = 30;

/// What a run tells of a distribution.
#[derive(Default)]
struct Seen {
    unit: Option<Unit>,
    whole: Distribution,
    /// Of its batches; none where they are not asked for, or too few.
    batches: Option<Spreads>,
}

impl Seen {
    /// Nothing where the run cannot tell.
    fn of(run: &Run, text: &str, batches: bool) -> Seen {
        let answer = if batches {
            evaluate(run, text)
        } else {
            summarise(run, text)
        };
        let spreads = answer.and_then(|answer| Ok((quantiles::of(run, &answer)?, answer)));
        let Ok((Some(spreads), answer)) = spreads else {
            return Seen::default();
        };
        let [spread] = &spreads.groups[..] else {
            return Seen::default();
        };
        Seen {
            unit: Some(spreads.unit),
            batches: batches.then(|| batched(spread, &answer)).flatten(),
            whole: spread.whole.clone(),
        }
    }

    fn quantiles(&self) -> Vec<f64> {
        let told = |q: f64| self.whole.quantile(q).unwrap_or(f64::NAN);
        SHOWN.iter().map(|(_, q)| told(*q)).collect()
    }
}

/// The intervals of a run, gathered into batches that are nearly independent, by their means.
fn batched(spread: &Spread, answer: &Answer) -> Option<Spreads> {
    let mut means = vec![f64::NAN; answer.slots.len()];
    for (slot, distribution) in &spread.intervals {
        if let (Some(place), Some(mean)) = (means.get_mut(*slot as usize), distribution.mean()) {
            *place = mean;
        }
    }
    let independent = steady::batched(&means).filter(|b| b.independent)?.size;
    let size = independent.max(spread.intervals.len() / MOST_BATCHES);
    let values: Vec<f64> = spread.whole.buckets.iter().map(|b| b.most).collect();
    let seen: Vec<&Distribution> = spread.intervals.iter().map(|i| &i.1).collect();
    let count = |chunk: &[&Distribution]| {
        let mut counts = vec![0.0; values.len()];
        for bucket in chunk.iter().flat_map(|d| &d.buckets) {
            // The buckets of the whole are those of all intervals, with the same lower ends.
            let at = spread
                .whole
                .buckets
                .partition_point(|b| b.least < bucket.least);
            if let Some(count) = counts.get_mut(at) {
                *count += bucket.cell.amount;
            }
        }
        counts
    };
    let counts: Vec<Vec<f64>> = seen.chunks(size).map(count).collect();
    Some(Spreads::new(values, &counts))
}

/// A bootstrap, where every run tells every quantile and has batches.
fn draws(
    sides: &[Vec<Seen>; 2],
    told: &Told,
    quantiles: &[f64],
    drawing: Drawing,
) -> Option<Draws> {
    let known = |run: &Vec<f64>| run.iter().all(|v| v.is_finite());
    if !told.a.iter().chain(&told.b).all(known) {
        return None;
    }
    let of = |seen: &Seen| seen.batches.clone().map(Batches::Spreads);
    let [a, b] = sides;
    let [a, b]: [Option<Vec<Batches>>; 2] = [a, b].map(|side| side.iter().map(of).collect());
    let (a, b) = (a?, b?);
    let runs = if told.blocks {
        Runs::Blocks(a.into_iter().zip(b).map(|(a, b)| [a, b]).collect())
    } else {
        Runs::Sides([a, b])
    };
    bootstrap::bootstrap(
        &runs,
        quantiles,
        drawing.draws,
        drawing.seed,
        drawing.threads,
    )
}
