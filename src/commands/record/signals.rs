//! Signals as something to wait for.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};

/// A pipe for each signal that matters here.
pub(super) struct Signals {
    pipes: Vec<(Signal, UnixStream)>,
}

impl Signals {
    /// From here on these signals no longer end the program.
    pub(super) fn catch() -> io::Result<Signals> {
        let mut pipes = Vec::new();
        for (number, signal) in [
            (SIGINT, Signal::INT),
            (SIGTERM, Signal::TERM),
            (SIGHUP, Signal::HUP),
            (SIGWINCH, Signal::WINCH),
        ] {
            let (read, write) = UnixStream::pair()?;
            read.set_nonblocking(true)?;
            signal_hook::low_level::pipe::register(number, write)?;
            pipes.push((signal, read));
        }
        Ok(Signals { pipes })
    }

    /// To wait for them.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.pipes.iter().map(|(_, pipe)| pipe.as_fd())
    }

    /// Those that came since last asked.
    pub(super) fn come(&mut self) -> Vec<Signal> {
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
