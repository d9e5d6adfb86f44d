//! Sealing without a journal: rows that can be had again if the program dies.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

use super::{Amounts, SealError, Sealed, Sealing, finish_all};
use crate::rows::TableId;
use crate::{Sink, catalog};

/// Rows of a table that are worth starting a thread for.
const WORTH_A_THREAD: usize = 4096;

/// Tables being written. Dropped before it is finished, it removes what it wrote.
pub struct Direct {
    dir: PathBuf,
    amounts: Amounts,
    /// By the place of the table in the catalog.
    open: Vec<Option<Sealing>>,
}

impl Direct {
    /// Writes tables into `dir`, which exists.
    pub fn new(dir: &Path, amounts: Amounts) -> Direct {
        Direct {
            dir: dir.to_owned(),
            amounts,
            open: catalog::tables().map(|_| None).collect(),
        }
    }

    /// Takes the rows of `sink` and empties it. Its words keep their numbers from call to
    /// call.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn take(&mut self, sink: &mut Sink) -> Result<(), SealError> {
        for (id, _) in sink.filled() {
            let place = &mut self.open[usize::from(id.0)];
            if place.is_none()
                && let Some((subject, table)) = catalog::tables().nth(usize::from(id.0))
            {
                *place = Some(Sealing::new(&self.dir, subject, table, self.amounts)?);
            }
        }
        let words = sink.words.texts();
        let all = self.open.iter_mut().zip(0..);
        let filled = all.filter_map(|(sealing, id)| {
            let rows = sink.rows(TableId(id));
            Some((sealing.as_mut()?, rows)).filter(|_| !rows.is_empty())
        });
        // Columns are encoded and compressed table by table; each large one by a thread.
        std::thread::scope(|scope| {
            let mut workers = Vec::new();
            for (sealing, rows) in filled {
                if rows.len() >= WORTH_A_THREAD {
                    workers.push(scope.spawn(|| sealing.push_rows(rows, words)));
                } else {
                    sealing.push_rows(rows, words)?;
                }
            }
            for worker in workers {
                worker.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            }
            Ok::<(), SealError>(())
        })?;
        sink.clear();
        Ok(())
    }

    /// Finishes the files; `sink` has the words.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn finish(mut self, sink: &Sink) -> Result<Sealed, SealError> {
        let open = std::mem::take(&mut self.open);
        finish_all(open.into_iter().flatten(), sink.words.texts(), None)
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        for sealing in self.open.iter().flatten() {
            let _ = std::fs::remove_file(&sealing.path);
        }
    }
}
