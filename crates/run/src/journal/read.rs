//! Reading a journal, block by block. No more than one block is in memory at a time.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, OnceLock};

use super::{EVENTS, LARGEST_BLOCK, ROWS, SCHEMA, Schema, TableSchema, WORDS, events};
use super::{checksum, table_schema, take_u32};
use crate::Nanos;
use crate::catalog;
use crate::frames::Frames;
use crate::whole::Step;

/// One block of rows, as read.
pub struct RowsBlock<'a> {
    /// Columns of its table.
    pub schema: &'a TableSchema,
    /// End of the interval, one a row.
    pub times: Vec<Nanos>,
    /// True length of the interval in seconds, one a row; none of events.
    pub intervals: Vec<f64>,
    /// Word columns, as numbers into the words given beside.
    pub words: Vec<Vec<i32>>,
    /// Number columns.
    pub numbers: Vec<Numbers>,
}

/// A column of numbers, as it was written.
pub enum Numbers {
    /// NaN is "not known".
    Real(Vec<f64>),
    /// Whole numbers, all known.
    Whole(Vec<i64>, Step),
}

impl Numbers {
    /// In the base unit.
    pub fn real(&self) -> Cow<'_, [f64]> {
        match self {
            Numbers::Real(values) => Cow::Borrowed(values),
            Numbers::Whole(values, step) => values.iter().map(|v| step.real(*v)).collect(),
        }
    }
}

/// Which columns of a table to decode.
#[derive(Clone, Copy)]
pub enum Columns<'c> {
    /// All of them.
    All,
    /// Those; others of a table of events may stay empty.
    Only(&'c [&'c str]),
}

/// What a reader found at the end of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The last block is whole.
    Whole,
    /// The file ends within a block, as when its recorder was killed while it wrote; all before
    /// it is good.
    Cut,
    /// A block is not what was written, and the file goes on; all before it is good.
    Damaged,
}

/// Reads all whole blocks of rows from `file` (from its start, whatever its cursor).
///
/// `wanted` says what to decode of a table; it is asked at each block. `visit` gets each block
/// with all words so far; the numbers of words stay the same within and between frames.
pub fn read<'c>(
    file: &File,
    mut wanted: impl FnMut(&str) -> Option<Columns<'c>>,
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
            Block::Cut if !input.is_used_up() || !may_be_cut(&head, &payload, &schema) => {
                return Ok(End::Damaged);
            }
            Block::End | Block::Cut => return Ok(End::Cut),
            Block::Damaged => return Ok(End::Damaged),
        }
        let good = match head[0] {
            SCHEMA => read_schema(&payload).map(|s| schema = s),
            WORDS => read_words(&payload, &mut words),
            ROWS | EVENTS => {
                let decode = if head[0] == ROWS {
                    read_rows
                } else {
                    events::decode
                };
                match decode(&payload, &schema, &mut wanted) {
                    Payload::Rows(rows) => are_known(&rows, &words).then(|| visit(rows, &words)),
                    Payload::NotWanted => Some(()),
                    Payload::Damaged => None,
                }
            }
            // A block of a kind this version does not know.
            _ => Some(()),
        };
        if good.is_none() {
            return Ok(End::Damaged);
        }
    }
}

/// Reads blocks of rows that this program has just encoded, from a buffer or what unpacks one.
/// Answers whether all of them were whole.
pub(crate) fn read_own<'c>(
    mut input: impl Read,
    mut wanted: impl FnMut(&str) -> Option<Columns<'c>>,
    mut visit: impl FnMut(RowsBlock<'_>),
) -> bool {
    static SCHEMA: OnceLock<Vec<TableSchema>> = OnceLock::new();
    let schema = SCHEMA.get_or_init(|| {
        let tables = catalog::tables();
        tables.map(|(s, t)| table_schema(s, t)).collect()
    });
    let mut head = [0_u8; 9];
    let mut payload = Vec::new();
    loop {
        match read_block(&mut input, &mut head, &mut payload) {
            Block::Good => {}
            Block::End => return true,
            Block::Cut | Block::Damaged => return false,
        }
        let decode = if head[0] == ROWS {
            read_rows
        } else {
            events::decode
        };
        match decode(&payload, schema, &mut wanted) {
            Payload::Rows(rows) => visit(rows),
            Payload::NotWanted => {}
            Payload::Damaged => return false,
        }
    }
}

/// Bytes of a payload of rows before the rows.
const ROWS_HEAD: usize = 6;

enum Block {
    Good,
    End,
    Cut,
    /// As long as it says, but another one.
    Damaged,
}

fn read_block(input: &mut impl Read, head: &mut [u8; 9], payload: &mut Vec<u8>) -> Block {
    payload.clear();
    // What was cut lacks its end. What cannot be unpacked is not what was written.
    let failed = |e: &io::Error| match e.kind() {
        io::ErrorKind::UnexpectedEof => Block::Cut,
        _ => Block::Damaged,
    };
    match input.read(&mut head[..1]) {
        Ok(0) => return Block::End,
        Err(e) => return failed(&e),
        Ok(_) => {}
    }
    if let Err(e) = input.read_exact(&mut head[1..]) {
        return failed(&e);
    }
    let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
    let crc = u32::from_le_bytes([head[5], head[6], head[7], head[8]]);
    if length > LARGEST_BLOCK {
        return Block::Damaged;
    }
    if let Err(e) = input.take(u64::from(length)).read_to_end(payload) {
        return failed(&e);
    }
    if payload.len() != length as usize {
        return Block::Cut;
    }
    // The first journals have the payload's alone.
    if checksum(head[0], payload) != crc && crc32fast::hash(payload) != crc {
        return Block::Damaged;
    }
    Block::Good
}

/// Whether all words that the rows refer to were told.
fn are_known(rows: &RowsBlock<'_>, words: &[Arc<str>]) -> bool {
    // The largest of a column is found many at a time; one below 0 is large too.
    let largest = |column: &Vec<i32>| column.iter().map(|w| w.cast_unsigned()).max();
    let mut largest = rows.words.iter().filter_map(largest);
    largest.all(|word| (word as usize) < words.len())
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

/// What to decode of a table; `None`: nothing.
pub(super) type Wanted<'w, 'c> = &'w mut dyn FnMut(&str) -> Option<Columns<'c>>;

/// What the payload of a block of rows holds.
pub(super) enum Payload<'s> {
    Rows(RowsBlock<'s>),
    NotWanted,
    Damaged,
}

fn read_rows<'s>(payload: &[u8], schema: &'s [TableSchema], wanted: Wanted<'_, '_>) -> Payload<'s> {
    let mut rest = payload;
    let Some((schema, count)) = read_rows_head(&mut rest, schema) else {
        return Payload::Damaged;
    };
    if wanted(&schema.name).is_none() {
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
        let bytes = column(8);
        let values = bytes.as_chunks().0.iter();
        numbers.push(Numbers::Real(
            values.map(|b| f64::from_le_bytes(*b)).collect(),
        ));
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
    let (schema, count, length) = rows_head(rest, schema)?;
    (rest.len() == length).then_some((schema, count))
}

/// The table, the number of rows, and the bytes that they take behind that.
fn rows_head<'s>(
    rest: &mut &[u8],
    schema: &'s [TableSchema],
) -> Option<(&'s TableSchema, usize, usize)> {
    let place = rest.split_off(..2)?;
    let schema = schema.get(usize::from(u16::from_le_bytes(place.try_into().ok()?)))?;
    let count = take_u32(rest)? as usize;
    let width = 16 + 4 * schema.words.len() + 8 * schema.numbers.len();
    Some((schema, count, count.checked_mul(width)?))
}

/// Whether a block may be as long as it says, of which the file has the beginning only: a length that was
/// damaged reaches beyond the file's end, too.
fn may_be_cut(head: &[u8; 9], payload: &[u8], schema: &[TableSchema]) -> bool {
    let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let mut rest = payload;
    if head[0] != ROWS || payload.len() < ROWS_HEAD {
        return true;
    }
    let rows = rows_head(&mut rest, schema);
    rows.is_some_and(|(_, _, behind)| behind + ROWS_HEAD == length)
}
