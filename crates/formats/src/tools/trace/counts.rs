//! Counts by interval: `cachestat` of bcc and of perf-tools, bcc's `vfsstat` and `syscount`.
//!
//! `cachestat` and `syscount` print how often in an interval, `vfsstat` how often a second. What they
//! count has no place in the catalog and is kept as printed. `BUFFERS_MB` and `CACHED_MB` are
//! `/proc/meminfo` divided by 1,024: MiB.

use super::table::Table;
use super::{echoed, first_number, output_every, stamp};
use crate::list::Format;
use crate::number::number;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::{Stamp, time_of_day};
use crate::{Line, Parser};

const CACHE: &[&str] = &["HITS", "MISSES", "DIRTIES", "BUFFERS_MB"];
const FILES: &[&str] = &["TIME", "READ/s", "WRITE/s", "FSYNC/s", "OPEN/s"];
const CALLS: &[&str] = &["SYSCALL", "COUNT"];
/// Of `syscount -P`.
const CALLERS: &[&str] = &["PID", "COMM", "COUNT"];

pub(crate) const CACHESTAT: Format = Format {
    name: "cachestat",
    tool: "cachestat",
    systems: "Linux",
    help: "hits, misses and dirtied pages of the page cache, and its size",
    recognised: "a header `HITS MISSES DIRTIES … BUFFERS_MB`",
    yields: &["memory"],
    example: "\
TIME         HITS   MISSES  DIRTIES HITRATIO   BUFFERS_MB  CACHED_MB
16:07:10       10        5        1   66.67%          108       1022
16:07:11     2157        0       30  100.00%          108       1023
",
    recognise: |head| recognise(head, CACHE),
    parser: || Box::new(Counts::new()),
};

pub(crate) const VFSSTAT: Format = Format {
    name: "vfsstat-bcc",
    tool: "vfsstat",
    systems: "Linux",
    help: "how often files were read, written, synced, opened and made",
    recognised: "a header `TIME READ/s WRITE/s … OPEN/s`",
    yields: &[],
    example: "\
TIME         READ/s  WRITE/s  FSYNC/s   OPEN/s CREATE/s
18:35:32:       231       12        4       98        0
18:35:33:       274       13        4      106        0
",
    recognise: |head| recognise(head, FILES),
    parser: || Box::new(Counts::new()),
};

pub(crate) const SYSCOUNT: Format = Format {
    name: "syscount",
    tool: "syscount",
    systems: "Linux",
    help: "how often system calls were made and how long they took, by call or process",
    recognised: "a header `SYSCALL COUNT`, or `PID COMM COUNT` below a time",
    yields: &[],
    example: "\
[09:39:04]
SYSCALL                   COUNT
write                     10739
read                      10584

[09:39:05]
SYSCALL                   COUNT
write                      1000
",
    recognise: |head| {
        let mut below_time = false;
        let is_header = |line: &[u8]| {
            let text = String::from_utf8_lossy(line);
            let words: Vec<&str> = text.split_whitespace().collect();
            let begins =
                |names: &[&str]| words.starts_with(names) && words.len() <= names.len() + 2;
            let found = begins(CALLS) || below_time && begins(CALLERS);
            below_time = text.starts_with('[') && stamp(&text).is_some();
            found
        };
        if head.lines().any(is_header) { 91 } else { 0 }
    },
    parser: || Box::new(Counts::new()),
};

fn recognise(head: &Head, header: &[&str]) -> u8 {
    if Table::is_in(head, header) { 91 } else { 0 }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Cache,
    Files,
    Calls,
}

struct Counts {
    table: Option<(Kind, Table)>,
    /// The time above syscount's header.
    stamp: Option<Stamp>,
    memory: Shape,
}

impl Counts {
    fn new() -> Counts {
        Counts {
            table: None,
            stamp: None,
            memory: Shape::of("memory", &["bytes"]),
        }
    }

    /// The kind of table that the line is the header of.
    fn header(text: &str) -> Option<(Kind, Table)> {
        // `TIME (us)` of -L, which is no time of day.
        let text = text.replace("TIME (us)", "TIME(us)");
        let text = text.replace("TIME (ms)", "TIME(ms)");
        let kinds = [
            (Kind::Cache, CACHE),
            (Kind::Files, FILES),
            (Kind::Calls, CALLS),
            (Kind::Calls, CALLERS),
        ];
        kinds
            .iter()
            .find_map(|(kind, names)| Some((*kind, Table::of(&text, names)?)))
    }

    /// A row of numbers below names, with a time before them or not.
    fn numbers(&self, kind: Kind, table: &Table, text: &str, out: &mut Out) -> Option<()> {
        let row = table.row(text)?;
        let mut found = Vec::new();
        for name in table.names().filter(|name| *name != "TIME") {
            let cell = row.text(name)?;
            let share = cell.strip_suffix('%');
            found.push((
                name,
                number(share.unwrap_or(cell).as_bytes())?,
                share.is_some(),
            ));
        }
        match row.text("TIME") {
            Some(time) => {
                let time = time_of_day(time.trim_end_matches(':').as_bytes(), None)?;
                out.sample_once(Some(Stamp::Clock(time)));
            }
            None => out.sample(),
        }
        let empty = out.word(b"");
        for (name, value, share) in found {
            let memory = match name {
                "BUFFERS_MB" => "buffers",
                // perf-tools call it the second.
                "CACHED_MB" | "CACHE_MB" => "cache",
                _ => "",
            };
            if !memory.is_empty() {
                let word = out.word(memory.as_bytes());
                out.put(&self.memory, &[word], &[value * 1_048_576.0]);
                continue;
            }
            let unit = match kind {
                _ if share => "%",
                // The numbers of READ_HIT% and its like.
                _ if name.ends_with('%') => "%",
                Kind::Files => "1/s",
                _ => "per interval",
            };
            out.other(name, unit, empty, value);
        }
        Some(())
    }

    /// A row of syscount: the call's name, or `-P` a process, its count, and how long it took with -L.
    fn call(&mut self, table: &Table, text: &str, out: &mut Out) -> Option<()> {
        // A call that it has no name of.
        let text = text.replacen("[unknown: ", "[unknown:", 1);
        let row = table.row(&text)?;
        let count = row.number("COUNT").filter(|n| n.fract() == 0.0)?;
        let time = [("TIME(us)", "us"), ("TIME(ms)", "ms")]
            .into_iter()
            .find(|(name, _)| table.has(name));
        let took = match time {
            Some((name, unit)) => Some((row.number(name)?, unit)),
            None => None,
        };
        let of = match row.text("SYSCALL") {
            Some(call) => call.replacen("[unknown:", "[unknown: ", 1),
            None => format!("{}[{}]", row.text("COMM")?, row.number("PID")?),
        };
        if let Some(at) = self.stamp.take() {
            out.sample_once(Some(at));
        } else if !out.has_sample() {
            out.sample();
        }
        let of = out.word(of.as_bytes());
        out.other("COUNT", "per interval", of, count);
        if let Some((value, unit)) = took {
            out.other("TIME", &format!("{unit} per interval"), of, value);
        }
        Some(())
    }

    /// Lines around the rows.
    fn beside(text: &str, out: &mut Out) -> bool {
        if let Some(words) = echoed(text) {
            let arguments = words.get(1..).unwrap_or_default();
            let seconds = if words[0] == "syscount" {
                let at = arguments
                    .iter()
                    .position(|w| matches!(*w, "-i" | "--interval"));
                at.and_then(|at| arguments.get(at + 1)?.parse().ok())
            } else {
                first_number(arguments, "")
            };
            if let Some(seconds) = seconds {
                out.every(seconds);
            }
            return true;
        }
        if let Some(seconds) = output_every(text) {
            out.every(seconds);
        }
        ["Tracing", "Counting cache functions", "Detaching", "Ending"]
            .iter()
            .any(|s| text.starts_with(s))
            || matches!(text, "^C" | "[...]" | "")
    }
}

impl Parser for Counts {
    /// A row of `cachestat` without a time.
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let Some((Kind::Cache, table)) = self.table.as_ref().filter(|(_, t)| !t.has("TIME")) else {
            return;
        };
        for _ in 0..crate::lines::rows_in(line, table.width()) {
            out.lost();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = String::from_utf8_lossy(line);
        let text = text.trim().trim_start_matches("^C").trim();
        if let Some(found) = Counts::header(text) {
            if found.0 == Kind::Calls
                && let Some(at) = self.stamp.take()
            {
                // Also of an interval in which there was none.
                out.sample_once(Some(at));
            }
            self.table = Some(found);
            return Line::Noise;
        }
        if let Some(at) = stamp(text) {
            self.stamp = Some(at);
            return Line::Noise;
        }
        let seen = self.table.take().and_then(|(kind, table)| {
            let seen = match kind {
                Kind::Calls => self.call(&table, text, out),
                kind => self.numbers(kind, &table, text, out),
            };
            self.table = Some((kind, table));
            seen
        });
        if seen.is_some() {
            Line::Data
        } else if Counts::beside(text, out) {
            Line::Noise
        } else {
            Line::Unknown
        }
    }
}
