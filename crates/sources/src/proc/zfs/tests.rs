//! Fixtures: version 2.2 `before` and `after`; `old` is 0.8 without new names.

use super::*;
use crate::replay::{Replay, row, rows};

fn start(state: &str) -> (Replay, Box<dyn Source>, Sink) {
    let replay = Replay::of("zfs/server", state);
    let mut zfs = open(&replay.host()).unwrap();
    let mut out = Sink::new();
    zfs.sample(None, &mut out).unwrap();
    assert_eq!(out.filled().count(), 0);
    (replay, zfs, out)
}

fn after(interval: f64) -> (Replay, Box<dyn Source>, Sink) {
    let (replay, mut zfs, mut out) = start("before");
    replay.becomes("after");
    zfs.sample(Some(interval), &mut out).unwrap();
    (replay, zfs, out)
}

#[test]
fn lookups_by_kind() {
    let (_replay, _, out) = after(1.0);
    let expected = [
        ("demand_data", [80.0, 20.0, 5.0]),
        ("demand_metadata", [30.0, 0.0, 0.0]),
        ("prefetch_data", [0.0, 7.0, 2.0]),
        ("prefetch_metadata", [1.0, 2.0, 3.0]),
    ]
    .map(|(kind, values)| (kind.to_owned(), values.to_vec()));
    assert_eq!(rows(&out, "arc_lookups"), expected);
}

#[test]
fn the_arc_and_the_l2arc() {
    let (_replay, _, out) = after(1.0);
    let arc = row(&out, "arc", "").unwrap();
    let levels = [9000.0, 8000.0, 16000.0, 3000.0, 5000.0, 700.0];
    assert_eq!(arc[..2], [111.0, 1.0]);
    assert_eq!(arc[2..], levels);
    assert_eq!(row(&out, "l2arc_bytes", "read").unwrap(), [4096.0]);
    assert_eq!(row(&out, "l2arc_bytes", "write").unwrap(), [8192.0]);
    let expected = [6.0, 4.0, 6.0, 50000.0, 40000.0, 640.0];
    assert_eq!(row(&out, "l2arc", "").unwrap(), expected);
}

#[test]
fn an_old_version_leaves_out_what_it_does_not_know() {
    let (replay, mut zfs, mut out) = start("old");
    zfs.sample(Some(1.0), &mut out).unwrap();
    let data = row(&out, "arc_lookups", "demand_data").unwrap();
    assert_eq!(data[..2], [0.0, 0.0]);
    assert!(data[2].is_nan());
    // It never had a cache device.
    assert!(rows(&out, "l2arc").is_empty());
    assert!(rows(&out, "l2arc_bytes").is_empty());
    // Nothing was read or written, and that is said.
    let idle = rows(&out, "zfs");
    assert_eq!(idle, [("rust|rust|read".to_owned(), vec![0.0, 0.0])]);
    drop(replay);
}

#[test]
fn datasets_between_two_readings() {
    let (_replay, _, out) = after(10.0);
    for (words, expected) in [
        ("tank|tank/my files: old|read", Some(vec![3.0, 384.0])),
        ("tank|tank/my files: old|write", Some(vec![12.0, 49152.0])),
        // No read was added.
        ("tank|tank/vm|read", None),
        ("tank|tank/vm|write", Some(vec![1.0, 4096.0])),
        // It came into being in this interval.
        ("tank|tank/new|write", Some(vec![2.0, 200.0])),
        // It is older, and was mounted out of our sight.
        ("tank|tank/late|write", None),
    ] {
        assert_eq!(row(&out, "zfs", words), expected, "{words}");
    }
}

#[test]
fn new_datasets_wait_for_the_next_listing() {
    let (_replay, _, out) = after(1.0);
    assert!(row(&out, "zfs", "tank|tank/new|write").is_none());
    assert!(row(&out, "zfs", "tank|tank/vm|write").is_some());
}

#[test]
fn a_dataset_that_goes_does_not_stop_the_others() {
    let (replay, mut zfs, mut out) = start("before");
    replay.becomes("after");
    // A file that was destroyed reads as nothing.
    replay.becomes("gone");
    zfs.sample(Some(1.0), &mut out).unwrap();
    assert!(row(&out, "zfs", "tank|tank/my files: old|write").is_none());
    assert!(row(&out, "zfs", "tank|tank/vm|write").is_some());
}

#[test]
fn a_dataset_that_comes_back_is_opened_again() {
    let (replay, mut zfs, mut out) = start("before");
    replay.becomes("gone");
    zfs.sample(Some(1.0), &mut out).unwrap();
    // The open file stays dead: the one that comes back is another.
    replay.lose("proc/spl/kstat/zfs/tank/objset-0x36");
    replay.becomes("after");
    zfs.sample(Some(10.0), &mut out).unwrap();
    assert!(row(&out, "zfs", "tank|tank/my files: old|write").is_none());
    replay.becomes("again");
    out.clear();
    zfs.sample(Some(1.0), &mut out).unwrap();
    let write = row(&out, "zfs", "tank|tank/my files: old|write");
    assert_eq!(write, Some(vec![3.0, 12288.0]));
}

#[test]
fn a_pool_imported_again_has_no_amount() {
    let (replay, mut zfs, mut out) = start("before");
    replay.becomes("imported");
    zfs.sample(Some(1.0), &mut out).unwrap();
    let write = row(&out, "zfs", "tank|tank/vm|write").unwrap();
    assert!(write.iter().all(|v| v.is_nan()), "{write:?}");
}

#[test]
fn pools_between_two_readings() {
    let (replay, mut zfs, mut out) = after(10.0);
    for (words, expected) in [
        ("tank|read", [2.0, 8192.0]),
        // 32 bits wide: 4294967290 to 22.
        ("tank|write", [28.0, 131_072.0]),
        // It came into being in this interval.
        ("backup|read", [0.0, 0.0]),
        ("backup|write", [1.0, 4096.0]),
    ] {
        assert_eq!(row(&out, "zpool", words).unwrap(), expected, "{words}");
    }
    // Queue, service, waiting, busy; how many wait and are at devices.
    let tank = row(&out, "zpool_queue", "tank").unwrap();
    assert_eq!(tank, [2.0, 6.0, 0.5, 3.0, 3.0, 2.0]);
    let backup = row(&out, "zpool_queue", "backup").unwrap();
    assert_eq!(backup, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);

    // Exported, and imported again: another file, which counts anew.
    out.clear();
    replay.becomes("imported");
    zfs.sample(Some(1.0), &mut out).unwrap();
    let tank = row(&out, "zpool", "tank|read").unwrap();
    assert!(tank.iter().all(|v| v.is_nan()), "{tank:?}");
    assert_eq!(row(&out, "zpool", "backup|write").unwrap(), [0.0, 0.0]);
}

#[test]
fn a_pool_that_is_exported_does_not_stop_the_others() {
    let (replay, mut zfs, mut out) = after(10.0);
    replay.becomes("exported");
    out.clear();
    zfs.sample(Some(1.0), &mut out).unwrap();
    assert!(row(&out, "zpool", "tank|read").is_none());
    assert_eq!(row(&out, "zpool", "backup|read").unwrap(), [0.0, 0.0]);
}

#[test]
fn versions_without_a_file_of_pools_have_no_rows_of_them() {
    let (_replay, mut zfs, mut out) = start("old");
    zfs.sample(Some(1.0), &mut out).unwrap();
    assert!(rows(&out, "zpool").is_empty());
    assert!(rows(&out, "zpool_queue").is_empty());
}

#[test]
fn without_the_module_it_is_unsupported() {
    let why = open(&Host::at("/nonexistent")).err().unwrap();
    assert!(matches!(why, Availability::Unsupported { .. }));
}

#[test]
fn cut_anywhere_it_does_not_panic() {
    let replay = Replay::of("zfs/server", "before");
    let read = |name: &str| std::fs::read(replay.host().proc(name)).unwrap();
    let arcstats = read("spl/kstat/zfs/arcstats");
    let full = arc::parse(&arcstats);
    for cut in 0..arcstats.len() {
        let part = arc::parse(&arcstats[..cut]);
        // Values that are whole are right; the last one may be cut short.
        let wrong = part
            .iter()
            .zip(&full)
            .filter(|(p, f)| p.is_some() && p != f);
        assert!(wrong.count() <= 1, "cut at {cut}");
    }
    let io = read("spl/kstat/zfs/tank/io");
    assert!(pool::parse(&io).is_some());
    for cut in 0..io.len() {
        assert_eq!(pool::parse(&io[..cut]), None, "cut at {cut}");
    }
    let objset = read("spl/kstat/zfs/tank/objset-0x36");
    for cut in 0..objset.len() {
        if let Some(dataset) = objset::parse(&objset[..cut]) {
            assert_eq!(dataset.name, b"tank/my files: old");
        }
    }
}
