//! An answer in columns, as the page gets it: lines, or a heat map.

use std::sync::Arc;

use analysis::bounds::Bounds;
use analysis::parse;
use analysis::plan::{ByDimension, in_some_run};
use analysis::quantiles::{self, Spreads};
use analysis::scan::KeyValue;
use analysis::window::{Pictured, Shown};
use run::Run;
use run::catalog::Kind;
use serde::{Serialize, Serializer};

use super::cells::{self, Cells, Wanted};
use super::refused::Refused;
use super::runs::since;

/// What is asked for beside the expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// Groups with a series of their own.
    pub(super) top: usize,
    /// Of a heat map: most rows, scale, what may lie above.
    pub(super) wanted: Wanted,
}

/// A number as JSON has it: whole ones without a point, null where nothing is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number(pub(super) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let value = self.0;
        if !value.is_finite() {
            to.serialize_none()
        } else if value.fract() == 0.0 && value.abs() < 9e15 {
            to.serialize_i64(value as i64)
        } else {
            to.serialize_f64(value)
        }
    }
}

/// Numbers of a column each.
fn numbers(values: impl Iterator<Item = f64>) -> Vec<Number> {
    values.map(Number).collect()
}

#[derive(Serialize)]
pub(super) struct Dimension {
    dimension: String,
    number: Option<&'static str>,
}

/// The whole answer.
#[derive(Serialize)]
pub(super) struct Picture {
    expr: String,
    unit: &'static str,
    value_unit: &'static str,
    kind: &'static str,
    help: &'static str,
    table: &'static str,
    caveat: Option<&'static str>,
    stands_for: Number,
    from: f64,
    to: f64,
    shape: &'static str,
    bucket: f64,
    key: Vec<Dimension>,
    #[serde(flatten)]
    content: Content,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content {
    Lines(Lines),
    Heat(Box<HeatMap>),
}

#[derive(Serialize)]
struct Lines {
    times: Vec<Number>,
    groups: Vec<Line>,
    others: Option<Others>,
}

#[derive(Serialize)]
struct Series {
    mean: Vec<Number>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    min: Vec<Number>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    max: Vec<Number>,
    /// Of ratios: what they are divided by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    weight: Vec<Number>,
}

#[derive(Serialize)]
struct Line {
    key: Vec<String>,
    label: String,
    total: Option<f64>,
    mean: Number,
    min: Number,
    max: Number,
    series: Series,
}

#[derive(Serialize)]
struct Others {
    count: usize,
    total: Option<f64>,
    mean: Option<Number>,
    series: Option<Series>,
}

#[derive(Serialize)]
struct HeatMap {
    heat: Cells,
    fold: Fold,
}

#[derive(Serialize)]
struct Fold {
    edges: Vec<Number>,
    amounts: Vec<Number>,
    quantiles: Option<Quantiles>,
}

#[derive(Serialize)]
struct Quantiles {
    events: Option<f64>,
    min: Option<f64>,
    p50: Option<f64>,
    p90: Option<f64>,
    p99: Option<f64>,
    #[serde(rename = "p99.9")]
    p999: Option<f64>,
    max: Option<f64>,
    mean: Option<f64>,
}

/// The picture of `pictured`, which answers `text`.
pub(super) fn picture(
    run: &Run,
    text: &str,
    pictured: &Pictured,
    look: &Look,
    bounds: &Arc<Bounds>,
) -> Result<Picture, Refused> {
    let answer = &pictured.answer;
    let numbers = answer.by.iter().filter(|b| b.number.is_some()).count();
    let content = if numbers == 0 {
        Content::Lines(lines(run, pictured, look.top))
    } else {
        Content::Heat(Box::new(heat_map(run, text, pictured, look, bounds)?))
    };
    let grid = &pictured.grid;
    Ok(Picture {
        expr: text.to_owned(),
        unit: answer.unit.name(),
        value_unit: answer.value_unit(),
        kind: answer.kind_name(),
        help: answer.help,
        table: answer.table,
        caveat: answer.caveat,
        stands_for: Number(quantiles::heaviest(run, answer.table)?),
        from: since(run, grid.from),
        to: since(run, grid.to()),
        shape: if numbers == 0 { "lines" } else { "heat" },
        bucket: grid.length as f64 / 1e9,
        key: answer
            .by
            .iter()
            .map(|by| Dimension {
                dimension: by.name.clone(),
                number: by.number.map(run::Unit::name),
            })
            .collect(),
        content,
    })
}

/// The words of a key.
pub(super) fn words(key: &[KeyValue]) -> Vec<String> {
    key.iter()
        .map(|value| match value {
            KeyValue::Word(word) => word.clone(),
            KeyValue::Number(number) => number.to_string(),
        })
        .collect()
}

/// How many of `all` groups are told one by one, if `top` are asked for: one that would stand
/// alone among the others is no longer to be told than those.
pub(super) fn told(all: usize, top: usize) -> usize {
    if all <= top + 1 { all } else { top }
}

fn lines(run: &Run, pictured: &Pictured, top: usize) -> Lines {
    let answer = &pictured.answer;
    let all = answer.groups.len();
    let shown = told(all, top);
    let statistic = answer.text.split_whitespace().next().unwrap_or("");
    let groups = answer.groups.iter().enumerate().take(shown);
    let groups = groups.map(|(place, group)| {
        let key = words(&group.key);
        let label = match key.join(", ") {
            label if label.is_empty() => statistic.to_owned(),
            label => label,
        };
        let shown = pictured.series(place);
        let of = |value: fn(&Shown) -> f64| numbers(shown.iter().map(value));
        Line {
            label,
            key,
            total: group.total,
            mean: Number(group.mean),
            min: Number(group.min),
            max: Number(group.max),
            series: Series {
                mean: of(|s| s.mean),
                min: of(|s| s.min),
                max: of(|s| s.max),
                weight: match answer.kind {
                    None => of(|s| s.weight),
                    Some(_) => vec![],
                },
            },
        }
    });
    let grid = &pictured.grid;
    Lines {
        times: numbers((1..=grid.count).map(|c| since(run, grid.edge(c)))),
        groups: groups.collect(),
        others: (shown < all).then(|| others(pictured, shown)),
    }
}

/// What the groups from `shown` on are together.
fn others(pictured: &Pictured, shown: usize) -> Others {
    let answer = &pictured.answer;
    let rest = &answer.groups[shown..];
    let adds = matches!(answer.kind, Some(Kind::Sum | Kind::Level));
    let total: Option<f64> = rest.iter().map(|g| g.total).sum();
    let series = adds.then(|| pictured.sum(shown..answer.groups.len()));
    let mean = series.as_ref().map(|values| {
        let seen = values.iter().zip(&pictured.observed);
        let known = seen.filter(|(value, _)| !value.is_nan());
        let (sum, seconds) = known.fold((0.0, 0.0), |(sum, seconds), (value, seen)| {
            (sum + value * seen.0, seconds + seen.0)
        });
        Number(sum / seconds)
    });
    Others {
        count: rest.len(),
        total: total.filter(|_| answer.kind == Some(Kind::Sum)),
        mean,
        series: series.map(|values| Series {
            mean: numbers(values.into_iter()),
            min: vec![],
            max: vec![],
            weight: vec![],
        }),
    }
}

/// Whether there is a picture of `text`, told before it is worked out. Other faults are told by
/// who works it out, in the run that is asked.
pub(super) fn can_be_drawn(text: &str) -> Result<(), Refused> {
    let plan = parse(text).and_then(|expression| in_some_run(&expression));
    match plan {
        Ok(plan) if plan.by.iter().any(|b| b.number.is_some()) => {
            is_heat_map(text, &plan.by, plan.kind)
        }
        _ => Ok(()),
    }
}

/// Whether what is split by a number is a heat map.
fn is_heat_map(text: &str, by: &[ByDimension], kind: Option<Kind>) -> Result<(), Refused> {
    if by.len() > 1 {
        let number = by.iter().find(|b| b.number.is_some());
        let number = number.map_or("", |b| &b.name);
        return Err(Refused::bad(format!(
            "a heat map has one dimension, a number; `{text}` has others too\n\
             hint: split by {number} only, and choose the others with `where`"
        )));
    }
    if kind != Some(Kind::Sum) {
        return Err(Refused::bad(format!(
            "`{text}` is no sum: its parts do not add up to anything, as those of a heat map \
             do\nhint: a sum by the same number, as disk.ios by latency"
        )));
    }
    Ok(())
}

fn heat_map(
    run: &Run,
    text: &str,
    pictured: &Pictured,
    look: &Look,
    bounds: &Arc<Bounds>,
) -> Result<HeatMap, Refused> {
    is_heat_map(text, &pictured.answer.by, pictured.answer.kind)?;
    let spreads = pictured.spreads(run, text, bounds)?;
    let cells = cells::cells(run, pictured, &look.wanted);
    let amounts = cells.rows().map(|row| {
        let known = row.iter().filter(|n| !n.0.is_nan());
        known.map(|n| n.0).sum::<f64>()
    });
    Ok(HeatMap {
        fold: Fold {
            edges: cells.edges.clone(),
            amounts: numbers(amounts),
            quantiles: spreads.as_ref().and_then(of_spreads),
        },
        heat: cells,
    })
}

fn of_spreads(spreads: &Spreads) -> Option<Quantiles> {
    let whole = &spreads.groups.first()?.whole;
    let mean = whole.mean().filter(|_| spreads.has_mean());
    Some(Quantiles {
        events: whole.events(),
        min: whole.min(),
        p50: whole.quantile(0.5),
        p90: whole.quantile(0.9),
        p99: whole.quantile(0.99),
        p999: whole.quantile(0.999),
        max: whole.max(),
        mean,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_picture_has_is_told_before_it_is_worked_out() {
        for text in ["disk.ios by file, size", "disk.mean_latency by latency"] {
            let refused = can_be_drawn(text).unwrap_err();
            assert!(refused.hint.is_some(), "{text}");
        }
        // Other faults are of the run that is asked.
        for text in ["disk.ios by size", "disk.ios by file", "disk.ios by", "x.y"] {
            assert_eq!(can_be_drawn(text), Ok(()), "{text}");
        }
    }
}
