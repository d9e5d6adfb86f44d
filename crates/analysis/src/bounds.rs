//! What an answer may take: a scan stops when it is told to, or when it has found more groups
//! or cells than there is room for.
//!
//! A scan that was stopped answers with what it had; who gives bounds asks [`Bounds::check`]
//! afterwards, and answers nothing if they were passed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// What a scan may take. Shared by its threads, and by who may stop it.
#[derive(Debug)]
pub struct Bounds {
    stopped: AtomicBool,
    most_groups: usize,
    groups: AtomicUsize,
    most_cells: usize,
    cells: AtomicUsize,
}

/// Which bound was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Over {
    /// Somebody stopped it.
    #[error(
        "the answer takes too long\nhint: choose a shorter time, or keep a part of it with `where`"
    )]
    Stopped,
    /// More groups than this.
    #[error(
        "there are more than {0} groups\nhint: keep some of them with `where`, or choose a shorter time"
    )]
    Groups(usize),
    /// More cells of group and time than this.
    #[error(
        "the answer has more than {0} cells\nhint: keep a part of it with `where`, or choose a shorter time"
    )]
    Cells(usize),
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds::new(usize::MAX, usize::MAX)
    }
}

impl Bounds {
    /// Bounds of so many groups, and cells of group and time.
    pub fn new(most_groups: usize, most_cells: usize) -> Bounds {
        Bounds {
            stopped: AtomicBool::new(false),
            most_groups,
            groups: AtomicUsize::new(0),
            most_cells,
            cells: AtomicUsize::new(0),
        }
    }

    /// Ends the scan at its next batch of rows.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// Whether a bound was passed; then the answer is not whole.
    pub fn check(&self) -> Result<(), Over> {
        if self.stopped.load(Relaxed) {
            Err(Over::Stopped)
        } else if self.groups.load(Relaxed) > self.most_groups {
            Err(Over::Groups(self.most_groups))
        } else if self.cells.load(Relaxed) > self.most_cells {
            Err(Over::Cells(self.most_cells))
        } else {
            Ok(())
        }
    }

    /// A thread has found `groups` groups so far, and `cells` more cells.
    pub(crate) fn found(&self, groups: usize, cells: usize) {
        self.groups.fetch_max(groups, Relaxed);
        self.cells.fetch_add(cells, Relaxed);
    }

    /// Whether to go on.
    pub(crate) fn is_over(&self) -> bool {
        self.check().is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_is_told() {
        let bounds = Bounds::new(10, 100);
        bounds.found(10, 60);
        bounds.found(4, 40);
        assert_eq!(bounds.check(), Ok(()));
        bounds.found(0, 1);
        assert_eq!(bounds.check(), Err(Over::Cells(100)));
        bounds.found(11, 0);
        assert_eq!(bounds.check(), Err(Over::Groups(10)));
        bounds.stop();
        assert_eq!(bounds.check(), Err(Over::Stopped));
        let none = Bounds::default();
        none.found(1 << 40, 1 << 40);
        assert!(!none.is_over());
    }
}
