//! Traces of the block layer: blkparse's text and blktrace's binary files, to one event an I/O.

pub(crate) mod binary;
mod device;
pub(crate) mod events;
mod pairing;
pub(crate) mod text;

use std::collections::HashMap;

pub(crate) use device::name as device_name;

/// What happened to a request, as blkparse's letter.
pub(super) type Action = u8;

/// Name of a program, padded with zeros.
pub(super) type Comm = [u8; 16];

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Read,
    Write,
    Discard,
    Flush,
    /// Without data, and no flush.
    None,
}

/// What kind of request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) op: Op,
    pub(super) sync: bool,
    pub(super) metadata: bool,
    /// The device's cache is to be flushed before.
    pub(super) flushes: bool,
}

impl Kind {
    /// Of so many sectors: without any, a write that flushes is a flush and nothing more.
    pub(super) fn of(self, sectors: u32) -> Kind {
        match sectors {
            0 if self.flushes => Kind {
                op: Op::Flush,
                ..self
            },
            _ => self,
        }
    }
}

/// One line or record of a trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// Nanoseconds; of text since the trace began.
    pub(super) time: u64,
    pub(super) sector: u64,
    /// How many; of a split the low 32 bits of where the second part starts.
    pub(super) sectors: u32,
    /// Major number << 20 | minor.
    pub(super) device: u32,
    pub(super) pid: u32,
    pub(super) comm: Comm,
    pub(super) action: Action,
    pub(super) kind: Kind,
    pub(super) failed: bool,
}

/// As much of a name as the kernel keeps.
pub(super) fn comm(name: &[u8]) -> Comm {
    let mut comm = [0; 16];
    let end = memchr::memchr(0, name).unwrap_or(name.len()).min(16);
    comm[..end].copy_from_slice(&name[..end]);
    comm
}

/// Hashes a device and a sector: quick, and good enough for numbers that are not chosen to
/// collide.
#[derive(Clone, Copy, Default)]
pub(super) struct Mix(u64);

impl std::hash::Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// By device and sector.
pub(super) type Places<T> = HashMap<(u32, u64), T, std::hash::BuildHasherDefault<Mix>>;
