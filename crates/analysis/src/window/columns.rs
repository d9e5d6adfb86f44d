//! What a group has in each column of a grid.

use run::catalog::Kind;

use super::{Grid, Place};
use crate::gather::{At, Rules};

/// What a group has in one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Sums: the amount. Levels and peaks: added up, each times its seconds. Ratios: what is
    /// above the line.
    pub amount: f64,
    /// Seconds that have a value. Ratios: what is below the line.
    pub weight: f64,
    /// Least value of an interval (sums: per second), of those that are long enough.
    pub min: f64,
    /// Greatest, likewise.
    pub max: f64,
    /// Intervals that have a value here.
    pub intervals: u32,
}

const NOTHING: Column = Column {
    amount: 0.0,
    weight: 0.0,
    min: f64::NAN,
    max: f64::NAN,
    intervals: 0,
};

impl Column {
    fn merge(&mut self, other: &Column) {
        self.amount += other.amount;
        self.weight += other.weight;
        // `min` and `max` pass over NaN.
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.intervals += other.intervals;
    }
}

/// The columns of a group that have something, rising.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns(Vec<(u32, Column)>);

impl Columns {
    /// How many have something.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Column and what it has, rising.
    pub fn iter(&self) -> impl Iterator<Item = &(u32, Column)> {
        self.0.iter()
    }

    /// Takes an amount of an interval, and what it is divided by, if it is divided.
    pub(crate) fn add(&mut self, at: At, [amount, under]: [f64; 2], grid: &Grid, rules: &Rules) {
        let seconds = at.seconds;
        let (amount, weight, value) = match (rules.ratio, rules.kind) {
            (Some(_), _) if amount.is_nan() || under.is_nan() => return,
            (Some(times), _) if under > 0.0 => (amount, under, amount / under * times),
            (Some(_), _) => (amount, under, f64::NAN),
            (None, Kind::Sum) => (amount, seconds, amount / seconds),
            (None, Kind::Level | Kind::Peak) => (amount * seconds, seconds, amount),
        };
        let shown = if seconds >= rules.shortest {
            value
        } else {
            f64::NAN
        };
        let part = |share: f64| Column {
            amount: amount * share,
            weight: weight * share,
            min: shown,
            max: shown,
            intervals: 1,
        };
        match at.place {
            Place::One(column) if column < grid.count => self.put(column, &part(1.0)),
            Place::One(_) => {}
            Place::Many => grid.parts(at.from(), at.end, |column, share| {
                self.put(column, &part(share));
            }),
        }
    }

    /// Takes what another has. Most of it comes later.
    pub(crate) fn join(&mut self, other: &Columns) {
        for (column, value) in &other.0 {
            self.put(*column, value);
        }
    }

    fn put(&mut self, column: u32, value: &Column) {
        match self.0.last_mut() {
            Some((last, cell)) if *last == column => cell.merge(value),
            Some((last, _)) if *last > column => self.put_before(column, value),
            _ => {
                let mut cell = NOTHING;
                cell.merge(value);
                self.0.push((column, cell));
            }
        }
    }

    /// An interval that overlaps the one before it.
    #[cold]
    fn put_before(&mut self, column: u32, value: &Column) {
        match self.0.binary_search_by_key(&column, |c| c.0) {
            Ok(at) => self.0[at].1.merge(value),
            Err(at) => self.0.insert(at, (column, *value)),
        }
    }
}
