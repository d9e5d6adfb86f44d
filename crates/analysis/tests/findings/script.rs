//! Runs written by hand for one rule: what makes it speak, and what nearly does.
#![allow(clippy::disallowed_methods, reason = "tests write files")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use analysis::findings::{Finding, Look, find};
use run::manifest::Manifest;
use run::rows::TableId;
use run::write::Writer;
use run::{Nanos, Run, Sink, grid};

/// When every run here starts.
pub(crate) const START: Nanos = 1_800_000_000_000_000_000;

/// Seconds since the start as a time.
pub(crate) fn at(seconds: f64) -> Nanos {
    START + (seconds * 1e9).round() as Nanos
}

/// What makes a rule speak, and what it says.
pub(crate) struct Fires {
    pub(crate) what: &'static str,
    pub(crate) settings: &'static [(&'static str, &'static str)],
    pub(crate) script: fn(&mut Script),
    /// Each stands in the sentence.
    pub(crate) says: &'static [&'static str],
    /// Start and end in seconds.
    pub(crate) time: (f64, f64),
    pub(crate) expression: &'static str,
}

/// What a rule is silent about.
pub(crate) struct Silent {
    pub(crate) what: &'static str,
    pub(crate) settings: &'static [(&'static str, &'static str)],
    pub(crate) script: fn(&mut Script),
}

/// The cases of a rule.
pub(crate) struct Cases {
    pub(crate) name: &'static str,
    pub(crate) fires: &'static [Fires],
    pub(crate) silent: &'static [Silent],
}

/// What is being written.
pub(crate) struct Script {
    sink: Sink,
    writer: Writer,
    time: Nanos,
    /// As it will be when the run is sealed.
    pub(crate) manifest: Manifest,
}

impl Script {
    /// Rows that follow end at `seconds` and are `interval` seconds long.
    pub(crate) fn at(&mut self, seconds: f64, interval: f64) -> &mut Script {
        let time = at(seconds);
        if time != self.time {
            self.writer.append(&mut self.sink, self.time);
            self.time = time;
        }
        self.sink.at(time, interval);
        self.row("self", &[], &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    }

    /// A row of `table`.
    pub(crate) fn row(&mut self, table: &str, words: &[&str], values: &[f64]) -> &mut Script {
        let words: Vec<_> = words.iter().map(|w| self.sink.word(w)).collect();
        self.sink.row(TableId::of(table), &words, values);
        self
    }

    /// Two processors, each in use for this share of the interval.
    pub(crate) fn cpus(&mut self, used: [f64; 2], interval: f64) -> &mut Script {
        for (name, share) in ["0", "1"].iter().zip(used) {
            self.row("cpu", &[name, "user"], &[share * interval]);
            self.row("cpu_idle", &[name], &[(1.0 - share) * interval, 0.0, 0.0]);
        }
        self
    }
}

/// Lower bound of the bucket that holds `value` seconds.
pub(crate) fn bucket(seconds: f64) -> f64 {
    grid::floor(seconds, run::Unit::Seconds)
}

/// Lower bound of the bucket that holds `value` bytes or things.
pub(crate) fn whole(value: f64) -> f64 {
    grid::floor(value, run::Unit::Bytes)
}

/// Directory of a run; it goes when this is dropped.
struct Dir(PathBuf);

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes the run of `script` and answers what `use_it` makes of it, sealed and as a killed
/// recorder leaves it.
pub(crate) fn with_runs<T>(script: impl FnOnce(&mut Script), use_it: impl Fn(&Run) -> T) -> (T, T) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let dir = std::env::temp_dir().join(format!("sonde-findings-{}-{number}", std::process::id()));
    let dir = Dir(dir);
    let _ = std::fs::remove_dir_all(&dir.0);
    let manifest = Manifest::new("box", START, 1.0);
    let writer = Writer::create(&dir.0.join("sealed"), &manifest).unwrap();
    let mut s = Script {
        sink: Sink::new(),
        writer,
        time: START,
        manifest,
    };
    script(&mut s);
    let (last, mut manifest) = (s.time, s.manifest);
    s.writer.append(&mut s.sink, last);
    // A second name keeps the journal when sealing removes the first.
    std::fs::create_dir(dir.0.join("killed")).unwrap();
    for name in ["journal", "run.json"] {
        let [from, to] = ["sealed", "killed"].map(|d| dir.0.join(d).join(name));
        std::fs::hard_link(from, to).unwrap();
    }
    manifest.ended = Some(last);
    let finished = s.writer.finish(manifest.clone()).unwrap();
    assert_eq!(finished.not_sealed, None);
    let open = |name: &str| {
        let mut run = Run::open(&dir.0.join(name)).unwrap();
        // What only a recorder writes.
        let given = manifest.clone();
        run.manifest.command = given.command;
        run.manifest.loss = given.loss;
        run.manifest.sources = given.sources;
        run.manifest.programs = given.programs;
        run.manifest.every_seconds = given.every_seconds;
        run
    };
    (use_it(&open("sealed")), use_it(&open("killed")))
}

/// All findings of the run that `script` makes, which are the same in both forms of a run.
pub(crate) fn findings(
    settings: &[(&str, &str)],
    script: impl FnOnce(&mut Script),
) -> Vec<Finding> {
    let setting = |path: &[&str]| {
        let path = path.join("/");
        let found = settings.iter().find(|(name, _)| *name == path);
        found.map(|(_, value)| (*value).to_owned())
    };
    let (sealed, killed) = with_runs(script, |run| {
        let look = Look::new(run, &setting);
        let found = find(&look);
        assert_eq!(look.problems(), Vec::<String>::new());
        for f in &found {
            let answer = look.summary(&f.expression);
            assert!(answer.is_some(), "no answer to {}", f.expression);
        }
        found
    });
    assert_eq!(sealed, killed, "a sealed run and its journal say the same");
    sealed
}
