//! What a program could not keep apart ([`super::entries`]): sums by place, as of a file system or a
//! client, and operation.

use std::collections::HashMap;
use std::io;

use aya::maps::{Array, MapData};

use super::entries::{Entry, Sums};

/// Numbers of the sums of an operation.
pub(super) const SUM_WORDS: usize = 3;

/// Sums of a place and an operation.
#[derive(Default)]
pub(super) struct Rest(HashMap<(usize, usize), Sums>);

impl Rest {
    /// Adds what `place` grew by, from what it had `before`.
    fn grow<const N: usize>(&mut self, place: usize, now: &[u64; N], before: &[u64; N]) {
        let (now, _) = now.as_chunks::<SUM_WORDS>();
        let (before, _) = before.as_chunks::<SUM_WORDS>();
        for (op, (now, before)) in now.iter().zip(before).enumerate() {
            let grown = [0, 1, 2].map(|i| now[i].wrapping_sub(before[i]));
            if grown != [0; SUM_WORDS] {
                self.add((place, op), grown);
            }
        }
    }

    fn add(&mut self, of: (usize, usize), sums: Sums) {
        let all = self.0.entry(of).or_default();
        for (all, sum) in all.iter_mut().zip(sums) {
            *all = all.wrapping_add(sum);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds entries that get no row of their own.
    pub(super) fn take(&mut self, entries: &[Entry]) {
        for entry in entries {
            self.add((entry.filesystem, entry.op), entry.sums);
        }
    }

    /// Place, operation and sums, in their order.
    pub(super) fn in_order(self) -> Vec<((usize, usize), Sums)> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_unstable_by_key(|rest| rest.0);
        all
    }
}

/// The program's sums of all operations of a place, of `N` numbers.
pub(super) struct Rests<const N: usize> {
    map: Array<MapData, [u64; N]>,
    /// As read last, by place.
    before: HashMap<usize, [u64; N]>,
}

impl<const N: usize> Rests<N> {
    pub(super) fn new(map: Array<MapData, [u64; N]>) -> Rests<N>
    where
        [u64; N]: aya::Pod,
    {
        Rests {
            map,
            before: HashMap::new(),
        }
    }

    /// What those places grew by since they were read last.
    pub(super) fn grown(&mut self, places: impl IntoIterator<Item = usize>) -> io::Result<Rest>
    where
        [u64; N]: aya::Pod,
    {
        let mut rest = Rest::default();
        for place in places {
            let now = self.map.get(&(place as u32), 0).map_err(io::Error::other)?;
            let before = self.before.insert(place, now).unwrap_or([0; N]);
            rest.grow(place, &now, &before);
        }
        Ok(rest)
    }
}

/// Sums as a row has them: operations, bytes, seconds.
pub(super) fn values(sums: Sums) -> [f64; SUM_WORDS] {
    [sums[0] as f64, sums[1] as f64, sums[2] as f64 / 1e9]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grew_is_added_up() {
        let mut rest = Rest::default();
        rest.grow(
            4,
            &[1, 2, 3, 7, 8, u64::MAX],
            &[1, 2, 3, 5, 8, u64::MAX - 1],
        );
        rest.grow(2, &[1, 0, 0, 0, 0, 0], &[u64::MAX, 0, 0, 0, 0, 0]);
        rest.add((4, 1), [1, 1, 1]);
        let wanted = [((2, 0), [2, 0, 0]), ((4, 1), [3, 1, 2])];
        assert_eq!(rest.in_order(), wanted);
        assert_eq!(values([1, 2, 3_000_000_000]), [1.0, 2.0, 3.0]);
    }
}
