//! A text in parts: lines, labelled entries, tables. The terminal, mails, pages and sheets show
//! the same parts, each in its own way.

use crate::table::Table;

/// Columns of the labels in a terminal.
const LABEL: usize = 10;

/// Holds two words together on a line: a number and its unit.
pub const TIED: char = '\u{a0}';

/// One part.
#[derive(Clone, Debug)]
pub enum Part {
    /// A line of its own.
    Line(String),
    /// What `label` is; an empty label goes on with the entry above.
    Entry {
        /// One or two words.
        label: String,
        /// One paragraph. [`TIED`] joins words that stay on one line.
        text: String,
    },
    /// Names and numbers.
    Table(Table),
    /// The next part begins something new.
    Gap,
}

impl Part {
    /// An entry.
    pub fn entry(label: &str, text: impl Into<String>) -> Part {
        Part::Entry {
            label: label.to_owned(),
            text: text.into(),
        }
    }
}

/// The parts as plain text of `width` columns, each line ended. A [`Part::Gap`] is a blank line.
pub fn render(parts: &[Part], width: usize) -> String {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Line(line) => out += &format!("{}\n", untied(line)),
            Part::Entry { label, text } => out += &untied(&entry(label, text, width)),
            Part::Table(table) => out += &table.render(width),
            Part::Gap => out.push('\n'),
        }
    }
    out
}

/// `text` where nothing is tied any more.
pub fn untied(text: &str) -> String {
    text.replace(TIED, " ")
}

/// `label` in the first columns, `text` wrapped beside it.
fn entry(label: &str, text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut line = format!("{label:<LABEL$}");
    for part in text.split_inclusive(' ') {
        if line.chars().count() + part.trim_end().chars().count() > width
            && line.trim().len() > label.len()
        {
            out += line.trim_end();
            out.push('\n');
            line = " ".repeat(LABEL);
        }
        line += part;
    }
    out += line.trim_end();
    out.push('\n');
    out
}
