//! Fields of a line: quotes, decimal commas, what stands for nothing.

use std::borrow::Cow;

use crate::number;

/// What tables print for a number that is not known.
pub(super) fn is_missing(text: &[u8]) -> bool {
    let text = text.trim_ascii().to_ascii_lowercase();
    matches!(
        &*text,
        b"" | b"-" | b"--" | b"n/a" | b"na" | b"nan" | b"null" | b"none"
    )
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
