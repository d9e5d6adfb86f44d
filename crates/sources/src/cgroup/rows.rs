//! The rows of a hierarchy.

use std::collections::HashMap;

use run::rows::TableId;
use run::{Sink, Word};

use super::group::{Group, Item};
use super::tree::Tree;
use crate::Host;
use crate::proc::disk::layer;
use crate::read::{once, printable};

/// Writes the rows of a sample.
pub(super) struct Report {
    host: Host,
    fixed: Option<Fixed>,
    devices: HashMap<(u32, u32), [Word; 2]>,
    cpu: TableId,
    throttle: TableId,
    memory: TableId,
    tasks: TableId,
    io: TableId,
    pressure: TableId,
}

/// Words that are always the same.
#[derive(Clone, Copy)]
struct Fixed {
    modes: [Word; 2],
    ops: [Word; 3],
    resources: [Word; 3],
    shares: [Word; 2],
}

impl Report {
    pub(super) fn new(host: &Host) -> Report {
        Report {
            host: host.clone(),
            fixed: None,
            devices: HashMap::new(),
            cpu: TableId::of("cgroup_cpu"),
            throttle: TableId::of("cgroup_throttle"),
            memory: TableId::of("cgroup_memory"),
            tasks: TableId::of("cgroup_tasks"),
            io: TableId::of("cgroup_io"),
            pressure: TableId::of("cgroup_pressure"),
        }
    }

    /// Ends the interval for all groups of `tree`; `first` writes nothing.
    pub(super) fn rows(&mut self, tree: &mut Tree, first: bool, out: &mut Sink) {
        let fixed = *self.fixed.get_or_insert_with(|| Fixed {
            modes: ["user", "system"].map(|w| out.word(w)),
            ops: ["read", "write", "discard"].map(|w| out.word(w)),
            resources: ["cpu", "io", "memory"].map(|w| out.word(w)),
            shares: ["some", "full"].map(|w| out.word(w)),
        });
        let has = |items: &[Item]| tree.items.iter().any(|i| items.contains(i));
        let has_time = has(&[Item::Usage, Item::CpuStat]);
        let has_throttle = has(&[Item::Throttle, Item::CpuMax]);
        let has_memory = has(&[Item::MemoryUsage, Item::MemoryCurrent]);
        let has_tasks = has(&[Item::Tasks]);
        let has_pressure = has(&[Item::Pressure(0)]);
        for (place, group) in tree.groups.iter_mut().enumerate() {
            let is_root = place == 0;
            let time = group.time.own();
            let memory = match group.memory.own(group.hierarchical) {
                // The root of version 1 counts no kernel memory, which its children do: what is
                // left of it without theirs is nobody's.
                _ if is_root && group.hierarchical => f64::NAN,
                own => own,
            };
            let tasks = group.tasks.own(true);
            let throttle = group.throttle.1.take();
            let oom_kills = group.oom_kills.1.take();
            if first {
                group
                    .pressure
                    .as_flattened_mut()
                    .iter_mut()
                    .for_each(|c| c.1 = None);
                group.devices.iter_mut().for_each(|d| _ = d.sums.own());
                continue;
            }
            let word = match group.word {
                Some(word) => word,
                None => *group.word.insert(name(&group.path, out)),
            };
            if has_time {
                for (nanos, mode) in split(time).into_iter().zip(fixed.modes) {
                    if is_root || nanos > 0.0 {
                        out.row(self.cpu, &[word, mode], &[nanos / 1e9]);
                    }
                }
            }
            if has_throttle {
                let amounts = throttle.unwrap_or_default().map(|v| v as f64);
                if is_root || amounts[1] > 0.0 || amounts[0] > 0.0 || group.processors.is_finite() {
                    let [time, periods, throttled] = amounts;
                    let values = [time / 1e9, periods, throttled, group.processors];
                    out.row(self.throttle, &[word], &values);
                }
            }
            // One that is gone may still have had its time read.
            if has_memory && !group.gone {
                let kills = oom_kills.map_or(f64::NAN, |k| k[0] as f64);
                out.row(self.memory, &[word], &[memory, group.memory_limit, kills]);
            }
            if has_tasks && !group.gone {
                out.row(self.tasks, &[word], &[tasks]);
            }
            self.io_rows(group, word, is_root, fixed, out);
            if has_pressure {
                self.pressure_rows(group, word, is_root, fixed, out);
            }
        }
    }

    fn io_rows(
        &mut self,
        group: &mut Group,
        word: Word,
        is_root: bool,
        fixed: Fixed,
        out: &mut Sink,
    ) {
        for device in &mut group.devices {
            let own = device.sums.own();
            if own == [0; 6] && !is_root {
                continue;
            }
            let host = &self.host;
            let known = self.devices.entry(device.number);
            let [name, layer] = *known.or_insert_with(|| device_words(host, device.number, out));
            for (op, op_word) in fixed.ops.into_iter().enumerate() {
                let [ios, bytes] = [own[op], own[op + 3]];
                if ios > 0 || bytes > 0 || (is_root && op < 2) {
                    let values = [ios as f64, bytes as f64];
                    out.row(self.io, &[word, name, layer, op_word], &values);
                }
            }
        }
    }

    fn pressure_rows(
        &self,
        group: &mut Group,
        word: Word,
        is_root: bool,
        fixed: Fixed,
        out: &mut Sink,
    ) {
        for (counts, resource) in group.pressure.iter_mut().zip(fixed.resources) {
            for (count, share) in counts.iter_mut().zip(fixed.shares) {
                let Some([micros]) = count.1.take() else {
                    continue;
                };
                if micros > 0 || is_root {
                    let stalled = micros as f64 / 1e6;
                    out.row(self.pressure, &[word, resource, share], &[stalled]);
                }
            }
        }
    }
}

/// Splits time into user and system, in the proportion in which the clock tick saw them.
fn split([all, user, system]: [u64; 3]) -> [f64; 2] {
    let [all, user, system] = [all as f64, user as f64, system as f64];
    let share = if user + system > 0.0 {
        user / (user + system)
    } else {
        // Less than a tick: nothing tells. Most such time is that of waking up and waiting.
        0.0
    };
    let user = all * share;
    [user, all - user]
}

/// `/` for the root, else the path below it.
fn name(path: &[u8], out: &mut Sink) -> Word {
    out.word(&format!("/{}", printable(path)))
}

/// Name and layer of a block device; its numbers if the kernel does not know it any more.
fn device_words(host: &Host, (major, minor): (u32, u32), out: &mut Sink) -> [Word; 2] {
    let path = host.sys(&format!("dev/block/{major}:{minor}/uevent"));
    let text = once(&path).unwrap_or_default();
    let name = text.lines().find_map(|l| l.strip_prefix("DEVNAME="));
    let name = name.map_or_else(|| format!("{major}:{minor}"), str::to_owned);
    [out.word(&name), out.word(layer(host, &name))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_split_as_it_was_sampled() {
        assert_eq!(split([100, 30, 10]), [75.0, 25.0]);
        assert_eq!(split([100, 0, 0]), [0.0, 100.0]);
        assert_eq!(split([0, 4, 1]), [0.0, 0.0]);
    }
}
