//! `netstat -s`: what the protocols counted since boot.
//!
//! Of Solaris two pairs a line, of the others a sentence a line:
//!
//! ```text
//! TCP     tcpRtoAlgorithm     =     4     tcpRtoMin           =   400
//!         tcpActiveOpens      =13312303   tcpPassiveOpens     =  1234
//! tcp:
//!         1001 packets sent
//!                 800 data packets (123456 bytes)
//! ```
//!
//! A sentence's name is what is left without its numbers, behind the sentence it stands below.
//! Of the second and later reports the growth is taken. `netstat -s 10` of Solaris prints it itself
//! from the second report on (`mib_item_diff` of illumos): there most counters fall at once.

use std::collections::{HashMap, HashSet};

use super::names::{self, Row};
use crate::counters::Counters;
use crate::list::Format;
use crate::number::number;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::{Line, Parser, Stamp, fields, prompt, stamp_line};

pub(crate) const FORMAT: Format = Format {
    name: "netstat-s",
    tool: "netstat",
    systems: "Linux, Solaris, illumos, AIX, FreeBSD, macOS",
    help: "counters of TCP, UDP and IP since boot; of repeated reports what came to them",
    recognised: "pairs `tcpActiveOpens = N`, or a line `tcp:`, `ip:` or `udp:` with sentences \
                 that begin with numbers below it",
    yields: &[
        "tcp",
        "tcp_segments",
        "udp",
        "udp_datagrams",
        "ip",
        "ip_packets",
    ],
    example: "\
Tcp:
    100 active connection openings
    20 passive connection openings
    1000 segments received
    1100 segments sent out
    7 segments retransmitted
",
    recognise,
    parser: || Box::new(Protocols::new()),
};

fn recognise(head: &Head) -> u8 {
    let paired = [
        "tcpActiveOpens",
        "udpInDatagrams",
        "ipInReceives",
        "tcpInSegs",
        "icmpInMsgs",
    ]
    .iter()
    .any(|name| head.contains(name) && head.lines().any(|l| !pairs(l).is_empty()));
    let mut in_section = false;
    let mut sentences = 0;
    for line in head.lines() {
        match section(line) {
            Some(name) => {
                in_section = names::SECTIONS.contains(&name.to_ascii_lowercase().as_str());
            }
            None if in_section && sentence(line).is_some_and(|s| s.starts) => sentences += 1,
            None => {}
        }
    }
    // As sure as `netstat -i`: a file can have both.
    if paired || sentences > 1 { 90 } else { 0 }
}

/// Name and value of each `name = value` in a line; the last word before `=` is the name.
fn pairs(line: &[u8]) -> Vec<(&str, f64)> {
    let Ok(text) = std::str::from_utf8(line) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut parts = text.split('=');
    let mut before = parts.next().unwrap_or_default();
    for after in parts {
        let name = before.split_whitespace().next_back();
        let value = after.split_whitespace().next();
        let (Some(name), Some(value)) = (name, value.and_then(|v| number(v.as_bytes()))) else {
            return Vec::new();
        };
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Vec::new();
        }
        found.push((name, value));
        before = after;
    }
    found
}

/// The name of a section's line, as `tcp:`.
fn section(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line).ok()?.trim_end();
    let name = text.strip_suffix(':')?;
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric());
    (plain && !name.is_empty()).then_some(name)
}

/// A sentence with numbers in it.
struct Sentence {
    indent: usize,
    /// It begins with a number.
    starts: bool,
    name: String,
    value: f64,
    /// Numbers in brackets, with the words beside them.
    more: Vec<(String, f64)>,
}

fn sentence(line: &[u8]) -> Option<Sentence> {
    let text = std::str::from_utf8(line).ok()?;
    let indent = text
        .chars()
        .take_while(|c| c.is_whitespace())
        .map(|c| if c == '\t' { 8 } else { 1 })
        .sum();
    let (mut name, mut value, mut starts) = (Vec::new(), None, false);
    let mut more: Vec<(Vec<&str>, Option<f64>)> = Vec::new();
    let mut inside = false;
    for word in text.split_whitespace() {
        inside |= word.starts_with('(');
        if word.starts_with('(') {
            more.push((Vec::new(), None));
        }
        let bare = word.trim_matches(['(', ')', ',', ';']);
        let counted = number(bare.as_bytes()).filter(|v| *v >= 0.0);
        match (inside, counted, more.last_mut()) {
            (true, Some(n), Some(last)) if last.1.is_none() => last.1 = Some(n),
            (true, _, Some(last)) => last.0.push(bare),
            (_, Some(n), _) if value.is_none() => {
                starts = name.is_empty();
                value = Some(n);
            }
            _ => name.push(bare.trim_end_matches(':')),
        }
        if word.ends_with([')', ')']) || word.ends_with("),") {
            inside = false;
        }
    }
    let name = name.join(" ");
    if name.is_empty() {
        return None;
    }
    let brackets = more
        .into_iter()
        .filter_map(|(words, n)| Some((words.join(" "), n?)));
    Some(Sentence {
        indent,
        starts,
        value: value?,
        more: brackets
            .map(|(words, n)| (format!("{name} ({words})"), n))
            .collect(),
        name,
    })
}

/// So many counters that all rose are not of an interval.
const SURE: usize = 8;

struct Protocols {
    section: String,
    /// Sections of the present report.
    sections: HashSet<String>,
    /// Sentences that others can stand below: how far in, and their names.
    above: Vec<(usize, String)>,
    /// The present report.
    values: Vec<(String, f64)>,
    /// How often a name came in it.
    seen: HashMap<String, u32>,
    stamp: Option<Stamp>,
    reports: u64,
    counters: Counters,
    /// The last report, in pairs.
    before: HashMap<String, f64>,
    /// Reports but the first are of an interval each.
    of_intervals: bool,
    /// The command line has an interval.
    told: bool,
    rows: Vec<(&'static Row, Shape)>,
}

impl Protocols {
    fn new() -> Protocols {
        let shape = |row: &'static Row| {
            let measures: Vec<&str> = row.cells.iter().map(|c| c.0).collect();
            (row, Shape::of(row.table, &measures))
        };
        Protocols {
            section: String::new(),
            sections: HashSet::new(),
            above: Vec::new(),
            values: Vec::new(),
            seen: HashMap::new(),
            stamp: None,
            reports: 0,
            counters: Counters::default(),
            before: HashMap::new(),
            of_intervals: false,
            told: false,
            rows: names::ROWS.iter().map(shape).collect(),
        }
    }

    /// What comes twice in a report, as for each address, is numbered.
    fn add(&mut self, name: String, value: f64) {
        let times = self.seen.entry(name.clone()).or_default();
        *times += 1;
        let name = match *times {
            1 => name,
            times => format!("{name} #{times}"),
        };
        self.values.push((name, value));
    }

    fn report(&mut self, out: &mut Out) {
        self.sections.clear();
        self.seen.clear();
        self.above.clear();
        let stamp = self.stamp.take();
        let values = std::mem::take(&mut self.values);
        if values.is_empty() {
            return;
        }
        out.sample_once(stamp);
        if self.reports == 0 {
            out.since_boot();
        }
        self.reports += 1;
        let first = out.is_since_boot();
        self.compare(&values, out);
        let mut grown: Vec<(String, f64, f64)> = Vec::with_capacity(values.len());
        for (name, value) in values {
            if self.of_intervals {
                // They may turn out to be since boot.
                self.counters.read(name.as_bytes(), &[value]);
                grown.push((name, value, value));
                continue;
            }
            let came = self.counters.grown(name.as_bytes(), &[value], out);
            let came = match came.as_deref() {
                Some([came]) => *came,
                // New in a later report: how much of it is of this interval nobody knows.
                _ if first => value,
                _ => f64::NAN,
            };
            grown.push((name, value, came));
        }
        self.put(&grown, out);
    }

    /// Whether the report is of an interval, as the tool prints it itself, or of all since boot: it
    /// is compared with the one before.
    fn compare(&mut self, values: &[(String, f64)], out: &mut Out) {
        let (mut fell, mut rose) = (0, 0);
        for (name, value) in values.iter().filter(|(name, _)| !names::is_level(name)) {
            let before = self.before.get(name).copied().unwrap_or(*value);
            fell += usize::from(*value < before);
            rose += usize::from(*value > before);
        }
        if !self.before.is_empty() {
            self.before = values.iter().cloned().collect();
        }
        if fell > rose && !self.of_intervals {
            self.of_intervals = true;
            out.note(
                "most counters fell from the first report to the second: each but the first is of \
                 its interval, as netstat -s prints them with one",
            );
        } else if fell == 0 && rose >= SURE && !self.told {
            // The machine was started anew.
            self.of_intervals = false;
        }
    }

    fn put(&self, values: &[(String, f64, f64)], out: &mut Out) {
        let mut taken: HashSet<&str> = HashSet::new();
        for (row, shape) in &self.rows {
            let mut found = Vec::with_capacity(row.cells.len());
            for (_, alternatives) in row.cells {
                found.push(names::value(alternatives, values, &mut taken));
            }
            if found.iter().all(|v| v.is_nan()) {
                continue;
            }
            let words: Vec<run::Word> = row.words.iter().map(|w| out.word(w.as_bytes())).collect();
            out.put_amounts(shape, &words, &found);
        }
        let none = out.word(b"");
        let ever = names::counts_ever(values);
        for (name, value, came) in values {
            if taken.contains(name.as_str()) {
                continue;
            }
            if names::is_level(name) && !(ever && name.starts_with("tcp connections")) {
                out.other(name, "", none, *value);
            } else {
                out.other_grown(name, "", none, *came);
            }
        }
    }

    fn pairs(&mut self, found: &[(&str, f64)], out: &mut Out) {
        if found.iter().any(|(name, _)| self.seen.contains_key(*name)) {
            self.report(out);
        }
        if self.reports == 0 {
            let first = found
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value));
            self.before.extend(first);
        }
        for (name, value) in found {
            self.add((*name).to_owned(), *value);
        }
    }

    fn sentence(&mut self, found: Sentence) {
        while self
            .above
            .last()
            .is_some_and(|(indent, _)| *indent >= found.indent)
        {
            self.above.pop();
        }
        let mut name = self.section.clone();
        for part in self.above.iter().map(|(_, n)| n).chain([&found.name]) {
            name.push_str(if name.len() == self.section.len() {
                " "
            } else {
                "/"
            });
            name.push_str(part);
        }
        let start = name.len() - found.name.len();
        let before = name[..start].to_owned();
        self.add(name, found.value);
        for (more, value) in found.more {
            self.add(format!("{before}{more}"), value);
        }
        self.above.push((found.indent, found.name));
    }
}

impl Parser for Protocols {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if let Some(arguments) = prompt::arguments(line, &["netstat"]) {
            if let Some(seconds) = prompt::interval(&arguments) {
                self.told = true;
                out.every(seconds);
            }
            return Line::Noise;
        }
        if let Some(stamp) = stamp_line::told(line, out) {
            self.report(out);
            self.stamp = Some(stamp);
            return Line::Noise;
        }
        let found = pairs(line);
        if !found.is_empty() {
            self.pairs(&found, out);
            return Line::Data;
        }
        if let Some(name) = section(line)
            && line.first().is_some_and(|b| !b.is_ascii_whitespace())
        {
            let name = name.to_ascii_lowercase();
            if !self.sections.insert(name.clone()) {
                self.report(out);
                self.sections.insert(name.clone());
            }
            self.above.clear();
            self.section = name;
            return Line::Noise;
        }
        if !self.section.is_empty() && line.first().is_some_and(u8::is_ascii_whitespace) {
            if let Some(found) = sentence(line) {
                self.sentence(found);
                return Line::Data;
            }
            // A heading of sentences; some languages have no colon.
            let is_titled = memchr::memmem::find(line, b"Histogram").is_some();
            if line.trim_ascii_end().ends_with(b":") || is_titled {
                let text = String::from_utf8_lossy(line);
                let indent = text.chars().take_while(|c| c.is_whitespace());
                let indent = indent.map(|c| if c == '\t' { 8 } else { 1 }).sum();
                self.above.retain(|(other, _)| *other < indent);
                self.above
                    .push((indent, text.trim().trim_end_matches(':').to_owned()));
                return Line::Noise;
            }
        }
        // A protocol without pairs beside it, as `IGMP:` of Solaris or `IPv4` alone.
        let alone = fields(line).count() == 1 && line.iter().all(u8::is_ascii_alphanumeric);
        if alone || prompt::is_chatter(line) {
            Line::Noise
        } else {
            Line::Unknown
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.report(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_with_and_without_blanks() {
        let line = b"TCP     tcpActiveOpens      =13312303   tcpMaxConn  =    -1";
        assert_eq!(
            pairs(line),
            [("tcpActiveOpens", 13_312_303.0), ("tcpMaxConn", -1.0)]
        );
        assert!(pairs(b"a == b").is_empty());
        assert!(pairs(b"no pairs").is_empty());
    }

    #[test]
    fn numbers_of_sentences() {
        let of = |line: &str| sentence(line.as_bytes()).map(|s| (s.name, s.value, s.more));
        let more = |n: &str, v| vec![(n.to_owned(), v)];
        assert_eq!(
            of("\t\t303 data packets (9876 bytes) retransmitted"),
            Some((
                "data packets retransmitted".into(),
                303.0,
                more("data packets retransmitted (bytes)", 9876.0)
            ))
        );
        assert_eq!(
            of("    TCPTimeouts: 12"),
            Some(("TCPTimeouts".into(), 12.0, vec![]))
        );
        assert_eq!(
            of(" Quick ack mode was activated 7 times"),
            Some(("Quick ack mode was activated times".into(), 7.0, vec![]))
        );
        assert_eq!(of("\tInput histogram:"), None);
    }
}
