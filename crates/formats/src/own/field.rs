//! Fields of a line: quotes, decimal commas, what stands for nothing.

use std::borrow::Cow;

use crate::number;

/// Whether a separator stands behind the last of so many columns. Without one, nothing tells that a
/// line which has no end was not cut within it.
pub(super) fn is_closed(fields: &[Cow<[u8]>], columns: usize) -> bool {
    fields.len() == columns + 1 && fields.last().is_some_and(|f| f.is_empty())
}

/// What tables print for a number that is not known.
pub(super) fn is_missing(text: &[u8]) -> bool {
    let text = text.trim_ascii().to_ascii_lowercase();
    // A spreadsheet's errors, in the language of whoever had it: `#DIV/0!`, `#N/A`, `#WERT!`.
    let is_error = |name: &[u8]| {
        name.first().is_some_and(u8::is_ascii_alphabetic)
            && (name.ends_with(b"!") || name.ends_with(b"?") || name.starts_with(b"n"))
    };
    matches!(
        &*text,
        b"" | b"-" | b"--" | b"n/a" | b"na" | b"nan" | b"null" | b"(null)" | b"none" | b"\\n"
    ) || matches!(std::str::from_utf8(&text), Ok("–" | "—"))
        || text.strip_prefix(b"#").is_some_and(is_error)
}

/// A number without what separates its thousands: blanks, also those that do not break, and
/// apostrophes; `None` where what they part is not in threes.
pub(super) fn ungrouped(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    // Non-breaking, narrow, thin; a typographic apostrophe; and a minus that is none of ASCII's.
    const LONG: [&str; 4] = ["\u{a0}", "\u{202f}", "\u{2009}", "\u{2019}"];
    let is_grouped = text
        .iter()
        .any(|b| matches!(b, b' ' | b'\'') || !b.is_ascii());
    if !is_grouped {
        return Some(Cow::Borrowed(text));
    }
    let text = std::str::from_utf8(text)
        .ok()?
        .trim()
        .replace('\u{2212}', "-");
    let text = LONG.iter().fold(text, |text, long| text.replace(long, " "));
    let mut parts = text.split([' ', '\'']);
    let first = parts.next()?.trim_start_matches(['-', '+']);
    let digits = |part: &str| part.bytes().take_while(u8::is_ascii_digit).count();
    let rest: Vec<&str> = parts.collect();
    let fits =
        |(i, part): (usize, &&str)| digits(part) == 3 && (i + 1 == rest.len() || part.len() == 3);
    let in_threes = (1..=3).contains(&digits(first)) && digits(first) == first.len();
    let is_number = rest.is_empty() || in_threes && rest.iter().enumerate().all(fits);
    is_number.then(|| Cow::Owned(text.replace([' ', '\''], "").into_bytes()))
}

/// Fields between separators; one in quotes can have separators in it, and `""` for a quote.
/// `None` where quotes are not closed, or something else follows them.
pub(super) fn split_quoted<'a>(line: &'a [u8], separator: &[u8]) -> Option<Vec<Cow<'a, [u8]>>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let after = if let Some(quoted) = rest.trim_ascii_start().strip_prefix(b"\"") {
            let (field, after) = unquoted(quoted, separator)?;
            fields.push(Cow::Owned(field));
            after
        } else {
            let end = memchr::memmem::find(rest, separator);
            let field = rest[..end.unwrap_or(rest.len())].trim_ascii();
            fields.push(Cow::Borrowed(field));
            end.map(|at| &rest[at + separator.len()..])
        };
        match after {
            Some(after) => rest = after,
            None => return Some(fields),
        }
    }
}

/// What is in the quotes that were opened, and what follows the separator after them, if there
/// is one; `None` where they are not closed, or something else follows.
type Unquoted<'a> = (Vec<u8>, Option<&'a [u8]>);

fn unquoted<'a>(text: &'a [u8], separator: &[u8]) -> Option<Unquoted<'a>> {
    let mut field = Vec::new();
    let mut rest = text;
    loop {
        let at = memchr::memchr(b'"', rest)?;
        field.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix(b"\"") {
            Some(after) => {
                field.push(b'"');
                rest = after;
            }
            None => break,
        }
    }
    if rest.trim_ascii().is_empty() && !rest.starts_with(separator) {
        return Some((field, None));
    }
    let start = memchr::memmem::find(rest, separator)?;
    let blank = rest[..start].trim_ascii().is_empty();
    blank.then(|| (field, Some(&rest[start + separator.len()..])))
}

/// `1.234,5` and `1234,5`.
pub(super) fn with_decimal_comma(text: &[u8]) -> Option<f64> {
    let at = memchr::memchr(b',', text);
    let (whole, decimals) = text.split_at(at.unwrap_or(text.len()));
    let grouped = whole.split(|b| *b == b'.').skip(1).all(|p| p.len() == 3);
    let plain = |b: &u8| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.');
    if !grouped || !whole.iter().all(plain) {
        return None;
    }
    let mut cleaned: Vec<u8> = whole.iter().copied().filter(|b| *b != b'.').collect();
    if let Some((_, digits)) = decimals.split_first() {
        if digits.is_empty() || memchr::memchr2(b'.', b',', digits).is_some() {
            return None;
        }
        cleaned.push(b'.');
        cleaned.extend_from_slice(digits);
    }
    number::number(&cleaned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_that_blanks_and_apostrophes_part() {
        for (text, wanted) in [
            ("1 234,5", "1234,5"),
            ("1\u{a0}234\u{202f}567", "1234567"),
            ("1'234.5", "1234.5"),
            ("-12\u{2019}345", "-12345"),
            ("\u{2212}5", "-5"),
            (" 7 ", "7"),
            ("1234.5", "1234.5"),
        ] {
            let plain = ungrouped(text.as_bytes());
            assert_eq!(plain.as_deref(), Some(wanted.as_bytes()), "{text}");
        }
        for text in [
            "1 23", "12 3456", "1234 567", "1.5 234", "1 234 5", "1  234", "a 234",
        ] {
            assert_eq!(ungrouped(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn cells_that_stand_for_nothing() {
        for text in [
            "", "N/A", "#N/A", "#NV", "#DIV/0!", "#WERT!", "#NAME?", "—", "(null)", "\\N",
        ] {
            assert!(is_missing(text.as_bytes()), "{text}");
        }
        for text in ["#", "#5", "#sda", "?", "0", "#1!"] {
            assert!(!is_missing(text.as_bytes()), "{text}");
        }
    }
}
