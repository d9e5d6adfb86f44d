//! blktrace's binary files, one a processor: `struct blk_io_trace` of 48 bytes and its payload,
//! version 7, of machines of either byte order (`linux/blktrace_api.h`).
//!
//! A file has the records of one processor. An I/O that was issued on one and completed on
//! another is in two files, which blkparse puts together. Files one after the other in one are
//! sorted by time only if they are short; long ones are refused.

use std::collections::HashMap;

use super::pairing::Pairing;
use super::{Comm, Kind, Op, Record, comm};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Refused;
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "blktrace",
    tool: "blktrace",
    systems: "Linux",
    help: "binary trace of block devices: each I/O, from its queueing to its completion",
    recognised: "the number 0x65617407 at its beginning, in either byte order",
    yields: &["disk_event"],
    example: "\
0x07746165 01000000 00000100 00000000 40420f00 00000000 00100000 07004101
  b9020000 00000800 01000000 00000000
  07746165 02000000 40420100 00000000 40420f00 00000000 00100000 08008101
  00000000 00000800 01000000 00000000
",
    recognise,
    parser: || Box::new(Blktrace::new()),
};

/// Bytes of a record without its payload.
const SIZE: usize = 48;
/// `BLK_IO_TRACE_MAGIC`, the upper 24 bits; the version is below.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;

/// Bits of the upper half of an action.
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const SYNC: u32 = 1 << 3;
const PASSED: u32 = 1 << 9;
const NOTE: u32 = 1 << 10;
const META: u32 = 1 << 12;
const DISCARD: u32 = 1 << 13;
const THROUGH: u32 = 1 << 15;

/// Actions from 1 on, as blkparse's letters; `.` has no I/O.
const LETTERS: &[u8; 17] = b"QMFGSRDC...IXBA..";

fn recognise(head: &Head) -> u8 {
    order(head.bytes()).map_or(0, |_| 95)
}

/// The order of a record's bytes: true if the lowest comes first.
fn order(bytes: &[u8]) -> Option<bool> {
    let magic = *bytes.first_chunk::<4>()?;
    let is = |number: u32| number & !0xff == MAGIC;
    match magic {
        _ if is(u32::from_le_bytes(magic)) => Some(true),
        _ if is(u32::from_be_bytes(magic)) => Some(false),
        _ => None,
    }
}

/// Reads numbers of one byte order.
#[derive(Clone, Copy)]
struct Reader<'a> {
    bytes: &'a [u8],
    little: bool,
}

impl Reader<'_> {
    fn number(self, at: usize, length: usize) -> u64 {
        let bytes = self.bytes.get(at..at + length).unwrap_or_default();
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        if self.little {
            bytes.iter().rev().fold(0, add)
        } else {
            bytes.iter().fold(0, add)
        }
    }

    fn u32(self, at: usize) -> u32 {
        self.number(at, 4) as u32
    }
}

struct Blktrace {
    pairing: Pairing,
    /// A record whose end has not come.
    rest: Vec<u8>,
    names: HashMap<u32, Comm>,
    /// A record came.
    begun: bool,
    records: u64,
    broken: bool,
}

impl Blktrace {
    fn new() -> Blktrace {
        Blktrace {
            pairing: Pairing::new(),
            rest: Vec::new(),
            names: HashMap::new(),
            begun: false,
            records: 0,
            broken: false,
        }
    }

    /// Takes whole records from the beginning; how many bytes they were.
    fn whole(&mut self, bytes: &[u8], out: &mut Out) -> usize {
        let mut at = 0;
        while let Some(record) = bytes.get(at..at + SIZE) {
            let Some(little) = order(record) else {
                self.broken = true;
                let why = "a record does not begin with the number of a trace: the file is damaged";
                out.refuse(Refused(format!("{why} after {} records", self.records)));
                return bytes.len();
            };
            let reader = Reader {
                bytes: record,
                little,
            };
            let version = reader.u32(0) & 0xff;
            if version != VERSION {
                let why =
                    format!("it is of version {version} of blktrace's records, not {VERSION}");
                out.refuse(Refused(why));
                self.broken = true;
                return bytes.len();
            }
            let payload = reader.number(46, 2) as usize;
            let Some(payload) = bytes.get(at + SIZE..at + SIZE + payload) else {
                break;
            };
            at += SIZE + payload.len();
            self.records += 1;
            out.records(1);
            self.take(reader, payload, out);
        }
        at
    }

    fn take(&mut self, reader: Reader, payload: &[u8], out: &mut Out) {
        let action = reader.u32(28);
        let (category, number) = (action >> 16, (action & 0xff) as usize);
        let (time, pid) = (reader.number(8, 8), reader.u32(32));
        if category & NOTE != 0 {
            self.note(number, pid, time, payload, reader.little);
            return;
        }
        if !self.begun {
            self.begun = true;
            self.pairing.zero = time;
        }
        let letter = number.checked_sub(1).and_then(|n| LETTERS.get(n));
        let Some(letter) = letter.filter(|l| **l != b'.' && category & PASSED == 0) else {
            return;
        };
        let bytes = reader.u32(24);
        let is = |bit: u32| category & bit != 0;
        let op = match () {
            () if is(DISCARD) => Op::Discard,
            () if is(WRITE) => Op::Write,
            () if bytes > 0 => Op::Read,
            () if is(FLUSH) => Op::Flush,
            () => Op::None,
        };
        let mut sectors = bytes / 512;
        if *letter == b'X' {
            // Big-endian, whatever the machine.
            let second = payload
                .first_chunk::<8>()
                .map_or(0, |b| u64::from_be_bytes(*b));
            sectors = second as u32;
        }
        let kind = Kind {
            op,
            // Of a read that is not marked, nor of what flushes or is written through.
            sync: op == Op::Read || is(SYNC | FLUSH | THROUGH),
            metadata: is(META),
            flushes: is(FLUSH),
        };
        let record = Record {
            time,
            sector: reader.number(16, 8),
            sectors,
            device: reader.u32(36),
            pid,
            comm: self.names.get(&pid).copied().unwrap_or_default(),
            action: *letter,
            kind: if *letter == b'X' {
                kind
            } else {
                kind.of(sectors)
            },
            failed: matches!(letter, b'C' | b'R') && reader.number(44, 2) != 0,
        };
        self.pairing.push(record, out);
    }

    /// The name of a process, or the time of day.
    fn note(&mut self, number: usize, pid: u32, time: u64, payload: &[u8], little: bool) {
        let reader = Reader {
            bytes: payload,
            little,
        };
        match number {
            0 => {
                self.names.insert(pid, comm(payload));
            }
            1 if payload.len() >= 8 => {
                let (seconds, nanos) = (i64::from(reader.u32(0)), i64::from(reader.u32(4)));
                let now = seconds * 1_000_000_000 + nanos;
                self.pairing.is_at(now.saturating_sub_unsigned(time));
            }
            _ => {}
        }
    }
}

impl Parser for Blktrace {
    fn is_binary(&self) -> bool {
        true
    }

    fn line(&mut self, _line: &[u8], _out: &mut Out) -> Line {
        Line::Unknown
    }

    fn bytes(&mut self, bytes: &[u8], out: &mut Out) {
        if self.broken {
            return;
        }
        if self.rest.is_empty() {
            let taken = self.whole(bytes, out);
            self.rest
                .extend_from_slice(bytes.get(taken..).unwrap_or_default());
            return;
        }
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(bytes);
        let taken = self.whole(&rest, out).min(rest.len());
        rest.drain(..taken);
        self.rest = rest;
    }

    fn end(&mut self, out: &mut Out) {
        if !self.rest.is_empty() {
            out.lacks("the last record has no end and was left out: the file was cut off");
        }
        if self.records > 0 {
            out.note(
                "a file of blktrace has what one processor saw: an I/O that completed on another \
                 is not told (blkparse puts the files of all together)",
            );
        }
        self.pairing.end(out);
        if self.pairing.late > 0 {
            let why = "its records are not in order of time, as of the files of several processors \
                       one after the other\nhint: have blkparse put them together";
            out.refuse(Refused(why.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of 8 sectors.
    fn record(time: u64, number: u32, sector: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend((MAGIC | VERSION).to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(time.to_le_bytes());
        bytes.extend(sector.to_le_bytes());
        bytes.extend(4096_u32.to_le_bytes());
        bytes.extend((1 << 16 | number).to_le_bytes());
        bytes.extend([0; 16]);
        bytes
    }

    /// Issued on one processor, completed 500 ns later on another, a file after the other.
    fn two_files(ios: u64) -> Result<(u64, run::Sink), Refused> {
        let of =
            |number, after| (0..ios).flat_map(move |i| record(i * 1000 + after, number, i * 8));
        let bytes: Vec<u8> = of(7, 0).chain(of(8, 500)).collect();
        let head = Head::new(&bytes);
        let mut import = crate::Import::new(&FORMAT, &head, crate::Options::default());
        import.feed(&bytes)?;
        let report = import.finish()?;
        Ok((report.data, std::mem::take(import.rows())))
    }

    #[test]
    fn files_of_processors_are_sorted_or_refused() {
        let Ok((data, rows)) = two_files(1000) else {
            panic!("refused")
        };
        assert_eq!(data, 2000);
        let rows = rows.rows(run::rows::TableId::of("disk_event"));
        assert_eq!(rows.len(), 1000);
        let (subject, table) = run::catalog::table("disk_event").unwrap();
        let place = run::catalog::numbers(subject, table)
            .position(|c| c.name() == "service_time")
            .unwrap();
        assert!(
            rows.values[place]
                .iter()
                .all(|t| (t - 500e-9).abs() < 1e-15)
        );
        let why = two_files(40_000).map(|_| ()).unwrap_err();
        assert!(why.0.contains("not in order of time"), "{why}");
    }

    #[test]
    fn numbers_of_either_order() {
        let bytes = [1, 2, 3, 4];
        let of = |little| Reader {
            bytes: &bytes,
            little,
        };
        assert_eq!(of(true).u32(0), 0x0403_0201);
        assert_eq!(of(false).u32(0), 0x0102_0304);
        assert_eq!(of(true).u32(2), 0);
        assert_eq!(order(b"\x07tae"), Some(true));
        assert_eq!(order(b"eat\x07"), Some(false));
        assert_eq!(order(b"eat"), None);
    }
}
