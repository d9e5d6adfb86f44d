//! What a comparison is told as to programs; `docs/reference/json.md` describes each field.

use analysis::compare::{Compared, Inside, Joint, Shift, far_off, joint};
use analysis::stats::steady::Steady;
use analysis::stats::{Aim, Interval, Verdict};
use run::Run;
use serde_json::{Value, json};

use super::told::verdict_word;
use super::{Comparison, SEED};

/// The whole as JSON.
pub(super) fn json(told: &Comparison) -> String {
    let together = match joint(told.all.iter()) {
        Joint::Better => "better",
        Joint::Worse => "worse",
        Joint::Mixed => "mixed",
        Joint::Equivalent => "equivalent",
        Joint::Undecided => "undecided",
        Joint::Descriptive => "descriptive",
    };
    let differing = told
        .differences
        .iter()
        .map(|[path, one, other]| json!({"path": path, "a": one, "b": other}));
    let drifts = told.doubts.drifts.iter().map(|d| {
        json!({
            "metric": told.all.get(d.metric).map(|c| &c.metric.text),
            "factor": number(d.factor),
            "p": number(d.chance),
        })
    });
    let all = json!({
        "a": paths(&told.a.runs),
        "b": paths(&told.b.runs),
        "failed": {"a": paths(&told.a.failed), "b": paths(&told.b.failed)},
        "metrics": told.all.iter().enumerate().map(|(i, c)| metric(told, i, c)).collect::<Vec<_>>(),
        "shifts": told.shifts.iter().map(shift).collect::<Vec<_>>(),
        "joint": together,
        "drifts": drifts.collect::<Vec<_>>(),
        "notes": told.notes,
        "differences": differing.collect::<Vec<_>>(),
    });
    format!("{all:#}\n")
}

fn paths(runs: &[Run]) -> Vec<Value> {
    runs.iter().map(|r| json!(r.path())).collect()
}

fn number(value: f64) -> Value {
    if value.is_finite() {
        json!(value)
    } else {
        Value::Null
    }
}

/// Both ends. Half open says nothing: with too few runs both ends are.
fn ends(interval: &Interval) -> [Value; 2] {
    [interval.low, interval.high].map(|v| {
        if interval.is_bounded() {
            json!(v)
        } else {
            Value::Null
        }
    })
}

fn metric(told: &Comparison, place: usize, c: &Compared) -> Value {
    let numbers = |values: &[f64]| values.iter().map(|v| number(*v)).collect::<Vec<_>>();
    let e = &c.estimate;
    let unit = c
        .unit
        .map(|(unit, rate)| if rate { unit.per_second() } else { unit.name() });
    let [far_a, far_b] = far_off(c);
    let [inside_a, inside_b] = [0, 1].map(|side| -> Vec<Value> {
        let of_side = &told.doubts.inside[side];
        of_side
            .iter()
            .map(|run| inside(run.get(place).and_then(Option::as_ref)))
            .collect()
    });
    json!({
        "metric": c.metric.text,
        "better": if c.metric.aim == Aim::Higher { "higher" } else { "lower" },
        "unit": unit,
        "a": numbers(&c.a),
        "b": numbers(&c.b),
        "ratio": number(e.ratio),
        "interval": ends(&e.interval),
        "interval_90": ends(&e.inner),
        "margin": c.metric.margin.0,
        "p": number(e.chance),
        "p_adjusted": number(c.adjusted),
        "verdict": match c.verdict {
            Verdict::Descriptive => "descriptive",
            ref other => verdict_word(other),
        },
        "runs_to_decide": match c.verdict {
            Verdict::Undecided(runs) => json!(runs),
            _ => Value::Null,
        },
        "missing": c.missing,
        "outliers": {"a": far_a, "b": far_b},
        "inside": {"a": inside_a, "b": inside_b},
    })
}

/// What the inside of a run says; null where nothing can be told.
fn inside(found: Option<&Inside>) -> Value {
    let Some(found) = found else {
        return Value::Null;
    };
    let steady = match found.steady {
        Steady::Always => "always",
        Steady::From(_) => "settled",
        Steady::Never(_) => "never",
        Steady::TooShort => "too short",
    };
    json!({
        "steady": steady,
        "settled_seconds": found.settled.map(number),
        "batch_seconds": found.batch.map(number),
    })
}

fn shift(shift: &Shift) -> Value {
    let at = shift.at.iter().map(|at| {
        json!({
            "quantile": shift.names.get(at.place),
            "a": number(at.a),
            "b": number(at.b),
            "ratio": number(at.ratio),
            "band": ends(&at.band),
            "runs": at.runs,
        })
    });
    json!({
        "expression": shift.expression,
        "unit": shift.unit.name(),
        "method": if shift.drawn { "bootstrap" } else { "ranks" },
        "seed": if shift.drawn { json!(SEED) } else { Value::Null },
        "quantiles": at.collect::<Vec<_>>(),
    })
}
