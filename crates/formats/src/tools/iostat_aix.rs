//! `iostat` of AIX: terminals and processors, and below them disks.
//!
//! ```text
//! System configuration: lcpu=8 drives=2 paths=2 vdisks=0
//!
//! tty:      tin         tout    avg-cpu: % user % sys % idle % iowait
//!           0.0         10.0                5.0   2.0   93.0      0.0
//!
//! Disks:        % tm_act     Kbps      tps    Kb_read   Kb_wrtn
//! hdisk0           5.0     160.0      20.0   1000000   2000000
//! ```
//!
//! Shares are of all logical processors; where the partition shares processors (`ent=`), of what it
//! is entitled to, or of what it consumed where that is more. Kb are 1,024 bytes. `Kb_read` and
//! `Kb_wrtn` are those of the interval, `Kbps` and `tps` are per second, and of reads and writes
//! together (`iostat(1)` of AIX 7). The first report is taken for one since boot, as the manual has
//! it; with `-T` each row ends in the time.

use super::solaris::{Between, between, blank_or_unknown, sample};
use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::disk::layer;
use crate::lines::is_cut;
use crate::list::Format;
use crate::number::number;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::{Refused, Stamp, time_of_day};
use crate::{Line, Parser, fields, numbers};

const KIB: f64 = 1024.0;

pub(crate) const FORMAT: Format = Format {
    name: "iostat-aix",
    tool: "iostat",
    systems: "AIX",
    help: "disks, terminals and processors",
    recognised: "a header `Disks: % tm_act Kbps tps Kb_read Kb_wrtn`, or `tty: tin tout avg-cpu: % user …`",
    yields: &["disk", "disk_device", "cpu", "cpu_idle"],
    example: "\
System configuration: lcpu=8 drives=1 paths=1 vdisks=0

tty:      tin         tout    avg-cpu: % user % sys % idle % iowait
          0.0         10.0                5.0   2.0   93.0      0.0

Disks:        % tm_act     Kbps      tps    Kb_read   Kb_wrtn
hdisk0           5.0     160.0      20.0   1000000   2000000

tty:      tin         tout    avg-cpu: % user % sys % idle % iowait
          0.0         12.0               50.0  12.0   38.0      0.0

Disks:        % tm_act     Kbps      tps    Kb_read   Kb_wrtn
hdisk0          50.0    1600.0     200.0      4000      4000
",
    recognise: |head: &Head| {
        let known = |line: &[u8]| header(line).is_some() || is_detailed(line);
        if head.lines().any(known) { 90 } else { 0 }
    },
    parser: || Box::new(Iostat::new()),
};

/// What the rows below a header are of, in the order of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Nothing,
    Processors,
    Disks,
}

/// The part that a header begins, and its columns: `% user` is `%user` there.
fn header(line: &[u8]) -> Option<(Part, Vec<String>)> {
    let mut words = fields(line);
    let part = match words.next()? {
        b"tty:" => Part::Processors,
        b"Disks:" => Part::Disks,
        _ => return None,
    };
    let (mut names, mut percent) = (Vec::new(), "");
    for word in words.filter(|w| *w != b"avg-cpu:") {
        if word == b"%" {
            percent = "%";
            continue;
        }
        let name = String::from_utf8_lossy(word);
        names.push(format!("{}{name}", std::mem::take(&mut percent)));
    }
    let has = |name: &str| names.iter().any(|n| n == name);
    let sound = match part {
        Part::Disks => has("%tm_act") && has("Kb_read") && has("Kb_wrtn"),
        _ => has("tin") && has("%user") && has("%idle"),
    };
    (sound && percent.is_empty()).then_some((part, names))
}

/// A line of `-D` or `-a`, whose rows are others.
fn is_detailed(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = fields(line).take(3).collect();
    matches!(
        words[..],
        [_, b"xfer:", ..] | [b"Adapter:" | b"Vadapter:" | b"Paths/Disks:", ..]
    )
}

struct Iostat {
    /// What is being read, and the names of its columns.
    part: Part,
    names: Vec<String>,
    /// Length of the header.
    length: usize,
    /// The next row begins a report.
    fresh: bool,
    since_boot: bool,
    stamp: Option<Stamp>,
    /// Processors that a partition is entitled to, where it shares them.
    entitled: Option<f64>,
    cpu: Cpu,
    disk: Shape,
    device: Shape,
}

impl Iostat {
    fn new() -> Iostat {
        Iostat {
            part: Part::Nothing,
            names: Vec::new(),
            length: 0,
            fresh: true,
            since_boot: true,
            stamp: None,
            entitled: None,
            cpu: Cpu::new(),
            disk: Shape::of("disk", &["ios", "bytes"]),
            device: Shape::of("disk_device", &["busy"]),
        }
    }

    fn begin(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.fresh) {
            sample(&mut self.stamp, out);
            if std::mem::take(&mut self.since_boot) {
                out.since_boot();
            }
        }
    }

    fn of(&self, values: &[f64], name: &str) -> f64 {
        let place = self.names.iter().position(|n| n == name);
        let value = place.and_then(|p| values.get(p)).copied();
        value.unwrap_or(f64::NAN)
    }

    /// `0.0 10.0 5.0 2.0 93.0 0.0`.
    fn processors(&mut self, line: &[u8], out: &mut Out) -> Option<()> {
        let values = self.values(fields(line))?;
        self.begin(out);
        let share = |name: &str| self.of(&values, name) / 100.0;
        let shares = Shares {
            user: share("%user"),
            system: share("%sys"),
            idle: share("%idle"),
            iowait: share("%iowait"),
            ..UNKNOWN
        };
        if !shares.user.is_nan() {
            let count = match self.entitled {
                // Shares are of what it is entitled to, or of what it consumed where that is more.
                Some(entitled) => entitled.max(self.of(&values, "physc")),
                None => out.processors(),
            };
            let all = out.word(b"all");
            self.cpu.put(out, all, count, &shares);
        }
        let empty = out.word(b"");
        for (name, unit) in [
            ("tin", "characters/s"),
            ("tout", "characters/s"),
            ("physc", "CPUs"),
            ("%entc", "%"),
        ] {
            let value = self.of(&values, name);
            if !value.is_nan() {
                out.other(name, unit, empty, value);
            }
        }
        Some(())
    }

    /// `hdisk0 5.0 160.0 20.0 1000000 2000000`.
    fn disk(&mut self, line: &[u8], out: &mut Out) -> Option<()> {
        let mut words = fields(line);
        let name = words.next()?;
        let values = self.values(words)?;
        self.begin(out);
        let layer = layer(name);
        let put = |out: &mut Out, op: &str, row: [f64; 2], amount: bool| {
            let words = [name, layer.as_bytes(), op.as_bytes()].map(|w| out.word(w));
            if amount {
                out.put_amounts(&self.disk, &words, &row);
            } else {
                out.put(&self.disk, &words, &row);
            }
        };
        // Reads and writes are told apart in bytes only.
        put(out, "(all)", [self.of(&values, "tps"), f64::NAN], false);
        for (op, column) in [("read", "Kb_read"), ("write", "Kb_wrtn")] {
            let bytes = self.of(&values, column) * KIB;
            put(out, op, [f64::NAN, bytes], true);
        }
        let words = [name, layer.as_bytes()].map(|w| out.word(w));
        let busy = self.of(&values, "%tm_act") / 100.0;
        out.put(&self.device, &words, &[busy]);
        Some(())
    }

    /// As many numbers as there are columns; the time of -T tells when the report was.
    fn values<'a>(&mut self, words: impl Iterator<Item = &'a [u8]>) -> Option<Vec<f64>> {
        let mut words: Vec<&[u8]> = words.collect();
        if words.len() != self.names.len() || words.is_empty() {
            return None;
        }
        let mut stamp = None;
        if self.names.last().is_some_and(|n| n == "time") {
            stamp = Some(Stamp::Clock(time_of_day(words.pop()?, None)?));
        }
        let values = numbers(words)?;
        if self.fresh {
            self.stamp = stamp.or(self.stamp);
        }
        Some(values)
    }

    fn row(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        if is_cut(line, self.length, out) {
            return None;
        }
        match self.part {
            Part::Nothing => None,
            Part::Processors => self.processors(line, out),
            Part::Disks => self.disk(line, out),
        }
        .map(|()| Line::Data)
    }
}

/// A number that `System configuration: lcpu=8 drives=1 ent=2.00 paths=1` tells; NaN if it does not.
fn configured(line: &[u8], name: &str) -> Option<f64> {
    let rest = line.trim_ascii().strip_prefix(b"System configuration:")?;
    let value = |f: &[u8]| number(f.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?);
    Some(fields(rest).find_map(value).unwrap_or(f64::NAN))
}

impl Parser for Iostat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some((part, names)) = header(line) {
            if part <= self.part {
                self.fresh = true;
            }
            (self.part, self.names) = (part, names);
            self.length = line.trim_ascii_end().len();
            return Line::Noise;
        }
        if let Some(seen) = self.row(line, out) {
            return seen;
        }
        if let Some(count) = configured(line, "lcpu") {
            if count >= 1.0 {
                out.has_processors(count as u32);
            }
            self.entitled = configured(line, "ent").filter(|ent| *ent > 0.0);
            return Line::Noise;
        }
        if is_detailed(line) {
            out.refuse(Refused(
                "tables of iostat -D, -a and -m are not read\nhint: run it without them".into(),
            ));
            return Line::Unknown;
        }
        match between(line, "iostat", &["-T"], out) {
            Some(Between::Command) => {
                (self.part, self.fresh, self.since_boot) = (Part::Nothing, true, true);
            }
            Some(Between::Stamp(stamp)) => {
                (self.stamp, self.fresh) = (Some(stamp), true);
                self.part = Part::Nothing;
            }
            Some(_) => {}
            None if line.trim_ascii().starts_with(b"Disk history since boot") => {}
            None => return blank_or_unknown(line),
        }
        Line::Noise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_with_and_without_blanks() {
        let of = |line: &str| header(line.as_bytes()).map(|(part, names)| (part, names.join(" ")));
        let processors = "tin tout %user %sys %idle %iowait physc %entc";
        assert_eq!(
            of("tty: tin tout avg-cpu: % user % sys % idle % iowait physc % entc"),
            Some((Part::Processors, processors.into()))
        );
        assert_eq!(
            of("Disks:  %tm_act  Kbps  tps  Kb_read  Kb_wrtn  time"),
            Some((Part::Disks, "%tm_act Kbps tps Kb_read Kb_wrtn time".into()))
        );
        // Of Linux.
        assert_eq!(
            of("avg-cpu:  %user   %nice %system %iowait  %steal   %idle"),
            None
        );
        let line = b"System configuration: lcpu=8 drives=1 ent=0.50 paths=2";
        assert_eq!(configured(line, "lcpu"), Some(8.0));
        assert_eq!(configured(line, "ent"), Some(0.5));
        assert_eq!(configured(b"lcpu=8", "lcpu"), None);
    }
}
