//! Recordings that only their own tools read: those are asked to print them.
#![allow(
    clippy::disallowed_methods,
    reason = "makes the files that are imported"
)]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use importing::{import, manifest, said, total};
use support::scratch;

/// The program, if it is installed; it has to be where all tests run.
fn installed(program: &str) -> Option<&Path> {
    let path = Path::new(program);
    if !path.exists() {
        assert!(std::env::var_os("CI").is_none(), "{program} is missing");
        return None;
    }
    Some(path)
}

/// Times of all processors in a run.
fn processors(dir: &Path, run: &str) -> [f64; 4] {
    ["cpu.time", "cpu.idle", "cpu.iowait", "cpu.steal"].map(|e| total(dir, run, e))
}

/// The recording compressed, in an archive, and both is the same.
fn packed_is_the_same(dir: &Path, recording: &str, all: [f64; 4]) {
    let packed = format!("{recording}.gz");
    for (program, arguments) in [
        ("gzip", &["-k", recording][..]),
        ("tar", &["-czf", "plain.tgz", recording]),
        ("tar", &["-cf", "packed.tar", &packed]),
    ] {
        let status = Command::new(program)
            .args(arguments)
            .current_dir(dir)
            .status();
        assert!(status.unwrap().success());
    }
    for file in [&packed, "plain.tgz", "packed.tar"] {
        let run = format!("{file}.run");
        let out = import(dir, &[file, "-o", &run, "--tz", "UTC"]);
        assert!(out.status.success(), "{file}: {}", said(&out));
        assert_eq!(processors(dir, &run), all, "{file}");
    }
}

/// One that is damaged is refused.
fn damaged_is_refused(dir: &Path, magic: &[u8], why: &str) {
    fs::write(dir.join("bad"), [magic, &[1, 2, 3, 4, 5]].concat()).unwrap();
    let out = import(dir, &["bad", "-o", "bad.run"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(said(&out).contains(why), "{}", said(&out));
    assert!(!dir.join("bad.run").exists());
}

/// A file of `sadc` is read by `sadf`.
#[test]
fn those_of_sysstat() {
    let Some(sadc) = installed("/usr/lib/sysstat/sadc") else {
        return;
    };
    let dir = scratch("import-sadc");
    let made = Command::new(sadc)
        .args(["-S", "DISK", "1", "3", "day.sa"])
        .current_dir(&dir)
        .status();
    assert!(made.unwrap().success());
    let out = import(&dir, &["day.sa", "-o", "run", "--tz", "UTC"]);
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(manifest(&dir, "run")["imported"][0]["format"], "sadf-json");
    let all = processors(&dir, "run");
    assert!(all.iter().sum::<f64>() > 0.9, "{all:?}");
    packed_is_the_same(&dir, "day.sa", all);
    damaged_is_refused(&dir, &[0x96, 0xd5], "sadf cannot read it");
    fs::remove_dir_all(dir).unwrap();
}

/// A file of `atop -w` is read by `atop`.
#[test]
fn those_of_atop() {
    let Some(atop) = installed("/usr/bin/atop") else {
        return;
    };
    let dir = scratch("import-atop");
    let made = Command::new(atop)
        .args(["-w", "day.atop", "1", "3"])
        .current_dir(&dir)
        .status();
    assert!(made.unwrap().success());
    let out = import(&dir, &["day.atop", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    let told = manifest(&dir, "run");
    assert_eq!(told["imported"][0]["format"], "atop");
    assert_eq!(told["imported"][0]["not_understood"], 0);
    let all = processors(&dir, "run");
    // Two intervals of a second, of each processor; ticks of 10 ms.
    let count = std::thread::available_parallelism().unwrap().get() as f64;
    let sum: f64 = all.iter().sum();
    assert!((sum / count - 2.0).abs() < 0.3, "{all:?} of {count}");
    packed_is_the_same(&dir, "day.atop", all);
    damaged_is_refused(&dir, &[0xef, 0xbe, 0xed, 0xfe], "atop cannot read it");
    // Where it is not installed, what to do is said.
    let without = support::sonde()
        .args(["import", "day.atop", "-o", "without"])
        .env("PATH", "/nowhere")
        .current_dir(&dir)
        .output()
        .unwrap();
    assert_eq!(without.status.code(), Some(2));
    assert!(
        said(&without).contains("atop -r FILE -P ALL"),
        "{}",
        said(&without)
    );
    fs::remove_dir_all(dir).unwrap();
}
