//! Files: syncs and opens.

use super::script::{Cases, Fires, Script, Silent};

/// A row of `file_path`: operations, bytes, time.
fn file(s: &mut Script, op: &str, path: &str, values: [f64; 3]) {
    let words = [op, path, "/", "logger[7@1.5]", "logger", "/a"];
    s.row("file_path", &words, &values);
}

fn seconds(s: &mut Script, number: i32, interval: f64, each: impl Fn(&mut Script, i32)) {
    s.manifest.every_seconds = interval;
    for n in 1..=number {
        s.at(f64::from(n) * interval, interval);
        each(s, n);
    }
}

pub(crate) const FSYNC: Cases = Cases {
    name: "fsync-bound",
    fires: &[
        Fires {
            what: "a process that commits",
            settings: &[],
            script: |s| {
                seconds(s, 20, 1.0, |s, n| {
                    if n > 10 {
                        file(s, "fsync", "/db", [400.0, 0.0, 0.8]);
                        file(s, "write", "/db", [400.0, 4e6, 0.1]);
                    }
                });
            },
            says: &[
                "logger[7@1.5] waited in fsync for 80.0 % of the time (its threads added up): \
                     400 a second, 2.00 ms each.",
            ],
            time: (10.0, 20.0),
            expression: "file.time by op where process = \"logger[7@1.5]\" and time in 10s..20s",
        },
        Fires {
            what: "a device that flushes, without the table of files",
            settings: &[("block/sda/write_cache", "write back")],
            script: |s| {
                seconds(s, 10, 1.0, |s, _| {
                    let words = ["sda", "disk", "flush"];
                    s.row("disk", &words, &[100.0, 0.0, 0.0, 0.7, 0.0]);
                });
            },
            says: &[
                "sda was flushing its cache for 70.0 % of the time (flushes added up): 100 a \
                     second, 7.00 ms each. Its write cache: write back.",
            ],
            time: (0.0, 10.0),
            expression: "disk.mean_latency where device = sda and op = flush",
        },
    ],
    silent: &[
        Silent {
            what: "many processes that have no name, all together",
            settings: &[],
            script: |s| {
                seconds(s, 20, 1.0, |s, _| {
                    let words = ["fsync", "(other)", "/", "(other)", "(other)", "(other)"];
                    s.row("file_path", &words, &[400.0, 0.0, 0.8]);
                });
            },
        },
        Silent {
            what: "less than half of the time",
            settings: &[],
            script: |s| {
                seconds(s, 10, 1.0, |s, _| {
                    file(s, "fsync", "/db", [200.0, 0.0, 0.45]);
                    s.row(
                        "disk",
                        &["sda", "disk", "flush"],
                        &[200.0, 0.0, 0.0, 0.45, 0.0],
                    );
                });
            },
        },
        Silent {
            what: "one sync of much data",
            settings: &[],
            script: |s| {
                seconds(s, 10, 1.0, |s, n| {
                    if n == 9 {
                        file(s, "fsync", "/copy", [1.0, 0.0, 5.0]);
                    }
                });
            },
        },
        Silent {
            what: "a burst in intervals of 10 ms",
            settings: &[],
            script: |s| {
                seconds(s, 100, 0.01, |s, n| {
                    if n < 50 {
                        file(s, "fsync", "/db", [5.0, 0.0, 0.01]);
                    }
                });
            },
        },
    ],
};

/// A second or less of opens of one path, each with so many bytes written.
fn churn(s: &mut Script, path: &str, opens: f64, bytes: f64) {
    file(s, "open", path, [opens, 0.0, opens * 20e-6]);
    file(s, "write", path, [opens, opens * bytes, opens * 10e-6]);
    file(s, "close", path, [opens, 0.0, opens * 5e-6]);
}

pub(crate) const OPEN_CHURN: Cases = Cases {
    name: "open-churn",
    fires: &[
        Fires {
            what: "a log that is opened for each line",
            settings: &[],
            script: |s| {
                seconds(s, 20, 1.0, |s, n| {
                    if (6..=10).contains(&n) {
                        churn(s, "/var/log/a b.log", 200.0, 80.0);
                    }
                    churn(s, "/var/log/other", 1.0, 80.0);
                });
            },
            says: &[
                "/var/log/a b.log was opened 1.00k times, 200/s, to write 80.0 B each time; \
                 opening, writing and the rest took 35.0 µs each.",
                "100 % of the opens were by logger.",
            ],
            time: (5.0, 10.0),
            expression: "file.ops by op, command where file = \"/var/log/a b.log\" and time in 5s..10s",
        },
        Fires {
            what: "the same in intervals of 10 ms",
            settings: &[],
            script: |s| {
                seconds(s, 200, 0.01, |s, _| churn(s, "/run/pid", 2.0, 6.0));
            },
            says: &["/run/pid was opened 400 times, 200/s, to write 6.00 B each time"],
            time: (0.0, 2.0),
            expression: "file.ops by op, command where file = /run/pid",
        },
    ],
    silent: &[
        Silent {
            what: "seldom",
            settings: &[],
            script: |s| seconds(s, 20, 1.0, |s, _| churn(s, "/var/log/a", 45.0, 80.0)),
        },
        Silent {
            what: "files written whole",
            settings: &[],
            script: |s| seconds(s, 20, 1.0, |s, _| churn(s, "/out", 200.0, 65536.0)),
        },
        Silent {
            what: "files only read",
            settings: &[],
            script: |s| {
                seconds(s, 20, 1.0, |s, _| {
                    file(s, "open", "/etc/localtime", [500.0, 0.0, 0.01]);
                    file(s, "read", "/etc/localtime", [500.0, 5e5, 0.01]);
                });
            },
        },
        Silent {
            what: "files whose path is not known",
            settings: &[],
            script: |s| seconds(s, 20, 1.0, |s, _| churn(s, "unknown", 200.0, 80.0)),
        },
        Silent {
            what: "a start-up of a tenth of a second",
            settings: &[],
            script: |s| {
                seconds(s, 100, 0.01, |s, n| {
                    if n < 10 {
                        churn(s, "/log", 5.0, 80.0);
                    }
                });
            },
        },
    ],
};
