//! iperf3's and iperf 2's text.
//!
//! Bytes in steps of 1,024, bits in steps of 1,000, both as printed, with three digits. Sums
//! over streams and over the whole run are left out where their parts are there.

mod chatter;
mod dates;
mod row;

use std::collections::{HashMap, HashSet};

use chatter::{Debug, without_time};
use dates::Dates;
use row::{Row, lost_of, row};

use crate::list::Format;
use crate::number::{number, scaled};
use crate::out::Out;
use crate::recognise::Head;
use crate::workload::{Done, UNKNOWN, Work, instance};
use crate::{Line, Parser, stamp_line};

pub(crate) const IPERF3: Format = Format {
    name: "iperf3-text",
    tool: "iperf3",
    systems: "all that iperf3 runs on",
    help: "what each stream of iperf3 sent or received, as text",
    recognised: "`Connecting to host` and `[ ID] Interval  Transfer  Bitrate`, rows like it",
    yields: &["workload"],
    example: "\
Connecting to host 127.0.0.1, port 5999
[  5] local 127.0.0.1 port 46048 connected to 127.0.0.1 port 5999
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  2.20 GBytes  18.9 Gbits/sec   20   1.25 MBytes
[  5]   1.00-2.00   sec  2.02 GBytes  17.4 Gbits/sec   16    895 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec  4.22 GBytes  18.1 Gbits/sec   36             sender
[  5]   0.00-2.00   sec  4.22 GBytes  18.1 Gbits/sec                  receiver
",
    recognise: |head| {
        if is_iperf(head) && is_newer(head) || head.lines().any(connects_to) {
            91
        } else {
            0
        }
    },
    parser: || Box::new(Iperf::new("iperf3")),
};

pub(crate) const IPERF2: Format = Format {
    name: "iperf2-text",
    tool: "iperf",
    systems: "all that iperf 2 runs on",
    help: "what each stream of iperf 2 sent or received, as text",
    recognised: "`[ ID] Interval  Transfer  Bandwidth` and rows like it, nothing of iperf3",
    yields: &["workload"],
    example: "\
------------------------------------------------------------
Client connecting to 127.0.0.1, TCP port 5998
TCP window size: 3.76 MByte (default)
------------------------------------------------------------
[  1] local 127.0.0.1 port 42996 connected with 127.0.0.1 port 5998
[ ID] Interval       Transfer     Bandwidth
[  1] 0.0000-1.0000 sec  2.24 GBytes  19.2 Gbits/sec
[  1] 1.0000-2.0000 sec  1.82 GBytes  15.6 Gbits/sec
[  1] 0.0000-2.0197 sec  4.06 GBytes  17.4 Gbits/sec
",
    recognise: |head| {
        if is_iperf(head) && !is_newer(head) {
            90
        } else {
            0
        }
    },
    parser: || Box::new(Iperf::new("iperf")),
};

fn is_iperf(head: &Head) -> bool {
    head.lines().any(|l| {
        let l = String::from_utf8_lossy(l);
        is_header(&l) && l.contains("Transfer")
    })
}

/// `Connecting to host 10.0.0.2, port 5201`: its debug output goes on for long before there is a row.
fn connects_to(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let address = line.split_once("Connecting to host ").map(|(_, rest)| rest);
    let port = address.and_then(|rest| rest.rsplit_once(", port "));
    port.is_some_and(|(_, port)| port.trim().parse::<u16>().is_ok())
}

/// `[ ID] Interval …`, or with --sum-only of iperf 2 `[SUM-cnt] Interval …`.
fn is_header(text: &str) -> bool {
    (text.contains("ID]") || text.contains("[SUM-cnt]")) && text.contains("Interval")
}

fn is_newer(head: &Head) -> bool {
    [
        "Connecting to host ",
        "Accepted connection from ",
        "Bitrate",
        "iperf 3",
    ]
    .iter()
    .any(|sign| head.contains(sign))
}

/// The stream that a line begins with.
fn id_of(text: &str) -> Option<&str> {
    let (id, _) = text.strip_prefix('[')?.split_once(']')?;
    Some(id.trim())
}

/// What a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    Stream,
    /// All streams: `SUM`, of iperf 2 also `SUM-4`.
    Sum,
    /// Both directions of iperf 2's full duplex: `FD1`.
    Both,
}

impl Whose {
    fn of(id: &str) -> Whose {
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

/// A stream of iperf 2, when it was connected.
#[derive(Clone, Copy, Debug)]
struct Connected {
    began: f64,
    /// Its rows without a star are of what is received.
    receives: bool,
}

/// What is printed beside the last interval, of less than the times have digits.
const REST: f64 = 0.01;

struct Iperf {
    work: Work,
    header: String,
    /// Where the present test began, and where its rows reach to.
    base: f64,
    reached: f64,
    /// End of the row before of each stream.
    streams: HashMap<String, f64>,
    /// Whether this side receives.
    receives: bool,
    omitted: f64,
    /// Streams of iperf 2, and the port at which it listens.
    connected: HashMap<String, Connected>,
    listens: String,
    /// Streams of which the server's own report comes, a row each.
    reported: HashSet<String>,
    /// The server's output follows, of the same test (`--get-server-output`).
    is_report: bool,
    /// The times that stand before lines, as `--timestamps` puts them.
    dates: Dates,
    /// A row of what was sent by UDP, of which the next tells how much was lost.
    held: Option<String>,
    /// The row before was of a whole test, or the test said that it is done.
    ended: bool,
    debug: Debug,
}

impl Iperf {
    fn new(tool: &'static str) -> Iperf {
        Iperf {
            work: Work::new(tool),
            header: String::new(),
            base: 0.0,
            reached: 0.0,
            streams: HashMap::new(),
            receives: false,
            omitted: 0.0,
            connected: HashMap::new(),
            listens: String::new(),
            reported: HashSet::new(),
            is_report: false,
            dates: Dates::default(),
            held: None,
            ended: false,
            debug: Debug::default(),
        }
    }

    fn test_begins(&mut self) {
        self.base += self.omitted + self.reached;
        (self.reached, self.omitted) = (0.0, 0.0);
        self.streams.clear();
        self.connected.clear();
        self.reported.clear();
        self.is_report = false;
        self.dates.test_begins();
    }

    /// `[  4] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 51916`: who listens receives,
    /// also while it sends by another stream (`-d`, `-r`). A stream begins when it is connected,
    /// and a server gives its number to another later.
    fn connects(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let (local, remote) = text.split_once(" connected with ")?;
        let port = local.rsplit_once(" port ")?.1;
        let receives = port == self.listens;
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
        };
        self.connected.insert(id.to_owned(), stream);
        Some(())
    }

    /// Whether it tells what was sent by UDP in the whole test, of which no interval came: what was lost,
    /// the receiver's row tells.
    fn is_to_be_held(&self, row: &Row) -> bool {
        let key = format!("{}{}", row.id, row.role);
        let is_told = self.streams.contains_key(&key) || self.is_report;
        let is_sent = row.rest.last() == Some(&"sender") && !self.is_received(row);
        is_sent && self.header.contains("Lost/Total") && !is_told
    }

    /// The row that was held back, and what the next one says of it.
    fn take_held(&mut self, next: Option<&Row>, out: &mut Out) {
        let held = self.held.take();
        let Some(sent) = held.as_deref().and_then(row) else {
            return;
        };
        let same = |next: &&Row| {
            let is_receiver = next.rest.last() == Some(&"receiver");
            is_receiver && (next.id, next.role) == (sent.id, sent.role)
        };
        // Of a receiver that saw none it is not known what it lost.
        let lost = next.filter(same).and_then(|next| lost_of(&next.rest));
        let lost = lost.filter(|(_, all)| *all > 0.0).map(|(lost, _)| lost);
        self.take(&sent, lost, out);
    }

    fn take(&mut self, row: &Row, lost: Option<f64>, out: &mut Out) -> Line {
        self.ended = row.from == 0.0;
        self.dates.row(row.to, self.base, out);
        if self.dates.is_told() {
            return Line::Noise;
        }
        if row.rest.contains(&"(omitted)") {
            self.omitted = self.omitted.max(row.to);
            out.note("what iperf3 omitted at the start (-O) is left out here too");
            return Line::Noise;
        }
        let key = format!("{}{}", row.id, row.role);
        let of = Whose::of(row.id);
        // What is told of the parts is not told again of their sum.
        let parts = self.streams.keys().any(|k| Whose::of(k) < of);
        let whole = row.from == 0.0 && self.streams.contains_key(&key);
        let stream = self.stream(row.id);
        let receives = self.is_received(row);
        let began = stream.map_or(0.0, |stream| stream.began);
        let other_side = match row.rest.last() {
            Some(&"sender") => receives,
            Some(&"receiver") => !receives,
            _ => false,
        };
        let is_report = self.is_report || self.reported.remove(row.id);
        if parts || whole || other_side || is_report || row.to < row.from {
            return Line::Noise;
        }
        let mut length = row.to - row.from;
        let mut to = began + row.to;
        if length == 0.0 {
            // `2.00-2.00`: what came after the last interval.
            if !(row.took > 0.0 && row.took <= REST) {
                return if row.bytes == 0.0 {
                    Line::Noise
                } else {
                    Line::Unknown
                };
            }
            length = row.took;
            to += length;
        }
        self.streams.insert(key, row.to);
        self.reached = self.reached.max(began + row.to);
        out.note("iperf's text has three digits; its JSON has all");
        out.sample_at(self.dates.stamp(self.base + self.omitted + to));
        out.spans(length);
        let op: &[u8] = match of {
            Whose::Both => b"(all)",
            _ if receives => b"receive",
            _ => b"send",
        };
        let job = match of {
            Whose::Stream => row.id.replace('*', ""),
            Whose::Sum | Whose::Both => String::new(),
        };
        let of = [job.as_bytes(), op, b""];
        let mut done = Done {
            bytes: row.bytes,
            ..UNKNOWN
        };
        let beside = self.beside(row, &mut done);
        if row.rest.last() == Some(&"sender") && self.header.contains("Lost/Total") {
            // It stands there as if nothing was.
            done.ops += done.errors;
            done.errors = lost.unwrap_or(f64::NAN);
        }
        self.work.amounts(out, of, done);
        let instance = instance(out, of);
        for (column, unit, value) in beside {
            out.other(column, unit, instance, value);
        }
        Line::Data
    }

    fn is_received(&self, row: &Row) -> bool {
        match (row.role, self.stream(row.id)) {
            ("", Some(stream)) => stream.receives,
            ("", None) => self.receives,
            (role, _) => role.starts_with("RX"),
        }
    }

    /// The connection of a row of iperf 2. A star marks what goes the other way than without
    /// `--reverse` or `--full-duplex`: a client receives it, and who listens sends it.
    fn stream(&self, id: &str) -> Option<Connected> {
        let exact = self.connected.get(id).copied();
        if Whose::of(id) == Whose::Sum {
            // All go the same way, or nobody knows.
            let mut all = self.connected.values().map(|stream| stream.receives);
            let first = all.next()?;
            return all.all(|receives| receives == first).then_some(Connected {
                began: 0.0,
                receives: first,
            });
        }
        if exact.is_some() || !id.contains('*') {
            return exact;
        }
        let same = self.connected.get(&id.replace('*', ""));
        Some(Connected {
            began: same.map_or(0.0, |stream| stream.began),
            receives: !self.receives,
        })
    }

    /// What stands behind the rate, as the header says.
    fn beside(&self, row: &Row, done: &mut Done) -> Vec<(&'static str, &'static str, f64)> {
        let plain = |place: usize| row.rest.get(place).and_then(|f| number(f.as_bytes()));
        // `893/0`, newer `893/0/0`, which has those that waited too long.
        let writes = |text: &str| {
            let (count, errors) = text.split_once('/')?;
            let errors = errors.split('/').next()?;
            Some((number(count.as_bytes())?, number(errors.as_bytes())?))
        };
        let mut found = Vec::new();
        // A sum of iperf 2 has a header of its own, and rows of streams follow without theirs.
        let is_datagrams = row.rest.get(1) == Some(&"ms") && lost_of(&row.rest).is_some();
        if is_datagrams || self.header.contains("Jitter") {
            match (plain(0), row.rest.get(1)) {
                (Some(jitter), Some(&"ms")) => found.push(("jitter", "ms", jitter)),
                // What is sent has no jitter, under the same header (`--bidir`).
                (Some(datagrams), None) => done.ops = datagrams,
                _ => {}
            }
            if let Some((lost, all)) = lost_of(&row.rest) {
                (done.ops, done.errors) = (all - lost, lost);
            }
        } else if self.header.contains("Total Datagrams") {
            done.ops = plain(0).unwrap_or(f64::NAN);
        } else if self.header.contains("Write/Err") {
            if let Some((writes, errors)) = row.rest.first().and_then(|f| writes(f)) {
                (done.ops, done.errors) = (writes, errors);
                // Of UDP packets per second stand there.
                if self.header.contains("Rtry") {
                    found.extend(plain(1).map(|n| ("retransmits", "", n)));
                }
            }
        } else if self.header.contains("Retr") {
            found.extend(plain(0).map(|n| ("retransmits", "", n)));
            if let Some(letters) = row.rest.get(2).and_then(|u| u.strip_suffix("Bytes")) {
                let window = [row.rest[1], letters].concat();
                found.extend(scaled(window.as_bytes(), 1024.0).map(|n| ("snd_cwnd", "bytes", n)));
            }
        }
        found
    }
}

impl Parser for Iperf {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn run_ends(&mut self, out: &mut Out) -> bool {
        self.take_held(None, out);
        if self.ended {
            self.test_begins();
            self.base = 0.0;
        }
        self.ended
    }

    fn end(&mut self, out: &mut Out) {
        self.take_held(None, out);
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        if self.debug.is_told(text.trim_end()) {
            return Line::Noise;
        }
        let (text, time) = without_time(text, out);
        out.logged = out.logged.or(time);
        let row = row(text);
        self.take_held(row.as_ref(), out);
        if let Some(row) = row {
            if self.is_to_be_held(&row) {
                self.held = Some(text.to_owned());
                return Line::Data;
            }
            return self.take(&row, None, out);
        }
        if is_header(text) || text.contains(" connected ") {
            self.dates.begin(out);
        }
        if is_header(text) {
            text.clone_into(&mut self.header);
            // Columns that only who sends can fill: a server does in reverse mode. A summary's
            // header has no window.
            let sends = text.contains("Retr") && text.contains("Cwnd")
                || text.contains("Total Datagrams") && !text.contains("Lost/Total");
            self.receives &= !sends;
            return Line::Noise;
        }
        if text.starts_with("Connecting to")
            || text.starts_with("Accepted connection") && !self.is_report
        {
            self.test_begins();
            self.receives = text.starts_with("Accepted");
        } else if text.starts_with("Client connecting")
            || text.starts_with("Server listening on TCP")
            || text.starts_with("Server listening on UDP")
        {
            self.test_begins();
            self.receives = text.starts_with("Server");
            if let Some(("Server listening on TCP" | "Server listening on UDP", port)) =
                text.split_once(" port ")
            {
                port.split(' ')
                    .next()
                    .unwrap_or_default()
                    .clone_into(&mut self.listens);
            }
        } else if text.starts_with("iperf Done") {
            self.ended = true;
        } else if text.starts_with("Reverse mode") {
            self.receives = !self.receives;
        } else if text.contains("Server Report") {
            self.reported.extend(id_of(text).map(str::to_owned));
        } else if text.contains(" connected with ") {
            self.connects(text, out);
        } else if text == "Server output:" {
            self.is_report = true;
            out.note(
                "the server's output (--get-server-output) tells of the same test and was left \
                 out",
            );
        }
        if text.is_empty() || chatter::is(text) {
            Line::Noise
        } else {
            Line::Unknown
        }
    }
}
