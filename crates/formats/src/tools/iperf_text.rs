//! iperf3's and iperf 2's text.
//!
//! Bytes in steps of 1,024, bits in steps of 1,000, both as printed, with three digits. Sums
//! over streams and over the whole run are left out where their parts are there.

mod beside;
mod chatter;
mod dates;
mod intervals;
mod reports;
mod row;
mod streams;

use std::collections::{HashMap, HashSet};

use beside::beside;
use chatter::{Debug, without_time};
use dates::Dates;
use intervals::Intervals;
use reports::{Disorder, Held, Told};
use row::{Row, lost_of, row};
use streams::{Connected, Headers, Side, Whose};

use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::workload::{Done, UNKNOWN, Work, instance};
use crate::{Line, Parser};

pub(crate) const IPERF3: Format = Format {
    name: "iperf3-text",
    tool: "iperf3",
    systems: "all that iperf3 runs on",
    help: "what each stream of iperf3 sent or received, as text",
    recognised: "`Connecting to host` and `[ ID] Interval  Transfer  Bitrate`, rows like it; rows that end in \
                 `sender` or `receiver`",
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
        let is_newer = is_iperf(head) && is_newer(head);
        if is_newer || head.lines().any(|line| connects_to(line) || is_total(line)) {
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

/// `[  5]   0.00-10.00  sec  1.10 GBytes   941 Mbits/sec   12             sender`: what `tail` or
/// `grep` leaves of a run, without its header.
fn is_total(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    row(line.trim()).is_some_and(|row| matches!(row.rest.last(), Some(&("sender" | "receiver"))))
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
        "iperf Done.",
        "Test Complete. Summary Results:",
    ]
    .iter()
    .any(|sign| head.contains(sign))
        || head.any_starts("iperf3: ")
}

/// The stream that a line begins with.
fn id_of(text: &str) -> Option<&str> {
    let (id, _) = text.strip_prefix('[')?.split_once(']')?;
    Some(id.trim())
}

/// Said of counts.
const IMPOSSIBLE: &str =
    "counts of datagrams of which fewer than none were lost, or more than there were, are left out";

/// What is printed beside the last interval, of less than the times have digits.
const REST: f64 = 0.01;

struct Iperf {
    tool: &'static str,
    work: Work,
    headers: Headers,
    /// Where the present test began, and where its rows reach to.
    base: f64,
    reached: f64,
    /// Streams and their intervals.
    streams: HashMap<String, Intervals>,
    /// Whether this side receives.
    receives: bool,
    omitted: f64,
    /// Streams of iperf 2, and the port at which it listens.
    connected: HashMap<String, Connected>,
    listens: String,
    /// Streams of which the server's own report comes, a row each.
    reported: HashSet<String>,
    /// The totals that came, `sender` or `receiver` of each stream.
    totals: HashSet<String>,
    /// The server's output follows, of the same test (`--get-server-output`).
    is_report: bool,
    /// The times that stand before lines, as `--timestamps` puts them.
    dates: Dates,
    /// A row of what was sent by UDP, of which the next tells how much was lost.
    held: Option<Held>,
    side: Side,
    disorder: Disorder,
    /// The row before was of a whole test, or the test said that it is done.
    ended: bool,
    debug: Debug,
}

impl Iperf {
    fn new(tool: &'static str) -> Iperf {
        Iperf {
            tool,
            work: Work::new(tool),
            headers: Headers::default(),
            base: 0.0,
            reached: 0.0,
            streams: HashMap::new(),
            receives: false,
            omitted: 0.0,
            connected: HashMap::new(),
            listens: String::new(),
            reported: HashSet::new(),
            totals: HashSet::new(),
            is_report: false,
            dates: Dates::default(),
            held: None,
            side: Side::Unknown,
            disorder: Disorder::default(),
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
        self.totals.clear();
        self.headers.test_begins();
        self.disorder = Disorder::default();
        (self.is_report, self.side) = (false, Side::Unknown);
        self.dates.test_begins();
    }

    /// A total that comes again is of another test, of which `tail` or `grep` left no more.
    fn total_comes(&mut self, row: &Row) {
        let Some(side @ ("sender" | "receiver")) = row.rest.last().copied() else {
            return;
        };
        let total = format!("{}{} {side}", row.id, row.role);
        if !self.is_report && self.totals.contains(&total) {
            self.test_begins();
        }
        self.totals.insert(total);
    }

    /// Whether a row of it came before.
    fn is_told(&self, row: &Row) -> bool {
        let key = format!("{}{}", row.id, row.role);
        self.streams.contains_key(&key)
    }

    fn take(&mut self, row: &Row, told: Told, out: &mut Out) -> Line {
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
        let is_server = self.reported.remove(row.id);
        let header = self.header_of(row, is_server);
        // Columns that only who sends can fill: a server does in reverse mode. With one interval they
        // also stand above rows of who receives, and nothing is in them. A summary's header has no
        // window.
        let is_sender = header.contains("Retr") && header.contains("Cwnd") && !row.rest.is_empty();
        self.receives &= !(is_sender && row.role.is_empty()) || self.is_report;
        // What is told of the parts is not told again of their sum.
        let parts = self.streams.keys().any(|k| Whose::of(k) < of);
        let whole = row.from == 0.0 && self.streams.contains_key(&key);
        let stream = self.stream(row.id);
        // Without what stands above the rows: only who receives knows what an interval lost.
        let is_labelled = matches!(row.rest.last(), Some(&("sender" | "receiver")));
        let is_untold = self.side == Side::Unknown && !is_labelled && !whole && !self.is_report;
        let is_untold = is_untold && told.sent.is_none();
        self.receives |= is_untold && lost_of(&row.rest).is_some();
        // `grep receiver` leaves nothing of who sends.
        let is_receiver = row.rest.last() == Some(&"receiver");
        let is_alone = header.is_empty() && is_receiver && !self.is_told(row);
        let receives = self.is_received(row) || is_alone;
        let began = stream.map_or(0.0, |stream| stream.began);
        let other_side = match row.rest.last() {
            Some(&"sender") => receives,
            Some(&"receiver") => !receives,
            _ => false,
        };
        if is_server && of == Whose::Stream {
            return reports::server_says(row, &header, told.is_error, out);
        }
        self.disorder.is_whole = whole;
        // A receiver's without its name tells what was sent.
        let is_of_sent = self.tool == IPERF3.tool && !is_labelled && lost_of(&row.rest).is_some();
        let is_of_others = parts || other_side || self.is_report || receives && is_of_sent;
        if whole
            && !is_of_others
            && let Some(intervals) = self.streams.get(&key)
        {
            intervals.total(row.bytes, out);
        }
        if whole && !parts && !receives && !self.is_report && self.tool == IPERF3.tool {
            return reports::receiver_says(row, told.is_error, out);
        }
        let is_summary = whole && !parts && receives && !self.is_report;
        if is_summary && self.tool == IPERF3.tool && header.contains("Retr") {
            return reports::sender_says(row, out);
        }
        if parts || whole || other_side || self.is_report || is_server || row.to < row.from {
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
        let intervals = self.streams.entry(key).or_default();
        if self.tool == IPERF3.tool && intervals.is_again(row) {
            return Line::Noise;
        }
        intervals.take(row);
        self.reached = self.reached.max(began + row.to);
        out.note("iperf's text has three digits; its JSON has all");
        out.sample_at(self.dates.stamp(self.base + self.omitted + to));
        out.spans(length);
        self.put(row, receives, &header, told, out);
        Line::Data
    }

    /// What a row says was done.
    fn put(&self, row: &Row, receives: bool, header: &str, told: Told, out: &mut Out) {
        let whose = Whose::of(row.id);
        let bounces = self.stream(row.id).is_some_and(|stream| stream.bounces);
        let op: &[u8] = match whose {
            Whose::Both => b"(all)",
            _ if bounces || header.contains("BB cnt") => b"(all)",
            _ if receives => b"receive",
            _ => b"send",
        };
        let job = match whose {
            Whose::Stream => row.id.replace('*', ""),
            Whose::Sum | Whose::Both => String::new(),
        };
        let of = [job.as_bytes(), op, b""];
        let mut done = Done {
            bytes: row.bytes,
            ..UNKNOWN
        };
        let mut found = beside(header, &row.rest, &mut done);
        let is_told = self.side != Side::Unknown || told.sent.is_some();
        if is_told && !receives && lost_of(&row.rest).is_some() {
            // What was lost was sent, too.
            done.ops += done.errors;
        }
        if row.rest.last() == Some(&"sender") && header.contains("Lost/Total") {
            // They stand there as if nothing was.
            found.others.retain(|(column, ..)| column != "jitter");
            done.errors = f64::NAN;
        }
        if found.is_impossible {
            out.note(IMPOSSIBLE);
        }
        done.ops = told.sent.unwrap_or(done.ops);
        done.errors = told.lost.unwrap_or(done.errors);
        self.work.amounts(out, of, done);
        let instance = instance(out, of);
        for (column, unit, value) in found.others {
            out.other(&column, unit, instance, value);
        }
        if found.is_unread {
            let header = header.trim();
            let note = format!("not all that stands behind the rate is read below `{header}`");
            out.note(if header.is_empty() {
                "what stands behind the rate is not read: there is no header above"
            } else {
                &note
            });
        }
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
        let is_error = self.below_held(text, row.as_ref(), out);
        if let Some(row) = row {
            self.total_comes(&row);
            if self.is_to_be_held(&row) {
                self.hold(&row, text, out);
                return Line::Data;
            }
            let told = Told {
                is_error,
                ..Told::default()
            };
            return self.take(&row, told, out);
        }
        if let Some(counted) = self.counts(text, out) {
            return counted;
        }
        if is_header(text) || text.contains(" connected ") {
            self.dates.begin(out);
        }
        if is_header(text) {
            self.headers.line(text);
            // Who sends knows of no losses: a server does in reverse mode.
            let sends = text.contains("Total Datagrams") && !text.contains("Lost/Total");
            self.receives &= !sends;
            return Line::Noise;
        }
        if text.starts_with("Connecting to")
            || text.starts_with("Accepted connection") && !self.is_report
        {
            self.test_begins();
            self.receives = text.starts_with("Accepted");
            if !self.receives {
                self.side = Side::Client;
            }
        } else if text.starts_with("Client connecting")
            || text.starts_with("Server listening on TCP")
            || text.starts_with("Server listening on UDP")
        {
            self.test_begins();
            self.receives = text.starts_with("Server");
            self.side = match text.contains(" UDP port ") {
                _ if self.receives => Side::Unknown,
                true => Side::UdpClient,
                false => Side::Client,
            };
            if let Some(("Server listening on TCP" | "Server listening on UDP", port)) =
                text.split_once(" port ")
            {
                port.split(' ')
                    .next()
                    .unwrap_or_default()
                    .clone_into(&mut self.listens);
            }
        } else if let Some(said) = text.strip_prefix("iperf3: ") {
            // `iperf3: error - control socket has closed unexpectedly`: the test broke off.
            let said = said.strip_prefix("error - ").unwrap_or(said);
            // `OUT OF ORDER - incoming packet = 3 and …` comes for each of them.
            let said = said.split(" - incoming packet").next().unwrap_or(said);
            out.note(&format!("iperf3 says: {said}"));
        } else if text.starts_with("Test Complete. Summary") && !self.is_report {
            // Of the next test there is no more.
            if self.headers.is_summary {
                self.test_begins();
            }
            self.headers.is_summary = true;
        } else if text.starts_with("iperf Done") {
            self.ended = true;
        } else if text.starts_with("Reverse mode") {
            self.receives = !self.receives;
        } else if text.contains("Server Report") {
            self.reported.extend(id_of(text).map(str::to_owned));
        } else if let Some((local, _)) = text.split_once(" connected to ") {
            // A server's, whose first lines are gone.
            self.receives |= self.side == Side::Unknown && local.ends_with(" port 5201");
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
