//! Contracts between the const tables: what one names, another has.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use std::collections::HashSet;

use run::catalog;
use sources::SOURCES;
use support::{sonde, succeed};

/// Tables that no source of this version fills.
const ELSEWHERE: &[&str] = &["self", "import"];

#[test]
fn every_table_has_a_source_and_every_source_a_table() {
    let names: HashSet<&str> = SOURCES.iter().map(|s| s.name).collect();
    assert_eq!(names.len(), SOURCES.len(), "a source's name twice");
    for (_, table) in catalog::tables() {
        let known = names.contains(table.source) || ELSEWHERE.contains(&table.source);
        assert!(
            known,
            "table {} is filled by `{}`, which is no source",
            table.name, table.source
        );
    }
    for source in SOURCES {
        let fills = catalog::tables().any(|(_, t)| t.source == source.name);
        assert!(fills, "source {} fills no table", source.name);
        assert!(source.link.starts_with("https://"), "{}", source.name);
        assert!(
            !source.help.ends_with('.') && source.help.len() > 10,
            "{}",
            source.name
        );
    }
}

/// Each source fills only its own tables.
#[test]
fn sources_fill_their_own_tables() {
    let host = sources::Host::default();
    for entry in SOURCES {
        let Ok(mut source) = (entry.open)(&host) else {
            continue;
        };
        let mut sink = run::Sink::new();
        source.sample(None, &mut sink).unwrap();
        assert_eq!(
            sink.filled().count(),
            0,
            "{} has rows at its first reading",
            entry.name
        );
        sink.at(1, 0.1);
        source.sample(Some(0.1), &mut sink).unwrap();
        for (_, rows) in sink.filled() {
            assert_eq!(rows.table.source, entry.name, "table {}", rows.table.name);
        }
    }
}

/// The manual page and the help name every command, and `catalog` every subject.
#[test]
fn help_names_everything() {
    let help = succeed(sonde().arg("--help"));
    let man = succeed(sonde().arg("man"));
    for command in [
        "record", "mark", "show", "get", "plot", "list", "catalog", "doctor",
    ] {
        assert!(
            help.contains(&format!("  {command} ")),
            "{command} in {help}"
        );
        assert!(
            man.contains(&format!("SONDE {}", command.to_uppercase())),
            "{command} in the man page"
        );
    }
    let catalog_text = succeed(sonde().arg("catalog"));
    for subject in run::CATALOG {
        assert!(
            catalog_text.contains(&format!("\n{}  ", subject.name))
                || catalog_text.starts_with(subject.name)
        );
        for measure in subject.measures {
            assert!(catalog_text.contains(measure.name), "{}", measure.name);
        }
    }
    for line in catalog_text.lines().chain(help.lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
