//! Files that tell of the same thing at the same time: what of each is taken.

use std::collections::HashSet;

use run::catalog::Detail;
use run::rows::TableId;
use run::{Nanos, Rows, Table, Word, Words, catalog};

use super::files::Looked;

/// A table that any number of files can fill: counts of two are those of both together.
const SHARED: &str = "distribution";

/// What stood in counters at a moment, and the means since the machine was started.
const SINCE_BOOT: &str = "since_boot";

/// A file that has no row for so many intervals tells nothing meanwhile; where what is nothing has no row,
/// for so many.
const PAUSE: f64 = 3.0;
const LONG_PAUSE: f64 = 100.0;

/// fio's log of what a job read and wrote.
const BANDWIDTH: &str = "fio-bw-log";

/// More pauses than that are not looked at one by one.
const MOST_PAUSES: usize = 256;

/// Files that tell more of a table than another at the same time.
#[derive(Default)]
pub(super) struct Better {
    /// The first of them.
    name: String,
    /// It tells more of what was done.
    has_more: bool,
    /// When one of the two was, no text tells.
    is_placed: bool,
    /// Both are what one tool's counters were at a moment.
    are_readings: bool,
    /// What each of them tells.
    others: Vec<Telling>,
    /// Rows of the other that are of those times.
    left_out: u64,
    /// When those rows begin and end.
    span: Option<(Nanos, Nanos)>,
}

/// What a file tells of a table.
struct Telling {
    /// From when to when.
    spans: Vec<(Nanos, Nanos)>,
    /// Of what, where others may have much that it does not; else of all.
    names: Option<HashSet<Vec<String>>>,
}

impl Telling {
    /// Whether it tells of a row of that time and, where that counts, of that name.
    fn tells(&self, (from, to): (Nanos, Nanos), name: impl FnOnce() -> Vec<String>) -> bool {
        // What is of a moment is told where that lies in between.
        let is_told = |(first, last): &(Nanos, Nanos)| {
            from < *last && *first < to || from == to && (*first..=*last).contains(&to)
        };
        let named = |names: &HashSet<Vec<String>>| names.contains(&name());
        self.spans.iter().any(is_told) && self.names.as_ref().is_none_or(named)
    }
}

/// Without fio's logs of what all jobs did (`--bandwidth-log`) where those of jobs are: together they
/// would be twice as much.
pub(super) fn without_sums(looked: &mut Vec<Looked<'_>>) {
    let is_sum = |name: &str| {
        let file = name.rsplit(['/', ':']).next().unwrap_or_default();
        ["read", "write", "trim"]
            .iter()
            .any(|op| file.starts_with(&format!("agg-{op}_bw.log")))
    };
    let is_of_jobs = |f: &Looked<'_>| f.format.name() == BANDWIDTH && !is_sum(f.name());
    if !looked.iter().any(is_of_jobs) {
        return;
    }
    let is_of_all = |f: &Looked<'_>| f.format.name() == BANDWIDTH && is_sum(f.name());
    let sums: Vec<String> = looked
        .extract_if(.., |f| is_of_all(f))
        .map(|f| f.name().to_owned())
        .collect();
    if let Some(of_jobs) = looked.iter_mut().find(|f| is_of_jobs(f)) {
        let note =
            |name| format!("{name} has the sum of all jobs, whose own logs count: it is left out");
        of_jobs.report.notes.extend(sums.iter().map(note));
    }
}

/// When a row's interval begins and ends.
fn span_of(time: Nanos, length: f64) -> (Nanos, Nanos) {
    (time.saturating_sub((length * 1e9).round() as Nanos), time)
}

/// The same of one of a table's rows; that of an event is its moment.
fn row_span(rows: &Rows, row: usize) -> (Nanos, Nanos) {
    let length = rows.intervals.get(row).copied().unwrap_or(0.0);
    span_of(rows.times[row], length)
}

/// The time that two have together with what is between.
fn joined(a: Option<(Nanos, Nanos)>, b: (Nanos, Nanos)) -> (Nanos, Nanos) {
    a.map_or(b, |a| (a.0.min(b.0), a.1.max(b.1)))
}

/// What is left of a time without the others.
fn less(span: (Nanos, Nanos), others: &[(Nanos, Nanos)]) -> Vec<(Nanos, Nanos)> {
    let mut left = vec![span];
    for (first, last) in others {
        let parts = |(from, to): (Nanos, Nanos)| {
            let before = (from, to.min(*first));
            let after = (from.max(*last), to);
            [before, after].into_iter().filter(|(a, b)| a < b)
        };
        left = left.into_iter().flat_map(parts).collect();
    }
    left
}

impl Better {
    /// Removes the rows of times of which the others tell.
    pub(super) fn leave_out(&mut self, rows: &mut Rows, words: &Words) {
        let name = |row: usize| -> Vec<String> {
            let text = |column: &Vec<Word>| words.text(column[row]).unwrap_or_default().to_owned();
            rows.words.iter().map(text).collect()
        };
        let is_lost = |row: usize| {
            let span = row_span(rows, row);
            self.others
                .iter()
                .any(|other| other.tells(span, || name(row)))
        };
        let lost: Vec<bool> = (0..rows.len()).map(is_lost).collect();
        for row in (0..rows.len()).filter(|row| lost[*row]) {
            self.span = Some(joined(self.span, row_span(rows, row)));
        }
        self.left_out += rows.retain(|row| !lost[row]) as u64;
    }

    fn is_whole(&self, rows: u64) -> bool {
        self.span.is_some() && self.left_out == rows
    }

    /// What is told of a table of so many rows of which some are left out.
    fn partly(&self, table: &str, rows: u64) -> Option<String> {
        let (from, to) = self.span?;
        let Better { name, left_out, .. } = self;
        // To the second, as texts tell them.
        let text = |at: Nanos| run::manifest::rfc3339(at).replace(".000000000", "");
        let [from, to] = [from, to].map(text);
        Some(format!(
            "{left_out} of its {rows} rows of `{table}` are left out, those from {from} to \
             {to}: {name} tells the same time; the others are kept"
        ))
    }
}

/// What is told of the tables of a file, by name and how many rows it has of each: those that one
/// other file tells in whole are named together.
pub(super) fn notes(tables: &[(&str, u64, &Better)]) -> Vec<String> {
    let mut wholly: Vec<(&Better, Vec<String>)> = Vec::new();
    let mut notes = Vec::new();
    for (table, rows, better) in tables {
        if !better.is_whole(*rows) {
            notes.extend(better.partly(table, *rows));
            continue;
        }
        let what = |b: &Better| (b.name.clone(), b.has_more, b.is_placed, b.are_readings);
        let alike = |other: &Better| what(other) == what(better);
        let table = format!("`{table}`");
        match wholly.iter_mut().find(|(other, _)| alike(other)) {
            Some((_, named)) => named.push(table),
            None => wholly.push((better, vec![table])),
        }
    }
    notes.extend(wholly.into_iter().map(|(better, named)| {
        let how = if better.has_more {
            "with more measures"
        } else {
            "in as many rows or more"
        };
        let (named, name) = (named.join(", "), &better.name);
        if better.are_readings {
            format!(
                "its rows of {named} are left out: {name} has such of the same time; if they were read one \
                 after the other, what grew is told by both as one text: cat FIRST SECOND | sonde import - \
                 --every LENGTH"
            )
        } else if better.is_placed {
            format!(
                "its rows of {named} are left out: {name} has such, too, and which came first no text \
                 tells; import each by itself to have both"
            )
        } else {
            format!("its rows of {named} are left out: {name} tells the same time {how}")
        }
    }));
    notes
}

/// What a file has of a table.
#[derive(Default)]
pub(super) struct Filled {
    pub(super) rows: u64,
    /// When they begin and end, but for pauses.
    spans: Vec<(Nanos, Nanos)>,
    /// The words of each row; none are kept of events.
    instances: HashSet<Vec<Word>>,
    /// The same as texts, when all are known.
    names: HashSet<Vec<String>>,
    /// Which values any row tells, by their place.
    told: Vec<bool>,
}

impl Filled {
    pub(super) fn add(&mut self, found: &Rows) {
        self.rows += found.len() as u64;
        let is_of_events = found.table.detail == Detail::Event;
        let pause = match found.table.sparse {
            _ if is_of_events => f64::INFINITY,
            true => LONG_PAUSE,
            false => PAUSE,
        };
        for row in 0..found.len() {
            self.tells_of(row_span(found, row), pause);
        }
        self.told.resize(found.values.len(), false);
        for (told, column) in self.told.iter_mut().zip(&found.values) {
            *told |= column.iter().any(|value| !value.is_nan());
        }
        if is_of_events {
            return;
        }
        for row in 0..found.len() {
            let words: Vec<Word> = found.words.iter().map(|column| column[row]).collect();
            self.instances.insert(words);
        }
    }

    /// A row is of that time; what is more than so many of its intervals later is behind a pause.
    fn tells_of(&mut self, span: (Nanos, Nanos), pause: f64) {
        let most = (span.1.saturating_sub(span.0) as f64 * pause).min(i64::MAX as f64) as Nanos;
        let last = self.spans.last_mut();
        let is_near = |last: &&mut (Nanos, Nanos)| {
            span.0 <= last.1.saturating_add(most) && last.0 <= span.1.saturating_add(most)
        };
        match last.filter(is_near) {
            Some(last) => *last = joined(Some(*last), span),
            None => self.spans.push(span),
        }
        if self.spans.len() > MOST_PAUSES {
            let whole = self
                .spans
                .drain(..)
                .fold(None, |all, span| Some(joined(all, span)));
            self.spans.extend(whole);
        }
    }

    /// How many rows a second of the time that it tells of: those of about as many are alike.
    fn density(&self) -> i64 {
        let length = |(from, to): &(Nanos, Nanos)| to.saturating_sub(*from) as f64 / 1e9;
        let seconds: f64 = self.spans.iter().map(length).sum();
        (2.0 * (self.rows as f64 / seconds.max(1e-3)).ln()).round() as i64
    }

    /// Whether both have as many rows, of the same things.
    pub(super) fn is_of_same(&self, other: &Filled) -> bool {
        self.rows == other.rows && self.names == other.names
    }

    /// How many values it tells.
    fn measures(&self) -> usize {
        self.told.iter().filter(|told| **told).count()
    }

    /// Whether both tell one of the values.
    fn shares_measure(&self, other: &Filled) -> bool {
        self.told.iter().zip(&other.told).any(|(a, b)| *a && *b)
    }

    pub(super) fn name(&mut self, words: &Words) {
        let text = |w: &Word| words.text(*w).unwrap_or_default().to_owned();
        let instances = std::mem::take(&mut self.instances);
        self.names = instances
            .iter()
            .map(|i| i.iter().map(text).collect())
            .collect();
    }
}

/// Where files tell of the same thing at the same time, the one that has most rows a second of it counts,
/// of those first whose times are in the text; what
/// the others have before it and after it stays. Of a benchmark's work that is the one with most
/// measures: results are exact and have all, logs beside them have means of one.
pub(super) fn choose(looked: &mut [Looked<'_>]) {
    for (place, (_, table)) in catalog::tables().enumerate() {
        if table.name == SHARED {
            continue;
        }
        let id = TableId(place as u16);
        let rows = |f: &Looked<'_>| f.rows.get(&id).map_or(0, |filled| filled.rows);
        let mut having: Vec<usize> = (0..looked.len())
            .filter(|i| rows(&looked[*i]) > 0)
            .collect();
        let measures = |f: &Looked<'_>| match table.dimensions.first() {
            Some(&"tool") => f.rows.get(&id).map_or(0, Filled::measures),
            _ => 0,
        };
        let density = |f: &Looked<'_>| f.rows.get(&id).map_or(0, Filled::density);
        let most = |f: &Looked<'_>| (measures(f), !f.is_placed(), density(f), rows(f));
        having.sort_by_key(|i| std::cmp::Reverse(most(&looked[*i])));
        // Files that count, and when.
        let mut telling: Vec<(usize, Vec<(Nanos, Nanos)>)> = Vec::new();
        for file in having {
            let same = |k: usize| same(&looked[k], &looked[file], id, table);
            let mut better = Better::default();
            for (other, spans) in telling.iter().filter(|(k, _)| same(*k)) {
                let (best, own) = (&looked[*other], &looked[file]);
                if better.others.is_empty() && !spans.is_empty() {
                    better.name = best.full_name();
                    better.has_more = measures(best) > measures(own);
                    let are_of_one = best.format.name() == own.format.name();
                    better.is_placed = are_of_one && (best.is_placed() || own.is_placed());
                    better.are_readings = better.is_placed && table.name == SINCE_BOOT;
                }
                let names = best.rows.get(&id).map(|filled| filled.names.clone());
                better.others.push(Telling {
                    spans: spans.clone(),
                    names: names.filter(|_| is_by_name(table)),
                });
            }
            better.others.retain(|other| !other.spans.is_empty());
            let own = looked[file]
                .rows
                .get(&id)
                .map_or(&[][..], |filled| &filled.spans);
            let told: Vec<(Nanos, Nanos)> =
                better.others.iter().flat_map(|o| o.spans.clone()).collect();
            let own = if is_by_name(table) {
                // What else it has counts.
                own.to_vec()
            } else {
                own.iter().flat_map(|own| less(*own, &told)).collect()
            };
            telling.push((file, own));
            if !better.others.is_empty() {
                looked[file].without.insert(id, better);
            }
        }
    }
}

/// Whether a table has what tools print, each by its name: a file may have some that others lack.
fn is_by_name(table: &Table) -> bool {
    ["other", SINCE_BOOT].contains(&table.name)
}

/// Whether two files tell of the same: files of one format do if they share an instance (a job,
/// a device), those of several formats if they are not of tools that the table keeps apart.
fn same(a: &Looked<'_>, b: &Looked<'_>, id: TableId, table: &Table) -> bool {
    let (Some(of_a), Some(of_b)) = (a.rows.get(&id), b.rows.get(&id)) else {
        return false;
    };
    // Reports since boot are of no interval, and what has no others spans none.
    let are_at_once = table.name == SINCE_BOOT || overlap(a, b);
    if !are_at_once || !of_a.shares_measure(of_b) {
        return false;
    }
    if a.format.name() == b.format.name() || is_by_name(table) {
        return !of_a.names.is_disjoint(&of_b.names);
    }
    if table.dimensions.get(1) == Some(&"layer") {
        return share_devices(&of_a.names, &of_b.names);
    }
    let by_tool = table.dimensions.first() == Some(&"tool");
    !(by_tool && a.format.tool() != b.format.tool())
}

/// Whether rows of two formats are of the same devices. They name disks in several ways; what is
/// made of others (pools) is not counted beside them, and is only the same under the same name.
fn share_devices(a: &HashSet<Vec<String>>, b: &HashSet<Vec<String>>) -> bool {
    let devices = |names: &HashSet<Vec<String>>| -> HashSet<[String; 2]> {
        let pair = |words: &Vec<String>| Some([words.first()?.clone(), words.get(1)?.clone()]);
        names.iter().filter_map(pair).collect()
    };
    let (a, b) = (devices(a), devices(b));
    let same_layer =
        |[_, layer]: &[String; 2]| layer != "stacked" && b.iter().any(|[_, other]| other == layer);
    a.iter()
        .any(|device| b.contains(device) || same_layer(device))
}

fn overlap(a: &Looked<'_>, b: &Looked<'_>) -> bool {
    match (a.report.span, b.report.span) {
        (Some((from, to)), Some((other_from, other_to))) => from < other_to && other_from < to,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::less;

    #[test]
    fn times_without_those_of_others() {
        assert_eq!(less((0, 10), &[]), [(0, 10)]);
        assert_eq!(less((0, 10), &[(3, 5)]), [(0, 3), (5, 10)]);
        assert_eq!(less((0, 10), &[(0, 4), (8, 20)]), [(4, 8)]);
        assert_eq!(less((0, 10), &[(12, 20)]), [(0, 10)]);
        assert_eq!(less((2, 8), &[(0, 10)]), []);
    }
}
