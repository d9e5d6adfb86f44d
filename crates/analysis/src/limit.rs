//! What a run was bound by: the resources that were full, with the number that says so.
//!
//! The measure is utilisation (Gregg's USE method: utilisation, saturation, errors), and for
//! memory saturation, because memory that is used is not memory that is short. Thresholds
//! are where queueing makes waiting grow steeply, not laws; the number stands beside each
//! verdict.

use run::Run;

use crate::answer::{Answer, Group, evaluate};
use crate::scan::KeyValue;

/// A resource and how full it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// cpu, disk, network, memory.
    pub resource: &'static str,
    /// Which one: a device, an interface, a processor; empty for the whole.
    pub name: String,
    /// How full it was on average, 0 to 1.
    pub share: f64,
    /// Whether it was full enough to bound the run.
    pub full: bool,
    /// The sentence for a person, with the number.
    pub text: String,
}

/// Above this the processors as a whole are full.
const CPU_FULL: f64 = 0.90;
/// Above this a single processor is: whatever ran there could not go faster.
const ONE_CPU_FULL: f64 = 0.95;
/// Above this share of the time with an I/O under way a disk may be the limit.
const DISK_FULL: f64 = 0.80;
/// Above this share of the link's speed a network is.
const NET_FULL: f64 = 0.80;
/// Above this share of the time lost waiting for memory, memory is short.
const MEMORY_FULL: f64 = 0.10;

/// The fullest of each resource, fullest first; those that are full come before the rest.
pub fn limits(run: &Run) -> Vec<Limit> {
    let mut found: Vec<Limit> = [cpu(run), one_cpu(run), disk(run), network(run), memory(run)]
        .into_iter()
        .flatten()
        .collect();
    // A full processor says nothing more once all of them are.
    if found
        .iter()
        .any(|l| l.resource == "cpu" && l.name.is_empty() && l.full)
    {
        found.retain(|l| l.resource != "cpu" || l.name.is_empty());
    }
    found.sort_by(|a, b| b.full.cmp(&a.full).then(b.share.total_cmp(&a.share)));
    found
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// The group with the largest mean, and its first key.
fn fullest(answer: &Answer) -> Option<(String, f64)> {
    fullest_first(answer).into_iter().next()
}

/// Groups by their means, each with its first key.
fn fullest_first(answer: &Answer) -> Vec<(String, f64)> {
    let groups = answer.groups.iter().filter(|g| g.mean.is_finite());
    let named = groups.map(|group| match group.key.first() {
        Some(KeyValue::Word(word)) => (word.clone(), group.mean),
        _ => (String::new(), group.mean),
    });
    let mut all: Vec<_> = named.collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

fn value(run: &Run, expression: &str) -> f64 {
    evaluate(run, expression)
        .ok()
        .and_then(|a| fullest(&a))
        .map_or(f64::NAN, |f| f.1)
}

/// Whether what was imported tells of single processors, and of fewer than there were.
fn tells_of_some(run: &Run) -> bool {
    let told = run
        .manifest
        .imported
        .iter()
        .filter_map(|i| i.processors)
        .max();
    let Some((told, by_cpu)) = told.zip(evaluate(run, "cpu.utilisation by cpu").ok()) else {
        return false;
    };
    let is_number = |group: &Group| match group.key.first() {
        Some(KeyValue::Word(word)) => word.parse::<u32>().is_ok(),
        _ => false,
    };
    by_cpu.groups.len() < told as usize && by_cpu.groups.iter().all(is_number)
}

fn cpu(run: &Run) -> Option<Limit> {
    if tells_of_some(run) {
        return None;
    }
    let (_, share) = fullest(&evaluate(run, "cpu.utilisation").ok()?)?;
    let text = format!("processors {} busy", percent(share));
    Some(Limit {
        resource: "cpu",
        name: String::new(),
        share,
        full: share >= CPU_FULL,
        text,
    })
}

fn one_cpu(run: &Run) -> Option<Limit> {
    let (name, share) = fullest(&evaluate(run, "cpu.utilisation by cpu").ok()?)?;
    let text = format!("processor {name} alone {} busy", percent(share));
    (share >= ONE_CPU_FULL).then_some(Limit {
        resource: "cpu",
        name,
        share,
        full: true,
        text,
    })
}

fn disk(run: &Run) -> Option<Limit> {
    // A name is chosen by a predicate, which also finds it among other layers: quote it.
    let of_disk = |name: &str, statistic: &str| {
        value(run, &format!("disk.{statistic} where device = \"{name}\""))
    };
    // Solaris prints of some disks that they are busy while they do nothing. One that hangs has I/Os
    // under way. Of those that are not full nobody asks: there may be hundreds.
    let worked = |(name, share): &(String, f64)| {
        *share < DISK_FULL || of_disk(name, "ios") != 0.0 || of_disk(name, "mean_depth") > 0.0
    };
    let all = fullest_first(&evaluate(run, "disk.utilisation by device").ok()?);
    let (name, share) = all.into_iter().find(worked)?;
    let of = |statistic: &str| of_disk(&name, statistic);
    let busy = percent(share);
    // What was imported may not tell these.
    let depth = match of("mean_depth") {
        depth if depth.is_nan() => String::new(),
        depth => format!(", {} I/Os under way", run::unit::digits(depth)),
    };
    let latency = match of("mean_latency") {
        latency if latency.is_nan() => String::new(),
        latency => {
            let time = run::unit::amount(latency, run::Unit::Seconds, false);
            format!(", {time} each")
        }
    };
    let text = format!("disk {name} busy {busy} of the time{depth}{latency}");
    Some(Limit {
        resource: "disk",
        name,
        share,
        full: share >= DISK_FULL,
        text,
    })
}

fn network(run: &Run) -> Option<Limit> {
    // By direction: a full-duplex link is full when one direction is.
    let answer = evaluate(run, "net.utilisation by interface, direction").ok()?;
    let (name, share) = fullest(&answer)?;
    let text = format!("network {name} {} of its speed", percent(share));
    Some(Limit {
        resource: "network",
        name,
        share,
        full: share >= NET_FULL,
        text,
    })
}

fn memory(run: &Run) -> Option<Limit> {
    let pressure = value(run, "pressure.ratio where resource = memory");
    let stalls = value(run, "vm.allocation_stalls");
    let swap = value(run, "vm.swapped_in") + value(run, "vm.swapped_out");
    let share = if pressure.is_finite() { pressure } else { 0.0 };
    let name = String::new();
    if share >= MEMORY_FULL || swap > 1e6 || stalls > 10.0 {
        let mut text = format!("memory: {} of the time lost waiting", percent(share));
        if swap > 0.0 {
            text += &format!(
                ", {} swapped",
                run::unit::amount(swap, run::Unit::Bytes, true)
            );
        }
        return Some(Limit {
            resource: "memory",
            name,
            share,
            full: true,
            text,
        });
    }
    let text = format!("memory: {} of the time lost waiting", percent(share));
    pressure.is_finite().then_some(Limit {
        resource: "memory",
        name,
        share,
        full: false,
        text,
    })
}
