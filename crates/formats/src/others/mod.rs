//! Outputs of other tools in the same text, as a script leaves them that runs several in turn: their lines
//! would be names and numbers of a tool that takes any words for names.

mod headings;
mod whose;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use crate::echo;
use crate::list::Format;
use crate::out::Came;
use crate::page::begins_document;
use crate::recognise::Head;
use crate::stamp_line::script_line;
use crate::time::{Options, Stamp};

use headings::Headings;
use whose::{Known, Whose};

/// By so many lines it is told whose they are.
const LOOKED_AT: usize = 4;
/// So many lines of an output are remembered, its first and its last, to tell whether the next is of it, too.
const ABOVE: usize = 8;
const FIRST: usize = 3;
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
#[derive(Clone)]
pub struct Beside {
    /// Their lines are read by imports of their own, and are nothing here.
    pub elsewhere: Vec<&'static Format>,
    /// They are not read, for that reason.
    pub refused: Vec<(&'static Format, String)>,
    /// Why the others are not.
    pub rest: &'static str,
}

impl Default for Beside {
    fn default() -> Beside {
        Beside {
            elsewhere: vec![],
            refused: vec![],
            rest: "outputs of several tools that do not tell when they were need a file each",
        }
    }
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
    let mut found: Vec<&'static Format> = Vec::new();
    outputs(None, head, |whose| {
        if let Whose::Another(format) = whose
            && found.iter().all(|known| known.name != format.name)
        {
            found.push(format);
        }
        ControlFlow::Continue(())
    });
    found.retain(|format| Others::among(format, head).is_some());
    if found.len() > 1 { found } else { vec![] }
}

/// Calls `each` with whose the outputs are of which a text begins, as far as lines tell it; one of a
/// document has none but its own.
fn outputs(
    own: Option<&'static Format>,
    head: &Head,
    mut each: impl FnMut(Whose) -> ControlFlow<()>,
) {
    if begins_document(head.lines()) {
        return;
    }
    let lines: Vec<&[u8]> = head.lines().collect();
    let (mut headings, mut known) = (Headings::default(), Known::default());
    let mut present = own;
    for at in 0..lines.len() {
        let window = &lines[at..lines.len().min(at + LOOKED_AT)];
        if !headings.are_begun_by(window[0]) {
            continue;
        }
        if let Some(whose) = known.whose(own, window) {
            present = whose.another().or(own);
            if each(whose).is_break() {
                return;
            }
        }
        let above = &lines[at.saturating_sub(ABOVE)..=at];
        if headings.are_many() && present.is_some_and(|p| known.reads(p, above)) {
            headings.end();
        }
        if known.are_enough() {
            return;
        }
    }
}

/// Whether the line is a command line of that tool, behind a prompt or by itself.
fn is_command(line: &[u8], tool: &str) -> bool {
    let program = tool.split(' ').next().unwrap_or(tool);
    memchr::memmem::find(line, program.as_bytes()).is_some()
        && echo::command(line, program).is_some()
}

impl Others {
    /// For a text of that format that begins so, if it has lines of others.
    pub(crate) fn among(own: &'static Format, head: &Head) -> Option<Others> {
        let is_known = |lines: &[&[u8]]| (own.recognise)(&Head::plain(lines)) > 0;
        let (mut is_own, mut is_anothers) = ((own.recognise)(head) > 0, false);
        if !is_own {
            // If no line is, somebody said what it is, and no heading of it can be told.
            let lines: Vec<&[u8]> = head.lines().collect();
            let mut begins =
                (0..lines.len()).map(|at| is_known(&lines[at..lines.len().min(at + LOOKED_AT)]));
            if !begins.any(|begins| begins) {
                return None;
            }
        }
        outputs(Some(own), head, |whose| {
            match whose {
                Whose::Another(_) => is_anothers = true,
                Whose::Own => is_own = true,
            }
            if is_own && is_anothers {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        (is_own && is_anothers).then(|| Others {
            own,
            now: None,
            above: VecDeque::new(),
            headings: Headings::default(),
            known: Known::default(),
            held: VecDeque::new(),
            beside: Beside::default(),
            found: BTreeMap::new(),
        })
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
        let first = &self.held[0].line;
        if self.now.is_some() && is_command(first, self.own.tool) {
            // What it tells, as the interval, is of the output below.
            self.now = None;
            self.above.clear();
        }
        let begins = self.headings.are_begun_by(first);
        // Of nearly all lines the next are not looked at.
        let is_looked_at = begins || !self.headings.are_none();
        let window = self.held.iter().filter(|_| is_looked_at);
        let window: Vec<&[u8]> = window.map(|held| &held.line[..]).collect();
        if begins {
            // The line below the last of the present output.
            let mut lines: Vec<&[u8]> = self.above.iter().map(|line| &line[..]).collect();
            lines.push(window[0]);
            let mut present = self.now.unwrap_or(self.own);
            if let Some(whose) = self.known.whose(Some(self.own), &window) {
                let next = whose.another().unwrap_or(self.own);
                let is_row = self.headings.is_row();
                let is_another = present.name != next.name;
                if is_another
                    && self
                        .known
                        .goes_on(present, &lines, next, &window[1..], is_row)
                {
                    // A row, and no heading.
                    self.headings.end();
                } else if is_another {
                    self.now = whose.another();
                    present = next;
                    lines = vec![window[0]];
                }
            }
            if self.headings.are_many() && self.known.reads(present, &lines) {
                self.headings.end();
            }
            if lines.len() == 1 {
                self.above.clear();
            }
        } else if is_looked_at && (self.own.recognise)(&Head::plain(&window)) > 0 {
            // A banner that stands below a text: without it a report since boot were one of an interval.
            self.now = None;
        }
        // Times are everybody's.
        let is_everybodys = |line: &[u8]| {
            line.trim_ascii().is_empty() || matches!(script_line(line, options), Ok(Some(_)))
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

    /// What is to be said of lines that are another's.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.found.iter().map(|(name, (first, count))| {
            let lines = if *count == 1 { "line is" } else { "lines are" };
            let refused = self.beside.refused.iter();
            let mut of_it = refused.filter(|(format, _)| format.name == *name);
            let why = of_it
                .next()
                .map_or(self.beside.rest.to_owned(), |(_, why)| {
                    why.replace('\n', "; ")
                });
            format!("{count} {lines} of {name}, from line {first} on, and not read: {why}")
        })
    }
}
