//! `prstat` of Solaris and illumos: processes or their threads (`-L`), microstates (`-m`), and
//! below them users (`-a`, `-t`), tasks (`-T`), projects (`-J`) or zones (`-Z`).
//!
//! ```text
//!    PID USERNAME  SIZE   RSS STATE  PRI NICE      TIME  CPU PROCESS/NLWP
//!   3538 root     2095M 2083M sleep    1    0   0:03:54 0.4% qemu-system-x86/12
//! ```
//!
//! K, M and G are steps of 1,024. `TIME` counts from the start of the process, so its growth is
//! the time used, in whole seconds. Microstates are shares of the time of all threads of the
//! process; their first report is a mean over its life (illumos, `prstat(8)`).

mod row;

use std::collections::HashMap;
use std::rc::Rc;

use self::row::{Row, elapsed, percent, size, sizes_apart, thousands};
use super::solaris::{Between, between, blank_or_unknown, sample};
use crate::list::Format;
use crate::number;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::Stamp;
use crate::{Line, Parser, echo, fields};

/// Seconds between reports where the command line does not say otherwise.
const INTERVAL: f64 = 5.0;

pub(crate) const FORMAT: Format = Format {
    name: "prstat",
    tool: "prstat",
    systems: "Solaris, illumos",
    help: "processes or threads, microstates (-m); users, tasks, projects, zones",
    recognised: "a header `PID USERNAME SIZE RSS STATE …`, `PID USERNAME USR SYS …`, `ZONEID NPROC …`",
    yields: &["process", "process_memory", "system"],
    example: "\
   PID USERNAME  SIZE   RSS STATE  PRI NICE      TIME  CPU PROCESS/NLWP
  3538 root     2095M 2083M sleep    1    0   0:03:54 0.4% qemu-system-x86/12
ZONEID    NPROC  SWAP   RSS MEMORY      TIME  CPU ZONE
     0       89 1330M  629M   1.8%   0:00:50 0.1% global

Total: 93 processes, 521 lwps, load averages: 0.25, 0.26, 0.26
",
    recognise,
    parser: || Box::new(Prstat::new()),
};

fn recognise(head: &Head) -> u8 {
    let sure = [
        &["PID", "USERNAME", "SIZE", "RSS", "STATE"][..],
        &["PID", "USERNAME", "USR", "SYS", "TRP"],
        &["ZONEID", "NPROC"],
        &["TASKID", "NPROC"],
        &["PROJID", "NPROC"],
        &["ZONEID", "NLWP"],
        &["TASKID", "NLWP"],
        &["PROJID", "NLWP"],
        &["NPROC", "USERNAME"],
        &["NLWP", "USERNAME"],
    ];
    if sure.iter().any(|names| head.any_fields(names)) {
        91
    } else {
        0
    }
}

/// What the rows are of, in the order of a report's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Table {
    None,
    Processes,
    Microstates,
    /// Users, tasks, projects, zones.
    Groups,
    Total,
}

struct Prstat {
    table: Table,
    names: Rc<[String]>,
    /// The last part of the present report that had a row.
    part: Table,
    reports: u64,
    stamp: Option<Stamp>,
    /// `TIME` of each process or thread, and the report it was in.
    times: HashMap<String, (u64, f64)>,
    /// The report that each process had its memory in.
    memory_of: HashMap<String, u64>,
    time: Shape,
    memory: Shape,
    system: Shape,
}

impl Prstat {
    fn new() -> Prstat {
        let system = ["load1", "load5", "load15", "tasks"];
        Prstat {
            table: Table::None,
            names: Rc::from([]),
            part: Table::None,
            reports: 0,
            stamp: None,
            times: HashMap::new(),
            memory_of: HashMap::new(),
            time: Shape::of("process", &["time"]),
            memory: Shape::of("process_memory", &["resident", "threads"]),
            system: Shape::of("system", &system),
        }
    }

    /// A row of that table comes: it may be the first of the next report.
    fn begin(&mut self, table: Table, out: &mut Out) {
        let again = self.part == Table::None || table < self.part;
        if again {
            self.start(out);
            if table == Table::Microstates && self.reports == 1 {
                out.since_boot();
                out.note("the first report of microstates is a mean over the lives of processes");
            }
        }
        self.part = table;
    }

    fn start(&mut self, out: &mut Out) {
        sample(&mut self.stamp, out);
        self.reports += 1;
    }

    fn header(&mut self, line: &[u8]) -> bool {
        let text = |f: &[u8]| String::from_utf8_lossy(f).into_owned();
        let names: Vec<String> = fields(line).map(text).collect();
        let at = |i: usize| names.get(i).map_or("", String::as_str);
        let table = match (at(0), at(1), at(2)) {
            ("PID", "USERNAME", "SIZE") => Table::Processes,
            ("PID", "USERNAME", "USR") => Table::Microstates,
            ("NPROC" | "NLWP", "USERNAME", _) | ("ZONEID" | "TASKID" | "PROJID", _, _) => {
                Table::Groups
            }
            _ => return false,
        };
        if table <= self.part {
            self.part = Table::None;
        }
        self.table = table;
        self.names = names.into();
        true
    }

    fn row(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        let names = self.names.clone();
        let apart = sizes_apart(line, &names);
        let line = apart.as_deref().unwrap_or(line);
        let row = Row::parse(line, &names)?;
        if out.is_endless() && self.table != Table::Groups {
            // The number of threads may have lost digits.
            return Some(Line::Unknown);
        }
        let taken = match self.table {
            Table::Processes => self.process(&row, out),
            Table::Microstates => self.microstates(&row, out),
            Table::Groups => self.group(&row, out),
            Table::None | Table::Total => None,
        };
        taken.map(|()| Line::Data)
    }

    fn process(&mut self, row: &Row, out: &mut Out) -> Option<()> {
        let (pid, name) = (row.whole("PID")?, row.process()?);
        let [resident, all] = [size(row.of("RSS")?)?, size(row.of("SIZE")?)?];
        let [time, share] = [elapsed(row.of("TIME")?)?, percent(row.of("CPU")?)?];
        self.begin(Table::Processes, out);
        let process = format!("{}[{pid}]", name.command);
        let command = out.word(name.command.as_bytes());
        let whole = out.word(process.as_bytes());
        // Threads of a process have its memory all.
        if self.memory_of.insert(process.clone(), self.reports) != Some(self.reports) {
            let threads = name.threads.unwrap_or(f64::NAN);
            out.put(&self.memory, &[whole, command], &[resident, threads]);
            out.other("SIZE", "bytes", whole, all);
        }
        let key = match &name.thread {
            Some(thread) => format!("{process}/{thread}"),
            None => process,
        };
        let instance = out.word(key.as_bytes());
        let before = self.times.insert(key, (self.reports, time));
        // What happened while it was not listed belongs to no report.
        if let Some((report, before)) = before
            && report + 1 == self.reports
            && time >= before
        {
            let words = [instance, command, out.word(b"(all)")];
            out.put_amounts(&self.time, &words, &[time - before]);
        }
        out.other("TIME", "s", instance, time);
        out.other("CPU", "%", instance, share);
        for column in ["PRI", "NICE", "LGRP"] {
            // A nice value of `-` is none.
            if let Some(value) = row.of(column).and_then(number::number) {
                out.other(column, "", instance, value);
            }
        }
        Some(())
    }

    fn microstates(&mut self, row: &Row, out: &mut Out) -> Option<()> {
        let (pid, name) = (row.whole("PID")?, row.process()?);
        let mut shares = [f64::NAN; 2];
        for (share, column) in shares.iter_mut().zip(["USR", "SYS"]) {
            *share = percent(row.of(column)?)?;
        }
        self.begin(Table::Microstates, out);
        let command = out.word(name.command.as_bytes());
        let process = match &name.thread {
            Some(thread) => format!("{}[{pid}]/{thread}", name.command),
            None => format!("{}[{pid}]", name.command),
        };
        let instance = out.word(process.as_bytes());
        let threads = name.threads.unwrap_or(1.0);
        for (mode, share) in [&b"user"[..], b"system"].iter().zip(shares) {
            let words = [instance, command, out.word(mode)];
            out.put(&self.time, &words, &[share / 100.0 * threads]);
        }
        if name.threads.is_some() {
            out.put(&self.memory, &[instance, command], &[f64::NAN, threads]);
        }
        for column in ["TRP", "TFL", "DFL", "LCK", "SLP", "LAT"] {
            let value = row.of(column).and_then(percent).unwrap_or(f64::NAN);
            out.other(column, "%", instance, value);
        }
        for column in ["VCX", "ICX", "SCL", "SIG"] {
            let value = row.of(column).and_then(thousands).unwrap_or(f64::NAN);
            out.other(column, "in the interval", instance, value);
        }
        Some(())
    }

    fn group(&mut self, row: &Row, out: &mut Out) -> Option<()> {
        // Swap that is reserved; up to Solaris 9 the sizes of processes added up.
        let space = |name| Some((name, "bytes", size(row.of(name)?)?));
        let values = [
            space("SWAP").or_else(|| space("SIZE"))?,
            ("RSS", "bytes", size(row.of("RSS")?)?),
            ("MEMORY", "%", percent(row.of("MEMORY")?)?),
            ("TIME", "s", elapsed(row.of("TIME")?)?),
            ("CPU", "%", percent(row.of("CPU")?)?),
        ];
        self.begin(Table::Groups, out);
        let instance = match row.of("USERNAME") {
            Some(user) => format!("user {}", String::from_utf8_lossy(user)),
            None => row.group()?,
        };
        let instance = out.word(instance.as_bytes());
        for (column, unit, value) in values {
            out.other(column, unit, instance, value);
        }
        for (column, unit) in [("NPROC", "processes"), ("NLWP", "threads")] {
            if let Some(value) = row.whole(column) {
                out.other(column, unit, instance, value as f64);
            }
        }
        Some(())
    }

    /// `Total: 93 processes, 521 lwps, load averages: 0.25, 0.26, 0.26`.
    fn total(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        let all: Vec<&[u8]> = fields(line).collect();
        let &[
            b"Total:",
            processes,
            b"processes,",
            threads,
            b"lwps,",
            b"load",
            b"averages:",
            a,
            b,
            c,
        ] = &all[..]
        else {
            return None;
        };
        let load = [a, b, c].map(|l| number::number(l.strip_suffix(b",").unwrap_or(l)));
        let [Some(a), Some(b), Some(c)] = load else {
            return None;
        };
        let (processes, threads) = (number::number(processes)?, number::number(threads)?);
        let decimals = line
            .trim_ascii_end()
            .iter()
            .rev()
            .take_while(|b| **b != b'.')
            .count();
        if out.is_endless() && decimals != 2 {
            return None;
        }
        self.begin(Table::Total, out);
        out.put(&self.system, &[], &[a, b, c, threads]);
        let empty = out.word(b"");
        out.other("processes", "processes", empty, processes);
        self.part = Table::None;
        self.table = Table::None;
        Some(Line::Data)
    }
}

impl Parser for Prstat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if self.header(line) || line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if let Some(seen) = self.total(line, out) {
            return seen;
        }
        if self.table != Table::None
            && let Some(seen) = self.row(line, out)
        {
            return seen;
        }
        match between(line, "prstat", &VALUED, out) {
            Some(Between::Command) => {
                *self = Prstat::new();
                let arguments = echo::command(line, "prstat").unwrap_or_default();
                let told = echo::interval(&arguments, &VALUED);
                out.every(told.unwrap_or(INTERVAL));
            }
            Some(Between::Stamp(stamp)) => {
                self.stamp = Some(stamp);
                self.part = Table::None;
            }
            Some(_) => {}
            None if line.starts_with(b"Please wait") => {}
            None => return blank_or_unknown(line),
        }
        Line::Noise
    }
}

/// Flags of the command line that have a value.
const VALUED: [&str; 13] = [
    "-s", "-S", "-n", "-p", "-P", "-u", "-U", "-z", "-j", "-k", "-C", "-d", "-h",
];
