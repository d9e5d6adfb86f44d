//! Tests of exact numbers of block I/O, of which the kernel may leave something out: while another
//! recorder attaches, and on some kernels while a thread of init has the processor.
//!
//! What it was not told of the recorder counts itself (`self.unseen`). So a count may be less by as
//! many as that run says, never more and never by more than those ([`Lacking`]). Only what has no
//! such bound, as a depth, is looked at again, and only if that very run says that it lacks
//! something, or the kernel that the processors were another's.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::support::stolen::{Stolen, wait_for_a_calm_second};
use crate::support::{note_again, total};
use crate::truth::same;

/// Keeps the other tests of the file out while it lives: while a recorder attaches, another may
/// miss an event.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// I/Os of any device that the recorder itself says it could not follow.
pub(crate) fn unseen(run: &Path) -> f64 {
    total(run, "self.unseen where table = disk_event")
}

/// How many I/Os may be missing from a run, by its own account.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lacking(f64);

impl Lacking {
    /// Of a run of `all` I/Os. Fails if it lacks so many that it shows nothing.
    pub(crate) fn of(run: &Path, all: f64) -> Lacking {
        let unseen = unseen(run);
        assert!(
            unseen <= 0.01 * all,
            "{}: {unseen} I/Os were not seen, of {all}",
            run.display()
        );
        Lacking(unseen)
    }

    /// Fails unless `ios` are as many as `expected`, or fewer by those that are missing.
    pub(crate) fn ios(self, what: &str, ios: f64, expected: f64) {
        self.amount(what, ios, expected, 1.0);
    }

    /// The same of an amount of which an I/O has `each` at most.
    pub(crate) fn amount(self, what: &str, value: f64, expected: f64, each: f64) {
        let Lacking(unseen) = self;
        if unseen == 0.0 {
            return same(what, value, expected);
        }
        assert!(
            (expected - unseen * each..=expected).contains(&value),
            "{what}: recorded {value}, expected {expected}, {unseen} I/Os were not seen"
        );
    }
}

/// How many times a test may look again because of what a run lacks.
const AGAIN: u32 = 2;

/// How many times because the processors were another's: that passes, but nobody knows when.
const STOLEN: u32 = 8;

/// Runs `test`, which records and compares what is exact but for what is missing, and answers with
/// its run; then `rest`, for which a run has to lack nothing. If the first fails, or the second and the
/// run says that it lacks something, both again, twice at most: `.ci/run` prints when and why. (Of an
/// I/O of which neither the beginning nor the end is told no run can say that it lacks it: one of
/// 120,000, seen once in six runs of all tests.) If `rest` fails, which compares times, both again, too,
/// where the processors were another's meanwhile ([`Stolen`]), once that is over.
pub(crate) fn undisturbed<T>(test: impl Fn() -> (PathBuf, T), rest: impl Fn(&Path, &T)) {
    let mut again = AGAIN;
    let mut stolen = STOLEN;
    loop {
        let processors = Stolen::from_now();
        let (unseen, why) = match catch_unwind(AssertUnwindSafe(&test)) {
            Ok((run, known)) => match catch_unwind(AssertUnwindSafe(|| rest(&run, &known))) {
                Ok(()) => return,
                Err(why) => (Some(unseen(&run)), why),
            },
            Err(why) => (None, why),
        };
        let text = why.downcast_ref::<String>().map_or("", String::as_str);
        let lacking = unseen.map_or(String::new(), |n| format!("{n} I/Os were not seen: "));
        let share = unseen.and_then(|_| processors.much());
        if let (Some(share), 1..) = (share, stolen) {
            stolen -= 1;
            let percent = share * 100.0;
            note_again(&format!(
                "{percent:.1} % of the processors were another's: {lacking}{text}"
            ));
            wait_for_a_calm_second();
        } else if unseen == Some(0.0) || again == 0 {
            resume_unwind(why);
        } else {
            again -= 1;
            note_again(&format!("{lacking}{text}"));
        }
    }
}
