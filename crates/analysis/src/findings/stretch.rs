//! A stretch of time in which something was so.
//!
//! Which one is found by its gain: each interval gains what it has above a threshold, and
//! loses what it lacks. The stretch with the largest sum (Kadane's way, see Bentley,
//! "Programming Pearls", 1984) has a mean above the threshold, whatever the length of the
//! intervals, and does not depend on single noisy ones.

use run::Nanos;

use crate::scan::Slot;

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stretch {
    /// Its start.
    pub(super) from: Nanos,
    /// Its end.
    pub(super) to: Nanos,
    /// Seconds in it that were observed.
    pub(super) seconds: f64,
    /// What was summed up in it.
    pub(super) amount: f64,
}

impl Stretch {
    /// Start and end.
    pub(super) fn time(&self) -> (Nanos, Nanos) {
        (self.from, self.to)
    }

    /// Per second observed.
    pub(super) fn rate(&self) -> f64 {
        self.amount / self.seconds
    }

    /// Whether an interval lies in it.
    pub(super) fn holds(&self, slot: &Slot) -> bool {
        let middle = slot.middle();
        self.from < middle && middle < self.to
    }
}

/// What `amounts` sum up to within `stretch`.
pub(super) fn within(amounts: &[(Slot, f64)], stretch: &Stretch) -> f64 {
    let inside = amounts.iter().filter(|a| stretch.holds(&a.0));
    // Not `sum`, which makes -0 of nothing.
    inside.fold(0.0, |sum, a| sum + a.1)
}

/// The stretch in which a sum was above `threshold` per second on the whole.
pub(super) fn above(amounts: &[(Slot, f64)], threshold: f64) -> Option<Stretch> {
    best(amounts, |slot, amount| amount - threshold * slot.interval)
}

/// The stretch in which `above` was more than `share` of `below` on the whole. Both are in
/// order of time, and of the same samples.
pub(super) fn share_above(
    above: &[(Slot, f64)],
    below: &[(Slot, f64)],
    share: f64,
) -> Option<Stretch> {
    best(above, |slot, amount| {
        let at = below.binary_search_by_key(&slot.time, |b| b.0.time);
        amount - share * at.map_or(0.0, |i| below[i].1)
    })
}

/// The stretch with the largest gain; `None` where nothing gains.
fn best(all: &[(Slot, f64)], gain: impl Fn(&Slot, f64) -> f64) -> Option<Stretch> {
    let (mut sum, mut start, mut most) = (0.0, 0, 0.0);
    let mut found = None;
    for (i, (slot, amount)) in all.iter().enumerate() {
        if sum <= 0.0 {
            (sum, start) = (0.0, i);
        }
        sum += gain(slot, *amount);
        if sum > most {
            (most, found) = (sum, Some((start, i)));
        }
    }
    let (first, last) = found?;
    let part = &all[first..=last];
    Some(Stretch {
        from: part.first()?.0.from(),
        to: part.last()?.0.time,
        seconds: part.iter().map(|p| p.0.interval).sum(),
        amount: part.iter().map(|p| p.1).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    fn found(amounts: &[f64], threshold: f64) -> Option<(Nanos, Nanos, f64)> {
        let slot = |i: usize| Slot {
            time: (i as Nanos + 1) * SECOND,
            interval: 1.0,
            phase: None,
        };
        let all: Vec<_> = amounts
            .iter()
            .enumerate()
            .map(|(i, a)| (slot(i), *a))
            .collect();
        let s = best(&all, |slot, amount| amount - threshold * slot.interval)?;
        assert!(s.rate() > threshold);
        Some((s.from / SECOND, s.to / SECOND, s.amount))
    }

    #[test]
    fn it_is_where_the_mean_is_above() {
        assert_eq!(
            found(&[0.0, 9.0, 4.0, 9.0, 0.0, 0.0], 5.0),
            Some((1, 4, 22.0))
        );
        // Too little between them to bridge.
        assert_eq!(found(&[9.0, 0.0, 0.0, 0.0, 7.0], 5.0), Some((0, 1, 9.0)));
        assert_eq!(found(&[6.0; 4], 5.0), Some((0, 4, 24.0)));
        assert_eq!(found(&[5.0; 4], 5.0), None);
        assert_eq!(found(&[], 5.0), None);
    }
}
