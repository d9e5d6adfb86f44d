//! Runs that are made at once: of what was imported.
#![allow(clippy::disallowed_methods, reason = "tests look at files")]

use std::ops::Deref;
use std::path::{Path, PathBuf};

use run::rows::TableId;
use run::write::{CreateError, Making};
use run::{Manifest, Nanos, Run, Sink};

/// A directory of a test, which goes with it.
struct Scratch(PathBuf);

impl Deref for Scratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn scratch(name: &str) -> Scratch {
    let dir = std::env::temp_dir().join(format!("sonde-making-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    Scratch(dir)
}

fn manifest() -> Manifest {
    let mut manifest = Manifest::new("host", 0, 1.0);
    manifest.imported = vec![run::manifest::Imported::default()];
    manifest
}

fn row(sink: &mut Sink, at: Nanos, device: &str, ios: f64) {
    let words = [device, "disk", "read"].map(|w| sink.word(w));
    sink.at(at * 1_000_000_000, 1.0);
    let values = [ios, f64::NAN, f64::NAN, f64::NAN, f64::NAN];
    sink.row(TableId::of("disk"), &words, &values);
}

/// Times, devices and I/Os, as read.
fn rows(run: &Run) -> Vec<(Nanos, String, f64)> {
    let table = run.table("disk").unwrap().expect("a table");
    let mut found = Vec::new();
    for part in &table.parts {
        let read = table.read(part, &["device", "ios"], |batch| {
            for (i, time) in batch.times.iter().enumerate() {
                let (run::read::Values::Words { codes, texts }, run::read::Values::Numbers(ios)) =
                    (&batch.columns[0], &batch.columns[1])
                else {
                    panic!("other types");
                };
                let device = texts.get(codes[i]).to_owned();
                found.push((time / 1_000_000_000, device, ios[i]));
            }
        });
        read.unwrap();
    }
    found
}

#[test]
fn amounts_stay_fractions_and_rows_come_in_order_of_time() {
    let dir = scratch("order");
    let mut making = Making::begin(&dir.join("run")).unwrap();
    let mut sink = Sink::new();
    for (at, device, ios) in [
        (5, "a", 0.25),
        (6, "b", 1.5),
        (3, "c", 2.0),
        (5, "d", 7.125),
    ] {
        row(&mut sink, at, device, ios);
        making.take(&mut sink).unwrap();
    }
    making.finish(&sink, &manifest()).unwrap();
    let run = Run::open(&dir.join("run")).unwrap();
    let wanted = [
        (3, "c", 2.0),
        (5, "a", 0.25),
        (5, "d", 7.125),
        (6, "b", 1.5),
    ];
    assert_eq!(rows(&run), wanted.map(|(t, d, v)| (t, d.to_owned(), v)));
    assert_eq!(run.manifest.tables["disk"], 4);
}

/// What a killed import left behind goes; what another one makes, and what is somebody's, stays.
#[test]
fn what_was_left_behind_is_removed() {
    let dir = scratch("left");
    let other = Making::begin(&dir.join("other")).unwrap();
    for (name, file) in [
        ("killed.part-12", "disk.parquet.part"),
        ("mine.part-13", "notes.txt"),
        ("named.part-x", "disk.parquet"),
    ] {
        std::fs::create_dir(dir.join(name)).unwrap();
        std::fs::write(dir.join(name).join(file), "").unwrap();
    }
    let making = Making::begin(&dir.join("run")).unwrap();
    assert_eq!(making.removed(), [dir.join("killed.part-12")]);
    drop((making, other));
    let left = std::fs::read_dir(&*dir).unwrap().flatten();
    let mut left: Vec<_> = left.map(|e| e.file_name()).collect();
    left.sort();
    assert_eq!(left, ["mine.part-13", "named.part-x"]);
}

#[test]
fn a_run_is_there_whole_or_not_at_all() {
    let dir = scratch("whole");
    let path = dir.join("deeper/run");
    let mut making = Making::begin(&path).unwrap();
    let mut sink = Sink::new();
    row(&mut sink, 1, "a", 1.0);
    making.take(&mut sink).unwrap();
    assert!(!path.exists());
    drop(making);
    assert_eq!(std::fs::read_dir(&*dir).unwrap().count(), 0);
    std::fs::create_dir_all(&path).unwrap();
    assert!(matches!(
        Making::begin(&path),
        Err(CreateError::Exists { .. })
    ));
}
