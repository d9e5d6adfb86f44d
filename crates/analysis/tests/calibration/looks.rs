//! Experiments that are looked at after 6, 10, 16 and 24 blocks, and stop when they can.

use analysis::stats::looks::{Asked, LOOKS, Looked, Looks};
use analysis::stats::{Aim, Margin, Paired, Random, Verdict};

use super::Cell;
use super::blocks::{Noise, PLAIN, differences};

/// What the experiment ended with, and after how many blocks.
fn experiment(random: &mut Random, noise: Noise, truth: f64) -> (Looked, usize) {
    let looks = Looks::new(&LOOKS).expect("they rise");
    let all = differences(random, LOOKS[3], noise, truth);
    let mut last = None;
    for (look, blocks) in LOOKS.into_iter().enumerate() {
        let logs = Paired::new(&all[..blocks]).into();
        let asked = Asked {
            logs: &logs,
            aim: Aim::Higher,
            margin: Margin::THROUGHPUT,
        };
        let looked = looks.judge(look, &[asked])[0];
        last = Some((looked, blocks));
        if !matches!(looked.verdict, Verdict::Undecided(_)) {
            break;
        }
    }
    last.expect("four looks")
}

fn sided(looked: Looked) -> bool {
    matches!(looked.verdict, Verdict::Better | Verdict::Worse)
}

/// Looking at the first p below 5 % instead.
fn peeking(random: &mut Random) -> bool {
    let all = differences(random, LOOKS[3], PLAIN, 0.0);
    LOOKS
        .into_iter()
        .any(|n| Paired::new(&all[..n]).chance() <= 0.05)
}

const WIDE: Noise = Noise {
    spread: 0.08,
    ..PLAIN
};
const FAR: Noise = Noise {
    outliers: 10,
    ..WIDE
};
const SMALL: Noise = Noise {
    spread: 0.008,
    ..PLAIN
};

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
        dear: 4,
        one,
    }
}

pub(super) const CELLS: &[Cell] = &[
    cell(
        "alarms.looks",
        "any of four looks, no difference",
        (0.03, 0.06),
        |r| sided(experiment(r, WIDE, 0.0).0),
    ),
    cell(
        "alarms.looks.outliers",
        "the same, a run in ten far out",
        (0.03, 0.06),
        |r| sided(experiment(r, FAR, 0.0).0),
    ),
    cell(
        "alarms.peeking",
        "stopping at the first p below 5 % instead: why alpha is spent",
        (0.07, 0.20),
        peeking,
    ),
    cell(
        "covered.looks",
        "the interval where it stopped",
        (0.93, 1.0),
        |r| {
            experiment(r, WIDE, 0.05)
                .0
                .estimate
                .interval
                .holds(0.05_f64.exp())
        },
    ),
    cell(
        "found.looks",
        "a shift of 5 % at 3 %, in 24 blocks at most",
        (0.95, 1.0),
        |r| sided(experiment(r, PLAIN, 1.05_f64.ln()).0),
    ),
    cell(
        "found.looks.early",
        "the same in 16 at most",
        (0.85, 1.0),
        |r| {
            let (looked, blocks) = experiment(r, PLAIN, 1.05_f64.ln());
            sided(looked) && blocks <= 16
        },
    ),
    cell(
        "found.looks.at_once",
        "a shift of 40 % at 3 % after six blocks",
        (0.5, 1.0),
        |r| {
            let (looked, blocks) = experiment(r, PLAIN, 1.4_f64.ln());
            sided(looked) && blocks == 6
        },
    ),
    cell(
        "equivalent.looks",
        "at the margin, any of four looks",
        (0.0, 0.05),
        |r| experiment(r, SMALL, 1.02_f64.ln()).0.verdict == Verdict::Equivalent,
    ),
];
