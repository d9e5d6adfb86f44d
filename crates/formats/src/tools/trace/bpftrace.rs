//! Maps as bpftrace prints them: `@name[key]: 12`, histograms `[a, b)` of `hist()` and
//! `lhist()`, `stats()`, and all that as JSON (`-f json`).
//!
//! K, M and G are powers of 1,024. `(..., 0)` and `[100, ...)` have no end.
//!
//! A map is printed whole each time: where the program does not clear it, all that it counted
//! since it was started.

use std::collections::HashMap;

use super::bpftrace_end::{AtEnd, Held};
use super::bpftrace_json;
use super::bpftrace_program::{clears, interval};
use super::buckets::{Bucket, goes_back, is_bar, letter_number};
use super::cumulative::Cumulative;
use super::histogram::{Goal, Histograms, Pace, TABLES, Title};
use super::{echoed, script_of, stamp};
use crate::list::Format;
use crate::number;
use crate::out::Out;
use crate::recognise::Head;
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "bpftrace",
    tool: "bpftrace",
    systems: "Linux",
    help: "maps: histograms of hist() and lhist(), counts, stats; as text or JSON",
    recognised: "lines `@name[key]: …` and rows `[1K, 2K)`, or lines `{\"type\": \"hist\"`",
    yields: TABLES,
    example: "\
Attaching 3 probes...
@us[xfs_file_write_iter]:
[8, 16)                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
[16, 32)               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

@reads: 12
",
    recognise,
    parser: || Box::new(Bpftrace::new()),
};

fn recognise(head: &Head) -> u8 {
    let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    let maps = head
        .lines()
        .filter(|l| map_line(&text(l)).is_some())
        .count();
    let rows = head.lines().any(|l| row(&text(l)).is_some());
    let attaching = head.lines().any(|l| l.starts_with(b"Attaching "));
    let json = head
        .lines()
        .filter(|l| l.starts_with(b"{\"type\":"))
        .any(|l| memchr::memmem::find(l, b"\"data\":").is_some());
    match (maps > 0, rows || attaching) {
        (true, true) => 90,
        (true, false) => 70,
        _ if json => 85,
        _ => 0,
    }
}

/// The ends of a row's range.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Range {
    Below(f64),
    Between(f64, f64),
    From(f64),
}

/// `@name[key]: rest`: name, key and rest.
fn map_line(line: &str) -> Option<(&str, &str, &str)> {
    let line = line.trim_end();
    if !line.starts_with('@') {
        return None;
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = line[1..]
        .find(|c| !is_name(c))
        .map_or(line.len(), |e| e + 1);
    let (name, rest) = line.split_at(end);
    if let Some(rest) = rest.strip_prefix(':') {
        return Some((name, "", rest.trim()));
    }
    let keyed = rest.strip_prefix('[')?;
    // A key can have brackets and colons in it.
    if let Some(key) = keyed.strip_suffix("]:") {
        return Some((name, key, ""));
    }
    let at = keyed.rfind("]: ")?;
    Some((name, &keyed[..at], keyed[at + 3..].trim()))
}

/// A row: `[1K, 2K)  12 |@@@@|`, `[0] 3 |@|`, `(..., 0) 1 |@|`, `[100, ...) 2 |@|`.
fn row(line: &str) -> Option<(Range, f64)> {
    let line = line.trim();
    let end = line.find([')', ']'])?;
    let (range, rest) = line.split_at(end + 1);
    let (count, bar) = rest.split_once('|')?;
    if !is_bar(bar.trim_end().strip_suffix('|')?) {
        return None;
    }
    let count = number::whole(count.trim().as_bytes())? as f64;
    let inner = range.get(1..end)?;
    let range = match (range.as_bytes()[0], inner.split_once(',')) {
        (b'[', None) if range.ends_with(']') => {
            let value = letter_number(inner)?;
            Range::Between(value, value + 1.0)
        }
        (b'(', Some((from, to))) if from.trim() == "..." => Range::Below(letter_number(to)?),
        (b'[', Some((from, to))) if to.trim() == "..." => Range::From(letter_number(from)?),
        (b'[', Some((from, to))) => {
            let (from, to) = (letter_number(from)?, letter_number(to)?);
            // Both ends are in it where a bracket closes it.
            let to = if range.ends_with(']') { to + 1.0 } else { to };
            (to > from).then_some(Range::Between(from, to))?
        }
        _ => return None,
    };
    Some((range, count))
}

pub(super) struct Bpftrace {
    pub(super) histograms: Histograms,
    pub(super) pace: Pace,
    cumulative: Cumulative,
    /// What each map had when it was printed last.
    pub(super) printed: HashMap<String, Vec<f64>>,
    /// What may have been printed at the end.
    pub(super) at_end: AtEnd,
    /// The program, where its command line was kept.
    program: String,
    /// The histogram being read.
    open: Option<(String, String, Vec<Bucket>)>,
    /// The key of many lines, as a stack, that is being read: the map's name, and the lines with
    /// their numbers.
    stack: Option<(String, Vec<(u64, String)>)>,
}

impl Bpftrace {
    fn new() -> Bpftrace {
        Bpftrace {
            histograms: Histograms::new(),
            pace: Pace::default(),
            cumulative: Cumulative::default(),
            printed: HashMap::new(),
            at_end: AtEnd::default(),
            program: String::new(),
            open: None,
            stack: None,
        }
    }

    /// A line inside of a key of many: `None` if the key is over without an end.
    fn key_line(&mut self, text: &str, out: &mut Out) -> Option<Line> {
        let (name, mut lines) = self.stack.take()?;
        // Frames never begin so; what follows them in the key does.
        let end = text
            .starts_with([']', ','])
            .then(|| text.find("]:"))
            .flatten();
        if let Some(end) = end {
            lines.push((0, text[..end].to_owned()));
            let key = joined(&lines);
            let rest = text[end + 2..].trim();
            if rest.is_empty() {
                self.open = Some((name, key, Vec::new()));
                return Some(Line::Noise);
            }
            return Some(self.value(&name, &key, rest, out));
        }
        let ends = text.starts_with('@') || lines.len() >= LONGEST_KEY;
        if !ends && !text.is_empty() {
            lines.push((out.line_number(), text.to_owned()));
        }
        self.stack = Some((name, lines));
        if ends {
            self.give_up_key(out);
            return None;
        }
        Some(if text.is_empty() {
            Line::Noise
        } else {
            Line::Data
        })
    }

    /// The key that is being read has no end.
    fn give_up_key(&mut self, out: &mut Out) {
        for (line, text) in self.stack.take().into_iter().flat_map(|(_, lines)| lines) {
            out.not_understood(line, &text);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some((name, key, rows)) = self.open.take()
            && !rows.is_empty()
        {
            self.histogram(&name, &key, &rows, out);
        }
    }

    pub(super) fn histogram(&mut self, name: &str, key: &str, rows: &[Bucket], out: &mut Out) {
        if self.at_end.is_open() {
            self.keep(name, key, Held::Histogram(rows.to_vec()), out);
        } else {
            self.put_histogram(name, key, rows, out);
        }
    }

    pub(super) fn put_histogram(&mut self, name: &str, key: &str, rows: &[Bucket], out: &mut Out) {
        let id = format!("{name}\0{key}");
        let nth = self.pace.begin(&id, out);
        let now = rows.iter().flat_map(|row| [row.from, row.to, row.count]);
        if self.is_printed_again(id.clone(), now.collect(), nth, out) {
            return;
        }
        let grown = match clears(&self.program, name) {
            Some(true) => None,
            Some(false) => Some(self.cumulative.grown(&id, rows)),
            None => {
                self.cumulative.perhaps(&id, rows);
                None
            }
        };
        let rows = grown.as_deref().unwrap_or(rows);
        let title = Title {
            tool: "bpftrace",
            name: &numbered(name, nth),
            header: "",
            key,
            unit: self.unit(name),
        };
        self.histograms.put(&title, rows, out);
    }

    /// What a known script's map is in.
    fn unit(&self, name: &str) -> f64 {
        match (self.histograms.goal, name) {
            (Some(Goal::DiskSize), _) => 1.0,
            (_, "@usecs" | "@us") => 1e-6,
            (_, "@nsecs" | "@ns") => 1e-9,
            (_, "@msecs" | "@ms") => 1e-3,
            _ => f64::NAN,
        }
    }

    /// A map that is a number, or several of them (`stats`).
    pub(super) fn number(&mut self, name: &str, key: &str, values: &[(&str, f64)], out: &mut Out) {
        let owned = |(part, value): &(&str, f64)| ((*part).to_owned(), *value);
        let values: Vec<(String, f64)> = values.iter().map(owned).collect();
        if self.at_end.is_open() {
            self.keep(name, key, Held::Numbers(values), out);
        } else {
            self.put_number(name, key, &values, out);
        }
    }

    pub(super) fn put_number(
        &mut self,
        name: &str,
        key: &str,
        values: &[(String, f64)],
        out: &mut Out,
    ) {
        let id = format!("{name}\0{key}");
        let nth = self.pace.begin(&id, out);
        let now = values.iter().map(|(_, value)| *value).collect();
        if self.is_printed_again(id, now, nth, out) {
            return;
        }
        let name = numbered(name, nth);
        let instance = out.word(key.as_bytes());
        for (part, value) in values {
            let column = match part.as_str() {
                "" => name.clone(),
                part => format!("{name} {part}"),
            };
            out.other(&column, "", instance, *value);
        }
    }

    /// `@name[key]: 12` or `count 5, average 10, total 50`.
    fn value(&mut self, name: &str, key: &str, text: &str, out: &mut Out) -> Line {
        let whole = |text: &str| text.parse::<i128>().ok().map(|n| n as f64);
        if let Some(value) = whole(text) {
            self.number(name, key, &[("", value)], out);
            return Line::Data;
        }
        let part = |part| -> Option<(&str, f64)> {
            let (name, value) = str::trim(part).split_once(' ')?;
            Some((name, whole(value.trim())?))
        };
        match text.split(',').map(part).collect::<Option<Vec<_>>>() {
            Some(mut values) => {
                if let [("count", count), ("average", mean), ("total", total)] = values[..]
                    && count > 0.0
                    && !((mean - 1.0) * count..=(mean + 1.0) * count).contains(&total)
                {
                    out.lacks(CUT_TOTAL);
                    values.pop();
                }
                self.number(name, key, &values, out);
                Line::Data
            }
            None => Line::Unknown,
        }
    }

    pub(super) fn bucket(range: Bound, count: f64, out: &mut Out) -> Bucket {
        let told = |out: &mut Out, which: &str| {
            if count != 0.0 {
                out.note(&format!(
                    "a row of a histogram has no {which} end: its values stand at the other"
                ));
            }
        };
        let (from, to) = match range {
            (Some(from), Some(to)) => (from, to),
            (None, Some(to)) => {
                told(out, "lower");
                (to - 1.0, to)
            }
            (Some(from), None) => {
                told(out, "upper");
                (from, from)
            }
            (None, None) => (0.0, 0.0),
        };
        Bucket { from, to, count }
    }

    /// A time, the script's name, what it says when it starts.
    fn other_line(&mut self, text: &str, out: &mut Out) -> Line {
        if let Some(at) = stamp(text) {
            self.mark(at, out);
            return Line::Noise;
        }
        if let Some(words) = echoed(text) {
            self.put_end(out);
            self.pace.starts();
            self.cumulative.end(out);
            text.clone_into(&mut self.program);
            self.histograms.goal = Goal::of(script_of(&words, ".bt"));
            if let Some(seconds) = text.split(['\'', ' ', ',', '{', ';']).find_map(interval) {
                out.every(seconds);
            }
            return Line::Noise;
        }
        let banner = Goal::of_banner(text).map(|(_, goal)| goal);
        if self.histograms.goal.is_none() || banner == Some(Goal::DiskSize) {
            self.histograms.goal = banner.or(self.histograms.goal);
        }
        let starts = [
            "Attaching",
            "Attached",
            "Tracing",
            "Sampling",
            "Hit Ctrl",
            "Lost ",
            "^C",
        ];
        let titles = text.ends_with(':') || text.ends_with("...");
        if text.starts_with("Attach") {
            self.put_end(out);
        }
        if text.starts_with("Lost ") {
            out.note("bpftrace says that it lost events: counts are too low");
        }
        if titles || starts.iter().any(|s| text.starts_with(s)) {
            self.pace.starts();
            return Line::Noise;
        }
        Line::Unknown
    }
}

/// From and to, where there is one.
pub(super) type Bound = (Option<f64>, Option<f64>);

/// More lines than any key has.
const LONGEST_KEY: usize = 1000;

/// Said of a total that is not the count times the mean, which is rounded to a whole number.
const CUT_TOTAL: &str = "a total that does not go with its count and its mean was cut, as at a width: it is \
                         left out";

/// The map's name, and what stands of the key on the line that begins it: `@[`, `@n[dd, `.
fn key_begins(text: &str) -> Option<(&str, &str)> {
    let (name, key) = text.split_once('[').filter(|_| text.starts_with('@'))?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let open = key.is_empty() || key.ends_with(',');
    (open && name[1..].chars().all(is_name)).then_some((name, key))
}

/// A key of many lines as one: frames with blanks between, other parts with commas.
fn joined(lines: &[(u64, String)]) -> String {
    let mut key = String::new();
    for (_, line) in lines.iter().filter(|(_, line)| !line.is_empty()) {
        if !(key.is_empty() || line.starts_with(',')) {
            key.push(' ');
        }
        key.push_str(line);
    }
    key
}

/// The name of the nth map of that name in an interval.
fn numbered(name: &str, nth: u32) -> String {
    match nth {
        1 => name.to_owned(),
        _ => format!("{name} ({nth})"),
    }
}

impl Parser for Bpftrace {
    fn look(&mut self, head: &Head) {
        self.at_end.look(head);
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let whole = String::from_utf8_lossy(line);
        let text = whole.trim();
        if let Some(seen) = self.key_line(text, out) {
            return seen;
        }
        if text.is_empty() {
            self.at_end.blank();
            return Line::Noise;
        }
        if let Some((_, _, rows)) = &mut self.open {
            if let Some((range, count)) = row(text) {
                self.at_end.row();
                let bound = match range {
                    Range::Below(to) => (None, Some(to)),
                    Range::Between(from, to) => (Some(from), Some(to)),
                    Range::From(from) => (Some(from), None),
                };
                let row = Bpftrace::bucket(bound, count, out);
                if goes_back(rows, row.from) {
                    self.finish(out);
                    return Line::Unknown;
                }
                rows.push(row);
                return Line::Data;
            }
            self.finish(out);
        }
        let within = self.pace.is_within();
        let ordinary = self.at_end.follows(within, self.pace.is_marked());
        self.put_all(ordinary, out);
        if text.starts_with('{') {
            return bpftrace_json::line(self, text, out);
        }
        if let Some((name, key, rest)) = map_line(text) {
            if rest.is_empty() {
                self.open = Some((name.to_owned(), key.to_owned(), Vec::new()));
                return Line::Noise;
            }
            return self.value(name, key, rest, out);
        }
        if let Some((name, key)) = key_begins(text) {
            let line = (out.line_number(), key.to_owned());
            self.stack = Some((name.to_owned(), vec![line]));
            return Line::Data;
        }
        self.other_line(text, out)
    }

    fn end(&mut self, out: &mut Out) {
        self.give_up_key(out);
        self.finish(out);
        self.put_end(out);
        self.cumulative.end(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_all_kinds() {
        let between = |from, to, count| Some((Range::Between(from, to), count));
        assert_eq!(row("[256, 512)  2 |@@ |"), between(256.0, 512.0, 2.0));
        assert_eq!(row("[512, 1K) 10 |@|"), between(512.0, 1024.0, 10.0));
        assert_eq!(row("[1M, 2M)  1 ||"), between(1048576.0, 2097152.0, 1.0));
        assert_eq!(row("[0]  3 |@|"), between(0.0, 1.0, 3.0));
        assert_eq!(row("[-10, -5) 3 |@|"), between(-10.0, -5.0, 3.0));
        assert_eq!(row("(..., 0) 1 |@|"), Some((Range::Below(0.0), 1.0)));
        assert_eq!(row("[100, ...) 4 |@|"), Some((Range::From(100.0), 4.0)));
        for no in [
            "[1, 2) 3",
            "[a, b) 1 |@|",
            "[2, 1) 1 |@|",
            "[1, 2) x |@|",
            "]",
            "@x: 1",
        ] {
            assert_eq!(row(no), None, "{no}");
        }
    }

    #[test]
    fn maps_and_their_keys() {
        assert_eq!(map_line("@usecs:"), Some(("@usecs", "", "")));
        assert_eq!(
            map_line("@[kworker/2:1H]:"),
            Some(("@", "kworker/2:1H", ""))
        );
        assert_eq!(map_line("@x[a, 3]: 12"), Some(("@x", "a, 3", "12")));
        assert_eq!(map_line("@x: -5"), Some(("@x", "", "-5")));
        assert_eq!(map_line("@["), None);
        assert_eq!(map_line("x: 5"), None);
    }
}
