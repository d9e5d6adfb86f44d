//! `sonde list [DIR]`: the runs of a directory with their headline numbers, its experiments with
//! their verdicts; of an experiment, its trials.

mod experiments;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use analysis::evaluate;
use clap::{Arg, ArgMatches, Command, value_parser};
use lab::experiment::Logbook;
use run::Run;
use run::unit::amount;
use serde_json::json;
use surfaces::table::{Align, Table};

use super::record::progress::clock_text;
use super::{Entry, flag};
use crate::failure::Failure;
use crate::output;
use experiments::Listed;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "list",
    about: "Runs and experiments of a directory, with their headline numbers",
    arguments,
    run,
};

/// A headline: its name and the expression behind it.
const HEADLINES: [(&str, &str); 3] = [
    ("cpu", "cpu.utilisation"),
    ("disk", "disk.bytes"),
    ("net", "net.bytes"),
];

fn arguments(command: Command) -> Command {
    command
        .arg(
            Arg::new("dir")
                .value_name("DIR")
                .default_value(".")
                .value_parser(value_parser!(PathBuf))
                .value_hint(clap::ValueHint::DirPath)
                .help("Directory to look in, or an experiment: its trials are listed"),
        )
        .arg(flag("json", "As JSON"))
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let dir = matches.get_one::<PathBuf>("dir").expect("has a default");
    let mut found = Found::default();
    if Logbook::is_in(dir) {
        found.experiments.push(Listed::open(dir)?);
        // An experiment that was just begun has none.
        found.look(&dir.join("trials")).ok();
    } else {
        found.look(dir)?;
    }
    found.runs.sort_by_key(|r| r.manifest.started);
    found.experiments.sort_by(Listed::by_start);
    for run in &found.runs {
        found.bad.extend(damaged(run));
    }
    if matches.get_flag("json") {
        let experiments = found.experiments.iter().map(Listed::json);
        let list: Vec<_> = experiments.chain(found.runs.iter().map(json_of)).collect();
        output::data(&format!("{}\n", json!(list)));
    } else {
        found.tell(dir);
    }
    for problem in &found.bad {
        output::message(problem);
    }
    Ok(ExitCode::from(u8::from(!found.bad.is_empty())))
}

/// What is in a directory.
#[derive(Default)]
struct Found {
    runs: Vec<Run>,
    experiments: Vec<Listed>,
    /// What is wrong with those that do not open.
    bad: Vec<String>,
}

impl Found {
    /// Adds what is in `dir`.
    fn look(&mut self, dir: &Path) -> Result<(), Failure> {
        let entries = std::fs::read_dir(dir)
            .map_err(|e| Failure::input(format!("cannot read {}: {e}", dir.display())))?;
        for entry in entries.flatten() {
            let path = entry.path();
            let shown = path.strip_prefix("./").unwrap_or(&path);
            if path.join("run.json").is_file() {
                match Run::open(shown) {
                    Ok(run) => self.runs.push(run),
                    Err(e) => self.bad.push(e.to_string()),
                }
            } else if Logbook::is_in(&path) {
                match Listed::open(shown) {
                    Ok(one) => self.experiments.push(one),
                    Err(e) => self.bad.push(e.text),
                }
            }
        }
        Ok(())
    }

    fn tell(&self, dir: &Path) {
        if self.runs.is_empty() && self.experiments.is_empty() {
            output::message(&format!("no runs in {}", dir.display()));
            return;
        }
        let width = usize::from(output::terminal_size().map_or(200, |s| s.0));
        let mut text = String::new();
        if !self.experiments.is_empty() {
            text += &experiments::text(&self.experiments, width);
        }
        if !self.runs.is_empty() {
            text += if text.is_empty() { "" } else { "\n" };
            let state = |run: &Run| self.experiments.first()?.state_of(run.path());
            text += &table_of(&self.runs, width, &state);
        }
        output::data(&text);
    }
}

/// Seconds from start to end.
pub(crate) fn length(run: &Run) -> f64 {
    (run.ended() - run.manifest.started) as f64 / 1e9
}

/// The mean of a headline's expression; NaN where the run does not have it.
fn headline(run: &Run, expression: &str) -> f64 {
    let answer = evaluate(run, expression).ok();
    answer
        .and_then(|a| a.groups.first().map(|g| g.mean))
        .unwrap_or(f64::NAN)
}

/// What of a run's headlines cannot be read.
fn damaged(run: &Run) -> Vec<String> {
    let asked = HEADLINES
        .iter()
        .map(|(_, expression)| evaluate(run, expression));
    let found = asked.filter_map(|answer| match answer {
        Err(why @ analysis::Error::Read(_)) => Some(why.to_string()),
        _ => None,
    });
    found.collect()
}

fn json_of(run: &Run) -> serde_json::Value {
    let mut object = json!({
        "run": run.path().display().to_string(),
        "name": run.manifest.name,
        "host": run.manifest.host,
        "started": run::manifest::rfc3339(run.manifest.started),
        "seconds": length(run),
        "end": run.ending(),
    });
    for (_, expression) in HEADLINES {
        object[expression] = json!(headline(run, expression));
    }
    object
}

/// What a run is among the trials of an experiment, if it is one.
type State<'s> = &'s dyn Fn(&Run) -> Option<&'static str>;

/// As wide as the terminal. What other commands take is the run: its name is left out before that
/// is shortened. Trials of an experiment, which have one name, have their states instead.
fn table_of(runs: &[Run], width: usize, state: State<'_>) -> String {
    let trials = runs.iter().any(|r| state(r).is_some());
    let second = |run: &Run| {
        if trials {
            state(run).unwrap_or("-").to_owned()
        } else {
            output::one_line(&run.manifest.name)
        }
    };
    let heading = if trials { "state" } else { "name" };
    // Each row is answered from its run, once.
    let rows: Vec<Vec<String>> = runs.iter().map(|run| row_of(run, second(run))).collect();
    let ways: &[(Option<&str>, Align)] = if trials {
        &[(Some(heading), Align::Words), (Some(heading), Align::Left)]
    } else {
        &[
            (Some(heading), Align::Words),
            (None, Align::Words),
            (Some(heading), Align::Left),
            (None, Align::Left),
        ]
    };
    let mut text = String::new();
    for (heading, run) in ways {
        text = table_with(&rows, *heading, *run).render(width);
        if text.lines().all(|line| line.chars().count() <= width) {
            break;
        }
    }
    text
}

/// `heading` is of the second column, which is left out without; `run` is how the runs stand:
/// shortened or not.
fn table_with(rows: &[Vec<String>], heading: Option<&str>, run: Align) -> Table {
    let mut table = Table::new();
    table.column("run", run);
    if let Some(heading) = heading {
        table.column(heading, Align::Left);
    }
    for name in ["started (UTC)", "length", "end"]
        .into_iter()
        .chain(HEADLINES.map(|h| h.0))
    {
        table.column(name, Align::Right);
    }
    for row in rows {
        let mut row = row.clone();
        if heading.is_none() {
            row.remove(1);
        }
        table.row(row);
    }
    table
}

/// The texts of a run, its second column among them.
fn row_of(run: &Run, second: String) -> Vec<String> {
    let mut row = vec![
        output::one_line(&run.path().display().to_string()),
        second,
        started(run),
        clock_text(length(run)),
        run.ending(),
    ];
    for (_, expression) in HEADLINES {
        let answer = evaluate(run, expression).ok();
        let shown = answer.as_ref().and_then(|a| {
            a.groups
                .first()
                .map(|g| amount(g.mean, a.unit, a.is_rate()))
        });
        row.push(shown.unwrap_or_else(|| "-".into()));
    }
    row
}

/// When a run began, if its times are dates.
fn started(run: &Run) -> String {
    if run.manifest.is_dated() {
        minute(&run::manifest::rfc3339(run.manifest.started))
    } else {
        "-".into()
    }
}

/// A time to the minute.
fn minute(rfc3339: &str) -> String {
    let time = rfc3339.get(..16).unwrap_or(rfc3339);
    time.replace('T', " ")
}
