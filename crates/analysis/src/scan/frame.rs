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
            self.after.interval = (last.saturating_sub(from) as f64 / 1e9).max(1e-9);
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

/// Intervals of a run without samples, which another program wrote: as long as was asked for.
fn even(manifest: &Manifest) -> Vec<Slot> {
    let every = manifest.every_seconds;
    let ended = manifest.ended.unwrap_or(manifest.started);
    let count = (ended.saturating_sub(manifest.started) as f64 / 1e9 / every).ceil();
    if !(1.0..=MOST).contains(&count) {
        return Vec::new();
    }
    let slot = |number: u32| {
        let end = (f64::from(number + 1) * every * 1e9) as Nanos;
        let time = manifest.started.saturating_add(end);
        Slot {
            time,
            interval: every,
            phase: phase_at(manifest, time),
        }
    };
    (0..count as u32).map(slot).collect()
}
