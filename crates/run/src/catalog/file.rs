//! Files, as programs use them.

use super::{PLAIN, Stored, Subject, events, histogram, number, ratio, sparse, sum, word};
use crate::Unit::{Bytes, Seconds};

pub(super) const FILE: Subject = Subject {
    name: "file",
    help: "Operations on files, as programs ask for them. Recorded only with `--with file`: it \
           makes every system call of the machine dearer.",
    measures: &[
        sum(
            "ops",
            crate::Unit::Count,
            "System calls and requests of io_uring that ended.",
        ),
        sum("bytes", Bytes, "Bytes read, written and copied."),
        sum("time", Seconds, "Time of the operations added up."),
    ],
    dimensions: &[
        word(
            "op",
            "open, open-failed, close, read, write, copy, fsync, stat, access, list, unlink, \
             rename, truncate, allocate.",
        ),
        word(
            "file",
            "Path of the file; the name a program gave, where only that is known.",
        ),
        word(
            "filesystem",
            "Where its file system is mounted; (by name): only a name was given.",
        ),
        word("process", "Process that asked, as name[pid@start]."),
        word("command", "Name of the program that asked."),
        word("cgroup", "Control group of the process."),
        number("latency", Seconds, "From the call until it returned."),
        number("size", Bytes, "Bytes that it read or wrote."),
    ],
    tables: &[
        sparse(
            "file_path",
            "bpf-file",
            &["op", "file", "filesystem", "process", "command", "cgroup"],
            &["ops", "bytes", "time"],
        ),
        histogram(
            "file_latency",
            "bpf-file",
            &["op", "filesystem", "latency"],
            &["ops", "bytes"],
        ),
        histogram(
            "file_size",
            "bpf-file",
            &["op", "filesystem", "size"],
            &["ops", "bytes"],
        ),
        events(
            "file_event",
            "bpf-file",
            &[
                "op",
                "file",
                "filesystem",
                "process",
                "command",
                "cgroup",
                "latency",
                "size",
            ],
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
            "file.time",
            &["file.ops"],
            "Mean time of an operation.",
        ),
        ratio(
            "mean_size",
            Bytes,
            "file.bytes",
            &["file.ops"],
            "Mean size of an operation.",
        ),
    ],
    ..PLAIN
};
