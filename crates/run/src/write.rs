//! Writing a run: a thread that keeps the journal durable, and sealing at the end.

mod making;
mod place;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::home::Home;
use crate::journal::{Journal, encode_rows, encode_words};
use crate::loss::Losses;
use crate::manifest::{Manifest, State};
use crate::seal::Amounts;
use crate::{Nanos, Sink, seal};

pub use making::Making;
pub use place::write_durably;
use place::{fail, make_above, make_again, manifest_text, remove_empty, start, write_manifest};

/// How long what was sampled may be not yet durable.
const DURABLE_EVERY: Duration = Duration::from_secs(1);

/// Rows of so many bytes are handed over though more could still be gathered.
const LARGEST_GATHERED: usize = 64 << 10;

/// Bytes that may wait for a slow disk. Beyond it rows are dropped and counted: a recorder
/// that fills the memory of the machine it observes is worse.
const LARGEST_QUEUE: usize = 64 << 20;

/// So many bytes of rows are made durable though more keep coming: they wait in memory.
const LARGEST_COMMIT: usize = 8 << 20;

/// Room kept free for the final manifest, should the disk be full by then.
const RESERVE: u64 = 64 << 10;

/// Why a run could not be started.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// There is something at the path already.
    #[error(
        "{path} exists already; a run is never overwritten\nhint: choose another name with -o, or remove it first"
    )]
    Exists {
        /// The path given.
        path: String,
    },
    /// The operating system refused.
    #[error("cannot create {path}: {error}\nhint: -o names the directory to record into")]
    Io {
        /// The path that failed.
        path: String,
        /// What it said.
        error: io::Error,
    },
}

enum Message {
    Rows(Chunk),
    Manifest(String),
}

/// Rows on their way to the thread, encoded.
#[derive(Default)]
struct Chunk {
    words: Vec<u8>,
    rows: Vec<u8>,
    /// Times of samples with their numbers of rows.
    samples: Vec<(Nanos, u64)>,
    /// Lost rows of which these rows tell.
    told: u64,
    /// Some of them have waited for a second, or the next would.
    at_once: bool,
}

/// Counts that the recorder reads while its writer works.
#[derive(Debug, Default)]
struct Shared {
    written: AtomicU64,
    lost: AtomicU64,
    /// Lost rows of which no row that was kept tells.
    untold: AtomicU64,
    queued: AtomicUsize,
}

impl Shared {
    /// `rows` were lost, and with them what they told of `told` rows lost before.
    fn lose(&self, rows: u64, told: u64) {
        self.lost.fetch_add(rows, Relaxed);
        self.untold.fetch_add(rows + told, Relaxed);
    }
}

/// A run being written.
pub struct Writer {
    home: Arc<Home>,
    /// Directories above it that were made for it.
    above: Vec<PathBuf>,
    send: Sender<Message>,
    shared: Arc<Shared>,
    thread: JoinHandle<Written>,
    words: usize,
    /// Rows that were not handed over yet.
    gathered: Chunk,
    dropped: Losses,
    /// Lost rows of which the next rows tell.
    telling: AtomicU64,
}

struct Written {
    journal: Journal,
    loss: Losses,
}

/// What became of a run that was finished.
#[derive(Debug)]
pub struct Finished {
    /// Where the run is: where it was asked for, unless that was removed meanwhile.
    pub path: PathBuf,
    /// The directory was removed while recording, and made again.
    pub made_again: bool,
    /// Why the run could not be sealed; it can be read from its journal.
    pub not_sealed: Option<String>,
    /// The manifest as written, or as it would have been.
    pub manifest: Manifest,
}

impl Writer {
    /// Makes the directory `dir` and starts a journal in it.
    pub fn create(dir: &Path, manifest: &Manifest) -> Result<Writer, CreateError> {
        let above = make_above(dir)?;
        let made = fs::create_dir(dir)
            .map_err(fail(dir))
            .and_then(|()| start(dir, manifest).inspect_err(|_| drop(fs::remove_dir_all(dir))));
        let (home, file) = made.inspect_err(|_| remove_empty(&above))?;
        let home = Arc::new(home);
        let (send, receive) = channel();
        let shared = Arc::new(Shared::default());
        let thread = {
            let (shared, home) = (shared.clone(), home.clone());
            std::thread::Builder::new()
                .name("writer".into())
                // The default would be 2 MiB of address space; 512 KiB is plenty here.
                .stack_size(512 << 10)
                .spawn(move || write_all(Journal::new(file), &home, &receive, &shared))
        };
        let thread = thread.map_err(|error| CreateError::Io {
            path: "a thread".into(),
            error,
        })?;
        Ok(Writer {
            home,
            above,
            send,
            shared,
            thread,
            words: 0,
            gathered: Chunk::default(),
            dropped: Losses::default(),
            telling: AtomicU64::new(0),
        })
    }

    /// Where the run was started, as an absolute path.
    pub fn dir(&self) -> &Path {
        self.home.path()
    }

    /// A path into the run's directory that holds also after it was renamed, as long as this
    /// writer lives.
    pub fn inside(&self) -> PathBuf {
        self.home.inside()
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.shared.written.load(Relaxed)
    }

    /// Rows lost so far.
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Relaxed)
    }

    /// Bytes that wait for the disk. Who can wait for it (a recorder cannot) keeps this small:
    /// beyond a limit rows are lost.
    pub fn queued(&self) -> usize {
        self.shared.queued.load(Relaxed)
    }

    /// Rows lost that no row has told of yet; the rows appended next are to tell. Should they
    /// be lost too, these are to be told again.
    pub fn untold(&self) -> u64 {
        let untold = self.shared.untold.swap(0, Relaxed);
        self.telling.fetch_add(untold, Relaxed);
        untold
    }

    /// Takes the rows of `sink`, a sample ending at `time`, and empties it. Never waits for
    /// the disk.
    pub fn append(&mut self, sink: &mut Sink, time: Nanos) {
        self.encode(sink, time);
        self.hand_over();
    }

    /// The same, of who comes again at `next` at the latest: rows of many samples a second are
    /// gathered, so that the thread wakes once a second and not for each of them. After a second
    /// they are made durable at once, and what came with them.
    pub fn gather(&mut self, sink: &mut Sink, time: Nanos, next: Nanos) {
        self.encode(sink, time);
        self.gathered.at_once = self.is_due(time, next);
        if self.gathered.at_once || self.gathered.rows.len() >= LARGEST_GATHERED {
            self.hand_over();
        }
    }

    /// Takes what came before the sample at `next`, with which it is handed over if that is soon.
    /// By itself it would have the sample wait for a turn of its own.
    pub fn gather_before(&mut self, sink: &mut Sink, time: Nanos, next: Nanos) {
        self.encode(sink, time);
        if self.is_due(time, next) || self.gathered.rows.len() >= LARGEST_GATHERED {
            self.hand_over();
        }
    }

    /// Whether what was gathered would wait for too long, had it to wait for `next`.
    fn is_due(&self, time: Nanos, next: Nanos) -> bool {
        let first = self.gathered.samples.first().map_or(time, |s| s.0);
        u128::from(next.abs_diff(first)) >= DURABLE_EVERY.as_nanos()
    }

    /// Moves the rows of `sink` to those that were gathered.
    fn encode(&mut self, sink: &mut Sink, time: Nanos) {
        let gathered = &mut self.gathered;
        let told = self.telling.swap(0, Relaxed);
        let count = sink.filled().map(|(_, rows)| rows.len() as u64).sum();
        encode_words(sink, self.words, &mut gathered.words);
        self.words = sink.words.texts().len();
        if self.shared.queued.load(Relaxed) < LARGEST_QUEUE {
            encode_rows(sink, &mut gathered.rows);
            gathered.samples.push((time, count));
            gathered.told += told;
            self.dropped.end();
        } else {
            let why = "the disk was too slow to take it";
            let lost = self.dropped.add(&[(time, count)], why);
            self.shared.lose(lost, told);
        }
        sink.clear();
    }

    /// Hands over what was gathered: nothing more may come for long.
    pub fn hand_over(&mut self) {
        if self.gathered.samples.is_empty() && self.gathered.words.is_empty() {
            return;
        }
        // Samples are alike: room for as much, instead of growing step by step.
        let room = self.gathered.rows.len() + self.gathered.rows.len() / 8;
        let next = Chunk {
            rows: Vec::with_capacity(room),
            ..Chunk::default()
        };
        let chunk = std::mem::replace(&mut self.gathered, next);
        self.shared.queued.fetch_add(chunk.rows.len(), Relaxed);
        // The thread ends only after this side is dropped.
        let _ = self.send.send(Message::Rows(chunk));
    }

    /// Replaces `run.json`, durably, when the rows before it are.
    pub fn update(&mut self, manifest: &Manifest) {
        self.hand_over();
        let _ = self.send.send(Message::Manifest(manifest_text(manifest)));
    }

    /// Gives the run up and removes what was made: nothing was recorded.
    pub fn abandon(self) {
        drop(self.send);
        let _ = self.thread.join();
        let _ = fs::remove_dir_all(self.home.now());
        remove_empty(&self.above);
    }

    /// Makes everything durable, seals the tables and writes the final manifest.
    ///
    /// `manifest` gets state, tables and loss here. Where sealing fails, the journal stays
    /// and the run opens from it.
    pub fn finish(mut self, mut manifest: Manifest) -> io::Result<Finished> {
        self.hand_over();
        drop(self.send);
        let written = self
            .thread
            .join()
            .map_err(|_| io::Error::other("the writer died"))?;
        manifest.loss.extend(self.dropped.list);
        manifest.loss.extend(written.loss.list);
        manifest.own.written_bytes = written.journal.written();
        let made_again = !self.home.holds(written.journal.file(), "journal");
        let home = if made_again {
            Arc::new(make_again(&self.home, &written.journal)?)
        } else {
            self.home
        };
        let inside = home.inside();
        let _ = fs::remove_file(inside.join(".reserve"));
        let mut not_sealed = None;
        match seal::seal(written.journal.file(), &inside, Amounts::of(&manifest)) {
            Ok(sealed) => {
                manifest.tables = sealed.tables;
                manifest.footers = sealed.footers;
                manifest.state = State::Complete;
            }
            Err(e) => not_sealed = Some(e.to_string()),
        }
        let kept = write_manifest(&inside, &manifest_text(&manifest)).and_then(|()| home.sync());
        match kept {
            Ok(()) if manifest.state == State::Complete => {
                // Tables and manifest are durable; the journal is a second copy.
                let _ = fs::remove_file(inside.join("journal"));
            }
            Ok(()) => {}
            Err(e) => not_sealed = Some(format!("writing run.json: {e}")),
        }
        Ok(Finished {
            path: home.now(),
            made_again,
            not_sealed,
            manifest,
        })
    }
}

/// The writer thread: appends what comes; commits what says that it is due, the rest within a
/// second, and all at the end.
fn write_all(
    mut journal: Journal,
    home: &Home,
    receive: &Receiver<Message>,
    shared: &Shared,
) -> Written {
    let mut losses = Losses::default();
    let mut pending: Vec<(Nanos, u64)> = Vec::new();
    let mut stated = 0;
    #[expect(
        clippy::disallowed_methods,
        reason = "paces durability; no result depends on it"
    )]
    let now = Instant::now;
    let mut due = now();
    let mut manifest: Option<String> = None;
    loop {
        let mut come = if pending.is_empty() && manifest.is_none() {
            receive.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            receive.recv_timeout(due.saturating_duration_since(now()))
        };
        let (begun, mut bytes, mut at_once) = (now(), 0, false);
        let ended = loop {
            match come {
                Ok(Message::Manifest(text)) => manifest = Some(text),
                Ok(Message::Rows(chunk)) => {
                    bytes += chunk.rows.len();
                    at_once |= chunk.at_once || bytes >= LARGEST_COMMIT;
                    shared.queued.fetch_sub(chunk.rows.len(), Relaxed);
                    pending.extend(chunk.samples);
                    stated += chunk.told;
                    if let Err(e) = journal.append(&chunk.words, &chunk.rows) {
                        let lost = losses.add(&std::mem::take(&mut pending), &e.to_string());
                        shared.lose(lost, std::mem::take(&mut stated));
                    }
                }
                Err(RecvTimeoutError::Timeout) => break false,
                Err(RecvTimeoutError::Disconnected) => break true,
            }
            // What came while a slow disk was waited for is one commit; but where they keep coming,
            // as an import makes them, it would never end.
            if bytes >= LARGEST_COMMIT || begun.elapsed() >= DURABLE_EVERY {
                at_once = true;
                break false;
            }
            come = receive.try_recv().map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            });
        };
        let at = now();
        if !ended && !at_once && at < due {
            continue;
        }
        due = at + DURABLE_EVERY;
        let rows = std::mem::take(&mut pending);
        match journal.commit() {
            Err(e) => {
                let lost = losses.add(&rows, &e.to_string());
                shared.lose(lost, stated);
            }
            Ok(()) if !rows.is_empty() => losses.end(),
            Ok(()) => {}
        }
        stated = 0;
        shared.written.store(journal.written(), Relaxed);
        // A manifest that cannot be written now is tried again: it has the phases so far.
        manifest.take_if(|text| write_manifest(&home.inside(), text).is_ok());
        if ended {
            return Written {
                journal,
                loss: losses,
            };
        }
    }
}
