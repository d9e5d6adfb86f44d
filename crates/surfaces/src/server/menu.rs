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

#[cfg(test)]
mod tests {
    use analysis::parse;
    use analysis::plan::in_some_run;
    use run::catalog;

    /// Quoted words of a line.
    fn words(line: &str) -> Vec<&str> {
        line.split('"').skip(1).step_by(2).collect()
    }

    #[test]
    fn what_a_page_opens_with_can_be_asked() {
        let page = include_str!("../../../../web/src/sheet/first.ts");
        let mut asked = 0;
        for line in page.lines().filter(|l| l.trim_start().starts_with('[')) {
            for [subject, by, expression] in words(line).as_chunks::<3>().0 {
                let found = catalog::subject(subject).expect(subject);
                assert!(found.dimension(by).is_some(), "{subject} by {by}");
                let parsed = parse(expression).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(parsed.subject.text, *subject);
                in_some_run(&parsed).unwrap_or_else(|e| panic!("{e}"));
                asked += 1;
            }
        }
        assert!(asked > 15, "{asked} expressions");
    }
}
