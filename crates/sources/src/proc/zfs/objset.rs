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
//! `KEPT` stay open, the rest are opened for each reading (about twice the cost). Folders are
//! listed again every `RELIST` seconds: a dataset that appears is seen then, and what it did
//! before is in no row, unless it came into being in that very interval.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use run::rows::TableId;
use run::{Sink, Word};

use super::kstat;
use crate::Host;
use crate::read::{Kept, grown, text};

/// How many files may stay open.
const KEPT: usize = 256;

/// Seconds between two listings of the folders.
const RELIST: f64 = 10.0;

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
    made: u64,
    read: u64,
    before: [u64; 4],
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
    root: PathBuf,
    all: Vec<Objset>,
    /// Seconds since the folders were listed.
    listed: f64,
    /// Nanoseconds after boot of the last reading of any of them.
    last: u64,
    buffer: Vec<u8>,
    ops: Option<[Word; 2]>,
    table: TableId,
}

impl Objsets {
    pub(super) fn at(host: &Host) -> Objsets {
        Objsets {
            root: host.proc("spl/kstat/zfs"),
            all: Vec::new(),
            listed: f64::INFINITY,
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
        self.listed += interval.unwrap_or_default();
        if self.listed >= RELIST {
            self.listed = 0.0;
            self.list(out);
        }
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

    /// Adds the datasets that are new. A folder that cannot be read has none.
    fn list(&mut self, out: &mut Sink) {
        let known: std::collections::HashSet<PathBuf> =
            self.all.iter().map(|o| o.path.clone()).collect();
        let mut open = self.all.iter().filter(|o| o.kept.is_some()).count();
        for pool in entries(&self.root) {
            let Some(name) = pool.file_name().map(std::ffi::OsStr::as_encoded_bytes) else {
                continue;
            };
            let name = text(name).into_owned();
            for path in entries(&pool) {
                let file = path.file_name().map(std::ffi::OsStr::as_encoded_bytes);
                let is_objset = file.is_some_and(|f| f.starts_with(b"objset-0x"));
                if !is_objset || known.contains(&path) {
                    continue;
                }
                let kept = (open < KEPT).then(|| Kept::open(&path).ok()).flatten();
                open += usize::from(kept.is_some());
                self.all.push(Objset {
                    path,
                    kept,
                    pool: out.word(&name),
                    known: None,
                    gone: false,
                });
            }
        }
    }
}

/// The paths in a folder; none if it is not one, or may not be read.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let listing = fs::read_dir(folder).ok();
    listing.into_iter().flatten().flatten().map(|e| e.path())
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
    // Counting that began after the last sample began at zero in this interval.
    let new = known.is_none() && last > 0 && now.made > last;
    if known.as_ref().is_none_or(|k| k.name != now.name) {
        // A dataset may be renamed; its counters go on.
        let before = known.take();
        *known = Some(Known {
            name: now.name.to_vec(),
            word: out.word(&text(now.name)),
            made: before.as_ref().map_or(now.made, |k| k.made),
            read: before.as_ref().map_or(0, |k| k.read),
            before: before.map_or([0; 4], |k| k.before),
        });
    }
    let known = known.as_mut()?;
    let compared = new || known.read > 0;
    // The same file of a pool that was exported and imported again counts anew.
    let renewed = known.made != now.made;
    let before = std::mem::replace(&mut known.before, now.counters);
    (known.made, known.read) = (now.made, now.read.max(1));
    let amounts = std::array::from_fn(|i| {
        if renewed {
            f64::NAN
        } else {
            grown(before[i], now.counters[i])
        }
    });
    compared.then_some((known.word, amounts))
}
