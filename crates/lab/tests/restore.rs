//! Putting back where it is hard: settings that disturb each other, full disks, files that
//! cannot be written, restarts.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use std::path::Path;
use std::process::Command;

use support::{
    Disk, Scratch, assert_same, begun, can_run, edit, left_changed, put, run, said, text, turn,
    turned, wait,
};

#[test]
fn a_scheduler_resets_its_queue() {
    if !can_run("schedulers", &["losetup"]) {
        return;
    }
    let (scratch, disk) = (Scratch::new("order"), Disk::new("order"));
    disk.set("scheduler", "mq-deadline");
    disk.set("nr_requests", "77");
    disk.set("wbt_lat_usec", "1500");
    disk.set("iosched/read_expire", "123");
    let start = disk.settings();
    // Only the scheduler is named; what it disturbs is journaled with it.
    let knobs = [format!("disk:{}.scheduler=none,kyber,bfq", disk.name)];
    let out = turned(None, &scratch.state(), 10, &knobs);
    assert!(out.status.success(), "{}", said(&out));
    assert_same(&disk.settings(), &start, "after the experiment");
}

/// Without a scheduler a disk keeps fewer requests under way if it is told to, and goes on doing
/// so behind a scheduler, whatever `nr_requests` says then: no file tells it, only the load.
#[test]
fn a_disk_gets_its_depth_back() {
    if !can_run("depths", &["losetup", "fio"]) {
        return;
    }
    let (scratch, disk) = (Scratch::new("depth"), Disk::new("depth"));
    disk.set("scheduler", "mq-deadline");
    let start = disk.settings();
    let knobs = [
        format!("disk:{}.scheduler=none", disk.name),
        format!("disk:{}.nr_requests=5", disk.name),
    ];
    for killed in [false, true] {
        if killed {
            left_changed(&scratch, None, &knobs, || {
                disk.get("scheduler") == "none" && disk.get("nr_requests") == "5"
            });
            assert!(deepest(&disk) <= 5, "it was told to");
            let restored = lab::recover(&scratch.state()).expect("a journal");
            assert!(restored.expect("something to do").is_whole());
        } else {
            let out = turned(None, &scratch.state(), 20, &knobs);
            assert!(out.status.success(), "{}", said(&out));
        }
        assert_same(&disk.settings(), &start, "after the experiment");
        let depth = deepest(&disk);
        assert!(depth > 5, "killed {killed}: at most {depth} under way");
    }
}

/// The most reads that the kernel sees under way at once, of a program that keeps 64.
fn deepest(disk: &Disk) -> u64 {
    let file = format!("--filename=/dev/{}", disk.name);
    let job = "--name=deep --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=64 \
               --thread --time_based --runtime=1 --minimal";
    let mut load = Command::new("fio")
        .arg(file)
        .args(job.split_whitespace())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("fio runs");
    let mut deepest = 0;
    while load.try_wait().expect("it is ours").is_none() {
        let now = text(disk.queue().join("../inflight"));
        let reads = now.split_whitespace().next().and_then(|n| n.parse().ok());
        deepest = deepest.max(reads.unwrap_or(0));
    }
    deepest
}

/// A setting in bytes and one in percent are the same setting: one of them reads 0.
#[test]
fn settings_that_exclude_each_other() {
    if !can_run("vm.dirty_bytes", &["sysctl"]) {
        return;
    }
    let file = |name: &str| Path::new("/proc/sys/vm").join(name);
    let names = [
        "dirty_ratio",
        "dirty_bytes",
        "dirty_background_ratio",
        "dirty_background_bytes",
    ];
    let before = names.map(|n| text(file(n)));
    let back = || {
        for (name, value) in names.iter().zip(&before) {
            if value != "0" {
                put(file(name), value);
            }
        }
    };
    let scratch = Scratch::new("dirty");
    let knobs = [
        "sysctl:vm.dirty_bytes=268435456",
        "sysctl:vm.dirty_background_ratio=7,9",
    ];
    let knobs = knobs.map(str::to_owned);
    let other = [
        "sysctl:vm.dirty_ratio=15,30",
        "sysctl:vm.dirty_background_bytes=67108864",
    ];
    let other = other.map(str::to_owned);
    for (ratio, bytes) in [("20", None), ("20", Some("536870912")), ("0", None)] {
        put(file("dirty_ratio"), "1");
        put(file("dirty_ratio"), ratio);
        if let Some(bytes) = bytes {
            put(file("dirty_bytes"), bytes);
        }
        let start = names.map(|n| text(file(n)));
        for knobs in [&knobs, &other] {
            let out = turned(None, &scratch.state(), 9, knobs);
            let now = names.map(|n| text(file(n)));
            if !out.status.success() || now != start {
                back();
            }
            assert!(out.status.success(), "{}", said(&out));
            assert_eq!(now, start, "{knobs:?}");
        }
    }
    back();
    assert_eq!(names.map(|n| text(file(n))), before, "the test's own");
}

#[test]
fn another_experiment_is_refused() {
    if !can_run("two experiments", &["losetup"]) {
        return;
    }
    let (scratch, disk) = (Scratch::new("second"), Disk::new("second"));
    let knobs = [format!("disk:{}.read_ahead_kb=0,4096", disk.name)];
    let mut child = turn(None, &scratch.state(), 1, 0, &knobs)
        .spawn()
        .expect("it runs");
    begun(&mut child, &scratch);
    let out = turned(None, &scratch.state(), 5, &knobs);
    assert_eq!(out.status.code(), Some(2));
    let (text, pid) = (said(&out), child.id());
    assert!(text.contains("another experiment is under way"), "{text}");
    assert!(text.contains(&format!("process {pid}")), "{text}");
    let refused = lab::recover(&scratch.state()).expect_err("it lives");
    assert!(refused.to_string().contains("under way"), "{refused}");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    wait("the guardian's end", || !scratch.journal().exists());
    let out = turned(None, &scratch.state(), 5, &knobs);
    assert!(out.status.success(), "{}", said(&out));
}

/// The next experiment first puts back what the one before left: it must not take a changed
/// value for the start.
#[test]
fn what_was_left_is_put_back_before_the_next_begins() {
    if !can_run("left changes", &["losetup"]) {
        return;
    }
    let (scratch, disk) = (Scratch::new("next"), Disk::new("next"));
    let start = disk.settings();
    let knobs = [format!("disk:{}.read_ahead_kb=0,4096", disk.name)];
    left_changed(&scratch, None, &knobs, || disk.settings() != start);
    let out = turned(
        None,
        &scratch.state(),
        5,
        &[format!("disk:{}.nomerges=1", disk.name)],
    );
    assert!(out.status.success(), "{}", said(&out));
    assert_same(&disk.settings(), &start, "after the next");
}

#[test]
fn a_full_disk_changes_nothing() {
    if !can_run("a full disk", &["losetup", "mount", "umount"]) {
        return;
    }
    let (scratch, disk) = (Scratch::new("full"), Disk::new("full"));
    let start = disk.settings();
    let small = scratch.0.join("small");
    std::fs::create_dir(&small).expect("a directory");
    run(&format!(
        "mount -t tmpfs -o size=16k tmpfs {}",
        small.display()
    ));
    let filled = std::fs::write(small.join("filler"), vec![0; 64 << 10]);
    assert!(filled.is_err(), "the disk is full");
    let knobs = [format!("disk:{}.scheduler=kyber,bfq", disk.name)];
    let out = turned(None, &small, 5, &knobs);
    let left = std::fs::read_dir(&small).expect("it is there").flatten();
    // A kept entry would keep the directory open.
    let left: Vec<_> = left.map(|e| e.file_name()).collect();
    run(&format!("umount {}", small.display()));
    assert_eq!(out.status.code(), Some(2));
    let text = said(&out);
    assert!(text.contains("cannot write the undo journal"), "{text}");
    assert!(text.contains("nothing was changed"), "{text}");
    assert!(
        left.iter().all(|name| name != "undo.json.new"),
        "nothing is left over"
    );
    assert_same(&disk.settings(), &start, "after it was refused");
}

#[test]
fn what_cannot_be_written_is_told_before_the_start() {
    if !can_run("read-only files", &["losetup"]) {
        return;
    }
    let scratch = Scratch::new("refused");
    for (knob, told) in [
        (
            "module:loop.max_loop=3",
            "/sys/module/loop/parameters/max_loop",
        ),
        ("sysctl:vm.drop_caches=1", "an action"),
        ("sysctl:no.such_thing=1", "/proc/sys/no/such_thing"),
        ("disk:nosuchdisk.scheduler=none", "/sys/block/nosuchdisk"),
        ("disk:../vda.scheduler=none", "there is no"),
        (
            "disk:loop0.iosched/../nr_requests=3",
            "none of its settings",
        ),
        ("net:nosuchif.mtu=1400", "interface nosuchif"),
        ("cgroup:/nosuchgroup.cpu.max=1", "control group"),
        ("cgroup:/.cgroup.procs=1", "moves processes"),
        ("nonsense=1", "do not begin with"),
        ("mount:/.ro=on", "not set by an experiment"),
        ("irq:x=1", "has a number"),
    ] {
        let out = turned(None, &scratch.state(), 5, &[knob.to_owned()]);
        assert_eq!(out.status.code(), Some(2), "{knob}: {}", said(&out));
        assert!(said(&out).contains(told), "{knob}: {}", said(&out));
        assert!(!scratch.journal().exists(), "{knob}");
    }
}

/// A value that the kernel changes is an error, and what was set before it goes back.
#[test]
fn a_value_that_is_kept_differently() {
    if !can_run("odd values", &["losetup"]) {
        return;
    }
    let (scratch, disk) = (Scratch::new("kept"), Disk::new("kept"));
    disk.set("scheduler", "mq-deadline");
    let start = disk.settings();
    // The least is 4.
    let out = turned(
        None,
        &scratch.state(),
        9,
        &[format!("disk:{}.nr_requests=1", disk.name)],
    );
    assert_eq!(out.status.code(), Some(2));
    assert!(
        said(&out).contains("the kernel keeps `4`"),
        "{}",
        said(&out)
    );
    assert_same(&disk.settings(), &start, "after the error");
}

#[test]
fn after_a_restart_only_what_lasts_is_put_back() {
    if !can_run("a restart", &["losetup"]) {
        return;
    }
    let (scratch, disk) = (Scratch::new("restart"), Disk::new("restart"));
    let before = disk.get("read_ahead_kb");
    // On a disk, so that it outlives a restart.
    let setting = Path::new(env!("CARGO_TARGET_TMPDIR")).join("setting");
    put(&setting, "old\n");
    let knobs = [
        format!("disk:{}.read_ahead_kb=512", disk.name),
        format!("file:{}=new", setting.display()),
    ];
    let changed = || disk.get("read_ahead_kb") == "512" && text(&setting) == "new";
    left_changed(&scratch, None, &knobs, changed);
    edit(&scratch, |j| {
        j["boot"] = "another".into();
    });
    let restored = lab::recover(&scratch.state())
        .expect("a journal")
        .expect("something to do");
    assert_eq!(
        restored.volatile,
        [format!("disk:{}.read_ahead_kb", disk.name)]
    );
    assert_eq!(disk.get("read_ahead_kb"), "512", "it was not written");
    assert_eq!(text(&setting), "old");
    assert!(!scratch.journal().exists());
    disk.set("read_ahead_kb", &before);
}

/// Recovering twice, or from half of it, is the same as once.
#[test]
fn an_interrupted_restore_is_begun_again() {
    if !can_run("an interrupted restore", &["losetup"]) {
        return;
    }
    let (scratch, disk) = (Scratch::new("again"), Disk::new("again"));
    disk.set("scheduler", "mq-deadline");
    disk.set("nr_requests", "77");
    let start = disk.settings();
    let knobs = [format!("disk:{}.scheduler=kyber,bfq", disk.name)];
    left_changed(&scratch, None, &knobs, || {
        disk.get("scheduler") != "mq-deadline"
    });
    // Half of it was done: the scheduler is back, its queue is not.
    disk.set("scheduler", "mq-deadline");
    assert_ne!(disk.get("nr_requests"), "77");
    let restored = lab::recover(&scratch.state())
        .expect("a journal")
        .expect("something to do");
    assert!(restored.is_whole(), "{}", restored.complaint());
    assert_same(&disk.settings(), &start, "after the recovery");
    assert_eq!(lab::recover(&scratch.state()).expect("no journal"), None);
}

/// What cannot be put back is told with what to type, stays in the journal, and stops the next
/// experiment.
#[test]
fn what_cannot_be_put_back_is_told() {
    if !can_run(
        "a lost setting",
        &["losetup", "mount", "umount", "mkfs.ext4"],
    ) {
        return;
    }
    let (scratch, disk) = (Scratch::new("lost"), Disk::new("lost"));
    let before = disk.get("read_ahead_kb");
    let knobs = [format!("disk:{}.read_ahead_kb=4096", disk.name)];
    left_changed(&scratch, None, &knobs, || {
        disk.get("read_ahead_kb") == "4096"
    });
    let name = disk.name.clone();
    // The kernel refuses this text.
    edit(&scratch, |j| {
        j["entries"][0]["was"] = "nonsense".into();
    });
    let restored = lab::recover(&scratch.state())
        .expect("a journal")
        .expect("something to do");
    let complaint = restored.complaint();
    let command = format!("echo {before} > /sys/block/{name}/queue/read_ahead_kb");
    assert!(complaint.contains("NOT PUT BACK"), "{complaint}");
    assert!(complaint.contains(&command), "{complaint}");
    assert!(complaint.contains("EINVAL"), "{complaint}");
    assert!(scratch.journal().exists(), "it is tried again");
    let out = turned(
        None,
        &scratch.state(),
        5,
        &[format!("disk:{name}.nomerges=1")],
    );
    assert_eq!(out.status.code(), Some(2));
    assert!(
        said(&out).contains("could not be put back"),
        "{}",
        said(&out)
    );
    // A person follows the advice.
    let typed = Command::new("sh")
        .args(["-c", &command])
        .status()
        .expect("a shell");
    assert!(typed.success());
    assert_eq!(disk.get("read_ahead_kb"), before);
    edit(&scratch, |j| {
        j["entries"][0]["was"] = before.clone().into();
    });
    let restored = lab::recover(&scratch.state())
        .expect("a journal")
        .expect("something to do");
    assert!(restored.is_whole());
    assert!(!scratch.journal().exists());
}

/// A journal that is damaged is not followed, and says where it is.
#[test]
fn a_damaged_journal() {
    let scratch = Scratch::new("damaged");
    std::fs::create_dir_all(scratch.state()).expect("a directory");
    let whole = r#"{"version":1,"id":"a","boot":"b","pid":1,"what":"","entries":[]}"#;
    for end in 0..whole.len() {
        put(scratch.journal(), &whole[..end]);
        let refused = lab::recover(&scratch.state()).expect_err("it is damaged");
        assert!(refused.to_string().contains("undo.json"), "{refused}");
        assert!(scratch.journal().exists());
    }
    put(
        scratch.journal(),
        &whole.replace("\"version\":1", "\"version\":2"),
    );
    let refused = lab::recover(&scratch.state()).expect_err("it is of another version");
    assert!(refused.to_string().contains("format is 2"), "{refused}");
    std::fs::remove_file(scratch.journal()).expect("it is there");
    std::os::unix::fs::symlink("/etc/passwd", scratch.journal()).expect("a link");
    lab::recover(&scratch.state()).expect_err("a link is not followed");
}

#[test]
fn options_of_a_mount() {
    if !can_run("mounts", &["losetup", "mount", "umount", "mkfs.ext4"]) {
        return;
    }
    let (scratch, disk) = (Scratch::new("mount"), Disk::new("mount"));
    let point = scratch.0.join("a b.c");
    std::fs::create_dir(&point).expect("a directory");
    run(&format!("mkfs.ext4 -q /dev/{}", disk.name));
    let mounted = Command::new("mount")
        .args(["-o", "commit=20,nosuid"])
        .arg(format!("/dev/{}", disk.name))
        .arg(&point)
        .status();
    assert!(mounted.expect("mount").success());
    let line = || {
        let table = text("/proc/self/mountinfo");
        let found = table.lines().find(|l| l.contains(r"a\040b.c"));
        found.expect("it is mounted").to_owned()
    };
    let start = line();
    let knob = |option: &str| format!("mount:{}.{option}", point.display());
    let changed = [
        knob("commit=7,9"),
        knob("barrier=off,on"),
        knob("atime=noatime,strictatime"),
    ];
    let more = [knob("lazytime=on,off"), knob("discard=on,off")];
    let out = turned(
        None,
        &scratch.state(),
        20,
        &[changed.as_slice(), &more].concat(),
    );
    let ended = line();
    // What is not shown could not be put back.
    let hidden = turned(None, &scratch.state(), 1, &[knob("stripe=4")]);
    let unmounted = Command::new("umount").arg(&point).status();
    assert!(unmounted.expect("umount").success());
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(ended, start);
    assert!(
        said(&hidden).contains("could not be put back"),
        "{}",
        said(&hidden)
    );
}
