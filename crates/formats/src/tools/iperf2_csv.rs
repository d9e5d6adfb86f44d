//! iperf 2's comma-separated reports (`-y C`), without a header.
//!
//! `time,local,port,other,port,id,from-to,bytes,bits a second`, and of UDP at who receives also
//! `jitter,lost,all,share lost,out of order`. Times are local; a stream's last row is of all of it.

use std::collections::HashMap;

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
        if lines.next().is_some_and(|l| row(l).is_some()) {
            90
        } else {
            0
        }
    },
    parser: || Box::new(Csv::new()),
};

#[derive(Debug)]
struct Row<'a> {
    at: DateTime,
    id: &'a str,
    /// Who listens receives: its port is the lesser one.
    receives: bool,
    from: f64,
    to: f64,
    bytes: f64,
    /// Of UDP: milliseconds; lost, all, out of order.
    jitter: Option<f64>,
    datagrams: Option<[f64; 3]>,
}

fn row(line: &[u8]) -> Option<Row<'_>> {
    let all: Vec<&str> = std::str::from_utf8(line).ok()?.trim().split(',').collect();
    let [time, _, port, _, other, id, interval, bytes, _, rest @ ..] = &all[..] else {
        return None;
    };
    // Newer ones have milliseconds behind a point.
    let at = time.split('.').next().filter(|t| t.len() == 14)?;
    let part = |from: usize, to: usize| at.get(from..to)?.parse::<i16>().ok();
    let two = |from: usize| i8::try_from(part(from, from + 2)?).ok();
    let date = jiff::civil::Date::new(part(0, 4)?, two(4)?, two(6)?).ok()?;
    let clock = jiff::civil::Time::new(two(8)?, two(10)?, two(12)?, 0).ok()?;
    let (from, to) = interval.split_once('-')?;
    let (port, other) = (whole(port.as_bytes())?, whole(other.as_bytes())?);
    let numbers: Option<Vec<f64>> = rest.iter().map(|n| number(n.as_bytes())).collect();
    let (jitter, datagrams) = match numbers?[..] {
        [] => (None, None),
        [jitter, lost, all, _, astray, ..] => (Some(jitter), Some([lost, all, astray])),
        _ => return None,
    };
    Some(Row {
        at: date.to_datetime(clock),
        id,
        receives: port < other,
        from: number(from.as_bytes())?,
        to: number(to.as_bytes())?,
        bytes: number(bytes.as_bytes())?,
        jitter,
        datagrams,
    })
}

struct Csv {
    work: Work,
    /// Where the rows of each stream reach to.
    streams: HashMap<String, f64>,
}

impl Csv {
    fn new() -> Csv {
        Csv {
            work: Work::new("iperf"),
            streams: HashMap::new(),
        }
    }
}

impl Parser for Csv {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Some(row) = row(line) else {
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
        out.sample_once_or_same(Stamp::Civil(row.at));
        out.spans(row.to - row.from);
        let op: &[u8] = if row.receives { b"receive" } else { b"send" };
        let mut done = Done {
            bytes: row.bytes,
            ..UNKNOWN
        };
        if let Some([lost, all, _]) = row.datagrams {
            (done.ops, done.errors) = (all - lost, lost);
        }
        let of = [row.id.as_bytes(), op, b""];
        self.work.amounts(out, of, done);
        let instance = instance(out, of);
        if let (Some(jitter), Some([.., astray])) = (row.jitter, row.datagrams) {
            out.other("jitter", "ms", instance, jitter);
            out.other("out_of_order", "", instance, astray);
        }
        Line::Data
    }
}
