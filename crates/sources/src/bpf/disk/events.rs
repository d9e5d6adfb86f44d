//! Each I/O as an event.

use std::os::fd::BorrowedFd;

use aya::maps::{MapData, RingBuf};
use run::rows::{Rows, TableId};
use run::{Nanos, Sink, Word};

use super::{FLUSH, OPS, SECTOR};
use crate::Host;
use crate::bpf::ring::Ring;
use crate::bpf::who::{u32_at, u64_at};

/// Bytes of `struct disk_event`.
const SIZE: usize = 88;
const SYNC: u8 = 1;
const META: u8 = 2;

/// The ring and what came through it.
pub(super) struct Events {
    ring: Ring,
    table: TableId,
    words: Option<Fixed>,
    /// What the last event referred to: the next is mostly of the same.
    last: Option<Last>,
}

#[derive(Clone, Copy)]
struct Fixed {
    yes: Word,
    no: Word,
    none: Word,
    sync: Word,
    asynchronous: Word,
}

#[derive(Clone, Copy)]
struct Last {
    place: usize,
    device: [Word; 2],
    pid: u32,
    group: u64,
    file: u64,
    process: [Word; 2],
    group_word: Word,
    file_word: Word,
}

impl Last {
    fn is(&self, place: usize, pid: u32, group: u64, file: u64) -> bool {
        self.place == place && self.pid == pid && self.group == group && self.file == file
    }
}

impl Events {
    pub(super) fn new(host: &Host, records: RingBuf<MapData>) -> Events {
        Events {
            ring: Ring::new(host, records),
            table: TableId::of("disk_event"),
            words: None,
            last: None,
        }
    }

    /// Readable when much waits.
    pub(super) fn ready(&self) -> BorrowedFd<'_> {
        self.ring.ready()
    }

    /// What the last event referred to may be called otherwise now.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    /// Takes all that waits. `name` tells what the device at a place is called, if that is known.
    pub(super) fn drain(
        &mut self,
        offset: Nanos,
        name: &mut dyn FnMut(usize, &mut Sink) -> Option<[Word; 2]>,
        ops: [Word; OPS],
        out: &mut Sink,
    ) -> u64 {
        let fixed = *self.words.get_or_insert_with(|| Fixed {
            yes: out.word("yes"),
            no: out.word("no"),
            none: out.word("none"),
            sync: out.word("sync"),
            asynchronous: out.word("async"),
        });
        let (table, last) = (self.table, &mut self.last);
        self.ring
            .drain(out, |record: &[u8; SIZE], names, who, out| {
                let place = usize::from(u16::from_ne_bytes([record[4], record[5]]));
                let (pid, group) = (u32_at(record, 80), u64_at(record, 64));
                let file = u64_at(record, 72);
                let this = match *last {
                    Some(this) if !names && this.is(place, pid, group, file) => this,
                    _ => {
                        let device = name(place, out);
                        let this = Last {
                            place,
                            device: device.unwrap_or_else(|| [out.word("(unknown)"); 2]),
                            pid,
                            group,
                            file,
                            process: who.process_words(pid, out),
                            group_word: who.group_word(group, out),
                            file_word: who.file_word(file, out),
                        };
                        *last = device.map(|_| this);
                        this
                    }
                };
                push(record, offset, ops, fixed, this, out.events(table));
            })
    }
}

/// Appends a row for the event in `record`.
fn push(
    record: &[u8; SIZE],
    offset: Nanos,
    ops: [Word; OPS],
    fixed: Fixed,
    last: Last,
    rows: &mut Rows,
) {
    let op = usize::from(record[6]) % OPS;
    let flag = |bit: u8, yes: Word, no: Word| if record[7] & bit > 0 { yes } else { no };
    // A flush is nowhere, and so not far from anything: the kernel says sector -1, and 0 of a write without
    // data.
    let is_nowhere = op == FLUSH || u32_at(record, 56) == 0;
    let place = |at: usize| {
        if is_nowhere {
            f64::NAN
        } else {
            u64_at(record, at) as i64 as f64 * SECTOR
        }
    };
    let seconds = |at: usize| u64_at(record, at) as f64 / 1e9;
    let sequential = if is_nowhere {
        fixed.none
    } else if u64_at(record, 48) == 0 {
        fixed.yes
    } else {
        fixed.no
    };
    let words = [
        last.device[0],
        last.device[1],
        ops[op],
        flag(SYNC, fixed.sync, fixed.asynchronous),
        flag(META, fixed.yes, fixed.no),
        sequential,
        last.process[0],
        last.process[1],
        last.group_word,
        last.file_word,
    ];
    let numbers = [
        seconds(16),
        seconds(24),
        f64::from(u32_at(record, 56)),
        place(32),
        place(40),
        place(48),
        f64::from(u32_at(record, 60)),
        f64::from(u32_at(record, 84)),
    ];
    rows.event(u64_at(record, 8) as Nanos + offset, words, numbers);
}
