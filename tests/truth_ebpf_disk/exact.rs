//! Every histogram has each I/O and each byte of `/proc/diskstats`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::recorder::{Recorder, wait};
use crate::slow_fuse::{Delay, SlowDisk};
use crate::support::{AtEnd, Need, can_run, get, scratch, succeed, total};
use crate::truth::{DiskLine, OPS, Totals, record_script_with, same};
use crate::undisturbed::{Lacking, unseen};
use crate::{
    EVENTS, LOOK, MIB, NEEDS, NEEDS_FUSE, NEEDS_ZRAM, Zram, alone, buckets, fio, quiet_device, sum,
    swept, undisturbed,
};

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

/// The file beside a run with what the kernel had counted at the end of its load.
const LOADED: &str = "diskstats";

/// `load` and, in a phase of its own, what uses each request of the device again.
fn swept_after(load: &str, device: &Path, run: &Path) -> String {
    let loaded = run.with_extension(LOADED);
    let loaded = loaded.display();
    let load = format!("{load}\ncat /proc/diskstats > {loaded}\n\"$SONDE\" mark sweep");
    swept(&load, device)
}

/// What the kernel counted of a device, and how many of those I/Os the run lacks.
struct Counted {
    device: String,
    line: DiskLine,
    /// The same at the end of the load, before its device was [`swept`].
    load: DiskLine,
    lacking: Lacking,
    /// Bytes of the largest I/O that the device takes.
    largest: f64,
}

impl Counted {
    /// What was counted since `before`, and `run` recorded.
    fn since(before: &DiskLine, run: &Path, device: &str) -> Counted {
        let line = DiskLine::now(device).since(before);
        let told = std::fs::read_to_string(run.with_extension(LOADED)).expect("diskstats");
        let load = DiskLine::find(&told, device).since(before);
        let all = (0..OPS.len()).map(|op| line.of(op)[0]).sum();
        let largest = format!("/sys/block/{device}/queue/max_sectors_kb");
        let largest = std::fs::read_to_string(largest).expect("a setting");
        Counted {
            device: device.to_owned(),
            line,
            load,
            lacking: Lacking::of(run, all),
            largest: 1024.0 * largest.trim().parse::<f64>().expect("a number"),
        }
    }

    /// What of an operation, by its name, a question is to be about.
    fn part(&self, op: &str) -> String {
        format!("where device = {} and op = {op}", self.device)
    }

    /// Fails unless `value` is the amount of `measure`, but for the I/Os that are missing.
    fn agrees(&self, what: &str, measure: &str, value: f64, expected: f64) {
        let each = if measure == "ios" { 1.0 } else { self.largest };
        self.lacking.amount(what, value, expected, each);
    }
}

/// The I/Os and bytes of each histogram of the device are those that the kernel counted.
fn histograms_agree(run: &Path, counted: &Counted) {
    let [flushes, ..] = counted.line.of(3);
    for (dimension, with_empty) in HISTOGRAMS {
        for (op, name) in OPS.into_iter().enumerate() {
            let part = counted.part(name);
            let [ios, bytes, ..] = counted.line.of(op);
            // Nobody asks for two flushes at a time here.
            let empty = match name {
                "write" | "flush" if !with_empty => flushes,
                _ => 0.0,
            };
            for (measure, expected) in [("ios", ios - empty), ("bytes", bytes)] {
                let expression = format!("disk.{measure} by {dimension} {part}");
                let value = sum(&buckets(run, &expression));
                counted.agrees(&expression, measure, value, expected);
            }
        }
    }
}

/// So are the events, none of which was dropped, and they are the same as the histograms.
fn events_agree(run: &Path, counted: &Counted) {
    let dropped = total(run, "self.dropped where table = disk_event");
    same("events dropped", dropped, 0.0);
    for (op, name) in OPS.into_iter().enumerate() {
        let part = counted.part(name);
        for (place, measure) in ["ios", "bytes"].into_iter().enumerate() {
            let expression = format!("disk.{measure} by sync {part}");
            let events = Totals::of(run, &expression);
            let told = events.get("sync") + events.get("async");
            same(&expression, told, events.sum());
            let expected = counted.line.of(op)[place];
            counted.agrees(&expression, measure, told, expected);
            let histogram = format!("disk.{measure} by latency {part}");
            same(&expression, told, sum(&buckets(run, &histogram)));
        }
    }
}

/// Time in the queue and in the device of the load is that of `/proc/diskstats`, which counts from the
/// making of a request: up to `making` seconds, in the mean, before it is inserted or issued.
/// What is submitted together has the time of the first, and is inserted with the last: of the 512 at
/// a time that sweep the device that is half of what the submission took, for which no bound is known.
fn times_agree(run: &Path, counted: &Counted, making: f64) {
    for (op, name) in OPS.into_iter().enumerate() {
        let part = counted.part(name);
        let of = |measure: &str| total(run, &format!("disk.{measure} {part} and phase != sweep"));
        let seen = of("queue") + of("service");
        let [ios, _, _, expected] = counted.load.of(op);
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

fn mixed_load_agrees(name: &str, scheduler: &str, look: &[&str]) {
    let record = || mixed_load_recorded(name, scheduler, look);
    undisturbed(record, |run, counted| {
        times_agree(run, counted, 20e-6);
        let waited = format!(
            "disk.ios by queue_time where device = {} and queue_time > 0",
            counted.device
        );
        let moved = counted.line.of(0)[0] + counted.line.of(1)[0];
        let waited = sum(&buckets(run, &waited)) / moved;
        // Without one, what the driver has no room for may still wait.
        let expected = if scheduler == "none" {
            0.0..0.05
        } else {
            0.9..1.1
        };
        assert!(expected.contains(&waited), "{scheduler}: {waited} waited");
    });
}

fn mixed_load_recorded(name: &str, scheduler: &str, look: &[&str]) -> (PathBuf, Counted) {
    let (_lock, device) = quiet_device(name);
    device.set("scheduler", scheduler);
    let run = scratch(name).join("run");
    let before = DiskLine::now(&device.name());
    let load = swept_after(&mixed_load(&device.path), &device.path, &run);
    record_script_with(&run, "100ms", look, &load);
    let counted = Counted::since(&before, &run, &device.name());
    for (op, name) in OPS.into_iter().enumerate() {
        assert!(counted.line.of(op)[0] > 0.0, "no {name} was made");
    }
    histograms_agree(&run, &counted);
    if look == EVENTS {
        events_agree(&run, &counted);
    }
    (run, counted)
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
    undisturbed(a_journal_recorded, |run, counted| {
        times_agree(run, counted, 50e-6);
    });
}

fn a_journal_recorded() -> (PathBuf, Counted) {
    let (lock, device) = quiet_device("journal");
    succeed(Command::new("mkfs.ext4").arg("-q").arg(&device.path));
    let dir = scratch("journal");
    let at = dir.join("mounted");
    std::fs::create_dir(&at).expect("a directory");
    let _end = AtEnd(|| _ = Command::new("umount").arg("-q").arg(&at).output());
    let job = "rw=randrw bs=4k ioengine=psync size=8m fsync=1 number_ios=1000";
    let job = fio(&at.join("file"), job).join(" ");
    let (run, path, at) = (dir.join("run"), device.path.display(), at.display());
    let load = format!("mount {path} {at}; {job} >&2; umount {at}");
    let before = DiskLine::now(&device.name());
    // Each as an event too, however many they are.
    record_script_with(
        &run,
        "100ms",
        EVENTS,
        &swept_after(&load, &device.path, &run),
    );
    let counted = Counted::since(&before, &run, &device.name());
    drop(lock);
    let line = &counted.line;
    assert!(line.of(3)[0] > 100.0, "{line:?} has no flushes");
    for (dimension, with_empty) in HISTOGRAMS {
        for (op, name) in OPS.into_iter().enumerate() {
            for (place, measure) in ["bytes", "ios"].into_iter().enumerate() {
                // What asks for a flush and moves nothing is in some of them only.
                if measure == "ios" && !with_empty {
                    continue;
                }
                let expression = format!("disk.{measure} by {dimension} {}", counted.part(name));
                let value = sum(&buckets(&run, &expression));
                counted.agrees(&expression, measure, value, line.of(op)[1 - place]);
            }
        }
    }
    events_agree(&run, &counted);
    for name in OPS {
        let part = counted.part(name);
        // Without data there is nowhere to seek to.
        let told = sum(&buckets(&run, &format!("disk.ios by latency {part}")));
        let placed = sum(&buckets(&run, &format!("disk.ios by nearest {part}")));
        let sequential = Totals::of(&run, &format!("disk.ios by sequential {part}"));
        let without = told - placed;
        same(&format!("no place {part}"), sequential.get("none"), without);
        let random = total(&run, &format!("disk.random {part}"));
        same(&format!("random {part}"), sequential.get("no"), random);
        let places = buckets(&run, &format!("disk.ios by offset {part}"));
        let (nowhere, places): (Vec<_>, Vec<_>) = places.iter().partition(|b| b.from.is_nan());
        // Nor is it anywhere: at the device's beginning a picture would show writes that nobody made.
        same(&format!("nowhere {part}"), sum(&nowhere), without);
        let last = places.last().map_or(0.0, |b| b.from);
        assert!(last < 64.0 * MIB as f64, "an I/O at {last} {part}");
    }
    (run, counted)
}

const NEEDS_MIXED: &[Need] = &[Need::Program("dd"), Need::Program("blkdiscard")];

#[test]
fn every_histogram_has_each_io_without_a_scheduler() {
    let name = "every_histogram_has_each_io_without_a_scheduler";
    if can_run(name, &[NEEDS, NEEDS_MIXED].concat()) {
        let _alone = alone();
        mixed_load_agrees("histograms", "none", LOOK);
    }
}

#[test]
fn every_histogram_has_each_io_with_a_scheduler() {
    let name = "every_histogram_has_each_io_with_a_scheduler";
    if can_run(name, &[NEEDS, NEEDS_MIXED].concat()) {
        let _alone = alone();
        mixed_load_agrees("scheduled", "mq-deadline", LOOK);
    }
}

/// Discards and flushes among them.
#[test]
fn every_io_of_a_mixed_load_is_an_event() {
    let name = "every_io_of_a_mixed_load_is_an_event";
    if can_run(name, &[NEEDS, NEEDS_MIXED].concat()) {
        let _alone = alone();
        mixed_load_agrees("told", "none", EVENTS);
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
    let (run, part) = attached_midway();
    let peak = get(&run, &format!("disk.peak_depth {part}"));
    let peak = peak["groups"][0]["max"].as_f64().unwrap();
    // An end that the kernel does not tell stays under way until its place is taken again; then it
    // is told to be missing.
    let untold = unseen(&run) - 16.0;
    if untold <= 0.0 {
        same("depth", peak, 16.0);
    }
    assert!(
        (16.0..=16.0 + untold.max(0.0)).contains(&peak),
        "{peak}, {untold} ends not told"
    );
}

fn attached_midway() -> (PathBuf, String) {
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
    // Sixteen were under way when it came, and are told to be missing when they end.
    let lacking_most = unseen(&run).max(16.0) + 1.0;
    assert!(lacking_most <= 0.1 * completed, "{lacking_most} not seen");
    for (dimension, _) in HISTOGRAMS {
        let seen = sum(&buckets(&run, &format!("disk.ios by {dimension} {part}")));
        let lacking = completed - seen;
        // One may end between the readings of the two sources.
        assert!(
            (-1.0..=lacking_most).contains(&lacking),
            "by {dimension}: {seen} of {completed}"
        );
    }
    (run, part)
}

/// A device of memory that has no requests, only bios. Its driver does not count discards: those are
/// as many as the test asked for.
#[test]
fn a_device_without_requests_agrees() {
    let name = "a_device_without_requests_agrees";
    if can_run(name, &[NEEDS, NEEDS_MIXED, NEEDS_ZRAM].concat()) {
        let _alone = alone();
        bios_agree(LOOK);
    }
}

#[test]
fn every_io_of_a_device_without_requests_is_an_event() {
    let name = "every_io_of_a_device_without_requests_is_an_event";
    if can_run(name, &[NEEDS, NEEDS_MIXED, NEEDS_ZRAM].concat()) {
        let _alone = alone();
        bios_agree(EVENTS);
    }
}

/// Of 64 KiB each.
const DISCARDS: u32 = 37;

/// Whoever submits a bio here completes it, before it does anything else: no other recorder comes
/// meanwhile and no thread of init is in between, so nothing may be missing.
fn bios_agree(look: &[&str]) {
    let device = Zram::new("64M");
    let (name, path) = (&device.name, device.path.display());
    let run = scratch("zram").join("run");
    let job = "rw=randrw bsrange=4k-64k ioengine=psync numjobs=2 size=32m";
    let job = fio(&device.path, job).join(" ");
    let script = format!(
        "{job} >&2; dd if={path} of=/dev/null bs=20k count=499
         i=0; while [ $i -lt {DISCARDS} ]; do
             blkdiscard --force --offset $((i * 65536)) --length 65536 {path}; i=$((i + 1))
         done"
    );
    let before = DiskLine::now(name);
    record_script_with(&run, "100ms", look, &script);
    let counted = DiskLine::now(name).since(&before);
    let expected = |op: &str, measure: &str| match (op, measure) {
        ("discard", "ios") => f64::from(DISCARDS),
        // It moves none.
        ("discard", _) => 0.0,
        ("read", "ios") => counted.of(0)[0],
        ("read", _) => counted.of(0)[1],
        (_, "ios") => counted.of(1)[0],
        _ => counted.of(1)[1],
    };
    for op in ["read", "write", "discard"] {
        let part = format!("where device = {name} and op = {op}");
        for measure in ["ios", "bytes"] {
            let expected = expected(op, measure);
            assert!(expected > 0.0 || op == "discard", "no {op} was counted");
            for (dimension, _) in HISTOGRAMS {
                let expression = format!("disk.{measure} by {dimension} {part}");
                same(&expression, sum(&buckets(&run, &expression)), expected);
            }
            if look == EVENTS {
                let expression = format!("disk.{measure} by sync {part}");
                same(&expression, Totals::of(&run, &expression).sum(), expected);
            }
        }
    }
    let dropped = total(&run, "self.dropped where table = disk_event");
    same("events dropped", dropped, 0.0);
}
