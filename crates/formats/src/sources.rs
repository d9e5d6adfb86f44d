//! Lines that say of which machine or file those below are, as `ansible`, `salt`, `pssh`, `clush`,
//! `dshbak`, `head` and `tail` put them. What two printed is no series.

use crate::fields;
use crate::number::whole;
use crate::time::{Refused, time_of_day};

/// What such lines named.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    first: Option<Vec<u8>>,
    /// Such a line of `salt`, if what is below it is indented.
    perhaps: Option<(Vec<u8>, u64)>,
    /// What came of a heading between two rules.
    framed: Framed,
}

/// A name between two rules, as `clush -b` and `dshbak` put it.
#[derive(Debug, Default)]
enum Framed {
    #[default]
    Nothing,
    Rule,
    Name(Vec<u8>, u64),
}

impl Sources {
    /// Looks at a line that is not understood: whether it is such a one.
    ///
    /// # Errors
    /// Where it is the second, and names another.
    pub(crate) fn is_one(&mut self, line: &[u8], number: u64) -> Result<bool, Refused> {
        self.perhaps = of_salt(line).map(|name| (name.to_vec(), number));
        match named(line) {
            Some(name) => self.of(name, number).map(|()| true),
            None => Ok(false),
        }
    }

    /// Whether nothing that a line of numbers is could be of such a heading.
    pub(crate) fn is_quiet(&self) -> bool {
        self.perhaps.is_none() && matches!(self.framed, Framed::Nothing)
    }

    /// Looks at each line, which may be the one below: whether it is such a one for sure, of which a
    /// parser might take a part for its own.
    ///
    /// # Errors
    /// As [`Sources::is_one`].
    pub(crate) fn look(&mut self, line: &[u8], number: u64) -> Result<bool, Refused> {
        if let Some(name) = of_ansible(line).or_else(|| of_pssh(line)) {
            self.of(name, number)?;
            return Ok(true);
        }
        self.framed = match std::mem::take(&mut self.framed) {
            Framed::Name(name, number) if is_rule(line) => {
                self.of(&name, number)?;
                Framed::Nothing
            }
            Framed::Rule if is_plain(line) => Framed::Name(line.to_vec(), number),
            _ if is_rule(line) => Framed::Rule,
            _ => Framed::Nothing,
        };
        match self.perhaps.take() {
            Some((name, number)) if line.starts_with(b"    ") => self.of(&name, number)?,
            _ => {}
        }
        Ok(false)
    }

    fn of(&mut self, name: &[u8], number: u64) -> Result<(), Refused> {
        let first = self.first.get_or_insert_with(|| name.to_vec());
        if first == name {
            return Ok(());
        }
        Err(Refused(format!(
            "it has what two machines or files had, {} and, from line {number} on, {}\n\
             hint: put each into a file of its own",
            String::from_utf8_lossy(first),
            String::from_utf8_lossy(name)
        )))
    }
}

/// `==> file <==`.
fn named(line: &[u8]) -> Option<&[u8]> {
    if let Some(rest) = line.strip_prefix(b"==> ") {
        return rest.trim_ascii_end().strip_suffix(b" <==");
    }
    None
}

/// `host | CHANGED | rc=0 >>`.
fn of_ansible(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii_end();
    if !line.ends_with(b">>") {
        return None;
    }
    let all: Vec<&[u8]> = fields(line).take(7).collect();
    match all[..] {
        [name, b"|", _, b"|", code, b">>"] if code.starts_with(b"rc=") => Some(name),
        _ => None,
    }
}

/// `[1] 10:15:22 [SUCCESS] host`.
fn of_pssh(line: &[u8]) -> Option<&[u8]> {
    // Each line of all files comes here.
    if !line.starts_with(b"[") {
        return None;
    }
    let all: Vec<&[u8]> = fields(line).take(5).collect();
    match all[..] {
        [
            [b'[', number @ .., b']'],
            time,
            b"[SUCCESS]" | b"[FAILURE]",
            name,
            ..,
        ] => (whole(number).is_some() && time_of_day(time, None).is_some()).then_some(name),
        _ => None,
    }
}

/// `host:`.
fn of_salt(line: &[u8]) -> Option<&[u8]> {
    line.strip_suffix(b":").filter(|name| is_plain(name))
}

/// Whether a line is one of the rules that `clush` (15 marks) and `dshbak` (16) put above and below a
/// name.
fn is_rule(line: &[u8]) -> bool {
    matches!(line.len(), 15 | 16) && line.iter().all(|b| *b == b'-')
}

/// Whether it may be a machine's name.
fn is_plain(name: &[u8]) -> bool {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"._-".contains(b);
    !name.is_empty() && name.iter().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What all the lines of two machines give.
    fn looked(lines: &[&[u8]]) -> Result<(), String> {
        let mut sources = Sources::default();
        let numbered = lines.iter().zip(1..);
        for (line, number) in numbered {
            sources.look(line, number).map_err(|why| why.0)?;
        }
        Ok(())
    }

    #[test]
    fn names_of_two_machines_are_no_series() {
        let pssh: [&[u8]; 4] = [
            b"[1] 10:15:22 [SUCCESS] db01",
            b" 1  0",
            b"[2] 10:15:23 [FAILURE] db02 Exited with error code 1",
            b" 1  0",
        ];
        assert!(looked(&pssh).is_err_and(|why| why.contains("line 3 on, db02")));
        assert_eq!(looked(&pssh[..2]), Ok(()));
        let rule = b"---------------";
        let clush: [&[u8]; 8] = [rule, b"db01", rule, b" 1  0", rule, b"db02", rule, b" 1  0"];
        assert!(looked(&clush).is_err_and(|why| why.contains("line 6 on, db02")));
        // A rule below a heading of a tool's own is none.
        assert_eq!(looked(&[rule, b"one", b"two", rule, b"three"]), Ok(()));
    }
}
