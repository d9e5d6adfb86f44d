//! `sonde get RUN` without an expression: the statistics that the run has numbers of.

use std::process::ExitCode;

use analysis::contents::{Held, HeldUnit, contents};
use run::Run;
use run::catalog::Kind;
use run::unit::{Unit, amount, digits};
use serde_json::{Value, json};
use surfaces::table::{Align, Table, wrapped};

use crate::failure::Failure;
use crate::output;

/// Prints them.
pub(super) fn tell(run: &Run, as_json: bool) -> Result<ExitCode, Failure> {
    let (held, damaged) = contents(run, |_| true);
    if as_json {
        let lines: Vec<String> = held.iter().map(|h| format!("{}\n", json_of(h))).collect();
        output::data(&lines.concat());
    } else if held.is_empty() && damaged.is_empty() {
        output::data("this run has no numbers\n");
    } else {
        output::data(&text(&held));
    }
    super::ended(damaged)
}

/// A line a statistic; below those that are split by the same, by what.
fn text(held: &[Held]) -> String {
    let width = usize::from(output::terminal_size().map_or(200, |s| s.0));
    let rendered = table(held, width).render(usize::MAX);
    let mut lines = rendered.lines();
    let mut text = format!("{}\n", lines.next().unwrap_or_default());
    let subject = |h: &Held| h.statistic.split('.').next().map(str::to_owned);
    let alike = held.chunk_by(|a, b| a.by == b.by && subject(a) == subject(b));
    for group in alike {
        for line in lines.by_ref().take(group.len()) {
            text += &format!("{line}\n");
        }
        if !group[0].by.is_empty() {
            text += &wrapped("   by ", &group[0].by.join(", "), width.min(80));
        }
    }
    text
}

/// Columns of amounts, and fewer where a terminal has no room.
const AMOUNTS: [&[&str]; 3] = [
    &["total", "mean", "min", "max"],
    &["mean", "min", "max"],
    &["mean"],
];

/// The statistics with their amounts, a row each. Names are to be asked for as they stand, so that
/// amounts have to go where `width` is too small.
pub(crate) fn table(held: &[Held], width: usize) -> Table {
    let mut made = Table::new();
    for columns in AMOUNTS {
        made = with_columns(held, columns);
        let text = made.render(usize::MAX);
        if text.lines().all(|line| line.chars().count() <= width) {
            break;
        }
    }
    made
}

fn with_columns(held: &[Held], columns: &[&str]) -> Table {
    let mut table = Table::new();
    table.column("statistic", Align::Words);
    columns
        .iter()
        .for_each(|name| table.column(name, Align::Right));
    for one in held {
        let mut row = vec![output::one_line(&one.statistic)];
        row.extend(columns.iter().map(|name| {
            match *name {
                "total" => one
                    .total
                    .map_or(String::new(), |total| shown(one, total, false)),
                "min" => shown(one, one.min, true),
                "max" => shown(one, one.max, true),
                // Instances that have no mean in common.
                _ if one.mean.is_nan() && columns.len() == 1 && one.min.is_finite() => {
                    format!("{} .. {}", digits(one.min), shown(one, one.max, true))
                }
                _ => shown(one, one.mean, true),
            }
        }));
        table.row(row);
    }
    table
}

/// With its unit; `rate`: of sums by the second.
fn shown(of: &Held, value: f64, rate: bool) -> String {
    let rate = rate && of.kind == Some(Kind::Sum);
    match &of.unit {
        _ if value.is_nan() => String::new(),
        HeldUnit::Known(unit) => amount(value, *unit, rate),
        HeldUnit::Printed(unit) if unit == Unit::Count.name() => digits(value),
        HeldUnit::Printed(unit) => format!("{} {}", digits(value), output::one_line(unit))
            .trim_end()
            .to_owned(),
    }
}

/// The documented form (`docs/reference/json.md`).
fn json_of(held: &Held) -> Value {
    let rate = held.kind == Some(Kind::Sum);
    let unit = match &held.unit {
        HeldUnit::Known(unit) if rate => unit.per_second(),
        HeldUnit::Known(unit) => unit.name(),
        HeldUnit::Printed(unit) => unit,
    };
    json!({
        "statistic": held.statistic,
        "by": held.by,
        "kind": held.kind.map_or("ratio", Kind::name),
        "unit": unit,
        "total": held.total,
        "mean": held.mean,
        "min": held.min,
        "max": held.max,
    })
}
