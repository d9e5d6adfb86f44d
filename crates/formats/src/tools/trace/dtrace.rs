//! DTrace aggregations: `quantize`, `lquantize`, `llquantize`, and what `printa` prints, with or
//! without `-q`.
//!
//! The key of a histogram stands above it; a row's number is the least of its bucket, which
//! reaches to the next row's. `< 10` and `>= 90` have no end. A `tick-5s` in the text tells the
//! interval.

use super::buckets::{Bucket, is_bar};
use super::dtrace_list;
use super::histogram::{Goal, Histograms, Pace, TABLES, Title};
use super::{echoed, script_name, script_of, stamp};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::{Line, Parser, fields, number};

/// Lines of a list that are kept until it ends.
const LONGEST: usize = 1 << 16;

pub(crate) const FORMAT: Format = Format {
    name: "dtrace",
    tool: "dtrace",
    systems: "Solaris, illumos, FreeBSD, macOS, Linux",
    help: "histograms and lists that a script's aggregations print",
    recognised: "a line `value ------------- Distribution ------------- count`, the header \
                 `CPU ID FUNCTION:NAME`, or an indented list of keys and numbers",
    yields: TABLES,
    example: "\
  sd2
           value  ------------- Distribution ------------- count
              32 |                                         0
              64 |@@@@@@@@@@                               12
             128 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           36
             256 |                                         0
",
    recognise,
    parser: || Box::new(Dtrace::new()),
};

fn recognise(head: &Head) -> u8 {
    let histogram = head.lines().any(is_header);
    let probes = head.any_fields(&["CPU", "ID", "FUNCTION:NAME"]);
    if histogram || probes {
        return 90;
    }
    if head.any_starts("dtrace: script '") || head.any_starts("dtrace: description '") {
        return 80;
    }
    if dtrace_list::looks_like(head) { 60 } else { 0 }
}

fn is_header(line: &[u8]) -> bool {
    let mut words = fields(line);
    words.next() == Some(b"value")
        && words.any(|w| w == b"Distribution")
        && words.last() == Some(b"count")
}

/// What stands before the bar of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Edge {
    Below(f64),
    At(f64),
    From(f64),
}

type Rows = Vec<(Edge, f64)>;

/// A row: `64 |@@@@ 12`, `< 0 | 3`, `1 @@@| -123`.
fn row(line: &str) -> Option<(Edge, f64)> {
    let (left, right) = line.split_once('|')?;
    let left = left.trim().trim_end_matches('@').trim();
    let right = right.trim();
    let (bar, count) = right.rsplit_once([' ', '@']).unwrap_or(("", right));
    if !is_bar(bar) {
        return None;
    }
    let whole = |text: &str| text.trim().parse::<i128>().ok().map(|n| n as f64);
    let count = whole(count)?;
    let edge = if let Some(value) = left.strip_prefix(">=") {
        Edge::From(whole(value)?)
    } else if let Some(value) = left.strip_prefix('<') {
        Edge::Below(whole(value)?)
    } else {
        Edge::At(whole(left)?)
    };
    Some((edge, count))
}

/// A line that says what follows.
struct Heading {
    line: u64,
    text: String,
    used: bool,
}

struct Dtrace {
    histograms: Histograms,
    pace: Pace,
    script: String,
    /// The histogram that is being read: its key, and rows so far.
    open: Option<(String, Rows)>,
    /// Lines that may be keys, titles or lists: of this paragraph, and of the one before.
    paragraph: Vec<(u64, String)>,
    before: Vec<(u64, String)>,
    title: Option<Heading>,
}

impl Dtrace {
    fn new() -> Dtrace {
        Dtrace {
            histograms: Histograms::new(),
            pace: Pace::default(),
            script: String::new(),
            open: None,
            paragraph: Vec::new(),
            before: Vec::new(),
            title: None,
        }
    }

    fn is_script(&mut self, name: &str) {
        name.clone_into(&mut self.script);
        self.histograms.goal = Goal::of(name).filter(|goal| *goal == Goal::DiskSize);
    }

    /// A histogram begins: what stood above is its key, and above that its title.
    fn begin(&mut self, out: &mut Out) {
        let key = if self.paragraph.is_empty() {
            std::mem::take(&mut self.before)
        } else {
            self.settle_before(out);
            std::mem::take(&mut self.paragraph)
        };
        let lines = key.iter().map(|(_, text)| text.as_str());
        let is_heading = |text: &str| {
            let word = |w: &str| w.bytes().all(|b| b.is_ascii_uppercase());
            !text.is_empty() && text.split_whitespace().all(word)
        };
        let heads = usize::from(key.len() > 1 && is_heading(&key[0].1));
        let words: Vec<&str> = lines.skip(heads).flat_map(str::split_whitespace).collect();
        self.open = Some((words.join(" "), Vec::new()));
    }

    /// The histogram that is being read is whole.
    fn finish(&mut self, out: &mut Out) {
        let Some((key, rows)) = self.open.take() else {
            return;
        };
        if rows.is_empty() {
            return;
        }
        let title = match &mut self.title {
            Some(heading) => {
                heading.used = true;
                &heading.text
            }
            None => &self.script,
        };
        let nth = self.pace.begin(&format!("{title}\0{key}"), out);
        let name = match nth {
            1 => title.clone(),
            _ => format!("{title} {nth}").trim_start().to_owned(),
        };
        let title = Title {
            tool: "dtrace",
            name: &name,
            header: "",
            key: key.strip_suffix("\\0").unwrap_or(&key),
            unit: 1.0,
        };
        self.histograms.put(&title, &buckets(&rows, out), out);
    }

    /// The paragraph before the present one was no key.
    fn settle_before(&mut self, out: &mut Out) {
        let lines = std::mem::take(&mut self.before);
        if lines.is_empty() || dtrace_list::put(&lines, &self.script, &mut self.pace, out) {
            return;
        }
        for (line, text) in lines {
            let heading = Heading {
                line,
                text: text.trim().to_owned(),
                used: false,
            };
            let before = self.title.replace(heading);
            unused(before, out);
        }
    }

    /// Nothing of what came so far belongs to what follows.
    fn settle(&mut self, out: &mut Out) {
        self.finish(out);
        self.settle_before(out);
        self.before = std::mem::take(&mut self.paragraph);
        self.settle_before(out);
    }

    /// `  0  63068  :tick-1sec  text`: an output of a probe.
    fn probe(&mut self, text: &str, out: &mut Out) -> Option<Line> {
        let mut words = text.split_whitespace();
        let number = |w: &str| w.bytes().all(|b| b.is_ascii_digit());
        let mut next = || words.next();
        if !(number(next()?) && number(next()?)) {
            return None;
        }
        let probe = next().filter(|w| w.contains(':') && w.contains(char::is_alphabetic))?;
        let after = text.find(probe).map_or("", |at| &text[at + probe.len()..]);
        self.settle(out);
        let name = probe.rsplit(':').next().unwrap_or(probe);
        if let Some(seconds) = tick(name) {
            out.every(seconds);
        }
        if name == "END" {
            self.pace.ends();
        } else if name.starts_with("tick-") || name.starts_with("profile-") {
            self.pace.mark(None);
        }
        let after = after.trim();
        if after.is_empty() {
            return Some(Line::Noise);
        }
        Some(self.text(after, out))
    }

    /// A line that is no row.
    fn text(&mut self, text: &str, out: &mut Out) -> Line {
        if let Some(stamp) = stamp(text) {
            self.settle(out);
            self.pace.mark(Some(stamp));
            return Line::Noise;
        }
        if text.starts_with("Tracing") || text.starts_with("Sampling") || text == "#" {
            return Line::Noise;
        }
        if self.paragraph.len() >= LONGEST {
            return Line::Unknown;
        }
        self.paragraph.push((out.line_number(), text.to_owned()));
        Line::Data
    }

    fn command(&mut self, text: &str, out: &mut Out) -> bool {
        let Some(words) = echoed(text) else {
            return false;
        };
        let is_new = self.pace.is_new() && self.paragraph.is_empty();
        if !is_new && words[0] != "dtrace" && !text.contains(".d") {
            return false;
        }
        self.is_script(script_of(&words, ".d"));
        if let Some(seconds) = text.split(['\'', ' ', ':', ',', '{']).find_map(tick) {
            out.every(seconds);
        }
        true
    }

    /// `dtrace: script 'x.d' matched 4 probes`, drops and errors.
    fn chatter(&mut self, text: &str, out: &mut Out) -> Line {
        if let Some((_, rest)) = text.split_once("script '") {
            let name = rest.split('\'').next().unwrap_or("");
            self.is_script(script_name(name));
        }
        if text.contains(" drop") {
            out.note("dtrace says that it dropped data: counts are too low");
        }
        if text.contains("^C") {
            self.pace.ends();
        }
        Line::Noise
    }
}

/// Seconds of `tick-5s`, `tick-10sec`, `tick-500ms`, `tick-2m`, or of a rate: `tick-10`, `-hz`.
fn tick(name: &str) -> Option<f64> {
    let name = name.strip_prefix("tick-")?;
    let end = name.find(|c: char| !c.is_ascii_digit());
    let (digits, unit) = name.split_at(end.unwrap_or(name.len()));
    let count: f64 = digits.parse().ok().filter(|n| *n > 0.0)?;
    match unit {
        "" | "hz" => Some(1.0 / count),
        _ => number::seconds(name.as_bytes()),
    }
}

impl Parser for Dtrace {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = String::from_utf8_lossy(line);
        let trimmed = text.trim();
        if trimmed.is_empty() {
            if self.open.is_some() {
                self.finish(out);
            } else if !self.paragraph.is_empty() {
                self.settle_before(out);
                self.before = std::mem::take(&mut self.paragraph);
            }
            return Line::Noise;
        }
        if is_header(line) {
            self.finish(out);
            self.begin(out);
            return Line::Noise;
        }
        if let Some((_, rows)) = &mut self.open {
            if let Some(row) = row(trimmed) {
                rows.push(row);
                return Line::Data;
            }
            self.finish(out);
        }
        if trimmed.starts_with("dtrace:") {
            return self.chatter(trimmed, out);
        }
        let text = match trimmed.strip_prefix("^C") {
            Some(rest) => {
                self.settle(out);
                self.pace.ends();
                rest
            }
            None => &text,
        };
        if text.is_empty() || fields(line).eq([&b"CPU"[..], b"ID", b"FUNCTION:NAME"]) {
            return Line::Noise;
        }
        if self.command(text, out) {
            return Line::Noise;
        }
        match self.probe(text, out) {
            Some(seen) => seen,
            None => self.text(text, out),
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.settle(out);
        unused(self.title.take(), out);
    }
}

/// A heading of nothing is a line that is not understood.
fn unused(heading: Option<Heading>, out: &mut Out) {
    if let Some(heading) = heading.filter(|h| !h.used) {
        out.not_understood(heading.line, &heading.text);
    }
}

/// Whether it is 0 or a power of two, or minus one.
fn is_power(value: f64) -> bool {
    value == 0.0 || value.abs().log2().fract() == 0.0
}

/// Whether rows of `quantize` stand so, one after the other.
fn follows(value: f64, next: f64) -> bool {
    match value {
        0.0 => next == 1.0,
        -1.0 => next == 0.0,
        v if v < 0.0 => next == v / 2.0,
        v => next == v * 2.0,
    }
}

/// Whether the rows are of `quantize`: powers of two, one after the other or with rows left out.
/// Its last row has nothing in it, unless it is at the end of all numbers.
fn is_quantize(rows: &[(Edge, f64)], at: &[f64], steps: &[f64]) -> bool {
    let uniform = steps.windows(2).all(|w| w[0] == w[1]);
    let in_sequence = at.windows(2).all(|w| follows(w[0], w[1]));
    let ended = rows.last().is_some_and(|(_, count)| *count == 0.0);
    let powers = at.len() == rows.len() && at.iter().all(|v| is_power(*v));
    powers && (!uniform || (in_sequence && (ended || at.len() < 3)))
}

/// The ranges of a histogram's rows.
fn buckets(rows: &[(Edge, f64)], out: &mut Out) -> Vec<Bucket> {
    let at: Vec<f64> = rows
        .iter()
        .filter_map(|(edge, _)| match edge {
            Edge::At(value) => Some(*value),
            _ => None,
        })
        .collect();
    let steps: Vec<f64> = at.windows(2).map(|w| w[1] - w[0]).collect();
    let quantize = is_quantize(rows, &at, &steps);
    let mut found = Vec::with_capacity(rows.len());
    let least = steps.iter().copied().fold(f64::INFINITY, f64::min);
    // Rows without anything left out: each step is as wide as its bucket.
    let whole = is_contiguous(&at);
    for (i, &(edge, count)) in rows.iter().enumerate() {
        let (from, to) = match edge {
            Edge::Below(end) => {
                if count != 0.0 && end > 0.0 {
                    out.note("a row `< N` has no lower end: its values are taken to be above 0");
                } else if count != 0.0 {
                    out.note("a row `< N` has no lower end: its values stand at N less 1");
                }
                (if end > 0.0 { 0.0 } else { end - 1.0 }, end)
            }
            Edge::From(start) => {
                if count != 0.0 {
                    out.note("a row `>= N` has no upper end: its values stand at N");
                }
                (start, start)
            }
            Edge::At(v) if quantize && v == 0.0 => (0.0, 1.0),
            Edge::At(v) if quantize && v < 0.0 => (2.0 * v + 1.0, v + 1.0),
            Edge::At(v) if quantize => (v, 2.0 * v),
            Edge::At(v) => {
                let next = rows.get(i + 1).map(|(edge, _)| match edge {
                    Edge::Below(n) | Edge::At(n) | Edge::From(n) => *n,
                });
                let width = match next {
                    Some(next) if whole && next > v => next - v,
                    _ if whole => steps.last().copied().unwrap_or(0.0),
                    _ => least,
                };
                (v, v + width.max(0.0))
            }
        };
        found.push(Bucket { from, to, count });
    }
    found
}

/// Whether steps between rows are those of `lquantize`, or those of `llquantize`, which change
/// at powers of its factor only; otherwise rows were left out.
fn is_contiguous(at: &[f64]) -> bool {
    let is_power_of = |value: f64, factor: u32| {
        let mut power = 1.0;
        while power < value {
            power *= f64::from(factor);
        }
        power == value
    };
    at.windows(3).all(|w| {
        let (before, after) = (w[1] - w[0], w[2] - w[1]);
        let edge = w[1].abs();
        before == after || edge == 0.0 || (2..=20).any(|factor| is_power_of(edge, factor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Options;

    fn ranges(values: &[f64], last: f64) -> Vec<(f64, f64)> {
        let mut rows: Rows = values.iter().map(|v| (Edge::At(*v), 1.0)).collect();
        if let Some(row) = rows.last_mut() {
            row.1 = last;
        }
        let mut out = Out::new("dtrace", Options::default());
        let found = buckets(&rows, &mut out);
        found.iter().map(|b| (b.from, b.to)).collect()
    }

    #[test]
    fn the_kind_of_aggregation_shows_in_its_rows() {
        let quantize = ranges(&[-2.0, -1.0, 0.0, 1.0, 2.0, 4.0], 0.0);
        let wanted = [
            (-3.0, -1.0),
            (-1.0, 0.0),
            (0.0, 1.0),
            (1.0, 2.0),
            (2.0, 4.0),
        ];
        assert_eq!(quantize[..5], wanted);
        // Rows left out.
        assert_eq!(ranges(&[4.0, 64.0, 1024.0], 5.0)[1], (64.0, 128.0));
        let linear = ranges(&[0.0, 100.0, 200.0], 0.0);
        assert_eq!(linear[1], (100.0, 200.0));
        assert_eq!(
            ranges(&[100.0, 200.0, 500.0, 600.0], 0.0)[1],
            (200.0, 300.0)
        );
        assert_eq!(ranges(&[0.0, 1.0, 2.0], 3.0)[2], (2.0, 3.0));
        let both = ranges(&[8.0, 9.0, 10.0, 15.0, 20.0], 0.0);
        assert_eq!(both[..3], [(8.0, 9.0), (9.0, 10.0), (10.0, 15.0)]);
    }

    #[test]
    fn rows_of_all_kinds() {
        assert_eq!(row("64 |@@@@@@   12"), Some((Edge::At(64.0), 12.0)));
        assert_eq!(row("1 @@@@@@| -123"), Some((Edge::At(1.0), -123.0)));
        assert_eq!(row("< -100 |  0"), Some((Edge::Below(-100.0), 0.0)));
        assert_eq!(row(">= 600000 |@ 7"), Some((Edge::From(600000.0), 7.0)));
        for no in ["", "64", "64 | x", "a | 1", "64 |@@ 1 2"] {
            assert_eq!(row(no), None, "{no}");
        }
    }

    #[test]
    fn ticks() {
        assert_eq!(tick("tick-5s"), Some(5.0));
        assert_eq!(tick("tick-10sec"), Some(10.0));
        assert_eq!(tick("tick-4"), Some(0.25));
        assert_eq!(tick("tick-0"), None);
        assert_eq!(tick("tick-xs"), None);
    }
}
