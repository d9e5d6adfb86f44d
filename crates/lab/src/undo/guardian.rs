//! The guardian: a small process that outlives a killed experiment and puts its settings back.
//!
//! It is the same program, started anew, in a session of its own, so that no signal of the
//! terminal reaches it. It waits on a socket whose other end only the experimenting process
//! has: the kernel closes that when the process has ended, however it ended, and after its
//! last write. If the guardian is killed, the experimenting process starts another.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

use super::journal::Journal;
use super::recover::recover_locked;
use super::restore::Restored;
use super::state::Lock;

/// The argument by which the program knows that it is to be a guardian.
pub const GUARDIAN: &str = "(guardian)";

/// How long a new guardian may take to be ready.
const READY: Duration = Duration::from_secs(30);
/// Between looks at a lock that another holds.
const STEP: Duration = Duration::from_millis(10);

/// A guardian's life, from its arguments behind [`GUARDIAN`]: directory of the journal and the
/// experiment's id. Returns what it put back, if it had to.
pub fn guard(arguments: &[OsString]) -> io::Result<Option<Restored>> {
    let [state, id] = arguments else {
        return Err(io::Error::other(
            "the guardian is started by experiments only",
        ));
    };
    // Fails only for who leads a group already: then it is not in the terminal's session.
    let _ = rustix::process::setsid();
    std::env::set_current_dir("/")?;
    for signal in [
        SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2,
    ] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    let mut parent = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Nobody may be left to hear it: then the reading ends at once.
    let _ = parent.write_all(b"r");
    let mut byte = [0];
    loop {
        match parent.read(&mut byte) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Ok(1) => {}
            _ => break,
        }
    }
    take_over(Path::new(state), id)
}

/// Puts back what the journal of experiment `id` says, unless another does.
fn take_over(state: &Path, id: &OsStr) -> io::Result<Option<Restored>> {
    loop {
        match Journal::read(state)? {
            Some(journal) if OsStr::new(&journal.id) == id => {}
            // Put back already, perhaps by a command that came first.
            _ => return Ok(None),
        }
        if let Some(lock) = Lock::take(state)? {
            return recover_locked(state, &lock).map_err(io::Error::other);
        }
        std::thread::sleep(STEP);
    }
}

/// The guardian of an experiment, started again if it ends.
#[derive(Debug)]
pub(super) struct Guardian {
    shared: Arc<Shared>,
    watch: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: PathBuf,
    id: String,
    /// The experiment is over: no new guardian is wanted.
    closing: AtomicBool,
    now: Mutex<Started>,
}

/// A running guardian.
#[derive(Debug)]
struct Started {
    /// Its end of life is ours: the guardian sees this close.
    _alive: UnixStream,
    pidfd: OwnedFd,
}

impl Guardian {
    /// Starts one and waits until it watches.
    pub(super) fn start(state: &Path, id: &str) -> io::Result<Guardian> {
        let state = std::path::absolute(state)?;
        let (child, started) = spawn(&state, id)?;
        let shared = Arc::new(Shared {
            state,
            id: id.to_owned(),
            closing: AtomicBool::new(false),
            now: Mutex::new(started),
        });
        let watched = Arc::clone(&shared);
        let watch = std::thread::Builder::new()
            .name("guardian".into())
            .spawn(move || watch(child, &watched))?;
        Ok(Guardian {
            shared,
            watch: Some(watch),
        })
    }

    /// Ends it: everything is put back.
    pub(super) fn dismiss(mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        {
            let now = self
                .shared
                .now
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let _ = pidfd_send_signal(&now.pidfd, Signal::KILL);
        }
        if let Some(watch) = self.watch.take() {
            let _ = watch.join();
        }
    }
}

/// Waits for the guardian's end, and starts the next.
fn watch(mut child: Child, shared: &Shared) {
    loop {
        let _ = child.wait();
        loop {
            if shared.closing.load(Ordering::SeqCst) {
                return;
            }
            if let Ok((next, started)) = spawn(&shared.state, &shared.id) {
                child = next;
                let mut now = shared.now.lock().unwrap_or_else(PoisonError::into_inner);
                *now = started;
                // Dismissed meanwhile: the signal went to the one before.
                if shared.closing.load(Ordering::SeqCst) {
                    let _ = pidfd_send_signal(&now.pidfd, Signal::KILL);
                }
                break;
            }
            std::thread::sleep(STEP);
        }
    }
}

/// Starts a guardian and waits until it is ready.
fn spawn(state: &Path, id: &str) -> io::Result<(Child, Started)> {
    let (mut ours, theirs) = UnixStream::pair()?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the guardian is this program itself"
    )]
    let mut command = std::process::Command::new("/proc/self/exe");
    command.arg0("sonde").arg(GUARDIAN).arg(state).arg(id);
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null());
    let mut child = command.spawn()?;
    // Our copy of its end goes with the command.
    drop(command);
    let ready = (|| {
        ours.set_read_timeout(Some(READY))?;
        ours.read_exact(&mut [0]).map_err(|e| match e.kind() {
            io::ErrorKind::WouldBlock => io::Error::other("it was not ready within 30 seconds"),
            _ => e,
        })?;
        let pid = Pid::from_raw(child.id() as i32).ok_or(io::ErrorKind::InvalidData)?;
        Ok(pidfd_open(pid, PidfdFlags::empty())?)
    })();
    match ready {
        Ok(pidfd) => Ok((
            child,
            Started {
                _alive: ours,
                pidfd,
            },
        )),
        Err(e) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(e)
        }
    }
}
