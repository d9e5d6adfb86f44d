//! `sonde try`: a controlled experiment over settings of the machine or parameters of a command.

mod conduct;
mod live;
mod measure;
pub(super) mod plan;
mod recorder;
mod search;
mod settings;
mod wanted;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use lab::Allow;
use lab::experiment::{Arm, Logbook, Stage, State};
use rustix::fs::FlockOperation;
use rustix::process::Signal;

use self::conduct::{Conductor, Stop};
use self::live::Live;
use self::settings::Settings;
use super::record::signals::Signals;
use super::{Entry, experiment, flag, option};
use crate::failure::Failure;
use crate::output;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "try",
    about: "A controlled experiment over settings or parameters; settings are put back",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    let many = |name: &'static str, value: &'static str, help: &'static str| {
        option(name, value, help).action(ArgAction::Append)
    };
    command
        .arg(many("set", "KNOB=V1,V2", "Values of a setting of this machine (`sonde knobs`); what it is now is the baseline"))
        .arg(many("param", "NAME=V1,V2", "Values of {NAME} in the command; the first is the baseline"))
        .arg(option("search", "KNOB=LOW..HIGH", "Find a good value in few trials, or of KNOB=V1,V2,... the best; then confirm it in blocks").conflicts_with_all(["set", "param"]))
        .arg(option("scale", "NAME=1,2,4", "How work grows with {NAME} things done at once").conflicts_with_all(["set", "param", "search"]))
        .arg(option("design", "DESIGN", "How several factors make arms: combinations, one-at-a-time").value_parser(["combinations", "one-at-a-time"]).default_value("combinations"))
        .arg(option("blocks", "N|auto", "How often every arm runs; auto: until it is decided, at most 24 [default: auto; with --scale 3]"))
        .arg(many("measure", "[pN ]EXPR[:higher|:lower]", "What to compare, and which way is better; may be given again").short('m'))
        .arg(option("warmup", "TIME", "Leave out so much of the beginning of each trial"))
        .arg(option("settle", "TIME", "Wait so long after the settings were changed"))
        .arg(option("prepare", "CMD", "Line of shell to run before each trial; it has the values as $SONDE_NAME"))
        .arg(option("every", "TIME", "Interval of the samples of a trial [default: 1s]"))
        .arg(many("record", "OPTION", "Option for the recorder, as --record=--with=file").allow_hyphen_values(true))
        .arg(flag("no-aa", "Without the second baseline arm, which shows whether the baseline differs from itself"))
        .arg(option("seed", "N", "Where the random order comes from").value_parser(value_parser!(u64)))
        .arg(flag("keep-going", "Go on after a trial that failed; it does not count"))
        .arg(flag("allow-file", "Let file:PATH be a knob"))
        .arg(flag("dry-run", "Tell the plan and stop"))
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .value_hint(clap::ValueHint::DirPath)
                .help("Directory of the experiment; it must not exist [default: named for the command and the time]"),
        )
        .arg(
            Arg::new("resume")
                .long("resume")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .value_hint(clap::ValueHint::DirPath)
                .conflicts_with_all([
                    "set", "param", "search", "scale", "blocks", "measure", "warmup", "settle", "prepare",
                    "every", "record", "no-aa", "seed", "allow-file", "output", "command", "dry-run",
                ])
                .help("Go on with an experiment that was interrupted, as it was asked for"),
        )
        .arg(flag("recover", "Only put back what a killed experiment left changed").exclusive(true))
        .arg(flag("json", "The result as JSON"))
        .arg(flag("quiet", "No plan and no progress on stderr").short('q'))
        .arg(
            Arg::new("command")
                .value_name("CMD")
                .num_args(0..)
                .last(true)
                .help("Command to run in each trial, with its arguments, after --"),
        )
        .after_help(
            "Each trial is a whole run in DIR/trials: open it with show, plot, get.\n\
             Ctrl-C puts all settings back and tells what is complete.\n\n\
             Examples:\n  \
             sonde try --set disk:vda.scheduler=none,mq-deadline -- fio job.fio\n  \
             sonde try --param jobs=1,4 --blocks 8 -m workload.ops -- fio --numjobs={jobs} job.fio\n  \
             sonde try --scale jobs=1,2,4,8 -- fio --numjobs={jobs} job.fio\n\n\
             Exit status: 0 whatever the verdict; 1 if a trial failed; 2 for wrong input; 3\n\
             if a setting could not be put back; 128+N if signal N ended it.",
        )
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    if matches.get_flag("recover") {
        return crate::recovery::recover();
    }
    let quiet = matches.get_flag("quiet");
    let resumed = matches.get_one::<PathBuf>("resume");
    let mut book = match resumed {
        Some(dir) => Logbook::open(dir).map_err(Failure::input)?,
        None => wanted::book(matches)?,
    };
    book.keep_going |= matches.get_flag("keep-going");
    // First of all: while another process works on it, its settings are not as at the start.
    let held = resumed.map(|dir| held(dir)).transpose()?;
    let allow = Allow {
        files: book.allow_file,
    };
    let before = book.factors.clone();
    let settings = Settings::of(&mut book.factors, allow)?;
    let arms = match resumed {
        Some(dir) => {
            same(&book, &before, dir)?;
            book.arms.clone()
        }
        None => wanted::design(&mut book)?,
    };
    let dir = match resumed {
        Some(dir) => dir.clone(),
        None => wanted::place(matches, &book)?,
    };
    if matches.get_flag("dry-run") {
        let text = plan::text(&book, &dir.display().to_string());
        let time = plan::unknown_time(&book);
        output::data(&(text + &time));
        return Ok(ExitCode::SUCCESS);
    }
    let mut conductor = begin(dir, book, settings, (held, quiet))?;
    let ended = conduct(&mut conductor, &arms, quiet);
    let restored = conductor.settings.end();
    conductor.live.clear();
    if resumed.is_none()
        && conductor.book.trials.is_empty()
        && matches!(ended, Err(Stop::Failure(_)))
    {
        unmake(&conductor.dir);
    } else {
        close(&mut conductor, &ended, &restored);
    }
    if conductor.has_trials() {
        tell(&conductor, matches.get_flag("json"));
    }
    // A machine that is left altered is worse than all else.
    restored?;
    match ended {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Stop::Failure(failure)) => Err(failure),
        Err(Stop::Signal(signal)) => {
            output::message(&format!(
                "interrupted; go on with: sonde try --resume {}",
                output::shell_word(&conductor.dir.display().to_string())
            ));
            Ok(ExitCode::from(128 + signal.as_raw() as u8))
        }
    }
}

/// Whether an experiment may go on here: on the same machine, from the same settings.
fn same(book: &Logbook, before: &[lab::experiment::Factor], dir: &Path) -> Result<(), Failure> {
    let uname = rustix::system::uname();
    let host = uname.nodename().to_string_lossy();
    if book.host != host {
        return Err(Failure::input(format!(
            "{} is of the machine {}; this is {host}",
            dir.display(),
            book.host
        )));
    }
    for (now, then) in book.factors.iter().zip(before) {
        if now.base != then.base {
            return Err(Failure::input(format!(
                "{} was {} when the experiment began, and is {} now\nhint: set it back, or begin a new experiment",
                now.name, then.base, now.base
            )));
        }
    }
    Ok(())
}

fn unusable(dir: &Path, why: &std::io::Error) -> Failure {
    Failure::input(format!(
        "cannot use {}: {why}\nhint: -o names the directory of the experiment",
        dir.display()
    ))
}

/// Keeps other processes from working on the experiment in `dir`.
fn held(dir: &Path) -> Result<File, Failure> {
    let lock = File::open(dir).map_err(|e| unusable(dir, &e))?;
    if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Err(Failure::input(format!(
            "{} is being worked on by another process",
            dir.display()
        )));
    }
    Ok(lock)
}

/// Takes the directory of an experiment away that ended before its first trial, so that the same
/// words can be given again. Whatever else is in it stays, and the directory with it.
fn unmake(dir: &Path) {
    let _ = std::fs::remove_file(dir.join(lab::experiment::FILE));
    let _ = std::fs::remove_dir(dir.join("trials"));
    let _ = std::fs::remove_dir(dir);
}

/// Makes the directory, or takes the one that is there.
fn begin(
    dir: PathBuf,
    mut book: Logbook,
    settings: Settings,
    (held_already, quiet): (Option<File>, bool),
) -> Result<Conductor, Failure> {
    let resumed = held_already.is_some();
    let lock = match held_already {
        Some(lock) => lock,
        None => {
            std::fs::create_dir_all(dir.join("trials")).map_err(|e| unusable(&dir, &e))?;
            held(&dir)?
        }
    };
    if resumed {
        // Read again: another process may have gone on with it until now.
        let last = Logbook::open(&dir).map_err(Failure::input)?;
        book.trials = last.trials;
        book.arms = last.arms;
        book.search = last.search;
        book.measures = last.measures;
        if let Some(block) = book.mend()
            && !quiet
        {
            output::message(&format!("block {block} was cut in two: it runs anew"));
        }
    }
    let signals = Signals::catch().map_err(|e| Failure::work(format!("catching signals: {e}")))?;
    Ok(Conductor {
        live: Live::new(!quiet),
        dir,
        book,
        settings,
        signals,
        _lock: lock,
    })
}

/// The whole experiment.
fn conduct(c: &mut Conductor, arms: &[Arm], quiet: bool) -> Result<(), Stop> {
    c.save()?;
    if !quiet {
        output::aside(&plan::text(&c.book, &c.dir.display().to_string()));
    }
    c.settings.begin(&c.book.command.join(" "), arms)?;
    let baseline = arms.first().or(c.book.arms.first()).cloned();
    if let Some(baseline) = baseline {
        c.rehearse(&baseline)?;
    }
    if let (Some(seconds), false) = (c.live.estimate(1), quiet) {
        c.live.clear();
        output::aside(&plan::time(&c.book, seconds));
    }
    if c.search()? {
        c.blocks()?;
    }
    Ok(())
}

/// Writes down how it ended.
fn close(c: &mut Conductor, ended: &Result<(), Stop>, restored: &Result<(), Failure>) {
    c.book.restored = Some(match restored {
        Ok(()) => Vec::new(),
        Err(failure) => failure.text.lines().map(str::to_owned).collect(),
    });
    c.book.ended = match ended {
        Ok(()) => None,
        Err(Stop::Signal(signal)) => Some(format!("interrupted ({})", name(*signal))),
        Err(Stop::Failure(failure)) => {
            Some(format!("stopped: {}", measure::first_line(&failure.text)))
        }
    };
    if let Err(failure) = c.save() {
        output::message(&failure.text);
    }
}

fn name(signal: Signal) -> &'static str {
    match signal {
        Signal::INT => "SIGINT",
        Signal::TERM => "SIGTERM",
        Signal::HUP => "SIGHUP",
        Signal::QUIT => "SIGQUIT",
        _ => "a signal",
    }
}

impl Conductor {
    /// Whether anything can be told.
    fn has_trials(&self) -> bool {
        let is_over = |s: &State| matches!(s, State::Done | State::Failed);
        let mut trials = self.book.trials.iter();
        trials.any(|t| t.stage != Stage::Rehearsal && is_over(&t.state))
            || self
                .book
                .search
                .as_ref()
                .is_some_and(|s| s.found().is_some())
    }
}

/// The result on stdout.
fn tell(c: &Conductor, json: bool) {
    let result = experiment::Experiment::of(&c.book, Some(&c.dir));
    if json {
        output::data(&experiment::json(&result, &c.dir));
    } else {
        output::data(&experiment::shown(&result));
        let dir = output::shell_word(&c.dir.display().to_string());
        output::message(&format!("next: sonde show {dir} -o arms.png"));
    }
}
