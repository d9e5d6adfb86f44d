//! Totals of interrupts: `hardirqs` and `softirqs` of bcc and libbpf-tools. (Their histograms, `-d`, are of
//! [`bcc`](super::bcc).)
//!
//! Time in the handler of each interrupt, in all processors together, or with `-C` how often it ran, in
//! an interval. Neither has a place in the catalog.

use super::{echoed, first_number, stamp};
use crate::list::Format;
use crate::number::number;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Stamp;
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "hardirqs",
    tool: "hardirqs",
    systems: "Linux",
    help: "time in the handlers of interrupts, hard or soft, or how often they ran",
    recognised: "a header `HARDIRQ TOTAL_usecs`, or of `SOFTIRQ`, of `TOTAL_nsecs`, of `TOTAL_count`",
    yields: &[],
    example: "\
22:16:14
HARDIRQ                    TOTAL_usecs
blkif                               51
eth0                              7498

22:16:15
HARDIRQ                    TOTAL_usecs
eth0                              6972
",
    recognise: |head: &Head| {
        let is_header = |line: &[u8]| unit(&String::from_utf8_lossy(line)).is_some();
        if head.lines().any(is_header) { 91 } else { 0 }
    },
    parser: || Box::new(Interrupts::default()),
};

/// The column of a header, and what it counts.
fn unit(line: &str) -> Option<(&'static str, &'static str)> {
    let mut words = line.split_whitespace();
    let (of, column, None) = (words.next()?, words.next()?, words.next()) else {
        return None;
    };
    if !matches!(of, "HARDIRQ" | "SOFTIRQ") {
        return None;
    }
    Some(match column {
        "TOTAL_usecs" => ("TOTAL_usecs", "us per interval"),
        "TOTAL_nsecs" => ("TOTAL_nsecs", "ns per interval"),
        "TOTAL_count" => ("TOTAL_count", "per interval"),
        _ => return None,
    })
}

#[derive(Default)]
struct Interrupts {
    column: Option<(&'static str, &'static str)>,
    /// The time above the header.
    stamp: Option<Stamp>,
}

impl Parser for Interrupts {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = String::from_utf8_lossy(line);
        let text = text.trim().trim_start_matches("^C").trim();
        if let Some(column) = unit(text) {
            self.column = Some(column);
            // Also of an interval in which there was none.
            match self.stamp.take() {
                Some(at) => out.sample_once(Some(at)),
                None => out.sample(),
            }
            return Line::Noise;
        }
        if let Some(at) = stamp(text) {
            self.stamp = Some(at);
            return Line::Noise;
        }
        if let Some(words) = echoed(text) {
            if let Some(seconds) = first_number(words.get(1..).unwrap_or_default(), "c") {
                out.every(seconds);
            }
            return Line::Noise;
        }
        if text.starts_with("Tracing") || matches!(text, "[...]" | "") {
            return Line::Noise;
        }
        // Names may have blanks.
        let row = text.rsplit_once(char::is_whitespace);
        let row = row.and_then(|(name, value)| Some((name.trim(), number(value.as_bytes())?)));
        match (self.column, row) {
            (Some((column, unit)), Some((name, value))) if !name.is_empty() => {
                let name = out.word(name.as_bytes());
                out.other(column, unit, name, value);
                Line::Data
            }
            _ => Line::Unknown,
        }
    }
}
