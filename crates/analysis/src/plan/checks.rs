//! Tests of an expression, with units and names resolved.

use run::catalog::Detail;
use run::unit::Unit;
use run::whole::Step;
use run::{Nanos, grid};

use super::{Check, Planner, TimeCheck};
use crate::error::Problem;
use crate::syntax::{Order, Predicate, Test, WORDS, amounts};

impl Planner<'_> {
    /// A test whose values are texts.
    pub(super) fn word_test(&self, p: &Predicate) -> Result<Test, Problem> {
        match &p.test {
            Test::In(_) | Test::NotIn(_) | Test::Matches(..) => Ok(p.test.clone()),
            // A word that looks like a range (`2..3`) or is compared as a number.
            Test::Compare(..) | Test::Range(..) => Err(self
                .problem(
                    p.span,
                    format!("`{}` is a word, not a number", p.dimension.text),
                )
                .hint(WORDS)),
        }
    }

    /// Amounts in the base unit. In a list, a value stands for the bucket that holds it; of
    /// events only a time does: no two are equal to the nanosecond.
    pub(super) fn number_check(
        &self,
        p: &Predicate,
        unit: Unit,
        detail: Detail,
    ) -> Result<Check, Problem> {
        let exact = detail == Detail::Event && unit != Unit::Seconds;
        let in_unit = |amount: run::unit::Amount, span: (usize, usize)| match amount.unit {
            Some(u) if u == unit => Ok(amount.value),
            // Seconds are seldom meant by a bare number; bytes and counts always.
            None if unit != Unit::Seconds || amount.value == 0.0 => Ok(amount.value),
            // Of the run's time people speak in seconds, as of --from and --every.
            None if p.dimension.text == "time" => Ok(amount.value),
            None => Err(self
                .problem(span, format!("`{}` needs a unit", p.dimension.text))
                .hint(amounts(unit))),
            Some(u) => Err(self
                .problem(
                    span,
                    format!("`{}` is in {unit}, this value in {u}", p.dimension.text),
                )
                .hint(amounts(unit))),
        };
        let mut listed = Vec::new();
        let test = match &p.test {
            Test::Compare(order, a) => {
                let value = in_unit(*a, p.span)?;
                Test::Compare(*order, run::unit::Amount { value, unit: None })
            }
            Test::Range(a, b) => {
                let low = run::unit::Amount {
                    value: in_unit(*a, p.span)?,
                    unit: None,
                };
                let high = run::unit::Amount {
                    value: in_unit(*b, p.span)?,
                    unit: None,
                };
                Test::Range(low, high)
            }
            Test::In(values) | Test::NotIn(values) => {
                for v in values {
                    let amount = run::unit::parse_amount(&v.text)
                        .map_err(|e| self.problem(v.span, e.to_string()).hint(amounts(unit)))?;
                    let value = in_unit(amount, v.span)?;
                    listed.push(if exact {
                        value
                    } else {
                        grid::floor(value, unit)
                    });
                }
                p.test.clone()
            }
            Test::Matches(..) => {
                let what = format!("`{}` is a number, not a word", p.dimension.text);
                return Err(self
                    .problem(p.span, what)
                    .hint("numbers: <  <=  >  >=  =  in 1ms..2ms"));
            }
        };
        Ok(Check::Number(test, listed))
    }

    /// Whether a time is asked for that is shorter than an interval.
    pub(super) fn has_short_time(&self) -> Result<bool, Problem> {
        for p in &self.expression.predicates {
            if p.dimension.text == "time" && self.is_short(&self.time_check(p)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a time is shorter than an interval.
    pub(super) fn is_short(&self, check: &TimeCheck) -> bool {
        let every = (self.manifest.every_seconds * 1e9) as Nanos;
        matches!(check, TimeCheck::Within(from, to) if to.saturating_sub(*from) < every)
    }

    /// Times are seconds since the run's start.
    pub(super) fn time_check(&self, p: &Predicate) -> Result<TimeCheck, Problem> {
        use crate::syntax::Order::{AtLeast, AtMost, Less, More};
        let Check::Number(test, _) = self.number_check(p, Unit::Seconds, Detail::Sample)? else {
            unreachable!("number_check makes number checks")
        };
        let at = |seconds: f64| {
            self.manifest
                .started
                .saturating_add((seconds * 1e9).min(9e18) as Nanos)
        };
        match test {
            Test::Range(a, b) => Ok(TimeCheck::Within(at(a.value), at(b.value))),
            Test::Compare(Less | AtMost, a) => Ok(TimeCheck::Within(Nanos::MIN, at(a.value))),
            Test::Compare(More | AtLeast, a) => Ok(TimeCheck::Within(at(a.value), Nanos::MAX)),
            _ => Err(self
                .problem(p.span, "time is tested with `in`, `<` or `>`")
                .hint("for example: where time in 10s..40s (since the run's start)")),
        }
    }
}

/// Whether the word `value` passes `test`.
pub fn holds(test: &Test, value: &str) -> bool {
    match test {
        Test::In(words) => words.iter().any(|w| w.text == value),
        Test::NotIn(words) => words.iter().all(|w| w.text != value),
        Test::Matches(regex, wanted) => regex.is_match(value) == *wanted,
        Test::Compare(..) | Test::Range(..) => false,
    }
}

/// Whether the number `value` passes `test` (`listed`: the values of `=` and `in`).
pub fn holds_number(test: &Test, listed: &[f64], value: f64) -> bool {
    match test {
        Test::In(_) => listed.iter().any(|v| same_bucket(*v, value)),
        Test::NotIn(_) => !listed.iter().any(|v| same_bucket(*v, value)),
        Test::Compare(order, bound) => order.holds(value, bound.value),
        Test::Range(low, high) => low.value <= value && value <= high.value,
        Test::Matches(..) => false,
    }
}

/// Whether a bound of `test` divides a bucket, so that a histogram cannot tell.
pub(super) fn cuts(test: &Test, unit: Unit) -> bool {
    let at_start = |bound: f64| same_bucket(grid::floor(bound, unit), bound);
    // A bucket of one value has no inside.
    let single = |bound: f64| {
        let (low, high) = grid::bounds(grid::floor(bound, unit), unit);
        at_start(bound) && (high - low) * Step::of(unit).per_unit() < 1.5
    };
    match test {
        Test::Compare(Order::Less | Order::AtLeast, bound) => !at_start(bound.value),
        Test::Compare(Order::More | Order::AtMost, bound) => !single(bound.value),
        Test::Range(low, high) => !at_start(low.value) || !single(high.value),
        Test::In(_) | Test::NotIn(_) | Test::Matches(..) => false,
    }
}

/// Whether two lower bounds are the same, but for the rounding of their base unit. Buckets are
/// never closer than a billionth of a second, or a 64th.
fn same_bucket(a: f64, b: f64) -> bool {
    (a - b).abs() <= a.abs() * 1e-6
}
