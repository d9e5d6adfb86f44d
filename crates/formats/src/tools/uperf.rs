//! uperf: its summary of transactions, and the lines of `-R`.
//!
//! Bytes in steps of 1,024, bits in steps of 1,000. One request and its response are two
//! operations of uperf's.

use std::collections::HashMap;

use crate::list::Format;
use crate::number::{number, scaled, seconds};
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Stamp;
use crate::workload::{Done, UNKNOWN, Work};
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "uperf",
    tool: "uperf",
    systems: "Linux, Solaris, illumos",
    help: "bytes and operations of each of uperf's transactions, or over time with -R",
    recognised: "lines `Txn1  32.85GB /  30.23(s) = …`, `Txn1 33638.40 MB in 30.23 secs = …` or `timestamp_ms:… name:Txn1 nr_bytes:…`",
    yields: &["workload"],
    example: "\
Starting 1 threads running profile:iperf ...   0.00 seconds
Txn1          0 /   1.00(s) =            0           1op/s
Txn2    32.85GB /  30.23(s) =     9.33Gb/s      142392op/s
---------------------------------------------------------
Total   32.85GB /  31.23(s) =     9.03Gb/s      137833op/s
",
    recognise,
    parser: || Box::new(Uperf::new()),
};

fn recognise(head: &Head) -> u8 {
    let summary = head.contains("(s) = ") && head.contains("op/s");
    let secs = head.contains(" secs = ") && head.contains(" Mbps or ");
    let raw = head.any_starts("timestamp_ms:") && head.contains("nr_bytes:");
    if summary || secs || raw { 91 } else { 0 }
}

/// What rows below the summary are of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Transactions,
    /// The same work again: of groups, of strands.
    Details,
    /// How long a transaction or an operation took.
    Averages(&'static str),
    Interfaces,
    Hosts,
}

struct Uperf {
    work: Work,
    section: Section,
    /// Time in milliseconds, bytes and operations of a transaction at its line before.
    before: HashMap<String, [f64; 3]>,
    raw: bool,
    /// A line was seen that is above the results of a run.
    started: bool,
}

impl Uperf {
    fn new() -> Uperf {
        Uperf {
            work: Work::new("uperf"),
            section: Section::Transactions,
            before: HashMap::new(),
            raw: false,
            started: false,
        }
    }

    /// `timestamp_ms:1395241836119.7598 name:Txn2 nr_bytes:1900544 nr_ops:29`: all since the
    /// transaction began.
    fn raw(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let of = |name: &str| {
            let word = text.split_whitespace().find_map(|w| w.strip_prefix(name));
            word.and_then(|w| w.strip_prefix(':'))
        };
        let plain = |name: &str| number(of(name)?.as_bytes());
        let name = of("name")?;
        let now = [plain("timestamp_ms")?, plain("nr_bytes")?, plain("nr_ops")?];
        self.raw = true;
        let before = self.before.insert(name.to_owned(), now);
        if name == "Total" {
            return Some(());
        }
        let Some(before) = before else {
            return Some(());
        };
        let [passed, bytes, ops] = [0, 1, 2].map(|i| now[i] - before[i]);
        // It began anew.
        if passed <= 0.0 || bytes < 0.0 || ops < 0.0 {
            return Some(());
        }
        out.sample_at(Stamp::epoch(now[0] * 1000.0, 1000));
        out.spans(passed / 1000.0);
        self.put(name, ops, bytes, out);
        Some(())
    }

    fn put(&self, name: &str, ops: f64, bytes: f64, out: &mut Out) {
        out.note(
            "an operation of uperf's is a send or a receive: a request and its response are 2",
        );
        let done = Done {
            ops,
            bytes,
            ..UNKNOWN
        };
        self.work.amounts(out, [name.as_bytes(), b"", b""], done);
    }

    /// `Txn2    32.85GB /  30.23(s) =     9.33Gb/s      142392op/s`, or of -X
    /// `Txn2 33638.40 MB in 30.23 secs = 9334.51 Mbps or  142392.00 ops`: all since the
    /// transaction began. It can be told more than once, as progress; operations only if any.
    fn summary(&mut self, text: &str, out: &mut Out) -> Option<Line> {
        let (name, bytes, seconds, rate) = if let Some((left, right)) = text.split_once("(s) =") {
            let (amount, seconds) = left.split_once('/')?;
            let mut words = amount.split_whitespace();
            let (name, bytes) = (words.next()?, words.next()?);
            let bytes = scaled(bytes.as_bytes(), 1024.0)?;
            let rate = right
                .split_whitespace()
                .find_map(|w| w.strip_suffix("op/s"));
            (name, bytes, seconds, rate.unwrap_or("0"))
        } else {
            let words: Vec<&str> = text.split_whitespace().collect();
            let [
                name,
                mega,
                "MB",
                "in",
                seconds,
                "secs",
                "=",
                _,
                "Mbps",
                "or",
                rate,
                "ops",
            ] = words[..]
            else {
                return None;
            };
            (name, number(mega.as_bytes())? * 1_048_576.0, seconds, rate)
        };
        let seconds = number(seconds.trim().as_bytes())?;
        let rate = number(rate.as_bytes())?;
        let ops = (rate * seconds).round();
        if name == "Total" {
            self.before.clear();
        }
        // In no time nothing was done: it took less than is printed, or another time.
        let is_untold = self.section == Section::Transactions && name != "Total";
        if is_untold && seconds <= 0.0 && rate > 0.0 {
            return None;
        }
        // What -R told in parts, what sums the others up, and what did not run.
        if self.raw || self.section != Section::Transactions || name == "Total" || seconds <= 0.0 {
            return Some(Line::Noise);
        }
        let now = [seconds * 1000.0, bytes, ops];
        // Without the line above a run it cannot be told from the result of another one.
        let before = if self.started {
            self.before.insert(name.to_owned(), now).unwrap_or_default()
        } else {
            [0.0; 3]
        };
        let since = [0, 1, 2].map(|i| now[i] - before[i]);
        let [passed, bytes, ops] = if since.iter().all(|s| *s >= 0.0) {
            since
        } else {
            now
        };
        if passed <= 0.0 {
            return Some(Line::Noise);
        }
        out.sample();
        out.spans(passed / 1000.0);
        self.put(name, ops, bytes, out);
        out.note(
            "uperf's summary gives operations a second: `workload.ops` is that times its seconds",
        );
        Some(Line::Data)
    }

    /// What follows the summary: packets and bits of network interfaces, and each host's sums of
    /// what the transactions told, with its errors.
    fn statistics(&mut self, text: &str, out: &mut Out) -> Option<Line> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["Group" | "Strand", "Details"] => self.section = Section::Details,
            ["Txn", "Count", ..] => self.section = Section::Averages("transaction"),
            ["Flowop", "Count", ..] => self.section = Section::Averages("operation"),
            ["Netstat", "statistics", ..] => self.section = Section::Interfaces,
            ["Run", "Statistics"] => self.section = Section::Hosts,
            ["Nic", "opkts/s", ..] | ["Hostname", "Time", ..] | ["Difference(%)", ..] => {}
            [interface, sent, received, out_bits, in_bits]
                if self.section == Section::Interfaces && out.has_sample() =>
            {
                let bits = |text: &str| scaled(text.strip_suffix("b/s")?.as_bytes(), 1000.0);
                let values = [
                    ("sent packets", "packets/s", number(sent.as_bytes())?),
                    (
                        "received packets",
                        "packets/s",
                        number(received.as_bytes())?,
                    ),
                    ("sent", "bit/s", bits(out_bits)?),
                    ("received", "bit/s", bits(in_bits)?),
                ];
                let instance = out.word(interface.as_bytes());
                for (column, unit, value) in values {
                    out.other(column, unit, instance, value);
                }
                return Some(Line::Data);
            }
            [name, count, mean, cpu, most, least] if out.has_sample() => {
                if let Section::Averages(of) = self.section {
                    let instance = out.word(name.as_bytes());
                    let values = [
                        ("count", "", number(count.as_bytes())?),
                        ("mean", "s", seconds(mean.as_bytes())?),
                        ("cpu", "s", seconds(cpu.as_bytes())?),
                        ("max", "s", seconds(most.as_bytes())?),
                        ("min", "s", seconds(least.as_bytes())?),
                    ];
                    for (column, unit, value) in values {
                        out.other(&format!("{of}.{column}"), unit, instance, value);
                    }
                    return Some(Line::Data);
                }
                return self.of_host(&words, out);
            }
            _ => return None,
        }
        Some(Line::Noise)
    }

    /// `master  12.10s  1.26GB  892.19Mb/s  165243  0.00`: the last is the share that failed.
    fn of_host(&self, words: &[&str], out: &mut Out) -> Option<Line> {
        let [host, time, _, _, _, errors] = words else {
            return None;
        };
        if self.section != Section::Hosts {
            return None;
        }
        number(time.strip_suffix('s')?.as_bytes())?;
        let instance = out.word(host.as_bytes());
        out.other("errors", "%", instance, number(errors.as_bytes())?);
        Some(Line::Data)
    }
}

impl Parser for Uperf {
    fn run_ends(&mut self, _out: &mut Out) -> bool {
        // Below the line of all transactions.
        self.before.is_empty()
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        // Progress goes before, on the same line.
        let last = text.rsplit('\r').find(|p| !p.trim().is_empty());
        let text = last.unwrap_or_default().trim();
        if text.starts_with("timestamp_ms:") {
            let seen = self.raw(text, out);
            return seen.map_or(Line::Unknown, |()| Line::Data);
        }
        if let Some(seen) = self.summary(text, out) {
            return seen;
        }
        if let Some(seen) = self.statistics(text, out) {
            return seen;
        }
        if text.starts_with("Starting ") && text.contains("running profile:") {
            // Another run.
            self.section = Section::Transactions;
            self.raw = false;
            self.started = true;
            self.before.clear();
        }
        let starts = [
            "Starting",
            "Completed",
            "---",
            "===",
            "Error",
            "uperf",
            "Allocating shared memory",
            "TX command",
            "Sending signal",
            "called out",
            // What -v tells.
            "** ",
            "Warning:",
            "Handshake phase",
            "Done preprocessing",
            "Sending workorder",
            "Sent ",
            "TX worklist",
        ];
        let known = text.is_empty() || starts.iter().any(|s| text.starts_with(s));
        if known { Line::Noise } else { Line::Unknown }
    }
}
