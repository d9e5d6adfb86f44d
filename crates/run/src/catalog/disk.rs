//! Block devices.

use super::{Also, Stored, Subject, UnlessNamed};
use super::{
    dense, events, histogram, level, mean_number, number, peak, ratio, sectors, share_of_time,
    sparse, sum, word,
};
use crate::Unit::{Bytes, Count, Ratio, Seconds};

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
        sum(
            "queue",
            Seconds,
            "Time of the I/Os added up that they waited in the scheduler, before they were issued \
             to the device.",
        ),
        sum(
            "service",
            Seconds,
            "Time of the I/Os added up that the device had them, from issue to completion.",
        ),
        sum("errors", Count, "I/Os that failed."),
        sum(
            "requeues",
            Count,
            "Times an I/O was handed back by the device's driver, to be issued again.",
        ),
        sum(
            "random",
            Count,
            "I/Os that did not start where one of the last 16 of the device ended.",
        ),
        sum(
            "placed",
            Count,
            "I/Os that have a place on the device: not a flush, nor a write without data, as an \
             fsync makes.",
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
        sum(
            "at_depth",
            Seconds,
            "Time with that many I/Os issued and not completed (`by depth`).",
        ),
        peak(
            "peak_depth",
            Count,
            "Most I/Os issued and not completed at a time.",
        ),
    ],
    dimensions: &[
        word("device", "Name of the device: sda, nvme0n1, md0, loop3."),
        word(
            "layer",
            "disk, partition, stacked (dm, md, loop), memory (zram, ram), path; of other tools also \
             total: what they print for all disks together beside the single ones.",
        ),
        word("op", "read, write, discard, flush."),
        word("process", "Process that read or wrote, as name[pid@start]."),
        word("command", "Name of the program that read or wrote."),
        word(
            "cgroup",
            "Control group charged for the I/O, without its children's.",
        ),
        word("file", "File that was read or written, where it is known."),
        word(
            "sync",
            "sync: somebody waits for it; async: nobody does, as when the kernel writes back.",
        ),
        word(
            "metadata",
            "yes: the file system's own; no: content of files, or not told.",
        ),
        word(
            "sequential",
            "yes: it starts where one of the last 16 I/Os of the device ended; no; none: it has \
             no place, as a flush has no data.",
        ),
        number(
            "latency",
            Seconds,
            "From queueing to completion: queue_time and service_time.",
        ),
        number(
            "queue_time",
            Seconds,
            "From insertion into the scheduler to issue; 0 where issued directly.",
        ),
        number(
            "service_time",
            Seconds,
            "From issue to the device to completion.",
        ),
        sectors("size", "Size of the I/O as issued, after merging."),
        sectors("offset", "Where on the device it starts."),
        sectors(
            "distance",
            "From the end of the device's I/O issued before to the start of this; negative is \
             backwards.",
        ),
        sectors(
            "nearest",
            "The least of such distances to the ends of the last 16 I/Os: small for streams side \
             by side.",
        ),
        number(
            "depth",
            Count,
            "I/Os under way on the device when it was issued, itself included.",
        ),
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
        sparse(
            "disk_io",
            "bpf-disk",
            &["device", "layer", "op"],
            &["ios", "queue", "service", "errors", "requeues", "time"],
        ),
        sparse(
            "disk_pattern",
            "bpf-disk",
            &["device", "layer", "op"],
            &["random", "placed", "bytes"],
        ),
        sparse(
            "disk_peak",
            "bpf-disk",
            &["device", "layer"],
            &["peak_depth"],
        ),
        histogram(
            "disk_latency",
            "bpf-disk",
            &["device", "layer", "op", "latency"],
            &["ios", "bytes"],
        ),
        histogram(
            "disk_queue_time",
            "bpf-disk",
            &["device", "layer", "op", "queue_time"],
            &["ios", "bytes"],
        ),
        histogram(
            "disk_service_time",
            "bpf-disk",
            &["device", "layer", "op", "service_time"],
            &["ios", "bytes"],
        ),
        histogram(
            "disk_size",
            "bpf-disk",
            &["device", "layer", "op", "size"],
            &["ios", "bytes"],
        ),
        histogram(
            "disk_distance",
            "bpf-disk",
            &["device", "layer", "op", "distance"],
            &["ios", "bytes"],
        ),
        histogram(
            "disk_nearest",
            "bpf-disk",
            &["device", "layer", "op", "nearest"],
            &["ios", "bytes"],
        ),
        histogram(
            "disk_depth",
            "bpf-disk",
            &["device", "layer", "op", "depth"],
            &["ios", "bytes"],
        ),
        histogram(
            "disk_at_depth",
            "bpf-disk",
            &["device", "layer", "depth"],
            &["at_depth"],
        ),
        events(
            "disk_event",
            "bpf-disk",
            &[
                "device",
                "layer",
                "op",
                "sync",
                "metadata",
                "sequential",
                "process",
                "command",
                "cgroup",
                "file",
                "queue_time",
                "service_time",
                "size",
                "offset",
                "distance",
                "nearest",
                "depth",
            ],
            &[
                ("ios", Stored::One),
                ("bytes", Stored::DimensionIfNot("size", "op", "discard")),
                ("discarded", Stored::DimensionIf("size", "op", "discard")),
                ("time", Stored::Dimension("latency")),
                ("queue", Stored::Dimension("queue_time")),
                ("service", Stored::Dimension("service_time")),
                ("random", Stored::If("sequential", "no")),
                ("placed", Stored::IfNot("sequential", "none")),
            ],
            &[("latency", &["queue_time", "service_time"])],
        ),
    ],
    derived: &[
        ratio(
            "mean_latency",
            Seconds,
            "disk.time",
            &["disk.ios"],
            "Mean time of an I/O.",
        )
        .exact_in("disk_io"),
        ratio(
            "mean_queue_time",
            Seconds,
            "disk.queue",
            &["disk.ios"],
            "Mean time of an I/O in the scheduler.",
        ),
        ratio(
            "mean_service_time",
            Seconds,
            "disk.service",
            &["disk.ios"],
            "Mean time of an I/O in the device.",
        ),
        ratio(
            "random_share",
            Ratio,
            "disk.random",
            &["disk.placed"],
            "Share of the I/Os that have a place which did not start where one of the last 16 ended.",
        ),
        ratio(
            "mean_size",
            Bytes,
            "disk.bytes",
            &["disk.placed"],
            "Mean size of an I/O that moves bytes: not of a discard or a flush, nor of a write without \
             data, as an fsync makes, where these are told apart (not by /proc/diskstats).",
        )
        .or("disk.ios")
        .without("op", &["discard", "flush"]),
        share_of_time(
            "utilisation",
            "disk.busy",
            "Share of the time with an I/O under way, mean of the devices. Full is not 100 % on \
             a device that serves I/Os in parallel.",
        ),
        mean_number(
            "mean_depth",
            "disk.depth_time",
            "Mean number of I/Os under way, mean of the devices.",
        ),
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
            caveat: "charged when submitted, and only by controllers that count I/O (of version 1, \
                     since Linux 6.10, on devices that have a limit)",
            without: None,
        },
        Also {
            measure: "bytes",
            table: "cgroup_io",
            column: "bytes",
            caveat: "charged when submitted, and only by controllers that count I/O (of version 1, \
                     since Linux 6.10, on devices that have a limit)",
            // It tells what was freed as bytes.
            without: Some(("op", "discard")),
        },
        Also {
            measure: "bytes",
            table: "process_io",
            column: "bytes",
            caveat: "writes are charged to the process that dirtied the page, when it did, \
                     whatever device they go to",
            without: None,
        },
    ],
    unless_named: &[UnlessNamed {
        dimensions: &["device", "layer"],
        dimension: "layer",
        value: "disk",
    }],
    kinds: &[],
};
