//! `ss -ti` of Linux, again and again: TCP connections and what the kernel knows of each.
//!
//! ```text
//! State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process
//! ESTAB  0      36     10.0.0.1:22         10.0.0.2:51432
//!      cubic wscale:7,7 rto:204 rtt:3.5/1.75 cwnd:10 bytes_acked:5000 bytes_received:300 segs_out:9 segs_in:8
//! ```
//!
//! Also on one line a connection (`-O`), with more options (`-e`, `-m`, `-n`, `-o`, `-p`), and
//! with a filter, which leaves the state out. Bytes and segments are counted since a connection
//! began; a counter that is zero is not printed. Rates have letters of 1,000 (`11.8Mbps`),
//! windows and sizes are bytes, `cwnd` and what goes with it segments, times milliseconds.

use std::collections::HashSet;

use run::Word;

use crate::list::Format;
use crate::number::{number, scaled, whole};
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::time::Refused;
use crate::{Line, Parser, fields, prompt};

pub(crate) const FORMAT: Format = Format {
    name: "ss",
    tool: "ss",
    systems: "Linux",
    help: "TCP connections (ss -ti), read repeatedly: bytes, segments, retransmissions, round-trip times, windows",
    recognised: "a header `State Recv-Q Send-Q Local Address:Port Peer Address:Port`, and lines \
                 with `cwnd:` and `rto:` or `rtt:`",
    yields: &["tcp_connection"],
    example: "\
State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process
ESTAB  0      36     10.0.0.1:22         10.0.0.2:51432
\t cubic wscale:7,7 rto:204 rtt:3.5/1.75 mss:1448 cwnd:10 bytes_acked:5000 bytes_received:300 segs_out:9 segs_in:8 send 33Mbps
",
    recognise: |head: &Head| {
        let header = head.any_fields(&["Recv-Q", "Send-Q", "Local"]);
        let facts = |l: &[u8]| {
            let has = |start: &[u8]| fields(l).any(|w| w.starts_with(start));
            has(b"cwnd:") && (has(b"rto:") || has(b"rtt:"))
        };
        match (header, head.lines().any(facts)) {
            (true, true) => 92,
            (false, true) => 80,
            _ => 0,
        }
    },
    parser: || Box::new(Ss::new()),
};

/// Facts of a connection at one moment, and their units.
const LEVELS: [(&str, &str); 25] = [
    ("lastsnd", "ms"),
    ("lastrcv", "ms"),
    ("lastack", "ms"),
    ("rto", "ms"),
    ("ato", "ms"),
    ("backoff", "doublings"),
    ("mss", "bytes"),
    ("pmtu", "bytes"),
    ("rcvmss", "bytes"),
    ("advmss", "bytes"),
    ("cwnd", "segments"),
    ("ssthresh", "segments"),
    ("unacked", "segments"),
    ("lost", "segments"),
    ("sacked", "segments"),
    ("reordering", "segments"),
    ("rcv_rtt", "ms"),
    ("rcv_space", "bytes"),
    ("rcv_ssthresh", "bytes"),
    ("snd_wnd", "bytes"),
    ("notsent", "bytes"),
    ("minrtt", "ms"),
    ("fackets", "segments"),
    ("rcv_wnd", "bytes"),
    ("backoff", "doublings"),
];

/// Rates, which stand behind their name and a blank.
const RATES: [&str; 3] = ["send", "pacing_rate", "delivery_rate"];

/// Counters since a connection began, in the order of values.
const COUNTERS: [(&str, &str); 18] = [
    ("bytes_acked", "bytes"),
    ("bytes_received", "bytes"),
    ("segs_out", "segments"),
    ("segs_in", "segments"),
    ("retrans", "segments"),
    ("bytes_sent", "bytes"),
    ("bytes_retrans", "bytes"),
    ("data_segs_out", "segments"),
    ("data_segs_in", "segments"),
    ("dsack_dups", "segments"),
    ("delivered", "segments"),
    ("busy", "ms"),
    ("rwnd_limited", "ms"),
    ("sndbuf_limited", "ms"),
    ("delivered_ce", "segments"),
    ("reord_seen", "times"),
    ("rcv_ooopack", "segments"),
    ("rehash", "times"),
];

/// A connection's ends: addresses and ports.
#[derive(Clone, Debug, PartialEq)]
struct Ends {
    local: (String, String),
    remote: (String, String),
}

/// `10.0.0.1:22`, `[::1]:80`, `*:443`, `fe80::1%eth0:ssh`.
fn end(word: &str) -> Option<(String, String)> {
    let (address, port) = word.rsplit_once(':')?;
    let is_port = port == "*" || port.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let is_address = address.bytes().all(|b| {
        b.is_ascii_alphanumeric()
            || matches!(b, b'.' | b':' | b'[' | b']' | b'%' | b'*' | b'-' | b'_')
    });
    if address.is_empty() || port.is_empty() || !is_port || !is_address {
        return None;
    }
    let address = address.trim_start_matches('[').trim_end_matches(']');
    Some((address.to_owned(), port.to_owned()))
}

/// The queues and the ends of a connection, and how many fields come with them.
fn connection(words: &[&str]) -> Option<([f64; 2], Ends, usize)> {
    // Kind and state may stand before.
    (0..3).find_map(|at| {
        let &[receive, send, local, remote] = words.get(at..at + 4)? else {
            return None;
        };
        let named = words[..at]
            .iter()
            .all(|w| w.starts_with(|c: char| c.is_ascii_alphabetic()));
        let queues = [whole(receive.as_bytes())?, whole(send.as_bytes())?];
        let ends = Ends {
            local: end(local)?,
            remote: end(remote)?,
        };
        named.then_some((queues.map(|q| q as f64), ends, at + 4))
    })
}

/// How facts begin that are no numbers over time.
const BESIDE: [&str; 7] = [
    "skmem:(", "timer:(", "users:((", "ino:", "uid:", "cubic", "bbr",
];

/// Why a text is not read whose lines lost their ends.
const CUT: &str = "its lines were cut, as at the width of a terminal: what is left of a port or of a \
                   counter cannot be told from a whole one\n\
                   hint: ss -ti | cat, or into a file, prints whole lines";

/// Whether a header has both addresses whole; some versions put `Process` right behind.
fn is_whole_header(words: &[&str]) -> bool {
    let ends = words.iter().filter(|w| w.starts_with("Address:Port"));
    let after = words.last().copied().unwrap_or_default();
    let is_stump = after != "Process" && "Process".starts_with(after);
    ends.count() == 2 && !is_stump
}

/// Whether the line of facts ends within the name of one, or before its number.
fn ends_within(words: &[&str]) -> bool {
    let Some(last) = words.last() else {
        return false;
    };
    // An option of TCP, and not the beginning of `sacked`.
    if *last == "sack" {
        return false;
    }
    let names = LEVELS.iter().chain(&COUNTERS).map(|(name, _)| *name);
    let mut names = names.chain(["rtt", "wscale", "app_limited"]);
    match last.strip_suffix(':') {
        Some(name) => names.any(|n| n == name),
        // The name alone lacks its number.
        None => *last != "app_limited" && names.any(|n| n.starts_with(last)),
    }
}

/// What is not told of the connections of a report.
#[derive(Default)]
struct Untold {
    /// Some of it were lost, and nobody knows which.
    some: bool,
    /// Those without facts.
    bare: HashSet<String>,
}

struct Ss {
    reports: Repeated,
    /// The connection whose facts come, and whether they came.
    present: Option<(Ends, bool)>,
    /// What is not told of the connections of the present report and of the one above it.
    untold: Untold,
    before: Untold,
    /// Facts came between two reports: some of the next are untold.
    early: bool,
    /// The names of the columns came.
    has_header: bool,
    /// Counters that this version prints.
    known: [bool; COUNTERS.len()],
    shape: Shape,
}

impl Ss {
    fn new() -> Ss {
        Ss {
            reports: Repeated::new(),
            present: None,
            untold: Untold::default(),
            before: Untold::default(),
            early: false,
            has_header: false,
            known: [false; COUNTERS.len()],
            shape: Shape::of("tcp_connection", &["bytes", "segments", "retransmits"]),
        }
    }

    fn begin(&mut self, queues: [f64; 2], ends: Ends, out: &mut Out) {
        let name = name(&ends);
        if self.reports.of(name.as_bytes(), out) {
            out.only_levels();
            if !self.reports.is_first() {
                self.before = std::mem::take(&mut self.untold);
            }
            self.untold.some |= std::mem::take(&mut self.early);
        }
        let instance = out.word(name.as_bytes());
        for (column, value) in ["Recv-Q", "Send-Q"].iter().zip(queues) {
            out.other(column, "bytes", instance, value);
        }
        self.untold.bare.insert(name);
        self.present = Some((ends, false));
    }

    /// What the kernel knows of the present connection.
    fn facts(&mut self, words: &[&str], out: &mut Out) -> Line {
        // The line of the connection may be lost that they are of.
        let Some((ends, false)) = self.present.clone() else {
            return Line::Unknown;
        };
        if !out.is_endless() && ends_within(words) {
            out.refuse(Refused(CUT.into()));
            return Line::Unknown;
        }
        let name = name(&ends);
        let instance = out.word(name.as_bytes());
        let mut counters = [f64::NAN; COUNTERS.len()];
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if RATES.contains(word) {
                // `66.2Mbps/132Mbps`: and the most that is allowed.
                let rate = words.next().and_then(|r| r.split('/').next());
                let rate = rate.and_then(|r| r.strip_suffix("bps"));
                let Some(rate) = rate.and_then(|r| scaled(r.as_bytes(), 1000.0)) else {
                    return Line::Unknown;
                };
                out.other(word, "bit/s", instance, rate);
                continue;
            }
            let Some((fact, value)) = word.split_once(':') else {
                // The congestion control's name, `app_limited`.
                continue;
            };
            if let Some(at) = COUNTERS.iter().position(|(c, _)| *c == fact) {
                // `retrans:0/5`: under way and in all; `busy:12ms(40.0%)`.
                let all = value.rsplit('/').next().unwrap_or(value);
                let all = all.split("ms").next().unwrap_or(all);
                let Some(count) = whole(all.as_bytes()) else {
                    return Line::Unknown;
                };
                counters[at] = count as f64;
                self.known[at] = true;
            } else if let Some((_, unit)) = LEVELS.iter().find(|(l, _)| *l == fact) {
                let Some(value) = number(value.as_bytes()) else {
                    return Line::Unknown;
                };
                out.other(fact, unit, instance, value);
            } else if fact == "rtt" {
                let Some((mean, deviation)) = value.split_once('/') else {
                    return Line::Unknown;
                };
                for (column, text) in [("rtt", mean), ("rttvar", deviation)] {
                    let value = number(text.as_bytes()).unwrap_or(f64::NAN);
                    out.other(column, "ms", instance, value);
                }
            } else if let Some(list) = value.strip_prefix('(').and_then(|v| v.strip_suffix(')')) {
                listed(fact, list, instance, out);
            }
        }
        self.counters(&ends, &name, counters, out);
        self.untold.bare.remove(&name);
        self.present = Some((ends, true));
        Line::Data
    }

    fn counters(&mut self, ends: &Ends, name: &str, mut now: [f64; COUNTERS.len()], out: &mut Out) {
        // What is zero is not printed, so that what is printed later grew from zero.
        for count in now.iter_mut().filter(|c| c.is_nan()) {
            *count = 0.0;
        }
        // Of a connection that ended and another of the same ends some went back.
        let grown = self.reports.grown_together(name.as_bytes(), &now, out);
        let mut values = match (grown, self.reports.is_first()) {
            (Some(grown), _) => grown,
            // It may have been there.
            (None, false) if self.before.some || self.before.bare.contains(name) => return,
            // It began since the report before: all it did was since then.
            (None, false) => now.to_vec(),
            (None, true) => return,
        };
        // What was not printed at all may be what this version does not tell. Retransmissions are
        // told by whom tells segments.
        self.known[4] |= self.known[2];
        for (value, _) in values
            .iter_mut()
            .zip(self.known)
            .filter(|(_, known)| !known)
        {
            *value = f64::NAN;
        }
        for (direction, bytes, segments, again) in [
            ("transmit", values[0], values[2], values[4]),
            ("receive", values[1], values[3], f64::NAN),
        ] {
            let words = [
                direction,
                &ends.remote.0,
                &ends.remote.1,
                &ends.local.1,
                "",
                "",
                "",
            ];
            let words = words.map(|w| out.word(w.as_bytes()));
            let values = [bytes, segments, again];
            if values.iter().any(|v| !v.is_nan()) {
                out.put_amounts(&self.shape, &words, &values);
            }
        }
        let instance = out.word(name.as_bytes());
        for ((column, unit), value) in COUNTERS.iter().zip(&values).skip(5) {
            out.other_grown(column, unit, instance, *value);
        }
    }
}

/// `bbr:(bw:1.2Gbps,mrtt:0.02,pacing_gain:2.88,cwnd_gain:2.88)`, `dctcp:(alpha:12,…)`, and the
/// memory of a socket, `skmem:(r0,rb131072,…,d0)`, whose values are bytes but for drops.
fn listed(fact: &str, list: &str, instance: Word, out: &mut Out) {
    if !matches!(fact, "bbr" | "dctcp" | "skmem") {
        return;
    }
    for part in list.split(',') {
        let (name, value) = match part.split_once(':') {
            Some(named) => named,
            None => {
                let letters = part.bytes().take_while(u8::is_ascii_alphabetic).count();
                part.split_at(letters)
            }
        };
        let (unit, value) = match (fact, name, value.strip_suffix("bps")) {
            (_, _, Some(rate)) => ("bit/s", scaled(rate.as_bytes(), 1000.0)),
            ("bbr", "mrtt", _) => ("ms", number(value.as_bytes())),
            ("skmem", "d", _) => ("packets", number(value.as_bytes())),
            ("skmem", _, _) => ("bytes", number(value.as_bytes())),
            _ => ("", number(value.as_bytes())),
        };
        if let Some(value) = value {
            out.other(&format!("{fact}.{name}"), unit, instance, value);
        }
    }
}

fn name(ends: &Ends) -> String {
    let text = |(address, port): &(String, String)| format!("{address}:{port}");
    format!("{} {}", text(&ends.local), text(&ends.remote))
}

impl Parser for Ss {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = String::from_utf8_lossy(line);
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.contains(&"Recv-Q") && words.contains(&"Send-Q") {
            // That of the first report was lost, and connections with it.
            self.untold.some |= !self.has_header && !self.reports.is_none();
            self.has_header = true;
            self.reports.ends();
            self.present = None;
            if !out.is_endless() && !is_whole_header(&words) {
                out.refuse(Refused(CUT.into()));
            }
            return Line::Noise;
        }
        if let Some((queues, ends, taken)) = connection(&words) {
            self.begin(queues, ends, out);
            let rest = &words[taken..];
            if rest.iter().any(|w| w.starts_with("cwnd:")) {
                return self.facts(rest, out);
            }
            return Line::Data;
        }
        if self.reports.between(line, &["ss"], out) || prompt::is_chatter(line) {
            return Line::Noise;
        }
        if words
            .iter()
            .any(|w| w.starts_with("cwnd:") || w.starts_with("rto:"))
        {
            return self.facts(&words, out);
        }
        // Timers, owners and memory, if they have a line of their own.
        let first = words.first().copied().unwrap_or_default();
        if self.present.is_some() && BESIDE.iter().any(|b| first.starts_with(b)) {
            Line::Noise
        } else {
            Line::Unknown
        }
    }

    fn lost(&mut self, line: &[u8], _out: &mut Out) {
        let has = |fact: &[u8]| memchr::memmem::find(line, fact).is_some();
        let facts = has(b" cwnd:") || has(b" rto:");
        let of_next = self.reports.is_over();
        self.early |= facts && of_next;
        self.untold.some |= facts && !of_next;
    }

    fn end(&mut self, out: &mut Out) {
        if !self.reports.is_first() {
            out.note("what a connection did after the last report that it is in is not told");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_of_all_layouts() {
        let of = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            connection(&words).map(|(q, e, n)| (q, name(&e), n))
        };
        let wanted = |taken| Some(([0.0, 36.0], "10.0.0.1:22 ::1:https".to_owned(), taken));
        assert_eq!(of("ESTAB 0 36 10.0.0.1:22 [::1]:https"), wanted(5));
        assert_eq!(
            of("tcp ESTAB 0 36 10.0.0.1:22 [::1]:https timer:(on)"),
            wanted(6)
        );
        assert_eq!(of("0 36 10.0.0.1:22 [::1]:https"), wanted(4));
        assert_eq!(of("cubic rto:204 rtt:3/1 cwnd:10 send 33Mbps"), None);
        assert_eq!(of("State Recv-Q Send-Q Local Address:Port"), None);
    }
}
