//! Imports of a test's own, in its directory.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::disallowed_methods, reason = "tests run programs")]

use std::fs;
use std::path::Path;
use std::process::Output;

use super::support::sonde;

pub(crate) const VMSTAT: &str = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 0  0    524 763388 147216 819640    0    0   288   108  195 2509  4  3 93  0  0
 1  0    524 763388 147216 819640    0    0     0    64   57   96 10 20 70  0  0
 3  0    524 763388 147216 819640    0    0     0   128   57   96 30 20 50  0  0
";

pub(crate) fn import(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = sonde();
    command.arg("import").args(arguments).current_dir(dir);
    command.output().expect("sonde runs")
}

pub(crate) fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// The whole of an expression over the run.
pub(crate) fn total(dir: &Path, run: &str, expression: &str) -> f64 {
    numbers(dir, run, expression, "total").sum()
}

/// The mean of all its groups together.
pub(crate) fn mean(dir: &Path, run: &str, expression: &str) -> f64 {
    numbers(dir, run, expression, "mean").sum()
}

/// The greatest of an interval.
pub(crate) fn greatest(dir: &Path, run: &str, expression: &str) -> f64 {
    numbers(dir, run, expression, "max").fold(f64::NAN, f64::max)
}

/// A number of each group, where it is known.
fn numbers(dir: &Path, run: &str, expression: &str, name: &str) -> impl Iterator<Item = f64> {
    let out = sonde()
        .args(["get", run, expression, "--json"])
        .current_dir(dir)
        .output()
        .expect("sonde runs");
    assert!(out.status.success(), "{expression}: {}", said(&out));
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let groups = answer["groups"].as_array().expect("groups");
    let found: Vec<f64> = groups.iter().filter_map(|g| g[name].as_f64()).collect();
    found.into_iter()
}

pub(crate) fn manifest(dir: &Path, run: &str) -> serde_json::Value {
    let text = fs::read(dir.join(run).join("run.json")).expect("run.json");
    serde_json::from_slice(&text).expect("JSON")
}
