//! Of which file of `/proc` a line is.

use super::{counted, interrupts, keyed, pressure, rpc, softnet};
use crate::number::whole;
use crate::tools::collectl::interrupts::Told;

/// What lines of `net/snmp` and `net/netstat` begin with.
const PROTOCOLS: [&str; 9] = [
    "Ip:",
    "Icmp:",
    "IcmpMsg:",
    "Tcp:",
    "Udp:",
    "UdpLite:",
    "TcpExt:",
    "IpExt:",
    "MPTcpExt:",
];

/// Of which file a line is.
pub(super) enum Kind<'a> {
    Disk,
    Interface(&'a [u8], Vec<f64>),
    Stat,
    Rpc,
    Size(&'a [u8], f64),
    Counter(&'a [u8], f64),
    Loads([f64; 4], f64),
    Pressure(pressure::Stalls<'a>),
    Interrupts(Told<'a>),
    /// A line of `net/snmp` or `net/netstat`: names, or what they count.
    Protocol(&'a [u8]),
    Softnet(softnet::Taken),
}

impl<'a> Kind<'a> {
    pub(super) fn of(line: &'a [u8], all: &[&'a [u8]]) -> Option<Kind<'a>> {
        let first = all[0];
        if counted::is_disk(all) {
            return Some(Kind::Disk);
        }
        if let Some(stalls) = pressure::Stalls::of(line) {
            return Some(Kind::Pressure(stalls));
        }
        if all.len() > 1 && PROTOCOLS.iter().any(|p| first == p.as_bytes()) {
            return Some(Kind::Protocol(line));
        }
        if let Some(taken) = softnet::Taken::of(all) {
            return Some(Kind::Softnet(taken));
        }
        if let Some((name, n)) = counted::interface(line) {
            return Some(Kind::Interface(name, n));
        }
        if counted::is_stat(first) {
            return Some(Kind::Stat);
        }
        if rpc::is_rpc(first) {
            return Some(Kind::Rpc);
        }
        if let Some((name, bytes)) = keyed::size(all) {
            return Some(Kind::Size(name, bytes));
        }
        if let Some((name, value)) = keyed::counter(all) {
            return Some(Kind::Counter(name, value));
        }
        if let Some(row) = interrupts::row(line, all) {
            return Some(Kind::Interrupts(row));
        }
        counted::loads(all).map(|(loads, running)| Kind::Loads(loads, running))
    }

    /// Whether it is of levels alone, or of some beside what is counted.
    pub(super) fn has_levels(&self) -> bool {
        matches!(self, Kind::Pressure(_) | Kind::Loads(..))
    }

    /// What comes once a reading, and whether it is a counter.
    pub(super) fn key(&self, all: &[&[u8]]) -> (Vec<u8>, bool) {
        match self {
            Kind::Disk => (all[..3].join(&b' '), true),
            Kind::Interface(name, _) => ([b"net ", *name].concat(), true),
            Kind::Stat => (all[0].to_vec(), true),
            Kind::Rpc => ([all[0], b" rpc"].concat(), true),
            Kind::Size(name, _) => ([name, &b":"[..]].concat(), false),
            Kind::Counter(name, _) => (name.to_vec(), true),
            Kind::Loads(..) => (b"loadavg".to_vec(), false),
            // Beside what it counts there are means.
            Kind::Pressure(stalls) => (stalls.key(), false),
            Kind::Interrupts(row) => ([row.name, b" interrupts"].concat(), true),
            Kind::Softnet(taken) => {
                // Without a number only a time tells where the next reading begins.
                let cpu = taken.cpu.map_or_else(String::new, |cpu| cpu.to_string());
                ([b"softnet ", cpu.as_bytes()].concat(), true)
            }
            Kind::Protocol(_) => {
                let counts = all[1].first().is_some_and(|b| !b.is_ascii_alphabetic());
                (
                    [all[0], if counts { b" counts" } else { b" names" }].concat(),
                    true,
                )
            }
        }
    }
}

const SCHEDSTAT: &str = "it has /proc/schedstat, whose lines `cpu0 …` are no ticks as those of \
    /proc/stat are\n\
    hint: put those of /proc/stat into a file of its own";

pub(super) const NINE: &str = "its lines `cpu0 …` have nine numbers, and there is no line `cpu` above them: they \
    can be of /proc/schedstat, which has no ticks\n\
    hint: take all of /proc/stat";

/// Why the file is none of those that are read, though some of its lines look alike.
pub(super) fn of_another_file(all: &[&[u8]]) -> Option<&'static str> {
    match *all {
        [b"Node", _, b"zone", _] => Some(
            "it is /proc/zoneinfo, which tells of each zone of memory by itself\n\
             hint: /proc/vmstat, which tells of all, can be imported",
        ),
        [b"version", number] if whole(number).is_some() => Some(SCHEDSTAT),
        [domain, ..] if domain.strip_prefix(b"domain").and_then(whole).is_some() => Some(SCHEDSTAT),
        [name, _] if keyed::is_of_group(name) => Some(
            "it has memory.stat of a control group, of which some lines are called as those of \
             /proc/vmstat are\n\
             hint: put those of /proc into a file of its own",
        ),
        _ => None,
    }
}
