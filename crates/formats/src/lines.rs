//! Cutting bytes into lines, and cleaning them.

use crate::out::Out;

/// Longest line that is kept whole; the rest of a longer one is dropped, and the line is not
/// understood.
pub(crate) const LONGEST: usize = 16 << 20;

/// What every line of a file has in front, put there by who kept it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prefix {
    /// Whether there is one.
    found: bool,
}

/// What a cleaned line was.
pub(crate) struct Cleaned<'a> {
    pub(crate) line: &'a [u8],
}

/// Takes what is no text out of a line: a carriage return before its end, NUL bytes, terminal
/// colours. A blank that does not break, as web pages have it, becomes a plain one.
pub(crate) fn clean<'a>(line: &'a [u8], buffer: &'a mut Vec<u8>) -> Cleaned<'a> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if is_text(line) {
        return Cleaned { line };
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
    Cleaned { line: buffer }
}

/// Whether there is nothing to take out but carriage returns. (0xc2 begins a blank that does not
/// break.)
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    memchr::memchr3(0, 0x1b, 0xc2, bytes).is_none()
}

/// Whether the line, which is the file's last, has lost its end: it is shorter than the header
/// above it, and what is in it is aligned to the right.
pub(crate) fn is_cut(line: &[u8], header: usize, out: &Out) -> bool {
    out.is_endless() && line.trim_ascii_end().len() < header
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

/// What follows an escape sequence of a terminal: `ESC [ parameters letter`, or one character.
fn after_escape(rest: &[u8]) -> &[u8] {
    match rest.split_first() {
        Some((b'[', parameters)) => {
            let end = parameters.iter().position(|b| (0x40..=0x7e).contains(b));
            end.map_or(&[], |end| &parameters[end + 1..])
        }
        Some((_, rest)) => rest,
        None => rest,
    }
}

impl Prefix {
    /// The prefix of those lines, if nearly all have one: a time stamp and what a logger adds.
    pub(crate) fn find(lines: &[&[u8]]) -> Prefix {
        let full: Vec<&&[u8]> = lines.iter().filter(|l| !l.is_empty()).collect();
        let with = full.iter().filter(|l| log_prefix(l).is_some()).count();
        Prefix {
            found: with > 1 && with * 10 >= full.len() * 9,
        }
    }

    /// The line without it.
    pub(crate) fn strip<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        if !self.found {
            return line;
        }
        log_prefix(line).map_or(line, |length| &line[length..])
    }
}

/// Length of a logger's prefix: a date, a time, and words in brackets or before a colon, as
/// `2025-06-03 18:02:03.123[1234][DEBUG] name[0] stdout: ` or
/// `Nov 22 02:12:13 host tool[123]: `.
fn log_prefix(line: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(&line[..line.len().min(512)])
        .or_else(|e| std::str::from_utf8(&line[..e.valid_up_to()]))
        .ok()?;
    let iso = || {
        let day = text.get(..10).filter(|d| d.is_ascii())?;
        let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        let date = digits(day.get(..4)?) && day.get(4..5)? == "-" && digits(day.get(5..7)?);
        (date && matches!(text.as_bytes().get(10), Some(b' ' | b'T'))).then_some(11)
    };
    let syslog = || {
        const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
        let month = text.get(..3).filter(|m| m.is_ascii())?;
        let known = MONTHS.find(month)? % 3 == 0;
        let day = text.get(3..7)?.trim();
        (known && day.parse::<u8>().is_ok()).then_some(7)
    };
    let after_date = iso().or_else(syslog)?;
    let rest = text.get(after_date..)?;
    let time = rest.get(..8)?;
    crate::time::time_of_day(time.as_bytes(), None)?;
    let rest = &rest[8..];
    // A fraction, a zone, tags; up to the `: ` that ends it.
    let end = rest.find(": ").map(|at| at + 2)?;
    let between = &rest[..end];
    let tagged = between.contains(['[', ']']) || between.split_whitespace().count() <= 3;
    // A tool's own line with a time has numbers next; a logger's names who logged.
    let named = between.chars().any(char::is_alphabetic);
    (tagged && named).then_some(after_date + 8 + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_goes() {
        let mut buffer = Vec::new();
        for (line, clean_line) in [
            (&b"a b\r"[..], &b"a b"[..]),
            (b"a\0\0b", b"ab"),
            (b"\x1b[1;31mred\x1b[0m", b"red"),
            (b"\x1b", b""),
            (b"\x1b[", b""),
            (b"a\xc2\xa0 b\xc2\xb5", b"a  b\xc2\xb5"),
            (b"plain", b"plain"),
        ] {
            assert_eq!(clean(line, &mut buffer).line, clean_line);
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

    #[test]
    fn a_loggers_prefix_is_found_and_a_tools_time_is_none() {
        let logged: [&[u8]; 2] = [
            b"2025-06-03 18:02:03.123[139][DEBUG] x.y[0] stdout: 1 0 2",
            b"2025-06-03 18:02:04.123[139][DEBUG] x.y[0] stdout: 104857600 bytes copied",
        ];
        let prefix = Prefix::find(&logged);
        assert_eq!(prefix.strip(logged[1]), b"104857600 bytes copied");
        let syslog: [&[u8]; 2] = [
            b"Nov 22 02:12:13 box iostat[12]: sda 1 2",
            b"Nov  2 02:12:13 box iostat[12]: sdb 1 2",
        ];
        assert_eq!(Prefix::find(&syslog).strip(syslog[1]), b"sdb 1 2");
        // Three bytes, then a letter of two.
        assert_eq!(log_prefix("$UY\u{15f} abcdefgh".as_bytes()), None);
        let tool: [&[u8]; 2] = [
            b"2018-03-08 12:00:01 all 1.00 2.00",
            b"2018-03-08 12:00:02 all 1.00 2.00",
        ];
        assert_eq!(Prefix::find(&tool), Prefix::default());
        // Characters of several bytes where a date would be.
        let odd: [&[u8]; 1] = ["201\u{e9}-03-08 12:00:01 x: 1".as_bytes()];
        assert_eq!(Prefix::find(&odd), Prefix::default());
    }
}
