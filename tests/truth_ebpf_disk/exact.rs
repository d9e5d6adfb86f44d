//! Every histogram has each I/O and each byte of `/proc/diskstats`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::recorder::{Recorder, wait};
use crate::slow_fuse::{Delay, SlowDisk};
use crate::support::{AtEnd, Need, can_run, get, scratch, succeed, total};
use crate::truth::{DiskLine, OPS, Totals, record_script_with, same};
use crate::{LOOK, MIB, NEEDS, NEEDS_FUSE, alone, buckets, fio, quiet_device, sum, undisturbed};

/// Dimensions of a histogram, and whether it has what moves no data: a flush, and the write
/// that asked for it, have no size and no place.
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
    let [flushes, ..] = counted.of(3);
    for (dimension, with_empty) in HISTOGRAMS {
        for (op, name) in OPS.into_iter().enumerate() {
            let part = format!("where device = {device} and op = {name}");
            let [ios, bytes, ..] = counted.of(op);
            // Nobody asks for two flushes at a time here.
            let empty = match name {
                "write" | "flush" if !with_empty => flushes,
                _ => 0.0,
            };
            for (measure, expected) in [("ios", ios - empty), ("bytes", bytes)] {
                let expression = format!("disk.{measure} by {dimension} {part}");
                same(&expression, sum(&buckets(run, &expression)), expected);
            }
        }
    }
}

/// Time in the queue and in the device is that of `/proc/diskstats`, which counts from the
/// making of a request: up to `making` seconds, in the mean, before it is inserted or issued.
/// What is submitted together has the time of the first, and is inserted with the last.
fn times_agree(run: &Path, device: &str, counted: &DiskLine, making: f64) {
    for (op, name) in OPS.into_iter().enumerate() {
        let part = format!("where device = {device} and op = {name}");
        let of = |measure: &str| total(run, &format!("disk.{measure} {part}"));
        let seen = of("queue") + of("service");
        let [ios, _, _, expected] = counted.of(op);
        let before = expected - seen;
        assert!(
            (-0.001..=0.001 + ios * making).contains(&before),
            "{ios} {name}s: {seen} s in queue and device, the kernel counted {expected} s"
        );
    }
}

/// Reads, writes, flushes and discards of all sizes, direct and through the page cache.
fn mixed_load(device: &Path) -> String {
    let job = "rw=randrw rwmixread=60 bsrange=4k-64k size=32m time_based runtime=1";
    let deep = fio(device, &format!("{job} ioengine=libaio iodepth=16")).join(" ");
    let synced = fio(device, &format!("{job} ioengine=psync fsync=50")).join(" ");
    let path = device.display();
    format!(
        "{deep} >&2; {synced} >&2
         dd if=/dev/zero of={path} bs=48k count=301 conv=fsync
         dd if={path} of=/dev/null bs=20k count=499
         blkdiscard --offset 8MiB --length 3MiB {path}"
    )
}

fn mixed_load_agrees(name: &str, scheduler: &str) {
    let (_lock, device) = quiet_device(name);
    device.set("scheduler", scheduler);
    let run = scratch(name).join("run");
    let before = DiskLine::now(&device.name());
    record_script_with(&run, "100ms", LOOK, &mixed_load(&device.path));
    let counted = DiskLine::now(&device.name()).since(&before);
    for (op, name) in OPS.into_iter().enumerate() {
        assert!(counted.of(op)[0] > 0.0, "no {name} was made");
    }
    agrees(&run, &device.name(), &counted);
    times_agree(&run, &device.name(), &counted, 50e-6);
    let waited = format!(
        "disk.ios by queue_time where device = {} and queue_time > 0",
        device.name()
    );
    let waited = sum(&buckets(&run, &waited)) / (counted.of(0)[0] + counted.of(1)[0]);
    // Without one, what the driver has no room for may still wait.
    let expected = if scheduler == "none" {
        0.0..0.05
    } else {
        0.9..1.1
    };
    assert!(expected.contains(&waited), "{scheduler}: {waited} waited");
}

/// A write of a journal comes with flushes before and after it, and is counted once.
#[test]
fn writes_with_flushes_around_them_are_counted_once() {
    let name = "writes_with_flushes_around_them_are_counted_once";
    let needs = [NEEDS, &[Need::Program("mkfs.ext4"), Need::Program("mount")]].concat();
    if !can_run(name, &needs) {
        return;
    }
    let _alone = alone();
    undisturbed(1, a_journal_agrees);
}

fn a_journal_agrees() {
    let (lock, device) = quiet_device("journal");
    succeed(Command::new("mkfs.ext4").arg("-q").arg(&device.path));
    let dir = scratch("journal");
    let at = dir.join("mounted");
    std::fs::create_dir(&at).expect("a directory");
    let _end = AtEnd(|| _ = Command::new("umount").arg("-q").arg(&at).output());
    let job = "rw=randrw bs=4k ioengine=psync size=8m fsync=1 number_ios=1000";
    let job = fio(&at.join("file"), job).join(" ");
    let (run, path, at) = (dir.join("run"), device.path.display(), at.display());
    let script = format!("mount {path} {at}; {job} >&2; umount {at}");
    let before = DiskLine::now(&device.name());
    // Each as an event too, however many they are.
    let look = ["--event-budget", "10000%"];
    record_script_with(&run, "100ms", &look, &script);
    let counted = DiskLine::now(&device.name()).since(&before);
    drop(lock);
    assert!(counted.of(3)[0] > 100.0, "{counted:?} has no flushes");
    for (dimension, with_empty) in HISTOGRAMS {
        for (op, name) in OPS.into_iter().enumerate() {
            let part = format!("where device = {} and op = {name}", device.name());
            let [ios, bytes, ..] = counted.of(op);
            let of = |measure: &str| {
                sum(&buckets(
                    &run,
                    &format!("disk.{measure} by {dimension} {part}"),
                ))
            };
            same(&format!("bytes by {dimension} {part}"), of("bytes"), bytes);
            if with_empty {
                same(&format!("I/Os by {dimension} {part}"), of("ios"), ios);
            }
        }
    }
    times_agree(&run, &device.name(), &counted, 100e-6);
    for (op, name) in OPS.into_iter().enumerate() {
        let part = format!("where device = {} and op = {name}", device.name());
        for (place, measure) in ["ios", "bytes"].into_iter().enumerate() {
            let events = Totals::of(&run, &format!("disk.{measure} by sync {part}"));
            let events = events.get("sync") + events.get("async");
            let what = format!("{measure} of the events {part}");
            same(&what, events, counted.of(op)[place]);
        }
        // Without data there is nowhere to seek to.
        let placed = sum(&buckets(&run, &format!("disk.ios by nearest {part}")));
        let sequential = Totals::of(&run, &format!("disk.ios by sequential {part}"));
        let without = counted.of(op)[0] - placed;
        same(&format!("no place {part}"), sequential.get("none"), without);
        let random = total(&run, &format!("disk.random {part}"));
        same(&format!("random {part}"), sequential.get("no"), random);
        let places = buckets(&run, &format!("disk.ios by offset {part}"));
        let (nowhere, places): (Vec<_>, Vec<_>) = places.iter().partition(|b| b.from.is_nan());
        let flushes = if name == "flush" {
            counted.of(op)[0]
        } else {
            0.0
        };
        same(&format!("nowhere {part}"), sum(&nowhere), flushes);
        let last = places.last().map_or(0.0, |b| b.from);
        assert!(last < 64.0 * MIB as f64, "an I/O at {last} {part}");
    }
}

#[test]
fn every_histogram_has_each_io_without_a_scheduler() {
    let name = "every_histogram_has_each_io_without_a_scheduler";
    let needs = [NEEDS, &[Need::Program("dd"), Need::Program("blkdiscard")]].concat();
    if can_run(name, &needs) {
        let _alone = alone();
        undisturbed(1, || mixed_load_agrees("histograms", "none"));
    }
}

#[test]
fn every_histogram_has_each_io_with_a_scheduler() {
    let name = "every_histogram_has_each_io_with_a_scheduler";
    let needs = [NEEDS, &[Need::Program("dd"), Need::Program("blkdiscard")]].concat();
    if can_run(name, &needs) {
        let _alone = alone();
        undisturbed(1, || mixed_load_agrees("scheduled", "mq-deadline"));
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
    undisturbed(1, attached_midway);
}

fn attached_midway() {
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
    let peak = get(&run, &format!("disk.peak_depth {part}"));
    same("depth", peak["groups"][0]["max"].as_f64().unwrap(), 16.0);
}

/// A device of memory that has no requests, only bios. Discards are left out: its driver does
/// not count them.
#[test]
fn a_device_without_requests_agrees() {
    let needs = [NEEDS, &[Need::Path("/sys/class/zram-control/hot_add")]].concat();
    if !can_run("a_device_without_requests_agrees", &needs) {
        return;
    }
    let _alone = alone();
    undisturbed(1, bios_agree);
}

fn bios_agree() {
    let control = Path::new("/sys/class/zram-control");
    let number = std::fs::read_to_string(control.join("hot_add")).expect("a new device");
    let name = format!("zram{}", number.trim());
    let _end = AtEnd(|| {
        let _ = std::fs::write(format!("/sys/block/{name}/reset"), "1");
        let _ = std::fs::write(control.join("hot_remove"), number.trim());
    });
    std::fs::write(format!("/sys/block/{name}/disksize"), "64M").expect("a size");
    let device = Path::new("/dev").join(&name);
    wait("the device", || device.exists());
    let run = scratch("zram").join("run");
    let job = "rw=randrw bsrange=4k-64k ioengine=psync numjobs=2 size=32m";
    let job = fio(&device, job).join(" ");
    let path = device.display();
    let script = format!("{job} >&2; dd if={path} of=/dev/null bs=20k count=499");
    let before = DiskLine::now(&name);
    record_script_with(&run, "100ms", LOOK, &script);
    let counted = DiskLine::now(&name).since(&before);
    for (dimension, _) in HISTOGRAMS {
        for (op, word) in ["read", "write"].into_iter().enumerate() {
            let part = format!("where device = {name} and op = {word}");
            for (place, measure) in ["ios", "bytes"].into_iter().enumerate() {
                let expression = format!("disk.{measure} by {dimension} {part}");
                let expected = counted.of(op)[place];
                assert!(expected > 0.0, "no {word} was counted");
                same(&expression, sum(&buckets(&run, &expression)), expected);
            }
        }
    }
}
