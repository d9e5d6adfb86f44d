//! Outputs that stand above one another in a file, each of which tells the times of its reports.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use run::Nanos;

use super::table::later;
use super::when::Day;
use crate::out::Out;
use crate::time::Stamp;

/// From when to when each told.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    /// The present one.
    here: Option<(Nanos, Nanos)>,
    /// Those above it in the text.
    above: Vec<(Nanos, Nanos)>,
    /// The local time before, for times of day.
    last: Option<DateTime>,
    /// When the report before ended.
    until: Option<Nanos>,
    /// An output above told of the present report.
    pub(super) told: bool,
}

impl Outputs {
    /// Another output begins.
    pub(super) fn next(&mut self) {
        self.above.extend(self.here.take());
        (self.last, self.until, self.told) = (None, None, false);
    }

    /// Whether an output above told of the report of that time. What is new is remembered.
    pub(super) fn is_told(&mut self, stamp: Stamp, day: &mut Day, out: &mut Out) -> bool {
        self.told = false;
        let Some(to) = self.moment(stamp, day, out) else {
            return false;
        };
        // Of the first report it is not known when it began: as short as can be.
        let from = self.until.replace(to).unwrap_or(to);
        let within = |(first, last): &(Nanos, Nanos)| {
            *first < to && from < *last || *first <= from && from == to && to <= *last
        };
        self.told = self.above.iter().any(within);
        if self.told {
            return true;
        }
        let span = self.here.get_or_insert((from, to));
        *span = (span.0.min(from), span.1.max(to));
        false
    }

    /// Seconds between two times of day, the later of which is that of a report that comes: by the
    /// zone, for an hour may be left out or come twice between them.
    pub(super) fn passed(&self, from: Time, to: Time, day: &mut Day, out: &mut Out) -> f64 {
        const DAY: i64 = 24 * 3600;
        let begin = self.day_of(from, day, out);
        let begun = out.local(begin, self.until);
        let since = |date: Date| {
            let ended = out.local(date.to_datetime(to), begun)?;
            ended.checked_sub(begun?).filter(|passed| *passed >= 0)
        };
        let date = begin.date();
        let found = since(date).or_else(|| date.tomorrow().ok().and_then(since));
        match found {
            Some(passed) => passed as f64 / 1e9,
            None => to.duration_since(from).as_secs().rem_euclid(DAY) as f64,
        }
    }

    fn moment(&mut self, stamp: Stamp, day: &mut Day, out: &mut Out) -> Option<Nanos> {
        let at = match stamp {
            Stamp::Epoch(nanos) => return Some(nanos),
            Stamp::Zoned(at, east) => {
                let utc = TimeZone::UTC.to_timestamp(at).ok()?;
                let nanos = Nanos::try_from(utc.as_nanosecond()).ok()?;
                return nanos.checked_sub(Nanos::from(east) * 1_000_000_000);
            }
            Stamp::Civil(at) => at,
            Stamp::Clock(time) => self.day_of(time, day, out),
            Stamp::Elapsed(_) => return None,
        };
        self.last = Some(at);
        out.local(at, self.until)
    }

    fn day_of(&self, time: Time, day: &mut Day, out: &mut Out) -> DateTime {
        let day = match self.last {
            Some(last) => later(last.date(), last.time(), time),
            None => day.date(out),
        };
        day.to_datetime(time)
    }
}
