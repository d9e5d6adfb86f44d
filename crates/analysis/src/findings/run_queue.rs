//! Tasks that could run wait for a processor.

use super::look::Look;
use super::stretch::{Stretch, above, within};
use super::text::{count, percent, time};
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule {
    name: "run-queue",
    help: "Tasks that could run wait long for a processor.",
    find,
};

const CAUSES: &[&str] = &[
    "more tasks ready than processors",
    "tasks pinned to few processors (taskset, cpuset) while others idle",
    "a CPU limit: a held-back group's tasks wait too",
    "a hypervisor that gives its processors to others (steal)",
];

/// Tasks waiting at a time, on average. Wake-ups on an idle machine add up to thousandths.
const WAITING: f64 = 0.5;
/// Seconds waited; less is a burst.
const LONG: f64 = 1.0;
/// Share of running and waiting time: below it processors are shared without much loss.
const SHARE: f64 = 0.2;

fn find(look: &Look<'_>) -> Vec<Finding> {
    waiting(look).into_iter().collect()
}

fn waiting(look: &Look<'_>) -> Option<Finding> {
    let waited = look.whole_series("cpu.waited")?;
    let stretch = above(&waited, WAITING).filter(|s| s.amount >= LONG)?;
    let ran = within(&look.whole_series("cpu.time")?, &stretch);
    let share = stretch.amount / (stretch.amount + ran);
    if share < SHARE || share.is_nan() {
        return None;
    }
    let busy = ran / (stretch.seconds * look.processors());
    let sentence = format!(
        "{} tasks that could run were waiting for a processor on average: {} of the time that \
         tasks ran or waited.{} The processors were {} busy.{}",
        run::unit::digits(stretch.rate()),
        percent(share),
        longest(look, &stretch),
        percent(busy.min(1.0)),
        who(look),
    );
    Some(Finding {
        name: RULE.name,
        score: share * (stretch.seconds / look.seconds()).min(1.0),
        sentence,
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed("cpu.waits by wait", stretch.time()),
        causes: CAUSES,
    })
}

fn longest(look: &Look<'_>, stretch: &Stretch) -> String {
    let all = look.bars(&look.narrowed("cpu.waits by wait", stretch.time()));
    let Some((bars, (most, _))) = all.first().and_then(|b| Some((b, b.quantile(0.99)?))) else {
        return String::new();
    };
    // A p99 needs some above it.
    if bars.total() < 1000.0 {
        return String::new();
    }
    format!(
        " Of {} waits one in a hundred took {} or more.",
        count(bars.total()),
        time(most)
    )
}

fn who(look: &Look<'_>) -> String {
    let largest = look.largest("cpu.waited by cgroup");
    largest.map_or(String::new(), |(name, share)| {
        format!(" {} of the waiting was in {name}.", percent(share))
    })
}
