//! The command line, built from the command table.

use std::process::ExitCode;

use clap::Command;
use clap::error::ErrorKind;

use crate::commands::COMMANDS;
use crate::output;

/// The whole command line; help, man page and completion come from it.
pub(crate) fn command() -> Command {
    let mut command = Command::new("sonde")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Record a machine, see where the time went")
        .long_about(
            "A performance lab in one binary: records what a machine did, answers \
             expressions such as `disk.bytes by op where device = vda`, and draws them.",
        )
        .after_help(
            "Start with:  sonde record -- CMD     then:  sonde show RUN\n\
             The language of expressions:  sonde catalog --help",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .term_width(terminal_width());
    for entry in COMMANDS {
        command = command.subcommand((entry.arguments)(
            Command::new(entry.name).about(entry.about),
        ));
    }
    command
}

/// Prints what clap has to say: help to stdout with status 0, a mistake to stderr with 2.
pub(crate) fn complain(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        output::data(&error.render().to_string());
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    let mut text = text.trim_end().trim_start_matches("error: ").to_owned();
    if error.kind() == ErrorKind::UnknownArgument && text.contains("Usage: sonde record") {
        text += "\nhint: the command goes after --, as in: sonde record -- fio job.fio";
    }
    output::message(&text);
    ExitCode::from(2)
}

/// Columns of the help: the terminal's, up to what still reads well.
fn terminal_width() -> usize {
    output::terminal_size().map_or(80, |(columns, _)| usize::from(columns).min(100))
}
