//! The limits of the control groups that the recorder, and the command it starts, live in.
//!
//! A limit of any group up to the root binds, so all of them are listed, and the tightest of
//! each kind is told as `effective`.
//!
//! ```text
//! 4:memory:/user.slice          /proc/self/cgroup: number, controllers (version 1), group
//! 0::/user.slice/session.scope  the one of version 2
//! ```
//! <https://docs.kernel.org/admin-guide/cgroup-v2.html>

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::filesystems::unescape;
use super::leaf::{Dir, Fields, bounded, list_length, plain};
use crate::Host;
use crate::read::{fields as words, lines, number, text};

/// Limits of version 2.
pub(super) const UNIFIED: &[&str] = &[
    "cpu.max",
    "cpu.max.burst",
    "cpu.weight",
    "cpu.idle",
    "cpuset.cpus.effective",
    "cpuset.mems.effective",
    "memory.max",
    "memory.high",
    "memory.low",
    "memory.min",
    "memory.swap.max",
    "memory.zswap.max",
    "io.max",
    "io.weight",
    "io.latency",
    "pids.max",
];

/// Limits of version 1, each with the controller whose mount has it.
pub(super) const LEGACY: &[(&str, &str)] = &[
    ("cpu", "cpu.cfs_quota_us"),
    ("cpu", "cpu.cfs_period_us"),
    ("cpu", "cpu.shares"),
    ("cpuset", "cpuset.effective_cpus"),
    ("cpuset", "cpuset.effective_mems"),
    ("memory", "memory.limit_in_bytes"),
    ("memory", "memory.soft_limit_in_bytes"),
    ("memory", "memory.memsw.limit_in_bytes"),
    ("blkio", "blkio.throttle.read_bps_device"),
    ("blkio", "blkio.throttle.write_bps_device"),
    ("blkio", "blkio.throttle.read_iops_device"),
    ("blkio", "blkio.throttle.write_iops_device"),
    ("blkio", "blkio.weight"),
    ("pids", "pids.max"),
];

/// A mounted hierarchy.
struct Hierarchy {
    /// The controllers; none for version 2.
    controllers: Vec<String>,
    unified: bool,
    /// The group at the mount point.
    root: String,
    point: PathBuf,
}

/// Version 1 says "no limit" with the largest number of whole pages.
const UNLIMITED: u64 = 1 << 62;

/// The least of each kind of limit met so far.
#[derive(Default)]
struct Effective {
    cpus: Option<f64>,
    memory: Option<u64>,
    processes: Option<u64>,
    cpuset: Option<String>,
}

/// The section `cgroup`.
pub(super) fn take(host: &Host) -> Value {
    let mut fields = Fields::default();
    let mounts = bounded(&host.proc("self/mountinfo"), 1 << 20);
    let mounts = mounts.map(|(bytes, _)| bytes).unwrap_or_default();
    let hierarchies: Vec<Hierarchy> = lines(&mounts).filter_map(hierarchy).collect();
    let own = bounded(&host.proc("self/cgroup"), 1 << 16);
    let own = own.map(|(bytes, _)| bytes).unwrap_or_default();
    let mut effective = Effective::default();
    for line in lines(&own).map(text) {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else {
            continue;
        };
        let found = hierarchies.iter().find(|h| {
            let named = controllers
                .split(',')
                .any(|c| h.controllers.iter().any(|o| o == c));
            h.unified == controllers.is_empty() && (h.unified || named)
        });
        if let Some(hierarchy) = found {
            let levels = levels(host, hierarchy, group, &mut effective);
            // Hierarchies without limits, such as systemd's own, say nothing.
            let name = if hierarchy.unified {
                "unified"
            } else {
                controllers
            };
            fields.nest(name, levels);
        }
    }
    let mut least = Fields::default();
    least.put("cpus", effective.cpus);
    least.put("cpuset", effective.cpuset);
    least.put("memory_bytes", effective.memory);
    least.put("processes", effective.processes);
    fields.nest("effective", least);
    fields.nest("count", counts(host));
    fields.into()
}

/// `None` unless the line mounts a hierarchy of control groups.
fn hierarchy(line: &[u8]) -> Option<Hierarchy> {
    let mut words = words(line).skip(3);
    let root = unescape(words.next()?);
    let point = PathBuf::from(unescape(words.next()?));
    words.find(|word| *word == b"-")?;
    let kind = words.next()?;
    let unified = kind == b"cgroup2";
    if !unified && kind != b"cgroup" {
        return None;
    }
    let options = text(words.nth(1)?).into_owned();
    let controllers = options.split(',').map(str::to_owned).collect();
    Some(Hierarchy {
        controllers,
        unified,
        root,
        point,
    })
}

/// Limits of `group` and of each group above it, by group.
fn levels(host: &Host, hierarchy: &Hierarchy, group: &str, least: &mut Effective) -> Fields {
    let mut all = Fields::default();
    // In a container the mount may show only a part of the tree.
    let Ok(below) = Path::new(group).strip_prefix(&hierarchy.root) else {
        return all;
    };
    if below
        .components()
        .any(|c| !matches!(c, Component::Normal(_)))
    {
        return all;
    }
    let top = host.path(&hierarchy.point);
    for level in below.ancestors() {
        let dir = Dir::new(top.join(level));
        let mut limits = Fields::default();
        let names: Vec<&str> = if hierarchy.unified {
            UNIFIED.to_vec()
        } else {
            let ours = |c: &&str| hierarchy.controllers.iter().any(|o| o == c);
            let files = LEGACY.iter().filter(|(controller, _)| ours(controller));
            files.map(|(_, file)| *file).collect()
        };
        for name in names {
            let value = dir.text(name).filter(|text| !text.is_empty());
            // A list of one CPU is a list, not a number.
            let is_list = name.starts_with("cpuset.");
            let value = value.map(|t| if is_list { t.into() } else { plain(&t) });
            limits.put(name, value);
        }
        least.consider(&dir);
        all.nest(format!("/{}", level.display()), limits);
    }
    all
}

impl Effective {
    /// Takes the limits of one level into account, of whichever version it is.
    fn consider(&mut self, dir: &Dir) {
        let cpus = dir.text("cpu.max").and_then(|text| {
            let (quota, period) = text.split_once(' ')?;
            ratio(quota, period)
        });
        let legacy = || {
            ratio(
                &dir.text("cpu.cfs_quota_us")?,
                &dir.text("cpu.cfs_period_us")?,
            )
        };
        if let Some(cpus) = cpus.or_else(legacy) {
            self.cpus = Some(self.cpus.map_or(cpus, |least| least.min(cpus)));
        }
        for file in ["memory.max", "memory.limit_in_bytes"] {
            let limit = dir.number(file).filter(|&bytes| bytes < UNLIMITED);
            self.memory = [self.memory, limit].into_iter().flatten().min();
        }
        let limit = dir.number("pids.max");
        self.processes = [self.processes, limit].into_iter().flatten().min();
        // The effective set is within those above it: the lowest level's is the answer.
        for file in ["cpuset.cpus.effective", "cpuset.effective_cpus"] {
            let set = dir.text(file).filter(|set| list_length(set) > 0);
            self.cpuset = self.cpuset.take().or(set);
        }
    }
}

/// A quota of `max` or -1 is none.
fn ratio(quota: &str, period: &str) -> Option<f64> {
    let quota: u64 = quota.parse().ok()?;
    let period: u64 = period.parse().ok().filter(|&p| p > 0)?;
    Some(quota as f64 / period as f64)
}

/// How many groups each controller has: `#subsys_name hierarchy num_cgroups enabled`.
fn counts(host: &Host) -> Fields {
    let mut counts = Fields::default();
    let table = bounded(&host.proc("cgroups"), 1 << 16);
    let table = table.map(|(bytes, _)| bytes).unwrap_or_default();
    for line in lines(&table).filter(|line| !line.starts_with(b"#")) {
        let mut words = words(line);
        if let Some(name) = words.next() {
            counts.put(text(name), words.nth(1).and_then(number));
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::tree::Tree;
    use serde_json::json;

    #[test]
    fn the_tightest_limit_of_version_2_counts() {
        let tree = Tree::of(
            "proc/self/mountinfo = 31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n\
             proc/self/cgroup = 0::/a/b\n\
             proc/cgroups = #subsys_name hierarchy num_cgroups enabled\\ncpu 0 71 1\n\
             > sys/fs/cgroup\n\
             cpuset.cpus.effective = 0-7\n\
             a/cpu.max = 150000 100000\n\
             a/memory.max = max\n\
             a/cpuset.cpus.effective = 0-3\n\
             a/b/cpu.max = max 100000\n\
             a/b/memory.max = 1073741824\n\
             a/b/pids.max = 100\n\
             a/b/cpuset.mems.effective = 0\n",
        );
        let found = take(&tree.host());
        assert_eq!(
            found["effective"],
            json!({"cpus": 1.5, "cpuset": "0-3", "memory_bytes": 1073741824, "processes": 100})
        );
        assert_eq!(found["unified"]["/a"]["cpu.max"], "150000 100000");
        assert_eq!(found["unified"]["/a/b"]["pids.max"], 100);
        assert_eq!(found["unified"]["/a/b"]["cpuset.mems.effective"], "0");
        assert_eq!(found["count"], json!({"cpu": 71}));
    }

    #[test]
    fn version_1_in_a_container_that_sees_a_part_of_the_tree() {
        let tree = Tree::of(
            "proc/self/mountinfo = 31 23 0:28 /docker/x /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\\n32 23 0:29 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
             proc/self/cgroup = 4:memory:/docker/x\\n2:cpu,cpuacct:/docker/x/job\\n1:name=systemd:/\n\
             > sys/fs/cgroup\n\
             memory/memory.limit_in_bytes = 9223372036854771712\n\
             cpu,cpuacct/cpu.cfs_quota_us = -1\n\
             cpu,cpuacct/job/cpu.cfs_quota_us = 50000\n\
             cpu,cpuacct/job/cpu.cfs_period_us = 100000\n",
        );
        let found = take(&tree.host());
        assert_eq!(found["effective"], json!({"cpus": 0.5}));
        assert_eq!(found["cpu,cpuacct"]["/job"]["cpu.cfs_quota_us"], 50000);
        assert_eq!(found["cpu,cpuacct"]["/"]["cpu.cfs_quota_us"], -1);
    }
}
