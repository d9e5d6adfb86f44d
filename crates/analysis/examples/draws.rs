//! How long a hierarchical bootstrap of latencies takes: 10,000 draws over 30 blocks of two
//! runs, each of 20 batches with 200 buckets, at four quantiles, on two threads. Prints seconds.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "measures and prints, as an example does"
)]

use analysis::quantiles::SHOWN;
use analysis::stats::Random;
use analysis::stats::bootstrap::{Batches, DRAWS, Runs, Spreads, bootstrap};

const BUCKETS: usize = 200;

fn run(random: &mut Random) -> Batches {
    let values = (0..BUCKETS)
        .map(|b| 1e-5 * 1.03_f64.powi(b as i32))
        .collect();
    let mut batch = || -> Vec<f64> {
        let mut counts = vec![0.0; BUCKETS];
        for _ in 0..1000 {
            let at = (80.0 + 15.0 * random.normal()).clamp(0.0, BUCKETS as f64 - 1.0);
            counts[at as usize] += 1.0;
        }
        counts
    };
    let counts: Vec<Vec<f64>> = (0..20).map(|_| batch()).collect();
    Batches::Spreads(Spreads::new(values, &counts))
}

fn main() {
    let mut random = Random::new(1);
    let blocks = (0..30).map(|_| [run(&mut random), run(&mut random)]);
    let runs = Runs::Blocks(blocks.collect());
    let quantiles = SHOWN.map(|s| s.1);
    let from = std::time::Instant::now();
    let draws = bootstrap(&runs, &quantiles, DRAWS, 1, 2).expect("enough blocks");
    let band = draws.band(0.95);
    println!("{:.4}", from.elapsed().as_secs_f64());
    eprintln!("{band:?}");
}
