//! I/O that hangs: its time at a depth is told while it does.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::recorder::{Point, Recorder, series};
use crate::slow_fuse::{Delay, SlowDisk};
use crate::support::{can_run, scratch};
use crate::{LOOK, MIB, NEEDS_FUSE, alone, undisturbed};

const HANGS: f64 = 2.0;

/// A recording of that length, and what it tells of one read that hangs for [`HANGS`] seconds: the
/// intervals from the one in which it began.
fn told(disk: &SlowDisk, length: &str) -> (PathBuf, Vec<Point>) {
    let run = scratch(&format!("hung-{length}")).join("run");
    let arguments = [LOOK, &["-q", "--every", "100ms", "--for", length]].concat();
    let recorder = Recorder::start(&run, &arguments);
    let mut read = Command::new("dd");
    read.args(["of=/dev/null", "bs=4k", "count=1", "iflag=direct"]);
    read.arg(format!("if={}", disk.path.display()));
    let mut read = read.stderr(Stdio::null()).spawn().expect("dd runs");
    let (status, said) = recorder.end();
    assert!(read.wait().expect("it ends").success());
    assert!(status.success(), "{said}");
    let expression = format!("disk.at_depth where device = {}", disk.name());
    let points = series(&run, &expression).into_iter();
    let points = points.skip_while(|p| p.value.is_nan() || p.value <= 0.0);
    (run, points.collect())
}

fn seconds(points: &[Point]) -> f64 {
    points.iter().map(|p| p.value * p.interval).sum()
}

#[test]
fn the_time_of_a_hung_io_is_told_while_it_hangs() {
    if !can_run("the_time_of_a_hung_io_is_told_while_it_hangs", NEEDS_FUSE) {
        return;
    }
    let _alone = alone();
    let disk = SlowDisk::new("hung", 64 * MIB);
    disk.sleeps(Delay::Each(Duration::from_secs_f64(HANGS)));
    // The recording ends before it does.
    undisturbed(
        || told(&disk, "2200ms"),
        |_, points| {
            assert!(points.len() >= 8, "{points:?}");
            for point in &points[1..] {
                assert!((point.value - 1.0).abs() < 0.15, "{point:?} of {points:?}");
            }
            let passed: f64 = points[1..].iter().map(|p| p.interval).sum();
            let all = seconds(&points[1..]);
            assert!((all - passed).abs() < 0.03, "{all} s in {passed} s");
        },
    );
    // What was told while it hung is not told again when it ends.
    undisturbed(
        || told(&disk, "5s"),
        |_, points| {
            let all = seconds(points);
            assert!(
                (HANGS - 0.01..HANGS + 0.1).contains(&all),
                "{all} s: {points:?}"
            );
        },
    );
}
