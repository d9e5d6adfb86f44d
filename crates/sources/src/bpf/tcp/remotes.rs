//! Distributions by remote address: round-trip times, and how long connecting took.

use run::rows::TableId;
use run::{Sink, Word, grid};

use crate::bpf::address;
use crate::bpf::cells::Rows;

const REMOTES: usize = 256;
/// Numbers of a remote in the program's map: 48 bytes.
const WORDS: usize = 6;
/// The program's map.
pub(super) type TableOfRemotes = [u64; REMOTES * WORDS];

/// Kinds, which are also the rows of all remotes that have none of their own.
const RTT: u64 = 0;
const CONNECT_TIME: u64 = 1;
/// Seconds that a step of the grid is worth.
const MICROSECOND: f64 = 1e-6;
const NANOSECOND: f64 = 1e-9;

/// Which rows of the program belong to which remote.
pub(super) struct Remotes {
    rtt: TableId,
    connect_time: TableId,
}

impl Remotes {
    pub(super) fn new() -> Remotes {
        Remotes {
            rtt: TableId::of("tcp_rtt"),
            connect_time: TableId::of("tcp_connect_time"),
        }
    }

    /// Appends what was counted since the last time, of remotes that were met in the interval
    /// `past` or the one before.
    pub(super) fn report(
        &self,
        table: &TableOfRemotes,
        past: u32,
        rows: &mut Rows,
        write: bool,
        out: &mut Sink,
    ) {
        let other = out.word("(other)");
        for kind in [RTT, CONNECT_TIME] {
            self.row(kind, kind as u32, [other; 2], rows, write, out);
        }
        let (all, _) = table.as_chunks::<WORDS>();
        for words in all {
            let halves = |word: u64| (word as u32, (word >> 32) as u32);
            let ((ready, row), (touched, names)) = (halves(words[1]), halves(words[2]));
            if ready == 0 || row == 0 || past.wrapping_sub(touched) > 1 {
                continue;
            }
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&words[3].to_ne_bytes());
            bytes[8..].copy_from_slice(&words[4].to_ne_bytes());
            let remote = out.word(&address::text(names as u16, bytes));
            let port = u16::from_be((names >> 16) as u16);
            let port = out.word(&port.to_string());
            self.row(words[5], row - 1, [remote, port], rows, write, out);
        }
    }

    fn row(
        &self,
        kind: u64,
        row: u32,
        words: [Word; 2],
        rows: &mut Rows,
        write: bool,
        out: &mut Sink,
    ) {
        rows.growth(row, |cell, grown| {
            let (value, count) = (grid::lower(cell as u32) as f64, grown.whole() as f64);
            if !write {
            } else if kind == RTT {
                out.row(self.rtt, &words[..1], &[value * MICROSECOND, count]);
            } else {
                out.row(self.connect_time, &words, &[value * NANOSECOND, count]);
            }
        });
    }
}
