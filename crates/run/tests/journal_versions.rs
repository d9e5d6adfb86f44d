//! A journal written byte by byte from its specification, as another version would: with a
//! table nobody knows, columns too few and too many, and blocks of a kind to come.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use run::read::Life;
use run::{Run, seal};
use support::{Cell, START, Scratch, manifest, row, rows};

fn block(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend((payload.len() as u32).to_le_bytes());
    out.extend(crc32fast::hash(payload).to_le_bytes());
    out.extend(payload);
    out
}

fn words(first: u32, texts: &[&str]) -> Vec<u8> {
    let mut payload = first.to_le_bytes().to_vec();
    for text in texts {
        payload.extend((text.len() as u32).to_le_bytes());
        payload.extend(text.as_bytes());
    }
    block(2, &payload)
}

/// One row at `time`, one second long.
fn rows_block(table: u16, time: i64, words: &[u32], numbers: &[f64]) -> Vec<u8> {
    let mut payload = table.to_le_bytes().to_vec();
    payload.extend(1_u32.to_le_bytes());
    payload.extend(time.to_le_bytes());
    payload.extend(1.0_f64.to_le_bytes());
    words.iter().for_each(|w| payload.extend(w.to_le_bytes()));
    numbers.iter().for_each(|n| payload.extend(n.to_le_bytes()));
    block(3, &payload)
}

/// A column of events: zero bits taken off, the least number, and the planes of bytes.
fn planes(shift: u8, least: i64, planes: &[&[u8]]) -> Vec<u8> {
    let mut column = vec![planes.len() as u8, shift];
    column.extend(least.to_le_bytes());
    column.extend(planes.concat());
    column
}

/// Three events of table 3 in the schema; the second is the earliest, and one offset is not
/// known.
fn events_block() -> Vec<u8> {
    let mut payload = 3_u16.to_le_bytes().to_vec();
    payload.extend(3_u32.to_le_bytes());
    payload.extend((START + 300).to_le_bytes());
    // Differences 0, -300, 500: less the least of them, 300, 0, 800, in hundreds of 4.
    payload.extend(planes(2, -300, &[&[75, 0, 200]]));
    // Words 0, 0, 2.
    payload.extend(planes(1, 0, &[&[0, 0, 1]]));
    // Nanoseconds 1000, 66536, 1000: less 1000, shifted by 16.
    payload.push(1);
    payload.extend(planes(16, 1000, &[&[0, 1, 0]]));
    // Weights: all 7.
    payload.push(0);
    payload.extend(planes(0, 7, &[]));
    // Offsets as float64.
    payload.push(2);
    let bits = [4096.0, f64::NAN, -0.25].map(f64::to_bits);
    let plane = |place: u32| bits.map(|b| (b >> (8 * place)) as u8);
    let all: Vec<[u8; 3]> = (0..8).map(plane).collect();
    let all: Vec<&[u8]> = all.iter().map(<[u8; 3]>::as_slice).collect();
    payload.extend(planes(0, 0, &all));
    block(4, &payload)
}

const SCHEMA: &str = r#"{"format":1,"later":true,"tables":[
    {"name":"quantum","words":["qubit"],"numbers":["spin"]},
    {"name":"memory","words":["kind","colour"],"numbers":["weight","bytes"]},
    {"name":"disk_device","words":["device"],"numbers":["busy"]},
    {"name":"disk_event","words":["device"],"numbers":["queue_time","weight","offset"]}]}"#;

/// Two frames; the second repeats schema and words.
fn journal() -> Vec<u8> {
    let frame = |blocks: &[Vec<u8>]| zstd::stream::encode_all(&blocks.concat()[..], 1).unwrap();
    let schema = block(1, SCHEMA.as_bytes());
    let first = [
        schema.clone(),
        words(0, &["free", "red"]),
        rows_block(1, START + 1, &[0, 1], &[9.0, 100.0]),
        rows_block(0, START + 1, &[0], &[0.5]),
        block(77, b"of a kind to come"),
        words(2, &["sda"]),
        rows_block(2, START + 1, &[2], &[0.25]),
        events_block(),
    ];
    let second = [
        schema,
        words(0, &["free", "red", "sda", "used"]),
        rows_block(1, START + 2, &[3, 1], &[9.0, 200.0]),
    ];
    [frame(&first), frame(&second)].concat()
}

fn write(dir: &Path) {
    std::fs::create_dir(dir).unwrap();
    let mut text = Vec::new();
    serde_json::to_writer(&mut text, &manifest()).unwrap();
    for (name, bytes) in [("run.json", text), ("journal", journal())] {
        let mut file = File::options()
            .create(true)
            .write(true)
            .truncate(true)
            .open(dir.join(name));
        file.as_mut().unwrap().write_all(&bytes).unwrap();
    }
}

/// What of `memory` and `disk_device` both versions have.
fn check(run: &Run) {
    let memory = [
        row(START + 1, 1.0, &["free"], &[100.0]),
        row(START + 2, 1.0, &["used"], &[200.0]),
    ];
    assert_eq!(rows(run, "memory", &["kind", "bytes"]), memory);
    let device = rows(run, "disk_device", &["device", "busy", "inflight"]);
    assert_eq!(device, [row(START + 1, 1.0, &["sda"], &[0.25, f64::NAN])]);
    assert!(run.table("quantum").unwrap().is_none());
    let names = ["device", "queue_time", "weight", "offset", "depth"];
    let event = |time, device: &str, queue, offset| {
        row(
            START + time,
            0.0,
            &[device],
            &[queue, 7.0, offset, f64::NAN],
        )
    };
    let expected = [
        event(300, "free", 1000e-9, 4096.0),
        event(0, "free", 66536e-9, f64::NAN),
        // Offsets are whole.
        event(500, "sda", 1000e-9, 0.0),
    ];
    assert_eq!(rows(run, "disk_event", &names), expected);
}

#[test]
fn a_journal_of_another_version_opens() {
    let scratch = Scratch::new();
    let dir = scratch.join("run");
    write(&dir);
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.life, Life::Killed);
    let all = ["disk_device", "disk_event", "memory", "quantum"];
    assert_eq!(run.tables(), all);
    check(&run);
}

#[test]
fn a_journal_of_another_version_seals() {
    let scratch = Scratch::new();
    let dir = scratch.join("run");
    write(&dir);
    let tables = seal::seal(
        &File::open(dir.join("journal")).unwrap(),
        &dir,
        seal::Amounts::Whole,
    )
    .unwrap();
    let expected = [("disk_device", 1), ("disk_event", 3), ("memory", 2)];
    let expected = expected.map(|(table, rows)| (table.to_owned(), rows));
    assert_eq!(
        tables.tables.clone().into_iter().collect::<Vec<_>>(),
        expected
    );
    let mut sealed = manifest();
    (sealed.tables, sealed.footers) = (tables.tables, tables.footers);
    sealed.state = run::manifest::State::Complete;
    let mut file = File::options()
        .write(true)
        .truncate(true)
        .open(dir.join("run.json"))
        .unwrap();
    serde_json::to_writer(&mut file, &sealed).unwrap();
    let run = Run::open(&dir).unwrap();
    check(&run);
    // A word that the other version did not have is empty.
    let layer = rows(&run, "disk_device", &["layer"]);
    assert_eq!(layer[0].2, [Cell::Word(String::new())]);
    assert!(!dir.join("disk_device.parquet.part").exists());
}
