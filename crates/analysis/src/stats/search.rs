//! Finding a good value of a knob in few trials.
//!
//! A search only proposes: the winner of many noisy trials is partly the luckiest, so it has to
//! be compared with the baseline in fresh blocks. Both searches are asked for the next trial
//! and told what came of it; they know nothing of what is measured.

use super::random::Random;
use super::verdict::Aim;
use super::{mean, median};

/// The golden section: each trial leaves 0.618 of the range.
const GOLDEN: f64 = 0.618_033_988_749_894_8;

/// Which values a knob takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// Whole numbers.
    Whole,
    /// Any number.
    Real,
}

/// Why there is nothing to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSearch {
    /// The range has no inside.
    #[error("a search needs a range from a lower to a higher number")]
    Empty,
    /// Whole numbers beyond what can be told apart.
    #[error("the numbers of a search must be below 2^53")]
    Large,
}

/// The golden section on a logarithmic scale, for one knob with one best value between worse
/// ones (Kiefer 1953).
///
/// Both ends are tried first, since many knobs are best at one. A range that begins at 0 is
/// searched by the logarithm of value + 1, one with negative numbers by the number itself.
/// Where the curve has several tops it finds one of them. A trial that failed counts as the
/// worst there is.
#[derive(Clone, Debug)]
pub struct Golden {
    scale: Scale,
    grid: Grid,
    aim: Aim,
    /// The whole range.
    range: [f64; 2],
    /// What is left of it, on the scale.
    left: [f64; 2],
    /// Where it ends: the ratio (on the scale, the distance) that is not worth a trial.
    enough: f64,
    /// What was tried, and what came of it; larger is better here.
    tried: Vec<(f64, f64)>,
    asked: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    Log,
    LogOfOneMore,
    Linear,
}

impl Scale {
    fn from(self, value: f64) -> f64 {
        match self {
            Scale::Log => value.ln(),
            Scale::LogOfOneMore => value.ln_1p(),
            Scale::Linear => value,
        }
    }

    fn back(self, place: f64) -> f64 {
        match self {
            Scale::Log => place.exp(),
            Scale::LogOfOneMore => place.exp_m1(),
            Scale::Linear => place,
        }
    }
}

impl Golden {
    /// Searches `low` to `high`, until what is left spans less than `share` of the whole range
    /// on its scale (0.05: from 1 to 1000, a factor of 1.4), or no whole number is left.
    ///
    /// # Errors
    /// Where the range is empty, or no numbers.
    pub fn new(low: f64, high: f64, grid: Grid, aim: Aim, share: f64) -> Result<Golden, NoSearch> {
        let (low, high) = match grid {
            Grid::Whole => (low.ceil(), high.floor()),
            Grid::Real => (low, high),
        };
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Err(NoSearch::Empty);
        }
        if grid == Grid::Whole && low.abs().max(high.abs()) > 9e15 {
            return Err(NoSearch::Large);
        }
        let scale = match low {
            l if l > 0.0 => Scale::Log,
            0.0 => Scale::LogOfOneMore,
            _ => Scale::Linear,
        };
        let left = [scale.from(low), scale.from(high)];
        Ok(Golden {
            scale,
            grid,
            aim,
            range: [low, high],
            left,
            enough: (left[1] - left[0]) * share.clamp(1e-6, 1.0),
            tried: Vec::new(),
            asked: Some(low),
        })
    }

    /// The value to try next; `None` when nothing is left that is worth a trial. The same until
    /// [`Golden::tell`] is called.
    pub fn next(&self) -> Option<f64> {
        self.asked
    }

    /// What came of the value that was proposed; NaN where the trial failed.
    pub fn tell(&mut self, value: f64) {
        let Some(asked) = self.asked.take() else {
            return;
        };
        self.tried.push((asked, merit(value, self.aim)));
        self.asked = self.propose();
    }

    /// The best value so far, and what came of it; `None` where all failed.
    pub fn best(&self) -> Option<(f64, f64)> {
        let known = self.tried.iter().filter(|t| t.1 > f64::NEG_INFINITY);
        let best = known.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((best.0, merit(best.1, self.aim)))
    }

    /// Every value that was tried with what came of it, in order; NaN where it failed.
    pub fn tried(&self) -> Vec<(f64, f64)> {
        let told = |m: f64| match m {
            f64::NEG_INFINITY => f64::NAN,
            m => merit(m, self.aim),
        };
        self.tried.iter().map(|(at, m)| (*at, told(*m))).collect()
    }

    /// What came of a value. Sections of sections meet but for rounding.
    fn found(&self, value: f64) -> Option<f64> {
        let apart = match self.grid {
            Grid::Whole => 0.0,
            Grid::Real => self.enough / 1e3,
        };
        let near = |at: f64| (self.scale.from(at) - self.scale.from(value)).abs() <= apart;
        self.tried.iter().find(|t| near(t.0)).map(|t| t.1)
    }

    /// The value on the grid at a place of the scale.
    fn at(&self, place: f64) -> f64 {
        let value = self.scale.back(place);
        match self.grid {
            Grid::Whole => value.round().clamp(self.range[0], self.range[1]),
            Grid::Real => value.clamp(self.range[0], self.range[1]),
        }
    }

    fn propose(&mut self) -> Option<f64> {
        if self.tried.len() == 1 {
            return Some(self.range[1]);
        }
        loop {
            let [low, high] = self.left;
            let width = high - low;
            if width <= self.enough {
                return None;
            }
            let inner = [high - GOLDEN * width, low + GOLDEN * width];
            let values = inner.map(|place| self.at(place));
            let unknown = values.iter().find(|v| self.found(**v).is_none());
            if let Some(value) = unknown {
                return Some(*value);
            }
            if values[0] >= values[1] {
                return self.between(low, high);
            }
            let [one, other] = values.map(|v| self.found(v).unwrap_or(f64::NEG_INFINITY));
            if one >= other {
                self.left[1] = inner[1];
            } else {
                self.left[0] = inner[0];
            }
        }
    }

    /// Where only few whole numbers are left: the first that was not tried.
    fn between(&self, low: f64, high: f64) -> Option<f64> {
        let (from, to) = (self.at(low), self.at(high));
        let mut value = from;
        while value <= to {
            if self.found(value).is_none() {
                return Some(value);
            }
            value += 1.0;
        }
        None
    }
}

/// Larger is better; a trial that failed is the worst. Its own inverse for what is known.
fn merit(value: f64, aim: Aim) -> f64 {
    match aim {
        _ if value.is_nan() => f64::NEG_INFINITY,
        Aim::Higher => value,
        Aim::Lower => -value,
    }
}

/// Successive halving (Karnin, Koren and Somekh 2013): all candidates are tried a few times,
/// the better half twice as often, and so on until one is left.
///
/// For knobs whose values have no order, or curves with several tops. Candidates take turns, in
/// another random order each time, so that what drifts meets all of them alike. Candidates are
/// compared by the median of all their trials; one that failed is not tried again.
#[derive(Clone, Debug)]
pub struct Halving {
    aim: Aim,
    /// What came of each candidate's trials; larger is better here.
    values: Vec<Vec<f64>>,
    /// Candidates of this round, best first once it is over.
    alive: Vec<usize>,
    /// Trials of each in this round.
    times: usize,
    /// Trials to come in this round, the next one last.
    queue: Vec<usize>,
    random: Random,
}

impl Halving {
    /// Of `candidates` (places from 0), each tried `times` in the first round.
    ///
    /// # Errors
    /// Where there are fewer than two candidates.
    pub fn new(candidates: usize, times: usize, aim: Aim, seed: u64) -> Result<Halving, NoSearch> {
        if candidates < 2 {
            return Err(NoSearch::Empty);
        }
        let mut search = Halving {
            aim,
            values: vec![Vec::new(); candidates],
            alive: (0..candidates).collect(),
            times: times.max(1),
            queue: Vec::new(),
            random: Random::new(seed),
        };
        search.fill();
        Ok(search)
    }

    /// Trials of all rounds together, if none fails.
    pub fn trials(candidates: usize, times: usize) -> usize {
        let (mut left, mut each, mut all) = (candidates, times.max(1), 0);
        while left > 1 {
            all += left * each;
            left = left.div_ceil(2);
            each *= 2;
        }
        all
    }

    /// The candidate to try next; `None` when one is left. The same until [`Halving::tell`] is
    /// called.
    pub fn next(&self) -> Option<usize> {
        self.queue.last().copied()
    }

    /// What came of the trial that was proposed; NaN where it failed.
    pub fn tell(&mut self, value: f64) {
        let Some(candidate) = self.queue.pop() else {
            return;
        };
        self.values[candidate].push(merit(value, self.aim));
        if value.is_nan() {
            self.queue.retain(|c| *c != candidate);
            self.alive.retain(|c| *c != candidate);
        }
        while self.queue.is_empty() && self.alive.len() > 1 {
            self.rank();
            self.alive.truncate(self.alive.len().div_ceil(2));
            self.times *= 2;
            if self.alive.len() > 1 {
                self.fill();
            }
        }
    }

    /// The best candidate so far, and its median; `None` where all failed.
    pub fn best(&self) -> Option<(usize, f64)> {
        let known = self.alive.iter().filter(|c| !self.values[**c].is_empty());
        // Of the same median the one that was tried more often.
        let size = |c: usize| (self.merit(c), self.values[c].len());
        let best = known.max_by(|a, b| {
            let (a, b) = (size(**a), size(**b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        })?;
        Some((*best, merit(self.merit(*best), self.aim)))
    }

    fn merit(&self, candidate: usize) -> f64 {
        let values = &self.values[candidate];
        if values.len() < 3 {
            mean(values)
        } else {
            median(values)
        }
    }

    fn rank(&mut self) {
        let mut order = std::mem::take(&mut self.alive);
        order.sort_by(|a, b| self.merit(*b).total_cmp(&self.merit(*a)));
        self.alive = order;
    }

    fn fill(&mut self) {
        for _ in 0..self.times {
            let mut turn = self.alive.clone();
            self.random.shuffle(&mut turn);
            self.queue.extend(turn);
        }
    }
}

#[cfg(test)]
mod tests;
