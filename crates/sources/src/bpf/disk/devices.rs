//! Devices that the program has seen: where its maps have them, and what they are called.
//!
//! A device that is gone gives its place and its histograms back, for others. The program does not
//! know that it has gone, so it is the recorder that clears them, once nothing more can come.

use std::collections::BTreeSet;
use std::io;

use aya::maps::{Array, MapData, Queue};
use run::{Sink, Word};

use super::at_depth::{AtDepth, State};
use super::listed::{Listed, human};
use super::{BLOCK, OPS, WEIGHTS};
use crate::bpf::cells::Blocks;
use crate::bpf::load::{Lanes, Loaded};
use crate::proc::disk::layer;
use crate::{Availability, Host, NO_ROOM};

/// Devices that the program has places for.
pub(super) const PLACES: usize = 128;
/// Numbers of a device in the program's map: 256 bytes.
const WORDS: usize = 32;
const NAME: std::ops::Range<usize> = 28..48;
/// Numbers of the sums of an operation, and which is which.
pub(super) const SUMS: usize = 4;

/// What the program adds up of a device, by operation.
pub(super) type Sums = [u64; OPS * SUMS];

/// Samples in a row in which a device that has gone did nothing, until its place is free: what was
/// told of its last I/Os has been read by then.
const SAMPLES_GONE: u32 = 2;

/// What the program's map has of a device (`struct device`).
#[derive(Clone, Copy)]
pub(super) struct Device([u64; WORDS]);

impl Device {
    /// Its numbers; 0: there is none.
    fn key(&self) -> u64 {
        self.0[0]
    }

    /// The block of an operation.
    pub(super) fn block(&self, op: usize) -> Option<u32> {
        // Two numbers share a word of 64 bits.
        let number = (self.0[1 + op / 2] >> (32 * (op % 2))) as u32;
        number.checked_sub(1)
    }

    /// Where the time at its depths is.
    pub(super) fn weights(&self) -> Option<u32> {
        (self.0[3] as u32).checked_sub(1)
    }

    /// What is under way.
    pub(super) fn state(&self) -> State {
        State(self.0[8])
    }

    fn name(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().flat_map(|w| w.to_ne_bytes()).collect();
        let name = &bytes[NAME];
        let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
        human(&crate::read::text(&name[..end]))
    }

    /// Whether its name is there.
    fn is_ready(&self) -> bool {
        self.0[6] as u32 > 0
    }

    /// Whether an operation found no block.
    fn is_lacking(&self) -> bool {
        self.0[6] >> 32 > 0
    }
}

/// A device that was seen.
pub(super) struct Known {
    pub(super) place: usize,
    key: u64,
    name: String,
    words: Option<[Word; 2]>,
    /// Its sums at the last sample, and as they were read last.
    pub(super) sums: Sums,
    pub(super) gathered: Sums,
    pub(super) state: State,
    pub(super) at_depth: AtDepth,
    /// Samples in a row in which it was not there and did nothing.
    gone: u32,
}

impl Known {
    fn new(place: usize, device: &Device) -> Known {
        Known {
            place,
            key: device.key(),
            name: device.name(),
            words: None,
            sums: [0; OPS * SUMS],
            gathered: [0; OPS * SUMS],
            state: State::default(),
            at_depth: AtDepth::default(),
            gone: 0,
        }
    }

    /// Its name and layer.
    pub(super) fn words(&mut self, host: &Host, out: &mut Sink) -> [Word; 2] {
        let name = &self.name;
        let new = || [out.word(name), out.word(layer(host, name))];
        *self.words.get_or_insert_with(new)
    }

    /// Takes the name that its numbers have now; answers whether it is another.
    fn rename(&mut self, listed: &Listed) -> bool {
        match listed.name(self.key) {
            Some(name) if name != self.name => {
                name.clone_into(&mut self.name);
                self.words = None;
                true
            }
            _ => false,
        }
    }

    /// A sample in which it did something, or not.
    fn saw(&mut self, idle: bool, listed: &Listed) {
        self.gone = if idle && !listed.has(&self.name) {
            self.gone + 1
        } else {
            0
        };
    }
}

/// All that were seen.
pub(super) struct Devices {
    host: Host,
    map: Array<MapData, [u64; WORDS]>,
    totals: Array<MapData, Sums>,
    /// Blocks and weights given out, devices that got a place, I/Os of those that found none.
    counters: Array<MapData, [u32; 4]>,
    free_blocks: Queue<MapData, u32>,
    free_weights: Queue<MapData, u32>,
    lanes: u32,
    /// Devices that had got a place when it was looked last.
    met: u32,
    listed: Listed,
    pub(super) known: Vec<Known>,
    /// Names of those that found no room for a histogram.
    lacking: BTreeSet<String>,
    homeless: bool,
}

impl Devices {
    pub(super) fn of(
        loaded: &mut Loaded,
        host: &Host,
        lanes: Lanes,
    ) -> Result<Devices, Availability> {
        Ok(Devices {
            host: host.clone(),
            map: loaded.array("devices")?,
            totals: loaded.array("totals")?,
            counters: loaded.array("counters")?,
            free_blocks: loaded.queue("free_blocks")?,
            free_weights: loaded.queue("free_weights")?,
            lanes: lanes.count,
            met: 0,
            listed: Listed::default(),
            known: Vec::new(),
            lacking: BTreeSet::new(),
            homeless: false,
        })
    }

    /// What the program has of the device at that place now.
    pub(super) fn at(&self, place: usize) -> io::Result<Device> {
        let device = self.map.get(&(place as u32), 0);
        device.map(Device).map_err(io::Error::other)
    }

    /// What it has added up of that device.
    pub(super) fn sums(&self, place: usize) -> io::Result<Sums> {
        let mut sums = [0_u64; OPS * SUMS];
        for lane in 0..self.lanes {
            let key = place as u32 * self.lanes + lane;
            let lane = self.totals.get(&key, 0).map_err(io::Error::other)?;
            for (sum, value) in sums.iter_mut().zip(lane) {
                *sum = sum.wrapping_add(value);
            }
        }
        Ok(sums)
    }

    /// Learns devices that are new, and new names of others where the kernel `told` of devices.
    /// Answers whether one has another name now: what it did since the last sample has the new
    /// one, as a disk that comes is read, and one that is taken away was left in peace.
    pub(super) fn meet(&mut self, told: bool) -> io::Result<bool> {
        let [.., met, homeless] = self.counters.get(&0, 0).map_err(io::Error::other)?;
        self.homeless |= homeless > 0;
        let is_new = met != self.met;
        if told || is_new || self.known.iter().any(|k| k.gone > 0) {
            self.listed = Listed::now(&self.host);
        }
        let mut renamed = false;
        if told {
            for known in &mut self.known {
                renamed |= known.rename(&self.listed);
            }
        }
        if is_new {
            self.met = met;
            for place in 0..PLACES {
                if self.known.iter().all(|k| k.place != place) {
                    let device = self.at(place)?;
                    self.learn(place, device);
                }
            }
        }
        Ok(renamed)
    }

    fn learn(&mut self, place: usize, device: Device) {
        if device.key() == 0 || !device.is_ready() {
            return;
        }
        let mut known = Known::new(place, &device);
        known.rename(&self.listed);
        self.known.push(known);
    }

    /// After a sample of `known`: what the program has of it, and whether it did anything.
    pub(super) fn saw(&mut self, known: &mut Known, device: &Device, idle: bool) {
        known.saw(idle, &self.listed);
        if device.is_lacking() && !self.lacking.contains(&known.name) {
            self.lacking.insert(known.name.clone());
        }
    }

    /// Gives back what devices had that are gone; answers whether there were any.
    pub(super) fn free(
        &mut self,
        blocks: &mut Blocks<BLOCK>,
        weights: &mut Blocks<WEIGHTS>,
    ) -> io::Result<bool> {
        let is_gone = |k: &Known| k.gone >= SAMPLES_GONE;
        let Some(at) = self.known.iter().position(is_gone) else {
            return Ok(false);
        };
        // One at a time: there is no hurry, and a sample stays cheap.
        let place = self.known[at].place as u32;
        let device = self.at(self.known[at].place)?;
        if device.state() != self.known[at].state {
            self.known[at].gone = 0;
            return Ok(false);
        }
        // Should it come again right now, its I/O finds a place that is free, and takes it.
        for lane in 0..self.lanes {
            let key = place * self.lanes + lane;
            let none = [0; OPS * SUMS];
            self.totals.set(key, none, 0).map_err(io::Error::other)?;
        }
        let none = [0; WORDS];
        self.map.set(place, none, 0).map_err(io::Error::other)?;
        self.known.remove(at);
        for number in (0..OPS).filter_map(|op| device.block(op)) {
            blocks.clear(number).map_err(io::Error::other)?;
            let free = self.free_blocks.push(number + 1, 0);
            free.map_err(io::Error::other)?;
        }
        if let Some(number) = device.weights() {
            weights.clear(number).map_err(io::Error::other)?;
            let free = self.free_weights.push(number + 1, 0);
            free.map_err(io::Error::other)?;
        }
        Ok(true)
    }

    /// What could not be kept for want of room.
    pub(super) fn lacking(&self) -> String {
        let mut texts = Vec::new();
        if !self.lacking.is_empty() {
            let names: Vec<&str> = self.lacking.iter().map(String::as_str).collect();
            texts.push(format!("histograms of {}", names.join(", ")));
        }
        if self.homeless {
            texts.push(format!("more than {PLACES} devices"));
        }
        if texts.is_empty() {
            return String::new();
        }
        format!("{NO_ROOM}{}", texts.join(", nor for "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_read_as_the_program_writes_it() {
        let mut device = Device([0; WORDS]);
        assert!(!device.is_ready());
        device.0[0] = (259 << 20) + 1;
        device.0[1] = 8 | 9 << 32;
        device.0[2] = 3 << 32;
        device.0[3] = 5 | u64::from(u32::from_ne_bytes(*b"ccis")) << 32;
        device.0[4] = u64::from_ne_bytes(*b"s!c0d0\0x");
        device.0[6] = 1 | 4 << 32;
        device.0[8] = 77 << 16 | 3;
        assert_eq!(device.name(), "cciss/c0d0");
        let blocks = [0, 1, 2, 3].map(|op| device.block(op));
        assert_eq!(blocks, [Some(7), Some(8), None, Some(2)]);
        assert_eq!(device.weights(), Some(4));
        assert_eq!(device.state().depth(), 3);
        assert!(device.is_ready() && device.is_lacking());
    }

    const DYNAMIC: u64 = (259 << 20) + 1;

    /// `nvme0n1`, as the program has it.
    fn known() -> Known {
        let mut device = Device([0; WORDS]);
        device.0[0] = DYNAMIC;
        device.0[3] = u64::from(u32::from_ne_bytes(*b"nvme")) << 32;
        device.0[4] = u64::from(u32::from_ne_bytes(*b"0n1\0"));
        Known::new(3, &device)
    }

    #[test]
    fn a_device_that_got_the_number_of_another_has_its_own_name() {
        let (mut known, host, mut out) = (known(), Host::at("/nonexistent"), Sink::new());
        let before = known.words(&host, &mut out);
        assert!(!known.rename(&Listed::of(&[(DYNAMIC, "nvme0n1", true)])));
        assert_eq!(known.words(&host, &mut out), before);
        // It is gone, and nobody has the number yet.
        assert!(!known.rename(&Listed::default()));
        let listed = Listed::of(&[(DYNAMIC, "nvme1n1", true)]);
        assert!(known.rename(&listed));
        let after = known.words(&host, &mut out);
        assert_eq!(out.words.text(before[0]), Some("nvme0n1"));
        assert_eq!(out.words.text(after[0]), Some("nvme1n1"));
        assert!(!known.rename(&listed));
    }

    #[test]
    fn a_place_is_free_when_nothing_more_can_come() {
        let mut known = known();
        let there = Listed::of(&[(DYNAMIC, "nvme0n1", true)]);
        let unset = Listed::of(&[(DYNAMIC, "nvme0n1", false)]);
        for (idle, listed, gone) in [
            (true, &there, 0),
            (false, &unset, 0),
            (true, &unset, 1),
            (true, &there, 0),
            (true, &unset, 1),
            (true, &Listed::default(), SAMPLES_GONE),
            (false, &Listed::default(), 0),
        ] {
            known.saw(idle, listed);
            assert_eq!(known.gone, gone, "{listed:?}");
        }
    }
}
