//! The screen: 80 columns of plain text.

use run::Run;
use run::Unit::{Bytes, Seconds};
use run::manifest::by_reason;
use run::unit::{amount, digits};
use surfaces::part::{self, Part};
use surfaces::table::shortened;

use super::gather::Summary;
use super::{found, imported, subjects};
use crate::commands::list::length;
use crate::commands::record::progress::clock_text;
use crate::output::{counted, one_line};

pub(super) const WIDTH: usize = 80;

/// Phases that are listed.
const MOST_PHASES: usize = 24;

/// The whole screen; with `all` every finding.
pub(super) fn render(run: &Run, s: &Summary, all: bool) -> String {
    part::render(&parts(run, s, all), WIDTH)
}

/// A part of the screen: whether it is of the whole machine, and stands above what was found; its
/// subject; its lines, none where there is nothing to tell.
type OfSubject = (bool, &'static str, fn(&Summary) -> Vec<Part>);

/// The parts that are of a subject.
const SUBJECTS: [OfSubject; 10] = [
    (true, "cpu", subjects::cpu),
    (true, "memory", subjects::memory),
    (true, "pressure", subjects::pressure),
    (false, "workload", imported::workload),
    (false, "disk", subjects::disks),
    (false, "net", subjects::interfaces),
    (false, "nfs", subjects::nfs_mounts),
    (false, "nfsd", subjects::nfs_clients),
    (false, "process", subjects::processes),
    (false, "cgroup", subjects::cgroups),
];

/// Whether the screen has a part on that subject.
pub(super) fn shows(s: &Summary, subject: &str) -> bool {
    let mut of_it = SUBJECTS.iter().filter(|(_, of, _)| *of == subject);
    of_it.any(|(.., part)| !part(s).is_empty())
}

/// What stands on the screen; with `all` every finding.
pub(crate) fn parts(run: &Run, s: &Summary, all: bool) -> Vec<Part> {
    let subjects = |machine: bool| {
        let of = SUBJECTS.iter().filter(move |(of, ..)| *of == machine);
        of.flat_map(|(.., part)| part(s)).collect::<Vec<Part>>()
    };
    let mut parts = [
        head(run),
        bound_by(run, s),
        subjects(true),
        found::list(run, &s.findings, all),
        subjects(false),
        imported::rest(run, s),
        foot(run),
    ]
    .concat();
    // Where nothing is between them.
    parts.dedup_by(|a, b| matches!((a, b), (Part::Gap, Part::Gap)));
    parts
}

fn head(run: &Run) -> Vec<Part> {
    let m = &run.manifest;
    let started = run::manifest::rfc3339(m.started).replace('T', " ");
    let started = started.get(..19).unwrap_or(&started);
    let mut parts = vec![Part::Line(shortened(&one_line(&m.name), WIDTH))];
    let end = match run.ending().as_str() {
        "ok" if m.command.is_some() => "ended with status 0".to_owned(),
        "ok" => "complete".to_owned(),
        other => other.to_owned(),
    };
    let from = if m.is_dated() {
        format!(" from {started} UTC")
    } else {
        String::new()
    };
    let about = format!(
        "on {} for {}{from}, every {};",
        one_line(&m.host),
        time_text(length(run)),
        amount(m.every_seconds, Seconds, false),
    );
    let fits = about.chars().count() + 1 + end.chars().count() <= WIDTH;
    if fits {
        parts.push(Part::Line(format!("{about} {end}")));
    } else {
        parts.extend([Part::Line(about), Part::Line(end)]);
    }
    if let Some(command) = m
        .command
        .as_ref()
        .filter(|c| c.arguments.join(" ") != m.name)
    {
        let arguments = one_line(&command.arguments.join(" "));
        parts.push(Part::entry("command", shortened(&arguments, 200)));
    }
    parts.extend(imported(&m.imported));
    for (key, value) in &m.notes {
        parts.push(Part::entry("note", one_line(&format!("{key} = {value}"))));
    }
    if !m.phases.is_empty() {
        let phase = |p: &run::manifest::Phase| {
            let at = (p.from - m.started) as f64 / 1e9;
            format!("{} from {}", one_line(&p.name), time_text(at))
        };
        let listed = m.phases.iter().take(MOST_PHASES);
        let mut list = listed.map(phase).collect::<Vec<_>>().join(", ");
        if m.phases.len() > MOST_PHASES {
            let more = m.phases.len() - MOST_PHASES;
            list += &format!(", and {more} more");
        }
        parts.push(Part::entry("phases", list));
    }
    parts.push(Part::Gap);
    parts
}

/// What it was imported from, by format, and what was not understood of it.
fn imported(files: &[run::manifest::Imported]) -> Vec<Part> {
    let mut formats: Vec<(&str, u64)> = Vec::new();
    for file in files {
        match formats.iter_mut().find(|f| f.0 == file.format) {
            Some(known) => known.1 += 1,
            None => formats.push((&file.format, 1)),
        }
    }
    if formats.is_empty() {
        return vec![];
    }
    let list = formats.iter().map(|(format, n)| match n {
        1 => (*format).to_owned(),
        n => format!("{format} ({n} files)"),
    });
    let list = list.collect::<Vec<_>>().join(", ");
    let mut parts = vec![Part::entry("imported", list)];
    let unknown: u64 = files.iter().map(|f| f.not_understood).sum();
    if unknown > 0 {
        let lines = counted(unknown, "line");
        parts.push(Part::entry("not read", format!("{lines} not understood")));
    }
    parts
}

/// `3.39 s`, `12:34`.
pub(super) fn time_text(seconds: f64) -> String {
    if seconds < 60.0 {
        format!("{} s", digits(seconds))
    } else {
        clock_text(seconds)
    }
}

/// Below this a run has too few clock ticks (10 ms) to tell shares of time.
const TOO_SHORT: f64 = 0.2;

fn bound_by(run: &Run, s: &Summary) -> Vec<Part> {
    if length(run) == 0.0 && !run.manifest.imported.is_empty() {
        return vec![];
    }
    let text = if length(run) < TOO_SHORT {
        "too short to say: processor time is told in ticks of 10 ms".to_owned()
    } else {
        found::bound(&s.findings)
    };
    if !text.is_empty() {
        return vec![Part::entry("bound by", found::tied(&text))];
    }
    let most = s.limits.first();
    // What is not known may have been full.
    let known = s.mean("cpu").is_finite() && s.problems.is_empty();
    let head = if known {
        "nothing that was full; most used"
    } else {
        "not known, since not all is there to be read; most used of the rest"
    };
    let nothing = |l: &analysis::limit::Limit| {
        let text = format!("{head}: {}", l.text);
        Part::entry("bound by", text)
    };
    most.map(nothing).into_iter().collect()
}

fn foot(run: &Run) -> Vec<Part> {
    let m = &run.manifest;
    let mut parts = vec![Part::Gap];
    let mut tell = |label: &str, text: &str| parts.push(Part::entry(label, one_line(text)));
    let of_state = |state: &str| -> Vec<&run::manifest::SourceState> {
        m.sources.iter().filter(|s| s.state == state).collect()
    };
    for state in ["denied", "failed"] {
        for same in by_reason(of_state(state)) {
            tell(state, &format!("{}: {}", same.names.join(", "), same.why));
        }
    }
    let absent: Vec<&str> = of_state("unsupported")
        .iter()
        .map(|s| s.name.as_str())
        .collect();
    if !absent.is_empty() {
        let names = absent.join(", ");
        tell("not here", &format!("{names} (sonde doctor tells why)"));
    }
    for change in m.changes.iter().take(8) {
        let shown = |v: &str| shortened(&one_line(v), 60);
        // A thing with all that belongs to it, as a device is.
        let is_thing = |v: &str| v.starts_with(['{', '[']);
        let text = match (&change.before, &change.after) {
            (None, Some(v)) if is_thing(v) => "appeared".to_owned(),
            (Some(v), None) if is_thing(v) => "went".to_owned(),
            (None, after) => format!("appeared: {}", shown(after.as_deref().unwrap_or_default())),
            (Some(before), None) => format!("{} -> not there", shown(before)),
            (Some(before), Some(after)) => format!("{} -> {}", shown(before), shown(after)),
        };
        tell("changed", &format!("{}: {text}", change.path));
    }
    if m.changes.len() > 8 {
        let more = m.changes.len() - 8;
        tell("changed", &format!("and {more} more (run.json)"));
    }
    for step in &m.clock.steps {
        let by = digits(step.by_seconds);
        tell("clock", &format!("the wall clock was set by {by} s"));
    }
    for loss in &m.loss {
        let at = |time| clock_text((time - m.started) as f64 / 1e9);
        let (from, to) = (at(loss.from), at(loss.to));
        tell(
            "lost",
            &format!("{} rows from {from} to {to}: {}", loss.rows, loss.why),
        );
    }
    parts.extend(own_cost(run));
    parts
}

fn own_cost(run: &Run) -> Option<Part> {
    let own = &run.manifest.own;
    if own.samples == 0 {
        return None;
    }
    let in_time = if own.late + own.missed == 0 {
        "all in time".to_owned()
    } else {
        format!("{} late, {} missed", own.late, own.missed)
    };
    // While it was recorded; the rest went into start and end.
    let during = analysis::summarise(run, "self.time").ok();
    let during = during.and_then(|a| a.groups.first()?.total);
    let share = |seconds: f64| digits(seconds / length(run).max(1e-9) * 100.0);
    let cpu = match during {
        None => format!("{} % of 1 cpu", share(own.cpu_seconds)),
        Some(during) => {
            let rest = amount((own.cpu_seconds - during).max(0.0), Seconds, false);
            format!("{} % of 1 cpu, {rest} at start and end", share(during))
        }
    };
    let line = format!(
        "{cpu}; {} of memory; {}, {in_time}",
        amount(own.peak_resident_bytes as f64, Bytes, false),
        counted(own.samples, "sample"),
    );
    Some(Part::entry("own cost", line))
}
