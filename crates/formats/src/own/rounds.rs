//! Rows that each have a time of their own: how far back the interval of each reaches.
//!
//! ```text
//! 10:00:01.123, gpu0, 1
//! 10:00:01.124, gpu1, 10
//! 10:00:02.125, gpu0, 2
//! 10:00:02.126, gpu1, 20
//! ```
//!
//! Where times are closer together than the rows of any one name are, the tool goes from name to
//! name, and an interval reaches back to the row before of the same name. Elsewhere a name that was
//! missing was idle, and an interval reaches back to the time above.

use std::collections::HashMap;

use run::Nanos;

use crate::out::Start;

/// How far apart rows were so far.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// The last time.
    above: Option<Nanos>,
    /// The last one of each name.
    last: HashMap<Vec<u8>, Nanos>,
    /// The shortest way from one time to the next, and from one of a name to its next.
    between_times: Option<Nanos>,
    of_a_name: Option<Nanos>,
}

impl Rounds {
    /// Where the interval starts of a sample whose first row has that name and time.
    pub(super) fn start(&mut self, name: &[u8], now: Nanos) -> Start {
        let apart = |before: Nanos| now.checked_sub(before).filter(|apart| *apart > 0);
        let least =
            |least: Option<Nanos>, apart| Some(least.map_or(apart, |l: Nanos| l.min(apart)));
        let before = self.last.get(name).copied();
        if let Some(apart) = self.above.and_then(apart) {
            self.between_times = least(self.between_times, apart);
        }
        if let Some(apart) = before.and_then(apart) {
            self.of_a_name = least(self.of_a_name, apart);
        }
        let is_first = self.above.is_none();
        self.reached(name, now);
        match (before, self.of_a_name) {
            (_, None) if is_first => Start::Above,
            (_, None) => Start::Unknown,
            (before, Some(own)) if self.between_times.is_some_and(|t| t < own / 2) => {
                before.map_or(Start::Unknown, Start::At)
            }
            _ => Start::Above,
        }
    }

    /// A row of that name has that time.
    pub(super) fn reached(&mut self, name: &[u8], now: Nanos) {
        self.above = Some(now);
        match self.last.get_mut(name) {
            Some(last) => *last = now,
            None => drop(self.last.insert(name.to_vec(), now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(rows: &[(&str, Nanos)]) -> Vec<Start> {
        let mut rounds = Rounds::default();
        let start = |(name, now): &(&str, Nanos)| rounds.start(name.as_bytes(), *now);
        rows.iter().map(start).collect()
    }

    #[test]
    fn one_name_after_the_other() {
        let rows = [("a", 100), ("b", 101), ("a", 200), ("b", 202), ("c", 203)];
        let (at, above, unknown) = (Start::At, Start::Above, Start::Unknown);
        assert_eq!(starts(&rows), [above, unknown, at(100), at(101), unknown]);
        // Once or not in a second, as where idle devices are left out.
        let rows = [("a", 100), ("b", 200), ("a", 300), ("a", 400), ("b", 900)];
        assert_eq!(starts(&rows), [above, unknown, above, above, above]);
    }
}
