//! x
use std::process::ExitCode;
use clap::{ArgMatches, Command};
use super::Entry;
use crate::failure::Failure;
/// The command.
pub(crate) const ENTRY: Entry = Entry { name: "plot", about: "x", arguments, run };
fn arguments(command: Command) -> Command { command }
fn run(_: &ArgMatches) -> Result<ExitCode, Failure> { Ok(ExitCode::SUCCESS) }
