//! A copy of `dd` that is told of, and whether two reports are of the same one.

use super::line::Command;

/// A copy whose lines are coming.
#[derive(Debug, Default)]
pub(super) struct Copy {
    pub(super) command: Command,
    /// Its first line.
    pub(super) line: u64,
    pub(super) input: Option<(f64, f64)>,
    pub(super) output: Option<(f64, f64)>,
    /// Bytes and seconds, as dd says, since it began.
    pub(super) copied: Option<(f64, f64)>,
    /// What dd said of it is not understood: what comes is of another copy.
    pub(super) is_unread: bool,
    /// Seconds, as `time` says: real, user, system.
    pub(super) timed: [Option<f64>; 3],
    /// Its report came right after an error: with `conv=noerror` the copy went on.
    pub(super) may_go_on: bool,
}

/// Whether bytes and seconds may be of the same copy later on. What takes as long each time and is of
/// some more bytes is another one.
pub(super) fn is_later(then: (f64, f64), now: (f64, f64)) -> bool {
    const FASTER: f64 = 10.0;
    let (bytes, seconds) = (now.0 - then.0, now.1 - then.1);
    bytes > 0.0 && seconds > 0.0 && bytes * then.1 <= FASTER * then.0 * seconds
}

impl Copy {
    /// Whether its report was perhaps not the last: it went on after an error, or was asked for one with
    /// a signal.
    pub(super) fn goes_on(&self) -> bool {
        if self.may_go_on {
            self.command.may_go_on()
        } else {
            self.command.is_fixed()
        }
    }

    /// What was copied is still to come.
    pub(super) fn waits(&self) -> bool {
        self.copied.is_none() && self.timed[0].is_none() && !self.is_unread
    }
}
