//! An experiment as JSON (`docs/reference/json.md`).

use std::path::Path;

use analysis::compare::Joint;
use analysis::experiment::{Advice, Contrast, Level, Measured, advise, front, level};
use analysis::stats::{Aim, Interval, Test, Verdict};
use lab::experiment::{Logbook, Role, Search, State};
use serde_json::{Value, json};

use super::words::word;
use super::{Experiment, scaling};

/// The whole.
pub(crate) fn json(e: &Experiment<'_>, dir: &Path) -> String {
    let book = e.book;
    let arms: Vec<Value> = book
        .arms
        .iter()
        .map(|a| json!({"name": a.name, "role": role(a.role), "values": a.values}))
        .collect();
    let metrics: Vec<Value> = e
        .measured
        .iter()
        .enumerate()
        .map(|(place, m)| metric(e, place, m))
        .collect();
    let joints: Vec<Value> = e
        .outcome
        .arms()
        .into_iter()
        .map(|arm| json!({"arm": book.arms[arm].name, "joint": joint_word(e.outcome.joint(arm))}))
        .collect();
    let trials: Vec<Value> = book
        .trials
        .iter()
        .map(|t| {
            json!({
                "stage": t.stage, "block": t.block, "arm": t.arm, "run": dir.join(&t.run),
                "state": t.state, "why": t.why, "seconds": t.seconds,
            })
        })
        .collect();
    let all = json!({
        "experiment": dir,
        "command": book.command,
        "seed": book.seed,
        "blocks": book.whole_blocks(),
        "trials_done": e.in_state(State::Done),
        "trials_failed": e.in_state(State::Failed),
        "ended": book.ended,
        "arms": arms,
        "metrics": metrics,
        "joint": joints,
        "sound": e.outcome.unsound().next().is_none(),
        "front": names(e, &front(&e.measured, e.places)),
        "advice": advice(e),
        "search": book.search.as_ref().map(|s| search(s, book)),
        "scaling": book.scale.then(|| scaling::json(e)),
        "trials": trials,
    });
    format!("{all:#}\n")
}

fn search(search: &Search, book: &Logbook) -> Value {
    match search {
        Search::Range { low, high, found } => json!({"low": low, "high": high, "found": found}),
        Search::Among { found, .. } => {
            let values = book.factors.first().map(|f| &f.values);
            json!({"values": values, "found": found})
        }
    }
}

pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::Baseline => "baseline",
        Role::Again => "again",
        Role::Change => "change",
    }
}

pub(super) fn number(value: f64) -> Value {
    if value.is_finite() {
        json!(value)
    } else {
        Value::Null
    }
}

/// Both ends, or none: half open says nothing.
pub(super) fn ends(interval: Interval) -> [Value; 2] {
    let known = |v: f64| {
        if interval.is_bounded() {
            json!(v)
        } else {
            Value::Null
        }
    };
    [known(interval.low), known(interval.high)]
}

fn metric(e: &Experiment<'_>, place: usize, m: &Measured) -> Value {
    let unit = m
        .unit
        .map(|(unit, rate)| if rate { unit.per_second() } else { unit.name() });
    let arms: Vec<Value> = m
        .values
        .iter()
        .enumerate()
        .map(|(arm, values)| {
            let Level {
                value, interval, ..
            } = level(values);
            json!({
                "arm": e.book.arms[arm].name,
                "values": values.iter().map(|v| number(*v)).collect::<Vec<_>>(),
                "middle": number(value),
                "interval": ends(interval),
                "against": contrast(e, place, arm),
            })
        })
        .collect();
    json!({
        "metric": m.metric.text,
        "declared": m.declared,
        "better": if m.metric.aim == Aim::Higher { "higher" } else { "lower" },
        "unit": unit,
        "margin": m.metric.margin.0,
        "missing": m.missing,
        "arms": arms,
    })
}

/// An arm against the baseline; null of the baseline itself.
fn contrast(e: &Experiment<'_>, metric: usize, arm: usize) -> Value {
    let Some(Contrast {
        compared: c,
        test,
        by_t,
        ..
    }) = e.contrast(metric, arm)
    else {
        return Value::Null;
    };
    json!({
        "blocks": c.estimate.runs,
        "ratio": number(c.estimate.ratio),
        "test": match test {
            Test::Signed => "signed ranks",
            Test::Aligned => "aligned ranks",
            Test::SignedMeans => "signed ranks of means",
        },
        "interval": ends(c.estimate.interval),
        "interval_90": ends(c.estimate.inner),
        "interval_t": ends(*by_t),
        "p": number(c.estimate.chance),
        "p_adjusted": number(c.adjusted),
        "verdict": verdict_word(&c.verdict),
        "blocks_to_decide": match c.verdict {
            Verdict::Undecided(blocks) => json!(blocks),
            _ => Value::Null,
        },
    })
}

/// A verdict as programs read it.
pub(crate) fn verdict_word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Descriptive => "descriptive",
        other => word(other),
    }
}

fn joint_word(joint: Joint) -> &'static str {
    match joint {
        Joint::Better => "better",
        Joint::Worse => "worse",
        Joint::Mixed => "mixed",
        Joint::Equivalent => "equivalent",
        Joint::Undecided => "undecided",
        Joint::Descriptive => "descriptive",
    }
}

fn names(e: &Experiment<'_>, arms: &[usize]) -> Vec<String> {
    arms.iter().map(|a| e.book.arms[*a].name.clone()).collect()
}

/// What to do.
pub(crate) fn advice(e: &Experiment<'_>) -> Value {
    let (what, arm, arms, blocks) = match advise(&e.outcome, &e.measured, e.places) {
        Advice::Take { arm, close } => ("take", Some(arm), close, None),
        Advice::Keep => ("keep", None, vec![], None),
        Advice::Choice(front) => ("choice", None, front, None),
        Advice::Undecided(blocks) => ("undecided", None, vec![], blocks),
        Advice::Unsound => ("unsound", None, vec![], None),
        Advice::TooFew => ("too few", None, vec![], None),
    };
    json!({
        "what": what,
        "arm": arm.map(|a| e.book.arms[a].name.clone()),
        "close": names(e, &arms),
        "blocks_to_decide": blocks,
    })
}
