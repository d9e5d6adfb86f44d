//! Runs of a disk, second by second, whose every number is known.

use std::path::{Path, PathBuf};

use run::manifest::{self, Imported, Manifest};
use run::rows::TableId;
use run::write::Making;
use run::{Sink, Unit, grid};

/// What a disk did in a second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Second {
    /// Bytes written, in I/Os of 4 KiB.
    pub(crate) bytes: f64,
    /// Latencies in seconds, and how many I/Os had each.
    pub(crate) latencies: Vec<(f64, f64)>,
}

/// A run `dir/name` of those seconds, which began so many seconds after the first of all.
pub(crate) fn seconds(dir: &Path, name: &str, later: i64, all: &[Second]) -> PathBuf {
    failing(dir, name, later, all, None)
}

/// The same of a command that ended with that status.
pub(crate) fn failing(
    dir: &Path,
    name: &str,
    later: i64,
    all: &[Second],
    status: Option<i32>,
) -> PathBuf {
    let path = dir.join(name);
    let mut making = Making::begin(&path).expect("a run");
    let mut sink = Sink::new();
    let words = ["sda", "disk", "write"].map(|w| sink.word(w));
    let start = 1_600_000_000_000_000_000 + later * 1_000_000_000;
    for (place, second) in all.iter().enumerate() {
        sink.at(start + (place as i64 + 1) * 1_000_000_000, 1.0);
        let none = f64::NAN;
        let values = [second.bytes / 4096.0, second.bytes, none, none, none];
        sink.row(TableId::of("disk"), &words, &values);
        for (latency, count) in &second.latencies {
            let latency = grid::floor(*latency, Unit::Seconds);
            sink.row(TableId::of("disk_latency"), &words, &[latency, *count, 0.0]);
        }
    }
    making.take(&mut sink).expect("rows");
    let mut manifest = Manifest::new("box", start, 1.0);
    manifest.ended = Some(start + all.len() as i64 * 1_000_000_000);
    manifest.imported = vec![Imported::default()];
    manifest.command = status.map(|status| manifest::Command {
        arguments: vec!["job".into()],
        status: Some(status),
        signal: None,
    });
    making.finish(&sink, &manifest).expect("a run");
    path
}
