//! Null distributions of rank sums, counted exactly, and quantiles of Student's t.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Largest sum of doubled ranks that is counted exactly; beyond it the normal distribution is
/// as good (more than 60 runs).
const LARGEST: u64 = 20_000;

/// How likely each sum of a random subset of the weights is: every subset alike (each sign of
/// a signed rank), or every subset of `size` alike (ranks of one of two samples).
pub(super) struct Sums {
    /// Probability of each sum, by the sum.
    chances: Vec<f64>,
}

impl Sums {
    /// Of every subset. `None` where there are too many to count.
    pub(super) fn of_subsets(weights: &[u64]) -> Option<Sums> {
        let most = total(weights)?;
        let mut chances = vec![0.0; most + 1];
        chances[0] = 1.0;
        for weight in weights {
            let weight = *weight as usize;
            for sum in (0..=most).rev() {
                let with = sum.checked_sub(weight).map_or(0.0, |rest| chances[rest]);
                chances[sum] = f64::midpoint(chances[sum], with);
            }
        }
        Some(Sums { chances })
    }

    /// Of every subset of `size`. `None` where there are too many to count.
    pub(super) fn of_size(weights: &[u64], size: usize) -> Option<Sums> {
        let most = total(weights)?;
        // By the size so far: of how many ways each sum can be had.
        let mut ways = vec![vec![0.0; most + 1]; size + 1];
        ways[0][0] = 1.0;
        for (seen, weight) in weights.iter().enumerate() {
            let weight = *weight as usize;
            for taken in (1..=size.min(seen + 1)).rev() {
                for sum in (weight..=most).rev() {
                    ways[taken][sum] += ways[taken - 1][sum - weight];
                }
            }
        }
        let mut chances = ways.pop()?;
        let all: f64 = chances.iter().sum();
        chances.iter_mut().for_each(|c| *c /= all);
        Some(Sums { chances })
    }

    /// Of one weight of each group, every choice alike. `None` where there are too many to
    /// count, or a group has none.
    pub(super) fn of_choices(groups: &[Vec<u64>]) -> Option<Sums> {
        let largest = groups.iter().map(|g| g.iter().max().copied());
        let all: Vec<u64> = largest.collect::<Option<_>>()?;
        let most = total(&all)?;
        let mut chances = vec![0.0; most + 1];
        chances[0] = 1.0;
        let mut reached = 0;
        for group in groups {
            let mut next = vec![0.0; most + 1];
            let each = 1.0 / group.len() as f64;
            for weight in group {
                for sum in 0..=reached {
                    next[sum + *weight as usize] += chances[sum] * each;
                }
            }
            reached += group.iter().max().map_or(0, |w| *w as usize);
            chances = next;
        }
        Some(Sums { chances })
    }

    /// Chance of a sum of at most this.
    pub(super) fn at_most(&self, sum: u64) -> f64 {
        let end = (sum as usize + 1).min(self.chances.len());
        self.chances[..end].iter().sum::<f64>().min(1.0)
    }

    /// Chance of a sum of at least this.
    pub(super) fn at_least(&self, sum: u64) -> f64 {
        let from = (sum as usize).min(self.chances.len());
        self.chances[from..].iter().sum::<f64>().min(1.0)
    }

    /// Chance of a sum below this, and half of that of this one.
    pub(super) fn at_most_middle(&self, sum: u64) -> f64 {
        let here = self.chances.get(sum as usize).copied().unwrap_or(0.0);
        self.at_most(sum) - here / 2.0
    }

    /// Chance of a sum further out than this, and half of that of this one, on either side.
    pub(super) fn two_sided_middle(&self, sum: u64) -> f64 {
        let below = self.at_most_middle(sum);
        (2.0 * below.min(1.0 - below)).clamp(0.0, 1.0)
    }

    /// Chance of a sum as far out as this, on either side.
    pub(super) fn two_sided(&self, sum: u64) -> f64 {
        (2.0 * self.at_most(sum).min(self.at_least(sum))).min(1.0)
    }
}

fn total(weights: &[u64]) -> Option<usize> {
    let sum: u64 = weights.iter().sum();
    (sum <= LARGEST).then_some(sum as usize)
}

/// The number that a variable of Student's t with `freedom` degrees of freedom exceeds with the
/// chance `tail` (0 to 0.5).
pub(super) fn student(freedom: f64, tail: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| -t.inverse_cdf(tail))
}

/// Chance that a variable of Student's t with `freedom` degrees of freedom exceeds `t`.
pub(super) fn student_above(freedom: f64, t: f64) -> f64 {
    if t == f64::INFINITY {
        return 0.0;
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |d| d.sf(t))
}

/// The number that a standard normal variable exceeds with the chance `tail`.
pub(super) fn normal(tail: f64) -> f64 {
    -Normal::standard().inverse_cdf(tail)
}

/// Chance that a standard normal variable exceeds `z`.
pub(super) fn normal_above(z: f64) -> f64 {
    Normal::standard().sf(z)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, digits: i32) {
        assert!(
            (a - b).abs() < 10_f64.powi(-digits) * b.abs().max(1e-9),
            "{a}, {b}"
        );
    }

    /// Values of printed tables of t and of the normal distribution.
    #[test]
    fn students_t_and_the_normal() {
        close(student(1.0, 0.025), 12.706_204_736, 8);
        close(student(5.0, 0.025), 2.570_581_835_6, 8);
        close(student(9.0, 0.05), 1.833_112_932_7, 8);
        close(student(29.0, 0.005), 2.756_385_903_7, 8);
        close(student_above(5.0, 2.570_581_835_6), 0.025, 8);
        assert_eq!(student_above(5.0, f64::INFINITY), 0.0);
        close(normal(0.025), 1.959_963_984_54, 9);
        close(normal_above(1.959_963_984_54), 0.025, 9);
        close(normal_above(-1.0), 0.841_344_746_068_5, 10);
        close(normal_above(4.0), 3.167_124_183_31e-5, 8);
    }

    /// The smallest two-sided chances that n can give.
    #[test]
    fn the_smallest_chances_are_those_of_the_tables() {
        for (n, least) in [
            (4, 0.125),
            (5, 0.0625),
            (6, 0.03125),
            (8, 0.007_812_5),
            (10, 0.001_953_125),
        ] {
            let ranks: Vec<u64> = (1..=n).map(|r| 2 * r).collect();
            let sums = Sums::of_subsets(&ranks).unwrap();
            close(sums.two_sided(0), least, 12);
        }
        for (n, least) in [
            (4_usize, 2.0 / 70.0),
            (5, 2.0 / 252.0),
            (6, 2.0 / 924.0),
            (8, 2.0 / 12870.0),
        ] {
            let ranks: Vec<u64> = (1..=2 * n as u64).map(|r| 2 * r).collect();
            let sums = Sums::of_size(&ranks, n).unwrap();
            let smallest: u64 = ranks[..n].iter().sum();
            close(sums.two_sided(smallest), least, 12);
        }
    }
}
