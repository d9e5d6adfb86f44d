//! Times as the tools print them, in several locales.

use jiff::civil::Date;

use crate::Line;
use crate::number::whole;
use crate::out::Out;
use crate::stamp_line::{day_in_words, half, stamp_line};
use crate::time::{DateOrder, Stamp, date, order_of, time_of_day};

/// The day that a banner told, read when a time of day needs it.
#[derive(Debug, Default)]
pub(crate) struct Day {
    text: Vec<u8>,
    found: Option<Date>,
    /// The order of dates of this output, where one of them can be read in one order only, and
    /// whether others are in another.
    order: Option<DateOrder>,
    mixed: bool,
}

impl Day {
    pub(crate) fn new(text: &[u8]) -> Day {
        Day {
            text: text.to_vec(),
            ..Day::default()
        }
    }

    /// Of a system whose tool has one order, whatever the language.
    pub(crate) fn in_order(text: &[u8], order: DateOrder) -> Day {
        Day {
            order: Some(order),
            ..Day::new(text)
        }
    }

    /// How many words a day is written in.
    fn words(&self) -> usize {
        crate::fields(&self.text).count().max(1)
    }

    /// The day. A date that can be read in two ways makes `out` refuse the file.
    pub(crate) fn date(&mut self, out: &mut Out) -> Date {
        if let Some(date) = self.found {
            return date;
        }
        let text = std::mem::take(&mut self.text);
        let found = self.of(&text, out).unwrap_or_else(|| out.day());
        self.text = text;
        self.found = Some(found);
        found
    }

    /// A date in any of the tools' forms, `2018年03月08日` among them. The tool writes all of an
    /// output in one order: the banner's date may tell it, or one that came before.
    fn of(&mut self, text: &[u8], out: &mut Out) -> Option<Date> {
        let mut options = out.options().clone();
        for told in [&self.text[..], text] {
            if let Some(order) = order_of(plain(told).as_bytes(), &options) {
                self.mixed |= *self.order.get_or_insert(order) != order;
            }
        }
        let order = self.order.filter(|_| !self.mixed);
        options.dates = options.dates.or(order).or(day_first(text));
        let numbers = date(plain(text).as_bytes(), &options);
        let words = |found: Option<Date>| match found {
            None => day_in_words(text, &options),
            found => Ok(found),
        };
        match numbers.and_then(words) {
            Ok(date) => date,
            Err(why) => {
                out.refuse(why);
                None
            }
        }
    }
}

/// The order of a date with dots: no language of the tools has the month first with them.
fn day_first(text: &[u8]) -> Option<DateOrder> {
    memchr::memchr(b'.', text).map(|_| DateOrder::Dmy)
}

/// A date with the signs that are between numbers in most languages.
fn plain(text: &[u8]) -> String {
    let plain = String::from_utf8_lossy(text)
        .replace(['年', '月'], "-")
        .replace('日', "");
    // Some languages end it as an ordinal number.
    plain.trim_end_matches('.').to_owned()
}

/// Zones that some locales of English print behind a time with AM or PM.
const ZONES: [&[u8]; 24] = [
    b"UTC", b"GMT", b"BST", b"WET", b"CET", b"CEST", b"EET", b"EEST", b"MSK", b"IST", b"PKT",
    b"HKT", b"SGT", b"PHT", b"JST", b"KST", b"AEST", b"AEDT", b"EST", b"EDT", b"CST", b"CDT",
    b"PST", b"PDT",
];

/// A time of day at the beginning of `fields`, and how many of them it takes: `13:45:01`,
/// `01:45:01 PM`, `01:45:01 PM IST`, `13.45.01`, `13:45:01 IST`.
pub(crate) fn clock(fields: &[&[u8]]) -> Option<(jiff::civil::Time, usize)> {
    let first = fields.first()?;
    // Hours, minutes and seconds.
    let dots = first.len() == 8 && first.split(|b| *b == b'.').all(|part| part.len() == 2);
    if !dots && first.split(|b| *b == b':').count() != 3 {
        return None;
    }
    let half = fields.get(1).and_then(|f| half(f));
    let time = if dots {
        let colons: Vec<u8> = first
            .iter()
            .map(|b| if *b == b'.' { b':' } else { *b })
            .collect();
        time_of_day(&colons, half)?
    } else {
        time_of_day(first, half)?
    };
    let words = 1 + usize::from(half.is_some());
    let zone = fields.get(words).is_some_and(|z| ZONES.contains(z));
    Some((time, words + usize::from(zone)))
}

/// Why times are not read that tell no half of the day.
pub(super) const HALF_UNTOLD: &str = "its clock has twelve hours and does not tell which half of the day it \
                                      is, as in the language en_IN\n\
                                      hint: LC_TIME=C before the tool's command has times of 24 hours";

/// Whether the clock at the beginning of `fields` has twelve hours and does not tell the half of the day:
/// those that print a zone do so behind that, which is no word in some languages.
pub(super) fn lacks_half(fields: &[&[u8]]) -> bool {
    let zone = fields.get(1).is_some_and(|z| ZONES.contains(z));
    zone && clock(fields).is_some_and(|(time, _)| (1..=12).contains(&time.hour()))
}

/// The line with the colons of other languages: `05時59分53秒` is `05:59:53`. `None` if it has none
/// but these.
pub(crate) fn with_colons(line: &[u8]) -> Option<Vec<u8>> {
    const LONGEST: usize = "05시 21분 12초".len();
    let beginning = &line[..line.len().min(2 * LONGEST)];
    if beginning.is_ascii() {
        return None;
    }
    let hour = |h: &str| memchr::memmem::find(beginning, h.as_bytes()).is_some();
    if !["時", "时", "시"].into_iter().any(hour) {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?;
    // Korean has blanks between.
    let text = text.replacen("시 ", ":", 1).replacen("분 ", ":", 1);
    let text = text.replace(['時', '时', '시', '分', '분'], ":");
    Some(text.replace(['秒', '초'], "").into_bytes())
}

/// Whether a line is one of means of the whole text: `Average:` in the tool's language,
/// `Moyenne :`, `Trung bình:`.
pub(crate) fn is_average(all: &[&[u8]]) -> bool {
    let ends = |w: &[u8]| w.len() > 1 && w.ends_with(b":") || w.ends_with("：".as_bytes());
    let label = |w: &&[u8]| !w.iter().any(u8::is_ascii_digit);
    match all {
        [b"Average", ..] => true,
        [first, b":", ..] => label(first),
        [first, ..] if ends(first) => label(first),
        [first, second, ..] => ends(second) && label(first) && label(second),
        _ => false,
    }
}

/// What a line is that is not understood, of a tool that prints times itself: that of a script is told
/// twice. Where the banner is lost it has the day.
pub(crate) fn time_of_script(line: &[u8], out: &mut Out) -> Line {
    match stamp_line(line, out.options()) {
        Ok(Some(stamp)) => {
            out.date_above(stamp);
            Line::Noise
        }
        _ => Line::Unknown,
    }
}

/// A whole line that is a time: `03/08/2018 12:00:01 AM`, `08.03.2018 00:00:01`,
/// `2018-03-08T00:00:01+0100`, `Time: 12:00:01 AM` in any language. `day` is the banner's.
pub(crate) fn stamp(line: &[u8], day: &mut Day, out: &mut Out) -> Option<Stamp> {
    let plain = with_colons(line);
    let line = plain.as_deref().unwrap_or(line);
    let all: Vec<&[u8]> = crate::fields(line).collect();
    let (&first, rest) = all.split_first()?;
    // `Time:` in the tool's language, `Zeit:`, `Heure :`.
    let labelled = match rest {
        [b":", rest @ ..] => Some(rest),
        rest => first.ends_with(b":").then_some(rest),
    };
    let label = |word: &[u8]| !word.iter().any(u8::is_ascii_digit);
    if let Some(rest) = labelled.filter(|_| label(first)) {
        let (time, taken) = clock(rest)?;
        if taken != rest.len() || lacks_half(rest) {
            return None;
        }
        if day.found.is_none() {
            let date = day.date(out);
            out.date(date);
        }
        return Some(Stamp::Clock(time));
    }
    if rest.is_empty() {
        return iso(first);
    }
    // Some languages have blanks between the numbers of a day, as the banner shows.
    let (of_day, rest) = all.split_at_checked(day.words())?;
    let (time, taken) = clock(rest)?;
    // A zone may follow, as a word; it is not needed where the reader's is used.
    let is_whole = taken == rest.len() && !lacks_half(rest);
    if !is_whole || !first.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let date = day.of(&of_day.join(&b' '), out)?;
    Some(Stamp::Civil(date.to_datetime(time)))
}

/// `2018-03-08T00:00:01+0100`, also with `+01:00`, `Z` or nothing after the time.
pub(crate) fn iso(text: &[u8]) -> Option<Stamp> {
    if text.len() < 19 || text[10] != b'T' {
        return None;
    }
    let day: Date = std::str::from_utf8(&text[..10]).ok()?.parse().ok()?;
    let (time, zone) = text[11..].split_at(8);
    let at = day.to_datetime(time_of_day(time, None)?);
    let east = match zone {
        [] => return Some(Stamp::Civil(at)),
        b"Z" => 0,
        [sign @ (b'+' | b'-'), offset @ ..] => {
            let digits: Vec<u8> = offset.iter().copied().filter(|b| *b != b':').collect();
            let (hours, minutes) = match digits.len() {
                2 => (whole(&digits)?, 0),
                4 => (whole(&digits[..2])?, whole(&digits[2..])?),
                _ => return None,
            };
            let east = i32::try_from(hours * 3600 + minutes * 60).ok()?;
            if *sign == b'-' { -east } else { east }
        }
        _ => return None,
    };
    Some(Stamp::Zoned(at, east))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Options;
    use jiff::civil;

    #[test]
    fn times_of_several_locales() {
        let mut out = Out::new("iostat", Options::default());
        let mut day = Day::new(b"2018-03-08");
        let at = civil::date(2018, 3, 28).at(0, 0, 1, 0);
        for (line, wanted) in [
            ("03/28/2018 12:00:01 AM", Stamp::Civil(at)),
            ("28.03.2018 00:00:01", Stamp::Civil(at)),
            ("28.03.2018. 00:00:01", Stamp::Civil(at)),
            ("28.03.2018 00.00.01", Stamp::Civil(at)),
            ("2018年03月28日 00:00:01", Stamp::Civil(at)),
            ("2018年03月28日 00時00分01秒", Stamp::Civil(at)),
            ("2018-03-28T00:00:01+0100", Stamp::Zoned(at, 3600)),
            ("2018-03-28T00:00:01-02:30", Stamp::Zoned(at, -9000)),
            ("2018-03-28T00:00:01Z", Stamp::Zoned(at, 0)),
            ("Time: 12:00:01 AM", Stamp::Clock(civil::time(0, 0, 1, 0))),
            ("Zeit: 00:00:01", Stamp::Clock(civil::time(0, 0, 1, 0))),
            ("Heure : 00:00:01", Stamp::Clock(civil::time(0, 0, 1, 0))),
            ("Время: 00:00:01", Stamp::Clock(civil::time(0, 0, 1, 0))),
        ] {
            let found = stamp(line.as_bytes(), &mut day, &mut out);
            assert_eq!(found, Some(wanted), "{line}");
        }
        for no in [
            "",
            "sda 1 2",
            "12:00",
            "03/28/2018",
            "Time: x",
            "sda1: 1:2:3",
        ] {
            assert_eq!(stamp(no.as_bytes(), &mut day, &mut out), None, "{no}");
        }
        // With dots the day comes first, where it can.
        let ninth = civil::date(2018, 8, 9).at(0, 0, 1, 0);
        for (line, wanted) in [("09.08.2018 00:00:01", ninth), ("03.28.2018 00:00:01", at)] {
            let found = stamp(line.as_bytes(), &mut day, &mut out);
            assert_eq!(found, Some(Stamp::Civil(wanted)), "{line}");
        }
        assert!(out.refused().is_none());
        assert_eq!(stamp(b"03/08/2018 10:00:01", &mut day, &mut out), None);
        assert!(out.refused().is_some());
    }
}
