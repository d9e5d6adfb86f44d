//! Outputs of other tools in the same text, as a script leaves them that runs several in turn: their lines
//! would be names and numbers of a tool that takes any words for names.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::list::Format;
use crate::number::number;
use crate::out::{Came, Out};
use crate::page::begins_document;
use crate::recognise::{Head, recognise};
use crate::stamp_line;
use crate::time::{Options, Stamp};
use crate::{Line, fields};

/// By so many lines it is told whose they are.
const LOOKED_AT: usize = 4;
/// So many headings one below another are looked at: where there are more it is a text.
const HEADINGS: usize = 3;
/// So many lines of an output are remembered, its first and its last, to tell whether the next is of it, too.
const ABOVE: usize = 8;
const FIRST: usize = 3;
/// Surer than this is a format that is not of everybody's lines.
const SURE: u8 = 45;
/// How often all formats are asked whose lines are, until there are some of another.
const MOST_ASKED: usize = 300;
/// So many headings of a tool are remembered.
const REMEMBERED: usize = 64;
/// So many shapes of lines.
const SHAPES: usize = 4096;
/// Why lines of another tool are not read, where nothing else is known.
const UNTIMED: &str = "outputs of several tools that do not tell when they were need a file each";
/// Tools that print the same lines.
const ALIKE: [&[&str]; 4] = [
    &["top", "uptime"],
    &["mpstat", "sar"],
    &["collectl", "proc"],
    &["iperf", "iperf3"],
];

/// Whose the lines are that a heading begins.
#[derive(Clone, Copy)]
enum Whose {
    Own,
    Another(&'static Format),
    /// Nobody knows: of whom those above are.
    Untold,
}

/// A line that waits for those below to tell whose it is.
pub(crate) struct Held {
    pub(crate) number: u64,
    pub(crate) line: Vec<u8>,
    pub(crate) came: Option<Came>,
    pub(crate) logged: Option<Stamp>,
    /// Its end is not there: it is too long.
    pub(crate) overlong: bool,
}

/// Lines of a format and of others.
pub(crate) struct Others {
    own: &'static Format,
    /// Of whom the present lines are, if they are another's.
    now: Option<&'static Format>,
    /// The last of those lines.
    above: VecDeque<Vec<u8>>,
    headings: Headings,
    known: Known,
    held: VecDeque<Held>,
    /// What is known of the others.
    beside: Beside,
    /// The rest by name: the first of their lines, and how many there are.
    found: BTreeMap<&'static str, (u64, u64)>,
}

/// Other formats of a text that has outputs of several tools ([`together`]).
#[derive(Clone, Default)]
pub struct Beside {
    /// Their lines are read by imports of their own, and are nothing here.
    pub elsewhere: Vec<&'static Format>,
    /// They are not read, for that reason.
    pub refused: Vec<(&'static Format, String)>,
}

/// Whose a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The format's, or everybody's.
    Own,
    /// Another's, which is not read.
    Another,
    /// Another's, which is read elsewhere.
    Elsewhere,
}

/// Formats of which a text that begins so has outputs, in turn: each can be read by itself
/// ([`Import::beside`](crate::Import::beside)). Empty where they are not several.
pub fn together(head: &Head) -> Vec<&'static Format> {
    if begins_document(head.lines()) {
        return vec![];
    }
    let lines: Vec<&[u8]> = head.lines().collect();
    let (mut found, mut known): (Vec<&'static Format>, _) = (Vec::new(), Known::default());
    let (mut headings, mut present) = (Headings::default(), None);
    for at in 0..lines.len() {
        let window = &lines[at..lines.len().min(at + LOOKED_AT)];
        if !headings.are_begun_by(window[0]) {
            continue;
        }
        if let Whose::Another(format) = known.whose(None, window) {
            present = Some(format);
            if found.iter().all(|known| known.name != format.name) {
                found.push(format);
            }
        }
        if headings.are_many()
            && present.is_some_and(|p| reads(p, &lines[at.saturating_sub(ABOVE)..=at]))
        {
            headings.count = 0;
        }
        if known.asked > MOST_ASKED {
            break;
        }
    }
    found.retain(|format| Others::among(format, head).is_some());
    if found.len() > 1 { found } else { vec![] }
}

impl Others {
    /// For a text of that format that begins so, if it has lines of others.
    pub(crate) fn among(own: &'static Format, head: &Head) -> Option<Others> {
        if begins_document(head.lines()) {
            return None;
        }
        let lines: Vec<&[u8]> = head.lines().collect();
        // If none is, somebody said what it is, and no heading of it can be told.
        let begins = |at: usize| {
            let window = &lines[at..lines.len().min(at + LOOKED_AT)];
            (own.recognise)(&Head::plain(window)) > 0
        };
        if (own.recognise)(head) == 0 && !(0..lines.len()).any(begins) {
            return None;
        }
        let (mut is_own, mut is_anothers) = ((own.recognise)(head) > 0, false);
        let (mut headings, mut known) = (Headings::default(), Known::default());
        for at in 0..lines.len() {
            let window = &lines[at..lines.len().min(at + LOOKED_AT)];
            if !headings.are_begun_by(window[0]) {
                continue;
            }
            match known.whose(Some(own), window) {
                Whose::Another(_) => is_anothers = true,
                Whose::Own => is_own = true,
                Whose::Untold => {}
            }
            if is_own && is_anothers {
                return Some(Others {
                    own,
                    now: None,
                    above: VecDeque::new(),
                    headings: Headings::default(),
                    known: Known::default(),
                    held: VecDeque::new(),
                    beside: Beside::default(),
                    found: BTreeMap::new(),
                });
            }
            if headings.are_many() && reads(own, &lines[at.saturating_sub(ABOVE)..=at]) {
                headings.count = 0;
            }
            if known.asked > MOST_ASKED {
                break;
            }
        }
        None
    }

    /// What becomes of the others.
    pub(crate) fn beside(&mut self, beside: Beside) {
        self.beside = beside;
    }

    /// Another line came.
    pub(crate) fn hold(&mut self, held: Held) {
        self.held.push_back(held);
    }

    /// The next line of which it can be told whose it is; `is_last`: no more come.
    pub(crate) fn next(&mut self, is_last: bool, options: &Options) -> Option<(Held, Owner)> {
        if self.held.is_empty() || self.held.len() < LOOKED_AT && !is_last {
            return None;
        }
        let window: Vec<&[u8]> = self.held.iter().map(|h| &h.line[..]).collect();
        if self.headings.are_begun_by(window[0]) {
            let whose = match self.known.whose(Some(self.own), &window) {
                Whose::Own => Some(None),
                Whose::Another(format) => Some(Some(format)),
                Whose::Untold => None,
            };
            if let Some(whose) = whose {
                if self.is_of_present(whose, &window) {
                    // A row, and no heading.
                    self.headings.count = 0;
                } else {
                    let is_same = whose.unwrap_or(self.own).name == self.present().name;
                    if !is_same {
                        self.above.clear();
                    }
                    self.now = whose;
                }
            }
            if self.headings.are_many() && reads(self.present(), &self.with_above(window[0])) {
                self.headings.count = 0;
            }
        } else if self.headings.count > 0 && (self.own.recognise)(&Head::plain(&window)) > 0 {
            // A banner that stands below a text: without it a report since boot were one of an interval.
            self.now = None;
        }
        // Times are everybody's.
        let is_everybodys = |line: &[u8]| {
            line.trim_ascii().is_empty()
                || matches!(stamp_line::script_line(line, options), Ok(Some(_)))
        };
        let held = self.held.pop_front()?;
        if !is_everybodys(&held.line) {
            self.above.push_back(held.line.clone());
            if self.above.len() > ABOVE {
                self.above.remove(FIRST);
            }
        }
        let Some(format) = self.now.filter(|_| !is_everybodys(&held.line)) else {
            return Some((held, Owner::Own));
        };
        let elsewhere = &self.beside.elsewhere;
        if elsewhere.iter().any(|known| known.name == format.name) {
            return Some((held, Owner::Elsewhere));
        }
        let (_, count) = self.found.entry(format.name).or_insert((held.number, 0));
        *count += 1;
        Some((held, Owner::Another))
    }

    /// Whether a line is still of the present output, though those below it are `whose`: one that has few
    /// lines, as a result of `dd`, is not to lose them to the next.
    fn is_of_present(&self, whose: Option<&'static Format>, window: &[&[u8]]) -> bool {
        let present = self.present();
        let next = whose.unwrap_or(self.own);
        if self.above.is_empty() || present.name == next.name || window.len() < 2 {
            return false;
        }
        let is_told_below = (next.recognise)(&Head::plain(&window[1..])) > 0;
        match seen(present, &self.with_above(window[0])) {
            Line::Data => self.headings.is_row() || is_told_below,
            // Its own heading the next is not to lose.
            Line::Noise => is_told_below && seen(next, &window[..1]) == Line::Unknown,
            Line::Unknown => false,
        }
    }

    fn present(&self) -> &'static Format {
        self.now.unwrap_or(self.own)
    }

    /// A line below the last of the present output.
    fn with_above<'a>(&'a self, line: &'a [u8]) -> Vec<&'a [u8]> {
        let above = self.above.iter().map(|line| &line[..]);
        above.chain([line]).collect()
    }

    /// What is to be said of lines that are another's.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.found.iter().map(|(name, (first, count))| {
            let lines = if *count == 1 { "line is" } else { "lines are" };
            let refused = self.beside.refused.iter();
            let mut of_it = refused.filter(|(format, _)| format.name == *name);
            let why = of_it
                .next()
                .map_or(UNTIMED.to_owned(), |(_, why)| why.replace('\n', "; "));
            format!("{count} {lines} of {name}, from line {first} on, and not read: {why}")
        })
    }
}

/// Whether a tool prints the last of these lines with numbers.
fn reads(format: &'static Format, lines: &[&[u8]]) -> bool {
    seen(format, lines) == Line::Data
}

/// What the last of these lines is to a tool.
fn seen(format: &'static Format, lines: &[&[u8]]) -> Line {
    let mut parser = (format.parser)();
    let mut out = Out::new(format.tool, Options::default());
    let seen = lines.iter().map(|line| parser.line(line, &mut out));
    seen.last().unwrap_or(Line::Unknown)
}

/// Headings one below another.
#[derive(Default)]
struct Headings {
    count: usize,
    /// What is above the line is a date, and whether the line was below one.
    below_date: bool,
    first: bool,
}

impl Headings {
    /// Whether the next line is one of the first of them, or the first below a date: what has no heading
    /// begins there, as a file of `/proc`.
    fn are_begun_by(&mut self, line: &[u8]) -> bool {
        self.first = false;
        if line.trim_ascii().is_empty() {
            self.count = 0;
            return false;
        }
        if is_date(line) {
            (self.count, self.below_date) = (0, true);
            return false;
        }
        self.first = std::mem::take(&mut self.below_date);
        self.count = if is_heading(line) { self.count + 1 } else { 0 };
        self.first || (1..=HEADINGS).contains(&self.count)
    }

    /// Whether the line has most numbers, and is looked at because of what is above it.
    fn is_row(&self) -> bool {
        self.first && self.count == 0
    }

    /// Whether so many came that a text is to be told from headings: a line in which the present tool
    /// prints numbers is none.
    fn are_many(&self) -> bool {
        self.count == HEADINGS
    }
}

fn is_date(line: &[u8]) -> bool {
    !matches!(stamp_line::script_line(line, &Options::default()), Ok(None))
}

/// Whether a line may be a heading: not most of it are numbers.
fn is_heading(line: &[u8]) -> bool {
    let (mut words, mut numbers) = (0, 0);
    for field in fields(line).flat_map(|f| f.split(|b| *b == b',')) {
        match number(field) {
            Some(_) => numbers += 1,
            None => words += 1,
        }
    }
    words > numbers
}

/// What is known of headings.
#[derive(Default)]
struct Known {
    /// Those of the file's tool, in words with a blank between.
    own: Vec<Vec<u8>>,
    /// Whose lines of such a shape are, if they tell it: to ask all formats takes long.
    told: HashMap<Vec<u8>, Option<Whose>>,
    /// How often they were asked.
    asked: usize,
}

impl Known {
    fn whose(&mut self, own: Option<&'static Format>, lines: &[&[u8]]) -> Whose {
        let mut shape = Vec::new();
        // As few lines as tell it: what is below may be the heading of another.
        for count in 1..=lines.len() {
            add_shape(lines[count - 1], &mut shape);
            let whose = match self.told.get(&shape) {
                Some(whose) => *whose,
                None => {
                    let whose = self.ask(own, &lines[..count]);
                    if self.told.len() == SHAPES {
                        self.told.clear();
                    }
                    self.told.insert(shape.clone(), whose);
                    whose
                }
            };
            if let Some(whose) = whose {
                return whose;
            }
        }
        Whose::Untold
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

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::list::FORMATS;
    use crate::recognise::named;

    fn texts(dir: &Path, found: &mut Vec<(String, Vec<u8>)>) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                texts(&path, found);
            } else if let Ok(text) = std::fs::read(&path) {
                found.push((path.display().to_string(), text));
            }
        }
    }

    #[test]
    fn what_a_tool_prints_is_not_taken_for_anothers() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let told = std::env::var_os("SONDE_CAPTURES").map(PathBuf::from);
        let captures = told.unwrap_or_else(|| here.join("../../../shared/fixtures"));
        let mut all: Vec<_> = FORMATS
            .iter()
            .map(|f| (f.name.to_owned(), f.example_bytes()))
            .collect();
        for dir in [here.join("fixtures"), captures] {
            texts(&dir, &mut all);
        }
        let has_others = |(name, text): &(String, Vec<u8>)| {
            let head = Head::named(text, name);
            recognise(&head).is_ok_and(|format| Others::among(format, &head).is_some())
        };
        let found = all.iter().filter(|t| has_others(t)).map(|(name, _)| name);
        let wrong: Vec<_> = found.filter(|name| !name.contains("/others-")).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn lines_are_told_apart_where_headings_tell() {
        let vmstat = named("vmstat-linux").expect("a format");
        let text = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 0  0      0 500000   2000 300000    0    0     0     0  100  200  1  1 98  0  0
Thu Nov 26 19:14:42 UTC 2026
              total        used        free      shared  buff/cache   available
Mem:        8000000     1000000     5000000        8000     2000000     6500000
Swap:             0           0           0

procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 0  0      0 500000   2000 300000    0    0     0     0  100  200  1  1 98  0  0
";
        let head = Head::new(text.as_bytes());
        let mut others = Others::among(vmstat, &head).expect("lines of others");
        let mut told = String::new();
        let mut take = |others: &mut Others, is_last| {
            while let Some((_, owner)) = others.next(is_last, &Options::default()) {
                told.push(match owner {
                    Owner::Own => '.',
                    Owner::Another => 'x',
                    Owner::Elsewhere => '-',
                });
            }
        };
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.as_bytes().to_vec();
            others.hold(Held {
                number,
                line,
                came: None,
                logged: None,
                overlong: false,
            });
            take(&mut others, false);
        }
        take(&mut others, true);
        assert_eq!(told, "....xxx....");
        let said: Vec<String> = others.notes().collect();
        assert!(
            said[0].starts_with("3 lines are of free, from line 5 on"),
            "{said:?}"
        );
        let own: Vec<&str> = text.lines().take(3).collect();
        let own = Head::new(own.join("\n").as_bytes());
        assert!(Others::among(vmstat, &own).is_none());
    }
}
