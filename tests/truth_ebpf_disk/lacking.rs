//! Hosts that lack a tracepoint, or refuse programs: the recording goes on and says so.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::recorder::manifest;
use crate::support::{Need, can_run, output, scratch, sonde, total};
use crate::truth::{DiskLine, same};
use crate::undisturbed::Lacking;
use crate::{LOOK, NEEDS, alone, buckets, quiet_device, sum};

/// The entry of that name in a list of `run.json`.
fn entry(run: &Path, list: &str, name: &str) -> Value {
    let manifest = manifest(run);
    let entries = manifest[list].as_array().expect("a list");
    let found = entries.iter().find(|e| e["name"] == name);
    found
        .unwrap_or_else(|| panic!("no {name} in {manifest}"))
        .clone()
}

/// Records a read of `device` by a kernel that seems to lack `hook`; with what it said.
fn recorded_without(hook: &str, device: &Path) -> (PathBuf, String) {
    let run = scratch(&format!("without-{hook}")).join("run");
    let mut record = sonde();
    record.args(["record", "--every", "100ms", "-o"]).arg(&run);
    record
        .args(LOOK)
        .args(["--", "dd", "of=/dev/null", "bs=4k"]);
    record.args(["count=1000", "iflag=direct"]);
    record.arg(format!("if={}", device.display()));
    let out = output(record.env("SONDE_WITHOUT_HOOKS", hook));
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{said}");
    (run, said)
}

#[test]
fn without_a_needed_tracepoint_it_is_unsupported() {
    if !can_run("without_a_needed_tracepoint_it_is_unsupported", NEEDS) {
        return;
    }
    let _alone = alone();
    let (_lock, device) = quiet_device("no-issue");
    let (run, said) = recorded_without("block_rq_issue", &device.path);
    let state = entry(&run, "sources", "bpf-disk");
    assert_eq!(state["state"], "unsupported", "{state}");
    let needs = state["detail"].as_str().expect("what it needs");
    assert!(needs.contains("block_rq_issue"), "{needs}");
    // The name alone is in the path of the run, too.
    let told = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = "not observed: bpf-disk (needs the kernel's tracepoint block_rq_issue)";
    assert!(told.contains(wanted), "{said}");
    // The others go on.
    let part = format!("where device = {} and op = read", device.name());
    same("reads", total(&run, &format!("disk.ios {part}")), 1000.0);
}

#[test]
fn without_a_useful_tracepoint_the_rest_is_told() {
    if !can_run("without_a_useful_tracepoint_the_rest_is_told", NEEDS) {
        return;
    }
    let _alone = alone();
    let (_lock, device) = quiet_device("no-insert");
    let before = DiskLine::now(&device.name());
    let (run, _) = recorded_without("block_rq_insert", &device.path);
    let counted = DiskLine::now(&device.name()).since(&before);
    let state = entry(&run, "sources", "bpf-disk");
    assert_eq!(state["state"], "available", "{state}");
    let program = entry(&run, "programs", "disk_insert");
    assert_eq!(program["state"], "unsupported", "{program}");
    assert_eq!(program["hook"], "block_rq_insert");
    for name in ["disk_issue", "disk_complete"] {
        assert_eq!(entry(&run, "programs", name)["state"], "attached");
    }
    let part = format!("where device = {} and op = read", device.name());
    let seen = sum(&buckets(&run, &format!("disk.ios by latency {part}")));
    let counted = counted.of(0)[0];
    Lacking::of(&run, counted).ios("reads", seen, counted);
}

#[test]
fn without_root_it_is_denied_and_says_the_remedy() {
    let needs = [NEEDS, &[Need::Program("setpriv")]].concat();
    if !can_run("without_root_it_is_denied_and_says_the_remedy", &needs) {
        return;
    }
    let _alone = alone();
    let dir = scratch("denied");
    // Where another user can reach it.
    std::fs::copy(env!("CARGO_BIN_EXE_sonde"), dir.join("sonde")).expect("a copy");
    std::os::unix::fs::chown(&dir, Some(65534), Some(65534)).expect("root may");
    let mut record = Command::new("setpriv");
    record.args([
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
        "--",
    ]);
    record.arg(dir.join("sonde")).current_dir(&dir);
    record
        .args(["record", "--every", "100ms", "-o", "run"])
        .args(LOOK);
    // Some work of a known kind: the kernel counts processor time in ticks.
    let work = "timeout 0.5 sh -c 'while :; do :; done'; exit 7";
    record.args(["--", "sh", "-c", work]);
    let out = output(record.env_remove("SONDE_RUN"));
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(7), "{said}");
    let run = dir.join("run");
    let state = entry(&run, "sources", "bpf-disk");
    assert_eq!(state["state"], "denied", "{state}");
    let remedy = state["detail"].as_str().expect("a remedy");
    assert!(
        remedy.contains("sudo sonde") && remedy.contains("CAP_BPF"),
        "{remedy}"
    );
    assert!(total(&run, "cpu.time") > 0.0, "the rest is recorded");
}
