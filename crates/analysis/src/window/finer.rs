//! Heat maps of a short window, drawn from single events.
//!
//! A histogram has whole sampled intervals. Where few of them are in view and the run has the
//! events that they count, the same amounts are counted from those, in columns as short as the
//! picture has room for. Only where no event is missing: a picture that is zoomed in must not
//! show less than the one before. A histogram is read a little after its sample was due, and an
//! event has its own time: what was completed in between is in the next column here.

use run::Run;
use run::catalog::{Detail, Kind};

use super::{Grid, frames, seconds};
use crate::answer::summarise;
use crate::error::Error;
use crate::plan::{Plan, plan};
use crate::syntax::parse;

/// Sampled intervals in view from which on their own columns are fine enough.
const MANY: i64 = 60;

/// The plan that answers the same from single events, where those tell more of the window that
/// `sampled` is the grid of than `planned` does, and as truly.
pub(super) fn from_events(
    run: &Run,
    text: &str,
    planned: &Plan,
    sampled: &Grid,
) -> Result<Option<Plan>, Error> {
    let over = &planned.over;
    let every = seconds(run.manifest.every_seconds);
    let span = sampled.to() - sampled.from;
    // Of the whole run all pictures and `sonde get` have the same amounts.
    let whole = sampled.from <= run.manifest.started && sampled.to() >= run.ended();
    let is_heat = planned.by.iter().any(|by| by.number.is_some());
    if !is_heat
        || whole
        || over.table.detail == Detail::Event
        || planned.kind != Some(Kind::Sum)
        // A bound within a bucket: by events the amount would be another.
        || over.caveat.is_some()
        || sampled.length > every
        || span / every >= MANY
    {
        return Ok(None);
    }
    let tables = run.tables();
    let is_of_events = |name: &str| {
        let found = run::catalog::table(name);
        found.is_some_and(|(_, t)| t.detail == Detail::Event) && tables.iter().any(|t| t == name)
    };
    // Refused: no such table has what is asked for.
    let Ok(events) = plan(&parse(text)?, &run.manifest, &is_of_events) else {
        return Ok(None);
    };
    let fits = frames::can_be_cut(&events) && events.over.caveat.is_none();
    let sampled_above = if span <= every { f64::INFINITY } else { 1.0 };
    let told = fits && is_whole(run, events.over.table.name, sampled, sampled_above);
    Ok(told.then_some(events))
}

/// Whether no event of `table` is missing in the window, and one that was kept stands for at
/// most `most`: beside a histogram's exact amounts, estimates are of use only where that has
/// nothing to show.
fn is_whole(run: &Run, table: &str, sampled: &Grid, most: f64) -> bool {
    // It has rows only where something was lost or left out.
    if !run.tables().iter().any(|t| t == "self_events") {
        return most >= 1.0;
    }
    let every = run.manifest.every_seconds;
    let since = |time: i64| (time.saturating_sub(run.manifest.started)) as f64 / 1e9;
    let (from, to) = (since(sampled.from) - every, since(sampled.to()) + every);
    let within = format!(
        "where table = '{table}' and time in {}s..{to}s",
        from.max(0.0)
    );
    let greatest = |measure: &str| {
        let answer = summarise(run, &format!("self.{measure} {within}")).ok()?;
        Some(
            answer
                .groups
                .iter()
                .fold(0.0_f64, |most, g| most.max(g.max)),
        )
    };
    greatest("dropped") == Some(0.0) && greatest("one_in").is_some_and(|n| n <= most)
}
