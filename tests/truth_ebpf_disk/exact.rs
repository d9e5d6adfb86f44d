//! Every histogram has each I/O and each byte of `/proc/diskstats`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::recorder::{Recorder, wait};
use crate::slow_fuse::{Delay, SlowDisk};
use crate::support::{AtEnd, Need, can_run, scratch, total};
use crate::truth::{DiskLine, OPS, record_script_with, same};
use crate::{LOOK, MIB, NEEDS, NEEDS_FUSE, alone, buckets, fio, quiet_device, sum};

/// Dimensions of a histogram, and whether it has flushes: they have no size and no place.
const HISTOGRAMS: [(&str, bool); 7] = [
    ("latency", true),
    ("queue_time", true),
    ("service_time", true),
    ("depth", true),
    ("size", false),
    ("distance", false),
    ("nearest", false),
];

/// The I/Os and bytes of each histogram of `device` are those that the kernel counted.
fn agrees(run: &Path, device: &str, counted: &DiskLine) {
    for (dimension, with_flushes) in HISTOGRAMS {
        for (op, name) in OPS.into_iter().enumerate() {
            let part = format!("where device = {device} and op = {name}");
            let [ios, bytes, ..] = counted.of(op);
            for (measure, counted) in [("ios", ios), ("bytes", bytes)] {
                let expected = if name == "flush" && !with_flushes {
                    0.0
                } else {
                    counted
                };
                let expression = format!("disk.{measure} by {dimension} {part}");
                same(&expression, sum(&buckets(run, &expression)), expected);
            }
        }
    }
}

/// Time in the queue and in the device is what `/proc/diskstats` counts from the request's
/// making: that is before its insertion, by what the block layer does in between.
fn times_agree(run: &Path, device: &str, counted: &DiskLine) {
    for (op, name) in OPS.into_iter().enumerate() {
        let part = format!("where device = {device} and op = {name}");
        let seen = total(run, &format!("disk.queue {part}"))
            + total(run, &format!("disk.service {part}"));
        let [ios, _, _, seconds] = counted.of(op);
        eprintln!("{name}: {ios} ios, queue + service {seen} s, diskstats {seconds} s");
    }
}

/// Reads, writes, flushes and discards of all sizes, direct and through the page cache.
fn mixed_load(device: &Path) -> String {
    let job = "rw=randrw rwmixread=60 bsrange=4k-64k size=32m time_based runtime=1";
    let deep = fio(device, &format!("{job} ioengine=libaio iodepth=16")).join(" ");
    let two = fio(device, &format!("{job} ioengine=psync numjobs=2 fsync=50")).join(" ");
    let path = device.display();
    format!(
        "{deep} >&2; {two} >&2
         dd if=/dev/zero of={path} bs=48k count=301 conv=fsync
         dd if={path} of=/dev/null bs=20k count=499
         blkdiscard --offset 8MiB --length 3MiB {path}"
    )
}

fn mixed_load_agrees(name: &str, scheduler: &str) {
    let (_lock, device) = quiet_device(name);
    let queue = format!("/sys/block/{}/queue/scheduler", device.name());
    std::fs::write(queue, scheduler).expect("the scheduler is there");
    let run = scratch(name).join("run");
    let before = DiskLine::now(&device.name());
    record_script_with(&run, "100ms", LOOK, &mixed_load(&device.path));
    let counted = DiskLine::now(&device.name()).since(&before);
    for (op, name) in OPS.into_iter().enumerate() {
        assert!(counted.of(op)[0] > 0.0, "no {name} was made");
    }
    agrees(&run, &device.name(), &counted);
    times_agree(&run, &device.name(), &counted);
    let part = format!("where device = {}", device.name());
    let waited = sum(&buckets(
        &run,
        &format!("disk.ios by queue_time {part} and queue_time > 0"),
    ));
    eprintln!("{scheduler}: {waited} waited");
    assert_eq!(waited > 0.0, scheduler != "none", "{waited} waited");
}

#[test]
fn every_histogram_has_each_io_without_a_scheduler() {
    let name = "every_histogram_has_each_io_without_a_scheduler";
    let needs = [NEEDS, &[Need::Program("dd"), Need::Program("blkdiscard")]].concat();
    if can_run(name, &needs) {
        let _alone = alone();
        mixed_load_agrees("histograms", "none");
    }
}

#[test]
fn every_histogram_has_each_io_with_a_scheduler() {
    let name = "every_histogram_has_each_io_with_a_scheduler";
    let needs = [NEEDS, &[Need::Program("dd"), Need::Program("blkdiscard")]].concat();
    if can_run(name, &needs) {
        let _alone = alone();
        mixed_load_agrees("scheduled", "mq-deadline");
    }
}

/// What was under way when it came is in no histogram; from then on each I/O is.
#[test]
fn attached_while_others_read_it_lacks_what_was_under_way() {
    let name = "attached_while_others_read_it_lacks_what_was_under_way";
    if !can_run(name, NEEDS_FUSE) {
        return;
    }
    let _alone = alone();
    let disk = SlowDisk::new("midway", 64 * MIB);
    disk.sleeps(Delay::Each(Duration::from_millis(2)));
    let job = "rw=randread bs=4k ioengine=libaio iodepth=16 time_based runtime=60";
    let job = fio(&disk.path, job);
    let mut load = Command::new(&job[0])
        .args(&job[1..])
        .stdout(Stdio::null())
        .spawn()
        .expect("fio runs");
    let _end = AtEnd(|| {
        let _ = load.kill();
        let _ = load.wait();
    });
    wait("the load", || disk.counted().0 > 200);
    let run = scratch("midway").join("run");
    let arguments = [LOOK, &["-q", "--every", "100ms", "--for", "2s"]].concat();
    let (status, said) = Recorder::spawn(&run, &arguments).end();
    assert!(status.success(), "{said}");
    let part = format!("where device = {}", disk.name());
    let completed = total(&run, &format!("disk.ios {part}"));
    assert!(completed > 200.0, "only {completed} I/Os in the run");
    for (dimension, _) in HISTOGRAMS {
        let seen = sum(&buckets(&run, &format!("disk.ios by {dimension} {part}")));
        let lacking = completed - seen;
        // One may end between the readings of the two sources.
        assert!(
            (-1.0..=17.0).contains(&lacking),
            "by {dimension}: {seen} of {completed}"
        );
    }
    let peak = crate::support::get(&run, &format!("disk.peak_depth {part}"));
    same("depth", peak["groups"][0]["max"].as_f64().unwrap(), 16.0);
}
