//! fio, the flexible I/O tester: JSON, text, logs.

pub(crate) mod hist;
pub(crate) mod json;
pub(crate) mod log;
mod log_rows;
pub(crate) mod text;
mod totals;

/// A caveat.
const COMPLETION: &str = "fio was told not to measure the whole latency: `workload.time` is that \
                          from submission to completion";
/// Another.
const IN_TURN: &str = "fio does not tell when its groups of jobs ran: they are laid one after the \
                       other, the last up to the end";

/// For where that cannot be.
const BESIDE: &str = "fio does not tell when its groups of jobs ran, and some ran beside others: \
                      all are laid up to the end";
/// One more.
const MIXED: &str = "fio's `mixed` is the sum of read and write and was left out";
/// And the last.
const ALL_CLIENTS: &str = "fio's entry `All clients` is the sum of the others and was left out";

/// Whether a line beside fio's results is known to have none: errors, hints and the progress
/// that it shows meanwhile.
fn is_chatter(line: &[u8]) -> bool {
    const STARTS: [&str; 10] = [
        "fio",
        "note:",
        "Jobs:",
        "Starting ",
        "file ",
        "hint:",
        "Run status",
        "<",
        "client",
        "hostname=",
    ];
    let line = line.trim_ascii_start();
    let laying = memchr::memmem::find(line, b": Laying out IO file").is_some();
    let starts = |start: &&str| line.starts_with(start.as_bytes());
    line.is_empty() || laying || line == b"..." || STARTS.iter().any(starts)
}
