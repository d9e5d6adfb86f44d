//! `sonde try`: verdicts where the truth is known, and what is told of them.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell why they skip"
)]

mod support;
#[path = "support/trying.rs"]
mod trying;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use lab::experiment::{
    Blocks, Design, FORMAT, Factor, Kind, Logbook, Measure, Stage, State, Trial, arms,
};
use support::{output, scratch, sonde, succeed};
use trying::{Bench, against};

#[test]
fn a_large_difference_is_found_and_recommended() {
    let bench = Bench::new("try-large");
    let words = [
        "--param",
        "s=0.5,0.05",
        "--blocks",
        "6",
        "--no-aa",
        "-m",
        "elapsed",
        "--every",
        "100ms",
        "--",
        "sleep",
        "{s}",
    ];
    let result = bench.conduct(&words, 0);
    let found = against(&result, 0, "0.05");
    assert_eq!(found["verdict"], "better", "{found}");
    assert_eq!(
        (&result["advice"]["what"], &result["advice"]["arm"]),
        (&"take".into(), &"0.05".into())
    );
    let ratio = found["ratio"].as_f64().expect("a ratio");
    assert!(ratio > 0.05 && ratio < 0.6, "{ratio}");
    // Show and compare read the same directory.
    assert_eq!(bench.shown()["advice"], result["advice"]);
    let dir = bench.experiment();
    let arm = format!("{}:0.05", dir.display());
    let compared = succeed(
        sonde()
            .arg("compare")
            .arg(&dir)
            .args(["--vs", &arm, "-m", "elapsed", "--json"]),
    );
    let compared: serde_json::Value = serde_json::from_str(&compared).expect("JSON");
    assert_eq!(compared["metrics"][0]["verdict"], "better");
    // In blocks: the least chance of the signed ranks, not of the rank sum.
    assert_eq!(compared["metrics"][0]["p"], 0.03125);
    let unknown = format!("{}:0.06", dir.display());
    let out = output(sonde().arg("compare").arg(&dir).args(["--vs", &unknown]));
    assert!(
        String::from_utf8_lossy(&out.stderr).contains("0.05"),
        "{out:?}"
    );
    pictures(&dir);
}

fn pictures(dir: &Path) {
    for (name, start) in [("arms.png", &b"\x89PNG"[..]), ("arms.svg", b"<svg")] {
        let file = dir.join(name);
        succeed(sonde().arg("show").arg(dir).arg("-o").arg(&file));
        assert!(std::fs::read(&file).expect("a picture").starts_with(start));
    }
    let text = succeed(sonde().arg("show").arg(dir));
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    assert!(text.contains("Recommended: 0.05 (s = 0.05)."), "{text}");
}

/// Four blocks cannot tell three metrics of equals apart, whatever noise there is: the least chance of
/// aligned ranks, 2/3⁴, is 0.07 of three that are asked. (None of them is ever zero: what is has no ratio.)
#[test]
fn the_same_against_the_same_claims_nothing() {
    let bench = Bench::new("try-same");
    let words = [
        "--param",
        "n=1,2",
        "--blocks",
        "4",
        "-m",
        "elapsed",
        "-m",
        "memory.available:higher",
        "-m",
        "system.context_switches",
        "--every",
        "100ms",
        "--",
        "sh",
        "-c",
        "sleep 0.2 # {n}",
    ];
    let result = bench.conduct(&words, 0);
    for metric in 0..3 {
        for arm in ["baseline-again", "2"] {
            let verdict = &against(&result, metric, arm)["verdict"];
            assert!(["equivalent", "undecided"].contains(&verdict.as_str().expect("a word")));
        }
    }
    assert_eq!(result["sound"], true);
    assert_ne!(result["advice"]["what"], "take");
    assert_eq!(result["trials_done"], 12);
}

#[test]
fn a_warm_up_does_not_count() {
    let bench = Bench::new("try-warm");
    // Works first, then sleeps, and works a little, so that there is something to measure.
    let script = "work() { i=0; while [ $i -lt $1 ]; do i=$((i+1)); done; }; \
                  work 150000; sleep 1.2; work 30000 # {n}";
    let words = [
        "--param",
        "n=1,2",
        "--blocks",
        "1",
        "--no-aa",
        "--warmup",
        "800ms",
        "--every",
        "100ms",
        "-m",
        "process.time where process ~ sh",
        "-m",
        "elapsed",
        "--",
        "sh",
        "-c",
        script,
    ];
    let result = bench.conduct(&words, 0);
    let run = bench
        .dir
        .join(result["trials"][0]["run"].as_str().expect("a path"));
    let book = std::fs::read_to_string(run.join("run.json")).expect("a manifest");
    assert!(
        book.contains("warm-up") && book.contains("steady"),
        "{book}"
    );
    let whole = result["metrics"][1]["arms"][0]["middle"]
        .as_f64()
        .expect("seconds");
    assert!(whole > 0.9, "{whole}");
    let of = |expression: &str| {
        let got = succeed(sonde().arg("get").arg(&run).args([expression, "--json"]));
        let got: serde_json::Value = serde_json::from_str(&got).expect("JSON");
        got["groups"][0]["total"].as_f64().unwrap_or(0.0)
    };
    let busy = of("process.time where process ~ sh and phase = warm-up");
    let after = of("process.time where process ~ sh and phase != warm-up");
    assert!(busy > after, "{busy} in the warm-up, {after} after it");
}

#[test]
fn a_search_proposes_and_blocks_decide() {
    let bench = Bench::new("try-search");
    // Sleeps by how far n is from 64, by factors of two.
    let script = "n={n}; d=0; while [ $n -lt 64 ]; do n=$((n*2)); d=$((d+1)); done; \
                  while [ $n -gt 127 ]; do n=$((n/2)); d=$((d+1)); done; \
                  sleep 0.$((d))5";
    let words = [
        "--search", "n=4..512", "--blocks", "6", "--no-aa", "-m", "elapsed", "--", "sh", "-c",
        script,
    ];
    let result = bench.conduct(&words, 0);
    let found = result["search"]["found"].as_f64().expect("a value");
    assert!((16.0..512.0).contains(&found), "{found}");
    let searched = result["trials"].as_array().expect("trials");
    let searched = searched.iter().filter(|t| t["stage"] == "search").count();
    assert!((3..=20).contains(&searched), "{searched}");
    assert_eq!(result["trials_done"], 12);
    assert_eq!(
        against(&result, 0, &format!("{found}"))["verdict"],
        "better"
    );
}

#[test]
fn how_work_grows_is_told_with_its_doubt() {
    let bench = Bench::new("try-scale");
    let script = "for i in $(seq {n}); do dd if=/dev/zero of=/dev/null bs=64k count=2000 2>&1 & done; \
                  wait; echo";
    let result = bench.scaled(script);
    let scaling = &result["scaling"];
    let steps = scaling["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 3);
    assert_eq!(steps[0]["speed_up"], 1.0);
    assert!(
        steps.iter().all(|s| s["cpu_seconds_per_unit"].is_number()),
        "{scaling}"
    );
    assert!(scaling["usl"]["alpha"].is_number());
    let doubts = scaling["doubts"].to_string();
    assert!(doubts.contains("too few to extrapolate"), "{doubts}");
    let text = succeed(sonde().arg("show").arg(bench.experiment()));
    assert!(
        text.contains("efficiency") && text.contains("DOUBT"),
        "{text}"
    );
}

/// A logbook of 100 trials, without their runs.
fn hundred() -> Logbook {
    let factors = vec![Factor::parse(Kind::Parameter, "n=1,2,3,4,5,6,7,8,9").expect("a factor")];
    let arms = arms(&factors, Design::Combinations, true).expect("arms");
    let mut trials = Vec::new();
    for block in 1..=10 {
        for (place, arm) in arms.iter().enumerate() {
            let noise = ((block * 7 + place * 13) % 11) as f64 / 1000.0;
            let value = 1e6 * (1.0 + place as f64 / 10.0 + noise);
            let values = ["disk.bytes", "p99 disk.ios by latency"];
            trials.push(Trial {
                stage: Stage::Block,
                block,
                arm: arm.name.clone(),
                run: format!("trials/{block:03}-{}", arm.name).into(),
                state: State::Done,
                why: None,
                started: String::new(),
                seconds: Some(1.0),
                values: BTreeMap::from(values.map(|v| (v.to_owned(), Some(value)))),
            });
        }
    }
    Logbook {
        format: FORMAT,
        sonde: "0".into(),
        id: "1-box".into(),
        host: "box".into(),
        started: String::new(),
        command: vec!["work".into(), "{n}".into()],
        prepare: None,
        seed: 1,
        design: Design::Combinations,
        blocks: Blocks::Fixed(10),
        warmup: 0.0,
        settle: 0.0,
        keep_going: false,
        again: true,
        allow_file: false,
        record: vec![],
        factors,
        arms,
        measures: ["disk.bytes", "p99 disk.ios by latency"]
            .map(|m| Measure {
                metric: m.into(),
                declared: true,
            })
            .to_vec(),
        search: None,
        scale: false,
        trials,
        ended: None,
        restored: None,
    }
}

#[test]
fn a_hundred_trials_are_planned_and_told_in_two_seconds() {
    let dir = scratch("try-hundred");
    hundred().save(&dir).expect("a logbook");
    let began = Instant::now();
    let text = succeed(sonde().arg("show").arg(&dir));
    let plan = output(
        sonde()
            .current_dir(&dir)
            .args([
                "try",
                "--param",
                "n=1,2,3,4,5,6,7,8,9",
                "--blocks",
                "10",
                "--dry-run",
            ])
            .args(["--", "work", "{n}"]),
    );
    let took = began.elapsed();
    assert!(
        plan.status.success() && text.contains("100 trials that count"),
        "{text}"
    );
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
}

#[test]
fn a_damaged_logbook_is_told_and_nothing_panics() {
    let dir = scratch("try-damaged");
    hundred().save(&dir).expect("a logbook");
    let path = dir.join("experiment.json");
    let text = std::fs::read_to_string(&path).expect("a file");
    let mut odd: Vec<String> = (0..text.len())
        .step_by(text.len() / 20)
        .map(|n| text[..n].to_owned())
        .collect();
    odd.push(text.replace("\"format\": 1", "\"format\": 99"));
    odd.push(text.replace("disk.bytes", "..."));
    odd.push(text.replace("\"baseline\"", "\"other\""));
    odd.push(text.replace("\"block\": 3", "\"block\": 999999"));
    for text in odd {
        std::fs::write(&path, &text).expect("a file");
        let out = output(sonde().arg("show").arg(&dir));
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(matches!(out.status.code(), Some(0 | 2)), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}
