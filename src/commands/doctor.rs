//! `sonde doctor`: what this host offers each source, and how to get more.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use sources::{Availability, Host, SOURCES};

use super::Entry;
use super::record::sampler::source_state;
use crate::failure::Failure;
use crate::output;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "doctor",
    about: "What this host lets Sonde see, and how to see more",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    command.arg(
        Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .help("As JSON"),
    )
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let host = Host::default();
    let states: Vec<_> = SOURCES
        .iter()
        .map(|entry| {
            let availability = match (entry.open)(&host) {
                Ok(_) => Availability::Available,
                Err(why) => why,
            };
            (entry, source_state(entry.name, &availability))
        })
        .collect();
    if matches.get_flag("json") {
        let list: Vec<_> = states
            .iter()
            .map(|(entry, s)| {
                json!({
                    "source": s.name, "state": s.state, "detail": s.detail,
                    "observes": entry.help, "reads": entry.reads, "documentation": entry.link,
                })
            })
            .collect();
        output::data(&format!("{}\n", json!(list)));
        return Ok(ExitCode::SUCCESS);
    }
    let width = output::terminal_size()
        .map_or(100, |s| usize::from(s.0))
        .clamp(60, 120);
    let mut text = String::new();
    for (entry, state) in &states {
        let detail = if state.detail.is_empty() {
            entry.help
        } else {
            &state.detail
        };
        let head = format!("{:<12}{:<12}", entry.name, state.state);
        text += &wrapped(&head, detail, width);
    }
    let missing = states
        .iter()
        .filter(|(_, s)| s.state != "available")
        .count();
    let there = states.len() - missing;
    text += &format!("\n{there} of {} sources available.\n", states.len());
    output::data(&text);
    Ok(ExitCode::SUCCESS)
}

/// `detail` after `head`, its further lines indented below it.
fn wrapped(head: &str, detail: &str, width: usize) -> String {
    let indent = head.chars().count();
    let mut text = head.to_owned();
    let mut at = indent;
    for word in detail.split_whitespace() {
        let length = word.chars().count();
        if at > indent && at + 1 + length > width {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            at = indent;
        }
        if at > indent {
            text.push(' ');
            at += 1;
        }
        text.push_str(word);
        at += length;
    }
    text.push('\n');
    text
}
