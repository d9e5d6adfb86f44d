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
//!   intervals `f64`, words `u32` each, numbers `f64` each (NaN: not known).

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::frames::Frames;
use serde::{Deserialize, Serialize};
use zstd::stream::raw::{Encoder, InBuffer, Operation, OutBuffer};

use crate::catalog::{self, Column};
use crate::rows::{Sink, TableId};
use crate::{Nanos, Table};

const SCHEMA: u8 = 1;
const WORDS: u8 = 2;
const ROWS: u8 = 3;

/// Level 1 costs about 3 ns a byte here and what it leaves is temporary: sealing compresses
/// again, by column.
const LEVEL: i32 = 1;

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

fn block(kind: u8, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind);
    let head = out.len();
    out.extend_from_slice(&[0; 8]);
    let body = out.len();
    fill(out);
    let length = (out.len() - body) as u32;
    let crc = crc32fast::hash(&out[body..]);
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

/// Appends all rows of `sink`, a block a table.
pub fn encode_rows(sink: &Sink, out: &mut Vec<u8>) {
    for (TableId(place), rows) in sink.filled() {
        block(ROWS, out, |out| {
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
        });
    }
}

/// The writing side. Not durable until [`Journal::commit`].
pub struct Journal {
    file: File,
    /// Bytes of the file that are good.
    good: u64,
    encoder: Option<Encoder<'static>>,
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
        if self.encoder.is_none() {
            if self.good > 0 {
                self.compressed.extend_from_slice(&END_OF_FRAME);
            }
            self.encoder = Some(Encoder::new(LEVEL)?);
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
        let Some(encoder) = self.encoder.as_mut() else {
            return Ok(());
        };
        loop {
            self.compressed.reserve(64 << 10);
            let at = self.compressed.len();
            let mut out = OutBuffer::around_pos(&mut self.compressed, at);
            if encoder.flush(&mut out)? == 0 {
                break;
            }
        }
        self.file.write_all_at(&self.compressed, self.good)?;
        self.file.sync_data()
    }
}

/// One block of rows, as read.
pub struct RowsBlock<'a> {
    /// Columns of its table.
    pub schema: &'a TableSchema,
    /// End of the interval, one a row.
    pub times: Vec<Nanos>,
    /// True length of the interval in seconds, one a row.
    pub intervals: Vec<f64>,
    /// Word columns, as numbers into the words given beside.
    pub words: Vec<Vec<i32>>,
    /// Number columns.
    pub numbers: Vec<Vec<f64>>,
}

/// What a reader found at the end of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The last block is whole.
    Whole,
    /// The last block is cut or damaged; all before it is good.
    Cut,
}

/// Reads all whole blocks of rows from `file` (from its start, whatever its cursor).
///
/// `wanted` says which tables to decode. `visit` gets each block with all words so far; the
/// numbers of words stay the same within and between frames.
pub fn read(
    file: &File,
    wanted: impl Fn(&str) -> bool,
    mut visit: impl FnMut(RowsBlock<'_>, &[Arc<str>]),
) -> io::Result<End> {
    let mut input = Frames::open(file)?;
    let mut schema: Vec<TableSchema> = Vec::new();
    let mut words: Vec<Arc<str>> = Vec::new();
    let mut head = [0_u8; 9];
    let mut payload = Vec::new();
    loop {
        match read_block(&mut input, &mut head, &mut payload) {
            Block::Good => {}
            Block::End if input.ended_whole() => return Ok(End::Whole),
            Block::End | Block::Cut => return Ok(End::Cut),
        }
        let good = match head[0] {
            SCHEMA => read_schema(&payload).map(|s| schema = s),
            WORDS => read_words(&payload, &mut words),
            ROWS => match read_rows(&payload, &schema, &wanted) {
                Payload::Rows(rows) => {
                    visit(rows, &words);
                    Some(())
                }
                Payload::NotWanted => Some(()),
                Payload::Damaged => None,
            },
            // A block of a kind this version does not know.
            _ => Some(()),
        };
        if good.is_none() {
            return Ok(End::Cut);
        }
    }
}

enum Block {
    Good,
    End,
    Cut,
}

fn read_block(input: &mut impl Read, head: &mut [u8; 9], payload: &mut Vec<u8>) -> Block {
    match input.read(&mut head[..1]) {
        Ok(0) => return Block::End,
        Err(_) => return Block::Cut,
        Ok(_) => {}
    }
    if input.read_exact(&mut head[1..]).is_err() {
        return Block::Cut;
    }
    let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
    let crc = u32::from_le_bytes([head[5], head[6], head[7], head[8]]);
    if length > LARGEST_BLOCK {
        return Block::Cut;
    }
    payload.clear();
    let read = input.take(u64::from(length)).read_to_end(payload);
    if read.is_err() || payload.len() != length as usize || crc32fast::hash(payload) != crc {
        return Block::Cut;
    }
    Block::Good
}

fn read_schema(payload: &[u8]) -> Option<Vec<TableSchema>> {
    serde_json::from_slice::<Schema>(payload)
        .ok()
        .map(|s| s.tables)
}

fn read_words(payload: &[u8], words: &mut Vec<Arc<str>>) -> Option<()> {
    let mut rest = payload;
    let first = take_u32(&mut rest)? as usize;
    // A new frame repeats the words from the first on.
    if first > words.len() {
        return None;
    }
    words.truncate(first);
    while !rest.is_empty() {
        let length = take_u32(&mut rest)? as usize;
        let bytes = rest.split_off(..length)?;
        words.push(std::str::from_utf8(bytes).ok()?.into());
    }
    Some(())
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    let bytes = rest.split_off(..4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// What the payload of a block of rows holds.
enum Payload<'s> {
    Rows(RowsBlock<'s>),
    NotWanted,
    Damaged,
}

fn read_rows<'s>(
    payload: &[u8],
    schema: &'s [TableSchema],
    wanted: &impl Fn(&str) -> bool,
) -> Payload<'s> {
    let mut rest = payload;
    let Some((schema, count)) = read_rows_head(&mut rest, schema) else {
        return Payload::Damaged;
    };
    if !wanted(&schema.name) {
        return Payload::NotWanted;
    }
    // The head has checked the length: every column is there.
    let mut column = |width: usize| rest.split_off(..count * width).unwrap_or_default();
    let times = column(8)
        .as_chunks()
        .0
        .iter()
        .map(|b| i64::from_le_bytes(*b))
        .collect();
    let intervals = column(8)
        .as_chunks()
        .0
        .iter()
        .map(|b| f64::from_le_bytes(*b))
        .collect();
    let mut words = Vec::with_capacity(schema.words.len());
    for _ in &schema.words {
        words.push(
            column(4)
                .as_chunks()
                .0
                .iter()
                .map(|b| i32::from_le_bytes(*b))
                .collect(),
        );
    }
    let mut numbers = Vec::with_capacity(schema.numbers.len());
    for _ in &schema.numbers {
        numbers.push(
            column(8)
                .as_chunks()
                .0
                .iter()
                .map(|b| f64::from_le_bytes(*b))
                .collect(),
        );
    }
    Payload::Rows(RowsBlock {
        schema,
        times,
        intervals,
        words,
        numbers,
    })
}

/// The table and the number of rows, if the payload's length is that of such rows.
fn read_rows_head<'s>(
    rest: &mut &[u8],
    schema: &'s [TableSchema],
) -> Option<(&'s TableSchema, usize)> {
    let place = rest.split_off(..2)?;
    let schema = schema.get(usize::from(u16::from_le_bytes(place.try_into().ok()?)))?;
    let count = take_u32(rest)? as usize;
    let width = 16 + 4 * schema.words.len() + 8 * schema.numbers.len();
    (rest.len() == count.checked_mul(width)?).then_some((schema, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> File {
        let path = std::env::temp_dir().join(format!("sonde-{name}-{}", std::process::id()));
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .unwrap();
        std::fs::remove_file(&path).unwrap();
        file
    }

    /// A sample of two devices at `time`.
    fn sample(sink: &mut Sink, time: i64) {
        let table = TableId::of("disk_device");
        sink.clear();
        sink.at(time, 1.0);
        for device in ["sda", "sdb"] {
            let words = [sink.word(device), sink.word("disk")];
            sink.row(table, &words, &[time as f64, 2.0, f64::NAN]);
        }
    }

    /// Rows of `disk_device` that can be read; an error counts as a cut.
    fn read_all(file: &File) -> (Vec<(i64, String, f64)>, End) {
        let mut rows = Vec::new();
        let end = read(
            file,
            |t| t == "disk_device",
            |block, words| {
                for (i, &time) in block.times.iter().enumerate() {
                    let device = words[block.words[0][i] as usize].to_string();
                    rows.push((time, device, block.numbers[0][i]));
                }
            },
        );
        (rows, end.unwrap_or(End::Cut))
    }

    fn write(journal: &mut Journal, sink: &mut Sink, from: &mut usize, time: i64) {
        sample(sink, time);
        let (mut words, mut rows) = (Vec::new(), Vec::new());
        encode_words(sink, *from, &mut words);
        *from = sink.words.texts().len();
        encode_rows(sink, &mut rows);
        journal.append(&words, &rows).unwrap();
        journal.commit().unwrap();
    }

    #[test]
    fn what_was_committed_reads_back_and_a_cut_loses_only_the_end() {
        let file = scratch("journal");
        let mut journal = Journal::new(file.try_clone().unwrap());
        let (mut sink, mut from) = (Sink::new(), 0);
        let mut lengths = Vec::new();
        for time in 1..=5 {
            write(&mut journal, &mut sink, &mut from, time);
            lengths.push(journal.written());
        }
        let (rows, end) = read_all(&file);
        assert_eq!(end, End::Whole);
        assert_eq!(rows.len(), 10);
        assert_eq!(rows[9], (5, "sdb".into(), 5.0));
        // Cut at every byte: whole samples up to the cut, never an error.
        for length in (0..=lengths[4]).rev() {
            file.set_len(length).unwrap();
            let (rows, _) = read_all(&file);
            let whole = lengths.iter().filter(|&&l| l <= length).count();
            assert!(
                rows.len() >= whole * 2,
                "cut at {length}: {} rows",
                rows.len()
            );
            assert!(rows.iter().all(|(t, _, v)| *t as f64 == *v));
        }
    }

    #[test]
    fn after_a_failed_write_the_next_frame_stands_alone() {
        let file = scratch("journal-frame");
        let mut journal = Journal::new(file.try_clone().unwrap());
        let (mut sink, mut from) = (Sink::new(), 0);
        write(&mut journal, &mut sink, &mut from, 1);
        // What a failed commit leaves behind.
        journal.encoder = None;
        journal.compressed.clear();
        write(&mut journal, &mut sink, &mut from, 3);
        let (rows, end) = read_all(&file);
        assert_eq!(end, End::Whole);
        assert_eq!(rows.iter().map(|r| r.0).collect::<Vec<_>>(), [1, 1, 3, 3]);
        assert_eq!(rows[3].1, "sdb");
    }

    #[test]
    fn damage_is_noticed() {
        let file = scratch("journal-damage");
        let mut journal = Journal::new(file.try_clone().unwrap());
        let (mut sink, mut from) = (Sink::new(), 0);
        for time in 1..=3 {
            write(&mut journal, &mut sink, &mut from, time);
        }
        let last = journal.written();
        for offset in (0..last).step_by(7) {
            let mut byte = [0];
            file.read_exact_at(&mut byte, offset).unwrap();
            file.write_all_at(&[byte[0] ^ 0x55], offset).unwrap();
            let (rows, _) = read_all(&file);
            assert!(rows.iter().all(|(t, d, v)| {
                *t as f64 == *v && (d == "sda" || d == "sdb") && (1..=3).contains(t)
            }));
            file.write_all_at(&byte, offset).unwrap();
        }
    }
}
