//! What sums, levels, ratios, gaps and zeros mean, on runs small enough to check by hand.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use analysis::scan::Slot;
use support::{Runs, Script, at, pairs, runs};

/// ios, bytes, merges, time.
fn disk(s: &mut Script, device: &str, layer: &str, op: &str, amounts: [f64; 4]) {
    let [ios, bytes, merges, time] = amounts;
    s.row(
        "disk",
        &[device, layer, op],
        &[ios, bytes, merges, time, 0.0],
    );
}

/// A first interval of half a second, then two of one; `sdb` appears in the last.
fn two_disks() -> Runs {
    runs(&[], |s| {
        s.at(0.5, 0.5);
        disk(s, "sda", "disk", "read", [10.0, 1000.0, 0.0, 0.1]);
        disk(s, "sda1", "partition", "read", [10.0, 1000.0, 0.0, 0.1]);
        s.at(1.5, 1.0);
        disk(s, "sda", "disk", "read", [30.0, 3000.0, 0.0, 0.3]);
        s.at(2.5, 1.0);
        disk(s, "sda", "disk", "read", [15.0, 6000.0, 0.0, 0.4]);
        disk(s, "sda", "disk", "write", [5.0, 2000.0, 0.0, 0.1]);
        disk(s, "sdb", "disk", "write", [5.0, 500.0, 0.0, 0.05]);
    })
}

#[test]
fn a_sum_has_a_total_and_is_shown_per_second() {
    let r = two_disks();
    // Per second: 1000 / 0.5, 3000 / 1, 8500 / 1.
    assert_eq!(
        r.one("disk.bytes"),
        (Some(12500.0), 5000.0, 2000.0, 8500.0, 3)
    );
    let by_device = pairs(&[("sda", 12000.0), ("sdb", 500.0)]);
    assert_eq!(r.totals("disk.bytes by device"), by_device);
    let answer = r.ask("disk.bytes by device, op");
    let series: Vec<_> = answer.groups.iter().map(|g| g.series.clone()).collect();
    assert_eq!(
        series,
        [
            vec![(0, 2000.0), (1, 3000.0), (2, 6000.0)],
            vec![(2, 2000.0)],
            vec![(2, 500.0)]
        ]
    );
}

#[test]
fn a_gap_in_a_dense_table_is_no_zero() {
    let r = two_disks();
    // sdb was seen for one second, not for two and a half.
    assert_eq!(
        r.one("disk.bytes where device = sdb"),
        (Some(500.0), 500.0, 500.0, 500.0, 1)
    );
}

#[test]
fn whole_disks_count_once_unless_a_layer_or_device_is_named() {
    let r = two_disks();
    assert_eq!(r.one("disk.ios").0, Some(65.0));
    assert_eq!(r.one("disk.ios where device = sda1").0, Some(10.0));
    assert_eq!(r.one("disk.ios where layer = partition").0, Some(10.0));
    assert_eq!(r.one("disk.ios where layer ~ .").0, Some(75.0));
    let layers = pairs(&[("disk", 65.0), ("partition", 10.0)]);
    assert_eq!(r.totals("disk.ios by layer"), layers);
    // Naming another dimension changes nothing.
    assert_eq!(r.one("disk.ios where op = read").0, Some(55.0));
}

#[test]
fn a_ratio_is_a_ratio_of_sums() {
    let r = two_disks();
    let by_device = pairs(&[("sda", 0.015), ("sdb", 0.01)]);
    assert_eq!(r.means("disk.mean_latency by device"), by_device);
    let (total, mean, min, max, intervals) = r.one("disk.mean_latency");
    assert_eq!((total, intervals), (None, 3));
    assert!((mean - 0.95 / 65.0).abs() < 1e-12, "not the mean of means");
    assert!((min - 0.01).abs() < 1e-12 && (max - 0.55 / 25.0).abs() < 1e-12);
}

#[test]
fn a_level_is_averaged_by_the_length_of_its_intervals() {
    let r = runs(&[], |s| {
        for (end, interval, load) in [(0.5, 0.5, 2.0), (2.0, 1.5, 4.0)] {
            s.at(end, interval);
            s.row("system", &[], &[load, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        }
    });
    assert_eq!(r.one("system.load1"), (None, 3.5, 2.0, 4.0, 2));
}

#[test]
fn levels_of_instances_add() {
    let r = runs(&[], |s| {
        for end in [1.0, 2.0] {
            s.at(end, 1.0);
            s.row("memory", &["anonymous"], &[100.0 * end]);
            s.row("memory", &["free"], &[50.0]);
        }
    });
    assert_eq!(r.one("memory.bytes"), (None, 200.0, 150.0, 250.0, 2));
    let kinds = pairs(&[("anonymous", 150.0), ("free", 50.0)]);
    assert_eq!(r.means("memory.bytes by kind"), kinds);
}

#[test]
fn least_and_greatest_leave_short_intervals_out() {
    let r = runs(&[], |s| {
        for (end, interval, ios) in [(0.001, 0.001, 9.0), (1.0, 0.999, 100.0), (2.0, 1.0, 50.0)] {
            s.at(end, interval);
            disk(s, "sda", "disk", "read", [ios, 0.0, 0.0, 0.0]);
        }
    });
    let (total, _, min, max, intervals) = r.one("disk.ios");
    assert_eq!((total, min, intervals), (Some(159.0), 50.0, 3));
    assert!((max - 100.0 / 0.999).abs() < 1e-9, "9 I/Os in 1 ms: {max}");
}

#[test]
fn what_is_not_known_is_not_counted() {
    let r = runs(&[], |s| {
        s.at(1.0, 1.0);
        disk(s, "sda", "disk", "read", [10.0, f64::NAN, 0.0, 0.0]);
        s.row("disk_device", &["sda", "disk"], &[f64::NAN, 0.0, f64::NAN]);
        s.at(2.0, 1.0);
        disk(s, "sda", "disk", "read", [10.0, 700.0, 0.0, 0.0]);
        s.row("disk_device", &["sda", "disk"], &[0.5, 0.0, 3.0]);
    });
    assert_eq!(r.one("disk.bytes"), (Some(700.0), 700.0, 700.0, 700.0, 1));
    assert_eq!(r.one("disk.inflight"), (None, 3.0, 3.0, 3.0, 1));
    // Half of the one second in which it is known, not a quarter of two.
    assert_eq!(r.one("disk.utilisation"), (None, 0.5, 0.5, 0.5, 1));
    let r = runs(&[], |s| {
        s.at(1.0, 1.0);
        s.row("disk_device", &["sda", "disk"], &[f64::NAN, 0.0, 0.0]);
        s.row("disk_device", &["sdb", "disk"], &[0.5, 0.0, 0.0]);
    });
    // The mean of the devices of which it is known.
    assert_eq!(r.one("disk.utilisation"), (None, 0.5, 0.5, 0.5, 1));
}

#[test]
fn a_sparse_table_is_zero_where_it_was_sampled() {
    let r = runs(&[], |s| {
        for second in 1..=4 {
            s.at(f64::from(second), 1.0).own();
            if second == 2 {
                s.row("process_io", &["dd[1@0]", "dd", "read"], &[400.0]);
            }
        }
    });
    assert_eq!(
        r.one("disk.bytes by process"),
        (Some(400.0), 100.0, 0.0, 400.0, 4)
    );
    assert_eq!(r.one("process.bytes"), (Some(400.0), 100.0, 0.0, 400.0, 4));
    let later = r.ask("process.bytes where time > 2s");
    assert_eq!((later.groups.len(), later.slots.len()), (0, 2));
}

#[test]
fn a_source_read_less_often_is_not_counted_twice() {
    let r = runs(&[], |s| {
        for second in 1..=6 {
            s.at(f64::from(second), 1.0).own();
            if second == 4 {
                s.at(4.0, 3.0);
                s.row("process_io", &["dd[1@0]", "dd", "read"], &[600.0]);
            }
        }
    });
    // 600 bytes in seconds 1 to 4, none in the others: four intervals, six seconds.
    let answer = r.ask("process.bytes");
    let lengths: Vec<f64> = answer.slots.iter().map(|s| s.interval).collect();
    assert_eq!(lengths, [1.0, 3.0, 1.0, 1.0]);
    assert_eq!(r.one("process.bytes"), (Some(600.0), 100.0, 0.0, 200.0, 4));
    // Seconds 2 and 3 are in the one that ends with the fourth, wherever that is asked for.
    let ends = |part: &str| -> Vec<f64> {
        let answer = r.ask(&format!("process.bytes by process where time {part}"));
        let end = |s: &Slot| (s.time - at(0.0)) as f64 / 1e9;
        answer.slots.iter().map(end).collect()
    };
    assert_eq!(ends("< 3.5s"), [1.0]);
    assert_eq!(ends("> 3.5s"), [4.0, 5.0, 6.0]);
}
