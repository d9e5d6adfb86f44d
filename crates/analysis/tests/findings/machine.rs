//! The machine as a whole: limits, run queues, processes, the recorder.

use run::manifest::{Loss, Program, SourceState};

use super::script::{Cases, Fires, Script, Silent, at, bucket};

/// What an idle machine does in an interval.
pub(crate) fn quiet(s: &mut Script, interval: f64) {
    s.row(
        "system",
        &[],
        &[0.0, 0.0, 0.0, 1.0, 0.0, 150.0, 100.0 * interval, interval],
    );
    s.row(
        "disk",
        &["sda", "disk", "write"],
        &[interval, 4096.0 * interval, 0.0, 0.01 * interval, 0.0],
    );
    s.row(
        "disk_device",
        &["sda", "disk"],
        &[0.01 * interval, 0.01 * interval, 0.0],
    );
    s.row(
        "cpu_cgroup",
        &["/"],
        &[
            0.03 * interval,
            300.0 * interval,
            300.0 * interval,
            0.02 * interval,
        ],
    );
    s.row(
        "cpu_wait",
        &["/"],
        &[bucket(50e-6), 300.0 * interval, 0.02 * interval],
    );
    s.row(
        "disk_latency",
        &["sda", "disk", "write"],
        &[bucket(0.01), interval, 4096.0 * interval],
    );
    s.row("tcp_segments", &["transmit"], &[3.0 * interval]);
}

/// Seconds of a group with a limit: periods, those held back, seconds held back.
fn limited(s: &mut Script, seconds: i32, of: impl Fn(i32) -> [f64; 3]) {
    for n in 1..=seconds {
        s.at(f64::from(n), 1.0);
        let [periods, held, waited] = of(n);
        if periods > 0.0 {
            s.row("cgroup_throttle", &["/web"], &[waited, periods, held, 1.5]);
        }
    }
}

pub(crate) const THROTTLED: Cases = Cases {
    name: "throttled",
    fires: &[Fires {
        what: "held back in most periods of a while",
        settings: &[],
        script: |s| {
            limited(s, 30, |n| match n {
                11..=20 => [10.0, 8.0, 0.6],
                21..=25 => [0.0; 3],
                _ => [10.0, 0.0, 0.0],
            });
        },
        says: &[
            "/web used its CPU limit up in 80 of 100 periods (80.0 %) and was held back for 6.00 s \
             in all, 60.0 % of the time.",
            "Its limit is 1.50 processors.",
        ],
        time: (10.0, 20.0),
        expression: "cgroup.throttled where cgroup = /web and time in 10s..20s",
    }],
    silent: &[
        Silent {
            what: "in a fifth of the periods",
            settings: &[],
            script: |s| limited(s, 30, |_| [10.0, 2.0, 0.1]),
        },
        Silent {
            what: "a start-up",
            settings: &[],
            script: |s| {
                limited(s, 30, |n| {
                    if n == 1 {
                        [10.0, 9.0, 0.5]
                    } else {
                        [10.0, 0.0, 0.0]
                    }
                });
            },
        },
    ],
};

/// Ten seconds: tasks ran and waited for so long a second, in waits of this length.
fn waits(s: &mut Script, ran: f64, waited: f64, each: f64) {
    for n in 1..=10 {
        s.at(f64::from(n), 1.0).cpus([ran / 2.0, ran / 2.0], 1.0);
        for (group, share) in [("/a", 0.9), ("/b", 0.1)] {
            let (time, waited) = (ran * share, waited * share);
            let number = (waited / each).round();
            s.row("cpu_cgroup", &[group], &[time, number, number, waited]);
            s.row("cpu_wait", &[group], &[bucket(each), number, waited]);
        }
    }
}

pub(crate) const RUN_QUEUE: Cases = Cases {
    name: "run-queue",
    fires: &[Fires {
        what: "six tasks on two processors",
        settings: &[],
        script: |s| waits(s, 2.0, 4.0, 0.01),
        says: &[
            "4.00 tasks that could run were waiting for a processor on average: 66.7 % of the \
             time that tasks ran or waited.",
            "Of 4.00k waits one in a hundred took 9.96 ms or more.",
            "The processors were 100 % busy.",
            "90.0 % of the waiting was in /a.",
        ],
        time: (0.0, 10.0),
        expression: "cpu.waits by wait",
    }],
    silent: &[
        Silent {
            what: "an idle machine, whose wake-ups take as long as its work",
            settings: &[],
            script: |s| waits(s, 0.05, 0.1, 50e-6),
        },
        Silent {
            what: "busy processors, few waiting",
            settings: &[],
            script: |s| waits(s, 1.9, 0.45, 0.001),
        },
        Silent {
            what: "a group whose limit held it back while it waited",
            settings: &[],
            script: |s| {
                waits(s, 0.5, 0.3, 0.01);
                for n in 1..=10 {
                    s.at(f64::from(n), 1.0);
                    s.row("cpu_cgroup", &["/a+/b"], &[0.3, 70.0, 70.0, 3.0]);
                    s.row("cgroup_throttle", &["/a+"], &[2.4, 10.0, 8.0, 1.5]);
                }
            },
        },
    ],
};

/// Seconds of a machine with two processors: created a second, and tasks there are.
fn forks(s: &mut Script, interval: f64, seconds: f64, of: impl Fn(f64) -> (f64, f64)) {
    s.manifest.every_seconds = interval;
    let number = (seconds / interval).round() as u32;
    for n in 1..=number {
        let time = f64::from(n) * interval;
        s.at(time, interval).cpus([0.5, 0.5], interval);
        let (created, tasks) = of(time);
        let values = [1.0, 1.0, 1.0, 2.0, 0.0, tasks, 1000.0, created * interval];
        s.row("system", &[], &values);
        s.row(
            "process",
            &["(exited)", "(exited)", "user"],
            &[created * interval * 0.0005],
        );
    }
}

pub(crate) const PROCESS_FLOOD: Cases = Cases {
    name: "process-flood",
    fires: &[
        Fires {
            what: "a script that starts 800 programs a second",
            settings: &[],
            script: |s| {
                forks(s, 1.0, 60.0, |time| {
                    if time > 20.0 && time <= 40.0 {
                        (800.0, 160.0)
                    } else {
                        (2.0, 150.0)
                    }
                });
            },
            says: &[
                "16.0k processes and threads were created, 800 a second; with 160 at a time they \
                 lived 200 ms on average at most.",
                "Those that came and went between samples used 20.0 % of the processors.",
            ],
            time: (20.0, 40.0),
            expression: "system.forks where time in 20s..40s",
        },
        Fires {
            what: "the same in intervals of 10 ms",
            settings: &[],
            script: |s| forks(s, 0.01, 3.0, |_| (800.0, 160.0)),
            says: &["2.40k processes and threads were created, 800 a second"],
            time: (0.0, 3.0),
            expression: "system.forks",
        },
    ],
    silent: &[
        Silent {
            what: "just below a hundred a processor",
            settings: &[],
            script: |s| forks(s, 1.0, 60.0, |_| (195.0, 150.0)),
        },
        Silent {
            what: "a burst",
            settings: &[],
            script: |s| {
                forks(s, 0.1, 60.0, |time| {
                    (if time < 1.0 { 900.0 } else { 1.0 }, 150.0)
                });
            },
        },
        Silent {
            what: "threads that may live long",
            settings: &[],
            script: |s| forks(s, 1.0, 60.0, |_| (250.0, 5000.0)),
        },
    ],
};

/// Seconds of the recorder: processor time, late and missed samples of a hundred.
fn own(s: &mut Script, seconds: i32, time: f64, late: f64, missed: f64) {
    for n in 1..=seconds {
        s.at(f64::from(n), 1.0).cpus([0.1, 0.1], 1.0);
        s.row(
            "self",
            &[],
            &[time, 0.0, 99.0 - missed, late, missed, 0.0, 0.0],
        );
    }
}

fn loss(s: &mut Script, rows: u64) {
    s.manifest.loss = vec![Loss {
        from: at(2.0),
        to: at(4.0),
        rows,
        why: "the disk was full".into(),
        table: None,
    }];
}

/// Ten seconds in which so many of `ios` were counted, and in the fifth so many events dropped and
/// not followed.
fn not_told(s: &mut Script, table: &str, [dropped, unseen]: [f64; 2], ios: f64) {
    for n in 1..=10 {
        s.at(f64::from(n), 1.0).cpus([0.1, 0.1], 1.0);
        let values = [ios / 10.0, 0.0, 0.0, 0.001, 0.0];
        s.row("disk", &["sda", "disk", "read"], &values);
        if n == 5 {
            s.row("self_events", &[table], &[dropped, unseen, 3.0]);
        }
    }
}

/// Ten seconds in which the kernel counted 10,000 I/Os, and the programs so many.
fn counted_twice(s: &mut Script, seen: f64) {
    for n in 1..=10 {
        s.at(f64::from(n), 1.0).cpus([0.1, 0.1], 1.0);
        let values = [1000.0, 0.0, 0.0, 0.001, 0.0];
        s.row("disk", &["sda", "disk", "read"], &values);
        let values = [0.001, seen / 10.0, 4096.0];
        s.row("disk_latency", &["sda", "disk", "read"], &values);
    }
    s.manifest.programs = vec![Program {
        hook: "block_rq_complete".into(),
        state: "attached".into(),
        ..Program::default()
    }];
}

/// A program in the kernel, measured for two of ten seconds.
fn program(s: &mut Script, hits: u64, nanoseconds: f64, missed: u64) {
    own(s, 10, 0.01, 0.0, 0.0);
    let program = |name: &str, hits: u64| Program {
        name: name.into(),
        hook: "block_rq_issue".into(),
        state: "attached".into(),
        hits,
        time_seconds: hits as f64 * nanoseconds / 1e9,
        measured_seconds: 2.0,
        missed,
        ..Program::default()
    };
    let idle = Program {
        state: "unsupported".into(),
        ..Program::default()
    };
    s.manifest.programs = vec![program("disk_issue", hits), program("rest", hits / 2), idle];
}

pub(crate) const OBSERVER: Cases = Cases {
    name: "observer",
    fires: &[
        Fires {
            what: "a dear recorder",
            settings: &[],
            script: |s| {
                s.manifest.sources = vec![SourceState {
                    name: "process".into(),
                    state: "available".into(),
                    cost_seconds: 0.8,
                    samples: 10,
                    ..SourceState::default()
                }];
                own(s, 10, 0.1, 0.0, 0.0);
            },
            says: &[
                "The recorder used 10.0 % of one processor, 5.00 % of all.",
                "Its dearest source, process, took 800 ms in 10 readings.",
            ],
            time: (0.0, 10.0),
            expression: "self.time",
        },
        Fires {
            what: "a dear recorder, the table of processors lost",
            settings: &[("cpu/threads", "4")],
            script: |s| {
                for n in 1..=10 {
                    s.at(f64::from(n), 1.0);
                    s.row("self", &[], &[0.1, 0.0, 99.0, 0.0, 0.0, 0.0, 0.0]);
                }
            },
            says: &["The recorder used 10.0 % of one processor, 2.50 % of all."],
            time: (0.0, 10.0),
            expression: "self.time",
        },
        Fires {
            what: "dear programs in the kernel",
            settings: &[],
            script: |s| {
                program(s, 400_000, 300.0, 0);
                s.row(
                    "disk",
                    &["sda", "disk", "read"],
                    &[1000.0, 4e6, 0.0, 0.1, 0.0],
                );
            },
            says: &[
                "The programs in the kernel used 9.00 % of one processor, 4.50 % of all",
                "in the 2.00 s in which they were measured; the dearest, disk_issue, 6.00 %: 300 ns a hit, 200k/s.",
            ],
            time: (0.0, 10.0),
            expression: "disk.ios by device",
        },
        Fires {
            what: "programs that the kernel left out",
            settings: &[],
            script: |s| program(s, 10_000, 300.0, 100),
            says: &["The kernel left out 100 hits of the program rest (block_rq_issue)"],
            time: (0.0, 10.0),
            expression: "self.time",
        },
        Fires {
            what: "rows that were lost",
            settings: &[],
            script: |s| {
                loss(s, 12);
                own(s, 10, 0.01, 0.0, 0.0);
            },
            says: &["12 rows could not be kept (the disk was full)"],
            time: (2.0, 4.0),
            expression: "self.lost_rows",
        },
        Fires {
            what: "events that were dropped, beside rows that were lost",
            settings: &[],
            script: |s| {
                loss(s, 12);
                s.manifest.loss[0].table = Some("disk_event".into());
                not_told(s, "disk_event", [400.0, 0.0], 1000.0);
            },
            says: &["400 events were dropped, most of them of disk_event"],
            time: (4.0, 5.0),
            expression: "self.dropped by table",
        },
        Fires {
            what: "I/Os that the programs could not follow",
            settings: &[],
            script: |s| not_told(s, "disk_event", [0.0, 11.0], 10_000.0),
            says: &["could not follow 11 of what disk_event tells"],
            time: (0.0, 10.0),
            expression: "self.unseen by table",
        },
        Fires {
            what: "I/Os of which the programs know nothing",
            settings: &[],
            script: |s| counted_twice(s, 9_980.0),
            says: &["Of 10.0k I/Os that the kernel counted 20 are in no histogram"],
            time: (0.0, 10.0),
            expression: "disk.ios by device",
        },
        Fires {
            what: "late samples",
            settings: &[],
            script: |s| own(s, 10, 0.01, 15.0, 5.0),
            says: &["Of 1.00k samples 150 were late by more than a tenth of the interval and 50"],
            time: (0.0, 10.0),
            expression: "self.late",
        },
    ],
    silent: &[
        Silent {
            what: "a recorder at 4 %, a few samples late",
            settings: &[],
            script: |s| own(s, 10, 0.04, 5.0, 2.0),
        },
        Silent {
            what: "cheap programs in the kernel, hits left out now and then",
            settings: &[],
            script: |s| program(s, 200_000, 300.0, 400),
        },
        Silent {
            what: "an I/O in a thousand that no histogram has",
            settings: &[],
            script: |s| counted_twice(s, 9_990.0),
        },
        Silent {
            what: "a dear start",
            settings: &[],
            script: |s| {
                s.at(1.0, 1.0)
                    .row("self", &[], &[0.2, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
            },
        },
        Silent {
            what: "events that were sampled, a few I/Os from before the recording",
            settings: &[],
            script: |s| not_told(s, "disk_event", [0.0, 9.0], 100.0),
        },
        Silent {
            what: "less than one of a thousand not followed",
            settings: &[],
            script: |s| not_told(s, "disk_event", [0.0, 90.0], 100_000.0),
        },
        Silent {
            what: "a loss of nothing",
            settings: &[],
            script: |s| {
                loss(s, 0);
                own(s, 10, 0.01, 0.0, 0.0);
            },
        },
    ],
};
