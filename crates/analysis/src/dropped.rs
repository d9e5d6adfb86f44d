//! What an answer lacks: events for which there was no room when they happened, and rows that the
//! disk did not take.
//!
//! The recorder counts them by interval, so that of a window which begins or ends within an
//! interval the whole interval's are told: which of them were in the window nobody knows.

use std::sync::Arc;

use run::catalog::{self, Detail};
use run::manifest::Loss;
use run::{Nanos, Run};

use crate::answer::{Answer, planned};
use crate::error::Error;
use crate::plan::TimeCheck;
use crate::scan::scan;

/// How many events of the table that answered were dropped in the time that `answer` is of, and
/// in `window` (after the first, not after the second), where only that is shown. Zero of tables
/// that have no events.
///
/// # Errors
/// Where the table that counts them cannot be read.
pub fn dropped(run: &Run, answer: &Answer, window: Option<(Nanos, Nanos)>) -> Result<f64, Error> {
    let is_of_events = catalog::table(answer.table).is_some_and(|(_, t)| t.detail == Detail::Event);
    if !is_of_events || !run.tables().iter().any(|t| t == "self_events") {
        return Ok(0.0);
    }
    let bounds = Arc::default();
    let mut times = planned(run, &answer.text, &bounds)?.over.times;
    times.extend(window.map(|(from, to)| TimeCheck::Exactly(from, to)));
    let every = (run.manifest.every_seconds * 1e9) as Nanos;
    for time in &mut times {
        if let TimeCheck::Exactly(from, to) = *time {
            // The last interval that began before the end.
            *time = TimeCheck::Within(from, to.saturating_add(every - 1));
        }
    }
    let counted = format!("self.dropped where table = {}", answer.table);
    let mut plan = planned(run, &counted, &bounds)?.over;
    plan.times = times;
    let groups = scan(run, &plan)?.groups;
    // Not `sum`, which makes -0 of nothing.
    let amounts = groups.iter().flat_map(|g| &g.amounts.values);
    Ok(amounts.fold(0.0, |sum, amount| sum + amount))
}

/// The same as a sentence; `None` where nothing is missing.
///
/// # Errors
/// As [`dropped`].
pub fn note(
    run: &Run,
    answer: &Answer,
    window: Option<(Nanos, Nanos)>,
) -> Result<Option<String>, Error> {
    let dropped = dropped(run, answer, window)?;
    let number = run::unit::amount(dropped, run::Unit::Count, false);
    let (number, were) = match dropped {
        0.0 => return Ok(None),
        1.0 => (number + " event", "was"),
        _ => (number + " events", "were"),
    };
    Ok(Some(format!(
        "{number} of that time {were} dropped, because too many waited to be read: amounts are too \
         small (`self.dropped by table`)"
    )))
}

/// Spells in which rows were lost in the time that `answer` is of, whatever table it comes from. (A
/// row of the recorder's own tells of those before it; after the last there is none.)
///
/// # Errors
/// Where the expression is not one of this run.
pub fn lost<'r>(run: &'r Run, answer: &Answer) -> Result<Vec<&'r Loss>, Error> {
    let times = planned(run, &answer.text, &Arc::default())?.over.times;
    let is_of = |loss: &&Loss| {
        let overlaps = |time: &TimeCheck| match *time {
            TimeCheck::Exactly(from, to) | TimeCheck::Within(from, to) => {
                loss.from <= to && loss.to >= from
            }
            // Of a phase that is told too often rather than not.
            TimeCheck::Phase(_) => true,
            TimeCheck::Never => false,
        };
        loss.table.is_none() && loss.rows > 0 && times.iter().all(overlaps)
    };
    Ok(run.manifest.loss.iter().filter(is_of).collect())
}

/// The same as a sentence; `None` where nothing was lost.
///
/// # Errors
/// As [`lost`].
pub fn lost_note(run: &Run, answer: &Answer) -> Result<Option<String>, Error> {
    let losses = lost(run, answer)?;
    let (Some(first), Some(last)) = (losses.first(), losses.last()) else {
        return Ok(None);
    };
    let rows: u64 = losses.iter().map(|l| l.rows).sum();
    let number = run::unit::amount(rows as f64, run::Unit::Count, false);
    let since = |time: Nanos| (time - run.manifest.started) as f64 / 1e9;
    let (from, to) = (since(first.from), since(last.to));
    Ok(Some(format!(
        "{number} rows were lost from {from:.1} s to {to:.1} s ({}): there is nothing of that time",
        first.why
    )))
}
