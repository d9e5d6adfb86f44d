//! A clock that is set, and a recorder that is held up.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs, write files and look at the clock"
)]

#[path = "support/recorder.rs"]
mod recorder;
mod support;

use recorder::{Recorder, check_cover, diskstats, manifest, series, sleep, write_blocks};
use rustix::process::Signal;
use rustix::time::{ClockId, Timespec, clock_gettime, clock_settime};
use support::{AtEnd, LoopDevice, Need, can_run, scratch, total};

fn read(clock: ClockId) -> i64 {
    let t = clock_gettime(clock);
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

/// Sets the wall clock to the time since boot plus `offset` nanoseconds.
fn set_clock(offset: i64) -> rustix::io::Result<()> {
    let nanos = read(ClockId::Boottime) + offset;
    let time = Timespec {
        tv_sec: nanos / 1_000_000_000,
        tv_nsec: nanos % 1_000_000_000,
    };
    clock_settime(ClockId::Realtime, time)
}

#[test]
fn times_and_intervals_stay_true_while_the_clock_is_set() {
    if !can_run("setting the clock", &[Need::Root]) {
        return;
    }
    let true_offset = read(ClockId::Realtime) - read(ClockId::Boottime);
    // A container may have root without the right to set the clock.
    if set_clock(true_offset).is_err() {
        assert!(std::env::var_os("CI").is_none(), "the clock cannot be set");
        return;
    }
    let run = scratch("clock").join("run");
    let arguments = ["-q", "--every", "50ms", "--sources", "cpu", "--for", "2s"];
    let from = read(ClockId::Boottime);
    let recorder = Recorder::start(&run, &arguments);
    sleep(0.6);
    {
        // Back as it was within 200 ms, whatever happens here.
        let _back = AtEnd(|| {
            let _ = set_clock(true_offset);
        });
        set_clock(true_offset + 3_000_000_000).unwrap();
        sleep(0.2);
    }
    let (status, said) = recorder.end();
    let took = (read(ClockId::Boottime) - from) as f64 / 1e9;
    assert!(status.success(), "{said}");

    let steps = manifest(&run)["clock"]["steps"].clone();
    let by: Vec<f64> = steps
        .as_array()
        .expect("steps")
        .iter()
        .map(|s| s["by_seconds"].as_f64().unwrap())
        .collect();
    assert_eq!(by.len(), 2, "{steps}");
    assert!(
        (by[0] - 3.0).abs() < 0.01 && (by[1] + 3.0).abs() < 0.01,
        "{by:?}"
    );
    let points = series(&run, "self.samples");
    let mut last = 0.0;
    for p in &points {
        assert!(p.at > last, "time went from {last} to {}", p.at);
        // A loaded machine may hold it up; a step would be three seconds.
        assert!(
            p.interval < 1.0 && (p.at - last - p.interval).abs() < 0.1,
            "{p:?} after {last}"
        );
        last = p.at;
    }
    assert!((2.0..took).contains(&last), "ended at {last} of {took} s");
    check_cover(&points);
    assert!(
        support::succeed(support::sonde().arg("show").arg(&run)).contains("the wall clock was set"),
        "show tells"
    );
}

/// Holds the recorder up for 350 ms while `meanwhile` happens.
fn hold_up(run: &std::path::Path, meanwhile: impl FnOnce()) {
    let recorder = Recorder::start(
        run,
        &[
            "-q",
            "--every",
            "50ms",
            "--sources",
            "cpu,disk",
            "--for",
            "3s",
        ],
    );
    sleep(0.2);
    recorder.signal(Signal::STOP);
    meanwhile();
    sleep(0.35);
    recorder.signal(Signal::CONT);
    let (status, said) = recorder.end();
    assert!(status.success(), "{said}");
}

#[test]
fn ticks_that_passed_by_are_counted_and_the_interval_is_true() {
    let run = scratch("overrun").join("run");
    hold_up(&run, || {});
    let own = &manifest(&run)["own"];
    let [samples, missed, late] = ["samples", "missed", "late"].map(|n| own[n].as_f64().unwrap());
    // 350 ms hold six or seven whole ticks of 50 ms besides the late one.
    assert!(missed >= 6.0, "{own}");
    assert!(late >= 1.0, "{own}");
    for (statistic, counted) in [("samples", samples), ("missed", missed), ("late", late)] {
        assert_eq!(
            total(&run, &format!("self.{statistic}")),
            counted,
            "{statistic}"
        );
    }
    let points = series(&run, "self.samples");
    assert_eq!(points.len() as f64, samples);
    let ticks = points.last().unwrap().at / 0.05;
    // The sample at the end is none of a tick. Where the end comes upon a tick, within 5 ms, it is the
    // only one: of the whole ticks one is not there, and `ticks` has a fraction more than them.
    let seen = samples - 1.0 + missed;
    let apart = seen - ticks;
    assert!((-1.1..=1.0).contains(&apart), "{seen} of {ticks} ticks");
    let longest = points.iter().map(|p| p.interval).fold(0.0, f64::max);
    assert!((0.35..0.6).contains(&longest), "longest interval {longest}");
    check_cover(&points);
}

#[test]
fn nothing_is_missed_of_what_happens_while_the_recorder_is_held_up() {
    if !can_run(
        "sums over an overrun",
        &[Need::Root, Need::Program("losetup")],
    ) {
        return;
    }
    let device = LoopDevice::new("overrun", 8 << 20);
    let run = scratch("overrun-sums").join("run");
    let before = diskstats(&device.name());
    hold_up(&run, || write_blocks(&device.path, 300));
    let after = diskstats(&device.name());
    let name = device.name();
    let bytes = format!("disk.bytes where device = {name} and op = write");
    assert_eq!(total(&run, &bytes), ((after[6] - before[6]) * 512) as f64);
    assert_eq!(total(&run, &bytes), 300.0 * 4096.0);
    // All in the one long interval, at its true rate.
    let with: Vec<_> = series(&run, &bytes)
        .into_iter()
        .filter(|p| p.value > 0.0)
        .collect();
    assert_eq!(with.len(), 1, "{with:?}");
    assert!(with[0].interval >= 0.35, "{with:?}");
    assert!(
        (with[0].value * with[0].interval - 300.0 * 4096.0).abs() < 1.0,
        "{with:?}"
    );
}
