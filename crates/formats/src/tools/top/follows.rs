//! Whether an iteration's shares are of the interval since the one above it. One running `top`
//! tells such from its second iteration on; those of a loop of `top -b -n 1` are since boot or
//! of a moment, each of them.

use std::collections::{BTreeSet, HashMap};

use run::Word;

use crate::cpu::Shares;
use crate::out::Out;

/// What an iteration tells that is of an interval, until it is known of which.
#[derive(Default)]
pub(super) struct Iteration {
    /// Time of day, in seconds.
    pub(super) at: Option<f64>,
    /// Shares of processors; `None` is all of them.
    pub(super) cpus: Vec<(Option<Word>, Shares)>,
    /// Shares in percent that have no place: of nodes, of graphs. Column and instance.
    pub(super) others: Vec<(String, Word, f64)>,
    /// How many tasks there were, by top's own count; 0 if it does not tell.
    pub(super) count: f64,
    /// Shares of tasks, with their numbers.
    pub(super) tasks: Vec<([Word; 3], f64, Vec<u8>)>,
    /// The same by number, to compare.
    by_pid: HashMap<Vec<u8>, Task>,
}

#[derive(Clone, Copy)]
struct Task {
    share: f64,
    /// Processor time so far, and how far that may be off.
    time: f64,
    within: f64,
    is_top: bool,
}

/// What stands before an iteration.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SetOff {
    /// A blank line, as of one that goes on.
    Blank,
    /// None, though the text has blank lines elsewhere: it is the first of another run.
    Anew,
    /// Blank lines were taken out.
    Untold,
}

/// What numbers say of an iteration and the one above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follows {
    /// The same `top` printed both.
    Surely,
    /// Nothing tells.
    Perhaps,
    /// Its shares are of something else than the time between them.
    No,
}

impl Iteration {
    /// Says so where it lists fewer tasks than there were.
    pub(super) fn note_part(&self, out: &mut Out) {
        let listed = self.tasks.len() as f64;
        if listed > 0.0 && listed < self.count && !out.is_endless() {
            out.note(
                "iterations list fewer tasks than there were, as with -i or where `head` cut them: \
                 a task that is missing in some may have done more than is told of it",
            );
        }
    }

    /// A task of that share has used so many seconds, and perhaps as many more as the second
    /// number says.
    pub(super) fn task(
        &mut self,
        pid: &[u8],
        is_top: bool,
        share: f64,
        (time, within): (f64, f64),
    ) {
        let task = Task {
            share,
            time,
            within,
            is_top,
        };
        self.by_pid.insert(pid.to_vec(), task);
    }

    /// Whether the iteration is the first of another run of the tool than the one above.
    pub(super) fn starts_anew(&self, above: &Iteration, set_off: SetOff, out: &mut Out) -> bool {
        match (set_off, self.follows(above)) {
            (SetOff::Anew, _) => {
                out.note(
                    "no blank line precedes some iterations: each is the first of another run of \
                     top, and its shares are kept apart",
                );
                true
            }
            (_, Follows::No) => {
                out.note(
                    "shares of some iterations are not what TIME+ grew by since the one above: \
                     they were printed by another run of top (or are of all processors, or with \
                     children that ended), and are kept apart",
                );
                true
            }
            (SetOff::Untold, Follows::Perhaps) => {
                out.note(
                    "blank lines before iterations were taken out, so it is not known whether \
                     one top printed them all: shares of a loop of `top -n 1` would be of no \
                     interval",
                );
                false
            }
            _ => false,
        }
    }

    /// Whether the shares of tasks are of all processors together ("Solaris mode"), as those say whose
    /// time grew by a multiple of their share, all of them by the same.
    pub(super) fn is_of_all(&self, before: &Iteration) -> bool {
        /// Time from which on a multiple can be told, in seconds.
        const ENOUGH: f64 = 0.3;
        let (Some(now), Some(then)) = (self.at, before.at) else {
            return false;
        };
        let seconds = (now - then).rem_euclid(86400.0);
        if seconds <= 0.0 || self.follows(before) != Follows::Surely {
            return false;
        }
        // What the growth is at least and at most a multiple of the share.
        let (mut least, mut most) = (0.0_f64, f64::INFINITY);
        for pid in self.by_pid.keys() {
            let (Some(grew), Some(task)) = (self.grew(before, pid), self.by_pid.get(pid)) else {
                continue;
            };
            let within = task.within + 0.001 * seconds;
            if grew < ENOUGH.max(10.0 * within) {
                continue;
            }
            // Both times of day are cut to seconds.
            let (short, long) = ((seconds - 1.0).max(0.5), seconds + 1.0);
            least = least.max((grew - within) / ((task.share + 0.001) * long));
            most = most.min((grew + within) / ((task.share - 0.001).max(0.0) * short));
        }
        least > 1.5 && most.is_finite() && most >= least
    }

    /// By how many seconds the processor time of a task grew.
    pub(super) fn grew(&self, before: &Iteration, pid: &[u8]) -> Option<f64> {
        let grew = self.by_pid.get(pid)?.time - before.by_pid.get(pid)?.time;
        (grew >= 0.0).then_some(grew)
    }

    /// Whether this is the next iteration of what printed `before`.
    fn follows(&self, before: &Iteration) -> Follows {
        let (Some(now), Some(then)) = (self.at, before.at) else {
            return Follows::Perhaps;
        };
        let seconds = (now - then).rem_euclid(86400.0);
        // Each lists itself, and perhaps others that somebody else runs.
        let tops = |i: &Iteration| -> BTreeSet<Vec<u8>> {
            let tops = i.by_pid.iter().filter(|(_, task)| task.is_top);
            tops.map(|(pid, _)| pid.clone()).collect()
        };
        let (now, then) = (tops(self), tops(before));
        if !now.is_empty() && now == then {
            return Follows::Surely;
        }
        let (mut apart, mut all) = (0.0, 0.0);
        for (pid, task) in &self.by_pid {
            let Some(old) = before.by_pid.get(pid) else {
                continue;
            };
            let (grew, told) = (task.time - old.time, task.share * seconds);
            if grew >= 0.0 {
                // Shares are printed to a thousandth.
                let within = task.within.max(old.within) + 0.001 * seconds;
                apart += ((grew - told).abs() - within).max(0.0);
                all += grew.max(told);
            }
        }
        // Both times of day are cut to seconds, so that their distance may be one off.
        if seconds > 0.0 && apart > (1.0 / seconds + 0.25) * all {
            return Follows::No;
        }
        // One is gone and another has come.
        if now.difference(&then).next().is_some() && then.difference(&now).next().is_some() {
            return Follows::No;
        }
        Follows::Perhaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iteration(at: f64, tasks: &[(&str, f64, &str)]) -> Iteration {
        let mut iteration = Iteration {
            at: Some(at),
            ..Iteration::default()
        };
        for (pid, share, time) in tasks {
            let time = super::super::text::clock_seconds(time.as_bytes()).expect("a time");
            iteration.task(pid.as_bytes(), pid.starts_with('9'), *share, time);
        }
        iteration
    }

    #[test]
    fn times_of_processes_tell_who_printed() {
        let first = iteration(86398.0, &[("1", 0.5, "1:00.00"), ("90", 0.0, "0:00.01")]);
        let of = |tasks: &[(&str, f64, &str)]| iteration(3.0, tasks).follows(&first);
        // Half of five seconds.
        let same = [("1", 0.5, "1:02.50"), ("90", 0.002, "0:00.02")];
        assert_eq!(of(&same), Follows::Surely);
        assert_eq!(of(&[("1", 0.5, "1:02.10")]), Follows::Perhaps);
        assert_eq!(of(&[("1", 0.062, "1:02.50")]), Follows::No);
        assert_eq!(of(&[("1", 0.9, "1:00.10")]), Follows::No);
        // A number that was given again tells nothing.
        assert_eq!(of(&[("1", 0.9, "0:00.10")]), Follows::Perhaps);
        // Another `top` is listed, and the first is gone.
        assert_eq!(of(&[("91", 0.062, "0:00.01")]), Follows::No);
        // Shares of all processors; the same `top` printed them.
        let all = [("1", 0.1, "1:02.50"), ("90", 0.0, "0:00.02")];
        assert_eq!(of(&all), Follows::Surely);
        // Somebody else runs one, too.
        let both = iteration(3.0, &[("91", 0.0, "0:00.01"), ("92", 0.1, "9:00.00")]);
        let above = iteration(1.0, &[("90", 0.0, "0:00.01"), ("92", 0.1, "8:59.80")]);
        assert_eq!(both.follows(&above), Follows::No);
        // Without hundredths, and over a second, nothing is sure.
        let next = iteration(4.0, &[("1", 0.1, "1:01")]);
        assert_eq!(
            next.follows(&iteration(3.0, &[("1", 0.1, "1:00")])),
            Follows::Perhaps
        );
        // Hours and minutes tell little of five seconds.
        let above = iteration(86398.0, &[("1", 0.5, "27,13"), ("2", 0.9, "6d+5h")]);
        let next = iteration(3.0, &[("1", 0.5, "27,14"), ("2", 0.9, "6d+6h")]);
        assert_eq!(next.follows(&above), Follows::Perhaps);
        let untimed = Iteration::default();
        assert_eq!(untimed.follows(&first), Follows::Perhaps);
    }

    #[test]
    fn times_tell_of_how_many_processors_a_share_is() {
        let above = [
            ("1", 0.5, "1:00.00"),
            ("2", 0.1, "1:00.00"),
            ("90", 0.0, "0:00.01"),
        ];
        let first = iteration(100.0, &above);
        let of = |one: &'static str, two: &'static str| {
            let tasks = [("1", 0.5, one), ("2", 0.1, two), ("90", 0.0, "0:00.02")];
            iteration(110.0, &tasks).is_of_all(&first)
        };
        // Of four processors: twenty and four seconds in ten.
        assert!(of("1:20.00", "1:04.00"));
        assert!(!of("1:05.00", "1:01.00"));
        // One has children that ended.
        assert!(!of("1:20.00", "1:01.00"));
        // Nothing says that one `top` printed both.
        let other = iteration(110.0, &[("1", 0.5, "1:20.00")]);
        assert!(!other.is_of_all(&first));
    }
}
