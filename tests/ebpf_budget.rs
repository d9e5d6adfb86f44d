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

use support::{Awake, LoopDevice, Need, can_run, get, scratch, sonde, succeed, total};

const NEEDS: &[Need] = &[
    Need::Root,
    Need::Program("fio"),
    Need::Program("losetup"),
    Need::Program("chrt"),
];

/// While one recorder attaches its programs the kernel may leave those of another out.
static ONE: Mutex<()> = Mutex::new(());

/// Random reads of `device` for so many seconds.
fn reads(device: &LoopDevice, name: &str, seconds: u32, more: &str) -> String {
    format!(
        "fio --name={name} --filename={} --rw=randread --bs=4k --direct=1 --ioengine=psync \
         --time_based --runtime={seconds} --output-format=terse {more} >/dev/null",
        device.path.display()
    )
}

/// Records what `script` does to a disk.
fn record_script(dir: &Path, script: &str, options: &[&str]) -> PathBuf {
    let run = dir.join("run");
    // One read after the other, each with two processes to be woken: tens of thousands a second
    // only if no processor has to be woken too.
    let _awake = Awake::new();
    succeed(
        sonde()
            .args(["record", "-q", "--sources", "disk,bpf-disk", "-o"])
            .arg(&run)
            .args(options)
            .args(["--", "sh", "-c", script, env!("CARGO_BIN_EXE_sonde")]),
    );
    run
}

/// Records random reads of `device`: two seconds as many as it can, then two of 200 a second.
fn record(dir: &Path, device: &LoopDevice, options: &[&str]) -> PathBuf {
    let script = format!(
        "{}; \"$0\" mark slow; {}",
        reads(device, "fast", 2, ""),
        reads(device, "slow", 2, "--rate_iops=200")
    );
    record_script(dir, &script, &[&["--every", "250ms"], options].concat())
}

fn manifest(run: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(run.join("run.json")).expect("run.json");
    serde_json::from_str(&text).expect("JSON")
}

/// Rows of the table of events.
fn rows(run: &Path) -> f64 {
    manifest(run)["tables"]["disk_event"]
        .as_f64()
        .expect("events")
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

/// No sample comes before the end: the budget holds all the same, and programs are measured.
#[test]
fn long_intervals_are_no_longer_over_the_budget_than_short_ones() {
    let name = "long_intervals_are_no_longer_over_the_budget_than_short_ones";
    if !can_run(name, NEEDS) {
        return;
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = scratch("budget-long");
    let device = LoopDevice::new("budget-long", 64 << 20);
    let options = ["--event-rate", "500", "--every", "1h"];
    let run = record_script(&dir, &reads(&device, "fast", 5, ""), &options);
    let name = device.name();
    let counted = total(
        &run,
        &format!("disk.ios where device = {name} and latency >= 0s"),
    );
    // Only the first of the five seconds is told in full.
    let kept = rows(&run);
    assert!(counted > 10_000.0, "{counted}");
    assert!(kept < 0.4 * counted, "{kept} of {counted}");
    let manifest = manifest(&run);
    let programs = manifest["programs"].as_array().expect("programs");
    let complete = programs.iter().find(|p| p["name"] == "disk_complete");
    let measured = &complete.expect("it is attached")["measured_seconds"];
    let measured = measured.as_f64().expect("a number");
    // A tenth of a second of each three.
    assert!((0.15..0.5).contains(&measured), "{measured}");
}

/// What taking and keeping events costs is held as well, not only how many there are.
#[test]
fn events_that_cost_too_much_are_sampled() {
    if !can_run("events_that_cost_too_much_are_sampled", NEEDS) {
        return;
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = scratch("budget-cost");
    let device = LoopDevice::new("budget-cost", 64 << 20);
    // A tenth of a millisecond a second: some hundred events.
    let options = ["--event-budget", "0.01%", "--every", "250ms"];
    let run = record_script(&dir, &reads(&device, "fast", 4, ""), &options);
    let name = device.name();
    let of = |more: &str| total(&run, &format!("disk.ios where device = {name} and {more}"));
    let (counted, told, kept) = (of("latency >= 0s"), of("offset >= 0"), rows(&run));
    assert!(counted > 10_000.0, "{counted}");
    // Only the first interval of sixteen is told in full.
    assert!(kept < 0.3 * counted, "{kept} of {counted}");
    let most = manifest(&run)["sampled"]["disk_event"].as_f64();
    let most = most.expect("it was sampled");
    assert!(most > 10.0, "one in {most}");
    // Of N events, one in w told by chance, the estimate's deviation is the root of N times w.
    let deviation = (counted * most).sqrt();
    assert!(
        (told - counted).abs() < 5.0 * deviation,
        "{told} of {counted}, one in {most}"
    );
    // Sources that were not sampled are not said to be.
    let sampled = &manifest(&run)["sampled"];
    assert_eq!(sampled.as_object().map(serde_json::Map::len), Some(1));
}
