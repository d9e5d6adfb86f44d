//! `netstat -i`: counters of interfaces since boot, and with an interval what came to them.
//!
//! ```text
//! Iface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg
//! eth0      1500   123456      0      0 0         65432      0      0      0 BMRU
//!
//!     input   igb0      output       input  (Total)    output
//! packets errs  packets errs  colls  packets errs  packets errs  colls
//! 1234567 0     7654321 0     0      1234567 0     7654321 0     0
//! ```

use crate::headers::Headers;
use crate::list::Format;
use crate::number::{number, scaled, whole};
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::together::Columns;
use crate::together::printed::{self, Printed};
use crate::{Line, Parser, fields, net, prompt};

/// What is above the table, in the languages of net-tools.
const TITLES: [&str; 7] = [
    "Kernel Interface table",
    "Kernel-Schnittstellentabelle",
    "Table d'interfaces noyau",
    "Tabela de Interfaces do Kernel",
    "Tabulka rozhraní v jádru",
    "Tuuma liideste tabel",
    "カーネルインタフェーステーブル",
];

pub(crate) const FORMAT: Format = Format {
    name: "netstat-i",
    tool: "netstat",
    systems: "Linux, Solaris, illumos, AIX, FreeBSD, NetBSD, OpenBSD, macOS",
    help: "packets, bytes and errors of network interfaces",
    recognised: "a header with `RX-OK` and `TX-OK`, or `Ipkts` and `Opkts`, or `Ibytes` and `Obytes`, or lines `input NAME \
                 output` (`NAME in NAME out`) and `packets errs … packets errs … colls`",
    yields: &["net"],
    example: "\
    input   igb0      output       input  (Total)    output
packets errs  packets errs  colls  packets errs  packets errs  colls
1234567 0     7654321 0     0      1234567 0     7654321 0     0
10      0     20      0     0      10      0     20      0     0
",
    recognise,
    parser: || Box::new(Interfaces::new()),
};

fn recognise(head: &Head) -> u8 {
    let counters = head.headers().any(|l| table(l).is_some());
    let flow = head.lines().any(|l| named(l).is_some()) && head.lines().any(is_flow);
    if counters || flow { 90 } else { 0 }
}

/// Measures of the table, in the order of values.
const MEASURES: [&str; 6] = [
    "bytes",
    "packets",
    "errors",
    "drops",
    "overruns",
    "collisions",
];

/// Where a column belongs: whether to receiving, and the measure's place.
type Place = Option<(bool, usize)>;

fn place(name: &str) -> Place {
    let receive = name.starts_with("RX-") || name.starts_with('I');
    Some(match name {
        "RX-OK" | "TX-OK" | "Ipkts" | "Opkts" => (receive, 1),
        "RX-ERR" | "TX-ERR" | "Ierrs" | "Oerrs" => (receive, 2),
        // `Drop` is of the queue of what is to be sent.
        "RX-DRP" | "TX-DRP" | "Idrop" | "Odrop" | "Drop" => (receive, 3),
        "RX-OVR" | "TX-OVR" => (receive, 4),
        "Ibytes" | "Obytes" => (receive, 0),
        "Coll" | "Collis" | "Colls" => (false, 5),
        _ => return None,
    })
}

/// What OpenBSD counts as one: errors and drops.
const FAILURES: [(&str, &str); 2] = [
    ("Ifail", "receive_failures"),
    ("Ofail", "transmit_failures"),
];

/// What a table's header says.
struct Table {
    /// Columns from the first counter on.
    columns: Vec<String>,
    /// Those before it, of Linux. Other systems leave out what an interface does not have.
    before: Option<usize>,
    /// It is the second of one report: of the same interfaces, with their addresses of IPv6.
    second: bool,
}

impl Table {
    /// Whether this table of Solaris follows that of IPv4 in one report: it is as that, but for the
    /// last column.
    fn follows(&self, other: &Table) -> bool {
        match &other.columns[..] {
            [same @ .., queue] => queue == "Queue" && same == self.columns,
            [] => false,
        }
    }
}

/// How net-tools 1.60 prints a row: `%-5.5s %5d %3d%8llu %6lu %6lu %6lu%8llu %6lu %6lu %6lu `, and
/// its flags (`ife_print_short` in `lib/interface.c`). Red Hat's and later ones have blanks between
/// all.
const WITH_METRIC: [Printed; 12] = [
    Printed::Apart,
    Printed::Apart,
    Printed::whole(1, 3),
    Printed::whole(0, 8),
    Printed::Apart,
    Printed::Apart,
    Printed::whole(1, 6),
    Printed::whole(0, 8),
    Printed::Apart,
    Printed::Apart,
    Printed::Apart,
    Printed::Apart,
];

/// The columns of a table's header.
fn table(line: &[u8]) -> Option<Table> {
    let names: Vec<String> = fields(line)
        .map(|w| String::from_utf8_lossy(w).into_owned())
        .collect();
    let first = names.first()?;
    let has = |name: &str| names.iter().any(|n| n == name);
    let known = (first == "Iface" && has("RX-OK") && has("TX-OK"))
        || (first == "Name" && has("Ipkts") && has("Opkts"))
        // Of NetBSD's -b, which prints nothing else.
        || (first == "Name" && has("Ibytes") && has("Obytes"));
    let at = names.iter().position(|n| place(n).is_some())?;
    known.then(|| Table {
        columns: names[at..].to_vec(),
        before: (first == "Iface").then_some(at),
        second: false,
    })
}

/// The interfaces of a line `input igb0 output input (Total) output`, or as OpenBSD and NetBSD have
/// it, `em0 in em0 out total in total out`.
fn named(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let words: Vec<&[u8]> = fields(line).collect();
    let each = match words.get(1)? {
        &b"in" => 4,
        _ => 3,
    };
    let group = |w: &[&[u8]]| match w {
        [b"input", name, b"output"] => Some(name.to_vec()),
        [b"total", b"in", b"total", b"out"] => Some(b"(total)".to_vec()),
        [name, b"in", again, b"out"] if name == again => Some(name.to_vec()),
        _ => None,
    };
    words.chunks(each).map(group).collect()
}

/// To so many characters Solaris cuts the name in that line (`%-6.6s` in `netstat.c` of illumos).
const CUT: usize = 6;

/// The interface of `-I e1000g0` or `-Ie1000g0`.
fn asked(arguments: &[String]) -> Option<Vec<u8>> {
    let at = arguments.iter().position(|a| a.starts_with("-I"))?;
    let name = match arguments[at].strip_prefix("-I") {
        Some("") => arguments.get(at + 1)?,
        joined => joined?,
    };
    Some(name.as_bytes().to_vec())
}

fn is_flow(line: &[u8]) -> bool {
    let mut words = fields(line);
    words.next() == Some(b"packets")
        && words.next() == Some(b"errs")
        && words.any(|w| w == b"packets")
        && line.windows(5).any(|w| w == b"colls")
}

enum Layout {
    None,
    /// Counters since boot.
    Table(Table),
    /// What came in the interval: for each column the interface, and where it belongs.
    Flow(Vec<(usize, Place)>),
}

struct Interfaces {
    layout: Layout,
    names: Vec<Vec<u8>>,
    /// The interface that the command line names.
    asked: Option<Vec<u8>>,
    reports: Repeated,
    headers: Headers,
    /// The header is that of OpenBSD and NetBSD.
    in_and_out: bool,
    /// FreeBSD and macOS, which print bytes, print no report since boot.
    has_bytes: bool,
    /// Bytes in a K of packets and errors of FreeBSD's -h, where a number told it.
    step: Option<f64>,
    net: Shape,
}

impl Interfaces {
    fn new() -> Interfaces {
        Interfaces {
            layout: Layout::None,
            names: Vec::new(),
            asked: None,
            reports: Repeated::new(),
            headers: Headers::default(),
            in_and_out: false,
            has_bytes: false,
            step: None,
            net: Shape::of("net", &MEASURES),
        }
    }

    /// The name as the command line has it, where the header has its beginning only.
    fn whole(&self, name: Vec<u8>) -> Vec<u8> {
        match &self.asked {
            Some(asked) if name.len() == CUT && asked.starts_with(&name) => asked.clone(),
            _ => name,
        }
    }

    /// The columns of the interval's header: each begins anew at `packets`, in and out by turns.
    fn flow(&mut self, line: &[u8], out: &mut Out) -> Line {
        let mut columns = Vec::new();
        let mut groups = 0;
        for word in fields(line) {
            groups += usize::from(word == b"packets");
            let Some(group) = groups.checked_sub(1) else {
                return Line::Unknown;
            };
            let receive = group % 2 == 0;
            let measure = match word {
                b"bytes" => Some(0),
                b"packets" => Some(1),
                b"errs" => Some(2),
                b"idrops" | b"drops" => Some(3),
                b"colls" => Some(5),
                _ => None,
            };
            columns.push((group / 2, measure.map(|m| (receive, m))));
        }
        if groups != self.names.len() * 2 {
            return Line::Unknown;
        }
        // Of OpenBSD and NetBSD bytes are asked for, and the first report is since boot.
        let since_boot = std::mem::take(&mut self.in_and_out);
        self.has_bytes = !since_boot && columns.iter().any(|(_, p)| p.is_some_and(|(_, m)| m == 0));
        // Of the others a first report is since boot: so it is of each output that was appended.
        if !self.has_bytes && self.headers.begin_anew(out) {
            self.reports = Repeated::new();
        }
        self.layout = Layout::Flow(columns);
        Line::Noise
    }

    fn put(&self, out: &mut Out, name: &[u8], values: &[[f64; 6]; 2]) {
        let interface = out.word(name);
        let layer = out.word(net::layer(name).as_bytes());
        for (direction, values) in [("receive", values[0]), ("transmit", values[1])] {
            if values.iter().any(|v| !v.is_nan()) {
                let words = [interface, layer, out.word(direction.as_bytes())];
                out.put_amounts(&self.net, &words, &values);
            }
        }
    }

    /// The numbers of a row. With `-h` of FreeBSD a K of bytes is 1,024; one of the others was, too,
    /// and since 11 is 1,000, with a small letter (`show_stat` in its `if.c`, `humanize_number(3)`):
    /// a number of them with an M alone is not known.
    fn flow_values(&mut self, columns: &[(usize, Place)], line: &[u8]) -> Option<Vec<f64>> {
        let all: Vec<&[u8]> = fields(line).collect();
        if all.len() != columns.len() {
            return None;
        }
        let is_bytes = |place: &Place| place.is_some_and(|(_, measure)| measure == 0);
        for ((_, place), text) in columns.iter().zip(&all) {
            self.step = match text.last() {
                Some(b'K') if !is_bytes(place) => Some(1024.0),
                Some(b'k') if !is_bytes(place) => Some(1000.0),
                _ => self.step,
            };
        }
        let value = |((_, place), text): (&(usize, Place), &&[u8])| match number(text) {
            None if is_bytes(place) => scaled(text, 1024.0),
            None => scaled(text, self.step?),
            plain => plain,
        };
        columns.iter().zip(&all).map(value).collect()
    }

    fn flow_row(&mut self, columns: &[(usize, Place)], line: &[u8], out: &mut Out) -> Line {
        let Some(values) = self.flow_values(columns, line) else {
            if fields(line).count() == columns.len()
                && fields(line).all(|f| scaled(f, 1024.0).is_some())
            {
                out.note(
                    "counts with letters whose step is 1,000 or 1,024, by the tool's version; \
                     `netstat` without -h prints them without",
                );
            }
            return Line::Unknown;
        };
        self.reports.ends();
        if self.has_bytes {
            self.reports.of(b"", out);
        } else {
            self.reports.counted(b"", out);
        }
        self.headers.row();
        for (i, name) in self.names.iter().enumerate() {
            let mut sorted = [[f64::NAN; 6]; 2];
            for ((_, place), value) in columns.iter().zip(&values).filter(|((of, _), _)| *of == i) {
                if let Some((receive, measure)) = place {
                    sorted[usize::from(!receive)][*measure] = *value;
                }
            }
            if name.eq_ignore_ascii_case(b"(total)") {
                // What the others have already, or all there is.
                let total = out.word(b"(total)");
                for (direction, values) in ["receive", "transmit"].iter().zip(sorted) {
                    for (measure, value) in MEASURES.iter().zip(values) {
                        out.other(&format!("{direction}_{measure}"), "", total, value);
                    }
                }
                continue;
            }
            let is_whole = |last: &u8| last.is_ascii_digit() || *last == b')';
            if !self.has_bytes && name.len() == CUT && !name.last().is_some_and(is_whole) {
                out.note("netstat cut the name of the interface to six characters");
            }
            let name = name.strip_prefix(b"(").unwrap_or(name);
            self.put(out, name.strip_suffix(b")").unwrap_or(name), &sorted);
        }
        Line::Data
    }

    fn table_row(&mut self, table: &Table, line: &[u8], out: &mut Out) -> Line {
        let columns = &table.columns;
        let words: Vec<&[u8]> = fields(line).collect();
        let Some(at) = words.len().checked_sub(columns.len()).filter(|at| *at > 0) else {
            return Line::Unknown;
        };
        let together = || Columns::is_together(words[1..].iter().copied());
        let at = match table.before {
            Some(before) if at < before || together() => return Line::Unknown,
            // The flags may be several words.
            Some(before) => before,
            None => at,
        };
        let name = words[0].strip_suffix(b"*").unwrap_or(words[0]);
        let mut values = [[f64::NAN; 6]; 2];
        let mut failures = [f64::NAN; 2];
        for (column, text) in columns.iter().zip(&words[at..]) {
            let value = match place(column) {
                Some((receive, measure)) => &mut values[usize::from(!receive)][measure],
                None => match FAILURES.iter().position(|(name, _)| name == column) {
                    Some(at) => &mut failures[at],
                    None => continue,
                },
            };
            match whole(text) {
                Some(count) => *value = count as f64,
                None if *text == b"-" => {}
                None => return Line::Unknown,
            }
        }
        // Another address of an interface in the same report.
        let again = self.reports.has(name) && !self.reports.is_over();
        let addressed = columns.first().is_some_and(|c| c.starts_with('I'));
        if again && (table.second || addressed && self.last_was(name)) {
            return Line::Noise;
        }
        self.reports.counted(name, out);
        self.names = vec![name.to_vec()];
        let flat: Vec<f64> = values.iter().flatten().chain(&failures).copied().collect();
        if let Some(grown) = self.reports.grown(name, &flat, out) {
            let mut came = [[f64::NAN; 6]; 2];
            let (measures, failures) = grown.split_at(flat.len() - failures.len());
            for (to, from) in came.iter_mut().flatten().zip(measures) {
                *to = *from;
            }
            self.put(out, name, &came);
            let interface = out.word(name);
            for ((_, column), value) in FAILURES.iter().zip(failures) {
                out.other_grown(column, "packets", interface, *value);
            }
        }
        Line::Data
    }

    fn last_was(&self, name: &[u8]) -> bool {
        self.names.first().is_some_and(|n| n == name)
    }
}

/// The seconds of BSD's `-w`, alone, behind other letters or before its number: `-w 7`, `-bdw 7`, `-w7`.
fn waits(arguments: &[String]) -> Option<f64> {
    arguments.iter().enumerate().find_map(|(at, argument)| {
        let flags = argument.strip_prefix('-').filter(|f| !f.starts_with('-'))?;
        let (_, behind) = flags.split_once('w')?;
        let value = match behind {
            "" => arguments.get(at + 1)?,
            behind => behind,
        };
        number(value.as_bytes())
    })
}

impl Parser for Interfaces {
    /// A line of all interfaces.
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let Layout::Flow(columns) = &self.layout else {
            return;
        };
        if crate::lines::rows_in(line, columns.len()) > 0 {
            self.reports.ends();
            if self.has_bytes {
                self.reports.of(b"", out);
            } else {
                self.reports.counted(b"", out);
            }
            self.headers.row();
            out.gap();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = line.trim_ascii();
        if text.is_empty() {
            return Line::Noise;
        }
        if let Some(arguments) = prompt::arguments(line, &["netstat"]) {
            if let Some(seconds) = waits(&arguments).or(prompt::interval(&arguments)) {
                out.every(seconds);
            }
            self.asked = asked(&arguments);
            self.headers.take();
            self.reports.ends();
            return Line::Noise;
        }
        if TITLES.iter().any(|title| text == title.as_bytes()) {
            self.reports.ends();
            return Line::Noise;
        }
        if self.reports.between(line, &["netstat"], out) {
            return Line::Noise;
        }
        if let Some(mut table) = table(line) {
            table.second = !self.reports.is_over()
                && matches!(&self.layout, Layout::Table(first) if table.follows(first));
            if !table.second {
                self.reports.ends();
            }
            self.layout = Layout::Table(table);
            return Line::Noise;
        }
        if let Some(names) = named(line) {
            self.in_and_out = fields(line).nth(1) == Some(b"in");
            self.names = names.into_iter().map(|name| self.whole(name)).collect();
            return Line::Noise;
        }
        if is_flow(line) {
            return self.flow(line, out);
        }
        let layout = std::mem::replace(&mut self.layout, Layout::None);
        let seen = match &layout {
            Layout::None => Line::Unknown,
            Layout::Table(table) => match self.table_row(table, line, out) {
                Line::Unknown if table.before == Some(3) && !out.is_endless() => {
                    match printed::apart(&WITH_METRIC, line) {
                        Some(apart) => self.table_row(table, &apart, out),
                        None => Line::Unknown,
                    }
                }
                seen => seen,
            },
            Layout::Flow(columns) => self.flow_row(columns, line, out),
        };
        self.layout = layout;
        seen
    }
}
