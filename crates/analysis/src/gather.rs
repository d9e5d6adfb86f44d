//! What a scan keeps of each group: every interval's amount, or only what they add up to.
//!
//! A day of 64 disks has 22 million amounts by device and operation; who asks for totals,
//! means and extremes need not hold them.

use run::Nanos;
use run::catalog::Kind;

use crate::scan::Slot;
use crate::window::columns::Columns;
use crate::window::{Grid, Place};

/// How amounts are taken.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How amounts of one interval combine.
    pub kind: Kind,
    /// The amount is divided by a second one, and multiplied by this.
    pub ratio: Option<f64>,
    /// Least and greatest are taken over intervals at least this long.
    pub shortest: f64,
    /// An amount that is not known is kept as such: without a row it would be nothing.
    pub unknown: bool,
    /// Also what they are in each of these columns; what lies beside them does not count.
    pub grid: Option<Grid>,
}

/// The interval of an amount.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// Its place among the sampled intervals.
    pub slot: u32,
    /// Its length in seconds.
    pub seconds: f64,
    /// When it ended.
    pub end: Nanos,
    /// Where it lies on the grid, if there is one.
    pub place: Place,
}

impl At {
    /// The interval at `slot` that ended at `end`, on the grid of `rules`.
    pub fn new(slot: u32, end: Nanos, seconds: f64, rules: &Rules) -> At {
        let from = end.saturating_sub((seconds * 1e9) as Nanos);
        let on = |grid: Grid| grid.place(from, end);
        At {
            slot,
            seconds,
            end,
            place: rules.grid.map_or(Place::One(0), on),
        }
    }

    /// When it began.
    pub(crate) fn from(&self) -> Nanos {
        self.end.saturating_sub((self.seconds * 1e9) as Nanos)
    }

    /// Whether it is to be counted: its middle lies on the grid.
    fn counts(&self, grid: &Grid) -> bool {
        match self.place {
            Place::One(column) => column < grid.count,
            Place::Many => grid.holds(self.end.saturating_sub((self.seconds * 0.5e9) as Nanos)),
        }
    }
}

/// Keeps the amounts of a group, which come in order of time.
pub trait Gather: Default + Send {
    /// Takes the amount of a row, and the one to divide it by; NaN is "not known", both only
    /// where the rules keep that. Answers how much it grew, in cells.
    fn add(&mut self, at: &At, amount: f64, under: f64, rules: &Rules) -> usize;
    /// Takes what was gathered of later intervals, whose places count from `offset`.
    fn join(&mut self, later: Self, offset: u32, rules: &Rules);
    /// Whether there was no amount.
    fn is_empty(&self) -> bool;
}

/// Whether least and greatest of the intervals that are long enough may stand beside `mean`:
/// they may not where so much happened in short ones that the mean lies outside.
pub(crate) fn holds(extremes: [f64; 2], mean: f64) -> bool {
    let slack = mean.abs() * 1e-9;
    let [least, greatest] = extremes;
    !least.is_nan() && (mean.is_nan() || (least - slack <= mean && mean <= greatest + slack))
}

/// A mean that rounding put just outside of the values that it is of.
pub(crate) fn within(mean: f64, extremes: [f64; 2]) -> f64 {
    if holds(extremes, mean) {
        mean.max(extremes[0]).min(extremes[1])
    } else {
        mean
    }
}

/// An amount for each interval that has one.
#[derive(Clone, Debug, Default)]
pub struct Points {
    /// Places of the intervals, rising.
    pub slots: Vec<u32>,
    /// The amount in each.
    pub values: Vec<f64>,
}

impl Gather for Points {
    fn add(&mut self, at: &At, amount: f64, _: f64, rules: &Rules) -> usize {
        if self.slots.last() == Some(&at.slot) {
            let cell = self.values.last_mut().expect("as many values as slots");
            *cell = combine_known(*cell, amount, rules.kind);
            0
        } else {
            self.slots.push(at.slot);
            self.values.push(amount);
            1
        }
    }

    fn join(&mut self, later: Points, offset: u32, rules: &Rules) {
        for (slot, value) in later.slots.iter().zip(&later.values) {
            // The length of the interval does not matter here.
            let at = At {
                slot: slot + offset,
                seconds: f64::NAN,
                end: 0,
                place: Place::One(0),
            };
            self.add(&at, *value, f64::NAN, rules);
        }
    }

    fn is_empty(&self) -> bool {
        self.values.iter().all(|value| value.is_nan())
    }
}

fn combine(before: f64, more: f64, kind: Kind) -> f64 {
    match kind {
        Kind::Sum | Kind::Level => before + more,
        Kind::Peak => before.max(more),
    }
}

/// The same, where not known is nothing.
fn combine_known(before: f64, more: f64, kind: Kind) -> f64 {
    match combine(before, more, kind) {
        // Of sums; the greatest of a number and not known is the number.
        both if both.is_nan() && before.is_nan() => more,
        both if both.is_nan() && more.is_nan() => before,
        both => both,
    }
}

/// Adds an amount and what to divide it by to those before, of the same group and interval.
#[inline]
pub(crate) fn join_amounts(before: &mut [f64; 2], more: [f64; 2], rules: &Rules) {
    let [amount, under] = before;
    if rules.ratio.is_some() {
        *amount = combine_known(*amount, more[0], rules.kind);
        *under = combine_known(*under, more[1], Kind::Sum);
    } else {
        *amount = combine(*amount, more[0], rules.kind);
    }
}

/// Amounts of one interval.
#[derive(Clone, Copy, Debug)]
struct Cell {
    at: At,
    amount: f64,
    under: f64,
}

/// What the intervals add up to.
#[derive(Clone, Debug)]
pub struct Totals {
    /// The first interval of the group is kept apart until the end: an earlier part of the
    /// table may have the other half of it.
    first: Option<Cell>,
    /// The newest.
    open: Option<Cell>,
    /// Whether there was an amount, though nothing to divide it by.
    any: bool,
    /// An interval's amount is not known.
    pub(crate) has_unknown: bool,
    /// How many intervals have a value.
    pub intervals: u64,
    /// Seconds that they cover.
    pub seconds: f64,
    /// The amounts added up; of a ratio, those that have something to be divided by.
    pub amount: f64,
    /// Each amount times the length of its interval.
    pub weighted: f64,
    /// What to divide by.
    pub under: f64,
    /// Least and greatest value, over intervals that are long enough and over all.
    pub(crate) extremes: [[f64; 2]; 2],
    /// How many of the intervals with a value are long enough.
    pub(crate) long: u64,
    /// Where what was gathered are parts of intervals: the extremes of those.
    pub(crate) by_interval: Option<Box<[[f64; 2]; 2]>>,
    /// The same by column of time, if there are columns.
    pub columns: Columns,
}

impl Default for Totals {
    fn default() -> Self {
        Totals {
            first: None,
            open: None,
            any: false,
            has_unknown: false,
            intervals: 0,
            seconds: 0.0,
            amount: 0.0,
            weighted: 0.0,
            under: 0.0,
            extremes: [[f64::NAN; 2]; 2],
            long: 0,
            by_interval: None,
            columns: Columns::default(),
        }
    }
}

impl Totals {
    /// Counts what is still open. To be called before the numbers are read.
    pub fn close(&mut self, rules: &Rules) {
        for cell in [self.first.take(), self.open.take()].into_iter().flatten() {
            self.count(&cell, rules);
        }
    }

    /// Of amounts by interval of `slots`.
    pub(crate) fn of(points: &Points, slots: &[Slot], rules: &Rules) -> Totals {
        let mut totals = Totals::default();
        for (&place, &amount) in points.slots.iter().zip(&points.values) {
            let slot = &slots[place as usize];
            let at = At::new(place, slot.time, slot.interval, rules);
            totals.add(&at, amount, f64::NAN, rules);
        }
        totals.close(rules);
        totals
    }

    /// Least and greatest value, where the mean is `mean`.
    pub fn extremes(&self, mean: f64) -> [f64; 2] {
        let [long, all] = self.extremes;
        if holds(long, mean) { long } else { all }
    }

    fn next(&mut self, cell: Cell, rules: &Rules) -> usize {
        let Some(open) = &mut self.open else {
            self.open = Some(cell);
            return 0;
        };
        let before = std::mem::replace(open, cell);
        if self.first.is_none() {
            self.first = Some(before);
            return 0;
        }
        self.count(&before, rules)
    }

    fn count(&mut self, cell: &Cell, rules: &Rules) -> usize {
        let Some(grid) = &rules.grid else {
            self.count_whole(cell, rules);
            return 0;
        };
        let before = self.columns.len();
        self.columns
            .add(cell.at, [cell.amount, cell.under], grid, rules);
        if cell.at.counts(grid) {
            self.count_whole(cell, rules);
        }
        self.columns.len() - before
    }

    fn count_whole(&mut self, cell: &Cell, rules: &Rules) {
        let seconds = cell.at.seconds;
        let value = if let Some(times) = rules.ratio {
            if cell.amount.is_nan() || cell.under.is_nan() {
                return;
            }
            self.amount += cell.amount;
            self.under += cell.under;
            if cell.under <= 0.0 {
                return;
            }
            cell.amount / cell.under * times
        } else {
            self.amount += cell.amount;
            self.weighted += cell.amount * seconds;
            match rules.kind {
                Kind::Sum => cell.amount / seconds,
                Kind::Level | Kind::Peak => cell.amount,
            }
        };
        self.intervals += 1;
        self.long += u64::from(seconds >= rules.shortest);
        self.seconds += seconds;
        // `min` and `max` pass over NaN.
        for (extremes, counts) in self
            .extremes
            .iter_mut()
            .zip([seconds >= rules.shortest, true])
        {
            if counts {
                *extremes = [extremes[0].min(value), extremes[1].max(value)];
            }
        }
    }
}

impl Gather for Totals {
    #[inline]
    fn add(&mut self, at: &At, amount: f64, under: f64, rules: &Rules) -> usize {
        if amount.is_nan() && under.is_nan() {
            self.has_unknown = true;
            return 0;
        }
        self.any |= !amount.is_nan();
        if let Some(open) = &mut self.open
            && open.at.slot == at.slot
        {
            let mut both = [open.amount, open.under];
            join_amounts(&mut both, [amount, under], rules);
            [open.amount, open.under] = both;
            return 0;
        }
        let at = *at;
        self.next(Cell { at, amount, under }, rules)
    }

    fn join(&mut self, mut later: Totals, offset: u32, rules: &Rules) {
        let moved = |mut cell: Cell| {
            cell.at.slot += offset;
            cell
        };
        let first = later.first.take().map(moved);
        let open = later.open.take().map(moved);
        for cell in [first, open].into_iter().flatten() {
            self.add(&cell.at, cell.amount, cell.under, rules);
        }
        self.any |= later.any;
        self.has_unknown |= later.has_unknown;
        self.intervals += later.intervals;
        self.seconds += later.seconds;
        self.amount += later.amount;
        self.weighted += later.weighted;
        self.under += later.under;
        self.long += later.long;
        self.columns.join(&later.columns);
        for (mine, theirs) in self.extremes.iter_mut().zip(later.extremes) {
            *mine = [mine[0].min(theirs[0]), mine[1].max(theirs[1])];
        }
    }

    fn is_empty(&self) -> bool {
        !self.any
    }
}
