//! Opening and reading a run, sealed or not.
//!
//! A sealed run is read from Parquet, a million rows at a time and in parallel; a run that
//! is still being recorded, or whose recorder was killed, from its journal. Readers see no
//! difference.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampNanosecondType};
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;
use rustix::fs::FlockOperation;

use crate::manifest::{FORMAT, Manifest, State};
use crate::{Nanos, catalog, journal, seal, sums};

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
}

/// Rows of a table, some columns of them.
pub struct Batch<'a> {
    /// End of the interval, one a row; never falling within a part.
    pub times: &'a [Nanos],
    /// True length of the interval in seconds, one a row.
    pub intervals: &'a [f64],
    /// The columns asked for, in the order asked for.
    pub columns: Vec<Values<'a>>,
}

/// Values of a column.
pub enum Values<'a> {
    /// Words: a number a row into `texts`, below zero for none.
    Words {
        /// Number a row.
        codes: &'a [i32],
        /// What the numbers mean.
        texts: Texts<'a>,
    },
    /// Numbers; NaN is "not known".
    Numbers(Cow<'a, [f64]>),
}

/// What the codes of a word column mean.
#[derive(Clone, Copy)]
pub enum Texts<'a> {
    /// The dictionary of one batch.
    Batch(&'a StringArray),
    /// The words of a journal; a code keeps its meaning from batch to batch.
    Journal(&'a [Arc<str>]),
}

impl<'a> Texts<'a> {
    /// The text of `code`; empty for none.
    pub fn get(&self, code: i32) -> &'a str {
        let Ok(at) = usize::try_from(code) else {
            return "";
        };
        match self {
            Texts::Batch(texts) if at < texts.len() => texts.value(at),
            Texts::Journal(words) => words.get(at).map_or("", |w| w),
            Texts::Batch(_) => "",
        }
    }

    /// One more than the largest code.
    pub fn len(&self) -> usize {
        match self {
            Texts::Batch(texts) => texts.len(),
            Texts::Journal(words) => words.len(),
        }
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether codes mean the same in the next batch.
    pub fn are_lasting(&self) -> bool {
        matches!(self, Texts::Journal(_))
    }
}

/// A part of a table that can be read on its own.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Row group; always 0 for a journal.
    number: usize,
    /// Least and greatest time, where known.
    pub range: Option<(Nanos, Nanos)>,
}

/// A table ready to be read.
pub struct Opened<'r> {
    run: &'r Run,
    name: &'static str,
    /// The footer of a sealed table.
    sealed: Option<ArrowReaderMetadata>,
    /// Its parts, in order of time.
    pub parts: Vec<Part>,
}

impl Run {
    /// Opens the run in directory `path`.
    pub fn open(path: &Path) -> Result<Run, ReadError> {
        let manifest = Run::read_manifest(path)?;
        let mut run = Run {
            path: path.to_owned(),
            life: Life::Complete,
            journal: None,
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
        if let Some(ended) = self.manifest.ended {
            return ended;
        }
        let mut last = self.manifest.started;
        if let Some(file) = &self.journal {
            let _ = journal::read(
                file,
                |table| table == "self",
                |block, _| last = block.times.iter().copied().fold(last, i64::max),
            );
        }
        last
    }

    /// What of the journal cannot be read, if it is damaged, its last block was cut, or it is
    /// empty.
    ///
    /// Not asked of a run that still grows: its last block may be on its way.
    pub fn damage(&self) -> Option<String> {
        let file = self.journal.as_ref().filter(|_| self.life != Life::Live)?;
        let mut rows = 0;
        let end = journal::read(file, |_| true, |block, _| rows += block.times.len());
        match end {
            Ok(journal::End::Whole) if rows == 0 => Some(format!(
                "the journal of {} has no rows: the recorder ended before its first sample",
                shown(&self.path)
            )),
            Ok(journal::End::Whole) => None,
            Ok(journal::End::Cut) => Some(format!(
                "the journal of {} is damaged after {rows} rows; what came later cannot be read",
                shown(&self.path)
            )),
            Err(e) => Some(format!(
                "the journal of {} cannot be read: {e}",
                shown(&self.path)
            )),
        }
    }

    /// Names of the tables that have rows.
    pub fn tables(&self) -> Vec<String> {
        if self.journal.is_none() {
            return self.manifest.tables.keys().cloned().collect();
        }
        let mut found = std::collections::BTreeSet::new();
        if let Some(file) = &self.journal {
            let _ = journal::read(
                file,
                |_| true,
                |block, _| {
                    if !found.contains(&block.schema.name) {
                        found.insert(block.schema.name.clone());
                    }
                },
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
        if self.journal.is_some() {
            let parts = vec![Part {
                number: 0,
                range: None,
            }];
            return Ok(Some(Opened {
                run: self,
                name: table.name,
                sealed: None,
                parts,
            }));
        }
        if !self.manifest.tables.contains_key(name) {
            return Ok(None);
        }
        let file = File::open(self.table_path(name)).map_err(|e| self.table_error(name, &e))?;
        let metadata = self
            .check_footer(name, &file)
            .and_then(|()| self.load(name, &file))
            .map_err(|e| self.table_error(name, &e))?;
        let parts = (0..metadata.metadata().num_row_groups())
            .map(|number| Part {
                number,
                range: time_range(&metadata, number),
            })
            .collect();
        Ok(Some(Opened {
            run: self,
            name: table.name,
            sealed: Some(metadata),
            parts,
        }))
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

    /// The footer of a sealed table, with word columns to be read as dictionaries.
    fn load(&self, name: &str, file: &File) -> Result<ArrowReaderMetadata, ParquetError> {
        let plain = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())?;
        let fields: Vec<Field> = plain
            .schema()
            .fields()
            .iter()
            .map(|f| match f.data_type() {
                DataType::Utf8 => Field::new(f.name(), seal::word_type(), f.is_nullable()),
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

fn time_range(metadata: &ArrowReaderMetadata, group: usize) -> Option<(Nanos, Nanos)> {
    match metadata
        .metadata()
        .row_group(group)
        .column(0)
        .statistics()?
    {
        Statistics::Int64(s) => Some((*s.min_opt()?, *s.max_opt()?)),
        _ => None,
    }
}

impl Opened<'_> {
    /// Reads one part, batch by batch.
    ///
    /// A column that this run's table does not have (it is of another version) reads as
    /// not known.
    pub fn read(
        &self,
        part: &Part,
        columns: &[&str],
        mut visit: impl FnMut(&Batch<'_>),
    ) -> Result<(), ReadError> {
        match &self.sealed {
            Some(metadata) => self
                .read_sealed(metadata, part, columns, &mut visit)
                .map_err(|e| self.run.table_error(self.name, &e)),
            None => self
                .read_journal(columns, &mut visit)
                .map_err(|e| self.run.table_error(self.name, &e)),
        }
    }

    fn read_sealed(
        &self,
        metadata: &ArrowReaderMetadata,
        part: &Part,
        columns: &[&str],
        visit: &mut dyn FnMut(&Batch<'_>),
    ) -> Result<(), ParquetError> {
        // Opened for each reading: the Parquet reader seeks, and a clone of one open file would
        // share its position with the threads that read other parts.
        let file = File::open(self.run.table_path(self.name))?;
        let names: Vec<&str> = [seal::TIMESTAMP, "interval"]
            .into_iter()
            .chain(columns.iter().copied())
            .collect();
        let content = metadata.metadata();
        sums::check(&file, content, &sums::kept(content), part.number, |name| {
            names.contains(&name)
        })?;
        let mask = ProjectionMask::columns(
            metadata.metadata().file_metadata().schema_descr(),
            names.iter().copied(),
        );
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_projection(mask)
            .with_row_groups(vec![part.number])
            .with_batch_size(32 << 10)
            .build()?;
        for batch in reader {
            let batch = batch.map_err(|e| ParquetError::General(e.to_string()))?;
            visit(&borrow_batch(&batch, columns)?);
        }
        Ok(())
    }

    fn read_journal(&self, columns: &[&str], visit: &mut dyn FnMut(&Batch<'_>)) -> io::Result<()> {
        let Some(file) = &self.run.journal else {
            return Ok(());
        };
        // As sealing will store them.
        let whole: Vec<&str> = catalog::table(self.name)
            .into_iter()
            .flat_map(|(subject, table)| catalog::columns(subject, table))
            .filter(|c| matches!(c, catalog::Column::Measure(m) if seal::is_whole(m.unit, m.kind)))
            .map(|c| c.name())
            .collect();
        journal::read(
            file,
            |table| table == self.name,
            |block, words| {
                let missing = vec![f64::NAN; block.times.len()];
                let columns = columns
                    .iter()
                    .map(|&name| {
                        if let Some(i) = block.schema.words.iter().position(|c| c == name) {
                            let texts = Texts::Journal(words);
                            return Values::Words {
                                codes: &block.words[i],
                                texts,
                            };
                        }
                        match block.schema.numbers.iter().position(|c| c == name) {
                            Some(i) if whole.contains(&name) => Values::Numbers(
                                block.numbers[i].iter().map(|v| v.round()).collect(),
                            ),
                            Some(i) => Values::Numbers(Cow::Borrowed(&block.numbers[i])),
                            None => Values::Numbers(Cow::Owned(missing.clone())),
                        }
                    })
                    .collect();
                visit(&Batch {
                    times: &block.times,
                    intervals: &block.intervals,
                    columns,
                });
            },
        )?;
        Ok(())
    }
}

fn borrow_batch<'b>(batch: &'b RecordBatch, columns: &[&str]) -> Result<Batch<'b>, ParquetError> {
    let wrong = |name: &str| ParquetError::General(format!("column `{name}` has another type"));
    let column = |name: &str| batch.column_by_name(name).map(AsRef::as_ref);
    let times = column(seal::TIMESTAMP)
        .and_then(|c: &dyn Array| c.as_primitive_opt::<TimestampNanosecondType>())
        .ok_or_else(|| wrong(seal::TIMESTAMP))?;
    let intervals = column("interval")
        .and_then(|c: &dyn Array| c.as_primitive_opt::<Float64Type>())
        .ok_or_else(|| wrong("interval"))?;
    let mut values = Vec::with_capacity(columns.len());
    for name in columns {
        values.push(match column(name) {
            Some(array) => borrow_column(array).ok_or_else(|| wrong(name))?,
            None => Values::Numbers(Cow::Owned(vec![f64::NAN; batch.num_rows()])),
        });
    }
    Ok(Batch {
        times: times.values(),
        intervals: intervals.values(),
        columns: values,
    })
}

fn borrow_column(array: &dyn Array) -> Option<Values<'_>> {
    if let Some(words) = array.as_dictionary_opt::<Int32Type>() {
        let texts = words.values().as_string_opt::<i32>()?;
        return Some(Values::Words {
            codes: words.keys().values(),
            texts: Texts::Batch(texts),
        });
    }
    if let Some(whole) = array.as_primitive_opt::<Int64Type>() {
        let mut values: Vec<f64> = whole.values().iter().map(|&v| v as f64).collect();
        unknown(array, &mut values);
        return Some(Values::Numbers(Cow::Owned(values)));
    }
    let real = array.as_primitive_opt::<Float64Type>()?;
    if array.null_count() == 0 {
        return Some(Values::Numbers(Cow::Borrowed(real.values())));
    }
    let mut values = real.values().to_vec();
    unknown(array, &mut values);
    Some(Values::Numbers(Cow::Owned(values)))
}

/// Makes the nulls of `array` NaN in `values`.
fn unknown(array: &dyn Array, values: &mut [f64]) {
    if array.null_count() > 0 {
        for (i, value) in values.iter_mut().enumerate() {
            if array.is_null(i) {
                *value = f64::NAN;
            }
        }
    }
}
