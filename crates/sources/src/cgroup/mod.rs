//! Control groups, versions 1 and 2.
//!
//! Amounts are a group's own, without its children's, so that they add up to the root's:
//! see [`own`]. For each resource the version 2 hierarchy is used if it has the controller,
//! else the version 1 hierarchy of that controller.
//!
//! Traps:
//! - Time is `cpuacct.usage` or `usage_usec`, to the nanosecond or microsecond. The kernel
//!   only samples its split into user and system, so the split of an interval is in the
//!   proportion of those samples.
//! - The root of version 2 has neither memory nor tasks: not known. The root of version 1
//!   counts no kernel memory for itself, though its children do.
//! - Version 1 counts I/O for each group alone: nothing is taken off a parent's, and what a group
//!   did between the last sample and its end is lost with it.
//! - Pressure, throttling and OOM kills are not split between parent and children by
//!   subtraction: pressure is a group's with its children's (which does not add up), the
//!   other two the kernel counts for each group alone.
//! - Limits are read in turn: every 8th sample, with many groups every 16th.

pub mod files;
mod group;
pub mod mounts;
pub mod own;
mod rows;
mod tree;

use std::io;

use run::Sink;

use crate::slot::Budget;
use crate::{Availability, Detail, Entry, Host, Source};

use group::{Item, PATH};
use mounts::Mount;
use rows::Report;
use tree::Tree;

/// The source.
pub const ENTRY: Entry = Entry {
    name: "cgroup",
    help: "control groups: processor time, throttling, memory, tasks, disk I/O, pressure",
    reads: "/proc/self/mountinfo, cpu.stat, memory.current, io.stat, pids.current, *.pressure and \
            their like of version 1 below the mounts",
    link: "https://docs.kernel.org/admin-guide/cgroup-v2.html",
    detail: Detail::Samples,
    open,
};

const NEEDS: &str = "a mounted cgroup hierarchy with the cpu, memory, io or pids controller";

struct Cgroups {
    trees: Vec<Tree>,
    budget: Budget,
    buffer: Vec<u8>,
    report: Report,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let path = host.proc("self/mountinfo");
    let text = std::fs::read(&path)
        .map_err(|e| Availability::of(&path, &e, "a mounted /proc", "mount -t proc proc /proc"))?;
    let mut trees = Vec::new();
    for (mount, items) in chosen(host, &mounts::parse(&text)) {
        let point = host.path(&mount.point);
        let tree = Tree::open(&point, items).map_err(|e| {
            Availability::of(
                &point,
                &e,
                NEEDS,
                "run as root, or allow reading of the mount",
            )
        })?;
        trees.push(tree);
    }
    if trees.is_empty() {
        return Err(Availability::Unsupported {
            needs: NEEDS.into(),
        });
    }
    Ok(Box::new(Cgroups {
        trees,
        budget: Budget::share(4),
        buffer: vec![0; PATH + (64 << 10)],
        report: Report::new(host),
    }))
}

/// What is read in which hierarchy.
fn chosen<'m>(host: &Host, mounts: &'m [Mount]) -> Vec<(&'m Mount, Vec<Item>)> {
    let unified = mounts.iter().find(|m| m.controllers.is_none());
    let has = unified
        .and_then(|m| crate::read::once(&host.path(&m.point).join("cgroup.controllers")))
        .unwrap_or_default();
    let unified_has = |name: &str| has.split_whitespace().any(|c| c == name);
    let mut second = Vec::new();
    let mut chosen: Vec<(&Mount, Vec<Item>)> = Vec::new();
    let resources: [(&str, &str, &[Item], &[Item]); 5] = [
        (
            "cpuacct",
            "cpu",
            &[Item::Usage, Item::UsageUser, Item::UsageSystem],
            &[Item::CpuStat],
        ),
        (
            "cpu",
            "cpu",
            &[Item::Throttle, Item::Quota, Item::Period],
            &[Item::CpuMax],
        ),
        (
            "memory",
            "memory",
            &[
                Item::Hierarchy,
                Item::MemoryUsage,
                Item::MemoryLimit,
                Item::OomControl,
            ],
            &[Item::MemoryCurrent, Item::MemoryMax, Item::MemoryEvents],
        ),
        ("pids", "pids", &[Item::Tasks], &[Item::Tasks]),
        (
            "blkio",
            "io",
            &[Item::IoCount, Item::IoBytes],
            &[Item::IoStat],
        ),
    ];
    for (name_v1, name_v2, items_v1, items_v2) in resources {
        let owns = |m: &&Mount| m.controllers.iter().flatten().any(|c| c == name_v1);
        let first = mounts.iter().find(owns);
        match first {
            // Version 2 counts time in each group, even without the controller.
            _ if unified_has(name_v2) => second.extend_from_slice(items_v2),
            None if name_v1 == "cpuacct" => second.extend_from_slice(items_v2),
            None => {}
            Some(mount) => match chosen.iter_mut().find(|(m, _)| m.point == mount.point) {
                Some((_, items)) => items.extend_from_slice(items_v1),
                None => chosen.push((mount, items_v1.to_vec())),
            },
        }
    }
    if let Some(mount) = unified {
        second.extend((0..3).map(Item::Pressure));
        chosen.push((mount, second));
    }
    chosen
}

impl Source for Cgroups {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let first = interval.is_none();
        for tree in &mut self.trees {
            tree.sample(first, &mut self.budget, &mut self.buffer);
            self.report.rows(tree, first, out);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
