//! Raw files of `collectl`: lines of files in `/proc`, some with a label before them, between
//! lines that tell the time.
//!
//! ```text
//! # Host:       box  DaemonOpts:
//! >>> 1795317962.001 <<<
//! cpu  1943769 98559 614877 2782804 57211 0 25894 8494 0 0
//! int  24:          1          0  IO-APIC   5-edge      ACPI:Ged
//! disk  254       0 vda 10080014 132270 368315674 19817598 3630664 710102 601858000 3555989 31 953756 23504163
//! load 6.70 5.09 4.15 8/182 17096
//! nfsc-rpc 18628 0 18701
//! nfss-io 34818 69636
//! sock TCP: inuse 9 orphan 0 tw 0 alloc 12 mem 1
//! tcp-Udp: InDatagrams NoPorts InErrors OutDatagrams
//! tcp-Udp: 98 0 0 99
//! Net   eth0: 1220722664 31216 0 0 0 0 0 0 1731567 20901 0 0 0 0 0 0
//! ```
//!
//! `nfsc-` and `nfss-` stand before lines of `/proc/net/rpc/nfs` and `nfsd`; before version 3.2.1 it
//! is `nfs-`, and the heading's `SubOpts` (or `NfsOpts`) have a `C` if they are the client's.

use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::tools::proc::Proc;
use crate::{Line, Parser, fields, number};

use super::interrupts::Interrupts;
use super::levels;
use super::protocols::Protocols;

pub(crate) const FORMAT: Format = Format {
    name: "collectl-raw",
    tool: "collectl",
    systems: "Linux",
    help: "processors, disks, networks, memory, interrupts, NFS, sockets and protocols, as collectl \
           -f records them",
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
        "nfs",
        "nfsd",
        "nfsd_ops",
        "nfsd_bytes",
        "tcp",
        "tcp_segments",
        "udp",
        "udp_datagrams",
        "ip_packets",
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
    parser: || Box::new(Raw::new()),
};

fn recognise(head: &Head) -> u8 {
    let mark = |l: &[u8]| l.starts_with(b">>> ") && l.trim_ascii_end().ends_with(b" <<<");
    if head.lines().any(mark) { 96 } else { 0 }
}

struct Raw {
    proc: Proc,
    interrupts: Interrupts,
    protocols: Protocols,
    /// The total of interrupts, which waits for those of each line.
    total: Option<Vec<u8>>,
    /// Lines `nfs-` are the server's, as the heading says.
    of_server: Option<bool>,
    /// The mark of a reading came. What is before the first is the end of one whose time is lost.
    is_marked: bool,
    /// There are counters, as the heading says: a first reading is since boot, whatever comes first.
    has_counters: bool,
}

impl Raw {
    fn new() -> Raw {
        Raw {
            proc: Proc::new(),
            interrupts: Interrupts::new(),
            protocols: Protocols::new(),
            total: None,
            of_server: None,
            is_marked: false,
            has_counters: false,
        }
    }

    /// `# Host:       box  DaemonOpts:`, `# SubSys:     cf SubOpts: 3C Options:   Interval: 10`.
    fn heading(&mut self, line: &[u8], out: &mut Out) {
        let words: Vec<&[u8]> = fields(line).collect();
        if let [_, b"Host:", name, ..] = words[..] {
            out.host(name);
        }
        if let [_, b"SubSys:", letters, ..] = words[..] {
            let counts = |b: &u8| b"cdfjnt".contains(&b.to_ascii_lowercase());
            self.has_counters = letters.iter().any(counts);
        }
        let options = |w: &&[u8]| matches!(*w, b"SubOpts:" | b"NfsOpts:");
        let at = words.iter().position(options);
        if let Some(options) = at.and_then(|at| words.get(at + 1)) {
            let none = options.ends_with(b":");
            self.of_server = Some(none || !options.contains(&b'C'));
        }
    }

    /// The reading is over: what waited for all of its lines.
    fn finish_reading(&mut self, is_whole: bool, out: &mut Out) {
        self.protocols.finish_reading(out);
        let total = self.total.take();
        if !self.interrupts.used {
            if let Some(line) = total {
                self.proc.line(&line, out);
            }
            return;
        }
        let count = total.and_then(|line| number::whole(fields(&line).nth(1)?));
        if let Some(count) = count {
            self.interrupts.total(count);
        }
        self.interrupts.finish_reading(is_whole, out);
    }

    /// A line with that label, and what follows it.
    fn labelled(&mut self, label: &[u8], rest: &[u8], out: &mut Out) -> Option<Line> {
        let counters = self.has_counters;
        let seen = match label {
            b"disk" | b"load" | b"Net" => self.proc.line(rest, out),
            b"int" => {
                self.proc.belongs(b"int".to_vec(), true, out);
                self.interrupts.line(rest, out)
            }
            b"sock" => {
                self.proc.belongs(b"sock".to_vec(), counters, out);
                levels::sockets(rest, out)
            }
            b"fs-ds" | b"fs-is" | b"fs-fnr" => {
                self.proc.belongs(label.to_vec(), counters, out);
                levels::caches(label, rest, out)
            }
            b"buddy" => {
                self.proc.belongs(b"buddy".to_vec(), counters, out);
                levels::free_blocks(rest, out)
            }
            _ => return None,
        };
        Some(seen)
    }

    /// `nfsc-proc3 22 …`, without what stands before the dash.
    fn nfs(&mut self, whose: &[u8], line: &[u8], out: &mut Out) -> Line {
        let of_server = match whose {
            b"c" => Some(false),
            b"s" => Some(true),
            _ => self.of_server,
        };
        match of_server {
            Some(of_server) => self.proc.rpc(line, of_server, out),
            None => {
                out.note(
                    "whether lines `nfs-` are the client's is not told: they are not imported",
                );
                Line::Noise
            }
        }
    }
}

impl Parser for Raw {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Some(first) = fields(line).next() else {
            return Line::Noise;
        };
        if first.starts_with(b"#") {
            self.heading(line, out);
            return Line::Noise;
        }
        self.is_marked |= first == b">>>";
        if !self.is_marked {
            return Line::Unknown;
        }
        let at = line.windows(first.len()).position(|w| w == first);
        let rest = line.get(at.unwrap_or(0) + first.len()..);
        if let Some(seen) = self.labelled(first, rest.unwrap_or_default(), out) {
            return seen;
        }
        for (label, whose) in [(&b"nfsc-"[..], &b"c"[..]), (b"nfss-", b"s"), (b"nfs-", b"")] {
            if first.starts_with(label) {
                let at = at.unwrap_or(0) + label.len();
                return self.nfs(whose, line.get(at..).unwrap_or_default(), out);
            }
        }
        if first.starts_with(b"tcp-") {
            self.proc.belongs(b"tcp".to_vec(), true, out);
            let at = at.unwrap_or(0) + 4;
            return self.protocols.line(line.get(at..).unwrap_or_default());
        }
        match first {
            b">>>" => {
                self.finish_reading(true, out);
                self.proc.line(line, out)
            }
            b"intr"
                if fields(line)
                    .nth(1)
                    .is_some_and(|w| number::whole(w).is_some()) =>
            {
                self.proc.belongs(b"intr total".to_vec(), true, out);
                self.total = Some(line.to_vec());
                Line::Data
            }
            b"Slab" | b"slab" | b"proc" | b"ino" => not_taken(first, out),
            _ if first.starts_with(b"proc:") || first.starts_with(b"procT:") => {
                not_taken(b"proc", out)
            }
            _ => match NOT_TAKEN.iter().find(|l| begins(first, l)) {
                Some(label) => not_taken(label, out),
                None => self.proc.line(line, out),
            },
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.finish_reading(false, out);
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
