//! `top -l` of macOS: a summary, and the processes by column.
//!
//! ```text
//! Processes: 345 total, 2 running, 343 sleeping, 1510 threads
//! 2026/11/22 10:00:02
//! Load Avg: 2.05, 2.11, 2.20
//! CPU usage: 6.12% user, 11.22% sys, 82.66% idle
//! PhysMem: 15G used (2291M wired, 801M compressor), 885M unused.
//!
//! PID    COMMAND          %CPU TIME     #TH  MEM
//! 612    Web Browser He   12.3 01:02.42 21/1 470M+
//! ```
//!
//! Names of processes have blanks and are cut, so that cells are told by where their headers stand: all
//! begin there. `%CPU` is of one processor, since the sample before; of the first sample it is invalid
//! (`top(1)` of macOS), as the shares of `CPU usage` are no interval's there. A `+` or `-` behind a
//! number says that it grew or shrank. `MEM` is what the process has to itself, compressed pages too: it
//! is no resident size, as `RSIZE` of older ones is.

use run::Word;

use super::top::clock_seconds;
use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::list::Format;
use crate::number::{number, scaled};
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::stamp_line::stamp_of;
use crate::time::Stamp;
use crate::{Line, Parser, echo, fields};

const KIB: f64 = 1024.0;

pub(crate) const FORMAT: Format = Format {
    name: "top-macos",
    tool: "top",
    systems: "macOS",
    help: "processors, load, memory and processes, as `top -l` prints them",
    recognised: "a line `Processes: 345 total, …` or `CPU usage: 6.12% user, …`, or the header `PID \
                 COMMAND %CPU TIME #TH …`",
    yields: &[
        "system",
        "cpu",
        "cpu_idle",
        "memory",
        "process",
        "process_memory",
    ],
    example: "\
Processes: 345 total, 2 running, 343 sleeping, 1510 threads
2026/11/22 10:00:02
Load Avg: 2.05, 2.11, 2.20
CPU usage: 6.12% user, 11.22% sys, 82.66% idle
PhysMem: 15G used (2291M wired, 801M compressor), 885M unused.

PID    COMMAND          %CPU TIME     #TH  MEM
612    Web Browser He   12.3 01:02.42 21/1 470M+
",
    recognise: |head: &Head| {
        // `ps` is known by columns that a list of processes has, too.
        if head
            .lines()
            .any(|l| part_of(l).is_some_and(|p| p.tells_alone(l)) || is_header(l))
        {
            78
        } else {
            0
        }
    },
    parser: || Box::new(TopMacos::new()),
};

/// Lines of the summary.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Processes,
    Load,
    Usage,
    Memory,
    /// What is counted since boot, and cut to three digits or so.
    Counted,
}

impl Part {
    /// Whether such a line is of no other tool.
    fn tells_alone(self, line: &[u8]) -> bool {
        let second = fields(line).nth(2).unwrap_or_default();
        match self {
            Part::Processes => second == b"total,",
            Part::Usage => second.ends_with(b"%"),
            _ => false,
        }
    }
}

const PARTS: [(&str, Part); 9] = [
    ("Processes:", Part::Processes),
    ("Load Avg:", Part::Load),
    ("CPU usage:", Part::Usage),
    ("PhysMem:", Part::Memory),
    ("SharedLibs:", Part::Counted),
    ("MemRegions:", Part::Counted),
    ("VM:", Part::Counted),
    ("Networks:", Part::Counted),
    ("Disks:", Part::Counted),
];

fn part_of(line: &[u8]) -> Option<Part> {
    let found = PARTS
        .iter()
        .find(|(begin, _)| line.starts_with(begin.as_bytes()));
    found.map(|(_, part)| *part)
}

/// The header of the processes, of which another tool's lacks these columns.
fn is_header(line: &[u8]) -> bool {
    let mut names = fields(line);
    let has = |w: &[u8]| [&b"#TH"[..], b"#WQ", b"#PORTS", b"#MREGS"].contains(&w);
    names.next() == Some(b"PID") && names.any(has)
}

/// Columns that are no numbers over time.
const SETTINGS: [&str; 9] = [
    "PID", "COMMAND", "PGRP", "PPID", "UID", "USER", "STATE", "BOOSTS", "FAULT",
];

/// Columns of sizes, which have a letter.
const SIZES: [&str; 12] = [
    "MEM", "PURG", "CMPRS", "RPRVT", "VPRVT", "VSIZE", "KPRVT", "KSHRD", "RSHRD", "RSIZE", "VM",
    "VSHRD",
];

/// What stands between commas, but for those that are decimal points: a blank follows none of them.
fn listed(text: &[u8]) -> Vec<&[u8]> {
    let (mut parts, mut from) = (Vec::new(), 0);
    let is_point = |at: usize| text.get(at + 1).is_some_and(u8::is_ascii_digit);
    for at in memchr::memchr_iter(b',', text).filter(|at| !is_point(*at)) {
        parts.push(&text[from..at]);
        from = at + 1;
    }
    parts.push(&text[from..]);
    parts
}

/// `345 total, 2 running` or `15G used (2291M wired), 885M unused.`: each number and its name.
fn pairs(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let parts = text.split(|b| matches!(b, b'(' | b')')).flat_map(listed);
    parts.filter_map(|part| {
        let mut words = fields(part);
        let (value, name) = (words.next()?, words.next()?);
        Some((value, name.strip_suffix(b".").unwrap_or(name)))
    })
}

/// A number without the sign behind it that says whether it grew.
fn unmarked(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"+")
        .or(text.strip_suffix(b"-"))
        .unwrap_or(text)
}

/// Bytes of `470M+`, `0B`.
fn size(text: &[u8]) -> Option<f64> {
    let text = unmarked(text);
    scaled(text.strip_suffix(b"B").unwrap_or(text), KIB)
}

/// Seconds of `01:02.42`, `12:03:04` or `103 hrs`.
fn seconds(text: &[u8]) -> Option<f64> {
    match text.strip_suffix(b" hrs") {
        Some(hours) => number(hours).map(|h| h * 3600.0),
        None => clock_seconds(unmarked(text)).map(|(seconds, _)| seconds),
    }
}

struct TopMacos {
    cpu: Cpu,
    system: Shape,
    memory: Shape,
    time: Shape,
    process_memory: Shape,
    /// Columns, and where each begins.
    columns: Vec<(usize, String)>,
    /// Runs of blanks became one, so that nothing stands below its header.
    has_single_blanks: bool,
    /// Samples since the tool was started.
    samples: u64,
    /// The line that begins a sample, of which the time stands below.
    first: Option<Vec<u8>>,
    /// The time above a sample.
    stamp: Option<Stamp>,
    now: Sample,
    above: Sample,
}

/// What waits for the end of its sample.
#[derive(Default)]
struct Sample {
    /// Lines of the summary that it has.
    has: Vec<Part>,
    /// The header has come.
    within: bool,
    /// Loads and threads.
    system: Option<[f64; 4]>,
    shares: Option<Shares>,
    /// Processes with their shares, and seconds that they ran so far.
    processes: Vec<([Word; 3], f64, f64)>,
}

/// So many processes are not idle all at once: top itself is one of them.
const MANY: usize = 20;

impl Sample {
    /// Whether a run of the tool begins with it, as in a loop of `top -l 1`: all its processes have
    /// 0.0, though some ran since the sample above.
    fn is_first(&self, above: &Sample) -> bool {
        let ran = |process: &Word, spent: f64| {
            let known = above.processes.iter().find(|(w, ..)| w[0] == *process);
            known.is_some_and(|(.., before)| spent - before >= 1.0)
        };
        let idle = self.processes.iter().all(|(_, share, _)| *share == 0.0);
        idle && (self.processes.len() >= MANY
            || self
                .processes
                .iter()
                .any(|(w, _, spent)| ran(&w[0], *spent)))
    }
}

impl TopMacos {
    fn new() -> TopMacos {
        TopMacos {
            cpu: Cpu::new(),
            system: Shape::of("system", &["load1", "load5", "load15", "tasks"]),
            memory: Shape::of("memory", &["bytes"]),
            time: Shape::of("process", &["time"]),
            process_memory: Shape::of("process_memory", &["resident", "threads"]),
            columns: Vec::new(),
            has_single_blanks: false,
            samples: 0,
            first: None,
            stamp: None,
            now: Sample::default(),
            above: Sample::default(),
        }
    }

    fn begin(&mut self, stamp: Option<Stamp>, out: &mut Out) {
        self.close(out);
        out.sample_once(stamp);
        self.samples += 1;
    }

    /// The sample is whole: whether it is the first of a run is known now.
    fn close(&mut self, out: &mut Out) {
        let now = std::mem::take(&mut self.now);
        if let Some(system) = now.system {
            out.put(&self.system, &[], &system);
        }
        if now.is_first(&self.above) {
            self.samples = 1;
        }
        // Without its processes nothing tells.
        let untold = now.within && now.processes.is_empty();
        let is_first = self.samples <= 1 || untold;
        if let Some(shares) = now.shares {
            if is_first {
                let all = out.word(b"all");
                self.cpu.put_since_boot(out, all, &shares);
                out.note("shares of the first sample are of no interval: kept apart");
            } else {
                self.cpu.put_all(out, &shares);
                if now.has == [Part::Usage] && self.columns.is_empty() {
                    out.note(
                        "lines of `CPU usage` alone do not tell whether one run of top printed them: \
                         those of a loop of `top -l 1` are of no interval",
                    );
                }
            }
        }
        for (words, share, _) in now.processes.iter().filter(|_| !is_first) {
            out.put(&self.time, words, &[*share]);
        }
        self.above = now;
    }

    /// A sample begins whose time did not come below its first line.
    fn begin_waiting(&mut self, stamp: Option<Stamp>, out: &mut Out) {
        if let Some(line) = self.first.take() {
            let stamp = stamp.or(self.stamp.take());
            self.begin(stamp, out);
            self.now.has.push(Part::Processes);
            self.processes(&line, out);
        }
    }

    /// A line of the summary, which begins a sample if the one before has it or its processes already.
    fn part(&mut self, part: Part, line: &[u8], out: &mut Out) -> Line {
        let colon = line.iter().position(|b| *b == b':').unwrap_or_default();
        let rest = &line[colon + 1..];
        if part == Part::Processes {
            let sound = pairs(rest).all(|(value, _)| number(value).is_some());
            if !sound || pairs(rest).next().is_none() {
                return Line::Unknown;
            }
            self.first = Some(rest.to_vec());
            return Line::Data;
        }
        let again = part != Part::Counted && self.now.has.contains(&part);
        if self.samples == 0 || self.now.within || again {
            let stamp = self.stamp.take();
            self.begin(stamp, out);
        }
        self.now.has.push(part);
        match part {
            Part::Load => {
                let told: Option<Vec<f64>> = listed(rest)
                    .into_iter()
                    .map(|n| number(n.trim_ascii()))
                    .collect();
                let Some([one, five, fifteen]) = told.as_deref() else {
                    return Line::Unknown;
                };
                let system = self.now.system.get_or_insert([f64::NAN; 4]);
                system[..3].copy_from_slice(&[*one, *five, *fifteen]);
                Line::Data
            }
            Part::Usage => self.usage(rest),
            Part::Memory => self.physical(rest, out),
            Part::Processes | Part::Counted => {
                out.note(
                    "what top counts since boot (Networks, Disks, VM) is cut, and not read: `netstat \
                     -w`, `iostat -w` and vm_stat tell it",
                );
                Line::Noise
            }
        }
    }

    /// `345 total, 2 running, 343 sleeping, 1510 threads`.
    fn processes(&mut self, text: &[u8], out: &mut Out) {
        let none = out.word(b"");
        for (value, name) in pairs(text) {
            let count = number(value).unwrap_or(f64::NAN);
            if name == b"threads" {
                self.now.system.get_or_insert([f64::NAN; 4])[3] = count;
            } else {
                out.other(&String::from_utf8_lossy(name), "processes", none, count);
            }
        }
    }

    /// `6.12% user, 11.22% sys, 82.66% idle`.
    fn usage(&mut self, text: &[u8]) -> Line {
        let mut shares = UNKNOWN;
        for (value, name) in pairs(text) {
            let Some(share) = value.strip_suffix(b"%").and_then(number) else {
                return Line::Unknown;
            };
            match name {
                b"user" => shares.user = share / 100.0,
                b"sys" => shares.system = share / 100.0,
                b"idle" => shares.idle = share / 100.0,
                _ => return Line::Unknown,
            }
        }
        self.now.shares = Some(shares);
        Line::Data
    }

    /// `15G used (2291M wired), 885M unused.`
    fn physical(&self, text: &[u8], out: &mut Out) -> Line {
        let none = out.word(b"");
        let mut seen = Line::Unknown;
        for (value, name) in pairs(text) {
            let Some(bytes) = size(value) else {
                return Line::Unknown;
            };
            seen = Line::Data;
            let kind: &[u8] = match name {
                b"unused" => b"free",
                b"used" => {
                    // It holds the others.
                    out.other("PhysMem used", "bytes", none, bytes);
                    continue;
                }
                name => name,
            };
            let kind = out.word(kind);
            out.put(&self.memory, &[kind], &[bytes]);
        }
        seen
    }

    fn header(&mut self, line: &[u8], out: &mut Out) {
        if self.samples == 0 || self.now.within {
            let stamp = self.stamp.take();
            self.begin(stamp, out);
        }
        self.now.within = true;
        self.has_single_blanks = memchr::memmem::find(line, b"  ").is_none();
        let begins = |at: &usize| line[*at] != b' ' && (*at == 0 || line[*at - 1] == b' ');
        let columns = (0..line.len()).filter(begins);
        self.columns = columns
            .map(|at| {
                let name = fields(&line[at..]).next().unwrap_or_default();
                (at, String::from_utf8_lossy(name).into_owned())
            })
            .collect();
    }

    /// The cells of a row; none, if one of them reaches into the next.
    fn cells<'a>(&self, line: &'a [u8]) -> Option<Vec<&'a [u8]>> {
        let starts = self.columns.iter().map(|(at, _)| *at);
        let ends = starts.clone().skip(1).chain([usize::MAX]);
        starts
            .zip(ends)
            .map(|(start, end)| {
                let cell = line.get(start..end.min(line.len())).unwrap_or_default();
                let apart = end >= line.len() || cell.last() == Some(&b' ');
                apart.then(|| cell.trim_ascii())
            })
            .collect()
    }

    /// The cells of a row with single blanks: the command is what the others leave.
    fn words<'a>(&self, line: &'a [u8]) -> Option<Vec<&'a [u8]>> {
        let line = line.trim_ascii_end();
        let command = self.columns.iter().position(|(_, n)| n == "COMMAND")?;
        let behind = self.columns.len() - 1 - command;
        let (mut cells, mut rest) = (Vec::new(), line);
        for _ in 0..command {
            let at = rest.iter().position(|b| *b == b' ')?;
            cells.push(&rest[..at]);
            rest = &rest[at + 1..];
        }
        let mut last = Vec::new();
        for _ in 0..behind {
            // `103 hrs` is one.
            let of_hours = rest.strip_suffix(b" hrs").unwrap_or(rest);
            let at = of_hours.iter().rposition(|b| *b == b' ')?;
            last.push(&rest[at + 1..]);
            rest = &rest[..at];
        }
        cells.push(rest);
        cells.extend(last.into_iter().rev());
        Some(cells)
    }

    fn process(&mut self, line: &[u8], out: &mut Out) -> Line {
        let cells = if self.has_single_blanks {
            self.words(line)
        } else {
            self.cells(line)
        };
        let Some(cells) = cells else {
            return Line::Unknown;
        };
        let of = |name: &str| {
            let at = self.columns.iter().position(|(_, n)| n == name)?;
            cells.get(at).copied().filter(|c| !c.is_empty())
        };
        let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
        let (Some(pid), Some(command)) = (of("PID"), of("COMMAND")) else {
            return Line::Unknown;
        };
        // `612*`, of one that has changed.
        let (pid, mark) = pid.split_at(digits(pid));
        let share = of("%CPU").map(number);
        let spent = of("TIME").map(seconds);
        if pid.is_empty() || mark.len() > 1 || share == Some(None) || spent == Some(None) {
            return Line::Unknown;
        }
        let key = [command, b"[", pid, b"]"].concat();
        let (process, name, mode) = (out.word(&key), out.word(command), out.word(b"(all)"));
        if let Some(share) = share.flatten() {
            let spent = spent.flatten().unwrap_or(f64::NAN);
            let words = [process, name, mode];
            self.now.processes.push((words, share / 100.0, spent));
        }
        // `21/1`: those that run stand behind the stroke.
        let threads = of("#TH").and_then(|t| number(unmarked(&t[..digits(t)])));
        let amounts = [
            of("RSIZE").and_then(size).unwrap_or(f64::NAN),
            threads.unwrap_or(f64::NAN),
        ];
        if amounts.iter().any(|a| !a.is_nan()) {
            out.put(&self.process_memory, &[process, name], &amounts);
        }
        for ((_, column), text) in self.columns.iter().zip(&cells) {
            let column = column.as_str();
            let known = matches!(column, "%CPU" | "#TH" | "RSIZE");
            if known || SETTINGS.contains(&column) {
                continue;
            }
            let (value, unit) = match column {
                "TIME" => (seconds(text), "s"),
                _ if SIZES.contains(&column) => (size(text), "bytes"),
                _ => (number(unmarked(text)), ""),
            };
            out.other(column, unit, process, value.unwrap_or(f64::NAN));
        }
        Line::Data
    }
}

impl Parser for TopMacos {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if self.first.is_some() {
            match stamp_of(line, out) {
                Ok(Some(stamp)) => {
                    self.begin_waiting(Some(stamp), out);
                    return Line::Noise;
                }
                _ => self.begin_waiting(None, out),
            }
        }
        if let Some(part) = part_of(line) {
            return self.part(part, line, out);
        }
        if line.starts_with(b"PID") && fields(line).any(|w| w == b"COMMAND") {
            self.header(line, out);
            return Line::Noise;
        }
        if self.now.within && line[0].is_ascii_digit() {
            let seen = self.process(line, out);
            if seen == Line::Data {
                return seen;
            }
        }
        if let Some(arguments) = echo::command(line, "top") {
            self.close(out);
            self.samples = 0;
            if let Some(seconds) = echo::value(&arguments, &["-s"]).and_then(number) {
                out.every(seconds);
            }
            return Line::Noise;
        }
        match stamp_of(line, out) {
            // A script's, which starts the tool below it.
            Ok(Some(stamp)) => {
                self.close(out);
                self.samples = 0;
                self.stamp = Some(stamp);
                Line::Noise
            }
            Ok(None) => Line::Unknown,
            Err(why) => {
                out.refuse(why);
                Line::Noise
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.begin_waiting(None, out);
        self.close(out);
        if self.samples == 1 {
            // Levels only: there is no interval to know.
            out.spans(1.0);
        }
    }
}
