//! Where the undo journal lives, and the lock beside it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

/// Root's place.
pub(crate) const SYSTEM: &str = "/var/lib/sonde";

/// The directory of the undo journal: `$SONDE_STATE`; for root `/var/lib/sonde`; for others
/// `$XDG_STATE_HOME/sonde` or `~/.local/state/sonde`. It may not exist yet.
pub fn state_dir() -> PathBuf {
    let given = |name| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    if let Some(dir) = given("SONDE_STATE") {
        return dir;
    }
    if rustix::process::geteuid().is_root() {
        return SYSTEM.into();
    }
    let home = || given("HOME").map(|h| h.join(".local/state"));
    let base = given("XDG_STATE_HOME")
        .filter(|d| d.is_absolute())
        .or_else(home);
    base.map_or_else(|| SYSTEM.into(), |dir| dir.join("sonde"))
}

/// The journal's file.
pub(crate) fn journal_path(state: &Path) -> PathBuf {
    state.join("undo.json")
}

/// Makes the directory, and those above it.
pub(crate) fn make(state: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(state)
}

/// Held by the one process that may change settings now. The kernel lets go of it when the
/// process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// `None` if another process holds it.
    pub(crate) fn take(state: &Path) -> io::Result<Option<Lock>> {
        // Not for writing: so a user can see whether root's experiment lives.
        let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC).bits() as i32;
        let path = state.join("lock");
        let existing = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(&path);
        let file = match existing {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let mut options = OpenOptions::new();
                options.read(true).write(true).create(true).mode(0o644);
                options.custom_flags(flags).open(&path)?
            }
            other => other?,
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }
}
