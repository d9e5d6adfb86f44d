//! `sonde mark NAME`: the phase that starts now in the run being recorded.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command};

use super::Entry;
use super::record::marks;
use crate::failure::Failure;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "mark",
    about: "Name the phase that starts now, from inside the recorded command",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    let name = Arg::new("name")
        .value_name("NAME")
        .required(true)
        .help("Name of the phase: warm-up, steady");
    command.arg(name).after_help(
        "The recorder takes a sample at this moment, and the command returns after it:\n\
         no interval is in two phases. A phase lasts until the next mark.\n\
         Ask for it with `where phase = NAME` or `by phase`.",
    )
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let name = matches.get_one::<String>("name").expect("required");
    if name.trim().is_empty() || name.len() > marks::LONGEST_NAME {
        let most = marks::LONGEST_NAME;
        return Err(Failure::input(format!(
            "a phase's name has 1 to {most} bytes"
        )));
    }
    let Some(dir) = std::env::var_os(marks::VARIABLE) else {
        return Err(Failure::input(format!(
            "no recording here: {} is not set\nhint: use it inside `sonde record -- CMD`",
            marks::VARIABLE
        )));
    };
    let gone = |e: std::io::Error| {
        let dir = Path::new(&dir).display();
        let hint = match e.kind() {
            std::io::ErrorKind::PermissionDenied => {
                "\nhint: a phase is marked by the user who records, or by root"
            }
            _ => "",
        };
        Failure::input(format!("the recording in {dir} does not answer: {e}{hint}"))
    };
    let mut stream = marks::connect(Path::new(&dir)).map_err(gone)?;
    ask(&mut stream, name).map_err(gone)?;
    Ok(ExitCode::SUCCESS)
}

/// Sends the name and waits until the recorder has taken its sample.
fn ask(stream: &mut UnixStream, name: &str) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(name.as_bytes())?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer == marks::DONE {
        Ok(())
    } else {
        Err(std::io::Error::other("it ended"))
    }
}
