//! The runs that are shown, and what a page has to know of each before it asks anything.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use analysis::evaluate;
use axum::http::StatusCode;
use run::catalog::{self, Detail};
use run::inventory::Inventory;
use run::manifest::rfc3339;
use run::read::{Life, ReadError};
use run::{Nanos, Run};
use serde_json::{Map, Value, json};

use super::live::{self, Live};
use super::refused::Refused;

/// A run that is shown.
#[derive(Debug)]
pub(super) struct Shown {
    /// `a`, `b`, ...: what requests name it by.
    pub(super) id: String,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// A directory.
    Recorded {
        path: PathBuf,
        /// As last opened, and how long its journal was then.
        opened: RwLock<(Arc<Run>, u64)>,
    },
    Live(Arc<Live>),
}

impl Shown {
    /// The run in `path`, by its place on the command line.
    pub(super) fn open(place: usize, path: &Path) -> Result<Shown, ReadError> {
        let length = journal_length(path);
        let opened = RwLock::new((Arc::new(Run::open(path)?), length));
        let path = path.to_owned();
        Ok(Shown {
            id: id(place),
            source: Source::Recorded { path, opened },
        })
    }

    /// An observation that goes on.
    pub(super) fn live(live: Arc<Live>) -> Shown {
        Shown {
            id: live::ID.into(),
            source: Source::Live(live),
        }
    }

    /// The run as it is now, and a number that changes when it does. One that was not sealed
    /// is opened again when it has grown.
    pub(super) fn run(&self) -> Result<(Arc<Run>, u64), ReadError> {
        let (path, opened) = match &self.source {
            Source::Recorded { path, opened } => (path, opened),
            Source::Live(live) => return Ok(live.run()),
        };
        let known = opened.read().unwrap_or_else(PoisonError::into_inner);
        let (run, length) = known.clone();
        drop(known);
        if run.life == Life::Complete {
            return Ok((run, length));
        }
        let now = journal_length(path);
        if now == length {
            return Ok((run, length));
        }
        let fresh = (Arc::new(Run::open(path)?), now);
        let mut known = opened.write().unwrap_or_else(PoisonError::into_inner);
        (*known).clone_from(&fresh);
        Ok(fresh)
    }

    /// Its directory, if it has one.
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::Recorded { path, .. } => Some(path),
            Source::Live(_) => None,
        }
    }

    /// The observation that it is of, if it goes on.
    pub(super) fn of_live(&self) -> Option<&Arc<Live>> {
        match &self.source {
            Source::Recorded { .. } => None,
            Source::Live(live) => Some(live),
        }
    }

    /// Settings of its machine.
    pub(super) fn inventory(&self) -> Inventory {
        match &self.source {
            Source::Recorded { path, .. } => match run::own_file(path, "inventory.json") {
                Some(_) => Inventory::read(path),
                None => Inventory::of(None),
            },
            Source::Live(live) => Inventory::of(live.beside("inventory.json").as_deref()),
        }
    }

    /// What is told of it.
    pub(super) fn describe(&self) -> Result<Value, ReadError> {
        let (run, _) = self.run()?;
        let mut told = describe(&self.id, &run);
        if let Some(path) = self.path() {
            told["path"] = json!(path.display().to_string());
        }
        if let Some(live) = self.of_live() {
            told["kept_from"] = json!(live.kept_from(&run));
        }
        Ok(told)
    }
}

fn journal_length(path: &Path) -> u64 {
    std::fs::metadata(path.join("journal")).map_or(0, |m| m.len())
}

/// `a` to `z`, then `aa`.
pub(super) fn id(place: usize) -> String {
    let letter = char::from(b'a' + (place % 26) as u8);
    match place / 26 {
        0 => letter.to_string(),
        more => format!("{}{letter}", id(more - 1)),
    }
}

/// The refusal where no run has that id.
pub(super) fn no_run(id: &str) -> Refused {
    Refused::new(
        StatusCode::NOT_FOUND,
        format!("there is no run `{id}` here"),
    )
}

/// Seconds from the run's start.
pub(super) fn since(run: &Run, time: Nanos) -> f64 {
    time.saturating_sub(run.manifest.started) as f64 / 1e9
}

/// What is told of `run`.
pub(super) fn describe(id: &str, run: &Run) -> Value {
    let m = &run.manifest;
    let ended = run.ended();
    let tables = run.tables();
    let live = run.life == Life::Live;
    let phases: Vec<Value> = m
        .phases
        .iter()
        .enumerate()
        .map(|(at, phase)| {
            let to = m.phases.get(at + 1).map_or(ended, |next| next.from);
            json!({"name": phase.name, "from": since(run, phase.from), "to": since(run, to)})
        })
        .collect();
    json!({
        "id": id,
        "path": null,
        "name": m.id,
        "title": m.name,
        "host": m.host,
        "started": rfc3339(m.started),
        "dated": m.is_dated(),
        "seconds": since(run, ended),
        "every": m.every_seconds,
        "live": live,
        "end": run.ending(),
        "command": m.command.as_ref().map(|c| &c.arguments),
        "detail": detail(&tables),
        "phases": phases,
        "gaps": gaps(run),
        "loss": loss(run),
        "since_boot": tables.iter().any(|t| t == "since_boot"),
        "subjects": subjects(&tables),
        "own_cost": own_cost(run),
        "problems": problems(run),
        "notes": m.notes,
    })
}

/// The deepest kind of table that the run has.
fn detail(tables: &[String]) -> &'static str {
    let known = tables.iter().filter_map(|t| catalog::table(t));
    let depth = known.map(|(_, table)| match table.detail {
        Detail::Sample => 0,
        Detail::Histogram => 1,
        Detail::Event => 2,
    });
    ["samples", "distributions", "events"][depth.max().unwrap_or(0)]
}

/// By subject, the dimensions by which the run can answer.
fn subjects(tables: &[String]) -> Value {
    let mut found: Map<String, Value> = Map::new();
    for subject in run::CATALOG {
        let mut names: Vec<&str> = Vec::new();
        let mut any = false;
        for table in subject.tables {
            if !tables.iter().any(|t| t == table.name) {
                continue;
            }
            any = true;
            let sums = table.sums.iter().map(|(name, _)| *name);
            for name in table.dimensions.iter().copied().chain(sums) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        if any {
            found.insert(subject.name.to_owned(), json!(names));
        }
    }
    Value::Object(found)
}

/// Times longer than this many intervals without a sample are gaps.
const GAP: f64 = 1.5;

/// When nothing was sampled.
fn gaps(run: &Run) -> Vec<Value> {
    // What was imported has tables of several sources, each with its own times.
    if !run.manifest.imported.is_empty() {
        return vec![];
    }
    let Ok(answer) = evaluate(run, "self.samples") else {
        return vec![];
    };
    let least = (run.manifest.every_seconds * GAP * 1e9) as Nanos;
    let mut before = run.manifest.started;
    let mut found = vec![];
    if run.is_in_memory() {
        // What is no longer kept is no gap.
        before = answer.slots.first().map_or(before, |slot| slot.time);
    }
    for slot in &answer.slots {
        let from = slot.from();
        if from.saturating_sub(before) > least {
            found.push(json!({"from": since(run, before), "to": since(run, from)}));
        }
        before = slot.time;
    }
    found
}

/// What could not be kept, and what was sampled.
pub(super) fn loss(run: &Run) -> Vec<Value> {
    let m = &run.manifest;
    let lost = m.loss.iter().map(|l| {
        json!({
            "table": null, "from": since(run, l.from), "to": since(run, l.to),
            "dropped": l.rows, "weight": null, "why": l.why,
        })
    });
    let sampled = m.sampled.iter().flatten();
    let thinned = sampled.filter(|(_, weight)| **weight > 1).map(|(table, weight)| {
        json!({
            "table": table, "from": 0.0, "to": since(run, run.ended()), "dropped": 0,
            "weight": weight,
            "why": format!("events came faster than the budget: one in {weight} at most was kept"),
        })
    });
    lost.chain(thinned).collect()
}

/// What recording cost.
pub(super) fn own_cost(run: &Run) -> Value {
    let own = &run.manifest.own;
    let seconds = since(run, run.ended());
    let dropped: u64 = run.manifest.loss.iter().map(|l| l.rows).sum();
    if own.samples == 0 {
        // Not ended yet: the rows tell.
        let total = |expression: &str| {
            let answer = analysis::summarise(run, expression).ok()?;
            answer.groups.first()?.total
        };
        let resident = analysis::summarise(run, "self.resident").ok();
        let memory = resident.and_then(|a| Some(a.groups.first()?.max));
        return json!({
            "cpu_share": total("self.time").map(|cpu| cpu / seconds),
            "memory": memory, "bytes_written": total("self.written"),
            "late": total("self.late"), "dropped": dropped,
        });
    }
    // While it was recorded; the rest went into start and end.
    let during = analysis::summarise(run, "self.time").ok();
    let during = during.and_then(|answer| answer.groups.first()?.total);
    json!({
        "cpu_share": (seconds > 0.0).then_some(during.unwrap_or(own.cpu_seconds) / seconds),
        "cpu_at_ends": during.map(|during| (own.cpu_seconds - during).max(0.0)),
        "memory": own.peak_resident_bytes, "bytes_written": own.written_bytes,
        "late": own.late, "dropped": dropped,
    })
}

/// What a reader should know before trusting the numbers.
fn problems(run: &Run) -> Vec<String> {
    let mut found: Vec<String> = run.damage().into_iter().collect();
    match run.life {
        Life::Complete => {}
        Life::Live if run.is_in_memory() => {}
        Life::Live => found.push("this run is still being recorded: it grows".into()),
        Life::Killed => {
            found.push("the recorder was killed: the last second may be missing".into());
        }
        Life::Unsealed => {
            found.push("the run could not be sealed: it is read from its journal".into());
        }
    }
    for name in run.tables() {
        if let Err(e) = run.table(&name) {
            found.push(e.to_string());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_do_not_run_out() {
        let ids: Vec<String> = [0, 25, 26, 27, 701, 702].map(super::id).to_vec();
        assert_eq!(ids, ["a", "z", "aa", "ab", "zz", "aaa"]);
    }
}
