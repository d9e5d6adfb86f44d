//! What a run does not have, told where it is asked for: nothing that was lost, what is among the
//! others, what only whole disks have, and events that were dropped.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and write files"
)]

mod support;

use std::path::{Path, PathBuf};

use run::rows::TableId;
use run::write::Writer;
use run::{Manifest, Nanos, Sink};
use serde_json::Value;
use support::{get, scratch, sonde, succeed};

const SECOND: Nanos = 1_000_000_000;
const STARTED: Nanos = 1_700_000_000 * SECOND;

/// A run of four seconds with the rows that `fill` makes of each.
fn made(name: &str, fill: impl Fn(&mut Sink, i64)) -> PathBuf {
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
        row(&mut sink, "self", &[], &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        fill(&mut sink, second);
        writer.append(&mut sink, time);
    }
    writer.finish(manifest).unwrap();
    dir
}

fn row(sink: &mut Sink, table: &str, words: &[&str], values: &[f64]) {
    let words: Vec<_> = words.iter().map(|w| sink.word(w)).collect();
    sink.row(TableId::of(table), &words, values);
}

/// What is said, in one line.
fn said(command: &str, run: &Path, expression: &str) -> String {
    let out = support::output(sonde().arg(command).arg(run).arg(expression));
    assert!(out.status.success(), "{expression}: {out:?}");
    let text = [out.stdout, out.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_run_without_losses_says_that_nothing_was_lost() {
    let run = made("missing-none", |_, _| {});
    for expression in ["self.unseen", "self.dropped by table", "self.one_in"] {
        let text = said("get", &run, expression);
        assert!(text.contains("nothing was lost"), "{text}");
        let answer = get(&run, expression);
        assert_eq!(answer["groups"], Value::Array(vec![]), "{answer}");
    }
    // Of what is no table, nothing is promised.
    let text = said("get", &run, "self.dropped where table = disk_evnt");
    assert!(!text.contains("nothing was lost"), "{text}");
    assert!(text.contains("by table"), "{text}");
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn what_may_be_among_the_others_is_said_to_be() {
    let run = made("missing-other", |sink, _| {
        for (remote, port) in [("10.0.0.1", "80"), ("(other)", "(other)")] {
            row(sink, "tcp_rtt", &[remote], &[0.001, 5.0]);
            let words = [remote, port];
            row(sink, "tcp_connect_time", &words, &[0.002, 1.0]);
        }
        // Always there, and empty.
        for (process, time) in [("cat", 0.5), ("(other)", 0.0)] {
            let words = [process, "cat", "user"];
            row(sink, "process", &words, &[time]);
        }
    });
    let may_be = "what was asked for may be in it";
    for (expression, by) in [
        (
            "tcp.rtt_samples by rtt where remote = 10.0.0.9",
            "by remote:",
        ),
        (
            "tcp.rtt_samples where rtt > 0s and remote ~ '^11'",
            "by remote:",
        ),
        (
            "tcp.connects by connect_time where remote = 10.0.0.9 and remote_port in 80, 81",
            "by remote and remote_port:",
        ),
    ] {
        let text = said("get", &run, expression);
        assert!(text.contains(may_be) && text.contains(by), "{text}");
        assert!(text.contains("note: "), "{text}");
    }
    // Beside what was found, too, and whatever it is shown as.
    let found = "tcp.rtt_samples where remote = 10.0.0.1";
    for command in ["get", "plot"] {
        let text = said(command, &run, found);
        assert!(!text.contains("no rows") && text.contains(may_be), "{text}");
    }
    let csv = support::output(sonde().arg("get").arg(&run).args([found, "--csv"]));
    assert!(!String::from_utf8_lossy(&csv.stdout).contains("room"));
    assert!(String::from_utf8_lossy(&csv.stderr).contains("beyond the room"));
    let notes = get(&run, found)["notes"].clone();
    let note = notes[0].as_str().expect("a note");
    assert!(note.contains(may_be) && notes.get(1).is_none(), "{notes}");
    for expression in [
        "cpu.time by mode where process = dog",
        "tcp.rtt_samples by rtt where remote = 10.0.0.9 and time > 100s",
        "tcp.rtt_samples by rtt where remote = 10.0.0.1 and rtt > 1s",
    ] {
        let text = said("get", &run, expression);
        assert!(text.contains("no rows") && !text.contains(may_be), "{text}");
    }
    let text = said(
        "plot",
        &run,
        "tcp.rtt_samples by rtt where remote = 10.0.0.9",
    );
    assert!(text.contains(may_be), "{text}");
    let page = run.with_file_name("report.md");
    let expression = "tcp.rtt_samples by rtt where remote = 10.0.0.9";
    succeed(
        sonde()
            .arg("report")
            .arg(&run)
            .args(["--expr", expression])
            .arg("-o")
            .arg(&page),
    );
    let text = std::fs::read_to_string(&page).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(may_be), "{text}");
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn of_a_partition_it_is_said_that_histograms_are_of_disks() {
    let run = made("missing-partition", |sink, _| {
        for (device, layer) in [("loop1", "stacked"), ("loop1p1", "partition")] {
            row(
                sink,
                "disk",
                &[device, layer, "read"],
                &[5.0, 20480.0, 0.0, 0.1, 0.0],
            );
        }
        let words = ["loop1", "stacked", "read"];
        row(sink, "disk_latency", &words, &[0.001, 5.0, 20480.0]);
    });
    let text = said("get", &run, "disk.ios by latency where device = loop1p1");
    assert!(text.contains("loop1p1 is a partition, and histograms and events are of whole disks"));
    assert!(!text.contains("nothing was observed"), "{text}");
    let text = said("get", &run, "disk.ios by latency where device = loop2");
    assert!(text.contains("nothing was observed"), "{text}");
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}

#[test]
fn what_lacks_dropped_events_says_how_many() {
    let run = made("missing-dropped", |sink, second| {
        if second == 2 {
            row(sink, "self_events", &["disk_event"], &[700.0, 0.0, 1.0]);
        }
        let mut words = vec!["sda", "disk", "read"];
        row(sink, "disk_latency", &words, &[0.001, 1.0, 4096.0]);
        words.extend(["sync", "no", "no", "p", "c", "/", "f"]);
        let words: Vec<_> = words.iter().map(|w| sink.word(w)).collect();
        let numbers = [0.0, 0.001, 4096.0, 0.0, 0.0, 0.0, 1.0, 1.0];
        let events = sink.events(TableId::of("disk_event"));
        events.event(STARTED + second * SECOND - SECOND / 2, words, numbers);
    });
    let dropped = "700 events of that time were dropped";
    for expression in [
        "disk.ios by process",
        "disk.ios by process, latency",
        "disk.ios by process where time in 0s..2s",
    ] {
        assert!(
            said("get", &run, expression).contains(dropped),
            "{expression}"
        );
        assert_eq!(get(&run, expression)["dropped"], 700.0, "{expression}");
    }
    for expression in ["disk.ios by latency", "disk.ios by process where time > 2s"] {
        assert!(
            !said("get", &run, expression).contains("dropped"),
            "{expression}"
        );
        assert!(
            get(&run, expression).get("dropped").is_none(),
            "{expression}"
        );
    }
    // Beside the numbers, not among them.
    let csv = support::output(
        sonde()
            .arg("get")
            .arg(&run)
            .args(["disk.ios by process", "--csv"]),
    );
    assert!(!String::from_utf8_lossy(&csv.stdout).contains("dropped"));
    assert!(String::from_utf8_lossy(&csv.stderr).contains("700 events"));
    assert!(said("plot", &run, "disk.ios by process").contains(dropped));
    let part = succeed(
        sonde()
            .arg("plot")
            .arg(&run)
            .args(["disk.ios by process", "--from", "2s"]),
    );
    assert!(!part.contains("dropped"), "{part}");
    std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
}
