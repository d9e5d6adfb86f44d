//! `sonde man`: the manual page, made from the command table.

use std::process::ExitCode;

use clap::{ArgMatches, Command};

use super::Entry;
use crate::failure::Failure;
use crate::output;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "man",
    about: "Print the manual page (pipe it to `man -l -`)",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    command
}

fn run(_: &ArgMatches) -> Result<ExitCode, Failure> {
    output::data(&page()?);
    Ok(ExitCode::SUCCESS)
}

/// One page with all commands, in roff.
fn page() -> Result<String, Failure> {
    let mut command = crate::cli::command();
    command.build();
    let mut roff = Vec::new();
    let wrong = |e: std::io::Error| Failure::work(format!("making the manual page: {e}"));
    clap_mangen::Man::new(command.clone())
        .render(&mut roff)
        .map_err(wrong)?;
    for sub in command.get_subcommands() {
        roff.extend_from_slice(
            format!(".SH \"SONDE {}\"\n", sub.get_name().to_uppercase()).as_bytes(),
        );
        let man = clap_mangen::Man::new(sub.clone());
        man.render_synopsis_section(&mut roff).map_err(wrong)?;
        man.render_description_section(&mut roff).map_err(wrong)?;
        man.render_options_section(&mut roff).map_err(wrong)?;
    }
    String::from_utf8(roff).map_err(|e| Failure::work(e.to_string()))
}
