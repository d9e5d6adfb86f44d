//! `sonde record`: observes this host while a command runs, for a time, or until interrupted.

mod child;
mod events;
mod inventories;
pub(crate) mod marks;
pub(crate) mod progress;
mod recording;
pub(crate) mod sampler;
pub(crate) mod signals;
mod tee;
mod unobserved;
mod workload;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use sources::{Detail, Host, Look, SOURCES};

use self::unobserved::{Asked, source_of_events};
use super::{Entry, flag, option};
use crate::failure::Failure;
use crate::{clock, output};

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "record",
    about: "Observe this host while a command runs, for a time, or until interrupted",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    command
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("RUN")
                .value_parser(value_parser!(PathBuf))
                .value_hint(clap::ValueHint::DirPath)
                .help("Directory to record into; it must not exist [default: named for the command and the time]"),
        )
        .arg(option("every", "TIME", "Interval of the samples, 10ms to 1h").default_value("1s"))
        .arg(option("for", "TIME", "Stop recording after this time; a command goes on"))
        .arg(option("warmup", "TIME", "Name this much of the beginning the phase warm-up, and what follows steady"))
        .arg(option("name", "NAME", "Title of the run"))
        .arg(
            Arg::new("note")
                .long("note")
                .value_name("KEY=VALUE")
                .action(ArgAction::Append)
                .help("Keep a note with the run; may be given again"),
        )
        .arg(
            option("sources", "LIST", "Only these sources, separated by commas (see `sonde doctor`)")
                .value_delimiter(','),
        )
        .arg(
            option("top", "N", "How many processes to name, by each of CPU, disk bytes and memory; of connections and of files 10 times as many")
                .value_parser(value_parser!(u16).range(1..=1000))
                .default_value("10"),
        )
        .arg(
            option("detail", "LEVEL", "How deep to look: samples, distributions (histograms from the kernel), events (each one too)")
                .value_parser(["samples", "distributions", "events"])
                .default_value("events"),
        )
        .arg(
            option("events", "LIST", "Whose events to keep, separated by commas: disk, net, tcp, file, nfs, nfsd, or all")
                .value_delimiter(',')
                .default_value("disk"),
        )
        .arg(
            option("with", "LIST", "Observe this too, which costs every system call: file")
                .value_delimiter(','),
        )
        .arg(
            option("event-budget", "SHARE", "What events may cost, of one processor; over it they are sampled, within about a second")
                .default_value("2%"),
        )
        .arg(option("event-rate", "N", "Events a second to keep; over it they are sampled, within about a second"))
        .arg(
            flag("with-arguments", "Keep the arguments of running processes in the inventory; they may hold secrets"),
        )
        .arg(
            flag("quiet", "No progress line and no closing words on stderr").short('q'),
        )
        .arg(flag(TRIAL, "End when the program ends that started this one").hide(true))
        .arg(
            Arg::new("command")
                .value_name("CMD")
                .num_args(0..)
                .last(true)
                .value_parser(value_parser!(OsString))
                .help("Command to observe, with its arguments, after --"),
        )
        .after_help(
            "The command keeps its terminal and its exit status. Its output is shown, and\n\
             kept in the run. Inside it, `sonde mark NAME` starts a phase.\n\n\
             Exit status: the command's; 128+N if signal N ended it; 127 if there is no such\n\
             command; 2 for wrong input; 1 if something was lost and there was no command.",
        )
}

/// Hidden option of a recording that is a trial of an experiment: it does not outlive it.
pub(crate) const TRIAL: &str = "trial";

/// Phase of the beginning, with `--warmup`.
pub(crate) const WARM_UP: &str = "warm-up";

/// Phase of what follows it.
pub(crate) const STEADY: &str = "steady";

/// What was asked for.
pub(crate) struct Wanted {
    /// Directory to record into.
    path: PathBuf,
    /// Interval in seconds.
    every: f64,
    /// Seconds after which the recording stops.
    length: Option<f64>,
    /// Seconds of the beginning that are a phase of their own.
    warmup: Option<f64>,
    /// Title.
    name: Option<String>,
    /// Notes.
    notes: BTreeMap<String, String>,
    /// Sources asked for; all, if none.
    sources: Option<Vec<String>>,
    /// Command and arguments; may be empty.
    command: Vec<OsString>,
    /// The host.
    host: Host,
    /// What was asked for by name.
    asked: Asked,
    /// Say nothing.
    quiet: bool,
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    if matches.get_flag(TRIAL) {
        // It is told to end as by a person: the command is, and the run is sealed.
        let _ =
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
    }
    let wanted = wanted(matches)?;
    make_room_for_files();
    recording::record(wanted)
}

/// More files than sources, their programs and maps have open.
const FILES: i32 = 1023;

/// Lets the kernel make its table of our files large while there is one thread. When it makes it
/// larger for several (at 64, 128 and 256 files), whoever opens a file waits for all processors: 5 to
/// 15 ms on Linux 6.18, and just after the command was started its output waited with it.
fn make_room_for_files() {
    // Where so many are not allowed, it grows as it may.
    let _closed = rustix::io::fcntl_dupfd_cloexec(std::io::stderr(), FILES);
}

/// The longest time to record, in seconds: 64 bits of nanoseconds hold not much more.
const LONGEST: f64 = 10_000.0 * 86_400.0;

fn wanted(matches: &ArgMatches) -> Result<Wanted, Failure> {
    let every = super::duration(matches, "every")?.unwrap_or(1.0);
    if !(0.01..=3600.0).contains(&every) {
        return Err(Failure::input("--every must be from 10ms to 1h"));
    }
    let length = super::duration(matches, "for")?;
    if length.is_some_and(|l| !(l > 0.0 && l <= LONGEST)) {
        return Err(Failure::input(
            "--for must be longer than nothing and at most 10000d",
        ));
    }
    let warmup = super::duration(matches, "warmup")?;
    if warmup.is_some_and(|w| !(w > 0.0 && w <= LONGEST)) {
        return Err(Failure::input(
            "--warmup must be longer than nothing and at most 10000d",
        ));
    }
    let command: Vec<OsString> = matches
        .get_many::<OsString>("command")
        .map(|c| c.cloned().collect())
        .unwrap_or_default();
    let mut notes = BTreeMap::new();
    for note in matches.get_many::<String>("note").unwrap_or_default() {
        let Some((key, value)) = note.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            let text = format!("--note {note}: expected KEY=VALUE");
            return Err(Failure::input(
                text + "\nhint: for example --note disk=nvme",
            ));
        };
        if notes.insert(key.to_owned(), value.to_owned()).is_some() {
            let text = format!("--note {key}=... is given twice");
            return Err(Failure::input(text + "\nhint: a note has one value"));
        }
    }
    let look = look(matches)?;
    let sources = named_sources(matches, &look)?;
    let asked = asked(matches, &look, sources.as_deref());
    reaches(&asked)?;
    let path = matches.get_one::<PathBuf>("output").cloned();
    let host = Host {
        top: usize::from(*matches.get_one::<u16>("top").expect("has a default")),
        with_arguments: matches.get_flag("with-arguments"),
        look,
        without_hooks: without_hooks(),
        ..Host::default()
    };
    Ok(Wanted {
        path: path.unwrap_or_else(|| default_path(&command)),
        every,
        length,
        warmup,
        name: matches.get_one::<String>("name").cloned(),
        notes,
        sources,
        command,
        host,
        asked,
        quiet: matches.get_flag("quiet"),
    })
}

/// Tracepoints to do without, as if the kernel lacked them: for tests.
pub(crate) fn without_hooks() -> Vec<String> {
    std::env::var("SONDE_WITHOUT_HOOKS")
        .map(|v| v.split(',').map(str::to_owned).collect())
        .unwrap_or_default()
}

/// The sources given with `--sources`; `None`: all.
pub(crate) fn named_sources(
    matches: &ArgMatches,
    look: &Look,
) -> Result<Option<Vec<String>>, Failure> {
    let named: Option<Vec<String>> = matches
        .get_many::<String>("sources")
        .map(|s| s.cloned().collect());
    for name in named.iter().flatten() {
        let Some(entry) = SOURCES.iter().find(|s| s.name == name) else {
            let all: Vec<&str> = SOURCES.iter().map(|s| s.name).collect();
            return Err(Failure::input(format!(
                "there is no source `{name}`\nhint: {}",
                analysis::error::near_or_all(name, all.iter().copied())
            )));
        };
        if let Some(subject) = entry.only_with()
            && !look.with.iter().any(|w| w == subject)
        {
            return Err(Failure::input(format!(
                "the source `{name}` is opened only when asked for\nhint: add --with {subject}"
            )));
        }
    }
    Ok(named)
}

fn asked(matches: &ArgMatches, look: &Look, sources: Option<&[String]>) -> Asked {
    // `all` means all that there are.
    let named = matches.get_many::<String>("events").unwrap_or_default();
    let by_name = is_given(matches, "events") && !named.into_iter().any(|e| e == "all");
    Asked {
        sources: sources.unwrap_or_default().to_vec(),
        with: look.with.clone(),
        events: if by_name { look.events.clone() } else { vec![] },
        only_samples: look.detail == Detail::Samples,
    }
}

/// Refuses sources without the one that observes what else was asked for.
fn reaches(asked: &Asked) -> Result<(), Failure> {
    if asked.sources.is_empty() {
        return Ok(());
    }
    let with = asked.with.iter().map(|s| ("with", s));
    let events = asked.events.iter().map(|s| ("events", s));
    for (option, subject) in with.chain(events) {
        let source = source_of_events(subject).unwrap_or_default();
        if !asked.sources.iter().any(|s| s == source) {
            let listed = asked.sources.join(",");
            return Err(Failure::input(format!(
                "--{option} {subject}: `{source}` observes that, and is not among the sources \
                 named\nhint: use --sources {listed},{source}, or leave out --{option} {subject}"
            )));
        }
    }
    Ok(())
}

/// Whether the user gave the option: its default means as much as there is.
fn is_given(matches: &ArgMatches, option: &str) -> bool {
    matches.value_source(option) == Some(ValueSource::CommandLine)
}

/// Subjects that have events, and those that are observed only if asked for.
const EVENTS: [&str; 6] = ["disk", "net", "tcp", "file", "nfs", "nfsd"];
const WITH: [&str; 1] = ["file"];

fn look(matches: &ArgMatches) -> Result<Look, Failure> {
    let detail = match matches.get_one::<String>("detail").map(String::as_str) {
        Some("samples") => Detail::Samples,
        Some("distributions") => Detail::Distributions,
        _ => Detail::Events,
    };
    let mut events = listed(matches, "events", &EVENTS, &["all"])?;
    let with = listed(matches, "with", &WITH, &[])?;
    together(matches, detail, &events, &with)?;
    if events.iter().any(|e| e == "all") {
        events = EVENTS.map(str::to_owned).to_vec();
    }
    let budget = matches.get_one::<String>("event-budget").map_or("", |b| b);
    let share = event_share(budget)?;
    let rate = match matches.get_one::<String>("event-rate") {
        None => f64::INFINITY,
        Some(text) => text
            .parse::<f64>()
            .ok()
            .filter(|r| *r >= 1.0)
            .ok_or_else(|| {
                Failure::input(format!(
                    "--event-rate {text}: expected events a second\nhint: for example 10000"
                ))
            })?,
    };
    Ok(Look {
        detail,
        events,
        with,
        event_share: share,
        event_rate: rate,
        ..Look::default()
    })
}

/// A share of one processor, in percent. Without the sign 0.5 may be half of one or half a percent.
fn event_share(text: &str) -> Result<f64, Failure> {
    let possible = |percent: &f64| *percent > 0.0 && *percent <= 1e4;
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>();
    let hint = match number.ok().filter(possible) {
        Some(percent) if text.ends_with('%') => return Ok(percent / 100.0),
        Some(number) => format!("percent have their sign: --event-budget {number}%?"),
        None => "for example 2%".into(),
    };
    let what = format!("--event-budget {text}: expected a share of one processor");
    Err(Failure::input(format!("{what}\nhint: {hint}")))
}

/// Refuses options that would do nothing beside each other: somebody expects something of them.
fn together(
    matches: &ArgMatches,
    detail: Detail,
    events: &[String],
    with: &[String],
) -> Result<(), Failure> {
    let level = matches.get_one::<String>("detail").map_or("", |d| d);
    if let Some(subject) = with.first().filter(|_| detail == Detail::Samples) {
        return Err(Failure::input(format!(
            "--with {subject}: with --detail {level} nothing is observed in the kernel\n\
             hint: use --detail distributions or events"
        )));
    }
    if !is_given(matches, "events") {
        return Ok(());
    }
    let listed = events.join(",");
    if detail < Detail::Events {
        return Err(Failure::input(format!(
            "--events {listed}: with --detail {level} no events are kept\n\
             hint: use --detail events, or leave out --events"
        )));
    }
    let all = events.iter().any(|e| e == "all");
    let unseen = |e: &&String| WITH.contains(&e.as_str()) && !with.contains(e);
    match events.iter().find(unseen) {
        Some(subject) if !all => Err(Failure::input(format!(
            "--events {listed}: `{subject}` is observed only when asked for\n\
             hint: add --with {subject}"
        ))),
        _ => Ok(()),
    }
}

/// The words given for `option`, each one of `known` or `more`.
fn listed(
    matches: &ArgMatches,
    option: &str,
    known: &[&str],
    more: &[&str],
) -> Result<Vec<String>, Failure> {
    let given = matches.get_many::<String>(option).unwrap_or_default();
    let given: Vec<String> = given.cloned().collect();
    for word in &given {
        if !known.contains(&word.as_str()) && !more.contains(&word.as_str()) {
            let all = known.iter().chain(more).copied();
            return Err(Failure::input(format!(
                "--{option} {word}: there is no such thing to observe\nhint: {}",
                analysis::error::near_or_all(word, all)
            )));
        }
    }
    Ok(given)
}

/// `fio-20261121-194401`: the command's name and the time, UTC.
pub(crate) fn default_path(command: &[OsString]) -> PathBuf {
    let program = command.first().map(Path::new).and_then(Path::file_name);
    let program = program.map_or_else(|| "host".into(), |p| p.to_string_lossy());
    let program: String = program
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || c == '.' {
                c
            } else {
                '_'
            }
        })
        .collect();
    let time = jiff::Timestamp::from_nanosecond(i128::from(clock::wall())).unwrap_or_default();
    let base = format!("{program}-{}", time.strftime("%Y%m%d-%H%M%S"));
    // Two within a second: a run is never overwritten, and nobody asked for this name.
    (1..1000)
        .map(|n| {
            PathBuf::from(if n == 1 {
                base.clone()
            } else {
                format!("{base}-{n}")
            })
        })
        .find(|p| !p.exists())
        .unwrap_or_else(|| PathBuf::from(base))
}

/// Tells the user how it ended.
fn closing_words(quiet: bool, finished: &run::write::Finished, remarks: &[String]) -> bool {
    let manifest = &finished.manifest;
    let path = output::one_line(&finished.path.display().to_string());
    let mut lost = false;
    if finished.made_again {
        output::message(&format!(
            "the run's directory was removed while recording; what was recorded is now in {path}"
        ));
    }
    for loss in &manifest.loss {
        lost = true;
        let from = progress::clock_text(progress::seconds(manifest.started, loss.from));
        let to = progress::clock_text(progress::seconds(manifest.started, loss.to));
        output::message(&format!(
            "lost {} rows, from {from} to {to}: {}; all others are in {path}",
            loss.rows, loss.why
        ));
    }
    if let Some(why) = &finished.not_sealed {
        lost = true;
        output::message(&format!(
            "the run could not be sealed: {why}; it can be read from its journal in {path}"
        ));
    }
    for remark in remarks {
        output::message(remark);
    }
    if !quiet {
        let ended = manifest.ended.unwrap_or(manifest.started);
        let seconds = progress::seconds(manifest.started, ended);
        output::message(&format!(
            "recorded {} s in {}; own cost {} s of CPU\n       next: sonde show {}",
            run::unit::digits(seconds),
            output::counted(manifest.own.samples, "sample"),
            run::unit::digits(manifest.own.cpu_seconds),
            output::shell_word(&path),
        ));
    }
    lost
}
