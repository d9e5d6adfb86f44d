//! Histograms of bcc's tools: `usecs : count distribution`, ranges with both ends in them.
//!
//! `biolatency` (-m -T -D -F -Q -j -e), `bitesize`, `runqlat`, `cpudist`, `ext4dist` and its
//! like go to the catalog's tables, all others to `distribution`. Ranges are of values cut to
//! whole units, so `0 -> 1` of microseconds ends at 2 µs. All tools clear what they printed, but
//! for `argdist -c`.

use std::collections::HashSet;

use serde_json::Value;

use super::bcc_command::{disk_of, interval};
use super::bitesize;
use super::blanks::Spacing;
use super::buckets::{Bucket, goes_back, is_bar};
use super::cumulative::Cumulative;
use super::histogram::{Goal, Histograms, Pace, TABLES, Title};
use super::io_events::named;
use super::{echoed, output_every, stamp};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::{Line, Parser, fields, number, stamp_line};

pub(crate) const FORMAT: Format = Format {
    name: "bcc",
    tool: "bcc",
    systems: "Linux",
    help: "histograms of biolatency, bitesize, runqlat, cpudist, ext4dist, funclatency and others, and of iolatency and bitesize of perf-tools",
    recognised: "a line `usecs : count distribution` or `>=(ms) .. <(ms) : I/O`, `Kbytes : I/O Distribution`, or of biolatency -j",
    yields: TABLES,
    example: "\
# biolatency -DT 5
Tracing block device I/O... Hit Ctrl-C to end.
06:20:16

disk = 'sda'
     usecs               : count     distribution
        64 -> 127        : 12       |*********                               |
       128 -> 255        : 51       |****************************************|
",
    recognise,
    parser: || Box::new(Bcc::new()),
};

fn recognise(head: &Head) -> u8 {
    let of_perf_tools = |line| is_iolatency(line) || bitesize::is_header(line);
    if head.any_fields(&[":", "count", "distribution"]) || head.lines().any(of_perf_tools) {
        return 90;
    }
    let json = head.contains("'interval-start'") || head.contains("\"interval-start\"");
    if json { 80 } else { 0 }
}

/// The header of perf-tools' `iolatency`, whose rows do not have their upper end in them.
fn is_iolatency(line: &[u8]) -> bool {
    let mut words = fields(line);
    [&b">=(ms)"[..], b"..", b"<(ms)", b":", b"I/O"]
        .iter()
        .all(|word| words.next() == Some(word))
}

/// What values are in, in base units, where a goal needs it.
fn unit_of(label: &str) -> f64 {
    match label.to_ascii_lowercase().as_str() {
        "nsecs" => 1e-9,
        "usecs" => 1e-6,
        "msecs" => 1e-3,
        "secs" | "bytes" => 1.0,
        "kbytes" => 1024.0,
        _ => f64::NAN,
    }
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is told by another line"
)]
struct Bcc {
    histograms: Histograms,
    pace: Pace,
    script: String,
    /// The only disk that it is asked for (`-d`).
    disk: String,
    queued: bool,
    /// Reports hold those before them.
    cumulative: Option<Cumulative>,
    /// `disk = 'sda'`: both sides; of several, with tabs between.
    section: (String, String),
    /// `[AVG 93]` behind its key: the mean of the histogram below.
    mean: Option<f64>,
    /// Labels of the histograms that came below that.
    placed: HashSet<String>,
    /// The histogram being read: its label, and its rows.
    open: Option<(String, Vec<Bucket>)>,
    /// How much the last one that was read counted.
    counted: f64,
    /// The rows of the one being read end before their second number.
    ends_before: bool,
    blanks: usize,
    spacing: Spacing,
    /// It was interrupted: what follows is one report, up to the next run.
    interrupted: bool,
    /// The text begins within a report that had its time above it, as the next ones have.
    headless: bool,
}

impl Bcc {
    fn new() -> Bcc {
        Bcc {
            histograms: Histograms::new(),
            pace: Pace::default(),
            script: String::new(),
            disk: String::new(),
            queued: false,
            cumulative: None,
            section: Default::default(),
            mean: None,
            placed: HashSet::new(),
            open: None,
            ends_before: false,
            blanks: 0,
            spacing: Spacing::default(),
            interrupted: false,
            headless: false,
            counted: 0.0,
        }
    }

    fn command(&mut self, text: &str, out: &mut Out) -> bool {
        let Some(words) = echoed(text) else {
            return false;
        };
        words[0].clone_into(&mut self.script);
        self.interrupted = false;
        self.histograms.goal = Goal::of(words[0]);
        let short = |letter| {
            words[1..]
                .iter()
                .any(|w| w.starts_with('-') && !w.starts_with("--") && w.contains(letter))
        };
        self.queued = short('Q') || words.contains(&"--queued");
        let cumulative = short('c') || words.contains(&"--cumulative");
        self.cumulative = (words[0] == "argdist" && cumulative).then(Cumulative::default);
        self.disk = match self.histograms.goal {
            // iolatency is told the disk's numbers.
            Some(Goal::DiskLatency) => named(disk_of(&words).unwrap_or_default(), ','),
            _ => String::new(),
        };
        self.is_of(Default::default());
        if words[0] == "cpudist" && (short('O') || words.contains(&"--offcpu")) {
            self.histograms.goal = None;
        }
        if let Some(seconds) = interval(&words) {
            out.every(seconds);
        }
        true
    }

    fn chatter(&mut self, text: &str, out: &mut Out) -> bool {
        if let Some(seconds) = output_every(text).or_else(|| bitesize::traced(text)) {
            out.every(seconds);
        }
        if let Some((script, goal)) = Goal::of_banner(text)
            && self.script.is_empty()
        {
            script.clone_into(&mut self.script);
            self.histograms.goal = Some(goal);
        }
        let off = text.starts_with("Tracing off-CPU");
        if off {
            self.histograms.goal = None;
        }
        self.interrupted &= !text.starts_with("Tracing");
        is_chatter(text) || text == "[...]"
    }

    /// What the next histogram is of.
    fn is_of(&mut self, (name, key): (String, String)) {
        let (key, mean) = without_mean(&key);
        self.section = (name, key.to_owned());
        self.mean = mean;
        self.placed.clear();
    }

    /// Names and values of what the histogram is of: the command's disk, too.
    fn of(&self) -> (String, String) {
        let (name, key) = &self.section;
        match name.as_str() {
            _ if self.disk.is_empty() || name.contains("disk") => self.section.clone(),
            "" => ("disk".to_owned(), self.disk.clone()),
            name => (format!("disk\t{name}"), format!("{}\t{key}", self.disk)),
        }
    }

    /// A histogram of that label begins, unless one came below the same key already: then its own key
    /// was lost.
    fn begin(&mut self, label: String) -> Line {
        let is_first = self.placed.insert(label.clone());
        if self.headless || !is_first && !self.section.0.is_empty() {
            return Line::Unknown;
        }
        self.open = Some((label, Vec::new()));
        Line::Noise
    }

    /// The histogram that is being read is whole.
    fn finish(&mut self, out: &mut Out) {
        if let Some((label, rows)) = self.open.take() {
            self.put(&label, &rows, out);
        }
    }

    fn put(&mut self, label: &str, rows: &[Bucket], out: &mut Out) {
        // Only biolatency's times are by disk.
        if self.section.0 == "disk" && unit_of(label) < 1.0 && self.script.is_empty() {
            self.histograms.goal = Some(Goal::DiskLatency);
        }
        // The tool of the same banner that tells sizes.
        let is_size = label.to_ascii_lowercase().ends_with("bytes");
        if is_size && self.histograms.goal == Some(Goal::DiskLatency) {
            "bitesize".clone_into(&mut self.script);
            self.histograms.goal = Some(Goal::DiskSize);
        }
        self.counted = rows.iter().map(|row| row.count).sum();
        let (header, key) = &self.of();
        let name = format!("{} {label}", self.script);
        let name = name.trim();
        let id = format!("{name}\0{header}\0{key}");
        self.pace.begin_once(&id, out);
        let grown = self.cumulative.as_mut().map(|c| c.grown(&id, rows));
        let rows = grown.as_deref().unwrap_or(rows);
        let title = Title {
            tool: "bcc",
            name,
            header,
            key,
            unit: unit_of(label),
        };
        if self.histograms.goal == Some(Goal::DiskLatency) && !self.queued {
            out.note(
                "without -Q latency is measured from issue to completion: time in the queue is \
                 not in it",
            );
        }
        self.histograms.put(&title, rows, out);
        if let Some(mean) = self.mean.take() {
            let instance = out.word(key.as_bytes());
            out.other("avg", label, instance, mean);
        }
    }

    /// `avg = 2044 usecs, total: 1314620 usecs, count: 643`, under the last histogram of a report. It is
    /// of all of them: of the last one's key where that counted as much.
    fn average(&mut self, text: &str, out: &mut Out) -> Option<Line> {
        let rest = text.strip_prefix("avg = ")?;
        self.finish(out);
        if !out.has_sample() {
            return None;
        }
        let (_, count) = rest.rsplit_once("count: ")?;
        let is_of_last = number::number(count.as_bytes()) == Some(self.counted);
        let key: &str = if is_of_last { &self.section.1 } else { "" };
        let instance = out.word(key.as_bytes());
        for part in format!("avg: {rest}").split(", ") {
            let (name, value) = part.split_once(": ")?;
            let (value, unit) = value.split_once(' ').unwrap_or((value, ""));
            out.other(name, unit, instance, number::number(value.as_bytes())?);
        }
        Some(Line::Data)
    }

    /// `{'ts': '…', 'val_type': 'usecs', 'data': [{'interval-start': 0, …}], 'disk': 'sda'}`.
    fn json(&mut self, text: &str, out: &mut Out) -> Option<Line> {
        let parsed = serde_json::from_str(text);
        let value: Value = parsed
            .or_else(|_| serde_json::from_str(&text.replace(": b'", ": '").replace('\'', "\"")))
            .ok()?;
        let all = value.as_object()?;
        let label = all.get("val_type")?.as_str()?.to_owned();
        let mut rows = Vec::new();
        for bucket in all.get("data")?.as_array()? {
            let of = |name: &str| bucket.get(name).and_then(Value::as_f64);
            rows.push(Bucket {
                from: of("interval-start")?,
                to: of("interval-end")? + 1.0,
                count: of("count")?,
            });
        }
        let key = all
            .iter()
            .find(|(name, _)| !matches!(name.as_str(), "ts" | "val_type" | "data"));
        let plain = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
        self.section = key.map_or_else(Default::default, |(name, key)| (name.clone(), plain(key)));
        // What bcc calls a key that the tool gave no name: biolatency's are disks.
        if self.section.0 == "Bucket ptr" && self.histograms.goal == Some(Goal::DiskLatency) {
            self.section.0 = "disk".into();
        }
        let at = all.get("ts").and_then(Value::as_str).and_then(stamp);
        if self.section.0 == "flags" && self.script.is_empty() {
            self.histograms.goal = self.histograms.goal.or(Some(Goal::DiskLatency));
        }
        if let Some(at) = at {
            self.pace.mark_new(at, out);
        }
        self.put(&label, &rows, out);
        Some(Line::Data)
    }
}

/// A row: `64 -> 127 : 12 |****|`, or of one value `3 : 12 |**|`.
fn row(text: &str) -> Option<Bucket> {
    let (range, rest) = text.split_once(':')?;
    let (count, bar) = rest.split_once('|')?;
    let bar = bar.trim_end().strip_suffix('|')?;
    if !is_bar(bar) {
        return None;
    }
    let whole = |text: &str| text.trim().parse::<u128>().ok().map(|n| n as f64);
    let (from, last) = match range.split_once("->") {
        Some((from, last)) => (whole(from)?, whole(last)?),
        None => (whole(range)?, whole(range)?),
    };
    let count = whole(count)?;
    (last >= from).then_some(Bucket {
        from,
        to: last + 1.0,
        count,
    })
}

/// `p:c:write(int fd):int:fd`, `r::do_sys_open()`, `t:block:block_rq_issue():…`.
fn is_probe(text: &str) -> bool {
    let kind = text.split(':').next().unwrap_or_default();
    matches!(kind, "p" | "r" | "t" | "u") && text.matches(':').count() >= 2
}

/// `usecs` of `usecs : count distribution`.
fn label(line: &[u8]) -> Option<String> {
    let words: Vec<&[u8]> = fields(line).collect();
    let (label, rest) = words.split_at_checked(words.len().checked_sub(3)?)?;
    let is_header = rest == [&b":"[..], b"count", b"distribution"];
    let label = String::from_utf8_lossy(&label.join(&b' ')).into_owned();
    (is_header && !label.is_empty()).then_some(label)
}

/// `disk = b'sda'`, and of libbpf-tools `disk = sda<TAB>flags = Read`: names and values.
fn section(text: &str) -> Option<(String, String)> {
    // A tab, of which a terminal makes blanks.
    let parts = text.split('\t').flat_map(|part| part.split("  "));
    let parts = parts.filter(|part| !part.is_empty());
    let parts = parts.map(|part| part.split_once(" = "));
    let parts = parts.collect::<Option<Vec<_>>>()?;
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.trim()).collect();
    let values: Vec<&str> = parts.iter().map(|(_, value)| unquoted(value)).collect();
    Some((names.join("\t"), values.join("\t")))
}

/// `192.168.1.1 [AVG 93]` of `tcprtt`: without the mean, and that.
fn without_mean(key: &str) -> (&str, Option<f64>) {
    let parts = key.strip_suffix(']').and_then(|k| k.rsplit_once(" [AVG "));
    let mean = parts.and_then(|(key, mean)| Some((key, mean.parse().ok()?)));
    mean.map_or((key, None), |(key, mean)| (unquoted(key), Some(mean)))
}

/// `b'read'`, `'read'` and `"read"` without their quotes.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner = text
        .strip_prefix('b')
        .filter(|t| t.starts_with(['\'', '"']));
    let inner = inner.unwrap_or(text);
    ['\'', '"']
        .iter()
        .find_map(|q| inner.strip_prefix(*q)?.strip_suffix(*q))
        .unwrap_or(text)
}

/// What the tools say of themselves before their first report, and behind their last.
fn is_chatter(text: &str) -> bool {
    let starts = [
        "Tracing",
        "Sampling",
        "Collecting",
        "Detaching",
        "Ending tracing",
        "Hit Ctrl",
    ];
    starts.iter().any(|start| text.starts_with(start))
}

/// Whether a text whose reports have a time above them begins with a histogram: its report's beginning is
/// lost, and the time with it.
fn begins_within(head: &Head) -> bool {
    let is_time = |line: &[u8]| stamp(String::from_utf8_lossy(line).trim()).is_some();
    let begins = |line: &[u8]| {
        let text = String::from_utf8_lossy(line);
        is_time(line) || is_chatter(text.trim()) || echoed(text.trim()).is_some()
    };
    let mut lines = head
        .lines()
        .skip_while(|line| !begins(line) && label(line).is_none());
    lines.next().is_some_and(|line| label(line).is_some()) && lines.any(is_time)
}

impl Parser for Bcc {
    fn look(&mut self, head: &Head) {
        self.spacing = Spacing::of(head);
        self.headless = begins_within(head);
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let whole = String::from_utf8_lossy(line);
        let mut text = whole.trim();
        if text.is_empty() {
            let before = self.spacing.printed(self.blanks);
            self.blanks += 1;
            let printed = self.spacing.printed(self.blanks);
            if printed > 0 {
                self.finish(out);
            }
            if (before, printed) == (1, 2) && !self.interrupted {
                self.pace.pause();
            }
            return Line::Noise;
        }
        self.blanks = 0;
        if let Some((label, rows)) = &mut self.open {
            // Rows of perf-tools have decimals.
            let of_perf_tools = label == "Kbytes";
            let sizes = || of_perf_tools.then(|| bitesize::row(text, out))?;
            let row = row(text).or_else(sizes);
            if let Some(mut row) = row {
                if goes_back(rows, row.from) {
                    self.finish(out);
                    return Line::Unknown;
                }
                if self.ends_before {
                    row.to = (row.to - 1.0).max(row.from + 1.0);
                }
                rows.push(row);
                return Line::Data;
            }
            self.finish(out);
        }
        if let Some(rest) = text.strip_prefix("^C") {
            if !self.pace.is_new() {
                out.note(
                    "^C cut the last interval short: without time stamps it counts as a whole one",
                );
            }
            self.pace.pause();
            self.interrupted = true;
            text = rest.trim();
            if text.is_empty() {
                return Line::Noise;
            }
        }
        self.ends_before = is_iolatency(line);
        let label = if self.ends_before {
            Some("msecs".to_owned())
        } else if bitesize::is_header(line) {
            "bitesize".clone_into(&mut self.script);
            self.histograms.goal = Some(Goal::DiskSize);
            Some("Kbytes".to_owned())
        } else {
            label(line)
        };
        if let Some(label) = label {
            return self.begin(label);
        }
        // perf-tools have `date` print it, with a zone.
        if let Some(at) = stamp(text).or_else(|| stamp_line::told(text.as_bytes(), out)) {
            self.headless = false;
            self.pace.mark(Some(at), out);
            self.is_of(Default::default());
            return Line::Noise;
        }
        if let Some(seen) = self.average(text, out) {
            return seen;
        }
        if text.starts_with('{') {
            return self.json(text, out).unwrap_or(Line::Unknown);
        }
        if self.chatter(text, out) || self.command(text, out) {
            self.pace.starts();
            return Line::Noise;
        }
        // argdist prints what it probes, which is C and may have anything in it.
        if self.script == "argdist" && is_probe(text) {
            self.is_of(("probe".to_owned(), text.to_owned()));
            return Line::Noise;
        }
        match section(text) {
            Some(section) => {
                self.is_of(section);
                Line::Noise
            }
            None => Line::Unknown,
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.finish(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_both_ends_in_them() {
        let of = |text| row(text).map(|b| (b.from, b.to, b.count));
        assert_eq!(of("0 -> 1   : 36  |***|"), Some((0.0, 2.0, 36.0)));
        assert_eq!(of("64 -> 127 : 1  |   |"), Some((64.0, 128.0, 1.0)));
        assert_eq!(of("3  : 7 |**+|"), Some((3.0, 4.0, 7.0)));
        for no in [
            "0 -> 1 : 36",
            "5 -> 3 : 1 | |",
            "a -> b : 1 | |",
            "1 : x | |",
        ] {
            assert_eq!(of(no), None, "{no}");
        }
    }

    #[test]
    fn names_of_what_a_histogram_is_of() {
        let of = |text| section(text).map(|(a, b)| format!("{a}={b}"));
        assert_eq!(of("disk = b'sda'").as_deref(), Some("disk=sda"));
        assert_eq!(
            of("disk = sda\tflags = Read").as_deref(),
            Some("disk\tflags=sda\tRead")
        );
        assert_eq!(of("disk = sda\tflags"), None);
    }
}
