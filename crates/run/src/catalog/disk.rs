//! Block devices.

use super::{Also, Derived, Detail, Subject, Table, Under, UnlessNamed};
use super::{dense, level, number, ratio, share_of_time, sum, word};
use crate::Unit::{Bytes, Count, Seconds};

pub(super) const DISK: Subject = Subject {
    name: "disk",
    help: "Block devices. Counts whole disks once; name a device or a layer to see the others.",
    measures: &[
        sum("ios", Count, "I/Os completed."),
        sum(
            "bytes",
            Bytes,
            "Bytes read and written; a discard moves none.",
        ),
        sum(
            "discarded",
            Bytes,
            "Bytes that the device was told are no longer needed.",
        ),
        sum(
            "merges",
            Count,
            "I/Os merged into another before they were issued.",
        ),
        sum(
            "time",
            Seconds,
            "Time of the I/Os added up, from queueing to completion.",
        ),
        sum("busy", Seconds, "Time with at least one I/O under way."),
        sum(
            "depth_time",
            Seconds,
            "I/Os under way, integrated over time; per second, the depth.",
        ),
        level(
            "inflight",
            Count,
            "I/Os under way at the end of the interval.",
        ),
    ],
    dimensions: &[
        word("device", "Name of the device: sda, nvme0n1, md0, loop3."),
        word(
            "layer",
            "disk, partition, stacked (dm, md, loop), memory (zram, ram), path.",
        ),
        word("op", "read, write, discard, flush."),
        word("process", "Process that read or wrote, as name[pid@start]."),
        word("command", "Name of the program that read or wrote."),
        word(
            "cgroup",
            "Control group charged for the I/O, without its children's.",
        ),
        number("latency", Seconds, "From queueing to completion."),
    ],
    tables: &[
        dense(
            "disk",
            "disk",
            &["device", "layer", "op"],
            &["ios", "bytes", "merges", "time", "discarded"],
        ),
        dense(
            "disk_device",
            "disk",
            &["device", "layer"],
            &["busy", "depth_time", "inflight"],
        ),
        Table {
            name: "disk_latency",
            detail: Detail::Histogram,
            dimensions: &["device", "layer", "op", "latency"],
            measures: &["ios"],
            source: "bpf-disk",
            sparse: true,
        },
    ],
    derived: &[
        ratio(
            "mean_latency",
            Seconds,
            "disk.time",
            &["disk.ios"],
            "Mean time of an I/O.",
        ),
        ratio(
            "mean_size",
            Bytes,
            "disk.bytes",
            &["disk.ios"],
            "Mean size of an I/O.",
        ),
        share_of_time(
            "utilisation",
            "disk.busy",
            "Share of the time with an I/O under way, mean of the devices. Full is not 100 % on \
             a device that serves I/Os in parallel.",
        ),
        Derived {
            name: "mean_depth",
            unit: Count,
            over: "disk.depth_time",
            under: Under::Elapsed,
            times: 1.0,
            help: "Mean number of I/Os under way, mean of the devices.",
        },
        ratio(
            "busy_depth",
            Count,
            "disk.depth_time",
            &["disk.busy"],
            "Mean number of I/Os under way while there were any.",
        ),
    ],
    also: &[
        Also {
            measure: "ios",
            table: "cgroup_io",
            column: "ios",
            caveat: "charged when submitted, and only by controllers that count I/O",
        },
        Also {
            measure: "bytes",
            table: "cgroup_io",
            column: "bytes",
            caveat: "charged when submitted, and only by controllers that count I/O",
        },
        Also {
            measure: "bytes",
            table: "process_io",
            column: "bytes",
            caveat: "writes are charged to the process that dirtied the page, when it did, \
                     whatever device they go to",
        },
    ],
    unless_named: &[UnlessNamed {
        dimensions: &["device", "layer"],
        dimension: "layer",
        value: "disk",
    }],
};
