//! `nicstat` of Solaris and Linux: the default layout, `-x`, `-U`, `-s`, `-M`, `-p`, and TCP and
//! UDP with `-t`, `-u`, `-a`.
//!
//! ```text
//!     Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat
//! 11:33:57 e1000g0    0.33    0.04    2.04    0.30  167.7   136.6  0.00   0.00
//! ```
//!
//! KB are 1,024 bytes and Mbps 1,048,576 bits; with `-p` they are KB always, and the columns
//! have no header (`nicstat(1)`, 1.95). The first row of an interface is a mean since boot.

mod layout;

use std::collections::HashSet;

use run::Word;

use super::solaris::{Between, between, blank_or_unknown, dated};
use crate::list::Format;
use crate::net::layer;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::{Refused, Stamp, time_of_day};
use crate::{Line, Parser, echo, fields, prompt};
use layout::{Layout, Of, PARSED, TCP, UDP, parseable};

pub(crate) const FORMAT: Format = Format {
    name: "nicstat",
    tool: "nicstat",
    systems: "Solaris, illumos, Linux",
    help: "network interfaces, TCP and UDP",
    recognised: "a header `Time Int rKB/s …`, `… RdKB WrKB`, `… InKB OutKB InSeg`; lines of -p",
    yields: &["net", "tcp", "tcp_segments", "udp", "udp_datagrams"],
    example: "\
    Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat
11:33:57  e1000g0    0.33    0.04    2.04    0.30   167.7   136.6  0.00   0.00
11:33:58  e1000g0    1.50    0.25    3.00    1.00   512.0   256.0  0.01   0.00
",
    recognise,
    parser: || Box::new(Nicstat::new()),
};

fn recognise(head: &Head) -> u8 {
    let header = head.headers().any(|l| Layout::of(l).is_some());
    let list = head.any_fields(&["Int", "Loopback", "Mbit/s", "Duplex"]);
    if header || list {
        return 90;
    }
    let between = |l: &[u8]| {
        l.trim_ascii().is_empty() || echo::command(l, "nicstat").is_some() || prompt::is_chatter(l)
    };
    let lines = head.lines().filter(|l| !between(l));
    let (all, of_p) = lines.fold((0, 0), |(all, of_p), line| {
        (all + 1, of_p + usize::from(parseable(line).is_some()))
    });
    if of_p > 0 && of_p * 10 >= all * 7 {
        75
    } else {
        0
    }
}

/// Whether the last number of such a line has all its decimals.
fn is_whole(line: &[u8], of: Of, values: &[f64]) -> bool {
    let text = line
        .trim_ascii()
        .rsplit(|b| *b == b':')
        .next()
        .unwrap_or_default();
    let point = text.iter().position(|b| *b == b'.');
    let decimals = point.map_or(0, |at| text.len() - at - 1);
    let value = values.last().copied().unwrap_or(f64::NAN);
    let limits: &[f64] = match of {
        Of::Interfaces => &[100_000.0, 100.0],
        Of::Tcp | Of::Udp => &[10_000.0, 100.0, 10.0],
    };
    decimals == limits.iter().filter(|limit| value < **limit).count()
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is told by another line"
)]
struct Nicstat {
    layout: Option<Layout>,
    /// Time in the header, for the rows below.
    stamp: Option<Stamp>,
    /// The next row begins a report.
    fresh: bool,
    /// What the present report is of last, its time, and who is in it.
    part: Of,
    at: Option<Stamp>,
    here: HashSet<Vec<u8>>,
    /// All that had a row.
    known: HashSet<Vec<u8>>,
    leaves_out: bool,
    /// A header of interfaces came, and no row since.
    bare: bool,
    /// There is a table of interfaces and their speeds.
    lists: bool,
    net: Shape,
    tcp: Shape,
    segments: Shape,
    udp: Shape,
    datagrams: Shape,
    other: Shape,
}

impl Nicstat {
    fn new() -> Nicstat {
        let net = ["bytes", "packets", "errors", "drops", "collisions"];
        let tcp = ["connect_failures", "accepts", "connects", "listen_drops"];
        Nicstat {
            layout: None,
            stamp: None,
            fresh: true,
            part: Of::Tcp,
            at: None,
            here: HashSet::new(),
            known: HashSet::new(),
            leaves_out: false,
            bare: false,
            lists: false,
            net: Shape::of("net", &net),
            tcp: Shape::of("tcp", &tcp),
            segments: Shape::of("tcp_segments", &["segments"]),
            udp: Shape::of("udp", &["receive_errors"]),
            datagrams: Shape::of("udp_datagrams", &["datagrams"]),
            other: Shape::of("other", &["value"]),
        }
    }

    fn begin(&mut self, stamp: Option<Stamp>, out: &mut Out) {
        self.close(out);
        // A header's time is that of the report below it only.
        let stamp = stamp.or_else(|| self.stamp.take());
        out.sample_since_boot_first(stamp);
        self.at = stamp;
        self.fresh = false;
        if self.known.is_empty() {
            out.since_boot();
        }
    }

    /// A row of `name`, of that time.
    fn row(
        &mut self,
        of: Of,
        name: &[u8],
        stamp: Option<Stamp>,
        names: &[&str],
        values: &[f64],
        out: &mut Out,
    ) {
        let again = self.here.contains(name) || of < self.part;
        let later = stamp.is_some_and(|s| !self.same_report(s));
        if self.fresh || again || later {
            self.begin(stamp, out);
        }
        self.part = of;
        self.bare = false;
        self.here.insert(name.to_vec());
        let first = self.known.insert(name.to_vec());
        let row = Row {
            names,
            values,
            since_boot: first,
        };
        match of {
            Of::Tcp => self.put_tcp(&row, out),
            Of::Udp => self.put_udp(&row, out),
            Of::Interfaces => self.put_interface(name, &row, out),
        }
    }

    /// Rows of one report may be of two seconds.
    fn same_report(&self, stamp: Stamp) -> bool {
        match (self.at, stamp) {
            (Some(Stamp::Clock(a)), Stamp::Clock(b)) => a.duration_until(b).abs().as_secs() <= 1,
            (Some(Stamp::Civil(a)), Stamp::Civil(b)) => a.duration_until(b).abs().as_secs() <= 1,
            (None, _) => true,
            (Some(at), _) => at == stamp,
        }
    }

    /// The report is over: with `-z`, interfaces without a row had no packets.
    fn close(&mut self, out: &mut Out) {
        if self.leaves_out && out.has_sample() && !out.is_since_boot() {
            let mut idle: Vec<Vec<u8>> = self.known.difference(&self.here).cloned().collect();
            idle.retain(|name| name != b"TCP" && name != b"UDP");
            idle.sort();
            for name in idle {
                let row = Row {
                    names: &["rKB/s", "wKB/s", "rPk/s", "wPk/s"],
                    values: &[0.0; 4],
                    since_boot: false,
                };
                self.put_interface(&name, &row, out);
            }
        }
        self.here.clear();
        self.part = Of::Tcp;
    }

    /// With `-z`, a header without a row is a report of an interval in which all were idle.
    fn idle_report(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.bare) && self.leaves_out && !self.known.is_empty() {
            self.begin(None, out);
        }
    }

    fn others(&self, row: &Row, columns: &[(&str, &str)], instance: Word, out: &mut Out) {
        for (name, unit) in columns {
            let value = row.of(name);
            if !value.is_nan() {
                let words = [
                    out.word(b"nicstat"),
                    out.word(name.as_bytes()),
                    out.word(unit.as_bytes()),
                    instance,
                ];
                put(&self.other, &words, &[value], row, out);
            }
        }
    }

    fn put_interface(&self, name: &[u8], row: &Row, out: &mut Out) {
        let (interface, layer) = (out.word(name), out.word(layer(name).as_bytes()));
        // -M divides bytes by 1,024 and by 128.
        let bytes = |kilo: [&str; 3], mega: [&str; 2]| {
            let kib = kilo.iter().map(|n| row.of(n) * 1024.0);
            let mbit = mega.iter().map(|n| row.of(n) * 131_072.0);
            kib.chain(mbit).find(|v| !v.is_nan()).unwrap_or(f64::NAN)
        };
        let either = |a: &str, b: &str| {
            let first = row.of(a);
            if first.is_nan() { row.of(b) } else { first }
        };
        let received = [
            bytes(["rKB/s", "rKb/s", "RdKB"], ["rMbps", "RdMbps"]),
            either("rPk/s", "RdPkt"),
            row.of("IErr"),
            row.of("NoCP"),
            f64::NAN,
        ];
        let sent = [
            bytes(["wKB/s", "wKb/s", "WrKB"], ["wMbps", "WrMbps"]),
            either("wPk/s", "WrPkt"),
            row.of("OErr"),
            f64::NAN,
            row.of("Coll"),
        ];
        for (direction, values) in [(&b"receive"[..], received), (b"transmit", sent)] {
            let words = [interface, layer, out.word(direction)];
            put(&self.net, &words, &values, row, out);
        }
        let others = [
            ("rAvs", "bytes"),
            ("wAvs", "bytes"),
            ("%Util", "%"),
            ("%rUtil", "%"),
            ("%wUtil", "%"),
            ("Sat", "errors/s"),
            ("Defer", "packets/s"),
        ];
        self.others(row, &others, interface, out);
    }

    fn put_tcp(&self, row: &Row, out: &mut Out) {
        let values = ["AttF", "InConn", "OutCon", "Drops"].map(|n| row.of(n));
        put(&self.tcp, &[], &values, row, out);
        for (direction, column) in [(&b"receive"[..], "InSeg"), (b"transmit", "OutSeg")] {
            let direction = out.word(direction);
            put(&self.segments, &[direction], &[row.of(column)], row, out);
        }
        let others = [
            ("InKB", "KiB/s"),
            ("OutKB", "KiB/s"),
            ("Reset", "resets/s"),
            ("%ReTX", "%"),
        ];
        let tcp = out.word(b"TCP");
        self.others(row, &others, tcp, out);
    }

    fn put_udp(&self, row: &Row, out: &mut Out) {
        // Both versions of the internet protocol, where the system counts them as one.
        let any = out.word(b"");
        for (direction, column) in [(&b"receive"[..], "InDG"), (b"transmit", "OutDG")] {
            let words = [out.word(direction), any];
            put(&self.datagrams, &words, &[row.of(column)], row, out);
        }
        put(&self.udp, &[any], &[row.of("InErr")], row, out);
        let udp = out.word(b"UDP");
        self.others(row, &[("OutErr", "errors/s")], udp, out);
    }

    /// A row below a header.
    fn below_header(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        let layout = self.layout.take()?;
        let seen = self.of_layout(&layout, line, out);
        self.layout.get_or_insert(layout);
        seen
    }

    fn of_layout(&mut self, layout: &Layout, line: &[u8], out: &mut Out) -> Option<Line> {
        let all: Vec<&[u8]> = fields(line).collect();
        let (stamp, rest) = if layout.timed {
            let (&time, rest) = all.split_first()?;
            (Some(dated(time_of_day(time, None)?, out)), rest)
        } else {
            (None, &all[..])
        };
        let (&name, numbers) = rest.split_first()?;
        let values = crate::numbers(numbers.iter().copied())?;
        let right = match layout.of {
            Of::Tcp => name == b"TCP",
            Of::Udp => name == b"UDP",
            Of::Interfaces => true,
        };
        if values.len() != layout.names.len() || !right {
            return None;
        }
        let names: Vec<&str> = layout.names.iter().map(String::as_str).collect();
        self.row(layout.of, name, stamp, &names, &values, out);
        Some(Line::Data)
    }
}

fn put(shape: &Shape, words: &[Word], values: &[f64], row: &Row, out: &mut Out) {
    if row.since_boot {
        out.put_since_boot(shape, words, values);
    } else {
        out.put(shape, words, values);
    }
}

/// Numbers of a row, by the names of their columns.
struct Row<'a> {
    names: &'a [&'a str],
    values: &'a [f64],
    /// It is the first of its interface.
    since_boot: bool,
}

impl Row<'_> {
    fn of(&self, name: &str) -> f64 {
        let place = self.names.iter().position(|n| *n == name);
        place
            .and_then(|p| self.values.get(p).copied())
            .unwrap_or(f64::NAN)
    }
}

impl Parser for Nicstat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    /// The first row of a report, below a header.
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        if self.fresh && self.layout.is_some() && crate::lines::rows_in(line, 5) > 0 {
            self.begin(None, out);
            out.gap();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(layout) = Layout::of(line) {
            if layout.of == Of::Interfaces {
                self.idle_report(out);
            }
            self.bare = layout.of == Of::Interfaces;
            let first = fields(line).next().unwrap_or_default();
            let time = time_of_day(first, None).map(|time| dated(time, out));
            if layout.of <= self.part || self.here.is_empty() {
                self.fresh = true;
            }
            if time.is_some() && (self.fresh || self.stamp.is_none()) {
                self.stamp = time;
            }
            self.layout = Some(layout);
            return Line::Noise;
        }
        if fields(line)
            .take(3)
            .eq([&b"Int"[..], b"Loopback", b"Mbit/s"])
        {
            self.lists = true;
            return Line::Noise;
        }
        if let Some((stamp, of, name, values)) = parseable(line) {
            if out.is_endless() && !is_whole(line, of, &values) {
                return Line::Unknown;
            }
            let names = match of {
                Of::Tcp => &TCP[..],
                Of::Udp => &UDP,
                Of::Interfaces => &PARSED,
            };
            let name = name.to_vec();
            self.row(of, &name, Some(stamp), names, &values, out);
            return Line::Data;
        }
        if let Some(seen) = self.below_header(line, out) {
            return seen;
        }
        if line.starts_with(b"nicstat version") {
            return Line::Noise;
        }
        if echo::command(line, "nicstat").is_some() {
            self.idle_report(out);
            self.close(out);
        }
        match between(line, "nicstat", &["-i", "-S"], out) {
            Some(Between::Command) => {
                *self = Nicstat::new();
                if let Some(arguments) = echo::command(line, "nicstat") {
                    self.leaves_out = echo::has_flag(&arguments, b'z');
                }
                Line::Noise
            }
            Some(_) => Line::Noise,
            None => blank_or_unknown(line),
        }
    }

    fn end(&mut self, out: &mut Out) {
        if !out.is_endless() {
            self.idle_report(out);
            self.close(out);
        }
        if self.lists && out.samples() == 0 {
            out.refuse(Refused(
                "it lists interfaces and their speeds (-l), which are settings, not measurements"
                    .into(),
            ));
        }
    }
}
