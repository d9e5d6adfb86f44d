//! Runs written by the tests, and all rows of a table as plain values.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::disallowed_methods, reason = "tests write files")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use run::manifest::Manifest;
use run::read::Values;
use run::{Nanos, Run};

/// When every run here starts.
pub(crate) const START: Nanos = 1_800_000_000_000_000_000;

/// A directory of this test's own that goes with it.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("sonde-run-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A manifest of a run that is being recorded.
pub(crate) fn manifest() -> Manifest {
    Manifest::new("box", START, 1.0)
}

/// A second name for the journal, with a manifest, is what a killed recorder leaves.
pub(crate) fn keep_as_killed(recording: &Path, killed: &Path) {
    std::fs::create_dir(killed).unwrap();
    for name in ["journal", "run.json"] {
        std::fs::hard_link(recording.join(name), killed.join(name)).unwrap();
    }
}

/// A value of a column.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Word(String),
    Number(f64),
}

/// Numbers are equal to the bit, except that "not known" equals itself.
impl PartialEq for Cell {
    fn eq(&self, other: &Cell) -> bool {
        match (self, other) {
            (Cell::Word(a), Cell::Word(b)) => a == b,
            (Cell::Number(a), Cell::Number(b)) => a == b || (a.is_nan() && b.is_nan()),
            _ => false,
        }
    }
}

/// A row: time, interval, the columns asked for.
pub(crate) type Row = (Nanos, f64, Vec<Cell>);

/// All rows of a table, part by part; none if the run does not have it.
pub(crate) fn rows(run: &Run, table: &str, columns: &[&str]) -> Vec<Row> {
    let mut all = Vec::new();
    let Some(opened) = run.table(table).unwrap() else {
        return all;
    };
    for part in &opened.parts {
        let read = opened.read(part, columns, |batch| {
            for i in 0..batch.times.len() {
                let cell = |values: &Values<'_>| match values {
                    Values::Words { codes, texts } => Cell::Word(texts.get(codes[i]).to_owned()),
                    Values::Numbers(numbers) => Cell::Number(numbers[i]),
                    Values::Whole(numbers, step) => Cell::Number(step.real(numbers[i])),
                };
                let cells = batch.columns.iter().map(cell).collect();
                // An event has no length.
                let interval = batch.intervals.get(i).copied().unwrap_or(0.0);
                all.push((batch.times[i], interval, cells));
            }
        });
        read.unwrap();
    }
    all
}

/// Shorthand for a row that is expected.
pub(crate) fn row(time: Nanos, interval: f64, words: &[&str], numbers: &[f64]) -> Row {
    let words = words.iter().map(|w| Cell::Word((*w).to_owned()));
    let numbers = numbers.iter().map(|n| Cell::Number(*n));
    (time, interval, words.chain(numbers).collect())
}
