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

use crate::gather::Points;
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

/// Counts the plan's events, by intervals that suit the grid; and if those are shorter than the
/// sampled ones, which of them make up each of those.
pub(super) fn scan(
    run: &Run,
    plan: &Plan,
    grid: Grid,
) -> Result<(Cells, Option<Intervals>), ReadError> {
    let is_heat = plan.by.iter().any(|by| by.number.is_some());
    let every = seconds(run.manifest.every_seconds);
    if is_heat {
        let columns = |sampled: Vec<Slot>| by_column(&sampled, &grid, run);
        return Ok((scan::scan_by(run, &plan.over, columns)?, None));
    }
    if grid.length >= every {
        return Ok((scan::scan(run, &plan.over)?, None));
    }
    let mut sampled = Vec::new();
    let cells = scan::scan_by(run, &plan.over, |all| {
        let mut slots = by_column(&all, &grid, run);
        for slot in &all {
            scan::divide(&mut slots, slot.from());
            scan::divide(&mut slots, slot.time);
        }
        sampled = all;
        slots
    })?;
    let slack = every / 4;
    let (from, to) = (grid.from - slack, grid.to().saturating_add(slack));
    sampled.retain(|slot| from <= slot.from() && slot.time <= to);
    let intervals = Intervals::new(sampled, &cells.slots, run.manifest.every_seconds / 2.0);
    Ok((cells, Some(intervals)))
}

/// Sampled intervals that lie in a window, and the shorter ones that they are counted by.
///
/// Where columns are shorter than sampled intervals, the greatest column of a line is greater
/// than any interval, the more so the wider the picture is. The numbers beside it are those of
/// `sonde get`: of the intervals, if the window has any.
pub(super) struct Intervals {
    slots: Vec<Slot>,
    /// Of each of the shorter ones: the place in `slots`.
    of: Vec<Option<usize>>,
    /// Seconds of one that is long enough for least and greatest values, and of any; and how many
    /// of `slots` are so long.
    lengths: [(f64, usize); 2],
}

impl Intervals {
    fn new(slots: Vec<Slot>, parts: &[Slot], shortest: f64) -> Intervals {
        let of = parts.iter().map(|part| {
            let place = slots.partition_point(|slot| slot.time < part.time);
            let slot = slots.get(place)?;
            (slot.from() < part.time).then_some(place)
        });
        let lengths = [shortest, 0.0].map(|shortest| {
            let long = slots.iter().filter(|slot| slot.interval >= shortest);
            (shortest, long.count())
        });
        Intervals {
            of: of.collect(),
            lengths,
            slots,
        }
    }

    /// Least and greatest rate of a group, over intervals that are long enough and over all; NaN
    /// where there are none. Intervals without an event have zero.
    pub(super) fn extremes(&self, points: &Points) -> [[f64; 2]; 2] {
        let mut sums: Vec<(usize, f64)> = Vec::new();
        for (part, amount) in points.slots.iter().zip(&points.values) {
            let Some(place) = self.of[*part as usize] else {
                continue;
            };
            match sums.last_mut() {
                Some((last, sum)) if *last == place => *sum += amount,
                _ => sums.push((place, *amount)),
            }
        }
        self.lengths.map(|(shortest, all)| {
            let long = |place: usize| self.slots[place].interval >= shortest;
            let rates = sums.iter().filter(|(place, _)| long(*place));
            let rates = rates.map(|(place, sum)| sum / self.slots[*place].interval);
            let zero = (rates.clone().count() < all).then_some(0.0);
            // `min` and `max` pass over NaN.
            rates
                .chain(zero)
                .fold([f64::NAN; 2], |[least, most], rate| {
                    [least.min(rate), most.max(rate)]
                })
        })
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
