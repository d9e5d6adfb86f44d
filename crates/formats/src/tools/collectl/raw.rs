//! Raw files of `collectl`: lines of files in `/proc`, some with a label before them, between
//! lines that tell the time.
//!
//! ```text
//! # Host:       box  DaemonOpts:
//! >>> 1795317962.001 <<<
//! cpu  1943769 98559 614877 2782804 57211 0 25894 8494 0 0
//! disk  254       0 vda 10080014 132270 368315674 19817598 3630664 710102 601858000 3555989 31 953756 23504163
//! load 6.70 5.09 4.15 8/182 17096
//! Net   eth0: 1220722664 31216 0 0 0 0 0 0 1731567 20901 0 0 0 0 0 0
//! ```

use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::tools::proc::Proc;
use crate::{Line, Parser, fields};

pub(crate) const FORMAT: Format = Format {
    name: "collectl-raw",
    tool: "collectl",
    systems: "Linux",
    help: "processors, disks, networks and memory, as collectl -f records them",
    recognised: "lines `>>> 1795317962.001 <<<` and a heading `# Collectl:`",
    yields: &[
        "disk",
        "disk_device",
        "net",
        "cpu",
        "cpu_idle",
        "system",
        "interrupt",
        "memory",
        "memory_state",
        "vm",
    ],
    example: "\
# Collectl:   V4.3.1-1  HiRes: 1  Options: -i1 -sd
# Host:       box  DaemonOpts:
>>> 1795317962.001 <<<
disk  254       0 vda 100 13 3600 198 360 71 6000 355 1 953 235
>>> 1795317963.001 <<<
disk  254       0 vda 110 13 3680 208 360 71 6000 355 0 963 245
",
    recognise,
    parser: || Box::new(Raw { proc: Proc::new() }),
};

fn recognise(head: &Head) -> u8 {
    let mark = |l: &[u8]| l.starts_with(b">>> ") && l.trim_ascii_end().ends_with(b" <<<");
    if head.lines().any(mark) { 96 } else { 0 }
}

struct Raw {
    proc: Proc,
}

impl Parser for Raw {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let mut all = fields(line);
        let Some(first) = all.next() else {
            return Line::Noise;
        };
        if first.starts_with(b"#") {
            if all.next() == Some(b"Host:")
                && let Some(name) = all.next()
            {
                out.host(name);
            }
            return Line::Noise;
        }
        let after = || {
            let at = line.windows(first.len()).position(|w| w == first);
            line.get(at.unwrap_or(0) + first.len()..)
                .unwrap_or_default()
        };
        match first {
            b"disk" | b"load" | b"Net" => self.proc.line(after(), out),
            b"buddy" | b"int" | b"sock" | b"Slab" | b"slab" | b"proc" | b"ino" => {
                not_taken(first, out)
            }
            _ if first.starts_with(b"tcp-") || first.starts_with(b"fs-") => not_taken(first, out),
            _ if first.starts_with(b"nfs") || first.starts_with(b"proc:") => not_taken(first, out),
            _ => match NOT_TAKEN.iter().find(|l| begins(first, l)) {
                Some(label) => not_taken(label, out),
                None => self.proc.line(line, out),
            },
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.proc.end(out);
    }
}

/// What labels of Lustre, InfiniBand, sensors and NUMA nodes begin with, before a number, a file
/// system's name or what is counted: `OST_3`, `LLITE:1`, `ib0-1:rcvd`, `numas Node 0`.
const NOT_TAKEN: [&[u8]; 9] = [
    b"OST", b"LLITE", b"LLDET", b"LUS", b"MDS", b"ib", b"ipmi", b"numai", b"numas",
];

/// Whether the label is that one, or begins with it and goes on otherwise than with a letter.
fn begins(label: &[u8], start: &[u8]) -> bool {
    let rest = label.strip_prefix(start);
    rest.is_some_and(|rest| !rest.first().is_some_and(u8::is_ascii_alphabetic))
}

fn not_taken(label: &[u8], out: &mut Out) -> Line {
    let label = String::from_utf8_lossy(label);
    out.note(&format!("lines of `{label}` are known and not imported"));
    Line::Noise
}
