//! Numbers that have nothing in common are not added: columns of other tools in different units, means
//! since boot of different statistics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use run::{Run, catalog};

use crate::bounds::Bounds;
use crate::error::{Error, Problem};
use crate::plan::{Plan, plan};
use crate::scan::{KeyValue, scan};
use crate::syntax::{Expression, Spanned, parse};
use crate::{Answer, Group};

/// So many are named.
const NAMED: usize = 4;

/// Refuses what is planned, if numbers of different kinds would be added.
pub(crate) fn check(run: &Run, chosen: &Plan, bounds: &Arc<Bounds>) -> Result<(), Error> {
    let table = chosen.over.table.name;
    let kinds = catalog::table(table).map_or(&[][..], |(subject, _)| subject.kinds);
    if kinds.is_empty() {
        return Ok(());
    }
    let expression = &parse(&chosen.text)?;
    let is_asked = |kind: &&str| expression.by.iter().any(|d| d.text == *kind);
    let more: Vec<&str> = kinds.iter().copied().filter(|k| !is_asked(k)).collect();
    if more.is_empty() {
        return Ok(());
    }
    let found = kinds_of(run, expression, &more, table, bounds)?;
    let Some(several) = found.values().find(|kinds| kinds.len() > 1) else {
        return Ok(());
    };
    // The first by which they differ says most: units of one column, columns of one tool.
    let differ = |at: &usize| {
        several
            .iter()
            .map(|k| &k[*at])
            .collect::<BTreeSet<_>>()
            .len()
            > 1
    };
    let at = (0..more.len()).find(differ).unwrap_or(0);
    let names: BTreeSet<&String> = several.iter().map(|k| &k[at]).collect();
    let mut named: Vec<&str> = names.iter().take(NAMED).map(|n| n.as_str()).collect();
    let rest = format!("{} more", names.len().saturating_sub(NAMED));
    if names.len() > NAMED {
        named.push(&rest);
    }
    let what = format!(
        "these are numbers of several kinds, which have no sum: `{}` is {}",
        more[at],
        named.join(", ")
    );
    let by = [
        expression.by.iter().map(|d| d.text.as_str()).collect(),
        more[at..].to_vec(),
    ]
    .concat();
    let hint = format!("split them: by {}", by.join(", "));
    Err(Problem::at(&expression.text, expression.measure.span, what)
        .hint(hint)
        .into())
}

/// By group of the expression, whose words stand as in its answer, of which kinds its numbers are.
fn kinds_of(
    run: &Run,
    expression: &Expression,
    more: &[&str],
    table: &str,
    bounds: &Arc<Bounds>,
) -> Result<BTreeMap<Vec<String>, BTreeSet<Vec<String>>>, Error> {
    let mut finer = expression.clone();
    finer.by.extend(more.iter().map(|kind| Spanned {
        text: (*kind).to_owned(),
        span: expression.measure.span,
    }));
    let mut finer = plan(&finer, &run.manifest, &|t| t == table)?.over;
    finer.bounds = Arc::clone(bounds);
    let mut found: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
    for group in scan(run, &finer)?.groups {
        let mut key: Vec<String> = group.key.iter().map(word).collect();
        let kinds = key.split_off(expression.by.len());
        found.entry(key).or_default().insert(kinds);
    }
    Ok(found)
}

/// The unit of each group of `answer`, as another tool printed it; `None` where that is not of
/// columns of other tools, or has the units among its dimensions.
///
/// # Errors
/// Where the table cannot be read.
pub fn units(run: &Run, answer: &Answer) -> Result<Option<Vec<String>>, Error> {
    if answer.table != "other" || answer.by.iter().any(|by| by.name == "unit") {
        return Ok(None);
    }
    let expression = parse(&answer.text)?;
    let found = kinds_of(run, &expression, &["unit"], answer.table, &Arc::default())?;
    let unit = |group: &Group| {
        let key: Vec<String> = group.key.iter().map(word).collect();
        let units = found.get(&key).into_iter().flatten();
        units.flatten().next().cloned().unwrap_or_default()
    };
    Ok(Some(answer.groups.iter().map(unit).collect()))
}

/// Of how many instances numbers were added at most, in a group of an answer from columns of other
/// tools.
pub(crate) fn added(run: &Run, expression: &Expression, table: &str) -> Result<usize, Error> {
    if table != "other" || expression.by.iter().any(|d| d.text == "instance") {
        return Ok(0);
    }
    let found = kinds_of(run, expression, &["instance"], table, &Arc::default())?;
    Ok(found.values().map(BTreeSet::len).max().unwrap_or(0))
}

fn word(key: &KeyValue) -> String {
    match key {
        KeyValue::Word(word) => word.clone(),
        KeyValue::Number(number) => number.to_string(),
    }
}
