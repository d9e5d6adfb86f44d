//! Shows the command's output as it comes, and keeps it.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::child::Outputs;
use super::progress::Screen;

/// The thread that reads the command's output.
pub(super) struct Tee {
    thread: JoinHandle<Vec<String>>,
    /// Closing it tells the thread that the command has ended.
    end: OwnedFd,
}

struct Stream {
    from: Option<OwnedFd>,
    keep: Option<File>,
    error: bool,
    name: &'static str,
    not_kept: u64,
    why: String,
    not_shown: u64,
    why_not_shown: String,
    /// Bytes that may still be read; none are counted while the command lives.
    left: Option<usize>,
}

/// How long after the command's end its last output may still be on its way.
const LINGER: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// What a pipe can hold at most (`/proc/sys/fs/pipe-max-size` as shipped). All that the
/// command wrote before it ended is within so much; beyond it, what it left in the background
/// is talking.
const LARGEST_PIPE: usize = 1 << 20;

impl Tee {
    /// Starts reading `outputs` into the files `keep` and to our own stdout and stderr.
    pub(super) fn start(outputs: Outputs, keep: [File; 2], screen: Arc<Screen>) -> io::Result<Tee> {
        let (ended, end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let [out, err] = outputs;
        let [keep_out, keep_err] = keep;
        let stream = |from, keep, error, name| Stream {
            from: Some(from),
            keep: Some(keep),
            error,
            name,
            not_kept: 0,
            why: String::new(),
            not_shown: 0,
            why_not_shown: String::new(),
            left: None,
        };
        let streams = [
            stream(out, keep_out, false, "stdout"),
            stream(err, keep_err, true, "stderr"),
        ];
        let thread = std::thread::Builder::new()
            .name("output".into())
            .stack_size(256 << 10)
            .spawn(move || copy(streams, &ended, &screen))?;
        Ok(Tee { thread, end })
    }

    /// Reads what the ended command still left and returns remarks on what was not kept.
    pub(super) fn finish(self) -> Vec<String> {
        drop(self.end);
        self.thread.join().unwrap_or_default()
    }
}

/// Copies until all outputs end, or the command has ended and nothing more comes: something
/// it left in the background may hold them open for ever.
fn copy(mut streams: [Stream; 2], ended: &OwnedFd, screen: &Screen) -> Vec<String> {
    let mut buffer = vec![0_u8; 64 << 10];
    let mut over = false;
    while streams.iter().any(|s| s.from.is_some()) {
        let ready: Vec<bool> = {
            let mut fds = Vec::with_capacity(3);
            for s in &streams {
                if let Some(from) = &s.from {
                    fds.push(PollFd::new(from, PollFlags::IN));
                }
            }
            let outputs = fds.len();
            if !over {
                fds.push(PollFd::new(ended, PollFlags::IN));
            }
            match poll(&mut fds, if over { Some(&LINGER) } else { None }) {
                Ok(0) => break,
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(_) => break,
            }
            if !over && fds.last().is_some_and(|f| !f.revents().is_empty()) {
                over = true;
            }
            fds[..outputs]
                .iter()
                .map(|f| !f.revents().is_empty())
                .collect()
        };
        for stream in streams.iter_mut().filter(|_| over) {
            stream.left.get_or_insert(LARGEST_PIPE);
        }
        let open = streams.iter_mut().filter(|s| s.from.is_some());
        for (stream, _) in open.zip(ready).filter(|(_, ready)| *ready) {
            stream.copy(&mut buffer, screen);
        }
    }
    streams.into_iter().flat_map(Stream::remarks).collect()
}

impl Stream {
    /// Moves what is there now; forgets the output when it has ended.
    fn copy(&mut self, buffer: &mut [u8], screen: &Screen) {
        let Some(from) = &self.from else { return };
        let read = rustix::io::read(from.as_fd(), &mut *buffer);
        let bytes = match read {
            Ok(n) if n > 0 => &buffer[..n],
            Err(Errno::INTR | Errno::AGAIN) => return,
            // A pseudo-terminal that nobody holds any more reads as EIO.
            Ok(_) | Err(_) => {
                self.from = None;
                return;
            }
        };
        let mut left = bytes;
        match self.show(&mut left, screen) {
            Ok(()) => {}
            Err(Errno::PIPE) => {
                // Our reader has gone. Closing our end tells the command what it would have
                // been told without us.
                self.from = None;
            }
            Err(e) => {
                // A full disk behind our stdout is no reason to end the command.
                self.not_shown += left.len() as u64;
                self.why_not_shown = io::Error::from(e).to_string();
            }
        }
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(bytes.len());
            if *left == 0 {
                self.from = None;
            }
        }
        self.store(bytes);
    }

    fn show(&self, bytes: &mut &[u8], screen: &Screen) -> Result<(), Errno> {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let (to, terminal) = if self.error {
            (stderr.as_fd(), stderr.is_terminal())
        } else {
            (stdout.as_fd(), stdout.is_terminal())
        };
        let _shown = terminal.then(|| screen.output(bytes));
        write_all(to, bytes)
    }

    fn store(&mut self, bytes: &[u8]) {
        let mut left = bytes;
        if let Some(keep) = &self.keep
            && let Err(e) = write_all(keep.as_fd(), &mut left)
        {
            self.why = io::Error::from(e).to_string();
            self.keep = None;
        }
        self.not_kept += left.len() as u64;
    }

    fn remarks(self) -> impl Iterator<Item = String> {
        let kept = (self.not_kept > 0).then(|| {
            format!(
                "the last {} bytes of {} were not kept: {}",
                self.not_kept, self.name, self.why
            )
        });
        let shown = (self.not_shown > 0).then(|| {
            format!(
                "{} bytes of the command's {} could not be shown: {}",
                self.not_shown, self.name, self.why_not_shown
            )
        });
        kept.into_iter().chain(shown)
    }
}

/// Writes all of `bytes` and leaves in it what could not be written; past the buffers of the standard library: what it could not write
/// it would try again later, out of order.
fn write_all(to: BorrowedFd<'_>, bytes: &mut &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(n) => *bytes = &bytes[n..],
            Err(Errno::INTR) => {}
            // Whoever shares our output may have made it non-blocking.
            Err(Errno::AGAIN) => {
                poll(&mut [PollFd::from_borrowed_fd(to, PollFlags::OUT)], None)?;
            }
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
