//! `sonde catalog`: every statistic, and the reference page made from the same table.

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use run::CATALOG;
use run::catalog::{Derived, Detail, Kind, Subject, Table, Under};
use surfaces::table::wrapped;

use super::{Entry, flag};
use crate::failure::Failure;
use crate::output;

/// Columns of the lists.
const WIDTH: usize = 80;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "catalog",
    about: "List subjects, measures and dimensions",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    command
        .arg(
            Arg::new("subject")
                .value_name("SUBJECT")
                .help("Only this subject, with its tables"),
        )
        .arg(
            flag("markdown", "The reference page"),
        )
        .after_help(
            "An expression is:\n  subject.measure [by dim, ...] [where dim op value and ...]\n\n\
             op: =  !=  ~  !~ (regular expression)  <  <=  >  >=  in a, b  in 10ms..1s\n\
             A value with spaces or commas stands in quotes; a doubled quote is one: \"a \"\"b\"\"\"\n\
             Everything has the dimensions host, phase and time (since the run's start):\n  \
             sonde get RUN 'disk.bytes by device, op where time in 10s..40s'\n  \
             sonde get RUN 'disk.ios by op, latency where device = vda'\n  \
             sonde get RUN 'cpu.utilisation by mode where phase = steady'",
        )
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    if matches.get_flag("markdown") {
        output::data(&markdown());
        return Ok(ExitCode::SUCCESS);
    }
    let text = match matches.get_one::<String>("subject") {
        None => CATALOG.iter().map(overview).collect::<String>(),
        Some(name) => {
            let subject = run::catalog::subject(name).ok_or_else(|| {
                let names = CATALOG.iter().map(|s| s.name);
                let near = analysis::error::near_or_all(name, names);
                Failure::input(format!("there is no subject `{name}`\nhint: {near}"))
            })?;
            details(subject)
        }
    };
    output::data(&text);
    Ok(ExitCode::SUCCESS)
}

/// Names after a label, in lines that fit a terminal.
fn listed<'a>(label: &str, names: impl Iterator<Item = &'a str>) -> String {
    wrapped(label, &names.collect::<Vec<_>>().join(", "), WIDTH)
}

fn overview(s: &Subject) -> String {
    let derived = s.derived.iter().map(|d| d.name);
    let names = s.measures.iter().map(|m| m.name).chain(derived);
    let mut text = wrapped(&format!("{}  ", s.name), s.help, WIDTH);
    text += &listed("  measures ", names);
    if !s.dimensions.is_empty() {
        text += &listed("  by       ", s.dimensions.iter().map(|d| d.name));
    }
    text + "\n"
}

fn unit_text(unit: run::Unit, kind: Kind) -> String {
    match kind {
        Kind::Sum => format!("{unit}, sum"),
        other => format!("{unit}, {}", other.name()),
    }
}

fn details(s: &Subject) -> String {
    let item = |name: &str, kind: &str, help: &str| {
        let head = wrapped(&format!("  {name:<22}"), kind, WIDTH);
        head + &wrapped(&" ".repeat(24), help, WIDTH)
    };
    let mut text = wrapped(&format!("{}  ", s.name), s.help, WIDTH) + "\nMeasures\n";
    for m in s.measures {
        text += &item(m.name, &unit_text(m.unit, m.kind), m.help);
    }
    for d in s.derived {
        text += &item(d.name, &format!("{}, ratio", d.unit), d.help);
    }
    if !s.dimensions.is_empty() {
        text += "\nDimensions (and host, phase, time)\n";
    }
    for d in s.dimensions {
        let kind = d
            .number
            .map_or("word".to_owned(), |u| format!("number, {u}"));
        text += &item(d.name, &kind, d.help);
    }
    text += "\nTables\n";
    for t in s.tables {
        let row = match t.detail {
            Detail::Event => format!("each event, by {}", dimensions_text(t)),
            Detail::Sample | Detail::Histogram => format!("by {}", dimensions_text(t)),
        };
        text += &item(t.name, &row, &measures_text(t));
    }
    for u in s.unless_named {
        let rule = format!(
            "Unless `where` names {} or it is split by {}, it counts {} = {}.",
            u.dimensions.join(" or "),
            u.dimension,
            u.dimension,
            u.value
        );
        text += &format!("\n{}", wrapped("", &rule, WIDTH));
    }
    if !s.kinds.is_empty() {
        text += &format!("\n{}", wrapped("", &no_sum(s), WIDTH));
    }
    text
}

/// That numbers of several kinds are not added.
fn no_sum(s: &Subject) -> String {
    format!("Numbers of another {} have no sum.", s.kinds.join(" or "))
}

fn dimensions_text(table: &Table) -> String {
    if table.dimensions.is_empty() {
        return "nothing (one row)".into();
    }
    let sums = table.sums.iter().map(|(name, _)| *name);
    let names: Vec<&str> = table.dimensions.iter().copied().chain(sums).collect();
    names.join(", ")
}

/// What a table's columns are, or what its events count as.
fn measures_text(table: &Table) -> String {
    let made = table.made.iter().map(|(name, _)| *name);
    let names: Vec<&str> = table.measures.iter().copied().chain(made).collect();
    names.join(", ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn ratio_text(d: &Derived) -> String {
    let below = match &d.under {
        Under::Elapsed => "the time observed".to_owned(),
        Under::Sum([one]) => format!("`{one}`"),
        Under::Sum(many) => {
            let names: Vec<String> = many.iter().map(|m| format!("`{m}`")).collect();
            format!("({})", names.join(" + "))
        }
    };
    let times = match d.times {
        1.0 => String::new(),
        times => format!(" × {times}"),
    };
    let without = d.without.map_or_else(String::new, |(dimension, words)| {
        let tests = words.iter().map(|word| format!("{dimension} != {word}"));
        format!(", where {}", tests.collect::<Vec<_>>().join(" and "))
    });
    format!("`{}` / {below}{times}{without}", d.over)
}

/// The tables of a subject, for the reference page.
fn tables_markdown(s: &Subject) -> String {
    let mut text =
        String::from("\n| table | a row is | measures | source |\n| --- | --- | --- | --- |\n");
    for t in s.tables {
        let row = match (t.detail, t.dimensions) {
            (Detail::Event, _) => format!("an event: {}", dimensions_text(t)),
            (_, []) => "an interval".to_owned(),
            _ => format!("an interval by {}", dimensions_text(t)),
        };
        let _ = writeln!(
            text,
            "| `{}` | {row} | {} | {} |",
            t.name,
            measures_text(t),
            t.source
        );
    }
    text
}

/// `docs/reference/catalog.md`.
fn markdown() -> String {
    let mut text = String::from(
        "# Catalog\n\nGenerated by `sonde catalog --markdown` from the table in \
         `crates/run/src/catalog`; do not edit.\n\n\
         An expression is `subject.measure [by dim, …] [where dim op value and …]`. \
         Everything also has the dimensions `host`, `phase` and `time` (since the run's start).\n\n\
         A *sum* is stored as the amount in each interval and shown per second; a *level* is \
         averaged over time; a *ratio* is computed after grouping, its denominator taken over \
         the dimensions that it has.\n",
    );
    for s in CATALOG {
        let _ = write!(text, "\n## {}\n\n{}\n\n", s.name, s.help);
        text += "| measure | unit | kind | |\n| --- | --- | --- | --- |\n";
        for m in s.measures {
            let _ = writeln!(
                text,
                "| `{}.{}` | {} | {} | {} |",
                s.name,
                m.name,
                m.unit,
                m.kind.name(),
                cell(m.help)
            );
        }
        for d in s.derived {
            let formula = ratio_text(d);
            let _ = writeln!(
                text,
                "| `{}.{}` | {} | ratio | {} {formula} |",
                s.name,
                d.name,
                d.unit,
                cell(d.help)
            );
        }
        if !s.dimensions.is_empty() {
            text += "\n| by | kind | |\n| --- | --- | --- |\n";
        }
        for d in s.dimensions {
            let kind = d
                .number
                .map_or("word".to_owned(), |u| format!("number, {u}"));
            let _ = writeln!(text, "| `{}` | {kind} | {} |", d.name, cell(d.help));
        }
        text += &tables_markdown(s);
        for a in s.also {
            let _ = write!(
                text,
                "\n`{}.{}` is also answered from `{}` ({}).\n",
                s.name, a.measure, a.table, a.caveat
            );
        }
        for u in s.unless_named {
            let _ = write!(
                text,
                "\nUnless `where` names {} or it is split by {}, it counts `{} = {}`.\n",
                u.dimensions.join(" or "),
                u.dimension,
                u.dimension,
                u.value
            );
        }
        if !s.kinds.is_empty() {
            let _ = write!(text, "\n{}\n", no_sum(s));
        }
    }
    text
}
