//! XML of `sadf -x`: elements with attributes, no mixed content, no entities but the five. Each
//! moment is handed out when its element closes, so that a file may be of any length; several
//! documents may stand in one.

use super::moments::When;
use super::records::Records;
use super::sadf::{no_time, when};
use super::{of_host, page_of};
use crate::number::{number, whole};
use crate::out::Out;
use crate::time::Refused;
use crate::{Line, Parser};

/// The longest tag.
const LONGEST: usize = 64 << 10;

/// Deeper than any document of `sadf` goes.
const DEEPEST: usize = 64;

/// Elements that hold a list: a member's own name says nothing more.
const LISTS: [&str; 13] = [
    "cpu-load",
    "cpu-load-all",
    "disk",
    "serial",
    "int-global",
    "int-proc",
    "cpu-frequency",
    "cpu-weighted-frequency",
    "filesystems",
    "fan-speed",
    "temperature",
    "voltage-input",
    "usb-devices",
];

/// An element that was opened.
struct Element {
    name: String,
    /// What its children say as text.
    fields: Vec<(String, String)>,
    /// Its text goes over several lines, which that of no tool does.
    broken: bool,
}

/// The document whose lines come.
#[derive(Default)]
pub(super) struct Xml {
    /// What came behind the last whole tag.
    rest: Vec<u8>,
    open: Vec<Element>,
    /// When the present records are from.
    now: Option<When>,
    records: Records,
    /// The present line says something.
    found: bool,
    /// The last line that did.
    last: u64,
}

/// Whether a tag opens a document, or stands before it.
fn begins(tag: &str) -> bool {
    let name = tag.split(|c: char| c.is_whitespace() || c == '>').next();
    matches!(name, Some("?xml" | "!DOCTYPE" | "sysstat"))
}

impl Xml {
    /// Takes a tag and the text before it. Whether it can stand there.
    fn tag(&mut self, before: &str, tag: &str, out: &mut Out) -> bool {
        if begins(tag) && !self.open.is_empty() {
            out.lacks("an XML document is not at its end where the next begins: it was cut off");
            self.cut(false, out);
        }
        if tag.starts_with(['?', '!']) {
            return true;
        }
        if let Some(name) = tag.strip_prefix('/') {
            return self.closes(name.trim(), before, out);
        }
        let closed = tag.ends_with('/');
        let (name, attributes) = attributes(tag.trim_end_matches('/'));
        if self.open.is_empty() && name != "sysstat" {
            return false;
        }
        self.opens(name, &attributes, out);
        if !closed {
            self.open.push(Element {
                name: name.to_owned(),
                fields: Vec::new(),
                broken: false,
            });
        }
        if self.open.len() > DEEPEST {
            let why = format!("its elements are more than {DEEPEST} deep");
            out.refuse(Refused(why));
        }
        true
    }

    fn opens(&mut self, name: &str, attributes: &[(&str, String)], out: &mut Out) {
        let of = |wanted: &str| {
            let found = attributes.iter().find(|(n, _)| *n == wanted);
            found.map(|(_, v)| v.as_str())
        };
        match name {
            "host" => {
                self.records.next();
                of_host(of("nodename").unwrap_or_default().as_bytes(), out);
            }
            "timestamp" => {
                // One before it that was not closed.
                self.records.moments.hand_out(None, out);
                let interval = of("interval").and_then(|i| number(i.as_bytes()));
                let part = |name: &str| of(name).unwrap_or_default();
                let (date, time) = (part("date"), part("time"));
                self.now = when(date, time, of("utc") == Some("1"), interval);
                self.found = true;
                if self.now.is_none() {
                    out.refuse(no_time(format!("{date} {time}")));
                }
            }
            _ => {
                if let Some(when) = &self.now {
                    self.found |= !attributes.is_empty();
                    let parent = self.open.last().map_or("", |e| e.name.as_str());
                    add(when, parent, name, attributes, &mut self.records, out);
                }
            }
        }
    }

    fn closes(&mut self, name: &str, before: &str, out: &mut Out) -> bool {
        let Some(at) = self.open.iter().rposition(|e| e.name == name) else {
            if !before.is_empty() {
                self.open.pop();
            }
            return false;
        };
        // What was not closed within it goes.
        let right = at + 1 == self.open.len();
        self.open.truncate(at + 1);
        let Some(element) = self.open.pop() else {
            return false;
        };
        if !before.is_empty() && right && !element.broken {
            self.found = true;
            host_says(name, before, &mut self.records, out);
            if let Some(parent) = self.open.last_mut() {
                parent.fields.push((element.name, before.to_owned()));
            }
        } else if let Some(when) = self.now.as_ref().filter(|_| !element.fields.is_empty()) {
            let fields = element.fields.iter().map(|(n, v)| (n.as_str(), v.clone()));
            self.records.add(when, &element.name, fields, out);
        }
        if name == "timestamp" {
            self.now = None;
            self.records.moments.hand_out_report(true, out);
        }
        right
    }

    /// The text `ends` within the document, or another begins.
    fn cut(&mut self, ends: bool, out: &mut Out) {
        let moment = self.open.iter().position(|e| e.name == "timestamp");
        let within = moment.map_or(&[][..], |at| &self.open[at..]);
        if within.iter().any(|e| !e.fields.is_empty()) && !ends {
            out.not_understood(self.last, "the XML ends before the element that holds this");
        }
        self.records.moments.hand_out(None, out);
        self.open.clear();
        self.now = None;
    }

    /// Takes the tags that are whole. Whether all of them can stand there.
    fn take(&mut self, text: &str, out: &mut Out) -> (bool, usize) {
        let (mut right, mut from) = (true, 0);
        while let Some(at) = text[from..].find('<').map(|at| from + at) {
            let is_comment = text[at..].starts_with("<!--");
            let (end, length) = if is_comment { ("-->", 3) } else { (">", 1) };
            let Some(close) = text[at..].find(end).map(|close| at + close) else {
                break;
            };
            let before = text[from..at].trim();
            // One that has no end, before the next.
            if let Some(next) = text[at + 1..close].rfind('<').filter(|_| !is_comment) {
                (right, from) = (false, at + 1 + next);
                continue;
            }
            from = close + length;
            // No document has text but in elements that hold nothing else.
            right &= before.is_empty() || text[at..].starts_with("</") && !self.open.is_empty();
            if !is_comment {
                right &= self.tag(before, &text[at + 1..close], out);
            }
        }
        (right, from)
    }
}

impl Parser for Xml {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let goes_on = !self.rest.is_empty();
        if self.open.is_empty() && !goes_on && !line.trim_ascii_start().starts_with(b"<") {
            return Line::Unknown;
        }
        self.rest.extend_from_slice(line);
        self.rest.push(b'\n');
        if self.rest.len() > LONGEST && goes_on {
            let why = "its XML has a tag of more than 64 KiB";
            out.refuse(Refused(why.into()));
            return Line::Unknown;
        }
        // Not looked at again for each line of it.
        if goes_on && !line.contains(&b'>') {
            return Line::Noise;
        }
        let rest = std::mem::take(&mut self.rest);
        let text = String::from_utf8_lossy(&rest);
        self.found = false;
        let (mut right, taken) = self.take(&text, out);
        let left = text[taken..].trim();
        if left.starts_with('<') {
            self.rest = text[taken..].trim_start().as_bytes().to_vec();
        } else if !left.is_empty() {
            right = false;
            if let Some(element) = self.open.last_mut() {
                element.broken = true;
            }
        }
        match (right, self.found) {
            (false, _) => Line::Unknown,
            (true, true) => {
                self.last = out.line_number();
                Line::Data
            }
            (true, false) => Line::Noise,
        }
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        if !self.open.is_empty() {
            out.lacks("the XML has no end: what came after the last whole record is missing");
            self.cut(true, out);
        }
        self.records.end(out);
    }
}

fn add(
    when: &When,
    parent: &str,
    name: &str,
    attributes: &[(&str, String)],
    records: &mut Records,
    out: &mut Out,
) {
    let group = if LISTS.contains(&parent) {
        parent
    } else {
        name
    };
    let of = |wanted: &str| {
        attributes
            .iter()
            .find(|(n, _)| *n == wanted)
            .map(|(_, v)| v.clone())
    };
    if name == "irq" {
        // As a column: all, CPU0; without a processor the whole.
        let column = match of("cpu").as_deref() {
            None => "intr/s".to_owned(),
            Some("all") => "all".to_owned(),
            Some(cpu) => format!("CPU{cpu}"),
        };
        let fields = [
            of("intr").map(|i| ("intr", i)),
            of("value").map(|v| (column.as_str(), v)),
        ];
        records.add(when, "interrupts", fields.into_iter().flatten(), out);
        return;
    }
    let plain = |n: &&(&str, String)| !matches!(n.0, "per" | "unit" | "type");
    let fields = attributes
        .iter()
        .filter(plain)
        .map(|(n, v)| (*n, v.clone()));
    records.add(when, group, fields, out);
}

/// What an element tells of the host.
fn host_says(name: &str, text: &str, records: &mut Records, out: &mut Out) {
    match name {
        "number-of-cpus" => {
            let count = whole(text.as_bytes()).and_then(|n| u32::try_from(n).ok());
            if let Some(count) = count.filter(|n| *n > 0) {
                out.has_processors(count);
                records.moments.place.processors = Some(count);
            }
        }
        "machine" => records.moments.place.page = page_of(text.as_bytes()),
        _ => {}
    }
}

/// A tag's name and its attributes.
fn attributes(tag: &str) -> (&str, Vec<(&str, String)>) {
    let tag = tag.trim();
    let (name, mut rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    let mut found = Vec::new();
    while let Some((key, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            break;
        };
        let Some((value, after)) = after[1..].split_once(quote) else {
            break;
        };
        let value = value
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&amp;", "&");
        found.push((key.trim(), value));
        rest = after;
    }
    (name, found)
}

#[cfg(test)]
mod tests {
    use super::attributes;
    use crate::{FORMATS, Head, Import, Options, Report};

    fn import(text: &str) -> (Report, run::Sink) {
        let format = FORMATS.iter().find(|f| f.name == "sadf-xml").unwrap();
        let head = Head::new(text.as_bytes());
        let mut import = Import::new(format, &head, Options::default());
        import.feed(text.as_bytes()).unwrap();
        let report = import.finish().unwrap();
        (report, std::mem::take(import.rows()))
    }

    /// A document of two reports, of that hour.
    fn document(hour: u32) -> String {
        let report = |minute: u32| {
            format!(
                "<timestamp date=\"2026-11-22\" time=\"0{hour}:{minute}:00\" utc=\"1\" interval=\"600\">\n\
                 <paging per=\"second\" pgpgin=\"{hour}.00\"/>\n\
                 <memory unit=\"kB\">\n<memfree>{hour}000</memfree>\n</memory>\n</timestamp>\n"
            )
        };
        format!(
            "<?xml version=\"1.0\"?>\n<sysstat>\n<host nodename=\"box\">\n<statistics>\n\
             {}{}</statistics>\n</host>\n</sysstat>\n",
            report(10),
            report(20)
        )
    }

    fn free(sink: &run::Sink) -> Vec<f64> {
        let rows = sink.rows(run::rows::TableId::of("memory"));
        rows.values[0].iter().map(|bytes| bytes / 1024.0).collect()
    }

    #[test]
    fn one_document_after_the_other() {
        let (one, two) = (document(1), document(2));
        for between in ["", "$ sadf -x\n", "ssh: connection lost\n"] {
            let (report, sink) = import(&format!("{one}{between}{two}"));
            assert_eq!(free(&sink), [1000.0, 1000.0, 2000.0, 2000.0]);
            let lost = u64::from(between.starts_with("ssh"));
            assert_eq!(report.unknown, lost, "{:?}", report.not_understood);
        }
        // The same once more, and one that was cut off.
        let (report, sink) = import(&format!("{one}{one}"));
        assert_eq!(free(&sink), [1000.0, 1000.0]);
        assert!(
            report
                .notes
                .iter()
                .any(|n| n.contains("left out: an output above"))
        );
        let cut = &one[..one.rfind("</memory>").unwrap()];
        let (report, sink) = import(&format!("{cut}{two}"));
        assert_eq!(free(&sink), [1000.0, 2000.0, 2000.0]);
        assert_eq!(report.unknown, 1);
        let cut = &one[..one.rfind("000</memfree>").unwrap()];
        let (report, sink) = import(&format!("{cut}\n{two}"));
        assert_eq!(free(&sink), [1000.0, 2000.0, 2000.0]);
        assert!(report.unknown > 0);
    }

    #[test]
    fn a_fault_is_told_and_what_follows_is_taken() {
        for (right, wrong) in [
            ("<memory unit=\"kB\">\n", "<memory unit=\"kB\">\n</cpu>\n"),
            ("</memory>\n", "</memory>\nssh: connection lost\n"),
            ("/>\n", "\n"),
            (
                "<memory unit=\"kB\">\n",
                "<memory unit=\"kB\">\n<buffers>5</memfree>\n",
            ),
            (
                "<memory unit=\"kB\">\n",
                "<memory unit=\"kB\">\n<buffers>5\n5</buffers>\n",
            ),
        ] {
            let text = document(1).replacen(right, wrong, 1) + &document(2);
            let (report, sink) = import(&text);
            assert_eq!(free(&sink), [1000.0, 1000.0, 2000.0, 2000.0], "{wrong}");
            assert!(report.unknown > 0, "{wrong}");
        }
    }

    #[test]
    fn tags_and_their_attributes() {
        let (name, all) = attributes("cpu number=\"all\" usr='37.82' x=\"a&amp;lt;\"");
        assert_eq!(name, "cpu");
        let plain: Vec<_> = all.iter().map(|(n, v)| (*n, v.as_str())).collect();
        assert_eq!(plain, [("number", "all"), ("usr", "37.82"), ("x", "a&lt;")]);
        assert_eq!(attributes("a b=\"c").1, []);
        assert_eq!(attributes("").0, "");
    }
}
