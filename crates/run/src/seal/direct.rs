//! Sealing without a journal: rows that can be had again if the program dies.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::samples::Samples;
use super::worker::{Piece, Worker, clear};
use super::{Amounts, SealError, Sealed, Sealing};
use crate::Sink;
use crate::catalog::{self, Detail, Subject, Table};
use crate::rows::{Rows, TableId};

/// Rows of a table, in all, that are worth starting a thread for.
const WORTH_A_THREAD: usize = 4096;

/// Tables being written, large ones by a thread each: columns are encoded while who makes the
/// rows makes the next. Dropped before it is finished, it removes what it wrote.
pub struct Direct {
    dir: PathBuf,
    /// By the place of the table in the catalog.
    open: Vec<Place>,
    paths: Vec<PathBuf>,
}

/// Where a table is written.
enum Place {
    None,
    /// With how many rows so far.
    Here(Box<Writing>, usize),
    There(Worker),
}

/// A table being written.
pub(super) enum Writing {
    Samples(Samples),
    Events(Sealing),
}

impl Writing {
    fn new(
        dir: &Path,
        subject: &'static Subject,
        table: &'static Table,
    ) -> Result<Writing, SealError> {
        Ok(if table.detail == Detail::Event {
            Writing::Events(Sealing::new(dir, subject, table, Amounts::Fractions)?)
        } else {
            Writing::Samples(Samples::new(dir, subject, table)?)
        })
    }

    fn path(&self) -> &Path {
        match self {
            Writing::Samples(samples) => samples.path(),
            Writing::Events(events) => &events.path,
        }
    }

    /// Takes rows; `texts` are all words so far.
    pub(super) fn push(
        &mut self,
        (alike, rows): &Piece,
        texts: &[Arc<str>],
    ) -> Result<(), SealError> {
        match self {
            Writing::Samples(samples) => {
                for block in alike {
                    samples.push_alike(block, texts)?;
                }
                samples.push(rows, texts)
            }
            Writing::Events(events) => events.push_rows(rows, texts),
        }
    }

    pub(super) fn finish(self, texts: &[Arc<str>]) -> Result<(&'static str, u64, u32), SealError> {
        match self {
            Writing::Samples(samples) => samples.finish(texts),
            Writing::Events(events) => events.finish(texts),
        }
    }
}

impl Direct {
    /// Writes tables into `dir`, which exists.
    pub fn new(dir: &Path) -> Direct {
        Direct {
            dir: dir.to_owned(),
            open: catalog::tables().map(|_| Place::None).collect(),
            paths: Vec::new(),
        }
    }

    /// Takes the rows of `sink` and empties it. Its words keep their numbers from call to
    /// call.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn take(&mut self, sink: &mut Sink) -> Result<(), SealError> {
        for ((place, tables), id) in self.open.iter_mut().zip(catalog::tables()).zip(0..) {
            let id = TableId(id);
            let count = sink.count(id);
            if count == 0 {
                continue;
            }
            if matches!(place, Place::None) {
                let writing = Writing::new(&self.dir, tables.0, tables.1)?;
                self.paths.push(writing.path().to_owned());
                *place = Place::Here(Box::new(writing), 0);
            }
            *place = match std::mem::replace(place, Place::None) {
                Place::Here(writing, rows) if rows + count >= WORTH_A_THREAD => {
                    Place::There(Worker::start(*writing)?)
                }
                Place::Here(writing, rows) => Place::Here(writing, rows + count),
                other => other,
            };
            let fresh = || (Vec::new(), Rows::new(tables.0, tables.1));
            match place {
                Place::None => {}
                Place::Here(writing, _) => {
                    let mut rows = fresh();
                    sink.exchange(id, &mut rows);
                    writing.push(&rows, sink.words.texts())?;
                    clear(&mut rows);
                    sink.exchange(id, &mut rows);
                }
                Place::There(worker) => {
                    let new = worker.unknown(sink.words.texts());
                    let mut rows = worker.empty().unwrap_or_else(fresh);
                    sink.exchange(id, &mut rows);
                    worker.push(rows, new)?;
                }
            }
        }
        Ok(())
    }

    /// Finishes the files; `sink` has the words.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn finish(mut self, sink: &Sink) -> Result<Sealed, SealError> {
        let texts = sink.words.texts();
        let mut sealed = Sealed::default();
        let mut add = |(name, rows, footer): (&str, u64, u32)| {
            sealed.tables.insert(name.into(), rows);
            sealed.footers.insert(name.into(), footer);
        };
        let open = std::mem::take(&mut self.open);
        let mut workers = Vec::new();
        let mut here = Vec::new();
        for place in open {
            match place {
                Place::None => {}
                Place::Here(writing, _) => here.push(writing),
                Place::There(mut worker) => {
                    worker.end(texts)?;
                    workers.push(worker);
                }
            }
        }
        for writing in here {
            add(writing.finish(texts)?);
        }
        for worker in workers {
            add(worker.finished()?);
        }
        self.paths.clear();
        Ok(sealed)
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        // Threads end first.
        self.open.clear();
        for path in &self.paths {
            let _ = std::fs::remove_file(path);
            let _ = std::fs::remove_file(path.with_extension(""));
        }
    }
}
