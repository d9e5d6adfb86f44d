//! A search among many, and fresh blocks for what it proposes.

use analysis::stats::search::Halving;
use analysis::stats::{Aim, Blocked, Estimate, Random};

use super::blocks::MARGIN;
use super::{ALARMS, Cell, alarm};

/// How many values are tried.
const CANDIDATES: usize = 8;

/// What is proposed where the candidate 5 is so many times as good as the others, and runs differ
/// by 3 %; with what the search saw of it (its median).
fn proposed(random: &mut Random, best: f64) -> (usize, f64) {
    let seed = random.below(1 << 30) as u64;
    let search = Halving::new(CANDIDATES, 1, Aim::Higher, seed);
    let mut search = search.expect("eight candidates");
    while let Some(candidate) = search.next() {
        let truth: f64 = if candidate == 5 { best } else { 1.0 };
        search.tell((truth.ln() + 0.03 * random.normal()).exp());
    }
    search.best().expect("none failed")
}

/// Whether fresh blocks tell it from the baseline, where nothing differs.
fn confirmed(random: &mut Random) -> bool {
    let _ = proposed(random, 1.0);
    let mut run = || 0.03 * random.normal();
    let blocks: Vec<(Vec<f64>, f64)> = (0..8).map(|_| (vec![run(), run()], run())).collect();
    let found = Estimate::blocked(&Blocked::new(&blocks), MARGIN);
    alarm(found.chance, found.interval)
}

pub(super) const CELLS: &[Cell] = &[
    Cell {
        name: "found.halving",
        about: "the one of eight that is 10 % better is proposed, runs differ by 3 %",
        within: (0.90, 1.0),
        dear: 1,
        one: |r| proposed(r, 1.1).0 == 5,
    },
    Cell {
        name: "flagged.halving.luck",
        about: "the proposal looks better than the truth where all are equal: why it is confirmed",
        within: (0.85, 1.0),
        dear: 1,
        one: |r| proposed(r, 1.0).1 > 1.0,
    },
    Cell {
        name: "alarms.halving.confirmed",
        about: "fresh blocks of what was proposed among equals",
        within: ALARMS,
        dear: 2,
        one: confirmed,
    },
];
