//! What the tests of the binary share: running it, reading its answers, and saying why a
//! test cannot run here.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell why they skip"
)]

pub(crate) mod disk_runs;
pub(crate) mod python;
pub(crate) mod stolen;

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

use serde_json::Value;

/// Each event is recorded, however long that takes: otherwise one in some, by chance.
pub(crate) const ALL_EVENTS: &str = "--event-budget=10000%";

/// The binary under test.
pub(crate) fn sonde() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sonde"));
    command.env_remove("SONDE_RUN");
    command
}

/// Runs `command`; its output, whatever its status.
pub(crate) fn output(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

/// Runs `command`, which must succeed; its stdout.
pub(crate) fn succeed(command: &mut Command) -> String {
    let out = output(command);
    assert!(
        out.status.success(),
        "{command:?}: {}\n{}",
        out.status,
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8(out.stdout).expect("output is UTF-8")
}

/// `sonde get RUN EXPR --json`.
pub(crate) fn get(run: &Path, expression: &str) -> Value {
    let text = succeed(sonde().arg("get").arg(run).arg(expression).arg("--json"));
    serde_json::from_str(&text).expect("get prints JSON")
}

/// The total of the only group; 0 if there is none.
pub(crate) fn total(run: &Path, expression: &str) -> f64 {
    let answer = get(run, expression);
    let groups = answer["groups"].as_array().expect("groups");
    assert!(groups.len() <= 1, "{expression}: {answer}");
    groups
        .first()
        .map_or(0.0, |g| g["total"].as_f64().expect("a total"))
}

/// A directory of this test's own, empty. It stays until the next test process makes one, to
/// be looked at after a failure.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let temporary = std::env::temp_dir();
    remove_left_over(&temporary);
    let dir = temporary.join(format!("sonde-test-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a scratch directory");
    dir
}

/// Removes what test processes that have ended left in `dir`.
fn remove_left_over(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name
            .strip_prefix("sonde-test-")
            .and_then(|n| n.split('-').next());
        if process.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// What a test may need of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    /// User 0.
    Root,
    /// A program of that name.
    Program(&'static str),
    /// A file or directory.
    Path(&'static str),
}

impl Need {
    pub(crate) fn missing(self) -> Option<String> {
        match self {
            Need::Root => (!rustix::process::getuid().is_root()).then(|| "root".into()),
            Need::Program(name) => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let found = std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
                (!found).then(|| format!("the program {name}"))
            }
            Need::Path(path) => (!Path::new(path).exists()).then(|| path.into()),
        }
    }
}

/// Whether everything needed is here. If not, says so on stderr, for the test to return;
/// with `CI` set that is a failure instead.
pub(crate) fn can_run(test: &str, needs: &[Need]) -> bool {
    let missing: Vec<String> = needs.iter().filter_map(|n| n.missing()).collect();
    if missing.is_empty() {
        return true;
    }
    let text = format!("{test} needs {}", missing.join(", "));
    assert!(
        std::env::var_os("CI").is_none(),
        "{text}: in CI every test must run"
    );
    eprintln!("skipped: {text}");
    false
}

/// Keeps that the present test looks again, and why: what a test prints is shown only if it fails, so
/// `.ci/run` prints these at its end.
pub(crate) fn note_again(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let line = format!("{test} looked again: {why}\n");
    eprint!("{line}");
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join("again.log");
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(log);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.expect("the build directory takes files");
}

/// Does something when dropped, also when the test fails: undoes what a test did to the
/// machine.
pub(crate) struct AtEnd<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Keeps all processors busy with what gives way to anything else at once: to wake one that sleeps
/// takes a virtual machine long, and longer while its host is busy.
pub(crate) struct Awake(Vec<Child>);

impl Awake {
    pub(crate) fn new() -> Awake {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let busy = |_| {
            let mut idle = Command::new("chrt");
            idle.args(["--idle", "0", "sh", "-c", "while :; do :; done"]);
            idle.spawn().expect("chrt runs")
        };
        Awake((0..processors).map(busy).collect())
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A loop device over a file on tmpfs; both go when it is dropped, and what was set is put back:
/// settings stay with the device's number, for whoever is given it next.
pub(crate) struct LoopDevice {
    /// `/dev/loop3`.
    pub(crate) path: PathBuf,
    file: PathBuf,
    /// Files of settings, and what was in them.
    before: RefCell<Vec<(PathBuf, String)>>,
}

impl LoopDevice {
    /// A device of `bytes` bytes.
    pub(crate) fn new(name: &str, bytes: u64) -> LoopDevice {
        // Allocated, not sparse: the first write to a hole is not like the others.
        LoopDevice::over(name, |file| {
            rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes)
                .expect("room on tmpfs");
        })
    }

    /// A device of `bytes` bytes that take no room, only to be read.
    pub(crate) fn sparse(name: &str, bytes: u64) -> LoopDevice {
        LoopDevice::over(name, |file| file.set_len(bytes).expect("a sparse file"))
    }

    fn over(name: &str, fill: impl FnOnce(&std::fs::File)) -> LoopDevice {
        let file = PathBuf::from(format!("/dev/shm/sonde-test-{}-{name}", std::process::id()));
        fill(&std::fs::File::create(&file).expect("a file on tmpfs"));
        let path = succeed(
            Command::new("losetup")
                .args(["--find", "--show"])
                .arg(&file),
        );
        let device = LoopDevice {
            path: PathBuf::from(path.trim()),
            file,
            before: RefCell::default(),
        };
        as_at_first(&device.name());
        device
    }

    /// The file of a setting of its queue.
    pub(crate) fn queue(&self, setting: &str) -> PathBuf {
        let block = Path::new("/sys/block").join(self.name());
        block.join("queue").join(setting)
    }

    /// Sets `setting` of its queue, such as `scheduler`, for as long as the device lives.
    pub(crate) fn set(&self, setting: &str, value: &str) {
        let file = self.queue(setting);
        let before = std::fs::read_to_string(&file).expect("a setting");
        let chosen = before.split_once('[').and_then(|(_, r)| r.split_once(']'));
        let before = chosen.map_or(before.trim(), |(word, _)| word).to_owned();
        std::fs::write(&file, value).expect("root may");
        self.before.borrow_mut().push((file, before));
    }

    /// `loop3`.
    pub(crate) fn name(&self) -> String {
        self.path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned()
    }
}

/// Gives a loop device the settings that the kernel gave it at first, whatever a killed test left
/// behind. Without a scheduler it can have fewer requests under way than `nr_requests` says:
/// only another number makes that true again.
pub(crate) fn as_at_first(device: &str) {
    let queue = Path::new("/sys/block").join(device).join("queue");
    for (setting, value) in [
        ("scheduler", "none"),
        ("nomerges", "0"),
        ("nr_requests", "4"),
        ("nr_requests", "128"),
    ] {
        std::fs::write(queue.join(setting), value).expect("root may");
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        for (file, value) in self.before.borrow().iter().rev() {
            let _ = std::fs::write(file, value);
        }
        let _ = Command::new("losetup")
            .arg("--detach")
            .arg(&self.path)
            .output();
        let _ = std::fs::remove_file(&self.file);
    }
}
