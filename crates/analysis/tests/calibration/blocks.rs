//! Blocks: a run of each arm, in random order, one block after the other.

use analysis::stats::bootstrap::{Batches, Runs, bootstrap};
use analysis::stats::planning::blocks_to_find;
use analysis::stats::{Aim, Estimate, Margin, Paired, Random, Verdict, judge};

use super::{ALARMS, COVERED, Cell, alarm};

pub(super) const MARGIN: Margin = Margin::THROUGHPUT;

/// How runs differ that should be the same.
#[derive(Clone, Copy)]
pub(super) struct Noise {
    /// Standard deviation of the logarithm of a run.
    pub(super) spread: f64,
    /// Share of its variance that both runs of a block have in common.
    pub(super) common: f64,
    /// Correlation with the run before.
    pub(super) memory: f64,
    /// One in so many is six times as far out; 0 for none.
    pub(super) outliers: usize,
    /// Added from run to run.
    pub(super) drift: f64,
}

/// Nothing but independent normal noise.
pub(super) const PLAIN: Noise = Noise {
    spread: 0.03,
    common: 0.0,
    memory: 0.0,
    outliers: 0,
    drift: 0.0,
};

/// Differences of `n` blocks, B less A, of logarithms.
pub(super) fn differences(random: &mut Random, n: usize, noise: Noise, truth: f64) -> Vec<f64> {
    let mut last = random.normal();
    let mut place = 0.0;
    let own = (1.0 - noise.common).sqrt();
    (0..n)
        .map(|_| {
            let both = noise.common.sqrt() * random.normal();
            let mut run = || {
                let fresh = random.normal();
                last = noise.memory * last + (1.0 - noise.memory.powi(2)).sqrt() * fresh;
                let far = noise.outliers > 0 && random.below(noise.outliers) == 0;
                place += 1.0;
                let value = if far { 6.0 * last } else { last };
                noise.spread * (own * value + both) + noise.drift * place
            };
            let (first, second) = (run(), run());
            let order = if random.below(2) == 0 { 1.0 } else { -1.0 };
            truth + order * (second - first)
        })
        .collect()
}

fn estimate(random: &mut Random, n: usize, noise: Noise, truth: f64) -> Estimate {
    Estimate::paired(&Paired::new(&differences(random, n, noise, truth)), MARGIN)
}

fn alarms(random: &mut Random, n: usize, noise: Noise) -> bool {
    let found = estimate(random, n, noise, 0.0);
    alarm(found.chance, found.interval)
}

fn found(random: &mut Random, n: usize, noise: Noise) -> bool {
    let truth = 1.05_f64.ln();
    let found = estimate(random, n, noise, truth);
    judge(&found, found.chance, Aim::Higher, MARGIN) == Verdict::Better
}

fn covered(random: &mut Random, n: usize, noise: Noise) -> bool {
    let truth = 1.05_f64;
    estimate(random, n, noise, truth.ln()).interval.holds(truth)
}

pub(super) const FAR: Noise = Noise {
    outliers: 10,
    ..PLAIN
};
pub(super) const REMEMBERS: Noise = Noise {
    memory: 0.6,
    ..PLAIN
};
pub(super) const DRIFTS: Noise = Noise {
    drift: 0.01,
    ..PLAIN
};
pub(super) const SHARED: Noise = Noise {
    common: 0.5,
    ..PLAIN
};

/// Twelve blocks of runs of twenty batches each, drawn again.
fn drawn(random: &mut Random, n: usize, truth: f64) -> bool {
    let differences = differences(random, n, PLAIN, truth);
    let mut run = |level: f64| {
        let batch = |_| (level + 0.02 * random.normal()).exp();
        Batches::Means((0..20).map(batch).collect())
    };
    let blocks = differences.iter().map(|d| [run(0.0), run(*d)]).collect();
    let draws = bootstrap(&Runs::Blocks(blocks), &[0.5], 400, 1, 1);
    draws.is_some_and(|d| d.intervals(0.95)[0].holds(truth))
}

/// Enough blocks by the plan for a difference of 5 %, whose spread is known.
fn planned(random: &mut Random, spread: f64) -> bool {
    let truth = 1.05_f64.ln();
    let of_blocks = spread * std::f64::consts::SQRT_2;
    let n = blocks_to_find(truth, of_blocks, 1).unwrap_or(0);
    found(random, n, Noise { spread, ..PLAIN })
}

fn equivalent(random: &mut Random, n: usize, spread: f64) -> bool {
    let edge = 1.02_f64.ln();
    let found = estimate(random, n, Noise { spread, ..PLAIN }, edge);
    judge(&found, found.chance, Aim::Higher, MARGIN) == Verdict::Equivalent
}

fn by_t(random: &mut Random, n: usize) -> bool {
    let differences = differences(random, n, PLAIN, 0.1);
    Paired::new(&differences).t_interval(0.95).holds(0.1)
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
        "alarms.blocks.6",
        "6 blocks, where ranks can be at 3.1 % only",
        (0.025, 0.04),
        |r| alarms(r, 6, PLAIN),
    ),
    cell("alarms.blocks.8", "8 blocks (ranks: 3.9 %)", ALARMS, |r| {
        alarms(r, 8, PLAIN)
    }),
    cell("alarms.blocks.10", "10 blocks (4.9 %)", ALARMS, |r| {
        alarms(r, 10, PLAIN)
    }),
    cell("alarms.blocks.16", "16 blocks", ALARMS, |r| {
        alarms(r, 16, PLAIN)
    }),
    cell(
        "alarms.blocks.outliers",
        "10 blocks, a run in ten far out",
        ALARMS,
        |r| alarms(r, 10, FAR),
    ),
    cell(
        "alarms.blocks.memory",
        "10 blocks, each run like the one before (0.6)",
        ALARMS,
        |r| alarms(r, 10, REMEMBERS),
    ),
    cell(
        "alarms.blocks.drift",
        "10 blocks, each run 1 % above the one before",
        ALARMS,
        |r| alarms(r, 10, DRIFTS),
    ),
    cell(
        "covered.blocks.6",
        "6 blocks (ranks: 96.9 %)",
        (0.93, 0.975),
        |r| covered(r, 6, PLAIN),
    ),
    cell("covered.blocks.8", "8 blocks", COVERED, |r| {
        covered(r, 8, PLAIN)
    }),
    cell("covered.blocks.16", "16 blocks", COVERED, |r| {
        covered(r, 16, PLAIN)
    }),
    cell(
        "covered.blocks.outliers",
        "10 blocks, a run in ten far out",
        COVERED,
        |r| covered(r, 10, FAR),
    ),
    cell(
        "covered.blocks.drift",
        "10 blocks, drifting",
        COVERED,
        |r| covered(r, 10, DRIFTS),
    ),
    cell("covered.t.4", "Student's t of 4 blocks", COVERED, |r| {
        by_t(r, 4)
    }),
    cell("covered.t.8", "Student's t of 8 blocks", COVERED, |r| {
        by_t(r, 8)
    }),
    cell(
        "found.blocks.8",
        "a shift of 5 % in 8 blocks, runs differ by 3 %, half of the variance common to a block",
        (0.90, 1.0),
        |r| found(r, 8, SHARED),
    ),
    cell(
        "found.blocks.8.alone",
        "the same with nothing in common: 90 % is out of reach, Student's t has 79 %",
        (0.70, 0.85),
        |r| found(r, 8, PLAIN),
    ),
    cell(
        "found.blocks.12.alone",
        "a shift of 5 % in 12 blocks, 3 %",
        (0.90, 1.0),
        |r| found(r, 12, PLAIN),
    ),
    cell(
        "found.planned.3",
        "5 % in as many blocks as planned at 3 %",
        (0.78, 0.92),
        |r| planned(r, 0.03),
    ),
    cell(
        "found.planned.6",
        "5 % in as many blocks as planned at 6 %",
        (0.78, 0.90),
        |r| planned(r, 0.06),
    ),
    cell(
        "equivalent.edge.8",
        "at the margin, 8 blocks, runs differ by 0.5 %",
        (0.0, 0.05),
        |r| equivalent(r, 8, 0.005),
    ),
    cell(
        "equivalent.edge.12",
        "at the margin, 12 blocks, runs differ by 1 %",
        (0.0, 0.05),
        |r| equivalent(r, 12, 0.01),
    ),
    Cell {
        name: "covered.bootstrap.12",
        about: "hierarchical bootstrap of 12 blocks, 20 batches a run",
        within: COVERED,
        dear: 5,
        one: |r| drawn(r, 12, 0.05),
    },
    Cell {
        name: "covered.bootstrap.30",
        about: "hierarchical bootstrap of 30 blocks",
        within: COVERED,
        dear: 10,
        one: |r| drawn(r, 30, 0.05),
    },
];
