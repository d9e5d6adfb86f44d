//! Files of `/proc` read again and again into one text: `diskstats`, `net/dev`, `stat`,
//! `meminfo`, `loadavg`, `vmstat`, `net/rpc/nfs` and `net/rpc/nfsd`, any of them together, with
//! a line that tells the time before each reading or without.
//!
//! Nearly all are counters since boot, so that a first reading is one since boot and the others
//! tell what grew. Where no line tells the time, what comes again begins the next reading.

mod counted;
mod keyed;
mod rpc;

use std::collections::HashSet;

use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::stamp_line::stamp_of;
use crate::{Line, Parser, fields, numbers};

/// Tables that files of `/proc` fill.
pub(crate) const TABLES: &[&str] = &[
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
];

pub(crate) const FORMAT: Format = Format {
    name: "proc",
    tool: "proc",
    systems: "Linux",
    help: "files of /proc read repeatedly: diskstats, net/dev, stat, meminfo, vmstat, net/rpc",
    recognised: "lines of those files, as `8 0 sda 25354637 …`, `cpu0 1647967 …`, `MemFree: 1 kB`",
    yields: TABLES,
    example: "\
Sun Nov 22 02:44:43 UTC 2026
   8       0 sda 254 343 10033 184 284 111 50569 638 0 96 826
Sun Nov 22 02:44:53 UTC 2026
   8       0 sda 264 343 10113 194 284 111 50569 638 1 106 836
",
    recognise,
    parser: || Box::new(Proc::new()),
};

fn recognise(head: &Head) -> u8 {
    let mut found = 0;
    for line in head.lines() {
        let all: Vec<&[u8]> = fields(line).collect();
        let sure = match all[..] {
            [b"Inter-|", b"Receive", ..] => 90,
            [b"MemTotal:" | b"MemFree:", _, b"kB"] => 85,
            [
                b"ctxt" | b"btime" | b"procs_running" | b"nr_free_pages" | b"pgpgin",
                _,
            ] => 84,
            [b"proc3", b"22", ..] if all.len() == 24 => 90,
            [cpu, ref ticks @ ..] if cpu.starts_with(b"cpu") && ticks.len() >= 7 => {
                numbers(ticks.iter().copied()).map_or(0, |_| 70)
            }
            _ if counted::is_disk(&all) => 75,
            _ => 0,
        };
        found = found.max(sure);
    }
    found
}

pub(crate) struct Proc {
    counted: counted::Counted,
    keyed: keyed::Keyed,
    rpc: rpc::Rpc,
    /// Lines of the present reading, by what they begin with.
    seen: HashSet<Vec<u8>>,
    readings: u64,
    /// A line told the time of what comes.
    stamped: bool,
}

impl Proc {
    pub(crate) fn new() -> Proc {
        Proc {
            counted: counted::Counted::new(),
            keyed: keyed::Keyed::new(),
            rpc: rpc::Rpc::new(),
            seen: HashSet::new(),
            readings: 0,
            stamped: false,
        }
    }

    fn finish_reading(&mut self, out: &mut Out) {
        self.counted.finish_reading(out);
        self.keyed.finish_reading(out);
        self.rpc.finish_reading(out);
        self.seen.clear();
    }

    /// The line is one of a file: it belongs to this reading, or begins the next.
    fn belongs(&mut self, key: &[u8], counter: bool, out: &mut Out) {
        let again = !self.stamped && self.seen.contains(key);
        if again || !out.has_sample() {
            self.finish_reading(out);
            out.sample();
            self.readings += 1;
        }
        // Where counters come first there is nothing in a first reading but what is since boot.
        if self.readings == 1 && self.seen.is_empty() && counter {
            out.since_boot();
        }
        self.seen.insert(key.to_vec());
    }
}

impl Parser for Proc {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        let Some(&first) = all.first() else {
            return Line::Noise;
        };
        if counted::is_disk(&all) {
            self.belongs(&all[..3].join(&b' '), true, out);
            return self.counted.disk(&all, out);
        }
        if matches!(first, b"Inter-|" | b"face" | b"==>") {
            return Line::Noise;
        }
        if let Some((name, n)) = counted::interface(line) {
            self.belongs(&[b"net ", name].concat(), true, out);
            self.counted.interface(name, &n, out);
            return Line::Data;
        }
        if counted::is_stat(first) {
            self.belongs(first, true, out);
            return self.counted.stat(&all, out);
        }
        if rpc::is_rpc(first) {
            let key = [first, b" rpc"].concat();
            self.belongs(&key, true, out);
            return self.rpc.line(&all, out);
        }
        if let Some((name, bytes)) = keyed::size(&all) {
            self.belongs(&[name, b":"].concat(), false, out);
            self.keyed.size(name, bytes);
            return Line::Data;
        }
        if let Some((name, value)) = keyed::counter(&all) {
            self.belongs(name, true, out);
            self.keyed.counter(name, value, out);
            return Line::Data;
        }
        if let Some(loads) = counted::loads(&all) {
            self.belongs(b"loadavg", false, out);
            self.counted.load(&loads);
            return Line::Data;
        }
        match stamp_of(line, out) {
            Ok(Some(stamp)) => {
                self.finish_reading(out);
                out.sample_once_or_same(stamp);
                self.readings += 1;
                self.stamped = true;
                Line::Noise
            }
            Ok(None) if matches!(first, b"$" | b"#") || first.ends_with(b"$") => Line::Noise,
            Ok(None) => Line::Unknown,
            Err(why) => {
                out.refuse(why);
                Line::Noise
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.finish_reading(out);
        if self.readings == 1 {
            // Levels at one moment: there is no interval to know.
            out.spans(1.0);
        }
    }
}
