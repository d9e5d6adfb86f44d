//! Time stamps that a line begins with.

use jiff::civil::Date;

use crate::number::whole;
use crate::time::{Stamp, time_of_day};

/// Text that a line begins with.
pub(super) fn beginning(line: &[u8]) -> Option<&str> {
    let beginning = &line[..line.len().min(512)];
    match std::str::from_utf8(beginning) {
        Ok(text) => Some(text),
        Err(e) => std::str::from_utf8(&beginning[..e.valid_up_to()]).ok(),
    }
}

/// Length of a date and the blank or letter after it, as `2025-06-03T` or `Nov 22 `; the date, if
/// it has a year.
pub(super) fn date(text: &str) -> Option<(usize, Option<Date>)> {
    let iso = || {
        let day = text.get(..10).filter(|d| d.is_ascii())?;
        let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        let mark = matches!(
            day.as_bytes(),
            [_, _, _, _, b'-', _, _, b'-', ..] | [_, _, _, _, b'/', _, _, b'/', ..]
        );
        let date = mark && digits(day.get(..4)?) && digits(day.get(5..7)?);
        let ends = matches!(
            text.as_bytes().get(10),
            Some(b' ' | b'T' | b'.' | b'_' | b'-')
        );
        (date && ends).then(|| (11, day.replace('/', "-").parse().ok()))
    };
    let syslog = || {
        const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
        let month = text.get(..3).filter(|m| m.is_ascii())?;
        let known = MONTHS.find(month)? % 3 == 0;
        let day = text.get(3..7)?.trim();
        (known && day.parse::<u8>().is_ok()).then_some((7, None))
    };
    iso().or_else(syslog)
}

/// A time stamp that a line begins with, and its length: a date, a time, perhaps a fraction and a
/// zone.
pub(super) fn moment(line: &[u8]) -> Option<(Stamp, usize)> {
    let text = beginning(line)?;
    let (at, date) = date(text)?;
    let rest = text.get(at..)?;
    let time = rest.get(..8)?;
    let mut length = 8;
    let digits = |from: usize| {
        let digits = rest.get(from..).unwrap_or_default().bytes();
        digits.take_while(u8::is_ascii_digit).count()
    };
    let fraction = match rest.as_bytes().get(8) {
        Some(b'.' | b',') => digits(9).min(9),
        _ => 0,
    };
    let mut shown = time.to_owned();
    if fraction > 0 {
        length = 9 + digits(9);
        shown = format!("{time}.{}", &rest[9..9 + fraction]);
    }
    let time = time_of_day(shown.as_bytes(), None)?;
    let Some(date) = date else {
        return Some((Stamp::Clock(time), at + length));
    };
    let civil = date.to_datetime(time);
    let zone = rest.get(length..).unwrap_or_default();
    let two = |from: usize| zone.get(from..from + 2)?.parse::<i32>().ok();
    let minutes = if zone.as_bytes().get(3) == Some(&b':') {
        4
    } else {
        3
    };
    let (stamp, more) = match zone.as_bytes().first() {
        Some(b'Z') => (Stamp::Zoned(civil, 0), 1),
        Some(sign @ (b'+' | b'-')) if two(1).is_some() && two(minutes).is_some() => {
            let east = two(1)? * 3600 + two(minutes)? * 60;
            let east = if *sign == b'-' { -east } else { east };
            (Stamp::Zoned(civil, east), minutes + 2)
        }
        _ => (Stamp::Civil(civil), 0),
    };
    Some((stamp, at + length + more))
}

/// A time stamp, perhaps in brackets or with a colon, and its length with the blank after it.
pub(super) fn bare_stamp(line: &[u8]) -> Option<(Stamp, usize)> {
    let (open, inner) = match line.strip_prefix(b"[") {
        Some(inner) => (1, inner),
        None => (0, line),
    };
    let (stamp, length) = moment(inner).or_else(|| time_alone(inner))?;
    let mut length = open + length;
    match line.get(length) {
        Some(b']') if open > 0 => length += 1,
        Some(b':') if open == 0 => length += 1,
        _ if open > 0 => return None,
        _ => {}
    }
    length += stream_length(&line[length..]);
    match line.get(length) {
        None => Some((stamp, length)),
        Some(b' ' | b'\t') => Some((stamp, length + 1)),
        Some(_) => None,
    }
}

/// Length of ` 01O`, the number of a stream in two hexadecimal digits and whether it is of output or of
/// errors, as GitLab's runner puts it behind the time.
fn stream_length(rest: &[u8]) -> usize {
    match rest {
        [b' ', a, b, b'O' | b'E', end @ ..]
            if a.is_ascii_hexdigit()
                && b.is_ascii_hexdigit()
                && matches!(end.first(), None | Some(b' ')) =>
        {
            4
        }
        _ => 0,
    }
}

/// A time of day, or seconds since 1970 with or without a fraction, and its length.
fn time_alone(line: &[u8]) -> Option<(Stamp, usize)> {
    let is_number = |b: &u8| b.is_ascii_digit() || matches!(b, b':' | b'.');
    let length = line.iter().take_while(|b| is_number(b)).count();
    // A colon may end it.
    let text = &line[..length];
    let text = text.strip_suffix(b":").unwrap_or(text);
    if text.len() >= 8 && text.get(2) == Some(&b':') && text.get(5) == Some(&b':') {
        return time_of_day(text, None).map(|time| (Stamp::Clock(time), text.len()));
    }
    let (seconds, fraction) = match text.iter().position(|b| *b == b'.') {
        Some(dot) => (&text[..dot], &text[dot + 1..]),
        None => (text, &b""[..]),
    };
    if seconds.len() != 10 || fraction.len() > 9 {
        return None;
    }
    let seconds = i64::try_from(whole(seconds)?).ok()?;
    let digits = whole(fraction).or(fraction.is_empty().then_some(0))?;
    let nanos = i64::try_from(digits).ok()? * 10_i64.pow(9 - fraction.len() as u32);
    Some((Stamp::Epoch(seconds * 1_000_000_000 + nanos), text.len()))
}
