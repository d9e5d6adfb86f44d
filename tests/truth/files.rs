//! What the tests of operations on files share: a file system of their own, and a recording
//! of what the test itself does.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and write files"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Signal;
use serde_json::Value;

use crate::recorder::Recorder;
use crate::support::{Need, can_run, get, output, scratch, succeed, total};
use crate::truth::{Totals, same};

/// What makes a recording of files only.
pub(crate) const SEEN: [&str; 3] = [
    "--with=file",
    "--sources=bpf-file",
    "--detail=distributions",
];
/// Everything has a name of its own.
pub(crate) const ALL_NAMED: [&str; 4] = [SEEN[0], SEEN[1], SEEN[2], "--top=1000"];

/// A file system in memory that nobody else uses, below `dir`.
pub(crate) struct Own {
    pub(crate) point: PathBuf,
}

impl Own {
    pub(crate) fn new(dir: &Path) -> Own {
        let point = dir.join("own");
        std::fs::create_dir(&point).expect("a directory");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64m", "sonde-test"]);
        succeed(mount.arg(&point));
        Own { point }
    }

    /// `where filesystem = …`.
    pub(crate) fn only(&self) -> String {
        format!("where filesystem = \"{}\"", self.point.display())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        output(Command::new("umount").arg("--lazy").arg(&self.point));
    }
}

/// Whether the test can run: function `f` with a directory of its own and a file system there.
pub(crate) fn with_own(name: &str, f: impl FnOnce(&Path, &Own)) {
    if let Some(_alone) = alone(name) {
        let dir = scratch(name);
        f(&dir, &Own::new(&dir));
    }
}

/// One test at a time: a recorder sees the files of all, and has places for so many only.
pub(crate) fn alone(name: &str) -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    let needs = [Need::Root, Need::Path("/sys/kernel/btf/vmlinux")];
    can_run(name, &needs).then(|| ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Records while `work` runs in this process.
pub(crate) fn observe(dir: &Path, work: impl FnOnce()) -> PathBuf {
    observe_with(dir, &["--every=100ms", "--top=1000"], work)
}

pub(crate) fn observe_with(dir: &Path, options: &[&str], work: impl FnOnce()) -> PathBuf {
    let run = dir.join("run");
    let recorder = Recorder::start(&run, &[&SEEN[..], options].concat());
    work();
    recorder.signal(Signal::INT);
    let (status, said) = recorder.end();
    assert!(status.success(), "{said}");
    run
}

/// The calls of each operation on one file.
pub(crate) fn ops(run: &Path, file: &Path) -> Totals {
    let file = file.display();
    Totals::of(run, &format!("file.ops by op where file = \"{file}\""))
}

/// Words of the groups of an expression, with their totals.
pub(crate) fn groups(run: &Path, expression: &str) -> Vec<(String, f64)> {
    let answer = get(run, expression);
    let groups = answer["groups"].as_array().expect("groups").iter();
    groups
        .map(|g| {
            let key = g["key"].as_object().expect("a key");
            let word = key.values().next().and_then(Value::as_str);
            let total = g["total"].as_f64().expect("a total");
            (word.expect("a word").to_owned(), total)
        })
        .collect()
}

/// Every table says the same of a file system that nobody else uses.
pub(crate) fn tables_agree(run: &Path, own: &Own) {
    let only = own.only();
    for op in ["open", "close", "read", "write"] {
        let only = format!("{only} and op = {op}");
        for measure in ["ops", "bytes"] {
            let whole: f64 = total(run, &format!("file.{measure} {only}"));
            for by in ["latency", "size"] {
                if by == "size" && ["open", "close"].contains(&op) {
                    continue;
                }
                let parts = get(run, &format!("file.{measure} by {by} {only}"));
                let parts = parts["groups"].as_array().expect("groups").iter();
                let sum: f64 = parts.map(|g| g["total"].as_f64().expect("a total")).sum();
                same(&format!("{measure} of {op} by {by}"), sum, whole);
            }
        }
    }
}
