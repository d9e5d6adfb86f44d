//! What a recorder could not keep: counted, with its times and its reason.

use crate::Nanos;
use crate::manifest::Loss;

/// The most losses told apart: what a disk that is full every other second would make of a
/// long run may not outgrow the room kept for the manifest.
const MOST_LOSSES: usize = 200;

/// What could not be kept, in order of time.
#[derive(Default)]
pub(crate) struct Losses {
    /// As the manifest has them.
    pub(crate) list: Vec<Loss>,
    /// Something was kept since.
    ended: bool,
}

impl Losses {
    /// Something was kept: what is lost from here on is another loss.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Adds times of samples with their numbers of rows; answers how many rows these are.
    pub(crate) fn add(&mut self, rows: &[(Nanos, u64)], why: &str) -> u64 {
        let count: u64 = rows.iter().map(|r| r.1).sum();
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return 0;
        };
        let full = self.list.len() >= MOST_LOSSES;
        match self.list.last_mut() {
            Some(l) if full || (!self.ended && l.why == why) => {
                l.to = last.0;
                l.rows += count;
            }
            _ => self.list.push(Loss {
                from: first.0,
                to: last.0,
                rows: count,
                why: why.into(),
                table: None,
            }),
        }
        self.ended = false;
        count
    }
}
