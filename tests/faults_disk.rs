//! A full disk and a run directory that is taken away: the command goes on, and what was
//! recorded stays readable.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs, write files and look at the clock"
)]

#[path = "support/recorder.rs"]
mod recorder;
mod support;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use recorder::{Recorder, ending, manifest, series, sleep};
use serde_json::Value;
use support::{Need, can_run, get, output, scratch, sonde, succeed, total};

/// A file system in memory of `size` bytes, unmounted at the end.
struct SmallDisk {
    path: PathBuf,
}

impl SmallDisk {
    fn new(name: &str, size: &str) -> SmallDisk {
        let path = scratch(name);
        let options = format!("size={size}");
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(&path);
        succeed(&mut mount);
        SmallDisk { path }
    }

    /// Fills all that is free; the file's path.
    fn fill(&self) -> PathBuf {
        let path = self.path.join("ballast");
        let mut file = File::create(&path).unwrap();
        for block in [64 << 10, 4096] {
            while std::io::Write::write_all(&mut file, &vec![1; block]).is_ok() {}
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(&self.path)
            .output();
        let _ = fs::remove_dir(&self.path);
    }
}

const NEEDS: [Need; 2] = [Need::Root, Need::Program("mount")];

fn losses(run: &Path) -> Vec<Value> {
    manifest(run)["loss"].as_array().unwrap().clone()
}

fn nanos(time: &Value) -> i128 {
    let time: jiff::Timestamp = time.as_str().unwrap().parse().unwrap();
    time.as_nanosecond()
}

/// A time of the manifest, in seconds since the start.
fn since_start(run: &Path, time: &Value) -> f64 {
    (nanos(time) - nanos(&manifest(run)["started"])) as f64 / 1e9
}

/// Every sample is either in the run or within a loss that the manifest states.
fn check_that_losses_are_told(run: &Path) {
    let points = series(run, "self.samples");
    let stated: Vec<(f64, f64)> = losses(run)
        .iter()
        .map(|l| (since_start(run, &l["from"]), since_start(run, &l["to"])))
        .collect();
    let within = |at: f64| stated.iter().any(|(from, to)| (*from..=*to).contains(&at));
    for p in &points {
        assert!(
            !within(p.at),
            "a sample at {} is there, and told lost: {stated:?}",
            p.at
        );
    }
    // Ticks between a sample and the next are either told as missed, or lie within a loss.
    let every = manifest(run)["every_seconds"].as_f64().unwrap();
    // Ticks are whole multiples of the interval on the wall clock.
    let started = nanos(&manifest(run)["started"]).rem_euclid((every * 1e9) as i128);
    let tick = |at: f64| ((started as f64 / 1e9 + at) / every + 1e-6).floor();
    let mut last = points[0].at;
    for p in &series(run, "self.missed")[1..] {
        let ticks = tick(p.at) - tick(last) - 1.0;
        let missed = (p.value * p.interval).round();
        assert!(
            ticks <= missed || stated.iter().any(|(from, to)| *from > last && *to < p.at),
            "samples between {last} and {} are missing and not told: {stated:?}",
            p.at
        );
        last = p.at;
    }
}

#[test]
fn a_disk_that_fills_up_is_survived_and_told() {
    if !can_run("a full disk", &NEEDS) {
        return;
    }
    let disk = SmallDisk::new("full", "256k");
    let run = disk.path.join("run");
    let recorder = Recorder::start(
        &run,
        &["--every", "10ms", "--", "sh", "-c", "sleep 5; exit 7"],
    );
    let (status, said) = recorder.end();
    assert_eq!(status.code(), Some(7), "{said}");
    let lost: f64 = losses(&run)
        .iter()
        .map(|l| l["rows"].as_f64().unwrap())
        .sum();
    assert!(lost > 0.0, "the disk was not full: {said}");
    for loss in losses(&run) {
        let text = format!("lost {} rows, from 0:0", loss["rows"]);
        assert!(said.contains(&text), "{text}: {said}");
        assert!(
            loss["why"].as_str().unwrap().contains("No space left"),
            "{loss}"
        );
    }
    assert!(said.contains("could not be sealed"), "{said}");
    assert!(said.contains("it can be read from its journal"), "{said}");

    assert_eq!(ending(&run), "exit 7, not sealed");
    let screen = succeed(sonde().arg("show").arg(&run));
    assert!(screen.contains("not sealed"), "{screen}");
    assert!(screen.contains("No space left"), "{screen}");
    assert!(total(&run, "self.samples") > 10.0);
    check_that_losses_are_told(&run);
    // Whoever asks for a number is told, too: after the last row there is none that could tell.
    let answer = get(&run, "memory.bytes");
    assert_eq!(answer["lost_rows"].as_f64(), Some(lost), "{answer}");
    let text = succeed(sonde().args(["get"]).arg(&run).arg("memory.bytes"));
    assert!(text.contains("rows were lost from"), "{text}");
    let first = losses(&run)[0]["from"].clone();
    let before = since_start(&run, &first) - 0.1;
    let early = format!("memory.bytes where time in 0s..{before:.3}s");
    let answer = get(&run, &early);
    assert_eq!(answer["lost_rows"], serde_json::Value::Null, "{answer}");
}

#[test]
fn recording_goes_on_when_there_is_room_again() {
    if !can_run("room again", &NEEDS) {
        return;
    }
    let disk = SmallDisk::new("room", "4m");
    let run = disk.path.join("run");
    let script = "sleep 7; exit 3";
    let recorder = Recorder::start(&run, &["--every", "20ms", "--", "sh", "-c", script]);
    // Full for a time, twice; each is a loss of its own.
    for _ in 0..2 {
        sleep(1.0);
        let ballast = disk.fill();
        sleep(1.6);
        fs::remove_file(ballast).unwrap();
    }
    let (status, said) = recorder.end();
    assert_eq!(status.code(), Some(3), "{said}");
    assert_eq!(ending(&run), "exit 3", "sealed: {said}");
    assert_eq!(losses(&run).len(), 2, "{said}");
    check_that_losses_are_told(&run);
    let points = series(&run, "self.samples");
    let (first, last) = (points[0].at, points.last().unwrap().at);
    let end = since_start(&run, &manifest(&run)["ended"]);
    assert!(
        first < 0.1 && (last - end).abs() < 0.001,
        "{first} to {last} of {end}"
    );
    let counted = total(&run, "self.lost_rows");
    let stated: f64 = losses(&run)
        .iter()
        .map(|l| l["rows"].as_f64().unwrap())
        .sum();
    assert_eq!(counted, stated, "rows lost, as counted while recording");
}

#[test]
fn without_room_to_seal_the_journal_is_the_run() {
    if !can_run("no room to seal", &NEEDS) {
        return;
    }
    let disk = SmallDisk::new("seal", "2m");
    let run = disk.path.join("run");
    let script = "sleep 2.5; echo out; exit 5";
    let recorder = Recorder::start(&run, &["--every", "50ms", "--", "sh", "-c", script]);
    sleep(1.5);
    disk.fill();
    let (status, said) = recorder.end();
    assert_eq!(status.code(), Some(5), "{said}");
    assert_eq!(ending(&run), "exit 5, not sealed");
    assert!(total(&run, "self.samples") >= 20.0);
    check_that_losses_are_told(&run);
    let left: Vec<_> = fs::read_dir(&run)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.contains("parquet") || n.contains(".part"))
        .collect();
    assert!(left.is_empty(), "half sealed: {left:?}");
}

#[test]
fn output_that_cannot_be_kept_is_shown_all_the_same() {
    if !can_run("output on a full disk", &NEEDS) {
        return;
    }
    let disk = SmallDisk::new("output", "1m");
    let run = disk.path.join("run");
    let mut command = sonde();
    command.args(["record", "-o"]).arg(&run);
    command.args([
        "--",
        "sh",
        "-c",
        "head -c 3000000 /dev/zero; echo last >&2; exit 6",
    ]);
    let out = output(&mut command);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(6), "{said}");
    assert_eq!(out.stdout.len(), 3_000_000);
    assert!(out.stdout.iter().all(|b| *b == 0));
    assert!(said.contains("last\n"), "{said}");
    let kept = fs::metadata(run.join("stdout")).unwrap().len();
    let text = format!(
        "the last {} bytes of stdout were not kept: No space left",
        3_000_000 - kept
    );
    assert!(kept > 0 && said.contains(&text), "{kept} kept: {said}");
}

#[test]
fn our_own_stdout_on_a_full_disk_does_not_end_the_command() {
    let run = scratch("dev-full").join("run");
    let mut command = sonde();
    command.args(["record", "-o"]).arg(&run);
    command.args([
        "--",
        "sh",
        "-c",
        "head -c 200000 /dev/zero; echo still here >&2; exit 6",
    ]);
    command.stdout(File::options().write(true).open("/dev/full").unwrap());
    let out = output(&mut command);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(6), "{said}");
    assert!(said.contains("still here"), "{said}");
    assert!(
        said.contains("200000 bytes of the command's stdout could not be shown"),
        "{said}"
    );
    assert_eq!(fs::metadata(run.join("stdout")).unwrap().len(), 200_000);
}

/// Records `sh -c script` with `$R` the run; its status and what it said.
fn record_script(run: &Path, script: &str) -> (Option<i32>, String) {
    let mut command = sonde();
    command.args(["record", "--every", "20ms", "-o"]).arg(run);
    command.args(["--", "sh", "-c", script]).env("R", run);
    let out = output(&mut command);
    (out.status.code(), String::from_utf8(out.stderr).unwrap())
}

#[test]
fn a_removed_run_comes_back_whole() {
    let run = scratch("removed").join("run");
    let script = "sleep 0.3; echo before; rm -r \"$R\"; echo after; sleep 0.6; exit 4";
    let (status, said) = record_script(&run, script);
    assert_eq!(status, Some(4), "{said}");
    assert!(said.contains("was removed while recording"), "{said}");
    assert_eq!(ending(&run), "exit 4");
    let points = series(&run, "self.samples");
    assert!(
        points[0].at < 0.1 && points.last().unwrap().at >= 0.9,
        "{points:?}"
    );
    check_that_losses_are_told(&run);
    assert_eq!(
        fs::read_to_string(run.join("stdout")).unwrap(),
        "before\nafter\n"
    );
    let inventory = fs::read(run.join("inventory.json")).unwrap();
    serde_json::from_slice::<Value>(&inventory).unwrap();
    assert!(!run.join("journal").exists());
}

#[test]
fn a_run_made_in_the_place_of_a_removed_one_is_not_touched() {
    let run = scratch("replaced").join("run");
    let script = "sleep 0.3; rm -r \"$R\"; mkdir \"$R\"; echo mine > \"$R/journal\"; \
                  echo mine > \"$R/run.json\"; sleep 0.3; exit 4";
    let (status, said) = record_script(&run, script);
    assert_eq!(status, Some(4), "{said}");
    for name in ["journal", "run.json"] {
        assert_eq!(
            fs::read_to_string(run.join(name)).unwrap(),
            "mine\n",
            "{name}"
        );
    }
    assert_eq!(fs::read_dir(&run).unwrap().count(), 2);
    let other = run.with_file_name("run-2");
    assert!(said.contains("run-2"), "{said}");
    assert!(total(&other, "self.samples") > 10.0);
}

#[test]
fn a_renamed_run_is_sealed_where_it_is() {
    let run = scratch("renamed").join("run");
    let script = "sleep 0.3; mv \"$R\" \"$R-moved\"; echo out; sleep 0.3; exit 4";
    let (status, said) = record_script(&run, script);
    assert_eq!(status, Some(4), "{said}");
    assert!(!run.exists(), "{said}");
    let moved = run.with_file_name("run-moved");
    assert!(said.contains("run-moved"), "{said}");
    assert_eq!(ending(&moved), "exit 4");
    assert_eq!(fs::read_to_string(moved.join("stdout")).unwrap(), "out\n");
    assert!(series(&moved, "self.samples").last().unwrap().at > 0.5);
}

#[test]
fn without_any_place_left_the_status_still_passes() {
    if !can_run("no place left", &NEEDS) {
        return;
    }
    // The run goes with its file system, and there is no room beside it either.
    let disk = SmallDisk::new("gone", "1m");
    let run = disk.path.join("sub/run");
    let tmp = SmallDisk::new("gone-tmp", "64k");
    let mut command = sonde();
    command.args(["record", "--every", "20ms", "-o"]).arg(&run);
    command.args([
        "--",
        "sh",
        "-c",
        "sleep 0.5; rm -r \"$D\"; sleep 0.2; exit 9",
    ]);
    command
        .env("D", disk.path.join("sub"))
        .env("TMPDIR", tmp.path.join("missing"));
    let out = output(&mut command);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(9), "{said}");
    assert!(said.contains("the run is lost"), "{said}");
    assert!(!run.exists());
}

/// An import leaves nothing of a run that has no room, and says where there is none.
#[test]
fn an_import_without_room_leaves_nothing() {
    if !can_run("a full disk", &NEEDS) {
        return;
    }
    let disk = SmallDisk::new("import-full", "256k");
    let text = scratch("import-full-text").join("vmstat.out");
    let mut file = std::io::BufWriter::new(File::create(&text).unwrap());
    let header = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n \
                  r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n";
    std::io::Write::write_all(&mut file, header.as_bytes()).unwrap();
    // Numbers that cannot be compressed.
    let mut seed = 1_u64;
    for _ in 0..20_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let [a, b, c] = [seed >> 40, seed >> 36, seed >> 34].map(|n| n & 0xf_ffff);
        writeln_row(&mut file, [a, b, c]);
    }
    drop(file);
    for others in [0, 1] {
        let mut import = sonde();
        import.arg("import").args(["--every", "1s", "-o"]);
        import.arg(disk.path.join("run")).arg(&text);
        if others > 0 {
            import.arg(text.with_file_name("vmstat.out"));
        }
        let out = output(&mut import);
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{said}");
        let place = disk.path.join("run").display().to_string();
        assert!(
            said.contains(&place) && said.contains("No space left"),
            "{said}"
        );
        let left = fs::read_dir(&disk.path).unwrap().count();
        assert_eq!(left, 0, "{said}");
    }
}

fn writeln_row(to: &mut impl std::io::Write, [a, b, c]: [u64; 3]) {
    writeln!(
        to,
        " 1  0      0 {a} {b} {c}    0    0   {}   {}  {}  {}  8  4 88  0  0",
        a & 0xffff,
        b & 0xffff,
        c & 0xfff,
        a & 0xfff
    )
    .unwrap();
}
