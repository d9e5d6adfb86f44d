//! What comes through the ring: names of processes and groups, and each event.

use run::rows::{Rows, TableId};
use run::{Nanos, Sink, Word};

use super::state_word;
use crate::bpf::address;
use crate::bpf::ring::Ring;
use crate::bpf::who::{Who, u32_at, u64_at};

/// Bytes of `struct tcp_event`.
const SIZE: usize = 64;
/// `SYN_SENT to ESTABLISHED`: the only change that has a time to connect.
const CONNECTED: usize = 0x21;

/// Takes all that waits; answers with how many events there were.
pub(super) fn drain(ring: &mut Ring, offset: Nanos, out: &mut Sink) -> u64 {
    let table = TableId::of("tcp_event");
    ring.drain(out, |record: &[u8; SIZE], _, who, out| {
        let words = words(record, who, out);
        let rows = out.events(table);
        // Each segment is an event, however many were sent at once.
        for _ in 0..segments_again(record).unwrap_or(1) {
            push(record, offset, words, rows);
        }
    })
}

/// The old state times 16 and the new; 0: segments were sent again.
fn change(record: &[u8; SIZE]) -> usize {
    usize::from(record[6]) << 4 | usize::from(record[7])
}

/// As many segments as a buffer can have: no more are sent again by one call.
const MOST_AGAIN: u64 = 1 << 16;

/// How many segments were sent again; `None` for a change of state.
fn segments_again(record: &[u8; SIZE]) -> Option<u64> {
    (change(record) == 0).then(|| u64_at(record, 16).min(MOST_AGAIN))
}

/// The words of an event, in the table's order.
fn words(record: &[u8; SIZE], who: &mut Who, out: &mut Sink) -> [Word; 7] {
    let short = |at: usize| u16::from_ne_bytes([record[at], record[at + 1]]);
    let mut remote = [0; 16];
    remote.copy_from_slice(&record[32..48]);
    let pair = change(record);
    let [process, command] = who.process_words(u32_at(record, 56), out);
    [
        out.word(&address::text(short(4), remote)),
        out.word(&u16::from_be(short(28)).to_string()),
        out.word(&u16::from_be(short(30)).to_string()),
        process,
        command,
        who.group_word(u64_at(record, 48), out),
        if pair == 0 {
            out.word("retransmit")
        } else {
            state_word(pair, out)
        },
    ]
}

/// Appends a row for the event in `record`.
fn push(record: &[u8; SIZE], offset: Nanos, words: [Word; 7], rows: &mut Rows) {
    let connect_time = if change(record) == CONNECTED {
        u64_at(record, 16) as f64 / 1e9
    } else {
        f64::NAN
    };
    let rtt = match u32_at(record, 24) {
        0 => f64::NAN,
        rtt => f64::from(rtt) / 1e6,
    };
    let numbers = [connect_time, rtt, f64::from(u32_at(record, 60))];
    rows.event(u64_at(record, 8) as Nanos + offset, words, numbers);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Host;

    fn record(pair: u8) -> [u8; SIZE] {
        let mut record = [0; SIZE];
        record[4] = 2;
        (record[6], record[7]) = (pair >> 4, pair & 15);
        record[8] = 5;
        record[16..24].copy_from_slice(&2_000_000_u64.to_ne_bytes());
        record[28..30].copy_from_slice(&443_u16.to_be_bytes());
        record[32..36].copy_from_slice(&[10, 9, 8, 2]);
        record[60] = 3;
        record
    }

    #[test]
    fn only_a_connection_made_has_a_time_to_connect() {
        let mut out = Sink::new();
        let mut who = Who::new(&Host::at("/nonexistent"));
        let table = TableId::of("tcp_event");
        for pair in [0x21, 0x17, 0] {
            let record = record(pair);
            let words = words(&record, &mut who, &mut out);
            push(&record, 100, words, out.events(table));
        }
        let rows = out.rows(table);
        assert_eq!(rows.times, [105; 3]);
        let text = |i: usize, row: usize| out.words.text(rows.words[i][row]).unwrap();
        assert_eq!(
            (text(0, 0), text(1, 0), text(2, 0)),
            ("10.9.8.2", "443", "0")
        );
        let states: Vec<&str> = (0..3).map(|row| text(6, row)).collect();
        assert_eq!(
            states,
            [
                "SYN_SENT to ESTABLISHED",
                "ESTABLISHED to CLOSE",
                "retransmit"
            ]
        );
        assert_eq!(rows.values[0][0], 0.002);
        assert!(rows.values[0][1].is_nan() && rows.values[0][2].is_nan());
        assert!(rows.values[1].iter().all(|v| v.is_nan()));
        assert_eq!(rows.values[2], [3.0; 3]);
    }

    #[test]
    fn only_what_was_sent_again_is_of_several_segments() {
        assert_eq!(segments_again(&record(0)), Some(MOST_AGAIN));
        assert_eq!(segments_again(&record(0x21)), None);
    }
}
