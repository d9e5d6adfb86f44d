//! Depth against fio, which keeps as many I/Os under way as it is told to.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::slow_fuse::{Delay, SlowDisk};
use crate::support::{can_run, get, scratch};
use crate::truth::{DiskLine, record_script_with, same};
use crate::{LOOK, MIB, NEEDS_FUSE, alone, buckets, fio, sum, undisturbed};

/// The reads that fio did.
fn ios(fio: &str) -> f64 {
    let start = fio.find('{').expect("fio prints JSON");
    let all: Value = serde_json::from_str(&fio[start..]).expect("fio prints JSON");
    all["jobs"][0]["read"]["total_ios"]
        .as_f64()
        .expect("a number")
}

#[test]
fn depth_is_what_fio_keeps_under_way() {
    if !can_run("depth_is_what_fio_keeps_under_way", NEEDS_FUSE) {
        return;
    }
    let _alone = alone();
    let disk = SlowDisk::new("depth", 64 * MIB);
    // Alone, it is idle from a completion to the next request: sleeping long makes that
    // small. The kernel counts a tick of its clock as busy if any I/O was under way.
    for (depth, sleep) in [(1.0, 20), (8.0, 2), (32.0, 2)] {
        disk.sleeps(Delay::Each(Duration::from_millis(sleep)));
        undisturbed(
            || recorded_at(depth, &disk),
            |run, busy| agrees_at(depth, &disk, run, *busy),
        );
    }
}

/// fio keeps `depth` reads under way on `disk`; with the seconds for which the kernel counted it as
/// busy.
fn recorded_at(depth: f64, disk: &SlowDisk) -> (PathBuf, f64) {
    let run = scratch(&format!("depth-{depth}")).join("run");
    let job = format!("rw=randread bs=4k ioengine=libaio iodepth={depth} time_based runtime=2");
    let before = DiskLine::now(&disk.name());
    let said = record_script_with(&run, "100ms", LOOK, &fio(&disk.path, &job).join(" "));
    let counted = DiskLine::now(&disk.name()).since(&before);
    same("reads, if nobody else reads", counted.of(0)[0], ios(&said));
    (run, counted.busy()[0])
}

/// One end that is not told makes the depth too great until the request is used again.
fn agrees_at(depth: f64, disk: &SlowDisk, run: &Path, expected: f64) {
    let part = format!("where device = {}", disk.name());
    let at = buckets(run, &format!("disk.ios by depth {part}"));
    let most = at.iter().max_by(|a, b| a.total.total_cmp(&b.total));
    same("the usual depth", most.expect("I/Os").from, depth);
    same("the greatest", at.last().expect("I/Os").from, depth);
    let peak = get(run, &format!("disk.peak_depth {part}"));
    let peak = peak["groups"][0]["max"].as_f64().expect("a peak");
    same("the peak", peak, depth);

    let busy = sum(&buckets(run, &format!("disk.at_depth by depth {part}")));
    assert!(
        (busy - expected).abs() <= 0.01 * expected,
        "at depth {depth}: {busy} s at any depth, the kernel counted {expected} s busy"
    );
}
