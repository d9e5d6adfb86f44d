//! `vmstat` of AIX, also with `-I`, `-l`, `-t`, `-w`, `-W`, `-h`, `-p`, `-P`, names of disks and `-s`, and
//! of HP-UX, also with `-S`, `-n` and `-d`.
//!
//! ```text
//! System configuration: lcpu=4 mem=8192MB ent=0.50
//!
//! kthr    memory              page              faults              cpu             time
//! ----- ----------- ------------------------ ------------ ----------------------- --------
//!  r  b   avm   fre  re  pi  po  fr   sr  cy  in   sy  cs us sy id wa    pc    ec hr mi se
//!  1  0 500000 90000   0   0   0   0    0   0  20  900 300  5  2 93  0  0.05  10.4 10:00:05
//! ```
//!
//! Memory and paging are in pages: of 4,096 bytes on AIX, whatever sizes of pages a program uses
//! (`vmstat(1)` of AIX 7); HP-UX does not tell their size, which can be set (`base_pagesize(5)`), so
//! those are kept as printed. `pi` and `po` of AIX are of paging space, `fi` and `fo` of files. The
//! first report is a mean since boot but where [`SinceBoot`] says otherwise. Shares are of the processors that a partition consumed or is
//! entitled to, as those of [`super::iostat_aix`].

use super::aix::{SinceBoot, configured};
use super::solaris::{Between, between, blank_or_unknown, lost, sample};
use super::vmstat_counts::Counts;
use super::vmstat_hpux::{self, Parts, Taken};
use super::vmstat_pages::Pages;
use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::headers::{Headers, leave_out_last};
use crate::lines::rows_in;
use crate::list::Format;
use crate::number::number;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::{Stamp, time_of_day};
use crate::{Line, Parser, fields};

/// Bytes of a page of AIX.
const PAGE: f64 = 4096.0;

pub(crate) const AIX: Format = Format {
    name: "vmstat-aix",
    tool: "vmstat",
    systems: "AIX",
    help: "threads, memory, paging, faults and processors; also -I -l -t -w -p -P -s",
    recognised: "a header with `avm fre re pi` or `avm fre fi fo`, or that of -P; the names of -s",
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
System configuration: lcpu=4 mem=8192MB

kthr    memory              page              faults        cpu
----- ----------- ------------------------ ------------ -----------
 r  b   avm   fre  re  pi  po  fr   sr  cy  in   sy  cs us sy id wa
 1  0 500000 90000   0   0   0   0    0   0  20  900 300  5  2 93  0
 2  1 500010 89990   0   3   4   7   15   0  25  950 310  6  2 91  1
",
    recognise: |head: &Head| {
        let counts = |l: &[u8]| Counts::first(l) == Some("total address trans. faults");
        let of_aix = |l: &[u8]| matches!(System::of(&names(l)), Some(System::Aix));
        if head.headers().any(of_aix) || head.lines().any(Pages::is_header) {
            90
        } else if head.lines().any(counts) {
            85
        } else {
            0
        }
    },
    parser: || Box::new(Vmstat::new()),
};

pub(crate) const HPUX: Format = Format {
    name: "vmstat-hpux",
    tool: "vmstat",
    systems: "HP-UX",
    help: "processes, memory and paging as printed, faults and processors; also -S -n, and disks of -d",
    recognised: "a header with `avm free re at` or `avm free si so`",
    yields: &["system", "interrupt", "cpu", "cpu_idle", "disk"],
    example: "         procs           memory                   page                              faults       cpu
    r     b     w      avm    free   re   at    pi   po    fr   de    sr     in     sy    cs  us sy id
    1     0     0    80000  200000    5    1     0    0     0    0     0    300    700   150   4  1 95
    2     1     0    80010  199990    4    1     2    0     0    0     0    310    720   155   5  2 93
",
    recognise: |head: &Head| if is_of_hpux(head) { 90 } else { 0 },
    parser: || Box::new(Vmstat::new()),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    Aix,
    Hpux,
}

impl System {
    /// Whose columns those are.
    fn of(names: &[String]) -> Option<System> {
        let has = |columns: &[&str]| names.windows(columns.len()).any(|w| w == columns);
        if !has(&["r", "b"]) || !has(&["us", "sy", "id"]) || has(&["flt"]) {
            return None;
        }
        let of_aix = has(&["avm", "fre", "re", "pi"])
            || has(&["avm", "fre", "fi", "fo"])
            // Large pages, of `-l`, or compressed memory, of `-c`, stand there.
            || has(&["avm", "fre"]) && (has(&["alp", "flp"]) || has(&["csz", "cfr"]));
        let of_hpux = has(&["avm", "free", "re", "at"]) || has(&["avm", "free", "si", "so"]);
        match (of_aix, of_hpux) {
            (true, _) => Some(System::Aix),
            (_, true) => Some(System::Hpux),
            _ => None,
        }
    }
}

/// The columns of a header; `hr mi se` of `-t` is one.
fn names(line: &[u8]) -> Vec<String> {
    let text = |f: &[u8]| String::from_utf8_lossy(f).into_owned();
    let mut names: Vec<String> = fields(line).map(text).collect();
    if let Some(at) = names.windows(3).position(|w| w == ["hr", "mi", "se"]) {
        names.splice(at..at + 3, ["time".to_owned()]);
    }
    names
}

struct Vmstat {
    system: System,
    names: Vec<String>,
    headers: Headers,
    since_boot: SinceBoot,
    stamp: Option<Stamp>,
    /// Processors that a partition is entitled to, where it shares them.
    entitled: Option<f64>,
    counts: Counts,
    /// Tables of page sizes, of AIX.
    pages: Pages,
    /// Other tables of HP-UX.
    parts: Parts,
    load: Shape,
    memory: Shape,
    vm: Shape,
    reclaim: Shape,
    interrupt: Shape,
    cpu: Cpu,
}

/// Columns that have no place in the catalog, with their units.
const OTHER: [(&str, &str); 27] = [
    ("avm", "pages"),
    ("free", "pages"),
    ("alp", "large pages"),
    ("flp", "large pages"),
    ("csz", "pages"),
    ("cfr", "pages"),
    ("dxm", "pages"),
    ("p", "threads waiting for raw devices"),
    ("w", ""),
    ("re", "reclaims/s"),
    ("at", "address translation faults/s"),
    ("si", "processes swapped in/s"),
    ("so", "processes swapped out/s"),
    ("sr", "pages/s"),
    ("cy", "revolutions/s"),
    ("de", "pages"),
    ("ci", "pages/s"),
    ("co", "pages/s"),
    ("pc", "CPUs"),
    ("ec", "%"),
    ("rc", "CPUs"),
    ("hpi", "pages/s"),
    ("hpit", "ms"),
    ("pmem", ""),
    ("loan", ""),
    // Of HP-UX, whose pages may have another size.
    ("pi", "pages/s"),
    ("po", "pages/s"),
];

impl Vmstat {
    fn new() -> Vmstat {
        let vm = ["paged_in", "paged_out", "swapped_in", "swapped_out"];
        Vmstat {
            system: System::Aix,
            names: Vec::new(),
            headers: Headers::default(),
            since_boot: SinceBoot::new(),
            stamp: None,
            entitled: None,
            counts: Counts::default(),
            pages: Pages::default(),
            parts: Parts::new(),
            load: Shape::of("system", &["runnable", "blocked", "context_switches"]),
            memory: Shape::of("memory", &["bytes"]),
            vm: Shape::of("vm", &vm),
            reclaim: Shape::of("vm_reclaim", &["reclaimed"]),
            interrupt: Shape::of("interrupt", &["count"]),
            cpu: Cpu::new(),
        }
    }

    /// The numbers of a row, and the time that it ends in.
    fn values(&self, line: &[u8]) -> Option<(Vec<f64>, Option<Stamp>)> {
        let (mut values, mut stamp, mut count) = (Vec::with_capacity(self.names.len()), None, 0);
        for (name, field) in self.names.iter().zip(fields(line)) {
            count += 1;
            if name == "time" {
                stamp = Some(Stamp::Clock(time_of_day(field, None)?));
                values.push(f64::NAN);
            } else {
                // A counter that AIX took for another: 4636223281790821470 pages a second.
                values.push(number(field).filter(|value| (0.0..1e15).contains(value))?);
            }
        }
        let whole = count == self.names.len() && fields(line).count() == count && count > 0;
        whole.then_some((values, stamp))
    }

    fn begin(&mut self, out: &mut Out) {
        sample(&mut self.stamp, out);
        self.since_boot.begins(out);
    }

    /// Rows of a report; its shares are of `processor`, or of all.
    fn row(&mut self, values: &[f64], processor: Option<usize>, out: &mut Out) {
        let names = &self.names;
        let at = |place: Option<usize>| place.map_or(f64::NAN, |p| values[p]);
        let of = |name: &str| at(names.iter().position(|n| n == name));
        out.put(&self.load, &[], &[of("r"), of("b"), of("cs")]);
        let empty = out.word(b"");
        let aix = self.system == System::Aix;
        if aix {
            let free = out.word(b"free");
            out.put(&self.memory, &[free], &[of("fre") * PAGE]);
            let paging = [of("pi") * PAGE, of("po") * PAGE];
            // Without -I what files are paged in and out is not told.
            let all = [(of("fi") + of("pi")) * PAGE, (of("fo") + of("po")) * PAGE];
            out.put(&self.vm, &[], &[all[0], all[1], paging[0], paging[1]]);
            let pageout = out.word(b"pageout");
            out.put(&self.reclaim, &[pageout], &[of("fr") * PAGE]);
        } else {
            out.other("fr", "pages/s", empty, of("fr"));
        }
        let kept = OTHER
            .iter()
            .filter(|(name, _)| !aix || !matches!(*name, "pi" | "po"));
        for (name, unit) in kept {
            out.other(name, unit, empty, of(name));
        }
        let words = [out.word(b"hard"), out.word(b"all")];
        out.put(&self.interrupt, &words, &[of("in")]);
        // `sy` stands among the faults and among the processors' columns.
        let shares = names.iter().position(|n| n == "us").unwrap_or(0);
        let calls = names[..shares].iter().position(|n| n == "sy");
        out.other("sy", "system calls/s", empty, at(calls));
        let share = |name: &str| {
            let place = names[shares..].iter().position(|n| n == name);
            at(place.map(|p| p + shares)) / 100.0
        };
        let told = Shares {
            user: share("us"),
            system: share("sy"),
            idle: share("id"),
            iowait: share("wa"),
            ..UNKNOWN
        };
        match (processor, self.entitled) {
            (Some(number), _) => self.processor(number, &told, out),
            // A partition may use more than it is entitled to: without `pc`, which was cut off, nobody knows.
            (None, Some(entitled)) if !of("pc").is_nan() => {
                let all = out.word(b"all");
                self.cpu.put(out, all, entitled.max(of("pc")), &told);
            }
            (None, Some(_)) => {}
            (None, None) => self.cpu.put_all(out, &told),
        }
        // Disks of the command line are numbered in its order, behind all other columns.
        let disk = |(name, value): (&String, &f64)| {
            let is_number = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| (name.clone(), *value))
        };
        for (name, value) in names.iter().zip(values).filter_map(disk) {
            let name = out.word(name.as_bytes());
            out.other("disk xfer", "I/Os/s", name, value);
        }
    }

    fn processor(&self, number: usize, shares: &Shares, out: &mut Out) {
        let processor = out.word(number.to_string().as_bytes());
        self.cpu.put(out, processor, 1.0, shares);
    }

    /// A table of page sizes: below a report, or without one.
    fn of_pages(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        if self.pages.header(line) {
            return Some(Line::Noise);
        }
        let (size, values) = self.pages.values(line)?;
        if self.pages.begins(size) {
            self.begin(out);
        }
        self.pages.put(size, &values, out);
        Some(Line::Data)
    }

    /// What HP-UX prints of a report beside the usual table.
    fn of_parts(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        match self.parts.take(line, &names(line), out)? {
            Taken::Heading => return Some(Line::Noise),
            Taken::Begins => {
                self.system = System::Hpux;
                self.begin(out);
            }
            Taken::Report(names, values) => {
                self.names = names;
                self.row(&values, Some(0), out);
            }
            Taken::Processor(number, [user, system, idle]) => {
                let shares = Shares {
                    user: user / 100.0,
                    system: system / 100.0,
                    idle: idle / 100.0,
                    ..UNKNOWN
                };
                self.processor(number, &shares, out);
            }
            Taken::Disk => {}
        }
        Some(Line::Data)
    }

    fn header(&mut self, system: System, mut names: Vec<String>, out: &mut Out) {
        // AIX has `wa` behind `id`.
        if system == System::Aix && !names.iter().any(|n| n == "wa") {
            leave_out_last(&mut names, out);
        }
        // Where a report has more tables than one, the headers may come with each.
        let anew = if self.pages.is_below() || self.parts.are_many() {
            self.headers.take();
            false
        } else {
            self.headers.begin_anew(out)
        };
        self.parts.whole();
        if anew || self.names != names {
            self.since_boot.anew();
        }
        (self.system, self.names) = (system, names);
    }

    /// Lines that are not of a table.
    fn outside(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(count) = configured(line, "lcpu") {
            if count >= 1.0 {
                out.has_processors(count as u32);
            }
            self.entitled = configured(line, "ent").filter(|ent| *ent > 0.0);
            // It is printed when the tool starts, and when the configuration changes.
            if self.headers.take() > 0 {
                out.broken();
            }
            self.since_boot.anew();
            return Line::Noise;
        }
        // HP-UX's -S has no value.
        let valued: &[&str] = match self.system {
            System::Aix => &["-S", "-@", "-p", "-P", "-L"],
            System::Hpux => &[],
        };
        match between(line, "vmstat", valued, out) {
            Some(Between::Command) => {
                self.headers.take();
                self.since_boot.anew();
            }
            Some(Between::Stamp(stamp)) => self.stamp = Some(stamp),
            Some(Between::Change | Between::Chatter) => {}
            None => {
                let counted = self.counts.take(line, &mut self.stamp, out);
                return counted.unwrap_or_else(|| blank_or_unknown(line));
            }
        }
        Line::Noise
    }
}

fn is_of_hpux(head: &Head) -> bool {
    head.headers().any(|line| {
        let names = names(line);
        matches!(System::of(&names), Some(System::Hpux)) || vmstat_hpux::is_memory(&names)
    })
}

impl Parser for Vmstat {
    fn look(&mut self, head: &Head) {
        if is_of_hpux(head) {
            self.system = System::Hpux;
        }
        self.since_boot.look(head);
    }

    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let width = self.parts.width().unwrap_or(self.names.len());
        for _ in 0..rows_in(line, width) {
            lost(&mut self.stamp, out);
            self.since_boot.begins(out);
            self.headers.row();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Some(first) = fields(line).next() else {
            return Line::Noise;
        };
        if first.starts_with(b"-----") || matches!(first, b"kthr" | b"procs" | b"pgsz") {
            return Line::Noise;
        }
        if first == b"r" {
            let names = names(line);
            if let Some(system) = System::of(&names) {
                self.header(system, names, out);
                return Line::Noise;
            }
        }
        if let Some(taken) = self
            .of_parts(line, out)
            .or_else(|| self.of_pages(line, out))
        {
            return taken;
        }
        match self.values(line) {
            Some((values, stamp)) => {
                self.stamp = stamp.or(self.stamp.take());
                self.begin(out);
                self.row(&values, None, out);
                self.headers.row();
                Line::Data
            }
            None => self.outside(line, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_columns() {
        let of = |line: &str| System::of(&names(line.as_bytes()));
        let aix = "r b p w avm fre fi fo pi po fr sr in sy cs us sy id wa pc ec hr mi se";
        assert_eq!(of(aix), Some(System::Aix));
        assert_eq!(
            names(aix.as_bytes()).last().map(String::as_str),
            Some("time")
        );
        let hpux = "r b w avm free si so pi po fr de sr in sy cs us sy id";
        assert_eq!(of(hpux), Some(System::Hpux));
        // Of FreeBSD, and of 4.3BSD, which counts KiB.
        assert_eq!(
            of("r b w avm fre flt re pi po fr sr ad0 in sy cs us sy id"),
            None
        );
        assert_eq!(
            of("r b w avm fre re at pi po fr de sr d0 in sy cs us sy id"),
            None
        );
    }
}
