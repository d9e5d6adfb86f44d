//! Networks: segments, and TCP's losses.

use super::script::{Cases, Fires, Script, Silent, whole};

const OFFLOAD: &[(&str, &str)] = &[
    ("net/eth0/offloads/tx-tcp-segmentation", "true"),
    ("net/eth0/mtu_bytes", "1500"),
];

const NO_OFFLOAD: &[(&str, &str)] = &[
    ("net/eth0/offloads/tx-tcp-segmentation", "false"),
    ("net/eth0/mtu_bytes", "1500"),
];

/// Ten seconds of segments sent, most by their process.
fn sent(s: &mut Script, number: f64, size: f64) {
    for n in 1..=10 {
        s.at(f64::from(n), 1.0);
        for (context, share) in [("process", 0.75), ("softirq", 0.25)] {
            let segments = number * share;
            let words = ["eth0", "edge", "transmit", context, "driver"];
            s.row(
                "net_size",
                &words,
                &[whole(size), segments, segments * size],
            );
        }
    }
}

pub(crate) const SMALL_SEGMENTS: Cases = Cases {
    name: "small-segments",
    fires: &[Fires {
        what: "1 KiB at a time",
        settings: OFFLOAD,
        script: |s| sent(s, 50_000.0, 1090.0),
        says: &[
            "50.0k segments a second left eth0, 1.06 KiB each on average, although its \
             segmentation offload is on",
            "less than 1.08 KiB (MTU 1.46 KiB).",
            "75.0 % of them were handed over by the writing process itself.",
        ],
        time: (0.0, 10.0),
        expression: "net.segments by size, context where interface = eth0 and direction = transmit",
    }],
    silent: &[
        Silent {
            what: "offload is off",
            settings: NO_OFFLOAD,
            script: |s| sent(s, 50_000.0, 1090.0),
        },
        Silent {
            what: "large segments",
            settings: OFFLOAD,
            script: |s| sent(s, 50_000.0, 30_000.0),
        },
        Silent {
            what: "few",
            settings: OFFLOAD,
            script: |s| sent(s, 15_000.0, 1090.0),
        },
        Silent {
            what: "bare acknowledgements",
            settings: OFFLOAD,
            script: |s| sent(s, 50_000.0, 66.0),
        },
    ],
};

/// Seconds of TCP: sent, sent again, received, out of order.
fn tcp(s: &mut Script, seconds: i32, of: impl Fn(i32) -> [f64; 4]) {
    for n in 1..=seconds {
        s.at(f64::from(n), 1.0);
        let [sent, again, received, disorder] = of(n);
        s.row("tcp_segments", &["transmit"], &[sent]);
        s.row("tcp_segments", &["receive"], &[received]);
        let mut values = [0.0; 20];
        values[0] = again;
        values[7] = again / 10.0;
        values[10] = 1.0;
        values[12] = disorder;
        s.row("tcp", &[], &values);
    }
}

pub(crate) const RETRANSMITS: Cases = Cases {
    name: "retransmits",
    fires: &[
        Fires {
            what: "2 % are sent again for a while",
            settings: &[],
            script: |s| {
                tcp(s, 30, |n| {
                    let again = if (11..=20).contains(&n) { 200.0 } else { 1.0 };
                    [10_000.0, again, 10_000.0, 0.0]
                });
            },
            says: &[
                "2.00k segments were sent again, 2.00 % of the 100k sent, with 200 timeouts; \
                     the other side told of 10 that it had already.",
            ],
            time: (10.0, 20.0),
            expression: "tcp.retransmits where time in 10s..20s",
        },
        Fires {
            what: "most to one host",
            settings: &[],
            script: |s| {
                for n in 1..=10 {
                    s.at(f64::from(n), 1.0);
                    s.row("tcp_segments", &["transmit"], &[1000.0]);
                    let mut values = [0.0; 20];
                    values[0] = 40.0;
                    s.row("tcp", &[], &values);
                    for (remote, again) in [("10.0.0.7", 30.0), ("10.0.0.8", 10.0)] {
                        let words = ["transmit", remote, "80", "4000", "p[1@1]", "p", "/"];
                        s.row("tcp_connection", &words, &[1e6, 500.0, again]);
                    }
                }
            },
            says: &[
                "4.00 % of the 10.0k sent",
                "75.0 % of them went to 10.0.0.7.",
            ],
            time: (0.0, 10.0),
            expression: "tcp.retransmits by remote, remote_port",
        },
        Fires {
            what: "most to many that have no name",
            settings: &[],
            script: |s| {
                for n in 1..=10 {
                    s.at(f64::from(n), 1.0);
                    s.row("tcp_segments", &["transmit"], &[1000.0]);
                    let mut values = [0.0; 20];
                    values[0] = 40.0;
                    s.row("tcp", &[], &values);
                    let other = ["transmit", "(other)", "(other)", "(other)"];
                    let other = [&other[..], &["(other)"; 3]].concat();
                    s.row("tcp_connection", &other, &[9e6, 900.0, 36.0]);
                    let named = ["transmit", "10.0.0.7", "80", "4000", "p[1@1]", "p", "/"];
                    s.row("tcp_connection", &named, &[1e6, 100.0, 4.0]);
                }
            },
            says: &["400 segments were sent again, 4.00 % of the 10.0k sent"],
            time: (0.0, 10.0),
            expression: "tcp.retransmits",
        },
        Fires {
            what: "out of order",
            settings: &[],
            script: |s| tcp(s, 10, |_| [10_000.0, 0.0, 1000.0, 80.0]),
            says: &["800 segments came out of order, 8.00 % of the 10.0k received."],
            time: (0.0, 10.0),
            expression: "tcp.out_of_order",
        },
    ],
    silent: &[
        Silent {
            what: "just below 1 %, and disorder just below 5 %",
            settings: &[],
            script: |s| tcp(s, 30, |_| [10_000.0, 95.0, 10_000.0, 480.0]),
        },
        Silent {
            what: "a few of few: a server that does not answer",
            settings: &[],
            script: |s| tcp(s, 30, |_| [3.0, 2.0, 1.0, 1.0]),
        },
    ],
};
