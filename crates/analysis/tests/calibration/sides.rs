//! Runs of A and runs of B without blocks.

use analysis::stats::{Aim, Estimate, Margin, Random, Unpaired, Verdict, holm, judge};

use super::{ALARMS, COVERED, Cell, alarm};

const MARGIN: Margin = Margin::THROUGHPUT;

/// Runs of A, then runs of B, that differ by `spread` and drift from run to run.
fn estimate(random: &mut Random, n: usize, truth: f64, drift: f64, outliers: bool) -> Estimate {
    let mut place = 0.0;
    let mut runs = |level: f64| -> Vec<f64> {
        let mut run = || {
            let far = outliers && random.below(10) == 0;
            place += 1.0;
            level + drift * place + 0.03 * random.normal() * if far { 6.0 } else { 1.0 }
        };
        (0..n).map(|_| run()).collect()
    };
    let (a, b) = (runs(0.0), runs(truth));
    Estimate::unpaired(&Unpaired::new(&a, &b), MARGIN)
}

fn alarms(random: &mut Random, n: usize, drift: f64, outliers: bool) -> bool {
    let found = estimate(random, n, 0.0, drift, outliers);
    alarm(found.chance, found.interval)
}

fn covered(random: &mut Random, n: usize, outliers: bool) -> bool {
    let truth = 1.05_f64;
    estimate(random, n, truth.ln(), 0.0, outliers)
        .interval
        .holds(truth)
}

fn found(random: &mut Random, n: usize) -> bool {
    let found = estimate(random, n, 1.05_f64.ln(), 0.0, false);
    judge(&found, found.chance, Aim::Higher, MARGIN) == Verdict::Better
}

fn equivalent(random: &mut Random) -> bool {
    let edge = 1.02_f64.ln();
    let mut run = |level: f64| level + 0.005 * random.normal();
    let a: Vec<f64> = (0..8).map(|_| run(0.0)).collect();
    let b: Vec<f64> = (0..8).map(|_| run(edge)).collect();
    let found = Estimate::unpaired(&Unpaired::new(&a, &b), MARGIN);
    judge(&found, found.chance, Aim::Higher, MARGIN) == Verdict::Equivalent
}

/// Whether any of five metrics of the same runs, which have much in common, raises an alarm.
fn any_of_five(random: &mut Random) -> bool {
    let mut side = || -> Vec<[f64; 5]> {
        let run = |_| {
            let common = random.normal();
            std::array::from_fn(|_| 0.03 * (common + random.normal()))
        };
        (0..8).map(run).collect()
    };
    let (a, b) = (side(), side());
    let metric = |i: usize| {
        let of = |side: &[[f64; 5]]| -> Vec<f64> { side.iter().map(|r| r[i]).collect() };
        Unpaired::new(&of(&a), &of(&b)).chance()
    };
    let chances: Vec<f64> = (0..5).map(metric).collect();
    holm(&chances).into_iter().any(|c| c <= 0.05)
}

const fn cell(
    name: &'static str,
    about: &'static str,
    within: (f64, f64),
    one: fn(&mut Random) -> bool,
) -> Cell {
    Cell {
        name,
        about,
        within,
        dear: 1,
        one,
    }
}

pub(super) const CELLS: &[Cell] = &[
    cell(
        "alarms.sides.4",
        "4 runs of each, where ranks can be at 2.9 % only: fewer than promised",
        (0.02, 0.04),
        |r| alarms(r, 4, 0.0, false),
    ),
    cell(
        "alarms.sides.5",
        "5 runs of each (ranks: 3.2 %)",
        (0.025, 0.06),
        |r| alarms(r, 5, 0.0, false),
    ),
    cell("alarms.sides.8", "8 runs of each", ALARMS, |r| {
        alarms(r, 8, 0.0, false)
    }),
    cell("alarms.sides.12", "12 runs of each", ALARMS, |r| {
        alarms(r, 12, 0.0, false)
    }),
    cell(
        "alarms.sides.outliers",
        "8 runs of each, one in ten far out",
        ALARMS,
        |r| alarms(r, 8, 0.0, true),
    ),
    cell(
        "alarms.sides.drift",
        "all of A before all of B, each run 1 % above the one before: why blocks are needed",
        (0.9, 1.0),
        |r| alarms(r, 8, 0.01, false),
    ),
    cell(
        "alarms.sides.holm",
        "any of five metrics of 8 runs of each",
        (0.0, 0.05),
        any_of_five,
    ),
    cell(
        "covered.sides.5",
        "5 runs of each (ranks: 96.8 %)",
        (0.93, 0.975),
        |r| covered(r, 5, false),
    ),
    cell("covered.sides.8", "8 runs of each", COVERED, |r| {
        covered(r, 8, false)
    }),
    cell(
        "covered.sides.outliers",
        "8 runs of each, one in ten far out",
        COVERED,
        |r| covered(r, 8, true),
    ),
    cell(
        "found.sides.8",
        "a shift of 5 % in 8 runs of each, 3 %",
        (0.80, 0.90),
        |r| found(r, 8),
    ),
    cell(
        "found.sides.12",
        "a shift of 5 % in 12 runs of each, 3 %",
        (0.90, 1.0),
        |r| found(r, 12),
    ),
    cell(
        "equivalent.sides.8",
        "at the margin, 8 runs of each, 0.5 %",
        (0.0, 0.05),
        equivalent,
    ),
];
