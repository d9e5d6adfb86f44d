//! Dates and times of day as texts write them.

use jiff::civil::{Date, Time};

use super::{DateOrder, Options, Refused};

/// A date of three numbers, as `04/08/17` or `2018-03-08`.
///
/// # Errors
/// Where it can be read in two ways and the options do not decide. `None` if it is no date.
pub fn date(text: &[u8], options: &Options) -> Result<Option<Date>, Refused> {
    let Some((text, parts)) = parts(text) else {
        return Ok(None);
    };
    let make = |order| make(parts, order);
    let [first, ..] = parts;
    if first.len() == 4 {
        return Ok(make(DateOrder::Ymd));
    }
    // One that can be read in one way only is read so.
    if let Some(date) = options.dates.and_then(make) {
        return Ok(Some(date));
    }
    let mut found: Vec<(Date, &str)> = Vec::new();
    for (order, name) in orders(text, first) {
        let Some(date) = make(order) else { continue };
        let known = found.iter().any(|(known, _)| *known == date);
        let to_come = order == DateOrder::Ymd && is_to_come(date, options);
        if !known && !to_come {
            found.push((date, name));
        }
    }
    match found[..] {
        [] => Ok(None),
        [(date, _)] => Ok(Some(date)),
        _ => {
            let either = |each: &dyn Fn(&(Date, &str)) -> String| {
                let all: Vec<String> = found.iter().map(each).collect();
                all.join(" or ")
            };
            Err(Refused(format!(
                "the date {text} can be {}\nhint: say {}",
                either(&|(date, _)| format!("the {date}")),
                either(&|(_, name)| format!("--date-order {name}")),
            )))
        }
    }
}

/// The order in which such a date is written, where it can be read in one order only.
pub(crate) fn order_of(text: &[u8], options: &Options) -> Option<DateOrder> {
    let (text, parts) = parts(text).filter(|(_, [first, ..])| first.len() < 4)?;
    let is_one = |order: &DateOrder| {
        make(parts, *order)
            .is_some_and(|date| *order != DateOrder::Ymd || !is_to_come(date, options))
    };
    let all = orders(text, parts[0]).map(|(order, _)| order);
    let mut all = all.filter(is_one);
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// A date's text and its three numbers.
fn parts(text: &[u8]) -> Option<(&str, [&str; 3])> {
    let text = std::str::from_utf8(text).ok()?;
    let mut parts = text.split(['/', '-', '.']);
    let three = [parts.next()?, parts.next()?, parts.next()?];
    let digits = |t: &&str| (1..=4).contains(&t.len()) && t.bytes().all(|b| b.is_ascii_digit());
    (parts.next().is_none() && three.iter().all(digits)).then_some((text, three))
}

/// The date that its numbers are in that order.
fn make([first, second, third]: [&str; 3], order: DateOrder) -> Option<Date> {
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
    let [year_text, month, day] = match order {
        DateOrder::Ymd => [first, second, third],
        DateOrder::Dmy => [third, second, first],
        DateOrder::Mdy => [third, first, second],
    };
    Date::new(year(year_text)?, small(month)?, small(day)?).ok()
}

/// The orders in which a date may be written, and what the options call them.
fn orders(text: &str, first: &str) -> impl Iterator<Item = (DateOrder, &'static str)> {
    // The year comes first where it has two digits, too; with dots the day does.
    let year_first = first.len() == 2 && !text.contains('.');
    let year_first = year_first.then_some((DateOrder::Ymd, "ymd"));
    let orders = [(DateOrder::Dmy, "dmy"), (DateOrder::Mdy, "mdy")];
    orders.into_iter().chain(year_first)
}

/// Whether nothing can be measured that day, for it is to come.
fn is_to_come(date: Date, options: &Options) -> bool {
    let start = options
        .zone
        .to_timestamp(date.to_datetime(Time::midnight()));
    match (start, options.latest) {
        (Ok(start), Some(latest)) => start.as_nanosecond() > i128::from(latest),
        _ => false,
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
    use crate::time::in_zone;
    use jiff::civil;
    use jiff::tz::TimeZone;

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
        assert_eq!(date(b"28.03.18", &open), at(2018, 3, 28));
        assert_eq!(date(b"11/23/17", &open), at(2017, 11, 23));
        assert_eq!(date(b"05/05/2017", &open), at(2017, 5, 5));
        for (text, orders) in [
            ("04/08/17", "dmy mdy ymd"),
            ("04/08/2017", "dmy mdy"),
            ("13/03/04", "dmy ymd"),
            ("05/05/17", "dmy ymd"),
            ("28/03/18", "dmy ymd"),
            ("99/03/04", ""),
        ] {
            let Err(Refused(why)) = date(text.as_bytes(), &open) else {
                assert_eq!(orders, "", "{text}");
                continue;
            };
            let named: Vec<&str> = why.split("--date-order ").skip(1).collect();
            let named: Vec<&str> = named.iter().map(|n| &n[..3]).collect();
            assert_eq!(named.join(" "), orders, "{why}");
        }
        for (text, order) in [
            ("03/28/18", Some(DateOrder::Mdy)),
            ("28/03/2018", Some(DateOrder::Dmy)),
            ("28.03.18", Some(DateOrder::Dmy)),
            ("05/05/2017", None),
            ("28/03/18", None),
            ("2018-03-28", None),
            ("x", None),
        ] {
            assert_eq!(order_of(text.as_bytes(), &open), order, "{text}");
        }
        // Nobody measured in 2028 yet.
        let now = in_zone(civil::date(2026, 11, 23).into(), &TimeZone::UTC, None);
        let lately = Options {
            latest: Some(now.expect("a moment")),
            ..Options::default()
        };
        assert_eq!(date(b"28/03/18", &lately), at(2018, 3, 28));
        assert!(date(b"13/03/04", &lately).is_err());
        assert_eq!(date(b"13/03/04", &told(DateOrder::Ymd)), at(2013, 3, 4));
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
}
