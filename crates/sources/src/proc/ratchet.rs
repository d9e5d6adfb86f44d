//! Counters that the kernel at times sets back a little.

use crate::read::advance;

/// A counter of which more was told than the kernel says now, at times: it was estimated,
/// rounded or taken back.
///
/// A small step back is an amount of 0, and what follows counts only beyond what was told
/// already. So no amount is negative, and their sum over time is the kernel's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ratchet {
    told: u64,
}

impl Ratchet {
    /// Counts from `now` on.
    pub(super) fn from(now: u64) -> Ratchet {
        Ratchet { told: now }
    }

    /// The amount since the last call; a step back of more than `slack` is a wrap or a
    /// reset, as [`advance`] has it.
    pub(super) fn advance(&mut self, now: u64, slack: u64) -> f64 {
        if now < self.told && self.told - now <= slack {
            return 0.0;
        }
        advance(std::mem::replace(&mut self.told, now), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_step_back_is_made_good_before_more_is_told() {
        let mut counter = Ratchet::from(100);
        let amounts = [110, 108, 109, 115].map(|now| counter.advance(now, 2));
        assert_eq!(amounts, [10.0, 0.0, 0.0, 5.0]);
        assert_eq!(amounts.iter().sum::<f64>(), 115.0 - 100.0);
    }

    #[test]
    fn a_large_step_back_is_a_gap() {
        let mut counter = Ratchet::from(100);
        assert!(counter.advance(97, 2).is_nan());
        assert_eq!(counter.advance(98, 2), 1.0);
    }
}
