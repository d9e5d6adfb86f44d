//! This host, live, as tables. Observes only: never changes a setting, never starts a
//! program.
//!
//! A source reads some of the kernel's files and fills some of the catalog's tables. To add
//! one: a file below [`proc`], and a line in [`SOURCES`].

#[cfg(feature = "ebpf")]
pub mod bpf;
#[cfg(not(feature = "ebpf"))]
#[path = "bpf/absent.rs"]
pub mod bpf;
pub mod cgroup;
pub mod host;
pub mod inventory;
pub mod proc;
pub mod read;
#[cfg(test)]
mod replay;
pub mod slot;

use std::os::fd::BorrowedFd;

use run::manifest::Program;
use run::{Nanos, Sink};

pub use host::{Availability, Detail, Host, Look};

/// Something that observes this host.
pub trait Source: Send {
    /// Reads the kernel's counters now.
    ///
    /// With `interval` (the seconds since this source was read last) it appends a row an
    /// instance for that interval to `out`, whose time is already set. Without, this is the
    /// first reading: it only remembers the counters. An instance that is new since the last
    /// reading counts from zero if it came into being meanwhile.
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> std::io::Result<()>;

    /// Between two samples that are far apart: takes what the kernel counts in numbers that could
    /// run over until the next, and keeps it for that. Answers whether there is any such.
    fn gather(&mut self) -> std::io::Result<bool> {
        Ok(false)
    }

    /// Appends the events that wait; answers with how many. `offset` is the run's clock less
    /// `CLOCK_MONOTONIC`, by which programs in the kernel tell times.
    fn drain(&mut self, _offset: Nanos, _out: &mut Sink) -> u64 {
        0
    }

    /// Readable when events should be drained before the next sample.
    fn ready(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// What was lost of its events, all in all.
    fn lost(&mut self) -> Option<Lost> {
        None
    }

    /// Of events that come too fast, tell one in `n` from now on.
    fn one_in(&mut self, _n: u32) {}

    /// What became of its programs in the kernel. `seconds`: how long the kernel has measured
    /// their time since this was asked last.
    fn measured(&mut self, _seconds: f64) -> Vec<Program> {
        vec![]
    }
}

/// How long after a reading [`Source::gather`] is due. The narrowest numbers are 32 bits of bytes by which
/// segments of a size exceed the lower end of its bucket, a 64th of it at most: at 100 Gb/s of
/// segments of 64 KiB they last 22 s. The next are 32 bits of sectors, 2 TiB.
pub const GATHER_AFTER: Nanos = 10_000_000_000;

/// How the detail of a program begins that had no room for all that it was to count: whoever records
/// is told of that at once, not only who asks for the programs.
pub const NO_ROOM: &str = "no room for ";

/// What a source in the kernel could not keep, since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// The table of its events.
    pub table: &'static str,
    /// Events for which there was no room.
    pub dropped: u64,
    /// What the program could not follow, and counted nowhere, or not by itself.
    pub unseen: u64,
}

/// What [`SOURCES`] says of a source.
pub struct Entry {
    /// The name in `--sources` and in the manifest.
    pub name: &'static str,
    /// One sentence: what it observes.
    pub help: &'static str,
    /// Kernel files it reads, for people.
    pub reads: &'static str,
    /// Where the kernel documents them.
    pub link: &'static str,
    /// How deep one has to look to see it.
    pub detail: Detail,
    /// Opens it, or says why not.
    pub open: fn(&Host) -> Result<Box<dyn Source>, Availability>,
}

/// Every source, in the order in which a sample reads them.
pub const SOURCES: &[Entry] = &[
    proc::stat::ENTRY,
    proc::pressure::ENTRY,
    proc::memory::ENTRY,
    proc::vm::ENTRY,
    proc::disk::ENTRY,
    proc::nfs::ENTRY,
    proc::nfsd::ENTRY,
    proc::zfs::ENTRY,
    proc::net::ENTRY,
    proc::snmp::ENTRY,
    proc::softnet::ENTRY,
    proc::filesystem::ENTRY,
    proc::power::ENTRY,
    proc::temperature::ENTRY,
    proc::process::ENTRY,
    cgroup::ENTRY,
    bpf::disk::ENTRY,
    bpf::net::ENTRY,
    bpf::tcp::ENTRY,
    bpf::cpu::ENTRY,
    bpf::nfs::ENTRY,
    bpf::nfs_client::ENTRY,
    bpf::file::ENTRY,
];

/// Sources that are opened only when their subject is asked for, as they make the machine
/// slower: `--with file`.
const ONLY_WITH: &[(&str, &str)] = &[("bpf-file", "file")];

/// Sources in the kernel of what few machines have, and the source that is available where one
/// does: nobody misses them elsewhere.
const ONLY_WHERE: &[(&str, &str)] = &[("bpf-nfs", "nfsd"), ("bpf-nfs-client", "nfs")];

impl Entry {
    /// The source without which this one has nothing to observe, if any.
    pub fn only_where(&self) -> Option<&'static str> {
        let found = ONLY_WHERE.iter().find(|(source, _)| *source == self.name);
        found.map(|(_, other)| *other)
    }

    /// The subject that has to be asked for with `--with`, if any.
    pub fn only_with(&self) -> Option<&'static str> {
        let found = ONLY_WITH.iter().find(|(source, _)| *source == self.name);
        found.map(|(_, subject)| *subject)
    }

    /// Whether one looks that deep, and asked for it where that is needed.
    pub fn wanted(&self, look: &Look) -> bool {
        let asked = |subject| look.with.iter().any(|w| w == subject);
        self.detail <= look.detail && self.only_with().is_none_or(asked)
    }
}
