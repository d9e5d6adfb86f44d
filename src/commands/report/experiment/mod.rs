//! An experiment to hand on: what `sonde show` says of it, with its picture and its trials.

mod figures;
mod sections;

use std::path::Path;
use std::process::ExitCode;

use clap::ArgMatches;
use lab::experiment::Logbook;
use surfaces::report::document::{self, Document};
use surfaces::report::{figures as columns, sheet};

use super::pictures::Beside;
use super::{Files, drawing, save};
use crate::commands::experiment::{Experiment, json};
use crate::failure::Failure;
use crate::output;

/// What a report of an experiment is made of.
pub(super) struct Tried<'e> {
    experiment: &'e Experiment<'e>,
    dir: &'e Path,
    document: &'e Document,
    path: &'e Path,
}

/// Writes the report of the experiment in `dir`.
pub(super) fn report(
    dir: &Path,
    matches: &ArgMatches,
    path: &Path,
    files: fn(&Tried<'_>) -> Result<Files, Failure>,
) -> Result<ExitCode, Failure> {
    let book = Logbook::open(dir).map_err(Failure::input)?;
    for option in ["worksheet", "expr"] {
        if matches.contains_id(option) {
            return Err(of_a_run(option, dir, &book));
        }
    }
    let experiment = Experiment::of(&book, Some(dir));
    let tried = Tried {
        experiment: &experiment,
        dir,
        document: &sections::document(&experiment, dir),
        path,
    };
    save(&files(&tried)?)?;
    Ok(ExitCode::SUCCESS)
}

/// An experiment has no rows of its own to ask.
fn of_a_run(option: &str, dir: &Path, book: &Logbook) -> Failure {
    let trial = book.trials.last();
    let example = trial.map_or_else(|| dir.join("trials"), |t| dir.join(&t.run));
    Failure::input(format!(
        "--{option} is for a run, and {} is an experiment\nhint: its trials are runs: sonde report {} --{option} …",
        dir.display(),
        output::shell_word(&example.display().to_string())
    ))
}

impl Tried<'_> {
    fn only(&self, bytes: Vec<u8>) -> Files {
        vec![(self.path.to_owned(), bytes)]
    }

    pub(super) fn page(&self) -> Result<Files, Failure> {
        let text = document::page::text(self.document);
        Ok(self.only(text.into_bytes()))
    }

    pub(super) fn mail(&self) -> Result<Files, Failure> {
        let bytes = document::mail::bytes(self.document).map_err(|e| drawing(&e))?;
        Ok(self.only(bytes))
    }

    pub(super) fn sheet(&self) -> Result<Files, Failure> {
        let sheets = figures::sheets(self.experiment);
        let bytes = sheet::of_figures(self.document, &sheets).map_err(Failure::work)?;
        Ok(self.only(bytes))
    }

    pub(super) fn markdown(&self) -> Result<Files, Failure> {
        let beside = Beside::of(self.path);
        let pictures = self.document.pictures().map_err(|e| drawing(&e))?;
        let text = document::markdown::text(self.document, &|place| beside.target(place));
        beside.files(text, pictures)
    }

    pub(super) fn values(&self) -> Result<Files, Failure> {
        let text = columns::csv(&figures::all(self.experiment));
        Ok(self.only(text.into_bytes()))
    }

    pub(super) fn json(&self) -> Result<Files, Failure> {
        Ok(self.only(json(self.experiment, self.dir).into_bytes()))
    }
}
