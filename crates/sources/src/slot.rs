//! Many small kernel files: as many as allowed are kept open, the rest opened for each
//! reading.
//!
//! Opening costs several times what reading does. But the soft limit of open files is also
//! the limit of whoever else is in this process and of the programs it starts, so it is
//! never raised, and only a share of it is used.

use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::process::{Resource, getrlimit};

/// How many more files may be kept open.
#[derive(Debug)]
pub struct Budget {
    left: usize,
    all: usize,
}

impl Budget {
    /// One part in `parts` of the soft limit of open files.
    pub fn share(parts: u64) -> Budget {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(1 << 20);
        Budget::of((limit / parts).min(1 << 20) as usize)
    }

    /// So many files.
    pub fn of(files: usize) -> Budget {
        Budget {
            left: files,
            all: files,
        }
    }

    /// Whether more than half of it is left: enough for files that are seldom read.
    pub fn is_ample(&self) -> bool {
        self.left > self.all / 2
    }
}

/// The place of a file that may be kept open.
#[derive(Debug, Default)]
pub struct Slot(Option<OwnedFd>);

impl Slot {
    /// Reads the file `name` below `dir` from its start into `buffer`, and says how long it is.
    ///
    /// With `keep` it stays open for the next time, if `budget` allows.
    pub fn read(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &CStr,
        keep: bool,
        budget: &mut Budget,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        if let Some(file) = &self.0 {
            return fill(file, buffer);
        }
        let file = openat(dir, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let length = fill(&file, buffer);
        if keep && budget.left > 0 {
            budget.left -= 1;
            self.0 = Some(file);
        }
        length
    }

    /// Whether it is kept open.
    pub fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// What the kernel says of the directory `name` below `dir`. With `keep` it stays open while
    /// there is ample room, only as a place: finding it by its path takes three times as long.
    /// One that stays open and goes is not told from one that is there.
    pub fn directory(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &CStr,
        keep: bool,
        budget: &mut Budget,
    ) -> io::Result<Stat> {
        if let Some(directory) = &self.0 {
            return Ok(fstat(directory)?);
        }
        if !(keep && budget.is_ample()) {
            return Ok(statat(dir, name, AtFlags::empty())?);
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(dir, name, flags, Mode::empty())?;
        let status = fstat(&directory)?;
        budget.left -= 1;
        self.0 = Some(directory);
        Ok(status)
    }

    /// Closes it, and gives its place back to `budget`.
    pub fn close(&mut self, budget: &mut Budget) {
        if self.0.take().is_some() {
            budget.left += 1;
        }
    }
}

/// Reads until the end or until `buffer` is full.
///
/// Of files that are made as a whole (one process, one group), of which the kernel hands out a page
/// at least while there is one: less than half of one is the end. Lists are otherwise, see
/// [`Kept::read`](crate::read::Kept::read).
fn fill(file: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    const PAGE: usize = 4096;
    let mut filled = 0;
    while filled < buffer.len() {
        match rustix::io::pread(file, &mut buffer[filled..], filled as u64) {
            Ok(0) => break,
            Ok(length) => {
                filled += length;
                if length < PAGE / 2 {
                    break;
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(filled)
}
