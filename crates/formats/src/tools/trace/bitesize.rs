//! `bitesize` of perf-tools: sizes of block I/O in KiB, one histogram when it ends.
//!
//! ```text
//! Tracing block I/O size (bytes), for 10 seconds...
//!
//!             Kbytes         : I/O      Distribution
//!               -> 0.9       : 0        |                                      |
//!           1.0 -> 7.9       : 38       |#                                     |
//!         128.0 ->           : 1        |#                                     |
//! ```
//!
//! Ranges are of whole numbers given with `-b`, of 1,024 bytes, and reach to the next one; printed is 0.1 less.
//! The last has no upper end.

use super::buckets::{Bucket, is_bar};
use crate::fields;
use crate::out::Out;

/// The header.
pub(super) fn is_header(line: &[u8]) -> bool {
    fields(line).eq([&b"Kbytes"[..], b":", b"I/O", b"Distribution"])
}

/// A row below it.
pub(super) fn row(text: &str, out: &mut Out) -> Option<Bucket> {
    let (range, rest) = text.split_once(':')?;
    let (count, bar) = rest.split_once('|')?;
    let (from, last) = range.split_once("->")?;
    let count = count.trim().parse::<u64>().ok()? as f64;
    let end = |text: &str| match text.trim() {
        "" => Some(None),
        text => text.parse::<f64>().ok().map(Some),
    };
    let (from, last) = (end(from)?, end(last)?);
    if !is_bar(bar.trim_end().strip_suffix('|')?) || from.or(last).is_none() {
        return None;
    }
    let from = from.unwrap_or(0.0);
    if last.is_none() && count != 0.0 {
        out.note("a row `N ->` has no upper end: its values stand at N");
    }
    let to = last.map_or(from, |last| (last + 0.1).round());
    (to >= from).then_some(Bucket { from, to, count })
}

/// How long it traced, of the line that it begins with.
pub(super) fn traced(text: &str) -> Option<f64> {
    let rest = text.strip_prefix("Tracing block I/O size (bytes), for ")?;
    rest.strip_suffix(" seconds...")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    #[test]
    fn ranges_reach_to_the_next() {
        let mut out = Out::new("bcc", Options::default());
        let mut of = |text| row(text, &mut out).map(|b| (b.from, b.to, b.count));
        assert_eq!(of("    -> 0.9   : 3 |#  |"), Some((0.0, 1.0, 3.0)));
        assert_eq!(of("8.0 -> 63.9  : 9 |## |"), Some((8.0, 64.0, 9.0)));
        assert_eq!(of("128.0 ->     : 1 |#  |"), Some((128.0, 128.0, 1.0)));
        for no in [
            "-> : 1 |#|",
            "8.0 -> 0.9 : 1 |#|",
            "8.0 -> 63.9 : 9",
            "8.0 : 9 |#|",
        ] {
            assert_eq!(of(no), None, "{no}");
        }
    }
}
