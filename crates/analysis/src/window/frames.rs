//! The intervals by which events are counted for a picture.
//!
//! Heat maps add up what falls into a column, so that their events are counted by column, not
//! by sampled interval: a long window has fewer cells to hold, and a short one is finer than
//! the samples. Lines show the least and greatest interval too, so they keep the sampled ones,
//! unless the columns are shorter. What asks for a phase keeps them always: a column may lie
//! in two.

use std::collections::HashMap;

use run::catalog::Detail;
use run::read::ReadError;
use run::{Nanos, Run};

use crate::answer::Group;
use crate::gather::{Points, holds};
use crate::plan::{Key, Plan};
use crate::scan::{self, Cells, Slot};

use super::{Grid, seconds};

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
    if is_heat(plan) || is_fine(&grid, run) {
        scan::scan_by(run, &plan.over, |sampled| by_column(&sampled, &grid, run))
    } else {
        scan::scan(run, &plan.over)
    }
}

fn is_heat(plan: &Plan) -> bool {
    plan.by.iter().any(|by| by.number.is_some())
}

/// Whether columns are shorter than sampled intervals.
fn is_fine(grid: &Grid, run: &Run) -> bool {
    grid.length < seconds(run.manifest.every_seconds)
}

/// Where columns are shorter than sampled intervals, the greatest column of a line is greater
/// than any interval, the more so the wider the picture is. The numbers beside it are those of
/// `sonde get`: of the intervals that lie in the window, if it has any.
pub(super) fn extremes(
    run: &Run,
    plan: &Plan,
    grid: &Grid,
    groups: &mut [Group],
) -> Result<(), ReadError> {
    if is_heat(plan) || !is_fine(grid, run) {
        return Ok(());
    }
    let slack = seconds(run.manifest.every_seconds) / 4;
    let (from, to) = (grid.from - slack, grid.to().saturating_add(slack));
    let Cells {
        slots,
        groups: cells,
    } = scan::scan(run, &plan.over)?;
    let inside: Vec<bool> = slots
        .iter()
        .map(|slot| from <= slot.from() && slot.time <= to)
        .collect();
    if !inside.contains(&true) {
        return Ok(());
    }
    let shortest = run.manifest.every_seconds / 2.0;
    // By which intervals count: how many there are.
    let counts: [&dyn Fn(usize) -> bool; 2] = [
        &|place| inside[place] && slots[place].interval >= shortest,
        &|place| inside[place],
    ];
    let all = counts.map(|counts| (0..slots.len()).filter(|place| counts(*place)).count());
    let by_key: HashMap<String, Points> = cells
        .into_iter()
        .map(|g| (format!("{:?}", g.key), g.amounts))
        .collect();
    for group in groups {
        let points = by_key.get(&format!("{:?}", group.key));
        let over = |of: usize| {
            let values: Vec<f64> = points
                .iter()
                .flat_map(|p| p.slots.iter().zip(&p.values))
                .filter(|(place, _)| counts[of](**place as usize))
                .map(|(place, amount)| amount / slots[*place as usize].interval)
                .collect();
            // Intervals without an event have zero.
            let zero = (values.len() < all[of]).then_some(0.0);
            let least = values.iter().copied().chain(zero).reduce(f64::min);
            let greatest = values.iter().copied().chain(zero).reduce(f64::max);
            [least, greatest].map(|v| v.unwrap_or(f64::NAN))
        };
        if let Some(found) = [0, 1].map(over).into_iter().find(|e| holds(*e, group.mean)) {
            [group.min, group.max] = found;
        }
    }
    Ok(())
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
