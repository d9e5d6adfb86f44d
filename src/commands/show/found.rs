//! What stands out, as a person reads it.

use analysis::findings::Finding;
use run::{Nanos, Run};

use surfaces::part::{Part, TIED};

use super::screen::time_text;
use crate::commands::list::length;
use crate::output::{counted, one_line};

/// Findings on the screen; more would hide the rest of it.
const MOST: usize = 5;

/// Causes of each, unless all are wanted.
const MOST_CAUSES: usize = 2;

/// What may follow a number and belongs to it.
const UNITS: &[&str] = &["%", "s", "ms", "µs", "ns", "B", "KiB", "MiB", "GiB", "TiB"];

/// The rule that the line `bound by` shows.
const BOUND: &str = "bound";

/// The sentences of the line `bound by`; empty if nothing was found.
pub(super) fn bound(findings: &[Finding]) -> String {
    let of_rule = findings.iter().filter(|f| f.name == BOUND);
    let sentences: Vec<String> = of_rule.map(|f| one_line(&f.sentence)).collect();
    sentences.join(" ")
}

/// The others, below a blank line.
pub(super) fn list(run: &Run, findings: &[Finding], all: bool) -> Vec<Part> {
    let others: Vec<&Finding> = findings.iter().filter(|f| f.name != BOUND).collect();
    let shown = if all { others.len() } else { MOST };
    let mut parts = vec![];
    for finding in others.iter().take(shown) {
        parts.push(Part::Gap);
        parts.extend(one(run, finding, all));
    }
    let rest = others.len().saturating_sub(shown);
    if rest > 0 {
        let more = counted(rest as u64, "finding");
        let more = format!("{more} more: sonde show --all");
        parts.extend([Part::Gap, Part::entry("", more)]);
    }
    parts
}

fn one(run: &Run, f: &Finding, all: bool) -> Vec<Part> {
    let what = format!("{}{}: {}", f.name, when(run, f), f.sentence);
    let mut parts = vec![Part::entry("found", tied(&what))];
    let causes = if all { f.causes.len() } else { MOST_CAUSES };
    let causes: Vec<&str> = f.causes.iter().take(causes).copied().collect();
    if !causes.is_empty() {
        let causes = format!("known causes: {}", causes.join("; "));
        parts.push(Part::entry("", causes));
    }
    let look = format!("look at: {}", f.expression);
    parts.push(Part::entry("", one_line(&look)));
    parts
}

/// One line in which a number and its unit stay together.
pub(super) fn tied(text: &str) -> String {
    let mut joined = String::new();
    for word in one_line(text).split(' ') {
        let unit =
            UNITS.contains(&word.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '%'));
        let after_number = joined.ends_with(|c: char| c.is_ascii_digit());
        if !joined.is_empty() {
            joined.push(if unit && after_number { TIED } else { ' ' });
        }
        joined += word;
    }
    joined
}

/// `, from 20.0 s to 24.0 s`; nothing where it was most of the run.
fn when(run: &Run, f: &Finding) -> String {
    let seconds = |time: Nanos| time.saturating_sub(run.manifest.started) as f64 / 1e9;
    let (from, to) = (seconds(f.from).max(0.0), seconds(f.to));
    if to - from >= 0.9 * length(run) {
        return String::new();
    }
    format!(", from {} to {}", time_text(from), time_text(to))
}

#[cfg(test)]
mod tests {
    use surfaces::part::render;

    use super::*;

    #[test]
    fn numbers_keep_their_units() {
        // `12.5` would end in column 80.
        let text = format!("{} 12.5 ms, then (40.0 %) more.", "x".repeat(65));
        let lines: Vec<String> = render(&[Part::entry("found", tied(&text))], 80)
            .lines()
            .map(str::to_owned)
            .collect();
        assert_eq!(lines[0].trim_end(), format!("found     {}", "x".repeat(65)));
        assert_eq!(lines[1], "          12.5 ms, then (40.0 %) more.");
    }
}
