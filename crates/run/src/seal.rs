//! Sealing: a journal becomes one Parquet file a table.
//!
//! Any Parquet reader reads them. Choices: zstd; words and repeated numbers by dictionary
//! (their runs take almost nothing); `timestamp` as differences; row groups of a million rows, so
//! that a query can read them in parallel; no statistics or page indexes, which at a few
//! hundred rows would be larger than the data, except for `timestamp`.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, types::Int32Type,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::catalog::{self, Column, Kind};
use crate::journal::{self, End, RowsBlock};
use crate::sums;
use crate::{Nanos, Subject, Table, Unit};

/// The column with the end of each row's interval. Not `time`: that is a measure of several
/// subjects.
pub const TIMESTAMP: &str = "timestamp";

/// Rows in a row group.
const ROW_GROUP: usize = 1 << 20;

/// Rows gathered before they go to the Parquet writer.
const GATHER: usize = 8192;

/// Why sealing failed; the journal is still there.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// Reading the journal or writing a file failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The journal has less than was written to it.
    #[error("the journal is damaged")]
    Damaged,
    /// The Parquet writer failed.
    #[error("writing {table}.parquet: {error}")]
    Parquet {
        /// The table.
        table: String,
        /// What the writer said.
        error: ParquetError,
    },
}

/// Whether values of `measure` are stored as whole numbers.
pub fn is_whole(unit: Unit, kind: Kind) -> bool {
    unit.is_whole() && (kind == Kind::Sum || unit == Unit::Bytes)
}

/// The Arrow type of [`TIMESTAMP`].
pub fn time_type() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))
}

/// The Arrow type of word columns.
pub fn word_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The Arrow schema of a sealed table.
pub fn schema(subject: &'static Subject, table: &'static Table) -> SchemaRef {
    let mut fields = vec![
        Field::new(TIMESTAMP, time_type(), false),
        Field::new("interval", DataType::Float64, false),
    ];
    for column in catalog::columns(subject, table) {
        let (data_type, nullable) = match column {
            Column::Dimension(d) if d.number.is_none() => (word_type(), false),
            Column::Dimension(_) => (DataType::Float64, false),
            Column::Measure(m) if is_whole(m.unit, m.kind) => (DataType::Int64, true),
            Column::Measure(_) => (DataType::Float64, true),
        };
        fields.push(Field::new(column.name(), data_type, nullable));
    }
    Arc::new(Schema::new(fields))
}

/// What the file says of itself under the key `sonde`: table, subject, and unit, kind and
/// help of each column.
fn description(subject: &'static Subject, table: &'static Table) -> String {
    let mut columns = serde_json::Map::new();
    columns.insert(
        TIMESTAMP.into(),
        serde_json::json!({"kind": "time", "help": "End of the interval, UTC."}),
    );
    columns.insert(
        "interval".into(),
        serde_json::json!({"kind": "interval", "unit": "seconds", "help": "True length of the interval."}),
    );
    for column in catalog::columns(subject, table) {
        let entry = match column {
            Column::Dimension(d) => serde_json::json!({
                "kind": "dimension", "unit": d.number.map(Unit::name), "help": d.help,
            }),
            Column::Measure(m) => serde_json::json!({
                "kind": m.kind.name(), "unit": m.unit.name(), "help": m.help,
            }),
        };
        columns.insert(column.name().into(), entry);
    }
    serde_json::json!({"table": table.name, "subject": subject.name, "columns": columns})
        .to_string()
}

fn properties(
    subject: &'static Subject,
    table: &'static Table,
) -> Result<WriterProperties, ParquetError> {
    let key = KeyValue::new("sonde".into(), description(subject, table));
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(vec![key]))
        .set_column_statistics_enabled(TIMESTAMP.into(), EnabledStatistics::Chunk)
        .set_column_dictionary_enabled(TIMESTAMP.into(), false)
        .set_column_encoding(TIMESTAMP.into(), Encoding::DELTA_BINARY_PACKED);
    if table.dimensions.is_empty() {
        // One row an interval: every length is different, a dictionary would only add to it.
        builder = builder
            .set_column_dictionary_enabled("interval".into(), false)
            .set_column_encoding("interval".into(), Encoding::BYTE_STREAM_SPLIT);
    }
    Ok(builder.build())
}

/// One table on its way to Parquet.
struct Sealing {
    subject: &'static Subject,
    table: &'static Table,
    schema: SchemaRef,
    path: PathBuf,
    writer: ArrowWriter<File>,
    gathered: Gathered,
    rows: u64,
}

#[derive(Default)]
struct Gathered {
    times: Vec<Nanos>,
    intervals: Vec<f64>,
    words: Vec<Vec<i32>>,
    numbers: Vec<Vec<f64>>,
}

impl Sealing {
    fn new(
        dir: &Path,
        subject: &'static Subject,
        table: &'static Table,
    ) -> Result<Sealing, SealError> {
        let path = dir.join(format!("{}.parquet.part", table.name));
        // Read again for its checksums.
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)?;
        let schema = schema(subject, table);
        let wrap = |error| SealError::Parquet {
            table: table.name.into(),
            error,
        };
        let options = ArrowWriterOptions::new()
            .with_properties(properties(subject, table).map_err(wrap)?)
            // The Arrow schema would be over a kilobyte in every file; Parquet's own types say all.
            .with_skip_arrow_metadata(true);
        let writer =
            ArrowWriter::try_new_with_options(file, schema.clone(), options).map_err(wrap)?;
        let gathered = Gathered::default();
        Ok(Sealing {
            subject,
            table,
            schema,
            path,
            writer,
            gathered,
            rows: 0,
        })
    }

    /// Takes a block; columns are matched by name, because a journal may be of another version.
    fn push(&mut self, block: &RowsBlock<'_>, words: &[Arc<str>]) -> Result<(), SealError> {
        let n = block.times.len();
        self.rows += n as u64;
        let g = &mut self.gathered;
        g.times.extend_from_slice(&block.times);
        g.intervals.extend_from_slice(&block.intervals);
        let (mut word, mut number) = (0, 0);
        for column in catalog::columns(self.subject, self.table) {
            let is_word = matches!(column, Column::Dimension(d) if d.number.is_none());
            if is_word {
                let from = block.schema.words.iter().position(|c| c == column.name());
                if g.words.len() <= word {
                    g.words.push(Vec::new());
                }
                match from {
                    Some(i) => g.words[word].extend_from_slice(&block.words[i]),
                    None => g.words[word].resize(g.times.len(), -1),
                }
                word += 1;
            } else {
                let from = block.schema.numbers.iter().position(|c| c == column.name());
                if g.numbers.len() <= number {
                    g.numbers.push(Vec::new());
                }
                match from {
                    Some(i) => g.numbers[number].extend_from_slice(&block.numbers[i]),
                    None => g.numbers[number].resize(g.times.len(), f64::NAN),
                }
                number += 1;
            }
        }
        if self.gathered.times.len() >= GATHER {
            self.flush(words)
        } else {
            Ok(())
        }
    }

    fn flush(&mut self, words: &[Arc<str>]) -> Result<(), SealError> {
        if self.gathered.times.is_empty() {
            return Ok(());
        }
        let g = std::mem::take(&mut self.gathered);
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(TimestampNanosecondArray::from(g.times).with_timezone("UTC")),
            Arc::new(Float64Array::from(g.intervals)),
        ];
        let (mut word, mut number) = (g.words.into_iter(), g.numbers.into_iter());
        for column in catalog::columns(self.subject, self.table) {
            let array: ArrayRef = match column {
                Column::Dimension(d) if d.number.is_none() => {
                    dictionary(&word.next().unwrap_or_default(), words)
                }
                Column::Dimension(_) => {
                    Arc::new(Float64Array::from(number.next().unwrap_or_default()))
                }
                Column::Measure(m) => {
                    let values = number.next().unwrap_or_default().into_iter();
                    let known = values.map(|v| (!v.is_nan()).then_some(v));
                    if is_whole(m.unit, m.kind) {
                        Arc::new(
                            known
                                .map(|v| v.map(|v| v.round() as i64))
                                .collect::<Int64Array>(),
                        )
                    } else {
                        Arc::new(known.collect::<Float64Array>())
                    }
                }
            };
            columns.push(array);
        }
        let wrap = |error| SealError::Parquet {
            table: self.table.name.into(),
            error,
        };
        let batch = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|e| wrap(ParquetError::General(e.to_string())))?;
        self.writer.write(&batch).map_err(wrap)
    }

    /// Finishes the file and gives it its name; answers with its rows and the sum of its footer.
    fn finish(mut self, words: &[Arc<str>]) -> Result<(&'static str, u64, u32), SealError> {
        self.flush(words)?;
        let table = self.table.name;
        let wrap = |error| SealError::Parquet {
            table: table.into(),
            error,
        };
        self.writer.flush().map_err(wrap)?;
        self.writer.sync()?;
        let sums = sums::of_columns(self.writer.inner(), self.writer.flushed_row_groups())?;
        self.writer
            .append_key_value_metadata(KeyValue::new(sums::KEY.into(), sums));
        let file = self.writer.into_inner().map_err(wrap)?;
        let footer = sums::of_footer(&file)?;
        file.sync_data()?;
        fs::rename(&self.path, self.path.with_extension(""))?;
        Ok((table, self.rows, footer))
    }
}

/// What sealing made.
#[derive(Debug, Default)]
pub struct Sealed {
    /// Rows of each table.
    pub tables: BTreeMap<String, u64>,
    /// CRC-32 of the footer of each table.
    pub footers: BTreeMap<String, u32>,
}

/// Word numbers of the journal as an Arrow dictionary of only the words in this batch.
fn dictionary(codes: &[i32], words: &[Arc<str>]) -> ArrayRef {
    let mut local: HashMap<i32, i32> = HashMap::new();
    let mut texts: Vec<&str> = Vec::new();
    let keys: Vec<i32> = codes
        .iter()
        .map(|&code| {
            *local.entry(code).or_insert_with(|| {
                let text = usize::try_from(code).ok().and_then(|c| words.get(c));
                texts.push(text.map_or("", |t| t));
                texts.len() as i32 - 1
            })
        })
        .collect();
    let values = Arc::new(StringArray::from(texts));
    Arc::new(DictionaryArray::<Int32Type>::new(
        Int32Array::from(keys),
        values,
    ))
}

/// Writes the tables of the journal in `file` to `dir`.
///
/// Tables of the journal that this version's catalog does not have are left out; the caller
/// keeps the journal when the error says that not all could be written.
pub fn seal(file: &File, dir: &Path) -> Result<Sealed, SealError> {
    let mut open: HashMap<String, Sealing> = HashMap::new();
    let mut failed: Option<SealError> = None;
    let mut last_words: Vec<Arc<str>> = Vec::new();
    let end = journal::read(
        file,
        |_| true,
        |block, words| {
            if failed.is_some() {
                return;
            }
            // Words only grow, and keep their numbers from frame to frame.
            if let Some(new) = words.get(last_words.len()..) {
                last_words.extend_from_slice(new);
            }
            let Some((subject, table)) = catalog::table(&block.schema.name) else {
                return;
            };
            let sealing = match open.entry(block.schema.name.clone()) {
                std::collections::hash_map::Entry::Occupied(o) => o.into_mut(),
                std::collections::hash_map::Entry::Vacant(v) => {
                    match Sealing::new(dir, subject, table) {
                        Ok(new) => v.insert(new),
                        Err(e) => {
                            failed = Some(e);
                            return;
                        }
                    }
                }
            };
            if let Err(e) = sealing.push(&block, words) {
                failed = Some(e);
            }
        },
    )?;
    if end == End::Cut && failed.is_none() {
        failed = Some(SealError::Damaged);
    }
    let parts: Vec<PathBuf> = open.values().map(|s| s.path.clone()).collect();
    let result = finish_all(open.into_values(), &last_words, failed);
    if result.is_err() {
        for part in parts {
            let _ = fs::remove_file(&part);
            let _ = fs::remove_file(part.with_extension(""));
        }
    }
    result
}

fn finish_all(
    tables: impl Iterator<Item = Sealing>,
    words: &[Arc<str>],
    failed: Option<SealError>,
) -> Result<Sealed, SealError> {
    if let Some(e) = failed {
        return Err(e);
    }
    let mut sealed = Sealed::default();
    for table in tables {
        let (name, rows, footer) = table.finish(words)?;
        sealed.tables.insert(name.into(), rows);
        sealed.footers.insert(name.into(), footer);
    }
    Ok(sealed)
}
