//! `sonde compare` on whole distributions, and what makes a difference doubtful.
#![allow(clippy::disallowed_methods, reason = "tests look at files")]

mod support;

use std::path::{Path, PathBuf};

use analysis::stats::Random;
use serde_json::Value;
use support::disk_runs::{Second, failing, seconds};
use support::{output, scratch, sonde, succeed};

const LATENCY: &str = "disk.ios by latency";

/// A second of 400 I/Os around 100 µs, of which 2 % are slower by `tail`.
fn second(random: &mut Random, level: f64, tail: f64) -> Second {
    let latency = |i: u32| {
        let slow = if i.is_multiple_of(50) { tail } else { 1.0 };
        (1e-4 * level * slow * (0.1 * random.normal()).exp(), 1.0)
    };
    Second {
        bytes: 1e8 * level,
        latencies: (0..400).map(latency).collect(),
    }
}

/// Runs of so many seconds, which take turns with those of the other side; they differ by 1 %.
fn runs(dir: &Path, side: &str, count: usize, length: usize, tail: f64) -> Vec<PathBuf> {
    let mut random = Random::new(side.len() as u64 + tail as u64);
    (0..count)
        .map(|i| {
            let level = (0.01 * random.normal()).exp();
            let all: Vec<Second> = (0..length)
                .map(|_| second(&mut random, level, tail))
                .collect();
            let later = (2 * i + usize::from(side == "b")) as i64 * 100;
            seconds(dir, &format!("{side}{i}"), later, &all)
        })
        .collect()
}

/// Runs that wrote so many bytes in each second; run i of B comes after run i of A.
fn writing(dir: &Path, side: &str, runs: &[Vec<f64>]) -> Vec<PathBuf> {
    let write = |(i, bytes): (usize, &Vec<f64>)| {
        let of = |bytes: &f64| Second {
            bytes: *bytes,
            latencies: vec![],
        };
        let all: Vec<Second> = bytes.iter().map(of).collect();
        let later = (2 * i + usize::from(side == "b")) as i64 * 1000;
        seconds(dir, &format!("{side}{i}"), later, &all)
    };
    runs.iter().enumerate().map(write).collect()
}

fn command(a: &[PathBuf], b: &[PathBuf], arguments: &[&str]) -> std::process::Command {
    let mut command = sonde();
    command
        .arg("compare")
        .args(a)
        .arg("--vs")
        .args(b)
        .args(arguments);
    command
}

fn compared(a: &[PathBuf], b: &[PathBuf], arguments: &[&str]) -> Value {
    let text = succeed(command(a, b, arguments).arg("--json"));
    serde_json::from_str(&text).expect("JSON")
}

fn notes(found: &Value) -> String {
    let notes = found["notes"].as_array().expect("notes");
    notes
        .iter()
        .filter_map(Value::as_str)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_longer_tail_shows_where_it_is() {
    let dir = scratch("shift-tail");
    let (a, b) = (runs(&dir, "a", 8, 6, 10.0), runs(&dir, "b", 8, 6, 40.0));
    let metric = format!("p99 {LATENCY}");
    let found = compared(&a, &b, &["-m", &metric]);
    let shift = &found["shifts"][0];
    assert_eq!(
        (&shift["expression"], &shift["method"]),
        (&LATENCY.into(), &"ranks".into())
    );
    let quantiles = shift["quantiles"].as_array().expect("quantiles");
    // 2,400 I/Os a run: ten lie beyond p99, and two beyond p99.9.
    let names: Vec<&str> = quantiles
        .iter()
        .filter_map(|q| q["quantile"].as_str())
        .collect();
    assert_eq!(names, ["p50", "p90", "p99"]);
    for (quantile, wanted) in quantiles.iter().zip([1.0, 1.0, 4.0]) {
        let ratio = quantile["ratio"].as_f64().expect("a ratio");
        assert!((ratio / wanted - 1.0).abs() < 0.05, "{quantile}");
        let [low, high] = [0, 1].map(|i| quantile["band"][i].as_f64().expect("an end"));
        assert!(low <= wanted && wanted <= high, "{quantile}");
    }
    let text = succeed(&mut command(&a, &b, &["-m", &metric]));
    assert!(text.contains(&format!("Shift of {LATENCY}")), "{text}");
    assert!(
        text.lines()
            .any(|l| l.starts_with("p99 ") && l.contains('●')),
        "{text}"
    );
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
}

#[test]
fn many_runs_of_many_intervals_are_drawn_again() {
    let dir = scratch("shift-drawn");
    let (a, b) = (runs(&dir, "a", 10, 24, 10.0), runs(&dir, "b", 10, 24, 10.0));
    let metric = format!("p50 {LATENCY}");
    let found = compared(&a, &b, &["-m", &metric]);
    let shift = &found["shifts"][0];
    // 9,600 I/Os: p99.9 is not told by any run, and the band is of those that are.
    assert_eq!(shift["method"], "bootstrap", "{shift}");
    assert_eq!(shift["seed"], 1);
    let quantiles = shift["quantiles"].as_array().expect("quantiles");
    assert_eq!(quantiles.len(), 3);
    let mut widths = Vec::new();
    for quantile in quantiles {
        let [low, high] = [0, 1].map(|i| quantile["band"][i].as_f64().expect("an end"));
        assert!(low <= 1.0 && 1.0 <= high, "{quantile}");
        widths.push(high - low);
    }
    assert!(widths[0] > 0.001 && widths[0] < 0.05, "{widths:?}");
    // The same again.
    assert_eq!(
        compared(&a, &b, &["-m", &metric])["shifts"],
        found["shifts"]
    );
}

#[test]
fn pictures_are_written_and_other_endings_are_refused() {
    let dir = scratch("shift-picture");
    let (a, b) = (runs(&dir, "a", 5, 6, 10.0), runs(&dir, "b", 5, 6, 40.0));
    let metric = format!("p99 {LATENCY}");
    let svg = dir.join("ratios.svg");
    let path = svg.to_str().expect("a path");
    succeed(&mut command(
        &a,
        &b,
        &["-m", &metric, "-m", "disk.bytes", "-o", path],
    ));
    let drawn = std::fs::read_to_string(&svg).expect("a picture");
    for wanted in ["p50 disk.ios by latency", "disk.bytes", "B / A"] {
        assert!(drawn.contains(wanted), "{wanted}: {drawn}");
    }
    // What A and B are stands below.
    for name in [&a[0], &b[0]] {
        let name = name.file_name().expect("a name").to_string_lossy();
        assert!(drawn.contains(&*name), "no {name} in {drawn}");
    }
    let png = dir.join("ratios.png");
    let path = png.to_str().expect("a path");
    succeed(&mut command(
        &a,
        &b,
        &["-m", &metric, "-o", path, "--size", "800x400"],
    ));
    assert_eq!(&std::fs::read(&png).expect("a picture")[1..4], b"PNG");
    let out = output(&mut command(&a, &b, &["-o", "ratios.jpg"]));
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains(".png or .svg"));
}

#[test]
fn what_drifts_settles_late_or_is_far_off_is_noted() {
    let dir = scratch("shift-doubts");
    let mut random = Random::new(9);
    let mut noisy = |level: f64, n: usize| -> Vec<f64> {
        (0..n)
            .map(|_| level * (1.0 + 0.01 * random.normal()))
            .collect()
    };
    // Each run 3 % below the one before.
    let level = |i: usize| 1e8 * 0.97_f64.powi(i as i32);
    let a: Vec<Vec<f64>> = (0..6).map(|i| noisy(level(2 * i), 30)).collect();
    let b: Vec<Vec<f64>> = (0..6).map(|i| noisy(level(2 * i + 1), 30)).collect();
    let drifting = dir.join("drift");
    let found = compared(
        &writing(&drifting, "a", &a),
        &writing(&drifting, "b", &b),
        &["-m", "disk.bytes"],
    );
    assert!(
        notes(&found).contains("disk.bytes fell by"),
        "{}",
        notes(&found)
    );
    assert_eq!(found["drifts"][0]["metric"], "disk.bytes");
    // Half as fast for the first third, in every run of A; one run far off; B never settles.
    let mut warm: Vec<Vec<f64>> = (0..6)
        .map(|_| [noisy(5e7, 10), noisy(1e8, 30)].concat())
        .collect();
    warm[3] = [noisy(5e8, 10), noisy(1e9, 30)].concat();
    let late: Vec<Vec<f64>> = (0..6)
        .map(|_| [noisy(1e8, 28), noisy(5e7, 12)].concat())
        .collect();
    let unsteady = dir.join("unsteady");
    let (a, b) = (
        writing(&unsteady, "a", &warm),
        writing(&unsteady, "b", &late),
    );
    let found = compared(&a, &b, &["-m", "disk.bytes"]);
    let text = notes(&found);
    assert!(text.contains("6 of 12 runs never settled"), "{text}");
    assert!(
        text.contains("far from the others") && text.contains("/a3"),
        "{text}"
    );
    let inside = &found["metrics"][0]["inside"];
    assert_eq!(inside["a"][0]["steady"], "settled");
    let settled = inside["a"][0]["settled_seconds"].as_f64().expect("seconds");
    assert!((9.0..=12.0).contains(&settled), "{settled}");
    assert_eq!(inside["b"][0]["steady"], "never");
    assert_eq!(found["metrics"][0]["outliers"]["a"], serde_json::json!([3]));
    let found = compared(&a[..3], &a[4..], &["-m", "disk.bytes"]);
    assert!(
        notes(&found).contains("settled only after about"),
        "{}",
        notes(&found)
    );
}

/// What crashed is kept and told, and is no number of its side.
#[test]
fn runs_whose_command_failed_do_not_count() {
    let dir = scratch("shift-failed");
    let one = |bytes: f64| {
        vec![
            Second {
                bytes,
                latencies: vec![]
            };
            10
        ]
    };
    let run = |name: &str, bytes: f64| failing(&dir, name, 0, &one(bytes), Some(0));
    let a: Vec<PathBuf> = (0..4)
        .map(|i| run(&format!("a{i}"), 1e8 + f64::from(i)))
        .collect();
    let mut b: Vec<PathBuf> = (0..4)
        .map(|i| run(&format!("b{i}"), 1e8 - f64::from(i)))
        .collect();
    let crashed = failing(&dir, "crashed", 0, &one(1.0), Some(139));
    b.push(crashed.clone());
    let found = compared(&a, &b, &["-m", "disk.bytes"]);
    assert_eq!(found["metrics"][0]["verdict"], "equivalent");
    assert_eq!(found["metrics"][0]["b"].as_array().map(Vec::len), Some(4));
    assert_eq!(found["failed"]["b"][0].as_str(), crashed.to_str());
    assert!(
        notes(&found).contains("status 139: it does not count"),
        "{}",
        notes(&found)
    );
    let all = compared(&a, &b, &["-m", "disk.bytes", "--with-failed"]);
    assert_eq!(all["metrics"][0]["b"].as_array().map(Vec::len), Some(5));
    let out = output(&mut command(&a, &[crashed], &["-m", "disk.bytes"]));
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("--with-failed"));
}

/// One run, no spread, ties, all zeros, and runs that cannot tell.
#[test]
fn the_traps_of_statistics_are_no_traps() {
    let dir = scratch("shift-traps");
    let same = |level: f64, n: usize| vec![vec![level; 10]; n];
    for (name, a, b, verdict) in [
        ("equal", same(1e8, 6), same(1e8, 6), "equivalent"),
        ("no-spread", same(1e8, 6), same(2e8, 6), "better"),
        ("zeros", same(0.0, 6), same(0.0, 6), "equivalent"),
        ("one", same(1e8, 1), same(2e8, 1), "descriptive"),
        ("one-of-many", same(1e8, 1), same(2e8, 6), "descriptive"),
        (
            "some-zero",
            [same(1e8, 3), same(0.0, 3)].concat(),
            same(1e8, 6),
            "descriptive",
        ),
    ] {
        let at = dir.join(name);
        let found = compared(
            &writing(&at, "a", &a),
            &writing(&at, "b", &b),
            &["-m", "disk.bytes"],
        );
        assert_eq!(found["metrics"][0]["verdict"], verdict, "{name}: {found:#}");
    }
    // Three of six runs have no latencies: three are what counts.
    let told = runs(&dir, "a", 6, 6, 10.0);
    let mut partly = runs(&dir, "b", 3, 6, 10.0);
    partly.extend(writing(&dir.join("silent"), "b", &same(1e8, 3)));
    let found = compared(&told, &partly, &["-m", &format!("p50 {LATENCY}")]);
    let metric = &found["metrics"][0];
    assert!(
        metric["b"][3].is_null() && metric["missing"].is_string(),
        "{metric:#}"
    );
    assert_eq!(
        found["shifts"][0]["quantiles"][0]["runs"],
        serde_json::json!([6, 3])
    );
}
