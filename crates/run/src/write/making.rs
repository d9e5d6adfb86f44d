//! Runs that are made at once, and appear when they are whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

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
}

impl Making {
    /// Begins a run that will be at `path`, with amounts as they come.
    ///
    /// # Errors
    /// Where there is something already, or the directory cannot be made.
    pub fn begin(path: &Path) -> Result<Making, CreateError> {
        if path.symlink_metadata().is_ok() {
            let path = path.display().to_string();
            return Err(CreateError::Exists { path });
        }
        let above = make_above(path)?;
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".part-{}", std::process::id()));
        let part = PathBuf::from(name);
        fs::create_dir(&part).map_err(|e| {
            remove_empty(&above);
            fail(&part)(e)
        })?;
        Ok(Making {
            path: path.to_owned(),
            tables: Some(Direct::new(&part)),
            part,
            above,
        })
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

impl Drop for Making {
    fn drop(&mut self) {
        drop(self.tables.take());
        let _ = fs::remove_dir_all(&self.part);
        remove_empty(&self.above);
    }
}
