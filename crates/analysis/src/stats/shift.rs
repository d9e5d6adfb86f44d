//! The shift function: how the whole of a distribution moved, not only its middle.
//!
//! `Δ(q) = log Q_B(q) − log Q_A(q)` at several quantiles q (Doksum 1974, Wilcox), over runs: each
//! run has one number a quantile, and those are compared as any numbers of runs are. The band
//! holds all quantiles together.

use super::bootstrap::Draws;
use super::{Interval, Paired, Unpaired, median};

/// Confidence of the band as a whole.
const CONFIDENCE: f64 = 0.95;

/// Quantiles of runs: for each run a number a quantile; NaN where it has too few events to tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Runs of A.
    pub a: Vec<Vec<f64>>,
    /// Runs of B; with blocks, in the order of A.
    pub b: Vec<Vec<f64>>,
    /// Whether run i of A and run i of B were one block.
    pub blocks: bool,
}

/// One quantile of a shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct At {
    /// Its place among the quantiles that were asked.
    pub place: usize,
    /// Middle of the runs of A.
    pub a: f64,
    /// The same of B.
    pub b: f64,
    /// B by A: exp Δ.
    pub ratio: f64,
    /// The band here, as ratios; open where there are too few runs.
    pub band: Interval,
    /// Runs of A and of B that tell it; with blocks, blocks where both do.
    pub runs: [usize; 2],
}

/// The shift at each quantile that runs of both tell, with a simultaneous band of 95 %: by
/// `draws` where there are any (of the quantiles asked, in their order), else each quantile's
/// interval of ranks at 95 % shared among all (Bonferroni), which is too wide rather than too
/// narrow.
pub fn shift(told: &Told, draws: Option<&Draws>) -> Vec<At> {
    let count = told
        .a
        .iter()
        .chain(&told.b)
        .map(Vec::len)
        .max()
        .unwrap_or(0);
    let places: Vec<usize> = (0..count)
        .filter(|p| logs(&told.a, *p).any(f64::is_finite) && logs(&told.b, *p).any(f64::is_finite))
        .collect();
    let confidence = 1.0 - (1.0 - CONFIDENCE) / places.len().max(1) as f64;
    let band = draws.map(|d| d.band(CONFIDENCE));
    let at = |place: usize| {
        let (a, b): (Vec<f64>, Vec<f64>) = (
            logs(&told.a, place).collect(),
            logs(&told.b, place).collect(),
        );
        let (middle, ranks, runs) = by_ranks(&a, &b, told.blocks, confidence);
        let drawn = band.as_ref().and_then(|b| b.get(place)).copied();
        let measured = draws.and_then(|d| d.measured().get(place)).copied();
        let (middle, band) = match (measured, drawn) {
            (Some(measured), Some(band)) => (measured, band),
            _ => (middle, ranks),
        };
        let middle_of = |side: &[f64]| -> f64 {
            let known: Vec<f64> = side.iter().copied().filter(|v| v.is_finite()).collect();
            median(&known).exp()
        };
        At {
            place,
            a: middle_of(&a),
            b: middle_of(&b),
            ratio: middle.exp(),
            band: Interval {
                low: band.low.exp(),
                high: band.high.exp(),
            },
            runs,
        }
    };
    places
        .into_iter()
        .map(at)
        .filter(|a| a.ratio.is_finite())
        .collect()
}

/// Logarithms of a quantile of the runs; NaN of what is not above zero.
fn logs(runs: &[Vec<f64>], place: usize) -> impl Iterator<Item = f64> {
    runs.iter().map(move |run| match run.get(place) {
        Some(v) if *v > 0.0 => v.ln(),
        _ => f64::NAN,
    })
}

fn by_ranks(a: &[f64], b: &[f64], blocks: bool, confidence: f64) -> (f64, Interval, [usize; 2]) {
    if blocks {
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
        let paired = Paired::new(&differences);
        let n = paired.blocks();
        (paired.estimate(), paired.interval(confidence), [n, n])
    } else {
        let sides = Unpaired::new(a, b);
        (sides.estimate(), sides.interval(confidence), sides.runs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(n: usize, levels: [f64; 4]) -> Vec<Vec<f64>> {
        let noise = |run: usize, q: usize| 1.0 + 0.01 * (((run * 7 + q * 3) % 5) as f64 - 2.0);
        (0..n)
            .map(|run| (0..4).map(|q| levels[q] * noise(run, q)).collect())
            .collect()
    }

    #[test]
    fn a_longer_tail_is_seen_where_it_is() {
        let told = Told {
            a: runs(8, [1e-4, 2e-4, 1e-3, 4e-3]),
            b: runs(8, [1e-4, 2e-4, 3e-3, 2e-2]),
            blocks: false,
        };
        for told in [
            told.clone(),
            Told {
                blocks: true,
                ..told
            },
        ] {
            let found = shift(&told, None);
            let ratios: Vec<f64> = found.iter().map(|a| a.ratio).collect();
            for (ratio, wanted) in ratios.iter().zip([1.0, 1.0, 3.0, 5.0]) {
                assert!((ratio / wanted - 1.0).abs() < 0.02, "{ratios:?}");
            }
            assert!(
                found
                    .iter()
                    .all(|a| a.band.is_bounded() && a.band.holds(a.ratio))
            );
            assert!(found[0].band.holds(1.0) && found[3].band.low > 4.0);
        }
    }

    #[test]
    fn the_band_is_wider_than_each_interval_alone() {
        let told = Told {
            a: runs(9, [1.0; 4]),
            b: runs(9, [1.1; 4]),
            blocks: false,
        };
        let one: Vec<f64> = told.a.iter().map(|r| r[2].ln()).collect();
        let other: Vec<f64> = told.b.iter().map(|r| r[2].ln()).collect();
        let alone = Unpaired::new(&one, &other).interval(0.95);
        let band = shift(&told, None)[2].band;
        assert!(band.low.ln() <= alone.low && band.high.ln() >= alone.high);
        // Four of each cannot bound four quantiles together.
        let few = Told {
            a: told.a[..4].to_vec(),
            b: told.b[..4].to_vec(),
            blocks: false,
        };
        assert!(shift(&few, None).iter().all(|a| !a.band.is_bounded()));
    }

    #[test]
    fn what_too_few_events_tell_is_left_out() {
        let mut told = Told {
            a: runs(6, [1.0; 4]),
            b: runs(6, [1.0; 4]),
            blocks: true,
        };
        for run in &mut told.a {
            run[3] = f64::NAN;
        }
        told.b[0][2] = f64::NAN;
        told.b[1][1] = 0.0;
        let found = shift(&told, None);
        let places: Vec<(usize, usize)> = found.iter().map(|a| (a.place, a.runs[0])).collect();
        assert_eq!(places, [(0, 6), (1, 5), (2, 5)]);
        assert!(shift(&Told::default(), None).is_empty());
        let uneven = Told {
            a: vec![vec![1.0], vec![]],
            b: vec![vec![2.0, 3.0]],
            blocks: true,
        };
        assert_eq!(shift(&uneven, None).len(), 1);
    }
}
