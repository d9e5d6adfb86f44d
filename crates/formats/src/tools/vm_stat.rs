//! `vm_stat` of macOS: memory and paging, once or with an interval.
//!
//! ```text
//! Mach Virtual Memory Statistics: (page size of 4096 bytes)
//!     free   active   specul inactive throttle    wired  prgable   faults     copy …
//!   166310   482302    62308   381004        0   320413    20019  1029384    20394 …
//!
//! Pages free:                              166310.
//! "Translation faults":                   1029384.
//! ```
//!
//! All are pages, of the size that the first line tells. In lines with an interval the first
//! counts since boot, each other what came since the one before; numbers that do not fit their
//! place are cut to thousands (`K`, `M`).

use crate::list::Format;
use crate::number::{number, scaled};
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::{Line, Parser, fields, prompt};

pub(crate) const FORMAT: Format = Format {
    name: "vm-stat",
    tool: "vm_stat",
    systems: "macOS",
    help: "memory by kind, faults, paging and compression",
    recognised: "a line `Mach Virtual Memory Statistics: (page size of N bytes)`",
    yields: &["memory", "vm"],
    example: "\
Mach Virtual Memory Statistics: (page size of 4096 bytes)
    free   active   specul inactive throttle    wired  prgable   faults     copy    0fill reactive   purged file-backed anonymous cmprssed cmprssor  dcomprs   comprs  pageins  pageout  swapins swapouts
  166310   482302    62308   381004        0   320413    20019  1029384    20394   302938     1202      102      300100    625514    80012    20003     1029     3948    29384       12        0        0
  166210   482402    62308   381004        0   320413    20019      120        4       60        0        0      300100    625514    80012    20003        0        0        2        0        0        0
",
    recognise: |head: &Head| {
        if head.lines().any(|l| page_size(l).is_some()) { 95 } else { 0 }
    },
    parser: || Box::new(VmStat::new()),
};

/// Bytes of a page, of the line that begins a report.
fn page_size(line: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(line).ok()?;
    let (_, rest) = text.split_once("Mach Virtual Memory Statistics: (page size of ")?;
    number(rest.split(' ').next()?.as_bytes()).filter(|size| (512.0..1e7).contains(size))
}

/// What a column or a line is of.
#[derive(Clone, Copy)]
enum What {
    /// A part of all memory.
    Kind(&'static str),
    /// Pages that are counted in parts already.
    Pages(&'static str),
    /// A counter with its place in `vm`, and whether it counts pages.
    Vm(usize, bool),
    /// Another counter of pages.
    Counted(&'static str),
}

use What::{Counted, Kind, Pages, Vm};

/// The columns of a report with an interval, the lines of one without, what they are.
const COLUMNS: [(&str, &str, What); 24] = [
    ("free", "Pages free", Kind("free")),
    ("active", "Pages active", Kind("active")),
    ("specul", "Pages speculative", Kind("speculative")),
    // Until 10.8.
    ("spec", "Pages speculative", Kind("speculative")),
    ("inactive", "Pages inactive", Kind("inactive")),
    ("throttle", "Pages throttled", Kind("throttled")),
    ("wired", "Pages wired down", Kind("wired")),
    ("wire", "Pages wired down", Kind("wired")),
    ("prgable", "Pages purgeable", Pages("purgeable")),
    ("faults", "Translation faults", Vm(2, false)),
    ("copy", "Pages copy-on-write", Counted("copied on write")),
    ("0fill", "Pages zero filled", Counted("zero filled")),
    ("reactive", "Pages reactivated", Counted("reactivated")),
    ("purged", "Pages purged", Counted("purged")),
    ("file-backed", "File-backed pages", Pages("file-backed")),
    ("anonymous", "Anonymous pages", Pages("anonymous")),
    (
        "cmprssed",
        "Pages stored in compressor",
        Pages("stored in compressor"),
    ),
    (
        "cmprssor",
        "Pages occupied by compressor",
        Kind("compressor"),
    ),
    ("dcomprs", "Decompressions", Counted("decompressions")),
    ("comprs", "Compressions", Counted("compressions")),
    ("pageins", "Pageins", Vm(0, true)),
    ("pageout", "Pageouts", Vm(1, true)),
    ("swapins", "Swapins", Vm(3, true)),
    ("swapouts", "Swapouts", Vm(4, true)),
];

struct VmStat {
    page: f64,
    /// Columns of lines with an interval.
    columns: Vec<Option<What>>,
    reports: Repeated,
    /// Rows of the present command.
    rows: u64,
    /// What the lines of a report without an interval told, with their names.
    told: Vec<(&'static str, What, f64)>,
    memory: Shape,
    vm: Shape,
}

impl VmStat {
    fn new() -> VmStat {
        VmStat {
            page: f64::NAN,
            columns: Vec::new(),
            reports: Repeated::new(),
            rows: 0,
            told: Vec::new(),
            memory: Shape::of("memory", &["bytes"]),
            vm: Shape::of(
                "vm",
                &[
                    "paged_in",
                    "paged_out",
                    "faults",
                    "swapped_in",
                    "swapped_out",
                ],
            ),
        }
    }

    /// Memory now, and what was counted: in the interval, or (`whole`) since boot.
    fn put(&mut self, values: &[(What, f64)], whole: bool, out: &mut Out) {
        let mut vm = [f64::NAN; 5];
        let none = out.word(b"");
        for (what, value) in values {
            match *what {
                Kind(kind) => {
                    let kind = out.word(kind.as_bytes());
                    out.put(&self.memory, &[kind], &[value * self.page]);
                }
                Pages(name) => out.other(name, "bytes", none, value * self.page),
                Vm(place, pages) => {
                    vm[place] = if pages { value * self.page } else { *value };
                }
                Counted(name) if whole => out.other_total(name, "pages", none, *value),
                Counted(name) => out.other_grown(name, "pages", none, *value),
            }
        }
        if vm.iter().all(|v| v.is_nan()) {
        } else if whole {
            out.put_since_boot(&self.vm, &[], &vm);
        } else {
            out.put_amounts(&self.vm, &[], &vm);
        }
    }

    /// A line with an interval.
    fn row(&mut self, line: &[u8], out: &mut Out) -> Line {
        let values: Option<Vec<f64>> = fields(line).map(|f| scaled(f, 1000.0)).collect();
        let Some(values) = values.filter(|v| v.len() == self.columns.len()) else {
            return Line::Unknown;
        };
        if line.iter().any(u8::is_ascii_uppercase) {
            out.note("numbers with K or M are cut to thousands or millions of pages");
        }
        self.reports.ends();
        self.reports.of(b"", out);
        out.only_levels();
        let columns = self.columns.iter().zip(values);
        let known: Vec<(What, f64)> = columns.filter_map(|(c, v)| Some(((*c)?, v))).collect();
        let first = self.rows == 0;
        self.rows += 1;
        self.put(&known, first, out);
        Line::Data
    }

    /// A report without an interval is whole.
    fn report(&mut self, out: &mut Out) {
        let told = std::mem::take(&mut self.told);
        if told.is_empty() {
            return;
        }
        self.reports.of(b"", out);
        out.only_levels();
        let whole = self.reports.is_first();
        let mut values = Vec::with_capacity(told.len());
        for (name, what, value) in told {
            let value = match what {
                Kind(_) | Pages(_) => value,
                _ => {
                    let grown = self.reports.grown(name.as_bytes(), &[value], out);
                    match grown {
                        Some(grown) => grown[0],
                        None if whole => value,
                        None => f64::NAN,
                    }
                }
            };
            values.push((what, value));
        }
        self.put(&values, whole, out);
    }

    /// `Pages free:   166310.`
    fn line_of_one(&mut self, line: &[u8]) -> Option<Line> {
        let text = std::str::from_utf8(line).ok()?;
        let (name, value) = text.trim().rsplit_once(':')?;
        let value = number(value.trim().strip_suffix('.')?.as_bytes())?;
        let name = name.trim_matches('"');
        let found = COLUMNS.iter().find(|(_, of_one, _)| *of_one == name);
        let Some((_, name, what)) = found else {
            // What a later version adds.
            return Some(Line::Unknown);
        };
        self.told.push((name, *what, value));
        Some(Line::Data)
    }
}

impl Parser for VmStat {
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        if crate::lines::rows_in(line, self.columns.len()) > 0 {
            self.reports.ends();
            self.reports.of(b"", out);
            self.rows += 1;
            out.gap();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(page) = page_size(line) {
            self.report(out);
            // Of lines with an interval it is repeated as a header is.
            self.page = page;
            return Line::Noise;
        }
        if fields(line).take(2).eq([&b"free"[..], b"active"]) {
            let what = |name: &[u8]| {
                let of = |(n, _, _): &&(&str, &str, What)| n.as_bytes() == name;
                COLUMNS.iter().find(of).map(|(_, _, what)| *what)
            };
            self.columns = fields(line).map(what).collect();
            return Line::Noise;
        }
        if let Some(seen) = self.line_of_one(line) {
            return seen;
        }
        let numbers = line
            .trim_ascii_start()
            .first()
            .is_some_and(u8::is_ascii_digit);
        if numbers && !self.columns.is_empty() && self.row(line, out) == Line::Data {
            return Line::Data;
        }
        self.report(out);
        if let Some(arguments) = prompt::arguments(line, &["vm_stat"]) {
            self.rows = 0;
            // `-c count interval`: the interval is the last.
            let last = arguments.last().and_then(|a| number(a.as_bytes()));
            last.into_iter().for_each(|seconds| out.every(seconds));
            return Line::Noise;
        }
        if self.reports.between(line, &["vm_stat"], out) || prompt::is_chatter(line) {
            Line::Noise
        } else {
            Line::Unknown
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.report(out);
    }
}
