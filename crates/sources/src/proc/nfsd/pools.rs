//! Pools of NFS server threads, from `/proc/fs/nfsd/pool_stats`.
//!
//! ```text
//! # pool packets-arrived sockets-enqueued threads-woken threads-timedout
//! 0 9919427 9919427 9867288 40774
//! ```
//! Columns are found by their names, which changed (`xprts-enqueued`). The file is opened for
//! every reading: until kernel 6.8 an open one keeps the stopped service from going away,
//! and shows its old pools for ever.
//!
//! <https://docs.kernel.org/filesystems/nfs/knfsd-stats.html>

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use run::rows::TableId;
use run::{Sink, Word};
use rustix::io::Errno;

use crate::Host;
use crate::read::{fields, grown, lines, number};

/// A pool's packets arrived, transports queued, threads woken. `None`: no such column.
pub type Counters = [Option<u64>; 3];

/// Number and counters of each pool, in the file's order.
pub fn parse(bytes: &[u8]) -> impl Iterator<Item = (u64, Counters)> {
    let mut lines = lines(bytes);
    let header = lines.next().unwrap_or_default();
    let names = header.strip_prefix(b"#").unwrap_or_default();
    let place = |wanted: &[&[u8]]| fields(names).position(|n| wanted.contains(&n));
    let places = [
        place(&[b"packets-arrived"]),
        place(&[b"sockets-enqueued", b"xprts-enqueued"]),
        place(&[b"threads-woken"]),
    ];
    lines.filter_map(move |line| {
        let at = |place: usize| fields(line).nth(place).and_then(number);
        Some((at(0)?, places.map(|place| place.and_then(at))))
    })
}

struct Pool {
    number: u64,
    word: Word,
    before: Counters,
}

/// The pools of the service that runs now.
pub(super) struct Pools {
    path: PathBuf,
    buffer: Vec<u8>,
    known: Vec<Pool>,
    /// Whether the server was found not running: pools that appear then are new.
    stopped: bool,
    table: TableId,
}

impl Pools {
    pub(super) fn at(host: &Host) -> Pools {
        Pools {
            path: host.proc("fs/nfsd/pool_stats"),
            buffer: Vec::new(),
            known: Vec::new(),
            stopped: false,
            table: TableId::of("nfsd_pool"),
        }
    }

    /// Adds a row for each pool. Without the file (nfsd's file system is not mounted, or
    /// not for us) there are none: the other statistics do not depend on it.
    pub(super) fn sample(&mut self, interval: Option<f64>, out: &mut Sink) {
        let mut buffer = std::mem::take(&mut self.buffer);
        match self.read(&mut buffer) {
            Ok(()) => self.rows(&buffer, interval, out),
            Err(e) => {
                self.known.clear();
                self.stopped = e.raw_os_error() == Some(Errno::NODEV.raw_os_error());
            }
        }
        self.buffer = buffer;
    }

    fn read(&self, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.clear();
        File::open(&self.path)?.read_to_end(buffer)?;
        Ok(())
    }

    fn rows(&mut self, bytes: &[u8], interval: Option<f64>, out: &mut Sink) {
        let started = std::mem::take(&mut self.stopped);
        let mut found = 0;
        for (number, now) in parse(bytes) {
            let at = found;
            found += 1;
            let same = self.known.get(at).is_some_and(|p| p.number == number);
            if !same {
                self.known.truncate(at);
                let word = out.word(&number.to_string());
                let before = if started { [Some(0); 3] } else { [None; 3] };
                self.known.push(Pool {
                    number,
                    word,
                    before,
                });
            }
            let pool = &mut self.known[at];
            let before = std::mem::replace(&mut pool.before, now);
            if interval.is_none() || !(same || started) {
                continue;
            }
            let count = |i: usize| match (before[i], now[i]) {
                (Some(before), Some(now)) => grown(before, now),
                _ => f64::NAN,
            };
            out.row(self.table, &[pool.word], &[count(0), count(1), count(2)]);
        }
        self.known.truncate(found);
        // Since 6.8 a server that does not run has a header and no pools.
        self.stopped = found == 0 && bytes.starts_with(b"#");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::rows;

    #[test]
    fn columns_by_name() {
        let old = b"# pool packets-arrived sockets-enqueued threads-woken threads-timedout\n\
                    0 10 20 30 40\n1 11 21 31 41\n";
        let all: Vec<_> = parse(old).collect();
        assert_eq!(all[1], (1, [Some(11), Some(21), Some(31)]));
        assert_eq!(all.len(), 2);
        let other = b"# pool threads-woken xprts-enqueued starved\n3 30 20 50\n";
        let all: Vec<_> = parse(other).collect();
        assert_eq!(all, [(3, [None, Some(20), Some(30)])]);
        assert_eq!(parse(b"").count(), 0);
    }

    #[test]
    fn pools_of_a_service_that_starts_count_from_zero() {
        let mut pools = Pools::at(&Host::at("/nonexistent"));
        let mut out = Sink::new();
        let text = b"# pool packets-arrived sockets-enqueued threads-woken\n0 10 20 30\n";
        pools.rows(text, Some(1.0), &mut out);
        assert!(
            rows(&out, "nfsd_pool").is_empty(),
            "older than the interval"
        );
        pools.rows(b"# pool packets-arrived\n", Some(1.0), &mut out);
        pools.rows(text, Some(1.0), &mut out);
        let expected = vec![("0".to_owned(), vec![10.0, 20.0, 30.0])];
        assert_eq!(rows(&out, "nfsd_pool"), expected);
    }
}
