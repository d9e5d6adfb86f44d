//! `sonde import`: what other tools printed becomes a run.

mod begun;
mod converted;
mod files;
mod inputs;
mod live;
mod overlap;
mod packed;
mod parts;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use formats::{
    DateOrder, FORMATS, Format, Head, Options, Own, Reading, Unrecognised, fio_version_of, own,
    recognise, recognise_among,
};
use jiff::tz::{AmbiguousOffset, TimeZone};
use run::Nanos;

use super::{Entry, duration, flag, option};
use crate::clock;
use crate::failure::Failure;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "import",
    about: "Make a run of what other tools printed: files, directories, archives or a pipe",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    command
        .arg(
            Arg::new("paths")
                .value_name("PATH")
                .required(true)
                .num_args(1..)
                .value_parser(value_parser!(PathBuf))
                .value_hint(clap::ValueHint::AnyPath)
                .help("Files, directories, archives; `-` reads stdin while it grows"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("RUN")
                .value_parser(value_parser!(PathBuf))
                .value_hint(clap::ValueHint::DirPath)
                .help("Directory to make; it must not exist [default: named for the first path and the time]"),
        )
        .arg(option("as", "FORMAT", "The format or the tool, instead of recognising it (see `sonde formats`); or a description of your own, NAME.toml"))
        .arg(option("every", "TIME", "Interval of the samples, where the text does not tell it"))
        .arg(option("start", "TIME", "When the first interval started, where the text does not tell it: 2012-03-04 10:00, or now"))
        .arg(option("tz", "ZONE", "Zone of times without one: Europe/Berlin, +02:00, UTC [default: this machine's]"))
        .arg(
            option("date-order", "ORDER", "Order of dates like 04/08/17")
                .value_parser(["dmy", "mdy", "ymd"]),
        )
        .arg(option("host", "NAME", "Name of the machine it is of"))
        .arg(
            option("processors", "N", "How many processors it had, where the text does not tell")
                .value_parser(value_parser!(u32).range(1..=100_000)),
        )
        .arg(option("fio-version", "VERSION", "Version of fio that wrote logs of latencies, where nothing beside them tells it: 2.21"))
        .arg(option("name", "NAME", "Title of the run"))
        .arg(flag("strict", "Any line or file that is not understood, or is cut off, is an error, and nothing is made"))
        .arg(flag("json", "What was imported as JSON on stdout"))
        .after_help(
            "A whole benchmark directory becomes one run. What is not understood is told by\n\
             file and line; nothing is dropped silently. Examples:\n  \
             sonde import bench/2012-03-04/ -o bench.run\n  \
             sonde import vmstat.out --every 5s --start '2012-03-04 10:00' --tz UTC\n  \
             ssh host iostat -xn 1 | sonde import --as iostat -",
        )
}

/// The longest interval that can be told, in seconds.
const LONGEST: f64 = 10_000.0 * 86_400.0;

/// What a file is read as.
#[derive(Clone)]
enum Known {
    /// A format of the list.
    Listed(&'static Format),
    /// A table that the user described.
    Described(Own),
}

impl Known {
    fn name(&self) -> &str {
        match self {
            Known::Listed(format) => format.name,
            Known::Described(own) => own.name(),
        }
    }

    fn tool(&self) -> &str {
        match self {
            Known::Listed(format) => format.tool,
            Known::Described(own) => own.name(),
        }
    }

    fn reading(&self) -> Reading<'_> {
        match self {
            Known::Listed(format) => Reading::Listed(format),
            Known::Described(own) => Reading::Described(own),
        }
    }
}

/// Why there is nothing that a file is read as.
struct NotKnown {
    why: String,
    /// It is of something that is known.
    looks_known: bool,
}

/// What `--as` says.
enum Asked {
    /// A format, or a tool.
    Named(String),
    /// A description in a file.
    Described(Own),
}

impl Asked {
    fn of(text: &str) -> Result<Asked, Failure> {
        let path = Path::new(text);
        if path.extension().is_some_and(|e| e == "toml") {
            let description = std::fs::read_to_string(path)
                .map_err(|e| Failure::input(format!("--as {text}: {e}")))?;
            let own = own(&description);
            let own = own.map_err(|why| Failure::input(format!("{text}: {why}")))?;
            return Ok(Asked::Described(own));
        }
        known(text)?;
        Ok(Asked::Named(text.to_owned()))
    }
}

/// What was asked for.
struct Wanted {
    output: PathBuf,
    format: Option<Asked>,
    options: Options,
    /// `--start now`.
    starts_now: bool,
    host: Option<String>,
    name: Option<String>,
    strict: bool,
    json: bool,
}

impl Wanted {
    fn of(matches: &ArgMatches, paths: &[PathBuf]) -> Result<Wanted, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let zone = match text("tz") {
            None => TimeZone::system(),
            Some(name) => zone(&name)?,
        };
        let start = text("start").map(|t| moment(&t, &zone)).transpose()?;
        let every = duration(matches, "every")?;
        if every.is_some_and(|e| e <= 0.0 || e > LONGEST) {
            return Err(Failure::input(
                "--every must be longer than nothing and at most 10000d",
            ));
        }
        let fio = |text: String| {
            fio_version_of(&text).ok_or_else(|| {
                Failure::input(format!(
                    "--fio-version {text}: no version of fio\nhint: for example 2.21"
                ))
            })
        };
        let format = text("as").map(|t| Asked::of(&t)).transpose()?;
        let first = paths.first().and_then(|p| p.file_name());
        let output = matches.get_one::<PathBuf>("output").cloned();
        let named =
            || super::record::default_path(&[first.unwrap_or("import".as_ref()).to_owned()]);
        Ok(Wanted {
            output: output.unwrap_or_else(named),
            format,
            options: Options {
                every,
                start,
                near: None,
                // A machine's clock may be ahead.
                latest: Some(clock::wall().saturating_add(86_400_000_000_000)),
                zone,
                dates: text("date-order").map(|order| match order.as_str() {
                    "dmy" => DateOrder::Dmy,
                    "mdy" => DateOrder::Mdy,
                    _ => DateOrder::Ymd,
                }),
                processors: matches.get_one::<u32>("processors").copied(),
                file: String::new(),
                fio: text("fio-version").map(fio).transpose()?,
            },
            starts_now: text("start").is_some_and(|t| t == "now"),
            host: text("host"),
            name: text("name"),
            strict: matches.get_flag("strict"),
            json: matches.get_flag("json"),
        })
    }

    /// What a file that begins as `head` is read as, or why there is nothing.
    fn recognise(&self, head: &Head) -> Result<Known, NotKnown> {
        let not_known = |why: Unrecognised| NotKnown {
            why: why.to_string(),
            looks_known: matches!(why, Unrecognised::Several(..)),
        };
        let name = match &self.format {
            None => return recognise(head).map(Known::Listed).map_err(not_known),
            Some(Asked::Described(own)) => return Ok(Known::Described(own.clone())),
            Some(Asked::Named(name)) => name,
        };
        let wanted = |f: &Format| f.name == name || f.tool == name;
        let mut only = FORMATS.iter().filter(|f| wanted(f));
        let found = match (only.next(), only.next()) {
            // Said, not guessed.
            (Some(format), None) => format,
            _ => recognise_among(head, wanted).map_err(|why| match (why, recognise(head)) {
                (Unrecognised::Unknown, other) => NotKnown {
                    why: match other {
                        Ok(other) => {
                            format!("it is not of {name}: it looks like {}", other.name)
                        }
                        Err(_) => format!("it is not of {name}"),
                    },
                    looks_known: false,
                },
                (why, _) => not_known(why),
            })?,
        };
        Ok(Known::Listed(found))
    }
}

/// Names of formats and tools.
pub(super) fn names() -> Vec<&'static str> {
    let all = FORMATS.iter().flat_map(|f| [f.tool, f.name]);
    let all: std::collections::BTreeSet<_> = all.collect();
    all.into_iter().collect()
}

/// Checks a name of a format or a tool.
fn known(name: &str) -> Result<(), Failure> {
    if FORMATS.iter().any(|f| f.name == name || f.tool == name) {
        return Ok(());
    }
    let near = analysis::error::near_or_all(name, names().into_iter());
    Err(Failure::input(format!(
        "there is no format `{name}`\nhint: {near}"
    )))
}

/// A zone by its name or its offset.
fn zone(name: &str) -> Result<TimeZone, Failure> {
    let offset = || {
        let (sign, rest) = match name.split_at_checked(1)? {
            ("+", rest) => (1, rest),
            ("-", rest) => (-1, rest),
            _ => return None,
        };
        let (hours, minutes) = rest.split_once(':').or(rest.split_at_checked(2))?;
        let minutes: i32 = if minutes.is_empty() {
            0
        } else {
            minutes.parse().ok().filter(|m| (0..60).contains(m))?
        };
        let seconds = sign * (hours.parse::<i32>().ok()? * 3600 + minutes * 60);
        jiff::tz::Offset::from_seconds(seconds).ok()
    };
    match offset() {
        Some(offset) => Ok(TimeZone::fixed(offset)),
        // Also where no zones are installed.
        None if matches!(name, "UTC" | "GMT" | "Z") => Ok(TimeZone::UTC),
        None => TimeZone::get(name).map_err(|_| {
            let why = if jiff::tz::db().is_definitively_empty() {
                "this machine has no time zones installed\n\
                 hint: install them (package tzdata), or say the offset, as --tz +02:00"
            } else {
                "there is no such zone\nhint: for example Europe/Berlin, +02:00, UTC"
            };
            Failure::input(format!("--tz {name}: {why}"))
        }),
    }
}

/// A time as people write it.
fn moment(text: &str, zone: &TimeZone) -> Result<Nanos, Failure> {
    if text == "now" {
        return Ok(clock::wall());
    }
    if let Some(time) = run::manifest::parse_rfc3339(text) {
        return Ok(time);
    }
    let not_a_time = || {
        Failure::input(format!(
            "--start {text}: not a time\nhint: for example 2012-03-04 10:00:00, 2012-03-04T10:00:00Z, now"
        ))
    };
    let civil: jiff::civil::DateTime = text.parse().map_err(|_| not_a_time())?;
    let there = zone.to_ambiguous_timestamp(civil);
    let unclear = match there.offset() {
        AmbiguousOffset::Unambiguous { .. } => None,
        AmbiguousOffset::Gap { before, after } => {
            Some(("does not exist: the clock was put forward", before, after))
        }
        AmbiguousOffset::Fold { before, after } => {
            Some(("is there twice: the clock was put back", before, after))
        }
    };
    if let Some((why, before, after)) = unclear {
        return Err(Failure::input(format!(
            "--start {text}: in this zone that hour {why}\nhint: say the offset: {civil}{before} or {civil}{after}"
        )));
    }
    let nanos = there
        .unambiguous()
        .ok()
        .and_then(|t| Nanos::try_from(t.as_nanosecond()).ok());
    nanos.ok_or_else(not_a_time)
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let paths: Vec<PathBuf> = matches
        .get_many::<PathBuf>("paths")
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let wanted = Wanted::of(matches, &paths)?;
    match &paths[..] {
        [only] if only.as_os_str() == "-" => live::import(&wanted),
        all if all.iter().any(|p| p.as_os_str() == "-") => Err(Failure::input(
            "`-` stands alone: stdin becomes a run of its own",
        )),
        all => files::import(&wanted, all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_and_times_as_people_write_them() {
        let east = zone("+02:00").unwrap();
        let utc = moment("2012-03-04T08:00:00Z", &east).unwrap();
        assert_eq!(moment("2012-03-04 10:00", &east).unwrap(), utc);
        assert_eq!(
            moment("2012-03-04 08:00:00", &zone("UTC").unwrap()).unwrap(),
            utc
        );
        assert!(zone("Mars/Olympus").is_err());
        assert!(zone("+ab").is_err());
        assert!(zone("+02:90").is_err());
        assert!(moment("yesterday", &east).is_err());
        assert!(moment("now", &east).unwrap() > utc);
    }
}
