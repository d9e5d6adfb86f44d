//! What is wrong with an expression: the word, why, near names, and what to do.

use std::fmt;

/// A problem at a place of an expression's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The whole expression.
    pub text: String,
    /// Byte range of the word that is meant.
    pub span: (usize, usize),
    /// What is wrong.
    pub what: String,
    /// What to do, if something can be done.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem with the word at `span` of `text`.
    pub fn at(text: &str, span: (usize, usize), what: impl Into<String>) -> Problem {
        Problem {
            text: text.to_owned(),
            span,
            what: what.into(),
            hint: None,
        }
    }

    /// With what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = self.span;
        // Control characters would move the marker away from its word.
        let shown = |s: &str| s.replace(|c: char| c.is_control(), " ");
        let before = self.text.get(..from).map_or(0, |s| s.chars().count());
        let width = self
            .text
            .get(from..to)
            .map_or(1, |s| s.chars().count())
            .max(1);
        writeln!(f, "{}", self.what)?;
        writeln!(f, "  {}", shown(&self.text))?;
        write!(f, "  {}{}", " ".repeat(before), "^".repeat(width))?;
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// Why an expression has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The expression is wrong, or the run does not have what it asks for.
    #[error(transparent)]
    Problem(#[from] Problem),
    /// It would take more than it may.
    #[error(transparent)]
    Over(#[from] crate::bounds::Over),
    /// A table could not be read.
    #[error(transparent)]
    Read(#[from] run::read::ReadError),
}

/// Up to three of `names` that look like `word`, best first.
pub fn near<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_lowercase();
    let mut scored: Vec<(f64, &str)> = names
        .map(|name| {
            let contained = !word.is_empty() && (name.contains(&word) || word.contains(name));
            let alike = strsim::normalized_damerau_levenshtein(&word, name);
            (if contained { alike.max(0.7) } else { alike }, name)
        })
        .filter(|(score, _)| *score >= 0.5)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by_key(|s| s.1);
    scored.into_iter().take(3).map(|s| s.1).collect()
}

/// `did you mean a, b?`, or `there are: a, b, c`.
pub fn near_or_all<'a>(word: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let found = near(word, names.clone());
    if found.is_empty() {
        let all: Vec<&str> = names.collect();
        format!("there are: {}", all.join(", "))
    } else {
        format!("did you mean {}?", found.join(" or "))
    }
}
