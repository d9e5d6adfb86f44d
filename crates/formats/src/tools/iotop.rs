//! `iotop -b` of Linux, in Python (0.4 to 0.6) and C (iotop-c): what processes or threads read and
//! wrote, also with `-t`, `-P`, `-o`, `-k`, `-a` and `-q`.
//!
//! ```text
//! Total DISK READ:         3.98 K/s | Total DISK WRITE:        35.82 K/s
//! Current DISK READ:      15.92 K/s | Current DISK WRITE:       9.64 M/s
//!     TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN      IO    COMMAND
//!   12505 be/4 root        0.00 B/s   31.84 K/s  0.00 %  1.20 % [kworker/u8:7-writeback]
//! ```
//!
//! Letters are steps of 1,024 (`human_size` in its `ui.py`). Written is less what was cancelled.
//! `Current` (`Actual` before 0.6) is what went to the disks, from `pgpgin` and `pgpgout` of
//! `/proc/vmstat`. The first report is of no interval: all that it compares with is itself, so
//! that its zeros say nothing. With `-a` rows are sums since the tool was started, without `/s`.

use std::collections::{HashMap, HashSet};

use crate::list::Format;
use crate::number::decimal;
use crate::out::{Out, Shape};
use crate::prompt::is_chatter;
use crate::recognise::Head;
use crate::stamp_line::stamp_of;
use crate::time::{Stamp, time_of_day};
use crate::{Line, Parser, echo, fields};

const KIB: f64 = 1024.0;

/// Of a sum that grew by less than so many times its last digit nobody knows how much it was.
const SURE: f64 = 100.0;

pub(crate) const FORMAT: Format = Format {
    name: "iotop",
    tool: "iotop",
    systems: "Linux",
    help: "bytes that processes or threads read and wrote, and that the disks did",
    recognised: "a line `Total DISK READ: … | Total DISK WRITE: …`, or the header `TID PRIO USER \
                 DISK READ DISK WRITE SWAPIN IO COMMAND`",
    yields: &["process_io", "vm"],
    example: "\
Total DISK READ:         0.00 B/s | Total DISK WRITE:         0.00 B/s
Current DISK READ:       0.00 B/s | Current DISK WRITE:       0.00 B/s
    TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN      IO    COMMAND
      1 be/4 root        0.00 B/s    0.00 B/s  0.00 %  0.00 % init
Total DISK READ:         3.98 K/s | Total DISK WRITE:        35.82 K/s
Current DISK READ:      15.92 K/s | Current DISK WRITE:       9.64 M/s
    TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN      IO    COMMAND
      1 be/4 root        3.98 K/s   35.82 K/s  0.00 %  1.20 % init
",
    recognise,
    parser: || Box::new(Iotop::new()),
};

fn recognise(head: &Head) -> u8 {
    let of_iotop = |l: &[u8]| totals(without_time(l).1).is_some() || is_header(l);
    // With -qqq there are rows alone.
    let rows = head.lines().filter(|l| row(without_time(l).1).is_some());
    if head.lines().any(of_iotop) {
        90
    } else if rows.take(3).count() == 3 {
        80
    } else {
        0
    }
}

fn is_header(line: &[u8]) -> bool {
    let all: Vec<&[u8]> = fields(line).collect();
    let all = all.strip_prefix(&[&b"TIME"[..]]).unwrap_or(&all);
    matches!(
        all,
        [
            b"TID" | b"PID",
            b"PRIO",
            b"USER",
            b"DISK",
            b"READ",
            b"DISK",
            b"WRITE",
            ..
        ]
    )
}

/// The time of day that `-t` puts before each line, and the rest.
fn without_time(line: &[u8]) -> (Option<Stamp>, &[u8]) {
    let line = line.trim_ascii();
    let split = line.split_at_checked(8);
    let found = split.and_then(|(time, rest)| {
        let is_apart = rest.first().is_some_and(u8::is_ascii_whitespace);
        let time = time_of_day(time, None).filter(|_| is_apart)?;
        Some((Some(Stamp::Clock(time)), rest.trim_ascii_start()))
    });
    found.unwrap_or((None, line))
}

/// Bytes of a number and its unit, whether they are per second, and what its last digit is worth.
fn bytes(number: &[u8], unit: &[u8]) -> Option<(f64, bool, f64)> {
    let (unit, rate) = match unit.strip_suffix(b"/s") {
        Some(unit) => (unit, true),
        None => (unit, false),
    };
    let [letter] = unit else { return None };
    let power = b"BKMGTPE".iter().position(|l| l == letter)?;
    let factor = KIB.powi(i32::try_from(power).ok()?);
    Some((decimal(number)? * factor, rate, 0.01 * factor))
}

/// Whether the line is of the disks, and what was read and written a second.
fn totals(line: &[u8]) -> Option<(bool, [f64; 2])> {
    let bar = line.iter().position(|b| *b == b'|')?;
    let part = |text: &[u8], op: &[u8]| {
        let colon = text.iter().position(|b| *b == b':')?;
        let (names, value) = text.split_at(colon);
        let names: Vec<&[u8]> = fields(names).collect();
        let value: Vec<&[u8]> = fields(&value[1..]).collect();
        let [of, b"DISK", what] = names[..] else {
            return None;
        };
        let of_disks = match of {
            b"Total" => false,
            b"Actual" | b"Current" => true,
            _ => return None,
        };
        let [number, unit] = value[..] else {
            return None;
        };
        let (value, rate, _) = bytes(number, unit)?;
        (rate && what == op).then_some((of_disks, value))
    };
    let (of_disks, read) = part(&line[..bar], b"READ")?;
    let (same, written) = part(&line[bar + 1..], b"WRITE")?;
    (of_disks == same).then_some((of_disks, [read, written]))
}

/// A process or thread.
struct Row<'a> {
    id: &'a [u8],
    /// Read and written: bytes, and what the last digit is worth.
    moved: [(f64, f64); 2],
    rate: bool,
    /// Shares of `SWAPIN` and `IO`, where the kernel tells them.
    waits: Option<[f64; 2]>,
    command: &'a [u8],
}

fn row(line: &[u8]) -> Option<Row<'_>> {
    let all: Vec<&[u8]> = fields(line).collect();
    let &[
        id,
        _,
        _,
        read,
        read_unit,
        written,
        written_unit,
        ref rest @ ..,
    ] = &all[..]
    else {
        return None;
    };
    let (read, rate, read_digit) = bytes(read, read_unit)?;
    let (written, same, written_digit) = bytes(written, written_unit)?;
    let (waits, command) = match *rest {
        [b"?unavailable?", command, ..] => (None, command),
        [swap, b"%", io, b"%", command, ..] => (Some([decimal(swap)?, decimal(io)?]), command),
        _ => return None,
    };
    let start = command.as_ptr() as usize - line.as_ptr() as usize;
    (id.iter().all(u8::is_ascii_digit) && rate == same).then_some(Row {
        id,
        moved: [(read, read_digit), (written, written_digit)],
        rate,
        waits,
        command: &line[start..],
    })
}

/// The program of a command line; that of a kernel's thread stands in brackets.
fn program(command: &[u8]) -> &[u8] {
    let kernel = command
        .strip_prefix(b"[")
        .and_then(|c| c.strip_suffix(b"]"));
    let first = fields(command).next().unwrap_or(command);
    kernel.unwrap_or_else(|| {
        let first = first.strip_suffix(b":").unwrap_or(first);
        match first {
            [b'/', ..] | [b'.', b'/', ..] => first.rsplit(|b| *b == b'/').next().unwrap_or(first),
            _ => first,
        }
    })
}

struct Iotop {
    process: Shape,
    disks: Shape,
    /// Reports since the tool was started.
    reports: u64,
    /// The time of the present report, and whether it has a row.
    at: Option<Stamp>,
    has_rows: bool,
    /// There are totals, which begin each report.
    has_totals: bool,
    /// Processes and threads of the present report, where nothing else begins one.
    here: HashSet<Vec<u8>>,
    /// With `-a`: the sums so far.
    sums: HashMap<Vec<u8>, [f64; 2]>,
}

impl Iotop {
    fn new() -> Iotop {
        Iotop {
            process: Shape::of("process_io", &["bytes"]),
            disks: Shape::of("vm", &["paged_in", "paged_out"]),
            reports: 0,
            at: None,
            has_rows: false,
            has_totals: false,
            here: HashSet::new(),
            sums: HashMap::new(),
        }
    }

    fn begin(&mut self, stamp: Option<Stamp>, out: &mut Out) {
        out.sample_since_boot_first(stamp);
        if self.reports == 0 {
            out.since_boot();
        }
        self.reports += 1;
        self.at = stamp;
        self.has_rows = false;
        self.here.clear();
    }

    fn is_first(&self) -> bool {
        self.reports == 1
    }

    /// `Total DISK READ: … | Total DISK WRITE: …`, or what the disks did.
    fn totals(&self, of_disks: bool, [read, written]: [f64; 2], out: &mut Out) -> Line {
        if self.is_first() && read + written == 0.0 {
            return Line::Noise;
        }
        if of_disks {
            out.put(&self.disks, &[], &[read, written]);
        } else {
            let none = out.word(b"");
            out.other("Total DISK READ", "bytes/s", none, read);
            out.other("Total DISK WRITE", "bytes/s", none, written);
        }
        Line::Data
    }

    fn row(&mut self, row: &Row, out: &mut Out) -> Line {
        self.has_rows = true;
        let values = row.moved.map(|(value, _)| value);
        let idle = values == [0.0; 2] && row.waits.is_none_or(|w| w == [0.0; 2]);
        if self.is_first() && idle {
            return Line::Noise;
        }
        let program = program(row.command);
        let process = [program, b"[", row.id, b"]"].concat();
        let [name, command] = [&process[..], program].map(|w| out.word(w));
        let ops = [out.word(b"read"), out.word(b"write")];
        if row.rate {
            for (op, value) in ops.into_iter().zip(values) {
                out.put(&self.process, &[name, command, op], &[value]);
            }
        } else {
            // What was not listed before had moved nothing.
            let before = self.sums.insert(process, values).unwrap_or_default();
            for ((op, (value, digit)), before) in ops.into_iter().zip(row.moved).zip(before) {
                let grew = value - before;
                if self.is_first() {
                    out.put_since_boot(&self.process, &[name, command, op], &[value]);
                } else if grew == 0.0 || grew >= SURE * digit {
                    out.put_amounts(&self.process, &[name, command, op], &[grew]);
                }
            }
        }
        // With -a they are shares of all the time since the tool was started.
        if let Some(waits) = row.waits.filter(|_| row.rate) {
            for (column, value) in ["SWAPIN", "IO"].into_iter().zip(waits) {
                out.other(column, "%", name, value);
            }
        }
        Line::Data
    }

    /// A line that is no report's.
    fn between(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(arguments) = echo::command(line, "iotop") {
            let delay = echo::value(&arguments, &["-d", "--delay"]).and_then(decimal);
            out.broken();
            out.every(delay.unwrap_or(1.0));
            self.reports = 0;
            self.sums.clear();
            return Line::Noise;
        }
        match stamp_of(line, out) {
            Ok(Some(Stamp::Civil(at) | Stamp::Zoned(at, _))) => {
                out.date(at.date());
                self.reports = 0;
                self.sums.clear();
                Line::Noise
            }
            Ok(None) if is_chatter(line) || line.starts_with(b"CONFIG_TASK_DELAY_ACCT") => {
                Line::Noise
            }
            Ok(_) => Line::Unknown,
            Err(why) => {
                out.refuse(why);
                Line::Noise
            }
        }
    }
}

impl Parser for Iotop {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let (stamp, rest) = without_time(line);
        if rest.is_empty() {
            return Line::Noise;
        }
        if let Some((of_disks, values)) = totals(rest) {
            // Of `grep Current` there are no others.
            if !of_disks || !self.has_totals {
                self.begin(stamp, out);
                self.has_totals |= !of_disks;
            }
            return self.totals(of_disks, values, out);
        }
        // With -qqq there are neither totals nor headers: what comes again or later begins a report.
        let begins = !self.has_totals || self.reports == 0;
        if is_header(rest) {
            if begins && (self.reports == 0 || self.has_rows) {
                self.begin(stamp, out);
            }
            return Line::Noise;
        }
        if let Some(row) = row(rest) {
            let later = stamp.is_some() && stamp != self.at;
            let again = self.here.contains(row.id);
            if begins && (self.reports == 0 || later || again) {
                self.begin(stamp, out);
            }
            if begins {
                self.here.insert(row.id.to_vec());
            }
            return self.row(&row, out);
        }
        self.between(line, out)
    }
}
