//! What the other side of a test by UDP says at its end, and what is counted beside rows.
//!
//! ```text
//! [  5]   0.00-2.00   sec  23.8 MBytes   100 Mbits/sec  0.000 ms  0/17261 (0%)  sender
//! [  5]   0.00-2.04   sec  22.0 MBytes  90.6 Mbits/sec  0.045 ms  1308/17261 (7.6%)  receiver
//!
//! [  3]  0.0-10.0 sec  12.0 MBytes  10.1 Mbits/sec
//! [  3] Sent 8560 datagrams
//! [  3] Server Report:
//! [  3]  0.0-10.0 sec  11.0 MBytes  9.23 Mbits/sec   1.500 ms  700/ 8560 (8.2%)
//! [  3]  0.0-10.0 sec  1 datagrams received out-of-order
//! ```
//!
//! Where the whole test is one row, what was lost are its errors. Beside intervals it is of no
//! one of them, and is kept under names of its own.

use std::collections::HashSet;

use super::beside::beside;
use super::row::{Row, can_be, lost_of, row};
use super::{IPERF2, Iperf, Side, Whose, id_of, is_header};
use crate::Line;
use crate::number::number;
use crate::out::Out;
use crate::time::Stamp;
use crate::workload::{UNKNOWN, instance};

/// A row of what was sent by UDP, of which what follows tells how much was lost.
pub(super) struct Held {
    text: String,
    /// The time that stood before it.
    logged: Option<Stamp>,
    /// How many datagrams that were.
    sent: Option<f64>,
}

/// What others than the row itself tell of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    pub(super) sent: Option<f64>,
    pub(super) lost: Option<f64>,
    /// What it says of losses are errors already.
    pub(super) is_error: bool,
}

/// How many datagrams came out of order is told below a row.
#[derive(Default)]
pub(super) struct Disorder {
    /// The row is of a whole test, of which intervals came.
    pub(super) is_whole: bool,
    /// Streams of whose intervals it is told.
    streams: HashSet<String>,
}

/// `[  3] Sent 8560 datagrams`.
fn sent_of(text: &str) -> Option<f64> {
    let (_, rest) = text.split_once("] Sent ")?;
    number(rest.strip_suffix(" datagrams")?.trim().as_bytes())
}

/// `[  3]  0.0-10.0 sec  1 datagrams received out-of-order`: from when, and how many.
fn disorder_of(text: &str) -> Option<(f64, f64)> {
    let rest = text.strip_suffix("datagrams received out-of-order")?;
    let (interval, count) = rest.split_once(']')?.1.split_once(" sec")?;
    let (from, _) = interval.split_once('-')?;
    let from = number(from.trim().as_bytes())?;
    Some((from, number(count.trim().as_bytes())?))
}

/// What the receiver says of a test that this side sends, also without its name before 3.7. Where
/// its losses are errors already they are not told again.
pub(super) fn receiver_says(row: &Row, is_error: bool, out: &mut Out) -> Line {
    let is_receiver = row.rest.last() != Some(&"sender");
    let jitter = row.rest.first().and_then(|j| number(j.as_bytes()));
    let (true, Some(&"ms"), Some(jitter), Some((lost, all))) =
        (is_receiver, row.rest.get(1), jitter, lost_of(&row.rest))
    else {
        return Line::Noise;
    };
    // The names are those of iperf3's JSON.
    let stream = out.word(row.id.as_bytes());
    out.other("end.udp.jitter_ms", "ms", stream, jitter);
    if !is_error && can_be((lost, all)) {
        out.other("end.udp.lost_packets", "", stream, lost);
        out.other("end.udp.packets", "", stream, all);
    }
    Line::Data
}

/// What the sender says of a test that this side receives: only there it is told what was sent again.
pub(super) fn sender_says(row: &Row, out: &mut Out) -> Line {
    let [count, "sender"] = row.rest[..] else {
        return Line::Noise;
    };
    let Some(count) = number(count.as_bytes()) else {
        return Line::Noise;
    };
    let stream = out.word(row.id.as_bytes());
    out.other("end.sender.retransmits", "", stream, count);
    Line::Data
}

/// The server's report of a stream of iperf 2.
pub(super) fn server_says(row: &Row, header: &str, is_error: bool, out: &mut Out) -> Line {
    if !out.has_sample() {
        return Line::Noise;
    }
    let mut done = UNKNOWN;
    let found = beside(header, &row.rest, &mut done);
    let stream = instance(out, [row.id.as_bytes(), b"send", b""]);
    out.other("server_report.bytes", "bytes", stream, row.bytes);
    if !is_error {
        out.other("server_report.lost", "", stream, done.errors);
        let all = done.ops + done.errors;
        out.other("server_report.datagrams", "", stream, all);
    }
    for (column, unit, value) in found.others {
        out.other(&format!("server_report.{column}"), unit, stream, value);
    }
    Line::Data
}

impl Iperf {
    /// Whether it tells what was sent by UDP in the whole test, of which no interval came: what was lost,
    /// the receiver says below it.
    pub(super) fn is_to_be_held(&self, row: &Row) -> bool {
        if self.is_told(row) || self.is_report || self.is_received(row) {
            return false;
        }
        let is_sender =
            row.rest.last() == Some(&"sender") && self.headers.last.contains("Lost/Total");
        // Of iperf 2 the first interval looks the same.
        let is_alone = self.side == Side::UdpClient && row.rest.is_empty() && row.from == 0.0;
        let is_sent = is_alone && !self.reported.contains(row.id);
        is_sender || is_sent || self.may_be_sent(row)
    }

    /// Whether it may tell what was sent, though nothing says whose it is: before 3.7 iperf3's summary
    /// does. Below it the count of what was sent stands, or the receiver's.
    fn may_be_sent(&self, row: &Row) -> bool {
        let is_labelled = matches!(row.rest.last(), Some(&("sender" | "receiver")));
        let is_whole = self.tool != IPERF2.tool && row.from == 0.0 && !is_labelled;
        is_whole && self.side == Side::Unknown && lost_of(&row.rest).is_some()
    }

    pub(super) fn hold(&mut self, row: &Row, text: &str, out: &Out) {
        let all = lost_of(&row.rest).map(|(_, all)| all);
        self.held = Some(Held {
            text: text.to_owned(),
            logged: out.logged,
            sent: all.filter(|_| self.headers.is_summary && self.may_be_sent(row)),
        });
    }

    /// A line comes below a row that may be held back: the row is taken, unless more is to come. Whether
    /// what the line's row says of losses is with it.
    pub(super) fn below_held(&mut self, text: &str, next: Option<&Row>, out: &mut Out) -> bool {
        let Some(held) = &mut self.held else {
            return false;
        };
        let id = id_of(&held.text).unwrap_or_default();
        let is_same = id_of(text) == Some(id);
        if is_same && let Some(sent) = sent_of(text) {
            held.sent = Some(sent);
            return false;
        }
        let waits = is_same && (text.contains("Server Report") || text.contains("WARNING"))
            || is_header(text) && self.reported.contains(id);
        !waits && self.take_held(next, out)
    }

    /// The row that was held back, and what the next one says of it; whether it says something.
    pub(super) fn take_held(&mut self, next: Option<&Row>, out: &mut Out) -> bool {
        let Some(held) = self.held.take() else {
            return false;
        };
        let Some(sent) = row(&held.text) else {
            return false;
        };
        let same = |next: &&Row| {
            let is_receiver = next.rest.last() == Some(&"receiver");
            let is_receiver = is_receiver || self.reported.contains(next.id);
            is_receiver && (next.id, next.role) == (sent.id, sent.role)
        };
        // Of a receiver that saw none it is not known what it lost.
        let received = next.filter(same).and_then(|next| lost_of(&next.rest));
        let received = received.filter(|count| count.1 > 0.0 && can_be(*count));
        let lost = received.map(|(lost, _)| lost);
        // Where its own count cannot be, what the receiver missed and had is what was sent.
        let is_wrong = lost_of(&sent.rest).is_some_and(|count| !can_be(count));
        let all = received.map(|(_, all)| all).filter(|_| is_wrong);
        let now = std::mem::replace(&mut out.logged, held.logged);
        let reported = std::mem::take(&mut self.reported);
        let told = Told {
            sent: held.sent.or(all),
            lost,
            is_error: false,
        };
        self.take(&sent, told, out);
        (out.logged, self.reported) = (now, reported);
        lost.is_some()
    }

    /// How many datagrams were sent, or came out of order: a line of its own below a row.
    pub(super) fn counts(&mut self, text: &str, out: &mut Out) -> Option<Line> {
        let id = id_of(text)?;
        let (sent, disorder) = (sent_of(text), disorder_of(text));
        if sent.is_none() && disorder.is_none() {
            return None;
        }
        if self.is_counted(id, sent.is_some()) || !out.has_sample() {
            return Some(Line::Noise);
        }
        let receives = self.stream(id).map_or(self.receives, |s| s.receives);
        let op: &[u8] = if receives { b"receive" } else { b"send" };
        let stream = instance(out, [id.replace('*', "").as_bytes(), op, b""]);
        if let Some(sent) = sent {
            out.other("sent_datagrams", "", stream, sent);
        } else if let Some((from, count)) = disorder {
            let is_whole = from == 0.0 && self.disorder.is_whole;
            let column = match receives {
                // Who sends has it of the server.
                false => "server_report.out_of_order",
                true if !is_whole => "out_of_order",
                true if self.disorder.streams.contains(id) => return Some(Line::Noise),
                true => "end.out_of_order",
            };
            if !is_whole {
                self.disorder.streams.insert(id.to_owned());
            }
            out.other(column, "", stream, count);
        }
        Some(Line::Data)
    }

    /// Whether what is counted below the stream's rows is told already, or of no row that is taken.
    fn is_counted(&self, id: &str, is_sent: bool) -> bool {
        // Before 3.7 iperf3's summary has as many.
        let is_again = is_sent && self.tool != IPERF2.tool;
        let held = self.held.as_ref().and_then(|held| id_of(&held.text));
        let is_sum = Whose::of(id) != Whose::Stream;
        let are_parts = is_sum && self.streams.keys().any(|k| Whose::of(k) == Whose::Stream);
        is_again || held == Some(id) || are_parts || self.is_report || self.dates.is_told()
    }
}
