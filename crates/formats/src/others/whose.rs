//! Whose lines are.

use std::collections::HashMap;

use crate::list::Format;
use crate::out::Out;
use crate::recognise::{Head, recognise};
use crate::time::Options;
use crate::{Line, fields, stamp_line};

/// Surer than this is a format that is not of everybody's lines.
const SURE: u8 = 45;
/// How often all formats are asked whose lines are, until there are some of another.
const MOST_ASKED: usize = 300;
/// So many headings of a tool are remembered.
const REMEMBERED: usize = 64;
/// So many shapes of lines.
const SHAPES: usize = 4096;
/// Tools that print the same lines.
const ALIKE: [&[&str]; 4] = [
    &["top", "uptime"],
    &["mpstat", "sar"],
    &["collectl", "proc"],
    &["iperf", "iperf3"],
];

/// Whose the lines are that a heading begins.
#[derive(Clone, Copy)]
pub(super) enum Whose {
    Own,
    Another(&'static Format),
}

impl Whose {
    /// The format, if it is another.
    pub(super) fn another(self) -> Option<&'static Format> {
        match self {
            Whose::Own => None,
            Whose::Another(format) => Some(format),
        }
    }
}

/// What is known of headings.
#[derive(Default)]
pub(super) struct Known {
    /// Those of the file's tool, in words with a blank between.
    own: Vec<Vec<u8>>,
    /// Whose lines of such a shape are, if they tell it: to ask all formats takes long.
    told: Told<Option<Whose>>,
    /// What the last of such lines is to a tool: a parser and all that it writes to are made for it.
    seen: HashMap<&'static str, Told<Line>>,
    /// How often they were asked.
    asked: usize,
}

impl Known {
    /// Whose the first of these lines is; `None`: nobody knows, and it is of whom those above are.
    pub(super) fn whose(&mut self, own: Option<&'static Format>, lines: &[&[u8]]) -> Option<Whose> {
        let mut shape = Vec::new();
        // As few lines as tell it: what is below may be the heading of another.
        for count in 1..=lines.len() {
            add_shape(lines[count - 1], &mut shape);
            let whose = self.told.get(&shape).unwrap_or_else(|| {
                let whose = self.ask(own, &lines[..count]);
                self.told.keep(&shape, whose)
            });
            if whose.is_some() {
                return whose;
            }
        }
        None
    }

    /// Whether the last of an output's lines, which may begin another, is still of it: one that has few, as
    /// a result of `dd`, is not to lose them to the next. `below`: what follows; `is_row`: the line has
    /// most numbers.
    pub(super) fn goes_on(
        &mut self,
        present: &'static Format,
        lines: &[&[u8]],
        next: &'static Format,
        below: &[&[u8]],
        is_row: bool,
    ) -> bool {
        let [_, .., line] = lines else {
            return false;
        };
        if below.is_empty() {
            return false;
        }
        let is_told_below = (next.recognise)(&Head::plain(below)) > 0;
        match self.seen(present, lines) {
            Line::Data => is_row || is_told_below,
            // Its own heading the next is not to lose.
            Line::Noise => is_told_below && self.seen(next, &[line]) == Line::Unknown,
            Line::Unknown => false,
        }
    }

    /// Whether a tool prints the last of these lines with numbers.
    pub(super) fn reads(&mut self, format: &'static Format, lines: &[&[u8]]) -> bool {
        self.seen(format, lines) == Line::Data
    }

    /// What the last of these lines is to a tool.
    pub(super) fn seen(&mut self, format: &'static Format, lines: &[&[u8]]) -> Line {
        let mut shape = Vec::new();
        for line in lines {
            add_shape(line, &mut shape);
        }
        let told = self.seen.entry(format.name).or_default();
        told.get(&shape).unwrap_or_else(|| {
            let mut parser = (format.parser)();
            let mut out = Out::new(format.tool, Options::default());
            let seen = lines.iter().map(|line| parser.line(line, &mut out));
            told.keep(&shape, seen.last().unwrap_or(Line::Unknown))
        })
    }

    /// Whether so many were asked about that the text is not looked at any further.
    pub(super) fn are_enough(&self) -> bool {
        self.asked > MOST_ASKED
    }

    fn ask(&mut self, own: Option<&'static Format>, lines: &[&[u8]]) -> Option<Whose> {
        self.asked += 1;
        let words: Vec<&[u8]> = fields(lines[0]).collect();
        let head = Head::plain(lines);
        if own.is_some_and(|own| (own.recognise)(&head) > 0) {
            let heading = words.join(&b' ');
            if self.own.len() < REMEMBERED && !self.own.contains(&heading) {
                self.own.push(heading);
            }
            return Some(Whose::Own);
        }
        let format = recognise(&head).ok()?;
        let is_new = is_of_another(own, format, &head) && !self.has(&words);
        is_new.then_some(Whose::Another(format))
    }

    /// Whether such a heading came with something else before it: `Average:` or `Moyenne :` instead of
    /// the time.
    fn has(&self, words: &[&[u8]]) -> bool {
        let ends = |from: usize| {
            let rest = words.get(from..).filter(|rest| rest.len() > 1);
            let rest = rest.map(|rest| rest.join(&b' '));
            // In front of a known one stands the time: `CPU %user` is no `avg-cpu: %user`.
            let is_time =
                |word: &[u8]| word.iter().any(u8::is_ascii_digit) || stamp_line::is_half(word);
            let is_known = |known: &Vec<u8>, rest: &Vec<u8>| {
                let before = known.strip_suffix(&rest[..]);
                before.is_some_and(|before| fields(before).all(is_time))
            };
            rest.is_some_and(|rest| self.own.iter().any(|known| is_known(known, &rest)))
        };
        ends(1) || ends(2)
    }
}

/// What was told of lines of a shape.
struct Told<V>(HashMap<Vec<u8>, V>);

impl<V> Default for Told<V> {
    fn default() -> Told<V> {
        Told(HashMap::new())
    }
}

impl<V: Copy> Told<V> {
    fn get(&self, shape: &[u8]) -> Option<V> {
        self.0.get(shape).copied()
    }

    fn keep(&mut self, shape: &[u8], value: V) -> V {
        if self.0.len() == SHAPES {
            self.0.clear();
        }
        self.0.insert(shape.to_vec(), value);
        value
    }
}

/// Adds a line with its numbers and blanks made alike; of a long one the beginning.
fn add_shape(line: &[u8], shape: &mut Vec<u8>) {
    const MOST: usize = 400;
    let alike = |b: u8| match b {
        b'0'..=b'9' => b'0',
        b'\t' => b' ',
        _ => b,
    };
    shape.push(b'\n');
    for byte in line.iter().take(MOST).map(|b| alike(*b)) {
        if !(matches!(byte, b'0' | b' ') && shape.last() == Some(&byte)) {
            shape.push(byte);
        }
    }
}

fn is_of_another(own: Option<&Format>, format: &Format, head: &Head) -> bool {
    let is_same = own.is_some_and(|own| {
        let are_alike = |tools: &&[&str]| tools.contains(&own.tool) && tools.contains(&format.tool);
        format.tool == own.tool || ALIKE.iter().any(are_alike)
    });
    !is_same && (format.recognise)(head) >= SURE
}
