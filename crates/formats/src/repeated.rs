//! Reports that a script has a tool print again and again: where one ends and the next begins,
//! and what counters grew by from one to the next.

use std::collections::HashSet;

use crate::counters::Counters;
use crate::out::Out;
use crate::time::Stamp;
use crate::{prompt, stamp_line};

/// What was read of such a text so far.
#[derive(Debug)]
pub(crate) struct Repeated {
    /// What the present report told of.
    seen: HashSet<Vec<u8>>,
    /// Whatever comes next begins a report.
    fresh: bool,
    stamp: Option<Stamp>,
    reports: u64,
    counters: Counters,
}

impl Repeated {
    pub(crate) fn new() -> Repeated {
        Repeated {
            seen: HashSet::new(),
            fresh: true,
            stamp: None,
            reports: 0,
            counters: Counters::default(),
        }
    }

    /// A line tells when the next report was made.
    pub(crate) fn made_at(&mut self, stamp: Stamp) {
        self.stamp = Some(stamp);
        self.fresh = true;
    }

    /// A header, a command line: what comes next begins a report.
    pub(crate) fn ends(&mut self) {
        self.fresh = true;
    }

    /// What comes is still of the present report, though a time of its own was told.
    pub(crate) fn goes_on(&mut self) {
        self.fresh = false;
        self.stamp = None;
    }

    /// Whether the next thing that comes begins a report.
    pub(crate) fn is_over(&self) -> bool {
        self.fresh
    }

    /// Whether the line stands between reports: it is blank, tells the time of the next, or is
    /// the command that prints them, perhaps with its interval.
    pub(crate) fn between(&mut self, line: &[u8], command: &[&str], out: &mut Out) -> bool {
        if line.trim_ascii().is_empty() {
            return true;
        }
        if let Some(arguments) = prompt::arguments(line, command) {
            if let Some(seconds) = prompt::interval(&arguments) {
                out.every(seconds);
            }
            return true;
        }
        let stamp = stamp_line::told(line, out);
        if let Some(stamp) = stamp {
            self.made_at(stamp);
        }
        stamp.is_some()
    }

    /// Whether the present report told of this already.
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.seen.contains(name)
    }

    /// Whether the present report told of this already; from now on it has.
    pub(crate) fn again(&mut self, name: &[u8]) -> bool {
        !self.seen.insert(name.to_vec())
    }

    /// Whether none came yet.
    pub(crate) fn is_none(&self) -> bool {
        self.reports == 0
    }

    /// Whether this is the first report.
    pub(crate) fn is_first(&self) -> bool {
        self.reports == 1
    }

    /// A line tells of what has that name. If the present report did already, the next one
    /// begins; whether one did.
    pub(crate) fn of(&mut self, name: &[u8], out: &mut Out) -> bool {
        let begins = self.fresh || self.seen.contains(name);
        if begins {
            out.sample_once(self.stamp.take());
            self.reports += 1;
            self.counters.next();
            self.fresh = false;
            self.seen.clear();
        }
        self.seen.insert(name.to_vec());
        begins
    }

    /// The same of counters since boot, of which a first report tells no interval.
    pub(crate) fn counted(&mut self, name: &[u8], out: &mut Out) {
        if self.of(name, out) && self.is_first() {
            out.since_boot();
        }
    }

    /// What the counters of that name grew by since the report before; in a first report since
    /// boot all that they count. `None` where nothing is known: they are new since; NaN
    /// where the report before lacked them.
    pub(crate) fn grown(&mut self, name: &[u8], now: &[f64], out: &mut Out) -> Option<Vec<f64>> {
        let whole = out.is_since_boot().then(|| now.to_vec());
        self.counters.grown(name, now, out).or(whole)
    }

    /// The same of counters that begin anew together.
    pub(crate) fn grown_together(
        &mut self,
        name: &[u8],
        now: &[f64],
        out: &mut Out,
    ) -> Option<Vec<f64>> {
        let whole = out.is_since_boot().then(|| now.to_vec());
        self.counters.grown_together(name, now, out).or(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    #[test]
    fn what_comes_again_begins_the_next_report() {
        let every = Some(1.0);
        let mut out = Out::new(
            "test",
            Options {
                every,
                ..Options::default()
            },
        );
        let mut reports = Repeated::new();
        reports.counted(b"a", &mut out);
        assert!(out.is_since_boot());
        assert_eq!(reports.grown(b"a", &[5.0], &mut out), Some(vec![5.0]));
        reports.counted(b"b", &mut out);
        assert_eq!(out.samples(), 1);
        reports.counted(b"a", &mut out);
        assert!(!out.is_since_boot() && !reports.is_first() && reports.has(b"a"));
        assert_eq!(reports.grown(b"a", &[7.0], &mut out), Some(vec![2.0]));
        assert_eq!(reports.grown(b"c", &[7.0], &mut out), None);
        reports.ends();
        assert!(reports.of(b"d", &mut out));
        assert_eq!(out.samples(), 3);
    }
}
