//! Command lines that stand among what they printed.

use crate::{fields, number, prompt};

/// The arguments of `tool`, where the line is its command line: by itself, or after a prompt.
pub(crate) fn command<'a>(line: &'a [u8], tool: &str) -> Option<Vec<&'a [u8]>> {
    let all: Vec<&[u8]> = fields(line).take(64).collect();
    // `mpstat; sleep 5`.
    let bare = |word: &'a [u8]| word.strip_suffix(b";").unwrap_or(word);
    let named = |word: &'a [u8]| bare(word).rsplit(|b| *b == b'/').next() == Some(tool.as_bytes());
    let at = all.iter().position(|w| named(w))?;
    let is_alone = bare(all[at]).len() < all[at].len();
    let arguments = if is_alone { &[] } else { &all[at + 1..] };
    // Without a prompt, only what cannot be a title.
    let flag = |word: &&[u8]| word.starts_with(b"-") || number::number(word).is_some();
    let is_command = match at {
        0 => arguments.first().is_some_and(flag),
        _ => prompt::is_prompt(&all[..at]) || prompt::is_labelled(&all[..at], arguments),
    };
    is_command.then(|| arguments.to_vec())
}

/// The first argument that is a number and no flag's value: the interval. `valued` are the
/// flags that have a value, as `-S`.
pub(crate) fn interval(arguments: &[&[u8]], valued: &[&str]) -> Option<f64> {
    let value = amounts(arguments, valued).first().copied()?;
    (value > 0.0).then_some(value)
}

/// How many reports a run prints that has an interval and a count behind its flags, or one without
/// both; `None`: it goes on.
pub(crate) fn reports(arguments: &[&[u8]], valued: &[&str]) -> Option<u64> {
    match amounts(arguments, valued)[..] {
        [] => Some(1),
        [_] => None,
        [_, count, ..] => (count >= 1.0).then_some(count as u64),
    }
}

/// The arguments that are numbers and no flag's value, up to another command.
fn amounts(arguments: &[&[u8]], valued: &[&str]) -> Vec<f64> {
    let mut found = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        // Another command may follow.
        let plain = argument.strip_suffix(b";").unwrap_or(argument);
        let plain = plain.strip_suffix(b")").unwrap_or(plain);
        let is_last = plain.len() < argument.len();
        if plain.len() > 1 && plain.starts_with(b"-") {
            if !is_last && valued.iter().any(|flag| ends_in(plain, flag)) {
                rest.next();
            }
        } else if let Some(value) = number::number(plain).filter(|_| !plain.contains(&b',')) {
            // `5,2` is a list.
            found.push(value);
        }
        if is_last || matches!(argument[0], b'|' | b'>' | b'&' | b';') {
            break;
        }
    }
    found
}

/// The line that `watch` prints above what it runs:
/// `Every 2.0s: cat /proc/stat     box: Fri Mar  5 10:00:00 2021`.
pub(crate) struct Watched<'a> {
    /// Seconds from one run to the next.
    pub(crate) every: f64,
    pub(crate) command: &'a [u8],
    /// The time, in the words of a locale.
    pub(crate) time: &'a [u8],
}

impl Watched<'_> {
    /// What the line says, if it is one.
    pub(crate) fn of(line: &[u8]) -> Option<Watched<'_>> {
        let rest = line.strip_prefix(b"Every ")?;
        let start = memchr::memmem::find(rest, b": ")?;
        let end = memchr::memmem::rfind(rest, b": ").filter(|end| *end > start)?;
        let every = number::number(rest[..start].strip_suffix(b"s")?)?;
        Some(Watched {
            every,
            command: &rest[start + 2..end],
            time: &rest[end + 2..],
        })
    }
}

/// What `INTERVAL COUNT | tail -1` leaves of a tool that prints so many reports: the last of them.
/// How long its interval is, and how long after the tool's start it ended, in seconds.
pub(crate) fn last_alone(arguments: &[&[u8]]) -> Option<(f64, f64)> {
    let pipe = arguments.iter().position(|a| *a == b"|")?;
    let (own, behind) = (&arguments[..pipe], arguments.get(pipe + 1..)?);
    let &[.., every, count] = own else {
        return None;
    };
    let (every, count) = (number::number(every)?, number::whole(count)?);
    let ends = |word: &&[u8]| {
        let word = word.strip_suffix(b";").unwrap_or(word);
        word.strip_suffix(b")").unwrap_or(word).to_vec()
    };
    let words: Vec<Vec<u8>> = behind.iter().take(3).map(ends).collect();
    let is_last = match &words[..] {
        [tail, one, ..] if tail == b"tail" && (one == b"-1" || one == b"-n1") => true,
        [tail, n, one] => tail == b"tail" && n == b"-n" && one == b"1",
        _ => false,
    };
    (is_last && count > 1 && every > 0.0).then(|| (every, every * (count - 1) as f64))
}

/// Whether what follows the argument is this flag's value: it is the flag, or ends a bundle of
/// which none before it has a value of its own.
fn ends_in(argument: &[u8], flag: &str) -> bool {
    match flag.as_bytes() {
        [b'-', letter] if letter.is_ascii_alphabetic() => {
            argument.len() > 1 && argument[1] != b'-' && argument.last() == Some(letter)
        }
        flag => argument == flag,
    }
}

/// The value of a flag: the word after it, or what is joined to it; it may end a bundle.
pub(crate) fn value<'a>(arguments: &[&'a [u8]], flags: &[&str]) -> Option<&'a [u8]> {
    for (i, argument) in arguments.iter().enumerate() {
        for flag in flags {
            let joined = match flag.as_bytes() {
                [b'-', letter] => joined(argument, *letter),
                flag => match argument.strip_prefix(flag) {
                    Some([b'=', rest @ ..]) => Some(rest),
                    rest => rest.filter(|r| r.is_empty()),
                },
            };
            match joined {
                Some([]) => return arguments.get(i + 1).copied(),
                Some(rest) => return Some(rest),
                None => {}
            }
        }
    }
    None
}

/// What follows that letter in a bundle of flags.
fn joined(argument: &[u8], letter: u8) -> Option<&[u8]> {
    let bundle = argument
        .strip_prefix(b"-")
        .filter(|b| !b.starts_with(b"-"))?;
    let at = bundle.iter().position(|b| *b == letter)?;
    let flags = bundle[..at].iter().all(u8::is_ascii_alphabetic);
    let rest = &bundle[at + 1..];
    flags.then(|| rest.strip_prefix(b"=").unwrap_or(rest))
}

/// Whether one of the short flags is among the arguments, alone or bundled.
pub(crate) fn has_flag(arguments: &[&[u8]], flag: u8) -> bool {
    let short = |a: &&&[u8]| a.starts_with(b"-") && !a.starts_with(b"--");
    arguments.iter().filter(short).any(|a| a.contains(&flag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_and_what_is_none() {
        let line = b"[me@box ~]$ vmstat -S M -y 5 10";
        let arguments = command(line, "vmstat").unwrap();
        assert_eq!(interval(&arguments, &["-S"]), Some(5.0));
        assert_eq!(value(&arguments, &["-S", "--unit"]), Some(&b"M"[..]));
        assert!(command(b"[root@node01 ~] vmstat", "vmstat").is_some());
        assert!(has_flag(&arguments, b'y') && !has_flag(&arguments, b'd'));
        assert!(command(b"# /usr/bin/vmstat 1", "vmstat").is_some());
        assert!(command(b"vmstat 1", "vmstat").is_some());
        assert!(command(b"vmstat shows 1", "vmstat").is_none());
        assert!(command(b"shell: vmstat -S m  1 3", "vmstat").is_some());
        for title in [
            &b"vmstat: -S m 1 3"[..],
            b"db1: vmstat",
            b"12: vmstat 1",
            b"see: vmstat of 1",
        ] {
            assert!(command(title, "vmstat").is_none());
        }
        assert!(command(b"", "vmstat").is_none());
        let alone = command(b"$ while sleep 5; do date; mpstat; done", "mpstat");
        assert_eq!(alone, Some(vec![]));
        assert_eq!(interval(&[b"-d", b"sda"], &[]), None);
        assert_eq!(interval(&[b"|", b"5"], &[]), None);
        // What a loop sleeps is no interval.
        let once: [&[u8]; 3] = [b"-xn;", b"sleep", b"5;"];
        assert_eq!((interval(&once, &[]), reports(&once, &[])), (None, Some(1)));
        let two: [&[u8]; 5] = [b"-xn", b"5", b"2;", b"sleep", b"55;"];
        assert_eq!(
            (interval(&two, &[]), reports(&two, &[])),
            (Some(5.0), Some(2))
        );
        assert_eq!(reports(&[b"-xn", b"5", b"|", b"tee"], &[]), None);
        let last = |line: &[u8]| last_alone(&command(line, "vmstat").unwrap());
        assert_eq!(last(b"$ vmstat -w 1 2 | tail -1; done"), Some((1.0, 1.0)));
        assert_eq!(last(b"$ vmstat 2 3 | tail -n 1"), Some((2.0, 4.0)));
        assert_eq!(last(b"$ vmstat 1 1 | tail -1"), None);
        assert_eq!(last(b"$ vmstat 1 2 | tail -2"), None);
        assert_eq!(last(b"$ vmstat 1 2"), None);
    }
}
