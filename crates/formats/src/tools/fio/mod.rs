//! fio, the flexible I/O tester: JSON, text, logs.

mod beside;
pub(crate) mod hist;
pub(crate) mod json;
pub(crate) mod log;
mod log_jobs;
mod log_rows;
pub(crate) mod terse;
pub(crate) mod text;
mod text_fields;
mod text_job;
mod text_part;
mod text_rows;
mod totals;

use crate::number::whole;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Stamp;

/// Major and minor version in `fio-3.36` and `fio-2.21-88-gabc`.
fn version_in(text: &[u8]) -> Option<[u32; 2]> {
    let rest = text.strip_prefix(b"fio-")?;
    let number = |digits: &[u8]| whole(digits).and_then(|n| u32::try_from(n).ok());
    let mut parts = rest.split(|b| !b.is_ascii_digit());
    Some([number(parts.next()?)?, number(parts.next()?)?])
}

/// The version of fio that printed a JSON document or a text. Logs do not tell theirs.
pub fn fio_version(head: &Head) -> Option<[u32; 2]> {
    let after = |text: &'_ [u8], sign: &str| {
        let at = memchr::memmem::find(text, sign.as_bytes())?;
        version_in(&text[at + sign.len() - "fio-".len()..])
    };
    let mut lines = head.lines().map(<[u8]>::trim_ascii);
    lines.find_map(|line| {
        let spaced = after(line, "\"fio version\" : \"fio-");
        spaced
            .or_else(|| after(line, "\"fio version\":\"fio-"))
            .or_else(|| after(line, "\"fio version\": \"fio-"))
            .or_else(|| version_in(line))
    })
}

/// The version in what a user says: `2.21` or `fio-2.21`.
pub fn fio_version_of(text: &str) -> Option<[u32; 2]> {
    version_in(format!("fio-{}", text.trim_start_matches("fio-")).as_bytes())
}

/// The present sample ends at `end` and is of `current` seconds; another begins for a direction that
/// ran for another time, as reads do that verify what was written: its rates are those of its own.
fn ran_for(seconds: f64, current: &mut f64, end: Stamp, out: &mut Out) {
    // Both ends of a run differ by some milliseconds.
    const SAME: f64 = 0.01;
    let differs = (seconds - *current).abs() > SAME * *current;
    if seconds.is_nan() || seconds <= 0.0 || !differs {
        return;
    }
    *current = seconds;
    out.sample_beside(end);
    out.spans(seconds);
    out.note(
        "a job's directions ran for different times: each has its own interval, laid up to the \
         job's end, though fio does not tell when they ran",
    );
}

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
    let has = |part: &[u8]| memchr::memmem::find(line, part).is_some();
    // `rr: (g=0): rw=randread, bs=…` says what will be done.
    let laying = has(b": Laying out IO file") || has(b": (g=") && has(b"): rw=");
    let has_none = has(b": No I/O performed by ");
    let starts = |start: &&str| line.starts_with(start.as_bytes());
    line.is_empty() || laying || has_none || line == b"..." || STARTS.iter().any(starts)
}
