use super::spread::spread;
use super::*;
use run::Unit;
use run::grid;

#[test]
fn a_wide_bucket_is_spread_and_stays_whole() {
    for (from, to, unit) in [
        (64e-6, 128e-6, Unit::Seconds),
        (0.0, 1.0, Unit::Count),
        (4096.0, 8192.0, Unit::Bytes),
        (100.0, 1000.0, Unit::Count),
        (-8.0, -4.0, Unit::Count),
        (-3.0, 5.0, Unit::Count),
        (1.0, 1.0, Unit::Count),
        (0.0, 9e18, Unit::Count),
        (0.0, 0.002, Unit::Seconds),
    ] {
        let cells = spread(from, to, unit);
        let whole: f64 = cells.iter().map(|c| c.1).sum();
        assert!((whole - 1.0).abs() < 1e-9, "{from} to {to}: {whole}");
        for (value, share) in cells {
            assert!(share > 0.0);
            let below = value >= grid::floor(from, unit) && (value < to || to <= from.max(0.0));
            assert!(below, "{value} in {from} to {to}");
        }
    }
    assert_eq!(spread(64e-6, 128e-6, Unit::Seconds).len(), 64);
    // All numbers that there are: the lowest of them are one cell.
    let cells = spread(0.0, 2f64.powi(63), Unit::Count);
    assert!(cells.len() <= 10 * 64 + 2, "{}", cells.len());
}

fn rows(out: &mut Out, name: &str) -> Vec<(Nanos, f64, Vec<f64>)> {
    let rows = out.rows().rows(TableId::of(name));
    (0..rows.len())
        .map(|i| {
            let values = rows.values.iter().map(|v| v[i]).collect();
            (rows.times[i] / 1_000_000_000, rows.intervals[i], values)
        })
        .collect()
}

fn out(options: Options) -> Out {
    Out::new("test", options)
}

fn disk(out: &mut Out, ios: f64) {
    let words = [b"sda", &b"disk"[..], b"read"].map(|w| out.word(w));
    let values = [ios, ios * 512.0, f64::NAN, f64::NAN, f64::NAN];
    out.row(TableId::of("disk"), &words, &values);
}

#[test]
fn rates_become_amounts_of_the_interval_between_stamps() {
    let mut out = out(Options::default());
    for (at, ios) in [(100, 3.0), (105, 4.0), (115, 5.0)] {
        out.sample_at(Stamp::Epoch(at * 1_000_000_000));
        disk(&mut out, ios);
    }
    out.end();
    assert!(out.refused().is_none());
    let found = rows(&mut out, "disk");
    let short: Vec<_> = found.iter().map(|(t, i, v)| (*t, *i, v[0])).collect();
    // The first is as long as the one after it.
    assert_eq!(
        short,
        [(100, 5.0, 15.0), (105, 5.0, 20.0), (115, 10.0, 50.0)]
    );
}

#[test]
fn reports_since_boot_that_follow_one_another_do_not_add_up() {
    for (every, times) in [(None, [50, 51, 52]), (Some(5.0), [50, 55, 60])] {
        let mut out = out(Options {
            every,
            start: Some(50_000_000_000),
            ..Options::default()
        });
        for ios in [1.0, 2.0, 3.0] {
            out.broken();
            out.sample();
            out.since_boot();
            disk(&mut out, ios);
        }
        out.end();
        let found = rows(&mut out, "since_boot");
        let of_ios: Vec<_> = found
            .iter()
            .step_by(2)
            .map(|(t, _, v)| (*t, v[0]))
            .collect();
        assert_eq!(of_ios, [(times[0], 1.0), (times[1], 2.0), (times[2], 3.0)]);
    }
}

#[test]
fn without_stamps_the_interval_must_be_told() {
    let mut untold = out(Options::default());
    untold.sample();
    disk(&mut untold, 1.0);
    untold.end();
    assert!(untold.refused().unwrap().0.contains("--every"));
    let mut told = out(Options {
        every: Some(2.0),
        start: Some(50_000_000_000),
        ..Options::default()
    });
    told.sample();
    told.since_boot();
    disk(&mut told, 9.0);
    told.sample();
    disk(&mut told, 1.0);
    told.end();
    let found = rows(&mut told, "disk");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].0, found[0].1, found[0].2[0]), (52, 2.0, 2.0));
    let boot = rows(&mut told, "since_boot");
    assert_eq!(boot.len(), 2);
    assert_eq!((boot[0].0, boot[0].2[0]), (50, 9.0));
    let word = told.rows().rows(TableId::of("since_boot")).words[0][0];
    let text = told.words().text(word);
    assert_eq!(text, Some("disk.ios"));
}

#[test]
fn samples_that_wait_keep_their_own_rows() {
    let mut out = out(Options::default());
    // Three at the same time: nobody knows their interval before the fourth.
    for (at, rows) in [(100, 2), (100, 1), (100, 3), (105, 1)] {
        out.sample_at(Stamp::Epoch(at * 1_000_000_000));
        for _ in 0..rows {
            disk(&mut out, f64::from(rows));
        }
    }
    out.end();
    let found = rows(&mut out, "disk");
    let short: Vec<_> = found.iter().map(|(t, i, v)| (*t, *i, v[0])).collect();
    let at = |t, n| (t, 5.0, f64::from(n) * 5.0);
    let wanted = [2, 2, 1, 3, 3, 3].map(|n| at(100, n));
    assert_eq!(short[..6], wanted);
    assert_eq!(short[6..], [at(105, 1)]);
}

/// What the user says of the interval gives way to the stamps, and tells a pause where they
/// agree.
#[test]
fn stamps_go_before_what_the_user_says() {
    let lengths = |every: f64, stamps: &[i64]| {
        let mut out = out(Options {
            every: Some(every),
            ..Options::default()
        });
        for at in stamps {
            out.sample_at(Stamp::Epoch(at * 1_000_000_000));
            disk(&mut out, 1.0);
        }
        out.end();
        assert!(out.refused().is_none());
        let noted = out.notes().any(|n| n.contains("--every"));
        let found = rows(&mut out, "disk");
        (found.iter().map(|r| r.1).collect::<Vec<_>>(), noted)
    };
    assert_eq!(lengths(5.0, &[10, 20, 30]), (vec![10.0; 3], true));
    assert_eq!(lengths(10.0, &[10, 20, 300, 310]), (vec![10.0; 4], false));
    assert_eq!(lengths(5.0, &[10]), (vec![5.0], false));
}

/// Samples that wait for their interval are few, and reading goes on at the same pace.
#[test]
fn what_waits_is_bounded() {
    let mut out = out(Options::default());
    for _ in 0..MOST_HELD + 10 {
        out.sample_at(Stamp::Epoch(5));
        disk(&mut out, 1.0);
    }
    assert!(out.refused().is_some());
    assert!(out.now.rows(TableId::of("disk")).len() < 100);
}

#[test]
fn a_pause_is_no_interval_where_its_length_is_told() {
    let mut out = out(Options::default());
    out.every(10.0);
    for at in [10, 20, 300, 310] {
        out.sample_at(Stamp::Epoch(at * 1_000_000_000));
        disk(&mut out, 1.0);
    }
    out.end();
    let lengths: Vec<_> = rows(&mut out, "disk").iter().map(|r| r.1).collect();
    assert_eq!(lengths, [10.0; 4]);
}

#[test]
fn samples_wait_for_an_interval_together() {
    let mut out = out(Options::default());
    let mut put = |at: i64, boot: bool, ios| {
        out.sample_at(Stamp::Epoch(at * 1_000_000_000));
        if boot {
            out.since_boot();
        }
        disk(&mut out, ios);
    };
    // Two of one time, then one since boot, which has no length.
    put(100, false, 1.0);
    put(100, false, 2.0);
    put(100, true, 9.0);
    put(110, false, 3.0);
    out.end();
    assert!(out.refused().is_none());
    let found = rows(&mut out, "disk");
    let short: Vec<_> = found.iter().map(|(t, i, v)| (*t, *i, v[0])).collect();
    assert_eq!(
        short,
        [(100, 10.0, 10.0), (100, 10.0, 20.0), (110, 10.0, 30.0)]
    );
    assert_eq!(rows(&mut out, "since_boot").len(), 2);
}

#[test]
fn amounts_stay_as_they_are() {
    let mut out = out(Options::default());
    let words = [b"t", &b"j"[..], b"read", b""].map(|w| out.word(w));
    let table = TableId::of("workload");
    out.sample_at(Stamp::Elapsed(30.0));
    out.spans(30.0);
    out.amounts(table, &words, &[300.0, 1.0, 1.0, 0.0]);
    out.row(table, &words, &[10.0, 1.0, 1.0, 0.0]);
    out.end();
    let found = rows(&mut out, "workload");
    assert_eq!(found[0].2[0], 300.0);
    assert_eq!(found[1].2[0], 300.0);
}

/// What the text says of the interval counts, and the user's word where it says nothing.
#[test]
fn the_text_goes_before_what_the_user_says() {
    let mut out = out(Options {
        every: Some(5.0),
        ..Options::default()
    });
    out.sample();
    disk(&mut out, 1.0);
    out.broken();
    out.every(10.0);
    out.sample();
    disk(&mut out, 1.0);
    out.end();
    let lengths: Vec<_> = rows(&mut out, "disk").iter().map(|r| r.1).collect();
    assert_eq!(lengths, [5.0, 10.0]);
    assert!(
        out.notes()
            .any(|n| n.contains("10 s where --every says 5 s"))
    );
}

/// What is lost keeps its place; where others have times it has its share of the time between.
#[test]
fn a_lost_sample_is_a_gap() {
    let every = Some(5.0);
    let mut untimed = out(Options {
        every,
        ..Options::default()
    });
    let mut timed = out(Options::default());
    for (at, ios) in [(10, 1.0), (20, 2.0), (30, f64::NAN), (40, 4.0)] {
        for out in [&mut untimed, &mut timed] {
            if ios.is_nan() {
                out.lost();
                continue;
            }
            if out.options().every.is_some() {
                out.sample();
            } else {
                out.sample_at(Stamp::Epoch(at * 1_000_000_000));
            }
            disk(out, ios);
        }
    }
    for (out, wanted) in [
        (&mut untimed, [(5, 5.0), (10, 10.0), (20, 20.0)]),
        (&mut timed, [(10, 10.0), (20, 20.0), (40, 40.0)]),
    ] {
        out.end();
        let found = rows(out, "disk");
        let short: Vec<_> = found.iter().map(|(t, _, v)| (*t, v[0])).collect();
        assert_eq!(short, wanted);
        assert_eq!(out.ended(), 3);
    }
}

/// Samples that wait for their interval are handed out together: each by itself would move all that
/// wait behind it, and 40,000 took most of a minute.
#[test]
fn samples_that_wait_take_no_longer_each_the_more_they_are() {
    const SAMPLES: usize = 40_000;
    let mut out = out(Options::default());
    let words = [b"t", &b"j"[..], b"read", b""].map(|w| out.word(w));
    let table = TableId::of("workload");
    for _ in 0..SAMPLES {
        out.sample();
        out.amounts(table, &words, &[300.0, 1.0, 1.0, 0.0]);
        out.row(table, &words, &[10.0, 1.0, 1.0, 0.0]);
    }
    #[allow(
        clippy::disallowed_methods,
        reason = "a test measures how long it takes"
    )]
    let started = std::time::Instant::now();
    out.every(30.0);
    out.end();
    let took = started.elapsed();
    let found = rows(&mut out, "workload");
    assert_eq!(found.len(), 2 * SAMPLES);
    let ends = found.iter().map(|(end, ..)| *end);
    assert!(ends.eq((0..2 * SAMPLES).map(|row| 30 * (row as i64 / 2 + 1))));
    assert!(found.iter().all(|(.., values)| values[0] == 300.0));
    assert!(took.as_secs() < 5, "{took:?}");
}

#[test]
fn what_runs_side_by_side_does_not_go_back() {
    let notes = |times: &[Stamp]| {
        let mut out = out(Options::default());
        for time in times {
            out.sample_at(*time);
            out.spans(10.0);
            disk(&mut out, 1.0);
        }
        out.end();
        out.notes().filter(|note| *note == BACK).count()
    };
    let second = 1_000_000_000;
    assert_eq!(notes(&[Stamp::Elapsed(60.01), Stamp::Elapsed(60.0)]), 0);
    assert_eq!(notes(&[Stamp::Elapsed(60.0), Stamp::Elapsed(50.0)]), 1);
    let half = second / 2;
    assert_eq!(
        notes(&[Stamp::Epoch(60 * second), Stamp::Epoch(59 * second + half)]),
        1
    );
}
