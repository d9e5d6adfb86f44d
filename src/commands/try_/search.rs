//! A search: proposes values one after the other, each a trial, and hands the best to the
//! blocks. It only proposes: the winner of many noisy trials is partly the luckiest.

use std::collections::BTreeMap;

use analysis::compare::Metric;
use analysis::stats::search::{Golden, Grid};
use lab::experiment::{Arm, Logbook, Role, Stage, State, of_winner};

use super::conduct::{Conductor, Stop};
use crate::failure::Failure;
use crate::output;

/// A search ends when what is left spans less than this share of the range.
const SHARE: f64 = 0.05;

/// About how many trials a search takes, for the plan.
pub(super) fn trials(book: &Logbook) -> usize {
    let Ok(mut search) = golden(book) else {
        return 0;
    };
    // Each trial leaves about the same share, whatever comes of it.
    std::iter::from_fn(|| {
        let value = search.next()?;
        search.tell(value);
        Some(())
    })
    .count()
}

/// Two ends that are whole numbers: a knob of whole numbers.
fn golden(book: &Logbook) -> Result<Golden, Failure> {
    let range = book.search.ok_or_else(|| Failure::work("no search"))?;
    let whole = range.low.fract() == 0.0 && range.high.fract() == 0.0;
    let grid = if whole { Grid::Whole } else { Grid::Real };
    let aim = metric(book).map_or(analysis::stats::Aim::Higher, |m| m.aim);
    Golden::new(range.low, range.high, grid, aim, SHARE).map_err(Failure::input)
}

/// What is searched for: the first metric.
fn metric(book: &Logbook) -> Option<Metric> {
    Metric::parse(&book.measures.first()?.metric).ok()
}

/// A value as a knob or an argument takes it.
fn text(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value}")
    }
}

impl Conductor {
    /// Searches, if it was asked for and is not over; then the arms are known. Answers whether
    /// there is something to confirm.
    pub(super) fn search(&mut self) -> Result<bool, Stop> {
        let Some(range) = self.book.search else {
            return Ok(true);
        };
        let Some(factor) = self.book.factors.first().cloned() else {
            return Ok(false);
        };
        if range.found.is_some() {
            return Ok(!self.book.arms.is_empty());
        }
        let mut search = golden(&self.book)?;
        let objective = metric(&self.book).map(|m| m.text).unwrap_or_default();
        let most = trials(&self.book);
        let mut number = 0;
        while let Some(value) = search.next() {
            number += 1;
            let name = text(value);
            let known = self.book.trials.iter().find(|t| {
                t.stage == Stage::Search
                    && t.block == number
                    && matches!(t.state, State::Done | State::Failed)
            });
            let place = match known {
                Some(trial) => self.book.trials.iter().position(|t| t == trial),
                None => {
                    // How many there will be depends on what they find.
                    let most = most.max(number);
                    self.live.now = format!("search {number} of {most}: {}={name}", factor.name);
                    self.live.left = most - number + 1;
                    let arm = Arm {
                        name: name.clone(),
                        role: Role::Change,
                        values: BTreeMap::from([(factor.name.clone(), name.clone())]),
                    };
                    Some(self.trial(Stage::Search, number, &arm)?.0)
                }
            };
            let measured = place.and_then(|p| {
                let trial = &self.book.trials[p];
                trial.values.get(&objective).copied().flatten()
            });
            search.tell(measured.unwrap_or(f64::NAN));
        }
        let Some((best, _)) = search.best() else {
            return Err(
                Failure::work("the search found nothing: no trial of it could tell").into(),
            );
        };
        self.found(best, &factor)
    }

    /// Makes arms of what was found.
    fn found(&mut self, best: f64, factor: &lab::experiment::Factor) -> Result<bool, Stop> {
        if let Some(range) = &mut self.book.search {
            range.found = Some(best);
        }
        let winner = text(best);
        self.live.clear();
        let arms = of_winner(factor, &winner, self.book.again);
        let is_new = arms.is_ok();
        if is_new {
            output::message(&format!(
                "the search proposes {}={winner}; blocks against {} follow, and only they decide",
                factor.name, factor.base
            ));
        } else {
            output::message(&format!(
                "the search found nothing better than {}={winner}, which is the baseline",
                factor.name
            ));
        }
        self.book.arms = arms.unwrap_or_default();
        self.save()?;
        Ok(is_new)
    }
}
