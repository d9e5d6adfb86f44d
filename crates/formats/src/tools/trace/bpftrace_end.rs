//! What bpftrace prints when it ends: all maps that are not empty, below two blank lines, also those that
//! a report had and those that none had.
//!
//! ```text
//! 10:00:03
//! @us:
//! [8, 16)               12 |@@@@@@@@@@|
//!                                         the histogram's own blank line, and two
//!
//!
//! @total: 200                             counted since the trace began
//! ```
//!
//! That they are those is known where the text ends, or another trace begins: below a time they are of the
//! next report.

use super::blanks::Spacing;
use super::bpftrace::Bpftrace;
use super::buckets::Bucket;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Stamp;

/// So many blank lines stand above them at least.
const BLANK_LINES: usize = 2;

/// What a map had.
pub(super) enum Held {
    Histogram(Vec<Bucket>),
    Numbers(Vec<(String, f64)>),
}

impl Held {
    /// Whether nothing was counted since the map was cleared.
    pub(super) fn is_nothing(&self) -> bool {
        match self {
            Held::Histogram(rows) => rows.iter().all(|row| row.count == 0.0),
            Held::Numbers(values) => values.iter().all(|(_, value)| *value == 0.0),
        }
    }

    /// Its numbers, as they are compared.
    pub(super) fn numbers(&self) -> Vec<f64> {
        match self {
            Held::Histogram(rows) => rows.iter().flat_map(|r| [r.from, r.to, r.count]).collect(),
            Held::Numbers(values) => values.iter().map(|(_, value)| *value).collect(),
        }
    }
}

/// A map that may have been printed when the trace ended: its name and key, and what it had.
pub(super) struct Map {
    pub(super) name: String,
    pub(super) key: String,
    pub(super) held: Held,
}

/// Keeps what may have been printed when the trace ended.
#[derive(Default)]
pub(super) struct AtEnd {
    spacing: Spacing,
    /// Blank lines since the last one that is not.
    blanks: usize,
    /// The widest gap between reports so far, and the one above what is kept.
    widest: usize,
    gap: usize,
    open: bool,
    kept: Vec<Map>,
}

impl AtEnd {
    /// The text begins so.
    pub(super) fn look(&mut self, head: &Head) {
        self.spacing = Spacing::of(head);
    }

    pub(super) fn blank(&mut self) {
        self.blanks += 1;
    }

    /// A row of a histogram, which nothing is printed between.
    pub(super) fn row(&mut self) {
        self.blanks = 0;
    }

    /// A line follows that is not blank. Where reports have no times of their own, another gap as wide tells
    /// that what was kept is none of the end: it is handed out.
    pub(super) fn follows(&mut self, within: bool, marked: bool) -> Vec<Map> {
        let gap = self.spacing.printed(std::mem::take(&mut self.blanks));
        if self.open && (marked || gap < self.gap) || gap < BLANK_LINES {
            return Vec::new();
        }
        let before = self.goes_on();
        self.open = within && gap > self.widest;
        self.gap = gap;
        if !self.open {
            self.widest = self.widest.max(gap);
        }
        before
    }

    /// Whether maps are kept now.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Keeps a map. One that was kept already is printed again, which the end does not do: all are handed
    /// out, with this one last.
    pub(super) fn keep(&mut self, map: Map) -> Vec<Map> {
        let again = self
            .kept
            .iter()
            .any(|m| (&m.name, &m.key) == (&map.name, &map.key));
        self.kept.push(map);
        if again { self.goes_on() } else { Vec::new() }
    }

    /// The trace goes on: what was kept is of its reports.
    pub(super) fn goes_on(&mut self) -> Vec<Map> {
        if self.open {
            self.widest = self.widest.max(self.gap);
        }
        self.open = false;
        std::mem::take(&mut self.kept)
    }

    /// The trace is over: what was kept was printed at its end.
    pub(super) fn ends(&mut self) -> Vec<Map> {
        let kept = std::mem::take(&mut self.kept);
        *self = AtEnd {
            spacing: self.spacing,
            ..AtEnd::default()
        };
        kept
    }
}

impl Bpftrace {
    /// Whether a map stands twice in a report and has the same both times: at its end bpftrace prints all that
    /// was not cleared once more.
    pub(super) fn is_printed_again(
        &mut self,
        id: String,
        now: Vec<f64>,
        nth: u32,
        out: &mut Out,
    ) -> bool {
        let is_again = nth > 1 && self.printed.get(&id) == Some(&now);
        if is_again {
            out.note(AGAIN);
        } else {
            self.printed.insert(id, now);
        }
        is_again
    }

    /// Keeps what may have been printed at the end.
    pub(super) fn keep(&mut self, name: &str, key: &str, held: Held, out: &mut Out) {
        let (name, key) = (name.to_owned(), key.to_owned());
        let ordinary = self.at_end.keep(Map { name, key, held });
        self.put_all(ordinary, out);
    }

    /// Maps of the present report.
    pub(super) fn put_all(&mut self, maps: Vec<Map>, out: &mut Out) {
        for Map { name, key, held } in maps {
            match held {
                Held::Histogram(rows) => self.put_histogram(&name, &key, &rows, out),
                Held::Numbers(values) => self.put_number(&name, &key, &values, out),
            }
        }
    }

    /// An interval ends: what was kept is of the one before.
    pub(super) fn mark(&mut self, at: Stamp, out: &mut Out) {
        let ordinary = self.at_end.goes_on();
        self.put_all(ordinary, out);
        self.pace.mark(Some(at), out);
    }

    /// The trace is over. What was printed then and stands in the last report, too, counts once; what was
    /// cleared by then is nothing; all else is of no interval that is known.
    pub(super) fn put_end(&mut self, out: &mut Out) {
        let mut maps = self.at_end.ends();
        let count = maps.len();
        let is_again = |map: &Map| {
            let id = format!("{}\0{}", map.name, map.key);
            self.pace.has(&id) && self.printed.get(&id) == Some(&map.held.numbers())
        };
        maps.retain(|map| !is_again(map));
        if maps.len() < count {
            out.note(AGAIN);
        }
        let names: Vec<String> = self
            .printed
            .keys()
            .map(|id| name_of(id).to_owned())
            .collect();
        let was_printed = |map: &Map| names.contains(&map.name);
        maps.retain(|map| !(was_printed(map) && map.held.is_nothing()));
        if maps.is_empty() {
            return;
        }
        for map in &maps {
            out.note(if was_printed(map) { REST } else { WHOLE });
        }
        self.pace.of_no_length(out);
        self.put_all(maps, out);
    }
}

/// Said of what is printed twice.
const AGAIN: &str =
    "bpftrace prints its maps once more when it ends: what stands there again counts once";

/// Said of maps that are printed at the end alone.
const WHOLE: &str = "maps that bpftrace prints only when it ends hold all since the trace began: they are kept \
                     by themselves, in `since_boot`";

/// Said of maps that reports have, too.
const REST: &str = "what bpftrace prints of a map when it ends and no report has was counted in less than an \
                    interval, or since the trace began: it is kept by itself, in `since_boot`";

/// The map of such an id.
fn name_of(id: &str) -> &str {
    id.split('\0').next().unwrap_or_default()
}
