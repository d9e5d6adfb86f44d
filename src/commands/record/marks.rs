//! The socket on which `sonde mark` reaches the recorder: `mark.sock` in the run directory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::clock::since_boot;

/// Environment variable with the run directory, in the recorded command.
pub(crate) const VARIABLE: &str = "SONDE_RUN";

/// What the recorder answers when the phase has begun.
pub(crate) const DONE: &str = "ok\n";

/// Bytes a phase's name may have.
pub(crate) const LONGEST_NAME: usize = 200;

/// How long a client may take to say its name, so that a stuck one cannot hold the samples up.
const PATIENCE: Duration = Duration::from_millis(200);

/// The socket's path through an open directory: a socket's own path may have 107 bytes at
/// most, a run directory's more.
fn path_in(dir: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/mark.sock", dir.as_raw_fd()))
}

/// Reaches the recorder of the run in `dir`.
pub(crate) fn connect(dir: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(path_in(&File::open(dir)?))
}

/// The recorder's end.
pub(super) struct Marks {
    listener: UnixListener,
    path: PathBuf,
}

/// A client that waits for its phase to begin.
pub(super) struct Request {
    /// The name it gave.
    pub(super) name: String,
    stream: UnixStream,
}

impl Marks {
    /// Listens in the run directory `dir`.
    pub(super) fn listen(dir: &Path) -> io::Result<Marks> {
        let listener = UnixListener::bind(path_in(&File::open(dir)?))?;
        listener.set_nonblocking(true)?;
        Ok(Marks {
            listener,
            path: dir.join("mark.sock"),
        })
    }

    /// To wait for clients.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// The next client, if one waits.
    pub(super) fn accept(&self) -> Option<Request> {
        let (mut stream, _) = self.listener.accept().ok()?;
        stream.set_nonblocking(false).ok()?;
        let name = read_name(&mut stream)?;
        let name = String::from_utf8_lossy(&name).trim().to_owned();
        (!name.is_empty() && name.len() <= LONGEST_NAME).then_some(Request { name, stream })
    }
}

/// What a client says until it has said all, if it does in time: however slowly, it may not hold up more.
fn read_name(stream: &mut UnixStream) -> Option<Vec<u8>> {
    let began = since_boot();
    let mut name = vec![0; LONGEST_NAME + 1];
    let mut length = 0;
    while length < name.len() {
        let passed = Duration::from_nanos(since_boot().saturating_sub(began).unsigned_abs());
        let left = PATIENCE
            .checked_sub(passed)
            .filter(|left| !left.is_zero())?;
        stream.set_read_timeout(Some(left)).ok()?;
        match stream.read(&mut name[length..]).ok()? {
            0 => break,
            read => length += read,
        }
    }
    name.truncate(length);
    Some(name)
}

impl Request {
    /// Tells the client that its phase has begun.
    pub(super) fn done(mut self) {
        // A client that went away does not matter.
        let _ = self.stream.write_all(DONE.as_bytes());
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
