//! In which order the arms of a block run.

/// The order of the arms in a block, from a seed: the same for the same three numbers.
///
/// Every order is as likely as every other. Of two arms, the second block of each pair runs
/// them the other way round (ABBA or BAAB), so that a steady drift meets both alike.
pub fn order(arms: usize, block: usize, seed: u64) -> Vec<usize> {
    let turned = arms == 2 && block % 2 == 1;
    let mut random = Random::new(seed, if arms == 2 { block / 2 } else { block });
    let mut order: Vec<usize> = (0..arms).collect();
    for last in (1..arms).rev() {
        order.swap(last, random.below(last as u64 + 1) as usize);
    }
    if turned {
        order.reverse();
    }
    order
}

/// A seed for who gave none, from a number that differs each time (the clock). Short enough to
/// be typed again.
pub fn seed_of(different: u64) -> u64 {
    Random::new(different, 0).next() % 1_000_000
}

/// G. Steele, D. Lea, C. Flood: "Fast splittable pseudorandom number generators" (OOPSLA 2014),
/// with the constants of S. Vigna's `SplitMix64`.
struct Random(u64);

impl Random {
    fn new(seed: u64, block: usize) -> Random {
        let mut random = Random(seed);
        // Neighbouring seeds and blocks begin far from each other.
        Random(random.next() ^ Random(!(block as u64)).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, each as likely.
    fn below(&mut self, end: u64) -> u64 {
        // Those at the top that would make the first ones more likely are drawn again.
        let fair = u64::MAX - u64::MAX % end;
        loop {
            let drawn = self.next();
            if drawn < fair {
                return drawn % end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_block_has_every_arm_once() {
        for block in 0..50 {
            let mut found = order(7, block, 42);
            assert_eq!(found, order(7, block, 42));
            found.sort_unstable();
            assert_eq!(found, (0..7).collect::<Vec<_>>());
        }
        assert!(order(0, 0, 1).is_empty());
        assert_eq!(order(1, 0, 1), [0]);
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut counts: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
        for seed in 0..20 {
            for block in 0..300 {
                *counts.entry(order(3, block, seed)).or_default() += 1;
            }
        }
        assert_eq!(counts.len(), 6);
        // Chi square with 5 degrees of freedom: beyond 20.5 once in a thousand.
        let square: f64 = counts
            .values()
            .map(|n| (f64::from(*n) - 1000.0).powi(2) / 1000.0)
            .sum();
        assert!(square < 20.5, "{counts:?}");
    }

    #[test]
    fn two_arms_turn_round() {
        let mut first = [0, 0];
        for pair in 0..100 {
            let (one, other) = (order(2, 2 * pair, 9), order(2, 2 * pair + 1, 9));
            assert_eq!(one[0], other[1]);
            first[one[0]] += 1;
        }
        assert!(first[0] > 30 && first[1] > 30, "{first:?}");
    }

    #[test]
    fn seeds_are_short() {
        assert!((0..100).all(|n| seed_of(n) < 1_000_000));
        assert_ne!(seed_of(1), seed_of(2));
    }
}
