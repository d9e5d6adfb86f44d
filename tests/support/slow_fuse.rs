//! A disk that is slow on purpose: a loop device over the one file of a file system that
//! sleeps before it answers.
//!
//! The file is opened past the page cache, so that each request to the loop device is one
//! read here. The loop driver hands them on one after the other.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and write files"
)]

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty,
    ReplyEntry, ReplyOpen, Request,
};
use rustix::fs::FlockOperation;

use super::support::{as_at_first, scratch, succeed};

/// How long a read sleeps.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Delay {
    /// Not at all.
    None,
    /// Each as long.
    Each(Duration),
    /// Exactly one of so many, the others not at all.
    OneIn(u64, Duration),
    /// Evenly spread over the first range of milliseconds; one of so many over the second.
    Spread([f64; 2], u64, [f64; 2]),
}

impl Delay {
    /// The sleep of read number `n`, from 0.
    fn of(self, n: u64) -> Duration {
        match self {
            Delay::Each(time) => time,
            Delay::OneIn(all, time) if n % all == all / 2 => time,
            Delay::None | Delay::OneIn(..) => Duration::ZERO,
            // Steps of the golden ratio: any part of the range is hit evenly.
            Delay::Spread(usual, one_in, slow) => {
                let [from, to] = if n.is_multiple_of(one_in) {
                    slow
                } else {
                    usual
                };
                let place = (n as f64 * 0.618_033_988_749_895).fract();
                Duration::from_secs_f64((from + (to - from) * place) / 1e3)
            }
        }
    }
}

/// What a read is answered with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// All that it asks for.
    Whole,
    /// An error, one of so many.
    ErrorOneIn(u64),
    /// The first page only, one of so many that ask for more.
    PageOneIn(u64),
}

/// Bytes of a page.
const PAGE: usize = 4096;

/// What the file system and the test share.
#[derive(Debug)]
struct State {
    delay: Mutex<Delay>,
    answer: Mutex<Answer>,
    reads: AtomicU64,
    slept: AtomicU64,
    /// Reads that could be answered otherwise, and those that were.
    asked: AtomicU64,
    other: AtomicU64,
}

impl State {
    /// Whether a read gets the other answer that is given to one of `all`.
    fn is_other(&self, all: u64) -> bool {
        let n = self.asked.fetch_add(1, Ordering::Relaxed);
        let is = n % all == all / 2;
        self.other.fetch_add(u64::from(is), Ordering::Relaxed);
        is
    }
}

struct Sleeper {
    bytes: u64,
    state: Arc<State>,
}

const NAME: &str = "disk";
const FILE: INodeNo = INodeNo(2);
const FOR_EVER: Duration = Duration::from_secs(3600);

impl Sleeper {
    fn attributes(&self, of: INodeNo) -> FileAttr {
        let (kind, size, perm) = match of {
            FILE => (FileType::RegularFile, self.bytes, 0o600),
            _ => (FileType::Directory, 0, 0o700),
        };
        FileAttr {
            ino: of,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

impl Filesystem for Sleeper {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == NAME {
            reply.entry(&FOR_EVER, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOR_EVER, &self.attributes(ino));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let n = self.state.reads.fetch_add(1, Ordering::Relaxed);
        let delay = self.state.delay.lock().expect("nobody panics").of(n);
        if !delay.is_zero() {
            self.state.slept.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(delay);
        }
        let left = self.bytes.saturating_sub(offset).min(u64::from(size)) as usize;
        let answer = *self.state.answer.lock().expect("nobody panics");
        match answer {
            Answer::ErrorOneIn(all) if self.state.is_other(all) => reply.error(Errno::EIO),
            Answer::PageOneIn(all) if left > PAGE && self.state.is_other(all) => {
                reply.data(&[0; PAGE]);
            }
            _ => reply.data(&vec![0; left]),
        }
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }
}

/// The loop device over such a file; all of it goes when this is dropped.
pub(crate) struct SlowDisk {
    /// `/dev/loop3`.
    pub(crate) path: PathBuf,
    state: Arc<State>,
    lock: Option<File>,
    session: Option<BackgroundSession>,
}

impl SlowDisk {
    /// A disk of `bytes` bytes that can only be read, and does not sleep yet.
    pub(crate) fn new(name: &str, bytes: u64) -> SlowDisk {
        let mount = scratch(&format!("{name}-slow"));
        let state = Arc::new(State {
            delay: Mutex::new(Delay::None),
            answer: Mutex::new(Answer::Whole),
            reads: AtomicU64::new(0),
            slept: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            other: AtomicU64::new(0),
        });
        let sleeper = Sleeper {
            bytes,
            state: Arc::clone(&state),
        };
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("sonde-test".into()),
            MountOption::RO,
            MountOption::NoDev,
            MountOption::NoSuid,
        ];
        let session = fuser::spawn_mount(sleeper, &mount, &config).expect("root may mount");
        let mut setup = Command::new("losetup");
        setup.args(["--read-only", "--find", "--show"]);
        let path = PathBuf::from(succeed(setup.arg(mount.join(NAME))).trim());
        let mut disk = SlowDisk {
            path,
            state,
            lock: None,
            session: Some(session),
        };
        as_at_first(&disk.name());
        // Device managers leave a locked device alone.
        let lock = File::open(&disk.path).expect("the device opens");
        rustix::fs::flock(&lock, FlockOperation::LockExclusive).expect("the device locks");
        disk.lock = Some(lock);
        disk
    }

    /// `loop3`.
    pub(crate) fn name(&self) -> String {
        let name = self.path.file_name().expect("a name");
        name.to_string_lossy().into_owned()
    }

    /// From now on reads sleep so, and are counted from 0.
    pub(crate) fn sleeps(&self, delay: Delay) {
        *self.state.delay.lock().expect("nobody panics") = delay;
        self.state.reads.store(0, Ordering::Relaxed);
        self.state.slept.store(0, Ordering::Relaxed);
    }

    /// From now on reads are answered so, and those that are answered otherwise counted from 0.
    pub(crate) fn answers(&self, answer: Answer) {
        *self.state.answer.lock().expect("nobody panics") = answer;
        self.state.asked.store(0, Ordering::Relaxed);
        self.state.other.store(0, Ordering::Relaxed);
    }

    /// Reads since then that got the other answer.
    pub(crate) fn answered_otherwise(&self) -> u64 {
        self.state.other.load(Ordering::Relaxed)
    }

    /// Reads since [`sleeps`](SlowDisk::sleeps), and how many of them slept.
    pub(crate) fn counted(&self) -> (u64, u64) {
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        (count(&self.state.reads), count(&self.state.slept))
    }
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        *self.state.delay.lock().expect("nobody panics") = Delay::None;
        *self.state.answer.lock().expect("nobody panics") = Answer::Whole;
        // The device is gone when its last user is, and only then can the file system go.
        self.lock = None;
        let detach = Command::new("losetup")
            .arg("--detach")
            .arg(&self.path)
            .output();
        let gone = Path::new("/sys/block").join(self.name()).join("loop");
        for _ in 0..2000 {
            if !gone.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        if detach.is_ok()
            && let Some(session) = self.session.take()
        {
            let _ = session.umount_and_join();
        }
    }
}
