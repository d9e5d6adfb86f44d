//! `top -b` of Linux (procps 3.2 to 4), also with `-H`; and that of versions before ([`old`]).
//!
//! ```text
//! top - 11:24:53 up 2 min,  2 users,  load average: 0.23, 0.22, 0.09
//! Tasks: 112 total,   1 running, 111 sleeping,   0 stopped,   0 zombie
//! %Cpu(s):  0.3 us,  0.3 sy,  0.0 ni, 99.3 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st
//! KiB Mem :  3861332 total,  3446476 free,   216940 used,   197916 buff/cache
//! KiB Swap:  2097148 total,  2097148 free,        0 used.  3419356 avail Mem
//!
//!   PID USER      PR  NI    VIRT    RES    SHR S %CPU %MEM     TIME+ COMMAND
//! ```
//!
//! In other languages some names are translated: `MiB Spch:`, `ZEIT+ BEFEHL`. Those of eleven
//! translations of procps-ng 4 are known.
//!
//! `%CPU` of a task is of one processor (the tool's "Irix mode", its default), unless what `TIME+`
//! grew by says that it is of all ("Solaris mode"). Sizes are KiB, or have a letter, a step of 1,024. The shares of a first iteration are
//! means since boot or over a moment, by version, and are kept apart. One that goes on printing
//! puts a blank line before each further iteration (`frame_make` in its source). `top -b | grep Cpu`
//! leaves lines of processors alone: each that comes again begins an iteration.

mod follows;
mod memory;
mod old;
mod processors;
mod text;

use crate::cpu::Cpu;
use crate::echo;
use crate::list::Format;
use crate::number::{decimal, scaled_decimal};
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::stamp_line::stamp_of;
use crate::time::{Stamp, time_of_day};
use crate::{Line, Parser, fields};
use follows::{Iteration, SetOff};
use memory::Memory;
use old::{Modern, Old, is_old, without_mark};
pub(in crate::tools) use text::clock_seconds;
use text::{
    after_colon, column_of, is_tasks, is_threads, is_whole_load, of, pairs, polish_tasks,
    rest_from, size_of,
};

const KIB: f64 = 1024.0;

pub(crate) const FORMAT: Format = Format {
    name: "top",
    tool: "top",
    systems: "Linux",
    help: "load, processors, memory, and time and memory of each task",
    recognised: "a line `top - 11:24:50 up …`, the header `PID USER PR NI VIRT RES …`, or lines \
                 `%Cpu(s): 5.9 us, …`",
    yields: &[
        "system",
        "cpu",
        "cpu_idle",
        "memory",
        "memory_state",
        "process",
        "process_memory",
    ],
    example: "\
top - 11:24:50 up 2 min,  2 users,  load average: 0.23, 0.22, 0.09
Tasks: 112 total,   1 running, 111 sleeping,   0 stopped,   0 zombie
%Cpu(s):  5.9 us,  5.9 sy,  0.0 ni, 88.2 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st
KiB Mem :  3861332 total,  3446476 free,   216940 used,   197916 buff/cache
KiB Swap:  2097148 total,  2097148 free,        0 used.  3419356 avail Mem

  PID USER      PR  NI    VIRT    RES    SHR S %CPU %MEM     TIME+ COMMAND
 1935 me        20   0  161888   2108   1520 R  6.2  0.1   0:00.01 top
",
    recognise,
    parser: || Box::new(Top::new()),
};

/// `top - 11:24:50 up …`.
fn is_summary(line: &[u8]) -> bool {
    line.starts_with(b"top - ") && line.windows(4).any(|w| w == b" up ")
}

/// `%Cpu(s):  5.9 us,  5.9 sy, …`, `Cpu(s):  5.9%us, …`, `%Cpu0  : …`, with all its labels.
fn is_processors(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let rest = line.strip_prefix(b"%").unwrap_or(line).strip_prefix(b"Cpu");
    let Some(pairs) = rest.and_then(|rest| pairs(after_colon(rest))) else {
        return false;
    };
    ["us", "sy", "ni", "id", "wa"]
        .iter()
        .all(|name| !of(&pairs, name).is_nan())
}

fn recognise(head: &Head) -> u8 {
    let tasks = |l: &[u8]| {
        let has = |name: &[u8]| fields(l).any(|f| f == name);
        let timed = fields(l).any(|f| f == b"TIME" || f.ends_with(b"+"));
        has(b"PID") && has(b"%CPU") && timed && has(b"RES")
    };
    if head.lines().any(is_summary) {
        92
    } else if is_old(head) {
        90
    } else if head.headers().any(tasks) {
        80
    } else if head.lines().any(is_processors) {
        75
    } else {
        0
    }
}

/// Columns that are no numbers over time.
const SETTINGS: [&str; 20] = [
    "PID", "PPID", "PGRP", "TGID", "SID", "UID", "RUID", "SUID", "GID", "PR", "NI", "P", "S",
    "USER", "RUSER", "SUSER", "GROUP", "TTY", "Flags", "STARTED",
];

/// Whether a column of that name is the command, in the languages that [`text`] knows.
fn is_command(name: &str) -> bool {
    matches!(
        name,
        "COMMAND"
            | "Command"
            | "BEFEHL"
            | "COM."
            | "COMMANDE"
            | "ORDEN"
            | "POLECEN"
            | "KOMENDA"
            | "COMANDO"
            | "KOMMANDO"
            | "COMANDA"
    )
}

struct Top {
    cpu: Cpu,
    system: Shape,
    memory: Memory,
    time: Shape,
    resident: Shape,
    /// Columns of the tasks.
    names: Vec<String>,
    within: Within,
    /// Tasks are threads.
    threads: bool,
    /// Loads, threads and those running, of which the row is still to come.
    loads: Option<[f64; 5]>,
    /// Iterations since the tool was started.
    iterations: u64,
    /// All iterations.
    samples: u64,
    /// The present iteration, and the one above it.
    now: Iteration,
    above: Iteration,
    /// How the present iteration was set off from the one above.
    set_off: SetOff,
    /// What the line above is.
    line_above: LineAbove,
    /// There are blank lines inside of iterations: none were taken out.
    has_blanks: bool,
    /// Shares of tasks are of all processors.
    of_all: bool,
    lines: Lines,
    /// It is of a version before procps 3.
    old: Option<Old>,
    /// The time above such a line.
    stamp: Option<Stamp>,
}

/// Which lines of an iteration there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    All,
    /// No summary: those of processors begin an iteration.
    OfProcessors,
}

/// What lines are of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    /// A sample has begun, by a summary, and the header has not come.
    Summary,
    /// The header was the last that was not of a task.
    Tasks,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineAbove {
    Text,
    Blank,
    /// What `grep` puts between parts.
    Cut,
}

impl Top {
    fn new() -> Top {
        Top {
            cpu: Cpu::new(),
            system: Shape::of("system", &["load1", "load5", "load15", "tasks", "runnable"]),
            memory: Memory::new(),
            time: Shape::of("process", &["time"]),
            resident: Shape::of("process_memory", &["resident", "threads"]),
            names: Vec::new(),
            within: Within::Nothing,
            threads: false,
            loads: None,
            iterations: 0,
            samples: 0,
            now: Iteration::default(),
            above: Iteration::default(),
            set_off: SetOff::Untold,
            line_above: LineAbove::Text,
            has_blanks: false,
            of_all: false,
            lines: Lines::All,
            old: None,
            stamp: None,
        }
    }

    /// A line of processors comes, without a summary above it.
    fn begin_bare(&mut self, out: &mut Out) {
        let stamp = self.stamp.take();
        self.begin(stamp, out);
        self.set_off = SetOff::Untold;
        self.within = Within::Summary;
    }

    /// The loads and what was counted go out as one row.
    fn put_system(&mut self, out: &mut Out) {
        if let Some(values) = self.loads.take() {
            out.put(&self.system, &[], &values);
        }
    }

    fn begin(&mut self, stamp: Option<Stamp>, out: &mut Out) {
        self.close(out);
        self.samples += 1;
        out.sample_once(stamp);
        self.iterations += 1;
        self.set_off = SetOff::Blank;
        self.within = Within::Nothing;
        self.threads = false;
    }

    /// The iteration is whole: what its shares are of is known now.
    fn close(&mut self, out: &mut Out) {
        self.now.note_part(out);
        self.put_system(out);
        let mut now = std::mem::take(&mut self.now);
        if self.old.is_some() && now.cpus.iter().any(|(cpu, _)| cpu.is_some()) {
            // Each has a line beside that of all.
            now.cpus.retain(|(cpu, _)| cpu.is_some());
        }
        if self.iterations > 1 && now.starts_anew(&self.above, self.set_off, out) {
            self.iterations = 1;
        }
        self.of_all &= self.iterations > 1;
        if self.iterations > 1 && !self.of_all && now.is_of_all(&self.above) {
            out.note(
                "%CPU of its tasks is of all processors, as what TIME+ grew by says: processor \
                 time of a task is what its TIME+ grew by",
            );
            self.of_all = true;
        }
        let since_boot = self.iterations <= 1;
        if since_boot && self.samples > 0 {
            out.note("shares of the first iteration are since boot, or of a moment: kept apart");
        }
        for (cpu, shares) in &now.cpus {
            match cpu {
                Some(cpu) if !since_boot => self.cpu.put(out, *cpu, 1.0, shares),
                None if !since_boot => self.cpu.put_all(out, shares),
                cpu => {
                    let cpu = cpu.unwrap_or_else(|| out.word(b"all"));
                    self.cpu.put_since_boot(out, cpu, shares);
                }
            }
        }
        for (column, instance, share) in &now.others {
            if since_boot {
                out.other_total(column, "%", *instance, *share);
            } else {
                out.other(column, "%", *instance, *share);
            }
        }
        for (words, share, pid) in &now.tasks {
            if self.of_all {
                if let Some(grew) = now.grew(&self.above, pid) {
                    out.put_amounts(&self.time, words, &[grew]);
                }
            } else if since_boot {
                out.put_since_boot(&self.time, words, &[*share]);
            } else {
                out.put(&self.time, words, &[*share]);
            }
        }
        self.above = now;
    }

    /// `top - 11:24:50 up 2 min,  2 users,  load average: 0.23, 0.22, 0.09`.
    fn summary(&mut self, line: &[u8], out: &mut Out) -> Line {
        let mut words = fields(line).skip(2);
        let time = words.next().and_then(|t| time_of_day(t, None));
        if time.is_none() && self.old.is_none() {
            return Line::Unknown;
        }
        self.begin(time.map(Stamp::Clock), out);
        let midnight = jiff::civil::Time::midnight();
        self.now.at = time.map(|time| time.duration_since(midnight).as_secs_f64());
        self.set_off = match self.line_above {
            LineAbove::Blank => SetOff::Blank,
            LineAbove::Text if self.has_blanks => SetOff::Anew,
            _ => SetOff::Untold,
        };
        self.within = Within::Summary;
        let loads: Vec<&[u8]> = words.skip_while(|w| *w != b"average:").skip(1).collect();
        if loads.len() != 3 {
            return Line::Unknown;
        }
        if !is_whole_load(loads[2]) {
            out.lacks("a load average was cut with its line: it is left out");
        }
        let load = |at: usize| {
            let text = loads.get(at).copied().unwrap_or_default();
            let text = text.strip_suffix(b",").unwrap_or(text);
            let load = decimal(text).filter(|_| is_whole_load(text));
            load.unwrap_or(f64::NAN)
        };
        self.loads = Some([load(0), load(1), load(2), f64::NAN, f64::NAN]);
        Line::Data
    }

    /// `Tasks: 112 total,   1 running, …` or `Threads: …`.
    fn counts(&mut self, line: &[u8], out: &mut Out) -> Line {
        let threads = is_threads(line);
        self.threads = threads;
        let Some(pairs) = polish_tasks(line).or_else(|| pairs(after_colon(line))) else {
            return Line::Unknown;
        };
        self.now.count = of(&pairs, "total");
        let none = out.word(b"");
        for (name, value) in &pairs {
            match (&**name, threads) {
                ("total" | "running", true) => {}
                (name, _) => out.other(name, "tasks", none, *value),
            }
        }
        if let Some(loads) = self.loads.as_mut().filter(|_| threads) {
            loads[3] = of(&pairs, "total");
            loads[4] = of(&pairs, "running");
        }
        Line::Data
    }

    /// The header of the tasks.
    fn header(&mut self, all: &[&[u8]], out: &mut Out) {
        if self.within != Within::Summary {
            self.begin(None, out);
        }
        self.put_system(out);
        self.within = Within::Tasks;
        let text: Vec<_> = all.iter().map(|f| String::from_utf8_lossy(f)).collect();
        let names = text.iter().map(|name| column_of(name).to_owned());
        self.names = names.collect();
        // The Chinese name of the state takes two places where there is one, and is left out.
        let before = self.names.iter().position(|n| n == "SHR");
        let chinese = text.iter().any(|n| n.starts_with("进程"));
        if let Some(at) = before.filter(|at| self.names.get(at + 1).is_some_and(|n| n == "%CPU"))
            && chinese
        {
            self.names.insert(at + 1, "S".to_owned());
        }
    }

    fn task(&mut self, line: &[u8], out: &mut Out) -> Line {
        let count = self.names.len();
        let all: Vec<&[u8]> = fields(line).collect();
        let last = self.names.last().map(String::as_str);
        let command_last = last.is_some_and(is_command);
        if all.len() < count || (all.len() > count && !command_last) {
            return Line::Unknown;
        }
        let text = |name: &str| {
            let at = self.names.iter().position(|n| n == name)?;
            all.get(at).copied()
        };
        let (Some(pid), Some(share)) = (text("PID"), text("%CPU").and_then(decimal)) else {
            return Line::Unknown;
        };
        if !pid.iter().all(u8::is_ascii_digit) {
            return Line::Unknown;
        }
        let command = if command_last {
            rest_from(line, count - 1)
        } else {
            let place = self.names.iter().position(|n| is_command(n));
            place
                .and_then(|at| all.get(at))
                .copied()
                .unwrap_or_default()
        };
        let process = out.word(&[command, b"[", pid, b"]"].concat());
        let (name, mode) = (out.word(command), out.word(b"(all)"));
        let words = [process, name, mode];
        self.now.tasks.push((words, share / 100.0, pid.to_vec()));
        let size = |text: &[u8]| match text.last() {
            Some(b'0'..=b'9') => decimal(text).map(|v| v * KIB),
            _ => scaled_decimal(text, KIB),
        };
        let resident = text("RES").and_then(size).unwrap_or(f64::NAN);
        let threads = text("nTH").and_then(decimal).unwrap_or(f64::NAN);
        if self.threads {
            // A thread's memory is its process's: it would count once for each.
            out.other("RES", "bytes", process, resident);
        } else if !(resident.is_nan() && threads.is_nan()) {
            out.put(&self.resident, &words[..2], &[resident, threads]);
        }
        for (column, text) in self.names.iter().zip(&all) {
            let known = matches!(column.as_str(), "%CPU" | "RES" | "nTH") || is_command(column);
            if known || SETTINGS.contains(&column.as_str()) {
                continue;
            }
            let (value, unit) = match column.as_str() {
                // `TIME+`, `ZEIT+`.
                name if name == "TIME" || name.ends_with('+') => {
                    let time = clock_seconds(text);
                    if let Some(time) = time {
                        let is_top = command == b"top";
                        self.now.task(pid, is_top, share / 100.0, time);
                    }
                    (time.map(|(seconds, _)| seconds), "s")
                }
                "ELAPSED" => (clock_seconds(text).map(|(seconds, _)| seconds), "s"),
                "%MEM" => (decimal(text), "%"),
                "VIRT" | "SHR" | "SWAP" | "CODE" | "DATA" | "USED" => (size(text), "bytes"),
                _ => (decimal(text), ""),
            };
            out.other(column, unit, process, value.unwrap_or(f64::NAN));
        }
        Line::Data
    }
}

impl Parser for Top {
    fn look(&mut self, head: &Head) {
        if head.lines().any(is_processors) && !head.lines().any(is_summary) {
            self.lines = Lines::OfProcessors;
        }
        self.old = is_old(head).then(Old::default);
    }

    fn is_printed_at_once(&self) -> bool {
        self.lines == Lines::OfProcessors
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let line = line.trim_ascii();
        if line.is_empty() {
            self.line_above = LineAbove::Blank;
            self.has_blanks |= self.within == Within::Summary;
            return Line::Noise;
        }
        let modern = self
            .old
            .as_mut()
            .map_or(Modern::Same, |old| old.modern(line));
        let seen = match modern {
            Modern::Same => self.text(line, out),
            Modern::Line(line) => self.text(&line, out),
            Modern::Pages(pages) if self.within == Within::Summary => Memory::pages(&pages, out),
            Modern::Pages(_) => Line::Unknown,
            Modern::Noise => Line::Noise,
        };
        self.line_above = match line {
            b"--" => LineAbove::Cut,
            _ => LineAbove::Text,
        };
        seen
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
        if self.samples == 1 {
            // Levels only: there is no interval to know.
            out.spans(1.0);
        }
    }
}

impl Top {
    /// A line that is not blank.
    fn text(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.starts_with(b"top - ") {
            return self.summary(line, out);
        }
        if self.within == Within::Tasks && line[0].is_ascii_digit() {
            let state = self.names.iter().position(|n| n == "S");
            let seen = match state.filter(|_| self.old.is_some()) {
                Some(state) => self.task(&without_mark(line, state), out),
                None => self.task(line, out),
            };
            if seen == Line::Data {
                return seen;
            }
        }
        if self.lines == Lines::OfProcessors
            && self.within != Within::Summary
            && is_processors(line)
        {
            self.begin_bare(out);
        }
        if self.within == Within::Summary {
            if is_tasks(line) {
                return self.counts(line, out);
            }
            if ["%Cpu", "Cpu", "%CPU", "%Node", "%CПроц."]
                .iter()
                .any(|s| line.starts_with(s.as_bytes()))
            {
                return self.processors(line, out);
            }
            if size_of(line).is_some() {
                return self.memory.line(line, out);
            }
        }
        let all: Vec<&[u8]> = fields(line).collect();
        let is_pid = |w: &&[u8]| *w == b"PID" || w.starts_with("进程".as_bytes());
        if all.iter().any(is_pid) && all.contains(&&b"%CPU"[..]) {
            self.header(&all, out);
            return Line::Noise;
        }
        if let Some(arguments) = echo::command(line, "top") {
            self.close(out);
            self.within = Within::Nothing;
            self.iterations = 0;
            if let Some(seconds) = echo::value(&arguments, &["-d"]).and_then(decimal) {
                out.every(seconds);
            }
            return Line::Noise;
        }
        match stamp_of(line, out) {
            Ok(Some(stamp)) if self.lines == Lines::OfProcessors => {
                self.close(out);
                self.within = Within::Nothing;
                self.iterations = 0;
                self.stamp = Some(stamp);
                Line::Noise
            }
            Ok(Some(Stamp::Civil(at) | Stamp::Zoned(at, _))) => {
                // The time of day comes with the summary.
                self.close(out);
                out.date(at.date());
                self.iterations = 0;
                Line::Noise
            }
            Ok(Some(_)) => Line::Noise,
            Ok(None) => Line::Unknown,
            Err(why) => {
                out.refuse(why);
                Line::Noise
            }
        }
    }
}
