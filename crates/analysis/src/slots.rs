//! The intervals in which a sparse table was sampled.
//!
//! A sparse table leaves out what had nothing to say, so its own rows do not tell how long
//! it was watched. Another table of the same source does.

use run::Nanos;
use run::Run;
use run::catalog;
use run::read::ReadError;

use crate::answer::belongs;
use crate::plan::{Key, ScanPlan};
use crate::scan::{Cells, GroupCells, KeyValue, Slot, phase_name, scan};

impl Slot {
    /// When it starts.
    pub fn from(&self) -> Nanos {
        self.time - (self.interval * 1e9) as Nanos
    }

    /// Half way between its start and its end. Lengths are taken from reading to reading and
    /// ends are ticks, so that neighbours may seem to overlap a little; their middles do not.
    pub fn middle(&self) -> Nanos {
        self.time - (self.interval * 0.5e9) as Nanos
    }
}

/// `cells` with the slots of `sampled` that it lacks.
///
/// An interval of the table's own that spans several of `sampled` (its source was read less
/// often) stands for them.
pub(crate) fn widen(mut cells: Cells, sampled: Vec<Slot>) -> Cells {
    let (slots, places) = together(&cells.slots, sampled);
    for group in &mut cells.groups {
        for place in &mut group.amounts.slots {
            *place = places[*place as usize];
        }
    }
    cells.slots = slots;
    cells
}

/// The slots of a table with those of `sampled` that it lacks, and where its own are now.
pub(crate) fn together(own: &[Slot], sampled: Vec<Slot>) -> (Vec<Slot>, Vec<u32>) {
    let mut slots: Vec<Slot> = Vec::with_capacity(sampled.len().max(own.len()));
    let mut places = Vec::with_capacity(own.len());
    let mut other = sampled.into_iter().peekable();
    for &own in own {
        while let Some(slot) = other.next_if(|s| s.time < own.time) {
            if slot.middle() <= own.from() {
                push(&mut slots, slot);
            }
        }
        other.next_if(|s| s.time == own.time);
        places.push(slots.len() as u32);
        slots.push(own);
    }
    other.for_each(|slot| push(&mut slots, slot));
    (slots, places)
}

/// Adds a slot that may be longer than what is left since the last one.
fn push(slots: &mut Vec<Slot>, mut slot: Slot) {
    if let Some(last) = slots.last()
        && slot.middle() < last.time
    {
        slot.interval = (slot.time - last.time) as f64 / 1e9;
    }
    slots.push(slot);
}

/// Seconds observed of a sparse table: an instance without a row had nothing to say, but was
/// observed like the others. Instances that never have a row are not known.
pub(crate) fn observed(run: &Run, plan: &ScanPlan) -> Result<Cells, ReadError> {
    let cells = scan(run, &by_instance(plan))?;
    let mut groups: Vec<(Vec<KeyValue>, f64)> = Vec::new();
    let keyed = plan.by.iter().filter(|(_, key)| *key != Key::Phase).count();
    for instance in &cells.groups {
        let key = &instance.key[..keyed];
        match groups.iter_mut().find(|g| g.0 == key) {
            Some((_, instances)) => *instances += 1.0,
            None => groups.push((key.to_vec(), 1.0)),
        }
    }
    let phase = plan.by.iter().position(|(_, key)| *key == Key::Phase);
    let mut out = Cells::default();
    for (key, instances) in groups {
        for named in phases(run, &cells.slots, phase.is_some()) {
            let mut key = key.clone();
            if let (Some(place), Some(name)) = (phase, &named) {
                key.insert(place, name.clone());
            }
            let mut group: GroupCells = GroupCells {
                key,
                ..GroupCells::default()
            };
            for (place, slot) in cells.slots.iter().enumerate() {
                if belongs(slot, named.as_ref(), &run.manifest) {
                    group.amounts.slots.push(place as u32);
                    group.amounts.values.push(instances * slot.interval);
                }
            }
            out.groups.push(group);
        }
    }
    out.slots = cells.slots;
    Ok(out)
}

/// `plan` by its own dimensions without the phase, then by the table's others.
fn by_instance(plan: &ScanPlan) -> ScanPlan {
    let mut each = plan.clone();
    each.by.retain(|(_, key)| *key != Key::Phase);
    let Some((subject, table)) = catalog::table(plan.table.name) else {
        return each;
    };
    for name in table.dimensions {
        let named = |key: &Key| matches!(key, Key::Word(n) | Key::Number(n) if n == name);
        if each.by.iter().any(|(_, key)| named(key)) {
            continue;
        }
        let number = subject.dimension(name).is_some_and(|d| d.number.is_some());
        let key = if number {
            Key::Number(name)
        } else {
            Key::Word(name)
        };
        each.by.push((usize::MAX, key));
    }
    each
}

/// The phases of `slots`; one `None` when they are not asked for.
fn phases(run: &Run, slots: &[Slot], wanted: bool) -> Vec<Option<KeyValue>> {
    if !wanted {
        return vec![None];
    }
    let mut found: Vec<Option<KeyValue>> = Vec::new();
    for slot in slots {
        let name = phase_name(&run.manifest, slot.phase).to_owned();
        let name = Some(KeyValue::Word(name));
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
