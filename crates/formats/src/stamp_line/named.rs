//! Dates whose month or day of the week has a name, as `date` prints them in many languages.

use jiff::civil::{Date, Time};

use super::names::{Named, counted, half, named};
use super::{clock, is_zone_name, offset, stamp};
use crate::number;
use crate::time::{DateOrder, Options, Refused, Stamp, date};

/// What stands between the parts of a date and says nothing; the last are of Vietnamese days and years.
#[rustfmt::skip]
const BETWEEN: [&str; 18] = [
    "uhr", "de", "del", "d", "m", "gada", "г", "წლის", "kl",
    "năm", "thứ", "hai", "ba", "tư", "sáu", "bảy", "chủ", "nhật",
];

/// What the words of a line tell, as far as they went.
#[derive(Default)]
struct Words<'a> {
    clock: Option<&'a [u8]>,
    half: Option<&'static [u8]>,
    east: Option<i32>,
    zones: usize,
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    /// Numbers of one or two digits, and whether the year came before them.
    numbers: Vec<i8>,
    year_first: bool,
    /// Whether a point is behind each of them.
    ordinal: bool,
    numeric: Option<&'a [u8]>,
    names: Vec<Named>,
    /// The next number is the month.
    counts_months: bool,
}

/// `Sun Nov 22 02:44:43 UTC 2026`, `Sun 22 Nov 2026 02:44:43 AM UTC`, `22 Nov 2026 02:44:43`; in
/// other languages `So 22. Nov 02:44:43 MEZ 2026`, `dim. 22 novembre 2026 02:44:43`,
/// `pe 27.11.2026 22.44.14`. `None` if a word is no part of a date, or the month can be one of two.
///
/// # Errors
/// Where its date can be read in two ways.
pub(super) fn of_names(parts: &[&[u8]], options: &Options) -> Result<Option<Stamp>, Refused> {
    // Rows of numbers are none, and are seen to be none here.
    let is_clock = |part: &&[u8]| part.contains(&b':') || has_points(part);
    if !parts.iter().any(is_clock) {
        return Ok(None);
    }
    let Some(words) = Words::of(parts) else {
        return Ok(None);
    };
    let Some(time) = words.time().filter(|_| words.zones <= 1) else {
        return Ok(None);
    };
    let day = words.day(options)?;
    Ok(day.map(|day| stamp(day.to_datetime(time), words.east)))
}

/// The same of a day alone: `27. 11. 2026`, `2026년 11월 27일`, `27. nov. 2026`.
///
/// # Errors
/// Where it can be read in two ways.
pub(crate) fn day_in_words(text: &[u8], options: &Options) -> Result<Option<Date>, Refused> {
    let parts: Vec<&[u8]> = crate::fields(text).collect();
    match Words::of(&parts) {
        Some(words) if words.clock.is_none() && words.zones == 0 => words.day(options),
        _ => Ok(None),
    }
}

/// `22.44.14`.
fn has_points(text: &[u8]) -> bool {
    let digit = |at: usize| text[at].is_ascii_digit();
    text.len() == 8
        && text[2] == b'.'
        && text[5] == b'.'
        && [0, 1, 3, 4, 6, 7].into_iter().all(digit)
}

impl<'a> Words<'a> {
    fn of(parts: &[&'a [u8]]) -> Option<Words<'a>> {
        let mut words = Words {
            ordinal: true,
            ..Words::default()
        };
        for part in parts {
            words.take(part)?;
        }
        Some(words)
    }

    /// The next word. `None` if it is no part of a date.
    fn take(&mut self, part: &'a [u8]) -> Option<()> {
        let part = part.strip_suffix(b",").unwrap_or(part);
        let part = part
            .strip_prefix(b"(")
            .and_then(|p| p.strip_suffix(b")"))
            .unwrap_or(part);
        if part.contains(&b':') {
            self.clock = Some(part);
            return Some(());
        }
        let bare = part.strip_suffix(b".").unwrap_or(part);
        if let Some(value) = number::whole(bare).filter(|_| bare[0].is_ascii_digit()) {
            return self.number(value, bare.len(), bare.len() < part.len());
        }
        if part.first()?.is_ascii_digit() {
            // `28.jan`.
            if let Some(at) = part.iter().position(|b| *b == b'.')
                && part.get(at + 1).is_some_and(|b| !b.is_ascii_digit())
            {
                self.take(&part[..=at])?;
                return self.take(&part[at + 1..]);
            }
            if self.numeric.is_some() && has_points(part) {
                self.clock = Some(part);
                return Some(());
            }
            if !matches!(date(bare, &Options::default()), Ok(None)) {
                return self.numeric.replace(bare).is_none().then_some(());
            }
        }
        if let Some(half) = half(part) {
            self.half = Some(half);
            return Some(());
        }
        if let Some(offset) = offset(part) {
            self.east = Some(offset);
            return Some(());
        }
        let text = std::str::from_utf8(part).ok()?;
        if let Some((number, what)) = counted(text) {
            match what {
                'y' => self.year = Some(number.parse().ok()?),
                'm' => self.month = Some(number.parse().ok()?),
                _ => self.day = Some(number.parse().ok()?),
            }
            return Some(());
        }
        // A zone by name means another offset elsewhere; the user's zone holds. `PET` is a Friday, too.
        let is_zone = is_zone_name(part);
        if is_zone && self.clock.is_some() && self.names.iter().any(|n| n.months != 0) {
            self.zones += 1;
            return Some(());
        }
        let names = named(text);
        if names != Named::default() {
            self.names.push(names);
            return Some(());
        }
        let lower = text.strip_suffix('.').unwrap_or(text).to_lowercase();
        if matches!(&lower[..], "tháng" | "thg") {
            self.counts_months = true;
            return Some(());
        }
        if BETWEEN.contains(&&lower[..]) {
            return Some(());
        }
        self.zones += usize::from(is_zone);
        is_zone.then_some(())
    }

    fn number(&mut self, value: u64, digits: usize, has_point: bool) -> Option<()> {
        match digits {
            4 if self.year.is_none() => {
                self.year_first = self.numbers.is_empty();
                self.year = i16::try_from(value).ok();
            }
            1 | 2 if std::mem::take(&mut self.counts_months) => {
                self.month = i8::try_from(value).ok();
            }
            1 | 2 => {
                self.numbers.push(i8::try_from(value).ok()?);
                self.ordinal &= has_point;
            }
            _ => return None,
        }
        Some(())
    }

    fn day(&self, options: &Options) -> Result<Option<Date>, Refused> {
        match self.numeric {
            Some(text) => self.of_numbers(text, options),
            None => Ok(self.of_words()),
        }
    }

    fn time(&self) -> Option<Time> {
        let text = self.clock?;
        if has_points(text) {
            let colons: Vec<u8> = text
                .iter()
                .map(|b| if *b == b'.' { b':' } else { *b })
                .collect();
            return clock(&colons, self.half);
        }
        clock(text, self.half)
    }

    /// A date of three numbers, perhaps with the day of the week, which may say in what order they are.
    fn of_numbers(&self, text: &[u8], options: &Options) -> Result<Option<Date>, Refused> {
        let is_all = self.numbers.is_empty() && self.year.is_none() && self.names.len() <= 1;
        let days = self.names.first().map_or(0, |n| n.days);
        if !is_all || self.names.len() == 1 && days == 0 {
            return Ok(None);
        }
        let refused = match date(text, options) {
            Err(refused) => refused,
            found => return found,
        };
        let in_order = |order| {
            let options = Options {
                dates: Some(order),
                ..options.clone()
            };
            date(text, &options).ok().flatten()
        };
        let orders = [DateOrder::Dmy, DateOrder::Mdy, DateOrder::Ymd];
        let mut found = orders
            .into_iter()
            .filter_map(in_order)
            .filter(|d| is_day(*d, days));
        match (found.next(), found.next()) {
            (Some(found), None) => Ok(Some(found)),
            _ => Err(refused),
        }
    }

    fn of_words(&self) -> Option<Date> {
        let year = self.year?;
        // `mar. 3 mars`: a month's name in front may be a weekday's.
        let is_month = |n: &&Named| n.months != 0;
        let at = match self.names.iter().filter(is_month).count() {
            0 => None,
            1 => self.names.iter().position(|n| n.months != 0),
            _ => self.names.iter().rposition(|n| n.months != 0),
        };
        let mut others = self
            .names
            .iter()
            .enumerate()
            .filter(|(i, _)| Some(*i) != at);
        let days = match (others.next(), others.next()) {
            (None, _) => 0,
            (Some((_, day)), None) if day.days != 0 => day.days,
            _ => return None,
        };
        let (months, day) = match (at, self.month, self.day, &self.numbers[..]) {
            (Some(at), None, None, &[day]) => (self.names[at].months, day),
            (None, Some(month), None, &[day]) | (None, Some(month), Some(day), []) => {
                (month_bit(month)?, day)
            }
            (None, None, None, &[month, day]) if self.year_first && self.ordinal => {
                (month_bit(month)?, day)
            }
            (None, None, None, &[day, month]) if self.ordinal => (month_bit(month)?, day),
            _ => return None,
        };
        let dates = |months: u16| {
            (1_i8..=12)
                .filter(move |m| months & (1 << (m - 1)) != 0)
                .filter_map(move |m| Date::new(year, m, day).ok())
        };
        let mut found = dates(months);
        match (found.next(), found.next()) {
            (found, None) => found,
            // The day of the week tells which.
            _ => {
                let mut found = dates(months).filter(|d| days != 0 && is_day(*d, days));
                found.next().filter(|_| found.next().is_none())
            }
        }
    }
}

fn month_bit(month: i8) -> Option<u16> {
    (1..=12).contains(&month).then(|| 1 << (month - 1))
}

/// Whether the date is one of those days of the week, a bit each from Sunday.
fn is_day(date: Date, days: u8) -> bool {
    days & (1 << date.weekday().to_sunday_zero_offset()) != 0
}
