//! `atop -P`: lines that begin with a label, the host, the time and the interval's length.
//!
//! ```text
//! DSK box 1663241161 2022/09/15 11:26:01 1 sda 4 3 112 15 160
//! PRC box 1663241161 2022/09/15 11:26:01 1 1 (systemd) S 100 2 1 0 120 0 0 0 0 1 y
//! SEP
//! ```
//!
//! What a label's fields are is in `atop(1)`, "parseable output"; later versions put more at
//! the end of a line. All are amounts in the interval, or levels at its end. A sample after
//! `RESET` is since boot.

mod others;
mod process;
mod system;

use crate::list::Format;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::{Line, Parser, fields, number};

pub(crate) const FORMAT: Format = Format {
    name: "atop",
    tool: "atop",
    systems: "Linux",
    help: "parseable output (-P): processors, memory, disks, networks, NFS and processes",
    recognised: "lines of a label, a host, seconds since 1970, a date and a time; `SEP`; or a file \
                 of `atop -w`, which atop is asked to print where it is installed",
    yields: &[
        "cpu",
        "cpu_idle",
        "system",
        "interrupt",
        "memory",
        "memory_state",
        "vm",
        "vm_reclaim",
        "pressure",
        "disk",
        "disk_device",
        "net",
        "tcp",
        "tcp_segments",
        "udp",
        "udp_datagrams",
        "ip",
        "ip_packets",
        "nfs_bytes",
        "nfsd",
        "nfsd_bytes",
        "process",
        "process_memory",
        "process_io",
    ],
    example: "\
RESET
CPL box 1663241160 2022/09/15 11:26:00 100 2 0.55 0.33 0.12 284 228
DSK box 1663241160 2022/09/15 11:26:00 100 sda 400 300 11200 150 1600
SEP
CPL box 1663241170 2022/09/15 11:26:10 10 2 0.55 0.33 0.12 284 228
DSK box 1663241170 2022/09/15 11:26:10 10 sda 4 3 112 15 160
SEP
",
    recognise,
    parser: || Box::new(Atop::new()),
};

const LABELS: [&str; 26] = [
    "CPU", "cpu", "CPL", "GPU", "MEM", "SWP", "PAG", "PSI", "LVM", "MDD", "DSK", "NFM", "NFC",
    "NFS", "NET", "IFB", "LLC", "NUM", "NUC", "PRG", "PRC", "PRE", "PRM", "PRD", "PRN", "CGR",
];

/// Whether it is a file that `atop -w` wrote: it begins with 0xfeedbeef, in the machine's order.
fn is_raw(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [0xef, 0xbe, 0xed, 0xfe, ..] | [0xfe, 0xed, 0xbe, 0xef, ..]
    )
}

fn recognise(head: &Head) -> u8 {
    if is_raw(head.bytes()) || head.lines().any(|l| Record::of(l).is_some()) {
        95
    } else {
        0
    }
}

/// A line's common part, and what follows it.
struct Record<'a> {
    label: &'a [u8],
    host: &'a [u8],
    epoch: i64,
    seconds: f64,
    rest: &'a [u8],
}

impl<'a> Record<'a> {
    fn of(line: &'a [u8]) -> Option<Record<'a>> {
        let mut all = fields(line);
        let label = all.next()?;
        if !LABELS.iter().any(|l| l.as_bytes() == label) {
            return None;
        }
        let host = all.next()?;
        let epoch = i64::try_from(number::whole(all.next()?)?).ok()?;
        let (date, time) = (all.next()?, all.next()?);
        let shape = date.len() == 10 && date[4] == b'/' && time.len() == 8 && time[2] == b':';
        let seconds = number::whole(all.next()?)? as f64;
        let mut rest = line.trim_ascii_start();
        for _ in 0..6 {
            let end = rest.iter().position(u8::is_ascii_whitespace);
            rest = end.map_or(&[], |end| rest[end..].trim_ascii_start());
        }
        let known = shape && (0..8_000_000_000).contains(&epoch);
        known.then_some(Record {
            label,
            host,
            epoch,
            seconds,
            rest,
        })
    }
}

/// The fields of one line that are numbers.
struct Numbers(Vec<f64>);

impl Numbers {
    fn of(text: &[u8]) -> Option<Numbers> {
        crate::numbers(fields(text)).map(Numbers)
    }

    /// The field at that place; NaN where this version has none.
    fn at(&self, place: usize) -> f64 {
        self.0.get(place).copied().unwrap_or(f64::NAN)
    }

    /// The same where -1 stands for "not known".
    fn at_if(&self, place: usize) -> f64 {
        match self.at(place) {
            value if value < 0.0 => f64::NAN,
            value => value,
        }
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

struct Atop {
    system: system::System,
    process: process::Processes,
    memory_state: Shape,
    /// Time of the present sample.
    epoch: Option<i64>,
    /// That of the sample that is over.
    ended: Option<i64>,
    /// `RESET` came: the next sample is since boot.
    reset: bool,
    /// A line of `PRE` ended before its numbers: the state it prints of a process that uses no
    /// GPU was a line feed in some versions.
    cut: bool,
}

impl Atop {
    fn new() -> Atop {
        Atop {
            system: system::System::new(),
            process: process::Processes::new(),
            memory_state: Shape::of(
                "memory_state",
                &["dirty", "swap_total", "swap_used", "committed"],
            ),
            epoch: None,
            ended: None,
            reset: false,
            cut: false,
        }
    }

    /// What lines of a sample say together.
    fn finish_sample(&mut self, out: &mut Out) {
        if self.epoch.take().is_some() {
            self.system.finish_sample(&self.memory_state, out);
            self.process.finish_sample(out);
        }
    }
}

impl Parser for Atop {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if out.line_number() == 1 && is_raw(line) {
            out.refuse(Refused(
                "it is a binary file of atop, which only the atop that wrote it reads for sure\n\
                 hint: atop -r FILE -P ALL > FILE.txt prints it as text that can be imported"
                    .into(),
            ));
            return Line::Unknown;
        }
        match line.trim_ascii() {
            b"" => return Line::Noise,
            b"SEP" => {
                self.ended = self.epoch;
                self.finish_sample(out);
                return Line::Noise;
            }
            b"RESET" => {
                self.finish_sample(out);
                self.ended = None;
                self.reset = true;
                return Line::Noise;
            }
            _ => {}
        }
        let cut = std::mem::take(&mut self.cut);
        let Some(record) = Record::of(line) else {
            if cut && Numbers::of(line).is_some_and(|n| n.len() == 7) {
                return Line::Noise;
            }
            return Line::Unknown;
        };
        if self.ended == Some(record.epoch) {
            out.note(
                "a sample of the time of the one before it is the same once more: it counts once",
            );
            return Line::Noise;
        }
        if self.epoch != Some(record.epoch) {
            self.finish_sample(out);
            out.host(record.host);
            out.sample_once(Some(Stamp::Epoch(
                record.epoch.saturating_mul(1_000_000_000),
            )));
            if std::mem::take(&mut self.reset) {
                out.since_boot();
            } else {
                out.spans(record.seconds);
            }
            self.epoch = Some(record.epoch);
        }
        if record.label == b"CGR" {
            out.note("lines of `CGR`, of control groups, are known and not imported");
            return Line::Noise;
        }
        if record.label.starts_with(b"PR") {
            self.cut = record.label == b"PRE" && !line.ends_with(b"0");
            return self.process.line(&record, out);
        }
        self.system.line(&record, out)
    }

    fn lists_all(&self) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        self.finish_sample(out);
    }
}
