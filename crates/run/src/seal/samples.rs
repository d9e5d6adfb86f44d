//! A table of samples on its way to Parquet, column by column.
//!
//! What is imported comes as columns of many rows, most of whose cells are as those of the
//! sample before. They are encoded from where they lie: no array of each cell is made first, and
//! what repeats is encoded once.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::arrow::ArrowSchemaConverter;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, KeyValue, ParquetMetaDataBuilder, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::schema::types::SchemaDescPtr;

use super::chunk::{Cells, Chunk, Scratch};
use super::{Amounts, ROW_GROUP, SealError, description, order, schema};
use crate::rows::{Alike, Rows};
use crate::{Nanos, Subject, Table, Word, sums};

/// Rows of a page; fewer are gathered first.
const PAGE: usize = 64 << 10;

/// Bytes of a row group that wait in memory; a group of more ends early.
const LARGEST: usize = 24 << 20;

/// What every Parquet file begins with.
const MAGIC: &[u8; 4] = b"PAR1";

/// A table being written, whose amounts are fractions ([`Amounts::Fractions`]).
pub(super) struct Samples {
    dir: PathBuf,
    subject: &'static Subject,
    table: &'static Table,
    path: PathBuf,
    file: File,
    /// Bytes written.
    at: u64,
    schema: SchemaDescPtr,
    /// The columns of the present row group.
    chunks: Vec<Chunk>,
    scratch: Scratch,
    /// Rows that are too few for a page.
    gathered: Rows,
    groups: Vec<RowGroupMetaData>,
    sums: Vec<Vec<u32>>,
    rows: u64,
    /// Rows of the present row group, and their times.
    present: usize,
    range: Option<(Nanos, Nanos)>,
    /// Time of the last row, and whether each came after the one before it.
    last: Nanos,
    in_order: bool,
}

impl Samples {
    pub(super) fn new(
        dir: &Path,
        subject: &'static Subject,
        table: &'static Table,
    ) -> Result<Samples, SealError> {
        let path = dir.join(format!("{}.parquet.part", table.name));
        // Read again for the checksum of its end.
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)?;
        file.write_all(MAGIC)?;
        let schema = ArrowSchemaConverter::new()
            .convert(&schema(subject, table, Amounts::Fractions))
            .map_err(|error| failed(table, error))?;
        let schema = Arc::new(schema);
        let chunk = |i| Chunk::new(schema.column(i));
        Ok(Samples {
            dir: dir.to_owned(),
            subject,
            table,
            path,
            file,
            at: MAGIC.len() as u64,
            chunks: (0..schema.num_columns()).map(chunk).collect(),
            schema,
            scratch: Scratch::new()?,
            gathered: Rows::new(subject, table),
            groups: Vec::new(),
            sums: Vec::new(),
            rows: 0,
            present: 0,
            range: None,
            last: Nanos::MIN,
            in_order: true,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes rows; `texts` are all words so far.
    pub(super) fn push(&mut self, rows: &Rows, texts: &[Arc<str>]) -> Result<(), SealError> {
        let mut from = 0;
        while from < rows.len() {
            let to = rows.len().min(from + PAGE - self.gathered.len());
            self.gathered.extend(rows, from..to);
            from = to;
            if self.gathered.len() >= PAGE {
                self.flush(texts)?;
            }
        }
        Ok(())
    }

    /// Takes rows of samples that are alike.
    pub(super) fn push_alike(
        &mut self,
        alike: &Alike,
        texts: &[Arc<str>],
    ) -> Result<(), SealError> {
        let each = alike.each();
        if alike.len() < PAGE / 8 || each > PAGE {
            let mut rows = Rows::new(self.subject, self.table);
            alike.spread(&mut rows);
            return self.push(&rows, texts);
        }
        self.flush(texts)?;
        let page = (PAGE / each).max(1);
        for from in (0..alike.times.len()).step_by(page) {
            let to = alike.times.len().min(from + page);
            let values = alike.values.iter().map(|column| {
                let cells = column.get(from * each..to * each);
                cells.filter(|cells| !cells.is_empty())
            });
            let rows = Part {
                times: &alike.times[from..to],
                intervals: &alike.intervals[from..to],
                words: alike.words.iter().map(Vec::as_slice).collect(),
                values: values.collect(),
                each,
                turns: to - from,
            };
            self.page(&rows, texts)?;
        }
        Ok(())
    }

    /// Makes a page of what was gathered.
    fn flush(&mut self, texts: &[Arc<str>]) -> Result<(), SealError> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let empty = Rows::new(self.subject, self.table);
        let mut rows = std::mem::replace(&mut self.gathered, empty);
        let part = Part {
            times: &rows.times,
            intervals: &rows.intervals,
            words: rows.words.iter().map(Vec::as_slice).collect(),
            values: rows.values.iter().map(|c| Some(c.as_slice())).collect(),
            each: 1,
            turns: 1,
        };
        self.page(&part, texts)?;
        rows.clear();
        self.gathered = rows;
        Ok(())
    }

    fn page(&mut self, part: &Part<'_>, texts: &[Arc<str>]) -> Result<(), SealError> {
        let rows = part.times.len() * part.each;
        if self.present + rows > ROW_GROUP {
            self.end_group(texts)?;
        }
        self.look_at(part.times);
        let times: Vec<u64> = part.times.iter().map(|t| *t as u64).collect();
        let lengths: Vec<u64> = part.intervals.iter().map(|i| i.to_bits()).collect();
        let both = [&times, &lengths].map(|cells| Cells::Repeated(cells, part.each));
        let words = part.words.iter().map(|w| Cells::Words(w, part.turns));
        let values = part.values.iter().map(|column| match column {
            Some(numbers) => Cells::Numbers(numbers),
            None => Cells::Unknown(rows),
        });
        // The catalog's tables have their words before their numbers.
        let all = both.into_iter().chain(words).chain(values);
        for (chunk, cells) in self.chunks.iter_mut().zip(all) {
            chunk.page(cells, &mut self.scratch)?;
        }
        self.rows += rows as u64;
        self.present += rows;
        let waiting: usize = self.chunks.iter().map(Chunk::size).sum();
        if waiting > LARGEST {
            self.end_group(texts)?;
        }
        Ok(())
    }

    /// Readers rely on the order of time. What is imported may not come in it.
    fn look_at(&mut self, times: &[Nanos]) {
        let first = times.first().is_none_or(|first| *first >= self.last);
        self.in_order &= first && times.is_sorted();
        self.last = times.last().copied().unwrap_or(self.last);
        let (least, most) = (times.iter().min(), times.iter().max());
        if let (Some(least), Some(most)) = (least, most) {
            let (a, b) = self.range.unwrap_or((*least, *most));
            self.range = Some((a.min(*least), b.max(*most)));
        }
    }

    /// Writes the present row group.
    fn end_group(&mut self, texts: &[Arc<str>]) -> Result<(), SealError> {
        if self.present == 0 {
            return Ok(());
        }
        let (mut columns, mut sums) = (Vec::new(), Vec::new());
        let (from, mut whole) = (self.at, 0);
        for (place, chunk) in self.chunks.iter_mut().enumerate() {
            let encoded = chunk.end(texts, &mut self.scratch)?;
            // The first column is the timestamp.
            let range = self.range.filter(|_| place == 0);
            let column = encoded.described(self.at, range);
            let column = column.map_err(|error| failed(self.table, error))?;
            whole += column.uncompressed_size();
            columns.push(column);
            let mut sum = crc32fast::Hasher::new();
            for bytes in [&encoded.dictionary, &encoded.pages] {
                self.file.write_all(bytes)?;
                sum.update(bytes);
            }
            sums.push(sum.finalize());
            self.at += encoded.length() as u64;
            chunk.reuse(encoded);
        }
        let group = RowGroupMetaData::builder(Arc::clone(&self.schema))
            .set_column_metadata(columns)
            .set_total_byte_size(whole)
            .set_num_rows(self.present as i64)
            .set_ordinal(self.groups.len() as i32)
            .set_file_offset(from as i64)
            .build();
        self.groups
            .push(group.map_err(|error| failed(self.table, error))?);
        self.sums.push(sums);
        self.present = 0;
        self.range = None;
        Ok(())
    }

    /// Finishes the file and gives it its name; answers with its rows and the sum of its footer.
    pub(super) fn finish(
        mut self,
        texts: &[Arc<str>],
    ) -> Result<(&'static str, u64, u32), SealError> {
        self.flush(texts)?;
        self.end_group(texts)?;
        let footer = self.footer().map_err(|error| failed(self.table, error))?;
        self.file.write_all(&footer)?;
        if !self.in_order {
            let (subject, table) = (self.subject, self.table);
            let amounts = Amounts::Fractions;
            return order::rewritten(self.file, &self.dir, subject, table, amounts)?.finish(texts);
        }
        let footer = sums::of_footer(&self.file)?;
        self.file.sync_data()?;
        fs::rename(&self.path, self.path.with_extension(""))?;
        Ok((self.table.name, self.rows, footer))
    }

    /// The end of the file: what is where in it.
    fn footer(&mut self) -> Result<Vec<u8>, ParquetError> {
        let keys = [
            ("sonde", description(self.subject, self.table)),
            (sums::KEY, sums::text(&self.sums)),
        ];
        let keys = keys.map(|(key, text)| KeyValue::new(key.to_owned(), text));
        let writer = format!("sonde version {}", env!("CARGO_PKG_VERSION"));
        let file = FileMetaData::new(
            1,
            self.rows as i64,
            Some(writer),
            Some(keys.to_vec()),
            Arc::clone(&self.schema),
            None,
        );
        let all = ParquetMetaDataBuilder::new(file)
            .set_row_groups(std::mem::take(&mut self.groups))
            .build();
        let mut footer = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, &all).finish()?;
        Ok(footer)
    }
}

/// Rows of a page.
struct Part<'a> {
    times: &'a [Nanos],
    intervals: &'a [f64],
    /// Words of so many rows in turn.
    words: Vec<&'a [Word]>,
    /// Numbers of all rows; none: not known.
    values: Vec<Option<&'a [f64]>>,
    /// Rows of each time.
    each: usize,
    turns: usize,
}

fn failed(table: &Table, error: ParquetError) -> SealError {
    SealError::Parquet {
        table: table.name.into(),
        error,
    }
}
