//! Programs that come and go, alone and beside others.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use run::Sink;
use rustix::process::Signal;
use sources::{Detail, Host, Look, SOURCES, Source};

use crate::recorder::{Recorder, sleep, wait};
use crate::support::{can_run, scratch, succeed, total};
use crate::truth::{DiskLine, same};
use crate::undisturbed::unseen;
use crate::{LOOK, NEEDS, alone, buckets, fio, quiet_device, sum, swept};

/// Numbers of what a process holds in the kernel.
#[derive(Default)]
struct Held {
    programs: BTreeSet<u32>,
    maps: BTreeSet<u32>,
    /// What keeps a program attached.
    links: BTreeSet<u32>,
}

impl Held {
    /// Adds what the process holds now that has these files (`/proc/PID/fdinfo`).
    fn look(&mut self, fdinfo: &Path) {
        let entries = std::fs::read_dir(fdinfo).expect("a process").flatten();
        for text in entries.filter_map(|e| std::fs::read_to_string(e.path()).ok()) {
            let number = |name: &str| -> Option<u32> {
                let line = text.lines().find_map(|l| l.strip_prefix(name));
                line?.strip_prefix(':')?.trim().parse().ok()
            };
            self.links.extend(number("link_id"));
            self.maps.extend(number("map_id"));
            self.programs.extend(number("prog_id"));
        }
    }

    /// How many of them the kernel still has: programs, maps and links.
    fn left(&self) -> [usize; 3] {
        let programs = aya::programs::loaded_programs().flatten();
        let maps = aya::maps::loaded_maps().flatten();
        let links = aya::programs::loaded_links().flatten();
        [
            programs.filter(|p| self.programs.contains(&p.id())).count(),
            maps.filter(|m| self.maps.contains(&m.id())).count(),
            links.filter(|l| self.links.contains(&l.id())).count(),
        ]
    }

    /// Fails unless there are at least so many of each.
    fn has(&self, least: usize) {
        let all = [&self.programs, &self.maps, &self.links].map(BTreeSet::len);
        let what = "programs, maps and links";
        assert!(all.iter().all(|n| *n >= least), "{all:?} {what}");
        // What is not told of at all would never be seen to stay.
        assert_eq!(self.left().map(|n| n > 0), [true; 3], "{what}");
    }
}

/// Resident bytes of this process.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().expect("a number");
    pages * rustix::param::page_size() as u64
}

/// What grew in each of the parts between looks at [`resident`], in bytes. What each time leaves
/// behind is in all of them; one alone may have an arena of the allocator, megabytes, that a thread met
/// for the first time.
fn least_growth(looks: &[u64]) -> u64 {
    let grown = looks.windows(2).map(|w| w[1].saturating_sub(w[0]));
    grown.min().expect("two looks")
}

/// All sources whose programs run in the kernel, with all that they can tell; but those of what this
/// machine may lack (an NFS server).
fn everything() -> Vec<Box<dyn Source>> {
    let subjects = ["disk", "net", "tcp", "file"].map(str::to_owned);
    let host = Host {
        look: Look {
            detail: Detail::Events,
            events: subjects.to_vec(),
            with: subjects.to_vec(),
            ..Look::default()
        },
        ..Host::default()
    };
    let programs = SOURCES
        .iter()
        .filter(|e| e.detail > Detail::Samples && e.only_where().is_none());
    let opened = programs.map(|entry| {
        let source = (entry.open)(&host);
        source.unwrap_or_else(|why| panic!("{}: {why}", entry.name))
    });
    opened.collect()
}

#[test]
fn two_hundred_times_attached_nothing_is_left() {
    const TIMES: usize = 200;
    /// After how many times its memory is looked at again; 11.6 kB a time would be too much.
    const LOOK_EACH: usize = 60;
    const TOO_MUCH: u64 = (2 << 20) / 3;
    if !can_run("two_hundred_times_attached_nothing_is_left", NEEDS) {
        return;
    }
    let _alone = alone();
    let fdinfo = Path::new("/proc/self/fdinfo");
    let descriptors = || std::fs::read_dir(fdinfo).expect("fdinfo").count();
    let mut held = Held::default();
    let (before, mut looks, mut seconds) = (descriptors(), Vec::new(), Vec::new());
    for time in 0..TIMES {
        let from = Instant::now();
        let mut all = everything();
        seconds.push(from.elapsed().as_secs_f64());
        assert_eq!(all.len(), 5);
        let mut out = Sink::new();
        for source in &mut all {
            source.sample(None, &mut out).expect("it is read");
            source.drain(0, &mut out);
        }
        held.look(fdinfo);
        if time == 0 {
            held.has(20);
        }
        drop(all);
        assert_eq!(descriptors(), before, "descriptors after {time} times");
        if (time + 1) % LOOK_EACH == 20 {
            looks.push(resident());
        }
    }
    let seen = [&held.programs, &held.maps, &held.links].map(BTreeSet::len);
    assert!(seen.iter().all(|n| *n >= 20 * TIMES), "{seen:?} seen");
    // The kernel frees a little later.
    wait("the end of programs, maps and links", || {
        held.left() == [0; 3]
    });
    let grown = least_growth(&looks);
    assert!(grown < TOO_MUCH, "{looks:?} bytes in memory");
    seconds.sort_by(f64::total_cmp);
    let (median, worst) = (seconds[TIMES / 2], seconds[TIMES - 1]);
    eprintln!("{seen:?} programs, maps and links; {looks:?} bytes");
    eprintln!("opening all took {median:.3} s, at worst {worst:.3} s");
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
        succeed(Command::new(&job[0]).args(&job[1..]))
    });
    sleep(1.0);
    // With all that there is.
    let all = ["--with", "file", "--events", "all"];
    let all = [&all[..], &arguments[LOOK.len()..]].concat();
    let third = Recorder::start(&dir.join("third"), &all);
    sleep(0.5);
    let fdinfo = format!("/proc/{}/fdinfo", third.pid().as_raw_nonzero());
    let mut held = Held::default();
    held.look(Path::new(&fdinfo));
    held.has(20);
    third.kill();
    let from = Instant::now();
    wait("the end of its programs, maps and links", || {
        held.left() == [0; 3]
    });
    let took = from.elapsed().as_secs_f64();
    assert!(took < 1.0, "what it had in the kernel stayed {took} s");
    load.join().expect("fio works");
    let counted = DiskLine::now(&device.name()).since(&before);
    // A sample with the last of it.
    sleep(0.3);
    let [ios, ..] = counted.of(0);
    assert!(ios > 50_000.0, "only {ios} reads");
    for recorder in [first, second] {
        recorder.signal(Signal::INT);
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

/// Another recorder of disks that comes and goes again and again.
struct Restless(Arc<AtomicBool>, Option<JoinHandle<u32>>);

impl Restless {
    fn new() -> Restless {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let host = Host {
            look: Look {
                detail: Detail::Distributions,
                ..Look::default()
            },
            ..Host::default()
        };
        let work = move || {
            let mut times = 0;
            while !stopped.load(Ordering::Relaxed) {
                assert!((sources::bpf::disk::ENTRY.open)(&host).is_ok());
                times += 1;
            }
            times
        };
        Restless(stop, Some(std::thread::spawn(work)))
    }

    /// Ends it; how many times it came.
    fn end(mut self) -> u32 {
        self.0.store(true, Ordering::Relaxed);
        let thread = self.1.take().expect("it runs");
        thread.join().expect("it opens")
    }
}

impl Drop for Restless {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// While another recorder comes or goes, a kernel whose processors are taken away leaves I/Os out.
/// What is in no histogram is counted, once its request is used again, and the depth comes back. Where
/// nothing is left out there is nothing to see: `disk_programs` shows it of every I/O.
#[test]
fn what_the_kernel_leaves_out_is_counted() {
    let name = "what_the_kernel_leaves_out_is_counted";
    if !can_run(name, NEEDS) {
        return;
    }
    let _alone = alone();
    let (_lock, device) = quiet_device("left_out");
    let part = format!("where device = {}", device.name());
    let load = "rw=randread bs=4k ioengine=libaio iodepth=8 time_based runtime=2";
    let load = fio(&device.path, load);
    let sweep = swept(&swept(":", &device.path), &device.path);
    let mut not_counted = Vec::new();
    for round in 0..4 {
        let run = scratch(&format!("left_out-{round}")).join("run");
        let recorder = Recorder::start(&run, &["-q", "--every", "100ms"]);
        let restless = Restless::new();
        succeed(Command::new(&load[0]).args(&load[1..]));
        let times = restless.end();
        // Alone again, it uses each request of the device.
        succeed(Command::new("sh").args(["-e", "-c", &sweep]));
        sleep(0.4);
        recorder.signal(Signal::INT);
        let (status, said) = recorder.end();
        assert!(status.success(), "{said}");
        let completed = total(&run, &format!("disk.ios {part}"));
        let seen = sum(&buckets(&run, &format!("disk.ios by latency {part}")));
        let unseen = unseen(&run);
        let lacking = completed - seen;
        eprintln!(
            "{completed} I/Os, {lacking} in no histogram, {unseen} counted as unseen; \
             another came {times} times"
        );
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
        }
    }
    // Once may be chance: one of forty I/Os is of the last pass.
    assert!(
        not_counted.len() < 2,
        "in no histogram and not counted, or under way for ever: {not_counted:?}"
    );
}
