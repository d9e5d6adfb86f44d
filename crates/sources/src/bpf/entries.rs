//! Who did what to which file, as a program counted it (`entries.h`).
//!
//! The program has two tables and fills one an interval. When the interval ends the other one
//! takes over, and this one is read. A call that was being counted at that moment may still
//! add to it: so it is read once more an interval later, and only then emptied. Nothing is
//! lost.

use std::collections::{BTreeMap, HashMap};
use std::io;

use aya::maps::{Array, MapData};

use super::control::Control;
use super::load::Loaded;
use crate::Availability;

/// Entries that one call reads, as in `entries.h`.
const CHUNK: usize = 256;
/// Numbers of an entry.
const WORDS: usize = 8;
/// Chunks of an interval.
const CHUNKS: u32 = 64;

/// Entries as the kernel keeps them.
pub(super) type Chunk = [u64; CHUNK * WORDS];

/// Calls, their bytes and their nanoseconds.
pub(super) type Sums = [u64; 3];

/// What a process, or a client, did to a file in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) file: u64,
    pub(super) start: u64,
    pub(super) group: u64,
    pub(super) pid: u32,
    pub(super) filesystem: usize,
    pub(super) op: usize,
    pub(super) sums: Sums,
}

impl Entry {
    /// `None`: the place is empty.
    fn of(words: &[u64]) -> Option<Entry> {
        let words: &[u64; WORDS] = words.try_into().ok()?;
        (words[0] != 0).then_some(Entry {
            file: words[1],
            start: words[2],
            group: words[3],
            pid: words[4] as u32,
            filesystem: usize::from((words[4] >> 32) as u16),
            op: usize::from((words[4] >> 48) as u16),
            sums: [words[5], words[6], words[7]],
        })
    }
}

/// The two tables.
pub(super) struct Counts {
    map: Array<MapData, Chunk>,
    /// Of an even and an odd interval, a bit for each chunk that has entries.
    used: Array<MapData, u64>,
    /// What was read of the table that is to be emptied, by place.
    before: HashMap<u32, Sums>,
}

impl Counts {
    /// Those of `loaded`.
    pub(super) fn of(loaded: &mut Loaded) -> Result<Counts, Availability> {
        Ok(Counts {
            map: loaded.array("paths")?,
            used: loaded.array("used_chunks")?,
            before: HashMap::new(),
        })
    }

    /// Ends the program's interval: what it counted in it, and what came late to the one before.
    pub(super) fn turn(&mut self, control: &mut Control) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        let past = control.interval();
        // The place of the next one still has what came late to the one before this.
        self.read(past.wrapping_add(1), true, |e| entries.push(e))?;
        control.turn().map_err(io::Error::other)?;
        self.read(past, false, |e| entries.push(e))?;
        Ok(entries)
    }

    /// Calls `each` with the entries of `interval` that have grown since they were read. With
    /// `empty` that is the last time.
    fn read(&mut self, interval: u32, empty: bool, mut each: impl FnMut(Entry)) -> io::Result<()> {
        let half = interval & 1;
        let first = half * CHUNKS;
        let used = self.used.get(&half, 0).map_err(io::Error::other)?;
        for at in (0..CHUNKS).filter(|chunk| used >> chunk & 1 > 0) {
            let at = first + at;
            let chunk = self.map.get(&at, 0).map_err(io::Error::other)?;
            for (i, words) in chunk.chunks_exact(WORDS).enumerate() {
                let Some(mut entry) = Entry::of(words) else {
                    continue;
                };
                let place = at * CHUNK as u32 + i as u32;
                let now = entry.sums;
                let before = self.before.insert(place, now).unwrap_or_default();
                for (sum, before) in entry.sums.iter_mut().zip(before) {
                    *sum = sum.wrapping_sub(before);
                }
                if entry.sums != [0; 3] {
                    each(entry);
                }
            }
            if empty {
                let nothing = [0_u64; CHUNK * WORDS];
                self.map.set(at, nothing, 0).map_err(io::Error::other)?;
            }
        }
        if empty {
            self.used.set(half, 0, 0).map_err(io::Error::other)?;
            let end = first + CHUNKS;
            self.before
                .retain(|place, _| !(first..end).contains(&(place / CHUNK as u32)));
        }
        Ok(())
    }
}

/// Entries that samples may name beyond their own share, as long as they last. Those of a command
/// that runs for a moment are so all named, beside whatever else the machine does; a long run on
/// a busy machine has no more of them than its share.
const SAVED: usize = 4096;

/// How many entries get a row of their own.
pub(super) struct Room {
    /// A sample's share, by each of the sums.
    share: usize,
    /// What may be named beyond it, which samples fill again with what they leave of theirs.
    saved: usize,
}

impl Room {
    pub(super) fn new(share: usize) -> Room {
        let saved = SAVED;
        Room { share, saved }
    }

    /// Brings the entries of a sample that get a row to the front: all while there is room, or else
    /// the largest. Answers with how many there are.
    pub(super) fn take(&mut self, entries: &mut [Entry]) -> usize {
        let share = 3 * self.share;
        let named = if entries.len() <= share + self.saved {
            entries.len()
        } else {
            largest(entries, self.share + self.saved / 3)
        };
        self.saved = (self.saved + share).saturating_sub(named).min(SAVED);
        named
    }
}

/// Entries by all but their file: what is known of who did it stays where files are too many. In order.
pub(super) fn without_files(entries: &[Entry]) -> Vec<Entry> {
    let mut all: BTreeMap<(usize, usize, u32, u64, u64), Sums> = BTreeMap::new();
    for e in entries {
        let key = (e.filesystem, e.op, e.pid, e.start, e.group);
        let sums = all.entry(key).or_default();
        for (sum, more) in sums.iter_mut().zip(e.sums) {
            *sum = sum.wrapping_add(more);
        }
    }
    let entry = |((filesystem, op, pid, start, group), sums)| Entry {
        file: 0,
        start,
        group,
        pid,
        filesystem,
        op,
        sums,
    };
    all.into_iter().map(entry).collect()
}

/// Brings those to the front that get a row of their own: the `most` largest by calls, of the
/// rest those by bytes, of the rest those by time. Answers with how many there are.
pub(super) fn largest(entries: &mut [Entry], most: usize) -> usize {
    let mut chosen = 0;
    for by in 0..3 {
        let rest = &mut entries[chosen..];
        if (1..rest.len()).contains(&most) {
            rest.select_nth_unstable_by(most - 1, |a, b| b.sums[by].cmp(&a.sums[by]));
        }
        let mut front = 0;
        for i in 0..most.min(rest.len()) {
            if rest[i].sums[by] > 0 {
                rest.swap(i, front);
                front += 1;
            }
        }
        chosen += front;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(file: u64, sums: Sums) -> Entry {
        Entry {
            file,
            start: 0,
            group: 0,
            pid: 1,
            filesystem: 2,
            op: 1,
            sums,
        }
    }

    #[test]
    fn an_entry_as_the_program_keeps_it() {
        let words = [9, 1, 2, 3, 0x0004_0005_0000_0007, 10, 20, 30];
        let found = Entry::of(&words).unwrap();
        assert_eq!((found.pid, found.filesystem, found.op), (7, 5, 4));
        assert_eq!((found.file, found.start, found.group), (1, 2, 3));
        assert_eq!(found.sums, [10, 20, 30]);
        assert_eq!(Entry::of(&[0; 8]), None);
        assert_eq!(Entry::of(&[1; 3]), None);
    }

    #[test]
    fn a_short_run_names_all_and_a_long_one_its_share() {
        let sample = |count| -> Vec<Entry> { (0..count).map(|i| entry(i, [1, 1, 1])).collect() };
        let mut room = Room::new(100);
        assert_eq!(room.take(&mut sample(4000)), 4000);
        let named: usize = (0..100).map(|_| room.take(&mut sample(4000))).sum();
        assert!((100 * 100..=100 * 300 + SAVED).contains(&named), "{named}");
        // What quiet samples leave.
        assert!(room.take(&mut sample(600)) < 600);
        (0..5).for_each(|_| assert_eq!(room.take(&mut sample(10)), 10));
        assert_eq!(room.take(&mut sample(600)), 600);
    }

    #[test]
    fn files_beyond_the_room_leave_who_it_was() {
        let of = |file, pid, sums| Entry {
            pid,
            ..entry(file, sums)
        };
        let all = [
            of(1, 7, [1, 10, 2]),
            of(2, 8, [5, 0, 1]),
            of(3, 7, [2, 20, 3]),
        ];
        let wanted = [of(0, 7, [3, 30, 5]), of(0, 8, [5, 0, 1])];
        assert_eq!(without_files(&all), wanted);
    }

    #[test]
    fn the_largest_by_each_sum_have_names() {
        let mut entries: Vec<Entry> = (0..100)
            .map(|i| entry(i, [i, 1000 - 10 * i, if i == 50 { 7 } else { 0 }]))
            .collect();
        let named = largest(&mut entries, 2);
        let mut files: Vec<u64> = entries[..named].iter().map(|e| e.file).collect();
        files.sort_unstable();
        assert_eq!(files, [0, 1, 50, 98, 99]);
        assert_eq!(entries.len(), 100);
        assert_eq!(largest(&mut [], 3), 0);
        assert_eq!(largest(&mut entries, 0), 0);
        let few = &mut entries[..3];
        assert_eq!(largest(few, 10), 3);
    }
}
