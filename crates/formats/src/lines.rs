//! Cutting bytes into lines, and cleaning them.

use jiff::civil::Date;

use crate::out::Out;
use crate::time::{Stamp, time_of_day};

/// Longest line that is kept whole; the rest of a longer one is dropped, and the line is not
/// understood.
pub(crate) const LONGEST: usize = 16 << 20;

/// What every line of a file has in front, put there by who kept it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Prefix {
    #[default]
    None,
    /// A time stamp and what a logger adds.
    Logged,
    /// A time stamp alone, as `ts` of moreutils puts it.
    Stamped,
    /// The same word and a colon, as `pdsh` puts a host's name.
    Named(Vec<u8>),
    /// So many `> `, as answers to a mail put them.
    Quoted(usize),
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

/// The line without the mark that some editors put before UTF-8 or UTF-16. (Of UTF-16, whose
/// other bytes are mostly zeros, these are taken out of each line.)
pub(crate) fn without_mark(line: &[u8]) -> &[u8] {
    let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
    let found = marks.iter().find_map(|mark| line.strip_prefix(*mark));
    found.unwrap_or(line)
}

impl Prefix {
    /// The prefix of those lines, if nearly all have one: a time stamp and what a logger adds, or
    /// the marks of a mail.
    pub(crate) fn find(lines: &[&[u8]]) -> Prefix {
        let full: Vec<&&[u8]> = lines.iter().filter(|l| !l.is_empty()).collect();
        let nearly_all = |with: usize| with > 1 && with * 10 >= full.len() * 9;
        if nearly_all(full.iter().filter(|l| log_prefix(l).is_some()).count()) {
            return Prefix::Logged;
        }
        let quoted: Vec<usize> = full
            .iter()
            .map(|l| marks(l, usize::MAX).0)
            .filter(|n| *n > 0)
            .collect();
        match quoted.iter().min() {
            Some(depth) if nearly_all(quoted.len()) => Prefix::Quoted(*depth),
            _ => Prefix::None,
        }
    }

    /// A prefix that a tool may have printed itself: a time stamp or a word that each of those
    /// lines has, but for the last, which may be cut.
    pub(crate) fn perhaps(lines: &[&[u8]]) -> Prefix {
        let mut full: Vec<&[u8]> = lines.iter().copied().filter(|l| !l.is_empty()).collect();
        full.pop();
        let Some(first) = full.first().filter(|_| full.len() > 2) else {
            return Prefix::None;
        };
        let length = |l: &[u8]| bare_stamp(l).and(moment(l)).map(|(_, length)| length);
        let usual = length(first);
        if usual.is_some() && full.iter().all(|l| length(l) == usual) {
            return Prefix::Stamped;
        }
        let end = first.iter().position(u8::is_ascii_whitespace);
        let word = &first[..end.unwrap_or(first.len())];
        let name = word.strip_suffix(b":").unwrap_or_default();
        let plain = |b: &u8| b.is_ascii_alphanumeric() || b"._-".contains(b);
        let named = name.first().is_some_and(u8::is_ascii_alphanumeric) && name.iter().all(plain);
        let prefix = Prefix::Named(word.to_vec());
        if named && full.iter().all(|l| prefix.length(l).is_some()) {
            prefix
        } else {
            Prefix::None
        }
    }

    fn length(&self, line: &[u8]) -> Option<usize> {
        match self {
            Prefix::None => None,
            Prefix::Logged => log_prefix(line),
            Prefix::Stamped => bare_stamp(line),
            Prefix::Quoted(depth) => Some(marks(line, *depth).1),
            Prefix::Named(word) => {
                let rest = line.strip_prefix(&word[..])?;
                let blank = rest
                    .first()
                    .map_or(Some(0), |b| (*b == b' ').then_some(1))?;
                Some(word.len() + blank)
            }
        }
    }

    /// The line without it.
    pub(crate) fn strip<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        self.length(line).map_or(line, |length| &line[length..])
    }

    /// The time in the line's prefix. A logger of syslog's old form tells no year: then only the
    /// time of day.
    pub(crate) fn stamp(&self, line: &[u8]) -> Option<Stamp> {
        match self {
            Prefix::None | Prefix::Named(_) | Prefix::Quoted(_) => None,
            Prefix::Logged | Prefix::Stamped => {
                self.length(line)?;
                moment(line).map(|(stamp, _)| stamp)
            }
        }
    }
}

/// Marks of a quotation, `>` and perhaps a blank each, that a line begins with: how many, `most` at
/// most, and their length.
fn marks(line: &[u8], most: usize) -> (usize, usize) {
    let (mut count, mut length) = (0, 0);
    while count < most && line.get(length) == Some(&b'>') {
        count += 1;
        length += 1 + usize::from(line.get(length + 1) == Some(&b' '));
    }
    (count, length)
}

/// Text that a line begins with.
fn beginning(line: &[u8]) -> Option<&str> {
    let beginning = &line[..line.len().min(512)];
    match std::str::from_utf8(beginning) {
        Ok(text) => Some(text),
        Err(e) => std::str::from_utf8(&beginning[..e.valid_up_to()]).ok(),
    }
}

/// Length of a date and the blank or letter after it, as `2025-06-03T` or `Nov 22 `; the date, if
/// it has a year.
fn date(text: &str) -> Option<(usize, Option<Date>)> {
    let iso = || {
        let day = text.get(..10).filter(|d| d.is_ascii())?;
        let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        let date = digits(day.get(..4)?) && day.get(4..5)? == "-" && digits(day.get(5..7)?);
        let ends = matches!(text.as_bytes().get(10), Some(b' ' | b'T'));
        (date && ends).then(|| (11, day.parse().ok()))
    };
    let syslog = || {
        const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
        let month = text.get(..3).filter(|m| m.is_ascii())?;
        let known = MONTHS.find(month)? % 3 == 0;
        let day = text.get(3..7)?.trim();
        (known && day.parse::<u8>().is_ok()).then_some((7, None))
    };
    iso().or_else(syslog)
}

/// A time stamp that a line begins with, and its length: a date, a time, perhaps a fraction and a
/// zone.
fn moment(line: &[u8]) -> Option<(Stamp, usize)> {
    let text = beginning(line)?;
    let (at, date) = date(text)?;
    let rest = text.get(at..)?;
    let time = rest.get(..8)?;
    let mut length = 8;
    let digits = |from: usize| {
        let digits = rest.get(from..).unwrap_or_default().bytes();
        digits.take_while(u8::is_ascii_digit).count()
    };
    let fraction = match rest.as_bytes().get(8) {
        Some(b'.' | b',') => digits(9).min(9),
        _ => 0,
    };
    let mut shown = time.to_owned();
    if fraction > 0 {
        length = 9 + digits(9);
        shown = format!("{time}.{}", &rest[9..9 + fraction]);
    }
    let time = time_of_day(shown.as_bytes(), None)?;
    let Some(date) = date else {
        return Some((Stamp::Clock(time), at + length));
    };
    let civil = date.to_datetime(time);
    let zone = rest.get(length..).unwrap_or_default();
    let two = |from: usize| zone.get(from..from + 2)?.parse::<i32>().ok();
    let minutes = if zone.as_bytes().get(3) == Some(&b':') {
        4
    } else {
        3
    };
    let (stamp, more) = match zone.as_bytes().first() {
        Some(b'Z') => (Stamp::Zoned(civil, 0), 1),
        Some(sign @ (b'+' | b'-')) if two(1).is_some() && two(minutes).is_some() => {
            let east = two(1)? * 3600 + two(minutes)? * 60;
            let east = if *sign == b'-' { -east } else { east };
            (Stamp::Zoned(civil, east), minutes + 2)
        }
        _ => (Stamp::Civil(civil), 0),
    };
    Some((stamp, at + length + more))
}

/// Length of a time stamp and the blank after it.
fn bare_stamp(line: &[u8]) -> Option<usize> {
    let (_, length) = moment(line)?;
    match line.get(length) {
        None => Some(length),
        Some(b' ') => Some(length + 1),
        Some(_) => None,
    }
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
        assert_eq!(Prefix::perhaps(&tool), Prefix::None);
        // Characters of several bytes where a date would be.
        let odd: [&[u8]; 1] = ["201\u{e9}-03-08 12:00:01 x: 1".as_bytes()];
        assert_eq!(Prefix::find(&odd), Prefix::default());
    }

    #[test]
    fn marks_of_a_mail_go() {
        let quoted: [&[u8]; 4] = [b"> >  r  b", b">>  1  0", b"> >", b">> > 2  0"];
        let prefix = Prefix::find(&quoted);
        assert_eq!(prefix, Prefix::Quoted(2));
        assert_eq!(prefix.strip(quoted[0]), b" r  b");
        assert_eq!(prefix.strip(quoted[1]), b" 1  0");
        assert_eq!(prefix.strip(quoted[2]), b"");
        assert_eq!(prefix.strip(quoted[3]), b"> 2  0");
        assert_eq!(prefix.strip(b"On Monday I wrote:"), b"On Monday I wrote:");
        // A prompt now and then.
        let prompts: [&[u8]; 3] = [b"> iostat", b"sda 1", b"sdb 1"];
        assert_eq!(Prefix::find(&prompts), Prefix::None);
    }

    #[test]
    fn stamps_and_names_alone_are_prefixes_where_each_line_has_them() {
        let stamped: [&[u8]; 4] = [
            b"2024-05-01T10:00:00Z procs memory",
            b"2024-05-01T10:00:05Z  1 2",
            b"2024-05-01T10:00:10Z",
            b"2024-05-01T1",
        ];
        let prefix = Prefix::perhaps(&stamped);
        assert_eq!(prefix, Prefix::Stamped);
        assert_eq!(prefix.strip(stamped[1]), b" 1 2");
        assert_eq!(prefix.strip(stamped[2]), b"");
        let mut other = stamped;
        other[1] = b"2024-05-01T10:00:05 1 2";
        assert_eq!(Prefix::perhaps(&other), Prefix::None);
        let named: [&[u8]; 4] = [b"h1:  r b", b"h1:", b"h1: 1 2", b"h"];
        let prefix = Prefix::perhaps(&named);
        assert_eq!(prefix, Prefix::Named(b"h1:".to_vec()));
        assert_eq!(prefix.strip(named[0]), b" r b");
        assert_eq!(prefix.strip(b"h1:1"), b"h1:1");
        assert_eq!(prefix.stamp(named[0]), None);
        let mut other = named;
        other[1] = b"h2: 1";
        assert_eq!(Prefix::perhaps(&other), Prefix::None);
    }

    #[test]
    fn times_of_prefixes() {
        let at = jiff::civil::datetime(2024, 5, 1, 10, 0, 5, 0);
        let fine = jiff::civil::datetime(2024, 5, 1, 10, 0, 5, 250_000_000);
        for (line, stamp, length) in [
            ("2024-05-01T10:00:05Z x", Stamp::Zoned(at, 0), 20),
            ("2024-05-01 10:00:05.250 x", Stamp::Civil(fine), 23),
            (
                "2024-05-01T10:00:05,25+02:00 x",
                Stamp::Zoned(fine, 7200),
                28,
            ),
            ("2024-05-01T10:00:05-0130", Stamp::Zoned(at, -5400), 24),
            ("May  1 10:00:05 box x: 1", Stamp::Clock(at.time()), 15),
            ("2024-05-01T10:00:05-x", Stamp::Civil(at), 19),
        ] {
            assert_eq!(moment(line.as_bytes()), Some((stamp, length)), "{line}");
        }
        for no in [
            "2024-05-01T10:00:-5Z x",
            "2024-05-01",
            "x",
            "Mau  1 10:00:05 x",
        ] {
            assert_eq!(moment(no.as_bytes()), None, "{no}");
        }
    }
}
