//! What is answered from events equals counting them one by one.
#![allow(clippy::disallowed_methods, reason = "tests write files")]

mod support;

use std::collections::BTreeMap;

use analysis::Answer;
use analysis::scan::KeyValue;
use run::grid;
use run::{Nanos, Unit};
use support::{Runs, START, Script, at, pairs, runs};

/// An event as the tests see it: numbers in nanoseconds and bytes.
#[derive(Clone)]
struct Event {
    time: Nanos,
    op: &'static str,
    process: String,
    sequential: &'static str,
    queue: i64,
    service: i64,
    size: i64,
    offset: i64,
    distance: i64,
    depth: i64,
    weight: i64,
}

impl Event {
    fn latency(&self) -> i64 {
        self.queue + self.service
    }

    fn put(&self, s: &mut Script) {
        let words = [
            "sda",
            "disk",
            self.op,
            "sync",
            "no",
            self.sequential,
            &self.process,
            "fio",
            "/a",
            "",
        ];
        let values = [
            self.queue as f64 / 1e9,
            self.service as f64 / 1e9,
            self.size as f64,
            self.offset as f64,
            self.distance as f64,
            self.distance as f64,
            self.depth as f64,
            self.weight as f64,
        ];
        s.event("disk_event", self.time, &words, &values);
    }
}

/// Numbers that look random (an LCG of Knuth's constants).
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) % most) as i64
    }

    /// Of any magnitude up to 2^`bits`.
    fn any(&mut self, bits: u64) -> i64 {
        let magnitude = self.below(bits);
        self.below(1 << (magnitude + 1))
    }
}

/// Seconds that are sampled.
const SECONDS: i64 = 12;

fn random_events(seed: u64) -> Vec<Event> {
    let mut random = Random(seed);
    let mut all = Vec::new();
    for second in 0..SECONDS {
        // Some seconds are empty.
        let count = if second % 5 == 3 {
            0
        } else {
            random.below(400)
        };
        for _ in 0..count {
            let sign = [-1, 1][random.below(2) as usize];
            // The end of an interval is part of it; now and then events come late.
            let within = 1 + random.below(1_000_000_000);
            let late = if random.below(20) == 0 {
                second.min(1)
            } else {
                0
            };
            all.push(Event {
                time: START + (second - late) * 1_000_000_000 + within,
                op: ["read", "write", "discard", "flush"][random.below(4) as usize],
                process: format!("p[{}@1]", random.below(4)),
                sequential: ["yes", "no"][random.below(2) as usize],
                queue: random.any(20),
                service: random.any(30),
                size: random.below(9) * 4096,
                offset: random.any(40) / 512 * 512,
                distance: sign * random.any(40),
                depth: 1 + random.below(200),
                weight: [1, 1, 7][random.below(3) as usize],
            });
        }
    }
    all
}

fn run_of(events: &[Event]) -> Runs {
    runs(&[("a", 3.0), ("b", 8.0)], |s| {
        for second in 0..SECONDS {
            s.at((second + 1) as f64, 1.0).own();
            // As they came: each with the sample in which it was read.
            let (from, to) = (at(second as f64), at((second + 1) as f64));
            let read = events.iter().filter(|e| from < e.time && e.time <= to);
            read.for_each(|e| e.put(s));
        }
    })
}

fn bucket(value: i64, unit: Unit) -> f64 {
    let per_unit = if unit == Unit::Seconds { 1e9 } else { 1.0 };
    grid::floor(value as f64 / per_unit, unit)
}

/// Series of each group, as amounts by interval.
fn amounts(answer: &Answer) -> BTreeMap<String, Vec<f64>> {
    let group = |g: &analysis::Group| {
        let mut amounts = vec![0.0; answer.slots.len()];
        for (slot, rate) in &g.series {
            amounts[*slot as usize] = rate * answer.slots[*slot as usize].interval;
        }
        (key(&g.key), amounts)
    };
    answer.groups.iter().map(group).collect()
}

fn key(key: &[KeyValue]) -> String {
    let part = |k: &KeyValue| match k {
        KeyValue::Word(word) => word.clone(),
        KeyValue::Number(number) => format!("{number:e}"),
    };
    key.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// What counting one by one gives; `slots` are the ends of intervals in seconds.
fn counted(
    events: &[Event],
    slots: std::ops::Range<i64>,
    keep: &dyn Fn(&Event) -> bool,
    key: &dyn Fn(&Event) -> String,
    amount: &dyn Fn(&Event) -> f64,
) -> BTreeMap<String, Vec<f64>> {
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for event in events.iter().filter(|e| keep(e)) {
        let slot = (event.time - START + 999_999_999) / 1_000_000_000 - 1;
        if !slots.contains(&slot) {
            continue;
        }
        let empty = || vec![0.0; (slots.end - slots.start) as usize];
        let of = all.entry(key(event)).or_insert_with(empty);
        of[(slot - slots.start) as usize] += amount(event) * event.weight as f64;
    }
    all
}

type Case = (
    &'static str,
    std::ops::Range<i64>,
    Box<dyn Fn(&Event) -> bool>,
    Box<dyn Fn(&Event) -> String>,
    Box<dyn Fn(&Event) -> f64>,
);

fn number(value: f64) -> String {
    format!("{value:e}")
}

/// Bytes moved: what a discard frees is not.
fn moved(e: &Event) -> f64 {
    if e.op == "discard" {
        0.0
    } else {
        e.size as f64
    }
}

/// What is moved, and what is freed.
fn bytes_of_processes() -> Vec<Case> {
    const ALL: std::ops::Range<i64> = 0..SECONDS;
    vec![
        (
            "disk.bytes by process",
            ALL,
            Box::new(|_| true),
            Box::new(|e| e.process.clone()),
            Box::new(moved),
        ),
        (
            "disk.discarded by process",
            ALL,
            Box::new(|_| true),
            Box::new(|e| e.process.clone()),
            Box::new(|e| e.size as f64 - moved(e)),
        ),
        (
            "disk.discarded by process where op = read",
            ALL,
            Box::new(|e| e.op == "read"),
            Box::new(|e| e.process.clone()),
            Box::new(|_| 0.0),
        ),
    ]
}

fn cases() -> Vec<Case> {
    const ALL: std::ops::Range<i64> = 0..SECONDS;
    let latency = |e: &Event| number(bucket(e.latency(), Unit::Seconds));
    let bytes = |v: i64| number(bucket(v, Unit::Bytes));
    let one = |_: &Event| 1.0;
    let ends_slow = |e: &Event| e.latency() as f64 / 1e9 >= 0.001;
    // What a discard frees is not moved.
    let moved = |e: &Event| {
        if e.op == "discard" {
            0.0
        } else {
            e.size as f64
        }
    };
    vec![
        (
            "disk.ios by process",
            ALL,
            Box::new(|_| true),
            Box::new(|e| e.process.clone()),
            Box::new(one),
        ),
        (
            "disk.ios by latency where process ~ p",
            ALL,
            Box::new(|_| true),
            Box::new(latency),
            Box::new(one),
        ),
        (
            "disk.bytes by op, latency where process != 'p[1@1]' and op in read, write, discard",
            ALL,
            Box::new(|e| e.process != "p[1@1]" && e.op != "flush"),
            Box::new(move |e| format!("{}, {}", e.op, latency(e))),
            Box::new(moved),
        ),
        (
            "disk.ios by distance where offset >= 1KiB",
            ALL,
            Box::new(|e| e.offset >= 1024),
            Box::new(move |e| bytes(e.distance)),
            Box::new(one),
        ),
        (
            "disk.ios by phase, offset where latency >= 1ms and phase in a, b",
            3..SECONDS,
            Box::new(ends_slow),
            Box::new(move |e| {
                let phase = if e.time <= at(8.0) { "a" } else { "b" };
                format!("{phase}, {}", bytes(e.offset))
            }),
            Box::new(one),
        ),
        (
            "disk.ios by depth where process = 'p[0@1]' and latency in 1us..20ms and size = 8KiB",
            ALL,
            Box::new(|e| {
                e.process == "p[0@1]"
                    && (1000..=20_000_000).contains(&e.latency())
                    && e.size == 8192
            }),
            Box::new(move |e| bytes(e.depth)),
            Box::new(one),
        ),
        (
            "disk.random by process where distance < 0",
            ALL,
            Box::new(|e| e.distance < 0),
            Box::new(|e| e.process.clone()),
            Box::new(|e| f64::from(u8::from(e.sequential == "no"))),
        ),
        (
            "disk.ios by host, sync where time in 2s..7s and size in 4KiB, 16KiB",
            2..7,
            Box::new(|e| e.size == 4096 || e.size == 16384),
            Box::new(|_| "box, sync".into()),
            Box::new(one),
        ),
        (
            "disk.ios where process ~ 2 and queue_time > 0.1ms and size != 4096",
            ALL,
            Box::new(|e| e.process.contains('2') && e.queue > 100_000 && e.size != 4096),
            Box::new(|_| String::new()),
            Box::new(one),
        ),
    ]
}

#[test]
fn every_breakdown_equals_counting_one_by_one() {
    for seed in 1..=4 {
        let events = random_events(seed);
        let run = run_of(&events);
        for (text, slots, keep, key, amount) in cases().into_iter().chain(bytes_of_processes()) {
            let answer = run.ask(text);
            assert_eq!(answer.table, "disk_event", "{text}");
            let expected = counted(&events, slots.clone(), &keep, &key, &amount);
            assert!(!expected.is_empty(), "{text} says something");
            let by_phase = text.contains("phase,");
            if by_phase {
                // A phase has only its own intervals.
                let totals = |all: &BTreeMap<String, Vec<f64>>| -> Vec<(String, f64)> {
                    all.iter()
                        .map(|(k, v)| (k.clone(), v.iter().sum()))
                        .collect()
                };
                assert_eq!(totals(&amounts(&answer)), totals(&expected), "{text}");
            } else {
                assert_eq!(amounts(&answer), expected, "{text}");
            }
            assert_eq!(answer.slots.len() as i64, slots.end - slots.start, "{text}");
            for group in &answer.groups {
                let all = &expected[&self::key(&group.key)];
                assert_eq!(group.total, Some(all.iter().sum()), "{text}");
            }
        }
    }
}

#[test]
fn times_of_events_add_up_in_nanoseconds() {
    let events = random_events(9);
    let run = run_of(&events);
    let by = |pick: &dyn Fn(&Event) -> i64| -> Vec<(String, f64)> {
        let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
        for e in &events {
            *sums.entry(&e.process).or_default() += pick(e) * e.weight;
        }
        sums.into_iter()
            .map(|(p, v)| (p.to_owned(), v as f64 / 1e9))
            .collect()
    };
    for (measure, pick) in [
        ("time", (|e: &Event| e.latency()) as fn(&Event) -> i64),
        ("queue", |e| e.queue),
        ("service", |e| e.service),
    ] {
        let mut found = run.totals(&format!("disk.{measure} by process"));
        found.sort_by(|a, b| a.0.cmp(&b.0));
        for (found, expected) in found.iter().zip(by(&pick)) {
            assert_eq!(found.0, expected.0);
            assert!(
                (found.1 - expected.1).abs() < 1e-9,
                "{found:?} {expected:?}"
            );
        }
    }
    let ios = |p: &str| -> i64 {
        let of = events.iter().filter(|e| e.process == p);
        of.map(|e| e.weight).sum()
    };
    for (process, mean) in run.means("disk.mean_latency by process") {
        let time = by(&|e| e.latency()).into_iter().find(|t| t.0 == process);
        let expected = time.unwrap().1 / ios(&process) as f64;
        assert!(
            (mean - expected).abs() < 2e-9,
            "{process}: {mean} {expected}"
        );
    }
}

fn plain(time: Nanos, latency: i64, weight: i64) -> Event {
    Event {
        time,
        op: "read",
        process: "p".into(),
        sequential: "no",
        queue: 0,
        service: latency,
        size: 4096,
        offset: 0,
        distance: 0,
        depth: 1,
        weight,
    }
}

#[test]
fn events_between_and_after_the_samples_have_intervals_of_their_own() {
    let r = runs(&[], |s| {
        for second in [1.0, 2.0, 6.0] {
            s.at(second, 1.0).own();
        }
        // In a gap of three seconds, in the slack after the last sample, and long after it.
        for (seconds, weight) in [(0.5, 1), (2.0, 2), (3.5, 3), (5.5, 4), (6.25, 5), (8.0, 6)] {
            plain(at(seconds), 1000, weight).put(s);
        }
    });
    let answer = r.ask("disk.ios by process");
    let slots: Vec<f64> = answer.slots.iter().map(|s| s.interval).collect();
    assert_eq!(slots, [1.0, 1.0, 3.0, 1.0, 2.0]);
    let rates = [(0, 1.0), (1, 2.0), (2, 1.0), (3, 9.0), (4, 3.0)];
    assert_eq!(answer.groups[0].series, rates);
    assert_eq!(answer.groups[0].total, Some(21.0));
    let within = r.one("disk.ios where process = p and time in 2s..6s");
    assert_eq!((within.0, within.4), (Some(12.0), 2));
}

#[test]
fn an_interval_without_events_is_zero_and_a_gap_without_events_is_none() {
    let r = runs(&[], |s| {
        for second in [1.0, 2.0, 6.0] {
            s.at(second, 1.0).own();
        }
        plain(at(1.5), 1000, 10).put(s);
    });
    assert_eq!(
        r.one("disk.ios where process = p"),
        (Some(10.0), 10.0 / 3.0, 0.0, 10.0, 3)
    );
}

#[test]
fn a_listed_time_is_a_bucket_and_other_numbers_are_exact() {
    let r = runs(&[], |s| {
        s.at(1.0, 1.0).own();
        for (latency, size) in [(10_000_000, 1 << 20), (10_000_123, (1 << 20) + 512)] {
            Event {
                size,
                ..plain(at(0.5), latency, 1)
            }
            .put(s);
        }
    });
    for (test, total) in [
        ("latency = 10ms", Some(2.0)),
        ("latency > 10ms", Some(1.0)),
        ("latency >= 10ms", Some(2.0)),
        ("latency <= 10ms", Some(1.0)),
        ("latency in 10ms..10.000123ms", Some(2.0)),
        ("size = 1MiB", Some(1.0)),
        ("size != 1MiB", Some(1.0)),
        ("size in 1MiB, 1049088", Some(2.0)),
    ] {
        let answer = r.ask(&format!("disk.ios where process = p and {test}"));
        assert_eq!(
            answer.groups.first().map(|g| g.total),
            Some(total),
            "{test}"
        );
        assert_eq!(answer.caveat, None);
    }
    let none = r.ask("disk.ios where process = p and latency != 10ms");
    assert!(none.groups.is_empty());
}

#[test]
fn a_cut_through_a_bucket_of_a_histogram_is_said() {
    let lower = |ns: u64| grid::lower(grid::index(ns)) as f64 / 1e9;
    let r = runs(&[], |s| {
        s.at(1.0, 1.0).own();
        for (ns, ios) in [(999_999, 3.0), (1_100_000, 5.0)] {
            s.row(
                "disk_latency",
                &["sda", "disk", "read"],
                &[lower(ns), ios, 0.0],
            );
        }
    });
    // 999.999 us and 1 ms share a bucket, which ends above 1 ms.
    for (test, total, said) in [
        ("latency > 1ms", 5.0, true),
        ("latency <= 1ms", 3.0, true),
        ("latency >= 999424ns", 8.0, false),
        ("latency < 999424ns", 0.0, false),
        ("latency > 999424ns", 5.0, true),
        ("latency > 0s", 8.0, false),
        ("latency = 1ms", 3.0, false),
        ("latency in 1ms..2ms", 5.0, true),
    ] {
        let answer = r.ask(&format!("disk.ios where {test}"));
        let found: f64 = answer.groups.iter().filter_map(|g| g.total).sum();
        assert_eq!((found, answer.caveat.is_some()), (total, said), "{test}");
    }
}

#[test]
fn of_one_subject_histogram_and_events_agree() {
    let events = random_events(5);
    let r = runs(&[], |s| {
        for second in 0..SECONDS {
            let (from, to) = (at(second as f64), at((second + 1) as f64));
            s.at((second + 1) as f64, 1.0).own();
            let mut buckets: BTreeMap<(&str, u64), f64> = BTreeMap::new();
            for e in events.iter().filter(|e| from < e.time && e.time <= to) {
                e.put(s);
                let bucket = grid::lower(grid::index(e.latency() as u64));
                *buckets.entry((e.op, bucket)).or_default() += e.weight as f64;
            }
            for ((op, bucket), ios) in buckets {
                let words = ["sda", "disk", op];
                s.row("disk_latency", &words, &[bucket as f64 / 1e9, ios, 0.0]);
            }
        }
    });
    let histogram = r.ask("disk.ios by op, latency");
    let events = r.ask("disk.ios by op, latency where process ~ .");
    assert_eq!(
        (histogram.table, events.table),
        ("disk_latency", "disk_event")
    );
    assert_eq!(amounts(&histogram), amounts(&events));
    let one = pairs(&[("p[0@1]", 0.0)]);
    assert_ne!(
        r.totals("disk.ios by process where process = 'p[0@1]'"),
        one
    );
}
