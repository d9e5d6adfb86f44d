//! Cutting bytes into lines, and cleaning them.

use crate::number::decimals;
use crate::out::Out;

/// Longest line that is kept whole; the rest of a longer one is dropped, and the line is not
/// understood.
pub(crate) const LONGEST: usize = 16 << 20;

/// Takes what is no text out of a line: a carriage return before its end, NUL bytes, terminal
/// colours. A blank that does not break, as web pages have it, becomes a plain one.
pub(crate) fn clean<'a>(line: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
    let line = without_returns(line);
    if is_text(line) {
        return line;
    }
    buffer.clear();
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            0 => {}
            0x1b => rest = after_escape(after),
            0xc2 if after.first() == Some(&0xa0) => {
                buffer.push(b' ');
                rest = &after[1..];
            }
            _ => buffer.push(byte),
        }
    }
    buffer
}

/// The line without carriage returns at its end: logs of terminals may have several.
pub(crate) fn without_returns(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_suffix(b"\r") {
        line = rest;
    }
    line
}

/// Whether there is nothing to take out but carriage returns. (0xc2 begins a blank that does not
/// break.)
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    memchr::memchr3(0, 0x1b, 0xc2, bytes).is_none()
}

/// Whether the last of a line's numbers, of which the line's end is missing, is whole, of a tool that
/// prints all of them with as many decimals: it has those of the others. What has a letter or `%`
/// behind it is whole; where one of the others has, a number without is not. How long the line is
/// tells nothing: one wide number moves all behind it.
pub(crate) fn last_is_whole(numbers: &[&[u8]]) -> bool {
    let Some((last, before)) = numbers.split_last() else {
        return false;
    };
    let is_plain = |n: &[u8]| n.last().is_some_and(u8::is_ascii_digit);
    if !is_plain(last) {
        let unit = last
            .split_last()
            .map(|(unit, number)| (unit, is_plain(number)));
        return unit
            .is_some_and(|(unit, behind)| behind && (unit.is_ascii_alphabetic() || *unit == b'%'));
    }
    let printed = before.iter().map(|n| decimals(n)).max();
    before.iter().all(|n| is_plain(n)) && decimals(last) > 0 && printed == Some(decimals(last))
}

/// More decimals than any number has: a whole line ends in something else, or in a line feed.
pub(crate) const ENDED: usize = usize::MAX;

/// Whether the line, which is the file's last, may have lost its end within a number: it ends in one
/// that has not all the `decimals` that the tool prints.
pub(crate) fn ends_in_number(line: &[u8], decimals: usize, out: &Out) -> bool {
    if !out.is_endless() {
        return false;
    }
    let start = line
        .iter()
        .rposition(|b| !(b.is_ascii_digit() || matches!(b, b'.' | b',')));
    let number = &line[start.map_or(0, |at| at + 1)..];
    let printed = number
        .iter()
        .rposition(|b| matches!(b, b'.' | b','))
        .map(|dot| number.len() - dot - 1);
    number.iter().any(u8::is_ascii_digit) && printed.is_none_or(|printed| printed < decimals)
}

/// Why a text is refused whose columns were told by where they stand.
pub(crate) const BLANKS_LOST: &str = "blanks in it are gone, each run of them one or those before its lines, \
     as a page or an editor makes it, and where its columns stood told which they are\nhint: import it as the tool printed it";

/// Why a text is refused whose rows are two lines each.
pub(crate) const WRAPPED: &str = "its lines were wrapped: half of a row stands under the other half's \
     header\nhint: take it from a wider terminal, or from a file";

/// Whether of a header, which has wide gaps between some of its columns as it is printed, each run of
/// blanks is one.
pub(crate) fn blanks_are_lost(header: &[u8]) -> bool {
    let header = header.trim_ascii();
    header.contains(&b' ') && !header.windows(2).any(|w| w == b"  ")
}

/// How many rows of `width` numbers the line holds that is not understood, by the fields that
/// begin as numbers: none unless most of them are there, two where two lines have run together.
pub(crate) fn rows_in(line: &[u8], width: usize) -> usize {
    let blank = |b: &u8| b.is_ascii_whitespace() || matches!(b, b',' | b';' | b'|');
    let begins = |f: &&[u8]| {
        let digits = f.strip_prefix(b"-").unwrap_or(f);
        digits.first().is_some_and(u8::is_ascii_digit)
    };
    let found = line.split(blank).filter(begins).count();
    if width == 0 || found * 2 <= width {
        return 0;
    }
    ((found + width / 4) / width).max(1)
}

/// What follows an escape sequence of a terminal: `ESC [ parameters letter`; `ESC ] text` and its
/// like, which a bell or `ESC \` ends; `ESC ( letter`, a set of characters; or one character.
fn after_escape(rest: &[u8]) -> &[u8] {
    let behind = |end: Option<usize>, more: usize| end.map_or(&b""[..], |end| &rest[end + more..]);
    match rest.first() {
        Some(b'[') => {
            let last = |b: &u8| (0x40..=0x7e).contains(b);
            behind(rest[1..].iter().position(last), 2)
        }
        Some(b']' | b'P' | b'^' | b'_') => match rest.iter().position(|b| matches!(b, 7 | 0x1b)) {
            Some(end) if rest[end] == 7 => &rest[end + 1..],
            end => behind(end, 2.min(rest.len() - end.unwrap_or(0))),
        },
        Some(b' '..=b'/') => {
            let last = |b: &u8| !(b' '..=b'/').contains(b);
            behind(rest.iter().position(last), 1)
        }
        Some(_) => &rest[1..],
        None => rest,
    }
}

/// The line without the mark that some editors put before UTF-8 or UTF-16. (Of UTF-16, whose
/// other bytes are mostly zeros, these are taken out of each line.)
pub(crate) fn without_mark(line: &[u8]) -> &[u8] {
    let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
    let found = marks.iter().find_map(|mark| line.strip_prefix(*mark));
    found.unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_goes() {
        let mut buffer = Vec::new();
        for (line, clean_line) in [
            (&b"a b\r"[..], &b"a b"[..]),
            (b"a b\r\r", b"a b"),
            (b"a\0\0b", b"ab"),
            (b"\x1b[1;31mred\x1b[0m", b"red"),
            (b"\x1b", b""),
            (b"\x1b[", b""),
            (b"\x1b(B1 2\x1b)0 3", b"1 2 3"),
            (b"\x1b]0;me@box: ~\x07$ ls", b"$ ls"),
            (b"\x1b]0;me@box: ~\x1b\\$ ls", b"$ ls"),
            (b"1 2\x1b]0;me", b"1 2"),
            (b"1 2\x1b]0;me\x1b", b"1 2"),
            (b"1 2\x1b(", b"1 2"),
            (b"a\xc2\xa0 b\xc2\xb5", b"a  b\xc2\xb5"),
            (b"plain", b"plain"),
        ] {
            assert_eq!(clean(line, &mut buffer), clean_line);
        }
    }

    #[test]
    fn numbers_that_may_have_lost_their_end() {
        let mut out = Out::new("test", crate::Options::default());
        assert!(!ends_in_number(b"tps: 5", 2, &out));
        out.endless = true;
        for (line, cut) in [
            (&b"tps: 5"[..], true),
            (b"tps: 51.1", true),
            (b"tps: 51.12", false),
            (b"tps: 51.12 ms", false),
            (b"51", true),
            (b"real 2m", false),
            (b"", false),
        ] {
            assert_eq!(ends_in_number(line, 2, &out), cut);
        }
    }

    #[test]
    fn last_numbers_that_are_whole() {
        for (line, whole) in [
            (&b"0.25 8.00 0.41"[..], true),
            (b"0.25 8.00 0.4", false),
            (b"0.25 8.00 0.", false),
            (b"0.25 8.00 0", false),
            (b"0,25 8,00 0,41", true),
            (b"25.3M 8.0k 0.4%", true),
            (b"25.3M 8.0k 0.4", false),
            (b"1.25 25.3M 8.0k", true),
            (b"1.25 25 8", false),
            (b"1.25 25 8.75", true),
            (b"1 25 8.7", false),
            (b"0.41", false),
            (b"0.25 0.", false),
            (b"0.25 .%", false),
            (b"", false),
        ] {
            let numbers: Vec<&[u8]> = crate::fields(line).collect();
            let line = String::from_utf8_lossy(line);
            assert_eq!(last_is_whole(&numbers), whole, "{line}");
        }
    }

    #[test]
    fn rows_of_lines_that_are_not_understood() {
        for (line, rows) in [
            (&b" 3 0 0 27949 2108 73"[..], 1),
            (b"1 2 3 4garbage5 6 7 8", 1),
            (b"1 2 3 4 5 6 7 8130 9 10", 1),
            (b"1 2 3 4 5 6 7 81 2 3 4 5 6 7 8", 2),
            (b"1 2 3 4", 0),
            (b"vmstat: interrupted", 0),
            (b"Mar 3 12:00:01 box kernel: sd 2:0:0:0: [sda]", 0),
            (b"", 0),
        ] {
            assert_eq!(rows_in(line, 8), rows);
        }
        assert_eq!(rows_in(b"  0  0  0100", 4), 1);
        assert_eq!(rows_in(b"1 2", 0), 0);
    }
}
