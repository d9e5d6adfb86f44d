//! What a comparison is told as: text of 80 columns, or JSON.

use std::fmt::Write;

use analysis::compare::{Compared, Joint, joint, side};
use analysis::stats::{Aim, Interval, Verdict, median};
use run::Unit;
use run::unit::{amount, digits};
use serde_json::{Value, json};
use surfaces::table::{shortened, wrapped};

use super::Side;
use crate::output::{counted, one_line};

const WIDTH: usize = 80;

/// Differences of the machines that are listed.
const SHOWN: usize = 12;

/// The whole text.
pub(super) fn text(
    a: &Side,
    b: &Side,
    all: &[Compared],
    notes: &[String],
    differences: &[[String; 3]],
) -> String {
    let mut out = String::new();
    for side in [a, b] {
        let names: Vec<String> = side
            .runs
            .iter()
            .map(|r| one_line(&r.path().display().to_string()))
            .collect();
        let count = counted(side.runs.len() as u64, "run");
        out += &wrapped(
            &format!("{}  {count}: ", side.name),
            &names.join(", "),
            WIDTH,
        );
    }
    out.push('\n');
    for compared in all {
        out += &metric(compared);
    }
    out += &wrapped("", &conclusion(a, b, all), WIDTH);
    for note in notes {
        out += &wrapped("note      ", note, WIDTH);
    }
    out += &causes(differences);
    out
}

/// A metric: its expression, then its numbers.
fn metric(c: &Compared) -> String {
    let known = |values: &[f64]| {
        let known: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
        value_text(median(&known), c.unit)
    };
    let ratio = |r: f64| match r {
        r if r.is_nan() => "-".to_owned(),
        r if r < 10.0 => format!("{r:.3}"),
        r => format!("{r:.1}"),
    };
    let interval = c.estimate.interval;
    let interval = if interval.is_bounded() {
        format!("({} to {})", ratio(interval.low), ratio(interval.high))
    } else {
        String::new()
    };
    let chance = if c.adjusted.is_nan() {
        String::new()
    } else {
        format!("p {}", chance_text(c.adjusted))
    };
    let mut out = wrapped("", &one_line(&c.metric.text), WIDTH);
    let line = format!(
        "  A {:<12} B {:<12} B/A {} {interval:<17} {chance:<8} {}",
        known(&c.a),
        known(&c.b),
        ratio(c.estimate.ratio),
        verdict_word(&c.verdict),
    );
    out += line.trim_end();
    out.push('\n');
    if let Some(more) = remark(c) {
        out += &wrapped("    ", &one_line(&more), WIDTH);
    }
    out.push('\n');
    out
}

fn value_text(value: f64, unit: Option<(Unit, bool)>) -> String {
    match unit {
        _ if value.is_nan() => "-".into(),
        Some((unit, per_second)) => amount(value, unit, per_second),
        None => digits(value),
    }
}

fn chance_text(chance: f64) -> String {
    if chance < 0.001 {
        "<0.001".into()
    } else {
        format!("{chance:.3}")
    }
}

fn verdict_word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided(_) => "undecided",
        Verdict::Descriptive => "(described)",
    }
}

/// What would decide, or what is missing.
fn remark(c: &Compared) -> Option<String> {
    match &c.verdict {
        Verdict::Undecided(Some(runs)) => {
            Some(format!("about {runs} runs of each would likely decide"))
        }
        Verdict::Undecided(None) => {
            Some("the runs tell too little to say how many would decide".to_owned())
        }
        _ => {
            let missing = c.missing.as_ref();
            missing.map(|why| format!("some runs cannot tell: {why}"))
        }
    }
}

fn conclusion(a: &Side, b: &Side, all: &[Compared]) -> String {
    let least = a.runs.len().min(b.runs.len());
    if least < 2 {
        let towards = |c: &Compared| match side(c.estimate.ratio, c.metric.aim) {
            Some(true) => Some("B looks better"),
            Some(false) => Some("B looks worse"),
            None => None,
        };
        let looks: Vec<&str> = all.iter().filter_map(towards).collect();
        let same = looks
            .first()
            .filter(|first| looks.iter().all(|l| l == *first));
        let look = same.map_or(String::new(), |l| format!(" {l} in all that differs, but"));
        return format!(
            "One run of a side:{look} nothing can be concluded. Two runs of the same setting differ \
             too, and nobody has seen by how much. Four runs of each are the least that can decide."
        );
    }
    if least < 4 {
        let mut text = format!(
            "{} of a side can never decide at 5 %: four are the least for one metric.",
            counted(least as u64, "run")
        );
        if all.iter().any(|c| c.verdict == Verdict::Equivalent) {
            text += " What is called equivalent is so by its interval.";
        }
        return text;
    }
    match joint(all) {
        Joint::Better => "Together: B is better.",
        Joint::Worse => "Together: B is worse.",
        Joint::Mixed => {
            "Together: B is better in some and worse in others: a choice, not an improvement."
        }
        Joint::Equivalent => "Together: no difference worth having.",
        Joint::Undecided => "Together: undecided.",
        Joint::Descriptive => "Together: nothing can be concluded.",
    }
    .to_owned()
}

/// What differs between the machines: the likely causes.
fn causes(differences: &[[String; 3]]) -> String {
    if differences.is_empty() {
        return String::new();
    }
    let mut out = String::from("\nWhat differs between the machines of A and of B:\n");
    for [path, one, other] in differences.iter().take(SHOWN) {
        let _ = write!(
            out,
            "{}",
            wrapped(
                &format!("  {path}: "),
                &format!("{} in A, {} in B", shortened(one, 60), shortened(other, 60)),
                WIDTH
            )
        );
    }
    let more = differences.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(out, "  and {more} more (--json has all)");
    }
    out
}

/// The whole as JSON.
pub(super) fn json(
    a: &Side,
    b: &Side,
    all: &[Compared],
    notes: &[String],
    differences: &[[String; 3]],
) -> String {
    let paths = |side: &Side| {
        side.runs
            .iter()
            .map(|r| json!(r.path()))
            .collect::<Vec<_>>()
    };
    let number = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
    // Half open says nothing: with too few runs both ends are.
    let ends = |i: &Interval| {
        let known = |v: f64| {
            if i.is_bounded() {
                json!(v)
            } else {
                Value::Null
            }
        };
        [known(i.low), known(i.high)]
    };
    let numbers = |values: &[f64]| values.iter().map(|v| number(*v)).collect::<Vec<_>>();
    let metrics: Vec<Value> = all
        .iter()
        .map(|c| {
            let e = &c.estimate;
            let unit = c
                .unit
                .map(|(unit, rate)| if rate { unit.per_second() } else { unit.name() });
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
            })
        })
        .collect();
    let together = match joint(all) {
        Joint::Better => "better",
        Joint::Worse => "worse",
        Joint::Mixed => "mixed",
        Joint::Equivalent => "equivalent",
        Joint::Undecided => "undecided",
        Joint::Descriptive => "descriptive",
    };
    let differing = differences
        .iter()
        .map(|[path, one, other]| json!({"path": path, "a": one, "b": other}));
    let all = json!({
        "a": paths(a),
        "b": paths(b),
        "metrics": metrics,
        "joint": together,
        "notes": notes,
        "differences": differing.collect::<Vec<_>>(),
    });
    format!("{all:#}\n")
}
