//! Fixtures: `before`, `after` ten seconds later, `later` ten seconds after that.

use super::mountstats::parse;
use super::*;
use crate::replay::{Replay, captures, row, rows};

const STATES: [&str; 3] = ["before", "after", "later"];

fn sampled(states: &[&str]) -> (Replay, Nfs, Sink) {
    let replay = Replay::of("nfs/client", states[0]);
    let mut nfs = Nfs::open(&replay.host()).unwrap();
    let mut out = Sink::new();
    nfs.sample(None, &mut out).unwrap();
    assert_eq!(out.filled().count(), 0);
    for state in &states[1..] {
        replay.becomes(state);
        out.clear();
        nfs.sample(Some(10.0), &mut out).unwrap();
    }
    (replay, nfs, out)
}

#[test]
fn operations_between_two_readings() {
    let (_replay, _, out) = sampled(&STATES[..2]);
    let read = row(&out, "nfs", "/mnt/my tank|READ").unwrap();
    assert_eq!(
        read,
        [10.0, 11.0, 1.0, 2.0, 1000.0, 40960.0, 0.010, 0.2, 0.22]
    );
    let lease = row(&out, "nfs", "/mnt/my tank|SEQUENCE").unwrap();
    assert_eq!(lease[0], 1.0);
    assert!(row(&out, "nfs", "/mnt/my tank|WRITE").is_none());
    // Nothing was done on this one, and it says so.
    assert_eq!(row(&out, "nfs", "/home|READ").unwrap(), [0.0; 9]);
    // Before 5.3 errors are not counted.
    let old = row(&out, "nfs", "/old|READ").unwrap();
    assert!(old[3].is_nan());
    assert_eq!(old[..3], [1.0, 2.0, 0.0]);
    assert_eq!(old[4..], [100.0, 1000.0, 0.001, 0.002, 0.003]);
}

#[test]
fn what_is_mounted_twice_counts_once() {
    let (_replay, _, out) = sampled(&STATES[..2]);
    let words: Vec<_> = rows(&out, "nfs").into_iter().map(|r| r.0).collect();
    assert_eq!(
        words,
        [
            "/mnt/my tank|READ",
            "/mnt/my tank|SEQUENCE",
            "/home|READ",
            "/old|READ",
            "/new|READ",
        ]
    );
    // The second mount goes on where the first one was unmounted.
    let (_replay, _, out) = sampled(&STATES);
    let read = row(&out, "nfs", "/srv/again|READ").unwrap();
    assert_eq!(read, [1.0, 1.0, 0.0, 0.0, 100.0, 4096.0, 0.0, 0.01, 0.01]);
}

#[test]
fn bytes_by_layer() {
    let (_replay, _, out) = sampled(&STATES[..2]);
    for (words, expected) in [
        ("/mnt/my tank|read|program", 500.0),
        ("/mnt/my tank|write|program", 0.0),
        ("/mnt/my tank|direct_read|program", 0.0),
        ("/mnt/my tank|direct_write|program", 1000.0),
        ("/mnt/my tank|read|server", 700.0),
        ("/mnt/my tank|write|server", 1000.0),
        ("/new|read|program", 8192.0),
    ] {
        assert_eq!(
            row(&out, "nfs_bytes", words),
            Some(vec![expected]),
            "{words}"
        );
    }
    assert_eq!(out.rows(TableId::of("nfs_bytes")).len(), 4 * 6);
}

#[test]
fn connections_belong_to_the_server() {
    let (_replay, _, out) = sampled(&STATES[..2]);
    let expected = [
        ("srv".to_owned(), vec![110.0, 110.0, 1.0, 1.0, 25.0]),
        ("10.0.0.9".to_owned(), vec![5.0, 4.0, 0.0, 0.0, 2.0]),
    ];
    // Those of the new mount may be older than it: they begin with the next interval.
    assert_eq!(rows(&out, "nfs_transport"), expected);
    let (_replay, _, out) = sampled(&STATES);
    assert_eq!(row(&out, "nfs_transport", "srv2").unwrap(), [0.0; 5]);
    let moved = row(&out, "nfs_transport", "10.0.0.9").unwrap();
    assert!(moved.iter().all(|v| v.is_nan()));
    let expected = [1.0, 1.0, 0.0, 0.0, 0.0];
    assert_eq!(row(&out, "nfs_transport", "srv").unwrap(), expected);
}

#[test]
fn a_mount_that_appears_counts_from_zero() {
    let (_replay, _, out) = sampled(&STATES[..2]);
    let read = row(&out, "nfs", "/new|READ").unwrap();
    assert_eq!(read, [4.0, 4.0, 0.0, 0.0, 600.0, 8192.0, 0.0, 0.008, 0.009]);
    assert!(row(&out, "nfs", "/new|EXCHANGE_ID").is_none());
    // One that is older than the interval only came into sight.
    let replay = Replay::of("nfs/client", "before");
    let mut nfs = Nfs::open(&replay.host()).unwrap();
    let mut out = Sink::new();
    nfs.sample(None, &mut out).unwrap();
    replay.becomes("after");
    nfs.sample(Some(1.0), &mut out).unwrap();
    assert!(row(&out, "nfs", "/new|READ").is_none());
}

#[test]
fn a_mount_renewed_has_no_amount() {
    let (_replay, _, out) = sampled(&STATES);
    let read = row(&out, "nfs", "/old|READ").unwrap();
    assert!(read.iter().all(|v| v.is_nan()), "{read:?}");
    // 3000 is more than the 60 before, and still not known.
    let bytes = row(&out, "nfs_bytes", "/old|read|program").unwrap();
    assert!(bytes[0].is_nan());
}

#[test]
fn without_the_module_it_is_unsupported() {
    let replay = Replay::of("nfs/client", "before");
    replay.lose("proc/filesystems");
    let why = Nfs::open(&replay.host()).err().unwrap();
    assert!(matches!(why, Availability::Unsupported { .. }));
}

#[test]
fn cut_anywhere_it_does_not_panic_and_invents_nothing() {
    let (replay, mut nfs, mut out) = sampled(&STATES[..2]);
    let whole = std::fs::read(replay.host().proc("self/mountstats")).unwrap();
    for cut in 0..whole.len() {
        out.clear();
        nfs.rows(&whole[..cut], Some(10.0), &mut out);
        out.clear();
        nfs.rows(&whole, Some(1.0), &mut out);
        for (words, values) in rows(&out, "nfs") {
            // The cut may end within a number: then the rest of it was added since.
            let grown = values.iter().any(|v| *v > 81920.0);
            assert!(!grown, "cut at {cut}: {words} {values:?}");
        }
        for (words, values) in rows(&out, "nfs_bytes") {
            let grown = values[0] > 8192.0;
            assert!(!grown, "cut at {cut}: {words} {values:?}");
        }
    }
}

#[test]
fn hostile_lines_are_passed_over() {
    let hostile: &[&[u8]] = &[
        b"device \n",
        b"device a mounted on b with fstype nfs4 statvers=1.1\nage\n:\n:::\n xprt:\n bytes: -\n",
        b"device a mounted on b with fstype nfs4 statvers=1.1\n\tper-op statistics\nREAD:\n: 1 2\n",
        b"device a mounted on b with fstype nfs statvers=1.1\n\txprt: tcp \xff 1 2\n",
        b"device a mounted on \\777\\0 with fstype nfs statvers=1.1\n\tage: 99999999999999999999\n",
    ];
    let (_replay, mut nfs, mut out) = sampled(&STATES[..1]);
    for bytes in hostile {
        for interval in [None, Some(1.0), Some(1.0)] {
            nfs.rows(bytes, interval, &mut out);
        }
    }
    assert_eq!(out.filled().count(), 0);
}

/// Numbers read off the captures by eye.
#[test]
fn captures_of_other_projects() {
    let Some(folder) = captures("mountstats") else {
        return;
    };
    let bytes = std::fs::read(folder.join("telegraf-mountstats")).unwrap();
    let all: Vec<Line> = parse(&bytes).collect();
    let nfs = |l: &&Line| matches!(l, Line::Mount { nfs: true, .. });
    assert_eq!(all.iter().filter(nfs).count(), 4);
    assert!(all.contains(&Line::Bytes([
        204440464584,
        110857586443,
        783170354688,
        296174954496,
        1134399088816,
        407107155723,
    ])));
    assert!(all.contains(&Line::Transport(Transport {
        protocol: b"tcp",
        port: 733,
        counters: [96172963, 96172963, 0, 1, 0],
    })));
    assert!(all.contains(&Line::Op {
        name: b"LOOKUP",
        counters: [3, 3, 0, 628, 484, 0, 1, 1, 2],
        errors: true,
    }));
    // Version 3 twice, 4.0, and 4.2 with one stray line after it; counted with awk.
    let op = |l: &&Line| matches!(l, Line::Op { .. });
    assert_eq!(all.iter().filter(op).count(), 22 + 46 + 22 + 69);
    let bytes = std::fs::read(folder.join("procfs-26231-mountstats")).unwrap();
    let last = parse(&bytes).last().unwrap();
    let Line::Op { name, counters, .. } = last else {
        panic!("{last:?}");
    };
    // A queue time below zero, printed without its sign.
    assert_eq!((name, counters[5]), (&b"ACCESS"[..], 18446743919241604546));
}
