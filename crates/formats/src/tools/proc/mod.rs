//! Files of `/proc` read again and again into one text: `diskstats`, `net/dev`, `stat`,
//! `meminfo`, `loadavg`, `vmstat`, `pressure`, `interrupts`, `softirqs`, `net/snmp`, `net/netstat`, `net/softnet_stat`,
//! `net/rpc/nfs` and `net/rpc/nfsd`, any of them together, with a line that tells the time before each
//! reading or without. `grep` may have put the file's name before each line. So `/sys/block/NAME/stat`, where
//! the name stands there or above.
//!
//! Nearly all are counters since boot, so that a first reading is one since boot and the others
//! tell what grew. Where no line tells the time, what comes again begins the next reading. A file
//! that begins with a reading and ends with a time has its times after what was read (`cat
//! /proc/stat; date`); a logger may put them before each line.

mod block;
mod counted;
mod interrupts;
mod keyed;
mod kind;
mod pressure;
mod rpc;
mod softnet;

use std::collections::HashSet;

pub(crate) use counted::put_grown;

use self::kind::{Kind, NINE, of_another_file};
use crate::echo::Watched;
use crate::list::Format;
use crate::number::whole;
use crate::out::Out;
use crate::recognise::Head;
use crate::stamp_line::{self, stamp_of};
use crate::time::{Refused, Stamp};
use crate::tools::collectl::protocols::Protocols;
use crate::{Line, Parser, fields};

/// Tables that files of `/proc` fill.
pub(crate) const TABLES: &[&str] = &[
    "disk",
    "disk_device",
    "net",
    "cpu",
    "cpu_idle",
    "system",
    "interrupt",
    "pressure",
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
    "softnet",
];

pub(crate) const FORMAT: Format = Format {
    name: "proc",
    tool: "proc",
    systems: "Linux",
    help: "files of /proc read repeatedly: diskstats, net/dev, stat, meminfo, vmstat, interrupts, \
           softirqs, net/snmp, net/netstat, net/softnet_stat, net/rpc; and /sys/block/*/stat",
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
        let line = without_file(line);
        let all: Vec<&[u8]> = fields(line).collect();
        let sure = match all[..] {
            [b"Inter-|", b"Receive", ..] => 90,
            [b"MemTotal:" | b"MemFree:", _, b"kB"] => 85,
            // Of `grep Dirty /proc/meminfo`.
            [name, size, b"kB"] if keyed::is_of_memory(name) && whole(size).is_some() => 72,
            [
                b"ctxt" | b"btime" | b"procs_running" | b"nr_free_pages" | b"pgpgin",
                _,
            ] => 84,
            [b"proc3", b"22", ..] if all.len() == 24 => 90,
            [b"Tcp:", b"RtoAlgorithm", ..] | [b"TcpExt:", b"SyncookiesSent", ..] => 88,
            [cpu, ref ticks @ ..] if cpu.starts_with(b"cpu") && ticks.len() >= 7 => {
                // Ticks are whole: of what stress-ng says of its stressor `cpu` seconds are not.
                let are_whole = ticks.iter().all(|t| whole(t).is_some());
                if are_whole { 70 } else { 0 }
            }
            _ if interrupts::is_header(&all) => 72,
            _ if counted::is_disk(&all) || softnet::Taken::of(&all).is_some() => 75,
            _ if counted::loads(&all).is_some() => 70,
            _ if block::with_name(b"", line).is_some() => 75,
            [b"==>", _, b"<=="] if !block::named(line).is_empty() => 70,
            _ if pressure::Stalls::of(line).is_some() || pressure::is_nameless(line) => 70,
            [b"==>", file, b"<=="] if file.starts_with(b"/proc/pressure/") => 70,
            // Of `grep eth0 /proc/net/dev`.
            _ if all.len() >= 16 && is_of_interfaces(head, line) => 70,
            _ => 0,
        };
        found = found.max(sure);
    }
    found
}

/// Whether a line is one of `net/dev`, and no line of another tool behind a host's name: of such a name
/// there are others, headers among them.
fn is_of_interfaces(head: &Head, line: &[u8]) -> bool {
    let Some((name, values)) = counted::interface(line) else {
        return false;
    };
    let is_whole = values.iter().all(|v| v.fract() == 0.0);
    let same = |line: &&[u8]| {
        let rest = line.trim_ascii_start().strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(b":"))
    };
    let mut others = head.lines().map(without_file).filter(same);
    is_whole && others.all(|other| counted::interface(other).is_some())
}

/// The line without `/proc/diskstats:` before it, as `grep` has it. That of a file of `pressure` stays:
/// no other word there tells which it is.
fn without_file(line: &[u8]) -> &[u8] {
    let path = |text: &[u8]| text.starts_with(b"/proc/") && !text.starts_with(pressure::PLACE);
    let first = fields(line).next().unwrap_or_default();
    match first.iter().position(|b| *b == b':') {
        Some(at) if path(first) => &line[at + 1..],
        _ => line,
    }
}

pub(crate) struct Proc {
    counted: counted::Counted,
    keyed: keyed::Keyed,
    rpc: rpc::Rpc,
    pressure: pressure::Pressure,
    interrupts: interrupts::Interrupts,
    protocols: Protocols,
    softnet: softnet::Softnet,
    /// The file of `pressure` that is printed.
    file: Vec<u8>,
    /// The device of the file of `/sys/block` that is printed.
    device: Vec<u8>,
    /// A line of a file came.
    has_rows: bool,
    /// Lines of the present reading, by what they begin with.
    seen: HashSet<Vec<u8>>,
    readings: u64,
    /// A line told the time of what comes.
    stamped: bool,
    /// That time, and what was read at it before.
    now: Option<Stamp>,
    /// That of the reading above.
    before: Option<Stamp>,
    at_once: HashSet<Vec<u8>>,
    /// Readings that came before the first time did.
    untimed: u64,
    /// The sum of all processors came, which only `/proc/stat` has.
    has_total: bool,
    times: Times,
    /// Lines, with their numbers, of which the time is still to come, and what they begin with.
    held: Vec<(u64, Vec<u8>)>,
    held_keys: HashSet<Vec<u8>>,
    /// The same of the reading above them.
    above: HashSet<Vec<u8>>,
}

/// Where the lines stand that tell when a reading was made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    /// None came yet.
    Unknown,
    /// Before it, or nowhere.
    Before,
    /// After it, as of `cat FILE; date`: readings wait for them.
    After,
}

impl Proc {
    pub(crate) fn new() -> Proc {
        Proc {
            counted: counted::Counted::new(),
            keyed: keyed::Keyed::new(),
            rpc: rpc::Rpc::new(),
            pressure: pressure::Pressure::new(),
            interrupts: interrupts::Interrupts::new(),
            protocols: Protocols::new(),
            softnet: softnet::Softnet::new(),
            file: Vec::new(),
            device: Vec::new(),
            has_rows: false,
            seen: HashSet::new(),
            readings: 0,
            stamped: false,
            now: None,
            before: None,
            at_once: HashSet::new(),
            untimed: 0,
            has_total: false,
            times: Times::Unknown,
            held: Vec::new(),
            held_keys: HashSet::new(),
            above: HashSet::new(),
        }
    }

    fn finish_reading(&mut self, out: &mut Out) {
        self.counted.finish_reading(out);
        self.keyed.finish_reading(out);
        self.rpc.finish_reading(out);
        self.softnet.finish_reading();
        let sums = [&b"intr"[..], b"softirq"].map(|sum| self.seen.contains(sum));
        self.interrupts.finish_reading(sums, out);
        if !self.seen.is_empty() {
            self.protocols.finish_reading(out);
        }
        self.seen.clear();
    }

    /// The next reading begins.
    fn next(&mut self) {
        self.readings += 1;
        for counters in [
            &mut self.counted.counters,
            &mut self.keyed.counters,
            &mut self.rpc.counters,
            &mut self.pressure.counters,
            &mut self.interrupts.counters,
        ] {
            counters.next();
        }
    }

    /// The line is one of a file: it belongs to this reading, or begins the next.
    pub(crate) fn belongs(&mut self, key: Vec<u8>, counter: bool, out: &mut Out) {
        let again = !self.stamped && self.seen.contains(&key);
        if again || !out.has_sample() {
            self.finish_reading(out);
            out.sample();
            self.next();
        } else if self.at_once.contains(&key) {
            // The next reading came within a second.
            self.at_once.clear();
            out.sample_once(self.now);
            self.next();
        }
        // Where counters come first there is nothing in a first reading but what is since boot.
        if self.readings == 1 && self.seen.is_empty() && counter {
            out.since_boot();
        }
        self.has_rows = true;
        self.seen.insert(key);
    }

    /// A line of `net/rpc/nfs`, or `net/rpc/nfsd` of the server, where it is told which.
    pub(crate) fn rpc(&mut self, line: &[u8], of_server: bool, out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        if !all.first().is_some_and(|first| rpc::is_rpc(first)) {
            return Line::Unknown;
        }
        self.rpc.is_of(of_server);
        self.take(Kind::Rpc, &all, out)
    }

    fn take(&mut self, kind: Kind, all: &[&[u8]], out: &mut Out) -> Line {
        let (key, counter) = kind.key(all);
        if self.stamped && kind.has_levels() && self.seen.contains(&key) {
            // The time of a reading was lost, or it came within a second: together they are twice as high.
            self.finish_reading(out);
            out.sample_once(self.now);
            self.next();
        }
        self.belongs(key, counter, out);
        match kind {
            Kind::Disk => return self.counted.disk(all, out),
            Kind::Stat if all[0] == b"btime" => {
                let above = self.before.and_then(|stamp| out.moment(stamp));
                return self.counted.booted(all, above, out);
            }
            Kind::Stat => return self.counted.stat(all, out),
            Kind::Rpc => return self.rpc.line(all, out),
            Kind::Interface(name, n) => self.counted.interface(name, &n, out),
            Kind::Size(name, bytes) => self.keyed.size(name, bytes),
            Kind::Counter(name, value) => self.keyed.counter(name, value, out),
            Kind::Loads(loads, running) => self.counted.load(&loads, running),
            Kind::Pressure(stalls) => self.pressure.line(&stalls, out),
            Kind::Interrupts(row) => self.interrupts.row(&row, out),
            Kind::Protocol(line) => return self.protocols.line(line),
            Kind::Softnet(taken) => self.softnet.line(&taken, out),
        }
        Line::Data
    }

    /// Whether the line waits for its time to come.
    fn holds(&mut self, line: &[u8], kind: &Kind, all: &[&[u8]], out: &mut Out) -> bool {
        let is_new = match self.times {
            Times::Before => return false,
            // A logger put the time before the line.
            Times::Unknown if out.logged.is_some() => false,
            Times::Unknown => self.held_keys.insert(kind.key(all).0),
            Times::After => {
                self.held_keys.insert(kind.key(all).0);
                true
            }
        };
        if is_new {
            self.held.push((out.line_number(), line.to_vec()));
        } else {
            // It comes again, and no time has.
            self.times = Times::Before;
            self.take_held(out);
        }
        is_new
    }

    /// Lines that waited are of the present reading.
    fn take_held(&mut self, out: &mut Out) {
        self.above = std::mem::take(&mut self.held_keys);
        for (number, line) in std::mem::take(&mut self.held) {
            let all: Vec<&[u8]> = fields(&line).collect();
            let kind = Kind::of(&line, &all);
            if kind.is_none_or(|kind| self.take(kind, &all, out) == Line::Unknown) {
                out.not_understood(number, &String::from_utf8_lossy(&line));
            }
        }
    }

    fn begin(&mut self, stamp: Stamp, out: &mut Out) {
        if !self.stamped {
            self.untimed = self.readings;
        }
        let is_same = self.now == Some(stamp);
        let read = std::mem::take(&mut self.at_once);
        if is_same {
            self.at_once = read;
            self.at_once.extend(self.seen.iter().cloned());
        } else {
            self.before = self.now;
        }
        self.now = Some(stamp);
        self.finish_reading(out);
        out.sample_once_or_same(stamp);
        self.next();
        self.stamped = true;
    }

    /// A line tells a time.
    fn told(&mut self, stamp: Stamp, out: &mut Out) {
        match self.times {
            Times::Unknown if !self.held.is_empty() => self.times = Times::After,
            Times::After if self.held_is_other() => {
                // What came before the first time was read once; the times are of what follows.
                self.take_held(out);
                self.times = Times::Before;
            }
            Times::After => {}
            _ => self.times = Times::Before,
        }
        self.begin(stamp, out);
        self.take_held(out);
    }

    /// `watch` tells when a reading was made, to a second. Where it reads more often than that, the
    /// first time is when all begins.
    fn watched(&mut self, watched: &Watched, out: &mut Out) {
        let stamp = stamp_line::told(watched.time, out);
        match stamp.filter(|_| watched.every >= 1.0) {
            Some(stamp) => self.told(stamp, out),
            None => {
                if let Some(stamp) = stamp.filter(|_| !self.has_rows) {
                    out.date_above(stamp);
                }
                out.every(watched.every);
            }
        }
    }

    /// Whether what waits is nothing that was in the reading above it.
    fn held_is_other(&self) -> bool {
        !self.held.is_empty() && self.held_keys.is_disjoint(&self.above)
    }
}

impl Parser for Proc {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let named = pressure::with_name(&self.file, line);
        let named = named.or_else(|| {
            let named = block::with_name(&self.device, line)?;
            // The file has one line: what follows without a name is of another.
            self.device.clear();
            Some(named)
        });
        let line = without_file(named.as_deref().unwrap_or(line));
        let all: Vec<&[u8]> = fields(line).collect();
        let Some(&first) = all.first() else {
            return Line::Noise;
        };
        if first == b"==>" {
            self.file = pressure::named(line).to_vec();
            self.device = block::named(line).to_vec();
            return Line::Noise;
        }
        if matches!(first, b"Inter-|" | b"face") || interrupts::is_header(&all) {
            return Line::Noise;
        }
        if keyed::is_table(&all) {
            return Line::Noise;
        }
        self.has_total |= first == b"cpu";
        // Nine numbers have `/proc/schedstat`, and `/proc/stat` from Linux 2.6.24 to 2.6.32.
        let of_processor = first.strip_prefix(b"cpu").and_then(whole).is_some();
        let unclear = of_processor && all.len() == 10 && !self.has_total;
        if let Some(why) = of_another_file(&all).or(unclear.then_some(NINE)) {
            out.refuse(Refused(why.to_owned()));
            return Line::Noise;
        }
        if pressure::is_nameless(line) {
            self.pressure.nameless = true;
            return Line::Unknown;
        }
        if let Some(kind) = Kind::of(line, &all) {
            if self.holds(line, &kind, &all, out) {
                return Line::Data;
            }
            return self.take(kind, &all, out);
        }
        if let Some(watched) = Watched::of(line) {
            self.watched(&watched, out);
            return Line::Noise;
        }
        match stamp_of(line, out) {
            Ok(Some(stamp)) => {
                self.told(stamp, out);
                Line::Noise
            }
            Ok(None) => {
                let prompt = matches!(first, b"$" | b"#") || first.ends_with(b"$");
                if let Some(file) = pressure::read_by(line) {
                    self.file = file.to_vec();
                }
                if prompt { Line::Noise } else { Line::Unknown }
            }
            Err(why) => {
                out.refuse(why);
                Line::Noise
            }
        }
    }

    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn lists_all(&self) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        if self.times == Times::After && !self.held.is_empty() && !self.held_is_other() {
            out.refuse(Refused(
                "its first reading and its last have no time: whether times stand before or \
                 after what was read is not known\nhint: remove the one that has none"
                    .into(),
            ));
            return;
        }
        if self.times == Times::Before && self.untimed > 0 && self.seen.is_empty() {
            out.refuse(Refused(
                "its first reading has no time, and below its last time there is no reading: whether \
                 times stand before or after what was read is not known\n\
                 hint: remove what has none"
                    .into(),
            ));
            return;
        }
        self.take_held(out);
        match self.pressure.nameless {
            true if !self.has_rows => out.refuse(Refused(format!("its {}", pressure::NAMELESS))),
            true => out.note(pressure::NAMELESS),
            false => {}
        }
        self.finish_reading(out);
        if self.readings == 1 {
            // Levels at one moment: there is no interval to know.
            out.spans(1.0);
        }
    }
}
