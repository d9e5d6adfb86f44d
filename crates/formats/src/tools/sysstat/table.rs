//! A table in a text whose lines begin with a time of day, and its times.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use run::Nanos;

use super::cut::{Cut, Names};
use super::moments::When;
use super::named::value;
use super::told::Told;
use crate::together::Columns;

/// Where a table's times are.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// Of its first header.
    pub(super) first: Time,
    pub(super) day: Date,
    /// Of its last header or row.
    pub(super) last: Time,
    /// The moment of that.
    pub(super) moment: Option<Nanos>,
    /// When the present interval began, if that is known.
    pub(super) from: Option<Nanos>,
    /// The present row's.
    pub(super) when: Option<When>,
}

/// What rows are of, by the names of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    Others,
    /// Linux has them in capitals: `DEV`, `IFACE`.
    OfLinux,
    /// `device`, as other systems name it.
    Devices,
}

impl Rows {
    /// Of the names of columns that say what a row is of.
    pub(super) fn of(instances: &[String]) -> Rows {
        let capital = |n: &String| n.starts_with(|c: char| c.is_ascii_uppercase());
        if instances.iter().any(capital) {
            Rows::OfLinux
        } else if instances.iter().any(|n| n == "device") {
            Rows::Devices
        } else {
            Rows::Others
        }
    }
}

/// A table in the text.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) header: usize,
    /// Columns that name what the row is of.
    pub(super) instances: Vec<usize>,
    pub(super) rows: Rows,
    pub(super) width: usize,
    /// Where its columns end in its header's line.
    pub(super) ends: Vec<usize>,
    /// `sar -q` of Solaris and AIX prints blanks for a queue that nothing was in.
    pub(super) may_be_blank: bool,
    /// Where that lost its end.
    pub(super) cut: Option<Cut>,
    /// Its lines were broken at a width: what is below a row is the row's end.
    pub(super) broken: bool,
    pub(super) clock: Option<Clock>,
    /// What of its instances was told already.
    pub(super) told: Told,
    /// Its columns, the time's among them, for rows whose numbers run together.
    pub(super) together: Columns,
    /// Names at the end of its rows.
    pub(super) names: Names,
}

impl Table {
    /// Whether its rows are of one thing each.
    pub(super) fn is_of_many(&self) -> bool {
        !self.instances.is_empty()
    }

    /// Whether a line of that length is its row. Where another table may be next (`stacked`), a
    /// row of devices begins with a name.
    pub(super) fn takes(&self, all: &[&[u8]], stacked: bool, length: usize) -> bool {
        let named = || {
            !stacked
                || self.rows != Rows::Devices
                || all.first().is_some_and(|f| value(f).is_none())
        };
        (self.width == all.len() && named()) || self.with_blanks(all, length).is_some()
    }

    /// The fields of a row with `-` where it has blanks, if that is so: each number ends where a
    /// column does.
    pub(super) fn with_blanks<'a>(&self, all: &[&'a [u8]], length: usize) -> Option<Vec<&'a [u8]>> {
        if !self.may_be_blank || all.is_empty() || all.len() >= self.width {
            return None;
        }
        let mut row: Vec<&[u8]> = vec![b"-"; self.width];
        for (field, end) in all.iter().zip(ends(all, length)) {
            row[self.ends.iter().position(|e| *e == end)?] = field;
        }
        Some(row)
    }
}

/// Where those fields end in a line of that length, whose last the last one is.
pub(super) fn ends(all: &[&[u8]], length: usize) -> Vec<usize> {
    let end = |field: &&[u8]| field.as_ptr_range().end as usize;
    let last = all.last().map_or(0, end);
    all.iter()
        .map(|f| length.saturating_sub(last - end(f)))
        .collect()
}

/// What a clock of UTC shows then.
pub(super) fn utc(moment: Nanos) -> Option<DateTime> {
    let moment = Timestamp::from_nanosecond(i128::from(moment)).ok()?;
    Some(TimeZone::UTC.to_datetime(moment))
}

/// The day of `time`, where `last` was before it on `day`: past midnight is the next.
pub(super) fn later(day: Date, last: Time, time: Time) -> Date {
    let back = last.duration_since(time).as_secs();
    if back > 12 * 3600 {
        return day.checked_add(1.day()).unwrap_or(day);
    }
    day
}
