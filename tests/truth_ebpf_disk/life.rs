//! Programs that come and go, alone and beside others.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use sources::{Detail, Host, Look};

use crate::recorder::{Recorder, sleep, wait};
use crate::support::{can_run, scratch, succeed, total};
use crate::truth::{DiskLine, record_script_with, same};
use crate::{LOOK, NEEDS, alone, buckets, fio, quiet_device, sum};

/// Numbers of the programs or maps (`prog_id`, `map_id`) that a process holds.
fn held(fdinfo: &Path, what: &str) -> BTreeSet<u32> {
    let entries = std::fs::read_dir(fdinfo).expect("a process").flatten();
    let texts = entries.filter_map(|e| std::fs::read_to_string(e.path()).ok());
    texts
        .flat_map(|text| {
            let lines = text.lines().filter_map(|l| l.strip_prefix(what));
            let numbers = lines.filter_map(|l| l.strip_prefix(':')?.trim().parse().ok());
            numbers.collect::<Vec<u32>>()
        })
        .collect()
}

/// Those of `numbers` that the kernel still has: programs and maps.
fn left(programs: &BTreeSet<u32>, maps: &BTreeSet<u32>) -> [usize; 2] {
    let all_programs = aya::programs::loaded_programs().flatten();
    let all_maps = aya::maps::loaded_maps().flatten();
    [
        all_programs.filter(|p| programs.contains(&p.id())).count(),
        all_maps.filter(|m| maps.contains(&m.id())).count(),
    ]
}

/// Resident bytes of this process.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().expect("a number");
    pages * rustix::param::page_size() as u64
}

#[test]
fn two_hundred_times_attached_nothing_is_left() {
    if !can_run("two_hundred_times_attached_nothing_is_left", NEEDS) {
        return;
    }
    let _alone = alone();
    let host = Host {
        look: Look {
            detail: Detail::Distributions,
            ..Look::default()
        },
        ..Host::default()
    };
    let fdinfo = Path::new("/proc/self/fdinfo");
    let descriptors = || std::fs::read_dir(fdinfo).expect("fdinfo").count();
    let (mut programs, mut maps) = (BTreeSet::new(), BTreeSet::new());
    let (mut settled, before, mut seconds) = (0, descriptors(), Vec::new());
    for time in 0..200 {
        let from = Instant::now();
        let Ok(source) = (sources::bpf::disk::ENTRY.open)(&host) else {
            panic!("it does not open");
        };
        seconds.push(from.elapsed().as_secs_f64());
        programs.append(&mut held(fdinfo, "prog_id"));
        maps.append(&mut held(fdinfo, "map_id"));
        drop(source);
        assert_eq!(descriptors(), before, "descriptors after {time} times");
        if time == 20 {
            settled = resident();
        }
    }
    assert!(programs.len() >= 400, "{} programs seen", programs.len());
    assert!(maps.len() >= 400, "{} maps seen", maps.len());
    // The kernel frees a little later.
    wait("the end of programs and maps", || {
        left(&programs, &maps) == [0, 0]
    });
    let grown = resident().saturating_sub(settled);
    assert!(grown < 2 << 20, "{grown} bytes more in memory");
    seconds.sort_by(f64::total_cmp);
    let (median, worst) = (seconds[100], seconds[199]);
    eprintln!("opening took {median:.3} s, at worst {worst:.3} s; {grown} bytes more");
}

/// The share of the I/Os of a device that `run` has.
fn seen(run: &Path, device: &str, of: f64) -> f64 {
    sum(&buckets(
        run,
        &format!("disk.ios by latency where device = {device}"),
    )) / of
}

#[test]
fn recorders_side_by_side_see_the_same_also_when_one_is_killed() {
    let name = "recorders_side_by_side_see_the_same_also_when_one_is_killed";
    if !can_run(name, NEEDS) {
        return;
    }
    let _alone = alone();
    let (_lock, device) = quiet_device("beside");
    let dir = scratch("beside");
    let arguments = [LOOK, &["-q", "--every", "100ms", "--for", "1m"]].concat();
    let start = |name: &str| Recorder::start(&dir.join(name), &arguments);
    let (first, second) = (start("first"), start("second"));
    let before = DiskLine::now(&device.name());
    let device_path = device.path.clone();
    let load = std::thread::spawn(move || {
        let job = "rw=randread bs=4k ioengine=libaio iodepth=16 time_based runtime=5";
        let job = fio(&device_path, job);
        succeed(std::process::Command::new(&job[0]).args(&job[1..]))
    });
    sleep(1.0);
    let third = start("third");
    let fdinfo = format!("/proc/{}/fdinfo", third.pid().as_raw_nonzero());
    let programs = held(Path::new(&fdinfo), "prog_id");
    assert!(programs.len() >= 2, "it holds {programs:?}");
    sleep(0.5);
    third.kill();
    let from = Instant::now();
    wait("the end of its programs", || {
        left(&programs, &BTreeSet::new())[0] == 0
    });
    let took = from.elapsed().as_secs_f64();
    assert!(took < 1.0, "its programs stayed {took} s");
    load.join().expect("fio works");
    let counted = DiskLine::now(&device.name()).since(&before);
    // A sample with the last of it.
    sleep(0.3);
    let [ios, ..] = counted.of(0);
    assert!(ios > 50_000.0, "only {ios} reads");
    for recorder in [first, second] {
        recorder.signal(rustix::process::Signal::INT);
        let run = recorder.run.clone();
        let (_, said) = recorder.end();
        let share = seen(&run, &device.name(), ios);
        assert!((0.9999..=1.0).contains(&share), "{share} of them: {said}");
    }
    let part = format!("disk.ios by latency where device = {}", device.name());
    let killed = sum(&buckets(&dir.join("third"), &part));
    assert!(killed > 0.0, "the killed one kept nothing");
    same("whole", killed.fract(), 0.0);
}

/// Kernels were seen that run no program while certain tasks have the processor: completions are
/// left out in bursts. What is in no histogram is counted, once its request is used again, and the
/// depth comes back.
#[test]
fn what_the_kernel_leaves_out_is_counted() {
    let name = "what_the_kernel_leaves_out_is_counted";
    if !can_run(name, NEEDS) {
        return;
    }
    let _alone = alone();
    let (_lock, device) = quiet_device("left_out");
    let part = format!("where device = {}", device.name());
    let job = |options: &str| fio(&device.path, options).join(" ");
    let load = job("rw=randread bs=4k ioengine=libaio iodepth=8 time_based runtime=2");
    // Uses each request of the device again.
    let all = job("rw=randread bs=4k ioengine=libaio iodepth=256 size=16m io_size=16m");
    let script = format!("{load} >&2; for i in 1 2 3 4; do {all} >&2; done; sleep 0.4");
    let mut not_counted = Vec::new();
    for round in 0..8 {
        if round > 3 && not_counted.is_empty() {
            return;
        }
        let run = scratch(&format!("left_out-{round}")).join("run");
        record_script_with(&run, "100ms", &[], &script);
        let completed = total(&run, &format!("disk.ios {part}"));
        let seen = sum(&buckets(&run, &format!("disk.ios by latency {part}")));
        let unseen = total(&run, "self.unseen where table = disk_event");
        let lacking = completed - seen;
        eprintln!("{completed} I/Os, {lacking} in no histogram, {unseen} counted as unseen");
        assert!(completed > 20_000.0, "only {completed} I/Os");
        assert!(lacking >= 0.0, "{seen} of {completed} I/Os");
        let opened = run::Run::open(&run).expect("a run");
        let peak = analysis::evaluate(&opened, &format!("disk.peak_depth {part}"));
        let peak = peak.expect("an answer");
        // Intervals in which nothing is under way have no row.
        let (place, _) = peak.groups[0].series.last().expect("intervals");
        let idle = opened.ended() - peak.slots[*place as usize].time;
        // What was left out at the very end is not counted, and stays under way.
        if lacking > unseen || idle < 150_000_000 {
            not_counted.push((lacking, unseen, idle));
        } else if lacking > 0.0 {
            return;
        }
    }
    // Once may be chance: one of forty I/Os is of the last pass.
    assert!(
        not_counted.len() < 2,
        "in no histogram and not counted, or under way for ever: {not_counted:?}"
    );
}
