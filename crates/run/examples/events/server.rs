//! A busy server's hour, in which every dimension has many values: eight devices of three kinds,
//! 64 processes of sixteen programs in 24 control groups, two thousand files; reads, writes,
//! discards and flushes, of eight sizes, sequential and random, in bursts.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use run::rows::TableId;
use run::{Nanos, Sink, Word};

use crate::random::Random;
use crate::{Load, SECOND, START};

const HOUR: f64 = 3600.0 * SECOND as f64;
const PROCESSES: usize = 64;
const FILES: usize = 2000;
/// I/Os of a burst at most, and their mean.
const BURST: usize = 32;
const MEAN_BURST: f64 = 8.0;
const GIB: u64 = 1 << 30;
const SIZES: [u64; 8] = [4, 8, 16, 32, 64, 128, 256, 1024];
const PROGRAMS: [&str; 16] = [
    "postgres",
    "mysqld",
    "java",
    "nginx",
    "rsync",
    "fio",
    "etcd",
    "mongod",
    "kworker",
    "jbd2",
    "tar",
    "beam.smp",
    "redis",
    "node",
    "python3",
    "clickhouse",
];

/// A device: its words, where the last I/Os ended, how many are under way.
struct Device {
    words: [Word; 2],
    ends: VecDeque<u64>,
    under_way: u32,
    /// Median time in it, in nanoseconds.
    service: f64,
}

/// A file: its name, and where it lies on its device.
struct File {
    word: Word,
    start: u64,
    bytes: u64,
    next: u64,
}

/// A process: what it does to which files of which device.
struct Process {
    /// Itself, its command, its control group.
    words: [Word; 3],
    device: usize,
    files: Vec<usize>,
    reads: f64,
    sync: f64,
    random: bool,
    /// The first of the two sizes that it uses.
    size: usize,
}

/// An I/O under way.
struct Io {
    words: [Word; 10],
    numbers: [f64; 8],
    device: usize,
}

struct Words {
    ops: [Word; 4],
    sync: [Word; 2],
    no_yes: [Word; 2],
    none: Word,
}

pub(crate) struct Server {
    table: TableId,
    words: Words,
    devices: Vec<Device>,
    processes: Vec<Process>,
    files: Vec<File>,
    /// By end and number of the I/O; those are its places in `ios`.
    under_way: BinaryHeap<Reverse<(Nanos, usize)>>,
    ios: Vec<Io>,
    free: Vec<usize>,
    /// When the next burst begins, and the mean time between two.
    next: Nanos,
    pause: f64,
    random: Random,
}

impl Server {
    /// Makes about `events` events in an hour.
    pub(crate) fn new(sink: &mut Sink, events: u64) -> Server {
        let mut random = Random(0x5eed);
        let kinds = [("nvme0n1", "disk", 80e3), ("nvme1n1", "disk", 80e3)];
        let kinds = kinds.into_iter().chain(
            ["sda", "sdb", "sdc", "sdd"].map(|n| (n, "disk", if n < "sdc" { 180e3 } else { 4e6 })),
        );
        let kinds = kinds.chain([("md0", "stacked", 250e3), ("dm-3", "stacked", 120e3)]);
        let devices: Vec<Device> = kinds
            .map(|(name, layer, service)| Device {
                words: [sink.word(name), sink.word(layer)],
                ends: VecDeque::from([0]),
                under_way: 0,
                service,
            })
            .collect();
        let mut files = Vec::with_capacity(FILES);
        for n in 0..FILES {
            let bytes = (1 + random.below(4096) as u64) << 20;
            files.push(File {
                word: sink.word(&format!("/srv/volume{}/data/{n:04}.dat", n % 8)),
                start: random.below(4000) as u64 * GIB,
                bytes,
                next: 0,
            });
        }
        let processes = (0..PROCESSES).map(|n| {
            let program = PROGRAMS[n % PROGRAMS.len()];
            let group = format!("/system.slice/{program}-{}.service", n % 24);
            Process {
                words: [
                    sink.word(&format!("{program}[{}@{}]", 1000 + 37 * n, 500 + n)),
                    sink.word(program),
                    sink.word(&group),
                ],
                device: n % devices.len(),
                files: (0..FILES).filter(|f| f % PROCESSES == n).collect(),
                reads: random.unit(),
                sync: random.unit(),
                random: n % 3 > 0,
                size: n % (SIZES.len() - 1),
            }
        });
        let processes = processes.collect();
        Server {
            table: TableId::of("disk_event"),
            words: Words {
                ops: ["read", "write", "discard", "flush"].map(|w| sink.word(w)),
                sync: ["async", "sync"].map(|w| sink.word(w)),
                no_yes: ["no", "yes"].map(|w| sink.word(w)),
                none: sink.word("none"),
            },
            devices,
            processes,
            files,
            under_way: BinaryHeap::new(),
            ios: Vec::new(),
            free: Vec::new(),
            next: START,
            pause: HOUR * MEAN_BURST / events as f64,
            random,
        }
    }

    /// Several I/Os of a process at once: those that come first do most.
    fn burst(&mut self, time: Nanos) {
        let of = self.random.unit();
        let process = (of * of * PROCESSES as f64) as usize;
        let count = -MEAN_BURST * (1.0 - self.random.unit()).ln();
        let count = (count.round() as usize).clamp(1, BURST);
        let files = self.processes[process].files.len();
        let file = self.processes[process].files[self.random.below(files)];
        for n in 0..count {
            self.issue(time + 1000 * n as Nanos, process, file);
        }
    }

    fn issue(&mut self, time: Nanos, process: usize, file: usize) {
        let random = &mut self.random;
        let process = &self.processes[process];
        let device = &mut self.devices[process.device];
        let which = random.unit();
        // Reads and writes; one in fifty trims, one in fifty flushes what was written.
        let op = match which {
            w if w < 0.96 * process.reads => 0,
            w if w < 0.96 => 1,
            w if w < 0.98 => 2,
            _ => 3,
        };
        let flush = op == 3;
        let size = match op {
            3 => 0,
            2 => 1 << 20,
            _ => SIZES[process.size + usize::from(random.unit() < 0.2)] << 10,
        };
        let file = &mut self.files[file];
        let at = if process.random {
            (random.unit() * (file.bytes / 4096) as f64) as u64 * 4096
        } else {
            file.next
        };
        file.next = (at + size) % file.bytes;
        let offset = file.start + at;
        let from = |end: &u64| (offset as i64 - *end as i64) as f64;
        let distance = device.ends.back().map_or(0.0, from);
        let nearest = device.ends.iter().map(from);
        let nearest = nearest.min_by(|a, b| a.abs().total_cmp(&b.abs()));
        let nearest = nearest.unwrap_or(0.0);
        if !flush {
            device.ends.push_back(offset + size);
            if device.ends.len() > 16 {
                device.ends.pop_front();
            }
        }
        device.under_way += 1;
        let queue = random.log_normal(1_500.0 * f64::from(device.under_way), 1.0);
        let service = random.log_normal(device.service + size as f64 / 2.0, 0.6);
        let sequential = match (flush, nearest == 0.0) {
            (true, _) => self.words.none,
            (_, found) => self.words.no_yes[usize::from(found)],
        };
        let place = |value: f64| if flush { f64::NAN } else { value };
        let metadata = op == 1 && random.unit() < 0.05;
        let io = Io {
            words: [
                device.words[0],
                device.words[1],
                self.words.ops[op],
                self.words.sync[usize::from(random.unit() < process.sync)],
                self.words.no_yes[usize::from(metadata)],
                sequential,
                process.words[0],
                process.words[1],
                process.words[2],
                if metadata { self.words.none } else { file.word },
            ],
            numbers: [
                queue as f64 / 1e9,
                service as f64 / 1e9,
                size as f64,
                place(offset as f64),
                place(distance),
                place(nearest),
                f64::from(device.under_way),
                1.0,
            ],
            device: process.device,
        };
        let slot = self.free.pop().unwrap_or(self.ios.len());
        if slot == self.ios.len() {
            self.ios.push(io);
        } else {
            self.ios[slot] = io;
        }
        self.under_way.push(Reverse((time + queue + service, slot)));
    }
}

impl Load for Server {
    fn run_until(&mut self, time: Nanos, sink: &mut Sink) -> u64 {
        let mut events = 0;
        loop {
            let ended = self.under_way.peek().map(|io| io.0);
            match ended.filter(|(ends, _)| *ends <= time.min(self.next)) {
                Some((ends, slot)) => {
                    self.under_way.pop();
                    let io = &self.ios[slot];
                    self.devices[io.device].under_way -= 1;
                    self.free.push(slot);
                    let rows = sink.events(self.table);
                    rows.event(ends, io.words, io.numbers);
                    events += 1;
                }
                None if self.next <= time => {
                    self.burst(self.next);
                    let pause = -self.pause * (1.0 - self.random.unit()).ln();
                    self.next += pause as Nanos;
                }
                None => break,
            }
        }
        events
    }
}
