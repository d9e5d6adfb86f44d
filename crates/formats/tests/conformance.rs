//! Captures of real tools, each with values that a careful person read from the text.
//!
//! A case is a JSON file: `fixtures/<format>/<case>.json` beside the text of the same name
//! (`<case>.txt`), or, in `tests/captures/`, of a file that lies in the folder of shared
//! captures (`../shared/fixtures` beside the project, or `SONDE_CAPTURES`):
//!
//! ```json
//! {
//!   "capture": "vmstat-linux/ubuntu18-vmstat-1-long.out",
//!   "format": "vmstat-linux",
//!   "options": {"every": 1, "start": "2020-01-01T00:00:00Z", "dates": "mdy", "processors": 2,
//!               "tz": "CET-1CEST,M3.5.0,M10.5.0/3", "fio": "2.21"},
//!   "samples": 49, "since_boot": 1, "unknown": 0, "host": "name", "span": 49.0,
//!   "rows": {"vm": 49},
//!   "cells": [
//!     {"table": "cpu", "at": "2020-01-01T00:00:01Z", "words": {"mode": "system"}, "time": 0.02}
//!   ],
//!   "notes": ["part of a note"]
//! }
//! ```
//!
//! "span" is how many seconds the file tells of; "times" are of the "text", or "relative". "totals" are sums over rows of histograms ([`check_total`]).
//! A "comment", of a case or a cell, says how a person came to the numbers.
//!
//! or `"refused": "part of the reason"`; `"as"` is what `--as` would say. A cell is the only
//! row of its table with that time (if given) and those words; its other keys are `interval`
//! and values in base units, sums as amounts in the interval, `null` where not known. All are
//! compared to nine digits. Without `"unknown"` every line must be understood.

mod texts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use formats::{DateOrder, Head, Import, Options, Report, fio_version_of, named, recognise};
use jiff::tz::TimeZone;
use run::catalog::{self, Column, columns};
use run::rows::TableId;
use run::{Sink, manifest};
use serde_json::Value;
use texts::{cases, here, parsed, read};

fn options(case: &Value) -> Options {
    let of = &case["options"];
    let order = |order: &str| match order {
        "dmy" => DateOrder::Dmy,
        "mdy" => DateOrder::Mdy,
        "ymd" => DateOrder::Ymd,
        other => panic!("no order of dates: {other}"),
    };
    Options {
        every: of["every"].as_f64(),
        start: of["start"].as_str().and_then(manifest::parse_rfc3339),
        processors: of["processors"].as_u64().map(|n| n as u32),
        dates: of["dates"].as_str().map(order),
        zone: of["tz"].as_str().map_or(TimeZone::UTC, zone),
        fio: of["fio"].as_str().and_then(fio_version_of),
        ..Options::default()
    }
}

/// A zone with its rule, as POSIX writes it: no file of zones is needed.
fn zone(rule: &str) -> TimeZone {
    TimeZone::posix(rule).unwrap_or_else(|why| panic!("{rule}: {why}"))
}

/// Imports in pieces of `piece` bytes, with rows of samples that are `alike` as such.
fn import(bytes: &[u8], case: &Value, piece: usize, alike: bool) -> Result<(Report, Sink), String> {
    let head = Head::new(bytes);
    let format = match case["as"].as_str() {
        Some(name) => named(name).ok_or_else(|| format!("no format {name}"))?,
        None => recognise(&head).map_err(|e| e.to_string())?,
    };
    if let Some(wanted) = case["format"].as_str()
        && format.name != wanted
    {
        return Err(format!("recognised as {}", format.name));
    }
    let mut import = Import::new(format, &head, options(case));
    if alike {
        import.hand_out_alike();
    }
    for piece in bytes.chunks(piece) {
        import.feed(piece).map_err(|e| e.to_string())?;
    }
    let report = import.finish().map_err(|e| e.to_string())?;
    Ok((report, std::mem::take(import.rows())))
}

type Named<T> = BTreeMap<&'static str, T>;

/// Words and values of a row, by column.
fn row(sink: &Sink, table: &str, i: usize) -> (Named<String>, Named<f64>) {
    let (subject, found) = catalog::table(table).unwrap_or_else(|| panic!("no table {table}"));
    let rows = sink.rows(TableId::of(table));
    let (mut words, mut values) = (Named::new(), Named::new());
    let (mut word, mut value) = (rows.words.iter(), rows.values.iter());
    for column in columns(subject, found) {
        match column {
            Column::Dimension(d) if d.number.is_none() => {
                let text = sink.words.text(word.next().expect("a column")[i]);
                words.insert(d.name, text.expect("a word").to_owned());
            }
            _ => {
                values.insert(column.name(), value.next().expect("a column")[i]);
            }
        }
    }
    if let Some(interval) = rows.intervals.get(i) {
        values.insert("interval", *interval);
    }
    (words, values)
}

fn check_cell(sink: &Sink, cell: &Value) -> Result<(), String> {
    let table = cell["table"].as_str().expect("a cell names its table");
    let wanted: Vec<(&String, &Value)> = cell["words"].as_object().into_iter().flatten().collect();
    let time = |t: &str| manifest::parse_rfc3339(t).unwrap_or_else(|| panic!("no time: {t}"));
    let at = cell["at"].as_str().map(time);
    let rows = sink.rows(TableId::of(table));
    let mut matching = Vec::new();
    for i in (0..rows.len()).filter(|i| at.is_none_or(|at| rows.times[*i] == at)) {
        let (words, values) = row(sink, table, i);
        let has = |(name, text): &(&String, &Value)| {
            words.get(&***name).map(String::as_str) == text.as_str()
        };
        if wanted.iter().all(has) {
            matching.push((words, values));
        }
    }
    let [(_, values)] = &matching[..] else {
        let first = rows.times.iter().take(3).map(|t| manifest::rfc3339(*t));
        return Err(format!(
            "{} rows for {cell}; {} in the table, the first at {:?}, {:?}",
            matching.len(),
            rows.len(),
            first.collect::<Vec<_>>(),
            (0..rows.len().min(3))
                .map(|i| row(sink, table, i))
                .collect::<Vec<_>>()
        ));
    };
    for (name, wanted) in cell.as_object().expect("an object") {
        if matches!(name.as_str(), "table" | "at" | "words" | "comment") {
            continue;
        }
        let Some(found) = values.get(&**name) else {
            return Err(format!("{table} has no {name}"));
        };
        let same = match wanted.as_f64() {
            None => found.is_nan(),
            Some(w) => (found - w).abs() <= w.abs() * 1e-9 + 1e-12,
        };
        if !same {
            return Err(format!("{name} is {found}, not {wanted}, in {cell}"));
        }
    }
    Ok(())
}

/// `{"table": "disk_latency", "words": {…}, "within": {"latency": [0.000064, 0.000128]},
/// "ios": 1}`: what all rows with those words and numbers add up to, of a histogram.
fn check_total(sink: &Sink, total: &Value) -> Result<(), String> {
    let table = total["table"].as_str().expect("a total names its table");
    let at = total["at"].as_str().and_then(manifest::parse_rfc3339);
    let rows = sink.rows(TableId::of(table));
    let listed = |name: &str| total[name].as_object().into_iter().flatten();
    let mut sums: Named<f64> = BTreeMap::new();
    for i in (0..rows.len()).filter(|i| at.is_none_or(|at| rows.times[*i] == at)) {
        let (words, values) = row(sink, table, i);
        let named =
            listed("words").all(|(n, text)| words.get(&**n).map(String::as_str) == text.as_str());
        let within = listed("within").all(|(n, range)| {
            let ends = (range[0].as_f64(), range[1].as_f64());
            let value = values.get(&**n).copied();
            value
                .zip(ends.0.zip(ends.1))
                .is_some_and(|(v, (a, b))| v >= a && v < b)
        });
        if named && within {
            values
                .iter()
                .for_each(|(n, v)| *sums.entry(n).or_default() += v);
        }
    }
    let keys = ["table", "at", "words", "within", "comment"];
    let wanted = total.as_object().expect("an object").iter();
    for (name, wanted) in wanted.filter(|(name, _)| !keys.contains(&name.as_str())) {
        let found = sums.get(&**name).copied().unwrap_or(0.0);
        let wanted = wanted.as_f64().expect("a number");
        if (found - wanted).abs() > wanted.abs() * 1e-9 + 1e-9 {
            return Err(format!(
                "{name} adds up to {found}, not {wanted}, in {total}"
            ));
        }
    }
    Ok(())
}

/// Each line is data, noise or not understood, once.
fn check_lines(report: &Report, bytes: &[u8], case: &Value) -> Result<(), String> {
    let name = [&case["as"], &case["format"]]
        .into_iter()
        .find_map(Value::as_str);
    if name
        .and_then(named)
        .is_some_and(|f| f.example.starts_with("0x"))
    {
        // Of a binary format records are counted.
        return Ok(());
    }
    let ends = memchr::memchr_iter(b'\n', bytes).count() as u64;
    let lines = ends + u64::from(bytes.last().is_some_and(|b| *b != b'\n'));
    let told = report.data + report.noise + report.unknown;
    if told == lines {
        Ok(())
    } else {
        Err(format!(
            "{told} lines are accounted for, and there are {lines}"
        ))
    }
}

fn check(bytes: &[u8], case: &Value) -> Result<(), String> {
    let imported = import(bytes, case, 4096, false);
    if let Some(reason) = case["refused"].as_str() {
        return match imported {
            Err(why) if why.contains(reason) => Ok(()),
            Err(why) => Err(format!("refused, but because {why}")),
            Ok(_) => Err("it was imported and should be refused".into()),
        };
    }
    let (report, sink) = imported?;
    check_lines(&report, bytes, case)?;
    if report.unknown != case["unknown"].as_u64().unwrap_or(0) {
        return Err(format!(
            "{} lines not understood: {:?}",
            report.unknown, report.not_understood
        ));
    }
    for (name, found) in [
        ("samples", report.samples),
        ("since_boot", report.since_boot),
    ] {
        if case[name].as_u64().is_some_and(|wanted| wanted != found) {
            return Err(format!("{name}: {found}, not {}", case[name]));
        }
    }
    for (table, wanted) in case["rows"].as_object().into_iter().flatten() {
        let found = sink.rows(TableId::of(table)).len() as u64;
        if Some(found) != wanted.as_u64() {
            return Err(format!("{table} has {found} rows, not {wanted}"));
        }
    }
    for cell in case["cells"].as_array().into_iter().flatten() {
        check_cell(&sink, cell)?;
    }
    for total in case["totals"].as_array().into_iter().flatten() {
        check_total(&sink, total)?;
    }
    for note in case["notes"].as_array().into_iter().flatten() {
        let part = note.as_str().expect("a note is text");
        if !report.notes.iter().any(|n| n.contains(part)) {
            return Err(format!("no note says {part}: {:?}", report.notes));
        }
    }
    if let Some(wanted) = case["span"].as_f64() {
        let found = report.span.map(|(from, to)| (to - from) as f64 / 1e9);
        if found.is_none_or(|found| (found - wanted).abs() > 1e-9) {
            return Err(format!("it tells of {found:?} seconds, not {wanted}"));
        }
    }
    if let Some(wanted) = case["times"].as_str() {
        let found = if report.relative { "relative" } else { "text" };
        if found != wanted || report.from_start {
            return Err(format!("times: {found}, not {wanted}"));
        }
    }
    if let Some(host) = case["host"].as_str()
        && report.host.as_deref() != Some(host)
    {
        return Err(format!("host {:?}, not {host}", report.host));
    }
    // However the bytes come, and however rows are handed out, they are the same.
    for (piece, alike) in [(7, false), (usize::MAX, true), (1000, true)] {
        let (_, mut again) = import(bytes, case, piece, alike)?;
        again.spread();
        same_rows(&sink, &again).map_err(|table| format!("{table}: other rows in pieces"))?;
    }
    Ok(())
}

/// That two sinks have the same rows, to the bit; or a table that is another.
fn same_rows(one: &Sink, other: &Sink) -> Result<(), &'static str> {
    let bits = |columns: &[Vec<f64>]| -> Vec<Vec<u64>> {
        let bits = |column: &Vec<f64>| column.iter().map(|v| v.to_bits()).collect();
        columns.iter().map(bits).collect()
    };
    for (table, rows) in one.filled().chain(other.filled()) {
        let (a, b) = (one.rows(table), other.rows(table));
        let same = a.times == b.times
            && a.intervals == b.intervals
            && a.words == b.words
            && bits(&a.values) == bits(&b.values);
        if !same {
            return Err(rows.table.name);
        }
    }
    Ok(())
}

fn check_all(cases: &[PathBuf], input: impl Fn(&Path, &Value) -> PathBuf) {
    assert!(!cases.is_empty());
    let mut failures = Vec::new();
    for path in cases {
        let case = parsed(path);
        let bytes = read(&input(path, &case));
        let checked = std::panic::catch_unwind(|| check(&bytes, &case))
            .unwrap_or_else(|_| Err("it panicked".into()));
        if let Err(why) = checked {
            failures.push(format!("{}: {why}", path.display()));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn own_fixtures_have_the_values_that_a_person_reads() {
    check_all(&cases(&here().join("fixtures")), |path, _| {
        path.with_extension("txt")
    });
}

#[allow(clippy::disallowed_macros, reason = "a test says why it skips")]
fn captures() -> Option<PathBuf> {
    let dir = texts::captures();
    if dir.is_dir() {
        return Some(dir);
    }
    let in_ci = std::env::var_os("CI").is_some();
    assert!(!in_ci, "the captures are not at {}", dir.display());
    eprintln!("skipped: no captures at {}", dir.display());
    None
}

fn capture_of(case: &Value) -> &str {
    case["capture"].as_str().expect("a case names its capture")
}

#[test]
fn captures_have_the_values_that_a_person_reads() {
    let Some(dir) = captures() else { return };
    check_all(&cases(&here().join("tests/captures")), |_, case| {
        dir.join(capture_of(case))
    });
}

/// What a text is taken for, where nobody says what it is: a case says which format that is, or
/// that there is none. Where it says what `--as` has to be, no other format may be found.
fn check_recognised(bytes: &[u8], case: &Value) -> Result<(), String> {
    let found = recognise(&Head::new(bytes)).map(|f| f.name);
    let wanted = case["format"].as_str();
    let none = case["refused"] == "no known format";
    match (wanted, found) {
        (None, _) if !none => Err("it does not name its format".into()),
        (None, Ok(name)) => Err(format!("it is taken for {name}")),
        (Some(wanted), Ok(name)) if name != wanted => Err(format!("it is taken for {name}")),
        (Some(_), Err(why)) if case["as"].is_null() => Err(why.to_string()),
        _ => Ok(()),
    }
}

#[test]
fn no_text_is_taken_for_another_format() {
    let own = here().join("fixtures");
    let mut texts: Vec<(PathBuf, PathBuf)> = cases(&own)
        .into_iter()
        .map(|case| (case.clone(), case.with_extension("txt")))
        .collect();
    if let Some(dir) = captures() {
        texts.extend(
            cases(&here().join("tests/captures"))
                .into_iter()
                .map(|case| {
                    let text = dir.join(capture_of(&parsed(&case)));
                    (case, text)
                }),
        );
    }
    let failures: Vec<String> = texts
        .iter()
        .filter_map(|(case, text)| {
            let why = check_recognised(&read(text), &parsed(case)).err()?;
            Some(format!("{}: {why}", case.display()))
        })
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// No capture is forgotten.
#[test]
fn every_capture_has_a_case() {
    let Some(dir) = captures() else { return };
    let index = String::from_utf8(read(&dir.join("INDEX.tsv"))).expect("text");
    let cases: Vec<Value> = cases(&here().join("tests/captures"))
        .iter()
        .map(|path| parsed(path))
        .collect();
    let listed = index.lines().skip(1).filter_map(|l| l.split('\t').next());
    let mut wanted: Vec<String> = listed.map(str::to_owned).collect();
    // Those that documents printed are in no index.
    let seeds = std::fs::read_dir(dir.join("seeds")).expect("a folder of seeds");
    let names = seeds.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.into_string().expect("a name in UTF-8"));
    wanted.extend(
        names
            .filter(|name| name != "README.txt")
            .map(|name| format!("seeds/{name}")),
    );
    let missing: Vec<&String> = wanted
        .iter()
        .filter(|w| !cases.iter().any(|c| capture_of(c) == **w))
        .collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}
