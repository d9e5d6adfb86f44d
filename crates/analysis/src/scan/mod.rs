//! Reading a table into cells: an amount for each group and interval.
//!
//! Several threads read parts of a table side by side; rows come in order of time, so each
//! thread's cells are in order too and are joined end to end.

mod amounts;
mod event_rows;
mod events;
mod frame;
pub mod listing;
mod numbers;
mod overlay;
mod samples;
mod tree;
mod words;

use std::collections::HashMap;

use run::catalog::{self, Detail, Kind, Stored};
use run::manifest::State;
use run::read::{Part, ReadError};
use run::{Manifest, Nanos, Run};

use crate::gather::{Gather, Points, Rules, Totals};
use crate::plan::{ScanPlan, TimeCheck, holds};
use samples::scan_parts;

/// An interval in which the table was sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// Its end.
    pub time: Nanos,
    /// Its true length in seconds.
    pub interval: f64,
    /// Its phase, by place in the manifest; `None` before the first mark.
    pub phase: Option<u32>,
}

/// A value of a group's dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyValue {
    /// A word.
    Word(String),
    /// A number: the lower bound of its bucket, in the base unit.
    Number(f64),
}

/// Amounts by group: of each interval, or what they add up to.
#[derive(Clone, Debug)]
pub struct Cells<G = Points> {
    /// The sampled intervals, in order of time; those whose time fails the tests are absent.
    pub slots: Vec<Slot>,
    /// The groups, in order of appearance.
    pub groups: Vec<GroupCells<G>>,
    /// Rows that end together are of different intervals.
    pub(crate) uneven: bool,
}

/// Amounts of a group. Intervals without a row are absent.
#[derive(Clone, Debug, Default)]
pub struct GroupCells<G = Points> {
    /// A value for each of the scan's `by`.
    pub key: Vec<KeyValue>,
    /// What was gathered.
    pub amounts: G,
}

impl<G> Default for Cells<G> {
    fn default() -> Self {
        Cells {
            slots: vec![],
            groups: vec![],
            uneven: false,
        }
    }
}

/// Name shown for the time before the first mark.
pub const NO_PHASE: &str = "(none)";

/// What to divide the amounts by, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Under<C = &'static str> {
    /// The length of the interval.
    Seconds,
    /// A column of the same table.
    Column(C),
}

/// Reads what `plan` asks for, interval by interval. The slots of a sparse table are all
/// intervals in which it was sampled, also those in which no instance had anything to say.
pub fn scan(run: &Run, plan: &ScanPlan) -> Result<Cells, ReadError> {
    scan_with(run, plan, false)
}

/// The same of sums; NaN is an amount that is not known.
pub(crate) fn sums(run: &Run, plan: &ScanPlan) -> Result<Cells, ReadError> {
    scan_with(run, plan, may_be_unknown(run, plan))
}

/// Whether an amount of a sparse table may be a row of its own that says it is not known: a report
/// that was imported may lack some of its rows.
pub(crate) fn may_be_unknown(run: &Run, plan: &ScanPlan) -> bool {
    plan.table.sparse && plan.kind == Kind::Sum && !run.manifest.imported.is_empty()
}

fn scan_with(run: &Run, plan: &ScanPlan, unknown: bool) -> Result<Cells, ReadError> {
    if plan.table.detail == Detail::Event {
        return scan_by(run, plan, |sampled| sampled);
    }
    let cells = points(run, plan, unknown)?;
    if !is_beside_others(run, plan) {
        return Ok(cells);
    }
    let beside = beside(run, plan)?;
    Ok(crate::slots::widen(cells, beside))
}

/// The sampled intervals, without those for which a longer one of the table's own stands.
fn beside(run: &Run, plan: &ScanPlan) -> Result<Vec<Slot>, ReadError> {
    let mut sampled = sampled(run, plan)?;
    if !plan.times.is_empty() && may_be_stretched(run, plan.table.source) {
        // An interval of the table's own that ends outside the times asked for may reach in.
        let all = ScanPlan {
            by: Vec::new(),
            tests: Vec::new(),
            times: Vec::new(),
            ..plan.clone()
        };
        crate::slots::spare(&mut sampled, &points(run, &all, false)?.slots);
    }
    Ok(sampled)
}

/// Whether a source was read less often than the others, or is not known to have kept up.
fn may_be_stretched(run: &Run, source: &str) -> bool {
    let mut sources = run.manifest.sources.iter();
    let stretched = sources.any(|s| s.name == source && s.stretched > 0);
    stretched || run.manifest.state != State::Complete
}

/// Whether the table lacks intervals that others of its source have. What was imported may
/// have tables of other sources at other times.
fn is_beside_others(run: &Run, plan: &ScanPlan) -> bool {
    plan.table.sparse && run.manifest.imported.is_empty()
}

/// The same as [`scan`] for a sparse table of samples or buckets, of which only what the
/// intervals add up to is kept.
pub(crate) fn sparse_totals(
    run: &Run,
    plan: &ScanPlan,
    rules: &Rules,
) -> Result<Cells<Totals>, ReadError> {
    let mut cells = totals(run, plan, None, rules)?;
    if is_beside_others(run, plan) {
        cells.slots = crate::slots::together(&cells.slots, beside(run, plan)?).0;
    }
    Ok(cells)
}

/// Counts events by the intervals that `slots` makes of the sampled ones.
pub(crate) fn scan_by(
    run: &Run,
    plan: &ScanPlan,
    slots: impl FnOnce(Vec<Slot>) -> Vec<Slot>,
) -> Result<Cells, ReadError> {
    let slots = slots(every_slot(run, plan)?);
    let cells = events::scan(run, plan, &[plan.made], slots)?;
    Ok(cells.into_iter().next().unwrap_or_default())
}

/// Reads two plans in one pass, if they are of the same events by the same dimensions: what
/// is above and below the line of a ratio.
pub(crate) fn scan_both(
    run: &Run,
    over: &ScanPlan,
    under: &ScanPlan,
) -> Result<Option<(Cells, Cells)>, ReadError> {
    // The tests come from one expression; they differ where tables differ.
    let same = over.table.detail == Detail::Event
        && over.table.name == under.table.name
        && over.by == under.by
        && over.tests.len() == under.tests.len()
        && over.times.len() == under.times.len();
    if !same {
        return Ok(None);
    }
    let mut cells = scan_events(run, over, &[over.made, under.made])?.into_iter();
    Ok(cells.next().zip(cells.next()))
}

fn scan_events(
    run: &Run,
    plan: &ScanPlan,
    made: &[Option<Stored>],
) -> Result<Vec<Cells>, ReadError> {
    events::scan(run, plan, made, every_slot(run, plan)?)
}

/// All sampled intervals: which of them are wanted is looked at when all are known.
fn every_slot(run: &Run, plan: &ScanPlan) -> Result<Vec<Slot>, ReadError> {
    let every = ScanPlan {
        times: Vec::new(),
        ..plan.clone()
    };
    let mut slots = sampled(run, &every)?;
    for check in &plan.times {
        if let TimeCheck::Exactly(from, to) = check {
            divide(&mut slots, *from);
            divide(&mut slots, *to);
        }
    }
    Ok(slots)
}

/// Makes two intervals of the one that holds `time`.
pub(crate) fn divide(slots: &mut Vec<Slot>, time: Nanos) {
    let place = slots.partition_point(|s| s.time <= time);
    let Some(slot) = slots.get_mut(place).filter(|s| s.from() < time) else {
        return;
    };
    let first = Slot {
        time,
        interval: time.saturating_sub(slot.from()) as f64 / 1e9,
        phase: slot.phase,
    };
    slot.interval -= first.interval;
    slots.insert(place, first);
}

/// The intervals in which the source of a sparse table was read, by its smallest dense table;
/// a source without one is taken to be read in every sample.
fn sampled(run: &Run, plan: &ScanPlan) -> Result<Vec<Slot>, ReadError> {
    let recorded = run.tables();
    let beside = catalog::tables()
        .map(|(_, t)| t)
        .filter(|t| t.source == plan.table.source && !t.sparse)
        .filter(|t| recorded.iter().any(|r| r == t.name))
        .min_by_key(|t| t.dimensions.len());
    let table = beside.or_else(|| catalog::table("self").map(|(_, t)| t));
    let Some(table) = table else {
        return Ok(Vec::new());
    };
    let times = ScanPlan {
        table,
        column: None,
        seconds: false,
        made: None,
        kind: Kind::Sum,
        by: vec![],
        tests: vec![],
        times: plan.times.clone(),
        caveat: None,
        implied: vec![],
        is_of_another: false,
        bounds: plan.bounds.clone(),
    };
    Ok(points(run, &times, false)?.slots)
}

/// The table's own intervals.
fn points(run: &Run, plan: &ScanPlan, unknown: bool) -> Result<Cells, ReadError> {
    let rules = Rules {
        kind: plan.kind,
        ratio: None,
        shortest: 0.0,
        unknown,
        grid: None,
    };
    gather(run, plan, None, &rules)
}

/// Reads what `plan` asks for, and keeps only what the intervals add up to.
pub fn totals(
    run: &Run,
    plan: &ScanPlan,
    under: Option<Under>,
    rules: &Rules,
) -> Result<Cells<Totals>, ReadError> {
    let mut cells: Cells<Totals> = gather(run, plan, under, rules)?;
    for group in &mut cells.groups {
        group.amounts.close(rules);
    }
    Ok(cells)
}

fn gather<G: Gather>(
    run: &Run,
    plan: &ScanPlan,
    under: Option<Under>,
    rules: &Rules,
) -> Result<Cells<G>, ReadError> {
    let mut cells = gather_as(run, plan, under, rules, Split::ByTime)?;
    let may_lie_over = !run.manifest.imported.is_empty() && plan.kind == Kind::Sum;
    if may_lie_over && (cells.uneven || overlay::lie_over(&cells.slots)) {
        // Which pieces are of the times asked for is looked at when there are pieces.
        let all = ScanPlan {
            times: Vec::new(),
            ..plan.clone()
        };
        let rows = gather_as(run, &all, under, rules, Split::ByInterval)?;
        if let Some(laid) = overlay::laid(rows, plan, &run.manifest, rules) {
            cells = laid;
        }
    }
    Ok(cells)
}

/// What is a slot: all rows that end at a time, or those of them that began together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Split {
    ByTime,
    ByInterval,
}

fn gather_as<G: Gather>(
    run: &Run,
    plan: &ScanPlan,
    under: Option<Under>,
    rules: &Rules,
    split: Split,
) -> Result<Cells<G>, ReadError> {
    let Some(table) = run.table(plan.table.name)? else {
        return Ok(Cells::default());
    };
    let (first, last) = time_bounds(plan);
    let parts: Vec<Part> = table
        .parts
        .iter()
        .filter(|p| {
            p.range
                .is_none_or(|(low, high)| high > first && low <= last)
        })
        .copied()
        .collect();
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(parts.len());
    if threads <= 1 {
        return scan_parts(&table, &parts, plan, under, rules, &run.manifest, split);
    }
    let share = parts.len().div_ceil(threads);
    let (table, manifest) = (&table, &run.manifest);
    let results: Vec<Result<Cells<G>, ReadError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = parts
            .chunks(share)
            .map(|chunk| {
                scope.spawn(move || scan_parts(table, chunk, plan, under, rules, manifest, split))
            })
            .collect();
        workers
            .into_iter()
            .map(|w| w.join().expect("scanning does not panic"))
            .collect()
    });
    let mut joined = Cells::<G>::default();
    for cells in results {
        join(&mut joined, cells?, rules);
    }
    Ok(joined)
}

/// The times that all tests of `plan` allow: after the first, not after the second.
fn time_bounds(plan: &ScanPlan) -> (Nanos, Nanos) {
    plan.times.iter().fold(
        (Nanos::MIN, Nanos::MAX),
        |(first, last), check| match check {
            TimeCheck::Within(from, to) | TimeCheck::Exactly(from, to) => {
                (first.max(*from), last.min(*to))
            }
            TimeCheck::Phase(_) => (first, last),
            TimeCheck::Never => (Nanos::MAX, Nanos::MIN),
        },
    )
}

/// Appends `more`, which is later, to `cells`.
fn join<G: Gather>(cells: &mut Cells<G>, more: Cells<G>, rules: &Rules) {
    // A sample may be split between two parts.
    let shared = match (cells.slots.last(), more.slots.first()) {
        (Some(a), Some(b)) => a.time == b.time,
        _ => false,
    };
    cells.uneven |= more.uneven;
    let offset = cells.slots.len() as u32 - u32::from(shared);
    cells
        .slots
        .extend(more.slots.into_iter().skip(usize::from(shared)));
    let mut places: HashMap<String, usize> = cells
        .groups
        .iter()
        .enumerate()
        .map(|(i, g)| (format!("{:?}", g.key), i))
        .collect();
    for group in more.groups {
        let place = *places.entry(format!("{:?}", group.key)).or_insert_with(|| {
            cells.groups.push(GroupCells {
                key: group.key.clone(),
                ..GroupCells::default()
            });
            cells.groups.len() - 1
        });
        let target = &mut cells.groups[place].amounts;
        target.join(group.amounts, offset, rules);
    }
}

/// Whether the tests of time hold for an interval.
fn passes(plan: &ScanPlan, manifest: &Manifest, slot: &Slot) -> bool {
    plan.times.iter().all(|check| match check {
        TimeCheck::Within(from, to) | TimeCheck::Exactly(from, to) => {
            *from < slot.time && slot.time <= *to
        }
        TimeCheck::Phase(test) => holds(test, phase_name(manifest, slot.phase)),
        TimeCheck::Never => false,
    })
}

/// The phase of an interval that ends at `time`.
///
/// A mark takes a sample at its moment, so an interval that ends at the mark is still the
/// phase before, and no interval is in two.
pub fn phase_at(manifest: &Manifest, time: Nanos) -> Option<u32> {
    let after = manifest.phases.partition_point(|p| p.from < time);
    let name = &manifest.phases[after.checked_sub(1)?].name;
    // A phase that is entered again is the same phase.
    manifest
        .phases
        .iter()
        .position(|p| p.name == *name)
        .map(|p| p as u32)
}

/// The name of a phase.
pub fn phase_name(manifest: &Manifest, phase: Option<u32>) -> &str {
    phase
        .and_then(|p| manifest.phases.get(p as usize))
        .map_or(NO_PHASE, |p| &p.name)
}
