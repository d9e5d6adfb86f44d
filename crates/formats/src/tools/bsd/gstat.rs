//! `gstat -b` and `gstat -B` of FreeBSD, also with `-d`, `-o` and `-s`, and as CSV (`-C`).
//!
//! ```text
//! dT: 1.001s  w: 1.000s
//!  L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w   %busy Name
//!     0      5      2     64    0.4      3     96    0.7    0.3  ada0
//! ```
//!
//! timestamp,name,q-depth,total_ops/s,read/s,read-KiB/s,ms/read,write/s,write-KiB/s,ms/write,%busy
//! 2018-03-08 14:02:11.000000000,ada0,0,5,2,64,0.400,3,96,0.700,0.3
//! ```
//!
//! `dT` is how long the interval was, `w` how long it should be. kB are 1,024 bytes. A device
//! can be busy for more than 100 %. `L(q)` is the queue's length at the end. With `-a` providers that
//! did next to nothing have no row, and a report may have none at all.

use crate::disk::layer;
use crate::echo;
use crate::list::Format;
use crate::number::{number, seconds_decimal};
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::stamp_line::{stamp_of, told};
use crate::time::Stamp;
use crate::{Line, Parser, Refused, fields};

const KIB: f64 = 1024.0;

pub(crate) const FORMAT: Format = Format {
    name: "gstat",
    tool: "gstat",
    systems: "FreeBSD",
    help: "GEOM providers in batch mode: reads, writes, deletes, their times, share busy",
    recognised: "a header `L(q) ops/s r/s …`, or `timestamp,name,q-depth,total_ops/s,…`",
    yields: &["disk", "disk_device"],
    example: "\
dT: 1.001s  w: 1.000s
 L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w   %busy Name
    0      5      2     64    0.4      3     96    0.7    0.3  ada0
",
    recognise,
    parser: || Box::new(Gstat::new()),
};

fn recognise(head: &Head) -> u8 {
    if head.any_fields(&["L(q)", "ops/s", "r/s"]) || head.any_starts(CSV) {
        95
    } else {
        0
    }
}

/// How the header of the CSV begins.
const CSV: &str = "timestamp,name,q-depth,total_ops/s,";

/// Its columns as the other layout names them.
const COLUMNS: [(&str, &str); 18] = [
    ("q-depth", "L(q)"),
    ("total_ops/s", "ops/s"),
    ("read/s", "r/s"),
    ("read_sz-KiB", "kB"),
    ("read-KiB/s", "kBps"),
    ("ms/read", "ms/r"),
    ("write/s", "w/s"),
    ("write_sz-KiB", "kB"),
    ("write-KiB/s", "kBps"),
    ("ms/write", "ms/w"),
    ("delete/s", "d/s"),
    ("delete-sz-KiB", "kB"),
    ("delete-KiB/s", "kBps"),
    ("ms/delete", "ms/d"),
    ("other/s", "o/s"),
    ("ms/other", "ms/o"),
    ("%busy", "%busy"),
    ("name", "Name"),
];

struct Gstat {
    /// The time of the present report of the CSV.
    at: Option<Stamp>,
    csv: bool,
    names: Vec<String>,
    length: f64,
    stamp: Option<Stamp>,
    fresh: bool,
    /// A `dT` came, and no row since.
    bare: bool,
    disk: Shape,
    device: Shape,
}

impl Gstat {
    fn new() -> Gstat {
        Gstat {
            at: None,
            csv: false,
            names: Vec::new(),
            length: f64::NAN,
            stamp: None,
            fresh: false,
            bare: false,
            disk: Shape::of("disk", &["ios", "bytes", "time", "discarded"]),
            device: Shape::of("disk_device", &["busy", "inflight"]),
        }
    }

    /// A row of the CSV: a time, a name, and what the other layout has.
    fn csv_row(&mut self, line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = line.trim_ascii().split(|b| *b == b',').collect();
        let [time, name, rest @ ..] = &all[..] else {
            return Line::Unknown;
        };
        let Some(stamp) = told(time, out) else {
            return Line::Unknown;
        };
        if self.at != Some(stamp) {
            self.at = Some(stamp);
            self.stamp = Some(stamp);
            self.fresh = true;
        }
        if rest.len() + 1 != self.names.len() {
            return Line::Unknown;
        }
        self.device(&[rest, &[*name]].concat(), out)
    }

    fn begin(&mut self, out: &mut Out) {
        out.sample_once(self.stamp.take());
        out.spans(self.length);
    }

    /// What follows is not of the report above: without a row it keeps its place.
    fn report_ends(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.bare) {
            self.begin(out);
        }
    }

    fn device(&mut self, all: &[&[u8]], out: &mut Out) -> Line {
        let count = self.names.len();
        if count < 2 || all.len() < count {
            return Line::Unknown;
        }
        let read = all[..count - 1].iter().map(|t| number(t));
        let Some(n) = read.collect::<Option<Vec<f64>>>() else {
            return Line::Unknown;
        };
        let name = all[count - 1..].join(&b' ');
        self.bare = false;
        if std::mem::take(&mut self.fresh) || !out.has_sample() {
            self.begin(out);
        }
        let (device, layer) = (out.word(&name), out.word(layer(&name).as_bytes()));
        let place = |name: &str| self.names.iter().position(|n| n == name);
        // The last column is the name, whatever its header says.
        let value = |name: &str| place(name).and_then(|p| n.get(p).copied());
        // What belongs to an operation follows its rate.
        let after = |rate: &str, name: &str| {
            let from = place(rate)?;
            let found = self
                .names
                .get(from + 1..from + 3)?
                .iter()
                .position(|n| n == name)?;
            n.get(from + 1 + found).copied()
        };
        for (op, rate, time) in [
            ("read", "r/s", "ms/r"),
            ("write", "w/s", "ms/w"),
            ("discard", "d/s", "ms/d"),
            ("other", "o/s", "ms/o"),
        ] {
            let Some(ios) = value(rate) else {
                continue;
            };
            let bytes = after(rate, "kBps").map_or(f64::NAN, |k| k * KIB);
            let time = value(time).map_or(f64::NAN, |mean| mean / 1000.0 * ios);
            let words = [device, layer, out.word(op.as_bytes())];
            let values = match op {
                "discard" => [ios, 0.0, time, bytes],
                "other" => [ios, 0.0, time, f64::NAN],
                _ => [ios, bytes, time, f64::NAN],
            };
            out.put(&self.disk, &words, &values);
        }
        let of = |name: &str| value(name).unwrap_or(f64::NAN);
        let values = [of("%busy") / 100.0, of("L(q)")];
        out.put(&self.device, &[device, layer], &values);
        Line::Data
    }
}

impl Parser for Gstat {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        if line.starts_with(CSV.as_bytes()) {
            let names = line.trim_ascii().split(|b| *b == b',').skip(2);
            let names = names.chain([&b"name"[..]]).map(|name| {
                let known = COLUMNS.iter().find(|(csv, _)| csv.as_bytes() == name);
                known.map_or(String::new(), |(_, name)| (*name).to_owned())
            });
            self.names = names.collect();
            self.csv = true;
            return Line::Noise;
        }
        if self.csv && !all.is_empty() {
            return self.csv_row(line, out);
        }
        match all[..] {
            // A star stands for a device whose counters changed while they were read.
            [] | [b"*"] => Line::Noise,
            _ if echo::command(line, "gstat").is_some() => {
                self.report_ends(out);
                Line::Noise
            }
            [b"dT:", length, ..] => {
                self.report_ends(out);
                self.bare = true;
                self.length = seconds_decimal(length).unwrap_or(f64::NAN);
                self.fresh = true;
                Line::Noise
            }
            [b"L(q)", .., last] if !b"Name".starts_with(last) => {
                out.refuse(Refused(
                    "the header has no `Name` at its end: lines were cut at a width, and of which \
                     device each is was cut off"
                        .into(),
                ));
                Line::Noise
            }
            [b"L(q)", ..] => {
                self.names = all
                    .iter()
                    .map(|n| String::from_utf8_lossy(n).into_owned())
                    .collect();
                self.fresh = true;
                Line::Noise
            }
            _ => match stamp_of(line, out) {
                Ok(Some(stamp)) => {
                    self.report_ends(out);
                    self.stamp = Some(stamp);
                    Line::Noise
                }
                Ok(None) => {
                    // The bar that some versions print before the name.
                    let all: Vec<&[u8]> = line
                        .split(|b| b.is_ascii_whitespace() || *b == b'|')
                        .filter(|f| !f.is_empty())
                        .collect();
                    self.device(&all, out)
                }
                Err(why) => {
                    out.refuse(why);
                    Line::Noise
                }
            },
        }
    }
}
