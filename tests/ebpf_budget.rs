//! What events may cost: over the budget they are sampled, each with its weight, and no longer
//! than needed. Histograms are not.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs and tell why they skip"
)]

mod support;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use support::{LoopDevice, Need, can_run, get, scratch, sonde, succeed, total};

const NEEDS: &[Need] = &[Need::Root, Need::Program("fio"), Need::Program("losetup")];

/// While one recorder attaches its programs the kernel may leave those of another out.
static ONE: Mutex<()> = Mutex::new(());

/// Records random reads of `device`: two seconds as many as it can, then two of 200 a second.
fn record(dir: &Path, device: &LoopDevice, options: &[&str]) -> PathBuf {
    let run = dir.join("run");
    let job = |name: &str, more: &str| {
        format!(
            "fio --name={name} --filename={} --rw=randread --bs=4k --direct=1 --ioengine=psync \
             --time_based --runtime=2 --output-format=terse {more} >/dev/null",
            device.path.display()
        )
    };
    let script = format!(
        "{}; \"$0\" mark slow; {}",
        job("fast", ""),
        job("slow", "--rate_iops=200")
    );
    succeed(
        sonde()
            .args(["record", "-q", "--every", "250ms", "--sources"])
            .args(["disk,bpf-disk", "-o"])
            .arg(&run)
            .args(options)
            .args(["--", "sh", "-c", &script, env!("CARGO_BIN_EXE_sonde")]),
    );
    run
}

/// Rows of the table of events.
fn rows(run: &Path) -> f64 {
    let text = std::fs::read_to_string(run.join("run.json")).expect("run.json");
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    manifest["tables"]["disk_event"].as_f64().expect("events")
}

#[test]
fn within_the_budget_every_event_is_told() {
    if !can_run("within_the_budget_every_event_is_told", NEEDS) {
        return;
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = scratch("budget-all");
    let device = LoopDevice::new("budget-all", 64 << 20);
    let run = record(&dir, &device, &["--event-budget", "1000%"]);
    let of = |what: &str| total(&run, &format!("{what} where device = {}", device.name()));
    let of_histogram = |what: &str| {
        let device = device.name();
        total(
            &run,
            &format!("{what} where device = {device} and latency >= 0s"),
        )
    };
    for measure in ["ios", "bytes"] {
        let counted = of_histogram(&format!("disk.{measure}"));
        let told = total(
            &run,
            &format!(
                "disk.{measure} where device = {} and offset >= 0",
                device.name()
            ),
        );
        assert!(counted > 1000.0);
        assert_eq!(told, counted, "{measure}");
    }
    // Queue and service time are all of the time, of each event.
    let parts = |measure: &str| of(&format!("disk.{measure}"));
    let whole = total(
        &run,
        &format!("disk.time where device = {} and offset >= 0", device.name()),
    );
    let sum = parts("queue") + parts("service");
    assert!((whole - sum).abs() < 1e-6 * sum, "{whole} {sum}");
    let answer = get(
        &run,
        &format!("disk.ios by process where device = {}", device.name()),
    );
    assert!(answer.get("stands_for").is_none(), "{answer}");
}

#[test]
fn over_the_budget_events_are_sampled_and_not_for_longer() {
    if !can_run(
        "over_the_budget_events_are_sampled_and_not_for_longer",
        NEEDS,
    ) {
        return;
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = scratch("budget-rate");
    let device = LoopDevice::new("budget-rate", 64 << 20);
    let run = record(&dir, &device, &["--event-rate", "2000"]);
    let name = device.name();
    let counted = total(
        &run,
        &format!("disk.ios where device = {name} and latency >= 0s"),
    );
    let told = total(
        &run,
        &format!("disk.ios where device = {name} and offset >= 0"),
    );
    let kept = rows(&run);
    // The device does tens of thousands a second.
    assert!(counted > 20_000.0, "{counted}");
    // The first interval of a burst is told in full: nobody knew.
    assert!(kept < counted / 2.0, "{kept} of {counted}");
    // With some 4,000 sampled events of weight w the error is a few percent.
    assert!((told / counted - 1.0).abs() < 0.1, "{told} {counted}");
    let answer = get(&run, &format!("disk.ios by process where device = {name}"));
    assert!(
        answer["stands_for"].as_f64().is_some_and(|n| n > 1.0),
        "{answer}"
    );
    // When there is room again every event is told: the last second is exact.
    let slow = |more: &str| {
        let from = "phase = slow and time in 3.5s..3.9s";
        total(
            &run,
            &format!("disk.ios where device = {name} and {from}{more}"),
        )
    };
    assert_eq!(slow(" and offset >= 0"), slow(""));
    // The histograms are never sampled.
    let histogram = total(
        &run,
        &format!("disk.ios where device = {name} and latency >= 0s"),
    );
    assert_eq!(histogram, counted);
}
