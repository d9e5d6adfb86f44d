//! A control group is held back by its CPU limit.

use super::look::Look;
use super::stretch::{share_above, within};
use super::text::{count, list, percent, quoted, time};
use super::{Finding, Rule, WORST};
use crate::scan::Slot;

pub(super) const RULE: Rule = Rule {
    name: "throttled",
    help: "A control group used its CPU limit up in many periods and was held back.",
    find,
};

const CAUSES: &[&str] = &[
    "a limit below what the load needs",
    "more threads than the limit has processors: they use a period's share up at once, and all \
     wait for the next",
    "a garbage collector or start-up that takes all processors for a moment",
];

/// Share of the periods; where the alert `CPUThrottlingHigh` of the Kubernetes mixin stands.
const SHARE: f64 = 0.25;
/// Periods held back; at the usual 100 ms a second's worth.
const FEWEST: f64 = 10.0;

fn find(look: &Look<'_>) -> Vec<Finding> {
    let mut groups = look.totals("cgroup.throttled_periods by cgroup");
    groups.retain(|(_, periods)| *periods >= FEWEST);
    groups.truncate(WORST);
    let names = || groups.iter().filter_map(|(key, _)| key.first());
    if groups.is_empty() {
        return vec![];
    }
    let listed = list(names().map(String::as_str));
    let ask = |measure: &str| {
        look.series(&format!(
            "cgroup.{measure} by cgroup where cgroup in {listed}"
        ))
    };
    let (Some(held), Some(periods), Some(waited)) =
        (ask("throttled_periods"), ask("periods"), ask("throttled"))
    else {
        return vec![];
    };
    let of = |name: &str| [&held, &periods, &waited].map(|series| series.of(&[name]));
    names()
        .filter_map(|name| throttled(look, name, &of(name)))
        .collect()
}

/// `series`: periods held back, all periods, time held back.
fn throttled(look: &Look<'_>, name: &str, series: &[Vec<(Slot, f64)>; 3]) -> Option<Finding> {
    let [held, all, waited] = series;
    let part = format!("cgroup = {}", quoted(name));
    let stretch = share_above(held, all, SHARE).filter(|s| s.amount >= FEWEST)?;
    let periods = within(all, &stretch);
    let waited = within(waited, &stretch);
    let share = (stretch.amount / periods).min(1.0);
    let limit = look.mean(&format!("cgroup.cpu_limit where {part}"));
    let limit = limit.map_or(String::new(), |limit| {
        format!(" Its limit is {} processors.", run::unit::digits(limit))
    });
    Some(Finding {
        name: RULE.name,
        score: (share * stretch.seconds / look.seconds()).min(1.0),
        sentence: format!(
            "{name} used its CPU limit up in {} of {} periods ({}) and was held back for {} in \
             all, {} of the time.{limit}",
            count(stretch.amount),
            count(periods),
            percent(share),
            time(waited),
            percent(waited / stretch.seconds),
        ),
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed(&format!("cgroup.throttled where {part}"), stretch.time()),
        causes: CAUSES,
    })
}
