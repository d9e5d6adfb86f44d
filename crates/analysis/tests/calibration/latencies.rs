//! Quantiles of heavy-tailed latencies: each run has a body, a tail, and both differ from run to
//! run. B is A, slower by a factor, so that every quantile has the same true shift.

use std::collections::BTreeMap;

use analysis::quantiles::{Cell as Bucket, Distribution, SHOWN, Values};
use analysis::stats::bootstrap::{Batches, Runs, Spreads, bootstrap};
use analysis::stats::shift::{At, Told, shift};
use analysis::stats::{Paired, Random, Unpaired};
use run::{Unit, grid};

use super::{ALARMS, COVERED, Cell};

const SLOWER: f64 = 1.1;

/// A run of `events` latencies in seconds: mostly around 100 µs, some 3 % in a tail whose
/// variance is infinite (Pareto, 1.5), which is longer in some runs than in others.
fn latencies(random: &mut Random, events: usize, slower: f64) -> Vec<f64> {
    let level = slower * (0.03 * random.normal()).exp();
    let tail = 0.03 * (0.2 * random.normal()).exp();
    (0..events)
        .map(|_| {
            let value = if random.uniform() < tail {
                3e-4 * random.uniform().powf(-1.0 / 1.5)
            } else {
                1e-4 * (0.3 * random.normal()).exp()
            };
            level * value
        })
        .collect()
}

/// As a run stores them: events by bucket of the grid.
fn buckets(latencies: &[f64]) -> BTreeMap<u64, f64> {
    let mut counts = BTreeMap::new();
    for latency in latencies {
        // Bits of numbers above zero are in their order.
        let floor = grid::floor(*latency, Unit::Seconds);
        *counts.entry(floor.to_bits()).or_insert(0.0) += 1.0;
    }
    counts
}

/// What is told of the run's quantiles; NaN of those with too few events.
fn told(latencies: &[f64]) -> Vec<f64> {
    let cells = buckets(latencies).into_iter().map(|(floor, count)| Bucket {
        key: f64::from_bits(floor),
        amount: count,
        events: Some(count),
        sum: None,
    });
    let seconds = Values {
        unit: Unit::Seconds,
        step: None,
    };
    let distribution = Distribution::new(cells, seconds, 1.0);
    let of = |q: f64| distribution.quantile(q).unwrap_or(f64::NAN);
    SHOWN.iter().map(|(_, q)| of(*q)).collect()
}

fn runs(random: &mut Random, n: usize, events: usize, slower: f64) -> Vec<Vec<f64>> {
    (0..n)
        .map(|_| told(&latencies(random, events, slower)))
        .collect()
}

fn logs(runs: &[Vec<f64>], place: usize) -> Vec<f64> {
    runs.iter().map(|r| r[place].ln()).collect()
}

/// p99 of `n` blocks: differences, of a true factor.
fn blocks(random: &mut Random, n: usize, slower: f64) -> Paired {
    let (a, b) = (runs(random, n, 2000, 1.0), runs(random, n, 2000, slower));
    let both = logs(&a, 2).into_iter().zip(logs(&b, 2));
    Paired::new(&both.map(|(a, b)| b - a).collect::<Vec<_>>())
}

fn sides(random: &mut Random, n: usize, slower: f64) -> Unpaired {
    let (a, b) = (runs(random, n, 2000, 1.0), runs(random, n, 2000, slower));
    Unpaired::new(&logs(&a, 2), &logs(&b, 2))
}

fn holds_all(at: &[At], quantiles: usize) -> bool {
    at.len() == quantiles && at.iter().all(|a| a.band.holds(SLOWER))
}

/// Whether the band of ranks holds the truth at all of the first `quantiles`.
fn band(random: &mut Random, n: usize, events: usize, quantiles: usize) -> bool {
    let told = Told {
        a: runs(random, n, events, 1.0),
        b: runs(random, n, events, SLOWER),
        blocks: true,
    };
    holds_all(&shift(&told, None), quantiles)
}

/// The same of a bootstrap of runs of twenty batches.
fn drawn(random: &mut Random, n: usize, events: usize) -> bool {
    let mut side = |slower: f64| -> (Vec<Vec<f64>>, Vec<Batches>) {
        let run = |_| {
            let latencies = latencies(random, events, slower);
            (told(&latencies)[..3].to_vec(), batches(&latencies))
        };
        (0..n).map(run).unzip()
    };
    let ((a, runs_a), (b, runs_b)) = (side(1.0), side(SLOWER));
    let runs = Runs::Sides([runs_a, runs_b]);
    let quantiles = [0.5, 0.9, 0.99];
    let Some(draws) = bootstrap(&runs, &quantiles, 300, 1, 1) else {
        return false;
    };
    let told = Told {
        a,
        b,
        blocks: false,
    };
    holds_all(&shift(&told, Some(&draws)), 3)
}

fn batches(latencies: &[f64]) -> Batches {
    let whole = buckets(latencies);
    let count = |chunk: &[f64]| -> Vec<f64> {
        let part = buckets(chunk);
        whole
            .keys()
            .map(|k| part.get(k).copied().unwrap_or(0.0))
            .collect()
    };
    let counts: Vec<Vec<f64>> = latencies.chunks(latencies.len() / 20).map(count).collect();
    let values = whole
        .keys()
        .map(|k| grid::bounds(f64::from_bits(*k), Unit::Seconds).1);
    Batches::Spreads(Spreads::new(values.collect(), &counts))
}

const fn cell(
    name: &'static str,
    about: &'static str,
    within: (f64, f64),
    dear: usize,
    one: fn(&mut Random) -> bool,
) -> Cell {
    Cell {
        name,
        about,
        within,
        dear,
        one,
    }
}

pub(super) const CELLS: &[Cell] = &[
    cell("alarms.p99.blocks.8", "p99 of 8 blocks", ALARMS, 4, |r| {
        blocks(r, 8, 1.0).chance() <= 0.05
    }),
    cell(
        "alarms.p99.sides.8",
        "p99 of 8 runs of each",
        ALARMS,
        4,
        |r| sides(r, 8, 1.0).chance() <= 0.05,
    ),
    cell(
        "covered.p99.blocks.10",
        "p99 of 10 blocks",
        COVERED,
        4,
        |r| blocks(r, 10, SLOWER).interval(0.95).holds(SLOWER.ln()),
    ),
    cell(
        "covered.p99.sides.8",
        "p99 of 8 runs of each",
        COVERED,
        4,
        |r| sides(r, 8, SLOWER).interval(0.95).holds(SLOWER.ln()),
    ),
    cell(
        "covered.band.ranks.10",
        "p50 to p99 together, 10 blocks: never too narrow, and wider than need be",
        (0.93, 0.99),
        4,
        |r| band(r, 10, 2000, 3),
    ),
    cell(
        "covered.band.ranks.p99.9",
        "p50 to p99.9 together, 10 blocks of 12,000 events a run",
        (0.93, 0.995),
        20,
        |r| band(r, 10, 12_000, 4),
    ),
    cell(
        "covered.band.bootstrap.12",
        "p50 to p99 together, 12 runs of each, bootstrap: what batches vary by counts twice, so it \
         is wider than need be where that is much",
        (0.93, 0.99),
        20,
        |r| drawn(r, 12, 2000),
    ),
    cell(
        "covered.band.bootstrap.30",
        "p50 to p99 together, 30 runs of each, bootstrap",
        (0.93, 0.99),
        40,
        |r| drawn(r, 30, 2000),
    ),
];
