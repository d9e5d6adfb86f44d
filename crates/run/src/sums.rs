//! Checksums of sealed tables: a damaged table is named, and never read as other numbers.
//!
//! The Parquet library writes no checksums of pages, and a flipped bit within a page often
//! decodes. So the footer of each table carries, under [`KEY`], the CRC-32 of every column of
//! every row group, and the manifest has the CRC-32 of the footer. A reader checks the
//! columns that it reads: what it leaves out costs nothing.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

/// Key in the footer: a JSON array a row group of numbers, one a column.
pub const KEY: &str = "sonde.crc32";

/// Bytes read at a time.
const BUFFER: usize = 256 << 10;

/// Parquet's end of a file: length of the footer, `PAR1`.
const TAIL: u64 = 8;

fn crc(file: &File, from: u64, length: u64) -> io::Result<u32> {
    let mut buffer = vec![0; BUFFER.min(length as usize)];
    let mut hasher = crc32fast::Hasher::new();
    let mut done = 0;
    while done < length {
        let most = buffer.len().min((length - done) as usize);
        file.read_exact_at(&mut buffer[..most], from + done)?;
        hasher.update(&buffer[..most]);
        done += most as u64;
    }
    Ok(hasher.finalize())
}

/// The sums of all columns of `groups` in `file`, as the text under [`KEY`].
pub(crate) fn of_columns(file: &File, groups: &[RowGroupMetaData]) -> io::Result<String> {
    let mut all = Vec::with_capacity(groups.len());
    for group in groups {
        let columns = group.columns().iter().map(|column| {
            let (from, length) = column.byte_range();
            crc(file, from, length)
        });
        all.push(columns.collect::<io::Result<Vec<u32>>>()?);
    }
    Ok(text(&all))
}

/// The sums of the columns of each row group as the text under [`KEY`].
pub(crate) fn text(sums: &[Vec<u32>]) -> String {
    serde_json::json!(sums).to_string()
}

/// The sum of the footer of `file`.
pub(crate) fn of_footer(file: &File) -> io::Result<u32> {
    let length = file.metadata()?.len();
    let cut = || io::Error::other("it is cut short");
    let tail = length.checked_sub(TAIL).ok_or_else(cut)?;
    let mut footer = [0; 4];
    file.read_exact_at(&mut footer, tail)?;
    let from = tail
        .checked_sub(u64::from(u32::from_le_bytes(footer)))
        .ok_or_else(cut)?;
    crc(file, from, length - from)
}

/// The sums that the footer has, a row group a vector; none in a table without.
pub(crate) fn kept(metadata: &ParquetMetaData) -> Vec<Vec<u32>> {
    let pairs = metadata.file_metadata().key_value_metadata();
    let value = pairs
        .and_then(|p| p.iter().find(|p| p.key == KEY))
        .and_then(|p| p.value.as_deref());
    value
        .and_then(|v| serde_json::from_str(v).ok())
        .unwrap_or_default()
}
