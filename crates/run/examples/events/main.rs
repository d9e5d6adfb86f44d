//! Writes a synthetic run of disk events, and says what an event costs on its way.
//!
//! ```text
//! cargo run --release -p run --example events -- RUN [MILLIONS [device|server [paced]]]
//! ```
//! Table `disk_event` as of a fast device (`device.rs`), or of a busy server's hour, in which
//! every dimension has many values (`server.rs`). Through the same writer as a recording, a tenth
//! of a second at a time, with a row of `self` each second. The seed is fixed, so that every
//! measurement reads the same run. `paced`: in real time, so that the memory is that of a
//! recording. Results are lines of name, unit and value.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a measuring program for the people who work on the run format"
)]

mod device;
mod random;
mod server;

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use parquet::file::metadata::{ParquetMetaDataReader, RowGroupMetaData};
use run::journal::{Journal, encode_rows};
use run::manifest::Manifest;
use run::rows::TableId;
use run::write::Writer;
use run::{Nanos, Sink};

/// Bytes that may wait for the writer before this program waits for it.
const QUEUE: usize = 8 << 20;

/// Midnight, 2026-01-01, UTC.
const START: Nanos = 1_767_225_600_000_000_000;

const SECOND: Nanos = 1_000_000_000;

/// What makes events.
trait Load {
    /// Adds those that end up to `time`; answers how many.
    fn run_until(&mut self, time: Nanos, sink: &mut Sink) -> u64;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("RUN is missing")?;
    let millions = arguments.next().map_or(Ok(10), |a| a.parse())?;
    let server = match arguments.next().as_deref() {
        None | Some("device") => false,
        Some("server") => true,
        Some(other) => return Err(format!("what is {other}?").into()),
    };
    let paced = arguments.next().is_some_and(|a| a == "paced");
    let load = |sink: &mut Sink| -> Box<dyn Load> {
        if server {
            Box::new(server::Server::new(sink, millions * 1_000_000))
        } else {
            Box::new(device::Device::new(sink))
        }
    };

    let mut sink = Sink::new();
    if !paced {
        journal_cost(load(&mut sink).as_mut(), &mut sink)?;
    }
    sink = Sink::new();
    let mut load = load(&mut sink);
    let begin = Instant::now();
    let mut manifest = Manifest::new("synthetic", START, 1.0);
    let mut writer = Writer::create(Path::new(&path), &manifest)?;
    let (mut events, mut tenth) = (0, 0);
    while events < millions * 1_000_000 {
        tenth += 1;
        let time = START + tenth * SECOND / 10;
        events += load.run_until(time, &mut sink);
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
fn journal_cost(load: &mut dyn Load, sink: &mut Sink) -> std::io::Result<()> {
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
        events += load.run_until(START + tenth * SECOND / 10, sink);
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
