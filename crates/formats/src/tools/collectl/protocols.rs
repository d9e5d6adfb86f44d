//! Counters of TCP, UDP, IP and ICMP in raw files of `collectl`, and in `/proc` itself.
//!
//! ```text
//! tcp-Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors
//! tcp-Udp: 98 0 0 99 0 0
//! ```
//!
//! They are `/proc/net/netstat` and `/proc/net/snmp`, in pairs of lines, of version 4 of the internet
//! protocol alone; TCP's are of both. Before Linux 6.8 there is no `OutTransmits`, and packets sent are
//! not known.
//!
//! <https://docs.kernel.org/networking/snmp_counter.html>

use std::collections::{BTreeMap, HashMap};

use crate::number::number;
use crate::out::{Out, Shape};
use crate::tools::proc::put_grown;
use crate::{Line, fields};

/// A row: its table and words, and the counters that each measure is the sum of.
pub(in crate::tools) type Row = (
    &'static str,
    &'static [&'static str],
    &'static [(&'static str, &'static [&'static str])],
);

pub(in crate::tools) const ROWS: [Row; 7] = [
    (
        "tcp",
        &[],
        &[
            ("retransmits", &["Tcp RetransSegs"]),
            ("connects", &["Tcp ActiveOpens"]),
            ("accepts", &["Tcp PassiveOpens"]),
            ("connect_failures", &["Tcp AttemptFails"]),
            ("aborts", &["Tcp EstabResets"]),
            ("resets_sent", &["Tcp OutRsts"]),
            ("receive_errors", &["Tcp InErrs"]),
            ("timeouts", &["TcpExt TCPTimeouts"]),
            ("fast_retransmits", &["TcpExt TCPFastRetrans"]),
            ("lost_retransmits", &["TcpExt TCPLostRetransmit"]),
            ("dsacks", &["TcpExt TCPDSACKRecv", "TcpExt TCPDSACKOfoRecv"]),
            ("duplicates", &["TcpExt DelayedACKLost"]),
            ("out_of_order", &["TcpExt TCPOFOQueue"]),
            ("listen_overflows", &["TcpExt ListenOverflows"]),
            ("listen_drops", &["TcpExt ListenDrops"]),
            ("backlog_drops", &["TcpExt TCPBacklogDrop"]),
            ("zero_windows", &["TcpExt TCPToZeroWindowAdv"]),
            ("syn_cookies", &["TcpExt SyncookiesSent"]),
            ("established", &["Tcp CurrEstab"]),
        ],
    ),
    (
        "tcp_segments",
        &["receive"],
        &[("segments", &["Tcp InSegs"])],
    ),
    (
        "tcp_segments",
        &["transmit"],
        &[("segments", &["Tcp OutSegs"])],
    ),
    (
        "udp_datagrams",
        &["receive", "4"],
        &[("datagrams", &["Udp InDatagrams"])],
    ),
    (
        "udp_datagrams",
        &["transmit", "4"],
        &[("datagrams", &["Udp OutDatagrams"])],
    ),
    (
        "udp",
        &["4"],
        &[
            ("no_port", &["Udp NoPorts"]),
            ("receive_errors", &["Udp InErrors"]),
            ("receive_buffer_errors", &["Udp RcvbufErrors"]),
            ("send_buffer_errors", &["Udp SndbufErrors"]),
        ],
    ),
    (
        "ip_packets",
        &["receive", "4"],
        &[
            ("packets", &["Ip InReceives"]),
            ("bytes", &["IpExt InOctets"]),
        ],
    ),
];

/// How many there are now.
const LEVEL: &str = "Tcp CurrEstab";

/// Settings.
const SETTINGS: [&str; 6] = [
    "Ip DefaultTTL",
    "Ip Forwarding",
    "Tcp MaxConn",
    "Tcp RtoAlgorithm",
    "Tcp RtoMax",
    "Tcp RtoMin",
];

type Values = BTreeMap<String, f64>;

pub(in crate::tools) struct Protocols {
    names: HashMap<String, Vec<String>>,
    now: Values,
    before: Option<Values>,
    rows: Vec<(&'static Row, Shape)>,
}

impl Protocols {
    pub(in crate::tools) fn new() -> Protocols {
        let shape = |row: &'static Row| {
            let measures: Vec<&str> = row.2.iter().map(|(measure, _)| *measure).collect();
            (row, Shape::of(row.0, &measures))
        };
        Protocols {
            names: HashMap::new(),
            now: Values::new(),
            before: None,
            rows: ROWS.iter().map(shape).collect(),
        }
    }

    /// `Udp: InDatagrams NoPorts`, or the numbers below it.
    pub(in crate::tools) fn line(&mut self, line: &[u8]) -> Line {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        let mut words = text.split_whitespace();
        let protocol = words.next().and_then(|w| w.strip_suffix(':'));
        let (Some(protocol), words) = (protocol, words.collect::<Vec<_>>()) else {
            return Line::Unknown;
        };
        let named = |w: &&str| w.starts_with(|c: char| c.is_ascii_alphabetic());
        if !words.is_empty() && words.iter().all(named) {
            let names = words.iter().map(|name| format!("{protocol} {name}"));
            self.names.insert(protocol.to_owned(), names.collect());
            return Line::Noise;
        }
        let values: Option<Vec<f64>> = fields(line).skip(1).map(number).collect();
        match (self.names.remove(protocol), values) {
            (Some(names), Some(values)) if names.len() == values.len() => {
                self.now.extend(names.into_iter().zip(values));
                Line::Data
            }
            _ => Line::Unknown,
        }
    }

    pub(in crate::tools) fn finish_reading(&mut self, out: &mut Out) {
        self.names.clear();
        let now = std::mem::take(&mut self.now);
        if now.is_empty() {
            // Of the next reading the growth would be of more than an interval.
            self.before = self.before.take().map(|_| Values::new());
            return;
        }
        let first = self.before.is_none();
        let before = self.before.take().unwrap_or_default();
        let value = |name: &str| {
            let now = now.get(name).copied().unwrap_or(f64::NAN);
            if first || name == LEVEL {
                return now;
            }
            let grown = now - before.get(name).copied().unwrap_or(f64::NAN);
            // It was set to zero.
            if grown < 0.0 { f64::NAN } else { grown }
        };
        for (row, shape) in &self.rows {
            let (_, words, measures) = row;
            let sum = |(_, names): &(&str, &[&str])| names.iter().map(|name| value(name)).sum();
            let values: Vec<f64> = measures.iter().map(sum).collect();
            if values.iter().all(|v| v.is_nan()) {
                continue;
            }
            let words: Vec<run::Word> = words.iter().map(|w| out.word(w.as_bytes())).collect();
            put_grown(out, shape, &words, &values, first);
        }
        let taken = |name: &str| {
            let of = |row: &Row| row.2.iter().any(|(_, names)| names.contains(&name));
            ROWS.iter().any(of) || SETTINGS.contains(&name)
        };
        let none = out.word(b"");
        for name in now.keys().filter(|name| !taken(name)) {
            if first {
                out.other_total(name, "count", none, value(name));
            } else {
                out.other_grown(name, "count", none, value(name));
            }
        }
        self.before = Some(now);
    }
}
