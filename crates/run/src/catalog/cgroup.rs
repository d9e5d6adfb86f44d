//! Control groups, version 1 and 2.

use super::{PLAIN, Subject, UnlessNamed, dense, level, share_of_time, sparse, sum, word};
use crate::Unit::{Bytes, Count, Seconds};

pub(super) const CGROUP: Subject = Subject {
    name: "cgroup",
    help: "Control groups. Amounts are a group's own, without its children's, so that they add up.",
    measures: &[
        sum("time", Seconds, "Processor time."),
        sum(
            "throttled",
            Seconds,
            "Time its tasks were held back by a CPU limit.",
        ),
        sum(
            "periods",
            Count,
            "Periods of the CPU limit in which it ran.",
        ),
        sum(
            "throttled_periods",
            Count,
            "Periods in which it used its CPU limit up.",
        ),
        level(
            "cpu_limit",
            Count,
            "Processors it may use; absent where not limited.",
        ),
        level("memory", Bytes, "Memory charged, page cache included."),
        level(
            "memory_limit",
            Bytes,
            "Memory it may use; absent where not limited.",
        ),
        sum("oom_kills", Count, "Processes killed for want of memory."),
        level(
            "processes",
            Count,
            "Tasks (threads), as the pids controller counts them.",
        ),
        sum("ios", Count, "Disk I/Os."),
        sum("bytes", Bytes, "Bytes of disk I/O."),
        sum(
            "stalled",
            Seconds,
            "Time in which tasks were stalled for a resource (PSI).",
        ),
    ],
    dimensions: &[
        word("cgroup", "Path below the mount point; / is the root."),
        word("mode", "user or system."),
        word("device", "Name of the block device."),
        word(
            "layer",
            "Layer of that device: disk, partition, stacked, memory, path.",
        ),
        word("op", "read, write, discard."),
        word("resource", "What was waited for: cpu, io, memory."),
        word(
            "share",
            "some: at least one task stalled; full: all that could run stalled.",
        ),
    ],
    tables: &[
        sparse("cgroup_cpu", "cgroup", &["cgroup", "mode"], &["time"]),
        sparse(
            "cgroup_throttle",
            "cgroup",
            &["cgroup"],
            &["throttled", "periods", "throttled_periods", "cpu_limit"],
        ),
        dense(
            "cgroup_memory",
            "cgroup",
            &["cgroup"],
            &["memory", "memory_limit", "oom_kills"],
        ),
        dense("cgroup_tasks", "cgroup", &["cgroup"], &["processes"]),
        sparse(
            "cgroup_io",
            "cgroup",
            &["cgroup", "device", "layer", "op"],
            &["ios", "bytes"],
        ),
        sparse(
            "cgroup_pressure",
            "cgroup",
            &["cgroup", "resource", "share"],
            &["stalled"],
        ),
    ],
    derived: &[share_of_time(
        "pressure",
        "cgroup.stalled",
        "Share of the time lost, mean of the groups and resources that lost any.",
    )],
    unless_named: &[
        UnlessNamed {
            dimensions: &["share"],
            dimension: "share",
            value: "some",
        },
        UnlessNamed {
            dimensions: &["device", "layer"],
            dimension: "layer",
            value: "disk",
        },
    ],
    ..PLAIN
};
