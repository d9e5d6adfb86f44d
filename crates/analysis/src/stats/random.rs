//! Numbers that look random and are the same for the same seed, on any machine.

/// The generator xoshiro256++ (Blackman and Vigna 2021), its state filled by splitmix64.
///
/// A result that depends on chance names its seed, so the numbers must not change with the
/// version of a library.
#[derive(Clone, Debug)]
pub struct Random([u64; 4]);

impl Random {
    /// From a seed; any number is one.
    pub fn new(seed: u64) -> Random {
        let mut state = seed;
        Random(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.0;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// A whole number from 0 to `n` - 1; 0 of nothing. Of small `n` all are alike to one part
    /// in 2^32 (the high half of a product, without rejection).
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Between 0 and 1, and neither.
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// Puts the items into a random order, each order alike (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers from this state, as other implementations give them.
    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let mut known = Random([1, 2, 3, 4]);
        let found: Vec<u64> = (0..4).map(|_| known.bits()).collect();
        assert_eq!(
            found,
            [41943041, 58720359, 3588806011781223, 3591011842654386]
        );
        assert_ne!(Random::new(1).bits(), Random::new(2).bits());
    }

    #[test]
    fn they_are_spread_evenly() {
        let mut random = Random::new(7);
        let mut seen = [0; 6];
        for _ in 0..60_000 {
            seen[random.below(6)] += 1;
        }
        // 10,000 each, with a deviation of 91.
        assert!(
            seen.iter().all(|n: &i32| (n - 10_000).abs() < 400),
            "{seen:?}"
        );
        let mean = (0..10_000).map(|_| random.normal()).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.04, "{mean}");
        assert_eq!(random.below(0), 0);
        let mut cards: Vec<u8> = (0..52).collect();
        random.shuffle(&mut cards);
        assert!(cards.iter().zip(0..).any(|(c, i)| *c != i));
        cards.sort_unstable();
        assert!(cards.iter().zip(0..).all(|(c, i)| *c == i));
    }
}
