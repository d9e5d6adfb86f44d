//! What becomes of the amounts of processes that ended.
//!
//! When a process waits for a child that ended, the kernel adds the child's whole life to the
//! parent: times and faults to its `cutime`, `cstime` and `cmajflt`, disk bytes to its own
//! `/proc/PID/io` (`wait_task_zombie` in `kernel/exit.c`). What was seen of the child while
//! it lived has been counted already, so it is taken off its heir's growth: it is a [`Debt`].
//! What is left of the growth was never seen alive.
//!
//! Who inherits: the parent, if it still lives. If the parent ended too, it may have waited
//! for the child first and then have been waited for itself, or the child went to a
//! subreaper or to init: each living ancestor may hold it.
//!
//! Nobody inherits a child whose parent ignores SIGCHLD, nor a kernel thread. Their debt is
//! dropped, and what they used after they were last seen is never known. Such a parent is
//! told by its children's minor faults (`cminflt`), which do not grow.
//!
//! Processes are read one after the other, so a child may end between two readings:
//! - parent read, child ended, child gone: the parent's growth comes with the next sample.
//!   A debt that found no growth waits for one more sample.
//! - child read, child ended, parent read: its life was counted twice. The debt of the next
//!   sample finds no growth; the parent owes what it was charged too much
//!   ([`Process::overcharged`]) and later growth pays it.

use super::{KINDS, Process};

/// Amounts that were counted while a process lived, which its heir's growth repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Debt {
    heir: u32,
    amount: [u64; KINDS],
}

/// The place of `pid` in `processes`, which are in the order of their pids.
pub(super) fn find(processes: &[Process], pid: u32) -> Option<usize> {
    processes.binary_search_by_key(&pid, |p| p.pid).ok()
}

/// Takes what was counted of the processes that are `gone` off the growth of those that
/// live. `late` holds the debts that wait for their heir's growth.
pub(super) fn settle(live: &mut [Process], gone: &[Process], late: &mut Vec<Debt>) {
    for mut debt in late.drain(..) {
        if let Some(heir) = find(live, debt.heir) {
            claim(&mut live[heir], &mut debt);
        } else if let Some(heir) = find(gone, debt.heir) {
            inherit(live, gone, gone[heir].parent, &mut debt);
        }
    }
    for ended in gone {
        let mut debt = Debt {
            heir: 0,
            amount: ended.counted(),
        };
        inherit(live, gone, ended.parent, &mut debt);
        if debt.heir != 0 && debt.amount != [0; KINDS] {
            late.push(debt);
        }
    }
    for process in live.iter_mut().filter(|p| p.moves()) {
        process.charged = process.growth;
    }
}

/// Walks up from `parent` and takes `debt` off the growth of those who may have inherited.
fn inherit(live: &mut [Process], gone: &[Process], parent: u32, debt: &mut Debt) {
    let mut pid = parent;
    let mut parent_lives = true;
    // Ancestors are finite, but reused pids could close a circle.
    for _ in 0..64 {
        if let Some(place) = find(live, pid) {
            let heir = &mut live[place];
            claim(heir, debt);
            if debt.heir == 0 {
                debt.heir = pid;
                claim_back(heir, debt);
            }
            if parent_lives {
                return;
            }
            pid = heir.parent;
        } else if let Some(place) = find(gone, pid) {
            parent_lives = false;
            pid = gone[place].parent;
        } else if pid > 1 {
            parent_lives = false;
            pid = 1;
        } else {
            return;
        }
    }
}

/// Takes `debt` off what grew, if `heir` waited for anyone.
fn claim(heir: &mut Process, debt: &mut Debt) {
    if heir.moves() && heir.waited[0] {
        take(&mut debt.amount, &mut heir.growth);
    }
}

/// Sets `debt` against what `heir` was charged for at the last sample.
fn claim_back(heir: &mut Process, debt: &mut Debt) {
    if !(heir.moves() && heir.waited[1]) {
        return;
    }
    let before = debt.amount;
    take(&mut debt.amount, &mut heir.charged);
    for (kind, before) in before.into_iter().enumerate() {
        heir.overcharged[kind] += before - debt.amount[kind];
    }
}

/// Takes what both have off both.
pub(super) fn take(from: &mut [u64; KINDS], other: &mut [u64; KINDS]) {
    for (a, b) in from.iter_mut().zip(other) {
        let both = (*a).min(*b);
        *a -= both;
        *b -= both;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proc::process::IO;

    /// A process with `user` ticks of its own and of children, of which `growth` are new.
    fn process(pid: u32, parent: u32, own: u64, reaped: u64, growth: u64) -> Process {
        let mut process = Process::new(pid);
        process.parent = parent;
        process.own[0] = own;
        process.reaped[0] = reaped;
        process.growth[0] = growth;
        process.waited[0] = growth > 0;
        process
    }

    fn growth(live: &[Process]) -> Vec<u64> {
        live.iter().map(|p| p.growth[0]).collect()
    }

    #[test]
    fn what_was_seen_alive_is_not_seen_again() {
        // The child had 70 ticks when it was last seen, and ended with 100.
        let mut live = vec![process(1, 0, 0, 0, 0), process(5, 1, 0, 100, 100)];
        let gone = [process(9, 5, 60, 10, 0)];
        let mut late = Vec::new();
        settle(&mut live, &gone, &mut late);
        assert_eq!((growth(&live), late.len()), (vec![0, 30], 0));
    }

    #[test]
    fn an_ignored_child_leaves_its_siblings_alone() {
        // Process 5 ignores its children. Process 6 waited for one that nobody saw.
        let mut live = vec![
            process(1, 0, 0, 0, 0),
            process(5, 1, 0, 0, 0),
            process(6, 1, 0, 40, 40),
        ];
        let mut late = Vec::new();
        settle(&mut live, &[process(9, 5, 500, 0, 0)], &mut late);
        assert_eq!(growth(&live), [0, 0, 40]);
        assert_eq!(late.len(), 1);
        settle(&mut live, &[], &mut late);
        assert!(late.is_empty(), "a debt waits once");
    }

    #[test]
    fn a_parent_that_ended_with_its_children_hands_both_on() {
        // 9 (50) was waited for by 5 (own 20, now 70 with 9), and 5 by 1.
        let mut live = vec![process(1, 0, 0, 75, 75)];
        let gone = [process(5, 1, 20, 0, 0), process(9, 5, 50, 0, 0)];
        let mut late = Vec::new();
        settle(&mut live, &gone, &mut late);
        assert_eq!((growth(&live), late.len()), (vec![5], 0));
    }

    #[test]
    fn an_orphan_is_inherited_by_a_subreaper() {
        // 9's parent 5 ended unwaited; the subreaper 3 waited for 9.
        let mut live = vec![process(1, 0, 0, 7, 7), process(3, 1, 0, 55, 55)];
        let gone = [process(5, 3, 0, 0, 0), process(9, 5, 50, 0, 0)];
        let mut late = Vec::new();
        settle(&mut live, &gone, &mut late);
        assert_eq!((growth(&live), late.len()), (vec![7, 5], 0));
    }

    #[test]
    fn disk_bytes_of_an_ignored_child_are_not_its_parents() {
        let mut parent = process(5, 1, 0, 0, 0);
        parent.growth[IO] = 4096;
        let mut child = process(9, 5, 0, 0, 0);
        child.io = Some([8192, 0]);
        let mut live = vec![parent];
        let mut late = Vec::new();
        settle(&mut live, &[child], &mut late);
        assert_eq!(live[0].growth[IO], 4096);
    }

    #[test]
    fn a_debt_goes_on_with_an_heir_that_ends() {
        let mut live = vec![process(1, 0, 0, 0, 0), process(5, 1, 10, 0, 0)];
        let mut late = Vec::new();
        settle(&mut live, &[process(9, 5, 50, 0, 0)], &mut late);
        let parent = live.pop().unwrap();
        live[0].growth[0] = 61;
        live[0].waited = [true, false];
        settle(&mut live, &[parent], &mut late);
        assert_eq!((growth(&live), late.len()), (vec![1], 0));
    }

    #[test]
    fn a_parent_read_before_its_child_ended_pays_at_the_next_sample() {
        let mut live = vec![process(5, 1, 0, 0, 0)];
        let mut late = Vec::new();
        settle(&mut live, &[process(9, 5, 50, 0, 0)], &mut late);
        assert_eq!(late.len(), 1);
        live[0].growth[0] = 52;
        live[0].waited = [true, false];
        settle(&mut live, &[], &mut late);
        assert_eq!((growth(&live), late.len()), (vec![2], 0));
    }

    #[test]
    fn a_parent_read_after_its_child_ended_pays_later() {
        // The child was counted alive with 50; the parent's growth repeated it at once.
        let mut live = vec![process(5, 1, 0, 50, 50)];
        let mut late = Vec::new();
        settle(&mut live, &[], &mut late);
        assert_eq!(growth(&live), [50], "not known yet");
        live[0].growth[0] = 0;
        live[0].waited = [false, true];
        settle(&mut live, &[process(9, 5, 50, 0, 0)], &mut late);
        assert_eq!((live[0].overcharged[0], late.len()), (50, 0));
        live[0].grow([60, 0, 0, 0, 0]);
        assert_eq!(growth(&live), [10]);
    }
}
