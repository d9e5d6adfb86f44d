//! The binary: flags and wiring. One file a command, below `commands/`.

mod cli;
mod clock;
mod commands;
mod failure;
mod memory;
mod output;
mod recovery;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == lab::GUARDIAN) {
        return recovery::guard(&arguments.collect::<Vec<_>>());
    }
    let matches = match cli::command().try_get_matches() {
        Ok(matches) => matches,
        Err(e) => return cli::complain(&e),
    };
    let Some((name, arguments)) = matches.subcommand() else {
        return ExitCode::from(2);
    };
    let Some(command) = commands::COMMANDS.iter().find(|c| c.name == name) else {
        return ExitCode::from(2);
    };
    // What a recorder takes is part of its reading.
    if command.name != "record" {
        memory::keep();
    }
    recovery::at_start();
    match (command.run)(arguments) {
        Ok(code) => code,
        Err(failure) => {
            output::message(&failure.text);
            ExitCode::from(failure.code)
        }
    }
}
