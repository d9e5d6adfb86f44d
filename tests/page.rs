//! The web page in a real browser: before a made-up machine, before recorded runs, and live.
//! What a reader does and what must come of it is in `web/e2e`; here it is given runs to show.
#![cfg(feature = "ebpf")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs and write settings"
)]

mod support;
mod truth;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{ALL_EVENTS, LoopDevice, Need, can_run, output, scratch};
use truth::record_script_with;

const BROWSER: &[Need] = &[
    Need::Program("node"),
    Need::Program("chromium"),
    Need::Path(concat!(env!("CARGO_MANIFEST_DIR"), "/web/dist/index.html")),
];

/// Runs a script of `web/`; what it prints says which case failed.
fn node(arguments: &[&str], runs: &[&Path]) {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let mut command = Command::new("node");
    command.args(arguments).args(runs).current_dir(web);
    command.env("SONDE", env!("CARGO_BIN_EXE_sonde"));
    let out = output(&mut command);
    // Each case has its line, and says what is wrong.
    println!("{}", String::from_utf8_lossy(&out.stdout));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{command:?}: {}\n{said}", out.status);
}

#[test]
fn the_logic_of_the_page() {
    if can_run("the_logic_of_the_page", BROWSER) {
        node(&["node_modules/vitest/vitest.mjs", "run"], &[]);
    }
}

#[test]
fn a_reader_before_a_made_up_machine() {
    if can_run("a_reader_before_a_made_up_machine", BROWSER) {
        node(&["e2e/run.mjs"], &[]);
    }
}

/// A latency bubble, as in `docs/guides/latency-bubble.md`: a deep stream and, far behind it, a
/// lone reader, which the scheduler passes over for at most `patience` milliseconds.
fn bubble(device: &LoopDevice, patience: u32) -> PathBuf {
    for (setting, value) in [
        ("scheduler", "mq-deadline".to_owned()),
        ("nr_requests", "1024".to_owned()),
        ("nomerges", "2".to_owned()),
        ("iosched/read_expire", patience.to_string()),
    ] {
        device.set(setting, &value);
    }
    let run = scratch(&format!("page-{patience}")).join("run");
    let fio = format!(
        "chrt --fifo 50 fio --filename={} --direct=1 --ioengine=libaio --time_based --runtime=4 \
         --output-format=terse --minimal --name=stream --rw=read --bs=256k --iodepth=512 --offset=1g \
         --name=lone --rw=randread --norandommap --bs=4k --iodepth=1 --size=1g --thinktime=5ms",
        device.path.display()
    );
    // Each of them as an event, however many they are.
    record_script_with(&run, "100ms", &[ALL_EVENTS], &fio);
    run
}

#[test]
fn a_reader_before_recorded_runs_and_a_live_one() {
    let mut needs = BROWSER.to_vec();
    needs.extend([
        Need::Root,
        Need::Path("/sys/kernel/btf/vmlinux"),
        Need::Program("losetup"),
        Need::Program("fio"),
        Need::Program("chrt"),
    ]);
    if !can_run("a_reader_before_recorded_runs_and_a_live_one", &needs) {
        return;
    }
    let device = LoopDevice::sparse("page", 64 << 30);
    let (with, without) = (bubble(&device, 1000), bubble(&device, 20));
    node(&["e2e/real.mjs"], &[&with, &without]);
}
