//! ZFS: its caches, its pools and its datasets, from `/proc/spl/kstat/zfs`.
//!
//! ```text
//! 9 1 0x01 147 39984 8041034556 165893402816452
//! name                            type data
//! hits                            4    1289284
//! size                            4    8415232456
//! ```
//! Which names there are differs by version; one that is missing is not known. The folders of
//! the pools are listed again every `RELIST` seconds: what appears is seen then.
//!
//! <https://openzfs.github.io/openzfs-docs/man/master/1/arcstat.1.html>,
//! `module/zfs/arc.c`, `module/zfs/dataset_kstats.c`, `module/zfs/vdev_queue.c` (0.8)

pub mod arc;
pub mod kstat;
pub mod objset;
pub mod pool;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use run::Sink;

use self::arc::Arc;
use self::objset::Objsets;
use self::pool::Pools;
use crate::read::{Kept, text};
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "zfs",
    help: "ZFS: ARC and L2ARC, what datasets read and wrote, I/O of pools (before 2.1)",
    reads: "/proc/spl/kstat/zfs/arcstats, /proc/spl/kstat/zfs/<pool>/{io,objset-*}",
    link: "https://openzfs.github.io/openzfs-docs/man/master/1/arcstat.1.html",
    detail: Detail::Samples,
    open,
};

/// Seconds between two listings of the folders.
const RELIST: f64 = 10.0;

struct Zfs {
    root: PathBuf,
    /// Seconds since the folders were listed.
    listed: f64,
    arcstats: Kept,
    buffer: Vec<u8>,
    arc: Arc,
    pools: Pools,
    objsets: Objsets,
}

/// The folder of a pool.
struct Folder {
    /// The pool's name.
    name: String,
    files: Vec<PathBuf>,
}

impl Folder {
    /// Its files whose name is as `wanted`.
    fn files(&self, wanted: impl Fn(&[u8]) -> bool) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().filter(move |path| {
            let name = path.file_name().map(std::ffi::OsStr::as_encoded_bytes);
            name.is_some_and(&wanted)
        })
    }
}

/// The folders of all pools. One that cannot be read has no files.
fn folders(root: &Path) -> Vec<Folder> {
    let named = |path: PathBuf| {
        let name = path.file_name()?.as_encoded_bytes();
        Some(Folder {
            name: text(name).into_owned(),
            files: entries(&path).collect(),
        })
    };
    entries(root).filter_map(named).collect()
}

/// The paths in a folder; none if it is not one, or may not be read.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let listing = fs::read_dir(folder).ok();
    listing.into_iter().flatten().flatten().map(|e| e.path())
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let root = host.proc("spl/kstat/zfs");
    let path = root.join("arcstats");
    let remedy = format!("let this user read {}", path.display());
    let arcstats = Kept::open(&path)
        .map_err(|e| Availability::of(&path, &e, "the zfs module (modprobe zfs)", &remedy))?;
    Ok(Box::new(Zfs {
        root,
        listed: f64::INFINITY,
        arcstats,
        buffer: Vec::new(),
        arc: Arc::new(),
        pools: Pools::new(),
        objsets: Objsets::new(),
    }))
}

impl Source for Zfs {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        match self.arcstats.read(&mut self.buffer) {
            Ok(bytes) => self.arc.rows(bytes, interval, out),
            Err(e) => {
                // The file of a module that was unloaded is dead.
                self.arcstats = Kept::open(self.arcstats.path()).map_err(|_| e)?;
                self.arc.forget();
            }
        }
        self.listed += interval.unwrap_or_default();
        if self.listed >= RELIST {
            self.listed = 0.0;
            let folders = folders(&self.root);
            self.pools.list(&folders, out);
            self.objsets.list(&folders, out);
        }
        self.pools.sample(interval, out);
        self.objsets.sample(interval, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
