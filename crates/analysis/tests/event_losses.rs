//! What is not known of events, and events that were dropped.
#![allow(clippy::disallowed_methods, reason = "tests write files")]

mod support;

use run::catalog;
use support::{at, runs};

#[test]
fn what_is_not_known_of_an_event_is_neither_counted_nor_lost() {
    let r = runs(&[], |s| {
        s.at(1.0, 1.0).own();
        for (rtt, state) in [(0.001, "retransmit"), (f64::NAN, "retransmit")] {
            let words = [state; 10];
            let words = &words[..catalog_words("tcp_event")];
            s.event("tcp_event", at(0.5), words, &[f64::NAN, rtt, 1.0]);
        }
    });
    let answer = r.ask("tcp.retransmits by rtt");
    let totals: Vec<_> = answer.groups.iter().map(|g| g.total).collect();
    assert_eq!(totals, [Some(1.0), Some(1.0)], "the parts sum to the whole");
    assert_eq!(
        r.one("tcp.retransmits where rtt > 0s and state ~ .").0,
        Some(1.0)
    );
}

/// A trace that begins under load has ends of I/Os of which it has no begin.
#[test]
fn a_mean_is_of_the_events_whose_amount_is_known() {
    let r = runs(&[], |s| {
        s.at(1.0, 1.0).own();
        for (op, service, sequential) in [
            ("read", 0.002, "no"),
            ("read", f64::NAN, ""),
            ("write", 0.004, "yes"),
            ("discard", f64::NAN, ""),
        ] {
            let words = [
                "sda", "disk", op, "sync", "no", sequential, "p", "p", "", "",
            ];
            let values = [0.0, service, 4096.0, 0.0, 0.0, 0.0, 1.0, 3.0];
            s.event("disk_event", at(0.5), &words, &values);
        }
    });
    let mean = |statistic: &str| {
        let mean = r.one(&format!("disk.{statistic} where process = p")).1;
        (mean * 1e9).round() / 1e9
    };
    assert_eq!(r.one("disk.ios where process = p").0, Some(12.0));
    assert_eq!(mean("mean_service_time"), 0.003);
    assert_eq!(mean("mean_latency"), 0.003);
    assert_eq!(mean("mean_queue_time"), 0.0);
    assert_eq!(mean("random_share"), 0.5);
    let by_op = r.ask("disk.mean_latency by op where process = p");
    let means: Vec<f64> = by_op.groups.iter().map(|g| g.mean).collect();
    assert_eq!(means[..2], [0.004, 0.002]);
    assert!(means[2..].iter().all(|mean| mean.is_nan()), "{means:?}");
}

fn catalog_words(table: &str) -> usize {
    let (subject, table) = catalog::table(table).unwrap();
    let of = |d: &&str| subject.dimension(d).is_some_and(|d| d.number.is_none());
    table.dimensions.iter().copied().filter(|d| of(d)).count()
}

/// Events of disks were dropped in the second and the fourth of five seconds.
#[test]
fn what_was_dropped_in_the_time_asked_for_is_counted() {
    let made = runs(&[("a", 0.0), ("b", 3.0)], |s| {
        for second in 1..=5 {
            s.at(f64::from(second), 1.0).own();
            if second % 2 == 0 {
                let dropped = [f64::from(second), 0.0, 1.0];
                s.row("self_events", &["disk_event"], &dropped);
                s.row("self_events", &["net_event"], &[100.0, 0.0, 1.0]);
            }
            let bucket = [0.001, 1.0, 4096.0];
            s.row("disk_latency", &["sda", "disk", "read"], &bucket);
            let words = [
                "sda", "disk", "read", "sync", "no", "no", "p", "c", "/", "f",
            ];
            let numbers = [0.0, 0.001, 4096.0, 0.0, 0.0, 0.0, 1.0, 1.0];
            s.event("disk_event", at(f64::from(second) - 0.5), &words, &numbers);
        }
    });
    for run in [&made.sealed, &made.killed] {
        let of = |text: &str, window: Option<(f64, f64)>| {
            let answer = analysis::evaluate(run, text).unwrap();
            let window = window.map(|(from, to)| (at(from), at(to)));
            analysis::dropped::dropped(run, &answer, window).unwrap()
        };
        for (text, dropped) in [
            ("disk.ios by process", 6.0),
            ("disk.mean_latency by process", 6.0),
            ("disk.ios by process where time in 0s..3s", 2.0),
            ("disk.ios by process where time < 1s", 0.0),
            ("disk.ios by process where phase = b", 4.0),
            ("disk.ios by process where host = elsewhere", 0.0),
            // Within an interval, those of the whole interval.
            ("disk.ios by process where time in 3.2s..3.4s", 4.0),
            ("disk.ios by process where time in 2.2s..2.4s", 0.0),
            ("disk.ios by process where time in 1.9s..2.1s", 2.0),
            // Histograms have what was dropped.
            ("disk.ios by latency", 0.0),
        ] {
            assert_eq!(of(text, None), dropped, "{text}");
        }
        assert_eq!(of("disk.ios by process", Some((0.0, 3.0))), 2.0);
        let short = "disk.ios by process where time > 2s";
        assert_eq!(of(short, Some((0.0, 3.0))), 0.0);
        let answer = analysis::evaluate(run, "disk.ios by process").unwrap();
        let note = analysis::dropped::note(run, &answer, None)
            .unwrap()
            .unwrap();
        assert!(
            note.starts_with("6 events of that time were dropped"),
            "{note}"
        );
    }
}

/// What was never lost is no missing table: nothing was.
#[test]
fn a_run_without_losses_has_none() {
    let made = runs(&[], |s| {
        s.at(1.0, 1.0).own();
        s.at(2.0, 1.0).own();
    });
    for text in [
        "self.dropped",
        "self.unseen by table",
        "self.one_in",
        "self.dropped where table = disk_event and time > 1s",
    ] {
        assert!(made.ask(text).groups.is_empty(), "{text}");
    }
    // Where nobody recorded, nobody knows.
    let other = runs(&[], |s| {
        s.at(1.0, 1.0);
        s.row("disk", &["sda", "disk", "read"], &[1.0; 5]);
    });
    assert!(analysis::evaluate(&other.sealed, "self.dropped").is_err());
}
