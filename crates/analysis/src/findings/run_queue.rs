//! Tasks that could run wait for a processor.

use super::look::Look;
use super::stretch::{Stretch, above, within};
use super::text::{count, percent, quoted, time};
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule {
    name: "run-queue",
    help: "Tasks that could run wait long for a processor.",
    find,
};

const CAUSES: &[&str] = &[
    "more tasks ready than processors",
    "tasks pinned to few processors (taskset, cpuset) while others idle",
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

/// Waiting that its group's limit explains so much of is that of the finding `throttled`.
const HELD: f64 = 0.1;
/// Groups that are looked at for it.
const MOST: usize = 64;

/// Groups that a limit of their own held back while they waited: their tasks are told as ready, and no
/// processor would have taken them.
fn held_back(look: &Look<'_>) -> Vec<String> {
    let mut held = look.totals("cgroup.throttled by cgroup");
    held.truncate(MOST);
    let waited = look.totals("cpu.waited by cgroup");
    let groups = held.into_iter().filter_map(|(key, time)| {
        let group = key.into_iter().next()?;
        let inside = waited.iter().filter(|(key, _)| is_in(key, &group));
        let waited: f64 = inside.map(|(_, waited)| waited).sum();
        (time > 0.0 && time >= HELD * waited).then_some(group)
    });
    groups.collect()
}

fn is_in(key: &[String], group: &str) -> bool {
    let name = key.first().map_or("", String::as_str);
    let below = name.strip_prefix(group);
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A predicate that leaves those groups out, and what is in them.
fn others(held: &[String]) -> String {
    if held.is_empty() {
        return String::new();
    }
    let names: Vec<String> = held.iter().map(|name| regex::escape(name)).collect();
    let pattern = format!("^({})(/|$)", names.join("|"));
    format!(" where cgroup !~ {}", quoted(&pattern))
}

fn waiting(look: &Look<'_>) -> Option<Finding> {
    let held = held_back(look);
    let others = others(&held);
    let waited = look.whole_series(&format!("cpu.waited{others}"))?;
    let stretch = above(&waited, WAITING).filter(|s| s.amount >= LONG)?;
    let ran = within(&look.whole_series("cpu.time")?, &stretch);
    let share = stretch.amount / (stretch.amount + ran);
    if share < SHARE || share.is_nan() {
        return None;
    }
    let busy = ran / (stretch.seconds * look.processors());
    let sentence = format!(
        "{} tasks that could run were waiting for a processor on average: {} of the time that \
         tasks ran or waited.{} The processors were {} busy.{}{}",
        run::unit::digits(stretch.rate()),
        percent(share),
        longest(look, &others, &stretch),
        percent(busy.min(1.0)),
        who(look, &others),
        left_out(&held),
    );
    Some(Finding {
        name: RULE.name,
        score: share * (stretch.seconds / look.seconds()).min(1.0),
        sentence,
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed(&format!("cpu.waits by wait{others}"), stretch.time()),
        causes: CAUSES,
    })
}

fn longest(look: &Look<'_>, others: &str, stretch: &Stretch) -> String {
    let waits = format!("cpu.waits by wait{others}");
    let all = look.bars(&look.narrowed(&waits, stretch.time()));
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

fn left_out(held: &[String]) -> String {
    match held {
        [] => String::new(),
        [one] => format!(" What waited in {one}, which its CPU limit held back, is left out."),
        all => format!(
            " What waited in {} groups that their CPU limits held back is left out.",
            all.len()
        ),
    }
}

fn who(look: &Look<'_>, others: &str) -> String {
    let largest = look.largest(&format!("cpu.waited by cgroup{others}"));
    largest.map_or(String::new(), |(name, share)| {
        format!(" {} of the waiting was in {name}.", percent(share))
    })
}
