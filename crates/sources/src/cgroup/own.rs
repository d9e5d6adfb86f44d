//! A group's own amounts, where the kernel's counters hold its children's too.
//!
//! In an interval, own = growth of the counter − growth of the children's counters. A child
//! that is new counts from zero. A child that is gone counts no more: what it used since it
//! was last read stays in its parent's counter and so becomes the parent's own.
//!
//! A parent is read before its children, so that what they use in between makes its own amount
//! too small, and the next interval's larger by as much. What is negative is carried to the next
//! interval: amounts are never negative, and a group without tasks is charged nothing for children
//! that live. (The other way round such a group would be charged what its children used between
//! the readings, and nothing it does itself would ever pay that back.)

/// Counters of a group and what is known of its children's.
#[derive(Clone, Copy, Debug)]
pub struct Sums<const N: usize> {
    before: Option<[u64; N]>,
    growth: [i64; N],
    children: [i64; N],
    carried: [i64; N],
}

impl<const N: usize> Default for Sums<N> {
    fn default() -> Self {
        Sums {
            before: None,
            growth: [0; N],
            children: [0; N],
            carried: [0; N],
        }
    }
}

impl<const N: usize> Sums<N> {
    /// Takes the counters over. With `first` they have not been read before, and nothing
    /// grew; else what is new counts from zero.
    pub fn read(&mut self, now: [u64; N], first: bool) {
        let zero = if first { now } else { [0; N] };
        let before = self.before.replace(now).unwrap_or(zero);
        for kind in 0..N {
            // A counter that went back belongs to another group of the same name.
            self.growth[kind] = if now[kind] >= before[kind] {
                (now[kind] - before[kind]) as i64
            } else {
                now[kind] as i64
            };
        }
    }

    /// What grew since the last time, to be handed to [`Sums::child`] of the parent.
    pub fn growth(&self) -> [i64; N] {
        self.growth
    }

    /// A child's counters grew by `growth`.
    pub fn child(&mut self, growth: [i64; N]) {
        for (sum, grown) in self.children.iter_mut().zip(growth) {
            *sum += grown;
        }
    }

    /// The own amounts of the interval; ends it.
    pub fn own(&mut self) -> [u64; N] {
        let growth = std::mem::replace(&mut self.growth, [0; N]);
        let children = std::mem::replace(&mut self.children, [0; N]);
        std::array::from_fn(|kind| {
            let own = growth[kind] - children[kind] + self.carried[kind];
            self.carried[kind] = own.min(0);
            own.max(0) as u64
        })
    }

    /// Takes over what a child that is gone still owed, and what it used that it has not
    /// said yet.
    pub fn inherit(&mut self, child: &Sums<N>) {
        for kind in 0..N {
            self.carried[kind] += child.growth[kind] - child.children[kind] + child.carried[kind];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads parent and child (if it is there), and says what each used itself.
    fn step(
        parent: &mut Sums<1>,
        child: Option<(&mut Sums<1>, u64)>,
        counter: u64,
        first: bool,
    ) -> (u64, u64) {
        parent.read([counter], first);
        let mut own = 0;
        if let Some((child, counter)) = child {
            child.read([counter], first);
            parent.child(child.growth());
            own = child.own()[0];
        }
        (parent.own()[0], own)
    }

    #[test]
    fn sums_over_a_run_are_exact() {
        let mut parent = Sums::default();
        let mut child = Sums::default();
        assert_eq!(step(&mut parent, None, 1000, true), (0, 0));
        // A child appears and uses 30; the parent itself 5.
        let a = step(&mut parent, Some((&mut child, 30)), 1035, false);
        assert_eq!(a, (5, 30));
        // The child uses 10 between its parent's reading and its own.
        let b = step(&mut parent, Some((&mut child, 40)), 1035, false);
        assert_eq!(b, (0, 10));
        // The parent's counter has them in the next interval, and they are not its own.
        let c = step(&mut parent, Some((&mut child, 44)), 1049, false);
        assert_eq!(c, (0, 4));
        // The child ends with 50: what nobody read any more is its parent's, who used 13 itself.
        let d = step(&mut parent, None, 1068, false);
        assert_eq!(d, (19, 0));
        let all = [a, b, c, d].map(|(own, child)| own + child);
        assert_eq!(all.iter().sum::<u64>(), 68);
    }

    #[test]
    fn a_group_of_the_same_name_starts_anew() {
        let mut sums = Sums::default();
        sums.read([100], true);
        sums.own();
        sums.read([7], false);
        assert_eq!(sums.own(), [7]);
    }
}
