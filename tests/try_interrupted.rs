//! An experiment that is interrupted puts its settings back, tells what is complete, and goes
//! on where it was.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell why they skip"
)]

mod support;
#[path = "support/trying.rs"]
mod trying;

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::{LoopDevice, Need, can_run, output};
use trying::{Bench, file, until};

const LOOP: &[Need] = &[Need::Root, Need::Program("losetup")];

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("it runs");
}

/// An experiment over the read-ahead of a device, interrupted in its second block.
fn interrupted(bench: &Bench, device: &LoopDevice, how: Signal) -> (Option<i32>, String) {
    let set = format!("disk:{}.read_ahead_kb=64,256", device.name());
    let words = [
        "--set",
        &set,
        "--blocks",
        "3",
        "-m",
        "elapsed",
        "-o",
        "experiment",
        "--json",
        "--",
        "sleep",
        "0.3",
    ];
    let child = bench.start(&words);
    until("a second block", || bench.in_state("done") >= 5);
    signal(&child, how);
    let out = child.wait_with_output().expect("it ends");
    (
        out.status.code(),
        String::from_utf8_lossy(&out.stdout).into_owned(),
    )
}

fn resume(bench: &Bench) -> Value {
    let out = output(&mut bench.command(&["--resume", "experiment", "--json", "-q"]));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    serde_json::from_slice(&out.stdout).expect("JSON")
}

fn goes_on(name: &str, how: Signal, status: Option<i32>) {
    if !can_run(name, LOOP) {
        return;
    }
    let device = LoopDevice::new(name, 1 << 20);
    let ahead = device.queue("read_ahead_kb");
    device.set("read_ahead_kb", "32");
    let bench = Bench::new(name);
    let (code, told) = interrupted(&bench, &device, how);
    assert_eq!(code, status, "{told}");
    // The guardian is another process: of a killed experiment it needs a moment.
    until("what it was", || file(&ahead) == "32");
    if code.is_some() {
        let told: Value = serde_json::from_str(&told).expect("JSON");
        assert!(told["trials_done"].as_u64() >= Some(4), "{told}");
        assert!(
            told["ended"]
                .as_str()
                .is_some_and(|e| e.contains("interrupted")),
            "{told}"
        );
    }
    // A recorder that outlives a killed experiment for a moment is still in its directory.
    until("the recorder's end", || !is_recorded(&bench));
    let result = resume(&bench);
    assert_eq!(file(&ahead), "32");
    assert_eq!(
        (&result["blocks"], &result["trials_done"]),
        (&3.into(), &12.into())
    );
    assert!(result["ended"].is_null());
    let trials = result["trials"].as_array().expect("trials");
    let cut = |t: &&Value| t["state"] == "interrupted" || t["state"] == "aside";
    assert!(trials.iter().filter(cut).count() >= 1, "{trials:?}");
    // Complete: there is nothing left to do.
    assert_eq!(
        resume(&bench)["trials"].as_array().map(Vec::len),
        Some(trials.len())
    );
}

/// Whether some process works in the bench's directory.
fn is_recorded(bench: &Bench) -> bool {
    let place = bench.dir.to_string_lossy().into_owned();
    let processes = std::fs::read_dir("/proc").expect("proc").flatten();
    let lines = processes.filter_map(|p| {
        let cwd = std::fs::read_link(p.path().join("cwd")).ok()?;
        let command = std::fs::read_to_string(p.path().join("cmdline")).ok()?;
        (cwd.to_string_lossy() == place && command.contains("record")).then_some(())
    });
    lines.count() > 0
}

#[test]
fn sigint() {
    goes_on("try-sigint", Signal::INT, Some(130));
}

#[test]
fn sigterm() {
    goes_on("try-sigterm", Signal::TERM, Some(143));
}

#[test]
fn sigkill() {
    goes_on("try-sigkill", Signal::KILL, None);
}

#[test]
fn another_start_is_no_resume() {
    if !can_run("another_start_is_no_resume", LOOP) {
        return;
    }
    let device = LoopDevice::new("try-other", 1 << 20);
    let ahead = device.queue("read_ahead_kb");
    device.set("read_ahead_kb", "32");
    let bench = Bench::new("try-other");
    interrupted(&bench, &device, Signal::TERM);
    std::fs::write(&ahead, "48").expect("root may set it");
    bench.refused(
        &["--resume", "experiment"],
        "was 32 when the experiment began, and is 48 now",
    );
    assert_eq!(file(&ahead), "48");
}

/// While an experiment runs, no other one begins, nothing is left of the attempt, and nobody else
/// goes on with it.
#[test]
fn one_experiment_at_a_time() {
    if !can_run("one_experiment_at_a_time", LOOP) {
        return;
    }
    let device = LoopDevice::new("try-alone", 1 << 20);
    let bench = Bench::new("try-alone");
    let set = |name: &str| format!("disk:{}.{name}=16", device.name());
    let (first, second) = (set("read_ahead_kb"), set("nr_requests"));
    let words = [
        "--set",
        &first,
        "--blocks",
        "6",
        "-o",
        "experiment",
        "-m",
        "elapsed",
    ];
    let mut child = bench.start(&[&words[..], &["--", "sleep", "1"]].concat());
    until("a trial", || {
        bench.in_state("running") + bench.in_state("done") > 0
    });
    bench.refused(
        &["--set", &second, "-o", "other", "--", "true"],
        "another experiment is under way",
    );
    assert!(
        !bench.dir.join("other").exists(),
        "something was left behind"
    );
    bench.refused(
        &["--resume", "experiment"],
        "is being worked on by another process",
    );
    kill_process(Pid::from_child(&child), Signal::TERM).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
}

/// The guardian of the bench's experiment.
fn guardian(bench: &Bench) -> Option<Pid> {
    let state = bench.dir.join("state").to_string_lossy().into_owned();
    let processes = std::fs::read_dir("/proc").expect("proc").flatten();
    let mut numbers = processes.filter_map(|p| {
        let command = std::fs::read_to_string(p.path().join("cmdline")).ok()?;
        let is_it = command.contains("(guardian)") && command.contains(&state);
        let number = p.file_name().to_string_lossy().parse().ok();
        number.filter(|_| is_it)
    });
    Pid::from_raw(numbers.next()?)
}

/// The program itself, its guardian or both, killed at some moment of an experiment: from its
/// first breath to its end. What the guardian could not put back, the next command does.
#[test]
fn killed_at_any_moment() {
    if !can_run("killed_at_any_moment", LOOP) {
        return;
    }
    let device = LoopDevice::new("try-any", 1 << 20);
    let names = ["scheduler", "nr_requests", "read_ahead_kb", "nomerges"];
    device.set("scheduler", "mq-deadline");
    device.set("nr_requests", "77");
    device.set("read_ahead_kb", "32");
    let settings = || names.map(|n| file(&device.queue(n)));
    let before = settings();
    let knob = |name: &str, values: &str| format!("disk:{}.{name}={values}", device.name());
    let (scheduler, ahead) = (
        knob("scheduler", "none,kyber"),
        knob("read_ahead_kb", "64,256"),
    );
    let words = [
        "--set",
        &scheduler,
        "--set",
        &ahead,
        "--design",
        "one-at-a-time",
        "--blocks",
        "6",
        "-q",
        "-m",
        "elapsed",
        "-o",
        "experiment",
        "--",
        "sleep",
        "0.05",
    ];
    let mut seed = u64::from(std::process::id());
    let (mut changed, mut by_next) = (0, 0);
    for round in 0..20 {
        let bench = Bench::new(&format!("try-any-{round}"));
        let mut child = bench.start(&words);
        seed = seed.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        std::thread::sleep(std::time::Duration::from_millis((seed >> 33) % 1500));
        changed += u32::from(settings() != before);
        let keeper = guardian(&bench);
        match (round % 4, keeper) {
            (0, _) => signal(&child, Signal::KILL),
            (1, _) => signal(&child, Signal::TERM),
            (2, Some(keeper)) => {
                // It goes on without one, and puts everything back itself.
                let _ = kill_process(keeper, Signal::KILL);
                std::thread::sleep(std::time::Duration::from_millis(100));
                signal(&child, Signal::INT);
            }
            (_, keeper) => {
                signal(&child, Signal::KILL);
                if let Some(keeper) = keeper {
                    let _ = kill_process(keeper, Signal::KILL);
                }
            }
        }
        child.wait().expect("it ends");
        until("the guardian's end", || guardian(&bench).is_none());
        if settings() != before {
            by_next += 1;
            let next = output(&mut bench.command(&["--recover"]));
            let said = String::from_utf8_lossy(&next.stderr).into_owned();
            assert_eq!(next.status.code(), Some(0), "round {round}: {said}");
        }
        assert_eq!(settings(), before, "round {round}, seed {seed}");
    }
    // Some rounds came while a setting was changed, and some of those nobody was left to help.
    assert!(changed > 0, "no round met a changed setting");
    println!("{changed} rounds met a changed setting; the next command mended {by_next}");
}
