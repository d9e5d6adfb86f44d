//! Means of few things from the table in which their amounts are exact.
//!
//! `/proc/diskstats` tells the time of I/Os in whole milliseconds. Of a second with thousands of them that
//! is exact enough; five writes of 60 µs have a mean of 0 or 200 µs there. Where the programs in the
//! kernel counted the same I/Os, whose time they add up in nanoseconds, the mean is theirs. Partitions, and
//! I/Os from before they were attached, are in the kernel's own counters only.

use std::sync::Arc;

use run::catalog::Detail;
use run::{Manifest, Run};

use crate::bounds::Bounds;
use crate::error::Error;
use crate::plan::{Plan, ScanPlan, plan};
use crate::scan::scan;
use crate::syntax::Expression;

/// Two tables counted the same where their counts differ by no more than this share and so many: those
/// that were under way when the run began and ended.
const SHARE: f64 = 0.02;
const AT_THE_EDGES: f64 = 4.0;

/// The table that has exactly what is above the line of `plan` and rounded in the table that it reads.
pub(crate) fn exact_of(plan: &Plan, manifest: &Manifest) -> Option<&'static str> {
    let over = plan.over.table;
    let is_rounded = |exact: &&str| over.detail == Detail::Sample && over.name != *exact;
    plan.exact
        .filter(is_rounded)
        .filter(|_| manifest.imported.is_empty())
}

/// The plan by the table in which what is above the line is exact, where the run has it and it counted
/// the same as that of `chosen`.
pub(crate) fn exactly(
    run: &Run,
    expression: &Expression,
    chosen: &Plan,
    bounds: &Arc<Bounds>,
) -> Option<Plan> {
    let table = exact_of(chosen, &run.manifest)?;
    if !run.tables().iter().any(|t| t == table) {
        return None;
    }
    let exact = plan(expression, &run.manifest, &|t| t == table).ok()?;
    let ([mine], [others]) = (&exact.under[..], &chosen.under[..]) else {
        return None;
    };
    let total = |of: &ScanPlan| total(run, of, bounds).ok();
    let (mine, others) = (total(mine)?, total(others)?);
    let is_same = mine > 0.0 && (mine - others).abs() <= others * SHARE + AT_THE_EDGES;
    // A run of before the table had it has nothing to add up.
    (is_same && total(&exact.over)? > 0.0).then_some(exact)
}

/// All of it.
fn total(run: &Run, of: &ScanPlan, bounds: &Arc<Bounds>) -> Result<f64, Error> {
    let whole = ScanPlan {
        by: vec![],
        bounds: Arc::clone(bounds),
        ..of.clone()
    };
    let cells = scan(run, &whole)?;
    let all = cells.groups.iter().flat_map(|g| &g.amounts.values);
    Ok(all.sum())
}
