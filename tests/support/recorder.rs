//! A recorder at work, and what a test does to it meanwhile.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and look at the clock"
)]

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::support::{sonde, succeed};

/// `sonde record -o run ARGUMENTS...`, started. Killed when dropped, should it still run.
pub(crate) struct Recorder {
    pub(crate) run: PathBuf,
    child: Child,
}

impl Recorder {
    /// Starts it and waits until it observes.
    pub(crate) fn start<S: AsRef<OsStr>>(run: &Path, arguments: &[S]) -> Recorder {
        let recorder = Recorder::spawn(run, arguments);
        // Samples are in the journal from the first on.
        wait("the first sample", || {
            std::fs::metadata(run.join("journal")).is_ok_and(|m| m.len() > 0)
        });
        recorder
    }

    /// Starts it.
    pub(crate) fn spawn<S: AsRef<OsStr>>(run: &Path, arguments: &[S]) -> Recorder {
        let mut command = sonde();
        command.args(["record", "-o"]).arg(run).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(Stdio::piped()).spawn().expect("sonde runs");
        Recorder {
            run: run.to_owned(),
            child,
        }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it runs");
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits for its end; its status and what it said.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().expect("piped");
        stderr.read_to_string(&mut said).expect("UTF-8");
        (self.child.wait().expect("it ends"), said)
    }

    /// Kills it with SIGKILL and waits.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `done`, at most 20 seconds.
pub(crate) fn wait(what: &str, done: impl Fn() -> bool) {
    let from = Instant::now();
    while !done() {
        assert!(
            from.elapsed() < Duration::from_secs(20),
            "{what} does not come"
        );
        sleep(0.001);
    }
}

/// Sleeps for `seconds`.
pub(crate) fn sleep(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}

/// The wall clock, in seconds.
pub(crate) fn now() -> f64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.expect("after 1970").as_secs_f64()
}

/// `run.json`.
pub(crate) fn manifest(run: &Path) -> Value {
    let text = std::fs::read(run.join("run.json")).expect("run.json");
    serde_json::from_slice(&text).expect("run.json is JSON")
}

/// How `sonde list` says that `run` ended.
pub(crate) fn ending(run: &Path) -> String {
    let dir = run.parent().expect("a parent");
    let list = succeed(sonde().arg("list").arg("--json").arg(dir));
    let list: Value = serde_json::from_str(&list).expect("list prints JSON");
    let list = list.as_array().expect("an array").iter();
    let found = list
        .filter(|r| Path::new(r["run"].as_str().expect("a path")) == run)
        .map(|r| r["end"].as_str().expect("an end").to_owned());
    found.reduce(|_, last| last).expect("the run is listed")
}

/// One interval of a series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Its end, in seconds since the run's start.
    pub(crate) at: f64,
    /// Its length, in seconds.
    pub(crate) interval: f64,
    /// Amount per second, or level.
    pub(crate) value: f64,
}

/// The series of the only group of an expression.
pub(crate) fn series(run: &Path, expression: &str) -> Vec<Point> {
    let mut get = sonde();
    get.arg("get")
        .arg(run)
        .args([expression, "--series", "--json"]);
    let answer: Value = serde_json::from_str(&succeed(&mut get)).expect("get prints JSON");
    let points = answer["series"][0]["points"].as_array().expect("a series");
    let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
    points
        .iter()
        .map(|p| Point {
            at: number(&p[0]),
            interval: number(&p[1]),
            value: number(&p[2]),
        })
        .collect()
}

/// The intervals of `points` follow each other without gap or overlap from the start to the
/// end. Each is from reading to reading, and a sample's readings come a little after its
/// time: a recorder that has to wait for a processor ends that much later.
pub(crate) fn check_cover(points: &[Point]) {
    let last = points.last().expect("samples").at;
    let covered: f64 = points.iter().map(|p| p.interval).sum();
    assert!(
        (last - 0.01..last + 0.25).contains(&covered),
        "intervals of {covered} s in {last} s"
    );
}

/// Counters of a device in `/proc/diskstats`, after its name.
pub(crate) fn diskstats(device: &str) -> Vec<u64> {
    let text = std::fs::read_to_string("/proc/diskstats").expect("/proc/diskstats");
    let line = text
        .lines()
        .map(|l| l.split_whitespace().collect::<Vec<_>>())
        .find(|f| f.get(2) == Some(&device));
    let fields = line.unwrap_or_default();
    fields
        .iter()
        .skip(3)
        .map(|f| f.parse().expect("a number"))
        .collect()
}

/// Writes `blocks` blocks of 4 KiB to a device, past the page cache.
pub(crate) fn write_blocks(device: &Path, blocks: u32) {
    let mut dd = Command::new("dd");
    dd.args(["if=/dev/zero", "bs=4k", "oflag=direct", "conv=notrunc"]);
    dd.arg(format!("of={}", device.display()))
        .arg(format!("count={blocks}"))
        .stderr(Stdio::null());
    succeed(&mut dd);
}
