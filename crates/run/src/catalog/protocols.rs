//! What is carried over networks: TCP, UDP, IP.

use super::{PLAIN, Stored, Subject};
use super::{dense, events, histogram, level, number, ratio, sparse, sum, word};
use crate::Unit::{Bytes, Count, Ratio, Seconds};

pub(super) const TCP: Subject = Subject {
    name: "tcp",
    help: "TCP, all connections of this network namespace.",
    measures: &[
        sum(
            "segments",
            Count,
            "Segments: sent ones without those sent again; received ones as joined on receipt \
             (GRO counts one), with those in error. Of a connection: as they came.",
        ),
        sum(
            "retransmits",
            Count,
            "Segments sent again, as the kernel counts them (RetransSegs): a large one as the \
             packets it becomes, steps of a handshake too. Of a connection: also those with which \
             it was made.",
        ),
        sum(
            "connects",
            Count,
            "Connections attempted from here; by whom or to where: those established.",
        ),
        sum("accepts", Count, "Connections established from elsewhere."),
        sum(
            "connect_failures",
            Count,
            "Connections that failed before they were established.",
        ),
        sum(
            "aborts",
            Count,
            "Established connections that ended at once: reset by either side, or timed out.",
        ),
        sum("resets_sent", Count, "Segments sent with the reset flag."),
        sum("receive_errors", Count, "Segments received in error."),
        sum("timeouts", Count, "Retransmission timers that ran out."),
        sum(
            "fast_retransmits",
            Count,
            "Segments sent again in fast recovery, before a timer ran out.",
        ),
        sum(
            "lost_retransmits",
            Count,
            "Segments sent again that were lost again.",
        ),
        sum(
            "dsacks",
            Count,
            "Reports from the other side of data it received twice (D-SACK), mostly because it \
             was sent again without need.",
        ),
        sum(
            "duplicates",
            Count,
            "Segments received with data that had been received in order before.",
        ),
        sum(
            "out_of_order",
            Count,
            "Segments received out of order and queued.",
        ),
        sum(
            "listen_overflows",
            Count,
            "Connection requests and last steps of handshakes dropped because the accept queue \
             was full.",
        ),
        sum(
            "listen_drops",
            Count,
            "Connection requests and last steps of handshakes dropped by a listening socket for \
             any reason, overflows included.",
        ),
        sum(
            "backlog_drops",
            Count,
            "Segments dropped because a socket's backlog was full.",
        ),
        sum(
            "memory_drops",
            Count,
            "Segments dropped for want of memory: in order, out of order, or from the kernel's \
             reserve (TCPRcvQDrop, TCPOFODrop, PFMemallocDrop).",
        ),
        sum(
            "zero_windows",
            Count,
            "Times the receive window had to be closed.",
        ),
        sum("syn_cookies", Count, "SYN cookies sent."),
        level(
            "established",
            Count,
            "Connections established or waiting to close.",
        ),
        sum(
            "bytes",
            Bytes,
            "Bytes of data acknowledged by the other side, or received, without headers.",
        ),
        sum("state_changes", Count, "Changes of a connection's state."),
        sum(
            "rtt_samples",
            Count,
            "Segments received with the connection's smoothed round-trip time at that moment.",
        ),
    ],
    dimensions: &[
        word("direction", "receive or transmit."),
        word("remote", "Address of the other side."),
        word("remote_port", "Port of the other side."),
        word("local_port", "Port of this side."),
        word(
            "process",
            "Process that connected, or first read from an accepted connection, as \
             name[pid@start].",
        ),
        word("command", "Name of the program of the connection."),
        word("cgroup", "Control group of the connection's process."),
        word(
            "state",
            "Change of state, as `SYN_SENT to ESTABLISHED`; retransmit: a segment sent again.",
        ),
        number(
            "connect_time",
            Seconds,
            "From the first step of connecting until established, for connections made from here.",
        ),
        number("rtt", Seconds, "Smoothed round-trip time."),
    ],
    tables: &[
        dense(
            "tcp",
            "ip",
            &[],
            &[
                "retransmits",
                "connects",
                "accepts",
                "connect_failures",
                "aborts",
                "resets_sent",
                "receive_errors",
                "timeouts",
                "fast_retransmits",
                "lost_retransmits",
                "dsacks",
                "duplicates",
                "out_of_order",
                "listen_overflows",
                "listen_drops",
                "backlog_drops",
                "memory_drops",
                "zero_windows",
                "syn_cookies",
                "established",
            ],
        ),
        dense("tcp_segments", "ip", &["direction"], &["segments"]),
        sparse(
            "tcp_connection",
            "bpf-tcp",
            &[
                "direction",
                "remote",
                "remote_port",
                "local_port",
                "process",
                "command",
                "cgroup",
            ],
            &["bytes", "segments", "retransmits"],
        ),
        sparse("tcp_state", "bpf-tcp", &["state"], &["state_changes"]),
        histogram(
            "tcp_connect_time",
            "bpf-tcp",
            &["remote", "remote_port", "connect_time"],
            &["connects"],
        ),
        histogram("tcp_rtt", "bpf-tcp", &["remote", "rtt"], &["rtt_samples"]),
        events(
            "tcp_event",
            "bpf-tcp",
            &[
                "remote",
                "remote_port",
                "local_port",
                "process",
                "command",
                "cgroup",
                "state",
                "connect_time",
                "rtt",
            ],
            &[
                ("state_changes", Stored::IfNot("state", "retransmit")),
                ("retransmits", Stored::If("state", "retransmit")),
                ("connects", Stored::If("state", "SYN_SENT to ESTABLISHED")),
                ("connect_failures", Stored::If("state", "SYN_SENT to CLOSE")),
            ],
            &[],
        ),
    ],
    derived: &[ratio(
        "retransmit_ratio",
        Ratio,
        "tcp.retransmits",
        &["tcp.segments"],
        "Segments sent again per segment sent.",
    )
    .without("direction", &["receive"])],
    ..PLAIN
};

pub(super) const UDP: Subject = Subject {
    name: "udp",
    help: "UDP, all sockets of this network namespace.",
    measures: &[
        sum(
            "datagrams",
            Count,
            "Datagrams sent, and datagrams received that a program has read.",
        ),
        sum(
            "no_port",
            Count,
            "Datagrams received for a port without a socket.",
        ),
        sum(
            "receive_errors",
            Count,
            "Datagrams received and not delivered, for any reason but no_port.",
        ),
        sum(
            "receive_buffer_errors",
            Count,
            "Datagrams lost because a receive buffer was full; receive_errors holds them too.",
        ),
        sum(
            "send_buffer_errors",
            Count,
            "Datagrams not sent because a send buffer was full.",
        ),
    ],
    dimensions: &[
        word("direction", "receive or transmit."),
        word("version", "Of the internet protocol: 4 or 6."),
    ],
    tables: &[
        dense(
            "udp_datagrams",
            "ip",
            &["direction", "version"],
            &["datagrams"],
        ),
        dense(
            "udp",
            "ip",
            &["version"],
            &[
                "no_port",
                "receive_errors",
                "receive_buffer_errors",
                "send_buffer_errors",
            ],
        ),
    ],
    ..PLAIN
};

pub(super) const IP: Subject = Subject {
    name: "ip",
    help: "IPv4 and IPv6, of this network namespace.",
    measures: &[
        sum(
            "packets",
            Count,
            "Packets received from below or handed down, forwarded ones in both; joined ones \
             (GRO, GSO) count once.",
        ),
        sum("bytes", Bytes, "Bytes of those packets, with IP headers."),
        sum("forwarded", Count, "Packets passed on."),
        sum(
            "receive_discards",
            Count,
            "Good packets dropped, for want of room for example.",
        ),
        sum(
            "send_discards",
            Count,
            "Packets not sent, for want of room for example.",
        ),
        sum(
            "no_route",
            Count,
            "Packets dropped, or refused to their sender, because no route led there.",
        ),
        sum(
            "reassembly_failures",
            Count,
            "Failures to put fragments together.",
        ),
        sum("fragments", Count, "Fragments made."),
    ],
    dimensions: &[
        word("direction", "receive or transmit."),
        word("version", "Of the internet protocol: 4 or 6."),
    ],
    tables: &[
        dense(
            "ip_packets",
            "ip",
            &["direction", "version"],
            &["packets", "bytes"],
        ),
        dense(
            "ip",
            "ip",
            &["version"],
            &[
                "forwarded",
                "receive_discards",
                "send_discards",
                "no_route",
                "reassembly_failures",
                "fragments",
            ],
        ),
    ],
    ..PLAIN
};
