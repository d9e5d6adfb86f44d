//! What ZFS pools did on their devices, from `/proc/spl/kstat/zfs/<pool>/io`.
//!
//! ```text
//! 11 3 0x00 1 80 2225326830828 32953476980628
//! nread    nwritten reads    writes   wtime    wlentime wupdate  rtime    rlentime rupdate  wcnt     rcnt
//! 1884160  6450688  22       978      272187126 2850519036 2263669418655 424226814 2850519036 2263669871823 0        0
//! ```
//! Bytes and I/Os that the devices of the pool completed, after aggregation; I/Os are 32 bits
//! wide and wrap. Times in nanoseconds: with something in the queues (`w`) or at a device (`r`),
//! and the same times how many (`len`). How many there are now: `wcnt`, `rcnt`. The line above
//! them says which is which. `OpenZFS` 2.1 took the file away.

use std::path::PathBuf;

use run::rows::TableId;
use run::{Sink, Word};

use super::Folder;
use super::kstat::{self, Count, Since};
use crate::read::{Kept, advance, fields, grown, lines};

/// The columns that are counted. From the third on they are times.
const COUNTED: [&[u8]; 8] = [
    b"reads",
    b"nread",
    b"writes",
    b"nwritten",
    b"wlentime",
    b"rlentime",
    b"wtime",
    b"rtime",
];
/// Those of 32 bits among them.
const NARROW: [usize; 2] = [0, 2];
/// The columns of what is now.
const NOW: [&[u8]; 2] = [b"wcnt", b"rcnt"];

/// What the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// When its counting began, and when it was read: nanoseconds after boot.
    pub times: (u64, u64),
    /// Reads, bytes read, writes, bytes written; nanoseconds: waiting times how many, at a
    /// device times how many, any waiting, any at a device.
    pub counted: [u64; 8],
    /// How many wait, and are at a device.
    pub now: [u64; 2],
}

/// A whole file; `None` if something is missing, or does not end.
pub fn parse(bytes: &[u8]) -> Option<Io> {
    let times = kstat::times(bytes)?;
    let mut lines = lines(bytes.strip_suffix(b"\n")?).skip(1);
    let (names, values) = (lines.next()?, lines.next()?);
    let of = |wanted: &[u8]| {
        let place = fields(names).position(|name| name == wanted)?;
        kstat::amount(fields(values).nth(place)?)
    };
    let mut io = Io {
        times,
        counted: [0; 8],
        now: [0; 2],
    };
    for (value, name) in io.counted.iter_mut().zip(COUNTED) {
        *value = of(name)?;
    }
    for (value, name) in io.now.iter_mut().zip(NOW) {
        *value = of(name)?;
    }
    Some(io)
}

struct Pool {
    path: PathBuf,
    file: Kept,
    name: Word,
    count: Count<8>,
}

/// All pools whose file there is.
pub(super) struct Pools {
    all: Vec<Pool>,
    /// Nanoseconds after boot of the last reading of any of them.
    last: u64,
    buffer: Vec<u8>,
    ops: Option<[Word; 2]>,
    by_op: TableId,
    by_pool: TableId,
}

impl Pools {
    pub(super) fn new() -> Pools {
        Pools {
            all: Vec::new(),
            last: 0,
            buffer: Vec::new(),
            ops: None,
            by_op: TableId::of("zpool"),
            by_pool: TableId::of("zpool_queue"),
        }
    }

    /// Adds the pools that are new.
    pub(super) fn list(&mut self, pools: &[Folder], out: &mut Sink) {
        for pool in pools {
            for path in pool.files(|file| file == b"io") {
                if self.all.iter().any(|p| p.path == *path) {
                    continue;
                }
                if let Ok(file) = Kept::open(path) {
                    self.all.push(Pool {
                        path: path.clone(),
                        file,
                        name: out.word(&pool.name),
                        count: Count::default(),
                    });
                }
            }
        }
    }

    pub(super) fn sample(&mut self, interval: Option<f64>, out: &mut Sink) {
        let ops = *self
            .ops
            .get_or_insert_with(|| ["read", "write"].map(|op| out.word(op)));
        let last = self.last;
        let (by_op, by_pool) = (self.by_op, self.by_pool);
        let (buffer, newest) = (&mut self.buffer, &mut self.last);
        self.all.retain_mut(|pool| {
            let io = pool.file.read(buffer).ok().and_then(parse);
            let Some(io) = io else {
                // Exported or destroyed: the others go on.
                return false;
            };
            *newest = io.times.1.max(*newest);
            let added = match pool.count.advance(io.times, io.counted, last) {
                Since::FirstSeen => return true,
                Since::Renewed => [f64::NAN; 8],
                Since::Was(before) => std::array::from_fn(|i| {
                    let advance = if NARROW.contains(&i) { advance } else { grown };
                    advance(before[i], io.counted[i])
                }),
            };
            if interval.is_some() {
                let [moved @ .., _, _, _, _] = &added;
                for (&op, pair) in ops.iter().zip(moved.chunks(2)) {
                    out.row(by_op, &[pool.name, op], pair);
                }
                let seconds = |i: usize| added[i] / 1e9;
                let [queued, inflight] = io.now.map(|n| n as f64);
                let values = [seconds(4), seconds(5), seconds(6), seconds(7)];
                let [queue, service, waiting, busy] = values;
                let values = [queue, service, waiting, busy, queued, inflight];
                out.row(by_pool, &[pool.name], &values);
            }
            true
        });
    }
}
