//! DTrace aggregations: `quantize`, `lquantize`, `llquantize`, and what `printa` prints, with or
//! without `-q`.
//!
//! The key of a histogram stands above it; a row's number is the least of its bucket, which
//! reaches to the next row's. `< 10` and `>= 90` have no end. A `tick-5s` in the text tells the
//! interval; one with nothing below it is an interval in which nothing was counted.
//!
//! What a command line never clears holds at each report all that was counted since it was
//! started: a histogram is what that grew by. A list keeps its numbers as they are printed.

use std::collections::HashSet;

use super::buckets::Bucket;
use super::cumulative::Cumulative;
use super::dtrace_list;
use super::dtrace_rows::{Rows, buckets, row};
use super::dtrace_script::{Fate, Script};
use super::histogram::{Goal, Histograms, Pace, Title};
use super::{echoed, script_name, script_of, stamp};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Refused;
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
    yields: &["distribution", "disk_size"],
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
    program: Script,
    cumulative: Cumulative,
    /// Keys of the present report's histograms.
    keys: usize,
    /// The tick whose output comes, and those that printed something.
    tick: Option<String>,
    printing: HashSet<String>,
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
            program: Script::of(""),
            cumulative: Cumulative::default(),
            keys: 0,
            tick: None,
            printing: HashSet::new(),
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
        let mut key = if self.paragraph.is_empty() {
            std::mem::take(&mut self.before)
        } else {
            self.settle_before(out);
            std::mem::take(&mut self.paragraph)
        };
        while key.len() > 1 && is_heading_above(&key) {
            self.is_titled(key.remove(0), out);
        }
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
        let id = format!("{title}\0{key}");
        let nth = self.pace.begin(&id, out);
        let name = match nth {
            1 => title.clone(),
            _ => format!("{title} {nth}").trim_start().to_owned(),
        };
        let counted = buckets(&rows, out);
        let counted = self.counted(&format!("{id}\0{nth}"), counted, out);
        let title = Title {
            tool: "dtrace",
            name: &name,
            header: "",
            key: key.strip_suffix("\\0").unwrap_or(&key),
            unit: 1.0,
        };
        self.histograms.put(&title, &counted, out);
    }

    /// What was counted since the report before, of the histogram of that name.
    fn counted(&mut self, id: &str, mut rows: Vec<Bucket>, out: &mut Out) -> Vec<Bucket> {
        let Some(normal) = self.program.normal else {
            out.refuse(Refused(
                "counts of its histograms are divided by normalize(), and its command line does not \
                 tell by which number\n\
                 hint: print them without normalize()"
                    .into(),
            ));
            return Vec::new();
        };
        if normal != 1.0 {
            out.note(&format!(
                "counts of histograms are those printed times {normal}, for normalize() divided \
                 them and cut them to whole numbers: each can be too low by up to {}",
                normal - 1.0
            ));
            rows.iter_mut().for_each(|row| row.count *= normal);
        }
        match self.program.fate {
            Some(Fate::Cleared) => rows,
            Some(Fate::Kept(most)) => {
                self.keys += 1;
                if most.is_some_and(|most| self.keys > most) {
                    out.note(
                        "trunc() with a number drops keys, which count anew when they come again: \
                         what they grew by can be too low",
                    );
                }
                self.cumulative.grown(id, &rows)
            }
            None => {
                self.cumulative.perhaps(id, &rows);
                rows
            }
        }
    }

    /// The paragraph before the present one was no key: it is headings and lists. What stands right
    /// above a list is the heading of that list alone.
    fn settle_before(&mut self, out: &mut Out) {
        let mut lines = std::mem::take(&mut self.before).into_iter().peekable();
        while lines.peek().is_some() {
            let mut frames = Vec::new();
            while let Some(line) = lines.next_if(|(_, text)| dtrace_list::is_frame(text)) {
                frames.push(line);
            }
            if !frames.is_empty() {
                let stack: Vec<String> = frames.iter().map(|(_, text)| text.clone()).collect();
                let counted = lines.next_if(|(_, text)| {
                    dtrace_list::put_stack(&stack, text, &self.script, &mut self.pace, out)
                });
                if counted.is_none() {
                    for (line, text) in frames {
                        out.not_understood(line, &text);
                    }
                }
                continue;
            }
            let mut heading = None;
            while let Some(line) = lines
                .next_if(|(_, text)| !dtrace_list::is_row(text) && !dtrace_list::is_frame(text))
            {
                if let Some(above) = heading.replace(line) {
                    self.is_titled(above, out);
                }
            }
            let list: Vec<_> =
                std::iter::from_fn(|| lines.next_if(|(_, text)| dtrace_list::is_row(text)))
                    .collect();
            match heading {
                Some(heading) if list.is_empty() => self.is_titled(heading, out),
                Some((_, heading)) => {
                    let heading = heading.trim().trim_end_matches([':', ',']);
                    dtrace_list::put(&list, &self.script, heading, &mut self.pace, out);
                }
                None => dtrace_list::put(&list, &self.script, "", &mut self.pace, out),
            }
        }
    }

    /// A line says what follows.
    fn is_titled(&mut self, (line, text): (u64, String), out: &mut Out) {
        let heading = Heading {
            line,
            text: text.trim().trim_end_matches([':', ',']).to_owned(),
            used: false,
        };
        unused(self.title.replace(heading), out);
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
        self.report_ends(out);
        let name = probe.rsplit(':').next().unwrap_or(probe);
        let exits = self.program.exits(name) && !self.program.prints(name);
        if name == "END" || exits && out.samples() > 0 {
            self.pace.ends(out);
        } else if name.starts_with("tick-") || name.starts_with("profile-") {
            if let Some(seconds) = tick(name) {
                out.every(seconds);
                self.tick = Some(name.to_owned());
            }
            self.pace.mark(None, out);
        }
        let after = after.trim();
        if after.is_empty() {
            return Some(Line::Noise);
        }
        Some(self.text(after, out))
    }

    /// All that the last tick printed is read: where that is nothing, it keeps its place.
    fn report_ends(&mut self, out: &mut Out) {
        let Some(tick) = self.tick.take() else {
            return;
        };
        if !self.pace.is_due() {
            self.printing.insert(tick);
        } else if self.printing.contains(&tick) || self.program.prints(&tick) {
            self.pace.nothing(out);
        }
        if matches!(self.program.fate, Some(Fate::Kept(_))) {
            self.cumulative.report_ends();
        }
        self.keys = 0;
    }

    /// A line that is no row.
    fn text(&mut self, text: &str, out: &mut Out) -> Line {
        if let Some(stamp) = stamp(text) {
            self.settle(out);
            self.pace.mark(Some(stamp), out);
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
        self.settle(out);
        self.report_ends(out);
        self.cumulative.end(out);
        self.pace.anew(out);
        self.printing.clear();
        self.program = Script::of(text);
        if self.program.keeps_counts() {
            out.note(
                "its command line never clears counts or sums: numbers of lists are as they were \
                 printed, each of all since the script was started",
            );
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
            self.settle(out);
            self.report_ends(out);
            self.pace.ends(out);
        }
        Line::Noise
    }
}

/// Whether the first line above a histogram is a heading of it, not of its key: `Sizes of writes:`;
/// or one that is not indented, as all that DTrace prints of a key is (`Top 10 times (us),`).
fn is_heading_above(lines: &[(u64, String)]) -> bool {
    let is_indented = |(_, text): &(u64, String)| text.starts_with([' ', '\t']);
    let [first, .., last] = lines else {
        return false;
    };
    first.1.trim_end().ends_with(':') || !is_indented(first) && is_indented(last)
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
                self.report_ends(out);
                self.pace.ends(out);
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
        self.report_ends(out);
        self.cumulative.end(out);
        unused(self.title.take(), out);
    }
}

/// A heading of nothing is a line that is not understood.
fn unused(heading: Option<Heading>, out: &mut Out) {
    if let Some(heading) = heading.filter(|h| !h.used) {
        out.not_understood(heading.line, &heading.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks() {
        assert_eq!(tick("tick-5s"), Some(5.0));
        assert_eq!(tick("tick-10sec"), Some(10.0));
        assert_eq!(tick("tick-4"), Some(0.25));
        assert_eq!(tick("tick-0"), None);
        assert_eq!(tick("tick-xs"), None);
    }
}
