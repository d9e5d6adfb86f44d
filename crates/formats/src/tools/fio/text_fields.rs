//! What stands in a line of fio's text.

use jiff::civil::DateTime;

use crate::number::decimals;

/// `key=value` after `key=value`, with a comma and a blank between: `675,39` is a value.
///
/// Means have two decimals (`%5.02f`): one that lacks them was cut at the end of its line.
pub(super) fn pairs(text: &str) -> Vec<(&str, &str)> {
    let is_whole = |(key, value): &(&str, &str)| {
        !matches!(*key, "avg" | "stdev") || decimals(value.as_bytes()) >= 2
    };
    let pair = |part: &'_ str| -> Option<(usize, usize)> {
        let at = part.find('=')?;
        // `>=64=0.0%`
        let at = match part[..at].trim() {
            ">" => at + 1 + part[at + 1..].find('=')?,
            _ => at,
        };
        Some((at, at + 1))
    };
    text.split(", ")
        .map(|part| part.trim_end_matches([',', ' ']))
        .filter_map(|part| pair(part).map(|(a, b)| (part[..a].trim(), part[b..].trim())))
        .filter(is_whole)
        .collect()
}

/// `Sun Nov 22 02:49:54 2026`.
pub(super) fn ctime(text: &str) -> Option<DateTime> {
    let parts: Vec<&str> = text.split_whitespace().collect();
    let [_, month, day, time, year] = parts[..] else {
        return None;
    };
    let months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let month = months
        .find(month)
        .filter(|at| month.len() == 3 && at % 3 == 0)?
        / 3
        + 1;
    let date = jiff::civil::Date::new(year.parse().ok()?, month as i8, day.parse().ok()?).ok()?;
    Some(date.to_datetime(crate::time_of_day(time.as_bytes(), None)?))
}
