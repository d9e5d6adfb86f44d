//! The queue depth of a device stays at its limit: more would be asked for at once than it
//! is allowed to take.

use run::Nanos;

use super::bars::Bars;
use super::look::Look;
use super::stretch::above;
use super::text::{count, percent, quoted, time};
use super::{Finding, Rule, WORST, device};

pub(super) const RULE: Rule = Rule {
    name: "queue-full",
    help: "The number of I/Os that a device has at once stays at its limit.",
    find,
};

const CAUSES: &[&str] = &[
    "a queue_depth or nr_requests that is small for the load, or for an array behind the device",
    "a load with more I/Os under way than one device can take: it waits before the device",
    "a virtual disk with few tags",
];

/// The limit is what the depth does not exceed for all but this share of the time.
const ALL_BUT: f64 = 0.99;
/// At the limit: this near to it. A completion and the next issue are not one moment.
const NEAR: f64 = 0.95;
/// Pinned: at the limit for this share of the time with I/O at all.
const PINNED: f64 = 0.5;
/// Seconds at the limit; less is a burst.
const LONG: f64 = 1.0;
/// This share of the I/Os' time was spent before the device. Without it the load itself may
/// keep a steady depth, as a benchmark does.
const WAITING: f64 = 0.1;

fn find(look: &Look<'_>) -> Vec<Finding> {
    let asked = format!("disk.at_depth by device, depth where {}", device::LAYERS);
    let all = look.bars(&asked).into_iter();
    // Without the time in which nothing was under way.
    let mut active: Vec<Bars> = all.map(|bars| bars.above(1.0)).collect();
    active.sort_by(|a, b| b.total().total_cmp(&a.total()));
    active.truncate(WORST);
    active
        .iter()
        .filter_map(|bars| pinned(look, bars))
        .collect()
}

fn pinned(look: &Look<'_>, bars: &Bars) -> Option<Finding> {
    let device = bars.word(0).to_owned();
    let (limit, _) = bars.quantile(ALL_BUT)?;
    let bound = (NEAR * limit).ceil();
    let share = bars.from(bound) / bars.total();
    // One at a time is a load without concurrency.
    if limit < 2.0 || share < PINNED || bars.total() < LONG {
        return None;
    }
    let part = format!("device = {}", quoted(&device));
    let waited = waited(look, &part);
    let known = known_limit(look, &device, limit);
    // Without a scheduler nobody waits in one: submitters wait for a tag, unseen.
    let unseen = device::setting(look, &device, "scheduler").is_none_or(|s| s == "none");
    let waits = waited.is_some_and(|share| share >= WAITING);
    let may_wait = waits || known.is_some() && unseen;
    if !may_wait {
        return None;
    }
    let at_limit =
        look.whole_series(&format!("disk.at_depth where {part} and depth >= {bound}"))?;
    let stretch = above(&at_limit, PINNED).filter(|s| s.amount >= LONG)?;
    if known.is_none() && asked_for(look, &part, stretch.time()) <= limit {
        return None;
    }
    let name = known.unwrap_or_else(|| "and hardly ever more".into());
    let depths = match bound {
        _ if bound < limit => format!("{} to {}", count(bound), count(limit)),
        _ => count(limit),
    };
    let mut sentence = format!(
        "{device} had {depths} I/Os under way, {name}, for {} of the time it had any.",
        percent(share),
    );
    if let (Some(waited), Some(mean)) = (waited, mean_wait(look, &part)) {
        sentence += &format!(
            " I/Os waited {} each before they were issued, {} of their time.",
            time(mean),
            percent(waited)
        );
    }
    sentence += &device::queue(look, &device);
    Some(Finding {
        name: RULE.name,
        score: (stretch.amount / look.seconds()).min(1.0),
        sentence,
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed(
            &format!("disk.at_depth by depth where {part}"),
            stretch.time(),
        ),
        causes: CAUSES,
    })
}

/// The share of the I/Os' time that passed before they were issued.
fn waited(look: &Look<'_>, part: &str) -> Option<f64> {
    let queue = look.total(&format!("disk.queue where {part}"))?;
    let service = look.total(&format!("disk.service where {part}"))?;
    (queue + service > 0.0).then(|| queue / (queue + service))
}

/// How many I/Os waited or were under way, on average of the time in which any was: their times, by
/// Little's law. More than were ever under way cannot be the load's own depth.
fn asked_for(look: &Look<'_>, part: &str, time: (Nanos, Nanos)) -> f64 {
    let total = |text: String| look.total(&look.narrowed(&text, time));
    let times = ["queue", "service"].map(|what| total(format!("disk.{what} where {part}")));
    let active = total(format!("disk.at_depth where {part} and depth >= 1"));
    match (times, active) {
        ([Some(queue), Some(service)], Some(active)) if active > 0.0 => (queue + service) / active,
        _ => 0.0,
    }
}

fn mean_wait(look: &Look<'_>, part: &str) -> Option<f64> {
    look.mean(&format!("disk.mean_queue_time where {part}"))
}

/// The setting that is this limit.
fn known_limit(look: &Look<'_>, device: &str, limit: f64) -> Option<String> {
    let number = |name| device::number(look, device, name);
    let requests = number("nr_requests");
    let all_queues = requests.zip(number("hardware_queues")).map(|(r, q)| r * q);
    let settings = [
        (number("queue_depth"), "its queue_depth"),
        (requests, "its nr_requests"),
        (all_queues, "its nr_requests of all hardware queues"),
    ];
    let is_limit = |setting: f64| limit >= NEAR * setting && limit <= setting;
    let found = settings.iter().find(|(s, _)| s.is_some_and(is_limit));
    found.map(|(_, name)| (*name).to_owned())
}
