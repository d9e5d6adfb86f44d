//! An answer for a picture: a stretch of time in as many columns as there are pixels.
//!
//! A day of two thousand series has more values than memory has room for, and a picture cannot
//! show them. So a scan keeps, of each group, only what its columns need: the amount, the
//! seconds, least and greatest interval. Zoomed in, columns get as short as the samples are;
//! those of events, shorter; a heat map of a short window is drawn from events where the run has
//! them all. Only the part of the tables that lies in the window is read.

pub(crate) mod columns;
mod finer;
mod frames;
mod grid;

use std::sync::Arc;

use run::catalog::{Detail, Kind};
use run::{Manifest, Nanos, Run};

use crate::answer::{
    self, Answer, Group, asked, belongs, is_sparse_sum, phase_key, plan_head, short_group, sort,
};
use crate::bounds::Bounds;
use crate::error::Error;
use crate::fold::Zeros;
use crate::gather::{At, Gather, Rules, Totals, holds};
use crate::plan::{self, Plan, TimeCheck};
use crate::quantiles::{self, Spreads};
use crate::scan::{self, Cells, GroupCells, KeyValue, Slot};
use crate::syntax::parse;

pub use columns::{Column, Columns};
pub use grid::{Grid, Place};

/// The stretch of time that is looked at, and how many columns there is room for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// First second since the run's start.
    pub from: f64,
    /// Last second.
    pub to: f64,
    /// At most so many columns (and one or two more at the edges).
    pub width: u32,
}

/// An answer in columns.
#[derive(Clone, Debug)]
pub struct Pictured {
    /// The answer over the window: totals, means and extremes; no series. Its text has the
    /// window as a predicate of time, unless that is the whole run.
    pub answer: Answer,
    /// The columns.
    pub grid: Grid,
    /// Of each of the answer's groups, in its order.
    pub columns: Vec<Columns>,
    /// Of each column: seconds observed, and how many intervals.
    pub observed: Vec<(f64, u32)>,
    /// The same by phase, where groups are split by it.
    by_phase: Vec<(KeyValue, Vec<(f64, u32)>)>,
    /// Place of the phase in the groups' keys.
    phase: Option<usize>,
    /// A ratio is multiplied by this.
    times: f64,
    /// Seconds of an interval that is long enough to count for least and greatest values; of
    /// columns that are shorter than sampled intervals, none is too short.
    shortest: f64,
}

/// What a group shows in a column. NaN: nothing is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Sums: amount by the seconds observed. Others: weighted mean.
    pub mean: f64,
    /// Least interval.
    pub min: f64,
    /// Greatest interval.
    pub max: f64,
    /// Of a ratio: what it is divided by, so that columns can be put together.
    pub weight: f64,
}

impl Pictured {
    /// What the group at `place` shows, column by column: as many as the grid has.
    pub fn series(&self, place: usize) -> Vec<Shown> {
        const GAP: Shown = Shown {
            mean: f64::NAN,
            min: f64::NAN,
            max: f64::NAN,
            weight: f64::NAN,
        };
        let observed = self.observed_by(place);
        let zeros = self.answer.absent_is_zero;
        let empty = |seconds: f64| {
            if zeros && seconds > 0.0 {
                Shown {
                    mean: 0.0,
                    min: 0.0,
                    max: 0.0,
                    ..GAP
                }
            } else {
                GAP
            }
        };
        let mut shown: Vec<Shown> = observed.iter().map(|o| empty(o.0)).collect();
        let columns = self.columns.get(place).into_iter().flat_map(Columns::iter);
        let greatest = self.answer.groups.get(place).map_or(f64::NAN, |g| g.max);
        for (at, column) in columns {
            if let (Some(out), Some(seen)) =
                (shown.get_mut(*at as usize), observed.get(*at as usize))
            {
                let one = self.one(column, *seen);
                // A few milliseconds at a mark or at the end may hold a tick's worth: such a rate
                // is no maximum, and must not set the axis either.
                let is_short = column.min.is_nan() && seen.0 < self.shortest;
                *out = if is_short && one.mean > greatest {
                    GAP
                } else {
                    one
                };
            }
        }
        shown
    }

    fn one(&self, column: &Column, (seconds, intervals): (f64, u32)) -> Shown {
        let mean = match self.answer.kind {
            // All parts by the same seconds: they add up to the whole.
            Some(Kind::Sum) => column.amount / seconds.max(column.weight),
            Some(Kind::Level | Kind::Peak) => column.amount / column.weight,
            None if column.weight > 0.0 => column.amount / column.weight * self.times,
            None => f64::NAN,
        };
        let (mut min, mut max) = (column.min, column.max);
        if min.is_nan() {
            // Only short intervals: those before and after a mark, and parts of one.
            (min, max) = (mean, mean);
        } else if self.answer.absent_is_zero && column.intervals < intervals {
            (min, max) = (min.min(0.0), max.max(0.0));
        }
        let weight = self.answer.kind.map_or(column.weight, |_| f64::NAN);
        Shown {
            mean,
            min,
            max,
            weight,
        }
    }

    fn observed_by(&self, place: usize) -> &[(f64, u32)] {
        let group = self.answer.groups.get(place);
        let phase = self.phase.and_then(|p| group?.key.get(p));
        let of = |phase| self.by_phase.iter().find(|(name, _)| name == phase);
        phase.and_then(of).map_or(&self.observed, |(_, o)| o)
    }

    /// The distributions over the window, if this is `text`'s answer by one number; see
    /// [`quantiles::of`].
    pub fn spreads(
        &self,
        run: &Run,
        text: &str,
        bounds: &Arc<Bounds>,
    ) -> Result<Option<Spreads>, Error> {
        quantiles::spreads(run, &self.answer, text, &|beside| {
            let of_table = |name: &str| name == self.answer.table;
            let plan = plan::plan(&parse(beside)?, &run.manifest, &of_table)?;
            Ok(on_grid(run, beside, plan, self.grid, bounds)?.answer)
        })
    }

    /// The sum of the groups at `places`, column by column: sums and levels only.
    pub fn sum(&self, places: std::ops::Range<usize>) -> Vec<f64> {
        let mut sum = vec![f64::NAN; self.observed.len()];
        let is_sum = self.answer.kind == Some(Kind::Sum);
        for place in places {
            let observed = self.observed_by(place);
            for (at, column) in self.columns.get(place).into_iter().flat_map(Columns::iter) {
                let at = *at as usize;
                if let (Some(cell), Some(seen)) = (sum.get_mut(at), observed.get(at)) {
                    // A level stands for nothing while it is not there.
                    let seconds = seen.0.max(column.weight);
                    let value = column.amount / seconds;
                    *cell = if cell.is_nan() { value } else { *cell + value };
                }
            }
        }
        if is_sum && self.answer.absent_is_zero {
            for (cell, seen) in sum.iter_mut().zip(&self.observed) {
                if cell.is_nan() && seen.0 > 0.0 {
                    *cell = 0.0;
                }
            }
        }
        sum
    }
}

/// Answers `text` from `run` for a picture of `window`, taking no more than `bounds`.
pub fn window(
    run: &Run,
    text: &str,
    window: &Window,
    bounds: &Arc<Bounds>,
) -> Result<Pictured, Error> {
    let plan = asked(run, text, bounds)?;
    let ended = run.ended();
    let cut = frames::can_be_cut(&plan);
    let grid = grid_of(run, cut, window, ended);
    match finer::from_events(run, text, &plan, &grid)? {
        Some(finer) => {
            let grid = grid_of(run, true, window, ended);
            on_grid(run, text, finer, grid, bounds)
        }
        None => on_grid(run, text, plan, grid, bounds),
    }
}

/// Answers by a plan, in these columns.
fn on_grid(
    run: &Run,
    text: &str,
    mut plan: Plan,
    grid: Grid,
    bounds: &Arc<Bounds>,
) -> Result<Pictured, Error> {
    let cut = frames::can_be_cut(&plan);
    let every = seconds(run.manifest.every_seconds);
    let slack = if plan.over.table.detail == Detail::Event {
        // A sample is taken a little late; the next interval is none of the window's.
        every / 4
    } else {
        // A source that is read less often has an interval that ends after the window.
        every.max(grid.length).saturating_mul(16)
    };
    let within = TimeCheck::Within(grid.from, grid.to().saturating_add(slack));
    for scan in plan.under.iter_mut().chain([&mut plan.over]) {
        scan.times.push(within.clone());
        scan.bounds = bounds.clone();
    }
    let rules = Rules {
        kind: plan.over.kind,
        ratio: None,
        shortest: run.manifest.every_seconds / 2.0,
        unknown: scan::may_be_unknown(run, &plan.over),
        grid: Some(grid),
    };
    let mut pictured = read(run, &plan, rules, cut)?;
    bounds.check()?;
    let whole = grid.from <= run.manifest.started && grid.to() >= run.ended();
    if !whole {
        pictured.answer.text = within_text(text, run, &grid);
    }
    Ok(pictured)
}

fn seconds(seconds: f64) -> Nanos {
    ((seconds * 1e9) as Nanos).max(1)
}

fn grid_of(run: &Run, cut: bool, window: &Window, ended: Nanos) -> Grid {
    let started = run.manifest.started;
    let at = |seconds: f64| started.saturating_add((seconds * 1e9) as Nanos);
    let from = at(window.from).max(started);
    let to = at(window.to).min(ended).max(from.saturating_add(1));
    // Samples are taken at whole multiples of the interval; what was imported is not.
    let origin = if run.manifest.imported.is_empty() {
        0
    } else {
        started
    };
    let every = seconds(run.manifest.every_seconds);
    // Columns hold whole samples, until there is room for more than samples have.
    let fine = to.saturating_sub(from) / Nanos::from(window.width.max(1)) < every;
    let least = if fine && cut {
        frames::SHORTEST.min(every)
    } else {
        every
    };
    Grid::new(from, to, origin, least, window.width)
}

/// The expression, for the sampled intervals of which something lies between these seconds since
/// the run's start: those that a picture of that time has, and counts.
pub fn narrowed(run: &Run, text: &str, (from, to): (f64, f64)) -> String {
    let all = Window {
        from,
        to,
        width: u32::MAX,
    };
    within_text(text, run, &grid_of(run, false, &all, run.ended()))
}

/// The expression, for the intervals whose middle lies on the grid.
fn within_text(text: &str, run: &Run, grid: &Grid) -> String {
    let tested = parse(text).is_ok_and(|e| !e.predicates.is_empty());
    let word = if tested { "and" } else { "where" };
    let half = seconds(run.manifest.every_seconds / 2.0);
    let at = |time: Nanos| {
        let since = time
            .saturating_sub(run.manifest.started)
            .saturating_add(half);
        // Half an interval away from any sample's time.
        let digits = if run.manifest.every_seconds >= 0.1 {
            1e3
        } else {
            1e6
        };
        (since as f64 / 1e9 * digits).round() / digits
    };
    let (from, to) = (at(grid.from).max(0.0), at(grid.to()));
    format!("{text} {word} time in {from}s..{to}s")
}

fn read(run: &Run, plan: &Plan, mut rules: Rules, cut: bool) -> Result<Pictured, Error> {
    let mut answer = plan_head(plan);
    if let Some(short) = answer::Short::of(plan) {
        rules.ratio = short.under.is_some().then_some(plan.times);
        let cells = scan::totals(run, &plan.over, short.under, &rules)?;
        return Ok(pictured(answer, plan, cells, &rules, &run.manifest));
    }
    if !is_sparse_sum(plan) {
        // Two tables.
        return by_interval(run, plan, answer, rules);
    }
    answer.absent_is_zero = true;
    let cells = if plan.over.table.detail == Detail::Event {
        let (cells, intervals) = match rules.grid.filter(|_| cut) {
            Some(grid) => frames::scan(run, plan, grid)?,
            None => (scan::scan(run, &plan.over)?, None),
        };
        if intervals.is_some() {
            // Parts of intervals are no intervals.
            rules.shortest = f64::INFINITY;
        }
        let totals = |g: GroupCells| {
            let mut amounts = Totals::of(&g.amounts, &cells.slots, &rules);
            let whole = intervals.as_ref().map(|i| Box::new(i.extremes(&g.amounts)));
            amounts.by_interval = whole;
            let key = g.key;
            GroupCells { key, amounts }
        };
        let groups = cells.groups.into_iter().map(totals).collect();
        Cells {
            groups,
            slots: cells.slots,
            uneven: false,
        }
    } else {
        let cells = scan::sparse_totals(run, &plan.over, &rules)?;
        if cells.groups.iter().any(|g| g.amounts.has_unknown) {
            // An interval without an amount is nothing, but not one whose amount is not known.
            answer.absent_is_zero = false;
            return by_interval(run, plan, answer, rules);
        }
        cells
    };
    Ok(pictured(answer, plan, cells, &rules, &run.manifest))
}

/// Interval by interval.
fn by_interval(
    run: &Run,
    plan: &Plan,
    answer: Answer,
    mut rules: Rules,
) -> Result<Pictured, Error> {
    let whole = answer::series(run, plan)?;
    rules.ratio = plan.kind.is_none().then_some(plan.times);
    let groups = whole.groups.into_iter();
    let groups = groups.map(|g| totals_of(g, &whole.slots, &rules)).collect();
    let slots = whole.slots;
    let cells = Cells {
        slots,
        groups,
        uneven: false,
    };
    Ok(pictured(answer, plan, cells, &rules, &run.manifest))
}

/// A group's series as it would have been gathered.
fn totals_of(group: Group, slots: &[Slot], rules: &Rules) -> GroupCells<Totals> {
    let mut amounts = Totals::default();
    for (i, (place, value)) in group.series.iter().enumerate() {
        let slot = &slots[*place as usize];
        let at = At::new(*place, slot.time, slot.interval, rules);
        let (amount, under) = match (rules.ratio, group.weights.get(i)) {
            (Some(times), Some(weight)) => (value * weight / times, *weight),
            _ if rules.kind == Kind::Sum => (value * slot.interval, f64::NAN),
            _ => (*value, f64::NAN),
        };
        amounts.add(&at, amount, under, rules);
    }
    amounts.close(rules);
    GroupCells {
        key: group.key,
        amounts,
    }
}

fn pictured(
    mut answer: Answer,
    plan: &Plan,
    cells: Cells<Totals>,
    rules: &Rules,
    manifest: &Manifest,
) -> Pictured {
    let grid = rules.grid.expect("a window has a grid");
    let of = |phase: Option<&KeyValue>| {
        let slots = cells.slots.iter();
        observed(slots.filter(|s| belongs(s, phase, manifest)), &grid, rules)
    };
    let phase = plan
        .over
        .by
        .iter()
        .position(|(_, key)| *key == plan::Key::Phase);
    let mut by_phase: Vec<(KeyValue, Vec<(f64, u32)>)> = Vec::new();
    for group in &cells.groups {
        if let Some(name) = phase_key(&plan.over, &group.key)
            && !by_phase.iter().any(|(known, _)| known == name)
        {
            by_phase.push((name.clone(), of(Some(name))));
        }
    }
    let observed = of(None);
    let inside: Vec<Slot> = cells
        .slots
        .into_iter()
        .filter(|s| grid.holds(s.middle()))
        .collect();
    let mut zeros = Zeros::new(&inside, manifest);
    let mut groups: Vec<(Group, Columns)> = Vec::with_capacity(cells.groups.len());
    for mut group in cells.groups {
        let columns = std::mem::take(&mut group.amounts.columns);
        // Something of it is in a column, though its middle lies beside.
        if columns.is_empty() {
            continue;
        }
        let whole = group.amounts.by_interval.take();
        let mut shown = if answer.absent_is_zero {
            let phase = phase_key(&plan.over, &group.key).cloned();
            zeros.fold(group.key, &group.amounts, phase)
        } else {
            short_group(group, rules)
        };
        let found = whole.and_then(|w| w.into_iter().find(|e| holds(*e, shown.mean)));
        [shown.min, shown.max] = found.unwrap_or([shown.min, shown.max]);
        groups.push((shown, columns));
    }
    sort(&answer, &mut groups, |g| &g.0);
    let (groups, columns) = groups.into_iter().unzip();
    answer.groups = groups;
    answer.slots = inside;
    Pictured {
        answer,
        grid,
        columns,
        observed,
        by_phase,
        phase,
        times: plan.times,
        shortest: if grid.length < seconds(manifest.every_seconds) {
            0.0
        } else {
            rules.shortest
        },
    }
}

/// Seconds observed in each column, and in how many intervals.
fn observed<'s>(
    slots: impl Iterator<Item = &'s Slot>,
    grid: &Grid,
    rules: &Rules,
) -> Vec<(f64, u32)> {
    let mut seen = vec![(0.0, 0); grid.count as usize];
    for (number, slot) in slots.enumerate() {
        let at = At::new(number as u32, slot.time, slot.interval, rules);
        grid.parts(at.from(), at.end, |column, share| {
            if let Some(cell) = seen.get_mut(column as usize) {
                cell.0 += slot.interval * share;
                cell.1 += 1;
            }
        });
    }
    seen
}
