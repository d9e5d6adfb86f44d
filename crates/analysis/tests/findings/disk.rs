//! Disks: bubbles, full queues, seeks.

use super::script::{Cases, Fires, Script, Silent, bucket, whole};

const NONE: &[(&str, &str)] = &[
    ("block/sda/scheduler", "none"),
    ("block/sda/nr_requests", "64"),
    ("block/sda/queue_depth", "32"),
    ("block/sda/rotational", "true"),
    ("block/sda/size_bytes", "1000000000000"),
];

const DEADLINE: &[(&str, &str)] = &[
    ("block/sda/scheduler", "mq-deadline"),
    ("block/sda/nr_requests", "256"),
    ("block/sda/queue_depth", "32"),
];

const READ: [&str; 3] = ["sda", "disk", "read"];

/// A second of reads: most of 1 ms, and `far` that took `waited` seconds, in the queue or in
/// the device.
fn reads(s: &mut Script, most: f64, far: f64, waited: f64, queued: bool) {
    let mut add = |table: &str, value: f64, ios: f64| {
        if ios > 0.0 {
            s.row(table, &READ, &[bucket(value), ios, ios * 4096.0]);
        }
    };
    add("disk_latency", 0.001, most);
    add("disk_latency", waited, far);
    let (queue, service) = if queued {
        (waited, 0.001)
    } else {
        (0.0, waited)
    };
    add("disk_queue_time", 0.0, most);
    add("disk_queue_time", queue, far);
    add("disk_service_time", 0.001, most);
    add("disk_service_time", service, far);
}

pub(crate) const LATENCY_BUBBLE: Cases = Cases {
    name: "latency-bubble",
    fires: &[
        Fires {
            what: "a few reads starve in the queue",
            settings: DEADLINE,
            script: |s| {
                for n in 1..=60 {
                    s.at(f64::from(n), 1.0);
                    let far = if (21..=24).contains(&n) { 2.0 } else { 0.0 };
                    reads(s, 1000.0, far, 0.5, true);
                }
            },
            says: &[
                "8 of 60.0k reads of sda took 40.0 ms or more (up to ",
                "99.0 % took less than 1.0",
                "in the scheduler's queue, not in the device: 8 were longer than 20.0 ms in the \
                 queue, 0 in the device",
                "sda has scheduler mq-deadline, nr_requests 256, queue_depth 32.",
            ],
            time: (20.0, 24.0),
            expression: "disk.ios by latency where device = sda and op = read and time in 20s..24s",
        },
        Fires {
            what: "a device that is slow now and then, in intervals of 10 ms",
            settings: &[],
            script: |s| {
                s.manifest.every_seconds = 0.01;
                for n in 1..=1000 {
                    s.at(f64::from(n) * 0.01, 0.01);
                    let far = if n % 100 == 0 { 1.0 } else { 0.0 };
                    reads(s, 50.0, far, 0.2, false);
                }
            },
            says: &[
                "10 of 50.0k reads of sda",
                "in the device, not in the scheduler's queue",
            ],
            time: (0.8, 10.0),
            expression: "disk.ios by latency where device = sda and op = read",
        },
    ],
    silent: &[
        Silent {
            what: "a tail that is not far from the others",
            settings: DEADLINE,
            script: |s| {
                for n in 1..=60 {
                    s.at(f64::from(n), 1.0);
                    reads(s, 1000.0, 2.0, 0.009, true);
                }
            },
        },
        Silent {
            what: "far from the others, and yet short: a driver that waited for a processor",
            settings: DEADLINE,
            script: |s| {
                for n in 1..=60 {
                    s.at(f64::from(n), 1.0);
                    reads(s, 1000.0, 2.0, 0.035, false);
                }
            },
        },
        Silent {
            what: "one late read",
            settings: DEADLINE,
            script: |s| {
                for n in 1..=60 {
                    s.at(f64::from(n), 1.0);
                    reads(s, 1000.0, if n == 30 { 1.0 } else { 0.0 }, 3.0, true);
                }
            },
        },
        Silent {
            what: "a device that stands still",
            settings: DEADLINE,
            script: |s| {
                for n in 1..=60 {
                    s.at(f64::from(n), 1.0);
                    let stands = (30..=34).contains(&n);
                    let most = if stands { 20.0 } else { 1000.0 };
                    reads(s, most, if n == 34 { 30.0 } else { 0.0 }, 4.5, false);
                }
            },
        },
        Silent {
            what: "a stall told in intervals of 10 ms, with a burst at its end",
            settings: DEADLINE,
            script: |s| {
                s.manifest.every_seconds = 0.01;
                for n in 1..=1000 {
                    s.at(f64::from(n) * 0.01, 0.01);
                    match n {
                        480..500 => {}
                        500 => reads(s, 60.0, 4.0, 0.2, false),
                        _ => reads(s, 50.0, 0.0, 0.2, false),
                    }
                }
            },
        },
        Silent {
            what: "too few to know a tail",
            settings: DEADLINE,
            script: |s| {
                for n in 1..=60 {
                    s.at(f64::from(n), 1.0);
                    reads(s, 15.0, if n % 10 == 0 { 1.0 } else { 0.0 }, 0.5, true);
                }
            },
        },
    ],
};

/// A second: so much of it at 32 I/Os, the rest at 2; I/Os waited and were served for so long.
fn depth(s: &mut Script, full: f64, queue: f64, service: f64) {
    if full > 0.0 {
        s.row("disk_at_depth", &["sda", "disk"], &[whole(32.0), full]);
    }
    s.row("disk_at_depth", &["sda", "disk"], &[whole(2.0), 1.0 - full]);
    s.row("disk_at_depth", &["sda", "disk"], &[0.0, 1.0]);
    s.row(
        "disk_io",
        &READ,
        &[1000.0, queue, service, 0.0, 0.0, queue + service],
    );
    s.row("disk", &READ, &[1000.0, 4e6, 0.0, queue + service, 0.0]);
}

pub(crate) const QUEUE_FULL: Cases = Cases {
    name: "queue-full",
    fires: &[
        Fires {
            what: "the device's queue is full and the scheduler holds the rest",
            settings: DEADLINE,
            script: |s| {
                for n in 1..=10 {
                    s.at(f64::from(n), 1.0);
                    depth(s, 0.75, 10.0, 30.0);
                }
            },
            says: &[
                "sda had 31 to 32 I/Os under way, its queue_depth, for 75.0 % of the time it had any.",
                "I/Os waited 10.0 ms each before they were issued, 25.0 % of their time.",
            ],
            time: (0.0, 10.0),
            expression: "disk.at_depth by depth where device = sda",
        },
        Fires {
            what: "a limit that no setting tells, for half of the run",
            settings: &[("block/sda/scheduler", "mq-deadline")],
            script: |s| {
                for n in 1..=20 {
                    s.at(f64::from(n), 1.0);
                    if n <= 10 {
                        depth(s, 0.9, 10.0, 30.0);
                    }
                }
            },
            says: &["sda had 31 to 32 I/Os under way, and hardly ever more, for 90.0 %"],
            time: (0.0, 10.0),
            expression: "disk.at_depth by depth where device = sda and time in 0s..10s",
        },
        Fires {
            what: "no scheduler, where waiting is not seen",
            settings: NONE,
            script: |s| {
                for n in 1..=10 {
                    s.at(f64::from(n), 1.0);
                    depth(s, 0.75, 0.0, 30.0);
                }
            },
            says: &[
                "its queue_depth, for 75.0 %",
                "scheduler none, nr_requests 64",
            ],
            time: (0.0, 10.0),
            expression: "disk.at_depth by depth where device = sda",
        },
    ],
    silent: &[
        Silent {
            what: "a benchmark with a steady depth and nobody waiting",
            settings: DEADLINE,
            script: |s| {
                for n in 1..=10 {
                    s.at(f64::from(n), 1.0);
                    depth(s, 1.0, 0.5, 30.0);
                }
            },
        },
        Silent {
            what: "a benchmark's own depth, whose batches wait for a moment",
            settings: &[("block/sda/scheduler", "mq-deadline")],
            script: |s| {
                for n in 1..=10 {
                    s.at(f64::from(n), 1.0);
                    depth(s, 0.75, 3.5, 25.0);
                }
            },
        },
        Silent {
            what: "at the limit for less than half of the time",
            settings: DEADLINE,
            script: |s| {
                for n in 1..=10 {
                    s.at(f64::from(n), 1.0);
                    depth(s, 0.4, 10.0, 30.0);
                }
            },
        },
        Silent {
            what: "a burst",
            settings: DEADLINE,
            script: |s| {
                s.manifest.every_seconds = 0.01;
                s.at(0.01, 0.01);
                s.row("disk_at_depth", &["sda", "disk"], &[32.0, 0.01]);
                s.row("disk_io", &READ, &[1.0, 1.0, 1.0, 0.0, 0.0, 2.0]);
            },
        },
    ],
};

/// Ten seconds of a disk: each second busy for so long with `ios` I/Os of `size`, a share of
/// them random, at this distance.
fn seeks(s: &mut Script, busy: f64, ios: f64, size: f64, random: f64, distance: f64) {
    for n in 1..=10 {
        s.at(f64::from(n), 1.0);
        let half = (ios * random / 2.0).round();
        let bytes = ios * size;
        for (to, number) in [(distance, half), (-distance, half), (0.0, ios - 2.0 * half)] {
            if number > 0.0 {
                let lower = whole(to);
                s.row("disk_distance", &READ, &[lower, number, number * size]);
            }
        }
        s.row("disk_io", &READ, &[ios, 0.0, busy, 0.0, 0.0, busy]);
        s.row("disk_pattern", &READ, &[2.0 * half, ios, bytes]);
        s.row("disk", &READ, &[ios, bytes, 0.0, busy, 0.0]);
        s.row("disk_device", &["sda", "disk"], &[busy, busy, 1.0]);
    }
}

/// Ten seconds of a disk of which so many I/Os of an operation fail in the fifth and the seventh.
fn failing(s: &mut Script, [device, layer]: [&str; 2], op: &str, failed: f64) {
    for n in 1..=10 {
        s.at(f64::from(n), 1.0);
        let errors = if n == 5 || n == 7 { failed } else { 0.0 };
        let words = [device, layer, op];
        s.row("disk_io", &words, &[100.0, 0.0, 0.1, errors, 0.0, 0.1]);
        s.row("disk", &words, &[100.0, 409_600.0, 0.0, 0.1, 0.0]);
    }
}

pub(crate) const FAILED: Cases = Cases {
    name: "failed",
    fires: &[Fires {
        what: "writes that there was no room for",
        settings: NONE,
        script: |s| failing(s, ["loop3", "stacked"], "write", 25.0),
        says: &["loop3: 50 of 1.00k (5.00 %) writes failed."],
        time: (4.0, 7.0),
        expression: "disk.errors by op where device = loop3 and time in 4s..7s",
    }],
    silent: &[
        Silent {
            what: "nothing failed",
            settings: NONE,
            script: |s| failing(s, ["sda", "disk"], "write", 0.0),
        },
        Silent {
            what: "a device that does not discard",
            settings: NONE,
            script: |s| failing(s, ["sda", "disk"], "discard", 25.0),
        },
    ],
};

pub(crate) const RANDOM: Cases = Cases {
    name: "random",
    fires: &[Fires {
        what: "a disk that seeks",
        settings: NONE,
        script: |s| seeks(s, 0.9, 100.0, 8192.0, 0.8, 100e9),
        says: &[
            "80.0 % of 1.00k I/Os of sda were random: half began less than 94.0 GiB (10.1 % of the \
             device)",
            "Each kept the device busy for 9.00 ms, of which the transfer of 8.00 KiB is little.",
            "The device says that it rotates.",
        ],
        time: (0.0, 10.0),
        expression: "disk.ios by distance where device = sda",
    }],
    silent: &[
        Silent {
            what: "flash: the device is busy for a tenth of a millisecond each",
            settings: &[],
            script: |s| seeks(s, 0.9, 9000.0, 8192.0, 1.0, 100e9),
        },
        Silent {
            what: "short seeks",
            settings: NONE,
            script: |s| seeks(s, 0.9, 100.0, 8192.0, 0.8, 100e3),
        },
        Silent {
            what: "large I/Os, whose time is transfer",
            settings: NONE,
            script: |s| seeks(s, 0.9, 100.0, 1048576.0, 0.8, 100e9),
        },
        Silent {
            what: "mostly sequential",
            settings: NONE,
            script: |s| seeks(s, 0.9, 100.0, 8192.0, 0.48, 100e9),
        },
        Silent {
            what: "a disk that is mostly idle",
            settings: NONE,
            script: |s| seeks(s, 0.4, 40.0, 8192.0, 0.8, 100e9),
        },
    ],
};
