//! What the tests of undoing share: a disk, a network and a group of their own, and what all
//! their settings are, read without the code under test.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell why they skip"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Whether this is root, with these programs. If not, says so for the test to return; with
/// `CI` set that is a failure.
pub(crate) fn can_run(test: &str, programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |name: &str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    let mut missing: Vec<&str> = programs.iter().copied().filter(|p| !has(p)).collect();
    if !rustix::process::geteuid().is_root() {
        missing.push("root");
    }
    if missing.is_empty() {
        return true;
    }
    let text = format!("{test} needs {}", missing.join(", "));
    assert!(std::env::var_os("CI").is_none(), "{text}");
    eprintln!("skipped: {text}");
    false
}

/// Runs a command line, which must succeed; its stdout.
pub(crate) fn run(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let out = Command::new(words[0]).args(&words[1..]).output();
    let out = out.unwrap_or_else(|e| panic!("{line}: {e}"));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{line}: {said}");
    String::from_utf8(out.stdout).expect("UTF-8")
}

/// Writes a kernel file as a shell does.
pub(crate) fn put(path: impl AsRef<Path>, value: &str) {
    let path = path.as_ref();
    std::fs::write(path, value).unwrap_or_else(|e| panic!("{value} > {}: {e}", path.display()));
}

/// What a file holds; empty if it cannot be read.
pub(crate) fn text(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path)
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// A directory of the test's own; removed at its end.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Scratch {
        let name = format!("sonde-lab-{}-{name}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).expect("a directory");
        Scratch(dir)
    }

    /// The directory of the journal.
    pub(crate) fn state(&self) -> PathBuf {
        self.0.join("state")
    }

    /// The journal.
    pub(crate) fn journal(&self) -> PathBuf {
        self.state().join("undo.json")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A loop device. Its settings outlive the file behind it, so the test puts them back itself,
/// whatever the code under test did.
pub(crate) struct Disk {
    /// `loop3`.
    pub(crate) name: String,
    file: PathBuf,
    before: BTreeMap<String, String>,
}

/// Settings of a disk that the tests look at, in an order in which they can be put back.
const QUEUE: [&str; 6] = [
    "scheduler",
    "nr_requests",
    "read_ahead_kb",
    "nomerges",
    "rq_affinity",
    "wbt_lat_usec",
];

/// Held while a number of a loop device is chosen: the tests of a file run side by side, and one
/// that is free for a moment only is not to be found.
fn numbers() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk {
    pub(crate) fn new(name: &str) -> Disk {
        let file = PathBuf::from(format!("/dev/shm/sonde-lab-{}-{name}", std::process::id()));
        let made = std::fs::File::create(&file).and_then(|f| f.set_len(64 << 20));
        made.expect("a file on tmpfs");
        let number = numbers();
        let device = run(&format!("losetup --find --show {}", file.display()));
        drop(number);
        let name = device.trim().trim_start_matches("/dev/").to_owned();
        let mut disk = Disk {
            name,
            file,
            before: BTreeMap::new(),
        };
        // Whatever a killed test left behind. The depth is hidden if it is not that of the file.
        disk.set("scheduler", "none");
        for depth in ["4", "128"] {
            disk.set("nr_requests", depth);
        }
        disk.before = QUEUE
            .iter()
            .map(|s| ((*s).to_owned(), disk.get(s)))
            .collect();
        disk
    }

    pub(crate) fn queue(&self) -> PathBuf {
        Path::new("/sys/block").join(&self.name).join("queue")
    }

    pub(crate) fn get(&self, setting: &str) -> String {
        let text = text(self.queue().join(setting));
        let inner = text.split_once('[').and_then(|(_, r)| r.split_once(']'));
        inner.map_or(text.clone(), |(word, _)| word.to_owned())
    }

    pub(crate) fn set(&self, setting: &str, value: &str) {
        put(self.queue().join(setting), value);
    }

    /// Takes its file away and gives it back.
    pub(crate) fn reattach(&self) {
        let _number = numbers();
        let device = format!("/dev/{}", self.name);
        run(&format!("losetup --detach {device}"));
        run(&format!("losetup {device} {}", self.file.display()));
    }

    /// All settings of its queue and its scheduler.
    pub(crate) fn settings(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for dir in [self.queue(), self.queue().join("iosched")] {
            for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|t| t.is_file()) {
                    let path = entry.path();
                    all.insert(path.display().to_string(), text(&path));
                }
            }
        }
        assert!(all.len() > 10, "{} has settings", self.name);
        all
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        for setting in QUEUE {
            if let Some(value) = self.before.get(setting) {
                let _ = std::fs::write(self.queue().join(setting), value);
            }
        }
        let device = format!("/dev/{}", self.name);
        let _ = Command::new("losetup").args(["--detach", &device]).output();
        let _ = std::fs::remove_file(&self.file);
    }
}

/// A network namespace with a pair of virtual interfaces, `v0` and `v1`.
pub(crate) struct Net {
    pub(crate) name: String,
}

impl Net {
    pub(crate) fn new(name: &str) -> Net {
        let net = Net {
            name: format!("sonde-lab-{}-{name}", std::process::id()),
        };
        run(&format!("ip netns add {}", net.name));
        net.inside("ip link add v0 type veth peer name v1");
        net
    }

    /// Runs a command line in it.
    pub(crate) fn inside(&self, line: &str) -> String {
        run(&format!("ip netns exec {} {line}", self.name))
    }

    /// All that other tools tell of its settings.
    pub(crate) fn settings(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for line in [
            "ip -d -o link show dev v0",
            "ethtool -k v0",
            "ethtool -l v0",
            "sysctl net.ipv4.tcp_rmem net.ipv4.tcp_slow_start_after_idle",
        ] {
            all.insert(line.to_owned(), self.inside(line));
        }
        all
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        let _ = Command::new("ip")
            .args(["netns", "del", &self.name])
            .output();
    }
}

/// A control group of version 1 that holds nothing.
pub(crate) struct Group(pub(crate) PathBuf);

impl Group {
    /// In the hierarchy mounted at `/sys/fs/cgroup/CONTROLLER`, if there is one.
    pub(crate) fn new(controller: &str, name: &str) -> Option<Group> {
        let mount = Path::new("/sys/fs/cgroup").join(controller);
        let dir = mount.join(format!("sonde.lab-{}-{name}", std::process::id()));
        std::fs::create_dir(&dir).ok().map(|()| Group(dir))
    }

    /// `cgroup:/sonde.lab-1-x.FILE`.
    pub(crate) fn knob(&self, file: &str) -> String {
        let name = self.0.file_name().expect("a name").to_string_lossy();
        format!("cgroup:/{name}.{file}")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// `turn STATE SEED TIMES KNOB=VALUES...`, in a network namespace if one is given.
pub(crate) fn turn(
    net: Option<&Net>,
    state: &Path,
    seed: u64,
    times: i64,
    knobs: &[String],
) -> Command {
    let program = env!("CARGO_BIN_EXE_turn");
    let mut command = match net {
        Some(net) => {
            // `ip netns exec` would take away where control groups are mounted.
            let mut command = Command::new("nsenter");
            command
                .arg(format!("--net=/run/netns/{}", net.name))
                .arg(program);
            command
        }
        None => Command::new(program),
    };
    command
        .arg(state)
        .arg(seed.to_string())
        .arg(times.to_string())
        .args(knobs);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The same, to its end; its output.
pub(crate) fn turned(net: Option<&Net>, state: &Path, times: i64, knobs: &[String]) -> Output {
    turn(net, state, 5, times, knobs).output().expect("it runs")
}

/// What it said on stderr.
pub(crate) fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// The guardian that process `parent` started, if one runs.
pub(crate) fn guardian_of(parent: u32) -> Option<u32> {
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    processes
        .filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok())
        .find(|pid| {
            let status = text(format!("/proc/{pid}/status"));
            let line = status.lines().find_map(|l| l.strip_prefix("PPid:"));
            line.is_some_and(|l| l.trim() == parent.to_string())
                && text(format!("/proc/{pid}/cmdline")).contains("(guardian)")
        })
}

/// Sends a signal to a process, which may have ended.
pub(crate) fn signal(pid: u32, name: rustix::process::Signal) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid as i32) {
        let _ = rustix::process::kill_process(pid, name);
    }
}

/// Waits until `done`, at most 20 seconds.
pub(crate) fn wait(what: &str, mut done: impl FnMut() -> bool) {
    let from = Instant::now();
    while !done() {
        assert!(
            from.elapsed() < Duration::from_secs(20),
            "{what} does not come"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until it has begun: its journal is there, and its guardian.
pub(crate) fn begun(child: &mut Child, scratch: &Scratch) {
    wait("the journal and the guardian", || {
        assert_runs(child);
        scratch.journal().exists() && guardian_of(child.id()).is_some()
    });
}

/// Waits until its guardian watches and it sets things.
pub(crate) fn at_work(child: &mut Child) {
    let mut line = [0; 6];
    let stdout = child.stdout.as_mut().expect("piped");
    if std::io::Read::read_exact(stdout, &mut line).is_err() {
        let _ = child.wait();
        assert_runs(child);
    }
    assert_eq!(&line, b"begun\n");
}

/// Asserts that it has not ended, and says why it did.
pub(crate) fn assert_runs(child: &mut Child) {
    if let Ok(Some(status)) = child.try_wait() {
        let mut said = String::new();
        if let Some(stderr) = &mut child.stderr {
            let _ = std::io::Read::read_to_string(stderr, &mut said);
        }
        panic!("it ended: {status}: {said}");
    }
}

/// Asserts that two sets of settings are the same, and says in what they differ.
pub(crate) fn assert_same(
    now: &BTreeMap<String, String>,
    start: &BTreeMap<String, String>,
    when: &str,
) {
    let mut names: Vec<&String> = now.keys().chain(start.keys()).collect();
    names.dedup();
    let differ = names.into_iter().filter(|n| now.get(*n) != start.get(*n));
    let differ: Vec<String> = differ
        .map(|n| format!("{n}:\n  is  {:?}\n  was {:?}", now.get(n), start.get(n)))
        .collect();
    assert!(differ.is_empty(), "{when}: {}", differ.join("\n"));
}

/// Kills the experiment and its guardian, so that what it set stays.
pub(crate) fn left_changed(
    scratch: &Scratch,
    net: Option<&Net>,
    knobs: &[String],
    changed: impl Fn() -> bool,
) {
    let mut child = turn(net, &scratch.state(), 3, 0, knobs)
        .spawn()
        .expect("it runs");
    at_work(&mut child);
    // The guardian must not come between: it is held, then killed with its experiment.
    let guardian = guardian_of(child.id()).expect("a guardian");
    signal(guardian, rustix::process::Signal::STOP);
    wait("a change", || {
        assert_runs(&mut child);
        changed()
    });
    signal(child.id(), rustix::process::Signal::STOP);
    // It may have put everything back just before.
    while !changed() {
        signal(child.id(), rustix::process::Signal::CONT);
        std::thread::sleep(std::time::Duration::from_millis(3));
        signal(child.id(), rustix::process::Signal::STOP);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().expect("it runs");
    signal(guardian, rustix::process::Signal::KILL);
    child.wait().expect("it ends");
    wait("the guardian's end", || {
        !Path::new(&format!("/proc/{guardian}/stat")).exists()
    });
}

/// Changes the journal by hand.
pub(crate) fn edit(scratch: &Scratch, change: impl FnOnce(&mut Value)) {
    let text = std::fs::read(scratch.journal()).expect("a journal");
    let mut journal: Value = serde_json::from_slice(&text).expect("JSON");
    change(&mut journal);
    put(scratch.journal(), &journal.to_string());
}
