//! The catalog holds together: names resolve, help is help.

use super::*;
use std::collections::HashSet;

#[test]
fn every_name_is_unique_and_resolves() {
    let mut seen = HashSet::new();
    for s in CATALOG {
        assert!(
            seen.insert(format!("subject {}", s.name)),
            "{} twice",
            s.name
        );
        for name in s
            .measures
            .iter()
            .map(|m| m.name)
            .chain(s.derived.iter().map(|d| d.name))
        {
            assert!(
                seen.insert(format!("{}.{name}", s.name)),
                "{}.{name} twice",
                s.name
            );
        }
        for d in s.dimensions {
            assert!(
                seen.insert(format!("{} by {}", s.name, d.name)),
                "{} twice",
                d.name
            );
            assert!(!["host", "phase", "time", "interval"].contains(&d.name));
        }
        for t in s.tables {
            assert!(
                seen.insert(format!("table {}", t.name)),
                "table {} twice",
                t.name
            );
            let columns: Vec<_> = columns(s, t).collect();
            let names: HashSet<_> = columns.iter().map(Column::name).collect();
            assert_eq!(names.len(), columns.len(), "{}: a column twice", t.name);
            assert!(!names.contains("timestamp") && !names.contains("interval"));
            assert_eq!(t.detail == Detail::Event, !t.made.is_empty(), "{}", t.name);
            assert_eq!(
                t.detail == Detail::Event,
                t.measures.is_empty(),
                "{}",
                t.name
            );
            for (measure, stored) in t.made {
                let kind = s.measure(measure).map(|m| m.kind);
                assert_eq!(kind, Some(Kind::Sum), "{}: {measure}", t.name);
                let is_number = |d: &str| s.dimension(d).is_some_and(|d| d.number.is_some());
                if let Some(number) = stored.number() {
                    assert!(t.has_dimension(number), "{}: {number}", t.name);
                    assert!(is_number(number), "{}: {number}", t.name);
                }
                if let Some((word, ..)) = stored.choice() {
                    assert!(t.has_dimension(word), "{}: {word}", t.name);
                    assert!(!is_number(word), "{}: {word}", t.name);
                }
            }
            if t.detail == Detail::Event {
                // They are stored as whole numbers.
                let numbers = t.dimensions.iter().filter_map(|d| s.dimension(d)?.number);
                let whole = |u: Unit| u.is_whole() || u == Unit::Seconds;
                assert!(numbers.into_iter().all(whole), "{}", t.name);
            }
            for (sum, parts) in t.sums {
                assert!(s.dimension(sum).is_some_and(|d| d.number.is_some()));
                assert!(parts.iter().all(|p| names.contains(p)), "{}: {sum}", t.name);
            }
            // Words come before numbers: rows are pushed in that order.
            let kinds: Vec<bool> = columns
                .iter()
                .filter_map(|c| match c {
                    Column::Dimension(d) => Some(d.number.is_some()),
                    Column::Measure(_) => None,
                })
                .collect();
            assert!(kinds.is_sorted(), "{}: words before numbers", t.name);
        }
        for u in s.unless_named {
            assert!(
                s.dimension(u.dimension).is_some(),
                "{}: {}",
                s.name,
                u.dimension
            );
        }
    }
}

#[test]
fn every_measure_and_dimension_is_in_a_table() {
    for s in CATALOG {
        for m in s.measures {
            let served = s.tables.iter().any(|t| t.has_measure(m.name));
            assert!(served, "no table has {}.{}", s.name, m.name);
        }
        for d in s.dimensions {
            let own = s.tables.iter().any(|t| t.has_dimension(d.name));
            let other = s
                .also
                .iter()
                .any(|a| table(a.table).is_some_and(|(_, t)| t.has_dimension(d.name)));
            assert!(own || other, "no table has {} by {}", s.name, d.name);
        }
    }
}

#[test]
fn derived_and_borrowed_statistics_resolve() {
    let known = |full: &str| {
        let (s, m) = full.split_once('.').expect("subject.measure");
        subject(s)
            .and_then(|s| s.measure(m))
            .unwrap_or_else(|| panic!("no {full}"))
    };
    for s in CATALOG {
        for d in s.derived {
            assert_eq!(known(d.over).kind, Kind::Sum, "{}", d.name);
            if let Under::Sum(under) = d.under {
                for u in under {
                    assert_eq!(known(u).kind, Kind::Sum, "{}", d.name);
                }
            }
        }
        for a in s.also {
            let mine = s.measure(a.measure).expect("a measure of this subject");
            let (other, t) = table(a.table).expect("a table");
            assert!(t.measures.contains(&a.column), "{}.{}", a.table, a.column);
            let word = a.without.map(|(dimension, _)| dimension);
            assert!(word.is_none_or(|w| t.has_dimension(w)), "{}", a.table);
            let theirs = other.measure(a.column).expect("a measure there");
            assert_eq!(
                (mine.unit, mine.kind),
                (theirs.unit, theirs.kind),
                "{}",
                a.table
            );
        }
    }
}

/// Copied help texts are wrong help texts.
#[test]
fn help_is_a_sentence_and_never_copied_within_a_subject() {
    for s in CATALOG {
        let mut seen = HashSet::new();
        let texts = s
            .measures
            .iter()
            .map(|m| m.help)
            .chain(s.derived.iter().map(|d| d.help))
            .chain(s.dimensions.iter().map(|d| d.help))
            .chain([s.help]);
        for text in texts {
            assert!(
                text.ends_with('.') && text.contains(' '),
                "{}: {text:?}",
                s.name
            );
            assert!(seen.insert(text), "{}: {text:?} twice", s.name);
        }
    }
}
