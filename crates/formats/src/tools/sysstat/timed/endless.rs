//! The last line of a text, where it has no end: nothing but what is left of it tells whether it is
//! whole.

use super::Timed;
use crate::Line;
use crate::lines::last_is_whole;
use crate::out::Out;
use crate::tools::sysstat::when::is_average;

impl Timed {
    /// Such a line without a time: it is taken if it is a row of a table that stands alone. Of
    /// headers that stand below one another, what is left of a row may be one of another table.
    pub(super) fn endless(&mut self, line: &[u8], all: &[&[u8]], out: &mut Out) -> Line {
        let below = line.first().is_some_and(u8::is_ascii_whitespace);
        if is_average(all) || self.average && below {
            return Line::Noise;
        }
        if below && !self.in_headers && self.current.len() == 1 && self.ends_whole(all) {
            return self.continued(all, out);
        }
        Line::Unknown
    }

    /// Whether such a row of the present table, without its time, has all of its last number. Of a
    /// name nobody knows how long it was.
    pub(super) fn ends_whole(&self, row: &[&[u8]]) -> bool {
        let table = self.current.first().and_then(|t| self.tables.get(*t));
        table.is_some_and(|table| {
            let names = table.instances.len();
            let first = table.instances.iter().all(|place| *place < names);
            first && row.get(names..).is_some_and(last_is_whole)
        })
    }
}
