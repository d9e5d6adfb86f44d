//! XML of `sadf -x`: elements with attributes, no mixed content, no entities but the five.

use super::moments::When;
use super::page_of;
use super::records::Records;
use super::sadf::when;
use crate::number::{number, whole};
use crate::out::Out;

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
}

/// Reads a document into `records`. Whether it came to its end.
pub(super) fn read(text: &[u8], records: &mut Records, out: &mut Out) -> bool {
    let text = String::from_utf8_lossy(text);
    let mut open: Vec<Element> = Vec::new();
    let mut now: Option<When> = None;
    let mut rest: &str = &text;
    while let Some(at) = rest.find('<') {
        let before = rest[..at].trim();
        let Some(end) = rest[at..].find('>') else {
            return false;
        };
        let tag = &rest[at + 1..at + end];
        rest = &rest[at + end + 1..];
        if tag.starts_with(['?', '!']) {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            let Some(element) = open.pop().filter(|e| e.name == name.trim()) else {
                return false;
            };
            if !before.is_empty() {
                host_says(name, before, records, out);
                if let Some(parent) = open.last_mut() {
                    parent.fields.push((element.name, before.to_owned()));
                }
            } else if let Some(when) = now.as_ref().filter(|_| !element.fields.is_empty()) {
                let fields = element.fields.iter().map(|(n, v)| (n.as_str(), v.clone()));
                records.add(when, &element.name, fields, out);
            }
            if name == "timestamp" {
                now = None;
            }
            if open.is_empty() {
                return true;
            }
            continue;
        }
        let closed = tag.ends_with('/');
        let (name, attributes) = attributes(tag.trim_end_matches('/'));
        let of = |wanted: &str| {
            attributes
                .iter()
                .find(|(n, _)| *n == wanted)
                .map(|(_, v)| v.as_str())
        };
        match name {
            "host" => out.host(of("nodename").unwrap_or_default().as_bytes()),
            "timestamp" => {
                let interval = of("interval").and_then(|i| number(i.as_bytes()));
                let utc = of("utc") == Some("1");
                now = when(
                    of("date").unwrap_or_default(),
                    of("time").unwrap_or_default(),
                    utc,
                    interval,
                );
            }
            _ => {
                if let Some(when) = &now {
                    let parent = open.last().map_or("", |e| e.name.as_str());
                    add(when, parent, name, &attributes, records, out);
                }
            }
        }
        if !closed {
            open.push(Element {
                name: name.to_owned(),
                fields: Vec::new(),
            });
        }
        if open.len() > 64 {
            return false;
        }
    }
    false
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
