//! `sonde import` of a pipe whose text tells neither times nor an interval: reports are of when they come.

#![allow(clippy::disallowed_methods, reason = "feeds pipes, and waits")]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use importing::{VMSTAT, manifest, said, total};
use support::{scratch, sonde};

/// As `ssh` starts it: nothing is said of times or intervals.
fn alone(dir: &Path, arguments: &[&str]) -> Child {
    let mut command = sonde();
    command
        .arg("import")
        .args(arguments)
        .arg("-")
        .current_dir(dir);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

const IOSTAT: &str = "                    extended device statistics              \n    r/s    w/s   \
    kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n   10.0   20.0   80.0  160.0  0.0  0.0    \
    0.1    6.3   0   1 c0t0d0\n";

/// How far apart reports are written.
const APART: Duration = Duration::from_millis(500);

/// Writes at these numbers of intervals after the first; says when.
fn written(pipe: &mut impl Write, texts: &[(u32, String)]) -> Vec<Instant> {
    let begun = Instant::now();
    let write = |(intervals, text): &(u32, String)| {
        std::thread::sleep((APART * *intervals).saturating_sub(begun.elapsed()));
        pipe.write_all(text.as_bytes()).unwrap();
        pipe.flush().unwrap();
        Instant::now()
    };
    texts.iter().map(write).collect()
}

/// What is said in the issue: `ssh host iostat -xn 1 | sonde import --as iostat -`.
#[test]
fn reports_that_come_while_they_are_made_are_of_then() {
    let dir = scratch("import-arrival");
    let before = seconds_now();
    let mut child = alone(&dir, &["--as", "iostat", "-o", "run", "--json"]);
    let mut pipe = child.stdin.take().unwrap();
    let texts: Vec<(u32, String)> = (0..7).map(|i| (i, IOSTAT.to_owned())).collect();
    let times = written(&mut pipe, &texts);
    drop(pipe);
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{}", said(&out));
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let imported = &told["imported"][0];
    assert_eq!(imported["format"], "iostat-solaris");
    assert_eq!(imported["times"], "arrival", "{told}");
    assert_eq!(imported["samples"], 6);
    assert!(
        said(&out).contains("a report's time is when it"),
        "{}",
        said(&out)
    );
    // 80 KiB a second from the first, which is since boot, to the last.
    let passed = (times[6] - times[0]).as_secs_f64();
    let read = total(&dir, "run", "disk.bytes where op = read") / (80.0 * 1024.0);
    assert!((read - passed).abs() < 0.2, "{read} s of {passed}");
    let made = manifest(&dir, "run");
    assert_eq!(made["imported"][0]["times"], "arrival");
    let every = made["every_seconds"].as_f64().unwrap();
    assert!((every - APART.as_secs_f64()).abs() < 0.1, "{every}");
    let started = made["started"].as_str().unwrap();
    let started: jiff::Timestamp = started.parse().unwrap();
    let after = started.as_millisecond() as f64 / 1e3 - before;
    assert!((-0.1..30.0).contains(&after), "{started}: {after} s");
    // Its date is one: it is shown.
    let shown = sonde()
        .args(["show", "run"])
        .current_dir(&dir)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains(" UTC"), "{shown}");
}

fn seconds_now() -> f64 {
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs_f64()
}

/// `cat old.txt | sonde import -`, and a file as stdin: nothing tells of it.
#[test]
fn an_old_file_through_a_pipe_is_not_of_now() {
    let dir = scratch("import-cat");
    std::fs::write(dir.join("old.txt"), IOSTAT.repeat(5)).unwrap();
    for command in [
        "cat old.txt | \"$SONDE\" import -o run -",
        "cat old.txt | grep --line-buffered . | \"$SONDE\" import -o run -",
        "\"$SONDE\" import -o run - < old.txt",
    ] {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(&dir);
        shell.env("SONDE", env!("CARGO_BIN_EXE_sonde"));
        let out = shell.output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{command}: {}", said(&out));
        assert!(
            said(&out).contains("--every 1s"),
            "{command}: {}",
            said(&out)
        );
        assert!(!dir.join("run").exists(), "{command}");
    }
}

/// A network that stands still for a while: what it kept comes at once, and is of when it was made.
#[test]
fn reports_that_a_network_kept_have_true_intervals() {
    let dir = scratch("import-stall");
    let mut child = alone(&dir, &["--as", "iostat", "-o", "run"]);
    let mut pipe = child.stdin.take().unwrap();
    let mut texts: Vec<(u32, String)> = (0..4).map(|i| (i, IOSTAT.to_owned())).collect();
    // Those of 4, 5 and 6 come with that of 7.
    texts.push((7, IOSTAT.repeat(4)));
    texts.extend((8..11).map(|i| (i, IOSTAT.to_owned())));
    let times = written(&mut pipe, &texts);
    drop(pipe);
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{}", said(&out));
    assert!(said(&out).contains("4 reports came late"), "{}", said(&out));
    let whole = (times[7] - times[0]).as_secs_f64();
    let read = total(&dir, "run", "disk.bytes where op = read") / (80.0 * 1024.0);
    assert!((read - whole).abs() < 0.2, "{read} s of {whole}");
    assert_eq!(manifest(&dir, "run")["imported"][0]["samples"], 10);
}

/// What came of a pipe is lost when it is refused: not after a night. Reports that come at once do
/// not tell when they were made.
#[test]
fn a_pipe_without_an_interval_is_refused_at_once() {
    let dir = scratch("import-pipe-interval");
    let mut child = alone(&dir, &["--as", "vmstat", "-o", "run"]);
    let mut pipe = child.stdin.take().unwrap();
    let row = VMSTAT.lines().last().unwrap();
    let rows = format!("{row}\n").repeat(20);
    pipe.write_all(format!("{VMSTAT}{rows}").as_bytes())
        .unwrap();
    // The pipe stays open.
    let out = child.wait_with_output().unwrap();
    drop(pipe);
    assert_eq!(out.status.code(), Some(2));
    let said = said(&out);
    assert!(
        said.contains("came at once") && said.contains("--every 1s"),
        "{said}"
    );
    assert!(!dir.join("run").exists());
}
