//! What `sonde import` tells of files that it does not take, of what it needs and of what others
//! left behind; and what is said of runs that were imported.

#![allow(
    clippy::disallowed_methods,
    reason = "makes the files that are imported"
)]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use importing::{import, said};
use support::{scratch, sonde};

const VMSTAT: &str = "\
$ vmstat 1
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 0  0    524 763388 147216 819640    0    0   288   108  195 2509  4  3 93  0  0
 1  0    524 763388 147216 819640    0    0     0    64   57   96 10 20 70  0  0
";

/// The first bytes of a volume of an archive.
const ARCHIVE: &[u8] = &[0, 0, 0, 0x84, 0x50, 0x05, 0x26, 0x02, 0, 0, 0, 1];

fn run(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = sonde();
    command.args(arguments).current_dir(dir);
    command.output().expect("sonde runs")
}

#[test]
fn json_has_the_files_that_were_not_taken() {
    let dir = scratch("import-json");
    fs::create_dir(dir.join("bench")).unwrap();
    fs::write(dir.join("bench/vmstat"), VMSTAT).unwrap();
    fs::write(dir.join("bench/text"), "Lorem ipsum dolor sit amet.\n").unwrap();
    let undated = VMSTAT.replace("$ vmstat 1\n", "");
    fs::write(dir.join("bench/undated"), undated).unwrap();
    let out = run(&dir, &["import", "bench", "-o", "run", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(told["imported"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!(told["unknown"][0]["file"], "bench/text");
    assert_eq!(told["refused"][0]["file"], "bench/undated");
    let why = told["refused"][0]["why"].as_str().unwrap();
    assert!(why.contains("--every"), "{why}");
}

#[test]
fn what_a_killed_import_left_is_removed() {
    let dir = scratch("import-left");
    fs::write(dir.join("vmstat"), VMSTAT).unwrap();
    let left = dir.join("other.part-4242");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("disk.parquet.part"), "half of a table").unwrap();
    let out = run(&dir, &["import", "vmstat", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    assert!(!left.exists());
    assert!(said(&out).contains("other.part-4242, which a killed import left"));
}

/// What is recorded with which source is no help where nothing was recorded.
#[test]
fn an_imported_run_is_not_told_to_record() {
    let dir = scratch("import-hints");
    fs::write(dir.join("vmstat"), VMSTAT).unwrap();
    assert!(
        run(&dir, &["import", "vmstat", "-o", "run"])
            .status
            .success()
    );
    for expression in ["disk.ios by latency", "net.bytes", "file.ops by file"] {
        let out = run(&dir, &["get", "run", expression]);
        let text = said(&out);
        assert!(!out.status.success(), "{expression}");
        assert!(text.contains("imported from vmstat-linux"), "{text}");
        assert!(
            !text.contains("--detail") && !text.contains("--with"),
            "{text}"
        );
    }
}

#[test]
fn a_picture_of_nothing_says_so() {
    let dir = scratch("import-nothing");
    fs::write(dir.join("vmstat"), VMSTAT).unwrap();
    assert!(
        run(&dir, &["import", "vmstat", "-o", "run"])
            .status
            .success()
    );
    let out = run(&dir, &["plot", "run", "cpu.time where mode = sleeping"]);
    let text = said(&out);
    assert!(text.contains("no rows"), "{text}");
    assert!(text.contains("sonde get run 'cpu.time by mode'"), "{text}");
}

/// Notes and lines that are not understood fit a terminal.
#[test]
fn messages_fit_eighty_columns() {
    let dir = scratch("import-width");
    let long = "x".repeat(300);
    fs::write(dir.join("vmstat"), format!("{VMSTAT}{long}\n")).unwrap();
    let out = run(&dir, &["import", "vmstat", "-o", "run"]);
    let text = said(&out);
    assert!(text.contains("not understood: xxx"), "{text}");
    assert!(text.contains("--processors N"), "{text}");
    let widest = text.lines().map(|l| l.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}: {text}");
}

/// With its program an archive of PCP is one file; without, it is refused with the way out.
#[test]
fn archives_of_pcp_are_read_by_their_own_program() {
    let dir = scratch("import-pcp");
    fs::create_dir(dir.join("log")).unwrap();
    for part in ["a.0", "a.1", "a.meta", "a.index"] {
        fs::write(dir.join("log").join(part), ARCHIVE).unwrap();
    }
    let mut command = sonde();
    command
        .args(["import", "log/a.0", "-o", "run"])
        .current_dir(&dir);
    let out = command.env("PATH", dir.join("none")).output().unwrap();
    assert!(said(&out).contains("install pcp"), "{}", said(&out));
    let bin = dir.join("bin");
    fs::create_dir(&bin).unwrap();
    let stand_in = "#!/bin/sh\n\
        [ \"$1 $2\" = '-a log/a.0' ] || exit 1\n\
        cat <<EOF\n\
        [ 1] - disk.dev.read_bytes[\"sda\"] - Kbyte/s\n\
        \n\
        \x20                                1\n\
        2025-11-22T10:00:00+0000       N/A\n\
        2025-11-22T10:00:10+0000    50.000\n\
        EOF\n";
    fs::write(bin.join("pmrep"), stand_in).unwrap();
    fs::set_permissions(bin.join("pmrep"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = sonde();
    command
        .args(["import", "log", "-o", "run", "--json"])
        .current_dir(&dir);
    let path = format!("{}:{path}", bin.display());
    let out = command.env("PATH", path).output().unwrap();
    assert!(out.status.success(), "{}", said(&out));
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(told["imported"].as_array().unwrap().len(), 1, "{told}");
    let out = run(&dir, &["get", "run", "disk.bytes", "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(answer["groups"][0]["total"], 50.0 * 1024.0 * 10.0);
}

/// Noon of a summer's day in Berlin.
#[test]
fn zones_have_their_summer_time() {
    if !Path::new("/usr/share/zoneinfo/Europe/Berlin").exists() {
        assert!(std::env::var_os("CI").is_none(), "no zones are installed");
        return;
    }
    let dir = scratch("import-summer");
    fs::write(dir.join("vmstat"), VMSTAT).unwrap();
    let noon = "2026-07-01 12:00";
    let out = run(
        &dir,
        &[
            "import",
            "vmstat",
            "-o",
            "run",
            "--start",
            noon,
            "--tz",
            "Europe/Berlin",
        ],
    );
    assert!(out.status.success(), "{}", said(&out));
    let made = fs::read_to_string(dir.join("run/run.json")).unwrap();
    assert!(made.contains("2026-07-01T10:00:00.000000000Z"), "{made}");
}

#[test]
fn unknown_zones_are_refused_and_offsets_need_none() {
    let dir = scratch("import-zones");
    fs::write(dir.join("vmstat"), VMSTAT).unwrap();
    let import = |zone: &str| run(&dir, &["import", "vmstat", "-o", "run", "--tz", zone]);
    let text = said(&import("Mars/Olympus"));
    assert!(
        text.contains("--tz Mars/Olympus: ") && text.contains("+02:00"),
        "{text}"
    );
    let out = import("+02:00");
    assert!(out.status.success(), "{}", said(&out));
}

#[test]
fn a_file_that_is_not_what_was_said_is_told_what_it_looks_like() {
    let dir = scratch("import-as");
    let text = "Linux 6.1.0 (box) \t2021-09-16 \t_x86_64_\t(4 CPU)\n\n\
        20:40:00        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
        20:40:10        all     25.00      0.00      0.00      0.00      0.00     75.00\n";
    std::fs::write(dir.join("a.txt"), text).unwrap();
    let out = import(&dir, &["a.txt", "--as", "vmstat", "-o", "run"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(
        said(&out).contains("it is not of vmstat: it looks like sar"),
        "{}",
        said(&out)
    );
}
