//! Histograms that a program keeps: blocks of cells, one block a lane.
//!
//! A cell holds a count in its lower half and an amount in its upper, so that one addition
//! counts both. Differences of such cells are exact as long as neither half grows by more
//! than 2^32 between two readings: borrows cancel out.

use aya::maps::{Array, MapData};

/// Cells of a row, as in `kernel.h`.
pub(super) const CELLS: usize = 2048;

/// Cells of a page: what an earlier reading held is kept by pages, for most of a histogram's are
/// empty (a whole block of a device and operation is 160 kB).
const PAGE: usize = 64;
type Page = [u64; PAGE];

/// Single rows.
pub(super) type Rows = Blocks<CELLS>;

/// Blocks of `N` cells, several lanes each, as an array of the kernel.
pub(super) struct Blocks<const N: usize> {
    map: Array<MapData, [u64; N]>,
    lanes: u32,
    /// Of each block; a page that was always empty is not there.
    before: Vec<Vec<Option<Box<Page>>>>,
    now: Vec<u64>,
}

impl<const N: usize> Blocks<N> {
    pub(super) fn new(map: Array<MapData, [u64; N]>, lanes: u32) -> Blocks<N> {
        Blocks {
            map,
            lanes,
            before: Vec::new(),
            now: Vec::new(),
        }
    }

    /// What block `number` grew by since it was read last: calls `each` with the cell's place
    /// and the difference, where there is one.
    pub(super) fn growth(&mut self, number: u32, mut each: impl FnMut(usize, u64)) {
        let place = number as usize;
        if self.before.len() <= place {
            self.before.resize_with(place + 1, Vec::new);
        }
        self.now.clear();
        self.now.resize(N, 0);
        for lane in 0..self.lanes {
            let Ok(block) = self.map.get(&(number * self.lanes + lane), 0) else {
                return;
            };
            for (sum, cell) in self.now.iter_mut().zip(&block) {
                *sum = sum.wrapping_add(*cell);
            }
        }
        let before = &mut self.before[place];
        before.resize(N / PAGE, None);
        for (page, (now, before)) in self.now.as_chunks().0.iter().zip(before).enumerate() {
            let before = match before {
                None if now == &[0; PAGE] => continue,
                before => before.get_or_insert_with(|| Box::new([0; PAGE])),
            };
            if now == &**before {
                continue;
            }
            for (cell, (now, before)) in now.iter().zip(before.iter_mut()).enumerate() {
                if now != before {
                    each(page * PAGE + cell, now.wrapping_sub(*before));
                    *before = *now;
                }
            }
        }
    }
}

/// The count of a difference.
pub(super) fn count(difference: u64) -> f64 {
    (difference & 0xffff_ffff) as f64
}

/// The amount of a difference.
pub(super) fn amount(difference: u64) -> f64 {
    (difference >> 32) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_a_difference_survive_a_carry() {
        let before = (7_u64 << 32) | 0xffff_fffe;
        let now = before.wrapping_add(5 | (40 << 32));
        let grown = now.wrapping_sub(before);
        assert_eq!((count(grown), amount(grown)), (5.0, 40.0));
        let before = u64::MAX - 2;
        let now = before.wrapping_add(9 | (3 << 32));
        let grown = now.wrapping_sub(before);
        assert_eq!((count(grown), amount(grown)), (9.0, 3.0));
    }
}
