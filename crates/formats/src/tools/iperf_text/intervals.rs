//! What the intervals of a stream told, by which its later rows are judged.

use super::row::Row;
use crate::out::Out;

/// Intervals and totals have three digits each, and a write may end behind the last interval.
const ROUNDED: f64 = 1.02;

/// Said of totals.
const REST: &str = "the total of a stream tells more bytes than its intervals do: some are not in the text, or it \
                    went on after the last one. What is beyond them is left out";

/// The intervals of a stream so far.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    bytes: f64,
    last: Option<(f64, f64, f64, String)>,
}

impl Intervals {
    /// Whether the row is the one before again: iperf3 prints its last twice when it is ended.
    pub(super) fn is_again(&self, row: &Row) -> bool {
        self.last.as_ref() == Some(&Intervals::key(row))
    }

    pub(super) fn take(&mut self, row: &Row) {
        self.bytes += row.bytes;
        self.last = Some(Intervals::key(row));
    }

    /// A total of the stream comes.
    pub(super) fn total(&self, bytes: f64, out: &mut Out) {
        if bytes > self.bytes * ROUNDED {
            out.note(REST);
        }
    }

    fn key(row: &Row) -> (f64, f64, f64, String) {
        (row.from, row.to, row.bytes, row.rest.join(" "))
    }
}
