//! Some I/Os wait far longer than all others while the device goes on completing.
//!
//! The classic case is a sorted queue that a deep stream keeps busy at one place while a
//! request elsewhere waits for its turn. Means hide it: a handful in a hundred thousand.

use std::rc::Rc;

use run::Nanos;

use super::bars::Bars;
use super::look::Look;
use super::series::Series;
use super::text::{count, list, percent, quoted, time};
use super::{Finding, Rule, WORST, device};

pub(super) const RULE: Rule = Rule {
    name: "latency-bubble",
    help: "Some I/Os wait far longer than all others while the device goes on completing.",
    find,
};

const CAUSES: &[&str] = &[
    "a sorted queue in which a deep stream starves a far request (elevators, drives' own queues)",
    "no scheduler before a device whose queue is full, so that nobody ages",
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
    let mut far: Vec<Far<'_>> = all.iter().filter_map(Far::of).collect();
    far.sort_by(|a, b| b.lost().total_cmp(&a.lost()));
    far.truncate(WORST);
    let Some(looked) = Looked::at(look, &far) else {
        return vec![];
    };
    let found = far.iter().filter_map(|f| f.finding(look, &looked));
    found.collect()
}

/// A distribution with some far from the others.
struct Far<'b> {
    bars: &'b Bars,
    /// Far is from here on.
    bound: f64,
    /// Half of them waited at least so long.
    half: f64,
}

impl<'b> Far<'b> {
    fn of(bars: &'b Bars) -> Option<Far<'b>> {
        let (_, most_others) = bars.quantile(OTHERS)?;
        let bound = LEAST.max(TIMES * most_others);
        let far = bars.above(bound);
        let enough = bars.total() >= ENOUGH && far.total() >= FEWEST;
        let (half, _) = far.quantile(0.5)?;
        enough.then_some(Far { bars, bound, half })
    }

    /// Seconds that they waited, about.
    fn lost(&self) -> f64 {
        self.bars.from(self.bound) * self.half
    }

    fn finding(&self, look: &Look<'_>, looked: &Looked) -> Option<Finding> {
        let (device, op) = (self.bars.word(0), self.bars.word(1));
        let waits = looked.waits(self)?;
        let (_, others) = self.bars.quantile(OTHERS)?;
        let (_, longest) = self.bars.highest()?;
        let sentence = format!(
            "{} of {} {op}s of {device} took {} or more (up to {}), while the device went on \
             completing; {} took less than {}.{}{}",
            count(waits.number),
            count(self.bars.total()),
            time(self.bound),
            time(longest),
            percent(OTHERS),
            time(others),
            looked.place(self),
            device::queue(look, device),
        );
        let part = format!("device = {} and op = {op}", quoted(device));
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
}

/// What is read once for all devices that have some.
struct Looked {
    /// I/Os by interval, with latency where it is long.
    far: Rc<Series>,
    all: Rc<Series>,
    /// By device and operation: long times in the queue, and in the device.
    queue: Option<Vec<Bars>>,
    service: Option<Vec<Bars>>,
}

impl Looked {
    fn at(look: &Look<'_>, far: &[Far<'_>]) -> Option<Looked> {
        let least = far.iter().map(|f| f.bound).fold(f64::NAN, f64::min);
        if least.is_nan() {
            return None;
        }
        let devices = list(far.iter().map(|f| f.bars.word(0)));
        let part = format!("device in {devices} and op in read, write");
        // Rounded down to whole microseconds, which an expression can name.
        let micros = |seconds: f64| format!("{}us", (seconds * 1e6) as u64);
        let half = micros(least / 2.0);
        let halves = |dimension: &str| {
            let asked = format!(
                "disk.ios by device, op, {dimension} where {part} and {dimension} >= {half}"
            );
            look.knows(&asked).then(|| look.bars(&asked))
        };
        let least = micros(least);
        Some(Looked {
            far: look.series(&format!(
                "disk.ios by device, op, latency where {part} and latency >= {least}"
            ))?,
            // Names the dimension, so that both come from the histogram, with the same
            // intervals.
            all: look.series(&format!(
                "disk.ios by device, op where {part} and latency >= 0s"
            ))?,
            queue: halves("queue_time"),
            service: halves("service_time"),
        })
    }

    fn waits(&self, f: &Far<'_>) -> Option<Waits> {
        let words = [f.bars.word(0), f.bars.word(1)];
        let (far, all) = (self.far.from(&words, f.bound), self.all.of(&words));
        if far.len() != all.len() {
            return None;
        }
        let others: Vec<f64> = all.iter().zip(&far).map(|(a, f)| a.1 - f.1).collect();
        let busy = || others.iter().zip(&all).filter(|(o, _)| **o > 0.0);
        let usual =
            busy().map(|(o, _)| o).sum::<f64>() / busy().map(|(_, a)| a.0.interval).sum::<f64>();
        let mut found: Option<Waits> = None;
        for (i, (slot, number)) in far.iter().enumerate().filter(|(_, f)| f.1 > 0.0) {
            let since = slot.time.saturating_sub((f.half * 1e9) as Nanos);
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
            waits.seconds += slot.interval.min(number * f.half);
            waits.to = slot.time;
        }
        found.filter(|w| w.number >= FEWEST)
    }

    /// Whether they waited in the queue or in the device: one of the two took half of their
    /// time.
    fn place(&self, f: &Far<'_>) -> String {
        let (Some(queue), Some(service)) = (&self.queue, &self.service) else {
            return String::new();
        };
        let half = f.bound / 2.0;
        let of = |all: &[Bars]| {
            let found = all.iter().find(|b| b.key == f.bars.key);
            found.map_or(0.0, |b| b.from(half))
        };
        let (queue, service) = (of(queue), of(service));
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
            time(half),
            count(service),
        )
    }
}

/// Those that waited while the device went on.
struct Waits {
    number: f64,
    /// How long at least one waited, about.
    seconds: f64,
    from: Nanos,
    to: Nanos,
}
