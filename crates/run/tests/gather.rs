//! Rows of many samples a second are handed over together, and none is kept back for long.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and wait for a thread"
)]

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use run::manifest::Manifest;
use run::rows::TableId;
use run::write::Writer;
use run::{Run, Sink};

const STEP: i64 = 10_000_000;

fn scratch(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("sonde-gather-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    dir
}

/// Gathers the samples of those numbers; the next is told to come after `every`.
fn gather(writer: &mut Writer, sink: &mut Sink, samples: RangeInclusive<i64>, every: i64) {
    for number in samples {
        let time = number * STEP;
        sink.at(time, 0.01);
        let words = [sink.word("sda"), sink.word("disk"), sink.word("read")];
        sink.row(TableId::of("disk"), &words, &[1.0, 2.0, 0.0, 0.0, 0.0]);
        writer.gather(sink, time, time + every);
    }
}

/// Whether anything is durable within some seconds.
fn becomes_durable(writer: &Writer) -> bool {
    let mut tries = 0..500;
    tries.any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        writer.written() > 0
    })
}

#[test]
fn a_second_of_samples_is_handed_over_at_once() {
    let dir = scratch("second");
    let manifest = Manifest::new("host", 0, 0.01);
    let mut writer = Writer::create(&dir, &manifest).unwrap();
    let mut sink = Sink::new();
    gather(&mut writer, &mut sink, 1..=99, STEP);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(
        writer.written(),
        0,
        "another sample comes within the second"
    );
    // The next would come a second after the first.
    gather(&mut writer, &mut sink, 100..=100, STEP);
    assert!(becomes_durable(&writer));
    // What was gathered since is in the run all the same.
    gather(&mut writer, &mut sink, 101..=150, STEP);
    let finished = writer.finish(manifest).unwrap();
    assert_eq!(
        (finished.not_sealed, finished.manifest.loss),
        (None, vec![])
    );
    let run = Run::open(&dir).unwrap();
    let table = run.table("disk").unwrap().unwrap();
    let mut times = Vec::new();
    let read = |batch: &run::read::Batch<'_>| times.extend_from_slice(batch.times);
    table.read(&table.parts[0], &[], read).unwrap();
    assert_eq!(times, (1..=150).map(|n| n * STEP).collect::<Vec<_>>());
    std::fs::remove_dir_all(dir).unwrap();
}

/// Nothing waits where the next sample is a second away, nor where a manifest comes after it.
#[test]
fn what_is_due_does_not_wait() {
    for updated in [false, true] {
        let dir = scratch(if updated { "updated" } else { "due" });
        let manifest = Manifest::new("host", 0, 1.0);
        let mut writer = Writer::create(&dir, &manifest).unwrap();
        let mut sink = Sink::new();
        if updated {
            gather(&mut writer, &mut sink, 1..=1, STEP);
            writer.update(&manifest);
        } else {
            gather(&mut writer, &mut sink, 1..=1, 1_000_000_000);
        }
        assert!(becomes_durable(&writer), "{updated}");
        writer.abandon();
    }
}

/// What came just before a sample does not have it wait for a turn of its own.
#[test]
fn a_sample_does_not_wait_for_what_came_before_it() {
    const SECOND: i64 = 1_000_000_000;
    let dir = scratch("before");
    let manifest = Manifest::new("host", 0, 1.0);
    let mut writer = Writer::create(&dir, &manifest).unwrap();
    let mut sink = Sink::new();
    let mut row = |writer: &mut Writer, time: i64, next: i64, is_sample: bool| {
        sink.at(time, 1.0);
        let words = [sink.word("sda"), sink.word("disk"), sink.word("read")];
        sink.row(TableId::of("disk"), &words, &[1.0, 2.0, 0.0, 0.0, 0.0]);
        if is_sample {
            writer.gather(&mut sink, time, next);
        } else {
            writer.gather_before(&mut sink, time, next);
        }
    };
    for second in 1..=3 {
        let (tick, before) = (second * SECOND, writer.written());
        row(&mut writer, tick - STEP / 10, tick, false);
        row(&mut writer, tick, tick + SECOND, true);
        std::thread::sleep(Duration::from_millis(400));
        let (journal, after) = (std::fs::metadata(dir.join("journal")), writer.written());
        assert!(after > before, "second {second}: {after} bytes");
        assert_eq!(journal.unwrap().len(), after);
        // All of it: what is left over for later would be written now.
        std::thread::sleep(Duration::from_millis(800));
        assert_eq!(writer.written(), after, "second {second}");
    }
    writer.abandon();
}
