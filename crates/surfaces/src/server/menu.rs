//! The catalog, for menus and completion.

use run::CATALOG;
use run::catalog::{self, Detail, Subject};
use serde_json::{Value, json};

/// Tests of words and numbers, as the language has them.
const OPERATORS: &[&str] = &["=", "!=", "~", "!~", "<", "<=", ">", ">=", "in"];

/// What everything can be split by, or kept by.
const EVERYWHERE: &[(&str, &str)] = &[
    ("phase", "The part of the run, as named by `sonde mark`."),
    ("host", "The machine."),
];

/// The whole catalog.
pub(super) fn catalog() -> Value {
    let subjects: Vec<Value> = CATALOG.iter().map(subject).collect();
    json!({"subjects": subjects, "operators": OPERATORS})
}

fn subject(s: &Subject) -> Value {
    let measure = |m: &run::Measure| json!({"name": m.name, "kind": m.kind.name(), "unit": m.unit.name(), "help": m.help});
    let derived =
        |d: &catalog::Derived| json!({"name": d.name, "unit": d.unit.name(), "help": d.help});
    // The dimensions of the cheapest tables are what people ask for first.
    let shallow = s.tables.iter().filter(|t| t.detail == Detail::Sample);
    let bold: Vec<&str> = shallow.flat_map(|t| t.dimensions.iter().copied()).collect();
    let own = s.dimensions.iter().map(|d| {
        json!({
            "name": d.name, "help": d.help, "number": d.number.map(run::Unit::name),
            "bold": bold.contains(&d.name),
        })
    });
    let everywhere = EVERYWHERE
        .iter()
        .map(|(name, help)| json!({"name": name, "help": help, "number": null, "bold": false}));
    json!({
        "name": s.name,
        "help": s.help,
        "measures": s.measures.iter().map(measure).collect::<Vec<_>>(),
        "derived": s.derived.iter().map(derived).collect::<Vec<_>>(),
        "dimensions": own.chain(everywhere).collect::<Vec<_>>(),
        "events": s.tables.iter().any(|t| t.detail == Detail::Event),
    })
}
