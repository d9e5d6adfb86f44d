//! `sonde try`: what is wrong is told before anything starts, and what fails does not count.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell why they skip"
)]

mod support;
#[path = "support/trying.rs"]
mod trying;

use support::{output, sonde};
use trying::{Bench, against};

/// Words behind `sonde try`, parted by `|`, and what is said of them.
const REFUSED: &[(&str, &str)] = &[
    ("--param|n=1,2", "no command to try"),
    ("--|true", "nothing to try"),
    ("--param|n=1,2|--|echo|{m}", "the command has {m}"),
    ("--param|n=1,2|--|echo", "--param n changes nothing"),
    ("--param|n=1|--|echo|{n}", "one arm only"),
    ("--param|n=1,1|--|echo|{n}", "stands twice"),
    ("--param|n=1,,2|--|echo|{n}", "a value is empty"),
    ("--param|n|--|echo|{n}", "expected NAME=VALUE"),
    ("--param|n=1,2|--param|n=3,4|--|echo|{n}", "given twice"),
    ("--set|nothing:such=1|--|true", "knobs do not begin with"),
    ("--set|disk:nosuchdisk.scheduler=none|--|true", "nosuchdisk"),
    ("--set|thp=perhaps|--|true", "thp"),
    ("--param|n=1,2|--blocks|0|--|echo|{n}", "expected 1 to"),
    ("--param|n=1,2|--blocks|many|--|echo|{n}", "expected 1 to"),
    ("--param|n=1,2|-m||--|echo|{n}", "no expression"),
    (
        "--param|n=1,2|-m|disk.foo|--|echo|{n}",
        "`disk` has no measure `foo`",
    ),
    ("--param|n=1,2|-m|disk.byte|--|echo|{n}", "bytes"),
    (
        "--param|n=1,2|-m|dsk.bytes|--|echo|{n}",
        "there is no subject `dsk`",
    ),
    (
        "--set|thp=never|-m|disk.bytes by devise|--|true",
        "`disk` has no dimension `devise`",
    ),
    (
        "--param|n=1,2|-m|p99 disk.ios|--|echo|{n}",
        "a quantile needs a sum by one number",
    ),
    (
        "--param|n=1,2|--dry-run|-m|disk.foo|--|echo|{n}",
        "`disk` has no measure `foo`",
    ),
    ("--param|n=1,2|--warmup|long|--|echo|{n}", "--warmup"),
    ("--search|n=5..2|--|echo|{n}", "is not below"),
    ("--search|n=a..b|--|echo|{n}", "two numbers"),
    ("--search|n=1|--|echo|{n}", "expected KNOB=LOW..HIGH"),
    ("--search|n=1,1|--|echo|{n}", "stands twice"),
    ("--search|n=a,,b|--|echo|{n}", "a value is empty"),
    ("--scale|n=1,x|--|echo|{n}", "no number of things"),
    ("--scale|n=0,1|--|echo|{n}", "no number of things"),
    (
        "--scale|n=1,2|-m|elapsed|--|echo|{n}",
        "none of the metrics is a throughput",
    ),
    ("--param|n=1,2|-o|there|--|echo|{n}", "exists already"),
    ("--resume|there", "is no experiment"),
    ("--resume|nowhere", "is no experiment"),
    ("--resume|there|--param|n=1,2", "cannot be used with"),
    ("--resume|there|--blocks|9", "cannot be used with"),
    ("--resume|there|-m|elapsed", "cannot be used with"),
    ("--resume|there|--seed|5", "cannot be used with"),
];

#[test]
fn what_cannot_be_tried_is_refused() {
    let bench = Bench::new("try-refused");
    std::fs::create_dir(bench.dir.join("there")).expect("a directory");
    for (words, wanted) in REFUSED {
        let words: Vec<&str> = words.split('|').collect();
        bench.refused(&words, wanted);
    }
    let left: Vec<_> = std::fs::read_dir(&bench.dir)
        .expect("a directory")
        .flatten()
        .collect();
    assert_eq!(left.len(), 1, "something was begun: {left:?}");
}

#[test]
fn a_dry_run_tells_the_plan_and_does_nothing() {
    let bench = Bench::new("try-dry");
    let words = [
        "--param",
        "n=1,2,3",
        "--blocks",
        "3",
        "--seed",
        "7",
        "--dry-run",
        "-m",
        "elapsed",
        "--",
        "touch",
        "trace-{n}",
    ];
    let out = output(&mut bench.command(&words));
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert_eq!(out.status.code(), Some(0), "{text}");
    for part in [
        "3 blocks CANNOT decide",
        "6 are the least",
        "seed 7",
        "12 trials",
    ] {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    assert_eq!(
        std::fs::read_dir(&bench.dir).expect("a directory").count(),
        0
    );
}

/// What no rehearsal can tell would be told by no trial either.
#[test]
fn a_metric_or_a_command_that_does_not_work_ends_with_the_rehearsal() {
    let bench = Bench::new("try-rehearsal");
    let cases: &[(&[&str], &str)] = &[
        (
            &[
                "-m",
                "disk.bytes where device = nosuch",
                "--",
                "echo",
                "{n}",
            ],
            "nothing matches it",
        ),
        (&["-m", "disk.bites", "--", "echo", "{n}"], "disk.bites"),
        (&["-m", "nfs_op.count", "--", "echo", "{n}"], "nfs_op"),
        (
            &["-m", "p99 disk.ios by latency", "--", "echo", "{n}"],
            "disk",
        ),
        (
            &["-m", "elapsed", "--", "no-such-program", "{n}"],
            "there is no such command",
        ),
        (
            &[
                "-m",
                "elapsed",
                "--",
                "sh",
                "-c",
                "echo why >&2; exit 4; {n}",
            ],
            "status 4 why",
        ),
        (
            &["-m", "elapsed", "--warmup", "1m", "--", "echo", "{n}"],
            "the warm-up alone is",
        ),
        (
            &["-m", "elapsed", "--prepare", "exit 3", "--", "echo", "{n}"],
            "--prepare ended with",
        ),
    ];
    for (place, (words, wanted)) in cases.iter().enumerate() {
        let name = format!("e{place}");
        let mut all = vec!["--param", "n=1,2", "-q", "-o", &name];
        all.extend(*words);
        bench.refused(&all, wanted);
    }
}

#[test]
fn what_fails_stops_or_does_not_count() {
    let bench = Bench::new("try-fails");
    // The baseline works; the arm does not.
    let words = [
        "--param", "n=0,1", "--blocks", "2", "-m", "elapsed", "--", "sh", "-c", "exit {n}",
    ];
    let stopped = bench.conduct(&words, 1);
    assert_eq!(stopped["trials_failed"], 1);
    let ended = stopped["ended"].as_str().expect("how it ended");
    assert!(ended.contains("status 1"), "{ended}");
    std::fs::remove_dir_all(bench.experiment()).expect("gone");
    let all = [&["--keep-going"], &words[..]].concat();
    let on = bench.conduct(&all, 0);
    assert_eq!(
        (&on["trials_failed"], &on["trials_done"]),
        (&2.into(), &4.into())
    );
    assert_eq!(against(&on, 0, "1")["blocks"], 0);
    assert_eq!(on["advice"]["what"], "too few");
    // It is kept, and can be looked at.
    let failed = on["trials"].as_array().expect("trials").iter();
    let failed: Vec<_> = failed.filter(|t| t["state"] == "failed").collect();
    let run = bench.dir.join(failed[0]["run"].as_str().expect("a path"));
    assert!(output(sonde().arg("show").arg(run)).status.success());
}

#[test]
fn values_reach_the_command_as_they_are() {
    let bench = Bench::new("try-values");
    let odd = "x=a b;$(touch bad),it's \"q\" *";
    let script = "printf '%s\\n' \"$1\" >> seen";
    let words = [
        "--param",
        odd,
        "--blocks",
        "1",
        "--no-aa",
        "-m",
        "elapsed",
        "--prepare",
        "printf '%s\\n' \"$SONDE_x\" >> prepared",
        "--",
        "sh",
        "-c",
        script,
        "sh",
        "-{x}-",
    ];
    bench.conduct(&words, 0);
    let text = |name: &str| std::fs::read_to_string(bench.dir.join(name)).expect("a file");
    let (seen, prepared) = (text("seen"), text("prepared"));
    for value in ["a b;$(touch bad)", "it's \"q\" *"] {
        assert!(seen.lines().any(|l| l == format!("-{value}-")), "{seen}");
        assert!(prepared.lines().any(|l| l == value), "{prepared}");
    }
    assert_eq!(seen.lines().count(), 3, "{seen}");
    assert!(!bench.dir.join("bad").exists());
}
