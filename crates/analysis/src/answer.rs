//! From cells to an answer: totals, means, least and greatest, series.
//!
//! - A *sum* has a total (the amount), and per second: the mean over the time observed, and
//!   the least and greatest interval.
//! - A *level* has a mean (weighted by the intervals' lengths), least and greatest.
//! - A *peak* has its greatest, and the mean of its intervals.
//! - A *ratio* is the sum above the line by the sum below it, over the same intervals; where
//!   nothing is below the line there is no ratio.
//!
//! The least and greatest are taken over intervals at least half as long as was asked for:
//! the first and last of a run can be a millisecond, and a rate over a millisecond says
//! nothing about the run. Where so much happened in short ones that the mean lies outside,
//! all intervals count.

use std::cmp::Ordering;
use std::sync::Arc;

use run::catalog::Kind;
use run::unit::Unit;
use run::{Manifest, Run};

use crate::bounds::Bounds;
use crate::error::Error;
use crate::exact::exactly;
use crate::fold::{Zeros, fill, fold};
use crate::gather::{Rules, Totals, within};
use crate::mixed;
use crate::paired::pair;
use crate::plan::{Key, Plan, ScanPlan, of_damaged, plan};
use crate::ratio::ratio;
use crate::scan::{self, Cells, GroupCells, KeyValue, Slot, scan};
use crate::slots::observed;
use crate::syntax::parse;

/// The answer to an expression.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The expression.
    pub text: String,
    /// Unit of totals; rates are in this unit per second.
    pub unit: Unit,
    /// How amounts combine; `None` for a ratio.
    pub kind: Option<Kind>,
    /// One sentence on the statistic.
    pub help: &'static str,
    /// Names and units of the groups' keys.
    pub by: Vec<crate::plan::ByDimension>,
    /// The table that answered (of a ratio: what is above the line).
    pub table: &'static str,
    /// Why sums may differ from other tables of the same statistic.
    pub caveat: Option<&'static str>,
    /// Whether an interval without a value for a group is zero (else it is a gap).
    pub absent_is_zero: bool,
    /// The sampled intervals, in order of time.
    pub slots: Vec<Slot>,
    /// The groups: words by falling size, numbers rising.
    pub groups: Vec<Group>,
}

/// One group of an answer.
#[derive(Clone, Debug)]
pub struct Group {
    /// A value for each of [`Answer::by`].
    pub key: Vec<KeyValue>,
    /// The amount over all intervals; sums only.
    pub total: Option<f64>,
    /// Sums: per second. Levels: the level. Ratios: the ratio. NaN where there is none.
    pub mean: f64,
    /// Least interval (sums: per second).
    pub min: f64,
    /// Greatest interval (sums: per second).
    pub max: f64,
    /// How many intervals have a value.
    pub intervals: u64,
    /// Seconds that those intervals cover.
    pub seconds: f64,
    /// Value by slot (sums: per second), as places in [`Answer::slots`] and values.
    pub series: Vec<(u32, f64)>,
    /// Ratios: what is below the line, one a value of the series. A mean of ratios is weighted
    /// by it; others are weighted by the intervals' lengths.
    pub weights: Vec<f64>,
}

impl Group {
    /// Of which nothing is known yet, with room for so many intervals.
    pub(crate) fn unknown(key: Vec<KeyValue>, intervals: usize) -> Group {
        Group {
            key,
            total: None,
            mean: f64::NAN,
            min: f64::NAN,
            max: f64::NAN,
            intervals: 0,
            seconds: 0.0,
            series: Vec::with_capacity(intervals),
            weights: Vec::new(),
        }
    }
}

impl Answer {
    /// Whether values (not totals) are per second.
    pub fn is_rate(&self) -> bool {
        self.kind == Some(Kind::Sum)
    }

    /// The name of the kind in files and JSON.
    pub fn kind_name(&self) -> &'static str {
        self.kind.map_or("ratio", Kind::name)
    }

    /// The unit of mean, min, max and series in JSON.
    pub fn value_unit(&self) -> &'static str {
        if self.is_rate() {
            self.unit.per_second()
        } else {
            self.unit.name()
        }
    }
}

/// Answers `text` from `run`.
pub fn evaluate(run: &Run, text: &str) -> Result<Answer, Error> {
    series(run, &asked(run, text, &Arc::default())?)
}

/// Answers `text` from `run`, without the series: takes less time and memory.
pub fn summarise(run: &Run, text: &str) -> Result<Answer, Error> {
    let plan = asked(run, text, &Arc::default())?;
    match Short::of(&plan) {
        Some(short) => short.answer(run, &plan),
        None if is_sparse_sum(&plan) => sparse_totals(run, &plan),
        None => {
            let mut answer = series(run, &plan)?;
            for group in &mut answer.groups {
                (group.series, group.weights) = (vec![], vec![]);
            }
            Ok(answer)
        }
    }
}

/// The plan of what is to be answered: refused where it would add numbers that have no sum.
pub(crate) fn asked(run: &Run, text: &str, bounds: &Arc<Bounds>) -> Result<Plan, Error> {
    let plan = planned(run, text, bounds)?;
    mixed::check(run, &plan, bounds)?;
    Ok(plan)
}

/// The plan of `text` for `run`. A table of another subject may know nothing of what is asked for:
/// control groups of version 1 do not count every disk. Then the next one is taken, if there is
/// any, whichever instances and times are asked for.
pub(crate) fn planned(run: &Run, text: &str, bounds: &Arc<Bounds>) -> Result<Plan, Error> {
    let expression = parse(text)?;
    let mut tables = run.tables();
    let of = |tables: &[String]| {
        plan(&expression, &run.manifest, &|t| {
            tables.iter().any(|x| x == t)
        })
    };
    let mut chosen = of(&tables).map_err(|problem| match run.damage() {
        Some(_) => of_damaged(problem),
        None => problem,
    })?;
    while knows_nothing(run, &chosen.over, bounds)? {
        tables.retain(|t| t != chosen.over.table.name);
        match of(&tables) {
            Ok(other) => chosen = other,
            Err(_) => break,
        }
    }
    if let Some(exact) = exactly(run, &expression, &chosen, bounds) {
        chosen = exact;
    }
    pair(run, &mut chosen)?;
    Ok(chosen)
}

/// Whether a table of another subject has no row that may count.
fn knows_nothing(run: &Run, plan: &ScanPlan, bounds: &Arc<Bounds>) -> Result<bool, Error> {
    if !plan.is_of_another || plan.implied.is_empty() {
        return Ok(false);
    }
    let is_implied = |dimension: &str| plan.implied.iter().any(|(d, _)| *d == dimension);
    let tests = plan.tests.iter().filter(|(d, _)| is_implied(d));
    let any = ScanPlan {
        by: vec![],
        tests: tests.cloned().collect(),
        times: vec![],
        bounds: Arc::clone(bounds),
        ..plan.clone()
    };
    Ok(scan(run, &any)?.groups.is_empty())
}

/// A plan that one pass over one table answers, interval by interval.
pub(crate) struct Short {
    /// What to divide by; `None`: nothing.
    pub(crate) under: Option<scan::Under>,
}

impl Short {
    /// `None` where values are needed beside one another: zeros to be put in, or two tables.
    pub(crate) fn of(plan: &Plan) -> Option<Short> {
        if plan.over.table.sparse {
            return None;
        }
        let [under] = plan.under.as_slice() else {
            return plan.kind.is_some().then_some(Short { under: None });
        };
        let over = &plan.over;
        // The tests come from one expression; they differ where tables differ.
        let same = over.table.name == under.table.name
            && over.by == under.by
            && over.kind == Kind::Sum
            && under.kind == Kind::Sum
            && over.tests.len() == under.tests.len()
            && over.times.len() == under.times.len();
        same.then_some(Short {
            under: Some(match under.column {
                Some(column) if !under.seconds => scan::Under::Column(column),
                _ => scan::Under::Seconds,
            }),
        })
    }

    fn answer(&self, run: &Run, plan: &Plan) -> Result<Answer, Error> {
        let rules = Rules {
            kind: plan.over.kind,
            unknown: false,
            ratio: self.under.is_some().then_some(plan.times),
            shortest: run.manifest.every_seconds / 2.0,
            grid: None,
        };
        let cells = scan::totals(run, &plan.over, self.under, &rules)?;
        let mut answer = plan_head(plan);
        answer.groups = cells
            .groups
            .into_iter()
            .map(|g| short_group(g, &rules))
            .collect();
        answer.slots = cells.slots;
        sort_groups(&mut answer);
        Ok(answer)
    }
}

/// The numbers of a group that was gathered in one pass.
pub(crate) fn short_group(GroupCells { key, amounts }: GroupCells<Totals>, rules: &Rules) -> Group {
    let kind = rules.kind;
    let (total, mean) = match rules.ratio {
        Some(times) if amounts.under > 0.0 => (None, amounts.amount / amounts.under * times),
        Some(_) => (None, f64::NAN),
        None if kind == Kind::Sum => (Some(amounts.amount), amounts.amount / amounts.seconds),
        None => (None, amounts.weighted / amounts.seconds),
    };
    let [min, max] = amounts.extremes(mean);
    Group {
        key,
        total,
        mean: within(mean, [min, max]),
        min,
        max,
        intervals: amounts.intervals,
        seconds: amounts.seconds,
        series: vec![],
        weights: vec![],
    }
}

pub(crate) fn series(run: &Run, plan: &Plan) -> Result<Answer, Error> {
    if let [under] = plan.under.as_slice()
        && let Some((over, below)) = scan::scan_both(run, &plan.over, under)?
    {
        let below = [(under, below)];
        return Ok(ratio(plan_head(plan), plan, over, &below, &run.manifest));
    }
    let over = if is_sparse_sum(plan) {
        scan::sums(run, &plan.over)?
    } else {
        scan(run, &plan.over)?
    };
    if plan.kind.is_none() {
        let mut under = Vec::with_capacity(plan.under.len());
        for p in &plan.under {
            let cells = if p.seconds && p.table.sparse {
                observed(run, p)?
            } else {
                scan(run, p)?
            };
            under.push((p, cells));
        }
        return Ok(ratio(plan_head(plan), plan, over, &under, &run.manifest));
    }
    Ok(amounts(plan_head(plan), plan, over, &run.manifest))
}

/// Whether an interval without a row is zero.
pub(crate) fn is_sparse_sum(plan: &Plan) -> bool {
    plan.over.table.sparse && plan.kind == Some(Kind::Sum)
}

/// Sums of a sparse table, without writing its zeros down: an hour of latencies by process has
/// more of them than memory has room for.
fn sparse_totals(run: &Run, plan: &Plan) -> Result<Answer, Error> {
    let cells = scan::sums(run, &plan.over)?;
    let mut answer = plan_head(plan);
    let mut zeros = Zeros::new(&cells.slots, &run.manifest);
    answer.groups.reserve(cells.groups.len());
    let rules = Rules {
        kind: Kind::Sum,
        ratio: None,
        shortest: run.manifest.every_seconds / 2.0,
        unknown: false,
        grid: None,
    };
    for group in cells.groups {
        if group.amounts.values.iter().any(|amount| amount.is_nan()) {
            let mut whole = whole(&answer, plan, group, &cells.slots, &run.manifest);
            whole.series = vec![];
            answer.groups.push(whole);
            continue;
        }
        let phase = phase_key(&plan.over, &group.key).cloned();
        let totals = Totals::of(&group.amounts, &cells.slots, &rules);
        answer.groups.push(zeros.fold(group.key, &totals, phase));
    }
    answer.slots = cells.slots;
    sort_groups(&mut answer);
    Ok(answer)
}

pub(crate) fn plan_head(plan: &Plan) -> Answer {
    Answer {
        text: plan.text.clone(),
        unit: plan.unit,
        kind: plan.kind,
        help: plan.help,
        by: plan.by.clone(),
        table: plan.over.table.name,
        caveat: plan.over.caveat,
        // A level that is not there is not known to be zero.
        absent_is_zero: is_sparse_sum(plan),
        slots: vec![],
        groups: vec![],
    }
}

/// Whether a slot belongs to a group at all: with `by phase`, only slots of its phase do.
pub(crate) fn belongs(slot: &Slot, phase: Option<&KeyValue>, manifest: &Manifest) -> bool {
    match phase {
        Some(KeyValue::Word(name)) => crate::scan::phase_name(manifest, slot.phase) == name,
        _ => true,
    }
}

pub(crate) fn phase_key<'g>(plan: &ScanPlan, key: &'g [KeyValue]) -> Option<&'g KeyValue> {
    let place = plan.by.iter().position(|(_, k)| *k == Key::Phase)?;
    key.get(place)
}

/// A group with all of its intervals.
fn whole(
    answer: &Answer,
    plan: &Plan,
    mut group: GroupCells,
    slots: &[Slot],
    manifest: &Manifest,
) -> Group {
    if answer.absent_is_zero {
        let phase = phase_key(&plan.over, &group.key);
        fill(&mut group.amounts, slots, |slot| {
            belongs(slot, phase, manifest)
        });
    }
    fold(group, slots, plan.over.kind, manifest.every_seconds / 2.0)
}

fn amounts(mut answer: Answer, plan: &Plan, cells: Cells, manifest: &Manifest) -> Answer {
    for group in cells.groups {
        let whole = whole(&answer, plan, group, &cells.slots, manifest);
        answer.groups.push(whole);
    }
    answer.slots = cells.slots;
    sort_groups(&mut answer);
    answer
}

pub(crate) fn sort_groups(answer: &mut Answer) {
    let mut groups = std::mem::take(&mut answer.groups);
    sort(answer, &mut groups, |g| g);
    answer.groups = groups;
}

/// Sorts things that have a group of `answer`: words by falling total (or mean), then by name;
/// numbers rising.
pub(crate) fn sort<T>(answer: &Answer, things: &mut [T], group: impl Fn(&T) -> &Group) {
    let numbers = answer.by.len() == 1 && answer.by[0].number.is_some();
    let size = |g: &Group| {
        let size = g.total.unwrap_or(g.mean);
        if size.is_nan() {
            f64::NEG_INFINITY
        } else {
            size
        }
    };
    things.sort_by(|a, b| {
        let (a, b) = (group(a), group(b));
        match (a.key.first(), b.key.first()) {
            (Some(KeyValue::Number(a)), Some(KeyValue::Number(b))) if numbers => a.total_cmp(b),
            _ => size(b)
                .total_cmp(&size(a))
                .then_with(|| in_order(&a.key, &b.key)),
        }
    });
}

/// Words by name, numbers by size.
fn in_order(a: &[KeyValue], b: &[KeyValue]) -> Ordering {
    let one = |(a, b): (&KeyValue, &KeyValue)| match (a, b) {
        (KeyValue::Word(a), KeyValue::Word(b)) => a.cmp(b),
        (KeyValue::Number(a), KeyValue::Number(b)) => a.total_cmp(b),
        (KeyValue::Word(_), KeyValue::Number(_)) => Ordering::Less,
        (KeyValue::Number(_), KeyValue::Word(_)) => Ordering::Greater,
    };
    let mut unequal = a.iter().zip(b).map(one).filter(|o| o.is_ne());
    unequal.next().unwrap_or(a.len().cmp(&b.len()))
}

/// A key to look a group up by.
pub(crate) fn order(key: &[KeyValue]) -> String {
    key.iter().map(|k| format!("{k:?}\u{1}")).collect()
}
