//! Devices that come and go while it records: each is counted, and those for which there is no
//! room are named.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::recorder::{Recorder, manifest, sleep};
use crate::support::{can_run, scratch, succeed};
use crate::truth::{DiskLine, same};
use crate::{LOOK, NEEDS, alone, buckets, fio, sum, undisturbed};

/// More devices than there is room for at a time.
const MANY: usize = 28;
/// Numbers of loop devices that are tried; the kernel makes those that it does not have.
const NUMBERS: std::ops::Range<u32> = 8..100;

/// The loop device of that number over a file; gone when dropped.
struct Numbered {
    name: String,
    file: PathBuf,
}

impl Numbered {
    /// `None` if somebody has it.
    fn new(number: u32) -> Option<Numbered> {
        let device = Numbered {
            name: format!("loop{number}"),
            file: PathBuf::from(format!(
                "/dev/shm/sonde-churn-{}-{number}",
                std::process::id()
            )),
        };
        let set_up = Path::new("/sys/block").join(&device.name).join("loop");
        if set_up.exists() {
            return None;
        }
        let file = std::fs::File::create(&device.file).expect("a file on tmpfs");
        file.set_len(1 << 20).expect("a sparse file");
        let mut setup = Command::new("losetup");
        let done = setup.arg(device.path()).arg(&device.file).output();
        done.is_ok_and(|d| d.status.success()).then_some(device)
    }

    fn path(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }

    /// Writes and reads it; what the kernel counted of that.
    fn used(&self) -> DiskLine {
        let before = DiskLine::now(&self.name);
        let job = "rw=randrw bs=4k size=1m ioengine=psync";
        let job = fio(&self.path(), job);
        succeed(Command::new(&job[0]).args(&job[1..]));
        DiskLine::now(&self.name).since(&before)
    }
}

impl Drop for Numbered {
    fn drop(&mut self) {
        let mut detach = Command::new("losetup");
        let _ = detach.arg("--detach").arg(self.path()).output();
        let set_up = Path::new("/sys/block").join(&self.name).join("loop");
        for _ in 0..2000 {
            if !set_up.exists() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let _ = std::fs::remove_file(&self.file);
    }
}

fn start(name: &str) -> Recorder {
    let arguments = [LOOK, &["-q", "--every", "50ms", "--for", "5m"]].concat();
    Recorder::start(&scratch(name).join("run"), &arguments)
}

/// Ends it; what it said, and what it could not keep as its program says.
fn end(recorder: Recorder) -> (PathBuf, String, String) {
    sleep(0.2);
    recorder.signal(rustix::process::Signal::INT);
    let run = recorder.run.clone();
    let (_, said) = recorder.end();
    let manifest = manifest(&run);
    let programs = manifest["programs"].as_array().expect("programs").iter();
    let mut counting = programs.filter(|p| p["name"] == "disk_complete");
    let counting = counting.next().expect("the program that counts");
    let detail = counting["detail"].as_str().unwrap_or_default().to_owned();
    (run, said, detail)
}

fn ios(run: &Path, device: &str, op: &str) -> f64 {
    let expression = format!("disk.ios by latency where device = {device} and op = {op}");
    sum(&buckets(run, &expression))
}

#[test]
fn devices_that_come_and_go_are_each_counted() {
    let name = "devices_that_come_and_go_are_each_counted";
    if !can_run(name, NEEDS) {
        return;
    }
    let _alone = alone();
    undisturbed(one_after_the_other, |run, counted| {
        for (device, reads_and_writes) in counted {
            for (word, expected) in ["read", "write"].into_iter().zip(reads_and_writes) {
                assert!(*expected >= 100.0, "only {expected} I/Os of {device}");
                same(
                    &format!("{word}s of {device}"),
                    ios(run, device, word),
                    *expected,
                );
            }
        }
    });
}

/// More than there is room for at a time, by far: each device, and what the kernel counted of its
/// reads and writes.
fn one_after_the_other() -> (PathBuf, Vec<(String, [f64; 2])>) {
    let recorder = start("in_turn");
    let mut counted = Vec::new();
    for device in NUMBERS.filter_map(Numbered::new).take(MANY) {
        let line = device.used();
        counted.push((device.name.clone(), [line.of(0)[0], line.of(1)[0]]));
        drop(device);
        // Until it is seen that it has gone.
        sleep(0.3);
    }
    assert_eq!(counted.len(), MANY, "loop devices that nobody has");
    // The first comes again.
    let number = counted[0].0.trim_start_matches("loop").parse();
    let again = Numbered::new(number.expect("a number")).expect("nobody took it");
    let twice = again.used();
    drop(again);
    let (run, said, detail) = end(recorder);
    assert_eq!(detail, "", "{said}");
    for (op, ios) in counted[0].1.iter_mut().enumerate() {
        *ios += twice.of(op)[0];
    }
    (run, counted)
}

#[test]
fn devices_without_room_are_named() {
    if !can_run("devices_without_room_are_named", NEEDS) {
        return;
    }
    let _alone = alone();
    let recorder = start("no_room");
    let devices: Vec<Numbered> = NUMBERS.filter_map(Numbered::new).take(MANY).collect();
    assert_eq!(devices.len(), MANY, "loop devices that nobody has");
    for device in &devices {
        device.used();
    }
    let (run, said, detail) = end(recorder);
    assert!(detail.starts_with("no room for histograms of "), "{detail}");
    assert!(said.contains(&detail), "{said}");
    let named = |d: &&Numbered| detail.split([' ', ',']).any(|word| word == d.name);
    let (without, with): (Vec<_>, Vec<_>) = devices.iter().partition(named);
    assert!(without.len() >= 4 && with.len() >= 16, "{detail}");
    for device in with {
        assert!(ios(&run, &device.name, "read") > 50.0, "{}", device.name);
    }
}
