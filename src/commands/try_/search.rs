//! A search: proposes values one after the other, each a trial, and hands the best to the
//! blocks. It only proposes: the winner of many noisy trials is partly the luckiest.

use std::collections::BTreeMap;

use analysis::compare::Metric;
use analysis::stats::Aim;
use analysis::stats::search::{Golden, Grid, Halving};
use lab::experiment::{
    Arm, Design, Factor, Logbook, Role, Search, Stage, State, arms, number, of_winner,
};

use super::conduct::{Conductor, Stop};
use crate::failure::Failure;
use crate::output;

/// A search of a range ends when what is left spans less than this share of it.
const SHARE: f64 = 0.05;

/// Trials that each of several candidates has before the worse half of them leaves.
const TIMES: usize = 1;

/// What comes next, and what came of it.
enum Proposer {
    /// Numbers of a range.
    Golden(Golden),
    /// Values of a list: each has its arm.
    Halving(Halving, Vec<Arm>),
}

impl Proposer {
    fn of(book: &Logbook) -> Result<Proposer, Failure> {
        let nothing = || Failure::work("the experiment has nothing to search");
        let factor = book.factors.first().ok_or_else(nothing)?;
        let aim = metric(book).map_or(Aim::Higher, |m| m.aim);
        match book.search.as_ref().ok_or_else(nothing)? {
            Search::Range { low, high, .. } => {
                // Two ends that are whole numbers: a knob of whole numbers.
                let whole = low.fract() == 0.0 && high.fract() == 0.0;
                let grid = if whole { Grid::Whole } else { Grid::Real };
                let golden = Golden::new(*low, *high, grid, aim, SHARE);
                Ok(Proposer::Golden(golden.map_err(Failure::input)?))
            }
            Search::Among { .. } => {
                let candidates = candidates(factor)?;
                let halving = Halving::new(candidates.len(), TIMES, aim, book.seed);
                let halving = halving.map_err(Failure::input)?;
                Ok(Proposer::Halving(halving, candidates))
            }
        }
    }

    /// The arm of the next trial; `None` when the search is over.
    fn next(&self, factor: &Factor) -> Option<Arm> {
        match self {
            Proposer::Golden(search) => {
                let value = number(search.next()?);
                Some(Arm {
                    name: value.clone(),
                    role: Role::Change,
                    values: BTreeMap::from([(factor.name.clone(), value)]),
                })
            }
            Proposer::Halving(search, arms) => arms.get(search.next()?).cloned(),
        }
    }

    /// What came of it; NaN where the trial failed.
    fn tell(&mut self, value: f64) {
        match self {
            Proposer::Golden(search) => search.tell(value),
            Proposer::Halving(search, _) => search.tell(value),
        }
    }

    /// Writes the best value into the book, and answers with it; `None` where all failed.
    fn best(
        &self,
        factor: &Factor,
        kept: &BTreeMap<String, String>,
        search: &mut Search,
    ) -> Option<String> {
        match (self, &mut *search) {
            (Proposer::Golden(golden), Search::Range { found, .. }) => {
                let (asked, _) = golden.best()?;
                let is = kept.get(&number(asked)).and_then(|k| k.parse().ok());
                *found = Some(is.unwrap_or(asked));
            }
            (Proposer::Halving(halving, arms), Search::Among { found, .. }) => {
                let arm = arms.get(halving.best()?.0)?;
                *found = Some(arm.values.get(&factor.name)?.clone());
            }
            _ => return None,
        }
        search.found()
    }
}

/// An arm a value; of a list that lacks the present setting, without that.
fn candidates(factor: &Factor) -> Result<Vec<Arm>, Failure> {
    let factors = std::slice::from_ref(factor);
    let all = arms(factors, Design::Combinations, false).map_err(Failure::input)?;
    let listed = |arm: &Arm| factor.values.contains(&arm.values[&factor.name]);
    Ok(all.into_iter().filter(listed).collect())
}

/// About how many trials a search takes, for the plan.
pub(super) fn trials(book: &Logbook) -> usize {
    match Proposer::of(book) {
        Ok(Proposer::Halving(_, arms)) => Halving::trials(arms.len(), TIMES),
        // Each trial leaves about the same share, whatever comes of it.
        Ok(Proposer::Golden(mut search)) => std::iter::from_fn(|| {
            let value = search.next()?;
            search.tell(value);
            Some(())
        })
        .count(),
        Err(_) => 0,
    }
}

/// What is searched for: the first metric.
fn metric(book: &Logbook) -> Option<Metric> {
    Metric::parse(&book.measures.first()?.metric).ok()
}

impl Conductor {
    /// Searches, if it was asked for and is not over; then the arms are known. Answers whether
    /// there is something to confirm.
    pub(super) fn search(&mut self) -> Result<bool, Stop> {
        let Some(mut search) = self.book.search.clone() else {
            return Ok(true);
        };
        let Some(factor) = self.book.factors.first().cloned() else {
            return Ok(false);
        };
        if search.found().is_some() {
            return Ok(!self.book.arms.is_empty());
        }
        let mut proposer = Proposer::of(&self.book)?;
        let objective = metric(&self.book).map(|m| m.text).unwrap_or_default();
        let most = trials(&self.book);
        let mut number = 0;
        // What the kernel kept of each proposal: it may round.
        let mut kept = BTreeMap::new();
        while let Some(mut arm) = proposer.next(&factor) {
            number += 1;
            let place = match self.proposed(number) {
                Some(place) => place,
                None => {
                    if matches!(proposer, Proposer::Golden(_)) {
                        self.round(&mut arm, &factor)?;
                    }
                    // How many there will be depends on what they find.
                    let most = most.max(number);
                    let value = &arm.values[&factor.name];
                    self.live.now = format!("search {number} of {most}: {}={value}", factor.name);
                    self.live.left = most - number + 1;
                    self.trial(Stage::Search, number, &arm)?.0
                }
            };
            let trial = &self.book.trials[place];
            if let Proposer::Golden(golden) = &proposer
                && let Some(asked) = golden.next()
            {
                kept.insert(lab::experiment::number(asked), trial.arm.clone());
            }
            let values = &trial.values;
            let measured = values.get(&objective).copied().flatten();
            proposer.tell(measured.unwrap_or(f64::NAN));
        }
        let Some(best) = proposer.best(&factor, &kept, &mut search) else {
            return Err(
                Failure::work("the search found nothing: no trial of it could tell").into(),
            );
        };
        self.book.search = Some(search);
        self.found(&best, &factor)
    }

    /// Makes the arm one of the value that the kernel keeps.
    fn round(&mut self, arm: &mut Arm, factor: &Factor) -> Result<(), Stop> {
        let value = arm.values.get_mut(&factor.name);
        if let Some(value) = value {
            *value = self.settings.keeps(factor, value)?;
            arm.name.clone_from(value);
        }
        Ok(())
    }

    /// The place of the trial of that proposal, if it ran before an interruption.
    fn proposed(&self, number: usize) -> Option<usize> {
        self.book.trials.iter().position(|t| {
            t.stage == Stage::Search
                && t.block == number
                && matches!(t.state, State::Done | State::Failed)
        })
    }

    /// Makes arms of what was found.
    fn found(&mut self, winner: &str, factor: &Factor) -> Result<bool, Stop> {
        self.live.clear();
        let arms = of_winner(factor, winner, self.book.again);
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
