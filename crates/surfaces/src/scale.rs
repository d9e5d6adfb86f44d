//! How values become lengths along an axis, and which stretch of the numbers a picture of
//! buckets shows.

use crate::axis::LARGEST;

/// From values to lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal factors.
    Log,
    /// Equal distances are equal factors, away from zero on both sides. Zero itself has a band
    /// of its own: a log axis has no place for it, and it often is the most important value
    /// (no seek, no wait).
    Signed {
        /// The smallest amount above zero, on either side, that has to be told from it.
        least: f64,
        /// How far from zero that is.
        zero: f64,
    },
}

impl Scale {
    /// Where a value lies, in lengths that are only to be compared; NaN if it has no place.
    pub(crate) fn place(self, value: f64) -> f64 {
        if value.is_nan() || value.abs() > LARGEST {
            return f64::NAN;
        }
        match self {
            Scale::Linear => value,
            Scale::Log if value > 0.0 => value.ln(),
            Scale::Log => f64::NAN,
            Scale::Signed { least, zero } => {
                let size = value.abs();
                let far = if size >= least {
                    zero + (size / least).ln()
                } else {
                    zero * size / least
                };
                far.copysign(value)
            }
        }
    }

    /// The stretch along which zero's bucket is drawn, if this is it and zero has a band.
    pub(crate) fn zero_band(self, (from, to): (f64, f64)) -> Option<(f64, f64)> {
        match self {
            Scale::Signed { least, .. } if from == 0.0 && to <= least => {
                Some((-least / 2.0, least / 2.0))
            }
            _ => None,
        }
    }
}

/// A stretch of the numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) scale: Scale,
}

/// A log axis spans at least this factor: a single bucket is not to fill the picture.
const LEAST_FACTOR: f64 = 10.0;
/// Zero's band takes this share of the axis, on each side that there is.
const ZERO_SHARE: f64 = 0.07;

impl Span {
    /// The span of buckets that rise, of which there is at least one. `log`: on a log scale, or
    /// by how far they reach; `places`: zero need not be in view.
    pub(crate) fn of(buckets: &[(f64, f64)], log: Option<bool>, places: bool) -> Span {
        let (first, last) = match buckets {
            [] => ((0.0, 1.0), (0.0, 1.0)),
            [first, .., last] => (*first, *last),
            [only] => (*only, *only),
        };
        let bounds = || buckets.iter().flat_map(|b| [b.0.abs(), b.1.abs()]);
        let most = bounds().fold(0.0, f64::max);
        let inner = buckets
            .iter()
            .filter(|b| b.0 != 0.0)
            .map(|b| b.0.abs().min(b.1.abs()));
        let least = inner.filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
        // Zero alone: up to the end of its bucket.
        let least = if least.is_finite() { least } else { most };
        let usable = least > 0.0 && (most / least).is_finite() && most <= LARGEST;
        if !usable || !log.unwrap_or(most / least > 100.0) {
            return Span::linear(first, last, places);
        }
        if first.0 > 0.0 {
            let missing = (LEAST_FACTOR / (last.1 / first.0)).max(1.0).sqrt();
            return Span {
                lower: first.0 / missing,
                upper: last.1 * missing,
                scale: Scale::Log,
            };
        }
        Span::signed(first.0, last.1, least)
    }

    /// Where a value lies: 0 at the lower end, 1 at the upper; NaN if it has no place.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let [at, lower, upper] = [value, self.lower, self.upper].map(|v| self.scale.place(v));
        (at - lower) / (upper - lower)
    }

    fn linear(first: (f64, f64), last: (f64, f64), places: bool) -> Span {
        let (mut lower, mut upper) = (first.0.min(0.0), last.1.max(0.0));
        if places && first.0 > 0.0 && last.1 - first.0 < first.0 {
            // Far from zero: what lies between would be empty.
            let width = last.1 - first.0;
            let room = (width * 0.05).max((last.1 - last.0) * 10.0 - width / 2.0);
            (lower, upper) = ((first.0 - room).max(0.0), last.1 + room);
        }
        if upper <= lower {
            upper = lower + 1.0;
        }
        Span {
            lower,
            upper,
            scale: Scale::Linear,
        }
    }

    fn signed(lower: f64, upper: f64, least: f64) -> Span {
        let side = |end: f64| {
            if end > least {
                (end / least).max(LEAST_FACTOR)
            } else {
                1.0
            }
        };
        let (mut below, above) = (side(-lower), side(upper));
        let above = if below == 1.0 {
            above.max(LEAST_FACTOR)
        } else {
            above
        };
        if lower >= 0.0 {
            below = 1.0;
        }
        let zero = ((below * above).ln() * ZERO_SHARE).max(0.1);
        let end = |factor: f64| {
            if factor > 1.0 {
                least * factor
            } else {
                least / 2.0
            }
        };
        Span {
            lower: -end(below),
            upper: end(above),
            scale: Scale::Signed { least, zero },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_a_band_and_both_sides_are_log() {
        let span = Span::of(
            &[(-8192.0, -8000.0), (0.0, 1.0), (4096.0, 4160.0)],
            Some(true),
            false,
        );
        let Scale::Signed { least, .. } = span.scale else {
            panic!("{span:?}");
        };
        assert_eq!(least, 4096.0);
        let place = |v| span.scale.place(v);
        assert_eq!(place(0.0), 0.0);
        assert!((place(-4096.0) + place(4096.0)).abs() < 1e-12);
        assert!((place(81920.0) - place(8192.0) - 10_f64.ln()).abs() < 1e-12);
        assert_eq!(span.scale.zero_band((0.0, 1.0)), Some((-2048.0, 2048.0)));
        assert_eq!(span.scale.zero_band((4096.0, 4160.0)), None);
        let mut before = f64::NEG_INFINITY;
        for value in [-1e9, -5000.0, -4096.0, -1.0, 0.0, 1.0, 4096.0, 1e9] {
            assert!(place(value) > before, "{value}");
            before = place(value);
        }
    }

    #[test]
    fn spans_hold_all_buckets_and_are_not_narrow() {
        let sets: [&[(f64, f64)]; 8] = [
            &[(0.0, 1.0)],
            &[(32.0, 33.0)],
            &[(1e-4, 1.01e-4)],
            &[(0.0, 1e-9), (1e-6, 1.01e-6)],
            &[(-5000.0, -4900.0)],
            &[(-5000.0, -4900.0), (0.0, 1.0), (1e12, 1.01e12)],
            &[(5e11, 5.05e11), (5.3e11, 5.4e11)],
            &[(0.0, 1.0), (1.0, 2.0), (1e280, 1.01e280)],
        ];
        for buckets in sets {
            for (log, places) in [(Some(true), false), (Some(false), true), (None, false)] {
                let span = Span::of(buckets, log, places);
                for bucket in buckets {
                    let (from, to) = span.scale.zero_band(*bucket).unwrap_or(*bucket);
                    assert!(
                        from >= span.lower && to <= span.upper,
                        "{span:?} {bucket:?}"
                    );
                    let (low, high) = (span.share(from), span.share(to));
                    assert!(
                        (0.0..=1.0).contains(&low) && low <= high,
                        "{span:?} {bucket:?}"
                    );
                    if log == Some(true) {
                        assert!(high - low < 0.6, "fills the picture: {span:?} {bucket:?}");
                    }
                }
            }
        }
    }
}
