//! What benchmarks say of their own work: rows of `workload` and `workload_latency`.

use run::Word;
use run::rows::TableId;

use crate::out::{Out, Shape};

/// What a row is of: job, op and client, each perhaps empty.
pub(crate) type Of<'a> = [&'a [u8]; 3];

/// What was done; NaN is not known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// Operations.
    pub(crate) ops: f64,
    /// Bytes.
    pub(crate) bytes: f64,
    /// Seconds, added over the operations.
    pub(crate) time: f64,
    /// Operations that failed.
    pub(crate) errors: f64,
}

/// Nothing is known.
pub(crate) const UNKNOWN: Done = Done {
    ops: f64::NAN,
    bytes: f64::NAN,
    time: f64::NAN,
    errors: f64::NAN,
};

/// Puts the rows of one benchmark.
pub(crate) struct Work {
    tool: &'static str,
    shape: Shape,
    latency: TableId,
}

impl Work {
    pub(crate) fn new(tool: &'static str) -> Work {
        Work {
            tool,
            shape: Shape::of("workload", &["ops", "bytes", "time", "errors"]),
            latency: TableId::of("workload_latency"),
        }
    }

    fn words(&self, out: &mut Out, of: Of) -> [Word; 4] {
        [self.tool.as_bytes(), of[0], of[1], of[2]].map(|w| out.word(w))
    }

    /// What was done in the present sample's interval.
    pub(crate) fn amounts(&self, out: &mut Out, of: Of, done: Done) {
        let words = self.words(out, of);
        let values = [done.ops, done.bytes, done.time, done.errors];
        out.put_amounts(&self.shape, &words, &values);
    }

    /// What was done per second.
    pub(crate) fn rates(&self, out: &mut Out, of: Of, done: Done) {
        let words = self.words(out, of);
        let values = [done.ops, done.bytes, done.time, done.errors];
        out.put(&self.shape, &words, &values);
    }

    /// Operations that took from `from` to below `to` seconds.
    pub(crate) fn latency(&self, out: &mut Out, of: Of, from: f64, to: f64, count: f64) {
        let words = self.words(out, of);
        out.bucket(self.latency, &words, from, to, count);
    }
}

/// The instance of a value of `other`: what it is of, side by side.
pub(crate) fn instance(out: &mut Out, of: Of) -> Word {
    let parts: Vec<&[u8]> = [of[2], of[0], of[1]]
        .into_iter()
        .filter(|p| !p.is_empty())
        .collect();
    out.word(&parts.join(&b' '))
}

/// A share of a hundred without zeros at its end: `99.990000` is `99.99`.
pub(crate) fn trimmed(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::trimmed;

    #[test]
    fn zeros_that_say_nothing_go() {
        assert_eq!(trimmed("99.990000"), "99.99");
        assert_eq!(trimmed("50.000000"), "50");
        assert_eq!(trimmed("100"), "100");
    }
}
