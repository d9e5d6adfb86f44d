//! `pressure/cpu`, `io`, `memory` and `irq`: how long tasks were stalled
//! (<https://docs.kernel.org/accounting/psi.html>).
//!
//! ```text
//! some avg10=1.01 avg60=0.56 avg300=0.90 total=621765285
//! ```
//!
//! The lines do not name the file: what `head` and `tail` print above them does, `grep` before each,
//! or the command line that was kept. The total is microseconds.

use crate::counters::Counters;
use crate::fields;
use crate::number::number;
use crate::out::{Out, Shape};

use super::counted::put_grown;

pub(super) const PLACE: &[u8] = b"/proc/pressure/";

/// The kernel's files there (`psi_proc_init`).
const RESOURCES: [&[u8]; 4] = [b"cpu", b"io", b"memory", b"irq"];

/// Said of lines of which the file is not known.
pub(super) const NAMELESS: &str = "lines of a file of /proc/pressure do not tell of which\n\
    hint: `grep . /proc/pressure/*` prints the name before each line, and `tail -n +1 \
    /proc/pressure/*` above each file";

/// The file of a line `==> /proc/pressure/io <==`; empty if it is another.
pub(super) fn named(line: &[u8]) -> &[u8] {
    let path = fields(line).nth(1).unwrap_or_default();
    path.strip_prefix(PLACE).unwrap_or_default()
}

/// The file that a command line reads, `$ cat /proc/pressure/io`; empty where it reads several.
pub(super) fn read_by(line: &[u8]) -> Option<&[u8]> {
    let mut places = memchr::memmem::find_iter(line, PLACE);
    let rest = &line[places.next()? + PLACE.len()..];
    let letters = rest.iter().take_while(|b| b.is_ascii_lowercase()).count();
    let one = places.next().is_none() && !matches!(rest.get(letters), Some(b'*' | b'{' | b'['));
    Some(if one { &rest[..letters] } else { b"" })
}

/// Whether the line is one of a file that does not name it.
pub(super) fn is_nameless(line: &[u8]) -> bool {
    let rest = line
        .strip_prefix(b"some ")
        .or_else(|| line.strip_prefix(b"full "));
    rest.is_some_and(|rest| rest.starts_with(b"avg10="))
}

/// The line with its file in front, as `grep` has it.
pub(super) fn with_name(file: &[u8], line: &[u8]) -> Option<Vec<u8>> {
    let told = !file.is_empty() && is_nameless(line);
    told.then(|| [PLACE, file, b":", line].concat())
}

/// A line of a file.
pub(super) struct Stalls<'a> {
    resource: &'a [u8],
    share: &'a [u8],
    /// Means over ten seconds, one minute and five, and microseconds in all.
    values: [f64; 4],
}

impl<'a> Stalls<'a> {
    /// `/proc/pressure/io:some avg10=1.01 …`.
    pub(super) fn of(line: &'a [u8]) -> Option<Stalls<'a>> {
        // Of `grep . *` there, the name alone.
        let rest = line.strip_prefix(PLACE).unwrap_or(line);
        let (resource, rest) = rest.split_at(rest.iter().position(|b| *b == b':')?);
        RESOURCES.contains(&resource).then_some(())?;
        let mut all = fields(&rest[1..]);
        let share = all.next().filter(|s| matches!(*s, b"some" | b"full"))?;
        let mut values = [f64::NAN; 4];
        for (value, name) in values
            .iter_mut()
            .zip(["avg10=", "avg60=", "avg300=", "total="])
        {
            *value = number(all.next()?.strip_prefix(name.as_bytes())?)?;
        }
        Some(Stalls {
            resource,
            share,
            values,
        })
    }

    pub(super) fn key(&self) -> Vec<u8> {
        [b"pressure ", self.resource, b" ", self.share].concat()
    }
}

pub(super) struct Pressure {
    shape: Shape,
    pub(super) counters: Counters,
    /// Lines came of which the file is not known.
    pub(super) nameless: bool,
}

impl Pressure {
    pub(super) fn new() -> Pressure {
        Pressure {
            shape: Shape::of("pressure", &["stalled"]),
            counters: Counters::default(),
            nameless: false,
        }
    }

    pub(super) fn line(&mut self, stalls: &Stalls, out: &mut Out) {
        let words = [out.word(stalls.resource), out.word(stalls.share)];
        let seconds = stalls.values[3] / 1e6;
        let grown = self.counters.grown(&stalls.key(), &[seconds], out);
        let first = grown.is_none();
        put_grown(
            out,
            &self.shape,
            &words,
            &grown.unwrap_or(vec![seconds]),
            first,
        );
        let instance = out.word(&[stalls.resource, b" ", stalls.share].concat());
        for (column, value) in ["avg10", "avg60", "avg300"].iter().zip(stalls.values) {
            out.other(column, "%", instance, value);
        }
    }
}
