//! What is said of an import: to the user, and in the manifest.

use std::process::ExitCode;

use formats::NotUnderstood;
use run::manifest::{Imported, SourceState, TextLine};
use run::{Manifest, Nanos};
use serde_json::{Value, json};
use surfaces::table::{Align, Table};

use super::Wanted;
use super::files::Looked;
use crate::failure::Failure;
use crate::output::{self, counted, one_line};

/// What fits on a line behind the program's name.
const LINE: usize = 73;

/// So much of a line that is not understood is shown in any case.
const LEAST_TEXT: usize = 20;

/// Lines not understood that are shown of each file.
const SHOWN: usize = 5;

/// What became of files beside those that were imported.
#[derive(Default)]
pub(super) struct Told {
    /// Paths that could not be opened or read, and what of others is missing.
    pub(super) problems: Vec<String>,
    /// Files of no known format, and why.
    pub(super) unknown: Vec<(String, String)>,
    /// Files that were recognised and cannot be imported, and why.
    pub(super) refused: Vec<(String, String)>,
}

impl Told {
    /// Fails if nothing can be imported, or not all of it and that was asked for.
    pub(super) fn check(&self, wanted: &Wanted, looked: &[Looked<'_>]) -> Result<(), Failure> {
        let files = self.unknown.iter().chain(&self.refused);
        let reasons: Vec<String> = files.map(|(name, why)| format!("{name}: {why}")).collect();
        if looked.is_empty() {
            let mut all = self.problems.clone();
            all.extend(reasons);
            if all.is_empty() {
                all.push("there are no files".into());
            }
            return Err(Failure::input(all.join("\n")));
        }
        if !wanted.strict {
            return Ok(());
        }
        let lines = looked.iter().flat_map(|f| faults(f.name(), &f.report));
        let mut all = self.problems.clone();
        all.extend(reasons);
        all.extend(lines);
        if all.is_empty() {
            return Ok(());
        }
        all.push("nothing was made: --strict".into());
        Err(Failure::input(all.join("\n")))
    }

    pub(super) fn tell_problems(&self) {
        for problem in &self.problems {
            output::message(problem);
        }
    }

    /// What was recognised and could not be taken is missing in the run.
    pub(super) fn exit_code(&self) -> ExitCode {
        if self.refused.is_empty() && self.problems.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    /// The manifest of the run.
    pub(super) fn manifest(wanted: &Wanted, looked: &[Looked<'_>]) -> Manifest {
        let spans = looked.iter().filter_map(|f| f.report.span);
        let span = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (from, to) = span.unwrap_or((0, 0));
        let hosts: Vec<&str> = looked
            .iter()
            .filter_map(|f| f.report.host.as_deref())
            .collect();
        let host = wanted.host.as_deref().or(hosts.first().copied());
        let every = looked
            .iter()
            .filter_map(|f| interval(f.report.every, f.report.span, f.report.samples));
        let every = every.fold(f64::INFINITY, f64::min);
        let every = if every.is_finite() { every } else { 1.0 };
        let imported = looked
            .iter()
            .map(|f| imported(f.name(), f.format.name(), f.times, &f.report));
        manifest(wanted, host, from, to, every, imported.collect())
    }
}

/// Length of an interval: as told, or the mean one.
pub(super) fn interval(
    told: Option<f64>,
    span: Option<(Nanos, Nanos)>,
    samples: u64,
) -> Option<f64> {
    let mean = || {
        let (from, to) = span?;
        (samples > 0).then(|| (to - from) as f64 / 1e9 / samples as f64)
    };
    told.or_else(mean).filter(|every| *every > 0.0)
}

/// The manifest of an imported run.
pub(super) fn manifest(
    wanted: &Wanted,
    host: Option<&str>,
    from: Nanos,
    to: Nanos,
    every: f64,
    imported: Vec<Imported>,
) -> Manifest {
    let name = wanted.name.clone().or_else(|| {
        let names = files(&imported);
        (!names.is_empty()).then(|| match names[..] {
            [one] => one.to_owned(),
            _ => counted(names.len() as u64, "imported file"),
        })
    });
    let mut manifest = Manifest::new(host.unwrap_or("unknown"), from, every);
    manifest.id = format!(
        "{from:x}-import-{}-{}",
        crate::clock::wall(),
        std::process::id()
    );
    manifest.name = name.unwrap_or_else(|| manifest.name.clone());
    manifest.ended = Some(to);
    manifest.sources = vec![SourceState {
        name: "import".into(),
        state: "available".into(),
        ..SourceState::default()
    }];
    manifest.imported = imported;
    manifest
}

/// The files, of which one may have outputs of several tools.
fn files(imported: &[Imported]) -> Vec<&str> {
    let mut names: Vec<&str> = imported.iter().map(|i| i.file.as_str()).collect();
    names.dedup();
    names
}

pub(super) fn imported(
    name: &str,
    format: &str,
    times: &str,
    report: &formats::Report,
) -> Imported {
    Imported {
        file: name.to_owned(),
        format: format.to_owned(),
        host: report.host.clone(),
        processors: report.processors,
        times: times.to_owned(),
        samples: report.samples,
        lines: report.data,
        noise: report.noise,
        not_understood: report.unknown,
        first_not_understood: report.not_understood.iter().map(text_line).collect(),
        notes: report.notes.clone(),
    }
}

/// All of a file that `--strict` does not let pass.
pub(super) fn faults(file: &str, report: &formats::Report) -> Vec<String> {
    let lines = report.not_understood.iter();
    let lines = lines.map(|line| not_understood(file, line));
    let faults = report.faults.iter();
    let faults = faults.map(|fault| format!("{}: {fault}", one_line(file)));
    lines.chain(faults).collect()
}

fn text_line(line: &NotUnderstood) -> TextLine {
    TextLine {
        line: line.line,
        text: line.text.clone(),
    }
}

pub(super) fn not_understood(file: &str, line: &NotUnderstood) -> String {
    let text = one_line(&line.text);
    format!("{}:{}: not understood: {text}", one_line(file), line.line)
}

/// The same, cut to fit a terminal.
fn not_understood_shortly(file: &str, line: &NotUnderstood) -> String {
    let whole = not_understood(file, line);
    let before = whole.chars().count() - one_line(&line.text).chars().count();
    let most = LINE.max(before + LEAST_TEXT);
    match whole.chars().count() {
        fits if fits <= most => whole,
        _ => whole.chars().take(most - 3).chain("...".chars()).collect(),
    }
}

/// Says what was imported.
pub(super) fn conclude(
    wanted: &Wanted,
    manifest: &Manifest,
    told: &Told,
    looked: &[Looked<'_>],
) -> Result<ExitCode, Failure> {
    told.tell_problems();
    for (name, why) in &told.refused {
        output::message(&format!("{}: not imported: {why}", one_line(name)));
    }
    tell_unknown(&told.unknown);
    for file in looked {
        lines_and_notes(file.name(), &file.full_name(), &file.report);
    }
    say(wanted, manifest, told);
    Ok(told.exit_code())
}

/// Tells the files that are of no known format, those for one reason together.
fn tell_unknown(unknown: &[(String, String)]) {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, why) in unknown {
        // The hint is for one file.
        let why = why.lines().next().unwrap_or_default();
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(one_line(name)),
            None => reasons.push((why, vec![one_line(name)])),
        }
    }
    for (why, names) in reasons {
        let count = counted(names.len() as u64, "file");
        let more = if names.len() > SHOWN {
            ", ... (--json lists them)"
        } else {
            ""
        };
        let shown = names[..names.len().min(SHOWN)].join(", ");
        output::message(&match why.strip_prefix("it is of ") {
            Some(of) => format!("{count} of {of}: {shown}{more}"),
            None => format!("{count} left out, as {why}: {shown}{more}"),
        });
    }
}

/// What is told of a file that cannot be read.
pub(super) fn not_read(name: &str, why: &std::io::Error) -> String {
    format!("{}: not read: {why}", one_line(name))
}

/// What is told of a compressed file or pipe that ends too early.
pub(super) fn cut_off(name: &str) -> String {
    format!("{name}: the compressed data is cut off: what could be unpacked was imported")
}

/// Lines of the file that were not understood, and notes on what `of` it was read.
pub(super) fn lines_and_notes(name: &str, of: &str, report: &formats::Report) {
    for line in report.not_understood.iter().take(SHOWN) {
        output::message(&not_understood_shortly(name, line));
    }
    let more = report.unknown.saturating_sub(SHOWN as u64);
    if more > 0 {
        output::message(&format!(
            "{}: {} more not understood: run.json has the first 100",
            one_line(name),
            counted(more, "line")
        ));
    }
    for note in &report.notes {
        output::paragraph(&format!("{}: {note}", one_line(of)));
    }
}

/// The closing words, or the JSON.
pub(super) fn say(wanted: &Wanted, manifest: &Manifest, told: &Told) {
    let path = wanted.output.display();
    if wanted.json {
        let left = |files: &[(String, String)]| -> Vec<Value> {
            let file = |(file, why): &(String, String)| json!({"file": file, "why": why});
            files.iter().map(file).collect()
        };
        let list = json!({
            "run": wanted.output,
            "tables": manifest.tables,
            "imported": manifest.imported,
            "refused": left(&told.refused),
            "unknown": left(&told.unknown),
            "problems": told.problems,
        });
        output::data(&format!("{list:#}\n"));
        return;
    }
    let mut table = Table::new();
    for (name, align) in [
        ("file", Align::Left),
        ("format", Align::Left),
        ("samples", Align::Right),
        ("lines", Align::Right),
        ("not understood", Align::Right),
        ("times", Align::Left),
    ] {
        table.column(name, align);
    }
    for file in &manifest.imported {
        table.row(vec![
            one_line(&file.file),
            file.format.clone(),
            file.samples.to_string(),
            file.lines.to_string(),
            file.not_understood.to_string(),
            file.times.clone(),
        ]);
    }
    output::data(&table.render(80));
    output::message(&format!(
        "imported {} into {path}\n       next: sonde show {path}",
        counted(files(&manifest.imported).len() as u64, "file")
    ));
}
