//! Makes runs to compare: `sides DIR RUNS` writes DIR/a-0… and DIR/b-0…, that many of each, of a
//! minute in which a disk did 500 I/Os a second; B's tail is longer.
#![allow(
    clippy::disallowed_macros,
    reason = "tells how it is used, as an example does"
)]

#[path = "../tests/support/disk_runs.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod disk_runs;

use std::collections::BTreeMap;
use std::path::Path;

use analysis::stats::Random;
use disk_runs::{Second, failing};
use run::{Unit, grid};

const SECONDS: usize = 60;

/// A second, as a histogram has it: how many I/Os each bucket of the grid holds.
fn second(random: &mut Random, level: f64, tail: f64) -> Second {
    let mut buckets = BTreeMap::new();
    for i in 0..500_usize {
        let slow = if i.is_multiple_of(50) { tail } else { 1.0 };
        let latency = 1e-4 * level * slow * (0.2 * random.normal()).exp();
        // Bits of numbers above zero are in their order.
        let bucket = grid::floor(latency, Unit::Seconds).to_bits();
        *buckets.entry(bucket).or_insert(0.0) += 1.0;
    }
    let cells = buckets
        .into_iter()
        .map(|(bits, count)| (f64::from_bits(bits), count));
    Second {
        bytes: 500.0 * 4096.0 * level,
        latencies: cells.collect(),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, dir, runs] = &arguments[..] else {
        eprintln!("sides DIR RUNS");
        std::process::exit(2);
    };
    let runs: usize = runs.parse().unwrap_or(50);
    let mut random = Random::new(1);
    for i in 0..runs {
        for (place, (side, tail)) in [("a", 10.0), ("b", 12.0)].into_iter().enumerate() {
            let level = (0.03 * random.normal()).exp();
            let all: Vec<Second> = (0..SECONDS)
                .map(|_| second(&mut random, level, tail))
                .collect();
            let later = (2 * i + place) as i64 * 100;
            failing(Path::new(dir), &format!("{side}-{i}"), later, &all, None);
        }
    }
}
