//! Number dimensions as people read them: quantiles, heat maps and distributions of runs whose
//! numbers are known, because the test wrote them.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and write files"
)]

mod support;

use std::path::{Path, PathBuf};

use run::rows::TableId;
use run::unit::Unit;
use run::write::Writer;
use run::{Manifest, Sink, grid};
use support::{get, output, scratch, sonde, succeed};

const SECOND: i64 = 1_000_000_000;
const STARTED: i64 = 1_700_000_000 * SECOND;
const SECONDS: i64 = 10;

/// A distribution written every second: table, words, and values with how many there are of
/// each.
type Written = (
    &'static str,
    &'static [&'static str],
    &'static [(f64, f64)],
    Unit,
);

const READ: &[&str] = &["vda", "disk", "read"];
const WRITE: &[&str] = &["vda", "disk", "write"];

/// 1000 reads a second, of which the 500th takes 64 µs, the 900th too, the 990th 1 ms and the
/// 999th 10 ms; two writes a second.
const WRITTEN: &[Written] = &[
    (
        "disk_latency",
        READ,
        &[(64e-6, 900.0), (1e-3, 90.0), (10e-3, 9.0), (2.0, 1.0)],
        Unit::Seconds,
    ),
    ("disk_latency", WRITE, &[(4e-3, 2.0)], Unit::Seconds),
    (
        "disk_distance",
        READ,
        &[(-1e12, 10.0), (-4096.0, 20.0), (0.0, 60.0), (4e9, 10.0)],
        Unit::Bytes,
    ),
    (
        "disk_size",
        READ,
        &[(4096.0, 60.0), (65536.0, 40.0)],
        Unit::Bytes,
    ),
    (
        "disk_depth",
        READ,
        &[(1.0, 50.0), (32.0, 50.0)],
        Unit::Count,
    ),
    ("disk_queue_time", READ, &[(0.0, 100.0)], Unit::Seconds),
];

fn manifest() -> Manifest {
    Manifest {
        ended: Some(STARTED + SECONDS * SECOND),
        ..Manifest::new("example", STARTED, 1.0)
    }
}

fn written(name: &str) -> PathBuf {
    let dir = scratch(name).join("run");
    let mut writer = Writer::create(&dir, &manifest()).unwrap();
    let mut sink = Sink::new();
    for second in 1..=SECONDS {
        let time = STARTED + second * SECOND;
        sink.at(time, 1.0);
        for (table, words, values, unit) in WRITTEN {
            let words: Vec<_> = words.iter().map(|w| sink.word(w)).collect();
            for (value, ios) in *values {
                let size = if *table == "disk_size" {
                    *value
                } else {
                    4096.0
                };
                let row = [grid::floor(*value, *unit), *ios, ios * size];
                sink.row(TableId::of(table), &words, &row);
            }
        }
        let read = READ.iter().map(|w| sink.word(w)).collect::<Vec<_>>();
        sink.row(TableId::of("disk"), &read, &[1000.0, 4096e3, 0.0, 0.2, 0.0]);
        let io = [1000.0, 0.02, 0.18, 0.0, 0.0, 0.2];
        sink.row(TableId::of("disk_io"), &read, &io);
        let pattern = [625.0, 1000.0, 4096e3];
        sink.row(TableId::of("disk_pattern"), &read, &pattern);
        writer.append(&mut sink, time);
    }
    writer.finish(manifest()).unwrap();
    dir
}

fn asked(command: &str, run: &Path, arguments: &[&str]) -> String {
    let text = succeed(sonde().arg(command).arg(run).args(arguments));
    let long = text.lines().find(|l| l.chars().count() > 80);
    assert_eq!(long, None, "wider than 80 columns: {text}");
    text
}

/// The lines of a text, as words.
fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map(|l| l.split_whitespace().collect())
        .collect()
}

#[test]
fn a_line_a_group_tells_its_quantiles() {
    let run = written("quantiles");
    let text = asked("get", &run, &["disk.ios by op, latency"]);
    let lines = words(&text);
    assert_eq!(lines[1], ["latency", "in", "ms"], "{text}");
    let head = [
        "op", "count", "mean", "p50", "p90", "p99", "p99.9", "max", "<=",
    ];
    assert_eq!(lines[2], head, "{text}");
    assert_eq!(lines[3][..2], ["read", "10000"], "{text}");
    // The last of the bucket that holds the value; none is below it.
    assert_eq!(
        lines[3][3..],
        ["0.065", "0.065", "1.01", "10.1", "2013"],
        "{text}"
    );
    // 20 writes: 10 lie beyond the median, too few beyond the others.
    assert_eq!(lines[4][3..], ["4.03", "-", "-", "-", "4.03"], "{text}");
    assert!(text.contains("fewer than 10 events"), "{text}");
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn each_interval_has_its_quantiles() {
    let run = written("quantiles-series");
    let text = asked("get", &run, &["--series", "disk.ios by op, latency"]);
    let lines = words(&text);
    let of = |second: &str, count: &str| {
        let found = lines
            .iter()
            .find(|l| l.len() > 4 && l[0] == second && l[2] == count);
        found.unwrap_or_else(|| panic!("{second}: {text}"))
    };
    // 1000 reads: one lies beyond p99.9. Two writes: nothing is told but the end.
    assert_eq!(
        of("7.000", "1000")[4..],
        ["0.065", "0.065", "1.01", "-", "2013"]
    );
    assert_eq!(of("10.000", "2")[4..8], ["-", "-", "-", "-"]);
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn places_have_a_least_and_no_mean() {
    let run = written("quantiles-negative");
    let text = asked("get", &run, &["disk.ios by distance"]);
    assert!(text.contains("min >=") && !text.contains("mean"), "{text}");
    let answer = get(&run, "disk.ios by distance");
    let told = &answer["quantiles"][0];
    assert_eq!(told["p50"], 0.0, "{answer}");
    assert!(
        told["mean"].is_null() && told["p99.9"].is_null(),
        "{answer}"
    );
    let near = |name: &str, value: f64| {
        let found = told[name].as_f64().unwrap();
        assert!(
            (found - value).abs() <= value.abs() / 64.0,
            "{name}: {found}"
        );
    };
    near("min", -1e12);
    near("max", 4e9);
    // 300 of 1000 lie below zero, the 101st of them near it.
    let below = get(&run, "disk.ios by distance where distance < 0B");
    let median = below["quantiles"][0]["p50"].as_f64().unwrap();
    assert!(
        (-4096.0..=-4096.0 * 63.0 / 64.0).contains(&median),
        "{below}"
    );
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn sizes_and_depths_are_exact() {
    let run = written("quantiles-exact");
    let sizes = get(&run, "disk.ios by size");
    let told = &sizes["quantiles"][0];
    assert_eq!(told["p50"], 4096.0, "{sizes}");
    assert_eq!(told["p90"], 65536.0, "{sizes}");
    assert_eq!(told["mean"], 0.6 * 4096.0 + 0.4 * 65536.0, "{sizes}");
    let depths = asked("get", &run, &["disk.ios by depth"]);
    assert_eq!(
        words(&depths)[2],
        ["1000", "16.5", "1", "32", "32", "-", "32"]
    );
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn buckets_are_there_for_who_asks() {
    let run = written("quantiles-buckets");
    let text = asked("get", &run, &["--buckets", "disk.ios by depth"]);
    assert!(text.contains("32 .. 33") && !text.contains("p50"), "{text}");
    let csv = asked("get", &run, &["--csv", "disk.ios by depth"]);
    assert!(csv.contains("\n32,500,") && !csv.contains("p50"), "{csv}");
    let json = asked_json(&run, &["--buckets", "disk.ios by depth"]);
    assert!(json.get("quantiles").is_none(), "{json}");
    assert_eq!(json["groups"].as_array().unwrap().len(), 2);
    // A ratio has no distribution: it is told bucket by bucket.
    let ratio = asked("get", &run, &["disk.mean_size by depth"]);
    assert!(ratio.contains("1 .. 2"), "{ratio}");
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

fn asked_json(run: &Path, arguments: &[&str]) -> serde_json::Value {
    let text = succeed(sonde().arg("get").arg(run).arg("--json").args(arguments));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn heat_maps_have_the_axis_of_their_dimension() {
    let run = written("heat-axes");
    let plot = |expression: &str, more: &[&str]| {
        let arguments = [&[expression], more].concat();
        asked("plot", &run, &arguments)
    };
    let distance = plot("disk.ios by distance", &[]);
    for told in ["log to both sides of 0", " 0 ┤@", "-1 GiB ┤", " 1 GiB ┤"] {
        assert!(distance.contains(told), "{told}: {distance}");
    }
    let latency = plot("disk.ios by latency where op = read", &["--outliers", "1%"]);
    assert!(
        latency.contains("1 ms ┤") && latency.contains("100 µs ┤"),
        "{latency}"
    );
    assert!(
        latency.contains("100 disk.ios above 1.01 ms (1.00 %), up to 2.01 s"),
        "{latency}"
    );
    let linear = plot("disk.ios by latency where op = read", &["--linear"]);
    assert!(
        linear.contains("latency, ms") && !linear.contains("1 ms ┤"),
        "{linear}"
    );
    let depth = plot("disk.ios by depth", &[]);
    assert!(depth.contains("30 ┤") && depth.contains(" 0 ┤"), "{depth}");
    // A single bucket, zero at that, does not fill the picture.
    let zero = plot("disk.ios by queue_time", &[]);
    assert!(
        zero.lines().filter(|l| l.contains("@@@")).count() <= 2,
        "{zero}"
    );
    let empty = plot("disk.ios by latency where device = none", &[]);
    assert!(empty.contains("no data"), "{empty}");
    for colour in ["true", "256"] {
        let text = succeed(sonde().arg("plot").arg(&run).args([
            "disk.ios by distance",
            "--colour",
            colour,
        ]));
        assert!(text.contains("\x1b[") && text.contains('▄'), "{text}");
    }
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn folded_it_is_a_distribution_with_its_quantiles() {
    let run = written("fold-quantiles");
    let text = asked(
        "plot",
        &run,
        &["disk.ios by latency where op = read", "--fold"],
    );
    let lines = words(&text);
    let head = ["count", "mean", "p50", "p90", "p99", "p99.9", "max", "<="];
    let at = lines
        .iter()
        .position(|l| *l == head)
        .unwrap_or_else(|| panic!("{text}"));
    assert_eq!(lines[at + 1][0], "10.0k", "{text}");
    assert!(lines[at + 1].ends_with(&["2.01", "s"]), "{text}");
    assert!(text.contains('┊') && text.contains('█'), "{text}");
    for name in ["fold.png", "fold.svg"] {
        let path = run.with_file_name(name);
        let path = path.to_str().unwrap();
        asked(
            "plot",
            &run,
            &["disk.ios by distance", "--fold", "-o", path],
        );
        assert!(std::fs::metadata(path).unwrap().len() > 1000);
    }
    let svg = std::fs::read_to_string(run.with_file_name("fold.svg")).unwrap();
    assert!(svg.contains(">p50 0 B</text>"), "{svg}");
    let part = asked(
        "plot",
        &run,
        &[
            "disk.ios by latency where op = read",
            "--fold",
            "--to",
            "2s",
        ],
    );
    assert!(part.contains("2.00k"), "only what was in that time: {part}");
    let empty = asked(
        "plot",
        &run,
        &["disk.ios by latency where op = x", "--fold"],
    );
    assert!(empty.contains("no data"), "{empty}");
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn what_cannot_be_drawn_is_told() {
    let run = written("not-drawn");
    for (arguments, told) in [
        (&["disk.bytes", "--fold"][..], "no number dimension"),
        (&["disk.mean_size by latency"], "is no sum"),
        (&["disk.ios by op, latency"], "has others too"),
        (&["disk.ios by latency", "--fold", "--stack"], "--stack"),
        (&["disk.ios by latency", "--log", "--linear"], "--linear"),
    ] {
        let out = output(sonde().arg("plot").arg(&run).args(arguments));
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(told), "{arguments:?}: {message}");
    }
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn derived_numbers_have_their_unit() {
    let run = written("derived");
    let share = asked("get", &run, &["disk.random_share"]);
    assert_eq!(words(&share)[1][..2], ["mean", "%"], "{share}");
    assert_eq!(words(&share)[2][0], "62.5", "{share}");
    let queue = asked("get", &run, &["disk.mean_queue_time by op"]);
    assert_eq!(words(&queue)[1][..3], ["op", "mean", "µs"], "{queue}");
    assert_eq!(words(&queue)[2][..2], ["read", "20.0"], "{queue}");
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn every_subject_of_the_catalog_fits() {
    for subject in run::CATALOG {
        let text = succeed(sonde().args(["catalog", subject.name]));
        let long = text.lines().find(|l| l.chars().count() > 80);
        assert_eq!(long, None, "{}", subject.name);
        for table in subject.tables {
            assert!(text.contains(&format!("\n  {} ", table.name)), "{text}");
        }
    }
}
