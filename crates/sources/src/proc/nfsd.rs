//! NFS server, from `/proc/net/rpc/nfsd`.
//!
//! ```text
//! rc 0 6 18622
//! io 157286400 72864
//! th 8 0 0.000 0.000 0.000 0.000 0.000 0.000 0.000 0.000 0.000 0.000
//! net 972 55 917 1
//! rpc 18628 3 1 2 0
//! proc3 22 2 112 0 2719 111 0 0 0 0 0 0 0 0 0 0 0 27 216 0 2 1 0
//! proc4ops 76 0 0 0 1098 2 …
//! ```
//! `rc`: answers from the reply cache, requests that missed it, requests not cached. `io`:
//! bytes read and written (32 bits before 5.12: they wrap). `th`: threads; the rest is dead.
//! `net`: packets, of them UDP, TCP, and TCP connections. `rpc`: calls, bad ones, and these
//! by kind. Then how many operations follow, and each one's count.
//!
//! <https://docs.kernel.org/filesystems/nfs/knfsd-stats.html>, `fs/nfsd/stats.c`

pub mod ops;
pub mod pools;

use std::io;
use std::path::Path;

use run::rows::TableId;
use run::{Sink, Word};

use self::ops::Family;
use self::pools::Pools;
use crate::read::{Kept, advance, fields, lines, number};
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "nfsd",
    help: "NFS server: operations by version and name, bytes, threads",
    reads: "/proc/net/rpc/nfsd, /proc/fs/nfsd/pool_stats",
    link: "https://docs.kernel.org/filesystems/nfs/knfsd-stats.html",
    detail: Detail::Samples,
    open,
};

/// What is not counted by operation. `None`: the kernel does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes read and written.
    pub bytes: [Option<u64>; 2],
    /// Packets, bad calls, TCP connections, answers from the reply cache.
    pub counts: [Option<u64>; 4],
    /// Threads now.
    pub threads: Option<u64>,
}

/// The totals; `each` gets every operation's family, number and count.
pub fn parse(bytes: &[u8], mut each: impl FnMut(Family, usize, u64)) -> Totals {
    let mut totals = Totals::default();
    for line in lines(bytes) {
        let mut words = fields(line);
        let key = words.next().unwrap_or_default();
        if let Some(family) = Family::of(key) {
            let stated = words.next().and_then(number).unwrap_or_default() as usize;
            let counted = words.take(stated.min(family.limit()));
            for (i, count) in counted.map_while(number).enumerate() {
                each(family, i, count);
            }
            continue;
        }
        let mut at = |place: usize| words.nth(place).and_then(number);
        match key {
            b"rc" => totals.counts[3] = at(0),
            b"io" => totals.bytes = [at(0), at(0)],
            b"th" => totals.threads = at(0),
            b"net" => {
                totals.counts[0] = at(0);
                totals.counts[2] = at(2);
            }
            b"rpc" => totals.counts[1] = at(1),
            _ => {}
        }
    }
    totals
}

/// An operation that was ever counted.
struct Op {
    /// Interned when it has its first row.
    word: Option<Word>,
    before: u64,
}

struct Nfsd {
    file: Kept,
    buffer: Vec<u8>,
    /// By family, then by number.
    ops: [Vec<Op>; 4],
    before: Totals,
    pools: Pools,
    words: Option<[Word; 3]>,
    by_op: TableId,
    by_direction: TableId,
    table: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let path = host.proc("net/rpc/nfsd");
    Ok(Box::new(Nfsd {
        file: kept(&path)?,
        buffer: Vec::new(),
        ops: [const { Vec::new() }; 4],
        before: Totals::default(),
        pools: Pools::at(host),
        words: None,
        by_op: TableId::of("nfsd_ops"),
        by_direction: TableId::of("nfsd_bytes"),
        table: TableId::of("nfsd"),
    }))
}

fn kept(path: &Path) -> Result<Kept, Availability> {
    let needs = "the NFS server's module (modprobe nfsd; starting the server loads it)";
    let remedy = format!("let this user read {}", path.display());
    Kept::open(path).map_err(|e| Availability::of(path, &e, needs, &remedy))
}

impl Source for Nfsd {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = match self.file.read(&mut buffer) {
            Ok(bytes) => {
                self.rows(bytes, interval, out);
                Ok(())
            }
            Err(e) => self.reopen(e),
        };
        self.buffer = buffer;
        read?;
        self.pools.sample(interval, out);
        Ok(())
    }
}

impl Nfsd {
    /// The file of a module that was unloaded is dead; that of its successor counts anew, and
    /// what it did in this interval begins with the next reading.
    fn reopen(&mut self, error: io::Error) -> io::Result<()> {
        self.file = Kept::open(self.file.path()).map_err(|_| error)?;
        self.ops.iter_mut().for_each(Vec::clear);
        self.before = Totals::default();
        Ok(())
    }

    fn rows(&mut self, bytes: &[u8], interval: Option<f64>, out: &mut Sink) {
        let [read, write, idle] = *self
            .words
            .get_or_insert_with(|| ["read", "write", "v4 READ"].map(|w| out.word(w)));
        let mut rows = 0;
        let mut compared = false;
        let (ops, by_op) = (&mut self.ops, self.by_op);
        let now = parse(bytes, |family, number, count| {
            let ops = &mut ops[family as usize];
            // Numbers come in order from 0: a missing one is always the next.
            let Some(op) = ops.get_mut(number) else {
                ops.push(Op {
                    word: None,
                    before: count,
                });
                return;
            };
            compared = true;
            let before = std::mem::replace(&mut op.before, count);
            if interval.is_none() || before == count {
                return;
            }
            let word = *op
                .word
                .get_or_insert_with(|| out.word(&family.name(number)));
            rows += 1;
            out.row(by_op, &[word], &[advance(before, count)]);
        });
        let before = std::mem::replace(&mut self.before, now);
        // Only a reading that follows another has amounts.
        if interval.is_none() || before == Totals::default() {
            return;
        }
        if compared && rows == 0 {
            // An interval without work is not a gap.
            out.row(by_op, &[idle], &[0.0]);
        }
        out.row(
            self.by_direction,
            &[read],
            &[grew(before.bytes[0], now.bytes[0])],
        );
        out.row(
            self.by_direction,
            &[write],
            &[grew(before.bytes[1], now.bytes[1])],
        );
        let counts = [0, 1, 2, 3].map(|i| grew(before.counts[i], now.counts[i]));
        let threads = now.threads.map_or(f64::NAN, |n| n as f64);
        let [packets, errors, connections, cached] = counts;
        let values = [packets, errors, connections, cached, threads];
        out.row(self.table, &[], &values);
    }
}

fn grew(before: Option<u64>, now: Option<u64>) -> f64 {
    match (before, now) {
        (Some(before), Some(now)) => advance(before, now),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{Replay, captures, row, rows};

    fn sampled(states: &[&str]) -> (Replay, Sink) {
        let replay = Replay::of("nfsd/server", "before");
        let mut nfsd = open(&replay.host()).unwrap();
        let mut out = Sink::new();
        nfsd.sample(None, &mut out).unwrap();
        assert_eq!(out.filled().count(), 0);
        for state in states {
            replay.becomes(state);
            out.clear();
            nfsd.sample(Some(1.0), &mut out).unwrap();
        }
        (replay, out)
    }

    #[test]
    fn operations_between_two_readings() {
        let (_replay, out) = sampled(&["after"]);
        let expected = [
            ("v2 READ", 1.0),
            ("v3 READ", 100.0),
            ("v3 COMMIT", 3.0),
            ("v4 NULL", 2.0),
            ("v4 READ", 40.0),
            ("v4 SEQUENCE", 50.0),
            ("v4 REMOVEXATTR", 5.0),
        ]
        .map(|(op, count)| (op.to_owned(), vec![count]));
        assert_eq!(rows(&out, "nfsd_ops"), expected);
    }

    #[test]
    fn totals_between_two_readings() {
        let (_replay, out) = sampled(&["after"]);
        // The second number of `io` wrapped at 32 bits.
        assert_eq!(row(&out, "nfsd_bytes", "read").unwrap(), [4096.0]);
        assert_eq!(row(&out, "nfsd_bytes", "write").unwrap(), [1296.0]);
        assert_eq!(row(&out, "nfsd", "").unwrap(), [200.0, 2.0, 1.0, 4.0, 16.0]);
        let pools = [
            ("0".to_owned(), vec![90.0, 80.0, 70.0]),
            ("1".to_owned(), vec![0.0, 0.0, 0.0]),
        ];
        assert_eq!(rows(&out, "nfsd_pool"), pools);
    }

    #[test]
    fn an_interval_without_work_is_not_a_gap() {
        let (_replay, out) = sampled(&["after", "after"]);
        assert_eq!(rows(&out, "nfsd_ops"), [("v4 READ".to_owned(), vec![0.0])]);
    }

    #[test]
    fn without_its_file_system_the_rest_goes_on() {
        let replay = Replay::of("nfsd/server", "before");
        replay.lose("proc/fs");
        let mut nfsd = open(&replay.host()).unwrap();
        let mut out = Sink::new();
        nfsd.sample(None, &mut out).unwrap();
        nfsd.sample(Some(1.0), &mut out).unwrap();
        assert!(rows(&out, "nfsd_pool").is_empty());
        assert_eq!(rows(&out, "nfsd").len(), 1);
    }

    #[test]
    fn without_the_module_it_is_unsupported() {
        let why = open(&Host::at("/nonexistent")).err().unwrap();
        assert!(matches!(why, Availability::Unsupported { .. }));
    }

    #[test]
    fn cut_anywhere_it_does_not_panic() {
        let replay = Replay::of("nfsd/server", "before");
        for (file, is_pools) in [("net/rpc/nfsd", false), ("fs/nfsd/pool_stats", true)] {
            let whole = std::fs::read(replay.host().proc(file)).unwrap();
            for cut in 0..whole.len() {
                if is_pools {
                    assert!(pools::parse(&whole[..cut]).count() <= 2);
                } else {
                    parse(&whole[..cut], |_, number, _| assert!(number < 76));
                }
            }
        }
    }

    #[test]
    fn hostile_lines_are_passed_over() {
        let text = b"proc3\nproc4ops 99999999999 1 2 x 3\nio -1\nth\nnet 1\nrpc \xff\n\nrc 1";
        let mut found = Vec::new();
        let totals = parse(text, |family, number, count| {
            found.push((family, number, count));
        });
        assert_eq!(found, [(Family::V4, 0, 1), (Family::V4, 1, 2)]);
        let expected = Totals {
            counts: [Some(1), None, None, Some(1)],
            ..Totals::default()
        };
        assert_eq!(totals, expected);
    }

    /// Numbers read off the capture by eye.
    #[test]
    fn a_capture_of_another_project() {
        let Some(folder) = captures("proc-net-rpc") else {
            return;
        };
        let bytes = std::fs::read(folder.join("nfsd")).unwrap();
        let mut found = Vec::new();
        let totals = parse(&bytes, |family, number, count| {
            if count > 0 {
                found.push((family.name(number), count));
            }
        });
        assert_eq!(totals.bytes, [Some(157286400), Some(72864)]);
        assert_eq!(totals.counts, [Some(972), Some(3), Some(1), Some(0)]);
        assert_eq!(totals.threads, Some(8));
        for (name, count) in [
            ("v2 GETATTR", 69),
            ("v2 LOOKUP", 4410),
            ("v3 LOOKUP", 2719),
            ("v3 READDIRPLUS", 216),
            ("v4 NULL", 2),
            ("v4 ACCESS", 1098),
            ("v4 GETATTR", 8179),
            ("v4 GETFH", 5896),
            ("v4 LOOKUP", 5900),
            ("v4 PUTFH", 9609),
            ("v4 READ", 150),
            ("v4 WRITE", 0),
        ] {
            let of = found.iter().find(|(n, _)| n == name).map_or(0, |f| f.1);
            assert_eq!(of, count, "{name}");
        }
        assert!(!found.iter().any(|(_, count)| *count == 10853), "COMPOUND");
    }
}
