//! Processes.

use super::{PLAIN, Subject, level, sparse, sum, word};
use crate::Unit::{Bytes, Count, Seconds};

pub(super) const PROCESS: Subject = Subject {
    name: "process",
    help: "Processes: the largest by CPU, disk bytes and memory; the rest as one.",
    measures: &[
        sum("time", Seconds, "Processor time."),
        sum(
            "major_faults",
            Count,
            "Page faults that had to wait for I/O.",
        ),
        level(
            "resident",
            Bytes,
            "Resident memory; pages that are shared count in each.",
        ),
        level("threads", Count, "Threads, all processes added."),
        sum(
            "bytes",
            Bytes,
            "Bytes that reached, or will reach, a block device.",
        ),
    ],
    dimensions: &[
        word(
            "process",
            "Process, as name[pid@start]; (other) for the rest; (exited) for children \
             that ended and were waited for.",
        ),
        word(
            "command",
            "Name of the program, as the kernel keeps it (15 bytes).",
        ),
        word(
            "mode",
            "user, system; guest, where a tool tells it apart from user.",
        ),
        word("op", "read or write."),
    ],
    tables: &[
        sparse(
            "process",
            "process",
            &["process", "command", "mode"],
            &["time"],
        ),
        sparse(
            "process_memory",
            "process",
            &["process", "command"],
            &["major_faults", "resident", "threads"],
        ),
        sparse(
            "process_io",
            "process",
            &["process", "command", "op"],
            &["bytes"],
        ),
    ],
    ..PLAIN
};
