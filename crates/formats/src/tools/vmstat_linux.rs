//! `vmstat` of Linux (procps): `-a`, `-w`, `-t`, `-n`, `-S`, and `-d`, the counters of disks.
//!
//! The first report is a mean since boot; of `-d` all are counts since boot. Memory and swap
//! are in KiB, `bi` and `bo` in blocks of 1,024 bytes (procps 3.3 and 4.0, `vmstat(8)`).

use jiff::civil::Date;

use crate::counters::Counters;
use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::disk::layer;
use crate::list::Format;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::{Stamp, time_of_day};
use crate::{Line, Parser, fields, numbers};

const KIB: f64 = 1024.0;

pub(crate) const FORMAT: Format = Format {
    name: "vmstat-linux",
    tool: "vmstat",
    systems: "Linux",
    help: "processes, memory, swap, I/O, interrupts and processors; disks with -d",
    recognised: "a header line `r b swpd free …`, or `disk- ---reads---` of -d",
    yields: &[
        "system",
        "memory",
        "memory_state",
        "vm",
        "interrupt",
        "cpu",
        "cpu_idle",
        "disk",
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
    let plain = head.any_fields(&["r", "b", "swpd", "free"]);
    let disks = head.any_fields(&["total", "merged", "sectors", "ms"]);
    if plain || disks { 90 } else { 0 }
}

/// What the header says of the columns.
enum Table {
    None,
    /// Names of the columns.
    System(Vec<String>),
    /// `-d`.
    Disks,
}

struct Vmstat {
    table: Table,
    /// Reports so far.
    reports: u64,
    cpu: Cpu,
    system: Shape,
    memory: Shape,
    swap: Shape,
    vm: Shape,
    interrupt: Shape,
    disk: Shape,
    disks: Counters,
    /// The device that begins a report of -d.
    first: Vec<u8>,
    /// The zone that the header names.
    utc: bool,
}

impl Vmstat {
    fn new() -> Vmstat {
        Vmstat {
            table: Table::None,
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
            disks: Counters::default(),
            first: Vec::new(),
            utc: false,
        }
    }

    fn stamp(&self, date: &[u8], time: &[u8]) -> Option<Stamp> {
        let date: Date = std::str::from_utf8(date).ok()?.parse().ok()?;
        let at = date.to_datetime(time_of_day(time, None)?);
        Some(if self.utc {
            Stamp::Zoned(at, 0)
        } else {
            Stamp::Civil(at)
        })
    }

    fn system(&mut self, names: &[String], line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        let Some(values) = all
            .get(..names.len())
            .and_then(|f| numbers(f.iter().copied()))
        else {
            return Line::Unknown;
        };
        let stamp = match all[names.len()..] {
            [] => None,
            [date, time] => match self.stamp(date, time) {
                Some(stamp) => Some(stamp),
                None => return Line::Unknown,
            },
            _ => return Line::Unknown,
        };
        match stamp {
            Some(stamp) => out.sample_at(stamp),
            None => out.sample(),
        }
        if self.reports == 0 {
            out.since_boot();
        }
        self.reports += 1;
        let of = |name: &str| {
            let place = names.iter().position(|n| n == name);
            place.map_or(f64::NAN, |p| values[p])
        };
        out.put(&self.system, &[], &[of("r"), of("b"), of("cs")]);
        for (column, kind) in [("free", "free"), ("buff", "buffers"), ("cache", "cache")] {
            if !of(column).is_nan() {
                let kind = out.word(kind.as_bytes());
                out.put(&self.memory, &[kind], &[of(column) * KIB]);
            }
        }
        let empty = out.word(b"");
        for column in ["inact", "active"] {
            out.other(column, "KiB", empty, of(column));
        }
        out.put(&self.swap, &[], &[of("swpd") * KIB]);
        let paged = ["bi", "bo", "si", "so"].map(|name| of(name) * KIB);
        out.put(&self.vm, &[], &paged);
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

    fn disk(&mut self, line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        let Some(values) = all.get(1..11).and_then(|f| numbers(f.iter().copied())) else {
            return Line::Unknown;
        };
        let stamp = match all[11..] {
            [] => None,
            [date, time] => self.stamp(date, time),
            _ => return Line::Unknown,
        };
        let device = out.word(all[0]);
        let grown = self.disks.grown(all[0], &values);
        match stamp {
            Some(stamp) => out.sample_at_or_same(stamp),
            // A device that comes again begins the next report.
            None if !out.has_sample() || all[0] == self.first => out.sample(),
            None => {}
        }
        if self.first.is_empty() {
            self.first = all[0].to_vec();
        }
        if out.samples() == 1 {
            out.since_boot();
        }
        let layer = out.word(layer(all[0]).as_bytes());
        let whole = grown.is_none();
        let n = grown.unwrap_or(values);
        for (op, n) in [("read", &n[0..4]), ("write", &n[4..8])] {
            let words = [device, layer, out.word(op.as_bytes())];
            let values = [n[0], n[1], n[2] * 512.0, n[3] / 1000.0];
            if whole {
                // New, or the first report: all it did since boot.
                out.put_since_boot(&self.disk, &words, &values);
            } else {
                out.put_amounts(&self.disk, &words, &values);
            }
        }
        Line::Data
    }
}

impl Parser for Vmstat {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let mut words = fields(line);
        let Some(first) = words.next() else {
            return Line::Noise;
        };
        if first.starts_with(b"procs") || first.starts_with(b"--procs") || first == b"disk-" {
            return Line::Noise;
        }
        let second = words.next();
        if (first, second) == (b"r", Some(b"b")) {
            let names = fields(line).map(|f| String::from_utf8_lossy(f).into_owned());
            let mut names: Vec<String> = names.collect();
            // With -t the last column is named by its zone.
            if let Some(zone) = names.pop_if(|n| n.bytes().all(|b| !b.is_ascii_lowercase())) {
                self.utc = matches!(zone.as_str(), "UTC" | "GMT");
            }
            self.table = Table::System(names);
            return Line::Noise;
        }
        if (first, second) == (b"total", Some(b"merged")) {
            self.utc = matches!(fields(line).last(), Some(b"UTC" | b"GMT"));
            self.table = Table::Disks;
            return Line::Noise;
        }
        match std::mem::replace(&mut self.table, Table::None) {
            Table::None => Line::Unknown,
            Table::System(names) => {
                let seen = self.system(&names, line, out);
                self.table = Table::System(names);
                seen
            }
            Table::Disks => {
                self.table = Table::Disks;
                self.disk(line, out)
            }
        }
    }
}
