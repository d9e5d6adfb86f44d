//! Quantiles of a number dimension, from the buckets of an answer.
//!
//! The quantile `q` of `n` events is the greatest value that fits the bucket of the
//! `ceil(q * n)`-th smallest of them (the inverse of the empirical distribution; type 1 of
//! R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", 1996). It is never
//! below that event's own value and at most 1/64 above it, the width of a bucket; values
//! below 128 of the grid's unit are exact. Of bytes or seconds by a number, amounts take the
//! place of events: half of the bytes had at most that latency.

use std::collections::HashMap;

use run::catalog::{self, Detail, Kind, Stored, WEIGHT};
use run::read::{ReadError, Values};
use run::unit::Unit;
use run::{Run, grid};

use crate::answer::{Answer, Group};
use crate::scan::KeyValue;
use crate::syntax::parse;

/// The quantiles that are shown.
pub const SHOWN: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// A quantile is told only if at least so many events lie beyond it: with fewer, the next run
/// gives another number.
pub const LEAST_BEYOND: f64 = 10.0;

/// A bucket that is not empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// The least value that fits it.
    pub least: f64,
    /// The greatest value that fits it.
    pub most: f64,
    /// How much is in it.
    pub amount: f64,
    /// How many events that is; `None` where events are not counted.
    pub events: Option<f64>,
}

impl Bucket {
    /// The bucket with this key (see [`KeyValue::Number`]). The grid is over whole numbers,
    /// so that its upper bound belongs to the next.
    fn new(key: f64, unit: Unit, amount: f64, events: Option<f64>) -> Bucket {
        let whole = if unit == Unit::Seconds { 1e9 } else { 1.0 };
        // Zero has no sign here.
        let (from, to) = grid::bounds(key + 0.0, unit);
        let (least, most) = if key < 0.0 {
            (((from * whole).round() + 1.0) / whole, to)
        } else {
            (from, ((to * whole).round() - 1.0) / whole)
        };
        Bucket {
            least,
            most,
            amount,
            events,
        }
    }
}

/// How an amount is spread over a number dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// From the lowest to the highest.
    pub buckets: Vec<Bucket>,
    /// All of it.
    pub total: f64,
    /// What has no known number, and is not in `total`.
    pub unknown: f64,
    /// How many events one that was kept may stand for.
    heaviest: f64,
}

impl Distribution {
    /// From the keys of buckets, their amounts and their events. `heaviest` is 1 unless events
    /// were sampled.
    pub fn new(
        cells: impl Iterator<Item = (f64, f64, Option<f64>)>,
        unit: Unit,
        heaviest: f64,
    ) -> Distribution {
        let mut out = Distribution {
            heaviest: heaviest.max(1.0),
            ..Distribution::default()
        };
        for (key, amount, events) in cells {
            if !(amount > 0.0 && amount.is_finite()) {
                continue;
            }
            if key.is_finite() {
                out.total += amount;
                out.buckets.push(Bucket::new(key, unit, amount, events));
            } else {
                out.unknown += amount;
            }
        }
        out.buckets.sort_by(|a, b| a.least.total_cmp(&b.least));
        out
    }

    /// How many events there are, where they are counted.
    pub fn events(&self) -> Option<f64> {
        self.buckets.iter().map(|b| b.events).sum()
    }

    /// The quantile `q`; `None` if too few events lie beyond it.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        // Less than a thousandth of an event: the product may be just above a whole number.
        let rank = q * self.total * (1.0 - 1e-14);
        let mut reached = 0.0;
        let mut buckets = self.buckets.iter();
        let found = buckets.find(|b| {
            reached += b.amount;
            reached >= rank
        })?;
        let above: Option<f64> = buckets.map(|b| b.events).sum();
        let (Some(above), Some(here)) = (above, found.events) else {
            // What has no events is measured all the time, as the time at a depth.
            return Some(found.most);
        };
        let part = ((reached - rank) / found.amount).clamp(0.0, 1.0);
        let beyond = (above + here * part) / self.heaviest;
        (beyond >= LEAST_BEYOND * (1.0 - 1e-9)).then_some(found.most)
    }

    /// The mean, with each event in the middle of its bucket: within 0.8 %.
    pub fn mean(&self) -> Option<f64> {
        let middle = |b: &Bucket| b.amount * b.least.midpoint(b.most);
        let sum: f64 = self.buckets.iter().map(middle).sum();
        (self.total > 0.0).then(|| sum / self.total)
    }

    /// The least value that fits the lowest bucket.
    pub fn min(&self) -> Option<f64> {
        self.buckets.first().map(|b| b.least)
    }

    /// The greatest value that fits the highest bucket.
    pub fn max(&self) -> Option<f64> {
        self.buckets.last().map(|b| b.most)
    }
}

/// The distributions of one group of words.
#[derive(Clone, Debug)]
pub struct Spread {
    /// A word for each word dimension of the answer.
    pub key: Vec<String>,
    /// Over all intervals.
    pub whole: Distribution,
    /// By interval, as places in [`Answer::slots`]; none if the answer has no series.
    pub intervals: Vec<(u32, Distribution)>,
}

/// Where the events behind the amounts of an answer are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Events {
    /// The amounts are counts of events.
    Same,
    /// By this expression.
    By(String),
    /// Nowhere: the amounts are no events.
    Uncounted,
}

/// The one number dimension of an answer whose amounts can be spread over it.
pub fn dimension(answer: &Answer) -> Option<usize> {
    let mut numbers = answer
        .by
        .iter()
        .enumerate()
        .filter(|b| b.1.number.is_some());
    let (place, _) = numbers.next()?;
    (numbers.next().is_none() && answer.kind == Some(Kind::Sum)).then_some(place)
}

/// Where the events of `answer` are counted.
pub fn events(answer: &Answer) -> Events {
    let (Ok(expression), Some((subject, table))) =
        (parse(&answer.text), catalog::table(answer.table))
    else {
        return Events::Uncounted;
    };
    let measure = expression.measure.text.as_str();
    let counts = |name: &str| {
        let one = |(_, stored): &(&str, Stored)| !matches!(stored, Stored::Dimension(_));
        match table.made.iter().find(|(made, _)| *made == name) {
            Some(made) => one(made),
            None => {
                let measure = subject.measure(name);
                measure.is_some_and(|m| m.unit == Unit::Count && m.kind == Kind::Sum)
            }
        }
    };
    if counts(measure) {
        return Events::Same;
    }
    let whole = table.made.iter().find(|(_, s)| *s == Stored::One);
    let counted = table.measures.iter().find(|m| counts(m));
    match counted.copied().or(whole.map(|w| w.0)) {
        Some(name) => {
            let (from, to) = expression.measure.span;
            let text = &answer.text;
            Events::By(format!("{}{name}{}", &text[..from], &text[to..]))
        }
        None => Events::Uncounted,
    }
}

/// How many events one row of `table` may stand for: more than 1 where events came faster
/// than the budget allowed.
pub fn heaviest(run: &Run, table: &str) -> Result<f64, ReadError> {
    let is_event = catalog::table(table).is_some_and(|(_, t)| t.detail == Detail::Event);
    let Some(table) = run.table(table)?.filter(|_| is_event) else {
        return Ok(1.0);
    };
    let mut most = 1.0_f64;
    for part in &table.parts {
        table.read(part, &[WEIGHT.name], |batch| {
            if let Some(Values::Numbers(weights)) = batch.columns.first() {
                // `max` passes over NaN.
                most = weights.iter().fold(most, |most, weight| most.max(*weight));
            }
        })?;
    }
    Ok(most)
}

/// `answer` as a distribution for each group of words, by falling totals; `None` if its
/// amounts cannot be spread over one number. `counted` is the answer to the expression of
/// [`Events::By`].
pub fn spreads(
    answer: &Answer,
    events: &Events,
    counted: Option<&Answer>,
    heaviest: f64,
) -> Option<Vec<Spread>> {
    let place = dimension(answer)?;
    let unit = answer.by[place].number?;
    let beside = Beside::new(answer, events, counted);
    let mut parts: Vec<Part> = Vec::new();
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    for group in &answer.groups {
        let (key, number) = split(&group.key, place);
        let at = *places.entry(key.clone()).or_insert_with(|| {
            parts.push(Part::new(key));
            parts.len() - 1
        });
        parts[at].add(answer, group, number, &beside);
    }
    let spread = |part: Part| {
        let of = |cells: Vec<Cell>| Distribution::new(cells.into_iter(), unit, heaviest);
        let intervals = part.intervals.into_iter().enumerate();
        Spread {
            key: part.key,
            whole: of(part.whole),
            intervals: intervals
                .filter_map(|(slot, cells)| Some((slot as u32, of(cells?))))
                .collect(),
        }
    };
    let mut spreads: Vec<Spread> = parts.into_iter().map(spread).collect();
    spreads.sort_by(|a, b| {
        let larger = b.whole.total.total_cmp(&a.whole.total);
        larger.then_with(|| a.key.cmp(&b.key))
    });
    Some(spreads)
}

/// The words of a key, and its number.
fn split(key: &[KeyValue], place: usize) -> (Vec<String>, f64) {
    let mut words = Vec::with_capacity(key.len());
    let mut number = f64::NAN;
    for (i, value) in key.iter().enumerate() {
        match value {
            KeyValue::Number(value) if i == place => number = *value,
            KeyValue::Number(value) => words.push(value.to_string()),
            KeyValue::Word(word) => words.push(word.clone()),
        }
    }
    (words, number)
}

/// Key, amount and events of a bucket.
type Cell = (f64, f64, Option<f64>);

/// A group of words in the making.
struct Part {
    key: Vec<String>,
    whole: Vec<Cell>,
    /// By slot; `None` where no bucket has a value.
    intervals: Vec<Option<Vec<Cell>>>,
}

impl Part {
    fn new(key: Vec<String>) -> Part {
        Part {
            key,
            whole: vec![],
            intervals: vec![],
        }
    }

    fn add(&mut self, answer: &Answer, group: &Group, number: f64, beside: &Beside<'_>) {
        let total = group.total.unwrap_or(0.0);
        let counted = beside.of(group);
        let events = beside.events(total, || counted.and_then(|c| c.total));
        self.whole.push((number, total, events));
        if self.intervals.is_empty() && !group.series.is_empty() {
            self.intervals.resize(answer.slots.len(), None);
        }
        for &(slot, value) in &group.series {
            let Some(cells) = self.intervals.get_mut(slot as usize) else {
                continue;
            };
            let cells = cells.get_or_insert_default();
            let amount = in_interval(answer, slot, value);
            if amount == 0.0 {
                continue;
            }
            let events = beside.events(amount, || {
                let series = &counted?.series;
                let at = series.binary_search_by_key(&slot, |point| point.0).ok()?;
                Some(in_interval(beside.answer?, slot, series[at].1))
            });
            cells.push((number, amount, events));
        }
    }
}

/// The amount behind a value per second.
fn in_interval(answer: &Answer, slot: u32, value: f64) -> f64 {
    let interval = answer.slots.get(slot as usize).map_or(0.0, |s| s.interval);
    let amount = value * interval;
    if answer.unit.is_whole() {
        amount.round()
    } else {
        amount
    }
}

/// Counts of events beside the amounts.
struct Beside<'a> {
    kind: &'a Events,
    answer: Option<&'a Answer>,
    groups: HashMap<String, &'a Group>,
}

impl<'a> Beside<'a> {
    fn new(answer: &Answer, kind: &'a Events, counted: Option<&'a Answer>) -> Beside<'a> {
        // Of other intervals nothing could be said interval by interval.
        let same = |c: &&Answer| c.slots.len() == answer.slots.len();
        let counted = counted.filter(same);
        let groups = counted.map_or(&[][..], |c| &c.groups);
        Beside {
            kind,
            answer: counted,
            groups: groups.iter().map(|g| (text(&g.key), g)).collect(),
        }
    }

    fn of(&self, group: &Group) -> Option<&'a Group> {
        self.groups.get(&text(&group.key)).copied()
    }

    /// The events behind `amount`; what was not found counts as none.
    fn events(&self, amount: f64, counted: impl Fn() -> Option<f64>) -> Option<f64> {
        match self.kind {
            Events::Same => Some(amount),
            Events::By(_) => Some(counted().unwrap_or(0.0)),
            Events::Uncounted => None,
        }
    }
}

fn text(key: &[KeyValue]) -> String {
    format!("{key:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear congruential generator (Knuth, MMIX).
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            self.0 >> 11
        }
    }

    fn of_values(values: &[i64], unit: Unit, heaviest: f64) -> Distribution {
        let base = if unit == Unit::Seconds { 1e9 } else { 1.0 };
        let mut counts: Vec<(f64, f64)> = vec![];
        for value in values {
            let key = grid::floor(*value as f64 / base, unit);
            match counts.iter_mut().find(|c| c.0 == key) {
                Some(count) => count.1 += 1.0,
                None => counts.push((key, 1.0)),
            }
        }
        let cells = counts.into_iter().map(|(key, n)| (key, n, Some(n)));
        Distribution::new(cells, unit, heaviest)
    }

    #[test]
    fn quantiles_are_those_of_the_values_within_a_bucket() {
        let mut random = Random(5);
        for round in 0..400 {
            let n = 20 + random.next() as usize % 30_000 / (1 + round % 40);
            let signed = round % 3 == 0;
            let widest = 1 + random.next() % 40;
            let mut values: Vec<i64> = (0..n)
                .map(|_| {
                    let bits = random.next() % widest;
                    let value = (random.next() & ((1 << bits) - 1)) as i64;
                    if signed && random.next() % 2 == 0 {
                        -value
                    } else {
                        value
                    }
                })
                .collect();
            values.sort_unstable();
            let (unit, base) = [(Unit::Seconds, 1e9), (Unit::Bytes, 1.0)][round % 2];
            let spread = of_values(&values, unit, 1.0);
            assert_eq!(spread.events(), Some(n as f64));
            for q in [0.01, 0.5, 0.9, 0.99, 0.999] {
                let exact = values[((q * n as f64 - 1e-6).ceil() as usize).max(1) - 1] as f64;
                let Some(found) = spread.quantile(q) else {
                    assert!(n as f64 * (1.0 - q) < 10.0 + 1e-6, "{n} {q}");
                    continue;
                };
                assert!(n as f64 * (1.0 - q) > 10.0 - 1e-6, "{n} {q}");
                let found = (found * base).round();
                let above = found - exact;
                assert!(
                    (0.0..=exact.abs() / 64.0).contains(&above),
                    "{q}: {found} {exact}"
                );
            }
            let (least, most) = (values[0] as f64, values[n - 1] as f64);
            let slack = |v: f64| v.abs() / 64.0 + 1e-6;
            let (min, max) = (spread.min().unwrap() * base, spread.max().unwrap() * base);
            assert!(
                min <= least + 1e-6 && least - min <= slack(least),
                "{min} {least}"
            );
            assert!(
                max >= most - 1e-6 && max - most <= slack(most),
                "{max} {most}"
            );
            let mean = values.iter().sum::<i64>() as f64 / n as f64;
            let size = values.iter().map(|v| v.unsigned_abs()).sum::<u64>() as f64 / n as f64;
            let error = (spread.mean().unwrap() * base - mean).abs();
            assert!(error <= size / 128.0 + 1e-6, "{error} {mean}");
        }
    }

    #[test]
    fn ten_events_must_lie_beyond() {
        let values = |n: i64| (1..=n).collect::<Vec<_>>();
        for (q, least) in [(0.5, 20), (0.9, 100), (0.99, 1000), (0.999, 10_000)] {
            let told = |n| of_values(&values(n), Unit::Bytes, 1.0).quantile(q);
            assert!(told(least).is_some(), "{q} of {least}");
            assert_eq!(told(least - 1), None, "{q} of {}", least - 1);
            // One row in ten was kept: 10 events beyond are one that was seen.
            let sampled = |n| of_values(&values(n), Unit::Bytes, 10.0).quantile(q);
            assert!(sampled(least * 10).is_some());
            assert_eq!(sampled(least * 10 - 1), None);
        }
        assert_eq!(Distribution::default().quantile(0.5), None);
        assert_eq!(Distribution::default().mean(), None);
    }

    #[test]
    fn whole_numbers_are_exact_and_negative_ones_mirror_them() {
        let depths = of_values(&[vec![32; 900], vec![1; 100]].concat(), Unit::Count, 1.0);
        assert_eq!(depths.quantile(0.5), Some(32.0));
        assert_eq!((depths.min(), depths.max()), (Some(1.0), Some(32.0)));
        assert_eq!(depths.mean(), Some(28.9));
        let back = of_values(&[vec![-4096; 500], vec![0; 500]].concat(), Unit::Bytes, 1.0);
        assert_eq!(back.quantile(0.5), Some(-4096.0));
        assert_eq!(back.quantile(0.9), Some(0.0));
        assert_eq!((back.min(), back.max()), (Some(-4159.0), Some(0.0)));
        assert_eq!(of_values(&[0; 30], Unit::Bytes, 1.0).buckets[0].least, 0.0);
        let zero = Distribution::new([(-0.0, 30.0, None)].into_iter(), Unit::Bytes, 1.0);
        assert_eq!((zero.min(), zero.max()), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn odd_amounts_harm_nothing() {
        let cells = [
            (f64::NAN, 3.0, Some(3.0)),
            (1.0, f64::NAN, Some(1.0)),
            (2.0, -5.0, Some(1.0)),
            (f64::INFINITY, 2.0, None),
            (1e300, f64::INFINITY, Some(1.0)),
            (f64::MAX, 100.0, Some(100.0)),
            (f64::MIN, 100.0, Some(100.0)),
        ];
        let odd = Distribution::new(cells.into_iter(), Unit::Seconds, f64::NAN);
        assert_eq!((odd.total, odd.unknown), (200.0, 5.0));
        assert!(odd.quantile(0.5).is_some_and(|v| v <= 0.0));
    }
}
