//! The list of counters that `vmstat -s` prints, of many systems: a number and what it counts.
//!
//! ```text
//!  1941 cpu context switches
//!   833 device interrupts
//! 10112 pages active
//! ```

use super::solaris::sample;
use crate::counters::Counters;
use crate::out::Out;
use crate::time::Stamp;
use crate::{Line, number};

/// What stands first in the list: of Solaris and HP-UX, of AIX, of FreeBSD, of OpenBSD and NetBSD.
const FIRST: [&str; 4] = [
    "swap ins",
    "total address trans. faults",
    "cpu context switches",
    "bytes per page",
];

/// The same of Linux: of `-s` with each unit of `-S`, of `-D`, of `-f` (`vmstat.c` of procps). The
/// lines of `-f` and `-D` are in `-s`, too, so that these are of no other system's list.
const FIRST_OF_LINUX: [&str; 7] = [
    "K total memory",
    "k total memory",
    "M total memory",
    "m total memory",
    "B total memory",
    "disks",
    "forks",
];

/// How lines of Linux end that tell how much there is now.
const LEVELS_OF_LINUX: [&str; 6] = [
    "memory",
    " swap",
    "swap cache",
    "disks",
    "partitions",
    "inprogress IO",
];

/// Lines of FreeBSD, OpenBSD and NetBSD that tell how much there is now (their `vmstat.c`).
const LEVELS: [&str; 27] = [
    "bytes per page",
    "pages active",
    "pages inactive",
    "pages in the laundry queue",
    "pages in VM cache",
    "pages wired down",
    "pages wired",
    "virtual user pages wired down",
    "pages free",
    "pages managed",
    "pages being paged out",
    "pages zeroed",
    "pages reserved for pagedaemon",
    "pages reserved for kernel",
    "page colors",
    "anonymous pages",
    "cached file pages",
    "cached executable pages",
    "minimum free pages",
    "target free pages",
    "maximum wired pages",
    "swap devices",
    "swap pages",
    "swap pages in use",
    "total anons in system",
    "number of anons",
    "number of free anons",
];

/// Readings of the list, one after the other.
#[derive(Default)]
pub(super) struct Counts {
    counters: Counters,
    /// What the list begins with.
    first: Option<&'static str>,
    /// The list is of Linux.
    of_linux: bool,
    /// The line before was the last but one of `-s` of Linux: what follows is no `-f`.
    ends: bool,
    pub(super) readings: u64,
}

impl Counts {
    /// Those of Linux.
    pub(super) fn of_linux() -> Counts {
        Counts {
            of_linux: true,
            ..Counts::default()
        }
    }

    /// Whether the head of a file has a list that begins so.
    pub(super) fn first(line: &[u8]) -> Option<&'static str> {
        let (_, name) = split(line)?;
        FIRST.into_iter().find(|first| *first == name)
    }

    /// Takes `12 swap ins`; `None` if the line is not one of a list.
    pub(super) fn take(
        &mut self,
        line: &[u8],
        stamp: &mut Option<Stamp>,
        out: &mut Out,
    ) -> Option<Line> {
        let Some((value, name)) = split(line) else {
            let text = line.trim_ascii();
            let shares = [&b"cache hits ("[..], b"deletions "];
            let known = self.first.is_some() && shares.iter().any(|s| text.starts_with(s));
            return known.then_some(Line::Noise);
        };
        let firsts: &[&'static str] = if self.of_linux {
            &FIRST_OF_LINUX
        } else {
            &FIRST
        };
        let ends = std::mem::replace(&mut self.ends, self.of_linux && name == "boot time");
        let first = firsts.iter().copied().find(|first| *first == name);
        if ends && first.is_some() && first == self.first {
            // Its reading has it already.
            return Some(Line::Noise);
        }
        if first.is_some() && (self.first.is_none() || self.first == first) {
            sample(stamp, out);
            out.counts();
            if self.first.is_none() {
                out.since_boot();
            }
            self.first = first;
            self.readings += 1;
        }
        self.first?;
        let name = without_share(name);
        let empty = out.word(b"");
        let of_linux = self.of_linux;
        if of_linux && name == "boot time" {
            return Some(Line::Noise);
        }
        let is_level = if of_linux {
            LEVELS_OF_LINUX.iter().any(|end| name.ends_with(end))
        } else {
            LEVELS.contains(&name)
        };
        if is_level {
            out.other(name, "", empty, value);
            return Some(Line::Data);
        }
        let grown = self.counters.grown(name.as_bytes(), &[value], out);
        if out.is_since_boot() {
            out.other(name, "since boot", empty, value);
        } else if let Some([grown]) = grown.as_deref() {
            // Of a second report what came to the first.
            out.other_grown(name, "", empty, *grown);
        }
        Some(Line::Data)
    }
}

/// The name without a share behind it that is another in each reading: `total name lookups (cache
/// hits 96%)`, `total reclaims (12% fast)`; but `micro (hat) faults` is one.
fn without_share(name: &str) -> &str {
    match name.split_once(" (") {
        Some((before, share)) if share.contains('%') => before,
        _ => name,
    }
}

/// The number of a line, and what it counts.
fn split(line: &[u8]) -> Option<(f64, &str)> {
    let text = std::str::from_utf8(line).ok()?.trim_ascii();
    let (value, name) = text.split_once(|c: char| c.is_ascii_whitespace())?;
    let name = name.trim_ascii_start();
    let value = number::number(value.as_bytes())?;
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        .then_some((value, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_what_it_counts() {
        assert_eq!(split(b"  12 swap ins"), Some((12.0, "swap ins")));
        assert_eq!(split(b" 1 0 0 515"), None);
        assert_eq!(split(b"swap ins"), None);
        assert_eq!(
            Counts::first(b"   9 cpu context switches"),
            Some("cpu context switches")
        );
        assert_eq!(Counts::first(b"   9 swap outs"), None);
        assert_eq!(without_share("total reclaims (12% fast)"), "total reclaims");
        assert_eq!(without_share("micro (hat) faults"), "micro (hat) faults");
    }
}
