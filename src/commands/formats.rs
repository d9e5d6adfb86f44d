//! `sonde formats`: what can be imported, and the reference page made from the same list.

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use formats::{FORMATS, Format};
use surfaces::table::wrapped;

use super::{Entry, flag};
use crate::failure::Failure;
use crate::output;

/// Columns of the lists.
const WIDTH: usize = 80;

/// All formats, by tool and name.
fn sorted() -> Vec<&'static Format> {
    let mut all: Vec<&Format> = FORMATS.iter().collect();
    all.sort_by_key(|f| (f.tool, f.name));
    all
}

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "formats",
    about: "List what can be imported, and how it is recognised",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    command
        .arg(
            Arg::new("format")
                .value_name("FORMAT")
                .help("Only this format or tool, with an example"),
        )
        .arg(flag("markdown", "The reference page"))
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    if matches.get_flag("markdown") {
        output::data(&markdown());
        return Ok(ExitCode::SUCCESS);
    }
    let Some(name) = matches.get_one::<String>("format") else {
        output::data(&sorted().into_iter().map(overview).collect::<String>());
        return Ok(ExitCode::SUCCESS);
    };
    let found: Vec<&Format> = sorted()
        .into_iter()
        .filter(|f| f.name == name || f.tool == name)
        .collect();
    if found.is_empty() {
        let near = analysis::error::near_or_all(name, super::import::names().into_iter());
        return Err(Failure::input(format!(
            "there is no format `{name}`\nhint: {near}"
        )));
    }
    output::data(&found.into_iter().map(details).collect::<String>());
    Ok(ExitCode::SUCCESS)
}

fn overview(f: &Format) -> String {
    wrapped(
        &format!("{:<22}", f.name),
        &format!("{} ({})", f.help, f.systems),
        WIDTH,
    )
}

fn details(f: &Format) -> String {
    let mut text = overview(f);
    text += &wrapped("  recognised by  ", f.recognised, WIDTH);
    text += &wrapped("  yields         ", &yields(f), WIDTH);
    text += "  example:\n";
    for line in f.example.lines() {
        let _ = writeln!(text, "    {line}");
    }
    text + "\n"
}

/// Tables of the catalog, or that it has no place there.
fn yields(f: &Format) -> String {
    match f.yields {
        [] => "other only".to_owned(),
        tables => tables.join(", "),
    }
}

fn markdown() -> String {
    let mut text = String::from(
        "# What can be imported\n\n\
         Made by `sonde formats --markdown` from the list of formats. Columns without a place in\n\
         the catalog are kept as `other.<tool>.<column>`; first reports that are means since boot\n\
         as `since_boot`.\n",
    );
    for f in sorted() {
        let _ = write!(
            text,
            "\n## {}\n\n{}. Systems: {}. Recognised by {}. Yields: {}.\n\n```text\n{}```\n",
            f.name,
            f.help,
            f.systems,
            f.recognised,
            yields(f),
            f.example
        );
    }
    text
}
