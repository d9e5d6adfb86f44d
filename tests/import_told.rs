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
use std::io::Read;
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

/// What the question left out is told where it is why nothing is found, and only there.
#[test]
fn an_answer_without_rows_says_what_was_left_out() {
    const LEFT_OUT: &str = "only `layer = disk` counts";
    let dir = scratch("import-left-out");
    let disks = "\
Thu Mar  8 14:00:00 UTC 2018
   9       0 md0 100 0 1000 10 0 0 0 0 0 10 10
Thu Mar  8 14:00:05 UTC 2018
   9       0 md0 200 0 2000 20 0 0 0 0 0 20 20
";
    fs::write(dir.join("diskstats"), disks).unwrap();
    let out = run(&dir, &["import", "diskstats", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    for (expression, is_left_out) in [
        ("disk.ios by op where op = read", true),
        ("disk.ios by op where op = reed", false),
    ] {
        let out = run(&dir, &["get", "run", expression]);
        let text = said(&out) + &String::from_utf8_lossy(&out.stdout);
        assert!(text.contains("no rows"), "{expression}: {text}");
        assert_eq!(text.contains(LEFT_OUT), is_left_out, "{expression}: {text}");
    }
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

/// Volumes that `pmlogger` compressed are of one archive, which its own tools unpack.
#[test]
fn compressed_archives_of_pcp_are_read_by_their_own_program() {
    let dir = scratch("import-pcp-packed");
    fs::create_dir(dir.join("log")).unwrap();
    for part in ["a.0.gz", "a.1.gz", "a.meta.gz", "a.index"] {
        fs::write(dir.join("log").join(part), gzip(ARCHIVE)).unwrap();
    }
    let bin = dir.join("bin");
    fs::create_dir(&bin).unwrap();
    // Nothing else is in the path: only what a shell has itself.
    let stand_in = |name: &str, first: &str| {
        let script = format!(
            "#!/bin/sh\n[ \"$1 $2 $3\" = '-a log/a {first}' ] || exit 1\nprintf '%s\\n' \
             'Time\tdisk.dev.read_bytes[\"sda\"]' 'none\tKbyte / sec' \
             '2025-11-22T10:00:00+0000\t?' '2025-11-22T10:00:01+0000\t50.000000'\n"
        );
        fs::write(bin.join(name), script).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let import = |run: &str| {
        let mut command = sonde();
        command
            .args(["import", "log", "-o", run, "--json"])
            .current_dir(&dir);
        command.env("PATH", &bin).output().unwrap()
    };
    let read = |run_name: &str| {
        let out = run(&dir, &["get", run_name, "disk.bytes", "--json"]);
        let answer: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        answer["groups"][0]["total"].as_f64()
    };
    // Without pmrep it is the other one, and what that does is told.
    stand_in("pmdumptext", "-m");
    let out = import("text");
    assert!(out.status.success(), "{}", said(&out));
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(told["imported"].as_array().unwrap().len(), 1, "{told}");
    let notes = told["imported"][0]["notes"].to_string();
    assert!(
        notes.contains("pmdumptext read it") && notes.contains("interpolates"),
        "{notes}"
    );
    assert_eq!(read("text"), Some(50.0 * 1024.0));
    stand_in("pmrep", "-u");
    let out = import("rep");
    assert!(out.status.success(), "{}", said(&out));
    assert!(!said(&out).contains("pmdumptext"), "{}", said(&out));
    assert_eq!(read("rep"), Some(50.0 * 1024.0));
    // In an archive its tools do not see it.
    let packed = std::process::Command::new("tar")
        .args(["-cf", "log.tar", "log/a.0.gz"])
        .current_dir(&dir)
        .status();
    assert!(packed.unwrap().success());
    let out = run(&dir, &["import", "log.tar", "-o", "none"]);
    assert_eq!(out.status.code(), Some(2), "{}", said(&out));
    assert!(said(&out).contains("hint: unpack it"), "{}", said(&out));
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

/// What cannot be read, and what can be of two formats, is missing in the run: that is told with its
/// reason, and is no success. What is of no format is none of it.
#[test]
fn files_that_cannot_be_read_are_told_with_their_reasons() {
    let dir = scratch("import-unread");
    let bench = dir.join("bench");
    fs::create_dir(&bench).unwrap();
    fs::write(bench.join("vmstat"), VMSTAT).unwrap();
    let mut corrupt = gzip(VMSTAT.repeat(50).as_bytes());
    // Its checksum.
    let at = corrupt.len() - 6;
    corrupt[at] ^= 0xff;
    fs::write(bench.join("corrupt.gz"), &corrupt).unwrap();
    let iostat = "Linux 6.1.0 (box) \t2021-09-16 \t_x86_64_\t(4 CPU)\n\n\
        Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n\
        sda               5.00        20.00        10.00        200        100\n\n";
    fs::write(bench.join("both"), format!("{VMSTAT}{iostat}")).unwrap();
    fs::write(bench.join("empty"), "").unwrap();
    for name in ["n1", "n2", "n3", "n4", "n5", "n6"] {
        fs::write(bench.join(name), "Lorem ipsum dolor sit amet.\n").unwrap();
    }
    let out = run(&dir, &["import", "bench", "-o", "run", "--json"]);
    assert_eq!(out.status.code(), Some(1), "{}", said(&out));
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(told["imported"].as_array().unwrap().len(), 1, "{told}");
    let problem = told["problems"][0].as_str().unwrap();
    assert!(
        problem.starts_with("bench/corrupt.gz: not read: corrupt"),
        "{told}"
    );
    assert_eq!(told["problems"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!(told["refused"][0]["file"], "bench/both");
    assert_eq!(told["unknown"].as_array().unwrap().len(), 7, "{told}");
    let text = said(&out);
    assert!(text.contains(problem), "{text}");
    assert!(
        text.contains("bench/both: not imported: it can be"),
        "{text}"
    );
    assert!(
        text.contains("--as iostat-linux") || text.contains("--as vmstat-linux"),
        "{text}"
    );
    assert!(
        text.contains("1 file left out, as it is empty: bench/empty"),
        "{text}"
    );
    assert!(
        text.contains("6 files of no known format: bench/n1, ") && text.contains("(--json lists"),
        "{text}"
    );
    // Alone it makes nothing.
    let out = run(&dir, &["import", "bench/corrupt.gz", "-o", "alone"]);
    assert_eq!(out.status.code(), Some(2), "{}", said(&out));
    assert!(
        said(&out).contains("corrupt.gz: not read: corrupt"),
        "{}",
        said(&out)
    );
    assert!(!dir.join("alone").exists());
    // Only what is of no format is not told by the status.
    for name in ["corrupt.gz", "both"] {
        fs::remove_file(bench.join(name)).unwrap();
    }
    let out = run(&dir, &["import", "bench", "-o", "rest"]);
    assert!(out.status.success(), "{}", said(&out));
    // What is said not to be there is told, too.
    let out = run(&dir, &["import", "bench", "-o", "as", "--as", "iostat"]);
    assert!(
        said(&out).contains("it is not of iostat: it looks like vmstat-linux"),
        "{}",
        said(&out)
    );
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = flate2::read::GzEncoder::new(text, flate2::Compression::default());
    let mut bytes = Vec::new();
    packed.read_to_end(&mut bytes).unwrap();
    bytes
}

/// The first five lines are shown; the run has more of them.
#[test]
fn all_lines_that_are_not_understood_have_their_numbers() {
    let dir = scratch("import-all-lines");
    let odd: String = (1..=120).map(|i| format!("odd words {i}\n")).collect();
    fs::write(dir.join("vmstat"), format!("{VMSTAT}{odd}")).unwrap();
    let out = run(&dir, &["import", "vmstat", "-o", "run", "--json"]);
    assert!(out.status.success(), "{}", said(&out));
    let text = said(&out);
    assert!(
        text.contains("vmstat:10: not understood: odd words 5"),
        "{text}"
    );
    assert!(!text.contains("odd words 6"), "{text}");
    assert!(
        text.contains("115 lines more not understood: run.json has the first 100"),
        "{text}"
    );
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    for imported in [
        &told["imported"][0],
        &importing::manifest(&dir, "run")["imported"][0],
    ] {
        assert_eq!(imported["not_understood"], 120);
        let lines = imported["first_not_understood"].as_array().unwrap();
        assert_eq!(lines.len(), 100);
        assert_eq!(lines[99]["line"], 105);
        assert_eq!(lines[99]["text"], "odd words 100");
    }
}
