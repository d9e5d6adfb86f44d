//! x
use super::Entry;
use crate::failure::Failure;
use clap::{ArgMatches, Command};
use std::process::ExitCode;
/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "plot",
    about: "x",
    arguments,
    run,
};
fn arguments(command: Command) -> Command {
    command
}
fn run(_: &ArgMatches) -> Result<ExitCode, Failure> {
    Ok(ExitCode::SUCCESS)
}
