//! Times of several words before each line, as `date` prints them: `Sun Nov 22 02:44:43 UTC 2026`,
//! `02:44:43 PM`, `2026-11-22 02:44:43 +0100 |`.

use crate::fields;
use crate::stamp_line::{is_half, is_zone_name, offset, stamp_line};
use crate::time::Options;

/// Most words of such a time, and of what ends it.
const MOST: usize = 9;

/// How many words of each line tell a time, of equal length and most of all; `None` where there is
/// no such number.
pub(super) fn count(lines: &[&[u8]]) -> Option<usize> {
    let (first, rest) = lines.split_first()?;
    let length = |line: &[u8], count: usize| time_of(line, count).map(<[u8]>::len);
    (1..=MOST).rev().find(|count| {
        let usual = length(first, *count);
        usual.is_some() && rest.iter().all(|line| length(line, *count) == usual)
    })
}

/// The words of a time that the line begins with, without a mark that ends them, and what they
/// and one blank are long.
pub(super) fn time(line: &[u8], count: usize) -> Option<(&[u8], usize)> {
    let last = fields(line).nth(count.checked_sub(1)?)?;
    let end = last.as_ptr_range().end as usize - line.as_ptr() as usize;
    let text = &line[..end];
    let ends = |b: &u8| matches!(b, b':' | b',' | b';');
    let marked = text.last().is_some_and(ends);
    let blank = usize::from(line.get(end).is_some_and(u8::is_ascii_whitespace));
    Some((&text[..end - usize::from(marked)], end + blank))
}

/// The first words of the line, if they are a time.
fn time_of(line: &[u8], count: usize) -> Option<&[u8]> {
    let (text, _) = time(line, count)?;
    // The first column of a table, as of fio's logs.
    let listed = matches!(line.get(text.len()), Some(b',' | b';'));
    if listed && !text.contains(&b':') {
        return None;
    }
    // A date that can be read in two ways is one.
    let found = stamp_line(text, &Options::default());
    if !matches!(found, Ok(Some(_)) | Err(_)) {
        return None;
    }
    // After date and time any third word would be taken for a zone.
    let is_word = |w: &&[u8]| w.iter().any(u8::is_ascii_alphanumeric);
    let words: Vec<&[u8]> = fields(text).filter(is_word).collect();
    let zoned = match words[..] {
        [_, _, zone] => is_half(zone) || is_zone_name(zone) || offset(zone).is_some(),
        _ => true,
    };
    zoned.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_a_row() {
        for (before, words) in [
            ("Sun Nov 22 14:44:43 UTC 2026 ", 6),
            ("Sun Nov  2 14:44:43 CET 2026: ", 6),
            ("Sun 22 Nov 2026 02:44:43 PM UTC ", 7),
            ("02:44:43 PM ", 2),
            ("2026-11-22 14:44:43 +0100 ", 3),
            ("2026-11-22 14:44:43 UTC ", 3),
            ("2026-11-22 14:44:43, ", 2),
            ("2026-11-22 14:44:43 | ", 3),
            ("11/22/2026 14:44:43\t", 2),
            ("22.11.2026 14:44:43 ", 2),
            ("2026-11-22_14:44:43 ", 1),
            ("1475708693291 ", 1),
        ] {
            let rows =
                [" r  b   swpd", "1  0 0", " 12 UTC 7", ""].map(|row| format!("{before}{row}"));
            let rows = rows.each_ref().map(String::as_bytes);
            assert_eq!(count(&rows), Some(words), "{before}");
            for row in rows {
                let (_, length) = time(row, words).expect("a time");
                assert_eq!(length, before.len(), "{before}");
            }
        }
        // A tool's own columns are none of it.
        for rows in [
            ["cpu 1 2", "cpu 2 3"],
            ["1 2 3", "2 3 4"],
            ["1475708693291, 4096, 0", "1475708694291, 4096, 0"],
            ["Nov 2 12", "Nov 3 12"],
        ] {
            assert_eq!(count(&rows.map(str::as_bytes)), None);
        }
    }
}
