//! Words and numbers of a finding's sentence and expression.

use run::Unit;
use run::unit::amount;

pub(super) use crate::syntax::quoted;

/// Names as a list of an expression: `a, "b c"`.
pub(super) fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let quoted: Vec<String> = names.map(quoted).collect();
    quoted.join(", ")
}

/// `1.25 ms`.
pub(super) fn time(seconds: f64) -> String {
    amount(seconds, Unit::Seconds, false)
}

/// `4.00 KiB`.
pub(super) fn bytes(value: f64) -> String {
    amount(value, Unit::Bytes, false)
}

/// `812`, `81.2k`.
pub(super) fn count(value: f64) -> String {
    amount(value, Unit::Count, false)
}

/// `81.2k/s`.
pub(super) fn rate(value: f64) -> String {
    amount(value, Unit::Count, true)
}

/// `73.0 %`.
pub(super) fn percent(share: f64) -> String {
    amount(share, Unit::Ratio, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Test, parse};

    #[test]
    fn quoted_names_are_read_back() {
        for name in [
            "sda",
            "a b",
            "x\"y",
            "1..2",
            "",
            "postgres[12@3.5]",
            "/var/a,b",
            "(other)",
        ] {
            let text = format!("disk.ios where device = {} and op = read", quoted(name));
            let parsed = parse(&text).unwrap();
            let Test::In(words) = &parsed.predicates[0].test else {
                panic!("{text}");
            };
            assert_eq!(words[0].text, name);
            assert_eq!(parsed.predicates.len(), 2);
            // First in a list it is read as a range, even quoted.
            let names = if name == "1..2" {
                ["x", name]
            } else {
                [name, "x"]
            };
            let parsed = parse(&format!(
                "disk.ios where device in {}",
                list(names.into_iter())
            ))
            .unwrap();
            let Test::In(words) = &parsed.predicates[0].test else {
                panic!("{name}");
            };
            let words: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
            assert_eq!(words, names);
        }
    }
}
