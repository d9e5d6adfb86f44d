//! Rows of iperf's text.

use crate::number::{number, scaled};

/// A row, as printed.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) id: &'a str,
    pub(super) role: &'a str,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) bytes: f64,
    /// Seconds that it took at its rate.
    pub(super) took: f64,
    /// What follows the rate.
    pub(super) rest: Vec<&'a str>,
}

impl Row<'_> {
    /// Whether it was received, where its columns tell: reads and how long they were are of who
    /// receives, `50/0  0  1151K/28(6) us` of who writes by TCP.
    pub(super) fn is_received(&self) -> Option<bool> {
        let first = self.rest.first()?;
        let reads = |word: &&str| word.contains('=') && word.contains(':');
        if self.rest.iter().any(reads) {
            return Some(true);
        }
        let is_written = first.contains('/') && self.rest.contains(&"us");
        is_written.then_some(false)
    }
}

/// `[  5][TX-C]   0.00-1.00   sec  2.20 GBytes  18.9 Gbits/sec   20   1.25 MBytes`.
pub(super) fn row(text: &str) -> Option<Row<'_>> {
    let (id, mut rest) = text.strip_prefix('[')?.split_once(']')?;
    let mut role = "";
    if let Some((tag, after)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        (role, rest) = (tag, after);
    }
    let (interval, rest) = rest.split_once("sec")?;
    let (from, to) = interval.split_once('-')?;
    let mut rest = rest.split_whitespace();
    let (amount, unit) = (rest.next()?, rest.next()?);
    let letters = unit.strip_suffix("Bytes")?;
    let bytes = scaled([amount, letters].concat().as_bytes(), 1024.0)?;
    let (rate, unit) = (rest.next()?, rest.next()?.strip_suffix("/sec")?);
    let rate = match unit.strip_suffix("bits") {
        Some(letters) => scaled([rate, letters].concat().as_bytes(), 1000.0)? / 8.0,
        None => {
            let letters = unit.strip_suffix("Bytes")?;
            scaled([rate, letters].concat().as_bytes(), 1024.0)?
        }
    };
    let mut rest: Vec<&str> = rest.collect();
    if let Some(last) = rest.last_mut() {
        // Who says it, cut within the word, is who says it.
        let mut said = ["sender", "receiver"].into_iter();
        *last = said.find(|word| word.starts_with(*last)).unwrap_or(last);
    }
    Some(Row {
        id: id.trim(),
        role,
        from: number(from.trim().as_bytes())?,
        to: number(to.trim().as_bytes())?,
        bytes,
        took: bytes / rate,
        rest,
    })
}

/// How many datagrams were lost, of how many: `0/763 (0%)`, of old versions `3/   89 (3.4%)`. What is
/// sent at the same time has its writes there.
pub(super) fn lost_of(rest: &[&str]) -> Option<(f64, f64)> {
    let rest = rest.join(" ");
    let (lost, all) = rest.split_once('/').filter(|_| rest.contains("%)"))?;
    let lost = lost.split(' ').next_back()?;
    let all = all.split_whitespace().next()?;
    Some((number(lost.as_bytes())?, number(all.as_bytes())?))
}

/// Whether so many can be lost, of so many. Where counts overflow, or datagrams come late, others are printed:
/// `17179869184/0`, `-5817/98265`.
pub(super) fn can_be((lost, all): (f64, f64)) -> bool {
    (0.0..=all).contains(&lost)
}
