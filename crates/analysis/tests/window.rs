//! What a window shows equals what the whole answer has there.

mod support;

use std::sync::Arc;

use analysis::bounds::{Bounds, Over};
use analysis::evaluate;
use analysis::listing::{Value, Wanted, events};
use analysis::window::{Pictured, Window, narrowed, window};
use run::Run;
use support::{Runs, Script, at, runs};

const SECONDS: i64 = 600;

/// A run of so many seconds.
fn whole(seconds: f64, phases: &[(&str, f64)], script: impl FnOnce(&mut Script)) -> Runs {
    let mut made = runs(phases, script);
    made.sealed.manifest.ended = Some(at(seconds));
    made
}

/// Ten minutes of two disks, with a gap, a mark within a second, and events.
fn observed() -> Runs {
    whole(
        SECONDS as f64 + 0.0002,
        &[("warm", 0.0), ("steady", 300.5)],
        |s| {
            for second in 1..=SECONDS {
                // Nothing was sampled for a while.
                if (200..=229).contains(&second) {
                    continue;
                }
                let length = if second == 230 { 31.0 } else { 1.0 };
                // As a recorder does: a little late.
                sample(s, second as f64 + 0.0002, length, second);
            }
        },
    )
}

fn sample(s: &mut Script, end: f64, length: f64, second: i64) {
    s.at(end, length).own();
    for (device, factor) in [("sda", 1.0), ("sdb", 3.0)] {
        // One of them comes later, and goes.
        if device == "sdb" && !(100..500).contains(&second) {
            continue;
        }
        let ios = ((second * 7919) % 101) as f64 * factor;
        let values = [ios, ios * 4096.0, 0.0, ios * 0.002 * factor, 0.0];
        s.row("disk", &[device, "disk", "read"], &values);
        if ios > 50.0 {
            s.row(
                "disk_latency",
                &[device, "disk", "read"],
                &[0.001, ios, ios * 4096.0],
            );
        }
        if second % 10 < 4 {
            let path = format!("/data/{}", second % 37);
            let words = [
                device, "disk", "read", "sync", "no", "no", "p", "c", "/", &path,
            ];
            let numbers = [0.0, ios * 1e-6, 4096.0, 0.0, 0.0, 0.0, 1.0, 1.0];
            s.event("disk_event", at(end - 0.25), &words, &numbers);
        }
    }
}

fn look(run: &Run, text: &str, from: f64, to: f64, width: u32) -> Pictured {
    let asked = Window { from, to, width };
    window(run, text, &asked, &Arc::default()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

const EXPRESSIONS: &[&str] = &[
    "disk.bytes",
    "disk.bytes by device",
    "disk.bytes by device, phase",
    "disk.ios where phase = steady",
    "disk.mean_latency by device",
    "disk.ios by latency",
    "disk.ios by file",
    "disk.mean_size by file",
    "disk.ios by device where latency > 20us",
    "self.resident",
    "disk.ios by device where device = sdb",
];

fn near(a: f64, b: f64) -> bool {
    (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

#[test]
fn the_whole_run_has_the_numbers_of_the_answer() {
    let made = observed();
    for run in [&made.sealed, &made.killed] {
        for text in EXPRESSIONS {
            let answer = evaluate(run, text).unwrap();
            for width in [7, 100, 4000] {
                let shown = look(run, text, 0.0, 601.0, width);
                assert_eq!(shown.answer.groups.len(), answer.groups.len(), "{text}");
                for (a, b) in answer.groups.iter().zip(&shown.answer.groups) {
                    let name = format!("{text} {width} {:?}", a.key);
                    assert_eq!(a.key, b.key, "{name}");
                    assert!(near(a.mean, b.mean), "{name}: {} {}", a.mean, b.mean);
                    if let (Some(a), Some(b)) = (a.total, b.total) {
                        assert!(near(a, b), "{name}: {a} {b}");
                    }
                    assert!(near(a.max, b.max), "{name}: {} {}", a.max, b.max);
                    assert!(near(a.min, b.min), "{name}: {} {}", a.min, b.min);
                }
            }
        }
    }
}

#[test]
fn a_report_of_a_window_has_the_numbers_beside_its_picture() {
    let made = observed();
    let tables = EXPRESSIONS
        .iter()
        .filter(|e| !e.contains("file") && !e.contains(" > "));
    for text in tables {
        let shown = look(&made.sealed, text, 100.3, 199.8, 100);
        let told = narrowed(&made.sealed, text, (100.3, 199.8));
        let answer = evaluate(&made.sealed, &told).unwrap();
        assert_eq!(answer.groups.len(), shown.answer.groups.len(), "{told}");
        for (a, b) in answer.groups.iter().zip(&shown.answer.groups) {
            let numbers = |g: &analysis::Group| [g.total.unwrap_or(0.0), g.mean, g.min, g.max];
            for (a, b) in numbers(a).into_iter().zip(numbers(b)) {
                assert!(near(a, b), "{told}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_rate_of_milliseconds_is_not_drawn_above_the_greatest() {
    let made = whole(3.005, &[], |s| {
        for (end, length, resident) in [(1.0, 1.0, 10.0), (2.0, 1.0, 20.0), (3.0, 1.0, 30.0)] {
            s.at(end, length).own();
            s.row(
                "disk",
                &["sda", "disk", "read"],
                &[resident, 0.0, 0.0, 0.0, 0.0],
            );
        }
        s.at(3.005, 0.005).own();
        s.row("disk", &["sda", "disk", "read"], &[5.0, 0.0, 0.0, 0.0, 0.0]);
    });
    let shown = look(&made.sealed, "disk.ios by device", 0.0, 3.005, 100);
    let means: Vec<f64> = shown.series(0).iter().map(|s| s.mean).collect();
    assert_eq!(means[..3], [10.0, 20.0, 30.0], "{means:?}");
    assert!(means[3].is_nan(), "{means:?}");
    assert_eq!(shown.answer.groups[0].total, Some(65.0));
}

#[test]
fn a_column_an_interval_is_the_series() {
    let made = observed();
    for text in [
        "disk.bytes by device",
        "disk.mean_latency by device",
        "disk.ios by latency",
    ] {
        let answer = evaluate(&made.sealed, text).unwrap();
        let shown = look(&made.sealed, text, 0.0, 601.0, 4000);
        assert_eq!(shown.grid.length, 1_000_000_000);
        for (place, group) in answer.groups.iter().enumerate() {
            let series = shown.series(place);
            for (slot, value) in &group.series {
                let slot = &answer.slots[*slot as usize];
                if slot.interval > 2.0 {
                    continue;
                }
                let column = (slot.middle() - shown.grid.from) / shown.grid.length;
                let there = series[column as usize];
                for told in [there.mean, there.min, there.max] {
                    assert!(near(told, *value), "{text} {slot:?}: {told} {value}");
                }
            }
        }
    }
}

#[test]
fn parts_sum_to_the_whole_and_columns_to_the_total() {
    let made = observed();
    for width in [5, 33, 4000] {
        let parts = look(&made.sealed, "disk.bytes by device", 0.0, 601.0, width);
        let whole = look(&made.sealed, "disk.bytes", 0.0, 601.0, width);
        let sum = parts.sum(0..2);
        for (column, whole) in whole.series(0).iter().enumerate() {
            assert!(near(sum[column], whole.mean), "{width} {column}");
        }
        for text in [
            "disk.bytes by device",
            "disk.ios by latency",
            "disk.ios by file",
        ] {
            let shown = look(&made.sealed, text, 0.0, 601.0, width);
            for (group, columns) in shown.answer.groups.iter().zip(&shown.columns) {
                let sum: f64 = columns.iter().map(|(_, c)| c.amount).sum();
                assert!(near(sum, group.total.unwrap()), "{text} {width}");
            }
        }
    }
}

#[test]
fn a_gap_is_a_gap_and_a_long_interval_is_spread() {
    // Here the recorder stood still and said so: nothing was sampled.
    let made = whole(100.0, &[], |s| {
        for second in (1..=100).filter(|n| !(40..60).contains(n)) {
            sample(s, f64::from(second), 1.0, i64::from(second));
        }
    });
    let shown = look(&made.sealed, "disk.bytes", 0.0, 100.0, 100);
    let series = shown.series(0);
    let gaps: Vec<usize> = (0..100).filter(|c| series[*c].mean.is_nan()).collect();
    assert_eq!(gaps, (39..59).collect::<Vec<_>>());
    // A sparse table is zero where it was sampled, and nothing where not.
    let cells = look(&made.sealed, "disk.ios by latency", 0.0, 100.0, 100);
    assert!(cells.series(0)[45].mean.is_nan());
    assert!(cells.series(0).iter().any(|s| s.mean == 0.0));
    // A source that was read once in 31 s covers all of them with one rate.
    let long = observed();
    let shown = look(&long.sealed, "disk.bytes by device", 0.0, 601.0, 4000);
    let rates: Vec<f64> = shown.series(1)[200..229].iter().map(|s| s.mean).collect();
    assert!(
        rates.iter().all(|r| near(*r, rates[0]) && *r > 0.0),
        "{rates:?}"
    );
}

#[test]
fn a_window_counts_what_lies_in_it() {
    let made = observed();
    let shown = look(&made.sealed, "disk.bytes", 100.0, 160.0, 60);
    let answer = evaluate(&made.sealed, "disk.bytes where time in 100.5s..160.5s").unwrap();
    assert_eq!(shown.answer.groups[0].total, answer.groups[0].total);
    assert!(shown.answer.text.contains("time in"));
    // Its own text asks for the same.
    let again = evaluate(&made.sealed, &shown.answer.text).unwrap();
    assert_eq!(again.groups[0].total, shown.answer.groups[0].total);
    assert_eq!(shown.grid.count, 60);
    // Zoomed in, events are told apart within a second.
    let fine = look(
        &made.sealed,
        "disk.ios by latency where process = p",
        10.0,
        12.0,
        200,
    );
    assert_eq!(fine.grid.length, 10_000_000);
    let columns: Vec<u32> = fine
        .columns
        .iter()
        .flat_map(|c| c.iter().map(|c| c.0))
        .collect();
    assert_eq!(columns, [75, 175]);
    // A time that is named means whole intervals, as it does without a picture.
    let named = "disk.ios by file where process = p and time in 10.9s..12.5s";
    let shown = look(&made.sealed, named, 10.0, 13.0, 200);
    let total = |groups: &[analysis::Group]| groups.iter().filter_map(|g| g.total).sum::<f64>();
    assert_eq!(total(&shown.answer.groups), 2.0);
    let answer = evaluate(&made.sealed, named).unwrap();
    assert_eq!(total(&answer.groups), 2.0);
    for (from, to) in [
        (700.0, 800.0),
        (-5.0, -1.0),
        (f64::MAX, f64::MAX),
        (5.0, 5.0),
    ] {
        look(&made.sealed, "disk.bytes by device", from, to, 100);
    }
}

/// Ten seconds of a disk whose histograms count what its events are; in `lost` some of those
/// are missing, in `thinned` one stands for two.
fn with_events(lost: Option<i64>, thinned: Option<i64>) -> Runs {
    whole(10.0002, &[], |s| {
        for second in 1..=10_i64 {
            s.at(second as f64 + 0.0002, 1.0).own();
            if lost == Some(second) || thinned == Some(second) {
                let dropped = if lost == Some(second) { 1.0 } else { 0.0 };
                let one_in = if thinned == Some(second) { 2.0 } else { 1.0 };
                s.row("self_events", &["disk_event"], &[dropped, 0.0, one_in]);
            }
            for (nanos, ios) in [(100_000, 3 * second), (2_000_000, second)] {
                let words = ["sda", "disk", "read"];
                let bucket = run::grid::floor(f64::from(nanos) / 1e9, run::Unit::Seconds);
                let bytes = ios as f64 * 4096.0;
                s.row("disk_latency", &words, &[bucket, ios as f64, bytes]);
                for i in 0..ios {
                    let words = [
                        "sda", "disk", "read", "sync", "no", "no", "p", "c", "/", "f",
                    ];
                    let time = at(second as f64 - 1.0 + (i as f64 + 0.5) / ios as f64);
                    let service = f64::from(nanos) / 1e9;
                    let numbers = [0.0, service, 4096.0, 0.0, 0.0, 0.0, 1.0, 1.0];
                    s.event("disk_event", time, &words, &numbers);
                }
            }
        }
    })
}

/// Table, column in milliseconds, and total.
fn drawn(run: &Run, text: &str, from: f64, to: f64) -> (&'static str, i64, f64) {
    let shown = look(run, text, from, to, 200);
    let total = shown.answer.groups.iter().filter_map(|g| g.total).sum();
    (shown.answer.table, shown.grid.length / 1_000_000, total)
}

#[test]
fn a_short_window_of_a_histogram_is_drawn_from_events() {
    let text = "disk.ios by latency";
    for run in [
        &with_events(None, None).sealed,
        &with_events(None, None).killed,
    ] {
        // Four I/Os a second, times the second.
        assert_eq!(drawn(run, text, 2.0, 4.0), ("disk_event", 10, 28.0));
        assert_eq!(drawn(run, text, 3.0, 3.5), ("disk_event", 3, 8.0));
        // The same as of whole intervals, bucket by bucket.
        let fine = look(run, text, 2.0, 4.0, 200);
        let whole = evaluate(run, "disk.ios by latency where time in 2.5s..4.5s").unwrap();
        assert_eq!(whole.table, "disk_latency");
        let of = |groups: &[analysis::Group]| {
            let parts = groups.iter().map(|g| (g.key.clone(), g.total));
            parts.collect::<Vec<_>>()
        };
        assert_eq!(of(&fine.answer.groups), of(&whole.groups));
        let bytes = drawn(run, "disk.bytes by latency", 2.0, 4.0);
        assert_eq!(bytes, ("disk_event", 10, 28.0 * 4096.0));
        // No number dimension, a bound that may lie within a bucket, a phase: as they were.
        assert_eq!(
            drawn(run, "disk.ios by latency where latency > 1ms", 2.0, 4.0).0,
            "disk_latency"
        );
        assert_eq!(
            drawn(run, "disk.ios by latency where phase = x", 2.0, 4.0).0,
            "disk_latency"
        );
    }
}

#[test]
fn a_time_shorter_than_an_interval_is_that_of_the_events() {
    let made = with_events(None, None);
    for run in [&made.sealed, &made.killed] {
        let ask = |text: &str| {
            let answer = evaluate(run, text).unwrap();
            let total: f64 = answer.groups.iter().filter_map(|g| g.total).sum();
            let seconds = answer.groups.first().map_or(0.0, |g| g.seconds);
            (answer.table, total, (seconds * 1e6).round() / 1e6)
        };
        // In the fourth second twelve I/Os come evenly, and four slow ones.
        let text = "disk.ios by process where time in 3.5s..3.75s";
        assert_eq!(ask(text), ("disk_event", 4.0, 0.25));
        // The table of samples, or of buckets, would have had whole seconds or none.
        assert_eq!(
            ask("disk.ios by op where time in 3.5s..3.75s").0,
            "disk_event"
        );
        let slow = "disk.ios by op where latency > 1ms and time in 3.2s..3.9s";
        assert_eq!(ask(slow), ("disk_event", 3.0, 0.7));
        // Over the end of an interval.
        assert_eq!(
            ask("disk.ios where time in 3.9s..4.09s and process = p").1,
            2.0
        );
        // Whole seconds are what they were.
        let whole = "disk.ios by latency where time in 3.5s..5.5s";
        assert_eq!(ask(whole), ("disk_latency", 36.0, 2.0));
        let shown = look(run, text, 3.4, 3.8, 100);
        assert_eq!(shown.answer.groups[0].total, Some(4.0));
        let wanted = Wanted {
            subject: "disk",
            predicates: "time in 3.5s..3.75s",
            from: None,
            to: None,
            order: "",
            most: 100,
        };
        assert_eq!(events(run, &wanted, &Arc::default()).unwrap().matched, 4);
    }
}

#[test]
fn where_events_are_missing_a_short_window_keeps_its_histogram() {
    let text = "disk.ios by latency";
    let lost = with_events(Some(7), None);
    assert_eq!(
        drawn(&lost.sealed, text, 6.0, 8.0),
        ("disk_latency", 1000, 60.0)
    );
    assert_eq!(drawn(&lost.sealed, text, 6.2, 6.4).0, "disk_latency");
    assert_eq!(drawn(&lost.sealed, text, 2.0, 4.0).0, "disk_event");
    // Of estimates only what the histogram has nothing to show for.
    let thinned = with_events(None, Some(7));
    assert_eq!(
        drawn(&thinned.sealed, text, 6.0, 8.0),
        ("disk_latency", 1000, 60.0)
    );
    assert_eq!(drawn(&thinned.sealed, text, 6.2, 6.4).0, "disk_event");
}

#[test]
fn events_are_listed_in_order() {
    let made = observed();
    let wanted = |predicates: &'static str, order: &'static str, most| Wanted {
        subject: "disk",
        predicates,
        from: None,
        to: None,
        order,
        most,
    };
    for run in [&made.sealed, &made.killed] {
        let ask = |w: &Wanted<'_>| events(run, w, &Arc::default()).unwrap();
        let slowest = ask(&wanted("device = sdb", "latency", 5));
        let matched = evaluate(run, "disk.ios by file where device = sdb").unwrap();
        let total: f64 = matched.groups.iter().filter_map(|g| g.total).sum();
        assert_eq!((slowest.matched as f64, slowest.stands_for), (total, total));
        let place = slowest
            .fields
            .iter()
            .position(|f| f.name == "latency")
            .unwrap();
        let latencies: Vec<f64> = slowest
            .events
            .iter()
            .map(|e| match &e.values[place] {
                Value::Number(v) => *v,
                Value::Word(w) => panic!("{w}"),
            })
            .collect();
        assert_eq!(latencies.len(), 5);
        assert!(
            latencies.is_sorted_by(|a, b| a >= b) && latencies[0] == 300e-6,
            "{latencies:?}"
        );
        let all = ask(&wanted("", "-time", 1000));
        assert!(all.events.is_sorted_by(|a, b| a.time >= b.time));
        assert_eq!(all.events.len() as u64, all.matched);
        let early = Wanted {
            from: Some(10.5),
            to: Some(20.5),
            ..wanted("", "time", 1000)
        };
        assert_eq!(ask(&early).matched, 4);
        // What is in view, though no sampled interval ends there.
        let short = Wanted {
            from: Some(11.7),
            to: Some(11.8),
            ..wanted("", "time", 1000)
        };
        assert_eq!(ask(&short).matched, 1);
    }
    let wrong = [
        ("disk", "latency >", ""),
        ("disk", "colour = red", ""),
        ("disk", "", "file"),
        ("cpu", "", ""),
        ("cheese", "", ""),
    ];
    for (subject, predicates, order) in wrong {
        let asked = Wanted {
            subject,
            ..wanted("", "", 5)
        };
        let asked = Wanted {
            predicates,
            order,
            ..asked
        };
        let refused = events(&made.sealed, &asked, &Arc::default()).unwrap_err();
        assert!(matches!(refused, analysis::Error::Problem(_)), "{refused}");
    }
}

#[test]
fn many_groups_are_bounded_and_their_rest_is_honest() {
    let files = 30_000;
    let made = whole(10.0, &[], |s| {
        for second in 1..=10 {
            s.at(f64::from(second), 1.0).own();
            for file in (0..files).filter(|f| f % 10 == second - 1) {
                let path = format!("/srv/{file}");
                let words = [
                    "sda", "disk", "read", "sync", "no", "no", "p", "c", "/", &path,
                ];
                let numbers = [0.0, 1e-6, 4096.0, 0.0, 0.0, 0.0, 1.0, 1.0];
                s.event("disk_event", at(f64::from(second) - 0.5), &words, &numbers);
            }
        }
    });
    let text = "disk.ios by file";
    let shown = look(&made.sealed, text, 0.0, 10.0, 10);
    assert_eq!(shown.answer.groups.len(), files as usize);
    let rest: f64 = shown.sum(8..files as usize).iter().sum();
    assert_eq!(rest, f64::from(files - 8));
    let asked = Window {
        from: 0.0,
        to: 10.0,
        width: 10,
    };
    let refused = |bounds: Bounds| match window(&made.sealed, text, &asked, &Arc::new(bounds)) {
        Err(analysis::Error::Over(over)) => over,
        other => panic!("{:?}", other.map(|_| ())),
    };
    assert_eq!(refused(Bounds::new(1000, usize::MAX)), Over::Groups(1000));
    assert_eq!(refused(Bounds::new(usize::MAX, 2000)), Over::Cells(2000));
    let stopped = Bounds::default();
    stopped.stop();
    assert_eq!(refused(stopped), Over::Stopped);
}
