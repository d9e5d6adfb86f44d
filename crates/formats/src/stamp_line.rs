//! Lines that hold a time and nothing else, as scripts put them before each report: what
//! `date` prints in some locales, ISO 8601, seconds since 1970, a time of day.

mod named;
mod names;
mod script;

use jiff::civil::{Date, DateTime, Time};

pub(crate) use self::named::day_in_words;
use self::named::of_names;
use self::names::western;
pub(crate) use self::names::{half, month_named};
pub(crate) use self::script::script_line;
use crate::out::Out;
use crate::time::{Options, Refused, Stamp, date, time_of_day};
use crate::{fields, number};

/// Longer lines are none.
const LONGEST: usize = 100;

/// As many as `Thứ sáu, 27 Tháng 11 năm 2026 22:46:21 UTC` has.
const MOST_WORDS: usize = 9;

/// Earliest and latest of what is taken for seconds since 1970: 1990 to 2100.
const SECONDS: std::ops::Range<f64> = 631e6..4.1e9;

/// The time that is all there is on the line. A date that can be read in two ways refuses the
/// file.
pub(crate) fn told(line: &[u8], out: &mut Out) -> Option<Stamp> {
    stamp_of(line, out).unwrap_or_else(|why| {
        out.refuse(why);
        None
    })
}

/// The same of who refuses the file itself. A zone that the user's is not called by is noted.
///
/// # Errors
/// Where its date can be read in two ways.
pub(crate) fn stamp_of(line: &[u8], out: &mut Out) -> Result<Option<Stamp>, Refused> {
    let found = stamp_line(line, out.options())?;
    if let (Some(_), Some(seconds)) = (found, of_oswatcher(line).and_then(|(_, every)| every)) {
        out.every(seconds);
    }
    if let Some(Stamp::Civil(at)) = found {
        let mut words = fields(line).map(|w| w.strip_suffix(b",").unwrap_or(w));
        let zone = words.find(|w| is_zone_name(w) && !is_half(w) && !is_decoration(w));
        if let Some(zone) = zone {
            note_zone(zone, at, out);
        }
    }
    Ok(found)
}

/// Notes that a time is of a zone whose name says little, where the user's is not called so.
pub(crate) fn note_zone(zone: &[u8], at: DateTime, out: &mut Out) {
    if !is_called(zone, at, out.options()) {
        let name = String::from_utf8_lossy(zone);
        out.note(&format!(
            "its times are of {name}, which is more than one zone's name: they are read as \
             those of the zone of --tz, or of this machine's"
        ));
    }
}

/// The time on a line of `OSWatcher`, and what it says of the interval behind it: `zzz ***Mon Jan 20 11:01:56
/// PST 2014 Sample interval: 5 seconds. All measurements in KB (1024 bytes)`.
fn of_oswatcher(line: &[u8]) -> Option<(&[u8], Option<f64>)> {
    line.trim_ascii_start().strip_prefix(b"zzz")?;
    let find = |text: &str| memchr::memmem::find(line, text.as_bytes());
    let (interval, units) = (find(" Sample interval"), find(" All measurements"));
    let end = interval.into_iter().chain(units).min()?;
    let seconds = interval.and_then(|at| {
        let word = fields(&line[at..]).nth(2)?;
        number::number(word)
    });
    Some((&line[..end], seconds))
}

/// Whether the user's zone is called `name` at that time, or is no more than an offset, which
/// has no names.
fn is_called(name: &[u8], at: DateTime, options: &Options) -> bool {
    let Ok(moment) = options.zone.to_timestamp(at) else {
        return true;
    };
    let info = options.zone.to_offset_info(moment);
    info.abbreviation().as_bytes() == name
        || (options.zone.to_fixed_offset().is_ok() && !info.offset().is_zero())
}

/// Whether the word is none of the time's: it has no letter.
fn is_decoration(word: &[u8]) -> bool {
    !word.iter().any(u8::is_ascii_alphabetic)
}

/// The time that is all there is on the line, but for decoration (`zzz ***`, `===`, `date:`).
///
/// # Errors
/// Where its date can be read in two ways. `None` if it is no such line.
pub(crate) fn stamp_line(line: &[u8], options: &Options) -> Result<Option<Stamp>, Refused> {
    let Some(first) = line.iter().find(|b| !b.is_ascii_whitespace()) else {
        return Ok(None);
    };
    // Nearly all lines are none, and are seen to be none here.
    let begins = first.is_ascii_alphanumeric() || !first.is_ascii() || b"#=-*+<>[@".contains(first);
    if line.len() > LONGEST || !begins {
        return Ok(None);
    }
    let line = of_oswatcher(line).map_or(line, |(time, _)| time);
    let western = western(line);
    let line = western.as_deref().map_or(line, str::as_bytes);
    let decoration = |b: &u8| b.is_ascii_whitespace() || b"#=-*+<>[]()@|".contains(b);
    let start = line.iter().position(|b| !decoration(b));
    let end = line.iter().rposition(|b| !decoration(b));
    let (Some(start), Some(end)) = (start, end) else {
        return Ok(None);
    };
    let mut rest = &line[start..=end];
    for label in ["zzz", "date:", "time:", "timestamp:", "at", "ts"] {
        let has = rest.get(..label.len());
        if has.is_some_and(|h| h.eq_ignore_ascii_case(label.as_bytes())) {
            let after = &rest[label.len()..];
            let start = after.iter().position(|b| !decoration(b));
            rest = start.map_or(&[][..], |s| &after[s..]);
            break;
        }
    }
    // Nearly all of the others have more words: not all are looked for.
    if fields(rest).nth(MOST_WORDS).is_some() && fields(rest).nth(1) != Some(b"up") {
        return Ok(None);
    }
    let parts: Vec<&[u8]> = fields(rest).collect();
    let found = of_parts(&parts, options)?;
    Ok(found.filter(|_| !has_lost_half(line)))
}

/// The time that these words tell, and no more than that.
fn of_parts(parts: &[&[u8]], options: &Options) -> Result<Option<Stamp>, Refused> {
    match *parts {
        // What `uptime` prints, whose loads a script wants to see beside.
        [time, b"up", .., b"average:", _, _, _] => Ok(time_of_day(time, None)
            .filter(|_| time.split(|b| *b == b':').count() == 3)
            .map(Stamp::Clock)),
        [one] => match epoch(one) {
            Some(stamp) => Ok(Some(stamp)),
            None => one_word(one, options),
        },
        [_, _] => of_numbers(parts, options),
        [_, _, _] => match of_numbers(parts, options)? {
            None => of_names(parts, options),
            found => Ok(found),
        },
        [_, _, _, _, ..] if parts.len() <= MOST_WORDS => of_names(parts, options),
        _ => Ok(None),
    }
}

/// Whether the clock has twelve hours and does not tell which half of the day it is: `10:44:40  UTC`, as
/// locales print it whose language has no word for it.
fn has_lost_half(line: &[u8]) -> bool {
    let mut windows = line.windows(":44:40  U".len());
    let is_lost = |at: usize, w: &[u8]| {
        let hour = line[..at].split(u8::is_ascii_whitespace).next_back();
        let hour = hour.and_then(number::whole);
        matches!(w, [b':', _, _, b':', _, _, b' ', b' ', b'A'..=b'Z'])
            && hour.is_some_and(|hour| hour <= 12)
    };
    let mut at = 0;
    windows.any(|w| {
        at += 1;
        is_lost(at - 1, w)
    })
}

/// Seconds since 1970, perhaps with a fraction; or milliseconds, of thirteen digits.
pub(crate) fn epoch(text: &[u8]) -> Option<Stamp> {
    let whole = text.split(|b| *b == b'.').next()?;
    if whole.len() == 13 && text.len() == 13 && text.iter().all(u8::is_ascii_digit) {
        let millis = i64::try_from(number::whole(text)?).ok()?;
        return Some(Stamp::Epoch(millis.checked_mul(1_000_000)?));
    }
    let plain = |b: &u8| b.is_ascii_digit() || *b == b'.';
    if !(9..=10).contains(&whole.len()) || !text.iter().all(plain) {
        return None;
    }
    let value = number::number(text)?;
    if !SECONDS.contains(&value) {
        return None;
    }
    // Whole seconds and the rest apart: a double does not hold nanoseconds of today.
    let seconds = i64::try_from(number::whole(whole)?).ok()?;
    let fraction = match text.get(whole.len()..) {
        None | Some([]) => 0.0,
        Some([b'.']) => return None,
        Some(fraction) => number::number(&[b"0", fraction].concat())?,
    };
    Some(Stamp::Epoch(
        seconds * 1_000_000_000 + (fraction * 1e9).round() as i64,
    ))
}

/// `2026-11-22T02:44:43+00:00`, `2026/11/22.02:44:43`, `02:44:43`, `20261122_024443`, `20261122024443`.
fn one_word(text: &[u8], options: &Options) -> Result<Option<Stamp>, Refused> {
    let between = |at: usize| matches!(text.get(at), Some(b'.' | b'-'));
    let tenth = (text.len() == 19 && between(10)).then_some(10);
    let eighth = (text.len() == 15 && between(8)).then_some(8);
    let marked = text.iter().position(|b| matches!(b, b'T' | b'_'));
    if text.len() == 14 && text.iter().all(u8::is_ascii_digit) {
        return with_date(&text[..8], &text[8..], None, None, options);
    }
    if let Some(at) = marked.or(tenth).or(eighth) {
        let (day, time) = (&text[..at], &text[at + 1..]);
        return with_date(day, time, None, None, options);
    }
    let seconds = text.split(|b| *b == b':').count() == 3;
    Ok(time_of_day(text, None)
        .filter(|_| seconds)
        .map(Stamp::Clock))
}

/// `2026-11-22 02:44:43 UTC`, `11/22/2026 02:44:43 PM`, `02:44:43 PM`.
fn of_numbers(parts: &[&[u8]], options: &Options) -> Result<Option<Stamp>, Refused> {
    match *parts {
        [time, word] if is_half(word) => Ok(time_of_day(time, half(word)).map(Stamp::Clock)),
        [day, time] => with_date(day, time, None, None, options),
        [day, time, word] if is_half(word) => with_date(day, time, half(word), None, options),
        [day, time, zone] => with_date(day, time, None, Some(zone), options),
        _ => Ok(None),
    }
}

fn with_date(
    day: &[u8],
    time: &[u8],
    half: Option<&[u8]>,
    zone: Option<&[u8]>,
    options: &Options,
) -> Result<Option<Stamp>, Refused> {
    let (time, east) = split_zone(time, zone);
    let Some(time) = clock(time, half) else {
        return Ok(None);
    };
    let day = match compact_date(day).or_else(|| dashed_date(day)) {
        Some(day) => Some(day),
        None => date(day, options)?,
    };
    let Some(day) = day else { return Ok(None) };
    Ok(Some(stamp(day.to_datetime(time), east)))
}

/// `22-Nov-2026`.
fn dashed_date(text: &[u8]) -> Option<Date> {
    let mut parts = text.split(|b| *b == b'-');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let year = i16::try_from(number::whole(year).filter(|y| *y >= 1000)?).ok()?;
    let day = i8::try_from(number::whole(day)?).ok()?;
    let date = Date::new(year, month_named(month)?, day).ok()?;
    parts.next().is_none().then_some(date)
}

/// `20261122`.
pub(crate) fn compact_date(text: &[u8]) -> Option<Date> {
    let digits = text.len() == 8 && text.iter().all(u8::is_ascii_digit);
    if !digits {
        return None;
    }
    let part = |from: usize, to: usize| number::whole(text.get(from..to)?);
    let year = i16::try_from(part(0, 4)?).ok()?;
    let month = i8::try_from(part(4, 6)?).ok()?;
    Date::new(year, month, i8::try_from(part(6, 8)?).ok()?).ok()
}

fn stamp(at: DateTime, east: Option<i32>) -> Stamp {
    match east {
        Some(seconds) => Stamp::Zoned(at, seconds),
        None => Stamp::Civil(at),
    }
}

/// The time and the seconds east of Greenwich that it names.
fn split_zone<'a>(time: &'a [u8], zone: Option<&[u8]>) -> (&'a [u8], Option<i32>) {
    if let Some(zone) = zone {
        return (time, offset(zone));
    }
    let at = time
        .iter()
        .position(|b| matches!(b, b'+' | b'-' | b'Z'))
        .filter(|at| offset(&time[*at..]).is_some());
    match at {
        Some(at) => (&time[..at], offset(&time[at..])),
        None => (time, None),
    }
}

/// `Z`, `UTC`, `GMT`, `+0100`, `-08:00`, `+03`, in seconds.
pub(crate) fn offset(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text {
        b"Z" | b"UTC" | b"GMT" => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let digits: Vec<u8> = digits.iter().copied().filter(|b| *b != b':').collect();
    if !matches!(digits.len(), 2 | 4) || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = i32::try_from(number::whole(&digits)?).ok()?;
    let (hours, minutes) = if digits.len() == 2 {
        (value, 0)
    } else {
        (value / 100, value % 100)
    };
    Some(sign * (hours * 3600 + minutes * 60))
}

/// A time of day with seconds; of `02-44-43`, of `024443`, and with a comma before a fraction.
fn clock(text: &[u8], half: Option<&[u8]>) -> Option<Time> {
    let text: Vec<u8> = match text {
        [_, _, b'-', _, _, b'-', _, _] => text
            .iter()
            .map(|b| if *b == b'-' { b':' } else { *b })
            .collect(),
        digits if digits.len() == 6 && digits.iter().all(u8::is_ascii_digit) => {
            [&digits[..2], b":", &digits[2..4], b":", &digits[4..]].concat()
        }
        _ => text
            .iter()
            .map(|b| if *b == b',' { b'.' } else { *b })
            .collect(),
    };
    if !text.contains(&b':') {
        return None;
    }
    time_of_day(&text, half)
}

pub(crate) fn is_half(text: &[u8]) -> bool {
    half(text).is_some()
}

pub(crate) fn is_zone_name(text: &[u8]) -> bool {
    // `CET`, `PST8PDT`.
    (2..=8).contains(&text.len())
        && text.first().is_some_and(u8::is_ascii_uppercase)
        && text
            .iter()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::datetime;
    use jiff::tz::TimeZone;

    #[test]
    fn a_weekday_may_be_called_as_a_month_is() {
        let options = Options::default();
        let of = |text: &str| stamp_line(text.as_bytes(), &options);
        let at = Ok(Some(Stamp::Civil(datetime(2026, 3, 3, 14, 44, 43, 0))));
        for text in [
            "mar. 3 mars 2026 14:44:43 CET",
            "mar 3 mar 14:44:43 CET 2026",
            "Mar 3 2026 14:44:43",
            "Di 3. M\u{e4}r 14:44:43 CET 2026",
            "Dienstag,  3. M\u{e4}rz 2026, 14:44:43 Uhr MEZ",
            "Вт 03 мар 2026 14:44:43 MSK",
            "вт 3 марта 2026 14:44:43",
            "tis  3 mar 2026 14:44:43 CET",
            "Sal 03 Mar 2026 14:44:43",
        ] {
            assert_eq!(of(text), at, "{text}");
        }
    }

    /// Each line of `dates.txt`, which says how they were made.
    #[test]
    fn dates_of_many_languages() {
        let options = Options {
            dates: Some(crate::time::DateOrder::Ymd),
            ..Options::default()
        };
        let (mut of, mut month) = ("", 0);
        let mut wrong = Vec::new();
        for line in include_str!("stamp_line/dates.txt").lines() {
            if let Some(language) = line.strip_prefix("# ") {
                (of, month) = (language, 0);
                continue;
            }
            month += 1;
            let at = datetime(2026, month, 30 - 2 * month, 14, 44, 43, 0);
            let found = stamp_line(line.as_bytes(), &options);
            let is_lost = line.contains(":43  UTC");
            let right = match &found {
                Ok(Some(Stamp::Zoned(found, 0))) => *found == at,
                Ok(None) => is_lost,
                _ => false,
            };
            if !right {
                wrong.push(format!("{of}: {line}: {found:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn names_of_zones_that_are_not_the_users_are_noted() {
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        let offset = TimeZone::fixed(jiff::tz::offset(2));
        let line = b"zzz ***Mon Aug 14 10:00:00 CEST 2017";
        let notes = |zone: TimeZone, line: &[u8]| {
            let mut out = Out::new(
                "iostat",
                Options {
                    zone,
                    ..Options::default()
                },
            );
            assert!(told(line, &mut out).is_some());
            out.notes().count()
        };
        assert_eq!(notes(TimeZone::UTC, line), 1);
        assert_eq!(notes(berlin.clone(), line), 0);
        assert_eq!(notes(offset, line), 0);
        // It is winter time that is named so.
        assert_eq!(notes(berlin.clone(), b"Mon Aug 14 10:00:00 CET 2017"), 1);
        assert_eq!(notes(berlin, b"Mon Aug 14 10:00:00 PM 2017"), 0);
        assert_eq!(notes(TimeZone::UTC, b"=== 2017-08-14 10:00:00 ==="), 0);
    }

    #[test]
    fn times_as_scripts_print_them() {
        let options = Options::default();
        let at = datetime(2026, 11, 22, 14, 44, 43, 0);
        let zoned = Some(Stamp::Zoned(at, 0));
        let civil = Some(Stamp::Civil(at));
        for (text, wanted) in [
            ("Sun Nov 22 14:44:43 UTC 2026", zoned),
            ("zzz ***Sun Nov 22 14:44:43 UTC 2026", zoned),
            ("Sun Nov 22 14:44:43 2026", civil),
            ("Sun Nov 22 14:44:43 CEST 2026", civil),
            ("Sun 22 Nov 2026 02:44:43 PM UTC", zoned),
            (
                "Sun, 22 Nov 2026 14:44:43 +0100",
                Some(Stamp::Zoned(at, 3600)),
            ),
            ("Sunday, November 22, 2026 02:44:43 PM CET", civil),
            ("=== 2026-11-22 14:44:43 ===", civil),
            ("2026-11-22T14:44:43+00:00", zoned),
            ("2026-11-22T14:44:43Z", zoned),
            ("2026-11-22 14:44:43 -0800", Some(Stamp::Zoned(at, -28800))),
            ("11/22/2026 02:44:43 PM", civil),
            ("20261122_144443", civil),
            ("Sun Nov 22 14:44:43 PST8PDT 2026", civil),
            ("November 22, 2026 02:44:43 PM GMT", zoned),
            (
                "# 1475708693",
                Some(Stamp::Epoch(1_475_708_693_000_000_000)),
            ),
            (
                "1475708693.291",
                Some(Stamp::Epoch(1_475_708_693_291_000_000)),
            ),
            (
                "1475708693291",
                Some(Stamp::Epoch(1_475_708_693_291_000_000)),
            ),
            ("date: 14:44:43", Some(Stamp::Clock(at.time()))),
            ("So 22. Nov 14:44:43 MEZ 2026", civil),
            ("Sonntag, 22. November 2026, 14:44:43 Uhr MEZ", civil),
            ("dim. 22 nov. 2026 14:44:43 CET", civil),
            ("dimanche 22 novembre 2026 14:44:43 CET", civil),
            ("dom 22 nov 14:44:43 CET 2026", civil),
            ("2026年 11月 22日 日曜日 14:44:43 JST", civil),
            ("2026년 11월 22일 일요일 14:44:43 KST", civil),
            ("2026年11月22日 (日) 14時44分43秒 JST", civil),
            ("2026年11月22日 星期日 14时44分43秒 CST", civil),
            ("2026년 11월 22일 (일) 오후 02시 44분 43초", civil),
            ("12", None),
            ("Started 22 Nov 2026 14:44:43", None),
            ("So 22. jui 14:44:43 MEZ 2026", None),
            ("123456789 12", None),
            ("sda 1 2", None),
            ("cpu 1 2 3 4", None),
            ("MemTotal: 12 kB", None),
            ("May 1 2 3", None),
            ("----", None),
        ] {
            assert_eq!(stamp_line(text.as_bytes(), &options), Ok(wanted), "{text}");
        }
        assert!(stamp_line(b"04/08/17 01:02:03", &options).is_err());
    }
}
