//! What runs were bound by.

use run::manifest::Command;

use super::script::{Cases, Fires, Script, Silent};

pub(crate) const BOUND: Cases = Cases {
    name: "bound",
    fires: &[
        Fires {
            what: "full processors with tasks waiting",
            settings: &[],
            script: |s| processors(s, [0.98, 0.96], 5.0),
            says: &[
                "CPU-bound: processors 97 % busy.",
                "For it: 5.00 tasks ready for 2 processors.",
            ],
            time: (0.0, 10.0),
            expression: "cpu.time by mode",
        },
        Fires {
            what: "full processors and nobody waiting",
            settings: &[],
            script: |s| processors(s, [0.98, 0.96], 2.0),
            says: &["Against it: no more tasks ready (2.00) than processors (2)."],
            time: (0.0, 10.0),
            expression: "cpu.time by mode",
        },
        Fires {
            what: "one full processor",
            settings: &[],
            script: |s| processors(s, [0.99, 0.1], 1.0),
            says: &["CPU-bound: processor 0 alone 99 % busy. Against it: the others were not"],
            time: (0.0, 10.0),
            expression: "cpu.time by mode where cpu = 0",
        },
        Fires {
            what: "a busy disk, one I/O at a time",
            settings: &[],
            script: |s| disk(s, 0.95, 0.95),
            says: &[
                "disk-bound: disk sda busy 95 % of the time",
                "Against it: the I/Os came one after the other",
                "Not full: processors 10 % busy.",
            ],
            time: (0.0, 10.0),
            expression: "disk.utilisation where device = sda",
        },
        Fires {
            what: "a busy disk with many",
            settings: &[],
            script: |s| disk(s, 0.95, 9.5),
            says: &["For it: 10.0 I/Os at a time while it was busy."],
            time: (0.0, 10.0),
            expression: "disk.utilisation where device = sda",
        },
        Fires {
            what: "a disk that hangs",
            settings: &[],
            script: |s| disk_of(s, 1.0, 4.0, 0.0),
            says: &["disk-bound: disk sda busy 100 % of the time, 4.00 I/Os under way"],
            time: (0.0, 10.0),
            expression: "disk.utilisation where device = sda",
        },
        Fires {
            what: "a full link",
            settings: &[],
            script: network,
            says: &[
                "network-bound: network eth0 90 % of its speed.",
                "processors 10 % busy",
            ],
            time: (0.0, 10.0),
            expression: "net.bytes by direction where interface = eth0",
        },
        Fires {
            what: "memory that is short",
            settings: &[],
            script: memory,
            says: &["short of memory: memory: 30 % of the time lost waiting."],
            time: (0.0, 10.0),
            expression: "pressure.ratio by resource",
        },
        Fires {
            what: "a command that only waits",
            settings: &[],
            script: |s| {
                command(s);
                disk(s, 0.02, 0.02);
            },
            says: &[
                "waiting: the command took 10.0 s, and the machine used 0.20 processors",
                "disk sda busy 2 % of the time",
            ],
            time: (0.0, 10.0),
            expression: "cpu.time by mode",
        },
    ],
    silent: &[
        Silent {
            what: "processors nearly full",
            settings: &[],
            script: |s| processors(s, [0.89, 0.90], 5.0),
        },
        Silent {
            what: "a disk nearly full",
            settings: &[],
            script: |s| disk(s, 0.79, 3.0),
        },
        Silent {
            what: "a disk that is told to be busy, with nothing done and nothing under way",
            settings: &[],
            script: |s| disk_of(s, 1.02, 0.0, 0.0),
        },
        Silent {
            what: "an idle machine without a command",
            settings: &[],
            script: |s| disk(s, 0.02, 0.02),
        },
        Silent {
            what: "a command that works a little",
            settings: &[],
            script: |s| {
                command(s);
                processors(s, [0.3, 0.1], 1.0);
            },
        },
        Silent {
            what: "a command that waits for a disk that is not full",
            settings: &[],
            script: |s| {
                command(s);
                disk(s, 0.5, 0.5);
            },
        },
        Silent {
            what: "a run too short to tell",
            settings: &[],
            script: |s| {
                s.at(0.1, 0.1).cpus([1.0, 1.0], 0.1);
            },
        },
    ],
};

fn command(s: &mut Script) {
    s.manifest.command = Some(Command {
        arguments: vec!["sleep".into(), "10".into()],
        status: Some(0),
        signal: None,
    });
}

fn processors(s: &mut Script, used: [f64; 2], ready: f64) {
    for n in 1..=10 {
        s.at(f64::from(n), 1.0).cpus(used, 1.0);
        s.row(
            "system",
            &[],
            &[1.0, 1.0, 1.0, ready, 0.0, 100.0, 100.0, 1.0],
        );
    }
}

fn disk(s: &mut Script, busy: f64, depth: f64) {
    disk_of(s, busy, depth, 100.0);
}

fn disk_of(s: &mut Script, busy: f64, depth: f64, ios: f64) {
    for n in 1..=10 {
        s.at(f64::from(n), 1.0).cpus([0.1, 0.1], 1.0);
        s.row("disk_device", &["sda", "disk"], &[busy, depth, 1.0]);
        s.row(
            "disk",
            &["sda", "disk", "read"],
            &[ios, ios * 4096.0, 0.0, depth, 0.0],
        );
    }
}

fn network(s: &mut Script) {
    for n in 1..=10 {
        s.at(f64::from(n), 1.0).cpus([0.1, 0.1], 1.0);
        let rest = [1e5, 0.0, 0.0, 0.0, 0.0, 0.0, 125e6];
        for (direction, bytes) in [("transmit", 112.5e6), ("receive", 2e6)] {
            let mut values = vec![bytes];
            values.extend(rest);
            s.row("net", &["eth0", "edge", direction], &values);
        }
    }
}

fn memory(s: &mut Script) {
    for n in 1..=10 {
        s.at(f64::from(n), 1.0).cpus([0.1, 0.1], 1.0);
        s.row("pressure", &["memory", "some"], &[0.3]);
    }
}
