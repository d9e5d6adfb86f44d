//! Several threads that read one table do not disturb one another.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

use std::path::PathBuf;

use run::manifest::Manifest;
use run::read::Values;
use run::rows::TableId;
use run::write::Writer;
use run::{Run, Sink};

/// Samples, of eight rows each: several pages of the file.
const SAMPLES: i64 = 10_000;

/// An amount that does not compress away, so that pages lie far apart.
fn amount(time: i64, device: i64) -> f64 {
    ((time * 8 + device).wrapping_mul(0x09e3_779b_97f4_a7c1) >> 20 & 0xffff_ffff) as f64
}

fn sealed(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("sonde-run-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    let manifest = Manifest::new("host", 0, 1.0);
    let mut writer = Writer::create(&dir, &manifest).unwrap();
    let mut sink = Sink::new();
    let table = TableId::of("disk");
    for time in 1..=SAMPLES {
        sink.at(time, 1.0);
        for device in 0..8 {
            let words = [
                sink.word(&format!("sd{device}")),
                sink.word("disk"),
                sink.word("read"),
            ];
            sink.row(table, &words, &[1.0, amount(time, device), 0.0, 0.0, 0.0]);
        }
        writer.append(&mut sink, time);
    }
    let finished = writer.finish(manifest).unwrap();
    assert_eq!(finished.not_sealed, None);
    assert_eq!(finished.manifest.loss, []);
    dir
}

fn expected() -> f64 {
    let amounts = (1..=SAMPLES).flat_map(|t| (0..8).map(move |d| amount(t, d)));
    amounts.sum()
}

/// The sum of a batch's bytes.
fn bytes(batch: &run::read::Batch<'_>) -> f64 {
    match &batch.columns[0] {
        Values::Numbers(values) => values.iter().sum(),
        Values::Words { .. } | Values::Whole(..) => panic!("bytes are plain numbers"),
    }
}

#[test]
fn threads_read_the_same_numbers() {
    let dir = sealed("threads");
    let run = Run::open(&dir).unwrap();
    let table = run.table("disk").unwrap().unwrap();
    let expected = expected();
    // Often, because threads meet at a bad moment only now and then.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let mut sum = 0.0;
                    let part = &table.parts[0];
                    table.read(part, &["bytes"], |b| sum += bytes(b)).unwrap();
                    assert_eq!(sum, expected);
                }
            });
        }
    });
    std::fs::remove_dir_all(dir).unwrap();
}
