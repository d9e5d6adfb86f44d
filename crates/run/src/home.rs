//! The directory of a run while it is recorded, wherever it is moved meanwhile.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file `name` of the run in `dir`, to be read; `None` where it is not there, or is a link:
/// a run that was handed on is not to lead to files of who looks at it.
pub fn own_file(dir: &Path, name: &str) -> Option<PathBuf> {
    let path = dir.join(name);
    let kind = fs::symlink_metadata(&path).ok()?;
    kind.is_file().then_some(path)
}

/// A run directory, held open: its name may change, or come to mean another directory.
#[derive(Debug)]
pub(crate) struct Home {
    /// Its path when it was opened.
    path: PathBuf,
    handle: File,
}

impl Home {
    /// Holds the directory `path`.
    pub(crate) fn open(path: &Path) -> io::Result<Home> {
        // An absolute path: the recorder may not depend on its working directory staying.
        let path = fs::canonicalize(path)?;
        let handle = File::open(&path)?;
        Ok(Home { path, handle })
    }

    /// The path it had at first.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A path into the directory that holds after it was renamed, as long as this lives.
    pub(crate) fn inside(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd()))
    }

    /// The path it has now.
    pub(crate) fn now(&self) -> PathBuf {
        fs::read_link(self.inside())
            .ok()
            .filter(|path| same(fs::metadata(path), self.handle.metadata()))
            .unwrap_or_else(|| self.path.clone())
    }

    /// Whether `file` is still there under `name`.
    pub(crate) fn holds(&self, file: &File, name: &str) -> bool {
        same(fs::metadata(self.inside().join(name)), file.metadata())
    }

    /// Makes its entries durable: names given and taken.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.handle)?)
    }

    /// The directory was removed: makes another, with the same name if that is free, else
    /// with a number behind it. Never takes one that has something in it.
    pub(crate) fn again(&self) -> io::Result<Home> {
        let parent = self.path.parent().filter(|p| p.is_dir());
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        let name = self.path.file_name().unwrap_or_default().to_os_string();
        for n in 1..1000 {
            let mut name = name.clone();
            if n > 1 {
                name.push(format!("-{n}"));
            }
            let path = parent.join(name);
            match fs::create_dir(&path) {
                Ok(()) => return Home::open(&path),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
            // Only its entries were removed.
            if fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_none()) {
                return Home::open(&path);
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

fn same(a: io::Result<fs::Metadata>, b: io::Result<fs::Metadata>) -> bool {
    matches!((a, b), (Ok(a), Ok(b)) if a.dev() == b.dev() && a.ino() == b.ino())
}
