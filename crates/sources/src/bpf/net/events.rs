//! Each segment as an event.

use std::os::fd::BorrowedFd;

use aya::maps::{MapData, RingBuf};
use run::rows::{Rows, TableId};
use run::{Nanos, Sink, Word};

use super::interfaces::Known;
use super::{CONTEXTS, Fixed, SOFTIRQ};
use crate::Host;
use crate::bpf::ring::Ring;
use crate::bpf::who::{u32_at, u64_at};

/// Bytes of `struct net_event`.
const SIZE: usize = 40;

/// The ring and what came through it.
pub(super) struct Events {
    ring: Ring,
    table: TableId,
}

/// What the last event referred to: the next is mostly of the same.
#[derive(Clone, Copy)]
struct Last {
    place: usize,
    pid: u32,
    group: u64,
    /// It passed in a soft interrupt, or may have: who runs there was interrupted.
    is_nobodys: bool,
    interface: Known,
    process: [Word; 2],
    group_word: Word,
}

impl Events {
    pub(super) fn new(host: &Host, records: RingBuf<MapData>) -> Events {
        Events {
            ring: Ring::new(host, records),
            table: TableId::of("net_event"),
        }
    }

    /// Readable when much waits.
    pub(super) fn ready(&self) -> BorrowedFd<'_> {
        self.ring.ready()
    }

    /// Takes all that waits; `interface` knows the interface at a place.
    pub(super) fn drain(
        &mut self,
        offset: Nanos,
        fixed: Fixed,
        out: &mut Sink,
        mut interface: impl FnMut(usize, &mut Sink) -> Option<Known>,
    ) -> u64 {
        // Layers may have changed since the last time.
        let (table, mut last) = (self.table, None::<Last>);
        self.ring
            .drain(out, |record: &[u8; SIZE], names, who, out| {
                let place = usize::from(u16::from_ne_bytes([record[4], record[5]]));
                let (pid, group) = (u32_at(record, 32), u64_at(record, 24));
                let is_nobodys = usize::from(record[7]) == SOFTIRQ || !fixed.with_contexts;
                let is_this = |l: &Last| {
                    l.place == place
                        && (l.pid, l.group) == (pid, group)
                        && l.is_nobodys == is_nobodys
                };
                let this = match last {
                    Some(this) if !names && is_this(&this) => this,
                    _ => {
                        let unknown = who.unknown(out);
                        let (process, group_word) = if is_nobodys {
                            ([unknown; 2], unknown)
                        } else {
                            (who.process_words(pid, out), who.group_word(group, out))
                        };
                        *last.insert(Last {
                            place,
                            pid,
                            group,
                            interface: interface(place, out).unwrap_or(Known {
                                name: unknown,
                                layer: unknown,
                            }),
                            is_nobodys,
                            process,
                            group_word,
                        })
                    }
                };
                push(record, offset, fixed, this, out.events(table));
            })
    }
}

/// Appends a row for the event in `record`.
fn push(record: &[u8; SIZE], offset: Nanos, fixed: Fixed, last: Last, rows: &mut Rows) {
    let [direction, stage] = fixed.ways[usize::from(record[6]) % fixed.ways.len()];
    let words = [
        last.interface.name,
        last.interface.layer,
        direction,
        fixed.contexts[usize::from(record[7]) % CONTEXTS],
        stage,
        last.process[0],
        last.process[1],
        last.group_word,
    ];
    let numbers = [16, 20, 36].map(|at| f64::from(u32_at(record, at)));
    rows.event(u64_at(record, 8) as Nanos + offset, words, numbers);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_row_with_every_column() {
        let mut out = Sink::new();
        let word = |out: &mut Sink, text: &str| out.word(text);
        let fixed = Fixed {
            ways: ["a", "b", "c"].map(|w| [word(&mut out, w), word(&mut out, "stage")]),
            contexts: ["process", "softirq", "ksoftirqd"].map(|w| word(&mut out, w)),
            with_contexts: true,
        };
        let one = word(&mut out, "one");
        let last = Last {
            place: 3,
            pid: 1,
            group: 2,
            is_nobodys: false,
            interface: Known {
                name: one,
                layer: one,
            },
            process: [one; 2],
            group_word: one,
        };
        let mut record = [0; SIZE];
        (record[6], record[7]) = (2, 1);
        record[8] = 9;
        record[16..20].copy_from_slice(&66_000_u32.to_ne_bytes());
        record[20] = 46;
        record[36] = 4;
        let table = TableId::of("net_event");
        push(&record, 1000, fixed, last, out.events(table));
        let rows = out.rows(table);
        assert_eq!(rows.times, [1009]);
        let values: Vec<f64> = rows.values.iter().map(|v| v[0]).collect();
        assert_eq!(values, [66000.0, 46.0, 4.0]);
        let text = |i: usize| out.words.text(rows.words[i][0]).unwrap();
        assert_eq!((text(2), text(3), text(4)), ("c", "softirq", "stage"));
        assert!(rows.words.iter().all(|w| w.len() == 1));
    }
}
