//! Machine facts and settings, as one ordered tree.
//!
//! Taken when a run starts and again when it ends: what differs was changed by somebody
//! meanwhile. So nothing is in it that changes by itself, as free memory or the frequency of
//! the moment does. Nothing that is secret or identifies the machine is in it either: no
//! serial numbers, hardware addresses, environments; values that may be credentials are
//! masked.
//!
//! To add a section: a file here, a line in [`SECTIONS`], and a chapter in
//! `docs/reference/inventory.md`.

mod block;
mod cgroup;
mod cpu;
mod ethtool;
mod filesystems;
mod kernel;
mod leaf;
mod memory;
mod modules;
mod net;
mod processes;
mod routes;
mod rtnetlink;
mod secret;
mod sysctl;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tree;
mod virtualisation;

use serde_json::{Map, Value, json};

use crate::Host;

/// One part of the inventory.
pub struct Section {
    /// Its key in the file.
    pub name: &'static str,
    /// One sentence: what it holds.
    pub help: &'static str,
    /// Reads it: an object, empty if this host has nothing of it.
    pub take: fn(&Host) -> Value,
}

/// Every section, in the order of the file.
pub const SECTIONS: &[Section] = &[
    Section {
        name: "kernel",
        help: "the kernel, its command line, the distribution",
        take: kernel::kernel,
    },
    Section {
        name: "virtualisation",
        help: "hardware model, hypervisor, container",
        take: virtualisation::take,
    },
    Section {
        name: "cpu",
        help: "processors, their arrangement, caches, frequency and idle settings",
        take: cpu::take,
    },
    Section {
        name: "memory",
        help: "memory, NUMA nodes, huge pages, swap areas",
        take: memory::take,
    },
    Section {
        name: "block",
        help: "block devices, their queues, what they are made of, partitions",
        take: block::take,
    },
    Section {
        name: "filesystems",
        help: "mounted file systems with their options",
        take: filesystems::take,
    },
    Section {
        name: "net",
        help: "network interfaces, offloads, rings, channels, queueing disciplines",
        take: net::take,
    },
    Section {
        name: "routes",
        help: "default routes and the number of routes by interface",
        take: routes::take,
    },
    Section {
        name: "sysctl",
        help: "kernel settings that bear on performance",
        take: sysctl::take,
    },
    Section {
        name: "modules",
        help: "parameters of kernel modules that bear on performance",
        take: modules::take,
    },
    Section {
        name: "cgroup",
        help: "limits of the recorder's control groups",
        take: cgroup::take,
    },
    Section {
        name: "clock",
        help: "clock source",
        take: kernel::clock,
    },
    Section {
        name: "limits",
        help: "limits of the recorder's process",
        take: kernel::limits,
    },
    Section {
        name: "processes",
        help: "running programs with their arguments, only when asked for",
        take: processes::take,
    },
];

/// What is told once and never compared: it changes without anybody changing a setting.
const NOT_COMPARED: &[&str] = &["processes", "cgroup.count"];

/// Whether a difference of what is at `path` says something.
pub fn is_compared(path: &str) -> bool {
    !NOT_COMPARED.contains(&path)
}

/// Facts and settings of a host at one moment: sections by name, in the order of
/// [`SECTIONS`]. What could not be read is not in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory(Map<String, Value>);

impl Inventory {
    /// The sections.
    pub fn sections(&self) -> &Map<String, Value> {
        &self.0
    }

    /// What `path` leads to, one key a step: `["block", "vda", "scheduler"]`.
    pub fn get(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter()
            .try_fold(self.0.get(*first)?, |value, key| value.get(key))
    }

    /// The content of `inventory.json`: the sections and, under `changes`, what differed by
    /// the end of the run. Before the end is known, `changes` is `None` and not in it.
    pub fn document(&self, changes: Option<&[Difference]>) -> Value {
        let mut all = self.0.clone();
        if let Some(changes) = changes {
            let changes = changes.iter().map(Difference::to_json).collect();
            all.insert("changes".to_owned(), Value::Array(changes));
        }
        Value::Object(all)
    }
}

/// Reads all sections of `host`.
pub fn take(host: &Host) -> Inventory {
    let sections = SECTIONS.iter().map(|s| (s.name, (s.take)(host)));
    let filled = sections.filter(|(_, value)| value.as_object().is_some_and(|o| !o.is_empty()));
    Inventory(filled.map(|(name, v)| (name.to_owned(), v)).collect())
}

/// Something that is not the same in two inventories.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The keys that lead to it, joined by dots: `block.vda.scheduler`.
    pub path: String,
    /// Its value at the start; none if it was not there.
    pub before: Option<Value>,
    /// Its value at the end; none if it is gone.
    pub after: Option<Value>,
}

impl Difference {
    /// `{"path": …, "before": …, "after": …}`; what was not there is not in it.
    pub fn to_json(&self) -> Value {
        let mut object = json!({ "path": self.path });
        for (name, value) in [("before", &self.before), ("after", &self.after)] {
            if let Some(value) = value {
                object[name] = value.clone();
            }
        }
        object
    }
}

/// What changed from `start` to `end`, in the order of the sections. A thing that came or
/// went is one difference, however many fields it has; a list differs as a whole.
pub fn differences(start: &Inventory, end: &Inventory) -> Vec<Difference> {
    let mut found = Vec::new();
    objects("", &start.0, &end.0, &mut found);
    found
}

fn objects(
    above: &str,
    start: &Map<String, Value>,
    end: &Map<String, Value>,
    found: &mut Vec<Difference>,
) {
    let new = end.keys().filter(|key| !start.contains_key(*key));
    for key in start.keys().chain(new) {
        let path = if above.is_empty() {
            key.clone()
        } else {
            format!("{above}.{key}")
        };
        if NOT_COMPARED.contains(&path.as_str()) {
            continue;
        }
        match (start.get(key), end.get(key)) {
            (Some(Value::Object(before)), Some(Value::Object(after))) => {
                objects(&path, before, after, found);
            }
            (before, after) if before != after => found.push(Difference {
                path,
                before: before.cloned(),
                after: after.cloned(),
            }),
            _ => {}
        }
    }
}
