//! Sealing without a journal: rows that can be had again if the program dies.

use std::path::{Path, PathBuf};

use super::{Amounts, SealError, Sealed, Sealing, finish_all};
use crate::{Sink, catalog};

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
        for (id, rows) in sink.filled() {
            let place = &mut self.open[usize::from(id.0)];
            let sealing = match place {
                Some(sealing) => sealing,
                None => {
                    let Some((subject, table)) = catalog::tables().nth(usize::from(id.0)) else {
                        continue;
                    };
                    place.insert(Sealing::new(&self.dir, subject, table, self.amounts)?)
                }
            };
            sealing.push_rows(rows, sink.words.texts())?;
        }
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
