//! What a search tried, and what came of it.

use lab::experiment::{Logbook, Search, Stage, Trial, number};
use surfaces::table::{Align, Table};

use super::Experiment;
use super::tables::Told;
use super::words::value_text;
use crate::output::{counted, one_line};

fn trials(book: &Logbook) -> impl Iterator<Item = &Trial> {
    book.trials.iter().filter(|t| t.stage == Stage::Search)
}

fn factor(book: &Logbook) -> &str {
    book.factors.first().map_or("", |f| f.name.as_str())
}

/// What it proposes.
pub(super) fn line(book: &Logbook) -> Option<String> {
    let search = book.search.as_ref()?;
    let found = search.found().map_or_else(
        || "and is not over".to_owned(),
        |found| format!("and proposes {} = {found}", factor(book)),
    );
    let place = match search {
        Search::Range { low, high, .. } => format!("from {} to {}", number(*low), number(*high)),
        Search::Among { candidates, .. } => format!("among {candidates} values"),
    };
    let tried = counted(trials(book).count() as u64, "trial");
    Some(format!("a search {place} took {tried} {found}"))
}

/// Every value that was tried, in the order of the first trials; of several trials of one the
/// middle.
pub(crate) fn table(e: &Experiment<'_>) -> Option<Told> {
    e.book.search.as_ref()?;
    let measured = e.measured.first()?;
    let metric = &e.book.measures[0].metric;
    let mut all: Vec<(&str, Vec<f64>)> = Vec::new();
    for trial in trials(e.book) {
        let place = all.iter().position(|(arm, _)| *arm == trial.arm);
        let place = place.unwrap_or_else(|| {
            all.push((&trial.arm, Vec::new()));
            all.len() - 1
        });
        let value = trial.values.get(metric).copied().flatten();
        all[place].1.push(value.unwrap_or(f64::NAN));
    }
    let mut table = Table::new();
    for name in ["value", "trials", "middle"] {
        table.column(name, Align::Right);
    }
    for (arm, values) in all {
        let level = analysis::experiment::level(&values);
        table.row(vec![
            one_line(arm),
            values.len().to_string(),
            value_text(level.value, measured.unit),
        ]);
    }
    (!table.rows().is_empty()).then(|| Told {
        heading: format!("searched by {}", one_line(metric)),
        table,
        notes: vec![],
    })
}

/// Whether it is over and found nothing better than the baseline.
pub(super) fn kept(book: &Logbook) -> bool {
    book.arms.is_empty() && book.search.as_ref().is_some_and(|s| s.found().is_some())
}

/// What is said where no arms were compared.
pub(super) fn nothing(book: &Logbook) -> String {
    if !kept(book) {
        return "No arms were compared.".to_owned();
    }
    let base = book.factors.first().map_or("", |f| f.base.as_str());
    format!(
        "Keep what there is: the search found nothing better than {} = {base}, which is the \
         baseline. Nothing was compared in blocks, so that is a hint and no verdict.",
        factor(book)
    )
}
