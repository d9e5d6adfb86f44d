//! Files of `nmon`, of AIX and Linux.
//!
//! ```text
//! AAA,host,box
//! AAA,interval,10
//! CPU_ALL,CPU Total box,User%,Sys%,Wait%,Idle%,Busy,CPUs
//! DISKREAD,Disk Read KB/s box,sda,sdb
//! ZZZZ,T0001,11:26:00,15-SEP-2022
//! CPU_ALL,T0001,1.5,0.5,0.1,97.9,,4
//! DISKREAD,T0001,12.5,0.0
//! ```
//!
//! A section's header names its columns; `ZZZZ` tells the time of the lines after it. Numbers
//! are means per second, shares in percent, or levels; KB are 1,024 bytes, MB 1,048,576.

mod rows;
mod sorted;

use std::collections::HashMap;

use jiff::civil::Date;

use crate::list::Format;
use crate::number::{is_undefined, number, whole};
use crate::out::Out;
use crate::recognise::Head;
use crate::stamp_line::month_named;
use crate::time::{Stamp, time_of_day};
use crate::{Line, Parser};
use sorted::Sorted;

pub(crate) const FORMAT: Format = Format {
    name: "nmon",
    tool: "nmon",
    systems: "AIX, Linux",
    help: "processors, memory, disks, networks and processes, as recorded by nmon -f",
    recognised: "lines `AAA,…` and `ZZZZ,T0001,…`",
    yields: &[
        "cpu",
        "cpu_idle",
        "system",
        "memory",
        "memory_state",
        "vm",
        "disk",
        "disk_device",
        "net",
        "process",
        "process_memory",
    ],
    example: "\
AAA,progname,nmon
AAA,host,box
AAA,interval,10
CPU_ALL,CPU Total box,User%,Sys%,Wait%,Idle%,Busy,CPUs
DISKREAD,Disk Read KB/s box,sda,sdb
ZZZZ,T0001,11:26:00,15-SEP-2022
CPU_ALL,T0001,1.5,0.5,0.1,97.9,,4
DISKREAD,T0001,12.5,0.0
",
    recognise,
    parser: || Box::new(Nmon::new()),
};

fn recognise(head: &Head) -> u8 {
    let begins = |start: &str| head.any_starts(start);
    if begins("AAA,progname") || begins("ZZZZ,T0") {
        95
    } else if begins("AAA,host") || begins("AAA,interval") {
        85
    } else {
        0
    }
}

struct Nmon {
    /// Columns of each section.
    columns: HashMap<Vec<u8>, Vec<String>>,
    rows: rows::Rows,
    /// The snapshot whose lines come, as `T0001`.
    snapshot: Option<Vec<u8>>,
    /// The same snapshot came before: it is not counted twice.
    twice: bool,
    last: Option<Stamp>,
    of_linux: bool,
    /// The lines were sorted: they wait for their times.
    sorted: Option<Sorted>,
}

impl Nmon {
    fn new() -> Nmon {
        Nmon {
            columns: HashMap::new(),
            rows: rows::Rows::new(),
            snapshot: None,
            twice: false,
            last: None,
            of_linux: false,
            sorted: None,
        }
    }

    /// What the file says of itself.
    fn about(&mut self, all: &[&[u8]], out: &mut Out) {
        match *all {
            [_, b"host", name, ..] => out.host(name),
            [_, b"interval", seconds, ..] => {
                if let Some(seconds) = number(seconds) {
                    out.every(seconds);
                }
            }
            [_, b"cpus", count, ..] => {
                if let Some(count) = whole(count).and_then(|c| u32::try_from(c).ok()) {
                    out.has_processors(count.max(1));
                }
            }
            [_, b"AIX", ..] => self.rows.is_aix = true,
            [_, b"OS", b"Linux", ..] => self.of_linux = true,
            [_, b"date", date, ..] => {
                if let Some(date) = day(date) {
                    out.date(date);
                }
            }
            _ => {}
        }
    }

    /// `ZZZZ,T0001,11:26:00,15-SEP-2022`.
    fn begin(&mut self, all: &[&[u8]], out: &mut Out) -> Line {
        let (Some(name), Some(time)) = (all.get(1), all.get(2).and_then(|t| time_of_day(t, None)))
        else {
            return Line::Unknown;
        };
        let stamp = match all.get(3) {
            None | Some([]) => Stamp::Clock(time),
            Some(date) => match day(date) {
                Some(date) => Stamp::Civil(date.to_datetime(time)),
                None => {
                    out.fault("the date", date);
                    return Line::Unknown;
                }
            },
        };
        self.rows.finish(out);
        self.twice = self.snapshot.as_deref() == Some(*name) && self.last == Some(stamp);
        if self.twice {
            out.note("a snapshot that comes twice is counted once");
            return Line::Noise;
        }
        self.snapshot = Some(name.to_vec());
        self.last = Some(stamp);
        out.sample_once(Some(stamp));
        if self.of_linux && *name == FIRST {
            out.spans(BEFORE_FIRST);
        }
        Line::Noise
    }

    fn data(&mut self, section: &[u8], values: &[&[u8]], out: &mut Out) -> Line {
        // With -U headers count processors from 1 and rows from 0 (nmon 16m).
        let of_each = section
            .starts_with(b"CPUUTIL0")
            .then_some(&b"CPUUTIL001"[..]);
        let columns = |section: &[u8]| self.columns.get(section);
        let Some(names) = columns(section).or_else(|| of_each.and_then(columns)) else {
            return Line::Unknown;
        };
        let mut values = values;
        while values.len() > names.len() && values.last().is_some_and(|v| v.is_empty()) {
            values = &values[..values.len() - 1];
        }
        if values.len() != names.len() {
            return Line::Unknown;
        }
        let mut n = Vec::new();
        for value in values {
            let unknown = |v: &[u8]| matches!(v, b"" | b"-") || is_undefined(v);
            match number(value.trim_ascii()) {
                // It stands for what this system does not tell: nothing of nmon is below zero.
                Some(-1.0) => n.push(f64::NAN),
                Some(value) => n.push(value),
                None if unknown(value.trim_ascii()) => n.push(f64::NAN),
                None => return Line::Unknown,
            }
        }
        self.rows.section(section, names, &n, out);
        Line::Data
    }
}

const FIRST: &[u8] = b"T0001";
/// What it sleeps before its first snapshot, whatever the interval (seen by `strace`, nmon 16m).
const BEFORE_FIRST: f64 = 1.0;

/// `15-SEP-2022`.
fn day(text: &[u8]) -> Option<Date> {
    let parts: Vec<&[u8]> = text.split(|b| matches!(b, b'-' | b'/')).collect();
    let &[day, month, year] = &parts[..] else {
        return None;
    };
    let month = month_named(month)?;
    let year_number = i16::try_from(whole(year)?).ok()?;
    let year = if year.len() == 2 {
        2000 + year_number
    } else {
        year_number
    };
    Date::new(year, month, i8::try_from(whole(day)?).ok()?).ok()
}

/// Whether a field names a snapshot.
fn is_snapshot(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"T").unwrap_or_default();
    digits.len() >= 4 && digits.iter().all(u8::is_ascii_digit)
}

impl Parser for Nmon {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Line::Noise;
        }
        let all: Vec<&[u8]> = line.split(|b| *b == b',').collect();
        let section = all[0];
        match section {
            b"AAA" => {
                self.about(&all, out);
                return Line::Noise;
            }
            b"ZZZZ" => {
                if let (Some(sorted), Some(name)) = (&mut self.sorted, all.get(1)) {
                    sorted.keep(name, line, true, out);
                    return Line::Noise;
                }
                return self.begin(&all, out);
            }
            _ if section.starts_with(b"BBB") || section == b"ERROR" || section == b"UARG" => {
                return Line::Noise;
            }
            _ => {}
        }
        let plain = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        if all.len() < 2 || section.is_empty() || !section.iter().all(plain) {
            return Line::Unknown;
        }
        // Of processes the snapshot comes after the number.
        let at = if section == b"TOP" { 2 } else { 1 };
        let snapshot = all.get(at).copied().unwrap_or_default();
        if !is_snapshot(snapshot) {
            let from = if section == b"TOP" { 1 } else { 2 };
            let mut names: Vec<String> = all
                .iter()
                .skip(from)
                .map(|n| String::from_utf8_lossy(n.trim_ascii()).into_owned())
                .collect();
            while names.last().is_some_and(String::is_empty) {
                names.pop();
            }
            if section == b"TOP" && names.first().map(String::as_str) != Some("+PID") {
                return Line::Noise;
            }
            self.columns.insert(section.to_vec(), names);
            return Line::Noise;
        }
        // Before any time there are lines of a snapshot only where they were sorted. Then a header
        // may come after them.
        let sorted = self.sorted.is_some() || self.columns.contains_key(section);
        if self.snapshot.is_none() && sorted {
            let sorted = self.sorted.get_or_insert_default();
            sorted.keep(snapshot, line, false, out);
            return Line::Data;
        }
        if self.snapshot.as_deref() != Some(snapshot) {
            return Line::Unknown;
        }
        if self.twice {
            return Line::Noise;
        }
        if section == b"TOP" {
            let names = self.columns.get(section).map(Vec::as_slice);
            return self.rows.process(names.unwrap_or_default(), &all[1..], out);
        }
        self.data(section, &all[2..], out)
    }

    fn end(&mut self, out: &mut Out) {
        if let Some(sorted) = self.sorted.take() {
            for (number, line) in sorted.in_order(out) {
                if self.line(&line, out) == Line::Unknown {
                    out.not_understood(number, &String::from_utf8_lossy(&line));
                }
            }
        }
        self.rows.finish(out);
    }
}
