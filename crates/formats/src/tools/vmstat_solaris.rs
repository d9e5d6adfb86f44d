//! `vmstat` of Solaris and illumos: also `-S`, `-p`, and the counts of `-s` and `-i`.
//!
//! ```text
//!  kthr      memory            page            disk          faults      cpu
//!  r b w   swap  free  re  mf pi po fr de sr s0 s1 s2 --   in   sy   cs us sy id
//!  0 0 0 11456120 4120528 1 41 19 1 3 0 2 0 4 0 0   48  112  130  4 14 82
//! ```
//!
//! Memory and pages moved are in KiB, `sr` in pages, of a size that is not told (illumos,
//! `vmstat(8)`). `mf` counts all faults of address translation, as `-s` says of the same
//! counters. Names of disks have two characters, so they are kept as they are. The first report
//! is a mean since boot; one after devices or processors came or went is, too.

use super::solaris::{Between, CHANGED, between, blank_or_unknown, lost, sample};
use super::vmstat_counts::Counts;
use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::headers::{Headers, leave_out_last};
use crate::lines::rows_in;
use crate::list::Format;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::Stamp;
use crate::together::Columns;
use crate::{Line, Parser, fields, number, numbers};

const KIB: f64 = 1024.0;
/// What headers end with, and with `-p`.
const LAST: [&str; 4] = ["id", "wt", "st", "fpf"];
/// Lines that are kept until a header says what is in them. A header comes every 19.
const KEPT: usize = 64;

pub(crate) const FORMAT: Format = Format {
    name: "vmstat-solaris",
    tool: "vmstat",
    systems: "Solaris, illumos",
    help: "run queue, memory, paging (-p), swapping (-S), disks, faults and processors",
    recognised: "a header with `swap free re mf` or `swap free si so`; the names of -s or -i",
    yields: &[
        "system",
        "memory",
        "vm",
        "vm_reclaim",
        "interrupt",
        "cpu",
        "cpu_idle",
    ],
    example: "\
 kthr      memory            page            disk          faults      cpu
 r b w   swap  free  re  mf pi po fr de sr lf rm s0 s1   in   sy   cs us sy id
 0 0 0 54267716 25895544 366 3131 74 0 0 0 240 6 -268 186 -1 7442 30957 7950 1 1 98
 0 0 0 53982072 25612340 12 98 0 0 0 0 0 0 0 12 0 5121 9822 6120 1 1 98
",
    recognise,
    parser: || Box::new(Vmstat::new()),
};

fn recognise(head: &Head) -> u8 {
    let paging = head.any_fields(&["swap", "free", "re", "mf"]);
    let swapping = head.any_fields(&["swap", "free", "si", "so"]);
    let interrupts = head.any_fields(&["interrupt", "total", "rate"])
        && head.lines().any(|l| l.starts_with(b"--------"));
    if paging || swapping {
        90
    } else if head.contains("total address trans. faults taken") || interrupts {
        85
    } else {
        0
    }
}

/// What is on the lines that come.
enum Table {
    None,
    Columns(Vec<String>),
    /// `-i`.
    Interrupts,
}

struct Vmstat {
    table: Table,
    headers: Headers,
    /// Its columns, for rows whose numbers run together.
    together: Columns,
    /// Lines of numbers before any header.
    early: Vec<(u64, Vec<f64>)>,
    since_boot: bool,
    stamp: Option<Stamp>,
    /// `-s`.
    counts: Counts,
    system: Shape,
    memory: Shape,
    vm: Shape,
    reclaim: Shape,
    interrupt: Shape,
    cpu: Cpu,
}

impl Vmstat {
    fn new() -> Vmstat {
        let vm = [
            "paged_in",
            "paged_out",
            "swapped_in",
            "swapped_out",
            "faults",
        ];
        Vmstat {
            table: Table::None,
            headers: Headers::default(),
            together: Columns::default(),
            early: Vec::new(),
            since_boot: true,
            stamp: None,
            counts: Counts::default(),
            system: Shape::of("system", &["runnable", "blocked", "context_switches"]),
            memory: Shape::of("memory", &["bytes"]),
            vm: Shape::of("vm", &vm),
            reclaim: Shape::of("vm_reclaim", &["reclaimed"]),
            interrupt: Shape::of("interrupt", &["count"]),
            cpu: Cpu::new(),
        }
    }

    /// A row, with the names of its columns.
    fn row(&mut self, names: &[String], values: &[f64], out: &mut Out) {
        if std::mem::replace(&mut self.since_boot, false) {
            out.since_boot();
        }
        let place = |name: &str| names.iter().position(|n| n == name);
        let at = |place: Option<usize>| place.and_then(|p| values.get(p).copied());
        let of = |name: &str| at(place(name)).unwrap_or(f64::NAN);
        let kib = |name: &str| of(name) * KIB;
        if place("r").is_some() {
            out.put(&self.system, &[], &[of("r"), of("b"), of("cs")]);
        }
        let free = out.word(b"free");
        out.put(&self.memory, &[free], &[kib("free")]);
        let (paged_in, paged_out) = if place("epi").is_some() {
            (
                kib("epi") + kib("api") + kib("fpi"),
                kib("epo") + kib("apo") + kib("fpo"),
            )
        } else {
            (kib("pi"), kib("po"))
        };
        let vm = [paged_in, paged_out, kib("api"), kib("apo"), of("mf")];
        out.put(&self.vm, &[], &vm);
        let pageout = out.word(b"pageout");
        out.put(&self.reclaim, &[pageout], &[kib("fr")]);
        let empty = out.word(b"");
        for (name, unit) in OTHER {
            out.other(name, unit, empty, of(name));
        }
        // `sy` stands among the faults and among the processors' columns.
        let Some(faults) = place("in") else {
            return;
        };
        Self::disks(names, values, out);
        let words = [out.word(b"hard"), out.word(b"all")];
        out.put(&self.interrupt, &words, &[of("in")]);
        let calls = at(Some(faults + 1)).unwrap_or(f64::NAN);
        out.other("sy", "system calls/s", empty, calls);
        let shares = place("us").unwrap_or(names.len());
        let share = |name: &str| {
            let place = names[shares..].iter().position(|n| n == name);
            at(place.map(|p| shares + p)).map_or(f64::NAN, |v| v / 100.0)
        };
        let shares = Shares {
            user: share("us"),
            system: share("sy"),
            idle: share("id"),
            iowait: share("wt"),
            steal: share("st"),
            ..UNKNOWN
        };
        let ends = names.last().is_some_and(|n| n == "id");
        let shares = shares.of_end(ends, out);
        self.cpu.put_all(out, &shares);
    }

    /// The columns between `sr` and `in`.
    fn disks(names: &[String], values: &[f64], out: &mut Out) {
        let end = names.iter().rposition(|n| n == "in").unwrap_or(0);
        let start = names.iter().position(|n| n == "sr").unwrap_or(end) + 1;
        let Some(disks) = names.get(start..end) else {
            return;
        };
        for (i, name) in disks.iter().enumerate().filter(|(_, n)| *n != "--") {
            let before = disks[..i].iter().filter(|n| *n == name).count();
            let name = match before {
                0 => name.clone(),
                // sd1 and sd10 have the same short name.
                _ => format!("{name} ({})", before + 1),
            };
            let value = values.get(start + i).copied().unwrap_or(f64::NAN);
            if value < 0.0 {
                out.note(
                    "rates of disks below zero are a fault of the tool; they are kept as printed",
                );
            }
            let disk = out.word(name.as_bytes());
            out.other("disk", "I/Os/s", disk, value);
        }
    }

    fn header(&mut self, line: &[u8], out: &mut Out) {
        let text = |f: &[u8]| String::from_utf8_lossy(f).into_owned();
        let mut names: Vec<String> = fields(line).map(text).collect();
        if !names.last().is_some_and(|n| LAST.contains(&n.as_str())) {
            leave_out_last(&mut names, out);
        }
        self.since_boot |= self.headers.begin_anew(out);
        self.together = Columns::of(line).whole().narrowed();
        if names.iter().any(|n| n == "in") {
            let shares = ["us", "sy", "id", "wt", "st"];
            self.together = std::mem::take(&mut self.together).with_shares(line, &shares);
        }
        // What is before the first header is not the beginning of an output.
        for (at, values) in std::mem::take(&mut self.early) {
            if values.len() == names.len() {
                self.since_boot = false;
                out.sample();
                self.row(&names, &values, out);
            } else {
                out.not_understood(at, "numbers without a header");
            }
        }
        self.table = Table::Columns(names);
    }

    /// `12 swap ins`, of `-s`.
    fn count(&mut self, line: &[u8], out: &mut Out) -> Line {
        let counted = self.counts.take(line, &mut self.stamp, out);
        counted.unwrap_or_else(|| blank_or_unknown(line))
    }

    fn interrupts(&mut self, line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        let [name @ .., total, rate] = &all[..] else {
            return blank_or_unknown(line);
        };
        let (Some(total), Some(rate)) = (number::number(total), number::number(rate)) else {
            return Line::Unknown;
        };
        let name = name.join(&b' ');
        if name.is_empty() {
            return Line::Unknown;
        }
        if name == b"Total" {
            return Line::Data;
        }
        let words = [out.word(b"hard"), out.word(&name)];
        out.put_since_boot(&self.interrupt, &words, &[rate]);
        out.other("total", "since boot", words[1], total);
        Line::Data
    }

    /// Lines that are not of a table.
    fn outside(&mut self, line: &[u8], out: &mut Out) -> Line {
        match between(line, "vmstat", &["-T"], out) {
            Some(Between::Command) => {
                self.since_boot = true;
            }
            Some(Between::Change) => {
                out.note(CHANGED);
                self.since_boot = true;
            }
            Some(Between::Stamp(stamp)) => self.stamp = Some(stamp),
            Some(Between::Chatter) => {}
            None => return self.count(line, out),
        }
        Line::Noise
    }

    /// A line below a header.
    fn columns(&mut self, line: &[u8], names: &[String], out: &mut Out) -> Line {
        let values = numbers(fields(line)).filter(|v| v.len() == names.len());
        match values {
            Some(_) if Columns::is_together(fields(line)) => Line::Unknown,
            Some(values) => {
                sample(&mut self.stamp, out);
                self.row(names, &values, out);
                self.headers.row();
                Line::Data
            }
            None => self.outside(line, out),
        }
    }

    /// A line of numbers that is not below a header yet.
    fn before_header(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        let values = numbers(fields(line)).filter(|v| v.len() > 10)?;
        if self.early.len() >= KEPT || self.stamp.is_some() {
            return Some(Line::Unknown);
        }
        self.early.push((out.line_number(), values));
        Some(Line::Data)
    }
}

/// Columns that have no place in the catalog, with their units.
const OTHER: [(&str, &str); 14] = [
    ("w", "threads swapped out"),
    ("swap", "KiB"),
    ("re", "reclaims/s"),
    ("si", "swap-ins/s"),
    ("so", "swap-outs/s"),
    ("de", "KiB"),
    ("sr", "pages/s"),
    ("epi", "KiB/s"),
    ("epo", "KiB/s"),
    ("epf", "KiB/s"),
    ("apf", "KiB/s"),
    ("fpi", "KiB/s"),
    ("fpo", "KiB/s"),
    ("fpf", "KiB/s"),
];

impl Parser for Vmstat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let Table::Columns(names) = &self.table else {
            return;
        };
        for _ in 0..rows_in(line, names.len()) {
            lost(&mut self.stamp, out);
            if std::mem::replace(&mut self.since_boot, false) {
                out.since_boot();
            }
            self.headers.row();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let mut words = fields(line);
        let (Some(first), second) = (words.next(), words.next()) else {
            return Line::Noise;
        };
        let rest: Vec<&[u8]> = words.collect();
        if let (b"r", Some(b"b")) | (b"swap", Some(b"free")) = (first, second) {
            self.header(line, out);
            return Line::Noise;
        }
        if matches!(first, b"kthr" | b"procs") || (first, second) == (b"memory", Some(b"page")) {
            return Line::Noise;
        }
        if first.starts_with(b"-------") {
            return Line::Noise;
        }
        if (first, second, &rest[..]) == (b"interrupt", Some(b"total"), &[b"rate"]) {
            sample(&mut self.stamp, out);
            out.since_boot();
            self.table = Table::Interrupts;
            return Line::Noise;
        }
        match std::mem::replace(&mut self.table, Table::None) {
            Table::None => match self.before_header(line, out) {
                Some(seen) => seen,
                None => self.outside(line, out),
            },
            Table::Interrupts => {
                self.table = Table::Interrupts;
                self.interrupts(line, out)
            }
            Table::Columns(names) => {
                let mut seen = self.columns(line, &names, out);
                if seen == Line::Unknown
                    && !out.is_endless()
                    && let Some(apart) = self.together.apart(line)
                {
                    seen = self.columns(&apart, &names, out);
                }
                self.table = Table::Columns(names);
                seen
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        for (line, _) in std::mem::take(&mut self.early) {
            out.not_understood(line, "numbers without a header");
        }
    }
}
