//! `::memstat` of `mdb -k`: where the memory of Solaris and illumos is.
//!
//! ```text
//! Page Summary                Pages                MB  %Tot
//! ------------     ----------------  ----------------  ----
//! Kernel                     462970              1808    6%
//! Total                     8383800             32749
//! ```
//!
//! Newer releases print `Bytes`, with letters as steps of 1,024. Solaris 11.4 has `Usage
//! Type/Subtype` for `Page Summary`, and below a type its parts, with shares of all and of the type:
//!
//! ```text
//! ZFS                                     47438     371m  7.6%
//!   ZFS Metadata                           5239    40.9m        0.8%/11.0%
//! ```
//!
//! The size of a page is found from the largest row, as pages are exact and MB are not.

use std::collections::BTreeMap;

use crate::list::Format;
use crate::number::{number, scaled};
use crate::out::{Out, Shape};
use crate::time::Refused;
use crate::{Line, Parser, Stamp, fields, prompt, stamp_line};

const MIB: f64 = 1_048_576.0;

pub(crate) const FORMAT: Format = Format {
    name: "memstat",
    tool: "memstat",
    systems: "Solaris, illumos",
    help: "memory by use, as the kernel debugger counts its pages",
    recognised: "the header `Page Summary Pages MB %Tot`, or `Bytes` for `MB`, or `Usage Type/Subtype` \
                 for `Page Summary`",
    yields: &["memory"],
    example: "\
Page Summary                Pages                MB  %Tot
------------     ----------------  ----------------  ----
Kernel                     462970              1808    6%
Free (freelist)           6584225             25719   79%

Total                     8383800             32749
",
    recognise: |head| if head.lines().any(is_header) { 90 } else { 0 },
    parser: || Box::new(Memstat::new()),
};

fn is_header(line: &[u8]) -> bool {
    let mut words = fields(line);
    matches!(
        (words.next(), words.next()),
        (Some(b"Page"), Some(b"Summary")) | (Some(b"Usage"), Some(b"Type/Subtype"))
    ) && words.next() == Some(b"Pages")
}

struct Row {
    name: Vec<u8>,
    pages: f64,
    bytes: f64,
    /// Its bytes are rounded to as much.
    rounded: f64,
    /// It is a part of the row above that is none.
    is_part: bool,
}

struct Memstat {
    /// Whether the size is in MB; `None` before a header.
    in_mb: Option<bool>,
    rows: Vec<Row>,
    stamp: Option<Stamp>,
    shape: Shape,
}

impl Memstat {
    fn new() -> Memstat {
        Memstat {
            in_mb: None,
            rows: Vec::new(),
            stamp: None,
            shape: Shape::of("memory", &["bytes"]),
        }
    }

    fn row(&mut self, line: &[u8]) -> Option<Row> {
        let in_mb = self.in_mb?;
        let words: Vec<&[u8]> = fields(line).collect();
        let shares = words.iter().rev().take_while(|w| w.contains(&b'%')).count();
        let (words, shares) = words.split_at(words.len() - shares);
        let [name @ .., pages, size] = words else {
            return None;
        };
        // `0.8%/ 1.5%` is of all and of the type.
        let is_part = shares.iter().any(|share| share.contains(&b'/'));
        let (bytes, rounded) = if in_mb {
            (number(size)? * MIB, MIB)
        } else {
            (scaled(size, 1024.0)?, f64::NAN)
        };
        let named = !name.is_empty() && name.iter().all(|w| number(w).is_none());
        named.then_some(())?;
        Some(Row {
            name: name.join(&b' '),
            pages: crate::number::whole(pages)? as f64,
            bytes,
            rounded,
            is_part,
        })
    }

    /// The size of a page: a power of two, as near as the largest row tells.
    fn page(&self) -> Option<f64> {
        let largest = self
            .rows
            .iter()
            .max_by(|a, b| a.pages.total_cmp(&b.pages))?;
        let about = largest.bytes / largest.pages;
        [4096.0, 8192.0, 16_384.0, 65_536.0]
            .into_iter()
            .find(|page: &f64| (about / page - 1.0).abs() < 0.2)
    }

    fn report(&mut self, out: &mut Out) {
        if self.rows.is_empty() {
            return;
        }
        let Some(page) = self.page() else {
            out.refuse(Refused(
                "pages and sizes do not fit each other: the size of a page is not known".into(),
            ));
            return;
        };
        out.sample_once(self.stamp.take());
        out.only_levels();
        let rows = std::mem::take(&mut self.rows);
        put_parts(&rows, page, out);
        for row in rows.iter().filter(|row| !row.is_part) {
            let exact = row.pages * page;
            if (exact - row.bytes).abs() > row.rounded + page {
                out.note("pages and MB of a row differ; the pages were taken");
            }
            let name = String::from_utf8_lossy(&row.name).to_ascii_lowercase();
            match name.as_str() {
                "total" | "physical" => {
                    let none = out.word(b"");
                    out.other(&name, "B", none, exact);
                }
                _ => {
                    let kind = match name.as_str() {
                        "anon" | "user/anon" => "anonymous".to_owned(),
                        "free (freelist)" | "free" => "free".to_owned(),
                        _ => name.replace(['(', ')'], "").replace([' ', '-'], "_"),
                    };
                    let kind = out.word(kind.as_bytes());
                    out.put(&self.shape, &[kind], &[exact]);
                }
            }
        }
    }
}

/// Parts of types: their types have their pages already. Those of one name, of pages of several
/// sizes, are added up.
fn put_parts(rows: &[Row], page: f64, out: &mut Out) {
    let mut whole = "".into();
    let mut parts: BTreeMap<String, f64> = BTreeMap::new();
    for row in rows {
        let name = String::from_utf8_lossy(&row.name);
        if row.is_part {
            *parts.entry(format!("{whole}: {name}")).or_default() += row.pages * page;
        } else {
            whole = name;
        }
    }
    for (name, bytes) in parts {
        let name = out.word(name.as_bytes());
        out.other("part", "B", name, bytes);
    }
}

impl Parser for Memstat {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = line.trim_ascii();
        let ruled = text.iter().all(|b| matches!(b, b'-' | b' '));
        if ruled {
            return Line::Noise;
        }
        if is_header(line) {
            self.report(out);
            self.in_mb = Some(fields(line).any(|w| w == b"MB"));
            return Line::Noise;
        }
        if let Some(stamp) = stamp_line::told(line, out) {
            self.report(out);
            self.stamp = Some(stamp);
            return Line::Noise;
        }
        if let Some(row) = self.row(line) {
            self.rows.push(row);
            return Line::Data;
        }
        let chatter = line.windows(9).any(|w| w == b"::memstat") || prompt::is_chatter(line);
        if chatter || text.starts_with(b"Loading modules:") {
            Line::Noise
        } else {
            Line::Unknown
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.report(out);
    }
}
