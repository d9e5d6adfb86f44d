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
//! boot; one after processors came or went is, too.

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

struct Mpstat {
    names: Vec<String>,
    /// Its columns, for rows whose numbers run together.
    together: Columns,
    /// Processors of the present report, and those of reports before it.
    seen: Vec<Word>,
    known: Vec<Word>,
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
            seen: Vec::new(),
            known: Vec::new(),
            garbled: false,
            since_boot: true,
            stamp: None,
            cpu: Cpu::new(),
        }
    }

    /// The report is over. If none of its rows was understood, its place stays.
    fn close(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.garbled) && self.seen.is_empty() {
            lost(&mut self.stamp, out);
            if std::mem::replace(&mut self.since_boot, false) {
                out.since_boot();
            }
        }
        self.end_rows(out);
    }

    /// The rows of a report are over. What a processor did that has none is not known.
    fn end_rows(&mut self, out: &mut Out) {
        if !self.seen.is_empty() && !out.is_since_boot() {
            let missing = self.known.iter().filter(|cpu| !self.seen.contains(cpu));
            for cpu in missing {
                self.cpu.put_unknown(out, *cpu);
                out.note(MISSING);
            }
        }
        for cpu in self.seen.drain(..) {
            if !self.known.contains(&cpu) {
                self.known.push(cpu);
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
        if self.seen.is_empty() || self.seen.contains(&cpu) {
            self.end_rows(out);
            sample(&mut self.stamp, out);
            if std::mem::replace(&mut self.since_boot, false) {
                out.since_boot();
            }
        }
        self.seen.push(cpu);
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
        self.cpu.put(out, cpu, processors, &shares);
        for (name, value) in self.names.iter().zip(values).skip(1) {
            let unit = match name.as_str() {
                "usr" | "sys" | "wt" | "st" | "idl" | "" => continue,
                "sze" => "processors",
                "set" => "number of the set",
                _ => "per second",
            };
            out.other(name, unit, cpu, *value);
        }
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
            let text = |f: &&[u8]| String::from_utf8_lossy(f).into_owned();
            self.names = all.iter().map(text).collect();
            if !matches!(self.names.last().map_or("", |n| n), "idl" | "set" | "sze") {
                leave_out_last(&mut self.names, out);
            }
            self.close(out);
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
        if echo::command(line, "mpstat").is_some() {
            self.close(out);
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
