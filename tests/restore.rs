//! What a killed experiment left changed is put back by the next command, which says so.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs, write files and set what is put back"
)]

mod support;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use support::{LoopDevice, Need, can_run, output, scratch, sonde};

/// A disk whose read-ahead an experiment changed, before it and its guardian were killed.
struct Left {
    disk: LoopDevice,
    state: PathBuf,
    before: String,
}

impl Left {
    fn new(name: &str) -> Left {
        let disk = LoopDevice::new(name, 1 << 20);
        let state = scratch(name);
        let mut left = Left {
            disk,
            state,
            before: String::new(),
        };
        left.before = left.value();
        std::fs::write(left.file(), "4096").expect("it can be set");
        left.journal(&left.before, &left.file().with_file_name("."));
        left
    }

    fn file(&self) -> PathBuf {
        self.disk.queue("read_ahead_kb")
    }

    fn value(&self) -> String {
        let text = std::fs::read_to_string(self.file()).expect("it is there");
        text.trim().to_owned()
    }

    /// Writes a journal that says that the value was `was`.
    fn journal(&self, was: &str, queue: &Path) {
        let node = std::fs::metadata(queue).expect("a queue").ino().to_string();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("Linux");
        let entry = json!({
            "knob": format!("disk:{}.read_ahead_kb", self.disk.name()),
            "identity": {"node": node}, "was": was,
            "command": format!("echo {was} > {}", self.file().display()),
            "lasts": false, "rank": 1,
        });
        let journal = json!({
            "version": 1, "id": "0", "boot": boot.trim(), "pid": u32::MAX >> 1,
            "what": "a test", "entries": [entry],
        });
        std::fs::write(self.state.join("undo.json"), journal.to_string()).expect("room");
    }

    fn sonde(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let out = output(sonde().env("SONDE_STATE", &self.state).args(arguments));
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        (out.status.code(), said)
    }

    fn is_closed(&self) -> bool {
        !self.state.join("undo.json").exists()
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        let _ = std::fs::write(self.file(), &self.before);
    }
}

const NEEDS: &[Need] = &[Need::Root, Need::Program("losetup")];

#[test]
fn the_next_command_puts_back_and_says_so() {
    if !can_run("what the next command does", NEEDS) {
        return;
    }
    let left = Left::new("next-command");
    // These only tell of the program.
    for quiet in ["--version", "--help"] {
        assert_eq!(left.sonde(&[quiet]), (Some(0), String::new()));
        assert_eq!(left.value(), "4096");
    }
    let (code, said) = left.sonde(&["catalog", "disk"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("an experiment was killed; put back 1 setting"),
        "{said}"
    );
    let told = format!("disk:{}.read_ahead_kb = {}", left.disk.name(), left.before);
    assert!(said.contains(&told), "{said}");
    assert_eq!(left.value(), left.before);
    assert!(left.is_closed());
    // Said once.
    assert_eq!(left.sonde(&["catalog", "disk"]), (Some(0), String::new()));
}

#[test]
fn what_is_not_back_is_told_by_every_command_until_it_is() {
    if !can_run("what cannot be put back", NEEDS) {
        return;
    }
    let left = Left::new("not-back");
    left.journal("nonsense", &left.file().with_file_name("."));
    for _ in 0..2 {
        let (code, said) = left.sonde(&["catalog", "disk"]);
        assert_eq!(code, Some(0), "the command does its work: {said}");
        assert!(said.contains("NOT PUT BACK"), "{said}");
        assert!(
            said.contains("as root: echo nonsense > /sys/block/"),
            "{said}"
        );
        assert!(said.contains("sonde try --recover"), "{said}");
    }
    left.journal("4096", &left.file().with_file_name("."));
    let (_, said) = left.sonde(&["catalog", "disk"]);
    assert!(said.contains("its settings are as they were"), "{said}");
    assert!(left.is_closed());
}

#[test]
fn an_experiment_at_work_is_left_alone() {
    if !can_run("a living experiment", NEEDS) {
        return;
    }
    let left = Left::new("living");
    let path = left.state.join("undo.json");
    let text = std::fs::read_to_string(&path).expect("a journal");
    // This process holds the lock, as an experiment would.
    let own = text.replace(
        &(u32::MAX >> 1).to_string(),
        &std::process::id().to_string(),
    );
    std::fs::write(&path, own).expect("room");
    let lock = std::fs::File::create(left.state.join("lock")).expect("room");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("free");
    assert_eq!(left.sonde(&["catalog", "disk"]), (Some(0), String::new()));
    assert_eq!(left.value(), "4096");
    drop(lock);
    let (_, said) = left.sonde(&["catalog", "disk"]);
    assert!(said.contains("put back"), "{said}");
    assert_eq!(left.value(), left.before);
}

/// Another user is told, and can do nothing.
#[test]
fn another_user_is_told() {
    if !can_run(
        "another user",
        &[NEEDS, &[Need::Program("setpriv")]].concat(),
    ) {
        return;
    }
    let left = Left::new("other-user");
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command
        .arg(env!("CARGO_BIN_EXE_sonde"))
        .args(["catalog", "disk"]);
    let out = output(command.env("SONDE_STATE", &left.state));
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(said.contains("sonde try --recover"), "{said}");
    assert_eq!(left.value(), "4096");
    assert!(!left.is_closed());
}

/// A journal that another user wrote is not followed by root.
#[test]
fn a_journal_of_another_user_is_not_followed() {
    if !can_run("a strange journal", NEEDS) {
        return;
    }
    let left = Left::new("strange");
    let path = left.state.join("undo.json");
    std::os::unix::fs::chown(&path, Some(65534), Some(65534)).expect("root may");
    let (_, said) = left.sonde(&["catalog", "disk"]);
    assert!(said.contains("belongs to user 65534"), "{said}");
    assert_eq!(left.value(), "4096");
}

/// The guardian is no command: without an experiment it ends at once.
#[test]
fn a_guardian_without_an_experiment_ends() {
    let dir = scratch("guardian");
    for arguments in [&["(guardian)"][..], &["(guardian)", "a", "b", "c"]] {
        let out = output(sonde().args(arguments));
        assert_eq!(out.status.code(), Some(3));
    }
    let stdin = std::process::Stdio::null();
    let out = output(sonde().arg("(guardian)").arg(dir).arg("0").stdin(stdin));
    assert_eq!(out.status.code(), Some(0), "{out:?}");
}
