//! What each connection did in an interval; the largest by name, the others as one.

use std::collections::HashMap;

use run::rows::TableId;
use run::{Sink, Word};

use crate::bpf::address;
use crate::bpf::who::Who;

/// Chunks of the program's table, and connections of a chunk.
pub(super) const CHUNKS: usize = 256;
const CHUNK: usize = 64;
pub(super) const PLACES: u32 = (CHUNKS * CHUNK) as u32;
/// Numbers of a connection in the program's map: 80 bytes.
const WORDS: usize = 10;
pub(super) const CHUNK_WORDS: usize = CHUNK * WORDS;

/// What a connection has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    /// Bytes acknowledged by the other side.
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) segments_sent: u64,
    pub(super) segments_received: u64,
    pub(super) retransmits: u64,
}

impl Amounts {
    /// How far each counter of a socket went since `before`; one that went back tells nothing.
    /// Those of segments are of 32 bits and begin again after the last.
    fn of_socket_since(&self, before: &Amounts) -> Amounts {
        let short = |now: u64, before: u64| {
            let grown = (now as u32).wrapping_sub(before as u32);
            if grown <= u32::MAX / 2 {
                u64::from(grown)
            } else {
                0
            }
        };
        Amounts {
            segments_sent: short(self.segments_sent, before.segments_sent),
            segments_received: short(self.segments_received, before.segments_received),
            retransmits: short(self.retransmits, before.retransmits),
            ..self.since(before)
        }
    }

    /// How far each went since `before`; a counter that went back tells nothing.
    pub(super) fn since(&self, before: &Amounts) -> Amounts {
        Amounts {
            sent: self.sent.saturating_sub(before.sent),
            received: self.received.saturating_sub(before.received),
            segments_sent: self.segments_sent.saturating_sub(before.segments_sent),
            segments_received: self
                .segments_received
                .saturating_sub(before.segments_received),
            retransmits: self.retransmits.saturating_sub(before.retransmits),
        }
    }

    pub(super) fn add(&mut self, more: &Amounts) {
        self.sent += more.sent;
        self.received += more.received;
        self.segments_sent += more.segments_sent;
        self.segments_received += more.segments_received;
        self.retransmits += more.retransmits;
    }

    /// Bytes, segments and segments sent again, of what was received and of what was sent.
    fn by_direction(&self) -> [[f64; 3]; 2] {
        let numbers = |n: [u64; 3]| n.map(|n| n as f64);
        [
            numbers([self.received, self.segments_received, 0]),
            numbers([self.sent, self.segments_sent, self.retransmits]),
        ]
    }
}

/// A connection as the program keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    key: u64,
    serial: u32,
    remote: [u8; 16],
    family: u16,
    remote_port: u16,
    local_port: u16,
    from_start: bool,
    tgid: u32,
    group: u64,
    amounts: Amounts,
}

impl Kept {
    /// The connection at a place; `None` if there never was one.
    fn of(words: &[u64; WORDS]) -> Option<Kept> {
        let mut bytes = [0_u8; WORDS * 8];
        for (part, word) in bytes.chunks_exact_mut(8).zip(words) {
            part.copy_from_slice(&word.to_ne_bytes());
        }
        let short = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let half = |at: usize| u32::from(short(at)) | u32::from(short(at + 2)) << 16;
        let serial = half(8);
        let mut remote = [0; 16];
        remote.copy_from_slice(&bytes[16..32]);
        (serial > 0).then(|| Kept {
            // The lowest bit says that it has ended.
            key: words[0] & !1,
            serial,
            remote,
            family: short(32),
            remote_port: u16::from_be(short(34)),
            local_port: u16::from_be(short(36)),
            from_start: bytes[38] > 0,
            tgid: half(40),
            group: words[6],
            amounts: Amounts {
                sent: words[7],
                received: words[8],
                segments_sent: u64::from(half(72)),
                segments_received: u64::from(half(76)),
                retransmits: u64::from(half(44)),
            },
        })
    }
}

/// What was read of a place last.
struct Seen {
    key: u64,
    serial: u32,
    amounts: Amounts,
    /// Process, command and group, once they are known.
    who: Option<[Word; 3]>,
}

/// All connections.
pub(super) struct Connections {
    /// How many an interval names.
    most: usize,
    seen: HashMap<usize, Seen>,
    /// What changed in this interval, by place.
    changed: Vec<(usize, Kept, Amounts)>,
    table: TableId,
}

impl Connections {
    pub(super) fn new(most: usize) -> Connections {
        Connections {
            most,
            seen: HashMap::new(),
            changed: Vec::new(),
            table: TableId::of("tcp_connection"),
        }
    }

    /// Takes a chunk of the program's table. What a connection did before it is `first` seen
    /// counts only if it began since.
    pub(super) fn take(&mut self, chunk: usize, words: &[u64; CHUNK_WORDS], first: bool) {
        let (all, _) = words.as_chunks::<WORDS>();
        for (i, words) in all.iter().enumerate() {
            if let Some(kept) = Kept::of(words) {
                self.take_one(chunk * CHUNK + i, kept, first);
            }
        }
    }

    fn take_one(&mut self, place: usize, kept: Kept, first: bool) {
        let before = match self.seen.get(&place) {
            Some(seen) if seen.serial == kept.serial && seen.key == kept.key => seen.amounts,
            // A new one that is not all there yet: the next reading has it.
            Some(seen) if seen.serial == kept.serial => return,
            _ if kept.from_start && !first => Amounts::default(),
            _ => kept.amounts,
        };
        let same = |s: &Seen| s.serial == kept.serial;
        let who = self
            .seen
            .get(&place)
            .filter(|s| same(s))
            .and_then(|s| s.who);
        let seen = Seen {
            key: kept.key,
            serial: kept.serial,
            amounts: kept.amounts,
            who,
        };
        self.seen.insert(place, seen);
        let grown = kept.amounts.of_socket_since(&before);
        if grown != Amounts::default() {
            self.changed.push((place, kept, grown));
        }
    }

    /// Appends rows of what was taken, and of `others` that have no place.
    pub(super) fn report(
        &mut self,
        mut others: Amounts,
        who: &mut Who,
        write: bool,
        out: &mut Sink,
    ) {
        let mut changed = std::mem::take(&mut self.changed);
        // Of all, not only of those that are named now: names are not kept for ever.
        for (place, kept, _) in &changed {
            self.learn_who(*place, kept, who, out);
        }
        if write {
            let bytes = |a: &Amounts| a.sent + a.received;
            changed.sort_unstable_by_key(|(place, _, a)| (std::cmp::Reverse(bytes(a)), *place));
            let named = changed.len().min(self.most);
            for (place, kept, grown) in &changed[..named] {
                let words = self.words(*place, kept, who, out);
                write_rows(self.table, grown, words, out);
            }
            for (_, _, grown) in &changed[named..] {
                others.add(grown);
            }
            let other = out.word("(other)");
            write_rows(self.table, &others, [other; 6], out);
        }
        changed.clear();
        self.changed = changed;
    }

    /// Keeps who has a connection, once that is known: a number is another process's when this one
    /// is gone.
    fn learn_who(&mut self, place: usize, kept: &Kept, who: &mut Who, out: &mut Sink) {
        let Some(seen) = self.seen.get_mut(&place).filter(|s| s.who.is_none()) else {
            return;
        };
        let [process, command] = who.process_words(kept.tgid, out);
        if process != who.unknown(out) {
            seen.who = Some([process, command, who.group_word(kept.group, out)]);
        }
    }

    /// Remote address and port, own port, process, command and group.
    fn words(&mut self, place: usize, kept: &Kept, who: &mut Who, out: &mut Sink) -> [Word; 6] {
        let remote = out.word(&address::text(kept.family, kept.remote));
        let remote_port = out.word(&kept.remote_port.to_string());
        let local_port = out.word(&kept.local_port.to_string());
        let known = self.seen.get(&place).and_then(|s| s.who);
        let [process, command, group] = known.unwrap_or_else(|| {
            let unknown = who.unknown(out);
            [unknown, unknown, who.group_word(kept.group, out)]
        });
        [remote, remote_port, local_port, process, command, group]
    }
}

/// A row a direction in which there was something.
fn write_rows(table: TableId, grown: &Amounts, words: [Word; 6], out: &mut Sink) {
    for (name, values) in ["receive", "transmit"]
        .into_iter()
        .zip(grown.by_direction())
    {
        if values.iter().any(|v| *v > 0.0) {
            let mut all = [out.word(name); 7];
            all[1..].copy_from_slice(&words);
            out.row(table, &all, &values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Host;

    fn connection(serial: u32, from_start: bool, port: u16, sent: u64) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        words[0] = 0xffff_8880_0000_1000 + u64::from(serial) * 0x1000;
        words[1] = u64::from(serial);
        words[2] = u64::from(u32::from_ne_bytes([10, 0, 0, 9]));
        words[4] = 2
            | u64::from(port.to_be()) << 16
            | u64::from(4000_u16.to_be()) << 32
            | u64::from(from_start) << 48;
        (words[7], words[8]) = (sent, 7);
        (words[9], words[5]) = (3 | 2 << 32, 1 << 32);
        words
    }

    fn chunk(connections: &[[u64; WORDS]]) -> Box<[u64; CHUNK_WORDS]> {
        let mut words = vec![0; CHUNK_WORDS];
        words[..connections.len() * WORDS].copy_from_slice(connections.as_flattened());
        words.into_boxed_slice().try_into().unwrap()
    }

    /// Direction, remote, port and values of each row.
    fn rows(connections: &mut Connections, out: &mut Sink) -> Vec<(String, Vec<f64>)> {
        let mut who = Who::new(&Host::at("/nonexistent"));
        out.clear();
        connections.report(Amounts::default(), &mut who, true, out);
        let rows = out.rows(TableId::of("tcp_connection"));
        let text = |i: usize, row: usize| out.words.text(rows.words[i][row]).unwrap();
        (0..rows.len())
            .map(|row| {
                let name = format!("{} {}:{}", text(0, row), text(1, row), text(2, row));
                (name, rows.values.iter().map(|v| v[row]).collect())
            })
            .collect()
    }

    #[test]
    fn one_that_began_before_counts_from_the_first_reading_on() {
        let mut all = Connections::new(10);
        let mut out = Sink::new();
        all.take(0, &chunk(&[connection(1, false, 80, 5000)]), true);
        assert_eq!(rows(&mut all, &mut out), []);
        all.take(0, &chunk(&[connection(1, false, 80, 5600)]), false);
        let found = rows(&mut all, &mut out);
        assert_eq!(
            found,
            [("transmit 10.0.0.9:80".to_owned(), vec![600.0, 0.0, 0.0])]
        );
        // The same reading again says nothing, although it may be read twice.
        all.take(0, &chunk(&[connection(1, false, 80, 5600)]), false);
        assert_eq!(rows(&mut all, &mut out), []);
    }

    #[test]
    fn one_that_came_and_went_counts_in_full_and_its_place_is_anothers_then() {
        let mut all = Connections::new(10);
        let mut out = Sink::new();
        let mut ended = connection(1, true, 443, 100);
        ended[0] |= 1;
        all.take(3, &chunk(&[ended]), false);
        let found = rows(&mut all, &mut out);
        assert_eq!(found[0].0, "receive 10.0.0.9:443");
        assert_eq!(found[0].1, [7.0, 2.0, 0.0]);
        assert_eq!(found[1].1, [100.0, 3.0, 1.0]);
        // The place is taken, and not all is there.
        let mut half = connection(2, true, 22, 0);
        half[1] = 1;
        all.take(3, &chunk(&[half]), false);
        assert_eq!(rows(&mut all, &mut out), []);
        all.take(3, &chunk(&[connection(2, true, 22, 50)]), false);
        let found = rows(&mut all, &mut out);
        assert_eq!(found[1].0, "transmit 10.0.0.9:22");
        assert_eq!(found[1].1[0], 50.0);
    }

    #[test]
    fn counters_of_32_bits_go_on_after_their_last() {
        let mut all = Connections::new(10);
        let mut out = Sink::new();
        let at = |sent: u32, received: u32, again: u32| {
            let mut words = connection(1, true, 443, 100);
            words[9] = u64::from(sent) | u64::from(received) << 32;
            words[5] = words[5] & u64::from(u32::MAX) | u64::from(again) << 32;
            chunk(&[words])
        };
        all.take(0, &at(u32::MAX - 9, u32::MAX, u32::MAX - 1), false);
        rows(&mut all, &mut out);
        all.take(0, &at(20, 4, 1), false);
        let found = rows(&mut all, &mut out);
        // Bytes, segments, segments sent again.
        assert_eq!(found[0].1, [0.0, 5.0, 0.0]);
        assert_eq!(found[1].1, [0.0, 30.0, 3.0]);
        // A segment that was to be sent again and was not: less than before.
        all.take(0, &at(19, 4, 2), false);
        let found = rows(&mut all, &mut out);
        assert_eq!(found[0].1, [0.0, 0.0, 1.0]);
    }

    #[test]
    fn who_has_a_connection_is_kept_from_its_first_change_on() {
        let mut all = Connections::new(0);
        let mut out = Sink::new();
        let mut who = Who::new(&Host::at("/nonexistent"));
        let mut process = vec![0; 32];
        process[0] = 2;
        process[4] = 7;
        process[16] = b'a';
        who.take(&process, &mut out);
        let owned = |sent| {
            let mut words = connection(1, true, 443, sent);
            words[5] |= 7;
            chunk(&[words])
        };
        all.take(0, &owned(100), false);
        all.report(Amounts::default(), &mut who, true, &mut out);
        // Its number is another's now.
        process[16] = b'b';
        who.take(&process, &mut out);
        all.most = 1;
        all.take(0, &owned(200), false);
        out.clear();
        all.report(Amounts::default(), &mut who, true, &mut out);
        let rows = out.rows(TableId::of("tcp_connection"));
        let texts = |i: usize| out.words.text(rows.words[i][0]);
        assert_eq!(texts(5), Some("a"));
    }

    #[test]
    fn the_smaller_ones_are_summed_as_one() {
        let mut all = Connections::new(2);
        let mut out = Sink::new();
        let sizes = [10, 4000, 20, 3000, 30];
        let many: Vec<_> = (0_u16..5)
            .map(|i| connection(1 + u32::from(i), true, i, sizes[usize::from(i)]))
            .collect();
        all.take(0, &chunk(&many), false);
        let found = rows(&mut all, &mut out);
        let sent: Vec<f64> = found.iter().map(|f| f.1[0]).collect();
        assert_eq!(sent, [7.0, 4000.0, 7.0, 3000.0, 21.0, 60.0]);
        assert_eq!(found[5].0, "transmit (other):(other)");
        let whole: f64 = sent.iter().sum();
        assert_eq!(whole, 7060.0 + 35.0);
    }
}
