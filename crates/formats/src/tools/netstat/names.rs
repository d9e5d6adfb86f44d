//! What the counters of `netstat -s` are called, and where they belong in the catalog.

/// Sections by which the output is known.
pub(super) const SECTIONS: [&str; 9] = [
    "ip", "icmp", "tcp", "udp", "ip6", "tcpext", "ipext", "igmp", "arp",
];

/// A row of the catalog: its words, and for each measure what the counter is called by the
/// systems. ` + ` and ` - ` stand between counters that are added and taken away.
pub(super) struct Row {
    pub(super) table: &'static str,
    pub(super) words: &'static [&'static str],
    pub(super) cells: &'static [(&'static str, &'static [&'static str])],
}

/// Counters of Solaris are named as in RFC 4022 and its like; sentences begin with their
/// section. Order: Solaris, Linux, AIX and BSD.
pub(super) const ROWS: &[Row] = &[
    Row {
        table: "tcp",
        words: &[],
        cells: &[
            (
                "retransmits",
                &[
                    "tcpRetransSegs",
                    "tcp segments retransmitted",
                    "tcp segments retransmited",
                    "tcp packets sent/data packets retransmitted",
                ],
            ),
            (
                "connects",
                &[
                    "tcpActiveOpens",
                    "tcp active connection openings",
                    "tcp active connections openings",
                    "tcp connection requests",
                ],
            ),
            (
                "accepts",
                &[
                    "tcpPassiveOpens",
                    "tcp passive connection openings",
                    "tcp connection accepts",
                ],
            ),
            (
                "connect_failures",
                &[
                    "tcpAttemptFails",
                    "tcp failed connection attempts",
                    "tcp embryonic connections dropped",
                ],
            ),
            (
                "aborts",
                &["tcpEstabResets", "tcp connection resets received"],
            ),
            ("resets_sent", &["tcpOutRsts", "tcp resets sent"]),
            (
                "receive_errors",
                &[
                    "tcpInErrs",
                    "tcp bad segments received",
                    "tcp bad segments received.",
                ],
            ),
            (
                "timeouts",
                &[
                    "tcpTimRetrans",
                    "tcpext TCPTimeouts",
                    "tcpext other TCP timeouts",
                    "tcp retransmit timeouts",
                ],
            ),
            (
                "fast_retransmits",
                &["tcpext fast retransmits", "tcp fast retransmits"],
            ),
            ("lost_retransmits", &["tcpext TCPLostRetransmit"]),
            ("dsacks", &["tcpext TCPDSACKRecv", "tcpext DSACKs received"]),
            (
                "duplicates",
                &[
                    "tcpInDupSegs",
                    "tcp packets received/completely duplicate packets",
                ],
            ),
            (
                "out_of_order",
                &[
                    "tcpInUnorderSegs",
                    "tcpext TCPOFOQueue",
                    "tcp packets received/out-of-order packets",
                ],
            ),
            (
                "listen_overflows",
                &[
                    "tcpListenDrop",
                    "tcpext times the listen queue of a socket overflowed",
                    "tcp packets received/discarded due to listener's queue full",
                    "tcp listen queue overflows",
                ],
            ),
            (
                "listen_drops",
                &[
                    "tcpext SYNs to LISTEN sockets dropped",
                    "tcpext SYNs to LISTEN sockets ignored",
                ],
            ),
            ("backlog_drops", &["tcpext TCPBacklogDrop"]),
            ("syn_cookies", &["tcpext SYN cookies sent"]),
            (
                "established",
                &["tcpCurrEstab", "tcp connections established"],
            ),
        ],
    },
    Row {
        table: "tcp_segments",
        words: &["receive"],
        cells: &[(
            "segments",
            &["tcpInSegs", "tcp segments received", "tcp packets received"],
        )],
    },
    Row {
        table: "tcp_segments",
        words: &["transmit"],
        cells: &[(
            "segments",
            &[
                "tcpOutSegs",
                "tcp segments sent out",
                "tcp segments send out",
                "tcp packets sent - tcp packets sent/data packets retransmitted",
            ],
        )],
    },
    Row {
        table: "udp_datagrams",
        words: &["receive", "(all)"],
        cells: &[(
            "datagrams",
            &["udpInDatagrams", "udp packets received", "udp delivered"],
        )],
    },
    Row {
        table: "udp_datagrams",
        words: &["transmit", "(all)"],
        cells: &[(
            "datagrams",
            &[
                "udpOutDatagrams",
                "udp packets sent",
                "udp datagrams output",
            ],
        )],
    },
    Row {
        table: "udp",
        words: &["(all)"],
        cells: &[
            (
                "no_port",
                &[
                    "udpNoPorts",
                    "udp packets to unknown port received",
                    "udp packets to unknown port received.",
                    "udp dropped due to no socket",
                ],
            ),
            (
                "receive_errors",
                &["udpInErrors", "udp packet receive errors"],
            ),
            (
                "receive_buffer_errors",
                &[
                    "udpInOverflows",
                    "udp receive buffer errors",
                    "udp socket buffer overflows",
                    "udp dropped due to full socket buffers",
                ],
            ),
            ("send_buffer_errors", &["udp send buffer errors"]),
        ],
    },
    Row {
        table: "ip_packets",
        words: &["receive", "4"],
        cells: &[
            ("packets", &["ipInReceives", "ip total packets received"]),
            ("bytes", &["ipext InOctets"]),
        ],
    },
    Row {
        table: "ip_packets",
        words: &["transmit", "4"],
        cells: &[
            (
                "packets",
                &[
                    "ipOutRequests + ipForwDatagrams",
                    "ip requests sent out + ip forwarded",
                    "ip packets sent from this host + ip packets forwarded",
                ],
            ),
            ("bytes", &["ipext OutOctets"]),
        ],
    },
    Row {
        table: "ip",
        words: &["4"],
        cells: &[
            (
                "forwarded",
                &["ipForwDatagrams", "ip forwarded", "ip packets forwarded"],
            ),
            (
                "receive_discards",
                &["ipInDiscards", "ip incoming packets discarded"],
            ),
            (
                "send_discards",
                &[
                    "ipOutDiscards",
                    "ip outgoing packets dropped",
                    "ip output packets dropped due to no bufs, etc.",
                ],
            ),
            (
                "no_route",
                &[
                    "ipOutNoRoutes",
                    "ip dropped because of missing route",
                    "ip output packets discarded due to no route",
                ],
            ),
            (
                "reassembly_failures",
                &[
                    "ipReasmFails",
                    "ip packet reassembles failed",
                    "ip packet reassemblies failed",
                ],
            ),
            ("fragments", &["ipFragCreates", "ip fragments created"]),
        ],
    },
    Row {
        table: "ip_packets",
        words: &["receive", "6"],
        cells: &[(
            "packets",
            &[
                "ipv6InReceives",
                "ip6 total packets received",
                "ipv6 total packets received",
            ],
        )],
    },
    Row {
        table: "ip_packets",
        words: &["transmit", "6"],
        cells: &[(
            "packets",
            &[
                "ipv6OutRequests + ipv6OutForwDatagrams",
                "ip6 packets sent from this host + ip6 packets forwarded",
                "ipv6 packets sent from this host + ipv6 packets forwarded",
            ],
        )],
    },
    Row {
        table: "ip",
        words: &["6"],
        cells: &[
            (
                "forwarded",
                &[
                    "ipv6OutForwDatagrams",
                    "ip6 packets forwarded",
                    "ipv6 packets forwarded",
                ],
            ),
            ("receive_discards", &["ipv6InDiscards"]),
            ("send_discards", &["ipv6OutDiscards"]),
            ("no_route", &["ipv6OutNoRoutes"]),
            ("reassembly_failures", &["ipv6ReasmFails"]),
            (
                "fragments",
                &[
                    "ipv6OutFragCreates",
                    "ip6 fragments created",
                    "ipv6 fragments created",
                ],
            ),
        ],
    },
];

/// What is no count of what happened: a setting, or how many there are now.
const LEVELS: [&str; 12] = [
    "tcpCurrEstab",
    "tcp connections established",
    "tcpRtoAlgorithm",
    "tcpRtoMin",
    "tcpRtoMax",
    "tcpMaxConn",
    "ipForwarding",
    "ipDefaultTTL",
    "ipReasmTimeout",
    "ipv6Forwarding",
    "ipv6DefaultHopLimit",
    "ip Forwarding",
];

pub(super) fn is_level(name: &str) -> bool {
    LEVELS.contains(&name)
}

/// Whether `tcp connections established` are all since boot, as of AIX and BSD, not those there
/// are now, as of Linux.
pub(super) fn counts_ever(values: &[(String, f64, f64)]) -> bool {
    values
        .iter()
        .any(|(n, _, _)| n == "tcp connection requests")
}

/// The growth of the first of those counters that is there (of levels the value); NaN if none
/// is. It is marked as taken.
pub(super) fn value<'a>(
    alternatives: &[&'static str],
    values: &'a [(String, f64, f64)],
    taken: &mut std::collections::HashSet<&'a str>,
) -> f64 {
    let of = |name: &str| values.iter().find(|(n, _, _)| n == name);
    let counts_all = counts_ever(values);
    for alternative in alternatives {
        let mut sum = 0.0;
        let mut sign = 1.0;
        let mut found = Vec::new();
        for (i, part) in alternative
            .split_inclusive(" + ")
            .flat_map(|p| p.split_inclusive(" - "))
            .enumerate()
        {
            let name = part.trim_end_matches([' ', '+', '-']);
            match of(name) {
                Some((name, now, came)) => {
                    sum += sign * if is_level(name) { *now } else { *came };
                    found.push(name.as_str());
                }
                // Some do not print what is zero.
                None if i > 0 => {}
                None => break,
            }
            sign = if part.ends_with(" - ") { -1.0 } else { 1.0 };
        }
        if found.is_empty() || (counts_all && *alternative == "tcp connections established") {
            continue;
        }
        taken.extend(found);
        return sum;
    }
    f64::NAN
}
