//! Which statistics a report has: those of a worksheet, those asked for, or what is worth
//! looking at in this run.

use std::path::{Path, PathBuf};

use analysis::findings::Finding;
use run::Run;
use surfaces::worksheet::{Kind, Panel, Worksheet};

use crate::failure::Failure;
use crate::output;

/// What is looked at where nothing is asked for; what the run does not have, or where nothing
/// happened, is left out.
const WORTH: &[(&str, Kind)] = &[
    ("cpu.time by mode", Kind::Stack),
    ("disk.bytes by device, op", Kind::Lines),
    ("disk.utilisation by device", Kind::Lines),
    ("disk.mean_latency by device, op", Kind::Lines),
    ("disk.ios by latency", Kind::Heat),
    ("disk.ios by service_time", Kind::Heat),
    ("net.bytes by interface, direction", Kind::Lines),
    ("tcp.retransmits", Kind::Lines),
    ("nfs.ops by op", Kind::Lines),
    ("nfsd.ops by op", Kind::Lines),
    ("zfs.bytes by pool, op", Kind::Lines),
    ("file.ops by op", Kind::Lines),
    ("file.ops by latency", Kind::Heat),
    ("arc.hits by kind", Kind::Lines),
    ("distribution.count by name", Kind::Lines),
    ("workload.ops by op", Kind::Lines),
    ("workload.ops by latency", Kind::Heat),
    ("process.time by process", Kind::Lines),
    ("cgroup.time by cgroup", Kind::Lines),
    ("memory.bytes by kind", Kind::Stack),
];

/// Of those, what is shown only where the other is not: of an import that does not tell it.
pub(super) const INSTEAD: [(&str, &str); 1] = [("disk.ios by service_time", "disk.ios by latency")];

/// What there is where nothing of that is: numbers that belong to no other statistic.
pub(super) const REST: &str = "other.value by tool, column, unit";

/// Findings whose expressions are shown.
const MOST_FINDINGS: usize = 6;

/// Where a run keeps its worksheets.
const SAVED: &str = "worksheets";

/// What is to be shown, and whether somebody asked for it: then nothing of it is left out.
pub(super) struct Chosen {
    pub(super) sheet: Worksheet,
    pub(super) asked: bool,
}

/// The statistics that stand out, then those worth a look.
pub(super) fn worth(findings: &[Finding]) -> Chosen {
    let mut panels: Vec<Panel> = Vec::new();
    for expression in findings.iter().map(|f| f.expression.as_str()) {
        if panels.len() < MOST_FINDINGS && panels.iter().all(|p| p.expr != expression) {
            panels.push(Panel::of(expression));
        }
    }
    for (expression, kind) in WORTH {
        match panels.iter_mut().find(|p| p.expr == *expression) {
            Some(known) => known.kind = *kind,
            None => panels.push(Panel {
                kind: *kind,
                ..Panel::of(expression)
            }),
        }
    }
    Chosen {
        sheet: Worksheet::of(panels),
        asked: false,
    }
}

/// Those of `--worksheet` and `--expr`; `None` if neither is given.
pub(super) fn asked(
    run: &Run,
    name: Option<&String>,
    expressions: &[&String],
) -> Result<Option<Chosen>, Failure> {
    let saved = name.map(|name| read(run, name)).transpose()?;
    if saved.is_none() && expressions.is_empty() {
        return Ok(None);
    }
    let mut sheet = saved.unwrap_or_else(|| Worksheet::of(vec![]));
    sheet
        .panels
        .extend(expressions.iter().map(|e| Panel::of(e)));
    let first = sheet.runs.first().cloned();
    sheet.panels.retain(|panel| {
        let why = if panel.kind == Kind::Page {
            "only the page of `sonde view` shows it so"
        } else if panel.run.is_some() && panel.run != first {
            "it is of another run"
        } else {
            return true;
        };
        output::message(&format!("left out, as {why}: {}", panel.expr));
        false
    });
    for panel in &mut sheet.panels {
        panel.run = None;
    }
    if sheet.panels.is_empty() {
        return Err(Failure::input("the worksheet has no panel of this run"));
    }
    Ok(Some(Chosen { sheet, asked: true }))
}

/// A file, or the name of a worksheet that was saved in the run.
fn read(run: &Run, name: &str) -> Result<Worksheet, Failure> {
    let path = if name.contains('/') || Path::new(name).extension().is_some_and(|e| e == "json") {
        PathBuf::from(name)
    } else {
        run.path().join(SAVED).join(format!("{name}.json"))
    };
    let text = std::fs::read(&path).map_err(|e| {
        let text = format!("cannot read {}: {e}\n{}", path.display(), known(run));
        Failure::input(text)
    })?;
    Worksheet::read(&text).map_err(|e| Failure::input(format!("{}: {e}", path.display())))
}

/// What may be meant.
fn known(run: &Run) -> String {
    let entries = std::fs::read_dir(run.path().join(SAVED))
        .into_iter()
        .flatten();
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|e| Some(e.path().file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    if names.is_empty() {
        "hint: no worksheet is saved in this run; give a file, or --expr EXPR".into()
    } else {
        format!("hint: saved in this run: {}", names.join(", "))
    }
}
