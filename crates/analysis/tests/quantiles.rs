//! Quantiles of runs: by group, by interval, of events, bytes and time.

mod support;

use analysis::quantiles::{Spread, of};
use analysis::{evaluate, summarise};
use run::Run;
use support::{Runs, runs};

/// Two seconds: 100 fast and 20 slow reads of vda in the first, 20 fast ones in the second;
/// 40 writes of sda. Slow reads are a hundred times as large.
fn latencies() -> Runs {
    runs(&[], |s| {
        for (second, fast, slow) in [(1.0, 100.0, 20.0), (2.0, 20.0, 0.0)] {
            s.at(second, 1.0).own();
            let read = ["vda", "disk", "read"];
            s.row("disk_latency", &read, &[100e-9, fast, fast * 4096.0]);
            if slow > 0.0 {
                s.row("disk_latency", &read, &[1e-3, slow, slow * 409_600.0]);
            }
            s.row(
                "disk_latency",
                &["sda", "disk", "write"],
                &[2e-3, 20.0, 0.0],
            );
            let depth = ["vda", "disk"];
            s.row("disk_at_depth", &depth, &[1.0, 0.75]);
            s.row("disk_at_depth", &depth, &[32.0, 0.25]);
        }
    })
}

fn spread_of(run: &Run, text: &str, series: bool) -> Vec<Spread> {
    let ask = if series { evaluate } else { summarise };
    let spreads = of(run, &ask(run, text).unwrap()).unwrap();
    spreads.expect("a number dimension").groups
}

#[test]
fn each_group_of_words_has_its_own() {
    let runs = latencies();
    for run in [&runs.sealed, &runs.killed] {
        let found = spread_of(run, "disk.ios by device, op, latency", false);
        let keys: Vec<_> = found.iter().map(|s| s.key.join(" ")).collect();
        assert_eq!(keys, ["vda read", "sda write"]);
        let reads = &found[0].whole;
        assert_eq!((reads.total, reads.events()), (140.0, Some(140.0)));
        assert_eq!(reads.quantile(0.5), Some(100e-9));
        // The 126th of 140 is a slow one, and 14 lie beyond.
        assert!((reads.quantile(0.9).unwrap() / 1e-3 - 1.0).abs() < 1.0 / 64.0);
        assert_eq!(reads.quantile(0.99), None);
        assert!(found[0].intervals.is_empty());
        // The place of the number does not matter.
        let other = spread_of(run, "disk.ios by device, latency, op", false);
        assert_eq!(other[0].key, found[0].key);
        assert_eq!(other[0].whole, found[0].whole);
    }
}

#[test]
fn each_interval_has_its_own() {
    let runs = latencies();
    for run in [&runs.sealed, &runs.killed] {
        let expression = "disk.ios by latency where op = read";
        let found = spread_of(run, expression, true);
        let totals: Vec<_> = found[0].intervals.iter().map(|(_, d)| d.total).collect();
        assert_eq!(totals, [120.0, 20.0]);
        let (first, second) = (&found[0].intervals[0].1, &found[0].intervals[1].1);
        assert!(first.quantile(0.9).unwrap() > 1e-3);
        assert_eq!(second.quantile(0.5), Some(100e-9));
        assert_eq!(second.quantile(0.9), None);
        assert_eq!(second.max(), Some(100e-9));
    }
}

/// Half of the bytes are slow, though few of the reads are; how many events lie beyond is
/// counted in reads.
#[test]
fn bytes_are_spread_with_the_events_behind_them() {
    let runs = latencies();
    for run in [&runs.sealed, &runs.killed] {
        let found = spread_of(run, "disk.bytes by latency where op = read", true);
        let whole = &found[0].whole;
        assert_eq!(whole.total, 120.0 * 4096.0 + 20.0 * 409_600.0);
        assert_eq!(whole.events(), Some(140.0));
        assert!(whole.quantile(0.5).unwrap() > 1e-3);
        assert_eq!(whole.quantile(0.9), None, "two slow reads are beyond it");
        assert_eq!(found[0].intervals[0].1.events(), Some(120.0));
    }
}

#[test]
fn time_at_a_depth_needs_no_events() {
    let runs = latencies();
    for run in [&runs.sealed, &runs.killed] {
        let found = spread_of(run, "disk.at_depth by depth", false);
        let depth = &found[0].whole;
        assert_eq!(depth.quantile(0.5), Some(1.0));
        assert_eq!(depth.quantile(0.9), Some(32.0));
        assert_eq!(depth.mean(), Some(0.75 + 8.0));
    }
}

#[test]
fn ratios_and_words_have_no_distribution() {
    let runs = latencies();
    for text in [
        "disk.mean_size by latency",
        "disk.ios by latency, op where latency > 0s",
    ] {
        let answer = summarise(&runs.sealed, text).unwrap();
        let spreads = of(&runs.sealed, &answer).unwrap();
        assert_eq!(spreads.is_some(), text.starts_with("disk.ios"), "{text}");
    }
}

/// Two sizes that share buckets with larger ones, and one bucket of several sizes.
#[test]
fn sizes_are_exact_where_the_bytes_tell() {
    let runs = runs(&[], |s| {
        for second in [1.0, 2.0] {
            s.at(second, 1.0).own();
            let write = ["vda", "disk", "write"];
            s.row("disk_size", &write, &[65536.0, 80.0, 80.0 * 65536.0]);
            s.row("disk_size", &write, &[1048576.0, 15.0, 15.0 * 1048576.0]);
            s.row("disk_size", &write, &[2097152.0, 5.0, 5.0 * 2100000.0]);
        }
    });
    for run in [&runs.sealed, &runs.killed] {
        let found = spread_of(run, "disk.ios by size", true);
        let (whole, second) = (&found[0].whole, &found[0].intervals[1].1);
        for one in [whole, second] {
            assert_eq!(one.quantile(0.5), Some(65536.0));
            assert_eq!(one.quantile(0.9), Some(1048576.0));
            // The last whole sector in the bucket.
            assert_eq!(one.max(), Some(2097152.0 + 32768.0 - 512.0));
            let mean = 0.8 * 65536.0 + 0.15 * 1048576.0 + 0.05 * 2100000.0;
            assert!((one.mean().unwrap() - mean).abs() < 1e-6);
        }
        let bytes = spread_of(run, "disk.bytes by size", false);
        assert_eq!(bytes[0].whole.events(), Some(200.0));
        assert_eq!(bytes[0].whole.quantile(0.5), Some(1048576.0));
    }
}

/// 300 events, of which some rows stand for eight: 30 beyond are less than four that were
/// seen.
#[test]
fn sampled_events_refuse_more() {
    let words = [
        "vda", "disk", "read", "sync", "no", "yes", "a[1@2]", "a", "/", "",
    ];
    let runs = runs(&[], |s| {
        s.at(1.0, 1.0).own();
        for weight in [1.0, 8.0, 2.0] {
            let numbers = [0.0, 1e-4, 4096.0, 0.0, 0.0, 0.0, 1.0, weight];
            s.row("disk_event", &words, &numbers);
        }
        let read = ["vda", "disk", "read"];
        s.row("disk_size", &read, &[4096.0, 300.0, 300.0 * 4096.0]);
    });
    for run in [&runs.sealed, &runs.killed] {
        let mut answer = summarise(run, "disk.ios by size").unwrap();
        let exact = of(run, &answer).unwrap().unwrap();
        assert_eq!(exact.heaviest, 1.0);
        assert!(exact.groups[0].whole.quantile(0.9).is_some());
        answer.table = "disk_event";
        let sampled = of(run, &answer).unwrap().unwrap();
        assert_eq!(sampled.heaviest, 8.0);
        assert!(sampled.groups[0].whole.quantile(0.5).is_some());
        assert_eq!(sampled.groups[0].whole.quantile(0.9), None);
    }
}
