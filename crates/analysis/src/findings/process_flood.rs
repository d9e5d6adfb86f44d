//! Processes are created and end in great number: the cost is in creating them.

use super::look::Look;
use super::stretch::{Stretch, above};
use super::text::{count, percent, rate, time};
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule {
    name: "process-flood",
    help: "Many short-lived processes or threads are created.",
    find,
};

const CAUSES: &[&str] = &[
    "a script that starts programs in a loop (grep, sed, cut for each line)",
    "a build, or a configure script",
    "a service that starts a process or a thread for each request",
    "a program that fails at once and is started again",
];

/// Created per second and processor. Starting and ending a small program takes about 1 ms of
/// a processor, so this is a tenth of each.
const MANY: f64 = 100.0;
/// Processor time of a start and an end, roughly.
const COST: f64 = 0.001;
/// In all; less is a start-up.
const ENOUGH: f64 = 1000.0;
/// Seconds; less is a burst.
const LONG: f64 = 1.0;
/// They lived shorter than this.
const SHORT: f64 = 2.0;

fn find(look: &Look<'_>) -> Vec<Finding> {
    flood(look).into_iter().collect()
}

fn flood(look: &Look<'_>) -> Option<Finding> {
    let processors = look.processors();
    let stretch = above(&look.whole_series("system.forks")?, MANY * processors)?;
    if stretch.amount < ENOUGH || stretch.seconds < LONG {
        return None;
    }
    // Little's law: the mean life is what is there at a time by what comes per second. All
    // tasks are there at a time, so this is the most it can have been.
    let tasks = look.mean(&look.narrowed("system.tasks", stretch.time()))?;
    let life = tasks / stretch.rate();
    if life > SHORT {
        return None;
    }
    let sentence = format!(
        "{} processes and threads were created, {} a second; with {} at a time they lived {} on \
         average at most.{}",
        count(stretch.amount),
        rate(stretch.rate()).replace("/s", ""),
        count(tasks.round()),
        time(life),
        exited(look, &stretch),
    );
    Some(Finding {
        name: RULE.name,
        score: (stretch.amount * COST / (processors * look.seconds())).min(1.0),
        sentence,
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed("system.forks", stretch.time()),
        causes: CAUSES,
    })
}

/// What those that ended between two samples used.
fn exited(look: &Look<'_>, stretch: &Stretch) -> String {
    let asked = look.narrowed("process.time where process = \"(exited)\"", stretch.time());
    let Some(used) = look.total(&asked).filter(|used| *used > 0.0) else {
        return String::new();
    };
    let share = used / (stretch.seconds * look.processors());
    format!(
        " Those that came and went between samples used {} of the processors.",
        percent(share.min(1.0))
    )
}
