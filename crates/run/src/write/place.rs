//! The directory that a run is written to: made, and made again when it is gone.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use super::{CreateError, RESERVE};
use crate::home::Home;
use crate::journal::Journal;
use crate::manifest::Manifest;

pub(super) fn fail(path: &Path) -> impl FnOnce(io::Error) -> CreateError {
    let path = path.display().to_string();
    move |error| match error.kind() {
        io::ErrorKind::AlreadyExists => CreateError::Exists { path },
        _ => CreateError::Io { path, error },
    }
}

/// Makes the directories above `dir` that are missing; answers with them, deepest first.
pub(super) fn make_above(dir: &Path) -> Result<Vec<PathBuf>, CreateError> {
    let missing: Vec<PathBuf> = dir
        .ancestors()
        .skip(1)
        .take_while(|p| !p.as_os_str().is_empty() && !p.exists())
        .map(Path::to_owned)
        .collect();
    if let Some(parent) = missing.first() {
        fs::create_dir_all(parent).map_err(|error| {
            remove_empty(&missing);
            let path = parent.display().to_string();
            CreateError::Io { path, error }
        })?;
    }
    Ok(missing)
}

/// Removes those of `dirs` in which nothing is.
pub(super) fn remove_empty(dirs: &[PathBuf]) {
    for dir in dirs {
        let _ = fs::remove_dir(dir);
    }
}

/// Puts into the new directory `dir` what a run begins with.
pub(super) fn start(dir: &Path, manifest: &Manifest) -> Result<(Home, File), CreateError> {
    let home = Home::open(dir).map_err(fail(dir))?;
    let path = home.path().join("journal");
    let begin = || {
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        reserve(home.path());
        write_manifest(home.path(), &manifest_text(manifest))?;
        Ok(file)
    };
    let file = begin().map_err(fail(&path))?;
    Ok((home, file))
}

/// Takes up room that the final manifest will need; best effort.
fn reserve(dir: &Path) {
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(dir.join(".reserve"));
    if let Ok(file) = file {
        let _ = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, RESERVE);
    }
}

/// The run directory is gone: makes it again and copies the journal, which is still open.
pub(super) fn make_again(home: &Home, journal: &Journal) -> io::Result<Home> {
    let again = home.again()?;
    let mut copy = File::options()
        .write(true)
        .create_new(true)
        .open(again.inside().join("journal"))?;
    let mut whole = journal.file().try_clone()?;
    io::Seek::rewind(&mut whole)?;
    io::copy(&mut io::Read::take(whole, journal.written()), &mut copy)?;
    Ok(again)
}

pub(super) fn manifest_text(manifest: &Manifest) -> String {
    let mut text = serde_json::to_string_pretty(manifest).expect("a manifest is plain data");
    text.push('\n');
    text
}

/// Writes `run.json` so that there is always a whole one.
pub(super) fn write_manifest(dir: &Path, text: &str) -> io::Result<()> {
    write_durably(&dir.join("run.json"), text.as_bytes())
}

/// Writes a file beside `path`, makes it durable and gives it its name.
pub fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_extension("part");
    let result = (|| {
        let mut file = File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&part)?;
        io::Write::write_all(&mut file, bytes)?;
        file.sync_data()?;
        fs::rename(&part, path)
    })();
    if result.is_err() {
        let _ = fs::remove_file(&part);
    }
    result
}
