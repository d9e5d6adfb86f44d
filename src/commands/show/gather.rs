//! The numbers of the screen, each the answer to an expression.

use std::collections::BTreeMap;
use std::rc::Rc;

use analysis::contents::{Held, contents};
use analysis::findings::{self, Finding, Look};
use analysis::limit::Limit;
use analysis::quantiles::{self, Distribution, Spreads};
use analysis::scan::KeyValue;
use analysis::{Answer, Group};
use run::Run;
use run::inventory::Inventory;
use run::manifest::rfc3339;
use serde_json::{Value, json};

use super::screen;
use super::told::{self, Latency};
use crate::commands::get::spread;
use crate::commands::list::length;

/// Single numbers of the screen: name and expression.
const NUMBERS: &[(&str, &str)] = &[
    ("cpu", "cpu.utilisation"),
    ("processors", "cpu.utilisation by cpu"),
    ("memory_total", "memory.bytes"),
    ("memory_available", "memory.available"),
    ("swap_used", "memory.swap_used"),
    ("dirty", "memory.dirty"),
    ("major_faults", "vm.major_faults"),
    ("load", "system.load1"),
    ("context_switches", "system.context_switches"),
    ("retransmits", "tcp.retransmits"),
    ("oom_kills", "vm.oom_kills"),
];

/// Groups of the screen: name and expression.
const GROUPS: &[(&str, &str)] = &[
    ("cpu_modes", "cpu.utilisation by mode"),
    ("pressure", "pressure.ratio by resource"),
    (
        "disk_bytes",
        "disk.bytes by device, op where layer in disk, stacked, memory",
    ),
    (
        "disk_ios",
        "disk.ios by device where layer in disk, stacked, memory",
    ),
    (
        "disk_latency",
        "disk.mean_latency by device where layer in disk, stacked, memory",
    ),
    (
        "disk_service",
        "disk.mean_service_time by device where layer in disk, stacked, memory",
    ),
    (
        "disk_depth",
        "disk.mean_depth by device where layer in disk, stacked, memory",
    ),
    (
        "disk_busy",
        "disk.utilisation by device where layer in disk, stacked, memory",
    ),
    (
        "net_bytes",
        "net.bytes by interface, direction where layer != none",
    ),
    (
        "net_packets",
        "net.packets by interface where layer != none",
    ),
    ("net_drops", "net.drops by interface where layer != none"),
    ("nfs_ops", "nfs.ops by mount"),
    (
        "nfs_bytes",
        "nfs.bytes by mount, access where layer = server",
    ),
    ("nfs_latency", "nfs.mean_latency by mount"),
    ("nfs_round_trip", "nfs.mean_round_trip by mount"),
    ("nfsd_ops", "nfsd.ops by client"),
    ("nfsd_bytes", "nfsd.bytes by client"),
    ("nfsd_latency", "nfsd.mean_latency by client"),
    ("process_time", "process.time by process"),
    ("process_memory", "process.resident by process"),
    ("process_bytes", "process.bytes by process, op"),
    ("cgroup_time", "cgroup.time by cgroup"),
    ("cgroup_memory", "cgroup.memory by cgroup"),
    ("workload_ops", "workload.ops by job, op"),
    ("workload_bytes", "workload.bytes by job, op"),
    ("workload_latency", "workload.mean_latency by job, op"),
];

/// Disks that are counted one by one.
const EACH_DISK: &str = "layer in disk, stacked, memory";
/// What some tools tell instead.
const ALL_DISKS: &str = "layer = total";

/// Distributions whose tails the screen tells: name and expression.
const TAILS: &[(&str, &str)] = &[
    ("workload_latency", "workload.ops by job, op, latency"),
    (
        "disk_latency",
        "disk.ios by device, latency where layer in disk, stacked, memory",
    ),
    (
        "disk_service",
        "disk.ios by device, service_time where layer in disk, stacked, memory",
    ),
];

/// What the screen shows.
pub(crate) struct Summary {
    /// Of [`NUMBERS`]: total (of sums) and mean of the first group.
    numbers: BTreeMap<&'static str, (Option<f64>, f64)>,
    groups: BTreeMap<&'static str, Rc<Answer>>,
    /// Of [`TAILS`].
    tails: BTreeMap<&'static str, (Rc<Answer>, Spreads)>,
    /// What benchmarks told of their latencies, by job and operation.
    pub(super) told: BTreeMap<[String; 2], Latency>,
    /// What else an imported run has numbers of.
    pub(super) rest: Vec<Held>,
    /// Of a run that has nothing else: what its means since boot are of, and each of them.
    pub(super) since_boot: Vec<([String; 2], f64)>,
    /// Logical processors seen.
    pub(super) processors: usize,
    /// What was full.
    pub(super) limits: Vec<Limit>,
    /// What stands out, what matters most first.
    pub(crate) findings: Vec<Finding>,
    /// What is damaged.
    pub(crate) problems: Vec<String>,
}

impl Summary {
    /// The mean of a single number; NaN where the run does not have it.
    pub(super) fn mean(&self, name: &str) -> f64 {
        self.numbers.get(name).map_or(f64::NAN, |n| n.1)
    }

    /// The total of a single number; NaN where the run does not have it.
    pub(super) fn total(&self, name: &str) -> f64 {
        self.numbers.get(name).and_then(|n| n.0).unwrap_or(f64::NAN)
    }

    /// The mean of the group whose key is `key`; NaN where there is none.
    pub(super) fn of(&self, name: &str, key: &[&str]) -> f64 {
        self.group(name, key).map_or(f64::NAN, |g| g.mean)
    }

    /// The total of the group whose key is `key`; NaN where there is none.
    pub(super) fn total_of(&self, name: &str, key: &[&str]) -> f64 {
        let total = self.group(name, key).and_then(|g| g.total);
        total.unwrap_or(f64::NAN)
    }

    fn group(&self, name: &str, key: &[&str]) -> Option<&Group> {
        let mut groups = self.groups.get(name)?.groups.iter();
        groups.find(|g| g.key.iter().map(word).eq(key.iter().copied()))
    }

    /// Names and means of the groups of a breakdown by one dimension, largest first.
    pub(super) fn list(&self, name: &str) -> Vec<(String, f64)> {
        let groups = self
            .groups
            .get(name)
            .map(|a| a.groups.as_slice())
            .unwrap_or_default();
        let named = groups
            .iter()
            .filter_map(|g| Some((word(g.key.first()?).to_owned(), g.mean)));
        named.filter(|(_, mean)| mean.is_finite()).collect()
    }

    /// The distribution of the group whose key is `key`.
    pub(super) fn spread(&self, name: &str, key: &[&str]) -> Option<&Distribution> {
        let (_, spreads) = self.tails.get(name)?;
        let mut spreads = spreads.groups.iter();
        let found = spreads.find(|spread| spread.key == key)?;
        Some(&found.whole)
    }

    /// 99 % of the group whose key is `key` had at most this; NaN where that is not known.
    pub(super) fn p99(&self, name: &str, key: &[&str]) -> f64 {
        let p99 = self
            .spread(name, key)
            .and_then(|whole| whole.quantile(0.99));
        p99.unwrap_or(f64::NAN)
    }

    /// Names of the first dimension, the greatest first, of the first of these breakdowns that has any
    /// above zero.
    pub(super) fn names(&self, breakdowns: &[&str]) -> Vec<String> {
        let ranked = breakdowns.iter().map(|name| {
            let mut sums: Vec<(String, f64)> = vec![];
            for (name, mean) in self.list(name).into_iter().filter(|(_, mean)| *mean > 0.0) {
                match sums.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, sum)) => *sum += mean,
                    None => sums.push((name, mean)),
                }
            }
            sums.sort_by(|a, b| b.1.total_cmp(&a.1));
            sums
        });
        let mut any = ranked.filter(|sums| !sums.is_empty());
        let names = any.next().unwrap_or_default().into_iter();
        names.map(|(name, _)| name).collect()
    }

    /// Keys of a breakdown by words, the largest first.
    pub(super) fn keys(&self, name: &str) -> Vec<Vec<&str>> {
        let groups = self.groups.get(name).map(|a| a.groups.as_slice());
        let keys = groups.unwrap_or_default().iter();
        keys.map(|g| g.key.iter().map(word).collect()).collect()
    }

    /// Whether a breakdown, or a distribution, has any group.
    pub(super) fn has(&self, name: &str) -> bool {
        let means = self.groups.get(name).map_or(&[][..], |a| &a.groups);
        let any = means.iter().any(|group| group.mean.is_finite());
        let spreads = self.tails.get(name).map_or(&[][..], |(_, s)| &s.groups);
        any || spreads.iter().map(|spread| spread.whole.total).sum::<f64>() > 0.0
    }
}

pub(super) fn word(key: &KeyValue) -> &str {
    match key {
        KeyValue::Word(word) => word,
        KeyValue::Number(_) => "",
    }
}

/// Asks everything of the screen.
pub(crate) fn summary(run: &Run) -> Summary {
    let inventory = Inventory::read(run.path());
    let setting = |path: &[&str]| inventory.setting(path);
    let look = Look::new(run, &setting);
    let mut numbers = BTreeMap::new();
    let mut processors = 0;
    for (name, expression) in NUMBERS {
        if let Some(answer) = look.summary(expression) {
            if *name == "processors" {
                processors = answer.groups.len();
            }
            if let Some(group) = answer.groups.first() {
                numbers.insert(*name, (group.total, group.mean));
            }
        }
    }
    // Of what others printed not all kinds are known: their sum is no total.
    let rest = look.summary("memory.bytes where kind = unaccounted");
    if rest.is_none_or(|answer| answer.groups.is_empty()) {
        numbers.remove("memory_total");
    }
    let mut groups: BTreeMap<&str, Rc<Answer>> = GROUPS
        .iter()
        .filter_map(|(name, e)| Some((*name, look.summary(e)?)))
        .collect();
    let each = |name: &str| groups.get(name).is_some_and(|a| !a.groups.is_empty());
    if !each("disk_bytes") && !each("disk_ios") {
        let of_all = GROUPS.iter().filter(|(_, e)| e.contains(EACH_DISK));
        let of_all = of_all.filter_map(|(name, e)| {
            let answer = look.summary(&e.replace(EACH_DISK, ALL_DISKS))?;
            Some((*name, answer))
        });
        groups.extend(of_all);
    }
    let tails = TAILS.iter().filter_map(|(name, e)| {
        let answer = look.summary(e)?;
        let spreads = quantiles::of(run, &answer).ok()??;
        Some((*name, (answer, spreads)))
    });
    let tails = tails.collect();
    let findings = findings::find(&look);
    let mut problems = look.problems();
    problems.extend(inventory.problem.clone());
    let mut summary = Summary {
        numbers,
        groups,
        tails,
        told: told::latencies(&look),
        rest: vec![],
        since_boot: vec![],
        processors,
        limits: look.limits().to_vec(),
        findings,
        problems,
    };
    if !run.manifest.imported.is_empty() {
        let (rest, damaged) = contents(run, |subject| !screen::shows(&summary, subject));
        summary.rest = rest;
        if run.tables() == ["since_boot"] {
            summary.since_boot = since_boot(&look);
        }
        let texts = damaged.iter().map(ToString::to_string);
        let new: Vec<String> = texts.filter(|t| !summary.problems.contains(t)).collect();
        summary.problems.extend(new);
    }
    summary
}

/// Means since boot, by what they are of.
fn since_boot(look: &Look<'_>) -> Vec<([String; 2], f64)> {
    let answer = look.summary("since_boot.value by statistic, instance");
    let groups = answer.iter().flat_map(|a| &a.groups);
    let one = |g: &Group| {
        let [of, instance] = &g.key[..] else {
            return None;
        };
        Some(([word(of), word(instance)].map(str::to_owned), g.mean))
    };
    let mut all: Vec<_> = groups.filter_map(one).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// The documented form (`docs/reference/json.md`).
pub(crate) fn json(run: &Run, summary: &Summary) -> Value {
    let numbers: serde_json::Map<String, Value> = NUMBERS
        .iter()
        // Of the processors only their number is meant.
        .filter(|(name, _)| *name != "processors" && summary.numbers.contains_key(name))
        .map(|(name, e)| {
            let (total, mean) = summary.numbers[name];
            (
                (*name).to_owned(),
                json!({"expr": e, "total": total, "mean": mean}),
            )
        })
        .collect();
    let breakdown = |(name, _): &(&'static str, &'static str)| {
        let answer = summary.groups.get(name)?;
        let groups: Vec<Value> = answer
            .groups
            .iter()
            .map(|g| {
                let key: Vec<&str> = g.key.iter().map(word).collect();
                json!({"key": key, "total": g.total, "mean": g.mean, "max": g.max})
            })
            .collect();
        Some((
            (*name).to_owned(),
            json!({"expr": answer.text, "unit": answer.value_unit(), "groups": groups}),
        ))
    };
    let breakdowns: serde_json::Map<String, Value> = GROUPS.iter().filter_map(breakdown).collect();
    let distribution = |(name, (answer, spreads)): (&&str, &(Rc<Answer>, Spreads))| {
        let quantiles = spread::json(run, answer, spreads);
        let value = json!({"expr": answer.text, "quantiles": quantiles});
        ((*name).to_owned(), value)
    };
    let distributions: serde_json::Map<String, Value> =
        summary.tails.iter().map(distribution).collect();
    let told = summary
        .told
        .iter()
        .map(|([job, op], told)| json!({"job": job, "op": op, "mean": told.mean, "p99": told.p99}));
    let told: Vec<Value> = told.collect();
    let limits: Vec<Value> = summary
        .limits
        .iter()
        .map(|l| {
            json!({
                "resource": l.resource, "name": l.name, "share": l.share, "full": l.full,
                "text": l.text,
            })
        })
        .collect();
    let findings: Vec<Value> = summary.findings.iter().map(finding).collect();
    json!({
        "run": run.path().display().to_string(),
        "end": run.ending(),
        "seconds": length(run),
        "manifest": run.manifest,
        "processors": summary.processors,
        "limits": limits,
        "findings": findings,
        "numbers": numbers,
        "breakdowns": breakdowns,
        "distributions": distributions,
        "told": told,
        "problems": summary.problems,
    })
}

fn finding(f: &Finding) -> Value {
    json!({
        "name": f.name, "score": f.score, "sentence": f.sentence, "from": rfc3339(f.from),
        "to": rfc3339(f.to), "expr": f.expression, "causes": f.causes,
    })
}
