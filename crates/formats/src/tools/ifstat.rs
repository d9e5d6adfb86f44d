//! `ifstat` 1.1 (Gaël Roualland's): what network interfaces received and sent, also with `-t`, `-b`
//! and `-T`.
//!
//! ```text
//!   Time           eth0                lo
//! HH:MM:SS   KB/s in  KB/s out   KB/s in  KB/s out
//! 10:00:01     12.50      1.25      0.00      0.00
//! ```
//!
//! KB are 1,024 bytes and Kb 1,024 bits (`scale` in its `ifstat.c`). The first row is of an interval,
//! too. `Total` (`-T`) is what the others add up to.

use crate::list::Format;
use crate::net::layer;
use crate::number::number;
use crate::out::{Out, Shape};
use crate::prompt::is_chatter;
use crate::recognise::Head;
use crate::stamp_line::stamp_of;
use crate::time::{Refused, Stamp, time_of_day};
use crate::{Line, Parser, echo, fields};

pub(crate) const FORMAT: Format = Format {
    name: "ifstat",
    tool: "ifstat",
    systems: "Linux, BSD, Solaris",
    help: "bytes that network interfaces received and sent",
    recognised: "a line `KB/s in  KB/s out …` or `Kbps in  Kbps out …` below names of interfaces",
    yields: &["net"],
    example: "\
\x20 Time           eth0
HH:MM:SS   KB/s in  KB/s out
10:00:01     12.50      1.25
10:00:02      0.50      0.25
",
    recognise: |head: &Head| {
        if head.lines().any(|l| legend(l).is_some()) {
            90
        } else {
            0
        }
    },
    parser: || Box::new(Ifstat::new()),
};

/// How many interfaces the second line of a header is of, and bytes of its unit.
fn legend(line: &[u8]) -> Option<(usize, f64)> {
    let all: Vec<&[u8]> = fields(line).collect();
    let pairs = all.strip_prefix(&[&b"HH:MM:SS"[..]]).unwrap_or(&all);
    let unit = match *pairs.first()? {
        b"KB/s" => b"KB/s",
        b"Kbps" => b"Kbps",
        _ => return None,
    };
    let is_pair = |p: &[&[u8]]| p == [&unit[..], b"in", unit, b"out"];
    let whole = pairs.len().is_multiple_of(4) && pairs.chunks(4).all(is_pair);
    let bytes = if unit == b"KB/s" { 1024.0 } else { 128.0 };
    whole.then_some((pairs.len() / 4, bytes))
}

struct Ifstat {
    /// The first line of a header, if that is the line above.
    above: Vec<Vec<u8>>,
    /// Interfaces of the rows below.
    names: Vec<Vec<u8>>,
    unit: f64,
    timed: bool,
    net: Shape,
}

impl Ifstat {
    fn new() -> Ifstat {
        Ifstat {
            above: Vec::new(),
            names: Vec::new(),
            unit: f64::NAN,
            timed: false,
            net: Shape::of("net", &["bytes"]),
        }
    }

    fn header(&mut self, line: &[u8], out: &mut Out) -> bool {
        let Some((count, unit)) = legend(line) else {
            return false;
        };
        let mut names = std::mem::take(&mut self.above);
        self.timed = fields(line).next() == Some(b"HH:MM:SS");
        if self.timed && names.first().is_some_and(|n| n == b"Time") {
            names.remove(0);
        }
        if names.len() == count {
            (self.names, self.unit) = (names, unit);
        } else if self.names.len() != count || self.unit != unit {
            out.refuse(Refused(
                "the names of its interfaces do not stand above their columns: the first line of \
                 its header is missing, or its lines were wrapped (ifstat -w)"
                    .into(),
            ));
        }
        true
    }

    fn row(&self, line: &[u8], out: &mut Out) -> Option<()> {
        let mut all = fields(line);
        let stamp = if self.timed {
            Some(Stamp::Clock(time_of_day(all.next()?, None)?))
        } else {
            None
        };
        // An interface that is gone has `n/a`.
        let value = |text: &[u8]| match text {
            b"n/a" => Some(f64::NAN),
            text => number(text).filter(|v| *v >= 0.0),
        };
        let values: Vec<f64> = all.map(value).collect::<Option<_>>()?;
        if self.names.is_empty() || values.len() != 2 * self.names.len() {
            return None;
        }
        out.sample_once(stamp);
        for (name, pair) in self.names.iter().zip(values.chunks(2)) {
            if name == b"Total" {
                continue;
            }
            let (interface, layer) = (out.word(name), out.word(layer(name).as_bytes()));
            for (direction, value) in ["receive", "transmit"].into_iter().zip(pair) {
                if !value.is_nan() {
                    let direction = out.word(direction.as_bytes());
                    out.put(
                        &self.net,
                        &[interface, layer, direction],
                        &[value * self.unit],
                    );
                }
            }
        }
        Some(())
    }
}

impl Parser for Ifstat {
    fn is_printed_at_once(&self) -> bool {
        !self.timed
    }

    fn lost(&mut self, line: &[u8], out: &mut Out) {
        if !self.timed && crate::lines::rows_in(line, 2 * self.names.len()) > 0 {
            out.lost();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let above = std::mem::take(&mut self.above);
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if self.row(line, out).is_some() {
            return Line::Data;
        }
        self.above = above;
        if self.header(line, out) {
            return Line::Noise;
        }
        self.above.clear();
        if let Some(arguments) = echo::command(line, "ifstat") {
            let valued = ["-i", "-d", "-s", "-h", "-p", "-c", "-P"];
            out.broken();
            // `delay/first`: the first row may be of another.
            let interval = echo::interval(&arguments, &valued).unwrap_or(1.0);
            if !arguments.iter().any(|a| a.contains(&b'/')) {
                out.every(interval);
            }
            return Line::Noise;
        }
        match stamp_of(line, out) {
            Ok(Some(Stamp::Civil(at) | Stamp::Zoned(at, _))) => {
                out.date(at.date());
                return Line::Noise;
            }
            Ok(Some(_)) => return Line::Noise,
            Ok(None) => {}
            Err(why) => {
                out.refuse(why);
                return Line::Noise;
            }
        }
        if is_chatter(line) {
            return Line::Noise;
        }
        // The names of interfaces, if the next line is the rest of the header.
        let names: Vec<Vec<u8>> = fields(line).map(<[u8]>::to_vec).collect();
        let is_name = |n: &Vec<u8>| number(n).is_none() && n.iter().any(u8::is_ascii_alphabetic);
        if names.iter().all(is_name) {
            self.above = names;
            return Line::Noise;
        }
        Line::Unknown
    }
}
