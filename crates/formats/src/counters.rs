//! Counters that only grow, as tools print them again and again.

use std::collections::HashMap;

/// What was read last of each thing.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// The report that it was read of, and what was read.
    last: HashMap<Vec<u8>, (u64, Vec<f64>)>,
    report: u64,
}

impl Counters {
    /// The next report begins, which has all that the one before it had.
    pub(crate) fn next(&mut self) {
        self.report += 1;
    }

    /// How far the counters of `key` grew since they were read last; `None` the first time.
    /// One that went back was set to zero meanwhile, so nothing is known: NaN. So it is of those that a
    /// report lacked: it grew since the one above that, and how much of it since then is not told.
    pub(crate) fn grown(&mut self, key: &[u8], now: &[f64]) -> Option<Vec<f64>> {
        let read = (self.report, now.to_vec());
        let (report, before) = self.last.insert(key.to_vec(), read)?;
        let is_next = report + 1 >= self.report;
        let grow = |(now, before): (&f64, &f64)| match now - before {
            grown if grown < 0.0 || !is_next => f64::NAN,
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
        counters.next();
        counters.next();
        let late = counters.grown(b"sda", &[9.0, 9.0]).unwrap();
        assert!(late.iter().all(|grown| grown.is_nan()));
    }
}
