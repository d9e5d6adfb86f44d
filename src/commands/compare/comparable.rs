//! Whether runs may be compared, and what differs between their machines.

use std::collections::{BTreeMap, BTreeSet};

use run::Run;
use serde_json::Value;
use surfaces::table::shortened;

use super::Side;
use crate::output::{counted, one_line};

/// So many of a side's different values are listed, and so much of each.
const LISTED: usize = 2;
const LONG: usize = 70;

/// The recorder's cost, as a share of a processor, that runs may differ by.
const COST: f64 = 0.01;

/// Runs whose lengths differ by more than this share did other work.
const LENGTH: f64 = 0.1;

/// What differs between the inventories: path, value in A, value in B. What differs among runs
/// of one side is no cause of a difference between them.
pub(super) fn differences(a: &Side, b: &Side) -> Vec<[String; 3]> {
    let [a, b] = [a, b].map(|side| common(&side.runs));
    let paths: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mut found = Vec::new();
    for path in paths {
        let text = |of: &BTreeMap<String, Option<String>>| {
            of.get(path).cloned().unwrap_or(Some("(none)".into()))
        };
        if let (Some(one), Some(other)) = (text(&a), text(&b))
            && one != other
        {
            found.push([path.clone(), one, other]);
        }
    }
    found
}

/// Every fact on which all these runs agree; `None` for one on which they do not. Without
/// inventories there are none.
fn common(runs: &[Run]) -> BTreeMap<String, Option<String>> {
    let mut all: Option<BTreeMap<String, Option<String>>> = None;
    for run in runs {
        let text = std::fs::read(run.path().join("inventory.json")).unwrap_or_default();
        let Ok(inventory) = serde_json::from_slice::<Value>(&text) else {
            continue;
        };
        let mut facts = BTreeMap::new();
        flatten("", &inventory, &mut facts);
        match &mut all {
            None => all = Some(facts.into_iter().map(|(k, v)| (k, Some(v))).collect()),
            Some(known) => {
                for (path, value) in known.iter_mut() {
                    if facts.get(path) != value.as_ref() {
                        *value = None;
                    }
                }
                for path in facts.into_keys() {
                    known.entry(path).or_insert(None);
                }
            }
        }
    }
    all.unwrap_or_default()
}

fn flatten(above: &str, value: &Value, facts: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = match above {
                    "" => key.clone(),
                    _ => format!("{above}.{key}"),
                };
                // What differs in any case, and what changed during the run.
                if sources::inventory::is_compared(&path) && path != "changes" {
                    flatten(&path, value, facts);
                }
            }
        }
        Value::String(text) => {
            facts.insert(above.to_owned(), one_line(text));
        }
        other => {
            facts.insert(above.to_owned(), one_line(&other.to_string()));
        }
    }
}

/// Why the runs may not be comparable.
pub(super) fn notes(a: &Side, b: &Side) -> Vec<String> {
    let mut notes = Vec::new();
    let mut differ = |what: &str, of: &dyn Fn(&Run) -> Option<String>| {
        let [one, other] = [a, b].map(|side| {
            let values = side.runs.iter().filter_map(of);
            values
                .collect::<BTreeSet<String>>()
                .into_iter()
                .collect::<Vec<_>>()
        });
        if one != other {
            let list = |values: &[String]| {
                let shown = values.iter().take(LISTED);
                let shown: Vec<String> = shown.map(|v| shortened(&one_line(v), LONG)).collect();
                match values.len().checked_sub(LISTED) {
                    None if values.is_empty() => "nothing".to_owned(),
                    None | Some(0) => shown.join(" or "),
                    Some(others) => {
                        let others = counted(others as u64, "other");
                        format!("{} or {others}", shown.join(", "))
                    }
                }
            };
            notes.push(format!(
                "{what}: {} in A, {} in B",
                list(&one),
                list(&other)
            ));
        }
    };
    differ("other machines", &|r| Some(r.manifest.host.clone()));
    differ("other commands", &|r| {
        r.manifest.command.as_ref().map(|c| c.arguments.join(" "))
    });
    differ("other phases", &|r| {
        let names: Vec<&str> = r.manifest.phases.iter().map(|p| p.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    });
    differ("other intervals", &|r| {
        Some(format!("{} s", r.manifest.every_seconds))
    });
    differ("other versions of sonde", &|r| {
        Some(r.manifest.sonde.clone())
    });
    for side in [a, b] {
        notes.extend(side.runs.iter().filter_map(|r| ended(side, r)));
        let failed = side.failed.iter().filter_map(|r| ended(side, r));
        notes.extend(failed.map(|note| format!("{note}: it does not count")));
    }
    notes.extend(lengths(a, b));
    notes.extend(costs(a, b));
    notes.extend(order(a, b));
    notes
}

/// How a run's command failed, if it did.
pub(super) fn failure(run: &Run) -> Option<String> {
    let command = run.manifest.command.as_ref()?;
    match (command.status, command.signal) {
        (Some(status), _) if status != 0 => Some(format!("its command ended with status {status}")),
        (_, Some(signal)) => Some(format!("its command was killed by signal {signal}")),
        _ => None,
    }
}

/// A run that did not end as it should.
fn ended(side: &Side, run: &Run) -> Option<String> {
    let m = &run.manifest;
    let path = run.path().display();
    let name = side.name;
    if let Some(how) = failure(run) {
        return Some(format!("{path} ({name}): {how}"));
    }
    if !m.loss.is_empty() {
        return Some(format!(
            "{path} ({name}): rows were lost while it was recorded"
        ));
    }
    let sampled = m
        .sampled
        .as_ref()
        .is_some_and(|s| s.values().any(|n| *n > 1));
    sampled.then(|| format!("{path} ({name}): its events are sampled"))
}

fn length(run: &Run) -> f64 {
    (run.ended() - run.manifest.started) as f64 / 1e9
}

fn middle(runs: &[Run], of: impl Fn(&Run) -> f64) -> f64 {
    analysis::stats::median(&runs.iter().map(of).collect::<Vec<_>>())
}

fn lengths(a: &Side, b: &Side) -> Option<String> {
    let [one, other] = [a, b].map(|side| middle(&side.runs, length));
    let apart = (one - other).abs() > LENGTH * one.max(other);
    apart.then(|| {
        let text = run::unit::digits;
        format!(
            "other lengths: {} s in A, {} s in B (middle runs)",
            text(one),
            text(other)
        )
    })
}

fn costs(a: &Side, b: &Side) -> Option<String> {
    let cost = |run: &Run| match length(run) {
        seconds if seconds > 0.0 => run.manifest.own.cpu_seconds / seconds,
        _ => 0.0,
    };
    let [one, other] = [a, b].map(|side| middle(&side.runs, cost));
    ((one - other).abs() > COST).then(|| {
        format!(
            "the recorder took {:.1} % of a processor in A, {:.1} % in B",
            one * 100.0,
            other * 100.0
        )
    })
}

/// All of one side before all of the other: what drifts with time looks like a difference.
fn order(a: &Side, b: &Side) -> Option<String> {
    let starts =
        |side: &Side| -> Vec<i64> { side.runs.iter().map(|r| r.manifest.started).collect() };
    let [one, other] = [starts(a), starts(b)];
    if one.len() < 2 || other.len() < 2 {
        return None;
    }
    let before = |x: &[i64], y: &[i64]| x.iter().max() < y.iter().min();
    (before(&one, &other) || before(&other, &one)).then(|| {
        "all runs of one side came before those of the other: what drifts with time (temperature, \
         fill of a disk, caches) cannot be told from the change; take turns"
            .to_owned()
    })
}
