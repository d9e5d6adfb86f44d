//! A number dimension as people read it: one line a group, with its quantiles.

use analysis::Answer;
use analysis::quantiles::{Distribution, LEAST_BEYOND, SHOWN, Spread, Spreads};
use run::unit::{Scale, Unit, column_digits, column_scale};
use run::{Nanos, Run};
use serde_json::{Map, Value, json};
use surfaces::table::{Align, Table};

use super::shown::{Shown, with_unit};
use crate::output;

/// The table of `answer`, and with `series` one more a group, a line an interval.
pub(super) fn text(run: &Run, answer: &Answer, spreads: &Spreads, series: bool) -> String {
    let (mut shown, mut refused) = whole(answer, spreads);
    let mut below = String::new();
    if series {
        let lead = ["seconds", "interval"].map(|name| (name.to_owned(), Align::Right));
        for group in &spreads.groups {
            let intervals = group.intervals.iter();
            let rows = intervals
                .map(|(place, spread)| {
                    let slot = &answer.slots[*place as usize];
                    let since = seconds(run, slot.time);
                    let times = [since, slot.interval].map(|s| format!("{s:.3}"));
                    (times.to_vec(), spread)
                })
                .collect();
            below += &format!("\n{}\n", words_of(group).join(", ")).replace("\n\n", "\n");
            below += &table(answer, spreads, &lead, rows, &mut refused).text();
        }
    }
    shown.notes = notes(run, answer, spreads, refused);
    shown.text() + &below
}

/// The table of `answer`, a row a group.
pub(crate) fn shown(run: &Run, answer: &Answer, spreads: &Spreads) -> Shown {
    let (shown, refused) = whole(answer, spreads);
    let notes = notes(run, answer, spreads, refused);
    Shown { notes, ..shown }
}

/// The same without its notes, and whether a quantile had too few events.
fn whole(answer: &Answer, spreads: &Spreads) -> (Shown, bool) {
    let words = answer.by.iter().filter(|b| b.number.is_none());
    let lead: Vec<_> = words.map(|b| (b.name.clone(), Align::Left)).collect();
    let groups = spreads.groups.iter();
    let rows = groups.map(|s| (words_of(s), &s.whole)).collect();
    let mut refused = false;
    let shown = table(answer, spreads, &lead, rows, &mut refused);
    (shown, refused)
}

fn seconds(run: &Run, time: Nanos) -> f64 {
    (time - run.manifest.started) as f64 / 1e9
}

fn words_of(spread: &Spread) -> Vec<String> {
    spread
        .key
        .iter()
        .map(|word| output::one_line(word))
        .collect()
}

/// What a cell may lack.
const NONE: &str = "-";

/// The numbers of a line, in the dimension's unit: mean, least, quantiles, greatest.
struct Columns {
    names: Vec<&'static str>,
    of: Vec<fn(&Distribution) -> Option<f64>>,
}

/// The columns that make sense for these lines. A mean of places says nothing; where some lie
/// below zero, the least is as much an end as the greatest.
fn columns(has_mean: bool, rows: &[(Vec<String>, &Distribution)]) -> Columns {
    let mut columns = Columns {
        names: vec![],
        of: vec![],
    };
    let mut add = |name, of: fn(&Distribution) -> Option<f64>| {
        columns.names.push(name);
        columns.of.push(of);
    };
    if has_mean {
        add("mean", Distribution::mean);
    }
    if rows.iter().any(|(_, d)| d.min() < Some(0.0)) {
        add("min >=", Distribution::min);
    }
    let [p50, p90, p99, p999] = SHOWN.map(|s| s.0);
    add(p50, |d| d.quantile(SHOWN[0].1));
    add(p90, |d| d.quantile(SHOWN[1].1));
    add(p99, |d| d.quantile(SHOWN[2].1));
    add(p999, |d| d.quantile(SHOWN[3].1));
    add("max <=", Distribution::max);
    columns
}

/// `refused` is set if a quantile had too few events.
fn table(
    answer: &Answer,
    spreads: &Spreads,
    lead: &[(String, Align)],
    rows: Vec<(Vec<String>, &Distribution)>,
    refused: &mut bool,
) -> Shown {
    let columns = columns(spreads.has_mean(), &rows);
    let values: Vec<Vec<Option<f64>>> = rows
        .iter()
        .map(|(_, spread)| columns.of.iter().map(|of| of(spread)).collect())
        .collect();
    let scales = scales(&values, columns.names.len(), spreads.unit);
    let totals: Vec<f64> = rows.iter().map(|(_, spread)| spread.total).collect();
    // Counts are known to the last event.
    let exact = answer.unit == Unit::Count && totals.iter().all(|t| *t < 1e9);
    let total = column_scale(if exact { &[] } else { &totals }, answer.unit, false);

    let mut table = Table::new();
    for (name, align) in lead {
        table.column(name, *align);
    }
    let what = if answer.unit == Unit::Count {
        "count"
    } else {
        "total"
    };
    table.column(&with_unit(what, total.suffix), Align::Right);
    let same = scales.windows(2).all(|s| s[0] == s[1]);
    for (name, scale) in columns.names.iter().zip(&scales) {
        let suffix = if same { "" } else { scale.suffix };
        table.column(&with_unit(name, suffix), Align::Right);
    }
    for ((mut cells, spread), values) in rows.into_iter().zip(&values) {
        cells.push(column_digits(spread.total, total, answer.unit));
        for (value, scale) in values.iter().zip(&scales) {
            *refused |= value.is_none() && spread.total > 0.0;
            let digits = |v: f64| column_digits(v, *scale, spreads.unit);
            cells.push(value.map_or(NONE.into(), digits));
        }
        table.row(cells);
    }
    let head = match scales.first() {
        Some(scale) if same && !scale.suffix.is_empty() => {
            Some(format!("{} in {}", spreads.name, scale.suffix))
        }
        _ => None,
    };
    Shown {
        head,
        table,
        notes: vec![],
    }
}

/// One unit for all columns, which are to be compared; where small numbers would lose their
/// digits by that, one a column.
fn scales(rows: &[Vec<Option<f64>>], columns: usize, unit: Unit) -> Vec<Scale> {
    let known: Vec<f64> = rows.iter().flatten().copied().flatten().collect();
    let shared = column_scale(&known, unit, false);
    // Below that, less than two digits are left.
    let small = |v: &f64| *v != 0.0 && (v / shared.by).abs() < 0.0095;
    if !known.iter().any(small) {
        return vec![shared; columns];
    }
    let of_column = |i| {
        let cells = rows.iter().filter_map(move |row| *row.get(i)?);
        column_scale(&cells.collect::<Vec<f64>>(), unit, false)
    };
    (0..columns).map(of_column).collect()
}

/// What a reader has to know about the numbers.
fn notes(run: &Run, answer: &Answer, spreads: &Spreads, refused: bool) -> Vec<String> {
    let mut notes = vec![];
    if refused {
        notes.push(format!(
            "`-` where fewer than {LEAST_BEYOND} events lie beyond: too few"
        ));
    }
    let unknown: f64 = spreads.groups.iter().map(|s| s.whole.unknown).sum();
    if unknown > 0.0 {
        let amount = run::unit::amount(unknown, answer.unit, false);
        notes.push(format!("{amount} more have no known {}", spreads.name));
    }
    if spreads.heaviest > 1.0 {
        notes.push(format!(
            "some events stand for up to {:.0}: counts are estimates",
            spreads.heaviest
        ));
    }
    notes.extend(super::shown::missing(run, answer));
    notes.extend(answer.caveat.map(str::to_owned));
    notes
}

/// The field `quantiles` (`docs/reference/json.md`).
pub(crate) fn json(run: &Run, answer: &Answer, spreads: &Spreads) -> Value {
    let words = answer.by.iter().filter(|b| b.number.is_none());
    let names: Vec<&String> = words.map(|b| &b.name).collect();
    let of_group = |spread: &Spread| {
        let words = names.iter().zip(&spread.key);
        let key: Map<_, _> = words.map(|(n, w)| ((*n).clone(), json!(w))).collect();
        let mut object = Map::new();
        object.insert("key".into(), Value::Object(key));
        object.extend(numbers(spreads, &spread.whole));
        object.insert("stands_for".into(), json!(spreads.heaviest));
        if !spread.intervals.is_empty() {
            let point = |(place, spread): &(u32, Distribution)| {
                let slot = &answer.slots[*place as usize];
                let mut point = Map::new();
                point.insert("seconds".into(), json!(seconds(run, slot.time)));
                point.insert("interval".into(), json!(slot.interval));
                point.extend(numbers(spreads, spread));
                Value::Object(point)
            };
            object.insert(
                "points".into(),
                spread.intervals.iter().map(point).collect(),
            );
        }
        Value::Object(object)
    };
    spreads.groups.iter().map(of_group).collect()
}

fn numbers(spreads: &Spreads, spread: &Distribution) -> Map<String, Value> {
    let mean = spread.mean().filter(|_| spreads.has_mean());
    let mut object = Map::new();
    object.insert("total".into(), json!(spread.total));
    object.insert("events".into(), json!(spread.events()));
    object.insert("mean".into(), json!(mean));
    object.insert("min".into(), json!(spread.min()));
    for (name, q) in SHOWN {
        object.insert(name.into(), json!(spread.quantile(q)));
    }
    object.insert("max".into(), json!(spread.max()));
    object
}
