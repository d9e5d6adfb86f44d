//! What netperf's `-O` prints: a column for each value that was asked for, left in its field.
//!
//! ```text
//! Minimum      99th         Throughput Throughput
//! Latency      Percentile              Units
//! Microseconds Latency
//!              Microseconds
//! 4            28           60085.02   Trans/s
//! ```
//!
//! Names go over several lines and have blanks in them: where values begin tells one from the next.

use super::{Netperf, Next};
use crate::Line;
use crate::number::number;

/// Names and values of a row below that heading; `None` if they do not stand in columns.
fn columns(heading: &[String], row: &str) -> Option<Vec<(String, String)>> {
    let is_blank = |text: &str, at: usize| text.as_bytes().get(at).is_none_or(|b| *b == b' ');
    let begins = |at: &usize| !is_blank(row, *at) && (*at == 0 || is_blank(row, at - 1));
    let starts: Vec<usize> = (0..row.len()).filter(begins).collect();
    if starts.first() != Some(&0) || !heading.iter().all(|line| line.is_ascii()) {
        return None;
    }
    let ends = starts.iter().skip(1).copied().chain([usize::MAX]);
    let mut found = Vec::new();
    for (start, end) in starts.iter().copied().zip(ends) {
        // No name goes on into the next column.
        let whole = |line: &String| start == 0 || is_blank(line, start - 1);
        if !heading.iter().all(whole) {
            return None;
        }
        let part = |text: &str| {
            let end = end.min(text.len());
            text.get(start.min(end)..end)
                .unwrap_or("")
                .trim()
                .to_owned()
        };
        let names: Vec<String> = heading.iter().map(|line| part(line)).collect();
        let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            return None;
        }
        found.push((names.join(" "), part(row)));
    }
    Some(found)
}

/// `99th` of a heading.
pub(super) fn is_ordinal(word: &str) -> bool {
    let number = word.strip_suffix("th").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

impl Netperf {
    /// A line below a banner: the row if it has numbers, before that a line of the heading.
    pub(super) fn omni(&mut self, text: &str) -> Option<Line> {
        let is_row = text
            .split_whitespace()
            .any(|w| number(w.as_bytes()).is_some());
        if !is_row {
            self.heading.push(text.to_owned());
            return None;
        }
        if self.heading.is_empty() {
            return None;
        }
        for (name, value) in columns(&self.heading, text)? {
            self.keep(&name, &value);
        }
        self.heading.clear();
        self.next = Next::Any;
        Some(Line::Data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_begin_where_their_names_do() {
        let heading = [
            "Local  Throughput Mean".to_owned(),
            "CPU               Latency".to_owned(),
            "Util %".to_owned(),
        ];
        let found = columns(&heading, "1.50   200.25     40.00").unwrap();
        let found: Vec<(&str, &str)> = found.iter().map(|(n, v)| (&**n, &**v)).collect();
        let wanted = [
            ("Local CPU Util %", "1.50"),
            ("Throughput", "200.25"),
            ("Mean Latency", "40.00"),
        ];
        assert_eq!(found, wanted);
        assert!(columns(&heading, "1.50 200.25 40.00").is_none());
        assert!(columns(&heading, "1.50   200.25     40.00   7").is_none());
    }
}
