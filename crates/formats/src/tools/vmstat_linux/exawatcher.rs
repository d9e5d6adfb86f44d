//! What Oracle's `ExaWatcher` adds: a head of comments, and the time of day before each row.
//!
//! ```text
//! # Starting Time: 11/28/2026 18:16:32
//! # Sample Interval(s): 5
//! --time-- procs -----------memory---------- ---swap-- -----io---- --system-- -----cpu-----
//!           r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
//! 18:16:32 36  0   4528 226596  23602  74464    0    0   374   606  225  166 32  5 63  1  0
//! ```

use jiff::civil::Time;

use super::Vmstat;
use crate::out::Out;
use crate::time::{Stamp, time_of_day};
use crate::{Line, fields};

/// The time before a row, and the row.
pub(super) fn timed(line: &[u8]) -> Option<(Time, &[u8])> {
    const LENGTH: usize = "18:16:32".len();
    let (time, row) = line.split_at_checked(LENGTH)?;
    let is_whole = time[2] == b':' && time[5] == b':' && row.first() == Some(&b' ');
    Some((time_of_day(time, None).filter(|_| is_whole)?, row))
}

/// When it began, of the comments above.
pub(super) fn start(line: &[u8]) -> Option<&[u8]> {
    comment(line)?.strip_prefix(b"Starting Time:")
}

/// Whether the line is a comment of those above that tells no time.
pub(super) fn is_about(line: &[u8]) -> bool {
    let known: [&[u8]; 4] = [
        b"Sample Interval(s):",
        b"Archive Count:",
        b"Collection Module:",
        b"Collection Command:",
    ];
    let about = |text: &[u8]| known.iter().any(|k| text.starts_with(k));
    let line = line.trim_ascii_end();
    !line.is_empty() && line.iter().all(|b| *b == b'#') || comment(line).is_some_and(about)
}

fn comment(line: &[u8]) -> Option<&[u8]> {
    Some(line.strip_prefix(b"#")?.trim_ascii_start())
}

impl Vmstat {
    /// A row behind its time, whose day is that of the date above.
    pub(super) fn timed(
        &mut self,
        names: &[String],
        time: Time,
        row: &[u8],
        out: &mut Out,
    ) -> Line {
        if fields(row).count() != names.len() {
            return Line::Unknown;
        }
        if let Some(Stamp::Civil(at)) = self.stamp {
            out.date(at.date());
        }
        let above = self.stamp.replace(Stamp::Clock(time));
        let seen = self.system(names, row, out);
        if seen == Line::Unknown {
            self.stamp = above;
        }
        seen
    }
}
