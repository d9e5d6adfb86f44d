//! What is told beside the numbers: hooks that a kernel did not have, what may be among the
//! others, disks below devices that know more.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests write files"
)]

mod support;

use analysis::{Error, evaluate, notes, summarise};
use run::manifest::{Program, SourceState};
use support::{Runs, Script, at, runs};

/// What is said of the answer, in one line.
fn said(r: &Runs, expression: &str) -> String {
    let answer = summarise(&r.sealed, expression).unwrap_or_else(|e| panic!("{e}"));
    notes::of(&r.sealed, &answer).expect("it reads").join("; ")
}

/// The run had it been made without that hook.
fn without(mut r: Runs, source: &str, hook: &str) -> Runs {
    let manifest = &mut r.sealed.manifest;
    manifest.sources.retain(|s| s.name != source);
    manifest.sources.push(SourceState {
        name: source.into(),
        state: "available".into(),
        ..SourceState::default()
    });
    manifest.programs = vec![
        Program {
            name: "other".into(),
            hook: "sched_switch".into(),
            state: "attached".into(),
            detail: "it could not keep all".into(),
            ..Program::default()
        },
        Program {
            name: "x".into(),
            hook: hook.into(),
            state: "unsupported".into(),
            detail: "this kernel has no such tracepoint".into(),
            ..Program::default()
        },
    ];
    r
}

/// An event of a disk: where, and by whom.
fn event(s: &mut Script, [device, layer, process, file]: [&str; 4]) {
    let words = [
        device, layer, "read", "sync", "no", "no", process, process, "/", file,
    ];
    let values = [0.0, 0.001, 4096.0, 0.0, 0.0, 0.0, 1.0, 1.0];
    s.event("disk_event", at(0.5), &words, &values);
}

fn of_each_source() -> Runs {
    runs(&[], |s| {
        s.at(1.0, 1.0).own();
        s.row("cpu_cgroup", &["/a"], &[0.5, 10.0, f64::NAN, f64::NAN]);
        s.row(
            "disk_io",
            &["sda", "disk", "read"],
            &[5.0, 0.0, 0.1, 0.0, 0.0, 0.1],
        );
        s.row(
            "disk_latency",
            &["sda", "disk", "read"],
            &[0.001, 5.0, 4096.0],
        );
        event(s, ["sda", "disk", "p", "/f"]);
        let words = ["eth0", "edge", "transmit", "process", "driver"];
        s.row("net_size", &words, &[1024.0, 5.0, 5120.0]);
        let words = ["write", "/f", "/", "p", "p", "/"];
        s.row("file_path", &words, &[1.0, 100.0, 0.1]);
        let words = ["transmit", "10.0.0.1", "80", "4000", "p", "p", "/"];
        s.row("tcp_connection", &words, &[100.0, 1.0, 0.0]);
        let words = ["v3 READ", "10.0.0.1", "/f"];
        s.row("nfsd_file", &words, &[1.0, 100.0, 0.1]);
    })
}

/// A hook with what needs it and with what does not.
const HOOKS: &[(&str, &str, &[&str], &[&str])] = &[
    (
        "bpf-cpu",
        "sched_wakeup",
        &["cpu.waits", "cpu.waited by cgroup", "cpu.mean_wait"],
        &["cpu.slices", "cpu.time by cgroup", "disk.requeues"],
    ),
    (
        "bpf-disk",
        "block_io_start",
        &[
            "disk.ios by process",
            "disk.bytes where file ~ f",
            "disk.mean_latency by command",
        ],
        &["disk.ios by latency", "disk.ios by sync", "disk.requeues"],
    ),
    (
        "bpf-disk",
        "block_rq_requeue",
        &["disk.requeues", "disk.requeues by device"],
        &["disk.random", "disk.ios by latency"],
    ),
    (
        "bpf-disk",
        "block_rq_insert",
        &[
            "disk.queue by op",
            "disk.ios by latency",
            "disk.ios where queue_time > 1ms",
        ],
        &["disk.service", "disk.ios by file"],
    ),
    (
        "bpf-disk",
        "block_bio_queue",
        &["disk.ios by layer, latency", "disk.random by layer"],
        &["disk.ios by latency", "disk.ios by file"],
    ),
    (
        "bpf-net",
        "net_dev_queue",
        &["net.segments by stage", "net.bytes where stage = driver"],
        &["net.segments by size"],
    ),
    (
        "bpf-net",
        "net_dev_xmit",
        &["net.segments by size"],
        &["tcp.bytes"],
    ),
    (
        "bpf-net",
        "softirq_exit",
        &["net.segments by context"],
        &["net.segments by size"],
    ),
    (
        "bpf-tcp",
        "tcp_rcv_space_adjust",
        &["tcp.bytes by process"],
        &["tcp.bytes by remote"],
    ),
    (
        "bpf-file",
        "io_uring_complete",
        &["file.ops by op", "file.mean_latency by file"],
        &["disk.ios by file"],
    ),
    (
        "bpf-nfs",
        "nfsd_compound_status",
        &["nfsd.ops by client", "nfsd.mean_latency by op"],
        &["tcp.bytes"],
    ),
    (
        "bpf-nfs",
        "nfsd_fh_verify",
        &["nfsd.ops by file", "nfsd.bytes where file ~ f"],
        &["nfsd.ops by client"],
    ),
    (
        "bpf-nfs",
        "nfsd_read_io_done",
        &["nfsd.bytes by client"],
        &["nfsd.ops by client"],
    ),
];

#[test]
fn what_a_missing_hook_would_have_told_is_said_where_it_is_asked_for() {
    for (source, hook, needs, others) in HOOKS {
        let r = without(of_each_source(), source, hook);
        let words = format!("without the hook `{hook}` (unsupported: this kernel has no such");
        for expression in *needs {
            let said = said(&r, expression);
            assert!(said.contains(&words), "{hook}: {expression}: {said}");
            assert_eq!(
                said.matches("without the hook").count(),
                1,
                "{expression}: {said}"
            );
        }
        for expression in *others {
            let said = said(&r, expression);
            assert!(said.is_empty(), "{hook}: {expression}: {said}");
        }
    }
    // Another tells the same.
    let mut r = without(of_each_source(), "bpf-disk", "block_io_start");
    r.sealed.manifest.programs.push(Program {
        name: "y".into(),
        hook: "block_getrq".into(),
        state: "attached".into(),
        ..Program::default()
    });
    assert_eq!(said(&r, "disk.ios by process"), "");
    // All are there.
    let r = of_each_source();
    for (_, _, needs, _) in HOOKS {
        for expression in *needs {
            assert_eq!(said(&r, expression), "", "{expression}");
        }
    }
}

#[test]
fn a_table_that_a_missing_hook_left_empty_says_so() {
    for (source, hook, expression) in [
        ("bpf-cpu", "sched_wakeup", "cpu.waits by wait"),
        ("bpf-cpu", "sched_wakeup_new", "cpu.waited by wait"),
        ("bpf-tcp", "tcp_probe", "tcp.rtt_samples by rtt"),
        ("bpf-disk", "block_bio_queue", "disk.at_depth by depth"),
    ] {
        let hint = |r: &Runs| match evaluate(&r.sealed, expression) {
            Err(Error::Problem(problem)) => problem.hint.unwrap_or_default(),
            other => panic!("{expression}: {other:?}"),
        };
        let found = hint(&without(of_each_source(), source, hook));
        let words = format!(
            "the source `{source}` was recorded, but without the hook `{hook}` (unsupported: this \
             kernel has no such tracepoint) "
        );
        assert!(found.starts_with(&words), "{expression}: {found}");
        assert!(!found.contains("nothing to say"), "{expression}: {found}");
        // Another hook is no reason.
        let found = hint(&without(of_each_source(), source, "block_rq_merge"));
        assert!(found.contains("nothing to say"), "{expression}: {found}");
    }
}

/// Connections of which two have a name, in the second second only.
fn connections() -> Runs {
    runs(&[], |s| {
        for second in [1.0, 2.0] {
            s.at(second, 1.0).own();
            for (direction, process) in [("transmit", "curl"), ("receive", "wget")] {
                let words = [direction, "10.0.0.1", "80", "4000", process, process, "/"];
                s.row("tcp_connection", &words, &[1000.0, 10.0, 0.0]);
            }
            if second > 1.0 {
                let other = ["transmit", "(other)", "(other)", "(other)"];
                let other = [&other[..], &["(other)"; 3]].concat();
                s.row("tcp_connection", &other, &[500.0, 5.0, 0.0]);
            }
            s.row("cpu_cgroup", &["/a"], &[0.5, 10.0, 1.0, 0.1]);
            s.row("cpu_cgroup", &["(other groups)"], &[0.5, 10.0, 1.0, 0.1]);
        }
    })
}

#[test]
fn what_may_be_among_the_others_is_told_beside_what_was_found() {
    let r = connections();
    let missed = "what was asked for may be in it";
    for (expression, by) in [
        ("tcp.bytes where remote = 10.0.0.1", "by remote:"),
        ("tcp.bytes where remote = 10.0.0.9", "by remote:"),
        ("tcp.bytes by process where remote ~ '^10'", "by remote:"),
        (
            "tcp.bytes where remote = 10.0.0.1 and direction = transmit and command in curl, wget",
            "by command and remote:",
        ),
        (
            "tcp.segments where remote = 10.0.0.1 and time > 1s",
            "by remote:",
        ),
        ("tcp.retransmit_ratio where remote = 10.0.0.1", ""),
        ("cpu.slices where cgroup = /a", "by cgroup:"),
    ] {
        let said = said(&r, expression);
        let expected = !by.is_empty();
        assert_eq!(said.contains(missed), expected, "{expression}: {said}");
        assert!(said.contains(by), "{expression}: {said}");
    }
    for expression in [
        "tcp.bytes",
        "tcp.bytes by remote",
        "tcp.bytes where direction = receive",
        "tcp.bytes where remote = 10.0.0.1 and direction = receive",
        "tcp.bytes where remote = 10.0.0.1 and time < 1s",
        "tcp.bytes where remote = \"(other)\"",
        "tcp.bytes where remote in 10.0.0.1, \"(other)\"",
        "tcp.bytes where remote ~ \"\"",
    ] {
        assert_eq!(said(&r, expression), "", "{expression}");
    }
    let counted = "by remote: what was not to be counted may be in it";
    for expression in [
        "tcp.bytes where remote != 10.0.0.1",
        "tcp.bytes by process where remote !~ '^10'",
    ] {
        let said = said(&r, expression);
        assert!(said.contains(counted), "{expression}: {said}");
    }
}

#[test]
fn disks_below_other_devices_say_where_the_files_are_known() {
    let below = |with_names: bool| {
        runs(&[], |s| {
            s.at(1.0, 1.0).own();
            for _ in 0..5 {
                event(s, ["sda", "disk", "kworker", "(unknown)"]);
                event(s, ["dm-0", "stacked", "mysqld", "/db"]);
            }
            if with_names {
                event(s, ["sda", "disk", "cat", "/etc/passwd"]);
            }
        })
    };
    let r = below(false);
    let words = "no file is known of these I/Os";
    for expression in [
        "disk.ios by file",
        "disk.bytes by op, file",
        "disk.ios where file = /db",
        "disk.ios by latency where file = /db and op = read",
    ] {
        let said = said(&r, expression);
        assert!(said.contains(words), "{expression}: {said}");
        assert!(said.contains("name `layer = stacked`"), "{said}");
    }
    for expression in [
        "disk.ios by process",
        "disk.ios by file where layer = stacked",
        "disk.ios by file where device = sda",
        "disk.ios by file, layer",
        "disk.ios by sync",
        "disk.ios by file where op = write",
    ] {
        assert_eq!(said(&r, expression), "", "{expression}");
    }
    let r = below(true);
    for expression in ["disk.ios by file", "disk.ios where file = /db"] {
        assert_eq!(said(&r, expression), "", "{expression}");
    }
}

/// Columns of another tool: in two units, of two instances, and one alone.
fn columns() -> Runs {
    runs(&[], |s| {
        s.at(1.0, 1.0).own();
        for (column, unit, instance, value) in [
            ("avg", "usec", "read", 250.0),
            ("avg", "msec", "write", 2.5),
            ("util", "%", "sda", 60.0),
            ("util", "%", "sdb", 70.0),
            ("load", "", "", 0.5),
        ] {
            s.row("other", &["fio", column, unit, instance], &[value]);
        }
        for (statistic, value) in [("disk.bytes", 4096.0), ("cpu.idle", 1.0)] {
            s.row("since_boot", &[statistic, "all"], &[value]);
        }
    })
}

#[test]
fn numbers_of_several_kinds_have_no_sum() {
    let r = columns();
    let refused = |expression: &str| match summarise(&r.sealed, expression) {
        Err(Error::Problem(problem)) => format!("{} ({:?})", problem.what, problem.hint),
        other => panic!("{expression}: {other:?}"),
    };
    for (expression, why, hint) in [
        ("other.fio.avg", "`unit` is msec, usec", "by unit"),
        (
            "other.value",
            "`column` is avg, load, util",
            "by column, unit",
        ),
        (
            "other.value by column",
            "`unit` is msec, usec",
            "by column, unit",
        ),
        (
            "since_boot.value",
            "`statistic` is cpu.idle, disk.bytes",
            "by statistic",
        ),
        (
            "since_boot.value by instance",
            "`statistic` is",
            "by instance, statistic",
        ),
    ] {
        let said = refused(expression);
        assert!(
            said.contains(why) && said.contains(hint),
            "{expression}: {said}"
        );
        assert!(evaluate(&r.sealed, expression).is_err(), "{expression}");
    }
    for (expression, means) in [
        ("other.fio.avg by unit", &[250.0, 2.5][..]),
        ("other.fio.avg by instance", &[250.0, 2.5]),
        ("other.fio.avg where instance = read", &[250.0]),
        ("other.fio.load", &[0.5]),
        ("other.fio.util", &[130.0]),
        ("other.fio.nosuch", &[]),
        ("since_boot.value by statistic", &[4096.0, 1.0]),
    ] {
        let answer = summarise(&r.sealed, expression).unwrap_or_else(|e| panic!("{e}"));
        let found: Vec<f64> = answer.groups.iter().map(|g| g.mean).collect();
        assert_eq!(found, means, "{expression}");
    }
    // Shares of two disks are none of anything.
    let added = said(&r, "other.fio.util");
    assert!(
        added.contains("numbers of 2 instances are added up"),
        "{added}"
    );
    assert_eq!(said(&r, "other.fio.util by instance"), "");
    assert_eq!(said(&r, "other.fio.load"), "");
    let answer = summarise(&r.sealed, "other.fio.avg by instance").expect("an answer");
    let units = analysis::mixed::units(&r.sealed, &answer).expect("it reads");
    assert_eq!(units.expect("units"), ["usec", "msec"]);
}

#[test]
fn which_ios_were_random_may_not_be_known() {
    let of = |sequential: &str| {
        let r = runs(&[], |s| {
            s.at(1.0, 1.0).own();
            let words = ["sda", "disk", "read", "", "", sequential, "", "", "", ""];
            let values = [
                f64::NAN,
                0.001,
                4096.0,
                0.0,
                f64::NAN,
                f64::NAN,
                f64::NAN,
                1.0,
            ];
            s.event("disk_event", at(0.5), &words, &values);
        });
        let mean = |expression: &str| {
            let answer = summarise(&r.sealed, expression).unwrap_or_else(|e| panic!("{e}"));
            answer.groups.first().map(|g| g.total.unwrap_or(g.mean))
        };
        assert_eq!(mean("disk.ios"), Some(1.0));
        [mean("disk.random"), mean("disk.random_share")]
    };
    assert_eq!(of("no"), [Some(1.0), Some(1.0)]);
    assert_eq!(of("yes"), [Some(0.0), Some(0.0)]);
    assert_eq!(of(""), [None, None]);
}

#[test]
fn times_that_intervals_do_not_fill_are_told() {
    let mut r = runs(&[], |s| {
        for second in 1..=10 {
            s.at(f64::from(second), 1.0).own();
            s.row(
                "disk",
                &["sda", "disk", "read"],
                &[1.0, 4096.0, 0.0, 0.01, 0.0],
            );
        }
    });
    r.sealed.manifest.ended = Some(at(10.0));
    let told = |time: &str| {
        let said = said(&r, &format!("disk.ios where time {time}"));
        let found = said
            .lines()
            .find(|l| l.contains("whole intervals"))
            .map(str::to_owned);
        found.unwrap_or_default()
    };
    for whole in ["in 2s..5s", "< 4s", "> 4s", "> 0s", "in 2.01s..5.01s"] {
        assert_eq!(told(whole), "", "{whole}");
    }
    let ten = told("in 2.6s..5.4s");
    assert!(ten.contains("they are of 2.00 s to 5.00 s"), "{ten}");
    assert!(
        told("< 1.5s").contains("they are of 0 s to 1.00 s"),
        "{}",
        told("< 1.5s")
    );
}

#[test]
fn another_table_of_another_time_is_told() {
    let made = |second: i32| {
        let mut r = runs(&[], |s| {
            for n in 1..=3 {
                s.at(f64::from(n), 1.0);
                s.row(
                    "disk",
                    &["sda", "disk", "read"],
                    &[1.0, 4096.0, 0.0, 0.01, 0.0],
                );
            }
            s.at(f64::from(second), 1.0);
            s.row(
                "disk_latency",
                &["sda", "disk", "read"],
                &[0.001, 5.0, 4096.0],
            );
        });
        r.sealed
            .manifest
            .imported
            .push(run::manifest::Imported::default());
        said(&r, "disk.ios")
    };
    assert!(!made(3).contains("another time"), "{}", made(3));
    let told = made(100);
    assert!(
        told.contains("what `disk_latency` tells of another time"),
        "{told}"
    );
}
