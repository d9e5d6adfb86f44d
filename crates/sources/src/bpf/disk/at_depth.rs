//! Time at each depth, told when it passes.
//!
//! The program adds the time at a depth when the depth changes. What has been at one since is read
//! from the stamp that it keeps beside the depth, and taken off what it adds later: so an I/O that
//! hangs is seen in each interval in which it does, and in the last of a recording.

use std::collections::BTreeMap;

use rustix::time::{ClockId, clock_gettime};

use crate::bpf::cells::CELLS;

/// Bits of a stamp.
const STAMP: u32 = 48;

/// Nanoseconds by the clock of the programs, which stands while the machine sleeps.
pub(super) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// How many I/Os a device has under way and since when, as the program keeps it in one word: so
/// whoever reads it reads both of the same moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State(pub(super) u64);

impl State {
    /// I/Os under way.
    pub(super) fn depth(self) -> u32 {
        (self.0 & 0xffff) as u32
    }

    /// The cell of that depth, and the nanoseconds at it until `now`; `None` if nothing is under
    /// way.
    pub(super) fn open(self, now: u64) -> Option<(u32, u64)> {
        let passed = now.wrapping_sub(self.0 >> 16) & ((1 << STAMP) - 1);
        // Its stamp may be of a processor whose clock is ahead.
        let passed = if passed >> (STAMP - 1) > 0 { 0 } else { passed };
        let cell = self.depth().min(CELLS as u32 - 1);
        (cell > 0).then_some((cell, passed))
    }
}

/// What was told of a device.
#[derive(Clone, Debug, Default)]
pub(super) struct AtDepth {
    /// Nanoseconds told of each depth that the program has not added yet.
    ahead: BTreeMap<u32, u64>,
}

impl AtDepth {
    /// Whether the program will add what was told already.
    pub(super) fn is_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// What passed at each depth since this was asked last. `counted` is what the program added
    /// since then, `open` what it will add at least ([`State::open`]).
    ///
    /// What was told too early of a depth (where many processors change it at once, the program
    /// may add the time to another one) is taken off what comes later.
    pub(super) fn passed(
        &mut self,
        counted: impl IntoIterator<Item = (u32, u64)>,
        open: Option<(u32, u64)>,
    ) -> BTreeMap<u32, u64> {
        let mut passed: BTreeMap<u32, u64> = BTreeMap::new();
        for (depth, time) in counted.into_iter().chain(open) {
            *passed.entry(depth).or_default() += time;
        }
        let ahead = std::mem::take(&mut self.ahead);
        for (depth, told) in ahead {
            let time = passed.entry(depth).or_default();
            let rest = told.saturating_sub(*time);
            *time = time.saturating_sub(told);
            // All of this interval was told before, what is open among it.
            if rest > 0 {
                self.ahead.insert(depth, rest);
            }
        }
        if let Some((depth, time)) = open {
            *self.ahead.entry(depth).or_default() += time;
        }
        passed.retain(|_, time| *time > 0);
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn state(since: u64, depth: u64) -> State {
        State(since << 16 | depth)
    }

    fn passed(
        at: &mut AtDepth,
        counted: &[(u32, u64)],
        open: Option<(u32, u64)>,
    ) -> Vec<(u32, u64)> {
        at.passed(counted.iter().copied(), open)
            .into_iter()
            .collect()
    }

    #[test]
    fn a_hung_io_is_told_in_each_interval_and_once() {
        let mut at = AtDepth::default();
        // Begun at half a second, for 30 s, with a reading each second.
        let hung = state(SECOND / 2, 1);
        let first = passed(&mut at, &[], hung.open(SECOND));
        assert_eq!(first, [(1, SECOND / 2)]);
        for second in 2..=30 {
            let told = passed(&mut at, &[], hung.open(second * SECOND));
            assert_eq!(told, [(1, SECOND)], "at {second} s");
            assert!(at.is_ahead());
        }
        // It ends, and the program adds all of it.
        let end = state(30 * SECOND + SECOND / 2, 0);
        let told = passed(&mut at, &[(1, 30 * SECOND)], end.open(31 * SECOND));
        assert_eq!(told, [(1, SECOND / 2)]);
        assert!(!at.is_ahead());
        assert_eq!(passed(&mut at, &[], end.open(32 * SECOND)), []);
    }

    #[test]
    fn a_depth_that_changes_while_others_hang_adds_up() {
        let mut at = AtDepth::default();
        // Three until 0.2 s, then two; issue and completion add to rows of their own.
        let told = passed(&mut at, &[(3, 5), (3, 7)], state(12, 2).open(100));
        assert_eq!(told, [(2, 88), (3, 12)]);
        let told = passed(&mut at, &[(2, 100), (1, 30)], state(142, 2).open(200));
        assert_eq!(told, [(1, 30), (2, 70)]);
        let told = passed(&mut at, &[(2, 60)], None);
        assert_eq!(told, [(2, 2)]);
    }

    #[test]
    fn what_was_told_too_early_is_taken_off_later() {
        let mut at = AtDepth::default();
        assert_eq!(passed(&mut at, &[], Some((4, 100))), [(4, 100)]);
        // The program gave the time to another depth.
        assert_eq!(passed(&mut at, &[(5, 110)], Some((4, 10))), [(5, 110)]);
        let all: u64 = passed(&mut at, &[(4, 300)], None).iter().map(|p| p.1).sum();
        assert_eq!(all, 200);
    }

    #[test]
    fn stamps_of_48_bits_run_over_and_may_be_ahead() {
        let late = (1 << 48) - 10;
        assert_eq!(state(late, 3).open((1 << 48) + 5), Some((3, 15)));
        assert_eq!(state(1000, 3).open(990), Some((3, 0)));
        assert_eq!(state(0, 0).open(990), None);
        assert_eq!(state(0, 60_000).open(990), Some((CELLS as u32 - 1, 990)));
        assert_eq!(state(0, 60_000).depth(), 60_000);
    }
}
