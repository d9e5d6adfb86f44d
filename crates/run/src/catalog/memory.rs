//! Memory: where it is, and what virtual memory did.

use super::{PLAIN, Subject, dense, level, sparse, sum, word};
use crate::Unit::{Bytes, Count};

pub(super) const MEMORY: Subject = Subject {
    name: "memory",
    help: "Physical memory and swap.",
    measures: &[
        level("bytes", Bytes, "Memory; by kind, all of it once."),
        level(
            "available",
            Bytes,
            "What new work could get without swapping (the kernel's guess).",
        ),
        level("dirty", Bytes, "File pages changed and not yet written."),
        level("writeback", Bytes, "File pages being written now."),
        level(
            "committed",
            Bytes,
            "Memory promised to processes, used or not.",
        ),
        level("swap_total", Bytes, "Size of the swap areas."),
        level("swap_used", Bytes, "Swap space in use."),
    ],
    dimensions: &[word(
        "kind",
        "free, anonymous, file, shared, buffers, slab_reclaimable, slab_unreclaimable, \
         page_tables, kernel_stacks, per_cpu, zswap, hugepages, unaccounted.",
    )],
    tables: &[
        dense("memory", "memory", &["kind"], &["bytes"]),
        dense(
            "memory_state",
            "memory",
            &[],
            &[
                "available",
                "dirty",
                "writeback",
                "committed",
                "swap_total",
                "swap_used",
            ],
        ),
    ],
    ..PLAIN
};

pub(super) const VM: Subject = Subject {
    name: "vm",
    help: "What virtual memory did.",
    measures: &[
        sum(
            "paged_in",
            Bytes,
            "Read from block devices: files, swap and direct I/O.",
        ),
        sum(
            "paged_out",
            Bytes,
            "Written to block devices: files, swap and direct I/O.",
        ),
        sum("swapped_in", Bytes, "Read from swap."),
        sum("swapped_out", Bytes, "Written to swap."),
        sum("faults", Count, "Page faults, minor and major."),
        sum(
            "major_faults",
            Count,
            "Page faults that had to wait for I/O.",
        ),
        sum("dirtied", Bytes, "File pages changed."),
        sum(
            "written",
            Bytes,
            "Pages of files and of swap whose writing ended.",
        ),
        sum(
            "allocation_stalls",
            Count,
            "Allocations that had to reclaim memory themselves.",
        ),
        sum(
            "compaction_stalls",
            Count,
            "Allocations that had to wait for compaction.",
        ),
        sum("oom_kills", Count, "Processes killed for want of memory."),
        sum("scanned", Bytes, "Pages looked at for reclaim."),
        sum("reclaimed", Bytes, "Pages reclaimed."),
    ],
    dimensions: &[word(
        "reclaimer",
        "Who reclaimed: kswapd, direct, khugepaged, proactive.",
    )],
    tables: &[
        dense(
            "vm",
            "vm",
            &[],
            &[
                "paged_in",
                "paged_out",
                "swapped_in",
                "swapped_out",
                "faults",
                "major_faults",
                "dirtied",
                "written",
                "allocation_stalls",
                "compaction_stalls",
                "oom_kills",
            ],
        ),
        sparse(
            "vm_reclaim",
            "vm",
            &["reclaimer"],
            &["scanned", "reclaimed"],
        ),
    ],
    ..PLAIN
};
