//! An answer by a number dimension: its cells over time, or its distribution and quantiles.

use analysis::Answer;
use analysis::quantiles::{LEAST_BEYOND, SHOWN, Spreads};
use analysis::scan::KeyValue;
use run::Unit;
use run::unit::amount;

use crate::chart::{Axis, Fold, Heat, Mark};
use crate::from_answer::{ChartError, Look};

/// What is told of the distribution of `answer`, and notes on it.
pub(crate) fn fold(answer: &Answer, spreads: &Spreads) -> (Fold, Vec<String>) {
    let mut fold = Fold::default();
    let Some(spread) = spreads.groups.first().map(|s| &s.whole) else {
        return (fold, vec![]);
    };
    let mut refused = false;
    let mut marks = vec![];
    let mut tell = |name: &str, value: Option<f64>| {
        let text = value.map_or("-".into(), |v| amount(v, spreads.unit, false));
        fold.numbers.push((name.into(), text));
        value
    };
    let what = if answer.unit == Unit::Count {
        "count"
    } else {
        "total"
    };
    let count = amount(spread.total, answer.unit, false);
    if spreads.has_mean() {
        tell("mean", spread.mean());
    }
    if spread.min() < Some(0.0) {
        tell("min >=", spread.min());
    }
    for (name, q) in SHOWN {
        let value = tell(name, spread.quantile(q));
        refused |= value.is_none();
        marks.extend(value.map(|value| Mark {
            name: name.to_owned(),
            value,
            text: amount(value, spreads.unit, false),
        }));
    }
    tell("max <=", spread.max());
    fold.marks = marks;
    fold.numbers.insert(0, (what.into(), count));
    let mut notes = vec![];
    if refused {
        notes.push(format!(
            "`-` where fewer than {LEAST_BEYOND} events lie beyond: too few"
        ));
    }
    if spread.unknown > 0.0 {
        let unknown = amount(spread.unknown, answer.unit, false);
        notes.push(format!("{unknown} more have no known {}", spreads.name));
    }
    (fold, notes)
}

/// Times and sizes reach over many powers of ten, and their factors matter. Of a place on the
/// device and of a number of things, the differences do.
pub(crate) fn is_log(dimension: &str, unit: Unit) -> bool {
    match unit {
        Unit::Bytes => dimension != "offset",
        Unit::Seconds => true,
        _ => false,
    }
}

/// The cells of `answer` in the time shown.
pub(crate) fn heat(
    answer: &Answer,
    since: &dyn Fn(i64) -> f64,
    shown: (f64, f64),
    look: &Look,
) -> Result<Heat, ChartError> {
    let [dimension] = answer.by.as_slice() else {
        return Err(ChartError::Mixed(answer.text.clone()));
    };
    let unit = dimension.number.unwrap_or(Unit::Count);
    let columns: Vec<(f64, f64)> = answer
        .slots
        .iter()
        .map(|slot| (since(slot.time) - slot.interval, since(slot.time)))
        .collect();
    let inside = |column: u32| {
        let (from, to) = columns[column as usize];
        to > shown.0 && from < shown.1
    };
    let mut rows = Vec::with_capacity(answer.groups.len());
    let mut cells = Vec::new();
    for (row, group) in answer.groups.iter().enumerate() {
        let lower = match group.key.first() {
            Some(KeyValue::Number(lower)) => *lower,
            _ => f64::NAN,
        };
        rows.push(run::grid::bounds(lower, unit));
        for (place, value) in group.series.iter().filter(|(place, _)| inside(*place)) {
            // Back from per second to the amount: cells are added when they are merged.
            let amount = value
                * if answer.is_rate() {
                    answer.slots[*place as usize].interval
                } else {
                    1.0
                };
            if amount != 0.0 {
                cells.push((*place, row as u32, amount));
            }
        }
    }
    let label = answer
        .text
        .split_whitespace()
        .next()
        .unwrap_or("")
        .to_owned();
    Ok(Heat {
        amount: Axis {
            label,
            unit: answer.unit,
            rate: false,
            log: false,
        },
        log: Some(look.log.unwrap_or_else(|| is_log(&dimension.name, unit))),
        places: dimension.name == "offset",
        rows,
        columns,
        cells,
        outliers: look.outliers,
    })
}
