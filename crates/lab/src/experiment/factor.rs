//! What is varied: a setting of the machine, or a parameter of the command; and its values.

use serde::{Deserialize, Serialize};

use super::DesignError;

/// What a factor changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A knob of the machine. What it is at the start is its baseline.
    Setting,
    /// `{NAME}` in the command. Its first value is its baseline.
    Parameter,
}

/// One thing that is varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factor {
    /// Name of the knob or of the parameter.
    pub name: String,
    /// What it changes.
    pub kind: Kind,
    /// Values to try, in the order given, each once.
    pub values: Vec<String>,
    /// Value in the baseline arm.
    pub base: String,
}

impl Factor {
    /// Reads `NAME=V1,V2,...`; a comma that belongs to a value is written `\,`. The baseline is
    /// the first value until [`Factor::present`] says otherwise.
    ///
    /// # Errors
    /// Without a name or values, with an empty value or one that stands twice, and for a
    /// parameter's name that is no word.
    pub fn parse(kind: Kind, text: &str) -> Result<Factor, DesignError> {
        let (what, example) = match kind {
            Kind::Setting => ("KNOB", "--set disk:vda.scheduler=none,mq-deadline"),
            Kind::Parameter => ("NAME", "--param jobs=1,2,4"),
        };
        let form = || DesignError::Form {
            text: text.to_owned(),
            what,
            example,
        };
        let (name, values) = text.split_once('=').ok_or_else(form)?;
        let name = name.trim();
        if name.is_empty() || values.is_empty() {
            return Err(form());
        }
        if kind == Kind::Parameter && !is_word(name) {
            return Err(DesignError::Name(name.to_owned()));
        }
        let wrong = |why: String| DesignError::Values {
            name: name.to_owned(),
            why,
        };
        let mut found: Vec<String> = Vec::new();
        for value in split(values) {
            if value.is_empty() {
                return Err(wrong("a value is empty".to_owned()));
            }
            if found.contains(&value) {
                return Err(wrong(format!("the value {value} stands twice")));
            }
            found.push(value);
        }
        let base = found.first().cloned().ok_or_else(form)?;
        Ok(Factor {
            name: name.to_owned(),
            kind,
            values: found,
            base,
        })
    }

    /// The same with what the machine has now as its baseline.
    #[must_use]
    pub fn present(self, value: &str) -> Factor {
        Factor {
            base: value.to_owned(),
            ..self
        }
    }
}

/// Whether `name` can stand between braces in a command.
pub(super) fn is_word(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The parts between commas; `\,` is a comma and `\\` a backslash of a value.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let next = letters.peek().copied();
        match (c, next) {
            ('\\', Some(next @ (',' | '\\'))) => {
                letters.next();
                parts.last_mut().expect("never empty").push(next);
            }
            (',', _) => parts.push(String::new()),
            (c, _) => parts.last_mut().expect("never empty").push(c),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_has_a_name_and_values() {
        let factor = Factor::parse(Kind::Setting, "disk:vda.nr_requests=4,32").unwrap();
        assert_eq!(factor.name, "disk:vda.nr_requests");
        assert_eq!(factor.values, ["4", "32"]);
        assert_eq!(factor.base, "4");
        assert_eq!(factor.present("64").base, "64");
        let text = Factor::parse(Kind::Parameter, r"mix=a\,b,c\\d,e=f").unwrap();
        assert_eq!(text.values, ["a,b", r"c\d", "e=f"]);
    }

    #[test]
    fn what_is_no_factor_says_so() {
        for (kind, wrong) in [
            (Kind::Setting, "disk:vda.scheduler"),
            (Kind::Setting, "=none"),
            (Kind::Setting, "a="),
            (Kind::Parameter, "a=1,,2"),
            (Kind::Parameter, "a=1,2,1"),
            (Kind::Parameter, "a b=1,2"),
            (Kind::Parameter, "1a=1,2"),
            (Kind::Parameter, ""),
        ] {
            assert!(Factor::parse(kind, wrong).is_err(), "{wrong}");
        }
    }
}
