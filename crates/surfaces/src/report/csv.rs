//! All values as one tidy table: a row a value. The key of a group is written as the `where` of
//! an expression that keeps just this group, so that it can be asked for again.

use std::io::{self, Write};

use analysis::plan::ByDimension;
use analysis::scan::KeyValue;
use analysis::{Answer, Group};
use run::Unit;

use super::{Panel, Report};
use crate::csv::{field, number};

/// The columns.
const HEAD: &str = "expr,key,time,seconds,interval,value,unit\n";

/// Every value of every panel: `time` is the interval's end in UTC, `seconds` the same since
/// the run's start, `interval` its length in seconds. Of number dimensions, buckets with
/// nothing in them have no row.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEAD.as_bytes())?;
    for panel in &report.panels {
        rows(report, panel, out)?;
    }
    Ok(())
}

fn rows(report: &Report, panel: &Panel, out: &mut dyn Write) -> io::Result<()> {
    let answer = &panel.answer;
    let expr = field(&answer.text);
    let buckets = answer.by.iter().any(|b| b.number.is_some());
    let times: Vec<String> = answer
        .slots
        .iter()
        .map(|s| {
            let time = if report.dated {
                run::manifest::rfc3339(s.time)
            } else {
                String::new()
            };
            format!("{time},{},{}", report.since(s.time), s.interval)
        })
        .collect();
    for group in &answer.groups {
        let key = field(&key(answer, group));
        for (place, value) in &group.series {
            if buckets && *value == 0.0 {
                continue;
            }
            let at = &times[*place as usize];
            let value = number(*value);
            writeln!(out, "{expr},{key},{at},{value},{}", answer.value_unit())?;
        }
    }
    Ok(())
}

/// `device = vda and op = read`.
pub(crate) fn key(answer: &Answer, group: &Group) -> String {
    let tests = group
        .key
        .iter()
        .zip(&answer.by)
        .map(|(key, by)| test(key, by));
    tests.collect::<Vec<_>>().join(" and ")
}

fn test(key: &KeyValue, by: &ByDimension) -> String {
    let name = &by.name;
    match key {
        KeyValue::Word(word) => format!("{name} = {}", word_of(word)),
        KeyValue::Number(lower) if lower.is_finite() => {
            let unit = by.number.unwrap_or(Unit::Count);
            let (from, to) = run::grid::bounds(*lower, unit);
            let suffix = match unit {
                Unit::Seconds => "s",
                Unit::Bytes => "B",
                _ => "",
            };
            // Below zero it is the lower end that does not belong to the bucket.
            let (low, high) = if *lower < 0.0 {
                (">", "<=")
            } else {
                (">=", "<")
            };
            format!("{name} {low} {from}{suffix} and {name} {high} {to}{suffix}")
        }
        KeyValue::Number(_) => format!("{name} unknown"),
    }
}

/// A word as an expression has it: in quotes unless it is plain.
fn word_of(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:@[]".contains(c);
    let mut characters = word.chars();
    if characters.next().is_some_and(char::is_alphanumeric) && characters.all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "''"))
    }
}
