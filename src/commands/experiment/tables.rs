//! The tables of an experiment, as the terminal and reports show them.

use analysis::experiment::{Contrast, Measured, level};
use analysis::stats::{Test, Verdict};
use lab::experiment::{Stage, Trial};
use run::unit::digits;
use surfaces::table::{Align, Table};

use super::Experiment;
use super::words::{
    aim, chance_text, interval_text, names, ratio_text, stage, state, value_text, word,
};
use crate::output::one_line;

/// A table with its heading and what its reader has to know.
pub(crate) struct Told {
    pub(crate) heading: String,
    pub(crate) table: Table,
    pub(crate) notes: Vec<String>,
}

/// Each declared metric, in order; none where a search left no arms to compare.
pub(crate) fn metrics(e: &Experiment<'_>) -> Vec<Told> {
    if e.book.arms.is_empty() {
        return vec![];
    }
    let declared = e.measured.iter().enumerate().filter(|m| m.1.declared);
    declared.map(|(place, m)| metric(e, place, m)).collect()
}

/// A metric by arm.
fn metric(e: &Experiment<'_>, place: usize, measured: &Measured) -> Told {
    let mut table = Table::new();
    for (name, align) in [
        ("arm", Align::Left),
        ("trials", Align::Right),
        ("middle", Align::Right),
        ("ratio", Align::Right),
        ("95 %", Align::Right),
        ("p", Align::Right),
        ("verdict", Align::Words),
    ] {
        table.column(name, align);
    }
    for (arm, values) in measured.values.iter().enumerate() {
        let level = level(values);
        let contrast = e.contrast(place, arm);
        let mut row = vec![
            e.book.arms[arm].name.clone(),
            level.trials.to_string(),
            value_text(level.value, measured.unit),
        ];
        row.extend(contrast.map_or_else(|| vec![String::new(); 4], |c| told(e, c)));
        table.row(row);
    }
    let heading = format!("{} ({})", measured.metric.text, aim(measured.metric.aim));
    Told {
        heading: one_line(&heading),
        table,
        notes: by_means(e, place)
            .into_iter()
            .chain(measured.missing.clone())
            .collect(),
    }
}

/// Arms that were judged otherwise than the rest, and why.
fn by_means(e: &Experiment<'_>, metric: usize) -> Option<String> {
    let of = |c: &&Contrast| c.metric == metric && c.test == Test::SignedMeans;
    let arms: Vec<usize> = e
        .outcome
        .declared
        .iter()
        .filter(of)
        .map(|c| c.arm)
        .collect();
    (!arms.is_empty()).then(|| {
        format!(
            "spread more than the baseline, so judged by signed ranks, which need more: {}",
            names(e, &arms)
        )
    })
}

/// Ratio, interval, chance and verdict.
fn told(e: &Experiment<'_>, c: &Contrast) -> Vec<String> {
    let estimate = &c.compared.estimate;
    vec![
        ratio_text(estimate.ratio),
        interval_text(estimate.interval),
        chance_text(c.compared.adjusted),
        verdict(e, c),
    ]
}

/// What is said of an arm, or of the baseline against itself.
pub(crate) fn verdict(e: &Experiment<'_>, c: &Contrast) -> String {
    match (&c.compared.verdict, e.places.again == Some(c.arm)) {
        (Verdict::Better | Verdict::Worse, true) => "DIFFERS".to_owned(),
        (_, true) => "A/A".to_owned(),
        (Verdict::Undecided(Some(blocks)), _) => format!("undecided ({blocks})"),
        (verdict, _) => word(verdict).to_owned(),
    }
}

/// Metrics of which no verdict was asked.
pub(crate) fn beside(e: &Experiment<'_>) -> Option<Told> {
    let told: Vec<&Contrast> = e
        .outcome
        .exploratory
        .iter()
        .filter(|c| !c.compared.estimate.ratio.is_nan())
        .collect();
    if told.is_empty() {
        return None;
    }
    let mut table = Table::new();
    for (name, align) in [
        ("metric", Align::Left),
        ("arm", Align::Left),
        ("ratio", Align::Right),
        ("95 %", Align::Right),
    ] {
        table.column(name, align);
    }
    let mut before = usize::MAX;
    for c in told {
        let name = if c.metric == before {
            String::new()
        } else {
            c.compared.metric.text.clone()
        };
        before = c.metric;
        table.row(vec![
            one_line(&name),
            e.book.arms[c.arm].name.clone(),
            ratio_text(c.compared.estimate.ratio),
            interval_text(c.compared.estimate.interval),
        ]);
    }
    Some(Told {
        heading: "beside: not declared, so nothing is concluded".to_owned(),
        table,
        notes: vec![],
    })
}

/// Every trial with what became of it and where its run is.
pub(crate) fn trials(e: &Experiment<'_>) -> Table {
    let mut table = Table::new();
    for (name, align) in [
        ("run", Align::Left),
        ("part", Align::Left),
        ("arm", Align::Left),
        ("state", Align::Left),
        ("seconds", Align::Right),
        ("why", Align::Left),
    ] {
        table.column(name, align);
    }
    for trial in &e.book.trials {
        let why = trial.why.as_deref().unwrap_or_default();
        table.row(vec![
            one_line(&trial.run.display().to_string()),
            part(trial),
            one_line(&trial.arm),
            state(trial.state).to_owned(),
            trial.seconds.map_or_else(|| "-".to_owned(), digits),
            one_line(why.lines().next().unwrap_or_default()),
        ]);
    }
    table
}

/// Of what a trial is part.
fn part(trial: &Trial) -> String {
    match trial.stage {
        Stage::Rehearsal => stage(trial.stage).to_owned(),
        of => format!("{} {}", stage(of), trial.block),
    }
}
