//! An experiment as text of 80 columns.

use lab::experiment::{Blocks, Logbook, Stage, State};
use surfaces::table::{Table, wrapped};

use super::tables::{Told, beside, metrics};
use super::{Experiment, conclusion, scaling, searched};
use crate::output::{counted, one_line};

/// Columns of the text.
const WIDTH: usize = 80;

/// Columns before a table.
const INDENT: usize = 2;

/// Trials that failed and are named.
const NAMED: usize = 4;

/// The whole text, with the picture in it.
pub(super) fn text(e: &Experiment<'_>, picture: &str) -> String {
    let command = one_line(&e.book.command.join(" "));
    let mut out = wrapped("experiment  ", &command, WIDTH);
    for line in facts(e) {
        out += &wrapped(&" ".repeat(12), &line, WIDTH);
    }
    for told in searched::table(e)
        .iter()
        .chain(&metrics(e))
        .chain(&beside(e))
    {
        out.push('\n');
        out += &one(told);
    }
    if e.book.scale {
        out.push('\n');
        out += &growth(&scaling::told(e));
    }
    if !picture.is_empty() {
        out.push('\n');
        out += picture;
    }
    out.push('\n');
    out + &wrapped("", &conclusion(e), WIDTH)
}

fn one(told: &Told) -> String {
    let mut out = wrapped("", &told.heading, WIDTH);
    out += &indented(&told.table);
    for note in &told.notes {
        out += &wrapped(&" ".repeat(INDENT), note, WIDTH);
    }
    out
}

fn indented(table: &Table) -> String {
    let text = table.render(WIDTH - INDENT);
    let lines = text.lines().map(|l| format!("{:INDENT$}{l}\n", ""));
    lines.collect()
}

fn growth(told: &scaling::Told) -> String {
    let mut out = told.table.as_ref().map_or_else(String::new, indented);
    for (label, text) in &told.lines {
        let width = if label.is_empty() { 0 } else { 8 };
        out += &wrapped(&format!("{label:<width$}"), text, WIDTH);
    }
    out
}

/// What ran, below the command: a line each.
pub(crate) fn facts(e: &Experiment<'_>) -> Vec<String> {
    let book = e.book;
    let blocks = match book.blocks {
        Blocks::Fixed(blocks) => format!("{} of {blocks} blocks", book.whole_blocks()),
        Blocks::Auto => counted(book.whole_blocks() as u64, "block"),
    };
    let mut lines = vec![format!(
        "{}, {blocks}, {} that count; seed {}",
        counted(book.arms.len() as u64, "arm"),
        counted(e.in_state(State::Done) as u64, "trial"),
        book.seed
    )];
    for factor in &book.factors {
        lines.push(format!("baseline: {} = {}", factor.name, factor.base));
    }
    lines.extend(searched::line(book));
    lines.extend(failures(book));
    lines.extend(book.ended.clone());
    lines.iter().map(|line| one_line(line)).collect()
}

/// What does not count.
fn failures(book: &Logbook) -> Vec<String> {
    let failed: Vec<_> = book
        .trials
        .iter()
        .filter(|t| t.stage == Stage::Block && t.state == State::Failed)
        .collect();
    let named = failed.iter().take(NAMED).map(|t| {
        format!(
            "failed, kept and not counted: {}: {}",
            t.run.display(),
            t.why
                .as_deref()
                .unwrap_or_default()
                .lines()
                .next()
                .unwrap_or_default()
        )
    });
    let mut lines: Vec<String> = named.collect();
    if failed.len() > NAMED {
        lines.push(format!("and {} more failed", failed.len() - NAMED));
    }
    lines
}
