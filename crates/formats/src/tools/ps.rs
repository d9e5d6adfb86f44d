//! `ps`, again and again: `aux`, `-ef`, `-eo` with any columns, of Linux, BSD, macOS, Solaris
//! and AIX.
//!
//! ```text
//!   PID USER     STAT %CPU   RSS    VSZ NLWP     TIME COMMAND
//!     1 root     Ss    0.6 22016  53848   13 00:03:45 /sbin/init splash
//! ```
//!
//! `TIME` counts the processor time since a process began: what it grew by between two reports
//! is the interval's; of one that was not in the report before that is unknown. `%CPU` is a mean over the life of a process (Linux, Solaris), or over the
//! last minute (BSD, macOS), so that it is kept as it is. RSS, VSZ and their like are KiB. How
//! many processes are in a state is told by the first letter of `STAT` or `S`.

use std::collections::BTreeMap;

use crate::list::Format;
use crate::number::{number, scaled, whole};
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::{Line, Parser, fields};

const KIB: f64 = 1024.0;

pub(crate) const FORMAT: Format = Format {
    name: "ps",
    tool: "ps",
    systems: "Linux, FreeBSD, macOS, Solaris, illumos, AIX",
    help: "processes, read repeatedly: processor time, memory, faults, states",
    recognised: "a header with `PID`, with `COMMAND`, `CMD` or `ARGS`, and `TIME`, `%CPU`, `RSS`, \
                 `VSZ` or `STAT` among its columns",
    yields: &["process", "process_memory"],
    example: "\
USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root         1  0.6  0.0  53848 22016 ?        Ss   Nov21   3:45 /sbin/init splash
me        2310 12.0  0.2 193848 32016 pts/0    R+   11:24   0:07 sort big file
",
    recognise: |head: &Head| {
        let found = head.headers().any(|l| header(l).is_some());
        if found { 75 } else { 0 }
    },
    parser: || Box::new(Ps::new()),
};

/// Columns with a command, and words of one that is not at the end: each way to take them is tried.
const MOST_COMMANDS: usize = 2;
const MOST_WORDS: usize = 64;

/// Whether the column has a command, in which there may be blanks.
fn is_command(name: &str) -> bool {
    matches!(name, "COMMAND" | "CMD" | "ARGS" | "UCMD" | "COMM")
}

/// The columns that a header names.
fn header(line: &[u8]) -> Option<Vec<String>> {
    let text = std::str::from_utf8(line).ok()?;
    let names: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let has = |wanted: &[&str]| names.iter().any(|n| wanted.contains(&n.as_str()));
    let ends = names.last().is_some_and(|n| is_command(n));
    let sized = has(&["%CPU", "RSS", "RSZ", "VSZ", "SZ", "STAT", "S", "TTY", "TT"]);
    // Those of top (`SHARE` is of procps 2, `#TH` and `MEM` of macOS), atop and of tracing tools, which look
    // alike.
    let others = has(&[
        "TIME+", "VIRT", "RES", "SHARE", "#TH", "SYSCPU", "PCOMM", "RET", "%VSZ", "MEM",
    ]);
    // bashreadline's header, whose times are those of the day; ps has its own at the right.
    if names == ["TIME", "PID", "COMMAND"] && line.starts_with(b"TIME") {
        return None;
    }
    let timed = has(&["TIME"]) && names.last().is_some_and(|n| n != "ARGS");
    // What traces has `COMM` between other columns, too.
    let found = ends && (sized || timed) || sized && has(&["COMMAND", "CMD"]);
    let sound = names.iter().filter(|n| is_command(n)).count() <= MOST_COMMANDS;
    (found && sound && has(&["PID"]) && !others && names.len() > 2).then_some(names)
}

/// Columns that are no numbers over time.
const SETTINGS: [&str; 38] = [
    "USER",
    "RUSER",
    "EUSER",
    "UID",
    "RUID",
    "EUID",
    "GID",
    "GROUP",
    "RGROUP",
    "PID",
    "PPID",
    "PGID",
    "PGRP",
    "SID",
    "SESS",
    "TPGID",
    "TID",
    "LWP",
    "SPID",
    "TTY",
    "TT",
    "STAT",
    "S",
    "START",
    "STIME",
    "STARTED",
    "WCHAN",
    "ADDR",
    "CLS",
    "POL",
    "NI",
    "PRI",
    "PSR",
    "F",
    "ZONE",
    "CGROUP",
    "NAMESPACE",
    "LABEL",
];

/// The unit of a column without a place, as the manual has it, and a factor to it.
fn unit(name: &str) -> (&'static str, f64) {
    match name {
        "VSZ" | "RSZ" | "TRS" | "DRS" | "TSIZ" | "DSIZ" | "SIZE" | "SWAP" | "PSS" | "USS" => {
            ("bytes", KIB)
        }
        "%CPU" | "%MEM" | "C" | "CP" => ("%", 1.0),
        "ELAPSED" => ("s", 1.0),
        _ => ("", 1.0),
    }
}

/// Bytes of a size in KiB; that of `BusyBox` has five characters, as `204m`.
fn bytes(text: &[u8]) -> Option<f64> {
    match text.last() {
        Some(b'0'..=b'9') => number(text).map(|kib| kib * KIB),
        _ => scaled(text, KIB),
    }
}

struct Ps {
    names: Vec<String>,
    reports: Repeated,
    /// How many processes are in each state, in the present report.
    states: BTreeMap<u8, u32>,
    whole_seconds: bool,
    /// Processes that the report before did not have.
    some_came: bool,
    time: Shape,
    memory: Shape,
}

/// Seconds of `[DD-]HH:MM:SS`, `MM:SS`, `MM:SS.cc`, or a plain number of them.
fn seconds(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (whole(days.as_bytes())? as f64, rest),
        None => (0.0, text),
    };
    let mut parts = 0;
    let mut seconds = 0.0;
    for part in rest.split(':') {
        seconds = seconds * 60.0 + number(part.as_bytes()).filter(|n| *n >= 0.0)?;
        parts += 1;
    }
    (parts <= 3).then_some(days * 86400.0 + seconds)
}

/// How many fields a column has that can hold blanks: times of a start.
fn wide(name: &str, rest: &[&[u8]]) -> usize {
    let month = |w: Option<&&[u8]>| w.is_some_and(|w| crate::stamp_line::month_named(w).is_some());
    let day = |w: Option<&&[u8]>| w.is_some_and(|w| whole(w).is_some_and(|d| d <= 31));
    match name {
        // `Sun Nov 22 02:44:43 2026`.
        "STARTED" if month(rest.get(1)) && rest.get(3).is_some_and(|w| w.contains(&b':')) => 5,
        // `Nov 22`, as Solaris and AIX print it.
        "STIME" | "START" | "STARTED" if month(rest.first()) && day(rest.get(1)) => 2,
        _ => 1,
    }
}

/// Whether the text can be of a column.
fn fits(name: &str, text: &[u8]) -> bool {
    match name {
        "TIME" => seconds(text).is_some(),
        "PID" | "PPID" | "NLWP" | "THCNT" | "PSR" => whole(text).is_some(),
        "RSS" | "RSZ" | "VSZ" | "SZ" => bytes(text).is_some(),
        "%CPU" | "%MEM" => number(text).is_some(),
        "STAT" | "S" => text.first().is_some_and(u8::is_ascii_alphabetic),
        _ => true,
    }
}

/// The cells of a row by column. A command between other columns ends where all that follows fits;
/// one at the end is the rest of the line.
fn cells(names: &[String], all: &[&[u8]]) -> Option<Vec<Vec<u8>>> {
    let Some((name, names)) = names.split_first() else {
        return all.is_empty().then(Vec::new);
    };
    if names.is_empty() && is_command(name) {
        return Some(vec![all.join(&b' ')]);
    }
    let least = if all.is_empty() { 1 } else { wide(name, all) };
    let most = if is_command(name) {
        all.len().min(MOST_WORDS)
    } else {
        least
    };
    (least..=most).find_map(|count| {
        let (mine, rest) = all.split_at_checked(count)?;
        let first = mine.first().filter(|first| fits(name, first))?;
        let mine = if is_command(name) {
            mine.join(&b' ')
        } else {
            first.to_vec()
        };
        let mut cells = cells(names, rest)?;
        cells.insert(0, mine);
        Some(cells)
    })
}

impl Ps {
    fn new() -> Ps {
        Ps {
            names: Vec::new(),
            reports: Repeated::new(),
            states: BTreeMap::new(),
            whole_seconds: false,
            some_came: false,
            time: Shape::of("process", &["time"]),
            memory: Shape::of("process_memory", &["major_faults", "resident", "threads"]),
        }
    }

    /// The report is over: how many processes it had in each state.
    fn put_states(&mut self, out: &mut Out) {
        for (state, count) in std::mem::take(&mut self.states) {
            let state = out.word(&[state]);
            out.other("processes", "processes", state, f64::from(count));
        }
    }

    fn row(&mut self, names: &[String], line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        let Some(cells) = cells(names, &all) else {
            return Line::Unknown;
        };
        let of = |name: &str| {
            let at = names.iter().position(|n| n == name)?;
            cells.get(at).map(Vec::as_slice)
        };
        let Some(at) = names.iter().rposition(|n| is_command(n)) else {
            return Line::Unknown;
        };
        let command = &cells[at];
        let Some(pid) = of("PID").filter(|p| whole(p).is_some()) else {
            return Line::Unknown;
        };
        // A thread has a number of its own.
        let thread = of("LWP").or(of("SPID")).or(of("TID")).unwrap_or(pid);
        let time = of("TIME").map(seconds);
        if time == Some(None) || (command.is_empty() && of("STAT").is_none()) {
            return Line::Unknown;
        }
        let program = program(command).to_vec();
        let key = [&program[..], b"[", thread, b"]"].concat();
        self.begin(&key, out);
        if let Some(state) = of("STAT").or(of("S")).and_then(<[u8]>::first) {
            *self.states.entry(*state).or_default() += 1;
        }
        let size = |name: &str| of(name).and_then(bytes).unwrap_or(f64::NAN);
        let resident = if size("RSS").is_nan() {
            size("RSZ")
        } else {
            size("RSS")
        };
        let faults = ["MAJFLT", "MAJFL"]
            .iter()
            .find_map(|n| of(n).and_then(number));
        let counters = [
            time.flatten().unwrap_or(f64::NAN),
            faults.unwrap_or(f64::NAN),
        ];
        if of("TIME").is_some_and(|t| !t.contains(&b'.')) {
            self.whole_seconds = true;
        }
        // One that is new may have begun since, or not have been among those printed: what it did is
        // unknown, not nothing.
        let grown = self.reports.grown(&key, &counters, out);
        self.some_came |= grown.is_none() && !self.reports.is_first();
        let [spent, faults] = match grown.as_deref() {
            Some(&[spent, faults]) => [spent, faults],
            _ => [f64::NAN; 2],
        };
        let (process, name) = (out.word(&key), out.word(&program));
        let mode = out.word(b"(all)");
        if time.is_some() && !self.reports.is_first() {
            out.put_amounts(&self.time, &[process, name, mode], &[spent]);
        }
        let threads = ["NLWP", "THCNT"]
            .iter()
            .find_map(|n| of(n).and_then(number));
        let memory = [faults, resident, threads.unwrap_or(f64::NAN)];
        if thread == pid && memory.iter().any(|v| !v.is_nan()) {
            out.put_amounts(&self.memory, &[process, name], &memory);
        }
        for (column, text) in names.iter().zip(&cells) {
            let known = ["TIME", "RSS", "RSZ", "NLWP", "THCNT", "MAJFLT", "MAJFL"];
            let column = column.as_str();
            if known.contains(&column) || SETTINGS.contains(&column) || is_command(column) {
                continue;
            }
            let (unit, factor) = unit(column);
            let value = match column {
                "ELAPSED" => seconds(text),
                _ if unit == "bytes" => bytes(text),
                _ => number(text).map(|v| v * factor),
            };
            out.other(column, unit, process, value.unwrap_or(f64::NAN));
        }
        Line::Data
    }

    fn begin(&mut self, key: &[u8], out: &mut Out) {
        if self.reports.is_over() || self.reports.has(key) {
            self.put_states(out);
        }
        if self.reports.of(key, out) {
            out.only_levels();
        }
    }
}

/// The program of a command line: its file's name. Names in brackets or with a slash inside are
/// the kernel's own.
fn program(command: &[u8]) -> &[u8] {
    let first = command.split(|b| *b == b' ').next().unwrap_or(command);
    if !first.starts_with(b"/") {
        return first.strip_suffix(b":").unwrap_or(first);
    }
    first.rsplit(|b| *b == b'/').next().unwrap_or(first)
}

impl Parser for Ps {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(names) = header(line) {
            self.put_states(out);
            self.names = names;
            self.reports.ends();
            return Line::Noise;
        }
        let before = self.reports.is_over();
        if self.reports.between(line, &["ps"], out) {
            if !before && self.reports.is_over() {
                self.put_states(out);
            }
            return Line::Noise;
        }
        if self.names.is_empty() {
            return Line::Unknown;
        }
        let names = std::mem::take(&mut self.names);
        let seen = self.row(&names, line, out);
        self.names = names;
        seen
    }

    fn end(&mut self, out: &mut Out) {
        self.put_states(out);
        if self.whole_seconds && !self.reports.is_first() {
            out.note("ps prints times in whole seconds: those of an interval are uncertain by one");
        }
        if self.some_came {
            out.note("what processes did before the first report that has them is unknown");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_systems_print_them() {
        for (text, wanted) in [
            ("00:03:45", Some(225.0)),
            ("3:45", Some(225.0)),
            ("2-03:04:05", Some(183_845.0)),
            ("0:07.25", Some(7.25)),
            ("123:45", Some(7425.0)),
            ("225", Some(225.0)),
            ("-", None),
            ("1:2:3:4", None),
            ("", None),
        ] {
            assert_eq!(seconds(text.as_bytes()), wanted, "{text}");
        }
        for (text, wanted) in [
            ("1500", Some(1_536_000.0)),
            ("204m", Some(213_909_504.0)),
            ("1.5g", Some(1_610_612_736.0)),
            ("-", None),
        ] {
            assert_eq!(bytes(text.as_bytes()), wanted, "{text}");
        }
        assert_eq!(program(b"/usr/sbin/cron -f"), b"cron");
        assert_eq!(program(b"[kworker/0:1]"), b"[kworker/0:1]");
        assert_eq!(program(b"sshd: me@pts/0"), b"sshd");
    }
}
