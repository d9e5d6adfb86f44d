//! A trial's recorder: this program itself, as a process of its own.
//!
//! Whatever happens to a recording (no memory, a fault) leaves the experiment alive to put the
//! settings back, and every trial starts from the same state.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use run::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::clock;
use crate::commands::record::signals::Signals;

/// How long an interrupted trial may take to end by itself (the terminal told the command too),
/// before it is told to.
const GRACE: Nanos = 1_000_000_000;

/// How long one that was told to end may take before it is ended.
const PATIENCE: Nanos = 15_000_000_000;

/// A process of an experiment.
pub(super) struct Process {
    child: Child,
    pidfd: OwnedFd,
}

/// How a process ended.
pub(super) struct Ended {
    /// Its exit status, where it is known.
    pub(super) status: Option<ExitStatus>,
    /// The signal that cut it short.
    pub(super) cut: Option<Signal>,
}

/// Starts a recorder with those options; what it and the command say on stderr goes into `said`.
pub(super) fn record(options: &[String], command: &[String], said: &Path) -> io::Result<Process> {
    let this = std::env::current_exe()?;
    let mut recorder = new(&this, said)?;
    recorder.arg("record").args(options).arg("--").args(command);
    start(recorder)
}

/// Starts a line of shell with those variables.
pub(super) fn shell(
    line: &str,
    variables: impl Iterator<Item = (String, String)>,
    said: &Path,
) -> io::Result<Process> {
    let mut shell = new(Path::new("/bin/sh"), said)?;
    shell.args(["-c", line]).envs(variables);
    start(shell)
}

/// A program without input, whose stdout nobody reads.
fn new(program: &Path, said: &Path) -> io::Result<Command> {
    #[expect(
        clippy::disallowed_methods,
        reason = "an experiment starts its trials and what prepares them"
    )]
    let mut command = Command::new(program);
    let keep = File::options()
        .create(true)
        .write(true)
        .truncate(true)
        .open(said)?;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(keep);
    Ok(command)
}

fn start(mut command: Command) -> io::Result<Process> {
    let child = command.spawn()?;
    let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    Ok(Process { child, pidfd })
}

impl Process {
    /// Waits for its end; calls `tick` twice a second. A signal cuts it short.
    pub(super) fn wait(mut self, signals: &mut Signals, mut tick: impl FnMut()) -> Ended {
        let mut cut: Option<(Signal, Nanos)> = None;
        let mut told = false;
        loop {
            let woken = pause(signals, Some(self.pidfd.as_fd()), 500_000_000);
            if let Ok(Some(status)) = self.child.try_wait() {
                return Ended {
                    status: Some(status),
                    cut: cut.map(|c| c.0).or_else(|| ending(signals)),
                };
            }
            let now = clock::since_boot();
            if let Some(signal) = woken.then(|| ending(signals)).flatten() {
                // Asked a second time: at once.
                told |= cut.is_none() && signal != Signal::INT;
                if cut.is_some() || told {
                    self.signal(Signal::TERM);
                    told = true;
                }
                cut.get_or_insert((signal, now));
            }
            if let Some((_, since)) = cut {
                let passed = now - since;
                if passed > GRACE && !told {
                    self.signal(Signal::TERM);
                    told = true;
                }
                if passed > PATIENCE {
                    self.signal(Signal::KILL);
                }
            }
            tick();
        }
    }

    fn signal(&self, signal: Signal) {
        // It may have ended already.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }
}

/// The signal that asks to end, if one came.
pub(super) fn ending(signals: &mut Signals) -> Option<Signal> {
    let come = signals.come();
    come.into_iter().find(|s| *s != Signal::WINCH)
}

/// Waits for a signal, `process` or so many nanoseconds; answers whether anything but the time
/// may have come.
pub(super) fn pause(signals: &Signals, process: Option<BorrowedFd<'_>>, time: Nanos) -> bool {
    let wanted: Vec<BorrowedFd<'_>> = signals.fds().chain(process).collect();
    let mut fds: Vec<PollFd<'_>> = wanted
        .iter()
        .map(|fd| PollFd::new(fd, PollFlags::IN))
        .collect();
    let time = Timespec {
        tv_sec: time / 1_000_000_000,
        tv_nsec: time % 1_000_000_000,
    };
    poll(&mut fds, Some(&time)) != Ok(0)
}
