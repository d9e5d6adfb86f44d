//! File systems, and ZFS.

use super::{PLAIN, Subject};
use super::{dense, level, mean_number, ratio, share_of_time, sparse, sum, word};
use crate::Unit::{Bytes, Count, Ratio, Seconds};

pub(super) const FILESYSTEM: Subject = Subject {
    name: "filesystem",
    help: "Mounted local file systems.",
    measures: &[
        level("size", Bytes, "Size of the file system."),
        level("used", Bytes, "Space in use."),
        level(
            "available",
            Bytes,
            "Space that users other than root can still take.",
        ),
        level(
            "inodes",
            Count,
            "Inodes; zero where the file system has no fixed number.",
        ),
        level("inodes_used", Count, "Inodes in use."),
    ],
    dimensions: &[
        word("mount", "Where it is mounted."),
        word("device", "What is mounted, as the mount table names it."),
        word("type", "Kind of file system: ext4, xfs, zfs."),
    ],
    tables: &[dense(
        "filesystem",
        "filesystem",
        &["mount", "device", "type"],
        &["size", "used", "available", "inodes", "inodes_used"],
    )],
    ..PLAIN
};

pub(super) const ARC: Subject = Subject {
    name: "arc",
    help: "The ZFS cache in memory (ARC).",
    measures: &[
        sum("hits", Count, "Look-ups answered from the cache."),
        sum("misses", Count, "Look-ups that had to read."),
        sum(
            "joined",
            Count,
            "Look-ups that found the read they needed under way; neither hit nor miss. Absent \
             before OpenZFS 2.2.",
        ),
        sum("evicted", Bytes, "Bytes evicted, before compression."),
        sum(
            "throttled",
            Count,
            "Times a writer had to wait because memory was short.",
        ),
        level("size", Bytes, "Memory it takes now."),
        level("target", Bytes, "Size it aims at."),
        level("limit", Bytes, "Size it may grow to."),
        level("mru", Bytes, "The recently used part."),
        level("mfu", Bytes, "Frequently used part."),
        level(
            "metadata",
            Bytes,
            "Blocks of metadata in it, without the kernel's structures around them.",
        ),
    ],
    dimensions: &[word(
        "kind",
        "demand_data, demand_metadata, prefetch_data, prefetch_metadata.",
    )],
    tables: &[
        dense(
            "arc_lookups",
            "zfs",
            &["kind"],
            &["hits", "misses", "joined"],
        ),
        dense(
            "arc",
            "zfs",
            &[],
            &[
                "evicted",
                "throttled",
                "size",
                "target",
                "limit",
                "mru",
                "mfu",
                "metadata",
            ],
        ),
    ],
    derived: &[ratio(
        "hit_ratio",
        Ratio,
        "arc.hits",
        &["arc.hits", "arc.misses"],
        "Share of look-ups answered from the cache.",
    )],
    ..PLAIN
};

pub(super) const L2ARC: Subject = Subject {
    name: "l2arc",
    help: "The ZFS second-level cache on devices (L2ARC).",
    measures: &[
        sum("hits", Count, "Look-ups answered from it."),
        sum("misses", Count, "Look-ups that had to go to the pool."),
        sum("bytes", Bytes, "Bytes moved."),
        sum(
            "errors",
            Count,
            "Failed writes, bad checksums and I/O errors.",
        ),
        level("size", Bytes, "Size of what it holds, before compression."),
        level("allocated", Bytes, "Space it takes on its devices."),
        level("headers", Bytes, "Memory its index takes."),
    ],
    dimensions: &[word("direction", "read or write.")],
    tables: &[
        dense("l2arc_bytes", "zfs", &["direction"], &["bytes"]),
        dense(
            "l2arc",
            "zfs",
            &[],
            &["hits", "misses", "errors", "size", "allocated", "headers"],
        ),
    ],
    derived: &[ratio(
        "hit_ratio",
        Ratio,
        "l2arc.hits",
        &["l2arc.hits", "l2arc.misses"],
        "Share of its look-ups that it answered.",
    )],
    ..PLAIN
};

pub(super) const ZFS: Subject = Subject {
    name: "zfs",
    help: "ZFS datasets, as programs read and write them.",
    measures: &[
        sum("ios", Count, "Reads and writes."),
        sum("bytes", Bytes, "Bytes read and written."),
    ],
    dimensions: &[
        word("pool", "Name of the pool."),
        word("dataset", "Full name of the dataset."),
        word("op", "read or write."),
    ],
    tables: &[sparse(
        "zfs",
        "zfs",
        &["pool", "dataset", "op"],
        &["ios", "bytes"],
    )],
    derived: &[ratio(
        "mean_size",
        Bytes,
        "zfs.bytes",
        &["zfs.ios"],
        "Bytes per read or write.",
    )],
    ..PLAIN
};

pub(super) const ZPOOL: Subject = Subject {
    name: "zpool",
    help: "ZFS pools, as they read and write their devices. OpenZFS before 2.1 tells it.",
    measures: &[
        sum(
            "ios",
            Count,
            "I/Os that its devices completed, as issued: after aggregation.",
        ),
        sum(
            "bytes",
            Bytes,
            "Bytes read from and written to its devices, with every copy and parity.",
        ),
        sum(
            "queue",
            Seconds,
            "Time of the I/Os added up that they waited in the pool's queues, each before \
             aggregation.",
        ),
        sum(
            "service",
            Seconds,
            "Time of the I/Os added up that the devices had them.",
        ),
        sum(
            "waiting",
            Seconds,
            "Time with at least one I/O in the pool's queues.",
        ),
        sum(
            "busy",
            Seconds,
            "Time with at least one I/O at its devices.",
        ),
        level(
            "queued",
            Count,
            "I/Os in the pool's queues at the end of the interval.",
        ),
        level(
            "inflight",
            Count,
            "I/Os at its devices at the end of the interval.",
        ),
    ],
    dimensions: &[
        word("pool", "Name of the pool."),
        word("op", "read or write."),
    ],
    tables: &[
        dense("zpool", "zfs", &["pool", "op"], &["ios", "bytes"]),
        dense(
            "zpool_queue",
            "zfs",
            &["pool"],
            &["queue", "service", "waiting", "busy", "queued", "inflight"],
        ),
    ],
    derived: &[
        ratio(
            "mean_size",
            Bytes,
            "zpool.bytes",
            &["zpool.ios"],
            "Bytes per I/O, after aggregation.",
        ),
        ratio(
            "mean_service_time",
            Seconds,
            "zpool.service",
            &["zpool.ios"],
            "Mean time of an I/O at its device.",
        ),
        share_of_time(
            "utilisation",
            "zpool.busy",
            "Share of the time with an I/O at a device, mean of the pools. Full is not 100 % on \
             devices that serve I/Os in parallel.",
        ),
        mean_number(
            "mean_queued",
            "zpool.queue",
            "Mean number of I/Os in a pool's queues, mean of the pools.",
        ),
        mean_number(
            "mean_depth",
            "zpool.service",
            "Mean number of I/Os at a pool's devices, mean of the pools.",
        ),
    ],
    ..PLAIN
};
