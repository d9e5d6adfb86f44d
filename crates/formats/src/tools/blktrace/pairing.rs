//! From queued, issued and completed to one event an I/O.
//!
//! Records are sorted by time in a window, as those of several processors come mixed. An issue
//! (D) and a completion (C) of the same device and sector are one I/O; it was queued at its
//! insertion into the scheduler (I), or else when it came to the block layer (Q). Devices
//! that are never issued to (made of others, without requests) have Q and C only.

use std::collections::HashMap;

use run::Word;
use run::rows::TableId;

use super::{Comm, Kind, Op, Places, Record, device};
use crate::out::Out;
use crate::time::{Refused, Stamp};

const SECTOR: f64 = 512.0;
/// Records that wait to be sorted; half of them are handed on at a time.
const WINDOW: usize = 16 << 10;
/// I/Os that were queued and are not done; more are no trace of a real machine.
const MOST: usize = 1 << 20;
/// Ends that are remembered of a device, as `disk.random` does.
const ENDS: usize = 16;
/// Where a flush, which has no sector, is kept.
const FLUSH: u64 = u64::MAX;

/// Waits to be issued.
#[derive(Clone, Copy)]
struct Queued {
    at: u64,
    pid: u32,
    comm: Comm,
    kind: Kind,
    sectors: u32,
    inserted: bool,
}

/// Was issued.
#[derive(Clone, Copy)]
struct Issued {
    at: u64,
    queued: Option<Queued>,
    pid: u32,
    comm: Comm,
    kind: Kind,
    sector: u64,
    sectors: u32,
    /// What is not done of it.
    left: u32,
    place: Place,
}

/// How an I/O stands to those before it.
#[derive(Clone, Copy)]
struct Place {
    distance: Option<i64>,
    nearest: Option<i64>,
    depth: u32,
}

struct Device {
    name: Word,
    layer: Word,
    stacked: Word,
    /// Whether it is issued to.
    issues: bool,
    depth: u32,
    last: Option<u64>,
    ends: [u64; ENDS],
    filled: usize,
    turn: usize,
}

impl Device {
    /// Takes note of an I/O that is issued.
    fn issue(&mut self, sector: u64, sectors: u32) -> Place {
        self.issues = true;
        self.depth += 1;
        let from = |end: u64| (sector as i64).wrapping_sub(end as i64);
        let ends = self.ends[..self.filled].iter().map(|end| from(*end));
        let place = Place {
            distance: self.last.map(from),
            nearest: ends.min_by_key(|d| d.unsigned_abs()),
            depth: self.depth,
        };
        let end = sector.saturating_add(u64::from(sectors));
        self.last = Some(end);
        self.ends[self.turn] = end;
        self.turn = (self.turn + 1) % ENDS;
        self.filled = (self.filled + 1).min(ENDS);
        place
    }
}

/// Words that events need.
struct Fixed {
    table: TableId,
    ops: [Word; 5],
    yes: Word,
    no: Word,
    sync: Word,
    asynchronous: Word,
    empty: Word,
}

impl Fixed {
    fn new(out: &mut Out) -> Fixed {
        Fixed {
            table: TableId::of("disk_event"),
            ops: ["read", "write", "discard", "flush", "other"].map(|w| out.word(w.as_bytes())),
            yes: out.word(b"yes"),
            no: out.word(b"no"),
            sync: out.word(b"sync"),
            asynchronous: out.word(b"async"),
            empty: out.word(b""),
        }
    }
}

/// Pairs the records of a trace.
pub(super) struct Pairing {
    window: Vec<Record>,
    /// The window is in order of time.
    sorted: bool,
    /// When the first record was.
    began: Option<u64>,
    /// When the last record was that was handed on.
    passed: u64,
    queued: Places<Queued>,
    issued: Places<Issued>,
    devices: HashMap<u32, Device>,
    processes: HashMap<(u32, Comm), [Word; 2]>,
    fixed: Option<Fixed>,
    /// Nanoseconds since 1970 of the trace's time 0, where it is known.
    epoch: Option<i64>,
    /// The trace's time that is taken for 0 where it is not.
    pub(super) zero: u64,
    /// Records before the last that was handed on: too late to be sorted.
    pub(super) late: u64,
    not_issued: u64,
    failed: u64,
    given_up: u64,
    first: bool,
}

impl Pairing {
    pub(super) fn new() -> Pairing {
        Pairing {
            window: Vec::with_capacity(2 * WINDOW),
            sorted: true,
            began: None,
            passed: 0,
            queued: Places::default(),
            issued: Places::default(),
            devices: HashMap::new(),
            processes: HashMap::new(),
            fixed: None,
            epoch: None,
            zero: 0,
            late: 0,
            not_issued: 0,
            failed: 0,
            given_up: 0,
            first: false,
        }
    }

    /// Takes the next record.
    pub(super) fn push(&mut self, record: Record, out: &mut Out) {
        self.sorted &= self.window.last().is_none_or(|l| l.time <= record.time);
        self.window.push(record);
        if self.window.len() >= 2 * WINDOW {
            self.hand_on(WINDOW, out);
        }
    }

    /// Hands on the first records of the window.
    fn hand_on(&mut self, count: usize, out: &mut Out) {
        let mut window = std::mem::take(&mut self.window);
        if !self.sorted {
            window.sort_by_key(|r| r.time);
        }
        let count = count.min(window.len());
        self.began = self.began.or(window.first().map(|r| r.time));
        for record in &window[..count] {
            self.late += u64::from(record.time < self.passed);
            self.passed = self.passed.max(record.time);
            self.take(record, out);
        }
        window.drain(..count);
        // What is left is in order.
        self.sorted = true;
        self.window = window;
    }

    fn take(&mut self, record: &Record, out: &mut Out) {
        let flush = record.sectors == 0 && record.kind.op == Op::Flush;
        let sector = if flush { FLUSH } else { record.sector };
        let key = (record.device, sector);
        match record.action {
            b'Q' => self.queue(key, record, false),
            b'I' => self.queue(key, record, true),
            b'M' => {
                self.queued.remove(&key);
            }
            b'F' => self.front(record),
            b'X' => {
                // The second part was queued with the first.
                if let Some(queued) = self.queued.get(&key).copied() {
                    let second = (sector & !0xffff_ffff) | u64::from(record.sectors);
                    let after = (record.device, second);
                    self.queued.entry(after).or_insert(queued);
                }
            }
            b'D' => self.issue(key, record, out),
            b'R' => self.requeue(key),
            b'C' => self.complete(key, record, out),
            _ => {}
        }
    }

    fn queue(&mut self, key: (u32, u64), record: &Record, inserted: bool) {
        if self.queued.len() >= MOST {
            self.given_up += self.queued.len() as u64;
            self.queued.clear();
        }
        let mut queued = Queued {
            at: record.time,
            pid: record.pid,
            comm: record.comm,
            kind: record.kind,
            sectors: record.sectors,
            inserted,
        };
        if let Some(before) = self.queued.get(&key)
            && inserted
        {
            // Who asked for it is who queued it.
            queued = Queued {
                pid: before.pid,
                comm: before.comm,
                ..queued
            };
        }
        self.queued.insert(key, queued);
    }

    /// A bio was put in front of a request, which starts there now.
    fn front(&mut self, record: &Record) {
        let end = record.sector.saturating_add(u64::from(record.sectors));
        if let Some(request) = self.queued.remove(&(record.device, end)) {
            let sectors = request.sectors.saturating_add(record.sectors);
            let merged = Queued { sectors, ..request };
            self.queued.insert((record.device, record.sector), merged);
        }
    }

    fn issue(&mut self, key: (u32, u64), record: &Record, out: &mut Out) {
        if self.issued.len() >= MOST {
            self.given_up += self.issued.len() as u64;
            self.issued.clear();
        }
        let queued = self.queued.remove(&key);
        let device = device_of(&mut self.devices, record.device, out);
        let place = if key.1 == FLUSH {
            device.issues = true;
            device.depth += 1;
            Place {
                distance: None,
                nearest: None,
                depth: device.depth,
            }
        } else {
            device.issue(record.sector, record.sectors)
        };
        let issued = Issued {
            at: record.time,
            queued,
            pid: record.pid,
            comm: record.comm,
            kind: record.kind,
            sector: record.sector,
            sectors: record.sectors,
            left: record.sectors,
            place,
        };
        if self.issued.insert(key, issued).is_some() {
            self.given_up += 1;
            device.depth = device.depth.saturating_sub(1);
        }
    }

    /// The driver handed it back; it waits again, as long as it did.
    fn requeue(&mut self, key: (u32, u64)) {
        let Some(issued) = self.issued.remove(&key) else {
            return;
        };
        if let Some(device) = self.devices.get_mut(&key.0) {
            device.depth = device.depth.saturating_sub(1);
        }
        if let Some(queued) = issued.queued {
            self.queued.insert(key, queued);
        }
    }

    fn complete(&mut self, key: (u32, u64), record: &Record, out: &mut Out) {
        let Some(mut issued) = self.issued.remove(&key) else {
            return self.complete_unissued(key, record, out);
        };
        if record.sectors < issued.left && record.sectors > 0 {
            // A part of it.
            issued.left -= record.sectors;
            let rest = record.sector.saturating_add(u64::from(record.sectors));
            self.issued.insert((key.0, rest), issued);
            return;
        }
        self.failed += u64::from(record.failed);
        let device = device_of(&mut self.devices, key.0, out);
        device.depth = device.depth.saturating_sub(1);
        self.event(key.0, &issued, record.time, out);
    }

    /// A completion of what was not seen to be issued.
    fn complete_unissued(&mut self, key: (u32, u64), record: &Record, out: &mut Out) {
        let device = device_of(&mut self.devices, key.0, out);
        let queued = self.queued.remove(&key).filter(|q| !q.inserted);
        let Some(queued) = queued.filter(|_| !device.issues && key.1 != FLUSH) else {
            self.not_issued += u64::from(record.sectors > 0);
            return;
        };
        device.layer = device.stacked;
        let (sector, sectors) = (record.sector, record.sectors);
        let place = Place {
            distance: None,
            nearest: None,
            depth: 0,
        };
        let issued = Issued {
            at: queued.at,
            queued: Some(queued),
            pid: queued.pid,
            comm: queued.comm,
            kind: queued.kind,
            sector,
            sectors,
            left: 0,
            place,
        };
        self.failed += u64::from(record.failed);
        self.event(key.0, &issued, record.time, out);
    }

    fn event(&mut self, device: u32, io: &Issued, done: u64, out: &mut Out) {
        let who = io.queued.map_or((io.pid, io.comm), |q| (q.pid, q.comm));
        let process = *self
            .processes
            .entry(who)
            .or_insert_with(|| process_words(who, out));
        let fixed = self.fixed.get_or_insert_with(|| Fixed::new(out));
        let device = device_of(&mut self.devices, device, out);
        let flag = |is: bool, yes: Word, no: Word| if is { yes } else { no };
        let sequential = match io.place.nearest {
            Some(nearest) => flag(nearest == 0, fixed.yes, fixed.no),
            None => fixed.empty,
        };
        let words = [
            device.name,
            device.layer,
            fixed.ops[io.kind.op as usize],
            flag(io.kind.sync, fixed.sync, fixed.asynchronous),
            flag(io.kind.metadata, fixed.yes, fixed.no),
            sequential,
            process[0],
            process[1],
            fixed.empty,
            fixed.empty,
        ];
        let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e9;
        let bytes = |sectors: Option<i64>| sectors.map_or(f64::NAN, |s| s as f64 * SECTOR);
        let depth = match io.place.depth {
            0 => f64::NAN,
            depth => f64::from(depth),
        };
        let flush = io.kind.op == Op::Flush && io.sectors == 0;
        let numbers = [
            io.queued.map_or(f64::NAN, |q| seconds(q.at, io.at)),
            seconds(io.at, done),
            f64::from(io.sectors) * SECTOR,
            if flush {
                f64::NAN
            } else {
                io.sector as f64 * SECTOR
            },
            bytes(io.place.distance),
            bytes(io.place.nearest),
            depth,
            1.0,
        ];
        self.first |= io.queued.is_none();
        let table = fixed.table;
        out.event(table, self.stamp(done), &words, &numbers);
    }

    /// A time of the trace.
    fn stamp(&self, at: u64) -> Stamp {
        match self.epoch {
            Some(epoch) => Stamp::Epoch(epoch.saturating_add(at as i64)),
            None => Stamp::Elapsed(at.saturating_sub(self.zero) as f64 / 1e9),
        }
    }

    /// The trace's time 0 is that many nanoseconds after 1970 began. Too late after the first
    /// event.
    pub(super) fn is_at(&mut self, epoch: i64) {
        if self.fixed.is_none() {
            self.epoch.get_or_insert(epoch);
        }
    }

    /// The trace is over.
    pub(super) fn end(&mut self, out: &mut Out) {
        self.hand_on(usize::MAX, out);
        if let Some(began) = self.began.filter(|_| self.fixed.is_some()) {
            // Events stand where an I/O was done: before the first it was waited for.
            out.covers(self.stamp(began), self.stamp(self.passed));
        }
        if self.fixed.is_none() && self.issued.is_empty() && self.not_issued > 0 {
            out.refuse(Refused(
                "its trace has completions (C) without issues (D), which tell no latencies\n\
                 hint: trace with both, as `blktrace -a issue -a complete`, or with all"
                    .into(),
            ));
        }
        let unfinished = self.issued.len() as u64 + self.given_up;
        for (count, what) in [
            (
                unfinished,
                "I/Os were issued and their completion is not in the trace",
            ),
            (
                self.not_issued,
                "completions are of I/Os whose issue is not in the trace",
            ),
            (self.failed, "I/Os failed; they count as the others"),
            (
                self.late,
                "lines came later than the window that sorts them by time",
            ),
        ] {
            if count > 0 {
                out.note(&format!("{count} {what}"));
            }
        }
        if self.first {
            out.note("when some I/Os were queued is not in the trace: their time in the queue is not known");
        }
    }
}

fn device_of<'a>(
    devices: &'a mut HashMap<u32, Device>,
    number: u32,
    out: &mut Out,
) -> &'a mut Device {
    devices.entry(number).or_insert_with(|| {
        let name = device::name(number);
        let known = !name.contains(',');
        let layer = if known {
            crate::disk::layer(name.as_bytes())
        } else {
            "disk"
        };
        Device {
            name: out.word(name.as_bytes()),
            layer: out.word(layer.as_bytes()),
            stacked: out.word(b"stacked"),
            issues: false,
            depth: 0,
            last: None,
            ends: [0; ENDS],
            filled: 0,
            turn: 0,
        }
    })
}

/// `name[pid]` and `name`.
fn process_words((pid, comm): (u32, Comm), out: &mut Out) -> [Word; 2] {
    let end = memchr::memchr(0, &comm).unwrap_or(comm.len());
    let name = String::from_utf8_lossy(&comm[..end]).into_owned();
    let process = format!("{name}[{pid}]");
    [out.word(process.as_bytes()), out.word(name.as_bytes())]
}
