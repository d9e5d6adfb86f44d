//! `sonde show RUN`: one screen on what happened and what stands out.

mod found;
mod gather;
mod screen;

use std::process::ExitCode;

use clap::{ArgMatches, Command};

use super::{Entry, flag, open_run, run_argument};
use crate::failure::Failure;
use crate::output;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "show",
    about: "One screen: what happened, what stands out",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    command
        .arg(run_argument())
        .arg(flag("json", "As JSON"))
        .arg(flag("all", "All findings, not only those that matter most"))
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let run = open_run(matches)?;
    let summary = gather::summary(&run);
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
