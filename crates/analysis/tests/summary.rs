//! An answer without its series is the same answer: the two are made in different ways.

use std::path::PathBuf;

use analysis::{Answer, evaluate, summarise};
use run::manifest::{Manifest, Phase};
use run::rows::TableId;
use run::write::Writer;
use run::{Run, Sink};

const SECOND: i64 = 1_000_000_000;

fn manifest() -> Manifest {
    Manifest {
        ended: Some(60 * SECOND),
        phases: ["warm", "steady", "warm"]
            .into_iter()
            .zip([0, 20, 50])
            .map(|(name, from)| Phase {
                name: name.into(),
                from: from * SECOND,
            })
            .collect(),
        ..Manifest::new("host", 0, 1.0)
    }
}

/// A minute of three disks: one comes late, one idles, amounts are missing now and then, and
/// the last interval is short.
fn recorded(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("sonde-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    let mut writer = Writer::create(&dir, &manifest()).unwrap();
    let mut sink = Sink::new();
    let (disk, device) = (TableId::of("disk"), TableId::of("disk_device"));
    let latency = TableId::of("disk_latency");
    for n in 1..=60_i64 {
        let interval = if n == 60 { 0.001 } else { 1.0 };
        sink.at(n * SECOND, interval);
        for (i, name) in ["sda", "sdb", "sdc"].into_iter().enumerate() {
            if i == 2 && n < 30 {
                continue;
            }
            let words = [sink.word(name), sink.word("disk")];
            let load = if i == 1 { 0.0 } else { (n * 7 % 13) as f64 };
            for op in ["read", "write"] {
                let ios = if n % 11 == 0 { f64::NAN } else { load };
                let time = if n % 17 == 0 { f64::NAN } else { load * 0.01 };
                let words = [words[0], words[1], sink.word(op)];
                sink.row(disk, &words, &[ios, load * 4096.0, 0.0, time, 0.0]);
            }
            sink.row(device, &words, &[load / 20.0, load, f64::from(i as u32)]);
        }
        // Sparse ones: a histogram, and events in two intervals of three.
        let words = ["sda", "disk", "read"].map(|w| sink.word(w));
        sink.row(latency, &words, &[0.001, (n % 4) as f64, 1.0]);
        let fio = sink.word("fio[1@1]");
        for i in 0..n % 3 * 5 {
            let rows = sink.events(TableId::of("disk_event"));
            rows.times.push(n * SECOND - i * 1000);
            for (place, column) in rows.words.iter_mut().enumerate() {
                column.push(if place == 1 { words[1] } else { fio });
            }
            let values = [0.0, 1e-6 * i as f64, 4096.0, 4096.0, 0.0, 0.0, 1.0, 1.0];
            rows.values
                .iter_mut()
                .zip(values)
                .for_each(|(c, v)| c.push(v));
        }
        writer.append(&mut sink, n * SECOND);
    }
    writer.finish(manifest()).unwrap();
    dir
}

/// What `get` prints of an answer, without the series.
fn shown(answer: &Answer) -> Vec<String> {
    let nearly = |v: f64| format!("{v:.12e}");
    let group = |g: &analysis::Group| {
        let numbers = [g.mean, g.min, g.max, g.seconds].map(nearly);
        let total = g.total.map(nearly);
        format!("{:?} {total:?} {numbers:?} {}", g.key, g.intervals)
    };
    answer.groups.iter().map(group).collect()
}

#[test]
fn an_answer_does_not_depend_on_its_series() {
    let dir = recorded("summary");
    let run = Run::open(&dir).unwrap();
    for text in [
        "disk.bytes",
        "disk.bytes by device, op",
        "disk.ios by device, phase",
        "disk.ios where device = sdc and time in 10s..40s",
        "disk.inflight by device",
        "disk.mean_latency by device, op",
        "disk.mean_latency by phase",
        "disk.mean_size where op = read",
        "disk.utilisation by device",
        "disk.busy_depth",
        "disk.ios by latency",
        "disk.ios by latency, phase",
        "disk.ios where latency > 1us and phase = steady",
        "disk.ios by process",
        "disk.ios by phase, process, latency",
        "disk.bytes by process where time in 10s..40s",
        "disk.mean_size by process",
    ] {
        let (long, short) = (
            evaluate(&run, text).unwrap(),
            summarise(&run, text).unwrap(),
        );
        assert!(!long.groups.is_empty(), "{text}");
        assert_eq!(shown(&short), shown(&long), "{text}");
        assert_eq!(short.slots, long.slots, "{text}");
        assert!(short.groups.iter().all(|g| g.series.is_empty()), "{text}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}
