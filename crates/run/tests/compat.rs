//! A run of every version opens for ever: each folder of `compat/` has the same recording
//! sealed and as a killed recorder left it, and what pyarrow read in it when it was made.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use std::path::{Path, PathBuf};

use run::Run;
use run::manifest::{FORMAT, State};
use run::read::Life;
use serde_json::Value;
use support::{Cell, rows};

fn versions() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat");
    let entries = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(|p| p.is_dir()).collect();
    found.sort();
    found
}

fn expected(version: &Path) -> Value {
    let text = std::fs::read(version.join("expect.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Equal but for the order in which it was added up.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= b.abs() * 1e-12
}

fn check_table(run: &Run, name: &str, expect: &Value) {
    let columns: Vec<(&String, &Value)> = expect["columns"].as_object().unwrap().iter().collect();
    let names: Vec<&str> = columns.iter().map(|c| c.0.as_str()).collect();
    let rows = rows(run, name, &names);
    assert_eq!(rows.len() as u64, expect["rows"], "{name}");
    let times = || rows.iter().map(|r| r.0);
    assert_eq!(times().min(), expect["first"].as_i64(), "{name}");
    assert_eq!(times().max(), expect["last"].as_i64(), "{name}");
    let seconds: f64 = rows.iter().map(|r| r.1).sum();
    assert!(
        close(seconds, expect["seconds"].as_f64().unwrap()),
        "{name}"
    );
    for (place, (column, expect)) in columns.into_iter().enumerate() {
        let cells = rows.iter().map(|r| &r.2[place]);
        check_column(&format!("{name}.{column}"), cells, expect);
    }
}

fn check_column<'c>(what: &str, cells: impl Iterator<Item = &'c Cell>, expect: &Value) {
    let (mut sum, mut unknown) = (0.0, 0_u64);
    let mut words = serde_json::Map::new();
    for cell in cells {
        match cell {
            Cell::Number(value) if value.is_nan() => unknown += 1,
            Cell::Number(value) => sum += value,
            Cell::Word(word) => {
                let count = words.get(word).and_then(Value::as_u64).unwrap_or(0);
                words.insert(word.clone(), (count + 1).into());
            }
        }
    }
    if let Some(expect) = expect.get("words") {
        assert_eq!(Value::Object(words), *expect, "{what}");
        return;
    }
    assert_eq!(unknown, expect["unknown"], "{what}");
    let expect = expect["sum"].as_f64().unwrap();
    assert!(close(sum, expect), "{what}: {sum}, not {expect}");
}

fn check(run: &Run, expect: &Value) {
    let tables = expect["tables"].as_object().unwrap();
    let mut names: Vec<&String> = tables.keys().collect();
    names.sort();
    assert_eq!(run.tables().iter().collect::<Vec<_>>(), names);
    for (name, expect) in tables {
        check_table(run, name, expect);
    }
    let last = tables["self"]["last"].as_i64().unwrap();
    assert_eq!(run.ended(), last, "a run ends with its last sample");
    assert!(run.manifest.started < tables["self"]["first"].as_i64().unwrap());
}

#[test]
fn sealed_runs_of_every_version_read_as_pyarrow_reads_them() {
    for version in versions() {
        let run = Run::open(&version.join("sealed")).unwrap();
        assert_eq!(
            (run.life, run.manifest.state),
            (Life::Complete, State::Complete)
        );
        check(&run, &expected(&version));
    }
}

#[test]
fn runs_of_killed_recorders_read_as_the_sealed_ones() {
    for version in versions() {
        let run = Run::open(&version.join("killed")).unwrap();
        assert_eq!(run.life, Life::Killed);
        check(&run, &expected(&version));
    }
}

#[test]
fn every_version_so_far_has_its_folder() {
    let names: Vec<_> = versions()
        .iter()
        .map(|v| v.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let expected: Vec<_> = (1..=FORMAT).map(|v| format!("v{v}")).collect();
    assert_eq!(names, expected);
}

#[test]
fn the_manifest_of_the_first_version_still_says_what_it_said() {
    let run = Run::open(&versions()[0].join("sealed")).unwrap();
    let m = &run.manifest;
    assert_eq!((m.name.as_str(), m.host.as_str()), ("format 1", "example"));
    assert_eq!(m.notes["purpose"], "compatibility");
    let command = m.command.as_ref().unwrap();
    assert_eq!(command.arguments, ["sh", "job.sh"]);
    assert_eq!((command.status, command.signal), (Some(0), None));
    let phases: Vec<&str> = m.phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!((phases, m.every_seconds), (vec!["read", "idle"], 0.5));
    assert_eq!(
        m.sources.iter().filter(|s| s.state == "available").count(),
        11
    );
}
