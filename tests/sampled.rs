//! Where events were sampled, each way of showing them says that amounts are estimates; and where
//! they were not, none does.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and write files"
)]

mod support;

use std::path::{Path, PathBuf};

use run::rows::TableId;
use run::write::Writer;
use run::{Manifest, Nanos, Sink};
use support::{get, output, scratch, sonde, succeed};

const SECOND: Nanos = 1_000_000_000;
const STARTED: Nanos = 1_700_000_000 * SECOND;

/// Four seconds of reads; one event of a disk stands for `weight`, each of a network for itself.
fn made(name: &str, weight: f64) -> PathBuf {
    let dir = scratch(name).join("run");
    let manifest = Manifest {
        ended: Some(STARTED + 4 * SECOND),
        ..Manifest::new("example", STARTED, 1.0)
    };
    let mut writer = Writer::create(&dir, &manifest).unwrap();
    let mut sink = Sink::new();
    for second in 1..=4 {
        let time = STARTED + second * SECOND;
        sink.at(time, 1.0);
        let own = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        sink.row(TableId::of("self"), &[], &own);
        let mut words = vec!["sda", "disk", "read"];
        let latency: Vec<_> = words.iter().map(|w| sink.word(w)).collect();
        let bucket = [0.001, 7.0, 28672.0];
        sink.row(TableId::of("disk_latency"), &latency, &bucket);
        words.extend(["sync", "no", "no", "p", "c", "/", "f"]);
        let words: Vec<_> = words.iter().map(|w| sink.word(w)).collect();
        let numbers = [0.0, 0.001, 4096.0, 0.0, 0.0, 0.0, 1.0, weight];
        let at = time - SECOND / 2;
        sink.events(TableId::of("disk_event"))
            .event(at, words, numbers);
        let words = [
            "eth0", "edge", "transmit", "process", "driver", "p", "c", "/",
        ];
        let words: Vec<_> = words.iter().map(|w| sink.word(w)).collect();
        let segments = sink.events(TableId::of("net_event"));
        segments.event(at, words, [1000.0, 1.0, 1.0]);
        writer.append(&mut sink, time);
    }
    writer.finish(manifest).unwrap();
    dir
}

/// Text in one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a picture, in one line.
fn words(picture: &str) -> String {
    let mut plain = String::new();
    let mut is_mark = false;
    for c in picture.chars() {
        match c {
            '<' => is_mark = true,
            '>' => {
                is_mark = false;
                plain.push(' ');
            }
            c if !is_mark => plain.push(c),
            _ => {}
        }
    }
    line(&plain)
}

/// What a command says, and what of it goes to stdout.
fn said(command: &str, run: &Path, arguments: &[&str]) -> [String; 2] {
    let out = output(sonde().arg(command).arg(run).args(arguments));
    assert!(out.status.success(), "{arguments:?}: {out:?}");
    let stdout = String::from_utf8_lossy(&out.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    [line(&format!("{stdout} {stderr}")), stdout]
}

const ESTIMATES: &str = "some events stand for up to 7: amounts are estimates";

/// A picture in a file, as text.
fn drawn(run: &Path, arguments: &[&str]) -> String {
    let file = run.with_file_name("picture.svg");
    let mut plot = sonde();
    plot.arg("plot").arg(run).args(arguments).arg("-o");
    succeed(plot.arg(&file));
    words(&std::fs::read_to_string(file).expect("a picture"))
}

/// All that shows `of`, with another statistic beside it or alone.
fn everywhere(run: &Path, of: &str) -> Vec<String> {
    let beside = ["net.segments by process", "--right", of];
    let mut all = vec![
        said("get", run, &[of])[0].clone(),
        said("get", run, &[of, "--series"])[0].clone(),
        said("get", run, &[of, "--csv"])[0].clone(),
        said("plot", run, &[of])[0].clone(),
        said("plot", run, &beside)[0].clone(),
        drawn(run, &[of]),
        drawn(run, &beside),
    ];
    let page = run.with_file_name("report.md");
    let mut report = sonde();
    report.arg("report").arg(run).args(["--expr", of]).arg("-o");
    succeed(report.arg(&page));
    all.push(line(&std::fs::read_to_string(page).expect("a report")));
    all
}

#[test]
fn each_way_to_show_sampled_events_says_that_they_are() {
    let run = made("sampled", 7.0);
    for of in ["disk.ios by process", "disk.bytes where file = f"] {
        for (place, text) in everywhere(&run, of).into_iter().enumerate() {
            assert!(text.contains(ESTIMATES), "{of}, {place}: {text}");
        }
        assert_eq!(get(&run, of)["stands_for"], 7.0);
    }
    // Of two axes it is said which.
    let beside = ["net.segments by process", "--right", "disk.ios by process"];
    let text = said("plot", &run, &beside)[0].clone();
    assert!(text.contains(&format!("disk.ios: {ESTIMATES}")), "{text}");
    let both = ["disk.ios by process", "--right", "disk.bytes by process"];
    let text = said("plot", &run, &both)[0].clone();
    assert_eq!(text.matches(ESTIMATES).count(), 1, "{text}");
    assert!(!text.contains(&format!(": {ESTIMATES}")), "{text}");
    // A heat map, its fold, and quantiles, of which numbers are counted.
    let heat = "disk.ios by latency where process = p";
    for options in [&[heat][..], &[heat, "--fold"]] {
        let text = said("plot", &run, options)[0].clone();
        assert!(text.contains(ESTIMATES), "{options:?}: {text}");
        let text = drawn(&run, options);
        assert!(text.contains(ESTIMATES), "{options:?}: {text}");
    }
    let text = said("get", &run, &[heat])[0].clone();
    assert!(text.contains("stand for up to 7: counts are"), "{text}");
    assert_eq!(get(&run, heat)["stands_for"], 7.0);
    assert_eq!(get(&run, heat)["quantiles"][0]["stands_for"], 7.0);
    // Numbers that a program reads stay numbers.
    let csv = said("get", &run, &["disk.ios by process", "--csv"])[1].clone();
    assert!(!csv.contains("stand for"), "{csv}");
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn what_was_not_sampled_is_no_estimate() {
    let sampled = made("sampled-other", 7.0);
    let whole = made("sampled-none", 1.0);
    for (run, of) in [
        (&sampled, "net.segments by command"),
        (&sampled, "disk.ios by latency"),
        (&whole, "disk.ios by process"),
    ] {
        let of_pictures = [said("get", run, &[of])[0].clone(), drawn(run, &[of])];
        for text in of_pictures {
            assert!(!text.contains("estimates"), "{of}: {text}");
        }
        assert!(get(run, of).get("stands_for").is_none(), "{of}");
    }
    for run in [sampled, whole] {
        std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
    }
}
