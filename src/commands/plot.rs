//! `sonde plot RUN EXPR`: an expression as a picture: terminal, PNG, SVG.

use std::process::ExitCode;

use analysis::{Answer, evaluate};
use clap::{Arg, ArgMatches, Command};
use surfaces::from_answer::{Look, chart};

use super::{Entry, duration, flag, open_run, option, picture, run_argument};
use crate::failure::Failure;
use crate::output;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "plot",
    about: "An expression as a picture: terminal, PNG, SVG",
    arguments,
    run,
};

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
        .arg(picture::file_argument(
            "Write FILE.png or FILE.svg instead of drawing in the terminal",
        ))
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
        .arg(picture::size_argument(
            "Pixels of the picture [default: 1200x600]",
        ))
        .arg(option("title", "TEXT", "Title instead of the expression"))
        .arg(picture::colour_argument())
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
    let file = picture::File::of(matches)?;
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
    for empty in [Some(&left), right.as_ref()].into_iter().flatten() {
        if empty.groups.is_empty() {
            output::message(&super::get::empty::no_rows(&run, empty));
        }
    }
    let chart = chart(&run, &left, right.as_ref(), &look).map_err(Failure::input)?;
    match file {
        Some(file) => file.write(&chart)?,
        None => output::data(&picture::in_terminal(&chart, matches)),
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
fn within(expression: &str, (from, to): (f64, f64)) -> Result<String, analysis::Error> {
    let parsed = analysis::parse(expression)?;
    let word = if parsed.predicates.is_empty() {
        "where"
    } else {
        "and"
    };
    Ok(format!("{expression} {word} time in {from}s..{to}s"))
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
