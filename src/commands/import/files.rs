//! Importing files: looked at once to see what is in them, then again to take it.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use formats::{Format, Head, Import, Options, Refused, Report};
use run::rows::TableId;
use run::write::Making;
use run::{Nanos, Sink, catalog};

use super::Wanted;
use super::inputs::{self, Input};
use super::report::{Told, conclude};
use crate::failure::Failure;

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// Tables that any number of files can fill: they say themselves what each row is of.
const SHARED: [&str; 3] = ["other", "since_boot", "distribution"];

/// A file whose format is known, and what is in it.
pub(super) struct Looked<'i> {
    input: &'i Input,
    pub(super) format: &'static Format,
    options: Options,
    pub(super) report: Report,
    /// Rows of each table.
    rows: HashMap<TableId, u64>,
    /// Tables that another file has better.
    without: HashSet<TableId>,
    /// Where its times are from.
    pub(super) times: &'static str,
}

impl Looked<'_> {
    pub(super) fn name(&self) -> &str {
        &self.input.name
    }
}

pub(super) fn import(wanted: &Wanted, paths: &[PathBuf]) -> Result<ExitCode, Failure> {
    if let Some(missing) = paths.iter().find(|p| p.symlink_metadata().is_err()) {
        return Err(Failure::input(format!(
            "{}: there is no such file",
            missing.display()
        )));
    }
    let (all, problems) = inputs::gather(paths);
    let mut told = Told {
        problems,
        ..Told::default()
    };
    let mut looked = Vec::new();
    for input in &all {
        match look(wanted, input, &wanted.options) {
            Ok(found) => looked.push(found),
            Err(Why::Unknown(why)) => told.unknown.push((input.name.clone(), why)),
            Err(Why::Refused(why)) => told.refused.push((input.name.clone(), why)),
        }
    }
    line_up(wanted, &mut looked)?;
    choose(&mut looked);
    told.check(wanted, &looked)?;
    let mut making = Making::begin(&wanted.output).map_err(Failure::input)?;
    let mut sink = Sink::new();
    for file in &mut looked {
        take(file, &mut making, &mut sink)?;
    }
    let manifest = Told::manifest(wanted, &looked);
    let manifest = making
        .finish(&sink, &manifest)
        .map_err(|e| Failure::work(format!("{}: {e}", wanted.output.display())))?;
    conclude(wanted, &manifest, &told, &looked)
}

/// Why a file is not imported.
enum Why {
    /// It is of no known format, or cannot be read.
    Unknown(String),
    /// It is of a format, and something is missing.
    Refused(String),
}

fn look<'i>(wanted: &Wanted, input: &'i Input, options: &Options) -> Result<Looked<'i>, Why> {
    let unreadable = |e: std::io::Error| Why::Unknown(e.to_string());
    let mut text = input.open().map_err(unreadable)?;
    let first = inputs::first_bytes(&mut text, PIECE).map_err(unreadable)?;
    let head = Head::new(&first);
    let format = wanted.recognise(&head).map_err(Why::Unknown)?;
    let mut rows: HashMap<TableId, u64> = HashMap::new();
    let mut import = Import::new(format, &head, options.clone());
    let mut count = |sink: &mut Sink| {
        for (table, found) in sink.filled() {
            *rows.entry(table).or_default() += found.len() as u64;
        }
        sink.clear();
        Ok(())
    };
    let report = read(&mut import, &first, &mut text, &mut count).map_err(|e| match e {
        Stopped::Refused(Refused(why)) => Why::Refused(why),
        Stopped::Other(why) => Why::Unknown(why),
    })?;
    let times = match () {
        () if report.relative => "relative",
        () if options.start.is_some() => "start",
        () => "text",
    };
    Ok(Looked {
        input,
        format,
        options: options.clone(),
        report,
        rows,
        without: HashSet::new(),
        times,
    })
}

enum Stopped {
    Refused(Refused),
    Other(String),
}

/// Reads a file to its end; `taken` gets its rows piece by piece.
fn read(
    import: &mut Import,
    first: &[u8],
    rest: &mut dyn Read,
    taken: &mut dyn FnMut(&mut Sink) -> Result<(), Failure>,
) -> Result<Report, Stopped> {
    let other = |e: Failure| Stopped::Other(e.text);
    import.feed(first).map_err(Stopped::Refused)?;
    let mut piece = vec![0; PIECE];
    loop {
        taken(import.rows()).map_err(other)?;
        match rest.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => import.feed(&piece[..n]).map_err(Stopped::Refused)?,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Stopped::Other(e.to_string())),
        }
    }
    let report = import.finish().map_err(Stopped::Refused)?;
    taken(import.rows()).map_err(other)?;
    Ok(report)
}

/// Files without times start where the first of the others does.
fn line_up(wanted: &Wanted, looked: &mut [Looked<'_>]) -> Result<(), Failure> {
    let from = |f: &Looked<'_>| (f.times == "text").then(|| f.report.span.map(|s| s.0))?;
    let first: Option<(Nanos, String)> = looked
        .iter()
        .filter_map(|f| Some((from(f)?, f.name().to_owned())))
        .min();
    let Some((start, name)) = first else {
        return Ok(());
    };
    for file in looked.iter_mut().filter(|f| f.times == "relative") {
        let options = Options {
            start: Some(start),
            ..file.options.clone()
        };
        let again = look(wanted, file.input, &options);
        let mut again = again
            .map_err(|_| Failure::work(format!("{}: it changed while it was read", file.name())))?;
        again.times = "first file";
        again.report.notes.push(format!(
            "there are no times in it: its first sample is put where {name} starts"
        ));
        *file = again;
    }
    Ok(())
}

/// Where files tell of the same thing at the same time, the one that has most of it counts.
fn choose(looked: &mut [Looked<'_>]) {
    for (place, (_, table)) in catalog::tables().enumerate() {
        if SHARED.contains(&table.name) {
            continue;
        }
        let id = TableId(place as u16);
        let mut having: Vec<usize> = (0..looked.len())
            .filter(|i| looked[*i].rows.get(&id).is_some_and(|n| *n > 0))
            .collect();
        having.sort_by_key(|i| std::cmp::Reverse(looked[*i].rows[&id]));
        let mut kept: Vec<usize> = Vec::new();
        for file in having {
            let better = kept
                .iter()
                .copied()
                .find(|k| overlap(&looked[*k], &looked[file]));
            match better {
                None => kept.push(file),
                Some(better) => {
                    let note = format!(
                        "its rows of `{}` are left out: {} tells the same time in more rows",
                        table.name,
                        looked[better].name()
                    );
                    looked[file].without.insert(id);
                    looked[file].report.notes.push(note);
                }
            }
        }
    }
}

fn overlap(a: &Looked<'_>, b: &Looked<'_>) -> bool {
    match (a.report.span, b.report.span) {
        (Some((from, to)), Some((other_from, other_to))) => from < other_to && other_from < to,
        _ => false,
    }
}

/// Reads the file again, for good.
fn take(file: &mut Looked<'_>, making: &mut Making, sink: &mut Sink) -> Result<(), Failure> {
    let failed = |what: String| Failure::work(format!("{}: {what}", file.input.name));
    let mut text = file.input.open().map_err(|e| failed(e.to_string()))?;
    let first = inputs::first_bytes(&mut text, PIECE).map_err(|e| failed(e.to_string()))?;
    let mut import = Import::new(file.format, &Head::new(&first), file.options.clone());
    // All files share their words.
    import.rows().words = std::mem::take(&mut sink.words);
    let without = &file.without;
    let mut write = |rows: &mut Sink| {
        for table in without {
            rows.rows_mut(*table).clear();
        }
        making.take(rows).map_err(|e| Failure::work(e.to_string()))
    };
    read(&mut import, &first, &mut text, &mut write).map_err(|e| match e {
        Stopped::Refused(Refused(why)) | Stopped::Other(why) => failed(why),
    })?;
    sink.words = std::mem::take(&mut import.rows().words);
    Ok(())
}
