//! `sonde compare`: verdicts where the truth is known, and what few runs cannot say.
#![allow(clippy::disallowed_methods, reason = "tests look at files")]

mod support;

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::disk_runs::{Second, seconds};
use support::{output, scratch, sonde, succeed};

/// A run of ten seconds that wrote so many bytes, with I/Os of those latencies (seconds, and
/// how many).
fn made(dir: &Path, name: &str, bytes: f64, latencies: &[(f64, f64)]) -> PathBuf {
    let second = Second {
        bytes: bytes / 10.0,
        latencies: latencies.iter().map(|(l, n)| (*l, n / 10.0)).collect(),
    };
    let later = name.bytes().map(i64::from).sum();
    seconds(dir, name, later, &vec![second; 10])
}

/// Runs around `bytes`, which differ by up to 1 % as noise does.
fn runs(dir: &Path, name: &str, bytes: f64, count: usize) -> Vec<PathBuf> {
    let noise = [0.004, -0.009, 0.007, -0.002, 0.001, 0.009, -0.006, 0.003];
    (0..count)
        .map(|i| {
            let bytes = bytes * (1.0 + noise[i % noise.len()]);
            made(dir, &format!("{name}{i}"), bytes, &[])
        })
        .collect()
}

fn compared(a: &[PathBuf], b: &[PathBuf], arguments: &[&str]) -> Value {
    let mut command = sonde();
    command.arg("compare").args(a).arg("--vs").args(b);
    let text = succeed(command.args(arguments).arg("--json"));
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_true_difference_is_found_and_its_side_is_right() {
    let dir = scratch("compare-side");
    let a = runs(&dir, "a", 1e9, 6);
    let b = runs(&dir, "b", 1.2e9, 6);
    let found = compared(&a, &b, &["-m", "disk.bytes"]);
    let metric = &found["metrics"][0];
    assert_eq!(metric["verdict"], "better");
    assert_eq!(found["joint"], "better");
    let ratio = metric["ratio"].as_f64().unwrap();
    assert!((ratio - 1.2).abs() < 0.01, "{ratio}");
    let interval: Vec<f64> = metric["interval"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect();
    assert!(
        interval[0] < 1.2 && interval[1] > 1.2 && interval[0] > 1.0,
        "{interval:?}"
    );
    // Six of each: the least chance there is.
    let p = metric["p"].as_f64().unwrap();
    assert!((p - 2.0 / 924.0).abs() < 1e-9, "{p}");
    let worse = compared(&a, &b, &["-m", "disk.bytes:lower"]);
    assert_eq!(worse["metrics"][0]["verdict"], "worse");
}

#[test]
fn the_same_is_equivalent_and_two_at_once_need_more() {
    let dir = scratch("compare-same");
    let a = runs(&dir, "a", 1e9, 8);
    let b = runs(&dir, "b", 1e9, 8);
    let same = compared(&a, &b, &["-m", "disk.bytes"]);
    assert_eq!(same["metrics"][0]["verdict"], "equivalent");
    assert_eq!(same["joint"], "equivalent");
    // Four of each decide one metric, and not three at once.
    let c = runs(&dir, "c", 1.2e9, 4);
    let one = compared(&a[..4], &c, &["-m", "disk.bytes"]);
    assert_eq!(one["metrics"][0]["verdict"], "better");
    let arguments = ["-m", "disk.bytes", "-m", "disk.ios", "-m", "disk.mean_size"];
    let three = compared(&a[..4], &c, &arguments);
    assert_eq!(three["metrics"][0]["verdict"], "undecided");
    assert!(three["metrics"][0]["p_adjusted"].as_f64() > three["metrics"][0]["p"].as_f64());
}

#[test]
fn few_runs_are_described_and_nothing_more() {
    let dir = scratch("compare-few");
    let a = runs(&dir, "a", 1e9, 3);
    let b = runs(&dir, "b", 2e9, 3);
    let one = compared(&a[..1], &b[..1], &["-m", "disk.bytes"]);
    assert_eq!(one["metrics"][0]["verdict"], "descriptive");
    assert!(one["metrics"][0]["p_adjusted"].is_null());
    let three = compared(&a, &b, &["-m", "disk.bytes"]);
    assert_eq!(three["metrics"][0]["verdict"], "undecided");
    assert!(three["metrics"][0]["interval"][0].is_null());
    let text = succeed(sonde().arg("compare").arg(&a[0]).arg("--vs").arg(&b[0]));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("nothing can be concluded"), "{text}");
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
}

#[test]
fn quantiles_are_compared_run_by_run() {
    let dir = scratch("compare-quantiles");
    let of = |name: &str, tail: f64| -> Vec<PathBuf> {
        (0..4)
            .map(|i| {
                let tail = tail * (1.0 + 0.02 * f64::from(i));
                made(
                    &dir,
                    &format!("{name}{i}"),
                    1e6,
                    &[(100e-6, 9_800.0), (tail, 200.0)],
                )
            })
            .collect()
    };
    let (a, b) = (of("a", 2e-3), of("b", 8e-3));
    let metric = [
        "-m",
        "p99 disk.ios by latency",
        "-m",
        "p50 disk.ios by latency",
    ];
    let found = compared(&a, &b, &metric);
    let [p99, p50] = [0, 1].map(|i| &found["metrics"][i]);
    let ratio = p99["ratio"].as_f64().unwrap();
    assert!((3.8..4.2).contains(&ratio), "{ratio}");
    assert_eq!(p50["ratio"].as_f64(), Some(1.0));
    assert_eq!(p50["verdict"], "equivalent");
}

#[test]
fn what_cannot_be_compared_is_said() {
    let dir = scratch("compare-input");
    let a = runs(&dir, "a", 1e9, 2);
    let b = runs(&dir, "b", 1e9, 2);
    for (arguments, wanted) in [
        (&["-m", "disk.bites"][..], "disk.bites"),
        (&["-m", "net.bytes"], "no table `net`"),
        (&["-m", "p200 disk.ios by latency"], "not between"),
        (&["-m", ""], "no expression"),
        (&["-m", "p99 disk.bytes"], "a sum by one number"),
    ] {
        let mut command = sonde();
        command
            .arg("compare")
            .args(&a)
            .arg("--vs")
            .args(&b)
            .args(arguments);
        let out = output(&mut command);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
    let mut twice = sonde();
    let out = output(twice.arg("compare").args(&a).arg("--vs").arg(&a[0]));
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("given twice"));
    let out = output(
        sonde()
            .arg("compare")
            .arg(&a[0])
            .arg("--vs")
            .arg(dir.join("none")),
    );
    assert_eq!(out.status.code(), Some(2));
}
