//! Derived statistics: what is below the line, and over which time.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use run::catalog;
use support::{Runs, Script, at, pairs, runs};

fn cpu(s: &mut Script, cpu: &str, mode: &str, time: f64) {
    s.row("cpu", &[cpu, mode], &[time]);
}

/// Two processors, two seconds.
fn two_processors() -> Runs {
    runs(&[], |s| {
        for second in [1.0, 2.0] {
            s.at(second, 1.0);
            cpu(s, "0", "user", 0.5);
            cpu(s, "0", "system", 0.25);
            s.row("cpu_idle", &["0"], &[0.25, 0.0, 0.0]);
            if second == 2.0 {
                cpu(s, "1", "user", 0.5);
                s.row("cpu_idle", &["1"], &[0.25, 0.125, 0.125]);
            } else {
                s.row("cpu_idle", &["1"], &[1.0, 0.0, 0.0]);
            }
            s.row("cgroup_cpu", &["/a", "user"], &[0.5]);
        }
    })
}

#[test]
fn utilisation_is_a_share_of_all_the_time_there_was() {
    let r = two_processors();
    // Busy 0.75 + 0.75 + 0.5 of four processor seconds.
    assert_eq!(r.one("cpu.utilisation"), (None, 0.5, 0.375, 0.625, 2));
    let by_cpu = pairs(&[("0", 0.75), ("1", 0.25)]);
    assert_eq!(r.means("cpu.utilisation by cpu"), by_cpu);
}

#[test]
fn parts_of_a_utilisation_sum_to_the_whole() {
    let r = two_processors();
    let by_mode = pairs(&[("user", 0.375), ("system", 0.125)]);
    assert_eq!(r.means("cpu.utilisation by mode"), by_mode);
    let by_both = pairs(&[("0, user", 0.5), ("0, system", 0.25), ("1, user", 0.25)]);
    assert_eq!(r.means("cpu.utilisation by cpu, mode"), by_both);
    let by_cgroup = pairs(&[("/a", 0.25)]);
    assert_eq!(r.means("cpu.utilisation by cgroup"), by_cgroup);
    assert_eq!(r.one("cpu.utilisation where mode = system").1, 0.125);
}

#[test]
fn a_processor_that_idles_is_no_gap() {
    let r = two_processors();
    assert_eq!(
        r.one("cpu.time where cpu = 1"),
        (Some(0.5), 0.25, 0.0, 0.5, 2)
    );
    assert_eq!(
        r.one("cpu.utilisation where cpu = 1"),
        (None, 0.25, 0.0, 0.5, 2)
    );
}

/// bytes and, as capacity, nothing known.
fn net(s: &mut Script, bytes: f64) {
    let mut values = vec![f64::NAN; 8];
    values[0] = bytes;
    s.row("net", &["eth0", "edge", "receive"], &values);
}

#[test]
fn finer_intervals_add_up_into_the_coarser_ones() {
    let r = runs(&[], |s| {
        for second in 1..=6 {
            s.at(f64::from(second), 1.0);
            cpu(s, "0", "user", f64::from(second) / 8.0);
            s.row("cpu_idle", &["0"], &[1.0, 0.0, 0.0]);
            // Nothing is known of the network in seconds 2 to 4.
            if second == 2 || second == 6 {
                s.at(f64::from(second), 2.0);
                net(s, 1e9);
            }
        }
    });
    // (1 + 2) / 8 s, then (5 + 6) / 8 s, a GB each.
    let answer = r.ask("cpu.seconds_per_net_gb");
    let series = answer.groups[0].series.clone();
    assert_eq!(series, [(0, 0.375), (1, 1.375)]);
    assert_eq!(answer.groups[0].mean, 0.875);
}

#[test]
fn a_share_of_the_time_is_the_mean_of_the_instances() {
    let r = runs(&[], |s| {
        for second in [1.0, 2.0] {
            s.at(second, 1.0);
            s.row("disk_device", &["sda", "disk"], &[0.5, 1.0, 0.0]);
            s.row("disk_device", &["sdb", "disk"], &[0.0, 0.0, 0.0]);
            s.row("disk_device", &["dm-0", "stacked"], &[1.0, 1.0, 0.0]);
        }
    });
    assert_eq!(r.one("disk.utilisation").1, 0.25);
    assert_eq!(r.one("disk.mean_depth").1, 0.5);
    let by_device = pairs(&[("dm-0", 1.0)]);
    assert_eq!(
        r.means("disk.utilisation by device where device ~ ^dm"),
        by_device
    );
    let by_layer = pairs(&[("stacked", 1.0), ("disk", 0.25)]);
    assert_eq!(r.means("disk.utilisation by layer"), by_layer);
}

/// Group `/a` stalls in one of four seconds, `/b` in two.
fn stalls() -> Runs {
    runs(&[("late", 2.0)], |s| {
        for second in 1..=4 {
            s.at(f64::from(second), 1.0);
            s.row("cgroup_tasks", &["/a"], &[1.0]);
            if second == 2 {
                s.row("cgroup_pressure", &["/a", "io", "some"], &[0.5]);
                s.row("cgroup_pressure", &["/a", "io", "full"], &[0.25]);
            }
            if second > 2 {
                s.row("cgroup_pressure", &["/b", "io", "some"], &[0.5]);
            }
        }
    })
}

#[test]
fn a_share_of_the_time_counts_the_time_without_rows() {
    let r = stalls();
    let by_group = pairs(&[("/b", 0.25), ("/a", 0.125)]);
    assert_eq!(r.means("cgroup.pressure by cgroup"), by_group);
    assert_eq!(r.one("cgroup.pressure").1, 0.1875);
    let full = pairs(&[("/a", 0.0625)]);
    let full_by_group = "cgroup.pressure by cgroup where share = full";
    assert_eq!(r.means(full_by_group), full);
    let by_phase = pairs(&[("/b, late", 0.5), ("/a, (none)", 0.25)]);
    assert_eq!(r.means("cgroup.pressure by cgroup, phase"), by_phase);
}

/// What an I/O's size is of has a size: a flush has none.
#[test]
fn a_flush_and_a_discard_move_nothing() {
    let r = runs(&[], |s| {
        s.at(1.0, 1.0).own();
        s.row(
            "disk",
            &["sda", "disk", "write"],
            &[4.0, 4096.0, 0.0, 0.0, 0.0],
        );
        s.row(
            "disk",
            &["sda", "disk", "flush"],
            &[12.0, 0.0, 0.0, 0.0, 0.0],
        );
        let words = ["sda", "disk", "discard"];
        s.row("disk", &words, &[4.0, 0.0, 0.0, 0.0, 1e9]);
        for (op, size) in [("write", 1024.0), ("discard", 1e6), ("flush", 0.0)] {
            let words = ["sda", "disk", op, "sync", "no", "no", "p", "c", "/", "f"];
            let values = [0.0, 0.001, size, 0.0, 0.0, 0.0, 1.0, 1.0];
            s.event("disk_event", at(0.5), &words, &values);
        }
    });
    assert_eq!(r.one("disk.mean_size").1, 1024.0);
    let by_op = pairs(&[("write", 1024.0)]);
    assert_eq!(r.means("disk.mean_size by op"), by_op);
    assert_eq!(r.totals("disk.ios by op").len(), 3);
    let by_file = pairs(&[("f", 1024.0)]);
    assert_eq!(r.means("disk.mean_size by file"), by_file);
    assert_eq!(r.totals("disk.bytes by file"), by_file);
    assert_eq!(r.totals("disk.discarded by file"), pairs(&[("f", 1e6)]));
}

/// Rows of disks of two seconds: time and I/Os of reads, writes and both.
fn disks(rows: &[(&str, f64, f64)]) -> Runs {
    let place = |name: &str| {
        let (_, table) = catalog::table("disk").expect("the table");
        let found = table.measures.iter().position(|m| *m == name);
        found.expect("the measure")
    };
    let (ios, time) = (place("ios"), place("time"));
    let measures = catalog::table("disk").expect("the table").1.measures.len();
    let mut r = runs(&[], |s| {
        for second in [1.0, 2.0] {
            s.at(second, 1.0);
            for (op, took, done) in rows {
                let mut values = vec![f64::NAN; measures];
                (values[ios], values[time]) = (*done, *took);
                s.row("disk", &["sda", "disk", op], &values);
            }
        }
    });
    for run in [&mut r.sealed, &mut r.killed] {
        run.manifest
            .imported
            .push(run::manifest::Imported::default());
    }
    r
}

#[test]
fn a_mean_is_of_the_rows_that_have_both_numbers() {
    // The time of writes was cut off.
    let cut = disks(&[("read", 0.02, 10.0), ("write", f64::NAN, 30.0)]);
    assert_eq!(cut.one("disk.ios").0, Some(80.0));
    assert_eq!(cut.one("disk.mean_latency"), (None, 0.002, 0.002, 0.002, 2));
    assert_eq!(
        cut.means("disk.mean_latency by op")[..1],
        pairs(&[("read", 0.002)])
    );
    assert!(cut.ask("disk.mean_latency").caveat.is_some());
    // What did nothing took no time.
    let idle = disks(&[("read", 0.02, 10.0), ("write", f64::NAN, 0.0)]);
    assert_eq!(idle.one("disk.mean_latency").1, 0.002);
    assert_eq!(idle.ask("disk.mean_latency").caveat, None);
    // One time is of both.
    let both = disks(&[
        ("read", f64::NAN, 10.0),
        ("write", f64::NAN, 30.0),
        ("(all)", 0.08, f64::NAN),
    ]);
    assert_eq!(both.one("disk.mean_latency").1, 0.002);
    assert_eq!(both.ask("disk.mean_latency").caveat, None);
    // Of some operations only the times are told, of another only how many there were.
    let apart = disks(&[("read", 0.02, f64::NAN), ("write", f64::NAN, 30.0)]);
    let mut means = apart.means("disk.mean_latency").into_iter();
    assert!(means.all(|(_, mean)| mean.is_nan()));
}

#[test]
fn a_mean_is_of_what_both_are_kept_by() {
    let r = runs(&[], |s| {
        s.at(1.0, 1.0).own();
        cpu(s, "0", "user", 0.5);
        s.row("cpu_cgroup", &["/a"], &[0.5, 10.0, f64::NAN, f64::NAN]);
        s.row("cpu_slice", &["/a"], &[0.05, 10.0, 0.5]);
        s.row("process", &["p[1@1]", "p", "user"], &[0.4]);
    });
    assert_eq!(r.means("cpu.mean_slice by cgroup"), pairs(&[("/a", 0.05)]));
    // All slices there were are not those of a mode.
    for what in ["mode", "cpu", "command"] {
        let why = analysis::summarise(&r.sealed, &format!("cpu.mean_slice by {what}")).unwrap_err();
        let why = why.to_string();
        assert!(
            why.contains(&format!("cpu.slices is not kept by `{what}`")),
            "{why}"
        );
    }
}

/// A run of jobs that ended after so many seconds and did so much, all laid up to that end.
fn jobs(all: &[(&str, f64, f64, f64)]) -> Runs {
    let mut r = runs(&[], |s| {
        for (job, end, seconds, ops) in all {
            s.at(*end, *seconds);
            let nan = f64::NAN;
            s.row(
                "workload",
                &["fio", job, "read", ""],
                &[*ops, nan, nan, nan],
            );
        }
    });
    for run in [&mut r.sealed, &mut r.killed] {
        run.manifest.ended = Some(at(10.0));
        let imported = run::manifest::Imported::default();
        run.manifest.imported.push(imported);
    }
    r
}

#[test]
fn jobs_that_ran_side_by_side_add_up() {
    // One ran for half the time of the other.
    for (a, b) in [((2.0, 2.0), (4.0, 4.0)), ((4.0, 2.0), (4.0, 4.0))] {
        let r = jobs(&[("a", a.0, a.1, 200.0), ("b", b.0, b.1, 400.0)]);
        assert_eq!(
            r.one("workload.ops"),
            (Some(600.0), 150.0, 100.0, 200.0, 2),
            "{a:?}"
        );
        let by_job = r.ask("workload.ops by job");
        let of = |i: usize| {
            let group = &by_job.groups[i];
            (
                support::key(&by_job, i),
                group.total,
                group.mean,
                group.seconds,
            )
        };
        assert_eq!(of(0), ("b".to_owned(), Some(400.0), 100.0, 4.0));
        assert_eq!(of(1), ("a".to_owned(), Some(200.0), 100.0, 2.0));
    }
    // Both ended at once, as far as clocks tell.
    let r = jobs(&[("a", 10.0, 10.0, 500.0), ("b", 10.01, 10.01, 501.0)]);
    let (total, mean, least, greatest, intervals) = r.one("workload.ops");
    assert_eq!((total, intervals), (Some(1001.0), 1));
    for rate in [mean, least, greatest] {
        assert!((rate - 100.0).abs() < 1e-9, "{rate}");
    }
    // Two logs whose stamps differ: each tells half of every interval.
    let ends = [5.0, 10.0, 15.0].map(|end| [("a", end, 5.0, 50.0), ("b", end + 0.01, 5.0, 60.0)]);
    let r = jobs(ends.as_flattened());
    let (total, mean, least, greatest, intervals) = r.one("workload.ops");
    assert_eq!((total, intervals), (Some(330.0), 3));
    for rate in [mean, least, greatest] {
        assert!((rate - 22.0).abs() < 0.1, "{rate}");
    }
    // Two files that tell of two disks at other seconds.
    let r = jobs(&[
        ("a", 10.0, 10.0, 100.0),
        ("b", 13.0, 10.0, 200.0),
        ("a", 20.0, 10.0, 100.0),
        ("b", 23.0, 10.0, 200.0),
    ]);
    let (total, mean, least, greatest, intervals) = r.one("workload.ops");
    assert_eq!(total.map(f64::round), Some(600.0));
    assert_eq!(
        (intervals, least.round(), greatest.round()),
        (5, 10.0, 30.0)
    );
    assert_eq!(mean, 600.0 / 23.0);
}

/// Ten I/Os of 60 µs a second on a disk, whose time `/proc/diskstats` has in whole milliseconds, and one of a
/// partition of it; the programs in the kernel counted so many of the disk's.
fn short_ios(seen: f64) -> Runs {
    runs(&[], |s| {
        for (second, rounded) in [(1.0, 0.0), (2.0, 0.001), (3.0, 0.0)] {
            s.at(second, 1.0);
            for (device, layer, ios) in [("sda", "disk", 10.0), ("sda1", "partition", 5.0)] {
                let words = [device, layer, "write"];
                s.row("disk", &words, &[ios, 4096.0 * ios, 0.0, rounded, 0.0]);
            }
            let words = ["sda", "disk", "write"];
            let time = seen * 60e-6;
            s.row(
                "disk_io",
                &words,
                &[seen, time / 3.0, time / 1.5, 0.0, 0.0, time],
            );
        }
    })
}

#[test]
fn the_mean_of_few_ios_is_not_that_of_whole_milliseconds() {
    let r = short_ios(10.0);
    for expression in ["disk.mean_latency", "disk.mean_latency where device = sda"] {
        let (total, mean, least, greatest, intervals) = r.one(expression);
        assert_eq!((total, intervals), (None, 3), "{expression}");
        for value in [mean, least, greatest] {
            assert!((value - 60e-6).abs() < 1e-12, "{expression}: {value}");
        }
    }
    assert_eq!(
        r.means("disk.mean_latency by device, op"),
        pairs(&[("sda, write", 60e-6)])
    );
    // What the kernel itself counted is what it was.
    assert_eq!(r.one("disk.time").0, Some(0.001));
    // Of partitions there is nothing else.
    assert_eq!(
        r.one("disk.mean_latency where device = sda1").3,
        0.001 / 5.0
    );
    // Attached late, they saw some of it only.
    let few = short_ios(3.0);
    assert_eq!(few.one("disk.mean_latency").3, 0.001 / 10.0);
    for (of, is_said) in [(&few, true), (&r, false)] {
        let answer = of.ask("disk.mean_latency");
        let notes = analysis::notes::of(&of.sealed, &answer).expect("it reads");
        let said = notes.iter().any(|n| n.contains("whole milliseconds"));
        assert_eq!(said, is_said, "{notes:?}");
    }
}

#[test]
fn hits_without_misses_are_no_share() {
    let ratio = |misses: f64| {
        let mut r = runs(&[], |s| {
            for second in [1.0, 2.0] {
                s.at(second, 1.0);
                s.row("arc_lookups", &["(all)"], &[90.0, misses, f64::NAN]);
            }
        });
        for run in [&mut r.sealed, &mut r.killed] {
            let imported = run::manifest::Imported::default();
            run.manifest.imported.push(imported);
        }
        r.one("arc.hit_ratio").1
    };
    assert!(ratio(f64::NAN).is_nan());
    assert_eq!(ratio(10.0), 0.9);
}
