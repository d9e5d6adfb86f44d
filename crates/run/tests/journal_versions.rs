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

const SCHEMA: &str = r#"{"format":1,"later":true,"tables":[
    {"name":"quantum","words":["qubit"],"numbers":["spin"]},
    {"name":"memory","words":["kind","colour"],"numbers":["weight","bytes"]},
    {"name":"disk_device","words":["device"],"numbers":["busy"]}]}"#;

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
}

#[test]
fn a_journal_of_another_version_opens() {
    let scratch = Scratch::new();
    let dir = scratch.join("run");
    write(&dir);
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.life, Life::Killed);
    assert_eq!(run.tables(), ["disk_device", "memory", "quantum"]);
    check(&run);
}

#[test]
fn a_journal_of_another_version_seals() {
    let scratch = Scratch::new();
    let dir = scratch.join("run");
    write(&dir);
    let tables = seal::seal(&File::open(dir.join("journal")).unwrap(), &dir).unwrap();
    let expected = [("disk_device".to_owned(), 1), ("memory".to_owned(), 2)];
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
