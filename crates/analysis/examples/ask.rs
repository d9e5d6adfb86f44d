//! How long an expression takes: seconds, largest memory so far, groups, their total.
//!
//! ```text
//! cargo run --release -p analysis --example ask -- RUN [--series] EXPRESSION...
//! ```
//! `--series` asks for every interval, as a picture does.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a measuring program for the people who work on the evaluator"
)]

use std::path::Path;
use std::time::Instant;

use analysis::{Answer, Error, evaluate, summarise};
use run::Run;

type Ask = fn(&Run, &str) -> Result<Answer, Error>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("RUN is missing")?;
    let mut ask: Ask = summarise;
    for expression in arguments {
        if expression == "--series" {
            ask = evaluate;
            continue;
        }
        let from = Instant::now();
        let run = Run::open(Path::new(&path))?;
        let answer = ask(&run, &expression)?;
        let seconds = from.elapsed().as_secs_f64();
        let total: f64 = answer.groups.iter().filter_map(|g| g.total).sum();
        let groups = answer.groups.len();
        let megabytes = peak() / 1e3;
        println!("{seconds:.3}\t{megabytes:.0}\t{groups}\t{total}\t{expression}");
    }
    Ok(())
}

/// Largest resident memory so far, in KB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let number = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
    number.map_or(f64::NAN, |kib| kib * 1.024)
}
