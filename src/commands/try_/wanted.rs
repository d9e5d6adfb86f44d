//! What was asked for, as the first page of a logbook.

use std::path::PathBuf;

use clap::ArgMatches;
use lab::experiment::{
    Blocks, Design, DesignError, FORMAT, Factor, Kind, Logbook, MOST_BLOCKS, Search, arms,
    names_in, seed_of,
};

use super::measure;
use crate::clock;
use crate::commands::duration;
use crate::failure::Failure;

/// Blocks of a scaling experiment, if nothing is said: a law is fitted, no verdict asked.
const SCALE_BLOCKS: usize = 3;

/// The logbook of a new experiment, without its arms.
pub(super) fn book(matches: &ArgMatches) -> Result<Logbook, Failure> {
    let command: Vec<String> = matches
        .get_many::<String>("command")
        .map(|c| c.cloned().collect())
        .unwrap_or_default();
    if command.is_empty() {
        return Err(Failure::input(
            "there is no command to try\nhint: it goes after --, as in: sonde try --param jobs=1,4 -- fio --numjobs={jobs} job.fio",
        ));
    }
    let scale = matches.contains_id("scale");
    let (factors, search) = factors(matches)?;
    names(&factors, &command)?;
    let measures = measure::named(matches.get_many::<String>("measure").unwrap_or_default())?;
    if scale && !measures.is_empty() && !measures.iter().any(|m| measure::is_throughput(&m.metric))
    {
        return Err(Failure::input(
            "--scale asks how work grows, and none of the metrics is a throughput\nhint: name one first, of which more is better, as in: --measure workload.ops",
        ));
    }
    let uname = rustix::system::uname();
    let host = uname.nodename().to_string_lossy().into_owned();
    let started = clock::wall();
    let seconds = |name: &str| Ok::<f64, Failure>(duration(matches, name)?.unwrap_or(0.0));
    let mut record: Vec<String> = Vec::new();
    if let Some(every) = matches.get_one::<String>("every") {
        record.push(format!("--every={every}"));
    }
    let more = matches.get_many::<String>("record").unwrap_or_default();
    record.extend(more.cloned());
    let book = Logbook {
        format: FORMAT,
        sonde: env!("CARGO_PKG_VERSION").into(),
        id: format!("{started:x}-{}-{host}", std::process::id()),
        host,
        started: run::manifest::rfc3339(started),
        command,
        prepare: matches.get_one::<String>("prepare").cloned(),
        seed: match matches.get_one::<u64>("seed") {
            Some(seed) => *seed,
            None => seed_of(started as u64),
        },
        design: match matches.get_one::<String>("design").map(String::as_str) {
            Some("one-at-a-time") => Design::OneAtATime,
            _ => Design::Combinations,
        },
        blocks: blocks(matches, scale)?,
        warmup: seconds("warmup")?,
        settle: seconds("settle")?,
        keep_going: matches.get_flag("keep-going"),
        again: !scale && !matches.get_flag("no-aa"),
        allow_file: matches.get_flag("allow-file"),
        record,
        factors,
        arms: vec![],
        measures,
        search,
        scale,
        trials: vec![],
        ended: None,
        restored: None,
    };
    Ok(book)
}

fn blocks(matches: &ArgMatches, scale: bool) -> Result<Blocks, Failure> {
    let text = matches.get_one::<String>("blocks").map(String::as_str);
    match text {
        None if scale => Ok(Blocks::Fixed(SCALE_BLOCKS)),
        None | Some("auto") if !scale => Ok(Blocks::Auto),
        None | Some("auto") => Err(Failure::input(
            "--blocks auto: a scaling experiment asks for no verdict that could end it\nhint: give a number of blocks",
        )),
        Some(text) => match text.parse::<usize>() {
            Ok(n) if (1..=MOST_BLOCKS).contains(&n) => Ok(Blocks::Fixed(n)),
            _ => Err(Failure::input(format!(
                "--blocks {text}: expected 1 to {MOST_BLOCKS}, or auto"
            ))),
        },
    }
}

/// What is varied: several factors, or one that is searched or scaled.
fn factors(matches: &ArgMatches) -> Result<(Vec<Factor>, Option<Search>), Failure> {
    if let Some(text) = matches.get_one::<String>("search") {
        let (factor, search) = searched(text)?;
        return Ok((vec![factor], Some(search)));
    }
    if let Some(text) = matches.get_one::<String>("scale") {
        return Ok((vec![scaled(text)?], None));
    }
    let mut factors = Vec::new();
    for (name, kind) in [("set", Kind::Setting), ("param", Kind::Parameter)] {
        for text in matches.get_many::<String>(name).unwrap_or_default() {
            factors.push(Factor::parse(kind, text).map_err(Failure::input)?);
        }
    }
    if factors.is_empty() {
        return Err(Failure::input(
            "there is nothing to try\nhint: --set KNOB=V1,V2 changes a setting (`sonde knobs` lists them), --param NAME=V1,V2 a {NAME} of the command",
        ));
    }
    Ok((factors, None))
}

/// `KNOB=LOW..HIGH`, or `KNOB=V1,V2,...`.
fn searched(text: &str) -> Result<(Factor, Search), Failure> {
    let wrong = || {
        Failure::input(format!(
            "--search {text}: expected KNOB=LOW..HIGH, two numbers, or KNOB=V1,V2,...\nhint: for example --search disk:vda.nr_requests=4..256, or --search disk:vda.scheduler=none,bfq,kyber"
        ))
    };
    let (name, values) = text.split_once('=').ok_or_else(wrong)?;
    let kind = if name.contains(':') || lab::KNOBS.iter().any(|f| f.prefix == name) {
        Kind::Setting
    } else {
        Kind::Parameter
    };
    if values.contains(',') {
        let factor = Factor::parse(kind, text).map_err(Failure::input)?;
        let search = Search::Among {
            candidates: factor.values.len(),
            found: None,
        };
        return Ok((factor, search));
    }
    let (low, high) = values.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite());
    let (Some(from), Some(to)) = (number(low), number(high)) else {
        return Err(wrong());
    };
    if from >= to {
        return Err(Failure::input(format!(
            "--search {text}: {from} is not below {to}"
        )));
    }
    let factor = Factor::parse(kind, &format!("{name}={},{}", low.trim(), high.trim()));
    let factor = factor.map_err(Failure::input)?;
    let search = Search::Range {
        low: from,
        high: to,
        found: None,
    };
    Ok((factor, search))
}

/// `NAME=1,2,4,8`.
fn scaled(text: &str) -> Result<Factor, Failure> {
    let factor = Factor::parse(Kind::Parameter, text).map_err(Failure::input)?;
    for value in &factor.values {
        if !value.parse::<f64>().is_ok_and(|v| v.is_finite() && v > 0.0) {
            return Err(Failure::input(format!(
                "--scale {text}: {value} is no number of things done at once\nhint: for example --scale jobs=1,2,4,8"
            )));
        }
    }
    Ok(factor)
}

/// Every `{NAME}` has values, and every parameter a place.
fn names(factors: &[Factor], command: &[String]) -> Result<(), Failure> {
    let places = names_in(command);
    let is = |f: &&Factor| f.kind == Kind::Parameter;
    let known: Vec<&str> = factors.iter().filter(is).map(|f| f.name.as_str()).collect();
    if let Some(name) = places.iter().find(|p| !known.contains(&p.as_str())) {
        return Err(Failure::input(DesignError::NoValues(name.clone())));
    }
    if let Some(name) = known.iter().find(|k| !places.contains(**k)) {
        return Err(Failure::input(DesignError::NotUsed((*name).to_owned())));
    }
    Ok(())
}

/// Gives the logbook its arms, unless a search has to find them first; of a search, answers with
/// those that its ends make, so that they can be tried.
pub(super) fn design(book: &mut Logbook) -> Result<Vec<lab::experiment::Arm>, Failure> {
    let found = arms(&book.factors, book.design, book.again).map_err(Failure::input)?;
    if book.search.is_none() {
        book.arms.clone_from(&found);
    }
    if book.scale {
        // What a unit of work costs is told beside it.
        let cpu = lab::experiment::Measure {
            metric: crate::commands::experiment::CPU.to_owned(),
            declared: false,
        };
        if !book.measures.is_empty() && book.measures.iter().all(|m| m.metric != cpu.metric) {
            book.measures.push(cpu);
        }
    }
    Ok(found)
}

/// Where it is kept: as asked for, or named for the command and the time.
pub(super) fn place(matches: &ArgMatches, book: &Logbook) -> Result<PathBuf, Failure> {
    let Some(path) = matches.get_one::<PathBuf>("output") else {
        let program: Vec<std::ffi::OsString> = book.command.iter().map(Into::into).collect();
        let name = crate::commands::record::default_path(&program);
        return Ok(PathBuf::from(format!("try-{}", name.display())));
    };
    if path.exists() {
        return Err(Failure::input(format!(
            "{} exists already; an experiment is never overwritten\nhint: choose another name with -o, or go on with --resume {}",
            path.display(),
            path.display()
        )));
    }
    Ok(path.clone())
}
