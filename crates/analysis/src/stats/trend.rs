//! Drift over time: whether values rise or fall with the order in which they came.

use super::distributions::normal_above;
use super::median;

/// More values than this are tested by the normal distribution; the exact one agrees by then.
const MOST_EXACT: usize = 60;

/// What of a trend was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Change of the value by unit of time: the median slope of all pairs (Theil 1950, Sen
    /// 1968).
    pub slope: f64,
    /// Two-sided chance of such an order if there were no trend (Kendall 1938; exact to 60
    /// values without ties).
    pub chance: f64,
}

/// The trend of points of time and value, in any order. `None` with fewer than four, or where
/// all have the same time.
pub fn trend(points: &[(f64, f64)]) -> Option<Trend> {
    let mut points: Vec<(f64, f64)> = points
        .iter()
        .copied()
        .filter(|p| p.0.is_finite() && p.1.is_finite())
        .collect();
    if points.len() < 4 {
        return None;
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut slopes = Vec::new();
    let mut score = 0_i64;
    let mut ties = false;
    for (i, a) in points.iter().enumerate() {
        for b in &points[i + 1..] {
            let (time, value) = (b.0 - a.0, b.1 - a.1);
            ties |= time == 0.0 || value == 0.0;
            if time > 0.0 {
                slopes.push(value / time);
                score += i64::from(value > 0.0) - i64::from(value < 0.0);
            }
        }
    }
    let n = points.len();
    let chance = if n <= MOST_EXACT && !ties {
        exact(n, score.unsigned_abs() as usize)
    } else {
        by_normal(&points, score)
    };
    (!slopes.is_empty()).then(|| Trend {
        slope: median(&slopes),
        chance,
    })
}

/// Two-sided chance of a score as far from zero, from how many orders have each number of
/// inversions.
fn exact(n: usize, score: usize) -> f64 {
    let most = n * (n - 1) / 2;
    let mut chances = vec![1.0];
    for size in 2..=n {
        // The next value adds 0 to size - 1 inversions, each alike.
        let mut next = vec![0.0; chances.len() + size - 1];
        for (at, chance) in chances.iter().enumerate() {
            for more in 0..size {
                next[at + more] += chance / size as f64;
            }
        }
        chances = next;
    }
    let few = (most - score) / 2;
    let tail: f64 = chances[..=few].iter().sum();
    (2.0 * tail).min(1.0)
}

/// The same by the normal distribution, with the correction for ties of either.
fn by_normal(points: &[(f64, f64)], score: i64) -> f64 {
    let n = points.len() as f64;
    let tied = |of: fn(&(f64, f64)) -> f64| -> [f64; 3] {
        let mut values: Vec<f64> = points.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        let mut sums = [0.0; 3];
        for run in values.chunk_by(|a, b| a == b) {
            let t = run.len() as f64;
            let pairs = t * (t - 1.0);
            sums[0] += pairs * (2.0 * t + 5.0);
            sums[1] += pairs * (t - 2.0);
            sums[2] += pairs;
        }
        sums
    };
    let (x, y) = (tied(|p| p.0), tied(|p| p.1));
    let pairs = n * (n - 1.0);
    let variance = (pairs * (2.0 * n + 5.0) - x[0] - y[0]) / 18.0
        + x[1] * y[1] / (9.0 * pairs * (n - 2.0))
        + x[2] * y[2] / (2.0 * pairs);
    if variance <= 0.0 {
        return 1.0;
    }
    let off = (score.unsigned_abs() as f64 - 1.0).max(0.0);
    (2.0 * normal_above(off / variance.sqrt())).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Vec<(f64, f64)> {
        (0..).map(f64::from).zip(values.iter().copied()).collect()
    }

    #[test]
    fn a_drift_has_its_slope_and_is_sure() {
        let found = trend(&series(&[1.0, 2.1, 2.9, 4.2, 5.0, 6.1])).unwrap();
        assert!((found.slope - 1.0).abs() < 0.05, "{found:?}");
        // All in order: two of 720 ways.
        assert!((found.chance - 2.0 / 720.0).abs() < 1e-12, "{found:?}");
        let mut back = series(&[1.0, 2.1, 2.9, 4.2, 5.0, 6.1]);
        back.reverse();
        assert_eq!(trend(&back), Some(found));
    }

    /// Counted by hand: of the 24 orders of four, nine have at most two inversions, so a score
    /// of 2 or more.
    #[test]
    fn chances_are_exact() {
        let found = trend(&series(&[2.0, 1.0, 4.0, 3.0])).unwrap();
        assert!((found.chance - 18.0 / 24.0).abs() < 1e-12, "{found:?}");
        assert_eq!(trend(&series(&[2.0, 4.0, 1.0, 3.0])).unwrap().chance, 1.0);
    }

    #[test]
    fn exact_and_normal_agree_where_both_can() {
        for score in [100, 300, 500, 700] {
            let points = series(&(0..60).map(f64::from).collect::<Vec<_>>());
            let (one, other) = (exact(60, score), by_normal(&points, score as i64));
            assert!((one - other).abs() < 0.01 * one + 2e-4, "{one} {other}");
        }
    }

    #[test]
    fn odd_numbers_do_no_harm() {
        assert_eq!(trend(&[]), None);
        assert_eq!(trend(&[(1.0, 2.0); 9]), None);
        assert_eq!(trend(&series(&[f64::NAN; 9])), None);
        let same = trend(&series(&[3.0; 9])).unwrap();
        assert_eq!((same.slope, same.chance), (0.0, 1.0));
    }
}
