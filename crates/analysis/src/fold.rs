//! The numbers of one group: what its intervals add up to, least and greatest.

use run::Manifest;
use run::catalog::Kind;

use crate::answer::{Group, belongs};
use crate::gather::{Points, Totals, holds, within};
use crate::scan::{GroupCells, KeyValue, Slot};

/// Puts zeros where a sparse table has no row.
pub(crate) fn fill(points: &mut Points, slots: &[Slot], belongs: impl Fn(&Slot) -> bool) {
    let Points {
        slots: places,
        values,
    } = points;
    let has_unknown = values.iter().any(|value| value.is_nan());
    if places.len() == slots.len() && !has_unknown {
        return;
    }
    let (mut full_places, mut full_values) = (Vec::new(), Vec::new());
    let mut known = places.iter().zip(values.iter()).peekable();
    for (i, slot) in slots.iter().enumerate() {
        let place = i as u32;
        let value = known.next_if(|(p, _)| **p == place).map(|(_, v)| *v);
        let value = match value {
            None => belongs(slot).then_some(0.0),
            // What is not known is no amount.
            Some(value) => (!value.is_nan()).then_some(value),
        };
        if let Some(value) = value {
            full_places.push(place);
            full_values.push(value);
        }
    }
    (*places, *values) = (full_places, full_values);
}

/// The numbers of one group.
pub(crate) fn fold(
    GroupCells { key, amounts }: GroupCells,
    slots: &[Slot],
    kind: Kind,
    shortest: f64,
) -> Group {
    let mut out = Group::unknown(key, amounts.slots.len());
    out.intervals = amounts.slots.len() as u64;
    let (mut total, mut weighted) = (0.0, 0.0);
    for (&place, &amount) in amounts.slots.iter().zip(&amounts.values) {
        let interval = slots[place as usize].interval;
        out.seconds += interval;
        total += amount;
        weighted += amount * interval;
        let value = if kind == Kind::Sum {
            amount / interval
        } else {
            amount
        };
        out.series.push((place, value));
    }
    out.mean = if kind == Kind::Sum {
        total / out.seconds
    } else {
        weighted / out.seconds
    };
    out.total = (kind == Kind::Sum).then_some(total);
    extremes(&mut out, slots, shortest);
    out
}

/// Least and greatest over intervals that are long enough; over all if none is, or if the
/// mean lies outside.
pub(crate) fn extremes(group: &mut Group, slots: &[Slot], shortest: f64) {
    let over = |least_interval: f64| {
        let long = |place: u32| slots[place as usize].interval >= least_interval;
        let values = group.series.iter().filter(|(place, _)| long(*place));
        // `min` and `max` pass over NaN.
        values.fold([f64::NAN; 2], |[least, greatest], (_, value)| {
            [least.min(*value), greatest.max(*value)]
        })
    };
    let long = over(shortest);
    let chosen = if holds(long, group.mean) {
        long
    } else {
        over(0.0)
    };
    [group.min, group.max] = chosen;
    group.mean = within(group.mean, chosen);
}

/// What the intervals of a sum add up to where those without a row are zero.
pub(crate) struct Zeros<'a> {
    slots: &'a [Slot],
    manifest: &'a Manifest,
    shortest: f64,
    /// Of each phase asked for: intervals, seconds, and how many are long enough.
    known: Vec<(Option<KeyValue>, [u64; 2], f64)>,
}

impl<'a> Zeros<'a> {
    /// Of `slots` of a run with `manifest`.
    pub(crate) fn new(slots: &'a [Slot], manifest: &'a Manifest) -> Zeros<'a> {
        Zeros {
            slots,
            manifest,
            shortest: manifest.every_seconds / 2.0,
            known: Vec::new(),
        }
    }

    /// Intervals of `phase`, of those the long ones, and the seconds of all.
    fn of(&mut self, phase: Option<KeyValue>) -> ([u64; 2], f64) {
        if let Some((_, counts, seconds)) = self.known.iter().find(|k| k.0 == phase) {
            return (*counts, *seconds);
        }
        let (mut counts, mut seconds) = ([0, 0], 0.0);
        let all = self.slots.iter();
        for slot in all.filter(|s| belongs(s, phase.as_ref(), self.manifest)) {
            counts[0] += 1;
            counts[1] += u64::from(slot.interval >= self.shortest);
            seconds += slot.interval;
        }
        self.known.push((phase, counts, seconds));
        (counts, seconds)
    }

    /// The numbers of a group, which has a phase if they are split by it.
    pub(crate) fn fold(
        &mut self,
        key: Vec<KeyValue>,
        totals: &Totals,
        phase: Option<KeyValue>,
    ) -> Group {
        let ([intervals, long], seconds) = self.of(phase);
        let total = totals.amount;
        // Over the long intervals, and over all: how many have a row, least, greatest.
        let seen = [
            (totals.long, totals.extremes[0]),
            (totals.intervals, totals.extremes[1]),
        ];
        let mean = total / seconds;
        let with_zero = |(count, [least, greatest]): (u64, [f64; 2]), of: u64| {
            if count < of {
                [least.min(0.0), greatest.max(0.0)]
            } else {
                [least, greatest]
            }
        };
        let (long, all) = (with_zero(seen[0], long), with_zero(seen[1], intervals));
        let [min, max] = if holds(long, mean) { long } else { all };
        Group {
            key,
            total: Some(total),
            mean: within(mean, [min, max]),
            min,
            max,
            intervals,
            seconds,
            series: Vec::new(),
            weights: Vec::new(),
        }
    }
}
