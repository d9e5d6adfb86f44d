//! That whole intervals count, where those that were taken do not fill the time that was asked for.

use run::Nanos;

use super::Asked;
use crate::plan::TimeCheck;
use crate::scan::Slot;

/// An edge may be off by this share of the time asked for.
const OFF: f64 = 0.05;

impl Asked<'_> {
    /// From when to when the intervals are that were taken, if that is another time than was asked for.
    pub(super) fn edges(&self) -> Option<String> {
        let times = self.plan.over.times.iter().map(|check| match check {
            TimeCheck::Within(from, to) => Some((*from, *to)),
            // Events are told apart by their own times; phases begin with an interval.
            _ => None,
        });
        let times: Option<Vec<(Nanos, Nanos)>> = times.collect();
        let asked = times?
            .into_iter()
            .reduce(|a, b| (a.0.max(b.0), a.1.min(b.1)))?;
        let started = self.manifest().started;
        // Of a run whose recorder was killed that is looked for in its journal.
        let asked = (asked.0.max(started), asked.1.min(self.run.ended()));
        let from = self.answer.slots.iter().map(Slot::from).min()?;
        let to = self.answer.slots.last()?.time;
        let length = asked.1.saturating_sub(asked.0) as f64;
        let off = |a: Nanos, b: Nanos| a.abs_diff(b) as f64 > OFF * length;
        let seconds = |time: Nanos| {
            let since = time.saturating_sub(started).max(0) as f64 / 1e9;
            run::unit::amount(since, run::Unit::Seconds, false)
        };
        (length > 0.0 && (off(from, asked.0) || off(to, asked.1))).then(|| {
            format!(
                "whole intervals count, those that end in the time asked for: they are of {} to {}",
                seconds(from),
                seconds(to)
            )
        })
    }
}
