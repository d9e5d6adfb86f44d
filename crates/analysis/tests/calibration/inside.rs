//! What is told of the inside of runs, of drifts, and of laws of scaling.

use analysis::stats::scaling::{Law, Point, scaling};
use analysis::stats::steady::{Steady, steadiness};
use analysis::stats::{Random, outliers, trend};

use super::{ALARMS, Cell};

/// A steady run of so many intervals, each like the one before by `memory`.
fn run(random: &mut Random, n: usize, memory: f64) -> Vec<f64> {
    let mut last = random.normal();
    (0..n)
        .map(|_| {
            last = memory * last + (1.0 - memory * memory).sqrt() * random.normal();
            100.0 * (1.0 + 0.1 * last)
        })
        .collect()
}

fn unsteady(random: &mut Random, n: usize, memory: f64) -> bool {
    let series = run(random, n, memory);
    steadiness(&series, 0.0, random.bits()) != Steady::Always
}

/// A warm-up of a fifth at two thirds of the level, found within a twentieth.
fn warm_up(random: &mut Random) -> bool {
    let mut series = run(random, 200, 0.3);
    series[..40].iter_mut().for_each(|v| *v *= 0.667);
    matches!(steadiness(&series, 0.02, 1), Steady::From(at) if (30..=50).contains(&at))
}

fn drifts(random: &mut Random, n: usize) -> bool {
    let points: Vec<(f64, f64)> = (0..n).map(|i| (i as f64, random.normal())).collect();
    trend(&points).is_some_and(|t| t.chance <= 0.05)
}

fn far_off(random: &mut Random) -> bool {
    let values: Vec<f64> = (0..10).map(|_| random.normal()).collect();
    !outliers(&values).is_empty()
}

const LAW: Law = Law {
    gamma: 100.0,
    alpha: 0.03,
    beta: 0.0005,
};

/// Three runs at each of eight numbers of workers, that differ by 3 %.
fn law(random: &mut Random) -> analysis::stats::scaling::Scaling {
    let mut points = Vec::new();
    for workers in [1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 32.0, 64.0] {
        for _ in 0..3 {
            points.push(Point {
                workers,
                work: LAW.work(workers) * (1.0 + 0.03 * random.normal()),
            });
        }
    }
    scaling(&points, 300, 1).expect("enough points")
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
    cell(
        "unsteady.white",
        "a steady run of 60 intervals",
        (0.0, 0.02),
        10,
        |r| unsteady(r, 60, 0.0),
    ),
    cell(
        "unsteady.memory",
        "of 400 intervals that are alike (0.7), of which batches leave a little",
        (0.0, 0.05),
        20,
        |r| unsteady(r, 400, 0.7),
    ),
    cell(
        "settled.warm_up",
        "a warm-up of a fifth is found where it ends",
        (0.9, 1.0),
        10,
        warm_up,
    ),
    cell(
        "alarms.drift.12",
        "12 runs that do not drift",
        ALARMS,
        1,
        |r| drifts(r, 12),
    ),
    cell(
        "flagged.outliers",
        "any of ten normal values (the rule is one of thumb)",
        (0.02, 0.25),
        1,
        far_off,
    ),
    cell(
        "covered.scaling.alpha",
        "contention, 24 runs at 3 %",
        (0.90, 0.98),
        20,
        |r| law(r).bounds.is_some_and(|b| b.alpha.holds(LAW.alpha)),
    ),
    cell(
        "covered.scaling.beta",
        "coherency, likewise",
        (0.90, 0.98),
        20,
        |r| law(r).bounds.is_some_and(|b| b.beta.holds(LAW.beta)),
    ),
    cell(
        "covered.scaling.peak",
        "the peak, likewise",
        (0.90, 0.98),
        20,
        |r| {
            let peak = LAW.peak().expect("one");
            law(r).bounds.is_some_and(|b| b.peak.holds(peak))
        },
    ),
];
