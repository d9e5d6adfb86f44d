//! Counters that only grow, as tools print them again and again.

use std::collections::HashMap;

/// What was read last of each thing.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    last: HashMap<Vec<u8>, Vec<f64>>,
}

impl Counters {
    /// How far the counters of `key` grew since they were read last; `None` the first time.
    /// One that went back was set to zero meanwhile, so nothing is known: NaN.
    pub(crate) fn grown(&mut self, key: &[u8], now: &[f64]) -> Option<Vec<f64>> {
        let before = self.last.insert(key.to_vec(), now.to_vec())?;
        let grow = |(now, before): (&f64, &f64)| match now - before {
            grown if grown < 0.0 => f64::NAN,
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
    }
}
