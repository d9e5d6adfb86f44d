//! Runs that are made at once, and appear when they are whole.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::{CreateError, fail, make_above, manifest_text, remove_empty, write_manifest};
use crate::manifest::{Manifest, State};
use crate::seal::Direct;
use crate::{Sink, seal};

/// A run of what can be had again: it appears when it is whole, or not at all.
pub struct Making {
    /// Where it will be.
    path: PathBuf,
    /// Where it is made, beside it.
    part: PathBuf,
    above: Vec<PathBuf>,
    tables: Option<Direct>,
    /// Locked while it is made.
    _lock: File,
    removed: Vec<PathBuf>,
}

/// What stands in the name of a run that is being made, before the number of the process.
const PART: &str = ".part-";

impl Making {
    /// Whether a run can be at `path`, before anything is read that is to be in it.
    ///
    /// # Errors
    /// Where there is something already.
    pub fn look(path: &Path) -> Result<(), CreateError> {
        if path.symlink_metadata().is_ok() {
            let path = path.display().to_string();
            return Err(CreateError::Exists { path });
        }
        Ok(())
    }

    /// Begins a run that will be at `path`, with amounts as they come.
    ///
    /// # Errors
    /// Where there is something already, or the directory cannot be made.
    pub fn begin(path: &Path) -> Result<Making, CreateError> {
        Making::look(path)?;
        let above = make_above(path)?;
        let removed = remove_orphans(path);
        let mut name = path.as_os_str().to_owned();
        name.push(format!("{PART}{}", std::process::id()));
        let part = PathBuf::from(name);
        let made = fs::create_dir(&part).and_then(|()| {
            let lock = File::open(&part)?;
            // Where a file system has no locks, what is left behind is not removed.
            let _ = flock(&lock, FlockOperation::NonBlockingLockExclusive);
            Ok(lock)
        });
        let lock = made.map_err(|e| {
            remove_empty(&above);
            fail(&part)(e)
        })?;
        Ok(Making {
            _lock: lock,
            removed,
            path: path.to_owned(),
            tables: Some(Direct::new(&part)),
            part,
            above,
        })
    }

    /// What was removed: runs beside this one whose making was killed.
    pub fn removed(&self) -> &[PathBuf] {
        &self.removed
    }

    /// Takes the rows of `sink` and empties it.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn take(&mut self, sink: &mut Sink) -> Result<(), seal::SealError> {
        match &mut self.tables {
            Some(tables) => tables.take(sink),
            None => Ok(()),
        }
    }

    /// Finishes the run and gives it its name; answers with the manifest as written.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn finish(mut self, sink: &Sink, manifest: &Manifest) -> Result<Manifest, seal::SealError> {
        let mut manifest = manifest.clone();
        if let Some(tables) = self.tables.take() {
            let sealed = tables.finish(sink)?;
            manifest.tables = sealed.tables;
            manifest.footers = sealed.footers;
        }
        manifest.state = State::Complete;
        write_manifest(&self.part, &manifest_text(&manifest))?;
        File::open(&self.part)?.sync_all()?;
        // Fails where something came there meanwhile.
        rustix::fs::renameat_with(
            rustix::fs::CWD,
            &self.part,
            rustix::fs::CWD,
            &self.path,
            rustix::fs::RenameFlags::NOREPLACE,
        )
        .map_err(io::Error::from)?;
        self.above.clear();
        Ok(manifest)
    }
}

/// Removes what is left of runs beside `path` whose making was killed: nobody holds the lock of
/// their directory, and nothing is in it but tables. Answers with what it removed.
fn remove_orphans(path: &Path) -> Vec<PathBuf> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let orphans = entries.filter(|entry| {
        let name = entry.file_name();
        let number = name.to_str().and_then(|n| Some(n.rsplit_once(PART)?.1));
        let ours = number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        // Links lead elsewhere.
        ours && entry.file_type().is_ok_and(|t| t.is_dir()) && is_orphan(&entry.path())
    });
    let removed = orphans.filter(|entry| fs::remove_dir_all(entry.path()).is_ok());
    removed.map(|entry| entry.path()).collect()
}

fn is_orphan(part: &Path) -> bool {
    let Ok(dir) = File::open(part) else {
        return false;
    };
    let is_table = |name: &OsStr| {
        let name = name.to_string_lossy();
        name.ends_with(".parquet")
            || name.ends_with(".parquet.part")
            || name.starts_with("run.json")
    };
    let only_tables =
        fs::read_dir(part).is_ok_and(|entries| entries.flatten().all(|e| is_table(&e.file_name())));
    only_tables && flock(&dir, FlockOperation::NonBlockingLockExclusive).is_ok()
}

impl Drop for Making {
    fn drop(&mut self) {
        drop(self.tables.take());
        let _ = fs::remove_dir_all(&self.part);
        remove_empty(&self.above);
    }
}
