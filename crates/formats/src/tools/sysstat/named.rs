//! Fields of a line: headers, the columns that name an instance, and values.

use super::KIB;
use crate::number::{is_undefined, number, scaled};

/// Columns that name what a row is of.
pub(super) const KNOWN: [&str; 21] = [
    "CPU",
    "cpu",
    "INTR",
    "DEV",
    "IFACE",
    "TTY",
    "BUS",
    "FAN",
    "TEMP",
    "IN",
    "FILESYSTEM",
    "MOUNTPOINT",
    "DEVICE",
    "device",
    "NODE",
    "FCHOST",
    "BAT",
    "CORE",
    "SOCK",
    "PID",
    "PPID",
];

/// Whether no field is a number, as in a header. Of the last word the beginning may be left, `%`
/// or the digits of an interrupt.
pub(super) fn is_header(all: &[&[u8]]) -> bool {
    let word = |f: &&[u8]| {
        value(f).is_none() && scaled(f, 1024.0).is_none() && f.iter().any(u8::is_ascii_alphabetic)
    };
    let (last, before) = match all.split_last() {
        Some((last, before)) if !before.is_empty() => (last, before),
        _ => return all.iter().all(word),
    };
    let rates = || before.len() > 2 && before[1..].iter().all(|n| n.ends_with(b"/s"));
    let stump = *last == b"%" || last.iter().all(u8::is_ascii_digit) && rates();
    before.iter().all(word)
        && (word(last) || stump)
        && all
            .iter()
            .filter(|f| KNOWN.iter().any(|k| k.as_bytes() == **f))
            .count()
            < 5
}

/// A number; of `84/30000`, used and there, the first; what is not told is not known.
pub(super) fn value(field: &[u8]) -> Option<f64> {
    if matches!(field, b"N/A" | b"-") || is_undefined(field) {
        return Some(f64::NAN);
    }
    match memchr::memchr(b'/', field) {
        Some(at) if at > 0 => {
            number(&field[at + 1..])?;
            number(&field[..at])
        }
        _ => number(field.strip_suffix(b"%").unwrap_or(field)),
    }
}

/// A value of `--human`, with a letter for its unit, in the column's own.
pub(super) fn for_people(column: &str, field: &[u8]) -> Option<f64> {
    let bytes = scaled(field, 1024.0)?;
    if column.starts_with("kb") || column.contains("kB") || column == "areq-sz" {
        Some(bytes / KIB)
    } else if column.starts_with("MB") {
        Some(bytes / (KIB * KIB))
    } else {
        None
    }
}

/// The columns that name what a row is of.
pub(super) fn instances(names: &[String]) -> Vec<usize> {
    let known = names.iter().enumerate();
    known
        .filter(|(_, n)| KNOWN.contains(&n.as_str()))
        .map(|(i, _)| i)
        .collect()
}
