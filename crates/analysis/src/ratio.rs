//! Amounts by others: means of what happened, shares of time.

use std::collections::HashMap;

use run::Manifest;

use crate::answer::{Answer, Group, belongs, order, phase_key, sort_groups};
use crate::fold::{extremes, fill};
use crate::gather::Points;
use crate::plan::{Plan, ScanPlan};
use crate::scan::{Cells, KeyValue, Slot};

/// The answer of which `over` is above the line, and each of `under` below it.
pub(crate) fn ratio(
    mut answer: Answer,
    plan: &Plan,
    over: Cells,
    under: &[(&ScanPlan, Cells)],
    manifest: &Manifest,
) -> Answer {
    // The coarsest table's intervals are the common ones: finer ones add up into them.
    let grid = under
        .iter()
        .map(|(_, c)| &c.slots)
        .filter(|s| !s.is_empty())
        .fold(
            &over.slots,
            |least, s| if s.len() < least.len() { s } else { least },
        )
        .clone();
    let shortest = manifest.every_seconds / 2.0;
    let below: Vec<Below<'_>> = under.iter().map(|(p, c)| Below::new(p, c, &grid)).collect();
    for mut group in over.groups {
        if plan.over.table.sparse {
            let phase = phase_key(&plan.over, &group.key);
            fill(&mut group.amounts, &over.slots, |slot| {
                belongs(slot, phase, manifest)
            });
        }
        let above = onto(&group.amounts, &over.slots, &grid);
        let mut line: HashMap<u32, f64> = HashMap::new();
        for b in &below {
            if let Some(amounts) = b.of(&plan.over, &group.key) {
                amounts
                    .iter()
                    .for_each(|(place, v)| *line.entry(*place).or_default() += v);
            }
        }
        answer.groups.push(divide(
            group.key, &above, &line, &grid, plan.times, shortest,
        ));
    }
    answer.slots = grid;
    sort_groups(&mut answer);
    answer
}

/// Amounts below the line, by the part of the key that they have.
struct Below<'a> {
    plan: &'a ScanPlan,
    groups: HashMap<String, Vec<(u32, f64)>>,
}

impl<'a> Below<'a> {
    fn new(plan: &'a ScanPlan, cells: &Cells, grid: &[Slot]) -> Below<'a> {
        let groups = cells.groups.iter();
        let groups = groups
            .map(|g| (order(&g.key), onto(&g.amounts, &cells.slots, grid)))
            .collect();
        Below { plan, groups }
    }

    /// The amounts that belong below a group with `key` by `over`'s dimensions.
    fn of(&self, over: &ScanPlan, key: &[KeyValue]) -> Option<&Vec<(u32, f64)>> {
        let mine = self.plan.by.iter().map(|(place, _)| {
            let at = over.by.iter().position(|(p, _)| p == place);
            at.and_then(|i| key.get(i)).cloned()
        });
        let mine: Option<Vec<KeyValue>> = mine.collect();
        self.groups.get(&order(&mine?))
    }
}

/// A group's amounts, added into the intervals of `grid`.
fn onto(points: &Points, slots: &[Slot], grid: &[Slot]) -> Vec<(u32, f64)> {
    let mut out: Vec<(u32, f64)> = Vec::new();
    for (&place, &amount) in points.slots.iter().zip(&points.values) {
        // The first interval of the grid that ends at or after this one, and holds it: what
        // falls into a gap of the grid has nothing to be divided by.
        let slot = &slots[place as usize];
        let at = grid.partition_point(|s| s.time < slot.time) as u32;
        if grid
            .get(at as usize)
            .is_none_or(|s| s.from() >= slot.middle())
        {
            continue;
        }
        match out.last_mut() {
            Some((last, sum)) if *last == at => *sum += amount,
            _ => out.push((at, amount)),
        }
    }
    out
}

fn divide(
    key: Vec<KeyValue>,
    above: &[(u32, f64)],
    line: &HashMap<u32, f64>,
    grid: &[Slot],
    times: f64,
    shortest: f64,
) -> Group {
    let mut out = Group::unknown(key, above.len());
    let (mut top, mut bottom) = (0.0, 0.0);
    for &(place, amount) in above {
        let Some(&under) = line.get(&place) else {
            continue;
        };
        top += amount;
        bottom += under;
        if under > 0.0 {
            out.intervals += 1;
            out.seconds += grid[place as usize].interval;
            out.series.push((place, amount / under * times));
            out.weights.push(under);
        }
    }
    if bottom > 0.0 {
        out.mean = top / bottom * times;
    }
    extremes(&mut out, grid, shortest);
    out
}
