//! Experiments as `sonde try` has them: the baseline twice in each block, judged by what it calls.

use analysis::compare::Metric;
use analysis::experiment::{Advice, Measured, Outcome, Places, Plan, advise, outcome};
use analysis::stats::looks::LOOKS;
use analysis::stats::planning::doubled_to_find;
use analysis::stats::{Random, Verdict};

use super::blocks::{DRIFTS, FAR, Noise, PLAIN, REMEMBERS, SHARED};
use super::{ALARMS, COVERED, Cell};

const PLACES: Places = Places {
    baseline: 0,
    again: Some(1),
};

/// What an arm's runs are.
#[derive(Clone, Copy)]
struct Arm {
    /// Logarithm of its ratio to the baseline.
    truth: f64,
    /// Its own noise, in that of the baseline.
    spread: f64,
}

/// An arm that is the baseline.
const SAME: Arm = Arm {
    truth: 0.0,
    spread: 1.0,
};

/// Trials of `n` blocks by arm, in random order in each: baseline, again, and those arms.
fn trials(random: &mut Random, n: usize, noise: Noise, arms: &[Arm]) -> Vec<Vec<f64>> {
    let all: Vec<Arm> = [SAME, SAME].iter().chain(arms).copied().collect();
    let mut values = vec![Vec::with_capacity(n); all.len()];
    let (mut last, mut place) = (random.normal(), 0.0);
    let own = (1.0 - noise.common).sqrt();
    for _ in 0..n {
        let both = noise.common.sqrt() * random.normal();
        let mut order: Vec<usize> = (0..all.len()).collect();
        random.shuffle(&mut order);
        for arm in order {
            last = noise.memory * last + (1.0 - noise.memory.powi(2)).sqrt() * random.normal();
            let far = noise.outliers > 0 && random.below(noise.outliers) == 0;
            let value = if far { 6.0 * last } else { last };
            place += 1.0;
            let log = noise.spread * (own * all[arm].spread * value + both) + noise.drift * place;
            values[arm].push((log + all[arm].truth).exp());
        }
    }
    values
}

fn measured(values: Vec<Vec<f64>>, metric: &str) -> Measured {
    Measured {
        metric: Metric::parse(metric).expect("a metric"),
        unit: None,
        declared: true,
        values,
        missing: None,
    }
}

/// One metric of one arm.
fn one(random: &mut Random, n: usize, noise: Noise, arm: Arm, plan: Plan) -> Outcome {
    let values = trials(random, n, noise, &[arm]);
    outcome(&[measured(values, "disk.bytes")], PLACES, plan)
}

fn sided(outcome: &Outcome) -> bool {
    let verdict = &outcome.declared[0].compared.verdict;
    matches!(verdict, Verdict::Better | Verdict::Worse)
}

fn alarms(r: &mut Random, n: usize, noise: Noise) -> bool {
    sided(&one(r, n, noise, SAME, Plan::Fixed))
}

/// No difference, and an arm whose runs are spread differently.
fn unlike(r: &mut Random, n: usize, spread: f64, noise: Noise) -> bool {
    let arm = Arm { truth: 0.0, spread };
    sided(&one(r, n, noise, arm, Plan::Fixed))
}

fn covered(r: &mut Random, n: usize, noise: Noise, spread: f64) -> bool {
    let arm = Arm {
        truth: 1.05_f64.ln(),
        spread,
    };
    let found = one(r, n, noise, arm, Plan::Fixed);
    found.declared[0].compared.estimate.interval.holds(1.05)
}

fn found(r: &mut Random, n: usize, noise: Noise) -> bool {
    let arm = Arm {
        truth: 1.05_f64.ln(),
        ..SAME
    };
    let found = one(r, n, noise, arm, Plan::Fixed);
    found.declared[0].compared.verdict == Verdict::Better
}

/// As many blocks as planned for 5 %, whose spread is known.
fn planned(r: &mut Random, spread: f64) -> bool {
    let n = doubled_to_find(1.05_f64.ln(), spread * 1.5_f64.sqrt(), 1).unwrap_or(0);
    found(r, n, Noise { spread, ..PLAIN })
}

fn equivalent(r: &mut Random, n: usize, spread: f64) -> bool {
    let arm = Arm {
        truth: 1.02_f64.ln(),
        ..SAME
    };
    let found = one(r, n, Noise { spread, ..PLAIN }, arm, Plan::Fixed);
    found.declared[0].compared.verdict == Verdict::Equivalent
}

/// Whether the baseline is said to differ from itself, where `again` is so far off.
fn guard(r: &mut Random, n: usize, noise: Noise, off: f64) -> bool {
    let mut values = trials(r, n, noise, &[SAME]);
    values[1].iter_mut().for_each(|v| *v *= off);
    let found = outcome(&[measured(values, "disk.bytes")], PLACES, Plan::Fixed);
    found.unsound().next().is_some()
}

/// Whether something is recommended where nothing differs: two arms by two metrics.
fn recommended(r: &mut Random) -> bool {
    let mut metric = |text| measured(trials(r, 8, PLAIN, &[SAME, SAME]), text);
    let all = [metric("disk.bytes"), metric("p99 disk.ios by latency")];
    let found = outcome(&all, PLACES, Plan::Fixed);
    matches!(
        advise(&found, &all, PLACES),
        Advice::Take { .. } | Advice::Choice(_)
    )
}

/// What an experiment says that stops at the first look that decides.
fn looked(r: &mut Random, noise: Noise, arm: Arm) -> (Outcome, usize) {
    let all = trials(r, LOOKS[3], noise, &[arm]);
    let at = |n: usize| {
        let until = all.iter().map(|v| v[..n].to_vec()).collect();
        outcome(&[measured(until, "disk.bytes")], PLACES, Plan::Looks)
    };
    let mut looks = LOOKS.into_iter().map(|n| (at(n), n));
    let decided = looks.find(|(found, _)| found.is_decided());
    decided.unwrap_or_else(|| (at(LOOKS[3]), LOOKS[3]))
}

const WIDE: Noise = Noise {
    spread: 0.08,
    ..PLAIN
};
const WIDE_FAR: Noise = Noise {
    outliers: 10,
    ..WIDE
};
const SMALL: Noise = Noise {
    spread: 0.008,
    ..PLAIN
};

/// An arm that is spread more than the baseline: no exact test is known. By aligned ranks alone
/// it would be 9 of 100 at twice the spread, and 10 at three times.
const UNLIKE: (f64, f64) = (0.03, 0.065);

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
        dear: 2,
        one,
    }
}

/// Of an experiment that is looked at several times.
const fn dear(cell: &Cell) -> Cell {
    Cell { dear: 8, ..*cell }
}

pub(super) const CELLS: &[Cell] = &[
    cell("alarms.try.6", "6 blocks with two baselines", ALARMS, |r| {
        alarms(r, 6, PLAIN)
    }),
    cell("alarms.try.8", "8 blocks with two baselines", ALARMS, |r| {
        alarms(r, 8, PLAIN)
    }),
    cell(
        "alarms.try.16",
        "16 blocks with two baselines",
        ALARMS,
        |r| alarms(r, 16, PLAIN),
    ),
    dear(&cell(
        "alarms.try.40",
        "40 blocks, whose ranks are not counted",
        ALARMS,
        |r| alarms(r, 40, PLAIN),
    )),
    cell(
        "alarms.try.outliers",
        "8 blocks, a run in ten far out",
        ALARMS,
        |r| alarms(r, 8, FAR),
    ),
    cell(
        "alarms.try.memory",
        "8 blocks, each run like the one before (0.6)",
        ALARMS,
        |r| alarms(r, 8, REMEMBERS),
    ),
    cell(
        "alarms.try.drift",
        "8 blocks, each run 1 % above the one before",
        ALARMS,
        |r| alarms(r, 8, DRIFTS),
    ),
    cell(
        "alarms.try.shared",
        "8 blocks, half of the variance common to a block",
        ALARMS,
        |r| alarms(r, 8, SHARED),
    ),
    cell(
        "alarms.try.unlike.6",
        "6 blocks, the arm spread twice as far",
        UNLIKE,
        |r| unlike(r, 6, 2.0, PLAIN),
    ),
    cell(
        "alarms.try.unlike.8",
        "8 blocks, the arm spread twice as far",
        UNLIKE,
        |r| unlike(r, 8, 2.0, PLAIN),
    ),
    cell(
        "alarms.try.unlike.wide",
        "8 blocks, the arm spread three times as far",
        UNLIKE,
        |r| unlike(r, 8, 3.0, PLAIN),
    ),
    cell(
        "alarms.try.unlike.16",
        "16 blocks, the arm spread half as far again",
        UNLIKE,
        |r| unlike(r, 16, 1.5, PLAIN),
    ),
    cell(
        "alarms.try.unlike.outliers",
        "8 blocks, twice as far, a run in ten far out",
        UNLIKE,
        |r| unlike(r, 8, 2.0, FAR),
    ),
    cell(
        "alarms.try.still",
        "8 blocks, the arm spread half as far: on the safe side",
        (0.01, 0.06),
        |r| unlike(r, 8, 0.5, PLAIN),
    ),
    cell(
        "alarms.guard.8",
        "A/A: the baseline against itself, 8 blocks",
        ALARMS,
        |r| guard(r, 8, PLAIN, 1.0),
    ),
    cell(
        "alarms.guard.drift",
        "A/A, each run 1 % above the one before",
        ALARMS,
        |r| guard(r, 8, DRIFTS, 1.0),
    ),
    cell(
        "alarms.recommended",
        "anything is recommended, two arms by two metrics that do not differ",
        (0.0, 0.05),
        recommended,
    ),
    cell(
        "covered.try.6",
        "6 blocks with two baselines",
        COVERED,
        |r| covered(r, 6, PLAIN, 1.0),
    ),
    cell(
        "covered.try.8",
        "8 blocks with two baselines",
        COVERED,
        |r| covered(r, 8, PLAIN, 1.0),
    ),
    cell(
        "covered.try.16",
        "16 blocks with two baselines",
        COVERED,
        |r| covered(r, 16, PLAIN, 1.0),
    ),
    cell(
        "covered.try.outliers",
        "8 blocks, a run in ten far out",
        COVERED,
        |r| covered(r, 8, FAR, 1.0),
    ),
    cell("covered.try.drift", "8 blocks, drifting", COVERED, |r| {
        covered(r, 8, DRIFTS, 1.0)
    }),
    cell(
        "covered.try.memory",
        "8 blocks, each run like the one before (0.6)",
        COVERED,
        |r| covered(r, 8, REMEMBERS, 1.0),
    ),
    cell(
        "covered.try.unlike",
        "8 blocks, the arm spread twice as far",
        COVERED,
        |r| covered(r, 8, PLAIN, 2.0),
    ),
    Cell {
        dear: 1,
        ..cell(
            "found.try.8",
            "a shift of 5 % in 8 blocks with two baselines, runs differ by 3 % (nothing in common)",
            (0.90, 1.0),
            |r| found(r, 8, PLAIN),
        )
    },
    cell(
        "found.try.8.shared",
        "the same, half of the variance common to a block",
        (0.95, 1.0),
        |r| found(r, 8, SHARED),
    ),
    cell(
        "found.try.planned.3",
        "5 % in as many blocks as planned at 3 %",
        (0.78, 0.92),
        |r| planned(r, 0.03),
    ),
    cell(
        "found.try.planned.6",
        "5 % in as many blocks as planned at 6 %",
        (0.78, 0.90),
        |r| planned(r, 0.06),
    ),
    cell(
        "found.guard.8",
        "A/A that is 5 % off at 3 %, 8 blocks: pairs, so not as sure as the arms",
        (0.70, 0.85),
        |r| guard(r, 8, PLAIN, 1.05),
    ),
    cell(
        "equivalent.try.8",
        "at the margin, 8 blocks, runs differ by 0.5 %",
        (0.0, 0.05),
        |r| equivalent(r, 8, 0.005),
    ),
    cell(
        "equivalent.try.12",
        "at the margin, 12 blocks, runs differ by 1 %",
        (0.0, 0.05),
        |r| equivalent(r, 12, 0.01),
    ),
    dear(&cell(
        "alarms.try.looks",
        "any of four looks, no difference",
        ALARMS,
        |r| sided(&looked(r, WIDE, SAME).0),
    )),
    dear(&cell(
        "alarms.try.looks.outliers",
        "the same, a run in ten far out",
        ALARMS,
        |r| sided(&looked(r, WIDE_FAR, SAME).0),
    )),
    dear(&cell(
        "covered.try.looks",
        "the interval where it stopped",
        (0.93, 1.0),
        |r| {
            let arm = Arm {
                truth: 0.05,
                ..SAME
            };
            let found = looked(r, WIDE, arm).0;
            let interval = found.declared[0].compared.estimate.interval;
            interval.holds(0.05_f64.exp())
        },
    )),
    dear(&cell(
        "found.try.looks.early",
        "a shift of 5 % at 3 %, in 10 blocks at most",
        (0.50, 1.0),
        |r| {
            let arm = Arm {
                truth: 1.05_f64.ln(),
                ..SAME
            };
            let (found, blocks) = looked(r, PLAIN, arm);
            sided(&found) && blocks <= 10
        },
    )),
    dear(&cell(
        "equivalent.try.looks",
        "at the margin, any of four looks",
        (0.0, 0.05),
        |r| {
            let arm = Arm {
                truth: 1.02_f64.ln(),
                ..SAME
            };
            looked(r, SMALL, arm).0.declared[0].compared.verdict == Verdict::Equivalent
        },
    )),
];
