//! Lines at which another output may begin.

use crate::fields;
use crate::number::number;
use crate::stamp_line::script_line;
use crate::time::Options;

/// So many headings one below another are looked at: where there are more it is a text.
const HEADINGS: usize = 3;

/// Headings one below another.
#[derive(Default)]
pub(super) struct Headings {
    count: usize,
    /// What is above the line is a date, and whether the line was below one.
    below_date: bool,
    first: bool,
}

impl Headings {
    /// Whether the next line is one of the first of them, or the first below a date: what has no heading
    /// begins there, as a file of `/proc`.
    pub(super) fn are_begun_by(&mut self, line: &[u8]) -> bool {
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

    /// The line is none.
    pub(super) fn end(&mut self) {
        self.count = 0;
    }

    /// Whether the line is none, nor may be one.
    pub(super) fn are_none(&self) -> bool {
        self.count == 0
    }

    /// Whether the line has most numbers, and is looked at because of what is above it.
    pub(super) fn is_row(&self) -> bool {
        self.first && self.are_none()
    }

    /// Whether so many came that a text is to be told from headings: a line in which the present tool
    /// prints numbers is none.
    pub(super) fn are_many(&self) -> bool {
        self.count == HEADINGS
    }
}

fn is_date(line: &[u8]) -> bool {
    !matches!(script_line(line, &Options::default()), Ok(None))
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
