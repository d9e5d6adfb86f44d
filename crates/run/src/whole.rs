//! Whole numbers behind the numbers of events.
//!
//! An event's numbers are counts, bytes and times, which the kernel gives as whole
//! nanoseconds. As whole numbers they take a third of the room of a float64, and their sums
//! are exact.

use crate::Unit;

/// What one is, of a column of whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The base unit.
    One,
    /// A billionth of the base unit: nanoseconds.
    Nano,
}

/// Numbers up to here are whole, and told apart, as float64 and after a multiplication.
const LARGEST: f64 = (1_u64 << 51) as f64;

/// Added to a float64 of at most [`LARGEST`], it leaves no room for a fraction: the sum is
/// rounded to the nearest whole number, halves to even, and its lowest bits are that number.
/// The processor's own rounding is a function call where only SSE2 is certain.
const MAGIC: f64 = 6_755_399_441_055_744.0;

impl Step {
    /// That of a column in `unit`.
    pub const fn of(unit: Unit) -> Step {
        match unit {
            Unit::Seconds => Step::Nano,
            _ => Step::One,
        }
    }

    /// How many of it the base unit has.
    pub const fn per_unit(self) -> f64 {
        match self {
            Step::One => 1.0,
            Step::Nano => 1e9,
        }
    }

    /// The number in the base unit. Whole nanoseconds come back as the nearest float64, which
    /// is what `0.001` in a program's text is too.
    pub fn real(self, whole: i64) -> f64 {
        match self {
            Step::One => whole as f64,
            Step::Nano => whole as f64 / 1e9,
        }
    }

    /// The nearest whole number, halves to even; `None` where it is not known. What is too
    /// large is the largest.
    pub fn whole(self, real: f64) -> Option<i64> {
        (!real.is_nan()).then(|| (real * self.per_unit()).round_ties_even() as i64)
    }

    /// Appends all of `reals` as whole numbers; or nothing, answering false, if one is not
    /// known or very large.
    pub fn wholes(self, reals: &[f64], out: &mut Vec<i64>) -> bool {
        let per_unit = self.per_unit();
        let small = |v: &f64| (v * per_unit).abs() < LARGEST;
        // Without an early end: eight at a time.
        let all = reals.iter().fold(true, |all, v| all & small(v));
        if all {
            let zero = MAGIC.to_bits() as i64;
            let nearest = |v: &f64| (v * per_unit + MAGIC).to_bits() as i64 - zero;
            out.extend(reals.iter().map(nearest));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_round_agree() {
        let mut reals: Vec<f64> = vec![0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 1e-9, 2.5e-9, -1e-9];
        reals.extend((0..64).map(|n| 0.1 * f64::from(n).exp2() / 1e6));
        reals.extend([LARGEST / 2.0, -LARGEST / 2.0, 4e6]);
        for step in [Step::One, Step::Nano] {
            for real in &reals {
                let mut out = Vec::new();
                if step.wholes(&[*real], &mut out) {
                    assert_eq!(step.whole(*real), Some(out[0]), "{real} {step:?}");
                }
            }
        }
        let mut out = Vec::new();
        assert!(!Step::One.wholes(&[1.0, f64::NAN], &mut out) && out.is_empty());
        assert!(!Step::Nano.wholes(&[f64::INFINITY], &mut out) && out.is_empty());
        assert_eq!(Step::One.whole(f64::INFINITY), Some(i64::MAX));
        assert_eq!(Step::One.whole(f64::NAN), None);
    }

    #[test]
    fn nanoseconds_come_back() {
        for nanoseconds in [1, 999, 123_456_789, 1_000_000, -77, 86_400_000_000_001] {
            let real = Step::Nano.real(nanoseconds);
            let mut out = Vec::new();
            assert!(Step::Nano.wholes(&[real], &mut out));
            assert_eq!(out, [nanoseconds]);
        }
        assert_eq!(Step::Nano.real(1_000_000), 0.001);
    }
}
