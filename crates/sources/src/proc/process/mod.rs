//! Processes, from `/proc/PID/{stat,io,schedstat}`.
//!
//! The largest by processor time, disk bytes and resident memory are named; all others are
//! added up as `(other)`, so that the parts sum to the whole. [`stat`] shows the files.
//!
//! What a row holds, and what is not seen:
//! - Times are clock ticks (mostly 10 ms), a process's own, all threads. Less than a tick is
//!   charged when the tick is full.
//! - `(exited)` is what children used that were born and ended between two samples, and what
//!   others used between the last sample that saw them and their end. It is known only for
//!   those whose parent waited for them; see [`ended`]. A zombie is still counted as alive.
//! - Disk bytes of such children are not told apart by the kernel: they count as the bytes of
//!   the process that waited for them. What had been counted while the child was seen is
//!   taken off.
//! - `/proc/PID/io` of other users' processes needs root (`CAP_SYS_PTRACE`). Where it may not
//!   be read, a process has no row of disk bytes and is in no sum of them.
//! - With `hidepid` other users' processes are not seen at all.
//!
//! Most processes sleep. A process whose clock (`clock_getcpuclockid`: the time of all its
//! threads, in nanoseconds) stands still has not run, so it has neither used time nor caused
//! I/O nor waited for a child: its files are not read. Where `/proc` is that of another
//! namespace, the same is told by `schedstat`, for processes of one thread. Only its resident
//! memory may have shrunk meanwhile: that is read anew every 32nd sample. Nor are processes
//! listed anew at each sample: the kernel gives out numbers in turn and says which was the last
//! (`/proc/loadavg`), so whoever is new has one of those since. See [`Numbering`].
//!
//! <https://docs.kernel.org/filesystems/proc.html>

mod ended;
mod one;
mod rows;
pub mod stat;

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;
use run::Sink;
use rustix::fs::{RawDir, SeekFrom, seek};

use crate::read::{fields, lines, number};
use crate::slot::Budget;
use crate::{Availability, Detail, Entry, Host, Source};

use ended::Debt;
use one::{Process, Reading};
use rows::Report;

/// The source.
pub const ENTRY: Entry = Entry {
    name: "process",
    help: "processes: time, faults, memory, disk bytes; the largest by name",
    reads: "/proc/PID/stat, /proc/PID/io, /proc/PID/schedstat, /proc/loadavg",
    link: "https://docs.kernel.org/filesystems/proc.html",
    detail: Detail::Samples,
    open,
};

/// Amounts of a process: user ticks, system ticks, major faults; bytes read, bytes written.
const KINDS: usize = 5;
/// The first of them that belong to disk I/O.
const IO: usize = 3;

/// Whether `/proc` is that of this process's own namespace, so that numbers in it mean the
/// same to the kernel's calls.
fn is_own(host: &Host) -> bool {
    let link = std::fs::read_link("/proc/self");
    let own = std::process::id().to_string();
    host.root == Path::new("/") && link.is_ok_and(|l| l == Path::new(&own))
}

/// What it takes to read the files of processes.
struct Files {
    proc: File,
    /// Whether this kernel has `schedstat`.
    gates: bool,
    /// Whether the clocks of processes may be asked.
    clocks: bool,
    /// Nanoseconds of a clock tick.
    tick: u64,
    /// Whether files of processes that are met for the first time are kept open. Most of those
    /// that are there at the start sleep for ever.
    keeps: bool,
    budget: Budget,
    buffer: Vec<u8>,
}

struct Processes {
    files: Files,
    /// Only where the numbers of `/proc` are those that this process sees.
    numbering: Option<Numbering>,
    names: Vec<MaybeUninit<u8>>,
    pids: Vec<u32>,
    /// Those of `pids` that turned out to be of no process any more, in order.
    absent: Vec<u32>,
    /// In the order of their pids, as the two below.
    live: Vec<Process>,
    born: Vec<Process>,
    gone: Vec<Process>,
    late: Vec<Debt>,
    turn: u32,
    report: Report,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    Ok(Box::new(processes(host)?))
}

fn processes(host: &Host) -> Result<Processes, Availability> {
    let path = host.root.join("proc");
    let proc = File::open(&path)
        .map_err(|e| Availability::of(&path, &e, "a mounted /proc", "mount -t proc proc /proc"))?;
    let own = is_own(host);
    Ok(Processes {
        numbering: own.then(|| Numbering::open(host)).flatten(),
        files: Files {
            proc,
            gates: host.proc("self/schedstat").exists(),
            clocks: own,
            tick: 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1),
            keeps: false,
            budget: Budget::share(2),
            buffer: vec![0; 4096],
        },
        names: vec![MaybeUninit::uninit(); 64 << 10],
        pids: Vec::new(),
        absent: Vec::new(),
        live: Vec::new(),
        born: Vec::new(),
        gone: Vec::new(),
        late: Vec::new(),
        turn: 0,
        report: Report::new(host.top),
    })
}

impl Source for Processes {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        self.list(interval)?;
        self.read(interval.is_none());
        ended::settle(&mut self.live, &self.gone, &mut self.late);
        self.forget_gone();
        if interval.is_some() {
            self.report.rows(&mut self.live, out);
        }
        Ok(())
    }
}

impl Processes {
    /// Finds the numbers of all processes, in order.
    fn list(&mut self, interval: Option<f64>) -> io::Result<()> {
        // Asked before looking: who is born between the two is found again next time.
        let buffer = &mut self.files.buffer;
        let since = self.numbering.as_mut().and_then(|n| n.since(buffer));
        let due = self.turn.is_multiple_of(LISTED_EVERY);
        let short = interval.is_some_and(|i| i <= ROUND_TRIP);
        if let Some(since) = since.filter(|_| short && !due)
            && since.len() <= ASKED_AT_MOST * self.pids.len()
        {
            let before = self.pids.len();
            self.pids.extend(since.filter(|pid| is_process(*pid)));
            if self.pids.len() > before {
                self.pids.sort_unstable();
                self.pids.dedup();
            }
            return Ok(());
        }
        self.pids.clear();
        seek(&self.files.proc, SeekFrom::Start(0))?;
        let mut names = RawDir::new(&self.files.proc, &mut self.names);
        while let Some(entry) = names.next() {
            let name: &CStr = entry.as_ref().map_err(|e| io::Error::from(*e))?.file_name();
            self.pids
                .extend(number(name.to_bytes()).and_then(|n| u32::try_from(n).ok()));
        }
        // The kernel lists them in order; sorting what is sorted costs next to nothing.
        self.pids.sort_unstable();
        Ok(())
    }

    /// Reads those that were known and those that are new; moves those that ended to `gone`.
    fn read(&mut self, first: bool) {
        self.turn = self.turn.wrapping_add(1);
        self.files.keeps = !first;
        let (files, turn) = (&mut self.files, self.turn);
        let mut pids = self.pids.iter().copied().peekable();
        let mut any_ended = false;
        let (born, absent) = (&mut self.born, &mut self.absent);
        let mut meet = |pid: u32, files: &mut Files| {
            let mut process = Process::new(pid);
            let reading = process.read(files, turn);
            match reading {
                Reading::Changed => {
                    if first {
                        process.growth = [0; KINDS];
                        process.spent = [0; IO];
                    }
                    born.push(process);
                }
                Reading::Same | Reading::Ended => process.close(&mut files.budget),
            }
            if reading == Reading::Ended {
                absent.push(pid);
            }
        };
        for process in &mut self.live {
            while let Some(pid) = pids.next_if(|pid| *pid < process.pid) {
                meet(pid, files);
            }
            let listed = pids.next_if_eq(&process.pid).is_some();
            if !listed || process.read(files, turn) == Reading::Ended {
                process.close(&mut files.budget);
                process.ended = true;
                any_ended = true;
                if listed {
                    // Its number may belong to another process by now.
                    meet(process.pid, files);
                }
            }
        }
        for pid in pids {
            meet(pid, files);
        }
        if !self.absent.is_empty() {
            self.pids
                .retain(|pid| self.absent.binary_search(pid).is_err());
            self.absent.clear();
        }
        if any_ended {
            self.gone.extend(self.live.extract_if(.., |p| p.ended));
        }
        if !self.born.is_empty() {
            self.live.append(&mut self.born);
            // Two sorted parts: the stable sort merges them.
            self.live.sort_by_key(|p| p.pid);
        }
    }

    /// Drops the processes that ended. Who lost its parent has a new one, which only its
    /// `stat` tells.
    fn forget_gone(&mut self) {
        if self.gone.is_empty() {
            return;
        }
        for process in &mut self.live {
            if ended::find(&self.gone, process.parent).is_some() {
                process.gate_before = None;
            }
        }
        self.gone.clear();
    }
}

/// Listing all processes is the dearest reading of all; it is spared where it can be, but not
/// for ever: a restored process may choose its number.
const LISTED_EVERY: u32 = 32;

/// In so many seconds the kernel does not give out all numbers and start anew: there are at
/// least 32,768 but where somebody chose otherwise, and then the next listing finds who was
/// missed.
const ROUND_TRIP: f64 = 2.0;

/// So many numbers may be asked for, for each process that is known: asking for one takes a
/// fifth of what listing a process does.
const ASKED_AT_MOST: usize = 4;

/// The number that the kernel gave out last, to a process or a thread.
struct Numbering {
    loadavg: File,
    last: Option<u32>,
}

impl Numbering {
    fn open(host: &Host) -> Option<Numbering> {
        let loadavg = File::open(host.proc("loadavg")).ok()?;
        Some(Numbering {
            loadavg,
            last: None,
        })
    }

    /// The numbers that were given out since last asked; `None` if that is not known, or if
    /// they start from the beginning again.
    fn since(&mut self, buffer: &mut [u8]) -> Option<Range<u32>> {
        let length = self.loadavg.read_at(buffer, 0).unwrap_or(0);
        // `0.20 0.18 0.12 1/80 11206`
        let last = lines(&buffer[..length])
            .next()
            .and_then(|l| fields(l).nth(4));
        let now = last.and_then(number).and_then(|n| u32::try_from(n).ok());
        let before = std::mem::replace(&mut self.last, now)?;
        now.filter(|now| *now >= before)
            .map(|now| before + 1..now.saturating_add(1))
    }
}

/// Whether there is a process of that number, in this namespace.
///
/// The kernel has a clock of a process for its own number only, not for its other threads'.
fn is_process(pid: u32) -> bool {
    let pid = i32::try_from(pid).map(Pid::from_raw);
    pid.is_ok_and(|pid| clock_getcpuclockid(pid).is_ok())
}

#[cfg(test)]
mod tests;
