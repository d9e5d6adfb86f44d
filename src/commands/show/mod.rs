//! `sonde show RUN`: one screen on what happened and what stands out; or what an experiment
//! says.

mod found;
mod gather;
mod imported;
mod screen;
mod subjects;
mod told;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use lab::experiment::Logbook;

use super::{Entry, experiment, flag, opened, picture, run_argument};
use crate::failure::Failure;
use crate::output;

pub(crate) use gather::{Summary, json as summary_json, summary};
pub(crate) use screen::parts;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "show",
    about: "One screen: what happened, what stands out",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    command
        .arg(run_argument().help("Directory of the run, or of an experiment (`sonde try`)"))
        .arg(flag("json", "As JSON"))
        .arg(picture::file_argument(
            "Of an experiment: write its picture as FILE.png or FILE.svg",
        ))
        .arg(picture::size_argument(
            "Pixels of the picture [default: 1200x600]",
        ))
        .arg(flag("all", "All findings, not only those that matter most"))
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let path = matches.get_one::<PathBuf>("run").expect("required");
    if Logbook::is_in(path) {
        return show_experiment(path, matches);
    }
    if matches.contains_id("output") {
        return Err(Failure::input(
            "-o is for the picture of an experiment\nhint: a run is drawn by `sonde plot RUN EXPR -o FILE`",
        ));
    }
    let run = opened(matches)?;
    let mut summary = gather::summary(&run);
    match run.missing() {
        Some(missing) if missing.is_damage => summary.problems.insert(0, missing.text),
        Some(missing) => output::message(&missing.text),
        None => {}
    }
    if matches.get_flag("json") {
        output::data(&format!("{:#}\n", gather::json(&run, &summary)));
    } else {
        output::data(&screen::render(&run, &summary, matches.get_flag("all")));
    }
    for problem in &summary.problems {
        output::message(problem);
    }
    Ok(ExitCode::from(u8::from(!summary.problems.is_empty())))
}

/// What an experiment says, as at its end.
fn show_experiment(dir: &Path, matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let file = picture::File::of(matches)?;
    let book = Logbook::open(dir).map_err(Failure::input)?;
    let result = experiment::Experiment::of(&book, Some(dir));
    if let Some(file) = file {
        experiment::write_picture(&result, &file)?;
    } else if matches.get_flag("json") {
        output::data(&experiment::json(&result, dir));
    } else {
        output::data(&experiment::shown(&result));
    }
    Ok(ExitCode::SUCCESS)
}
