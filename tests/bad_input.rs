//! Bad input: one clear message that says what to do, exit status 2, never a panic.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs, write files and look at the clock"
)]

#[path = "support/refusal.rs"]
mod refusal;
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use refusal::{recorded, refuses};
use support::{AtEnd, Need, can_run, output, scratch, sonde, succeed, total};

#[test]
fn words_that_do_not_exist() {
    let dir = scratch("words");
    recorded(&dir.join("r"));
    for (arguments, what, todo) in [
        (&["recrod"][..], "recrod", "record"),
        (&["frobnicate"], "frobnicate", "--help"),
        (&["get", "--jsn", "r", "cpu.time"], "--jsn", "--json"),
        (
            &["record", "--sources", "cpuu"],
            "no source `cpuu`",
            "did you mean cpu?",
        ),
        (
            &["record", "--sources", "cpu,"],
            "no source ``",
            "there are: cpu",
        ),
        (
            &["get", "r", "cpuu.time"],
            "no subject `cpuu`",
            "did you mean cpu?",
        ),
        (
            &["get", "r", "qqqq.time"],
            "no subject `qqqq`",
            "there are: ",
        ),
        (
            &["get", "r", "cpu.tme"],
            "no measure `tme`",
            "did you mean time?",
        ),
        (
            &["get", "r", "cpu"],
            "`cpu` is not a statistic",
            "sonde catalog",
        ),
        (
            &["get", "r", "cpu.time by mod"],
            "no dimension `mod`",
            "did you mean mode?",
        ),
        (
            &["get", "r", "cpu.time where mod = x"],
            "no dimension `mod`",
            "did you mean mode?",
        ),
        (
            &["get", "r", "cpu.time by mode, mode"],
            "named twice",
            "^^^^",
        ),
        (
            &["get", "r", "cpu.time by time"],
            "series itself",
            "--series",
        ),
        (
            &["get", "r", "cpu.time where time > 10xs"],
            "unknown unit `xs`",
            "known: ns us ms",
        ),
        (
            &["get", "r", "cpu.time where time > x"],
            "`x` is not a number",
            "^",
        ),
        (
            &["get", "r", "cpu.time where cpu ? 1"],
            "expected an operator",
            "operators: =",
        ),
        (
            &["get", "r", "cpu.time where cpu ~ '('"],
            "not a regular expression",
            "^^^",
        ),
        (
            &["get", "r", "cpu.time where cpu = '1"],
            "quote is never closed",
            "^",
        ),
        (
            &["get", "r", ""],
            "expected a statistic",
            "disk.bytes by device",
        ),
        (&["get", "r", "cpu.time by"], "expected a dimension", "^"),
        (&["get", "r", "--series"], "required", "EXPR"),
        (&["get"], "required", "RUN"),
        (
            &["catalog", "dsk"],
            "no subject `dsk`",
            "did you mean disk?",
        ),
        (&["completion", "tcsh"], "tcsh", "bash"),
    ] {
        refuses(&dir, arguments, what, todo);
    }
}

#[test]
fn values_that_cannot_be() {
    let dir = scratch("values");
    for (arguments, what, todo) in [
        (&["--every", "0"][..], "--every", "10ms to 1h"),
        (&["--every", "9ms"], "--every", "10ms to 1h"),
        (&["--every", "2h"], "--every", "10ms to 1h"),
        (&["--every", "abc"], "--every abc", "for example 500ms"),
        (&["--every=-1s"], "--every", ""),
        (&["--every", "1e999s"], "--every", ""),
        (&["--every", "nan"], "--every", ""),
        (&["--every", ""], "--every", "for example 500ms"),
        (&["--for", "0"], "--for", "longer than nothing"),
        (&["--for", "1e300s"], "--for", "at most 10000d"),
        (&["--for", "inf"], "--for", ""),
        (&["--for", "abc"], "--for abc", "for example 500ms"),
        (&["--note", "abc"], "--note abc", "KEY=VALUE"),
        (&["--note", "=abc"], "--note =abc", "KEY=VALUE"),
        (
            &["--note", "a=1", "--note", "a=2"],
            "--note a=",
            "one value",
        ),
        (&["--top", "0"], "0", "1..=1000"),
        (&["--top", "x"], "x", ""),
    ] {
        let mut all = vec!["record", "-o", "run"];
        all.extend(arguments);
        all.extend(["--", "true"]);
        refuses(&dir, &all, what, todo);
        assert_eq!(
            fs::read_dir(&dir).unwrap().count(),
            0,
            "{arguments:?} left something"
        );
    }
}

#[test]
fn what_is_not_a_run() {
    let dir = scratch("not-a-run");
    let newer = r#"{"format": 99, "sonde": "7.1.0"}"#;
    for (name, text) in [
        ("other", "{\"a\": 1}"),
        ("list", "[1, 2]"),
        ("newer", newer),
        ("cut", "{\"format\": 1, \"sonde\": \"0.1.0\", \"id\": \"x"),
        ("blank", ""),
        ("fields", "{\"format\": 1}"),
        ("binary", "\u{0}\u{1}\u{2}"),
    ] {
        fs::create_dir(dir.join(name)).unwrap();
        fs::write(dir.join(name).join("run.json"), text).unwrap();
    }
    fs::create_dir(dir.join("empty")).unwrap();
    fs::create_dir_all(dir.join("folder/run.json")).unwrap();
    fs::write(dir.join("file"), "text").unwrap();
    for (run, what) in [
        ("missing", "there is no such directory"),
        ("file", "it is not a directory"),
        ("empty", "it has no run.json"),
        ("other", "its run.json is of something else"),
        ("list", "its run.json is of something else"),
        ("newer", "run format 99"),
        ("cut", "run.json is damaged"),
        ("blank", "run.json is damaged"),
        ("fields", "run.json is damaged"),
        ("binary", "run.json is damaged"),
        ("folder", "cannot read folder/run.json"),
    ] {
        for command in [&["show", run][..], &["get", run, "cpu.time"]] {
            refuses(&dir, command, what, "hint: ");
        }
    }
    refuses(&dir, &["show", "newer"], "newer", "Sonde 7.1.0 or newer");
    // One that opens is listed among those that do not; each of these is named.
    recorded(&dir.join("good"));
    let out = output(sonde().args(["list", "."]).current_dir(&dir));
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stdout).contains("good"));
    let told = String::from_utf8_lossy(&out.stderr).into_owned();
    for bad in ["other", "newer", "cut", "blank"] {
        assert!(told.contains(bad), "{bad}: {told}");
    }
}

#[test]
fn an_existing_path_is_never_recorded_into() {
    let dir = scratch("existing");
    recorded(&dir.join("run"));
    fs::create_dir(dir.join("empty")).unwrap();
    fs::write(dir.join("file"), "mine").unwrap();
    let content = |run: &Path| -> Vec<(PathBuf, Vec<u8>)> {
        let mut all: Vec<_> = fs::read_dir(run)
            .unwrap()
            .flatten()
            .map(|e| (e.path(), fs::read(e.path()).unwrap()))
            .collect();
        all.sort();
        all
    };
    let before = content(&dir.join("run"));
    for path in ["run", "empty", "file"] {
        let arguments = ["record", "-o", path, "--", "touch", "started"];
        refuses(
            &dir,
            &arguments,
            &format!("{path} exists already"),
            "choose another name",
        );
    }
    refuses(
        &dir,
        &["record", "-o", "file/run"],
        "cannot create file",
        "-o names",
    );
    assert!(!dir.join("started").exists(), "the command ran");
    assert!(content(&dir.join("run")) == before, "the run was touched");
    assert_eq!(fs::read(dir.join("file")).unwrap(), b"mine");
    assert_eq!(fs::read_dir(dir.join("empty")).unwrap().count(), 0);
}

/// sonde as the user nobody, in `dir`.
fn as_nobody(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    command.args([
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
        "--",
    ]);
    command
        .arg(dir.join("sonde"))
        .args(arguments)
        .current_dir(dir);
    command.env_remove("SONDE_RUN");
    command
}

/// A directory of nobody, with the binary where nobody can reach it.
fn for_nobody(name: &str) -> PathBuf {
    let dir = scratch(name);
    fs::copy(env!("CARGO_BIN_EXE_sonde"), dir.join("sonde")).unwrap();
    std::os::unix::fs::chown(&dir, Some(65534), Some(65534)).unwrap();
    dir
}

#[test]
fn without_permission() {
    if !can_run("another user", &[Need::Root, Need::Program("setpriv")]) {
        return;
    }
    let dir = for_nobody("permission");
    let closed = dir.join("closed");
    recorded(&closed);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let part = dir.join("part");
    recorded(&part);
    fs::set_permissions(part.join("cpu.parquet"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(dir.join("theirs")).unwrap();
    for (arguments, what) in [
        (
            &["record", "-o", "theirs/run", "--", "touch", "started"][..],
            "cannot create theirs/run",
        ),
        (
            &["record", "-o", "theirs/a/b", "--", "touch", "started"],
            "cannot create theirs/a",
        ),
        (
            &["show", "closed"],
            "cannot read closed/run.json: Permission denied",
        ),
        (&["get", "part", "cpu.time"], "cannot read part/cpu.parquet"),
        (&["list", "closed"], "cannot read closed"),
    ] {
        let out = output(&mut as_nobody(&dir, arguments));
        let told = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(
            told.contains(what) && told.contains("ermission denied"),
            "{arguments:?}: {told}"
        );
    }
    assert_eq!(fs::read_dir(dir.join("theirs")).unwrap().count(), 0);
    let mut other = as_nobody(&dir, &["get", "part", "memory.available", "--json"]);
    assert!(
        succeed(&mut other).contains("\"mean\""),
        "other tables open"
    );
}

#[test]
fn without_root_it_works_and_says_what_root_would_add() {
    if !can_run("another user", &[Need::Root, Need::Program("setpriv")]) {
        return;
    }
    let dir = for_nobody("nobody");
    let arguments = [
        "record", "-q", "--every", "50ms", "-o", "run", "--", "sh", "-c",
    ];
    let script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo out; exit 3";
    let out = output(as_nobody(&dir, &arguments).arg(script));
    let told = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(3), "{told}");
    assert_eq!(out.stdout, b"out\n");
    let run = dir.join("run");
    assert!(total(&run, "cpu.time") > 0.0);
    // Its own processes are named: the one that was busy. (The recorder may have used less than a tick
    // of the kernel's, which has no row.)
    let own = succeed(&mut as_nobody(
        &dir,
        &["get", "run", "process.time by process", "--csv"],
    ));
    assert!(own.contains("\nsh["), "{own}");
    let doctor = succeed(&mut as_nobody(&dir, &["doctor", "--json"]));
    let doctor: serde_json::Value = serde_json::from_str(&doctor).unwrap();
    let all = doctor.as_array().unwrap();
    for name in ["cpu", "memory", "disk", "net"] {
        let found = all.iter().find(|s| s["source"] == name).expect(name);
        assert_eq!(found["state"], "available", "{found}");
    }
    let root: serde_json::Value =
        serde_json::from_str(&succeed(sonde().args(["doctor", "--json"]))).unwrap();
    for (with, without) in root.as_array().unwrap().iter().zip(all) {
        if with["state"] == "available" && without["state"] != "available" {
            assert_eq!(without["state"], "denied", "{without}");
        }
        if without["state"] == "denied" {
            assert!(!without["detail"].as_str().unwrap().is_empty(), "{without}");
        }
    }
}

#[test]
fn a_closed_or_full_stdout() {
    let dir = scratch("stdout");
    recorded(&dir.join("run"));
    let binary = env!("CARGO_BIN_EXE_sonde");
    for command in [
        "catalog",
        "get run cpu.time",
        "show run",
        "list",
        "doctor",
        "--help",
    ] {
        for (redirect, statuses) in [
            ("| head -c 1 >/dev/null", &[0][..]),
            (">&-", &[0, 1]),
            (">&- 2>&-", &[0, 1]),
            ("</dev/null >/dev/full", &[1]),
        ] {
            let mut shell = Command::new("sh");
            let script = format!("'{binary}' {command} {redirect}");
            shell
                .args(["-c", &script])
                .current_dir(&dir)
                .env_remove("SONDE_RUN");
            let out = output(shell.stdin(Stdio::null()));
            let told = String::from_utf8_lossy(&out.stderr);
            let status = out.status.code().unwrap();
            assert!(statuses.contains(&status), "{script}: {status} {told}");
            assert!(!told.contains("panicked"), "{script}: {told}");
            if redirect.ends_with("full") {
                assert!(
                    told.contains("writing to stdout: No space left"),
                    "{script}: {told}"
                );
            }
        }
    }
}

#[test]
fn a_reader_of_a_run_that_goes_away_is_told() {
    let dir = scratch("gone");
    let run = dir.join("run");
    recorded(&run);
    let _again = AtEnd(|| drop(fs::remove_dir_all(&run)));
    fs::remove_file(run.join("run.json")).unwrap();
    refuses(&dir, &["show", "run"], "it has no run.json", "hint: ");
}
