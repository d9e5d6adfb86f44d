//! What a benchmark itself says of its latencies, beside what it did.

use std::collections::BTreeMap;

use analysis::Group;
use analysis::findings::Look;
use run::Unit::Seconds;
use run::unit::parse_amount;

use super::gather::word;

/// Columns with a mean, and with what 99 % of the same operations took at most.
const COLUMNS: [[&str; 2]; 10] = [
    // fio, as text, terse, and JSON: the whole latency, else that from submission on.
    ["lat.avg", "lat.percentile.99"],
    ["lat.mean", "lat.percentile.99"],
    ["lat_ns.mean", "lat_ns.percentile.99"],
    ["clat.avg", "clat.percentile.99"],
    ["clat.mean", "clat.percentile.99"],
    ["clat_ns.mean", "clat_ns.percentile.99"],
    // ab, wrk, sysbench, redis-benchmark and memtier.
    ["total.mean", "total.percentile.99"],
    ["latency.mean", "latency.percentile.99"],
    ["latency.avg", "latency.99th percentile"],
    ["latency.avg", "latency.p99"],
];

/// Of operations of one kind, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Latency {
    /// NaN where it is not told.
    pub(super) mean: f64,
    pub(super) p99: f64,
}

/// By job and operation. Only where there is one result: quantiles of several have no mean.
pub(super) fn latencies(look: &Look<'_>) -> BTreeMap<[String; 2], Latency> {
    let columns: Vec<String> = COLUMNS
        .iter()
        .flatten()
        .map(|c| format!("\"{c}\""))
        .collect();
    let told = look.summary(&format!(
        "other.value by tool, column, unit, instance where column in {}",
        columns.join(", ")
    ));
    let done = look.summary("workload.ops by tool, job, op");
    match (told, done) {
        (Some(told), Some(done)) => of(&done.groups, &told.groups),
        _ => BTreeMap::new(),
    }
}

fn of(done: &[Group], told: &[Group]) -> BTreeMap<[String; 2], Latency> {
    let mut values: BTreeMap<[&str; 3], f64> = BTreeMap::new();
    for group in told {
        let [tool, column, unit, instance] = &group.key[..] else {
            continue;
        };
        // `usec` is fio's word.
        let unit = word(unit);
        let unit = parse_amount(&format!("1{}", unit.strip_suffix("ec").unwrap_or(unit)));
        let seconds = match unit {
            Ok(unit) if unit.unit == Some(Seconds) && group.intervals == 1 => {
                group.mean * unit.value
            }
            _ => f64::NAN,
        };
        let of = [word(tool), word(instance), word(column)];
        // In several units it is of several results.
        values
            .entry(of)
            .and_modify(|value| *value = f64::NAN)
            .or_insert(seconds);
    }
    let mut found: BTreeMap<[String; 2], Vec<Option<Latency>>> = BTreeMap::new();
    for group in done {
        let [tool, job, op] = &group.key[..] else {
            continue;
        };
        let (tool, job, op) = (word(tool), word(job), word(op));
        let is_alone = done.iter().filter(|g| word(&g.key[0]) == tool).count() == 1;
        let both = format!("{job} {op}");
        let mut names = vec![both.trim(), job, op];
        names.retain(|name| !name.is_empty());
        // Of a tool that has no names for what it did.
        names.extend(is_alone.then_some(""));
        let value = |name, column| values.get(&[tool, name, column]).copied();
        let pairs = names
            .iter()
            .flat_map(|name| COLUMNS.iter().map(move |pair| (*name, pair)));
        let mut latencies = pairs.filter_map(|(name, [mean, p99])| {
            let p99 = value(name, p99).filter(|v| v.is_finite())?;
            let mean = value(name, mean).unwrap_or(f64::NAN);
            Some(Latency { mean, p99 })
        });
        let latency = latencies.next().filter(|_| group.intervals == 1);
        let of = [job.to_owned(), op.to_owned()];
        found.entry(of).or_default().push(latency);
    }
    // Of several tools with jobs of one name the screen has one row.
    let single = |latencies: Vec<Option<Latency>>| match latencies[..] {
        [latency] => latency,
        _ => None,
    };
    let known = found.into_iter();
    known
        .filter_map(|(of, all)| Some((of, single(all)?)))
        .collect()
}
