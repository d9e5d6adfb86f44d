//! Something waits most of its time until data is safe on the device.

use super::look::Look;
use super::stretch::{above, within};
use super::text::{percent, quoted, rate, time};
use super::{Finding, Rule, device};

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
/// Processes looked at, those that waited longest first.
const PROCESSES: usize = 5;

fn find(look: &Look<'_>) -> Vec<Finding> {
    let waited = look
        .totals("file.time by process where op ~ sync")
        .into_iter();
    let most = waited.filter(|(_, time)| *time >= LONG).take(PROCESSES);
    let found: Vec<Finding> = most
        .filter_map(|(key, _)| process(look, key.first()?))
        .collect();
    if !found.is_empty() {
        return found;
    }
    // Who waits is not known without the table of files; that the device flushes is.
    let asked = format!(
        "disk.time by device where op = flush and {}",
        device::LAYERS
    );
    let devices = look.totals(&asked).into_iter();
    devices
        .filter(|(_, time)| *time >= LONG)
        .filter_map(|(key, _)| flushes(look, key.first()?))
        .collect()
}

/// A stretch with much `time`, and how many operations were in it.
fn much(look: &Look<'_>, time: &str, number: &str) -> Option<(super::stretch::Stretch, f64)> {
    let stretch = above(&*look.answer(time)?, BOUND).filter(|s| s.amount >= LONG)?;
    let number = within(&*look.answer(number)?, &stretch);
    (number >= FEWEST).then_some((stretch, number))
}

fn process(look: &Look<'_>, name: &str) -> Option<Finding> {
    let part = format!("process = {}", quoted(name));
    let syncs = format!("op ~ sync and {part}");
    let (stretch, number) = much(
        look,
        &format!("file.time where {syncs}"),
        &format!("file.ops where {syncs}"),
    )?;
    let sentence = format!(
        "{name} waited in fsync for {} of the time (its threads added up): {}, {} each.",
        percent(stretch.rate()),
        rate(number / stretch.seconds).replace("/s", " a second"),
        time(stretch.amount / number),
    );
    Some(Finding {
        name: RULE.name,
        score: (stretch.amount / look.seconds()).min(1.0),
        sentence,
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed(&format!("file.time by op where {part}"), stretch.time()),
        causes: CAUSES,
    })
}

fn flushes(look: &Look<'_>, name: &str) -> Option<Finding> {
    let part = format!("device = {} and op = flush", quoted(name));
    let (stretch, number) = much(
        look,
        &format!("disk.time where {part}"),
        &format!("disk.ios where {part}"),
    )?;
    let cache = device::setting(look, name, "write_cache");
    let cache = cache.map_or(String::new(), |c| format!(" Its write cache: {c}."));
    let sentence = format!(
        "{name} was flushing its cache for {} of the time (flushes added up): {}, {} each.{cache}",
        percent(stretch.rate()),
        rate(number / stretch.seconds).replace("/s", " a second"),
        time(stretch.amount / number),
    );
    Some(Finding {
        name: RULE.name,
        score: (stretch.amount / look.seconds()).min(1.0),
        sentence,
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed(&format!("disk.mean_latency where {part}"), stretch.time()),
        causes: CAUSES,
    })
}
