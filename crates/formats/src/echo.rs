//! Command lines that stand among what they printed.

use crate::{fields, number};

/// The arguments of `tool`, where the line is its command line: by itself, or after a prompt.
pub(crate) fn command<'a>(line: &'a [u8], tool: &str) -> Option<Vec<&'a [u8]>> {
    let all: Vec<&[u8]> = fields(line).take(64).collect();
    let named = |word: &[u8]| word.rsplit(|b| *b == b'/').next() == Some(tool.as_bytes());
    let at = all.iter().position(|w| named(w))?;
    let before = |word: &&[u8]| {
        word.ends_with(b"$")
            || word.ends_with(b"#")
            || word.ends_with(b"%")
            || word.ends_with(b">")
            || word.ends_with(b"]")
            || matches!(*word, b"sudo" | b"time" | b"exec" | b"+" | b"Cmdline:")
            || word.starts_with(b"LC_ALL=")
            || word.starts_with(b"LANG=")
    };
    let prompted = at > 0 && before(&all[at - 1]);
    // Without a prompt, only what cannot be a title.
    let flag = |word: &&[u8]| word.starts_with(b"-") || number::number(word).is_some();
    let bare = at == 0 && all.len() > 1 && flag(&all[1]);
    (prompted || bare).then(|| all[at + 1..].to_vec())
}

/// The first argument that is a number and no flag's value: the interval. `valued` are the
/// flags that have a value, as `-S`.
pub(crate) fn interval(arguments: &[&[u8]], valued: &[&str]) -> Option<f64> {
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument.starts_with(b"-") {
            if valued.iter().any(|v| v.as_bytes() == *argument) {
                rest.next();
            }
        } else if matches!(*argument, b"|" | b">" | b"&" | b";" | b"2>&1") {
            return None;
        } else if let Some(value) = number::number(argument) {
            return (value > 0.0).then_some(value);
        }
    }
    None
}

/// The value of a flag: the word after it, or what is joined to it.
pub(crate) fn value<'a>(arguments: &[&'a [u8]], flags: &[&str]) -> Option<&'a [u8]> {
    for (i, argument) in arguments.iter().enumerate() {
        for flag in flags {
            match argument.strip_prefix(flag.as_bytes()) {
                Some([]) => return arguments.get(i + 1).copied(),
                Some([b'=', rest @ ..]) => return Some(rest),
                Some(rest) if !flag.starts_with("--") => return Some(rest),
                _ => {}
            }
        }
    }
    None
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
        assert!(command(b"", "vmstat").is_none());
        assert_eq!(interval(&[b"-d", b"sda"], &[]), None);
        assert_eq!(interval(&[b"|", b"5"], &[]), None);
    }
}
