//! Who has a processor now: slices under way, counted as far as they are.
//!
//! A slice is charged by the program when it ends. At a sample the reader counts what each
//! slice under way has run so far and writes that down as a cut, which the program takes off
//! when the slice ends. So nothing is counted twice or not at all, and a slice of many
//! intervals has its part in each.

use aya::maps::{Array, MapData};

use crate::Availability;
use crate::bpf::load::Loaded;

/// `struct running`, `struct cut` and `struct all_moves` of the program.
type Slot = [u64; 8];
type Cut = [u64; 2];
const MOVES: usize = 128;
const MOVE: usize = 4;
type Moves = [u64; MOVES * MOVE];

/// In place of a stamp: it is being changed.
const CHANGING: u64 = 1;

/// Time of a slice under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Place of the group.
    pub(super) place: usize,
    /// How long the slice is so far.
    pub(super) length: u64,
    /// What of it was not counted before. Nanoseconds, both.
    pub(super) time: u64,
}

/// The maps, and what was counted of each processor's slice.
pub(super) struct Processors {
    cpus: Array<MapData, Slot>,
    firsts: Array<MapData, Slot>,
    cuts: Array<MapData, Cut>,
    moves: Array<MapData, Moves>,
    told: Vec<Told>,
    held: Vec<usize>,
    /// Whether the last look saw every slice.
    saw_all: bool,
}

/// What was counted of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    /// When the slice began.
    stamp: u64,
    time: u64,
}

/// A slice under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Running {
    stamp: u64,
    runtime: u64,
    pid: u32,
    tgid: u32,
    place: usize,
}

impl Running {
    fn of(slot: &Slot) -> Option<Running> {
        let place = slot[3] as u32;
        (place > 0 && slot[0] > CHANGING).then(|| Running {
            stamp: slot[0],
            runtime: slot[1],
            pid: slot[2] as u32,
            tgid: (slot[2] >> 32) as u32,
            place: place as usize - 1,
        })
    }

    /// If it was moved to another group since it began: what of it is the old group's, and
    /// the place of the new one. As `before_move` of the program has it.
    fn moved(&self, moves: &Moves) -> Option<(u64, usize)> {
        let [when, runtime, who, place] =
            *moves[self.tgid as usize % MOVES * MOVE..].first_chunk::<MOVE>()?;
        let (tgid, pid, all) = (who as u32, (who >> 32) as u32, place >> 32 > 0);
        if tgid != self.tgid || !(all || pid == self.pid) || when < self.stamp {
            return None;
        }
        let before = if pid == self.pid {
            runtime.saturating_sub(self.runtime)
        } else {
            when - self.stamp
        };
        Some((before, place as u32 as usize))
    }

    /// Its time from `from` to `to` nanoseconds after it began, by group.
    fn parts(&self, moves: &Moves, from: u64, to: u64) -> [Part; 2] {
        let (until, next) = self.moved(moves).unwrap_or((u64::MAX, self.place));
        let part = |place, from: u64, to: u64| Part {
            place,
            length: to,
            time: to.saturating_sub(from),
        };
        [
            part(self.place, from, to.min(until)),
            part(next, from.max(until), to),
        ]
    }
}

impl Processors {
    pub(super) fn new(loaded: &mut Loaded) -> Result<Processors, Availability> {
        let cpus = loaded.array("cpus")?;
        let told = vec![Told::default(); cpus.len() as usize];
        Ok(Processors {
            cpus,
            firsts: loaded.array("firsts")?,
            cuts: loaded.array("cuts")?,
            moves: loaded.array("moves")?,
            told,
            held: Vec::new(),
            saw_all: false,
        })
    }

    /// Places on which somebody was at the last [`cut`](Processors::cut), and those to which
    /// somebody was moved; `None` if not all is known.
    pub(super) fn held(&self) -> Option<&[usize]> {
        self.saw_all.then_some(&self.held)
    }

    /// Counts what all slices under way have run until `now` (`CLOCK_MONOTONIC`).
    ///
    /// # Errors
    /// If the kernel does not let us read the maps any more.
    pub(super) fn cut(
        &mut self,
        now: u64,
        mut count: impl FnMut(Part),
    ) -> Result<(), aya::maps::MapError> {
        self.saw_all = false;
        self.held.clear();
        let moves = self.moves.get(&0, 0)?;
        let mut all = true;
        for cpu in 0..self.told.len() as u32 {
            let slot = self.at_rest(cpu)?;
            all &= slot[0] != CHANGING;
            let Some(running) = Running::of(&slot) else {
                continue;
            };
            self.held.push(running.place);
            self.held
                .extend(running.moved(&moves).map(|(_, next)| next));
            let before = self.told[cpu as usize];
            let from = if before.stamp == running.stamp {
                before.time
            } else {
                0
            };
            let to = now.saturating_sub(running.stamp);
            if to <= from {
                continue;
            }
            self.cuts.set(cpu, [to, running.stamp], 0)?;
            // A program that did not find the cut has changed its stamp before; another
            // processor sees that a moment later, so the first look does not count.
            self.at_rest(cpu)?;
            let heeded = heeded(&self.at_rest(cpu)?, running.stamp, to).max(from);
            self.told[cpu as usize] = Told {
                stamp: running.stamp,
                time: heeded,
            };
            for part in running.parts(&moves, from, heeded) {
                if part.time > 0 {
                    count(part);
                }
            }
        }
        self.saw_all = all;
        Ok(())
    }

    /// The slot of a processor while its program does not change it.
    fn at_rest(&self, cpu: u32) -> Result<Slot, aya::maps::MapError> {
        let mut slot = self.cpus.get(&cpu, 0)?;
        // A change takes less than a microsecond, unless the hypervisor takes the processor.
        for _ in 0..100 {
            if slot[0] != CHANGING {
                break;
            }
            slot = self.cpus.get(&cpu, 0)?;
        }
        if slot[0] == 0 {
            // It has not switched since we came.
            slot = self.firsts.get(&cpu, 0)?;
        }
        Ok(slot)
    }
}

/// How much of a cut of the slice that began at `stamp` the program takes off, by what is in
/// its slot after the cut was written.
fn heeded(slot: &Slot, stamp: u64, cut: u64) -> u64 {
    if slot[0] == stamp {
        // It has not ended: the program will find the cut.
        cut
    } else if slot[4] == stamp {
        slot[5]
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Slot = [5000, 1000, 7 | 6 << 32, 4, 0, 0, 0, 0];

    #[test]
    fn a_slot_tells_who_runs() {
        let running = Running::of(&SLOT).unwrap();
        assert_eq!((running.pid, running.tgid, running.place), (7, 6, 3));
        let mut idle = SLOT;
        idle[3] = 0;
        assert_eq!(Running::of(&idle), None);
        let mut changing = SLOT;
        changing[0] = CHANGING;
        assert_eq!(Running::of(&changing), None);
    }

    #[test]
    fn a_cut_counts_only_if_the_program_heeds_it() {
        assert_eq!(heeded(&SLOT, 5000, 300), 300);
        let mut ended = SLOT;
        ended[0] = 9000;
        assert_eq!(heeded(&ended, 5000, 300), 0);
        // It ended while the cut was written, with the one before.
        (ended[4], ended[5]) = (5000, 200);
        assert_eq!(heeded(&ended, 5000, 300), 200);
        ended[4] = 4000;
        assert_eq!(heeded(&ended, 5000, 300), 0);
    }

    #[test]
    fn a_slice_is_split_where_its_task_was_moved() {
        let running = Running::of(&SLOT).unwrap();
        let mut moves = [0; MOVES * MOVE];
        let times = |moves: &Moves, from, to| {
            running
                .parts(moves, from, to)
                .map(|p| (p.place, p.length, p.time))
        };
        assert_eq!(times(&moves, 100, 250), [(3, 250, 150), (3, 250, 0)]);
        // All of process 6, 120 ns after the slice began.
        let at = 6 * MOVE;
        moves[at..at + MOVE].copy_from_slice(&[5120, 99, 6 | 6 << 32, 9 | 1 << 32]);
        assert_eq!(times(&moves, 100, 250), [(3, 120, 20), (9, 250, 130)]);
        assert_eq!(times(&moves, 200, 250)[1], (9, 250, 50));
        assert_eq!(times(&moves, 200, 250)[0].2, 0);
        // This task itself: what it had run by then counts, 110 of 1000.
        moves[at + 1..at + 3].copy_from_slice(&[1110, 6 | 7 << 32]);
        assert_eq!(times(&moves, 100, 250), [(3, 110, 10), (9, 250, 140)]);
        // Another task of the process: not this one.
        (moves[at + 2], moves[at + 3]) = (6 | 8 << 32, 9);
        assert_eq!(times(&moves, 100, 250)[1].2, 0);
        // Before the slice began.
        (moves[at], moves[at + 3]) = (4999, 9 | 1 << 32);
        assert_eq!(times(&moves, 100, 250)[1].2, 0);
    }
}
