//! Values far from the others: flagged, never dropped.

use super::{mean, median};

/// A modified z-score beyond this is an outlier (Iglewicz and Hoaglin 1993).
const FAR: f64 = 3.5;

/// Fewer values than this have no outliers: any may be the odd one.
const LEAST: usize = 5;

/// Places of the values that lie far from the middle of all: the modified z-score
/// 0.6745 (x − median) / MAD is beyond 3.5. Where half of the values are the same, MAD is zero;
/// then the mean deviation from the median estimates the spread (of normal values, times
/// √(π / 2)). Values that are not known are none.
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let known: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    if known.len() < LEAST {
        return Vec::new();
    }
    let middle = median(&known);
    let off: Vec<f64> = known.iter().map(|v| (v - middle).abs()).collect();
    let spread = match median(&off) {
        mad if mad > 0.0 => mad / 0.6745,
        _ => mean(&off) * (std::f64::consts::FRAC_PI_2).sqrt(),
    };
    let far = |v: f64| v.is_finite() && (v - middle).abs() > FAR * spread;
    (0..values.len()).filter(|i| far(values[*i])).collect()
}

#[cfg(test)]
mod tests {
    use super::outliers;

    #[test]
    fn what_is_far_off_is_flagged() {
        let values = [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3];
        assert_eq!(outliers(&values), [8, 9]);
        assert!(outliers(&[1.0, 1.1, 0.9, 1.05, 0.95, 1.02]).is_empty());
        assert_eq!(
            outliers(&[5.0, 5.0, f64::NAN, 5.0, 5.0, 5.0, 9.0, 5.0]),
            [6]
        );
    }

    #[test]
    fn few_equal_and_odd_values_have_none() {
        for odd in [
            &[][..],
            &[1.0, 2.0, 900.0],
            &[0.0; 9],
            &[f64::NAN; 9],
            &[f64::INFINITY; 9],
        ] {
            assert!(outliers(odd).is_empty(), "{odd:?}");
        }
    }
}
