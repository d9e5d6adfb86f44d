//! Block I/O as distributions and events, from the kernel's block tracepoints
//! (`disk.bpf.c`).
//!
//! insert (into the scheduler) → issue (to the device) → complete. An I/O is counted in all
//! histograms when it completes, so that they have the same sum, which is that of
//! `/proc/diskstats`. An I/O issued before the program was attached is in none of them.
//!
//! <https://docs.kernel.org/trace/events.html>

mod events;

use std::io;
use std::os::fd::BorrowedFd;

use aya::maps::{Array, MapData};
use run::manifest::Program;
use run::rows::TableId;
use run::{Nanos, Sink, Word, grid};

use super::cells::{Rows, amount, count};
use super::load::{Constant, Hook, Lanes, Loaded, load};
use crate::proc::disk::layer;
use crate::{Availability, Detail, Entry, Host, Source};
use events::Events;

/// The source.
pub const ENTRY: Entry = Entry {
    name: "bpf-disk",
    help: "block I/O: latency, queue and service time, size, seeks, depth; each I/O as an event",
    reads: "tracepoints block:block_rq_*, block_bio_*, block_io_start, iomap_dio_rw_begin",
    link: "https://docs.kernel.org/trace/events.html",
    detail: Detail::Distributions,
    open,
};

const DEVICES: usize = 128;
const OPS: usize = 4;
const NAMES: [&str; OPS] = ["read", "write", "discard", "flush"];
const DISCARD: usize = 2;
const SECTOR: f64 = 512.0;
/// Numbers of a device in the program's map: 256 bytes.
const DEVICE_WORDS: usize = 32;
const DEVICE_NAME: std::ops::Range<usize> = 36..56;
/// Numbers of the sums of an operation, and which is which.
const SUMS: usize = 8;
const IOS: usize = 0;
const QUEUE: usize = 1;
const SERVICE: usize = 2;
const ERRORS: usize = 3;
const RANDOM: usize = 4;
const REQUEUES: usize = 6;

type Devices = [u64; DEVICES * DEVICE_WORDS];
type Sums = [u64; OPS * SUMS];

const HOOKS: [Hook; 5] = [
    Hook::needed("disk_issue", "block_rq_issue"),
    Hook::needed("disk_complete", "block_rq_complete"),
    Hook::useful("disk_insert", "block_rq_insert"),
    Hook::useful("disk_requeue", "block_rq_requeue"),
    Hook::useful("disk_merge", "block_rq_merge"),
];
const BIO_HOOKS: [Hook; 2] = [
    Hook::useful("disk_bio_queue", "block_bio_queue"),
    Hook::useful("disk_bio_complete", "block_bio_complete"),
];
const EVENT_HOOKS: [Hook; 2] = [
    Hook::useful("disk_start", "block_io_start"),
    Hook::useful("disk_direct", "iomap_dio_rw_begin"),
];

/// A histogram of the program: its rows, and the table it fills.
struct Histogram {
    table: TableId,
    /// Row of values from zero up, and of those below zero.
    rows: (u32, Option<u32>),
    /// What a value of the grid is worth, in base units.
    unit: f64,
}

struct Disk {
    host: Host,
    loaded: Loaded,
    devices: Array<MapData, Devices>,
    totals: Array<MapData, Sums>,
    peaks: Array<MapData, u32>,
    control: Array<MapData, [u32; 2]>,
    rows: Rows,
    lanes: u32,
    interval: u32,
    histograms: [Histogram; 7],
    at_depth: TableId,
    io: TableId,
    peak: TableId,
    known: Vec<Known>,
    ops: Option<[Word; OPS]>,
    events: Option<Events>,
}

/// A device that was seen.
#[derive(Clone)]
struct Known {
    place: usize,
    words: [Word; 2],
    sums: Sums,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let lanes = Lanes::of_this_machine();
    let devices = std::fs::read_dir(host.sys("block")).map_or(0, Iterator::count);
    let with_events = host.look.events_of("disk");
    let mut hooks = HOOKS.to_vec();
    if any_without_requests(host) {
        hooks.extend(BIO_HOOKS);
    }
    if with_events {
        hooks.extend(EVENT_HOOKS);
    }
    // Each device has two rows, and nine an operation: room for reads and writes of all, and
    // for some that come later.
    let rows = 20 * (devices as u32).clamp(4, 64) + 80;
    let slots = slots_needed(host);
    let constants = [
        Constant::Word("lanes", lanes.count),
        Constant::Word("lane_mask", lanes.count - 1),
        Constant::Flag("lanes_shared", lanes.shared),
        Constant::Word("all_rows", rows),
        Constant::Word("slot_mask", slots - 1),
        Constant::Flag("with_events", with_events),
        Constant::Word("group_subsystem", super::who::group_subsystem(host)),
    ];
    let sizes = [
        ("rows", rows * lanes.count),
        ("totals", DEVICES as u32 * lanes.count),
        ("slots", slots),
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
    let time = |table, row| Histogram {
        table: TableId::of(table),
        rows: (row, None),
        unit: 1e-9,
    };
    let sectors = |table, row, below| Histogram {
        table: TableId::of(table),
        rows: (row, below),
        unit: SECTOR,
    };
    let events = if with_events {
        Some(Events::new(host, loaded.ring()?))
    } else {
        None
    };
    Ok(Box::new(Disk {
        host: host.clone(),
        devices: loaded.array("devices")?,
        totals: loaded.array("totals")?,
        peaks: loaded.array("peaks")?,
        control: loaded.array("control")?,
        rows: Rows::new(loaded.array("rows")?, lanes.count),
        lanes: lanes.count,
        interval: 0,
        // The order of `enum row_kind`.
        histograms: [
            time("disk_latency", 0),
            time("disk_queue_time", 1),
            time("disk_service_time", 2),
            sectors("disk_size", 3, None),
            sectors("disk_distance", 4, Some(5)),
            sectors("disk_nearest", 6, Some(7)),
            Histogram {
                unit: 1.0,
                ..sectors("disk_depth", 8, None)
            },
        ],
        at_depth: TableId::of("disk_at_depth"),
        io: TableId::of("disk_io"),
        peak: TableId::of("disk_peak"),
        known: Vec::new(),
        ops: None,
        events,
        loaded,
    }))
}

/// Whether there are devices that have bios and no requests: device mapper, md, zram. They
/// have no directory of hardware queues.
fn any_without_requests(host: &Host) -> bool {
    let Ok(dir) = std::fs::read_dir(host.sys("block")) else {
        return false;
    };
    dir.flatten().any(|d| {
        let queues = std::fs::read_dir(d.path().join("mq"));
        let none = queues.map_or(true, |mut q| q.next().is_none());
        // One that is not set up does nothing.
        none && crate::read::once(&d.path().join("size")).is_some_and(|s| s != "0")
    })
}

/// Places for all requests that the devices can have under way, as a power of two; the
/// program takes at least 256 a hardware queue, and twice the tags.
fn slots_needed(host: &Host) -> u32 {
    let mut all = 1 << 13;
    for device in std::fs::read_dir(host.sys("block"))
        .into_iter()
        .flatten()
        .flatten()
    {
        for queue in std::fs::read_dir(device.path().join("mq"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let tags = crate::read::once(&queue.path().join("nr_tags"));
            let tags = tags.and_then(|t| t.parse::<u32>().ok()).unwrap_or(128);
            all += (tags * 2).next_power_of_two().max(256);
        }
    }
    all.next_power_of_two().min(1 << 20)
}

impl Source for Disk {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let ops = *self.ops.get_or_insert_with(|| NAMES.map(|n| out.word(n)));
        let devices = self.devices.get(&0, 0).map_err(io::Error::other)?;
        self.turn()?;
        for place in 0..DEVICES {
            let device = &devices[place * DEVICE_WORDS..][..DEVICE_WORDS];
            if device[0] == 0 {
                continue;
            }
            let known = self.known.iter().position(|k| k.place == place);
            let known = known.unwrap_or_else(|| self.meet(place, device, out));
            self.report(known, device, ops, interval, out)?;
        }
        Ok(())
    }

    fn drain(&mut self, offset: Nanos, out: &mut Sink) -> u64 {
        let (Some(events), Some(ops)) = (&mut self.events, self.ops) else {
            return 0;
        };
        let names: Vec<(usize, [Word; 2])> =
            self.known.iter().map(|k| (k.place, k.words)).collect();
        events.drain(offset, &names, ops, out)
    }

    fn ready(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(Events::ready)
    }

    fn measured(&mut self, seconds: f64) -> Vec<Program> {
        self.loaded.read_programs(seconds);
        self.loaded.programs().cloned().collect()
    }

    fn one_in(&mut self, n: u32) {
        let _ = self.control.set(0, [n, self.interval], 0);
    }
}

impl Disk {
    /// Starts the next interval of the greatest depths.
    fn turn(&mut self) -> io::Result<()> {
        self.interval = self.interval.wrapping_add(1);
        let [one_in, _] = self.control.get(&0, 0).map_err(io::Error::other)?;
        self.control
            .set(0, [one_in, self.interval], 0)
            .map_err(io::Error::other)
    }

    /// Learns the name of a device; answers with its place in `known`.
    fn meet(&mut self, place: usize, device: &[u64], out: &mut Sink) -> usize {
        let bytes: Vec<u8> = device.iter().flat_map(|w| w.to_ne_bytes()).collect();
        let name = &bytes[DEVICE_NAME];
        let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
        let name = crate::read::text(&name[..end]).replace('!', "/");
        let words = [out.word(&name), out.word(layer(&self.host, &name))];
        self.known.push(Known {
            place,
            words,
            sums: [0; OPS * SUMS],
        });
        self.known.len() - 1
    }

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
        let before = std::mem::replace(&mut self.known[known].sums, now);
        let grown = |op: usize, what: usize| {
            let at = op * SUMS + what;
            now[at].wrapping_sub(before[at])
        };
        let write = interval.is_some();
        let mut active = false;
        for (op, word) in ops.into_iter().enumerate() {
            if grown(op, IOS) == 0 && grown(op, REQUEUES) == 0 {
                continue;
            }
            active = true;
            if write {
                let values = [
                    grown(op, QUEUE) as f64 / 1e9,
                    grown(op, SERVICE) as f64 / 1e9,
                    grown(op, ERRORS) as f64,
                    grown(op, REQUEUES) as f64,
                    grown(op, RANDOM) as f64,
                ];
                out.row(self.io, &[words[0], words[1], word], &values);
            }
            // The first row of each operation, and one; two numbers share a word of 64 bits.
            let first = (device[2 + op / 2] >> (32 * (op % 2))) as u32;
            if first > 0 {
                self.histograms(first - 1, [words[0], words[1], word], op, write, out);
            }
        }
        if active || device[8] & 0xffff > 0 {
            self.depths(place, device, words, write, out);
        }
        Ok(())
    }

    fn histograms(&mut self, first: u32, words: [Word; 3], op: usize, write: bool, out: &mut Sink) {
        // A discard moves nothing.
        let sector = if op == DISCARD { 0.0 } else { SECTOR };
        for h in &self.histograms {
            let mut tell = |cell: u32, grown: u64, sign: f64| {
                if write {
                    let value = grid::lower(cell) as f64 * h.unit * sign;
                    let values = [value, count(grown), amount(grown) * sector];
                    out.row(h.table, &words, &values);
                }
            };
            self.rows
                .growth(first + h.rows.0, |cell, grown| tell(cell, grown, 1.0));
            if let Some(below) = h.rows.1 {
                self.rows
                    .growth(first + below, |cell, grown| tell(cell, grown, -1.0));
            }
        }
    }

    /// Time at each depth, and the greatest.
    fn depths(
        &mut self,
        place: usize,
        device: &[u64],
        words: [Word; 2],
        write: bool,
        out: &mut Sink,
    ) {
        let weights = device[4] as u32;
        if weights > 0 {
            let mut seconds: Vec<(u32, f64)> = Vec::new();
            for row in [weights - 1, weights] {
                self.rows.growth(row, |cell, grown| {
                    seconds.push((cell, grown as f64 / 1e9));
                });
            }
            seconds.sort_by_key(|s| s.0);
            for both in seconds.chunk_by(|a, b| a.0 == b.0) {
                let sum: f64 = both.iter().map(|s| s.1).sum();
                if write {
                    out.row(self.at_depth, &words, &[grid_of(both[0].0), sum]);
                }
            }
        }
        let slot = place as u32 * 2 + (self.interval.wrapping_sub(1) & 1);
        let most = self.peaks.get(&slot, 0).unwrap_or(0);
        let _ = self.peaks.set(slot, 0_u32, 0);
        // It may have been deep before the interval and only got less deep since.
        let now = (device[8] & 0xffff) as u32;
        if write {
            out.row(self.peak, &words, &[f64::from(most.max(now))]);
        }
    }
}

/// Depths have a cell each; as a dimension they are on the grid, whose buckets are wider from
/// 128 on.
fn grid_of(depth: u32) -> f64 {
    grid::lower(grid::index(u64::from(depth))) as f64
}
