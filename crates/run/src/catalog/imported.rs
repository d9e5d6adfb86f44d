//! What only other tools tell: benchmarks of their own work, and what has no place elsewhere.

use super::{PLAIN, Stored, Subject};
use super::{dense, events, histogram, level, number, ratio, sum, word};
use crate::Unit::{Bytes, Count, Seconds};

pub(super) const WORKLOAD: Subject = Subject {
    name: "workload",
    help: "What a benchmark says of its own work: fio, dd, iperf3, pgbench.",
    measures: &[
        sum(
            "ops",
            Count,
            "Operations that the benchmark completed: I/Os, transactions, requests.",
        ),
        sum("bytes", Bytes, "Bytes that it moved."),
        sum(
            "time",
            Seconds,
            "Time of the operations added up, as the benchmark measured it.",
        ),
        sum("errors", Count, "Operations that failed."),
    ],
    dimensions: &[
        word("tool", "Name of the benchmark: fio, iperf3."),
        word("job", "Its job, test, stream or transaction."),
        word(
            "op",
            "read, write, trim; send, receive; or what it calls them.",
        ),
        word(
            "client",
            "Host that drove the load, where the benchmark tells.",
        ),
        number(
            "latency",
            Seconds,
            "Of an operation, as the benchmark measured it.",
        ),
        number("size", Bytes, "Of an operation."),
        number("offset", Bytes, "Where in its file or device it started."),
    ],
    tables: &[
        dense(
            "workload",
            "import",
            &["tool", "job", "op", "client"],
            &["ops", "bytes", "time", "errors"],
        ),
        histogram(
            "workload_latency",
            "import",
            &["tool", "job", "op", "client", "latency"],
            &["ops"],
        ),
        events(
            "workload_event",
            "import",
            &["tool", "job", "op", "client", "latency", "size", "offset"],
            &[
                ("ops", Stored::One),
                ("bytes", Stored::Dimension("size")),
                ("time", Stored::Dimension("latency")),
            ],
            &[],
        ),
    ],
    derived: &[
        ratio(
            "mean_latency",
            Seconds,
            "workload.time",
            &["workload.ops"],
            "Mean time of an operation.",
        ),
        ratio(
            "mean_size",
            Bytes,
            "workload.bytes",
            &["workload.ops"],
            "Mean size of an operation.",
        ),
    ],
    ..PLAIN
};

pub(super) const DISTRIBUTION: Subject = Subject {
    name: "distribution",
    help: "Histograms that a tracing script printed, of things that have no subject here.",
    measures: &[sum("count", Count, "How many there were.")],
    dimensions: &[
        word("tool", "What printed it: dtrace, bpftrace, bcc."),
        word("name", "Name of the aggregation or the map, or its title."),
        word("key", "What it was broken down by, as printed."),
        number(
            "value",
            Count,
            "What was measured, in the script's own unit.",
        ),
    ],
    tables: &[histogram(
        "distribution",
        "import",
        &["tool", "name", "key", "value"],
        &["count"],
    )],
    ..PLAIN
};

pub(super) const OTHER: Subject = Subject {
    name: "other",
    help: "Columns of imported tools without a place elsewhere, as `other.<tool>.<column>`.",
    measures: &[level(
        "value",
        Count,
        "The number as printed, in the unit as printed.",
    )],
    dimensions: &[
        word("tool", "What printed it."),
        word("column", "Its column."),
        word("unit", "Its unit, as printed or as the tool's manual says."),
        word(
            "instance",
            "What the row was of: a device, a processor; empty if there is one only.",
        ),
    ],
    tables: &[dense(
        "other",
        "import",
        &["tool", "column", "unit", "instance"],
        &["value"],
    )],
    kinds: &["tool", "column", "unit"],
    ..PLAIN
};

pub(super) const SINCE_BOOT: Subject = Subject {
    name: "since_boot",
    help: "First reports of tools, which are means since the machine was started; sums are per \
           second, or whole where the tool counts.",
    measures: &[level(
        "value",
        Count,
        "The number, in the statistic's base unit.",
    )],
    dimensions: &[
        word("statistic", "What the number is of, as `disk.bytes`."),
        word("instance", "What the row was of, its words side by side."),
    ],
    tables: &[dense(
        "since_boot",
        "import",
        &["statistic", "instance"],
        &["value"],
    )],
    kinds: &["statistic"],
    ..PLAIN
};
