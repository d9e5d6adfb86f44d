//! The command table. To add a command: a file here and a line in [`COMMANDS`].

mod catalog;
mod compare;
mod completion;
mod doctor;
mod experiment;
mod formats;
mod get;
mod import;
mod knobs;
mod list;
mod man;
mod mark;
mod picture;
mod plot;
mod record;
mod report;
mod show;
mod try_;
mod view;

use std::process::ExitCode;

use clap::{ArgMatches, Command};

use crate::failure::Failure;

/// A command of the product.
pub(crate) struct Entry {
    /// The word on the command line.
    pub(crate) name: &'static str,
    /// One line of help.
    pub(crate) about: &'static str,
    /// Adds its arguments.
    pub(crate) arguments: fn(Command) -> Command,
    /// Does it.
    pub(crate) run: fn(&ArgMatches) -> Result<ExitCode, Failure>,
}

/// Every command, in the order of the help.
pub(crate) const COMMANDS: &[Entry] = &[
    record::ENTRY,
    mark::ENTRY,
    import::ENTRY,
    show::ENTRY,
    get::ENTRY,
    plot::ENTRY,
    view::ENTRY,
    report::ENTRY,
    compare::ENTRY,
    try_::ENTRY,
    list::ENTRY,
    catalog::ENTRY,
    formats::ENTRY,
    knobs::ENTRY,
    doctor::ENTRY,
    man::ENTRY,
    completion::ENTRY,
];

/// An option that is given or not: `--json`.
pub(crate) fn flag(name: &'static str, help: &'static str) -> clap::Arg {
    clap::Arg::new(name)
        .long(name)
        .action(clap::ArgAction::SetTrue)
        .help(help)
}

/// An option with a value: `--every TIME`.
pub(crate) fn option(name: &'static str, value: &'static str, help: &'static str) -> clap::Arg {
    clap::Arg::new(name).long(name).value_name(value).help(help)
}

/// The RUN argument that several commands take.
pub(crate) fn run_argument() -> clap::Arg {
    clap::Arg::new("run")
        .value_name("RUN")
        .required(true)
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(clap::ValueHint::DirPath)
        .help("Directory of the run")
}

/// Opens the run named by [`run_argument`].
pub(crate) fn open_run(matches: &ArgMatches) -> Result<run::Run, Failure> {
    let run = opened(matches)?;
    if let Some(text) = run.damage() {
        crate::output::message(&text);
    }
    Ok(run)
}

/// The same, for who tells himself what of it is damaged.
pub(crate) fn opened(matches: &ArgMatches) -> Result<run::Run, Failure> {
    let path = matches
        .get_one::<std::path::PathBuf>("run")
        .expect("required");
    if let Some(failure) = experiment::an_experiment(path) {
        return Err(failure);
    }
    Ok(run::Run::open(path)?)
}

/// The value of a length-of-time argument, in seconds.
pub(crate) fn duration(matches: &ArgMatches, name: &str) -> Result<Option<f64>, Failure> {
    let Some(text) = matches.get_one::<String>(name) else {
        return Ok(None);
    };
    let seconds = run::unit::parse_duration(text).map_err(|e| {
        Failure::input(format!(
            "--{name} {text}: {e}\nhint: for example 500ms, 1s, 5m"
        ))
    })?;
    Ok(Some(seconds))
}
