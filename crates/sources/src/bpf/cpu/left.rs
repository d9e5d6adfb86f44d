//! Places of groups that are gone, until they can be given to others.
//!
//! The program lists them (`all_left`): nobody finds such a place any more. But a task that ends
//! may still run on it, and what it runs is charged before it leaves its processor. So a place is
//! free when a look at all processors, after the list was taken, saw nobody on it, and all was read
//! that had been charged by then.

use super::groups::GROUPS;

/// `struct all_left`: how many there were, in two halves, and the last of them.
pub(super) type List = [u32; 2 + GROUPS];
/// Lower bits of an entry: the place. Above: how many there were with this one.
const PLACE_BITS: u32 = 11;
const COUNTED: u32 = u32::MAX >> PLACE_BITS;

/// What is known of them.
#[derive(Default)]
pub(super) struct Left {
    /// How many of the program's list were taken.
    taken: u64,
    waiting: Vec<Waiting>,
}

struct Waiting {
    place: usize,
    /// Whether the last look saw nobody on it.
    quiet: bool,
}

impl Left {
    /// Takes what came to the list since the last time.
    pub(super) fn take(&mut self, list: &List) {
        let count = u64::from(list[0]) | u64::from(list[1]) << 32;
        while self.taken != count {
            let entry = list[2 + self.taken as usize % GROUPS];
            let number = (self.taken + 1) as u32 & COUNTED;
            if entry >> PLACE_BITS != number {
                // It is being written.
                break;
            }
            self.waiting.push(Waiting {
                place: entry as usize % GROUPS,
                quiet: false,
            });
            self.taken += 1;
        }
    }

    /// A look at all processors, after the list was taken: those places are somebody's. `None`:
    /// not all could be seen.
    pub(super) fn look(&mut self, held: Option<&[usize]>) {
        for waiting in &mut self.waiting {
            waiting.quiet = held.is_some_and(|held| !held.contains(&waiting.place));
        }
    }

    /// Places that can be freed when all was read that was charged to them.
    pub(super) fn due(&self) -> impl Iterator<Item = usize> {
        let due = self.waiting.iter().filter(|w| w.quiet);
        due.map(|w| w.place)
    }

    /// The place is free.
    pub(super) fn freed(&mut self, place: usize) {
        self.waiting.retain(|w| w.place != place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list as the program writes it.
    struct Program(Box<List>);

    impl Program {
        fn new() -> Program {
            Program(vec![0; 2 + GROUPS].into_boxed_slice().try_into().unwrap())
        }

        fn leave(&mut self, place: usize) {
            let n = self.0[0];
            self.0[0] += 1;
            self.0[2 + n as usize % GROUPS] = (n + 1) << PLACE_BITS | place as u32;
        }
    }

    fn due(left: &Left) -> Vec<usize> {
        left.due().collect()
    }

    #[test]
    fn a_place_is_free_when_nobody_was_seen_on_it() {
        let (mut program, mut left) = (Program::new(), Left::default());
        program.leave(0);
        program.leave(7);
        left.take(&program.0);
        assert!(due(&left).is_empty());
        left.look(Some(&[7, 9]));
        assert_eq!(due(&left), [0]);
        // Not freed yet: the reading failed.
        assert_eq!(due(&left), [0]);
        left.freed(0);
        assert!(due(&left).is_empty());
        left.look(Some(&[9]));
        assert_eq!(due(&left), [7]);
        // A processor could not be seen.
        left.look(None);
        assert!(due(&left).is_empty());
    }

    #[test]
    fn an_entry_that_is_being_written_is_taken_later() {
        let (mut program, mut left) = (Program::new(), Left::default());
        program.leave(3);
        // Counted, and not there.
        program.0[0] += 1;
        left.take(&program.0);
        assert_eq!(left.taken, 1);
        program.0[3] = 2 << PLACE_BITS | 4;
        left.take(&program.0);
        left.look(Some(&[]));
        assert_eq!(due(&left), [3, 4]);
    }

    #[test]
    fn every_place_that_is_left_is_freed_once_however_many_there_are() {
        let (mut program, mut left) = (Program::new(), Left::default());
        // Soon there were more than a number in the list has bits for.
        program.0[0] = COUNTED - 10_000;
        left.taken = u64::from(program.0[0]);
        let mut free = [true; GROUPS];
        let mut freed = 0;
        // In all more than the list has room for.
        for round in 0..40 {
            for i in 0..1_500 {
                let place = (round * 37 + i) % GROUPS;
                if std::mem::replace(&mut free[place], false) {
                    program.leave(place);
                }
            }
            left.take(&program.0);
            left.look(Some(&[]));
            for place in due(&left) {
                assert!(!std::mem::replace(&mut free[place], true), "{place}");
                left.freed(place);
                freed += 1;
            }
        }
        assert_eq!(left.taken, u64::from(program.0[0]));
        assert!(program.0[0] > COUNTED, "{}", program.0[0]);
        let gone = program.0[0] - (COUNTED - 10_000);
        assert_eq!(freed + left.waiting.len() as u32, gone);
    }
}
