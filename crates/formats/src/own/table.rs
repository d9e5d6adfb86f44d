//! Reads a described table.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use run::Word;

use super::column::{Meant, Role, Value};
use super::field::{is_closed, is_missing, split_quoted};
use super::rounds::Rounds;
use super::when::{self, When, is_before};
use super::{Begins, Separator, Table};
use crate::counters::Counters;
use crate::out::{Out, Start};
use crate::time::{Refused, Stamp};
use crate::{Line, Parser};

/// What a column of the text is.
pub(super) enum Use {
    /// The described one of that place.
    Described(usize),
    /// Not described: kept under its name.
    Other(String),
}

/// Reads one file.
pub(super) struct Reader {
    pub(super) table: Arc<Table>,
    /// The columns of the text; none before the header.
    pub(super) layout: Option<Vec<Use>>,
    lines: u64,
    /// Instances of the present sample.
    seen: HashSet<Vec<u8>>,
    stamp: Option<Stamp>,
    /// The last time of each instance.
    reached: HashMap<Vec<u8>, Stamp>,
    rounds: Rounds,
    /// Samples so far.
    pub(super) begun: u64,
    /// By group of columns and words: the sample and the instance that had them last.
    pub(super) told: HashMap<(usize, Vec<Word>), (u64, Vec<u8>)>,
    /// Its rows are sorted by instance.
    pub(super) by_instance: bool,
    /// A cell that is no number was told.
    told_number: bool,
    /// The first cell that is no time.
    no_time: Option<String>,
    /// The next line with numbers begins a sample.
    fresh: bool,
    pub(super) counters: Counters,
    /// The header that came nearest.
    nearest: Option<Nearest>,
}

/// A line that is no header, though it has names of columns.
struct Nearest {
    /// How many described columns it lacks, and their names.
    missing: usize,
    names: String,
    /// What stands before the first of its names, which is the one that it lacks.
    comment: Option<String>,
}

/// A line of numbers, read and not yet put anywhere.
pub(super) struct Row<'a> {
    pub(super) fields: Vec<Cow<'a, [u8]>>,
    /// By described column: its field.
    at: Vec<Option<usize>>,
    /// By described column: its number in base units; NaN: none.
    pub(super) numbers: Vec<f64>,
    /// Described columns whose cells tell the unit, which they themselves do not.
    units: Vec<(usize, String)>,
    /// One of them is none: which field.
    lost: Option<usize>,
}

impl Row<'_> {
    pub(super) fn text(&self, column: usize) -> &[u8] {
        let field = self.at.get(column).copied().flatten();
        field.map_or(&[][..], |f| self.fields[f].as_ref())
    }

    /// The unit of a described column without a measure.
    pub(super) fn unit<'a>(&'a self, column: usize, said: &'a str) -> &'a str {
        let told = self.units.iter().find(|(at, _)| *at == column);
        told.map_or(said, |(_, unit)| unit)
    }
}

impl Reader {
    pub(super) fn new(table: Arc<Table>) -> Reader {
        let listed = table.listed.clone();
        let mut reader = Reader {
            table,
            layout: None,
            lines: 0,
            seen: HashSet::new(),
            stamp: None,
            reached: HashMap::new(),
            rounds: Rounds::default(),
            begun: 0,
            told: HashMap::new(),
            by_instance: false,
            told_number: false,
            no_time: None,
            fresh: true,
            counters: Counters::default(),
            nearest: None,
        };
        if let Some(names) = listed {
            let names = names.iter().map(|n| Cow::Borrowed(n.as_bytes()));
            let names: Vec<_> = names.collect();
            reader.layout = Some(reader.columns_of(&names));
        }
        reader
    }

    fn columns_of(&self, names: &[Cow<[u8]>]) -> Vec<Use> {
        let mut uses: Vec<Use> = Vec::new();
        let mut came: HashMap<&[u8], u64> = HashMap::new();
        for name in names {
            let text = String::from_utf8_lossy(name);
            // A name that comes again is another column.
            let before = came.entry(name).and_modify(|n| *n += 1).or_insert(1);
            let text = match before {
                1 => text.into_owned(),
                n => format!("{text}#{n}"),
            };
            let described = self.table.columns.iter().position(|c| c.name == text);
            uses.push(described.map_or(Use::Other(text), Use::Described));
        }
        uses
    }

    /// The line's columns, if it is a header.
    fn header(&mut self, fields: &[Cow<[u8]>]) -> Option<Vec<Use>> {
        if let Some(listed) = &self.table.listed {
            let same = listed.len() == fields.len()
                && listed.iter().zip(fields).all(|(a, b)| a.as_bytes() == &**b);
            return same.then(|| self.columns_of(fields));
        }
        if self.layout.is_some()
            && let Some(first) = self.table.columns.first()
            && !fields.iter().any(|f| f.as_ref() == first.name.as_bytes())
            && !first.name.contains('#')
        {
            return None;
        }
        let uses = self.columns_of(fields);
        let has = |at: usize| {
            uses.iter()
                .any(|u| matches!(u, Use::Described(d) if *d == at))
        };
        let columns = self.table.columns.iter().enumerate();
        let missing = columns.filter(|(at, _)| !has(*at)).map(|(_, c)| &*c.name);
        let missing: Vec<&str> = missing.collect();
        if missing.is_empty() {
            return Some(uses);
        }
        if self.layout.is_none()
            && self
                .nearest
                .as_ref()
                .is_none_or(|n| missing.len() < n.missing)
        {
            let first = fields.first().map(|f| String::from_utf8_lossy(f));
            let comment = first.as_ref().and_then(|f| match missing[..] {
                [name] => f.strip_suffix(name),
                _ => None,
            });
            self.nearest = Some(Nearest {
                missing: missing.len(),
                names: missing.join(", "),
                comment: comment.map(str::to_owned),
            });
        }
        None
    }

    fn split<'a>(&self, line: &'a [u8]) -> Option<Vec<Cow<'a, [u8]>>> {
        match &self.table.separator {
            Separator::Blank => Some(crate::fields(line).map(Cow::Borrowed).collect()),
            Separator::Text(separator) => split_quoted(line, separator.as_bytes()),
        }
    }

    fn row<'a>(&self, mut fields: Vec<Cow<'a, [u8]>>) -> Option<Row<'a>> {
        let layout = self.layout.as_ref()?;
        if is_closed(&fields, layout.len()) {
            fields.pop();
        }
        if fields.len() != layout.len() {
            return None;
        }
        let mut at = vec![None; self.table.columns.len()];
        let mut numbers = vec![f64::NAN; self.table.columns.len()];
        let mut units = Vec::new();
        let mut lost = None;
        for (field, used) in layout.iter().enumerate() {
            let Use::Described(column) = used else {
                continue;
            };
            at[*column] = Some(field);
            if let Role::Value(value) = &self.table.columns[*column].role
                && !is_missing(&fields[field])
            {
                match self.table.cell(&fields[field], value) {
                    Some((number, unit)) => {
                        numbers[*column] = number;
                        units.extend(unit.map(|unit| (*column, unit)));
                    }
                    None => lost = lost.or(Some(field)),
                }
            }
        }
        // Means become sums, when both are known.
        let means: Vec<(usize, f64)> = self
            .values()
            .filter_map(|(at, v)| Some((at, sum_of_mean(numbers[at], numbers[v.times_at?]))))
            .collect();
        for (at, product) in means {
            numbers[at] = product;
        }
        Some(Row {
            fields,
            at,
            numbers,
            units,
            lost,
        })
    }

    pub(super) fn values(&self) -> impl Iterator<Item = (usize, &Value)> {
        let columns = self.table.columns.iter().enumerate();
        columns.filter_map(|(at, c)| match &c.role {
            Role::Value(value) => Some((at, value)),
            _ => None,
        })
    }

    /// The names of a row, side by side: what makes its instance.
    fn instance(&self, row: &Row) -> Vec<u8> {
        let columns = self.table.columns.iter().enumerate();
        let is = columns.filter(|(_, c)| matches!(c.role, Role::Is(_)));
        let names: Vec<&[u8]> = is.map(|(at, _)| row.text(at)).collect();
        names.join(&b' ')
    }

    /// When the row was taken; what stands there if it is no time.
    fn stamp_of(&self, row: &Row) -> Result<Option<Stamp>, String> {
        let columns = self.table.columns.iter().enumerate();
        let mut whens: Vec<(usize, &When)> = columns
            .filter_map(|(at, c)| match &c.role {
                Role::Time(when) => Some((row.at[at]?, when)),
                _ => None,
            })
            .collect();
        whens.sort_by_key(|(field, _)| *field);
        let stamp = match &whens[..] {
            [] => return Ok(None),
            [(field, when)] => when.stamp(row.fields[*field].trim_ascii()),
            several => {
                let texts = several.iter().map(|(f, _)| row.fields[*f].trim_ascii());
                let texts: Vec<&[u8]> = texts.collect();
                let patterns = several.iter().filter_map(|(_, w)| match w {
                    When::Pattern(pattern) => Some(&**pattern),
                    _ => None,
                });
                let patterns: Vec<&str> = patterns.collect();
                When::Pattern(patterns.join(" ")).stamp(&texts.join(&b' '))
            }
        };
        stamp.map(Some).ok_or_else(|| {
            let texts = whens.iter().map(|(f, _)| &*row.fields[*f]);
            let texts: Vec<&[u8]> = texts.collect();
            String::from_utf8_lossy(&texts.join(&b' ')).into_owned()
        })
    }

    /// Begins a sample if the row is of the next one; whether it may be put there.
    fn begin(&mut self, row: &Row, instance: &[u8], out: &mut Out) -> bool {
        let stamp = match self.stamp_of(row) {
            Ok(stamp) => stamp,
            Err(cell) => {
                let line = out.line_number();
                self.no_time.get_or_insert_with(|| {
                    format!("line {line} has {cell:?} where the description has a time")
                });
                return false;
            }
        };
        let told = |reached: &Stamp| stamp.is_some_and(|stamp| !is_before(*reached, stamp));
        if self.by_instance && self.reached.get(instance).is_some_and(told) {
            return false;
        }
        let again = self.seen.contains(instance);
        let next = match (stamp, self.table.begins) {
            (Some(stamp), _) => self.stamp != Some(stamp),
            (None, Begins::Instance) => again,
            (None, Begins::Line) => true,
            (None, Begins::Blank | Begins::Header) => self.fresh,
        };
        if next || !out.has_sample() {
            let another = self.begins_another(stamp, instance, out);
            self.stamp = stamp;
            self.begun += 1;
            self.seen.clear();
            if self.values().any(|(_, v)| v.meant == Meant::Counter) {
                out.counts();
            }
            if self.by_instance {
                out.sample_told(stamp);
            } else {
                out.sample_once(stamp);
            }
            let start = match out.sample_time() {
                Some(now) if !self.by_instance => self.rounds.start(instance, now),
                _ => Start::Above,
            };
            out.starts(start);
            let only_counters = self.values().all(|(_, v)| v.meant == Meant::Counter);
            let is_first = out.samples() == 1 || another || start == Start::Unknown;
            if is_first && (self.table.since_boot || only_counters) {
                out.since_boot();
            }
        } else if again {
            // Twice the same in one sample: nobody knows which of them holds.
            return false;
        } else if let Some(now) = out.sample_time() {
            self.rounds.reached(instance, now);
        }
        self.fresh = false;
        if row.lost.is_none() {
            self.seen.insert(instance.to_vec());
            if let Some(stamp) = stamp {
                match self.reached.get_mut(instance) {
                    Some(reached) => *reached = stamp,
                    None => drop(self.reached.insert(instance.to_vec(), stamp)),
                }
            }
        }
        true
    }

    /// Whether the times of another instance begin, in a table that has all rows of one before
    /// those of the next. (Rows of an instance whose times were told already are told twice.)
    fn begins_another(&mut self, stamp: Option<Stamp>, instance: &[u8], out: &mut Out) -> bool {
        let (Some(stamp), Some(before)) = (stamp, self.stamp) else {
            return false;
        };
        // Times of day that go back may be those of the next day.
        if let (Stamp::Clock(now), Stamp::Clock(then)) = (stamp, before)
            && now < then
            && self.begun > 1
            && self.reached.len() == 1
            && !self.reached.contains_key(instance)
        {
            out.refuse(Refused(
                "its rows are sorted by the names in them, as it seems, and its times have no \
                 date: those of the second name may be of the same day or of the next\n\
                 hint: sort its rows by time"
                    .into(),
            ));
        }
        let goes_back = is_before(stamp, before);
        let is_new = |reached: &Stamp| is_before(*reached, stamp);
        let another = goes_back && self.reached.get(instance).is_none_or(is_new);
        if another && !self.by_instance {
            self.by_instance = true;
            out.note("its rows are not sorted by time, but by the names in them: none is left out");
        }
        another
    }

    /// A row of which a number is not understood: its time is the end of an interval all the same,
    /// so that the next one's does not begin before it. What counters grew by is of both.
    fn lose(&mut self, row: &Row, field: usize, out: &mut Out) {
        let is_counter = self.values().any(|(_, v)| v.meant == Meant::Counter);
        if !is_counter && let Ok(Some(_)) = self.stamp_of(row) {
            let instance = self.instance(row);
            if self.begin(row, &instance, out) {
                out.gap();
            }
        }
        let cell = String::from_utf8_lossy(&row.fields[field]).into_owned();
        let line = out.line_number();
        let name = self.layout.as_ref().and_then(|l| match l.get(field)? {
            Use::Described(at) => Some(&self.table.columns[*at].name),
            Use::Other(name) => Some(name),
        });
        if let Some(name) = name {
            out.fault(&format!("{name} of"), cell.as_bytes());
        }
        if let Some(name) = name.filter(|_| !std::mem::replace(&mut self.told_number, true)) {
            out.note(&format!(
                "line {line} has {cell:?} in the column {name}, which is no number: such rows are \
                 not understood"
            ));
        }
    }

    fn fresh_if(&mut self, begins: Begins) {
        self.fresh |= self.table.begins == begins;
    }
}

/// Nothing took no time, whatever is printed for the mean of nothing.
pub(super) fn sum_of_mean(mean: f64, count: f64) -> f64 {
    if count == 0.0 { 0.0 } else { mean * count }
}

impl Parser for Reader {
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let alone = match self.table.begins {
            Begins::Line => true,
            // One instance, which comes again with each line.
            Begins::Instance => self.seen.len() <= 1 && out.samples() > 1,
            Begins::Blank | Begins::Header => false,
        };
        let counters = self.values().any(|(_, v)| v.meant == Meant::Counter);
        if !alone || counters || out.is_stamped() || !out.has_sample() {
            return;
        }
        if crate::lines::rows_in(line, self.values().count()) > 0 {
            out.lost();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        self.lines += 1;
        if self.lines == 1
            && let Some(every) = self.table.every
            // The description is the user's as well: it is for files of which --every says nothing.
            && out.options().every.is_none()
        {
            out.every(every);
        }
        if self.lines <= self.table.skip {
            return Line::Noise;
        }
        if line.trim_ascii().is_empty() {
            self.fresh_if(Begins::Blank);
            return Line::Noise;
        }
        let comment = self.table.comment.as_ref();
        let after = comment.and_then(|c| line.trim_ascii_start().strip_prefix(c.as_bytes()));
        let Some(fields) = self.split(after.unwrap_or(line)) else {
            return if after.is_some() {
                Line::Noise
            } else {
                Line::Unknown
            };
        };
        if let Some(uses) = self.header(&fields) {
            self.layout = Some(uses);
            self.fresh_if(Begins::Header);
            return Line::Noise;
        }
        if after.is_some() {
            return Line::Noise;
        }
        let columns = self.layout.as_ref().map_or(0, Vec::len);
        if out.is_endless() && !is_closed(&fields, columns) {
            return Line::Unknown;
        }
        let Some(row) = self.row(fields) else {
            return Line::Unknown;
        };
        if let Some(field) = row.lost {
            self.lose(&row, field, out);
            return Line::Unknown;
        }
        let instance = self.instance(&row);
        if !self.begin(&row, &instance, out) {
            return Line::Unknown;
        }
        self.put(&row, &instance, out);
        Line::Data
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        if let Some(why) = self.no_time.take() {
            if out.samples() == 0 {
                out.refuse(Refused(format!(
                    "none of its times can be read: {why}\nhint: the column's `time` says how they \
                     are written: {}",
                    when::ALLOWED
                )));
            } else {
                out.note(&format!(
                    "{why}, which is none: such rows are not understood"
                ));
            }
        }
        if self.layout.is_some() {
            return;
        }
        let nearest = self.nearest.as_ref();
        let missing = nearest.map_or("", |n| &n.names);
        let hint = match nearest.and_then(|n| n.comment.as_ref()) {
            Some(before) => format!("it begins with {before:?}: say `comment = {before:?}`"),
            None => "`columns = [...]` names them where there is no header".into(),
        };
        out.refuse(Refused(format!(
            "no line of it is a header with all described columns; the nearest lacks: {missing}\n\
             hint: {hint}"
        )));
    }
}
