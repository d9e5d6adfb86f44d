//! Random inputs for tests, the same each time.

use run::Unit;

use crate::chart::{Axis, Band, BandKind, Chart, Fold, Heat, Line, Mark, Point, Range, Ranges};

/// A linear congruential generator (Knuth, MMIX).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 >> 16
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// 0 to 1.
    pub(crate) fn share(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }

    /// Anything a `f64` can be, with a liking for awkward ones.
    pub(crate) fn value(&mut self) -> f64 {
        match self.below(12) {
            0 => f64::NAN,
            1 => 0.0,
            2 => f64::from_bits(self.next() << 16 | self.next() & 0xFFFF),
            3 => [
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MAX,
                f64::MIN_POSITIVE,
                -1.0,
            ][self.below(5)],
            4 => self.share(),
            5 => -self.share() * 1e3,
            6 => 1e12 * self.share(),
            _ => (self.share() * 20.0).exp(),
        }
    }

    fn text(&mut self) -> String {
        const PIECES: [&str; 9] = [
            "a",
            "\u{1b}[31m",
            "<&\"'>",
            "\n",
            "日本",
            "🦀",
            "\u{202E}",
            "disk.ios ",
            "]]>",
        ];
        (0..self.below(20)).map(|_| PIECES[self.below(9)]).collect()
    }

    fn axis(&mut self) -> Axis {
        let units = [
            Unit::Count,
            Unit::Bytes,
            Unit::Seconds,
            Unit::Ratio,
            Unit::Joules,
            Unit::Celsius,
        ];
        Axis {
            label: self.text(),
            unit: units[self.below(6)],
            rate: self.below(2) == 0,
            log: self.below(2) == 0,
        }
    }

    fn span(&mut self) -> (f64, f64) {
        if self.below(6) == 0 {
            return (self.value(), self.value());
        }
        let from = self.share() * 100.0;
        (from, from + self.share() * 20.0)
    }

    fn line(&mut self) -> Line {
        let mut from = 0.0;
        let count = [0, 1, 2, 30, 2000][self.below(5)];
        let points = (0..count).map(|_| {
            let to = from + 100.0 / f64::from(count) * self.share() * 2.0;
            let (start, end) = if self.below(50) == 0 {
                self.span()
            } else {
                (from, to)
            };
            from = to;
            Point {
                from: start,
                to: end,
                value: self.value(),
            }
        });
        let points = points.collect();
        Line {
            name: if self.below(5) == 0 {
                "other".into()
            } else {
                self.text()
            },
            right: self.below(3) == 0,
            points,
            mean: self.value(),
            max: self.value(),
        }
    }

    fn heat(&mut self) -> Heat {
        let (columns, rows) = (self.below(300) as u32, self.below(300) as u32);
        let below = f64::from([0, 0, 1, 150][self.below(4)]);
        Heat {
            amount: self.axis(),
            log: [None, Some(true), Some(false)][self.below(3)],
            places: self.below(2) == 0,
            rows: (0..rows)
                .map(|r| {
                    if self.below(200) == 0 {
                        self.span()
                    } else {
                        let from = f64::from(r) - below;
                        (from.powi(3), (from + 1.0).powi(3))
                    }
                })
                .collect(),
            columns: (0..columns)
                .map(|c| (f64::from(c) / 3.0, f64::from(c + 1) / 3.0))
                .collect(),
            cells: (0..self.below(4000))
                .map(|_| (self.below(301) as u32, self.below(301) as u32, self.value()))
                .collect(),
            outliers: self.value(),
        }
    }

    fn fold(&mut self) -> Fold {
        Fold {
            marks: (0..self.below(6))
                .map(|_| Mark {
                    name: self.text(),
                    value: self.value(),
                    text: self.text(),
                })
                .collect(),
            numbers: (0..self.below(9))
                .map(|_| (self.text(), self.text()))
                .collect(),
        }
    }

    fn ranges(&mut self) -> Ranges {
        Ranges {
            rows: (0..self.below(9))
                .map(|_| Range {
                    name: self.text(),
                    value: self.value(),
                    low: self.value(),
                    high: self.value(),
                    text: self.text(),
                })
                .collect(),
            even: (self.below(2) == 0).then(|| self.value()),
            small: (self.below(2) == 0).then(|| self.span()),
        }
    }

    /// Any chart, sane in most parts.
    pub(crate) fn chart(&mut self) -> Chart {
        Chart {
            title: self.text(),
            seconds: if self.below(8) == 0 {
                self.span()
            } else {
                (0.0, 100.0)
            },
            start: (self.below(2) == 0).then(|| self.next() as i64),
            left: self.axis(),
            right: (self.below(2) == 0).then(|| self.axis()),
            lines: (0..self.below(12)).map(|_| self.line()).collect(),
            stacked: self.below(3) == 0,
            heat: (self.below(3) == 0).then(|| self.heat()),
            fold: (self.below(3) == 0).then(|| self.fold()),
            ranges: (self.below(4) == 0).then(|| self.ranges()),
            bands: (0..self.below(5))
                .map(|_| {
                    let (from, to) = self.span();
                    let kind = if self.below(2) == 0 {
                        BandKind::Phase
                    } else {
                        BandKind::Lost
                    };
                    Band {
                        name: self.text(),
                        from,
                        to,
                        kind,
                    }
                })
                .collect(),
            notes: (0..self.below(7)).map(|_| self.text()).collect(),
        }
    }
}
