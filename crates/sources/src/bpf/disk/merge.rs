//! From the cells of a block to the buckets of tables.
//!
//! A program keeps what saves it work: an I/O that did not wait has one cell for its latency,
//! queue time and service time; sizes and distances are in sectors, and depths plain numbers.

use super::row;
use crate::bpf::cells::Grown;

/// A bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// The least value of the bucket, without its sign.
    pub(super) value: u64,
    /// Whether it is below zero.
    pub(super) below: bool,
    /// I/Os.
    pub(super) count: f64,
    /// Their sectors.
    pub(super) sectors: f64,
}

/// What all I/Os of a block are together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct All {
    pub(super) ios: f64,
    /// Those that do not start where one of the last ended.
    pub(super) random: f64,
    /// Those that have a place.
    pub(super) placed: f64,
    pub(super) bytes: f64,
}

/// The cells of a block that grew.
#[derive(Debug, Default)]
pub(super) struct Merge {
    rows: [Vec<Cell>; row::ALL],
    merged: Vec<Cell>,
}

impl Merge {
    pub(super) fn clear(&mut self) {
        self.rows.iter_mut().for_each(Vec::clear);
    }

    /// Takes a cell of a row that grew.
    pub(super) fn take(&mut self, row: usize, cell: u32, grown: Grown) {
        // A depth has a cell of its own; the others are on the grid.
        let value = if row == row::DEPTH {
            u64::from(cell)
        } else {
            run::grid::lower(cell)
        };
        self.rows[row].push(Cell {
            value,
            below: matches!(row, row::BEHIND | row::NEAR_BEHIND),
            count: grown.count as f64,
            sectors: grown.amount as f64,
        });
    }

    /// The buckets of these rows together, in order.
    pub(super) fn sorted(&mut self, rows: &[usize]) -> &[Cell] {
        self.merged.clear();
        for row in rows {
            self.merged.extend_from_slice(&self.rows[*row]);
        }
        let bucket = |c: &Cell| {
            let index = i64::from(run::grid::index(c.value));
            if c.below { -index } else { index }
        };
        self.merged.sort_by_key(bucket);
        self.merged.dedup_by(|next, kept| {
            let same = bucket(next) == bucket(kept);
            if same {
                kept.count += next.count;
                kept.sectors += next.sectors;
            }
            same
        });
        &self.merged
    }

    /// Queue times: those that did not wait are at zero.
    pub(super) fn queue(&mut self) -> &[Cell] {
        let mut direct = Cell {
            value: 0,
            below: false,
            count: 0.0,
            sectors: 0.0,
        };
        for cell in &self.rows[row::DIRECT] {
            direct.count += cell.count;
            direct.sectors += cell.sectors;
        }
        self.sorted(&[row::QUEUE]);
        if direct.count > 0.0 {
            self.merged.insert(0, direct);
        }
        &self.merged
    }

    /// What all I/Os are together, of which a sector moves so many bytes.
    pub(super) fn all(&self, sector: f64) -> All {
        let count = |row: usize| self.rows[row].iter().map(|c| c.count).sum::<f64>();
        let (ahead, behind) = (count(row::NEAR_AHEAD), count(row::NEAR_BEHIND));
        let goes_on = self.rows[row::NEAR_AHEAD].iter().filter(|c| c.value == 0);
        let sectors = self.rows[row::SIZE].iter().map(|c| c.sectors);
        All {
            ios: count(row::DEPTH),
            random: ahead + behind - goes_on.map(|c| c.count).sum::<f64>(),
            placed: ahead + behind,
            bytes: sectors.sum::<f64>() * sector,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: u64, amount: u64) -> Grown {
        Grown { count, amount }
    }

    #[test]
    fn what_did_not_wait_is_in_all_three() {
        let mut merge = Merge::default();
        merge.take(row::DIRECT, 5, of(3, 24));
        merge.take(row::LATENCY, 5, of(1, 8));
        merge.take(row::LATENCY, 9, of(1, 8));
        merge.take(row::QUEUE, 2, of(2, 16));
        let latency: Vec<_> = merge
            .sorted(&[row::LATENCY, row::DIRECT])
            .iter()
            .map(|c| (c.value, c.count, c.sectors))
            .collect();
        assert_eq!(latency, [(5, 4.0, 32.0), (9, 1.0, 8.0)]);
        let queue: Vec<_> = merge.queue().iter().map(|c| (c.value, c.count)).collect();
        assert_eq!(queue, [(0, 3.0), (2, 2.0)]);
    }

    #[test]
    fn depths_that_share_a_bucket_add() {
        let mut merge = Merge::default();
        for depth in [127, 128, 129, 130] {
            merge.take(row::DEPTH, depth, of(1, 0));
        }
        let depths: Vec<_> = merge
            .sorted(&[row::DEPTH])
            .iter()
            .map(|c| c.count)
            .collect();
        assert_eq!(depths, [1.0, 2.0, 1.0]);
    }

    #[test]
    fn random_is_all_but_what_continues() {
        let mut merge = Merge::default();
        merge.take(row::NEAR_AHEAD, 0, of(10, 0));
        merge.take(row::NEAR_AHEAD, 8, of(3, 0));
        merge.take(row::NEAR_BEHIND, 8, of(4, 0));
        // One of them was a write without data.
        merge.take(row::DEPTH, 1, of(18, 0));
        merge.take(row::SIZE, 8, of(17, 136));
        let all = merge.all(512.0);
        assert_eq!((all.ios, all.random, all.placed), (18.0, 7.0, 17.0));
        assert_eq!(all.bytes, 136.0 * 512.0);
        let nearest: Vec<_> = merge
            .sorted(&[row::NEAR_AHEAD, row::NEAR_BEHIND])
            .iter()
            .map(|c| (c.below, c.value, c.count))
            .collect();
        assert_eq!(nearest, [(true, 8, 4.0), (false, 0, 10.0), (false, 8, 3.0)]);
    }
}
