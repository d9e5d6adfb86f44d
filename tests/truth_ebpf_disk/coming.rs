//! Devices that come and go while they are recorded.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::FlockOperation;
use rustix::process::Signal;

use crate::recorder::{Recorder, sleep};
use crate::support::{LoopDevice, Need, can_run, scratch, succeed, total};
use crate::truth::{DiskLine, OPS, Totals, same};
use crate::{
    EVENTS, MIB, NEEDS, NEEDS_ZRAM, Zram, alone, buckets, fio, quiet_device, sum, undisturbed,
};

/// A device that comes later: its name, and its I/Os and bytes of each operation.
struct Later {
    name: String,
    counted: [[f64; 2]; OPS.len()],
}

impl Later {
    /// What the kernel counted since `before`, with so many discards.
    fn new(name: &str, before: Option<&DiskLine>, discards: f64) -> Later {
        let now = DiskLine::now(name);
        let line = before.map_or(now, |before| now.since(before));
        let mut counted = [0, 1, 2, 3].map(|op| [line.of(op)[0], line.of(op)[1]]);
        counted[2] = [discards, 0.0];
        Later {
            name: name.to_owned(),
            counted,
        }
    }

    /// What another device did that had its number later.
    fn add(&mut self, other: &Later) {
        assert_eq!(self.name, other.name, "another number was free");
        let both = self.counted.iter_mut().flatten();
        for (sum, value) in both.zip(other.counted.iter().flatten()) {
            *sum += value;
        }
    }
}

/// What each device is discarded, in one piece a time.
const DISCARDS: u32 = 5;

/// Reads and writes of a device, a flush where it has such, and discards.
fn work(path: &Path) {
    let job = "rw=randrw rwmixread=50 bsrange=4k-16k ioengine=libaio iodepth=4 size=8m";
    let job = fio(path, job);
    succeed(Command::new(&job[0]).args(&job[1..]));
    let show = path.display();
    let mut script = format!(
        "dd if=/dev/zero of={show} bs=4k count=100 oflag=direct conv=fsync,notrunc status=none\n"
    );
    for i in 0..DISCARDS {
        let offset = i * 65536;
        script += &format!("blkdiscard --force --offset {offset} --length 65536 {show}\n");
    }
    succeed(Command::new("sh").args(["-e", "-c", &script]));
}

/// A device of memory that is made, used and not removed yet: all that the kernel counts of it, from
/// its first I/O on.
fn memory() -> (Zram, Later) {
    let device = Zram::new("16M");
    work(&device.path);
    let later = Later::new(&device.name, None, f64::from(DISCARDS));
    (device, later)
}

/// The same of a loop device, which counts on from what had its number before.
fn looped(name: &str) -> ((File, LoopDevice), Later) {
    let before = std::fs::read_to_string("/proc/diskstats").expect("disk statistics");
    let device = LoopDevice::new(name, 16 * MIB);
    let lock = File::open(&device.path).expect("the device opens");
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).expect("the device locks");
    work(&device.path);
    let before = DiskLine::find(&before, &device.name());
    let discards = DiskLine::now(&device.name()).since(&before).of(2)[0];
    assert!(discards > 0.0, "no discard was counted");
    let later = Later::new(&device.name(), Some(&before), discards);
    ((lock, device), later)
}

#[test]
fn devices_that_come_and_go_are_counted_to_the_last_io() {
    let name = "devices_that_come_and_go_are_counted_to_the_last_io";
    let needs = [NEEDS, NEEDS_ZRAM, &[Need::Program("blkdiscard")]].concat();
    if !can_run(name, &needs) {
        return;
    }
    let _alone = alone();
    // While one without requests is there, what they do is seen from their first I/O on.
    let _there = Zram::new("16M");
    undisturbed(come_and_go, |run, all| {
        for later in all {
            agrees(run, later);
        }
    });
}

/// Four devices come, and two more under the numbers of such that went; what each is expected to have
/// is taken before it goes.
fn come_and_go() -> (PathBuf, Vec<Later>) {
    let run = scratch("coming").join("run");
    let (_lock, there) = quiet_device("coming-there");
    let before = DiskLine::now(&there.name());
    let options = [EVENTS, &["-q", "--every", "100ms"]].concat();
    let recorder = Recorder::start(&run, &options);

    let (device, mut memory_first) = memory();
    let (first_loop, mut loop_first) = looped("coming-a");
    drop(device);
    // Under the same number at once, within an interval.
    let (device, again) = memory();
    memory_first.add(&again);
    let (another, memory_second) = memory();
    let (second_loop, loop_second) = looped("coming-b");
    drop(first_loop);
    drop(device);
    // After some intervals.
    sleep(0.35);
    let (device, again) = memory();
    memory_first.add(&again);
    let (last_loop, again) = looped("coming-c");
    loop_first.add(&again);
    work(&there.path);
    let discards = DiskLine::now(&there.name()).since(&before).of(2)[0];
    let stayed = Later::new(&there.name(), Some(&before), discards);
    drop((device, another, second_loop, last_loop));

    recorder.signal(Signal::INT);
    let (status, said) = recorder.end();
    assert!(status.success(), "{said}");
    let all = vec![memory_first, memory_second, loop_first, loop_second, stayed];
    (run, all)
}

/// Its histograms and its events have each I/O and each byte.
fn agrees(run: &Path, later: &Later) {
    let dropped = total(run, "self.dropped where table = disk_event");
    same("events dropped", dropped, 0.0);
    for (op, name) in OPS.into_iter().enumerate() {
        let part = format!("where device = {} and op = {name}", later.name);
        let [ios, bytes] = later.counted[op];
        assert!(ios > 0.0 || name == "flush", "no {name} of {}", later.name);
        for (measure, expected) in [("ios", ios), ("bytes", bytes)] {
            let expression = format!("disk.{measure} by latency {part}");
            same(&expression, sum(&buckets(run, &expression)), expected);
            let expression = format!("disk.{measure} by sync {part}");
            same(&expression, Totals::of(run, &expression).sum(), expected);
        }
    }
}
