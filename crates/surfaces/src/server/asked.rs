//! What a request asks for, by name, with errors that say what was expected.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use analysis::window::Window;
use axum::extract::FromRequestParts;
use axum::extract::Query;
use axum::http::request::Parts;
use run::Run;

use super::refused::Refused;
use super::runs::since;

/// Bytes that a value may have.
const LONGEST: usize = 8 << 10;

/// The values after `?` in an address.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked(HashMap<String, String>);

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Asked, Refused> {
        let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let Query(pairs) = query.map_err(|e| Refused::bad(e.body_text()))?;
        let mut values = HashMap::new();
        for (name, value) in pairs {
            if value.len() > LONGEST {
                return Err(Refused::bad(format!(
                    "`{name}` is longer than {LONGEST} bytes"
                )));
            }
            values.insert(name, value);
        }
        Ok(Asked(values))
    }
}

impl Asked {
    /// The value of that name; an empty one counts as none.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|t| !t.is_empty())
    }

    /// The value of that name, which must be there.
    pub(super) fn needed(&self, name: &str) -> Result<&str, Refused> {
        self.text(name)
            .ok_or_else(|| Refused::bad(format!("`{name}` is missing")))
    }

    /// A number.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, Refused> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|n: &f64| n.is_finite());
        number
            .map(Some)
            .ok_or_else(|| Refused::bad(format!("`{name}` is no number: {text}")))
    }

    /// A whole number in a range.
    pub(super) fn count(
        &self,
        name: &str,
        range: RangeInclusive<usize>,
        otherwise: usize,
    ) -> Result<usize, Refused> {
        let Some(text) = self.text(name) else {
            return Ok(otherwise);
        };
        let number = text.parse().ok().filter(|n| range.contains(n));
        number.ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            Refused::bad(format!("`{name}` is from {least} to {most}, not {text}"))
        })
    }

    /// The window from `from` to `to` of a run in so many columns; without them all of it.
    pub(super) fn window(&self, run: &Run, width: usize) -> Result<Window, Refused> {
        let (from, to) = (self.number("from")?, self.number("to")?);
        let from = from.unwrap_or(0.0);
        let to = to.unwrap_or_else(|| since(run, run.ended()));
        if from >= to {
            return Err(Refused::bad("`from` is not before `to`"));
        }
        if to <= 0.0 {
            return Err(Refused::bad(
                "`to` is not after the start of the run, which is 0",
            ));
        }
        let width = width as u32;
        Ok(Window { from, to, width })
    }

    /// One of some words, by its place among them.
    pub(super) fn one_of(&self, name: &str, words: &[&str]) -> Result<Option<usize>, Refused> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let found = words.iter().position(|w| *w == text);
        found.map(Some).ok_or_else(|| {
            Refused::bad(format!(
                "`{name}` is one of {}, not {text}",
                words.join(", ")
            ))
        })
    }
}
