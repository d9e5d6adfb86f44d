//! What comes through the ring of a program: names, and events that refer to them.

use std::os::fd::{AsFd, BorrowedFd};

use aya::maps::{MapData, RingBuf};
use run::Sink;

use super::who::{EVENT, Who, u32_at};
use crate::Host;

/// A ring, and the names that came through it.
pub(super) struct Ring {
    records: RingBuf<MapData>,
    pub(super) who: Who,
}

impl Ring {
    pub(super) fn new(host: &Host, records: RingBuf<MapData>) -> Ring {
        Ring {
            records,
            who: Who::new(host),
        }
    }

    /// Readable when much waits.
    pub(super) fn ready(&self) -> BorrowedFd<'_> {
        self.records.as_fd()
    }

    /// Takes all that waits. Calls `each` with every event, and with whether names came since
    /// the one before; answers with how many events there were.
    pub(super) fn drain<const SIZE: usize>(
        &mut self,
        out: &mut Sink,
        mut each: impl FnMut(&[u8; SIZE], bool, &mut Who, &mut Sink),
    ) -> u64 {
        let (mut taken, mut names) = (0, self.who.refresh(out));
        while let Some(item) = self.records.next() {
            let record: &[u8] = &item;
            if u32_at(record, 0) != EVENT {
                self.who.take(record, out);
                names = true;
            } else if let Some(record) = record.first_chunk() {
                each(record, std::mem::take(&mut names), &mut self.who, out);
                taken += 1;
            }
        }
        taken
    }
}
