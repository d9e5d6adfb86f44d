//! ZFS datasets, from `/proc/spl/kstat/zfs/<pool>/objset-0x<number>`.
//!
//! ```text
//! 28 1 0x01 7 2160 5266516168 165893402816452
//! name                            type data
//! dataset_name                    7    tank/home
//! writes                          4    12
//! nwritten                        4    49152
//! reads                           4    3
//! nread                           4    384
//! ```
//! Datasets that are mounted and volumes have such a file; there may be thousands. The first
//! `KEPT` stay open, the rest are opened for each reading (about twice the cost). What a
//! dataset did before its file was listed is in no row, unless it came into being in that very
//! interval.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use run::rows::TableId;
use run::{Sink, Word};

use super::Folder;
use super::kstat::{self, Count, Since};
use crate::read::{Kept, grown, text};

/// How many files may stay open.
const KEPT: usize = 256;

/// What a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dataset<'a> {
    /// The full name.
    pub name: &'a [u8],
    /// Nanoseconds after boot when its counting began.
    pub made: u64,
    /// Nanoseconds after boot of this reading.
    pub read: u64,
    /// Reads, bytes read, writes, bytes written.
    pub counters: [u64; 4],
}

/// A whole file; `None` if something is missing.
pub fn parse(bytes: &[u8]) -> Option<Dataset<'_>> {
    let (made, read) = kstat::times(bytes)?;
    let mut name = None;
    let mut counters = [None; 4];
    for (key, value) in kstat::named(bytes) {
        match key {
            b"dataset_name" => name = Some(value),
            b"reads" => counters[0] = kstat::amount(value),
            b"nread" => counters[1] = kstat::amount(value),
            b"writes" => counters[2] = kstat::amount(value),
            b"nwritten" => counters[3] = kstat::amount(value),
            _ => {}
        }
    }
    let [a, b, c, d] = counters;
    Some(Dataset {
        name: name?,
        made,
        read,
        counters: [a?, b?, c?, d?],
    })
}

struct Known {
    name: Vec<u8>,
    word: Word,
    count: Count<4>,
}

struct Objset {
    path: PathBuf,
    kept: Option<Kept>,
    pool: Word,
    /// `None` until its first reading.
    known: Option<Known>,
    gone: bool,
}

/// All datasets of all pools.
pub(super) struct Objsets {
    all: Vec<Objset>,
    /// Nanoseconds after boot of the last reading of any of them.
    last: u64,
    buffer: Vec<u8>,
    ops: Option<[Word; 2]>,
    table: TableId,
}

impl Objsets {
    pub(super) fn new() -> Objsets {
        Objsets {
            all: Vec::new(),
            last: 0,
            buffer: Vec::new(),
            ops: None,
            table: TableId::of("zfs"),
        }
    }

    pub(super) fn sample(&mut self, interval: Option<f64>, out: &mut Sink) {
        let ops = *self
            .ops
            .get_or_insert_with(|| ["read", "write"].map(|op| out.word(op)));
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut rows = 0;
        let mut idle = None;
        let last = self.last;
        for objset in &mut self.all {
            let Some(now) = objset.read(&mut buffer) else {
                // Unmounted, destroyed or exported: the others go on.
                objset.gone = true;
                continue;
            };
            self.last = self.last.max(now.read);
            let Some((name, amounts)) = advance(&mut objset.known, now, last, out) else {
                continue;
            };
            if interval.is_none() {
                continue;
            }
            idle.get_or_insert([objset.pool, name, ops[0]]);
            for (op, pair) in ops.iter().zip(amounts.chunks(2)) {
                // NaN is not zero: an amount that is not known has its row.
                if pair != [0.0, 0.0] {
                    rows += 1;
                    out.row(self.table, &[objset.pool, name, *op], pair);
                }
            }
        }
        if let Some(words) = idle.filter(|_| rows == 0) {
            // An interval without work is not a gap.
            out.row(self.table, &words, &[0.0, 0.0]);
        }
        self.all.retain(|o| !o.gone);
        self.buffer = buffer;
    }

    /// Adds the datasets that are new.
    pub(super) fn list(&mut self, pools: &[Folder], out: &mut Sink) {
        let known: std::collections::HashSet<PathBuf> =
            self.all.iter().map(|o| o.path.clone()).collect();
        let mut open = self.all.iter().filter(|o| o.kept.is_some()).count();
        for pool in pools {
            let is_objset = |f: &[u8]| f.starts_with(b"objset-0x");
            for path in pool.files(is_objset).filter(|p| !known.contains(*p)) {
                let kept = (open < KEPT).then(|| Kept::open(path).ok()).flatten();
                open += usize::from(kept.is_some());
                self.all.push(Objset {
                    path: path.clone(),
                    kept,
                    pool: out.word(&pool.name),
                    known: None,
                    gone: false,
                });
            }
        }
    }
}

impl Objset {
    fn read<'b>(&self, buffer: &'b mut Vec<u8>) -> Option<Dataset<'b>> {
        let bytes = match &self.kept {
            Some(kept) => kept.read(buffer).ok()?,
            None => reopened(&self.path, buffer).ok()?,
        };
        parse(bytes)
    }
}

fn reopened<'b>(path: &Path, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
    buffer.clear();
    io::Read::read_to_end(&mut fs::File::open(path)?, buffer)?;
    Ok(&buffer[..])
}

/// Word of the name, and what was added since the last reading; `None` if that is the first
/// one that can be compared. `last` is when any dataset was read last.
fn advance(
    known: &mut Option<Known>,
    now: Dataset,
    last: u64,
    out: &mut Sink,
) -> Option<(Word, [f64; 4])> {
    if known.as_ref().is_none_or(|k| k.name != now.name) {
        // A dataset may be renamed; its counters go on.
        *known = Some(Known {
            name: now.name.to_vec(),
            word: out.word(&text(now.name)),
            count: known.take().map(|k| k.count).unwrap_or_default(),
        });
    }
    let known = known.as_mut()?;
    let times = (now.made, now.read);
    let amounts = match known.count.advance(times, now.counters, last) {
        Since::FirstSeen => return None,
        Since::Renewed => [f64::NAN; 4],
        Since::Was(before) => std::array::from_fn(|i| grown(before[i], now.counters[i])),
    };
    Some((known.word, amounts))
}
