//! `pmval`: one metric, told in lines above its numbers, with a column for each instance.
//!
//! ```text
//! metric:    disk.dev.read
//! semantics: cumulative counter (converting to rate)
//! units:     count (converting to count / sec)
//! interval:  2.00 sec
//!
//!                   sda                   sdb
//!                12.50                  1.000
//! ```
//!
//! Names of instances stand below a blank line; a metric without instances has none.

use super::header::Column;
use crate::recognise::Head;

pub(super) fn recognise(head: &Head) -> bool {
    head.any_starts("metric: ") && head.any_starts("semantics: ")
}

/// Whether the line tells of the metric; `of` learns what.
pub(super) fn tells(line: &[u8], of: &mut Option<Column>) -> bool {
    let text = String::from_utf8_lossy(line);
    let Some((label, rest)) = text.split_once(':') else {
        return false;
    };
    match (label, of) {
        ("metric", of) => {
            *of = Some(Column {
                metric: rest.trim().to_owned(),
                ..Column::default()
            });
        }
        ("units", Some(of)) => {
            let made = rest.split_once("(converting to ");
            let unit = made.map_or(rest, |(_, unit)| unit.trim_end().trim_end_matches(')'));
            of.unit = Some(unit.trim().to_owned());
        }
        ("semantics", Some(_)) => {}
        _ => return false,
    }
    true
}

/// A column for each of the names of instances, which may have a blank in them.
pub(super) fn columns(line: &[u8], of: &Column) -> Vec<Column> {
    let text = String::from_utf8_lossy(line);
    let names = text.split("  ").map(str::trim).filter(|n| !n.is_empty());
    let column = |name: &str| Column {
        instance: name.to_owned(),
        ..of.clone()
    };
    names.map(column).collect()
}
