//! Numbers as tools print them.

/// `12`, `-3.5`, `1e6`; `56,27` with a decimal comma; `1,234,567` and `1.234.567` with
/// separators of thousands. `None` for anything else, as `-`, `nan` or an empty text.
///
/// One comma before one or two digits, or before more than three, or behind a zero, is a decimal
/// comma, as `iostat` prints it in some locales; before three it separates thousands. A column that can
/// have three decimals is read by [`decimal`].
pub fn number(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let value = match plain(digits) {
        Some(value) => value,
        None => unusual(digits)?,
    };
    Some(if negative { -value } else { value })
}

/// Whether it is what a division by nothing is printed as: `nan`, `-nan`, `inf`, `NaNQ` of AIX.
pub(crate) fn is_undefined(text: &[u8]) -> bool {
    let bare = text.strip_prefix(b"-").unwrap_or(text);
    let names: [&[u8]; 3] = [b"nan", b"inf", b"nanq"];
    names.iter().any(|name| bare.eq_ignore_ascii_case(name))
}

/// Digits, perhaps with a point: what nearly all are. Exact: the digits fit 2^53, and a
/// division of two exact numbers is rounded once.
fn plain(text: &[u8]) -> Option<f64> {
    const TENS: [f64; 16] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    let mut value: u64 = 0;
    let mut decimals = None;
    for (i, byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => value = value * 10 + u64::from(byte - b'0'),
            b'.' if decimals.is_none() => decimals = Some(text.len() - i - 1),
            _ => return None,
        }
    }
    match decimals {
        None if value < 1 << 53 => Some(value as f64),
        // No tool but `pmval` ends a number with its point: what does was cut.
        Some(n) if value < 1 << 53 && n > 0 => Some(value as f64 / TENS[n]),
        _ => None,
    }
}

fn unusual(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    if !is_number || text.ends_with(['.', ',']) {
        return None;
    }
    let commas = text.bytes().filter(|b| *b == b',').count();
    let points = text.bytes().filter(|b| *b == b'.').count();
    let grouped = |separator: char| {
        let mut parts = text.split(separator);
        // Nothing but decimals follows a zero.
        let begins = |p: &str| (1..=3).contains(&p.len()) && !p.starts_with('0');
        let first = parts.next().is_some_and(begins);
        let digits = |p: &str| p.bytes().all(|b| b.is_ascii_digit());
        first && text.split(separator).all(digits) && parts.all(|p| p.len() == 3)
    };
    let cleaned = match (commas, points) {
        (0, 0 | 1) => text.to_owned(),
        (1, 0) if !grouped(',') => text.replace(',', "."),
        (_, 0) if grouped(',') => text.replace(',', ""),
        (0, _) if grouped('.') => text.replace('.', ""),
        // 1,234.5 and 1.234,5: the last separator is the decimal one.
        (_, 1) if text.rfind('.') > text.rfind(',') => text.replace(',', ""),
        (1, _) if text.rfind(',') > text.rfind('.') => text.replace('.', "").replace(',', "."),
        _ => return None,
    };
    let value: f64 = cleaned.parse().ok()?;
    value.is_finite().then_some(value)
}

/// How many decimals a number has, behind a point or a comma.
pub(crate) fn decimals(number: &[u8]) -> usize {
    let dot = number.iter().rposition(|b| matches!(b, b'.' | b','));
    dot.map_or(0, |dot| number.len() - dot - 1)
}

/// The same of a tool that never separates thousands: a comma is a decimal one, before however
/// many digits. What has two separators is no number of such a tool.
pub fn decimal(text: &[u8]) -> Option<f64> {
    let separators = text.iter().filter(|b| matches!(b, b',' | b'.')).count();
    match text.iter().position(|b| *b == b',') {
        _ if separators > 1 => None,
        Some(at) => {
            let mut text = text.to_vec();
            text[at] = b'.';
            number(&text)
        }
        None => number(text),
    }
}

/// A whole number without separators.
pub fn whole(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A number that may end in K, M, G, T, P or E (also small, also with `i`, `B` or `iB` behind),
/// each a step of `base`: `13.7K` with 1024 is 14,028.8. What has no letter counts as is.
pub fn scaled(text: &[u8], base: f64) -> Option<f64> {
    stepped(text, base, number)
}

/// The same of a tool that never separates thousands.
pub fn scaled_decimal(text: &[u8], base: f64) -> Option<f64> {
    stepped(text, base, decimal)
}

fn stepped(text: &[u8], base: f64, number: fn(&[u8]) -> Option<f64>) -> Option<f64> {
    let end = text
        .iter()
        .rposition(u8::is_ascii_digit)
        .map_or(0, |last| last + 1);
    let (digits, letters) = text.split_at(end);
    let value = number(digits)?;
    let step = match letters {
        [] => return Some(value),
        [b'B' | b'b'] => 0,
        [step] | [step, b'B' | b'b' | b'i'] | [step, b'i', b'B' | b'b'] => {
            1 + "KMGTPE".find(step.to_ascii_uppercase() as char)? as i32
        }
        _ => return None,
    };
    Some(value * base.powi(step))
}

/// A time with its unit, as `1.2ms`, `35us`, `2s`, `800ns`, `1m`, `1h`, in seconds.
pub fn seconds(text: &[u8]) -> Option<f64> {
    timed(text, number)
}

/// The same of a tool that never separates thousands.
pub fn seconds_decimal(text: &[u8]) -> Option<f64> {
    timed(text, decimal)
}

fn timed(text: &[u8], number: fn(&[u8]) -> Option<f64>) -> Option<f64> {
    let end = text.iter().rposition(u8::is_ascii_digit)? + 1;
    let (digits, unit) = text.split_at(end);
    let unit = match unit {
        b"ns" | b"nsec" => 1e-9,
        b"us" | b"usec" | b"usecs" | b"\xc2\xb5s" | b"\xce\xbcs" => 1e-6,
        b"ms" | b"msec" | b"msecs" => 1e-3,
        b"s" | b"sec" | b"secs" => 1.0,
        b"m" | b"min" => 60.0,
        b"h" | b"hr" => 3600.0,
        b"d" => 86400.0,
        _ => return None,
    };
    Some(number(digits)? * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_locales() {
        for (text, value) in [
            ("0", 0.0),
            ("12", 12.0),
            ("-268", -268.0),
            ("3.50", 3.5),
            (".5", 0.5),
            ("56,27", 56.27),
            ("2,9", 2.9),
            ("0,219", 0.219),
            ("1,234", 1234.0),
            ("1,234,567", 1_234_567.0),
            ("1.234.567", 1_234_567.0),
            ("1,234.5", 1234.5),
            ("1.234,5", 1234.5),
            ("1e3", 1000.0),
            ("1.5e-2", 0.015),
            ("123456789012345678", 123_456_789_012_345_680.0),
            ("9007199254740993", 9_007_199_254_740_992.0),
        ] {
            assert_eq!(number(text.as_bytes()), Some(value), "{text}");
        }
        for text in [
            "", "-", ".", "nan", "inf", "1x", "0x10", "1,23,456", "--1", "e5", "1e999",
        ] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_comma_is_decimal_where_thousands_are_not_separated() {
        for (text, value) in [
            ("1,234", Some(1.234)),
            ("234,567", Some(234.567)),
            ("0,012", Some(0.012)),
            ("1.234", Some(1.234)),
            ("-1,5", Some(-1.5)),
            ("12", Some(12.0)),
            ("1,23e-05", Some(1.23e-5)),
            ("1,234,567", None),
            ("1.234,5", None),
            ("1,234.5", None),
            (",", None),
            ("", None),
        ] {
            assert_eq!(decimal(text.as_bytes()), value, "{text}");
        }
        let gib = 1024_f64.powi(3);
        assert_eq!(scaled_decimal(b"1,234g", 1024.0), Some(1.234 * gib));
        assert_eq!(scaled(b"1,234g", 1024.0), Some(1234.0 * gib));
        assert_eq!(seconds_decimal(b"1,001s"), Some(1.001));
    }

    /// Short ways agree with the library's.
    #[test]
    fn plain_numbers_are_exact() {
        for i in 0..200_000_u64 {
            let n = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            let text = format!("{}.{:03}", n / 1000 % 100_000_000, n % 1000);
            assert_eq!(number(text.as_bytes()), text.parse().ok());
        }
    }

    #[test]
    fn letters_scale_by_the_tools_base() {
        assert_eq!(scaled(b"13.7K", 1024.0), Some(14_028.8));
        assert_eq!(scaled(b"13.7k", 1000.0), Some(13_700.0));
        assert_eq!(scaled(b"2M", 1024.0), Some(2_097_152.0));
        assert_eq!(scaled(b"1.5GiB", 1024.0), Some(1.5 * 1024_f64.powi(3)));
        assert_eq!(scaled(b"512B", 1024.0), Some(512.0));
        assert_eq!(scaled(b"7", 1024.0), Some(7.0));
        assert_eq!(scaled(b"1.2T", 1000.0), Some(1.2e12));
        for text in ["-", "K", "1X", "1KK", ""] {
            assert_eq!(scaled(text.as_bytes(), 1024.0), None, "{text}");
        }
    }

    #[test]
    fn times_in_seconds() {
        assert_eq!(seconds(b"250us"), Some(250.0 * 1e-6));
        assert_eq!(seconds(b"2s"), Some(2.0));
        assert_eq!(seconds(b"3ns"), Some(3.0 * 1e-9));
        assert_eq!(seconds(b"12"), None);
        assert_eq!(seconds(b"s"), None);
    }
}
