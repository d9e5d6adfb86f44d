//! `sonde list [DIR]`: the runs of a directory with their headline numbers.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use analysis::evaluate;
use clap::{Arg, ArgMatches, Command, value_parser};
use run::Run;
use run::unit::amount;
use serde_json::json;
use surfaces::table::{Align, Table};

use super::record::progress::clock_text;
use super::{Entry, flag};
use crate::failure::Failure;
use crate::output;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "list",
    about: "Runs of a directory, with their headline numbers",
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
                .help("Directory to look in"),
        )
        .arg(flag("json", "As JSON"))
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let dir = matches.get_one::<PathBuf>("dir").expect("has a default");
    let (mut runs, bad) = runs_of(dir)?;
    runs.sort_by_key(|r| r.manifest.started);
    if matches.get_flag("json") {
        let list: Vec<_> = runs.iter().map(json_of).collect();
        output::data(&format!("{}\n", json!(list)));
    } else if runs.is_empty() {
        output::message(&format!("no runs in {}", dir.display()));
    } else {
        output::data(&table_of(&runs));
    }
    for problem in &bad {
        output::message(problem);
    }
    Ok(ExitCode::from(u8::from(!bad.is_empty())))
}

/// The runs in `dir`, and what is wrong with those that do not open.
fn runs_of(dir: &Path) -> Result<(Vec<Run>, Vec<String>), Failure> {
    let entries = std::fs::read_dir(dir)
        .map_err(|e| Failure::input(format!("cannot read {}: {e}", dir.display())))?;
    let (mut runs, mut bad) = (Vec::new(), Vec::new());
    for entry in entries.flatten() {
        let path = entry.path();
        if path.join("run.json").is_file() {
            let shown = path.strip_prefix("./").unwrap_or(&path);
            match Run::open(shown) {
                Ok(run) => runs.push(run),
                Err(e) => bad.push(e.to_string()),
            }
        }
    }
    Ok((runs, bad))
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

fn table_of(runs: &[Run]) -> String {
    let mut table = Table::new();
    for name in ["run", "name"] {
        table.column(name, Align::Left);
    }
    for name in ["started (UTC)", "length", "end"]
        .into_iter()
        .chain(HEADLINES.map(|h| h.0))
    {
        table.column(name, Align::Right);
    }
    for run in runs {
        let started = run::manifest::rfc3339(run.manifest.started);
        let started = started.get(..16).unwrap_or(&started).replace('T', " ");
        let mut row = vec![
            output::one_line(&run.path().display().to_string()),
            output::one_line(&run.manifest.name),
            started,
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
        table.row(row);
    }
    table.render(usize::from(output::terminal_size().map_or(200, |s| s.0)))
}
