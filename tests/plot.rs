//! Pictures from runs whose numbers are known, because the test wrote them.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use std::path::{Path, PathBuf};

use run::manifest::Phase;
use run::rows::TableId;
use run::write::Writer;
use run::{Manifest, Sink};
use support::{output, scratch, sonde, succeed};

const SECOND: i64 = 1_000_000_000;
const STARTED: i64 = 1_700_000_000 * SECOND;

fn manifest() -> Manifest {
    Manifest {
        ended: Some(STARTED + 60 * SECOND),
        phases: vec![Phase {
            name: "steady".into(),
            from: STARTED + 20 * SECOND,
        }],
        ..Manifest::new("example", STARTED, 1.0)
    }
}

/// A minute of reads: a fast band around 100 µs, a slow one that climbs, three outliers.
fn heat_run(name: &str) -> PathBuf {
    let dir = scratch(name).join("run");
    let mut writer = Writer::create(&dir, &manifest()).unwrap();
    let mut sink = Sink::new();
    let table = TableId::of("disk_latency");
    let words = ["vda", "disk", "read"].map(|w| sink.word(w));
    for second in 1..=60_u64 {
        sink.at(STARTED + second as i64 * SECOND, 1.0);
        let mut add = |nanoseconds: u64, ios: f64| {
            let lower = run::grid::lower(run::grid::index(nanoseconds)) as f64 / 1e9;
            sink.row(table, &words, &[lower, ios, ios * 4096.0]);
        };
        for step in 0..40 {
            add(
                80_000 + step * 1_500,
                100.0 - (step as f64 - 20.0).abs() * 4.0,
            );
        }
        add(1_000_000 + second * 150_000, 30.0);
        if second % 20 == 0 {
            add(2_000_000_000, 1.0);
        }
        writer.append(&mut sink, STARTED + second as i64 * SECOND);
    }
    writer.finish(manifest()).unwrap();
    dir
}

fn plot(run: &Path, arguments: &[&str]) -> String {
    succeed(sonde().arg("plot").arg(run).args(arguments))
}

#[test]
fn a_heat_map_says_what_lies_above_its_axis() {
    let run = heat_run("heat");
    let expression = "disk.ios by latency where device = vda and op = read";
    let text = plot(&run, &[expression, "--outliers", "0.1%"]);
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    assert!(!text.contains('\x1b'), "a pipe gets no colours");
    assert!(
        text.contains("above"),
        "the three outliers are told: {text}"
    );
    let all = plot(&run, &[expression, "--outliers", "0"]);
    assert!(!all.contains("lie above"), "{all}");
    let png = run.with_file_name("heat.png");
    plot(
        &run,
        &[expression, "-o", png.to_str().unwrap(), "--size", "800x400"],
    );
    let bytes = std::fs::read(&png).unwrap();
    // Width and height stand at offset 16 of a PNG (ISO 15948, 11.2.2).
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(bytes[16..24], [0, 0, 3, 32, 0, 0, 1, 144]);
}

#[test]
fn folding_time_gives_the_distribution() {
    let run = heat_run("fold");
    let answer = support::get(&run, "disk.ios by latency where latency > 1s");
    let group = &answer["groups"][0];
    assert_eq!(group["total"], 3.0, "{answer}");
    let (from, to) = (
        group["key"]["latency"]["from"].as_f64(),
        group["key"]["latency"]["to"].as_f64(),
    );
    assert!(from.unwrap() <= 2.0 && to.unwrap() > 2.0, "{answer}");
    // Every count that was written: 60 × (sum of the band + 30) + 3.
    let band: f64 = (0..40)
        .map(|s| 100.0 - (f64::from(s) - 20.0).abs() * 4.0)
        .sum();
    assert_eq!(
        support::total(&run, "disk.ios where latency > 0s"),
        60.0 * (band + 30.0) + 3.0
    );
}

/// Ten seconds with ten reads and ten writes each, once thirty, then ten milliseconds with a tick's worth of
/// reads: 1000 a second.
#[test]
fn a_short_interval_above_the_maximum_is_left_out_for_that_reason() {
    let run = scratch("short").join("run");
    let mut writer = Writer::create(&run, &manifest()).unwrap();
    let mut sink = Sink::new();
    let table = TableId::of("disk");
    let words = ["read", "write"].map(|op| ["vda", "disk", op].map(|w| sink.word(w)));
    let end = STARTED + 10 * SECOND + SECOND / 100;
    for second in 1..=11_i64 {
        let time = (STARTED + second * SECOND).min(end);
        sink.at(time, if time == end { 0.01 } else { 1.0 });
        let ios = if second == 5 { 30.0 } else { 10.0 };
        for of in &words {
            sink.row(table, of, &[ios, 0.0, 0.0, 0.0, 0.0]);
        }
        writer.append(&mut sink, time);
    }
    let ended = Some(end);
    let phases = vec![];
    writer
        .finish(Manifest {
            ended,
            phases,
            ..manifest()
        })
        .unwrap();
    for more in [&["--stack"][..], &[]] {
        let text = plot(&run, &[&["disk.ios by op"], more].concat());
        let said = "1 interval under 500 ms left out: above the maximum, which longer ones set";
        assert!(text.contains(said), "{text}");
        assert!(!text.contains("not known"), "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    }
    let smooth = plot(&run, &["disk.ios by op", "--smooth=3s"]);
    assert!(!smooth.contains("left out"), "{smooth}");
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn a_run_without_the_table_says_what_to_record() {
    let run = scratch("no-table").join("run");
    succeed(
        sonde()
            .arg("record")
            .arg("-o")
            .arg(&run)
            .args(["--for", "0.1s", "-q", "--detail", "samples"]),
    );
    let out = output(sonde().arg("plot").arg(&run).arg("disk.ios by latency"));
    assert_eq!(out.status.code(), Some(2));
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(
        message.contains("disk_latency") && message.contains("hint:"),
        "{message}"
    );
}

#[test]
fn wrong_arguments_are_told_before_anything_is_read() {
    for (arguments, word) in [
        (&["-o", "picture.gif"][..], ".png or .svg"),
        (&["--size", "10x10"], "WIDTHxHEIGHT"),
        (&["--outliers", "20%"], "0 to 5%"),
        (&["--smooth=0s"], "longer than nothing"),
        (&["--from", "soon"], "not a number"),
    ] {
        let mut command = sonde();
        command.args(["plot", ".", "cpu.time"]).args(arguments);
        let out = output(&mut command);
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(word), "{arguments:?}: {message}");
    }
}
