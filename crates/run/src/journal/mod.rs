//! The journal: one append-only file that takes all tables while recording.
//!
//! One file instead of one a table, because making 25 files durable every second would be
//! 25 flushes of the disk under test instead of one. It is a sequence of zstd frames. Each
//! frame stands alone: it starts with the schema and all words so far, so that after a
//! failed write (disk full) the next frame can be read without the lost one. Within a frame
//! the compressor sees earlier samples, which is where the compression comes from; it is
//! flushed at each commit, so a reader gets everything up to the last commit.
//!
//! Decompressed, a frame is a sequence of blocks, little-endian:
//! `kind u8, length u32, crc32 u32, payload`. Kinds:
//! - 1 schema: JSON, `{"format":1,"tables":[{"name","words":[...],"numbers":[...]}]}`;
//! - 2 words: number of the first `u32`, then for each `length u32, UTF-8`;
//! - 3 rows: table's place in the schema `u16`, rows `u32`, then by column: times `i64`,
//!   intervals `f64`, words `u32` each, numbers `f64` each (NaN: not known);
//! - 4 events: see [`events`].

mod events;
mod planes;
mod read;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use serde::{Deserialize, Serialize};
use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation, OutBuffer};

use crate::Table;
use crate::catalog::{self, Column, Detail};
use crate::rows::{Rows, Sink, TableId};

pub(crate) use read::read_own;
pub use read::{Columns, End, Numbers, RowsBlock, read};

const SCHEMA: u8 = 1;
const WORDS: u8 = 2;
const ROWS: u8 = 3;
const EVENTS: u8 = 4;

/// Level 1 costs about 3 ns a byte here and what it leaves is temporary: sealing compresses
/// again, by column.
const LEVEL: i32 = 1;

/// Logarithms of the places in the compressor's table of what it has seen: the least, and that
/// of the level. A place has four bytes.
///
/// The table is looked at all over for each sample, and after a second's pause it is in no
/// cache: 64 KiB of it cost more than compressing a sample of 8 KiB does.
const PLACES: [u32; 2] = [12, 14];

/// An empty last block (RFC 8878, 3.1.1.2). It ends a frame whose own end was never written,
/// because a commit failed.
const END_OF_FRAME: [u8; 3] = [1, 0, 0];

/// A block larger than this is damage, not data.
const LARGEST_BLOCK: u32 = 1 << 30;

#[derive(Serialize, Deserialize)]
struct Schema {
    format: u32,
    tables: Vec<TableSchema>,
}

/// The columns of a table in a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableSchema {
    /// Name of the table.
    pub name: String,
    /// Names of its word columns.
    pub words: Vec<String>,
    /// Names of its number columns.
    pub numbers: Vec<String>,
}

fn table_schema(subject: &'static crate::Subject, table: &'static Table) -> TableSchema {
    let mut schema = TableSchema {
        name: table.name.into(),
        words: vec![],
        numbers: vec![],
    };
    for column in catalog::columns(subject, table) {
        match column {
            Column::Dimension(d) if d.number.is_none() => schema.words.push(d.name.into()),
            other => schema.numbers.push(other.name().into()),
        }
    }
    schema
}

/// Of a block: a byte that is damaged may be the kind's too.
fn checksum(kind: u8, payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&[kind]);
    crc.update(payload);
    crc.finalize()
}

fn block(kind: u8, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind);
    let head = out.len();
    out.extend_from_slice(&[0; 8]);
    let body = out.len();
    fill(out);
    let length = (out.len() - body) as u32;
    let crc = checksum(kind, &out[body..]);
    out[head..head + 4].copy_from_slice(&length.to_le_bytes());
    out[head + 4..body].copy_from_slice(&crc.to_le_bytes());
}

fn schema_block(out: &mut Vec<u8>) {
    let tables = catalog::tables().map(|(s, t)| table_schema(s, t)).collect();
    let schema = Schema {
        format: crate::manifest::FORMAT,
        tables,
    };
    block(SCHEMA, out, |out| {
        serde_json::to_writer(out, &schema).expect("a vector takes all");
    });
}

/// Appends the words of `sink` from number `from` on, as a block, if there are any.
pub fn encode_words(sink: &Sink, from: usize, out: &mut Vec<u8>) {
    let texts = &sink.words.texts()[from..];
    if texts.is_empty() {
        return;
    }
    block(WORDS, out, |out| {
        out.extend_from_slice(&(from as u32).to_le_bytes());
        for text in texts {
            out.extend_from_slice(&(text.len() as u32).to_le_bytes());
            out.extend_from_slice(text.as_bytes());
        }
    });
}

/// Appends all rows of `sink`: a block a table, or a few of a table of events.
pub fn encode_rows(sink: &Sink, out: &mut Vec<u8>) {
    for (table, rows) in sink.filled() {
        encode_table(table, rows, out);
    }
}

/// Appends the rows of one table.
pub(crate) fn encode_table(TableId(place): TableId, rows: &Rows, out: &mut Vec<u8>) {
    if rows.table.detail == Detail::Event {
        events::encode(place, rows, out);
    } else {
        block(ROWS, out, |out| encode_samples(place, rows, out));
    }
}

fn encode_samples(place: u16, rows: &Rows, out: &mut Vec<u8>) {
    out.extend_from_slice(&place.to_le_bytes());
    out.extend_from_slice(&(rows.len() as u32).to_le_bytes());
    rows.times
        .iter()
        .for_each(|v| out.extend_from_slice(&v.to_le_bytes()));
    rows.intervals
        .iter()
        .for_each(|v| out.extend_from_slice(&v.to_le_bytes()));
    for column in &rows.words {
        column
            .iter()
            .for_each(|v| out.extend_from_slice(&v.0.to_le_bytes()));
    }
    for column in &rows.values {
        column
            .iter()
            .for_each(|v| out.extend_from_slice(&v.to_le_bytes()));
    }
}

/// The writing side. Not durable until [`Journal::commit`].
pub struct Journal {
    file: File,
    /// Bytes of the file that are good.
    good: u64,
    encoder: Option<Encoder<'static>>,
    /// Logarithm of the places in its table.
    places: u32,
    compressed: Vec<u8>,
    /// All words blocks so far, for the next frame's start.
    words: Vec<u8>,
}

impl Journal {
    /// Starts an empty journal in `file`.
    pub fn new(file: File) -> Journal {
        Journal {
            file,
            good: 0,
            encoder: None,
            places: PLACES[0],
            compressed: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Bytes committed.
    pub fn written(&self) -> u64 {
        self.good
    }

    /// The file, to read what was committed.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Takes blocks of words and of rows, made by [`encode_words`] and [`encode_rows`].
    pub fn append(&mut self, words: &[u8], rows: &[u8]) -> io::Result<()> {
        self.words.extend_from_slice(words);
        let places = rows.len().max(1).ilog2().clamp(PLACES[0], PLACES[1]);
        if places > self.places {
            // Samples outgrew the table: a frame with a larger one.
            self.flush()?;
            self.encoder = None;
            self.places = places;
        }
        if self.encoder.is_none() {
            if self.good > 0 || !self.compressed.is_empty() {
                self.compressed.extend_from_slice(&END_OF_FRAME);
            }
            self.encoder = Some(self.new_encoder()?);
            let mut start = Vec::new();
            schema_block(&mut start);
            self.compress(&start)?;
            let all = std::mem::take(&mut self.words);
            let result = self.compress(&all);
            self.words = all;
            result?;
        } else {
            self.compress(words)?;
        }
        self.compress(rows)
    }

    fn new_encoder(&self) -> io::Result<Encoder<'static>> {
        let mut encoder = Encoder::new(LEVEL)?;
        encoder.set_parameter(CParameter::HashLog(self.places))?;
        Ok(encoder)
    }

    fn compress(&mut self, input: &[u8]) -> io::Result<()> {
        let encoder = self.encoder.as_mut().expect("made by append");
        let mut input = InBuffer::around(input);
        while input.pos() < input.src.len() {
            // `OutBuffer` writes into a vector's spare capacity.
            self.compressed.reserve(64 << 10);
            let at = self.compressed.len();
            let mut out = OutBuffer::around_pos(&mut self.compressed, at);
            encoder.run(&mut input, &mut out)?;
        }
        Ok(())
    }

    /// Writes and makes durable all that was appended.
    ///
    /// On an error the file is cut back to its last good length, what was appended since is
    /// lost, and the next [`Journal::append`] starts a frame that stands alone.
    pub fn commit(&mut self) -> io::Result<()> {
        let result = self.try_commit();
        if result.is_ok() {
            self.good += self.compressed.len() as u64;
        } else {
            self.encoder = None;
            // Should the cut fail too, readers skip the damaged frame by its checksum.
            let _ = self.file.set_len(self.good);
        }
        self.compressed.clear();
        result
    }

    fn try_commit(&mut self) -> io::Result<()> {
        if self.encoder.is_none() && self.compressed.is_empty() {
            return Ok(());
        }
        self.flush()?;
        self.file.write_all_at(&self.compressed, self.good)?;
        self.file.sync_data()
    }

    /// Has the compressor give out all it holds back.
    fn flush(&mut self) -> io::Result<()> {
        let Some(encoder) = self.encoder.as_mut() else {
            return Ok(());
        };
        loop {
            self.compressed.reserve(64 << 10);
            let at = self.compressed.len();
            let mut out = OutBuffer::around_pos(&mut self.compressed, at);
            if encoder.flush(&mut out)? == 0 {
                return Ok(());
            }
        }
    }
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    let bytes = rest.split_off(..4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}
