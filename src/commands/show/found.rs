//! What stands out, as a person reads it.

use analysis::findings::Finding;
use run::Run;

use super::screen::{entry, time_text};
use crate::commands::list::length;
use crate::output::{counted, one_line};

/// Findings on the screen; more would hide the rest of it.
const MOST: usize = 5;

/// Causes of each, unless all are wanted.
const MOST_CAUSES: usize = 2;

/// The rule that the line `bound by` shows.
const BOUND: &str = "bound";

/// The sentences of the line `bound by`; empty if nothing was found.
pub(super) fn bound(findings: &[Finding]) -> String {
    let of_rule = findings.iter().filter(|f| f.name == BOUND);
    let sentences: Vec<String> = of_rule.map(|f| one_line(&f.sentence)).collect();
    sentences.join(" ")
}

/// The others, below a blank line.
pub(super) fn list(run: &Run, findings: &[Finding], all: bool) -> String {
    let others: Vec<&Finding> = findings.iter().filter(|f| f.name != BOUND).collect();
    let shown = if all { others.len() } else { MOST };
    let mut text = String::new();
    for finding in others.iter().take(shown) {
        text.push('\n');
        text += &one(run, finding, all);
    }
    let rest = others.len().saturating_sub(shown);
    if rest > 0 {
        let more = counted(rest as u64, "finding");
        text.push('\n');
        text += &entry("", &format!("{more} more: sonde show --all"));
    }
    text
}

fn one(run: &Run, f: &Finding, all: bool) -> String {
    let mut text = entry(
        "found",
        &one_line(&format!("{}{}: {}", f.name, when(run, f), f.sentence)),
    );
    let causes = if all { f.causes.len() } else { MOST_CAUSES };
    let causes: Vec<&str> = f.causes.iter().take(causes).copied().collect();
    if !causes.is_empty() {
        text += &entry("", &format!("known causes: {}", causes.join("; ")));
    }
    text + &entry("", &one_line(&format!("look at: {}", f.expression)))
}

/// `, from 20.0 s to 24.0 s`; nothing where it was most of the run.
fn when(run: &Run, f: &Finding) -> String {
    let seconds = |time| (time - run.manifest.started) as f64 / 1e9;
    let (from, to) = (seconds(f.from).max(0.0), seconds(f.to));
    if to - from >= 0.9 * length(run) {
        return String::new();
    }
    format!(", from {} to {}", time_text(from), time_text(to))
}
