//! `iostat` of HP-UX: disks, and with `-t` terminals and processors.
//!
//! ```text
//!                       tty             cpu
//!                  tin tout        us  ni  sy  id
//!                    1   58         4   0   2  94
//!
//!   device    bps     sps    msps
//!
//!   c1t2d0     36     7.4     1.0
//!   c2t2d0     32     5.6     1.0
//! ```
//!
//! `bps` are kilobytes a second, `sps` seeks a second, and `msps`, the milliseconds of a seek, is
//! always 1.0 (`iostat(1)` of HP-UX 11i). The first report is a mean since boot. Reports are not told
//! apart by anything but their devices, which come in the same order.

use std::collections::HashSet;

use super::solaris::{Between, between, blank_or_unknown, sample};
use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::disk::layer;
use crate::headers::Headers;
use crate::list::Format;
use crate::number::number;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::Stamp;
use crate::{Line, Parser, fields, numbers};

const KIB: f64 = 1024.0;

pub(crate) const FORMAT: Format = Format {
    name: "iostat-hpux",
    tool: "iostat",
    systems: "HP-UX",
    help: "disks; with -t terminals and processors",
    recognised: "a header `device bps sps msps`",
    yields: &["disk", "cpu", "cpu_idle"],
    example: "  device    bps     sps    msps

  c1t2d0     36     7.4     1.0
  c2t2d0     32     5.6     1.0

  c1t2d0    410    51.2     1.0
  c2t2d0      8     1.0     1.0
",
    recognise: |head: &Head| {
        if head.lines().any(is_header) { 90 } else { 0 }
    },
    parser: || Box::new(Iostat::new()),
};

fn is_header(line: &[u8]) -> bool {
    fields(line).eq([&b"device"[..], b"bps", b"sps", b"msps"])
}

/// What the rows below a header are of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Nothing,
    Processors,
    Disks,
}

struct Iostat {
    part: Part,
    /// Devices of the present report.
    seen: HashSet<Vec<u8>>,
    /// The numbers of processors that stand above its devices came.
    begun: bool,
    since_boot: bool,
    /// Rows between headers, which come sooner than after a screen of rows where it was started anew.
    headers: Headers,
    stamp: Option<Stamp>,
    cpu: Cpu,
    disk: Shape,
}

impl Iostat {
    fn new() -> Iostat {
        Iostat {
            part: Part::Nothing,
            seen: HashSet::new(),
            begun: false,
            since_boot: true,
            headers: Headers::default(),
            stamp: None,
            cpu: Cpu::new(),
            disk: Shape::of("disk", &["bytes"]),
        }
    }

    fn begin(&mut self, out: &mut Out) {
        self.seen.clear();
        sample(&mut self.stamp, out);
        if std::mem::take(&mut self.since_boot) {
            out.since_boot();
        }
    }

    /// `1 58 4 0 2 94`, of `-t`.
    fn processors(&mut self, line: &[u8], out: &mut Out) -> Option<()> {
        let values = numbers(fields(line))?;
        let [tin, tout, us, ni, sy, id] = values[..] else {
            return None;
        };
        // `9` may be what is left of `94`.
        if out.is_endless() && (us + ni + sy + id - 100.0).abs() > 2.0 {
            return None;
        }
        self.part = Part::Nothing;
        self.begin(out);
        self.begun = true;
        let empty = out.word(b"");
        out.other("tin", "characters/s", empty, tin);
        out.other("tout", "characters/s", empty, tout);
        let shares = Shares {
            user: us / 100.0,
            nice: ni / 100.0,
            system: sy / 100.0,
            idle: id / 100.0,
            ..UNKNOWN
        };
        self.cpu.put_all(out, &shares);
        Some(())
    }

    /// `c1t2d0 36 7.4 1.0`: every number but the first has a decimal.
    fn disk(&mut self, line: &[u8], out: &mut Out) -> Option<()> {
        let all: Vec<&[u8]> = fields(line).collect();
        let [name, bytes, seeks, each] = all[..] else {
            return None;
        };
        if out.is_endless() && !each.contains(&b'.') || number(name).is_some() {
            return None;
        }
        let values = [number(bytes)?, number(seeks)?, number(each)?];
        if self.begun {
            self.begun = false;
        } else if self.seen.is_empty() || self.seen.contains(name) {
            self.begin(out);
        }
        self.seen.insert(name.to_vec());
        self.headers.row();
        let layer = layer(name);
        let words = [name, layer.as_bytes(), b"(all)"].map(|w| out.word(w));
        out.put(&self.disk, &words, &[values[0] * KIB]);
        out.other("sps", "seeks/s", words[0], values[1]);
        Some(())
    }
}

impl Parser for Iostat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let words: Vec<&[u8]> = fields(line).take(7).collect();
        let is = |names: &[&str]| words.iter().copied().eq(names.iter().map(|n| n.as_bytes()));
        if is_header(line) {
            // With -t it comes below the processors of each report.
            if self.begun {
                self.headers.take();
            } else if self.headers.begin_anew(out) {
                self.since_boot = true;
                self.seen.clear();
            }
            self.part = Part::Disks;
            return Line::Noise;
        }
        if is(&["tin", "tout", "us", "ni", "sy", "id"]) {
            self.part = Part::Processors;
            return Line::Noise;
        }
        if words.is_empty() || is(&["tty", "cpu"]) {
            return Line::Noise;
        }
        let taken = match self.part {
            Part::Nothing => None,
            Part::Processors => self.processors(line, out),
            Part::Disks => self.disk(line, out),
        };
        if taken.is_some() {
            return Line::Data;
        }
        match between(line, "iostat", &[], out) {
            Some(Between::Command) => {
                (self.part, self.since_boot) = (Part::Nothing, true);
                self.seen.clear();
                self.headers.take();
            }
            Some(Between::Stamp(stamp)) => {
                self.stamp = Some(stamp);
                self.seen.clear();
            }
            Some(_) => {}
            None => return blank_or_unknown(line),
        }
        Line::Noise
    }
}
