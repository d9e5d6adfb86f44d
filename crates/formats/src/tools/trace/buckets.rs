//! Ranges of printed histograms.

use crate::number;

/// Whole numbers from `from` to below `to`, and how many things had one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bucket {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) count: f64,
}

impl Bucket {
    /// The ranges as `Out::bucket` takes them: one below zero mirrors one above, whose lower
    /// end it holds and not its upper.
    pub(super) fn mirrored(self) -> impl Iterator<Item = Bucket> {
        let width = self.to - self.from;
        let share = |from: f64, to: f64| {
            if width > 0.0 {
                self.count * (to - from) / width
            } else {
                self.count
            }
        };
        let (below, above) = (self.to.min(0.0), self.from.max(0.0));
        let negative = (self.from < 0.0).then(|| Bucket {
            from: self.from - 1.0,
            to: below - 1.0,
            count: share(self.from, below),
        });
        let positive = (self.from >= 0.0 || self.to > 0.0).then(|| Bucket {
            from: above,
            to: self.to,
            count: share(above, self.to),
        });
        negative.into_iter().chain(positive)
    }
}

/// Whether a row that begins there is of another histogram than those above it: ranges are printed in
/// order, and a lost line was between them.
pub(super) fn goes_back(rows: &[Bucket], from: f64) -> bool {
    rows.last().is_some_and(|row| from <= row.from)
}

/// `16`, `1K`, `64M`: the letter is a power of 1,024, as bpftrace prints them.
pub(super) fn letter_number(text: &str) -> Option<f64> {
    number::scaled(text.trim().as_bytes(), 1024.0)
}

/// The bars of a row: what stands between its range and the end.
pub(super) fn is_bar(text: &str) -> bool {
    text.trim()
        .bytes()
        .all(|b| matches!(b, b'@' | b'*' | b'+' | b' ' | b'#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(from: f64, to: f64) -> Vec<(f64, f64, f64)> {
        let bucket = Bucket {
            from,
            to,
            count: 8.0,
        };
        bucket.mirrored().map(|b| (b.from, b.to, b.count)).collect()
    }

    #[test]
    fn ranges_below_zero_mirror_those_above() {
        assert_eq!(parts(0.0, 4.0), [(0.0, 4.0, 8.0)]);
        // -1 only; -3 and -2.
        assert_eq!(parts(-1.0, 0.0), [(-2.0, -1.0, 8.0)]);
        assert_eq!(parts(-3.0, -1.0), [(-4.0, -2.0, 8.0)]);
        assert_eq!(parts(-2.0, 2.0), [(-3.0, -1.0, 4.0), (0.0, 2.0, 4.0)]);
        assert_eq!(parts(5.0, 5.0), [(5.0, 5.0, 8.0)]);
    }
}
