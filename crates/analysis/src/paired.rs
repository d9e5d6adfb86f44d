//! Means of what is known: what has no number above the line does not count below it.
//!
//! `iostat` that was cut at 80 columns may have the time of reads and not of writes: the reads' time by
//! all I/Os would be less than any of them took. Where one number stands for several rows (`asvc_t` is
//! of reads and writes), there are rows of all operations with a number above the line and none below it;
//! of such a table all rows count. Only what other tools print has such rows; events are taken one by one.

use run::Run;
use run::catalog::{self, Detail};
use run::read::{ReadError, Values};
use run::unit::Amount;

use crate::plan::{Check, Plan, ScanPlan};
use crate::syntax::{Order, Test};

/// The dimension that tells operations apart.
const OP: &str = "op";

const CAVEAT: &str = "only what has both numbers counts: of some rows the first is not known";

const ALONE: &str = "what it is a share of is not known: of all its parts there is this one only";

/// Whether of the sum below the line something is known beside what is above it: without any misses hits are
/// not all there was.
fn has_others(run: &Run, plan: &Plan) -> Result<bool, ReadError> {
    let over = &plan.over;
    let is_other =
        |under: &&ScanPlan| (under.table.name, under.column) != (over.table.name, over.column);
    for under in plan.under.iter().filter(is_other) {
        let (Some(column), Some(table)) = (under.column, run.table(under.table.name)?) else {
            continue;
        };
        let mut is_known = false;
        for part in &table.parts {
            table.read(part, &[column], |batch| {
                if let [Values::Numbers(numbers)] = &batch.columns[..] {
                    is_known |= numbers.iter().any(|n| !n.is_nan());
                }
            })?;
        }
        if is_known {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Has the ratio of `plan` taken over the rows that have both of its numbers, where those without the
/// one above the line are no part of others.
pub(crate) fn pair(run: &Run, plan: &mut Plan) -> Result<(), ReadError> {
    if run.manifest.imported.is_empty() {
        return Ok(());
    }
    if plan.under.len() > 1 && !has_others(run, plan)? {
        plan.under.clear();
        plan.over.caveat = plan.over.caveat.or(Some(ALONE));
    }
    let [under] = plan.under.as_mut_slice() else {
        return Ok(());
    };
    let over = &mut plan.over;
    let of_one_table = over.table.name == under.table.name
        && over.table.detail == Detail::Sample
        && !under.seconds;
    let (Some(above), Some(below), true) = (over.column, under.column, of_one_table) else {
        return Ok(());
    };
    if lacks_above(run, over.table.name, [above, below])? {
        let least = Amount {
            value: f64::NEG_INFINITY,
            unit: None,
        };
        // What is not known is not at least anything.
        let known = Check::Number(Test::Compare(Order::AtLeast, least), Vec::new());
        for scan in [&mut *over, under] {
            scan.tests.push((above, known.clone()));
        }
        over.caveat = over.caveat.or(Some(CAVEAT));
    }
    Ok(())
}

/// Whether some rows have a number below the line only, and none of all operations has one above it only.
/// Where the one below is 0 there is nothing to divide by.
fn lacks_above(run: &Run, table: &str, columns: [&str; 2]) -> Result<bool, ReadError> {
    let has_ops = catalog::table(table).is_some_and(|(_, t)| t.dimensions.contains(&OP));
    let Some(table) = run.table(table)? else {
        return Ok(false);
    };
    let [above, below] = columns;
    let columns: &[&str] = if has_ops {
        &[above, below, OP]
    } else {
        &[above, below]
    };
    let (mut above_only, mut below_only) = (false, false);
    for part in &table.parts {
        table.read(part, columns, |batch| {
            let [Values::Numbers(above), Values::Numbers(below), ops @ ..] = &batch.columns[..]
            else {
                return;
            };
            let is_of_all = |row: usize| match ops {
                [Values::Words { codes, texts }] => texts.get(codes[row]) == "(all)",
                _ => true,
            };
            for (row, (above, below)) in above.iter().zip(below.iter()).enumerate() {
                above_only |= below.is_nan() && !above.is_nan() && is_of_all(row);
                below_only |= above.is_nan() && *below > 0.0;
            }
        })?;
        if above_only {
            break;
        }
    }
    Ok(below_only && !above_only)
}
