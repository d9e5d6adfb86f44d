//! Latency of a disk of which each sleep is known.

use std::time::Duration;

use serde_json::Value;

use crate::slow_fuse::{Delay, SlowDisk};
use crate::support::{Awake, can_run, scratch};
use crate::truth::{record_script_with, same};
use crate::{LOOK, MIB, NEEDS_FUSE, alone, buckets, fio, fio_first, quantile, sum, undisturbed};

#[test]
fn exactly_those_that_slept_are_in_the_tail() {
    if !can_run("exactly_those_that_slept_are_in_the_tail", NEEDS_FUSE) {
        return;
    }
    let _alone = alone();
    undisturbed(1, the_tail_agrees);
}

fn the_tail_agrees() {
    let disk = SlowDisk::new("tail", 64 * MIB);
    disk.sleeps(Delay::OneIn(1000, Duration::from_millis(50)));
    let run = scratch("tail").join("run");
    let job = "rw=randread bs=4k ioengine=psync number_ios=16000 norandommap size=64m";
    record_script_with(&run, "100ms", LOOK, &fio(&disk.path, job).join(" "));
    let (reads, slept) = disk.counted();
    assert!(reads >= 16_000 && slept >= 16, "{slept} of {reads} slept");
    let all = format!("disk.ios by latency where device = {}", disk.name());
    same("reads", sum(&buckets(&run, &all)), reads as f64);
    let tail = buckets(&run, &format!("{all} and latency > 40ms"));
    same("reads above 40 ms", sum(&tail), slept as f64);
    for bucket in tail {
        assert!(
            bucket.to > 0.05 && bucket.from < 0.08,
            "a sleep of 50 ms took {bucket:?}"
        );
    }
}

/// fio's percentile of completion latency, in seconds.
fn percentile(fio: &str, name: &str) -> f64 {
    let start = fio.find('{').expect("fio prints JSON");
    let all: Value = serde_json::from_str(&fio[start..]).expect("fio prints JSON");
    let value = &all["jobs"][0]["read"]["clat_ns"]["percentile"][name];
    value.as_f64().expect("a percentile") / 1e9
}

#[test]
fn percentiles_are_those_of_fio() {
    if !can_run("percentiles_are_those_of_fio", NEEDS_FUSE) {
        return;
    }
    let _alone = alone();
    let disk = SlowDisk::new("percentiles", 64 * MIB);
    // Waking fio takes 50 µs where the processor sleeps too, as in a virtual machine, and four
    // times that if its host is busy: no time of the disk. So no processor sleeps, and a read
    // takes ten milliseconds. The 99th percentile is among the slow ones, which are no accident.
    let _awake = Awake::new();
    disk.sleeps(Delay::Spread([5.0, 15.0], 25, [50.0, 52.5]));
    let run = scratch("percentiles").join("run");
    let job = "rw=randread bs=4k ioengine=psync time_based runtime=6 percentile_list=50:99";
    let said = record_script_with(&run, "100ms", LOOK, &fio_first(&disk.path, job));
    let part = format!("where device = {}", disk.name());
    let latency = buckets(&run, &format!("disk.ios by latency {part}"));
    for (share, name) in [(0.5, "50.000000"), (0.99, "99.000000")] {
        let (seen, expected) = (quantile(&latency, share), percentile(&said, name));
        assert!(
            (seen - expected).abs() <= 0.03 * expected,
            "p{name}: {seen} s, fio says {expected} s"
        );
    }
}
