//! Five thousand groups, ten thousand processes: recording goes on, at a small cost, and what
//! is left out is told.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs, write files and look at the clock"
)]

#[path = "support/recorder.rs"]
mod recorder;
mod support;
mod truth;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use recorder::{manifest, wait};
use rustix::process::{Pid, Signal, kill_process_group};
use support::{AtEnd, scratch, sonde, succeed, total};
use truth::group::Own;

/// The most that recording may cost, in processors.
const MOST: f64 = 0.05;

/// One at a time: each would be part of what the other measures.
static ALONE: Mutex<()> = Mutex::new(());

/// Records at 1 s for 18 s (the whole readings at the start and at the end weigh on shorter
/// runs) while a burner works in `group`, which is `own` or below it; seconds that the
/// group used, by its own counter.
fn recorded(run: &Path, own: &Own, group: &Path) -> f64 {
    let script = "echo $$ > \"$G/cgroup.procs\"; sleep 1.5; \
                  i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; sleep 16";
    let mut record = sonde();
    record
        .args(["record", "-q", "--every", "1s", "-o"])
        .arg(run);
    record.args(["--", "sh", "-c", script]).env("G", group);
    succeed(&mut record);
    own.seconds_of(group)
}

/// The cost is small, and a source that was left out is named.
fn check(run: &Path, source: &str, group: &str, used: f64) {
    let cost = support::get(run, "self.time")["groups"][0]["mean"]
        .as_f64()
        .unwrap();
    let state = manifest(run)["sources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["name"] == source)
        .cloned()
        .expect("the source is in the manifest");
    assert_eq!(state["state"], "available", "{state}");
    assert!(cost <= MOST, "{cost} of a processor; {state}");
    let samples = manifest(run)["own"]["samples"].as_u64().unwrap();
    let read = state["samples"].as_u64().unwrap();
    let left_out = state["stretched"].as_u64().unwrap();
    // The first reading is none of a sample.
    assert_eq!(read - 1 + left_out, samples, "{state}");
    // A source may take a hundredth of a processor; a costlier one is read less often.
    let each = state["cost_seconds"].as_f64().unwrap() / read as f64;
    assert!(each < 0.015 || left_out > 0, "{state}");
    let time = total(run, &format!("cgroup.time where cgroup = {group}"));
    assert!((time - used).abs() <= 0.01 * used, "{time} s of {used} s");
}

#[test]
fn five_thousand_groups() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(own) = Own::needed("groups") else {
        return;
    };
    for i in 0..5000 {
        fs::create_dir(own.dir.join(format!("g{i}"))).unwrap();
    }
    let run = scratch("groups").join("run");
    let used = recorded(&run, &own, &own.dir.join("g2500"));
    check(&run, "cgroup", &format!("{}/g2500", own.name()), used);
}

#[test]
fn ten_thousand_processes() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(own) = Own::needed("processes") else {
        return;
    };
    let dir = scratch("processes");
    // Small ones: shells that wait to open a pipe.
    let script = "mkfifo p; i=0; while [ $i -lt 10000 ]; do (: <p) & i=$((i+1)); done; \
                  echo >ready; wait";
    let mut many = Command::new("sh");
    many.args(["-c", script])
        .current_dir(&dir)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let mut parent = std::os::unix::process::CommandExt::process_group(&mut many, 0)
        .spawn()
        .unwrap();
    let pid = Pid::from_child(&parent);
    let _end = AtEnd(move || {
        let _ = kill_process_group(pid, Signal::KILL);
        let _ = parent.wait();
    });
    wait("10,000 processes", || dir.join("ready").exists());
    let alive = fs::read_dir("/proc").unwrap().flatten();
    let alive = alive
        .filter(|e| e.file_name().to_string_lossy().parse::<u32>().is_ok())
        .count();
    assert!(alive > 10_000, "{alive} processes");
    let run = dir.join("run");
    let used = recorded(&run, &own, &own.dir);
    check(&run, "process", &own.name(), used);
    // The burner was among ten thousand others, and is named.
    let burner = support::get(&run, "process.time by process where process ~ '^sh\\['");
    let most = burner["groups"][0]["total"].as_f64().unwrap_or(0.0);
    assert!(
        (most - used).abs() < 0.1 * used + 0.03,
        "{most} s of {used} s: {burner}"
    );
}
