//! Bringing a table into the order of time.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::TimestampNanosecondType;
use arrow_array::{RecordBatch, UInt32Array, cast::AsArray};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use super::{Amounts, GATHER, SealError, Sealing, TIMESTAMP, schema};
use crate::{Subject, Table};

impl Sealing {
    /// The same table with its rows in order of time; those of one time stay as they came.
    ///
    /// All of it is in memory for that.
    pub(super) fn ordered(self) -> Result<Sealing, SealError> {
        let table = self.table;
        let wrap = |error| SealError::Parquet {
            table: table.name.into(),
            error,
        };
        let file = self.writer.into_inner().map_err(wrap)?;
        rewritten(file, &self.dir, self.subject, table, self.amounts)
    }
}

/// The table in the finished `file` with its rows in order of time; `file` is replaced in `dir`.
pub(super) fn rewritten(
    file: File,
    dir: &Path,
    subject: &'static Subject,
    table: &'static Table,
    amounts: Amounts,
) -> Result<Sealing, SealError> {
    let wrap = |error| SealError::Parquet {
        table: table.name.into(),
        error,
    };
    let all = read(file, &schema(subject, table, amounts)).map_err(wrap)?;
    let ordered = in_order(&all).map_err(wrap)?;
    drop(all);
    let mut again = Sealing::new(dir, subject, table, amounts)?;
    for from in (0..ordered.num_rows()).step_by(GATHER) {
        let part = ordered.slice(from, GATHER.min(ordered.num_rows() - from));
        again.writer.write(&part).map_err(wrap)?;
    }
    again.rows = ordered.num_rows() as u64;
    Ok(again)
}

fn read(file: File, schema: &arrow_schema::SchemaRef) -> Result<RecordBatch, ParquetError> {
    let options = ArrowReaderOptions::new().with_schema(Arc::clone(schema));
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?.build()?;
    let batches = reader.collect::<Result<Vec<_>, _>>()?;
    Ok(concat_batches(schema, &batches)?)
}

fn in_order(all: &RecordBatch) -> Result<RecordBatch, ParquetError> {
    let times = all
        .column_by_name(TIMESTAMP)
        .and_then(|c| c.as_primitive_opt::<TimestampNanosecondType>())
        .ok_or_else(|| ParquetError::General("no times".into()))?;
    let mut order: Vec<u32> = (0..times.len() as u32).collect();
    order.sort_by_key(|row| times.value(*row as usize));
    Ok(take_record_batch(all, &UInt32Array::from(order))?)
}
