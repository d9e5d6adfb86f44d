//! `sadf -d` (fields between semicolons) and `sadf -p` (a value a line).

use std::collections::HashMap;

use super::moments::{Header, Moments, When};
use super::processors_since;
use super::rules::TABLES_WITHOUT_PAGES;
use super::sadf::when;
use crate::list::Format;
use crate::number::{number, whole};
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "sadf-text",
    tool: "sar",
    systems: "Linux",
    help: "all reports of sar, as `sadf -d` and `sadf -p` print them",
    recognised: "a line `# hostname;interval;timestamp;…`, or host, interval, time, device, field \
                 and value between tabs",
    // How long a page is it does not tell, so nothing of `vm_reclaim`.
    yields: TABLES_WITHOUT_PAGES,
    example: "\
# hostname;interval;timestamp;CPU;%usr;%nice;%sys;%iowait;%steal;%irq;%soft;%guest;%gnice;%idle
box;10;2026-11-22 02:52:31 UTC;-1;37.82;0.00;14.51;8.29;0.00;0.00;1.04;0.00;0.00;38.34
# hostname;interval;timestamp;proc/s;cswch/s
box;10;2026-11-22 02:52:31 UTC;25.00;2134.00
",
    recognise,
    parser: || Box::new(Sadf::default()),
};

fn recognise(head: &Head) -> u8 {
    if head.any_starts("# hostname;interval;timestamp;") {
        return 95;
    }
    let found = head.lines().any(|line| {
        let all: Vec<&[u8]> = line.split(|b| *b == b'\t').collect();
        matches!(all[..], [_, interval, time, _, field, value]
            if whole(interval).is_some() && stamp(time, None).is_some() && number(value).is_some()
                && number(field).is_none())
    });
    if found { 70 } else { 0 }
}

/// `2026-11-22 02:52:31 UTC`, without a zone the reader's, or seconds since 1970.
fn stamp(text: &[u8], interval: Option<f64>) -> Option<When> {
    let text = std::str::from_utf8(text).ok()?;
    let mut parts = text.split(' ');
    let (first, time, zone) = (parts.next()?, parts.next(), parts.next());
    let Some(time) = time else {
        let seconds: i64 = first.parse().ok()?;
        let at = jiff::Timestamp::from_second(seconds).ok()?;
        return Some(When {
            at: at.to_zoned(jiff::tz::TimeZone::UTC).datetime(),
            stamp: Stamp::Epoch(seconds.checked_mul(1_000_000_000)?),
            interval: interval.filter(|i| *i > 0.0),
            since_boot: false,
        });
    };
    when(first, time, zone == Some("UTC"), interval)
}

/// Whether a restart or a comment stands where a value would.
fn is_remark(field: &[u8]) -> bool {
    field.starts_with(b"LINUX-RESTART") || field.starts_with(b"COM")
}

#[derive(Default)]
struct Sadf {
    moments: Moments,
    headers: HashMap<String, usize>,
    /// Columns after the time, of `-d`.
    names: Vec<String>,
    host: Vec<u8>,
    /// Values of one thing, of `-p`, and when they are from.
    values: Vec<(String, f64)>,
    of: Option<(When, Vec<u8>)>,
}

impl Sadf {
    fn header(&mut self, names: Vec<String>, of: &[String]) -> usize {
        let key = format!("{};{}", of.join(" "), names.join(";"));
        let headers = &mut self.moments.headers;
        *self.headers.entry(key).or_insert_with(|| {
            headers.push(Header::new(names, of));
            headers.len() - 1
        })
    }

    fn host(&mut self, name: &[u8], out: &mut Out) {
        if self.host != name {
            self.host = name.to_vec();
            out.host(name);
        }
    }

    /// Whether the last number of a row of `-d` lost its end, as where text was cut at a width: rates
    /// and shares have two decimals, as others of the row have.
    fn is_cut(column: &str, fields: &[&[u8]]) -> bool {
        let decimals = |field: &[u8]| {
            let point = field.iter().rposition(|b| matches!(b, b'.' | b','));
            point.map_or(0, |at| field.len() - at - 1)
        };
        let has_decimals = column.ends_with("/s") || column.starts_with('%');
        let Some((last, before)) = fields.split_last().filter(|_| has_decimals) else {
            return false;
        };
        // What a row is of may be a name with a point.
        let numbers = before.iter().filter(|f| number(f).is_some());
        numbers.map(|f| decimals(f)).max() == Some(2) && decimals(last) < 2
    }

    /// A row of `-d`.
    fn row(&mut self, line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = line.split(|b| *b == b';').collect();
        let [host, interval, time, rest @ ..] = &all[..] else {
            return Line::Unknown;
        };
        if rest.first().is_some_and(|f| is_remark(f)) {
            self.remark(line, out);
            return Line::Noise;
        }
        let when = stamp(time, number(interval)).filter(|_| !self.names.is_empty());
        let Some(when) = when else {
            return Line::Unknown;
        };
        let mut names = self.names.clone();
        // One column a processor, all of them first.
        if names.last().is_some_and(|n| n == "CPU*") {
            names.pop();
            let each = rest.len().saturating_sub(names.len());
            names.extend((0..each).map(|i| match i {
                0 => "all".to_owned(),
                i => format!("CPU{}", i - 1),
            }));
        }
        if names.len() != rest.len() {
            return Line::Unknown;
        }
        let mut rest = rest;
        if names.last().is_some_and(|last| Sadf::is_cut(last, rest)) {
            names.pop();
            rest = &rest[..names.len()];
            out.lacks(
                "rows were cut, as at a width: their last number has fewer decimals than those \
                 before it and is left out",
            );
        }
        let (mut of, mut name, mut kept, mut values) = (vec![], vec![], vec![], vec![]);
        for (column, field) in names.into_iter().zip(rest) {
            if is_instance(&column) {
                let all = column == "CPU" && *field == b"-1";
                of.push(column);
                name.push(if all { b"all" } else { *field });
            } else if let Some(value) = number(field) {
                kept.push(column);
                values.push(value);
            } else {
                return Line::Unknown;
            }
        }
        self.host(host, out);
        let header = self.header(kept, &of);
        let name = out.word(&name.join(&b' '));
        self.moments.row(&when, header, name, &values);
        Line::Data
    }

    /// A restart tells how many processors there are from then on.
    fn remark(&mut self, line: &[u8], out: &mut Out) {
        self.finish(out);
        let place = &mut self.moments.place;
        place.processors = processors_since(line).or(place.processors);
    }

    /// A value of `-p`.
    fn value(&mut self, all: &[&[u8]], out: &mut Out) -> Line {
        let [host, interval, time, device, field, value] = all else {
            return Line::Unknown;
        };
        let (Some(when), Some(value)) = (stamp(time, number(interval)), number(value)) else {
            return Line::Unknown;
        };
        self.host(host, out);
        let field = String::from_utf8_lossy(field).into_owned();
        let same = self
            .of
            .as_ref()
            .is_some_and(|(w, d)| *w == when && d == device);
        if !same
            || self.values.iter().any(|(n, _)| *n == field)
            || self.begins(&field)
            || self.values.len() > 256
        {
            self.finish(out);
            self.of = Some((when, device.to_vec()));
        }
        self.values.push((field, value));
        Line::Data
    }

    /// Whether a field is the first of a table: another stands before it, of the same thing.
    fn begins(&self, field: &str) -> bool {
        let first = [
            "%usr", "%user", "total/s", "MHz", "rxpck/s", "rxerr/s", "call/s", "active/s",
        ];
        first.contains(&field) && !self.values.is_empty()
    }

    fn finish(&mut self, out: &mut Out) {
        let Some((when, device)) = self.of.take() else {
            return;
        };
        let (names, values): (Vec<String>, Vec<f64>) = self.values.drain(..).unzip();
        let has = |name: &str| names.iter().any(|n| n == name);
        let of = if has("%idle") || has("squeezd/s") || has("MHz") {
            vec!["CPU".to_owned()]
        } else if has("tps") && device != b"-" {
            vec!["DEV".to_owned()]
        } else if has("intr/s") || has("all") {
            vec!["INTR".to_owned()]
        } else {
            Vec::new()
        };
        // cpu0 and ttyS0 are 0 elsewhere.
        let numbered = ["cpu", "ttyS"].iter().find_map(|p| {
            let rest = device.strip_prefix(p.as_bytes())?;
            whole(rest).map(|_| rest)
        });
        let name = match device.as_slice() {
            b"-" => b"",
            device => numbered.unwrap_or(device),
        };
        let name = out.word(name);
        let header = self.header(names, &of);
        self.moments.row(&when, header, name, &values);
    }
}

fn is_instance(column: &str) -> bool {
    let letters = column.bytes().all(|b| b.is_ascii_uppercase());
    letters && column != "MHz" || matches!(column, "DEVICE" | "device")
}

impl Parser for Sadf {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if let Some(names) = line.strip_prefix(b"# hostname;interval;timestamp;") {
            if memchr::memmem::find(names, b"[...]").is_some() {
                out.refuse(Refused(
                    "it is `sadf -h`, which puts all things of a kind in one line without \
                     telling how many\nhint: print it without -h"
                        .into(),
                ));
            }
            let text = |n: &[u8]| String::from_utf8_lossy(n).into_owned();
            self.names = names.split(|b| *b == b';').map(text).collect();
            return Line::Noise;
        }
        let all: Vec<&[u8]> = line.split(|b| *b == b'\t').collect();
        match all[..] {
            [_, _, _, _, _, _] => self.value(&all, out),
            [_, _, _, what] | [_, _, _, what, _] if is_remark(what) => {
                self.remark(line, out);
                Line::Noise
            }
            _ => self.row(line, out),
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.finish(out);
        self.moments.hand_out(None, out);
    }
}
