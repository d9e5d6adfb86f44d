//! `sonde doctor`: what this host offers each source, and how to get more.

use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgMatches, Command};
use run::manifest::{Program, SourceState};
use serde_json::json;
use sources::{Availability, Detail, Host, Look, SOURCES};
use surfaces::table::wrapped;

use super::record::sampler::source_state;
use super::{Entry, flag};
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
    command
        .arg(flag("json", "As JSON"))
        .arg(flag("markdown", "The reference page of all sources"))
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    if matches.get_flag("markdown") {
        output::data(&markdown());
        return Ok(ExitCode::SUCCESS);
    }
    let host = Host {
        look: Look {
            detail: Detail::Events,
            events: ["disk", "net", "tcp", "nfs", "nfsd"]
                .map(str::to_owned)
                .to_vec(),
            with: SOURCES
                .iter()
                .filter_map(sources::Entry::only_with)
                .map(str::to_owned)
                .collect(),
            ..Look::default()
        },
        without_hooks: super::record::without_hooks(),
        ..Host::default()
    };
    let seen = look_at(&host);
    if matches.get_flag("json") {
        let list: Vec<_> = seen.iter().map(Seen::json).collect();
        output::data(&format!("{}\n", json!(list)));
        return Ok(ExitCode::SUCCESS);
    }
    let width = output::terminal_size()
        .map_or(80, |s| usize::from(s.0))
        .clamp(60, 100);
    let longest = seen.iter().map(|s| s.entry.name.len()).max();
    let column = longest.unwrap_or(0) + 1;
    let mut text = String::new();
    for Seen {
        entry,
        state,
        programs,
    } in &seen
    {
        let detail = match (state.state.as_str(), state.detail.as_str()) {
            (_, "") => entry.help.to_owned(),
            ("available", how) => format!("{how}: {}", entry.help),
            (_, why) => why.to_owned(),
        };
        let head = format!("{:<column$}{:<12}", entry.name, state.state);
        text += &wrapped(&head, &detail, width);
        for program in programs {
            let head = format!("  {:<21} ", program.hook);
            text += &wrapped(&head, &described(program), width);
        }
    }
    let there = seen.iter().filter(|s| s.state.state == "available").count();
    text += &format!("\n{there} of {} sources available.\n", seen.len());
    if !rustix::process::geteuid().is_root() {
        text += &wrapped("", WITHOUT_ROOT, width);
    }
    output::data(&text);
    Ok(ExitCode::SUCCESS)
}

/// A source, and what came of opening it.
struct Seen {
    entry: &'static sources::Entry,
    state: SourceState,
    programs: Vec<Program>,
}

impl Seen {
    fn json(&self) -> serde_json::Value {
        json!({
            "source": self.state.name, "state": self.state.state, "detail": self.state.detail,
            "observes": self.entry.help, "reads": self.entry.reads,
            "documentation": self.entry.link, "programs": self.programs,
        })
    }
}

/// How long programs in the kernel are measured.
const MEASURED: Duration = Duration::from_millis(300);

/// Opens every source, and lets the programs run for a moment.
fn look_at(host: &Host) -> Vec<Seen> {
    let mut opened: Vec<_> = SOURCES
        .iter()
        .map(|entry| match (entry.open)(host) {
            Ok(source) => (entry, Some(source), Availability::Available),
            Err(why) => (entry, None, why),
        })
        .collect();
    let is_there = |(entry, source, _): &(&sources::Entry, Option<_>, _)| {
        entry.detail > Detail::Samples && source.is_some()
    };
    if opened.iter().any(is_there) {
        let _measuring = sources::bpf::measure();
        std::thread::sleep(MEASURED);
    }
    opened
        .iter_mut()
        .map(|(entry, source, availability)| {
            let mut state = source_state(entry.name, availability);
            if let (Availability::Available, Some(subject)) = (&availability, entry.only_with()) {
                state.detail = format!("with --with {subject}");
            }
            let programs = source
                .as_mut()
                .map(|s| s.measured(MEASURED.as_secs_f64()))
                .unwrap_or_default();
            Seen {
                entry,
                state,
                programs,
            }
        })
        .collect()
}

/// What became of a program, in a line.
fn described(program: &Program) -> String {
    let mut text = program.state.clone();
    if !program.detail.is_empty() {
        text += &format!(": {}", program.detail);
    }
    if program.hits > 0 {
        let per_hit = program.time_seconds / program.hits as f64 * 1e9;
        let rate = program.hits as f64 / program.measured_seconds.max(1e-3);
        text += &format!(", {per_hit:.0} ns a time, {rate:.0} times a second");
    }
    if program.missed > 0 {
        text += &format!(", {} missed", program.missed);
    }
    text
}

/// What the states of the sources do not tell, because each gives the rest.
const WITHOUT_ROOT: &str = "You are not root: the disk bytes of other users' processes are not \
     known then, nor settings that only root may read. To see more: sudo sonde doctor";

/// `docs/reference/sources.md`.
fn markdown() -> String {
    let mut text = String::from(
        "# Sources\n\nGenerated by `sonde doctor --markdown` from `SOURCES` in \
         `crates/sources/src/lib.rs`; do not edit. `sonde doctor` tells what this host offers \
         each.\n\n| source | observes | reads | tables |\n| --- | --- | --- | --- |\n",
    );
    for entry in SOURCES {
        let tables: Vec<&str> = run::catalog::tables()
            .filter(|(_, t)| t.source == entry.name)
            .map(|(_, t)| t.name)
            .collect();
        text += &format!(
            "| `{}` | {} | [{}]({}) | {} |\n",
            entry.name,
            entry.help,
            entry.reads,
            entry.link,
            tables.join(", "),
        );
    }
    text + "\nThe table `self` is filled by the recorder.\n"
}
