//! The binary: flags and wiring. One file a command, below `commands/`.

mod cli;
mod clock;
mod commands;
mod failure;
mod memory;
mod output;

use std::process::ExitCode;

fn main() -> ExitCode {
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
    match (command.run)(arguments) {
        Ok(code) => code,
        Err(failure) => {
            output::message(&failure.text);
            ExitCode::from(failure.code)
        }
    }
}
