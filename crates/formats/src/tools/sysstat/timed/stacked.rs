//! Rows of tables whose headers stand below one another, as `sar` of Solaris and HP-UX prints
//! them: which table each is of.
//!
//! ```text
//! 00:00:00    %usr    %sys    %wio   %idle
//!          runq-sz %runocc swpq-sz %swpocc
//!            msg/s  sema/s
//! 00:20:00       1       2       0      97
//!              1.0       4
//!             0.00    0.10
//! ```
//!
//! The order tells, not how many numbers there are: what has no value is blank.

use jiff::civil::Time;

use super::Timed;
use crate::Line;
use crate::out::Out;
use crate::tools::sysstat::table::Table;

/// What tells the order of rows.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// A row was not understood: which those after it are of, nothing tells.
    pub(super) astray: bool,
    /// The last line was blank.
    pub(super) after_blank: bool,
    /// Blank lines are between headers: they are no rows.
    pub(super) spaced: bool,
}

impl Timed {
    /// A time alone: of an interval in which nothing had a row, or what has one has blanks in it.
    pub(super) fn idle(&mut self, time: Time, out: &mut Out) -> Line {
        let blank = |t: &&usize| self.tables.get(**t).is_some_and(|t| t.may_be_blank);
        let leaves_out = self.moments.leaves_out;
        let Some(&table) = self.current.first().filter(|t| leaves_out || blank(t)) else {
            return Line::Unknown;
        };
        self.in_headers = false;
        self.order.astray = false;
        self.at = 0;
        if self.absent(table, time, out) {
            Line::Data
        } else {
            Line::Unknown
        }
    }

    /// A table has no row at that time. Whether that time is known.
    fn absent(&mut self, table: usize, time: Time, out: &mut Out) -> bool {
        self.tick(table, time, out);
        let Some(table) = self.tables.get(table) else {
            return false;
        };
        let Some(when) = table.clock.as_ref().and_then(|c| c.when) else {
            return false;
        };
        self.moments.nothing(&when, table.header);
        true
    }

    /// A blank line: where headers stand below one another, the row of a table that may be blank.
    pub(super) fn blank(&mut self, out: &mut Out) {
        self.order.after_blank = true;
        if self.in_headers || self.order.spaced || self.order.astray || self.average {
            return;
        }
        let next = self.current.get(self.at + 1).copied();
        let is_row = |t: &usize| self.tables.get(*t).is_some_and(|t| t.may_be_blank);
        if let Some((table, time)) = next.filter(is_row).zip(self.clock_time()) {
            self.at += 1;
            self.absent(table, time, out);
        }
    }

    /// All rows of a time came: of the tables after the last nothing was active.
    pub(super) fn finish(&mut self, out: &mut Out) {
        if self.in_headers || self.order.astray || !self.moments.leaves_out {
            return;
        }
        let Some(time) = self.clock_time() else {
            return;
        };
        for at in self.at + 1..self.current.len() {
            let table = self.current[at];
            if self.tables.get(table).is_some_and(Table::is_of_many) {
                self.absent(table, time, out);
            }
        }
    }

    /// A row below one with a time: of the same table, or of the next where headers stand below
    /// one another. Each of those has its row, but for one of devices of which none was active.
    pub(super) fn continued(&mut self, all: &[&[u8]], out: &mut Out) -> Line {
        self.in_headers = false;
        let time = self.clock_time();
        let stacked = self.current.len() > 1;
        for at in self.at..self.current.len() {
            let table = self.current[at];
            let Some(shape) = self.tables.get(table).filter(|_| !self.order.astray) else {
                break;
            };
            if shape.broken || shape.cut.is_some() {
                return Line::Unknown;
            }
            let of_many = shape.is_of_many();
            if at == self.at && !of_many {
                continue;
            }
            if !shape.takes(all, stacked, self.here) {
                if at > self.at && !(of_many && self.moments.leaves_out) {
                    break;
                }
                if let Some(time) = time.filter(|_| at > self.at) {
                    self.absent(table, time, out);
                }
                continue;
            }
            if let Some(time) = time.filter(|_| at > 0) {
                self.tick(table, time, out);
            }
            self.at = at;
            return self.row(table, all, out);
        }
        self.order.astray = stacked;
        Line::Unknown
    }
}
