//! JSON of the sysstat tools: documents of reports, of which each is read when it closes, so that
//! a file may be of any length and still be growing. They have faults in some versions and when the
//! tool was interrupted, and several may stand in one file.

use serde_json::{Map, Value};

use super::of_host;
use crate::number::is_undefined;
use crate::out::Out;
use crate::time::Refused;
use crate::{Line, Parser};

/// The longest report that is read, of one moment.
const LONGEST: usize = 16 << 20;

/// Deeper than any document of the tools goes.
const DEEPEST: usize = 100;

/// Lines of reports left out that are told one by one.
const TOLD: usize = 1000;

const MENDED: &str = "the JSON had faults, as missing commas or ends; they were mended";

/// What reads the reports of a document.
pub(crate) trait Reports {
    /// A host's reports begin; it has the members that stand before them.
    fn host(&mut self, host: &Value, out: &mut Out);

    /// A report, which is `whole` unless the text ends within it. Gives whether anything of it was
    /// taken: what an output above told of is not.
    fn report(&mut self, report: &Value, whole: bool, out: &mut Out) -> bool;

    /// The input is over.
    fn end(&mut self, _out: &mut Out) {}
}

/// Reads documents line by line, and has the reports in them read.
pub(crate) struct Documents<R> {
    document: Document,
    reports: R,
}

impl<R: Reports> Documents<R> {
    pub(crate) fn of(reports: R) -> Documents<R> {
        Documents {
            document: Document::default(),
            reports,
        }
    }
}

impl<R: Reports> Parser for Documents<R> {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        self.document.line(line, &mut self.reports, out)
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        if !self.document.open.is_empty() {
            out.lacks(MENDED);
            self.document.cut(true, &mut self.reports, out);
        }
        self.reports.end(out);
    }
}

/// What an open bracket holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Document,
    Sysstat,
    Hosts,
    Host,
    Statistics,
    Report,
    /// A part of a report.
    Part,
    /// What no tool has, or has beside the reports.
    Other,
}

impl Place {
    /// That of what begins with `bracket` within it as the member `name`.
    fn within(self, bracket: u8, name: &[u8]) -> Place {
        match (self, bracket, name) {
            (Place::Document, b'{', b"\"sysstat\"") => Place::Sysstat,
            (Place::Sysstat, b'[', b"\"hosts\"") => Place::Hosts,
            (Place::Hosts, b'{', _) => Place::Host,
            (Place::Host, b'[', b"\"statistics\"") => Place::Statistics,
            (Place::Statistics, b'{', _) => Place::Report,
            (Place::Report | Place::Part, ..) => Place::Part,
            _ => Place::Other,
        }
    }
}

/// The document whose lines come.
struct Document {
    /// Its open brackets: what closes each, and what it holds.
    open: Vec<(u8, Place)>,
    last: Part,
    /// The last text, as a member's name.
    name: Vec<u8>,
    /// What was told of the present host.
    host: Map<String, Value>,
    /// The present report, mended.
    text: Vec<u8>,
    /// Where it may be cut: how long it is there, how many brackets are open, and how many of its
    /// lines those are.
    whole: Option<(usize, usize, usize)>,
    /// Its lines that have numbers.
    lines: Vec<u64>,
    /// Something in a report is broken: what comes up to the next is not read.
    lost: bool,
    /// How many lines were told one by one, and the last of them.
    told: (usize, u64),
}

impl Default for Document {
    fn default() -> Self {
        Document {
            open: Vec::new(),
            last: Part::Open,
            name: Vec::new(),
            host: Map::new(),
            text: Vec::new(),
            whole: None,
            lines: Vec::new(),
            lost: false,
            told: (0, 0),
        }
    }
}

impl Document {
    fn place(&self) -> Option<Place> {
        self.open.last().map(|(_, place)| *place)
    }

    fn line(&mut self, line: &[u8], reports: &mut impl Reports, out: &mut Out) -> Line {
        let mut rest = line.trim_ascii();
        if self.lost && !self.goes_on(rest, reports, out) {
            return Line::Unknown;
        }
        let has_number = rest.iter().any(u8::is_ascii_digit);
        let in_host = |place: Option<Place>| {
            use Place::{Host, Part, Report, Statistics};
            matches!(place, Some(Host | Statistics | Report | Part))
        };
        let (mut of_host, mut read) = (in_host(self.place()), false);
        if has_number && matches!(self.place(), Some(Place::Report | Place::Part)) {
            self.lines.push(out.line_number());
        }
        loop {
            rest = rest.trim_ascii_start();
            let Some(first) = rest.first() else { break };
            if self.open.is_empty() && !matches!(first, b'{' | b'[') {
                if !read || !of_host {
                    return Line::Unknown;
                }
                out.not_understood(0, "text behind the end of the JSON");
                break;
            }
            if self.open.is_empty() {
                self.last = Part::Open;
            }
            let taken = next(rest).filter(|(part, token, _)| {
                part.is_some() && token.len() <= 1 << 20 && self.open.len() <= DEEPEST
            });
            let Some((Some(part), token, after)) = taken else {
                return self.broken(reports, out);
            };
            rest = after;
            read = true;
            let was_in_report = !self.text.is_empty();
            if !self.take(part, token, reports, out) {
                return self.broken(reports, out);
            }
            of_host |= in_host(self.place());
            // It begins in this line.
            if has_number && !was_in_report && !self.text.is_empty() {
                self.lines.push(out.line_number());
            }
        }
        match (has_number, of_host) {
            (true, true) => Line::Data,
            (true, false) => Line::Unknown,
            (false, _) => Line::Noise,
        }
    }

    /// Takes the next part of the text. Whether it can stand there.
    fn take(
        &mut self,
        part: Part,
        token: &[u8],
        reports: &mut impl Reports,
        out: &mut Out,
    ) -> bool {
        let begins = part == Part::Value && token == b"\"sysstat\"" && self.last == Part::Open;
        if begins && self.open.len() > 1 && self.open.last().is_some_and(|(end, _)| *end == b'}') {
            out.lacks("a JSON document is not at its end where the next begins: it was cut off");
            self.lines.pop_if(|line| *line == out.line_number());
            if self.text == b"{" {
                self.text.clear();
            }
            self.cut(false, reports, out);
            self.open.push((b'}', Place::Document));
        }
        let follows = matches!(self.last, Part::Value | Part::Close);
        let in_report = !self.text.is_empty();
        let last = std::mem::replace(&mut self.last, part);
        match part {
            Part::Comma if !follows => {
                out.lacks(MENDED);
                self.last = last;
                return true;
            }
            Part::Value | Part::Open if follows => {
                out.lacks(MENDED);
                self.push(b",");
            }
            Part::Close if last == Part::Comma => {
                out.lacks(MENDED);
                self.text.pop();
            }
            _ => {}
        }
        match part {
            Part::Open => self.opens(token[0], last, reports, out),
            Part::Close => {
                let Some((end, place)) = self.open.pop() else {
                    return false;
                };
                if end != token[0] {
                    self.open.push((end, place));
                    return false;
                }
                self.push(token);
                match place {
                    Place::Report => self.give(true, reports, out),
                    Place::Part => {
                        self.whole = Some((self.text.len(), self.open.len(), self.lines.len()));
                    }
                    _ => {}
                }
            }
            Part::Value if in_report => {
                let undefined = is_undefined(token);
                if undefined {
                    out.lacks(MENDED);
                }
                self.push(if undefined { b"null" } else { token });
            }
            Part::Value if last == Part::Colon && self.place() == Some(Place::Host) => {
                let name = serde_json::from_slice::<String>(&self.name);
                if let (Ok(name), Ok(value)) = (name, serde_json::from_slice(token)) {
                    self.host.insert(name, value);
                }
            }
            Part::Value => token.clone_into(&mut self.name),
            Part::Comma | Part::Colon => self.push(token),
        }
        if self.text.len() > LONGEST {
            out.refuse(Refused("a report in its JSON has more than 16 MiB".into()));
        }
        true
    }

    /// A bracket opens, after `last`.
    fn opens(&mut self, bracket: u8, last: Part, reports: &mut impl Reports, out: &mut Out) {
        let name = if last == Part::Colon {
            &self.name[..]
        } else {
            b""
        };
        let place = match self.place() {
            Some(parent) => parent.within(bracket, name),
            None if bracket == b'{' => Place::Document,
            None => Place::Other,
        };
        match place {
            Place::Host => self.host.clear(),
            Place::Statistics => {
                let host = std::mem::take(&mut self.host);
                reports.host(&Value::Object(host), out);
            }
            Place::Report => {
                // A comma before it is none of its own.
                self.text.clear();
                self.lines.clear();
                self.whole = None;
                self.text.push(bracket);
            }
            _ => self.push(&[bracket]),
        }
        let end = if bracket == b'{' { b'}' } else { b']' };
        self.open.push((end, place));
    }

    /// Adds to the report, if there is one.
    fn push(&mut self, token: &[u8]) {
        if !self.text.is_empty() {
            self.text.extend_from_slice(token);
        }
    }

    /// The report is at its end.
    fn give(&mut self, whole: bool, reports: &mut impl Reports, out: &mut Out) {
        let why = match serde_json::from_slice::<Value>(&self.text) {
            Ok(report) if reports.report(&report, whole, out) => None,
            Ok(_) => Some("left out: an output above in the file tells of the same time".into()),
            Err(why) => Some(format!("the JSON of its report cannot be read: {why}")),
        };
        if let Some(why) = why {
            self.not_taken(0, &why, out);
        }
        self.text.clear();
        self.lines.clear();
        self.whole = None;
    }

    /// The lines of the present report from that one on are not understood.
    fn not_taken(&mut self, from: usize, why: &str, out: &mut Out) {
        for line in self.lines.get(from..).unwrap_or_default() {
            if self.told.1 == *line {
                continue;
            }
            out.not_understood(*line, why);
            self.told = (self.told.0 + 1, *line);
            // Each takes memory: of many, one a report.
            if self.told.0 > TOLD {
                break;
            }
        }
    }

    /// The text `ends`, or goes on otherwise: what is closed of the present report is taken.
    fn cut(&mut self, ends: bool, reports: &mut impl Reports, out: &mut Out) {
        let at = self.open.iter().position(|(_, p)| *p == Place::Report);
        if let (Some(at), Some((length, open, lines))) = (at, self.whole) {
            if !ends {
                self.not_taken(lines, "the JSON ends within this", out);
            }
            self.text.truncate(length);
            self.lines.truncate(lines);
            for (end, _) in self.open[at..open].iter().rev() {
                self.text.push(*end);
            }
            self.give(false, reports, out);
        } else if !self.text.is_empty() && !ends {
            self.not_taken(0, "the JSON ends within this", out);
        }
        let told = self.told;
        *self = Document {
            told,
            ..Document::default()
        };
    }

    /// The present line cannot be read on.
    fn broken(&mut self, reports: &mut impl Reports, out: &mut Out) -> Line {
        let statistics = self.open.iter().position(|o| o.1 == Place::Statistics);
        let open = statistics.map(|at| self.open[..=at].to_vec());
        self.lines.pop_if(|line| *line == out.line_number());
        self.cut(false, reports, out);
        if let Some(open) = open {
            self.open = open;
            self.lost = true;
        }
        Line::Unknown
    }

    /// Whether a line after a broken one begins a report, with its first member, or a document.
    fn goes_on(&mut self, line: &[u8], reports: &mut impl Reports, out: &mut Out) -> bool {
        let inside = line.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
        if inside.is_some_and(|inside| inside.starts_with(b"\"sysstat\"")) {
            self.cut(false, reports, out);
            return true;
        }
        // What holds hosts, or reports, is open still.
        let holder = match line {
            _ if line.starts_with(b"\"timestamp\"") => Place::Statistics,
            _ if line.starts_with(b"\"nodename\"") => Place::Hosts,
            _ => return false,
        };
        let Some(at) = self.open.iter().position(|o| o.1 == holder) else {
            return false;
        };
        self.open.truncate(at + 1);
        self.lost = false;
        self.opens(b'{', Part::Comma, reports, out);
        self.last = Part::Open;
        true
    }
}

/// What the parts of JSON are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Open,
    Close,
    Comma,
    Colon,
    Value,
}

/// The next part of a text, the bytes of it, and what comes after; no part where there is none.
fn next(text: &[u8]) -> Option<(Option<Part>, &[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let (&first, rest) = text.split_first()?;
    let one = |part| Some((Some(part), &text[..1], rest));
    match first {
        b'{' | b'[' => one(Part::Open),
        b'}' | b']' => one(Part::Close),
        b',' => one(Part::Comma),
        b':' => one(Part::Colon),
        b'"' => {
            let mut escaped = false;
            let end = rest.iter().position(|b| {
                let ends = *b == b'"' && !escaped;
                escaped = *b == b'\\' && !escaped;
                ends
            });
            let Some(end) = end else {
                return Some((None, text, &[]));
            };
            let (token, after) = text.split_at(end + 2);
            Some((Some(Part::Value), token, after))
        }
        _ => {
            let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.');
            let end = text.iter().position(|b| !plain(b)).unwrap_or(text.len());
            if end == 0 {
                return Some((None, text, &[]));
            }
            let (token, after) = text.split_at(end);
            Some((Some(Part::Value), token, after))
        }
    }
}

/// A number, also one in a text.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => crate::number::number(text.as_bytes()),
        _ => None,
    }
}

/// Says to `out` what a host tells of itself; gives its date.
pub(crate) fn host<'a>(host: &'a Value, out: &mut Out) -> &'a str {
    if let Some(name) = host["nodename"].as_str() {
        of_host(name.as_bytes(), out);
    }
    let count = host["number-of-cpus"].as_u64();
    if let Some(count) = count.and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0) {
        out.has_processors(count);
    }
    let date = host["date"].as_str().or_else(|| host["file-date"].as_str());
    date.unwrap_or_default()
}

#[cfg(test)]
mod tests;
