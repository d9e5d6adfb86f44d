//! Phases, times, hosts, numbers, regular expressions and lists.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use support::{Runs, pairs, runs};

/// Devices with 1, 10, 100, 1000 bytes in the seconds 1 to 4 (times their place), and phases.
fn phased() -> Runs {
    runs(&[("warm", 1.0), ("steady", 2.0), ("warm", 3.0)], |s| {
        for (second, bytes) in [(1.0, 1.0), (2.0, 10.0), (3.0, 100.0), (4.0, 1000.0)] {
            s.at(second, 1.0);
            for (device, times) in [("sda", 1.0), ("sdb", 2.0), ("nvme0n1", 3.0)] {
                let amounts = [1.0, bytes * times, 0.0, 0.0, 0.0];
                s.row("disk", &[device, "disk", "read"], &amounts);
            }
        }
    })
}

#[test]
fn an_interval_belongs_to_the_phase_in_which_it_ends() {
    let r = phased();
    // A phase that is entered again is the same one; a mark's own sample is the phase before.
    let by_phase = pairs(&[("warm", 6060.0), ("steady", 600.0), ("(none)", 6.0)]);
    assert_eq!(r.totals("disk.bytes by phase"), by_phase);
    assert_eq!(
        r.one("disk.bytes where phase = steady"),
        (Some(600.0), 600.0, 600.0, 600.0, 1)
    );
    assert_eq!(r.one("disk.bytes where phase = warm").1, 3030.0);
    assert_eq!(r.one("disk.bytes where phase != warm").0, Some(606.0));
    let both = r.totals("disk.bytes by phase, device where device = sda");
    let expected = pairs(&[
        ("warm, sda", 1010.0),
        ("steady, sda", 100.0),
        ("(none), sda", 1.0),
    ]);
    assert_eq!(both, expected);
}

#[test]
fn times_count_from_the_start() {
    let r = phased();
    for (test, total) in [
        ("time in 1s..3s", 660.0),
        ("time in 1..3s", 660.0),
        ("time in 1..3", 660.0),
        ("time > 3s", 6000.0),
        ("time >= 3s", 6000.0),
        ("time < 2s", 66.0),
        ("time > 1s and time < 2s", 60.0),
        ("time in 0s..1h", 6666.0),
        ("time in 1000ms..0.05m", 660.0),
    ] {
        let expression = format!("disk.bytes where {test}");
        assert_eq!(r.one(&expression).0, Some(total), "{test}");
    }
    assert_eq!(r.ask("disk.bytes where time > 4s").groups.len(), 0);
}

#[test]
fn words_are_chosen_by_value_list_and_pattern() {
    let r = phased();
    for (test, total) in [
        ("device = sda", 1111.0),
        ("device = 'sda'", 1111.0),
        ("device != sda", 5555.0),
        ("device in sda, sdb", 3333.0),
        ("device in sda,nvme0n1 and device != sda", 3333.0),
        ("device ~ ^sd", 3333.0),
        ("device ~ \"^sd[b-z]$\"", 2222.0),
        ("device !~ ^sd", 3333.0),
        ("device ~ 0", 3333.0),
        ("host = box", 6666.0),
        ("host ~ b and device = sda", 1111.0),
    ] {
        let expression = format!("disk.bytes where {test}");
        assert_eq!(r.one(&expression).0, Some(total), "{test}");
    }
    let by_host = pairs(&[("box, sdb", 2222.0)]);
    assert_eq!(
        r.totals("disk.bytes by host, device where device = sdb"),
        by_host
    );
    for nothing in ["device = sd", "host = other", "host != box"] {
        let answer = r.ask(&format!("disk.bytes where {nothing}"));
        assert!(answer.groups.is_empty(), "{nothing}: {:?}", answer.groups);
    }
}

/// Reads of 1 ms and 10 ms, writes of 10 ms: by the lower bounds of their buckets.
fn latencies() -> Runs {
    let bucket = |ns: u64| run::grid::lower(run::grid::index(ns)) as f64 / 1e9;
    let (fast, slow) = (bucket(1_000_000), bucket(10_000_000));
    runs(&[], move |s| {
        for second in 1..=3 {
            s.at(f64::from(second), 1.0).own();
            if second == 1 {
                s.row("disk_latency", &["sda", "disk", "read"], &[fast, 5.0, 5.0]);
            }
            if second < 3 {
                s.row("disk_latency", &["sda", "disk", "read"], &[slow, 7.0, 7.0]);
                s.row("disk_latency", &["sda", "disk", "write"], &[slow, 2.0, 2.0]);
            }
        }
    })
}

#[test]
fn numbers_are_chosen_by_the_bucket_that_holds_them() {
    let r = latencies();
    for (test, total) in [
        ("latency = 10ms", 18.0),
        ("latency != 10ms", 5.0),
        ("latency in 1ms, 10ms", 23.0),
        ("latency > 2ms", 18.0),
        ("latency < 2ms", 5.0),
        ("latency in 900us..2ms", 5.0),
        ("latency in 5..20ms and op = write", 4.0),
        ("latency >= 0", 23.0),
    ] {
        let expression = format!("disk.ios where {test}");
        assert_eq!(r.one(&expression).0, Some(total), "{test}");
    }
}

#[test]
fn groups_of_numbers_rise_and_are_zero_where_nothing_happened() {
    let r = latencies();
    let answer = r.ask("disk.ios by latency");
    let totals: Vec<_> = answer.groups.iter().map(|g| g.total).collect();
    assert_eq!(totals, [Some(5.0), Some(18.0)]);
    assert_eq!(answer.groups[0].intervals, 3);
    assert_eq!((answer.groups[0].min, answer.groups[0].max), (0.0, 5.0));
    let by_both = r.totals("disk.ios by op, latency");
    let sizes: Vec<f64> = by_both.iter().map(|b| b.1).collect();
    assert_eq!(sizes, [14.0, 5.0, 4.0]);
}

/// Control groups may count some devices only: where there are events, which count all, they are
/// asked.
#[test]
fn own_tables_are_asked_before_those_of_others() {
    let with = |events: bool| {
        runs(&[], move |s| {
            s.at(1.0, 1.0).own();
            s.row("cgroup_io", &["/", "loop0", "disk", "read"], &[1.0, 512.0]);
            // What it frees it moves not.
            s.row("cgroup_io", &["/", "loop0", "disk", "discard"], &[1.0, 1e6]);
            let words = [
                "sda", "disk", "read", "sync", "no", "yes", "p[1@1]", "fio", "/a", "",
            ];
            let values = [0.0, 0.001, 4096.0, 0.0, 0.0, 0.0, 1.0, 1.0];
            if events {
                s.event("disk_event", support::at(0.5), &words, &values);
            }
        })
    };
    let counted = |events: bool| {
        let runs = with(events);
        let answer = runs.ask("disk.bytes by cgroup");
        assert_eq!(answer.caveat.is_some(), !events);
        (answer.table, runs.totals("disk.bytes by cgroup"))
    };
    assert_eq!(counted(true), ("disk_event", pairs(&[("/a", 4096.0)])));
    assert_eq!(counted(false), ("cgroup_io", pairs(&[("/", 512.0)])));
}
