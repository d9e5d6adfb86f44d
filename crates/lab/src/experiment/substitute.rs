//! `{NAME}` in the arguments of a command.
//!
//! A value takes the place of its name inside one argument, as text: no shell reads it, and it
//! cannot become two arguments. `{{NAME}}` stands for `{NAME}` itself, and `${NAME}` is a shell's.

use std::collections::{BTreeMap, BTreeSet};

use super::factor::is_word;

/// The names between braces in the arguments. Braces around anything else are the command's own
/// (`{}`, `{1..3}`, JSON).
pub fn names_in(arguments: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for argument in arguments {
        pieces(argument, |piece| {
            if let Piece::Name(name) = piece {
                found.insert(name.to_owned());
            }
        });
    }
    found
}

/// The arguments with each `{NAME}` of `values` replaced; other braces stay.
pub fn substitute(arguments: &[String], values: &BTreeMap<String, String>) -> Vec<String> {
    let replaced = |argument: &String| {
        let mut out = String::new();
        pieces(argument, |piece| match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Name(name) => match values.get(name) {
                Some(value) => out.push_str(value),
                None => out.extend(["{", name, "}"]),
            },
        });
        out
    };
    arguments.iter().map(replaced).collect()
}

enum Piece<'t> {
    Text(&'t str),
    Name(&'t str),
}

fn pieces<'t>(text: &'t str, mut visit: impl FnMut(Piece<'t>)) {
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, inside) = (&rest[..open], &rest[open + 1..]);
        let doubled = inside.strip_prefix('{').and_then(|i| word_before(i, "}}"));
        let name = word_before(inside, "}").filter(|_| !before.ends_with('$'));
        let taken = match (doubled, name) {
            (Some(own), _) => {
                visit(Piece::Text(before));
                // With one pair of braces less.
                visit(Piece::Text(&inside[..own.len() + 2]));
                own.len() + 3
            }
            (None, Some(name)) => {
                visit(Piece::Text(before));
                visit(Piece::Name(name));
                name.len() + 1
            }
            (None, None) => {
                visit(Piece::Text(&rest[..=open]));
                0
            }
        };
        rest = &inside[taken..];
    }
    visit(Piece::Text(rest));
}

/// The name that `text` begins with, if `end` follows it.
fn word_before<'t>(text: &'t str, end: &str) -> Option<&'t str> {
    let name = text.split_once(end)?.0;
    is_word(name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(|a| (*a).to_owned()).collect()
    }

    fn values(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pair = |(k, v): &(&str, &str)| ((*k).to_owned(), (*v).to_owned());
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_value_stays_one_argument() {
        let command = texts(&["fio", "--bs={bs}", "--x={bs}-{jobs}", "{bs}"]);
        let odd = values(&[("bs", "4k; rm -rf $HOME '\" \n"), ("jobs", "-1")]);
        let found = substitute(&command, &odd);
        assert_eq!(found.len(), 4);
        assert_eq!(found[1], "--bs=4k; rm -rf $HOME '\" \n");
        assert_eq!(found[2], "--x=4k; rm -rf $HOME '\" \n--1");
    }

    #[test]
    fn other_braces_are_the_commands_own() {
        let command = texts(&["sh", "{} {1..3} ${x} {{a}} {\"k\": {a}} {", "é{a}é{b}"]);
        let found = substitute(&command, &values(&[("a", "V")]));
        assert_eq!(found[1], "{} {1..3} ${x} {a} {\"k\": V} {");
        assert_eq!(found[2], "éVé{b}");
        let names: Vec<String> = names_in(&command).into_iter().collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn a_value_is_not_read_again() {
        let found = substitute(&texts(&["{a}{b}"]), &values(&[("a", "{b}"), ("b", "{a}")]));
        assert_eq!(found, ["{b}{a}"]);
    }
}
