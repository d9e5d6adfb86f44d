//! When a sample was taken, as texts tell it.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use run::Nanos;

/// What the text does not tell, or tells in more than one way.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seconds between samples, as the user says.
    pub every: Option<f64>,
    /// When the first sample's interval started, where the text has no times.
    pub start: Option<Nanos>,
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
    /// Date and time of day, so many seconds before UTC's: `-8 h` is 28800... as printed,
    /// east of Greenwich is positive.
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
    /// Whether a sample had a time.
    pub(crate) stamped: bool,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        Clock {
            date: None,
            before: None,
            last: None,
            relative: false,
            from_start: false,
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
            None => self.first_date(options),
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
                    self.date = Some(self.first_date(options));
                }
                // Past midnight. A few seconds back are a clock that was set.
                let back = self
                    .before
                    .is_some_and(|before| seconds_of(before) - seconds_of(time) > 12.0 * 3600.0);
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

    /// What has no time of its own is counted from the start that the user told, or from zero.
    pub(crate) fn starts(&mut self, options: &Options) {
        self.relative |= options.start.is_none();
        self.from_start |= options.start.is_some();
    }

    /// The day of a time without one: that of `--start`, or else the first there is.
    fn first_date(&mut self, options: &Options) -> Date {
        let start = options
            .start
            .and_then(|s| jiff::Timestamp::from_nanosecond(i128::from(s)).ok());
        if let Some(start) = start {
            self.from_start = true;
            return start.to_zoned(options.zone.clone()).date();
        }
        self.relative = true;
        jiff::civil::date(1970, 1, 1)
    }
}

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

/// A date of three numbers, as `04/08/17` or `2018-03-08`.
///
/// # Errors
/// Where it can be read in two ways and the options do not decide. `None` if it is no date.
pub fn date(text: &[u8], options: &Options) -> Result<Option<Date>, Refused> {
    let Ok(text) = std::str::from_utf8(text) else {
        return Ok(None);
    };
    let parts: Vec<&str> = text.split(['/', '-', '.']).collect();
    let &[first, second, third] = &parts[..] else {
        return Ok(None);
    };
    let digits = |t: &str| (1..=4).contains(&t.len()) && t.bytes().all(|b| b.is_ascii_digit());
    if !(digits(first) && digits(second) && digits(third)) {
        return Ok(None);
    }
    let small = |text: &str| text.parse::<i8>().ok();
    let year = |text: &str| {
        let year = text.parse::<i16>().ok()?;
        Some(match text.len() {
            // Two digits: what POSIX's strptime makes of them.
            2 if year < 69 => 2000 + year,
            2 => 1900 + year,
            _ => year,
        })
    };
    let make = |order: DateOrder| {
        let [year_text, month, day] = match order {
            DateOrder::Ymd => [first, second, third],
            DateOrder::Dmy => [third, second, first],
            DateOrder::Mdy => [third, first, second],
        };
        Date::new(year(year_text)?, small(month)?, small(day)?).ok()
    };
    if first.len() == 4 {
        return Ok(make(DateOrder::Ymd));
    }
    // One that can be read in one way only is read so.
    if let Some(date) = options.dates.and_then(make) {
        return Ok(Some(date));
    }
    let (day_first, month_first) = (make(DateOrder::Dmy), make(DateOrder::Mdy));
    match (day_first, month_first) {
        (Some(one), Some(other)) if one != other => Err(Refused(format!(
            "the date {text} can be the {one} or the {other}\n\
             hint: say --date-order dmy or --date-order mdy"
        ))),
        (one, other) => Ok(one.or(other)),
    }
}

/// A time of day: `13:45:01`, `01:45:01` with `pm`, `13:45:01.250`. `half` is what follows it,
/// `AM` or `PM` if the clock has twelve hours.
pub fn time_of_day(text: &[u8], half: Option<&[u8]>) -> Option<Time> {
    let text = std::str::from_utf8(text).ok()?;
    let (text, fraction) = match text.split_once('.') {
        Some((whole, fraction))
            if fraction.len() <= 9 && fraction.bytes().all(|b| b.is_ascii_digit()) =>
        {
            let digits: i32 = fraction.parse().ok()?;
            (whole, digits * 10_i32.pow(9 - fraction.len() as u32))
        }
        Some(_) => return None,
        None => (text, 0),
    };
    let mut parts = text.split(':');
    let mut next = || -> Option<i8> {
        let part = parts.next()?;
        let two = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        two.then(|| part.parse().ok())?
    };
    let (mut hour, minute) = (next()?, next()?);
    let second = match text.split(':').count() {
        2 => 0,
        3 => next()?,
        _ => return None,
    };
    match half.map(<[u8]>::to_ascii_uppercase).as_deref() {
        Some(b"AM") if (1..=12).contains(&hour) => hour %= 12,
        Some(b"PM") if (1..=12).contains(&hour) => hour = hour % 12 + 12,
        Some(b"AM" | b"PM") => return None,
        _ => {}
    }
    // A leap second is shown as the second before it.
    Time::new(hour, minute, second.min(59), fraction).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil;

    #[test]
    fn dates_that_can_be_read_in_two_ways_are_refused() {
        let open = Options::default();
        let told = |order| Options {
            dates: Some(order),
            ..Options::default()
        };
        let at = |y, m, d| Ok(Some(civil::date(y, m, d)));
        assert_eq!(date(b"2018-03-08", &open), at(2018, 3, 8));
        assert_eq!(date(b"03/28/2018", &open), at(2018, 3, 28));
        assert_eq!(date(b"28/03/18", &open), at(2018, 3, 28));
        assert_eq!(date(b"05/05/17", &open), at(2017, 5, 5));
        assert!(date(b"04/08/17", &open).is_err());
        assert_eq!(date(b"04/08/17", &told(DateOrder::Dmy)), at(2017, 8, 4));
        assert_eq!(date(b"04/08/17", &told(DateOrder::Mdy)), at(2017, 4, 8));
        assert_eq!(date(b"04/08/17", &told(DateOrder::Ymd)), at(2004, 8, 17));
        for no in ["", "1/2", "a/b/c", "99/99/99", "12345/1/1"] {
            assert_eq!(date(no.as_bytes(), &open), Ok(None), "{no}");
        }
    }

    #[test]
    fn clocks_of_twelve_and_of_twenty_four_hours() {
        let at = |h, m, s| Some(civil::time(h, m, s, 0));
        assert_eq!(time_of_day(b"12:05:01", Some(b"AM")), at(0, 5, 1));
        assert_eq!(time_of_day(b"12:05:01", Some(b"pm")), at(12, 5, 1));
        assert_eq!(time_of_day(b"01:05:01", Some(b"PM")), at(13, 5, 1));
        assert_eq!(time_of_day(b"23:59", None), at(23, 59, 0));
        let fine = civil::time(1, 2, 3, 250_000_000);
        assert_eq!(time_of_day(b"01:02:03.250", None), Some(fine));
        for no in [
            "",
            "1",
            "25:00:00",
            "13:00:00:00",
            "aa:bb",
            "1:2:3.x",
            "1:2:3.+5",
            "10:00:-5",
            "10:00:x",
            "10:00:",
        ] {
            assert_eq!(time_of_day(no.as_bytes(), None), None, "{no}");
        }
        assert_eq!(time_of_day(b"13:00:00", Some(b"PM")), None);
    }

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
