//! The newest part of an observation, in memory: what a live page looks at.
//!
//! Rows are kept as the blocks of the journal, by table and piece of time, so that a question
//! unpacks only the table and the time it is about: one about the last minute reads what came
//! in the last minute, however long is kept. A piece is one sample at first; each minute the
//! samples are packed together. What is older than asked for goes, and so does the oldest when
//! there is no more room.
//!
//! Words are numbered in the order in which they come, and go with the rows that may use them:
//! whoever appends begins with new words now and then ([`Tail::renew`]), or an observation of
//! weeks would keep the names of all processes there ever were.
//! [Why it is so](../../../docs/decisions/0013-live-view.md).

mod words;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use crate::catalog::{self, Detail};
use crate::journal::{self, Columns, RowsBlock};
use crate::read::Part;
use crate::rows::TableId;
use crate::write::{CreateError, Finished, Writer, write_durably};
use crate::{Manifest, Nanos, Run, Sink, Word};
use words::Words;

/// Samples are packed together when they are so long.
const PIECE: Nanos = 60_000_000_000;

/// Events of one sample are packed at once if they are larger, in bytes.
const LARGE: usize = 16 << 10;

/// Level of the compressor: this costs 3 ns a byte.
const LEVEL: i32 = 1;

/// Bytes that may wait for the disk while an observation is kept.
const WAITING: usize = 16 << 20;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Nanoseconds back from now.
    pub time: Nanos,
    /// Bytes of memory; what is newest stays in any case.
    pub bytes: usize,
}

impl Default for Room {
    /// An hour, in at most 256 MiB.
    fn default() -> Self {
        Room {
            time: 3_600_000_000_000,
            bytes: 256 << 20,
        }
    }
}

/// The newest part of an observation. One thread appends, others take snapshots.
#[derive(Debug)]
pub struct Tail {
    room: Room,
    held: RwLock<Held>,
}

#[derive(Debug)]
struct Held {
    manifest: Manifest,
    words: Words,
    pieces: VecDeque<Arc<Piece>>,
    /// How many of the last pieces are one sample each.
    loose: usize,
    bytes: usize,
    /// Counts the samples.
    version: u64,
    /// Files beside the tables, by name.
    beside: BTreeMap<String, Vec<u8>>,
}

/// What came in a stretch of time.
#[derive(Debug)]
struct Piece {
    /// No word in it has a lower number.
    words_from: u32,
    /// End of the first sample in it, and of the last.
    span: (Nanos, Nanos),
    tables: Vec<Rows>,
    bytes: usize,
}

/// Rows of a table in a piece.
#[derive(Clone, Debug)]
struct Rows {
    table: TableId,
    /// Least and greatest time of a row.
    range: (Nanos, Nanos),
    packed: bool,
    /// Blocks of the journal.
    blocks: Vec<u8>,
}

/// What a [`Tail`] had at a moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    words: Words,
    pieces: Vec<Arc<Piece>>,
}

/// Why an observation could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// There is something at the path, or the directory cannot be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// Nothing was sampled yet.
    #[error("there is nothing to keep yet: the first sample comes in a moment")]
    Empty,
    /// The run could not be finished.
    #[error("the run could not be written: {0}")]
    Io(#[from] io::Error),
}

impl Tail {
    /// Of an observation that `manifest` describes.
    pub fn new(manifest: Manifest, room: Room) -> Tail {
        Tail {
            room,
            held: RwLock::new(Held {
                manifest,
                words: Words::default(),
                pieces: VecDeque::new(),
                loose: 0,
                bytes: 0,
                version: 0,
                beside: BTreeMap::new(),
            }),
        }
    }

    fn held(&self) -> RwLockReadGuard<'_, Held> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn held_to_change(&self) -> RwLockWriteGuard<'_, Held> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the rows of `sink`, a sample ending at `time`, and empties it. The sink has to be
    /// the same each time, or [`Tail::renew`] comes before: words keep their numbers.
    pub fn append(&self, sink: &mut Sink, time: Nanos) {
        let (known, base) = self.held().words.known();
        sink.shift_words(base);
        let tables: Vec<Rows> = sink
            .filled()
            .map(|(table, rows)| encoded(table, rows))
            .collect();
        let bytes = tables.iter().map(|rows| rows.blocks.len()).sum();
        let piece = Piece {
            words_from: base,
            span: (time, time),
            tables,
            bytes,
        };
        let new: Vec<Arc<str>> = sink.words.texts()[known..].to_vec();
        sink.clear();
        let together = self.to_pack(time);
        let mut held = self.held_to_change();
        held.words.add(new);
        if let Some(together) = together {
            held.replace_loose(together);
        }
        held.bytes += piece.bytes;
        held.pieces.push_back(Arc::new(piece));
        held.loose += 1;
        held.version += 1;
        let oldest = time.saturating_sub(self.room.time);
        held.make_room(oldest, self.room.bytes);
    }

    /// What is appended from now on comes from another sink, which has words of its own.
    pub fn renew(&self) {
        self.held_to_change().words.renew();
    }

    /// The loose samples as one piece, if they are old enough. Only the appending thread
    /// changes pieces, so that readers need not wait for the packing.
    fn to_pack(&self, now: Nanos) -> Option<Piece> {
        let held = self.held();
        let first = held.pieces.len() - held.loose;
        let loose: Vec<Arc<Piece>> = held.pieces.range(first..).cloned().collect();
        drop(held);
        let begun = loose.first()?.span.0;
        (now.saturating_sub(begun) >= PIECE).then(|| packed(&loose))
    }

    /// Tells what is known of the observation now.
    pub fn describe(&self, change: impl FnOnce(&mut Manifest)) {
        change(&mut self.held_to_change().manifest);
    }

    /// Keeps a file beside the tables, such as `inventory.json`.
    pub fn put_beside(&self, name: &str, content: Vec<u8>) {
        let mut held = self.held_to_change();
        held.beside.insert(name.to_owned(), content);
    }

    /// A file beside the tables.
    pub fn beside(&self, name: &str) -> Option<Vec<u8>> {
        self.held().beside.get(name).cloned()
    }

    /// Counts the samples that came.
    pub fn version(&self) -> u64 {
        self.held().version
    }

    /// When the oldest sample that is kept ended, if there is one.
    pub fn oldest(&self) -> Option<Nanos> {
        self.held().pieces.front().map(|piece| piece.span.0)
    }

    /// Bytes of rows and words in memory.
    pub fn bytes(&self) -> usize {
        let held = self.held();
        held.bytes + held.words.bytes()
    }

    /// What there is now, as a run.
    pub fn run(&self) -> Run {
        let held = self.held();
        let snapshot = Snapshot {
            words: held.words.clone(),
            pieces: held.pieces.iter().cloned().collect(),
        };
        Run::of_tail(held.manifest.clone(), snapshot)
    }

    /// Writes what there is now as a run at `path`, which must not exist.
    pub fn keep(&self, path: &Path) -> Result<Finished, KeepError> {
        let run = self.run();
        let (Some(first), Some(snapshot)) = (self.first_start(), run.tail()) else {
            return Err(KeepError::Empty);
        };
        let mut manifest = run.manifest.clone();
        let ended = run.ended();
        // Time is told from what is kept.
        manifest.started = first.max(manifest.started);
        manifest.ended = Some(ended);
        let beside = self.held().beside.clone();
        let mut writer = Writer::create(path, &manifest)?;
        if let Err(why) = fill(&mut writer, snapshot, &beside) {
            writer.abandon();
            return Err(why);
        }
        Ok(writer.finish(manifest)?)
    }

    /// When the first interval that is kept starts.
    fn first_start(&self) -> Option<Nanos> {
        let run = self.run();
        let table = run.table("self").ok().flatten()?;
        let part = table.parts.first()?;
        let mut found = None;
        let read = table.read(part, &[], |batch| {
            if let (None, Some(time), Some(interval)) =
                (found, batch.times.first(), batch.intervals.first())
            {
                found = Some(time.saturating_sub((interval * 1e9) as Nanos));
            }
        });
        read.ok().and(found)
    }
}

/// Writes all pieces of what is kept, and the files beside.
fn fill(
    writer: &mut Writer,
    snapshot: &Snapshot,
    beside: &BTreeMap<String, Vec<u8>>,
) -> Result<(), KeepError> {
    let mut sink = Sink::new();
    // Several sinks may have had the same text.
    let texts = snapshot.words.texts().iter();
    let words: Vec<Word> = texts.map(|text| sink.word(text)).collect();
    for number in 0..snapshot.pieces.len() {
        snapshot.fill(number, &words, &mut sink)?;
        writer.append(&mut sink, snapshot.pieces[number].span.1);
        while writer.queued() > WAITING {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    for (name, content) in beside {
        write_durably(&writer.inside().join(name), content)?;
    }
    Ok(())
}

impl Held {
    fn replace_loose(&mut self, together: Piece) {
        let first = self.pieces.len() - self.loose;
        self.bytes -= self.pieces.drain(first..).map(|p| p.bytes).sum::<usize>();
        self.bytes += together.bytes;
        self.pieces.push_back(Arc::new(together));
        self.loose = 0;
    }

    /// Lets go of pieces that ended before `oldest`, and of more until there is room.
    fn make_room(&mut self, oldest: Nanos, most: usize) {
        while self.pieces.len() > 1 {
            let Some(first) = self.pieces.front() else {
                return;
            };
            if first.span.1 >= oldest && self.bytes + self.words.bytes() <= most {
                return;
            }
            self.bytes -= first.bytes;
            self.pieces.pop_front();
            self.loose = self.loose.min(self.pieces.len());
            if let Some(first) = self.pieces.front() {
                self.words.forget(first.words_from);
            }
        }
    }
}

fn encoded(table: TableId, rows: &crate::Rows) -> Rows {
    let mut blocks = Vec::new();
    journal::encode_table(table, rows, &mut blocks);
    let range = rows.times.iter().fold((Nanos::MAX, Nanos::MIN), |r, time| {
        (r.0.min(*time), r.1.max(*time))
    });
    let packed = rows.table.detail == Detail::Event && blocks.len() > LARGE;
    Rows {
        table,
        range,
        packed,
        blocks: if packed { pack(&blocks) } else { blocks },
    }
}

/// In memory, this does not fail.
fn pack(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, LEVEL).unwrap_or_default()
}

/// Several samples as one piece. Rows of a table stay in order of time: those of samples are
/// packed here, those of events may have been before.
fn packed(loose: &[Arc<Piece>]) -> Piece {
    let mut by_table: BTreeMap<u16, (Vec<u8>, Rows)> = BTreeMap::new();
    for rows in loose.iter().flat_map(|piece| &piece.tables) {
        let (plain, all) = by_table.entry(rows.table.0).or_insert_with(|| {
            let empty = Rows {
                table: rows.table,
                range: rows.range,
                packed: true,
                blocks: Vec::new(),
            };
            (Vec::new(), empty)
        });
        all.range = (all.range.0.min(rows.range.0), all.range.1.max(rows.range.1));
        if rows.packed {
            // Frames stand one after the other.
            all.blocks.extend_from_slice(&rows.blocks);
        } else {
            plain.extend_from_slice(&rows.blocks);
        }
    }
    let tables: Vec<Rows> = by_table
        .into_values()
        .map(|(plain, mut rows)| {
            if !plain.is_empty() {
                rows.blocks.extend(pack(&plain));
            }
            rows.blocks.shrink_to_fit();
            rows
        })
        .collect();
    let ends = loose.first().zip(loose.last());
    Piece {
        words_from: loose.iter().map(|p| p.words_from).min().unwrap_or(0),
        span: ends.map_or((0, 0), |(first, last)| (first.span.0, last.span.1)),
        bytes: tables.iter().map(|rows| rows.blocks.len()).sum(),
        tables,
    }
}

impl Snapshot {
    /// The last time there is; `started` if there is none.
    pub(crate) fn ended(&self, started: Nanos) -> Nanos {
        self.pieces.last().map_or(started, |piece| piece.span.1)
    }

    /// Names of the tables that have rows.
    pub(crate) fn tables(&self) -> Vec<String> {
        let all = self.pieces.iter().flat_map(|piece| &piece.tables);
        let mut places: Vec<u16> = all.map(|rows| rows.table.0).collect();
        places.sort_unstable();
        places.dedup();
        let mut names: Vec<String> = catalog::tables()
            .enumerate()
            .filter(|(place, _)| places.binary_search(&(*place as u16)).is_ok())
            .map(|(_, (_, table))| table.name.to_owned())
            .collect();
        names.sort_unstable();
        names
    }

    /// The pieces that have rows of a table.
    pub(crate) fn parts(&self, name: &str) -> Vec<Part> {
        let pieces = self.pieces.iter().enumerate();
        let parts = pieces.filter_map(|(number, piece)| {
            let rows = piece.rows(name)?;
            Some(Part {
                number,
                range: Some(rows.range),
            })
        });
        parts.collect()
    }

    /// What the numbers of words mean.
    pub(crate) fn words(&self) -> &[Arc<str>] {
        self.words.texts()
    }

    /// Reads the rows of a table in a piece, block by block.
    pub(crate) fn read(
        &self,
        number: usize,
        name: &str,
        columns: Columns<'_>,
        mut visit: impl FnMut(RowsBlock<'_>),
    ) -> io::Result<()> {
        let visit = |mut block: RowsBlock<'_>| {
            self.words.places(&mut block.words);
            visit(block);
        };
        match self.pieces.get(number).and_then(|piece| piece.rows(name)) {
            Some(rows) => rows.read(columns, visit),
            None => Ok(()),
        }
    }

    /// Puts all rows of a piece into `sink`, whose `words` are those of this by place.
    fn fill(&self, number: usize, words: &[Word], sink: &mut Sink) -> io::Result<()> {
        for rows in &self.pieces[number].tables {
            rows.read(Columns::All, |mut block| {
                self.words.places(&mut block.words);
                let into = sink.rows_mut(rows.table);
                into.times.extend_from_slice(&block.times);
                into.intervals.extend_from_slice(&block.intervals);
                for (to, from) in into.words.iter_mut().zip(&block.words) {
                    to.extend(from.iter().map(|code| words[*code as usize]));
                }
                for (to, from) in into.values.iter_mut().zip(&block.numbers) {
                    to.extend_from_slice(&from.real());
                }
            })?;
        }
        Ok(())
    }
}

impl Piece {
    fn rows(&self, name: &str) -> Option<&Rows> {
        let place = catalog::tables().position(|(_, t)| t.name == name)?;
        self.tables
            .iter()
            .find(|rows| usize::from(rows.table.0) == place)
    }
}

impl Rows {
    fn read(&self, columns: Columns<'_>, visit: impl FnMut(RowsBlock<'_>)) -> io::Result<()> {
        let wanted = |_: &str| Some(columns);
        let whole = if self.packed {
            let unpacked = zstd::stream::read::Decoder::new(self.blocks.as_slice())?;
            journal::read_own(unpacked, wanted, visit)
        } else {
            journal::read_own(self.blocks.as_slice(), wanted, visit)
        };
        if whole {
            Ok(())
        } else {
            Err(io::Error::other("what is in memory was damaged"))
        }
    }
}

#[cfg(test)]
mod tests;
