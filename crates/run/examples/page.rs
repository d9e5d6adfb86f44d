//! Writes synthetic runs that are large for a page.
//!
//! ```text
//! cargo run --release -p run --example page -- events RUN [MILLIONS]   an hour and its events
//! cargo run --release -p run --example page -- series RUN [HOURS]      2,000 series at 1 s
//! cargo run --release -p run --example page -- files RUN [THOUSANDS]   as many files, each once
//! ```
//! `events`: an hour at 1 s of processors, memory, six disks with latencies by bucket, and 10
//! million events of one of them, log-normal in time, with a bubble of slow ones of one file.
//! `files`: events of as many different files as told.
//! `series`: 500 disks by four operations. The seed is fixed.

#![allow(
    clippy::disallowed_macros,
    reason = "a measuring program for the people who work on the page"
)]

use std::path::Path;

use run::manifest::Manifest;
use run::rows::TableId;
use run::write::Writer;
use run::{Nanos, Sink, Unit, Word, grid};

/// Midnight, 2026-01-01, UTC.
const START: Nanos = 1_767_225_600_000_000_000;
const SECOND: Nanos = 1_000_000_000;

/// Bytes that may wait for the writer before this program waits for it.
const QUEUE: usize = 8 << 20;

const OPS: [&str; 4] = ["read", "write", "discard", "flush"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().ok_or("events, series or files")?;
    let path = arguments.next().ok_or("RUN is missing")?;
    let number: Option<i64> = arguments.next().map(|a| a.parse()).transpose()?;
    let mut manifest = Manifest::new("synthetic", START, 1.0);
    let mut writer = Writer::create(Path::new(&path), &manifest)?;
    let mut sink = Sink::new();
    let seconds = match kind.as_str() {
        "events" => {
            let each = number.unwrap_or(10) * 1_000_000 / 3600;
            let mut random = Random(7);
            for second in 1..=3600 {
                hour(&mut sink, second, each, &mut random);
                append(&mut writer, &mut sink, second);
            }
            3600
        }
        "series" => {
            let seconds = number.unwrap_or(24) * 3600;
            for second in 1..=seconds {
                series(&mut sink, second);
                append(&mut writer, &mut sink, second);
            }
            seconds
        }
        "files" => {
            let each = number.unwrap_or(1000) * 10;
            for second in 1..=100 {
                own(&mut sink, second);
                files(&mut sink, second, each);
                append(&mut writer, &mut sink, second);
            }
            100
        }
        other => return Err(format!("{other}: events, series or files").into()),
    };
    manifest.ended = Some(START + seconds * SECOND);
    let finished = writer.finish(manifest)?;
    println!("{}", finished.path.display());
    Ok(())
}

fn append(writer: &mut Writer, sink: &mut Sink, second: i64) {
    writer.append(sink, START + second * SECOND);
    while writer.queued() > QUEUE {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// A linear congruential generator (Knuth, MMIX).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// About normal: mean 0, deviation 1 (the sum of twelve, less six).
    fn normal(&mut self) -> f64 {
        let sum: u64 = (0..12).map(|_| self.next() & 0xffff).sum();
        sum as f64 / 65_536.0 - 6.0
    }
}

fn own(sink: &mut Sink, second: i64) {
    sink.at(START + second * SECOND, 1.0);
    sink.row(
        TableId::of("self"),
        &[],
        &[0.005, 5e4, 1.0, 0.0, 0.0, 0.0, 3e7],
    );
}

fn disk(sink: &mut Sink, device: &str, op: usize, second: i64) {
    let words = [sink.word(device), sink.word("disk"), sink.word(OPS[op])];
    let ios = ((second * 31 + op as i64 * 17) % 97) as f64 * 4.0;
    let values = [ios, ios * 16_384.0, 0.0, ios * 0.0004, 0.0];
    sink.row(TableId::of("disk"), &words, &values);
}

fn series(sink: &mut Sink, second: i64) {
    own(sink, second);
    for device in 0..500 {
        for op in 0..OPS.len() {
            disk(sink, &format!("sd{device}"), op, second);
        }
    }
}

/// Events of files that nobody opened before.
fn files(sink: &mut Sink, second: i64, each: i64) {
    let fixed = [
        "sd0", "disk", "read", "sync", "no", "no", "find", "find", "/",
    ];
    let fixed = fixed.map(|w| sink.word(w));
    for event in 0..each {
        let number = (second - 1) * each + event;
        let file = sink.word(&format!("/srv/mail/{}/{number}", number % 997));
        let numbers = [0.0, 0.000_1, 4096.0, 0.0, 0.0, 0.0, 1.0, 1.0];
        let time = START + (second - 1) * SECOND + event * SECOND / each + 1;
        let words = fixed.into_iter().chain([file]);
        sink.events(TableId::of("disk_event"))
            .event(time, words, numbers);
    }
}

fn hour(sink: &mut Sink, second: i64, events: i64, random: &mut Random) {
    own(sink, second);
    for device in 0..6 {
        for op in 0..OPS.len() {
            disk(sink, &format!("sd{device}"), op, second);
        }
    }
    let processes: Vec<Word> = (0..8).map(|n| sink.word(&format!("fio[{n}]"))).collect();
    let files: Vec<Word> = (0..200)
        .map(|n| sink.word(&format!("/srv/data/{n}")))
        .collect();
    let fixed = ["sd0", "disk", "read", "sync", "no", "fio", "/bench"].map(|w| sink.word(w));
    let mut buckets = std::collections::BTreeMap::new();
    let table = TableId::of("disk_event");
    for event in 0..events {
        let bubble = (1800..1830).contains(&second) && event % 50 == 0;
        let typical = if bubble { 0.08 } else { 0.000_25 };
        let latency = (typical * (random.normal() * 0.5).exp() * 1e9).round() / 1e9;
        let file = if bubble {
            13
        } else {
            random.next() as usize % files.len()
        };
        let [device, layer, op, sync, no, command, cgroup] = fixed;
        let process = processes[random.next() as usize % processes.len()];
        let offset = (random.next() % (1 << 22)) as f64 * 4096.0;
        let words = [
            device,
            layer,
            op,
            sync,
            no,
            no,
            process,
            command,
            cgroup,
            files[file],
        ];
        let numbers = [0.0, latency, 4096.0, offset, 4096.0, 4096.0, 8.0, 1.0];
        let time = START + (second - 1) * SECOND + event * SECOND / events + 1;
        sink.events(table).event(time, words, numbers);
        let bucket = grid::floor(latency, Unit::Seconds);
        *buckets.entry(bucket.to_bits()).or_insert(0.0) += 1.0;
    }
    for (bucket, ios) in buckets {
        let words = [fixed[0], fixed[1], fixed[2]];
        let values = [f64::from_bits(bucket), ios, ios * 4096.0];
        sink.row(TableId::of("disk_latency"), &words, &values);
    }
}
