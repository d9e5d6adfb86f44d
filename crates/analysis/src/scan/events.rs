//! Reading a table of events into cells.
//!
//! Threads take the parts of a table as they come; what they found is put together by group
//! and interval.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use run::read::{Opened, Part, ReadError};
use run::{Manifest, Nanos, Run};

use super::event_rows::{Scanner, Tally};
use super::frame::Frame;
use super::{Cells, GroupCells, KeyValue, Slot};
use crate::gather::Points;
use crate::plan::ScanPlan;

/// Reads what `plan` asks for; `sampled` are all intervals of the run.
pub(super) fn scan(run: &Run, plan: &ScanPlan, sampled: Vec<Slot>) -> Result<Cells, ReadError> {
    let Some(table) = run.table(plan.table.name)? else {
        return Ok(Cells::default());
    };
    let frame = Frame::new(run, plan, sampled);
    let (first, last) = frame.bounds();
    let within = |p: &&Part| {
        p.range
            .is_none_or(|(low, high)| high > first && low <= last)
    };
    let parts: Vec<Part> = table.parts.iter().filter(within).copied().collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(parts.len()).max(1);
    let next = AtomicUsize::new(0);
    let work = || read_parts(&table, &parts, &next, plan, &frame, &run.manifest);
    let results: Vec<Result<Tally, ReadError>> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut results = vec![work()];
        for other in others {
            results.push(other.join().expect("scanning does not panic"));
        }
        results
    });
    let mut tallies = Vec::with_capacity(results.len());
    for tally in results {
        tallies.push(tally?);
    }
    Ok(join(tallies, frame, run.manifest.started))
}

/// Takes one part after the other, as long as there are any.
fn read_parts(
    table: &Opened<'_>,
    parts: &[Part],
    next: &AtomicUsize,
    plan: &ScanPlan,
    frame: &Frame,
    manifest: &Manifest,
) -> Result<Tally, ReadError> {
    let mut scanner = Scanner::new(plan, frame);
    let columns = scanner.columns();
    while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
        table.read(part, &columns, |batch| scanner.batch(batch))?;
    }
    Ok(scanner.finish(manifest))
}

/// Puts the groups of all threads together.
fn join(tallies: Vec<Tally>, frame: Frame, started: Nanos) -> Cells {
    let mut seen = vec![false; frame.len()];
    let mut last = Nanos::MIN;
    let mut places: HashMap<Vec<KeyPart>, usize> = HashMap::new();
    let mut groups: Vec<GroupCells> = Vec::new();
    for tally in tallies {
        last = last.max(tally.last);
        seen.iter_mut()
            .zip(tally.seen)
            .for_each(|(all, one)| *all |= one);
        for group in tally.groups {
            let key = group.key.iter().map(KeyPart::of).collect();
            match places.entry(key) {
                std::collections::hash_map::Entry::Occupied(at) => {
                    let known = &mut groups[*at.get()].amounts;
                    known.slots.extend(group.amounts.slots);
                    known.values.extend(group.amounts.values);
                }
                std::collections::hash_map::Entry::Vacant(at) => {
                    at.insert(groups.len());
                    groups.push(group);
                }
            }
        }
    }
    let (slots, places) = frame.finish(&seen, started, last);
    for group in &mut groups {
        in_order(&mut group.amounts);
        for place in &mut group.amounts.slots {
            *place = places[*place as usize];
        }
    }
    Cells { slots, groups }
}

/// A key's value, to look it up by.
#[derive(PartialEq, Eq, Hash)]
enum KeyPart {
    Word(String),
    Number(u64),
}

impl KeyPart {
    fn of(value: &KeyValue) -> KeyPart {
        match value {
            KeyValue::Word(word) => KeyPart::Word(word.clone()),
            KeyValue::Number(number) => KeyPart::Number(number.to_bits()),
        }
    }
}

/// Sorts amounts by interval and adds up those of the same.
fn in_order(points: &mut Points) {
    if points.slots.is_sorted_by(|a, b| a < b) {
        return;
    }
    let both = points.slots.iter().copied().zip(points.values.drain(..));
    let mut both: Vec<(u32, f64)> = both.collect();
    both.sort_by_key(|(slot, _)| *slot);
    points.slots.clear();
    for (slot, value) in both {
        match points.values.last_mut() {
            Some(last) if points.slots.last() == Some(&slot) => *last += value,
            _ => {
                points.slots.push(slot);
                points.values.push(value);
            }
        }
    }
}
