//! Sealing: a journal becomes one Parquet file a table.
//!
//! Any Parquet reader reads them. Choices: zstd; words and repeated numbers by dictionary
//! (their runs take almost nothing); `timestamp` as differences; row groups of a million rows, so
//! that a query can read them in parallel; no statistics or page indexes, which at a few
//! hundred rows would be larger than the data, except for `timestamp`. Numbers of events are
//! whole (docs/decisions/0010) and stored in planes of bytes.

mod bits;
mod chunk;
mod columns;
mod dictionary;
mod direct;
mod order;
mod samples;
mod worker;

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, TimestampNanosecondArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::catalog::{self, Column, Detail, Kind};
use crate::journal::{self, Columns, End, RowsBlock};
use crate::manifest::Manifest;
use crate::rows::Rows;
use crate::sums;
use crate::whole::Step;
use crate::{Nanos, Subject, Table, Unit};
use columns::Kept;
pub use direct::Direct;

/// The column with the end of each row's interval. Not `time`: that is a measure of several
/// subjects.
pub const TIMESTAMP: &str = "timestamp";

/// Rows in a row group.
const ROW_GROUP: usize = 1 << 20;

/// Rows gathered before they go to the Parquet writer.
const GATHER: usize = 8192;

/// Rows of a page of a table of events. A plane of bytes is then as large as a block of zstd,
/// and gets a code of its own; larger pages would take memory for nothing.
const EVENT_PAGE: usize = 128 << 10;

/// Bytes of distinct words (paths, processes) of a row group of events before they are stored
/// without a dictionary.
const EVENT_WORDS: usize = 4 << 20;

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

/// Digits of times of events, and how many of them are decimals: whole nanoseconds as an INT64
/// that every reader takes for seconds.
const DIGITS: (u8, i8) = (18, 9);

/// The Arrow type of number dimensions of events in `unit`.
///
/// Whole numbers as float64, because of distances: the highest bytes of a negative INT64 are
/// another plane that looks random, each.
pub fn event_type(unit: Unit) -> DataType {
    match Step::of(unit) {
        Step::One => DataType::Float64,
        Step::Nano => DataType::Decimal64(DIGITS.0, DIGITS.1),
    }
}

/// How amounts of things and bytes are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amounts {
    /// They were counted, so they are whole.
    Whole,
    /// They were printed as rates, times the interval: as they are.
    Fractions,
}

impl Amounts {
    /// Of the run with that manifest.
    pub fn of(manifest: &Manifest) -> Amounts {
        if manifest.imported.is_empty() {
            Amounts::Whole
        } else {
            Amounts::Fractions
        }
    }

    /// Whether values of a measure are stored as whole numbers.
    pub(crate) fn whole(self, unit: Unit, kind: Kind) -> bool {
        self == Amounts::Whole && is_whole(unit, kind)
    }
}

/// The Arrow schema of a sealed table.
pub fn schema(subject: &'static Subject, table: &'static Table, amounts: Amounts) -> SchemaRef {
    let event = table.detail == Detail::Event;
    let mut fields = vec![Field::new(TIMESTAMP, time_type(), false)];
    if !event {
        fields.push(Field::new("interval", DataType::Float64, false));
    }
    for column in catalog::columns(subject, table) {
        let (data_type, nullable) = match column {
            Column::Dimension(d) => match d.number {
                None => (word_type(), false),
                Some(unit) if event => (event_type(unit), true),
                Some(_) => (DataType::Float64, false),
            },
            Column::Measure(m) if event || amounts.whole(m.unit, m.kind) => (DataType::Int64, true),
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
    let event = table.detail == Detail::Event;
    let help = if event {
        "When it happened, UTC."
    } else {
        "End of the interval, UTC."
    };
    columns.insert(
        TIMESTAMP.into(),
        serde_json::json!({"kind": "time", "help": help}),
    );
    if !event {
        columns.insert(
            "interval".into(),
            serde_json::json!({"kind": "interval", "unit": "seconds", "help": "True length of the interval."}),
        );
    }
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
    if table.detail == Detail::Event {
        builder = builder
            .set_data_page_size_limit(EVENT_PAGE * 8)
            .set_data_page_row_count_limit(EVENT_PAGE)
            .set_dictionary_page_size_limit(EVENT_WORDS);
        let numbers = catalog::columns(subject, table).filter_map(|c| match c {
            Column::Dimension(d) => d.number.map(|_| d.name),
            // The weight is one but for moments: a dictionary takes nothing.
            Column::Measure(_) => None,
        });
        for name in numbers {
            builder = builder
                .set_column_dictionary_enabled(name.into(), false)
                .set_column_encoding(name.into(), Encoding::BYTE_STREAM_SPLIT);
        }
    } else if table.dimensions.is_empty() {
        // One row an interval: every length is different, a dictionary would only add to it.
        builder = builder
            .set_column_dictionary_enabled("interval".into(), false)
            .set_column_encoding("interval".into(), Encoding::BYTE_STREAM_SPLIT);
    }
    Ok(builder.build())
}

/// One table on its way to Parquet.
struct Sealing {
    dir: PathBuf,
    subject: &'static Subject,
    table: &'static Table,
    schema: SchemaRef,
    path: PathBuf,
    writer: ArrowWriter<File>,
    gathered: Gathered,
    rows: u64,
    amounts: Amounts,
    /// Time of the last row, and whether each came after the one before it.
    last: Nanos,
    in_order: bool,
}

#[derive(Default)]
struct Gathered {
    times: Vec<Nanos>,
    intervals: Vec<f64>,
    columns: Vec<Kept>,
}

impl Sealing {
    fn new(
        dir: &Path,
        subject: &'static Subject,
        table: &'static Table,
        amounts: Amounts,
    ) -> Result<Sealing, SealError> {
        let path = dir.join(format!("{}.parquet.part", table.name));
        // Read again for its checksums.
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)?;
        let schema = schema(subject, table, amounts);
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
            dir: dir.to_owned(),
            subject,
            table,
            schema,
            path,
            writer,
            gathered,
            rows: 0,
            amounts,
            last: Nanos::MIN,
            in_order: true,
        })
    }

    /// Takes a block; columns are matched by name, because a journal may be of another version.
    fn push(&mut self, block: &RowsBlock<'_>, words: &[Arc<str>]) -> Result<(), SealError> {
        self.rows += block.times.len() as u64;
        self.look_at(&block.times);
        let event = self.table.detail == Detail::Event;
        let g = &mut self.gathered;
        g.times.extend_from_slice(&block.times);
        g.intervals.extend_from_slice(&block.intervals);
        for (place, column) in catalog::columns(self.subject, self.table).enumerate() {
            if g.columns.len() <= place {
                g.columns.push(Kept::new(&column, event));
            }
            g.columns[place].push(block, column.name(), g.times.len());
        }
        if self.gathered.times.len() >= GATHER {
            self.flush(words)
        } else {
            Ok(())
        }
    }

    /// Takes rows on their way, whose words are those of the sink.
    fn push_rows(&mut self, rows: &Rows, words: &[Arc<str>]) -> Result<(), SealError> {
        self.rows += rows.len() as u64;
        self.look_at(&rows.times);
        let event = self.table.detail == Detail::Event;
        let mut from = 0;
        while from < rows.len() {
            let to = rows.len().min(from + GATHER - self.gathered.times.len());
            let g = &mut self.gathered;
            g.times.extend_from_slice(&rows.times[from..to]);
            if !event {
                g.intervals.extend_from_slice(&rows.intervals[from..to]);
            }
            let (mut word, mut value) = (rows.words.iter(), rows.values.iter());
            for (place, column) in catalog::columns(self.subject, self.table).enumerate() {
                if g.columns.len() <= place {
                    g.columns.push(Kept::new(&column, event));
                }
                match &mut g.columns[place] {
                    kept @ Kept::Words(_) => kept.push_words(word.next(), from..to),
                    kept => kept.push_values(value.next(), from..to),
                }
            }
            from = to;
            if self.gathered.times.len() >= GATHER {
                self.flush(words)?;
            }
        }
        Ok(())
    }

    /// Readers rely on the order of time, but for events. What is recorded comes in it; what is
    /// imported may not.
    fn look_at(&mut self, times: &[Nanos]) {
        if self.table.detail == Detail::Event {
            return;
        }
        let first = times.first().is_none_or(|first| *first >= self.last);
        self.in_order &= first && times.is_sorted();
        self.last = times.last().copied().unwrap_or(self.last);
    }

    fn flush(&mut self, words: &[Arc<str>]) -> Result<(), SealError> {
        if self.gathered.times.is_empty() {
            return Ok(());
        }
        let wrap = |error| SealError::Parquet {
            table: self.table.name.into(),
            error,
        };
        let g = std::mem::take(&mut self.gathered);
        let times = TimestampNanosecondArray::from(g.times).with_timezone("UTC");
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(times)];
        let event = self.table.detail == Detail::Event;
        if !event {
            arrays.push(Arc::new(Float64Array::from(g.intervals)));
        }
        let columns = catalog::columns(self.subject, self.table);
        for (column, kept) in columns.zip(g.columns) {
            arrays.push(
                kept.array(&column, event, self.amounts, words)
                    .map_err(wrap)?,
            );
        }
        let batch = RecordBatch::try_new(self.schema.clone(), arrays)
            .map_err(|e| wrap(ParquetError::General(e.to_string())))?;
        self.writer.write(&batch).map_err(wrap)
    }

    /// Finishes the file and gives it its name; answers with its rows and the sum of its footer.
    fn finish(mut self, words: &[Arc<str>]) -> Result<(&'static str, u64, u32), SealError> {
        self.flush(words)?;
        if !self.in_order {
            self = self.ordered()?;
        }
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

/// Writes the tables of the journal in `file` to `dir`.
///
/// Tables of the journal that this version's catalog does not have are left out; the caller
/// keeps the journal when the error says that not all could be written.
pub fn seal(file: &File, dir: &Path, amounts: Amounts) -> Result<Sealed, SealError> {
    let mut open: HashMap<String, Sealing> = HashMap::new();
    let mut failed: Option<SealError> = None;
    let mut last_words: Vec<Arc<str>> = Vec::new();
    let end = journal::read(
        file,
        |_| Some(Columns::All),
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
                    match Sealing::new(dir, subject, table, amounts) {
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
    if end != End::Whole && failed.is_none() {
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
