//! What is told of an experiment, in the order of reading: what it comes to, what ran, the
//! numbers, the picture, what was asked, and every trial.

use std::path::Path;

use lab::experiment::{Kind, Logbook};
use surfaces::part::Part;
use surfaces::report::document::{Document, Section};
use surfaces::scatter::Scatter;

use crate::clock;
use crate::commands::experiment::{
    Experiment, beside, conclusion, facts, growth, metrics, scatter_of, searched_values, trials,
};
use crate::commands::try_::plan;
use crate::output::one_line;

/// The whole.
pub(super) fn document(e: &Experiment<'_>, dir: &Path) -> Document {
    let command = one_line(&e.book.command.join(" "));
    let mut sections = vec![Section::new("What ran", ran(e, dir))];
    for told in searched_values(e).into_iter().chain(metrics(e)) {
        sections.push(section(told.heading, told.table, told.notes));
    }
    sections.push(picture(e));
    if e.book.scale {
        let told = growth(e);
        let table = told.table.map(Part::Table);
        let lines = told
            .lines
            .into_iter()
            .map(|(label, text)| labelled(label, text));
        let parts = table.into_iter().chain(lines).collect();
        sections.push(Section::new("How work grows", parts));
    }
    if let Some(told) = beside(e) {
        let heading = capital(&told.heading);
        sections.push(section(heading, told.table, told.notes));
    }
    sections.push(Section::new("What was asked", asked(e.book, &command)));
    let place = format!(
        "Each is a run, in {}.",
        one_line(&dir.display().to_string())
    );
    let parts = vec![Part::Table(trials(e)), Part::Line(place)];
    sections.push(Section::new("Trials", parts));
    Document {
        title: format!("Experiment: {command}"),
        answer: conclusion(e),
        sections,
        started: run::manifest::parse_rfc3339(&e.book.started).unwrap_or_default(),
        made: clock::wall(),
    }
}

fn section(heading: String, table: surfaces::table::Table, notes: Vec<String>) -> Section {
    let notes = notes.into_iter().map(Part::Line);
    Section::new(
        heading,
        std::iter::once(Part::Table(table)).chain(notes).collect(),
    )
}

/// An entry; without a label a line.
fn labelled(label: &str, text: String) -> Part {
    if label.is_empty() {
        Part::Line(text)
    } else {
        Part::entry(label, text)
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// The picture that `show` draws; the heading says what it is of.
fn picture(e: &Experiment<'_>) -> Section {
    let picture = scatter_of(e).map(|picture| Scatter {
        title: String::new(),
        ..picture
    });
    let parts = match &picture {
        Some(_) => vec![],
        None => vec![Part::Line("Nothing to draw: no trial counts.".to_owned())],
    };
    Section {
        picture,
        ..Section::new(
            if e.book.scale {
                "Work by what is done at once"
            } else {
                "The arms"
            },
            parts,
        )
    }
}

/// What ran, where and when, and in which state it left the machine.
fn ran(e: &Experiment<'_>, dir: &Path) -> Vec<Part> {
    let mut parts = Vec::new();
    for (place, line) in facts(e).into_iter().enumerate() {
        parts.push(Part::entry(if place == 0 { "trials" } else { "" }, line));
    }
    let began = e.book.started.get(..16).unwrap_or(&e.book.started);
    let began = one_line(&began.replace('T', " "));
    let host = one_line(&e.book.host);
    let version = one_line(&e.book.sonde);
    parts.push(Part::entry(
        "machine",
        format!("{host}, {began} UTC, sonde {version}"),
    ));
    let place = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    parts.push(Part::entry(
        "directory",
        one_line(&place.display().to_string()),
    ));
    let restored = restored(e.book);
    parts.extend(restored.into_iter().enumerate().map(|(place, line)| {
        Part::entry(if place == 0 { "settings" } else { "" }, one_line(&line))
    }));
    parts
}

/// What became of the settings.
fn restored(book: &Logbook) -> Vec<String> {
    if book.factors.iter().all(|f| f.kind == Kind::Parameter) {
        return vec!["none was changed".to_owned()];
    }
    match &book.restored {
        Some(complaint) if !complaint.is_empty() => complaint.clone(),
        Some(_) => vec!["put back to what they were before the first trial".to_owned()],
        None => vec![
            "not known to be put back: it is still running, it was killed, or an older sonde \
             made it; `sonde try --recover` puts back what a killed experiment left"
                .to_owned(),
        ],
    }
}

/// The plan, and how to read what came of it.
fn asked(book: &Logbook, command: &str) -> Vec<Part> {
    let mut parts = vec![Part::entry("command", command)];
    let mut before = "";
    for (label, text) in plan::lines(book) {
        let shown = if label == before { "" } else { label };
        parts.push(Part::entry(shown, one_line(&text)));
        before = label;
    }
    if !book.record.is_empty() {
        parts.push(Part::entry("record", one_line(&book.record.join(" "))));
    }
    parts.push(Part::Line(
        "The ratio is how many times the baseline an arm is, 95 % where the true ratio lies, p \
         the chance of such a difference if there were none, adjusted for all questions asked \
         at once. Equivalent: surely too small a difference to matter. Undecided is not the same."
            .to_owned(),
    ));
    parts
}
