//! The numbers that a scan gathers from a batch, and what neighbouring rows add up to.

use std::ops::Range;

use run::catalog::Kind;
use run::read::{Batch, Values};

use super::Under;
use crate::gather::{Rules, join_amounts};

/// So few rows are added one by one.
const FEW: usize = 4;

/// Numbers added at once: enough that an addition need not wait for the one before.
const LANES: usize = 8;

/// Numbers of the rows of a batch.
pub(super) struct Amounts<'b> {
    values: &'b [f64],
    /// What to divide by.
    unders: Option<&'b [f64]>,
    /// What is divided by is seconds: what is not known was not observed.
    by_seconds: bool,
    /// Lengths of the intervals, if they are what is gathered, where a value is known.
    seconds: Option<&'b [f64]>,
    /// Whether each row counts; none: all do.
    passes: Option<&'b [bool]>,
}

impl<'b> Amounts<'b> {
    /// Of `value` by `under`; without a column, of the intervals' lengths. None, if a column
    /// has no numbers.
    pub(super) fn new(
        batch: &'b Batch<'_>,
        value: Option<usize>,
        under: Option<Under<usize>>,
        seconds: bool,
        passes: Option<&'b [bool]>,
    ) -> Option<Amounts<'b>> {
        let unders = match under {
            None => None,
            Some(Under::Seconds) => Some(batch.intervals),
            Some(Under::Column(place)) => Some(column(Some(place), batch)?),
        };
        Some(Amounts {
            values: column(value, batch)?,
            unders,
            by_seconds: under == Some(Under::Seconds),
            seconds: seconds.then_some(batch.intervals),
            passes,
        })
    }

    /// What `rows`, of one group and interval, add up to, and what to divide it by; NaN is not
    /// known, never both.
    #[inline]
    pub(super) fn of(&self, rows: Range<usize>, rules: &Rules) -> Option<[f64; 2]> {
        if rows.len() == 1 {
            return self.row(rows.start);
        }
        self.together(rows, rules)
    }

    /// Whether nothing is known of `rows`, though some count.
    pub(super) fn are_unknown(&self, rows: Range<usize>) -> bool {
        let counts = |row: usize| self.passes.is_none_or(|passes| passes[row]);
        let known = |row: usize| !self.values[row].is_nan();
        let mut counted = rows.filter(|row| counts(*row)).peekable();
        counted.peek().is_some() && !counted.any(known)
    }

    fn together(&self, rows: Range<usize>, rules: &Rules) -> Option<[f64; 2]> {
        if rows.len() < FEW || rules.kind == Kind::Peak || self.seconds.is_some() {
            return self.one_by_one(rows, rules);
        }
        let values = &self.values[rows.clone()];
        let passes = self.passes.map(|p| &p[rows.clone()]);
        let unders = self.unders.map(|u| &u[rows]);
        let sums = match (passes, unders) {
            (None, None) => [sum(values, |_| true), f64::NAN],
            (None, Some(unders)) if self.by_seconds => {
                let known = |i: usize| !values[i].is_nan();
                [sum(values, |_| true), sum(unders, known)]
            }
            (None, Some(unders)) => [sum(values, |_| true), sum(unders, |_| true)],
            (Some(passes), None) => [sum(values, |i| passes[i]), f64::NAN],
            (Some(passes), Some(unders)) => {
                let known = |i: usize| passes[i] && !(self.by_seconds && values[i].is_nan());
                [sum(values, |i| passes[i]), sum(unders, known)]
            }
        };
        (!sums[0].is_nan() || !sums[1].is_nan()).then_some(sums)
    }

    fn one_by_one(&self, rows: Range<usize>, rules: &Rules) -> Option<[f64; 2]> {
        let mut all: Option<[f64; 2]> = None;
        for more in rows.filter_map(|row| self.row(row)) {
            match &mut all {
                Some(all) => join_amounts(all, more, rules),
                None => all = Some(more),
            }
        }
        all
    }

    #[inline]
    fn row(&self, row: usize) -> Option<[f64; 2]> {
        if self.passes.is_some_and(|passes| !passes[row]) {
            return None;
        }
        let value = self.values[row];
        let under = match self.unders {
            Some(unders) if !(self.by_seconds && value.is_nan()) => unders[row],
            _ => f64::NAN,
        };
        let gathered = [self.seconds.map_or(value, |s| s[row]), under];
        (!value.is_nan() || !under.is_nan()).then_some(gathered)
    }
}

/// The sum of the known numbers that count; NaN without any.
#[inline]
fn sum(values: &[f64], counts: impl Fn(usize) -> bool) -> f64 {
    let mut sums = [0.0; LANES];
    let mut known = false;
    let mut take = |i: usize, value: f64| {
        let is_known = !value.is_nan() & counts(i);
        sums[i % LANES] += if is_known { value } else { 0.0 };
        known |= is_known;
    };
    let (pieces, rest) = values.as_chunks::<LANES>();
    for (at, piece) in pieces.iter().enumerate() {
        for (lane, value) in piece.iter().enumerate() {
            take(at * LANES + lane, *value);
        }
    }
    for (lane, value) in rest.iter().enumerate() {
        take(pieces.len() * LANES + lane, *value);
    }
    if known { sums.iter().sum() } else { f64::NAN }
}

/// The numbers of a column, or without one the intervals' lengths.
fn column<'b>(column: Option<usize>, batch: &'b Batch<'_>) -> Option<&'b [f64]> {
    match column.map(|c| &batch.columns[c]) {
        Some(Values::Numbers(values)) => Some(values),
        // Whole numbers are of events, which are scanned elsewhere.
        Some(Values::Words { .. } | Values::Whole(..)) => None,
        None => Some(batch.intervals),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(kind: Kind, ratio: Option<f64>) -> Rules {
        Rules {
            kind,
            ratio,
            shortest: 0.0,
            unknown: false,
            grid: None,
        }
    }

    /// Many rows at once give what they give one by one, whatever is not known or left out.
    #[test]
    fn together_as_one_by_one() {
        let mut seed = 1_u64;
        let mut dice = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> 33
        };
        for round in 0..2000 {
            let rows = 4 + (dice() % 40) as usize;
            let unknown = dice() % 4;
            let mut numbers = || -> Vec<f64> {
                let number = |n: u64| {
                    if n % 4 < unknown {
                        f64::NAN
                    } else {
                        (n >> 2) as f64
                    }
                };
                (0..rows).map(|_| number(dice())).collect()
            };
            let (values, unders) = (numbers(), numbers());
            let passes: Vec<bool> = numbers().iter().map(|n| !n.is_nan()).collect();
            let amounts = Amounts {
                values: &values,
                unders: (round % 2 == 0).then_some(&unders[..]),
                by_seconds: round % 3 == 0,
                seconds: None,
                passes: (round % 5 < 3).then_some(&passes),
            };
            let rules = rules(Kind::Sum, (round % 2 == 0).then_some(1.0));
            let words = |sums: Option<[f64; 2]>| format!("{sums:?}");
            assert_eq!(
                words(amounts.of(0..rows, &rules)),
                words(amounts.one_by_one(0..rows, &rules)),
                "{values:?} by {unders:?}"
            );
        }
    }
}
