//! Lines that say of which machine or file those below are, as `ansible`, `salt`, `head` and `tail` put
//! them. What two printed is no series.

use crate::fields;
use crate::time::Refused;

/// What such lines named.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    first: Option<Vec<u8>>,
    /// Such a line of `salt`, if what is below it is indented.
    perhaps: Option<(Vec<u8>, u64)>,
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

    /// Looks at each line: it may be the one below, or one that a parser takes for noise.
    ///
    /// # Errors
    /// As [`Sources::is_one`].
    pub(crate) fn look(&mut self, line: &[u8], number: u64) -> Result<(), Refused> {
        if let Some(name) = of_ansible(line) {
            self.of(name, number)?;
        }
        match self.perhaps.take() {
            Some((name, number)) if line.starts_with(b"    ") => self.of(&name, number),
            _ => Ok(()),
        }
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

/// `host | CHANGED | rc=0 >>`, `==> file <==`.
fn named(line: &[u8]) -> Option<&[u8]> {
    if let Some(rest) = line.strip_prefix(b"==> ") {
        return rest.trim_ascii_end().strip_suffix(b" <==");
    }
    of_ansible(line)
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

/// `host:`.
fn of_salt(line: &[u8]) -> Option<&[u8]> {
    let name = line.strip_suffix(b":")?;
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"._-".contains(b);
    (!name.is_empty() && name.iter().all(plain)).then_some(name)
}
