//! Damaged runs: what is damaged is named, the rest opens, and no number is another one.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs, write files and look at the clock"
)]

#[path = "support/recorder.rs"]
mod recorder;
#[path = "support/refusal.rs"]
mod refusal;
mod support;

use std::fs;

use recorder::{Recorder, sleep};
use refusal::{recorded, refuses};
use support::{output, scratch, sonde, total};

#[test]
fn one_damaged_table_is_named_and_the_others_open() {
    let dir = scratch("damaged");
    let run = dir.join("run");
    recorded(&run);
    let table = run.join("cpu.parquet");
    let good = fs::read(&table).unwrap();
    let idle = total(&run, "cpu.idle");
    let damages: [(&str, Option<Vec<u8>>); 6] = [
        ("missing", None),
        ("empty", Some(vec![])),
        ("short", Some(good[..good.len() - 9].to_vec())),
        ("half", Some(good[..good.len() / 2].to_vec())),
        ("tail", Some(good[good.len() / 2..].to_vec())),
        ("other", Some(fs::read(run.join("vm.parquet")).unwrap())),
    ];
    for (name, bytes) in damages {
        match bytes {
            Some(bytes) => fs::write(&table, bytes).unwrap(),
            None => fs::remove_file(&table).unwrap(),
        }
        refuses(
            &dir,
            &["get", "run", "cpu.time"],
            "table cpu of run is damaged",
            "other tables",
        );
        assert_eq!(total(&run, "cpu.idle"), idle, "{name}");
        let both = ["get", "run", "cpu.time", "cpu.idle", "cpu.time by cpu"];
        let out = output(sonde().args(both).arg("--json").current_dir(&dir));
        assert_eq!(out.status.code(), Some(2), "{name}");
        let text = String::from_utf8_lossy(&out.stdout);
        let answers: Vec<&str> = text.lines().collect();
        assert!(
            answers.len() == 1 && answers[0].contains(r#""expr":"cpu.idle""#),
            "{name}: {text}"
        );
        let told = String::from_utf8_lossy(&out.stderr);
        let named = told.matches("table cpu of run is damaged").count();
        assert_eq!(named, 1, "{name}: {told}");
        // `cpu.utilisation` is one of its headlines.
        let out = output(sonde().arg("list").current_dir(&dir));
        assert_eq!(out.status.code(), Some(1), "{name}");
        let told = String::from_utf8_lossy(&out.stderr);
        assert!(
            told.contains("table cpu of run is damaged"),
            "{name}: {told}"
        );
        let out = output(sonde().args(["show", "run"]).current_dir(&dir));
        assert_eq!(out.status.code(), Some(1), "{name}");
        assert!(
            String::from_utf8_lossy(&out.stdout).contains("own cost"),
            "{name}"
        );
        // What cannot be read may have been full.
        let screen = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(
            !screen.contains("nothing that was full"),
            "{name}: {screen}"
        );
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(
            told.contains("table cpu of run is damaged"),
            "{name}: {told}"
        );
    }
}

#[test]
fn a_flipped_bit_is_never_another_number() {
    let dir = scratch("flipped");
    let run = dir.join("run");
    recorded(&run);
    let table = run.join("cpu.parquet");
    let good = fs::read(&table).unwrap();
    let ask = || {
        output(
            sonde()
                .args(["get", "run", "cpu.time by cpu, mode", "--series", "--csv"])
                .current_dir(&dir),
        )
    };
    let right = ask().stdout;
    let mut noticed = 0;
    // Every 23rd byte meets all parts of the file: pages, sums, footer.
    for place in (0..good.len()).step_by(23) {
        let mut bytes = good.clone();
        bytes[place] ^= 1 << (place % 8);
        fs::write(&table, &bytes).unwrap();
        let out = ask();
        let told = String::from_utf8_lossy(&out.stderr);
        assert!(!told.contains("panicked"), "byte {place}: {told}");
        if out.status.code() == Some(2) {
            assert!(
                told.contains("table cpu of run is damaged"),
                "byte {place}: {told}"
            );
            noticed += 1;
        } else {
            // A byte that no answer comes from, such as the mark at the file's start.
            assert!(
                out.stdout == right,
                "byte {place} of {} changed the answer",
                good.len()
            );
        }
    }
    assert!(noticed > good.len() / 23 * 9 / 10, "{noticed} noticed");
}

#[test]
fn a_damaged_journal_gives_what_came_before_and_says_so() {
    let dir = scratch("journal");
    let run = dir.join("run");
    let recorder = Recorder::start(&run, &["-q", "--every", "20ms", "--for", "1m"]);
    sleep(3.2);
    recorder.kill();
    let whole = total(&run, "self.samples");
    let journal = run.join("journal");
    let good = fs::read(&journal).unwrap();
    let arguments = ["get", "run", "self.samples", "--csv"];
    let right = output(sonde().args(arguments).current_dir(&dir)).stdout;
    let (mut places, mut noticed) = (0, 0);
    for place in (40..good.len()).step_by(good.len() / 40) {
        let mut bytes = good.clone();
        bytes[place] ^= 0x10;
        fs::write(&journal, &bytes).unwrap();
        let out = output(sonde().args(arguments).current_dir(&dir));
        let told = String::from_utf8_lossy(&out.stderr);
        places += 1;
        if told.is_empty() {
            // Some bits of a compressed block mean nothing: the checksums say that every row
            // is as it was written.
            assert_eq!(
                out.stdout, right,
                "byte {place} changed the answer, unnoticed"
            );
            continue;
        }
        noticed += 1;
        // Nothing is left to ask when the first sample is hit.
        let status = if told.contains("has no table `self`") {
            2
        } else {
            0
        };
        assert_eq!(out.status.code(), Some(status), "byte {place}: {told}");
        assert!(
            told.contains("journal of run is damaged after"),
            "byte {place}: {told}"
        );
        fs::write(&journal, &good).unwrap();
    }
    assert!(noticed * 10 >= places * 9, "{noticed} of {places} noticed");
    // Cut at any byte: what is before it, and no more.
    let mut last = 0.0;
    for length in (0..good.len()).step_by(good.len() / 40) {
        fs::write(&journal, &good[..length]).unwrap();
        let out = output(
            sonde()
                .args(["get", "run", "self.samples"])
                .current_dir(&dir),
        );
        let told = String::from_utf8_lossy(&out.stderr);
        if out.status.code() == Some(2) {
            let why = ["has no rows", "is damaged after"];
            assert!(
                why.iter().any(|w| told.contains(w)) && last == 0.0,
                "{length} bytes: {told}"
            );
            continue;
        }
        let samples = total(&run, "self.samples");
        assert!(
            samples >= last && samples <= whole,
            "{length} bytes: {samples} after {last}"
        );
        last = samples;
    }
    fs::remove_file(&journal).unwrap();
    refuses(
        &dir,
        &["get", "run", "cpu.time"],
        "run has no journal",
        "not sealed",
    );
}

/// As that of a sealed table: told once, with what to do, in the status and in the JSON.
#[test]
fn garbage_in_a_journal_is_damage_and_its_cut_end_is_none() {
    let dir = scratch("garbage");
    let run = dir.join("run");
    let recorder = Recorder::start(&run, &["-q", "--every", "20ms", "--for", "1m"]);
    sleep(1.5);
    recorder.kill();
    let journal = run.join("journal");
    let good = fs::read(&journal).unwrap();
    let show = |arguments: &[&str]| {
        let out = output(
            sonde()
                .args(["show", "run"])
                .args(arguments)
                .current_dir(&dir),
        );
        let texts = [out.stdout, out.stderr].map(|t| String::from_utf8(t).unwrap());
        (out.status.code(), texts)
    };
    let mut garbled = good.clone();
    let middle = good.len() / 2;
    garbled[middle..middle + 512].fill(0xff);
    fs::write(&journal, &garbled).unwrap();
    let (status, [_, told]) = show(&[]);
    assert_eq!(status, Some(1), "{told}");
    assert_eq!(told.matches("is damaged after").count(), 1, "{told}");
    assert!(told.contains("hint: what came before"), "{told}");
    let (_, [json, _]) = show(&["--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let problem = json["problems"][0].as_str().unwrap();
    assert!(problem.contains("journal of run is damaged"), "{problem}");
    // From its first block on: no rows are left, and that is not for want of any.
    garbled[4..].fill(0xff);
    fs::write(&journal, &garbled).unwrap();
    let out = output(sonde().args(["get", "run", "cpu.time"]).current_dir(&dir));
    let told = String::from_utf8_lossy(&out.stderr);
    assert!(!told.contains("nothing to say"), "{told}");
    assert!(told.contains("not all can be read"), "{told}");
    // A block that is not yet whole is how a killed recorder ends.
    fs::write(&journal, &good[..good.len() - 1]).unwrap();
    let (status, [_, told]) = show(&[]);
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("was killed"), "{told}");
}
