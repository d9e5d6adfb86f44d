//! `gstat -b` and `gstat -B` of FreeBSD, also with `-d` and `-o`.
//!
//! ```text
//! dT: 1.001s  w: 1.000s
//!  L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w   %busy Name
//!     0      5      2     64    0.4      3     96    0.7    0.3  ada0
//! ```
//!
//! `dT` is how long the interval was, `w` how long it should be. kB are 1,024 bytes. A device
//! can be busy for more than 100 %. `L(q)` is the queue's length at the end.

use crate::disk::layer;
use crate::list::Format;
use crate::number::{number, seconds};
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::stamp_line::stamp_line;
use crate::time::Stamp;
use crate::{Line, Parser, fields};

const KIB: f64 = 1024.0;

pub(crate) const FORMAT: Format = Format {
    name: "gstat",
    tool: "gstat",
    systems: "FreeBSD",
    help: "GEOM providers in batch mode: reads, writes, deletes, their times, share busy",
    recognised: "a header `L(q) ops/s r/s …`",
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
    if head.any_fields(&["L(q)", "ops/s", "r/s"]) {
        95
    } else {
        0
    }
}

struct Gstat {
    names: Vec<String>,
    length: f64,
    stamp: Option<Stamp>,
    fresh: bool,
    disk: Shape,
    device: Shape,
}

impl Gstat {
    fn new() -> Gstat {
        Gstat {
            names: Vec::new(),
            length: f64::NAN,
            stamp: None,
            fresh: false,
            disk: Shape::of("disk", &["ios", "bytes", "time", "discarded"]),
            device: Shape::of("disk_device", &["busy", "inflight"]),
        }
    }

    fn device(&mut self, line: &[u8], out: &mut Out) -> Line {
        // The bar that some versions print before the name.
        let all: Vec<&[u8]> = line
            .split(|b| b.is_ascii_whitespace() || *b == b'|')
            .filter(|f| !f.is_empty())
            .collect();
        let count = self.names.len();
        if count < 2 || all.len() < count {
            return Line::Unknown;
        }
        let read = all[..count - 1].iter().map(|t| number(t));
        let Some(n) = read.collect::<Option<Vec<f64>>>() else {
            return Line::Unknown;
        };
        let name = all[count - 1..].join(&b' ');
        if std::mem::take(&mut self.fresh) || !out.has_sample() {
            out.sample_told(self.stamp.take());
            out.spans(self.length);
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
        match all[..] {
            [] => Line::Noise,
            [b"dT:", length, ..] => {
                self.length = seconds(length).unwrap_or(f64::NAN);
                self.fresh = true;
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
            _ => match stamp_line(line, out.options()) {
                Ok(Some(stamp)) => {
                    self.stamp = Some(stamp);
                    Line::Noise
                }
                Ok(None) => self.device(line, out),
                Err(why) => {
                    out.refuse(why);
                    Line::Noise
                }
            },
        }
    }
}
