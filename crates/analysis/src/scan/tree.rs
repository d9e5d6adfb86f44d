//! Groups of a scan: a tree with a level for each `by`.

/// No place: of a code without a word.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// Finds the group of the values of a row, level by level, by their places.
pub(super) struct Tree {
    /// By level, by group of the level above: group by place of the value.
    below: Vec<Vec<Vec<u32>>>,
    /// By level, the key of each group as places.
    keys: Vec<Vec<Vec<u32>>>,
}

impl Tree {
    pub(super) fn new(levels: usize) -> Tree {
        Tree {
            below: vec![vec![Vec::new()]; levels],
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
        match self.below[level][group as usize].get(at) {
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
        let children = &mut self.below[level][group as usize];
        if children.len() <= at {
            children.resize(at + 1, UNKNOWN);
        }
        let new = self.keys[level].len();
        children[at] = new as u32;
        let mut key = match level {
            0 => Vec::new(),
            _ => self.keys[level - 1][group as usize].clone(),
        };
        key.push(place);
        self.keys[level].push(key);
        if let Some(below) = self.below.get_mut(level + 1)
            && below.len() <= new
        {
            below.push(Vec::new());
        }
        new as u32
    }
}
