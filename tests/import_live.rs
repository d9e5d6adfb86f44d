//! `sonde import` of a pipe: its run grows, is looked at meanwhile, and is whole when interrupted.

#![allow(clippy::disallowed_methods, reason = "feeds pipes, and waits")]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

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

/// The tool's name is enough, whichever system's it is.
#[test]
fn a_tools_name_is_taken_for_each_of_its_formats() {
    let dir = scratch("import-tool");
    let linux = "Linux 5.10.0 (box)\t2021-09-16\t_x86_64_\t(2 CPU)\n\n\
        avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           \
        1.00    0.00    2.00    0.00    0.00   97.00\n\n\
        Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n\
        sda               5.00        20.00        10.00        200        100\n\n";
    let bsd = "                        extended device statistics  \n\
        device     r/s     w/s     kr/s     kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b  \n\
        ada0        10      20     80.0    160.0     1     1     0     1    0   1 \n";
    for (format, text) in [
        ("iostat-linux", linux),
        ("iostat-bsd", bsd),
        ("iostat-solaris", IOSTAT),
    ] {
        let mut child = alone(&dir, &["--as", "iostat", "--every", "1s", "-o", format]);
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(text.repeat(3).as_bytes()).unwrap();
        drop(pipe);
        let out = child.wait_with_output().unwrap();
        assert!(out.status.success(), "{format}: {}", said(&out));
        assert_eq!(manifest(&dir, format)["imported"][0]["format"], format);
    }
}

/// The files of an archive would be read as one text; as would a recording that only its tool reads.
#[test]
fn archives_are_not_read_from_a_pipe() {
    let dir = scratch("import-pipe-tar");
    std::fs::write(dir.join("vmstat"), VMSTAT).unwrap();
    let packed = |arguments: &[&str]| {
        let mut command = Command::new("tar");
        let out = command.args(arguments).current_dir(&dir).output().unwrap();
        assert!(
            out.status.success() && !out.stdout.is_empty(),
            "{}",
            said(&out)
        );
        out.stdout
    };
    let mut zip = zip::ZipWriter::new_stream(Vec::new());
    zip.start_file("vmstat", zip::write::SimpleFileOptions::default())
        .unwrap();
    zip.write_all(VMSTAT.as_bytes()).unwrap();
    let zip = zip.finish().unwrap().into_inner();
    for (name, bytes, hint) in [
        (
            "posix",
            packed(&["-c", "--format=posix", "vmstat"]),
            "NAME.tar",
        ),
        ("v7", packed(&["-c", "--format=v7", "vmstat"]), "NAME.tar"),
        ("packed", packed(&["-cz", "vmstat"]), "NAME.tar"),
        ("zip", zip, "NAME.zip"),
        (
            "sadc",
            vec![0x96, 0xd5, 1, 2, 3, 4, 5, 6, 7],
            "give the file",
        ),
    ] {
        let mut child = alone(&dir, &["--as", "vmstat", "--every", "1s", "-o", "run"]);
        let mut pipe = child.stdin.take().unwrap();
        // It is gone before it has read all, perhaps.
        let _gone = pipe.write_all(&bytes);
        drop(pipe);
        let out = child.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{name}: {}", said(&out));
        assert!(said(&out).contains(hint), "{name}: {}", said(&out));
        assert!(!dir.join("run").exists(), "{name}");
    }
    // A file of an old program is opened.
    std::fs::write(
        dir.join("old.tar"),
        packed(&["-c", "--format=v7", "vmstat"]),
    )
    .unwrap();
    let out = import(&dir, &["old.tar", "--every", "1s", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(
        manifest(&dir, "run")["imported"][0]["file"],
        "old.tar:vmstat"
    );
}

/// What a logger or `ts` puts before each line is seen where lines come one by one, too: the first ones
/// do not tell.
#[test]
fn what_stands_before_each_line_of_a_pipe_is_seen() {
    let dir = scratch("import-pipe-prefix");
    let linux = "Linux 5.10.0 (box)\t2021-09-16\t_x86_64_\t(2 CPU)\n\
        Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n\
        sda               5.00        20.00        10.00        200        100\n\
        Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n\
        sda               7.00        40.00        20.00        200        100\n";
    // It is seen what this is by the first line, whatever stands before it.
    let mpstat = "CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl\n  \
        0   22   0    8   285  114  360    1    1    5    0   768    3   1   0  96\n"
        .repeat(3);
    for (name, text, expression) in [
        ("vmstat", VMSTAT, "vm.paged_out"),
        ("iostat", linux, "disk.bytes"),
        ("mpstat", &mpstat[..], "cpu.time"),
    ] {
        let before = |i: usize| {
            [
                format!("2021-09-16T20:33:{:02}Z ", 10 + i),
                format!("<13>1 2021-09-16T20:33:{:02}Z box tool 12 - - ", 10 + i),
            ]
        };
        for kind in 0..2 {
            let lines: Vec<String> = text
                .lines()
                .enumerate()
                .map(|(i, line)| format!("{}{line}\n", before(i)[kind]))
                .collect();
            let of_file = format!("{name}-{kind}-file");
            std::fs::write(dir.join(name), lines.concat()).unwrap();
            let out = import(&dir, &[name, "-o", &of_file]);
            assert!(out.status.success(), "{name}: {}", said(&out));
            let of_pipe = format!("{name}-{kind}-pipe");
            let mut child = alone(&dir, &["-o", &of_pipe]);
            let mut pipe = child.stdin.take().unwrap();
            for line in &lines {
                pipe.write_all(line.as_bytes()).unwrap();
                std::thread::sleep(Duration::from_millis(60));
            }
            drop(pipe);
            let out = child.wait_with_output().unwrap();
            assert!(out.status.success(), "{name} {kind}: {}", said(&out));
            let told = manifest(&dir, &of_pipe);
            assert_eq!(told["imported"][0]["times"], "text", "{told}");
            assert_eq!(told["imported"][0]["not_understood"], 0, "{told}");
            assert_eq!(told["started"], manifest(&dir, &of_file)["started"]);
            let both = [&of_pipe, &of_file].map(|run| total(&dir, run, expression));
            assert!(both[0] > 0.0 && both[0] == both[1], "{name}: {both:?}");
        }
    }
}
