//! Putting back what a killed experiment left, by whoever comes next.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::journal::Journal;
use super::restore::{Restored, put_back};
use super::state::{Lock, SYSTEM, journal_path};

/// Why nothing was recovered.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    #[error(
        "an experiment is under way: {what} (process {pid})\nhint: end it, and it puts its settings back"
    )]
    /// There is nothing to recover from.
    Live {
        /// Its process.
        pid: u32,
        /// What it does.
        what: String,
    },
    #[error(
        "settings changed by an experiment may not be back: cannot use {path}: {why}\nhint: {remedy}"
    )]
    /// The journal cannot be used.
    Journal {
        /// The journal.
        path: PathBuf,
        /// What is wrong with it.
        why: io::Error,
        /// What to do.
        remedy: String,
    },
}

/// Directories whose journal says that an experiment may have left settings changed: the own
/// one and root's. One look at each; nothing is opened.
pub fn stale(own: &Path) -> Vec<PathBuf> {
    let mut dirs = vec![own.to_owned()];
    if own != Path::new(SYSTEM) && std::env::var_os("SONDE_STATE").is_none() {
        dirs.push(SYSTEM.into());
    }
    dirs.retain(|dir| std::fs::symlink_metadata(journal_path(dir)).is_ok());
    dirs
}

/// How long a guardian at work is waited for.
const WAIT: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(10);

/// Puts back what an experiment that is no more has left changed. `None` if there is nothing
/// to do.
///
/// What could not be put back stays in the journal, to be tried again, unless the thing that
/// carried the setting is gone.
pub fn recover(state: &Path) -> Result<Option<Restored>, RecoverError> {
    if std::fs::symlink_metadata(journal_path(state)).is_err() {
        return Ok(None);
    }
    match locked(state)? {
        Some(lock) => recover_locked(state, &lock),
        None => Ok(None),
    }
}

/// The same, for who holds the lock.
pub(super) fn recover_locked(state: &Path, _: &Lock) -> Result<Option<Restored>, RecoverError> {
    let Some(journal) = Journal::read(state).map_err(|e| unusable(state, e))? else {
        return Ok(None);
    };
    let mut restored = Restored::default();
    let (mut entries, volatile) = if journal.is_of_another_boot() {
        journal.entries.iter().cloned().partition(|e| e.lasts)
    } else {
        (journal.entries.clone(), Vec::new())
    };
    restored.volatile = volatile.into_iter().map(|e| e.knob).collect();
    restored.join(put_back(&entries));
    // What is gone is told once: there is nothing left to put back.
    let kept = |e: &super::journal::Entry| {
        let lost = restored.failed.iter().find(|f| f.knob == e.knob);
        lost.is_some_and(|f| !f.gone)
    };
    entries.retain(kept);
    let closed = if entries.is_empty() {
        Journal::remove(state)
    } else {
        Journal { entries, ..journal }.write(state)
    };
    closed.map_err(|e| unusable(state, e))?;
    Ok(Some(restored))
}

/// The lock; `None` once whoever held it has put everything back.
fn locked(state: &Path) -> Result<Option<Lock>, RecoverError> {
    for _ in 0..=WAIT.as_millis() / STEP.as_millis() {
        if let Some(lock) = Lock::take(state).map_err(|e| unusable(state, e))? {
            return Ok(Some(lock));
        }
        match Journal::read(state).map_err(|e| unusable(state, e))? {
            None => return Ok(None),
            Some(journal) if is_alive(journal.pid) => {
                return Err(RecoverError::Live {
                    pid: journal.pid,
                    what: journal.what,
                });
            }
            // Its guardian is at it.
            Some(_) => std::thread::sleep(STEP),
        }
    }
    let why = io::Error::other("another process has held its lock for 10 seconds");
    Err(unusable(state, why))
}

/// The lock, for who begins an experiment: one that is ending is waited for.
pub(super) fn own(state: &Path) -> Result<Option<Lock>, RecoverError> {
    for _ in 0..=WAIT.as_millis() / STEP.as_millis() {
        if let Some(lock) = locked(state)? {
            return Ok(Some(lock));
        }
        std::thread::sleep(STEP);
    }
    Ok(None)
}

/// Whether there is such a process, and it has not ended.
pub(super) fn is_alive(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // `PID (NAME) STATE ...`; the name may hold anything.
    let state = status
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|s| !"ZXx".contains(s))
}

fn unusable(state: &Path, why: io::Error) -> RecoverError {
    let path = journal_path(state);
    let remedy = match why.kind() {
        io::ErrorKind::PermissionDenied => "run this as root: sonde try --recover".to_owned(),
        _ => format!(
            "it lists each setting with what it was; put them back by hand, then: rm {}",
            crate::spot::quoted(&path.display().to_string())
        ),
    };
    RecoverError::Journal { path, why, remedy }
}
