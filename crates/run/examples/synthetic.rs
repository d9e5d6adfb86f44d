//! Writes a synthetic run: a day of many disks, to measure queries on.
//!
//! ```text
//! cargo run --release -p run --example synthetic -- RUN [HOURS [DEVICES]]
//! ```
//! Table `disk`, one second, four operations a device (24 hours of 64 devices: 22 million
//! rows), through the same writer as a recording. The numbers are as a busy server's: rates
//! that wander, sizes of several kinds, times that follow the load, a tenth of the devices
//! idle, intervals that are late by some microseconds. The seed is fixed, so that every
//! measurement reads the same run.

#![allow(
    clippy::disallowed_macros,
    reason = "a measuring program for the people who work on the run format"
)]

use std::path::Path;
use std::time::Duration;

use run::manifest::Manifest;
use run::rows::TableId;
use run::write::Writer;
use run::{Nanos, Sink, Word};

/// Bytes that may wait for the writer before this program waits for it.
const QUEUE: usize = 8 << 20;

/// Midnight, 2026-01-01, UTC.
const START: Nanos = 1_767_225_600_000_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("RUN is missing")?;
    let mut number = |default: u32| arguments.next().map_or(Ok(default), |a| a.parse());
    let (hours, devices) = (number(24)?, number(64)?);

    let mut manifest = manifest();
    let mut writer = Writer::create(Path::new(&path), &manifest)?;
    let mut sink = Sink::new();
    let table = TableId::of("disk");
    let mut random = Random(0x5eed);
    let mut disks: Vec<Disk> = (0..devices)
        .map(|n| Disk::new(n, &mut sink, &mut random))
        .collect();
    let mut last = START;
    for second in 1..=i64::from(hours) * 3600 {
        let late = (random.unit() * 60_000.0) as Nanos;
        let time = START + second * 1_000_000_000 + late;
        sink.at(time, (time - last) as f64 / 1e9);
        last = time;
        for disk in &mut disks {
            disk.sample(table, &mut sink, &mut random);
        }
        writer.append(&mut sink, time);
        while writer.queued() > QUEUE {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    manifest.ended = Some(last);
    let finished = writer.finish(manifest)?;
    if let Some(why) = finished.not_sealed {
        return Err(why.into());
    }
    for (table, rows) in finished.manifest.tables {
        println!("{table}: {rows} rows");
    }
    Ok(())
}

fn manifest() -> Manifest {
    Manifest::new("synthetic", START, 1.0)
}

/// A device: its words and the present load of each operation.
struct Disk {
    words: [Word; 2],
    ops: [Word; 4],
    load: [f64; 4],
    usual: [f64; 4],
    size: [f64; 4],
}

impl Disk {
    fn new(number: u32, sink: &mut Sink, random: &mut Random) -> Disk {
        let idle = number % 10 == 9;
        // sda … sdz, sdaa …: as the kernel names them.
        let letter = |n: u32| char::from(b'a' + (n % 26) as u8);
        let name = match number / 26 {
            0 => format!("sd{}", letter(number)),
            more => format!("sd{}{}", letter(more - 1), letter(number)),
        };
        let mut load = || if idle { 0.0 } else { 5000.0 * random.unit() };
        let usual = [load(), load(), 0.0, load() / 100.0];
        Disk {
            words: [sink.word(&name), sink.word("disk")],
            ops: ["read", "write", "discard", "flush"].map(|op| sink.word(op)),
            load: usual,
            usual,
            size: [16384.0, 65536.0, 1048576.0, 0.0],
        }
    }

    fn sample(&mut self, table: TableId, sink: &mut Sink, random: &mut Random) {
        for op in 0..4 {
            let load = &mut self.load[op];
            // Wanders, and is drawn back to where it began.
            *load = *load * (0.95 + 0.09 * random.unit()) + 0.005 * self.usual[op];
            let ios = (*load * (0.8 + 0.4 * random.unit())).round();
            // Whole sectors, as the kernel counts.
            let sectors = (ios * self.size[op] / 512.0 * (0.7 + 0.6 * random.unit())).round();
            let merges = (ios * 0.1 * random.unit()).round();
            // Whole milliseconds, as the kernel counts.
            let time = (ios * (0.1 + random.unit())).round() / 1000.0;
            let words = [self.words[0], self.words[1], self.ops[op]];
            // The third operation is discard, which moves nothing.
            let bytes = sectors * 512.0;
            let (moved, discarded) = if op == 2 { (0.0, bytes) } else { (bytes, 0.0) };
            sink.row(table, &words, &[ios, moved, merges, time, discarded]);
        }
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
}
