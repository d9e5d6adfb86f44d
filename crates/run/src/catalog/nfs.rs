//! NFS, client and server.

use super::{
    PLAIN, Stored, Subject, UnlessNamed, dense, events, histogram, level, number, ratio, sparse,
    sum, word,
};
use crate::Unit::{Bytes, Count, Seconds};

pub(super) const NFS: Subject = Subject {
    name: "nfs",
    help: "NFS client, per mount and operation; `where side = server` asks for `nfsd`.",
    measures: &[
        sum("ops", Count, "Operations completed."),
        sum(
            "transmissions",
            Count,
            "Requests sent, first ones and retransmissions.",
        ),
        sum("timeouts", Count, "Requests that ran into a major timeout."),
        sum("errors", Count, "Operations that ended with an error."),
        sum("sent", Bytes, "Bytes sent, RPC headers included."),
        sum("received", Bytes, "Bytes received, RPC headers included."),
        sum("queue_time", Seconds, "Time waiting to be sent."),
        sum(
            "round_trip_time",
            Seconds,
            "Time from sending to the reply.",
        ),
        sum(
            "time",
            Seconds,
            "Time from the request to its end, queueing included.",
        ),
        sum(
            "bytes",
            Bytes,
            "Bytes of file content, as programs or as the server saw them; by file or latency, as \
             the server did.",
        ),
        sum("sends", Count, "Requests handed to the connections."),
        sum("replies", Count, "Replies that came in."),
        sum(
            "bad_xids",
            Count,
            "Replies that belong to no request under way.",
        ),
        sum("connects", Count, "Connections made to the server."),
        sum(
            "backlog",
            Count,
            "Requests waiting for a slot, counted and added up at each send.",
        ),
    ],
    dimensions: &[
        word("mount", "Where it is mounted."),
        word("op", "NFS operation: READ, WRITE, GETATTR."),
        word(
            "access",
            "read, write; by programs also direct_read, direct_write (O_DIRECT).",
        ),
        word(
            "layer",
            "program: what programs asked for; server: what READ and WRITE moved.",
        ),
        word("server", "Name or address of the server."),
        word(
            "file",
            "Path of the file that was read, written or committed; (none): of other operations.",
        ),
        number(
            "latency",
            Seconds,
            "Time of the operation from the request to its end, queueing included.",
        ),
        number("round_trip", Seconds, "Its time from sending to the reply."),
        number("queue", Seconds, "Its time waiting to be sent."),
        number("size", Bytes, "Bytes that it read or wrote."),
    ],
    tables: &[
        sparse(
            "nfs",
            "nfs",
            &["mount", "op"],
            &[
                "ops",
                "transmissions",
                "timeouts",
                "errors",
                "sent",
                "received",
                "queue_time",
                "round_trip_time",
                "time",
            ],
        ),
        dense(
            "nfs_bytes",
            "nfs",
            &["mount", "access", "layer"],
            &["bytes"],
        ),
        dense(
            "nfs_transport",
            "nfs",
            &["server"],
            &["sends", "replies", "bad_xids", "connects", "backlog"],
        ),
        sparse(
            "nfs_file",
            "bpf-nfs-client",
            &["op", "server", "file"],
            &["ops", "bytes", "time"],
        ),
        histogram(
            "nfs_latency",
            "bpf-nfs-client",
            &["op", "latency"],
            &["ops", "bytes"],
        ),
        events(
            "nfs_event",
            "bpf-nfs-client",
            &[
                "op",
                "server",
                "file",
                "latency",
                "round_trip",
                "queue",
                "size",
            ],
            &[
                ("ops", Stored::One),
                ("bytes", Stored::Dimension("size")),
                ("time", Stored::Dimension("latency")),
                ("round_trip_time", Stored::Dimension("round_trip")),
                ("queue_time", Stored::Dimension("queue")),
            ],
            &[],
        ),
    ],
    derived: &[
        ratio(
            "mean_latency",
            Seconds,
            "nfs.time",
            &["nfs.ops"],
            "Mean time of an operation.",
        ),
        ratio(
            "mean_round_trip",
            Seconds,
            "nfs.round_trip_time",
            &["nfs.ops"],
            "Mean time from sending to the reply.",
        ),
        ratio(
            "mean_queue_time",
            Seconds,
            "nfs.queue_time",
            &["nfs.ops"],
            "Mean time of an operation before it was sent.",
        ),
        ratio(
            "transmissions_per_op",
            Count,
            "nfs.transmissions",
            &["nfs.ops"],
            "Transmissions per operation; above 1, requests were sent again.",
        ),
        ratio(
            "mean_backlog",
            Count,
            "nfs.backlog",
            &["nfs.sends"],
            "Mean number of requests that waited for a slot when another was sent.",
        ),
    ],
    unless_named: &[UnlessNamed {
        dimensions: &["layer"],
        dimension: "layer",
        value: "program",
    }],
    ..PLAIN
};

pub(super) const NFSD: Subject = Subject {
    name: "nfsd",
    help: "NFS server.",
    measures: &[
        sum(
            "ops",
            Count,
            "Operations served; of version 4 those inside compounds, not the compounds.",
        ),
        sum("bytes", Bytes, "Bytes read from and written to files."),
        sum(
            "time",
            Seconds,
            "Time of operations in the server: of version 4 each from the end of the one before.",
        ),
        sum(
            "packets",
            Count,
            "Requests received, as the kernel's network counter has them.",
        ),
        sum("rpc_errors", Count, "Requests that were not valid RPC."),
        sum("connections", Count, "TCP connections accepted."),
        sum(
            "cache_hits",
            Count,
            "Retransmitted requests answered from the reply cache.",
        ),
        level("threads", Count, "Server threads."),
        sum(
            "pool_packets",
            Count,
            "Packets that arrived for a pool of threads.",
        ),
        sum(
            "pool_queued",
            Count,
            "Times a transport was queued for a thread; newer kernels queue every arrival.",
        ),
        sum("pool_woken", Count, "Threads woken for work."),
    ],
    dimensions: &[
        word(
            "op",
            "Operation with its protocol version: v3 READ, v4 GETATTR.",
        ),
        word("direction", "read or write."),
        word("pool", "Number of the thread pool."),
        word("client", "Address of the client."),
        word(
            "file",
            "Path on the server of what the operation looked at last; (none): at nothing.",
        ),
        number(
            "latency",
            Seconds,
            "Time of the operation in the server, from the request's arrival or the end of the \
             operation before it.",
        ),
        number("size", Bytes, "Bytes that it read or wrote."),
    ],
    tables: &[
        sparse("nfsd_ops", "nfsd", &["op"], &["ops"]),
        dense("nfsd_bytes", "nfsd", &["direction"], &["bytes"]),
        dense(
            "nfsd",
            "nfsd",
            &[],
            &[
                "packets",
                "rpc_errors",
                "connections",
                "cache_hits",
                "threads",
            ],
        ),
        dense(
            "nfsd_pool",
            "nfsd",
            &["pool"],
            &["pool_packets", "pool_queued", "pool_woken"],
        ),
        sparse(
            "nfsd_file",
            "bpf-nfs",
            &["op", "client", "file"],
            &["ops", "bytes", "time"],
        ),
        histogram(
            "nfsd_latency",
            "bpf-nfs",
            &["op", "latency"],
            &["ops", "bytes"],
        ),
        events(
            "nfsd_event",
            "bpf-nfs",
            &["op", "client", "file", "latency", "size"],
            &[
                ("ops", Stored::One),
                ("bytes", Stored::Dimension("size")),
                ("time", Stored::Dimension("latency")),
            ],
            &[],
        ),
    ],
    derived: &[
        ratio(
            "mean_latency",
            Seconds,
            "nfsd.time",
            &["nfsd.ops"],
            "Mean time of an operation in the server.",
        ),
        ratio(
            "mean_size",
            Bytes,
            "nfsd.bytes",
            &["nfsd.ops"],
            "Mean size of an operation.",
        ),
    ],
    ..PLAIN
};
