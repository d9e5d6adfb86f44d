//! Each wrong expression: the word that is meant, what is wrong with it, what to do.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use analysis::{Error, evaluate};
use support::runs;

/// Expression, word pointed at, part of what is wrong, part of the hint.
const WRONG: &[(&str, &str, &str, &str)] = &[
    ("dsk.bytes", "dsk", "no subject `dsk`", "disk"),
    ("quux.bytes", "quux", "no subject", "there are: cpu, system"),
    ("disk.byte", "byte", "no measure `byte`", "bytes"),
    ("disk.latency", "latency", "no measure", "mean_latency"),
    (
        "disk.bytes by devise",
        "devise",
        "no dimension `devise`",
        "device",
    ),
    (
        "disk.bytes where dev = sda",
        "dev",
        "no dimension `dev`",
        "device",
    ),
    ("disk.bytes by time", "time", "series", "--series"),
    ("disk.bytes by op, op", "op", "twice", ""),
    ("disk.busy by op", "op", "not kept by `op`", "device, layer"),
    (
        "disk.merges by process",
        "process",
        "not kept by `process`",
        "device, layer, op",
    ),
    (
        "cpu.time by process, cpu",
        "cpu",
        "together with the others",
        "process, command",
    ),
    (
        "disk.bytes where device > 5",
        "> 5",
        "is a word, not a number",
        "in a, b",
    ),
    (
        "disk.bytes where device in 1..5",
        "in 1..5",
        "is a word",
        "in a, b",
    ),
    (
        "disk.ios where latency ~ 5",
        "~ 5",
        "is a number, not a word",
        "in 1ms..2ms",
    ),
    ("disk.ios where latency > 5", "> 5", "needs a unit", "10ms"),
    (
        "disk.ios where latency > 4KiB",
        "> 4KiB",
        "is in seconds, this value in bytes",
        "times: ns us ms",
    ),
    (
        "disk.ios where latency = fast",
        "fast",
        "`fast` is not a number",
        "times: ns us ms",
    ),
    (
        "disk.bytes where time = 5s",
        "= 5s",
        "tested with `in`",
        "10s..40s",
    ),
    (
        "disk.ios where op in (read, write)",
        "(read,",
        "without parentheses",
        "op in read, write",
    ),
    (
        "disk.bytes where size > 4XB",
        "4XB",
        "unknown unit `XB`",
        "sizes: B KiB MiB",
    ),
    (
        "disk.bytes where device > fast",
        "fast",
        "is not a number",
        "words are tested with",
    ),
    (
        "disk.bytes where time > fast",
        "fast",
        "is not a number",
        "times: ns us ms",
    ),
    (
        "interrupt.count by name",
        "name",
        "no dimension `name`",
        "there are: ",
    ),
    (
        "cpu.time by file",
        "file",
        "no dimension `file`",
        "there are: cpu, mode",
    ),
    (
        "disk.bytes where tim > 5s",
        "tim",
        "no dimension `tim`",
        "did you mean time",
    ),
    ("cpu.time by", "", "expected a dimension", "dimensions: "),
    ("cpu.time where", "", "expected a dimension", "dimensions: "),
    (
        "quux.time by",
        "",
        "expected a dimension",
        "subject.measure",
    ),
    (
        "disk.bytes where device ~ a(",
        "a(",
        "not a regular expression",
        "takes it as it stands",
    ),
    (
        "disk.bytes where time in 40s..10s",
        "40s..10s",
        "this range is empty",
        "in 10s..40s",
    ),
    ("disk.bytes where phase > 5", "> 5", "is a word", "in a, b"),
    (
        "pressure.ratio",
        "pressure.ratio",
        "no table `pressure`",
        "denied: boot with psi=1",
    ),
    (
        "process.time",
        "process.time",
        "no table `process`",
        "had nothing to say",
    ),
    (
        "power.energy",
        "power.energy",
        "no table `power`",
        "record with the source `power`",
    ),
    (
        "workload.ops",
        "workload.ops",
        "no table `workload`",
        "the command printed nothing that is known",
    ),
    (
        "other.value",
        "other.value",
        "no table `other`",
        "only imported runs have it",
    ),
    (
        "disk.ios by file",
        "disk.ios",
        "no table `disk_event`",
        "recorded with `--detail events --events disk`",
    ),
    (
        "disk.ios by depth",
        "disk.ios",
        "no table `disk_depth`",
        "had nothing to say",
    ),
    (
        "net.segments by size",
        "net.segments",
        "no table `net_size`",
        "denied: run it as root",
    ),
    (
        "tcp.connects by state",
        "tcp.connects",
        "no table `tcp_event`",
        "nothing to say, or was not asked to; it is recorded with `--detail events --events tcp`",
    ),
    (
        "cpu.slices by slice",
        "cpu.slices",
        "no table `cpu_slice`",
        "`--detail distributions`, by eBPF, which needs root",
    ),
    (
        "file.ops by op",
        "file.ops",
        "no table `file_path`",
        "`--with file`",
    ),
    (
        "file.ops by file, latency",
        "file.ops",
        "no table `file_event`",
        "`--with file --detail events --events file`",
    ),
];

#[test]
fn errors_name_the_word_and_what_to_do() {
    let r = runs(&[], |s| {
        s.at(1.0, 1.0).own();
        s.row("disk", &["sda", "disk", "read"], &[1.0; 5]);
        s.row("disk_device", &["sda", "disk"], &[1.0; 3]);
        s.row(
            "disk_latency",
            &["sda", "disk", "read"],
            &[0.01, 1.0, 4096.0],
        );
    });
    for (text, word, what, hint) in WRONG {
        let problem = match evaluate(&r.sealed, text) {
            Err(Error::Problem(problem)) => problem,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(
            &text[problem.span.0..problem.span.1],
            *word,
            "{text}\n{problem}"
        );
        assert!(problem.what.contains(what), "{text}\n{problem}");
        let given = problem.hint.as_deref().unwrap_or("");
        assert!(given.contains(hint), "{text}\n{problem}");
        let lines = problem.to_string();
        assert!(lines.contains('^') && !lines.ends_with('\n'), "{lines}");
    }
}
