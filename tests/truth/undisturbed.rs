//! Tests of exact numbers of block I/O, in which the kernel may leave something out.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
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

/// What the kernel's own trace says of completions, in an instance of its own: kernels were seen
/// that run no program while a task of init has the processor, and soft interrupts that come then
/// are run on top of it. The trace has them all.
struct Witness(PathBuf);

impl Witness {
    fn new() -> Option<Witness> {
        let instances = Path::new("/sys/kernel/tracing/instances");
        let witness = Witness(instances.join(format!("sonde-test-{}", std::process::id())));
        std::fs::create_dir(&witness.0).ok()?;
        let event = witness.0.join("events/block/block_rq_complete/enable");
        std::fs::write(event, "1").ok()?;
        Some(witness)
    }

    /// Completions that a task of init had under it.
    fn untold(&self) -> usize {
        let trace = std::fs::read(self.0.join("trace")).unwrap_or_default();
        let trace = String::from_utf8_lossy(&trace);
        // `tokio-rt-worker-75      [000] .Ns1.  1.234: block_rq_complete: …`
        let task = |line: &str| -> Option<u32> {
            let (task, _) = line.split_once(" [")?;
            task.trim().rsplit_once('-')?.1.parse().ok()
        };
        let of_init = |task: &u32| {
            let status = std::fs::read_to_string(format!("/proc/{task}/status"));
            status.is_ok_and(|s| s.lines().any(|l| l == "Tgid:\t1"))
        };
        trace.lines().filter_map(task).filter(of_init).count()
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir(&self.0);
    }
}

/// Runs `test`, which starts `own` recorders, again if it fails and others were started
/// meanwhile: of what they make the kernel leave out, it cannot know. Or if the recorder itself
/// says that there were I/Os it could not follow, or the kernel's trace that there were ends of
/// which no program is told.
pub(crate) fn undisturbed(own: usize, test: impl Fn()) {
    for tries in (0..12).rev() {
        let witness = Witness::new();
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
            Err(_) if tries > 0 && witness.as_ref().is_some_and(|w| w.untold() > 0) => {
                eprintln!("again: I/Os ended while a task of init had the processor");
            }
            Err(why) => resume_unwind(why),
        }
    }
}
