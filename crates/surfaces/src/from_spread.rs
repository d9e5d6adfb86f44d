//! The quantiles of an answer, for a picture of its distribution.

use analysis::Answer;
use analysis::quantiles::{LEAST_BEYOND, SHOWN, Spreads};
use run::Unit;
use run::unit::amount;

use crate::chart::{Fold, Mark};

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
