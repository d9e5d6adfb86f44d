//! The columns of a row group that a question needs, read once, checked and decoded in memory.
//!
//! The Parquet library opens, seeks and reads a file anew for each page of some kilobytes, which
//! took a third of the processor time of a question over a long run.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use bytes::{Buf, Bytes, buf::Reader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, Length};

/// Parts of a file, by where they begin in it.
pub(super) struct Loaded {
    length: u64,
    columns: Vec<(u64, Bytes)>,
}

impl Loaded {
    /// Reads the columns of `group` for which `wanted`, and checks those that have one of `sums`.
    pub(super) fn read(
        file: &File,
        group: &RowGroupMetaData,
        sums: &[u32],
        wanted: impl Fn(&str) -> bool,
    ) -> io::Result<Loaded> {
        let length = file.metadata()?.len();
        let mut columns = Vec::new();
        for (i, column) in group.columns().iter().enumerate() {
            let name = column.column_path().string();
            if !wanted(&name) {
                continue;
            }
            let (from, bytes) = column.byte_range();
            if from.checked_add(bytes).is_none_or(|end| end > length) {
                return Err(io::Error::other("it is cut short"));
            }
            let mut buffer = vec![0; bytes as usize];
            file.read_exact_at(&mut buffer, from)?;
            if sums
                .get(i)
                .is_some_and(|sum| crc32fast::hash(&buffer) != *sum)
            {
                let text = format!("the checksum of column {name} is wrong");
                return Err(io::Error::other(text));
            }
            columns.push((from, buffer.into()));
        }
        Ok(Loaded { length, columns })
    }

    /// What of the file begins at `start`, to the end of its column.
    fn at(&self, start: u64) -> Result<Bytes> {
        let part = self.columns.iter().find_map(|(from, bytes)| {
            let at = usize::try_from(start.checked_sub(*from)?).ok()?;
            (at < bytes.len()).then(|| bytes.slice(at..))
        });
        part.ok_or_else(|| ParquetError::EOF(format!("byte {start} is in no column that is read")))
    }
}

impl Length for Loaded {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Loaded {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(self.at(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.at(start)?;
        if bytes.len() < length {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at {start} reach beyond their column"
            )));
        }
        Ok(bytes.slice(..length))
    }
}
