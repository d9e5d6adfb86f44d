//! Columns of time: what a pixel of a picture covers.

use run::Nanos;

/// Columns of equal length, side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Where the first begins.
    pub from: Nanos,
    /// Length of each in nanoseconds; above zero.
    pub length: Nanos,
    /// How many there are; above zero.
    pub count: u32,
}

/// Where an interval lies on a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In this column; beside the grid if there is no such column.
    One(u32),
    /// In more than one.
    Many,
}

/// An interval is not in a column of which it covers less than this share (or which covers
/// less of it): samples are taken a little after their time, and would else all be in two.
const LEAST_SHARE: f64 = 0.25;

/// Beside the grid.
const BESIDE: Place = Place::One(u32::MAX);

impl Grid {
    /// Between `from` and `to` as many columns as are at least `least` long and not more than
    /// `width`. The edges are whole multiples of their length from `origin` on, so that a
    /// picture that moves keeps its columns.
    pub fn new(from: Nanos, to: Nanos, origin: Nanos, least: Nanos, width: u32) -> Grid {
        let span = to.saturating_sub(from).max(1);
        let least = least.max(1);
        let wanted = span.div_euclid(Nanos::from(width.max(1))).max(1);
        // Whole multiples of the shortest: every column holds as many samples.
        let length = wanted
            .div_euclid(least)
            .saturating_add(i64::from(wanted.rem_euclid(least) > 0))
            .saturating_mul(least)
            .max(least);
        let below = |time: Nanos| time.saturating_sub(origin).div_euclid(length);
        let first = below(from);
        let last = below(to.saturating_sub(1)).max(first);
        Grid {
            from: origin.saturating_add(first.saturating_mul(length)),
            length,
            count: u32::try_from(last - first + 1).unwrap_or(u32::MAX - 1),
        }
    }

    /// The left edge of a column; of one after the last, the end of the grid.
    pub fn edge(&self, column: u32) -> Nanos {
        let offset = self.length.saturating_mul(Nanos::from(column));
        self.from.saturating_add(offset)
    }

    /// Where the last column ends.
    pub fn to(&self) -> Nanos {
        self.edge(self.count)
    }

    /// Whether `time` lies on the grid: after its start, up to its end.
    pub fn holds(&self, time: Nanos) -> bool {
        self.from < time && time <= self.to()
    }

    /// Where the interval lies.
    pub(crate) fn place(&self, from: Nanos, to: Nanos) -> Place {
        let (first, last, _) = self.columns(from, to);
        if first == last {
            u32::try_from(first)
                .ok()
                .filter(|c| *c < self.count)
                .map_or(BESIDE, Place::One)
        } else {
            Place::Many
        }
    }

    /// Calls `part` with each column of the grid that the interval lies in, and the share of it
    /// that lies there.
    pub(crate) fn parts(&self, from: Nanos, to: Nanos, mut part: impl FnMut(u32, f64)) {
        let (first, last, (start, end)) = self.columns(from, to);
        let count = i64::from(self.count);
        if first == last {
            if (0..count).contains(&first) {
                part(first as u32, 1.0);
            }
            return;
        }
        let overlap = |c: i64| end.min((c + 1) as f64) - start.max(c as f64);
        let whole = end.min((last + 1) as f64) - start.max(first as f64);
        for column in first.max(0)..=last.min(count - 1) {
            part(column as u32, overlap(column) / whole);
        }
    }

    /// First and last column (may be beside the grid), and where the interval begins and ends,
    /// in columns.
    fn columns(&self, from: Nanos, to: Nanos) -> (i64, i64, (f64, f64)) {
        let at = |time: Nanos| time.saturating_sub(self.from) as f64 / self.length as f64;
        let (start, end) = (at(from.min(to)), at(to));
        let (mut first, mut last) = (start.floor() as i64, end.ceil() as i64 - 1);
        if last <= first {
            // A length of zero belongs to the column that ends there.
            return (
                first.min(last.max(first)),
                first.min(last.max(first)),
                (start, end),
            );
        }
        let least = LEAST_SHARE * (end - start).min(1.0);
        if (first + 1) as f64 - start < least {
            first += 1;
        }
        if end - (last as f64) < least && last > first {
            last -= 1;
        }
        (first, last, (start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(grid: &Grid, from: Nanos, to: Nanos) -> Vec<(u32, f64)> {
        let mut found = vec![];
        grid.parts(from, to, |c, share| found.push((c, share)));
        found
    }

    const TEN: Grid = Grid {
        from: 1000,
        length: 100,
        count: 10,
    };

    #[test]
    fn an_interval_a_little_late_is_in_one_column() {
        assert_eq!(parts(&TEN, 1101, 1201), [(1, 1.0)]);
        assert_eq!(parts(&TEN, 1099, 1199), [(1, 1.0)]);
        assert_eq!(TEN.place(1101, 1201), Place::One(1));
        // Short ones, as before and after a mark.
        assert_eq!(parts(&TEN, 1150, 1160), [(1, 1.0)]);
        assert_eq!(
            parts(&TEN, 1195, 1202),
            [(1, 5.0 / 7.0), (2, 2.0 / 7.0)].map(|p| p).to_vec()
        );
    }

    #[test]
    fn a_long_interval_is_spread_and_keeps_its_whole() {
        let spread = parts(&TEN, 1150, 1450);
        assert_eq!(spread.iter().map(|p| p.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!((spread.iter().map(|p| p.1).sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(TEN.place(1150, 1450), Place::Many);
        // What lies beside the grid is not put on it.
        let beside = parts(&TEN, 900, 1100);
        assert_eq!(beside, [(0, 0.5)]);
        assert_eq!(parts(&TEN, 2100, 2200), []);
        assert_eq!(TEN.place(2100, 2200), BESIDE);
        assert_eq!(TEN.place(800, 900), BESIDE);
    }

    #[test]
    fn columns_hold_whole_samples_and_stay_where_they_are() {
        let s = 1_000_000_000;
        let grid = Grid::new(10 * s + 5, 3610 * s, 0, s, 1000);
        assert_eq!((grid.length, grid.from), (4 * s, 8 * s));
        assert!(grid.holds(3610 * s) && grid.to() >= 3610 * s && grid.count <= 902);
        let moved = Grid::new(11 * s + 5, 3611 * s, 0, s, 1000);
        assert_eq!((moved.from - grid.from) % grid.length, 0);
        // Never finer than what was sampled.
        assert_eq!(Grid::new(0, 10 * s, 0, s, 1000).count, 10);
        // Odd ranges.
        for (from, to) in [
            (0, 0),
            (5, 1),
            (i64::MIN, i64::MAX),
            (i64::MAX - 1, i64::MAX),
        ] {
            let grid = Grid::new(from, to, 0, s, 1000);
            assert!(grid.count >= 1 && grid.length >= s, "{from} {to}");
        }
    }
}
