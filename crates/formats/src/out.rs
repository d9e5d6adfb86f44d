//! Where parsers put rows: finds the time and the true interval of each sample, and makes
//! amounts of rates.

use std::borrow::Cow;
use std::collections::BTreeSet;

use jiff::civil::Date;
use run::catalog::{Column, Kind, columns};
use run::rows::{TableId, Words};
use run::{Nanos, Sink, Word, catalog, grid};

use crate::time::{Clock, Options, Refused, Stamp};

/// A gap of more than this many intervals is no interval, where the text says how long they
/// are.
const GAP: f64 = 1.5;

/// Samples that wait for a text to tell their interval.
const MOST_HELD: usize = 100_000;

/// More values than any table has.
const WIDEST: usize = 64;

/// The sample whose rows are coming.
#[derive(Clone, Copy, Debug)]
struct Sample {
    stamp: Option<Nanos>,
    since_boot: bool,
    /// Its length, where the text tells.
    spans: Option<f64>,
    /// Nothing came before it that its interval could start at.
    broken: bool,
}

/// A table's row with some of its values; the others are not known.
#[derive(Clone, Debug)]
pub struct Shape {
    table: TableId,
    width: usize,
    places: Vec<usize>,
}

impl Shape {
    /// Of the table of that name, its number dimensions and measures of those names.
    ///
    /// # Panics
    /// Where the catalog has none: a format's own names are part of the program.
    pub fn of(table: &str, values: &[&str]) -> Shape {
        let (subject, found) = catalog::table(table).unwrap_or_else(|| panic!("no table {table}"));
        let is_word = |c: &Column| matches!(c, Column::Dimension(d) if d.number.is_none());
        let all: Vec<_> = columns(subject, found).filter(|c| !is_word(c)).collect();
        let place = |name: &&str| {
            let place = all.iter().position(|c| c.name() == *name);
            place.unwrap_or_else(|| panic!("no {name} in {table}"))
        };
        Shape {
            table: TableId::of(table),
            width: all.len(),
            places: values.iter().map(place).collect(),
        }
    }

    /// The values in their places.
    fn all(&self, values: &[f64]) -> [f64; WIDEST] {
        let mut all = [f64::NAN; WIDEST];
        for (place, value) in self.places.iter().zip(values) {
            all[*place] = *value;
        }
        all
    }

    /// The table.
    pub fn table(&self) -> TableId {
        self.table
    }
}

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
    /// Those rows before: the sample, and how many rows of each table are its.
    held: Vec<(Sample, Vec<usize>)>,
    /// Rows of each table that are of those.
    held_rows: Vec<usize>,
    /// The shortest interval between two stamps.
    shortest: Option<f64>,
    /// Tables of which the present sample has rows that are amounts, with their places.
    amounts: Vec<(TableId, usize)>,
    sample: Option<Sample>,
    /// End of the sample before.
    before: Option<Nanos>,
    /// Samples that ended, but for those since boot.
    ended: u64,
    /// Interval as the text says.
    stated: Option<f64>,
    /// Another interval, which holds from the next sample on.
    next_stated: Option<f64>,
    /// End of the last sample before the tool was started anew.
    ended_at: Option<Nanos>,
    host: Option<String>,
    processors: Option<u32>,
    /// By table: which values are sums.
    sums: Vec<Vec<bool>>,
    other: TableId,
    since_boot: TableId,
    notes: BTreeSet<String>,
    refused: Option<Refused>,
    /// Lines that turned out not to be understood later: number and why.
    pub(crate) unknown: Vec<(u64, String)>,
    pub(crate) line: u64,
    /// Records of a binary format.
    pub(crate) record: u64,
    /// The present line is the file's last and has no end: it may have been cut.
    pub(crate) endless: bool,
    /// First moment and last.
    span: Option<(Nanos, Nanos)>,
    since_boot_samples: u64,
    only_levels: bool,
    /// Amounts are what counters grew by.
    counts: bool,
}

impl Out {
    pub(crate) fn new(tool: impl Into<Cow<'static, str>>, options: Options) -> Out {
        let is_sum = |c: Column| matches!(c, Column::Measure(m) if m.kind == Kind::Sum);
        let is_value = |c: &Column| !matches!(c, Column::Dimension(d) if d.number.is_none());
        let sums = catalog::tables()
            .map(|(s, t)| columns(s, t).filter(is_value).map(is_sum).collect())
            .collect();
        Out {
            processors: options.processors,
            options,
            clock: Clock::new(),
            tool: tool.into(),
            done: Sink::new(),
            now: Sink::new(),
            filled: Vec::new(),
            held: Vec::new(),
            held_rows: catalog_tables().map(|_| 0).collect(),
            shortest: None,
            amounts: Vec::new(),
            sample: None,
            before: None,
            ended: 0,
            stated: None,
            next_stated: None,
            ended_at: None,
            host: None,
            sums,
            other: TableId::of("other"),
            since_boot: TableId::of("since_boot"),
            notes: BTreeSet::new(),
            refused: None,
            unknown: Vec::new(),
            line: 0,
            record: 0,
            endless: false,
            span: None,
            since_boot_samples: 0,
            only_levels: false,
            counts: false,
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
    }

    /// How many processors the machine had; 1 if nobody knows, which is noted: times of
    /// processors are those of a mean one then.
    pub fn processors(&mut self) -> f64 {
        if self.processors.is_none() {
            self.note(
                "the text does not tell how many processors there were: `cpu.time` is that of a \
                 mean one; --processors N says it",
            );
        }
        f64::from(self.processors.unwrap_or(1))
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

    /// Seconds between samples, as the text says (a command line in it, a banner). What the
    /// user says goes before. Where another length was told before, the present sample is
    /// still of that.
    pub fn every(&mut self, seconds: f64) {
        // What is longer than decades is no interval, and no sum of times.
        if seconds > 0.0 && seconds < 1e9 {
            if self.sample.is_some() && self.stated.is_some() {
                self.next_stated = Some(seconds);
            } else {
                self.stated = Some(seconds);
                self.next_stated = None;
            }
        }
    }

    /// Something the reader of the numbers should know; told once.
    pub fn note(&mut self, text: &str) {
        if !self.notes.contains(text) {
            self.notes.insert(text.to_owned());
        }
    }

    /// The file cannot be imported; the first reason is told.
    pub fn refuse(&mut self, why: Refused) {
        self.refused.get_or_insert(why);
    }

    /// A line that was thought to be data is not understood. `line` counts from 1; 0 is the
    /// present one.
    pub fn not_understood(&mut self, line: u64, why: &str) {
        let line = if line == 0 { self.line } else { line };
        self.unknown.push((line, why.to_owned()));
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

    // ---- samples ----

    /// A sample begins, of which the text does not tell the time.
    pub fn sample(&mut self) {
        self.begin(None);
    }

    /// A sample begins that was taken at `stamp`, the end of its interval.
    pub fn sample_at(&mut self, stamp: Stamp) {
        match self.clock.moment(stamp, &self.options) {
            Ok(moment) => self.begin(Some(moment)),
            Err(why) => self.refuse(why),
        }
    }

    /// A sample begins at `stamp`, unless the present one is of that time.
    pub fn sample_at_or_same(&mut self, stamp: Stamp) {
        match self.clock.moment(stamp, &self.options) {
            Ok(moment) if self.sample.is_some_and(|s| s.stamp == Some(moment)) => {}
            Ok(moment) => self.begin(Some(moment)),
            Err(why) => self.refuse(why),
        }
    }

    /// The present sample is a mean since the machine was started.
    pub fn since_boot(&mut self) {
        if let Some(sample) = &mut self.sample {
            sample.since_boot = true;
        }
    }

    /// Length of the present sample's interval, in seconds, where the text tells.
    pub fn spans(&mut self, seconds: f64) {
        if let Some(sample) = &mut self.sample
            && seconds > 0.0
        {
            sample.spans = Some(seconds);
        }
    }

    /// Nothing in the present sample is an amount: if it stays the only one, it needs no length.
    pub fn only_levels(&mut self) {
        self.only_levels = true;
    }

    /// The tool or the machine was started anew: the next sample has none before it.
    pub fn broken(&mut self) {
        self.finish_sample();
        let [_] = &self.held[..] else {
            return self.start_anew();
        };
        if self.options.every.or(self.stated).is_none() {
            self.note(
                "a sample just before a restart is left out: the text does not tell how long its \
                 interval is",
            );
            self.held.clear();
            self.held_rows.fill(0);
            self.now.clear();
            self.filled.clear();
            self.amounts.clear();
        }
        self.start_anew();
    }

    fn start_anew(&mut self) {
        self.settle(None);
        self.ended_at = self.before.take().or(self.ended_at);
        self.state_next();
    }

    /// What the text said of the samples to come holds now.
    fn state_next(&mut self) {
        self.stated = self.next_stated.take().or(self.stated);
    }

    /// Amounts are what counters grew by: an interval is all the time since the sample before,
    /// however long that is.
    pub fn counts(&mut self) {
        self.counts = true;
    }

    /// Whether there is a present sample.
    pub fn has_sample(&self) -> bool {
        self.sample.is_some()
    }

    /// Whether the present sample is since boot.
    pub fn is_since_boot(&self) -> bool {
        self.sample.is_some_and(|s| s.since_boot)
    }

    /// Samples so far, the present one included.
    pub fn samples(&self) -> u64 {
        self.ended + self.since_boot_samples + u64::from(self.sample.is_some())
    }

    fn begin(&mut self, stamp: Option<Nanos>) {
        self.finish_sample();
        self.state_next();
        self.clock.stamped |= stamp.is_some();
        self.sample = Some(Sample {
            stamp,
            since_boot: false,
            spans: None,
            broken: self.before.is_none() && self.held.is_empty(),
        });
    }

    // ---- rows of the present sample ----

    /// The word of a name. Bytes that are no UTF-8 are replaced, as are control characters.
    pub fn word(&mut self, name: &[u8]) -> Word {
        match std::str::from_utf8(name) {
            Ok(text) if !text.contains(char::is_control) => self.done.word(text),
            _ => {
                let text = String::from_utf8_lossy(name).replace(char::is_control, "\u{fffd}");
                self.done.word(&text)
            }
        }
    }

    /// All words.
    pub fn words(&self) -> &Words {
        &self.done.words
    }

    /// Adds a row; sums are per second. NaN is "not known". Words and values are in the
    /// table's order.
    pub fn row(&mut self, table: TableId, words: &[Word], values: &[f64]) {
        if self.is_since_boot() {
            self.keep_since_boot(table, words, values);
        } else {
            self.fills(table);
            self.now.row(table, words, values);
        }
    }

    /// The table gets a row of the present sample.
    fn fills(&mut self, table: TableId) {
        if self.now.rows(table).is_empty() {
            self.filled.push(table);
        }
    }

    /// Adds a row whose sums are amounts in the sample's interval.
    pub fn amounts(&mut self, table: TableId, words: &[Word], values: &[f64]) {
        if self.is_since_boot() {
            self.keep_since_boot(table, words, values);
        } else {
            self.fills(table);
            self.amounts.push((table, self.now.rows(table).len()));
            self.now.row(table, words, values);
        }
    }

    /// Adds a row of some of a table's values, in the shape's order; sums are per second.
    pub fn put(&mut self, shape: &Shape, words: &[Word], values: &[f64]) {
        let all = shape.all(values);
        self.row(shape.table, words, &all[..shape.width]);
    }

    /// Adds rows of some of a table's values by column, of equal length; sums are per second.
    /// What the sample's time and length are told by has to come before.
    pub(crate) fn put_columns(&mut self, shape: &Shape, words: &[&[Word]], values: &[&[f64]]) {
        let count = values.first().map_or(0, |column| column.len());
        let equal = words.iter().all(|c| c.len() == count)
            && values.iter().all(|c| c.len() == count)
            && self.done.rows(shape.table).words.len() == words.len();
        let direct = self.sample.and_then(|sample| {
            let known = !sample.since_boot && self.held.is_empty() && equal;
            let interval = self.interval_of(&sample).filter(|_| known)?;
            Some((interval, self.end_of(&sample, interval)))
        });
        let Some((interval, end)) = direct else {
            for i in 0..count {
                let words: Vec<Word> = words.iter().filter_map(|c| c.get(i).copied()).collect();
                let values: Vec<f64> = values.iter().filter_map(|c| c.get(i).copied()).collect();
                self.put(shape, &words, &values);
            }
            return;
        };
        let sums = &self.sums[usize::from(shape.table.0)];
        let to = self.done.rows_mut(shape.table);
        let whole = to.times.len() + count;
        to.times.resize(whole, end);
        to.intervals.resize(whole, interval);
        for (to, from) in to.words.iter_mut().zip(words) {
            to.extend_from_slice(from);
        }
        for (place, from) in shape.places.iter().zip(values) {
            if sums[*place] {
                to.values[*place].extend(from.iter().map(|v| v * interval));
            } else {
                to.values[*place].extend_from_slice(from);
            }
        }
        for column in &mut to.values {
            // Those not told.
            column.resize(whole, f64::NAN);
        }
    }

    /// The same with sums that are amounts in the sample's interval.
    pub fn put_amounts(&mut self, shape: &Shape, words: &[Word], values: &[f64]) {
        let all = shape.all(values);
        self.amounts(shape.table, words, &all[..shape.width]);
    }

    /// Adds a row of the present sample that is since boot, whatever the sample is.
    pub fn put_since_boot(&mut self, shape: &Shape, words: &[Word], values: &[f64]) {
        let all = shape.all(values);
        self.keep_since_boot(shape.table, words, &all[..shape.width]);
    }

    /// Adds a value that has no place in the catalog: `other.<tool>.<column>`.
    pub fn other(&mut self, column: &str, unit: &str, instance: Word, value: f64) {
        if value.is_nan() {
            return;
        }
        let words = self.other_words(column, unit, instance);
        self.row(self.other, &words, &[value]);
    }

    /// The same of a counter that grew by `value` in the interval: it is kept per second.
    pub fn other_grown(&mut self, column: &str, unit: &str, instance: Word, value: f64) {
        if value.is_nan() {
            return;
        }
        let words = self.other_words(column, &format!("{unit}/s"), instance);
        self.amounts(self.other, &words, &[value]);
    }

    /// The same of a counter that is read for the first time: it goes to `since_boot`.
    pub fn other_total(&mut self, column: &str, unit: &str, instance: Word, value: f64) {
        if value.is_nan() {
            return;
        }
        let words = self.other_words(column, unit, instance);
        self.keep_since_boot(self.other, &words, &[value]);
    }

    fn other_words(&mut self, column: &str, unit: &str, instance: Word) -> [Word; 4] {
        let tool = self.done.word(&self.tool);
        [tool, self.done.word(column), self.done.word(unit), instance]
    }

    /// Adds a bucket of a histogram, `count` things with values from `from` to below `to` in
    /// base units, as amounts. The table's number dimension is its first value; the count goes
    /// to its first measure that is one, the others are not known.
    ///
    /// A bucket wider than those of the grid is spread over them, in proportion to their width:
    /// what was counted in it stays, and quantiles inside it are those of a straight line.
    pub fn bucket(&mut self, table: TableId, words: &[Word], from: f64, to: f64, count: f64) {
        self.buckets(table, words, [from, to], count, Out::amounts);
    }

    /// The same with a count that is per second.
    pub fn bucket_rate(&mut self, table: TableId, words: &[Word], from: f64, to: f64, rate: f64) {
        self.buckets(table, words, [from, to], rate, Out::row);
    }

    fn buckets(
        &mut self,
        table: TableId,
        words: &[Word],
        [from, to]: [f64; 2],
        count: f64,
        add: fn(&mut Out, TableId, &[Word], &[f64]),
    ) {
        let unit = catalog::tables()
            .nth(usize::from(table.0))
            .and_then(|(s, t)| columns(s, t).find_map(number_unit));
        let Some(unit) = unit else { return };
        let measures = self.sums[usize::from(table.0)].len() - 1;
        let count_at = count_place(table);
        let mut values = vec![f64::NAN; measures + 1];
        // What is kept by itself keeps the bucket as it was printed.
        let cells = if self.is_since_boot() {
            vec![(from, 1.0)]
        } else {
            spread(from, to, unit)
        };
        for (value, share) in cells {
            values[0] = value;
            values[count_at] = count * share;
            add(self, table, words, &values);
        }
    }

    /// Adds an event that happened at `stamp`; it belongs to no sample. `values` are its number
    /// dimensions and its weight.
    pub fn event(&mut self, table: TableId, stamp: Stamp, words: &[Word], values: &[f64]) {
        match self.clock.moment(stamp, &self.options) {
            Ok(at) => {
                self.done.at(at, 0.0);
                self.done.row(table, words, values);
                self.extend(at, at);
            }
            Err(why) => self.refuse(why),
        }
    }

    /// A first report is kept by itself: nobody knows over how long it is a mean.
    fn keep_since_boot(&mut self, table: TableId, words: &[Word], values: &[f64]) {
        let Some((subject, table)) = catalog::tables().nth(usize::from(table.0)) else {
            return;
        };
        let is_word = |c: &Column| matches!(c, Column::Dimension(d) if d.number.is_none());
        let text = |w: &Word| self.done.words.text(*w).unwrap_or_default();
        let mut instance: Vec<&str> = words.iter().map(text).collect();
        let other = table.name == "other";
        let mut statistic = subject.name.to_owned();
        if other {
            statistic = format!("other.{}.{}", instance[0], instance[1]);
            instance.drain(..3);
        }
        let mut instance = instance.join(" ");
        let mut kept = Vec::new();
        let values = columns(subject, table).filter(|c| !is_word(c)).zip(values);
        for (column, value) in values.filter(|(_, v)| !v.is_nan()) {
            // The place of a bucket.
            if let Column::Dimension(d) = column {
                instance.push_str(&format!(" {}={value}", d.name));
                continue;
            }
            let name = if other {
                statistic.clone()
            } else {
                format!("{statistic}.{}", column.name())
            };
            kept.push((name, *value));
        }
        for (name, value) in kept {
            let words = [self.done.word(&name), self.done.word(&instance)];
            self.fills(self.since_boot);
            self.now.row(self.since_boot, &words, &[value]);
        }
    }

    // ---- times ----

    /// The present sample is whole.
    fn finish_sample(&mut self) {
        let Some(sample) = self.sample.take() else {
            return;
        };
        if sample.since_boot {
            self.since_boot_samples += 1;
        }
        let interval = self.interval_of(&sample);
        // A report since boot tells nothing of the length of those that wait.
        match interval.filter(|_| !sample.since_boot || self.held.is_empty()) {
            Some(interval) => {
                // Those before had to wait for it.
                self.settle(Some(interval));
                self.place(&sample, interval, &[]);
            }
            None => {
                let waiting = catalog_tables().zip(&mut self.held_rows);
                let own = |(table, before): (TableId, &mut usize)| {
                    let all = self.now.rows(table).len();
                    let own = all - *before;
                    *before = all;
                    own
                };
                let rows = waiting.map(own).collect();
                if let Some(stamp) = sample.stamp {
                    self.before = Some(stamp);
                }
                self.held.push((sample, rows));
                if self.held.len() >= MOST_HELD {
                    self.settle(None);
                }
            }
        }
    }

    fn interval_of(&self, sample: &Sample) -> Option<f64> {
        if sample.since_boot {
            // Of no length; where it stands says when it was printed.
            return Some(0.0);
        }
        if sample.spans.is_some() {
            return sample.spans;
        }
        let passed = match (sample.stamp, self.before) {
            (Some(now), Some(before)) if !sample.broken && now > before => {
                Some(now.saturating_sub(before) as f64 / 1e9)
            }
            _ => None,
        };
        // A pause is told from an interval by what the text says of it, or the user where the
        // stamps agree.
        let agrees = |every: &f64| self.shortest.is_some_and(|least| least <= GAP * every);
        let usual = self.stated.or(self.options.every.filter(agrees));
        match (passed, usual) {
            (Some(passed), Some(usual)) if passed > GAP * usual && !self.counts => Some(usual),
            (Some(passed), _) => Some(passed),
            // The stamp of the one after it tells.
            (None, _) if sample.stamp.is_some() => self.stated,
            (None, _) => self.options.every.or(self.stated),
        }
    }

    /// Gives the samples that wait their interval: that of the one after them.
    fn settle(&mut self, interval: Option<f64>) {
        if self.held.is_empty() {
            return;
        }
        let held = std::mem::take(&mut self.held);
        self.held_rows.fill(0);
        let moment = (self.only_levels && held.len() == 1 && self.ended == 0).then_some(1.0);
        let known = interval.or(self.options.every).or(self.stated);
        let Some(interval) = known.or(moment) else {
            self.refuse(Refused(
                "the text does not tell how long an interval is\nhint: say it, as --every 1s"
                    .into(),
            ));
            self.now.clear();
            self.filled.clear();
            return;
        };
        for (sample, rows) in held {
            let interval = if sample.since_boot { 0.0 } else { interval };
            self.place(&sample, interval, &rows);
        }
    }

    /// What the stamps say of the interval, beside what the user says.
    fn look_at(&mut self, interval: f64) {
        self.shortest = Some(self.shortest.map_or(interval, |least| least.min(interval)));
        let other = |every: f64| interval > GAP * every || interval * GAP < every;
        if self.options.every.is_some_and(other) {
            self.note("its time stamps are not as far apart as --every says: the stamps count");
        }
    }

    /// When it ended, where its interval is that long.
    fn end_of(&self, sample: &Sample, interval: f64) -> Nanos {
        if let Some(stamp) = sample.stamp {
            return stamp;
        }
        let passed = match (sample.since_boot, sample.broken) {
            // The first report is printed at once; one that comes later, because devices came or
            // went, after an interval.
            (true, true) => 0.0,
            (true, false) => self.options.every.or(self.stated).unwrap_or(0.0),
            (false, _) => interval,
        };
        // What was started anew comes after what was before it.
        let before = self.before.or(self.ended_at).or(self.options.start);
        before
            .unwrap_or(0)
            .saturating_add((passed * 1e9).round() as Nanos)
    }

    /// Hands out the rows of a sample: the first `rows` of each table, or all.
    fn place(&mut self, sample: &Sample, interval: f64, rows: &[usize]) {
        let length = (interval * 1e9).round() as Nanos;
        let end = self.end_of(sample, interval);
        match sample.stamp {
            None => self.clock.starts(&self.options),
            Some(_) if !sample.since_boot && sample.spans.is_none() => self.look_at(interval),
            Some(_) => {}
        }
        self.before = Some(end);
        self.extend(end.saturating_sub(length), end);
        if !sample.since_boot {
            self.ended += 1;
        }
        // A report since boot has no length of its own; a row has to have one.
        let kept = match interval {
            0.0 => self.options.every.or(self.stated).unwrap_or(1.0),
            _ => interval,
        };
        for table in std::mem::take(&mut self.filled) {
            let all = self.now.rows(table).len();
            if all > rows.get(usize::from(table.0)).copied().unwrap_or(all) {
                self.filled.push(table);
            }
            let count = rows.get(usize::from(table.0)).copied().unwrap_or(all);
            if count == 0 {
                continue;
            }
            let amounts = self.amounts.iter().filter(|(t, _)| *t == table);
            let amounts: Vec<usize> = amounts.map(|(_, row)| *row).collect();
            let sums = &self.sums[usize::from(table.0)];
            let from = self.now.rows_mut(table);
            from.times[..count].fill(end);
            from.intervals[..count].fill(kept);
            if amounts.len() < count {
                for (column, _) in from.values.iter_mut().zip(sums).filter(|(_, sum)| **sum) {
                    let mut whole = amounts.iter().peekable();
                    for (row, value) in column[..count].iter_mut().enumerate() {
                        if whole.next_if(|w| **w == row).is_none() {
                            *value *= interval;
                        }
                    }
                }
            }
            if table == self.other && interval > 0.0 {
                // What a counter grew by is kept per second.
                for row in amounts.iter().filter(|row| **row < count) {
                    from.values[0][*row] /= interval;
                }
            }
            self.done.take_rows(&mut self.now, table, count);
            self.amounts.retain(|(t, row)| *t != table || *row >= count);
            for (_, row) in self.amounts.iter_mut().filter(|(t, _)| *t == table) {
                *row -= count;
            }
        }
    }

    fn extend(&mut self, from: Nanos, to: Nanos) {
        let (a, b) = self.span.unwrap_or((from, to));
        self.span = Some((a.min(from), b.max(to)));
    }

    // ---- for who imports ----

    /// The input is over.
    pub(crate) fn end(&mut self) {
        self.finish_sample();
        self.settle(None);
    }

    /// Rows whose times are known; to be taken and cleared.
    pub fn rows(&mut self) -> &mut Sink {
        &mut self.done
    }

    pub(crate) fn refused(&mut self) -> Option<Refused> {
        self.refused.take()
    }

    pub(crate) fn notes(&self) -> impl Iterator<Item = &String> {
        self.notes.iter()
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
        self.options.every.or(self.next_stated).or(self.stated)
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
    let values = found.into_iter().flat_map(|(s, t)| columns(s, t));
    let mut values = values.filter(|c| !matches!(c, Column::Dimension(d) if d.number.is_none()));
    let is_count = |c: Column| matches!(c, Column::Measure(m) if m.unit == run::Unit::Count);
    values.position(is_count).unwrap_or(1)
}

fn catalog_tables() -> impl Iterator<Item = TableId> {
    (0..catalog::tables().count()).map(|i| TableId(i as u16))
}

/// The buckets of the grid in `[from, to)`, with the share of that range in each.
fn spread(from: f64, to: f64, unit: run::Unit) -> Vec<(f64, f64)> {
    if to <= from {
        return vec![(grid::floor(from, unit), 1.0)];
    }
    if from < 0.0 {
        // Negative values mirror the positive; what holds zero is cut there.
        let low = spread((-to).max(0.0), -from, unit);
        let below = (-from).min(to - from) / (to - from);
        let mut all: Vec<_> = low.into_iter().map(|(v, s)| (-v, s * below)).collect();
        if to > 0.0 {
            let above = spread(0.0, to, unit);
            all.extend(above.into_iter().map(|(v, s)| (v, s * (1.0 - below))));
        }
        return all;
    }
    let per_unit = match unit {
        run::Unit::Seconds => 1e9,
        _ => 1.0,
    };
    let (low, high) = (
        (from * per_unit).round() as u64,
        (to * per_unit).round() as u64,
    );
    let (first, last) = (
        grid::index(low),
        grid::index(high.saturating_sub(1).max(low)),
    );
    let width = high.saturating_sub(low).max(1) as f64;
    let cell = |i: u32| {
        let (a, b) = (grid::lower(i).max(low), grid::upper(i).min(high));
        (
            grid::lower(i) as f64 / per_unit,
            b.saturating_sub(a).max(1) as f64 / width,
        )
    };
    if first == last {
        return vec![(grid::lower(first) as f64 / per_unit, 1.0)];
    }
    (first..=last).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::Unit;

    #[test]
    fn a_wide_bucket_is_spread_and_stays_whole() {
        for (from, to, unit) in [
            (64e-6, 128e-6, Unit::Seconds),
            (0.0, 1.0, Unit::Count),
            (4096.0, 8192.0, Unit::Bytes),
            (100.0, 1000.0, Unit::Count),
            (-8.0, -4.0, Unit::Count),
            (-3.0, 5.0, Unit::Count),
            (1.0, 1.0, Unit::Count),
        ] {
            let cells = spread(from, to, unit);
            let whole: f64 = cells.iter().map(|c| c.1).sum();
            assert!((whole - 1.0).abs() < 1e-9, "{from} to {to}: {whole}");
            for (value, share) in cells {
                assert!(share > 0.0);
                let below = value >= grid::floor(from, unit) && (value < to || to <= from.max(0.0));
                assert!(below, "{value} in {from} to {to}");
            }
        }
        assert_eq!(spread(64e-6, 128e-6, Unit::Seconds).len(), 64);
    }

    fn rows(out: &mut Out, name: &str) -> Vec<(Nanos, f64, Vec<f64>)> {
        let rows = out.rows().rows(TableId::of(name));
        (0..rows.len())
            .map(|i| {
                let values = rows.values.iter().map(|v| v[i]).collect();
                (rows.times[i] / 1_000_000_000, rows.intervals[i], values)
            })
            .collect()
    }

    fn out(options: Options) -> Out {
        Out::new("test", options)
    }

    fn disk(out: &mut Out, ios: f64) {
        let words = [b"sda", &b"disk"[..], b"read"].map(|w| out.word(w));
        let values = [ios, ios * 512.0, f64::NAN, f64::NAN, f64::NAN];
        out.row(TableId::of("disk"), &words, &values);
    }

    #[test]
    fn rates_become_amounts_of_the_interval_between_stamps() {
        let mut out = out(Options::default());
        for (at, ios) in [(100, 3.0), (105, 4.0), (115, 5.0)] {
            out.sample_at(Stamp::Epoch(at * 1_000_000_000));
            disk(&mut out, ios);
        }
        out.end();
        assert!(out.refused().is_none());
        let found = rows(&mut out, "disk");
        let short: Vec<_> = found.iter().map(|(t, i, v)| (*t, *i, v[0])).collect();
        // The first is as long as the one after it.
        assert_eq!(
            short,
            [(100, 5.0, 15.0), (105, 5.0, 20.0), (115, 10.0, 50.0)]
        );
    }

    #[test]
    fn without_stamps_the_interval_must_be_told() {
        let mut untold = out(Options::default());
        untold.sample();
        disk(&mut untold, 1.0);
        untold.end();
        assert!(untold.refused().unwrap().0.contains("--every"));
        let mut told = out(Options {
            every: Some(2.0),
            start: Some(50_000_000_000),
            ..Options::default()
        });
        told.sample();
        told.since_boot();
        disk(&mut told, 9.0);
        told.sample();
        disk(&mut told, 1.0);
        told.end();
        let found = rows(&mut told, "disk");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0, found[0].1, found[0].2[0]), (52, 2.0, 2.0));
        let boot = rows(&mut told, "since_boot");
        assert_eq!(boot.len(), 2);
        assert_eq!((boot[0].0, boot[0].2[0]), (50, 9.0));
        let word = told.rows().rows(TableId::of("since_boot")).words[0][0];
        let text = told.words().text(word);
        assert_eq!(text, Some("disk.ios"));
    }

    #[test]
    fn samples_that_wait_keep_their_own_rows() {
        let mut out = out(Options::default());
        // Three at the same time: nobody knows their interval before the fourth.
        for (at, rows) in [(100, 2), (100, 1), (100, 3), (105, 1)] {
            out.sample_at(Stamp::Epoch(at * 1_000_000_000));
            for _ in 0..rows {
                disk(&mut out, f64::from(rows));
            }
        }
        out.end();
        let found = rows(&mut out, "disk");
        let short: Vec<_> = found.iter().map(|(t, i, v)| (*t, *i, v[0])).collect();
        let at = |t, n| (t, 5.0, f64::from(n) * 5.0);
        let wanted = [2, 2, 1, 3, 3, 3].map(|n| at(100, n));
        assert_eq!(short[..6], wanted);
        assert_eq!(short[6..], [at(105, 1)]);
    }

    /// What the user says of the interval gives way to the stamps, and tells a pause where they
    /// agree.
    #[test]
    fn stamps_go_before_what_the_user_says() {
        let lengths = |every: f64, stamps: &[i64]| {
            let mut out = out(Options {
                every: Some(every),
                ..Options::default()
            });
            for at in stamps {
                out.sample_at(Stamp::Epoch(at * 1_000_000_000));
                disk(&mut out, 1.0);
            }
            out.end();
            assert!(out.refused().is_none());
            let noted = out.notes().any(|n| n.contains("--every"));
            let found = rows(&mut out, "disk");
            (found.iter().map(|r| r.1).collect::<Vec<_>>(), noted)
        };
        assert_eq!(lengths(5.0, &[10, 20, 30]), (vec![10.0; 3], true));
        assert_eq!(lengths(10.0, &[10, 20, 300, 310]), (vec![10.0; 4], false));
        assert_eq!(lengths(5.0, &[10]), (vec![5.0], false));
    }

    /// Samples that wait for their interval are few, and reading goes on at the same pace.
    #[test]
    fn what_waits_is_bounded() {
        let mut out = out(Options::default());
        for _ in 0..MOST_HELD + 10 {
            out.sample_at(Stamp::Epoch(5));
            disk(&mut out, 1.0);
        }
        assert!(out.refused().is_some());
        assert!(out.now.rows(TableId::of("disk")).len() < 100);
    }

    #[test]
    fn a_pause_is_no_interval_where_its_length_is_told() {
        let mut out = out(Options::default());
        out.every(10.0);
        for at in [10, 20, 300, 310] {
            out.sample_at(Stamp::Epoch(at * 1_000_000_000));
            disk(&mut out, 1.0);
        }
        out.end();
        let lengths: Vec<_> = rows(&mut out, "disk").iter().map(|r| r.1).collect();
        assert_eq!(lengths, [10.0; 4]);
    }

    #[test]
    fn samples_wait_for_an_interval_together() {
        let mut out = out(Options::default());
        let mut put = |at: i64, boot: bool, ios| {
            out.sample_at(Stamp::Epoch(at * 1_000_000_000));
            if boot {
                out.since_boot();
            }
            disk(&mut out, ios);
        };
        // Two of one time, then one since boot, which has no length.
        put(100, false, 1.0);
        put(100, false, 2.0);
        put(100, true, 9.0);
        put(110, false, 3.0);
        out.end();
        assert!(out.refused().is_none());
        let found = rows(&mut out, "disk");
        let short: Vec<_> = found.iter().map(|(t, i, v)| (*t, *i, v[0])).collect();
        assert_eq!(
            short,
            [(100, 10.0, 10.0), (100, 10.0, 20.0), (110, 10.0, 30.0)]
        );
        assert_eq!(rows(&mut out, "since_boot").len(), 2);
    }

    #[test]
    fn amounts_stay_as_they_are() {
        let mut out = out(Options::default());
        let words = [b"t", &b"j"[..], b"read", b""].map(|w| out.word(w));
        let table = TableId::of("workload");
        out.sample_at(Stamp::Elapsed(30.0));
        out.spans(30.0);
        out.amounts(table, &words, &[300.0, 1.0, 1.0, 0.0]);
        out.row(table, &words, &[10.0, 1.0, 1.0, 0.0]);
        out.end();
        let found = rows(&mut out, "workload");
        assert_eq!(found[0].2[0], 300.0);
        assert_eq!(found[1].2[0], 300.0);
    }
}
