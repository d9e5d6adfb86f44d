//! What stands behind the rate in a row of iperf's text.
//!
//! ```text
//! Retr  Cwnd                                                        20   1.25 MBytes
//! Jitter   Lost/Total  Latency avg/min/max/stdev PPS  Rx/inP  NetPwr
//!       0.004 ms 1/852 (0.12%) 0.007/0.001/0.076/0.006 ms 851 pps 851/0(0) pkts 178624
//! Write/Err  Rtry     Cwnd(pkts)/RTT(var)        NetPwr    320/0  5  1024K(724)/9000(120) us  4660
//! Burst Latency avg/min/max/stdev (cnt/size) inP NetPwr  Reads=Dist
//!       0.134/0.031/1.855/0.353 ms (50/131073)  894 Byte 49018  52=2:0:0:0:0:0:0:50
//! BB cnt=avg/min/max/stdev         Rtry  Cwnd/RTT    RPS
//!       10=0.399/0.032/3.688/1.156 ms    0  576K/19 us    2508 rps
//! ```
//!
//! Those of iperf 2 tell by their form and unit what they are. Sizes have steps of 1,024.

use super::row::{can_be, lost_of};
use crate::number::{number, scaled};
use crate::workload::Done;

/// The names of four values with slashes between them.
const SPREAD: [&str; 4] = ["avg", "min", "max", "stdev"];

/// What was found behind a rate.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Column, unit, value.
    pub(super) others: Vec<(String, &'static str, f64)>,
    /// There is more than is known.
    pub(super) is_unread: bool,
    /// What it says of losses cannot be.
    pub(super) is_impossible: bool,
}

impl Beside {
    fn tell(&mut self, column: impl Into<String>, unit: &'static str, value: f64) {
        self.others.push((column.into(), unit, value));
    }

    /// `0.399/0.032/3.688/1.156`; none of it is told by `-/-/-/-`.
    fn spread(&mut self, name: &str, unit: &'static str, text: &str) -> Option<()> {
        let values: Vec<&str> = text.split('/').collect();
        if values.len() != SPREAD.len() {
            return None;
        }
        if text == "-/-/-/-" {
            return Some(());
        }
        let values = values.into_iter().map(|v| number(v.as_bytes()));
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        for (part, value) in SPREAD.iter().zip(values) {
            self.tell(format!("{name}.{part}"), unit, value);
        }
        Some(())
    }

    /// `1024K(724)/9000(120)`: window, its packets, round trip and how that varies; older ones have
    /// no brackets. `NA` and -1 are not known.
    fn window(&mut self, text: &str) -> Option<()> {
        let (window, trip) = text.split_once('/')?;
        let (window, packets) = bracketed(window);
        if let Some(window) = scaled(window.as_bytes(), 1024.0).filter(|w| *w >= 0.0) {
            self.tell("snd_cwnd", "bytes", window);
        }
        if let Some(packets) = packets.and_then(|p| number(p.as_bytes())) {
            self.tell("snd_cwnd_packets", "pkts", packets);
        }
        let (trip, varies) = bracketed(trip);
        self.tell("rtt", "us", number(trip.as_bytes())?);
        if let Some(varies) = varies.and_then(|v| number(v.as_bytes())) {
            self.tell("rttvar", "us", varies);
        }
        Some(())
    }

    /// `851/0(0)`: datagrams received, and those in progress.
    fn in_progress(&mut self, text: &str) -> Option<()> {
        let (received, progress) = text.split_once('/')?;
        let (progress, bracket) = bracketed(progress);
        self.tell("rx", "pkts", number(received.as_bytes())?);
        self.tell("in_progress", "pkts", number(progress.as_bytes())?);
        if let Some(bracket) = bracket.and_then(|b| number(b.as_bytes())) {
            self.tell("in_progress.in_brackets", "pkts", bracket);
        }
        Some(())
    }

    /// `52=2:0:0:0:0:0:0:50`: how many reads, and how many of each eighth of the buffer's size.
    fn reads(&mut self, text: &str) -> Option<()> {
        let (count, sizes) = text.split_once('=')?;
        let sizes = sizes.split(':').map(|n| number(n.as_bytes()));
        let sizes: Vec<f64> = sizes.collect::<Option<_>>()?;
        if sizes.len() != 8 {
            return None;
        }
        self.tell("reads", "", number(count.as_bytes())?);
        for (i, reads) in sizes.into_iter().enumerate() {
            self.tell(format!("reads.dist.{}", i + 1), "", reads);
        }
        Some(())
    }

    /// `(50/131072)` of bursts, `(101)` of writes, behind their times.
    fn counted(&mut self, name: &str, text: &str) -> Option<()> {
        let inner = text.strip_prefix('(')?.strip_suffix(')')?;
        let (count, size) = match inner.split_once('/') {
            Some((count, size)) => (count, Some(size)),
            None => (inner, None),
        };
        let count = number(count.as_bytes())?;
        if count == 0.0 {
            // The least of none is the greatest number that there is.
            let prefix = format!("{name}.");
            self.others.retain(|(n, ..)| !n.starts_with(&prefix));
        }
        self.tell(format!("{name}.count"), "", count);
        if let Some(size) = size {
            self.tell(format!("{name}.size"), "bytes", number(size.as_bytes())?);
        }
        Some(())
    }

    /// How many datagrams were lost, of how many.
    fn lost(&mut self, (lost, all): (f64, f64), done: &mut Done) {
        if can_be((lost, all)) {
            (done.ops, done.errors) = (all - lost, lost);
        } else {
            self.is_impossible = true;
        }
    }

    /// The word and what follows it; how many words that are.
    fn field(
        &mut self,
        header: &str,
        place: usize,
        words: &[&str],
        done: &mut Done,
    ) -> Option<usize> {
        let (word, next) = (words[0], words.get(1).copied().unwrap_or_default());
        let has = |name: &str| header.contains(name);
        let value = number(word.as_bytes());
        let times = if has("write-times") {
            "write_time"
        } else if has("Burst Latency") {
            "burst_latency"
        } else {
            "latency"
        };
        match (next, value) {
            ("ms", Some(jitter)) => self.tell("jitter", "ms", jitter),
            ("ms", None) => match word.split_once('=') {
                Some((count, spread)) => {
                    let count = number(count.as_bytes())?;
                    self.tell("bb.count", "", count);
                    if count > 0.0 {
                        self.spread("bb", "ms", spread)?;
                    }
                }
                None => self.spread(times, "ms", word)?,
            },
            ("pps", Some(rate)) => self.tell("pps", "pps", rate),
            ("rps", Some(rate)) => self.tell("rps", "rps", rate),
            ("us", None) => self.window(word)?,
            ("pkts", None) => self.in_progress(word)?,
            ("Byte" | "KByte" | "MByte" | "GByte", Some(_)) => {
                let size = [word, next.trim_end_matches("yte")].concat();
                self.tell("in_progress", "bytes", scaled(size.as_bytes(), 1024.0)?);
            }
            (share, None) if share.ends_with("%)") => {
                self.lost(numbers(word)?, done);
            }
            _ => {
                self.single(header, place, word, times, done)?;
                return Some(1);
            }
        }
        Some(2)
    }

    /// A word without a unit behind it.
    fn single(
        &mut self,
        header: &str,
        place: usize,
        word: &str,
        times: &str,
        done: &mut Done,
    ) -> Option<()> {
        let has = |name: &str| header.contains(name);
        let is_told = |name: &str, all: &Beside| all.others.iter().any(|(n, ..)| n == name);
        if let Some(value) = number(word.as_bytes()) {
            if has("Rtry") && !is_told("retransmits", self) {
                self.tell("retransmits", "", value);
            } else if has("NetPwr") && !is_told("net_power", self) {
                self.tell("net_power", "", value);
            } else if place == 0 && has("Jitter") {
                // What is sent has no jitter, under the same header (`--bidir`).
                done.ops = value;
            } else {
                return None;
            }
        } else if word.contains('=') {
            self.reads(word)?;
        } else if word.starts_with('(') {
            self.counted(times, word)?;
        } else if word.contains('/') {
            if place != 0 {
                return None;
            }
            let (first, second) = numbers(word)?;
            if has("Lost/Total") && !has("Write/Err") {
                self.lost((first, second), done);
            } else {
                (done.ops, done.errors) = (first, second);
            }
            // Newer ones also have those that waited too long: `893/0/0`.
            if let Some(waited) = word.split('/').nth(2) {
                self.tell("timeouts", "", number(waited.as_bytes())?);
            }
        } else {
            return matches!(word, "sender" | "receiver").then_some(());
        }
        Some(())
    }
}

/// `1024K(724)` as what stands before the bracket, and in it.
fn bracketed(text: &str) -> (&str, Option<&str>) {
    match text.split_once('(') {
        Some((before, inner)) => (before, inner.strip_suffix(')')),
        None => (text, None),
    }
}

/// The first two numbers with a slash between them.
fn numbers(text: &str) -> Option<(f64, f64)> {
    let (first, rest) = text.split_once('/')?;
    let second = rest.split('/').next()?;
    Some((number(first.as_bytes())?, number(second.as_bytes())?))
}

/// What stands behind the rate in a row below that header; what was done goes to `done`.
pub(super) fn beside(header: &str, rest: &[&str], done: &mut Done) -> Beside {
    let mut found = Beside::default();
    let has = |name: &str| header.contains(name);
    let plain = |place: usize| rest.get(place).and_then(|f| number(f.as_bytes()));
    // A sum of iperf 2 has a header of its own, and rows of streams follow without theirs.
    let is_lost_told = rest.get(1) == Some(&"ms") && lost_of(rest).is_some();
    if has("Total Datagrams") && !has("Lost/Total") && !is_lost_told {
        done.ops = plain(0).unwrap_or(f64::NAN);
        return found;
    }
    if has("Retr") {
        if let Some(count) = plain(0) {
            found.tell("retransmits", "", count);
        }
        if let Some(letters) = rest.get(2).and_then(|u| u.strip_suffix("Bytes")) {
            let window = [rest[1], letters].concat();
            if let Some(window) = scaled(window.as_bytes(), 1024.0) {
                found.tell("snd_cwnd", "bytes", window);
            }
        }
        return found;
    }
    // `0.151/-0.128/ 0.343/ 0.140 ms` and `3/   89 (3.4%)` are filled up with blanks.
    let joined = rest.join(" ").replace("/ ", "/");
    let words: Vec<&str> = joined.split_whitespace().collect();
    let mut at = 0;
    while at < words.len() {
        match found.field(header, at, &words[at..], done) {
            Some(taken) => at += taken,
            None => {
                found.is_unread = true;
                at += 1;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::UNKNOWN;

    fn told(header: &str, text: &str) -> (Done, Beside) {
        let rest: Vec<&str> = text.split_whitespace().collect();
        let mut done = UNKNOWN;
        let found = beside(header, &rest, &mut done);
        (done, found)
    }

    #[test]
    fn columns_are_told_by_their_form() {
        let (done, found) = told(
            "[ ID] Jitter   Lost/Total  Latency avg/min/max/stdev PPS  inP NetPwr",
            "1.250 ms    3/  103 (2.9%) 13.5/-0.5/ 94.0/12.5 ms   10 pps 1.50 KByte 0.08",
        );
        assert_eq!((done.ops, done.errors), (100.0, 3.0));
        let wanted = [
            ("jitter", "ms", 1.25),
            ("latency.avg", "ms", 13.5),
            ("latency.min", "ms", -0.5),
            ("latency.max", "ms", 94.0),
            ("latency.stdev", "ms", 12.5),
            ("pps", "pps", 10.0),
            ("in_progress", "bytes", 1536.0),
            ("net_power", "", 0.08),
        ];
        let wanted = wanted.map(|(name, unit, value)| (name.to_owned(), unit, value));
        assert_eq!(found.others, wanted);
        assert!(!found.is_unread);
    }

    #[test]
    fn what_is_not_known_is_no_number() {
        let (done, found) = told(
            "[ ID] Write/Err  Rtry  Cwnd/RTT  NetPwr",
            "7/1 0 NA/250 us 31",
        );
        assert_eq!((done.ops, done.errors), (7.0, 1.0));
        let names: Vec<&str> = found.others.iter().map(|(name, ..)| &**name).collect();
        assert_eq!(names, ["retransmits", "rtt", "net_power"]);
        let (_, found) = told("[ ID] Reads=Dist", "5=1:4 17");
        assert!(found.is_unread);
    }
}
