//! What an experiment recommends, in sentences.

use analysis::compare::Compared;
use analysis::experiment::{Advice, advise, least};
use analysis::stats::{Aim, Verdict};
use lab::experiment::Blocks;

use super::words::{interval_text, names, ratio_text};
use super::{Experiment, searched};
use crate::output::{counted, one_line};

/// What to do, how sure that is, and at what cost.
pub(crate) fn conclusion(e: &Experiment<'_>) -> String {
    match &advise(&e.outcome, &e.measured, e.places) {
        Advice::Take { arm, close } => taken(e, *arm, close),
        Advice::Keep => kept(e),
        Advice::Choice(front) => format!(
            "A choice, not an improvement: what is better by one metric is worse by another. \
             No other arm beats these by all metrics: {}.",
            names(e, front)
        ),
        Advice::Undecided(blocks) => undecided(e, *blocks),
        Advice::Unsound => {
            let metrics: Vec<&str> = e
                .outcome
                .unsound()
                .map(|c| c.compared.metric.text.as_str())
                .collect();
            format!(
                "NOTHING MAY BE CLAIMED: the baseline differs from itself by {}. Something other \
                 than the arms changes between trials.",
                one_line(&metrics.join(", "))
            )
        }
        Advice::TooFew if e.book.arms.is_empty() => searched::nothing(e.book),
        Advice::TooFew => "Too few trials to conclude anything.".to_owned(),
    }
}

/// The same in a few words, for a list.
pub(crate) fn headline(e: &Experiment<'_>) -> String {
    match advise(&e.outcome, &e.measured, e.places) {
        Advice::Take { arm, .. } => format!("recommended: {}", e.book.arms[arm].name),
        Advice::Keep => "keep what there is".to_owned(),
        Advice::Choice(front) => format!("a choice: {}", names(e, &front)),
        Advice::Undecided(_) => "undecided".to_owned(),
        Advice::Unsound => "NOTHING MAY BE CLAIMED".to_owned(),
        Advice::TooFew if searched::kept(e.book) => "keep what there is".to_owned(),
        Advice::TooFew => "too few trials".to_owned(),
    }
}

fn taken(e: &Experiment<'_>, arm: usize, close: &[usize]) -> String {
    let setting: Vec<String> = e.book.arms[arm]
        .values
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let mut text = format!(
        "Recommended: {} ({}).",
        e.book.arms[arm].name,
        one_line(&setting.join(", "))
    );
    for c in e.outcome.of(arm) {
        text += &format!(" {}.", one_line(&against(&c.compared)));
    }
    text += &sure(e, arm);
    let dearer: Vec<String> = e
        .outcome
        .exploratory
        .iter()
        .filter(|c| c.arm == arm && is_dearer(&c.compared))
        .map(|c| against(&c.compared))
        .collect();
    if !dearer.is_empty() {
        text += &format!(
            " It may cost (not tested): {}.",
            one_line(&dearer.join("; "))
        );
    }
    if !close.is_empty() {
        text += &format!(" As good, as far as can be told: {}.", names(e, close));
    }
    text
}

/// How sure it is.
fn sure(e: &Experiment<'_>, arm: usize) -> String {
    let largest = e
        .outcome
        .of(arm)
        .filter(|c| c.compared.verdict == Verdict::Better)
        .map(|c| c.compared.adjusted)
        .fold(f64::NAN, f64::max);
    let asked = e.outcome.declared.len();
    let mut text = if largest.is_nan() {
        " Sure at 5 % over all planned looks".to_owned()
    } else {
        let chance = if largest < 0.001 {
            "below 0.001".to_owned()
        } else {
            format!("{largest:.3}")
        };
        format!(" Chance of such a difference if there were none: {chance}")
    };
    if asked > 1 {
        text += &format!(", for {asked} questions asked at once");
    }
    text += if e.places.again.is_some() {
        "; the baseline did not differ from itself."
    } else {
        "; without an A/A arm nobody knows whether the baseline would differ from itself."
    };
    text
}

fn against(c: &Compared) -> String {
    let interval = interval_text(c.estimate.interval);
    let interval = if interval.is_empty() {
        String::new()
    } else {
        format!(" ({interval})")
    };
    format!(
        "{} is {} times the baseline{interval}",
        c.metric.text,
        ratio_text(c.estimate.ratio)
    )
}

/// Whether it points beyond the margin to the bad side.
fn is_dearer(c: &Compared) -> bool {
    let margin = 1.0 + c.metric.margin.0;
    match c.metric.aim {
        Aim::Higher => c.estimate.ratio < 1.0 / margin,
        Aim::Lower => c.estimate.ratio > margin,
    }
}

fn kept(e: &Experiment<'_>) -> String {
    let worse: Vec<usize> = e
        .outcome
        .arms()
        .into_iter()
        .filter(|a| e.outcome.joint(*a) == analysis::compare::Joint::Worse)
        .collect();
    let margins: Vec<String> = e
        .measured
        .iter()
        .filter(|m| m.declared)
        .map(|m| format!("{:.0} % of {}", m.metric.margin.0 * 100.0, m.metric.text))
        .collect();
    let mut text = if worse.len() == e.outcome.arms().len() {
        "Keep what there is: every change is worse.".to_owned()
    } else {
        format!(
            "Keep what there is: no difference worth having (within {}).",
            one_line(&margins.join(", "))
        )
    };
    if !worse.is_empty() && worse.len() < e.outcome.arms().len() {
        text += &format!(" Worse: {}.", names(e, &worse));
    }
    text
}

fn undecided(e: &Experiment<'_>, blocks: Option<usize>) -> String {
    let least = least(e.outcome.declared.len(), e.places);
    let whole = e.book.whole_blocks();
    if e.book.blocks != Blocks::Auto && whole < least {
        return format!(
            "Undecided: {} can never decide {} at 5 %; {least} are the least.",
            counted(whole as u64, "block"),
            counted(e.outcome.declared.len() as u64, "question")
        );
    }
    match blocks {
        Some(blocks) => format!("Undecided: about {blocks} blocks would likely decide."),
        None => "Undecided: the blocks tell too little to say how many would decide.".to_owned(),
    }
}
