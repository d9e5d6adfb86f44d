//! Runs the calibration's cells with many comparisons each and prints a line a cell: name,
//! comparisons, share, least and greatest share allowed, `within` or `OUTSIDE`, what it is.
//!
//!     calibrate [COMPARISONS] [PREFIX]
#![allow(
    clippy::disallowed_macros,
    reason = "prints its results, as an example does"
)]

#[path = "../tests/calibration/mod.rs"]
mod cells;

use std::sync::Mutex;

/// No cell has fewer comparisons than this.
const LEAST: usize = 2000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let told = arguments.next().and_then(|n| n.parse().ok());
    let rounds: usize = told.unwrap_or(20_000);
    let prefix = arguments.next().unwrap_or_default();
    let all = cells::cells();
    let waiting = Mutex::new(all.into_iter().filter(|c| c.name.starts_with(&prefix)));
    let next = || waiting.lock().ok().and_then(|mut w| w.next());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(cell) = next() {
                    let rounds = (rounds / cell.dear).max(LEAST);
                    let share = cell.share(rounds);
                    let (low, high) = cell.within;
                    let verdict = if cell.allows(share, rounds, 0.0) {
                        "within"
                    } else {
                        "OUTSIDE"
                    };
                    println!(
                        "{}\t{rounds}\t{share:.4}\t{low}\t{high}\t{verdict}\t{}",
                        cell.name, cell.about
                    );
                }
            });
        }
    });
}
