//! `sonde completion SHELL`: completion scripts, made from the command table.

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use super::Entry;
use crate::failure::Failure;
use crate::output;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "completion",
    about: "Print completion for a shell",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    let shell = Arg::new("shell")
        .value_name("SHELL")
        .required(true)
        .value_parser(value_parser!(Shell))
        .help("For bash: sonde completion bash > /etc/bash_completion.d/sonde");
    command.arg(shell)
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let shell = *matches.get_one::<Shell>("shell").expect("required");
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::cli::command(), "sonde", &mut script);
    output::data(&String::from_utf8_lossy(&script));
    Ok(ExitCode::SUCCESS)
}
