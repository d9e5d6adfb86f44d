//! Operations on files: whose they are and of which file, whatever it is called; and that they
//! are observed only when asked for.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and read clocks"
)]

#[path = "truth/files.rs"]
mod files;
#[path = "support/recorder.rs"]
mod recorder;
mod support;
mod truth;

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use files::{ALL_NAMED, SEEN, alone, groups, observe, ops, with_own};
use recorder::manifest;
use serde_json::Value;
use support::{get, output, scratch, sonde, succeed};
use truth::{record_script_with, same};

/// Processes that live for a millisecond, each with its own count.
#[test]
fn short_processes_are_named_and_kept_apart() {
    with_own("file-short", |dir, own| {
        let file = own.point.join("shared");
        let show = file.display();
        let script = format!(
            "i=0
             while [ $i -lt 60 ]; do
                 i=$((i + 1))
                 dd if=/dev/zero of={show} bs=1k count=$i conv=notrunc status=none & echo $! $i
                 wait
             done"
        );
        let expression = format!("file.ops by process where file = \"{show}\" and op = write");
        let once = |attempt: usize| {
            let run = dir.join(format!("run{attempt}"));
            let text = record_script_with(&run, "100ms", &ALL_NAMED, &script);
            (groups(&run, &expression), text, run)
        };
        // What others do meanwhile takes places in the table, too: of whom there is none is `(other)`,
        // and only then is another attempt made.
        let others = |run: &Path| {
            let all = groups(run, "file.ops by process where op = write");
            all.iter()
                .any(|(process, ops)| process == "(other)" && *ops > 0.0)
        };
        let (mut counted, mut text, mut run) = once(0);
        for attempt in 1..8 {
            if counted.len() == 60 || !others(&run) {
                break;
            }
            (counted, text, run) = once(attempt);
        }
        // Of one that is not there, what is said in its place.
        let all = || get(&run, "file.ops by process, file where op = write");
        assert_eq!(counted.len(), 60, "{counted:?}\n{text}\n{}", all());
        for line in text.lines() {
            let (pid, writes) = line.split_once(' ').expect("two numbers");
            let found = counted
                .iter()
                .find(|c| c.0.starts_with(&format!("dd[{pid}@")));
            let found = found.unwrap_or_else(|| panic!("no dd[{pid}@…] in {counted:?}"));
            same(&found.0, found.1, writes.parse().expect("a number"));
        }
    });
}

/// Names that would break a terminal, a path or a record.
#[test]
fn hostile_names_are_whole_and_on_one_line() {
    with_own("file-names", |dir, own| {
        let long = "x".repeat(255);
        let mut deep = PathBuf::new();
        (0..30).for_each(|i| deep.push(format!("{i}{}", "d".repeat(100))));
        let mut deeper = PathBuf::new();
        (0..80).for_each(|i| deeper.push(format!("e{i}")));
        let raw: [(&[u8], &str); 4] = [
            (b"new\nline", "new\\nline"),
            (b"\x1b[31mred", "\\u{1b}[31mred"),
            (b"\xff\xfe bad \"quoted\"", "\\xff\\xfe bad \"quoted\""),
            (long.as_bytes(), &long),
        ];
        let at = own.point.display();
        let mut expected: Vec<String> =
            raw.iter().map(|(_, text)| format!("{at}/{text}")).collect();
        expected.push(format!("{at}/{}/leaf", deep.display()));
        let run = observe(dir, || {
            for (name, _) in raw {
                let path = own.point.join(std::ffi::OsStr::from_bytes(name));
                std::fs::write(path, "1").expect("a file");
            }
            for path in [&deep, &deeper] {
                let path = own.point.join(path);
                std::fs::create_dir_all(&path).expect("directories");
                std::fs::write(path.join("leaf"), "1").expect("a file");
            }
        });
        let counted = groups(
            &run,
            &format!("file.ops by file {} and op = write", own.only()),
        );
        for name in &expected {
            let found = counted.iter().find(|c| c.0 == *name);
            same(name, found.unwrap_or_else(|| panic!("{counted:?}")).1, 1.0);
        }
        let cut = counted
            .iter()
            .find(|c| c.0.starts_with(&format!("{at}/…/e")));
        let cut = &cut.unwrap_or_else(|| panic!("{counted:?}")).0;
        assert!(cut.ends_with("/e78/e79/leaf"), "{cut}");
        assert_eq!(counted.len(), expected.len() + 1);
    });
}

/// A file has the name that it has now, and what only a name is known of has that.
#[test]
fn names_that_change_and_names_that_lead_nowhere() {
    with_own("file-renamed", |dir, own| {
        let (draft, real) = (own.point.join("draft"), own.point.join("real"));
        let missing = own.point.join("missing");
        let run = observe(dir, || {
            std::fs::write(&draft, "1").expect("a file");
            std::fs::rename(&draft, &real).expect("renamed");
            for _ in 0..5 {
                drop(File::open(&real).expect("a file"));
            }
            for _ in 0..30 {
                assert!(File::open(&missing).is_err());
                assert!(std::fs::metadata(&missing).is_err());
            }
            // Relative to a directory that is open.
            let from = File::open(&own.point).expect("a directory");
            for _ in 0..7 {
                let flags = rustix::fs::OFlags::RDONLY;
                let mode = rustix::fs::Mode::empty();
                assert!(rustix::fs::openat(&from, "no/such", flags, mode).is_err());
            }
            std::fs::remove_file(&real).expect("gone");
        });
        same("opens", ops(&run, &draft).get("open"), 1.0);
        same("renames", ops(&run, &draft).get("rename"), 1.0);
        same("opens", ops(&run, &real).get("open"), 5.0);
        same("unlinks", ops(&run, &real).get("unlink"), 1.0);
        let counted = ops(&run, &missing);
        same("failed opens", counted.get("open-failed"), 30.0);
        same("opens", counted.get("open"), 0.0);
        same("stats", counted.get("stat"), 30.0);
        let relative = own.point.join("no/such");
        same("failed opens", ops(&run, &relative).get("open-failed"), 7.0);
    });
}

/// Nobody pays for what nobody asked for.
#[test]
fn files_are_observed_only_when_asked_for() {
    let Some(_alone) = alone("file-asked") else {
        return;
    };
    let run = scratch("file-asked").join("run");
    succeed(
        sonde()
            .args([
                "record",
                "-q",
                "--detail=distributions",
                "--for=200ms",
                "-o",
            ])
            .arg(&run),
    );
    let sources = manifest(&run)["sources"].clone();
    let names: Vec<&str> = sources
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|s| s["name"].as_str())
        .collect();
    assert!(
        names.contains(&"cpu") && !names.contains(&"bpf-file"),
        "{names:?}"
    );
    let said = output(sonde().arg("get").arg(&run).arg("file.ops"));
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("--with file"), "{said}");
    let doctor: Value =
        serde_json::from_str(&succeed(sonde().args(["doctor", "--json"]))).expect("JSON");
    let line = doctor
        .as_array()
        .expect("a list")
        .iter()
        .find(|s| s["source"] == "bpf-file");
    let line = line.expect("a line");
    assert_eq!(
        (&line["state"], &line["detail"]),
        (&"available".into(), &"with --with file".into())
    );
    let refused = output(sonde().args(["record", "--sources=bpf-file", "--for=100ms"]));
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--with file"));
}

/// A kernel without a hook lacks only what hangs on it.
#[test]
fn a_missing_hook_costs_only_what_needs_it() {
    let Some(_alone) = alone("file-hooks") else {
        return;
    };
    let dir = scratch("file-hooks");
    for (hook, state) in [
        ("io_uring_complete", "available"),
        ("sys_exit", "unsupported"),
    ] {
        let run = dir.join(hook);
        let mut record = sonde();
        record.args(["record", "-q", "--for=200ms"]).args(SEEN);
        record.arg("-o").arg(&run).env("SONDE_WITHOUT_HOOKS", hook);
        succeed(&mut record);
        let sources = manifest(&run)["sources"].clone();
        assert_eq!(sources[0]["state"], state, "without {hook}: {sources}");
    }
}
