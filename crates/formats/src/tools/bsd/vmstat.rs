//! `vmstat` of FreeBSD, OpenBSD and NetBSD.
//!
//! ```text
//! procs     memory       page                      disks     faults       cpu
//! r b w     avm     fre  flt  re  pi  po    fr   sr ad0 ad1   in    sy    cs us sy id
//! 1 0 0  515M    92M    12   0   0   0    10    0   3   0   20   300   250  1  2 97
//! ```
//!
//! Memory is in KiB, or has a letter, a step of 1,024. The counts of FreeBSD's `-h`, which is what a
//! terminal gets, have letters, too: a large K is 1,024 and a small k 1,000 (`humanize_number(3)`), and
//! M and G are steps as those of the file's K or k are. Below the header of that, which has two blanks between `r`, `b` and `w`, a number without a letter is of
//! bytes: since 14, so are all that are not printed to a terminal. Paging is in pages or events,
//! whose size is not told. Disks are transfers a second. `-P` prints the shares of each processor,
//! which the line above the header names. The first report is since boot. `-i` prints interrupts, with
//! an interval again and again below one header, `-s` a list of counters.

use super::interrupts::Interrupts;
use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::disk::layer_of_cut;
use crate::echo;
use crate::headers::{Headers, leave_out_last};
use crate::lines::blanks_are_lost;
use crate::list::Format;
use crate::number::{number, scaled};
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::stamp_line::stamp_of;
use crate::time::Stamp;
use crate::together::printed::{self, Printed};
use crate::tools::solaris::lost;
use crate::tools::vmstat_counts::Counts;
use crate::{Line, Parser, fields};

const KIB: f64 = 1024.0;

pub(crate) const FORMAT: Format = Format {
    name: "vmstat-bsd",
    tool: "vmstat",
    systems: "FreeBSD, OpenBSD, NetBSD",
    help: "processes, memory, paging, disks' transfers, interrupts and processors",
    recognised: "a header line with `avm fre flt`; the names of -s or -i",
    yields: &[
        "system",
        "memory",
        "vm",
        "disk",
        "interrupt",
        "cpu",
        "cpu_idle",
    ],
    example: "\
procs     memory       page                      disks     faults       cpu
r b w     avm     fre  flt  re  pi  po    fr   sr ad0 ad1   in    sy    cs us sy id
1 0 0    515M     92M   12   0   0   0    10    0   3   0   20   300   250  1  2 97
0 0 0    515M     92M    4   0   0   0     3    0   1   0   10   200   150  0  1 99
",
    recognise,
    parser: || Box::new(Vmstat::new()),
};

fn recognise(head: &Head) -> u8 {
    let counts = |l: &[u8]| {
        matches!(
            Counts::first(l),
            Some("cpu context switches" | "bytes per page")
        )
    };
    // `-s` of other systems begins otherwise, and `-i` of Solaris has a ruler.
    let of_others = head.contains("swap ins") || head.contains("address trans.");
    let ruled = head.lines().any(|l| l.starts_with(b"--------"));
    let interrupts = head.lines().any(Interrupts::is_header) && !ruled;
    if head.any_fields(&["avm", "fre", "flt"]) {
        92
    } else if interrupts || head.lines().any(counts) && !of_others {
        85
    } else {
        0
    }
}

/// How the rows below a header are printed, of tools that leave no blank between some columns:
///
/// - FreeBSD prints `%4lu` for `sr`, `%3.0Lf` for each disk, and a blank before `in` (its
///   `vmstat.c`; until 11 a blank stood behind each disk).
/// - 4.4BSD and what came of it, as older OpenBSD, prints `%2u%2u%2u%7u%7u` up to `fre`, or with
///   other widths, which are those of its header. That begins with a blank.
fn layout(header: &[u8]) -> Vec<Printed> {
    let names: Vec<&[u8]> = fields(header).collect();
    let mut columns = vec![Printed::Apart; names.len()];
    if header.starts_with(b" r b w ") {
        let mut end = 0;
        for (column, name) in columns.iter_mut().zip(&names).take(5) {
            let before = std::mem::replace(&mut end, printed::end(header, name));
            *column = Printed::whole(0, end - before);
        }
    } else if header.starts_with(b"r b w ")
        && let Some(scanned) = names.iter().position(|n| *n == b"sr")
        && let Some(interrupts) = names.iter().position(|n| *n == b"in")
        && scanned < interrupts
    {
        columns[scanned] = Printed::whole(1, 4);
        columns[scanned + 1..interrupts].fill(Printed::whole(0, 3));
    }
    columns
}

struct Vmstat {
    headers: Headers,
    names: Vec<String>,
    /// Processors that the line above the header names, with `-P`.
    processors: Vec<Vec<u8>>,
    /// Bytes in a number of memory's that has no letter.
    memory_unit: f64,
    /// How its rows are printed, where numbers run together.
    layout: Vec<Printed>,
    reports: u64,
    /// The step of letters behind counts, once a K or k told it.
    step: Option<f64>,
    stamp: Option<Stamp>,
    /// `-i`.
    interrupts: Interrupts,
    /// `-s`.
    counts: Counts,
    cpu: Cpu,
    system: Shape,
    memory: Shape,
    vm: Shape,
    disk: Shape,
    interrupt: Shape,
}

impl Vmstat {
    fn new() -> Vmstat {
        Vmstat {
            headers: Headers::default(),
            names: Vec::new(),
            processors: Vec::new(),
            memory_unit: KIB,
            layout: Vec::new(),
            reports: 0,
            step: None,
            stamp: None,
            interrupts: Interrupts::new(),
            counts: Counts::default(),
            cpu: Cpu::new(),
            system: Shape::of("system", &["runnable", "blocked", "context_switches"]),
            memory: Shape::of("memory", &["bytes"]),
            vm: Shape::of("vm", &["faults"]),
            disk: Shape::of("disk", &["ios"]),
            interrupt: Shape::of("interrupt", &["count"]),
        }
    }

    fn report(&mut self, all: &[&[u8]], out: &mut Out) -> Line {
        if self.names.is_empty() || all.len() != self.names.len() {
            return Line::Unknown;
        }
        // A count with a letter, which no other column of these has.
        let lettered = |letters: &[u8]| {
            let of_counts = self.names.iter().zip(all).filter(|(n, _)| !is_memory(n));
            let last = |f: &[u8]| f.last().is_some_and(|b| letters.contains(b));
            of_counts
                .map(|(_, f)| *f)
                .any(|f| f[0].is_ascii_digit() && last(f))
        };
        for (letter, step) in [(b"k", 1000.0), (b"K", KIB)] {
            if lettered(letter) {
                self.step = Some(step);
            }
        }
        let value = |(name, text): (&String, &&[u8])| match name.as_str() {
            "avm" | "fre" if text.last().is_some_and(u8::is_ascii_digit) => {
                number(text).map(|v| v * self.memory_unit)
            }
            "avm" | "fre" => scaled(text, KIB),
            // Of FreeBSD's -h; the names of its disks stand between these columns.
            "flt" | "re" | "pi" | "po" | "fr" | "sr" | "in" | "sy" | "cs" => {
                let step = match text.last() {
                    Some(b'k') => Some(1000.0),
                    Some(b'K') => Some(KIB),
                    _ => self.step,
                };
                number(text).or_else(|| scaled(text, step?))
            }
            _ => number(text),
        };
        let read: Option<Vec<f64>> = self.names.iter().zip(all).map(value).collect();
        let Some(n) = read else {
            if self.step.is_none() && lettered(b"MGT") {
                // In place of the line.
                out.not_understood(
                    0,
                    "counts with letters whose step is 1,000 or 1,024, by the tool's version; \
                     `vmstat -H` prints them without",
                );
                self.lost_row(out);
                return Line::Data;
            }
            return Line::Unknown;
        };
        out.sample_since_boot_first(self.stamp.take());
        if self.reports == 0 {
            out.since_boot();
        }
        self.reports += 1;
        self.headers.row();
        let place = |name: &str| self.names.iter().position(|n| n == name);
        let of = |name: &str| place(name).map_or(f64::NAN, |p| n[p]);
        out.put(&self.system, &[], &[of("r"), of("b"), of("cs")]);
        let free = out.word(b"free");
        out.put(&self.memory, &[free], &[of("fre")]);
        out.put(&self.vm, &[], &[of("flt")]);
        let words = [out.word(b"hard"), out.word(b"all")];
        let interrupts = if of("in").is_nan() {
            of("int")
        } else {
            of("in")
        };
        out.put(&self.interrupt, &words, &[interrupts]);
        let none = out.word(b"");
        out.other("avm", "bytes", none, of("avm"));
        for column in ["w", "s", "re", "pi", "po", "fr", "sr", "sys"] {
            out.other(column, "", none, of(column));
        }
        // `sy` stands for system calls before it is a share of processors.
        let shares = place("us").unwrap_or(n.len());
        if let Some(calls) = place("sy").filter(|p| *p < shares) {
            out.other("sy", "system calls/s", none, n[calls]);
        }
        self.shares(&self.names[shares..], &n[shares..], out);
        // Disks stand between the pages and the interrupts.
        let from = place("sr").map_or(n.len(), |p| p + 1);
        let to = place("in").or(place("int")).unwrap_or(from);
        let disks = self.names.iter().zip(&n).take(to).skip(from);
        for (name, transfers) in disks {
            let name = name.as_bytes();
            let words = [name, layer_of_cut(name).as_bytes(), b"(all)"].map(|w| out.word(w));
            out.put(&self.disk, &words, &[*transfers]);
        }
        Line::Data
    }

    /// A row that is not understood keeps its place.
    fn lost_row(&mut self, out: &mut Out) {
        lost(&mut self.stamp, out);
        if self.reports == 0 {
            out.since_boot();
        }
        self.reports += 1;
        self.headers.row();
    }

    /// Shares of all processors, or of each.
    fn shares(&self, names: &[String], values: &[f64], out: &mut Out) {
        let all = names.len();
        let each = all / self.processors.len().max(1);
        if each == 0 {
            return;
        }
        for (i, (names, values)) in names.chunks(each).zip(values.chunks(each)).enumerate() {
            let share = |name: &str| {
                let place = names.iter().position(|n| n == name);
                place.map_or(f64::NAN, |p| values[p] / 100.0)
            };
            let shares = Shares {
                user: share("us"),
                nice: share("ni"),
                system: share("sy"),
                idle: share("id"),
                ..UNKNOWN
            };
            let ends = names.last().is_some_and(|n| n == "id") && (i + 1) * each == all;
            let shares = shares.of_end(ends, out);
            match self.processors.get(i) {
                Some(name) => {
                    let name = out.word(name);
                    self.cpu.put(out, name, 1.0, &shares);
                }
                None => self.cpu.put_all(out, &shares),
            }
        }
    }

    /// A header; not understood where it has shares of processors that nothing names.
    fn header(&mut self, line: &[u8], all: &[&[u8]], out: &mut Out) -> Line {
        if self.headers.begin_anew(out) {
            self.reports = 0;
        }
        let count = all.iter().filter(|n| **n == b"us").count();
        let named = self.processors.len();
        if count != named && (named > 0 || count > 1) {
            self.names.clear();
            return Line::Unknown;
        }
        if let Ok(count @ 1..) = u32::try_from(named) {
            out.has_processors(count);
        }
        self.names = all
            .iter()
            .map(|n| String::from_utf8_lossy(n).into_owned())
            .collect();
        // The shares of processors are the last columns of all.
        if all.last().is_some_and(|n| **n != *b"id") {
            leave_out_last(&mut self.names, out);
        }
        self.layout = layout(line);
        let of_people = memchr::memmem::find(line, b"r  b  w  avm ").is_some();
        self.memory_unit = match () {
            () if of_people => 1.0,
            () if blanks_are_lost(line) => f64::NAN,
            () => KIB,
        };
        if self.memory_unit.is_nan() {
            out.note("numbers of memory are left out that may be of bytes or KiB: the blanks of its header, which tell that, are lost");
        }
        Line::Noise
    }
}

/// The processors that the line above a header names: `cpu0`, `cpu1`.
fn processors(titles: &[&[u8]]) -> Vec<Vec<u8>> {
    let number = |t: &&[u8]| {
        let number = t.strip_prefix(b"cpu").filter(|n| !n.is_empty())?;
        number
            .iter()
            .all(u8::is_ascii_digit)
            .then(|| number.to_vec())
    };
    titles.iter().filter_map(number).collect()
}

fn is_memory(name: &str) -> bool {
    matches!(name, "avm" | "fre")
}

impl Parser for Vmstat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn lost(&mut self, line: &[u8], out: &mut Out) {
        for _ in 0..crate::lines::rows_in(line, self.names.len()) {
            self.lost_row(out);
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        let Some(&first) = all.first() else {
            return Line::Noise;
        };
        if all.contains(&&b"avm"[..]) && all.contains(&&b"fre"[..]) {
            return self.header(line, &all, out);
        }
        if first == b"procs" {
            self.processors = processors(&all);
            return Line::Noise;
        }
        if Interrupts::is_header(line) {
            self.names.clear();
            self.interrupts.header(out);
            return Line::Noise;
        }
        if let Some(arguments) = echo::command(line, "vmstat") {
            self.interrupts.close(out);
            self.interrupts = Interrupts::new();
            // What it says is of the reports to come.
            out.broken();
            let valued = ["-w", "-c", "-n", "-p", "-M", "-N"];
            let told = echo::value(&arguments, &["-w"]).and_then(number);
            if let Some(seconds) = told.or_else(|| echo::interval(&arguments, &valued)) {
                out.every(seconds);
            }
            self.reports = 0;
            return Line::Noise;
        }
        let seen = self.report(&all, out);
        if seen == Line::Data {
            return seen;
        }
        if !out.is_endless()
            && let Some(apart) = printed::apart(&self.layout, line)
        {
            let all: Vec<&[u8]> = fields(&apart).collect();
            return self.report(&all, out);
        }
        match stamp_of(line, out) {
            Ok(Some(stamp)) => {
                self.stamp = Some(stamp);
                Line::Noise
            }
            Ok(None) => {
                let row = self.interrupts.row(line, &mut self.stamp, out);
                row.or_else(|| self.counts.take(line, &mut self.stamp, out))
                    .unwrap_or(Line::Unknown)
            }
            Err(why) => {
                out.refuse(why);
                Line::Noise
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.interrupts.close(out);
    }
}
