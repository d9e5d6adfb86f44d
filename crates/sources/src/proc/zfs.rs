//! ZFS: its caches and its datasets, from `/proc/spl/kstat/zfs`.
//!
//! ```text
//! 9 1 0x01 147 39984 8041034556 165893402816452
//! name                            type data
//! hits                            4    1289284
//! size                            4    8415232456
//! ```
//! Which names there are differs by version; one that is missing is not known.
//!
//! <https://openzfs.github.io/openzfs-docs/man/master/1/arcstat.1.html>,
//! `module/zfs/arc.c`, `module/zfs/dataset_kstats.c`

pub mod arc;
pub mod kstat;
pub mod objset;

use std::io;

use run::Sink;

use self::arc::Arc;
use self::objset::Objsets;
use crate::read::Kept;
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "zfs",
    help: "ZFS: ARC and L2ARC, and what datasets read and wrote",
    reads: "/proc/spl/kstat/zfs/arcstats, /proc/spl/kstat/zfs/<pool>/objset-*",
    link: "https://openzfs.github.io/openzfs-docs/man/master/1/arcstat.1.html",
    detail: Detail::Samples,
    open,
};

struct Zfs {
    arcstats: Kept,
    buffer: Vec<u8>,
    arc: Arc,
    objsets: Objsets,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let path = host.proc("spl/kstat/zfs/arcstats");
    let remedy = format!("let this user read {}", path.display());
    let arcstats = Kept::open(&path)
        .map_err(|e| Availability::of(&path, &e, "the zfs module (modprobe zfs)", &remedy))?;
    Ok(Box::new(Zfs {
        arcstats,
        buffer: Vec::new(),
        arc: Arc::new(),
        objsets: Objsets::at(host),
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
        self.objsets.sample(interval, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
