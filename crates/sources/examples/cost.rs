//! What a sample of each source costs: processor time of this thread, mean of many samples.
//!
//! ```text
//! cargo run --release -p sources --example cost [SAMPLES [PAUSE_MS]]
//! ```
//! Without a pause the kernel's files are in the processor's caches, which they would not be
//! at one sample a second: give one to see the difference.

#![allow(
    clippy::disallowed_macros,
    reason = "a measuring program for the people who work on the sources"
)]

use std::time::Duration;

use run::Sink;
use rustix::time::{ClockId, clock_gettime};
use sources::{Host, SOURCES};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<u32>());
    let mut argument = |default| arguments.next().and_then(Result::ok).unwrap_or(default);
    let samples = argument(1000).max(1);
    let pause = Duration::from_millis(u64::from(argument(0)));

    let host = Host::default();
    let mut out = Sink::new();
    let mut total = 0.0;
    println!("{:<12} {:>12} {:>8}", "source", "µs a sample", "rows");
    for entry in SOURCES {
        let mut source = match (entry.open)(&host) {
            Ok(source) => source,
            Err(availability) => {
                println!("{:<12} {availability}", entry.name);
                continue;
            }
        };
        // The first reading, and the first with rows, make what is kept afterwards.
        let opened = source
            .sample(None, &mut out)
            .and_then(|()| source.sample(Some(1.0), &mut out));
        if let Err(error) = opened {
            println!("{:<12} failed: {error}", entry.name);
            continue;
        }
        let (mut spent, mut rows, mut failed) = (0.0, 0, 0);
        for _ in 0..samples {
            std::thread::sleep(pause);
            out.clear();
            let before = processor_seconds();
            failed += u32::from(source.sample(Some(1.0), &mut out).is_err());
            spent += processor_seconds() - before;
            rows += out.filled().map(|(_, rows)| rows.len()).sum::<usize>();
        }
        let mean = spent / f64::from(samples) * 1e6;
        total += mean;
        let rows = rows as f64 / f64::from(samples);
        print!("{:<12} {mean:>12.1} {rows:>8.1}", entry.name);
        println!("{}", if failed > 0 { "  with errors" } else { "" });
    }
    println!("{:<12} {total:>12.1}", "all");
}

/// Processor time of this thread so far.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
