//! Block I/O as distributions and events, from the kernel's block tracepoints
//! (`disk.bpf.c`).
//!
//! insert (into the scheduler) → issue (to the device) → complete. An I/O is counted in all
//! histograms when it completes, so that they have the same sum, which is that of
//! `/proc/diskstats`. An I/O issued before the program was attached is in none of them.
//!
//! A flush, and a write that only asks for one, have no data: they are in the histograms of
//! time and depth (the write at depth 0: it is never issued itself), and not in those of size
//! and distance, and as events neither sequential nor random. Their time runs from the making of
//! the write to the end of the flush.
//!
//! <https://docs.kernel.org/trace/events.html>

mod at_depth;
mod devices;
mod events;
mod listed;
mod merge;
mod room;
mod waiting;

use std::io;
use std::os::fd::BorrowedFd;

use run::manifest::Program;
use run::rows::TableId;
use run::{Nanos, Sink, Word, grid};

use super::attach::Hook;
use super::cells::{Blocks, CELLS};
use super::control::Control;
use super::load::{Constant, Lanes, Loaded, arguments, load};
use super::losses::Losses;
use crate::{Availability, Detail, Entry, Host, Lost, Source};
use devices::{Device, Devices, Known, PLACES, SUMS, Sums};
use events::Events;
use listed::Told;
use merge::{All, Cell, Merge};
use room::Room;
use waiting::Waiting;

/// The source.
pub const ENTRY: Entry = Entry {
    name: "bpf-disk",
    help: "block I/O: latency, queue and service time, size, seeks, depth; each I/O as an event",
    reads: "tracepoints block:block_rq_*, block_bio_*, block_io_start, block_getrq, \
            iomap:iomap_dio_rw_begin, iomap_dio_rw_queued, iomap_dio_complete, sched:sched_process_exec",
    link: "https://docs.kernel.org/trace/events.html",
    detail: Detail::Distributions,
    open,
};

const OPS: usize = 4;
const NAMES: [&str; OPS] = ["read", "write", "discard", "flush"];
const DISCARD: usize = 2;
const FLUSH: usize = 3;
const SECTOR: f64 = 512.0;
/// Which of the sums of an operation is which.
const QUEUE: usize = 0;
const SERVICE: usize = 1;
const ERRORS: usize = 2;
const REQUEUES: usize = 3;

/// Rows of a block: `enum row_kind` of the program.
mod row {
    pub(super) const DIRECT: usize = 0;
    pub(super) const SERVICE: usize = 1;
    pub(super) const QUEUE: usize = 2;
    pub(super) const LATENCY: usize = 3;
    pub(super) const SIZE: usize = 4;
    pub(super) const AHEAD: usize = 5;
    pub(super) const BEHIND: usize = 6;
    pub(super) const NEAR_AHEAD: usize = 7;
    pub(super) const NEAR_BEHIND: usize = 8;
    pub(super) const DEPTH: usize = 9;
    pub(super) const ALL: usize = 10;
}
const BLOCK: usize = row::ALL * CELLS;
/// Issue and completion each keep the time at a depth.
const WEIGHTS: usize = 2 * CELLS;

/// In the order in which they are attached: what ends an I/O comes first, so that none is
/// taken for under way whose end was never seen.
const HOOKS: [Hook; 5] = [
    Hook::needed("disk_complete", "block_rq_complete"),
    Hook::useful("disk_requeue", "block_rq_requeue"),
    Hook::useful("disk_merge", "block_rq_merge"),
    Hook::useful("disk_insert", "block_rq_insert"),
    Hook::needed("disk_issue", "block_rq_issue"),
];
const BIO_HOOKS: [Hook; 2] = [
    Hook::useful("disk_bio_complete", "block_bio_complete"),
    Hook::useful("disk_bio_queue", "block_bio_queue"),
];
const EVENT_HOOKS: [Hook; 3] = [
    super::who::EXEC,
    Hook::useful("disk_start", START),
    Hook::useful("disk_direct", "iomap_dio_rw_begin"),
];
/// Where the kernel tells of a request in the task that asks for it, and what tells of its bio where
/// it does not.
const START: &str = "block_io_start";
const BY_BIO: Hook = Hook::useful("disk_getrq", "block_getrq");
/// Bios of which who asked for them is kept, a power of two.
const ASKERS: u32 = 1 << 13;
/// Where direct I/O of a task is all submitted.
const DIRECTS_END: [Hook; 2] = [
    Hook::useful("disk_direct_queued", "iomap_dio_rw_queued"),
    Hook::useful("disk_direct_end", "iomap_dio_complete"),
];

/// Tables of histograms.
struct Tables {
    latency: TableId,
    queue_time: TableId,
    service_time: TableId,
    size: TableId,
    distance: TableId,
    nearest: TableId,
    depth: TableId,
    at_depth: TableId,
    io: TableId,
    pattern: TableId,
    peak: TableId,
}

struct Disk {
    host: Host,
    loaded: Loaded,
    told: Told,
    /// As long as no device without requests is set up.
    without_bios: Option<Waiting>,
    devices: Devices,
    control: Control,
    blocks: Blocks<BLOCK>,
    weights: Blocks<WEIGHTS>,
    tables: Tables,
    ops: Option<[Word; OPS]>,
    events: Option<Events>,
    merge: Merge,
    losses: Losses,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let lanes = Lanes::of_this_machine();
    let with_events = host.look.events_of("disk");
    let mut hooks = HOOKS.to_vec();
    let without_bios = Waiting::new(host);
    if without_bios.is_none() {
        hooks.extend(BIO_HOOKS);
    }
    if with_events {
        hooks.extend(DIRECTS_END);
        hooks.extend(EVENT_HOOKS);
    }
    let by_bio = with_events && !tells_of_requests(host);
    if by_bio {
        hooks.push(BY_BIO);
    }
    let room = Room::of(host);
    let constants = [
        Constant::Word("lanes", lanes.count),
        Constant::Word("lane_mask", lanes.count - 1),
        Constant::Flag("lanes_shared", lanes.shared),
        Constant::Word("all_blocks", room.blocks),
        Constant::Word("all_weights", room.weights),
        Constant::Word("slot_mask", room.slots - 1),
        Constant::Word("request_argument", u32::from(is_after_its_queue())),
        Constant::Flag("with_events", with_events),
        Constant::Word("asker_mask", if by_bio { ASKERS - 1 } else { 0 }),
        Constant::Word(
            "bio_argument",
            u32::from(arguments(BY_BIO.event) == Some(3)),
        ),
        Constant::Word("group_subsystem", super::who::group_subsystem(host)),
    ];
    let sizes = [
        ("blocks", room.blocks * lanes.count),
        ("free_blocks", room.blocks),
        ("weights", room.weights * lanes.count),
        ("free_weights", room.weights),
        ("totals", PLACES as u32 * lanes.count),
        ("slots", room.slots),
        ("bios", 1 << 14),
        ("askers", if by_bio { ASKERS } else { 1 }),
        (
            "ring",
            if with_events {
                host.look.ring_bytes
            } else {
                4096
            },
        ),
    ];
    let mut loaded = load(host, super::object!("disk"), &sizes, &constants, &hooks)?;
    let sees = |hook: &str| {
        let mut programs = loaded.programs();
        programs.any(|p| p.hook == hook && p.state == "attached")
    };
    let directs_end = DIRECTS_END.iter().all(|hook| sees(hook.event));
    loaded.set("directs_end", u32::from(directs_end))?;
    let events = if with_events {
        Some(Events::new(host, loaded.ring()?))
    } else {
        None
    };
    Ok(Box::new(Disk {
        host: host.clone(),
        told: Told::new(host),
        without_bios,
        devices: Devices::of(&mut loaded, host, lanes)?,
        control: Control::of(&mut loaded)?,
        blocks: Blocks::new(loaded.array("blocks")?, lanes.count),
        weights: Blocks::new(loaded.array("weights")?, lanes.count),
        tables: Tables {
            latency: TableId::of("disk_latency"),
            queue_time: TableId::of("disk_queue_time"),
            service_time: TableId::of("disk_service_time"),
            size: TableId::of("disk_size"),
            distance: TableId::of("disk_distance"),
            nearest: TableId::of("disk_nearest"),
            depth: TableId::of("disk_depth"),
            at_depth: TableId::of("disk_at_depth"),
            io: TableId::of("disk_io"),
            pattern: TableId::of("disk_pattern"),
            peak: TableId::of("disk_peak"),
        },
        ops: None,
        events,
        merge: Merge::default(),
        losses: loaded.losses()?,
        loaded,
    }))
}

/// Whether what tells of a request names its queue first, as before Linux 5.11.
fn is_after_its_queue() -> bool {
    arguments("block_rq_issue") == Some(2)
}

/// Whether the kernel tells of a request in the task that asks for it, as from Linux 6.5 on.
fn tells_of_requests(host: &Host) -> bool {
    let is_left_out = host.without_hooks.iter().any(|h| h == START);
    arguments(START).is_some() && !is_left_out
}

impl Disk {
    /// Programs that see bios run at each I/O of every device, so they are attached when the first
    /// device comes that needs them.
    fn look_for_bios(&mut self, told: bool) {
        let waiting = self.without_bios.as_mut();
        if !waiting.is_some_and(|w| w.is_over(&self.host, told)) {
            return;
        }
        self.without_bios = None;
        // Where it is refused, `doctor` and the manifest say so of each program.
        let _ = self.loaded.attach(&self.host, &BIO_HOOKS);
    }

    /// A device may have another name now, or another device its place.
    fn forget_names(&mut self) {
        if let Some(events) = &mut self.events {
            events.forget();
        }
    }
}

impl Source for Disk {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let told = self.told.of_any();
        self.look_for_bios(told);
        self.ops.get_or_insert_with(|| NAMES.map(|n| out.word(n)));
        if self.devices.meet(told)? {
            self.forget_names();
        }
        let mut known = std::mem::take(&mut self.devices.known);
        let mut all = known.iter_mut();
        let reported = all.try_for_each(|k| self.report(k, interval, out));
        self.devices.known = known;
        reported?;
        if self.devices.free(&mut self.blocks, &mut self.weights)? {
            self.forget_names();
        }
        Ok(())
    }

    fn gather(&mut self) -> io::Result<bool> {
        self.devices.meet(false)?;
        let mut known = std::mem::take(&mut self.devices.known);
        let mut all = known.iter_mut();
        let gathered = all.try_for_each(|k| self.gather_device(k));
        self.devices.known = known;
        gathered.map(|()| true)
    }

    fn drain(&mut self, offset: Nanos, out: &mut Sink) -> u64 {
        let (Some(events), Some(ops)) = (&mut self.events, self.ops) else {
            return 0;
        };
        let (devices, host) = (&mut self.devices, &self.host);
        let mut name = |place: usize, out: &mut Sink| {
            let find = |devices: &mut Devices, out: &mut Sink| {
                let known = devices.known.iter_mut().find(|k| k.place == place);
                known.map(|k| k.words(host, out))
            };
            if let Some(words) = find(devices, out) {
                return Some(words);
            }
            // Its first I/O was after the last sample.
            let _ = devices.meet(false);
            find(devices, out)
        };
        events.drain(offset, &mut name, ops, out)
    }

    fn ready(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(Events::ready)
    }

    fn measured(&mut self, seconds: f64) -> Vec<Program> {
        let mut programs = self.loaded.measured(seconds);
        let mut attached = programs.iter_mut().filter(|p| p.state == "attached");
        if let Some(counting) = attached.find(|p| p.name == HOOKS[0].program) {
            counting.detail = self.devices.lacking();
        }
        programs
    }

    fn lost(&mut self) -> Option<Lost> {
        Some(self.losses.read("disk_event"))
    }

    fn one_in(&mut self, n: u32) {
        self.control.one_in(n);
    }
}

impl Disk {
    /// The device as the program has it, and its sums. What has no block yet when the device is
    /// read may have one now: it is told next time, for what it counted would never be asked for
    /// if it does nothing more.
    fn read(&self, place: usize, before: &Sums) -> io::Result<(Device, Sums)> {
        let device = self.devices.at(place)?;
        let mut now = self.devices.sums(place)?;
        for op in (0..OPS).filter(|op| device.block(*op).is_none()) {
            let sums = op * SUMS..(op + 1) * SUMS;
            now[sums.clone()].copy_from_slice(&before[sums]);
        }
        Ok((device, now))
    }

    /// Between two samples: takes what the histograms of a device grew by.
    fn gather_device(&mut self, known: &mut Known) -> io::Result<()> {
        let (device, now) = self.read(known.place, &known.gathered)?;
        let before = std::mem::replace(&mut known.gathered, now);
        for op in 0..OPS {
            if let Some(block) = device.block(op)
                && now[op * SUMS + SERVICE] != before[op * SUMS + SERVICE]
            {
                self.blocks.gather(block);
            }
        }
        Ok(())
    }

    fn report(
        &mut self,
        known: &mut Known,
        interval: Option<f64>,
        out: &mut Sink,
    ) -> io::Result<()> {
        let words = known.words(&self.host, out);
        let ops = *self.ops.get_or_insert_with(|| NAMES.map(|n| out.word(n)));
        let (device, now) = self.read(known.place, &known.sums)?;
        let before = std::mem::replace(&mut known.sums, now);
        known.gathered = now;
        let grown = |op: usize, what: usize| {
            let at = op * SUMS + what;
            now[at].wrapping_sub(before[at])
        };
        let write = interval.is_some();
        let mut active = false;
        for (op, word) in ops.into_iter().enumerate() {
            if grown(op, SERVICE) == 0 && grown(op, REQUEUES) == 0 {
                continue;
            }
            let Some(block) = device.block(op) else {
                continue;
            };
            active = true;
            let words = [words[0], words[1], word];
            let all = self.histograms(block, words, op, write, out);
            if write {
                let (queue, service) = (grown(op, QUEUE), grown(op, SERVICE));
                let values = [
                    all.ios,
                    queue as f64 / 1e9,
                    service as f64 / 1e9,
                    grown(op, ERRORS) as f64,
                    grown(op, REQUEUES) as f64,
                    (queue + service) as f64 / 1e9,
                ];
                out.row(self.tables.io, &words, &values);
                let values = [all.random, all.placed, all.bytes];
                out.row(self.tables.pattern, &words, &values);
            }
        }
        let idle = !active && device.state() == known.state;
        self.devices.saw(known, &device, idle);
        known.state = device.state();
        if active || device.state().depth() > 0 || known.at_depth.is_ahead() {
            self.depths(known, device, words, write, out)?;
        }
        Ok(())
    }

    /// Writes the histograms of a device and operation; answers with what all its I/Os are together.
    fn histograms(
        &mut self,
        block: u32,
        words: [Word; 3],
        op: usize,
        write: bool,
        out: &mut Sink,
    ) -> All {
        let merge = &mut self.merge;
        merge.clear();
        self.blocks.growth(block, |place, grown| {
            merge.take(place / CELLS, (place % CELLS) as u32, grown);
        });
        if !write {
            return All::default();
        }
        // A discard moves nothing.
        let sector = if op == DISCARD { 0.0 } else { SECTOR };
        let t = &self.tables;
        let mut tell = |table: TableId, cells: &[Cell], unit: f64| {
            for cell in cells {
                let sign = if cell.below { -unit } else { unit };
                let value = grid::lower(grid::index(cell.value)) as f64 * sign;
                out.row(table, &words, &[value, cell.count, cell.sectors * sector]);
            }
        };
        tell(t.latency, merge.sorted(&[row::LATENCY, row::DIRECT]), 1e-9);
        tell(
            t.service_time,
            merge.sorted(&[row::SERVICE, row::DIRECT]),
            1e-9,
        );
        tell(t.queue_time, merge.queue(), 1e-9);
        tell(t.size, merge.sorted(&[row::SIZE]), SECTOR);
        tell(t.distance, merge.sorted(&[row::AHEAD, row::BEHIND]), SECTOR);
        tell(
            t.nearest,
            merge.sorted(&[row::NEAR_AHEAD, row::NEAR_BEHIND]),
            SECTOR,
        );
        tell(t.depth, merge.sorted(&[row::DEPTH]), 1.0);
        merge.all(sector)
    }

    /// Time at each depth, and the greatest.
    fn depths(
        &mut self,
        known: &mut Known,
        device: Device,
        words: [Word; 2],
        write: bool,
        out: &mut Sink,
    ) -> io::Result<()> {
        let mut counted: Vec<(u32, u64)> = Vec::new();
        let (mut device, mut open) = (device, None);
        // What the program added and what it keeps are of one moment if nothing changed between.
        // Where it changes all the time, what is open is less than two readings took.
        for _ in 0..2 {
            if let Some(weights) = device.weights() {
                self.weights.growth(weights, |place, grown| {
                    counted.push(((place % CELLS) as u32, grown.whole()));
                });
            }
            let now = at_depth::now();
            let was = std::mem::replace(&mut device, self.devices.at(known.place)?);
            if device.state() == was.state() {
                open = device.state().open(now);
                break;
            }
        }
        let passed = known.at_depth.passed(counted, open);
        if !write {
            return Ok(());
        }
        // From 128 on a bucket of the grid has several depths.
        let bucket = |depth: u32| grid::index(u64::from(depth));
        let passed: Vec<(u32, u64)> = passed.into_iter().collect();
        for same in passed.chunk_by(|a, b| bucket(a.0) == bucket(b.0)) {
            let value = grid::lower(bucket(same[0].0)) as f64;
            let sum: u64 = same.iter().map(|s| s.1).sum();
            out.row(self.tables.at_depth, &words, &[value, sum as f64 / 1e9]);
        }
        let most = passed.last().map_or(0, |s| s.0).max(known.state.depth());
        out.row(self.tables.peak, &words, &[f64::from(most)]);
        Ok(())
    }
}
