//! What the columns of a process are, in the catalog or beside it.

use crate::number::{number, scaled};
use crate::out::Out;
use crate::tools::sysstat::sheet::Sheet;
use crate::tools::sysstat::{KIB, unit_of};

/// Puts a column of a process and its program; those of a thread are in its process's already.
pub(in super::super) fn put(
    sheet: &mut Sheet,
    out: &mut Out,
    [process, program]: [&[u8]; 2],
    thread: bool,
    name: &str,
    value: f64,
) {
    match place(name).filter(|_| !thread) {
        Some((table, Some(word), measure, factor)) => {
            let words = [process, program, word.as_bytes()];
            sheet.set(out, table, &words, measure, value * factor);
        }
        Some((table, None, measure, factor)) => {
            sheet.set(out, table, &[process, program], measure, value * factor);
        }
        None => sheet.other(out, name, unit(name), process, value),
    }
}

/// A number; with `--human` a share has its sign behind, and a size a letter: steps of 1,024
/// from bytes on, made the column's KiB here.
pub(super) fn value(field: &[u8], unit: &str) -> Option<f64> {
    if field == b"-" {
        return Some(f64::NAN);
    }
    let plain = number(field.strip_suffix(b"%").unwrap_or(field));
    plain.or_else(|| {
        let sized = unit.starts_with("KiB") && field.last().is_some_and(u8::is_ascii_alphabetic);
        scaled(field, KIB)
            .filter(|_| sized)
            .map(|bytes| bytes / KIB)
    })
}

/// Where a column goes: table, its third word, measure, factor.
fn place(name: &str) -> Option<(&'static str, Option<&'static str>, &'static str, f64)> {
    Some(match name {
        "%usr" | "%user" => ("process", Some("user"), "time", 0.01),
        "%system" => ("process", Some("system"), "time", 0.01),
        "%guest" => ("process", Some("guest"), "time", 0.01),
        "majflt/s" => ("process_memory", None, "major_faults", 1.0),
        "RSS" => ("process_memory", None, "resident", KIB),
        "threads" => ("process_memory", None, "threads", 1.0),
        "kB_rd/s" => ("process_io", Some("read"), "bytes", KIB),
        "kB_wr/s" => ("process_io", Some("write"), "bytes", KIB),
        _ => return None,
    })
}

pub(super) fn unit(name: &str) -> &'static str {
    match name {
        "VSZ" | "RSS" | "StkSize" | "StkRef" => "KiB",
        "iodelay" => "clock ticks",
        _ if name.ends_with("-ms") => "ms",
        _ => unit_of(name),
    }
}

/// The program's name. Without `-l` the kernel's, which may hold blanks and has 15 bytes at
/// most; with it the whole command line.
pub(in super::super) fn program(command: &[u8]) -> &[u8] {
    let path = command.first() == Some(&b'/') || command.starts_with(b"./");
    if !path && (command.len() <= 15 || !command.contains(&b' ')) {
        return command;
    }
    let first = command.split(|b| *b == b' ').next().unwrap_or(command);
    if path {
        first.rsplit(|b| *b == b'/').next().unwrap_or(first)
    } else {
        first
    }
}

#[cfg(test)]
mod tests {
    use super::{program, value};

    #[test]
    fn sizes_and_shares_for_people() {
        for (field, unit, wanted) in [
            ("55.0M", "KiB", Some(56320.0)),
            ("512.0B", "KiB/s", Some(0.5)),
            ("1.5k", "KiB", Some(1.5)),
            ("12.3%", "%", Some(12.3)),
            ("12.3", "KiB", Some(12.3)),
            ("55.0M", "", None),
            ("x", "KiB", None),
        ] {
            assert_eq!(value(field.as_bytes(), unit), wanted, "{field}");
        }
        assert!(value(b"-", "").is_some_and(f64::is_nan));
    }

    #[test]
    fn programs_of_commands() {
        for (command, name) in [
            ("ksoftirqd/0", "ksoftirqd/0"),
            ("Web Content", "Web Content"),
            ("pidstat -dlrsuwh 2 5", "pidstat"),
            ("/usr/bin/python3 -m x", "python3"),
            ("kworker/0:1H-kblockd", "kworker/0:1H-kblockd"),
            ("", ""),
        ] {
            assert_eq!(program(command.as_bytes()), name.as_bytes());
        }
    }
}
