//! Intervals between two times in whole seconds.
//!
//! A tool that waits a whole number of seconds, and then takes a moment to read, is never early:
//! an interval of `n` seconds by its times was of `n`, or of `n - 1` where the moments added up to
//! the next second. Where nothing tells which, it is taken by its times, and said: amounts may then be
//! too large by that second, but those a second are what was printed.

use super::Out;

/// Where a second is no more than this share of an interval, it is not told.
const LITTLE: f64 = 0.05;

/// An interval whose two times are whole seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounded {
    /// By its times.
    pub(super) most: f64,
    /// How long the last one was of an output above it.
    pub(super) before: Option<f64>,
}

impl Rounded {
    /// Whether it may be that long.
    pub(super) fn may_be(self, length: f64) -> bool {
        length > 0.0 && (self.most - 1.0..=self.most).contains(&length)
    }

    /// Its length by that of another, which may be a second too long itself.
    fn by(self, other: f64) -> Option<f64> {
        let is_longer = (other - self.most - 1.0).abs() < 1e-3;
        let length = if is_longer { self.most } else { other };
        Some(length).filter(|length| self.may_be(*length))
    }

    /// Its length by the one after it or else before it, and whether one of them tells it.
    pub(super) fn length(self, next: Option<f64>) -> (f64, bool) {
        let mut others = [next, self.before].into_iter().flatten();
        let told = others.find_map(|other| self.by(other));
        told.map_or((self.most, false), |length| (length, true))
    }
}

impl Out {
    /// The length of such an interval, said where nothing tells it. `next` is that of the one after it.
    pub(super) fn length_of_rounded(&mut self, rounded: Rounded, next: Option<f64>) -> f64 {
        let (length, told) = rounded.length(next);
        if !told && length > 1.0 && LITTLE * length < 1.0 {
            self.note(&format!(
                "a report has no other near it: its interval is {length} s by its times, which \
                 are whole seconds, and may be {} s",
                length - 1.0
            ));
        }
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_interval_tells() {
        for (most, before, next, wanted) in [
            (2.0, None, Some(1.0), (1.0, true)),
            (2.0, None, Some(2.0), (2.0, true)),
            // The next one is too long by its times.
            (2.0, None, Some(3.0), (2.0, true)),
            (2.0, None, Some(4.0), (2.0, false)),
            (2.0, None, None, (2.0, false)),
            (2.0, Some(1.0), None, (1.0, true)),
            (2.0, Some(1.0), Some(2.0), (2.0, true)),
            (6.0, None, Some(5.0), (5.0, true)),
            (6.0, None, Some(4.0), (6.0, false)),
        ] {
            let rounded = Rounded { most, before };
            assert_eq!(rounded.length(next), wanted, "{most} {before:?} {next:?}");
        }
    }
}
