//! Events that an answer lacks, because there was no room for them when they happened.
//!
//! The recorder counts them by interval, so that of a window which begins or ends within an
//! interval the whole interval's are told: which of them were in the window nobody knows.

use std::sync::Arc;

use run::catalog::{self, Detail};
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
