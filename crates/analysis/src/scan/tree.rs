//! Groups of a scan: a tree with a level for each `by`.

/// No place: of a code without a word.
pub(super) const UNKNOWN: u32 = u32::MAX;

use std::collections::HashMap;

/// Finds the group of the values of a row, level by level, by their places.
pub(super) struct Tree {
    /// By level, by group of the level above.
    below: Vec<Vec<Children>>,
    /// By level, groups whose value's place is far above those of the group's others: a row of
    /// places for each process, up to that of the last file of all, would fill the memory.
    far: Vec<HashMap<(u32, u32), u32>>,
    /// By level, the key of each group as places.
    keys: Vec<Vec<Vec<u32>>>,
}

/// The groups below one.
#[derive(Clone, Default)]
struct Children {
    /// Group by place of the value.
    groups: Vec<u32>,
    /// How many there are.
    used: usize,
}

/// Places that a group may leave empty, beside three for each that it has.
const MOST_EMPTY: usize = 1024;

impl Tree {
    pub(super) fn new(levels: usize) -> Tree {
        Tree {
            below: vec![vec![Children::default()]; levels],
            far: vec![HashMap::new(); levels],
            keys: vec![Vec::new(); levels],
        }
    }

    /// How many groups the last level has; without levels, everything is one.
    pub(super) fn groups(&self) -> usize {
        self.keys.last().map_or(1, Vec::len)
    }

    /// The keys of the last level's groups, as places.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Vec<u32>> {
        self.keys.last().into_iter().flatten()
    }

    /// The key of one of the last level's groups.
    pub(super) fn key(&self, group: usize) -> Option<&[u32]> {
        self.keys.last()?.get(group).map(Vec::as_slice)
    }

    /// The group of value `place` below `group`, made if it is new.
    #[inline]
    pub(super) fn descend(&mut self, level: usize, group: u32, place: u32) -> u32 {
        // No word (a column of another version): the place before all others.
        let at = place.wrapping_add(1) as usize;
        match self.below[level][group as usize].groups.get(at) {
            Some(&known) if known != UNKNOWN => known,
            _ => self.new_group(level, group, place, at),
        }
    }

    /// The same for many rows: `place` of each gives its value's place.
    #[inline]
    pub(super) fn descend_all(
        &mut self,
        level: usize,
        rows: &[u32],
        groups: &mut [u32],
        place: impl Fn(usize) -> u32,
    ) {
        for (group, row) in groups.iter_mut().zip(rows) {
            let place = place(*row as usize);
            *group = self.descend(level, *group, place);
        }
    }

    #[cold]
    fn new_group(&mut self, level: usize, group: u32, place: u32, at: usize) -> u32 {
        let new = self.keys[level].len();
        let children = &mut self.below[level][group as usize];
        if at < children.groups.len().max(4 * children.used + MOST_EMPTY) {
            if children.groups.len() <= at {
                children.groups.resize(at + 1, UNKNOWN);
            }
            // It may have been far before the others came near.
            let known = self.far[level].get(&(group, place));
            children.groups[at] = known.copied().unwrap_or(new as u32);
            children.used += 1;
            if known.is_some() {
                return children.groups[at];
            }
        } else if let Some(known) = self.far[level].get(&(group, place)) {
            return *known;
        } else {
            self.far[level].insert((group, place), new as u32);
        }
        let mut key = match level {
            0 => Vec::new(),
            _ => self.keys[level - 1][group as usize].clone(),
        };
        key.push(place);
        self.keys[level].push(key);
        if let Some(below) = self.below.get_mut(level + 1)
            && below.len() <= new
        {
            below.push(Children::default());
        }
        new as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_the_same_near_and_far() {
        let mut tree = Tree::new(2);
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        // 300 groups with places that jump, forth and back.
        for step in 0..60_000_u32 {
            let (a, b) = (step % 300, step.wrapping_mul(2_654_435_761) % 40_000);
            let above = tree.descend(0, 0, a);
            let group = tree.descend(1, above, b);
            assert_eq!(*known.entry((a, b)).or_insert(group), group);
            assert_eq!(tree.key(group as usize), Some(&[a, b][..]));
        }
        assert_eq!(tree.groups(), known.len());
        let unknown = tree.descend(0, 0, UNKNOWN);
        assert_eq!(tree.descend(0, 0, UNKNOWN), unknown);
        // One far place does not take the room of all before it.
        let room: usize = tree.below[1].iter().map(|c| c.groups.len()).sum();
        assert!(room < 300 * 4_000, "{room}");
    }
}
