//! How work grows with parallelism: `sonde try --scale`.

use analysis::experiment::{Measured, level};
use analysis::stats::scaling::{Law, Point, Scaling, Step, scaling, steps};
use run::unit::digits;
use serde_json::{Value, json};
use surfaces::table::{Align, Table};

use super::Experiment;
use super::json::{ends, number};
use super::words::value_text;

/// Draws of the bootstrap.
const DRAWS: usize = 2000;

/// Of which of the metrics it is asked how they grow: the first that grows with what is done.
pub(crate) fn grows<'e>(e: &'e Experiment<'_>) -> Option<&'e Measured> {
    let mut declared = e.measured.iter().filter(|m| m.declared);
    declared.find(|m| m.metric.is_throughput())
}

/// Number at once by arm.
pub(super) fn workers(e: &Experiment<'_>) -> Vec<f64> {
    let Some(factor) = e.book.factors.first() else {
        return vec![];
    };
    let of = |arm: &lab::experiment::Arm| arm.values.get(&factor.name)?.parse().ok();
    let arms = e.book.arms.iter();
    arms.map(|arm| of(arm).unwrap_or(f64::NAN)).collect()
}

/// What was measured: a point a trial.
pub(super) fn points(e: &Experiment<'_>, measured: &Measured) -> Vec<Point> {
    let arms = workers(e).into_iter().zip(&measured.values);
    arms.flat_map(|(workers, values)| {
        let known = values.iter().filter(|v| !v.is_nan());
        known.map(move |work| Point {
            workers,
            work: *work,
        })
    })
    .collect()
}

/// The laws, or why there are none.
pub(super) fn laws(e: &Experiment<'_>, measured: &Measured) -> Result<Scaling, String> {
    scaling(&points(e, measured), DRAWS, e.book.seed).map_err(|why| why.to_string())
}

/// Processor seconds for a unit of work, by arm; NaN where it is not known.
fn costs(e: &Experiment<'_>, measured: &Measured) -> Vec<f64> {
    let Some(cpu) = e.measured.iter().find(|m| m.metric.text == super::CPU) else {
        return vec![f64::NAN; measured.values.len()];
    };
    let of = |(work, cpu): (&Vec<f64>, &Vec<f64>)| {
        let each: Vec<f64> = work.iter().zip(cpu).map(|(w, c)| c / w).collect();
        let each: Vec<f64> = each.into_iter().filter(|v| v.is_finite()).collect();
        level(&each).value
    };
    measured.values.iter().zip(&cpu.values).map(of).collect()
}

/// What is told of growth.
pub(crate) struct Told {
    /// A row a step; none if no metric is a throughput.
    pub(crate) table: Option<Table>,
    /// The laws and their doubts, each with a label; or, without one, why there are none.
    pub(crate) lines: Vec<(&'static str, String)>,
}

/// A table of steps, the laws and their doubts.
pub(crate) fn told(e: &Experiment<'_>) -> Told {
    let Some(measured) = grows(e) else {
        let why = "How it grows cannot be told: no declared metric is a throughput (of which \
                   more is better).";
        return Told {
            table: None,
            lines: vec![("", why.to_owned())],
        };
    };
    Told {
        table: Some(steps_of(e, measured)),
        lines: match laws(e, measured) {
            Ok(laws) => laws_told(&laws, measured),
            Err(why) => vec![("", why)],
        },
    }
}

/// A row a step.
fn steps_of(e: &Experiment<'_>, measured: &Measured) -> Table {
    let mut table = Table::new();
    let per = match measured.unit {
        Some((run::Unit::Bytes, _)) => "cpu/GB",
        _ => "cpu/unit",
    };
    for name in ["at once", "work", "speed-up", "efficiency", per] {
        table.column(name, Align::Right);
    }
    let scale = if per == "cpu/GB" { 1e9 } else { 1.0 };
    for (step, cost) in steps_and_costs(e, measured) {
        table.row(vec![
            lab::experiment::number(step.workers),
            value_text(step.work, measured.unit),
            format!("{:.2}", step.speed_up),
            format!("{:.0} %", step.efficiency * 100.0),
            value_text(cost * scale, Some((run::Unit::Seconds, false))),
        ]);
    }
    table
}

/// Each step with the processor seconds of a unit of its work; NaN where that is not known.
pub(crate) fn steps_and_costs(e: &Experiment<'_>, measured: &Measured) -> Vec<(Step, f64)> {
    let (workers, costs) = (workers(e), costs(e, measured));
    let cost = |n: f64| workers.iter().position(|w| *w == n).map(|p| costs[p]);
    let steps = steps(&points(e, measured)).into_iter();
    steps
        .map(|step| (step, cost(step.workers).unwrap_or(f64::NAN)))
        .collect()
}

fn laws_told(laws: &Scaling, measured: &Measured) -> Vec<(&'static str, String)> {
    let within = |interval: Option<analysis::stats::Interval>| match interval {
        Some(i) if i.is_bounded() => format!(" ({} to {})", digits(i.low), digits(i.high)),
        Some(i) if i.low.is_finite() => format!(" ({} or more)", digits(i.low)),
        _ => String::new(),
    };
    let bounds = laws.bounds.as_ref();
    let usl = &laws.usl;
    let mut text = format!(
        "contention (alpha) {}{}, coherency (beta) {}{}, alone (gamma) {}.",
        digits(usl.alpha),
        within(bounds.map(|b| b.alpha)),
        digits(usl.beta),
        within(bounds.map(|b| b.beta)),
        value_text(usl.gamma, measured.unit),
    );
    if let Some(knee) = usl.knee() {
        let bound = within(bounds.map(|b| b.knee));
        text += &format!(
            " Knee at {}{bound}: beyond it each more adds more waiting than work.",
            lab::experiment::number(knee.round().max(1.0))
        );
    }
    text += &match usl.peak() {
        Some(peak) => format!(
            " Peak at {}{}, with {}.",
            lab::experiment::number(peak.round().max(1.0)),
            within(bounds.map(|b| b.peak)),
            value_text(usl.work(peak), measured.unit)
        ),
        None => " No peak.".to_owned(),
    };
    let mut lines = vec![("USL", text)];
    let amdahl = &laws.amdahl;
    let limit = amdahl.limit().map_or_else(
        || "no limit".to_owned(),
        |l| format!("at most {}, however many", value_text(l, measured.unit)),
    );
    let text = format!("serial share {}: {limit}.", digits(amdahl.alpha));
    lines.push(("Amdahl", text));
    let doubts = laws.doubts.iter().map(|d| ("DOUBT", format!("{d}.")));
    lines.extend(doubts);
    lines
}

/// The same as JSON.
pub(super) fn json(e: &Experiment<'_>) -> Value {
    let Some(measured) = grows(e) else {
        return Value::Null;
    };
    let steps: Vec<Value> = steps_and_costs(e, measured)
        .into_iter()
        .map(|(s, cost)| {
            json!({
                "workers": s.workers, "work": number(s.work), "speed_up": number(s.speed_up),
                "efficiency": number(s.efficiency), "cpu_seconds_per_unit": number(cost),
            })
        })
        .collect();
    let law = |law: &Law| {
        json!({
            "alpha": number(law.alpha), "beta": number(law.beta), "gamma": number(law.gamma),
            "peak": law.peak(), "knee": law.knee(), "limit": law.limit(),
        })
    };
    let (laws, why) = match laws(e, measured) {
        Ok(laws) => (Some(laws), None),
        Err(why) => (None, Some(why)),
    };
    let bounds = laws.as_ref().and_then(|l| l.bounds);
    json!({
        "metric": measured.metric.text,
        "steps": steps,
        "usl": laws.as_ref().map(|l| law(&l.usl)),
        "amdahl": laws.as_ref().map(|l| law(&l.amdahl)),
        "alpha_interval": bounds.map(|b| ends(b.alpha)),
        "beta_interval": bounds.map(|b| ends(b.beta)),
        "doubts": laws.map_or_else(Vec::new, |l| l.doubts.iter().map(ToString::to_string).collect()),
        "missing": why,
    })
}
