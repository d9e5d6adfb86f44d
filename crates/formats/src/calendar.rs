//! Lines that are a date and a time, as `date` prints them and tools with `-T d`.

use jiff::civil::Date;

use crate::fields;
use crate::number::whole;
use crate::stamp_line::month_named;
use crate::time::{Stamp, time_of_day};

const DAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// Whether it is a day's name, whole or its first three letters, in any case.
fn is_day(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let same = |day: &&str| **day == text || (text.len() == 3 && day.starts_with(&text));
    DAYS.iter().any(same)
}

/// The moment, where the line is nothing but one: `Thu Mar 8 14:02:11 EST 2018`,
/// `Thu 08 Mar 2018 02:02:11 PM UTC`, `March 8, 2018 02:02:11 PM CET`, or seconds since 1970.
pub(crate) fn stamp(line: &[u8]) -> Option<Stamp> {
    let (mut month, mut day, mut year, mut time, mut half) = (None, None, None, None, None);
    let mut zone = None;
    let words: Vec<&[u8]> = fields(line).collect();
    if let &[only] = &words[..] {
        let seconds = whole(only).filter(|s| (100_000_000..100_000_000_000).contains(s))?;
        return Some(Stamp::Epoch(
            i64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?,
        ));
    }
    if !(4..=8).contains(&words.len()) {
        return None;
    }
    for word in words {
        let text = std::str::from_utf8(word).ok()?.trim_end_matches([',', '.']);
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        if digits && (1..=2).contains(&text.len()) && day.is_none() {
            day = Some(text.parse::<i8>().ok()?);
        } else if digits && text.len() == 4 && year.is_none() {
            year = Some(text.parse::<i16>().ok()?);
        } else if text.contains(':') && time.is_none() {
            time = Some(text.to_owned());
        } else if matches!(text, "AM" | "PM" | "am" | "pm") && half.is_none() {
            half = Some(text.to_owned());
        } else if month.is_none() && month_named(text.as_bytes()).is_some() {
            month = month_named(text.as_bytes());
        } else if is_day(text) {
        } else if zone.is_none() && is_zone(text) {
            zone = Some(text.to_owned());
        } else {
            return None;
        }
    }
    let date = Date::new(year?, month?, day?).ok()?;
    let half = half.as_ref().map(String::as_bytes);
    let at = date.to_datetime(time_of_day(time?.as_bytes(), half)?);
    Some(match zone.as_deref() {
        Some("UTC" | "GMT" | "Z" | "UCT") => Stamp::Zoned(at, 0),
        _ => Stamp::Civil(at),
    })
}

/// The name of a zone, as `CET` or `PST8PDT`.
fn is_zone(text: &str) -> bool {
    (1..=8).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn dates_of_many_locales() {
        let at = date(2018, 3, 8).at(14, 2, 11, 0);
        for (line, wanted) in [
            ("Thu Mar  8 14:02:11 EST 2018", Stamp::Civil(at)),
            ("Thu Mar  8 14:02:11 UTC 2018", Stamp::Zoned(at, 0)),
            ("Thu 08 Mar 2018 02:02:11 PM CET", Stamp::Civil(at)),
            ("March  8, 2018 02:02:11 PM GMT", Stamp::Zoned(at, 0)),
            ("Thursday, March 8, 2018 at 2:02:11 PM", Stamp::Civil(at)),
            ("1520517731", Stamp::Epoch(1_520_517_731_000_000_000)),
        ] {
            let found = stamp(line.replace(" at ", " ").as_bytes());
            assert_eq!(found, Some(wanted), "{line}");
        }
        for no in [
            "",
            "12",
            "tank 1 2 3 4",
            "Thu Mar 8",
            "Mar 8 14:02:11 x 2018",
        ] {
            assert_eq!(stamp(no.as_bytes()), None, "{no}");
        }
    }
}
