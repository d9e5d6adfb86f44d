//! Counters that only grow, as tools print them again and again.

use std::collections::HashMap;

use crate::out::Out;

/// Where counters of 32 bits are shortly before they begin at zero again.
const WRAPS: std::ops::Range<f64> = 4_000_000_000.0..4_294_967_296.0;

/// Said once for all counters of which it is so.
const UNKNOWN: &str = "a counter went back, or came again after it was missing: what it grew by in that interval is \
                       not known";

/// What was read last of each thing.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// The report that it was read of, and what was read.
    last: HashMap<Vec<u8>, (u64, Vec<f64>)>,
    report: u64,
    /// What the present report has, and what the one before it had.
    has: Has,
    had: Has,
    /// How far one grew is not known.
    is_unknown: bool,
}

/// What a report has of the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Has {
    #[default]
    Nothing,
    /// Counters, of which that one has none.
    Others,
    Same,
}

impl Counters {
    /// The next report begins.
    pub(crate) fn next(&mut self) {
        self.report += 1;
        self.had = std::mem::take(&mut self.has);
    }

    /// How far the counters of `key` grew since they were read last; `None` the first time.
    /// One that went back was set to zero meanwhile, so nothing is known: NaN. So it is of those that a
    /// report lacked: it grew since the one above that, and how much of it since then is not told. Of two
    /// sides that are read in turn (`nfsstat -c`, `nfsstat -s`) the report of the other lacks nothing.
    pub(crate) fn grown(&mut self, key: &[u8], now: &[f64], out: &mut Out) -> Option<Vec<f64>> {
        let grown = self.grow(key, now, |before, now| now < before);
        self.note(out);
        grown
    }

    /// They are read, and how far they grew is told otherwise.
    pub(crate) fn read(&mut self, key: &[u8], now: &[f64]) {
        self.grow(key, now, |_, _| false);
    }

    fn note(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.is_unknown) {
            out.note(UNKNOWN);
        }
    }

    /// The same, and whether it is all that was counted: of what is read for the first time.
    pub(crate) fn grown_or_whole(
        &mut self,
        key: &[u8],
        now: Vec<f64>,
        out: &mut Out,
    ) -> (Vec<f64>, bool) {
        or_whole(self.grown(key, &now, out), now)
    }

    /// The same as [`Self::grown`] of counters that begin anew together, as those of a disk that was
    /// replaced: where one went back, that by which the others grew is of the new one, and since when is
    /// not told. One of 32 bits that began at zero again tells nothing of the others.
    pub(crate) fn grown_together(
        &mut self,
        key: &[u8],
        now: &[f64],
        out: &mut Out,
    ) -> Option<Vec<f64>> {
        let mut is_new = false;
        let went_back = |before, now| {
            is_new |= now < before && !WRAPS.contains(&before);
            now < before
        };
        let grown = self.grow(key, now, went_back);
        self.note(out);
        let unknown = |grown: Vec<f64>| vec![f64::NAN; grown.len()];
        if is_new { grown.map(unknown) } else { grown }
    }

    /// The same, and whether it is all that was counted.
    pub(crate) fn grown_together_or_whole(
        &mut self,
        key: &[u8],
        now: Vec<f64>,
        out: &mut Out,
    ) -> (Vec<f64>, bool) {
        or_whole(self.grown_together(key, &now, out), now)
    }

    /// What counts under keys that begin so began anew: how far it grew is not known.
    pub(crate) fn anew(&mut self, begins: &[u8]) {
        let all = self.last.iter_mut();
        for (_, (_, last)) in all.filter(|(key, _)| key.starts_with(begins)) {
            last.fill(f64::INFINITY);
        }
    }

    fn grow(
        &mut self,
        key: &[u8],
        now: &[f64],
        mut went_back: impl FnMut(f64, f64) -> bool,
    ) -> Option<Vec<f64>> {
        let read = (self.report, now.to_vec());
        let last = self.last.insert(key.to_vec(), read);
        let is_same = last.as_ref().is_some_and(|(at, _)| at + 1 == self.report);
        if is_same {
            self.has = Has::Same;
        } else if self.has == Has::Nothing {
            self.has = Has::Others;
        }
        let (report, before) = last?;
        // Neither the report between nor this one goes on with the one before it.
        let is_in_turn = self.had == Has::Others && self.has == Has::Others;
        let is_lacked = report + 1 < self.report && !is_in_turn;
        let is_unknown = &mut self.is_unknown;
        let mut grow = |(now, before): (&f64, &f64)| {
            let is_less = went_back(*before, *now);
            if is_less || is_lacked {
                *is_unknown = true;
                f64::NAN
            } else {
                now - before
            }
        };
        (before.len() == now.len()).then(|| now.iter().zip(&before).map(&mut grow).collect())
    }
}

/// How far counters grew, or all that they count, and which of both it is.
fn or_whole(grown: Option<Vec<f64>>, now: Vec<f64>) -> (Vec<f64>, bool) {
    let is_whole = grown.is_none();
    (grown.unwrap_or(now), is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    fn out() -> Out {
        Out::new("test", Options::default())
    }

    #[test]
    fn the_first_reading_tells_nothing() {
        let (mut counters, mut out) = (Counters::default(), out());
        assert_eq!(counters.grown(b"sda", &[10.0, 5.0], &mut out), None);
        assert_eq!(counters.grown(b"sdb", &[1.0, 1.0], &mut out), None);
        assert_eq!(
            counters.grown(b"sda", &[15.0, 5.0], &mut out),
            Some(vec![5.0, 0.0])
        );
        let back = counters.grown(b"sda", &[3.0, 6.0], &mut out).unwrap();
        assert!(back[0].is_nan());
        assert_eq!(back[1], 1.0);
        assert_eq!(out.notes().collect::<Vec<_>>(), [UNKNOWN]);
        counters.next();
        assert_eq!(
            counters.grown(b"sda", &[4.0, 8.0], &mut out),
            Some(vec![1.0, 2.0])
        );
    }

    #[test]
    fn what_begins_anew_together_tells_nothing_then() {
        let (mut counters, mut out) = (Counters::default(), out());
        assert_eq!(
            counters.grown_together(b"sdb", &[1000.0, 10.0], &mut out),
            None
        );
        let replaced = counters
            .grown_together(b"sdb", &[100.0, 5000.0], &mut out)
            .unwrap();
        assert!(replaced.iter().all(|grown| grown.is_nan()));
        let after = counters.grown_together(b"sdb", &[4_294_967_200.0, 5001.0], &mut out);
        assert_eq!(after.unwrap()[1], 1.0);
        let wrapped = counters
            .grown_together(b"sdb", &[4.0, 5004.0], &mut out)
            .unwrap();
        assert!(wrapped[0].is_nan());
        assert_eq!(wrapped[1], 3.0);
        counters.anew(b"sd");
        let anew = counters
            .grown_together(b"sdb", &[7.0, 6000.0], &mut out)
            .unwrap();
        assert!(anew.iter().all(|grown| grown.is_nan()));
    }

    /// Reads these in a report of its own; how far the first grew.
    fn read(counters: &mut Counters, keys: &[&str], now: f64) -> Option<f64> {
        let mut out = out();
        counters.next();
        let mut grown = keys
            .iter()
            .map(|key| counters.grown(key.as_bytes(), &[now], &mut out));
        let first = grown.next().flatten();
        grown.for_each(drop);
        first.map(|grown| grown[0])
    }

    #[test]
    fn what_a_report_lacked_is_not_of_one_interval() {
        let mut counters = Counters::default();
        for lacking in [&["sdb"][..], &[]] {
            read(&mut counters, &["sda", "sdb"], 10.0);
            read(&mut counters, lacking, 20.0);
            let late = read(&mut counters, &["sda", "sdb"], 30.0).unwrap();
            assert!(late.is_nan(), "{lacking:?}");
        }
        assert_eq!(read(&mut counters, &["sda", "sdb"], 40.0), Some(10.0));
    }

    #[test]
    fn what_is_read_in_turn_lacks_nothing() {
        let mut counters = Counters::default();
        for now in [10.0, 20.0, 30.0] {
            let grown = read(&mut counters, &["client"], now);
            assert_eq!(grown, (now > 10.0).then_some(10.0));
            read(&mut counters, &["server"], now);
        }
    }
}
