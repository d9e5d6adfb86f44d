//! `nstat` of iproute2: counters of TCP, UDP and IP, from `/proc/net/snmp` and `/proc/net/netstat`.
//!
//! ```text
//! #kernel
//! IpInReceives                    153015             0.0
//! TcpActiveOpens                  12                 0.0
//! ```
//!
//! With `-a` they count since boot, and else since the user's `nstat` before it (`nstat.c` keeps a
//! file of them), which the text does not tell: a command line does, or counters that fall, or all
//! of many that rise. Zeros are left out without `-z`. The last column is a mean of its daemon's.

use std::collections::{BTreeMap, BTreeSet};

use super::collectl::protocols::{ROWS, Row};
use super::proc::put_grown;
use crate::list::Format;
use crate::number::{decimal, whole};
use crate::out::{Out, Shape};
use crate::prompt::{self, is_chatter};
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::{Line, Parser, fields, stamp_line};

pub(crate) const FORMAT: Format = Format {
    name: "nstat",
    tool: "nstat",
    systems: "Linux",
    help: "counters of TCP, UDP and IP; of repeated reports what came to them",
    recognised: "a line `#kernel`, and lines `IpInReceives 153015 0.0` below it",
    yields: &["tcp", "tcp_segments", "udp", "udp_datagrams", "ip_packets"],
    example: "\
$ nstat -a
#kernel
IpInReceives                    153015             0.0
TcpActiveOpens                  12                 0.0
TcpInSegs                       120044             0.0
",
    recognise,
    parser: || Box::new(Nstat::new()),
};

/// Of so many counters one fell or was zero, if they were of an interval.
const SURE: usize = 8;

/// Reports whose order is learnt: it is the kernel's, the same in all.
const LEARNT: usize = 100;

/// A report of more names is no kernel's, and of each of them all above it would be kept.
const MOST_LISTED: usize = 1024;

/// Settings, and what counts no events.
const SETTINGS: [&str; 7] = [
    "IpForwarding",
    "IpDefaultTTL",
    "TcpRtoAlgorithm",
    "TcpRtoMin",
    "TcpRtoMax",
    "TcpMaxConn",
    "TcpCurrEstab",
];

fn recognise(head: &Head) -> u8 {
    let named = head.lines().any(is_heading);
    let counted = head.lines().filter(|l| row(l).is_some()).count();
    if counted > 0 && (named || counted > 2) {
        85
    } else {
        0
    }
}

/// `#kernel`, or that of the daemon: `#1234.5 sampling_interval=60 time_const=60`.
fn is_heading(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line == b"#kernel" || line.starts_with(b"#") && line.windows(6).any(|w| w == b"const=")
}

fn row(line: &[u8]) -> Option<(&str, f64)> {
    let mut all = fields(line);
    let name = std::str::from_utf8(all.next()?).ok()?;
    let (count, mean) = (whole(all.next()?)?, all.next()?);
    let protocol = ["Ip", "Icmp", "Tcp", "Udp", "MPTcp", "Sctp", "Tls", "Xfrm"];
    let known = protocol.iter().any(|p| name.starts_with(p));
    let word = name.bytes().all(|b| b.is_ascii_alphanumeric());
    let has_point = mean.contains(&b'.') && decimal(mean).is_some();
    (known && word && has_point && all.next().is_none()).then_some((name, count as f64))
}

/// What the counts are of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    Untold,
    Boot,
    Interval,
}

type Values = BTreeMap<String, f64>;

struct Nstat {
    of: Of,
    /// The report that is being read.
    now: Values,
    stamp: Option<Stamp>,
    /// The one before, and while nothing tells what it is of, its time.
    before: Option<(Values, Option<Stamp>)>,
    is_held: bool,
    /// A heading came: a report without a row has nothing but zeros.
    is_headed: bool,
    /// Something stands below the report that is being read: none of it was cut off.
    is_whole: bool,
    /// Names that any report had.
    known: BTreeSet<String>,
    /// Names of the present report as they stand in it, and of each name those above it in any.
    listed: Vec<String>,
    above: BTreeMap<String, BTreeSet<String>>,
    learnt: usize,
    rows: Vec<(&'static Row, Shape)>,
}

impl Nstat {
    fn new() -> Nstat {
        let shape = |row: &'static Row| {
            let measures: Vec<&str> = row.2.iter().map(|(measure, _)| *measure).collect();
            (row, Shape::of(row.0, &measures))
        };
        Nstat {
            of: Of::Untold,
            now: Values::new(),
            stamp: None,
            before: None,
            is_held: false,
            is_headed: false,
            is_whole: false,
            known: BTreeSet::new(),
            listed: Vec::new(),
            above: BTreeMap::new(),
            learnt: 0,
            rows: ROWS.iter().map(shape).collect(),
        }
    }

    /// The report is over.
    fn close(&mut self, is_last: bool, out: &mut Out) {
        let now = std::mem::take(&mut self.now);
        let is_headed = std::mem::take(&mut self.is_headed);
        let is_last = is_last && !std::mem::take(&mut self.is_whole);
        self.learn();
        if now.is_empty() && (is_last || !is_headed) {
            return;
        }
        let stamp = self.stamp.take();
        let Some((before, first_stamp)) = self.before.take() else {
            self.is_held = self.of == Of::Untold;
            if !self.is_held && !now.is_empty() {
                self.put(stamp, &now, None, false, out);
            }
            self.before = Some((now, stamp));
            return;
        };
        if self.is_held {
            self.of = compared(&before, &now);
            self.is_held = false;
            if self.of == Of::Untold {
                out.refuse(untold());
                return;
            }
            self.put(first_stamp, &before, None, false, out);
        }
        self.put(stamp, &now, Some(&before), is_last, out);
        self.before = Some((now, None));
    }

    /// Learns from the report that is being read which names stand above which.
    fn learn(&mut self) {
        let listed = std::mem::take(&mut self.listed);
        if listed.is_empty() || listed.len() > MOST_LISTED || self.learnt >= LEARNT {
            return;
        }
        self.learnt += 1;
        for (place, name) in listed.iter().enumerate() {
            let above = self.above.entry(name.clone()).or_default();
            above.extend(listed[..place].iter().cloned());
        }
    }

    /// Of the last report nobody knows whether it is whole: what would stand below its rows may be
    /// cut off.
    fn put(
        &mut self,
        stamp: Option<Stamp>,
        now: &Values,
        before: Option<&Values>,
        is_last: bool,
        out: &mut Out,
    ) {
        out.sample_once(stamp);
        // Of the first nobody knows of what time it is, either way.
        let first = before.is_none();
        if first {
            out.since_boot();
        }
        self.known.extend(now.keys().cloned());
        let of = self.of;
        let known = &self.known;
        let is_above = |name: &str| {
            let mut above = now.keys().filter_map(|row| self.above.get(row));
            above.any(|above| above.contains(name))
        };
        let is_zero = |name: &str| known.contains(name) && (!is_last || is_above(name));
        let value = |name: &str| {
            let count = now.get(name).copied();
            match (of, before) {
                (Of::Boot, Some(before)) => {
                    let was = before.get(name).copied();
                    let grew = count.zip(was).map(|(now, was)| now - was);
                    grew.filter(|grew| *grew >= 0.0).unwrap_or(f64::NAN)
                }
                // Zeros are left out.
                (Of::Interval, Some(_)) if count.is_none() && is_zero(name) => 0.0,
                _ => count.unwrap_or(f64::NAN),
            }
        };
        let joined = |name: &str| name.replace(' ', "");
        for (row, shape) in &self.rows {
            let (_, words, measures) = row;
            let sum = |(_, names): &(&str, &[&str])| {
                let found = names.iter().map(|name| value(&joined(name)));
                found.filter(|v| !v.is_nan()).reduce(|a, b| a + b)
            };
            let level = |names: &[&str]| names.iter().any(|n| SETTINGS.contains(&&*joined(n)));
            let values: Vec<f64> = measures
                .iter()
                .map(|m| sum(m).filter(|_| !level(m.1)).unwrap_or(f64::NAN))
                .collect();
            if values.iter().any(|v| !v.is_nan()) {
                let words: Vec<run::Word> = words.iter().map(|w| out.word(w.as_bytes())).collect();
                put_grown(out, shape, &words, &values, first);
            }
        }
        let has = |name: &str| {
            let of = |row: &Row| {
                row.2
                    .iter()
                    .any(|(_, ns)| ns.iter().any(|n| joined(n) == name))
            };
            ROWS.iter().any(of) || SETTINGS.contains(&name)
        };
        let none = out.word(b"");
        for name in known.iter().filter(|name| !has(name)) {
            if first {
                out.other_total(name, "count", none, value(name));
            } else {
                out.other_grown(name, "count", none, value(name));
            }
        }
    }
}

/// What two reports that follow each other are of.
fn compared(before: &Values, now: &Values) -> Of {
    let fell = |(name, was): (&String, &f64)| now.get(name).is_none_or(|now| now < was);
    if before.is_empty() || before.iter().any(fell) {
        Of::Interval
    } else if before.len() >= SURE {
        Of::Boot
    } else {
        Of::Untold
    }
}

fn untold() -> Refused {
    Refused(
        "it does not tell whether it counts since boot (nstat -a) or since the nstat before it\n\
         hint: put the command line above it, as `$ nstat -a`"
            .into(),
    )
}

impl Parser for Nstat {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if let Some((name, count)) = row(line) {
            if self.now.contains_key(name) {
                self.close(false, out);
            }
            self.now.insert(name.to_owned(), count);
            self.listed.push(name.to_owned());
            self.is_whole = false;
            return Line::Data;
        }
        if is_heading(line) {
            self.close(false, out);
            self.is_headed = true;
            return Line::Noise;
        }
        if let Some(arguments) = prompt::arguments(line, &["nstat"]) {
            self.close(false, out);
            let absolute =
                prompt::has_flag(&arguments, 'a') || arguments.iter().any(|a| a == "--ignore");
            let of = if absolute { Of::Boot } else { Of::Interval };
            if self.before.is_some() && self.of != of {
                out.refuse(Refused(
                    "it has counts since boot (nstat -a) and others: import them one by one".into(),
                ));
            }
            self.of = of;
            return Line::Noise;
        }
        if let Some(stamp) = stamp_line::told(line, out) {
            self.close(false, out);
            self.stamp = Some(stamp);
            return Line::Noise;
        }
        if is_chatter(line) {
            self.is_whole = self.is_headed || !self.now.is_empty();
            return Line::Noise;
        }
        Line::Unknown
    }

    fn end(&mut self, out: &mut Out) {
        self.close(true, out);
        if self.is_held {
            out.refuse(untold());
        }
    }
}
