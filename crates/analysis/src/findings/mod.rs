//! What stands out in a run: each finding a sentence with its numbers, when it was, where to
//! look deeper, and what is known to cause it.
//!
//! A wrong alarm costs more than a silent rule: thresholds are constants with their reason
//! beside them, and what a run does not have makes its rules silent. To add a finding, add a
//! file here, a line in [`FINDINGS`], a case in `tests/findings`, and a section of
//! `docs/concepts/findings.md`.

mod bars;
mod bound;
mod device;
mod failed;
mod fsync;
mod latency_bubble;
mod look;
mod observer;
mod open_churn;
mod process_flood;
mod queue_full;
mod random;
mod retransmits;
mod run_queue;
mod series;
mod small_segments;
mod stretch;
mod text;
mod throttled;

use std::collections::HashMap;

use run::Nanos;

pub use look::{Look, Settings};

/// Something that stands out in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule that found it.
    pub name: &'static str,
    /// Roughly the share of the run's time that it concerns, 0 to 1. It orders findings and
    /// says nothing else.
    pub score: f64,
    /// What was seen, with its numbers.
    pub sentence: String,
    /// When it began.
    pub from: Nanos,
    /// When it ended.
    pub to: Nanos,
    /// What to ask for to see more.
    pub expression: String,
    /// What is known to cause it.
    pub causes: &'static [&'static str],
}

/// Looks for one kind of finding.
pub struct Rule {
    /// The name of its findings.
    pub name: &'static str,
    /// One sentence on what it looks for.
    pub help: &'static str,
    /// Looks.
    pub find: fn(&Look<'_>) -> Vec<Finding>,
}

/// Every rule.
pub const FINDINGS: &[Rule] = &[
    bound::RULE,
    failed::RULE,
    latency_bubble::RULE,
    queue_full::RULE,
    random::RULE,
    fsync::RULE,
    open_churn::RULE,
    small_segments::RULE,
    retransmits::RULE,
    throttled::RULE,
    run_queue::RULE,
    process_flood::RULE,
    observer::RULE,
];

/// How many findings of a rule stand before those of others that matter less: sixteen equal
/// disks shall not hide a lost network.
const MOST_ALIKE: usize = 2;

/// How many instances of what a rule looks at (devices, groups, paths) it looks at closely:
/// the worst by their totals. Each costs a look at every interval.
const WORST: usize = 8;

/// All findings, those that matter most first.
pub fn find(look: &Look<'_>) -> Vec<Finding> {
    let mut all: Vec<Finding> = FINDINGS.iter().flat_map(|r| (r.find)(look)).collect();
    all.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| (a.name, a.from, &a.sentence).cmp(&(b.name, b.from, &b.sentence)))
    });
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for finding in all {
        let times = seen.entry(finding.name).or_default();
        *times += 1;
        if *times <= MOST_ALIKE {
            first.push(finding);
        } else {
            rest.push(finding);
        }
    }
    first.append(&mut rest);
    first
}
