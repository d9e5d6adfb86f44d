//! Intervals between two times in whole seconds.
//!
//! A tool that waits a whole number of seconds, and then takes a moment to read, is never early:
//! an interval of `n` seconds by its times was of `n`, or of `n - 1` where the moments added up to
//! the next second. Taken for 2 seconds, one of 1 doubles its amounts.

use super::{Out, Sample};
use crate::time::Refused;

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

    /// Its length by the one after it or else before it, and whether one of them tells it. `None`
    /// where half of it may be no time of its own.
    pub(super) fn length(self, next: Option<f64>) -> Option<(f64, bool)> {
        let mut others = [next, self.before].into_iter().flatten();
        let told = others.find_map(|other| self.by(other));
        let told = told.map(|length| (length, true));
        told.or(Some((self.most, false)).filter(|_| self.most > 2.0))
    }
}

impl Out {
    /// Places samples that wait, of which one may be a second shorter than its times say. `next`
    /// is the length of the one after them.
    pub(super) fn settle_rounded(&mut self, held: Vec<(Sample, Vec<usize>)>, next: Option<f64>) {
        for (sample, rows) in held {
            let usual = next.or(self.stated).or(self.options.every);
            let length = match sample.rounded {
                _ if sample.since_boot => Some(0.0),
                Some(rounded) => self.length_of_rounded(rounded, next),
                None => usual,
            };
            let Some(length) = length else {
                self.refuse(Refused(
                    "a report has no other near it, and its times are whole seconds: its interval \
                     may be 1 s or 2 s, and its amounts half of what they seem\n\
                     hint: say how long it was, as --every 2s"
                        .into(),
                ));
                self.forget_rows();
                return;
            };
            self.place(&sample, length, &rows);
        }
        self.hand_out();
    }

    fn length_of_rounded(&mut self, rounded: Rounded, next: Option<f64>) -> Option<f64> {
        let (length, told) = rounded.length(next)?;
        if !told && LITTLE * length < 1.0 {
            self.note(&format!(
                "a report has no other near it: its interval is {length} s by its times, which \
                 are whole seconds, and may be {} s",
                length - 1.0
            ));
        }
        Some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_interval_tells() {
        for (most, before, next, wanted) in [
            (2.0, None, Some(1.0), Some((1.0, true))),
            (2.0, None, Some(2.0), Some((2.0, true))),
            // The next one is too long by its times.
            (2.0, None, Some(3.0), Some((2.0, true))),
            (2.0, None, Some(4.0), None),
            (2.0, None, None, None),
            (2.0, Some(1.0), None, Some((1.0, true))),
            (2.0, Some(1.0), Some(2.0), Some((2.0, true))),
            (6.0, None, Some(5.0), Some((5.0, true))),
            (6.0, None, Some(4.0), Some((6.0, false))),
        ] {
            let rounded = Rounded { most, before };
            assert_eq!(rounded.length(next), wanted, "{most} {before:?} {next:?}");
        }
    }
}
