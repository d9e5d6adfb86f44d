//! I/Os that fail, each on purpose: by an answer of the disk, for want of room, without requests.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::slow_fuse::{Answer, SlowDisk};
use crate::support::{AtEnd, Need, can_run, output, scratch, succeed};
use crate::truth::{DiskLine, Totals, record_script_with, same};
use crate::{
    LOOK, MIB, NEEDS, NEEDS_FUSE, NEEDS_ZRAM, Zram, alone, buckets, fio, sum, undisturbed,
};

/// A fio job that goes on after what failed.
fn going_on(target: &Path, options: &str) -> String {
    fio(target, &format!("{options} continue_on_error=io")).join(" ")
}

/// How many I/Os failed, as fio saw it.
fn failed(fio: &str) -> f64 {
    let start = fio.find('{').expect("fio prints JSON");
    let all: Value = serde_json::from_str(&fio[start..]).expect("fio prints JSON");
    all["jobs"][0]["total_err"].as_f64().expect("a number")
}

/// Those of `op` failed and no others; all of them are I/Os all the same.
fn are_told(run: &Path, device: &str, op: &str, failed: f64, ios: f64) {
    let part = format!("where device = {device}");
    let errors = Totals::of(run, &format!("disk.errors by op {part}"));
    same(&format!("{op}s that failed"), errors.get(op), failed);
    same("all that failed", errors.sum(), failed);
    let all = format!("disk.ios by latency {part} and op = {op}");
    same(&all, sum(&buckets(run, &all)), ios);
}

#[test]
fn reads_that_the_disk_answers_with_an_error_are_counted() {
    let name = "reads_that_the_disk_answers_with_an_error_are_counted";
    if !can_run(name, NEEDS_FUSE) {
        return;
    }
    let _alone = alone();
    let disk = SlowDisk::new("errors", 64 * MIB);
    let record = || {
        disk.answers(Answer::ErrorOneIn(40));
        let run = scratch("errors").join("run");
        let job = "rw=randread bs=4k ioengine=psync number_ios=4000 norandommap";
        let before = DiskLine::now(&disk.name());
        let said = record_script_with(&run, "100ms", LOOK, &going_on(&disk.path, job));
        let counted = DiskLine::now(&disk.name()).since(&before);
        let errors = disk.answered_otherwise() as f64;
        disk.answers(Answer::Whole);
        same("errors that fio saw", failed(&said), errors);
        (run, (counted.of(0)[0], errors))
    };
    undisturbed(record, |run, (reads, errors)| {
        assert!(*errors >= 90.0, "only {errors} of {reads} failed");
        are_told(run, &disk.name(), "read", *errors, *reads);
    });
}

/// A loop device over a file with holes, in a file system that has room for a part of it.
struct FullDisk {
    path: PathBuf,
    point: PathBuf,
}

impl FullDisk {
    /// Of `bytes` bytes, of which a mebibyte can be written.
    fn new(bytes: u64) -> FullDisk {
        let point = scratch("full-disk");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "sonde-test"]);
        succeed(mount.arg(&point));
        let mut disk = FullDisk {
            path: PathBuf::new(),
            point,
        };
        let file = disk.point.join("file");
        let holes = std::fs::File::create(&file).expect("root may");
        holes.set_len(bytes).expect("a sparse file");
        let mut setup = Command::new("losetup");
        let path = succeed(setup.args(["--find", "--show"]).arg(&file));
        disk.path = PathBuf::from(path.trim());
        disk
    }

    fn name(&self) -> String {
        let name = self.path.file_name().expect("a name");
        name.to_string_lossy().into_owned()
    }
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        output(Command::new("losetup").arg("--detach").arg(&self.path));
        output(Command::new("umount").arg("--lazy").arg(&self.point));
    }
}

#[test]
fn writes_for_which_there_is_no_room_are_counted() {
    let name = "writes_for_which_there_is_no_room_are_counted";
    if !can_run(name, &[NEEDS, &["mount", "dd"].map(Need::Program)].concat()) {
        return;
    }
    let _alone = alone();
    let record = || {
        let disk = FullDisk::new(16 * MIB);
        let run = scratch("full").join("run");
        let path = disk.path.display();
        // Each `dd` says by its status whether its block was written. The holes can be read.
        let script = format!(
            "failed=0; i=0
             while [ $i -lt 400 ]; do
                 dd if=/dev/zero of={path} bs=4k seek=$i count=1 oflag=direct conv=notrunc \
                     2>/dev/null || failed=$((failed + 1))
                 i=$((i + 1))
             done
             dd if={path} of=/dev/null bs=4k count=100 skip=2000 iflag=direct
             echo $failed"
        );
        let before = DiskLine::now(&disk.name());
        let said = record_script_with(&run, "100ms", LOOK, &script);
        let counted = DiskLine::now(&disk.name()).since(&before);
        let failed: f64 = said.trim().parse().expect("a number");
        same("writes", counted.of(1)[0], 400.0);
        (run, (disk.name(), failed))
    };
    undisturbed(record, |run, (device, failed)| {
        // A mebibyte is 256 blocks.
        assert!((144.0..200.0).contains(failed), "{failed} failed");
        are_told(run, device, "write", *failed, 400.0);
    });
}

/// A device without requests counts itself what failed.
#[test]
fn bios_that_fail_are_counted() {
    let name = "bios_that_fail_are_counted";
    if !can_run(name, &[NEEDS, NEEDS_ZRAM].concat()) {
        return;
    }
    let _alone = alone();
    let device = Zram::new("32M");
    let setting = |file: &str| PathBuf::from(format!("/sys/block/{}/{file}", device.name));
    std::fs::write(setting("mem_limit"), "1M").expect("root may");
    let _end = AtEnd(|| _ = std::fs::write(setting("mem_limit"), "0"));
    let failures = || -> f64 {
        let text = std::fs::read_to_string(setting("io_stat")).expect("counters");
        let writes = text.split_whitespace().nth(1).expect("failed writes");
        writes.parse().expect("a number")
    };
    let (run, before) = (scratch("failing-bios").join("run"), failures());
    let line = DiskLine::now(&device.name);
    let job = "rw=write bs=4k ioengine=psync size=4m refill_buffers";
    record_script_with(&run, "100ms", LOOK, &going_on(&device.path, job));
    let writes = DiskLine::now(&device.name).since(&line).of(1)[0];
    let errors = failures() - before;
    assert!(errors > 100.0, "only {errors} of {writes} failed");
    are_told(&run, &device.name, "write", errors, writes);
}
