//! What a program told by name, for as long as something may refer to it.
//!
//! A program remembers what it told in small tables, in which the next of the same place takes
//! over (`who.h`). [`Told`] mirrors such a table: it keeps what the program will not tell again,
//! and of the rest only the newest, so that a long recording does not grow with all that there
//! ever was.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Places of the program's tables of what it told.
pub(super) const TOLD: usize = 8192;
/// Names kept beyond those that the program remembers.
const MOST_STALE: usize = 4 * TOLD;

/// What was told, as far as it may be referred to.
pub(super) struct Told<K, V> {
    place: fn(K) -> usize,
    /// Empty until something is told.
    places: Vec<Option<K>>,
    values: HashMap<K, Kept<V>>,
    /// What is no longer in its place, the oldest first.
    stale: VecDeque<K>,
    /// How many of these were so before the last turn.
    older: usize,
}

struct Kept<V> {
    value: V,
    /// How often it is among what is stale: it may have come back and gone again.
    stale: u32,
}

impl<K: Copy + Eq + Hash, V> Told<K, V> {
    /// `place` answers with where the program's table has a key; the higher bits do not count.
    pub(super) fn new(place: fn(K) -> usize) -> Told<K, V> {
        Told {
            place,
            places: Vec::new(),
            values: HashMap::new(),
            stale: VecDeque::new(),
            older: 0,
        }
    }

    pub(super) fn get(&self, key: K) -> Option<&V> {
        self.values.get(&key).map(|kept| &kept.value)
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        if self.places.is_empty() {
            self.places = vec![None; TOLD];
        }
        let place = (self.place)(key) % TOLD;
        if let Some(old) = self.places[place].replace(key)
            && old != key
        {
            if self.stale.len() >= MOST_STALE {
                self.forget_oldest();
            }
            if let Some(kept) = self.values.get_mut(&old) {
                kept.stale += 1;
                self.stale.push_back(old);
            }
        }
        let stale = self.values.get(&key).map_or(0, |kept| kept.stale);
        self.values.insert(key, Kept { value, stale });
    }

    /// All that is kept.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.values.values_mut().map(|kept| &mut kept.value)
    }

    /// An interval was told of: forgets what was not in its place for the whole of it. Without
    /// this, as much as there is room for is kept.
    pub(super) fn turn(&mut self) {
        for _ in 0..self.older {
            self.forget_oldest();
        }
        self.older = self.stale.len();
    }

    fn forget_oldest(&mut self) {
        let Some(key) = self.stale.pop_front() else {
            return;
        };
        self.older = self.older.saturating_sub(1);
        let in_place = self.places[(self.place)(key) % TOLD] == Some(key);
        if let Some(kept) = self.values.get_mut(&key) {
            kept.stale -= 1;
            if kept.stale == 0 && !in_place {
                self.values.remove(&key);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_as_long_as_the_program_will_not_tell_them_again() {
        let mut told: Told<u64, u32> = Told::new(|k| k as usize);
        let other = 5 + TOLD as u64;
        told.insert(5, 1);
        for _ in 0..10 {
            told.turn();
        }
        assert_eq!(told.get(5), Some(&1), "in its place for ever");
        told.insert(other, 2);
        assert_eq!(told.len(), 2, "this interval may refer to it");
        told.turn();
        told.turn();
        assert_eq!(told.get(5), None);
        assert_eq!(told.get(other), Some(&2));
        told.insert(5, 3);
        told.insert(other, 4);
        told.insert(5, 5);
        told.turn();
        told.turn();
        assert_eq!(told.get(5), Some(&5), "it came back");
    }

    #[test]
    fn what_comes_back_and_goes_again_is_kept_from_its_last_going_on() {
        let mut told: Told<u64, u32> = Told::new(|k| k as usize);
        let other = 5 + TOLD as u64;
        told.insert(5, 1);
        told.insert(other, 2);
        told.turn();
        told.insert(5, 3);
        told.insert(other, 4);
        told.turn();
        assert_eq!(told.get(5), Some(&3), "it went in this interval");
        told.turn();
        assert_eq!(told.get(5), None);
    }

    #[test]
    fn a_million_names_take_the_room_of_some() {
        let mut told: Told<u64, u64> = Told::new(|k| k as usize);
        for key in 0..1_000_000 {
            told.insert(key, key);
        }
        assert_eq!(told.len(), TOLD + MOST_STALE);
        assert_eq!(told.stale.len(), MOST_STALE);
        // The newest are those that are kept.
        assert_eq!(told.get(999_999), Some(&999_999));
        let kept = (TOLD + MOST_STALE) as u64;
        assert_eq!(told.get(1_000_000 - kept), Some(&(1_000_000 - kept)));
        assert_eq!(told.get(999_999 - kept), None);
        told.turn();
        told.turn();
        assert_eq!(told.len(), TOLD);
    }
}
