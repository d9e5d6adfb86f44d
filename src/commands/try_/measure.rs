//! What is measured of each trial.

use std::collections::BTreeMap;
use std::path::Path;

use analysis::compare::{ELAPSED, MACHINE, Metric, WORKLOAD};
use lab::experiment::{Logbook, Measure};
use run::Run;

use crate::commands::record::WARM_UP;
use crate::failure::Failure;

/// Below so many bytes a second neither disks nor networks are what a command works with.
const WORKS: f64 = 1e6;

/// The metrics that `--measure` names.
pub(super) fn named<'t>(texts: impl Iterator<Item = &'t String>) -> Result<Vec<Measure>, Failure> {
    let mut measures: Vec<Measure> = Vec::new();
    for text in texts {
        let metric = Metric::parse(text)
            .map_err(|why| Failure::input(format!("--measure {text}: {why}")))?;
        metric.check()?;
        let measure = Measure {
            metric: metric.text,
            declared: true,
        };
        if !measures.contains(&measure) {
            measures.push(measure);
        }
    }
    Ok(measures)
}

/// Whether more of it is more work done.
pub(super) fn is_throughput(text: &str) -> bool {
    Metric::parse(text).is_ok_and(|m| m.is_throughput())
}

/// What to measure if nothing was named, by what the rehearsal shows: throughput and a latency
/// of the workload itself, else of disks or networks, else how long it took. Beside these,
/// without a verdict, what else a run of that kind tells.
pub(super) fn found(run: &Run) -> Vec<Measure> {
    let tells = |text: &&str| value(run, text, false).is_some_and(|v| v > 0.0);
    let works = |text: &&str| value(run, text, false).is_some_and(|v| v > WORKS);
    let own = run.tables().iter().any(|t| t.starts_with("workload"));
    let [ops, bytes, _, p99, _] = WORKLOAD;
    let mut declared: Vec<&str> = Vec::new();
    let disk_latency = MACHINE.iter().find(|m| m.starts_with("p99 disk."));
    if own {
        declared.extend([ops, bytes].iter().find(|m| tells(m)));
        let latency = Some(&p99).filter(|m| tells(m));
        // A command that does not tell its own latency may still wait for the disk's.
        let disk = disk_latency.filter(|m| works(&"disk.bytes") && tells(m));
        declared.extend(latency.or(disk));
    }
    if declared.is_empty() {
        let mut moved = ["disk.bytes", "net.bytes"];
        moved.sort_by(|a, b| {
            let of = |text| value(run, text, false).unwrap_or(0.0);
            of(b).total_cmp(&of(a))
        });
        declared.extend(moved.iter().find(|m| works(m)));
        if declared == ["disk.bytes"] {
            declared.extend(disk_latency.filter(|m| tells(m)));
        }
    }
    if declared.is_empty() {
        declared.push(ELAPSED);
    }
    let others = WORKLOAD.iter().chain(&MACHINE).copied();
    let others = others
        .filter(|m| !declared.contains(m))
        .filter(|m| tells(m));
    let with = |declared: bool| {
        move |metric: &str| Measure {
            metric: metric.to_owned(),
            declared,
        }
    };
    let declared_measures = declared.iter().copied().map(with(true));
    declared_measures.chain(others.map(with(false))).collect()
}

/// The metric as it is asked: without the warm-up, if there is one.
pub(super) fn asked(text: &str, warmup: bool) -> Option<Metric> {
    let metric = Metric::parse(text).ok()?;
    Some(if warmup {
        metric.without_phase(WARM_UP)
    } else {
        metric
    })
}

fn value(run: &Run, text: &str, warmup: bool) -> Option<f64> {
    let value = asked(text, warmup)?.of(run).ok()?.value;
    value.is_finite().then_some(value)
}

/// Every metric of a trial.
pub(super) fn values(run: &Run, book: &Logbook) -> BTreeMap<String, Option<f64>> {
    let measures = book.measures.iter();
    measures
        .map(|m| (m.metric.clone(), value(run, &m.metric, book.warmup > 0.0)))
        .collect()
}

/// Refuses what the rehearsal cannot tell: so would all trials.
pub(super) fn check(run: &Run, book: &Logbook) -> Result<(), Failure> {
    for measure in book.measures.iter().filter(|m| m.declared) {
        let Some(metric) = asked(&measure.metric, book.warmup > 0.0) else {
            continue;
        };
        let found = metric.of(run)?.value;
        if !found.is_finite() {
            let why = match metric.quantile {
                Some(_) => {
                    "too few events for that quantile\nhint: let a trial take longer, or ask for a lower quantile"
                }
                None => "nothing matches it in the rehearsal\nhint: look at it with `sonde get`",
            };
            return Err(Failure::input(format!("{}: {why}", measure.metric)));
        }
    }
    Ok(())
}

/// Opens the run of a trial, and answers why it does not count, if it does not.
pub(super) fn open(path: &Path, book: &Logbook) -> Result<Run, String> {
    let run = Run::open(path).map_err(|e| first_line(&e.to_string()))?;
    if let Some(text) = run.damage() {
        return Err(first_line(&text));
    }
    let command = run.manifest.command.as_ref();
    match command.map(|c| (c.status, c.signal)) {
        Some((Some(0), _)) => {}
        Some((Some(status), _)) => return Err(format!("the command ended with status {status}")),
        Some((None, Some(signal))) => {
            return Err(format!("the command was killed by signal {signal}"));
        }
        _ => return Err("how the command ended is not known".to_owned()),
    }
    let length = (run.ended() - run.manifest.started) as f64 / 1e9;
    if length <= book.warmup {
        return Err(format!(
            "it took {} s, and the warm-up alone is {} s",
            run::unit::digits(length),
            run::unit::digits(book.warmup)
        ));
    }
    Ok(run)
}

pub(super) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
