//! Space on local file systems, from `/proc/self/mountinfo` and `statvfs`.
//!
//! ```text
//! 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
//! ```
//! Number of the mount, of its parent, device, root within the file system, mount point,
//! options, any number of tags, a hyphen, type, source, options of the file system. Blanks
//! and backslashes in names are written in octal (`\040`).
//!
//! `statvfs` of a network file system waits for its server, for ever if that is gone: those
//! are left out, and what is mounted below them, and below an automounter, which a look
//! would keep awake. So are images that never change, and file systems without storage. See
//! [`mounts`].
//!
//! A file system is asked at most once a second (with many of them: a hundred a second);
//! samples in between repeat what it said, up to a second old. No folder is kept open: that
//! would keep it from being unmounted.
//!
//! <https://docs.kernel.org/filesystems/proc.html#proc-pid-mountinfo-information-about-mounts>

mod mounts;

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use run::rows::TableId;
use run::{Sink, Word};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, CWD, StatxFlags, statvfs, statx};

use crate::read::{Kept, text};
use crate::{Availability, Detail, Entry, Host, Source};
use mounts::Mount;

/// The source.
pub const ENTRY: Entry = Entry {
    name: "filesystem",
    help: "local file systems: size, space and inodes in use",
    reads: "/proc/self/mountinfo, statvfs of each local mount",
    link: "https://docs.kernel.org/filesystems/proc.html",
    detail: Detail::Samples,
    open,
};

/// Samples after which the mount table is read whether or not the kernel said it changed;
/// more where there are more mounts.
const PATIENCE: u32 = 30;
/// Seconds an answer is good for; a little less than a tenth, as intervals jitter.
const LIFE: f64 = 0.095;
/// File systems that may be asked in a second.
const PER_SECOND: f64 = 100.0;
/// A `tmpfs` of no more bytes than this holds a file or two of some service.
const SMALL: f64 = 1048576.0;

/// One file system, where it is mounted.
struct FileSystem {
    path: CString,
    words: [Word; 3],
    is_memory: bool,
    /// `f_fsid` when the mount table was read.
    id: u64,
    /// What it said last; `None` if it could not be asked, or is not worth a row.
    values: Option<[f64; 5]>,
}

struct FileSystems {
    host: Host,
    file: Kept,
    buffer: Vec<u8>,
    all: Vec<FileSystem>,
    /// Samples since the mount table was read.
    samples: u32,
    /// Seconds since they were asked.
    age: f64,
    stale: bool,
    table: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    Ok(Box::new(new(host)?))
}

fn new(host: &Host) -> Result<FileSystems, Availability> {
    let path = host.proc("self/mountinfo");
    let file = Kept::open(&path)
        .map_err(|e| Availability::of(&path, &e, "a mounted /proc", "mount -t proc proc /proc"))?;
    Ok(FileSystems {
        host: host.clone(),
        file,
        buffer: Vec::new(),
        all: Vec::new(),
        samples: 0,
        age: 0.0,
        stale: true,
        table: TableId::of("filesystem"),
    })
}

impl Source for FileSystems {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        self.samples += 1;
        let patience = PATIENCE.max(self.all.len() as u32);
        self.stale |= self.samples >= patience || changed(&self.file);
        if self.stale {
            self.read_mounts(out)?;
        }
        self.age += interval.unwrap_or(0.0);
        if self.stale || self.age >= LIFE.max(self.all.len() as f64 / PER_SECOND) {
            self.age = 0.0;
            self.stale = false;
            for fs in &mut self.all {
                self.stale |= fs.ask().is_none();
            }
        }
        if interval.is_some() {
            for fs in &self.all {
                if let Some(values) = &fs.values {
                    out.row(self.table, &fs.words, values);
                }
            }
        }
        Ok(())
    }
}

impl FileSystems {
    fn read_mounts(&mut self, out: &mut Sink) -> io::Result<()> {
        self.samples = 0;
        let table = mounts::parse(self.file.read(&mut self.buffer)?);
        self.all.clear();
        for group in mounts::choose(&table) {
            let visible = group.iter().find_map(|mount| {
                let path = self.host.path(Path::new(OsStr::from_bytes(&mount.point)));
                let path = CString::new(path.as_os_str().as_bytes()).ok()?;
                is_on_top(&path, mount).then_some((path, mount))
            });
            let Some((path, mount)) = visible else {
                continue;
            };
            let Ok(now) = statvfs(path.as_c_str()) else {
                continue;
            };
            self.all.push(FileSystem {
                path,
                words: [&mount.point, &mount.source, &mount.kind].map(|w| out.word(&text(w))),
                is_memory: mount.kind == b"tmpfs",
                id: now.f_fsid,
                values: None,
            });
        }
        Ok(())
    }
}

impl FileSystem {
    /// Asks it; `None` if another file system answered: this one was unmounted.
    fn ask(&mut self) -> Option<()> {
        self.values = None;
        let Ok(now) = statvfs(self.path.as_c_str()) else {
            return Some(());
        };
        if now.f_fsid != self.id {
            return None;
        }
        let block = now.f_frsize as f64;
        let values = [
            now.f_blocks as f64 * block,
            now.f_blocks.saturating_sub(now.f_bfree) as f64 * block,
            now.f_bavail as f64 * block,
            now.f_files as f64,
            now.f_files.saturating_sub(now.f_ffree) as f64,
        ];
        let is_small = self.is_memory && values[0] <= SMALL;
        self.values = (values[0] > 0.0 && !is_small).then_some(values);
        Some(())
    }
}

/// Whether the path leads to this mount, not to one mounted over it.
///
/// Since 5.8 the kernel tells the number of a path's mount. Before, the device has to do,
/// which btrfs makes up for each subvolume.
fn is_on_top(path: &CStr, mount: &Mount) -> bool {
    let flags = AtFlags::NO_AUTOMOUNT;
    let Ok(found) = statx(CWD, path, flags, StatxFlags::MNT_ID) else {
        return false;
    };
    if found.stx_mask & StatxFlags::MNT_ID.bits() != 0 {
        return found.stx_mnt_id == mount.number;
    }
    mount.kind == b"btrfs" || (found.stx_dev_major, found.stx_dev_minor) == mount.device
}

/// Whether the kernel says that the mount table changed since it was last asked.
fn changed(table: &Kept) -> bool {
    let mut fds = [PollFd::new(table.file(), PollFlags::PRI)];
    let now = Timespec::default();
    let told = PollFlags::PRI | PollFlags::ERR;
    poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().intersects(told)
}

#[cfg(test)]
mod tests;
