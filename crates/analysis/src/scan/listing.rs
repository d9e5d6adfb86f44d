//! Events themselves, one by one: those that come first in an order.

use std::cmp::Ordering;
use std::sync::atomic::{self, AtomicUsize};

use run::catalog::{self, Subject, Table, WEIGHT};
use run::read::{Batch, Part, ReadError, Values};
use run::unit::Unit;
use run::{Nanos, Run};

use super::event_rows::Scanner;
use super::every_slot;
use super::frame::Frame;
use crate::plan::ScanPlan;

/// Events in an order, and how many there are.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The table they are of.
    pub table: &'static str,
    /// What is told of each, after its time.
    pub fields: Vec<Field>,
    /// The first of them.
    pub events: Vec<Event>,
    /// How many there are that pass the tests.
    pub matched: u64,
    /// How many they stand for.
    pub stands_for: f64,
}

/// Something told of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The dimension, or `weight`.
    pub name: &'static str,
    /// Of numbers, the unit.
    pub number: Option<Unit>,
}

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// When it was.
    pub time: Nanos,
    /// A value for each field.
    pub values: Vec<Value>,
    /// What it is ordered by: smaller ones come first.
    key: f64,
}

/// What is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A word; empty where there is none.
    Word(String),
    /// A number in the base unit; NaN where it is not known.
    Number(f64),
}

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The earliest; with `true` the latest.
    Time(bool),
    /// The greatest of the field at that place; with `true` the least.
    Field(usize, bool),
}

/// What can be told of an event of `table`.
pub fn fields(subject: &Subject, table: &Table) -> Vec<Field> {
    let own = table.dimensions.iter().copied();
    let all = own.chain(table.sums.iter().map(|(name, _)| *name));
    let field = |name| {
        let number = subject.dimension(name).and_then(|d| d.number);
        Field { name, number }
    };
    let weight = Field {
        name: WEIGHT.name,
        number: Some(WEIGHT.unit),
    };
    all.map(field).chain([weight]).collect()
}

/// The first `most` events in `order` that pass the tests of `plan`, which is of a table of
/// events.
pub(crate) fn list(
    run: &Run,
    plan: &ScanPlan,
    order: Order,
    most: usize,
) -> Result<Listing, ReadError> {
    let fields = catalog::table(plan.table.name).map_or(vec![], |(s, t)| fields(s, t));
    let mut listing = Listing {
        table: plan.table.name,
        fields,
        events: vec![],
        matched: 0,
        stands_for: 0.0,
    };
    let Some(table) = run.table(plan.table.name)? else {
        return Ok(listing);
    };
    let frame = Frame::new(run, plan, every_slot(run, plan)?);
    let (first, last) = frame.bounds();
    let within = |p: &&Part| {
        p.range
            .is_none_or(|(low, high)| high > first && low <= last)
    };
    let parts: Vec<Part> = table.parts.iter().filter(within).copied().collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let fields = &listing.fields;
    let work = || {
        let mut first = First::new(plan, &frame, fields, order, most);
        let columns = first.scanner.columns();
        while let Some(part) = parts.get(next.fetch_add(1, atomic::Ordering::Relaxed)) {
            if plan.bounds.is_over() {
                break;
            }
            table.read(part, &columns, |batch| first.batch(batch))?;
        }
        first.cut();
        Ok(Found {
            events: first.kept,
            matched: first.matched,
            stands_for: first.stands_for,
        })
    };
    let results: Vec<Result<Found, ReadError>> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(parts.len()))
            .map(|_| scope.spawn(work))
            .collect();
        let mut results = vec![work()];
        for other in others {
            results.push(other.join().expect("scanning does not panic"));
        }
        results
    });
    let mut events = Vec::new();
    for result in results {
        let found = result?;
        events.extend(found.events);
        listing.matched += found.matched;
        listing.stands_for += found.stands_for;
    }
    events.sort_by(in_order);
    events.truncate(most);
    listing.events = events;
    Ok(listing)
}

/// What one thread found.
struct Found {
    events: Vec<Event>,
    matched: u64,
    stands_for: f64,
}

/// By key, then by time; what is not known comes last.
fn in_order(a: &Event, b: &Event) -> Ordering {
    a.key.total_cmp(&b.key).then(a.time.cmp(&b.time))
}

/// Where the value of a field comes from.
enum Source {
    Word(usize),
    Number(usize),
}

/// The events that one thread found.
struct First<'p> {
    scanner: Scanner<'p>,
    sources: Vec<Source>,
    weight: usize,
    order: Order,
    most: usize,
    kept: Vec<Event>,
    /// What comes after this need not be looked at.
    worst: f64,
    matched: u64,
    stands_for: f64,
}

impl<'p> First<'p> {
    fn new(
        plan: &'p ScanPlan,
        frame: &'p Frame,
        fields: &[Field],
        order: Order,
        most: usize,
    ) -> First<'p> {
        let mut scanner = Scanner::new(plan, &[], frame);
        let sources = fields
            .iter()
            .map(|field| match field.number {
                Some(_) => Source::Number(scanner.want_number(field.name)),
                None => Source::Word(scanner.want_word(field.name)),
            })
            .collect();
        let weight = scanner.want_number(WEIGHT.name);
        First {
            scanner,
            sources,
            weight,
            order,
            most,
            kept: vec![],
            worst: f64::INFINITY,
            matched: 0,
            stands_for: 0.0,
        }
    }

    fn batch(&mut self, batch: &Batch<'_>) {
        if !self.scanner.select(batch) {
            return;
        }
        let rows = std::mem::take(self.scanner.rows());
        self.matched += rows.len() as u64;
        for row in &rows {
            let row = *row as usize;
            self.stands_for += self.scanner.number(self.weight, row);
            let key = self.key(batch, row);
            // Not known comes last of all.
            if key > self.worst || (key.is_nan() && self.kept.len() >= self.most) {
                continue;
            }
            let event = self.event(batch, row, key);
            self.kept.push(event);
            if self.kept.len() >= 2 * self.most + 1024 {
                self.cut();
            }
        }
        *self.scanner.rows() = rows;
    }

    fn key(&self, batch: &Batch<'_>, row: usize) -> f64 {
        // The difference of two times of a run is exact to the microsecond as float64.
        let time = batch.times[row] as f64;
        let (value, ascending) = match self.order {
            Order::Time(latest) => (time, !latest),
            Order::Field(at, least) => match self.sources.get(at) {
                Some(Source::Number(at)) => (self.scanner.number(*at, row), least),
                Some(Source::Word(_)) | None => (time, true),
            },
        };
        if ascending { value } else { -value }
    }

    fn event(&self, batch: &Batch<'_>, row: usize, key: f64) -> Event {
        let value = |source: &Source| match source {
            Source::Number(at) => Value::Number(self.scanner.number(*at, row)),
            Source::Word(column) => Value::Word(match &batch.columns[*column] {
                Values::Words { codes, texts } => texts.get(codes[row]).to_owned(),
                // A column of another version.
                Values::Numbers(_) | Values::Whole(..) => String::new(),
            }),
        };
        Event {
            time: batch.times[row],
            values: self.sources.iter().map(value).collect(),
            // Negative and positive NaN would lie at both ends.
            key: if key.is_nan() { f64::NAN } else { key },
        }
    }

    fn cut(&mut self) {
        self.kept.sort_by(in_order);
        self.kept.truncate(self.most);
        if self.kept.len() >= self.most
            && let Some(last) = self.kept.last()
            && !last.key.is_nan()
        {
            self.worst = last.key;
        }
    }
}
