//! An experiment read from its directory: what it measured, and what may be concluded.
//!
//! `sonde try` tells its result from here, and so do `show`, `report`, `list` and `compare` later:
//! the same directory gives the same text.

mod conclusion;
mod drawing;
mod json;
mod runs;
mod scaling;
mod searched;
mod tables;
mod told;
mod words;

use std::path::Path;

use analysis::compare::Metric;
use analysis::experiment::{Contrast, Measured, Outcome, Places, Plan, outcome};
use analysis::stats::looks::LOOKS;
use lab::experiment::{Blocks, Logbook, MOST_BLOCKS, Role, Stage, State};
use run::Run;

pub(crate) use conclusion::{conclusion, headline};
pub(crate) use drawing::{scatter_of, write as write_picture};
pub(crate) use json::{advice, json, role, verdict_word};
pub(crate) use runs::{an_experiment, given};
pub(crate) use scaling::{grows, steps_and_costs, told as growth};
pub(crate) use searched::table as searched_values;
pub(crate) use tables::{beside, metrics, trials};
pub(crate) use told::facts;
pub(crate) use words::{aim, stage, state};

use crate::commands::record::WARM_UP;

/// Processor time, measured of a scaling experiment for what a unit of work costs.
pub(crate) const CPU: &str = "cpu.time";

/// The whole as text, the picture in it.
pub(crate) fn shown(e: &Experiment<'_>) -> String {
    let width = crate::output::terminal_size().map_or(80, |s| s.0.min(100));
    told::text(
        e,
        &drawing::in_terminal(e, width, super::picture::colour_here()),
    )
}

/// Blocks that run at most.
pub(crate) fn most_blocks(blocks: Blocks) -> usize {
    match blocks {
        Blocks::Fixed(blocks) => blocks,
        Blocks::Auto => LOOKS[LOOKS.len() - 1],
    }
}

/// The number of blocks after which it is looked next, `block` or later.
pub(crate) fn next_look(blocks: Blocks, block: usize) -> usize {
    match blocks {
        Blocks::Fixed(blocks) => blocks,
        Blocks::Auto => {
            let next = LOOKS.iter().copied().find(|n| *n >= block);
            next.unwrap_or(most_blocks(blocks))
        }
    }
}

/// Whether the blocks may end after `block`: at a look that leaves nothing open.
pub(crate) fn may_stop(book: &Logbook, block: usize) -> bool {
    let look = book.blocks == Blocks::Auto && LOOKS.contains(&block);
    look && Experiment::of(book, None).outcome.is_decided()
}

/// Current estimates for the line on the terminal: each change against the baseline by the
/// first metric.
pub(crate) fn estimates(book: &Logbook) -> Vec<String> {
    let now = Experiment::of(book, None);
    let first = now.outcome.declared.iter().filter(|c| c.metric == 0);
    first
        .filter(|c| !c.compared.estimate.ratio.is_nan())
        .map(|c| {
            let name = &book.arms[c.arm].name;
            format!("{name} ×{:.3}", c.compared.estimate.ratio)
        })
        .collect()
}

/// How the trials' metrics were planned to be judged.
pub(crate) fn plan_of(book: &Logbook) -> Plan {
    match book.blocks {
        Blocks::Fixed(_) => Plan::Fixed,
        Blocks::Auto => Plan::Looks,
    }
}

/// What an experiment measured and what may be said of it.
pub(crate) struct Experiment<'b> {
    /// What was asked for and what became of it.
    pub(crate) book: &'b Logbook,
    /// By metric.
    pub(crate) measured: Vec<Measured>,
    /// Which arms are what.
    pub(crate) places: Places,
    /// Each arm against the baseline.
    pub(crate) outcome: Outcome,
}

impl Experiment<'_> {
    /// Of the logbook; with its directory, units are known too.
    pub(crate) fn of<'b>(book: &'b Logbook, dir: Option<&Path>) -> Experiment<'b> {
        let blocks = book
            .trials
            .iter()
            .filter(|t| t.stage == Stage::Block)
            .map(|t| t.block.min(MOST_BLOCKS))
            .max()
            .unwrap_or(0);
        let one = dir.and_then(|dir| any_run(book, dir));
        let measured: Vec<Measured> = book
            .measures
            .iter()
            .filter_map(|m| {
                let metric = Metric::parse(&m.metric).ok()?;
                let unit = one.as_ref().and_then(|run| {
                    let metric = asked(&metric, book);
                    metric.of(run).ok().map(|v| (v.unit, v.per_second))
                });
                Some(Measured {
                    values: book.values(&m.metric, blocks),
                    declared: m.declared,
                    missing: missing(book, &m.metric),
                    unit,
                    metric,
                })
            })
            .collect();
        let place = |role: Role| book.arms.iter().position(|a| a.role == role);
        let places = Places {
            baseline: place(Role::Baseline).unwrap_or(0),
            again: place(Role::Again),
        };
        Experiment {
            outcome: outcome(&measured, places, plan_of(book)),
            book,
            measured,
            places,
        }
    }

    /// An arm against the baseline by a metric; none of the baseline itself.
    pub(crate) fn contrast(&self, metric: usize, arm: usize) -> Option<&Contrast> {
        let o = &self.outcome;
        let mut all = o.declared.iter().chain(&o.exploratory).chain(&o.again);
        all.find(|c| (c.metric, c.arm) == (metric, arm))
    }

    /// Trials of blocks in that state.
    pub(crate) fn in_state(&self, state: State) -> usize {
        let of = |t: &&lab::experiment::Trial| t.stage == Stage::Block && t.state == state;
        self.book.trials.iter().filter(of).count()
    }
}

/// The metric as it is asked of a trial: without the warm-up, if there is one.
pub(crate) fn asked(metric: &Metric, book: &Logbook) -> Metric {
    if book.warmup > 0.0 {
        metric.without_phase(WARM_UP)
    } else {
        metric.clone()
    }
}

/// A trial that counts, to ask it for units.
fn any_run(book: &Logbook, dir: &Path) -> Option<Run> {
    let done = book.trials.iter().filter(|t| t.state == State::Done);
    done.rev().find_map(|t| Run::open(&dir.join(&t.run)).ok())
}

/// How many trials that count could not tell a metric.
fn missing(book: &Logbook, metric: &str) -> Option<String> {
    let counts = book
        .trials
        .iter()
        .filter(|t| t.stage == Stage::Block && t.state == State::Done);
    let silent = counts.filter(|t| t.values.get(metric).copied().flatten().is_none());
    match silent.count() {
        0 => None,
        1 => Some("1 trial cannot tell; its block is left out".to_owned()),
        n => Some(format!("{n} trials cannot tell; their blocks are left out")),
    }
}
