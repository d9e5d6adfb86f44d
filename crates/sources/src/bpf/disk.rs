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

mod events;
mod merge;
mod waiting;

use std::io;
use std::os::fd::BorrowedFd;

use aya::maps::{Array, MapData};
use run::manifest::Program;
use run::rows::TableId;
use run::{Nanos, Sink, Word, grid};

use super::attach::Hook;
use super::cells::{Blocks, CELLS};
use super::control::Control;
use super::load::{Constant, Lanes, Loaded, load};
use super::losses::Losses;
use crate::proc::disk::layer;
use crate::{Availability, Detail, Entry, Host, Lost, Source};
use events::Events;
use merge::{Cell, Merge};
use waiting::Waiting;

/// The source.
pub const ENTRY: Entry = Entry {
    name: "bpf-disk",
    help: "block I/O: latency, queue and service time, size, seeks, depth; each I/O as an event",
    reads: "tracepoints block:block_rq_*, block_bio_*, block_io_start, iomap:iomap_dio_rw_begin, \
            iomap_dio_rw_queued, iomap_dio_complete, sched:sched_process_exec",
    link: "https://docs.kernel.org/trace/events.html",
    detail: Detail::Distributions,
    open,
};

const DEVICES: usize = 128;
const OPS: usize = 4;
const NAMES: [&str; OPS] = ["read", "write", "discard", "flush"];
const DISCARD: usize = 2;
const FLUSH: usize = 3;
const SECTOR: f64 = 512.0;
/// Numbers of a device in the program's map: 256 bytes.
const DEVICE_WORDS: usize = 32;
const DEVICE_NAME: std::ops::Range<usize> = 28..48;
/// Numbers of the sums of an operation, and which is which.
const SUMS: usize = 4;
const QUEUE: usize = 0;
const SERVICE: usize = 1;
const ERRORS: usize = 2;
const REQUEUES: usize = 3;

/// Devices that may come while it runs and still find room. A block takes 160 kB of the kernel's
/// memory for each lane.
const LATER: u32 = 4;

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

type Devices = [u64; DEVICES * DEVICE_WORDS];
type Sums = [u64; OPS * SUMS];

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
    Hook::useful("disk_start", "block_io_start"),
    Hook::useful("disk_direct", "iomap_dio_rw_begin"),
];
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
    peak: TableId,
}

struct Disk {
    host: Host,
    loaded: Loaded,
    /// As long as no device without requests is set up.
    without_bios: Option<Waiting>,
    devices: Array<MapData, Devices>,
    totals: Array<MapData, Sums>,
    control: Control,
    blocks: Blocks<BLOCK>,
    weights: Blocks<WEIGHTS>,
    lanes: u32,
    tables: Tables,
    known: Vec<Known>,
    ops: Option<[Word; OPS]>,
    events: Option<Events>,
    merge: Merge,
    losses: Losses,
}

/// A device that was seen.
#[derive(Clone)]
struct Known {
    place: usize,
    words: [Word; 2],
    sums: Sums,
}

impl Known {
    /// The device at that place of the program's map.
    fn new(place: usize, devices: &Devices, host: &Host, out: &mut Sink) -> Known {
        let device = &devices[place * DEVICE_WORDS..][..DEVICE_WORDS];
        let bytes: Vec<u8> = device.iter().flat_map(|w| w.to_ne_bytes()).collect();
        let name = &bytes[DEVICE_NAME];
        let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
        let name = crate::read::text(&name[..end]).replace('!', "/");
        Known {
            place,
            words: [out.word(&name), out.word(layer(host, &name))],
            sums: [0; OPS * SUMS],
        }
    }
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
    let (devices, blocks) = room_needed(host);
    let weights = (devices + LATER).min(DEVICES as u32);
    let blocks = (blocks + OPS as u32 * LATER).min((OPS * DEVICES) as u32);
    let slots = slots_needed(host);
    let constants = [
        Constant::Word("lanes", lanes.count),
        Constant::Word("lane_mask", lanes.count - 1),
        Constant::Flag("lanes_shared", lanes.shared),
        Constant::Word("all_blocks", blocks),
        Constant::Word("all_weights", weights),
        Constant::Word("slot_mask", slots - 1),
        Constant::Flag("with_events", with_events),
        Constant::Word("group_subsystem", super::who::group_subsystem(host)),
    ];
    let sizes = [
        ("blocks", blocks * lanes.count),
        ("weights", weights * lanes.count),
        ("totals", DEVICES as u32 * lanes.count),
        ("slots", slots),
        ("bios", 1 << 14),
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
        without_bios,
        devices: loaded.array("devices")?,
        totals: loaded.array("totals")?,
        control: Control::of(&mut loaded)?,
        blocks: Blocks::new(loaded.array("blocks")?, lanes.count),
        weights: Blocks::new(loaded.array("weights")?, lanes.count),
        lanes: lanes.count,
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
            peak: TableId::of("disk_peak"),
        },
        known: Vec::new(),
        ops: None,
        events,
        merge: Merge::default(),
        losses: loaded.losses()?,
        loaded,
    }))
}

/// How many devices are set up, and how many blocks they need: one for each operation that they
/// have. What is not set up does nothing.
fn room_needed(host: &Host) -> (u32, u32) {
    let (mut devices, mut blocks) = (0, 0);
    for device in std::fs::read_dir(host.sys("block")).into_iter().flatten() {
        let Ok(device) = device else { continue };
        let says = |name: &str| crate::read::once(&device.path().join(name)).unwrap_or_default();
        if says("size") == "0" {
            continue;
        }
        let discards = says("queue/discard_max_bytes") != "0";
        let flushes = says("queue/write_cache") != "write through";
        devices += 1;
        blocks += 2 + u32::from(discards) + u32::from(flushes);
    }
    (devices, blocks)
}

/// Places for requests under way, as a power of two: many times more than the devices can
/// have, so that two hardly ever meet at one place.
fn slots_needed(host: &Host) -> u32 {
    let mut all = 1 << 10;
    let devices = std::fs::read_dir(host.sys("block"));
    for device in devices.into_iter().flatten().flatten() {
        let queues = std::fs::read_dir(device.path().join("mq"));
        for queue in queues.into_iter().flatten().flatten() {
            let tags = crate::read::once(&queue.path().join("nr_tags"));
            all += tags.and_then(|t| t.parse::<u32>().ok()).unwrap_or(128);
        }
    }
    (all * 8).next_power_of_two().min(1 << 20)
}

impl Disk {
    /// Programs that see bios run at each I/O of every device, so they are attached when the first
    /// device comes that needs them.
    fn look_for_bios(&mut self) {
        let waiting = self.without_bios.as_mut();
        if !waiting.is_some_and(|w| w.is_over(&self.host)) {
            return;
        }
        self.without_bios = None;
        // Where it is refused, `doctor` and the manifest say so of each program.
        let _ = self.loaded.attach(&self.host, &BIO_HOOKS);
    }
}

impl Source for Disk {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        self.look_for_bios();
        let ops = *self.ops.get_or_insert_with(|| NAMES.map(|n| out.word(n)));
        let devices = self.devices.get(&0, 0).map_err(io::Error::other)?;
        for place in 0..DEVICES {
            let device = &devices[place * DEVICE_WORDS..][..DEVICE_WORDS];
            if device[0] == 0 {
                continue;
            }
            let known = self.known.iter().position(|k| k.place == place);
            let known = known.unwrap_or_else(|| {
                self.known
                    .push(Known::new(place, &devices, &self.host, out));
                self.known.len() - 1
            });
            self.report(known, device, ops, interval, out)?;
        }
        Ok(())
    }

    fn drain(&mut self, offset: Nanos, out: &mut Sink) -> u64 {
        let (Some(events), Some(ops)) = (&mut self.events, self.ops) else {
            return 0;
        };
        let (devices, host, known) = (&self.devices, &self.host, &mut self.known);
        let mut name = |place: usize, out: &mut Sink| {
            if let Some(known) = known.iter().find(|k| k.place == place) {
                return known.words;
            }
            // Its first I/O was after the last sample.
            let Ok(devices) = devices.get(&0, 0) else {
                return [out.word("(unknown)"); 2];
            };
            known.push(Known::new(place, &devices, host, out));
            known[known.len() - 1].words
        };
        events.drain(offset, &mut name, ops, out)
    }

    fn ready(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(Events::ready)
    }

    fn measured(&mut self, seconds: f64) -> Vec<Program> {
        self.loaded.measured(seconds)
    }

    fn lost(&mut self) -> Option<Lost> {
        Some(self.losses.read("disk_event"))
    }

    fn one_in(&mut self, n: u32) {
        self.control.one_in(n);
    }
}

impl Disk {
    fn report(
        &mut self,
        known: usize,
        device: &[u64],
        ops: [Word; OPS],
        interval: Option<f64>,
        out: &mut Sink,
    ) -> io::Result<()> {
        let place = self.known[known].place;
        let words = self.known[known].words;
        let mut now = [0_u64; OPS * SUMS];
        for lane in 0..self.lanes {
            let key = place as u32 * self.lanes + lane;
            let lane = self.totals.get(&key, 0).map_err(io::Error::other)?;
            for (sum, value) in now.iter_mut().zip(lane) {
                *sum = sum.wrapping_add(value);
            }
        }
        let before = self.known[known].sums;
        // The block of each operation, and one; two numbers share a word of 64 bits.
        // What has no block yet when `device` is read may have one now: it is told next time, for
        // what it counted would never be asked for if it does nothing more.
        let block_of = |op: usize| (device[1 + op / 2] >> (32 * (op % 2))) as u32;
        for op in (0..OPS).filter(|op| block_of(*op) == 0) {
            let sums = op * SUMS..(op + 1) * SUMS;
            now[sums.clone()].copy_from_slice(&before[sums]);
        }
        self.known[known].sums = now;
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
            active = true;
            let words = [words[0], words[1], word];
            let [ios, random] = self.histograms(block_of(op) - 1, words, op, write, out);
            if write {
                let values = [
                    ios,
                    grown(op, QUEUE) as f64 / 1e9,
                    grown(op, SERVICE) as f64 / 1e9,
                    grown(op, ERRORS) as f64,
                    grown(op, REQUEUES) as f64,
                    random,
                ];
                out.row(self.tables.io, &words, &values);
            }
        }
        let (depth, weights) = ((device[8] & 0xffff) as u32, device[3] as u32);
        if weights > 0 && (active || depth > 0) {
            self.depths(weights - 1, depth, words, write, out);
        }
        Ok(())
    }

    /// Writes the histograms of a device and operation; answers with how many I/Os there
    /// were, and how many of them random.
    fn histograms(
        &mut self,
        block: u32,
        words: [Word; 3],
        op: usize,
        write: bool,
        out: &mut Sink,
    ) -> [f64; 2] {
        let merge = &mut self.merge;
        merge.clear();
        self.blocks.growth(block, |place, grown| {
            merge.take(place / CELLS, (place % CELLS) as u32, grown);
        });
        if !write {
            return [0.0; 2];
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
        [merge.ios(), merge.random()]
    }

    /// Time at each depth, and the greatest.
    fn depths(&mut self, weights: u32, now: u32, words: [Word; 2], write: bool, out: &mut Sink) {
        let mut seconds: Vec<(u32, f64)> = Vec::new();
        self.weights.growth(weights, |place, grown| {
            seconds.push(((place % CELLS) as u32, grown as f64 / 1e9));
        });
        if !write {
            return;
        }
        // From 128 on a bucket of the grid has several depths.
        let bucket = |depth: u32| grid::index(u64::from(depth));
        seconds.sort_by_key(|s| s.0);
        for same in seconds.chunk_by(|a, b| bucket(a.0) == bucket(b.0)) {
            let value = grid::lower(bucket(same[0].0)) as f64;
            let sum: f64 = same.iter().map(|s| s.1).sum();
            out.row(self.tables.at_depth, &words, &[value, sum]);
        }
        let most = seconds.last().map_or(0, |s| s.0).max(now);
        out.row(self.tables.peak, &words, &[f64::from(most)]);
    }
}
