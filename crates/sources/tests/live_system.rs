//! Processors and memory of the machine the tests run on, against what must hold of them.
#![allow(
    clippy::disallowed_macros,
    reason = "a test that cannot run here says why"
)]

use std::time::Duration;

use run::rows::TableId;
use run::{Sink, catalog};
use rustix::time::{ClockId, clock_gettime};
use sources::{Host, SOURCES, Source};

/// The source of that name on this machine; `None`, with the reason printed, without `/proc`.
fn live(name: &str) -> Option<Box<dyn Source>> {
    let entry = SOURCES.iter().find(|e| e.name == name).expect("a source");
    match (entry.open)(&Host::default()) {
        Ok(source) => Some(source),
        Err(availability) => {
            let needed = std::env::var_os("CI").is_some();
            assert!(!needed, "{name}: {availability}");
            eprintln!("skipped, {name}: {availability}");
            None
        }
    }
}

fn seconds() -> f64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Sum of all measures of a table.
fn sum(out: &Sink, table: &str) -> f64 {
    let rows = out.rows(TableId::of(table));
    rows.values.iter().flatten().sum()
}

#[test]
fn every_table_has_a_row_in_every_interval() {
    for name in ["cpu", "pressure", "memory", "vm"] {
        let Some(mut source) = live(name) else {
            continue;
        };
        let mut out = Sink::new();
        source.sample(None, &mut out).unwrap();
        // So soon after the first that hardly anything happened between.
        source.sample(Some(1e-4), &mut out).unwrap();
        for (_, table) in catalog::tables().filter(|(_, t)| t.source == name) {
            assert!(
                !out.rows(TableId::of(table.name)).is_empty(),
                "{}",
                table.name
            );
        }
    }
}

#[test]
fn the_time_of_the_processors_is_all_the_time_there_was() {
    let Some(mut source) = live("cpu") else {
        return;
    };
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    let mut before = seconds();
    for pause in [400, 1000] {
        std::thread::sleep(Duration::from_millis(pause));
        out.clear();
        let now = seconds();
        let elapsed = now - before;
        source.sample(Some(elapsed), &mut out).unwrap();
        before = now;
        let processors = out.rows(TableId::of("cpu_idle")).len() as f64;
        let whole = elapsed * processors;
        let told = sum(&out, "cpu") + sum(&out, "cpu_idle");
        // Ten counters a processor, each rounded down to 10 ms at both ends; and 3 % for
        // running time that is counted by the tick in which it is found.
        let tolerance = processors * 0.1 + whole * 0.03;
        assert!(
            (told - whole).abs() <= tolerance,
            "{told} s told, {whole} s passed on {processors} processors"
        );
    }
}

#[test]
fn the_kinds_of_memory_are_all_of_it() {
    let Some(mut source) = live("memory") else {
        return;
    };
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    source.sample(Some(1.0), &mut out).unwrap();
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let total: f64 = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.strip_suffix("kB"))
        .and_then(|kib| kib.trim().parse().ok())
        .expect("MemTotal");
    assert_eq!(sum(&out, "memory"), total * 1024.0);
    let memory = out.rows(TableId::of("memory"));
    assert!(memory.values[0].iter().all(|&bytes| bytes >= 0.0));
}

#[test]
fn interrupts_sum_to_the_total_of_the_kernel() {
    let Some(mut source) = live("cpu") else {
        return;
    };
    let total = || -> f64 {
        let text = std::fs::read_to_string("/proc/stat").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("intr "));
        let total = line.and_then(|line| line.split(' ').next()?.parse().ok());
        total.expect("a total")
    };
    let mut out = Sink::new();
    let outer = total();
    source.sample(None, &mut out).unwrap();
    let inner = total();
    std::thread::sleep(Duration::from_millis(300));
    let inner = total() - inner;
    source.sample(Some(0.3), &mut out).unwrap();
    let outer = total() - outer;
    let rows = out.rows(TableId::of("interrupt"));
    let level = |i: usize| out.words.text(rows.words[0][i]);
    let hard = (0..rows.len()).filter(|&i| level(i) == Some("hard"));
    let told: f64 = hard.map(|i| rows.values[0][i]).sum();
    // Two lines may have counted between the reading of the total and theirs.
    assert!(
        (inner - 2.0..=outer + 2.0).contains(&told),
        "{told} told, {inner} to {outer} counted"
    );
}
