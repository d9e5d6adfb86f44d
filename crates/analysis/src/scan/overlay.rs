//! Intervals of an imported table that lie over each other.
//!
//! What one program records has the same intervals for all its rows. Of what was imported two jobs may
//! have begun together and ended apart, or two files tell of two disks at other seconds: each row has an
//! interval of its own then, and what happened at a time is the sum of all that hold it. So the time is cut
//! wherever one begins or ends, and each row's amount is spread evenly over its pieces: totals stay, and a
//! rate is that of all that ran.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use run::{Manifest, Nanos};

use super::{Cells, GroupCells, Slot, passes, phase_at};
use crate::gather::{At, Gather, Rules, join_amounts};
use crate::plan::ScanPlan;

/// An interval may reach so far into the one before, as a share of the shorter: clocks are rounded.
const ROUNDED: f64 = 0.2;

/// Ends that lie nearer than this share of the shortest interval are one.
const NEAR: f64 = 0.05;

/// More pieces than this are not made: the intervals stay as they are.
const MOST: usize = 1 << 22;

/// Whether intervals, in order of their ends, lie over each other.
pub(super) fn lie_over(slots: &[Slot]) -> bool {
    slots.windows(2).any(|pair| {
        let over = pair[0].time.saturating_sub(pair[1].from()) as f64 / 1e9;
        over > ROUNDED * pair[0].interval.min(pair[1].interval)
    })
}

/// A row's interval and amounts.
#[derive(Clone, Copy, Debug)]
struct Row {
    from: Nanos,
    to: Nanos,
    amounts: [f64; 2],
}

/// The rows of a group, as they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows(Vec<Row>);

impl Gather for Rows {
    fn add(&mut self, at: &At, amount: f64, under: f64, _: &Rules) -> usize {
        self.0.push(Row {
            from: at.from(),
            to: at.end,
            amounts: [amount, under],
        });
        1
    }

    fn join(&mut self, later: Rows, _: u32, _: &Rules) {
        self.0.extend(later.0);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|row| row.amounts[0].is_nan())
    }
}

/// The same cells with the time cut where any interval begins or ends; `None` where that were too many
/// pieces.
pub(super) fn laid<G: Gather>(
    cells: Cells<Rows>,
    plan: &ScanPlan,
    manifest: &Manifest,
    rules: &Rules,
) -> Option<Cells<G>> {
    let ends = ends(&cells.slots);
    let place = |time: Nanos| ends.partition_point(|end| *end < time);
    // Ends that are near are one: each is moved to the next that is kept.
    let pieces_of = |from: Nanos, to: Nanos| {
        let (first, last) = (place(from), place(to).min(ends.len() - 1));
        first.min(last.saturating_sub(1))..last
    };
    let mut pieces = 0;
    let mut is_covered = vec![false; ends.len()];
    for slot in &cells.slots {
        let of = pieces_of(slot.from(), slot.time);
        pieces += of.len();
        is_covered[of].fill(true);
    }
    let rows = cells.groups.iter().flat_map(|g| &g.amounts.0);
    for row in rows {
        pieces += pieces_of(row.from, row.to).len();
        if pieces > MOST {
            return None;
        }
    }
    let slot = |i: usize| Slot {
        time: ends[i + 1],
        interval: ends[i + 1].saturating_sub(ends[i]) as f64 / 1e9,
        phase: phase_at(manifest, ends[i + 1]),
    };
    let mut slots = Vec::new();
    let mut places = vec![None; ends.len()];
    for i in (0..ends.len()).filter(|i| is_covered[*i]) {
        let slot = slot(i);
        if passes(plan, manifest, &slot) {
            places[i] = Some(slots.len() as u32);
            slots.push(slot);
        }
    }
    let groups = cells.groups.into_iter().map(|group| {
        let mut amounts: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
        for row in &group.amounts.0 {
            let of = pieces_of(row.from, row.to);
            let whole = ends[of.end].saturating_sub(ends[of.start]).max(1) as f64;
            for i in of {
                let Some(place) = places[i] else { continue };
                let share = slots[place as usize].interval * 1e9 / whole;
                let part = row.amounts.map(|amount| amount * share);
                match amounts.entry(place) {
                    Entry::Vacant(new) => {
                        new.insert(part);
                    }
                    Entry::Occupied(mut old) => {
                        join_amounts(old.get_mut(), part, rules);
                    }
                }
            }
        }
        let mut gathered = G::default();
        for (place, [amount, under]) in amounts {
            let slot = &slots[place as usize];
            let at = At::new(place, slot.time, slot.interval, rules);
            gathered.add(&at, amount, under, rules);
        }
        GroupCells {
            key: group.key,
            amounts: gathered,
        }
    });
    let mut groups: Vec<GroupCells<G>> = groups.collect();
    groups.retain(|g| !g.amounts.is_empty());
    Some(Cells {
        slots,
        groups,
        uneven: false,
    })
}

/// Where intervals begin and end, in order; of those that are near each other the last.
fn ends(slots: &[Slot]) -> Vec<Nanos> {
    let shortest = slots.iter().map(|s| s.interval).filter(|i| *i > 0.0);
    let near = (shortest.fold(f64::INFINITY, f64::min).min(1e9) * NEAR * 1e9) as Nanos;
    let mut all: Vec<Nanos> = slots.iter().flat_map(|s| [s.from(), s.time]).collect();
    all.sort_unstable();
    let mut ends: Vec<Nanos> = Vec::with_capacity(all.len());
    // Since the first of those that are near.
    let mut first = Nanos::MIN;
    for end in all {
        if ends.is_empty() || end.saturating_sub(first) > near {
            first = end;
            ends.push(end);
        } else if let Some(last) = ends.last_mut() {
            *last = end;
        }
    }
    ends
}
