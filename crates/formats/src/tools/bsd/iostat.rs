//! `iostat` of FreeBSD (also `-x`, `-I`, `-d`, `-C`), OpenBSD, NetBSD and macOS.
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
//! is since boot. `wait` and `qlen` are the queue's length at the end.

use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::disk::layer;
use crate::echo;
use crate::headers::Headers;
use crate::lines::is_cut;
use crate::list::Format;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::stamp_line::stamp_of;
use crate::time::Stamp;
use crate::together::Columns;
use crate::tools::solaris::lost;
use crate::{Line, Parser, fields, numbers};

const KIB: f64 = 1024.0;

pub(crate) const FORMAT: Format = Format {
    name: "iostat-bsd",
    tool: "iostat",
    systems: "FreeBSD, OpenBSD, NetBSD, macOS",
    help: "disks, by device or side by side; terminals, processors and load with them",
    recognised: "a header `device r/s w/s kr/s kw/s …` without `actv`, or groups `KB/t tps MB/s`",
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
    let found = head.lines().any(|line| {
        let all: Vec<&[u8]> = fields(line).collect();
        is_extended(&all) || is_groups(&all)
    });
    if found { 88 } else { 0 }
}

/// The header of `-x`. That of Solaris has `actv`, that of Linux other names.
fn is_extended(all: &[&[u8]]) -> bool {
    let has = |name: &str| all.contains(&name.as_bytes());
    let rates = has("r/s") && has("w/s") && has("kr/s") && has("kw/s");
    let amounts = has("r/i") && has("w/i") && has("kr/i") && has("kw/i");
    all.first().copied() == Some(b"device") && (rates || amounts) && !has("actv") && !has("%w")
}

/// The header of groups side by side.
fn is_groups(all: &[&[u8]]) -> bool {
    all.windows(3).any(|w| {
        w[0] == b"KB/t" && matches!(w[1], b"tps" | b"t/s" | b"xfrs") && w[2].starts_with(b"MB")
    })
}

/// What the lines are.
enum Table {
    None,
    Extended(Vec<String>),
    /// Names of the devices, columns.
    Groups(Vec<String>, Vec<String>),
}

struct Iostat {
    headers: Headers,
    table: Table,
    /// Columns of the groups, for rows whose numbers run together.
    together: Columns,
    /// Length of the groups' header.
    length: usize,
    /// Devices, as the line over the groups names them.
    devices: Vec<String>,
    reports: u64,
    /// The first device of `-x`: that it comes again begins a report.
    first: Vec<u8>,
    stamp: Option<Stamp>,
    /// A header began a report whose first device is still to come.
    fresh: bool,
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
            length: 0,
            devices: Vec::new(),
            reports: 0,
            first: Vec::new(),
            stamp: None,
            fresh: false,
            cpu: Cpu::new(),
            disk: Shape::of("disk", &["ios", "bytes", "time"]),
            device: Shape::of("disk_device", &["busy", "inflight"]),
            load: Shape::of("system", &["load1", "load5", "load15"]),
        }
    }

    fn begin(&mut self, out: &mut Out) {
        out.sample_since_boot_first(self.stamp.take());
        if self.reports == 0 {
            out.since_boot();
        }
        self.reports += 1;
    }

    /// A device's line of `-x`.
    fn extended(&mut self, names: &[String], all: &[&[u8]], out: &mut Out) -> Line {
        let Some(n) = numbers(all[1..].iter().copied()) else {
            return Line::Unknown;
        };
        // The processors follow the first device, and stand on its line only.
        let of_device = names.iter().position(|n| n == "us").unwrap_or(names.len());
        if n.len() + 1 != names.len() && n.len() + 1 != of_device {
            return Line::Unknown;
        }
        if self.fresh || self.first == all[0] || !out.has_sample() {
            self.begin(out);
            self.first = all[0].to_vec();
            self.fresh = false;
        }
        let of = |name: &str| {
            let place = names[1..].iter().position(|n| n == name);
            place.and_then(|p| n.get(p)).copied().unwrap_or(f64::NAN)
        };
        let either = |a: &str, b: &str| if of(a).is_nan() { of(b) } else { of(a) };
        let amounts = names.iter().any(|n| n == "r/i");
        let (device, layer) = (out.word(all[0]), out.word(layer(all[0]).as_bytes()));
        let (reads, writes) = (either("r/s", "r/i"), either("w/s", "w/i"));
        for (op, ios, kib, ms) in [
            ("read", reads, either("kr/s", "kr/i"), of("ms/r")),
            ("write", writes, either("kw/s", "kw/i"), of("ms/w")),
        ] {
            let words = [device, layer, out.word(op.as_bytes())];
            let values = [ios, kib * KIB, ms / 1000.0 * ios];
            put(out, &self.disk, &words, &values, amounts);
        }
        if !of("svc_t").is_nan() {
            let words = [device, layer, out.word(b"(all)")];
            let time = of("svc_t") / 1000.0 * (reads + writes);
            put(
                out,
                &self.disk,
                &words,
                &[f64::NAN, f64::NAN, time],
                amounts,
            );
        }
        let queue = either("qlen", "wait");
        let busy = if amounts {
            of("sb/i")
        } else {
            of("%b") / 100.0
        };
        put(out, &self.device, &[device, layer], &[busy, queue], amounts);
        for (column, unit) in [("ms/o", "ms"), ("ms/t", "ms"), ("tsvc_t/i", "")] {
            out.other(column, unit, device, of(column));
        }
        self.processors(&of, out);
        Line::Data
    }

    fn processors(&self, of: &dyn Fn(&str) -> f64, out: &mut Out) {
        if of("us").is_nan() {
            return;
        }
        let share = |name: &str| of(name) / 100.0;
        let shares = Shares {
            user: share("us"),
            nice: share("ni"),
            system: share("sy"),
            irq: share("in"),
            idle: share("id"),
            ..UNKNOWN
        };
        self.cpu.put_all(out, &shares);
        let all = out.word(b"all");
        out.other("sp", "%", all, of("sp"));
    }

    /// A report of groups side by side.
    fn groups(
        &mut self,
        devices: &[String],
        names: &[String],
        all: &[&[u8]],
        out: &mut Out,
    ) -> Line {
        let Some(n) = numbers(all.iter().copied()).filter(|n| n.len() == names.len()) else {
            return Line::Unknown;
        };
        self.begin(out);
        self.headers.row();
        let starts = names.iter().enumerate().filter(|(_, n)| *n == "KB/t");
        for ((at, _), device) in starts.zip(devices) {
            let name = device.as_bytes();
            let (device, layer) = (out.word(name), out.word(layer(name).as_bytes()));
            let value = |place: usize| n.get(place).copied().unwrap_or(f64::NAN);
            let amounts = names.get(at + 1).is_some_and(|n| n == "xfrs");
            let words = [device, layer, out.word(b"(all)")];
            let values = [value(at + 1), value(at + 2) * KIB * KIB, f64::NAN];
            put(out, &self.disk, &words, &values, amounts);
            out.other("KB/t", "KiB", device, value(at));
        }
        let of = |name: &str| {
            let place = names.iter().position(|n| n == name);
            place.and_then(|p| n.get(p)).copied().unwrap_or(f64::NAN)
        };
        let none = out.word(b"");
        for column in ["tin", "tout"] {
            out.other(column, "characters/s", none, of(column));
        }
        self.processors(&of, out);
        if !of("1m").is_nan() {
            out.put(&self.load, &[], &[of("1m"), of("5m"), of("15m")]);
        }
        Line::Data
    }

    /// A line that tells about those below; `None` if it is none.
    fn header(&mut self, line: &[u8], all: &[&[u8]], out: &mut Out) -> Option<Line> {
        let text = |names: &[&[u8]]| -> Vec<String> {
            names
                .iter()
                .map(|n| String::from_utf8_lossy(n).into_owned())
                .collect()
        };
        if all.starts_with(&[b"extended", b"device"]) {
            return Some(Line::Noise);
        }
        if is_extended(all) {
            self.length = 0;
            self.table = Table::Extended(text(all));
            self.fresh = true;
            return Some(Line::Noise);
        }
        if is_groups(all) {
            let groups = all.iter().filter(|n| **n == b"KB/t").count();
            // Names that do not fit their groups would be guesses.
            if self.devices.len() != groups {
                self.table = Table::None;
                return Some(Line::Unknown);
            }
            if self.headers.begin_anew(out) {
                self.reports = 0;
            }
            self.table = Table::Groups(self.devices.clone(), text(all));
            self.length = line.trim_ascii_end().len();
            let shares = ["us", "ni", "sy", "in", "id"];
            self.together = Columns::of(line).with_shares(line, &shares);
            return Some(Line::Noise);
        }
        if let Some(arguments) = echo::command(line, "iostat") {
            // What it says is of the reports to come.
            out.broken();
            let valued = ["-w", "-c", "-n", "-t", "-M", "-N"];
            let told = echo::value(&arguments, &["-w"]).and_then(crate::number::number);
            if let Some(seconds) = told.or_else(|| echo::interval(&arguments, &valued)) {
                out.every(seconds);
            }
            self.reports = 0;
            return Some(Line::Noise);
        }
        match stamp_of(line, out) {
            Ok(Some(stamp)) => {
                self.stamp = Some(stamp);
                return Some(Line::Noise);
            }
            Ok(None) => {}
            Err(why) => out.refuse(why),
        }
        // The names over the groups.
        let other = |n: &[u8]| matches!(n, b"tty" | b"cpu" | b"CPU" | b"load" | b"average");
        let named = |n: &&[u8]| {
            let digit = n.last().is_some_and(u8::is_ascii_digit);
            n[0].is_ascii_alphabetic() && (digit || other(n))
        };
        if all.iter().all(named) {
            self.devices = text(all)
                .into_iter()
                .filter(|n| !other(n.as_bytes()))
                .collect();
            return Some(Line::Noise);
        }
        None
    }
}

/// A row of amounts or of rates.
fn put(out: &mut Out, shape: &Shape, words: &[run::Word], values: &[f64], amounts: bool) {
    if amounts {
        out.put_amounts(shape, words, values);
    } else {
        out.put(shape, words, values);
    }
}

impl Parser for Iostat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let Table::Groups(_, names) = &self.table else {
            return;
        };
        for _ in 0..crate::lines::rows_in(line, names.len()) {
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
        if is_cut(line, self.length, out) {
            return Line::Unknown;
        }
        match std::mem::replace(&mut self.table, Table::None) {
            Table::None => Line::Unknown,
            Table::Extended(names) => {
                let seen = self.extended(&names, &all, out);
                self.table = Table::Extended(names);
                seen
            }
            Table::Groups(devices, names) => {
                let mut seen = self.groups(&devices, &names, &all, out);
                if seen == Line::Data {
                    self.together.row(line);
                } else if !out.is_endless()
                    && let Some(apart) = self.together.apart(line)
                {
                    let all: Vec<&[u8]> = fields(&apart).collect();
                    seen = self.groups(&devices, &names, &all, out);
                }
                self.table = Table::Groups(devices, names);
                seen
            }
        }
    }
}
