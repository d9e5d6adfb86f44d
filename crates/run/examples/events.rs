//! Writes a synthetic run of disk events, and says what an event costs on its way.
//!
//! ```text
//! cargo run --release -p run --example events -- RUN [MILLIONS [PROCESSES [paced]]]
//! ```
//! Table `disk_event` as of a fast device: 300,000 random reads of 4 KiB a second over 1 GiB,
//! 32 of them under way, log-normal times in queue and device. Through the same writer as a
//! recording, a tenth of a second at a time, with a row of `self` each second. The seed is
//! fixed, so that every measurement reads the same run. `paced`: in real time, so that the
//! memory is that of a recording. Results are lines of name, unit and value.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a measuring program for the people who work on the run format"
)]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use parquet::file::metadata::{ParquetMetaDataReader, RowGroupMetaData};
use run::journal::{Journal, encode_rows};
use run::manifest::Manifest;
use run::rows::TableId;
use run::write::Writer;
use run::{Nanos, Sink, Word};

/// Bytes that may wait for the writer before this program waits for it.
const QUEUE: usize = 8 << 20;

/// Midnight, 2026-01-01, UTC.
const START: Nanos = 1_767_225_600_000_000_000;

const SECOND: Nanos = 1_000_000_000;
const DEPTH: usize = 32;
const SPAN: u64 = 1 << 30;
const SIZE: u64 = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("RUN is missing")?;
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |a| a.parse());
    let (millions, processes) = (number(10)?, number(1)?);
    let paced = arguments.next().is_some_and(|a| a == "paced");

    let mut sink = Sink::new();
    if !paced {
        journal_cost(Device::new(&mut sink, processes), &mut sink)?;
    }
    sink = Sink::new();
    let mut device = Device::new(&mut sink, processes);
    let begin = Instant::now();
    let mut manifest = Manifest::new("synthetic", START, 1.0);
    let mut writer = Writer::create(Path::new(&path), &manifest)?;
    let (mut events, mut tenth) = (0, 0);
    while events < millions * 1_000_000 {
        tenth += 1;
        let time = START + tenth * SECOND / 10;
        events += device.run_until(time, &mut sink);
        if tenth % 10 == 0 || events >= millions * 1_000_000 {
            let length = if tenth % 10 == 0 { 10 } else { tenth % 10 };
            sink.at(time, length as f64 / 10.0);
            let own = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
            sink.row(TableId::of("self"), &[], &own);
        }
        writer.append(&mut sink, time);
        manifest.ended = Some(time);
        if paced {
            let due = Duration::from_millis(100 * tenth as u64);
            std::thread::sleep(due.saturating_sub(begin.elapsed()));
        }
        while writer.queued() > QUEUE {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    told("recording.memory", "MB", peak());
    let from = Instant::now();
    let finished = writer.finish(manifest)?;
    let sealing = from.elapsed();
    if let Some(why) = finished.not_sealed {
        return Err(why.into());
    }
    told("sealing.memory", "MB", peak());
    let per = |amount: f64| amount / events as f64;
    told(
        "sealing.time",
        "ns an event",
        per(sealing.as_nanos() as f64),
    );
    let written = finished.manifest.own.written_bytes as f64;
    told("journal.size", "bytes an event", per(written));
    let table = Path::new(&path).join("disk_event.parquet");
    let size = table.metadata()?.len() as f64;
    told("sealed.size", "bytes an event", per(size));
    told("events", "events", events as f64);
    columns(&table, events)
}

/// Prints what each column of a sealed table takes.
fn columns(table: &Path, events: u64) -> Result<(), Box<dyn std::error::Error>> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&File::open(table)?)?;
    let mut sizes: Vec<(String, i64)> = Vec::new();
    for column in metadata
        .row_groups()
        .iter()
        .flat_map(RowGroupMetaData::columns)
    {
        let name = column.column_path().string();
        match sizes.iter_mut().find(|s| s.0 == name) {
            Some(size) => size.1 += column.compressed_size(),
            None => sizes.push((name, column.compressed_size())),
        }
    }
    for (name, size) in sizes {
        let each = size as f64 / events as f64;
        told(&format!("column.{name}"), "bytes an event", each);
    }
    Ok(())
}

/// Times encoding and compressing ten seconds of events, apart.
fn journal_cost(mut device: Device, sink: &mut Sink) -> std::io::Result<()> {
    let path = std::env::temp_dir().join(format!("sonde-events-{}", std::process::id()));
    let mut options = File::options();
    let file = options
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    let mut journal = Journal::new(file);
    let (mut encode, mut compress, mut events) = (Duration::ZERO, Duration::ZERO, 0);
    let mut raw = 0;
    for tenth in 1..=100 {
        events += device.run_until(START + tenth * SECOND / 10, sink);
        let from = Instant::now();
        let mut rows = Vec::new();
        encode_rows(sink, &mut rows);
        encode += from.elapsed();
        raw += rows.len();
        sink.clear();
        let from = Instant::now();
        journal.append(&[], &rows)?;
        compress += from.elapsed();
        if tenth % 10 == 0 {
            journal.commit()?;
        }
    }
    let per = |time: Duration| time.as_nanos() as f64 / events as f64;
    told("encode.time", "ns an event", per(encode));
    told("encode.size", "bytes an event", raw as f64 / events as f64);
    told("compress.time", "ns an event", per(compress));
    Ok(())
}

/// Prints a result: name, unit, value.
fn told(name: &str, unit: &str, value: f64) {
    println!("{name}\t{unit}\t{value:.4}");
}

/// Largest resident memory so far, in MB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let number = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
    number.map_or(f64::NAN, |kib| kib * 1.024 / 1000.0)
}

/// A read under way; the one that ends first is the least.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Read {
    ends: Nanos,
    queue: Nanos,
    service: Nanos,
    offset: u64,
    distance: i64,
    nearest: i64,
    depth: u64,
    process: usize,
}

struct Device {
    table: TableId,
    words: Vec<Word>,
    processes: Vec<Word>,
    under_way: BinaryHeap<Reverse<Read>>,
    ends: VecDeque<u64>,
    random: Random,
}

impl Device {
    fn new(sink: &mut Sink, processes: u64) -> Device {
        let words = ["loop0", "stacked", "read", "sync", "no", "no"];
        let processes = (0..processes).map(|n| format!("fio[{}@77]", 1000 + n));
        Device {
            table: TableId::of("disk_event"),
            words: words.iter().map(|w| sink.word(w)).collect(),
            processes: processes.map(|p| sink.word(&p)).collect(),
            under_way: BinaryHeap::new(),
            ends: VecDeque::from([0]),
            random: Random(0x5eed),
        }
    }

    /// Adds what ends up to `time`; answers how many.
    fn run_until(&mut self, time: Nanos, sink: &mut Sink) -> u64 {
        let rest = ["fio", "/bench", "/bench/file"].map(|w| sink.word(w));
        let mut events = 0;
        while self.under_way.len() < DEPTH {
            self.issue(START);
        }
        while self.under_way.peek().is_some_and(|r| r.0.ends <= time) {
            let Some(Reverse(read)) = self.under_way.pop() else {
                break;
            };
            let rows = sink.events(self.table);
            rows.times.push(read.ends);
            let words = self.words.iter().chain([&self.processes[read.process]]);
            for (column, word) in rows.words.iter_mut().zip(words.chain(&rest)) {
                column.push(*word);
            }
            let values = [
                read.queue as f64 / 1e9,
                read.service as f64 / 1e9,
                SIZE as f64,
                read.offset as f64,
                read.distance as f64,
                read.nearest as f64,
                read.depth as f64,
                1.0,
            ];
            for (column, value) in rows.values.iter_mut().zip(values) {
                column.push(value);
            }
            events += 1;
            // The program asks for the next one a little later; now and then for several.
            let pause = (self.random.unit() * 2000.0) as Nanos;
            self.issue(read.ends + pause);
        }
        events
    }

    fn issue(&mut self, time: Nanos) {
        let offset = (self.random.unit() * (SPAN / SIZE) as f64) as u64 * SIZE;
        let from = |end: &u64| offset as i64 - *end as i64;
        let distance = self.ends.back().map_or(0, from);
        let nearest = self.ends.iter().map(from).min_by_key(|d| d.unsigned_abs());
        self.ends.push_back(offset + SIZE);
        if self.ends.len() > 16 {
            self.ends.pop_front();
        }
        let queue = self.random.log_normal(2_000.0, 1.0);
        let service = self.random.log_normal(92_000.0, 0.5);
        let jitter = self.random.unit() * 6.0;
        self.under_way.push(Reverse(Read {
            ends: time + queue + service,
            queue,
            service,
            offset,
            distance,
            nearest: nearest.unwrap_or(0),
            depth: (self.under_way.len() + 1).saturating_sub(jitter as usize) as u64,
            process: (self.random.unit() * self.processes.len() as f64) as usize,
        }));
    }
}

/// Numbers that look random: splitmix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    /// From 0 up to 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whole nanoseconds with that median (Box and Muller, 1958).
    fn log_normal(&mut self, median: f64, sigma: f64) -> Nanos {
        let (a, b) = (1.0 - self.unit(), self.unit());
        let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        (median * (sigma * normal).exp()) as Nanos
    }
}
