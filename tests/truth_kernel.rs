//! Processors, scheduling, interrupts and memory against `/proc/stat`, `/proc/vmstat` and
//! `/proc/meminfo` as the test reads them: once around the recording, and once inside it, at
//! the begin and end of the recorded command. What was recorded lies between the two.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs and write files"
)]

mod support;
mod truth;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use analysis::scan::KeyValue;
use support::{Need, can_run, scratch, succeed, total};
use truth::{Totals, bounded, record_script, same};

/// Counters by name: of `/proc/stat` and `/proc/vmstat` by line and place (`cpu0 3`), of
/// `/proc/net/softnet_stat` by place, all processors added (`softnet 1`), of `/proc/pressure`
/// by resource and share (`io some`).
type Counters = BTreeMap<String, f64>;

/// Prints them all.
const READ: &str = "cat /proc/stat /proc/vmstat; sed 's/^/softnet /' /proc/net/softnet_stat; \
                    grep . /proc/pressure/cpu /proc/pressure/io /proc/pressure/memory || true";

fn parse(text: &str) -> Counters {
    let mut all = Counters::new();
    for line in text.lines() {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(place) = name.strip_prefix("/proc/pressure/") {
            // `/proc/pressure/io:some avg10=0.00 avg60=0.00 avg300=0.00 total=1234`
            let (_, total) = rest.rsplit_once("total=").expect("a total");
            let micros = total.parse().expect("microseconds");
            all.insert(place.replace(':', " "), micros);
            continue;
        }
        for (place, field) in rest.split_whitespace().enumerate() {
            let value = if name == "softnet" {
                u64::from_str_radix(field, 16).ok().map(|v| v as f64)
            } else {
                field.parse().ok()
            };
            *all.entry(format!("{name} {place}")).or_default() += value.unwrap_or(0.0);
        }
    }
    all
}

fn now() -> Counters {
    parse(&succeed(Command::new("sh").args(["-c", READ])))
}

/// A recorded load, and how far each counter went inside and around it.
struct Observed {
    run: PathBuf,
    inside: Counters,
    outside: Counters,
}

impl Observed {
    fn new(name: &str) -> Observed {
        let dir = scratch(name);
        let (run, at) = (dir.join("run"), dir.display().to_string());
        let read = |moment| format!("{{ {READ}; }} > {at}/{moment}");
        let load = format!(
            "for i in 1 2 3 4 5 6 7 8 9 10; do
                 dd if=/dev/zero of=/dev/null bs=64k count=20000 status=none
                 dd if=/dev/zero of={at}/file bs=64k count=100 conv=fsync status=none
                 sleep 0.05
             done"
        );
        let before = now();
        record_script(
            &run,
            "100ms",
            &format!("{}; {load}; {}", read("begin"), read("end")),
        );
        let after = now();
        let file = |name: &str| std::fs::read_to_string(dir.join(name)).expect("a reading");
        let (begin, end) = (parse(&file("begin")), parse(&file("end")));
        Observed {
            run,
            inside: since(&begin, &end),
            outside: since(&before, &after),
        }
    }

    /// `expression` lies between the sums of `counters` inside and around, each times `unit`.
    fn bounds(&self, expression: &str, counters: &[String], unit: f64) {
        self.bounds_value(expression, total(&self.run, expression), counters, unit);
    }

    fn bounds_value(&self, what: &str, value: f64, counters: &[String], unit: f64) {
        let sum = |all: &Counters| {
            let one = |name: &String| *all.get(name).unwrap_or_else(|| panic!("no {name}"));
            counters.iter().map(one).sum::<f64>() * unit
        };
        bounded(what, sum(&self.inside), value, sum(&self.outside));
    }

    fn counter(&self, expression: &str, name: &str, unit: f64) {
        self.bounds(expression, &[format!("{name} 0")], unit);
    }

    /// The names of the lines of processors: `cpu0`.
    fn processors(&self) -> Vec<String> {
        let lines = self.inside.keys().filter_map(|k| k.strip_suffix(" 0"));
        let is_one = |l: &&str| {
            l.strip_prefix("cpu")
                .is_some_and(|n| n.parse::<u32>().is_ok())
        };
        lines.filter(is_one).map(str::to_owned).collect()
    }
}

fn since(before: &Counters, after: &Counters) -> Counters {
    let grown =
        |(name, value): (&String, &f64)| (name.clone(), value - before.get(name).unwrap_or(&0.0));
    after.iter().map(grown).collect()
}

/// Seconds of a clock tick.
fn tick() -> f64 {
    1.0 / rustix::param::clock_ticks_per_second() as f64
}

#[test]
fn processor_time_lies_within_the_kernels() {
    let observed = Observed::new("cpu");
    let processors = observed.processors();
    assert!(!processors.is_empty());
    let places = |places: &[usize]| -> Vec<String> {
        let of = |p: &String| {
            places
                .iter()
                .map(|i| format!("{p} {i}"))
                .collect::<Vec<_>>()
        };
        processors.iter().flat_map(of).collect()
    };
    // user, nice, system, idle, iowait, irq, softirq, steal; guests are within user and nice.
    let busy = places(&[0, 1, 2, 5, 6]);
    assert!(total(&observed.run, "cpu.time") > 0.1, "the load ran");
    observed.bounds("cpu.time", &busy, tick());
    let by_mode = Totals::of(&observed.run, "cpu.time by mode");
    for (mode, place) in [("system", 2), ("irq", 5), ("softirq", 6)] {
        let what = format!("cpu.time of {mode}");
        observed.bounds_value(&what, by_mode.get(mode), &places(&[place]), tick());
    }
    observed.bounds("cpu.steal", &places(&[7]), tick());
    let resting = total(&observed.run, "cpu.idle") + total(&observed.run, "cpu.iowait");
    observed.bounds_value("cpu.idle and cpu.iowait", resting, &places(&[3, 4]), tick());
    for processor in &processors {
        let number = processor.strip_prefix("cpu").expect("a processor");
        let own: Vec<String> = [0, 1, 2, 5, 6].map(|i| format!("{processor} {i}")).to_vec();
        observed.bounds(&format!("cpu.time where cpu = {number}"), &own, tick());
    }
}

#[test]
fn scheduling_and_interrupts_lie_within_the_kernels() {
    let observed = Observed::new("stat");
    observed.counter("system.context_switches", "ctxt", 1.0);
    observed.counter("system.forks", "processes", 1.0);
    observed.counter("interrupt.count where level = hard", "intr", 1.0);
    observed.counter("interrupt.count where level = soft", "softirq", 1.0);
    let soft = Totals::of(&observed.run, "interrupt.count by kind where level = soft");
    let kinds = [
        "hi", "timer", "net_tx", "net_rx", "block", "irq_poll", "tasklet", "sched", "hrtimer",
        "rcu",
    ];
    for (place, kind) in kinds.into_iter().enumerate() {
        let counter = [format!("softirq {}", place + 1)];
        observed.bounds_value(
            &format!("soft interrupts, {kind}"),
            soft.get(kind),
            &counter,
            1.0,
        );
    }
    let hard = support::get(&observed.run, "interrupt.count by kind where level = hard");
    for group in hard["groups"].as_array().expect("groups") {
        let kind = group["key"]["kind"].as_str().expect("a kind");
        // `virtio1-req.0 (36)`: the line's number.
        let number = kind.rsplit_once('(').and_then(|(_, n)| n.strip_suffix(')'));
        let Some(line) = number.and_then(|n| n.parse::<usize>().ok()) else {
            assert_eq!(kind, "local");
            continue;
        };
        let count = group["total"].as_f64().expect("a total");
        observed.bounds_value(kind, count, &[format!("intr {}", line + 1)], 1.0);
    }
}

#[test]
fn virtual_memory_lies_within_the_kernels() {
    let observed = Observed::new("vm");
    let page = rustix::param::page_size() as f64;
    assert!(total(&observed.run, "vm.faults") > 100.0, "the load ran");
    for (expression, counter, unit) in [
        ("vm.faults", "pgfault", 1.0),
        ("vm.major_faults", "pgmajfault", 1.0),
        ("vm.paged_in", "pgpgin", 1024.0),
        ("vm.paged_out", "pgpgout", 1024.0),
        ("vm.dirtied", "nr_dirtied", page),
        ("vm.written", "nr_written", page),
        ("vm.swapped_in", "pswpin", page),
        ("vm.swapped_out", "pswpout", page),
    ] {
        observed.counter(expression, counter, unit);
    }
}

#[test]
fn the_receive_path_lies_within_the_kernels() {
    let observed = Observed::new("softnet");
    for (measure, place) in [
        ("packets", 0),
        ("drops", 1),
        ("squeezes", 2),
        ("steered", 9),
    ] {
        let counter = format!("softnet {place}");
        observed.bounds(&format!("softnet.{measure}"), &[counter], 1.0);
    }
}

#[test]
fn pressure_lies_within_the_kernels() {
    let name = "pressure_lies_within_the_kernels";
    // A kernel may have the files and yet refuse to count.
    if std::fs::read("/proc/pressure/cpu").is_err() {
        can_run(
            name,
            &[Need::Path(
                "pressure information (psi=1 on the kernel's command line)",
            )],
        );
        return;
    }
    assert!(Path::new("/proc/pressure/memory").exists());
    let observed = Observed::new("pressure");
    for (resource, share) in [
        ("cpu", "some"),
        ("io", "some"),
        ("io", "full"),
        ("memory", "some"),
    ] {
        let part = format!("resource = {resource} and share = {share}");
        let counter = [format!("{resource} {share}")];
        observed.bounds(&format!("pressure.stalled where {part}"), &counter, 1e-6);
    }
}

/// In every interval: memory that is anywhere is counted once.
#[test]
fn kinds_of_memory_sum_to_all_of_it() {
    let observed = Observed::new("memory");
    let text = std::fs::read_to_string("/proc/meminfo").expect("a kernel file");
    let line = text
        .lines()
        .find(|l| l.starts_with("MemTotal:"))
        .expect("a total");
    let kib: f64 = line
        .split_whitespace()
        .nth(1)
        .expect("a value")
        .parse()
        .expect("a number");
    let run = run::Run::open(&observed.run).expect("a run");
    let whole = analysis::evaluate(&run, "memory.bytes").expect("an answer");
    assert!(whole.groups[0].series.len() >= 5);
    for (_, bytes) in &whole.groups[0].series {
        same("memory.bytes", *bytes, kib * 1024.0);
    }
    let kinds = analysis::evaluate(&run, "memory.bytes by kind").expect("an answer");
    let free = kinds
        .groups
        .iter()
        .find(|g| g.key == [KeyValue::Word("free".into())]);
    let free = free.expect("free memory").mean;
    assert!(0.0 < free && free < kib * 1024.0, "{free} bytes are free");
}
