//! Processors: what they are, how they are arranged, and what governs their frequency.
//!
//! <https://docs.kernel.org/admin-guide/cputopology.html>,
//! <https://docs.kernel.org/admin-guide/pm/cpufreq.html>

use std::collections::HashSet;

use serde_json::Value;

use super::leaf::{Dir, Fields, Form, Leaf, MOST, bounded, leaf, list_length, list_ranges};
use crate::Host;
use crate::read::{lines, text};

/// Below `/sys/devices/system/cpu`.
pub(super) const CPU: &[Leaf] = &[
    leaf("online", "online", Form::Text),
    leaf("offline", "offline", Form::Text),
    leaf("isolated", "isolated", Form::Text),
    leaf("nohz_full", "nohz_full", Form::Text),
    leaf("smt", "smt/control", Form::Text),
    leaf("boost", "cpufreq/boost", Form::Flag),
    leaf("intel_pstate", "intel_pstate/status", Form::Text),
    leaf("intel_no_turbo", "intel_pstate/no_turbo", Form::Flag),
    leaf("amd_pstate", "amd_pstate/status", Form::Text),
    leaf("idle_driver", "cpuidle/current_driver", Form::Text),
    leaf("idle_governor", "cpuidle/current_governor", Form::Text),
];

/// Below a policy of `/sys/devices/system/cpu/cpufreq`. The kernel says kHz. The frequency
/// of the moment is left out: it changes by itself.
pub(super) const FREQUENCY: &[Leaf] = &[
    leaf("driver", "scaling_driver", Form::Text),
    leaf("governor", "scaling_governor", Form::Text),
    leaf("preference", "energy_performance_preference", Form::Text),
];

/// As [`FREQUENCY`], the numbers.
pub(super) const HERTZ: &[(&str, &str)] = &[
    ("least_hertz", "scaling_min_freq"),
    ("most_hertz", "scaling_max_freq"),
    ("hardware_least_hertz", "cpuinfo_min_freq"),
    ("hardware_most_hertz", "cpuinfo_max_freq"),
];

/// Below `cpuidle/stateN` of the first CPU.
pub(super) const IDLE: &[Leaf] = &[
    leaf("exit_latency_seconds", "latency", Form::Seconds(1e6)),
    leaf("residency_seconds", "residency", Form::Seconds(1e6)),
    leaf("disabled", "disable", Form::Flag),
];

/// The section `cpu`.
pub(super) fn take(host: &Host) -> Value {
    let mut fields = Fields::default();
    // A processor's paragraph is below 4 KiB; the first one is enough.
    let head = bounded(&host.proc("cpuinfo"), 1 << 14);
    let head = head.map(|(bytes, _)| bytes).unwrap_or_default();
    for (name, theirs) in [
        ("vendor", "vendor_id"),
        ("model", "model name"),
        ("microcode", "microcode"),
    ] {
        fields.put(name, cpuinfo(&head, theirs));
    }
    let dir = Dir::new(host.sys("devices/system/cpu"));
    fields.leaves(&dir, CPU);
    let online = dir.text("online").unwrap_or_default();
    arrangement(&mut fields, &dir, &online);
    fields.nest("frequency", frequency(&dir.join("cpufreq")));
    let first = list_ranges(&online).next().map_or(0, |(first, _)| first);
    let first = dir.join(&format!("cpu{first}"));
    fields.nest("caches", caches(&first.join("cache")));
    fields.nest("idle_states", idle_states(&first.join("cpuidle")));
    fields.nest("vulnerabilities", texts(&dir.join("vulnerabilities")));
    fields.into()
}

/// The first value of a name in `/proc/cpuinfo`: `model name\t: AMD EPYC`.
pub(super) fn cpuinfo(head: &[u8], name: &str) -> Option<String> {
    lines(head).map(text).find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

/// Sockets, cores and threads that are online. Of each core and each socket one CPU is asked.
fn arrangement(fields: &mut Fields, dir: &Dir, online: &str) {
    let threads = list_length(online);
    if threads == 0 {
        return;
    }
    fields.put("threads", Some(threads));
    let (mut in_core, mut in_socket) = (HashSet::new(), HashSet::new());
    let (mut cores, mut sockets) = (0_u64, 0_u64);
    for cpu in list_ranges(online).flat_map(|(first, last)| first..=last) {
        let topology = dir.join(&format!("cpu{cpu}/topology"));
        let count = |name, seen: &mut HashSet<u64>, found: &mut u64| {
            if seen.contains(&cpu) {
                return;
            }
            if let Some(list) = topology.text(name) {
                seen.extend(list_ranges(&list).flat_map(|(first, last)| first..=last));
                *found += 1;
            }
        };
        count("thread_siblings_list", &mut in_core, &mut cores);
        count("core_siblings_list", &mut in_socket, &mut sockets);
    }
    fields.put("cores", (cores > 0).then_some(cores));
    fields.put("sockets", (sockets > 0).then_some(sockets));
}

/// Frequency policies, those with equal settings as one, named by their CPUs.
fn frequency(dir: &Dir) -> Fields {
    let mut groups: Vec<(Vec<String>, Fields)> = Vec::new();
    let mut names = dir.names();
    names.retain(|name| name.starts_with("policy"));
    for name in names.iter().take(MOST) {
        let policy = dir.join(name);
        let mut fields = Fields::default();
        fields.leaves(&policy, FREQUENCY);
        for (ours, theirs) in HERTZ {
            let hertz = policy.number(theirs).and_then(|k| k.checked_mul(1000));
            fields.put(*ours, hertz);
        }
        let cpus = policy.text("affected_cpus").unwrap_or_default();
        let cpus = cpus.split_whitespace().map(str::to_owned);
        match groups.iter_mut().find(|(_, known)| *known == fields) {
            Some((members, _)) => members.extend(cpus),
            None => groups.push((cpus.collect(), fields)),
        }
    }
    let mut all = Fields::default();
    for (cpus, fields) in groups {
        all.nest(ranges(&cpus), fields);
    }
    all
}

/// `0,1,2,5` as `0-2,5`.
fn ranges(cpus: &[String]) -> String {
    let mut numbers: Vec<u64> = cpus.iter().filter_map(|c| c.parse().ok()).collect();
    numbers.sort_unstable();
    let mut parts: Vec<(u64, u64)> = Vec::new();
    for n in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => parts.push((n, n)),
        }
    }
    let parts = parts.iter().map(|&(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    parts.collect::<Vec<_>>().join(",")
}

/// `L1d`, `L1i`, `L2`, `L3` as the first CPU has them.
fn caches(dir: &Dir) -> Fields {
    let mut all = Fields::default();
    for index in dir.names().iter().filter(|n| n.starts_with("index")) {
        let cache = dir.join(index);
        let (Some(level), Some(kind)) = (cache.text("level"), cache.text("type")) else {
            continue;
        };
        let suffix = match kind.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        let mut fields = Fields::default();
        fields.put(
            "size_bytes",
            cache.text("size").and_then(|s| cache_size(&s)),
        );
        fields.put("line_bytes", cache.number("coherency_line_size"));
        fields.put("ways", cache.number("ways_of_associativity"));
        let sharing = cache.text("shared_cpu_list");
        fields.put("shared_by_threads", sharing.map(|list| list_length(&list)));
        all.nest(format!("L{level}{suffix}"), fields);
    }
    all
}

/// `32K` in bytes. The kernel always prints KiB.
fn cache_size(text: &str) -> Option<u64> {
    text.strip_suffix('K')?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

/// Idle states by name.
fn idle_states(dir: &Dir) -> Fields {
    let mut all = Fields::default();
    for state in dir.names().iter().filter(|n| n.starts_with("state")) {
        let state = dir.join(state);
        let mut fields = Fields::default();
        fields.leaves(&state, IDLE);
        if let Some(name) = state.text("name") {
            all.nest(name, fields);
        }
    }
    all
}

/// Every file of a directory as text.
fn texts(dir: &Dir) -> Fields {
    let mut fields = Fields::default();
    for name in dir.names() {
        let text = dir.text(&name).filter(|t| !t.is_empty());
        fields.put(name, text);
    }
    fields
}
