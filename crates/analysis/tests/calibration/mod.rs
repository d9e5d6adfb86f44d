//! Comparisons of simulated runs whose truth is known: how often what is said of them is wrong.
//!
//! A cell is one way to measure, and a share of comparisons that must lie within bounds. The
//! test runs few comparisons a cell, the example `calibrate` thousands.

mod blocks;
mod inside;
mod latencies;
mod looks;
mod searches;
mod sides;
mod trials;

use analysis::stats::{Interval, Random};

/// A share that is known beforehand.
pub(crate) struct Cell {
    /// Unique; its first word says of what the share is: `alarms`, `covered`, `found`…
    pub(crate) name: &'static str,
    /// The way it is measured, and where bounds are not those that are promised: why.
    pub(crate) about: &'static str,
    /// Bounds of the share.
    pub(crate) within: (f64, f64),
    /// It takes so many times as long as a cheap one: it gets so many times fewer comparisons.
    pub(crate) dear: usize,
    /// One comparison: whether it counts into the share.
    pub(crate) one: fn(&mut Random) -> bool,
}

/// False alarms that 5 % may have.
pub(crate) const ALARMS: (f64, f64) = (0.03, 0.06);
/// Coverage that 95 % may have.
pub(crate) const COVERED: (f64, f64) = (0.93, 0.97);

/// Every cell.
pub(crate) fn cells() -> Vec<&'static Cell> {
    let all = [
        blocks::CELLS,
        sides::CELLS,
        latencies::CELLS,
        looks::CELLS,
        trials::CELLS,
        searches::CELLS,
        inside::CELLS,
    ];
    all.into_iter().flatten().collect()
}

impl Cell {
    /// The share of `rounds` comparisons, always the same ones.
    pub(crate) fn share(&self, rounds: usize) -> f64 {
        // Each cell has its own comparisons (FNV-1a of its name).
        let seed = self.name.bytes().fold(0xcbf2_9ce4_8422_2325, |h: u64, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut random = Random::new(seed);
        let counted = (0..rounds).filter(|_| (self.one)(&mut random)).count();
        counted as f64 / rounds as f64
    }

    /// Whether a share of `rounds` comparisons may be of a true share within the bounds: it is
    /// off by at most so many standard deviations.
    pub(crate) fn allows(&self, share: f64, rounds: usize, deviations: f64) -> bool {
        let off = |p: f64| deviations * (p * (1.0 - p) / rounds as f64).sqrt();
        let (low, high) = self.within;
        share >= low - off(low) && share <= high + off(high)
    }
}

/// Whether an interval of ratios says that there is a difference.
pub(crate) fn alarm(chance: f64, interval: Interval) -> bool {
    chance <= 0.05 && interval.is_bounded() && !interval.holds(1.0)
}
