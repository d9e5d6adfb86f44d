//! Where parsers put rows: finds the time and the true interval of each sample, and makes
//! amounts of rates.

mod arrival;
mod dates;
mod gaps;
mod listed;
mod notes;
mod order;
mod possible;
mod rounded;
mod rows;
mod samples;
mod shape;
mod spread;
mod times;
mod wholes;

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use jiff::civil::{Date, DateTime};
use run::catalog::{Column, Kind, numbers};
use run::rows::TableId;
use run::{Nanos, Sink, catalog};

use crate::Line;
use crate::time::{Clock, Options, Refused, Stamp, in_zone};

use arrival::Arrivals;
pub(crate) use arrival::Came;
use dates::Dates;
use listed::Listed;
use order::Order;
use rounded::Rounded;
pub use shape::Shape;
use wholes::Wholes;

/// A gap of more than this many intervals is no interval, where the text says how long they
/// are.
pub(crate) const GAP: f64 = 1.5;

/// Samples that wait for a text to tell their interval.
const MOST_HELD: usize = 100_000;

/// The note on times that are before those above them.
pub(crate) const BACK: &str = "its times go back: the clock was set, or summer time ended (--tz \
                               tells when), or its reports are not in order";

/// More values than any table has.
const WIDEST: usize = 64;

/// Where the interval of a sample starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Where the sample above ended.
    Above,
    /// At the time of another.
    At(Nanos),
    /// Nothing tells; it is as long as the one after it.
    Unknown,
}

/// The sample whose rows are coming.
#[derive(Clone, Copy, Debug)]
struct Sample {
    stamp: Option<Nanos>,
    start: Start,
    since_boot: bool,
    /// Its length, where the text tells.
    spans: Option<f64>,
    /// Its length by two times in whole seconds.
    rounded: Option<Rounded>,
    /// Nothing came before it that its interval could start at.
    broken: bool,
    /// So many before it have neither a row nor a time.
    missing: u32,
    /// Its row is not understood, and it has no other.
    lost: bool,
    /// When a logger wrote its first line.
    logged: Option<Nanos>,
    /// When its first line came.
    came: Option<Came>,
}

/// What the end of a sample is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// The start, as no time came yet: from there to the first that comes no interval can be told.
    Start,
    /// A time that the text told, of it or of one before.
    Time,
}

/// How rows are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandingOut {
    Rows,
    /// Those of samples that are alike as such.
    Alike,
}

/// Said of a text that has shares of all processors and not their number.
pub const NO_PROCESSORS: &str = "the text does not tell how many processors there were: \
    `cpu.time` is that of a mean one; --processors N says it";

/// How many rows of each table are a sample's, of those that have some: many samples may wait, and there are
/// more tables than any text fills.
type OwnRows = Vec<(TableId, usize)>;

/// Takes what a parser reads.
pub struct Out {
    options: Options,
    clock: Clock,
    tool: Cow<'static, str>,
    /// Rows whose time is known.
    done: Sink,
    /// Rows of the present sample, and of those before it whose interval is not known.
    now: Sink,
    /// Tables that have rows in `now`.
    filled: Vec<TableId>,
    /// Those rows before: the sample, and its rows.
    held: Vec<(Sample, OwnRows)>,
    /// Rows of each table that are of those.
    held_rows: Vec<usize>,
    /// The shortest interval between two stamps.
    shortest: Option<f64>,
    /// Rows of each table there whose times are known already: they are handed out together.
    placed: Vec<usize>,
    /// By table: which of its other rows are amounts.
    amounts: Vec<VecDeque<usize>>,
    sample: Option<Sample>,
    /// Rows of the present sample.
    own_rows: usize,
    listed: Listed,
    wholes: Wholes,
    order: Order,
    /// Samples with a time that were lost with it, since the last one.
    missing: u32,
    /// End of the sample before.
    before: Option<Nanos>,
    /// What that is counted from.
    since: Since,
    /// Samples that ended, but for those since boot.
    ended: u64,
    /// Interval as the text says.
    stated: Option<f64>,
    /// Intervals of the text that were told to be others than the user's.
    overruled: Vec<f64>,
    /// Another interval, which holds from the next sample on.
    next_stated: Option<f64>,
    /// End of the last sample before the tool was started anew, or a date that came since.
    ended_at: Option<Nanos>,
    dates: Dates,
    /// A date that stood on a line of its own after the present sample began.
    between: Option<Nanos>,
    host: Option<String>,
    processors: Option<u32>,
    /// The text told them.
    told_processors: Option<u32>,
    /// By table: which values are sums.
    sums: Vec<Vec<bool>>,
    other: TableId,
    since_boot: TableId,
    notes: BTreeSet<String>,
    /// Those of them that say that something of the text is missing.
    lacking: BTreeSet<String>,
    refused: Option<Refused>,
    /// Lines that turned out not to be understood later: number and why.
    pub(crate) unknown: Vec<(u64, String)>,
    /// How many of them were thought to be noise.
    pub(crate) unknown_noise: u64,
    pub(crate) line: u64,
    /// What the first line that was not understood has that cannot be read, and its number.
    fault: Option<(u64, String)>,
    /// The time that a logger put before the present line.
    pub(crate) logged: Option<Stamp>,
    /// That of the last sample which has its time from there.
    logged_at: Option<Nanos>,
    /// When the present line came, if it came while it was made.
    pub(crate) came: Option<Came>,
    arrivals: Arrivals,
    /// Records of a binary format.
    pub(crate) record: u64,
    /// The present line is the file's last and has no end: it may have been cut.
    pub(crate) endless: bool,
    /// What the line was that came last.
    pub(crate) last: Line,
    /// First moment and last.
    span: Option<(Nanos, Nanos)>,
    since_boot_samples: u64,
    /// When the last of those was.
    since_boot_at: Option<Nanos>,
    only_levels: bool,
    /// Amounts are what counters grew by.
    counts: bool,
    handed: HandingOut,
}

impl Out {
    pub(crate) fn new(tool: impl Into<Cow<'static, str>>, options: Options) -> Out {
        let is_sum = |c: Column| matches!(c, Column::Measure(m) if m.kind == Kind::Sum);
        let sums = catalog::tables()
            .map(|(s, t)| numbers(s, t).map(is_sum).collect())
            .collect();
        Out {
            processors: options.processors,
            told_processors: None,
            options,
            clock: Clock::new(),
            tool: tool.into(),
            done: Sink::new(),
            now: Sink::new(),
            filled: Vec::new(),
            held: Vec::new(),
            held_rows: catalog_tables().map(|_| 0).collect(),
            shortest: None,
            placed: catalog_tables().map(|_| 0).collect(),
            amounts: catalog_tables().map(|_| VecDeque::new()).collect(),
            sample: None,
            own_rows: 0,
            listed: Listed::new(),
            wholes: Wholes::default(),
            order: Order::default(),
            missing: 0,
            before: None,
            since: Since::Time,
            ended: 0,
            stated: None,
            overruled: Vec::new(),
            next_stated: None,
            ended_at: None,
            dates: Dates::default(),
            between: None,
            host: None,
            sums,
            other: TableId::of("other"),
            since_boot: TableId::of("since_boot"),
            notes: BTreeSet::new(),
            lacking: BTreeSet::new(),
            refused: None,
            unknown: Vec::new(),
            unknown_noise: 0,
            line: 0,
            fault: None,
            logged: None,
            logged_at: None,
            came: None,
            arrivals: Arrivals::default(),
            record: 0,
            endless: false,
            last: Line::Noise,
            span: None,
            since_boot_samples: 0,
            since_boot_at: None,
            only_levels: false,
            counts: false,
            handed: HandingOut::Rows,
        }
    }

    // ---- what the file says of itself ----

    /// The name of the machine.
    pub fn host(&mut self, name: &[u8]) {
        self.host = Some(String::from_utf8_lossy(name).into_owned());
    }

    /// How many processors it had.
    pub fn has_processors(&mut self, count: u32) {
        self.processors = Some(count);
        self.told_processors = Some(count);
    }

    /// How many processors the text said there were.
    pub(crate) fn told_processors(&self) -> Option<u32> {
        self.told_processors
    }

    /// How many processors the machine had; 1 if nobody knows, which is noted: times of
    /// processors are those of a mean one then.
    pub fn processors(&mut self) -> f64 {
        if self.processors.is_none() {
            self.note(NO_PROCESSORS);
        }
        f64::from(self.processors.unwrap_or(1))
    }

    /// Samples that wait for somebody to tell how long an interval is.
    pub(crate) fn waiting(&self) -> usize {
        if self.awaits_arrivals() {
            return 0;
        }
        self.held.len()
    }

    /// Whether reports have their times from when they came.
    pub(crate) fn is_by_arrival(&self) -> bool {
        self.arrivals.used
    }

    /// The day to which the times of day that follow belong.
    pub fn date(&mut self, date: Date) {
        self.clock.date(date);
    }

    /// The day to which times of day belong: a banner's, that of the user's start, or the first
    /// there is.
    pub fn day(&mut self) -> Date {
        self.clock.day(&self.options)
    }

    /// The user's choices, as the order of dates.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Seconds between samples, as the text says (a command line in it, a banner). It goes
    /// before what the user says, who knows of the parts that do not tell. Where another length
    /// was told before, the present sample is still of that.
    pub fn every(&mut self, seconds: f64) {
        // What is longer than decades is no interval, and no sum of times.
        if seconds > 0.0 && seconds < 1e9 {
            self.compare(seconds);
            if self.sample.is_some() && self.stated.is_some() {
                self.next_stated = Some(seconds);
            } else {
                self.stated = Some(seconds);
                self.next_stated = None;
            }
        }
    }

    /// The file cannot be imported; the first reason is told.
    pub fn refuse(&mut self, why: Refused) {
        self.refused.get_or_insert(why);
    }

    /// So many records of a binary format were read.
    pub fn records(&mut self, count: u64) {
        self.record += count;
    }

    /// Whether the present line is the file's last and has no end, so that it may have been cut.
    pub fn is_endless(&self) -> bool {
        self.endless
    }

    /// Number of the present line, from 1 on.
    pub fn line_number(&self) -> u64 {
        self.line
    }

    // ---- for who imports ----

    /// The moment of a local time; `last` is the one before it, if any.
    pub(crate) fn local(&self, at: DateTime, last: Option<Nanos>) -> Option<Nanos> {
        in_zone(at, &self.options.zone, last).ok()
    }

    /// The moment of a time that tells its day.
    pub(crate) fn moment(&self, stamp: Stamp) -> Option<Nanos> {
        let has_day = matches!(stamp, Stamp::Epoch(_) | Stamp::Civil(_) | Stamp::Zoned(..));
        let moment = || Clock::new().moment(stamp, &self.options).ok();
        has_day.then(moment)?
    }

    /// The input is over.
    pub(crate) fn end(&mut self) {
        self.came = None;
        self.finish_sample();
        self.settle(None);
        self.note_left_out();
        self.note_arrivals();
        self.note_dates();
    }

    /// Rows of samples that are alike are handed out as such.
    pub(crate) fn takes_alike(&mut self) {
        self.handed = HandingOut::Alike;
    }

    /// Rows whose times are known; to be taken and cleared.
    pub fn rows(&mut self) -> &mut Sink {
        &mut self.done
    }

    pub(crate) fn refused(&mut self) -> Option<Refused> {
        self.refused.take()
    }

    pub(crate) fn host_name(&self) -> Option<&str> {
        self.host.as_deref()
    }

    pub(crate) fn span(&self) -> Option<(Nanos, Nanos)> {
        self.span
    }

    pub(crate) fn is_relative(&self) -> bool {
        self.clock.relative
    }

    pub(crate) fn is_from_start(&self) -> bool {
        self.clock.from_start
    }

    pub(crate) fn is_stamped(&self) -> bool {
        self.clock.stamped
    }

    pub(crate) fn ended(&self) -> u64 {
        self.ended
    }

    pub(crate) fn since_boot_samples(&self) -> u64 {
        self.since_boot_samples
    }

    /// The last interval, in seconds.
    pub(crate) fn interval(&self) -> Option<f64> {
        // When reports came tells it to the millisecond.
        let pace = self.arrivals.pace.map(|p| (p * 1e3).round() / 1e3);
        let told = self.next_stated.or(self.stated);
        told.or(self.options.every).or(pace)
    }
}

fn number_unit(column: Column) -> Option<run::Unit> {
    match column {
        Column::Dimension(d) => d.number,
        Column::Measure(_) => None,
    }
}

/// Where a histogram's count stands: it is the first measure that is a number of things.
fn count_place(table: TableId) -> usize {
    let found = catalog::tables().nth(usize::from(table.0));
    let mut values = found.into_iter().flat_map(|(s, t)| numbers(s, t));
    let is_count = |c: Column| matches!(c, Column::Measure(m) if m.unit == run::Unit::Count);
    values.position(is_count).unwrap_or(1)
}

fn catalog_tables() -> impl Iterator<Item = TableId> {
    (0..catalog::tables().count()).map(|i| TableId(i as u16))
}

#[cfg(test)]
mod tests;
