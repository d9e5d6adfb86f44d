//! Each call as an event.

use run::rows::{Rows, TableId};
use run::{Nanos, Sink, Word};

use super::names::Names;
use crate::bpf::who::{EVENT, u32_at, u64_at};

/// Bytes of `struct file_event`.
const SIZE: usize = 64;

/// Makes rows of what comes through the ring.
pub(super) struct Events {
    table: TableId,
    /// What the last event referred to: the next is mostly of the same.
    last: Option<Last>,
}

/// Who and which file, as numbers and as words.
#[derive(Clone, Copy)]
struct Last {
    who: Who,
    file: Word,
    process: [Word; 2],
    group: Word,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Who {
    file: u64,
    group: u64,
    start: u64,
    pid: u32,
}

/// Words by the numbers in an event.
pub(super) struct Known<'a> {
    pub(super) ops: &'a [Word],
    pub(super) filesystems: &'a [Word],
}

impl Events {
    pub(super) fn new() -> Events {
        Events {
            table: TableId::of("file_event"),
            last: None,
        }
    }

    /// Takes a record; answers whether it is an event.
    pub(super) fn take(
        &mut self,
        record: &[u8],
        offset: Nanos,
        names: &mut Names,
        known: &Known<'_>,
        out: &mut Sink,
    ) -> bool {
        if u32_at(record, 0) != EVENT {
            names.take(record);
            self.last = None;
            return false;
        }
        let Some(record) = record.first_chunk::<SIZE>() else {
            return false;
        };
        let who = Who {
            file: u64_at(record, 32),
            group: u64_at(record, 40),
            start: u64_at(record, 48),
            pid: u32_at(record, 56),
        };
        let last = match self.last {
            Some(last) if last.who == who => last,
            _ => *self.last.insert(Last {
                who,
                file: out.word(&names.path(who.file)),
                process: names.process(who.pid, who.start).map(|n| out.word(n)),
                group: out.word(names.group(who.group)),
            }),
        };
        push(record, offset, last, known, out.events(self.table))
    }
}

/// The place of the file system in `record`, if that is an event.
pub(super) fn filesystem(record: &[u8]) -> Option<usize> {
    (record.len() >= SIZE && u32_at(record, 0) == EVENT).then(|| half(record, 6))
}

fn half(record: &[u8], at: usize) -> usize {
    usize::from(u16::from_ne_bytes([record[at], record[at + 1]]))
}

/// Appends a row for the event in `record`; answers whether it is of a kind that we know.
fn push(
    record: &[u8; SIZE],
    offset: Nanos,
    last: Last,
    known: &Known<'_>,
    rows: &mut Rows,
) -> bool {
    let (Some(op), Some(filesystem)) = (
        known.ops.get(half(record, 4)),
        known.filesystems.get(half(record, 6)),
    ) else {
        return false;
    };
    let words = [
        *op,
        last.file,
        *filesystem,
        last.process[0],
        last.process[1],
        last.group,
    ];
    let numbers = [
        u64_at(record, 16) as f64 / 1e9,
        u64_at(record, 24) as f64,
        f64::from(u32_at(record, 60)),
    ];
    rows.event(u64_at(record, 8) as Nanos + offset, words, numbers);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Host;

    #[test]
    fn an_event_becomes_a_row() {
        let mut out = Sink::new();
        let mut names = Names::new(&Host::at("/no such root"));
        let known = [out.word("none"), out.word("read")];
        let known = Known {
            ops: &known,
            filesystems: &known,
        };
        let mut record = Vec::new();
        record.extend(EVENT.to_ne_bytes());
        record.extend(1_u16.to_ne_bytes());
        record.extend(0_u16.to_ne_bytes());
        for number in [5_000_000_000_u64, 2_500_000, 4096, 7, 8, 9] {
            record.extend(number.to_ne_bytes());
        }
        record.extend(11_u32.to_ne_bytes());
        record.extend(3_u32.to_ne_bytes());
        let mut events = Events::new();
        assert!(events.take(&record, 7, &mut names, &known, &mut out));
        assert!(!events.take(&record[..60], 7, &mut names, &known, &mut out));
        record[4] = 200;
        assert!(!events.take(&record, 7, &mut names, &known, &mut out));
        let rows = out.rows(TableId::of("file_event"));
        assert_eq!(rows.times, [5_000_000_007]);
        let values: Vec<f64> = rows.values.iter().map(|c| c[0]).collect();
        assert_eq!(values, [0.0025, 4096.0, 3.0]);
        assert_eq!(out.words.text(rows.words[0][0]), Some("read"));
        assert_eq!(out.words.text(rows.words[1][0]), Some("(unknown)"));
    }
}
