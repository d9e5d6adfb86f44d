//! What outputs that stand above one another in a file tell of the same time.

use std::collections::HashMap;

use run::{Nanos, Word};

use super::moments::When;
use crate::out::Out;
use crate::time::Stamp;

/// From when to when each instance of a table was told of.
type Spans = HashMap<Word, (Nanos, Nanos)>;

/// Of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// By the present output.
    here: Spans,
    /// By those above it in the text.
    above: Vec<Spans>,
}

impl Told {
    /// Another output begins.
    pub(super) fn next(&mut self) {
        if !self.here.is_empty() {
            self.above.push(std::mem::take(&mut self.here));
        }
    }

    /// Whether an output above told of that instance at that time already. What is new is
    /// remembered.
    pub(super) fn is_told(&mut self, instance: Word, when: &When) -> bool {
        let (Stamp::Epoch(to), false) = (when.stamp, when.since_boot) else {
            return false;
        };
        let length = when.interval.unwrap_or(0.0) * 1e9;
        let from = to - length.round() as Nanos;
        let same = |told: &Spans| {
            let (first, last) = told.get(&instance)?;
            Some(*first < to && from < *last)
        };
        if self.above.iter().any(|told| same(told) == Some(true)) {
            return true;
        }
        let span = self.here.entry(instance).or_insert((from, to));
        *span = (span.0.min(from), span.1.max(to));
        false
    }
}

/// Rows of a time of which an output above tells.
#[derive(Default)]
pub(super) struct LeftOut {
    rows: u64,
    /// Line of the first.
    from: u64,
}

impl LeftOut {
    /// Counts the present row.
    pub(super) fn row(&mut self, out: &Out) {
        if self.rows == 0 {
            self.from = out.line_number();
        }
        self.rows += 1;
    }

    /// Says how many there were.
    pub(super) fn note(&self, out: &mut Out) {
        if self.rows > 0 {
            out.note(&format!(
                "{} row{} from line {} on left out: an output above in the file tells of the \
                 same at the same time",
                self.rows,
                if self.rows == 1 { "" } else { "s" },
                self.from
            ));
        }
    }
}
