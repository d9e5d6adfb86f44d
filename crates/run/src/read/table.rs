//! Reading one table: its parts from Parquet, or its blocks from the journal.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;

use super::batch::borrow_batch;
use super::columns::Loaded;
use super::{Batch, ReadError, Run, Texts, Values};
use crate::catalog::{self, Column, Detail, Table};
use crate::journal::{self, Columns, Numbers, RowsBlock};
use crate::unit::Unit;
use crate::whole::Step;
use crate::{Nanos, seal, sums};

/// A part of a table that can be read on its own.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Row group; always 0 for a journal; of what is in memory the piece of time.
    pub(crate) number: usize,
    /// Least and greatest time, where known.
    pub range: Option<(Nanos, Nanos)>,
}

/// A table ready to be read.
pub struct Opened<'r> {
    run: &'r Run,
    name: &'static str,
    /// The footer of a sealed table.
    sealed: Option<ArrowReaderMetadata>,
    /// The checksums of its columns, a row group a vector.
    sums: Vec<Vec<u32>>,
    event: bool,
    /// Its parts, in order of time.
    pub parts: Vec<Part>,
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

impl<'r> Opened<'r> {
    /// A table of a journal.
    pub(super) fn journal(run: &'r Run, name: &'static str) -> Opened<'r> {
        let whole = Part {
            number: 0,
            range: None,
        };
        Opened {
            run,
            name,
            sealed: None,
            sums: Vec::new(),
            event: false,
            parts: vec![whole],
        }
    }

    /// A table of what is in memory: a part a piece of time.
    pub(super) fn tail(run: &'r Run, name: &'static str, parts: Vec<Part>) -> Opened<'r> {
        Opened {
            parts,
            ..Opened::journal(run, name)
        }
    }

    /// A sealed table with its footer.
    pub(super) fn sealed(
        run: &'r Run,
        table: &'static Table,
        metadata: ArrowReaderMetadata,
    ) -> Opened<'r> {
        let part = |number| Part {
            number,
            range: time_range(&metadata, number),
        };
        let parts = (0..metadata.metadata().num_row_groups())
            .map(part)
            .collect();
        Opened {
            run,
            name: table.name,
            sums: sums::kept(metadata.metadata()),
            sealed: Some(metadata),
            event: table.detail == Detail::Event,
            parts,
        }
    }

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
            None if self.run.tail.is_some() => self
                .read_tail(part, columns, &mut visit)
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
        let mut names = vec![seal::TIMESTAMP];
        if !self.event {
            names.push("interval");
        }
        names.extend_from_slice(columns);
        let file = File::open(self.run.table_path(self.name))?;
        let sums = self.sums.get(part.number).map_or(&[][..], Vec::as_slice);
        let group = metadata.metadata().row_group(part.number);
        let loaded = Loaded::read(&file, group, sums, |name| names.contains(&name))?;
        let mask = ProjectionMask::columns(
            metadata.metadata().file_metadata().schema_descr(),
            names.iter().copied(),
        );
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(loaded, metadata.clone())
            .with_projection(mask)
            .with_row_groups(vec![part.number])
            .with_batch_size(32 << 10)
            .build()?;
        for batch in reader {
            let batch = batch.map_err(|e| ParquetError::General(e.to_string()))?;
            visit(&borrow_batch(&batch, columns, self.event)?);
        }
        Ok(())
    }

    fn read_journal(&self, columns: &[&str], visit: &mut dyn FnMut(&Batch<'_>)) -> io::Result<()> {
        let Some(file) = &self.run.journal else {
            return Ok(());
        };
        let stored: Vec<Stored> = columns.iter().map(|name| self.stored(name)).collect();
        journal::read(
            file,
            |table| (table == self.name).then_some(Columns::Only(columns)),
            |block, words| visit(&batch_of(&block, columns, &stored, words)),
        )?;
        Ok(())
    }

    fn read_tail(
        &self,
        part: &Part,
        columns: &[&str],
        visit: &mut dyn FnMut(&Batch<'_>),
    ) -> io::Result<()> {
        let Some(tail) = &self.run.tail else {
            return Ok(());
        };
        let stored: Vec<Stored> = columns.iter().map(|name| self.stored(name)).collect();
        tail.read(part.number, self.name, Columns::Only(columns), |block| {
            visit(&batch_of(&block, columns, &stored, tail.words()));
        })
    }

    /// How sealing stores the numbers of a column.
    fn stored(&self, name: &str) -> Stored {
        let Some((subject, table)) = catalog::table(self.name) else {
            return Stored::AsIs;
        };
        let event = table.detail == Detail::Event;
        let unit = |unit: Unit| Stored::Whole(Step::of(unit));
        match catalog::columns(subject, table).find(|c| c.name() == name) {
            Some(Column::Dimension(d)) if event => d.number.map_or(Stored::AsIs, unit),
            Some(Column::Measure(m)) if event => unit(m.unit),
            Some(Column::Measure(m)) if self.run.amounts().whole(m.unit, m.kind) => Stored::Rounded,
            _ => Stored::AsIs,
        }
    }
}

/// How sealing stores the numbers of a column.
#[derive(Clone, Copy)]
enum Stored {
    AsIs,
    Rounded,
    /// Of events.
    Whole(Step),
}

/// Columns of a block, as they will be sealed.
fn batch_of<'b>(
    block: &'b RowsBlock<'_>,
    columns: &[&str],
    stored: &[Stored],
    words: &'b [Arc<str>],
) -> Batch<'b> {
    let texts = Texts::Journal(words);
    let values = columns.iter().zip(stored);
    Batch {
        times: &block.times,
        intervals: &block.intervals,
        columns: values
            .map(|(name, stored)| values_of(block, name, *stored, texts))
            .collect(),
    }
}

/// The column `name` of a block, as it will be sealed.
fn values_of<'b>(
    block: &'b RowsBlock<'_>,
    name: &str,
    stored: Stored,
    texts: Texts<'b>,
) -> Values<'b> {
    if let Some(i) = block.schema.words.iter().position(|c| c == name) {
        let codes = &block.words[i];
        return Values::Words { codes, texts };
    }
    let Some(i) = block.schema.numbers.iter().position(|c| c == name) else {
        return Values::Numbers(Cow::Owned(vec![f64::NAN; block.times.len()]));
    };
    match (&block.numbers[i], stored) {
        (Numbers::Whole(values, of), Stored::Whole(step)) if *of == step => {
            Values::Whole(values, step)
        }
        (numbers, Stored::Whole(step)) => {
            let whole = |v: &f64| step.whole(*v).map_or(f64::NAN, |v| step.real(v));
            Values::Numbers(numbers.real().iter().map(whole).collect())
        }
        (numbers, Stored::Rounded) => {
            Values::Numbers(numbers.real().iter().map(|v| v.round()).collect())
        }
        (numbers, Stored::AsIs) => Values::Numbers(numbers.real()),
    }
}
