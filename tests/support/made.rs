//! Runs whose every number is known, because a test writes them.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::{Path, PathBuf};

use run::manifest::{Manifest, Phase};
use run::rows::TableId;
use run::write::Making;
use run::{Nanos, Sink};

/// When they start.
pub(crate) const START: Nanos = 1_800_000_000_000_000_000;

const SECOND: Nanos = 1_000_000_000;

/// Six devices for `seconds`, with latencies from 20 us on and some far above, as samples,
/// histogram and events of the first device.
pub(crate) fn disk_run(path: &Path, seconds: i64) -> PathBuf {
    made(path, seconds, |sink, second| {
        for device in 0..6 {
            disk(sink, device, second);
        }
        latencies(sink, second);
    })
}

/// Samples only.
pub(crate) fn plain_run(path: &Path) -> PathBuf {
    made(path, 5, |sink, second| disk(sink, 0, second))
}

fn made(path: &Path, seconds: i64, fill: impl Fn(&mut Sink, i64)) -> PathBuf {
    let mut making = Making::begin(path).expect("a new directory");
    let mut sink = Sink::new();
    for second in 1..=seconds {
        sink.at(START + second * SECOND, 1.0);
        let own = [0.001, 100.0, 1.0, 0.0, 0.0, 0.0, 2e7 + second as f64];
        sink.row(TableId::of("self"), &[], &own);
        fill(&mut sink, second);
        making.take(&mut sink).expect("room");
    }
    let phase = |name: &str, from: i64| Phase {
        name: name.into(),
        from: START + from * SECOND,
    };
    let manifest = Manifest {
        ended: Some(START + seconds * SECOND),
        phases: vec![phase("warm", 0), phase("steady", seconds / 2)],
        ..Manifest::new("box", START, 1.0)
    };
    making.finish(&sink, &manifest).expect("room");
    path.to_owned()
}

fn disk(sink: &mut Sink, device: i64, second: i64) {
    let name = format!("sd{}", char::from(b'a' + device as u8));
    for (op, factor) in [("read", 1.0), ("write", 2.0)] {
        let words = [sink.word(&name), sink.word("disk"), sink.word(op)];
        let ios = (100 + device * 7 + second % 5) as f64 * factor;
        let values = [ios, ios * 4096.0, 0.0, ios * 0.0005, 0.0];
        sink.row(TableId::of("disk"), &words, &values);
    }
}

/// 200 reads a second: most at 20 us and more, one in a hundred at 5 ms, one of all at 2 s.
fn latencies(sink: &mut Sink, second: i64) {
    let time = START + second * SECOND;
    for number in 0..200_i64 {
        let nanos = match number {
            0 if second == 2 => 2_000_000_000,
            n if n % 100 == 50 => 5_000_000 + n * 1000,
            n => 20_000 + n * 100,
        };
        let latency = nanos as f64 / 1e9;
        let bucket = run::grid::floor(latency, run::Unit::Seconds);
        let words = [sink.word("sda"), sink.word("disk"), sink.word("read")];
        sink.row(TableId::of("disk_latency"), &words, &[bucket, 1.0, 4096.0]);
        let process = format!("fio[{}]", number % 4);
        let file = format!("/data/{}", number % 3);
        let more = ["sync", "no", "no", &process, "fio", "/", &file];
        let all = words.into_iter().chain(more.map(|w| sink.word(w)));
        let all: Vec<run::Word> = all.collect();
        let numbers = [0.0, latency, 4096.0, 0.0, 0.0, 0.0, 1.0, 1.0];
        let rows = sink.events(TableId::of("disk_event"));
        rows.event(time - SECOND / 2 + number, all, numbers);
    }
}
