//! What was read of each mount, and what of it grew since the reading before.
//!
//! The tool makes means of totals and cuts them. Operations are exact, so the totals come back, as
//! well as the means were printed: times have six decimals of a ms and are whole ms in all, so that
//! they are exact below a million operations; bytes are uncertain by one for each operation.

use std::collections::BTreeMap;

use super::sentences::{Done, Number};

/// The part of an amount that may be uncertain.
const UNCERTAIN: f64 = 0.01;

/// What is not exact of a mean of six decimals.
const OF_TIMES: f64 = 0.5e-6;

/// The part by which an operation may have been sent more often than its connections say: they
/// are read a moment apart.
const APART: f64 = 0.01;

/// A total of which the text tells no more than that it is this, give or take so much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Total {
    value: f64,
    give: f64,
}

impl Total {
    const NONE: Total = Total {
        value: 0.0,
        give: 0.0,
    };

    /// Of `count` whole numbers with a mean that was cut to a whole number.
    pub(super) fn of_cut_mean(mean: f64, count: f64) -> Total {
        let give = ((count - 1.0) / 2.0).max(0.0);
        Total {
            value: mean * count + give,
            give,
        }
    }

    /// Of `count` whole numbers with a mean of six decimals.
    pub(super) fn of_mean(mean: f64, count: f64) -> Total {
        let (value, give) = (mean * count, count * OF_TIMES);
        if give < 0.49 {
            Total {
                value: value.round(),
                give: 0.0,
            }
        } else {
            Total { value, give }
        }
    }

    /// The total, if it is known well enough.
    pub(super) fn known(self) -> f64 {
        // Some kernels let a time fall below zero, which is printed as a huge number.
        if self.value < 9e18 && self.give <= UNCERTAIN * self.value {
            self.value
        } else {
            f64::NAN
        }
    }

    /// What it grew by.
    pub(super) fn since(self, before: Total) -> Total {
        Total {
            value: self.value - before.value,
            give: self.give + before.give,
        }
    }
}

/// An operation of a mount, since it was mounted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) done: Done,
    /// Bytes sent and received; ms in the queue, to the reply, in all.
    pub(super) totals: [Option<Total>; 5],
}

impl Operation {
    const NONE: Operation = Operation {
        done: Done {
            ops: 0.0,
            retransmissions: 0.0,
            timeouts: 0.0,
            errors: None,
        },
        totals: [Some(Total::NONE); 5],
    };

    pub(super) fn new(done: Done) -> Operation {
        Operation {
            done,
            totals: [None; 5],
        }
    }

    /// Takes a mean of its paragraph.
    pub(super) fn take(&mut self, number: Number, mean: f64) {
        let ops = self.done.ops;
        let (place, total) = match number {
            Number::Sent => (0, Total::of_cut_mean(mean, ops)),
            Number::Received => (1, Total::of_cut_mean(mean, ops)),
            Number::QueueTime => (2, Total::of_mean(mean, ops)),
            Number::RoundTripTime => (3, Total::of_mean(mean, ops)),
            Number::Time => (4, Total::of_mean(mean, ops)),
            _ => return,
        };
        self.totals[place] = Some(total);
    }

    fn transmissions(&self) -> f64 {
        self.done.ops + self.done.retransmissions
    }

    /// A row of table `nfs`: of what it grew by since `before`. Whether some of it is not known well
    /// enough comes with it.
    pub(super) fn row(&self, before: &Operation, errors_known: bool) -> ([f64; 9], bool) {
        let ops = self.done.ops - before.done.ops;
        let mut vague = false;
        let total = |place: usize, vague: &mut bool| {
            let (now, before) = (self.totals[place], before.totals[place]);
            let (Some(now), Some(before)) = (now, before) else {
                return f64::NAN;
            };
            let known = now.since(before).known();
            *vague |= known.is_nan();
            known
        };
        let errors = if errors_known {
            self.done.errors.unwrap_or(0.0) - before.done.errors.unwrap_or(0.0)
        } else {
            f64::NAN
        };
        let [sent, received] = [0, 1].map(|place| total(place, &mut vague));
        let times = [2, 3, 4].map(|place| total(place, &mut vague) / 1000.0);
        let row = [
            ops,
            self.transmissions() - before.transmissions(),
            self.done.timeouts - before.done.timeouts,
            sent,
            received,
            times[0],
            times[1],
            times[2],
            errors,
        ];
        (row, vague)
    }

    /// The row of all since it was mounted.
    pub(super) fn whole(&self, errors_known: bool) -> ([f64; 9], bool) {
        self.row(&Operation::NONE, errors_known)
    }
}

/// What one reading told of a mount.
#[derive(Clone, Debug, Default)]
pub(super) struct Mount {
    pub(super) server: Vec<u8>,
    /// Seconds since it was mounted.
    pub(super) age: Option<f64>,
    /// Connections that its options name.
    pub(super) connections: Option<f64>,
    pub(super) numbers: BTreeMap<Number, f64>,
    pub(super) operations: BTreeMap<Vec<u8>, Operation>,
    /// A line of it was not understood.
    pub(super) lost: bool,
    /// Its counters are differences to a file.
    pub(super) since: bool,
}

/// What a mount's counters are to be compared with.
pub(super) enum Before<'a> {
    /// It was not there in the reading before.
    Nothing,
    /// Its counters started over, or are differences themselves.
    Other,
    Reading(&'a Mount),
}

impl Mount {
    fn number(&self, number: Number) -> f64 {
        self.numbers.get(&number).copied().unwrap_or(f64::NAN)
    }

    pub(super) fn transmissions(&self) -> f64 {
        self.operations.values().map(Operation::transmissions).sum()
    }

    /// Whether its requests are those of all its connections: a version of the tool tells of the
    /// last one alone, and operations that were sent more often than that show it.
    pub(super) fn tells_all_requests(&self) -> bool {
        let sends = self.number(Number::Sends);
        self.connections.is_none_or(|count| count <= 1.0)
            && self.transmissions() <= sends * (1.0 + APART)
    }

    /// The total of the backlog's lengths.
    pub(super) fn backlog(&self) -> Option<Total> {
        let sends = self.numbers.get(&Number::Sends)?;
        if *sends == 0.0 {
            return Some(Total::NONE);
        }
        let mean = self.numbers.get(&Number::Backlog)?;
        Some(Total::of_cut_mean(*mean, *sends))
    }

    /// Whether these are the counters of `before`, read again `passed` seconds later: none fell, and
    /// it is as much older.
    pub(super) fn goes_on_from(&self, before: &Mount, passed: Option<f64>) -> bool {
        let older = match (self.age, before.age) {
            (Some(now), Some(before)) if now <= before => false,
            // Both ages are cut to whole seconds, and a reading takes a moment.
            (Some(now), Some(before)) => {
                passed.is_none_or(|passed| now - before >= passed * (1.0 - APART) - 2.0)
            }
            _ => true,
        };
        let counts = |number: &Number| {
            use Number::{BadXids, Bytes, Count, Replies, Sends};
            matches!(number, Bytes(..) | Count(..) | Sends | Replies | BadXids)
        };
        let fell = |(number, before): (&Number, &f64)| {
            let now = self.numbers.get(number);
            counts(number) && now.is_some_and(|now| now < before)
        };
        let undone = |(op, before): (&Vec<u8>, &Operation)| match self.operations.get(op) {
            Some(now) => {
                let errors = |o: &Operation| o.done.errors.unwrap_or(0.0);
                now.done.ops < before.done.ops
                    || now.transmissions() < before.transmissions()
                    || now.done.timeouts < before.done.timeouts
                    || errors(now) < errors(before)
            }
            // Of those that were never done there is no paragraph.
            None => !self.operations.is_empty() && !self.lost,
        };
        let other = self.since
            || before.since
            || before.numbers.iter().any(fell)
            || before.operations.iter().any(undone);
        older && !other
    }

    /// What operation `op` had counted in this reading, which has no paragraph of it: nothing, where
    /// the others are as good as all that was sent.
    pub(super) fn untold(&self, now: &Operation) -> Option<Operation> {
        let rest = self.number(Number::Sends) - self.transmissions();
        let told = !self.lost && rest >= 0.0 && rest <= UNCERTAIN * now.done.ops;
        told.then_some(Operation::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_as_good_as_their_means() {
        // 548.736686 ms of 338 operations: 185,473 ms.
        assert_eq!(Total::of_mean(548.736_686, 338.0).known(), 185_473.0);
        // 7 bytes of 2 operations that had 14 or 15.
        assert_eq!(Total::of_cut_mean(7.0, 2.0).value, 14.5);
        assert!(Total::of_cut_mean(7.0, 2.0).known().is_nan());
        assert_eq!(Total::of_cut_mean(7.0, 1.0).known(), 7.0);
        assert_eq!(Total::of_cut_mean(100.0, 101.0).known(), 10_150.0);
        // 0.2 ms of ten million, give or take 5 ms.
        let many = Total::of_mean(0.2, 1e7);
        assert_eq!((many.known(), many.give), (2e6, 5.0));
        let more = Total::of_mean(0.2, 1.001e7);
        assert_eq!(more.since(many).known(), 2000.0);
        let few = Total::of_mean(0.2, 1.000_1e7);
        assert!(few.since(many).known().is_nan(), "10 of 20");
        assert!(many.since(more).known().is_nan());
        assert!(
            Total::of_mean(18_446_743_919_241_604.0, 1e3)
                .known()
                .is_nan()
        );
    }
}
