//! TCP, UDP and IP, from `/proc/net/snmp`, `/proc/net/netstat` and `/proc/net/snmp6`.
//!
//! ```text
//! Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors
//! Udp: 98 0 0 99 0 0 0
//! ```
//! Pairs of lines in the first two, one name and value a line in the third. Names and
//! places change between kernels; places are looked up once and again when a line of names
//! changes. A counter that the kernel does not have is not known (NaN). TCP's counters hold
//! both versions of IP, the others' one. UDP-Lite is left out.
//!
//! Before 6.8 there is no `OutTransmits`, and forwarded packets enter `OutRequests` and
//! `OutOctets` once, twice or never, by kernel and version of IP. There, in an interval in
//! which a packet was forwarded, packets and bytes sent are not known.
//!
//! <https://docs.kernel.org/networking/snmp_counter.html>

use std::io;

use run::rows::TableId;
use run::{Sink, Word};

use crate::read::{Kept, advance};
use crate::{Availability, Detail, Entry, Host, Source};

mod names;

use names::{Names, Pairs};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "ip",
    help: "TCP, UDP and IP: segments, datagrams, packets, and what went wrong",
    reads: "/proc/net/snmp, /proc/net/netstat, /proc/net/snmp6",
    link: "https://docs.kernel.org/networking/snmp_counter.html",
    detail: Detail::Samples,
    open,
};

/// The counters that each measure of `tcp` is the sum of, in the table's order, but for
/// the level at its end.
const TCP: &[&[&str]] = &[
    &["Tcp RetransSegs"],
    &["Tcp ActiveOpens"],
    &["Tcp PassiveOpens"],
    &["Tcp AttemptFails"],
    // From ESTABLISHED or CLOSE_WAIT straight to CLOSED, whoever did it.
    &["Tcp EstabResets"],
    &["Tcp OutRsts"],
    &["Tcp InErrs"],
    &["TcpExt TCPTimeouts"],
    &["TcpExt TCPFastRetrans"],
    &["TcpExt TCPLostRetransmit"],
    &["TcpExt TCPDSACKRecv", "TcpExt TCPDSACKOfoRecv"],
    // Named for the acknowledgement whose loss made the other side send again.
    &["TcpExt DelayedACKLost"],
    &["TcpExt TCPOFOQueue"],
    &["TcpExt ListenOverflows"],
    &["TcpExt ListenDrops"],
    &["TcpExt TCPBacklogDrop"],
    // RcvPruned and OfoPruned count the same events from another side.
    &[
        "TcpExt TCPRcvQDrop",
        "TcpExt TCPOFODrop",
        "TcpExt PFMemallocDrop",
    ],
    &["TcpExt TCPToZeroWindowAdv"],
    &["TcpExt SyncookiesSent"],
];
const ESTABLISHED: &[&str] = &["Tcp CurrEstab"];

/// Received and sent.
const SEGMENTS: &[&[&str]] = &[&["Tcp InSegs"], &["Tcp OutSegs"]];

/// The counters of one version of IP.
struct Version {
    name: &'static str,
    /// Received and sent.
    datagrams: &'static [&'static [&'static str]],
    /// In the order of the table `udp`.
    udp: &'static [&'static [&'static str]],
    /// Packets and bytes received; bytes, packets, and packets of old kernels sent.
    packets: &'static [&'static [&'static str]],
    /// In the order of the table `ip`.
    ip: &'static [&'static [&'static str]],
}

const VERSIONS: [Version; 2] = [
    Version {
        name: "4",
        datagrams: &[&["Udp InDatagrams"], &["Udp OutDatagrams"]],
        udp: &[
            &["Udp NoPorts"],
            &["Udp InErrors"],
            &["Udp RcvbufErrors"],
            &["Udp SndbufErrors"],
        ],
        packets: &[
            &["Ip InReceives"],
            &["IpExt InOctets"],
            &["IpExt OutOctets"],
            &["Ip OutTransmits"],
            &["Ip OutRequests"],
        ],
        ip: &[
            &["Ip ForwDatagrams"],
            &["Ip InDiscards"],
            &["Ip OutDiscards"],
            &["IpExt InNoRoutes", "Ip OutNoRoutes"],
            &["Ip ReasmFails"],
            &["Ip FragCreates"],
        ],
    },
    Version {
        name: "6",
        datagrams: &[&["Udp6InDatagrams"], &["Udp6OutDatagrams"]],
        udp: &[
            &["Udp6NoPorts"],
            &["Udp6InErrors"],
            &["Udp6RcvbufErrors"],
            &["Udp6SndbufErrors"],
        ],
        packets: &[
            &["Ip6InReceives"],
            &["Ip6InOctets"],
            &["Ip6OutOctets"],
            &["Ip6OutTransmits"],
            &["Ip6OutRequests"],
        ],
        ip: &[
            &["Ip6OutForwDatagrams"],
            &["Ip6InDiscards"],
            &["Ip6OutDiscards"],
            &["Ip6InNoRoutes", "Ip6OutNoRoutes"],
            &["Ip6ReasmFails"],
            &["Ip6FragCreates"],
        ],
    },
];

/// Where a measure's counters are among all that are read; at most three.
type Places = Vec<Vec<usize>>;

/// The tables of one version of IP, as places.
struct Family {
    datagrams: Places,
    udp: Places,
    packets: Places,
    ip: Places,
}

/// What a reading found; `None` where the kernel has no such counter.
type Values = Vec<Option<u64>>;

struct Ip {
    snmp: Kept,
    /// Without it, its counters are not known.
    netstat: Option<Kept>,
    /// Absent where the kernel runs without version 6.
    snmp6: Option<Kept>,
    buffer: Vec<u8>,
    pairs: [Pairs; 2],
    names: Names,
    before: Values,
    now: Values,
    tcp: Places,
    established: Vec<usize>,
    segments: Places,
    families: Vec<Family>,
    words: Option<Shown>,
    tables: Tables,
}

/// Words of rows.
#[derive(Clone, Copy)]
struct Shown {
    directions: [Word; 2],
    versions: [Word; 2],
}

/// The tables it fills.
#[derive(Clone, Copy)]
struct Tables {
    tcp: TableId,
    segments: TableId,
    datagrams: TableId,
    udp: TableId,
    packets: TableId,
    ip: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    Ok(Box::new(new(host)?))
}

fn new(host: &Host) -> Result<Ip, Availability> {
    let path = host.proc("net/snmp");
    let needs = "a kernel with IPv4 (CONFIG_INET) and a mounted /proc";
    let snmp = Kept::open(&path)
        .map_err(|e| Availability::of(&path, &e, needs, "mount -t proc proc /proc"))?;
    let snmp6 = Kept::open(host.proc("net/snmp6")).ok();
    let mut wanted = Vec::new();
    let mut places = |measures: &[&[&'static str]]| -> Places {
        let measure = |counters: &&[&'static str]| {
            let place = |name: &&'static str| {
                wanted.push(*name);
                wanted.len() - 1
            };
            counters.iter().map(place).collect()
        };
        measures.iter().map(measure).collect()
    };
    let tcp = places(TCP);
    let established = places(&[ESTABLISHED]).concat();
    let segments = places(SEGMENTS);
    let versions = if snmp6.is_some() { 2 } else { 1 };
    let family = |version: &Version| Family {
        datagrams: places(version.datagrams),
        udp: places(version.udp),
        packets: places(version.packets),
        ip: places(version.ip),
    };
    let families = VERSIONS[..versions].iter().map(family).collect();
    Ok(Ip {
        snmp,
        netstat: Kept::open(host.proc("net/netstat")).ok(),
        snmp6,
        buffer: Vec::new(),
        pairs: [Pairs::new(&wanted), Pairs::new(&wanted)],
        names: Names::new(&wanted),
        before: vec![None; wanted.len()],
        now: vec![None; wanted.len()],
        tcp,
        established,
        segments,
        families,
        words: None,
        tables: Tables {
            tcp: TableId::of("tcp"),
            segments: TableId::of("tcp_segments"),
            datagrams: TableId::of("udp_datagrams"),
            udp: TableId::of("udp"),
            packets: TableId::of("ip_packets"),
            ip: TableId::of("ip"),
        },
    })
}

impl Source for Ip {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.fill(None);
        self.read()?;
        if interval.is_some() {
            self.rows(out);
        }
        Ok(())
    }
}

impl Ip {
    fn read(&mut self) -> io::Result<()> {
        let text = self.snmp.read(&mut self.buffer)?;
        self.pairs[0].take(text, &mut self.now);
        if let Some(netstat) = &self.netstat {
            self.pairs[1].take(netstat.read(&mut self.buffer)?, &mut self.now);
        }
        if let Some(snmp6) = &self.snmp6 {
            self.names
                .take(snmp6.read(&mut self.buffer)?, &mut self.now);
        }
        Ok(())
    }

    fn rows(&mut self, out: &mut Sink) {
        let words = *self.words.get_or_insert_with(|| Shown {
            directions: ["receive", "transmit"].map(|d| out.word(d)),
            versions: VERSIONS.map(|v| out.word(v.name)),
        });
        self.tcp_rows(words, out);
        for (family, version) in self.families.iter().zip(words.versions) {
            self.family_rows(family, version, words.directions, out);
        }
    }

    fn tcp_rows(&self, words: Shown, out: &mut Sink) {
        let mut tcp = [f64::NAN; TCP.len() + 1];
        self.amounts(&self.tcp, &mut tcp);
        tcp[TCP.len()] = self.level(&self.established);
        out.row(self.tables.tcp, &[], &tcp);
        let mut both = [f64::NAN; 2];
        self.amounts(&self.segments, &mut both);
        for (direction, segments) in words.directions.iter().zip(both) {
            out.row(self.tables.segments, &[*direction], &[segments]);
        }
    }

    fn family_rows(&self, family: &Family, version: Word, directions: [Word; 2], out: &mut Sink) {
        let tables = self.tables;
        let mut both = [f64::NAN; 2];
        self.amounts(&family.datagrams, &mut both);
        for (direction, datagrams) in directions.into_iter().zip(both) {
            out.row(tables.datagrams, &[direction, version], &[datagrams]);
        }
        let mut udp = [f64::NAN; 4];
        self.amounts(&family.udp, &mut udp);
        out.row(tables.udp, &[version], &udp);
        let mut ip = [f64::NAN; 6];
        self.amounts(&family.ip, &mut ip);
        out.row(tables.ip, &[version], &ip);
        let mut packets = [f64::NAN; 5];
        self.amounts(&family.packets, &mut packets);
        let [received, bytes_received, bytes_sent, transmitted, requested] = packets;
        let has_transmits = self.now[family.packets[3][0]].is_some();
        let sent = match (has_transmits, ip[0] == 0.0) {
            (true, _) => [transmitted, bytes_sent],
            (false, true) => [requested, bytes_sent],
            (false, false) => [f64::NAN; 2],
        };
        let [receive, transmit] = directions;
        let received = [received, bytes_received];
        out.row(tables.packets, &[receive, version], &received);
        out.row(tables.packets, &[transmit, version], &sent);
    }

    /// How far each measure went, the sum of its counters.
    fn amounts(&self, places: &Places, amounts: &mut [f64]) {
        for (amount, places) in amounts.iter_mut().zip(places) {
            let each = places.iter().map(|&place| {
                let (before, now) = (self.before[place], self.now[place]);
                before.zip(now).map_or(f64::NAN, |(b, n)| advance(b, n))
            });
            *amount = each.sum();
        }
    }

    /// A gauge. It is summed over processors at slightly different times and may for a
    /// moment be below zero, which prints as a huge number.
    fn level(&self, places: &[usize]) -> f64 {
        let value = places.first().and_then(|&place| self.now[place]);
        value
            .filter(|&v| v < 1 << 31)
            .map_or(f64::NAN, |v| v as f64)
    }
}

#[cfg(test)]
mod tests;
