//! Shows the command's output as it comes, and keeps it.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

use run::Nanos;
use run::printed::{Piece, Pieces};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::child::Outputs;
use super::progress::Screen;
use crate::clock::RunClock;

/// The thread that reads the command's output.
pub(super) struct Tee {
    thread: JoinHandle<Vec<String>>,
    /// Closing it tells the thread that the command has ended.
    end: OwnedFd,
}

/// The files that keep an output, and when it came.
#[derive(Debug)]
pub(super) struct Kept {
    /// What was printed.
    pub(super) text: File,
    /// Records of [`run::printed`].
    pub(super) times: File,
}

impl Kept {
    /// The same files once more.
    pub(super) fn again(&self) -> io::Result<Kept> {
        Ok(Kept {
            text: self.text.try_clone()?,
            times: self.times.try_clone()?,
        })
    }
}

struct Stream {
    from: Option<OwnedFd>,
    keep: Option<File>,
    /// Bytes that were kept.
    kept: u64,
    times: Option<File>,
    pieces: Pieces,
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
const LINGER: Nanos = 20_000_000;

/// What a pipe can hold at most (`/proc/sys/fs/pipe-max-size` as shipped). All that the
/// command wrote before it ended is within so much; beyond it, what it left in the background
/// is talking.
const LARGEST_PIPE: usize = 1 << 20;

/// What becomes of whoever still holds the command's output when it is over.
const LEFT_BEHIND: &str = "something that the command left in the background still has its output: \
                           it ends when it prints again, unless its output goes elsewhere";

impl Tee {
    /// Starts reading `outputs` into the files `keep` and to our own stdout and stderr; when it
    /// comes is told by `clock`.
    pub(super) fn start(
        outputs: Outputs,
        keep: [Kept; 2],
        screen: Arc<Screen>,
        clock: RunClock,
    ) -> io::Result<Tee> {
        let (ended, end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let [out, err] = outputs;
        let [keep_out, keep_err] = keep;
        let streams = [
            Stream::new(out, keep_out, false),
            Stream::new(err, keep_err, true),
        ];
        let thread = std::thread::Builder::new()
            .name("output".into())
            .stack_size(256 << 10)
            .spawn(move || copy(streams, &ended, &screen, &clock))?;
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
fn copy(
    mut streams: [Stream; 2],
    ended: &OwnedFd,
    screen: &Screen,
    clock: &RunClock,
) -> Vec<String> {
    let mut buffer = vec![0_u8; 64 << 10];
    let mut over = false;
    while streams.iter().any(|s| s.from.is_some()) {
        let due = streams.iter().filter_map(|s| s.pieces.due()).min();
        let patience = if over {
            Some(LINGER)
        } else {
            due.map(|at| (at - clock.now()).max(0))
        };
        let ready = match wait(&streams, (!over).then_some(ended), patience) {
            Ok(ready) => ready,
            Err(Errno::INTR) => continue,
            Err(_) => break,
        };
        if over && !ready.outputs.contains(&true) {
            break;
        }
        over |= ready.ended;
        for (stream, ready) in streams.iter_mut().zip(ready.outputs) {
            if over {
                stream.left.get_or_insert(LARGEST_PIPE);
            }
            if ready {
                stream.copy(&mut buffer, screen, clock);
            }
            let piece = stream.pieces.take(clock.now());
            stream.note(piece);
        }
    }
    let held = streams
        .iter()
        .any(|s| s.from.is_some() || s.left == Some(0));
    let left = held.then(|| LEFT_BEHIND.to_owned());
    let remarks = streams.into_iter().flat_map(Stream::remarks);
    remarks.chain(left).collect()
}

/// What can be read.
struct Ready {
    outputs: [bool; 2],
    ended: bool,
}

/// Waits until something of `streams` can be read or `ended` is, at most so long.
fn wait(
    streams: &[Stream; 2],
    ended: Option<&OwnedFd>,
    patience: Option<Nanos>,
) -> Result<Ready, Errno> {
    let mut fds = Vec::with_capacity(3);
    for from in streams.iter().filter_map(|s| s.from.as_ref()) {
        fds.push(PollFd::new(from, PollFlags::IN));
    }
    fds.extend(ended.map(|ended| PollFd::new(ended, PollFlags::IN)));
    let patience = patience.map(|nanos| Timespec {
        tv_sec: nanos / 1_000_000_000,
        tv_nsec: nanos % 1_000_000_000,
    });
    poll(&mut fds, patience.as_ref())?;
    let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
    let mut outputs = [false; 2];
    for (is_ready, stream) in outputs.iter_mut().zip(streams) {
        *is_ready = stream.from.is_some() && ready.next() == Some(true);
    }
    Ok(Ready {
        outputs,
        ended: ready.next() == Some(true),
    })
}

impl Stream {
    fn new(from: OwnedFd, keep: Kept, error: bool) -> Stream {
        Stream {
            from: Some(from),
            keep: Some(keep.text),
            kept: 0,
            times: Some(keep.times),
            pieces: Pieces::default(),
            error,
            name: if error { "stderr" } else { "stdout" },
            not_kept: 0,
            why: String::new(),
            not_shown: 0,
            why_not_shown: String::new(),
            left: None,
        }
    }

    /// Moves what is there now; forgets the output when it has ended.
    fn copy(&mut self, buffer: &mut [u8], screen: &Screen, clock: &RunClock) {
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
        // Whoever reads our output may hold it up: the time is that before.
        let came = clock.now();
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
        self.store(bytes, came);
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

    fn store(&mut self, bytes: &[u8], came: Nanos) {
        let mut left = bytes;
        if let Some(keep) = &self.keep
            && let Err(e) = write_all(keep.as_fd(), &mut left)
        {
            self.why = io::Error::from(e).to_string();
            self.keep = None;
        }
        self.not_kept += left.len() as u64;
        let kept = (bytes.len() - left.len()) as u64;
        if kept > 0 {
            self.kept += kept;
            let piece = self.pieces.came(self.kept, came);
            self.note(piece);
        }
    }

    /// Writes down when output came. What cannot be written leaves later output without times,
    /// of which nothing more is told: the output itself is there.
    fn note(&mut self, piece: Option<Piece>) {
        if let Some(piece) = piece
            && let Some(times) = &self.times
            && write_all(times.as_fd(), &mut &piece.bytes()[..]).is_err()
        {
            self.times = None;
        }
    }

    /// The last words: what came last has its time, and what was not kept is told.
    fn remarks(mut self) -> impl Iterator<Item = String> {
        let last = self.pieces.end();
        self.note(last);
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
