//! `sonde import` of a pipe: its run grows, is looked at meanwhile, and is whole when interrupted.

#![allow(clippy::disallowed_methods, reason = "feeds pipes, and waits")]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::io::Write;
use std::process::{Command, Stdio};

use importing::{VMSTAT, manifest, said, total};
use support::{scratch, sonde};

/// A pipe makes a run that can be read while it grows.
#[test]
fn a_pipe_grows_a_run() {
    let dir = scratch("import-pipe");
    let mut child = sonde()
        .args([
            "import", "--as", "vmstat", "--every", "1s", "--start", "now", "-o", "run", "-",
        ])
        .current_dir(&dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(VMSTAT.as_bytes()).unwrap();
    pipe.flush().unwrap();
    let begun = std::time::Instant::now();
    // The last sample waits for the one after it, which begins where it ends.
    let seen = loop {
        let out = sonde()
            .args(["get", "run", "vm.paged_out", "--json"])
            .current_dir(&dir)
            .output()
            .unwrap();
        if out.status.success() {
            let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
            if let Some(total) = answer["groups"][0]["total"].as_f64() {
                break total;
            }
        }
        assert!(begun.elapsed().as_secs() < 20, "nothing to be seen");
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    assert_eq!(seen, 64.0 * 1024.0);
    drop(pipe);
    assert!(child.wait().unwrap().success());
    assert_eq!(total(&dir, "run", "vm.paged_out"), 192.0 * 1024.0);
    assert_eq!(manifest(&dir, "run")["state"], "complete");
}

/// All that looks at a run follows one that a pipe makes, from its first sample on.
#[test]
fn a_growing_import_is_plotted() {
    let dir = scratch("import-live-plot");
    let mut child = sonde()
        .args([
            "import",
            "--as",
            "iostat-solaris",
            "--every",
            "1s",
            "--start",
            "2024-03-08 10:00",
            "--tz",
            "UTC",
            "-o",
            "run",
            "-",
        ])
        .current_dir(&dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let report = "                    extended device statistics\n    r/s    w/s   kr/s   kw/s \
                  wait actv wsvc_t asvc_t  %w  %b device\n   10.0   20.0   80.0  160.0  0.0  \
                  0.0    0.1    6.3   0   1 c0t0d0\n";
    let asked = |arguments: &[&str]| {
        let mut command = sonde();
        let out = command.args(arguments).current_dir(&dir).output().unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        (out.status.success(), text + &said(&out))
    };
    let length = || {
        let (_, listed) = asked(&["list", ".", "--json"]);
        let runs: serde_json::Value = serde_json::from_str(&listed).unwrap_or_default();
        runs[0]["seconds"].as_f64().unwrap_or(0.0)
    };
    // The first is since boot; of the last it is not known whether more rows come.
    for seconds in [1.0, 2.0, 3.0] {
        let begun = std::time::Instant::now();
        while length() < seconds {
            pipe.write_all(report.as_bytes()).unwrap();
            pipe.flush().unwrap();
            assert!(begun.elapsed().as_secs() < 30, "it does not grow");
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
        let (plotted, told) = asked(&["plot", "run", "disk.ios", "-o", "live.svg"]);
        assert!(plotted, "{told}");
        let (shown, text) = asked(&["show", "run"]);
        assert!(shown && !text.contains("for 0 s"), "{text}");
    }
    drop(pipe);
    assert!(child.wait().unwrap().success());
}

/// Interrupted, it keeps what came.
#[test]
fn an_interrupted_pipe_is_complete() {
    let dir = scratch("import-interrupted");
    let mut child = sonde()
        .args([
            "import", "--as", "vmstat", "--every", "1s", "-o", "run", "-",
        ])
        .current_dir(&dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(VMSTAT.as_bytes()).unwrap();
    let run = dir.join("run/run.json");
    for _ in 0..200 {
        if run.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    assert!(child.wait().unwrap().success());
    assert_eq!(total(&dir, "run", "vm.paged_out"), 192.0 * 1024.0);
    drop(pipe);
}
