//! Which way the streams of iperf's text go, and when those of iperf 2 began.

use std::collections::HashMap;
use std::sync::Arc;

use super::row::Row;
use super::{IPERF3, Iperf, id_of};
use crate::out::Out;
use crate::stamp_line;

/// What a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Whose {
    Stream,
    /// All streams: `SUM`, of iperf 2 also `SUM-4`.
    Sum,
    /// Both directions of iperf 2's full duplex: `FD1`.
    Both,
}

impl Whose {
    pub(super) fn of(id: &str) -> Whose {
        let is_both = id
            .strip_prefix("FD")
            .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        match id {
            _ if is_both => Whose::Both,
            _ if id.trim_start_matches('*').starts_with("SUM") => Whose::Sum,
            _ => Whose::Stream,
        }
    }
}

/// Rows with the same columns: whose, whether received, whether of the server's report.
type Kind = (Whose, bool, bool);

/// Headers of iperf 2: each is printed once, above the first row of its kind.
#[derive(Default)]
pub(super) struct Headers {
    pub(super) last: Arc<str>,
    /// No row was below the last one yet.
    is_new: bool,
    /// Of iperf3 `Test Complete. Summary Results:` came.
    pub(super) is_summary: bool,
    kinds: HashMap<Kind, Arc<str>>,
}

impl Headers {
    pub(super) fn line(&mut self, text: &str) {
        (self.last, self.is_new) = (text.into(), true);
    }

    pub(super) fn test_begins(&mut self) {
        self.kinds.clear();
        self.is_summary = false;
    }

    fn of(&mut self, kind: Kind) -> Arc<str> {
        let is_new = std::mem::take(&mut self.is_new);
        let known = self.kinds.get(&kind).filter(|_| !is_new);
        let header = Arc::clone(known.unwrap_or(&self.last));
        self.kinds.insert(kind, Arc::clone(&header));
        header
    }
}

/// Whose text it is, as far as it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Unknown,
    Client,
    /// Of iperf 2, which says so.
    UdpClient,
}

/// A stream of iperf 2, when it was connected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connected {
    pub(super) began: f64,
    /// Its rows without a star are of what is received.
    pub(super) receives: bool,
    /// They are of both ways: `--bounceback` sends back what it receives.
    pub(super) bounces: bool,
}

impl Iperf {
    /// `[  4] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 51916`: who listens receives,
    /// also while it sends by another stream (`-d`, `-r`). A stream begins when it is connected,
    /// and a server gives its number to another later.
    pub(super) fn connects(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let (local, remote) = text.split_once(" connected with ")?;
        let port = local.rsplit_once(" port ")?.1;
        // Without what stands above the rows it is the server's whose port is iperf's own.
        let is_untold = self.listens.is_empty() && self.side == Side::Unknown;
        let receives = port == self.listens || is_untold && port == "5001";
        let id = id_of(text)?;
        // With -e: `… on 2024-03-07 09:15:42 (CET)`.
        if let Some((_, date)) = remote.rsplit_once(" on ")
            && let Some(at) = stamp_line::told(date.replace(['(', ')'], "").as_bytes(), out)
        {
            let told = |id: &String| self.streams.keys().any(|key| key.starts_with(id.as_str()));
            let idle = self.connected.keys().all(told);
            let now = self.base + self.omitted + self.reached;
            self.dates.connected(at, now, idle, out);
        }
        self.streams.remove(id);
        let stream = Connected {
            began: self.reached,
            receives: receives != text.contains("(reverse)"),
            bounces: text.contains(" (bb "),
        };
        self.connected.insert(id.to_owned(), stream);
        Some(())
    }

    /// The header of the row's columns.
    pub(super) fn header_of(&mut self, row: &Row, is_report: bool) -> Arc<str> {
        let kind = (Whose::of(row.id), self.is_received(row), is_report);
        if self.tool == IPERF3.tool {
            // All come before the first row, and those of the summary.
            Arc::clone(&self.headers.last)
        } else {
            self.headers.of(kind)
        }
    }

    pub(super) fn is_received(&self, row: &Row) -> bool {
        if let Some(received) = row.is_received() {
            return received;
        }
        match (row.role, self.stream(row.id)) {
            ("", Some(stream)) => stream.receives,
            ("", None) => self.receives,
            (role, _) => role.starts_with("RX"),
        }
    }

    /// The connection of a row of iperf 2. A star marks what goes the other way than without
    /// `--reverse` or `--full-duplex`: a client receives it, and who listens sends it.
    pub(super) fn stream(&self, id: &str) -> Option<Connected> {
        let exact = self.connected.get(id).copied();
        if Whose::of(id) == Whose::Sum {
            // All go the same way, or nobody knows.
            let mut all = self.connected.values().map(|stream| stream.receives);
            let first = all.next()?;
            return all.all(|receives| receives == first).then_some(Connected {
                began: 0.0,
                receives: first,
                bounces: false,
            });
        }
        if exact.is_some() || !id.contains('*') {
            return exact;
        }
        let same = self.connected.get(&id.replace('*', ""));
        Some(Connected {
            began: same.map_or(0.0, |stream| stream.began),
            receives: !self.receives,
            bounces: same.is_some_and(|stream| stream.bounces),
        })
    }
}
