//! Numbers of events: in whole steps (nanoseconds, bytes, counts), tested exactly, and put
//! into buckets of the histogram grid.

use run::grid;
use run::read::{Batch, Values};
use run::whole::Step;

use super::KeyValue;
use super::tree::UNKNOWN;
use crate::plan::holds_number;
use crate::syntax::Test;

/// One more than the last bucket of the grid.
const BUCKETS: u32 = grid::index(u64::MAX) + 1;

/// A number dimension of events, or the sum of some.
pub(super) struct Number {
    pub(super) step: Step,
    /// Places of the columns.
    columns: Vec<usize>,
    /// Of the present batch, one a row; NaN where not known.
    pub(super) steps: Vec<f64>,
}

impl Number {
    /// The sum of those columns.
    pub(super) fn new(step: Step, columns: Vec<usize>) -> Number {
        Number {
            step,
            columns,
            steps: Vec::new(),
        }
    }

    /// Takes the numbers of a batch.
    pub(super) fn load(&mut self, batch: &Batch<'_>) {
        self.steps.clear();
        // Without a column nothing is known.
        self.steps.resize(batch.times.len(), f64::NAN);
        let per_unit = self.step.per_unit();
        for (number, column) in self.columns.iter().enumerate() {
            let first = number == 0;
            match &batch.columns[*column] {
                Values::Whole(whole, step) if *step == self.step => {
                    put(&mut self.steps, first, whole.iter().map(|v| *v as f64));
                }
                Values::Whole(whole, step) => {
                    let steps = whole
                        .iter()
                        .map(|v| (step.real(*v) * per_unit).round_ties_even());
                    put(&mut self.steps, first, steps);
                }
                Values::Numbers(values) if self.step == Step::One => {
                    put(&mut self.steps, first, values.iter().copied());
                }
                Values::Numbers(values) => {
                    let steps = values.iter().map(|v| (v * per_unit).round_ties_even());
                    put(&mut self.steps, first, steps);
                }
                Values::Words { .. } => self.steps.fill(f64::NAN),
            }
        }
    }
}

/// Sets, or adds to, every number.
fn put(steps: &mut [f64], first: bool, values: impl Iterator<Item = f64>) {
    let both = steps.iter_mut().zip(values);
    if first {
        both.for_each(|(step, value)| *step = value);
    } else {
        both.for_each(|(step, value)| *step += value);
    }
}

/// The place of the bucket that holds a number: those of negative ones come after all others,
/// what is not known comes last.
#[inline]
pub(super) fn bucket(step: f64) -> u32 {
    let index = grid::index(step.abs() as u64);
    if step < 0.0 && index > 0 {
        BUCKETS + index
    } else if step.is_nan() {
        2 * BUCKETS
    } else {
        index
    }
}

/// The key of a bucket's place: the end of the bucket that is nearer to zero.
pub(super) fn bucket_key(place: u32, step: Step) -> KeyValue {
    let real = |index: u32| grid::lower(index) as f64 / step.per_unit();
    KeyValue::Number(match place {
        UNKNOWN => f64::NAN,
        _ if place < BUCKETS => real(place),
        _ if place < 2 * BUCKETS => -real(place - BUCKETS),
        _ => f64::NAN,
    })
}

/// A test of a number.
pub(super) enum Exact<'t> {
    /// Of its value in the base unit.
    Value(&'t Test, &'t [f64]),
    /// It is in one of these buckets; with `false`, it is not.
    Bucket(Vec<u32>, bool),
    /// It is one of these; with `false`, it is not.
    Equal(&'t [f64], bool),
}

impl<'t> Exact<'t> {
    /// `listed` are the planner's: of times the lower bounds of buckets, else the values.
    pub(super) fn new(test: &'t Test, listed: &'t [f64], step: Step) -> Exact<'t> {
        let wanted = match test {
            Test::In(_) => true,
            Test::NotIn(_) => false,
            Test::Compare(..) | Test::Range(..) | Test::Matches(..) => {
                return Exact::Value(test, listed);
            }
        };
        match step {
            Step::One => Exact::Equal(listed, wanted),
            Step::Nano => {
                let nanos = |v: &f64| (v * step.per_unit()).round_ties_even();
                Exact::Bucket(listed.iter().map(|v| bucket(nanos(v))).collect(), wanted)
            }
        }
    }

    /// Takes rows out of `keep` whose number does not pass.
    pub(super) fn test(&self, number: &Number, keep: &mut [bool]) {
        let rows = keep.iter_mut().zip(&number.steps);
        match self {
            Exact::Value(test, listed) => {
                let per_unit = number.step.per_unit();
                // The division gives the float64 nearest to the time, as the parser does.
                rows.for_each(|(keep, step)| *keep &= holds_number(test, listed, step / per_unit));
            }
            Exact::Bucket(buckets, wanted) => {
                rows.for_each(|(keep, step)| *keep &= buckets.contains(&bucket(*step)) == *wanted);
            }
            Exact::Equal(values, wanted) => {
                rows.for_each(|(keep, step)| *keep &= values.contains(step) == *wanted);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::Unit;

    #[test]
    fn buckets_are_those_of_the_grid() {
        for value in [0.0, 1.0, 127.0, 128.0, 129.0, 4096.0, 1e6, 1.234e15, 9e18] {
            for value in [value, -value] {
                let KeyValue::Number(key) = bucket_key(bucket(value), Step::One) else {
                    panic!("buckets are numbers");
                };
                assert_eq!(key, grid::floor(value, Unit::Bytes), "{value}");
                assert_eq!(bucket(key), bucket(value));
            }
        }
        let key = bucket_key(bucket(f64::NAN), Step::Nano);
        assert!(matches!(key, KeyValue::Number(v) if v.is_nan()));
    }
}
