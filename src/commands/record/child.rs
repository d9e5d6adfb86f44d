//! The recorded command: started here (and nowhere else), its output shown live and kept.
//!
//! Where our stdout or stderr is a terminal, the command gets a pseudo-terminal in its
//! place, so that it still sees a terminal there; its stdin and its controlling terminal
//! stay the real ones, so that Ctrl-C, job control and questions work as always. The
//! pseudo-terminal passes bytes through unchanged. Elsewhere the command gets a pipe.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};

use rustix::process::{PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, waitid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};

use super::marks;

/// The command while it runs.
pub(super) struct Running {
    child: Child,
    pidfd: OwnedFd,
    /// Masters of the pseudo-terminals, to tell them of a new window size.
    terminals: Vec<OwnedFd>,
}

/// The ends from which its output is read: stdout, stderr.
pub(super) type Outputs = [OwnedFd; 2];

/// Starts `arguments` with [`marks::VARIABLE`] set to `dir`.
pub(super) fn start(arguments: &[OsString], dir: &Path) -> io::Result<(Running, Outputs)> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that starts programs"
    )]
    let mut command = std::process::Command::new(&arguments[0]);
    command.args(&arguments[1..]).env(marks::VARIABLE, dir);
    let mut terminals = Vec::new();
    let (out, out_end) = output_for(
        io::stdout().is_terminal(),
        io::stdout().as_fd(),
        &mut terminals,
    )?;
    let (err, err_end) = output_for(
        io::stderr().is_terminal(),
        io::stderr().as_fd(),
        &mut terminals,
    )?;
    command
        .stdout(Stdio::from(out_end))
        .stderr(Stdio::from(err_end));
    let child = command.spawn()?;
    // Our copies of the command's ends must close, or its output would never end.
    drop(command);
    let pid = rustix::process::Pid::from_child(&child);
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    Ok((
        Running {
            child,
            pidfd,
            terminals,
        },
        [out, err],
    ))
}

/// Our end and the command's end of one output.
fn output_for(
    terminal: bool,
    real: BorrowedFd<'_>,
    terminals: &mut Vec<OwnedFd>,
) -> io::Result<(OwnedFd, OwnedFd)> {
    if !terminal {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        return Ok((read, write));
    }
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let open = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
    let slave = rustix::fs::open(name, open, rustix::fs::Mode::empty())?;
    let mut modes = tcgetattr(&slave)?;
    modes.make_raw();
    tcsetattr(&slave, OptionalActions::Now, &modes)?;
    if let Ok(size) = tcgetwinsize(real) {
        let _ = tcsetwinsize(&master, size);
    }
    terminals.push(master.try_clone()?);
    Ok((master, slave))
}

impl Running {
    /// Readable when the command has ended.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Whether it has ended. It is not waited for yet: until then the kernel keeps what it
    /// used under its own name, and the last sample can see it.
    pub(super) fn is_over(&self) -> bool {
        let pid = rustix::process::Pid::from_child(&self.child);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that there is nobody to wait for.
        !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
    }

    /// Its status, if it has ended, which is then forgotten by the kernel.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Passes a signal on.
    pub(super) fn signal(&self, signal: Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        // It may have ended already.
        let _ = rustix::process::kill_process(pid, signal);
    }

    /// Tells its terminals that the window has another size.
    pub(super) fn resize(&self) {
        let size: Option<Winsize> = tcgetwinsize(io::stdout())
            .or_else(|_| tcgetwinsize(io::stderr()))
            .ok();
        if let Some(size) = size {
            for terminal in &self.terminals {
                let _ = tcsetwinsize(terminal, size);
            }
        }
    }
}

/// The exit status by which a shell would tell `status`: 128 + n after signal n.
pub(super) fn shell_status(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|s| 128 + s));
    u8::try_from(code.unwrap_or(1)).unwrap_or(255)
}

/// The file that keeps an output.
pub(super) fn keep(dir: &Path, name: &str) -> io::Result<File> {
    File::options()
        .write(true)
        .create_new(true)
        .open(dir.join(name))
}
