//! The ARC and the L2ARC, from `/proc/spl/kstat/zfs/arcstats`.
//!
//! Look-ups: a hit found its block in memory, a miss had to start a read. Since 2.2 those
//! that found the read under way have a count of their own (`iohits`); older versions do not
//! tell them. They are neither hit nor miss here: the cache did not have the block, and no
//! read was made for them.
//!
//! Evicted bytes are the sum of three counts: those that the L2ARC had, would take, and would
//! not take. `metadata` is `metadata_size`, which every version has.

use run::rows::TableId;
use run::{Sink, Word};

use super::kstat;
use crate::read::grown;

const KINDS: [&str; 4] = [
    "demand_data",
    "demand_metadata",
    "prefetch_data",
    "prefetch_metadata",
];

/// How many values are taken.
const WANTED: usize = 32;

/// Places of the values; a missing one is `None`.
pub type Values = [Option<u64>; WANTED];

// Hits, misses, joined: from these places on, in the order of `KINDS`.
const HITS: usize = 0;
const MISSES: usize = 4;
const JOINED: usize = 8;
const EVICTED: [usize; 3] = [12, 13, 14];
const THROTTLED: usize = 15;
/// Size, target, limit, recently used, frequently used, metadata.
const LEVELS: [usize; 6] = [16, 17, 18, 19, 20, 21];
/// Hits, misses.
const L2_LOOKUPS: [usize; 2] = [22, 23];
/// Read, written.
const L2_BYTES: [usize; 2] = [24, 25];
const L2_ERRORS: [usize; 3] = [26, 27, 28];
/// Size, allocated, headers.
const L2_LEVELS: [usize; 3] = [29, 30, 31];

/// The place of a value by its name.
fn place(name: &[u8]) -> Option<usize> {
    Some(match name {
        b"demand_data_hits" => HITS,
        b"demand_metadata_hits" => HITS + 1,
        b"prefetch_data_hits" => HITS + 2,
        b"prefetch_metadata_hits" => HITS + 3,
        b"demand_data_misses" => MISSES,
        b"demand_metadata_misses" => MISSES + 1,
        b"prefetch_data_misses" => MISSES + 2,
        b"prefetch_metadata_misses" => MISSES + 3,
        b"demand_data_iohits" => JOINED,
        b"demand_metadata_iohits" => JOINED + 1,
        b"prefetch_data_iohits" => JOINED + 2,
        b"prefetch_metadata_iohits" => JOINED + 3,
        b"evict_l2_cached" => EVICTED[0],
        b"evict_l2_eligible" => EVICTED[1],
        b"evict_l2_ineligible" => EVICTED[2],
        b"memory_throttle_count" => THROTTLED,
        b"size" => LEVELS[0],
        b"c" => LEVELS[1],
        b"c_max" => LEVELS[2],
        b"mru_size" => LEVELS[3],
        b"mfu_size" => LEVELS[4],
        b"metadata_size" => LEVELS[5],
        b"l2_hits" => L2_LOOKUPS[0],
        b"l2_misses" => L2_LOOKUPS[1],
        b"l2_read_bytes" => L2_BYTES[0],
        b"l2_write_bytes" => L2_BYTES[1],
        b"l2_writes_error" => L2_ERRORS[0],
        b"l2_cksum_bad" => L2_ERRORS[1],
        b"l2_io_error" => L2_ERRORS[2],
        b"l2_size" => L2_LEVELS[0],
        b"l2_asize" => L2_LEVELS[1],
        b"l2_hdr_size" => L2_LEVELS[2],
        _ => return None,
    })
}

/// The wanted values of an arcstats file.
pub fn parse(bytes: &[u8]) -> Values {
    let mut values = [None; WANTED];
    for (name, value) in kstat::named(bytes) {
        if let Some(place) = place(name) {
            values[place] = kstat::amount(value);
        }
    }
    values
}

struct Words {
    kinds: [Word; 4],
    read: Word,
    write: Word,
}

/// What the last reading found, and where the next one's rows go.
pub(super) struct Arc {
    before: Option<Values>,
    words: Option<Words>,
    lookups: TableId,
    state: TableId,
    l2_bytes: TableId,
    l2: TableId,
}

impl Arc {
    pub(super) fn new() -> Arc {
        Arc {
            before: None,
            words: None,
            lookups: TableId::of("arc_lookups"),
            state: TableId::of("arc"),
            l2_bytes: TableId::of("l2arc_bytes"),
            l2: TableId::of("l2arc"),
        }
    }

    /// Forgets the last reading: the module was loaded anew.
    pub(super) fn forget(&mut self) {
        self.before = None;
    }

    pub(super) fn rows(&mut self, bytes: &[u8], interval: Option<f64>, out: &mut Sink) {
        let words = self.words.get_or_insert_with(|| Words {
            kinds: KINDS.map(|kind| out.word(kind)),
            read: out.word("read"),
            write: out.word("write"),
        });
        let now = parse(bytes);
        let (Some(before), Some(_)) = (self.before.replace(now), interval) else {
            return;
        };
        let sum = |place: usize| match (before[place], now[place]) {
            (Some(before), Some(now)) => grown(before, now),
            _ => f64::NAN,
        };
        let level = |place: usize| now[place].map_or(f64::NAN, |n| n as f64);
        for (i, &kind) in words.kinds.iter().enumerate() {
            let values = [sum(HITS + i), sum(MISSES + i), sum(JOINED + i)];
            out.row(self.lookups, &[kind], &values);
        }
        let [size, target, limit, mru, mfu, metadata] = LEVELS.map(level);
        let evicted: f64 = EVICTED.map(sum).iter().sum();
        let throttled = sum(THROTTLED);
        out.row(
            self.state,
            &[],
            &[evicted, throttled, size, target, limit, mru, mfu, metadata],
        );
        // A machine that never had a cache device has no L2ARC to speak of.
        if now[L2_LOOKUPS[0]..]
            .iter()
            .all(|v| v.unwrap_or_default() == 0)
        {
            return;
        }
        out.row(self.l2_bytes, &[words.read], &[sum(L2_BYTES[0])]);
        out.row(self.l2_bytes, &[words.write], &[sum(L2_BYTES[1])]);
        let errors: f64 = L2_ERRORS.map(sum).iter().sum();
        let [hits, misses] = L2_LOOKUPS.map(sum);
        let [size, allocated, headers] = L2_LEVELS.map(level);
        let values = [hits, misses, errors, size, allocated, headers];
        out.row(self.l2, &[], &values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_overlap() {
        let mut taken: Vec<usize> = (HITS..JOINED + 4).collect();
        taken.extend(EVICTED);
        taken.push(THROTTLED);
        taken.extend(LEVELS);
        taken.extend(L2_LOOKUPS);
        taken.extend(L2_BYTES);
        taken.extend(L2_ERRORS);
        taken.extend(L2_LEVELS);
        let all: Vec<usize> = (0..WANTED).collect();
        assert_eq!(taken, all);
    }
}
