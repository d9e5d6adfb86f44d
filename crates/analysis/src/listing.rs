//! Events themselves: `disk` where the latency is above 10 ms, the slowest first.

use std::sync::Arc;

use run::Run;
use run::catalog::{self, Detail, Table};

use crate::bounds::Bounds;
use crate::error::{Error, Problem, near_or_all};
use crate::plan::{TimeCheck, plan_events};
use crate::scan::listing::{Field, Order, fields, list};
use crate::syntax::parse;

pub use crate::scan::listing::{Event, Listing, Value};

/// Which events, and which of them first.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted<'w> {
    /// The subject.
    pub subject: &'w str,
    /// Predicates as after `where`; empty for all.
    pub predicates: &'w str,
    /// Those that happened after so many seconds since the run's start, if not all.
    pub from: Option<f64>,
    /// And not after so many.
    pub to: Option<f64>,
    /// `time` (the earliest first) or a number dimension (the greatest first); the other way
    /// round with a minus before it. Empty: as the table suggests.
    pub order: &'w str,
    /// How many at most.
    pub most: usize,
}

/// The events of `wanted` in `run`. Places of a [`Problem`] are those of the predicates.
pub fn events(run: &Run, wanted: &Wanted<'_>, bounds: &Arc<Bounds>) -> Result<Listing, Error> {
    let tables = run.tables();
    let has = |t: &str| tables.iter().any(|x| x == t);
    let prefix = statement(wanted.subject, &has)?;
    let text = match wanted.predicates.trim() {
        "" => prefix.clone(),
        predicates => format!("{prefix} where {predicates}"),
    };
    let moved = |problem: Problem| of_predicates(problem, wanted.predicates, prefix.len());
    let expression = parse(&text).map_err(moved)?;
    let mut plan = plan_events(&expression, &run.manifest, &has).map_err(moved)?;
    plan.bounds = bounds.clone();
    if wanted.from.is_some() || wanted.to.is_some() {
        let at = |seconds: f64| {
            let nanos = (seconds * 1e9).clamp(-9e18, 9e18) as i64;
            run.manifest.started.saturating_add(nanos)
        };
        let (from, to) = (
            wanted.from.map_or(i64::MIN, at),
            wanted.to.map_or(i64::MAX, at),
        );
        // What is in view, however long the sampled intervals are.
        plan.times.push(TimeCheck::Exactly(from, to));
    }
    let order = order(wanted.order, plan.table, wanted.subject)?;
    let listing = list(run, &plan, order, wanted.most)?;
    bounds.check()?;
    Ok(listing)
}

/// An expression that the subject's table of events answers, without predicates.
fn statement(subject: &str, has: &dyn Fn(&str) -> bool) -> Result<String, Error> {
    let Some(found) = catalog::subject(subject) else {
        let names = run::CATALOG.iter().map(|s| s.name);
        let problem = Problem::at(subject, (0, 0), format!("there is no subject `{subject}`"));
        return Err(problem.hint(near_or_all(subject, names)).into());
    };
    let of_events = |t: &&&Table| t.detail == Detail::Event && !t.made.is_empty();
    let tables = || found.tables.iter().filter(|t| of_events(&t));
    let Some(table) = tables().find(|t| has(t.name)).or_else(|| tables().next()) else {
        let what = format!("`{subject}` has no events: only amounts of it are kept");
        return Err(Problem::at("", (0, 0), what).into());
    };
    let measure = table.made.first().map_or("", |m| m.0);
    Ok(format!("{subject}.{measure}"))
}

/// A problem with the whole expression as one with its predicates.
fn of_predicates(mut problem: Problem, predicates: &str, prefix: usize) -> Problem {
    let trimmed = predicates.len() - predicates.trim_start().len();
    let start = prefix + " where ".len();
    let moved = |at: usize| at.saturating_sub(start) + trimmed;
    problem.span = (
        moved(problem.span.0),
        moved(problem.span.1).min(predicates.len()),
    );
    predicates.clone_into(&mut problem.text);
    problem
}

fn order(text: &str, table: &'static Table, subject: &str) -> Result<Order, Problem> {
    let (name, turned) = match text.strip_prefix('-') {
        Some(name) => (name, true),
        None => (text, false),
    };
    if name == "time" {
        return Ok(Order::Time(turned));
    }
    let known = catalog::subject(subject).map_or(vec![], |s| fields(s, table));
    let numbers = || known.iter().enumerate().filter(|(_, f)| f.number.is_some());
    let slowest = |f: &Field| ["latency", "time", "wait"].contains(&f.name);
    if name.is_empty() {
        let found = numbers().find(|(_, f)| slowest(f));
        return Ok(found.map_or(Order::Time(false), |(at, _)| Order::Field(at, false)));
    }
    let found = numbers().find(|(_, f)| f.name == name);
    found
        .map(|(at, _)| Order::Field(at, turned))
        .ok_or_else(|| {
            let names = numbers().map(|(_, f)| f.name).chain(["time"]);
            let names: Vec<&str> = names.collect();
            Problem::at(
                text,
                (0, text.len()),
                format!("events have no number `{name}`"),
            )
            .hint(near_or_all(name, names.iter().copied()))
        })
}
