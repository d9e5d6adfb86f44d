//! From an answer to the distributions of its groups of words, with what stands beside the
//! amounts: how many events they are, and their numbers added up.

use std::collections::HashMap;

use run::Run;
use run::catalog::{self, Detail, Kind, Subject, Table, WEIGHT};
use run::read::{ReadError, Values};
use run::unit::Unit;

use super::{Cell, Distribution};
use crate::answer::{Answer, Group, evaluate, summarise};
use crate::error::Error;
use crate::scan::KeyValue;
use crate::syntax::parse;

/// The distributions of an answer over its one number dimension.
#[derive(Clone, Debug)]
pub struct Spreads {
    /// One a group of words, by falling totals.
    pub groups: Vec<Spread>,
    /// The number dimension.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// How many events one that was kept may stand for: more than 1 where events came faster
    /// than the budget allowed.
    pub heaviest: f64,
}

impl Spreads {
    /// Whether a mean of the numbers says something: places and the ways between them are not
    /// amounts.
    pub fn has_mean(&self) -> bool {
        !["offset", "distance", "nearest"].contains(&self.name.as_str())
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

/// The distributions of `answer`; `None` if it is no sum by exactly one number dimension.
pub fn of(run: &Run, answer: &Answer) -> Result<Option<Spreads>, Error> {
    let series = answer.groups.iter().any(|g| !g.series.is_empty());
    spreads(run, answer, &answer.text, &|text| {
        if series {
            evaluate(run, text)
        } else {
            summarise(run, text)
        }
    })
}

/// The distributions of `answer` to `text`. What stands beside its amounts is asked for with
/// `ask`, of the same time.
pub(crate) fn spreads(
    run: &Run,
    answer: &Answer,
    text: &str,
    ask: &dyn Fn(&str) -> Result<Answer, Error>,
) -> Result<Option<Spreads>, Error> {
    let Some(place) = number_place(answer) else {
        return Ok(None);
    };
    let (name, unit) = match &answer.by[place] {
        by if by.number.is_some() => (by.name.clone(), by.number.unwrap_or(Unit::Count)),
        _ => return Ok(None),
    };
    let subject = catalog::table(answer.table).map(|(subject, _)| subject);
    let dimension = subject.and_then(|s| s.dimension(&name));
    let step = dimension.and_then(|d| d.step);
    let values = super::Values { unit, step };
    let heaviest = heaviest(run, answer.table)?;
    let (events, sums) = sources(answer, text, &name);
    // Events that were not found are none, so that nothing is told by mistake.
    let events = Beside::ask(answer, events, Some(0.0), ask)?;
    let sums = Beside::ask(answer, sums, None, ask)?;
    let mut parts: Vec<Part> = Vec::new();
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    for group in &answer.groups {
        let (key, number) = split(&group.key, place);
        let at = *places.entry(key.clone()).or_insert_with(|| {
            parts.push(Part::new(key));
            parts.len() - 1
        });
        parts[at].add(answer, group, number, &events, &sums);
    }
    let mut groups: Vec<Spread> = parts
        .into_iter()
        .map(|p| p.spread(values, heaviest))
        .collect();
    groups.sort_by(|a, b| {
        let larger = b.whole.total.total_cmp(&a.whole.total);
        larger.then_with(|| a.key.cmp(&b.key))
    });
    Ok(Some(Spreads {
        groups,
        name,
        unit,
        heaviest,
    }))
}

/// The only number dimension of a sum.
fn number_place(answer: &Answer) -> Option<usize> {
    let numbers = answer.by.iter().enumerate();
    let mut numbers = numbers.filter(|(_, by)| by.number.is_some());
    let (place, _) = numbers.next()?;
    (numbers.next().is_none() && answer.kind == Some(Kind::Sum)).then_some(place)
}

/// How many events one row of `table` may stand for: more than 1 where events came faster
/// than the budget allowed.
pub fn heaviest(run: &Run, table: &str) -> Result<f64, ReadError> {
    // Whatever a manifest says: nothing else is ever sampled.
    if catalog::table(table).is_none_or(|(_, t)| t.detail != Detail::Event) {
        return Ok(1.0);
    }
    if let Some(sampled) = &run.manifest.sampled {
        return Ok(sampled.get(table).map_or(1.0, |n| f64::from(*n)));
    }
    let Some(table) = run.table(table)? else {
        return Ok(1.0);
    };
    let mut most = 1.0_f64;
    for part in &table.parts {
        table.read(part, &[WEIGHT.name], |batch| {
            most = match batch.columns.first() {
                // `max` passes over NaN.
                Some(Values::Numbers(weights)) => weights.iter().copied().fold(most, f64::max),
                Some(Values::Whole(weights, _)) => {
                    weights.iter().map(|w| *w as f64).fold(most, f64::max)
                }
                // What cannot be read is not taken to be 1: nothing is told then.
                _ => f64::INFINITY,
            };
        })?;
    }
    Ok(most)
}

/// Where something beside the amounts comes from.
#[derive(Debug, PartialEq, Eq)]
enum Source {
    /// The amounts are it.
    Same,
    /// This expression has it.
    By(String),
    /// The table does not keep it.
    Nowhere,
}

/// Where the events behind the amounts are counted, and where the numbers of dimension `name`
/// are added up.
fn sources(answer: &Answer, text: &str, name: &str) -> (Source, Source) {
    let (Ok(expression), Some((subject, table))) = (parse(text), catalog::table(answer.table))
    else {
        return (Source::Nowhere, Source::Nowhere);
    };
    let (from, to) = expression.measure.span;
    let by = |measure: &str| Source::By(format!("{}{measure}{}", &text[..from], &text[to..]));
    let asked = expression.measure.text.as_str();
    let mut measures = table.measures.iter().chain(table.made.iter().map(|m| &m.0));
    let events = if counts_events(subject, table, asked) {
        Source::Same
    } else {
        let counting = measures.find(|m| counts_events(subject, table, m));
        counting.map_or(Source::Nowhere, |m| by(m))
    };
    let made = subject.tables.iter().flat_map(|t| t.made);
    let added = made.filter(|(m, s)| s.number() == Some(name) && table.has_measure(m));
    // Of events that is a second reading of all of them, for a mean that is within 0.8 %
    // anyway; only sizes become exact by it.
    let dear = |m: &str| table.detail == Detail::Event && m != "bytes";
    let added: Vec<&str> = added.map(|(m, _)| *m).collect();
    let sums = match added.iter().find(|m| !dear(m)) {
        _ if added.contains(&asked) => Source::Same,
        Some(m) => by(m),
        None => Source::Nowhere,
    };
    (events, sums)
}

/// Whether a measure of `table` counts events.
fn counts_events(subject: &Subject, table: &Table, measure: &str) -> bool {
    match table.made.iter().find(|(made, _)| *made == measure) {
        Some((_, stored)) => stored.number().is_none(),
        None => {
            let counted = subject.measure(measure);
            counted.is_some_and(|m| m.unit == Unit::Count && m.kind == Kind::Sum)
        }
    }
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

    /// Takes a bucket.
    fn add(&mut self, answer: &Answer, group: &Group, key: f64, events: &Beside, sums: &Beside) {
        let (events, sums) = (events.bucket(group), sums.bucket(group));
        let amount = group.total.unwrap_or(0.0);
        self.whole.push(Cell {
            key,
            amount,
            events: events.total(amount),
            sum: sums.total(amount),
        });
        if self.intervals.is_empty() && !group.series.is_empty() {
            self.intervals.resize(answer.slots.len(), None);
        }
        for &(slot, value) in &group.series {
            let Some(cells) = self.intervals.get_mut(slot as usize) else {
                continue;
            };
            let cells = cells.get_or_insert_default();
            let amount = in_interval(answer, slot, value);
            if amount != 0.0 {
                cells.push(Cell {
                    key,
                    amount,
                    events: events.interval(slot, amount),
                    sum: sums.interval(slot, amount),
                });
            }
        }
    }

    fn spread(self, values: super::Values, heaviest: f64) -> Spread {
        let of = |cells: Vec<Cell>| Distribution::new(cells.into_iter(), values, heaviest);
        let intervals = self.intervals.into_iter().enumerate();
        Spread {
            key: self.key,
            whole: of(self.whole),
            intervals: intervals
                .filter_map(|(slot, cells)| Some((slot as u32, of(cells?))))
                .collect(),
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

/// Something beside the amounts, bucket by bucket.
enum Beside {
    Same,
    Answer {
        answer: Box<Answer>,
        groups: HashMap<String, usize>,
        /// What stands for what is not there.
        missing: Option<f64>,
    },
    Nowhere,
}

impl Beside {
    fn ask(
        beside: &Answer,
        source: Source,
        missing: Option<f64>,
        ask: &dyn Fn(&str) -> Result<Answer, Error>,
    ) -> Result<Beside, Error> {
        let text = match source {
            Source::Same => return Ok(Beside::Same),
            Source::Nowhere => return Ok(Beside::Nowhere),
            Source::By(text) => text,
        };
        let answer = ask(&text)?;
        // Another source's events are others. What one source counts is the same in all its tables.
        let source = |table: &str| catalog::table(table).map(|(_, t)| t.source);
        let counted = missing.is_some() && source(answer.table) == source(beside.table);
        let same = answer.table == beside.table || counted;
        let keys = answer.groups.iter().enumerate().filter(|_| same);
        let groups = keys.map(|(i, g)| (text_of(&g.key), i)).collect();
        Ok(Beside::Answer {
            answer: Box::new(answer),
            groups,
            missing,
        })
    }

    fn bucket(&self, group: &Group) -> InBucket<'_> {
        match self {
            Beside::Same => InBucket::Same,
            Beside::Nowhere => InBucket::Missing(None),
            Beside::Answer {
                answer,
                groups,
                missing,
            } => {
                let place = groups.get(&text_of(&group.key));
                match place.and_then(|i| answer.groups.get(*i)) {
                    Some(group) => InBucket::Group(answer, group),
                    None => InBucket::Missing(*missing),
                }
            }
        }
    }
}

/// Something beside the amounts of one bucket.
enum InBucket<'a> {
    Same,
    Group(&'a Answer, &'a Group),
    Missing(Option<f64>),
}

impl InBucket<'_> {
    fn total(&self, amount: f64) -> Option<f64> {
        match self {
            InBucket::Same => Some(amount),
            InBucket::Missing(value) => *value,
            InBucket::Group(_, group) => group.total,
        }
    }

    fn interval(&self, slot: u32, amount: f64) -> Option<f64> {
        match self {
            InBucket::Same => Some(amount),
            InBucket::Missing(value) => *value,
            InBucket::Group(answer, group) => {
                let at = group.series.binary_search_by_key(&slot, |point| point.0);
                Some(at.map_or(0.0, |i| in_interval(answer, slot, group.series[i].1)))
            }
        }
    }
}

fn text_of(key: &[KeyValue]) -> String {
    format!("{key:?}")
}
