//! How far apart I/Os are, of patterns for which that is known.

use std::path::Path;
use std::time::Duration;

use crate::slow_fuse::{Delay, SlowDisk};
use crate::support::{can_run, get, scratch};
use crate::truth::record_script_with;
use crate::{
    Bucket, LOOK, MIB, NEEDS, NEEDS_FUSE, alone, buckets, fio, fio_first, quantile, quiet_device,
    sum,
};

/// `disk.random_share` of a device.
fn random_share(run: &Path, device: &str) -> f64 {
    let answer = get(run, &format!("disk.random_share where device = {device}"));
    answer["groups"][0]["mean"].as_f64().expect("a share")
}

/// The share of the I/Os of a device for which `what` holds.
fn share(run: &Path, device: &str, dimension: &str, what: impl Fn(&Bucket) -> bool) -> f64 {
    let all = buckets(
        run,
        &format!("disk.ios by {dimension} where device = {device}"),
    );
    let some: Vec<Bucket> = all.iter().copied().filter(what).collect();
    sum(&some) / sum(&all)
}

#[test]
fn a_sequential_job_is_sequential() {
    if !can_run("a_sequential_job_is_sequential", NEEDS) {
        return;
    }
    let _alone = alone();
    let (_lock, device) = quiet_device("sequential");
    let run = scratch("sequential").join("run");
    let job = "rw=read bs=4k ioengine=libaio iodepth=8 size=64m";
    record_script_with(&run, "100ms", LOOK, &fio(&device.path, job).join(" "));
    let random = random_share(&run, &device.name());
    assert!(random <= 0.01, "{random} of it is random");
    for dimension in ["distance", "nearest"] {
        let next = share(&run, &device.name(), dimension, |b| b.from == 0.0);
        assert!(next >= 0.99, "{next} of it is next by {dimension}");
    }
}

/// The disk serves one at a time and the streams wait for it in turn.
#[test]
fn two_sequential_streams_jump_but_each_goes_on() {
    if !can_run("two_sequential_streams_jump_but_each_goes_on", NEEDS_FUSE) {
        return;
    }
    let _alone = alone();
    let disk = SlowDisk::new("streams", 64 * MIB);
    disk.sleeps(Delay::Each(Duration::from_micros(500)));
    let run = scratch("streams").join("run");
    let job = "rw=read bs=4k ioengine=psync size=32m number_ios=2000 \
               name=one offset=0 name=two offset=32m";
    record_script_with(&run, "100ms", LOOK, &fio_first(&disk.path, job));
    let random = random_share(&run, &disk.name());
    assert!(random <= 0.01, "{random} of it is random");
    let next = share(&run, &disk.name(), "nearest", |b| b.from == 0.0);
    assert!(next >= 0.99, "{next} of it goes on with a stream");
    let half = 32.0 * MIB as f64;
    let far = |b: &Bucket| b.to.abs() > 0.9 * half || b.from.abs() > 0.9 * half;
    let far = share(&run, &disk.name(), "distance", far);
    assert!(far >= 0.95, "{far} of it is far from the one before");
}

/// Of two places that chance picks, the median distance is 1 - 1/sqrt(2) of the span.
#[test]
fn the_median_seek_of_chance_is_known() {
    if !can_run("the_median_seek_of_chance_is_known", NEEDS) {
        return;
    }
    let _alone = alone();
    let (_lock, device) = quiet_device("uniform");
    let run = scratch("uniform").join("run");
    let job = "rw=randread bs=4k ioengine=psync norandommap randrepeat=0 size=64m \
               io_size=400m";
    record_script_with(&run, "100ms", LOOK, &fio(&device.path, job).join(" "));
    let part = format!("where device = {}", device.name());
    let mut seeks = buckets(&run, &format!("disk.ios by distance {part}"));
    assert!(sum(&seeks) >= 100_000.0, "{} reads", sum(&seeks));
    for seek in &mut seeks {
        if seek.from < 0.0 {
            (seek.from, seek.to) = (-seek.to, -seek.from);
        }
    }
    seeks.sort_by(|a, b| a.from.total_cmp(&b.from));
    let (median, span) = (quantile(&seeks, 0.5), 64.0 * MIB as f64);
    let expected = 1.0 - 0.5_f64.sqrt();
    assert!(
        (median / span / expected - 1.0).abs() <= 0.03,
        "the median seek is {} of the span",
        median / span
    );
    let random = random_share(&run, &device.name());
    assert!(random >= 0.99, "only {random} of it is random");
}
