//! Signals as something to wait for.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};

/// A pipe for each signal that matters here.
pub(crate) struct Signals {
    pipes: Vec<(Signal, UnixStream)>,
}

impl Signals {
    /// From here on these signals no longer end the program.
    ///
    /// One that is ignored already (by `nohup`, or for a job in the background of a script)
    /// stays so, for the command too.
    pub(crate) fn catch() -> io::Result<Signals> {
        let mut pipes = Vec::new();
        let ignored = ignored(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
        for (number, signal) in [
            (SIGINT, Signal::INT),
            (SIGQUIT, Signal::QUIT),
            (SIGTERM, Signal::TERM),
            (SIGHUP, Signal::HUP),
            (SIGWINCH, Signal::WINCH),
        ] {
            if ignored >> (number - 1) & 1 == 1 {
                continue;
            }
            let (read, write) = UnixStream::pair()?;
            read.set_nonblocking(true)?;
            signal_hook::low_level::pipe::register(number, write)?;
            pipes.push((signal, read));
        }
        Ok(Signals { pipes })
    }

    /// To wait for them.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.pipes.iter().map(|(_, pipe)| pipe.as_fd())
    }

    /// Those that came since last asked.
    pub(crate) fn come(&mut self) -> Vec<Signal> {
        let mut buffer = [0; 64];
        let pipes = self.pipes.iter_mut();
        pipes
            .filter_map(|(signal, pipe)| match pipe.read(&mut buffer) {
                Ok(n) if n > 0 => Some(*signal),
                _ => None,
            })
            .collect()
    }
}

/// The mask in the line `SigIgn: 0000000000001000` of `/proc/self/status`.
fn ignored(status: &str) -> u64 {
    let line = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
