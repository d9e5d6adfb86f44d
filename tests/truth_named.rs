//! Which file, program and control group an I/O is of, whatever its name and wherever its
//! buffers lie; and that every device is counted, also one that comes later.
#![cfg(feature = "ebpf")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs and write files"
)]

#[path = "support/recorder.rs"]
mod recorder;
mod support;
mod truth;
#[path = "truth/undisturbed.rs"]
mod undisturbed;

use std::path::{Path, PathBuf};
use std::process::Command;

use recorder::Recorder;
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use support::{ALL_EVENTS, AtEnd, LoopDevice, Need, can_run, output, scratch, succeed, total};
use truth::group::Own;
use truth::{DiskLine, OPS, Totals, record_script_with, same};
use undisturbed::{alone, undisturbed};

const MIB: u64 = 1 << 20;
const NEEDS: &[Need] = &[
    Need::Root,
    Need::Path("/sys/kernel/btf/vmlinux"),
    Need::Program("losetup"),
    Need::Program("fio"),
    Need::Program("mkfs.ext4"),
];
const EVENTS: &[&str] = &["--events", "disk", ALL_EVENTS];

/// A file system on a disk of its own.
struct Files {
    disk: LoopDevice,
    point: PathBuf,
}

impl Files {
    fn new(name: &str) -> Files {
        let disk = LoopDevice::new(name, 96 * MIB);
        let point = scratch(&format!("{name}-files")).join("mnt");
        std::fs::create_dir(&point).expect("a directory");
        succeed(Command::new("mkfs.ext4").arg("-q").arg(&disk.path));
        succeed(Command::new("mount").arg(&disk.path).arg(&point));
        Files { disk, point }
    }

    /// The I/Os of an operation on each file.
    fn ios(&self, run: &Path, op: &str) -> Totals {
        let device = self.disk.name();
        let part = format!("where device = {device} and op = {op}");
        Totals::of(run, &format!("disk.ios by file {part}"))
    }

    /// A job on the file of that name, 4 KiB at a time.
    fn job(&self, file: &str, options: &str) -> String {
        let path = self.point.join(file);
        format!(
            "fio --name=job --filename={} --bs=4k --thread --output=/dev/null {options}",
            path.display()
        )
    }

    fn at(&self, file: &str) -> String {
        self.point.join(file).display().to_string()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        output(Command::new("umount").arg("--lazy").arg(&self.point));
    }
}

#[test]
fn direct_io_is_of_its_file_whatever_memory_it_goes_to() {
    if !can_run("direct_io_is_of_its_file", NEEDS) {
        return;
    }
    let _alone = alone();
    let files = Files::new("named-direct");
    succeed(
        Command::new("sh")
            .arg("-c")
            .arg(files.job("data", "--rw=write --size=8m --end_fsync=1")),
    );
    let buffer = files.at("buffer");
    std::fs::write(&buffer, vec![1; 1 << 20]).expect("root may");
    succeed(&mut Command::new("sync"));
    // Of the kernel's, of another file, of System V, in large pages where it may have them.
    let memories = ["malloc", &format!("mmapshared:{buffer}"), "shm", "mmap"];
    for (place, memory) in memories.iter().enumerate() {
        for (engine, depth) in [("psync", 1), ("libaio", 16)] {
            let options = format!(
                "--rw=randread --size=8m --direct=1 --number_ios=300 --mem={memory} \
                 --ioengine={engine} --iodepth={depth}"
            );
            let record = || {
                let run = scratch(&format!("named-direct-{place}-{engine}")).join("run");
                record_script_with(&run, "100ms", EVENTS, &files.job("data", &options));
                (run, ())
            };
            undisturbed(record, |run, ()| {
                let read = files.ios(run, "read");
                let what = format!("{engine} into {memory}");
                same(&what, read.get(&files.at("data")), 300.0);
                same(&what, read.get(&buffer), 0.0);
            });
        }
    }
}

/// Pages of a large folio know only where their first one is.
#[test]
fn what_is_written_through_the_cache_is_of_its_file() {
    if !can_run("what_is_written_through_the_cache", NEEDS) {
        return;
    }
    let _alone = alone();
    let files = Files::new("named-cached");
    let fill = files.job("data", "--rw=write --size=8m --end_fsync=1 --bs=1m");
    succeed(Command::new("sh").arg("-c").arg(fill));
    let run = scratch("named-cached").join("run");
    let options = "--rw=randwrite --size=8m --number_ios=300 --fdatasync=1 --ioengine=psync";
    record_script_with(&run, "100ms", EVENTS, &files.job("data", options));
    let written = files.ios(&run, "write").get(&files.at("data"));
    assert!(
        (295.0..=300.0).contains(&written),
        "{written} of 300 writes"
    );
}

/// A file system that goes to another place while it is recorded.
#[test]
fn a_file_is_where_its_file_system_is_mounted_then() {
    if !can_run("a_file_is_where_its_file_system_is_mounted_then", NEEDS) {
        return;
    }
    let _alone = alone();
    let record = || {
        let files = Files::new("named-moved");
        let (from, disk) = (files.point.display(), files.disk.path.display());
        let moved = scratch("named-moved-to").join("mnt");
        std::fs::create_dir(&moved).expect("a directory");
        let to = moved.display();
        let write = |point: &dyn std::fmt::Display, count: u32| {
            format!("dd if=/dev/zero of={point}/data bs=4k count={count} oflag=direct status=none")
        };
        // Mounts are looked at when events are taken, with each sample at least.
        let script = format!(
            "{}; sleep 0.4; umount {from}; mount {disk} {to}; sleep 0.4; {}; sleep 0.4; umount {to}",
            write(&from, 40),
            write(&to, 30)
        );
        let run = scratch("named-moved").join("run");
        record_script_with(&run, "100ms", EVENTS, &script);
        let written = files.ios(&run, "write");
        let of = |point: &dyn std::fmt::Display| written.get(&format!("{point}/data"));
        (run, [of(&from), of(&to)])
    };
    undisturbed(record, |_, [before, after]| {
        same("in the first place", *before, 40.0);
        same("in the second", *after, 30.0);
    });
}

/// Metadata that is read after direct I/O is not of the file that had it.
#[test]
fn metadata_is_of_no_file() {
    if !can_run("metadata_is_of_no_file", NEEDS) {
        return;
    }
    let _alone = alone();
    let record = || {
        let files = Files::new("named-meta");
        let show = files.point.display();
        let disk = files.disk.path.display();
        let many = format!(
            "cd {show}; dd if=/dev/zero of=data bs=4k count=4 status=none; mkdir d; cd d; \
         seq 3000 | xargs touch; cd /; sync; umount {show}; mount {disk} {show}"
        );
        succeed(Command::new("sh").args(["-e", "-c", &many]));
        let run = scratch("named-meta").join("run");
        let recorder = Recorder::start(&run, EVENTS);
        // One process: it reads past the cache, then looks at all names.
        let data = rustix::fs::open(files.at("data"), OFlags::DIRECT, Mode::empty());
        let mut memory = vec![0; 8192];
        let start = memory.as_ptr().align_offset(4096);
        let buffer = &mut memory[start..start + 4096];
        let read =
            rustix::io::pread(data.expect("it opens"), buffer, 4096).expect("it can be read");
        assert_eq!(read, 4096);
        for entry in std::fs::read_dir(files.point.join("d")).expect("a directory") {
            let entry = entry.expect("an entry");
            assert_eq!(entry.metadata().expect("a file").len(), 0);
        }
        recorder.signal(Signal::INT);
        let (status, said) = recorder.end();
        assert!(status.success(), "{said}");
        let part = format!("where device = {} and op = read", files.disk.name());
        let all = total(&run, &format!("disk.ios {part}"));
        assert!(all > 50.0, "only {all} reads in all");
        let of_data = files.ios(&run, "read").get(&files.at("data"));
        (run, of_data)
    };
    undisturbed(record, |_, of_data| same("of data", *of_data, 1.0));
}

#[test]
fn long_names_deep_paths_and_renamed_files_are_kept_apart() {
    if !can_run("long_names", NEEDS) {
        return;
    }
    let _alone = alone();
    let record = || {
        let files = Files::new("named-long");
        let long = "x".repeat(200);
        let deep: String = (0..20).map(|i| format!("d{i}/")).collect();
        std::fs::create_dir_all(files.point.join(&deep)).expect("a directory");
        let run = scratch("named-long").join("run");
        let dd = |name: &str, count: u32| {
            let to = files.at(name);
            format!(
                "dd if=/dev/zero of={to} bs=4k count={count} oflag=direct conv=notrunc status=none; "
            )
        };
        let names = [
            (format!("{long}a"), 30),
            (format!("{long}b"), 20),
            (format!("{deep}leaf"), 7),
            (
                format!(
                    "{}other/leaf",
                    deep.split_once('/').expect("deep").0.to_owned() + "/"
                ),
                9,
            ),
            ("first".to_owned(), 25),
        ];
        std::fs::create_dir_all(files.point.join(&names[3].0).parent().expect("deep"))
            .expect("a directory");
        let mut script: String = names.iter().map(|(name, count)| dd(name, *count)).collect();
        let (from, to) = (files.at("first"), files.at("second"));
        script += &format!("mv {from} {to}; {}", dd("second", 15));
        record_script_with(&run, "100ms", EVENTS, &script);
        let written = files.ios(&run, "write");
        let mut expected: Vec<(String, f64, f64)> = Vec::new();
        for (name, count) in names {
            let recorded = written.get(&files.at(&name));
            expected.push((name, recorded, f64::from(count)));
        }
        expected.push(("renamed".to_owned(), written.get(&to), 15.0));
        (run, expected)
    };
    undisturbed(record, |_, all| {
        for (name, recorded, expected) in all {
            same(name, *recorded, *expected);
        }
    });
}

/// A process that becomes another program does its I/O under that one's name.
#[test]
fn after_exec_it_is_another_program() {
    if !can_run("after_exec", NEEDS) {
        return;
    }
    let _alone = alone();
    let record = || {
        let disk = LoopDevice::new("named-exec", 8 * MIB);
        let run = scratch("named-exec").join("run");
        let path = disk.path.display();
        // The shell itself reads a line, without an end, before it becomes `dd`.
        let script = format!(
            "blockdev --flushbufs {path}; sh -c 'head -c 1 <{path} >/dev/null; read -r line <{path}; \
         exec dd if={path} of=/dev/null bs=4k count=100 iflag=direct status=none' || true"
        );
        record_script_with(&run, "100ms", EVENTS, &script);
        let part = format!("where device = {}", disk.name());
        let by = Totals::of(&run, &format!("disk.ios by command {part}"));
        (run, by.get("dd"))
    };
    undisturbed(record, |_, dd| same("dd", *dd, 100.0));
}

/// The same of what it sends.
#[test]
fn after_exec_another_program_sends() {
    let needs = [NEEDS, &[Need::Path("/bin/bash")]].concat();
    if !can_run("after_exec_another_program_sends", &needs) {
        return;
    }
    let _alone = alone();
    let dir = scratch("named-sends");
    let other = dir.join("another");
    std::fs::copy("/bin/bash", &other).expect("room");
    // Nobody listens at port 9: each is answered that nobody does.
    let send = |count: u32| {
        format!("for i in $(seq {count}); do echo x 2>/dev/null >/dev/udp/127.0.0.1/9; done; ")
    };
    let (first, second) = (dir.join("first.sh"), dir.join("second.sh"));
    let become_it = format!("exec {} {}", other.display(), second.display());
    std::fs::write(&first, send(1) + &become_it).expect("room");
    std::fs::write(&second, send(60) + "true").expect("room");
    let script = format!("exec /bin/bash {}", first.display());
    let run = dir.join("run");
    let options = ["--events", "net", ALL_EVENTS];
    record_script_with(&run, "100ms", &options, &script);
    let part = "where layer = loopback and direction = transmit and stage = driver";
    let by = Totals::of(&run, &format!("net.segments by command {part}"));
    let sent = by.get("another");
    assert!(sent >= 60.0, "{sent} of 60 segments");
}

#[test]
fn groups_with_long_names_are_kept_apart() {
    if !can_run("groups_with_long_names", NEEDS) {
        return;
    }
    let _alone = alone();
    let id = "0123456789abcdef".repeat(4);
    let [one, two] = ["a", "b"].map(|end| {
        let group = Own::new(&format!("cri-containerd-{id}{end}.scope"));
        group.expect("a hierarchy that counts")
    });
    let run = scratch("named-groups").join("run");
    let burn = |group: &Own, count: u32| {
        format!(
            "({}; for i in $(seq {count}); do dd if=/dev/zero of=/dev/null bs=1M count=20 status=none; done); ",
            group.enter()
        )
    };
    let before = [one.seconds(), two.seconds()];
    record_script_with(
        &run,
        "100ms",
        &["--detail", "distributions"],
        &(burn(&one, 20) + &burn(&two, 10)),
    );
    let spent = [one.seconds() - before[0], two.seconds() - before[1]];
    for (group, spent) in [&one, &two].into_iter().zip(spent) {
        let name = group.name();
        let slices = Totals::of(&run, &format!("cpu.time by slice where cgroup = {name}")).sum();
        assert!(
            (slices - spent).abs() <= 0.02 * spent + 0.005,
            "{name}: {slices} s in slices, the group counted {spent} s"
        );
    }
}

/// Whoever begins and ends between two samples is named all the same, also if they are many.
#[test]
fn many_short_lived_groups_are_named() {
    if !can_run("many_short_lived_groups", NEEDS) {
        return;
    }
    let _alone = alone();
    let group = Own::new("named-many").expect("a hierarchy that counts");
    let dir = group.dir.display();
    let run = scratch("named-many").join("run");
    let made: Vec<PathBuf> = (0..400)
        .map(|i| group.dir.join(format!("a-group-of-containers-{i}")))
        .collect();
    for child in &made {
        std::fs::create_dir(child).expect("root makes groups");
    }
    let _end = AtEnd(|| {
        for child in &made {
            let _ = std::fs::remove_dir(child);
        }
    });
    let script = format!(
        "for i in $(seq 0 399); do \
         sh -c 'echo $$ >{dir}/a-group-of-containers-'$i'/cgroup.procs; exec true'; done"
    );
    record_script_with(&run, "1s", &["--detail", "distributions"], &script);
    let unknown = Totals::of(&run, "cpu.time by slice where cgroup = (unknown)").sum();
    let all = Totals::of(&run, "cpu.time by slice").sum();
    assert!(
        unknown <= 0.01 * all,
        "{unknown} s of {all} s in unknown groups"
    );
    let named = Totals::of(&run, "cpu.slices by cgroup");
    let told = (0..400)
        .filter(|i| named.get(&format!("{}/a-group-of-containers-{i}", group.name())) > 0.0);
    let told = told.count();
    assert!(told >= 398, "{told} of 400 groups");
}

#[test]
fn every_one_of_many_devices_is_counted() {
    let needs = [NEEDS, &[Need::Program("dd"), Need::Program("blkdiscard")]].concat();
    if !can_run("every_one_of_many_devices", &needs) {
        return;
    }
    let _alone = alone();
    let record = || {
        let disks: Vec<LoopDevice> = (0..20)
            .map(|i| LoopDevice::new(&format!("named-many-{i}"), 2 * MIB))
            .collect();
        let mut script = String::new();
        for disk in &disks {
            let path = disk.path.display();
            script += &format!(
                "dd if={path} of=/dev/null bs=4k count=20 iflag=direct status=none; \
             dd if=/dev/zero of={path} bs=4k count=10 oflag=direct conv=fsync status=none; \
             blkdiscard -o 0 -l 64K {path}; "
            );
        }
        let run = scratch("named-devices").join("run");
        let before: Vec<DiskLine> = disks.iter().map(|d| DiskLine::now(&d.name())).collect();
        record_script_with(&run, "100ms", &["--detail", "distributions"], &script);
        let counted: Vec<(String, DiskLine)> = disks
            .iter()
            .zip(before)
            .map(|(disk, before)| (disk.name(), DiskLine::now(&disk.name()).since(&before)))
            .collect();
        (run, counted)
    };
    undisturbed(record, |run, all| {
        for (name, counted) in all {
            for (place, op) in OPS.iter().enumerate() {
                let part = format!("where device = {name} and op = {op}");
                let expression = format!("disk.ios by latency {part}");
                let of_op = counted.of(place)[0];
                assert!(of_op > 0.0, "{op}");
                same(&expression, Totals::of(run, &expression).sum(), of_op);
            }
        }
    });
}

/// A device without requests that is made and set up while a recorder is there.
#[test]
fn a_device_without_requests_that_comes_later_is_counted() {
    let needs = [NEEDS, &[Need::Path("/sys/class/zram-control/hot_add")]].concat();
    if !can_run("a_device_without_requests_that_comes_later", &needs) {
        return;
    }
    let _alone = alone();
    let run = scratch("named-later").join("run");
    let script = "n=$(cat /sys/class/zram-control/hot_add); d=zram$n; \
        trap 'echo 1 >/sys/block/$d/reset; echo $n >/sys/class/zram-control/hot_remove' EXIT; \
        echo 32M >/sys/block/$d/disksize; sleep 0.5; grep \" $d \" /proc/diskstats; \
        dd if=/dev/zero of=/dev/$d bs=4k count=1000 oflag=direct status=none; \
        dd if=/dev/$d of=/dev/null bs=4k count=500 iflag=direct status=none; \
        grep \" $d \" /proc/diskstats; echo $d";
    let said = record_script_with(&run, "100ms", &["--detail", "distributions"], script);
    let lines: Vec<&str> = said.lines().collect();
    let [before, after, name] = lines[..] else {
        panic!("{said}");
    };
    let counted = DiskLine::find(after, name).since(&DiskLine::find(before, name));
    for (place, op) in ["read", "write"].into_iter().enumerate() {
        let part = format!("where device = {name} and op = {op}");
        let seen = Totals::of(&run, &format!("disk.ios by latency {part}")).sum();
        let expected = counted.of(place)[0];
        // Whoever looks what a new device holds may have come before and after.
        assert!(expected >= 500.0, "{op}: {expected}");
        assert!((seen - expected).abs() <= 8.0, "{op}: {seen} of {expected}");
    }
}
