//! `sonde import`: files, directories, archives, pipes; what is not understood, and what is
//! missing.

#![allow(
    clippy::disallowed_methods,
    reason = "makes the files that are imported, and waits"
)]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use importing::{VMSTAT, import, manifest, said, total};
use support::{scratch, sonde};

/// The same with the time of each line.
const STAMPED: &str = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free  inact active   si   so    bi    bo   in   cs us sy id wa st                 UTC
 2  0      0 2794716 295968 312724    0    0     1     3   29   57  0  0 99  0  0 2021-09-16 20:33:13
 0  0      0 2794716 295968 312744    0    0     0   100   41   84  0  0 100  0  0 2021-09-16 20:33:18
 0  0      0 2794716 295968 312752    0    0     0   200   41   84  0  0 100  0  0 2021-09-16 20:33:23
";

const OWN: &str = "\
name = \"blinker\"
[column]
when = { time = \"epoch\" }
dev = { is = \"device\" }
rd_kib = { measure = \"disk.bytes\", op = \"read\", unit = \"KiB/s\" }
";

#[test]
fn a_file_becomes_a_run() {
    let dir = scratch("import-file");
    fs::write(dir.join("vmstat.out"), VMSTAT).unwrap();
    let out = import(
        &dir,
        &[
            "vmstat.out",
            "-o",
            "run",
            "--every",
            "5s",
            "--start",
            "2012-03-04 10:00",
            "--tz",
            "UTC",
        ],
    );
    assert!(out.status.success(), "{}", said(&out));
    // KiB a second, times five seconds each; the first report is since boot.
    assert_eq!(
        total(&dir, "run", "vm.paged_out"),
        (64.0 + 128.0) * 1024.0 * 5.0
    );
    assert_eq!(total(&dir, "run", "cpu.time where mode = user"), 0.4 * 5.0);
    let made = manifest(&dir, "run");
    assert_eq!(made["started"], "2012-03-04T10:00:00.000000000Z");
    assert_eq!(made["ended"], "2012-03-04T10:00:10.000000000Z");
    assert_eq!(made["imported"][0]["samples"], 2);
    assert_eq!(made["imported"][0]["times"], "start");
    let shown = sonde()
        .args(["show", "run"])
        .current_dir(&dir)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("vmstat-linux"), "{shown}");
}

/// An interval is never assumed, and nothing is left behind.
#[test]
fn what_is_missing_is_asked_for() {
    let dir = scratch("import-missing");
    fs::write(dir.join("vmstat.out"), VMSTAT).unwrap();
    fs::write(dir.join("text"), "Lorem ipsum dolor sit amet.\n").unwrap();
    fs::write(dir.join("empty"), "").unwrap();
    let header = VMSTAT.lines().take(2).collect::<Vec<_>>().join("\n");
    fs::write(dir.join("header"), header).unwrap();
    for (arguments, wanted) in [
        (&["vmstat.out"][..], "--every 1s"),
        (&["vmstat.out", "--every", "x"], "for example 500ms"),
        (&["text"], "no known format"),
        (&["text", "--as", "vmstat-linux"], "no numbers in it"),
        (&["header", "--every", "1s"], "no numbers in it"),
        (&["vmstat.out", "--as", "vmstad"], "did you mean"),
        (&["empty"], "empty"),
        (&["absent"], "no such file"),
        (
            &["vmstat.out", "--every", "1s", "--tz", "Mars/X"],
            "no such zone",
        ),
        (
            &["vmstat.out", "--every", "1s", "--start", "soon"],
            "not a time",
        ),
        (
            &[
                "vmstat.out",
                "--every",
                "1s",
                "--tz",
                "Europe/Berlin",
                "--start",
                "2026-03-29 02:30",
            ],
            "does not exist: the clock was put forward",
        ),
        (
            &[
                "vmstat.out",
                "--every",
                "1s",
                "--tz",
                "Europe/Berlin",
                "--start",
                "2026-10-25 02:30",
            ],
            "is there twice: the clock was put back\nhint: say the offset: 2026-10-25T02:30:00+02 or 2026-10-25T02:30:00+01",
        ),
        (&["-", "vmstat.out"], "stands alone"),
    ] {
        let mut all = arguments.to_vec();
        all.extend(["-o", "run"]);
        let out = import(&dir, &all);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {}", said(&out));
        assert!(said(&out).contains(wanted), "{arguments:?}: {}", said(&out));
    }
    let left: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert_eq!(left.len(), 4, "{left:?}");
    // As the hint says.
    let second = ["--every", "1s", "--start", "2026-10-25T02:30:00+01"];
    let out = import(
        &dir,
        &[&["vmstat.out", "-o", "summer"], &second[..]].concat(),
    );
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(
        manifest(&dir, "summer")["started"],
        "2026-10-25T01:30:00.000000000Z"
    );
    // A run is never overwritten.
    fs::create_dir(dir.join("run")).unwrap();
    let out = import(&dir, &["vmstat.out", "--every", "1s", "-o", "run"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(said(&out).contains("exists already"), "{}", said(&out));
}

#[test]
fn lines_that_are_not_understood_are_told() {
    let dir = scratch("import-lines");
    let text = VMSTAT.replace(" 1  0 ", " 1 xx ");
    fs::write(dir.join("vmstat.out"), text).unwrap();
    let out = import(&dir, &["vmstat.out", "--every", "1s", "-o", "run"]);
    assert!(out.status.success());
    assert!(
        said(&out).contains("vmstat.out:4: not understood"),
        "{}",
        said(&out)
    );
    assert_eq!(manifest(&dir, "run")["imported"][0]["not_understood"], 1);
    let out = import(
        &dir,
        &["vmstat.out", "--every", "1s", "-o", "strict", "--strict"],
    );
    assert_eq!(out.status.code(), Some(2));
    assert!(!dir.join("strict").exists());
}

/// A directory is one run: each file by its content, compressed or not; one that has the same
/// at the same time is left out, and that is told.
#[test]
fn a_directory_is_one_run() {
    let dir = scratch("import-directory");
    let bench = dir.join("bench/deeper");
    fs::create_dir_all(&bench).unwrap();
    fs::write(bench.join("stamped"), STAMPED).unwrap();
    fs::write(dir.join("bench/notes.md"), "# What we did\n").unwrap();
    for (program, name) in [
        ("gzip", "a.gz"),
        ("bzip2", "b.bz2"),
        ("xz", "c.xz"),
        ("zstd", "d.zst"),
    ] {
        if Command::new(program).arg("--version").output().is_err() {
            assert!(std::env::var_os("CI").is_none(), "{program} is missing");
            continue;
        }
        let mut packer = Command::new(program)
            .arg("-c")
            .stdin(Stdio::piped())
            .stdout(fs::File::create(dir.join("bench").join(name)).unwrap())
            .spawn()
            .unwrap();
        packer
            .stdin
            .take()
            .unwrap()
            .write_all(VMSTAT.as_bytes())
            .unwrap();
        assert!(packer.wait().unwrap().success());
    }
    let out = import(&dir, &["bench", "--every", "5s", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    let text = said(&out);
    assert!(
        text.contains("1 file of no known format: bench/notes.md"),
        "{text}"
    );
    // All but one are of the same time.
    assert!(text.contains("are left out"), "{text}");
    let made = manifest(&dir, "run");
    let times: Vec<&str> = made["imported"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["times"].as_str().unwrap())
        .collect();
    assert!(
        times.contains(&"text") && times.contains(&"first file"),
        "{times:?}"
    );
    let once = total(&dir, "run", "vm.paged_out");
    let wanted = [(64.0 + 128.0) * 5120.0, (100.0 + 200.0) * 5120.0];
    assert!(wanted.contains(&once), "{once} of {wanted:?}");
}

#[test]
fn members_of_archives_are_files() {
    let dir = scratch("import-archive");
    fs::write(dir.join("stamped"), STAMPED).unwrap();
    let packed = Command::new("tar")
        .args(["-czf", "bench.tgz", "stamped"])
        .current_dir(&dir)
        .status()
        .unwrap();
    assert!(packed.success());
    let out = import(&dir, &["bench.tgz", "-o", "run", "--json"]);
    assert!(out.status.success(), "{}", said(&out));
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(told["imported"][0]["file"], "bench.tgz:stamped");
    assert_eq!(total(&dir, "run", "vm.paged_out"), 300.0 * 5120.0);
    // A run is no input, and an archive that is cut is told.
    let out = import(&dir, &["run", "-o", "again"]);
    assert!(said(&out).contains("is a run already"), "{}", said(&out));
    let whole = fs::read(dir.join("bench.tgz")).unwrap();
    fs::write(dir.join("cut.tgz"), &whole[..whole.len() / 2]).unwrap();
    let out = import(&dir, &["cut.tgz", "-o", "cut"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(said(&out).contains("cut.tgz"), "{}", said(&out));
}

/// Of a compressed file that was cut off, what can be unpacked is imported, and that is told.
#[test]
fn what_is_there_of_a_cut_file_is_imported() {
    let dir = scratch("import-cut");
    let mut text = String::from(VMSTAT);
    // Much that does not repeat, so that what is there is many blocks.
    let row = VMSTAT.lines().last().unwrap();
    let mut state = 1_u64;
    for _ in 0..20_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let interrupts = format!(" {} ", state >> 48);
        text += &row.replacen(" 57 ", &interrupts, 1);
        text.push('\n');
    }
    fs::write(dir.join("plain"), &text).unwrap();
    for (program, name) in [("gzip", "v.gz"), ("xz", "v.xz"), ("zstd", "v.zst")] {
        let packed = Command::new(program)
            .args(["-c", "plain"])
            .current_dir(&dir)
            .output();
        let Ok(packed) = packed else {
            assert!(std::env::var_os("CI").is_none(), "{program} is missing");
            continue;
        };
        let whole = packed.stdout;
        fs::write(dir.join(name), &whole[..whole.len() / 2]).unwrap();
        let out = import(&dir, &[name, "--every", "5s", "-o", program, "--json"]);
        assert_eq!(out.status.code(), Some(1), "{}", said(&out));
        let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let samples = told["imported"][0]["samples"].as_u64().unwrap();
        assert!((100..20_000).contains(&samples), "{program}: {samples}");
        let problem = told["problems"][0].as_str().unwrap();
        assert!(problem.contains("is cut off"), "{problem}");
        let out = import(&dir, &[name, "--every", "5s", "-o", "strict", "--strict"]);
        assert_eq!(out.status.code(), Some(2), "{}", said(&out));
        assert!(!dir.join("strict").exists());
    }
}

/// Logs of a run's jobs stand side by side, and so do those of bytes beside those of I/Os; the
/// run's JSON, which is exact, counts before them. It also tells of which fio they are.
#[test]
fn logs_of_fio_are_of_their_jobs() {
    let dir = scratch("import-fio-logs");
    let files = dir.join("files");
    fs::create_dir_all(&files).unwrap();
    for job in 1..=2 {
        let log = |kind: &str| files.join(format!("a_{kind}.{job}.log"));
        fs::write(log("bw"), "1000, 1, 0, 0\n2000, 3, 0, 0\n").unwrap();
        fs::write(log("iops"), "1000, 5, 0, 0\n2000, 7, 0, 0\n").unwrap();
    }
    let out = import(&dir, &["files", "-o", "logs"]);
    assert!(out.status.success(), "{}", said(&out));
    assert!((total(&dir, "logs", "workload.bytes") - 8192.0).abs() < 1e-6);
    assert!((total(&dir, "logs", "workload.ops") - 24.0).abs() < 1e-9);

    fs::write(
        files.join("a.json"),
        r#"{ "fio version" : "fio-2.21", "timestamp" : 1500000002, "jobs" : [
  { "jobname" : "a", "groupid" : 0, "read" : {
    "io_bytes" : 9, "runtime" : 2000, "total_ios" : 25 } } ] }
"#,
    )
    .unwrap();
    fs::write(
        files.join("a_lat.1.log"),
        "1000, 20, 0, 0\n2000, 30, 0, 0\n",
    )
    .unwrap();
    let out = import(&dir, &["files", "-o", "all"]);
    assert!(out.status.success(), "{}", said(&out));
    assert!((total(&dir, "all", "workload.bytes") - 9.0 * 1024.0).abs() < 1e-6);
    assert!((total(&dir, "all", "workload.ops") - 25.0).abs() < 1e-9);
    let notes = manifest(&dir, "all")["imported"].to_string();
    assert!(
        notes.contains("tells the same time with more measures") && notes.contains("microseconds"),
        "{notes}"
    );
    let alone = import(&dir, &["files/a_lat.1.log", "-o", "alone"]);
    assert_eq!(alone.status.code(), Some(2), "{}", said(&alone));
    assert!(said(&alone).contains("--fio-version"), "{}", said(&alone));
}

/// Numbers of two machines are not added.
#[test]
fn files_of_two_machines_are_refused() {
    let dir = scratch("import-machines");
    for host in ["one", "two"] {
        let text = format!(
            "Linux 5.10.0 ({host})\t2021-09-16\t_x86_64_\t(2 CPU)\n\n\
             avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           \
             1.00    0.00    2.00    0.00    0.00   97.00\n\n\
             Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n\
             sda               5.00        20.00        10.00        200        100\n\n"
        );
        fs::write(dir.join(host), text.repeat(2)).unwrap();
    }
    let out = import(&dir, &["one", "two", "--every", "1s", "-o", "run"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(said(&out).contains("2 machines"), "{}", said(&out));
    let out = import(
        &dir,
        &["one", "two", "--every", "1s", "--host", "x", "-o", "run"],
    );
    assert!(out.status.success(), "{}", said(&out));
}

/// A tool that nobody has heard of, by a description of its table.
#[test]
fn a_described_table_is_imported() {
    let dir = scratch("import-own");
    fs::write(dir.join("own.toml"), OWN).unwrap();
    let text = "when dev rd_kib load\n1600000000 sda 10 0.5\n1600000002 sda 20 0.7\n";
    fs::write(dir.join("out.txt"), text).unwrap();
    let out = import(&dir, &["out.txt", "--as", "own.toml", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    // 10 and 20 KiB a second, two seconds each.
    assert_eq!(
        total(&dir, "run", "disk.bytes where op = read"),
        30.0 * 1024.0 * 2.0
    );
    let load = ["get", "run", "other.blinker.load", "--csv"];
    let out = sonde().args(load).current_dir(&dir).output().unwrap();
    assert!(
        String::from_utf8_lossy(&out.stdout).contains("0.6"),
        "{}",
        said(&out)
    );
    fs::write(dir.join("bad.toml"), "nonsense = 1\n").unwrap();
    let out = import(&dir, &["out.txt", "--as", "bad.toml", "-o", "bad"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(said(&out).contains("bad.toml"), "{}", said(&out));
}

/// Names of files and lines cannot draw on the terminal.
#[test]
fn hostile_names_are_told_harmlessly() {
    let dir = scratch("import-hostile");
    let name = "a\u{1b}[31m\nb.out";
    fs::write(dir.join(name), VMSTAT.replace(" 1  0 ", " 1 \u{7}x ")).unwrap();
    let out = import(&dir, &[name, "--every", "1s", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    let all = [out.stdout.clone(), out.stderr.clone()].concat();
    assert!(!all.contains(&0x1b) && !all.contains(&7), "{}", said(&out));
}

/// Interrupted in the middle of a file, it leaves nothing behind.
#[test]
fn an_interrupted_file_leaves_nothing() {
    let dir = scratch("import-stopped");
    let body: String = VMSTAT.lines().skip(2).map(|l| format!("{l}\n")).collect();
    let header: String = VMSTAT.lines().take(2).map(|l| format!("{l}\n")).collect();
    fs::write(dir.join("big"), header + &body.repeat(800_000)).unwrap();
    let child = sonde()
        .args(["import", "big", "--every", "1s", "-o", "run"])
        .current_dir(&dir)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = |entry: fs::DirEntry| entry.file_name().to_string_lossy().contains("part");
    for _ in 0..400 {
        if fs::read_dir(&dir).unwrap().flatten().any(begun) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // A program that sends it would be as long in coming as the import takes, where others want the
    // processors.
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(130), "{}", said(&out));
    let left: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert_eq!(left, ["big"], "{}", said(&out));
}

/// As `zip -` writes it, which cannot go back to tell lengths; cut off, it has no directory.
#[test]
fn a_zip_that_was_written_to_a_pipe_is_read() {
    let dir = scratch("import-zip");
    let mut zip = zip::ZipWriter::new_stream(Vec::new());
    let options = zip::write::SimpleFileOptions::default();
    for name in ["first", "second"] {
        zip.start_file(name, options).unwrap();
        zip.write_all(
            STAMPED
                .replace("2021", if name == "first" { "2021" } else { "2020" })
                .as_bytes(),
        )
        .unwrap();
    }
    let whole = zip.finish().unwrap().into_inner();
    fs::write(dir.join("bench.zip"), &whole).unwrap();
    let out = import(&dir, &["bench.zip", "-o", "run", "--json"]);
    assert!(out.status.success(), "{}", said(&out));
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(told["imported"][1]["file"], "bench.zip:second");
    fs::write(dir.join("cut.zip"), &whole[..whole.len() / 2]).unwrap();
    let out = import(&dir, &["cut.zip", "-o", "cut"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(said(&out).contains("cut.zip"), "{}", said(&out));
}

#[test]
fn links_in_archives_are_told() {
    let dir = scratch("import-links");
    fs::write(dir.join("stamped"), STAMPED).unwrap();
    std::os::unix::fs::symlink("elsewhere", dir.join("link")).unwrap();
    let packed = Command::new("tar")
        .args(["-cf", "bench.tar", "stamped", "link"])
        .current_dir(&dir)
        .status();
    assert!(packed.unwrap().success());
    let out = import(&dir, &["bench.tar", "-o", "run", "--json"]);
    assert_eq!(out.status.code(), Some(1), "{}", said(&out));
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let problem = told["problems"][0].as_str().unwrap();
    assert!(problem.contains("bench.tar:link: a link"), "{problem}");
}

/// One of the machine's files tells how many there are.
#[test]
fn processors_that_one_file_tells_are_those_of_the_others() {
    let dir = scratch("import-processors");
    let files = dir.join("files");
    fs::create_dir_all(&files).unwrap();
    let half = STAMPED.replace("0  0 100  0  0", "50  0 50  0  0");
    fs::write(files.join("a.txt"), half).unwrap();
    let later = "Linux 6.1.0 (box) \t2021-09-16 \t_x86_64_\t(4 CPU)\n\n\
        20:40:00        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
        20:40:10        all     25.00      0.00      0.00      0.00      0.00     75.00\n";
    fs::write(files.join("b.txt"), later).unwrap();
    let out = import(&dir, &["files", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    let said = said(&out);
    assert!(
        said.contains("b.txt tells how many processors there were: 4"),
        "{said}"
    );
    assert!(!said.contains("--processors"), "{said}");
    // Two intervals of 5 s with half of four, and one of 10 s with a quarter.
    assert_eq!(
        total(&dir, "run", "cpu.time where mode = user"),
        20.0 + 10.0
    );
}

/// The option is for dates that can be read in two ways.
#[test]
fn an_order_that_a_date_cannot_have_does_not_lose_it() {
    let dir = scratch("import-order");
    let text = "Linux 6.1.0 (box) \t11/23/26 \t_x86_64_\t(4 CPU)\n\n\
        20:40:00        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
        20:40:10        all     25.00      0.00      0.00      0.00      0.00     75.00\n";
    fs::write(dir.join("sar.txt"), text).unwrap();
    let out = import(
        &dir,
        &["sar.txt", "-o", "run", "--date-order", "dmy", "--tz", "UTC"],
    );
    assert!(out.status.success(), "{}", said(&out));
    let started = manifest(&dir, "run")["started"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(started.starts_with("2026-11-23T20:40:00"), "{started}");
}
