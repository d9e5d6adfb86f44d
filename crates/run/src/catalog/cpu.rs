//! Processors: time, scheduling, interrupts, pressure.

use super::{Also, Derived, PLAIN, Subject, Under, UnlessNamed};
use super::{dense, histogram, level, number, ratio, share_of_time, sparse, sum, word};
use crate::Unit::{Count, Ratio, Seconds};

pub(super) const CPU: Subject = Subject {
    name: "cpu",
    help: "Time of the processors.",
    measures: &[
        sum(
            "time",
            Seconds,
            "Time spent running something; per second, processors in use.",
        ),
        sum(
            "idle",
            Seconds,
            "Time with nothing to run and no disk I/O awaited.",
        ),
        sum(
            "iowait",
            Seconds,
            "Idle time while a task of that processor waited for disk I/O.",
        ),
        sum(
            "steal",
            Seconds,
            "Time the hypervisor gave to others while this machine had work.",
        ),
        sum(
            "slices",
            Count,
            "Times a task ran, from when it got a processor until it left it.",
        ),
        sum(
            "waits",
            Count,
            "Times a task that could run waited for a processor.",
        ),
        sum(
            "waited",
            Seconds,
            "Time that tasks which could run waited for a processor, added up.",
        ),
    ],
    dimensions: &[
        word("cpu", "Number of the logical processor."),
        word(
            "mode",
            "What ran: user, nice, system, irq, softirq, guest, guest_nice.",
        ),
        word(
            "process",
            "Process, as name[pid@start], start in seconds after boot.",
        ),
        word(
            "command",
            "Name of the process's program, as the kernel keeps it (15 bytes).",
        ),
        word(
            "cgroup",
            "Control group, by path; its own tasks, without its children's.",
        ),
        number("slice", Seconds, "How long a task kept the processor."),
        number(
            "wait",
            Seconds,
            "From when a task could run until it ran (run-queue latency).",
        ),
    ],
    tables: &[
        sparse("cpu", "cpu", &["cpu", "mode"], &["time"]),
        dense("cpu_idle", "cpu", &["cpu"], &["idle", "iowait", "steal"]),
        sparse(
            "cpu_cgroup",
            "bpf-cpu",
            &["cgroup"],
            &["time", "slices", "waits", "waited"],
        ),
        histogram(
            "cpu_slice",
            "bpf-cpu",
            &["cgroup", "slice"],
            &["time", "slices"],
        ),
        histogram(
            "cpu_wait",
            "bpf-cpu",
            &["cgroup", "wait"],
            &["waits", "waited"],
        ),
    ],
    derived: &[
        ratio(
            "utilisation",
            Ratio,
            "cpu.time",
            &["cpu.time", "cpu.idle", "cpu.iowait", "cpu.steal"],
            "Share of the processors' time spent running something.",
        )
        .of_whole(),
        Derived {
            name: "seconds_per_disk_gb",
            unit: Seconds,
            over: "cpu.time",
            under: Under::Sum(&["disk.bytes"]),
            times: 1e9,
            or: None,
            of_whole: true,
            without: None,
            exact: None,
            help: "Processor seconds per GB (1e9 bytes) of disk I/O: of its own by what bytes are \
                   counted by, of all of it by mode or processor.",
        },
        Derived {
            name: "seconds_per_net_gb",
            unit: Seconds,
            over: "cpu.time",
            under: Under::Sum(&["net.bytes"]),
            times: 1e9,
            or: None,
            of_whole: true,
            without: None,
            exact: None,
            help: "Processor seconds per GB (1e9 bytes) sent and received: of its own by what bytes are \
                   counted by, of all of it by mode or processor.",
        },
        ratio(
            "mean_slice",
            Seconds,
            "cpu.time",
            &["cpu.slices"],
            "Mean time a task kept the processor.",
        ),
        ratio(
            "mean_wait",
            Seconds,
            "cpu.waited",
            &["cpu.waits"],
            "Mean time a task that could run waited for a processor.",
        ),
    ],
    also: &[
        Also {
            measure: "time",
            table: "cgroup_cpu",
            column: "time",
            caveat: "cgroups are charged to the nanosecond; /proc/stat counts clock ticks, and \
                     interrupt time is charged to no cgroup",
            without: None,
        },
        Also {
            measure: "time",
            table: "process",
            column: "time",
            caveat: "a process is charged in clock ticks; what ran and ended between two samples \
                     without its parent waiting for it is not seen",
            without: None,
        },
    ],
    ..PLAIN
};

pub(super) const SYSTEM: Subject = Subject {
    name: "system",
    help: "The kernel's scheduler as a whole.",
    measures: &[
        level(
            "load1",
            Count,
            "Tasks running or in uninterruptible sleep, one-minute average.",
        ),
        level(
            "load5",
            Count,
            "Tasks running or in uninterruptible sleep, five-minute average.",
        ),
        level(
            "load15",
            Count,
            "Tasks running or in uninterruptible sleep, 15-minute average.",
        ),
        level(
            "runnable",
            Count,
            "Tasks running or ready to run at the end of the interval, the recorder among them.",
        ),
        level(
            "blocked",
            Count,
            "Tasks waiting for disk I/O, at the end of the interval.",
        ),
        level("tasks", Count, "All tasks (threads)."),
        sum(
            "context_switches",
            Count,
            "Switches from one task to another.",
        ),
        sum("forks", Count, "Processes and threads created."),
    ],
    tables: &[dense(
        "system",
        "cpu",
        &[],
        &[
            "load1",
            "load5",
            "load15",
            "runnable",
            "blocked",
            "tasks",
            "context_switches",
            "forks",
        ],
    )],
    ..PLAIN
};

pub(super) const INTERRUPT: Subject = Subject {
    name: "interrupt",
    help: "Interrupts, hard and soft.",
    measures: &[sum("count", Count, "Interrupts served.")],
    dimensions: &[
        word(
            "level",
            "hard (from a device or another processor) or soft (deferred work).",
        ),
        word(
            "kind",
            "Device and line, or kind of soft interrupt; local: those of no line, as timer ticks and \
             calls between processors.",
        ),
    ],
    tables: &[sparse("interrupt", "cpu", &["level", "kind"], &["count"])],
    ..PLAIN
};

pub(super) const PRESSURE: Subject = Subject {
    name: "pressure",
    help: "Time lost waiting for a resource (PSI).",
    measures: &[sum(
        "stalled",
        Seconds,
        "Time in which tasks were stalled for the resource.",
    )],
    dimensions: &[
        word(
            "resource",
            "What was waited for: cpu, io, memory, irq (which has only full; cpu only some).",
        ),
        word(
            "share",
            "some: at least one task stalled; full: all that could run stalled.",
        ),
    ],
    tables: &[dense(
        "pressure",
        "pressure",
        &["resource", "share"],
        &["stalled"],
    )],
    derived: &[share_of_time(
        "ratio",
        "pressure.stalled",
        "Share of the time that was lost.",
    )],
    unless_named: &[UnlessNamed {
        dimensions: &["share"],
        dimension: "share",
        value: "some",
    }],
    ..PLAIN
};
