//! The intervals into which events fall.
//!
//! An event has a time and no interval. It belongs to the interval of the run's samples that
//! holds its time, ends included, so that its rates stand beside those of other tables and
//! phases mean the same. Events in a gap between samples (the recorder stood still) or after
//! the last one get an interval of their own, as long as the gap: no event is lost, and no
//! rate is too high.

use run::{Manifest, Nanos, Run};

use super::{Slot, passes, phase_at};
use crate::plan::ScanPlan;

/// Intervals, in order of time, without gaps; the last one has no end.
pub(super) struct Frame {
    slots: Vec<Slot>,
    /// Whether each was sampled; the others count only if there was an event.
    sampled: Vec<bool>,
    /// What comes after the last one; its length is known in the end.
    after: Slot,
    /// Whether the tests of time hold for each, then for what comes after.
    passes: Vec<bool>,
    /// How far after its end an event still belongs to the last interval: a source is read a
    /// little after the sample was due.
    slack: Nanos,
}

impl Frame {
    /// Of `sampled` intervals of `run`; the tests of time of `plan` are looked at.
    pub(super) fn new(run: &Run, plan: &ScanPlan, mut sampled: Vec<Slot>) -> Frame {
        let manifest = &run.manifest;
        let every = manifest.every_seconds;
        let slack = (every * 0.5e9).clamp(0.0, 3.6e12) as Nanos;
        if sampled.is_empty() {
            sampled = even(manifest);
        }
        sampled.sort_by_key(|s| s.time);
        sampled.dedup_by_key(|s| s.time);
        let last = sampled.last().map_or(manifest.started, |s| s.time);
        let time = last.saturating_add(slack.max(1));
        let mut frame = Frame {
            slots: Vec::with_capacity(sampled.len()),
            sampled: Vec::with_capacity(sampled.len()),
            after: Slot {
                time,
                interval: every,
                phase: phase_at(manifest, time),
            },
            passes: Vec::new(),
            slack,
        };
        let mut before = manifest.started;
        for slot in sampled {
            if slot.from() > before.saturating_add(slack) {
                frame.gap(before, slot.from(), manifest);
            }
            before = slot.time;
            frame.slots.push(slot);
            frame.sampled.push(true);
        }
        let all = frame.slots.iter().chain([&frame.after]);
        frame.passes = all.map(|s| passes(plan, manifest, s)).collect();
        frame
    }

    fn gap(&mut self, from: Nanos, to: Nanos, manifest: &Manifest) {
        self.slots.push(Slot {
            time: to,
            interval: to.saturating_sub(from) as f64 / 1e9,
            phase: phase_at(manifest, to),
        });
        self.sampled.push(false);
    }

    /// How many intervals there are, with the one after the last.
    pub(super) fn len(&self) -> usize {
        self.slots.len() + 1
    }

    /// Whether events of the interval at `place` are wanted.
    pub(super) fn wants(&self, place: u32) -> bool {
        self.passes.get(place as usize).copied().unwrap_or(false)
    }

    /// Phase of the interval at `place`.
    pub(super) fn phase(&self, place: u32) -> Option<u32> {
        self.slots.get(place as usize).unwrap_or(&self.after).phase
    }

    /// The interval that holds `time`: its place, and the times that it holds, after the
    /// first and up to the second.
    pub(super) fn at(&self, time: Nanos) -> (u32, Nanos, Nanos) {
        let place = self.slots.partition_point(|s| s.time < time);
        let end = |p: usize| self.slots.get(p).map_or(Nanos::MAX, |s| s.time);
        let start = place.checked_sub(1).map_or(Nanos::MIN, end);
        let last = self.slots.len().checked_sub(1);
        match last {
            // The slack of the last one belongs to it.
            Some(last) if place > last && time <= end(last).saturating_add(self.slack) => {
                (last as u32, start, end(last).saturating_add(self.slack))
            }
            Some(last) if place > last => (
                place as u32,
                end(last).saturating_add(self.slack),
                Nanos::MAX,
            ),
            _ => (place as u32, start, end(place)),
        }
    }

    /// Times outside of which no event is wanted: after the first, up to the second.
    pub(super) fn bounds(&self) -> (Nanos, Nanos) {
        let Some(first) = self.passes.iter().position(|p| *p) else {
            return (Nanos::MAX, Nanos::MIN);
        };
        let last = self.passes.iter().rposition(|p| *p).unwrap_or(first);
        let from = first.checked_sub(1).and_then(|p| self.slots.get(p));
        let to = match self.slots.get(last) {
            Some(slot) if last + 1 < self.slots.len() => slot.time,
            _ => Nanos::MAX,
        };
        (from.map_or(Nanos::MIN, |s| s.time), to)
    }

    /// The intervals of the answer, and for each of the frame its place among them. `seen`
    /// tells which had events, `last` when the last event was in a run that `started` then.
    pub(super) fn finish(
        mut self,
        seen: &[bool],
        started: Nanos,
        last: Nanos,
    ) -> (Vec<Slot>, Vec<u32>) {
        if seen.last() == Some(&true) {
            let from = self.slots.last().map_or(started, |s| s.time);
            // What all happened at one moment keeps the interval asked for: of none there are no rates.
            if last > from {
                self.after.interval = (last - from) as f64 / 1e9;
            }
            self.after.time = last;
            self.slots.push(self.after);
            self.sampled.push(false);
        }
        let mut slots = Vec::with_capacity(self.slots.len());
        let mut places = Vec::with_capacity(self.len());
        for (place, slot) in self.slots.into_iter().enumerate() {
            places.push(slots.len() as u32);
            let counts = self.sampled[place] || seen.get(place) == Some(&true);
            if counts && self.passes[place] {
                slots.push(slot);
            }
        }
        (slots, places)
    }
}

/// Most intervals that are made up.
const MOST: f64 = 1e6;

/// What is left at the end, as a share of an interval, that is none of its own: a rate of so short a time
/// would be the greatest or the least.
const REST: f64 = 0.5;

/// Intervals of a run without samples, as of imported events: as long as was asked for, and the last
/// one up to the end of the run.
fn even(manifest: &Manifest) -> Vec<Slot> {
    let every = manifest.every_seconds;
    let started = manifest.started;
    let ended = manifest.ended.unwrap_or(started);
    let length = ended.saturating_sub(started) as f64 / 1e9;
    let count = (length / every - REST).ceil().max(1.0);
    if length <= 0.0 || !(1.0..=MOST).contains(&count) {
        return Vec::new();
    }
    let count = count as u32;
    let end = |number: u32| started.saturating_add((f64::from(number) * every * 1e9) as Nanos);
    let slot = |number: u32| {
        let is_last = number + 1 == count;
        let time = if is_last { ended } else { end(number + 1) };
        let interval = if is_last {
            time.saturating_sub(end(number)) as f64 / 1e9
        } else {
            every
        };
        Slot {
            time,
            interval,
            phase: phase_at(manifest, time),
        }
    };
    (0..count).map(slot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends and lengths of the intervals of a run that long, in seconds.
    fn of(length: f64) -> Vec<[f64; 2]> {
        let mut manifest = Manifest::new("host", 1_000_000_000, 1.0);
        manifest.ended = Some(manifest.started + (length * 1e9).round() as Nanos);
        let seconds = |slot: &Slot| [(slot.time - manifest.started) as f64 / 1e9, slot.interval];
        even(&manifest).iter().map(seconds).collect()
    }

    #[test]
    fn the_last_interval_ends_with_the_run() {
        assert_eq!(of(0.25), [[0.25, 0.25]]);
        assert_eq!(of(2.0), [[1.0, 1.0], [2.0, 1.0]]);
        assert_eq!(of(2.75), [[1.0, 1.0], [2.0, 1.0], [2.75, 0.75]]);
        // A short rest is none of its own, and what is of one moment has no length.
        assert_eq!(of(2.25), [[1.0, 1.0], [2.25, 1.25]]);
        assert_eq!(of(0.0), [[0.0; 2]; 0]);
    }
}
