//! `iostat` of FreeBSD (also `-x`, `-I`, `-d`, `-C`, `-T`, `-o`), OpenBSD (also `-D`), NetBSD
//! (also `-x`) and macOS.
//!
//! ```text
//!                         extended device statistics
//! device     r/s   w/s    kr/s    kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b
//! ada0         3     1    49.9    18.8     0     1     0     1    0   0
//!
//!        tty             ada0             cpu
//!  tin  tout  KB/t   tps  MB/s  us ni sy in id
//!    0    10 20.83     5  0.10   1  0  1  0 98
//! ```
//!
//! Kilobytes and megabytes are powers of 1,024 (`iostat.c` of each). Until FreeBSD 10 there is one
//! service time of reads and writes. With `-I` numbers are amounts, not rates. The first report
//! is since boot. `wait` and `qlen` are the queue's length at the end. Of OpenBSD `sp` is the time
//! that the kernel waits for a lock of another processor: its `vmstat` has it in `sy`, too.
//!
//! With `-x` terminals and processors follow the first device in its line; since FreeBSD 14 the
//! processors have a table of their own above that of the devices. With `-z` devices without I/Os
//! have no line, and there may be none at all below a header.

mod extended;
mod layout;

use self::extended::{Columns as Extended, Devices, put};
use self::layout::Layout;
use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::disk::layer_of_cut;
use crate::echo;
use crate::headers::Headers;
use crate::list::Format;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::stamp_line::stamp_of;
use crate::time::Stamp;
use crate::together::Columns;
use crate::tools::solaris::lost;
use crate::{Line, Parser, fields, numbers};

const KIB: f64 = 1024.0;

/// A share of an interval, with what reading it at other times may add.
const MOST_BUSY: f64 = 1.2;

pub(crate) const FORMAT: Format = Format {
    name: "iostat-bsd",
    tool: "iostat",
    systems: "FreeBSD, OpenBSD, NetBSD, macOS",
    help: "disks, by device or side by side; terminals, processors and load with them",
    recognised: "a header `device r/s w/s kr/s kw/s …` without `actv`, or groups `KB/t tps MB/s`, or \
                 `us ni sy in id` alone",
    yields: &["disk", "disk_device", "cpu", "cpu_idle", "system"],
    example: "\
                        extended device statistics
device     r/s   w/s    kr/s    kw/s wait svc_t  %b
ad0        3.1   1.3    49.9    18.8    0   0.7   0
                        extended device statistics
device     r/s   w/s    kr/s    kw/s wait svc_t  %b
ad0        0.0   2.0     0.0    31.8    0   0.2   1
",
    recognise,
    parser: || Box::new(Iostat::new()),
};

fn recognise(head: &Head) -> u8 {
    let found = head.headers().any(|line| {
        let all: Vec<&[u8]> = fields(line).collect();
        Extended::of(&all).is_some() || Layout::of(&all).is_some()
    });
    if found { 88 } else { 0 }
}

/// What the lines are.
enum Table {
    None,
    Extended(Extended),
    /// What stands side by side, and the names of its disks.
    Groups(Layout, Vec<Vec<u8>>),
}

struct Iostat {
    headers: Headers,
    table: Table,
    /// Columns of the groups, for rows whose numbers run together.
    together: Columns,
    /// Disks, as the line over the groups names them.
    disks: Vec<Vec<u8>>,
    devices: Devices,
    reports: u64,
    stamp: Option<Stamp>,
    /// A header of `-x` came whose report is still to begin.
    fresh: bool,
    /// The present report began with a table of processors alone.
    of_processors: bool,
    cpu: Cpu,
    disk: Shape,
    device: Shape,
    load: Shape,
}

impl Iostat {
    fn new() -> Iostat {
        Iostat {
            headers: Headers::default(),
            table: Table::None,
            together: Columns::default(),
            disks: Vec::new(),
            devices: Devices::new(),
            reports: 0,
            stamp: None,
            fresh: false,
            of_processors: false,
            cpu: Cpu::new(),
            disk: Shape::of("disk", &["ios", "bytes", "time"]),
            device: Shape::of("disk_device", &["busy"]),
            load: Shape::of("system", &["load1", "load5", "load15"]),
        }
    }

    fn begin(&mut self, out: &mut Out) {
        self.devices.close(out);
        out.sample_since_boot_first(self.stamp.take());
        if self.reports == 0 {
            out.since_boot();
        }
        self.reports += 1;
        self.fresh = false;
    }

    /// A line of `-x`.
    fn extended(&mut self, columns: &Extended, all: &[&[u8]], out: &mut Out) -> Line {
        let Some(row) = columns.row(all) else {
            return Line::Unknown;
        };
        let again = row
            .device
            .as_ref()
            .is_some_and(|(name, _)| self.devices.is_next(name));
        if self.fresh || again || !out.has_sample() {
            self.begin(out);
            self.devices.open(columns);
        }
        if let Some((name, values)) = &row.device {
            self.devices.row(name, values, out);
        }
        if !row.machine.is_empty() {
            let of = |name: &str| {
                let place = columns.machine.iter().position(|n| n == name);
                place
                    .and_then(|p| row.machine.get(p))
                    .copied()
                    .unwrap_or(f64::NAN)
            };
            self.machine(&of, out);
        }
        Line::Data
    }

    /// A header of `-x`.
    fn extended_header(&mut self, columns: Extended, out: &mut Out) {
        if std::mem::take(&mut self.of_processors) {
            self.headers = Headers::default();
        } else {
            // That before had no line below it.
            if self.fresh {
                self.begin(out);
            }
            self.fresh = true;
        }
        self.devices.open(&columns);
        self.table = Table::Extended(columns);
    }

    /// What is of the machine: terminals, processors, load.
    fn machine(&self, of: &dyn Fn(&str) -> f64, out: &mut Out) {
        let none = out.word(b"");
        for column in ["tin", "tout"] {
            out.other(column, "characters/s", none, of(column));
        }
        if !of("us").is_nan() {
            let share = |name: &str| of(name) / 100.0;
            let spin = Some(share("sp")).filter(|s| !s.is_nan());
            let shares = Shares {
                user: share("us"),
                nice: share("ni"),
                system: share("sy") + spin.unwrap_or(0.0),
                irq: share("in"),
                idle: share("id"),
                ..UNKNOWN
            };
            self.cpu.put_all(out, &shares);
            let all = out.word(b"all");
            out.other("sp", "%", all, of("sp"));
        }
        if !of("1m").is_nan() {
            out.put(&self.load, &[], &[of("1m"), of("5m"), of("15m")]);
        }
    }

    /// A report of groups side by side.
    fn groups(&mut self, layout: &Layout, disks: &[Vec<u8>], all: &[&[u8]], out: &mut Out) -> Line {
        let whole = |n: &Vec<f64>| n.len() == layout.names.len();
        let Some(n) = numbers(all.iter().copied()).filter(whole) else {
            return Line::Unknown;
        };
        // With -I OpenBSD prints what was counted since boot below the same header.
        let busiest = layout.of_disks(&n).map(|v| layout.of_disk(v, &["time"]));
        if busiest.fold(0.0, f64::max) > MOST_BUSY {
            return Line::Unknown;
        }
        self.begin(out);
        self.headers.row();
        self.of_processors = disks.is_empty();
        for (values, name) in layout.of_disks(&n).zip(disks) {
            let printed = name.split(|b| *b == b'#').next().unwrap_or(name);
            let device = out.word(name);
            let layer = out.word(layer_of_cut(printed).as_bytes());
            let of = |names: &[&str]| layout.of_disk(values, names);
            let amounts = !of(&["xfrs"]).is_nan();
            let words = [device, layer, out.word(b"(all)")];
            let ios = of(&["tps", "t/s", "xfrs", "xfr"]);
            let mib = of(&["MB/s", "MB"]) * KIB * KIB;
            let bytes = if mib.is_nan() { of(&["KB"]) * KIB } else { mib };
            put(out, &self.disk, &words, &[ios, bytes, f64::NAN], amounts);
            let busy = of(&["time"]);
            if !busy.is_nan() {
                out.put(&self.device, &[device, layer], &[busy]);
            }
            for (column, unit) in [("KB/t", "KiB"), ("sps", "sectors/s"), ("msps", "ms")] {
                out.other(column, unit, device, of(&[column]));
            }
        }
        self.machine(&|name| layout.value(&n, name), out);
        Line::Data
    }

    /// A header of groups side by side.
    fn groups_header(&mut self, layout: Layout, line: &[u8], out: &mut Out) -> Line {
        // Names that do not fit their groups would be guesses.
        if self.disks.len() != layout.disks {
            self.table = Table::None;
            return Line::Unknown;
        }
        if self.headers.begin_anew(out) {
            self.reports = 0;
        }
        let shares = ["us", "ni", "sy", "sp", "in", "id"];
        self.together = Columns::of(line).with_shares(line, &shares);
        self.table = Table::Groups(layout, self.disks.clone());
        Line::Noise
    }

    /// A line that tells about those below; `None` if it is none.
    fn header(&mut self, line: &[u8], all: &[&[u8]], out: &mut Out) -> Option<Line> {
        if all.starts_with(&[b"extended", b"device"]) {
            return Some(Line::Noise);
        }
        if let Some(columns) = Extended::of(all) {
            self.extended_header(columns, out);
            return Some(Line::Noise);
        }
        if let Some(layout) = Layout::of(all) {
            return Some(self.groups_header(layout, line, out));
        }
        if let Some(arguments) = echo::command(line, "iostat") {
            // What it says is of the reports to come.
            out.broken();
            let valued = ["-w", "-c", "-n", "-t", "-M", "-N"];
            let told = echo::value(&arguments, &["-w"]).and_then(crate::number::number);
            if let Some(seconds) = told.or_else(|| echo::interval(&arguments, &valued)) {
                out.every(seconds);
            }
            self.devices.close(out);
            self.devices.leaves_out = Some(echo::has_flag(&arguments, b'z'));
            (self.fresh, self.of_processors) = (false, false);
            self.reports = 0;
            return Some(Line::Noise);
        }
        match stamp_of(line, out) {
            Ok(Some(stamp)) => {
                // It prints none itself: a script started it anew.
                self.stamp = Some(stamp);
                self.reports = 0;
                return Some(Line::Noise);
            }
            Ok(None) => {}
            Err(why) => out.refuse(why),
        }
        // The names over the groups.
        let idle = matches!(&self.table, Table::Extended(columns) if columns.name_if_idle);
        if idle && all.len() == 1 {
            return None;
        }
        self.disks = layout::disks(line)?;
        Some(Line::Noise)
    }
}

impl Parser for Iostat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let layout = match &self.table {
            Table::Groups(layout, _) => layout,
            Table::Extended(columns) if columns.are_in(line) => {
                if self.fresh {
                    let columns = columns.clone();
                    self.begin(out);
                    self.devices.open(&columns);
                }
                self.devices.garbled = true;
                return;
            }
            _ => return,
        };
        for _ in 0..crate::lines::rows_in(line, layout.names.len()) {
            lost(&mut self.stamp, out);
            if self.reports == 0 {
                out.since_boot();
            }
            self.reports += 1;
            self.headers.row();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        if all.is_empty() {
            return Line::Noise;
        }
        if let Some(seen) = self.header(line, &all, out) {
            return seen;
        }
        match std::mem::replace(&mut self.table, Table::None) {
            Table::None => Line::Unknown,
            Table::Extended(columns) => {
                let seen = self.extended(&columns, &all, out);
                self.table = Table::Extended(columns);
                seen
            }
            Table::Groups(layout, disks) => {
                let mut seen = self.groups(&layout, &disks, &all, out);
                if seen == Line::Data {
                    self.together.row(line);
                } else if !out.is_endless()
                    && let Some(apart) = self.together.apart(line)
                {
                    let all: Vec<&[u8]> = fields(&apart).collect();
                    seen = self.groups(&layout, &disks, &all, out);
                }
                self.table = Table::Groups(layout, disks);
                seen
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        // Of the last report, lines may have been cut off.
        if out.is_endless() {
            return;
        }
        if self.fresh && self.devices.leaves_out == Some(true) {
            self.begin(out);
            if let Table::Extended(columns) = &self.table {
                self.devices.open(columns);
            }
        }
        self.devices.close(out);
    }
}
