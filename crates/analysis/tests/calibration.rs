//! Verdicts on simulated runs whose truth is known: how often they are wrong.
//!
//! `CALIBRATION_ROUNDS` (2,000) says how many comparisons a cell has.

use analysis::stats::{Aim, Estimate, Margin, Paired, Unpaired, Verdict, judge};

const MARGIN: Margin = Margin(0.02);

fn rounds() -> usize {
    let told = std::env::var("CALIBRATION_ROUNDS").ok();
    told.and_then(|t| t.parse().ok()).unwrap_or(2000)
}

/// Numbers that look random and are the same in every run of the test (xorshift).
struct Noise(u64);

impl Noise {
    /// Between 0 and 1, and neither.
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// Mostly normal, and one in ten far out.
    fn with_outliers(&mut self) -> f64 {
        let scale = if self.uniform() < 0.1 { 6.0 } else { 1.0 };
        scale * self.normal()
    }
}

/// What came of a cell, as shares.
struct Cell {
    /// Said to be better or worse.
    sided: f64,
    equivalent: f64,
    /// The interval held the truth.
    covered: f64,
}

fn cell(seed: u64, truth: f64, one: impl Fn(&mut Noise) -> Estimate) -> Cell {
    let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..20 {
        noise.uniform();
    }
    let (mut sided, mut equivalent, mut covered) = (0, 0, 0);
    let all = rounds();
    for _ in 0..all {
        let estimate = one(&mut noise);
        match judge(&estimate, estimate.chance, Aim::Higher, MARGIN) {
            Verdict::Better | Verdict::Worse => sided += 1,
            Verdict::Equivalent => equivalent += 1,
            _ => {}
        }
        covered += usize::from(estimate.interval.holds(truth.exp()));
    }
    let share = |n: usize| n as f64 / all as f64;
    Cell {
        sided: share(sided),
        equivalent: share(equivalent),
        covered: share(covered),
    }
}

/// Blocks of a run of each: logarithms with noise of `spread`, a drift over the blocks, and a
/// true difference.
fn blocks(noise: &mut Noise, n: usize, spread: f64, truth: f64, outliers: bool) -> Estimate {
    let mut one = || {
        if outliers {
            noise.with_outliers()
        } else {
            noise.normal()
        }
    };
    let differences: Vec<f64> = (0..n)
        // What drifts from block to block is the same in both, and goes.
        .map(|_| truth + spread * (one() - one()))
        .collect();
    Estimate::paired(&Paired::new(&differences), MARGIN)
}

fn sides(noise: &mut Noise, n: usize, spread: f64, truth: f64, drift: f64) -> Estimate {
    let a: Vec<f64> = (0..n).map(|_| spread * noise.normal()).collect();
    let b: Vec<f64> = (0..n)
        .map(|_| truth + drift + spread * noise.normal())
        .collect();
    Estimate::unpaired(&Unpaired::new(&a, &b), MARGIN)
}

/// Where there is no difference, one is claimed in at most 5 of 100 cases, and not far fewer.
#[test]
fn false_alarms_are_as_rare_as_promised() {
    for (n, outliers) in [(8, false), (8, true), (10, false), (12, true)] {
        let found = cell(n as u64, 0.0, |r| blocks(r, n, 0.05, 0.0, outliers));
        assert!(found.sided <= 0.06, "{n} blocks: {}", found.sided);
        // A rank test has steps: of 8 blocks it is at 3.9 %.
        assert!(found.sided >= 0.015, "{n} blocks: {}", found.sided);
        let covered = (0.93..=0.98).contains(&found.covered);
        assert!(covered, "{n} blocks: {} covered", found.covered);
    }
    for n in [5, 8] {
        let found = cell(100 + n as u64, 0.0, |r| sides(r, n, 0.05, 0.0, 0.0));
        assert!(found.sided <= 0.06, "{n} runs a side: {}", found.sided);
        assert!(found.covered >= 0.93, "{n} runs a side: {}", found.covered);
    }
}

#[test]
fn true_differences_are_found_and_their_intervals_hold_them() {
    let truth = 1.05_f64.ln();
    let found = cell(7, truth, |r| blocks(r, 8, 0.02, truth, false));
    assert!(found.sided >= 0.9, "found {}", found.sided);
    assert!((0.93..=0.98).contains(&found.covered), "{}", found.covered);
    let apart = cell(8, truth, |r| sides(r, 8, 0.02, truth, 0.0));
    assert!(apart.sided >= 0.9, "found {}", apart.sided);
}

/// A difference just at the margin is called none worth having in at most 5 of 100 cases.
#[test]
fn equivalence_is_rarely_claimed_wrongly() {
    let edge = 1.02_f64.ln();
    for (n, spread) in [(8, 0.005), (12, 0.01)] {
        let found = cell(40 + n as u64, edge, |r| blocks(r, n, spread, edge, false));
        assert!(found.equivalent <= 0.06, "{n}: {}", found.equivalent);
    }
    let same = cell(50, 0.0, |r| blocks(r, 8, 0.005, 0.0, false));
    assert!(same.equivalent >= 0.9, "{}", same.equivalent);
}

/// What drifts with time makes alarms where one side ran after the other, and none in blocks.
#[test]
fn a_drift_alarms_without_blocks_only() {
    let drifting = cell(60, 0.0, |r| sides(r, 8, 0.02, 0.0, 0.06));
    assert!(drifting.sided > 0.9, "{}", drifting.sided);
    let blocked = cell(61, 0.0, |r| blocks(r, 8, 0.02, 0.0, false));
    assert!(blocked.sided <= 0.06, "{}", blocked.sided);
}
