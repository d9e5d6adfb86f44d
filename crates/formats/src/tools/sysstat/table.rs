//! A table in a text whose lines begin with a time of day, and its times.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use run::Nanos;

use super::cut::Cut;
use super::moments::When;
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

/// A table in the text.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) header: usize,
    /// Columns that name what the row is of.
    pub(super) instances: Vec<usize>,
    /// One of them is of Linux, by its name.
    pub(super) of_many: bool,
    pub(super) width: usize,
    /// Length of its header.
    pub(super) length: usize,
    /// Where that lost its end.
    pub(super) cut: Option<Cut>,
    /// Its lines were broken at a width: what is below a row is the row's end.
    pub(super) broken: bool,
    pub(super) clock: Option<Clock>,
    /// What of its instances was told already.
    pub(super) told: Told,
    /// Its columns, the time's among them, for rows whose numbers run together.
    pub(super) together: Columns,
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
