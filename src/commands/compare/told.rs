//! What a comparison is told as in a terminal: text of 80 columns.

use std::fmt::Write;

use analysis::compare::{Compared, Joint, joint, side};
use analysis::stats::planning::{
    LEVEL, least_blocks, least_runs, smallest_of_blocks, smallest_of_runs,
};
use analysis::stats::{Interval, Verdict, median};
use run::Unit;
use run::unit::{amount, digits};
use surfaces::table::{shortened, wrapped};
use surfaces::terminal::{self, Colour};

use super::{Comparison, Side, shown};
use crate::output::{counted, one_line};

const WIDTH: usize = 80;

/// Differences of the machines that are listed.
const SHOWN: usize = 12;

/// The whole text.
pub(super) fn text(told: &Comparison, colour: Colour) -> String {
    let mut out = String::new();
    for side in [&told.a, &told.b] {
        let [name, runs] = named(side);
        out += &wrapped(&name, &runs, WIDTH);
    }
    out.push('\n');
    for compared in &told.all {
        out += &metric(compared);
    }
    for shift in &told.shifts {
        let chart = shown::shift(shift);
        // Title, axis and numbers, beside a line a quantile and the notes.
        let height = 3 + shift.at.len() + chart.notes.len();
        out += &terminal::picture(&chart, WIDTH as u16, height as u16, colour);
        out.push('\n');
    }
    out += &wrapped("", &conclusion(told), WIDTH);
    for note in &told.notes {
        out += &wrapped("note      ", note, WIDTH);
    }
    out += &causes(&told.differences);
    out
}

/// `A  4 runs: `, and which.
pub(super) fn named(side: &Side) -> [String; 2] {
    let paths = side.runs.iter().map(|run| run.path().display().to_string());
    let paths: Vec<String> = paths.map(|path| one_line(&path)).collect();
    let count = counted(side.runs.len() as u64, "run");
    [format!("{}  {count}: ", side.name), paths.join(", ")]
}

/// A metric: its expression, then its numbers.
fn metric(c: &Compared) -> String {
    let known = |values: &[f64]| {
        let known: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
        value_text(median(&known), c.unit)
    };
    let interval = interval_text(c.estimate.interval);
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
        ratio_text(c.estimate.ratio),
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

/// A ratio with the digits that few runs earn.
pub(super) fn ratio_text(ratio: f64) -> String {
    match ratio {
        r if r.is_nan() => "-".to_owned(),
        r if r < 10.0 => format!("{r:.3}"),
        r => format!("{r:.1}"),
    }
}

/// An interval of ratios in brackets; nothing where it has no ends.
pub(super) fn interval_text(interval: Interval) -> String {
    if interval.is_bounded() {
        let [low, high] = [interval.low, interval.high].map(ratio_text);
        format!("({low} to {high})")
    } else {
        String::new()
    }
}

fn chance_text(chance: f64) -> String {
    if chance < 0.001 {
        "<0.001".into()
    } else {
        format!("{chance:.3}")
    }
}

pub(super) fn verdict_word(verdict: &Verdict) -> &'static str {
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

fn conclusion(
    Comparison {
        a, b, all, blocks, ..
    }: &Comparison,
) -> String {
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
    let (smallest, needed): (_, fn(usize) -> usize) = if *blocks {
        (smallest_of_blocks(a.runs.len()), least_blocks)
    } else {
        (smallest_of_runs(a.runs.len(), b.runs.len()), least_runs)
    };
    let asked = all.iter().filter(|c| !c.adjusted.is_nan()).count();
    if smallest > LEVEL {
        let mut text = format!(
            "{} and {} can never decide at 5 %: {} of each are the least for one metric.",
            counted(a.runs.len() as u64, "run"),
            counted(b.runs.len() as u64, "run"),
            needed(1),
        );
        if all.iter().any(|c| c.verdict == Verdict::Equivalent) {
            text += " What is called equivalent is so by its interval.";
        }
        return text;
    }
    let together = together(all);
    if smallest * asked as f64 > LEVEL {
        return format!(
            "{together} With {asked} metrics at once so few runs cannot show a difference: {} of \
             each are the least.",
            needed(asked),
        );
    }
    together.to_owned()
}

fn together(all: &[Compared]) -> &'static str {
    match joint(all.iter()) {
        Joint::Better => "Together: B is better.",
        Joint::Worse => "Together: B is worse.",
        Joint::Mixed => {
            "Together: B is better in some and worse in others: a choice, not an improvement."
        }
        Joint::Equivalent => "Together: no difference worth having.",
        Joint::Undecided => "Together: undecided.",
        Joint::Descriptive => "Together: nothing can be concluded.",
    }
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
