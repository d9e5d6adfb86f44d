//! Networks: interfaces, and the receive path of the kernel.

use super::{PLAIN, Stored, Subject, UnlessNamed};
use super::{dense, events, histogram, number, ratio, sum, word};
use crate::Unit::{Bytes, Count, Ratio};

pub(super) const NET: Subject = Subject {
    name: "net",
    help: "Network interfaces. Counts links that leave the machine; name an interface or a \
           layer to see the others.",
    measures: &[
        sum("bytes", Bytes, "Bytes, as the driver counts them."),
        sum("packets", Count, "Packets, as the driver counts them."),
        sum("errors", Count, "Packets with an error."),
        sum(
            "drops",
            Count,
            "Packets dropped by the kernel, or by the hardware for want of room.",
        ),
        sum(
            "overruns",
            Count,
            "Packets lost because a hardware queue was full.",
        ),
        sum("multicast", Count, "Multicast packets received."),
        sum("collisions", Count, "Collisions while transmitting."),
        sum(
            "capacity",
            Bytes,
            "Bytes the link could have carried at its speed; of hardware only, where it tells.",
        ),
        sum(
            "segments",
            Count,
            "Segments handed to the driver, or taken from it after joining (GRO). With offload \
             one stands for several packets.",
        ),
    ],
    dimensions: &[
        word("interface", "Name of the interface."),
        word(
            "layer",
            "edge (leaves the machine or the container), virtual (bridge, bond, veth, vlan, \
             tunnel: what an edge counts too, or what stays inside), loopback; of other tools \
             also total: all together beside the single ones.",
        ),
        word("direction", "receive or transmit."),
        word(
            "context",
            "Who did the work: process (in a system call), softirq (whoever was interrupted), \
             ksoftirqd.",
        ),
        word(
            "stage",
            "driver: handed to the driver or taken from it; queue: before the queueing \
             discipline.",
        ),
        word(
            "process",
            "Process that ran, as name[pid@start]; not known in a soft interrupt, which takes the time of \
             whoever is there.",
        ),
        word("command", "Name of the program that ran."),
        word("cgroup", "Control group of the process that ran."),
        number("size", Bytes, "Size of the segment, with its headers."),
        number(
            "packets_per_segment",
            Count,
            "Packets that the segment becomes, or was joined from.",
        ),
    ],
    tables: &[
        dense(
            "net",
            "net",
            &["interface", "layer", "direction"],
            &[
                "bytes",
                "packets",
                "errors",
                "drops",
                "overruns",
                "multicast",
                "collisions",
                "capacity",
            ],
        ),
        histogram(
            "net_size",
            "bpf-net",
            &[
                "interface",
                "layer",
                "direction",
                "context",
                "stage",
                "size",
            ],
            &["segments", "bytes"],
        ),
        histogram(
            "net_packets",
            "bpf-net",
            &[
                "interface",
                "layer",
                "direction",
                "context",
                "stage",
                "packets_per_segment",
            ],
            &["segments", "bytes"],
        ),
        events(
            "net_event",
            "bpf-net",
            &[
                "interface",
                "layer",
                "direction",
                "context",
                "stage",
                "process",
                "command",
                "cgroup",
                "size",
                "packets_per_segment",
            ],
            &[
                ("segments", Stored::One),
                ("bytes", Stored::Dimension("size")),
            ],
            &[],
        ),
    ],
    derived: &[
        ratio(
            "mean_packet",
            Bytes,
            "net.bytes",
            &["net.packets"],
            "Bytes per packet.",
        ),
        ratio(
            "mean_segment",
            Bytes,
            "net.bytes",
            &["net.segments"],
            "Bytes per segment.",
        ),
        ratio(
            "utilisation",
            Ratio,
            "net.bytes",
            &["net.capacity"],
            "Share of the link's speed in use, per direction where split by it.",
        )
        .of_whole(),
    ],
    unless_named: &[
        UnlessNamed {
            dimensions: &["interface", "layer"],
            dimension: "layer",
            value: "edge",
        },
        UnlessNamed {
            dimensions: &["stage"],
            dimension: "stage",
            value: "driver",
        },
    ],
    ..PLAIN
};

pub(super) const SOFTNET: Subject = Subject {
    name: "softnet",
    help: "The kernel's receive path, per processor.",
    measures: &[
        sum(
            "packets",
            Count,
            "Packets handed to the protocols, after GRO; once more for each device they pass \
             up through, as a vlan.",
        ),
        sum(
            "drops",
            Count,
            "Packets dropped because the backlog was full, or by the flow limit.",
        ),
        sum(
            "squeezes",
            Count,
            "Times work was left over when the budget or the time ran out.",
        ),
        sum(
            "steered",
            Count,
            "Wake-ups from another processor to take packets (RPS).",
        ),
        sum("flow_limited", Count, "Packets dropped by the flow limit."),
    ],
    dimensions: &[word("cpu", "Number of the logical processor.")],
    tables: &[dense(
        "softnet",
        "softnet",
        &["cpu"],
        &["packets", "drops", "squeezes", "steered", "flow_limited"],
    )],
    ..PLAIN
};
