//! iperf 2's comma-separated reports (`-y C`).
//!
//! `time,local,port,other,port,id,from-to,bytes,bits a second`, and of UDP at who receives also
//! `jitter,lost,all,share lost,out of order`. With `-e` newer ones have a header, which names what
//! follows the rate, and from and to are fields of their own. Times are those of the interval's
//! end, and local but for a zone before them; a stream's last row is of all of it.

use std::collections::HashMap;

use jiff::SignedDuration;
use jiff::civil::DateTime;

use crate::list::Format;
use crate::number::{number, whole};
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Stamp;
use crate::workload::{Done, UNKNOWN, Work, instance};
use crate::{Line, Parser, prompt};

pub(crate) const FORMAT: Format = Format {
    name: "iperf2-csv",
    tool: "iperf",
    systems: "all that iperf 2 runs on",
    help: "what each stream of iperf 2 sent or received, as -y C prints it",
    recognised: "rows of a time in 14 digits, two addresses with their ports, a number, an interval",
    yields: &["workload"],
    example: "\
20240301120001,192.0.2.1,40612,192.0.2.7,5001,3,0.0-1.0,117964800,943718400
20240301120002,192.0.2.1,40612,192.0.2.7,5001,3,1.0-2.0,117833728,942669824
",
    recognise: |head: &Head| {
        let mut lines = head
            .lines()
            .filter(|l| !l.is_empty() && !prompt::is_chatter(l));
        let is_first = |l| header(l).is_some() || row(l, None).is_some();
        if lines.next().is_some_and(is_first) {
            90
        } else {
            0
        }
    },
    parser: || Box::new(Csv::new()),
};

/// What a header begins with; what follows depends on the kind of test.
const HEADER: &str = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed";

/// What `-e` of 2.1.9 prints behind the rate of TCP that is written, without a header.
const WRITES: [&str; 6] = [
    "writecnt",
    "writeerr",
    "tcpretry",
    "tcpcwnd",
    "tcprtt",
    "tcprttvar",
];

/// What is printed behind the rate of UDP that is received.
const DATAGRAMS: [&str; 5] = ["jitter", "errors", "datagrams", "errpercent", "outoforder"];

/// The names of what follows the rate.
fn header(line: &[u8]) -> Option<Vec<String>> {
    let rest = std::str::from_utf8(line)
        .ok()?
        .trim()
        .strip_prefix(HEADER)?;
    let names = rest.split(',').skip(1);
    Some(names.map(str::to_owned).collect())
}

#[derive(Debug)]
struct Row<'a> {
    at: Stamp,
    id: &'a str,
    receives: bool,
    from: f64,
    to: f64,
    bytes: f64,
    /// What follows the rate, by name.
    beside: Vec<(&'a str, f64)>,
}

impl Row<'_> {
    /// The number of that name; -1, also of 32 bits, stands for none.
    fn told(&self, name: &str) -> Option<f64> {
        let (_, value) = self.beside.iter().find(|(n, _)| *n == name)?;
        (*value >= 0.0 && *value != f64::from(u32::MAX)).then_some(*value)
    }
}

/// `20240301120001`, newer ones have decimals behind a point, with `-e` also the zone:
/// `+0100:20240301120001.128`.
fn time(text: &str) -> Option<Stamp> {
    let (zone, text) = match text.split_once(':') {
        Some((zone, text)) => (Some(zone), text),
        None => (None, text),
    };
    let at = text.split('.').next().filter(|t| t.len() == 14)?;
    let part = |from: usize, to: usize| at.get(from..to)?.parse::<i16>().ok();
    let two = |from: usize| i8::try_from(part(from, from + 2)?).ok();
    let date = jiff::civil::Date::new(part(0, 4)?, two(4)?, two(6)?).ok()?;
    let clock = jiff::civil::Time::new(two(8)?, two(10)?, two(12)?, 0).ok()?;
    let at = date.to_datetime(clock);
    let Some(zone) = zone else {
        return Some(Stamp::Civil(at));
    };
    let (sign, digits) = zone.split_at_checked(1)?;
    let east = match sign {
        "+" => 60,
        "-" => -60,
        _ => return None,
    };
    let digits = whole(digits.as_bytes()).filter(|_| digits.len() == 4)?;
    let minutes = i32::try_from(digits / 100 * 60 + digits % 100).ok()?;
    Some(Stamp::Zoned(at, east * minutes))
}

/// A row, below a header with those names behind the rate or below none.
fn row<'a>(line: &'a [u8], names: Option<&'a [String]>) -> Option<Row<'a>> {
    let all: Vec<&str> = std::str::from_utf8(line).ok()?.trim().split(',').collect();
    let [at, _, port, _, other, id, rest @ ..] = &all[..] else {
        return None;
    };
    let (from, to, rest) = match rest {
        [interval, rest @ ..] if interval.contains('-') => {
            let (from, to) = interval.split_once('-')?;
            (from, to, rest)
        }
        [from, to, rest @ ..] => (*from, *to, rest),
        _ => return None,
    };
    let [bytes, _, rest @ ..] = rest else {
        return None;
    };
    let names: Vec<&str> = match names {
        Some(names) => names.iter().map(String::as_str).collect(),
        None if rest.is_empty() => Vec::new(),
        None if rest.len() == DATAGRAMS.len() => DATAGRAMS.to_vec(),
        None => WRITES.to_vec(),
    };
    if names.len() != rest.len() {
        return None;
    }
    let numbers: Option<Vec<f64>> = rest.iter().map(|n| number(n.as_bytes())).collect();
    let (port, other) = (whole(port.as_bytes())?, whole(other.as_bytes())?);
    let receives = if names.contains(&"readcnt") {
        true
    } else if names.contains(&"writecnt") {
        false
    } else {
        // Who listens receives: its port is the lesser one.
        port < other
    };
    Some(Row {
        at: time(at)?,
        id,
        receives,
        from: number(from.as_bytes())?,
        to: number(to.as_bytes())?,
        bytes: number(bytes.as_bytes())?,
        beside: names.into_iter().zip(numbers?).collect(),
    })
}

/// Seconds by which a time in whole seconds and what is counted from the start may differ.
const NEAR: f64 = 1.5;

/// When an interval ended: so long after the test began as its columns say. Its time is in whole seconds.
fn end_of(row: &Row<'_>, began: &mut Option<DateTime>) -> Stamp {
    let (at, east) = match row.at {
        Stamp::Civil(at) => (at, None),
        Stamp::Zoned(at, east) => (at, Some(east)),
        other => return other,
    };
    // Some versions print the end of all as 1970.
    if at.year() == 1970 {
        return Stamp::Elapsed(row.to);
    }
    let later = |from: DateTime, seconds: f64| {
        let duration = SignedDuration::try_from_secs_f64(seconds).ok();
        duration
            .and_then(|d| from.checked_add(d).ok())
            .unwrap_or(from)
    };
    let goes_on = |began: &DateTime| {
        let apart = later(*began, row.to).duration_until(at).as_secs_f64();
        apart.abs() <= NEAR
    };
    let start = began.filter(goes_on).unwrap_or_else(|| later(at, -row.to));
    *began = Some(start);
    let end = later(start, row.to);
    east.map_or(Stamp::Civil(end), |east| Stamp::Zoned(end, east))
}

struct Csv {
    work: Work,
    /// When the test began.
    began: Option<DateTime>,
    /// Where the rows of each stream reach to.
    streams: HashMap<String, f64>,
    /// What follows the rate, if a header told.
    names: Option<Vec<String>>,
}

impl Csv {
    fn new() -> Csv {
        Csv {
            work: Work::new("iperf"),
            began: None,
            streams: HashMap::new(),
            names: None,
        }
    }
}

impl Parser for Csv {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(names) = header(line) {
            self.names = Some(names);
            return Line::Noise;
        }
        let Some(row) = row(line, self.names.as_deref()) else {
            let is_noise = line.is_empty() || prompt::is_chatter(line);
            return if is_noise { Line::Noise } else { Line::Unknown };
        };
        if row.to <= row.from {
            return Line::Unknown;
        }
        // All of a stream after its parts, and all streams together.
        let reached = self.streams.get(row.id).copied().unwrap_or(0.0);
        let is_whole = row.from == 0.0 && reached > 0.0 && row.to >= reached;
        if is_whole || row.id == "-1" {
            if is_whole {
                self.streams.remove(row.id);
            }
            return Line::Noise;
        }
        self.streams.insert(row.id.to_owned(), row.to);
        let end = end_of(&row, &mut self.began);
        out.sample_once_or_same(end);
        out.spans(row.to - row.from);
        let op: &[u8] = if row.receives { b"receive" } else { b"send" };
        let mut done = Done {
            bytes: row.bytes,
            ..UNKNOWN
        };
        if let Some(writes) = row.told("writecnt") {
            (done.ops, done.errors) = (writes, row.told("writeerr").unwrap_or(f64::NAN));
        } else if let (Some(lost), Some(all)) = (row.told("errors"), row.told("datagrams")) {
            (done.ops, done.errors) = (all - lost, lost);
        }
        let of = [row.id.as_bytes(), op, b""];
        self.work.amounts(out, of, done);
        let instance = instance(out, of);
        for (column, unit, name) in [
            ("jitter", "ms", "jitter"),
            ("out_of_order", "", "outoforder"),
            ("retransmits", "", "tcpretry"),
        ] {
            if let Some(value) = row.told(name) {
                out.other(column, unit, instance, value);
            }
        }
        Line::Data
    }
}
