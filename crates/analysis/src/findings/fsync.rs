//! Something waits most of its time until data is safe on the device.

use super::look::Look;
use super::stretch::{Stretch, above, within};
use super::text::{list, percent, quoted, rate, time};
use super::{Finding, Rule, WORST, device};
use crate::notes::is_name;

pub(super) const RULE: Rule = Rule {
    name: "fsync-bound",
    help: "A process, or a device, spends most of its time on making data safe (fsync, flush).",
    find,
};

const CAUSES: &[&str] = &[
    "a commit for each row or message: group them, or let several wait for one",
    "a device that must write its cache to the medium each time (no battery, consumer flash)",
    "a file system's journal on the same busy device",
];

/// Share of the time.
const BOUND: f64 = 0.5;
/// Seconds; less is a single sync of much data.
const LONG: f64 = 1.0;
/// And so many of them: one long sync is a flush of what was written before.
const FEWEST: f64 = 20.0;

fn find(look: &Look<'_>) -> Vec<Finding> {
    let processes = most(look, "file", "process", "op ~ sync");
    let found: Vec<Finding> = processes.iter().map(|p| process(look, p)).collect();
    if !found.is_empty() {
        return found;
    }
    // Who waits is not known without the table of files; that the device flushes is.
    let flushing = format!("op = flush and {}", device::LAYERS);
    let devices = most(look, "disk", "device", &flushing);
    devices.iter().map(|d| flushes(look, d)).collect()
}

/// What spent most of a stretch on it.
struct Spent {
    name: String,
    stretch: Stretch,
    number: f64,
}

/// Those of `dimension` that spent most of a stretch of time on operations that `test` keeps.
fn most(look: &Look<'_>, subject: &str, dimension: &str, test: &str) -> Vec<Spent> {
    let measure = if subject == "file" { "ops" } else { "ios" };
    let mut named = look.totals(&format!("{subject}.time by {dimension} where {test}"));
    // Those without a name are many together.
    let is_one = |key: &[String]| key.first().is_some_and(|name| is_name(name));
    named.retain(|(key, time)| *time >= LONG && is_one(key));
    named.truncate(WORST);
    if named.is_empty() {
        return vec![];
    }
    let names = || named.iter().filter_map(|(key, _)| key.first());
    let listed = list(names().map(String::as_str));
    let ask = |measure: &str| {
        look.series(&format!(
            "{subject}.{measure} by {dimension} where {test} and {dimension} in {listed}"
        ))
    };
    let (Some(times), Some(numbers)) = (ask("time"), ask(measure)) else {
        return vec![];
    };
    let spent = names().filter_map(|name| {
        let stretch = above(&times.of(&[name]), BOUND).filter(|s| s.amount >= LONG)?;
        let number = within(&numbers.of(&[name]), &stretch);
        let name = name.clone();
        (number >= FEWEST).then_some(Spent {
            name,
            stretch,
            number,
        })
    });
    spent.collect()
}

fn process(look: &Look<'_>, spent: &Spent) -> Finding {
    let did = "waited in fsync";
    let part = format!("process = {}", quoted(&spent.name));
    let expression = format!("file.time by op where {part}");
    finding(look, spent, [did, "its threads", ""], &expression)
}

fn flushes(look: &Look<'_>, spent: &Spent) -> Finding {
    let did = "was flushing its cache";
    let cache = device::setting(look, &spent.name, "write_cache");
    let cache = cache.map_or(String::new(), |c| format!(" Its write cache: {c}."));
    let part = format!("device = {} and op = flush", quoted(&spent.name));
    let expression = format!("disk.mean_latency where {part}");
    finding(look, spent, [did, "flushes", &cache], &expression)
}

/// What it did, of what its time is the sum, and what else there is to say.
fn finding(look: &Look<'_>, spent: &Spent, words: [&str; 3], expression: &str) -> Finding {
    let [did, added_up, more] = words;
    let (name, stretch) = (&spent.name, &spent.stretch);
    let sentence = format!(
        "{name} {did} for {} of the time ({added_up} added up): {}, {} each.{more}",
        percent(stretch.rate()),
        rate(spent.number / stretch.seconds).replace("/s", " a second"),
        time(stretch.amount / spent.number),
    );
    Finding {
        name: RULE.name,
        score: (stretch.amount / look.seconds()).min(1.0),
        sentence,
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed(expression, stretch.time()),
        causes: CAUSES,
    }
}
