//! Some I/Os wait far longer than all others while the device goes on completing.
//!
//! The classic case is a sorted queue that a deep stream keeps busy at one place while a
//! request elsewhere waits for its turn. Means hide it: a handful in a hundred thousand.

use run::Nanos;

use super::bars::Bars;
use super::look::Look;
use super::stretch::amounts;
use super::text::{count, percent, quoted, time};
use super::{Finding, Rule, device};

pub(super) const RULE: Rule = Rule {
    name: "latency-bubble",
    help: "Some I/Os wait far longer than all others while the device goes on completing.",
    find,
};

const CAUSES: &[&str] = &[
    "a sorted queue in which a deep stream starves a far request (elevators, drives' own queues)",
    "no scheduler before a device whose queue is full, so that nobody ages",
    "write-back or I/O throttling of a control group",
    "the device's own work: garbage collection, cache flushes, retries of a bad sector",
];

/// So long may a driver that needs a processor (loop, FUSE, virtual disks) wait for a full
/// one; below it, a wait says nothing of the disk.
const LEAST: f64 = 0.040;
/// Far: so many times what all but one in a hundred take. Tails of healthy devices reach a
/// few times their p99.
const TIMES: f64 = 10.0;
/// The others.
const OTHERS: f64 = 0.99;
/// A p99 needs at least ten I/Os above it.
const ENOUGH: f64 = 1000.0;
/// One or two late I/Os can be anything.
const FEWEST: f64 = 3.0;
/// While they waited, the device completed others at this share of its usual rate or more.
/// Otherwise all of it stood still, which is another story.
const COMPLETING: f64 = 0.5;
/// And this many others for each of them.
const OTHERS_EACH: f64 = 10.0;

fn find(look: &Look<'_>) -> Vec<Finding> {
    let asked = format!(
        "disk.ios by device, op, latency where {} and op in read, write",
        device::LAYERS
    );
    let all = look.bars(&asked);
    all.iter().filter_map(|bars| bubble(look, bars)).collect()
}

/// In whole milliseconds, so that an expression can name it exactly.
fn far(bars: &Bars) -> Option<(f64, u64)> {
    let (_, most_others) = bars.quantile(OTHERS)?;
    let milliseconds = (LEAST.max(TIMES * most_others) * 1e3).ceil();
    // As the parser of expressions reads it.
    Some((milliseconds * 1e-3, milliseconds as u64))
}

fn bubble(look: &Look<'_>, bars: &Bars) -> Option<Finding> {
    let (device, op) = (bars.word(0), bars.word(1));
    let total = bars.total();
    if total < ENOUGH {
        return None;
    }
    let (bound, milliseconds) = far(bars)?;
    if bars.from(bound) < FEWEST {
        return None;
    }
    let part = format!("device = {} and op = {op}", quoted(device));
    // Half of them waited at least so long.
    let (half, _) = bars.above(bound).quantile(0.5)?;
    let waits = waits(look, &part, half, milliseconds)?;
    let (_, others) = bars.quantile(OTHERS)?;
    let (_, longest) = bars.highest()?;
    let sentence = format!(
        "{} of {} {op}s of {device} took {} or more (up to {}), while the device went on \
         completing; {} took less than {}.{}{}",
        count(waits.number),
        count(total),
        time(bound),
        time(longest),
        percent(OTHERS),
        time(others),
        place(look, &part, bound),
        device::queue(look, device),
    );
    let expression = format!("disk.ios by latency where {part}");
    Some(Finding {
        name: RULE.name,
        score: (waits.seconds / look.seconds()).min(1.0),
        sentence,
        from: waits.from,
        to: waits.to,
        expression: look.narrowed(&expression, (waits.from, waits.to)),
        causes: CAUSES,
    })
}

/// Those that waited while the device went on.
struct Waits {
    number: f64,
    /// How long at least one waited, about.
    seconds: f64,
    from: Nanos,
    to: Nanos,
}

/// `wait`: how long they waited, as a rule.
fn waits(look: &Look<'_>, part: &str, wait: f64, milliseconds: u64) -> Option<Waits> {
    let far = look.answer(&format!(
        "disk.ios where {part} and latency >= {milliseconds}ms"
    ))?;
    // Names the dimension, so that both come from the histogram, with the same intervals.
    let all = look.answer(&format!("disk.ios where {part} and latency >= 0s"))?;
    let (far, all) = (amounts(&far), amounts(&all));
    if far.len() != all.len() {
        return None;
    }
    let others: Vec<f64> = all.iter().zip(&far).map(|(a, f)| a.1 - f.1).collect();
    let busy = || others.iter().zip(&all).filter(|(o, _)| **o > 0.0);
    let usual =
        busy().map(|(o, _)| o).sum::<f64>() / busy().map(|(_, a)| a.0.interval).sum::<f64>();
    let mut found: Option<Waits> = None;
    for (i, (slot, number)) in far.iter().enumerate().filter(|(_, f)| f.1 > 0.0) {
        let since = slot.time.saturating_sub((wait * 1e9) as Nanos);
        // This interval and those before it in which they waited.
        let before = far[..i].iter().rev().take_while(|(s, _)| s.time > since);
        let during = i - before.count()..=i;
        let completed = others[during.clone()].iter().sum::<f64>();
        let late = far[during.clone()].iter().map(|f| f.1).sum::<f64>();
        let seconds = far[during.clone()]
            .iter()
            .map(|f| f.0.interval)
            .sum::<f64>();
        if completed < OTHERS_EACH * late || completed / seconds < COMPLETING * usual {
            continue;
        }
        let waits = found.get_or_insert(Waits {
            number: 0.0,
            seconds: 0.0,
            from: far[*during.start()].0.from(),
            to: slot.time,
        });
        waits.number += number;
        waits.seconds += slot.interval.min(number * wait);
        waits.to = slot.time;
    }
    found.filter(|w| w.number >= FEWEST)
}

/// Whether they waited in the queue or in the device: one of the two took half of their time.
fn place(look: &Look<'_>, part: &str, bound: f64) -> String {
    let half = |dimension: &str| {
        let bars = look.bars(&format!("disk.ios by {dimension} where {part}"));
        bars.first().map(|b| b.from(bound / 2.0))
    };
    let (Some(queue), Some(service)) = (half("queue_time"), half("service_time")) else {
        return String::new();
    };
    // Twice as many is clear; less is told as it is.
    let verdict = if queue > 2.0 * service {
        "in the scheduler's queue, not in the device"
    } else if service > 2.0 * queue {
        "in the device, not in the scheduler's queue"
    } else {
        "in the queue and in the device"
    };
    format!(
        " They waited {verdict}: {} were longer than {} in the queue, {} in the device.",
        count(queue),
        time(bound / 2.0),
        count(service),
    )
}
