//! What a person reads: lines that fit 80 columns, numbers with sensible digits, means that
//! are means.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and write files"
)]

mod support;

use std::path::{Path, PathBuf};

use run::rows::TableId;
use run::write::Writer;
use run::{Manifest, Sink};
use support::{Need, can_run, get, scratch, sonde, succeed};

const SECOND: i64 = 1_000_000_000;
const STARTED: i64 = 1_700_000_000 * SECOND;

fn manifest() -> Manifest {
    serde_json::from_value(serde_json::json!({
        "format": 1, "sonde": "0.1.0", "id": "synthetic", "name": "synthetic", "host": "example",
        "state": "recording", "started": run::manifest::rfc3339(STARTED),
        "ended": run::manifest::rfc3339(STARTED + 10 * SECOND), "every_seconds": 1.0,
    }))
    .unwrap()
}

/// Nine seconds with 1000 reads of 1 MiB and 0.1 ms each, and one with a single read of
/// 90 ms; beside them 8 KiB written once.
fn uneven(name: &str) -> PathBuf {
    let dir = scratch(name).join("run");
    let mut writer = Writer::create(&dir, &manifest()).unwrap();
    let mut sink = Sink::new();
    let table = TableId::of("disk");
    let read = ["vda", "disk", "read"].map(|w| sink.word(w));
    let write = ["vda", "disk", "write"].map(|w| sink.word(w));
    for second in 1..=10_i64 {
        let time = STARTED + second * SECOND;
        sink.at(time, 1.0);
        let (ios, seconds) = if second < 10 {
            (1000.0, 0.1)
        } else {
            (1.0, 0.09)
        };
        sink.row(table, &read, &[ios, ios * 1048576.0, 0.0, seconds, 0.0]);
        let bytes = if second == 5 { 8192.0 } else { 0.0 };
        sink.row(table, &write, &[bytes / 8192.0, bytes, 0.0, 0.0, 0.0]);
        writer.append(&mut sink, time);
    }
    writer.finish(manifest()).unwrap();
    dir
}

/// The line of a picture's legend that begins with a mark and `name`, as words.
fn legend(run: &Path, arguments: &[&str], name: &str) -> Vec<String> {
    let text = succeed(sonde().arg("plot").arg(run).args(arguments));
    let starts = |l: &&str| l.chars().skip(2).collect::<String>().starts_with(name);
    let line = text.lines().find(starts);
    let line = line.unwrap_or_else(|| panic!("no {name} in {text}"));
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_mean_beside_a_line_is_that_of_all_io() {
    let run = uneven("legend");
    let expression = "disk.mean_latency where op = read";
    // 0.99 s over 9001 I/Os. The mean of the ten intervals' means would be 9.1 ms.
    let answer = get(&run, expression);
    let mean = answer["groups"][0]["mean"].as_f64().unwrap();
    assert!((mean - 0.99 / 9001.0).abs() < 1e-12, "{answer}");
    let whole = legend(&run, &[expression], "disk.mean_latency ");
    assert_eq!(whole[2..], ["0.11", "ms", "90.0", "ms"]);
    // 0.19 s over 1001 I/Os.
    let part = legend(&run, &[expression, "--from", "8.5s"], "disk.mean_latency ");
    assert_eq!(part[2..], ["0.19", "ms", "90.0", "ms"]);
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn a_table_has_one_unit_a_column_and_no_exponents() {
    let run = uneven("columns");
    let text = succeed(sonde().arg("get").arg(&run).arg("disk.bytes by op"));
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|l| l.split_whitespace().collect())
        .collect();
    assert_eq!(lines[1][1..3], ["total", "MiB"], "{text}");
    assert_eq!(lines[2][..2], ["read", "9001"], "{text}");
    // 8 KiB are 0.0078 MiB.
    assert_eq!(lines[3][..2], ["write", "0.008"], "{text}");
    let counts = succeed(sonde().arg("get").arg(&run).arg("disk.ios where op = read"));
    assert!(counts.contains("\n 9001 "), "whole and exact: {counts}");
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

/// What sonde shows on a terminal of 80 columns.
fn on_80_columns(arguments: &str, dir: &Path) -> String {
    let command = format!(
        "stty cols 80 rows 24; exec {} {arguments}",
        env!("CARGO_BIN_EXE_sonde")
    );
    // Of util-linux: makes a terminal for the command.
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &command, "/dev/null"]);
    let shown = succeed(script.current_dir(dir).stdin(std::process::Stdio::null()));
    shown.replace('\r', "")
}

#[test]
fn screens_fit_80_columns() {
    let run = uneven("columns80");
    let of_run: &[&[&str]] = &[&["show"], &["get"], &["plot"]];
    let mut screens = vec![
        succeed(sonde().arg("doctor")),
        succeed(sonde().arg("catalog")),
    ];
    for words in of_run {
        let mut command = sonde();
        command.args(*words).arg(&run);
        if words[0] != "show" {
            command.arg("disk.bytes by device, op");
        }
        screens.push(succeed(&mut command));
    }
    for name in [
        "record", "mark", "show", "get", "plot", "list", "catalog", "doctor",
    ] {
        screens.push(succeed(sonde().args([name, "--help"]).env("COLUMNS", "80")));
    }
    // As it is called without `-o`: it stays whole, being what other commands take.
    let named = run.with_file_name("true-20261123-134856");
    std::fs::rename(&run, &named).unwrap();
    let dir = run.parent().unwrap();
    let listed = on_80_columns("list", dir);
    assert!(listed.contains("true-20261123-134856 "), "{listed}");
    let from_afar = on_80_columns(&format!("list {}", dir.display()), Path::new("/"));
    screens.extend([listed, from_afar]);
    // Who reads from a pipe takes the path.
    let piped = succeed(sonde().arg("list").arg(dir));
    assert!(piped.contains(named.to_str().unwrap()), "{piped}");
    for screen in &screens {
        let long = screen.lines().find(|l| l.chars().count() > 80);
        assert_eq!(long, None, "{screen}");
    }
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

/// Mounts that were used, with what reached the server and the means over all operations; and clients.
#[test]
fn nfs_has_its_tables() {
    let run = scratch("screen-nfs").join("run");
    let mut writer = Writer::create(&run, &manifest()).unwrap();
    let mut sink = Sink::new();
    sink.at(STARTED + 10 * SECOND, 10.0);
    let table = TableId::of("nfs");
    for (mount, op, ops) in [
        ("/a", "READ", 90.0),
        ("/a", "GETATTR", 10.0),
        ("/idle", "READ", 0.0),
    ] {
        let key = [mount, op].map(|w| sink.word(w));
        let (received, queue, round_trip, time) = (0.0, 0.0, ops / 500.0, ops / 250.0);
        let values = [ops, ops, 0.0, 0.0, 0.0, received, queue, round_trip, time];
        sink.row(table, &key, &values);
    }
    let table = TableId::of("nfs_bytes");
    for (layer, bytes) in [("server", 10485760.0), ("program", 52428800.0)] {
        let key = ["/a", "read", layer].map(|w| sink.word(w));
        sink.row(table, &key, &[bytes]);
    }
    let key = ["v4 READ", "10.0.0.7", "/x"].map(|w| sink.word(w));
    sink.row(TableId::of("nfsd_file"), &key, &[50.0, 1048576.0, 0.5]);
    writer.append(&mut sink, STARTED + 10 * SECOND);
    writer.finish(manifest()).unwrap();
    let told = succeed(sonde().arg("show").arg(&run));
    let lines: Vec<Vec<&str>> = told
        .lines()
        .map(|l| l.split_whitespace().collect())
        .collect();
    let mount = "/a 1.00 MiB/s - 10.0/s 4.00 ms 2.00 ms";
    let client = "10.0.0.7 102 KiB/s 5.00/s 10.0 ms";
    for row in [mount, client] {
        let words: Vec<&str> = row.split(' ').collect();
        assert!(lines.contains(&words), "{row}: {told}");
    }
    assert!(!told.contains("/idle"), "{told}");
}

#[test]
fn the_name_of_a_source_stands_apart() {
    let told = succeed(sonde().arg("doctor"));
    let seen = succeed(sonde().args(["doctor", "--json"]));
    let seen: serde_json::Value = serde_json::from_str(&seen).expect("JSON");
    let all = seen.as_array().expect("a list");
    assert!(!all.is_empty());
    for source in all {
        let [name, state] = ["source", "state"].map(|f| source[f].as_str().expect("text"));
        let stands = |line: &str| line.split_whitespace().take(2).eq([name, state]);
        assert!(told.lines().any(stands), "{name} {state}: {told}");
    }
}

#[test]
fn nothing_found_says_how_to_see_what_there_is() {
    let run = uneven("nothing");
    let text = succeed(
        sonde()
            .arg("get")
            .arg(&run)
            .arg("disk.bytes where device = sda"),
    );
    assert!(text.contains("no rows"), "{text}");
    assert!(text.contains("'disk.bytes by device'"), "{text}");
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

/// Two tests of one dimension that nothing passes, a directory that is not there, no time at all.
#[test]
fn what_to_do_is_told_and_told_once() {
    let run = uneven("once");
    let expression = "disk.bytes where device = sda and device != vda";
    let text = succeed(sonde().arg("get").arg(&run).arg(expression));
    assert_eq!(text.matches("'disk.bytes by device'").count(), 1, "{text}");
    let picture = ["disk.bytes", "-o", "/nonexistent/picture.png"];
    let out = support::output(sonde().arg("plot").arg(&run).args(picture));
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("mkdir -p /nonexistent\n"), "{said}");
    let never = ["disk.bytes", "--from", "20s"];
    let out = support::output(sonde().arg("plot").arg(&run).args(never));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(
        said.contains("hint: both count from the run's start"),
        "{said}"
    );
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn common_slips_are_told_with_what_to_do() {
    let slips: [(&[&str], &str); 3] = [
        (
            &["get", "run", "disk.bytes", "where", "op", "=", "read"],
            "needs quotes",
        ),
        (&["record", "sleep", "1"], "after --"),
        (&["show", "."], "`sonde list DIR`"),
    ];
    for (arguments, told) in slips {
        let out = support::output(
            sonde()
                .args(arguments)
                .current_dir(env!("CARGO_MANIFEST_DIR")),
        );
        assert_eq!(out.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(said.contains(told), "{arguments:?}: {said}");
        assert!(out.stdout.is_empty(), "{arguments:?}");
    }
}

/// What a command did after the last sample is its own, not the recorder's: it is read
/// before it is waited for. The interval is so long that the end is the only sample.
#[test]
fn what_the_command_wrote_is_charged_to_it() {
    if !can_run(
        "charge",
        &[Need::Path("/proc/self/io"), Need::Program("dd")],
    ) {
        return;
    }
    // Not below /tmp, which may be in memory.
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("charge-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (run, file) = (dir.join("run"), dir.join("written"));
    let mut record = sonde();
    record
        .arg("record")
        .arg("-o")
        .arg(&run)
        .args(["--every", "1h", "--", "dd"]);
    record.args(["if=/dev/zero", "bs=1M", "count=32", "conv=fsync"]);
    record.arg(format!("of={}", file.display()));
    succeed(&mut record);
    let of = |command: &str| {
        support::total(
            &run,
            &format!("process.bytes where op = write and command = {command}"),
        )
    };
    // dd's own count; the file system may add a little of its own.
    let wrote = f64::from(32 << 20);
    assert!((wrote..wrote * 1.01).contains(&of("dd")), "{}", of("dd"));
    assert!(of("sonde") < wrote * 0.1, "{}", of("sonde"));
    std::fs::remove_dir_all(&dir).unwrap();
}
