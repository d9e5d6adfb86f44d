//! When a sample was taken, as texts tell it.

mod written;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use run::Nanos;

pub(crate) use written::order_of;
pub use written::{date, time_of_day};

/// What the text does not tell, or tells in more than one way.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seconds between samples, as the user says.
    pub every: Option<f64>,
    /// When the first sample's interval started, where the text has no times.
    pub start: Option<Nanos>,
    /// When the first time is, about, where it is one of the day without a date: when another
    /// file of the same measurement starts.
    pub near: Option<Nanos>,
    /// Nothing was measured later: now. It leaves out readings of a date.
    pub latest: Option<Nanos>,
    /// The zone of times without one.
    pub zone: TimeZone,
    /// The order of the parts of a date.
    pub dates: Option<DateOrder>,
    /// How many processors the machine had, where the text does not tell.
    pub processors: Option<u32>,
    /// The name of the file without its folder; empty if it has none.
    pub file: String,
    /// Major and minor version of the fio that wrote a log.
    pub fio: Option<[u32; 2]>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            every: None,
            start: None,
            near: None,
            latest: None,
            zone: TimeZone::UTC,
            dates: None,
            processors: None,
            file: String::new(),
            fio: None,
        }
    }
}

/// The order of day, month and year in a date like `04/08/17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    /// Day first.
    Dmy,
    /// Month first.
    Mdy,
    /// Year first.
    Ymd,
}

/// Why a file is not imported. Its text names the option that helps, if any does.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// A time as a text tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stamp {
    /// Nanoseconds since 1970 began, UTC.
    Epoch(Nanos),
    /// Date and time of day, in the zone of the options.
    Civil(DateTime),
    /// Date and time of day in a zone so many seconds east of Greenwich: `-0800` is -28800.
    Zoned(DateTime, i32),
    /// A time of day; its date is the banner's, or the day after where it went back.
    Clock(Time),
    /// Seconds since the beginning.
    Elapsed(f64),
}

impl Stamp {
    /// `count` units of so many nanoseconds since 1970 began. What cannot be kept stops at the
    /// last time there is, which is refused where it is to be a sample's.
    pub(crate) fn epoch(count: f64, unit: Nanos) -> Stamp {
        Stamp::Epoch((count.round() as Nanos).saturating_mul(unit))
    }

    /// So many seconds later; the same where there is no such time.
    pub(crate) fn later(self, seconds: f64) -> Stamp {
        let by = SignedDuration::try_from_secs_f64(seconds).unwrap_or_default();
        let date = |at: DateTime| at.checked_add(by).unwrap_or(at);
        match self {
            Stamp::Epoch(at) => Stamp::Epoch(at.saturating_add((seconds * 1e9).round() as Nanos)),
            Stamp::Civil(at) => Stamp::Civil(date(at)),
            Stamp::Zoned(at, east) => Stamp::Zoned(date(at), east),
            Stamp::Clock(time) => Stamp::Clock(time.wrapping_add(by)),
            Stamp::Elapsed(at) => Stamp::Elapsed(at + seconds),
        }
    }
}

/// Finds the times of samples, one after the other.
#[derive(Debug)]
pub(crate) struct Clock {
    /// The day that times of day belong to.
    date: Option<Date>,
    /// The time of day before.
    before: Option<Time>,
    /// The last moment that was told in local time.
    last: Option<Nanos>,
    /// Whether a time came that is not tied to any date.
    pub(crate) relative: bool,
    /// Whether the start that the user told was needed.
    pub(crate) from_start: bool,
    /// Who says when the first sample starts.
    pub(crate) start: Start,
    /// Whether a sample had a time.
    pub(crate) stamped: bool,
}

/// Whose word the start is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// The user's, or nobody's.
    User,
    /// A date stands above all else in the text.
    Text,
    /// One stands there, and the user's counts.
    Overruled,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        Clock {
            date: None,
            before: None,
            last: None,
            relative: false,
            from_start: false,
            start: Start::User,
            stamped: false,
        }
    }

    /// A banner says the date.
    pub(crate) fn date(&mut self, date: Date) {
        self.date = Some(date);
        self.before = None;
    }

    /// The day that times of day belong to now.
    pub(crate) fn day(&mut self, options: &Options) -> Date {
        match self.date {
            Some(date) => date,
            None => self.first_date(None, options),
        }
    }

    /// The moment that `stamp` means.
    pub(crate) fn moment(&mut self, stamp: Stamp, options: &Options) -> Result<Nanos, Refused> {
        match stamp {
            // What was too large stopped there.
            Stamp::Epoch(Nanos::MIN | Nanos::MAX) => Err(never("the time")),
            Stamp::Epoch(nanos) => Ok(nanos),
            Stamp::Civil(at) => self.local(at, options),
            Stamp::Zoned(at, seconds_east) => {
                let offset = jiff::tz::Offset::from_seconds(seconds_east)
                    .map_err(|_| Refused(format!("an offset of {seconds_east} s from UTC")))?;
                in_zone(at, &TimeZone::fixed(offset), None)
            }
            Stamp::Clock(time) => {
                if self.date.is_none() {
                    self.date = Some(self.first_date(Some(time), options));
                }
                // Past midnight. A few seconds back are a clock that was set.
                let back = self
                    .before
                    .is_some_and(|before| seconds_of(before) - seconds_of(time) > HALF_A_DAY);
                if back {
                    self.date = self.date.and_then(|d| d.tomorrow().ok());
                }
                self.before = Some(time);
                let date = self.date.unwrap_or(jiff::civil::date(1970, 1, 1));
                self.local(date.to_datetime(time), options)
            }
            Stamp::Elapsed(seconds) => {
                self.starts(options);
                let passed = (seconds * 1e9).round() as Nanos;
                let moment = options.start.unwrap_or(0).checked_add(passed);
                moment
                    .filter(|_| passed != Nanos::MIN && passed != Nanos::MAX)
                    .ok_or_else(|| never(format!("{seconds:e} s after the beginning")))
            }
        }
    }

    fn local(&mut self, at: DateTime, options: &Options) -> Result<Nanos, Refused> {
        let moment = in_zone(at, &options.zone, self.last)?;
        self.last = Some(moment);
        Ok(moment)
    }

    /// What has no time of its own is counted from the start that the user or the text told, or from
    /// zero.
    pub(crate) fn starts(&mut self, options: &Options) {
        self.relative |= options.start.is_none();
        self.from_start |= options.start.is_some() && self.start != Start::Text;
    }

    /// The day of the first time of the day: the one on which it is nearest to when another file
    /// starts. It is not before the start that the user told, but for some hours: the start may
    /// tell the day alone. Without either it is the first day there is.
    fn first_date(&mut self, time: Option<Time>, options: &Options) -> Date {
        let Some(start) = options.near.or(options.start) else {
            self.relative = true;
            return jiff::civil::date(1970, 1, 1);
        };
        self.from_start |= options.near.is_some() || self.start != Start::Text;
        let Ok(start) = jiff::Timestamp::from_nanosecond(i128::from(start)) else {
            return jiff::civil::date(1970, 1, 1);
        };
        let start = start.to_zoned(options.zone.clone()).datetime();
        let today = start.date();
        let Some(time) = time else { return today };
        let apart = seconds_of(time) - seconds_of(start.time());
        let other = match () {
            () if apart < -HALF_A_DAY => today.tomorrow(),
            () if apart > HALF_A_DAY && options.near.is_some() => today.yesterday(),
            () => Ok(today),
        };
        other.unwrap_or(today)
    }
}

const HALF_A_DAY: f64 = 12.0 * 3600.0;

fn seconds_of(time: Time) -> f64 {
    f64::from(time.hour()) * 3600.0 + f64::from(time.minute()) * 60.0 + f64::from(time.second())
}

/// A clock that goes back by more than this where summer time ends was put back for it; by more
/// than that, other reports begin.
const PUT_BACK: std::ops::Range<Nanos> = 600 * SECOND..7200 * SECOND;
const SECOND: Nanos = 1_000_000_000;

/// The moment of a local time in `zone`. The hour that comes twice when summer time ends is the
/// second one where the text has come so far: `last` is the moment told before.
pub(crate) fn in_zone(
    at: DateTime,
    zone: &TimeZone,
    last: Option<Nanos>,
) -> Result<Nanos, Refused> {
    let ambiguous = zone.to_ambiguous_timestamp(at);
    let twice = match ambiguous.offset() {
        AmbiguousOffset::Fold { after, .. } => Some(after),
        _ => None,
    };
    let nanos = |t: jiff::Timestamp| Nanos::try_from(t.as_nanosecond()).ok();
    let first = ambiguous.compatible().ok().and_then(nanos);
    let first = first.ok_or_else(|| never(at))?;
    if let (Some(after), Some(last)) = (twice, last) {
        let back = last.saturating_sub(first);
        let moment = jiff::Timestamp::from_nanosecond(i128::from(last)).ok();
        let put_back = moment.is_some_and(|t| zone.to_offset(t) == after);
        if PUT_BACK.contains(&back) || (put_back && (1..PUT_BACK.end).contains(&back)) {
            let later = ambiguous.later().ok().and_then(nanos);
            return later.ok_or_else(|| never(at));
        }
    }
    Ok(first)
}

/// Why a time of no run is not taken.
fn never(at: impl std::fmt::Display) -> Refused {
    Refused(format!("{at} is a time that cannot be kept"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil;

    #[test]
    fn times_that_cannot_be_kept_are_refused() {
        let (mut clock, options) = (Clock::new(), Options::default());
        for count in [1e12, -1e12, 1e300, f64::INFINITY] {
            let stamp = Stamp::epoch(count, 1_000_000_000);
            assert!(clock.moment(stamp, &options).is_err(), "{count}");
            let elapsed = clock.moment(Stamp::Elapsed(count), &options);
            assert!(elapsed.is_err(), "{count}");
        }
        let stamp = Stamp::epoch(1_520_517_731.4, 1_000_000_000);
        assert_eq!(stamp, Stamp::Epoch(1_520_517_731_000_000_000));
    }

    #[test]
    fn a_time_without_a_date_is_near_to_another_files_start() {
        let day = |d| civil::date(2012, 3, d);
        let (late, early) = (civil::time(23, 59, 58, 0), civil::time(0, 0, 2, 0));
        let noon = civil::time(12, 0, 0, 0);
        for (near, start, time, found) in [
            (true, day(4).to_datetime(late), early, 5),
            (true, day(5).to_datetime(early), late, 4),
            (true, day(4).to_datetime(late), noon, 4),
            (true, day(5).to_datetime(early), noon, 5),
            (false, day(4).to_datetime(late), early, 5),
            // The user says the day.
            (false, day(4).to_datetime(Time::midnight()), late, 4),
            (false, day(4).to_datetime(noon), civil::time(7, 0, 0, 0), 4),
        ] {
            let zone = TimeZone::fixed(jiff::tz::offset(-5));
            let moment = in_zone(start, &zone, None).expect("a moment");
            let options = Options {
                near: near.then_some(moment),
                start: Some(moment),
                zone: zone.clone(),
                ..Options::default()
            };
            let at = Clock::new().moment(Stamp::Clock(time), &options);
            let wanted = in_zone(day(found).to_datetime(time), &zone, None);
            assert_eq!(at, wanted, "{start} {time}");
        }
    }

    #[test]
    fn the_hour_that_comes_twice() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        let options = Options {
            zone,
            ..Options::default()
        };
        let mut clock = Clock::new();
        clock.date(civil::date(2024, 10, 27));
        let mut minutes = |h, m| {
            let stamp = Stamp::Clock(civil::time(h, m, 0, 0));
            clock.moment(stamp, &options).expect("a moment") / 60_000_000_000
        };
        let first = minutes(1, 50);
        for (passed, (h, m)) in [(20, (2, 10)), (60, (2, 50)), (70, (2, 0)), (120, (2, 50))] {
            assert_eq!(minutes(h, m) - first, passed, "{h}:{m}");
        }
        assert_eq!(minutes(3, 0) - first, 130);
        // A clock that was set by some seconds is still in the same hour.
        let mut clock = Clock::new();
        let mut at = |m, s| {
            let at = civil::datetime(2024, 10, 27, 2, m, s, 0);
            clock.moment(Stamp::Civil(at), &options).expect("a moment") / 1_000_000_000
        };
        let first = at(30, 10);
        assert_eq!(at(30, 5) - first, -5);
    }

    #[test]
    fn past_midnight_is_the_next_day() {
        let mut clock = Clock::new();
        let options = Options::default();
        clock.date(civil::date(2020, 2, 29));
        let mut at = |h, m| {
            let stamp = Stamp::Clock(civil::time(h, m, 0, 0));
            clock.moment(stamp, &options).unwrap() / 60_000_000_000
        };
        let first = at(23, 59);
        assert_eq!(at(0, 1) - first, 2);
        assert_eq!(at(23, 59) - first, 24 * 60);
        assert_eq!(at(0, 0) - first, 24 * 60 + 1);
    }
}
