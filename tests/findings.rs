//! What a person sees of findings: lines that fit, the most important ones, all on request.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and write files"
)]

mod support;

use std::path::PathBuf;

use run::rows::TableId;
use run::write::Writer;
use run::{Manifest, Sink};
use support::{AtEnd, output, scratch, sonde, succeed};

const SECOND: i64 = 1_000_000_000;
const STARTED: i64 = 1_700_000_000 * SECOND;

/// A minute with a starved reader, lost segments, a disk that flushes, four groups held back,
/// and an inventory.
fn troubled(name: &str) -> PathBuf {
    let dir = scratch(name).join("run");
    let manifest = Manifest {
        ended: Some(STARTED + 60 * SECOND),
        ..Manifest::new("example", STARTED, 1.0)
    };
    let mut writer = Writer::create(&dir, &manifest).unwrap();
    let mut sink = Sink::new();
    let groups = ["/a", "/b", "/c\u{1b}[31m", "/d"].map(|g| sink.word(g));
    let read = ["vda", "disk", "read"].map(|w| sink.word(w));
    let flush = ["vda", "disk", "flush"].map(|w| sink.word(w));
    let transmit = [sink.word("transmit")];
    let bucket = |seconds: f64| run::grid::floor(seconds, run::Unit::Seconds);
    for second in 1..=60_i64 {
        sink.at(STARTED + second * SECOND, 1.0);
        for group in groups {
            let values = [0.4, 10.0, 7.0, 0.5];
            sink.row(TableId::of("cgroup_throttle"), &[group], &values);
        }
        sink.row(
            TableId::of("disk_latency"),
            &read,
            &[bucket(0.001), 1e4, 4e7],
        );
        if (21..=30).contains(&second) {
            sink.row(
                TableId::of("disk_latency"),
                &read,
                &[bucket(0.7), 3.0, 12288.0],
            );
        }
        sink.row(TableId::of("disk"), &flush, &[300.0, 0.0, 0.0, 0.9, 0.0]);
        sink.row(TableId::of("tcp_segments"), &transmit, &[1e4]);
        let mut tcp = [0.0; 20];
        tcp[0] = 300.0;
        sink.row(TableId::of("tcp"), &[], &tcp);
        let own = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        sink.row(TableId::of("self"), &[], &own);
        writer.append(&mut sink, STARTED + second * SECOND);
    }
    writer.finish(manifest).unwrap();
    let inventory = r#"{"block": {"vda": {"scheduler": "none", "nr_requests": 64}}}"#;
    std::fs::write(dir.join("inventory.json"), inventory).unwrap();
    dir
}

/// Words of a screen, however it is wrapped.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_screen_has_what_matters_most() {
    let run = troubled("found");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(run.parent().unwrap())));
    let text = succeed(sonde().arg("show").arg(&run));
    let all = succeed(sonde().arg("show").arg(&run).arg("--all"));
    for screen in [&text, &all] {
        let long = screen.lines().find(|l| l.chars().count() > 80);
        assert_eq!(long, None, "{screen}");
        assert!(!screen.contains('\u{1b}'), "{screen:?}");
    }
    let found = |text: &str| text.lines().filter(|l| l.starts_with("found ")).count();
    assert_eq!((found(&text), found(&all)), (5, 7), "{all}");
    assert!(text.contains("2 findings more: sonde show --all"), "{text}");
    assert!(!all.contains("--all"), "{all}");
    let text = flat(&text);
    for words in [
        "found latency-bubble, from 20.0 s to 30.0 s: 30 of 600k reads of vda took 40.0 ms or more",
        "vda has scheduler none, nr_requests 64.",
        "look at: disk.ios by latency where device = vda and op = read and time in 20s..30s",
        "found fsync-bound: vda was flushing its cache for 90.0 % of the time",
        "found retransmits: 18.0k segments were sent again, 3.00 % of the 600k sent",
        // Four groups are held back alike; they leave room for the others.
        "found throttled: /a used its CPU limit up in 420 of 600 periods",
    ] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
}

#[test]
fn a_damaged_inventory_is_told_and_the_rest_is_shown() {
    let run = troubled("damaged-inventory");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(run.parent().unwrap())));
    std::fs::write(run.join("inventory.json"), "{").unwrap();
    let out = output(sonde().arg("show").arg(&run));
    assert_eq!(out.status.code(), Some(1));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("inventory.json cannot be read"), "{said}");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("found     latency-bubble"), "{text}");
    assert!(!text.contains("scheduler none"), "{text}");
}
