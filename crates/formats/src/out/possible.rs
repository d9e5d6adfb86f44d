//! Numbers that cannot be: what tools print of a counter that went back, and of a difference below zero.

use std::sync::LazyLock;

use run::Unit;
use run::catalog::{self, Column, numbers};
use run::rows::TableId;

use super::{Out, Shape, WIDEST};

/// No more is of a second, or in memory: 10 PB.
pub(super) const MOST: f64 = 1e16;

/// Nothing takes so many seconds, nor do as many things take a second each at once. Nanoseconds of 64 bits
/// below zero are 1.8 times 10^10 s.
const LONGEST: f64 = 1e9;

/// What was made of rounded shares may be a little below zero.
const LEAST: f64 = -1e-6;

/// Said of what is left out for it.
const IMPOSSIBLE: &str = "numbers that cannot be, below zero, of more than 10^16 or of more than 10^9 s, are \
                          unknown";

/// What the numbers of a column are between.
#[derive(Clone, Copy)]
struct Limits {
    least: f64,
    most: f64,
}

impl Limits {
    fn of(column: Column) -> Limits {
        let (least, most) = match column {
            Column::Dimension(d) if d.number == Some(Unit::Seconds) => (LEAST, LONGEST),
            // Distances go both ways.
            Column::Dimension(_) => (-MOST, MOST),
            Column::Measure(m) => match m.unit {
                Unit::Seconds => (LEAST, LONGEST),
                Unit::Celsius => (-MOST, MOST),
                _ => (LEAST, MOST),
            },
        };
        Limits { least, most }
    }

    /// How many of a value are outside; none of one that is not known.
    fn outside(self, value: f64) -> usize {
        usize::from(value >= self.most) + usize::from(value < self.least)
    }
}

/// Of each table, by its place in the catalog.
static LIMITS: LazyLock<Vec<Vec<Limits>>> = LazyLock::new(|| {
    let of = |(subject, table)| numbers(subject, table).map(Limits::of).collect();
    catalog::tables().map(of).collect()
});

fn limits(table: TableId) -> &'static [Limits] {
    LIMITS.get(usize::from(table.0)).map_or(&[], Vec::as_slice)
}

/// Whether a table can have all of these, which are by column. All are counted, which takes less than to
/// stop at the first.
pub(super) fn are_possible(shape: &Shape, values: &[&[f64]]) -> bool {
    let limits = limits(shape.table);
    shape.places.iter().zip(values).all(|(place, column)| {
        let of = limits[*place];
        column.iter().map(|v| of.outside(*v)).sum::<usize>() == 0
    })
}

/// Whether a row of a table can have these.
pub(super) fn are_possible_in(table: TableId, row: &[f64]) -> bool {
    let mut each = row.iter().zip(limits(table));
    each.all(|(value, limits)| limits.outside(*value) == 0)
}

impl Out {
    /// Values of a table as they are, but for those that cannot be, which is told.
    pub(super) fn possible(&mut self, table: TableId, values: &mut [f64]) {
        for (value, limits) in values.iter_mut().zip(limits(table)) {
            if limits.outside(*value) > 0 {
                self.note(IMPOSSIBLE);
                *value = f64::NAN;
            }
        }
    }

    /// Values in the order of a shape, as those of its table.
    pub(super) fn possible_of(&mut self, shape: &Shape, values: &[f64]) -> [f64; WIDEST] {
        let mut all = shape.all(values);
        if !self.is_since_boot() {
            self.possible(shape.table, &mut all[..shape.width]);
        }
        all
    }

    /// Whether an interval cannot have so much of something that has no place in the catalog, which is told.
    pub(super) fn is_too_much(&mut self, value: f64) -> bool {
        let is = value.abs() >= MOST && !self.is_since_boot();
        if is {
            self.note(IMPOSSIBLE);
        }
        is
    }
}
