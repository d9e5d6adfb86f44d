//! `sonde get RUN EXPR…`: the numbers of expressions, as a table, JSON or CSV.

pub(crate) mod contents;
pub(crate) mod empty;
pub(crate) mod series;
pub(crate) mod shown;
pub(crate) mod spread;

use std::ops::Range;
use std::process::ExitCode;

use analysis::quantiles::{self, Spreads};
use analysis::scan::KeyValue;
use analysis::{Answer, Group, evaluate, summarise};
use clap::{Arg, ArgMatches, Command};
use run::Run;
use run::read::ReadError;
use run::unit::{Scale, column_digits};
use serde_json::{Map, Value, json};
use surfaces::csv;
use surfaces::table::{Align, Table};

use self::shown::{key_text, with_unit};
use super::{Entry, flag, open_run, run_argument};
use crate::failure::Failure;
use crate::output;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "get",
    about: "The numbers of an expression: table, JSON, CSV",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    command
        .arg(run_argument())
        .arg(expressions())
        .arg(flag("series", "Also each interval's value").requires("expressions"))
        .arg(
            flag(
                "buckets",
                "Of a number dimension the buckets, not the quantiles",
            )
            .requires("expressions"),
        )
        .arg(flag("json", "One JSON object an expression, each on a line").conflicts_with("csv"))
        .arg(flag("csv", "Comma-separated values, in base units").requires("expressions"))
        .after_help(
            "Without EXPR: the statistics that the run has numbers of, and by what it splits them.\n\
             A row a group: total, and per second the mean, least and greatest interval\n\
             (of those at least half as long as `--every`). Ratios and levels have no total.\n\
             By a number dimension (latency, size, depth) the quantiles, within 1.6 %;\n\
             one that has fewer than 10 events beyond it is not told.\n\
             Examples:\n  sonde get RUN 'disk.bytes by device, op'\n  \
             sonde get RUN 'disk.ios by op, latency where device = vda'\n  \
             sonde get RUN 'disk.mean_latency where op = read and phase = steady' --json",
        )
}

/// The EXPR argument.
fn expressions() -> Arg {
    Arg::new("expressions")
        .value_name("EXPR")
        .num_args(0..)
        .help("subject.measure [by dim, ...] [where dim op value and ...]; see `sonde catalog`")
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let Some(texts) = matches.get_many::<String>("expressions") else {
        return contents::tell(&open_run(matches)?, matches.get_flag("json"));
    };
    if let Some(word) = texts
        .clone()
        .find(|t| ["by", "where"].contains(&t.as_str()))
    {
        return Err(Failure::input(format!(
            "`{word}` stands alone: an expression with spaces needs quotes\n\
             hint: for example sonde get RUN 'disk.bytes by device where op = read'"
        )));
    }
    let run = open_run(matches)?;
    let series = matches.get_flag("series");
    let spread = !matches.get_flag("csv") && !matches.get_flag("buckets");
    let answer = |text: &String| {
        let answer = if series {
            evaluate(&run, text)
        } else {
            summarise(&run, text)
        }?;
        let spreads = if spread {
            quantiles::of(&run, &answer)?
        } else {
            None
        };
        Ok((answer, spreads))
    };
    // All are answered before the first is printed: one that is wrong leaves no half output. But
    // a table that is damaged takes nothing from the others.
    let (mut answers, mut damaged) = (Vec::new(), Vec::new());
    for text in texts {
        match answer(text) {
            Ok(found) => answers.push(found),
            Err(analysis::Error::Read(why)) => damaged.push(why),
            Err(why) => return Err(why.into()),
        }
    }
    for (place, (answer, spreads)) in answers.iter().enumerate() {
        if matches.get_flag("json") {
            let json = json_of(&run, answer, spreads.as_ref());
            output::data_by(|out| {
                if series {
                    series::write_json(&run, answer, &json, out)?;
                } else {
                    write!(out, "{json}")?;
                }
                writeln!(out)
            });
        } else if matches.get_flag("csv") {
            let gap = if place > 0 { "\n" } else { "" };
            output::data(gap);
            if series {
                output::data_by(|out| series::write_csv(&run, answer, out));
            } else {
                output::data(&csv_of(answer));
            }
            let sampled = shown::sampled(&run, answer);
            for note in sampled.into_iter().chain(shown::missing(&run, answer)) {
                output::paragraph(&format!("{}: {note}", output::one_line(&answer.text)));
            }
        } else {
            let gap = if place > 0 { "\n" } else { "" };
            let text = table_of(&run, answer, spreads.as_ref(), series);
            output::data(&format!("{gap}{text}"));
        }
    }
    ended(damaged)
}

/// Tells what is damaged: the last of it is the failure.
fn ended(mut damaged: Vec<ReadError>) -> Result<ExitCode, Failure> {
    damaged.dedup_by_key(|why| why.to_string());
    let Some(last) = damaged.pop() else {
        return Ok(ExitCode::SUCCESS);
    };
    for why in damaged {
        output::message(&why.to_string());
    }
    Err(last.into())
}

fn table_of(run: &Run, answer: &Answer, spreads: Option<&Spreads>, series: bool) -> String {
    let text = format!("{}\n", output::one_line(&answer.text));
    if answer.groups.is_empty() {
        return text + &empty::no_rows(run, answer) + "\n";
    }
    if let Some(spreads) = spreads {
        return text + &spread::text(run, answer, spreads, series);
    }
    let (shown, values) = shown::totals(run, answer);
    let series = if series {
        series_tables(run, answer, values)
    } else {
        String::new()
    };
    text + &shown.text() + &series
}

/// As many groups side by side as fit the terminal; the others below.
fn series_tables(run: &Run, answer: &Answer, scale: Scale) -> String {
    let terminal = output::terminal_size().map_or(usize::MAX, |s| usize::from(s.0));
    let widths: Vec<usize> = answer
        .groups
        .iter()
        .map(|group| {
            let values = group.series.iter();
            let values = values.map(|(_, v)| column_digits(*v, scale, answer.unit).len());
            let name = series_name(answer, group, scale).chars().count();
            values.fold(name, usize::max) + GAP
        })
        .collect();
    // Seconds and interval, of which the last are the longest.
    let last = answer.slots.last().map_or(0, |s| s.time) - run.manifest.started;
    let times = format!("{:.3}", last as f64 / 1e9).len().max(7) + GAP + "interval".len();
    let (mut text, mut from) = (String::new(), 0);
    while from < widths.len() {
        let mut to = from + 1;
        let mut width = times + widths[from];
        while to < widths.len() && width + widths[to] <= terminal {
            width += widths[to];
            to += 1;
        }
        text += &series_table(run, answer, from..to, scale);
        from = to;
    }
    text
}

/// Columns between two of a table.
const GAP: usize = 2;

/// The heading of a group's column.
fn series_name(answer: &Answer, group: &Group, scale: Scale) -> String {
    let key = key_text(answer, group).join(", ");
    let name = if key.is_empty() { "value" } else { &key };
    with_unit(name, scale.suffix)
}

/// A line an interval, a column a group.
fn series_table(run: &Run, answer: &Answer, groups: Range<usize>, scale: Scale) -> String {
    let mut table = Table::new();
    table.column("seconds", Align::Right);
    table.column("interval", Align::Right);
    for group in &answer.groups[groups.clone()] {
        table.column(&series_name(answer, group, scale), Align::Right);
    }
    let mut next: Vec<_> = answer.groups[groups]
        .iter()
        .map(|g| g.series.iter().peekable())
        .collect();
    for (place, slot) in answer.slots.iter().enumerate() {
        let since = (slot.time - run.manifest.started) as f64 / 1e9;
        let mut row = vec![format!("{since:.3}"), format!("{:.3}", slot.interval)];
        for values in &mut next {
            let value = values.next_if(|(p, _)| *p as usize == place);
            row.push(value.map_or("-".into(), |(_, v)| column_digits(*v, scale, answer.unit)));
        }
        table.row(row);
    }
    format!("\n{}", table.render(usize::MAX))
}

fn key_json(answer: &Answer, group: &Group) -> Value {
    let mut key = Map::new();
    for (value, by) in group.key.iter().zip(&answer.by) {
        let value = match value {
            KeyValue::Word(word) => json!(word),
            KeyValue::Number(lower) => {
                let bounds = run::grid::bounds(*lower, by.number.unwrap_or(run::Unit::Count));
                json!({"from": bounds.0, "to": bounds.1})
            }
        };
        key.insert(by.name.clone(), value);
    }
    Value::Object(key)
}

/// The documented form (`docs/reference/json.md`), without series.
pub(crate) fn json_of(run: &Run, answer: &Answer, spreads: Option<&Spreads>) -> Value {
    let group = |g: &Group| {
        json!({
            "key": key_json(answer, g), "total": g.total, "mean": g.mean, "min": g.min,
            "max": g.max, "intervals": g.intervals, "seconds": g.seconds,
        })
    };
    let mut object = json!({
        "expr": answer.text,
        "unit": answer.value_unit(),
        "kind": answer.kind_name(),
        "groups": answer.groups.iter().map(group).collect::<Vec<_>>(),
    });
    if answer.is_rate() {
        object["total_unit"] = json!(answer.unit.name());
    }
    if let Some(caveat) = answer.caveat {
        object["caveat"] = json!(caveat);
    }
    if let Ok(heaviest) = analysis::quantiles::heaviest(run, answer.table)
        && heaviest > 1.0
    {
        object["stands_for"] = json!(heaviest);
    }
    if let Ok(dropped) = analysis::dropped::dropped(run, answer, None)
        && dropped > 0.0
    {
        object["dropped"] = json!(dropped);
    }
    if let Ok(lost) = analysis::dropped::lost(run, answer)
        && !lost.is_empty()
    {
        object["lost_rows"] = json!(lost.iter().map(|l| l.rows).sum::<u64>());
    }
    if let Ok(notes) = analysis::notes::of(run, answer)
        && !notes.is_empty()
    {
        object["notes"] = json!(notes);
    }
    if let Some(spreads) = spreads {
        object["quantiles"] = spread::json(run, answer, spreads);
    }
    object
}

fn csv_key(group: &Group) -> impl Iterator<Item = String> {
    group.key.iter().map(|key| match key {
        KeyValue::Word(word) => csv::field(word),
        KeyValue::Number(lower) => lower.to_string(),
    })
}

fn csv_of(answer: &Answer) -> String {
    let mut names: Vec<String> = answer.by.iter().map(|b| b.name.clone()).collect();
    let unit = answer.value_unit();
    names.push(format!("total ({})", answer.unit.name()));
    names.extend(["mean", "min", "max"].map(|n| format!("{n} ({unit})")));
    names.push("intervals".into());
    let mut text = names.join(",") + "\n";
    for group in &answer.groups {
        let mut fields: Vec<String> = csv_key(group).collect();
        fields.push(group.total.map_or(String::new(), csv::number));
        fields.extend([group.mean, group.min, group.max].map(csv::number));
        fields.push(group.intervals.to_string());
        text += &(fields.join(",") + "\n");
    }
    text
}
