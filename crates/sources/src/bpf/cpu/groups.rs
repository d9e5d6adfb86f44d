//! The groups that the program knows, and their histograms.
//!
//! A histogram is in pages of 64 cells, one power of two each, which the program takes when
//! it needs them: most groups use a few. A cell is a count and nanoseconds. There are no sums
//! beside the cells: what a group ran is the sum of its cells, always.

use aya::maps::{Array, MapData, MapError};

use crate::Availability;
use crate::bpf::load::Loaded;

/// Places of the program, without the one of all that find none.
pub(super) const GROUPS: usize = 2048;
const SEEN: usize = GROUPS * 2;
const PAGE_CELLS: usize = 64;
const PAGES: usize = 32;

type Page = [u64; PAGE_CELLS * 2];
/// What a cell of a page held at the last reading. Most of a group's are empty, and there may be
/// thousands of groups: of the others a kilobyte a page would be kept.
struct Kept {
    cell: u8,
    was: [u64; 2],
}
/// `struct group`: number, debt, two cells, 32-bit numbers of two times 32 pages.
type Group = [u64; 6 + PAGES];
type Seen = [u64; SEEN];

/// What of a group's time grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Time it ran, by length of the slice.
    Slice,
    /// Time it waited, by length of the wait.
    Wait,
}

/// The growth of one cell. `cell` is `None` for what found no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Growth {
    pub(super) kind: Kind,
    pub(super) cell: Option<u32>,
    pub(super) count: u64,
    pub(super) time: u64,
}

/// The maps, and what they held at the last reading.
pub(super) struct Groups {
    entries: Array<MapData, Group>,
    seen: Array<MapData, Seen>,
    pages: Array<MapData, Page>,
    /// Of each page, in order of its cells.
    before: Vec<Vec<Kept>>,
    beyond: Vec<[u64; 4]>,
}

impl Groups {
    pub(super) fn new(loaded: &mut Loaded) -> Result<Groups, Availability> {
        Ok(Groups {
            entries: loaded.array("groups")?,
            seen: loaded.array("seen")?,
            pages: loaded.array("pages")?,
            before: Vec::new(),
            beyond: vec![[0; 4]; GROUPS + 1],
        })
    }

    /// Places of groups that were charged in this interval, or in the two before it: a
    /// program may have been held up between marking a group and charging it.
    pub(super) fn charged(&self, interval: u32) -> Result<Vec<usize>, MapError> {
        let seen = self.seen.get(&0, 0)?;
        let lately = |s: &u64| *s as u32 > 0 && interval.wrapping_sub(*s as u32) <= 3;
        let places = seen.iter().enumerate().take(GROUPS + 1);
        Ok(places.filter(|(_, s)| lately(s)).map(|(p, _)| p).collect())
    }

    /// The number of the group at `place`.
    pub(super) fn id(&self, place: usize) -> Result<u64, MapError> {
        Ok(self.entries.get(&(place as u32), 0)?[0])
    }

    /// What grew since the last reading of the group at `place`.
    pub(super) fn growth(
        &mut self,
        place: usize,
        mut each: impl FnMut(Growth),
    ) -> Result<(), MapError> {
        let group = self.entries.get(&(place as u32), 0)?;
        let beyond = self.beyond[place];
        self.beyond[place].copy_from_slice(&group[2..6]);
        for (i, kind) in [Kind::Slice, Kind::Wait].into_iter().enumerate() {
            let [count, time] = grown(&group[2 + i * 2..], &beyond[i * 2..]);
            if count > 0 || time > 0 {
                each(Growth {
                    kind,
                    cell: None,
                    count,
                    time,
                });
            }
            for power in 0..PAGES {
                // Two numbers share a word.
                let both = group[6 + i * PAGES / 2 + power / 2];
                let number = (both >> (32 * (power % 2))) as u32;
                if number > 0 {
                    self.page(number - 1, kind, (power * PAGE_CELLS) as u32, &mut each)?;
                }
            }
        }
        Ok(())
    }

    fn page(
        &mut self,
        number: u32,
        kind: Kind,
        first: u32,
        each: &mut impl FnMut(Growth),
    ) -> Result<(), MapError> {
        let now = self.pages.get(&number, 0)?;
        let place = number as usize;
        if self.before.len() <= place {
            self.before.resize_with(place + 1, Vec::new);
        }
        let before = &mut self.before[place];
        let mut at = 0;
        for (cell, now) in now.as_chunks().0.iter().enumerate() {
            if *now == [0; 2] {
                continue;
            }
            at += before[at..].partition_point(|kept| usize::from(kept.cell) < cell);
            if before.get(at).is_none_or(|k| usize::from(k.cell) != cell) {
                let cell = cell as u8;
                before.insert(at, Kept { cell, was: [0; 2] });
            }
            let was = &mut before[at].was;
            let [count, time] = grown(now, was);
            if count > 0 || time > 0 {
                each(Growth {
                    kind,
                    cell: Some(first + cell as u32),
                    count,
                    time,
                });
            }
            *was = *now;
        }
        Ok(())
    }
}

/// Growth of a count and its time.
fn grown(now: &[u64], before: &[u64]) -> [u64; 2] {
    [
        now[0].wrapping_sub(before[0]),
        now[1].wrapping_sub(before[1]),
    ]
}
