//! How top puts numbers beside their names. It separates no thousands: `1,234g` of some locales
//! is a little more than one.

use crate::number::{decimal, scaled_decimal};

const KIB: f64 = 1024.0;

/// What follows the first colon.
pub(super) fn after_colon(line: &[u8]) -> &[u8] {
    let at = line.iter().position(|b| *b == b':');
    at.map_or(&[], |at| &line[at + 1..])
}

/// The rest of a line from its field of that number, from zero, on.
pub(super) fn rest_from(line: &[u8], field: usize) -> &[u8] {
    let mut rest = line.trim_ascii();
    for _ in 0..field {
        let end = rest.iter().position(u8::is_ascii_whitespace);
        rest = end.map_or(&[], |end| rest[end..].trim_ascii_start());
    }
    rest
}

/// `  5.9 us,  5.9 sy, 100.0 id` by name, also `5.9%us`, `5,9 us`, `3861332k total`; a letter
/// is a step of 1,024. A number that is cut (`12345+total`: there were more digits) is not known.
/// German names become English ones. `None` if nothing is known.
pub(super) fn pairs(text: &[u8]) -> Option<Vec<(String, f64)>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', ',', '.', '\t']);
        if rest.is_empty() {
            break;
        }
        let name_at = rest.find(char::is_alphabetic);
        let Some(mut name_at) = name_at else { break };
        if name_at == 0 {
            // A second word of a name, as `Mem`.
            let end = rest.find([' ', ',', '\t']).unwrap_or(rest.len());
            rest = &rest[end..];
            continue;
        }
        // A letter right after a digit, and alone, is the number's.
        let bytes = rest.as_bytes();
        let letter = bytes[name_at - 1].is_ascii_digit();
        let alone = !bytes.get(name_at + 1).is_some_and(u8::is_ascii_alphabetic);
        if letter && alone {
            name_at += 1;
        }
        let (value, after) = rest.split_at(name_at);
        let value = value.trim().trim_end_matches('%').trim();
        let value = match value.strip_suffix('+') {
            Some(cut) => scaled_decimal(cut.as_bytes(), KIB).map(|_| f64::NAN)?,
            None => scaled_decimal(value.as_bytes(), KIB)?,
        };
        let after = after.trim_start();
        let is_name = |c: char| c.is_alphabetic() || c == '/';
        let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
        found.push((english(&after[..end]).to_owned(), value));
        rest = &after[end..];
    }
    found.iter().any(|(_, v)| !v.is_nan()).then_some(found)
}

/// The English name of what is so much, where it is a German one.
fn english(name: &str) -> &str {
    match name {
        "gesamt" => "total",
        "frei" => "free",
        "belegt" => "used",
        "verfü" => "avail",
        "Puff/Cache" => "buff/cache",
        _ => name,
    }
}

pub(super) fn of(pairs: &[(String, f64)], name: &str) -> f64 {
    let found = pairs.iter().find(|(n, _)| n == name);
    found.map_or(f64::NAN, |(_, v)| *v)
}

/// Seconds of `1:02.50` or `123:45` (minutes first), `2:03:04`.
pub(super) fn clock_seconds(text: &[u8]) -> Option<f64> {
    let mut seconds = 0.0;
    for part in text.split(|b| *b == b':') {
        seconds = seconds * 60.0 + decimal(part)?;
    }
    Some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_before_their_names() {
        let read = |text: &str| pairs(text.as_bytes());
        let two = |a: &str, x, b: &str, y| Some(vec![(a.to_owned(), x), (b.to_owned(), y)]);
        assert_eq!(read("  5.9 us,100.0 sy "), two("us", 5.9, "sy", 100.0));
        assert_eq!(read("  5,9 us,100,0 sy"), two("us", 5.9, "sy", 100.0));
        assert_eq!(read(" 5.9%us, 0.1% sy"), two("us", 5.9, "sy", 0.1));
        assert_eq!(
            read(" 2k total, 3M used"),
            two("total", 2048.0, "used", 3_145_728.0)
        );
        assert_eq!(
            read(" 0 used.  34 avail Mem "),
            two("used", 0.0, "avail", 34.0)
        );
        assert_eq!(
            read(" 7 free, 8 buff/cache"),
            two("free", 7.0, "buff/cache", 8.0)
        );
        assert_eq!(
            read(" 1,500g total, 0,250g used"),
            two("total", 1.5 * KIB.powi(3), "used", 0.25 * KIB.powi(3))
        );
        let cut = read(" 13191+total,  1234 free").expect("one is known");
        assert!(cut[0].1.is_nan());
        assert_eq!((&*cut[1].0, cut[1].1), ("free", 1234.0));
        assert_eq!(
            read(" 1,5 frei,  2,5 verfü Spch"),
            two("free", 1.5, "avail", 2.5)
        );
        assert_eq!(read(" 13191+total"), None);
        assert_eq!(read(" 13x1+total"), None);
        assert_eq!(read(""), None);
        assert_eq!(clock_seconds(b"2:03.50"), Some(123.5));
        assert_eq!(clock_seconds(b"1234:05"), Some(74045.0));
    }
}
