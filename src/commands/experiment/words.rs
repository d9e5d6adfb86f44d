//! Verdicts, ratios and numbers as an experiment words them, in the terminal and in reports.

use analysis::stats::{Aim, Interval, Verdict};
use lab::experiment::{Stage, State};
use run::Unit;
use run::unit::{amount, digits};

use super::Experiment;

/// What is wanted of a metric.
pub(crate) fn aim(aim: Aim) -> &'static str {
    match aim {
        Aim::Higher => "more is better",
        Aim::Lower => "less is better",
    }
}

/// What a trial is part of.
pub(crate) fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Rehearsal => "rehearsal",
        Stage::Search => "search",
        Stage::Block => "block",
    }
}

/// What became of a trial.
pub(crate) fn state(state: State) -> &'static str {
    match state {
        State::Running => "running",
        State::Done => "done",
        State::Failed => "failed",
        State::Interrupted => "interrupted",
        State::Aside => "aside",
    }
}

/// A verdict in one word.
pub(crate) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided(_) => "undecided",
        Verdict::Descriptive => "described",
    }
}

pub(crate) fn ratio_text(ratio: f64) -> String {
    match ratio {
        r if r.is_nan() => "-".to_owned(),
        r if r < 10.0 => format!("{r:.3}"),
        r => format!("{r:.1}"),
    }
}

pub(crate) fn interval_text(interval: Interval) -> String {
    if interval.is_bounded() {
        format!(
            "{} to {}",
            ratio_text(interval.low),
            ratio_text(interval.high)
        )
    } else {
        String::new()
    }
}

/// A number in its unit.
pub(crate) fn value_text(value: f64, unit: Option<(Unit, bool)>) -> String {
    match unit {
        _ if value.is_nan() => "-".into(),
        Some((unit, per_second)) => amount(value, unit, per_second),
        None => digits(value),
    }
}

/// A chance.
pub(super) fn chance_text(chance: f64) -> String {
    match chance {
        p if p.is_nan() => String::new(),
        p if p < 0.001 => "<0.001".to_owned(),
        p => format!("{p:.3}"),
    }
}

/// Names of arms.
pub(super) fn names(e: &Experiment<'_>, arms: &[usize]) -> String {
    let names: Vec<&str> = arms.iter().map(|a| e.book.arms[*a].name.as_str()).collect();
    names.join(", ")
}
