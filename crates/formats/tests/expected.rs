//! What the cases leave unchecked: a format without a case, a table that a format claims and of
//! which no case has a number, a case that only asks whether the text imports.

mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use formats::FORMATS;
use serde_json::Value;
use texts::{cases, here, parsed};

/// All cases of the project, with what each says.
fn all() -> Vec<(PathBuf, Value)> {
    let folders = ["fixtures", "tests/captures"];
    let paths = folders
        .iter()
        .flat_map(|folder| cases(&here().join(folder)));
    paths.map(|path| (path.clone(), parsed(&path))).collect()
}

/// Cells and totals of a case.
fn checks(case: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["cells", "totals"].map(|list| case[list].as_array());
    lists.into_iter().flatten().flatten()
}

/// Whether a cell has a number that says something: not zero, and not the interval alone. Of an
/// event the weight is one: what it was stands in its words.
fn has_number(check: &Value) -> bool {
    let told = check.as_object().into_iter().flatten();
    let mut values = told.filter(|(name, _)| name.as_str() != "interval");
    values.any(|(_, value)| value.as_f64().is_some_and(|v| v != 0.0))
}

#[test]
fn every_table_that_a_format_claims_has_a_number() {
    let mut checked: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, case) in all() {
        let name = [&case["format"], &case["as"]]
            .into_iter()
            .find_map(Value::as_str);
        let Some(name) = name else { continue };
        let tables = checks(&case).filter(|check| has_number(check));
        let tables = tables.filter_map(|check| check["table"].as_str().map(str::to_owned));
        checked.entry(name.to_owned()).or_default().extend(tables);
    }
    let mut faults = Vec::new();
    for format in FORMATS {
        let Some(tables) = checked.get(format.name) else {
            faults.push(format!("{} has no case", format.name));
            continue;
        };
        let missing: Vec<_> = format
            .yields
            .iter()
            .filter(|t| !tables.contains(**t))
            .collect();
        if !missing.is_empty() {
            faults.push(format!(
                "{}: nothing of {missing:?} is expected",
                format.name
            ));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// A case that imports says how much there is, and at least one number of it.
#[test]
fn every_case_expects_something() {
    let mut faults = Vec::new();
    for (path, case) in all().iter().filter(|(_, case)| case["refused"].is_null()) {
        let counted = case["samples"].is_u64() || case["rows"].is_object();
        let valued = checks(case).next().is_some();
        if !counted || !valued {
            let what = if counted {
                "no cell and no total"
            } else {
                "no samples and no rows"
            };
            faults.push(format!("{}: {what}", path.display()));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// What a case says is known: a word written wrong would check nothing.
#[test]
fn cases_say_nothing_that_is_not_known() {
    const KNOWN: [&str; 16] = [
        "capture",
        "format",
        "as",
        "options",
        "samples",
        "since_boot",
        "unknown",
        "host",
        "span",
        "times",
        "rows",
        "cells",
        "totals",
        "notes",
        "refused",
        "comment",
    ];
    let mut faults = Vec::new();
    for (path, case) in all() {
        let said = case.as_object().expect("a case is an object");
        let unknown: Vec<_> = said
            .keys()
            .filter(|k| !KNOWN.contains(&k.as_str()))
            .collect();
        if !unknown.is_empty() {
            faults.push(format!("{}: {unknown:?}", path.display()));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
