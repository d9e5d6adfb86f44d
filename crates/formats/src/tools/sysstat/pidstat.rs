//! `pidstat` of Linux: `-d -l -r -R -s -t -u -U -v -w`, with `-h` one line a process, with `-H`
//! times in seconds since 1970.
//!
//! The command ends the line and may hold blanks. A table's header has the time when the
//! interval began; with `-h` it has none. Where the header stands once, as of `-p` with one task, a
//! row's interval began when that of the row before ended. Tasks that a report leaves out did
//! nothing in it: where headers follow each other, none did anything.

mod columns;
mod tables;

use std::collections::HashSet;

use jiff::civil::Time;
use run::Word;

pub(super) use self::columns::{program, put};
use self::columns::{unit, value};
use self::tables::Tables;
use super::outputs::Outputs;
use super::sheet::Sheet;
use super::told::{By, LeftOut};
use super::when::{Day, HALF_UNTOLD, clock, is_average, lacks_half, time_of_script, with_colons};
use super::{banner, command};
use crate::list::Format;
use crate::number::{number, whole};
use crate::out::{GAP, Out};
use crate::prompt::is_chatter;
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::{Line, Parser, echo, fields};

pub(crate) const FORMAT: Format = Format {
    name: "pidstat",
    tool: "pidstat",
    systems: "Linux",
    help: "processes: processor time, memory, disk I/O, switches",
    recognised: "a header line with `PID` or `TGID` and, at its end, `Command`, after a time",
    yields: &["process", "process_memory", "process_io"],
    example: "\
Linux 3.10.0-1062.1.2.el7.x86_64 (box) \t03/29/2022 \t_x86_64_\t(1 CPU)

#      Time   UID       PID    %usr %system  %guest    %CPU   CPU  minflt/s  majflt/s     VSZ    RSS   %MEM  Command
 1646859221     0         6    0.00    1.00    0.00    1.00     0      0.00      0.00       0      0   0.00  ksoftirqd/0
 1646859221  1000      2297    0.00    0.50    0.00    0.50     0     74.75      0.00  108296   1072   0.03  a program -x 2

#      Time   UID       PID    %usr %system  %guest    %CPU   CPU  minflt/s  majflt/s     VSZ    RSS   %MEM  Command
 1646859223     0         6    0.00    1.00    0.00    1.00     0      0.00      0.00       0      0   0.00  ksoftirqd/0
",
    recognise,
    parser: || Box::new(Pidstat::default()),
};

/// The columns of a header line, and the time before them.
fn header<'a>(all: &[&'a [u8]]) -> Option<(Option<Time>, Vec<&'a [u8]>)> {
    let (time, names) = match clock(all) {
        Some((time, taken)) => (Some(time), &all[taken..]),
        None => match all {
            // With `-H`.
            [first, names @ ..] if epoch(first).is_some() => (None, names),
            [b"#", b"Time", names @ ..] | [b"#Time" | b"Time", names @ ..] => (None, names),
            _ => return None,
        },
    };
    let of_process = names.contains(&&b"PID"[..]) || names.contains(&&b"TGID"[..]);
    let ends = names.last() == Some(&&b"Command"[..]);
    (of_process && ends).then(|| (time, names.to_vec()))
}

/// Seconds since 1970.
fn epoch(field: &[u8]) -> Option<Stamp> {
    let seconds = whole(field).filter(|_| field.len() > 8)?;
    let nanos = i64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?;
    Some(Stamp::Epoch(nanos))
}

/// Whether a line with a time is the header of another tool's table, as `mpstat` has it: nothing
/// below is of a process.
fn is_other_header(all: &[&[u8]]) -> bool {
    let names = clock(all).and_then(|(_, taken)| all.get(taken..));
    names.is_some_and(|names| names.len() > 1 && names.iter().all(|n| number(n).is_none()))
}

fn recognise(head: &Head) -> u8 {
    let found = head.headers().any(|line| {
        let plain = with_colons(line);
        let all: Vec<&[u8]> = fields(plain.as_deref().unwrap_or(line)).collect();
        header(&all).is_some()
    });
    if found { 92 } else { 0 }
}

/// What the name of a thread begins with; it keeps it, for the first one has its process's number.
pub(super) const THREAD: &[u8] = b"|__";

#[derive(Default)]
struct Pidstat {
    day: Day,
    dated: bool,
    names: Vec<String>,
    /// When the present interval began.
    from: Option<Time>,
    /// A header said so.
    headed: bool,
    /// The time of the last one, and of that below which there is no row so far.
    header_at: Option<Time>,
    empty_from: Option<Time>,
    /// How long the interval before was, in seconds.
    length: Option<f64>,
    /// Reports of the present output whose interval was told.
    intervals: u64,
    /// The present sample's time.
    at: Option<Stamp>,
    sheet: Sheet,
    /// Processes that had a row.
    known: HashSet<Word>,
    tables: Tables,
    /// The last line was blank, a header, or a mean of the whole text: the table above it is whole.
    is_over: bool,
    /// A row of that time is not there.
    torn: Option<Stamp>,
    /// Outputs above and the present one.
    outputs: Outputs,
    left_out: LeftOut,
}

impl Pidstat {
    /// The time that begins a row, and how many fields it takes.
    fn time(&mut self, all: &[&[u8]], out: &mut Out) -> Option<(Stamp, usize)> {
        let first = all.first()?;
        if let Some(stamp) = epoch(first) {
            return Some((stamp, 1));
        }
        let (time, taken) = clock(all)?;
        if !self.dated {
            let day = self.day.date(out);
            // The banner's day is the header's: the interval may have gone past midnight.
            let past = self
                .from
                .is_some_and(|f| f.duration_since(time).as_secs() > 12 * 3600);
            out.date(if past {
                day.tomorrow().unwrap_or(day)
            } else {
                day
            });
            self.dated = true;
        }
        Some((Stamp::Clock(time), taken))
    }

    /// The report is over. Processes that it leaves out did nothing, unless a row is missing.
    fn hand_out(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.sheet.lacks_row) && self.at.is_some() && !self.outputs.told {
            out.note(
                "a row of a report is not understood: what processes did that it leaves out is \
                 not known",
            );
            self.sheet.hand_out_with_gaps(out);
        } else {
            self.sheet.hand_out_known(out);
        }
    }

    /// The last report of an output: a table that those before it have and it does not was cut off.
    fn hand_out_last(&mut self, out: &mut Out) {
        self.sheet.lacks_row |= self.tables.lacks_one();
        self.hand_out(out);
        self.tables.clear();
    }

    /// Another output begins.
    fn anew(&mut self, out: &mut Out) {
        self.hand_out_last(out);
        out.broken();
        self.at = None;
        self.header_at = None;
        self.empty_from = None;
        self.intervals = 0;
        self.outputs.next();
    }

    /// A row of that time comes; whether its columns are known.
    fn begin(&mut self, stamp: Stamp, row: &[&[u8]], out: &mut Out) -> bool {
        if self.at != Some(stamp) {
            self.begin_new(stamp, out);
        }
        self.sheet.lacks_row |= self.torn.take() == Some(stamp);
        let names = self.tables.of_row(row);
        if let Some(names) = names.filter(|names| *names != self.names) {
            self.names = names.to_vec();
        }
        let is_known = names.is_some();
        self.tables.row();
        is_known
    }

    fn begin_new(&mut self, stamp: Stamp, out: &mut Out) {
        self.hand_out(out);
        self.tables.begin_report();
        self.at = Some(stamp);
        let passed = match (self.from, stamp) {
            (Some(from), Stamp::Clock(time)) => {
                Some(self.outputs.passed(from, time, &mut self.day, out))
            }
            _ => None,
        };
        if self.outputs.is_told(stamp, &mut self.day, out) {
            if let (Some(from), Stamp::Clock(time)) = (&mut self.from, stamp) {
                *from = time;
            }
            return;
        }
        out.sample_at(stamp);
        if let (Some(passed), Stamp::Clock(time)) = (passed, stamp) {
            if passed > 0.0 {
                self.spans(passed, out);
            } else {
                // Nothing passed since the header: it is of all the time since boot.
                out.since_boot();
            }
            // The next interval begins here, unless a header says otherwise.
            self.from = Some(time);
        }
    }

    /// A header of that time comes: a report that has headers and no row was of an interval in which
    /// no task did anything. Where more time passed than its interval, its rows may be gone.
    fn end_empty(&mut self, next: Time, all: &[&[u8]], out: &mut Out) {
        let Some(from) = self.empty_from else {
            return;
        };
        let passed = self.outputs.passed(from, next, &mut self.day, out);
        if passed > 0.0
            && self.length.is_none_or(|usual| passed <= GAP * usual)
            && let Some((stamp, _)) = self.time(all, out)
        {
            self.begin_new(stamp, out);
        }
    }

    /// The interval began `passed` seconds ago, in whole seconds. That of the first report has none
    /// before it to tell that it is a second shorter; one of a second cannot be, as `pidstat`
    /// waits for whole seconds with `alarm` and is late at most (its `alarm_handler`).
    fn spans(&mut self, passed: f64, out: &mut Out) {
        let before = self.length;
        let length = self.length_of(passed);
        self.intervals += 1;
        if self.intervals > 1 || passed < 2.0 {
            out.spans(length);
        } else {
            out.spans_rounded(passed, before);
        }
    }

    /// How long the interval is that began `passed` seconds ago, as far as is known. Where no
    /// header says so, reports without any task may lie between: it is as long as the one before.
    fn length_of(&mut self, passed: f64) -> f64 {
        let headed = std::mem::take(&mut self.headed);
        let usual = self.length.filter(|usual| !headed && passed > GAP * usual);
        *self.length.insert(usual.unwrap_or(passed))
    }

    /// Whether a line, of which the end is lost, has another time than the present report.
    fn is_of_next(&self, all: &[&[u8]]) -> bool {
        let Some(at) = self.at else {
            return false;
        };
        let stamp = all.first().and_then(|first| epoch(first));
        let time = stamp.or_else(|| clock(all).map(|(time, _)| Stamp::Clock(time)));
        match (time, at) {
            // A digit may be lost.
            (Some(Stamp::Epoch(next)), Stamp::Epoch(at)) => next > at,
            // Half of the day may be lost.
            (Some(Stamp::Clock(next)), Stamp::Clock(at)) => {
                let half = |t: Time| (t.hour() % 12, t.minute(), t.second());
                half(next) != half(at)
            }
            _ => false,
        }
    }

    /// Whether a line has all of a row's numbers, and at least the beginning of its command.
    fn has_command(&self, all: &[&[u8]]) -> bool {
        let time = match all.first() {
            Some(first) if epoch(first).is_some() => Some(1),
            _ => clock(all).map(|(_, taken)| taken),
        };
        let named = !self.names.is_empty();
        time.is_some_and(|time| named && all.len() - time >= self.names.len())
    }

    fn row(&mut self, all: &[&[u8]], out: &mut Out) -> Line {
        let count = self.names.len() - 1;
        if all.len() <= count {
            return Line::Unknown;
        }
        let (fields, command) = all.split_at(count);
        let command = command.join(&b' ');
        let of = |name: &str| {
            let place = self.names.iter().position(|n| n == name);
            place.and_then(|p| fields.get(p)).copied()
        };
        let Some(id) = of("PID")
            .or_else(|| of("TGID").filter(|t| *t != b"-"))
            .or_else(|| of("TID"))
        else {
            return Line::Unknown;
        };
        if whole(id).is_none() {
            return Line::Unknown;
        }
        // Threads stand below their process, which has their sum.
        let thread = of("TGID") == Some(b"-");
        let command = command.strip_prefix(THREAD).unwrap_or(&command);
        let program = program(command);
        let mark = if thread { THREAD } else { b"" };
        let process = [mark, program, b"[", id, b"]"].concat();
        // The name may have lost its end.
        let word = out.word(&process);
        if out.is_endless() && !self.known.contains(&word) {
            return Line::Unknown;
        }
        self.known.insert(word);
        for (name, field) in self.names.iter().zip(fields) {
            if matches!(
                name.as_str(),
                "UID" | "USER" | "PID" | "TGID" | "TID" | "policy"
            ) {
                continue;
            }
            let Some(value) = value(field, unit(name)) else {
                return Line::Unknown;
            };
            // What the reader had no right to see.
            if value < 0.0 && (name.starts_with("kB_") || name == "iodelay") {
                continue;
            }
            put(
                &mut self.sheet,
                out,
                [&process, program],
                thread,
                name,
                value,
            );
        }
        Line::Data
    }
}

impl Parser for Pidstat {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let plain = with_colons(line);
        let line = plain.as_deref().unwrap_or(line);
        let all: Vec<&[u8]> = fields(line).collect();
        let was_over = std::mem::replace(&mut self.is_over, true);
        let Some(&first) = all.first() else {
            return Line::Noise;
        };
        if out.is_endless() && !is_average(&all) && !self.has_command(&all) {
            self.sheet.lacks_row |= !was_over && !self.is_of_next(&all);
            return Line::Unknown;
        }
        if lacks_half(&all) {
            out.refuse(Refused(HALF_UNTOLD.into()));
            return Line::Noise;
        }
        if let Some((time, names)) = header(&all) {
            if let Some(time) = time {
                self.end_empty(time, &all, out);
            }
            let text = |n: &&[u8]| String::from_utf8_lossy(n).into_owned();
            self.names = names.iter().map(text).collect();
            self.tables.header(&self.names);
            // The report's next table tells nothing new: rows that follow may be of a later one.
            if time.is_none() || time != self.header_at {
                self.empty_from = time;
                self.header_at = time;
                self.from = time;
                self.headed = true;
            }
            return Line::Noise;
        }
        if let Some(banner) = banner(line, out) {
            self.anew(out);
            self.day = Day::new(&banner.date);
            self.dated = false;
            return Line::Noise;
        }
        // The tool is among the processes that it lists.
        let is_row = clock(&all).is_some() || epoch(first).is_some();
        if !is_row && let Some(arguments) = command(line, "pidstat") {
            self.anew(out);
            let with_value = ["-p", "-C", "-G", "-T", "-e"];
            if let Some(seconds) = echo::interval(&arguments, &with_value) {
                out.every(seconds);
            }
            return Line::Noise;
        }
        if is_average(&all) {
            self.tables.averaged = true;
            self.empty_from = None;
            return Line::Noise;
        }
        if is_chatter(line) {
            return Line::Noise;
        }
        self.is_over = false;
        self.empty_from = None;
        if is_row && is_other_header(&all) {
            self.names.clear();
        }
        if self.names.is_empty() {
            return time_of_script(line, out);
        }
        let Some((stamp, taken)) = self.time(&all, out) else {
            let seen = time_of_script(line, out);
            self.sheet.lacks_row |= seen == Line::Unknown;
            return seen;
        };
        if all.len() == taken {
            // What it was of is lost: nothing else tells of a report of that time.
            self.sheet.lacks_row |= self.at == Some(stamp);
            self.torn = Some(stamp);
            return Line::Unknown;
        }
        let is_known = self.begin(stamp, &all[taken..], out);
        if self.outputs.told {
            self.left_out.row(By::Output, out);
            return Line::Unknown;
        }
        let seen = if is_known {
            self.row(&all[taken..], out)
        } else {
            Line::Unknown
        };
        self.sheet.lacks_row |= seen == Line::Unknown;
        seen
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        self.hand_out_last(out);
        self.left_out.note(out);
    }
}
