//! One process: what is known of it, and how it is read again.

use std::ffi::CStr;
use std::io;
use std::os::fd::AsFd;

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use run::Word;
use rustix::io::Errno;

use super::ended::take;
use super::stat::{Stat, parse, parse_io, parse_schedstat};
use super::{Files, IO, KINDS};
use crate::slot::{Budget, Slot};

/// The longest name the kernel shows (that of a kernel thread).
const NAME: usize = 64;
/// Every so many samples the resident memory of one that sleeps is read.
const TURNS: u32 = 32;

/// What came of reading a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// It was read.
    Changed,
    /// It did not run, or could not be read now.
    Same,
    /// There is no such process any more.
    Ended,
}

/// A process, as it was last seen.
///
/// Most sleep, and after a second's pause all of this is in no cache: what is looked at of one
/// that sleeps comes first and fills a line of it, and the rest is left alone.
#[derive(Debug)]
#[repr(C, align(64))]
#[allow(
    clippy::struct_excessive_bools,
    reason = "they do not exclude one another"
)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) parent: u32,
    clock: Option<ClockId>,
    /// Its clock, or the sum of `schedstat`, just before `stat` was read; `None`: `stat` must
    /// be read.
    pub(super) gate_before: Option<u64>,
    /// Pages.
    pub(super) resident: u64,
    pub(super) threads: u32,
    /// Samples for which `spent` and all below it may be other than zero.
    moving: u8,
    known: bool,
    pub(super) ended: bool,
    pub(super) named: bool,
    is_kernel: bool,
    io_denied: bool,
    /// Whether its disk bytes are known.
    pub(super) io_known: bool,
    /// In this interval, its own.
    pub(super) spent: [u64; IO],
    /// In this interval: what grew for children it waited for, and, of disk bytes, all.
    pub(super) growth: [u64; KINDS],
    /// What was left of `growth` at the last sample.
    pub(super) charged: [u64; KINDS],
    /// Whether it waited for a child in this interval, and in the one before.
    pub(super) waited: [bool; 2],
    /// What of it turned out to have been counted twice.
    pub(super) overcharged: [u64; KINDS],
    pub(super) own: [u64; IO],
    pub(super) reaped: [u64; IO],
    reaped_minor: u64,
    /// Bytes read and written, with those of children waited for; `None`: not ours to read.
    pub(super) io: Option<[u64; KINDS - IO]>,
    /// Ticks after boot; with the pid it tells processes apart.
    pub(super) start: u64,
    pub(super) words: Option<[Word; 2]>,
    gate: Slot,
    stat_file: Slot,
    io_file: Slot,
    name: [u8; NAME],
    name_length: usize,
}

/// An amount of one sample is charged in the next, and a child waited for in one is told by the
/// next.
const MOVES: u8 = 2;

impl Process {
    pub(super) fn new(pid: u32) -> Process {
        Process {
            pid,
            parent: 0,
            clock: None,
            gate_before: None,
            resident: 0,
            threads: 1,
            moving: MOVES,
            known: false,
            ended: false,
            named: false,
            is_kernel: false,
            io_denied: false,
            io_known: false,
            spent: [0; IO],
            growth: [0; KINDS],
            charged: [0; KINDS],
            waited: [false; 2],
            overcharged: [0; KINDS],
            own: [0; IO],
            reaped: [0; IO],
            reaped_minor: 0,
            io: None,
            start: 0,
            words: None,
            gate: Slot::default(),
            stat_file: Slot::default(),
            io_file: Slot::default(),
            name: [0; NAME],
            name_length: 0,
        }
    }

    /// Whether it did anything in this interval or the one before. If not, its amounts are zero
    /// and it has waited for nobody.
    pub(super) fn moves(&self) -> bool {
        self.moving > 0
    }

    /// Ends the interval before.
    fn rest(&mut self) {
        if self.moving > 0 {
            self.moving -= 1;
            self.spent = [0; IO];
            self.growth = [0; KINDS];
            self.waited = [false, self.waited[0]];
        }
    }

    /// The name of its program.
    pub(super) fn command(&self) -> &[u8] {
        &self.name[..self.name_length]
    }

    /// All that was counted of it, which whoever waits for it inherits.
    pub(super) fn counted(&self) -> [u64; KINDS] {
        let mut all = self.overcharged;
        for (all, (own, reaped)) in all.iter_mut().zip(self.own.iter().zip(self.reaped)) {
            *all += own + reaped;
        }
        for (all, io) in all[IO..].iter_mut().zip(self.io.unwrap_or_default()) {
            *all += io;
        }
        all
    }

    /// Sets what grew, less what was counted too much before.
    pub(super) fn grow(&mut self, amount: [u64; KINDS]) {
        self.growth = amount;
        take(&mut self.growth, &mut self.overcharged);
    }

    /// Gives its files back.
    pub(super) fn close(&mut self, budget: &mut Budget) {
        for slot in [&mut self.gate, &mut self.stat_file, &mut self.io_file] {
            slot.close(budget);
        }
    }

    /// Reads what may have changed since the last time.
    pub(super) fn read(&mut self, files: &mut Files, turn: u32) -> Reading {
        self.rest();
        let mut gate = None;
        if files.clocks {
            gate = self.read_clock();
        } else if self.threads <= 1 && files.gates {
            // `schedstat` speaks of the first thread only.
            match self.read_gate(files) {
                Ok(now) => gate = now,
                Err(error) if is_end(&error) => return Reading::Ended,
                Err(_) => {}
            }
        }
        if gate.is_some() {
            let refresh = self.resident > 0 && self.pid.wrapping_add(turn).is_multiple_of(TURNS);
            if gate == self.gate_before && !refresh {
                return Reading::Same;
            }
        }
        if self.is_told_by(gate, files, turn) {
            self.gate_before = gate;
            self.moving = MOVES;
            let growth = self.growth_with_io([0; KINDS], files);
            self.grow(growth);
            return Reading::Changed;
        }
        let mut name = [0; 32];
        let name = path(&mut name, self.pid, b"stat");
        let dir = files.proc.as_fd();
        let keep = self.known || files.keeps;
        let read = self
            .stat_file
            .read(dir, name, keep, &mut files.budget, &mut files.buffer);
        let length = match read {
            Ok(length) => length,
            Err(error) if is_end(&error) => return Reading::Ended,
            Err(_) => return Reading::Same,
        };
        let Some(stat) = parse(&files.buffer[..length]) else {
            return Reading::Same;
        };
        if self.known && stat.start != self.start {
            return Reading::Ended;
        }
        let growth = self.update(&stat);
        self.gate_before = gate;
        self.moving = MOVES;
        let growth = self.growth_with_io(growth, files);
        self.grow(growth);
        self.known = true;
        Reading::Changed
    }

    /// Whether `stat` would say what it said before, though the clock went on: it has nothing of
    /// a task of the kernel's own but its time, all of it in the kernel, in whole ticks.
    fn is_told_by(&self, clock: Option<u64>, files: &Files, turn: u32) -> bool {
        let due = self.pid.wrapping_add(turn).is_multiple_of(TURNS);
        self.is_kernel
            && files.clocks
            && !due
            && self.gate_before.is_some()
            && self.own[0] == 0
            && clock.is_some_and(|clock| clock / files.tick == self.own[1])
    }

    /// `growth` and that of disk bytes.
    fn growth_with_io(&mut self, mut growth: [u64; KINDS], files: &mut Files) -> [u64; KINDS] {
        if !self.io_denied {
            growth[IO..].copy_from_slice(&self.read_io(files));
        }
        growth
    }

    /// Takes over what `stat` says, and says what grew for children.
    fn update(&mut self, stat: &Stat<'_>) -> [u64; KINDS] {
        let mut growth = [0; KINDS];
        #[allow(clippy::needless_range_loop, reason = "five arrays of the same kinds")]
        for kind in 0..IO {
            self.spent[kind] = stat.own[kind].saturating_sub(self.own[kind]);
            growth[kind] = stat.reaped[kind].saturating_sub(self.reaped[kind]);
            self.own[kind] = self.own[kind].max(stat.own[kind]);
            self.reaped[kind] = self.reaped[kind].max(stat.reaped[kind]);
        }
        self.waited[0] = stat.reaped_minor > self.reaped_minor || growth != [0; KINDS];
        self.reaped_minor = stat.reaped_minor;
        self.parent = stat.parent;
        self.is_kernel = stat.is_kernel;
        self.start = stat.start;
        self.threads = u32::try_from(stat.threads).unwrap_or(u32::MAX);
        self.resident = stat.resident;
        let command = &stat.command[..stat.command.len().min(NAME)];
        if command != self.command() {
            self.name[..command.len()].copy_from_slice(command);
            self.name_length = command.len();
            self.words = None;
        }
        growth
    }

    /// The process's clock, in nanoseconds; `None` if it has ended: its `stat` will tell.
    ///
    /// One call without a file: a quarter of what `schedstat` takes, and of the memory it
    /// touches, which after a second's pause is in no cache.
    fn read_clock(&mut self) -> Option<u64> {
        if self.clock.is_none() {
            let pid = Pid::from_raw(i32::try_from(self.pid).ok()?);
            self.clock = clock_getcpuclockid(pid).ok();
        }
        let clock = self.clock?;
        let time = clock_gettime(clock).ok()?;
        Some(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
    }

    /// The sum of what `schedstat` says: none of it ever goes back, so it stands only if all
    /// stand.
    fn read_gate(&mut self, files: &mut Files) -> io::Result<Option<u64>> {
        let mut name = [0; 32];
        let name = path(&mut name, self.pid, b"schedstat");
        let dir = files.proc.as_fd();
        let length = self
            .gate
            .read(dir, name, true, &mut files.budget, &mut files.buffer)?;
        let told = parse_schedstat(&files.buffer[..length]);
        Ok(told.map(|[ran, waited, times]| ran.wrapping_add(waited).wrapping_add(times)))
    }

    /// Reads the disk bytes, and says by how much they grew.
    fn read_io(&mut self, files: &mut Files) -> [u64; KINDS - IO] {
        let mut name = [0; 32];
        let name = path(&mut name, self.pid, b"io");
        let dir = files.proc.as_fd();
        let keep = self.known || files.keeps;
        let read = self
            .io_file
            .read(dir, name, keep, &mut files.budget, &mut files.buffer);
        let now = match read {
            Ok(length) => parse_io(&files.buffer[..length]),
            Err(error) => {
                // Not asked again: it would cost time at each sample. A kernel without the
                // file is the same.
                self.io_denied = error.kind() == io::ErrorKind::PermissionDenied || !self.known;
                None
            }
        };
        let Some(now) = now else {
            return [0; KINDS - IO];
        };
        // Known only now, though the process is not new: nothing tells from when on it counts.
        let missed = if self.known { now } else { [0; KINDS - IO] };
        let before = self.io.unwrap_or(missed);
        let growth = [0, 1].map(|kind| now[kind].saturating_sub(before[kind]));
        self.io_known = true;
        self.io = Some([0, 1].map(|kind| now[kind].max(before[kind])));
        growth
    }
}

/// Whether reading failed because there is no such process any more.
fn is_end(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(Errno::SRCH.raw_os_error()) || code == Some(Errno::NOENT.raw_os_error())
}

/// `PID/<file>`, in `buffer`.
fn path<'b>(buffer: &'b mut [u8; 32], pid: u32, file: &[u8]) -> &'b CStr {
    let mut digits = [0; 10];
    let mut from = digits.len();
    let mut rest = pid;
    loop {
        from -= 1;
        digits[from] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let number = &digits[from..];
    let slash = number.len();
    buffer[..slash].copy_from_slice(number);
    buffer[slash] = b'/';
    buffer[slash + 1..=slash + file.len()].copy_from_slice(file);
    CStr::from_bytes_until_nul(buffer).unwrap_or_default()
}
