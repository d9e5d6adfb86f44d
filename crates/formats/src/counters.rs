//! Counters that only grow, as tools print them again and again.

use std::collections::HashMap;

/// What was read last of each thing.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// The report that it was read of, and what was read.
    last: HashMap<Vec<u8>, (u64, Vec<f64>)>,
    report: u64,
    /// The present report has something that the one before it has, and that one of the one before.
    goes_on: bool,
    went_on: bool,
}

impl Counters {
    /// The next report begins.
    pub(crate) fn next(&mut self) {
        self.report += 1;
        self.went_on = std::mem::take(&mut self.goes_on);
    }

    /// How far the counters of `key` grew since they were read last; `None` the first time.
    /// One that went back was set to zero meanwhile, so nothing is known: NaN. So it is of those that a
    /// report lacked: it grew since the one above that, and how much of it since then is not told. Of two
    /// sides that are read in turn (`nfsstat -c`, `nfsstat -s`) the report of the other lacks nothing.
    pub(crate) fn grown(&mut self, key: &[u8], now: &[f64]) -> Option<Vec<f64>> {
        let read = (self.report, now.to_vec());
        let (report, before) = self.last.insert(key.to_vec(), read)?;
        self.goes_on |= report + 1 == self.report;
        let is_lacked = report + 1 < self.report && self.went_on;
        let grow = |(now, before): (&f64, &f64)| match now - before {
            grown if grown < 0.0 || is_lacked => f64::NAN,
            grown => grown,
        };
        (before.len() == now.len()).then(|| now.iter().zip(&before).map(grow).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reading_tells_nothing() {
        let mut counters = Counters::default();
        assert_eq!(counters.grown(b"sda", &[10.0, 5.0]), None);
        assert_eq!(counters.grown(b"sdb", &[1.0, 1.0]), None);
        assert_eq!(counters.grown(b"sda", &[15.0, 5.0]), Some(vec![5.0, 0.0]));
        let back = counters.grown(b"sda", &[3.0, 6.0]).unwrap();
        assert!(back[0].is_nan());
        assert_eq!(back[1], 1.0);
        counters.next();
        assert_eq!(counters.grown(b"sda", &[4.0, 8.0]), Some(vec![1.0, 2.0]));
    }

    /// Reads these in a report of its own; how far the first grew.
    fn read(counters: &mut Counters, keys: &[&str], now: f64) -> Option<f64> {
        counters.next();
        let mut grown = keys
            .iter()
            .map(|key| counters.grown(key.as_bytes(), &[now]));
        let first = grown.next().flatten();
        grown.for_each(drop);
        first.map(|grown| grown[0])
    }

    #[test]
    fn what_a_report_lacked_is_not_of_one_interval() {
        let mut counters = Counters::default();
        read(&mut counters, &["sda", "sdb"], 10.0);
        read(&mut counters, &["sdb"], 20.0);
        assert!(read(&mut counters, &["sda", "sdb"], 30.0).unwrap().is_nan());
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
