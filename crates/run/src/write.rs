//! Writing a run: a thread that keeps the journal durable, and sealing at the end.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;

use crate::journal::{Journal, encode_rows, encode_words};
use crate::manifest::{Loss, Manifest, State};
use crate::{Nanos, Sink, seal};

/// How long the writer may keep what it was given not yet durable. With [`HAND_OVER`] it is
/// less than a second.
const DURABLE_EVERY: Duration = Duration::from_millis(700);

/// Rows go to the writer when they span this long: waking it for each of a hundred samples a
/// second would cost as much as some sources do.
const HAND_OVER: Nanos = 200_000_000;

/// Bytes that may wait for a slow disk. Beyond it rows are dropped and counted: a recorder
/// that fills the memory of the machine it observes is worse.
const LARGEST_QUEUE: usize = 64 << 20;

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

/// Encoded samples.
#[derive(Default)]
struct Chunk {
    words: Vec<u8>,
    rows: Vec<u8>,
    count: u64,
    first: Nanos,
    last: Nanos,
}

/// Counts that the recorder reads while its writer works.
#[derive(Debug, Default)]
struct Shared {
    written: AtomicU64,
    lost: AtomicU64,
    queued: AtomicUsize,
}

/// A run being written.
pub struct Writer {
    dir: PathBuf,
    send: Sender<Message>,
    shared: Arc<Shared>,
    thread: JoinHandle<Written>,
    words: usize,
    /// Not yet handed over.
    chunk: Chunk,
    /// Time of the last sample that was handed over.
    handed: Nanos,
    dropped: Vec<Loss>,
}

struct Written {
    journal: Journal,
    loss: Vec<Loss>,
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
        let fail = |path: &Path| {
            let path = path.display().to_string();
            move |error: io::Error| match error.kind() {
                io::ErrorKind::AlreadyExists => CreateError::Exists { path },
                _ => CreateError::Io { path, error },
            }
        };
        if let Some(parent) = dir.parent().filter(|p| !p.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(fail(parent))?;
        }
        fs::create_dir(dir).map_err(fail(dir))?;
        // An absolute path: the recorder may not depend on its working directory staying.
        let dir = fs::canonicalize(dir).map_err(fail(dir))?;
        let path = dir.join("journal");
        let started = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path);
        let started = started.and_then(|file| {
            rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            reserve(&dir);
            write_manifest(&dir, &manifest_text(manifest))?;
            Ok(file)
        });
        let file = match started {
            Ok(file) => file,
            Err(e) => {
                let _ = fs::remove_dir_all(&dir);
                return Err(fail(&path)(e));
            }
        };
        let (send, receive) = channel();
        let shared = Arc::new(Shared::default());
        let thread = {
            let (shared, dir) = (shared.clone(), dir.clone());
            std::thread::Builder::new()
                .name("writer".into())
                // The default would be 2 MiB of address space; 512 KiB is plenty here.
                .stack_size(512 << 10)
                .spawn(move || write_all(Journal::new(file), &dir, &receive, &shared))
        };
        let thread = thread.map_err(|error| CreateError::Io {
            path: "a thread".into(),
            error,
        })?;
        Ok(Writer {
            dir,
            send,
            shared,
            thread,
            words: 0,
            chunk: Chunk::default(),
            handed: Nanos::MIN,
            dropped: Vec::new(),
        })
    }

    /// Where the run is.
    pub fn dir(&self) -> &Path {
        &self.dir
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

    /// Takes the rows of `sink`, a sample ending at `time`, and empties it. Never waits for
    /// the disk.
    pub fn append(&mut self, sink: &mut Sink, time: Nanos) {
        let chunk = &mut self.chunk;
        encode_words(sink, self.words, &mut chunk.words);
        self.words = sink.words.texts().len();
        let count = sink.filled().map(|(_, rows)| rows.len() as u64).sum();
        if chunk.count == 0 {
            chunk.first = time;
        }
        chunk.last = time;
        let before = chunk.rows.len();
        if self.shared.queued.load(Relaxed) < LARGEST_QUEUE {
            encode_rows(sink, &mut chunk.rows);
            chunk.count += count;
        } else {
            let why = "the disk was too slow to take it";
            lose(&mut self.dropped, &self.shared, &[(time, count)], why);
        }
        sink.clear();
        let added = chunk.rows.len() - before;
        self.shared.queued.fetch_add(added, Relaxed);
        if time.saturating_sub(self.handed) >= HAND_OVER {
            self.handed = time;
            self.hand_over();
        }
    }

    /// Gives the writer what was encoded.
    fn hand_over(&mut self) {
        if self.chunk.rows.is_empty() && self.chunk.words.is_empty() {
            return;
        }
        // The next will be about as long: room for it, instead of growing step by step.
        let room = self.chunk.rows.len() + self.chunk.rows.len() / 8;
        let chunk = std::mem::take(&mut self.chunk);
        self.chunk.rows.reserve(room);
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
        let _ = fs::remove_dir_all(&self.dir);
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
        manifest.loss = self.dropped;
        manifest.loss.extend(written.loss);
        manifest.own.written_bytes = written.journal.written();
        let made_again = !self.dir.join("journal").exists();
        let path = if made_again {
            make_again(&self.dir, &written.journal)?
        } else {
            self.dir
        };
        let _ = fs::remove_file(path.join(".reserve"));
        let mut not_sealed = None;
        match seal::seal(written.journal.file(), &path) {
            Ok(tables) => {
                manifest.tables = tables;
                manifest.state = State::Complete;
            }
            Err(e) => not_sealed = Some(e.to_string()),
        }
        match write_manifest(&path, &manifest_text(&manifest)) {
            Ok(()) if manifest.state == State::Complete => {
                // Tables and manifest are durable; the journal is a second copy.
                fs::remove_file(path.join("journal"))?;
            }
            Ok(()) => {}
            Err(e) => not_sealed = Some(format!("writing run.json: {e}")),
        }
        Ok(Finished {
            path,
            made_again,
            not_sealed,
            manifest,
        })
    }
}

/// Takes up room that the final manifest will need; best effort.
fn reserve(dir: &Path) {
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(dir.join(".reserve"));
    if let Ok(file) = file {
        let _ = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, RESERVE);
    }
}

/// The run directory is gone: makes it again and copies the journal, which is still open.
fn make_again(dir: &Path, journal: &Journal) -> io::Result<PathBuf> {
    let parent = dir.parent().filter(|p| p.is_dir());
    let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
    let name = dir.file_name().unwrap_or_default();
    let path = parent.join(name);
    fs::create_dir_all(&path)?;
    let mut copy = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path.join("journal"))?;
    let mut whole = journal.file().try_clone()?;
    io::Seek::rewind(&mut whole)?;
    io::copy(&mut whole, &mut copy)?;
    Ok(path)
}

fn manifest_text(manifest: &Manifest) -> String {
    let mut text = serde_json::to_string_pretty(manifest).expect("a manifest is plain data");
    text.push('\n');
    text
}

/// Writes `run.json` so that there is always a whole one.
fn write_manifest(dir: &Path, text: &str) -> io::Result<()> {
    write_durably(&dir.join("run.json"), text.as_bytes())
}

/// Writes a file beside `path`, makes it durable and gives it its name.
pub fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_extension("part");
    let result = (|| {
        let mut file = File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&part)?;
        io::Write::write_all(&mut file, bytes)?;
        file.sync_data()?;
        fs::rename(&part, path)
    })();
    if result.is_err() {
        let _ = fs::remove_file(&part);
    }
    result
}

fn lose(loss: &mut Vec<Loss>, shared: &Shared, rows: &[(Nanos, u64)], why: &str) {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return;
    };
    let count: u64 = rows.iter().map(|r| r.1).sum();
    shared.lost.fetch_add(count, Relaxed);
    match loss.last_mut() {
        Some(l) if l.why == why => {
            l.to = last.0;
            l.rows += count;
        }
        _ => loss.push(Loss {
            from: first.0,
            to: last.0,
            rows: count,
            why: why.into(),
        }),
    }
}

/// The writer thread: appends what comes, commits once a second and at the end.
fn write_all(
    mut journal: Journal,
    dir: &Path,
    receive: &Receiver<Message>,
    shared: &Shared,
) -> Written {
    let mut loss = Vec::new();
    let mut pending: Vec<(Nanos, u64)> = Vec::new();
    #[expect(
        clippy::disallowed_methods,
        reason = "paces durability; no result depends on it"
    )]
    let now = Instant::now;
    let mut due = now();
    let mut manifest: Option<String> = None;
    loop {
        let wait = if pending.is_empty() && manifest.is_none() {
            receive.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            receive.recv_timeout(due.saturating_duration_since(now()))
        };
        let ended = match wait {
            Ok(Message::Manifest(text)) => {
                manifest = Some(text);
                false
            }
            Ok(Message::Rows(chunk)) => {
                shared.queued.fetch_sub(chunk.rows.len(), Relaxed);
                pending.extend([(chunk.first, 0), (chunk.last, chunk.count)]);
                if let Err(e) = journal.append(&chunk.words, &chunk.rows) {
                    lose(
                        &mut loss,
                        shared,
                        &std::mem::take(&mut pending),
                        &e.to_string(),
                    );
                }
                false
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => true,
        };
        if !ended && now() < due {
            continue;
        }
        due = now() + DURABLE_EVERY;
        let rows = std::mem::take(&mut pending);
        if let Err(e) = journal.commit() {
            lose(&mut loss, shared, &rows, &e.to_string());
        }
        shared.written.store(journal.written(), Relaxed);
        if let Some(text) = manifest.take() {
            // A manifest that cannot be written now is written at the end.
            let _ = write_manifest(dir, &text);
        }
        if ended {
            return Written { journal, loss };
        }
    }
}
