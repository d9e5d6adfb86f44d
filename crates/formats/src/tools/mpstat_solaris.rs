//! `mpstat` of Solaris and illumos: by processor, with `-p` its set, with `-a` or `-A` by set,
//! core or socket.
//!
//! ```text
//! CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl
//!   0  870   1  274  2440  235  569    2   47   59    0  4709    2   3   0  94
//! ```
//!
//! All are per second but for the shares of time; `wt` is always 0 since Solaris 10 (illumos,
//! `mpstat(8)`). `sze` says how many processors a set has. The first report is a mean since
//! boot; one after processors came or went is, too, which with `-q` no line says.

use run::Word;

use super::solaris::{Between, CHANGED, between, blank_or_unknown, lost, sample};
use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::headers::leave_out_last;
use crate::lines::rows_in;
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Stamp;
use crate::together::Columns;
use crate::{Line, Parser, echo, fields, number, numbers};

pub(crate) const FORMAT: Format = Format {
    name: "mpstat-solaris",
    tool: "mpstat",
    systems: "Solaris, illumos",
    help: "processors, or sets of them (-a): shares of time, faults, interrupts, locks",
    recognised: "a header `CPU minf mjf xcal …` or `SET minf mjf …`",
    yields: &["cpu", "cpu_idle"],
    example: "\
CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl
  0  870   1  274  2440  235  569    2   47   59    0  4709    2   3   0  94
  1  547   1   58   203   63  462    3   19   35    0  4964    2   2   0  95
CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl
  0    2   0   31   326  135  224    0   16   37    0  1060    1   1   0  98
  1    0   0   25   216   87  382    1   16   31    0  1192    1   1   0  98
",
    recognise,
    parser: || Box::new(Mpstat::new()),
};

fn recognise(head: &Head) -> u8 {
    if head.any_fields(&["minf", "mjf", "xcal", "intr"]) {
        92
    } else {
        0
    }
}

const MISSING: &str = "reports have no row of processors that those above them have: what they did \
                       then is not known";

/// A row of the present report: how many processors it is of, their shares of time, and the other
/// columns with their units.
struct Row {
    cpu: Word,
    processors: f64,
    shares: Shares,
    others: Vec<(String, &'static str, f64)>,
}

struct Mpstat {
    names: Vec<String>,
    /// Its columns, for rows whose numbers run together.
    together: Columns,
    /// The present report, and processors of reports before it.
    rows: Vec<Row>,
    known: Vec<Word>,
    /// `-q`, where a command line tells.
    is_quiet: bool,
    /// A row of the present report is not understood.
    garbled: bool,
    since_boot: bool,
    stamp: Option<Stamp>,
    cpu: Cpu,
}

impl Mpstat {
    fn new() -> Mpstat {
        Mpstat {
            names: Vec::new(),
            together: Columns::default(),
            rows: Vec::new(),
            known: Vec::new(),
            is_quiet: false,
            garbled: false,
            since_boot: true,
            stamp: None,
            cpu: Cpu::new(),
        }
    }

    /// The report is over. If none of its rows was understood, its place stays.
    fn close(&mut self, out: &mut Out) {
        if self.garbled && self.rows.is_empty() {
            lost(&mut self.stamp, out);
            if std::mem::replace(&mut self.since_boot, false) {
                out.since_boot();
            }
        }
        self.end_rows(out);
    }

    fn has(&self, cpu: Word) -> bool {
        self.rows.iter().any(|row| row.cpu == cpu)
    }

    /// The rows of a report are over. What a processor did that has none is not known.
    fn end_rows(&mut self, out: &mut Out) {
        let garbled = std::mem::take(&mut self.garbled);
        if self.rows.is_empty() {
            return;
        }
        let is_new = |row: &Row| !self.known.contains(&row.cpu);
        let missing: Vec<Word> = self
            .known
            .iter()
            .copied()
            .filter(|cpu| !self.has(*cpu))
            .collect();
        let has_changed =
            !missing.is_empty() || !self.known.is_empty() && self.rows.iter().any(is_new);
        if self.is_quiet && has_changed && !garbled && !out.is_since_boot() {
            // `mpstat.c` forgets what it read before, whether it says so or not.
            out.since_boot();
            out.note(CHANGED);
            self.known.clear();
        } else if !out.is_since_boot() {
            for cpu in missing {
                self.cpu.put_unknown(out, cpu);
                out.note(MISSING);
            }
        }
        for row in std::mem::take(&mut self.rows) {
            self.cpu.put(out, row.cpu, row.processors, &row.shares);
            for (name, unit, value) in row.others {
                out.other(&name, unit, row.cpu, value);
            }
            if !self.known.contains(&row.cpu) {
                self.known.push(row.cpu);
            }
        }
    }

    /// What the numbers of a report's rows are of.
    fn group(&self) -> &'static [u8] {
        match self.names.first().map(String::as_str) {
            Some("SET") => b"set ",
            Some("COR") => b"core ",
            Some("SOC") => b"socket ",
            Some("BIN") => b"bin ",
            _ => b"",
        }
    }

    /// Whether the shares of a line that has no end add up to all of the time: the last of them, which
    /// stands at its end, has all of its digits then. How long the line is tells nothing: one wide
    /// number moves all behind it.
    fn is_whole(&self, values: &[f64]) -> bool {
        // What four shares lack that were rounded.
        const WITHIN: f64 = 3.0;
        let shares = self.names.iter().zip(values);
        let shares =
            shares.filter(|(n, _)| matches!(n.as_str(), "usr" | "sys" | "wt" | "st" | "idl"));
        let sum: f64 = shares.map(|(_, value)| value).sum();
        self.names.last().is_some_and(|n| n == "idl") && (sum - 100.0).abs() <= WITHIN
    }

    fn row(&mut self, values: &[f64], id: &[u8], out: &mut Out) {
        let group = self.group();
        let cpu = out.word(&[group, id].concat());
        if self.rows.is_empty() || self.has(cpu) {
            self.end_rows(out);
            sample(&mut self.stamp, out);
            if std::mem::replace(&mut self.since_boot, false) {
                out.since_boot();
            }
        }
        let of = |name: &str| {
            let place = self.names.iter().position(|n| n == name);
            place
                .and_then(|p| values.get(p).copied())
                .unwrap_or(f64::NAN)
        };
        let size = of("sze");
        // Groups of processors have `sze`, unless their lines were cut.
        let processors = if group.is_empty() { 1.0 } else { size };
        let share = |name| of(name) / 100.0;
        let shares = Shares {
            user: share("usr"),
            system: share("sys"),
            iowait: share("wt"),
            steal: share("st"),
            idle: share("idl"),
            ..UNKNOWN
        };
        let ends = self.names.last().is_some_and(|n| n == "idl");
        let shares = shares.of_end(ends, out);
        let others = self.names.iter().zip(values).skip(1);
        let others = others.filter_map(|(name, value)| {
            let unit = match name.as_str() {
                "usr" | "sys" | "wt" | "st" | "idl" | "" => return None,
                "sze" => "processors",
                "set" => "number of the set",
                _ => "per second",
            };
            Some((name.clone(), unit, *value))
        });
        self.rows.push(Row {
            cpu,
            processors,
            shares,
            others: others.collect(),
        });
    }
}

impl Parser for Mpstat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        let Some(first) = all.first() else {
            return Line::Noise;
        };
        if all.get(1) == Some(&&b"minf"[..]) {
            self.close(out);
            let text = |f: &&[u8]| String::from_utf8_lossy(f).into_owned();
            self.names = all.iter().map(text).collect();
            if !matches!(self.names.last().map_or("", |n| n), "idl" | "set" | "sze") {
                leave_out_last(&mut self.names, out);
            }
            let shares = ["usr", "sys", "wt", "st", "idl"];
            self.together = Columns::of(line).whole().with_shares(line, &shares);
            return Line::Noise;
        }
        if all.len() == self.names.len()
            && number::whole(first).is_some()
            && !Columns::is_together(all.iter().copied())
            && let Some(values) = numbers(all.iter().copied())
        {
            if out.is_endless() && !self.is_whole(&values) {
                return Line::Unknown;
            }
            self.row(&values, first, out);
            return Line::Data;
        }
        if out.is_endless() {
            return blank_or_unknown(line);
        }
        if let Some(arguments) = echo::command(line, "mpstat") {
            self.close(out);
            self.is_quiet = echo::has_flag(&arguments, b'q');
        }
        match between(
            line,
            "mpstat",
            &["-T", "-P", "-A", "-k", "-o", "-I", "-O"],
            out,
        ) {
            Some(Between::Command) => {
                self.since_boot = true;
                self.known.clear();
            }
            Some(Between::Change) => {
                self.close(out);
                out.note(CHANGED);
                self.since_boot = true;
                self.known.clear();
            }
            Some(Between::Stamp(stamp)) => {
                self.close(out);
                self.stamp = Some(stamp);
            }
            Some(Between::Chatter) => {}
            None => {
                return match self.together.apart(line) {
                    Some(apart) => self.line(&apart, out),
                    None => blank_or_unknown(line),
                };
            }
        }
        self.end_rows(out);
        Line::Noise
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    fn lost(&mut self, line: &[u8], _out: &mut Out) {
        self.garbled |= rows_in(line, self.names.len()) > 0;
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
    }
}
