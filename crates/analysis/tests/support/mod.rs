//! Small runs, written by hand, for questions whose answers can be worked out on paper.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::disallowed_methods, reason = "tests write files")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use analysis::scan::KeyValue;
use analysis::{Answer, evaluate};
use run::manifest::{Manifest, Phase, SourceState};
use run::rows::TableId;
use run::write::Writer;
use run::{Nanos, Run, Sink};

/// When every run here starts.
pub(crate) const START: Nanos = 1_800_000_000_000_000_000;

/// Seconds since the start as a time.
pub(crate) fn at(seconds: f64) -> Nanos {
    START + (seconds * 1e9).round() as Nanos
}

/// What is being written.
pub(crate) struct Script {
    sink: Sink,
    writer: Writer,
    time: Nanos,
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
        self
    }

    /// A row of `table`.
    pub(crate) fn row(&mut self, table: &str, words: &[&str], values: &[f64]) -> &mut Script {
        let words: Vec<_> = words.iter().map(|w| self.sink.word(w)).collect();
        self.sink.row(TableId::of(table), &words, values);
        self
    }

    /// An event of `table` at a time of its own.
    pub(crate) fn event(&mut self, table: &str, time: Nanos, words: &[&str], values: &[f64]) {
        let words: Vec<_> = words.iter().map(|w| self.sink.word(w)).collect();
        let rows = self.sink.events(TableId::of(table));
        rows.times.push(time);
        let both = rows.words.iter_mut().zip(words);
        both.for_each(|(column, word)| column.push(word));
        let both = rows.values.iter_mut().zip(values);
        both.for_each(|(column, value)| column.push(*value));
    }

    /// A row that says that a sample was taken.
    pub(crate) fn own(&mut self) -> &mut Script {
        self.row("self", &[], &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    }
}

/// One run twice: sealed, and as a killed recorder leaves it.
pub(crate) struct Runs {
    dir: PathBuf,
    pub(crate) sealed: Run,
    pub(crate) killed: Run,
}

impl Drop for Runs {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Writes a run with `phases` (name, second) and the rows that `script` makes.
pub(crate) fn runs(phases: &[(&str, f64)], script: impl FnOnce(&mut Script)) -> Runs {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let dir = std::env::temp_dir().join(format!("sonde-analysis-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    let manifest = manifest(phases);
    let writer = Writer::create(&dir.join("sealed"), &manifest).unwrap();
    let mut s = Script {
        sink: Sink::new(),
        writer,
        time: 0,
    };
    script(&mut s);
    let last = s.time;
    s.writer.append(&mut s.sink, last);
    // A second name keeps the journal when sealing removes the first.
    std::fs::create_dir(dir.join("killed")).unwrap();
    for name in ["journal", "run.json"] {
        std::fs::hard_link(dir.join("sealed").join(name), dir.join("killed").join(name)).unwrap();
    }
    let finished = s.writer.finish(manifest).unwrap();
    assert_eq!(finished.not_sealed, None);
    let open = |name: &str| Run::open(&dir.join(name)).unwrap();
    let (sealed, killed) = (open("sealed"), open("killed"));
    assert_eq!(killed.life, run::read::Life::Killed);
    Runs {
        dir,
        sealed,
        killed,
    }
}

fn manifest(phases: &[(&str, f64)]) -> Manifest {
    let phase = |(name, from): &(&str, f64)| Phase {
        name: (*name).into(),
        from: at(*from),
    };
    let source = |name: &str, state: &str, detail: &str| SourceState {
        name: name.into(),
        state: state.into(),
        detail: detail.into(),
        ..SourceState::default()
    };
    Manifest {
        phases: phases.iter().map(phase).collect(),
        sources: vec![
            SourceState {
                stretched: 2,
                ..source("process", "available", "")
            },
            source("pressure", "denied", "boot with psi=1"),
            source("bpf-disk", "available", ""),
            source("bpf-net", "denied", "run it as root"),
            source("bpf-tcp", "available", ""),
        ],
        ..Manifest::new("box", START, 1.0)
    }
}

/// A group's key as text: `sda, read`; a number dimension as its lower bound.
pub(crate) fn key(answer: &Answer, place: usize) -> String {
    let one = |k: &KeyValue| match k {
        KeyValue::Word(word) => word.clone(),
        KeyValue::Number(number) => number.to_string(),
    };
    let key: Vec<String> = answer.groups[place].key.iter().map(one).collect();
    key.join(", ")
}

impl Runs {
    /// The answer, which must be the same from the sealed run and from the journal.
    pub(crate) fn ask(&self, expression: &str) -> Answer {
        let ask = |run: &Run| evaluate(run, expression).unwrap_or_else(|e| panic!("{e}"));
        let (sealed, killed) = (ask(&self.sealed), ask(&self.killed));
        assert_eq!(sealed.slots, killed.slots, "{expression}");
        let text = |a: &Answer| format!("{:?}", a.groups);
        assert_eq!(text(&sealed), text(&killed), "{expression}");
        sealed
    }

    /// Keys with totals, in the answer's order.
    pub(crate) fn totals(&self, expression: &str) -> Vec<(String, f64)> {
        let a = self.ask(expression);
        let all = a.groups.iter().enumerate();
        all.map(|(i, g)| (key(&a, i), g.total.expect("a sum")))
            .collect()
    }

    /// Keys with means, in the answer's order, rounded to a billionth.
    pub(crate) fn means(&self, expression: &str) -> Vec<(String, f64)> {
        let a = self.ask(expression);
        let all = a.groups.iter().enumerate();
        all.map(|(i, g)| (key(&a, i), (g.mean * 1e9).round() / 1e9))
            .collect()
    }

    /// The only group: total, mean, least, greatest, intervals.
    pub(crate) fn one(&self, expression: &str) -> (Option<f64>, f64, f64, f64, u64) {
        let a = self.ask(expression);
        assert_eq!(a.groups.len(), 1, "{expression}: {:?}", a.groups);
        let g = &a.groups[0];
        (g.total, g.mean, g.min, g.max, g.intervals)
    }
}

/// What [`Runs::totals`] and [`Runs::means`] give.
pub(crate) fn pairs(expected: &[(&str, f64)]) -> Vec<(String, f64)> {
    expected
        .iter()
        .map(|(k, v)| ((*k).to_owned(), *v))
        .collect()
}
