//! Importing files: one is taken as it is read; several are looked at once to see what is in
//! them, then again to take it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use formats::{Beside, Head, Import, NO_PROCESSORS, Options, Refused, Report};
use run::rows::TableId;
use run::seal::SealError;
use run::write::Making;
use run::{Nanos, Sink, Words, catalog};
use rustix::process::Signal;

use super::begun::{Begun, HEAD, Why, begin, open_as};
use super::inputs::{self, Input};
use super::overlap::{self, Better, Filled, choose, without_sums};
use super::packed::first_bytes;
use super::parts::look_at_all;
use super::report::{Told, conclude, cut_off, not_read};
use super::{Known, Wanted};
use crate::commands::record::signals::Signals;
use crate::failure::Failure;
use crate::output;

/// Bytes of text whose rows are handed on together.
const TOGETHER: usize = 1 << 20;

/// A file whose format is known, and what is in it.
pub(super) struct Looked<'i> {
    input: &'i Input,
    pub(super) format: Known,
    /// Other formats in the same text.
    beside: Beside,
    options: Options,
    pub(super) report: Report,
    /// Rows of each table, and the instances that they are of.
    pub(super) rows: HashMap<TableId, Filled>,
    /// Tables that other files have better, and where.
    pub(super) without: HashMap<TableId, Better>,
    /// Where its times are from.
    pub(super) times: &'static str,
    /// It was compressed, and its end is missing.
    cut: bool,
}

impl Looked<'_> {
    pub(super) fn name(&self) -> &str {
        &self.input.name
    }

    /// Whether no text tells when it was: it is put where others are, or at zero.
    pub(super) fn is_placed(&self) -> bool {
        matches!(self.times, "relative" | "first file")
    }

    /// The same where the file has outputs of several tools.
    pub(super) fn full_name(&self) -> String {
        match self.beside.elsewhere[..] {
            [] => self.name().to_owned(),
            _ => format!("{} ({})", self.name(), self.format.name()),
        }
    }
}

pub(super) fn import(wanted: &Wanted, paths: &[PathBuf]) -> Result<ExitCode, Failure> {
    if let Some(missing) = paths.iter().find(|p| p.symlink_metadata().is_err()) {
        return Err(Failure::input(format!(
            "{}: there is no such file",
            missing.display()
        )));
    }
    Making::look(&wanted.output).map_err(Failure::input)?;
    // What is made so far is removed when somebody interrupts.
    let mut signals =
        Signals::catch().map_err(|e| Failure::work(format!("catching signals: {e}")))?;
    let (all, problems) = inputs::gather(paths);
    let mut told = Told {
        problems,
        ..Told::default()
    };
    if let [only] = &all[..] {
        let begun = begin(wanted, only);
        if !begun.as_ref().is_ok_and(|b| b.together.len() > 1) {
            return one(wanted, only, begun, told, &mut signals);
        }
    }
    let options = Options {
        fio: wanted.options.fio.or_else(|| version_beside(&all)),
        ..wanted.options.clone()
    };
    let mut looked: Vec<Looked<'_>> = Vec::new();
    for input in &all {
        match look_at_all(wanted, input, &options, &mut signals) {
            Ok(found) => {
                told.tell_cut(&found[0]);
                looked.extend(found);
            }
            Err(why) => told.not_taken(input, why)?,
        }
    }
    let mut looked = once(looked);
    without_sums(&mut looked);
    one_machine(wanted, &looked)?;
    share_processors(&mut looked);
    line_up(&mut looked, &mut signals)?;
    choose(&mut looked);
    told.check(wanted, &looked)?;
    let mut making = begin_run(wanted)?;
    let mut sink = Sink::new();
    for file in &mut looked {
        take(wanted, file, &mut making, &mut sink, &mut signals)?;
    }
    finish(wanted, making, &sink, &told, &looked)
}

/// Begins the run, and says what of others was removed.
fn begin_run(wanted: &Wanted) -> Result<Making, Failure> {
    let making = Making::begin(&wanted.output).map_err(Failure::input)?;
    for left in making.removed() {
        let left = left.display();
        output::message(&format!(
            "removed {left}, which a killed import left behind"
        ));
    }
    Ok(making)
}

/// The version of fio that its results among the files tell, if there is one only: logs of
/// latencies do not tell their unit.
fn version_beside(all: &[Input]) -> Option<[u32; 2]> {
    if !all.iter().any(|input| input.name.contains("lat")) {
        return None;
    }
    let version = |input: &Input| {
        let mut text = input.open().ok()?;
        let first = first_bytes(&mut text, HEAD).ok()?;
        formats::fio_version(&Head::new(&first))
    };
    let mut versions: Vec<[u32; 2]> = all.iter().filter_map(version).collect();
    versions.dedup();
    match versions[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// What is told of a file beside what the user says of all.
fn options_of(options: &Options, input: &Input) -> Options {
    let file = input.name.rsplit('/').next().unwrap_or_default();
    Options {
        file: file.to_owned(),
        ..options.clone()
    }
}

/// One file: taken as it is read.
fn one(
    wanted: &Wanted,
    input: &Input,
    begun: Result<Begun, Why>,
    mut told: Told,
    signals: &mut Signals,
) -> Result<ExitCode, Failure> {
    let mut making = begin_run(wanted)?;
    let mut write = |rows: &mut Sink| making.take(rows).map_err(|e| not_written(wanted, &e));
    let found = begun.and_then(|begun| {
        let options = options_of(&wanted.options, input);
        let mut import = Import::new(begun.format.reading(), &begun.head, options);
        import.hand_out_alike();
        let mut report = read(&mut import, &begun.first, begun.text, &mut write, signals)?;
        report.notes.extend(begun.note.map(str::to_owned));
        let words = std::mem::take(&mut import.rows().words);
        let mut looked = Looked::new(input, begun.format, &wanted.options, report);
        looked.cut = begun.cut.is_cut();
        Ok((looked, words))
    });
    let (looked, words) = match found {
        Ok((looked, words)) => {
            told.tell_cut(&looked);
            (vec![looked], words)
        }
        Err(why) => {
            told.not_taken(input, why)?;
            (vec![], Words::default())
        }
    };
    told.check(wanted, &looked)?;
    let mut sink = Sink::new();
    sink.words = words;
    finish(wanted, making, &sink, &told, &looked)
}

fn finish(
    wanted: &Wanted,
    making: Making,
    sink: &Sink,
    told: &Told,
    looked: &[Looked<'_>],
) -> Result<ExitCode, Failure> {
    let manifest = Told::manifest(wanted, looked);
    let manifest = making
        .finish(sink, &manifest)
        .map_err(|e| not_written(wanted, &e))?;
    conclude(wanted, &manifest, told, looked)
}

/// The run cannot be written, for the disk is full or gone.
fn not_written(wanted: &Wanted, error: &SealError) -> Failure {
    Failure::work(format!("{}: {error}", wanted.output.display()))
}

impl Told {
    fn tell_cut(&mut self, file: &Looked<'_>) {
        if file.cut {
            self.problems.push(cut_off(file.name()));
        }
    }

    fn not_taken(&mut self, input: &Input, why: Why) -> Result<(), Failure> {
        let name = input.name.clone();
        match why {
            Why::Unknown(why) => self.unknown.push((name, why)),
            Why::Refused(why) => self.refused.push((name, why)),
            Why::Unreadable(e) => self.problems.push(not_read(&name, &e)),
            Why::Failed(failure) => return Err(failure),
        }
        Ok(())
    }
}

pub(super) fn look<'i>(
    begun: Begun,
    input: &'i Input,
    beside: &Beside,
    options: &Options,
    signals: &mut Signals,
) -> Result<Looked<'i>, Why> {
    let mut rows: HashMap<TableId, Filled> = HashMap::new();
    let options = &options_of(options, input);
    let mut import = Import::new(begun.format.reading(), &begun.head, options.clone());
    import.beside(beside);
    let mut count = |sink: &mut Sink| {
        for (table, found) in sink.filled() {
            rows.entry(table).or_default().add(found);
        }
        sink.clear();
        Ok(())
    };
    let mut report = read(&mut import, &begun.first, begun.text, &mut count, signals)?;
    report.notes.extend(begun.note.map(str::to_owned));
    let words = &import.rows().words;
    for filled in rows.values_mut() {
        filled.name(words);
    }
    let mut looked = Looked::new(input, begun.format, options, report);
    looked.beside = beside.clone();
    looked.rows = rows;
    looked.cut = begun.cut.is_cut();
    Ok(looked)
}

impl<'i> Looked<'i> {
    fn new(input: &'i Input, format: Known, options: &Options, report: Report) -> Looked<'i> {
        let times = match () {
            () if report.relative => "relative",
            () if report.from_start => "start",
            () => "text",
        };
        Looked {
            input,
            format,
            beside: Beside::default(),
            options: options.clone(),
            report,
            rows: HashMap::new(),
            without: HashMap::new(),
            times,
            cut: false,
        }
    }
}

/// Bytes that are read at a time: so few that they are in a processor's cache when they are
/// parsed.
const PIECE: usize = 256 << 10;

/// Reads a file to its end; `taken` gets its rows piece by piece.
fn read(
    import: &mut Import,
    first: &[u8],
    mut rest: Box<dyn Read + Send>,
    taken: &mut dyn FnMut(&mut Sink) -> Result<(), Failure>,
    signals: &mut Signals,
) -> Result<Report, Why> {
    let refused = |Refused(why): Refused| Why::Refused(why);
    let mut piece = vec![0; PIECE];
    import.feed(first).map_err(refused)?;
    let mut fed = first.len();
    loop {
        if fed >= TOGETHER {
            fed = 0;
            taken(import.rows()).map_err(Why::Failed)?;
        }
        if signals.come().iter().any(|s| *s != Signal::WINCH) {
            return Err(Why::Failed(Failure {
                text: "interrupted: nothing was made".into(),
                code: 130,
            }));
        }
        match rest.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => {
                fed += count;
                import.feed(&piece[..count]).map_err(refused)?;
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Why::Unreadable(e)),
        }
    }
    let report = import.finish().map_err(refused)?;
    taken(import.rows()).map_err(Why::Failed)?;
    Ok(report)
}

/// Without those whose text is that of another file: together they would be twice as much.
fn once(all: Vec<Looked<'_>>) -> Vec<Looked<'_>> {
    let mut kept: Vec<Looked<'_>> = Vec::with_capacity(all.len());
    for file in all {
        let is_alike = |other: &&mut Looked<'_>| {
            let lines = |f: &Looked<'_>| (f.report.data, f.report.noise, f.report.span);
            !std::ptr::eq(other.input, file.input)
                && other.format.name() == file.format.name()
                && lines(other) == lines(&file)
                // The name of a log of fio tells of which job it is.
                && have_same_rows(other, &file)
                && have_same_text(other.input, file.input).unwrap_or(false)
        };
        match kept.iter_mut().find(is_alike) {
            Some(other) => {
                let note = format!("{} has the same text: it counts once", file.name());
                other.report.notes.push(note);
            }
            None => kept.push(file),
        }
    }
    kept
}

/// Whether two files have rows of the same things.
fn have_same_rows(a: &Looked<'_>, b: &Looked<'_>) -> bool {
    a.rows.len() == b.rows.len()
        && a.rows.iter().all(|(table, rows)| {
            b.rows
                .get(table)
                .is_some_and(|other| rows.is_of_same(other))
        })
}

/// Whether two files are the same, byte by byte.
fn have_same_text(a: &Input, b: &Input) -> std::io::Result<bool> {
    let mut of_a = BufReader::with_capacity(PIECE, a.open()?);
    let mut of_b = BufReader::with_capacity(PIECE, b.open()?);
    loop {
        let (here, there) = (of_a.fill_buf()?, of_b.fill_buf()?);
        let count = here.len().min(there.len());
        if count == 0 || here[..count] != there[..count] {
            return Ok(here.is_empty() && there.is_empty());
        }
        of_a.consume(count);
        of_b.consume(count);
    }
}

/// What one file of the machine tells of its processors is true of the others. The numbers follow
/// when they are read for good.
fn share_processors(looked: &mut [Looked<'_>]) {
    let told = |f: &Looked<'_>| Some((f.report.processors?, f.full_name()));
    let mut all: Vec<(u32, String)> = looked.iter().filter_map(told).collect();
    all.dedup_by_key(|(count, _)| *count);
    let [(count, name)] = &all[..] else {
        return;
    };
    for file in looked {
        let notes = &mut file.report.notes;
        if let Some(at) = notes.iter().position(|n| n == NO_PROCESSORS) {
            notes[at] = format!("{name} tells how many processors there were: {count}");
            file.options.processors = Some(*count);
        }
    }
}

/// A run is of one machine: numbers of several would be taken for those of one.
fn one_machine(wanted: &Wanted, looked: &[Looked<'_>]) -> Result<(), Failure> {
    let mut hosts: Vec<(&str, &str)> = Vec::new();
    for file in looked {
        if let Some(host) = &file.report.host
            && !hosts.iter().any(|(known, _)| known == host)
        {
            hosts.push((host, file.name()));
        }
    }
    if wanted.host.is_some() || hosts.len() < 2 {
        return Ok(());
    }
    let list: Vec<String> = hosts
        .iter()
        .take(5)
        .map(|(host, file)| format!("{host} ({file})"))
        .collect();
    Err(Failure::input(format!(
        "these files are of {} machines: {}\n\
         hint: import those of each by themselves, or say with --host NAME that they are of one",
        hosts.len(),
        list.join(", ")
    )))
}

/// Files without times start where the first of the others does, of those of the same tool if there are
/// any: logs of a benchmark where its result does.
fn line_up(looked: &mut [Looked<'_>], signals: &mut Signals) -> Result<(), Failure> {
    let from = |f: &Looked<'_>| (f.times == "text").then(|| f.report.span.map(|s| s.0))?;
    let started =
        |f: &Looked<'_>| Some((from(f)?, f.name().to_owned(), f.format.tool().to_owned()));
    let all: Vec<(Nanos, String, String)> = looked.iter().filter_map(started).collect();
    for file in looked.iter_mut().filter(|f| f.times == "relative") {
        let of_tool = all.iter().filter(|(_, _, tool)| tool == file.format.tool());
        let Some((start, name, _)) = of_tool.min().or(all.iter().min()) else {
            return Ok(());
        };
        let start = *start;
        let options = Options {
            start: Some(start),
            near: Some(start),
            ..file.options.clone()
        };
        let again = open_as(file.input, file.format.clone());
        let again = again.and_then(|b| look(b, file.input, &file.beside, &options, signals));
        let mut again = again
            .map_err(|_| Failure::work(format!("{}: it changed while it was read", file.name())))?;
        again.times = "first file";
        again.report.notes.push(if again.report.stamped {
            format!("there is no date in it: its first time is taken for that nearest to the start of {name}")
        } else {
            format!("there are no times in it: its first sample is put where {name} starts")
        });
        *file = again;
    }
    Ok(())
}

/// Reads the file again, for good.
fn take(
    wanted: &Wanted,
    file: &mut Looked<'_>,
    making: &mut Making,
    sink: &mut Sink,
    signals: &mut Signals,
) -> Result<(), Failure> {
    let failed = |what: String| Failure::work(format!("{}: {what}", file.input.name));
    let reason = |why: Why| match why {
        Why::Refused(why) | Why::Unknown(why) => failed(why),
        Why::Unreadable(e) => failed(e.to_string()),
        Why::Failed(failure) => failure,
    };
    let begun = open_as(file.input, file.format.clone()).map_err(reason)?;
    let mut import = Import::new(begun.format.reading(), &begun.head, file.options.clone());
    import.beside(&file.beside);
    if file.without.is_empty() {
        import.hand_out_alike();
    }
    // All files share their words.
    import.rows().words = std::mem::take(&mut sink.words);
    let without = &mut file.without;
    let mut write = |rows: &mut Sink| {
        let words = std::mem::take(&mut rows.words);
        for (table, better) in without.iter_mut() {
            better.leave_out(rows.rows_mut(*table), &words);
        }
        rows.words = words;
        making.take(rows).map_err(|e| not_written(wanted, &e))
    };
    read(&mut import, &begun.first, begun.text, &mut write, signals).map_err(reason)?;
    sink.words = std::mem::take(&mut import.rows().words);
    let tables = catalog::tables().enumerate();
    let left_out = tables.filter_map(|(place, (_, table))| {
        let id = TableId(place as u16);
        let rows = file.rows.get(&id).map_or(0, |filled| filled.rows);
        Some((table.name, rows, file.without.get(&id)?))
    });
    let notes = overlap::notes(&left_out.collect::<Vec<_>>());
    file.report.notes.extend(notes);
    Ok(())
}
