//! The groups that the program knows, and their histograms.
//!
//! A histogram is in pages of 64 cells, one power of two each, which the program takes when
//! it needs them: most groups use a few. A cell is a count and nanoseconds. There are no sums
//! beside the cells: what a group ran is the sum of its cells, always.
//!
//! A place and its pages are another's when their group is gone and all of it was told.

use aya::maps::{Array, MapData, MapError, Queue};

use super::left::{Left, List};
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
/// `struct group`: debt, two cells, 32-bit numbers of two times 32 pages.
type Group = [u64; BEFORE_PAGES + PAGES];
const BEFORE_PAGES: usize = 5;
/// In the number of a place's group: it is gone. Alone: the place is free.
const GONE: u64 = 1 << 63;
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
    owners: Array<MapData, u64>,
    entries: Array<MapData, Group>,
    seen: Array<MapData, Seen>,
    pages: Array<MapData, Page>,
    free_pages: Queue<MapData, u32>,
    list: Array<MapData, List>,
    left: Left,
    /// Of each page, in order of its cells.
    before: Vec<Vec<Kept>>,
    beyond: Vec<[u64; 4]>,
}

impl Groups {
    pub(super) fn new(loaded: &mut Loaded) -> Result<Groups, Availability> {
        Ok(Groups {
            owners: loaded.array("owners")?,
            entries: loaded.array("groups")?,
            seen: loaded.array("seen")?,
            pages: loaded.array("pages")?,
            free_pages: loaded.queue("free_pages")?,
            list: loaded.array("left")?,
            left: Left::default(),
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

    /// The number of the group at `place`, if it is somebody's.
    pub(super) fn id(&self, place: usize) -> Result<Option<u64>, MapError> {
        let id = self.owners.get(&(place as u32), 0)? & !GONE;
        Ok((id > 0).then_some(id))
    }

    /// Learns which groups are gone.
    pub(super) fn learn_left(&mut self) -> Result<(), MapError> {
        self.left.take(&self.list.get(&0, 0)?);
        Ok(())
    }

    /// Answers with the places of groups that are gone, and on which nobody is. `held`: where
    /// there was somebody when the processors were looked at, after [`Groups::learn_left`].
    pub(super) fn due(&mut self, held: Option<&[usize]>) -> Vec<usize> {
        self.left.look(held);
        self.left.due().collect()
    }

    /// Gives up a place that is due, when its growth was read.
    pub(super) fn free(&mut self, place: usize) -> Result<(), MapError> {
        let at = place as u32;
        let group = self.entries.get(&at, 0)?;
        self.entries.set(at, [0; BEFORE_PAGES + PAGES], 0)?;
        self.beyond[place] = [0; 4];
        let halves = group[BEFORE_PAGES..].iter();
        let numbers = halves.flat_map(|both| [*both as u32, (both >> 32) as u32]);
        for number in numbers.filter(|n| *n > 0) {
            self.pages.set(number - 1, [0; PAGE_CELLS * 2], 0)?;
            if let Some(before) = self.before.get_mut(number as usize - 1) {
                *before = Vec::new();
            }
            self.free_pages.push(number, 0)?;
        }
        self.owners.set(at, GONE, 0)?;
        self.left.freed(place);
        Ok(())
    }

    /// What grew since the last reading of the group at `place`.
    pub(super) fn growth(
        &mut self,
        place: usize,
        mut each: impl FnMut(Growth),
    ) -> Result<(), MapError> {
        let group = self.entries.get(&(place as u32), 0)?;
        let beyond = self.beyond[place];
        self.beyond[place].copy_from_slice(&group[1..BEFORE_PAGES]);
        for (i, kind) in [Kind::Slice, Kind::Wait].into_iter().enumerate() {
            let [count, time] = grown(&group[1 + i * 2..], &beyond[i * 2..]);
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
                let both = group[BEFORE_PAGES + i * PAGES / 2 + power / 2];
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
