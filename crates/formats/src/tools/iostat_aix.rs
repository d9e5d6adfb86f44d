//! `iostat` of AIX: terminals and processors, and below them disks.
//!
//! ```text
//! System configuration: lcpu=8 drives=2 paths=2 vdisks=0
//!
//! tty:      tin         tout    avg-cpu: % user % sys % idle % iowait
//!           0.0         10.0                5.0   2.0   93.0      0.0
//!
//! Disks:        % tm_act     Kbps      tps    Kb_read   Kb_wrtn
//! hdisk0           5.0     160.0      20.0   1000000   2000000
//! ```
//!
//! Shares are of all logical processors; where the partition shares processors (`ent=`), of what it
//! is entitled to, or of what it consumed where that is more. Kb are 1,024 bytes. `Kb_read` and
//! `Kb_wrtn` are those of the interval, `Kbps` and `tps` are per second, and of reads and writes
//! together (`iostat(1)` of AIX 7). The first report is of an interval, or since boot where
//! [`SinceBoot`] says no; with `-T` each row ends in the time.

mod detailed;
mod layout;

use std::collections::HashSet;

use detailed::{Disks, Group, Rows};
use layout::{Part, header, layer_of};

use super::aix::{SinceBoot, configured};
use super::solaris::{Between, between, blank_or_unknown, sample};
use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::list::Format;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::{Stamp, time_of_day};
use crate::{Line, Parser, fields, numbers};

const KIB: f64 = 1024.0;

pub(crate) const FORMAT: Format = Format {
    name: "iostat-aix",
    tool: "iostat",
    systems: "AIX",
    help: "disks, paths, adapters, terminals and processors; also -D -l -a -m -s -T",
    recognised: "a header `Disks: % tm_act Kbps tps Kb_read Kb_wrtn`, `tty: tin tout avg-cpu: % user …`, or \
                 of -D",
    yields: &["disk", "disk_device", "disk_io", "cpu", "cpu_idle"],
    example: "\
System configuration: lcpu=8 drives=1 paths=1 vdisks=0

tty:      tin         tout    avg-cpu: % user % sys % idle % iowait
          0.0         10.0                5.0   2.0   93.0      0.0

Disks:        % tm_act     Kbps      tps    Kb_read   Kb_wrtn
hdisk0           5.0     160.0      20.0   1000000   2000000

tty:      tin         tout    avg-cpu: % user % sys % idle % iowait
          0.0         12.0               50.0  12.0   38.0      0.0

Disks:        % tm_act     Kbps      tps    Kb_read   Kb_wrtn
hdisk0          50.0    1600.0     200.0      4000      4000
",
    recognise: |head: &Head| {
        let known = |line: &[u8]| {
            header(line).is_some_and(|(part, _)| part != Part::System)
                || detailed::group(line).is_some_and(|(device, _)| device.is_some())
        };
        if head.lines().any(known) { 90 } else { 0 }
    },
    parser: || Box::new(Iostat::new()),
};

struct Iostat {
    /// What is being read, and the names of its columns.
    part: Part,
    names: Vec<String>,
    /// The next row begins a report.
    fresh: bool,
    /// Adapters, devices and paths of the present report.
    seen: HashSet<Vec<u8>>,
    /// The present report told of processors.
    has_processors: bool,
    /// A report of `-D` has several devices and no line between them: a line is its end.
    ruled: Ruled,
    since_boot: SinceBoot,
    stamp: Option<Stamp>,
    /// Processors that a partition is entitled to, where it shares them.
    entitled: Option<f64>,
    /// The disk whose paths or groups come.
    device: Vec<u8>,
    group: Option<Group>,
    rows: Rows,
    cpu: Cpu,
    disks: Disks,
    disk: Shape,
    busy: Shape,
}

/// What is known of the lines that `-D` puts between devices or reports.
#[derive(Default)]
struct Ruled {
    /// One came since the last device.
    line: bool,
    /// Two devices came without one between them: it stands between reports.
    between_reports: bool,
}

impl Iostat {
    fn new() -> Iostat {
        Iostat {
            part: Part::Nothing,
            names: Vec::new(),
            fresh: true,
            seen: HashSet::new(),
            has_processors: false,
            ruled: Ruled::default(),
            since_boot: SinceBoot::new(),
            stamp: None,
            entitled: None,
            device: Vec::new(),
            group: None,
            rows: Rows::Unknown,
            cpu: Cpu::new(),
            disks: Disks::new(),
            disk: Shape::of("disk", &["ios", "bytes"]),
            busy: Shape::of("disk_device", &["busy"]),
        }
    }

    fn begin(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.fresh) {
            self.disks.flush(out);
            self.seen.clear();
            self.has_processors = false;
            sample(&mut self.stamp, out);
            self.since_boot.begins(out);
        }
    }

    /// The same at a row of that name, which comes once in a report.
    fn begin_with(&mut self, name: &[u8], out: &mut Out) {
        self.fresh |= self.seen.contains(name);
        self.begin(out);
        self.seen.insert(name.to_vec());
    }

    fn of(&self, values: &[f64], name: &str) -> f64 {
        let place = self.names.iter().position(|n| n == name);
        let value = place.and_then(|p| values.get(p)).copied();
        value.unwrap_or(f64::NAN)
    }

    /// `0.0 10.0 5.0 2.0 93.0 0.0`.
    fn processors(&mut self, line: &[u8], out: &mut Out) -> Option<()> {
        let values = self.values(fields(line))?;
        // Below one header each row is a report.
        self.fresh |= self.has_processors;
        self.begin(out);
        self.has_processors = true;
        let share = |name: &str| self.of(&values, name) / 100.0;
        let shares = Shares {
            user: share("%user"),
            system: share("%sys"),
            idle: share("%idle"),
            iowait: share("%iowait"),
            ..UNKNOWN
        };
        if !shares.user.is_nan() {
            let count = match self.entitled {
                // Shares are of what it is entitled to, or of what it consumed where that is more.
                Some(entitled) => entitled.max(self.of(&values, "physc")),
                None => out.processors(),
            };
            let all = out.word(b"all");
            self.cpu.put(out, all, count, &shares);
        }
        let empty = out.word(b"");
        for (name, unit) in [
            ("tin", "characters/s"),
            ("tout", "characters/s"),
            ("avgc", "requests/s"),
            ("avfc", "requests/s"),
            ("maxgc", "requests"),
            ("maxfc", "requests"),
            ("maxreqs", "requests"),
            ("physc", "CPUs"),
            ("%entc", "%"),
        ] {
            let value = self.of(&values, name);
            if !value.is_nan() {
                out.other(name, unit, empty, value);
            }
        }
        Some(())
    }

    /// `hdisk0 5.0 160.0 20.0 1000000 2000000`.
    fn disk(&mut self, line: &[u8], out: &mut Out) -> Option<()> {
        let mut words = fields(line);
        let mut name = words.next()?.to_vec();
        let values = self.values(words)?;
        match self.part {
            Part::Paths if !name.starts_with(&self.device) => {
                name = [&self.device[..], b"_", &name].concat();
            }
            Part::Disks => self.device.clone_from(&name),
            _ => {}
        }
        self.begin_with(&name, out);
        let layer = match self.part {
            Part::System => "total",
            _ => layer_of(&name),
        };
        let put = |out: &mut Out, op: &str, row: [f64; 2], amount: bool| {
            let words = [&name[..], layer.as_bytes(), op.as_bytes()].map(|w| out.word(w));
            if amount {
                out.put_amounts(&self.disk, &words, &row);
            } else {
                out.put(&self.disk, &words, &row);
            }
        };
        // Reads and writes are told apart in bytes only.
        put(out, "(all)", [self.of(&values, "tps"), f64::NAN], false);
        for (op, column) in [("read", "Kb_read"), ("write", "Kb_wrtn")] {
            let bytes = self.of(&values, column) * KIB;
            put(out, op, [f64::NAN, bytes], true);
        }
        let words = [&name[..], layer.as_bytes()].map(|w| out.word(w));
        let busy = self.of(&values, "%tm_act") / 100.0;
        if !busy.is_nan() {
            out.put(&self.busy, &words, &[busy]);
        }
        Some(())
    }

    /// `Physical 31.5 7.8 960 1280`, of all disks together; older versions print no name.
    fn system(&mut self, line: &[u8], out: &mut Out) -> Option<()> {
        if fields(line).count() == self.names.len() {
            let named = [&b"Physical "[..], line].concat();
            return self.disk(&named, out);
        }
        self.disk(line, out)
    }

    fn adapter(&mut self, line: &[u8], out: &mut Out) -> Option<()> {
        let all = self.timed(fields(line).collect())?;
        let (name, all) = all.split_first()?;
        numbers(all.iter().copied())?;
        self.begin_with(name, out);
        detailed::adapter(name, all, all.len(), out)
    }

    /// A row of `-D -l`.
    fn long(&mut self, line: &[u8], out: &mut Out) -> Option<()> {
        let all = self.timed(fields(line).collect())?;
        let (name, all) = all.split_first()?;
        if self.rows.count() != Some(all.len()) {
            return None;
        }
        self.begin_with(name, out);
        self.disks.row(self.rows, name, all, out)
    }

    /// Numbers below the names of a group of `-D`.
    fn group(&mut self, line: &[u8], out: &mut Out) -> Option<()> {
        let group = self.group?;
        let all = self.timed(fields(line).collect())?;
        self.group = None;
        let device = std::mem::take(&mut self.device);
        self.begin(out);
        self.seen.insert(device.clone());
        let is_adapter = self.names.first().is_some_and(|n| n == "Kbps");
        let taken = match (is_adapter, group) {
            (true, Group::Transfers) => detailed::adapter(&device, &all, all.len(), out),
            // Its disks tell the same.
            (true, _) => numbers(all).map(|_| ()),
            (false, _) => self.disks.group(group, &device, &all),
        };
        self.device = device;
        taken
    }

    /// The names of a group of `-D`.
    fn group_names(&mut self, line: &[u8], out: &mut Out) -> Option<()> {
        let (device, group) = detailed::group(line)?;
        let text = |f: &[u8]| String::from_utf8_lossy(f).into_owned();
        if let Some(device) = device {
            self.disks.flush(out);
            if self.part != Part::Groups && self.part > Part::Adapters {
                self.fresh = true;
            }
            let ruled = std::mem::take(&mut self.ruled.line);
            self.ruled.between_reports |= !ruled && !self.seen.is_empty();
            self.fresh |= self.seen.contains(device) || ruled && self.ruled.between_reports;
            self.device = device.to_vec();
            self.names = fields(line).skip(2).map(text).collect();
        } else if self.device.is_empty() {
            return None;
        }
        self.part = Part::Groups;
        self.group = Some(group);
        Some(())
    }

    /// As many numbers as there are columns; the time of -T tells when the report was.
    fn values<'a>(&mut self, words: impl Iterator<Item = &'a [u8]>) -> Option<Vec<f64>> {
        let words: Vec<&[u8]> = words.collect();
        if words.is_empty() || words.len() != self.names.len() {
            return None;
        }
        numbers(self.timed(words)?)
    }

    /// The words without the time that -T puts behind them.
    fn timed<'a>(&mut self, mut words: Vec<&'a [u8]>) -> Option<Vec<&'a [u8]>> {
        if self.names.last().is_some_and(|n| n == "time") {
            self.stamp = Some(Stamp::Clock(time_of_day(words.pop()?, None)?));
        }
        Some(words)
    }

    fn row(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        match self.part {
            Part::Nothing => None,
            Part::Processors => self.processors(line, out),
            Part::System => self.system(line, out),
            Part::Adapters => self.adapter(line, out),
            Part::Disks | Part::Paths => self.disk(line, out),
            Part::Groups => self.group(line, out),
            Part::Long => self.long(line, out),
        }
        .map(|()| Line::Data)
    }

    fn header(&mut self, part: Part, names: Vec<String>) {
        // Adapters stand before their disks, which have a header each time; what is of the next
        // report begins with one that was there.
        let again = match part {
            Part::Adapters | Part::Paths => false,
            Part::Disks if self.part == Part::Adapters => false,
            Part::Disks if self.part == Part::Paths => false,
            Part::Long => self.part == Part::Long && self.rows == Rows::Disks,
            _ => part <= self.part,
        };
        self.fresh |= again;
        (self.part, self.names) = (part, names);
        self.rows = Rows::Unknown;
        self.group = None;
    }

    /// The tool was started anew, or its configuration changed.
    fn anew(&mut self, out: &mut Out) {
        self.disks.flush(out);
        if !self.seen.is_empty() || self.part != Part::Nothing {
            out.broken();
        }
        (self.part, self.fresh) = (Part::Nothing, true);
        self.since_boot.anew();
        self.seen.clear();
        self.ruled = Ruled::default();
    }

    /// Lines around the tables.
    fn other_line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = line.trim_ascii();
        if text.starts_with(b"-----") {
            self.ruled.line = true;
            return Line::Noise;
        }
        if let Some(name) = text.strip_prefix(b"System:") {
            // It stands before the disks of a report.
            out.host(name.trim_ascii());
            self.fresh |= self.part > Part::Processors;
            self.part = self.part.min(Part::Processors);
            return Line::Noise;
        }
        // The last line of names of `-D -l`.
        let names = [
            &b"act"[..],
            b"serv",
            b"time",
            b"outs",
            b"wqsz",
            b"sqsz",
            b"qfull",
        ];
        let is_names = self.part == Part::Long && fields(line).all(|f| names.contains(&f));
        if is_names || text.starts_with(b"Disk history since boot") {
            return Line::Noise;
        }
        blank_or_unknown(line)
    }
}

impl Parser for Iostat {
    fn look(&mut self, head: &Head) {
        self.since_boot.look(head);
    }

    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some((part, names)) = header(line) {
            self.disks.flush(out);
            self.header(part, names);
            return Line::Noise;
        }
        if self.group_names(line, out).is_some() {
            return Line::Noise;
        }
        if self.part == Part::Long
            && let Some(rows) = detailed::long_names(line)
        {
            self.rows = rows;
            return Line::Noise;
        }
        if let Some(seen) = self.row(line, out) {
            return seen;
        }
        if let Some(count) = configured(line, "lcpu") {
            if count >= 1.0 {
                out.has_processors(count as u32);
            }
            self.entitled = configured(line, "ent").filter(|ent| *ent > 0.0);
            self.anew(out);
            return Line::Noise;
        }
        match between(line, "iostat", &[], out) {
            Some(Between::Command) => self.anew(out),
            Some(Between::Stamp(stamp)) => {
                self.disks.flush(out);
                (self.stamp, self.fresh) = (Some(stamp), true);
                self.part = Part::Nothing;
            }
            Some(_) => {}
            None => return self.other_line(line, out),
        }
        Line::Noise
    }

    fn end(&mut self, out: &mut Out) {
        self.disks.flush(out);
    }
}
