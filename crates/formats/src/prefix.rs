//! What stands before each line, put there by who kept the text: times, names, marks of a mail.

mod indent;
mod loggers;
mod numbered;
mod passed;
mod stamps;
mod words;

use crate::out::Out;
use crate::prompt::is_chatter;
use crate::stamp_line::told;
use crate::time::Stamp;
pub(crate) use indent::Indent;
use loggers::logged;
use numbered::{are_numbered, line_number};
use passed::are_passed;
use stamps::{bare_stamp, moment};

/// What every line of a file has in front, put there by who kept it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Prefix {
    #[default]
    None,
    /// A time stamp and what a logger adds.
    Logged,
    /// A time stamp alone, as `ts` of moreutils puts it, perhaps in brackets.
    Stamped,
    /// The time since the line before, as `ts -i` puts it, which is no time of day.
    Passed,
    /// A time of so many words, as `date` prints it.
    Words(usize),
    /// The same word and what ends it, as `pdsh`, `dsh` and `docker compose` put a name.
    Named(Vec<u8>),
    /// The number of the line, as `cat -n` and `grep -n` put it.
    Numbered,
    /// So many `> `, as answers to a mail put them.
    Quoted(usize),
    /// Blanks or tabs, as text is set off in mails and wikis.
    Indented(Vec<u8>),
    /// One before the other, as `docker compose logs -t` has it.
    Both(Box<[Prefix; 2]>),
}

impl Prefix {
    /// The prefix of those lines, if nearly all have one that a logger put there.
    pub(crate) fn logged(lines: &[&[u8]]) -> Prefix {
        let with = lines.iter().filter(|l| logged(l).is_some()).count();
        if nearly_all(with, lines) {
            Prefix::Logged
        } else {
            Prefix::None
        }
    }

    /// The marks of a mail that nearly all of those lines have.
    pub(crate) fn quoted(lines: &[&[u8]]) -> Prefix {
        let depths = lines.iter().map(|l| marks(l, usize::MAX).0);
        let depths: Vec<usize> = depths.filter(|n| *n > 0).collect();
        match depths.iter().min() {
            Some(depth) if nearly_all(depths.len(), lines) => Prefix::Quoted(*depth),
            _ => Prefix::None,
        }
    }

    /// The numbers of those lines, of which the last may be cut.
    pub(crate) fn numbered(lines: &[&[u8]]) -> Prefix {
        let full: Vec<&[u8]> = lines.iter().copied().filter(|l| !l.is_empty()).collect();
        let but_last = &full[..full.len().saturating_sub(1)];
        if are_numbered(&full) || are_numbered(but_last) {
            Prefix::Numbered
        } else {
            Prefix::None
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
        let length = |l: &[u8]| bare_stamp(l).map(|(_, length)| length - blank(l, length));
        let usual = length(first);
        let stamped = usual.is_some() && full.iter().all(|l| length(l) == usual);
        // Words tell more: half of the day, a zone.
        if let Some(count) = words::count(&full)
            && let Some((time, _)) = words::time(first, count)
            && usual.is_none_or(|usual| !stamped || time.len() > usual)
        {
            return Prefix::Words(count);
        }
        if stamped {
            let times: Vec<Stamp> = full.iter().filter_map(|l| Some(bare_stamp(l)?.0)).collect();
            return if are_passed(&times) {
                Prefix::Passed
            } else {
                Prefix::Stamped
            };
        }
        // The command that printed it has none, where a shell's echo is above what another machine
        // sent. A name before a tab is a tool's own then.
        let sent: Vec<&[u8]> = full.iter().copied().filter(|l| !is_chatter(l)).collect();
        let is_echoed = sent.len() < full.len();
        let name = sent.first().and_then(|first| name_of(first));
        let name = name.filter(|n| !is_echoed || sent.len() > 1 && n.ends_with(b":"));
        match name.map(|word| Prefix::Named(word.to_vec())) {
            Some(prefix) if sent.iter().all(|l| prefix.length(l).is_some()) => prefix,
            _ => Prefix::None,
        }
    }

    /// Whether those lines are too few to tell if they have one, and each begins as if it had.
    pub(crate) fn is_open(lines: &[&[u8]]) -> bool {
        /// [`Prefix::perhaps`] wants three before the last.
        const ENOUGH: usize = 4;
        let full: Vec<&[u8]> = lines.iter().copied().filter(|l| !l.is_empty()).collect();
        let begins = |line: &&[u8]| {
            logged(line).is_some()
                || bare_stamp(line).is_some()
                || words::count(&[line]).is_some()
                || name_of(line).is_some()
        };
        !full.is_empty() && full.len() < ENOUGH && full.iter().all(begins)
    }

    fn length(&self, line: &[u8]) -> Option<usize> {
        match self {
            Prefix::None => None,
            Prefix::Logged => logged(line).map(|(_, length)| length),
            Prefix::Stamped | Prefix::Passed => bare_stamp(line).map(|(_, length)| length),
            Prefix::Words(count) => words::time(line, *count).map(|(_, length)| length),
            Prefix::Both(both) => {
                let first = both[0].length(line)?;
                Some(first + both[1].length(&line[first..]).unwrap_or(0))
            }
            Prefix::Numbered => line_number(line).map(|(.., length)| length),
            Prefix::Quoted(depth) => Some(marks(line, *depth).1),
            Prefix::Indented(blanks) if line.starts_with(blanks) => Some(blanks.len()),
            Prefix::Indented(_) => line.trim_ascii().is_empty().then_some(line.len()),
            Prefix::Named(word) => {
                let rest = line.strip_prefix(&word[..])?;
                if word.ends_with(b"\t") {
                    return Some(word.len());
                }
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

    /// Whether a time stands where no tool puts one, before nothing or before sysstat's banner: who kept
    /// the lines put it there.
    pub(crate) fn is_keepers(&self, lines: &[&[u8]]) -> bool {
        let timed = match self {
            Prefix::Stamped | Prefix::Words(_) => true,
            Prefix::Both(both) => both.contains(&Prefix::Stamped),
            _ => false,
        };
        timed
            && lines.iter().any(|line| {
                let rest = self.strip(line).trim_ascii();
                !line.is_empty() && (rest.is_empty() || rest.starts_with(b"Linux "))
            })
    }

    /// The time in the line's prefix. A logger of syslog's old form tells no year: then only the
    /// time of day. A date that can be read in two ways makes `out` refuse the file.
    pub(crate) fn stamp(&self, line: &[u8], out: &mut Out) -> Option<Stamp> {
        match self {
            Prefix::None
            | Prefix::Passed
            | Prefix::Named(_)
            | Prefix::Numbered
            | Prefix::Quoted(_)
            | Prefix::Indented(_) => None,
            Prefix::Logged => {
                let (at, _) = logged(line)?;
                moment(&line[at..]).map(|(stamp, _)| stamp)
            }
            Prefix::Stamped => bare_stamp(line).map(|(stamp, _)| stamp),
            Prefix::Words(count) => told(words::time(line, *count)?.0, out),
            Prefix::Both(both) => {
                let first = both[0].stamp(line, out);
                first.or_else(|| both[1].stamp(both[0].strip(line), out))
            }
        }
    }

    /// What stands before a line that has `next` behind this one.
    pub(crate) fn and(self, next: Prefix) -> Prefix {
        match (self, next) {
            (Prefix::None, next) => next,
            (first, Prefix::None) => first,
            (first, next) => Prefix::Both(Box::new([first, next])),
        }
    }

    /// The part of it that no tool printed itself.
    pub(crate) fn sure(&self) -> Prefix {
        match self {
            Prefix::Logged | Prefix::Quoted(_) => self.clone(),
            Prefix::Both(both) if both[0].sure() == both[0] => both[0].clone().and(both[1].sure()),
            _ => Prefix::None,
        }
    }
}

/// Whether so many of those lines are nearly all that have anything in them.
fn nearly_all(with: usize, lines: &[&[u8]]) -> bool {
    let full = lines.iter().filter(|l| !l.is_empty()).count();
    with > 1 && with * 10 >= full * 9
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

/// 1 if what is before that place ends in a blank.
fn blank(line: &[u8], length: usize) -> usize {
    let last = length.checked_sub(1).and_then(|at| line.get(at));
    usize::from(matches!(last, Some(b' ' | b'\t')))
}

/// The name that a line begins with, and what ends it: `host:`, `[host]`, `web_1  |`, `host` and a
/// tab or a time; or the stream of a container's line that is whole, `stdout F`.
fn name_of(line: &[u8]) -> Option<&[u8]> {
    let streams: [&[u8]; 2] = [b"stdout F", b"stderr F"];
    if let Some(stream) = streams.iter().find(|s| line.starts_with(s)) {
        return Some(&line[..stream.len()]);
    }
    let open = usize::from(line.first() == Some(&b'['));
    // `[pod/web-1/app]` of `kubectl logs --prefix`.
    let plain =
        |b: &u8| b.is_ascii_alphanumeric() || b"._-".contains(b) || (open > 0 && *b == b'/');
    let long = line[open..].iter().take_while(|b| plain(b)).count();
    let first = line.get(open).filter(|_| long > 0)?;
    let rest = &line[open + long..];
    let blanks = rest.iter().take_while(|b| **b == b' ').count();
    let ends = match rest {
        [b']', ..] if open > 0 => 1,
        _ if open > 0 => return None,
        [b':', b' ' | b'\t', ..] | [b':'] | [b'\t', ..] => 1,
        _ if blanks > 0 && rest.get(blanks) == Some(&b'|') => blanks + 1,
        _ if blanks == 1 && bare_stamp(&rest[1..]).is_some() => 0,
        _ => return None,
    };
    // A number is a tool's own.
    let named = first.is_ascii_alphanumeric() && line[..long].iter().any(u8::is_ascii_alphabetic);
    named.then(|| &line[..open + long + ends])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loggers_prefix_is_found_and_a_tools_time_is_none() {
        let logged: [&[u8]; 2] = [
            b"2025-06-03 18:02:03.123[139][DEBUG] x.y[0] stdout: 1 0 2",
            b"2025-06-03 18:02:04.123[139][DEBUG] x.y[0] stdout: 104857600 bytes copied",
        ];
        let prefix = Prefix::logged(&logged);
        assert_eq!(prefix.strip(logged[1]), b"104857600 bytes copied");
        let syslog: [&[u8]; 2] = [
            b"Nov 22 02:12:13 box iostat[12]: sda 1 2",
            b"Nov  2 02:12:13 box iostat[12]: sdb 1 2",
        ];
        assert_eq!(Prefix::logged(&syslog).strip(syslog[1]), b"sdb 1 2");
        let tool: [&[u8]; 2] = [
            b"2018-03-08 12:00:01 all 1.00 2.00",
            b"2018-03-08 12:00:02 all 1.00 2.00",
        ];
        assert_eq!(Prefix::logged(&tool), Prefix::default());
        assert_eq!(Prefix::perhaps(&tool), Prefix::None);
        // Characters of several bytes where a date would be.
        let odd: [&[u8]; 1] = ["201\u{e9}-03-08 12:00:01 x: 1".as_bytes()];
        assert_eq!(Prefix::logged(&odd), Prefix::default());
    }

    #[test]
    fn marks_of_a_mail_go() {
        let quoted: [&[u8]; 4] = [b"> >  r  b", b">>  1  0", b"> >", b">> > 2  0"];
        let prefix = Prefix::quoted(&quoted);
        assert_eq!(prefix, Prefix::Quoted(2));
        assert_eq!(prefix.strip(quoted[0]), b" r  b");
        assert_eq!(prefix.strip(quoted[1]), b" 1  0");
        assert_eq!(prefix.strip(quoted[2]), b"");
        assert_eq!(prefix.strip(quoted[3]), b"> 2  0");
        assert_eq!(prefix.strip(b"On Monday I wrote:"), b"On Monday I wrote:");
        // A prompt now and then.
        let prompts: [&[u8]; 3] = [b"> iostat", b"sda 1", b"sdb 1"];
        assert_eq!(Prefix::quoted(&prompts), Prefix::None);
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
        let mut out = Out::new("test", crate::Options::default());
        assert_eq!(prefix.stamp(named[0], &mut out), None);
        for (start, name) in [
            ("[h1] ", "[h1]"),
            ("[pod/web-1/app] ", "[pod/web-1/app]"),
            ("web_1  | ", "web_1  |"),
            ("h1 | ", "h1 |"),
            ("h1\t", "h1\t"),
        ] {
            let lines = [" r b", "1 2", "3 4", ""].map(|rest| format!("{start}{rest}"));
            let lines = lines.each_ref().map(String::as_bytes);
            let prefix = Prefix::perhaps(&lines);
            assert_eq!(prefix, Prefix::Named(name.into()), "{start}");
            assert_eq!(prefix.strip(lines[0]).trim_ascii(), b"r b", "{start}");
        }
        let numbers: [&[u8]; 4] = [b"1 | 2", b"1 | 3", b"1 | 4", b""];
        assert_eq!(Prefix::perhaps(&numbers), Prefix::None);
        let mut other = named;
        other[1] = b"h2: 1";
        assert_eq!(Prefix::perhaps(&other), Prefix::None);
    }

    #[test]
    fn a_few_lines_do_not_tell() {
        let stamped: [&[u8]; 5] = [
            b"2024-05-01T10:00:00Z Linux 6.1.0 (box)",
            b"2024-05-01T10:00:05Z",
            b"",
            b"2024-05-01T10:00:10Z  1 2",
            b"2024-05-01T10:00:15Z  1 2",
        ];
        assert!(Prefix::is_open(&stamped[..1]) && Prefix::is_open(&stamped[..4]));
        assert!(!Prefix::is_open(&stamped) && !Prefix::is_open(&[]));
        for line in [
            "Nov 22 02:12:13 box iostat[12]: sda 1 2",
            "Sun Nov 22 14:44:43 UTC 2026  1 2",
            "web_1  | 1 2",
            "10:00:05 1 2",
        ] {
            assert!(Prefix::is_open(&[line.as_bytes()]), "{line}");
        }
        assert!(!Prefix::is_open(&[b" r b   swpd"]) && !Prefix::is_open(&[stamped[0], b"1 2"]));
    }

    #[test]
    fn a_logger_of_rfc_5424() {
        let time = "2026-11-22T02:12:13.5+00:00";
        for before in [
            format!("<13>1 {time} box vmstat 12 - - "),
            format!("<165>1 {time} box vmstat - ID7 [a@1 b=\"c\"] "),
        ] {
            let line = format!("{before} 1  0");
            let lines = [line.as_bytes(), line.as_bytes()];
            assert_eq!(Prefix::logged(&lines), Prefix::Logged, "{before}");
            assert_eq!(Prefix::Logged.strip(line.as_bytes()), b" 1  0", "{before}");
            let mut out = Out::new("test", crate::Options::default());
            let stamp = Prefix::Logged.stamp(line.as_bytes(), &mut out);
            let at = jiff::civil::datetime(2026, 11, 22, 2, 12, 13, 500_000_000);
            assert_eq!(stamp, Some(Stamp::Zoned(at, 0)));
        }
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
        let clock = Stamp::Clock(at.time());
        for (line, stamp, length) in [
            ("[2024-05-01 10:00:05] x", Stamp::Civil(at), 22),
            ("[10:00:05] x", clock, 11),
            ("10:00:05 x", clock, 9),
            ("10:00:05: x", clock, 10),
            ("2024-05-01 10:00:05: x", Stamp::Civil(at), 21),
            ("2024/05/01 10:00:05 x", Stamp::Civil(at), 20),
            (
                "1714557605.25 x",
                Stamp::Epoch(1_714_557_605_250_000_000),
                14,
            ),
            ("1714557605\tx", Stamp::Epoch(1_714_557_605_000_000_000), 11),
        ] {
            assert_eq!(bare_stamp(line.as_bytes()), Some((stamp, length)), "{line}");
        }
        for no in [
            "[10:00:05 x",
            "10:00 x",
            "171455760 x",
            "12345678901 x",
            "10:00:05x",
        ] {
            assert_eq!(bare_stamp(no.as_bytes()), None, "{no}");
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
