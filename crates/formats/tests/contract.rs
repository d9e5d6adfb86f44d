//! What holds for every format of the list.

use std::collections::HashSet;

use formats::{FORMATS, Head, Import, Options, recognise};
use run::catalog;

fn every_second() -> Options {
    Options {
        every: Some(1.0),
        ..Options::default()
    }
}

#[test]
fn names_are_unique_and_tables_exist() {
    let mut names = HashSet::new();
    for format in FORMATS {
        let name = format.name;
        assert!(names.insert(name), "{name} twice");
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        assert!(name.bytes().all(plain), "{name}");
        for table in format.yields {
            assert!(catalog::table(table).is_some(), "{name}: {table}");
        }
        assert!(
            !format.help.ends_with('.') && format.help.len() > 10,
            "{name}"
        );
        assert!(!format.recognised.is_empty(), "{name}");
    }
}

/// The example of each is recognised as it, imports, and fills only what the format yields.
#[test]
fn examples_are_of_their_format() {
    for format in FORMATS {
        let name = format.name;
        let head = Head::new(&format.example_bytes());
        assert_eq!(
            recognise(&head).map(|f| f.name),
            Ok(name),
            "example of {name}"
        );
        let mut import = Import::new(format, &head, every_second());
        // What holds no measurements is recognised to say so.
        if format.help.contains("; refused: ") {
            let fed = import.feed(format.example.as_bytes());
            let why = fed.and_then(|()| import.finish()).map(|_| ());
            assert!(why.is_err(), "{name} is imported");
            continue;
        }
        import
            .feed(&format.example_bytes())
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let report = import.finish().unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(report.unknown, 0, "{name}: {:?}", report.not_understood);
        assert!(report.data > 0, "{name}");
        for (_, rows) in import.rows().filled() {
            let table = rows.table.name;
            let known = format.yields.contains(&table) || ["other", "since_boot"].contains(&table);
            assert!(known, "{name} fills {table} and does not say so");
        }
    }
}

/// None falls over when it is made to read another's example, cut anywhere or with bytes
/// changed.
#[test]
fn nothing_makes_a_parser_fall_over() {
    const ODD: [u8; 8] = [0, b'-', b'9', b' ', b'\n', 0xff, b',', b'K'];
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    for format in FORMATS {
        for text in FORMATS.iter().map(formats::Format::example_bytes) {
            let cut = text[..random(text.len() + 1)].to_vec();
            let mut changed = text.clone();
            for _ in 0..=random(8) {
                let at = random(changed.len());
                changed[at] = ODD[random(ODD.len())];
            }
            for text in [text, cut, changed] {
                let mut import = Import::new(format, &Head::new(&text), every_second());
                // Refused or not.
                if import.feed(&text).is_ok() {
                    let _ = import.finish();
                }
            }
        }
    }
}

/// Lines of blanks that are not all of ASCII's are looked at, too.
#[test]
fn blanks_are_of_no_format() {
    let blanks = [
        "\u{b}",
        "\u{c}",
        "\u{85}",
        "\u{a0}",
        "\u{2028}",
        "\u{3000}",
        "\u{18}\u{b}",
    ];
    for blank in blanks {
        let lines = format!("{blank}\n  \"a\": \"b {blank}\n").repeat(6);
        for text in [
            lines.clone(),
            format!("\0{lines}"),
            format!("{blank}\n").repeat(6),
        ] {
            let head = Head::new(text.as_bytes());
            assert!(recognise(&head).is_err(), "{text:?}");
            for format in FORMATS {
                let mut import = Import::new(format, &head, Options::default());
                let _ = import.feed(text.as_bytes());
                let _ = import.finish();
            }
        }
    }
}
