//! The two header lines of `zpool iostat`, as a list of columns.

use crate::fields;
use crate::number::{number, scaled, seconds};

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Bytes of the pool: taken and free, by the printed name.
    Space(&'static str),
    Ops(Op),
    Bytes(Op),
    /// Mean time of an I/O: of which wait, and of which I/Os.
    Wait(&'static str, Op),
    /// Mean time in the queue of scrubs, trims, rebuilds.
    QueueWait(&'static str),
    /// I/Os in a queue: which, and `pend` or `activ`.
    Queue(&'static str, &'static str),
    /// A script's (-c).
    Script(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Read,
    Write,
}

impl Op {
    pub(super) fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
        }
    }
}

const WAITS: [&str; 4] = ["total_wait", "disk_wait", "syncq_wait", "asyncq_wait"];
const QUEUES: [&str; 7] = [
    "syncq_read",
    "syncq_write",
    "asyncq_read",
    "asyncq_write",
    "scrubq_read",
    "trimq_write",
    "rebuildq_write",
];
const EXTRA_WAITS: [&str; 3] = ["scrub", "trim", "rebuild"];
const DEFAULT: [&str; 3] = ["capacity", "operations", "bandwidth"];

fn known(names: &[&'static str], name: &str) -> Option<&'static str> {
    names.iter().find(|n| **n == name).copied()
}

/// Whether a line is the upper header, of a table.
pub(super) fn is_top(line: &[u8]) -> bool {
    let mut words = fields(line);
    words.next() == Some(b"capacity") && words.next() == Some(b"operations")
}

/// Whether a line is the lower header, of a table.
pub(super) fn is_bottom(line: &[u8]) -> bool {
    let mut words = fields(line);
    let first = matches!(words.next(), Some(b"pool" | b"vdev"));
    let second = matches!(words.next(), Some(b"alloc" | b"used"));
    first && second && matches!(words.next(), Some(b"free" | b"avail"))
}

/// The columns after the name; `None` where the headers do not fit each other.
pub(super) fn columns(top: &[String], bottom: &[String]) -> Option<Vec<Column>> {
    let tops: Vec<&str> = match top {
        [] => DEFAULT.to_vec(),
        _ => top.iter().map(String::as_str).collect(),
    };
    let mut tops = tops.into_iter();
    let mut found = Vec::new();
    let mut lower = bottom.iter().map(String::as_str).peekable();
    while lower.peek().is_some() {
        let Some(group) = tops.next() else {
            found.extend(lower.by_ref().map(|name| Column::Script(name.to_owned())));
            break;
        };
        let first = lower.next()?;
        if let Some(name) = known(&EXTRA_WAITS, group) {
            if first != "wait" {
                return None;
            }
            found.push(Column::QueueWait(name));
            continue;
        }
        found.extend(pair(group, first, lower.next()?)?);
    }
    Some(found)
}

/// Two columns below one heading.
fn pair(group: &str, first: &str, second: &str) -> Option<[Column; 2]> {
    let queue = known(&QUEUES, group);
    Some(match (first, second) {
        ("alloc", "free") if group == "capacity" => [Column::Space("alloc"), Column::Space("free")],
        ("used", "avail") if group == "capacity" => [Column::Space("used"), Column::Space("avail")],
        ("read", "write") if group == "operations" => [Op::Read, Op::Write].map(Column::Ops),
        ("read", "write") if group == "bandwidth" => [Op::Read, Op::Write].map(Column::Bytes),
        ("read", "write") => {
            let wait = known(&WAITS, group)?;
            [Op::Read, Op::Write].map(|op| Column::Wait(wait, op))
        }
        ("pend", "activ") => [
            Column::Queue(queue?, "pend"),
            Column::Queue(queue?, "activ"),
        ],
        _ => return None,
    })
}

/// The columns of rows without a header (`-H`), that many after the name: those of the flags -l and
/// -q, if they are `told`, or else the only set of that size.
///
/// # Errors
/// Where sets of several flags have that size, with their names.
pub(super) fn headless(
    count: usize,
    timed: bool,
    told: Option<[bool; 2]>,
) -> Result<Vec<Column>, &'static str> {
    let sets: Vec<Vec<Column>> = [false, true]
        .into_iter()
        .flat_map(|latency| [false, true].map(|queues| [latency, queues]))
        .filter(|flags| told.is_none_or(|told| told == *flags))
        .flat_map(|[latency, queues]| (1..=3).map(move |age| set(latency, queues, age)))
        .filter(|set| set.len() == count)
        .collect();
    let has_wait = |set: &&Vec<Column>| set.iter().any(|c| matches!(c, Column::Wait(..)));
    let fitting: Vec<&Vec<Column>> = sets.iter().filter(|s| !timed || has_wait(s)).collect();
    match fitting[..] {
        [only] => Ok(only.clone()),
        [first, .., last] if first == last => Ok(first.clone()),
        [] if told.is_some() => Err("the flags of the command line do not print so many columns"),
        [] => Err("no flags of `zpool iostat` print so many columns"),
        _ => Err("both -l and -q print so many columns"),
    }
}

/// The columns that flags print, of releases of 2016, 2019 and 2022.
fn set(latency: bool, queues: bool, age: usize) -> Vec<Column> {
    let mut columns = vec![Column::Space("alloc"), Column::Space("free")];
    columns.extend([Op::Read, Op::Write].map(Column::Ops));
    columns.extend([Op::Read, Op::Write].map(Column::Bytes));
    if latency {
        for wait in WAITS {
            columns.extend([Op::Read, Op::Write].map(|op| Column::Wait(wait, op)));
        }
        columns.extend(EXTRA_WAITS[..age].iter().map(|w| Column::QueueWait(w)));
    }
    if queues {
        for queue in &QUEUES[..4 + age] {
            columns.extend(["pend", "activ"].map(|state| Column::Queue(queue, state)));
        }
    }
    columns
}

/// A value in base units; NaN where there is none (`-`). `None` if it is no value of such a
/// column.
pub(super) fn value(column: &Column, text: &[u8]) -> Option<f64> {
    if text == b"-" {
        return Some(f64::NAN);
    }
    match column {
        Column::Wait(..) | Column::QueueWait(_) => wait(text),
        Column::Script(_) => Some(scaled(text, 1024.0).unwrap_or(f64::NAN)),
        _ => scaled(text, 1024.0).filter(|v| *v >= 0.0),
    }
}

/// A time with its unit, or whole nanoseconds (-p).
pub(super) fn wait(text: &[u8]) -> Option<f64> {
    seconds(text)
        .or_else(|| number(text).map(|ns| ns / 1e9))
        .filter(|v| *v >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn headers_of_all_flags() {
        let plain = words("alloc free read write read write");
        let top = words("capacity operations bandwidth");
        assert_eq!(columns(&top, &plain), Some(set(false, false, 1)));
        assert_eq!(columns(&[], &plain), Some(set(false, false, 1)));
        let top = words(
            "capacity operations bandwidth total_wait disk_wait syncq_wait asyncq_wait scrub trim",
        );
        let lower = words(
            "alloc free read write read write read write read write read write read write wait wait",
        );
        assert_eq!(columns(&top, &lower), Some(set(true, false, 2)));
        assert_eq!(columns(&top, &lower[..13]), None);
        let top = words("capacity operations bandwidth");
        let lower = words("used avail read write read write model");
        let with_script = columns(&top, &lower).unwrap();
        assert_eq!(with_script[0], Column::Space("used"));
        assert_eq!(with_script[6], Column::Script("model".into()));
    }

    #[test]
    fn rows_without_a_header() {
        assert_eq!(headless(6, false, None), Ok(set(false, false, 1)));
        assert_eq!(headless(17, false, None), Ok(set(true, false, 3)));
        assert_eq!(
            headless(16, false, None),
            Err("both -l and -q print so many columns")
        );
        assert_eq!(headless(16, true, None), Ok(set(true, false, 2)));
        let told = |flags| headless(16, false, Some(flags));
        assert_eq!(told([true, false]), Ok(set(true, false, 2)));
        assert_eq!(told([false, true]), Ok(set(false, true, 1)));
        // Those of a script.
        assert!(told([false, false]).is_err());
        assert_eq!(headless(18, false, None), Ok(set(false, true, 2)));
        assert!(headless(5, false, None).is_err());
    }

    #[test]
    fn values_in_base_units() {
        assert_eq!(value(&Column::Ops(Op::Read), b"13.7K"), Some(14_028.8));
        assert_eq!(
            value(&Column::Wait("disk_wait", Op::Read), b"3ms"),
            Some(0.003)
        );
        assert_eq!(value(&Column::QueueWait("scrub"), b"1500"), Some(1.5e-6));
        assert!(value(&Column::Bytes(Op::Write), b"-").unwrap().is_nan());
        assert_eq!(value(&Column::Bytes(Op::Write), b"x"), None);
        assert_eq!(value(&Column::Ops(Op::Read), b"3ms"), None);
    }
}
