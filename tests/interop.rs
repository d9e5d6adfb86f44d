//! Other programs read a run as Sonde does: `DuckDB`, pandas, polars and pyarrow.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell why they skip"
)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use run::catalog::{self, Column, Detail, Kind, Subject, Table};
use run::manifest::Manifest;
use run::rows::TableId;
use run::write::Writer;
use run::{Sink, Unit, seal};
use serde_json::{Value, json};
use support::{AtEnd, get, scratch, sonde, succeed};

const REQUIREMENTS: &str = include_str!("interop/requirements.txt");

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/interop")
        .join(name)
}

fn python() -> Option<PathBuf> {
    support::python::python(REQUIREMENTS, &script("requirements.txt"))
}

/// Four seconds with reads, writes and computing, in two phases.
fn record(dir: &Path) -> PathBuf {
    let run = dir.join("run");
    let file = dir.join("file");
    let job = format!(
        "\"$SONDE\" mark write; \
         dd if=/dev/zero of='{0}' bs=64k count=200 oflag=direct 2>/dev/null || \
         dd if=/dev/zero of='{0}' bs=64k count=200 conv=fsync 2>/dev/null; sleep 1; \
         \"$SONDE\" mark compute; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; \
         cat '{0}' >/dev/null; sleep 1.5",
        file.display()
    );
    let mut record = sonde();
    record
        .env("SONDE", env!("CARGO_BIN_EXE_sonde"))
        .arg("record")
        .arg("-o")
        .arg(&run)
        .args([
            "--every", "500ms", "--note", "with=dd", "--detail", "samples", "--", "sh", "-c", &job,
        ]);
    succeed(&mut record);
    run
}

fn manifest(run: &Path) -> Value {
    let text = std::fs::read(run.join("run.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// The tables that the run has, with their subjects.
fn tables(run: &Path) -> Vec<(&'static Subject, &'static Table)> {
    let manifest = manifest(run);
    let names = manifest["tables"].as_object().unwrap().keys();
    names
        .map(|n| catalog::table(n).expect("of this version"))
        .collect()
}

/// What holds unless it is named, as the catalog says: word column and value.
fn implied(subject: &Subject, table: &Table) -> Value {
    let holds = subject.unless_named.iter();
    let holds = holds.filter(|u| table.dimensions.contains(&u.dimension));
    holds
        .map(|u| (u.dimension.to_owned(), json!(u.value)))
        .collect()
}

/// The table that tells when the source of a sparse one was read.
fn times_of(table: &Table, all: &[(&Subject, &'static Table)]) -> &'static str {
    all.iter()
        .map(|(_, t)| *t)
        .filter(|t| t.source == table.source && !t.sparse)
        .min_by_key(|t| t.dimensions.len())
        .map_or("self", |t| t.name)
}

/// Every measure of every table: as a whole where this table answers it, and by all dimensions.
fn questions(run: &Path) -> Vec<Value> {
    let all = tables(run);
    let mut out = Vec::new();
    for (subject, table) in &all {
        for measure in table.measures {
            let kind = subject.measure(measure).unwrap().kind;
            assert_ne!(kind, Kind::Peak, "compare.py knows sums and levels");
            let mut ask = |by: &[&str]| {
                let named = if by.is_empty() {
                    String::new()
                } else {
                    format!(" by {}", by.join(", "))
                };
                let expr = format!("{}.{measure}{named}", subject.name);
                let whole = if by.is_empty() {
                    implied(subject, table)
                } else {
                    json!({})
                };
                out.push(json!({
                    "expr": expr, "table": table.name, "column": measure, "kind": kind.name(),
                    "sparse": table.sparse, "times": times_of(table, &all), "by": by,
                    "where": whole, "groups": get(run, &expr)["groups"],
                }));
            };
            ask(&[]);
            if !table.dimensions.is_empty() {
                ask(table.dimensions);
            }
        }
    }
    out
}

#[test]
fn sums_means_and_keys_agree_with_sonde_get() {
    let Some(python) = python() else { return };
    let dir = scratch("interop-compare");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = record(&dir);
    let questions = questions(&run);
    let file = dir.join("questions.json");
    std::fs::write(&file, serde_json::to_vec(&questions).unwrap()).unwrap();
    let mut compare = Command::new(python);
    compare.arg(script("compare.py")).arg(&run).arg(&file);
    let found: Value = serde_json::from_str(&succeed(&mut compare)).unwrap();
    assert_eq!(found["questions"].as_u64(), Some(questions.len() as u64));
    assert!(found["groups"].as_u64() > Some(200), "{found}");
    assert_eq!(found["problems"], 0);
}

/// The type that pyarrow gives a column, and whether it may be null.
fn expected_column(column: &Column, event: bool) -> (&'static str, bool) {
    match column {
        Column::Dimension(d) if d.number.is_none() => ("string", false),
        Column::Dimension(d) if event && d.number == Some(Unit::Seconds) => {
            ("decimal128(18, 9)", true)
        }
        Column::Dimension(_) if event => ("double", true),
        Column::Dimension(_) => ("double", false),
        Column::Measure(m) if seal::is_whole(m.unit, m.kind) => ("int64", true),
        Column::Measure(_) => ("double", true),
    }
}

fn check_columns(subject: &'static Subject, table: &'static Table, found: &Value) {
    let event = table.detail == Detail::Event;
    let mut columns = vec![("timestamp", "timestamp[ns, tz=UTC]", false)];
    if !event {
        columns.push(("interval", "double", false));
    }
    for column in catalog::columns(subject, table) {
        let (kind, nullable) = expected_column(&column, event);
        columns.push((column.name(), kind, nullable));
        let about = &found["about"]["columns"][column.name()];
        let expected = match column {
            Column::Dimension(d) => {
                json!({"kind": "dimension", "unit": d.number.map(run::Unit::name), "help": d.help})
            }
            Column::Measure(m) => {
                json!({"kind": m.kind.name(), "unit": m.unit.name(), "help": m.help})
            }
        };
        assert_eq!(*about, expected, "{}.{}", table.name, column.name());
    }
    let types: serde_json::Map<String, Value> = columns
        .iter()
        .map(|c| (c.0.to_owned(), json!(c.1)))
        .collect();
    assert_eq!(found["columns"], Value::Object(types), "{}", table.name);
    let nullable: Vec<&str> = columns.iter().filter(|c| c.2).map(|c| c.0).collect();
    assert_eq!(found["nullable"], json!(nullable), "{}", table.name);
    assert_eq!(found["about"]["table"], table.name);
    assert_eq!(found["about"]["subject"], subject.name);
}

#[test]
fn files_describe_themselves_and_their_times() {
    let Some(python) = python() else { return };
    let dir = scratch("interop-describe");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = record(&dir);
    let mut describe = Command::new(python);
    describe.arg(script("describe.py")).arg(&run);
    let found: Value = serde_json::from_str(&succeed(&mut describe)).unwrap();
    let manifest = manifest(&run);
    let time = |v: &Value| run::manifest::parse_rfc3339(v.as_str().unwrap()).unwrap();
    let (started, ended) = (time(&manifest["started"]), time(&manifest["ended"]));
    let names: Vec<&String> = found.as_object().unwrap().keys().collect();
    let recorded: Vec<&String> = manifest["tables"].as_object().unwrap().keys().collect();
    assert_eq!(names, recorded);
    for (subject, table) in tables(&run) {
        let one = &found[table.name];
        check_columns(subject, table, one);
        assert_eq!(one["rows"], manifest["tables"][table.name]);
        assert_eq!(one["compression"], json!(["ZSTD"]));
        if table.detail == Detail::Event {
            // In any order, at any time, and several at once.
            continue;
        }
        assert_eq!(one["sorted"], true, "{}", table.name);
        assert_eq!(one["instances"], one["rows"], "{}: a row twice", table.name);
        let lengths = &one["lengths_and_times"];
        assert_eq!(lengths[0], lengths[1], "{}: two lengths", table.name);
        assert!(one["least_interval"].as_f64() > Some(0.0), "{}", table.name);
        let (first, last) = (
            one["first"].as_i64().unwrap(),
            one["last"].as_i64().unwrap(),
        );
        assert!(started < first && last <= ended, "{}", table.name);
    }
    // The recorder's own table has a row a sample: from the start to the end, without a gap.
    assert_eq!(found["self"]["last"].as_i64(), Some(ended));
    let covered = found["self"]["seconds"].as_f64().unwrap();
    let length = (ended - started) as f64 / 1e9;
    assert!((covered - length).abs() < 0.05, "{covered} of {length} s");
    assert_eq!(manifest["notes"], json!({"with": "dd"}));
}

/// Ten thousand events of three processes, some for several.
fn events(dir: &Path) -> PathBuf {
    let path = dir.join("events");
    let start = 1_800_000_000_000_000_000;
    let mut writer = Writer::create(&path, &Manifest::new("box", start, 1.0)).unwrap();
    let mut sink = Sink::new();
    let mut state = 7_u64;
    for second in 1..=10 {
        sink.at(start + second * 1_000_000_000, 1.0);
        sink.row(TableId::of("self"), &[], &[0.0; 7]);
        for event in 0..1000 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let random = (state >> 33) as i64;
            let process = sink.word(&format!("fio[{}@1]", random % 3));
            let disk = sink.word("disk");
            let rows = sink.events(TableId::of("disk_event"));
            rows.times
                .push(start + (second - 1) * 1_000_000_000 + event * 1_000_000);
            for (place, column) in rows.words.iter_mut().enumerate() {
                column.push(if place == 6 { process } else { disk });
            }
            let nanos = |v: i64| v as f64 / 1e9;
            let values = [
                nanos(random % 1_000),
                nanos(random % 2_000_003),
                (random % 9 * 4096) as f64,
                (random * 512) as f64,
                (1_000_000_000 - random) as f64,
                0.0,
                (1 + random % 32) as f64,
                (1 + random % 4) as f64,
            ];
            let both = rows.values.iter_mut().zip(values);
            both.for_each(|(column, value)| column.push(value));
        }
        writer.append(&mut sink, start + second * 1_000_000_000);
    }
    let finished = writer.finish(Manifest::new("box", start, 1.0)).unwrap();
    assert_eq!(finished.not_sealed, None);
    path
}

#[test]
fn events_add_up_to_the_nanosecond_everywhere() {
    let Some(python) = python() else { return };
    let dir = scratch("interop-events");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = events(&dir);
    let mut add = Command::new(python);
    add.arg(script("events.py")).arg(&run);
    let found: Value = serde_json::from_str(&succeed(&mut add)).unwrap();
    let found = found.as_object().unwrap();
    assert_eq!(found.len(), 3);
    let questions = [
        ("disk.ios by process", 1.0),
        ("disk.bytes by process", 1.0),
        ("disk.time by process", 1e9),
        ("disk.ios by process where latency > 1ms", 1.0),
    ];
    for (place, (text, times)) in questions.into_iter().enumerate() {
        let answer = get(&run, text);
        let groups = answer["groups"].as_array().unwrap();
        assert_eq!(groups.len(), 3, "{text}");
        for group in groups {
            let process = group["key"]["process"].as_str().unwrap();
            let total = (group["total"].as_f64().unwrap() * times).round();
            assert_eq!(Some(total), found[process][place].as_f64(), "{text}");
        }
    }
    // And it says of itself what the format says.
    let mut describe = Command::new(self::python().unwrap());
    describe.arg(script("describe.py")).arg(&run);
    let found: Value = serde_json::from_str(&succeed(&mut describe)).unwrap();
    for (subject, table) in tables(&run) {
        check_columns(subject, table, &found[table.name]);
    }
}

#[test]
fn the_statements_of_the_reference_run() {
    let Some(python) = python() else { return };
    let dir = scratch("interop-page");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    record(&dir);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/run-format.md");
    let mut read = Command::new(python);
    read.current_dir(&dir).arg(script("page.py")).arg(page);
    let ran: u32 = succeed(&mut read).trim().parse().unwrap();
    assert!(ran >= 6, "{ran} blocks");
}
