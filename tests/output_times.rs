//! When the recorded command's output came is kept beside it, whatever the output is and however
//! the recording ends.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs, write files and look at the clock"
)]

#[path = "support/recorder.rs"]
mod recorder;
mod support;

use std::fs;
use std::path::Path;
use std::process::Output;

use recorder::{Recorder, wait};
use rustix::process::Signal;
use support::{output, scratch, sonde};

fn record(run: &Path, script: &str) -> Output {
    let mut record = sonde();
    record.args(["record", "-q", "-o"]).arg(run);
    output(record.args(["--", "sh", "-c", script]))
}

/// Of each line, seconds between it and the first, as `stdout.times` has it.
fn times_of_lines(run: &Path) -> Vec<f64> {
    let all = fs::read(run.join("stdout")).unwrap();
    let times = run::printed::Times::open(run, "stdout").unwrap().unwrap();
    let pieces = times.between(0, all.len() as u64).unwrap();
    assert_eq!(pieces.last().unwrap().end, all.len() as u64);
    let begins = std::iter::once(0).chain((1..all.len()).filter(|i| all[i - 1] == b'\n'));
    let at = |byte: usize| pieces.iter().find(|p| p.end > byte as u64).unwrap().at;
    begins
        .map(|b| (at(b) - pieces[0].at) as f64 / 1e9)
        .collect()
}

#[test]
fn when_its_output_came_is_kept() {
    let run = scratch("output-times").join("run");
    let script =
        "echo one; sleep 0.3; printf tw; sleep 0.3; echo o; echo three; sleep 0.3; echo four";
    assert!(record(&run, script).status.success());
    let seen = times_of_lines(&run);
    for (seen, slept) in seen.iter().zip([0.0, 0.3, 0.6, 0.9]) {
        // The shell starts a process for each sleep; that takes a while on a busy machine.
        assert!(
            (slept - 0.012..slept + 0.25).contains(seen),
            "{seen} after {slept}"
        );
    }
    assert_eq!(seen.len(), 4);
    // Nothing on stderr: nothing to be timed.
    assert!(fs::read(run.join("stderr.times")).unwrap().is_empty());
}

#[test]
fn times_of_a_flood_of_output_are_few() {
    let run = scratch("output-flood").join("run");
    let script = "yes | head -c 50000000; seq 100000 | while read i; do echo; done";
    assert!(record(&run, script).status.success());
    let records = fs::metadata(run.join("stdout.times")).unwrap().len() / 16;
    let seconds = times_of_lines(&run).last().copied().unwrap();
    // One each ten milliseconds, at most two more for where streams begin and end.
    assert!(
        records as f64 <= seconds * 100.0 + 3.0,
        "{records} in {seconds} s"
    );
}

#[test]
fn a_killed_recorder_leaves_times_of_what_was_printed() {
    let run = scratch("output-killed").join("run");
    let script = "echo one; sleep 0.2; echo two; sleep 60";
    let recorder = Recorder::start(&run, &["-q", "--every", "50ms", "--", "sh", "-c", script]);
    wait("the second line", || {
        fs::metadata(run.join("stdout.times")).is_ok_and(|m| m.len() >= 32)
    });
    recorder.signal(Signal::KILL);
    recorder.end();
    let seen = times_of_lines(&run);
    assert!((0.18..2.0).contains(&seen[1]), "{seen:?}");
}
