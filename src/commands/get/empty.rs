//! An answer without rows: what that means, and how to see what there is.

use analysis::syntax::{Predicate, Test};
use analysis::{Answer, Expression, plan::Plan, summarise};
use run::Run;
use run::catalog::{self, Detail};

use super::shown::NOTHING;
use crate::output;

/// The same in place of a table, where every loss would be a row.
const NO_LOSS: &str = "no rows: nothing was lost: every event was kept, and nothing left out";

/// Dimensions that come from no table.
const NOT_STORED: [&str; 3] = ["time", "phase", "host"];

/// That an answer has no rows, and how to see which values the dimensions of its `where` have.
pub(crate) fn no_rows(run: &Run, answer: &Answer) -> String {
    let Some((expression, plan)) = planned(run, &answer.text) else {
        return NOTHING.to_owned();
    };
    let mut hints = what(run, &expression, &plan);
    let (subject, measure) = (&expression.subject.text, &expression.measure.text);
    let path = output::one_line(&run.path().display().to_string());
    if subject == "other" {
        // Its numbers have no sum by one dimension.
        return hints + &format!("\nhint: sonde get {path}");
    }
    let ask_by =
        |dimension: &str| format!("\nhint: sonde get {path} '{subject}.{measure} by {dimension}'");
    let mut asked = vec!["time", "host"];
    for predicate in &expression.predicates {
        let dimension = predicate.dimension.text.as_str();
        if !asked.contains(&dimension) {
            hints += &ask_by(dimension);
            asked.push(dimension);
        }
    }
    // What was not asked for, and holds unless something is said of it.
    let subject = catalog::subject(subject);
    let is_known = |d: &str| subject.is_some_and(|s| s.dimension(d).is_some());
    for (dimension, value) in &plan.over.implied {
        if !is_known(dimension) || !answers_by(run, &expression, &answer.text, dimension) {
            continue;
        }
        hints += &format!("\nnote: only `{dimension} = {value}` counts, unless another is named");
        hints += &ask_by(dimension);
    }
    for note in analysis::notes::of(run, answer).unwrap_or_default() {
        hints += &format!("\nnote: {note}");
    }
    hints
}

/// Whether what was asked has rows of any value of that dimension.
fn answers_by(run: &Run, expression: &Expression, text: &str, dimension: &str) -> bool {
    let Some((_, predicates)) = text.split_once(" where ") else {
        return true;
    };
    let (subject, measure) = (&expression.subject.text, &expression.measure.text);
    let asked = format!("{subject}.{measure} by {dimension} where {predicates}");
    summarise(run, &asked).is_ok_and(|answer| !answer.groups.is_empty())
}

/// The same without the way to see more.
pub(crate) fn sentence(run: &Run, answer: &Answer) -> String {
    let planned = planned(run, &answer.text);
    planned.map_or_else(
        || NOTHING.to_owned(),
        |(expression, plan)| what(run, &expression, &plan),
    )
}

fn planned(run: &Run, text: &str) -> Option<(Expression, Plan)> {
    let expression = analysis::parse(text).ok()?;
    let tables = run.tables();
    let has = |table: &str| tables.iter().any(|t| t == table);
    let plan = analysis::plan::plan(&expression, &run.manifest, &has).ok()?;
    Some((expression, plan))
}

/// What the absence of rows means.
fn what(run: &Run, expression: &Expression, plan: &Plan) -> String {
    let mut stored = stored(expression);
    if plan.over.table.name == "self_events" && stored.next().is_none() {
        return NO_LOSS.to_owned();
    }
    match partition(run, expression, plan) {
        Some(name) => format!(
            "no rows: {} is a partition, and histograms and events are of whole disks",
            output::one_line(&name)
        ),
        None => NOTHING.to_owned(),
    }
}

/// The predicates on what tables store.
fn stored(expression: &Expression) -> impl Iterator<Item = &Predicate> {
    let predicates = expression.predicates.iter();
    predicates.filter(|p| !NOT_STORED.contains(&p.dimension.text.as_str()))
}

/// The partition that was asked of a table that has whole disks only.
fn partition(run: &Run, expression: &Expression, plan: &Plan) -> Option<String> {
    let table = plan.over.table;
    let is_of_disks = catalog::table(table.name).is_some_and(|(s, _)| s.name == "disk");
    if !is_of_disks || table.detail == Detail::Sample {
        return None;
    }
    let devices = stored(expression).filter(|p| p.dimension.text == "device");
    let named = devices.filter_map(|p| match &p.test {
        Test::In(words) => Some(words),
        _ => None,
    });
    let is_partition = |name: &String| {
        let quoted = name.replace('"', "\"\"");
        let counted = format!("disk.ios where layer = partition and device = \"{quoted}\"");
        summarise(run, &counted).is_ok_and(|a| !a.groups.is_empty())
    };
    named
        .flatten()
        .map(|word| word.text.clone())
        .find(is_partition)
}
