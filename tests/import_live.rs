//! `sonde import` of a pipe: its run grows, is looked at meanwhile, and is whole when interrupted.

#![allow(clippy::disallowed_methods, reason = "feeds pipes, and waits")]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use importing::{VMSTAT, import, manifest, said, total};
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
    interrupt(&child);
    assert!(child.wait().unwrap().success());
    assert_eq!(total(&dir, "run", "vm.paged_out"), 192.0 * 1024.0);
    drop(pipe);
}

fn interrupt(child: &Child) {
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
}

/// The importer of a pipe of `vmstat` at one row a second, with other arguments.
fn importer(dir: &Path, arguments: &[&str]) -> Child {
    sonde()
        .args([
            "import", "--as", "vmstat", "--every", "1s", "--start", "now",
        ])
        .args(arguments)
        .arg("-")
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Compressed by each program that is undone.
fn compressed(text: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    let read = |mut from: Box<dyn Read + '_>| {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    };
    let gzip = flate2::read::GzEncoder::new(text, flate2::Compression::default());
    // Its blocks are of 100,000 bytes: of one that is cut nothing can be unpacked.
    let bzip2 = bzip2::read::BzEncoder::new(text, bzip2::Compression::fast());
    [
        ("gz", read(Box::new(gzip))),
        ("bz2", read(Box::new(bzip2))),
        ("xz", read(Box::new(liblzma::read::XzEncoder::new(text, 6)))),
        ("zst", zstd::encode_all(text, 3).unwrap()),
    ]
}

/// Of a compressed pipe that ends too early as much is imported as of such a file, and that is told.
#[test]
fn what_comes_of_a_cut_compressed_pipe_is_imported() {
    let dir = scratch("import-pipe-cut");
    let mut text = VMSTAT.to_owned();
    let row = VMSTAT.lines().last().unwrap();
    // Much that does not repeat, so that what comes is many blocks.
    let mut state = 1_u64;
    for _ in 0..20_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        text += &row.replacen(" 57 ", &format!(" {} ", state >> 48), 1);
        text.push('\n');
    }
    for (ending, whole) in compressed(text.as_bytes()) {
        let cut = &whole[..whole.len() / 2];
        let file = format!("cut.{ending}");
        std::fs::write(dir.join(&file), cut).unwrap();
        let of_file = format!("file-{ending}");
        let out = import(&dir, &[&file, "--every", "1s", "-o", &of_file]);
        assert_eq!(out.status.code(), Some(1), "{ending}: {}", said(&out));

        let of_pipe = format!("pipe-{ending}");
        let fed = |arguments: &[&str]| {
            let mut child = importer(&dir, arguments);
            let mut pipe = child.stdin.take().unwrap();
            pipe.write_all(cut).unwrap();
            drop(pipe);
            child.wait_with_output().unwrap()
        };
        let out = fed(&["-o", &of_pipe, "--json"]);
        assert_eq!(out.status.code(), Some(1), "{ending}: {}", said(&out));
        let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let problem = told["problems"][0].as_str().unwrap_or_default();
        assert!(
            problem.starts_with("stdin: the compressed data is cut off"),
            "{ending}: {told}"
        );
        assert!(said(&out).contains(problem), "{}", said(&out));
        let samples = told["imported"][0]["samples"].as_u64().unwrap();
        assert!((100..20_000).contains(&samples), "{ending}: {samples}");
        assert_eq!(manifest(&dir, &of_pipe)["state"], "complete");
        let of = |run: &str| total(&dir, run, "vm.paged_out");
        assert_eq!(of(&of_pipe), of(&of_file), "{ending}");

        let out = fed(&["-o", "strict", "--strict"]);
        assert_eq!(out.status.code(), Some(2), "{ending}: {}", said(&out));
        assert!(!dir.join("strict").exists());
        // So little that nothing can be unpacked is refused.
        let mut child = importer(&dir, &["-o", "none"]);
        child.stdin.take().unwrap().write_all(&cut[..20]).unwrap();
        let out = child.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{ending}: {}", said(&out));
        assert!(!said(&out).is_empty() && !dir.join("none").exists());
    }
}

/// A compressed pipe grows a run, too; who interrupts it is not told that it is cut off.
#[test]
fn a_compressed_pipe_grows_a_run() {
    let dir = scratch("import-pipe-compressed");
    let mut child = importer(&dir, &["-o", "run"]);
    let pipe = child.stdin.take().unwrap();
    let mut packed = flate2::write::GzEncoder::new(pipe, flate2::Compression::default());
    packed.write_all(VMSTAT.as_bytes()).unwrap();
    packed.flush().unwrap();
    let begun = std::time::Instant::now();
    let seen = || {
        let mut command = sonde();
        command.args(["get", "run", "vm.paged_out", "--json"]);
        let out = command.current_dir(&dir).output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        answer["groups"][0]["total"].as_f64()
    };
    // The last sample waits for the one after it.
    while seen() != Some(64.0 * 1024.0) {
        assert!(begun.elapsed().as_secs() < 20, "{:?}", seen());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    interrupt(&child);
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{}", said(&out));
    assert!(!said(&out).contains("cut off"), "{}", said(&out));
    assert_eq!(total(&dir, "run", "vm.paged_out"), 192.0 * 1024.0);
    drop(packed);
}

/// What came of a pipe is lost when it is refused: not after a night.
#[test]
fn a_pipe_without_an_interval_is_refused_at_once() {
    let dir = scratch("import-pipe-interval");
    let mut child = sonde()
        .args(["import", "--as", "vmstat", "-o", "run", "-"])
        .current_dir(&dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(VMSTAT.as_bytes()).unwrap();
    let row = VMSTAT.lines().last().unwrap();
    let mut rows = 0;
    while child.try_wait().unwrap().is_none() {
        assert!(rows < 200, "it waits for more");
        // It is gone perhaps.
        let _gone = writeln!(pipe, "{row}");
        rows += 1;
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("--every 1s"), "{said}");
    assert!(!dir.join("run").exists());
}
