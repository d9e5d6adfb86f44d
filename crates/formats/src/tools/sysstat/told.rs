//! What is told of the same time twice in a file: by outputs that stand above one another, or by
//! rows of one.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use run::{Nanos, Word};

use super::moments::When;
use crate::out::Out;
use crate::time::{Refused, Stamp};

/// From when to when each instance of a table was told of.
type Spans = HashMap<Word, (Nanos, Nanos)>;

/// What told of it before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum By {
    /// An output above.
    Output,
    /// A row above, of the same output.
    Row,
}

/// Of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// By the present output.
    here: Spans,
    /// Until when the rows below the present header told of each, and the values of the last.
    last: HashMap<Word, (Nanos, u64)>,
    /// By those above it in the text.
    above: Vec<Spans>,
}

impl Told {
    /// Another output begins.
    pub(super) fn next(&mut self) {
        if !self.here.is_empty() {
            self.above.push(std::mem::take(&mut self.here));
        }
        self.again();
    }

    /// The same output tells of the same time once more: of all processors beside each, what it
    /// told of all as one.
    pub(super) fn again(&mut self) {
        self.last.clear();
    }

    /// What told of that instance at that time already, and other values. What is new is
    /// remembered.
    pub(super) fn told_by(&mut self, instance: Word, when: &When, values: &[f64]) -> Option<By> {
        let (Stamp::Epoch(to), false) = (when.stamp, when.since_boot) else {
            return None;
        };
        let length = when.interval.unwrap_or(0.0) * 1e9;
        let from = to - length.round() as Nanos;
        let same = |told: &Spans| {
            let (first, last) = told.get(&instance)?;
            // Of the first report of some tools it is not known when it began.
            let within = from == to && *first <= to && to <= *last;
            Some(*first < to && from < *last || within)
        };
        if self.above.iter().any(|told| same(told) == Some(true)) {
            return Some(By::Output);
        }
        // Rows below a header are in the order of time. A file system that is mounted twice has
        // two rows that are the same.
        let mut bits = DefaultHasher::new();
        values.iter().for_each(|v| v.to_bits().hash(&mut bits));
        let told = (to, bits.finish());
        if let Some(last) = self.last.get(&instance)
            && to <= last.0
            && told != *last
        {
            return Some(By::Row);
        }
        self.last.insert(instance, told);
        let span = self.here.entry(instance).or_insert((from, to));
        *span = (span.0.min(from), span.1.max(to));
        None
    }
}

/// Rows of a time that was told before.
#[derive(Default)]
pub(super) struct LeftOut {
    /// By what: how many, and the line of the first.
    by_output: (u64, u64),
    by_row: (u64, u64),
}

impl LeftOut {
    /// Counts the present row.
    pub(super) fn row(&mut self, by: By, out: &Out) {
        let (rows, from) = match by {
            By::Output => &mut self.by_output,
            By::Row => &mut self.by_row,
        };
        if *rows == 0 {
            *from = out.line_number();
        }
        *rows += 1;
    }

    /// How many an output above told of.
    pub(super) fn by_output(&self) -> u64 {
        self.by_output.0
    }

    /// Says how many there were.
    pub(super) fn note(&self, out: &mut Out) {
        for ((rows, from), by) in [(self.by_output, "an output"), (self.by_row, "a row")] {
            if rows > 0 {
                out.note(&format!(
                    "{rows} row{} from line {from} on left out: {by} above in the file tells of \
                     the same at the same time",
                    if rows == 1 { "" } else { "s" },
                ));
            }
        }
    }
}

/// Why rows of a device below one header are not taken: added up they would look true.
pub(super) fn told_twice(name: &[u8], out: &Out) -> Refused {
    Refused(format!(
        "line {}: below the same header {} has a row already: the reports run together, or two \
         devices have that name\n\
         hint: leave each report the header above it",
        out.line_number(),
        String::from_utf8_lossy(name)
    ))
}
