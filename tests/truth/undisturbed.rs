//! Tests of exact numbers of block I/O, in which the kernel may leave something out.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps the other tests of the file out while it lives: while a recorder attaches, another may
/// miss an event.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the runs of this process say was not seen: I/Os whose issue or completion the kernel did
/// not tell.
fn unseen() -> f64 {
    let own = format!("sonde-test-{}-", std::process::id());
    let mut all = 0.0;
    for dir in std::fs::read_dir(std::env::temp_dir())
        .into_iter()
        .flatten()
        .flatten()
    {
        let run = dir.path().join("run");
        let is_own = dir.file_name().to_string_lossy().starts_with(&own);
        if is_own && run.join("self_events.parquet").exists() {
            all += crate::support::total(&run, "self.unseen where table = disk_event");
        }
    }
    all
}

/// Runs `test`, which starts `own` recorders, again if it fails and others were started
/// meanwhile: of what they make the kernel leave out, it cannot know. Or if the recorder itself
/// says that there were I/Os it could not follow: kernels were seen that now and then leave out
/// the events of some requests.
pub(crate) fn undisturbed(own: usize, test: impl Fn()) {
    for tries in (0..12).rev() {
        let stop = AtomicBool::new(false);
        let (outcome, recorders) = std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let mut seen = BTreeSet::new();
                while !stop.load(Ordering::Relaxed) {
                    let all = aya::programs::loaded_programs().flatten();
                    // Each recorder has one.
                    let of_disks = all.filter(|p| p.name() == b"disk_complete");
                    seen.extend(of_disks.map(|p| p.id()));
                    crate::recorder::sleep(0.02);
                }
                seen.len()
            });
            let outcome = catch_unwind(AssertUnwindSafe(&test));
            stop.store(true, Ordering::Relaxed);
            (outcome, watch.join().expect("it watches"))
        });
        match outcome {
            Ok(()) => return,
            Err(_) if recorders > own && tries > 0 => {
                eprintln!("again: {} other recorders were started", recorders - own);
            }
            Err(_) if unseen() > 0.0 && tries > 0 => {
                eprintln!("again: {} I/Os could not be followed", unseen());
            }
            Err(why) => resume_unwind(why),
        }
    }
}
