//! Word columns: what each code of a dictionary stands for.

use std::collections::HashMap;

use run::read::Texts;

use super::tree::UNKNOWN;
use crate::plan::{Check, holds};

/// Words of a column: for each code of the present dictionary, its place among the distinct
/// words of the column and whether it passes the tests.
#[derive(Default)]
pub(super) struct WordColumn {
    places: HashMap<String, u32>,
    passing: Vec<bool>,
    pub(super) texts: Vec<String>,
    codes: Vec<u32>,
}

impl WordColumn {
    /// Prepares `codes` for a batch whose dictionary is `texts`.
    pub(super) fn prepare(&mut self, texts: Texts<'_>, checks: &[&Check]) {
        if !texts.are_lasting() {
            self.codes.clear();
        }
        for code in self.codes.len()..texts.len() {
            let text = texts.get(code as i32);
            let place = match self.places.get(text) {
                Some(&place) => place,
                None => {
                    let place = self.texts.len() as u32;
                    self.places.insert(text.to_owned(), place);
                    self.texts.push(text.to_owned());
                    self.passing.push(checks.iter().all(|check| match check {
                        Check::Word(test) => holds(test, text),
                        Check::Number(..) => false,
                    }));
                    place
                }
            };
            self.codes.push(place);
        }
    }

    pub(super) fn place(&self, code: i32) -> u32 {
        usize::try_from(code)
            .ok()
            .and_then(|c| self.codes.get(c))
            .copied()
            .unwrap_or(UNKNOWN)
    }

    /// Takes rows out of `keep` whose word does not pass.
    pub(super) fn test(&self, codes: &[i32], keep: &mut [bool]) {
        // Most often the batch has one word, or only words that pass.
        let known = self.are_known(codes);
        let passes: Vec<bool> = self
            .codes
            .iter()
            .map(|p| self.passing[*p as usize])
            .collect();
        if known && !passes.contains(&false) {
            return;
        }
        let rows = keep.iter_mut().zip(codes);
        rows.for_each(|(keep, code)| {
            *keep &= passes.get(*code as usize).copied().unwrap_or(false);
        });
    }

    /// Whether all of `codes` have a word.
    pub(super) fn are_known(&self, codes: &[i32]) -> bool {
        let largest = codes.iter().map(|code| *code as u32).max();
        largest.is_none_or(|code| code < self.codes.len() as u32)
    }

    /// The place of a word, if it was there.
    pub(super) fn place_of(&self, word: &str) -> Option<u32> {
        self.places.get(word).copied()
    }
}
