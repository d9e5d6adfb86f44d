//! Dates that a script printed, not the tool, and titled.

use super::{LONGEST, of_parts, stamp_line};
use crate::fields;
use crate::time::{Options, Refused, Stamp};

/// Words that scripts put before a date to say what begins or ends there, and no more.
const TITLES: &[&str] = &[
    "at",
    "begin",
    "beginning",
    "begins",
    "benchmark",
    "date",
    "done",
    "end",
    "ended",
    "ending",
    "finish",
    "finished",
    "is",
    "iteration",
    "loop",
    "now",
    "on",
    "pass",
    "round",
    "run",
    "running",
    "sample",
    "start",
    "started",
    "starting",
    "step",
    "stop",
    "stopped",
    "test",
    "time",
    "timestamp",
];

/// The time of a line that a script printed, not the tool: also a date behind words and numbers that title
/// what begins or ends there (`=== run 3 at Sun Nov 22 14:44:43 UTC 2026`).
///
/// # Errors
/// Where its date can be read in two ways. `None` if it is no such line.
pub(crate) fn script_line(line: &[u8], options: &Options) -> Result<Option<Stamp>, Refused> {
    match stamp_line(line, options) {
        Ok(None) if line.len() <= LONGEST => Ok(titled(line, options)),
        told => told,
    }
}

/// A time without a date may be one that passed, and is none here.
fn titled(line: &[u8], options: &Options) -> Option<Stamp> {
    let is_decoration = |b: &u8| b.is_ascii_whitespace() || b"#=-*+<>[]()@|".contains(b);
    let start = line.iter().position(|b| !is_decoration(b))?;
    let end = line.iter().rposition(|b| !is_decoration(b))?;
    // Most lines are seen to be none here.
    let first = fields(&line[start..=end]).next()?;
    if !is_title(first, 0) {
        return None;
    }
    let parts: Vec<&[u8]> = fields(&line[start..=end]).collect();
    for (at, word) in parts.iter().enumerate() {
        if at > 0
            && let Ok(Some(stamp @ (Stamp::Civil(_) | Stamp::Zoned(..)))) =
                of_parts(&parts[at..], options)
        {
            return Some(stamp);
        }
        if !is_title(word, at) {
            return None;
        }
    }
    None
}

/// Whether the word, which has so many before it, titles what follows.
fn is_title(word: &[u8], before: usize) -> bool {
    let is_name = |b: &u8| b.is_ascii_alphanumeric();
    let Some(begin) = word.iter().position(is_name) else {
        return true;
    };
    let end = word.iter().rposition(is_name).unwrap_or(begin);
    let word = &word[begin..=end];
    let is_number = word.len() <= 4 && word.iter().all(u8::is_ascii_digit);
    let is = |title: &&str| title.as_bytes().eq_ignore_ascii_case(word);
    TITLES.iter().any(is) || before > 0 && is_number
}

#[cfg(test)]
mod tests {
    use jiff::civil::datetime;

    use super::*;

    #[test]
    fn scripts_title_their_dates() {
        let options = Options::default();
        let at = datetime(2026, 11, 22, 14, 44, 43, 0);
        let (zoned, civil) = (Some(Stamp::Zoned(at, 0)), Some(Stamp::Civil(at)));
        for (text, wanted) in [
            ("Sun Nov 22 14:44:43 UTC 2026", zoned),
            ("=== run 3 Sun Nov 22 14:44:43 UTC 2026 ===", zoned),
            ("Test 12: started at Sun Nov 22 14:44:43 2026", civil),
            ("--- Iteration #2, 2026-11-22T14:44:43Z", zoned),
            ("run 7 - Sun Nov 22 14:44:43 UTC 2026", zoned),
            ("End: 2026-11-22 14:44:43", civil),
            ("Run time 14:44:43", None),
            ("run 1475708693", None),
            ("last boot Sun Nov 22 14:44:43 UTC 2026", None),
            ("run 3", None),
        ] {
            assert_eq!(script_line(text.as_bytes(), &options), Ok(wanted), "{text}");
        }
    }
}
