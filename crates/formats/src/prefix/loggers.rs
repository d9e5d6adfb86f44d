//! What loggers put before each line.

use super::stamps::{beginning, date, moment};
use crate::time::time_of_day;

/// Where a logger's prefix has its time, and its length.
pub(super) fn logged(line: &[u8]) -> Option<(usize, usize)> {
    let old = log_prefix(line).map(|length| (0, length));
    old.or_else(|| rfc5424(line))
}

/// The same of `<13>1 2026-11-22T02:12:13.5+00:00 host tool 12 - - `, as RFC 5424 has it.
fn rfc5424(line: &[u8]) -> Option<(usize, usize)> {
    let inner = line.strip_prefix(b"<")?;
    let digits = inner.iter().take_while(|b| b.is_ascii_digit()).count();
    inner.get(digits..)?.strip_prefix(b">1 ")?;
    let at = 1 + digits + 3;
    let (_, length) = moment(&line[at..])?;
    let mut end = at + length;
    // The host, who logged, a number and a kind; then `-`, or data in brackets.
    for _ in 0..4 {
        let word = line.get(end..)?.strip_prefix(b" ")?;
        end += 1 + word.iter().position(|b| *b == b' ')?;
    }
    let data = line.get(end..)?.strip_prefix(b" ")?;
    let data_length = match data.first()? {
        b'-' => 1,
        b'[' => memchr::memmem::find(data, b"] ").map_or(data.len(), |at| at + 1),
        _ => return None,
    };
    let blank = usize::from(data.get(data_length) == Some(&b' '));
    Some((at, end + 1 + data_length + blank))
}

/// Length of a logger's prefix: a date, a time, and words in brackets or before a colon, as
/// `2025-06-03 18:02:03.123[1234][DEBUG] name[0] stdout: ` or
/// `Nov 22 02:12:13 host tool[123]: `.
fn log_prefix(line: &[u8]) -> Option<usize> {
    let text = beginning(line)?;
    let (after_date, _) = date(text)?;
    let rest = text.get(after_date..)?;
    let time = rest.get(..8)?;
    time_of_day(time.as_bytes(), None)?;
    let rest = &rest[8..];
    // A fraction, a zone, tags; up to the `: ` that ends it.
    let end = rest.find(": ").map(|at| at + 2)?;
    let between = &rest[..end];
    let tagged = between.contains(['[', ']']) || between.split_whitespace().count() <= 3;
    // A tool's own line with a time has numbers next; a logger's names who logged.
    let named = between.chars().any(char::is_alphabetic);
    let length = after_date + 8 + end;
    // Of Solaris: `[ID 702911 daemon.notice] `.
    let id = text.get(length..).and_then(|rest| {
        let inside = rest.strip_prefix("[ID ")?;
        Some(rest.len() - inside.len() + inside.find("] ")? + 2)
    });
    (tagged && named).then_some(length + id.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_loggers() {
        // Three bytes, then a letter of two.
        assert_eq!(log_prefix("$UY\u{15f} abcdefgh".as_bytes()), None);
        assert_eq!(rfc5424(b"<13>1 x"), None);
        let cut = b"<13>1 2026-11-22T02:12:13.5+00:00 box vmstat";
        assert_eq!(rfc5424(cut), None);
    }
}
