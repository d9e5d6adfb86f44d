//! `sonde plot RUN EXPR`: an expression as a picture: terminal, PNG, SVG.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use analysis::{Answer, evaluate};
use clap::{Arg, ArgMatches, Command, value_parser};
use surfaces::from_answer::{Look, chart};
use surfaces::terminal::Colour;
use surfaces::{Chart, png, svg, terminal};

use super::{Entry, duration, flag, open_run, option, run_argument};
use crate::failure::Failure;
use crate::output;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "plot",
    about: "An expression as a picture: terminal, PNG, SVG",
    arguments,
    run,
};

/// Pixels of a picture when nothing else is asked for.
const PICTURE: (u32, u32) = (1200, 600);

/// Columns and rows of a picture in a pipe.
const PIPE: (u16, u16) = (80, 24);

/// Without a length, `--smooth` averages over this share of the time shown.
const SMOOTH: f64 = 1.0 / 40.0;

fn arguments(command: Command) -> Command {
    command
        .arg(run_argument())
        .arg(
            Arg::new("expression")
                .value_name("EXPR")
                .required(true)
                .help("What to draw; by a number dimension it is a heat map"),
        )
        .arg(option(
            "right",
            "EXPR",
            "A second expression, on the right axis",
        ))
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .value_hint(clap::ValueHint::FilePath)
                .help("Write FILE.png or FILE.svg instead of drawing in the terminal"),
        )
        .arg(flag("log", "Logarithmic left axis").conflicts_with("linear"))
        .args(of_numbers())
        .arg(flag("stack", "Areas on top of each other").conflicts_with("log"))
        .arg(
            option(
                "smooth",
                "TIME",
                "Average over TIME around each interval [default: 1/40 of the time shown]",
            )
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("auto"),
        )
        .arg(option("from", "TIME", "Start there, since the run's start"))
        .arg(option("to", "TIME", "End there"))
        .arg(option(
            "size",
            "WIDTHxHEIGHT",
            "Pixels of the picture [default: 1200x600]",
        ))
        .arg(option("title", "TEXT", "Title instead of the expression"))
        .arg(
            option(
                "colour",
                "WHEN",
                "Colours in the terminal: auto, true, 256, none",
            )
            .alias("color")
            .value_parser(["auto", "true", "256", "none"])
            .default_value("auto"),
        )
        .after_help(
            "Examples:\n  sonde plot RUN 'cpu.utilisation by mode' --stack\n  \
             sonde plot RUN 'disk.bytes by op' --right disk.utilisation -o disk.png\n  \
             sonde plot RUN 'disk.ios by latency where op = read' --fold\n  \
             sonde plot RUN 'disk.mean_latency by op' --log --smooth=5s",
        )
}

/// What only breakdowns by a number dimension have.
fn of_numbers() -> [Arg; 3] {
    let linear = flag("linear", "Linear left axis, also of latencies and sizes");
    let fold = flag(
        "fold",
        "Of a number dimension one distribution, with its quantiles",
    );
    let outliers = option(
        "outliers",
        "SHARE",
        "Share of a heat map that may lie above its axis, 0 to 5%",
    );
    [
        linear,
        fold.conflicts_with_all(["stack", "right", "smooth"]),
        outliers.default_value("0.1%"),
    ]
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    // What can be wrong with the arguments is told before anything is read.
    let format = matches
        .get_one::<PathBuf>("output")
        .map(|p| format_of(p))
        .transpose()?;
    let size = size(matches)?;
    let outliers = outliers(matches)?;
    let smooth = smooth(matches)?;
    let (from, to) = (duration(matches, "from")?, duration(matches, "to")?);
    let run = open_run(matches)?;
    let narrow = (from.is_some() || to.is_some())
        .then(|| (from.unwrap_or(0.0), to.unwrap_or(f64::from(u32::MAX))));
    let expression = matches.get_one::<String>("expression").expect("required");
    let fold = matches.get_flag("fold");
    let left = match narrow {
        Some(part) if fold => evaluate(&run, &within(expression, part)?)?,
        _ => answer(&run, expression, narrow)?,
    };
    let right = matches
        .get_one::<String>("right")
        .map(|e| answer(&run, e, narrow))
        .transpose()?;
    let shown = to.unwrap_or_else(|| super::list::length(&run)) - from.unwrap_or(0.0);
    let look = Look {
        title: matches.get_one::<String>("title").cloned(),
        log: (matches.get_flag("log") || matches.get_flag("linear"))
            .then(|| matches.get_flag("log")),
        stack: matches.get_flag("stack"),
        fold,
        smooth: smooth.map(|s| s.seconds(shown)),
        from,
        to,
        outliers,
    };
    let chart = chart(&run, &left, right.as_ref(), &look).map_err(Failure::input)?;
    match (matches.get_one::<PathBuf>("output"), format) {
        (Some(path), Some(format)) => output::file(path, &format(&chart, size)?)?,
        _ => output::data(&in_terminal(&chart, matches)),
    }
    Ok(ExitCode::SUCCESS)
}

/// The answer to draw. Where only a part of the time is shown, its means are those of that
/// part: of a ratio they do not follow from the series.
fn answer(run: &run::Run, expression: &str, narrow: Option<(f64, f64)>) -> Result<Answer, Failure> {
    let mut answer = evaluate(run, expression)?;
    let Some(part) = narrow else {
        return Ok(answer);
    };
    let part = evaluate(run, &within(expression, part)?)?;
    for group in &mut answer.groups {
        let same = part.groups.iter().find(|g| g.key == group.key);
        group.mean = same.map_or(f64::NAN, |g| g.mean);
    }
    Ok(answer)
}

/// `expression` in a part of the time, from second to second.
fn within(expression: &str, (from, to): (f64, f64)) -> Result<String, Failure> {
    let parsed = analysis::parse(expression).map_err(analysis::Error::from)?;
    let word = if parsed.predicates.is_empty() {
        "where"
    } else {
        "and"
    };
    Ok(format!("{expression} {word} time in {from}s..{to}s"))
}

type Format = fn(&Chart, (u32, u32)) -> Result<Vec<u8>, Failure>;

/// How to make the bytes of `path`, told by its ending.
fn format_of(path: &Path) -> Result<Format, Failure> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("png") => Ok(|chart, (w, h)| {
            png::picture(chart, w, h).map_err(|e| Failure::work(format!("drawing: {e}")))
        }),
        Some("svg") => Ok(|chart, (w, h)| Ok(svg::picture(chart, w, h).into_bytes())),
        _ => Err(Failure::input(format!(
            "{}: pictures are written as .png or .svg\nhint: for example -o disk.png",
            path.display()
        ))),
    }
}

fn size(matches: &ArgMatches) -> Result<(u32, u32), Failure> {
    let Some(text) = matches.get_one::<String>("size") else {
        return Ok(PICTURE);
    };
    let pair = text
        .split_once('x')
        .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match pair {
        Some((w, h)) if (64..=8192).contains(&w) && (64..=8192).contains(&h) => Ok((w, h)),
        _ => Err(Failure::input(format!(
            "--size {text}: expected WIDTHxHEIGHT, each 64 to 8192\nhint: for example 1200x600"
        ))),
    }
}

fn outliers(matches: &ArgMatches) -> Result<f64, Failure> {
    let text = matches
        .get_one::<String>("outliers")
        .expect("has a default");
    let share = run::unit::parse_amount(text).map_or(f64::NAN, |a| a.value);
    if (0.0..=0.05).contains(&share) {
        return Ok(share);
    }
    Err(Failure::input(format!(
        "--outliers {text}: expected 0 to 5%\nhint: for example 1%"
    )))
}

/// How long `--smooth` averages.
#[derive(Clone, Copy)]
enum Smooth {
    /// A share of the time shown.
    Share(f64),
    /// So many seconds.
    Seconds(f64),
}

impl Smooth {
    fn seconds(self, shown: f64) -> f64 {
        match self {
            Smooth::Share(share) => shown * share,
            Smooth::Seconds(seconds) => seconds,
        }
    }
}

fn smooth(matches: &ArgMatches) -> Result<Option<Smooth>, Failure> {
    if matches
        .get_one::<String>("smooth")
        .is_some_and(|s| s == "auto")
    {
        return Ok(Some(Smooth::Share(SMOOTH)));
    }
    match duration(matches, "smooth")? {
        Some(seconds) if seconds <= 0.0 => {
            Err(Failure::input("--smooth must be longer than nothing"))
        }
        seconds => Ok(seconds.map(Smooth::Seconds)),
    }
}

fn in_terminal(chart: &Chart, matches: &ArgMatches) -> String {
    let colour = match matches.get_one::<String>("colour").map(String::as_str) {
        Some("true") => Colour::True,
        Some("256") => Colour::Palette256,
        Some("none") => Colour::None,
        _ => colour_here(),
    };
    // A row stays free for the prompt that follows.
    let (width, height) = output::terminal_size().map_or(PIPE, |(w, h)| (w, h.saturating_sub(1)));
    terminal::picture(chart, width, height, colour)
}

/// What the terminal on stdout can show (<https://no-color.org>).
pub(crate) fn colour_here() -> Colour {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if output::terminal_size().is_none() || !variable("NO_COLOR").is_empty() {
        Colour::None
    } else if ["truecolor", "24bit"].contains(&variable("COLORTERM").as_str()) {
        Colour::True
    } else if variable("TERM").contains("256color") {
        Colour::Palette256
    } else {
        Colour::None
    }
}
