//! Times as a described table writes them.

use jiff::civil::DateTime;
use jiff::fmt::strtime::{self, BrokenDownTime};
use run::Nanos;

use crate::time::Stamp;

/// How a table writes its times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum When {
    /// Since 1970, in units of so many nanoseconds.
    Epoch(i64),
    /// Since the beginning, in units of so many seconds.
    Elapsed(f64),
    /// `2024-03-01T12:00:00Z`, `2024-03-01 12:00:00`.
    Iso,
    /// As `strptime` has it.
    Pattern(String),
}

/// What can be said of a column of times.
pub(super) const ALLOWED: &str = "epoch, epoch-ms, epoch-us, epoch-ns, elapsed, elapsed-ms, iso, \
                                  or a pattern as \"%d.%m.%Y %H:%M:%S\"";

impl When {
    /// What a description says.
    ///
    /// # Errors
    /// Why that is no way to write times.
    pub(super) fn of(text: &str) -> Result<When, String> {
        Ok(match text {
            "epoch" => When::Epoch(1_000_000_000),
            "epoch-ms" => When::Epoch(1_000_000),
            "epoch-us" => When::Epoch(1000),
            "epoch-ns" => When::Epoch(1),
            "elapsed" => When::Elapsed(1.0),
            "elapsed-ms" => When::Elapsed(1e-3),
            "iso" => When::Iso,
            pattern if pattern.contains('%') => When::Pattern(pattern.to_owned()),
            other => return Err(format!("{other:?} is no way to write times: {ALLOWED}")),
        })
    }

    /// Whether the pattern tells a time of day at least, with the year where it has a day.
    ///
    /// # Errors
    /// What it lacks.
    pub(super) fn check(&self) -> Result<(), String> {
        let When::Pattern(pattern) = self else {
            return Ok(());
        };
        let some = jiff::civil::date(2024, 3, 9).at(17, 8, 7, 0);
        let zoned = some
            .to_zoned(jiff::tz::TimeZone::UTC)
            .map_err(|e| format!("the pattern {pattern:?}: {e}"))?;
        let text = strtime::format(pattern, &zoned)
            .map_err(|e| format!("the pattern {pattern:?}: {e}"))?;
        let day = ["%d", "%e", "%m", "%b", "%B", "%j", "%h"].map(|d| pattern.contains(d));
        let whole = |t: jiff::civil::Time| (t.hour(), t.minute()) == (17, 8);
        let complete = match self.stamp(text.as_bytes()) {
            Some(Stamp::Clock(time)) => whole(time) && !day.contains(&true),
            Some(Stamp::Civil(at)) => whole(at.time()),
            Some(Stamp::Epoch(at)) => {
                let wanted = zoned.timestamp().as_nanosecond();
                (i128::from(at) - wanted).abs() < 60_000_000_000
            }
            _ => false,
        };
        if complete {
            return Ok(());
        }
        Err(format!(
            "the pattern {pattern:?} does not tell a time: it needs hours and minutes, and where \
             it has a day also the month and the year"
        ))
    }

    /// The time that the text says.
    pub(crate) fn stamp(&self, text: &[u8]) -> Option<Stamp> {
        match self {
            When::Epoch(unit) => epoch(text, *unit).map(Stamp::Epoch),
            When::Elapsed(unit) => {
                let seconds = crate::number::number(text)? * unit;
                // A century and more is no time since a beginning.
                (seconds.abs() < 4e9).then_some(Stamp::Elapsed(seconds))
            }
            When::Iso => iso(std::str::from_utf8(text).ok()?),
            When::Pattern(pattern) => {
                let found = BrokenDownTime::parse(pattern, text).ok()?;
                if let Ok(at) = found.to_timestamp() {
                    return nanos(at).map(Stamp::Epoch);
                }
                if let Ok(at) = found.to_datetime() {
                    return Some(Stamp::Civil(at));
                }
                found.to_time().ok().map(Stamp::Clock)
            }
        }
    }
}

fn nanos(at: jiff::Timestamp) -> Option<Nanos> {
    Nanos::try_from(at.as_nanosecond()).ok()
}

/// Whether a time is before another that was written the same way. Times of day are not compared:
/// after midnight they begin anew.
pub(super) fn is_before(a: Stamp, b: Stamp) -> bool {
    match (a, b) {
        (Stamp::Epoch(a), Stamp::Epoch(b)) => a < b,
        (Stamp::Civil(a), Stamp::Civil(b)) => a < b,
        (Stamp::Elapsed(a), Stamp::Elapsed(b)) => a < b,
        _ => false,
    }
}

/// A date and a time, with or without its distance from UTC, perhaps behind a blank.
pub(crate) fn iso(text: &str) -> Option<Stamp> {
    if let Some((at, zone)) = text.trim().rsplit_once(' ')
        && at.contains(':')
    {
        let zone = match zone {
            "UTC" | "GMT" | "Z" => "Z",
            zone if zone.starts_with(['+', '-']) => zone,
            _ => return None,
        };
        return nanos(format!("{}{zone}", at.trim_end()).parse().ok()?).map(Stamp::Epoch);
    }
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return nanos(at).map(Stamp::Epoch);
    }
    text.parse::<DateTime>().ok().map(Stamp::Civil)
}

/// A number since 1970 began, in units of so many nanoseconds; to the nanosecond, which a
/// floating-point number would not be.
pub(crate) fn epoch(text: &[u8], unit: i64) -> Option<Nanos> {
    let text = std::str::from_utf8(text).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |t: &str| t.len() <= 18 && t.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole = whole.parse::<i64>().ok()?.checked_mul(unit)?;
    let part = match fraction {
        "" => 0.0,
        _ => format!("0.{fraction}").parse::<f64>().ok()? * unit as f64,
    };
    whole.checked_add(part.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil;

    #[test]
    fn times_as_tables_write_them() {
        let at = |how: &str, text: &str| When::of(how).unwrap().stamp(text.as_bytes());
        let epoch = |n| Some(Stamp::Epoch(n));
        assert_eq!(at("epoch", "1700000000"), epoch(1_700_000_000_000_000_000));
        let fine = epoch(1_700_000_000_123_456_789);
        assert_eq!(at("epoch", "1700000000.123456789"), fine);
        assert_eq!(
            at("epoch-ms", "1700000000123"),
            epoch(1_700_000_000_123_000_000)
        );
        assert_eq!(at("iso", "1970-01-01T00:00:01Z"), epoch(1_000_000_000));
        assert_eq!(at("iso", "1970-01-01T01:00:01+01:00"), epoch(1_000_000_000));
        for text in [
            "1970-01-01 01:00:01 +01:00",
            "1970-01-01 01:00:01 +0100",
            "1970-01-01 00:00:01 UTC",
        ] {
            assert_eq!(at("iso", text), epoch(1_000_000_000), "{text}");
        }
        assert_eq!(at("iso", "1970-01-01 01:00:01 CET"), None);
        let noon = civil::date(2024, 3, 9).at(12, 0, 0, 0);
        assert_eq!(at("iso", "2024-03-09 12:00:00"), Some(Stamp::Civil(noon)));
        let german = at("%d.%m.%Y %H:%M:%S", "09.03.2024 12:00:00");
        assert_eq!(german, Some(Stamp::Civil(noon)));
        let clock = Some(Stamp::Clock(civil::time(12, 30, 0, 0)));
        assert_eq!(at("%H:%M", "12:30"), clock);
        assert_eq!(at("%I:%M %p", "12:30 PM"), clock);
        assert_eq!(at("%s", "1"), epoch(1_000_000_000));
        assert_eq!(at("elapsed-ms", "1500"), Some(Stamp::Elapsed(1.5)));
        for (how, text) in [
            ("epoch", "99999999999999999999"),
            ("epoch", "999999999999999999"),
            ("epoch", "-1"),
            ("epoch", ""),
            ("elapsed", "1e300"),
            ("iso", "yesterday"),
            ("%H:%M", "25:00"),
        ] {
            assert_eq!(at(how, text), None, "{how} {text}");
        }
    }

    #[test]
    fn a_pattern_must_tell_a_time() {
        for good in [
            "%H:%M:%S",
            "%Y-%m-%d %H:%M",
            "%s",
            "%d/%b/%y %I:%M:%S %p",
            "%FT%T%z",
        ] {
            assert_eq!(When::of(good).unwrap().check(), Ok(()), "{good}");
        }
        for bad in ["%Y-%m-%d", "%b %d %H:%M:%S", "%Q!", "%"] {
            assert!(When::of(bad).unwrap().check().is_err(), "{bad}");
        }
        assert!(When::of("noon").unwrap_err().contains("epoch-ms"));
    }
}
