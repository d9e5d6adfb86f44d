//! From expressions to panels: all numbers, the table, the picture.

use analysis::findings::Finding;
use analysis::scan::KeyValue;
use analysis::window::narrowed;
use analysis::{Answer, Error, evaluate, quantiles};
use run::Run;
use surfaces::from_answer::chart;
use surfaces::part::Part;
use surfaces::report::{Panel, Report};
use surfaces::worksheet::{self, Kind, Worksheet};

use super::chosen::{self, Chosen};
use crate::clock;
use crate::commands::get::{empty, shown};
use crate::commands::show::{Summary, parts};
use crate::failure::Failure;
use crate::output::counted;

/// Rows of a table; the picture and the values have the rest.
const MOST_ROWS: usize = 20;

/// Everything that is told of `run`, and the worksheet of just that; what could not be read is
/// added to `problems`.
pub(super) fn report(
    run: &Run,
    summary: &Summary,
    asked: Option<Chosen>,
    problems: &mut Vec<String>,
) -> Result<(Report, Worksheet), Failure> {
    let chosen = asked.unwrap_or_else(|| chosen::worth(&summary.findings));
    let mut panels = Vec::new();
    let mut told = Vec::new();
    for panel in &chosen.sheet.panels {
        let is_told = |text: &str| told.iter().any(|p: &worksheet::Panel| p.expr == text);
        let spare = |(text, other): &(&str, &str)| *text == panel.expr && is_told(other);
        if !chosen.asked && chosen::INSTEAD.iter().any(spare) {
            continue;
        }
        match self::panel(run, &chosen.sheet, panel) {
            Ok(one) if chosen.asked || happened(&one.answer, &summary.findings) => {
                panels.push(one);
                told.push(panel.clone());
            }
            Err(e) if chosen.asked => return Err(e.into()),
            // Of what is worth a look, a run has only some.
            Ok(_) | Err(Error::Problem(_)) => {}
            Err(e) => {
                let text = e.to_string();
                if !problems.contains(&text) {
                    problems.push(text);
                }
            }
        }
    }
    if panels.is_empty() && !chosen.asked {
        // In many units: a picture has one.
        let rest = worksheet::Panel {
            kind: Kind::Table,
            ..worksheet::Panel::of(chosen::REST)
        };
        panels.extend(panel(run, &Worksheet::of(vec![]), &rest).ok());
        told.push(rest);
    }
    let manifest = &run.manifest;
    let mut parts = parts(run, summary, true);
    if matches!(parts.first(), Some(Part::Line(_))) {
        // The name, shortened for a terminal.
        parts.remove(0);
    }
    let report = Report {
        title: manifest.name.clone(),
        summary: parts,
        panels,
        started: manifest.started,
        dated: manifest.is_dated(),
        made: clock::wall(),
    };
    let sheet = Worksheet {
        panels: told,
        ..chosen.sheet
    };
    Ok((report, sheet))
}

/// Whether there is anything to see. What was found is shown in any case.
fn happened(answer: &Answer, findings: &[Finding]) -> bool {
    // One control group is the whole machine.
    let least = if answer.text == "cgroup.time by cgroup" {
        2
    } else {
        1
    };
    let is_known = |key: &KeyValue| !matches!(key, KeyValue::Number(n) if n.is_nan());
    let moving = answer
        .groups
        .iter()
        .filter(|g| g.mean != 0.0 && !g.mean.is_nan() && g.key.iter().all(is_known));
    moving.count() >= least || findings.iter().any(|f| f.expression == answer.text)
}

fn panel(run: &Run, sheet: &Worksheet, panel: &worksheet::Panel) -> Result<Panel, Error> {
    let in_view = |expression: &str| -> Result<Answer, Error> {
        let part = (sheet.from, sheet.to);
        if part == (None, None) {
            return evaluate(run, expression);
        }
        let part = (part.0.unwrap_or(0.0), part.1.unwrap_or(f64::from(u32::MAX)));
        evaluate(run, &narrowed(run, expression, part))
    };
    let answer = in_view(&panel.expr)?;
    let right = panel.right.as_deref().map(in_view).transpose()?;
    let spreads = quantiles::of(run, &answer)?;
    let shown = shown::of(run, &answer, spreads.as_ref());
    let mut notes = shown.notes;
    let mut table = shown.table;
    let rest = table.keep(MOST_ROWS);
    let left_out = (rest > 0).then(|| {
        let groups = counted(rest as u64, "smaller group");
        format!("not in this table: {groups}")
    });
    if answer.groups.is_empty() {
        notes.push(empty::sentence(run, &answer));
    }
    let mut picture = None;
    if panel.kind != Kind::Table && !answer.groups.is_empty() {
        match chart(run, &answer, right.as_ref(), &sheet.look(panel)) {
            Ok(chart) => {
                picture = Some(chart);
            }
            Err(e) => notes.push(format!("no picture: {}", e.to_string().replace('\n', "; "))),
        }
    }
    Ok(Panel {
        answer,
        spreads,
        head: shown.head,
        table,
        notes,
        left_out,
        chart: picture,
    })
}
