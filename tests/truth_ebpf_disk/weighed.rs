//! Time at each depth, against the kernel's own two fields of it and a load of known depths.

use std::path::PathBuf;
use std::time::Duration;

use crate::slow_fuse::{Delay, SlowDisk};
use crate::support::{can_run, scratch};
use crate::truth::{DiskLine, record_script_with};
use crate::{LOOK, MIB, NEEDS_FUSE, alone, buckets, fio_first, sum, undisturbed};

/// Fails unless the two are that share of the second apart at most.
fn close(what: &str, value: f64, expected: f64, share: f64) {
    assert!(
        (value - expected).abs() <= share * expected,
        "{what}: {value} s, expected {expected} s"
    );
}

/// The kernel's fields: seconds with any under way, and seconds of all of them added up, which is time
/// at a depth times the depth.
#[test]
fn time_at_depths_adds_up_to_the_kernels_fields() {
    let name = "time_at_depths_adds_up_to_the_kernels_fields";
    if !can_run(name, NEEDS_FUSE) {
        return;
    }
    let _alone = alone();
    let disk = SlowDisk::new("weighed", 64 * MIB);
    disk.sleeps(Delay::Each(Duration::from_millis(4)));
    let record = || {
        let run = scratch("weighed").join("run");
        let job = "rw=randread bs=4k ioengine=libaio iodepth=4 time_based runtime=3";
        let before = DiskLine::now(&disk.name());
        record_script_with(&run, "100ms", LOOK, &fio_first(&disk.path, job));
        let counted = DiskLine::now(&disk.name()).since(&before);
        (run, counted.busy())
    };
    undisturbed(record, |run, [busy, weighed]| {
        let part = format!("where device = {}", disk.name());
        let at = buckets(run, &format!("disk.at_depth by depth {part}"));
        close("busy", sum(&at), *busy, 0.01);
        let times_depth: f64 = at.iter().map(|b| b.from * b.total).sum();
        close("time of all", times_depth, *weighed, 0.02);
        let usual = at.iter().find(|b| b.from == 4.0).map_or(0.0, |b| b.total);
        assert!(usual > 0.9 * sum(&at), "{usual} s at a depth of 4: {at:?}");
        assert!(at.iter().all(|b| b.from <= 4.0), "{at:?}");
    });
}

/// Depths that fio keeps, one after the other, and how many reads it does at each.
const STEPS: [(f64, f64); 3] = [(2.0, 200.0), (5.0, 300.0), (9.0, 250.0)];

/// That all of it adds up is not enough: each depth has its own time.
#[test]
fn each_depth_has_its_own_time() {
    let name = "each_depth_has_its_own_time";
    if !can_run(name, NEEDS_FUSE) {
        return;
    }
    let _alone = alone();
    let disk = SlowDisk::new("depths", 64 * MIB);
    disk.sleeps(Delay::Each(Duration::from_millis(4)));
    undisturbed(
        || recorded_in_steps(&disk),
        |run, busy| {
            let part = format!("where device = {}", disk.name());
            let at = buckets(run, &format!("disk.at_depth by depth {part}"));
            for ((depth, _), busy) in STEPS.into_iter().zip(busy) {
                let told = at.iter().find(|b| b.from == depth);
                let told = told.map_or(0.0, |b| b.total);
                // The last of a step are fewer and fewer: 3 % of it, and a read of the other steps.
                assert!(
                    (0.94 * busy..1.01 * busy + 0.03).contains(&told),
                    "{told} s at a depth of {depth}, busy for {busy} s: {at:?}"
                );
            }
        },
    );
}

/// With the seconds for which the kernel counted the disk as busy in each step.
fn recorded_in_steps(disk: &SlowDisk) -> (PathBuf, Vec<f64>) {
    let run = scratch("depths").join("run");
    let line = format!("grep -w {} /proc/diskstats", disk.name());
    let mut script = line.clone();
    for (depth, reads) in STEPS {
        let job = format!("rw=randread bs=4k ioengine=libaio iodepth={depth} number_ios={reads}");
        let job = fio_first(&disk.path, &job);
        script += &format!("\n{job} >&2\n{line}");
    }
    let said = record_script_with(&run, "100ms", LOOK, &script);
    let lines = said.lines().map(|l| DiskLine::find(l, &disk.name()));
    let busy: Vec<f64> = lines.map(|l| l.busy()[0]).collect();
    let steps: Vec<f64> = busy.windows(2).map(|w| w[1] - w[0]).collect();
    assert_eq!(steps.len(), STEPS.len(), "{said}");
    (run, steps)
}
