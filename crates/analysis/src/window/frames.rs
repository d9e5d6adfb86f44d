//! The intervals by which events are counted for a picture.
//!
//! Heat maps add up what falls into a column, so that their events are counted by column, not
//! by sampled interval: a long window has fewer cells to hold, and a short one is finer than
//! the samples. Lines show the least and greatest interval too, so they keep the sampled ones,
//! unless the columns are shorter. What asks for a phase keeps them always: a column may lie
//! in two.

use run::catalog::Detail;
use run::read::ReadError;
use run::{Nanos, Run};

use crate::plan::{Key, Plan};
use crate::scan::{self, Cells, Slot};

use super::Grid;

/// No column of events is shorter.
pub(super) const SHORTEST: Nanos = 1_000_000;

/// Whether the plan's events can be counted by any interval. `plan` is as it was asked for: a
/// time that an expression names means sampled intervals, here as everywhere.
pub(super) fn can_be_cut(plan: &Plan) -> bool {
    plan.over.table.detail == Detail::Event
        && plan.kind.is_some()
        && !plan.over.by.iter().any(|(_, key)| *key == Key::Phase)
        && plan.over.times.is_empty()
}

/// Counts the plan's events, by intervals that suit the grid.
pub(super) fn scan(run: &Run, plan: &Plan, grid: Grid) -> Result<Cells, ReadError> {
    let every = (run.manifest.every_seconds * 1e9) as Nanos;
    let is_heat = plan.by.iter().any(|by| by.number.is_some());
    if is_heat || grid.length < every {
        scan::scan_by(run, &plan.over, |sampled| by_column(&sampled, &grid, run))
    } else {
        scan::scan(run, &plan.over)
    }
}

/// A slot for each column of which some was sampled, as long as that; and one after them.
fn by_column(sampled: &[Slot], grid: &Grid, run: &Run) -> Vec<Slot> {
    let mut covered = vec![0.0; grid.count as usize];
    let mut slots = Vec::with_capacity(covered.len());
    let length = grid.length as f64 / 1e9;
    for slot in sampled {
        let (from, to) = (slot.from().max(grid.from), slot.time.min(grid.to()));
        if from >= to {
            continue;
        }
        let first = (from - grid.from) / grid.length;
        let last = (to - grid.from - 1) / grid.length;
        for column in first..=last.min(i64::from(grid.count) - 1) {
            let (left, right) = (grid.edge(column as u32), grid.edge(column as u32 + 1));
            covered[column as usize] += (to.min(right) - from.max(left)) as f64 / 1e9;
        }
    }
    let after = sampled.iter().map(|s| s.time).filter(|t| *t > grid.to());
    let after = after.max();
    for (column, seconds) in covered.into_iter().enumerate() {
        // A little that is missing is the moment between two readings.
        if seconds > length * 1e-3 {
            let time = grid.edge(column as u32 + 1);
            let whole = seconds > length * 0.99;
            slots.push(Slot {
                time,
                interval: if whole { length } else { seconds },
                phase: scan::phase_at(&run.manifest, time),
            });
        }
    }
    // What comes after the grid is not to be taken for a late part of its last column.
    slots.extend(after.map(|time| Slot {
        time: time.max(grid.to().saturating_add(grid.length)),
        interval: time.saturating_sub(grid.to()) as f64 / 1e9,
        phase: None,
    }));
    slots
}
