//! What Performance Co-Pilot's `pmrep`, `pmval` and `pmdumptext` print: tables with a column for
//! each instance of a metric.
//!
//! ```text
//! Time,"kernel.all.load-1 minute","disk.dev.read-sda"       pmrep -o csv: no units
//! [ 1] - disk.dev.read["sda"] - count/s                     pmrep -g -p
//!          1
//! 10:00:01    12.000
//! Time  h/kernel.all.load["1 minute"]  h/disk.dev.read["sda"]   pmdumptext -H, units below
//! ```
//!
//! `pmrep` alone shortens names (`d.d.read`) and cuts instances; so its columns are kept as
//! printed. Counters are per second but with `-r`, which the CSV does not tell: its columns are
//! kept as printed, too. Where names and units are whole, the catalog's tables are filled.

mod header;
mod numbers;
mod place;
mod pmval;
mod zone;

use std::collections::HashMap;

use jiff::civil::DateTime;

use crate::lines::{BLANKS_LOST, blanks_are_lost, rows_in};
use crate::list::Format;
use crate::number::number;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::{Line, Parser, fields};
use header::{
    Column, Short, are_labels, blanks_between, csv_header, date_with_year, nameless, numbered,
    once, separator, short_names, text_header, told_apart,
};
use zone::Zone;

pub(crate) const FORMAT: Format = Format {
    name: "pcp",
    tool: "pcp",
    systems: "any",
    help: "metrics of Performance Co-Pilot, as pmrep (also -o csv, -g), pmval and pmdumptext -H print them",
    recognised: "a header `Time,\"metric-instance\"`, `[ 1] - metric[\"instance\"]` or \
                 `Time host/metric[\"instance\"]`; shortened names as `k.a.load` over numbers",
    yields: &[
        "cpu",
        "cpu_idle",
        "disk",
        "disk_device",
        "net",
        "system",
        "interrupt",
        "memory",
        "memory_state",
    ],
    example: "\
[ 1] - kernel.all.load[\"1 minute\"] - none
[ 2] - disk.dev.read_bytes[\"sda\"] - Kbyte/s

                 1         2
10:00:01     1.990       N/A
10:00:02     1.950     4.000
",
    recognise,
    parser: || Box::new(Pcp::default()),
};

fn recognise(head: &Head) -> u8 {
    if is_archive(head.bytes()) {
        return 95;
    }
    if pmval::recognise(head) {
        return 85;
    }
    let of = |line: &[u8]| {
        let line = blanks_between(line, separator(line).unwrap_or(b'|'));
        let line = &*line;
        if csv_header(line).is_some() || numbered(line).is_some() || text_header(line).is_some() {
            85
        } else if short_names(line).is_some() {
            70
        } else if nameless(line) {
            40
        } else {
            0
        }
    };
    let best = head.lines().take(40).map(of).max().unwrap_or(0);
    // Nothing but numbers after times: all lines are so.
    let all = || {
        head.lines()
            .filter(|l| !l.is_empty())
            .take(20)
            .all(nameless)
    };
    if best == 40 && !all() { 0 } else { best }
}

/// The label that each file of an archive begins with: its length, and a magic number with the
/// version.
fn is_archive(bytes: &[u8]) -> bool {
    matches!(bytes.get(..8), Some([0, 0, _, _, 0x50, 0x05, 0x26, 1..=9]))
}

/// So many lines of a header may be missing, one below another.
const MOST_LOST: usize = 100;

#[derive(Default, PartialEq)]
enum Kind {
    #[default]
    Unknown,
    /// Fields between a character, of which so many come before the columns.
    Separated(char, usize),
    /// Fields at blanks; a time may come first.
    Blank,
}

#[derive(Default)]
struct Pcp {
    kind: Kind,
    columns: Vec<Column>,
    /// The header of numbers is not whole yet.
    numbering: bool,
    /// Lines since the header.
    since: u64,
    /// Where the shortened names end.
    ends: Vec<usize>,
    /// What `-l` puts between them.
    between: Option<u8>,
    /// Each instance has a row, and its name stands up to here (`-X`).
    across: Option<usize>,
    /// The time of such rows, and how often each name came there: cut names can be equal.
    came: (Option<Stamp>, HashMap<String, u32>),
    /// A row of numbers came.
    begun: bool,
    /// The first time without a year, and where that is not known.
    first: Option<DateTime>,
    lines: u64,
    zone: Zone,
    /// The metric that `pmval` tells of, and whether the line before is blank.
    metric: Option<Column>,
    blank: bool,
}

impl Pcp {
    /// So many lines of the header are missing, of which each names a column.
    fn lose(&mut self, count: usize) {
        let nameless = std::iter::repeat_with(Column::default);
        self.columns.extend(nameless.take(count));
    }

    fn header(&mut self, line: &[u8], out: &mut Out) -> bool {
        if let Some((before, between, columns)) = csv_header(line) {
            self.between = None;
            self.kind = Kind::Separated(between, before);
            self.columns = once(columns);
        } else if let Some((between, columns)) = text_header(line) {
            self.kind = Kind::Separated(between, 1);
            self.columns = once(columns);
        } else if let Some((place, column)) = numbered(line) {
            self.across = None;
            if place == 1 || !self.numbering {
                self.columns.clear();
            }
            self.numbering = true;
            self.kind = Kind::Blank;
            // What a line told that is lost is a column without a name.
            let lost = place.saturating_sub(self.columns.len() + 1);
            self.lose(lost.min(MOST_LOST));
            self.columns.push(column);
            self.columns = once(std::mem::take(&mut self.columns));
            self.ends.clear();
            return true;
        } else if let Some(Short { names, instance }) = short_names(line) {
            // The time's column is above nothing.
            if names.len() > 1 && blanks_are_lost(line) && !line.starts_with(b"  ") {
                out.refuse(Refused(BLANKS_LOST.into()));
            }
            self.kind = Kind::Blank;
            self.across = instance;
            self.ends = names.iter().map(|(_, end)| *end).collect();
            let column = |(metric, _)| Column {
                metric,
                ..Column::default()
            };
            self.columns = names.into_iter().map(column).collect();
            // Until instances stand below, which may be left out (`-I`), none is told.
            let none = vec![String::new(); self.columns.len()];
            self.name_instances(none);
        } else {
            return false;
        }
        self.numbering = false;
        self.since = 0;
        true
    }

    /// Lines between the names and the numbers: numbers of columns, instances, units.
    fn below_header(&mut self, line: &[u8], out: &mut Out) -> bool {
        if self.kind == Kind::Blank && line.first() == Some(&b' ') && are_labels(line) {
            return true;
        }
        self.since += 1;
        let text = String::from_utf8_lossy(line);
        let words: Vec<&str> = match self.kind {
            Kind::Separated(between, before) => text.split(between).skip(before).collect(),
            _ => text.split_ascii_whitespace().collect(),
        };
        if matches!(self.kind, Kind::Separated(..)) {
            // What scales the values, and their units.
            let scales = text.starts_with('?');
            // The place of the time may be empty.
            let units = text.starts_with(|c: char| c.is_alphabetic() || c == '\t');
            let first = text.split(['\t', ',', ';', '|']).next().unwrap_or_default();
            if scales {
                return true;
            }
            if units && self.stamp(first, out).is_none() {
                return self.units(&text);
            }
            return false;
        }
        if let Some((&"Units", units)) = words.split_first() {
            let fit = units.len() == self.columns.len();
            for (column, unit) in self.columns.iter_mut().zip(units).filter(|_| fit) {
                column.unit = Some((*unit).to_owned());
            }
            return fit;
        }
        if self.numbering || words.first() == Some(&"Column") {
            self.numbering = false;
            let numbers = words.iter().filter(|w| **w != "Column");
            let in_turn = numbers.zip(1_usize..).map(|(w, n)| w.parse() == Ok(n));
            let in_turn: Vec<bool> = in_turn.collect();
            let lost = in_turn.len().saturating_sub(self.columns.len());
            // The last lines of the header may be missing.
            if lost <= MOST_LOST && in_turn.iter().all(|is| *is) {
                self.lose(lost);
            }
            return in_turn.len() == self.columns.len();
        }
        if self.ends.is_empty() || self.since > 2 || line.first() != Some(&b' ') {
            return false;
        }
        self.under_short_names(line)
    }

    /// Units under the names of `pmdumptext`, in as many fields.
    fn units(&mut self, text: &str) -> bool {
        let Kind::Separated(between, _) = self.kind else {
            return false;
        };
        let units: Vec<&str> = text.split(between).collect();
        let units = match units.len().checked_sub(self.columns.len()) {
            Some(before @ 0..=1) => &units[before..],
            _ => return false,
        };
        for (column, unit) in self.columns.iter_mut().zip(units) {
            column.unit = Some((*unit).trim().to_owned());
        }
        true
    }

    /// Instances or units under shortened names, each within its column.
    fn under_short_names(&mut self, line: &[u8]) -> bool {
        let mut start = self.across.unwrap_or(0);
        let mut texts = Vec::new();
        for end in &self.ends {
            let text = line.get(start..(*end).min(line.len())).unwrap_or_default();
            texts.push(String::from_utf8_lossy(text).trim().to_owned());
            start = *end;
        }
        if texts
            .iter()
            .any(|t| number(t.as_bytes()).is_some() || t == "N/A")
        {
            return false;
        }
        let is_unit = |t: &String| !t.is_empty() && place::unit(t).is_some();
        if self.since == 2 || texts.iter().all(|t| t.is_empty() || is_unit(t)) {
            for (column, unit) in self.columns.iter_mut().zip(texts) {
                column.unit = Some(unit);
            }
            return true;
        }
        self.name_instances(texts);
        true
    }

    /// Instances of shortened names: those that are cut can be equal.
    fn name_instances(&mut self, texts: Vec<String>) {
        let mut came: HashMap<(String, String), u32> = HashMap::new();
        for (column, instance) in self.columns.iter_mut().zip(texts) {
            let key = (column.metric.clone(), instance.clone());
            column.instance = told_apart(instance, came.entry(key).or_default());
        }
    }
}

impl Parser for Pcp {
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let is_sample = self.kind == Kind::Blank && self.across.is_none() && !out.is_stamped();
        if is_sample && out.has_sample() && rows_in(line, self.columns.len()) > 0 {
            out.lost();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(between) = separator(line) {
            self.between = Some(between);
            // The place of a time is wider.
            if line.get(1) == Some(&between) {
                out.refuse(Refused(BLANKS_LOST.into()));
            }
        }
        let line = blanks_between(line, self.between.unwrap_or(b'|'));
        let line = &*line;
        self.lines += 1;
        if self.lines == 1 && memchr::memmem::find(line, b"P\x05&").is_some_and(|at| at < 8) {
            out.refuse(Refused(
                "it is a file of a PCP archive, which pmrep reads, and that is not installed\n\
                 hint: install pcp, or where it is: \
                 pmrep -a ARCHIVE -u -g -p -f '%Y-%m-%d %H:%M:%S' METRIC... > FILE"
                    .into(),
            ));
            return Line::Unknown;
        }
        let below_blank = std::mem::replace(&mut self.blank, line.trim_ascii().is_empty());
        if self.blank {
            return Line::Noise;
        }
        if pmval::tells(line, &mut self.metric) {
            return Line::Noise;
        }
        if self.header(line, out) {
            return Line::Noise;
        }
        let plain = line.trim_ascii_start();
        let plain = plain.strip_prefix(b"#").unwrap_or(plain).trim_ascii();
        let mut words = fields(plain);
        if let (Some(b"interval:"), Some(seconds)) = (words.next(), words.next())
            && let Some(seconds) = number(seconds)
        {
            out.every(seconds);
        }
        let told = [
            "archive:",
            "host:",
            "hosts:",
            "context:",
            "instances:",
            "Note:",
            "timezone:",
            "start:",
            "end:",
            "metrics:",
            "samples:",
            "interval:",
            "duration:",
        ];
        // `start: Fri May 17 10:00:00 2024`: times without a date are of that day.
        if let Some(start) = plain.strip_prefix(b"start:")
            && let Some(date) = date_with_year(start)
        {
            out.date(date);
            self.zone.starts(date);
        }
        if let Some(zone) = plain.strip_prefix(b"timezone:") {
            self.zone.tells(zone);
        }
        if plain.is_empty() || told.iter().any(|t| plain.starts_with(t.as_bytes())) {
            return Line::Noise;
        }
        if let Some(metric) = &self.metric {
            if below_blank {
                (self.kind, self.columns) = (Kind::Blank, pmval::columns(line, metric));
                return Line::Noise;
            }
            if line.ends_with(b"No values available") {
                out.sample_once(None);
                return Line::Noise;
            }
            if self.columns.is_empty() {
                (self.kind, self.columns) = (Kind::Blank, vec![metric.clone()]);
            }
            return self.row(line, out);
        }
        if self.columns.len() != 1
            && fields(plain).count() <= 3
            && let Some(time) = plain.strip_suffix(b"N/A")
            && let Some(stamp) = self.stamp(&String::from_utf8_lossy(time), out)
        {
            // Nothing could be read then, and the next interval starts there.
            out.sample_once(Some(stamp));
            return Line::Noise;
        }
        if self.kind == Kind::Unknown {
            if nameless(line) {
                out.refuse(Refused(
                    "the columns have no names\nhint: pmdumptext -H prints names and units".into(),
                ));
            }
            return Line::Unknown;
        }
        if self.below_header(line, out) {
            return Line::Noise;
        }
        self.row(line, out)
    }

    /// Above a header there are no numbers to take, and a file of an archive has no lines.
    fn sees_cut(&self, _line: &[u8]) -> bool {
        self.kind == Kind::Unknown && self.metric.is_none()
    }
}
