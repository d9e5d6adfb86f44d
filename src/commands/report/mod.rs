//! `sonde report RUN -o FILE`: a run or an experiment to hand on, in the form that the file's
//! ending tells.

mod chosen;
mod experiment;
mod gather;
mod pictures;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use lab::experiment::Logbook;
use run::Run;
use surfaces::png;
use surfaces::report::{PICTURE, Report, csv, mail, markdown, page, sheet};
use surfaces::worksheet::Worksheet;

use super::get::{json_of, series};
use super::show::{Summary, summary, summary_json};
use super::{Entry, open_run, option, run_argument};
use crate::failure::Failure;
use crate::output;
use experiment::Tried;
use pictures::Beside;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "report",
    about: "A run or an experiment to hand on: page, mail, spreadsheet, Markdown, CSV, JSON",
    arguments,
    run,
};

/// What a report is made of.
struct Made<'r> {
    run: &'r Run,
    summary: &'r Summary,
    report: &'r Report,
    sheet: &'r Worksheet,
    path: &'r Path,
}

/// The files of a report, by their paths. The one that was asked for comes last.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// A form that a report can have.
struct Form {
    /// The ending of the file's name.
    ending: &'static str,
    /// A few words on it.
    about: &'static str,
    /// Writes it. What could not be told is added to the problems.
    of_run: fn(&Made<'_>, &mut Vec<String>) -> Result<(), Failure>,
    of_experiment: fn(&Tried<'_>) -> Result<Files, Failure>,
}

/// Every form.
const FORMS: &[Form] = &[
    Form {
        ending: "html",
        about: "one page that needs no server and no network",
        of_run: |made, problems| {
            let page = page::text(made.run, &made.report.summary, made.sheet);
            let (text, missing) = page.map_err(Failure::input)?;
            problems.extend(missing);
            output::file(made.path, text.as_bytes())
        },
        of_experiment: |tried| tried.page(),
    },
    Form {
        ending: "eml",
        about: "a mail with tables and pictures, as a draft",
        of_run: |made, _| {
            let bytes = mail::bytes(made.report).map_err(|e| drawing(&e))?;
            output::file(made.path, &bytes)
        },
        of_experiment: |tried| tried.mail(),
    },
    Form {
        ending: "xlsx",
        about: "a spreadsheet with charts, a sheet a statistic",
        of_run: |made, _| {
            let bytes = sheet::bytes(made.report).map_err(Failure::work)?;
            output::file(made.path, &bytes)
        },
        of_experiment: |tried| tried.sheet(),
    },
    Form {
        ending: "md",
        about: "Markdown, with its pictures in a directory beside it",
        of_run: |made, _| in_markdown(made),
        of_experiment: |tried| tried.markdown(),
    },
    Form {
        ending: "csv",
        about: "every value, a row each; of an experiment an arm by a metric",
        of_run: |made, _| output::file_by(made.path, |out| csv::write(made.report, out)),
        of_experiment: |tried| tried.values(),
    },
    Form {
        ending: "json",
        about: "what `show` and `get` print as JSON",
        of_run: |made, _| output::file_by(made.path, |out| made.json(out)),
        of_experiment: |tried| tried.json(),
    },
];

impl Made<'_> {
    /// The documented form (`docs/reference/json.md`).
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let summary = summary_json(self.run, self.summary);
        write!(out, "{{\"summary\":{summary},\"answers\":[")?;
        for (i, panel) in self.report.panels.iter().enumerate() {
            if i > 0 {
                out.write_all(b",")?;
            }
            let json = json_of(self.run, &panel.answer, panel.spreads.as_ref());
            series::write_json(self.run, &panel.answer, &json, out)?;
        }
        out.write_all(b"]}\n")
    }
}

fn arguments(command: Command) -> Command {
    let forms: Vec<String> = FORMS
        .iter()
        .map(|f| format!("  .{:<6}{}", f.ending, f.about))
        .collect();
    command
        .arg(run_argument().help("Directory of the run, or of an experiment (`sonde try`)"))
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .value_hint(clap::ValueHint::FilePath)
                .help("File to write; its ending tells the form"),
        )
        .arg(option(
            "worksheet",
            "NAME|FILE",
            "The statistics of a worksheet, saved in the run or as a file",
        ))
        .arg(
            option("expr", "EXPR", "This statistic; may be given several times")
                .action(clap::ArgAction::Append),
        )
        .after_help(format!(
            "Forms, by the ending of FILE:\n{}\n\n\
             Without --worksheet and --expr: what stands out, and how busy processors, disks\n\
             and networks were. Of an experiment: what `sonde show` says, with its picture\n\
             and its trials.\n\
             Examples:\n  sonde report RUN -o report.eml\n  \
             sonde report RUN -o disks.xlsx --expr 'disk.bytes by device, op' \\\n      \
             --expr 'disk.ios by latency'\n  \
             sonde report EXPERIMENT -o result.html",
            forms.join("\n")
        ))
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let path = matches.get_one::<PathBuf>("output").expect("required");
    // What can be wrong with the arguments is told before anything is read.
    let form = form_of(path)?;
    let given = matches.get_one::<PathBuf>("run").expect("required");
    if Logbook::is_in(given) {
        return experiment::report(given, matches, path, form.of_experiment);
    }
    let run = open_run(matches)?;
    let expressions: Vec<&String> = matches.get_many("expr").unwrap_or_default().collect();
    let asked = chosen::asked(&run, matches.get_one("worksheet"), &expressions)?;
    let summary = summary(&run);
    let mut problems = summary.problems.clone();
    let (report, sheet) = gather::report(&run, &summary, asked, &mut problems)?;
    let made = Made {
        run: &run,
        summary: &summary,
        report: &report,
        sheet: &sheet,
        path,
    };
    (form.of_run)(&made, &mut problems)?;
    for problem in &problems {
        output::message(problem);
    }
    Ok(ExitCode::from(u8::from(!problems.is_empty())))
}

/// The form that the ending of `path` tells.
fn form_of(path: &Path) -> Result<&'static Form, Failure> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let form = FORMS.iter().find(|f| f.ending == ending);
    form.ok_or_else(|| {
        let endings: Vec<String> = FORMS.iter().map(|f| format!(".{}", f.ending)).collect();
        Failure::input(format!(
            "{}: the ending tells no form of a report\nhint: there are {}",
            path.display(),
            endings.join(", ")
        ))
    })
}

fn drawing(e: &png::PngError) -> Failure {
    Failure::work(format!("drawing: {e}"))
}

/// The text and its pictures.
fn in_markdown(made: &Made<'_>) -> Result<(), Failure> {
    let beside = Beside::of(made.path);
    let mut drawn = Vec::new();
    for (place, panel) in made.report.panels.iter().enumerate() {
        if let Some(chart) = &panel.chart {
            let picture = png::picture(chart, PICTURE.0, PICTURE.1).map_err(|e| drawing(&e))?;
            drawn.push((place, picture));
        }
    }
    let picture = |place: usize| {
        made.report.panels[place].chart.as_ref()?;
        Some(beside.target(place))
    };
    let text = markdown::text(made.report, &picture);
    save(&beside.files(text, drawn)?)
}

/// Writes them.
fn save(files: &Files) -> Result<(), Failure> {
    let mut files = files.iter();
    files.try_for_each(|(path, bytes)| output::file(path, bytes))
}
