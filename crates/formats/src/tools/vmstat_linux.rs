//! `vmstat` of Linux (procps): `-a`, `-w`, `-t`, `-n`, `-S`, and `-d`, the counters of disks.
//!
//! The first report is a mean since boot; of `-d` all are counts since boot. Memory and swap
//! are in KiB, `bi` and `bo` in blocks of 1,024 bytes (procps 3.3 and 4.0, `vmstat(8)`). `-S`
//! changes the unit of memory and swap, which only an echoed command line tells. `-p` prints
//! counters of a partition. Of `-s`, `-D` and `-f`, printed again and again, what came to each
//! counter is kept by name; one alone is refused, and `-m`.
//! `pmrep :vmstat` of Performance Co-Pilot prints the same columns, wider ([`pmrep`]).

mod disks;
mod exawatcher;
mod lists;
mod names;
mod pmrep;
mod unit;

use jiff::civil::Date;

use self::disks::Banner;
use self::unit::Unit;
use crate::counters::Counters;
use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::echo;
use crate::headers::Headers;
use crate::lines::{WRAPPED, rows_in};
use crate::list::Format;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::stamp_line::{self, stamp_of};
use crate::time::{Refused, Stamp, time_of_day};
use crate::together::Columns;
use crate::tools::vmstat_counts::Counts;
use crate::{Line, Parser, fields, numbers};

const KIB: f64 = 1024.0;

pub(crate) const FORMAT: Format = Format {
    name: "vmstat-linux",
    tool: "vmstat",
    systems: "Linux",
    help: "processes, memory, swap, I/O, interrupts and processors; disks with -d",
    recognised: "a header line `r b swpd free …`, `disk- ---reads---` of -d, or that of -p",
    yields: &[
        "system",
        "memory",
        "memory_state",
        "vm",
        "interrupt",
        "cpu",
        "cpu_idle",
        "disk",
        "disk_device",
    ],
    example: "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 0  0    524 763388 147216 819640    0    0   288   108  195 2509  4  3 93  0  0
 1  0    524 763388 147216 819640    0    0     0    64   57   96  0  1 99  0  0
",
    recognise,
    parser: || Box::new(Vmstat::new()),
};

fn recognise(head: &Head) -> u8 {
    let plain = head.headers().any(|line| {
        let words: Vec<&[u8]> = fields(line).take(24).collect();
        names::of_header(&words).is_some()
    });
    let disks = head.any_fields(&["total", "merged", "sectors", "ms"]) || disks::begins(head);
    let partition = head.any_fields(&["reads", "read", "sectors", "writes", "requested"]);
    if plain || disks || partition {
        90
    } else if head.lines().any(|l| lists::list_of(l).is_some()) {
        60
    } else {
        0
    }
}

/// What the header says of the columns.
enum Table {
    None,
    /// Names of the columns.
    System(Vec<String>),
    /// `-d`, and its header below the line of dashes, in any language.
    Disks,
    DisksHeader,
    /// `-p`: the partition.
    Partition(Vec<u8>),
}

/// What printed the columns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Procps,
    /// `pmrep :vmstat`.
    Pmrep,
}

struct Vmstat {
    table: Table,
    headers: Headers,
    /// Its columns, for rows whose numbers run together.
    together: Columns,
    /// Reports so far.
    reports: u64,
    cpu: Cpu,
    system: Shape,
    memory: Shape,
    swap: Shape,
    vm: Shape,
    interrupt: Shape,
    disk: Shape,
    device: Shape,
    disks: Counters,
    /// So many samples there were when the last of them was read.
    sampled: u64,
    /// The device that begins a report of -d.
    first: Vec<u8>,
    /// The zone that the header names.
    zone: Vec<u8>,
    /// The header names one, or the banner has a timestamp: rows end in a time.
    timed: bool,
    /// Of memory and swap.
    unit: Unit,
    /// `-y`: the first report is one like others.
    no_first: bool,
    by: By,
    /// `vmstat 1 2 | tail -1`: how long the intervals are, and how long after the start they end.
    last_alone: Option<(f64, f64)>,
    /// `-s`, `-D`, `-f`.
    counts: Counts,
    /// A line before the report tells its time.
    stamp: Option<Stamp>,
}

impl Vmstat {
    fn new() -> Vmstat {
        Vmstat {
            table: Table::None,
            headers: Headers::default(),
            together: Columns::default(),
            reports: 0,
            cpu: Cpu::new(),
            system: Shape::of("system", &["runnable", "blocked", "context_switches"]),
            memory: Shape::of("memory", &["bytes"]),
            swap: Shape::of("memory_state", &["swap_used"]),
            vm: Shape::of(
                "vm",
                &["paged_in", "paged_out", "swapped_in", "swapped_out"],
            ),
            interrupt: Shape::of("interrupt", &["count"]),
            disk: Shape::of("disk", &["ios", "merges", "bytes", "time"]),
            device: Shape::of("disk_device", &["busy", "inflight"]),
            disks: Counters::default(),
            sampled: 0,
            first: Vec::new(),
            zone: Vec::new(),
            timed: false,
            unit: Unit::usual(),
            no_first: false,
            by: By::Procps,
            last_alone: None,
            counts: Counts::of_linux(),
            stamp: None,
        }
    }

    /// A command line that stands in the text.
    fn command(&mut self, arguments: &[&[u8]], out: &mut Out) {
        if [b's', b'D', b'f']
            .iter()
            .any(|f| echo::has_flag(arguments, *f))
        {
            return;
        }
        // What it says is of the reports to come.
        out.broken();
        self.disks = Counters::default();
        self.first.clear();
        if let Some(seconds) = echo::interval(arguments, &["-S", "--unit", "-p", "--partition"]) {
            out.every(seconds);
        }
        self.unit = Unit::of_command(arguments);
        self.last_alone = echo::last_alone(arguments);
        self.no_first = echo::has_flag(arguments, b'y')
            || arguments.contains(&&b"--no-first"[..])
            || self.last_alone.is_some();
        self.reports = 0;
    }

    /// The time of a row, which procps 3.2 follows with its zone.
    fn stamp(&self, words: &[&[u8]], out: &mut Out) -> Option<Stamp> {
        let (date, time, zone) = match *words {
            [date, time] => (date, time, &b""[..]),
            [date, time, zone] if names::is_zone(zone) => (date, time, zone),
            _ => return None,
        };
        // The text may end within it.
        if [date.len(), time.len()] != [10, 8] {
            return None;
        }
        let date: Date = std::str::from_utf8(date).ok()?.parse().ok()?;
        let at = date.to_datetime(time_of_day(time, None)?);
        let zone = if zone.is_empty() { &self.zone } else { zone };
        if is_utc(zone) {
            return Some(Stamp::Zoned(at, 0));
        }
        if stamp_line::is_zone_name(zone) {
            stamp_line::note_zone(zone, at, out);
        }
        Some(Stamp::Civil(at))
    }

    fn system(&mut self, names: &[String], line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        if self.reports == 0 && pmrep::is_without_rates(&all) {
            // Its header may have lost the blanks by which it is known.
            self.by = By::Pmrep;
            self.reports = 1;
            return Line::Noise;
        }
        let Some(values) = all
            .get(..names.len())
            .filter(|f| !Columns::is_together(f.iter().copied()))
            .and_then(|f| match self.by {
                By::Pmrep => pmrep::values(f),
                By::Procps => numbers(f.iter().copied()),
            })
        else {
            return Line::Unknown;
        };
        let stamp = match all[names.len()..] {
            [] => None,
            ref time if self.timed => match self.stamp(time, out) {
                Some(stamp) => Some(stamp),
                None => return Line::Unknown,
            },
            _ => return Line::Unknown,
        };
        match self.last_alone {
            Some((every, passed)) => {
                let started = self.stamp.take().map(|started| started.later(passed));
                let at = stamp.or(started);
                if at.is_none() {
                    out.note(
                        "how much time passed from one run of the tool to the next is not told",
                    );
                }
                out.sample_once(at);
                out.spans(every);
            }
            None => out.sample_since_boot_first(stamp.or(self.stamp.take())),
        }
        if self.reports == 0 && !self.no_first {
            out.since_boot();
        }
        self.reports += 1;
        self.headers.row();
        let of = |name: &str| {
            let place = names.iter().position(|n| n == name);
            place.map_or(f64::NAN, |p| values[p])
        };
        out.put(&self.system, &[], &[of("r"), of("b"), of("cs")]);
        for (column, kind) in [("free", "free"), ("buff", "buffers"), ("cache", "cache")] {
            if !of(column).is_nan() {
                let kind = out.word(kind.as_bytes());
                out.put(&self.memory, &[kind], &[of(column) * self.unit.bytes]);
            }
        }
        if self.by == By::Procps {
            // With -a what is active and what is not stand for caches.
            let all = ["free", "buff", "cache", "inact", "active"].map(of);
            let known = all.into_iter().filter(|n| !n.is_nan());
            self.unit.doubt(known.sum(), out);
        }
        let empty = out.word(b"");
        for column in ["inact", "active"] {
            out.other(column, self.unit.name, empty, of(column));
        }
        let unknown = |n: &&String| !n.is_empty() && !names::KNOWN.contains(&n.as_str());
        for column in names.iter().filter(unknown) {
            out.other(column, "", empty, of(column));
        }
        out.put(&self.swap, &[], &[of("swpd") * self.unit.bytes]);
        let (bi, bo) = (of("bi") * KIB, of("bo") * KIB);
        let (si, so) = if self.by == By::Pmrep {
            for column in ["si", "so"] {
                out.other(column, "pages/s", empty, of(column));
            }
            (f64::NAN, f64::NAN)
        } else {
            (of("si") * self.unit.bytes, of("so") * self.unit.bytes)
        };
        out.put(&self.vm, &[], &[bi, bo, si, so]);
        let words = [out.word(b"hard"), out.word(b"all")];
        out.put(&self.interrupt, &words, &[of("in")]);
        let share = |name| of(name) / 100.0;
        let shares = Shares {
            user: share("us"),
            system: share("sy"),
            guest: share("gu"),
            idle: share("id"),
            iowait: share("wa"),
            steal: share("st"),
            ..UNKNOWN
        };
        self.cpu.put_all(out, &shares);
        Line::Data
    }

    /// A header or another line that tells about those below.
    fn header(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        let all: Vec<&[u8]> = fields(line).collect();
        if let Some(banner) = Banner::of(&all) {
            self.timed = all.last().is_some_and(|w| w.ends_with(b"timestamp---"));
            if banner == Banner::Disks {
                self.table = Table::DisksHeader;
            }
            return Some(Line::Noise);
        }
        if let Some(mut names) = names::of_header(&all) {
            // With -t the last column is named by its zone; older ones have it in each row.
            let zone = names.pop_if(|n| names::is_zone(n.as_bytes()));
            self.timed |= zone.is_some();
            match zone {
                Some(zone) => self.zone = zone.into_bytes(),
                None => names::leave_out_cut(&mut names, out),
            }
            if self.headers.begin_anew(out) {
                self.reports = 0;
            }
            if pmrep::is_header(line) {
                (self.by, self.no_first) = (By::Pmrep, true);
            }
            // With -t there are more fields than numbers, which is left to the parser alone.
            let shares = ["us", "sy", "id", "wa", "st", "gu"];
            self.together = if names.len() == all.len() && line.is_ascii() {
                Columns::of(line).whole().with_shares(line, &shares)
            } else {
                Columns::default()
            };
            self.table = Table::System(names);
            return Some(Line::Noise);
        }
        if matches!(self.table, Table::System(_)) && all.contains(&&b"id"[..]) {
            out.refuse(Refused(WRAPPED.into()));
            return Some(Line::Noise);
        }
        if all.starts_with(&[b"total", b"merged"]) || matches!(self.table, Table::DisksHeader) {
            let zone = all
                .last()
                .copied()
                .filter(|zone| stamp_line::is_zone_name(zone));
            self.zone = zone.unwrap_or_default().to_vec();
            self.table = Table::Disks;
            return Some(Line::Noise);
        }
        if let [
            name,
            b"reads",
            b"read",
            b"sectors",
            b"writes",
            b"requested",
            b"writes",
        ] = all[..]
        {
            self.table = Table::Partition(name.to_vec());
            return Some(Line::Noise);
        }
        if let Some(list) = lists::list_of(line) {
            if list != lists::SLABS && matches!(self.table, Table::None) {
                // How the list begins was cut off.
                return None;
            }
            out.refuse(lists::refused(list));
            return Some(Line::Noise);
        }
        if let Some(arguments) = echo::command(line, "vmstat") {
            self.command(&arguments, out);
            return Some(Line::Noise);
        }
        if exawatcher::is_about(line) {
            return Some(Line::Noise);
        }
        match stamp_of(exawatcher::start(line).unwrap_or(line), out) {
            Ok(Some(stamp)) => {
                self.stamp = Some(stamp);
                // Each time the tool was started anew.
                self.reports = 0;
                self.first.clear();
                Some(Line::Noise)
            }
            Ok(None) => None,
            Err(why) => {
                out.refuse(why);
                Some(Line::Noise)
            }
        }
    }
}

fn is_utc(zone: &[u8]) -> bool {
    matches!(zone, b"UTC" | b"GMT")
}

impl Vmstat {
    /// A row that is not understood; its time may be.
    fn lost_row(&mut self, stamp: Option<Stamp>, out: &mut Out) {
        match stamp {
            Some(stamp) => {
                out.sample_once(Some(stamp));
                out.gap();
            }
            // Before any time nothing has to be kept free.
            None if self.timed && !out.is_stamped() => {}
            None => out.lost(),
        }
        if self.reports == 0 && !self.no_first {
            out.since_boot();
        }
        self.reports += 1;
        self.headers.row();
    }
}

impl Parser for Vmstat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let Table::System(names) = &self.table else {
            return;
        };
        let rows = rows_in(line, names.len());
        let mut stamp = self.stamp.take_if(|_| rows > 0);
        if let Some((time, _)) = exawatcher::timed(line) {
            stamp = Some(Stamp::Clock(time));
        }
        if self.timed {
            let all: Vec<&[u8]> = fields(line).collect();
            let ends = [2, 3].map(|n| all.get(all.len().saturating_sub(n)..));
            let found = ends.into_iter().flatten().find_map(|e| self.stamp(e, out));
            stamp = found.or(stamp);
        }
        for row in 0..rows {
            // Of two rows in one line it is the last one's.
            let stamp = stamp.filter(|_| row + 1 == rows);
            self.lost_row(stamp, out);
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        let starts_with_digit = line
            .trim_ascii_start()
            .first()
            .is_some_and(u8::is_ascii_digit);
        let of_system = starts_with_digit && matches!(self.table, Table::System(_));
        if matches!(self.table, Table::None)
            && let Some(seen) = self.counts.take(line, &mut self.stamp, out)
        {
            return seen;
        }
        if !of_system && let Some(seen) = self.header(line, out) {
            return seen;
        }
        match std::mem::replace(&mut self.table, Table::None) {
            Table::None => {
                // What is before the first header is not the beginning of an output.
                let row = numbers(fields(line)).is_some_and(|v| v.len() > 10);
                self.reports = self.reports.max(u64::from(row));
                Line::Unknown
            }
            Table::System(names) => {
                let mut seen = match exawatcher::timed(line) {
                    Some((time, row)) => self.timed(&names, time, row, out),
                    None => self.system(&names, line, out),
                };
                if seen == Line::Unknown
                    && !out.is_endless()
                    && let Some(apart) = self.together.apart(line)
                {
                    seen = self.system(&names, &apart, out);
                }
                self.table = Table::System(names);
                match seen {
                    // A time before the next report.
                    Line::Unknown => self.header(line, out).unwrap_or(Line::Unknown),
                    seen => seen,
                }
            }
            Table::Disks | Table::DisksHeader => {
                self.table = Table::Disks;
                self.disk(line, out)
            }
            Table::Partition(name) => {
                let seen = self.partition(&name, line, out);
                self.table = Table::Partition(name);
                seen
            }
        }
    }

    fn lists_all(&self) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        if self.counts.readings == 1 {
            out.refuse(lists::one_alone());
        }
    }
}
