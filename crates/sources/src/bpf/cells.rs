//! Histograms that a program keeps: blocks of cells, one block a lane.
//!
//! A cell holds a number, or a count in its lower half and an amount in its upper, so that one
//! addition counts both. Differences of such cells are exact as long as neither half grows by
//! 2^32 between two readings: borrows cancel out. So where samples are far apart they are gathered
//! in between, into halves that are wide enough.

use std::collections::{BTreeMap, HashMap};

use aya::maps::{Array, MapData, MapError};

/// Cells of a row, as in `kernel.h`.
pub(super) const CELLS: usize = 2048;

/// Cells of a page: what an earlier reading held is kept by pages, for most of a histogram's are
/// empty (a whole block of a device and operation is 160 kB).
const PAGE: usize = 64;
type Page = [u64; PAGE];

/// Single rows.
pub(super) type Rows = Blocks<CELLS>;

/// What a cell grew by: its two halves, each of them as it would be without a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Grown {
    pub(super) count: u64,
    pub(super) amount: u64,
}

impl Grown {
    fn of(difference: u64) -> Grown {
        Grown {
            count: difference & 0xffff_ffff,
            amount: difference >> 32,
        }
    }

    /// Of a cell that holds one number.
    pub(super) fn whole(self) -> u64 {
        self.count.wrapping_add(self.amount << 32)
    }

    fn add(&mut self, other: Grown) {
        self.count = self.count.wrapping_add(other.count);
        self.amount = self.amount.wrapping_add(other.amount);
    }
}

/// Where blocks are read from.
pub(super) trait Read<const N: usize> {
    /// The block of a lane; `None` if it cannot be read.
    fn block(&self, place: u32) -> Option<[u64; N]>;
}

impl<const N: usize> Read<N> for Array<MapData, [u64; N]> {
    fn block(&self, place: u32) -> Option<[u64; N]> {
        self.get(&place, 0).ok()
    }
}

/// Blocks of `N` cells, several lanes each, as an array of the kernel.
pub(super) struct Blocks<const N: usize, R = Array<MapData, [u64; N]>> {
    map: R,
    lanes: u32,
    /// Of each block; a page that was always empty is not there.
    before: Vec<Vec<Option<Box<Page>>>>,
    now: Vec<u64>,
    /// What blocks grew by and nobody was told of yet, cell by cell.
    gathered: HashMap<u32, BTreeMap<usize, Grown>>,
}

impl<const N: usize, R: Read<N>> Blocks<N, R> {
    pub(super) fn new(map: R, lanes: u32) -> Blocks<N, R> {
        Blocks {
            map,
            lanes,
            before: Vec::new(),
            now: Vec::new(),
            gathered: HashMap::new(),
        }
    }

    /// What block `number` grew by since this was asked last: calls `each` with the cell's place
    /// and by how much, in the order of places, where it is anything.
    pub(super) fn growth(&mut self, number: u32, mut each: impl FnMut(usize, Grown)) {
        if self.gathered.contains_key(&number) {
            self.gather(number);
            let gathered = self.gathered.remove(&number).unwrap_or_default();
            gathered
                .into_iter()
                .for_each(|(cell, grown)| each(cell, grown));
        } else {
            self.read(number, each);
        }
    }

    /// What cells grew by: each with its calls, of block `calls`, and their bytes, of another. That one
    /// is read first: a call is counted before its bytes, so there are never bytes whose call comes
    /// later.
    pub(super) fn with_bytes(&mut self, calls: u32, bytes: Option<u32>) -> Vec<(u32, f64, f64)> {
        let mut moved = HashMap::new();
        if let Some(bytes) = bytes {
            self.growth(bytes, |cell, grown| {
                moved.insert(cell, grown.whole() as f64);
            });
        }
        let mut cells = Vec::new();
        self.growth(calls, |cell, grown| {
            let bytes = moved.remove(&cell).unwrap_or(0.0);
            cells.push((cell as u32, grown.whole() as f64, bytes));
        });
        // Their call was counted when the block was read last.
        cells.extend(
            moved
                .into_iter()
                .map(|(cell, bytes)| (cell as u32, 0.0, bytes)),
        );
        cells
    }

    /// Takes what block `number` grew by, and keeps it for [`growth`](Blocks::growth).
    pub(super) fn gather(&mut self, number: u32) {
        let mut gathered = self.gathered.remove(&number).unwrap_or_default();
        self.read(number, |cell, grown| {
            gathered.entry(cell).or_default().add(grown);
        });
        self.gathered.insert(number, gathered);
    }

    /// What the cells of block `number` differ by from the last reading.
    fn read(&mut self, number: u32, mut each: impl FnMut(usize, Grown)) {
        let place = number as usize;
        if self.before.len() <= place {
            self.before.resize_with(place + 1, Vec::new);
        }
        self.now.clear();
        self.now.resize(N, 0);
        for lane in 0..self.lanes {
            let Some(block) = self.map.block(number * self.lanes + lane) else {
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
                    each(page * PAGE + cell, Grown::of(now.wrapping_sub(*before)));
                    *before = *now;
                }
            }
        }
    }
}

impl<const N: usize> Blocks<N> {
    /// Makes block `number` as if it had never been used. Nobody may be writing to it.
    ///
    /// # Errors
    /// Where the kernel refuses; then it is in use as before.
    pub(super) fn clear(&mut self, number: u32) -> Result<(), MapError> {
        for lane in 0..self.lanes {
            self.map.set(number * self.lanes + lane, [0; N], 0)?;
        }
        if let Some(before) = self.before.get_mut(number as usize) {
            *before = Vec::new();
        }
        self.gathered.remove(&number);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// One block of two lanes that a test writes.
    struct Made<'a>(&'a RefCell<[[u64; PAGE]; 2]>);

    impl Read<PAGE> for Made<'_> {
        fn block(&self, place: u32) -> Option<[u64; PAGE]> {
            Some(self.0.borrow()[place as usize])
        }
    }

    fn add(cells: &RefCell<[[u64; PAGE]; 2]>, lane: usize, cell: usize, amount: u64) {
        let cell = &mut cells.borrow_mut()[lane][cell];
        *cell = cell.wrapping_add(amount);
    }

    fn grown(blocks: &mut Blocks<PAGE, Made<'_>>) -> Vec<(usize, Grown)> {
        let mut all = Vec::new();
        blocks.growth(0, |cell, grown| all.push((cell, grown)));
        all
    }

    #[test]
    fn halves_of_a_difference_survive_a_carry() {
        for before in [(7_u64 << 32) | 0xffff_fffe, u64::MAX - 2] {
            let now = before.wrapping_add(5 | (40 << 32));
            let grown = Grown::of(now.wrapping_sub(before));
            assert_eq!((grown.count, grown.amount), (5, 40));
            assert_eq!(grown.whole(), 5 | (40 << 32));
        }
    }

    /// 12 TiB of sectors and 6 thousand million I/Os of one kind in an interval, and beside them a
    /// cell that holds one number.
    #[test]
    fn what_is_gathered_is_exact_beyond_what_half_a_cell_holds() {
        let cells = RefCell::new([[0; PAGE]; 2]);
        let mut blocks = Blocks::new(Made(&cells), 2);
        let (ios, sectors, whole) = (2_000_000_000_u64, (4_u64 << 40) / 512 / 4, 3_u64 << 40);
        for time in 1..=3 {
            for lane in 0..2 {
                add(&cells, lane, 3, (ios / 2) | (sectors / 2) << 32);
                add(&cells, lane, 9, whole / 2);
            }
            if time < 3 {
                blocks.gather(0);
            }
        }
        let of = |count, amount| Grown { count, amount };
        let all = grown(&mut blocks);
        assert_eq!(all[0], (3, of(3 * ios, 3 * sectors)));
        assert_eq!((all[1].0, all[1].1.whole()), (9, 3 * whole));
        assert_eq!(all.len(), 2);
        // Told once; then it goes on as before.
        assert_eq!(grown(&mut blocks), []);
        add(&cells, 1, 5, 1 | 8 << 32);
        assert_eq!(grown(&mut blocks), [(5, of(1, 8))]);
    }

    #[test]
    fn what_is_gathered_comes_in_the_order_of_cells() {
        let cells = RefCell::new([[0; PAGE]; 2]);
        let mut blocks = Blocks::new(Made(&cells), 2);
        add(&cells, 0, 40, 1);
        blocks.gather(0);
        add(&cells, 0, 2, 1);
        add(&cells, 1, 40, 1);
        let places: Vec<_> = grown(&mut blocks)
            .iter()
            .map(|g| (g.0, g.1.count))
            .collect();
        assert_eq!(places, [(2, 1), (40, 2)]);
    }
}
