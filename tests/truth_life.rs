//! A run covers its command's life, neither less nor more than the recorder needs to look.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, read clocks and wait"
)]

mod support;
mod truth;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use run::{Nanos, Run};
use rustix::time::{ClockId, clock_gettime};
use support::{Need, note_again, output, scratch};
use truth::{record, record_script, recording};

/// The wall clock, in nanoseconds.
fn wall() -> Nanos {
    let t = clock_gettime(ClockId::Realtime);
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

/// What `date +%s.%N` prints.
fn moment(line: &str) -> Nanos {
    let (seconds, nanos) = line
        .trim()
        .split_once('.')
        .expect("seconds and nanoseconds");
    let number = |text: &str| text.parse::<Nanos>().expect("a number");
    number(seconds) * 1_000_000_000 + number(nanos)
}

/// The intervals of a table as its rows have them: end and true length.
fn intervals(run: &Run, table: &str) -> BTreeMap<Nanos, f64> {
    let opened = run
        .table(table)
        .expect("the table opens")
        .expect("it is there");
    let mut all = BTreeMap::new();
    for part in &opened.parts {
        let visit = |batch: &run::Batch<'_>| {
            for (time, interval) in batch.times.iter().zip(batch.intervals) {
                let first = *all.entry(*time).or_insert(*interval);
                assert_eq!(first, *interval, "{table}: one reading, one interval");
            }
        };
        opened.read(part, &[], visit).expect("it reads");
    }
    all
}

/// A recorded command that says when it began and ended, between two looks at the clock.
struct Life {
    path: PathBuf,
    before: Nanos,
    began: Nanos,
    ended: Nanos,
    after: Nanos,
}

impl Life {
    fn new(name: &str) -> Life {
        let path = scratch(name).join("run");
        let before = wall();
        let text = record_script(&path, "100ms", "date +%s.%N; sleep 1.23; date +%s.%N");
        let after = wall();
        let mut lines = text.lines();
        let mut next = || moment(lines.next().expect("two lines"));
        let (began, ended) = (next(), next());
        Life {
            path,
            before,
            began,
            ended,
            after,
        }
    }
}

#[test]
fn the_run_spans_the_commands_life() {
    let life = Life::new("spans");
    let run = Run::open(&life.path).expect("a run");
    let (started, ended) = (run.manifest.started, run.ended());
    let order = [
        life.before,
        started,
        life.began,
        life.ended,
        ended,
        life.after,
    ];
    assert!(order.is_sorted(), "{order:?}");
    assert_eq!(run.manifest.ended, Some(ended));
}

/// Intervals follow each other without a hole: each begins where the counters were read for
/// the one before, so their sum is the time between the first reading, before the command's
/// start, and the last, after its end. Each source is read at its own moment, so the sums
/// of two sources differ by what the readings between them took.
#[test]
fn intervals_cover_the_life_without_a_hole() {
    let life = Life::new("covers");
    let run = Run::open(&life.path).expect("a run");
    let (started, ended) = (run.manifest.started, run.ended());
    let lived = (life.ended - life.began) as f64 / 1e9;
    let around = (life.after - life.before) as f64 / 1e9;
    let span = (ended - started) as f64 / 1e9;
    for table in [
        "cpu",
        "system",
        "memory_state",
        "vm",
        "disk_device",
        "net",
        "tcp",
        "self",
    ] {
        let all = intervals(&run, table);
        let sum: f64 = all.values().sum();
        assert!(
            lived <= sum && sum <= around,
            "{table}: {sum} s of {lived} to {around} s"
        );
        assert!(span <= sum + 1e-6, "{table}: {sum} s of the run's {span} s");
        assert_eq!(all.last_key_value().expect("rows").0, &ended, "{table}");
        assert!(all.len() >= 3 && all.first_key_value().expect("rows").0 > &started);
    }
    // The same source, the same readings.
    for (a, b) in [
        ("cpu", "system"),
        ("cpu", "cpu_idle"),
        ("disk", "disk_device"),
        ("tcp", "udp"),
    ] {
        let (a, b) = (intervals(&run, a), intervals(&run, b));
        let (a, b): (f64, f64) = (a.values().sum(), b.values().sum());
        assert!((a - b).abs() <= 1e-6, "{a} and {b}");
    }
}

/// Samples lie at whole multiples of the interval, so that hosts line up.
#[test]
fn samples_lie_at_whole_multiples_of_the_interval() {
    let life = Life::new("multiples");
    let run = Run::open(&life.path).expect("a run");
    let all = intervals(&run, "self");
    let late: Vec<Nanos> = all.keys().map(|t| t % 100_000_000).collect();
    // All but the last, which ends with the command; the middle one of the rest is not at
    // the mercy of who else wants the processors.
    let mut late = late[..late.len() - 1].to_vec();
    late.sort_unstable();
    let median = late[late.len() / 2];
    assert!(
        median < 10_000_000,
        "samples come {median} ns after their time"
    );
}

/// Nanoseconds from starting `command` to the moment that it printed.
fn until_printed(mut command: std::process::Command) -> Nanos {
    let before = wall();
    let out = output(&mut command);
    moment(std::str::from_utf8(&out.stdout).expect("a time")) - before
}

fn median(mut of: Vec<Nanos>) -> Nanos {
    of.sort_unstable();
    of[of.len() / 2]
}

/// The command before all others who want a processor, which only root may ask for.
fn before_all_others(command: std::process::Command) -> std::process::Command {
    let needs = [Need::Root, Need::Program("chrt")];
    if needs.iter().any(|n| n.missing().is_some()) {
        return command;
    }
    let mut first = std::process::Command::new("chrt");
    first.args(["--fifo", "10"]).arg(command.get_program());
    first.args(command.get_args());
    first.env_remove("SONDE_RUN");
    first
}

/// Others who want the processors are no part of what recording adds: it comes before them, and
/// one of several medians of five has to be below the limit. The machine may be another's for some
/// seconds.
///
/// For minutes, too: then all takes longer, also to start the command alone, which took 1.6 ms on
/// the machine for which the limit was measured, and has its turns among those of the recordings.
/// Nobody waits longer than twice the limit.
#[test]
fn recording_adds_less_than_a_tenth_of_a_second_to_the_start() {
    const LIMIT: Nanos = 100_000_000;
    const ALONE: Nanos = 1_600_000;
    let dir = scratch("start");
    let recorded = |name: String| {
        let record = recording(&dir.join(name), "1s", &["date", "+%s.%N"]);
        until_printed(before_all_others(record))
    };
    let alone = || {
        let mut date = std::process::Command::new("date");
        date.arg("+%s.%N");
        until_printed(before_all_others(date))
    };
    // What recording adds, and the limit.
    let round = |round: i32| {
        let turns = (0..5).map(|n| (recorded(format!("{round}-{n}")), alone()));
        let (with, alone): (Vec<_>, Vec<_>) = turns.unzip();
        let alone = median(alone);
        let slower = alone.clamp(ALONE, 2 * ALONE);
        (median(with) - alone, LIMIT * slower / ALONE)
    };
    let mut added = 0;
    for number in 0..8 {
        let limit;
        (added, limit) = round(number);
        eprintln!("recording added {added} ns to the command's start, of {limit}");
        if added < limit {
            return;
        }
        note_again(&format!("recording added {added} ns to the start"));
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    panic!("recording added {added} ns to the command's start");
}

/// A command that is over before the first whole multiple is one interval, and complete.
#[test]
fn the_shortest_command_is_recorded() {
    let path = scratch("shortest").join("run");
    record(&path, "1h", &["true"]);
    let run = Run::open(Path::new(&path)).expect("a run");
    let all = intervals(&run, "self");
    assert_eq!(all.len(), 1, "{all:?}");
    let (ended, interval) = all.first_key_value().expect("one");
    assert_eq!(*ended, run.ended());
    assert!((0.0..2.0).contains(interval), "{interval} s");
}
