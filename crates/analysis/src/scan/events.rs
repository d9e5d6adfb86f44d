//! Reading a table of events into cells.
//!
//! Threads take the parts of a table as they come; what they found is put together by group
//! and interval.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};

use run::catalog::Stored;
use run::read::{Part, ReadError};
use run::{Nanos, Run};

use super::event_rows::{Scanner, Tally};
use super::frame::Frame;
use super::{Cells, GroupCells, KeyValue, Slot};
use crate::gather::Points;
use crate::plan::ScanPlan;

/// Reads each of `made`, of the events that `plan` asks for; `sampled` are all intervals of
/// the run.
pub(super) fn scan(
    run: &Run,
    plan: &ScanPlan,
    made: &[Option<Stored>],
    sampled: Vec<Slot>,
) -> Result<Vec<Cells>, ReadError> {
    let Some(table) = run.table(plan.table.name)? else {
        return Ok(made.iter().map(|_| Cells::default()).collect());
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
    let work = || {
        let mut scanner = Scanner::new(plan, made, &frame);
        let columns = scanner.columns();
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            if plan.bounds.is_over() {
                break;
            }
            table.read(part, &columns, |batch| scanner.batch(batch))?;
        }
        Ok(scanner.finish(&run.manifest))
    };
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

/// Puts together what all threads found, for each amount.
fn join(tallies: Vec<Tally>, frame: Frame, started: Nanos) -> Vec<Cells> {
    let mut seen = vec![false; frame.len()];
    let mut last = Nanos::MIN;
    let mut found: Vec<Vec<Vec<GroupCells>>> = Vec::new();
    for tally in tallies {
        last = last.max(tally.last);
        let both = seen.iter_mut().zip(tally.seen);
        both.for_each(|(all, one)| *all |= one);
        found.resize_with(tally.groups.len(), Vec::new);
        let both = found.iter_mut().zip(tally.groups);
        both.for_each(|(all, one)| all.push(one));
    }
    let (slots, places) = frame.finish(&seen, started, last);
    let cells = |threads| Cells {
        slots: slots.clone(),
        groups: join_groups(threads, &places),
        uneven: false,
    };
    found.into_iter().map(cells).collect()
}

/// Puts the groups of all threads together, and intervals at their `places`.
fn join_groups(threads: Vec<Vec<GroupCells>>, places: &[u32]) -> Vec<GroupCells> {
    let mut known: HashMap<Vec<KeyPart>, usize> = HashMap::new();
    let mut groups: Vec<GroupCells> = Vec::new();
    for group in threads.into_iter().flatten() {
        let key = group.key.iter().map(KeyPart::of).collect();
        match known.entry(key) {
            Entry::Occupied(at) => {
                let amounts = &mut groups[*at.get()].amounts;
                amounts.slots.extend(group.amounts.slots);
                amounts.values.extend(group.amounts.values);
            }
            Entry::Vacant(at) => {
                at.insert(groups.len());
                groups.push(group);
            }
        }
    }
    for group in &mut groups {
        in_order(&mut group.amounts);
        for place in &mut group.amounts.slots {
            *place = places[*place as usize];
        }
    }
    groups
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
