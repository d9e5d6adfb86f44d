//! Opening and reading a run, sealed or not.
//!
//! A sealed run is read from Parquet, a million rows at a time and in parallel; a run that
//! is still being recorded, or whose recorder was killed, from its journal. Readers see no
//! difference.

mod batch;
mod columns;
mod table;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;
use rustix::fs::FlockOperation;

use crate::manifest::{FORMAT, Manifest, State};
use crate::tail::Snapshot;
use crate::{Nanos, catalog, journal, seal, sums};

pub use batch::{Batch, Texts, Values};
pub use table::{Opened, Part};

/// Why a run, or a table of it, could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The path is no run directory.
    #[error(
        "{path} is not a run: {why}\nhint: `sonde list DIR` shows the runs of a directory; `sonde record` makes one"
    )]
    NotARun {
        /// The path given.
        path: String,
        /// What is missing.
        why: String,
    },
    /// The run was written by a newer version.
    #[error(
        "{path} has run format {found}; this version reads up to {FORMAT}\nhint: open it with Sonde {sonde} or newer"
    )]
    Newer {
        /// The path given.
        path: String,
        /// Its format.
        found: u64,
        /// The version that wrote it.
        sonde: String,
    },
    /// `run.json` cannot be understood.
    #[error(
        "{path}/run.json is damaged: {why}\nhint: the tables beside it are ordinary Parquet files"
    )]
    Manifest {
        /// The path given.
        path: String,
        /// What the parser said.
        why: String,
    },
    /// One table is damaged; the others open.
    #[error(
        "table {table} of {path} is damaged: {why}\nhint: the run's other tables can still be read"
    )]
    Table {
        /// The path given.
        path: String,
        /// Name of the table.
        table: String,
        /// What the parser said.
        why: String,
    },
    /// The run was not sealed, and what was recorded is gone.
    #[error(
        "{path} has no journal: {why}\nhint: the run was not sealed, so its rows were only there"
    )]
    Journal {
        /// The path given.
        path: String,
        /// What the operating system said.
        why: String,
    },
    /// The operating system refused.
    #[error("cannot read {path}: {error}\nhint: look at its permissions, or ask who owns it")]
    Io {
        /// The file.
        path: String,
        /// What it said.
        error: io::Error,
    },
}

/// Whether the recorder of a run is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Sealed.
    Complete,
    /// A recorder is at work.
    Live,
    /// The recorder was killed before it could seal it.
    Killed,
    /// The recorder ended but could not seal it: the disk was full.
    Unsealed,
}

/// An opened run directory.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    /// What `run.json` says.
    pub manifest: Manifest,
    /// Whether its recorder is done.
    pub life: Life,
    journal: Option<File>,
    /// What is in memory only, of an observation that was not recorded.
    tail: Option<Snapshot>,
}

/// What of a journal cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// It, for a person.
    pub text: String,
    /// Whether it is damage: a recorder that is killed may leave its last block cut, or none.
    pub is_damage: bool,
}

impl Run {
    /// What an observation in memory has now.
    pub(crate) fn of_tail(manifest: Manifest, tail: Snapshot) -> Run {
        Run {
            path: PathBuf::new(),
            manifest,
            life: Life::Live,
            journal: None,
            tail: Some(tail),
        }
    }

    /// What is in memory, if that is where it is.
    pub(crate) fn tail(&self) -> Option<&Snapshot> {
        self.tail.as_ref()
    }

    /// Whether it is an observation in memory: there is no directory.
    pub fn is_in_memory(&self) -> bool {
        self.tail.is_some()
    }

    /// Opens the run in directory `path`.
    pub fn open(path: &Path) -> Result<Run, ReadError> {
        let manifest = Run::read_manifest(path)?;
        let mut run = Run {
            path: path.to_owned(),
            life: Life::Complete,
            journal: None,
            tail: None,
            manifest,
        };
        if run.manifest.state == State::Complete {
            return Ok(run);
        }
        let opened = run.open_journal();
        if run.life != Life::Live {
            // The recorder may have sealed the run since its manifest was read.
            run.manifest = Run::read_manifest(path)?;
            if run.manifest.state == State::Complete {
                (run.life, run.journal) = (Life::Complete, None);
                return Ok(run);
            }
            if run.manifest.ended.is_some() {
                run.life = Life::Unsealed;
            }
        }
        opened.map(|()| run)
    }

    /// How its amounts are stored.
    fn amounts(&self) -> seal::Amounts {
        seal::Amounts::of(&self.manifest)
    }

    fn read_manifest(path: &Path) -> Result<Manifest, ReadError> {
        let not_a_run = |why: &str| ReadError::NotARun {
            path: shown(path),
            why: why.into(),
        };
        let file = path.join("run.json");
        let text = std::fs::read(&file).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if !path.exists() => not_a_run("there is no such directory"),
            io::ErrorKind::NotADirectory => not_a_run("it is not a directory"),
            io::ErrorKind::NotFound => not_a_run("it has no run.json"),
            _ => ReadError::Io {
                path: shown(&file),
                error,
            },
        })?;
        let damaged = |e: serde_json::Error| ReadError::Manifest {
            path: shown(path),
            why: e.to_string(),
        };
        let value: serde_json::Value = serde_json::from_slice(&text).map_err(damaged)?;
        match value.get("format").and_then(serde_json::Value::as_u64) {
            None => return Err(not_a_run("its run.json is of something else")),
            Some(found) if found > u64::from(FORMAT) => {
                let sonde = value
                    .get("sonde")
                    .and_then(|v| v.as_str())
                    .unwrap_or("?")
                    .into();
                return Err(ReadError::Newer {
                    path: shown(path),
                    found,
                    sonde,
                });
            }
            Some(_) => {}
        }
        serde_json::from_value(value).map_err(damaged)
    }

    fn open_journal(&mut self) -> Result<(), ReadError> {
        let path = self.path.join("journal");
        self.life = Life::Killed;
        let file = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ReadError::Journal {
                path: shown(&self.path),
                why: error.to_string(),
            },
            _ => ReadError::Io {
                path: shown(&path),
                error,
            },
        })?;
        // The recorder holds the lock as long as it lives.
        let free = rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_ok();
        if free {
            let _ = rustix::fs::flock(&file, FlockOperation::Unlock);
        } else {
            self.life = Life::Live;
        }
        self.journal = Some(file);
        Ok(())
    }

    /// Where the run is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// When the run ends: as recorded, or the last time in its journal.
    pub fn ended(&self) -> Nanos {
        if let Some(tail) = &self.tail {
            return tail.ended(self.manifest.started);
        }
        if let Some(ended) = self.manifest.ended {
            return ended;
        }
        // A recorder has a row of its own in each sample, and its table is the smallest. An
        // import has none.
        let last_of = |wanted: &dyn Fn(&str) -> bool| {
            let mut last = None;
            if let Some(file) = &self.journal {
                let _ = journal::read(
                    file,
                    |table| wanted(table).then_some(journal::Columns::Only(&[])),
                    |block, _| last = block.times.iter().copied().max().max(last),
                );
            }
            last
        };
        let last = last_of(&|table| table == "self").or_else(|| last_of(&|_| true));
        last.map_or(self.manifest.started, |last| {
            last.max(self.manifest.started)
        })
    }

    /// How it ended, in a few words.
    pub fn ending(&self) -> String {
        let command = self.manifest.command.as_ref();
        let end = match (
            command.and_then(|c| c.status),
            command.and_then(|c| c.signal),
        ) {
            (Some(0), _) | (None, None) => "ok".to_owned(),
            (Some(status), _) => format!("exit {status}"),
            (None, Some(signal)) => format!("signal {signal}"),
        };
        match self.life {
            Life::Live => "recording".into(),
            Life::Killed => "recorder killed".into(),
            Life::Unsealed => format!("{end}, not sealed"),
            Life::Complete => end,
        }
    }

    /// What of the journal cannot be read, if it is damaged, its last block was cut, or it is
    /// empty.
    pub fn damage(&self) -> Option<String> {
        self.missing().map(|missing| missing.text)
    }

    /// What of the journal cannot be read, and whether that is more than the end of a recorder
    /// that was killed.
    ///
    /// Not asked of a run that still grows: its last block may be on its way.
    pub fn missing(&self) -> Option<Missing> {
        let file = self.journal.as_ref().filter(|_| self.life != Life::Live)?;
        let mut rows = 0;
        let columns = journal::Columns::Only(&[]);
        let count = |block: journal::RowsBlock<'_>, _: &[Arc<str>]| rows += block.times.len();
        let end = journal::read(file, |_| Some(columns), count);
        let path = shown(&self.path);
        let (text, is_damage) = match end {
            Ok(journal::End::Whole) if rows == 0 => (
                format!(
                    "the journal of {path} has no rows: the recorder ended before its first sample"
                ),
                false,
            ),
            Ok(journal::End::Whole) => return None,
            // One that was ended was written to its end.
            Ok(journal::End::Cut) if self.life == Life::Killed => (
                format!(
                    "the journal of {path} is damaged after {rows} rows, or was cut there when its \
                     recorder was killed; what came later cannot be read"
                ),
                false,
            ),
            Ok(_) => (
                format!(
                    "the journal of {path} is damaged after {rows} rows; what came later cannot be \
                     read\nhint: what came before is whole, and answers are of it alone"
                ),
                true,
            ),
            Err(e) => (format!("the journal of {path} cannot be read: {e}"), true),
        };
        Some(Missing { text, is_damage })
    }

    /// Names of the tables that have rows.
    pub fn tables(&self) -> Vec<String> {
        if let Some(tail) = &self.tail {
            return tail.tables();
        }
        if self.journal.is_none() {
            return self.manifest.tables.keys().cloned().collect();
        }
        let mut found = std::collections::BTreeSet::new();
        if let Some(file) = &self.journal {
            let _ = journal::read(
                file,
                |table| {
                    if !found.contains(table) {
                        found.insert(table.to_owned());
                    }
                    None
                },
                |_, _| {},
            );
        }
        found.into_iter().collect()
    }

    fn table_path(&self, table: &str) -> PathBuf {
        self.path.join(format!("{table}.parquet"))
    }

    fn table_error(&self, table: &str, why: &dyn std::fmt::Display) -> ReadError {
        ReadError::Table {
            path: shown(&self.path),
            table: table.into(),
            // The library puts the name of its own error type before ours.
            why: why.to_string().trim_start_matches("External: ").into(),
        }
    }

    /// Opens a table; `None` when the run does not have it.
    pub fn table(&self, name: &str) -> Result<Option<Opened<'_>>, ReadError> {
        let Some((_, table)) = catalog::table(name) else {
            return Ok(None);
        };
        if let Some(tail) = &self.tail {
            return Ok(Some(Opened::tail(self, table.name, tail.parts(table.name))));
        }
        if self.journal.is_some() {
            return Ok(Some(Opened::journal(self, table.name)));
        }
        if !self.manifest.tables.contains_key(name) {
            return Ok(None);
        }
        let path = self.table_path(name);
        let file = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => ReadError::Io {
                path: shown(&path),
                error,
            },
            _ => self.table_error(name, &error),
        })?;
        let metadata = self
            .check_footer(name, &file)
            .and_then(|()| self.load(name, &file))
            .map_err(|e| self.table_error(name, &e))?;
        Ok(Some(Opened::sealed(self, table, metadata)))
    }

    fn check_footer(&self, name: &str, file: &File) -> Result<(), ParquetError> {
        let Some(&sum) = self.manifest.footers.get(name) else {
            return Ok(());
        };
        if sums::of_footer(file)? == sum {
            Ok(())
        } else {
            let text = "the checksum of its footer is wrong";
            Err(ParquetError::General(text.into()))
        }
    }

    /// The footer of a sealed table, with word columns to be read as dictionaries, and
    /// decimals as the whole numbers that they are stored as.
    fn load(&self, name: &str, file: &File) -> Result<ArrowReaderMetadata, ParquetError> {
        let plain = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())?;
        let fields: Vec<Field> = plain
            .schema()
            .fields()
            .iter()
            .map(|f| match f.data_type() {
                DataType::Utf8 => Field::new(f.name(), seal::word_type(), f.is_nullable()),
                DataType::Decimal128(digits, decimals) if *digits <= 18 => {
                    let narrow = DataType::Decimal64(*digits, *decimals);
                    Field::new(f.name(), narrow, f.is_nullable())
                }
                _ => f.as_ref().clone(),
            })
            .collect();
        let schema = Schema::new_with_metadata(fields, plain.schema().metadata().clone());
        let rows: i64 = plain
            .metadata()
            .row_groups()
            .iter()
            .map(parquet::file::metadata::RowGroupMetaData::num_rows)
            .sum();
        if self
            .manifest
            .tables
            .get(name)
            .is_some_and(|&n| n != rows as u64)
        {
            return Err(ParquetError::General(format!(
                "it has {rows} rows, not as recorded"
            )));
        }
        let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
        ArrowReaderMetadata::try_new(plain.metadata().clone(), options)
    }
}

/// A path for one line of a message: its name may have anything in it.
fn shown(path: &Path) -> String {
    path.display()
        .to_string()
        .replace(char::is_control, "\u{fffd}")
}
